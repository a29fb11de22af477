/*
 * transcript.h - a session as people see it: messages, tool calls, plans, turns, and the final
 * answer, built from the events of the session.
 *
 * A transcript is a reducer.  It is given one event after the other, live or from the log, and
 * keeps an ordered list of items with stable numbers.  It does no I/O, has no clock, and knows
 * nothing about terminals or formats.  Each call says what has changed, so that a renderer or a
 * user interface need not look through the list:
 *
 *     struct transcript *transcript;
 *     struct transcript_changes changes;
 *     err = transcript_new(NULL, &transcript);
 *     ...for every event of the session, in order:
 *     err = transcript_add(transcript, &event, &changes);
 *     for (size_t i = 0; i < changes.count; i++) {
 *         const struct transcript_change *change = &changes.items[i];
 *         if (change->item && change->item->kind == ITEM_MESSAGE)
 *             printf("%.*s", ACP_ARG(change->text));
 *         if (change->item && change->what & CHANGE_ENDED)
 *             printf("\n");
 *     }
 *     ...
 *     printf("%.*s\n", ACP_ARG(transcript_answer(transcript).text));
 *     transcript_free(transcript);
 *
 * Events may come from either version of the protocol: the `opened` event says which one, and the
 * items are the same.  A transcript of a part of a session starts wherever its first event is.
 *
 * Ownership: everything that is reached through an item or a change belongs to the transcript.
 * Changes are valid until the next transcript_add(), and their texts as long as the event's body is
 * as well, since they may point into it; an item until it is removed, which happens only in
 * transcript_add().  Keep item numbers rather than pointers.
 *
 * Memory is bounded by the limits below, whatever an agent sends.  Adding an event takes time in
 * proportion to its size, also for the millionth chunk of a message.
 */
#ifndef SRC_TRANSCRIPT_TRANSCRIPT_H
#define SRC_TRANSCRIPT_TRANSCRIPT_H

#include "acp/base.h"
#include "acp/types.h"
#include "transcript/event.h"

struct transcript;

/* What an agent can make a transcript hold; docs/limits.md says what happens at each limit. */
enum {
    TRANSCRIPT_MAX_TEXT = 64 * 1024 * 1024, /* bytes of one message, and of the answer */
    TRANSCRIPT_MAX_BYTES = 256 * 1024 * 1024,
    TRANSCRIPT_MAX_ITEMS = 65536,
    TRANSCRIPT_MAX_TOOL_CALLS = 4096, /* of a turn */
    TRANSCRIPT_MAX_MESSAGES = 4096,   /* messages and plans of a turn that are known by their ids */
    TRANSCRIPT_MAX_ID = 1024,         /* bytes of the id of a message, a tool call or a plan */
    TRANSCRIPT_MAX_TITLE = 1000,      /* bytes of a tool call's title: one line */
    TRANSCRIPT_MAX_SETTINGS = 1024 * 1024, /* bytes of the modes, options or commands */
    TRANSCRIPT_MAX_FILES = 1000,           /* changed files, of a tool call and of a turn */
    TRANSCRIPT_MAX_DIFF = 1024 * 1024,     /* bytes of a diff whose lines are counted */
    TRANSCRIPT_MAX_REASON = 4000,          /* bytes that say why something failed */
};

/* ---- Items ----------------------------------------------------------------------------------- */

enum transcript_item_kind {
    ITEM_OPENED,       /* the session was opened: opened */
    ITEM_PROMPT,       /* a prompt was sent: text, blocks */
    ITEM_USER_MESSAGE, /* a message of the user, as the agent reports it: text, blocks, is_echo */
    ITEM_MESSAGE,      /* a message of the agent: text, blocks */
    ITEM_THOUGHT,      /* likewise */
    ITEM_TOOL_CALL,    /* text is its title; tool_call */
    ITEM_PLAN,         /* plan */
    ITEM_COMPACTION,   /* the agent shortened its context; text is the summary; compaction */
    ITEM_PERMISSION,   /* text is the title of what was granted or denied; permission */
    ITEM_ELICITATION,  /* text is what the agent asked the user; elicitation */
    ITEM_SETTING,      /* text is the name of what was set; setting */
    ITEM_NOTICE,       /* text; notice */
    ITEM_TURN_END,     /* text is the stop reason, or says what failed; turn */
    ITEM_CLOSED,       /* the agent's process has ended: text */
};

/* A content block that is not text, and where in the text of its message it stands. */
struct transcript_block {
    const struct transcript_block *next;
    size_t offset; /* the text has a short description of the block there */
    struct acp_content_block block;
};

/* A file that was changed. */
struct transcript_file {
    struct acp_str path;
    bool is_counted; /* how many lines is known: */
    uint64_t added;
    uint64_t removed;
};

struct transcript_file_list {
    const struct transcript_file *items;
    size_t count;
};

struct transcript_tool_call {
    struct acp_str id;
    struct acp_str name;        /* of the tool; may be absent */
    enum acp_tool_kind_is kind; /* ACP_TOOL_KIND_ABSENT: not told */
    enum acp_tool_call_status_is status;
    struct acp_tool_call_content_list content; /* text, diffs, terminals, ... */
    struct acp_tool_call_location_list locations;
    struct acp_raw raw_input; /* JSON; absent when not told */
    struct acp_raw raw_output;
    struct transcript_file_list files; /* that the diffs in its content change */
    struct acp_str reason; /* why it failed or was cancelled; absent when nobody has told */
    bool is_orphaned;      /* the turn ended before it did: status and reason are ours */
    bool in_background;    /* version 2: the agent says that it outlasts the turn */
};

struct transcript_plan {
    struct acp_str id; /* absent in version 1 */
    struct acp_plan_entry_list entries;
    struct acp_str uri;      /* unstable: it stands in a file */
    struct acp_str markdown; /* unstable: it is a text */
    bool is_removed;
};

struct transcript_compaction {
    enum acp_compaction_status_is status;
    struct acp_str reason; /* why it failed; or absent */
};

struct transcript_permission {
    struct acp_str kind;    /* of the action: "edit", "execute", ... */
    struct acp_str command; /* absent where it is about something else */
    struct acp_str cwd;
    struct acp_str_list paths;
    bool is_allowed;
    bool is_other;         /* neither allowed nor denied: the option is of an unknown kind */
    struct acp_str option; /* the id of the option that was chosen; may be absent */
    struct acp_str by;     /* who decided: "the user", or the rule */
};

/* A form or a web page, and what the user did. */
struct transcript_elicitation {
    struct acp_str url;    /* absent: a form */
    struct acp_str action; /* "accept", "decline", "cancel" */
    bool unasked;          /* nobody could be asked */
};

struct transcript_notice {
    bool from_agent;
    enum acp_notice_severity_is severity; /* ABSENT: not told */
    struct acp_str description;           /* may be absent */
};

struct transcript_opened {
    struct acp_str agent;
    struct acp_str agent_session;
    struct acp_str cwd;
    struct acp_str how; /* "new", "loaded", "resumed", "reopened", "forked" */
    unsigned protocol;  /* ACP_V1 or ACP_V2 */
};

/* Tokens; those that nobody has told are absent. */
struct transcript_usage {
    struct acp_opt_u64 total;
    struct acp_opt_u64 input;
    struct acp_opt_u64 output;
    struct acp_opt_u64 thought;
    struct acp_opt_u64 cached_read;
    struct acp_opt_u64 cached_write;
};

struct transcript_cost {
    bool is_known;
    double amount;
    char currency[16];
};

enum transcript_turn_state {
    TURN_NONE, /* there has been none */
    TURN_RUNNING,
    TURN_STOPPED, /* stop_reason */
    TURN_FAILED,  /* source, code, message */
};

/* A prompt and what came of it. */
struct transcript_turn {
    enum transcript_turn_state state;
    uint64_t number; /* as in events */
    uint64_t prompt; /* the item */
    int64_t started; /* milliseconds since 1970 */
    int64_t ended;
    struct acp_str stop_reason;
    enum error_source source;
    int64_t code; /* JSON-RPC; 0: none */
    struct acp_str message;
    struct transcript_usage usage;     /* so far, where the agent reports each call of its model */
    uint64_t model_calls;              /* that it has reported */
    struct transcript_cost cost;       /* of this turn alone, where the agent tells costs */
    struct transcript_file_list files; /* that completed tool calls have changed */
};

struct transcript_item {
    uint64_t number;   /* from 1, in the order of appearance; 0: beyond a limit, and not listed */
    uint64_t sequence; /* of the event that began it */
    uint64_t turn;
    int64_t started; /* milliseconds since 1970 */
    int64_t ended;   /* when is_ended is set */
    enum transcript_item_kind kind;
    bool is_ended;      /* it does not change any more, except for a tool call that starts again */
    bool is_cut;        /* its text was longer than a limit and is not complete */
    bool is_dropped;    /* its text and content were freed to keep to a limit */
    bool is_echo;       /* a user message that only repeats the prompt of its turn */
    uint64_t continues; /* the message is the rest of that item's; see transcript_answer() */
    struct acp_buf text;
    const struct transcript_block *blocks; /* of a prompt all of them, also texts */
    union {
        struct transcript_tool_call tool_call;
        struct transcript_plan plan;
        struct transcript_compaction compaction;
        struct transcript_permission permission;
        struct transcript_elicitation elicitation;
        struct acp_str setting; /* the value that was set, as text */
        struct transcript_notice notice;
        struct transcript_opened opened;
        const struct transcript_turn *end;
    };
};

/* ---- Making one ------------------------------------------------------------------------------ */

enum transcript_keep {
    TRANSCRIPT_KEEP_ALL,
    /*
     * For programs that only render changes and need the answer: an item is removed as soon as it
     * has ended, one with an id at the next prompt.  Texts are in changes and in the answer
     * only, and content is valid as long as the change that reports it.
     */
    TRANSCRIPT_KEEP_ANSWER,
};

struct transcript_options {
    enum transcript_keep keep;
    size_t max_bytes; /* for texts and content; the oldest are dropped.  0: TRANSCRIPT_MAX_BYTES */
    size_t max_items; /* the oldest are removed.  0: TRANSCRIPT_MAX_ITEMS */
};

/* options may be NULL.  ACP_ERR_NOMEM. */
int transcript_new(const struct transcript_options *options, struct transcript **ret);
/* Takes NULL. */
void transcript_free(struct transcript *transcript);

/* ---- Adding events --------------------------------------------------------------------------- */

/* How something has changed; one change may say several. */
enum transcript_what {
    CHANGE_NEW = 1,
    CHANGE_TEXT = 2,          /* text was appended to the item's, at offset */
    CHANGE_TEXT_REPLACED = 4, /* the item's text is now the one in the change */
    CHANGE_STATUS = 8,        /* of a tool call: reported, and maybe the same as before */
    CHANGE_TITLE = 16,        /* of a tool call, or of the session */
    CHANGE_CONTENT = 32,      /* of a tool call or plan: content, entries, input, output, ... */
    CHANGE_DIFFS = 64,        /* of a tool call: its diffs are others than before */
    CHANGE_ENDED = 128,       /* a tool call may begin again */

    /* Of the session; item is NULL. */
    CHANGE_MODE = 256,     /* the current one */
    CHANGE_MODES = 512,    /* those that there are, with the current one */
    CHANGE_OPTIONS = 1024, /* and their values */
    CHANGE_COMMANDS = 2048,
    CHANGE_USAGE = 4096,
    CHANGE_STATE = 8192,
};

struct transcript_change {
    const struct transcript_item *item; /* NULL: the session */
    unsigned what;                      /* enum transcript_what */
    size_t offset; /* CHANGE_TEXT: in the text; CHANGE_CONTENT: index of the first new entry */
    struct acp_str text; /* all that came, also where the item could not keep all of it */
};

struct transcript_changes {
    const struct transcript_change *items;
    size_t count;
};

/*
 * Folds in the next event of the session.  An event that cannot be decoded changes nothing and is
 * no error: it is in the log as it came.  ACP_ERR_NOMEM: some of the event may be missing in the
 * transcript, which is otherwise intact; ret is not written.
 */
int transcript_add(struct transcript *transcript, const struct session_event *event,
                   struct transcript_changes *ret);

/* ---- Reading --------------------------------------------------------------------------------- */

/* The numbers of the oldest item that is kept and of the newest; 0 when there is none. */
uint64_t transcript_first(const struct transcript *transcript);
uint64_t transcript_last(const struct transcript *transcript);
/* NULL when it is not kept any more, or is none yet. */
const struct transcript_item *transcript_item(const struct transcript *transcript, uint64_t number);

static inline struct acp_str transcript_text(const struct transcript_item *item)
{
    return acp_buf_view(&item->text);
}

/* The turn that runs, or the last one. */
const struct transcript_turn *transcript_turn(const struct transcript *transcript);

struct transcript_answer {
    struct acp_str text; /* empty: there is none */
    bool is_cut;         /* it is longer than TRANSCRIPT_MAX_TEXT, and its end is missing */
};

/*
 * The final answer: the last message that the agent has begun in the turn, as far as it has come.
 * Where an agent gives no message ids, tool calls, plans and messages of the user separate
 * messages; a thought interrupts one, which then goes on in an item of its own.
 */
struct transcript_answer transcript_answer(const struct transcript *transcript);

/* The current plan: the one that changed last; NULL when there is none. */
const struct transcript_item *transcript_plan(const struct transcript *transcript);

/* What is known of the session as a whole. */
struct transcript_session {
    unsigned protocol;    /* ACP_V1 or ACP_V2 */
    struct acp_str title; /* absent: none */
    struct acp_str mode;  /* the current one; absent: not told */
    struct acp_str state; /* version 2: "running", "idle", "requires_action", ...; or absent */
    struct acp_opt_u64 context_used; /* in tokens */
    struct acp_opt_u64 context_size;
    struct transcript_cost cost;
};
const struct transcript_session *transcript_session(const struct transcript *transcript);

/*
 * What can be set and what commands there are, as told last, decoded into the arena; the lists are
 * empty when nothing was told.  The errors of acp_decode().
 */
int transcript_modes(const struct transcript *transcript, struct acp_arena *arena,
                     struct acp_session_mode_list *ret);
int transcript_config_options(const struct transcript *transcript, struct acp_arena *arena,
                              struct acp_session_config_option_list *ret);
int transcript_commands(const struct transcript *transcript, struct acp_arena *arena,
                        struct acp_available_command_list *ret);

#endif
