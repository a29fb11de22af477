// Our client role (actor-client) drives an agent written on the official SDK, in version 1 and
// version 2.  Every line that the client writes is held against the official schema.
//
//     node our-client.mjs VERSION ACTOR-CLIENT

import assert from "node:assert/strict";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { OurClient } from "./our-side.mjs";
import { methodsOf, seen } from "./wire.mjs";
import { clientSessionCases, negotiation } from "./client-sessions.mjs";
import { clientTurnCases } from "./client-turns.mjs";
import { clientCancelCases } from "./client-cancel.mjs";

const [version, actor] = [Number(process.argv[2]), process.argv[3]];
const start = (clientFlags = [], agentFlags = []) =>
  new OurClient(actor, [`--v${version}`, ...clientFlags], [`--v${version}`, ...agentFlags]);

/** The tests themselves must not have forgotten anything. */
async function completeness(v) {
  await kase(`v${v} client: every method of the schema was on the wire`, async () => {
    const missing = [...methodsOf(v, "Request"), ...methodsOf(v, "Notification")].filter(
      (what) => !seen.has(`v${v} ${what}`),
    );
    assert.deepEqual(missing, []);
  });
}

begin();
await negotiation(version, (clientFlags, agentFlags) => new OurClient(actor, clientFlags, agentFlags));
await clientSessionCases(version, start);
await clientTurnCases(version, start);
await clientCancelCases(version, start);
await completeness(version);
end();
