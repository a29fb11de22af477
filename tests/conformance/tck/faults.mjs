// Faults that are put into what an agent says, and the requirements that must notice them: a suite
// that cannot fail shows nothing.  Each is {says, agent, ids, tamper}; tamper gets a message and the
// method that it answers, and gives what is to be seen instead: a message, a list of them, or text.

const update = (sessionId, change) => ({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: change } });
const chunk = (words) => ({ sessionUpdate: "agent_message_chunk", messageId: "late", content: { type: "text", text: words } });
const ask = (method, params) => ({ jsonrpc: "2.0", id: `fault-${method}`, method, params });

/** Changes the result of that method. */
const inResult = (of, change) => (message, method) =>
  method === of && message.result ? { ...message, result: change(message.result, message) } : message;

/** Changes the updates whose kind begins so. */
const inUpdate = (kind, change) => (message) =>
  message.method === "session/update" && message.params.update.sessionUpdate.startsWith(kind)
    ? update(message.params.sessionId, change(message.params.update))
    : message;

const inError = (change) => (message) => (message.error ? { ...message, error: change(message.error) } : message);

/** Sends something of the session behind the answer to that method, or before it. */
const behind = (of, change) => (message, method, params) =>
  method === of && message.result ? [message, update(params.sessionId, change)] : message;
const before = (of, change) => (message, method, params) =>
  method === of && message.result ? [update(params.sessionId, change), message] : message;

/** Asks the client for something in the middle of every turn. */
const inTurn = (request) => (message) =>
  message.method === "session/update" && message.params.update.sessionUpdate === "agent_message_chunk" ? [request, message] : message;

const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
const isFence = (message, method) => method === "_conformance/fence";

const ECHO = "echo-agent";
const DEMO = "acp agent, demo";

const BOTH = [
  { says: "an id that is text becomes a number", ids: ["ACP-JSONRPC-001"], tamper: (m) => (m.id === "7" ? { ...m, id: 7 } : m) },
  { says: "an error beside the result", ids: ["ACP-JSONRPC-002", "ACP-SCHEMA-001"], tamper: (m, method) => (method === "session/new" ? { ...m, error: { code: 1, message: "and" } } : m) },
  { says: "notifications are answered", ids: ["ACP-JSONRPC-003"], tamper: (m, method) => (isFence(m, method) ? [{ jsonrpc: "2.0", id: null, result: {} }, m] : m) },
  { says: "unknown methods fail with another code", ids: ["ACP-JSONRPC-004"], tamper: inError((e) => ({ ...e, code: -32000 })) },
  { says: "every version is taken", ids: ["ACP-INIT-003"], tamper: inResult("initialize", (r) => ({ ...r, protocolVersion: 65535 })) },
  { says: "a log line among the messages", ids: ["ACP-SCHEMA-001"], tamper: (m, method) => (isFence(m, method) ? ["starting up", m] : m) },
  { says: "a member of its own", ids: ["ACP-SCHEMA-002"], tamper: inResult("session/new", (r) => ({ ...r, color: "red" })) },
  { says: "one id for all sessions", ids: ["ACP-SESSION-002"], tamper: inResult("session/new", (r) => ({ ...r, sessionId: "same" })) },
  { says: "an empty id", ids: ["ACP-SESSION-001"], tamper: inResult("session/new", (r) => ({ ...r, sessionId: "" })) },
  { says: "errors of two lines", ids: ["ACP-ERROR-001"], tamper: inError((e) => ({ ...e, message: "it\nfailed" })) },
  { says: "prompts with _meta are refused", ids: ["ACP-META-001"], tamper: (m, method, params) => (params?._meta ? { jsonrpc: "2.0", id: m.id, error: { code: -32602, message: "no" } } : m) },
  { says: "a list without sessions", agent: DEMO, ids: ["ACP-LIST-.01"], tamper: inResult("session/list", () => ({ sessions: null })) },
  { says: "a list of all folders", agent: DEMO, ids: ["ACP-LIST-.02"], tamper: inResult("session/list", () => ({ sessions: [{ sessionId: "a", cwd: "/" }] })) },
  { says: "closing fails", agent: DEMO, ids: ["ACP-CLOSE-.01"], tamper: (m, method) => (method === "session/close" ? { jsonrpc: "2.0", id: m.id, error: { code: -32603, message: "no" } } : m) },
  { says: "options with values that they do not have", agent: DEMO, ids: ["ACP-CONFIG-(001|204)"], tamper: inResult("session/new", (r) => ({ ...r, configOptions: r.configOptions.map((o) => ({ ...o, currentValue: "none" })) })) },
  { says: "only the option that was set", agent: DEMO, ids: ["ACP-CONFIG-.02"], tamper: inResult("session/set_config_option", (r) => ({ ...r, configOptions: r.configOptions.slice(0, 1) })) },
];

const V1 = [
  { says: "no name", ids: ["ACP-INIT-004"], tamper: inResult("initialize", (r) => without(r, "agentInfo")) },
  { says: "another version", ids: ["ACP-INIT-002"], tamper: inResult("initialize", (r) => ({ ...r, protocolVersion: 0 })) },
  { says: "a stop reason that nobody knows", ids: ["ACP-PROMPT-001"], tamper: inResult("session/prompt", () => ({ stopReason: "tired" })) },
  { says: "updates of another session", ids: ["ACP-PROMPT-002"], tamper: (m) => (m.method === "session/update" ? update("other", m.params.update) : m) },
  { says: "files are asked for", ids: ["ACP-CLIENTCAP-001"], tamper: inTurn(ask("fs/read_text_file", { sessionId: "s", path: "/a" })) },
  { says: "terminals are asked for", ids: ["ACP-CLIENTCAP-002"], tamper: inTurn(ask("terminal/create", { sessionId: "s", command: "a" })) },
  { says: "forms are asked for", ids: ["ACP-CLIENTCAP-003"], tamper: inTurn(ask("elicitation/create", {})) },
  { says: "cancelled turns end as usual", agent: DEMO, ids: ["ACP-CANCEL-001", "ACP-CLOSE-002"], tamper: inResult("session/prompt", () => ({ stopReason: "end_turn" })) },
  { says: "an update after the turn", agent: DEMO, ids: ["ACP-CANCEL-002"], tamper: behind("session/prompt", chunk("late")) },
  { says: "an update after a load", agent: DEMO, ids: ["ACP-LOAD-002"], tamper: behind("session/load", chunk("late")) },
  { says: "a load that gives null", agent: DEMO, ids: ["ACP-LOAD-003"], tamper: (m, method) => (method === "session/load" ? { ...m, result: null } : m) },
  { says: "resuming replays", agent: DEMO, ids: ["ACP-RESUME-002"], tamper: before("session/resume", chunk("again")) },
  { says: "a mode that is not listed", agent: DEMO, ids: ["ACP-MODES-001"], tamper: inResult("session/new", (r) => ({ ...r, modes: { ...r.modes, currentModeId: "none" } })) },
  { says: "an option that is on or off", agent: DEMO, ids: ["ACP-CONFIG-003"], tamper: inResult("session/new", (r) => ({ ...r, configOptions: [{ id: "b", name: "B", type: "boolean", currentValue: true }] })) },
  { says: "logging in at a terminal", ids: ["ACP-AUTH-002"], tamper: inResult("initialize", (r) => ({ ...r, authMethods: [{ id: "t", name: "T", type: "terminal" }] })) },
  { says: "two ways to log in with one id", ids: ["ACP-AUTH-001"], tamper: inResult("initialize", (r) => ({ ...r, authMethods: [{ id: "a", name: "A" }, { id: "a", name: "B" }] })) },
];

const V2 = [
  { says: "no name", ids: ["ACP-INIT-203"], tamper: inResult("initialize", (r) => without(r, "info")) },
  { says: "offers that are true", ids: ["ACP-INIT-204"], tamper: inResult("initialize", (r) => ({ ...r, capabilities: { session: true } })) },
  { says: "offers of its own", ids: ["ACP-EXT-202"], tamper: inResult("initialize", (r) => ({ ...r, capabilities: { ...r.capabilities, magic: {} } })) },
  { says: "prompts without the id of their message", ids: ["ACP-PROMPT-201", "ACP-PROMPT-203"], tamper: inResult("session/prompt", () => ({})) },
  { says: "turns that never run", ids: ["ACP-STATE-201"], tamper: inUpdate("state_update", (u) => (u.state === "running" ? { ...u, state: "_asleep" } : u)) },
  { says: "an end without a reason", ids: ["ACP-STATE-203"], tamper: inUpdate("state_update", (u) => without(u, "stopReason")) },
  { says: "updates of another session", ids: ["ACP-PROMPT-205"], tamper: (m) => (m.method === "session/update" && m.params.update.sessionUpdate !== "state_update" ? update("other", m.params.update) : m) },
  { says: "files are asked for", ids: ["ACP-CLIENTCAP-202"], tamper: inTurn(ask("fs/read_text_file", {})) },
  { says: "forms are asked for", ids: ["ACP-CLIENTCAP-201"], tamper: inTurn(ask("elicitation/create", {})) },
  { says: "messages without ids", ids: ["ACP-PATCH-201"], tamper: inUpdate("agent_message_chunk", (u) => without(u, "messageId")) },
  { says: "one id for all messages", ids: ["ACP-PATCH-203"], tamper: inResult("session/prompt", () => ({ messageId: "same" })) },
  { says: "a _meta that is text", ids: ["ACP-META-201"], tamper: inResult("session/new", (r) => ({ ...r, _meta: "text" })) },
  { says: "cancelled turns end as aborted", agent: DEMO, ids: ["ACP-CANCEL-20[17]", "ACP-CLOSE-202"], tamper: inUpdate("state_update", (u) => (u.stopReason ? { ...u, stopReason: "aborted" } : u)) },
  { says: "an update after the turn", agent: DEMO, ids: ["ACP-CANCEL-202"], tamper: (m) => (m.params?.update?.state === "idle" ? [m, update(m.params.sessionId, chunk("late"))] : m) },
  { says: "session/cancel is answered", agent: DEMO, ids: ["ACP-CANCEL-205"], tamper: (m, method) => (isFence(m, method) ? [{ jsonrpc: "2.0", id: null, result: {} }, m] : m) },
  { says: "an update after a replay", agent: DEMO, ids: ["ACP-RESUME-202"], tamper: behind("session/resume", chunk("late")) },
  { says: "resuming replays", agent: DEMO, ids: ["ACP-RESUME-203"], tamper: before("session/resume", chunk("again")) },
  { says: "replayed messages have new ids", agent: DEMO, ids: ["ACP-RESUME-204"], tamper: inUpdate("user_message", (u) => ({ ...u, messageId: `${u.messageId}-new` })) },
  { says: "replayed pieces without a beginning", agent: DEMO, ids: ["ACP-RESUME-205"], tamper: inUpdate("agent_message", (u) => (u.sessionUpdate === "agent_message" ? { ...u, messageId: "other" } : u)) },
  { says: "folders that are relative", agent: DEMO, ids: ["ACP-LIST-20[34]"], tamper: inResult("session/list", (r) => ({ sessions: r.sessions.map((s) => ({ ...s, cwd: "w" })) })) },
  { says: "tool calls of kinds that nobody knows", agent: DEMO, ids: ["ACP-ENUM-201"], tamper: inUpdate("tool_call_update", (u) => ({ ...u, kind: "magic" })) },
  { says: "states that nobody knows", agent: DEMO, ids: ["ACP-ENUM-202"], tamper: inUpdate("state_update", (u) => (u.state === "running" ? { ...u, state: "walking" } : u)) },
  { says: "tool calls without ids", agent: DEMO, ids: ["ACP-PATCH-204"], tamper: inUpdate("tool_call_update", (u) => ({ ...u, toolCallId: "" })) },
  { says: "tool calls without a title", agent: DEMO, ids: ["ACP-PATCH-208"], tamper: inUpdate("tool_call_update", (u) => without(u, "title")) },
  { says: "plans without ids", agent: DEMO, ids: ["ACP-PATCH-205"], tamper: inUpdate("plan_update", (u) => ({ ...u, plan: without(u.plan, "planId") })) },
  { says: "terminals in relative folders", agent: DEMO, ids: ["ACP-PATCH-206"], tamper: inUpdate("terminal_update", (u) => ({ ...u, cwd: "w" })) },
  { says: "output that is no base64", agent: DEMO, ids: ["ACP-PATCH-207"], tamper: inUpdate("terminal_output_chunk", (u) => ({ ...u, data: "***" })) },
  { says: "questions without the state", agent: DEMO, ids: ["ACP-PATCH-209"], tamper: inUpdate("state_update", (u) => (u.state === "requires_action" ? { ...u, state: "running" } : u)) },
  { says: "permission requests without options", agent: DEMO, ids: ["ACP-PERM-201"], tamper: (m) => (m.method === "session/request_permission" ? { ...m, params: { ...m.params, title: "" } } : m) },
];

const complete = (fault) => ({ agent: ECHO, ...fault, ids: new RegExp(`^(${fault.ids.join("|")})$`) });

export const FAULTS = { 1: [...BOTH, ...V1].map(complete), 2: [...BOTH, ...V2].map(complete) };
