// acp mcp with HTTP servers that break off at every point, forget sessions, redirect, refuse, flood and lie.
//
//     node http.mjs ACP

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { begin, end, test } from "../conformance/tap.mjs";
import { run } from "./acp-mcp.mjs";

const acp = resolve(process.argv[2]);
const TOOLS = [{ name: "work", description: "Works.", inputSchema: { type: "object" } }];
const RESULT = { content: [{ type: "text", text: "the result" }] };
const INFO = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "test", version: "1" } };

/** A server.  answer(request, message, response) returns true if it has answered; the rest is as usual. */
async function listen(keep, answer = () => false) {
  const seen = { requests: [], sessions: 0, runs: 0 };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const message = body ? JSON.parse(body) : {};
      const { method, url, headers } = request;
      seen.requests.push({ method, url, headers, message });
      if (answer(request, message, response, seen)) return;
      const results = { initialize: INFO, "tools/list": { tools: TOOLS } };
      if (message.method === "tools/call") {
        seen.runs++;
        results["tools/call"] = RESULT;
      }
      const json = { "content-type": "application/json" };
      if (message.method === "initialize") json["mcp-session-id"] = `session-${++seen.sessions}`;
      if (method === "DELETE") response.writeHead(204).end();
      else if (method === "GET") response.writeHead(405).end();
      else if (message.id === undefined) response.writeHead(202).end();
      else response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: results[message.method] }));
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((done) => server.on("listening", done));
  keep(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, seen };
}

const call = (url, ...flags) => run(acp, ["mcp", "call", ...flags, url, "work"]);

const kase = (name, body) =>
  test(`MCP over HTTP: ${name}`, async ({ count }) => {
    const ends = [];
    try {
      await body((end) => ends.push(end), count);
    } finally {
      for (const end of ends) end();
    }
    count();
  });

/** What a stream of events sends, as bytes: the head, and events with ids from `after` on. */
function stream(id, token, after) {
  const send = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });
  const params = { progressToken: token, progress: 1, message: "half" };
  const events = [
    "id: e1\nretry: 1\ndata: \n\n",
    `id: e2\ndata: ${send({ method: "notifications/progress", params })}\n\n`,
    `id: e3\r\nevent: message\r\ndata: ${send({ id, result: RESULT })}\r\n\r\n`,
  ];
  const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  return { head, events: events.slice(after) };
}

/** The stream breaks off after `at` bytes, and when it is resumed, after `again` bytes more than the head. */
function breaking(at, again) {
  const state = { resumes: 0, finished: 0 };
  const cut = (socket, text, n) => {
    socket.write(text.slice(0, n), () => socket.destroy());
  };
  const answer = (request, message, response, seen) => {
    const from = request.headers["last-event-id"];
    if (message.method === "tools/call") {
      seen.runs++;
      state.id = message.id;
      state.token = message.params._meta.progressToken;
      const { head, events } = stream(state.id, state.token, 0);
      cut(request.socket, head + events.join(""), at);
      return true;
    }
    if (request.method !== "GET" || !from) return false;
    const { head, events } = stream(state.id, state.token, Number(from[1]));
    const text = head + events.join("");
    cut(request.socket, text, state.resumes++ ? text.length : head.length + again);
    return true;
  };
  return { state, answer };
}

begin();

await kase("a stream that breaks off at any byte is resumed, without loss or repetition", async (keep, count) => {
  const { head, events } = stream(2, 1, 0);
  const first = head.length + events[0].length;
  const all = first + events[1].length + events[2].length;
  const points = Array.from({ length: all + 1 }, (_, at) => at);
  const one = async (at) => {
    const ends = [];
    const { answer } = breaking(at, (at * 7) % (all - head.length));
    const { url, seen } = await listen((end) => ends.push(end), answer);
    const { status, out, err } = await call(url);
    for (const end of ends) end();
    assert.equal(seen.runs, 1, `once, at ${at}`);
    if (at < first) {
      assert.equal(status, 1, `at ${at}: ${out}`);
      assert.match(err, /whether it did what it was asked is not known/, `at ${at}: ${err}`);
      assert.equal(out, "");
    } else {
      assert.equal(out, "the result\n", `at ${at}: ${err}`);
      assert.equal(err.match(/^1 half$/gm)?.length, 1, `progress once, at ${at}: ${err}`);
    }
    count();
  };
  const worker = async () => {
    while (points.length) await one(points.pop());
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
});

await kase("every request has the headers, and the session is ended", async (keep) => {
  const { url, seen } = await listen(keep);
  const { status, out, err } = await call(url, "--header", "X-Key: secret");
  assert.equal(status, 0, err);
  assert.equal(out, "the result\n");
  const [initialize, ...others] = seen.requests;
  assert.equal(initialize.message.params.protocolVersion, "2025-11-25");
  assert.equal(initialize.headers["mcp-session-id"], undefined);
  for (const { method, headers } of others) {
    assert.equal(headers["mcp-session-id"], "session-1");
    assert.equal(headers["mcp-protocol-version"], "2025-11-25");
    if (method === "POST") assert.match(headers.accept, /application\/json.*text\/event-stream/);
  }
  for (const { headers } of seen.requests) assert.equal(headers["x-key"], "secret");
  assert.equal(others.at(-1).method, "DELETE");
  assert.ok(others.findIndex(({ message }) => message.method === "notifications/initialized") === 0, "initialized comes first");
});

await kase("a session that is forgotten is begun anew, and the call is made once", async (keep) => {
  let forgotten = false;
  const { url, seen } = await listen(keep, (request, message, response) => {
    if (message.method !== "tools/call" || forgotten) return false;
    forgotten = true;
    response.writeHead(404).end();
    return true;
  });
  const { out, err } = await call(url);
  assert.equal(out, "the result\n", err);
  assert.equal(seen.runs, 1);
  assert.equal(seen.sessions, 2);
  const ids = seen.requests.filter(({ message }) => message.method === "tools/call").map(({ headers }) => headers["mcp-session-id"]);
  assert.deepEqual(ids, ["session-1", "session-2"]);
  assert.equal(seen.requests.filter(({ message }) => message.method === "initialize")[1].headers["mcp-session-id"], undefined);
});

await kase("a server that forgets every session fails the call", async (keep) => {
  const { url } = await listen(keep, (request, message, response) => {
    if (message.method === "tools/call") response.writeHead(404).end("gone");
    return message.method === "tools/call";
  });
  const { status, err } = await call(url);
  assert.equal(status, 1);
  assert.match(err, /HTTP status 404: gone/);
});

await kase("redirections are followed within the server, and not to others", async (keep) => {
  const other = await listen(keep);
  const { url, seen } = await listen(keep, (request, message, response) => {
    const target = request.url === "/mcp" ? "/there" : request.url === "/out" ? other.url : null;
    if (target && request.method === "POST") response.writeHead(307, { location: target }).end();
    return target !== null && request.method === "POST";
  });
  const { out, err } = await call(url);
  assert.equal(out, "the result\n", err);
  assert.ok(seen.requests.some((request) => request.url === "/there"));
  const away = await call(url.replace("/mcp", "/out"), "--header", "Authorization: Bearer secret");
  assert.equal(away.status, 1);
  assert.match(away.err, /redirects to 127\.0\.0\.1:\d+, which is not followed/);
  assert.equal(other.seen.requests.length, 0);
});

await kase("refusals are told, and those for a moment are tried again", async (keep) => {
  let busy = 2;
  const { url, seen } = await listen(keep, (request, message, response) => {
    if (message.method !== "tools/call" || !busy--) return false;
    response.writeHead(busy ? 429 : 503, { "retry-after": "0" }).end();
    return true;
  });
  assert.equal((await call(url)).out, "the result\n");
  assert.equal(seen.runs, 1);
  for (const [status, body, words] of [
    [401, "who?", /requires a login \(HTTP status 401: who\?\); run 'acp mcp login http/],
    [500, '{"jsonrpc":"2.0","error":{"code":1,"message":"it broke"}}', /HTTP status 500: it broke/],
  ]) {
    const refusing = await listen(keep, (request, message, response) => {
      response.writeHead(status).end(body);
      return true;
    });
    assert.match((await call(refusing.url)).err, words);
  }
});

await kase("nobody listens", async () => {
  const { status, err } = await call("http://127.0.0.1:1/mcp");
  assert.equal(status, 1);
  assert.match(err, /cannot be reached: nothing answers at 127\.0\.0\.1:1/);
});

await kase("the older transport cannot send messages elsewhere", async (keep) => {
  const other = await listen(keep);
  for (const target of [other.url, "//127.0.0.1:1/x", "javascript:1"]) {
    const { url } = await listen(keep, (request, message, response) => {
      if (request.method !== "GET") return (response.writeHead(405).end(), true);
      response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: endpoint\ndata: ${target}\n\n`);
      return true;
    });
    assert.match((await call(url)).err, /wants its messages sent to another server/);
  }
  assert.equal(other.seen.requests.length, 0);
});

await kase("answers that are none end the request", async (keep) => {
  const bodies = ["", "null", "[]", "{", '{"jsonrpc":"2.0","id":99,"result":{}}', '{"jsonrpc":"2.0","method":"x"}'];
  for (const body of bodies) {
    const { url } = await listen(keep, (request, message, response) => {
      if (message.method === "tools/call") response.writeHead(200, { "content-type": "application/json" }).end(body);
      return message.method === "tools/call";
    });
    const { status, err } = await call(url);
    assert.equal(status, 1, body);
    assert.match(err, /did not answer a request, but sent something else|wrote a message that is not JSON/, body);
  }
});

await kase("an endless event is given up", async (keep) => {
  const { url } = await listen(keep, (request, message, response) => {
    if (message.method !== "tools/call") return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: ");
    const more = () => response.destroyed || response.write("x".repeat(1 << 20), more);
    more();
    return true;
  });
  assert.match((await call(url)).err, /sent an event of more than 16 MiB/);
});

await kase("requests of the server are answered, unknown ones with -32601", async (keep) => {
  const { url, seen } = await listen(keep, (request, message, response) => {
    if (message.method !== "tools/call") return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [id, method] of [[70, "ping"], ["x", "no/such"], [71, "roots/list"]])
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, method })}\n\n`);
    const answered = () => seen.requests.filter(({ message: { result, error } }) => result ?? error).length === 3;
    const timer = setInterval(() => {
      if (!answered()) return;
      clearInterval(timer);
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: RESULT })}\n\n`);
    }, 5);
    return true;
  });
  assert.equal((await call(url)).out, "the result\n");
  const of = (id) => seen.requests.find(({ message }) => message.id === id && !message.method).message;
  assert.deepEqual(of(70).result, {});
  assert.equal(of("x").error.code, -32601);
  assert.match(of(71).result.roots[0].uri, /^file:\/\/\//);
});

end();
