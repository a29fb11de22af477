// Our agent, seen by the SDK's client: agreeing on a version, logging in, sessions and their options.

import assert from "node:assert/strict";
import { kase } from "./cases.mjs";
import { FULL_CAPABILITIES } from "./sdk-side.mjs";

const LONG = "an-id-that-is-longer-than-those-that-the-role-makes-up-itself"; // of a message

const ids = (answer) => answer.sessions.map((session) => session.sessionId);

async function initialization(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("initialize tells what the agent can do"), async (keep) => {
    const c = keep(start());
    const answer = await c.initialize();
    assert.equal(answer.protocolVersion, v);
    if (v === 1) {
      const can = answer.agentCapabilities;
      assert.equal(answer.agentInfo.name, "actor-agent");
      assert.equal(answer.agentInfo.title, "Actor");
      assert.equal(can.loadSession, true);
      assert.deepEqual(can.promptCapabilities, { image: true, audio: true, embeddedContext: true });
      assert.deepEqual(can.mcpCapabilities, { http: true, sse: true });
      assert.deepEqual(Object.keys(can.sessionCapabilities).sort(), [
        "additionalDirectories",
        "close",
        "delete",
        "list",
        "resume",
      ]);
      assert.deepEqual(can.auth, { logout: {} });
    } else {
      const can = answer.capabilities.session;
      assert.equal(answer.info.name, "actor-agent");
      assert.deepEqual(can.prompt, { image: {}, audio: {}, embeddedContext: {} });
      assert.deepEqual(can.mcp, { stdio: {}, http: {} });
      assert.deepEqual(can.delete, {});
      assert.deepEqual(can.additionalDirectories, {});
    }
  });

  await kase(name("an agent without callbacks offers little"), async (keep) => {
    const c = keep(start(["--bare"]));
    await c.open();
    if (v === 1) {
      assert.equal(c.initialized.agentCapabilities.loadSession ?? false, false);
      assert.equal((await c.refused("session/list", {})).code, -32601);
      assert.equal((await c.refused("session/set_mode", { sessionId: c.sessionId, modeId: "x" })).code, -32601);
      assert.equal((await c.refused("authenticate", { methodId: "token" })).code, -32601);
      assert.equal((await c.refused("logout", {})).code, -32601);
    } else {
      assert.deepEqual(c.initialized.capabilities.session, { prompt: {}, mcp: { stdio: {} } });
      // The baseline of version 2 is there all the same.
      assert.deepEqual(ids(await c.request("session/list", {})), [c.sessionId]);
      await c.request("session/resume", { sessionId: c.sessionId, cwd: "/w" });
      assert.equal((await c.refused("auth/login", { methodId: "token" })).code, -32601);
    }
    assert.equal((await c.refused("session/delete", { sessionId: "old-1" })).code, -32601);
    const image = [{ type: "image", data: "aGk=", mimeType: "image/png" }];
    const error = await c.refused("session/prompt", { sessionId: c.sessionId, prompt: image });
    assert.equal(error.code, -32602);
    assert.equal((await c.prompt("say fine")).stopReason, "end_turn");
    assert.equal(c.text(), "fine");
  });

  await kase(name("a newer version than all is answered with ours"), async (keep) => {
    const c = keep(start([], { raw: true }));
    c.raw({ jsonrpc: "2.0", id: "raw-1", method: "initialize", params: { protocolVersion: 65535 } });
    const answer = await c.until("the answer", () => c.lines[0]);
    assert.equal(answer.id, "raw-1");
    assert.equal(answer.result.protocolVersion, v);
  });

  await kase(name("a version that is not spoken is refused with those that are"), async (keep) => {
    // An agent of version 1 alone answers 1 to everything; from version 2 on there is an error.
    const c = keep(start([], { raw: v === 2 }));
    for (const requested of v === 2 ? [0, 1] : [0]) {
      const id = `raw-${requested}`;
      c.raw({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion: requested } });
      const answer = await c.until("the answer", () => c.lines.find((line) => line.id === id));
      assert.equal(answer.error.code, -32022);
      assert.deepEqual(answer.error.data, { requested, supported: v === 2 ? [2] : [1, 2] });
    }
    await c.open(); // and may try again
  });

  await kase(name("requests before initialize are refused"), async (keep) => {
    const c = keep(start());
    c.raw({ jsonrpc: "2.0", id: "raw-2", method: "session/new", params: { cwd: "/w", mcpServers: [] } });
    const answer = await c.until("the answer", () => c.lines[0]);
    assert.equal(answer.error.code, -32600);
    assert.equal((await c.open()).sessionId.length > 0, true);
  });

  await kase(name("initialize in the middle of a conversation is refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.raw({ jsonrpc: "2.0", id: "raw-3", method: "initialize", params: { protocolVersion: v, info: { name: "x", version: "1" } } });
    const answer = await c.until("the answer", () => c.lines.find((l) => l.id === "raw-3"));
    assert.equal(answer.error.code, -32600);
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });

  await kase(name("unknown methods and noise are answered, and the talk goes on"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.raw("this is not JSON");
    c.raw({ jsonrpc: "2.0", method: "no/such_notification", params: {} });
    assert.equal((await c.refused("_x/unknown", {})).code, -32601);
    c.raw({ jsonrpc: "2.0", id: "raw-4", method: "no/such_method", params: {} });
    const answer = await c.until("the answer", () => c.lines.find((l) => l.id === "raw-4"));
    assert.equal(answer.error.code, -32601);
    const noise = c.lines.find((l) => l.id === null);
    assert.equal(noise.error.code, -32700);
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });
}

async function authentication(v, start) {
  const name = (what) => `v${v} agent: ${what}`;
  const login = v === 1 ? "authenticate" : "auth/login";
  const logout = v === 1 ? "logout" : "auth/logout";

  await kase(name("login is required, given, and taken away by logout"), async (keep) => {
    const c = keep(start(["--auth"]));
    await c.initialize();
    const place = { cwd: "/w", mcpServers: [] };
    assert.equal((await c.refused("session/new", place)).code, -32000);
    assert.equal((await c.refused(login, { methodId: "nothing" })).code, -32602);
    assert.equal((await c.refused(login, { methodId: "tui" })).code, -32602);
    assert.equal((await c.refused("session/new", place)).code, -32000);
    assert.deepEqual(await c.request(login, { methodId: "token" }), {});
    const { sessionId } = await c.request("session/new", place);
    assert.equal((await c.prompt("say in", sessionId)).stopReason, "end_turn");
    assert.deepEqual(await c.request(logout, {}), {});
    assert.equal((await c.refused("session/new", place)).code, -32000);
  });

  await kase(name("ways to log in are listed, terminal ones where the client runs them"), async (keep) => {
    const answer = await keep(start()).initialize();
    const id = v === 1 ? "id" : "methodId";
    const [token, tui] = answer.authMethods;
    assert.equal(answer.authMethods.length, 2);
    assert.equal(token[id], "token");
    assert.equal(tui[id], "tui");
    assert.equal(tui.type, "terminal");
    assert.deepEqual(tui.args, ["--login"]);
    assert.deepEqual(tui.env, v === 1 ? { LOGIN: "1" } : [{ name: "LOGIN", value: "1" }]);
  });

  await kase(name("terminal logins are not listed for a client without terminals"), async (keep) => {
    const answer = await keep(start([], { capabilities: {} })).initialize();
    assert.deepEqual(
      answer.authMethods.map((method) => method.id ?? method.methodId),
      ["token"],
    );
  });
}

async function opening(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("session/new answers with modes, options and commands"), async (keep) => {
    const c = keep(start());
    const answer = await c.open();
    const options = Object.fromEntries(
      answer.configOptions.map((option) => [option.id ?? option.configId, option]),
    );
    assert.equal(options.model.currentValue, "fast-1");
    assert.deepEqual(
      options.model.options.map((group) => [group.group ?? group.groupId, group.options.length]),
      [["fast", 2], ["large", 1]],
    );
    assert.equal(options.verbose.type, "boolean");
    assert.equal(options.verbose.currentValue, false);
    if (v === 1) {
      assert.equal(answer.modes.currentModeId, "ask");
      assert.deepEqual(answer.modes.availableModes.map((mode) => mode.id), ["ask", "code"]);
      await c.until("the commands", () => c.of(c.sessionId, "available_commands_update")[0]);
      const [{ availableCommands }] = c.of(c.sessionId, "available_commands_update");
      assert.deepEqual(availableCommands.map((command) => command.name), ["test", "explain"]);
      assert.equal(availableCommands[1].input.hint, "what to explain");
    } else {
      assert.equal(options.mode.category, "mode");
      assert.equal(options.mode.currentValue, "ask");
      assert.deepEqual(options.mode.options.map((option) => option.value), ["ask", "code"]);
      assert.deepEqual(answer.availableCommands.map((c) => [c.type, c.name]), [["command", "test"], ["command", "explain"]]);
      assert.deepEqual(answer.availableCommands[1].input, { type: "text", hint: "what to explain" });
    }
  });

  await kase(name("directories and MCP servers reach the program"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const servers = [
      { name: "one", command: "/bin/one", args: ["-x"], env: [{ name: "A", value: "b" }] },
      { type: "http", name: "two", url: "https://example.com/mcp", headers: [] },
    ];
    if (v === 1) servers.push({ type: "sse", name: "three", url: "https://example.com/sse", headers: [] });
    else servers[0].type = "stdio";
    const { sessionId } = await c.request("session/new", {
      cwd: "/w/here",
      additionalDirectories: ["/w/there", "/w/elsewhere"],
      mcpServers: servers,
    });
    await c.prompt("where", sessionId);
    const lines = c.text(sessionId).split("\n");
    assert.deepEqual(lines.slice(0, 4), [
      "cwd=/w/here",
      "also=/w/there",
      "also=/w/elsewhere",
      `servers= one two${v === 1 ? " three" : ""}`,
    ]);
  });

  await kase(name("relative paths are refused"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const bad = [
      ["session/new", { cwd: "here", mcpServers: [] }],
      ["session/new", { cwd: "", mcpServers: [] }],
      ["session/new", { cwd: "/w", additionalDirectories: ["there"], mcpServers: [] }],
      ["session/resume", { cwd: "here", sessionId: "old-1", mcpServers: [] }],
      ["session/list", { cwd: "here" }],
      [
        "session/new",
        {
          cwd: "/w",
          mcpServers: [{ name: "x", command: "./x", args: [], env: [], ...(v === 2 && { type: "stdio" }) }],
        },
      ],
    ];
    if (v === 1) bad.push(["session/load", { cwd: "here", sessionId: "old-1", mcpServers: [] }]);
    for (const [method, params] of bad) {
      const error = await c.refused(method, params);
      assert.equal(error.code, -32602, `${method} ${JSON.stringify(params)}`);
    }
  });

  await kase(name("unknown sessions are not found"), async (keep) => {
    const c = keep(start());
    await c.open();
    const sessionId = "nobody";
    const prompt = [{ type: "text", text: "say x" }];
    const asks = [
      ["session/prompt", { sessionId, prompt }],
      ["session/resume", { sessionId, cwd: "/w", mcpServers: [] }],
      ["session/set_config_option", { sessionId, configId: "model", value: "fast-2", ...(v === 2 && { type: "id" }) }],
    ];
    if (v === 1) {
      asks.push(
        ["session/load", { sessionId, cwd: "/w", mcpServers: [] }],
        ["session/set_mode", { sessionId, modeId: "code" }],
      );
    }
    for (const [method, params] of asks) {
      const error = await c.refused(method, params);
      assert.equal(error.code, -32002, method);
      assert.deepEqual(error.data, { sessionId }, method);
    }
    await c.cancel(sessionId); // nobody minds
    // The SDK reads "not found" as success here, as it should.
    await c.request("session/close", { sessionId });
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });

  await kase(name("params that are invalid are refused with the place of the mistake"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.raw({ jsonrpc: "2.0", id: "raw-5", method: "session/prompt", params: { sessionId: c.sessionId, prompt: "no list" } });
    const answer = await c.until("the answer", () => c.lines.find((line) => line.id === "raw-5"));
    assert.equal(answer.error.code, -32602);
    assert.match(answer.error.message, /prompt/);
  });
}

async function oldSessions(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("session/list gives pages by cursor and filters by cwd"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const first = await c.request("session/list", {});
    assert.deepEqual(ids(first), ["old-1", "old-2", "old-3"]);
    assert.equal(first.sessions[0].title, "old-1");
    assert.equal(first.sessions[0].updatedAt, "2026-01-02T03:04:05Z");
    const second = await c.request("session/list", { cursor: first.nextCursor });
    assert.deepEqual(ids(second), ["old-4", "old-5"]);
    assert.equal(second.nextCursor ?? null, null);
    const one = await c.request("session/list", { cwd: "/w/one" });
    assert.deepEqual(ids(one), ["old-1", "old-2", "old-4"]);
    assert.equal(one.nextCursor ?? null, null);
    assert.deepEqual(ids(await c.request("session/list", { cwd: "/w/none" })), []);
    assert.equal((await c.refused("session/list", { cursor: "made up" })).code, -32602);
  });

  await kase(name("a deleted session is gone from the list and cannot be opened"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    assert.deepEqual(await c.request("session/delete", { sessionId: "old-2" }), {});
    assert.deepEqual(await c.request("session/delete", { sessionId: "old-2" }), {});
    assert.deepEqual(ids(await c.request("session/list", { cwd: "/w/one" })), ["old-1", "old-4"]);
    const error = await c.refused("session/resume", { sessionId: "old-2", cwd: "/w", mcpServers: [] });
    assert.equal(error.code, -32002);
  });

  await kase(name("deleting a session at work ends it"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    await c.request("session/resume", { sessionId: "old-1", cwd: "/w/one", mcpServers: [] });
    const turn = c.prompt("say at work\nwait", "old-1");
    await c.heard("at work", "old-1");
    await c.request("session/delete", { sessionId: "old-1" });
    assert.equal((await turn).stopReason, "cancelled");
    assert.deepEqual(ids(await c.request("session/list", { cwd: "/w/one" })), ["old-2", "old-4"]);
  });

  const load = (c, sessionId) =>
    v === 1
      ? c.request("session/load", { sessionId, cwd: "/w/one", mcpServers: [] })
      : c.request("session/resume", { sessionId, cwd: "/w/one", replayFrom: { type: "start" } });

  await kase(name("load replays the history before it answers"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const answer = await load(c, "old-1");
    const at = c.lines.findIndex((line) => line.result?.configOptions);
    const history = c.lines
      .slice(0, at)
      .filter((line) => line.method === "session/update")
      .map((line) => line.params.update);
    const kinds = history.map((update) => update.sessionUpdate);
    await c.settled();
    assert.equal(answer.configOptions.length, v === 1 ? 2 : 3);
    const wholeFirst = (kind, chunk) =>
      v === 2 ? [kind, ...chunk] : chunk; // version 2 begins every replayed message anew
    assert.deepEqual(kinds, [
      ...wholeFirst("user_message", ["user_message_chunk", "user_message_chunk"]),
      ...wholeFirst("agent_thought", ["agent_thought_chunk"]),
      ...(v === 1
        ? ["tool_call", "tool_call_update", "tool_call_update", "plan"]
        : ["tool_call_update", "tool_call_update", "tool_call_update", "plan_update"]),
      // It was said in two pieces, which are replayed as one.
      ...wholeFirst("agent_message", ["agent_message_chunk"]),
      "user_message_chunk",
      v === 2 ? "state_update" : "available_commands_update", // version 2 has commands in its answer
    ]);
    const chunks = history.filter((update) => update.sessionUpdate.endsWith("_chunk"));
    assert.deepEqual(chunks.map((chunk) => chunk.messageId), ["u-1", "u-1", "t-1", LONG, "u-1"]);
    assert.equal(c.text("old-1"), "what was answered");
    if (v === 2) {
      const whole = history.filter((update) => Array.isArray(update.content) && update.messageId);
      assert.deepEqual(whole.map((update) => update.content), [[], [], []]);
      assert.equal(history.at(-1).state, "idle");
    }
  });

  await kase(name("a loaded session goes on"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    await load(c, "old-1");
    await c.settled();
    c.updates.length = 0;
    c.check.updates = 0;
    assert.equal((await c.prompt("say again", "old-1")).stopReason, "end_turn");
    assert.equal(c.text("old-1"), "again");
    const [chunk] = c.of("old-1", "agent_message_chunk");
    assert.notEqual(chunk.messageId, LONG);
  });

  await kase(name("resume opens without history"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const answer = await c.request("session/resume", { sessionId: "old-3", cwd: "/w/two", mcpServers: [] });
    assert.equal(answer.configOptions.length, v === 1 ? 2 : 3);
    await c.settled();
    const kinds = c.of("old-3").map((update) => update.sessionUpdate);
    assert.deepEqual(kinds, v === 1 ? ["available_commands_update"] : ["state_update"]);
    assert.equal((await c.prompt("say on", "old-3")).stopReason, "end_turn");
  });

  if (v === 2) {
    await kase(name("resume from anywhere but the start is refused"), async (keep) => {
      const c = keep(start());
      await c.initialize();
      const params = { sessionId: "old-1", cwd: "/w/one", replayFrom: { type: "_middle" } };
      assert.equal((await c.refused("session/resume", params)).code, -32602);
    });
  }

  for (const bare of [false, true]) {
    if (v === 1 && bare) continue; // such an agent does not offer it
    const what = `resume of a session at work${bare ? ", by an agent without a memory," : ""}`;
    const end = v === 1 ? "is refused and does not touch it" : "tells it as it is";
    await kase(name(`${what} ${end}`), async (keep) => {
      const c = keep(start(bare ? ["--bare"] : []));
      await c.open();
      const place = { sessionId: c.sessionId, cwd: "/w", mcpServers: [] };
      const turn = c.prompt("say working\nwait");
      await c.heard("working");
      if (v === 1) {
        assert.equal((await c.refused("session/resume", place)).code, -32600);
      } else {
        const from = c.updates.length;
        const answer = await c.request("session/resume", place);
        await c.settled();
        const told = c.updates.slice(from).map(({ update }) => [update.sessionUpdate, update.state]);
        assert.deepEqual(told, [["state_update", "running"]]);
        assert.deepEqual(
          answer.configOptions.map((option) => option.configId),
          ["model", "verbose", "mode"],
        );
        assert.deepEqual(answer.availableCommands.map((command) => command.name), ["test", "explain"]);
        const replay = { ...place, replayFrom: { type: "start" } };
        if (bare) {
          const before = c.updates.length;
          await c.request("session/resume", replay);
          await c.settled();
          const again = JSON.stringify(c.updates.slice(before));
          for (const part of ["user_message", "working", '"state":"running"']) assert.ok(again.includes(part), again);
        } else {
          assert.equal((await c.refused("session/resume", replay)).code, -32600);
        }
      }
      await c.cancel();
      assert.equal((await turn).stopReason, "cancelled");
    });
  }

  await kase(name("close ends the running turn as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say working\nwait");
    await c.heard("working");
    assert.deepEqual(await c.request("session/close", { sessionId: c.sessionId }), {});
    assert.equal((await turn).stopReason, "cancelled");
    const closed = c.lines.findLast((line) => line.id !== undefined && !line.method);
    assert.deepEqual(closed.result, {}); // the turn ended before the answer
    const prompt = [{ type: "text", text: "say x" }];
    const error = await c.refused("session/prompt", { sessionId: c.sessionId, prompt });
    assert.equal(error.code, -32002);
  });
}

async function options(v, start) {
  const name = (what) => `v${v} agent: ${what}`;
  const set = (c, configId, value) =>
    c.request("session/set_config_option", {
      sessionId: c.sessionId,
      configId,
      value,
      ...(typeof value === "boolean" ? { type: "boolean" } : v === 2 ? { type: "id" } : {}),
    });
  const valueOf = (answer, id) =>
    answer.configOptions.find((option) => (option.id ?? option.configId) === id).currentValue;

  await kase(name("options are set, chosen and switched"), async (keep) => {
    const c = keep(start());
    await c.open();
    const chosen = await set(c, "model", "large-1");
    assert.equal(valueOf(chosen, "model"), "large-1");
    assert.equal(chosen.configOptions.length, v === 1 ? 2 : 3);
    assert.equal(valueOf(await set(c, "verbose", true), "verbose"), true);
    await c.prompt("where");
    assert.match(c.text(), /model=large-1\nverbose=1/);
  });

  await kase(name("options and values that are not offered are refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    for (const [id, value] of [["model", "huge"], ["colour", "red"], ["verbose", "yes"], ["model", true]]) {
      await assert.rejects(set(c, id, value), { code: -32602 }, `${id} ${value}`);
    }
    await c.prompt("where");
    assert.match(c.text(), /mode=ask\nmodel=fast-1\nverbose=0/);
  });

  await kase(name("modes are set, and unknown ones refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    if (v === 1) {
      await c.request("session/set_mode", { sessionId: c.sessionId, modeId: "code" });
      const error = await c.refused("session/set_mode", { sessionId: c.sessionId, modeId: "fly" });
      assert.equal(error.code, -32602);
    } else {
      const answer = await set(c, "mode", "code");
      assert.equal(valueOf(answer, "mode"), "code");
      assert.equal(answer.configOptions.length, 3);
      await assert.rejects(set(c, "mode", "fly"), { code: -32602 });
      assert.equal(valueOf(await set(c, "verbose", true), "mode"), "code");
    }
    await c.prompt("where");
    assert.match(c.text(), /mode=code/);
  });

  await kase(name("the agent changes mode and options by itself"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("mode code\noptions\nmode ask");
    const changed = c.of(c.sessionId, "current_mode_update", "config_option_update");
    assert.equal(valueOf(changed[1], "verbose"), true);
    if (v === 1) {
      assert.equal(changed[0].currentModeId, "code");
      assert.equal(changed[2].currentModeId, "ask");
    } else {
      // Always all options, each with what was last said of it.
      const told = changed.map((update) => [valueOf(update, "mode"), valueOf(update, "verbose")]);
      assert.deepEqual(told, [["code", false], ["code", true], ["ask", true]]);
    }
  });

  await kase(name("options are set while a turn is at work"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say working\nwait");
    await c.heard("working");
    assert.equal(valueOf(await set(c, "model", "fast-2"), "model"), "fast-2");
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
  });

  if (v === 1) {
    await kase(name("switches are not shown to a client that has none"), async (keep) => {
      const { session, ...rest } = FULL_CAPABILITIES[1];
      assert.ok(session);
      const c = keep(start([], { capabilities: rest }));
      const answer = await c.open();
      assert.deepEqual(answer.configOptions.map((option) => option.id), ["model"]);
      assert.deepEqual((await set(c, "model", "fast-2")).configOptions.map((o) => o.id), ["model"]);
    });
  }
}

export async function sessionCases(v, start) {
  await initialization(v, start);
  await authentication(v, start);
  await opening(v, start);
  await oldSessions(v, start);
  await options(v, start);
}
