// The scripted model by itself: what each API says of the same turn, whole and in a stream, and
// everything that can be made to go wrong.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end } from "../conformance/tap.mjs";
import { kase, within } from "../interop/cases.mjs";
import { APIS, ask, eventsIn, post } from "./asking.mjs";
import { ModelServer } from "./server.mjs";

const modelCase = (what, script, body) =>
  kase(what, async (keep) => {
    const model = await new ModelServer(script).start();
    keep({ stop: async () => (await model.stop(), { failures: [], checked: 1 }) });
    await body(model);
  });

begin();

const ARGUMENTS = { path: "a", content: "zwölf Boxkämpfer jagen Viktor" };
const CALLING = {
  turns: [
    { when: { last: "tool", result: "fine" }, reply: [{ text: ["All ", "dö", "ne"] }] },
    {
      when: { last: "user", prompt: "^please", tool: "write", model: "^m$" },
      reply: [{ text: "I write. " }, { tool: "write", arguments: ARGUMENTS }],
    },
  ],
};

for (const [name, api] of Object.entries(APIS)) {
  await modelCase(`${name}: a call and its result`, CALLING, async (model) => {
    const calls = [["write", JSON.stringify(ARGUMENTS)]];
    for (const result of [undefined, "fine"]) {
      const whole = await ask(model, api, { stream: false, result });
      const streamed = await ask(model, api, { result });
      const expected = result
        ? { text: "All döne", calls: [], stop: api.stops.end }
        : { text: "I write. ", calls, stop: api.stops.tool };
      assert.equal(whole.status, 200);
      assert.deepEqual(api.ofWhole(JSON.parse(whole.text)), expected);
      assert.match(streamed.headers["content-type"], /^text\/event-stream/);
      assert.deepEqual(api.ofStream(eventsIn(streamed.text)), { ...expected, over: true });
    }
    assert.deepEqual(
      model.requests.map(({ api: by, turn, ended }) => [by, turn, ended]),
      [1, 1, 0, 0].map((turn) => [name, turn, "sent"]),
    );
  });

  const stops = Object.keys(api.stops).map((stop) => ({ times: 1, stop, reply: [{ text: "x" }] }));
  await modelCase(`${name}: every reason to stop`, { turns: stops }, async (model) => {
    for (const expected of Object.values(api.stops)) {
      const { text } = await ask(model, api);
      assert.equal(api.ofStream(eventsIn(text)).stop, expected);
    }
  });

  const failing = {
    turns: [
      { times: 1, error: { status: 429, message: "slowly", headers: { "retry-after": "3" } } },
      { times: 1, reply: [{ text: "a" }, { error: { message: "midway" } }, { text: "b" }] },
    ],
  };
  await modelCase(`${name}: errors before and in a stream, and no turn`, failing, async (model) => {
    const refused = await ask(model, api);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers["retry-after"], "3");
    assert.equal(api.message(JSON.parse(refused.text)), "slowly");
    const said = api.ofStream(eventsIn((await ask(model, api)).text));
    assert.deepEqual([said.text, said.error, said.over], ["a", "midway", false]);
    const none = await ask(model, api);
    assert.equal(none.status, 400);
    assert.deepEqual(
      model.unexpected().map((one) => one.number),
      [2],
    );
  });

  const breaking = {
    turns: [
      { times: 1, reply: [{ text: "a" }, { cut: true }] },
      { times: 1, reply: [{ text: "a" }, { stall: true }] },
      { times: 1, reply: [{ text: "a" }, { raw: "data: {\n\n" }, { wait: 30 }] },
      { times: 1, split: 1, reply: [{ text: "ö" }] },
    ],
  };
  await modelCase(`${name}: streams that are cut, stall or are broken`, breaking, async (model) => {
    const cut = await ask(model, api);
    assert.equal(cut.clean, false);
    assert.match(cut.text, /"a"/);
    const stalled = await ask(model, api, {}, { leaveAfter: '"a"' });
    assert.equal(stalled.clean, false);
    const broken = await ask(model, api);
    assert.match(broken.text, /\n\ndata: \{\n\n/);
    const split = await ask(model, api);
    assert.equal(split.parts.length > 20, true);
    assert.equal(api.ofStream(eventsIn(split.text)).text, "ö");
    assert.deepEqual(
      model.requests.map((one) => one.ended),
      ["cut", "left", "sent", "sent"],
    );
  });
}

await modelCase("tokens are counted, and other requests are refused", CALLING, async (model) => {
  const count = await post(model, "/v1/messages/count_tokens", { messages: [] });
  assert.deepEqual(JSON.parse(count.text), { input_tokens: 10 });
  const gemini = await post(model, "/v1beta/models/m:countTokens", {});
  assert.deepEqual(JSON.parse(gemini.text), { totalTokens: 10 });
  assert.equal((await post(model, "/v1/nothing", {})).status, 404);
});

await kase("a script with something unknown in it is refused", async () => {
  const refused = (turn, why) => assert.throws(() => new ModelServer({ turns: [turn] }), why);
  refused({ replies: [] }, /turn 0: there is no "replies"/);
  refused({ when: { who: "x" } }, /there is no "who"/);
  refused({ reply: [{ txt: "x" }] }, /a piece is one of/);
  refused({ reply: [{ text: "x", tool: "y" }] }, /a piece is one of/);
  refused({ stop: "never" }, /stop is one of/);
});

await kase("a program of its own tells its port and what was asked, and ends in time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "acp-model-"));
  const path = join(folder, "script.json");
  writeFileSync(path, JSON.stringify(CALLING));
  const program = fileURLToPath(new URL("server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, path], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("close", (code) => done(code)));
  try {
    const told = new Promise((done) => child.stdout.once("data", done));
    const line = await within(5000, "its port", told);
    const url = `http://127.0.0.1:${String(line).match(/^listening on (\d+)\n$/)[1]}`;
    const api = APIS.anthropic;
    const { text } = await ask({ url }, api);
    assert.equal(api.ofStream(eventsIn(text)).text, "I write. ");
    const requests = await (await fetch(`${url}/_requests`)).json();
    assert.deepEqual(
      requests.map((one) => [one.path, one.turn, one.asked.tools]),
      [["/v1/messages", 1, ["write"]]],
    );
    child.stdin.end();
    assert.equal(await within(5000, "its end", ended), 0);
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
});

await modelCase(
  "lists of models and web pages",
  { models: ["m1"], turns: [{ error: { status: 502, page: "<html>bad gateway</html>" } }] },
  async (model) => {
    const openai = await (await fetch(`${model.url}/v1/models`)).json();
    assert.deepEqual(openai.data.map(({ id }) => id), ["m1"]);
    const gemini = await (await fetch(`${model.url}/v1beta/models`)).json();
    assert.deepEqual(gemini.models.map(({ name }) => name), ["models/m1"]);
    const body = JSON.stringify(APIS.anthropic.body({ stream: true }));
    const page = await fetch(`${model.url}/v1/messages`, { method: "POST", body });
    assert.equal(page.status, 502);
    assert.match(page.headers.get("content-type"), /html/);
    assert.equal(await page.text(), "<html>bad gateway</html>");
  },
);

end();
