// Anthropic's Messages API.

import { argumentPieces, argumentsBack, isSaid, lastWords, textPieces } from "./script.mjs";

const STOPS = { end: "end_turn", tool: "tool_use", length: "max_tokens", refusal: "refusal" };
const ERRORS = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export const name = "anthropic";

export function route(method, path) {
  if (method !== "POST") return undefined;
  if (path === "/v1/messages") return "reply";
  return path === "/v1/messages/count_tokens" ? "count" : undefined;
}

function textOf(content) {
  if (typeof content === "string") return content;
  const texts = (content ?? []).filter((block) => block.type === "text").map((block) => block.text);
  return texts.join("\n");
}

export function read(body) {
  const results = [];
  let prompt = "";
  let last = "user";
  for (const message of body.messages.filter((one) => one.role === "user")) {
    const blocks = Array.isArray(message.content) ? message.content : [];
    const answers = blocks.filter((block) => block.type === "tool_result");
    const texts = blocks.filter((block) => block.type === "text").map((block) => block.text);
    if (typeof message.content === "string") texts.push(message.content);
    last = blocks.at(-1)?.type === "tool_result" ? "tool" : "user";
    if (last === "user") prompt = lastWords(texts);
    results.push(...answers.map((block) => textOf(block.content)));
  }
  return {
    model: body.model,
    stream: body.stream === true,
    tools: (body.tools ?? []).map((tool) => tool.name),
    last,
    prompt,
    result: results.at(-1) ?? "",
  };
}

function message(turn, asked, content, stop) {
  return {
    id: `msg_${asked.number}`,
    type: "message",
    role: "assistant",
    model: asked.model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: turn.usage.input, output_tokens: turn.usage.output },
  };
}

const callId = (asked, index, piece) => piece.id ?? `toolu_${asked.number}_${index}`;

function emptyBlock(piece, id) {
  if (piece.kind === "text") return { type: "text", text: "" };
  if (piece.kind === "thought") return { type: "thinking", thinking: "", signature: "" };
  return { type: "tool_use", id, name: piece.tool, input: {} };
}

/** A block as it comes back. */
function blockBack(piece, id, signature) {
  const role = "assistant";
  if (piece.kind === "text") return { role, type: "text", text: textPieces(piece.text).join("") };
  if (piece.kind === "thought")
    return { role, type: "thinking", thinking: textPieces(piece.thought).join(""), signature };
  return { role, type: "tool_use", id, name: piece.tool, input: argumentsBack(piece) };
}

function deltas(piece, signature) {
  if (piece.kind === "text")
    return textPieces(piece.text).map((text) => ({ type: "text_delta", text }));
  if (piece.kind === "thought")
    return textPieces(piece.thought)
      .map((thinking) => ({ type: "thinking_delta", thinking }))
      .concat({ type: "signature_delta", signature });
  return argumentPieces(piece).map((text) => ({ type: "input_json_delta", partial_json: text }));
}

const event = (data) => ({ event: data.type, data });

export function* stream(turn, asked) {
  let index = 0;
  yield event({ type: "message_start", message: message(turn, asked, [], null) });
  for (const piece of turn.reply) {
    if (piece.kind === "error") {
      yield event(error(piece.error.status ?? 529, piece.error.message));
      return;
    }
    if (!isSaid(piece)) {
      yield piece;
      continue;
    }
    const block = emptyBlock(piece, callId(asked, index, piece));
    const signature = asked.signer?.seal() ?? "c2lnbmVk";
    asked.signer?.say(blockBack(piece, block.id, signature));
    yield event({ type: "content_block_start", index, content_block: block });
    for (const delta of deltas(piece, signature)) yield event({ type: "content_block_delta", index, delta });
    yield event({ type: "content_block_stop", index });
    index += 1;
  }
  const delta = { stop_reason: STOPS[turn.stop], stop_sequence: null };
  yield event({ type: "message_delta", delta, usage: { output_tokens: turn.usage.output } });
  yield event({ type: "message_stop" });
}

export function whole(turn, asked) {
  const content = turn.reply.map((piece, index) => {
    const block = emptyBlock(piece, callId(asked, index, piece));
    if (piece.kind === "text") block.text = textPieces(piece.text).join("");
    else if (piece.kind === "thought") block.thinking = textPieces(piece.thought).join("");
    else block.input = piece.arguments ?? {};
    return block;
  });
  return message(turn, asked, content, STOPS[turn.stop]);
}

export function count(tokens) {
  return { input_tokens: tokens };
}

export function error(status, text) {
  const type = ERRORS[status] ?? "api_error";
  return { type: "error", error: { type, message: text } };
}
