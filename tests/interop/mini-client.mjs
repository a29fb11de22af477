// The example mini-client, with agents that behave and with agents that do not.
//
//     node mini-client.mjs MINI-CLIENT ECHO-AGENT

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end, test } from "../conformance/tap.mjs";
import { within } from "./cases.mjs";
import { gone, isAlive } from "./processes.mjs";

const [client, echo] = process.argv.slice(2).map((path) => resolve(path));
const LATE_MS = 60_000;

/** What became of the client and of what it printed. */
async function run(...args) {
  const child = spawn(client, args, { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (bytes) => (out += bytes));
  child.stderr.on("data", (bytes) => (err += bytes));
  const ended = new Promise((done) => child.on("close", (code) => done({ code, out, err })));
  try {
    return await within(LATE_MS, "the client", ended);
  } finally {
    child.kill("SIGKILL");
  }
}

const kase = (name, body) =>
  test(`mini-client: ${name}`, async ({ count }) => {
    await body();
    count();
  });

begin();

await kase("prints what the agent answers and how the turn ended", async () => {
  assert.deepEqual(await run("hello", echo), { code: 0, out: "hello\n[end_turn]\n", err: "" });
});

await kase("leaves when the agent refuses", async () => {
  const refusal = '{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"not today"}}';
  const agent = `read line; echo '${refusal}'; cat`;
  const result = await run("hello", "sh", "-c", agent);
  assert.deepEqual(result, { code: 1, out: "\n[not today]\n", err: "" });
});

await kase("tells how an agent died", async () => {
  const { code, out } = await run("hello", "sh", "-c", "exit 3");
  assert.equal(code, 1);
  assert.equal(out, "\n[sh exited with code 3]\n");
});

await kase("ends what the agent has left behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "acp-interop-mini-"));
  const file = join(folder, "pid");
  // Neither in the agent's process group nor marked by its environment.
  const left = `setsid env -i sh -c 'echo $$ >"${file}"; exec sleep 300' >/dev/null &`;
  const agent = `${left} while [ ! -s "${file}" ]; do sleep 0.01; done; exec "${echo}"`;
  const { code } = await run("hello", "sh", "-c", agent);
  const pid = Number(readFileSync(file, "utf8"));
  rmSync(folder, { recursive: true });
  try {
    assert.equal(code, 0);
    await gone(pid);
  } finally {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  }
});

end();
