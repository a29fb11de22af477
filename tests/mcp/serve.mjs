// acp mcp serve, as an agent uses it: our tools over MCP, under the policy.
//
//     node serve.mjs ACP

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { begin, end, test } from "../conformance/tap.mjs";

const acp = resolve(process.argv[2]);

class Client {
  constructor(folder, flags, answer) {
    this.answer = answer;
    this.asked = [];
    this.waiting = new Map();
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_STATE_HOME: folder };
    this.child = spawn(acp, ["mcp", "serve", ...flags], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
    this.closed = new Promise((done) => this.child.on("close", done));
    createInterface({ input: this.child.stdout }).on("line", (line) => this.hear(JSON.parse(line)));
  }
  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
  hear(message) {
    if (!message.method) return this.waiting.get(message.id)?.(message);
    this.asked.push(message);
    this.send({ id: message.id, result: this.answer(message.params) });
  }
  request(method, params, id = this.waiting.size + 1) {
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.send({ id, method, params });
    });
  }
  async open(protocolVersion = "2025-11-25") {
    const capabilities = this.answer ? { elicitation: {} } : {};
    const { result } = await this.request("initialize", { protocolVersion, capabilities, clientInfo: { name: "t", version: "1" } });
    this.send({ method: "notifications/initialized" });
    return result;
  }
  async call(name, args) {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    return error ? { error } : { text: result.content[0].text, failed: result.isError };
  }
  async close() {
    this.child.stdin.end();
    return this.closed;
  }
}

/** A case with a folder and a client of its own. */
const kase = (name, flags, answer, body) =>
  test(`acp mcp serve: ${name}`, async ({ count }) => {
    const folder = mkdtempSync(join(tmpdir(), "acp-mcp-serve-"));
    writeFileSync(join(folder, "a.txt"), "apple\n");
    const client = new Client(folder, flags, answer);
    try {
      await body(client, folder);
      assert.equal(await client.close(), 0);
      count();
    } finally {
      client.child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    }
  });

begin();

await kase("versions, tools and their hints", [], null, async (client) => {
  assert.equal((await client.open("2025-03-26")).protocolVersion, "2025-03-26");
  const { tools } = (await client.request("tools/list", {})).result;
  const hint = (name) => tools.find((tool) => tool.name === name).annotations.readOnlyHint;
  assert.deepEqual([hint("read"), hint("grep"), hint("write"), hint("run_command")], [true, true, false, false]);
  assert.ok(!tools.some(({ name }) => ["plan", "ask_user", "fetch"].includes(name)));
  assert.equal((await client.request("no/such", {})).error.code, -32601);
  assert.equal((await client.call("ask_user", {})).error.code, -32602);
});

await kase("reading is allowed, writing is denied where nobody can be asked", [], null, async (client, folder) => {
  await client.open();
  assert.match((await client.call("read", { path: "a.txt" })).text, /apple/);
  const denied = await client.call("write", { path: "b.txt", text: "x" });
  assert.equal(denied.failed, true);
  assert.match(denied.text, /Not allowed/);
  assert.ok(!existsSync(join(folder, "b.txt")));
});

const say = (answer) => () => ({ action: "accept", content: { answer } });

await kase("a question is asked through the client, for exactly what is written", [], say("allow once"), async (client, folder) => {
  await client.open();
  assert.equal((await client.call("write", { path: "b.txt", text: "banana" })).failed, false);
  assert.equal(readFileSync(join(folder, "b.txt"), "utf8"), "banana");
  assert.match(client.asked[0].params.message, /b\.txt[^]*banana/);
  await client.call("write", { path: "b.txt", text: "again" });
  assert.equal(client.asked.length, 2, "once is once");
  const large = await client.call("write", { path: "c.txt", text: "x".repeat(40000) });
  assert.equal(large.failed, true, "what cannot be shown whole is not permitted");
  assert.ok(!existsSync(join(folder, "c.txt")));
});

await kase("what the user rejects, or answers otherwise, is not done", [], () => ({ action: "decline" }), async (client, folder) => {
  await client.open();
  for (const answer of [say("reject"), () => ({ action: "decline" }), () => ({}), say("yes"), () => ({ content: { answer: "allow once" } })]) {
    client.answer = answer;
    assert.equal((await client.call("write", { path: "b.txt", text: "x" })).failed, true);
  }
  assert.ok(!existsSync(join(folder, "b.txt")));
});

await kase("modes", ["--mode", "read-only"], null, async (client) => {
  await client.open();
  const { tools } = (await client.request("tools/list", {})).result;
  assert.ok(!tools.some(({ name }) => name === "write" || name === "run_command"));
  assert.equal((await client.call("write", { path: "b.txt", text: "x" })).error.code, -32602);
});

await kase("a command is cancelled, and the others go on", ["--mode", "full"], null, async (client) => {
  await client.open();
  const slow = client.request("tools/call", { name: "run_command", arguments: { command: "touch begun; sleep 60" } }, "slow");
  assert.match((await client.call("run_command", { command: "until [ -e begun ]; do sleep 0.05; done; echo there" })).text, /there/);
  client.send({ method: "notifications/cancelled", params: { requestId: "slow" } });
  assert.equal((await slow).result.isError, true);
});

end();
