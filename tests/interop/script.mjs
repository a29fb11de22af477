// What sdk-agent says (and actor-agent, as far as content goes): content blocks and updates of
// every kind, in either version.

const ANNOTATIONS = {
  audience: ["user", "assistant"],
  lastModified: "2026-01-02T03:04:05Z",
  priority: 0.5,
};

const text = (words) => ({ type: "text", text: words });

/** One block of each kind. */
export const allBlocks = () => [
  {
    ...text('a "text" with é and 😀'),
    annotations: ANNOTATIONS,
    _meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  },
  {
    type: "image",
    data: "aW1hZ2U=",
    mimeType: "image/png",
    uri: "file:///w/a.png",
    annotations: ANNOTATIONS,
  },
  { type: "audio", data: "YXVkaW8=", mimeType: "audio/wav", annotations: ANNOTATIONS },
  {
    type: "resource_link",
    name: "a.txt",
    uri: "file:///w/a.txt",
    title: "A",
    description: "a file",
    mimeType: "text/plain",
    size: 12,
    annotations: ANNOTATIONS,
  },
  {
    type: "resource",
    resource: { text: "contents", uri: "file:///w/b.txt", mimeType: "text/plain" },
    annotations: ANNOTATIONS,
  },
  {
    type: "resource",
    resource: { blob: "AAEC", uri: "file:///w/b.bin", mimeType: "application/octet-stream" },
  },
];

const ENTRIES = [
  { content: "look", priority: "high", status: "completed" },
  { content: "do", priority: "low", status: "pending" },
];

export const planUpdate = (version) =>
  version === 1
    ? { sessionUpdate: "plan", entries: ENTRIES }
    : { sessionUpdate: "plan_update", plan: { type: "items", planId: "p-1", entries: ENTRIES } };

export const toolUpdates = (version) => [
  {
    sessionUpdate: version === 1 ? "tool_call" : "tool_call_update",
    toolCallId: "tool-1",
    title: "Reading",
    kind: "read",
    status: "pending",
    locations: [{ path: "/w/a.txt", line: 7 }],
    rawInput: { path: "/w/a.txt" },
  },
  // null leaves it as it is in version 1 and resets it in version 2
  { sessionUpdate: "tool_call_update", toolCallId: "tool-1", title: null, status: "in_progress" },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "tool-1",
    status: "completed",
    content: [{ type: "content", content: text("seven lines") }],
    rawOutput: { lines: 7 },
  },
];

export const diffTool = (version) => ({
  sessionUpdate: version === 1 ? "tool_call" : "tool_call_update",
  toolCallId: "tool-diff",
  title: "Editing",
  kind: "edit",
  content: [
    version === 1
      ? { type: "diff", path: "/w/a.txt", oldText: "one\n", newText: "two\n" }
      : {
          type: "diff",
          changes: [{ operation: "modify", path: "/w/a.txt", fileType: "text" }],
          patch: {
            format: "git_patch",
            text: "--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
          },
        },
  ],
});

const chunk = (kind, messageId, content) => ({ sessionUpdate: kind, messageId, content });

const onlyV1 = () => [{ sessionUpdate: "current_mode_update", currentModeId: "code" }];

const onlyV2 = () => [
  { sessionUpdate: "user_message", messageId: "w-1", content: [text("all I said")] },
  { sessionUpdate: "agent_message", messageId: "w-2", content: [text("all of it")] },
  { sessionUpdate: "agent_thought", messageId: "w-3", content: null },
  {
    sessionUpdate: "terminal_update",
    terminalId: "term-1",
    command: "make",
    cwd: "/w",
    size: { cols: 80, rows: 24 },
  },
  { sessionUpdate: "terminal_output_chunk", terminalId: "term-1", data: "aGkK" },
  { sessionUpdate: "terminal_update", terminalId: "term-1", exitStatus: { exitCode: -1 } },
  {
    sessionUpdate: "tool_call_content_chunk",
    toolCallId: "tool-1",
    content: { type: "terminal", terminalId: "term-1" },
  },
];

/** One update of every kind, most with something in every field. */
export const allUpdates = (session, availableCommands) => [
  chunk("user_message_chunk", "c-1", text("what you said")),
  chunk("agent_message_chunk", "c-2", text("what I say")),
  chunk("agent_thought_chunk", "c-3", text("what I think")),
  ...toolUpdates(session.version),
  diffTool(session.version),
  planUpdate(session.version),
  { sessionUpdate: "available_commands_update", availableCommands },
  { sessionUpdate: "config_option_update", configOptions: session.options() },
  { sessionUpdate: "session_info_update", title: "A talk", updatedAt: "2026-01-02T03:04:05Z" },
  {
    sessionUpdate: "usage_update",
    used: 1234,
    size: 200000,
    cost: { amount: 0.25, currency: "EUR" },
  },
  { sessionUpdate: "notice", severity: "warning", title: "Low", description: "Ten are left." },
  { sessionUpdate: "compaction_update", compactionId: "k-1", status: "in_progress" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "k-1", content: text("In short") },
  {
    sessionUpdate: "compaction_update",
    compactionId: "k-1",
    status: "completed",
    summary: [text("In short")],
  },
  ...(session.version === 1 ? onlyV1() : onlyV2()),
];

/** What a session that is loaded shows. */
export function history(version) {
  if (version === 2) {
    return [
      { sessionUpdate: "user_message", messageId: "u-1", content: [text("what was asked")] },
      ...toolUpdates(2),
      { sessionUpdate: "agent_message", messageId: "a-1", content: [] },
      chunk("agent_message_chunk", "a-1", text("what was answered")),
    ];
  }
  return [
    chunk("user_message_chunk", "u-1", text("what was asked")),
    ...toolUpdates(1),
    chunk("agent_message_chunk", "a-1", text("what was answered")),
  ];
}
