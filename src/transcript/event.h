/*
 * event.h - what happens in a session, as numbered events: the one vocabulary of the session log,
 * of `--format json` and exports, of the daemon's messages, and of everything that displays a
 * session.
 *
 * An event is a kind and a body, a JSON object.  What the agent reports has the session/update of
 * the protocol as its body, byte for byte; all other bodies are ours:
 *
 *   opened      {"agent":NAME,"command":[...],"protocol":1,"agentSession":ID,"cwd":DIR,
 *                "how":"new"|"loaded"|"resumed"|"reopened"|"forked","forkedFrom":ID,
 *                "info":{...}}
 *   prompt      {"prompt":[BLOCK...]}                starts a turn
 *   permission  {"title":TEXT,"kind":KIND,"command":TEXT,"paths":[...],"verdict":
 *                "allow"|"deny"|"other","option":ID,"by":TEXT,"unasked":BOOL}
 *                                                    a permission was granted or denied; other: the
 *                                                    option is of a kind that we do not know
 *   elicitation {"message":TEXT,"mode":"form"|"url","url":URL,"action":"accept"|"decline"|"cancel",
 *                "content":{...},"unasked":BOOL}     the agent asked the user something
 *   setting     {"name":"mode"|"model"|OPTION,"value":VALUE}
 *   notice      {"message":TEXT}                     something the user should know
 *   stop        {"stopReason":REASON,"usage":{...}}  ends the turn
 *   error       {"source":"agent"|"user"|"acp","code":N,"message":TEXT}  ends the turn by a failure
 *   closed      {"message":TEXT}                     the agent's process has ended
 *
 * docs/events.md describes them for users, with the JSON Schema docs/events.schema.json.
 *
 * A mode event that reports what session/new answered has a SessionModeState as its body.
 *
 * Version 0.1 of the command had other names for some kinds and members.  Everything here that
 * reads accepts both; everything that writes uses the present ones.
 */
#ifndef SRC_TRANSCRIPT_EVENT_H
#define SRC_TRANSCRIPT_EVENT_H

#include "acp/base.h"
#include "acp/client.h"
#include "acp/json.h"

enum event_kind {
    EVENT_OPENED,
    EVENT_PROMPT,
    EVENT_MESSAGE, /* a message of the agent: a chunk, or (version 2) all of it */
    EVENT_THOUGHT,
    EVENT_USER_MESSAGE, /* a message of the user, as the agent reports it */
    EVENT_TOOL_CALL,
    EVENT_PLAN,
    EVENT_COMMANDS,
    EVENT_MODE,
    EVENT_CONFIG_OPTIONS,
    EVENT_STATE,
    EVENT_UPDATE, /* any other update */
    EVENT_PERMISSION,
    EVENT_ELICITATION,
    EVENT_SETTING,
    EVENT_NOTICE,
    EVENT_STOP,
    EVENT_ERROR,
    EVENT_CLOSED,
    EVENT_KINDS,
};

/* Larger than any message that is accepted from an agent. */
enum { EVENT_MAX_BYTES = 256 * 1024 * 1024 };

struct session_event {
    enum event_kind kind;
    uint64_t sequence; /* in its session, from 1; 0: not numbered yet */
    uint64_t turn;     /* from 1; 0: outside of turns */
    int64_t time;      /* milliseconds since 1970 */
    struct acp_raw body;
    const struct acp_session_update *update; /* the body, if it is decoded already; or NULL */
};

/* What an error comes from. */
enum error_source { ERROR_SOURCE_ACP, ERROR_SOURCE_AGENT, ERROR_SOURCE_USER };

/* ---- Names ----------------------------------------------------------------------------------- */

/* "message", "tool_call", ... */
const char *event_kind_name(enum event_kind kind);
/* Accepts the names of version 0.1 as well. */
bool event_kind_find(struct acp_str name, enum event_kind *ret);
/* Whether the body is a session/update of the protocol. */
bool event_is_update(enum event_kind kind);
/* The kind of an event of the client role; its body is event->raw. */
enum event_kind event_kind_of(const struct acp_event *event);

/* "acp", "agent", "user". */
const char *error_source_name(enum error_source source);

/* The kinds that version 0.1 wrote under other names: X(OLD, PRESENT).  For migrations. */
#define EVENT_RENAMED_KINDS(X)                                                                     \
    X("open", "opened")                                                                            \
    X("user", "user_message")                                                                      \
    X("tool", "tool_call")                                                                         \
    X("options", "config_options")

/*
 * The body with the present names of its members; of an error, "whose" has become "source".  Points
 * to the body itself where nothing is to be changed, into the arena otherwise.
 */
int event_upgrade_body(enum event_kind kind, struct acp_raw body, struct acp_arena *arena,
                       struct acp_raw *ret);

/* ---- Bodies ---------------------------------------------------------------------------------- */

/*
 * The update in the body of an event, decoded: event->update where it is set, otherwise in the
 * arena, with texts that point into the body.  protocol is ACP_V1 or ACP_V2.  ACP_ERR_ARGUMENT for
 * kinds whose body is no update; otherwise the errors of acp_decode().
 */
int event_decode(const struct session_event *event, unsigned protocol, struct acp_arena *arena,
                 const struct acp_session_update **ret);

/* Appends the body of a prompt; and reads its blocks, into the arena. */
int event_write_prompt(const struct acp_content_block *blocks, size_t count, struct acp_buf *out,
                       struct acp_failure *failure);
int event_read_prompt(struct acp_raw body, struct acp_arena *arena,
                      struct acp_content_block_list *ret, struct acp_failure *failure);

/* ---- As JSON --------------------------------------------------------------------------------- */

/*
 * One object, as `--format json` and exports have it on a line, and as the daemon sends it:
 * {"version":2,"session":ID,"turn":N,"sequence":N,"time":N,"kind":KIND,"body":{...}}
 */
int event_write(const struct session_event *event, struct acp_str session,
                struct acp_json_writer *w);
/* Reads such an object, also of version 1.  What ret points to is in the object or in the arena. */
int event_read(struct acp_raw object, struct acp_arena *arena, struct session_event *ret,
               struct acp_str *ret_session, struct acp_failure *failure);

#endif
