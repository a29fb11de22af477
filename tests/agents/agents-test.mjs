// acp exec and acp prompt with the agents of others and the scripted model.
//
//     node agents-test.mjs ACP NAME
//
// Prints TAP; skips where the agent is not installed (scripts/setup-npm --agents NAME).

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end, skip } from "../conformance/tap.mjs";
import { kase } from "../interop/cases.mjs";
import { gone, until } from "../interop/processes.mjs";
import { Acp } from "./acp-side.mjs";
import { AGENTS, missing, versionOf } from "./agents.mjs";

const [program, name] = process.argv.slice(2);
const CASE_MS = 300_000;
const agent = AGENTS[name];
const flags = agent.flags ?? [];
const TEXT = "written by a script";

/** A model for all cases; the words of the prompt choose. */
function script(file, write = agent.write) {
  const turn = (prompt, reply) => ({ when: { tool: agent.main, last: "user", prompt }, reply });
  return {
    turns: [
      turn("scripted-say", [{ text: ["Hel", "lo"] }]),
      turn("scripted-write", [{ text: "I write it." }, write(file, TEXT)]),
      turn("scripted-wait", [{ text: "begun" }, { stall: true }]),
      {
        when: { tool: agent.main, prompt: "scripted-fail" },
        error: { status: 400, message: "scripted failure" },
      },
      { when: { tool: agent.main, last: "tool" }, reply: [{ text: ["All ", "done."] }] },
      { reply: [{ text: "Something" }] }, // titles, suggestions and what else they want to know
    ],
  };
}

const agentCase = (what, body) =>
  kase(
    `${name}: ${what}`,
    async (keep) => {
      const acp = keep(new Acp(resolve(program), name));
      await acp.start();
      acp.file = join(acp.cwd, "hello.txt");
      acp.model.say(script(acp.file));
      await body(acp);
    },
    CASE_MS,
  );

const exec = (acp, ...args) => acp.run("exec", ...flags, ...args);
const ofKind = (records, kind) => records.filter((one) => one.kind === kind);

/** The requests of turns with this word in their prompt. */
function askedFor(acp, word) {
  return acp.model.requests.filter(
    (one) => one.asked?.tools.includes(agent.main) && one.asked.prompt.includes(word),
  );
}

const problem = missing(name);
if (problem) skip(problem);
begin();
console.log(`# ${versionOf(name)}`);

await agentCase("a turn of words", async (acp) => {
  const { code, out, err } = await exec(acp, "--format", "quiet", "scripted-say");
  assert.deepEqual({ code, out, err }, { code: 0, out: "Hello\n", err: "" });
  assert.equal(askedFor(acp, "scripted-say").length, 1);
  await acp.nothingRuns();
});

await agentCase("a tool call that is permitted writes a file", async (acp) => {
  const { code, out, err } = await exec(acp, "--approve-all", "scripted-write");
  assert.deepEqual({ code, out, err }, { code: 0, out: "I write it.\nAll done.\n", err: "" });
  assert.equal(readFileSync(acp.file, "utf8"), TEXT);
  rmSync(acp.file);
  const { records } = await acp.records("exec", ...flags, "--approve-all", "scripted-write");
  if (!agent.asksByWriting)
    assert.deepEqual(
      ofKind(records, "permission").map(({ body }) => body.verdict),
      ["allow"],
    );
  assert.notEqual(ofKind(records, "tool_call").length, 0);
  assert.equal(ofKind(records, "stop")[0].body.stopReason, "end_turn");
  await acp.nothingRuns();
});

await agentCase("a tool call that is denied does nothing", async (acp) => {
  const { code } = await exec(acp, "--deny-all", "scripted-write");
  assert.equal(code, 5);
  assert.equal(existsSync(acp.file), false);
  // Nobody can be asked here, which is a no as well.
  assert.equal((await exec(acp, "scripted-write")).code, 5);
  assert.equal(existsSync(acp.file), false);
  await acp.nothingRuns();
});

await agentCase("SIGINT cancels the turn", async (acp) => {
  const turn = acp.begin("exec", ...flags, "scripted-wait");
  await until("the turn's beginning", () => turn.output().includes("begun"));
  turn.interrupt();
  assert.equal((await turn.ended).code, 130);
  await acp.nothingRuns();
  assert.deepEqual(
    askedFor(acp, "scripted-wait").map((one) => one.ended),
    ["left"],
  );
});

await agentCase("an error of the model is told", async (acp) => {
  const { code, out, err } = await exec(acp, "--format", "quiet", "scripted-fail");
  assert.equal(code, agent.saysErrors ? 0 : 1);
  assert.match(agent.saysErrors ? out : err, /scripted failure/);
  await acp.nothingRuns();
});

await agentCase("a session goes on after its agent has died", async (acp) => {
  const prompt = (text) =>
    acp.run("prompt", "--format", "quiet", "--ttl", "60", ...flags, text);
  assert.deepEqual(await prompt("scripted-say first"), { code: 0, out: "Hello\n", err: "" });
  const status = (await acp.records("status")).records[0];
  assert.equal(status.status, "ready");
  process.kill(status.agentPid, "SIGKILL");
  await gone(status.agentPid);
  const { code, out, err } = await prompt("scripted-say second");
  assert.deepEqual({ code, out }, { code: 0, out: "Hello\n" });
  const again = (await acp.records("status")).records[0];
  assert.notEqual(again.agentPid, status.agentPid);
  // The agent still knows what was said before, or we are told that it does not.
  const [asked] = askedFor(acp, "second");
  const knows = /scripted-say first/.test(JSON.stringify(asked.body));
  assert.equal(knows || agent.mayForget, true);
  assert.equal(again.agentSession === status.agentSession, knows);
  assert.match(err, knows ? /^$/ : /^acp: .* cannot go on with the session as it was/);
  assert.equal((await acp.run("sessions", "close")).code, 0);
  await acp.nothingRuns();
});

if (agent.model)
  await agentCase("a model is chosen", async (acp) => {
    const { code } = await exec(acp, "--model", agent.model.id, "scripted-say");
    assert.equal(code, 0);
    // With some models the tools differ, so that the turn cannot be told by them.
    const models = acp.model.requests
      .filter((one) => one.asked?.prompt.includes("scripted-say"))
      .map((one) => one.asked.model);
    assert.match(models.join("\n"), new RegExp(agent.model.asked, "m"));
    if (agent.model.takesAny) return;
    const wrong = await exec(acp, "--model", "no-such-model", "scripted-say");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /no-such-model/);
  });

if (agent.mode)
  await agentCase("a mode in which nothing is asked", async (acp) => {
    acp.model.say(script(acp.file, agent.mode.write));
    const more = [...(agent.mode.flags ?? []), "--mode", agent.mode.id];
    const { code } = await exec(acp, ...more, "scripted-write");
    assert.equal(code, 0);
    assert.equal(readFileSync(acp.file, "utf8"), TEXT);
    const wrong = await exec(acp, "--mode", "no-such-mode", "scripted-say");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /no-such-mode/);
  });

end();
