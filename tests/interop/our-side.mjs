// Our client role (actor-client) with the SDK's agent (sdk-agent.mjs) that it has started.  What the
// client prints is kept as events; what it writes to the agent is held against the schema.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CASE_MS, STOP_MS, within } from "./cases.mjs";
import { lineSplitter } from "./lines.mjs";
import { Terminals } from "./sdk-side.mjs";
import { WireCheck } from "./wire.mjs";

const SDK_AGENT = fileURLToPath(new URL("sdk-agent.mjs", import.meta.url));
let count = 0;

export class OurClient {
  constructor(program, clientFlags, agentFlags) {
    this.events = [];
    this.waiting = new Set();
    this.errors = "";
    this.log = join(tmpdir(), `acp-interop-${process.pid}-${++count}.log`);
    this.terminals = new Terminals();
    // Requests of the agent that are answered by themselves; tests replace them.
    const t = this.terminals;
    this.serve = {
      "fs/read_text_file": async ({ path }) => ({ content: await readFile(path, "utf8") }),
      "fs/write_text_file": async ({ path, content }) => (await writeFile(path, content), {}),
      "terminal/create": (params) => t.create(params),
      "terminal/output": (params) => t.output(params),
      "terminal/wait_for_exit": (params) => t.get(params).exited,
      "terminal/kill": (params) => t.kill(params),
      "terminal/release": (params) => t.release(params),
      "_x/ping": (params) => ({ echoed: params }),
    };
    this.child = spawn(program, [...clientFlags, process.execPath, SDK_AGENT, ...agentFlags], {
      env: { ...process.env, INTEROP_LOG: this.log },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.on("error", (error) => (this.errors += error));
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (bytes) => (this.errors += bytes));
    this.child.stdout.on(
      "data",
      lineSplitter((line) => this.take(JSON.parse(line))),
    );
    this.ended = new Promise((done) =>
      this.child.on("close", (code, signal) => done({ code, signal })),
    );
  }

  take(event) {
    this.events.push(event);
    if (event.event === "request" && this.serve[event.method]) {
      Promise.resolve()
        .then(() => this.serve[event.method](event.params))
        .then((result) => this.send(`answer ${event.call} ${JSON.stringify(result)}`))
        .catch((error) =>
          this.send(`refuse ${event.call} ${error.code ?? -32603} ${error.message}`),
        );
    }
    for (const again of [...this.waiting]) again();
  }

  send(line) {
    this.child.stdin.write(`${line}\n`);
  }

  until(what, look) {
    let again;
    const promise = new Promise((done) => {
      again = () => {
        const value = look();
        if (value) done(value);
      };
      this.waiting.add(again);
      again();
    });
    return within(CASE_MS / 2, what, promise).finally(() => this.waiting.delete(again));
  }

  /** The first event of that kind from now on that the function likes. */
  next(kind, like = () => true) {
    const from = this.events.length;
    return this.until(kind, () =>
      this.events.slice(from).find((event) => event.event === kind && like(event)),
    );
  }

  /** Sends a line and waits for the event that it leads to. */
  async do(line, kind, like) {
    const event = this.next(kind, like);
    this.send(line);
    return event;
  }

  /** Sends a line that is refused at once; gives the error's name. */
  async refused(line) {
    const { err } = await this.do(line, "did");
    return err;
  }

  // ---- The conversation ----

  async open(name = "a", cwd = "/w") {
    this.ready ??= await this.do("start", "ready");
    return this.do(`new ${name} ${cwd}`, "opened");
  }

  /** Begins a turn; the promise gives its end event. */
  prompt(prompt, name = "a") {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    const end = this.do(
      `prompt ${name} ${JSON.stringify(blocks)}`,
      "end",
      (event) => event.session === name,
    );
    end.catch(() => {});
    return end;
  }

  /** The events of a kind in a session. */
  of(kind, name = "a") {
    return this.events.filter((event) => event.event === kind && event.session === name);
  }

  text(name = "a") {
    return this.of("chunk", name)
      .filter((event) => event.author === "agent")
      .map((event) => event.block.text ?? "")
      .join("");
  }

  heard(words, name = "a") {
    return this.until(`"${words}"`, () => this.text(name).includes(words));
  }

  // ---- The end ----

  /** The lines between the two, as the agent saw them. */
  wire() {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, "utf8").split("\n").filter(Boolean);
  }

  /** What our client wrote, parsed. */
  sent(method) {
    return this.wire()
      .filter((line) => line[0] === "<")
      .map((line) => JSON.parse(line.slice(1)))
      .filter((message) => !method || message.method === method);
  }

  tail() {
    const shown = this.events.slice(-8).map((event) => JSON.stringify(event).slice(0, 300));
    return `the client's last events:\n  ${shown.join("\n  ")}\n${this.errors.slice(-2000)}`;
  }

  async stop() {
    const failures = [];
    this.child.stdin.end();
    const timer = setTimeout(() => {
      failures.push("the client did not exit when its input ended");
      this.child.kill("SIGKILL");
    }, STOP_MS);
    const { code, signal } = await this.ended;
    clearTimeout(timer);
    this.terminals.end();
    if (code !== 0) failures.push(`the client ended with ${signal ?? code}`);
    const errors = this.errors
      .split("\n")
      .filter((line) => line && !(this.expectErrors ?? /^$/).test(line));
    if (errors.length > 0) failures.push(`standard error: ${errors.join("\n").slice(0, 3000)}`);
    // Each agent that was started is a connection of its own.
    const checks = [];
    for (const line of this.wire()) {
      if (line[0] === "=") checks.push(new WireCheck("client"));
      else if (line[0] === "<") checks.at(-1).ourLine(line.slice(1));
      else checks.at(-1).theirLine(line.slice(1));
    }
    rmSync(this.log, { force: true });
    rmSync(`${this.log}.credentials`, { force: true });
    for (const check of checks) failures.push(...check.failures);
    return { failures, checked: checks.reduce((sum, check) => sum + check.lines, 0) };
  }
}
