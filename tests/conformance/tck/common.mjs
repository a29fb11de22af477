// Requirements that both versions of the protocol share.  Each is {id, tier, says, holds}: the id and
// the tier are those of the public kit (EugeneTheDev/acp-tck), so that its sources can be looked up.
// `last` marks those that look at everything that was said to the cases before them.

import assert from "node:assert/strict";
import { allowedKeys, methodsOf } from "../../interop/wire.mjs";

export const MANDATORY = "MANDATORY";
export const CAPABILITY = "CAPABILITY";
export const ADVISORY = "ADVISORY";
export const INFORMATIONAL = "INFORMATIONAL";

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

export const text = (words) => ({ type: "text", text: words });
export const BLOCKS = {
  image: { type: "image", mimeType: "image/png", data: PIXEL },
  audio: { type: "audio", mimeType: "audio/wav", data: SILENCE },
  text: { type: "resource", resource: { uri: "file:///w/notes.txt", mimeType: "text/plain", text: "plums" } },
  blob: { type: "resource", resource: { uri: "file:///w/a.bin", mimeType: "application/octet-stream", blob: "AAEC/w==" } },
  link: { type: "resource_link", uri: "file:///w/other.txt", name: "other.txt" },
};

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export function assertFilled(value, what) {
  assert.equal(typeof value, "string", what);
  assert.notEqual(value, "", what);
}

/** The values of an enum of the kit's tables, or one of the sender's own. */
export function assertDefined(value, defined, what) {
  assert.ok(defined.includes(value) || String(value).startsWith("_"), `${what}: ${value}`);
}

// ---- Transport ----

export const utf8 = {
  id: "ACP-TRANSPORT-002",
  tier: MANDATORY,
  says: "the standard output is UTF-8",
  last: true,
  async holds(t) {
    for (const { bytes } of t.connections) new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(bytes));
  },
};

/** Every line is one message; in version 2 it might be a batch that is not empty. */
export function lines(id, says) {
  return {
    id,
    tier: MANDATORY,
    says,
    last: true,
    async holds(t) {
      for (const connection of t.connections) {
        const whole = Buffer.concat(connection.bytes).toString("utf8");
        assert.ok(whole === "" || whole.endsWith("\n"), "the output ends in the middle of a line");
        for (const line of connection.lines) {
          const message = JSON.parse(line);
          const all = t.version === 2 && Array.isArray(message) ? message : [message];
          assert.ok(all.length > 0 && all.every((one) => isObject(one) && one.jsonrpc === "2.0"), line);
        }
      }
    },
  };
}

// ---- JSON-RPC ----

export const jsonrpc = [
  {
    id: "ACP-JSONRPC-001",
    tier: MANDATORY,
    says: "a response has the id of its request, be it a number or a string",
    async holds(t) {
      const agent = await t.shared();
      for (const id of [4711, 0, -3, "a string", "\u2713 \"quoted\"", "7"]) {
        const before = agent.messages.length;
        agent.send({ jsonrpc: "2.0", id, method: "_conformance/id", params: {} });
        await agent.fence();
        assert.strictEqual(agent.responses(before)[0].id, id);
      }
      const { id, result } = await agent.request("session/new", { cwd: t.folder, mcpServers: [] }, 1_000_000_007);
      assert.strictEqual(id, 1_000_000_007);
      assert.ok(result);
    },
  },
  {
    id: "ACP-JSONRPC-002",
    tier: MANDATORY,
    says: "a response has either a result or an error, and the error a number and a message",
    last: true,
    async holds(t) {
      for (const one of t.said().filter(({ method }) => method === undefined)) {
        assert.notEqual("result" in one, "error" in one, JSON.stringify(one));
        if (!("error" in one)) continue;
        assert.ok(Number.isInteger(one.error.code), JSON.stringify(one));
        assert.equal(typeof one.error.message, "string");
      }
    },
  },
  {
    id: "ACP-JSONRPC-003",
    tier: MANDATORY,
    says: "a notification gets no response",
    async holds(t) {
      const agent = await t.shared();
      const before = agent.messages.length;
      agent.notify("_conformance/notification", { a: 1 });
      agent.notify("conformance/unknown", {});
      agent.notify("session/cancel", { sessionId: "no-such-session" });
      await agent.fence();
      assert.equal(agent.responses(before).length, 1, "only the fence is answered");
    },
  },
  {
    id: "ACP-JSONRPC-004",
    tier: ADVISORY,
    says: "an unknown method is refused with -32601",
    async holds(t) {
      const agent = await t.shared();
      for (const method of ["conformance/unknown", "session/nothing", "_conformance/unknown"]) {
        const { error } = await agent.request(method, {});
        assert.equal(error?.code, -32601, method);
      }
    },
  },
  {
    id: "ACP-JSONRPC-005",
    tier: ADVISORY,
    says: "the connection works on after a request that failed",
    async holds(t) {
      const agent = await t.fresh();
      assert.ok((await agent.request("conformance/unknown", {})).error);
      assert.ok((await agent.request("session/prompt", { sessionId: 7 })).error);
      if (t.version === 2) agent.raw("[]");
      assert.ok((await agent.open(t.folder)).length > 0);
    },
  },
];

// ---- What every message has to be ----

export const schema = {
  id: "ACP-SCHEMA-001",
  tier: MANDATORY,
  says: "every message is valid by the official schema",
  last: true,
  async holds(t) {
    const failures = t.connections.flatMap(({ check }) => check.failures);
    assert.deepEqual(failures, []);
    assert.ok(t.said().length > 20, "there was something to look at");
  },
};

export const rootKeys = {
  id: "ACP-SCHEMA-002",
  tier: ADVISORY,
  says: "params and results have no members of the agent's own beside _meta",
  last: true,
  async holds(t) {
    for (const { messages, check } of t.connections) {
      for (const { method, params } of messages.filter((one) => one.method && !/^[_$]/.test(one.method))) {
        const allowed = allowedKeys(check.version ?? t.version, method);
        for (const key of Object.keys(params)) assert.ok(allowed.has(key), `${method}: ${key}`);
      }
      for (const { method, result } of check.answered) {
        const allowed = allowedKeys(check.version ?? t.version, method, "Response");
        for (const key of Object.keys(result)) assert.ok(allowed.has(key), `the answer to ${method}: ${key}`);
      }
    }
  },
};

export const errors = {
  id: "ACP-ERROR-001",
  tier: ADVISORY,
  says: "the message of an error is one line with something in it",
  last: true,
  async holds(t) {
    const all = t.said().filter(({ error }) => error);
    assert.ok(all.length > 0, "some errors were provoked");
    for (const { error } of all) {
      assertFilled(error.message, JSON.stringify(error));
      assert.ok(!/[\r\n]/.test(error.message), JSON.stringify(error));
    }
  },
};

// ---- Extensions ----

export const customRequest = {
  id: "ACP-EXT-001",
  tier: MANDATORY,
  says: "a request of somebody's own gets some response",
  async holds(t) {
    const agent = await t.shared();
    const response = await agent.request("_conformance/custom", { any: ["thing", null, 1.5] });
    assert.ok("result" in response || "error" in response);
  },
};

export const promptMeta = {
  id: "ACP-META-001",
  tier: ADVISORY,
  says: "a prompt with _meta is a prompt like any other",
  async holds(t) {
    const { agent, sessionId } = await t.session();
    const traceparent = "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01";
    const turn = await agent.prompt(sessionId, t.words.plain, { more: { _meta: { traceparent, "conformance.example": [1] } } });
    assert.equal(turn.stopReason, "end_turn");
  },
};

// ---- Prompts ----

/** A prompt with such a block beside text, for those who offer to take it. */
export function promptBlock(id, tier, says, path, blocks) {
  return {
    id,
    tier,
    says,
    async holds(t) {
      if (path) await t.needs(path);
      for (const block of blocks) {
        const { agent, sessionId } = await t.session();
        const { response, stopReason } = await agent.prompt(sessionId, [text(t.words.plain), block]);
        assert.equal(response.error, undefined);
        assert.equal(stopReason, "end_turn");
      }
    },
  };
}

// ---- Processes ----

export const shutdown = {
  id: "ACP-SHUTDOWN-001",
  tier: ADVISORY,
  says: "the process exits by itself when its input ends",
  async holds(t) {
    const agent = await t.fresh();
    await agent.open(t.folder);
    assert.deepEqual(await agent.stop(), { code: 0, signal: null });
  },
};

export const standardError = {
  id: "ACP-STDERR-001",
  tier: INFORMATIONAL,
  says: "what goes to the standard error is counted",
  last: true,
  async holds(t) {
    const bytes = t.connections.reduce((sum, { errors: written }) => sum + written.length, 0);
    t.note(`${bytes} bytes on the standard error of ${t.connections.length} processes`);
  },
};

/** A line that is no request; what comes back is told, and the connection has to survive. */
export function badLine(id, says, line) {
  return {
    id,
    tier: INFORMATIONAL,
    says,
    async holds(t) {
      const agent = await t.fresh();
      const before = agent.messages.length;
      agent.raw(line);
      await agent.fence();
      const [reply] = agent.messages.slice(before);
      t.note(`${line} gets ${reply?.error ? JSON.stringify(reply) : "no reply"}`);
      assert.ok((await agent.open(t.folder)).length > 0, "the connection is usable");
    },
  };
}

export const unknownSession = {
  id: "ACP-INFO-UNKNOWNSESSION-001",
  tier: INFORMATIONAL,
  says: "what a prompt for an unknown session gets",
  async holds(t) {
    const agent = await t.shared();
    const { error } = await agent.request("session/prompt", { sessionId: "no-such-session", prompt: [text("hello")] });
    t.note(error ? JSON.stringify(error) : "a result");
  },
};

/** What a client is never asked for that has not offered it. */
export function neverAsked(id, tier, says, isForbidden) {
  return {
    id,
    tier,
    says,
    async holds(t) {
      const { agent, from } = await t.work();
      const asked = agent.requests(from).map(({ method }) => method);
      assert.deepEqual(asked.filter(isForbidden), []);
    },
  };
}

/** The methods of the version that an agent may call. */
export const clientMethods = (version) => [...methodsOf(version, "Request"), ...methodsOf(version, "Notification")];

/** The values that a choice can have, be it flat or in groups. */
export const choicesOf = ({ options }) => options.flatMap((one) => one.options ?? [one]).map(({ value }) => value);

/** An option with the value that it does not have now; undefined when there is no choice. */
export function otherChoice(options) {
  for (const option of options) {
    const value = option.type === "select" ? choicesOf(option).find((one) => one !== option.currentValue) : !option.currentValue;
    if (value !== undefined) return { option, value };
  }
  return undefined;
}
