// Reads an official ACP JSON schema and prints what it says as flat lines, one fact a line, in the
// form that `acp-scanner --facts` prints for our own description.  Two sorted lists of such lines
// can be compared with nothing cleverer than equality, and a difference carries its own path.

const INTEGER = { int32: "i32", int64: "i64", uint16: "u16", uint32: "u32", uint64: "u64" };
const WIDTH_MIN = { u16: 0, u32: 0, u64: 0 };
const WIDTH_MAX = { u16: 65535 };
const STRING_FORMAT = { uri: "uri", "date-time": "datetime", regex: "regex" };
const ENVELOPE = /^(Agent|Client|Proxy)(Request|Response|Notification)$/;

const refName = (node) => node.$ref?.replace("#/$defs/", "");

function range(low, high) {
  return low === undefined && high === undefined ? "" : `(${low ?? ""}..${high ?? ""})`;
}

function scalar(node) {
  switch (node.type) {
    case "string":
      if (node.contentEncoding) return node.contentEncoding;
      return (STRING_FORMAT[node.format] ?? "str") + range(node.minLength, node.maxLength);
    case "boolean":
      return "bool";
    case "integer": {
      const width = INTEGER[node.format];
      if (!width) throw new Error(`integer without a width: ${JSON.stringify(node)}`);
      const low = node.minimum === WIDTH_MIN[width] ? undefined : node.minimum;
      const high = node.maximum === WIDTH_MAX[width] ? undefined : node.maximum;
      return width + range(low, high);
    }
    case "number":
      return "f64" + range(node.minimum, node.maximum);
    case "null":
      return "null";
  }
  return undefined;
}

// The type of a value: { text, nullable }.
function valueType(node) {
  const ref = refName(node) ?? (node.allOf?.length === 1 ? refName(node.allOf[0]) : undefined);
  if (ref) return { text: ref, nullable: false };
  if (node.anyOf?.length === 2 && node.anyOf[1].type === "null") {
    return { text: valueType(node.anyOf[0]).text, nullable: true };
  }
  if (Array.isArray(node.type)) {
    const [type, none] = node.type;
    if (none !== "null" || node.type.length !== 2) throw new Error(`types ${node.type}`);
    return { text: valueType({ ...node, type }).text, nullable: true };
  }
  if (node.type === "array") {
    const least = node.minItems ? `${node.minItems}..` : "";
    return { text: `${valueType(node.items).text}[${least}]`, nullable: false };
  }
  if (node.type === "object") {
    const rest = node.additionalProperties;
    if (rest === true) return { text: "object", nullable: false };
    if (rest && !node.properties) return { text: `${valueType(rest).text}{}`, nullable: false };
    throw new Error(`inline object ${JSON.stringify(node)}`);
  }
  const text = scalar(node);
  if (text) return { text, nullable: false };
  const known = ["description", "title"];
  if (Object.keys(node).every((key) => known.includes(key) || key.startsWith("x-"))) {
    return { text: "any", nullable: false };
  }
  throw new Error(`value ${JSON.stringify(node)}`);
}

function forgiveness(node) {
  let marks = "";
  if (node["x-deserialize-default-on-error"]) marks += " ~error";
  if (node["x-deserialize-skip-invalid-items"]) marks += " ~items";
  if (node["x-deserialize-default-on-null"]) marks += " ~null";
  return marks;
}

// Objects default to themselves made of their members' defaults, which the members' own facts
// already state; only the presence of such a default is a fact of its own.
function defaultOf(node) {
  if (!("default" in node)) return "";
  const value = node.default;
  if (value !== null && typeof value === "object") return Array.isArray(value) ? " = []" : " = {}";
  return ` = ${JSON.stringify(value)}`;
}

function* fields(path, node, skip = []) {
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    if (skip.includes(name)) continue;
    if (name === "_meta") {
      yield `${path} has _meta`;
      continue;
    }
    const { text, nullable } = valueType(field);
    const star = node.required?.includes(name) ? "*" : "";
    yield `${path}.${name}${star} ${text}${nullable ? "?" : ""}${defaultOf(field)}${forgiveness(field)}`;
  }
}

const isConst = (node) => node && "const" in node;

function tagOf(branches) {
  for (const branch of branches) {
    for (const [name, field] of Object.entries(branch.properties ?? {})) {
      if (isConst(field)) return name;
    }
  }
  return undefined;
}

function* branchBody(path, branch, tag) {
  const ref = branch.allOf?.length === 1 ? refName(branch.allOf[0]) : refName(branch);
  if (ref) yield `${path} ${ref}`;
  else if (branch.type && branch.type !== "object") yield `${path} ${valueType(branch).text}`;
  else if (!branch.type) yield `${path} any`;
  else yield `${path}`;
  yield* fields(path, branch, [tag]);
  const scope = branch.oneOf ?? branch.anyOf;
  if (scope) yield* choice(path, scope);
}

function* choice(path, branches) {
  for (const branch of branches) yield* branchBody(`${path}|${branch.title}`, branch, undefined);
}

function* union(name, node, branches) {
  const tag = tagOf(branches);
  if (!tag) {
    yield `${name} choice`;
    yield* choice(name, branches);
    return;
  }
  const optional = node.properties?.[tag];
  yield `${name} by ${tag}${optional ? "?" + forgiveness(optional) : ""}`;
  for (const branch of branches) {
    const field = branch.properties?.[tag];
    if (isConst(field)) yield* branchBody(`${name}/${field.const}`, branch, tag);
    else if (branch.title === "other") yield* branchBody(`${name}/*`, branch, tag);
    else if (branch.title === "none" && optional) continue;
    else yield* branchBody(`${name}/-${branch.title}`, branch, tag);
  }
}

function* envelope(name, node) {
  const [, side, kind] = name.match(ENVELOPE);
  const holder = kind === "Response" ? node.anyOf[0].properties.result : node.properties.params;
  const list = kind === "Response" ? holder.anyOf : holder.anyOf[0].anyOf;
  for (const entry of list) {
    const type = refName(entry.allOf[0]);
    if (!type.startsWith("Ext")) yield `${side} sends ${kind} ${type}`;
  }
}

function* definition(name, node) {
  const branches = node.oneOf ?? node.anyOf;
  if (ENVELOPE.test(name)) {
    yield* envelope(name, node);
    return;
  }
  if (node["x-method"]) yield `${name} belongs to ${node["x-side"]} ${node["x-method"]}`;
  if (branches && branches.every((b) => b.type === "string") && branches.some(isConst)) {
    const open = branches.some((b) => !isConst(b));
    yield `${name} enum ${open ? "open" : "closed"}`;
    for (const branch of branches.filter(isConst)) yield `${name} = ${branch.const}`;
  } else if (branches && branches.every((b) => b.type === "integer") && branches.some(isConst)) {
    yield `${name} code i32`;
    for (const branch of branches.filter(isConst)) yield `${name} = ${branch.const} ${branch.title}`;
  } else if (branches) {
    const tag = tagOf(branches);
    yield* fields(name, node, [tag]);
    yield* union(name, node, branches);
  } else if (node.properties || (node.type === "object" && node.additionalProperties === undefined)) {
    yield `${name} object`;
    yield* fields(name, node);
  } else {
    yield `${name} is ${valueType(node).text}`;
  }
}

/** All facts of one schema, sorted. */
export function schemaFacts(schema) {
  const facts = [];
  for (const [name, node] of Object.entries(schema.$defs)) facts.push(...definition(name, node));
  return facts.sort();
}
