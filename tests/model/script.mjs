// The script of a model: which turn answers which request.  README.md describes the format.

const STOPS = ["end", "tool", "length", "refusal"];
const PIECES = ["text", "thought", "tool", "wait", "stall", "cut", "raw", "error"];
const CONDITIONS = ["api", "model", "tool", "last", "prompt", "result"];
const TURN_KEYS = ["when", "times", "reply", "stop", "error", "usage", "split"];

function only(where, object, known) {
  for (const key of Object.keys(object))
    if (!known.includes(key)) throw new Error(`${where}: there is no "${key}"`);
}

function readPiece(where, piece) {
  const kinds = Object.keys(piece).filter((key) => PIECES.includes(key));
  if (kinds.length !== 1) throw new Error(`${where}: a piece is one of ${PIECES.join(", ")}`);
  if (kinds[0] === "tool") only(where, piece, ["tool", "id", "arguments", "input", "broken"]);
  else only(where, piece, kinds);
  return { kind: kinds[0], ...piece };
}

function readTurn(turn, index) {
  const where = `turn ${index}`;
  only(where, turn, TURN_KEYS);
  only(`${where}: when`, turn.when ?? {}, CONDITIONS);
  const reply = (turn.reply ?? []).map((piece, i) => readPiece(`${where}: piece ${i}`, piece));
  const calls = reply.some((piece) => piece.kind === "tool");
  const stop = turn.stop ?? (calls ? "tool" : "end");
  if (!STOPS.includes(stop)) throw new Error(`${where}: stop is one of ${STOPS.join(", ")}`);
  return {
    index,
    when: turn.when ?? {},
    left: turn.times ?? Infinity,
    reply,
    stop,
    error: turn.error,
    usage: { input: 10, output: 5, ...turn.usage },
    split: turn.split ?? 0,
  };
}

function fits({ api, model, tool, last, prompt, result }, asked) {
  return (
    (api === undefined || api === asked.api) &&
    (model === undefined || new RegExp(model).test(asked.model)) &&
    (tool === undefined || asked.tools.includes(tool)) &&
    (last === undefined || last === asked.last) &&
    (prompt === undefined || new RegExp(prompt).test(asked.prompt)) &&
    (result === undefined || new RegExp(result).test(asked.result))
  );
}

export class Script {
  constructor({ turns, models = [], ...others }) {
    only("script", others, []);
    this.models = models;
    this.turns = turns.map(readTurn);
  }

  /** Puts a turn before the others. */
  first(turn) {
    this.turns.unshift(readTurn(turn, this.turns.length));
  }

  /** The first turn that fits what is asked and is not used up; undefined when there is none. */
  choose(asked) {
    const turn = this.turns.find((one) => one.left > 0 && fits(one.when, asked));
    if (turn) turn.left -= 1;
    return turn;
  }
}

/**
 * The last words of the user: texts that came together are one message, and what a prompt points at
 * stands behind it.
 */
export function lastWords(texts) {
  const at = texts.findLastIndex((text) => !text.startsWith("<resource"));
  return texts.slice(Math.max(at, 0)).join("\n");
}

/** Whether the model says this piece; the others are what goes wrong around it. */
export function isSaid(piece) {
  return piece.kind === "text" || piece.kind === "thought" || piece.kind === "tool";
}

/** Chunks of a text: as the script has them, or the whole. */
export function textPieces(text) {
  return Array.isArray(text) ? text : [text];
}

const ARGUMENT_PIECE = 16; // characters; models send arguments in small pieces, never in one

/** The arguments of a call as the text that goes over the wire, and its pieces. */
export function argumentText(piece) {
  return piece.broken ?? JSON.stringify(piece.arguments ?? {});
}

/** Them as they come back: what is not JSON is the text of the only member. */
export function argumentsBack(piece) {
  try {
    return JSON.parse(argumentText(piece));
  } catch {
    return { raw_arguments: piece.broken };
  }
}

export function argumentPieces(piece) {
  return argumentText(piece).match(new RegExp(`[^]{1,${ARGUMENT_PIECE}}`, "g")) ?? [];
}
