/*
 * tools.h - what the coding agent's model can do in a session: read and change files, search, run
 * commands, plan, ask.
 *
 * A toolbox has the table of tools, once for the process.  A set of tools belongs to a session.  A
 * run is one tool call of the model: it checks the input, shows the tool call to the client, asks
 * the policy (and perhaps the user), does the work, and returns a text for the model.
 *
 *     tools_run(set, turn, acp_str_from("call-7"), acp_str_from("read"),
 *           acp_raw_from("{\"path\":\"a.c\"}"),
 *               on_done, loop);
 *
 * What is guaranteed:
 *   - each run calls `done` exactly once, from the loop or from tools_cancel(), never before
 *     tools_run() has returned
 *   - nothing is done that the policy does not allow, and nothing is written before it does
 *   - the loop is not blocked: directories are walked and searched on a thread
 *   - the text for the model has at most TOOLS_MAX_RESULT bytes and says what was left out
 *   - runs that change the same file wait for each other; all others run at the same time
 *
 * The agent must call tools_cancel() from its `cancel` callback, end a turn only when all its runs
 * have ended, and free the set in `end_session` at the latest.
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
    TOOLS_MAX_BACKGROUND = 16,    /* background commands of one session */
};

/* ---- The toolbox ---------------------------------------------------------------------------- */

/* A tool, as the model gets it; the texts are valid as long as the toolbox. */
struct tool_info {
    const char *name;         /* "read": letters, digits, '_' */
    const char *title;        /* for people: "Read a file" */
    const char *description;  /* for the model */
    const char *input_schema; /* a JSON Schema, as text */
    enum acp_tool_kind_is kind;
    bool writes;    /* changes files or runs programs; not offered in read-only mode */
    bool dangerous; /* uses the network; not offered in safe and sandbox mode */
};

struct toolbox;

/*
 * How an address is fetched.  start() returns 0, or an error, perhaps with a sentence in failure.
 * After 0 it calls done once, later: text is the body as text, or a sentence for people with an
 * error.  cancel() ends the request, and done is not called any more.
 */
typedef void toolbox_fetched_fn(int err, struct acp_str text, bool truncated, void *waiting);
struct toolbox_fetch {
    int (*start)(struct acp_str url, size_t max_bytes, toolbox_fetched_fn *done, void *waiting,
                 void *user, void **ret_request, struct acp_failure *failure);
    void (*cancel)(void *request, void *user);
    void *user;
};

/*
 * fetch may be NULL (no fetch tool) and is copied.  The toolbox outlives all sets.  ACP_ERR_NOMEM.
 */
int toolbox_new(uv_loop_t *loop, const struct toolbox_fetch *fetch, struct toolbox **ret);
void toolbox_free(struct toolbox *box);
/* The tools in their order; NULL past the last. */
const struct tool_info *toolbox_at(const struct toolbox *box, size_t index);
const struct tool_info *toolbox_find(const struct toolbox *box, struct acp_str name);
/* Whether commands can be sandboxed here; tested once, which takes some milliseconds. */
bool toolbox_has_sandbox(struct toolbox *box, struct acp_failure *failure);

/* ---- The tools of a session ----------------------------------------------------------------- */

struct tools;
struct tool;

struct tools_options {
    struct toolbox *box;
    struct acp_session *session;
    struct acp_jobs *jobs;
    const struct acp_policy *policy; /* decides */
    struct acp_ledger *ledger;       /* stores permanent permissions; may be NULL */
    enum acp_grant_scope always;     /* the scope of such an answer */
    bool nobody;                     /* there is no user who could be asked */
    /* Tools of the session alone: NULL if it has none of that name.  May be NULL. */
    const struct tool *(*find)(struct acp_str name, void *user);
    /* The names of these tools, in any order; NULL past the last.  May be NULL. */
    const char *(*name)(size_t index, void *user);
    /* Whether the session has a tool of that name and kind.  NULL: all of them. */
    bool (*has)(struct acp_str name, enum acp_tool_kind_is kind, void *user);
    /* A call is about to be decided on: bring the ledger up to date.  May be NULL. */
    void (*deciding)(struct tools *set, void *user);
    /* The ledger has a new grant: save it.  May be NULL. */
    void (*granted)(struct tools *set, void *user);
    /*
     * What a tool call with a terminal has shown, as text: for a replay without the terminal.  May
     * be NULL.
     */
    void (*shown)(struct tools *set, const struct acp_tool_call_update *call, void *user);
    void *user;
};

/* What the options point to must outlive the set.  ACP_ERR_NOMEM. */
int tools_new(const struct tools_options *options, struct tools **ret);
/*
 * Ends what is still running, including background commands, without calling `done`.  Takes NULL.
 */
void tools_free(struct tools *set);

/* The policy for all decisions from now on. */
void tools_set_policy(struct tools *set, const struct acp_policy *policy);
/* Whether the tool can be used in the mode of the policy. */
bool tools_offer(const struct tools *set, const struct tool_info *tool);

/* ---- Files that are read because of their names --------------------------------------------- */

/*
 * Appends at most max bytes of a file of the workspace that is read because of its name, such as
 * AGENTS.md: a regular file that the rules allow reading, wherever links lead.  0, or an error with
 * a sentence in *error; ACP_ERR_MISSING: no such file.
 */
int tools_read_project_file(struct tools *set, struct acp_str path, size_t max, struct acp_buf *out,
                            struct acp_files_error *error);
/* Calls fn for the names in a folder of the workspace, at most 2000; for none if it is missing. */
void tools_list_project_files(struct tools *set, struct acp_str folder, walk_fn *fn, void *user);

/* ---- Runs ----------------------------------------------------------------------------------- */

enum tool_end {
    TOOL_COMPLETED = 1,
    TOOL_FAILED,    /* the text says why, and what to do about it */
    TOOL_DENIED,    /* by the policy or by the user */
    TOOL_CANCELLED, /* with its turn */
};

/*
 * The text is valid until it returns.  Any function may be called, but the set may be freed only if
 * no other run is open.
 */
typedef void tool_done_fn(struct tools *set, struct acp_str call, enum tool_end end,
                          struct acp_str text, void *user);

/*
 * Starts a run; everything is copied.  call is the id for the client.  If the tool does not exist,
 * is not offered, or the input is invalid, the run fails.  done is not called for ACP_ERR_CANCELLED
 * (the turn was cancelled), ACP_ERR_LIMIT (too many runs, or too large an input) and ACP_ERR_NOMEM.
 */
int tools_run(struct tools *set, struct acp_turn *turn, struct acp_str call, struct acp_str name,
              struct acp_raw input, tool_done_fn *done, void *user);

/*
 * The turn was cancelled: its runs end as cancelled.  Commands end later, once all their processes
 * have ended; all other runs have ended when this returns.  Takes NULL.
 */
void tools_cancel(struct tools *set, struct acp_turn *turn);
/* Cancels a single run.  ACP_ERR_UNKNOWN. */
int tools_cancel_one(struct tools *set, struct acp_str call);
/* How many runs have not ended. */
size_t tools_running(const struct tools *set);

/* ---- Files that a prompt links to ----------------------------------------------------------- */

/* Bytes that are read of one file. */
enum { TOOLS_MAX_ATTACHED = 256 * 1024 };

/* Valid until the callback returns. */
struct tools_attached {
    struct acp_str text; /* of the file, or its beginning */
    bool is_cut;         /* the file is longer */
    uint64_t size;       /* of the file on the disk, in bytes; 0: unknown */
    struct acp_str why;  /* why it was not read; "": it was */
};
typedef void tools_attached_fn(struct tools *set, const struct tools_attached *file, void *user);

/*
 * Reads a file as the read tool does, from the client or from the disk and under the same rules,
 * but without asking the user and without a tool call.  The path is absolute and copied.  If this
 * returns 0, done is called once, later, even if the turn is cancelled.  ACP_ERR_CANCELLED,
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
int tools_attach(struct tools *set, struct acp_turn *turn, struct acp_str path,
                 tools_attached_fn *done, void *user);

/* Closes the roots until a tool needs them again: an idle session takes less memory then. */
void tools_close_roots(struct tools *set);

/* ---- Undo ----------------------------------------------------------------------------------- */

/* A turn begins: what it changes can be undone as a whole. */
void tools_start_turn(struct tools *set);

/* text says for each file whether it was restored; valid until it returns. */
typedef void tools_undone_fn(struct tools *set, int err, struct acp_str text, void *user);

/*
 * Undoes the changes of the last turn that has changed anything.  Files that have changed since are
 * left as they are.  If this returns 0, done is called once, possibly before that.
 * ACP_ERR_MISSING: there is nothing to undo; ACP_ERR_STATE: a run is open.
 */
int tools_undo(struct tools *set, struct acp_turn *turn, tools_undone_fn *done, void *user);

#endif
