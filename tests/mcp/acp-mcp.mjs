// What the tests of MCP share: running acp mcp, with a home of its own.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = mkdtempSync(join(tmpdir(), "acp-mcp-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

/** Runs a command to its end. */
export async function run(command, args, options = {}) {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, XDG_DATA_HOME: home, ...options.env };
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options, env });
  let out = "";
  let err = "";
  child.stdout.on("data", (piece) => (out += piece));
  child.stderr.on("data", (piece) => (err += piece));
  const status = await new Promise((done) => child.on("close", done));
  return { status, out, err };
}

/** Starts a server, and waits until it says that it listens. */
export async function serve(keep, args, env, ready) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  keep(() => child.kill("SIGKILL"));
  let said = "";
  await new Promise((done, fail) => {
    const hear = (piece) => ready.test((said += piece)) && done();
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("close", () => fail(new Error(`the server has ended: ${said}`)));
  });
  return child;
}

/** A port that is free now. */
export async function freePort() {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.on("listening", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
