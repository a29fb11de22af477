// The built-in coding agent is told by its client where to ask models, while it runs.
//
//     node coding-agent-providers.mjs VERSION ACP

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { ModelServer } from "../model/server.mjs";
import { kase } from "./cases.mjs";
import { KEY, ownHome } from "./coding-agent-side.mjs";
import { PlainClient } from "./plain-client.mjs";
import { until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (what) => `v${version} agent: ${what}`;
const SECRET = "gateway-secret-0123456789";
const AUTH = { Authorization: `Bearer ${SECRET}`, "X-Team": "red" };

/** A model that stops with the case. */
async function modelOf(keep, ...turns) {
  const model = await new ModelServer({ turns }).start();
  keep({ stop: async () => (await model.stop(), { failures: [], checked: 1 }) });
  return model;
}

/** The agent with a session; its model of the environment is Anthropic's API at that URL. */
async function open(keep, url, ...flags) {
  const folder = mkdtempSync(join(tmpdir(), "acp-providers-"));
  keep({ stop: async () => (rmSync(folder, { recursive: true }), { failures: [], checked: 1 }) });
  const words = url ? ["env", `ANTHROPIC_API_KEY=${KEY}`, `ANTHROPIC_BASE_URL=${url}`] : [];
  const client = keep(new PlainClient(...words, acp, "agent", ...(url ? [] : ["--demo"]), ...flags));
  client.initialized = await client.initialize(version);
  const { sessionId } = await client.request("session/new", { cwd: folder, mcpServers: [] });
  client.say = (text) => client.prompt(sessionId, text);
  client.sessionId = sessionId;
  return client;
}

const SAYS = (text) => ({ reply: [{ text }] });
const UNSTABLE = "--unstable";
const set = (client, apiType, baseUrl, headers, providerId = "main") =>
  client.request("providers/set", { providerId, apiType, baseUrl, headers });
const current = async (client) => (await client.request("providers/list", {})).providers[0].current;

const clean = ownHome();
begin();

await kase(name("providers are offered, and listed without keys"), async (keep) => {
  const model = await modelOf(keep, SAYS("Hm."));
  const client = await open(keep, model.url.replace("//", "//user:pass-0123@"), UNSTABLE);
  const { agentCapabilities, capabilities } = client.initialized;
  assert.deepEqual((agentCapabilities ?? capabilities).providers, {});
  const { providers } = await client.request("providers/list", {});
  assert.deepEqual(providers, [
    {
      providerId: "main",
      supported: ["anthropic", "openai", "_openai-responses", "_gemini"],
      required: false,
      current: { apiType: "anthropic", baseUrl: model.url },
    },
  ]);
});

await kase(name("without the switch there are no such requests"), async (keep) => {
  const client = await open(keep);
  const { agentCapabilities, capabilities } = client.initialized;
  assert.equal((agentCapabilities ?? capabilities).providers, undefined);
  assert.equal((await client.request("providers/list", {})).code, -32601);
  assert.equal((await client.request("_own/request", {})).code, -32601);
});

for (const [apiType, path, api] of [
  ["anthropic", "", "anthropic"],
  ["anthropic", "/v1/", "anthropic"],
  ["openai", "/v1", "openai-chat"],
  ["_openai-responses", "/v1", "openai-responses"],
  ["_gemini", "/v1beta", "gemini"],
])
  await kase(name(`a provider is set: ${apiType} at ${path || "/"}`), async (keep) => {
    const old = await modelOf(keep, SAYS("I am the old one."));
    const model = await modelOf(keep, SAYS("I am the new one."));
    const client = await open(keep, old.url, UNSTABLE);
    await client.say("one");
    assert.deepEqual(await set(client, apiType, model.url + path, AUTH), {});
    assert.equal((await client.say("two")).stopReason, "end_turn");
    assert.equal(client.text, "I am the old one.I am the new one.");
    const asked = model.requests.filter((request) => request.asked);
    assert.equal(asked.length, 1);
    assert.equal(asked[0].api, api);
    assert.equal(asked[0].headers.authorization, `Bearer ${SECRET}`);
    assert.equal(asked[0].headers["x-team"], "red");
    assert.ok(!JSON.stringify(model.requests).includes(KEY), "the key of the environment is not for this one");
    assert.ok(!JSON.stringify(await client.request("providers/list", {})).includes(SECRET));
    assert.equal((await current(client)).apiType, apiType);
    // All of it is replaced: no headers are none.
    await set(client, apiType, model.url + path);
    await client.say("three");
    assert.equal(model.requests.at(-1).headers.authorization, undefined);
  });

await kase(name("the demo gives way to a provider"), async (keep) => {
  const model = await modelOf(keep, SAYS("I am real."));
  const client = await open(keep, undefined, UNSTABLE);
  assert.deepEqual(await current(client), { apiType: "_demo", baseUrl: "demo:offline" });
  await set(client, "openai", `${model.url}/v1`);
  await client.say("hello");
  assert.match(client.text, /I am real\./);
});

await kase(name("what cannot be set is refused, and changes nothing"), async (keep) => {
  const model = await modelOf(keep, SAYS("Hm."));
  const client = await open(keep, model.url, UNSTABLE);
  const before = await current(client);
  for (const [wrong, expected] of [
    [set(client, "anthropic", model.url, {}, "other"), /no such provider/],
    [set(client, "bedrock", model.url), /apiType is not supported/],
    [set(client, "_mine", model.url), /apiType is not supported/],
    [set(client, "_demo", model.url), /apiType is not supported/],
    [set(client, "anthropic", "ftp://example.com"), /begins with http/],
    [set(client, "anthropic", "http://user:word@127.0.0.1/"), /must not contain a user or password/],
    [set(client, "anthropic", model.url, { "a b": "c" }), /header/],
    [set(client, "anthropic", model.url, { a: "b\r\nc: d" }), /header/],
  ]) {
    const { code, message } = await wrong;
    assert.equal(code, -32602);
    assert.match(message, expected);
  }
  assert.deepEqual(await current(client), before);
  assert.equal((await client.say("one")).stopReason, "end_turn");
});

await kase(name("a provider's secrets are not told, also when it repeats them"), async (keep) => {
  const message = `wrong token ${SECRET}, or ${SECRET.slice(0, 12)}****`;
  const model = await modelOf(keep, { error: { status: 401, message } });
  const client = await open(keep, undefined, UNSTABLE);
  await set(client, "anthropic", model.url, AUTH);
  assert.match((await client.say("one")).message, /key/);
  assert.ok(!client.lines.join("").includes(SECRET.slice(0, 12)));
});

await kase(name("a provider that is disabled is asked no more, until one is set"), async (keep) => {
  const model = await modelOf(keep, SAYS("Hm."));
  const client = await open(keep, model.url, UNSTABLE);
  assert.deepEqual(await client.request("providers/disable", { providerId: "other" }), {});
  assert.ok(await current(client), "one that is not known is disabled already");
  assert.deepEqual(await client.request("providers/disable", { providerId: "main" }), {});
  assert.equal((await current(client)) ?? null, null);
  assert.match((await client.say("one")).message, /disabled/);
  assert.equal(model.requests.filter((request) => request.asked).length, 0);
  assert.ok((await client.say("/help")).stopReason, "commands need no model");
  await set(client, "anthropic", model.url);
  assert.equal((await client.say("two")).stopReason, "end_turn");
});

await kase(name("disabling ends the answer that is on its way"), async (keep) => {
  const model = await modelOf(keep, { reply: [{ text: "begun" }, { stall: true }] });
  const client = await open(keep, model.url, UNSTABLE);
  const turn = client.say("one");
  await until("the answer", () => client.text.includes("begun"));
  await client.request("providers/disable", { providerId: "main" });
  assert.match((await turn).message, /disabled/);
  // Its list of models may be asked for at any time.
  const answer = model.requests.find(({ asked }) => asked);
  await until("the end", () => answer.ended === "left");
});

await kase(name("setting another one lets the answer that is on its way come to its end"), async (keep) => {
  const old = await modelOf(keep, { reply: [{ text: "begun" }, { wait: 200 }, { text: " and done." }] });
  const model = await modelOf(keep, SAYS(" New."));
  const client = await open(keep, old.url, UNSTABLE);
  const turn = client.say("one");
  await until("the answer", () => client.text.includes("begun"));
  await set(client, "openai", `${model.url}/v1`, AUTH);
  assert.equal((await turn).stopReason, "end_turn");
  assert.equal((await client.say("two")).stopReason, "end_turn");
  assert.equal(client.text, "begun and done. New.");
});

clean();
end();
