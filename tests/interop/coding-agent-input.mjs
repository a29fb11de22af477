// What prompts of the built-in coding agent may hold besides words: links to files, which are read
// where the tools read, and embedded resources.
//
//     node coding-agent-input.mjs VERSION ACP

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { APIS, CodingAgent, ownHome } from "./coding-agent-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);

const text = (words) => ({ type: "text", text: words });
const link = (uri) => ({ type: "resource_link", uri, name: "it" });
const blob = (mimeType, data) => ({ type: "resource", resource: { uri: "test:blob", blob: data, mimeType } });
const base64 = (words) => Buffer.from(words).toString("base64");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const make = (keep, api) => keep(new CodingAgent(version, acp, api, []));
const open = (keep, api = "anthropic") => make(keep, api).open([{ reply: [{ text: "Seen." }] }]);
/** All words of the user in the last request. */
const told = (agent) => agent.sent(-1).said.map(({ text: words }) => words).join("\n");

/** Without white space around it, a file's content in a request. */
const given = (uri, content) => `<resource uri="${uri}">\n${content}\n</resource>`;

async function links(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;

  await kase(name("a file that a link names is given to the model"), async (keep) => {
    const agent = await open(keep, api);
    const uri = pathToFileURL(join(agent.folder, "a.txt")).href;
    await agent.stops([text("what is in there?"), link(uri)], "end_turn");
    assert.ok(told(agent).includes(given(uri, "apple\n")), told(agent));
    assert.deepEqual(agent.tools(), [], "no tool call is shown for it");
    await agent.stops("and now?", "end_turn");
    assert.ok(told(agent).includes("apple"), "it stays in the conversation");
  });
}

async function more() {
  const name = (what) => `v${version} agent: ${what}`;

  await kase(name("names with blanks and signs, and lines in the link"), async (keep) => {
    const agent = await open(keep);
    writeFileSync(join(agent.folder, "50% gr\u00fcn #1?.txt"), "melon\n");
    const uri = `${pathToFileURL(join(agent.folder, "50% gr\u00fcn #1?.txt")).href}#L1-2`;
    await agent.stops([link(uri)], "end_turn");
    assert.ok(told(agent).includes(given(uri, "melon\n")), told(agent));
  });

  await kase(name("a link that cannot be followed is told with the reason, and the turn goes on"), async (keep) => {
    const agent = await open(keep);
    mkdirSync(join(agent.folder, "folder"));
    writeFileSync(join(agent.folder, "binary"), Buffer.from([1, 0, 2]));
    const here = (path) => pathToFileURL(join(agent.folder, path)).href;
    const cases = [
      ["https://example.com/page", /^\(the user links to https:\/\/example\.com\/page\)$/],
      [here("gone"), /was not read: .*not found/],
      [here("folder"), /was not read: .*directory/],
      [here("binary"), /was not read: .*binary/],
      ["file:///etc/hostname", /was not read: .*outside the workspace/],
      [`${here("folder")}/../../elsewhere`, /was not read: .*outside the workspace/],
      ["file://server/share/x", /it is not a file on this machine/],
      ["file:///a%00b", /it is not a file on this machine/],
    ];
    await agent.stops([text("look"), ...cases.map(([uri]) => link(uri))], "end_turn");
    const words = agent.sent(-1).said.map((entry) => entry.text);
    assert.equal(words.length, cases.length + 1);
    for (const [i, [uri, expected]] of cases.entries()) {
      assert.match(words[i + 1], expected);
      assert.ok(words[i + 1].includes(uri));
    }
    const titles = agent.of("session_info_update").map(({ title }) => title);
    assert.equal(titles[0], "look", "not the words that stand for a link");
  });

  await kase(name("of a large file the beginning is given, with its size"), async (keep) => {
    const agent = await open(keep);
    writeFileSync(join(agent.folder, "large"), "0123456789abcde\n".repeat(20_000));
    await agent.stops([link(pathToFileURL(join(agent.folder, "large")).href)], "end_turn");
    assert.ok(told(agent).length < 263_000);
    assert.match(told(agent), /beginning of a file of 320000 bytes\. Use the read tool/);
  });

  await kase(name("many large files are not all given"), async (keep) => {
    const agent = await open(keep);
    const uris = [1, 2, 3, 4, 5, 6].map((i) => {
      writeFileSync(join(agent.folder, `large${i}`), "0123456789abcde\n".repeat(20_000));
      return pathToFileURL(join(agent.folder, `large${i}`)).href;
    });
    await agent.stops(uris.map(link), "end_turn");
    assert.equal(told(agent).split("beginning of a file").length - 1, 4);
    assert.equal(told(agent).split("the files of this prompt are too long together").length - 1, 2);
  });

  if (version === 1) {
    await kase(name("the editor's buffer is given, not the file on the disk"), async (keep) => {
      const agent = make(keep, "anthropic");
      agent.capabilities = { fs: { readTextFile: true, writeTextFile: true } };
      await agent.open([{ reply: [{ text: "Seen." }] }]);
      agent.client.onRead = () => ({ content: "cherry, not saved" });
      const uri = pathToFileURL(join(agent.folder, "a.txt")).href;
      await agent.stops([link(uri)], "end_turn");
      assert.ok(told(agent).includes(given(uri, "cherry, not saved")), told(agent));
    });

    await kase(name("cancel while the editor reads"), async (keep) => {
      const agent = make(keep, "anthropic");
      agent.capabilities = { fs: { readTextFile: true, writeTextFile: true } };
      await agent.open([{ reply: [{ text: "Seen." }] }]);
      agent.client.onRead = () => new Promise(() => {});
      const uris = ["a.txt", "b.txt"].map((path) => pathToFileURL(join(agent.folder, path)).href);
      const turn = agent.run([text("look"), ...uris.map(link)]);
      await agent.client.until("the question", () => agent.client.requests.includes("fs/read_text_file"));
      await agent.client.cancel();
      assert.equal((await turn).stop, "cancelled");
      assert.equal(agent.requests().length, 0);
      await agent.stops("two", "end_turn");
      assert.match(told(agent), /look/, "what the user said stays said");
    });

    await kase(name("the client goes while its editor reads"), async (keep) => {
      const agent = make(keep, "anthropic");
      agent.capabilities = { fs: { readTextFile: true } };
      await agent.open([{ reply: [{ text: "Seen." }] }]);
      agent.client.onRead = () => new Promise(() => {});
      agent.run([link(pathToFileURL(join(agent.folder, "a.txt")).href)]).catch(() => {});
      await agent.client.until("the question", () => agent.client.requests.includes("fs/read_text_file"));
    });
  }
}

async function blobs(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;

  await kase(name("resources of bytes: text and pictures are taken"), async (keep) => {
    const agent = await open(keep, api);
    const blocks = [
      text("look"),
      blob("application/json", base64('{"fruit":"fig"}')),
      blob("text/plain; charset=utf-8", base64("gr\u00fcn")),
      blob("image/svg+xml", base64("<svg/>")),
      blob(undefined, base64("no type")),
      blob("image/png", PIXEL),
      { type: "image", data: PIXEL, mimeType: "image/png" },
    ];
    await agent.stops(blocks, "end_turn");
    for (const words of ['{"fruit":"fig"}', "gr\u00fcn", "<svg/>", "no type"])
      assert.ok(told(agent).includes(given("test:blob", words)), words);
    assert.equal(told(agent).split("[image/png]").length - 1, 2);
  });

  await kase(name("resources that the model cannot take are described to it, and the turn goes on"), async (keep) => {
    const agent = await open(keep, api);
    const audio = api === "anthropic" || api === "openai-responses" ? [["audio/wav", base64("RIFF"), "4 bytes", "type"]] : [];
    for (const [type, data, size, why] of [
      ["application/pdf", base64("%PDF-1.7"), "8 bytes", "type"],
      ["application/zip", base64("PK"), "2 bytes", "type"],
      ["text/plain", Buffer.from([0xff, 0xfe]).toString("base64"), "2 bytes", "not UTF-8"],
      ["text/plain", "a*b", "bytes", "base64 is invalid"],
      ["application/octet-stream", "", "0 bytes", "type"],
      ...audio,
    ]) {
      await agent.stops([text("look"), blob(type, data)], "end_turn");
      const said = told(agent);
      for (const words of ["look", "test:blob", type, size, why]) assert.ok(said.includes(words), `${words}: ${said}`);
    }
    await agent.stops("two", "end_turn");
  });

  await kase(name("capabilities tell what is taken"), async (keep) => {
    const agent = await open(keep, api);
    const { agentCapabilities, capabilities } = agent.client.initialized;
    const takes = agentCapabilities?.promptCapabilities ?? capabilities.session.prompt;
    assert.ok(takes.image);
    assert.ok(takes.embeddedContext);
    assert.equal(Boolean(takes.audio), api === "gemini" || api === "openai-chat");
  });
}

const clean = ownHome();
begin();
for (const api of APIS) {
  await links(api);
  await blobs(api);
}
await more();
clean();
end();
