// Google's Gemini API: parts of one content, in chunks.

import { isSaid, lastWords, textPieces } from "./script.mjs";

const STOPS = { end: "STOP", tool: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" };
const PATH = /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(\w+)$/;

export const name = "gemini";

export function route(method, path) {
  const verb = method === "POST" ? path.match(PATH)?.[2] : undefined;
  if (verb === "generateContent" || verb === "streamGenerateContent") return "reply";
  return verb === "countTokens" ? "count" : undefined;
}

export function read(body, path) {
  const [, model, verb] = path.match(PATH);
  const results = [];
  let prompt = "";
  let last = "user";
  for (const { parts } of (body.contents ?? []).filter((one) => one.role !== "model")) {
    const answers = parts.filter((part) => part.functionResponse);
    last = parts.at(-1)?.functionResponse ? "tool" : "user";
    if (last === "user") prompt = lastWords(parts.filter((part) => part.text).map((part) => part.text));
    results.push(...answers.map((part) => JSON.stringify(part.functionResponse.response ?? {})));
  }
  return {
    model,
    stream: verb === "streamGenerateContent",
    tools: (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((f) => f.name),
    last,
    prompt,
    result: results.at(-1) ?? "",
  };
}

function partsOf(piece) {
  if (piece.kind === "text") return textPieces(piece.text).map((text) => ({ text }));
  if (piece.kind === "thought")
    return textPieces(piece.thought).map((text) => ({ text, thought: true }));
  const functionCall = { name: piece.tool, args: piece.arguments ?? {} };
  if (piece.id !== undefined) functionCall.id = piece.id;
  return [{ functionCall }];
}

/** Signs the first call, or the last words where there is none, and remembers what comes back. */
function sign(parts, signer) {
  const said = parts.filter((part) => !part.thought);
  const sealed = said.find((part) => part.functionCall) ?? said.at(-1);
  let words = "";
  const flush = () => {
    if (words !== "") signer.say({ role: "model", text: words });
    words = "";
  };
  for (const part of said) {
    if (part !== sealed && part.text !== undefined) words += part.text;
    else {
      flush();
      if (part === sealed) part.thoughtSignature = signer.seal();
      signer.say({ role: "model", ...part });
    }
  }
  flush();
}

function chunk(turn, asked, parts, finishReason) {
  const { input, output } = turn.usage;
  const candidate = { content: { role: "model", parts }, index: 0 };
  if (finishReason !== undefined) candidate.finishReason = finishReason;
  return {
    candidates: [candidate],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: asked.model,
    responseId: `resp_${asked.number}`,
  };
}

export function* stream(turn, asked) {
  const parts = new Map(turn.reply.filter(isSaid).map((piece) => [piece, partsOf(piece)]));
  if (asked.signer) sign([...parts.values()].flat(), asked.signer);
  for (const piece of turn.reply) {
    if (piece.kind === "error") {
      yield { data: error(piece.error.status ?? 503, piece.error.message) };
      return;
    }
    if (!isSaid(piece)) {
      yield piece;
      continue;
    }
    for (const part of parts.get(piece)) yield { data: chunk(turn, asked, [part]) };
  }
  yield { data: chunk(turn, asked, [{ text: "" }], STOPS[turn.stop]) };
}

export function whole(turn, asked) {
  return chunk(turn, asked, turn.reply.flatMap(partsOf), STOPS[turn.stop]);
}

export function count(tokens) {
  return { totalTokens: tokens };
}

export function error(code, message) {
  const names = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" };
  return { error: { code, message, status: names[code] ?? "UNAVAILABLE" } };
}
