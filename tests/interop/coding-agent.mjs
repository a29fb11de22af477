// The official SDK's client has the built-in coding agent work on a small repository, with the
// offline model.  Every line that the agent writes is held against the official schema.
//
//     node coding-agent.mjs VERSION ACP

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { PlainClient } from "./plain-client.mjs";
import { SdkClient } from "./sdk-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const home = mkdtempSync(join(tmpdir(), "acp-agent-home-"));
process.env.HOME = home;
for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]) delete process.env[name];

/** Gives a prompt and the reason why its turn stopped. */
const run = async (client, words) => (await client.prompt(words)).stopReason;

/** A repository of two files, removed in the end. */
function repository() {
  const folder = mkdtempSync(join(tmpdir(), "acp-agent-"));
  writeFileSync(join(folder, "main.c"), "int main(void)\n{\n    return 1;\n}\n");
  writeFileSync(join(folder, "README"), "A program that fails.\n");
  return { folder, stop: async () => (rmSync(folder, { recursive: true }), { failures: [], checked: 1 }) };
}

/** The agent, and the folder that it works in. */
async function open(keep, ...flags) {
  const { folder } = keep(repository());
  const client = keep(new SdkClient(version, [acp, "agent", "--demo", ...flags], {
    capabilities: version === 1 ? {} : undefined,
  }));
  client.onPermission = ({ options }) => ({
    outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === "allow_once").optionId },
  });
  await client.open(folder);
  return { client, folder };
}

const tools = (client) => client.of(client.sessionId, "tool_call", "tool_call_update");
const name = (what) => `v${version} agent: ${what}`;

begin();

await kase(name("a whole task: plan, search, an edit with its diff, a command"), async (keep) => {
  const { client, folder } = await open(keep);
  const task =
    "make a plan to fix the program, then search for return, then replace return 1 by return 0 in main.c, " +
    "then run cat main.c";
  const stop = await run(client, task);
  assert.equal(stop, "end_turn");
  assert.match(readFileSync(join(folder, "main.c"), "utf8"), /return 0;/);
  assert.ok(client.of(client.sessionId, "plan", "plan_update").length > 0, "a plan");
  const contents = tools(client).flatMap(({ content }) => content ?? []);
  assert.ok(contents.some(({ type }) => type === "diff"), "a diff");
  assert.ok(client.permissions.length >= 2, "permissions for the edit and the command");
  assert.match(client.text(), /return 0;/);
});

await kase(name("what is not permitted is not done"), async (keep) => {
  const { client, folder } = await open(keep);
  client.onPermission = ({ options }) => ({
    outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === "reject_once").optionId },
  });
  assert.equal(await run(client, "replace return 1 by return 0 in main.c"), "end_turn");
  assert.match(readFileSync(join(folder, "main.c"), "utf8"), /return 1;/);
  assert.ok(tools(client).some(({ status }) => status === "failed"));
});

await kase(name("read-only mode offers no writing"), async (keep) => {
  const { client, folder } = await open(keep, "--mode", "read-only");
  await run(client, "replace return 1 by return 0 in main.c");
  assert.match(readFileSync(join(folder, "main.c"), "utf8"), /return 1;/);
  assert.equal(client.permissions.length, 0);
});

await kase(name("cancel ends a command and the turn, and the next prompt is served"), async (keep) => {
  const { client } = await open(keep, "--mode", "full");
  const turn = run(client, "run sleep 300");
  await client.until("the command", () => tools(client).some(({ status }) => status === "in_progress"));
  await client.cancel();
  assert.equal(await turn, "cancelled");
  assert.equal(await run(client, "list the files"), "end_turn");
  assert.match(client.text(), /main\.c/);
});

await kase(name("slash commands answer without the model"), async (keep) => {
  const { client, folder } = await open(keep, "--mode", "full");
  await run(client, "/help");
  assert.match(client.text(), /\/compact/);
  await run(client, "replace return 1 by return 0 in main.c");
  assert.match(readFileSync(join(folder, "main.c"), "utf8"), /return 0;/);
  await run(client, "/undo");
  assert.match(readFileSync(join(folder, "main.c"), "utf8"), /return 1;/);
  await run(client, "/dashboard");
  assert.match(client.text(), /Tools: .*edit/);
  await run(client, "/model demo-2");
  assert.match(client.text(), /there is no model 'demo-2'; there is, for example, demo/);
  assert.match(client.text(), /The model is demo, of/);
  await run(client, "/permissions");
  assert.match(client.text(), /There are no permanent permissions or rejections/);
  await run(client, "/nonsense");
  assert.match(client.text(), /no command \/nonsense/);
});

await kase(name("a project has commands of its own"), async (keep) => {
  const { folder } = keep(repository());
  mkdirSync(join(folder, ".acp", "commands"), { recursive: true });
  writeFileSync(join(folder, ".acp", "commands", "look.md"), "read $ARGUMENTS\n");
  const client = keep(new SdkClient(version, [acp, "agent", "--demo"]));
  await client.open(folder);
  await run(client, "/look README");
  assert.match(client.text(), /A program that fails/);
  await run(client, "/plan");
  assert.match(client.text(), /Usage: \/plan TASK/);
  await run(client, "/plan fix the program");
  assert.ok(client.of(client.sessionId, "plan", "plan_update").length > 0, "a plan");
});

await kase(name("a summary is shown while it is made, and when it is there"), async (keep) => {
  const { folder } = keep(repository());
  const client = keep(new SdkClient(version, [acp, "agent", "--demo"]));
  await client.open(folder);
  await run(client, "read README");
  assert.equal(await run(client, "/compact"), "end_turn");
  const updates = client.of(client.sessionId, "compaction_update");
  assert.deepEqual(updates.map(({ status }) => status), ["in_progress", "completed"]);
  assert.ok(updates[1].summary[0].text.length > 0, "the summary");
  assert.equal(await run(client, "list the files"), "end_turn");
});

await kase(name("a session is loaded by another process, with all that was said"), async (keep) => {
  const { client, folder } = await open(keep);
  await run(client, "read README");
  const id = client.sessionId;
  await client.stop();
  const again = keep(new SdkClient(version, [acp, "agent", "--demo"]));
  await again.initialize();
  const place = { sessionId: id, cwd: folder, mcpServers: [] };
  if (version === 1) await again.request("session/load", place);
  else await again.request("session/resume", { ...place, replayFrom: { type: "start" } });
  await again.settled();
  const kinds = again.of(id).map(({ sessionUpdate }) => sessionUpdate);
  assert.ok(kinds.some((kind) => kind.startsWith("user_message")), `${kinds}`);
  assert.ok(kinds.some((kind) => kind.startsWith("tool_call")), `${kinds}`);
  assert.match(again.text(id), /demo model/);
  const { sessions } = await again.request("session/list", { cwd: folder });
  assert.deepEqual(sessions.map(({ sessionId }) => sessionId), [id]);
});

if (version === 1)
  await kase(name("a fork knows what was said, and goes its own way"), async (keep) => {
    const { folder } = keep(repository());
    const client = keep(new PlainClient(acp, "agent", "--demo", "--unstable"));
    const place = { cwd: folder, mcpServers: [] };
    const prompt = (sessionId, words) =>
      client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
    await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await client.request("session/new", place);
    await prompt(sessionId, "remember that tea is hot");
    const fork = await client.request("session/fork", { ...place, sessionId });
    assert.notEqual(fork.sessionId, sessionId);
    await prompt(fork.sessionId, "what do you remember");
    assert.match(client.text, /- that tea is hot|- tea is hot/);
    await client.stop();
    const again = keep(new PlainClient(acp, "agent", "--demo"));
    await again.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await again.request("session/load", { ...place, sessionId: fork.sessionId });
    assert.match(again.text, /remember that tea is hot.*what do you remember.*tea is hot/s);
  });

await kase(name("a chat of JetBrains goes on where it was"), async (keep) => {
  const { folder } = keep(repository());
  const chats = join(folder, "aia-task-history");
  mkdirSync(chats);
  const touch = (chat, seconds) => {
    writeFileSync(join(chats, `${chat}.events`), "");
    utimesSync(join(chats, `${chat}.events`), seconds, seconds);
  };
  process.env.ACP_CLIENT_JETBRAINS = "1";
  process.env.ACP_JETBRAINS_HISTORY = chats;
  const begin = async () => {
    const client = keep(new SdkClient(version, [acp, "agent", "--demo"]));
    await client.open(folder);
    return client;
  };
  try {
    touch("one", 1000);
    const first = await begin();
    await run(first, "remember that tea is hot");
    await first.stop();
    touch("two", 2000);
    const second = await begin();
    assert.notEqual(second.sessionId, first.sessionId);
    await second.stop();
    touch("one", 3000);
    const third = await begin();
    assert.equal(third.sessionId, first.sessionId);
    await run(third, "what do you remember");
    assert.match(third.text(), /tea is hot/);
  } finally {
    delete process.env.ACP_CLIENT_JETBRAINS;
    delete process.env.ACP_JETBRAINS_HISTORY;
  }
});

rmSync(home, { recursive: true });
end();
