/*
 * tool.h - what the files of the toolkit and the tools share.
 *
 *   tools.c              the table of tools, sets, which tools are offered
 *   tool_run.c           the life of a run: waiting, permission, its end
 *   tool_input.c         the model's input: checks it against the tool's schema, then reads it
 *   tool_show.c          what the client is shown of a run
 *   tool_files.c         files, through the client or through our own guard
 *   tool_attach.c        reading files that a prompt links to, without a tool call
 *   tool_project_files.c reading files by their names, such as AGENTS.md
 *   tool_unknown.c       calls of tools that do not exist
 *   tool_undo.c          undoing the changes of a turn
 *   tool_thread.c        work on a thread
 *   tools/               the tools themselves
 *
 * The stages of a run:
 *
 *     prepare   reads the input; sets title, paths, command
 *     (waits for other runs that change the same files)
 *     policy    denies, allows, or says to ask
 *     preview   finds out what would change, to show it; ends with tool_preview_done()
 *     (the user is asked)
 *     start     does the work; ends with tool_finish()
 *
 * Whoever starts something that is answered later calls tool_hold() before, and tool_resume() at
 * the beginning of the callback, which tells whether the run still goes on.
 */
#ifndef SRC_AGENT_TOOLKIT_TOOL_H
#define SRC_AGENT_TOOLKIT_TOOL_H

#include <stdatomic.h>

#include "acp/files.h"
#include "acp/json.h"
#include "agent/toolkit/tools.h"
#include "agent/toolkit/undo.h"
#include "base/utf8.h"
#include "schema/schema.h"

struct tool_run;

struct tool {
    struct tool_info info; /* without a schema, the input is not checked here */
    bool harmless;         /* touches neither files nor programs; to the policy it is thinking */
    bool hidden;           /* makes no tool call for the client: what it does is shown otherwise */
    bool decides_itself;   /* asks the policy itself, or not at all: the user wants it done */
    bool only_deny_rules;  /* rules and grants can deny it; the rest of the policy does not apply */
    /* Returns an error after tool_printf() of what is wrong. */
    int (*prepare)(struct tool_run *run);
    void (*preview)(struct tool_run *run); /* may be NULL */
    void (*start)(struct tool_run *run);
    /*
     * Called while the state is RUNNING.  Returns true if the run will end by itself, soon.  False,
     * or NULL in its place: the run ends now, and callbacks that it waits for are ignored.
     */
    bool (*cancel)(struct tool_run *run);
    /* Frees what is not in the arena.  May be NULL. */
    void (*drop)(struct tool_run *run);
};

/* tool_run.c has the transitions. */
enum tool_state {
    TOOL_NEW,        /* the input is being checked */
    TOOL_QUEUED,     /* goes on when the loop runs */
    TOOL_WAITING,    /* for another run that changes one of its files */
    TOOL_PREVIEWING, /* finds out what it would change */
    TOOL_ASKING,     /* the user is being asked */
    TOOL_RUNNING,
    TOOL_CANCELLING, /* cancelled; it will end by itself */
    TOOL_ENDED,      /* freed when nobody holds it any more */
};

/* The roots of a session.  Threads use them, so they stay as long as one of those does. */
struct tool_roots {
    struct acp_roots *roots;
    unsigned uses; /* by the set and by runs; counted on the loop's thread only */
};

struct tool_run {
    struct tool_run *next;        /* in its set */
    struct tool_run *next_queued; /* in the toolbox */
    struct tools *set;            /* NULL once the set is freed */
    struct toolbox *box;
    struct tool_roots *roots;
    struct acp_turn *turn;
    const struct tool *tool; /* NULL: there is no such tool */
    struct acp_arena arena;
    struct acp_str call;
    struct acp_str name;
    struct acp_raw input; /* valid JSON once it was checked */
    tool_done_fn *done;
    void *user;
    enum tool_state state;
    unsigned holds;
    enum acp_verdict verdict;
    enum tool_end early_end; /* how it ends before it was started; 0: it is started */
    bool may_preview;        /* without permission */
    bool granted;            /* the user has given permission */
    bool truncated;          /* the text did not have room for everything */

    /* Set by prepare. */
    struct acp_str title;
    struct acp_str_list paths;
    struct acp_opt_i64 line; /* in the first path */
    struct acp_str command;
    /* What an "always" grants, if that is less than the tool: "fetch:example.com". */
    struct acp_str grant_tool;
    bool paths_are_files; /* that a client can show */
    bool changes_files;   /* at these paths */
    bool sandboxed;       /* runs in a sandbox */

    /* Shown to the client besides the text. */
    struct acp_tool_call_content *content; /* diffs; in the arena */
    size_t content_count;
    bool content_shown;
    struct acp_tool_call_content *blocks; /* after the text at the end, such as images */
    size_t block_count;
    bool has_terminal; /* which the client shows; the text is for the model alone */

    struct acp_buf text;   /* for the model */
    struct acp_buf output; /* rawOutput: empty, or JSON */
    void *own;             /* the tool's */

    /* tool_files.c */
    void (*on_text)(struct tool_run *run, int err, struct acp_str text);
    struct acp_str file;
    struct acp_str_list resolved; /* where the paths led when the policy decided; in the arena */
    /* tool_thread.c */
    struct tool_work *work;
};

/* ---- tools.c -------------------------------------------------------------------------------- */

struct toolbox {
    uv_loop_t *loop;
    struct toolbox_fetch fetch;
    bool can_fetch;
    struct schema **schemas; /* of each tool, compiled when first used */
    bool sandbox_tried;
    struct sandbox *sandbox; /* NULL: it is not possible, for this reason */
    struct acp_failure sandbox_failure;
    uv_timer_t queue_timer;
    struct tool_run *queue;
    struct tool_run **queue_end;
};

/* A command in the background. */
struct tool_background {
    uint64_t number;                 /* 0: the slot is free */
    struct acp_job *job;             /* NULL once it has ended; the rest tells how */
    struct sandbox_run *sandbox_run; /* owned; NULL: it has no sandbox, or has ended */
    char *output;                    /* owned */
    size_t output_len;
    bool truncated;
    char how[100]; /* "exit status 0" */
};

struct tools {
    struct tools_options options;
    struct tool_roots *roots; /* opened when first used */
    struct tool_run *runs;
    struct undo undo;
    struct tool_background *background; /* slots; NULL until the first is needed */
    size_t background_count;
    uint64_t next_background;
};

/* Continues the runs in the queue. */
void toolbox_on_queue(uv_timer_t *timer);
/* NULL if there is none of that name. */
const struct tool *toolbox_tool(const struct toolbox *box, struct acp_str name);
/* The tool's schema, compiled; NULL if out of memory. */
const struct schema *toolbox_schema(struct toolbox *box, const struct tool *tool);
/* Adds a use to the roots, which are opened first if necessary; NULL with the reason. */
struct tool_roots *tools_roots(struct tools *set, struct acp_failure *failure);
void tool_roots_release(struct tool_roots *roots);

/* ---- tool_run.c ----------------------------------------------------------------------------- */

/*
 * A run that the model did not ask for, and that is not shown.  `own` gets own_size zero bytes and
 * is the user pointer of `done`.  NULL if out of memory.
 */
struct tool_run *tool_run_hidden(struct tools *set, struct acp_turn *turn, const struct tool *tool,
                                 size_t own_size, tool_done_fn *done);
/* Continues it when the loop runs. */
void tool_enqueue(struct tool_run *run);
/* The loop runs. */
void tool_proceed(struct tool_run *run);

/* Append to the text for the model; what does not fit is left out. */
void tool_printf(struct tool_run *run, const char *format, ...) ACP_PRINTF(2, 3);
void tool_append(struct tool_run *run, struct acp_str text);
/* The preview is complete. */
void tool_preview_done(struct tool_run *run);
/* Ends the run, with the text so far.  The run may be freed afterwards. */
void tool_finish(struct tool_run *run, enum tool_end end);
/* Ends it as failed, with a last sentence. */
void tool_fail(struct tool_run *run, const char *format, ...) ACP_PRINTF(2, 3);
/* Ends the run without calling `done`: its set is being freed. */
void tool_abandon(struct tool_run *run);
/* Cancels a run that has not ended. */
void tool_cancel(struct tool_run *run);

/* What the policy says of the run as it is. */
struct acp_decision tool_decision(const struct tool_run *run);
/* What it says of reading or changing a file that was opened, by its real path. */
struct acp_decision tool_decision_on(const struct tool_run *run, struct acp_str real, bool writes);
void tool_hold(struct tool_run *run);
bool tool_resume(struct tool_run *run);

/* ---- tool_input.c --------------------------------------------------------------------------- */

/* Whether the input is JSON; if it is not, says so and makes a JSON string of it, to be shown. */
int tool_read_input(struct tool_run *run);
/* Whether the input matches the tool's schema; says what does not. */
int tool_check_input(struct tool_run *run);
/* Members of the input; *ret stays as it is if they are absent.  Texts live as long as the run. */
void tool_get_str(struct tool_run *run, const char *key, struct acp_str *ret);
void tool_get_u64(struct tool_run *run, const char *key, uint64_t *ret);
void tool_get_bool(struct tool_run *run, const char *key, bool *ret);
/* A reader at the value; false if it is absent. */
bool tool_get_reader(struct tool_run *run, const char *key, struct acp_json_reader *ret);
/*
 * Makes a path of the model absolute and normal; relative ones are below the session's folder.
 * Returns an error after tool_printf().
 */
int tool_get_path(struct tool_run *run, struct acp_str given, struct acp_str *ret);
/* The only path of a run. */
int tool_set_path(struct tool_run *run, struct acp_str path);
/* A path as people and models see it: relative to the session's folder if it is in there. */
const char *tool_display_path(const struct tool_run *run, const char *path);

/* ---- tool_show.c ---------------------------------------------------------------------------- */

void tool_show_start(struct tool_run *run);
/* What it would change, before the user is asked for permission. */
void tool_show_preview(struct tool_run *run);
void tool_show_running(struct tool_run *run);
void tool_show_end(struct tool_run *run, enum tool_end end);
/* The tool call for the permission request. */
void tool_describe(struct tool_run *run, struct acp_tool_call_update *ret,
                   struct acp_tool_call_location *locations);
enum { TOOL_MAX_LOCATIONS = 64 };

/* ---- tool_files.c --------------------------------------------------------------------------- */

/* Resolves the paths of the run: what the policy decides is about the files there now. */
void tool_resolve_paths(struct tool_run *run);
/* An error after tool_printf() for a path outside the roots that the client does not serve. */
int tool_check_path(struct tool_run *run, struct acp_str path, bool writes);
/*
 * One at a time for each run.  fn is called once, possibly before the call returns, unless the run
 * has ended: with the text, or with an error and a sentence.  ACP_ERR_MISSING: no such file.
 */
typedef void tool_text_fn(struct tool_run *run, int err, struct acp_str text);
void tool_read(struct tool_run *run, struct acp_str path, uint64_t line, uint64_t limit,
               tool_text_fn *fn);
void tool_write(struct tool_run *run, struct acp_str path, struct acp_str text, tool_text_fn *fn);
/* On the disk, below the roots; 0, or an error with a sentence in *error. */
int tool_remove(struct tool_run *run, struct acp_str path, struct acp_files_error *error);
/* The mode of the file on the disk; 0 if unknown. */
mode_t tool_mode(struct tool_run *run, struct acp_str path);
void tool_set_mode(struct tool_run *run, struct acp_str path, mode_t mode);
/* Its size there; 0 if unknown. */
uint64_t tool_size(struct tool_run *run, struct acp_str path);

/* ---- tool_unknown.c ------------------------------------------------------------------------- */

/* Says that there is no tool of that name, and lists those that exist, the most similar first. */
void tool_print_unknown(struct tool_run *run, struct acp_str name);

/* ---- tool_thread.c -------------------------------------------------------------------------- */

/*
 * Work on a thread.  It has memory of its own, since the run may end before it: `drop` frees `own`,
 * on the loop's thread.
 */
struct tool_work {
    uv_work_t request;
    struct tool_run *run; /* not for the thread */
    struct acp_roots *roots;
    atomic_bool stop;
    void *own;
    void (*work)(struct tool_work *work);                        /* on the thread */
    void (*after)(struct tool_run *run, struct tool_work *work); /* unless the run has ended */
    void (*drop)(struct tool_work *work);
};

/* Takes `own` in any case; a failure ends the run. */
void tool_start_work(struct tool_run *run, void *own, void (*work)(struct tool_work *work),
                     void (*after)(struct tool_run *run, struct tool_work *work),
                     void (*drop)(struct tool_work *work));

/* ---- tools/ --------------------------------------------------------------------------------- */

extern const struct tool tool_for_read;
extern const struct tool tool_for_write;
extern const struct tool tool_for_edit;
extern const struct tool tool_for_patch;
extern const struct tool tool_for_list;
extern const struct tool tool_for_glob;
extern const struct tool tool_for_grep;
extern const struct tool tool_for_command;
extern const struct tool tool_for_output;
extern const struct tool tool_for_stop;
extern const struct tool tool_for_fetch;
extern const struct tool tool_for_plan;
extern const struct tool tool_for_ask_user;

/* Ends the background commands of the set. */
void tool_end_background(struct tools *set);

#endif
