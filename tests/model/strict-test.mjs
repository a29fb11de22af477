// The rules of the strict model: a good request of each API is taken, and each of these changes to
// it is refused.

import assert from "node:assert/strict";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "../interop/cases.mjs";
import { deviations, signer } from "./strict.mjs";

const SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

/** The model, a good request with a sealed thought and an answered call, and what is wrong with others. */
const CASES = {
  anthropic: {
    model: "claude-opus-5",
    body: () => ({
      model: "claude-opus-5",
      max_tokens: 1000,
      stream: true,
      thinking: { type: "adaptive", display: "summarized" },
      system: [{ type: "text", text: "Be brief." }],
      tools: [{ name: "read", description: "Reads.", input_schema: SCHEMA }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Hi" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "" },
            { type: "tool_use", id: "c1", name: "read", input: { path: "a" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "A" }] },
      ],
    }),
    sealed: (body) => [body.messages[1].content[0], "signature", 1],
    wrong: {
      "an unknown field": (b) => (b.knob = 1),
      "no limit": (b) => delete b.max_tokens,
      "too high a limit": (b) => (b.max_tokens = 128001),
      "a budget": (b) => (b.thinking = { type: "enabled", budget_tokens: 1024 }),
      "a temperature with thoughts": (b) => (b.temperature = 1),
      "an unknown effort": (b) => (b.output_config = { effort: "much" }),
      "an anyOf at the root": (b) => (b.tools[0].input_schema = { ...SCHEMA, anyOf: [] }),
      "two tools of one name": (b) => b.tools.push(b.tools[0]),
      "a wrong name": (b) => (b.messages[1].content[1].name = "a b"),
      "no result": (b) => (b.messages[2].content = [{ type: "text", text: "x" }]),
      "a result of nothing": (b) => (b.messages[2].content[0].tool_use_id = "c2"),
      "a text before the result": (b) => b.messages[2].content.unshift({ type: "text", text: "x" }),
      "two messages of the user": (b) => b.messages.splice(1, 0, b.messages[0]),
      "an empty text": (b) => (b.messages[0].content[0].text = ""),
      "an empty message": (b) => (b.messages[0].content = []),
      "a prefill": (b) => b.messages.push({ role: "assistant", content: [{ type: "text", text: "x" }] }),
      "arguments as a text": (b) => (b.messages[1].content[1].input = "{}"),
      "five marks": (b) => {
        const text = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
        b.messages[0].content.push(text, text, text, text, text);
      },
      "another system text": (b) => (b.system[0].text = "Be long."),
      "another tool": (b) => b.tools.push({ ...b.tools[0], name: "write" }),
      "another prompt": (b) => (b.messages[0].content[0].text = "Ho"),
      "another signature": (b) => (b.messages[1].content[0].signature = "x"),
    },
  },
  "openai-chat": {
    model: "deepseek-v4-pro",
    body: () => ({
      model: "deepseek-v4-pro",
      stream: true,
      tools: [{ type: "function", function: { name: "read", parameters: SCHEMA } }],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
          reasoning_content: "hm",
        },
        { role: "tool", tool_call_id: "c1", content: "A" },
      ],
    }),
    wrong: {
      "an unknown field": (b) => (b.knob = 1),
      "no thoughts with a call": (b) => delete b.messages[2].reasoning_content,
      "a key of OpenAI's": (b) => (b.prompt_cache_key = "x"),
      "an unknown effort": (b) => (b.reasoning_effort = "much"),
      "a oneOf at the root": (b) => (b.tools[0].function.parameters = { ...SCHEMA, oneOf: [] }),
      "no properties": (b) => (b.tools[0].function.parameters = { type: "object" }),
      "no result": (b) => b.messages.pop(),
      "a result of nothing": (b) => (b.messages[3].tool_call_id = "c2"),
      "broken arguments": (b) => (b.messages[2].tool_calls[0].function.arguments = "{"),
      "a long id": (b) => {
        b.messages[2].tool_calls[0].id = b.messages[3].tool_call_id = "x".repeat(41);
      },
      "two messages of the user": (b) => b.messages.splice(1, 0, b.messages[1]),
      "an answer without words": (b) => b.messages.splice(2, 2, { role: "assistant", content: "" }),
    },
  },
  "openai-responses": {
    model: "gpt-5.6",
    body: () => ({
      model: "gpt-5.6",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "max", summary: "auto" },
      tools: [{ type: "function", name: "read", parameters: SCHEMA, strict: false }],
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "" },
        { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "A" },
      ],
    }),
    sealed: (body) => [body.input[1], "encrypted_content", 1],
    wrong: {
      "an unknown field": (b) => (b.knob = 1),
      "something stored": (b) => (b.store = true),
      "thoughts that are not asked for": (b) => delete b.include,
      "an unknown effort": (b) => (b.reasoning.effort = "much"),
      "a temperature": (b) => (b.temperature = 1),
      "a phase of nothing": (b) => (b.input[0].phase = "commentary"),
      "a thought alone": (b) => b.input.splice(2, 2),
      "no result": (b) => b.input.pop(),
      "a result of nothing": (b) => (b.input[3].call_id = "c2"),
      "an allOf at the root": (b) => (b.tools[0].parameters = { ...SCHEMA, allOf: [] }),
      "a long key": (b) => (b.prompt_cache_key = "x".repeat(65)),
      "another seal": (b) => (b.input[1].encrypted_content = "x"),
    },
  },
  gemini: {
    model: "gemini-3.5-flash",
    body: () => ({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "low" } },
      tools: [{ functionDeclarations: [{ name: "read", parametersJsonSchema: SCHEMA }] }],
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature: "" }] },
        { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "A" } } }] },
      ],
    }),
    sealed: (body) => [body.contents[1].parts[0], "thoughtSignature", 1],
    wrong: {
      "an unknown field": (b) => (b.knob = 1),
      "no signature": (b) => delete b.contents[1].parts[0].thoughtSignature,
      "another signature": (b) => (b.contents[1].parts[0].thoughtSignature = "x"),
      "a level and a budget": (b) => (b.generationConfig.thinkingConfig.thinkingBudget = 1),
      "an unknown level": (b) => (b.generationConfig.thinkingConfig.thinkingLevel = "max"),
      "a keyword": (b) => {
        const [one] = b.tools[0].functionDeclarations;
        one.parametersJsonSchema = { ...SCHEMA, properties: { path: { type: "string", pattern: "x" } } };
      },
      "something beside a reference": (b) => {
        const [one] = b.tools[0].functionDeclarations;
        one.parametersJsonSchema = { ...SCHEMA, properties: { path: { $ref: "#/$defs/x", title: "t" } } };
      },
      "no result": (b) => (b.contents[2].parts = [{ text: "x" }]),
      "two messages of the user": (b) => b.contents.splice(0, 0, b.contents[0]),
      "arguments as a text": (b) => (b.contents[1].parts[0].functionCall.args = "{}"),
    },
  },
};

/** The request with the seal that the service would have made. */
function good({ model, body, sealed }, api) {
  const request = body();
  if (!sealed) return request;
  const [where, key, before] = sealed(request);
  const form = body();
  const list = form.messages ?? form.input ?? form.contents;
  list.splice(before);
  where[key] = signer(api, model, form).seal();
  return request;
}

begin();
for (const [api, one] of Object.entries(CASES)) {
  await kase(`${api}: a good request`, async () => {
    assert.deepEqual(deviations(api, one.model, good(one, api)), []);
  });
  if (one.sealed)
    await kase(`${api}: a seal of another model`, async () => {
      const other = deviations(api, `${one.model}-x`, good(one, api));
      assert.notDeepEqual(other, []);
    });
  for (const [what, change] of Object.entries(one.wrong))
    await kase(`${api}: ${what}`, async () => {
      const request = good(one, api);
      change(request);
      assert.notDeepEqual(deviations(api, one.model, request), []);
    });
}
end();
