/*
 * tools.h - what the coding agent's model can do in a session: read and change files, search, run
 * commands, plan, ask.
 *
 * A toolbox holds the table of tools, once for the whole process.  A set of tools belongs to a
 * session.  A run is one tool call of the model: it checks the input, shows itself to the client
 * as a tool call, asks the policy (and through it the user), works, and gives a text for the model.
 *
 *     tools_run(set, turn, acp_str_from("call-7"), acp_str_from("read"),
 *           acp_raw_from("{\"path\":\"a.c\"}"),
 *               on_done, loop);
 *
 * What is guaranteed:
 *   - each run that was begun calls `done` exactly once, from the loop or from within
 *     tools_cancel(), never before tools_run() has returned
 *   - nothing is done that the policy does not allow, and nothing is written before that
 *   - the loop is not held up: directories are walked and searched by a thread
 *   - the text for the model has at most TOOLS_MAX_RESULT bytes and says what was left out
 *   - runs that change the same file wait for each other; all others go on at the same time
 *
 * What the agent must do: call tools_cancel() from its `cancel` callback, end a turn only when all
 * its runs are done, and free the set in `end_session` at the latest.
 */
#ifndef SRC_AGENT_TOOLKIT_TOOLS_H
#define SRC_AGENT_TOOLKIT_TOOLS_H

#include "acp/job.h"
#include "acp/policy.h"
#include "agent/toolkit/file_walk.h"

enum {
    TOOLS_MAX_RESULT = 64 * 1024, /* bytes of text for the model */
    TOOLS_MAX_INPUT = 16 << 20,   /* bytes of the model's input for one run */
    TOOLS_MAX_RUNS = 128,         /* of one session at the same time */
    TOOLS_MAX_BACKGROUND = 16,    /* commands of one session that run on */
};

/* ---- The toolbox ---------------------------------------------------------------------------- */

/* A tool as it is told to a model; the texts are there as long as the toolbox. */
struct tool_info {
    const char *name;         /* "read": letters, digits, '_' */
    const char *title;        /* for people: "Read a file" */
    const char *description;  /* for the model */
    const char *input_schema; /* a JSON Schema, as text */
    enum acp_tool_kind_is kind;
    bool writes;    /* it changes files or runs programs: not offered in read-only mode */
    bool dangerous; /* it reaches out of the machine: not offered in safe and sandbox mode */
};

struct toolbox;

/*
 * How an address is fetched; absent, there is no tool for it.  start() begins and returns 0, or an
 * error, maybe with a sentence in failure, and then nothing follows.  Later it calls done once:
 * text is the body as text, or, with an error, one sentence for people.  cancel() ends it, and then
 * done is not called any more.
 */
typedef void toolbox_fetched_fn(int err, struct acp_str text, bool truncated, void *waiting);
struct toolbox_fetch {
    int (*start)(struct acp_str url, size_t max_bytes, toolbox_fetched_fn *done, void *waiting,
                 void *user, void **ret_request, struct acp_failure *failure);
    void (*cancel)(void *request, void *user);
    void *user;
};

/* fetch may be NULL and is copied.  The toolbox outlives all sets.  ACP_ERR_NOMEM. */
int toolbox_new(uv_loop_t *loop, const struct toolbox_fetch *fetch, struct toolbox **ret);
void toolbox_free(struct toolbox *box);
/* The tools in their order; NULL behind the last. */
const struct tool_info *toolbox_at(const struct toolbox *box, size_t index);
const struct tool_info *toolbox_find(const struct toolbox *box, struct acp_str name);
/* Whether commands can be run in a jail here; tried once, which takes some milliseconds. */
bool toolbox_has_sandbox(struct toolbox *box, struct acp_failure *failure);

/* ---- The tools of a session ----------------------------------------------------------------- */

struct tools;
struct tool;

struct tools_options {
    struct toolbox *box;
    struct acp_session *session;
    struct acp_jobs *jobs;
    const struct acp_policy *policy; /* decides */
    struct acp_ledger *ledger;       /* what "always" leaves behind; may be NULL */
    enum acp_grant_scope always;     /* for how long "always" is meant */
    bool nobody;                     /* there is no person to be asked */
    /* Tools that are the session's alone: NULL when it has none of that name.  May be NULL. */
    const struct tool *(*find)(struct acp_str name, void *user);
    /* The names of these, in any order; NULL behind the last.  May be NULL. */
    const char *(*name)(size_t index, void *user);
    /* The ledger has a new grant: save it.  May be NULL. */
    void (*granted)(struct tools *set, void *user);
    /*
     * What a call that shows itself by a terminal has shown, as text: for telling it again when the
     * terminal is gone.  May be NULL.
     */
    void (*shown)(struct tools *set, const struct acp_tool_call_update *call, void *user);
    void *user;
};

/* All that options point to outlives the set.  ACP_ERR_NOMEM. */
int tools_new(const struct tools_options *options, struct tools **ret);
/*
 * Ends what still runs without a word to anybody: `done` is not called for it.  Commands in the
 * background end too.  Takes NULL.
 */
void tools_free(struct tools *set);

/* Another policy decides from now on, also about runs that are not decided yet. */
void tools_set_policy(struct tools *set, const struct acp_policy *policy);
/* Whether the tool can be used in the mode that the policy has. */
bool tools_offer(const struct tools *set, const struct tool_info *tool);

/* ---- Files that are read because of their names --------------------------------------------- */

/*
 * Appends a text of the workspace, at most max bytes of it, that nobody has asked for, such as
 * AGENTS.md: a regular file that the rules allow to read, wherever links lead.  0, or an error with
 * words in *error; ACP_ERR_MISSING when there is no such file.
 */
int tools_read_project_file(struct tools *set, struct acp_str path, size_t max, struct acp_buf *out,
                            struct acp_files_error *error);
/* Calls fn for names in a folder of the workspace, 2000 at most; for none when it is not there. */
void tools_list_project_files(struct tools *set, struct acp_str folder, walk_fn *fn, void *user);

/* ---- Runs ----------------------------------------------------------------------------------- */

enum tool_end {
    TOOL_COMPLETED = 1,
    TOOL_FAILED,    /* the text says why, and what to mend */
    TOOL_DENIED,    /* by the policy or by the user */
    TOOL_CANCELLED, /* with its turn */
};

/*
 * The text is valid inside of the call only.  Anything may be called from here; but the set may be
 * freed only when no other run is open.
 */
typedef void tool_done_fn(struct tools *set, struct acp_str call, enum tool_end end,
                          struct acp_str text, void *user);

/*
 * Begins a run; everything is copied.  call is the id that the client sees.  A tool that does not
 * exist, is not offered, or gets an input that is wrong, is a run that fails.  ACP_ERR_CANCELLED
 * when the turn is cancelled, ACP_ERR_LIMIT when too many run or the input is too large,
 * ACP_ERR_NOMEM; then done is not called.
 */
int tools_run(struct tools *set, struct acp_turn *turn, struct acp_str call, struct acp_str name,
              struct acp_raw input, tool_done_fn *done, void *user);

/*
 * The turn was cancelled: its runs end as cancelled.  Commands are ended with all that they have
 * started, and are done when that is so; all else is done when this returns.  Takes NULL.
 */
void tools_cancel(struct tools *set, struct acp_turn *turn);
/* The same for a single one.  ACP_ERR_UNKNOWN. */
int tools_cancel_one(struct tools *set, struct acp_str call);
/* How many are not done. */
size_t tools_running(const struct tools *set);

/* ---- Files that the user points at ---------------------------------------------------------- */

/* No more of one file is read for that. */
enum { TOOLS_MAX_ATTACHED = 256 * 1024 };

/* What came of it; valid inside of the call only. */
struct tools_attached {
    struct acp_str text; /* of the file; of one that is too long, the beginning */
    bool is_cut;         /* that is so */
    uint64_t size;       /* of the file on the disk, in bytes; 0: not known */
    struct acp_str why;  /* a sentence instead, when it was not read; "" otherwise */
};
typedef void tools_attached_fn(struct tools *set, const struct tools_attached *file, void *user);

/*
 * Reads a file as the read tool does, from the client or from the disk, under the same rules; but
 * nobody is asked, and no tool call is shown.  The path is absolute and copied.  done is called
 * once if this returns 0, not inside of the call; with the turn's cancel, too.  ACP_ERR_CANCELLED,
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
int tools_attach(struct tools *set, struct acp_turn *turn, struct acp_str path,
                 tools_attached_fn *done, void *user);

/* Closes the roots until a tool needs them again: an idle session takes less memory then. */
void tools_close_roots(struct tools *set);

/* ---- Undo ----------------------------------------------------------------------------------- */

/* Tells the journal that a turn begins; what it changes can be taken back as a whole. */
void tools_start_turn(struct tools *set);

/* text tells, file by file, what was restored and what was not; valid inside of the call only. */
typedef void tools_undone_fn(struct tools *set, int err, struct acp_str text, void *user);

/*
 * Takes back what the last turn that changed anything has changed.  A file that was changed since
 * is left as it is, and the text says so.  done is called once if this returns 0, maybe inside of
 * the call.  ACP_ERR_MISSING when there is nothing to take back, ACP_ERR_STATE while runs are open.
 */
int tools_undo(struct tools *set, struct acp_turn *turn, tools_undone_fn *done, void *user);

#endif
