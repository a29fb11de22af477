// The wrong messages of wrong.test.mjs and what is to become of them.  A case is
//     { type, text, expected, command = "recode" }
// and what is expected comes from the official schemas, from Ajv and from reader.mjs, never from
// our own tables.

import { branchesOf, structuredTypes } from "./schemas.mjs";
import { canonical, isObject, parseExact, stringify } from "./exact.mjs";
import { Instances } from "./instance.mjs";
import { Reader, Refused, forgives, splitNull } from "./reader.mjs";
import { bare, sample, sampleOf, shapesOf } from "./shapes.mjs";

const without = (object, key) => {
  const copy = Object.assign(Object.create(null), object);
  delete copy[key];
  return copy;
};
const withValue = (object, key, value) =>
  Object.assign(Object.create(null), object, { [key]: value });
export const isValid = (official, type, value) =>
  official.validate(type, JSON.parse(stringify(value))).length === 0;

/**
 * Whether a message of that shape is right.  Ajv and the strict reader must agree, except where a
 * known tag has a bad payload and Ajv then takes the branch that needs no tag: COM-LEN-05.
 */
function isRight(official, { type, shape }, value) {
  const unions = [...shape.tags].map(([key, { union }]) => [key, branchesOf(union)]);
  const untagged = unions.some(([key, branches]) => branches.some((b) => !b.properties?.[key]));
  const read = !byReader(new Reader(official.defs, { strict: true }), type, value).refused;
  const valid = isValid(official, type, value);
  if (read === valid || (valid && untagged)) return read;
  throw new Error(`Ajv says ${valid}, reader.mjs ${read}: ${type} ${stringify(value)}`);
}

const MARKS = ["default-on-error", "default-on-null", "skip-invalid-items"];
export const marked = (node) => MARKS.some((mark) => forgives(node, mark));

// ---- What may be expected -----------------------------------------------------------------------

/** Refused; with a code and a path where they are certain. */
export const refused = (code, path) => ({ refused: true, code, path });
/** Read, and written again as this value. */
export const reads = (value) => ({ value: canonical(value) });
/** Forgiven, but what is left cannot be written: a list that needs items and has none. */
export const unwritable = (path) => ({ unwritable: true, path });

/** What the reader that is led by the schema says. */
export function byReader(reader, type, value) {
  try {
    return reads(reader.read(type, value));
  } catch (error) {
    if (error instanceof Refused) return refused();
    throw error;
  }
}

// ---- The objects of a schema --------------------------------------------------------------------

/** A choice whose last branch is any value: nothing is wrong there. */
const takesAnything = (node) =>
  branchesOf(node)?.some((b) => Object.keys(b).every((key) => /title|description/.test(key)));

/** Every form of every object: { type, shape, full, minimal }. */
export function objectsOf(official) {
  const objects = [];
  for (const type of structuredTypes(official.defs)) {
    if (!isObject(sample(official.defs, official.defs[type]))) continue; // a choice of plain values
    if (takesAnything(official.defs[type])) continue;
    for (const shape of shapesOf(official.defs, official.defs[type])) {
      const full = sampleOf(official.defs, shape, { full: true });
      const minimal = sampleOf(official.defs, shape, { full: false });
      objects.push({ type, shape, full, minimal });
    }
  }
  return objects;
}

export function* fieldsOf(objects) {
  for (const object of objects) {
    for (const [name, { node, required }] of object.shape.fields) {
      yield { ...object, name, node, required };
    }
  }
}

/** What is left of a field that was forgiven: nothing, or an empty list where one is required. */
function afterForgiving(official, { full, name, node, required }) {
  const plain = bare(official.defs, node);
  if (!required) return reads(without(full, name));
  if (plain.type !== "array") throw new Error(`${name}: a required field that is forgiven`);
  return plain.minItems ? unwritable(name) : reads(withValue(full, name, []));
}

/** What becomes of a field whose value is wrong, by the marks alone. */
function byMarks(official, field, value) {
  const { node, name, full, shape } = field;
  const items = bare(official.defs, node);
  if (value === null && forgives(node, "default-on-null")) return afterForgiving(official, field);
  if (Array.isArray(value) && forgives(node, "skip-invalid-items")) {
    const good = canonical(sample(official.defs, items.items));
    const left = value.filter((item) => canonical(item) === good);
    if (left.length >= (items.minItems ?? 0)) return reads(withValue(full, name, left));
  }
  if (forgives(node, "default-on-error")) return afterForgiving(official, field);
  return shape.chosen ? refused() : refused(undefined, name);
}

/** The case and the same one in strict mode, where nothing is forgiven. */
function bothModes(type, value, expected) {
  const text = stringify(value);
  return [
    { type, text, expected },
    { command: "strict", type, text, expected: refused() },
  ];
}

// ---- Cases --------------------------------------------------------------------------------------

export const WRONG = [
  null, true, 7, -1, 1.5, "zz_unlisted", [], [null], [7], ["zz_unlisted"],
  Object.create(null), Object.assign(Object.create(null), { zz: null }),
];

export function* samples(objects) {
  for (const { type, full, minimal } of objects) {
    for (const value of [full, minimal]) {
      yield { type, text: stringify(value), expected: reads(value) };
      yield { command: "strict", type, text: stringify(value), expected: reads(value) };
    }
  }
}

export function* missingFields(objects, reader) {
  for (const { type, shape, full, name, required } of fieldsOf(objects)) {
    if (!required) continue;
    const message = without(full, name);
    const text = stringify(message);
    // Where there is a choice, another branch may be the last that was tried.
    const expected = shape.chosen ? byReader(reader, type, message) : refused("MISSING", name);
    yield { type, text, expected };
    yield { command: "strict", type, text, expected };
  }
}

export function* wrongFields(official, objects, wanted) {
  for (const field of fieldsOf(objects)) {
    if (!wanted(field.node)) continue;
    for (const value of WRONG) {
      const message = withValue(field.full, field.name, value);
      if (isRight(official, field, message)) continue;
      yield* bothModes(field.type, message, byMarks(official, field, value));
    }
  }
}

// What a field may be besides its sample: null is kept as null, other values as they are.
export function* rightFields(official, objects) {
  const reader = new Reader(official.defs, { strict: true });
  for (const field of fieldsOf(objects)) {
    for (const value of WRONG) {
      const message = withValue(field.full, field.name, value);
      if (!isRight(official, field, message)) continue;
      const expected = byReader(reader, field.type, message);
      const text = stringify(message);
      yield { type: field.type, text, expected };
      yield { command: "strict", type: field.type, text, expected };
      const kept = canonical(JSON.parse(expected.value)[field.name] ?? null) === "null";
      if (value === null && !kept) throw new Error(`${field.type}.${field.name}: null was lost`);
    }
  }
}

export function* wrongItems(official, objects) {
  for (const field of fieldsOf(objects)) {
    const node = bare(official.defs, field.node);
    if (node.type !== "array") continue;
    const good = sample(official.defs, node.items);
    for (const bad of [null, true, 7, "zz_unlisted", [], Object.create(null)]) {
      const list = [good, bad, good, bad];
      const message = withValue(field.full, field.name, list);
      if (isRight(official, field, message)) continue;
      yield* bothModes(field.type, message, byMarks(official, field, list));
    }
  }
}

const LIMITS = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/** The limits of the integer that a field holds, also as known codes. */
function limitsOf(official, wrapped) {
  let node = bare(official.defs, wrapped);
  if (branchesOf(node)?.every((b) => b.type === "integer")) node = branchesOf(node)[0];
  if (node.type !== "integer") return undefined;
  const [low, high] = LIMITS[node.format];
  const least = node.minimum > low ? BigInt(node.minimum) : low;
  return [least, node.maximum < high ? BigInt(node.maximum) : high];
}

export function* rightNumbers(official, objects) {
  const unsafe = 9007199254740993n;
  for (const field of fieldsOf(objects)) {
    const limits = limitsOf(official, field.node);
    if (!limits) continue;
    for (const value of limits[1] > unsafe ? [...limits, unsafe] : limits) {
      const text = stringify(withValue(field.full, field.name, value));
      yield { type: field.type, text, expected: reads(parseExact(text)) };
    }
  }
}

export function* wrongNumbers(official, objects) {
  for (const field of fieldsOf(objects)) {
    const limits = limitsOf(official, field.node);
    if (!limits) continue;
    for (const value of [limits[0] - 1n, limits[1] + 1n, 2n ** 64n, -(2n ** 70n), 0.5]) {
      const message = withValue(field.full, field.name, value);
      yield* bothModes(field.type, message, byMarks(official, field, value));
    }
  }
}

/** Unions by the tags of the shapes that lie in them: { type, shape, full, key, union }. */
function* tagsOf(objects) {
  for (const object of objects) {
    for (const [key, { union }] of object.shape.tags) {
      const branches = branchesOf(union);
      const open = branches.some((b) => b.title === "other");
      const untagged = branches.some((b) => !b.properties?.[key]);
      yield { ...object, key, open, untagged, optional: Boolean(union.properties?.[key]) };
    }
  }
}

export function* unknownTags(official, objects) {
  for (const { type, shape, full, key, open, untagged } of tagsOf(objects)) {
    const message = withValue(withValue(full, key, "zz_unlisted"), "zzMore", { deep: [1, null] });
    const text = stringify(message);
    if (open) {
      // Kept as it came, unless it lacks what the schema asks of every variant.
      const expected = isValid(official, type, message) ? reads(message) : refused();
      yield { type, text, expected, open };
      yield { command: "strict", type, text, expected, open };
    } else if (untagged) {
      yield { type, text, expected: byReader(new Reader(official.defs), type, message), open };
    } else {
      yield { type, text, expected: shape.chosen ? refused() : refused("VARIANT", key), open };
    }
  }
}

export function* malformedTags(objects) {
  for (const { type, shape, full, minimal, key, untagged, optional } of tagsOf(objects)) {
    for (const value of [7, true, [], Object.create(null), null]) {
      const text = stringify(withValue(full, key, value));
      if (!optional) {
        yield { type, text, expected: shape.chosen ? refused() : refused("TYPE", key) };
        continue;
      }
      const plain = without(minimal, key);
      const short = stringify(withValue(plain, key, value));
      yield { type, text: short, expected: reads(plain) };
      const strict = value === null ? reads(plain) : refused("TYPE", key);
      yield { command: "strict", type, text: short, expected: strict };
    }
    if (untagged || optional) continue;
    const expected = shape.chosen ? refused() : refused("MISSING", key);
    yield { type, text: stringify(without(full, key)), expected };
  }
}

// A known tag binds: its payload must fit, also where unknown tags are let through.
export function* badPayloads(official, objects) {
  for (const object of tagsOf(objects)) {
    for (const [name, { node, required }] of object.shape.fields) {
      if (!required || marked(node)) continue;
      const { type, full } = object;
      yield { type, text: stringify(without(full, name)), expected: refused() };
      for (const value of WRONG) {
        const message = withValue(full, name, value);
        if (isRight(official, object, message)) continue;
        yield { type, text: stringify(message), expected: refused() };
      }
    }
  }
}

const isEnum = (official, wrapped) =>
  branchesOf(bare(official.defs, wrapped))?.every((b) => b.type === "string");

export function* unknownEnumValues(official, objects, { open }) {
  for (const field of fieldsOf(objects)) {
    if (!isEnum(official, field.node)) continue;
    const message = withValue(field.full, field.name, "zz_unlisted");
    if (isRight(official, field, message) !== open) continue;
    if (open) {
      const same = { type: field.type, text: stringify(message), expected: reads(message) };
      yield same;
      yield { ...same, command: "strict" };
    } else {
      yield* bothModes(field.type, message, byMarks(official, field, "zz_unlisted"));
    }
  }
}

export function* strangeKeys(objects) {
  const polluted = Object.assign(Object.create(null), { polluted: true });
  for (const { type, full } of objects) {
    for (const key of ["zzUnknown", "__proto__", "constructor", "toString", "", "é\u0000"]) {
      const text = stringify(withValue(full, key, polluted));
      yield { type, text, expected: reads(full) };
      yield { command: "strict", type, text, expected: reads(full) };
      yield { command: "keep", type, text, expected: reads(withValue(full, key, polluted)) };
    }
  }
}

export function* duplicateKeys(official, objects) {
  for (const { type, full, name, node } of fieldsOf(objects)) {
    const good = JSON.stringify(name) + ":" + stringify(full[name]);
    const rest = stringify(without(full, name)).slice(1, -1);
    const others = [new Instances(official.defs, 1).value(node)];
    if (splitNull(node)[1]) others.push(null);
    for (const other of others) {
      const first = JSON.stringify(name) + ":" + stringify(other);
      const text = `{${[first, rest, good].filter((part) => part).join(",")}}`;
      yield { type, text, expected: reads(full) };
    }
    if (!splitNull(node)[1]) continue;
    const last = JSON.stringify(name) + ":null";
    const text = `{${[good, rest, last].filter((part) => part).join(",")}}`;
    yield { type, text, expected: reads(withValue(full, name, null)) };
  }
  for (const { type, shape, full, key } of tagsOf(objects)) {
    const body = stringify(full).slice(1, -1);
    const same = `{${body},${JSON.stringify(key)}:${stringify(full[key])}}`;
    yield { type, text: same, expected: reads(full) };
    const other = `{${body},${JSON.stringify(key)}:"zz_other"}`;
    yield { type, text: other, expected: shape.chosen ? refused() : refused("VARIANT", key) };
  }
}

export function* wrongRoots(official) {
  const reader = new Reader(official.defs);
  for (const type of structuredTypes(official.defs)) {
    for (const value of [null, true, 7, "x", [], [[]]]) {
      yield { type, text: stringify(value), expected: byReader(reader, type, value) };
    }
  }
}

export function* metas(objects) {
  const meta = parseExact(
    '{"zz.dev/x":{"n":9007199254740993,"e":1E5,"s":"\\ud800"},"traceparent":"00-0af7-b7ad-01",' +
      '"__proto__":{"a":[]}}',
  );
  for (const { type, shape, full } of objects) {
    if (!shape.fields.has("_meta")) continue;
    for (const value of [meta, null, Object.create(null)]) {
      const message = withValue(full, "_meta", value);
      yield { type, text: stringify(message), expected: reads(message) };
    }
    for (const value of [7, "x", [], true]) {
      const text = stringify(withValue(full, "_meta", value));
      yield { type, text, expected: reads(without(full, "_meta")) };
    }
  }
}

/** What decides about commands, paths and limits is never guessed (COM-LEN-04). */
export const SECURITY = [
  "McpServerStdio.args",
  "McpServerStdio.env",
  "McpServerHttp.headers",
  "McpServerSse.headers",
  "NewSessionRequest.mcpServers",
  "LoadSessionRequest.mcpServers",
  "ResumeSessionRequest.mcpServers",
  "ForkSessionRequest.mcpServers",
  "NewSessionRequest.additionalDirectories",
  "LoadSessionRequest.additionalDirectories",
  "ResumeSessionRequest.additionalDirectories",
  "ForkSessionRequest.additionalDirectories",
  "CreateTerminalRequest.args",
  "CreateTerminalRequest.env",
  "CreateTerminalRequest.cwd",
  "CreateTerminalRequest.outputByteLimit",
  "ReadTextFileRequest.line",
  "ReadTextFileRequest.limit",
  "AuthMethodTerminal.args",
  "AuthMethodTerminal.env",
];

export function* securityFields(official, objects) {
  for (const field of fieldsOf(objects)) {
    if (!SECURITY.includes(`${field.type}.${field.name}`)) continue;
    const good = sample(official.defs, field.node);
    const values = [true, "zz", -1, 1.5, { zz: 1 }, [null], [7], [[]]];
    if (Array.isArray(good)) values.push([...good, 7]);
    for (const value of values) {
      const message = withValue(field.full, field.name, value);
      if (isRight(official, field, message)) continue;
      const expected = refused(undefined, field.name);
      yield { type: field.type, text: stringify(message), expected };
    }
  }
}

export function* truncated(objects) {
  for (const { type, full } of objects) {
    if (!/SessionNotification$|^InitializeRe/.test(type)) continue;
    const text = stringify(full);
    for (let n = 0; n < text.length; n++) {
      yield { type, text: text.slice(0, n), expected: refused("SYNTAX") };
    }
    yield { type, text: `${text} {}`, expected: refused("SYNTAX") };
  }
}

