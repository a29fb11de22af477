// Holds what one of our roles writes against the official schema of the version that was agreed on:
// the message around, and the params or the result of the method.  Also the rules that need no
// schema: every request is answered once, and nothing is said of a session that is not known yet.

import { existsSync, readFileSync } from "node:fs";
import { skip } from "../conformance/tap.mjs";

const modules = new URL("../node_modules/", import.meta.url);
if (!existsSync(new URL("@agentclientprotocol/sdk/package.json", modules))) {
  skip("tests/node_modules is missing; scripts/setup-npm brings it");
}
const { default: Ajv } = await import(new URL("ajv/dist/2020.js", modules));

const FORMATS = {
  uri: { type: "string", validate: (text) => URL.canParse(text) },
  "date-time": {
    type: "string",
    validate: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
  },
  regex: { type: "string", validate: (text) => Boolean(new RegExp(text, "u")) },
  double: { type: "number", validate: Number.isFinite },
};
for (const [name, low, high] of [
  ["uint16", 0, 65535],
  ["uint32", 0, 2 ** 32 - 1],
  ["int32", -(2 ** 31), 2 ** 31 - 1],
  ["uint64", 0, Number.MAX_SAFE_INTEGER],
  ["int64", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
]) {
  FORMATS[name] = {
    type: "number",
    validate: (n) => Number.isInteger(n) && n >= low && n <= high,
  };
}

/** A schema with the types of its methods by name. */
function loadVersion(version) {
  const file = new URL(`@agentclientprotocol/sdk/schema/v${version}/schema.json`, modules);
  const schema = JSON.parse(readFileSync(file, "utf8"));
  const ajv = new Ajv({ strict: false, formats: FORMATS });
  ajv.addSchema(schema, "acp");
  const types = { Request: new Map(), Response: new Map(), Notification: new Map() };
  for (const [name, node] of Object.entries(schema.$defs)) {
    const [form] = /(Request|Response|Notification)$/.exec(name) ?? [];
    if (form && node["x-method"]) types[form].set(node["x-method"], { name, side: node["x-side"] });
  }
  const branches = schema.anyOf.map((branch) => branch.title);
  return {
    schema,
    types,
    check(pointer, value) {
      const validate = ajv.getSchema(`acp#/${pointer}`);
      return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath} ${e.message}`);
    },
    branch: (title) => `anyOf/${branches.indexOf(title)}`,
  };
}

const VERSIONS = { 1: loadVersion(1), 2: loadVersion(2) };

/** What the schemas have, for tests that want to have seen all of it. */
export const methodsOf = (version, form) => [...VERSIONS[version].types[form].keys()];
export function updateKindsOf(version) {
  const branches = VERSIONS[version].schema.$defs.SessionUpdate;
  return (branches.oneOf ?? branches.anyOf)
    .map((branch) => branch.properties?.sessionUpdate?.const)
    .filter((kind) => kind !== undefined);
}

/** The values that an open enum defines. */
export function constantsOf(version, name) {
  const { oneOf, anyOf } = VERSIONS[version].schema.$defs[name];
  return (oneOf ?? anyOf).map((branch) => branch.const).filter((value) => value !== undefined);
}

/** The members that a definition has, those of all its branches together. */
function keysOf(schema, node, found = new Set()) {
  if (node.$ref) return keysOf(schema, schema.$defs[node.$ref.replace("#/$defs/", "")], found);
  for (const key of Object.keys(node.properties ?? {})) found.add(key);
  for (const branch of [...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])]) keysOf(schema, branch, found);
  return found;
}

/** The members that the params or the result of a method can have. */
export function allowedKeys(version, method, form) {
  const { schema, types } = VERSIONS[version];
  const type = form ? types[form].get(method) : (types.Request.get(method) ?? types.Notification.get(method));
  return type ? keysOf(schema, schema.$defs[type.name]) : new Set();
}

/** The side that a request or notification goes to: "agent" or "client". */
export function askedOf(method) {
  const { Request, Notification } = VERSIONS[1].types;
  return (Request.get(method) ?? Notification.get(method))?.side;
}

const TITLES = { agent: "Agent", client: "Client" };
const OTHER = { agent: "client", client: "agent" };

/** Everything that was seen by any check: "v1 session/new", "v2 update plan_update". */
export const seen = new Set();

export class WireCheck {
  /** side is which of the two is ours: "agent" or "client". */
  constructor(side) {
    this.side = side;
    this.version = undefined;
    this.failures = [];
    this.lines = 0; // of ours
    this.ours = new Map(); // open requests of ours: id to method
    this.theirs = new Map();
    this.known = new Set(); // sessions that the client knows
    this.used = new Set(); // ids of our requests
    this.answered = []; // what we answered: {method, result}
    this.updates = 0; // session/update notifications of the agent
  }

  fail(line, text) {
    const shown = line.length > 400 ? `${line.slice(0, 400)}...` : line;
    this.failures.push(`${text}\n  ${shown}`);
  }

  schemaFail(line, pointer, value) {
    const version = VERSIONS[this.version ?? 2];
    for (const error of version.check(pointer, value).slice(0, 5)) {
      this.fail(line, `v${this.version ?? "?"} ${pointer}: ${error}`);
    }
  }

  /** A line of the other side: remembered, not judged. */
  theirLine(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (message === null || typeof message !== "object") return;
    if (this.side === "agent") this.noteKnown(message);
    if (message.method === "session/update") this.updates += 1;
    if (message.method !== undefined && "id" in message) {
      this.theirs.set(message.id, { method: message.method, params: message.params });
      if (!message.method.startsWith("_")) seen.add(`v${this.version} ${message.method}`);
    } else if (message.method === undefined) {
      this.note(this.ours.get(message.id)?.method, message);
      this.ours.delete(message.id);
    } else {
      seen.add(`v${this.version} ${message.method}`);
      if (message.method === "session/update") this.seeUpdate(message.params?.update);
    }
  }

  noteKnown(message) {
    if (message.method === "session/load" || message.method === "session/resume") {
      this.known.add(message.params?.sessionId);
    }
  }

  seeUpdate(update) {
    seen.add(`v${this.version} update ${update?.sessionUpdate}`);
    if (update?.content?.type) seen.add(`v${this.version} block ${update.content.type}`);
  }

  /** What a result tells about the connection. */
  note(method, message) {
    if (!message.result) return;
    if (method === "initialize") this.version = message.result.protocolVersion;
    if (method === "session/new") this.known.add(message.result.sessionId);
  }

  /** A line that we wrote. */
  ourLine(line) {
    this.lines += 1;
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.fail(line, "is not JSON");
      return;
    }
    const extra = Object.keys(message).filter(
      (key) => !["jsonrpc", "id", "method", "params", "result", "error"].includes(key),
    );
    if (extra.length > 0) this.fail(line, `has ${extra} around it`);
    if (message.jsonrpc !== "2.0") this.fail(line, "is not of JSON-RPC 2.0");
    if (message.method === undefined) this.ourResponse(line, message);
    else if ("id" in message) this.ourRequest(line, message);
    else this.ourNotification(line, message);
  }

  ourResponse(line, message) {
    const request = this.theirs.get(message.id);
    if (message.id !== null && !request) this.fail(line, "answers nothing that was asked");
    this.theirs.delete(message.id);
    if ("result" in message === "error" in message) {
      this.fail(line, "must have either a result or an error");
      return;
    }
    if (request) this.note(request.method, message);
    if (request && message.result) this.answered.push({ method: request.method, result: message.result });
    if (message.error) {
      this.schemaFail(line, "$defs/Error", message.error);
      return;
    }
    const type = VERSIONS[this.version]?.types.Response.get(request?.method);
    if (!type && request?.method?.startsWith("_")) return;
    if (!type) {
      this.fail(line, `answers ${request?.method}, which this version does not have`);
      return;
    }
    if (type.side !== this.side) this.fail(line, `${request.method} is not ours to answer`);
    this.schemaFail(line, VERSIONS[this.version].branch(TITLES[this.side]), message);
    this.schemaFail(line, `$defs/${type.name}`, message.result);
  }

  ourRequest(line, message) {
    if (message.method === "initialize") this.version = message.params?.protocolVersion;
    if (!["number", "string"].includes(typeof message.id)) this.fail(line, "has a strange id");
    if (this.used.has(message.id)) this.fail(line, "has an id that was used before");
    this.used.add(message.id);
    this.ours.set(message.id, { method: message.method, params: message.params });
    if (message.method.startsWith("_")) return;
    this.checkMethod(line, message, "Request");
  }

  ourNotification(line, message) {
    if (message.method.startsWith("_")) return;
    if (message.method === "$/cancel_request") {
      this.schemaFail(line, VERSIONS[this.version].branch("ProtocolLevel"), message);
      this.schemaFail(line, "$defs/CancelRequestNotification", message.params);
      if (!this.used.has(message.params?.requestId)) this.fail(line, "cancels what was not asked");
      seen.add(`v${this.version} $/cancel_request`);
      return;
    }
    this.checkMethod(line, message, "Notification");
    if (message.method !== "session/update") return;
    this.updates += 1;
    this.seeUpdate(message.params?.update);
    if (!this.known.has(message.params?.sessionId)) {
      this.fail(line, "speaks of a session that the client does not know yet");
    }
  }

  checkMethod(line, message, form) {
    const version = VERSIONS[this.version];
    const type = version?.types[form].get(message.method);
    if (!type) {
      this.fail(line, `${message.method} is no ${form.toLowerCase()} of version ${this.version}`);
      return;
    }
    seen.add(`v${this.version} ${message.method}`);
    if (type.side !== OTHER[this.side]) this.fail(line, `${message.method} is not ours to send`);
    this.schemaFail(line, version.branch(TITLES[this.side]), message);
    this.schemaFail(line, `$defs/${type.name}`, message.params);
  }

  /** Requests of the other side that got no answer. */
  unanswered() {
    return [...this.theirs.values()].map((request) => request.method);
  }
}
