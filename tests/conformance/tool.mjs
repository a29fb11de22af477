// A tool of ours (codec-tool, schema-tool) as a child process: many commands are in flight at once, answers come in order.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { basename } from "node:path";

/** @returns {{ask(lines: string[]): Promise<string[]>, close(): Promise<void>}} */
export function startTool(path) {
  const name = basename(path);
  const child = spawn(path, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = []; // { answers, left, resolve, reject }
  let ended;

  const failAll = () => {
    for (const batch of waiting.splice(0)) {
      const command = batch.lines[batch.answers.length];
      batch.reject(new Error(`${name} ended (${ended}) at: ${command.slice(0, 2000)}`));
    }
  };
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", (line) => {
    const batch = waiting[0];
    if (!batch) throw new Error(`${name} says more than it was asked: ${line}`);
    batch.answers.push(line);
    if (batch.answers.length === batch.lines.length) waiting.shift().resolve(batch.answers);
  });
  child.stdin.on("error", () => {}); // the exit says more
  child.on("close", (code, signal) => {
    ended = signal ?? `status ${code}`;
    failAll();
  });

  return {
    ask(lines) {
      if (lines.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        waiting.push({ lines, answers: [], resolve, reject });
        if (ended !== undefined) failAll();
        else child.stdin.write(lines.join("\n") + "\n");
      });
    },
    async close() {
      child.stdin.end();
      if (ended === undefined) await once(child, "close");
      if (ended !== "status 0") throw new Error(`${name} ended with ${ended}`);
    },
  };
}

/** An answer taken apart: { ok, json } or { word, code, path, message }. */
export function parseAnswer(line) {
  if (line.startsWith("ok ")) return { ok: true, json: line.slice(3) };
  const match = line.match(/^(error|unwritable) (\w+) (.*?): (.*)$/);
  if (!match) throw new Error(`codec-tool answered: ${line}`);
  return { ok: false, word: match[1], code: match[2], path: match[3], message: match[4] };
}
