// OpenAI's responses API, strictly, for a client that has nothing stored.

import { NAME, checkNames, checkRoot, isObject, maxOutput, onlyKeys } from "./strict-rules.mjs";

const ROOT = ["model", "input", "instructions", "stream", "store", "include", "reasoning", "tools", "tool_choice",
  "max_output_tokens", "temperature", "prompt_cache_key"];
const ITEMS = {
  message: ["role", "content", "phase"],
  function_call: ["call_id", "name", "arguments"],
  function_call_output: ["call_id", "output"],
  reasoning: ["id", "summary", "encrypted_content"],
};
const CONTENT = { user: ["input_text", "input_image"], assistant: ["output_text"] };
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function checkMessage({ role, content, phase }, where, expect) {
  expect(role in CONTENT, `${where}.role: unknown`);
  expect(Array.isArray(content) && content.length > 0, `${where}.content: empty`);
  for (const part of content) {
    expect(CONTENT[role].includes(part.type), `${where}.content: Invalid value: '${part.type}'`);
    if ("text" in part) expect(part.text !== "", `${where}.content: empty text`);
  }
  if (phase !== undefined)
    expect(role === "assistant" && ["commentary", "final_answer"].includes(phase), `${where}.phase: Invalid value`);
}

function checkCall({ call_id: id, name, arguments: text }, where, expect) {
  let input;
  try {
    input = JSON.parse(text);
  } catch {
    // is told below
  }
  expect(isObject(input), `${where}.arguments: not a JSON object`);
  expect(NAME.test(name), `${where}.name: does not match the expected pattern`);
  expect(/^[a-zA-Z0-9_-]{1,64}$/.test(id), `${where}.call_id: string too long`);
}

function checkInput(input, expect) {
  const open = new Set();
  input.forEach((item, i) => {
    const where = `input[${i}]`;
    expect(item.type in ITEMS, `${where}.type: Invalid value`);
    onlyKeys(item, ["type", ...(ITEMS[item.type] ?? [])], where, expect);
    if (item.type === "message") {
      checkMessage(item, where, expect);
      if (item.role === "user") expect(open.size === 0, `No tool output found for function call ${[...open]}.`);
    } else if (item.type === "function_call") {
      checkCall(item, where, expect);
      open.add(item.call_id);
    } else if (item.type === "function_call_output")
      expect(open.delete(item.call_id), `No tool call found for function call output with call_id ${item.call_id}.`);
    else {
      expect(typeof item.encrypted_content === "string", `Item '${item.id}' not found: items are not persisted when store is false.`);
      expect(Array.isArray(item.summary) && typeof item.id === "string", `${where}.summary: required`);
      const next = input[i + 1];
      const followed = next?.type === "function_call" || next?.type === "reasoning" || next?.role === "assistant";
      expect(followed, `Item '${item.id}' of type 'reasoning' was provided without its required following item.`);
    }
  });
  expect(open.size === 0, `No tool output found for function call ${[...open]}.`);
  expect(input.at(-1)?.role !== "assistant", "the model has the word");
}

export function check(body, model, expect) {
  onlyKeys(body, ROOT, "body", expect);
  const thinks = /^(gpt-[5-9]|o\d)/.test(model);
  expect(body.store === false, "store: this client keeps the conversation itself");
  if (thinks) {
    expect(body.include?.includes("reasoning.encrypted_content"), "include: reasoning would be lost");
    expect(body.temperature === undefined, "Unsupported parameter: 'temperature'");
  } else expect(body.reasoning === undefined, "Unsupported parameter: 'reasoning.effort'");
  if (body.reasoning) {
    onlyKeys(body.reasoning, ["effort", "summary"], "reasoning", expect);
    expect(body.reasoning.effort === undefined || EFFORTS.includes(body.reasoning.effort), "reasoning.effort: unsupported");
  }
  expect((body.max_output_tokens ?? 16) >= 16 && (body.max_output_tokens ?? 16) <= maxOutput(model), "max_output_tokens");
  expect((body.prompt_cache_key ?? "").length <= 64, "prompt_cache_key: string too long");
  (body.tools ?? []).forEach((tool, i) => {
    onlyKeys(tool, ["type", "name", "description", "parameters", "strict"], `tools[${i}]`, expect);
    expect(tool.strict === false, `tools[${i}].strict: these schemas are not strict`);
    checkRoot(tool.parameters, `tools[${i}].parameters`, expect);
  });
  checkNames((body.tools ?? []).map(({ name }) => name), expect);
  checkInput(body.input, expect);
}

export const flat = ({ instructions, tools, input }) => ({ head: [instructions, tools], items: [...input] });

export const bound = "model";
export const sealOf = ({ type, encrypted_content: sealed }) => (type === "reasoning" ? sealed : undefined);

export const refusal = (index) => `The encrypted content of input[${index}] could not be verified.`;
