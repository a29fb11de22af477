// JSON that loses nothing: integers outside of the safe range become BigInt, objects have no
// prototype, so that "__proto__" is a key like any other.

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** The number that the text means: a Number where it is exact, a BigInt for larger integers. */
function numberOf(text) {
  if (/^-?[0-9]+$/.test(text)) {
    const big = BigInt(text);
    const small = Number(big);
    return Number.isSafeInteger(small) ? small + 0 : big;
  }
  return exactNumber(Number(text));
}

/** A double that is an integer, as numberOf() gives it for its digits; never -0. */
export function exactNumber(value) {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return BigInt(value);
  return Object.is(value, -0) ? 0 : value;
}

/** Parses; with unique, an object that has a key twice is an error. */
export function parseExact(text, { unique = false } = {}) {
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found?.[0];
  };
  const fail = () => {
    throw new SyntaxError(`no JSON at ${at}: ${text.slice(at, at + 40)}`);
  };
  const take = (char) => {
    if (text[at] !== char) fail();
    at += 1;
    match(SPACE);
  };
  const word = (name, value) => {
    if (!text.startsWith(name, at)) fail();
    at += name.length;
    return value;
  };
  const members = (close, each) => {
    at += 1;
    match(SPACE);
    while (text[at] !== close) {
      each();
      match(SPACE);
      if (text[at] === close) break;
      take(",");
      if (text[at] === close) fail();
    }
    at += 1;
  };
  const value = () => {
    match(SPACE);
    switch (text[at]) {
      case "{": {
        const object = Object.create(null);
        members("}", () => {
          const key = JSON.parse(match(STRING) ?? fail());
          match(SPACE);
          take(":");
          if (unique && key in object) throw new SyntaxError(`the key ${key} stands twice`);
          object[key] = value();
        });
        return object;
      }
      case "[": {
        const list = [];
        members("]", () => list.push(value()));
        return list;
      }
      case '"':
        return JSON.parse(match(STRING) ?? fail());
      case "t":
        return word("true", true);
      case "f":
        return word("false", false);
      case "n":
        return word("null", null);
      default:
        return numberOf(match(NUMBER) ?? fail());
    }
  };
  const result = value();
  match(SPACE);
  if (at !== text.length) fail();
  return result;
}

/** The text of a value, keys sorted: equal texts mean equal values. */
export function canonical(value) {
  return write(value, true);
}

/** The text of a value, keys in their order. */
export function stringify(value) {
  return write(value, false);
}

function write(value, sorted) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => write(item, sorted)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value);
    if (sorted) keys.sort();
    const members = keys.map((key) => `${JSON.stringify(key)}:${write(value[key], sorted)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(Object.is(value, -0) ? 0 : value);
}

export const isObject = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value);
