// Google's Gemini API, strictly.

import { checkNames, checkRoot, isObject, maxOutput, onlyKeys } from "./strict-rules.mjs";

const ROOT = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"];
const CONFIG = ["maxOutputTokens", "temperature", "thinkingConfig"];
const PARTS = ["text", "inlineData", "functionCall", "functionResponse"];
const KEYWORDS = ["$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
  "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
  "additionalProperties", "required", "propertyOrdering"];

function checkSchema(schema, where, expect) {
  if (!isObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    expect(KEYWORDS.includes(key), `Invalid JSON payload received. Unknown name "${key}" at '${where}'`);
    if (key === "properties" || key === "$defs")
      for (const [name, inner] of Object.entries(value)) checkSchema(inner, `${where}.${name}`, expect);
    else if (Array.isArray(value)) value.forEach((inner) => checkSchema(inner, `${where}.${key}`, expect));
    else checkSchema(value, `${where}.${key}`, expect);
  }
  if ("$ref" in schema)
    expect(Object.keys(schema).every((key) => key.startsWith("$")), `${where}: nothing may stand beside $ref`);
}

function checkConfig(config, model, expect) {
  onlyKeys(config, CONFIG, "generationConfig", expect);
  expect((config.maxOutputTokens ?? 1) <= maxOutput(model), "maxOutputTokens is out of range");
  const thinking = config.thinkingConfig ?? {};
  onlyKeys(thinking, ["includeThoughts", "thinkingBudget", "thinkingLevel"], "thinkingConfig", expect);
  expect(!("thinkingBudget" in thinking && "thinkingLevel" in thinking), "only one of thinking budget and level may be set");
  if ("thinkingLevel" in thinking) {
    expect(/gemini-[3-9]/.test(model), "Thinking level is not supported for this model.");
    expect(["minimal", "low", "medium", "high"].includes(thinking.thinkingLevel), "Invalid value at thinking_level");
  }
  if ("thinkingBudget" in thinking) expect(/gemini-2\.5/.test(model), "Thinking budget is not supported for this model.");
}

function checkContents(contents, model, expect) {
  let open = [];
  contents.forEach(({ role, parts, ...others }, i) => {
    const where = `contents[${i}]`;
    expect(Object.keys(others).length === 0, `${where}: unknown names`);
    expect(role === (i % 2 === 0 ? "user" : "model"), `${where}: please ensure that roles alternate`);
    expect(parts?.length > 0, `${where}.parts: contents is not specified`);
    const calls = parts.filter((part) => part.functionCall);
    const answers = parts.filter((part) => part.functionResponse);
    for (const part of parts) {
      const kinds = PARTS.filter((kind) => kind in part);
      expect(kinds.length === 1, `${where}.parts: exactly one of ${PARTS} must be set`);
      onlyKeys(part, [...PARTS, "thoughtSignature"], `${where}.parts`, expect);
      if ("functionCall" in part) expect(isObject(part.functionCall.args), `${where}: args must be an object`);
    }
    const names = answers.map((part) => part.functionResponse.name);
    expect(
      JSON.stringify(names) === JSON.stringify(open),
      `${where}: the number of function response parts must equal the number of function call parts: ${open}`,
    );
    open = calls.map((part) => part.functionCall.name);
    if (/gemini-[3-9]/.test(model) && calls.length > 0)
      expect(calls[0].thoughtSignature, "Function call is missing a thought_signature in functionCall parts.");
  });
  expect(open.length === 0 && contents.at(-1)?.role === "user", "the model has the word");
}

export function check(body, model, expect) {
  onlyKeys(body, ROOT, "body", expect);
  checkConfig(body.generationConfig ?? {}, model, expect);
  const made = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  made.forEach((one, i) => {
    const where = `tools[0].function_declarations[${i}]`;
    onlyKeys(one, ["name", "description", "parametersJsonSchema"], where, expect);
    checkRoot(one.parametersJsonSchema, `${where}.parameters_json_schema`, expect);
    checkSchema(one.parametersJsonSchema, `${where}.parameters_json_schema`, expect);
  });
  checkNames(made.map(({ name }) => name), expect);
  checkContents(body.contents, model, expect);
}

const SKIPS = "skip_thought_signature_validator";

export function flat({ systemInstruction, tools, contents }) {
  const items = contents.flatMap(({ role, parts }) => parts.map((part) => ({ role, ...part })));
  return { head: [systemInstruction, tools], items };
}

export const bound = "model";
export const sealOf = ({ thoughtSignature }) => (thoughtSignature === SKIPS ? undefined : thoughtSignature);

export const refusal = () => "Corrupted thought signature.";
