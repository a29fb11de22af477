// Random messages made from an official schema alone.

import { branchesOf, tagOf } from "./schemas.mjs";
import { splitNull, unwrap } from "./reader.mjs";
import { exactNumber } from "./exact.mjs";

/** A generator of pseudo-random numbers (mulberry32): next(n) gives one from 0 to n - 1. */
export function dice(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) % n;
  };
}

const TEXTS = [
  "", "plain", "two words", 'a "quoted" \\ text', "line\nline\ttab", "\u0000\u0001\u001f\u007f",
  "\u2028\u2029", "é ß 漢字", "😀👩‍👩‍👧", "__proto__", "/tmp/x",
  "\u0085\u009b31m", "file:///a%20b", "x".repeat(70),
];
const INTEGERS = {
  int32: [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), -32700],
  int64: [0, 1, -1, 9007199254740993n, -9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)],
  uint16: [0, 1, 2, 65535],
  uint32: [0, 1, 80, 2 ** 32 - 1],
  uint64: [0, 1, 4096, 9007199254740993n, 2n ** 63n, 2n ** 64n - 1n],
};
const DOUBLES = [0, 1, 0.5, -2.25, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 2 ** 53];
const ANY = [
  null, true, 0, -1.5, 9007199254740993n, 18446744073709551616n, "text", "\u2028",
  "\u007f\u009b31m", [], [1, [2]],
  { a: { b: [null, false] } }, Object.assign(Object.create(null), { ["__proto__"]: 1 }),
];
const UNKNOWN_KEYS = ["zzUnknown", "__proto__", "constructor", "zz é \n", ""];
const DEEP = 5;

export class Instances {
  /**
   * @param unknown  how often an object gets a key that the schema does not know: one in N
   * @param steer    the number of the branch that the first alternative takes
   */
  constructor(defs, seed, { unknown = 0, steer = 0 } = {}) {
    this.defs = defs;
    this.next = dice(seed);
    this.unknown = unknown;
    this.steer = steer;
    this.depth = 0;
  }

  oneIn(n) {
    return this.next(n) === 0;
  }

  pick(list) {
    return list[this.next(list.length)];
  }

  pickBranch(branches) {
    if (this.steer === undefined) return this.pick(branches);
    const branch = branches[this.steer % branches.length];
    this.steer = undefined;
    return branch;
  }

  of(type) {
    return this.value(this.defs[type]);
  }

  value(wrapped) {
    const [inner, nullable] = splitNull(unwrap(this.defs, wrapped));
    if (nullable && this.oneIn(5)) return null;
    const node = unwrap(this.defs, inner);
    const branches = branchesOf(node);
    if (branches?.every((b) => b.type === "string")) return this.enumerator(branches);
    const flat = node.properties || (branches && tagOf(branches));
    if (branches && !flat && !branches.every(isObjectNode(this.defs))) {
      return this.value(this.pickBranch(branches));
    }
    if (branches || node.properties) return this.object(node);
    switch (node.type) {
      case "string": {
        const text = this.pick(TEXTS);
        return text.length < (node.minLength ?? 0) ? "x" : text;
      }
      case "boolean":
        return this.oneIn(2);
      case "integer":
        return node.const ?? this.integer(node);
      case "number":
        return exactNumber(this.pick(DOUBLES.filter((x) => fits(node, x))));
      case "null":
        return null;
      case "array": {
        const extra = this.depth < DEEP ? this.next(3) : 0;
        return Array.from({ length: (node.minItems ?? 0) + extra }, () => this.value(node.items));
      }
      case "object":
        return node.additionalProperties ? this.map(node) : this.object(node);
      default:
        return this.pick(ANY);
    }
  }

  integer(node) {
    return this.pick(INTEGERS[node.format].filter((x) => fits(node, x)));
  }

  enumerator(branches) {
    const branch = this.pick(branches);
    return branch.const ?? this.pick(["zz_unlisted", "_x", "é", ""]);
  }

  map(node) {
    const out = Object.create(null);
    const any = node.additionalProperties === true;
    for (let n = this.next(3); n > 0; n--) {
      out[this.pick(["a", "b", "__proto__", "k é", ""])] = any
        ? this.pick(ANY)
        : this.value(node.additionalProperties);
    }
    return out;
  }

  object(node) {
    const out = Object.create(null);
    this.depth += 1;
    this.fill(node, out);
    if (this.unknown && this.oneIn(this.unknown)) out[this.pick(UNKNOWN_KEYS)] ??= this.pick(ANY);
    this.depth -= 1;
    return out;
  }

  fill(wrapped, out) {
    const node = unwrap(this.defs, wrapped);
    for (const [name, field] of Object.entries(node.properties ?? {})) {
      if ("const" in field) {
        out[name] = field.const;
        continue;
      }
      const absent = this.depth > DEEP ? !this.oneIn(6) : this.oneIn(3);
      if (!node.required?.includes(name) && absent) continue;
      out[name] = this.value(field);
    }
    for (const part of node.allOf ?? []) this.fill(part, out);
    const branches = branchesOf(node);
    if (!branches) return;
    const tag = tagOf(branches);
    const branch = this.pickBranch(branches);
    if (tag) delete out[tag];
    this.fill(branch, out);
    if (tag && branch.title === "other") out[tag] = this.pick(["zz_unlisted", "_custom", "é"]);
    else if (tag && branch.title !== "none" && !branch.properties?.[tag]) delete out[tag];
  }
}

function fits(node, x) {
  return !(x < (node.minimum ?? x)) && !(x > (node.maximum ?? x));
}

const isObjectNode = (defs) => (wrapped) => {
  const node = unwrap(defs, wrapped);
  return node.type === "object" || node.properties !== undefined || branchesOf(node) !== undefined;
};
