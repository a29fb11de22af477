// OpenAI's chat completions API, which many other services speak as well.

import { argumentPieces, argumentText, isSaid, lastWords, textPieces } from "./script.mjs";

const STOPS = { end: "stop", tool: "tool_calls", length: "length", refusal: "content_filter" };

export const name = "openai-chat";

export function route(method, path) {
  return method === "POST" && path === "/v1/chat/completions" ? "reply" : undefined;
}

function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

const textsOf = (content) =>
  typeof content === "string" ? [content] : (content ?? []).map((part) => part.text ?? "").filter(Boolean);

export function read(body) {
  const said = body.messages.filter((one) => one.role === "user" || one.role === "tool");
  const lastOf = (role) => textOf(said.filter((one) => one.role === role).at(-1)?.content);
  return {
    model: body.model,
    stream: body.stream === true,
    usage: body.stream_options?.include_usage === true,
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    last: said.at(-1)?.role ?? "user",
    prompt: lastWords(textsOf(said.filter((one) => one.role === "user").at(-1)?.content)),
    result: lastOf("tool"),
  };
}

const callId = (asked, index, piece) => piece.id ?? `call_${asked.number}_${index}`;

function usage(turn) {
  const { input, output } = turn.usage;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function envelope(asked, object, choices) {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${asked.number}`, object, created, model: asked.model, choices };
}

function* callDeltas(piece, index, id) {
  const call = { index, id, type: "function", function: { name: piece.tool, arguments: "" } };
  yield { tool_calls: [call] };
  for (const text of argumentPieces(piece))
    yield { tool_calls: [{ index, function: { arguments: text } }] };
}

function* deltas(piece, index, id) {
  if (piece.kind === "text") for (const content of textPieces(piece.text)) yield { content };
  else if (piece.kind === "thought")
    for (const text of textPieces(piece.thought)) yield { reasoning_content: text };
  else yield* callDeltas(piece, index, id);
}

export function* stream(turn, asked) {
  const chunk = (delta, finish) => ({
    data: envelope(asked, "chat.completion.chunk", [{ index: 0, delta, finish_reason: finish }]),
  });
  let calls = 0;
  yield chunk({ role: "assistant", content: "" }, null);
  for (const piece of turn.reply) {
    if (piece.kind === "error") {
      yield { data: error(piece.error.status ?? 500, piece.error.message) };
      return;
    }
    if (!isSaid(piece)) {
      yield piece;
      continue;
    }
    for (const delta of deltas(piece, calls, callId(asked, calls, piece))) yield chunk(delta, null);
    if (piece.kind === "tool") calls += 1;
  }
  yield chunk({}, STOPS[turn.stop]);
  if (asked.usage)
    yield { data: { ...envelope(asked, "chat.completion.chunk", []), usage: usage(turn) } };
  yield { data: "[DONE]" };
}

export function whole(turn, asked) {
  const ofKind = (kind) => turn.reply.filter((piece) => piece.kind === kind);
  const text = ofKind("text").flatMap((piece) => textPieces(piece.text));
  const calls = ofKind("tool").map((piece, index) => ({
    id: callId(asked, index, piece),
    type: "function",
    function: { name: piece.tool, arguments: argumentText(piece) },
  }));
  const message = { role: "assistant", content: text.join("") };
  if (calls.length > 0) message.tool_calls = calls;
  const choice = { index: 0, message, finish_reason: STOPS[turn.stop] };
  return { ...envelope(asked, "chat.completion", [choice]), usage: usage(turn) };
}

export function error(status, text) {
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message: text, type, param: null, code: String(status) } };
}
