// One connection to an agent process: everything that goes over it is recorded and held against the
// official schema.  Nothing here waits for a fixed time: what must not arrive is shown by a fence,
// a request whose answer comes behind it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { lineSplitter } from "../../interop/lines.mjs";
import { within } from "../../interop/cases.mjs";
import { WireCheck } from "../../interop/wire.mjs";

const LATE_MS = 60_000;

/** Allows what the agent asks for. */
function allow({ options }) {
  const { optionId } = options.find(({ kind }) => kind === "allow_once") ?? options[0];
  return { outcome: { outcome: "selected", optionId } };
}

export class Connection {
  /** command is the agent's program with its arguments; tamper, for tests of the suite, changes what it says. */
  constructor(version, [program, ...args], environment, tamper) {
    this.version = version;
    this.tamper = tamper;
    this.check = new WireCheck("agent");
    this.bytes = []; // all of the standard output
    this.lines = []; // its lines
    this.messages = []; // those that are JSON, in order
    this.errors = ""; // the standard error
    this.sent = 0; // lines
    this.waiting = new Set();
    this.next = 0;
    this.onPermission = allow; // undefined as its answer: none is sent
    this.child = spawn(program, args, { env: environment, stdio: "pipe" });
    this.exited = new Promise((done) => this.child.on("close", (code, signal) => done({ code, signal })));
    this.exited.then(() => this.#poke());
    this.child.on("error", () => {});
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (bytes) => (this.errors += bytes));
    const split = lineSplitter((line) => this.#tampered(line).forEach((one) => this.#received(one)));
    this.child.stdout.on("data", (bytes) => {
      this.bytes.push(bytes);
      split(bytes);
      this.#poke();
    });
  }

  #poke() {
    for (const again of [...this.waiting]) again();
  }

  #tampered(line) {
    if (!this.tamper) return [line];
    const message = JSON.parse(line);
    const { method, params } = (message.method === undefined && this.check.theirs.get(message.id)) || {};
    return [this.tamper(message, method, params)].flat().map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  }

  #received(line) {
    this.lines.push(line);
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.check.fail(line, "is not JSON");
      return;
    }
    for (const one of Array.isArray(message) ? message : [message]) this.check.ourLine(JSON.stringify(one));
    this.messages.push(message);
    if (message?.method !== undefined && "id" in message) this.#answer(message);
  }

  #answer({ id, method, params }) {
    if (method !== "session/request_permission") {
      this.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
      return;
    }
    const result = this.onPermission(params);
    if (result) this.send({ jsonrpc: "2.0", id, result });
  }

  // ---- Sending ----

  /** Writes a line as it is; what is not a message is not remembered as one. */
  raw(line) {
    this.sent += 1;
    this.child.stdin.write(`${line}\n`);
  }

  send(message) {
    const line = JSON.stringify(message);
    this.check.theirLine(line);
    this.raw(line);
  }

  notify(method, params) {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request; the promise gives the whole response. */
  request(method, params, id = `c${(this.next += 1)}`) {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.until(`the answer to ${method}`, () => this.responses().find((one) => one.id === id));
  }

  /** The result of a request that must succeed. */
  async result(method, params) {
    const { result, error } = await this.request(method, params);
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Everything that the agent had to say until now is there. */
  fence() {
    return this.request("_conformance/fence", {});
  }

  // ---- Looking ----

  /** Waits until the function gives something true, which it looks at after every line. */
  until(what, look) {
    let again;
    const promise = new Promise((done, reject) => {
      again = () => {
        const value = look();
        if (value) done(value);
        else if (this.child.exitCode !== null && this.child.stdout.readableEnded) reject(new Error(`no ${what}: the agent has exited`));
      };
      this.waiting.add(again);
      again();
    });
    return within(LATE_MS, what, promise).finally(() => this.waiting.delete(again));
  }

  responses(from = 0) {
    return this.messages.slice(from).filter((one) => one.method === undefined);
  }

  /** What the agent asked of the client. */
  requests(from = 0) {
    return this.messages.slice(from).filter((one) => one.method !== undefined && "id" in one);
  }

  /** The updates of a session, from and to these numbers of messages. */
  updates(sessionId, from = 0, to = Infinity) {
    return this.messages
      .slice(from, to)
      .filter(({ method, params }) => method === "session/update" && params.sessionId === sessionId)
      .map(({ params }) => params.update);
  }

  indexOf(message) {
    return this.messages.indexOf(message);
  }

  // ---- The conversation ----

  initializeParams(protocolVersion, capabilities = {}) {
    const info = { name: "conformance", version: "1.0" };
    // A client of a later version has the members of version 2; those of version 1 are the same for it.
    if (this.version === 1 && protocolVersion <= 1) return { protocolVersion, clientInfo: info, clientCapabilities: capabilities };
    return { protocolVersion, info, capabilities, ...(this.version === 1 ? { clientCapabilities: capabilities } : {}) };
  }

  async initialize(protocolVersion = this.version, capabilities = {}) {
    this.initialized = await this.result("initialize", this.initializeParams(protocolVersion, capabilities));
    return this.initialized;
  }

  async open(cwd, more = {}) {
    const servers = this.version === 1 ? { mcpServers: [] } : {};
    this.setup = await this.result("session/new", { cwd, ...servers, ...more });
    return this.setup.sessionId;
  }

  /**
   * Runs a turn to its end.  during is called once when underWay says that the turn works.
   * Gives {response, updates, states, stopReason, from, end}; end is the number of the message that ended it.
   */
  async prompt(sessionId, words, { during, underWay, more = {} } = {}) {
    const prompt = typeof words === "string" ? [{ type: "text", text: words }] : words;
    const from = this.messages.length;
    const answer = this.request("session/prompt", { sessionId, prompt, ...more });
    if (during) {
      await this.until("the turn in progress", () => underWay(this.updates(sessionId, from)));
      await during();
    }
    const response = await answer;
    const isEnd = (one) =>
      one.method === "session/update" &&
      one.params.sessionId === sessionId &&
      one.params.update.sessionUpdate === "state_update" &&
      one.params.update.state === "idle";
    let last = response;
    if (this.version === 2 && !response.error)
      last = await this.until("the idle state", () => this.messages.slice(from).find(isEnd));
    const end = this.indexOf(last);
    const updates = this.updates(sessionId, from, end + 1);
    const stopReason = this.version === 1 ? response.result?.stopReason : last.params?.update.stopReason;
    const states = updates.filter(({ sessionUpdate }) => sessionUpdate === "state_update");
    return { response, updates, states, stopReason, from, end };
  }

  /** Closes the input; the agent has to exit by itself. */
  async stop() {
    this.child.stdin.end();
    try {
      return await within(LATE_MS, "the agent's exit", this.exited);
    } catch (error) {
      this.child.kill("SIGKILL");
      await this.exited;
      throw error;
    }
  }
}
