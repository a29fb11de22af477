// The built-in coding agent asks a server for its models: in a helper process, so that it does not load
// libcurl itself, or in its own process where that is not possible or of no use.
//
//     node coding-agent-lists.mjs VERSION ACP

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { KEY, ownHome } from "./coding-agent-side.mjs";
import { PlainClient } from "./plain-client.mjs";
import { gone, until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (what) => `v${version} agent: ${what}`;
const nothing = { failures: [], checked: 1 };

/** A server whose list of models is sent when a case says so; prompts are answered at once. */
class SlowServer {
  constructor() {
    this.asked = []; // {headers, answer(), closed}
    this.server = createServer((request, response) => {
      if (request.method === "POST") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const chunk = { choices: [{ index: 0, delta: { content: "Hm." }, finish_reason: "stop" }] };
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
        return request.resume();
      }
      const list = { headers: request.headers, closed: false };
      request.socket.on("close", () => (list.closed = true));
      list.answer = (...ids) => response.end(JSON.stringify({ data: ids.map((id) => ({ id })) }));
      this.asked.push(list);
    });
  }

  async start(keep) {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    keep({
      stop: async () => {
        this.server.closeAllConnections();
        await new Promise((done) => this.server.close(done));
        return nothing;
      },
    });
    this.url = `http://127.0.0.1:${this.server.address().port}/v1`;
    return this;
  }

  /** The request for a list of that number. */
  async list(number = 0) {
    await until(`list ${number}`, () => this.asked.length > number);
    return this.asked[number];
  }
}

async function open(keep, server, program = acp) {
  const folder = mkdtempSync(join(tmpdir(), "acp-lists-"));
  keep({ stop: async () => (rmSync(folder, { recursive: true }), nothing) });
  const words = [`OPENAI_API_KEY=${KEY}`, `OPENAI_BASE_URL=${server.url}`, "OPENAI_MODEL=first"];
  const client = new PlainClient("env", ...words, program, "agent", "--no-titles", "--unstable");
  keep({ stop: () => (client.ended ? nothing : client.stop()) });
  await client.initialize(version);
  client.open = async () =>
    (client.sessionId = (await client.request("session/new", { cwd: folder, mcpServers: [] })).sessionId);
  client.pid = client.child.pid;
  return client;
}

/** Waits until the client was told of a model. */
const told = (client, model, provider = "openai") =>
  until(`the model ${model}`, () => client.lines.some((line) => line.includes(`"${provider}/${model}"`)));

const hasLibcurl = (client) => /libcurl/.test(readFileSync(`/proc/${client.pid}/maps`, "utf8"));

/** The ids of the helper processes of an agent. */
function helpers(client) {
  const parent = new RegExp(`^PPid:\\t${client.pid}$`, "m");
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && parent.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

/** The only helper. */
function helper(client) {
  const all = helpers(client);
  assert.equal(all.length, 1, `the helpers are ${all}`);
  assert.deepEqual(readFileSync(`/proc/${all[0]}/cmdline`, "utf8").split("\0").slice(1), ["__fetch", ""]);
  return Number(all[0]);
}

const clean = ownHome();
begin();

await kase(name("a helper fetches the list, and ends"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const client = await open(keep, server);
  await client.open();
  const list = await server.list();
  const pid = helper(client);
  assert.equal(list.headers.authorization, `Bearer ${KEY}`);
  list.answer("first", "second");
  await told(client, "second");
  await gone(pid);
  assert.deepEqual(helpers(client), [], "it was reaped");
  assert.ok(!hasLibcurl(client));
  await client.prompt(client.sessionId, "hello");
  assert.ok(hasLibcurl(client), "a prompt loads it");
  assert.equal(client.text, "Hm.");
});

await kase(name("once libcurl is loaded the agent fetches lists itself"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const other = await new SlowServer().start(keep);
  const client = await open(keep, server);
  await client.open();
  (await server.list()).answer("first", "second");
  await told(client, "second"); // so the helper has ended
  await client.prompt(client.sessionId, "hello");
  assert.ok(hasLibcurl(client));
  const provider = { providerId: "main", apiType: "openai", baseUrl: other.url, headers: {} };
  assert.deepEqual(await client.request("providers/set", provider), {});
  const list = await other.list();
  assert.deepEqual(helpers(client), []);
  list.answer("first", "other");
  await told(client, "other", "main");
});

await kase(name("a slow server does not hold up session/new or a prompt"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const client = await open(keep, server);
  await client.open();
  await client.open();
  await server.list();
  assert.equal((await client.prompt(client.sessionId, "hello")).stopReason, "end_turn");
  assert.equal(server.asked.length, 1, "the list is fetched once");
  assert.ok(!server.asked[0].closed);
  server.asked[0].answer("first", "late");
  await told(client, "late");
});

await kase(name("without a helper the agent fetches the list itself"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const folder = mkdtempSync(join(tmpdir(), "acp-lists-"));
  keep({ stop: async () => (rmSync(folder, { recursive: true, force: true }), nothing) });
  const program = join(folder, "acp");
  copyFileSync(acp, program);
  const client = await open(keep, server, program);
  rmSync(program); // so it cannot be started again
  await client.open();
  (await server.list()).answer("first", "second");
  await told(client, "second");
  assert.ok(hasLibcurl(client));
});

await kase(name("when a helper is killed the agent fetches the list itself"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const client = await open(keep, server);
  await client.open();
  await server.list();
  process.kill(helper(client), "SIGKILL");
  (await server.list(1)).answer("first", "second");
  await told(client, "second");
  assert.ok(server.asked[0].closed);
  assert.ok(hasLibcurl(client));
  assert.deepEqual(helpers(client), []);
});

for (const signal of ["SIGKILL", "SIGTERM"])
  await kase(name(`its helper ends with it: ${signal}`), async (keep) => {
    const server = await new SlowServer().start(keep);
    const client = await open(keep, server);
    await client.open();
    const list = await server.list();
    const pid = helper(client);
    client.ended = true;
    process.kill(client.pid, signal);
    await client.exited;
    await until("the end of the request", () => list.closed);
    await gone(pid);
  });

await kase(name("its helper ends with it: the connection is closed"), async (keep) => {
  const server = await new SlowServer().start(keep);
  const client = await open(keep, server);
  await client.open();
  const list = await server.list();
  const pid = helper(client);
  client.ended = true;
  await client.stop();
  await until("the end of the request", () => list.closed);
  await gone(pid);
});

clean();
end();
