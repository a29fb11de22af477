// The reference servers of MCP, on all their transports, by acp mcp.
//
//     node servers.mjs ACP

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end, skip, test } from "../conformance/tap.mjs";
import { freePort, run, serve } from "./acp-mcp.mjs";

const acp = resolve(process.argv[2]);
const packages = fileURLToPath(new URL("../node_modules/@modelcontextprotocol/", import.meta.url));
const everything = join(packages, "server-everything/dist/index.js");
const filesystem = join(packages, "server-filesystem/dist/index.js");
if (!existsSync(everything)) skip("tests/node_modules has no MCP servers: scripts/setup-npm");

const quote = (words) => words.map((word) => `'${word}'`).join(" ");

/** Everything that the reference server has, over one transport. */
async function check(server, count) {
  const mcp = async (...args) => {
    const { status, out, err } = await run(acp, ["mcp", ...args]);
    count();
    return { status, out, err };
  };
  const tools = await mcp("tools", server);
  assert.equal(tools.status, 0, tools.err);
  assert.match(tools.out, /^echo +Echoes back the input string$/m);
  const pages = JSON.parse((await mcp("tools", "--json", server)).out.split("\n")[0]);
  assert.ok(pages.tools.some(({ name }) => name === "get-sum"));
  assert.equal((await mcp("call", server, "echo", '{"message":"h\\u00fc"}')).out, "Echo: hü\n");
  assert.match((await mcp("call", server, "get-tiny-image")).out, /^\[image\/png image, \d+ bytes\]$/m);
  const image = JSON.parse((await mcp("call", "--json", server, "get-tiny-image")).out);
  assert.ok(image.content.some(({ type, mimeType }) => type === "image" && mimeType === "image/png"));
  const slow = await mcp("call", server, "trigger-long-running-operation", '{"duration":0.2,"steps":4}');
  assert.match(slow.out, /completed/);
  for (const step of [1, 2, 3, 4]) assert.match(slow.err, new RegExp(`^${step} of 4`, "m"));
  const structured = await mcp("call", "--json", server, "get-structured-content", '{"location":"Chicago"}');
  assert.equal(typeof JSON.parse(structured.out).structuredContent.temperature, "number");
  assert.match((await mcp("call", server, "get-resource-links", '{"count":2}')).out, /resource_link demo:/);
  assert.match((await mcp("call", server, "get-roots-list")).out, /URI: file:\/\/\//);
  const asked = await mcp("call", "--accept-defaults", server, "trigger-elicitation-request");
  assert.match(asked.out, /"action": "accept"/);
  assert.match((await mcp("call", server, "trigger-elicitation-request")).out, /"action": "decline"/);
  assert.match((await mcp("prompt", server)).out, /^args-prompt /m);
  assert.match((await mcp("prompt", server, "args-prompt", "city=Paris")).out, /Paris/);
  assert.match((await mcp("read", server)).out, /^demo:\/\/resource\/dynamic\/text\/\{resourceId\}/m);
  assert.match((await mcp("read", server, "demo://resource/dynamic/text/1")).out, /^Resource 1/);
  const missing = await mcp("read", server, "demo://no/such");
  assert.equal(missing.status, 1);
  assert.match(missing.err, /answered with an error/);
  const unknown = await mcp("call", server, "no-such-tool");
  assert.equal(unknown.status, 1);
}

/** A case with things to undo. */
const kase = (name, body) =>
  test(`MCP reference servers: ${name}`, async ({ count }) => {
    const ends = [];
    try {
      await body({ count, keep: (end) => ends.push(end) });
    } finally {
      for (const end of ends) end();
    }
  });

begin();
await kase("everything, over stdio", async ({ count }) => check(quote([process.execPath, everything]), count));
await kase("everything, over streamable HTTP", async ({ count, keep }) => {
  const port = await freePort();
  await serve(keep, [everything, "streamableHttp"], { PORT: `${port}` }, /listening|running/i);
  await check(`http://127.0.0.1:${port}/mcp`, count);
});
await kase("everything, over HTTP+SSE, found by falling back", async ({ count, keep }) => {
  const port = await freePort();
  await serve(keep, [everything, "sse"], { PORT: `${port}` }, /listening|running/i);
  await check(`http://127.0.0.1:${port}/sse`, count);
  const named = await run(acp, ["mcp", "call", "--transport", "sse", `http://127.0.0.1:${port}/sse`, "echo", '{"message":"x"}']);
  assert.equal(named.out, "Echo: x\n");
});
await kase("filesystem, over stdio", async ({ count, keep }) => {
  const folder = mkdtempSync(join(tmpdir(), "acp-mcp-files-"));
  keep(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.txt"), "the text");
  const server = quote([process.execPath, filesystem, folder]);
  // The roots of the client, which are its directory, replace those of the command line when they have been asked for.
  const read = (path) => run(acp, ["mcp", "call", server, "read_text_file", JSON.stringify({ path })], { cwd: folder });
  assert.equal((await read(join(folder, "a.txt"))).out, "the text\n");
  assert.equal((await read("/etc/passwd")).status, 1);
  assert.match((await run(acp, ["mcp", "tools", server])).out, /^list_directory /m);
  count(3);
});
end();
