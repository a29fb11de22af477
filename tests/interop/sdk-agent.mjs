// An agent written on the official SDK, for both versions, that does what the prompt says, line by
// line, like actor-agent.  What it reads and writes is kept in the file INTEROP_LOG, one line each,
// behind "<" and ">"; "=" stands where an agent has been started.
//
//     node sdk-agent.mjs [--v1 | --v2] [--router] [--bare] [--auth] [--login]
//
// --v1, --v2   only that version
// --router     behind the SDK's router, which both versions together always are
// --bare       offers nothing
// --auth       no session before somebody has logged in
// --login      logs in at the terminal, for those that are started after it, and exits

import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { lineSplitter } from "./lines.mjs";
import { allBlocks, allUpdates, diffTool, history, planUpdate, toolUpdates } from "./script.mjs";

const flags = new Set(process.argv.slice(2));
const bare = flags.has("--bare");

// What a login leaves behind; the method's environment says how to log in.
const credentials = `${process.env.INTEROP_LOG}.credentials`;
if (flags.has("--login")) {
  if (process.env.INTEROP_LOGIN !== "terminal" || !flags.has("--auth")) process.exit(1);
  if (existsSync(credentials)) process.exit(2); // once is enough
  writeFileSync(credentials, "");
  process.exit(0);
}

// Half of the time that this program takes is reading the SDK: what is not needed is left out.
const router = flags.has("--router") || !(flags.has("--v1") || flags.has("--v2"));
const v1 = router || flags.has("--v1") ? await import("@agentclientprotocol/sdk") : undefined;
const v2 =
  router || flags.has("--v2") ? await import("@agentclientprotocol/sdk/experimental/v2") : undefined;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (words) => ({ type: "text", text: words });

// ---- Sessions ----

const OLD = ["old-1", "old-2", "old-3", "old-4", "old-5"].map((sessionId, i) => ({
  sessionId,
  cwd: i % 2 ? "/w/two" : "/w/one",
  title: sessionId,
  updatedAt: "2026-01-02T03:04:05Z",
}));
const sessions = new Map();
let loggedIn = !flags.has("--auth") || existsSync(credentials);
let messages = 0;

class Session {
  constructor(version, sessionId, client, { cwd, additionalDirectories = [], mcpServers = [] }) {
    Object.assign(this, { version, sessionId, client, cwd, additionalDirectories, mcpServers });
    this.mode = "ask";
    this.model = "fast-1";
    this.verbose = false;
    this.cancellers = {};
    sessions.set(sessionId, this);
  }

  update(update) {
    return this.client.notify("session/update", { sessionId: this.sessionId, update });
  }

  say(words) {
    return this.update({
      sessionUpdate: "agent_message_chunk",
      content: text(words),
      messageId: (this.messageId ??= `m-${++messages}`),
    });
  }

  options() {
    const v = this.version;
    const id = (name) => (v === 1 ? { id: name } : { configId: name });
    const group = (name, ...values) => ({
      ...(v === 1 ? { group: name } : { groupId: name }),
      name,
      options: values.map((value) => ({ value, name: value })),
    });
    const mode = {
      ...id("mode"),
      name: "Mode",
      category: "mode",
      type: "select",
      currentValue: this.mode,
      options: ["ask", "code"].map((value) => ({ value, name: value })),
    };
    return [
      {
        ...id("model"),
        name: "Model",
        category: "model",
        type: "select",
        currentValue: this.model,
        options: [group("fast", "fast-1", "fast-2"), group("large", "large-1")],
      },
      { ...id("verbose"), name: "Verbose", type: "boolean", currentValue: this.verbose },
      ...(v === 2 ? [mode] : []),
    ];
  }

  setup() {
    const configOptions = this.options();
    if (this.version === 2) return { configOptions, availableCommands: commands(2) };
    const availableModes = ["ask", "code"].map((id) => ({ id, name: id }));
    return { configOptions, modes: { currentModeId: this.mode, availableModes } };
  }
}

function commands(version) {
  if (version === 1) {
    return [
      { name: "test", description: "Runs the tests" },
      { name: "explain", description: "Explains", input: { hint: "what" } },
    ];
  }
  return [
    { type: "command", name: "test", description: "Runs the tests" },
    {
      type: "command",
      name: "explain",
      description: "Explains",
      input: { type: "text", hint: "what" },
    },
  ];
}

// ---- The lines of a prompt ----

class Cancelled extends Error {}

class Turn {
  constructor(session, sdk, signal) {
    this.session = session;
    this.sdk = sdk;
    this.abort = new AbortController();
    this.cancelled = new Promise((_, reject) =>
      this.abort.signal.addEventListener("abort", () => reject(new Cancelled())),
    );
    this.cancelled.catch(() => {});
    signal?.addEventListener("abort", () => this.abort.abort());
    session.messageId = undefined;
  }

  /** Asks the client; a cancelled turn waits no more. */
  ask(method, params) {
    const options = { cancellationSignal: this.abort.signal };
    const answer = this.session.client.request(
      method,
      { sessionId: this.session.sessionId, ...params },
      options,
    );
    answer.catch(() => {});
    return Promise.race([answer, this.cancelled]);
  }

  async run(script) {
    for (const line of script.split("\n")) {
      const [, word, rest] = /^(\S*) ?(.*)$/s.exec(line);
      const stop = await LINES[word](this, this.session, rest);
      if (stop) return stop;
    }
    return "end_turn";
  }
}

const PERMISSION_OPTIONS = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "yes-always", name: "Always allow", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "no-always", name: "Always reject", kind: "reject_always" },
];

function permission(session, title) {
  const toolCall = { toolCallId: "tool-ask", title, kind: "delete", rawInput: { path: "/" } };
  if (session.version === 1) return { toolCall, options: PERMISSION_OPTIONS };
  return {
    title: `May I: ${title}`,
    description: "It is necessary.",
    subject: { type: "tool_call", toolCall },
    options: PERMISSION_OPTIONS,
  };
}

async function told(session, what, ask) {
  try {
    await session.say(`${what}: ${JSON.stringify(await ask)}\n`);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    await session.say(`${what}: ${error.code} ${error.message}\n`);
  }
}

async function terminal(turn, session, command, kill) {
  const handle = await session.client.createTerminal({
    sessionId: session.sessionId,
    command: "/bin/sh",
    args: ["-c", command],
    env: [{ name: "GREETING", value: "hello" }],
    cwd: session.cwd,
    outputByteLimit: 64,
  });
  await session.update({
    sessionUpdate: "tool_call",
    toolCallId: "tool-term",
    title: "Running",
    content: [{ type: "terminal", terminalId: handle.id }],
  });
  if (kill) await handle.kill();
  const { exitCode, signal } = await Promise.race([handle.waitForExit(), turn.cancelled]);
  const { output, truncated } = await handle.currentOutput();
  await handle.release();
  await session.say(`${exitCode ?? signal}: ${output}${truncated ? " (truncated)" : ""}\n`);
}

const LINES = {
  say: (turn, session, words) => session.say(words).then(() => undefined),
  think: async (turn, session, words) => {
    const update = { sessionUpdate: "agent_thought_chunk", content: text(words), messageId: "t-1" };
    await session.update(update);
  },
  wait: (turn) => turn.cancelled,
  stop: (turn, session, reason) => reason,
  fail: (turn, session, words) => {
    throw new turn.sdk.RequestError(-32603, words);
  },
  stream: async (turn, session, rest) => {
    const [n, ms] = rest.split(" ").map(Number);
    for (let i = 0; i < n; i++) {
      await session.say("tick\n");
      await Promise.race([sleep(ms), turn.cancelled]);
    }
  },
  plan: async (turn, session) => session.update(planUpdate(session.version)).then(() => undefined),
  tool: async (turn, session) => {
    for (const update of toolUpdates(session.version)) await session.update(update);
  },
  diff: async (turn, session) => void (await session.update(diffTool(session.version))),
  blocks: async (turn, session) => {
    for (const content of allBlocks()) {
      await session.update({ sessionUpdate: "agent_message_chunk", content, messageId: "b-1" });
    }
  },
  every: async (turn, session) => {
    for (const update of allUpdates(session, commands(session.version))) {
      await session.update(update);
    }
  },
  // Kinds that nobody knows, and known ones that are invalid.
  strange: async (turn, session) => {
    await session.update({ sessionUpdate: "_x_custom", deep: { a: [1] } });
    await session.update({ sessionUpdate: "from_the_future", value: 1 });
    await session.update({ sessionUpdate: "agent_message_chunk", messageId: "z", content: 7 });
    await session.say("after");
  },
  permission: async (turn, session, title) => {
    const params = permission(session, title || "Remove everything");
    if (session.version === 2) {
      await session.update({ sessionUpdate: "state_update", state: "requires_action" });
    }
    const answer = turn.ask("session/request_permission", params);
    await told(session, "permission", answer);
    // The SDK may hand us this answer before the cancellation that came before it.
    const { outcome } = await answer.catch(() => ({}));
    if (outcome?.outcome === "cancelled") await Promise.race([sleep(20), turn.cancelled]);
    if (session.version === 2) {
      await session.update({ sessionUpdate: "state_update", state: "running" });
    }
  },
  // Does not take its question back, and waits for the answer also when it is cancelled.
  stubborn: async (turn, session) => {
    const params = { sessionId: session.sessionId, ...permission(session, "Answer me") };
    const { outcome } = await session.client.request("session/request_permission", params);
    await session.say(`permission: ${JSON.stringify(outcome)}\n`);
    await turn.cancelled;
  },
  // A tool call and a terminal that can be cancelled, until they are.
  cancellable: async (turn, session) => {
    const tool = { sessionUpdate: "tool_call_update", toolCallId: "tool-c", title: "Long" };
    const terminal = { sessionUpdate: "terminal_update", terminalId: "term-c", command: "sleep" };
    const capabilities = { cancel: {} };
    const cancelled = (id) => new Promise((done) => (session.cancellers[id] = done));
    const both = Promise.all([cancelled("tool-c"), cancelled("term-c")]);
    await session.update({ ...tool, status: "in_progress", capabilities });
    await session.update({ ...terminal, capabilities });
    await Promise.race([both, turn.cancelled]);
    await session.update({ ...tool, status: "cancelled", capabilities: null });
    await session.update({ ...terminal, exitStatus: { signal: "SIGTERM" } });
    await session.say("cancelled");
  },
  // An update with something beside it.
  traced: async (turn, session) => {
    await session.client.notify("session/update", {
      sessionId: session.sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: text("traced"), messageId: "tr" },
      _meta: { traceparent: "00-1" },
    });
  },
  // Reads a file later, also when the session is closed by then.
  "read-later": async (turn, session, rest) => {
    const [ms, path] = rest.split(" ");
    const { sessionId, client } = session;
    setTimeout(() => {
      client.request("fs/read_text_file", { sessionId, path }).catch(() => {});
    }, Number(ms));
  },
  command: async (turn, session) => {
    const params = {
      title: "Run it?",
      subject: { type: "command", command: "make", cwd: session.cwd },
      options: PERMISSION_OPTIONS,
    };
    await told(session, "permission", turn.ask("session/request_permission", params));
  },
  // Asks once it is cancelled: the question crosses the cancellation.
  crossing: async (turn, session) => {
    await turn.cancelled.catch(() => {});
    const params = { sessionId: session.sessionId, ...permission(session, "Too late") };
    const answer = await session.client.request("session/request_permission", params);
    await session.say(`permission: ${JSON.stringify(answer)}\n`);
    throw new Cancelled();
  },
  // Takes its question back and goes on.
  withdraw: async (turn, session) => {
    const abort = new AbortController();
    const params = { sessionId: session.sessionId, ...permission(session, "Never mind") };
    const answer = session.client.request("session/request_permission", params, {
      cancellationSignal: abort.signal,
    });
    await sleep(30);
    abort.abort();
    await told(session, "permission", answer);
  },
  read: async (turn, session, rest) => {
    const [path, line, limit] = rest.split(" ");
    const params = { path, ...(line && { line: +line }), ...(limit && { limit: +limit }) };
    await told(session, "read", turn.ask("fs/read_text_file", params));
  },
  write: async (turn, session, rest) => {
    const [path, ...content] = rest.split(" ");
    const ask = turn.ask("fs/write_text_file", { path, content: content.join(" ") });
    await told(session, "write", ask);
  },
  terminal: (turn, session, command) => terminal(turn, session, command, false),
  kill: (turn, session, command) => terminal(turn, session, command, true),
  elicit: async (turn, session, mode) => {
    const requestedSchema = {
      type: "object",
      properties: {
        name: { type: "string", title: "Name", minLength: 1 },
        size: { type: "number" },
        count: { type: "integer", minimum: 1 },
        sure: { type: "boolean", default: true },
        colours: { type: "array", items: { type: "string", enum: ["red", "green"] } },
      },
      required: ["name"],
    };
    const params =
      mode === "url"
        ? { mode, message: "Sign in", elicitationId: "e-1", url: "https://example.com/in" }
        : { mode, message: "Tell me", requestedSchema };
    await told(session, "elicited", turn.ask("elicitation/create", params));
    if (mode === "url") {
      await session.client.notify("elicitation/complete", { elicitationId: "e-1" });
    }
  },
  custom: async (turn, session) => {
    await session.client.notify("_x/note", { n: 1 });
    await told(session, "pong", session.client.request("_x/ping", { n: 1 }));
  },
  where: (turn, session) =>
    session.say(
      [session.cwd, ...session.additionalDirectories, ...session.mcpServers.map((s) => s.name)].join(
        " ",
      ),
    ),
  options: async (turn, session) => {
    session.verbose = !session.verbose;
    await session.update({
      sessionUpdate: "config_option_update",
      configOptions: session.options(),
    });
  },
  mode: async (turn, session, mode) => {
    session.mode = mode;
    await session.update({ sessionUpdate: "current_mode_update", currentModeId: mode });
  },
  later: async (turn, session, rest) => {
    const [ms, ...words] = rest.split(" ");
    setTimeout(() => session.say(words.join(" ")), Number(ms));
  },
  crash: (turn, session, words) => {
    process.stderr.write(`${words}\n`);
    process.exit(3);
  },
  noise: async (turn, session) => {
    process.stdout.write("this is not JSON\n");
    await sleep(10);
  },
};

/** What a prompt says: its first text, or all of it said back. */
async function act(turn, prompt) {
  if (prompt.length === 1 && prompt[0].type === "text") return turn.run(prompt[0].text);
  for (const content of prompt) {
    await turn.session.update({ sessionUpdate: "agent_message_chunk", content, messageId: "e" });
  }
  return "end_turn";
}

// ---- The agent, as far as the versions are alike ----

function find(sdk, { sessionId }) {
  const session = sessions.get(sessionId);
  if (!session) throw new sdk.RequestError(-32002, "No such session", { sessionId });
  return session;
}

function gate(sdk) {
  if (!loggedIn) throw new sdk.RequestError(-32000, "Log in first");
}

async function openNew(version, sdk, { params, client }) {
  gate(sdk);
  const session = new Session(version, `s-${sessions.size + 1}`, client, params);
  // Before the client can know the session, which it must bear.
  if (params.cwd === "/w/early") await session.say("early");
  if (version === 1) {
    setTimeout(() => session.update({
      sessionUpdate: "available_commands_update",
      availableCommands: commands(1),
    }));
  }
  return { sessionId: session.sessionId, ...session.setup() };
}

async function openOld(version, sdk, { params, client }, replay) {
  gate(sdk);
  if (!OLD.some(({ sessionId }) => sessionId === params.sessionId)) {
    throw new sdk.RequestError(-32002, "No such session", { sessionId: params.sessionId });
  }
  const session = new Session(version, params.sessionId, client, params);
  if (replay) for (const update of history(version)) await session.update(update);
  if (version === 2) await session.update({ sessionUpdate: "state_update", state: "idle" });
  return session.setup();
}

function list(sdk, { params: { cwd, cursor } }) {
  if (cursor && cursor !== "page-2") throw new sdk.RequestError(-32602, "Not a cursor of ours");
  const all = OLD.filter((session) => !cwd || session.cwd === cwd);
  if (cursor) return { sessions: all.slice(3) };
  return { sessions: all.slice(0, 3), ...(all.length > 3 && { nextCursor: "page-2" }) };
}

function setOption(sdk, { params }) {
  const session = find(sdk, params);
  const { configId, value } = params;
  if (configId === "verbose" && typeof value === "boolean") session.verbose = value;
  else if (configId === "model" && /^(fast-[12]|large-1)$/.test(value)) session.model = value;
  else if (configId === "mode" && /^(ask|code)$/.test(value)) session.mode = value;
  else throw new sdk.RequestError(-32602, "No such option or value");
  return { configOptions: session.options() };
}

function remove({ params }) {
  const at = OLD.findIndex(({ sessionId }) => sessionId === params.sessionId);
  if (at >= 0) OLD.splice(at, 1);
  sessions.delete(params.sessionId);
  return {};
}

function close(sdk, { params }) {
  const session = find(sdk, params);
  session.turn?.abort.abort();
  sessions.delete(params.sessionId);
  return {};
}

function cancelOne(params, id) {
  const session = find(v2, params);
  if (!session.cancellers[id]) throw new v2.RequestError(-32602, "Nothing to cancel");
  session.cancellers[id]();
  return {};
}

const login = (sdk) => ({ params }) => {
  if (params.methodId !== "token") throw new sdk.RequestError(-32602, "No such method");
  loggedIn = true;
  return {};
};
const logout = () => ((loggedIn = false), {});

function common(app, version, sdk) {
  const { agent } = sdk.methods;
  app
    .onRequest(agent.session.new, (context) => openNew(version, sdk, context))
    .onRequest(agent.session.prompt, (context) => PROMPT[version](context))
    .onNotification(agent.session.cancel, ({ params }) => {
      const session = sessions.get(params.sessionId);
      session?.drop?.();
      session?.turn?.abort.abort();
    })
    .onNotification("*", ({ method, params, client }) => client.notify(`${method}d`, params))
    .onRequest("*", ({ method, params }) => {
      if (method !== "_x/echo") throw sdk.RequestError.methodNotFound(method);
      return params;
    });
  if (bare && version === 1) return app;
  return app
    .onRequest(agent.session.list, (context) => list(sdk, context))
    .onRequest(agent.session.delete, remove)
    .onRequest(agent.session.close, (context) => close(sdk, context))
    .onRequest(agent.session.setConfigOption, (context) => setOption(sdk, context))
    .onRequest(agent.session.resume, (context) =>
      openOld(version, sdk, context, Boolean(context.params.replayFrom)),
    );
}

/** Version 1: the answer is the end. */
async function promptV1({ params, signal }) {
  const session = find(v1, params);
  const turn = (session.turn = new Turn(session, v1, signal));
  try {
    return { stopReason: await act(turn, params.prompt) };
  } catch (error) {
    if (error instanceof Cancelled) return { stopReason: "cancelled" };
    throw error;
  } finally {
    session.turn = undefined;
  }
}

async function workV2(session, turn, prompt, messageId) {
  const state = (more) => session.update({ sessionUpdate: "state_update", ...more });
  await session.update({ sessionUpdate: "user_message", messageId, content: prompt });
  await state({ state: "running" });
  let end;
  try {
    end = { stopReason: await act(turn, prompt) };
  } catch (error) {
    const { code = -32603, message } = error;
    end =
      error instanceof Cancelled
        ? { stopReason: "cancelled" }
        : { stopReason: "error", error: { code, message } };
  }
  session.turn = undefined;
  await state({ state: "idle", ...end });
}

/** Version 2: the answer says that the message was taken. */
async function promptV2({ params }) {
  const session = find(v2, params);
  const [{ text: words = "" }] = params.prompt;
  if (words === "hold") {
    // Never begins it.
    await new Promise((done) => (session.drop = done));
    throw new v2.RequestError(-32800, "Never begun");
  }
  const messageId = `u-${++messages}`;
  const turn = (session.turn = new Turn(session, v2));
  const work = () => workV2(session, turn, params.prompt, messageId).catch(() => {});
  // The work may be over before the answer is there, or begin after it.
  if (words.startsWith("say first")) await work();
  else setTimeout(work, words.startsWith("say slowly") ? 50 : 0);
  return { messageId };
}

const PROMPT = { 1: promptV1, 2: promptV2 };

// ---- The two apps ----

const info = { name: "sdk-agent", title: "SDK", version: "2.4.0" };

function makeV1() {
  const { agent } = v1.methods;
  const agentCapabilities = {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: {
      list: {},
      resume: {},
      close: {},
      delete: {},
      additionalDirectories: {},
    },
    auth: { logout: {} },
  };
  const authMethods = [
    { id: "token", name: "With a token" },
    {
      id: "tui",
      name: "In a terminal",
      type: "terminal",
      args: ["--login"],
      env: { INTEROP_LOGIN: "terminal" },
    },
  ];
  const app = common(v1.agent({ name: "sdk-agent" }), 1, v1).onRequest(agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: info,
    ...(!bare && { agentCapabilities, authMethods }),
  }));
  if (bare) return app;
  return app
    .onRequest(agent.session.load, (context) => openOld(1, v1, context, true))
    .onRequest(agent.session.setMode, ({ params }) => {
      const session = find(v1, params);
      if (!/^(ask|code)$/.test(params.modeId)) throw new v1.RequestError(-32602, "No such mode");
      session.mode = params.modeId;
      return {};
    })
    .onRequest(agent.authenticate, login(v1))
    .onRequest(agent.logout, logout);
}

function makeV2() {
  const { agent } = v2.methods;
  const session = {
    prompt: { image: {}, audio: {}, embeddedContext: {} },
    mcp: { stdio: {}, http: {} },
    delete: {},
    additionalDirectories: {},
  };
  const authMethods = [
    { type: "agent", methodId: "token", name: "With a token" },
    {
      type: "terminal",
      methodId: "tui",
      name: "In a terminal",
      args: ["--login"],
      env: [{ name: "INTEROP_LOGIN", value: "terminal" }],
    },
  ];
  return common(v2.agent({ name: "sdk-agent" }), 2, v2)
    .onRequest(agent.initialize, () => ({
      protocolVersion: 2,
      info,
      capabilities: { session: bare ? {} : session },
      authMethods: bare ? [] : authMethods,
    }))
    .onRequest(agent.toolCall.cancel, ({ params }) => cancelOne(params, params.toolCallId))
    .onRequest(agent.terminal.cancel, ({ params }) => cancelOne(params, params.terminalId))
    .onRequest(agent.auth.login, login(v2))
    .onRequest(agent.auth.logout, logout);
}

// ---- Main ----

const log = (mark) => (line) => {
  if (process.env.INTEROP_LOG) appendFileSync(process.env.INTEROP_LOG, `${mark}${line}\n`);
};

log("=")(""); // a connection begins
const read = lineSplitter(log("<"));
const wrote = lineSplitter(log(">"));
const input = new Readable({ read() {} });
process.stdin.on("data", (bytes) => {
  read(bytes);
  input.push(bytes);
});
process.stdin.on("end", () => process.exit(0));
// A client may leave while something is written to it, as at the end of its input.
process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 1));
const output = new Writable({
  write(bytes, _, done) {
    wrote(bytes);
    process.stdout.write(bytes, done);
  },
});
const stream = (v1 ?? v2).ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
if (router) {
  const both = v2.agentProtocolRouter();
  if (!flags.has("--v2")) both.withV1(makeV1());
  if (!flags.has("--v1")) both.withV2(makeV2());
  both.connect(stream);
} else {
  (v1 ? makeV1() : makeV2()).connect(stream);
}
