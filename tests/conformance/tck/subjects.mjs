// The agents that the requirements are held against, and what makes each of them do things.

import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ModelServer } from "../../model/server.mjs";

const isRunning = (updates) =>
  updates.some(({ sessionUpdate, status }) => sessionUpdate.startsWith("tool_call") && status === "in_progress");
const hasSpoken = (updates) => updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");

const STEPS = [
  { content: "look", priority: "high", status: "completed" },
  { content: "work", priority: "low", status: "in_progress" },
];

/** What the scripted model says: to "wait" the beginning of an answer, to "work" a plan and a command. */
const TURNS = [
  { when: { last: "tool" }, reply: [{ text: "Done." }] },
  { when: { prompt: "^wait" }, reply: [{ text: "begun" }, { stall: true }] },
  {
    when: { prompt: "^work" },
    reply: [
      { thought: "A plan first." },
      { text: ["I ", "work."] },
      { tool: "plan", arguments: { steps: STEPS } },
      { tool: "run_command", arguments: { command: "echo done" } },
    ],
  },
  { reply: [{ text: "Hello." }] },
];

/** An environment in which an agent finds nothing of the user. */
function bareEnvironment(home, more = {}) {
  const { PATH, LD_LIBRARY_PATH, ASAN_OPTIONS, UBSAN_OPTIONS, LSAN_OPTIONS } = process.env;
  const kept = { PATH, LD_LIBRARY_PATH, ASAN_OPTIONS, UBSAN_OPTIONS, LSAN_OPTIONS };
  return { ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)), HOME: home, ...more };
}

class Subject {
  /** only, when it is given, says which requirements apply, by their ids. */
  constructor(name, command, { environment = {}, words, only }) {
    this.name = name;
    this.only = only;
    this.command = command;
    this.home = mkdtempSync(join(tmpdir(), "acp-conformance-"));
    this.environment = bareEnvironment(this.home, environment);
    this.folder = join(this.home, "work");
    this.words = words;
    mkdirSync(this.folder);
    writeFileSync(join(this.folder, "notes.txt"), "plums\n");
  }

  async stop() {
    rmSync(this.home, { recursive: true });
  }
}

/** words.plain is for any turn; long for one that stays in progress until it is cancelled; work has tool calls. */
const ECHO = { plain: "hello", work: "hello" };

export const MAKERS = {
  "echo-agent": async (program) => new Subject("echo-agent", [program], { words: ECHO }),
  "core-agent": async (program) => new Subject("core-agent", [program], { words: ECHO }),
  // Its sessions are made up, so only what is not about them: it has what the others do not offer.
  "actor-agent": async (program) =>
    new Subject("actor-agent", [program], {
      only: /TRANSPORT|JSONRPC|INIT|SCHEMA|CANCEL|CLOSE|MODES|CONFIG-(0|20[1246])|PROMPTCAP|AUTH|ADDDIRS-.01|EXT|META|ERROR|SHUTDOWN/,
      words: { plain: "say hello", long: "say begun\nwait", underWay: hasSpoken, work: "say hello\npermission" },
    }),
  "acp agent, demo": async (program) =>
    new Subject("acp agent, demo", [program, "agent", "--demo", "--no-titles"], {
      words: {
        plain: "list the files",
        long: "run sleep 300",
        underWay: isRunning,
        work: "make a plan to tidy up, then run echo done",
      },
    }),
  "acp agent, scripted": async (program) => {
    const model = await new ModelServer({ turns: TURNS, models: ["claude-x", "claude-y"] }).start();
    const environment = { ANTHROPIC_API_KEY: "sk-conformance", ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: "claude-x" };
    const words = { plain: "hello", long: "wait", underWay: hasSpoken, work: "work" };
    const subject = new Subject("acp agent, scripted", [program, "agent", "--no-titles"], { environment, words });
    const { stop } = subject;
    subject.stop = async () => (await model.stop(), stop.call(subject));
    return subject;
  },
};

export const makeSubject = (name, program) => MAKERS[name](resolve(program));
