// Anthropic's Messages API, strictly.

import { NAME, checkNames, checkRoot, isObject, maxOutput, onlyKeys } from "./strict-rules.mjs";

const ROOT = ["model", "max_tokens", "messages", "stream", "system", "tools", "thinking", "output_config",
  "temperature", "tool_choice", "metadata", "stop_sequences"];
const BLOCKS = {
  text: { text: "string" },
  image: { source: "object" },
  tool_result: { tool_use_id: "string", content: "any", is_error: "any" },
  tool_use: { id: "string", name: "string", input: "object" },
  thinking: { thinking: "string", signature: "string" },
  redacted_thinking: { data: "string" },
};
const OF_ROLE = {
  user: ["text", "image", "tool_result"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"],
};

/** All since 4.6. */
const adaptive = (model) => !/claude-[23]|claude-\w+-4(-[0-5]|-20\d+)?($|-)/.test(model) || /-4-[6-9]/.test(model);

function checkThinking({ thinking, output_config: output, max_tokens: max, temperature }, model, expect) {
  const efforts = /4-6/.test(model) ? ["low", "medium", "high", "max"] : ["low", "medium", "high", "xhigh", "max"];
  if (output !== undefined) expect(efforts.includes(output.effort), "output_config.effort: Input should be one of them");
  if (thinking === undefined) return;
  const type = thinking.type;
  expect(["enabled", "disabled", "adaptive"].includes(type), "thinking.type: Input tag does not match");
  if (type === "adaptive") expect(adaptive(model), "thinking.type: adaptive is not supported for this model");
  if (type === "disabled") expect(!/fable|mythos|-5-5/.test(model), "thinking.type.disabled is not supported for this model");
  if (type === "enabled") {
    expect(!adaptive(model) || /4-6/.test(model), '"thinking.type.enabled" is not supported for this model.');
    expect(thinking.budget_tokens >= 1024, "thinking.enabled.budget_tokens: Input should be greater than 1024");
    expect(thinking.budget_tokens < max, "`max_tokens` must be greater than `thinking.budget_tokens`");
  } else expect(!("budget_tokens" in thinking), "thinking.budget_tokens: Extra inputs are not permitted");
  if (type !== "disabled") expect(temperature === undefined, "`temperature` may not be set when thinking is enabled");
}

function checkBlock(block, role, where, expect) {
  expect(OF_ROLE[role].includes(block.type), `${where}: Input tag '${block.type}' is not for ${role}`);
  const fields = BLOCKS[block.type] ?? {};
  onlyKeys(block, ["type", "cache_control", ...Object.keys(fields)], where, expect);
  for (const [key, type] of Object.entries(fields)) {
    const value = block[key];
    if (type === "string") expect(typeof value === "string", `${where}.${key}: Input should be a valid string`);
    if (type === "object") expect(isObject(value), `${where}.${key}: Input should be a valid dictionary`);
  }
  if (block.type === "text") expect(block.text !== "", `${where}.text: text content blocks must be non-empty`);
  if (block.type === "tool_use") {
    expect(NAME.test(block.name), `${where}.name: String should match pattern`);
    expect(/^[a-zA-Z0-9_-]+$/.test(block.id), `${where}.id: String should match pattern`);
  }
  if (block.cache_control) expect(!/thinking/.test(block.type), `${where}.cache_control: Extra inputs are not permitted`);
}

function checkMessages(messages, expect) {
  let open = [];
  messages.forEach(({ role, content, ...others }, i) => {
    const where = `messages.${i}`;
    expect(Object.keys(others).length === 0, `${where}: Extra inputs are not permitted`);
    expect(role === (i % 2 === 0 ? "user" : "assistant"), `${where}: roles must alternate between "user" and "assistant"`);
    expect(Array.isArray(content) && content.length > 0, `${where}: all messages must have non-empty content`);
    content.forEach((block, k) => checkBlock(block, role, `${where}.content.${k}`, expect));
    const results = content.filter(({ type }) => type === "tool_result").map(({ tool_use_id: id }) => id);
    if (role === "user") {
      const first = content.slice(0, results.length).every(({ type }) => type === "tool_result");
      expect(first, `${where}: tool_result blocks must come first`);
      expect(
        JSON.stringify([...results].sort()) === JSON.stringify([...open].sort()),
        `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}`,
      );
      open = [];
    } else open = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  });
  expect(messages.at(-1)?.role === "user", "This model does not support assistant message prefill.");
}

export function check(body, model, expect) {
  onlyKeys(body, ROOT, "body", expect);
  expect(Number.isInteger(body.max_tokens) && body.max_tokens > 0, "max_tokens: Field required");
  expect(
    body.max_tokens <= maxOutput(model),
    `max_tokens: ${body.max_tokens} > ${maxOutput(model)}, which is the maximum allowed number of output tokens for ${model}`,
  );
  checkThinking(body, model, expect);
  const { tools = [], system = [] } = body;
  tools.forEach((tool, i) => {
    onlyKeys(tool, ["name", "description", "input_schema", "cache_control"], `tools.${i}`, expect);
    checkRoot(tool.input_schema, `tools.${i}.custom.input_schema`, expect);
  });
  checkNames(tools.map(({ name }) => name), expect);
  checkMessages(body.messages, expect);
  const marks = JSON.stringify([tools, system, body.messages]).split('"cache_control":').length - 1;
  expect(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

const unmarked = ({ cache_control: _, ...block }) => block;

export function flat({ system, tools, messages }) {
  const items = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...unmarked(block) })));
  return { head: [(system ?? []).map(unmarked), (tools ?? []).map(unmarked)], items };
}

/** Newer models refuse thoughts when something before them has changed. */
export const bound = "prefix";
export const sealOf = ({ type, signature }) => (type === "thinking" ? signature : undefined);

export const refusal = (index) =>
  `messages.content.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message ` +
  "cannot be modified. These blocks must remain as they were in the original response.";
