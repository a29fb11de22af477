// A model that says what a script tells it to, on a loopback port of its own.
//
//     node server.mjs SCRIPT.json      prints "listening on PORT", and ends with its standard input
//
// Tests in JavaScript take ModelServer itself.  README.md tells the whole.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import * as anthropic from "./anthropic.mjs";
import * as chat from "./openai-chat.mjs";
import * as responses from "./openai-responses.mjs";
import * as gemini from "./gemini.mjs";
import { sendJson, sendPage, sendStream } from "./reply.mjs";
import { Script, isSaid } from "./script.mjs";
import { deviations, signer } from "./strict.mjs";

const APIS = [anthropic, chat, responses, gemini];

async function bodyOf(request) {
  let text = "";
  request.setEncoding("utf8");
  for await (const part of request) text += part;
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

export class ModelServer {
  /**
   * The script may be replaced by say() at any time.  A strict server refuses what the service would
   * refuse, and seals what the model thinks, so that it can tell whether it comes back unchanged.
   */
  constructor(script = { turns: [] }, { strict = false } = {}) {
    this.strict = strict;
    this.requests = []; // all that came, oldest first
    this.say(script);
    this.server = createServer((request, response) => this.#serve(request, response));
  }

  say(script) {
    this.script = new Script(script);
  }

  /** A server that was stopped can be started again at its port. */
  async start(port = 0) {
    await new Promise((done) => this.server.listen(port, "127.0.0.1", done));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Requests that wanted an answer of the model and found no turn for it. */
  unexpected() {
    return this.requests.filter((one) => one.asked && one.turn === undefined);
  }

  /** Requests that a service would have refused, with the reasons. */
  deviations() {
    return this.requests.filter((one) => one.wrong?.length > 0);
  }

  async #serve(request, response) {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path === "/_requests") return sendJson(response, 200, this.requests);
    const api = APIS.find((one) => one.route(request.method, path));
    const { method, headers } = request;
    const entry = { number: this.requests.length, method, path, headers, api: api?.name };
    this.requests.push(entry);
    entry.body = await bodyOf(request);
    try {
      if (!api) this.#serveOther(entry, response);
      else if (api.route(method, path) === "count") sendJson(response, 200, api.count(10));
      else await this.#serveReply(api, entry, response);
    } catch (error) {
      entry.ended = String(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, (api ?? chat).error(400, `cannot be served: ${error.message}`));
    }
    return undefined;
  }

  #serveOther(entry, response) {
    const { models } = this.script;
    if (entry.method === "GET" && entry.path === "/v1/models")
      return sendJson(response, 200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
    if (entry.method === "GET" && entry.path === "/v1beta/models")
      return sendJson(response, 200, { models: models.map((id) => ({ name: `models/${id}`, displayName: id })) });
    return sendJson(response, 404, chat.error(404, `there is no ${entry.method} ${entry.path}`));
  }

  async #serveReply(api, entry, response) {
    const asked = { ...api.read(entry.body, entry.path), number: entry.number, api: api.name };
    entry.asked = asked;
    entry.wrong = this.strict ? deviations(api.name, asked.model, entry.body) : [];
    if (entry.wrong.length > 0) {
      entry.ended = "refused";
      entry.turn = -1;
      return sendJson(response, 400, api.error(400, entry.wrong[0]));
    }
    if (this.strict) asked.signer = signer(api.name, asked.model, entry.body);
    const turn = this.script.choose(asked);
    entry.turn = turn?.index;
    if (!turn) {
      entry.ended = "no turn";
      return sendJson(response, 400, api.error(400, "the script has no turn for this request"));
    }
    if (turn.error) {
      const { status = 500, message = "scripted error", page, headers } = turn.error;
      entry.ended = "error";
      if (page !== undefined) return sendPage(response, status, page, headers);
      return sendJson(response, status, api.error(status, message), headers);
    }
    if (asked.stream) {
      entry.ended = await sendStream(response, api.stream(turn, asked), turn.split);
      return undefined;
    }
    const other = turn.reply.find((piece) => !isSaid(piece));
    if (other) throw new Error(`"${other.kind}" is for streams only`);
    entry.ended = "sent";
    return sendJson(response, 200, api.whole(turn, asked));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = new ModelServer(JSON.parse(readFileSync(process.argv[2], "utf8")));
  await server.start();
  console.log(`listening on ${server.port}`);
  process.stdin.resume().on("end", () => server.stop());
}
