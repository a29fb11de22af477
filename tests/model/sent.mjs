// What an agent sent to the model, in one form for all four APIs, and whether the services would
// have taken it.

import assert from "node:assert/strict";

const list = (content) =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

/** Pictures and sounds count as words that name their type. */
const wordsOf = ({ text, source, image_url: image, input_audio: audio, inlineData: data }) => {
  const url = image?.url ?? image;
  const type = source?.media_type ?? url?.match(/^data:([^;]*)/)?.[1] ?? audio?.format ?? data?.mimeType;
  return text ?? (type && `[${type}]`);
};

const textOf = (content) =>
  list(content)
    .map((part) => wordsOf(part) ?? "")
    .join("\n");

const READERS = {
  anthropic({ system, messages, tools = [] }) {
    const entryOf = (role, block) => {
      if (block.type === "tool_use") return { kind: "call", id: block.id, name: block.name, input: block.input };
      if (block.type === "tool_result")
        return { kind: "result", id: block.tool_use_id, text: textOf(block.content), failed: block.is_error };
      return { kind: block.type === "thinking" ? "thought" : role, text: block.thinking ?? wordsOf(block) };
    };
    return {
      system: textOf(system),
      tools: tools.map(({ name }) => name),
      said: messages.flatMap(({ role, content }) => list(content).map((block) => entryOf(role, block))),
    };
  },

  "openai-chat"({ messages, tools = [] }) {
    const entriesOf = ({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
      if (role === "tool") return [{ kind: "result", id, text: textOf(content) }];
      const text = textOf(content);
      const words = text === "" && calls.length > 0 ? [] : [{ kind: role, text }];
      return words.concat(
        calls.map((call) => ({
          kind: "call",
          id: call.id,
          name: call.function.name,
          input: JSON.parse(call.function.arguments),
        })),
      );
    };
    const isSystem = ({ role }) => role === "system" || role === "developer";
    return {
      system: messages.filter(isSystem).map(({ content }) => textOf(content)).join("\n"),
      tools: tools.map((tool) => tool.function.name),
      said: messages.filter((message) => !isSystem(message)).flatMap(entriesOf),
    };
  },

  "openai-responses"({ instructions, input, tools = [] }) {
    const entryOf = (item) => {
      if (item.type === "function_call")
        return { kind: "call", id: item.call_id, name: item.name, input: JSON.parse(item.arguments) };
      if (item.type === "function_call_output")
        return { kind: "result", id: item.call_id, text: textOf(item.output) };
      if (item.type === "reasoning") return { kind: "thought", text: textOf(item.summary) };
      return { kind: item.role, text: textOf(item.content) };
    };
    return { system: instructions, tools: tools.map(({ name }) => name), said: input.map(entryOf) };
  },

  gemini({ systemInstruction, contents, tools = [] }) {
    const entryOf = (role, part) => {
      const { thought, functionCall: call, functionResponse: answer } = part;
      if (call) return { kind: "call", id: call.id ?? call.name, name: call.name, input: call.args };
      if (answer)
        return {
          kind: "result",
          id: answer.id ?? answer.name,
          text: Object.values(answer.response).join("\n"),
          failed: "error" in answer.response,
        };
      return { kind: thought ? "thought" : role === "model" ? "assistant" : "user", text: wordsOf(part) };
    };
    return {
      system: textOf(systemInstruction?.parts),
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations).map(({ name }) => name),
      said: contents.flatMap(({ role, parts }) => parts.map((part) => entryOf(role, part))),
    };
  },
};

/**
 * The request of a ModelServer as {system, tools, said}: the names of the tools, and the conversation
 * as a list of {kind, text, id, name, input, failed}, kind being user, assistant, thought, call, result.
 */
export function sentIn(request) {
  return READERS[request.api](request.body);
}

/** Fails unless the user begins, nothing is empty, and results follow their calls and nothing else. */
export function checkSent({ said }) {
  const open = [];
  assert.equal(said[0]?.kind, "user", "the user begins");
  for (const [index, entry] of said.entries()) {
    const shown = JSON.stringify(entry);
    if (entry.kind === "call") {
      assert.equal(typeof entry.input, "object", `arguments are an object: ${shown}`);
      open.push(entry.id);
    } else if (entry.kind === "result") {
      const at = open.indexOf(entry.id);
      assert.notEqual(at, -1, `a result without a call before it: ${shown}`);
      assert.notEqual(entry.text, "", `an empty result: ${shown}`);
      open.splice(at, 1);
    } else {
      assert.deepEqual(open, [], `calls without results before ${shown}`);
      const next = said[index + 1]?.kind;
      if (entry.kind !== "thought") assert.ok(entry.text, `empty words: ${shown}`);
      else assert.match(`${next}`, /assistant|call|thought/, `nothing follows ${shown}`);
    }
  }
  assert.deepEqual(open, [], "calls without results in the end");
  assert.notEqual(said.at(-1).kind, "assistant", "the model has the word");
}
