// The built command with one agent of others and the scripted model, in a home that is made for it.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { within } from "../interop/cases.mjs";
import { until } from "../interop/processes.mjs";
import { ModelServer } from "../model/server.mjs";
import { AGENTS, configured, searchPath } from "./agents.mjs";

const COMMAND_MS = 120_000; // some agents take many seconds to start on a busy machine

export class Acp {
  constructor(program, name) {
    this.program = program;
    this.name = name;
    this.agent = AGENTS[name];
    this.home = mkdtempSync(join(tmpdir(), `acp-agents-${name}-`));
    this.cwd = join(this.home, "work");
    this.model = new ModelServer();
    this.said = ""; // the last words of commands, for people
  }

  async start() {
    await this.model.start();
    const server = configured(this.name, this.model.url);
    const files = {
      ".config/acp/config.json": JSON.stringify({ agent_servers: { [this.name]: server } }),
      "work/.keep": "",
      ...this.agent.files?.(this.model.url),
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true });
      writeFileSync(join(this.home, path), text);
    }
    return this;
  }

  /** Starts a command; `ended` gives what became of it. */
  begin(verb, ...args) {
    const words = [this.name, verb, ...args];
    const child = spawn(this.program, words, {
      cwd: this.cwd,
      env: { HOME: this.home, PATH: searchPath(), LANG: "C.UTF-8" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    const ended = new Promise((done) =>
      child.on("close", (code, signal) => {
        const how = signal ?? code;
        this.said += `acp ${words.join(" ")}: ${how}\n${out.slice(-1500)}${err.slice(-1500)}\n`;
        done({ code: how, out, err });
      }),
    );
    return {
      ended: within(COMMAND_MS, `acp ${verb}`, ended),
      output: () => out,
      interrupt: () => child.kill("SIGINT"),
    };
  }

  run(verb, ...args) {
    return this.begin(verb, ...args).ended;
  }

  /** A command with --json: the lines that it prints, parsed. */
  async records(verb, ...args) {
    const { code, out } = await this.run(verb, "--json", ...args);
    const lines = out.split("\n").filter(Boolean);
    return { code, records: lines.map((line) => JSON.parse(line)) };
  }

  /** Processes that were started with our home, other than those that are dead already. */
  processes() {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HOME=${this.home}\0`);
        } catch {
          return false; // it has ended meanwhile, or is not ours
        }
      })
      .map(Number);
  }

  nothingRuns() {
    return until("the end of all processes", () => this.processes().length === 0);
  }

  tail() {
    const asked = this.model.requests.map(
      (one) => `${one.method} ${one.path} turn ${one.turn} ${one.ended}`,
    );
    return `acp said last:\n${this.said.slice(-4000)}\nthe model was asked:\n${asked.join("\n")}`;
  }

  /** Ends whatever is left, and says so if anything was. */
  async stop() {
    const left = this.processes();
    for (const pid of left) process.kill(pid, "SIGKILL");
    await this.model.stop();
    await this.nothingRuns();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    return { failures: left.map((pid) => `process ${pid} was left behind`), checked: 1 };
  }
}
