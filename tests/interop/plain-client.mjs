// A client for what the protocol has not settled yet.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { CASE_MS, within } from "./cases.mjs";

/** A client that knows no schema: what is unstable is in none that the others are held against. */
export class PlainClient {
  constructor(...command) {
    this.child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    this.exited = new Promise((done) => this.child.on("close", done));
    this.waiting = new Map();
    this.updates = [];
    this.lines = [];
    this.text = "";
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const { id, result, error, params } = JSON.parse(line);
      this.lines.push(line);
      if (params?.update) this.updates.push(params.update);
      this.text += params?.update?.content?.text ?? "";
      this.waiting.get(id)?.(error ?? result);
    });
  }

  /** Gives the result, or the error. */
  request(method, params) {
    const id = this.waiting.size;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return within(CASE_MS, method, new Promise((done) => this.waiting.set(id, done)));
  }

  initialize(version) {
    const info = { name: "plain", version: "1" };
    const params = version === 1 ? { clientCapabilities: {} } : { info, capabilities: {} };
    return this.request("initialize", { protocolVersion: version, ...params });
  }

  /** A prompt of words, to the end of its turn: why it stopped, or the error. */
  async prompt(sessionId, words) {
    const from = this.updates.length;
    const answer = await this.request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
    if (answer.stopReason || answer.code) return answer;
    const isEnd = ({ sessionUpdate, state }) => sessionUpdate === "state_update" && state === "idle";
    while (!this.updates.slice(from).some(isEnd)) await new Promise((done) => setTimeout(done, 5));
    const { stopReason, error } = this.updates.slice(from).find(isEnd);
    return error ?? { stopReason };
  }

  async stop() {
    this.child.stdin.end();
    assert.equal(await this.exited, 0);
    return { failures: [], checked: this.lines.length };
  }
}
