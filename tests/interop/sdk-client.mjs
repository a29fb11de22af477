// The official SDK's client drives our agent role (actor-agent), in version 1 and version 2.  Every
// line that the agent writes is held against the official schema.
//
//     node sdk-client.mjs VERSION ACTOR-AGENT ECHO-AGENT

import assert from "node:assert/strict";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { SdkClient } from "./sdk-side.mjs";
import { methodsOf, seen, updateKindsOf } from "./wire.mjs";
import { sessionCases } from "./agent-sessions.mjs";
import { turnCases } from "./agent-turns.mjs";
import { cancelCases } from "./agent-cancel.mjs";
import { workCases } from "./agent-work.mjs";
import { commandCases } from "./agent-commands.mjs";

const [actor, echo] = process.argv.slice(3);
const version = Number(process.argv[2]);

const start = (args = [], options = {}) => {
  // The agent speaks both versions, unless that is what the case is about.
  const only = options.raw ? [`--v${version}`] : [];
  return new SdkClient(version, [actor, ...only, ...args], options);
};

async function echoCases(v) {
  await kase(`v${v} agent: the example echo-agent says back what it is told`, async (keep) => {
    const c = keep(new SdkClient(v, [echo]));
    await c.open();
    const prompt = [
      { type: "text", text: "hello" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ];
    assert.equal((await c.prompt(prompt)).stopReason, "end_turn");
    const said = c.of(c.sessionId, "agent_message_chunk").map((update) => update.content);
    assert.deepEqual(said, prompt);
  });
}

/** The tests themselves must not have forgotten anything. */
async function completeness(v) {
  await kase(`v${v} agent: every method and update of the schema was on the wire`, async () => {
    const expected = [
      ...methodsOf(v, "Request"),
      ...methodsOf(v, "Notification"),
      ...updateKindsOf(v).map((kind) => `update ${kind}`),
      ...["text", "image", "audio", "resource_link", "resource"].map((type) => `block ${type}`),
    ];
    const missing = expected.filter((what) => !seen.has(`v${v} ${what}`));
    assert.deepEqual(missing, []);
  });
}

begin();
await sessionCases(version, start);
await turnCases(version, start);
await cancelCases(version, start);
await workCases(version, start);
await commandCases(version, start);
await echoCases(version);
await completeness(version);
end();
