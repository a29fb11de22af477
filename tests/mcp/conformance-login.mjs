// The client of a scenario "auth/..." of @modelcontextprotocol/conformance: acp mcp login, with a browser that agrees
// to everything, and then a call.
//
//     node conformance-login.mjs ACP SCENARIO URL

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [acp, scenario, url] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "acp-mcp-login-"));
const env = { ...process.env, HOME: home };
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const METADATA = "https://conformance-test.local/client-metadata.json";
const MOST_LOGINS = 3;

/** Opens the page and goes where it leads. */
async function browse(page) {
  const answer = await fetch(page, { redirect: "manual" });
  await (await fetch(answer.headers.get("location"))).text();
}

/** The exit status of a login. */
function login(...flags) {
  const child = spawn(acp, ["mcp", "login", ...flags, url], { env, stdio: ["ignore", "inherit", "pipe"] });
  let said = "";
  let opened = false;
  child.stderr.on("data", (data) => {
    process.stderr.write(data);
    said += data;
    const page = /^ {2}(http\S+)\n/m.exec(said)?.[1];
    if (!page || opened) return;
    opened = true;
    browse(page).catch((error) => console.error(`the browser failed: ${error}`));
  });
  return new Promise((done) => child.on("close", done));
}

const flags = [];
if (scenario === "auth/basic-cimd") flags.push("--client-metadata", METADATA);
if (context.client_id) {
  writeFileSync(join(home, "secret"), `${context.client_secret}\n`);
  flags.push("--client-id", context.client_id, "--client-secret-file", join(home, "secret"));
}

/** Runs acp mcp; returns the options that another login needs, if it says that one is necessary. */
function run(...words) {
  const { stderr } = spawnSync(acp, ["mcp", ...words], { env, encoding: "utf8", stdio: ["ignore", "inherit", "pipe"] });
  process.stderr.write(stderr);
  const scope = /acp mcp login --scope "([^"]*)"/.exec(stderr)?.[1];
  return scope ? ["--scope", scope] : /acp mcp login/.test(stderr) ? [] : undefined;
}

let wanted = run("tools", url);
for (let i = 0; wanted && i < MOST_LOGINS; i++) {
  if ((await login(...flags, ...wanted)) !== 0) break;
  wanted = run("tools", url) ?? run("call", url, "test-tool", "{}");
}
rmSync(home, { recursive: true });
