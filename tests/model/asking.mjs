// Asking the scripted model: what each API wants to be asked, and what its answers mean.

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";

/** How to ask by each API, and how to read the answer: text, calls, stop, whether it is over. */
export const APIS = {
  anthropic: {
    path: () => "/v1/messages",
    body: ({ stream, result }) => ({
      model: "m",
      stream,
      max_tokens: 9,
      tools: [{ name: "write", input_schema: {} }],
      messages: [
        { role: "user", content: [{ type: "text", text: "please write" }] },
        ...(result === undefined
          ? []
          : [
              {
                role: "assistant",
                content: [{ type: "tool_use", id: "c1", name: "write", input: {} }],
              },
              {
                role: "user",
                content: [{ type: "tool_result", tool_use_id: "c1", content: result }],
              },
            ]),
      ],
    }),
    ofWhole: (body) => ({
      text: body.content.filter((b) => b.type === "text").map((b) => b.text).join(""),
      calls: body.content
        .filter((b) => b.type === "tool_use")
        .map((b) => [b.name, JSON.stringify(b.input)]),
      stop: body.stop_reason,
    }),
    ofStream: (events) => {
      const said = { text: "", calls: [], stop: undefined, over: false };
      for (const { event, data } of events) {
        assert.equal(event, data.type);
        if (data.content_block?.type === "tool_use") said.calls.push([data.content_block.name, ""]);
        if (data.delta?.type === "text_delta") said.text += data.delta.text;
        if (data.delta?.type === "input_json_delta")
          said.calls.at(-1)[1] += data.delta.partial_json;
        if (data.type === "message_delta") said.stop = data.delta.stop_reason;
        if (data.type === "message_stop") said.over = true;
        if (data.type === "error") said.error = data.error.message;
      }
      return said;
    },
    stops: { end: "end_turn", tool: "tool_use", length: "max_tokens", refusal: "refusal" },
    message: (body) => body.error.message,
  },
  "openai-chat": {
    path: () => "/v1/chat/completions",
    body: ({ stream, result }) => ({
      model: "m",
      stream,
      tools: [{ type: "function", function: { name: "write" } }],
      messages: [
        { role: "user", content: "please write" },
        ...(result === undefined
          ? []
          : [
              { role: "assistant", content: null, tool_calls: [] },
              { role: "tool", tool_call_id: "c1", content: result },
            ]),
      ],
    }),
    ofWhole: ({ choices: [{ message, finish_reason: stop }] }) => ({
      text: message.content,
      calls: (message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]),
      stop,
    }),
    ofStream: (events) => {
      const said = { text: "", calls: [], stop: undefined, over: false };
      for (const { data } of events) {
        if (data === "[DONE]") said.over = true;
        if (data.error) said.error = data.error.message;
        const [choice] = data.choices ?? [];
        if (!choice) continue;
        said.text += choice.delta.content ?? "";
        for (const call of choice.delta.tool_calls ?? []) {
          if (call.id) said.calls[call.index] = [call.function.name, ""];
          said.calls[call.index][1] += call.function.arguments;
        }
        if (choice.finish_reason) said.stop = choice.finish_reason;
      }
      return said;
    },
    stops: { end: "stop", tool: "tool_calls", length: "length", refusal: "content_filter" },
    message: (body) => body.error.message,
  },
  "openai-responses": {
    path: () => "/v1/responses",
    body: ({ stream, result }) => ({
      model: "m",
      stream,
      tools: [{ type: "function", name: "write" }],
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "please write" }] },
        ...(result === undefined
          ? []
          : [
              { type: "function_call", call_id: "c1", name: "write", arguments: "{}" },
              { type: "function_call_output", call_id: "c1", output: result },
            ]),
      ],
    }),
    ofWhole: (body) => ({
      text: body.output
        .filter((item) => item.type === "message")
        .map((item) => item.content[0].text)
        .join(""),
      calls: body.output
        .filter((item) => item.type === "function_call")
        .map((item) => [item.name, item.arguments]),
      stop: body.incomplete_details?.reason ?? body.status,
    }),
    ofStream: (events) => {
      const said = { text: "", calls: [], stop: undefined, over: false };
      events.forEach(({ event, data }, index) => {
        assert.equal(event, data.type);
        assert.equal(data.sequence_number, index);
        if (data.type === "response.output_text.delta") said.text += data.delta;
        if (data.type === "response.output_item.added" && data.item.type === "function_call")
          said.calls.push([data.item.name, data.item.arguments]);
        if (data.type === "response.function_call_arguments.delta")
          said.calls.at(-1)[1] += data.delta;
        if (data.type === "response.failed") said.error = data.response.error.message;
        if (data.type === "response.completed" || data.type === "response.incomplete") {
          said.over = true;
          said.stop = data.response.incomplete_details?.reason ?? data.response.status;
        }
      });
      return said;
    },
    stops: {
      end: "completed",
      tool: "completed",
      length: "max_output_tokens",
      refusal: "content_filter",
    },
    message: (body) => body.error.message,
  },
  gemini: {
    path: (stream) =>
      `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: ({ result }) => ({
      tools: [{ functionDeclarations: [{ name: "write" }] }],
      contents: [
        { role: "user", parts: [{ text: "please write" }] },
        ...(result === undefined
          ? []
          : [
              { role: "model", parts: [{ functionCall: { name: "write", args: {} } }] },
              {
                role: "user",
                parts: [{ functionResponse: { name: "write", response: { output: result } } }],
              },
            ]),
      ],
    }),
    ofWhole: ({ candidates: [{ content, finishReason }] }) => ({
      text: content.parts.map((part) => part.text ?? "").join(""),
      calls: content.parts
        .filter((part) => part.functionCall)
        .map(({ functionCall: call }) => [call.name, JSON.stringify(call.args)]),
      stop: finishReason,
    }),
    ofStream: (events) => {
      const said = { text: "", calls: [], stop: undefined, over: false };
      for (const { data } of events) {
        if (data.error) said.error = data.error.message;
        for (const part of data.candidates?.[0].content.parts ?? []) {
          said.text += part.text ?? "";
          const { functionCall: call } = part;
          if (call) said.calls.push([call.name, JSON.stringify(call.args)]);
        }
        said.stop = data.candidates?.[0].finishReason ?? said.stop;
        said.over = said.stop !== undefined;
      }
      return said;
    },
    stops: { end: "STOP", tool: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" },
    message: (body) => body.error.message,
  },
};

/** Asks; gives status, headers, the parts as they arrived, and whether the end was a clean one. */
export function post(model, path, body, { leaveAfter } = {}) {
  return new Promise((done, reject) => {
    const options = { method: "POST", headers: { "content-type": "application/json" } };
    const request = httpRequest(`${model.url}${path}`, options, (response) => {
      const parts = [];
      const finish = (clean) =>
        done({
          status: response.statusCode,
          headers: response.headers,
          parts,
          text: Buffer.concat(parts).toString(),
          clean,
        });
      response.on("data", (part) => {
        parts.push(part);
        if (leaveAfter && Buffer.concat(parts).includes(leaveAfter)) request.destroy();
      });
      response.on("end", () => finish(true));
      response.on("error", () => finish(false));
    });
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

export function eventsIn(text) {
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((block) => {
      const fields = block.split("\n").map((line) => line.match(/^(\w+): (.*)$/).slice(1));
      const { event, data } = Object.fromEntries(fields);
      return { event, data: data === "[DONE]" ? data : JSON.parse(data) };
    });
}

export function ask(model, api, { stream = true, result } = {}, options) {
  return post(model, api.path(stream), api.body({ stream, result }), options);
}
