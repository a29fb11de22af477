// OpenAI's responses API: a list of items, each of which begins, grows and ends.

import { argumentPieces, argumentText, argumentsBack, isSaid, textPieces } from "./script.mjs";
import { error } from "./openai-chat.mjs";

export { error };
export const name = "openai-responses";

export function route(method, path) {
  return method === "POST" && path === "/v1/responses" ? "reply" : undefined;
}

const RESULTS = ["function_call_output", "custom_tool_call_output", "local_shell_call_output"];

function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? "");
  return content.map((part) => part.text ?? "").join("\n");
}

export function read(body) {
  const whole = [{ role: "user", content: body.input }];
  const input = typeof body.input === "string" ? whole : body.input;
  const said = input.filter((item) => item.role === "user" || RESULTS.includes(item.type));
  const prompts = said.filter((item) => item.role === "user");
  const results = said.filter((item) => item.role !== "user");
  return {
    model: body.model,
    stream: body.stream === true,
    tools: (body.tools ?? []).map((tool) => tool.name ?? tool.type),
    last: RESULTS.includes(said.at(-1)?.type) ? "tool" : "user",
    prompt: textOf(prompts.at(-1)?.content ?? ""),
    result: textOf(results.at(-1)?.output ?? ""),
  };
}

/** An item as it comes back to a service that has kept nothing. */
function itemBack({ type, role, phase, content, call_id: id, name, arguments: input, ...item }, piece) {
  if (type === "message")
    return { type, role, phase, content: content.map(({ type: kind, text }) => ({ type: kind, text })) };
  if (type === "function_call") {
    const back = piece.broken === undefined ? input : JSON.stringify(argumentsBack(piece));
    return { type, call_id: id, name, arguments: back };
  }
  return { type, id: item.id, summary: item.summary, encrypted_content: item.encrypted_content };
}

/** What a strict server adds: a seal on thoughts, and whether words are the answer. */
function sealed(item, piece, turn, signer) {
  if (!signer) return item;
  const more = { ...item };
  const calls = turn.reply.some(({ kind }) => kind === "tool");
  if (item.type === "message") more.phase = calls ? "commentary" : "final_answer";
  if (item.type === "reasoning") more.encrypted_content = signer.seal();
  signer.say(itemBack(more, piece));
  return more;
}

/** An item when it is done; what it is before that has the same fields, empty. */
function itemOf(piece, asked, index) {
  const id = `item_${asked.number}_${index}`;
  const status = "completed";
  if (piece.kind === "text") {
    const part = { type: "output_text", text: textPieces(piece.text).join(""), annotations: [] };
    return { type: "message", id, status, role: "assistant", content: [part] };
  }
  if (piece.kind === "thought") {
    const summary = [{ type: "summary_text", text: textPieces(piece.thought).join("") }];
    return { type: "reasoning", id, status, summary };
  }
  const call = { id, status, call_id: piece.id ?? `call_${asked.number}_${index}` };
  return piece.input === undefined
    ? { type: "function_call", ...call, name: piece.tool, arguments: argumentText(piece) }
    : { type: "custom_tool_call", ...call, name: piece.tool, input: piece.input };
}

function begun(item) {
  const start = { ...item, status: "in_progress" };
  if (item.type === "message") start.content = [];
  else if (item.type === "reasoning") start.summary = [];
  else if (item.type === "function_call") start.arguments = "";
  else start.input = "";
  return start;
}

function* grow(piece, item, at) {
  const of = { item_id: item.id, output_index: at };
  if (piece.kind === "text") {
    const [part] = item.content;
    const inside = { ...of, content_index: 0 };
    yield { type: "response.content_part.added", ...inside, part: { ...part, text: "" } };
    for (const delta of textPieces(piece.text))
      yield { type: "response.output_text.delta", ...inside, delta };
    yield { type: "response.output_text.done", ...inside, text: part.text };
    yield { type: "response.content_part.done", ...inside, part };
  } else if (piece.kind === "thought") {
    const [part] = item.summary;
    const inside = { ...of, summary_index: 0 };
    yield { type: "response.reasoning_summary_part.added", ...inside, part: { ...part, text: "" } };
    for (const delta of textPieces(piece.thought))
      yield { type: "response.reasoning_summary_text.delta", ...inside, delta };
    yield { type: "response.reasoning_summary_text.done", ...inside, text: part.text };
    yield { type: "response.reasoning_summary_part.done", ...inside, part };
  } else if (item.type === "custom_tool_call") {
    yield { type: "response.custom_tool_call_input.delta", ...of, delta: item.input };
    yield { type: "response.custom_tool_call_input.done", ...of, input: item.input };
  } else {
    for (const delta of argumentPieces(piece))
      yield { type: "response.function_call_arguments.delta", ...of, delta };
    yield { type: "response.function_call_arguments.done", ...of, arguments: item.arguments };
  }
}

function response(turn, asked, status, output) {
  const { input, output: made } = turn.usage;
  const ended = status === "completed" || status === "incomplete";
  return {
    id: `resp_${asked.number}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: incompleteReason(turn) } : null,
    model: asked.model,
    output,
    usage: ended
      ? {
          input_tokens: input,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: made,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: input + made,
        }
      : null,
  };
}

const incompleteReason = (turn) =>
  turn.stop === "length" ? "max_output_tokens" : "content_filter";
const finalStatus = (turn) =>
  turn.stop === "end" || turn.stop === "tool" ? "completed" : "incomplete";

function* unnumbered(turn, asked) {
  const output = [];
  yield { type: "response.created", response: response(turn, asked, "in_progress", []) };
  yield { type: "response.in_progress", response: response(turn, asked, "in_progress", []) };
  for (const piece of turn.reply) {
    if (piece.kind === "error") {
      const failed = response(turn, asked, "failed", output);
      failed.error = { code: piece.error.code ?? "server_error", message: piece.error.message };
      yield { type: "response.failed", response: failed };
      return;
    }
    if (!isSaid(piece)) {
      yield piece;
      continue;
    }
    const at = output.length;
    const item = sealed(itemOf(piece, asked, at), piece, turn, asked.signer);
    yield { type: "response.output_item.added", output_index: at, item: begun(item) };
    yield* grow(piece, item, at);
    yield { type: "response.output_item.done", output_index: at, item };
    output.push(item);
  }
  const status = finalStatus(turn);
  yield { type: `response.${status}`, response: response(turn, asked, status, output) };
}

export function* stream(turn, asked) {
  let number = 0;
  for (const step of unnumbered(turn, asked)) {
    if (step.kind) yield step;
    else yield { event: step.type, data: { ...step, sequence_number: number++ } };
  }
}

export function whole(turn, asked) {
  const output = turn.reply.map((piece, index) => itemOf(piece, asked, index));
  return response(turn, asked, finalStatus(turn), output);
}
