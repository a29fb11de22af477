/*
 * event.h - what happens in a conversation, as records: the one form in which it is kept in the
 * session log, printed as JSON, sent to other processes and shown to people.
 *
 * A record is a kind and a body, an object of JSON.  What the agent reports is recorded as the
 * update that came, byte for byte; everything else has a body of ours:
 *
 *   open        {"agent":NAME,"command":[...],"protocol":1,"agentSession":ID,"cwd":DIR,
 *                "how":"new"|"loaded"|"resumed"|"reopened","info":{...}}
 *   prompt      {"prompt":[BLOCK...]}
 *   permission  {"title":TEXT,"kind":KIND,"command":TEXT,"paths":[...],"verdict":"allow"|"deny",
 *                "option":ID,"by":TEXT}
 *   setting     {"name":"mode"|"model"|OPTION,"value":VALUE}
 *   notice      {"message":TEXT}                     something a person should know
 *   stop        {"stopReason":REASON,"usage":{...}}  the turn has ended
 *   error       {"whose":"agent"|"user"|"acp","code":N,"message":TEXT}  it has failed
 *   closed      {"message":TEXT}                     the agent's process is over
 */
#ifndef SRC_TRANSCRIPT_EVENT_H
#define SRC_TRANSCRIPT_EVENT_H

#include "acp/base.h"
#include "acp/client.h"
#include "acp/json.h"

enum record_kind {
    RECORD_OPEN,
    RECORD_PROMPT,
    RECORD_MESSAGE, /* the agent says something: a piece, or all of a message */
    RECORD_THOUGHT,
    RECORD_USER, /* the user's words, as the agent repeats them */
    RECORD_TOOL,
    RECORD_PLAN,
    RECORD_COMMANDS,
    RECORD_MODE,
    RECORD_OPTIONS,
    RECORD_STATE,
    RECORD_UPDATE, /* any other update */
    RECORD_PERMISSION,
    RECORD_SETTING,
    RECORD_NOTICE,
    RECORD_STOP,
    RECORD_ERROR,
    RECORD_CLOSED,
    RECORD_KINDS,
};

/* Larger than any message that we take from an agent. */
enum { RECORD_MAX = 256 * 1024 * 1024 };

struct record {
    enum record_kind kind;
    uint64_t sequence; /* in its session, from 1; 0 when it has none yet */
    uint64_t request;  /* the prompt that it belongs to, from 1; 0 outside of prompts */
    int64_t time;      /* milliseconds since 1970 */
    struct acp_raw body;
    const struct acp_session_update *update; /* the body, where it is decoded already; or NULL */
};

/* Whose fault an error is. */
enum record_whose { WHOSE_ACP, WHOSE_AGENT, WHOSE_USER };

/* "message", "tool", ...: as in the log and in JSON. */
const char *record_kind_name(enum record_kind kind);
bool record_kind_find(struct acp_str name, enum record_kind *ret);
/* Whether the body is an update of the protocol, as it came. */
bool record_is_update(enum record_kind kind);

/* The kind of an event of the client role; its body is event->raw. */
enum record_kind record_kind_of(const struct acp_event *event);

/* The body of a prompt, appended; and its blocks again, in the arena. */
int record_write_prompt(const struct acp_content_block *blocks, size_t count, struct acp_buf *out,
                        struct acp_failure *failure);
int record_read_prompt(struct acp_raw body, struct acp_arena *arena,
                       struct acp_content_block_list *ret, struct acp_failure *failure);

/*
 * One object of JSON, as `--format json` prints it and the owner of a session sends it:
 * {"version":1,"session":ID,"request":N,"sequence":N,"time":N,"kind":KIND,"body":{...}}
 */
int record_write(const struct record *record, struct acp_str session, struct acp_json_writer *w);
/* Reads such an object.  Everything in ret points into it, or into the arena. */
int record_read(struct acp_raw object, struct acp_arena *arena, struct record *ret,
                struct acp_str *ret_session, struct acp_failure *failure);

#endif
