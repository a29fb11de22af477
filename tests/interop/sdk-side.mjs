// A client written on the official SDK, for version 1 and version 2, with the agent process that it
// drives.  All that the agent writes is kept and held against the schema.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { WireCheck } from "./wire.mjs";
import { lineSplitter } from "./lines.mjs";
import { THROUGH, THROUGH_CWD, Through } from "./through.mjs";
import { CASE_MS, STOP_MS, within } from "./cases.mjs";

const sdk = {
  1: await import("@agentclientprotocol/sdk"),
  2: await import("@agentclientprotocol/sdk/experimental/v2"),
};

export const FULL_CAPABILITIES = {
  1: {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    auth: { terminal: true },
    elicitation: { form: {}, url: {} },
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  },
  2: { auth: { terminal: {} }, elicitation: { form: {}, url: {} } },
};

/** Something that can be waited for and given from outside. */
export function promised() {
  const it = {};
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }));
  return it;
}

/** Commands that run for a version 1 agent. */
export class Terminals {
  constructor() {
    this.all = new Map();
  }

  create({ command, args = [], env = [], cwd, outputByteLimit = 1e6 }) {
    const terminalId = `terminal-${this.all.size + 1}`;
    const extra = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const child = spawn(command, args, {
      cwd: "/",
      env: { ...process.env, ...extra, CWD: cwd },
      detached: true, // leads a group, which is killed as a whole
    });
    const terminal = { child, output: "", truncated: false, status: null };
    const add = (bytes) => {
      terminal.output += bytes;
      if (terminal.output.length > outputByteLimit) {
        terminal.output = terminal.output.slice(-outputByteLimit);
        terminal.truncated = true;
      }
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    terminal.exited = new Promise((done) =>
      child.on("close", (exitCode, signal) => done((terminal.status = { exitCode, signal }))),
    );
    this.all.set(terminalId, terminal);
    return { terminalId };
  }

  get({ terminalId }) {
    const terminal = this.all.get(terminalId);
    if (!terminal) throw sdk[1].RequestError.resourceNotFound(terminalId);
    return terminal;
  }

  output(params) {
    const { output, truncated, status } = this.get(params);
    return { output, truncated, exitStatus: status };
  }

  kill(params) {
    const { child, status } = this.get(params);
    if (!status) process.kill(-child.pid, "SIGKILL");
    return {};
  }

  release(params) {
    this.kill(params);
    this.all.delete(params.terminalId);
    return {};
  }

  end() {
    for (const terminalId of this.all.keys()) this.release({ terminalId });
  }
}

export class SdkClient {
  /** command is the agent's program with its arguments. */
  constructor(version, command, { capabilities } = {}) {
    this.version = version;
    this.sdk = sdk[version];
    this.capabilities = capabilities ?? FULL_CAPABILITIES[version];
    this.check = new WireCheck("agent");
    this.lines = []; // what the agent wrote, parsed
    this.updates = []; // {sessionId, update}, as the SDK delivered them
    this.others = []; // {method, params} of the other notifications
    this.permissions = []; // requests, as they came
    this.requests = []; // names of all requests of the agent, in order
    this.terminals = new Terminals();
    this.waiting = new Set();
    this.errors = "";
    // What the user of this client does; tests replace them.
    this.onPermission = () => ({ outcome: { outcome: "selected", optionId: "yes" } });
    this.onElicitation = () => ({ action: "decline" });
    this.onRead = async ({ path }) => ({ content: await readFile(path, "utf8") });
    this.onWrite = async ({ path, content }) => (await writeFile(path, content), {});
    this.onCustom = ({ params }) => ({ echoed: params });
    this.start(command);
  }

  start([program, ...args]) {
    // A proxy starts the agent in another directory.
    const [first, ...words] = [...THROUGH, THROUGH.length ? resolve(program) : program, ...args];
    this.through = new Through();
    this.child = spawn(first, words, { cwd: THROUGH_CWD, stdio: ["pipe", "pipe", "pipe"] });
    this.exited = new Promise((done) =>
      this.child.on("close", (code, signal) => done({ code, signal })),
    );
    this.child.on("error", () => {});
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (bytes) => (this.errors += bytes));
    const tapped = new Readable({ read() {} });
    const split = lineSplitter((written) => {
      const line = this.through.toClient(written);
      this.check.ourLine(line);
      this.lines.push(JSON.parse(line));
      tapped.push(`${line}\n`);
    });
    this.child.stdout.on("data", (bytes) => {
      split(bytes);
      this.poke();
    });
    this.child.stdout.on("end", () => tapped.push(null));
    const sent = lineSplitter((line) => {
      this.check.theirLine(line);
      this.child.stdin.write(`${this.through.toAgent(line)}\n`);
    });
    const into = new Writable({
      write: (bytes, _, done) => {
        sent(bytes);
        this.poke();
        done();
      },
    });
    const stream = this.sdk.ndJsonStream(Writable.toWeb(into), Readable.toWeb(tapped));
    this.connection = this.app().connect(stream);
    this.connection.closed.catch(() => {});
    this.agent = this.connection.agent;
  }

  /** Sends a line that the SDK would not. */
  raw(message) {
    const line = typeof message === "string" ? message : JSON.stringify(message);
    this.check.theirLine(line);
    this.child.stdin.write(`${this.through.toAgent(line)}\n`);
  }

  app() {
    const { client } = this.sdk.methods;
    const app = this.sdk
      .client({ name: "sdk-client" })
      .onNotification(client.session.update, ({ params }) => {
        this.updates.push(params);
        this.poke();
      })
      .onNotification(client.elicitation.complete, (context) => this.other(context))
      .onNotification("*", (context) => this.other(context))
      .onRequest(client.session.requestPermission, (context) => {
        this.permissions.push(context.params);
        return this.asked(context, this.onPermission);
      })
      .onRequest(client.elicitation.create, (context) => this.asked(context, this.onElicitation))
      .onRequest("*", (context) => this.asked(context, () => this.onCustom(context)));
    if (this.version === 2) return app;
    const t = this.terminals;
    return app
      .onRequest(client.fs.readTextFile, (context) => this.asked(context, this.onRead))
      .onRequest(client.fs.writeTextFile, (context) => this.asked(context, this.onWrite))
      .onRequest(client.terminal.create, (context) => this.asked(context, (p) => t.create(p)))
      .onRequest(client.terminal.output, (context) => this.asked(context, (p) => t.output(p)))
      .onRequest(client.terminal.waitForExit, (c) => this.asked(c, (p) => t.get(p).exited))
      .onRequest(client.terminal.kill, (context) => this.asked(context, (p) => t.kill(p)))
      .onRequest(client.terminal.release, (context) => this.asked(context, (p) => t.release(p)));
  }

  asked(context, answer) {
    this.requests.push(context.method);
    this.poke();
    return answer.call(this, context.params, context);
  }

  other({ method, params }) {
    this.others.push({ method, params });
    this.poke();
  }

  poke() {
    for (const again of [...this.waiting]) again();
  }

  /** Waits until the function gives something that is true, which it looks at after every event. */
  until(what, look) {
    let again;
    const promise = new Promise((done) => {
      again = () => {
        const value = look();
        if (value || this.stopped) done(value);
      };
      this.waiting.add(again);
      again();
    });
    return within(CASE_MS / 2, what, promise).finally(() => this.waiting.delete(again));
  }

  /** Everything on the wire has reached the SDK's handlers. */
  settled() {
    return this.until("delivery", () => this.updates.length === this.check.updates);
  }

  // ---- The conversation ----

  request(method, params, options) {
    const answer = this.agent.request(method, params, options);
    answer.catch(() => {}); // a case that fails leaves some behind
    return answer;
  }

  /** The error of a request that must fail. */
  async refused(method, params) {
    try {
      await this.request(method, params);
    } catch (error) {
      return error;
    }
    throw new Error(`${method} was not refused`);
  }

  initialize(extra = {}) {
    const info = { name: "sdk-client", version: "2.4.0", title: "SDK" };
    const params =
      this.version === 1
        ? { protocolVersion: 1, clientInfo: info, clientCapabilities: this.capabilities }
        : { protocolVersion: 2, info, capabilities: this.capabilities };
    return this.request("initialize", { ...params, ...extra });
  }

  /** initialize and session/new; gives the answer to the latter. */
  async open(cwd = "/w", mcpServers = []) {
    this.initialized = await this.initialize();
    const answer = await this.request("session/new", { cwd, mcpServers });
    this.sessionId = answer.sessionId;
    return answer;
  }

  /** Begins a turn; the promise gives {stopReason, error} at its end, in either version. */
  prompt(prompt, sessionId = this.sessionId) {
    const end = this.work(prompt, sessionId);
    end.catch(() => {});
    return end;
  }

  async work(prompt, sessionId) {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    await this.settled();
    const from = this.updates.length;
    const answer = await this.request("session/prompt", { sessionId, prompt: blocks });
    if (this.version === 1) {
      await this.settled();
      return answer;
    }
    const end = await this.until("the idle state", () =>
      this.updates
        .slice(from)
        .find(
          ({ sessionId: id, update }) =>
            id === sessionId && update.sessionUpdate === "state_update" && update.state === "idle",
        ),
    );
    await this.settled();
    return { ...end.update, messageId: answer.messageId };
  }

  cancel(sessionId = this.sessionId) {
    return this.agent.notify("session/cancel", { sessionId });
  }

  /** The updates of a session of these kinds; all without kinds. */
  of(sessionId, ...kinds) {
    return this.updates
      .filter((u) => u.sessionId === sessionId)
      .map((u) => u.update)
      .filter((u) => kinds.length === 0 || kinds.includes(u.sessionUpdate));
  }

  /** What the agent has said in a session. */
  text(sessionId = this.sessionId) {
    return this.of(sessionId, "agent_message_chunk")
      .map((u) => u.content.text ?? "")
      .join("");
  }

  /** The agent has said this, as a whole line or as part of one. */
  heard(words, sessionId = this.sessionId) {
    return this.until(`"${words}"`, () => this.text(sessionId).includes(words));
  }

  // ---- The end ----

  tail() {
    const shown = this.lines.slice(-8).map((line) => JSON.stringify(line).slice(0, 300));
    return `the agent's last lines:\n  ${shown.join("\n  ")}\n${this.errors.slice(-2000)}`;
  }

  async stop() {
    const failures = [];
    this.child.stdin.end();
    const timer = setTimeout(() => {
      failures.push("the agent did not exit when its input ended");
      this.child.kill("SIGKILL");
    }, STOP_MS);
    const { code, signal } = await this.exited;
    clearTimeout(timer);
    // A case may have ended without a wait that it began, which would keep this process.
    this.stopped = true;
    this.poke();
    this.terminals.end();
    if (code !== 0) failures.push(`the agent ended with ${signal ?? code}`);
    if (this.errors) failures.push(`the agent's standard error: ${this.errors.slice(0, 3000)}`);
    failures.push(...this.check.failures);
    if (this.updates.length !== this.check.updates) {
      failures.push(`${this.check.updates} updates were sent, the SDK took ${this.updates.length}`);
    }
    return { failures, checked: this.check.lines };
  }
}
