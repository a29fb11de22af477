// OpenAI's chat completions API, strictly; and what DeepSeek insists on.

import { NAME, checkNames, checkRoot, isObject, maxOutput, onlyKeys } from "./strict-rules.mjs";

const ROOT = ["model", "messages", "stream", "stream_options", "tools", "tool_choice", "temperature", "max_tokens",
  "max_completion_tokens", "reasoning_effort", "prompt_cache_key", "thinking"];
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const FIELDS = {
  system: ["content"],
  user: ["content"],
  assistant: ["content", "tool_calls", "reasoning_content", "reasoning", "reasoning_details"],
  tool: ["content", "tool_call_id"],
};

function checkCall(call, where, expect) {
  onlyKeys(call, ["id", "type", "function"], where, expect);
  expect(call.type === "function", `${where}.type: must be function`);
  expect(typeof call.id === "string" && call.id.length > 0 && call.id.length <= 40, `${where}.id: string too long`);
  expect(NAME.test(call.function.name), `${where}.function.name: does not match the expected pattern`);
  let input;
  try {
    input = JSON.parse(call.function.arguments);
  } catch {
    // is told below
  }
  expect(isObject(input), `${where}.function.arguments: not a JSON object`);
}

function checkAssistant(message, model, where, expect) {
  const calls = message.tool_calls ?? [];
  expect(message.tool_calls === undefined || calls.length > 0, `${where}.tool_calls: [] is too short`);
  calls.forEach((call, i) => checkCall(call, `${where}.tool_calls[${i}]`, expect));
  expect(calls.length > 0 || (message.content ?? "") !== "", `${where}: content or tool_calls must be set`);
  if (/deepseek/.test(model) && calls.length > 0)
    expect(typeof message.reasoning_content === "string", "The reasoning_content in the thinking mode must be passed back to the API.");
}

function checkMessages(messages, model, expect) {
  let open = [];
  let before = "system";
  messages.forEach((message, i) => {
    const { role } = message;
    const where = `messages[${i}]`;
    expect(role in FIELDS, `${where}.role: unknown`);
    onlyKeys(message, ["role", ...(FIELDS[role] ?? [])], where, expect);
    if (role === "system") expect(i === 0, `${where}: a system message must be the first`);
    if (role === "user") expect(before !== "user", `${where}: roles must alternate`);
    if (role === "tool") {
      expect(open.includes(message.tool_call_id), `${where}: messages with role 'tool' must be a response to 'tool_calls'`);
      open = open.filter((id) => id !== message.tool_call_id);
    } else expect(open.length === 0, `An assistant message with 'tool_calls' must be followed by tool messages: ${open}`);
    if (role === "assistant") {
      checkAssistant(message, model, where, expect);
      expect(before === "user" || before === "tool", `${where}: roles must alternate`);
      open = (message.tool_calls ?? []).map(({ id }) => id);
    } else expect(message.content !== "" && message.content !== undefined, `${where}.content: empty`);
    before = role;
  });
  expect(open.length === 0 && before !== "assistant", "the model has the word");
}

export function check(body, model, expect) {
  onlyKeys(body, ROOT, "body", expect);
  const openai = /^(gpt-|o\d)/.test(model);
  if (body.prompt_cache_key !== undefined)
    expect(openai && body.prompt_cache_key.length <= 64, "prompt_cache_key: Extra inputs are not permitted");
  if (body.reasoning_effort !== undefined)
    expect(EFFORTS.includes(body.reasoning_effort), "reasoning_effort: unsupported value");
  if (/^(gpt-[5-9]|o\d)/.test(model)) {
    expect(body.max_tokens === undefined, "Unsupported parameter: 'max_tokens' is not supported with this model.");
    expect(body.temperature === undefined, "Unsupported value: 'temperature' does not support this");
  }
  expect((body.max_completion_tokens ?? 0) <= maxOutput(model), "max_completion_tokens is too large");
  (body.tools ?? []).forEach(({ type, function: made, ...others }, i) => {
    expect(type === "function" && Object.keys(others).length === 0, `tools[${i}]: unknown`);
    onlyKeys(made, ["name", "description", "parameters", "strict"], `tools[${i}].function`, expect);
    checkRoot(made.parameters, `tools[${i}].function.parameters`, expect);
  });
  checkNames((body.tools ?? []).map((tool) => tool.function.name), expect);
  checkMessages(body.messages, model, expect);
}

/** Nothing is signed here. */
export const flat = () => ({ head: [], items: [] });
export const bound = "model";
export const sealOf = () => undefined;
export const refusal = () => "";
