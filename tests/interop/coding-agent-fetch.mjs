// The fetch tool of the built-in coding agent against a web server on loopback: off by default,
// permitted like any other tool, bounded, and limited to the public internet by default.
//
//     node coding-agent-fetch.mjs ACP

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { CodingAgent, ownHome } from "./coding-agent-side.mjs";
import { until } from "./processes.mjs";

const VERSION = 1;
const acp = resolve(process.argv[2]);
const clean = ownHome();

const ANY = ["--fetch", "any", "--mode", "full"];
const DONE = { when: { last: "tool" }, reply: [{ text: "Done." }] };
const name = (what) => `agent fetches: ${what}`;
const resultIn = ({ said }) => said.filter(({ kind }) => kind === "result").at(-1);

// ---- The web ----

const PAGE = "<html><title>Fruit</title><body><script>evil()</script><h1>Apples</h1><p>Eat <a href='/b'>these</a>.</body>";
const asked = [];
const html = (body, status = 200) => (_, response) =>
  response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(body);
const moved = (to) => (_, response) => response.writeHead(302, { location: to }).end();
const pages = {
  "/page": html(PAGE),
  "/moved": moved("/page"),
  "/round": moved("/round"),
  "/away": (request, response) => moved(`http://localhost:${request.socket.localPort}/page`)(request, response),
  "/user": (request, response) => moved(`http://me:pw@127.0.0.1:${request.socket.localPort}/page`)(request, response),
  "/port": (_, response) => moved(`http://127.0.0.1:${other.address().port}/page`)(_, response),
  "/tls": (request, response) => moved(`https://127.0.0.1:${request.socket.localPort}/page`)(request, response),
  "/mapped": (request, response) => moved(`http://[::ffff:127.0.0.1]:${request.socket.localPort}/page`)(request, response),
  "/file": moved("file:///etc/passwd"),
  "/large": (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("line\n".repeat(600_000)),
  "/image": (_, response) => response.writeHead(200, { "content-type": "image/png" }).end("\x89PNG\0"),
  "/never": () => {},
};
const web = createServer((request, response) => {
  asked.push(request);
  (pages[request.url] ?? html("<p>There is no such page.", 404))(request, response);
});
await new Promise((done) => web.listen(0, "127.0.0.1", done));
// Another server of the same host, which nobody has permitted.
const askedOther = [];
const other = createServer((request, response) => {
  askedOther.push(request.url);
  html("<p>Not for you.")(request, response);
});
await new Promise((done) => other.listen(0, "127.0.0.1", done));
const url = (path) => `http://127.0.0.1:${web.address().port}${path}`;

/** The agent, whose model fetches these addresses one after the other in one reply. */
function open(keep, flags, ...paths) {
  asked.length = 0;
  const reply = paths.map((path) => ({ tool: "fetch", arguments: { url: path.startsWith("/") ? url(path) : path } }));
  return keep(new CodingAgent(VERSION, acp, "anthropic", flags)).open([DONE, { reply }]);
}

begin();

await kase(name("a page, as text, and without a key or a cookie"), async (keep) => {
  const agent = await open(keep, ANY, "/page");
  await agent.stops("go", "end_turn");
  assert.equal(resultIn(agent.sent(-1)).text, "Fruit\n\n# Apples\n\nEat these (/b).");
  const [tool] = agent.tools();
  assert.equal(tool.kind, "fetch");
  assert.equal(tool.status, "completed");
  assert.equal(agent.client.permissions.length, 0);
  assert.deepEqual(Object.keys(asked[0].headers).sort(), ["accept", "host", "user-agent"]);
});

await kase(name("it is asked for where the mode does not allow it"), async (keep) => {
  const agent = await open(keep, ["--fetch", "any", "--mode", "read-only"], "/page");
  await agent.stops("go", "end_turn");
  assert.equal(agent.client.permissions.length, 1);
  assert.equal(asked.length, 1);
  agent.allow("reject_once");
  await agent.stops("again", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /denied permission/);
  assert.equal(asked.length, 1);
});

await kase(name("off by default, and refused in the modes safe and sandbox"), async (keep) => {
  for (const flags of [["--mode", "full"], ["--fetch", "off", "--mode", "full"]]) {
    const agent = await open(keep, flags, "/page");
    await agent.stops("go", "end_turn");
    assert.ok(!agent.sent(0).tools.includes("fetch"), flags.join(" "));
    assert.match(resultIn(agent.sent(-1)).text, /no tool "fetch"/);
  }
  const safe = await open(keep, ["--fetch", "any"], "/page");
  await safe.stops("go", "end_turn");
  assert.match(safe.sent(0).system, /Mode: safe \(refused in this mode: fetch\)/);
  assert.match(resultIn(safe.sent(-1)).text, /not available/);
  const agent = await open(keep, ANY, "/page");
  const isJailed = await agent.setMode("sandbox").then(() => true, () => false);
  if (isJailed) {
    await agent.stops("go", "end_turn");
    assert.match(resultIn(agent.sent(-1)).text, /not available/);
  }
  assert.equal(asked.length, 0);
});

await kase(name("the environment can turn it on, and only public hosts are reached"), async (keep) => {
  process.env.ACP_FETCH = "public";
  const { port } = web.address();
  const hosts = ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"];
  try {
    const agent = await open(keep, ["--mode", "full"], ...hosts.map((host) => `http://${host}:${port}/page`));
    await agent.stops("go", "end_turn");
    const results = agent.sent(-1).said.filter(({ kind }) => kind === "result");
    assert.equal(results.length, hosts.length);
    for (const { text, failed } of results) {
      assert.match(text, /not public/);
      assert.equal(failed, true);
    }
  } finally {
    delete process.env.ACP_FETCH;
  }
  assert.equal(asked.length, 0);
});

await kase(name("redirections: within the host, not for ever, and never to elsewhere"), async (keep) => {
  const agent = await open(keep, ANY, "/moved", "/round", "/away", "/user", "/file", "http://me:pw@127.0.0.1/",
    "http://localhost\\@127.0.0.1/");
  await agent.stops("go", "end_turn");
  const texts = agent.sent(-1).said.filter(({ kind }) => kind === "result").map(({ text }) => text);
  assert.match(texts[0], /^Fruit/);
  assert.match(texts[1], /more than 5 times/);
  assert.match(texts[2], /redirects to http:\/\/localhost:\d+\/page, which has another scheme, host or port/);
  assert.match(texts[3], /a user in it/);
  assert.ok(!/root:/.test(texts[4]), texts[4]);
  assert.match(texts[5], /a user or a password/);
  assert.match(texts[6], /a user or a password/);
  assert.equal(asked.filter((request) => request.url === "/round").length, 6);
});

await kase(name("a redirection to another port or scheme, or the host in other words, is told and not followed"), async (keep) => {
  const agent = await open(keep, ANY, "/port", "/tls", "/mapped");
  await agent.stops("go", "end_turn");
  const texts = agent.sent(-1).said.filter(({ kind }) => kind === "result").map(({ text }) => text);
  for (const text of texts) assert.match(text, /^It redirects to .*, which has another scheme, host or port/);
  assert.deepEqual(askedOther, []);
  assert.deepEqual(asked.map((request) => request.url).sort(), ["/mapped", "/port", "/tls"]);
});

await kase(name("large pages are cut, and what is no page is said to be none"), async (keep) => {
  const agent = await open(keep, ANY, "/large", "/image", "/missing", "http://127.0.0.1:1/");
  await agent.stops("go", "end_turn");
  const results = agent.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.match(results[0].text, /^line\nline\n[^]*\n\[The result was longer and is cut here\.\]/);
  assert.ok(results[0].text.length <= 64 * 1024);
  assert.match(results[1].text, /not text but image\/png/);
  assert.match(results[2].text, /status 404:\s+There is no such page\./);
  assert.match(results[3].text, /nothing answers at 127\.0\.0\.1:1/);
  assert.deepEqual(results.map(({ failed }) => Boolean(failed)), [false, true, true, true]);
});

await kase(name("cancel ends it"), async (keep) => {
  const agent = await open(keep, ANY, "/never");
  const turn = agent.run("go");
  await until("the request", () => asked.length > 0);
  await agent.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  await until("the end of the connection", () => asked[0].destroyed || asked[0].socket.destroyed);
});

web.closeAllConnections();
web.close();
other.close();
clean();
end();
