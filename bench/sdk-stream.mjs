// The official SDK on both ends: an agent that streams chunks, and a client that counts them.
//
//     sdk-stream.mjs agent          the agent, on standard input and output
//     sdk-stream.mjs client         starts it, prints nanoseconds for each session/update
//     sdk-stream.mjs start          prints nanoseconds from the start of the agent to its answer
//
// Resolved from tests/, where the package is installed.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(new URL("../tests/package.json", import.meta.url));
const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk")).href);

const CHUNKS = 20000;
const TEXT =
  "the function reads every line of a file and returns what it found, " +
  "before the buffer is given back to where it came from";

function stream(output, input) {
  return acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
}

function runAgent() {
  acp
    .agent({ name: "stream" })
    .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest("session/new", () => ({ sessionId: "sess_0123456789abcdef" }))
    .onRequest("session/prompt", async (cx) => {
      const params = cx.params;
      const count = Number(params.prompt[0].text);
      const update = {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: TEXT },
      };
      // Not awaited one by one, which would make it slower still.
      for (let i = 0; i < count; i++) {
        cx.client.notify("session/update", { sessionId: params.sessionId, update });
      }
      return { stopReason: "end_turn" };
    })
    .connect(stream(process.stdout, process.stdin));
}

function startAgent() {
  return spawn(process.execPath, [fileURLToPath(import.meta.url), "agent"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function withAgent(work) {
  const child = startAgent();
  let seen = 0;
  const app = acp.client({ name: "count" }).onNotification("session/update", () => {
    seen++;
  });
  try {
    return await app.connectWith(stream(child.stdin, child.stdout), (cx) => work(cx, () => seen));
  } finally {
    child.kill();
  }
}

async function measureStream() {
  const best = await withAgent(async (cx, seen) => {
    await cx.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await cx.request("session/new", { cwd: "/", mcpServers: [] });
    let least = Infinity;
    for (let round = 0; round < 5; round++) {
      const before = seen();
      const begun = process.hrtime.bigint();
      const prompt = [{ type: "text", text: String(CHUNKS) }];
      await cx.request("session/prompt", { sessionId, prompt });
      if (seen() - before !== CHUNKS) throw new Error(`saw ${seen() - before} updates`);
      least = Math.min(least, Number(process.hrtime.bigint() - begun) / CHUNKS);
    }
    return least;
  });
  console.log(best.toFixed(1));
}

async function measureStart() {
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    const begun = process.hrtime.bigint();
    await withAgent((cx) => cx.request("initialize", { protocolVersion: 1, clientCapabilities: {} }));
    least = Math.min(least, Number(process.hrtime.bigint() - begun));
  }
  console.log(least);
}

const jobs = { agent: runAgent, client: measureStream, start: measureStart };
await jobs[process.argv[2]]?.();
