// The built-in coding agent with a scripted model behind each of the four APIs: whole turns, tools,
// every way in which a turn can stop or be cancelled, and all that services answer instead of an
// answer.  Whatever happens, what the model is sent is valid and the key is told to nobody else.
//
//     node coding-agent-models.mjs VERSION ACP

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { APIS, CodingAgent, KEY, configure, ownHome } from "./coding-agent-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);

const open = (keep, api, flags, ...turns) => keep(new CodingAgent(version, acp, api, flags)).open(turns);
const FULL = ["--mode", "full"];
const DONE = { when: { last: "tool" }, reply: [{ text: "Done." }] };
const call = (tool, args) => ({ tool, arguments: args });
const resultsIn = ({ said }) => said.filter(({ kind }) => kind === "result").map(({ text }) => text);

// ---- Turns ----

async function turns(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;

  await kase(name("text streams, piece by piece"), async (keep) => {
    const agent = await open(keep, api, [], {
      reply: [{ text: ["Gr\u00fc\u00df ", "dich, "] }, { wait: 150 }, { text: ["Welt \u{1f30d}"] }],
      split: 7,
    });
    const turn = agent.run("hello");
    await agent.client.heard("dich, ");
    assert.ok(!agent.client.text().includes("Welt"), "the first piece does not wait for the last");
    assert.equal((await turn).stop, "end_turn");
    assert.equal(agent.client.text(), "Gr\u00fc\u00df dich, Welt \u{1f30d}");
    const { system, tools, said } = agent.sent(0);
    assert.match(system, /coding agent/i);
    for (const tool of ["read", "write", "edit", "run_command"]) assert.ok(tools.includes(tool), tool);
    assert.deepEqual(said, [{ kind: "user", text: "hello" }]);
  });

  await kase(name("the next prompt comes behind what was said"), async (keep) => {
    const agent = await open(keep, api, [], { reply: [{ text: "first answer" }] });
    await agent.stops("one", "end_turn");
    await agent.stops("two", "end_turn");
    assert.deepEqual(
      agent.sent(1).said.map(({ kind, text }) => [kind, text]),
      [["user", "one"], ["assistant", "first answer"], ["user", "two"]],
    );
  });

  await kase(name("a thought is shown as one"), async (keep) => {
    const agent = await open(keep, api, [], { reply: [{ thought: ["Let me ", "think."] }, { text: "Yes." }] });
    await agent.stops("well?", "end_turn");
    const thoughts = agent.of("agent_thought_chunk").map(({ content }) => content.text);
    assert.equal(thoughts.join(""), "Let me think.");
    assert.equal(agent.client.text(), "Yes.");
    await agent.stops("and now?", "end_turn");
  });

  await kase(name("what a tool finds is told to the model"), async (keep) => {
    const agent = await open(keep, api, [], DONE, {
      reply: [{ text: "I read." }, call("read", { path: "a.txt" })],
    });
    await agent.stops("read it", "end_turn");
    const kinds = agent.sent(1).said.map(({ kind }) => kind);
    assert.deepEqual(kinds, ["user", "assistant", "call", "result"]);
    assert.match(resultsIn(agent.sent(1))[0], /apple/);
    const [tool] = agent.tools();
    assert.equal(tool.status, "completed");
    assert.equal(tool.kind, "read");
    assert.match(agent.client.text(), /^I read\.\s*Done\.$/);
  });

  await kase(name("two calls of one reply run at the same time"), async (keep) => {
    const agent = await open(keep, api, FULL, DONE, {
      reply: [
        call("run_command", { command: "read word < pipe; echo got $word" }),
        call("run_command", { command: "echo hello > pipe; echo sent" }),
      ],
    });
    execFileSync("mkfifo", [join(agent.folder, "pipe")]); // each of them waits for the other
    await agent.stops("do both", "end_turn");
    const { said } = agent.sent(1);
    assert.deepEqual(said.map(({ kind }) => kind), ["user", "call", "call", "result", "result"]);
    const [first, second] = resultsIn(agent.sent(1));
    assert.match(first, /got hello/);
    assert.match(second, /sent/);
  });

  await kase(name("broken arguments and unknown tools are told to the model, which goes on"), async (keep) => {
    const broken = { tool: "read", broken: '{"path": "a.t' };
    const agent = await open(keep, api, FULL, DONE, {
      // Gemini's arguments are not text that could be broken.
      reply: [api === "gemini" ? call("read", { path: 7 }) : broken, call("fly", { to: "moon" })],
    });
    await agent.stops("go", "end_turn");
    const [first, second] = resultsIn(agent.sent(1));
    assert.match(first, api === "gemini" ? /path/ : /JSON/);
    assert.match(second, /no tool "fly"\. The tools, most similar first: glob, /);
    for (const tool of ["read", "write", "run_command"]) assert.match(second, new RegExp(`\\b${tool}\\b`));
    const [kept] = agent.sent(1).said.filter(({ kind }) => kind === "call");
    if (api !== "gemini") assert.deepEqual(kept.input, { unparsed_arguments: broken.broken });
    assert.deepEqual(agent.tools().map(({ status }) => status), ["failed", "failed"]);
    assert.equal(agent.client.text(), "Done.");
  });
}

async function repeats(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;
  const fails = call("read", { path: "none.txt" });

  await kase(name("the same failing call three times in a row ends the turn"), async (keep) => {
    const agent = await open(keep, api, FULL, { when: { prompt: "two" }, reply: [{ text: "Well." }] }, { reply: [fails] });
    const { stop, why } = await agent.run("one");
    assert.equal(stop, "error");
    assert.match(why, /called read with the same arguments 3 times in a row, and it failed each time/);
    assert.equal(agent.requests().length, 3);
    await agent.stops("two", "end_turn");
  });

  await kase(name("failing calls that differ, or that another one parts, go on"), async (keep) => {
    const parted = [fails, fails, call("read", { path: "a.txt" }), fails, fails];
    const differ = ["one", "two", "three", "four"].map((path) => call("read", { path }));
    const turns = [...parted, ...differ].map((piece) => ({ reply: [piece], times: 1 }));
    const agent = await open(keep, api, FULL, ...turns, DONE);
    await agent.stops("go", "end_turn");
    assert.equal(agent.requests().length, 10);
  });
}

// ---- Ends ----

async function ends(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;

  await kase(name("an answer that is cut by the limit is continued"), async (keep) => {
    const agent = await open(keep, api, [], { reply: [{ text: "It is v" }], stop: "length", times: 1 },
      { reply: [{ text: "ery lo" }], stop: "length", times: 1 }, { reply: [{ text: "ng." }] });
    await agent.stops("tell", "end_turn");
    assert.equal(agent.client.text(), "It is very long.");
    const said = agent.sent(-1).said.map(({ kind, text }) => `${kind}: ${text}`);
    assert.match(said[2], /^user: <agent_note>[^]*cut off[^]*<\/agent_note>$/);
    assert.deepEqual([said[0], said[1], said[3]], ["user: tell", "assistant: It is v", "assistant: ery lo"]);
  });

  await kase(name("answers that are cut again and again end the turn"), async (keep) => {
    const agent = await open(keep, api, [], { when: { prompt: "go on" }, reply: [{ text: "End." }] },
      { reply: [{ text: "more " }], stop: "length" });
    await agent.stops("tell", "max_tokens");
    assert.equal(agent.client.text(), "more more more more ");
    await agent.stops("go on", "end_turn");
  });

  await kase(name("whole calls of an answer that was cut are run"), async (keep) => {
    const agent = await open(keep, api, FULL, DONE, {
      reply: [{ text: "I write." }, call("write", { path: "one.txt", text: "1\n" }), call("write", { path: "two.txt", text: "2\n" })],
      stop: "length",
    });
    await agent.stops("one", "end_turn");
    assert.equal(readFileSync(join(agent.folder, "one.txt"), "utf8"), "1\n");
    assert.ok(!existsSync(join(agent.folder, "two.txt")), "the last one may have been cut");
    assert.match(resultsIn(agent.sent(-1))[0], /cut off/);
  });

  await kase(name("a refusal"), async (keep) => {
    const agent = await open(keep, api, [], { reply: [{ text: "No." }], stop: "refusal", times: 1 }, {
      reply: [{ text: "Well." }],
    });
    await agent.stops("do evil", "refusal");
    assert.match(agent.warned(), /refused this prompt/);
    await agent.stops("do good", "end_turn");
    assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["do good"]);
    await agent.resume();
    await agent.stops("do more", "end_turn");
    assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["do good", "Well.", "do more"]);
  });

  await kase(name("a refusal behind tool calls takes the whole turn away"), async (keep) => {
    const agent = await open(keep, api, [], { when: { last: "tool" }, reply: [{ text: "No." }], stop: "refusal" },
      { when: { prompt: "one|three" }, reply: [{ text: "Well." }] }, { reply: [call("read", { path: "a.txt" })] });
    await agent.stops("one", "end_turn");
    await agent.setMode("full"); // told in the turn that is refused, and so again
    await agent.stops("two", "refusal");
    await agent.stops("three", "end_turn");
    const [one, well, ...rest] = agent.sent(-1).said.map(({ text }) => text);
    assert.deepEqual([one, well], ["one", "Well."]);
    assert.match(rest.join("\n"), /^<agent_note>\n[^]*Mode is now: full\n<\/agent_note>\nthree$/);
  });

  await kase(name("a refusal, and an end, without a word"), async (keep) => {
    const agent = await open(keep, api, [], { when: { prompt: "one" }, reply: [], stop: "refusal" }, {
      when: { prompt: "two" },
      reply: [],
    }, { reply: [{ text: "Well." }] });
    await agent.stops("one", "refusal");
    await agent.stops("two", "end_turn");
    await agent.stops("three", "end_turn");
  });

  await kase(name("a call that an answer was cut in is not run, and leaves no trace"), async (keep) => {
    const agent = await open(keep, api, FULL, { when: { prompt: "two" }, reply: [{ text: "Well." }] }, {
      reply: [call("write", { path: "new.txt", text: "new\n" })],
      stop: "length",
    });
    await agent.stops("one", "max_tokens");
    assert.equal(agent.requests().length, 4);
    assert.ok(!existsSync(join(agent.folder, "new.txt")));
    await agent.stops("two", "end_turn");
    assert.ok(!agent.sent(-1).said.some(({ kind }) => kind === "call"));
  });

  await kase(name("cancel while the model streams"), async (keep) => {
    const agent = await open(keep, api, [], {
      when: { prompt: "one" },
      reply: [{ thought: "Hm." }, { text: "begun" }, { stall: true }],
    }, { reply: [{ text: " again" }] });
    const turn = agent.run("one");
    await agent.client.heard("begun");
    await agent.client.cancel();
    assert.equal((await turn).stop, "cancelled");
    await agent.stops("two", "end_turn");
    assert.equal(agent.requests()[0].ended, "left");
    assert.equal(agent.client.text(), "begun again");
  });

  await kase(name("cancel before the model has said a word, or after a thought"), async (keep) => {
    const agent = await open(keep, api, [], { when: { prompt: "one" }, reply: [{ stall: true }] }, {
      when: { prompt: "two" },
      reply: [{ thought: "Hm." }, { stall: true }],
    }, { reply: [{ text: "Here." }] });
    const first = agent.run("one");
    await agent.asked(1);
    await agent.client.cancel();
    assert.equal((await first).stop, "cancelled");
    const second = agent.run("two");
    await agent.client.until("a thought", () => agent.of("agent_thought_chunk").length);
    await agent.client.cancel();
    assert.equal((await second).stop, "cancelled");
    await agent.stops("three", "end_turn");
  });

  await kase(name("cancel while a tool runs, when another one is done"), async (keep) => {
    const agent = await open(keep, api, FULL, { when: { prompt: "two" }, reply: [{ text: "Here." }] }, {
      reply: [call("read", { path: "a.txt" }), call("run_command", { command: "sleep 300" })],
    });
    const turn = agent.run("one");
    await agent.client.until("the tools", () => {
      const states = agent.tools().map(({ status }) => status);
      return states.includes("completed") && states.includes("in_progress");
    });
    await agent.client.cancel();
    assert.equal((await turn).stop, "cancelled");
    await agent.stops("two", "end_turn");
    const [read, command] = resultsIn(agent.sent(-1));
    assert.match(read, /apple/, "what was done is not denied");
    assert.match(command, /cancelled/i);
  });

  await kase(name("cancel while a permission is asked"), async (keep) => {
    const agent = await open(keep, api, [], { when: { prompt: "two" }, reply: [{ text: "Here." }] }, {
      reply: [call("write", { path: "new.txt", text: "new\n" })],
    });
    agent.client.onPermission = async () => {
      await agent.client.cancel();
      return { outcome: { outcome: "cancelled" } };
    };
    await agent.stops("one", "cancelled");
    assert.ok(!existsSync(join(agent.folder, "new.txt")));
    await agent.stops("two", "end_turn");
    assert.match(resultsIn(agent.sent(-1))[0], /cancelled/i);
  });

  for (const [stage, reply] of [
    ["the model streams", [{ text: "begun" }, { stall: true }]],
    ["a tool runs", [{ text: "begun" }, call("run_command", { command: "sleep 300" })]],
  ])
    await kase(name(`the client goes while ${stage}`), async (keep) => {
      const agent = await open(keep, api, FULL, { reply });
      agent.run("one").catch(() => {});
      await agent.client.heard("begun");
      if (stage === "a tool runs")
        await agent.client.until("the tool", () => agent.tools().some(({ status }) => status === "in_progress"));
    });

  await kase(name("cancel while it waits to try again"), async (keep) => {
    const headers = { "retry-after": "30" };
    const agent = await open(keep, api, [], { times: 1, error: { status: 429, headers } }, {
      reply: [{ text: "Here." }],
    });
    const turn = agent.run("one");
    await agent.client.until("the notice", () => agent.warned());
    await agent.client.cancel();
    assert.equal((await turn).stop, "cancelled");
    await agent.stops("two", "end_turn");
  });
}

// ---- Troubles ----

async function troubles(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;

  /** A turn that fails with a sentence like this; the next one is served. */
  const fails = async (keep, sentence, ...script) => {
    const agent = await open(keep, api, [], ...script, { reply: [{ text: "Here." }] });
    const { stop, why } = await agent.run("one");
    assert.equal(stop, "error");
    assert.match(why, sentence);
    await agent.stops("two", "end_turn");
    assert.match(agent.client.text(), /Here\.$/);
    return agent;
  };

  await kase(name("a wrong key, which the service repeats"), async (keep) => {
    const message = `Incorrect API key provided: ${KEY}, or ${KEY.slice(0, 12)}****6789`;
    await fails(keep, /does not accept the key/, { times: 1, error: { status: 401, message } });
  });

  await kase(name("a busy service is tried again, and the user sees it"), async (keep) => {
    const headers = { "retry-after": "0" };
    const agent = await open(keep, api, [], { times: 2, error: { status: 429, headers } }, {
      reply: [{ text: "Now." }],
    });
    await agent.stops("one", "end_turn");
    assert.equal(agent.client.text(), "Now.");
    assert.match(agent.warned(), /busy.*trying again/);
    assert.equal(agent.requests().length, 3);
  });

  await kase(name("a broken service is given up after some attempts"), async (keep) => {
    const headers = { "retry-after": "0" };
    const error = { status: 500, message: "it burns", headers };
    const agent = await fails(keep, /it burns.*attempts/, { times: 5, error });
    assert.equal(agent.requests().length, 6);
  });

  await kase(name("a web page instead of an answer"), async (keep) => {
    const page = "<!DOCTYPE html>\n<html><body>Please log in</body></html>";
    await fails(keep, /web page/, { times: 1, error: { status: 200, page } });
  });

  await kase(name("a connection that is cut in the middle is tried again, and nothing is said twice"), async (keep) => {
    const agent = await open(keep, api, [], { times: 1, reply: [{ text: "It is" }, { cut: true }] }, {
      reply: [{ text: "It is fine." }],
    });
    await agent.stops("one", "end_turn");
    assert.equal(agent.client.text(), "It is fine.");
    assert.match(agent.warned(), /trying again/);
    const [first, second] = agent.requests();
    assert.deepEqual(first.body, second.body);
    await agent.stops("two", "end_turn");
    assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["one", "It is fine.", "two"]);
  });

  await kase(name("another answer than the one that was cut is shown from its beginning"), async (keep) => {
    const agent = await open(keep, api, [], { times: 1, reply: [{ text: "It is" }, { cut: true }] }, {
      reply: [{ text: "It was." }],
    });
    await agent.stops("one", "end_turn");
    assert.equal(agent.client.text(), "It is\n\nIt was.");
    assert.match(agent.warned(), /differs/);
  });

  await kase(name("a connection that is cut before the first word is tried again"), async (keep) => {
    const agent = await open(keep, api, [], { times: 1, reply: [{ cut: true }] }, { reply: [{ text: "Here." }] });
    await agent.stops("one", "end_turn");
    assert.equal(agent.client.text(), "Here.");
    assert.match(agent.warned(), /trying again/);
  });

  await kase(name("a connection that is cut in a call"), async (keep) => {
    const reply = [call("write", { path: "new.txt", text: "new\n" }), { cut: true }];
    const agent = await open(keep, api, FULL, { times: 1, reply }, { reply: [{ text: "Here." }] });
    await agent.stops("one", "end_turn");
    assert.ok(!existsSync(join(agent.folder, "new.txt")), "a call of an answer that broke is not run");
  });

  await kase(name("an error in the stream"), async (keep) => {
    const error = { message: "overloaded" };
    const agent = await open(keep, api, [], { times: 1, reply: [{ text: "It is" }, { error }] }, {
      reply: [{ text: "It is so." }],
    });
    await agent.stops("one", "end_turn");
    assert.match(agent.warned(), /overloaded.*trying again/);
    assert.equal(agent.client.text(), "It is so.");
  });

  await kase(name("a request that the service does not take"), async (keep) => {
    await fails(keep, /no such knob/, { times: 1, error: { status: 400, message: "no such knob" } });
  });
}

// ---- Modes, options, commands ----

async function settings(api) {
  const name = (what) => `v${version} agent on ${api}: ${what}`;
  const writes = { reply: [call("write", { path: "new.txt", text: "new\n" })] };
  const written = (agent) => existsSync(join(agent.folder, "new.txt"));

  await kase(name("safe asks before it writes"), async (keep) => {
    const agent = await open(keep, api, [], DONE, writes);
    agent.allow("reject_once");
    await agent.stops("write", "end_turn");
    assert.ok(!written(agent));
    assert.match(resultsIn(agent.sent(-1))[0], /denied permission/);
    agent.allow("allow_once");
    await agent.stops("write again", "end_turn");
    assert.equal(readFileSync(join(agent.folder, "new.txt"), "utf8"), "new\n");
    assert.equal(agent.client.permissions.length, 2);
  });

  await kase(name("modes change what is offered and asked"), async (keep) => {
    const agent = await open(keep, api, [], DONE, writes);
    await agent.setMode("read-only");
    await agent.stops("write", "end_turn");
    const { tools, system } = agent.sent(0);
    for (const tool of ["read", "write", "edit", "apply_patch", "run_command"]) assert.ok(tools.includes(tool), tool);
    assert.match(system, /Mode: read-only \(refused in this mode: write, edit, apply_patch, run_command/);
    assert.match(resultsIn(agent.sent(-1))[0], /not available/);
    assert.ok(!written(agent));
    await agent.setMode("full");
    await agent.stops("write again", "end_turn");
    assert.match(JSON.stringify(agent.sent(-1).said), /Mode is now: full/);
    assert.deepEqual(agent.sent(-1).tools, tools, "the list never changes");
    assert.equal(agent.sent(-1).system, system);
    assert.ok(written(agent));
    assert.equal(agent.client.permissions.length, 0);
    await assert.rejects(agent.setMode("wild"), { code: -32602 });
  });

  await kase(name("the effort is an option, and reaches the service"), async (keep) => {
    const agent = await open(keep, api, [], { reply: [{ text: "Hm." }] });
    await agent.stops("one", "end_turn");
    assert.equal(await agent.setOption("effort", "high"), "high");
    await agent.stops("two", "end_turn");
    const bodies = agent.requests().map(({ body }) => ({ ...body, ...READ_NO_WORDS }));
    assert.notDeepEqual(bodies[0], bodies[1]);
    await assert.rejects(agent.setOption("effort", "much"), { code: -32602 });
  });

  if (api === "anthropic")
    await kase(name("what the configuration says of a model's efforts counts more than its name"), async (keep) => {
      const undo = configure({ models: { "claude-x": { efforts: ["low", "medium"] } } });
      try {
        const coder = await open(keep, api, [], { reply: [{ text: "Hm." }] });
        await coder.setOption("effort", "max");
        await coder.stops("one", "end_turn");
        assert.equal(coder.requests()[0].body.output_config.effort, "medium");
      } finally {
        undo();
      }
    });

  await kase(name("the model is one of those that the service lists"), async (keep) => {
    const turns = [{ when: { model: "^other$" }, reply: [{ text: "I am the other." }] }, { reply: [{ text: "I." }] }];
    const agent = await keep(new CodingAgent(version, acp, api, [])).open(turns, { models: ["this", "other"] });
    const provider = api.replace(/-.*/, "");
    const [{ options }] = await agent.client.until("the list", () => {
      const told = agent.of("config_option_update").at(-1)?.configOptions;
      return told?.filter((option) => (option.id ?? option.configId) === "model");
    });
    assert.deepEqual(options.map(({ value }) => value).slice(0, 2), [`${provider}/this`, `${provider}/other`]);
    await agent.stops("one", "end_turn");
    assert.equal(await agent.setOption("model", "other"), `${provider}/other`);
    await agent.stops("two", "end_turn");
    assert.equal(agent.client.text(), "I.I am the other.");
    assert.equal(await agent.setOption("model", `${provider}/this`), `${provider}/this`);
    for (const wrong of ["othr", `${provider}/othr`, "nobody/other", "", "/", `${provider}/`])
      await assert.rejects(agent.setOption("model", wrong), ({ code, message }) => {
        assert.equal(code, -32602);
        if (wrong.endsWith("othr")) assert.match(message, new RegExp(`for example, ${provider}/other`));
        return true;
      });
  });

  await kase(name("/compact puts a summary in the place of what was said"), async (keep) => {
    const agent = await open(keep, api, FULL, { when: { prompt: "Summarise" }, reply: [{ text: "We ate fruit." }] },
      DONE, { when: { prompt: "read" }, reply: [call("read", { path: "a.txt" })] }, { reply: [{ text: "Hm." }] });
    for (const word of ["read it", "two", "three", "four", "five"]) await agent.stops(word, "end_turn");
    await agent.stops("/compact", "end_turn");
    const long = agent.sent(-1).said.length;
    await agent.stops("six", "end_turn");
    const { said } = agent.sent(-1);
    assert.match(said[0].text, /We ate fruit\./);
    assert.ok(said.length < long, `${said.length} entries, ${long} before`);
    assert.equal(said.at(-1).text, "six");
    assert.ok(!said.some(({ text }) => /Summarise our conversation/.test(text)), "the wish is not kept");
    assert.ok(!agent.client.text().includes("We ate fruit."), "the summary is the model's own");
  });

  await kase(name("a summary that is cancelled or fails leaves all as it was"), async (keep) => {
    const wish = { when: { prompt: "Summarise" } };
    const agent = await open(keep, api, [], { ...wish, times: 1, reply: [{ text: "We" }, { stall: true }] },
      { ...wish, error: { status: 400, message: "too hard" } }, { reply: [{ text: "Hm." }] });
    await agent.stops("one", "end_turn");
    const turn = agent.run("/compact");
    await agent.asked(2);
    await agent.client.cancel();
    assert.equal((await turn).stop, "cancelled");
    assert.match((await agent.run("/compact")).why, /too hard/);
    await agent.stops("two", "end_turn");
    assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["one", "Hm.", "two"]);
  });

  await kase(name("a window that is nearly full is summed up in the middle of the turn"), async (keep) => {
    const usage = { input: 2_000_000, output: 10 }; // more than any of the models holds
    const undo = configure({ models: { "claude-x": { context: 200_000 } } });
    const agent = await open(keep, api, [], { when: { prompt: "Summarise" }, reply: [{ text: "We ate fruit." }] }, DONE,
      { when: { prompt: "read" }, usage, reply: [call("read", { path: "a.txt" })] }, { reply: [{ text: "Hm." }] });
    undo();
    for (const word of ["one", "two", "three"]) await agent.stops(word, "end_turn");
    await agent.stops("read it", "end_turn");
    assert.equal(agent.client.text(), "Hm.Hm.Hm.Done.");
    assert.match(agent.sent(-1).said[0].text, /We ate fruit\./);
    assert.match(resultsIn(agent.sent(-1))[0], /apple/, "what was just found is not summed up");
  });
}

/** Without these, requests differ by their settings alone. */
const READ_NO_WORDS = { messages: 0, input: 0, contents: 0 };

const clean = ownHome();
begin();
for (const api of APIS) {
  await turns(api);
  await repeats(api);
  await ends(api);
  await troubles(api);
  await settings(api);
}
clean();
end();
