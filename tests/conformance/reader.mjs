// A reader of messages that is led by an official schema and its x-deserialize marks: what a
// message means, said a second time and independently of lib/acp, for comparison with it.

import { branchesOf, refName, tagOf } from "./schemas.mjs";
import { exactNumber, isObject } from "./exact.mjs";

const WIDTHS = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/**
 * Why a message is refused; code is the name that our codec gives it.  Thrown by the thousand, so it
 * is no Error: those note the stack.
 */
export class Refused {
  constructor(code, path) {
    this.code = code;
    this.path = path;
  }
}

const join = (path, key) => (path ? `${path}.${key}` : key);

export const forgives = (node, mark) => node[`x-deserialize-${mark}`] === true;

const isWrapper = (node) => node.allOf?.length === 1 && !node.properties && !branchesOf(node);

/** The node that a mere wrapper stands for. */
export function unwrap(defs, node) {
  for (;;) {
    const ref = refName(node);
    if (ref) node = defs[ref];
    else if (isWrapper(node)) node = node.allOf[0];
    else return node;
  }
}

/** Splits off that null is allowed: [node, nullable]. */
export function splitNull(node) {
  if (Array.isArray(node.type)) return [{ ...node, type: node.type[0] }, true];
  if (node.anyOf && !branchesOf(node)) return [node.anyOf[0], true];
  return [node, false];
}

export class Reader {
  /** @param options strict: forgive nothing; keep: leave unknown keys where they are */
  constructor(defs, { strict = false, keep = false } = {}) {
    this.defs = defs;
    this.strict = strict;
    this.keep = keep;
  }

  /** The message as it is written again after reading; throws Refused. */
  read(type, value) {
    return this.value(this.defs[type], value, "");
  }

  value(wrapped, value, path) {
    const [inner, nullable] = splitNull(unwrap(this.defs, wrapped));
    if (nullable && value === null) return null;
    const node = unwrap(this.defs, inner);
    const branches = branchesOf(node);
    if (branches) return this.alternatives(node, branches, value, path);
    switch (node.type) {
      case "string":
        return this.string(node, value, path);
      case "boolean":
        if (typeof value !== "boolean") throw new Refused("TYPE", path);
        return value;
      case "integer":
        return this.integer(node, value, path);
      case "number":
        return this.number(node, value, path);
      case "null":
        if (value !== null) throw new Refused("TYPE", path);
        return value;
      case "array":
        return this.list(node, value, path);
      case "object":
        return this.object(node, value, path);
      default:
        return node.properties || node.allOf ? this.object(node, value, path) : value;
    }
  }

  string(node, value, path) {
    if (typeof value !== "string") throw new Refused("TYPE", path);
    if (value.length < (node.minLength ?? 0)) throw new Refused("RANGE", path);
    return value.toWellFormed();
  }

  integer(node, value, path) {
    const whole = typeof value === "bigint" || Number.isInteger(value);
    if (!whole) throw new Refused("TYPE", path);
    const [low, high] = WIDTHS[node.format];
    const below = value < low || value < (node.minimum ?? value);
    if (below || value > high || value > (node.maximum ?? value)) throw new Refused("RANGE", path);
    return value;
  }

  number(node, value, path) {
    if (typeof value !== "number" && typeof value !== "bigint") throw new Refused("TYPE", path);
    if (value < (node.minimum ?? value) || value > (node.maximum ?? value)) {
      throw new Refused("RANGE", path);
    }
    return exactNumber(Number(value));
  }

  list(node, value, path) {
    if (!Array.isArray(value)) throw new Refused("TYPE", path);
    const drop = forgives(node, "skip-invalid-items") && !this.strict;
    const items = [];
    for (const item of value) {
      try {
        items.push(this.value(node.items, item, `${path}[${items.length}]`));
      } catch (error) {
        if (!(error instanceof Refused) || !drop) throw error;
      }
    }
    if (items.length < (node.minItems ?? 0)) throw new Refused("RANGE", path);
    return items;
  }

  // Enums and codes, unions, choices.
  alternatives(node, branches, value, path) {
    if (branches.every((b) => b.type === "string") && branches.some((b) => "const" in b)) {
      if (typeof value !== "string") throw new Refused("TYPE", path);
      const open = branches.some((b) => !("const" in b));
      if (open || branches.some((b) => b.const === value)) return value.toWellFormed();
      throw new Refused("VARIANT", path);
    }
    if (branches.every((b) => b.type === "integer")) return this.integer(branches[0], value, path);
    if (node.properties || tagOf(branches)) return this.object(node, value, path);
    let last;
    for (const branch of branches) {
      try {
        return this.value(branch, value, path);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        last = error;
      }
    }
    throw last;
  }

  object(node, value, path) {
    if (!isObject(value)) throw new Refused("TYPE", path);
    if (!node.properties && !node.allOf && !branchesOf(node) && node.additionalProperties) {
      if (node.additionalProperties === true) return value;
      return this.map(node.additionalProperties, value, path);
    }
    const state = { out: Object.create(null), known: new Set(), raw: false };
    this.fill(node, value, path, state);
    if (state.raw) return value; // unlisted: kept as it came
    if (this.keep) {
      for (const key of Object.keys(value)) if (!state.known.has(key)) state.out[key] = value[key];
    }
    return state.out;
  }

  map(node, value, path) {
    const out = Object.create(null);
    for (const key of Object.keys(value)) {
      out[key.toWellFormed()] = this.value(node, value[key], join(path, key));
    }
    return out;
  }

  // An object is described in layers: its own fields, those of allOf, those of the chosen branch.
  fill(wrapped, value, path, state) {
    const node = unwrap(this.defs, wrapped);
    const branches = branchesOf(node);
    const tag = branches && tagOf(branches);
    for (const [name, field] of Object.entries(node.properties ?? {})) {
      if (name === tag || "const" in field) continue;
      const required = node.required?.includes(name);
      state.known.add(name);
      if (!(name in value)) {
        if (required) throw new Refused("MISSING", join(path, name));
        continue;
      }
      const result = this.field(field, value[name], join(path, name), required);
      if (result !== undefined) state.out[name] = result;
      else delete state.out[name];
    }
    for (const part of node.allOf ?? []) this.fill(part, value, path, state);
    if (tag) this.union(node, branches, tag, value, path, state);
    else if (branches) this.choice(branches, value, path, state);
  }

  // One field; undefined when it reads as absent.
  field(node, value, path, required) {
    const [bare] = splitNull(unwrap(this.defs, node));
    const none = required && bare.type === "array" ? [] : undefined;
    let result;
    try {
      const mark = forgives(node, "default-on-null") && !this.strict;
      if (value === null && !splitNull(node)[1] && mark) return none;
      result = this.value(node, value, path);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!forgives(node, "default-on-error") || this.strict) throw error;
      return none;
    }
    // Writing a default is the same as not writing it.
    return result === false && node.default === false ? undefined : result;
  }

  union(node, branches, tag, value, path, state) {
    const optional = node.properties?.[tag];
    const untagged = branches.find((b) => !b.properties?.[tag]);
    state.known.add(tag);
    let branch;
    if (tag in value && typeof value[tag] !== "string") {
      const nothing = optional && (value[tag] === null || !this.strict);
      if (!nothing) throw new Refused("TYPE", join(path, tag));
      return;
    }
    if (tag in value) {
      const is = value[tag];
      branch = branches.find((b) => b.properties?.[tag]?.const === is);
      if (branch) state.out[tag] = is;
      branch ??= branches.find((b) => b.title === "other");
      if (branch?.title === "other") state.raw = true;
      if (!branch && untagged) state.known.delete(tag);
      branch ??= untagged;
      if (!branch) throw new Refused("VARIANT", join(path, tag));
    } else if (untagged) {
      branch = untagged;
    } else if (optional) {
      return;
    } else {
      throw new Refused("MISSING", join(path, tag));
    }
    this.fill(withoutTag(branch, tag), value, path, state);
  }

  choice(branches, value, path, state) {
    let last;
    for (const branch of branches) {
      const copy = {
        out: Object.assign(Object.create(null), state.out),
        known: new Set(state.known),
        raw: state.raw,
      };
      try {
        this.fill(branch, value, path, copy);
        Object.assign(state, copy);
        return;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        last = error;
      }
    }
    throw last;
  }
}

function withoutTag(branch, tag) {
  if (!branch.properties?.[tag]) return branch;
  const { [tag]: _, ...properties } = branch.properties;
  return { ...branch, properties };
}
