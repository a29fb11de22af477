// The requirements of the public kit for version 2 that are about turns: prompts, states, cancelling,
// permissions, and what the updates of a turn have to be.

import assert from "node:assert/strict";
import {
  ADVISORY, BLOCKS, CAPABILITY, INFORMATIONAL,
  assertDefined, assertFilled, clientMethods, neverAsked, promptBlock, text,
} from "./common.mjs";
import { constantsOf, updateKindsOf } from "../../interop/wire.mjs";

const STOPS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const KINDS = constantsOf(2, "ToolKind");
const STATUSES = constantsOf(2, "ToolCallStatus");
const PRIORITIES = constantsOf(2, "PlanEntryPriority");
const STEPS = constantsOf(2, "PlanEntryStatus");
const STATES = ["running", "idle", "requires_action"];
const CONTENTS = ["content", "diff", "terminal"];

const isOf = (...kinds) => ({ sessionUpdate }) => kinds.includes(sessionUpdate);
const isMessage = ({ sessionUpdate }) => /^(user_message|agent_message|agent_thought)(_chunk)?$/.test(sessionUpdate);

/** A session with one turn in it. */
export async function talkedSession(t) {
  const opened = await t.session();
  return { ...opened, turn: await opened.agent.prompt(opened.sessionId, t.words.plain) };
}

/** The updates of these kinds in the turn with tool calls; the case does not apply without any. */
async function workUpdates(t, ...kinds) {
  const found = (await t.work()).updates.filter(isOf(...kinds));
  if (found.length === 0) t.skip(`its turns have no ${kinds.join(" and no ")}`);
  return found;
}

const prompts = [
  {
    id: "ACP-PROMPT-205", tier: CAPABILITY,
    says: "the updates of a turn are those of its session",
    async holds(t) {
      const { agent, turn } = await talkedSession(t);
      const all = agent.messages.slice(turn.from, turn.end + 1).filter(({ method }) => method === "session/update");
      assert.equal(all.length, turn.updates.length, "all of them name the session");
      assert.ok(all.length > 0);
    },
  },
  {
    id: "ACP-PROMPT-201", tier: CAPABILITY,
    says: "a prompt is answered with the id of its message",
    async holds(t) {
      assertFilled((await talkedSession(t)).turn.response.result?.messageId, "messageId");
    },
  },
  {
    id: "ACP-PROMPT-203", tier: CAPABILITY,
    says: "the user's message is reported with that id",
    async holds(t) {
      const { response, updates } = (await talkedSession(t)).turn;
      const ids = updates.filter(isOf("user_message", "user_message_chunk")).map(({ messageId }) => messageId);
      assert.ok(ids.includes(response.result.messageId), `${ids}`);
    },
  },
  {
    id: "ACP-STATE-201", tier: CAPABILITY,
    says: "a turn that ends has been running",
    async holds(t) {
      const states = (await talkedSession(t)).turn.states.map(({ state }) => state);
      assert.ok(states.indexOf("running") >= 0 && states.indexOf("running") < states.lastIndexOf("idle"), `${states}`);
    },
  },
  {
    id: "ACP-STATE-202", tier: CAPABILITY,
    says: "a turn that runs becomes idle",
    async holds(t) {
      assert.equal((await talkedSession(t)).turn.states.at(-1).state, "idle");
    },
  },
  {
    id: "ACP-STATE-203", tier: CAPABILITY,
    says: "the end of a turn has a stop reason",
    async holds(t) {
      assertDefined((await talkedSession(t)).turn.stopReason, STOPS, "stopReason");
    },
  },
  promptBlock("ACP-PROMPTCAP-001", CAPABILITY, "a prompt can have an image", "capabilities.session.prompt.image", [BLOCKS.image]),
  promptBlock("ACP-PROMPTCAP-002", CAPABILITY, "a prompt can have audio", "capabilities.session.prompt.audio", [BLOCKS.audio]),
  promptBlock("ACP-PROMPTCAP-003", CAPABILITY, "a prompt can have a resource of text or of bytes", "capabilities.session.prompt.embeddedContext", [
    BLOCKS.text,
    BLOCKS.blob,
  ]),
  promptBlock("ACP-PROMPT-003", ADVISORY, "a prompt can have a link", undefined, [BLOCKS.link]),
];

/** The permission requests of the turn with tool calls. */
async function permissions(t) {
  const { agent, sessionId, from } = await t.work();
  const asked = agent.requests(from).filter(({ method, params }) => method === "session/request_permission" && params.sessionId === sessionId);
  if (asked.length === 0) t.skip("its turns ask for no permission");
  return asked.map(({ params }) => params);
}

const asking = [
  {
    id: "ACP-PERM-201", tier: CAPABILITY,
    says: "a permission request has a title and options, and the turn ends after its answer",
    async holds(t) {
      for (const { title, options } of await permissions(t)) {
        assertFilled(title, "title");
        assert.ok(options.length > 0);
        for (const { optionId, name, kind } of options) [optionId, name, kind].forEach((word) => assertFilled(word, "option"));
      }
      assert.equal((await t.work()).stopReason, "end_turn");
    },
  },
  neverAsked("ACP-CLIENTCAP-201", CAPABILITY, "no forms are asked of a client that shows none", (method) => method.startsWith("elicitation/")),
  {
    id: "ACP-CLIENTCAP-202", tier: CAPABILITY,
    says: "the agent calls nothing that version 2 does not have",
    async holds(t) {
      const known = clientMethods(2);
      const { agent } = await t.work();
      const called = agent.messages.map(({ method }) => method).filter((method) => method !== undefined);
      assert.deepEqual(called.filter((method) => !known.includes(method) && !/^(_|\$\/cancel_request$)/.test(method)), []);
    },
  },
  {
    id: "ACP-INFO-CONCURRENT-201", tier: INFORMATIONAL,
    says: "what a second prompt in the middle of a turn gets",
    async holds(t) {
      const { underWay } = t.needsLongTurn();
      const { agent, sessionId } = await t.session();
      let second;
      const during = async () => {
        second = agent.request("session/prompt", { sessionId, prompt: [text(t.words.plain)] });
        await agent.fence();
        t.note(agent.responses().some(({ id }) => id === `c${agent.next - 1}`) ? "a response at once" : "it waits");
        agent.notify("session/cancel", { sessionId });
      };
      await agent.prompt(sessionId, t.words.long, { during, underWay });
      t.note(JSON.stringify((await second).error ?? "a result"));
    },
  },
];

/** A turn that is cancelled in the middle; cancel sends what cancels it. */
async function cancelled(t, cancel) {
  const { underWay } = t.needsLongTurn();
  const { agent, sessionId } = await t.session();
  const during = () => (cancel ?? (() => agent.notify("session/cancel", { sessionId })))(agent, sessionId);
  return { agent, sessionId, ...(await agent.prompt(sessionId, t.words.long, { during, underWay })) };
}

/** Closing a session is one evidence for two requirements of the kit. */
function closeCancels(id) {
  return {
    id,
    tier: CAPABILITY,
    says: "closing a session cancels its turn",
    async holds(t) {
      const { stopReason } = await cancelled(t, (agent, sessionId) => agent.result("session/close", { sessionId }));
      assert.equal(stopReason, "cancelled");
    },
  };
}

const cancelling = [
  {
    id: "ACP-CANCEL-201", tier: CAPABILITY,
    says: "a turn that is cancelled becomes idle as cancelled",
    async holds(t) {
      assert.equal((await cancelled(t)).stopReason, "cancelled");
    },
  },
  {
    id: "ACP-CANCEL-202", tier: CAPABILITY,
    says: "nothing of a cancelled turn comes after its end",
    async holds(t) {
      const { agent, sessionId, end } = await cancelled(t);
      await agent.fence();
      assert.deepEqual(agent.updates(sessionId, end + 1), []);
    },
  },
  {
    id: "ACP-CANCEL-203", tier: CAPABILITY,
    says: "being cancelled is no failure",
    async holds(t) {
      const { response, states } = await cancelled(t);
      assert.equal(response.error, undefined);
      assert.equal(states.at(-1).error, undefined);
    },
  },
  { id: "ACP-CANCEL-204", tier: INFORMATIONAL, says: "work stops soon after a cancel", why: "a client cannot see what the agent has stopped" },
  {
    id: "ACP-CANCEL-205", tier: CAPABILITY,
    says: "session/cancel gets no response",
    async holds(t) {
      const { agent, from } = await cancelled(t);
      await agent.fence();
      assert.equal(agent.responses(from).length, 2, "the prompt and the fence are answered");
    },
  },
  {
    id: "ACP-CANCEL-206", tier: CAPABILITY,
    says: "session/cancel may have a _meta",
    async holds(t) {
      const { stopReason } = await cancelled(t, (agent, sessionId) => agent.notify("session/cancel", { sessionId, _meta: { why: "test" } }));
      assert.equal(stopReason, "cancelled");
    },
  },
  {
    id: "ACP-CANCEL-207", tier: CAPABILITY,
    says: "no other word stands for cancelled",
    async holds(t) {
      assert.equal((await cancelled(t)).states.at(-1).stopReason, "cancelled");
    },
  },
  closeCancels("ACP-CANCEL-208"),
  closeCancels("ACP-CLOSE-202"),
  {
    id: "ACP-INFO-CANCEL-201", tier: INFORMATIONAL,
    says: "what a cancel without a turn gets",
    async holds(t) {
      const { agent, sessionId } = await t.session();
      const before = agent.messages.length;
      agent.notify("session/cancel", { sessionId });
      agent.notify("session/cancel", { sessionId: "no-such-session" });
      await agent.fence();
      t.note(`${agent.messages.length - before - 1} messages`);
      assert.equal((await agent.prompt(sessionId, t.words.plain)).stopReason, "end_turn");
    },
  },
  {
    id: "ACP-INFO-CANCEL-202", tier: INFORMATIONAL,
    says: "whether a question is taken back when its turn is cancelled",
    async holds(t) {
      await permissions(t);
      const agent = await t.fresh();
      const sessionId = await agent.open(t.folder);
      agent.onPermission = () => undefined;
      const during = () => agent.notify("session/cancel", { sessionId });
      const underWay = () => agent.requests().length > 0;
      const { stopReason, from } = await agent.prompt(sessionId, t.words.work, { during, underWay });
      assert.equal(stopReason, "cancelled");
      t.note(agent.messages.slice(from).some(({ method }) => method === "$/cancel_request") ? "it is" : "it is not");
    },
  },
];

const patches = [
  {
    id: "ACP-PATCH-201", tier: CAPABILITY,
    says: "every chunk of a message has the id of the message",
    async holds(t) {
      const pieces = (await t.work()).updates.filter(isMessage);
      assert.ok(pieces.length > 0);
      for (const { messageId } of pieces) assertFilled(messageId, "messageId");
    },
  },
  {
    id: "ACP-PATCH-203", tier: CAPABILITY,
    says: "two prompts are two messages",
    async holds(t) {
      const { agent, sessionId, turn } = await talkedSession(t);
      const again = await agent.prompt(sessionId, t.words.plain);
      assert.notEqual(turn.response.result.messageId, again.response.result.messageId);
    },
  },
  {
    id: "ACP-PATCH-204", tier: CAPABILITY,
    says: "every update of a tool call has its id, and a piece of its content the content",
    async holds(t) {
      for (const update of await workUpdates(t, "tool_call_update", "tool_call_content_chunk")) {
        assertFilled(update.toolCallId, "toolCallId");
        if (update.sessionUpdate === "tool_call_content_chunk") assert.ok(update.content);
      }
    },
  },
  {
    id: "ACP-PATCH-205", tier: CAPABILITY,
    says: "every update of a plan has its id",
    async holds(t) {
      for (const { plan } of await workUpdates(t, "plan_update")) assertFilled(plan.planId, "planId");
    },
  },
  {
    id: "ACP-PATCH-206", tier: CAPABILITY,
    says: "the folder of a terminal is absolute and stays the same",
    async holds(t) {
      const folders = new Map();
      for (const { terminalId, cwd } of await workUpdates(t, "terminal_update")) {
        assertFilled(terminalId, "terminalId");
        if (cwd === undefined || cwd === null) continue;
        assert.ok(cwd.startsWith("/"), cwd);
        assert.equal(folders.get(terminalId) ?? cwd, cwd);
        folders.set(terminalId, cwd);
      }
    },
  },
  {
    id: "ACP-PATCH-207", tier: CAPABILITY,
    says: "every piece of a terminal's output is base64 by itself",
    async holds(t) {
      const all = await workUpdates(t, "terminal_output_chunk", "terminal_update");
      const pieces = all.map((update) => update.data ?? update.output?.data).filter((data) => data !== undefined);
      if (pieces.length === 0) t.skip("its terminals print nothing");
      for (const data of pieces) assert.equal(Buffer.from(data, "base64").toString("base64"), data);
    },
  },
  {
    id: "ACP-PATCH-208", tier: ADVISORY,
    says: "the first update of a tool call has a title, and its name stays the same",
    async holds(t) {
      const names = new Map();
      for (const { toolCallId, title, name } of await workUpdates(t, "tool_call_update")) {
        if (!names.has(toolCallId)) assertFilled(title, "title");
        const known = names.get(toolCallId) ?? name;
        if (name) assert.equal(name, known);
        names.set(toolCallId, known);
      }
    },
  },
  {
    id: "ACP-PATCH-209", tier: ADVISORY,
    says: "a turn that waits for the user says so, and that it goes on",
    async holds(t) {
      await permissions(t);
      const states = (await t.work()).states.map(({ state }) => state);
      assert.ok(states.includes("requires_action"), `${states}`);
      assert.ok(states.slice(states.lastIndexOf("requires_action")).includes("running"), `${states}`);
    },
  },
];

/** The contents of tool calls, in updates and as pieces. */
const contentsOf = (update) => (update.sessionUpdate === "tool_call_content_chunk" ? [update.content] : (update.content ?? []));

const enums = [
  {
    id: "ACP-ENUM-201", tier: CAPABILITY,
    says: "kinds, states and priorities of tool calls and plans are known ones, or the agent's own",
    async holds(t) {
      for (const { sessionUpdate, kind, status, plan } of await workUpdates(t, "tool_call_update", "plan_update")) {
        if (kind) assertDefined(kind, KINDS, "kind");
        if (status) assertDefined(status, STATUSES, "status");
        if (sessionUpdate !== "plan_update") continue;
        for (const entry of plan.entries ?? []) {
          assertDefined(entry.priority, PRIORITIES, "priority");
          assertDefined(entry.status, STEPS, "status");
        }
      }
    },
  },
  {
    id: "ACP-ENUM-202", tier: ADVISORY,
    says: "kinds of updates, states and contents are known ones, or the agent's own",
    last: true,
    async holds(t) {
      const known = updateKindsOf(2);
      // A connection that agreed on version 1 has the words of that.
      const own = t.connections.filter(({ check }) => check.version === 2).flatMap(({ messages }) => messages);
      for (const { params } of own.filter(({ method }) => method === "session/update")) {
        const { update } = params;
        assertDefined(update.sessionUpdate, known, "sessionUpdate");
        if (update.sessionUpdate === "state_update") assertDefined(update.state, STATES, "state");
        if (!update.sessionUpdate.startsWith("tool_call")) continue;
        for (const { type } of contentsOf(update)) assertDefined(type, CONTENTS, "content");
      }
    },
  },
  {
    id: "ACP-ENUM-203", tier: ADVISORY,
    says: "an answer of the client's own kind to a permission request does no harm",
    async holds(t) {
      await permissions(t);
      const agent = await t.fresh();
      const sessionId = await agent.open(t.folder);
      agent.onPermission = () => ({ outcome: { outcome: "_later" } });
      const { response, stopReason } = await agent.prompt(sessionId, t.words.work);
      assert.equal(response.error, undefined);
      assertDefined(stopReason, STOPS, "stopReason");
    },
  },
];

export const TURNS = [...prompts, ...asking, ...cancelling, ...patches, ...enums];
