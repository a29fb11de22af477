// An MCP server for tests, over standard input and output.
//
//     node server.mjs [WAY]
//
// WAY is how it misbehaves: "silent" never answers, "crash" ends with a complaint, "noise" writes lines that
// are not messages between those that are, "flood" writes a gigabyte without a line end, "slow" begins to
// answer after two and a half seconds, "stubborn" does not end when its input does, nor by SIGTERM, "names" has
// tools with names that no model's API takes, and "many" more tools than they take.  With PID_FILE in its
// environment it writes its process id there, and with LOG_FILE a line for each message that it receives, and
// "end" at the end of its input.

import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const way = process.argv[2];
const { PID_FILE, LOG_FILE } = process.env;
const PAGE = way === "many" ? 100 : 2;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (words) => ({ content: [{ type: "text", text: words }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** What a tool gives; null for one that does not answer. */
const tools = {
  echo: ({ words }) => text(`echo: ${words}`),
  fail: () => ({ ...text("it went wrong"), isError: true }),
  slow: () => null,
  image: () => ({ content: [...text("a pixel").content, { type: "image", mimeType: "image/png", data: PIXEL }] }),
  die: () => process.exit(7),
  garble: () => (process.stdout.write('{"jsonrpc":"2.0","id":7,"result":{"content":[\n'), null),
  environment: () => text(Object.entries(process.env).map(([name, value]) => `${name}=${value}`).join("\n")),
  grow: () => {
    tools["new.one"] = () => text("new");
    send({ method: "notifications/tools/list_changed" });
    return text("grown");
  },
};

const LONG = "n".repeat(100);
if (way === "names")
  for (const name of ["a.b", "a/b", "\u{1f30d}", `${LONG}1`, `${LONG}2`]) tools[name] = () => text(name);
if (way === "many") for (let i = 0; i < 200; i++) tools[`tool${i}`] = () => text(`${i}`);

const methods = {
  initialize: () => ({
    protocolVersion: "2025-03-26",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "test", version: "1" },
  }),
  "tools/list": ({ cursor = "0" }) => {
    const names = Object.keys(tools);
    const at = Number(cursor);
    const list = names.slice(at, at + PAGE).map((name) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: { type: "object", properties: { words: { type: "string" } } },
    }));
    return { tools: list, ...(at + PAGE < names.length ? { nextCursor: `${at + PAGE}` } : {}) };
  },
  "tools/call": ({ name, arguments: given }) => tools[name](given),
};

if (PID_FILE) writeFileSync(PID_FILE, `${process.pid}`);
if (way === "crash") {
  process.stderr.write("the configuration is missing\n");
  process.exit(3);
}

if (way === "flood") {
  const much = Buffer.alloc(1 << 20, "x");
  for (let i = 0; i < 1024; i++) await new Promise((done) => process.stdout.write(much, done));
}
if (way === "slow") await new Promise((done) => setTimeout(done, 2500));
if (way === "stubborn") {
  setInterval(() => {}, 1000);
  process.on("SIGTERM", () => appendFileSync(LOG_FILE, "SIGTERM\n"));
}

const input = createInterface({ input: process.stdin });
input.on("close", () => LOG_FILE && appendFileSync(LOG_FILE, "end\n"));
input.on("line", (line) => {
  if (LOG_FILE) appendFileSync(LOG_FILE, `${line}\n`);
  const { id, method, params = {} } = JSON.parse(line);
  if (way === "silent" || id === undefined) return;
  if (way === "noise") process.stdout.write("debug: this line is not a message\n");
  const result = methods[method]?.(params);
  if (result) send({ id, result });
  else if (!methods[method]) send({ id, error: { code: -32601, message: `there is no ${method}` } });
});
