// acpx, a client that others have written, with one of our agents.  Every command of it is a
// process; prompts to a session go to one more that it leaves running, the owner of the session's
// queue.  All of it lives in a home folder that is made for the case and removed with it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { skip } from "../conformance/tap.mjs";
import { within } from "./cases.mjs";
import { gone, isAlive } from "./processes.mjs";
import { WireCheck, askedOf } from "./wire.mjs";

const NEEDED = [22, 13]; // the Node that acpx asks for
const COMMAND_MS = 30_000;
const modules = fileURLToPath(new URL("../peers/node_modules/", import.meta.url));
const program = join(modules, "acpx/dist/cli.js");

function isNewEnough([major, minor]) {
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** The Node that came with acpx; where there is none for this system, ours. */
function findNode() {
  const brought = join(modules, `node-${process.platform}-${process.arch}/bin/node`);
  if (existsSync(brought)) return brought;
  if (isNewEnough(process.versions.node.split(".").map(Number))) return process.execPath;
  return skip(`node ${process.versions.node} is older than ${NEEDED.join(".")}`);
}

if (!existsSync(program)) skip("tests/peers is not installed; scripts/setup-npm tries to");
const node = findNode();

/** The lines that are JSON-RPC messages, parsed. */
function messagesIn(text) {
  const parsed = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return parsed.filter((value) => value.jsonrpc !== undefined && value.id !== null);
}

export class Acpx {
  constructor(agent) {
    // It is split as a shell would do, and runs in the folder of the session.
    this.agent = `"${resolve(agent).replace(/(["\\])/g, "\\$1")}"`;
    this.home = mkdtempSync(join(tmpdir(), "acp-interop-acpx-"));
    this.cwd = join(this.home, "work");
    mkdirSync(this.cwd);
    this.running = new Set();
    this.conversations = []; // texts of lines between acpx and the agent
    this.said = ""; // the last words of commands, for people
  }

  /** Starts a command; `ended` gives what became of it. */
  start(args, { input = "", format = "json" } = {}) {
    const flags = ["--agent", this.agent, "--cwd", this.cwd, "--ttl", "60", "--format", format];
    const child = spawn(node, [program, ...flags, ...args], {
      cwd: this.cwd,
      env: { ...process.env, HOME: this.home },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    this.running.add(child);
    const ended = new Promise((done) =>
      child.on("close", (code, signal) => {
        this.running.delete(child);
        const how = signal ?? code;
        this.said += `acpx ${args.join(" ")}: ${how}\n${out.slice(-600)}${err.slice(-600)}`;
        done({ code: how, out, err });
      }),
    );
    return { ended: within(COMMAND_MS, `acpx ${args[0]}`, ended), output: () => out };
  }

  run(args, options) {
    return this.start(args, options).ended;
  }

  /** A command that prints one JSON document. */
  async ask(...args) {
    const { code, out, err } = await this.run(args);
    if (code !== 0) throw new Error(`acpx ${args.join(" ")} ended with ${code}: ${out}${err}`);
    return JSON.parse(out);
  }

  /** One prompt without a session; its output is the whole conversation. */
  async exec(args, options) {
    const result = await this.run([...args, "exec"], options);
    this.conversations.push(result.out);
    return { ...result, messages: messagesIn(result.out) };
  }

  async prompt(session, words) {
    const result = await this.run(["prompt", "-s", session, words]);
    return { ...result, messages: messagesIn(result.out) };
  }

  // ---- The end ----

  /** The conversations of sessions, which acpx writes down. */
  journals() {
    const folder = join(this.home, ".acpx/sessions");
    if (!existsSync(folder)) return [];
    const names = readdirSync(folder).filter((name) => name.endsWith(".stream.ndjson"));
    return names.map((name) => readFileSync(join(folder, name), "utf8"));
  }

  /** Owners of queues that still run; each leads a process group, which has its agent in it. */
  owners() {
    const folder = join(this.home, ".acpx/queues");
    if (!existsSync(folder)) return [];
    const locks = readdirSync(folder).filter((name) => name.endsWith(".lock"));
    return locks.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).pid);
  }

  tail() {
    return `acpx said last:\n${this.said.slice(-3000)}`;
  }

  async stop() {
    for (const child of this.running) child.kill("SIGKILL");
    for (const pid of this.owners()) {
      if (isAlive(pid)) process.kill(-pid, "SIGKILL");
      await gone(pid);
    }
    const conversations = [...this.conversations, ...this.journals()];
    rmSync(this.home, { recursive: true, force: true });
    // The sockets are not in the home, since their names would get too long.
    const hash = createHash("sha256").update(this.home).digest("hex").slice(0, 10);
    rmSync(`/tmp/acpx-${hash}`, { recursive: true, force: true });
    const checks = conversations.flatMap(check);
    return {
      failures: checks.flatMap((one) => one.failures),
      checked: checks.reduce((sum, one) => sum + one.lines, 0),
    };
  }
}

/** Holds what the agent wrote against the schema; every "initialize" begins a new connection. */
function check(conversation) {
  const checks = [];
  for (const message of messagesIn(conversation)) {
    if (message.method === "initialize") checks.push(new WireCheck("agent"));
    const one = checks.at(-1);
    const ours = message.method ? askedOf(message.method) === "client" : one.theirs.has(message.id);
    if (ours) one.ourLine(JSON.stringify(message));
    else one.theirLine(JSON.stringify(message));
  }
  return checks;
}
