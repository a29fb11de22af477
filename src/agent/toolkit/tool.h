/*
 * tool.h - the inside of the tools, for those who write one.
 *
 *   tools.c       the table, the sets, whether a tool is offered
 *   tool_run.c    the life of a run: waiting, permission, the one end
 *   tool_input.c  the model's input: checked against the tool's schema, then read
 *   tool_show.c   what the client is shown of a run
 *   tool_attach.c reading what the user points at, for which no tool call is made
 *   tool_files.c  files, through the client or our own guard
 *   tool_notes.c  files that are read because of their names, such as AGENTS.md
 *   tool_unknown.c calls of tools that do not exist
 *   tool_work.c   work for a thread
 *   tools/        the tools themselves
 *
 * The way of a run:
 *
 *     prepare   reads the input; says title, paths, command
 *     (waits while another run changes the same files)
 *     policy    denies, allows, or says to ask
 *     preview   finds out what would change, so that it can be shown; tool_ready() goes on
 *     (the user is asked)
 *     start     does it; tool_finish() ends the run
 *
 * Whatever is answered later takes a hold on the run's memory before it begins, and its callback
 * begins with tool_resume(), which gives the hold back and says whether the run still goes on.
 */
#ifndef SRC_AGENT_TOOLKIT_TOOL_H
#define SRC_AGENT_TOOLKIT_TOOL_H

#include <stdatomic.h>

#include "acp/files.h"
#include "acp/json.h"
#include "agent/toolkit/tools.h"
#include "agent/toolkit/undo.h"
#include "schema/schema.h"

struct tool_run;

struct tool {
    struct tool_info info; /* without a schema, the input is not checked here */
    bool harmless; /* it touches neither files nor programs: for the policy it is thinking */
    bool quiet;    /* what it does is shown otherwise, so that no tool call is */
    bool unasked;  /* it is the user's own wish: the policy is asked by the tool, or not at all */
    bool unruled;  /* of the policy, only rules and grants that deny concern it */
    /* Not 0 after tool_say() of what is wrong. */
    int (*prepare)(struct tool_run *run);
    void (*preview)(struct tool_run *run); /* may be NULL */
    void (*start)(struct tool_run *run);
    /*
     * It is cancelled: true when its end will come by itself and soon.  May be NULL, which is
     * false: the run ends now, and what it waits for is told to nobody.
     */
    bool (*cancel)(struct tool_run *run);
    /* Frees what is not in the arena.  May be NULL. */
    void (*drop)(struct tool_run *run);
};

enum tool_phase {
    TOOL_BEGUN,   /* its turn comes when the loop does */
    TOOL_WAITING, /* for another run that changes one of its files */
    TOOL_LOOKING, /* preview */
    TOOL_ASKING,
    TOOL_WORKING,
    TOOL_OVER,
};

/* The roots of a session; threads use them, so they stay as long as one does. */
struct tool_roots {
    struct acp_roots *roots;
    unsigned uses; /* the set and the runs; counted by the loop's thread alone */
};

struct tool_run {
    struct tool_run *next;       /* in its set */
    struct tool_run *next_begun; /* in the toolbox */
    struct tools *set;           /* NULL when that is gone */
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
    enum tool_phase phase;
    unsigned holds;
    enum acp_verdict verdict;
    enum tool_end early; /* how it ends before it has begun; 0: it begins */
    bool may_look;       /* the preview needs no permission */
    bool looked;         /* the preview is there */
    bool granted;        /* the user has said yes, some time after the preview */
    bool cancelled;      /* and it will end by itself */
    bool cut;            /* the text had no room for all */

    /* What prepare says. */
    struct acp_str title;
    struct acp_str_list paths;
    struct acp_opt_i64 line; /* in the first of them */
    struct acp_str command;
    /* What an "always" is about, where that is less than the tool: "fetch:example.com". */
    struct acp_str matter;
    bool is_about_files; /* the paths are files that a client may show */
    bool changes;        /* and they are to be changed */
    bool sandboxed;      /* it will run in a jail */

    /* What is shown besides the text. */
    struct acp_tool_call_content *content; /* diffs; in the arena */
    size_t content_count;
    bool content_shown;
    bool shows_itself; /* a terminal is: the text is for the model only */

    struct acp_buf text;   /* for the model */
    struct acp_buf output; /* rawOutput: empty, or JSON */
    void *own;             /* of the tool */

    /* tool_files.c */
    void (*on_text)(struct tool_run *run, int err, struct acp_str text);
    struct acp_str file;
    struct acp_str_list decided; /* where the paths led when the policy was asked; in the arena */
    /* tool_work.c */
    struct tool_work *work;
};

/* ---- tools.c -------------------------------------------------------------------------------- */

struct toolbox {
    uv_loop_t *loop;
    struct toolbox_fetch fetch;
    bool can_fetch;
    struct schema **schemas; /* one for each tool, compiled when it is first used */
    bool jail_tried;
    struct sandbox *jail; /* NULL: there is none, and why is said next */
    struct acp_failure jail_failure;
    uv_timer_t kick; /* for runs that were begun */
    struct tool_run *begun;
    struct tool_run **begun_end;
};

/* A command in the background. */
struct tool_background {
    uint64_t number;            /* 0: the place is free */
    struct acp_job *job;        /* NULL when it has ended; then the rest tells how */
    struct sandbox_run *jailed; /* NULL when it runs in no sandbox, or has ended; owned */
    char *output;               /* owned */
    size_t output_len;
    bool truncated;
    char how[100]; /* "exit status 0" */
};

struct tools {
    struct tools_options options;
    struct tool_roots *roots; /* opened when first used */
    struct tool_run *runs;
    struct undo *undo;
    struct tool_background *background; /* so many places, once there was one; or NULL */
    size_t background_count;
    uint64_t next_background;
};

/* Lets the runs go that were begun. */
void toolbox_on_kick(uv_timer_t *timer);
/* NULL when there is none of that name. */
const struct tool *toolbox_tool(const struct toolbox *box, struct acp_str name);
/* The tool's schema, compiled; NULL when memory is out. */
const struct schema *toolbox_schema(struct toolbox *box, const struct tool *tool);
/* The roots with one more use, opened if they are not; NULL with the reason. */
struct tool_roots *tools_roots(struct tools *set, struct acp_failure *failure);
void tool_roots_let_go(struct tool_roots *roots);

/* ---- tool_run.c ----------------------------------------------------------------------------- */

/*
 * A run that the model did not ask for; it is not shown.  Its own is so many bytes, all zero, and
 * what `done` gets as its user.  NULL when memory is out.
 */
struct tool_run *tool_run_own(struct tools *set, struct acp_turn *turn, const struct tool *tool,
                              size_t own_size, tool_done_fn *done);
/* Its way begins when the loop comes to it. */
void tool_begin(struct tool_run *run);
/* It has come. */
void tool_go(struct tool_run *run);

/* Appends to the text for the model; what does not fit is dropped. */
void tool_say(struct tool_run *run, const char *format, ...) ACP_PRINTF(2, 3);
void tool_say_text(struct tool_run *run, struct acp_str text);
/* The preview is there. */
void tool_ready(struct tool_run *run);
/* Ends the run; the run may be gone afterwards.  Its text has been said. */
void tool_finish(struct tool_run *run, enum tool_end end);
/* The same with a last sentence. */
void tool_fail(struct tool_run *run, const char *format, ...) ACP_PRINTF(2, 3);
/* The run is over, and nobody is told: its set goes away. */
void tool_abandon(struct tool_run *run);
/* Cancels a run that is not over. */
void tool_cancel(struct tool_run *run);

/* What the policy says of the run as it is. */
struct acp_decision tool_decision(const struct tool_run *run);
/* What it says of a file that was opened, by its real path, when that is read or changed. */
struct acp_decision tool_decision_on(const struct tool_run *run, struct acp_str real, bool writes);
void tool_hold(struct tool_run *run);
bool tool_resume(struct tool_run *run);
/* Cuts a text at a character, so that it has at most max bytes. */
struct acp_str tool_cut(struct acp_str text, size_t max);

/* ---- tool_input.c --------------------------------------------------------------------------- */

/* Whether the input is JSON at all; if not, says so and makes a JSON text of it, to be shown. */
int tool_read_input(struct tool_run *run);
/* Whether it fits the tool's schema; says what does not. */
int tool_check_input(struct tool_run *run);
/* Members of the input; absent ones leave *ret as it is.  The texts live as long as the run. */
void tool_get_str(struct tool_run *run, const char *key, struct acp_str *ret);
void tool_get_u64(struct tool_run *run, const char *key, uint64_t *ret);
void tool_get_bool(struct tool_run *run, const char *key, bool *ret);
/* A reader at the value; false when it is absent. */
bool tool_get_reader(struct tool_run *run, const char *key, struct acp_json_reader *ret);
/*
 * A path of the model's, made absolute and normal; relative ones are below the session's folder.
 * Not 0 after tool_say().
 */
int tool_get_path(struct tool_run *run, struct acp_str given, struct acp_str *ret);
/* The only path of a run. */
int tool_set_path(struct tool_run *run, struct acp_str path);
/* How a path is told to people and models: relative to the session's folder when it is in there. */
const char *tool_short_path(const struct tool_run *run, const char *path);

/* ---- tool_show.c ---------------------------------------------------------------------------- */

void tool_show_begun(struct tool_run *run);
/* What it will change, before the user is asked whether it may. */
void tool_show_preview(struct tool_run *run);
void tool_show_working(struct tool_run *run);
void tool_show_end(struct tool_run *run, enum tool_end end);
/* The tool call as the user is asked about it. */
void tool_describe(struct tool_run *run, struct acp_tool_call_update *ret,
                   struct acp_tool_call_location *locations);
enum { TOOL_MAX_LOCATIONS = 64 };

/* ---- tool_files.c --------------------------------------------------------------------------- */

/* Notes where the paths of the run lead now: what is decided about them is about these files. */
void tool_note_places(struct tool_run *run);
/* Not 0 after tool_say(): it lies outside of the roots, and the client does not serve it. */
int tool_check_place(struct tool_run *run, struct acp_str path, bool writes);
/*
 * One at a time for each run.  fn is called once, maybe inside of the call, and not when the run is
 * over: with the text, or with an error whose words are its text.  ACP_ERR_MISSING: no such file.
 */
typedef void tool_text_fn(struct tool_run *run, int err, struct acp_str text);
void tool_read(struct tool_run *run, struct acp_str path, uint64_t line, uint64_t limit,
               tool_text_fn *fn);
void tool_write(struct tool_run *run, struct acp_str path, struct acp_str text, tool_text_fn *fn);
/* On the disk, below the roots; 0, or an error with words in *error. */
int tool_remove(struct tool_run *run, struct acp_str path, struct acp_files_error *error);
/* The mode that the file has on the disk, 0 when that is not known; and setting it. */
mode_t tool_mode(struct tool_run *run, struct acp_str path);
/* How many bytes it has there; 0 when that is not known. */
uint64_t tool_size(struct tool_run *run, struct acp_str path);
void tool_set_mode(struct tool_run *run, struct acp_str path, mode_t mode);

/* ---- tool_unknown.c ------------------------------------------------------------------------- */

/* Says that there is no tool of that name, and names those that there are, the nearest first. */
void tool_say_unknown(struct tool_run *run, struct acp_str name);

/* ---- tool_work.c ---------------------------------------------------------------------------- */

/*
 * Work for a thread.  It has memory of its own, since its run may be over before it is: `own` is
 * freed by `drop` on the loop's thread.
 */
struct tool_work {
    uv_work_t request;
    struct tool_run *run; /* for the loop's thread only */
    struct acp_roots *roots;
    atomic_bool stop;
    void *own;
    void (*work)(struct tool_work *work);                        /* on the thread */
    void (*after)(struct tool_run *run, struct tool_work *work); /* unless the run is over */
    void (*drop)(struct tool_work *work);
};

/* Takes `own` in any case; on failure the run is over. */
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
extern const struct tool tool_for_asking;

/* Ends the commands that the set has in the background. */
void tool_end_background(struct tools *set);

#endif
