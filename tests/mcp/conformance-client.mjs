// The client of a scenario of @modelcontextprotocol/conformance: acp mcp, with what the scenario wants called.
//
//     node conformance-client.mjs ACP SCENARIO URL

import { spawnSync } from "node:child_process";

const [acp, scenario, url] = process.argv.slice(2);
const commands = {
  initialize: ["tools", url],
  tools_call: ["call", url, "add_numbers", '{"a":5,"b":3}'],
  "elicitation-sep1034-client-defaults": ["call", "--accept-defaults", url, "test_client_elicitation_defaults", "{}"],
  "sse-retry": ["call", url, "test_reconnection", "{}"],
};
const { status } = spawnSync(acp, ["mcp", ...commands[scenario]], { stdio: "inherit" });
process.exitCode = status ?? 1;
