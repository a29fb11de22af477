// What the built-in coding agent reads because of its name: AGENTS.md, CLAUDE.md and .acp/commands.
// Whoever can write in the folder can put links there, the model's own commands included; nothing that
// lies outside, that is not a file, or that a rule denies, may reach the model or the client.
//
//     node coding-agent-notes.mjs VERSION ACP

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { CodingAgent, KEY, configure, ownHome } from "./coding-agent-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const SECRET = "the-private-key-of-somebody";
const SEEN = { reply: [{ text: "Seen." }] };

const name = (what) => `v${version} agent: ${what}`;
const make = (keep) => keep(new CodingAgent(version, acp, "anthropic", []));
const put = (agent, path, text) => {
  mkdirSync(dirname(join(agent.folder, path)), { recursive: true });
  writeFileSync(join(agent.folder, path), text);
};
const link = (agent, target, path) => {
  mkdirSync(dirname(join(agent.folder, path)), { recursive: true });
  symlinkSync(target, join(agent.folder, path));
};
const bodies = (agent) => JSON.stringify(agent.model.requests.map(({ body }) => body));
const lines = (agent) => JSON.stringify(agent.client.lines) + agent.client.errors;
/** In version 2 they are told with the session, in version 1 after it. */
const commandNames = (agent) =>
  (agent.setup.availableCommands ?? agent.of("available_commands_update").at(-1).availableCommands)
    .map((command) => command.name);

/** A folder beside the session's, with a secret in it. */
function outside(keep) {
  const folder = mkdtempSync(join(tmpdir(), "acp-outside-"));
  writeFileSync(join(folder, "key"), `${SECRET}\n`);
  writeFileSync(join(folder, "x.md"), `# ${SECRET}\n`);
  keep({ stop: () => (rmSync(folder, { recursive: true }), { failures: [], checked: 0 }) });
  return folder;
}

function assertNothingTold(agent) {
  for (const word of [SECRET, KEY, "ANTHROPIC_API_KEY="]) {
    assert.ok(!bodies(agent).includes(word), `the model was told ${word}`);
    assert.ok(!lines(agent).includes(word), `the client was told ${word}`);
  }
}

async function good() {
  await kase(name("instructions are read, and through links that stay inside"), async (keep) => {
    const agent = make(keep);
    put(agent, "docs/agents/main.md", "Use tabs.\n");
    link(agent, "docs/agents/main.md", "CLAUDE.md");
    link(agent, "CLAUDE.md", "AGENTS.md");
    put(agent, ".acp/commands/plain.md", "# Says it\nSay $ARGUMENTS.\n");
    link(agent, "../../docs/agents/main.md", ".acp/commands/linked.md");
    await agent.open([SEEN, SEEN, SEEN]);
    await agent.stops("hi", "end_turn");
    for (const file of ["AGENTS.md", "CLAUDE.md"]) assert.ok(bodies(agent).includes(`${file} says:\\n\\nUse tabs.`));
    const names = commandNames(agent);
    assert.ok(names.includes("plain") && names.includes("linked"), names.join());
    await agent.stops("/plain hello", "end_turn");
    assert.match(bodies(agent), /Say hello\./);
    await agent.stops("/linked", "end_turn");
  });

  await kase(name("of a huge file the beginning is read, cut between characters"), async (keep) => {
    const agent = make(keep);
    put(agent, "AGENTS.md", `x${"\u00e9".repeat(200_000)}`);
    await agent.open([SEEN]);
    await agent.stops("hi", "end_turn");
    const body = bodies(agent);
    assert.ok(body.includes("\u00e9\u00e9\u00e9") && !body.includes("\ufffd"));
    assert.ok(body.length < 120_000, `${body.length}`);
  });

  await kase(name("a hard link is a file like any other"), async (keep) => {
    const agent = make(keep);
    put(agent, "real.md", "Use tabs.\n");
    linkSync(join(agent.folder, "real.md"), join(agent.folder, "AGENTS.md"));
    await agent.open([SEEN]);
    await agent.stops("hi", "end_turn");
    assert.match(bodies(agent), /Use tabs/);
  });
}

/** How a name can lead to what is not to be read: [words, what puts it at the path]. */
const TRAPS = [
  ["an absolute link to a key", (agent, path, away) => link(agent, join(away, "key"), path)],
  ["a link out by ..", (agent, path, away) => link(agent, join(relativeTop(path), "..", away.split("/").at(-1), "key"), path)],
  ["a link to /proc/self/environ", (agent, path) => link(agent, "/proc/self/environ", path)],
  ["a chain of links", (agent, path, away) => {
    link(agent, away, "way");
    link(agent, join(relativeTop(path), "way", "key"), path);
  }],
  ["a folder", (agent, path) => mkdirSync(join(agent.folder, path), { recursive: true })],
  ["a pipe", (agent, path) => {
    mkdirSync(dirname(join(agent.folder, path)), { recursive: true });
    execFileSync("mkfifo", [join(agent.folder, path)]);
  }],
  ["a device", (agent, path) => link(agent, "/dev/zero", path)],
  ["no text", (agent, path) => put(agent, path, Buffer.from(`\u0000${SECRET}`))],
  ["a file that a rule denies", (agent, path) => {
    put(agent, "sub/.env", SECRET);
    link(agent, join(relativeTop(path), "sub/.env"), path);
  }],
  ["a file that a rule wants asked", (agent, path) => {
    put(agent, "asked/key", SECRET);
    link(agent, join(relativeTop(path), "asked/key"), path);
  }],
];
const relativeTop = (path) => "../".repeat(path.split("/").length - 1) || ".";

async function traps() {
  for (const [words, set] of TRAPS)
    await kase(name(`${words} in the place of what is read by name`), async (keep) => {
      const takeAway = configure({
        permissions: { rules: [{ verdict: "deny", path: "**/.env" }, { verdict: "ask", path: "asked/**" }] },
      });
      const away = outside(keep);
      const agent = make(keep);
      for (const path of ["AGENTS.md", "CLAUDE.md", ".acp/commands/x.md"]) {
        rmSync(join(agent.folder, "way"), { force: true });
        set(agent, path, away);
      }
      await agent.open([SEEN, SEEN]);
      await agent.stops("hi", "end_turn");
      await agent.stops("/x now", "end_turn");
      assert.ok(!commandNames(agent).includes("x"));
      assertNothingTold(agent);
      assert.match(bodies(agent), /AGENTS\.md could not be read: /);
      takeAway();
    });

  for (const path of [".acp/commands", ".acp"])
    await kase(name(`${path} is a link that leads out`), async (keep) => {
      const away = outside(keep);
      const agent = make(keep);
      mkdirSync(join(away, "commands"));
      writeFileSync(join(away, "commands", "x.md"), `# ${SECRET}\n`);
      link(agent, away, path);
      await agent.open([SEEN]);
      await agent.stops("hi", "end_turn");
      await agent.stops("/x now", "end_turn");
      assert.ok(!commandNames(agent).includes("x"));
      assertNothingTold(agent);
    });

  await kase(name("a link that is made during the session"), async (keep) => {
    const away = outside(keep);
    const agent = make(keep);
    put(agent, "AGENTS.md", "Use tabs.\n");
    await agent.open([SEEN, SEEN]);
    await agent.stops("hi", "end_turn");
    rmSync(join(agent.folder, "AGENTS.md"));
    link(agent, join(away, "key"), "AGENTS.md");
    await agent.stops("hi again", "end_turn");
    assertNothingTold(agent);
  });
}

begin();
const clean = ownHome();
await good();
await traps();
clean();
end();
