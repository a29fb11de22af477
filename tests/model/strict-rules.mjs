// What the rules of the APIs share.

export const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function onlyKeys(object, known, where, expect) {
  for (const key of Object.keys(object)) expect(known.includes(key), `${where}.${key}: Extra inputs are not permitted`);
}

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** What an answer may be at most; unknown models have no limit. */
export function maxOutput(model) {
  const limits = [
    [/claude-(opus|sonnet|fable|mythos)-[5-9]/, 128000],
    [/claude-opus-4-[6-9]/, 128000],
    [/claude-(sonnet|haiku)-(4-[5-9]|[5-9])|claude-opus-4-5|claude-sonnet-4/, 64000],
    [/claude-opus-4/, 32000],
    [/claude-3-5/, 8192],
    [/gpt-5/, 128000],
    [/gemini-(2\.5|3)/, 65536],
  ];
  return limits.find(([pattern]) => pattern.test(model))?.[1] ?? Infinity;
}

/** The root of a tool's schema, which no service takes in another form. */
export function checkRoot(schema, where, expect) {
  expect(isObject(schema), `${where}: Field required`);
  if (!isObject(schema)) return;
  expect(schema.type === "object", `${where}.type: Input should be 'object'`);
  for (const key of ["anyOf", "oneOf", "allOf", "not", "enum"])
    expect(!(key in schema), `${where}: input_schema does not support ${key} at the top level`);
  expect(isObject(schema.properties), `${where}: object schema missing properties`);
  for (const name of schema.required ?? [])
    expect(name in (schema.properties ?? {}), `${where}.required: property is not defined: ${name}`);
}

export function checkNames(names, expect) {
  for (const [index, name] of names.entries()) {
    expect(NAME.test(name), `tools.${index}.name: String should match pattern`);
    expect(names.indexOf(name) === index, `tools: Tool names must be unique: ${name}`);
  }
}
