// Our client against the SDK's agent: agreeing on a version, logging in, sessions and their options.

import assert from "node:assert/strict";
import { kase, sleep } from "./cases.mjs";

const ids = (event) => event.value.sessions.map((session) => session.sessionId);

async function beginning(v, start) {
  const name = (what) => `v${v} client: ${what}`;

  await kase(name("initialize agrees on the version and tells what the agent can do"), async (keep) => {
    const c = keep(start());
    const { version, value, err } = await c.do("start", "ready");
    assert.equal(err, undefined);
    assert.equal(version, v);
    assert.equal(value.protocolVersion, v);
    assert.equal((value.agentInfo ?? value.info).name, "sdk-agent");
    const [{ params }] = c.sent("initialize");
    assert.equal(params.protocolVersion, v);
    if (v === 1) {
      assert.deepEqual(params.clientCapabilities.fs, { readTextFile: true, writeTextFile: true });
      assert.equal(params.clientCapabilities.terminal, true);
      assert.deepEqual(params.clientCapabilities.elicitation, { form: {}, url: {} });
      assert.deepEqual(params.clientCapabilities.session, {
        configOptions: { boolean: {} },
        notices: {},
        compaction: {},
      });
    } else {
      assert.equal(params.info.name, "actor-client");
      assert.deepEqual(params.capabilities, {
        auth: { terminal: {} },
        elicitation: { form: {}, url: {} },
      });
    }
    assert.equal(await c.refused("start"), "STATE");
  });

  await kase(name("a client that offers nothing says so"), async (keep) => {
    const c = keep(start(["--bare"]));
    await c.open();
    const [{ params }] = c.sent("initialize");
    if (v === 1) assert.equal(params.clientCapabilities.terminal ?? false, false);
    else assert.deepEqual(params.capabilities ?? {}, {});
    const end = await c.prompt(v === 1 ? "read /w/a\nelicit form" : "elicit form");
    assert.equal(end.stop, "end_turn");
    const refusals = c.text().match(/-32601/g);
    assert.equal(refusals.length, v === 1 ? 2 : 1);
    assert.deepEqual(c.of("request", undefined), []);
  });

  await kase(name("nothing is sent before initialize"), async (keep) => {
    const c = keep(start());
    for (const line of ["new a /w", "load a old-1 /w", "list - -", "auth token", "logout"]) {
      assert.equal(await c.refused(line), "STATE", line);
    }
    await c.do("start", "ready");
    assert.equal(c.sent().length, 1);
  });

  await kase(name("nothing is sent that the agent did not offer"), async (keep) => {
    const c = keep(start([], ["--bare"]));
    await c.open();
    const lines = ["auth token", "logout", "delete old-1", "new b /w /w/more"];
    if (v === 1) lines.push("load b old-1 /w", "resume b old-1 /w", "list - -", "close a");
    for (const line of lines) assert.equal(await c.refused(line), "STATE", line);
    const image = [{ type: "image", data: "aGk=", mimeType: "image/png" }];
    assert.equal(await c.refused(`prompt a ${JSON.stringify(image)}`), "STATE");
    assert.deepEqual(c.sent().map((message) => message.method), ["initialize", "session/new"]);
  });

  await kase(name("login, and what needs it"), async (keep) => {
    const c = keep(start([], ["--auth"]));
    const opened = await c.open();
    assert.equal(opened.err, "REMOTE");
    assert.equal(opened.code, -32000);
    assert.equal(opened.why, "Log in first");
    assert.equal(await c.refused("auth tui"), "STATE"); // which is run, not asked for
    assert.equal(await c.refused("auth nothing"), "STATE");
    assert.equal((await c.do("auth token", "authenticated")).err, undefined);
    assert.equal((await c.open()).err, undefined);
    assert.equal((await c.do("logout", "logged_out")).err, undefined);
    assert.equal((await c.open("b")).code, -32000);
  });
}

/** What runs at a terminal counts for the agent that is started after it. */
async function terminalLogin(v, start) {
  await kase(`v${v} client: a login at the terminal, and the agent is started anew`, async (keep) => {
    const c = keep(start([], ["--auth"]));
    assert.equal((await c.open()).code, -32000);
    assert.equal(await c.refused("login token"), "UNKNOWN"); // which is asked for, not run
    const exited = c.next("exited");
    const { err, sentence } = await c.do("login tui", "logged_in");
    assert.equal(err, undefined);
    assert.match(sentence, /code 0/);
    await exited;
    await c.do("start", "ready");
    assert.equal((await c.open()).err, undefined);
    assert.equal((await c.prompt("say in")).stop, "end_turn");
    assert.equal(c.sent("initialize").length, 2);
    // The second time our test agent does not like it.
    assert.equal((await c.do("login tui", "logged_in")).err, "REMOTE");
    assert.equal((await c.prompt("say on")).stop, "end_turn");
  });
}

export async function negotiation(v, start) {
  const name = (what) => `v${v} client: ${what}`;

  if (v === 1) {
    await kase(name("both versions against an agent of version 1 speak version 1"), async (keep) => {
      const c = keep(start([], ["--v1", "--router"]));
      await c.open();
      assert.equal(c.ready.version, 1);
      assert.equal((await c.prompt("say one")).stop, "end_turn");
      assert.equal(c.text(), "one");
    });

    await kase(name("alone against an agent of both versions, it speaks version 1"), async (keep) => {
      const c = keep(start(["--v1"], []));
      await c.open();
      assert.equal(c.ready.version, 1);
      assert.equal((await c.prompt("say one")).stop, "end_turn");
    });

    await kase(name("alone against an agent of version 2, it is told why not"), async (keep) => {
      const c = keep(start(["--v1"], ["--v2", "--router"]));
      const { err, code } = await c.do("start", "ready");
      assert.equal(err, "REMOTE");
      assert.equal(code, -32022);
    });
    return;
  }

  await kase(name("both versions against an agent of both speak version 2"), async (keep) => {
    const c = keep(start([], []));
    assert.equal((await c.do("start", "ready")).version, 2);
  });

  await kase(name("alone against an agent of version 1, it is told why not"), async (keep) => {
    const c = keep(start(["--v2"], ["--v1", "--router"]));
    const { err, why, version } = await c.do("start", "ready");
    assert.equal(err, "VARIANT");
    assert.match(why, /version/);
    assert.equal(version, 0);
    assert.equal(await c.refused("new a /w"), "STATE");
  });
}

async function opening(v, start) {
  const name = (what) => `v${v} client: ${what}`;

  await kase(name("a new session with its options"), async (keep) => {
    const c = keep(start());
    const { id, cwd, value } = await c.open("a", "/w/here");
    assert.equal(id, "s-1");
    assert.equal(cwd, "/w/here");
    assert.equal(value.configOptions.length, v === 1 ? 2 : 3);
    // All of it comes as events, alike in both versions.
    const { commands } = await c.until("commands", () => c.of("commands")[0]);
    assert.equal(commands[1].input.hint, "what");
    const [modes] = c.of("modes");
    assert.deepEqual([modes.modes, modes.mode], [["ask", "code"], "ask"]);
    const [{ options }] = c.of("options");
    assert.deepEqual(
      options.map((option) => option.id),
      v === 1 ? ["model", "verbose"] : ["model", "verbose", "mode"],
    );
    const kinds = c.events.filter((event) => event.session === "a").map((event) => event.event);
    assert.deepEqual(kinds, ["opened", "options", "modes", "commands"]);
  });

  await kase(name("directories and MCP servers reach the agent"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    await c.do("new a /w/here /w/there", "opened");
    await c.prompt("where");
    assert.equal(c.text(), "/w/here /w/there tools");
  });

  await kase(name("relative paths are not sent"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    for (const line of ["new a here", "new a /w there", "load a old-1 here", "resume a old-1 here"]) {
      assert.equal(await c.refused(line), "ARGUMENT", line);
    }
    assert.equal(c.sent().length, 1);
  });

  await kase(name("updates before the session is known are held and delivered"), async (keep) => {
    const c = keep(start());
    await c.open("a", "/w/early");
    await c.heard("early");
    const kinds = c.events.map((event) => event.event);
    assert.ok(kinds.indexOf("opened") < kinds.indexOf("chunk"));
    const early = c.wire().findIndex((line) => line.includes('"text":"early"'));
    const answer = c.wire().findIndex((line) => line.includes('"result":{"sessionId"'));
    assert.ok(early < answer, `${early} is behind ${answer}`);
  });

  await kase(name("load shows the history before it is done"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    const { err, id } = await c.do("load a old-1 /w/one", "opened");
    assert.equal(err, undefined);
    assert.equal(id, "old-1");
    const at = c.events.findIndex((event) => event.event === "opened");
    const shown = c.events.slice(0, at).filter((event) => event.session === "a");
    const told = shown.map((event) => [event.event, event.author ?? event.toolId ?? event.state]);
    assert.deepEqual(
      told,
      v === 1
        ? [
            ["chunk", "user"],
            ["tool", "tool-1"],
            ["tool", "tool-1"],
            ["tool", "tool-1"],
            ["chunk", "agent"],
          ]
        : [
            ["message", "user"],
            ["tool", "tool-1"],
            ["tool", "tool-1"],
            ["tool", "tool-1"],
            ["message", "agent"],
            ["chunk", "agent"],
            ["state", "idle"],
          ],
    );
    assert.equal(c.text(), "what was answered");
    assert.deepEqual(shown[0].message, "u-1");
    assert.equal((await c.prompt("say on")).stop, "end_turn");
    const [{ params }] = c.sent(v === 1 ? "session/load" : "session/resume");
    if (v === 2) assert.deepEqual(params.replayFrom, { type: "start" });
  });

  await kase(name("resume opens without history"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    assert.equal((await c.do("resume a old-2 /w/two", "opened")).err, undefined);
    assert.equal(c.text(), "");
    assert.equal((await c.prompt("say on")).stop, "end_turn");
  });

  await kase(name("a session that cannot be loaded is none"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    for (const verb of ["load", "resume"]) {
      const { err, code, why, id } = await c.do(`${verb} a nobody /w`, "opened");
      assert.equal(err, "REMOTE");
      assert.equal(code, -32002);
      assert.equal(why, "No such session");
      assert.equal(id, undefined);
    }
    assert.equal(await c.refused('prompt a [{"type":"text","text":"say x"}]'), "UNKNOWN");
  });

  await kase(name("a session that is open outlives a refused load"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\nstream 20 5\nsay on");
    await c.heard("at work");
    for (const verb of ["load", "resume"]) {
      assert.equal((await c.do(`${verb} a s-1 /w`, "opened")).code, -32002);
    }
    assert.equal((await turn).stop, "end_turn");
    assert.match(c.text(), /on$/);
    assert.deepEqual(c.of("session_ended"), []);
  });

  await kase(name("sessions are listed by pages and by cwd"), async (keep) => {
    const c = keep(start());
    await c.do("start", "ready");
    const first = await c.do("list - -", "list");
    assert.deepEqual(ids(first), ["old-1", "old-2", "old-3"]);
    const second = await c.do(`list - ${first.value.nextCursor}`, "list");
    assert.deepEqual(ids(second), ["old-4", "old-5"]);
    assert.equal(second.value.nextCursor, undefined);
    assert.deepEqual(ids(await c.do("list /w/two -", "list")), ["old-2", "old-4"]);
    assert.equal((await c.do("list - made-up", "list")).code, -32602);
  });

  await kase(name("delete and close, also of what the agent does not know"), async (keep) => {
    const c = keep(start());
    await c.open();
    assert.equal((await c.do("delete old-1", "deleted")).err, undefined);
    assert.deepEqual(ids(await c.do("list /w/one -", "list")), ["old-3", "old-5"]);
    // Behind the client's back, so that closing it finds nothing.
    await c.do('request session/close {"sessionId":"s-1"}', "replied");
    const closed = await c.do("close a", "closed");
    assert.equal(closed.err, undefined);
    assert.deepEqual(c.of("session_ended").length, 1);
    assert.ok(c.events.findIndex((e) => e.event === "session_ended") < c.events.indexOf(closed));
    assert.equal(await c.refused('prompt a [{"type":"text","text":"say x"}]'), "UNKNOWN");
  });

  await kase(name("close in the middle of a turn ends it once"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\nwait");
    await c.heard("at work");
    await c.do("close a", "closed");
    const end = await turn;
    assert.equal(end.stop ?? end.err.toLowerCase(), "cancelled");
    await sleep(50);
    assert.equal(c.of("end").length, 1);
  });
}

async function options(v, start) {
  const name = (what) => `v${v} client: ${what}`;
  const valueOf = (event, id) =>
    event.value.configOptions.find((o) => (o.id ?? o.configId) === id).currentValue;

  await kase(name("options are chosen and switched, wrong ones refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    assert.equal(valueOf(await c.do("option a model large-1", "option_set"), "model"), "large-1");
    assert.equal(valueOf(await c.do("switch a verbose true", "option_set"), "verbose"), true);
    assert.equal((await c.do("option a model huge", "option_set")).code, -32602);
    assert.equal((await c.do("option a colour red", "option_set")).code, -32602);
  });

  await kase(name("modes are set, and unknown ones refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    assert.equal((await c.do("mode a code", "mode_set")).err, undefined);
    assert.equal(c.of("mode").at(-1).mode, "code");
    assert.equal((await c.do("mode a fly", "mode_set")).code, -32602);
    assert.equal(c.of("mode").at(-1).mode, "code");
  });

  await kase(name("options come as events in the words of one version"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("options");
    const event = c.of("options").at(-1);
    const [model, verbose] = event.options;
    assert.equal(model.id, "model");
    assert.deepEqual(
      model.options.map((group) => [group.group, group.options.length]),
      [
        ["fast", 2],
        ["large", 1],
      ],
    );
    assert.equal(verbose.id, "verbose");
    assert.equal(verbose.currentValue, true);
  });
}

export async function clientSessionCases(v, start) {
  await beginning(v, start);
  await terminalLogin(v, start);
  await opening(v, start);
  await options(v, start);
}
