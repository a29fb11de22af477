// Random schemas, values and patterns, small enough that they meet.

/** Numbers from a seed, the same each time. */
export function dice(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, chance: (p) => next() < p, pick: (list) => list[below(list.length)] };
}

const KEYS = ["a", "b", "c", "ab"];
const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];
const STRINGS = ["", "a", "b", "ab", "aab", "1", "😀", "a b"];
const NUMBERS = [0, 1, 2, 3, 4, -1, 0.5, 1.5, 2.5];
const PATTERNS = ["^a", "b$", "^a*b?$", "[ab]{2}", "\\d", "^.$", "^(a|b)+$"];

export function randomValue(d, depth = 3) {
  const kind = d.below(depth > 0 ? 8 : 5);
  if (kind === 0) return d.pick([null, true, false]);
  if (kind <= 2) return d.pick(NUMBERS);
  if (kind <= 4) return d.pick(STRINGS);
  if (kind === 5) return Array.from({ length: d.below(4) }, () => randomValue(d, depth - 1));
  const object = {};
  for (let i = d.below(4); i > 0; i -= 1) object[d.pick(KEYS)] = randomValue(d, depth - 1);
  return object;
}

const some = (d, list, most) => list.filter(() => d.chance(0.5)).slice(0, most);

/** Each adds one keyword; "sub" makes the schemas within. */
const KEYWORDS = [
  (s, d) => (s.type = d.chance(0.6) ? d.pick(TYPES) : [...new Set([d.pick(TYPES), d.pick(TYPES)])]),
  (s, d) => (s.enum = [...new Set([randomValue(d, 1), randomValue(d, 1), randomValue(d, 0)])]),
  (s, d) => (s.const = randomValue(d, 1)),
  (s, d) => (s.minimum = d.pick(NUMBERS)),
  (s, d) => (s.maximum = d.pick(NUMBERS)),
  (s, d) => (s.exclusiveMinimum = d.pick(NUMBERS)),
  (s, d) => (s.exclusiveMaximum = d.pick(NUMBERS)),
  (s, d) => (s.multipleOf = d.pick([1, 2, 3, 0.5])),
  (s, d) => (s.minLength = d.below(3)),
  (s, d) => (s.maxLength = d.below(4)),
  (s, d) => (s.pattern = d.pick(PATTERNS)),
  (s, d) => (s.minItems = d.below(3)),
  (s, d) => (s.maxItems = d.below(4)),
  (s) => (s.uniqueItems = true),
  (s, d) => (s.minProperties = d.below(3)),
  (s, d) => (s.maxProperties = d.below(4)),
  (s, d) => (s.required = some(d, KEYS, 2)),
  (s, d) => (s.dependentRequired = { [d.pick(KEYS)]: some(d, KEYS, 2) }),
];
const NESTING = [
  (s, d, sub) => (s.items = sub()),
  (s, d, sub) => (s.prefixItems = [sub(), ...(d.chance(0.5) ? [sub()] : [])]),
  (s, d, sub) => (s.contains = sub()),
  (s, d, sub) => Object.assign(s, { contains: sub(), minContains: d.below(2), maxContains: 1 + d.below(3) }),
  (s, d, sub) => (s.properties = { [d.pick(KEYS)]: sub(), [d.pick(KEYS)]: sub() }),
  (s, d, sub) => (s.patternProperties = { [d.pick(PATTERNS)]: sub() }),
  (s, d, sub) => (s.additionalProperties = sub()),
  (s, d, sub) => (s.propertyNames = sub()),
  (s, d, sub) => (s.dependentSchemas = { [d.pick(KEYS)]: sub() }),
  (s, d, sub) => (s.unevaluatedProperties = d.chance(0.6) ? false : sub()),
  (s, d, sub) => (s.unevaluatedItems = d.chance(0.6) ? false : sub()),
  (s, d, sub) => (s.allOf = [sub(), sub()]),
  (s, d, sub) => (s.anyOf = [sub(), sub(), ...(d.chance(0.3) ? [sub()] : [])]),
  (s, d, sub) => (s.oneOf = [sub(), sub()]),
  (s, d, sub) => (s.not = sub()),
  (s, d, sub) => Object.assign(s, { if: sub(), then: sub(), ...(d.chance(0.5) ? { else: sub() } : {}) }),
];

function randomNode(d, depth, refs) {
  if (d.chance(0.08)) return d.chance(0.7);
  if (refs.length > 0 && d.chance(0.1)) return { $ref: `#/$defs/${d.pick(refs)}` };
  const schema = {};
  const sub = () => randomNode(d, depth - 1, refs);
  for (let i = d.below(3); i >= 0; i -= 1) {
    if (depth > 0 && d.chance(0.6)) d.pick(NESTING)(schema, d, sub);
    else d.pick(KEYWORDS)(schema, d);
  }
  return schema;
}

/** A schema with definitions; a definition refers to those after it only, so that it ends. */
export function randomSchema(d) {
  const names = ["x", "y", "z"].slice(0, d.below(4));
  const schema = randomNode(d, 3, names);
  if (typeof schema !== "object" || names.length === 0) return schema;
  schema.$defs = {};
  names.forEach((name, i) => (schema.$defs[name] = randomNode(d, 2, names.slice(i + 1))));
  return schema;
}

// ---- Patterns -----------------------------------------------------------------------------------

const ATOMS = ["a", "b", "c", "1", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[ab]", "[^a]",
  "[a-c1]", "[^\\d\\s]", "[\\w-]", "ä", "😀", "\\u0061", "\\u{1F600}", "\\x62", "\\.", "[^]", "[]",
  "[\\b]", "\\n", "\\/", "[ä-ü]", "\\ud83d\\ude00"];
const REPEATS = ["*", "+", "?", "{2}", "{1,2}", "{0,1}", "{1,}", "{0}", "*?", "+?", "??", "{1,3}?"];
const ASSERTIONS = ["^", "$", "\\b", "\\B"];

export function randomPattern(d, depth = 3) {
  const sequence = () => {
    let text = d.chance(0.15) ? d.pick(ASSERTIONS) : "";
    for (let i = d.below(4); i > 0; i -= 1) {
      const group = depth > 0 && d.chance(0.3);
      const open = d.pick(["(", "(?:", "("]);
      text += group ? `${open}${randomPattern(d, depth - 1)})` : d.pick(ATOMS);
      if (d.chance(0.4)) text += d.pick(REPEATS);
    }
    return text + (d.chance(0.15) ? d.pick(ASSERTIONS) : "");
  };
  const parts = [sequence()];
  while (d.chance(0.25)) parts.push(sequence());
  return parts.join("|");
}

export function randomText(d) {
  const letters = ["a", "b", "c", "1", " ", "ä", "😀", "\n", "-", "a", "b", "\u2028", "."];
  return Array.from({ length: d.below(7) }, () => d.pick(letters)).join("");
}
