// What the built-in coding agent reads because of its name: AGENTS.md, CLAUDE.md and .acp/commands.
// Whoever can write in the folder can put links there, the model's own commands included; nothing that
// lies outside, that is no file, or that a rule denies, may reach the model or the client.
//
//     node coder-notes.mjs VERSION ACP

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { Coder, KEY, configure, ownHome } from "./coder-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const SECRET = "the-private-key-of-somebody";
const SEEN = { reply: [{ text: "Seen." }] };

const name = (what) => `v${version} coder: ${what}`;
const make = (keep) => keep(new Coder(version, acp, "anthropic", []));
const put = (coder, path, text) => {
  mkdirSync(dirname(join(coder.folder, path)), { recursive: true });
  writeFileSync(join(coder.folder, path), text);
};
const link = (coder, target, path) => {
  mkdirSync(dirname(join(coder.folder, path)), { recursive: true });
  symlinkSync(target, join(coder.folder, path));
};
const bodies = (coder) => JSON.stringify(coder.model.requests.map(({ body }) => body));
const lines = (coder) => JSON.stringify(coder.client.lines) + coder.client.errors;
/** In version 2 they are told with the session, in version 1 after it. */
const commandNames = (coder) =>
  (coder.setup.availableCommands ?? coder.of("available_commands_update").at(-1).availableCommands)
    .map((command) => command.name);

/** A folder beside the session's, with a secret in it. */
function outside(keep) {
  const folder = mkdtempSync(join(tmpdir(), "acp-outside-"));
  writeFileSync(join(folder, "key"), `${SECRET}\n`);
  writeFileSync(join(folder, "x.md"), `# ${SECRET}\n`);
  keep({ stop: () => (rmSync(folder, { recursive: true }), { failures: [], checked: 0 }) });
  return folder;
}

function assertNothingTold(coder) {
  for (const word of [SECRET, KEY, "ANTHROPIC_API_KEY="]) {
    assert.ok(!bodies(coder).includes(word), `the model was told ${word}`);
    assert.ok(!lines(coder).includes(word), `the client was told ${word}`);
  }
}

async function good() {
  await kase(name("instructions are read, and through links that stay inside"), async (keep) => {
    const coder = make(keep);
    put(coder, "docs/agents/main.md", "Use tabs.\n");
    link(coder, "docs/agents/main.md", "CLAUDE.md");
    link(coder, "CLAUDE.md", "AGENTS.md");
    put(coder, ".acp/commands/plain.md", "# Says it\nSay $ARGUMENTS.\n");
    link(coder, "../../docs/agents/main.md", ".acp/commands/linked.md");
    await coder.open([SEEN, SEEN, SEEN]);
    await coder.stops("hi", "end_turn");
    for (const file of ["AGENTS.md", "CLAUDE.md"]) assert.ok(bodies(coder).includes(`${file} says:\\n\\nUse tabs.`));
    const names = commandNames(coder);
    assert.ok(names.includes("plain") && names.includes("linked"), names.join());
    await coder.stops("/plain hello", "end_turn");
    assert.match(bodies(coder), /Say hello\./);
    await coder.stops("/linked", "end_turn");
  });

  await kase(name("of a huge file the beginning is read, cut between characters"), async (keep) => {
    const coder = make(keep);
    put(coder, "AGENTS.md", `x${"\u00e9".repeat(200_000)}`);
    await coder.open([SEEN]);
    await coder.stops("hi", "end_turn");
    const body = bodies(coder);
    assert.ok(body.includes("\u00e9\u00e9\u00e9") && !body.includes("\ufffd"));
    assert.ok(body.length < 120_000, `${body.length}`);
  });

  await kase(name("a hard link is a file like any other"), async (keep) => {
    const coder = make(keep);
    put(coder, "real.md", "Use tabs.\n");
    linkSync(join(coder.folder, "real.md"), join(coder.folder, "AGENTS.md"));
    await coder.open([SEEN]);
    await coder.stops("hi", "end_turn");
    assert.match(bodies(coder), /Use tabs/);
  });
}

/** How a name can lead to what is not to be read: [words, what puts it at the path]. */
const TRAPS = [
  ["an absolute link to a key", (coder, path, away) => link(coder, join(away, "key"), path)],
  ["a link out by ..", (coder, path, away) => link(coder, join(relativeTop(path), "..", away.split("/").at(-1), "key"), path)],
  ["a link to /proc/self/environ", (coder, path) => link(coder, "/proc/self/environ", path)],
  ["a chain of links", (coder, path, away) => {
    link(coder, away, "way");
    link(coder, join(relativeTop(path), "way", "key"), path);
  }],
  ["a folder", (coder, path) => mkdirSync(join(coder.folder, path), { recursive: true })],
  ["a pipe", (coder, path) => {
    mkdirSync(dirname(join(coder.folder, path)), { recursive: true });
    execFileSync("mkfifo", [join(coder.folder, path)]);
  }],
  ["a device", (coder, path) => link(coder, "/dev/zero", path)],
  ["no text", (coder, path) => put(coder, path, Buffer.from(`\u0000${SECRET}`))],
  ["a file that a rule denies", (coder, path) => {
    put(coder, "sub/.env", SECRET);
    link(coder, join(relativeTop(path), "sub/.env"), path);
  }],
  ["a file that a rule wants asked", (coder, path) => {
    put(coder, "asked/key", SECRET);
    link(coder, join(relativeTop(path), "asked/key"), path);
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
      const coder = make(keep);
      for (const path of ["AGENTS.md", "CLAUDE.md", ".acp/commands/x.md"]) {
        rmSync(join(coder.folder, "way"), { force: true });
        set(coder, path, away);
      }
      await coder.open([SEEN, SEEN]);
      await coder.stops("hi", "end_turn");
      await coder.stops("/x now", "end_turn");
      assert.ok(!commandNames(coder).includes("x"));
      assertNothingTold(coder);
      assert.match(bodies(coder), /AGENTS\.md was not read for you: /);
      takeAway();
    });

  for (const path of [".acp/commands", ".acp"])
    await kase(name(`${path} is a link that leads out`), async (keep) => {
      const away = outside(keep);
      const coder = make(keep);
      mkdirSync(join(away, "commands"));
      writeFileSync(join(away, "commands", "x.md"), `# ${SECRET}\n`);
      link(coder, away, path);
      await coder.open([SEEN]);
      await coder.stops("hi", "end_turn");
      await coder.stops("/x now", "end_turn");
      assert.ok(!commandNames(coder).includes("x"));
      assertNothingTold(coder);
    });

  await kase(name("a link that is made during the session"), async (keep) => {
    const away = outside(keep);
    const coder = make(keep);
    put(coder, "AGENTS.md", "Use tabs.\n");
    await coder.open([SEEN, SEEN]);
    await coder.stops("hi", "end_turn");
    rmSync(join(coder.folder, "AGENTS.md"));
    link(coder, join(away, "key"), "AGENTS.md");
    await coder.stops("hi again", "end_turn");
    assertNothingTold(coder);
  });
}

begin();
const clean = ownHome();
await good();
await traps();
clean();
end();
