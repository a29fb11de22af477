// What others put between a client and an agent: a relay that parses and prints each line, and a
// proxy on the official SDK.
//
//     proxy-peers.mjs relay COMMAND ARG...
//     proxy-peers.mjs sdk COMMAND ARG...
//
// Resolved from tests/, where the package is installed.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [job, command, ...args] = process.argv.slice(2);

function start() {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("exit", () => process.exit(0));
  return child;
}

function copy(from, to) {
  const lines = createInterface({ input: from, crlfDelay: Infinity });
  let full = false;
  to.on("drain", () => {
    full = false;
    from.resume();
  });
  lines.on("line", (line) => {
    if (to.write(`${JSON.stringify(JSON.parse(line))}\n`) || full) return;
    full = true;
    from.pause();
  });
  lines.on("close", () => to.end());
}

function relay() {
  const child = start();
  copy(process.stdin, child.stdin);
  copy(child.stdout, process.stdout);
}

async function sdk() {
  const require = createRequire(new URL("../tests/package.json", import.meta.url));
  const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk")).href);
  const child = start();
  const stream = (output, input) =>
    acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
  let editor;
  const upstream = acp
    .client({ name: "proxy" })
    .onNotification("session/update", ({ params }) => editor.notify("session/update", params))
    .onRequest("*", ({ method, params }) => editor.request(method, params))
    .connect(stream(child.stdin, child.stdout));
  const app = acp.agent({ name: "proxy" });
  for (const method of ["initialize", "session/new", "session/prompt"])
    app.onRequest(method, ({ params }) => upstream.agent.request(method, params));
  app.onRequest("*", ({ method, params }) => upstream.agent.request(method, params));
  const downstream = app.connect(stream(process.stdout, process.stdin));
  editor = downstream.client;
  process.stdin.on("end", () => child.stdin.end());
}

await (job === "sdk" ? sdk() : relay());
