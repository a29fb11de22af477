// Agents of others that are installed in tests/agents: how long one takes from its start to the answer
// to initialize, and what all of its processes have in memory after session/new.
//
//     node peer-agents.mjs start NAME     prints milliseconds, the best of some starts
//     node peer-agents.mjs memory NAME    prints KiB; what processes share is counted once
//     node peer-agents.mjs list           prints the names of those that can be run here

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENTS, configured, missing, searchPath } from "../tests/agents/agents.mjs";
import { ModelServer } from "../tests/model/server.mjs";

const STARTS = 3;
const ANSWER_MS = 60_000;
const [job, name] = process.argv.slice(2);

class Agent {
  constructor(home, url) {
    const { command, args, env } = configured(name, url);
    this.cwd = join(home, "work");
    this.waiting = new Map();
    this.child = spawn(command, args, {
      cwd: this.cwd,
      env: { HOME: home, PATH: searchPath(), LANG: "C.UTF-8", ...env },
      stdio: ["pipe", "pipe", "ignore"],
      detached: true, // so that it can be ended with all that it has started
    });
    let rest = "";
    this.child.stdout.on("data", (bytes) => {
      const lines = (rest + bytes).split("\n");
      rest = lines.pop();
      for (const line of lines) this.take(line);
    });
  }

  take(line) {
    const message = JSON.parse(line);
    if (message.method === undefined) this.waiting.get(message.id)?.(message);
  }

  async ask(method, params) {
    const id = this.waiting.size;
    const answer = new Promise((done) => this.waiting.set(id, done));
    const late = sleep(ANSWER_MS, { error: { message: "no answer" } }, { ref: false });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result, error } = await Promise.race([answer, late]);
    if (error) throw new Error(`${name}, ${method}: ${error.message}`);
    return result;
  }

  initialize() {
    return this.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  stop() {
    const ended = new Promise((done) => this.child.on("close", done));
    process.kill(-this.child.pid, "SIGKILL");
    return ended;
  }
}

const childrenOf = (task) => readFileSync(`${task}/children`, "utf8").split(" ").filter(Boolean);

/** KiB of a process and of all that its threads have started; nothing of one that has just ended. */
function residentOf(pid) {
  try {
    const own = /^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
    const children = tasks.flatMap(childrenOf);
    return children.reduce((sum, child) => sum + residentOf(child), Number(own[1]));
  } catch {
    return 0;
  }
}

/** Runs the body with an agent that has answered to initialize; gets how long that took, in ms. */
async function withAgent(home, url, body) {
  const begun = performance.now();
  const agent = new Agent(home, url);
  try {
    await agent.initialize();
    return await body(agent, performance.now() - begun);
  } finally {
    await agent.stop();
  }
}

async function memoryOf(agent) {
  if (AGENTS[name].auth) await agent.ask("authenticate", { methodId: AGENTS[name].auth });
  await agent.ask("session/new", { cwd: agent.cwd, mcpServers: [] });
  return residentOf(agent.child.pid);
}

async function measure() {
  const model = await new ModelServer().start();
  const home = mkdtempSync(join(tmpdir(), `acp-bench-${name}-`));
  const files = { "work/.keep": "", ...AGENTS[name].files?.(model.url) };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  let best = Infinity;
  if (job === "start")
    for (let i = 0; i < STARTS; i++)
      best = Math.min(best, await withAgent(home, model.url, (agent, ms) => ms));
  else best = await withAgent(home, model.url, memoryOf);
  await model.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return best;
}

if (job === "list") {
  for (const one of Object.keys(AGENTS)) {
    const why = missing(one);
    if (why) console.error(`${one}: ${why}`);
    else console.log(one);
  }
} else {
  console.log(await measure());
}
