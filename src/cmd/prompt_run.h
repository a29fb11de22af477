/*
 * prompt_run.h - one run of exec or prompt: the prompt from the command line, the terminal front
 * end that shows its turns, and the exit status.
 */
#ifndef SRC_CMD_PROMPT_RUN_H
#define SRC_CMD_PROMPT_RUN_H

#include <uv.h>

#include "cmd/conversation_setup.h"
#include "cmd/output_file.h"
#include "cmd/output_schema.h"
#include "cmd/run_result.h"
#include "cmd/terminal_front.h"
#include "cmd/worktree.h"

struct prompt_run {
    struct conversation_setup setup;
    const struct conversation_flags *options;
    const char *again; /* the command that goes on with the session, for people; or NULL */
    uv_loop_t loop;
    struct terminal_front *front; /* NULL until prompt_run_open() */
    struct output_schema *schema; /* what the answer must match; NULL: anything */
    struct store_session session; /* that is continued, or was forked */
    bool has_session;
    struct acp_buf body; /* the content blocks of the next prompt */
    struct output_file output;
    struct worktree worktree;
    bool has_worktree; /* that is still there */
    bool is_worktree_used;
    bool has_changes;
    struct worktree_stat changes; /* in the worktree */
    struct run_result *result;    /* NULL: nobody needs it */
    bool over_budget;
    bool is_judged; /* the answer was checked against the schema */
    int status;     /* the exit status so far */
};

/* What the commands do differently; all zero: new sessions in the current directory. */
struct prompt_run_plan {
    const struct session_flags *selection; /* sessions are continued without being told so */
    const char *worktree; /* the name of a worktree to work in, "" for any; NULL: none */
};

/*
 * Reads configuration, schema and prompt, and chooses the session.  Returns the exit status;
 * prompt_run_finish() must be called in any case.
 */
int prompt_run_prepare(struct prompt_run *run, const struct invocation *invocation,
                       const struct agent_flags *agent, const struct conversation_flags *options,
                       const struct prompt_run_plan *plan);
/* Whether the run adds to a session that is in the log. */
bool prompt_run_continues(const struct prompt_run *run);
/* Opens the terminal front end on the loop. */
int prompt_run_open(struct prompt_run *run, const struct agent_flags *agent,
                    const struct terminal_front_handler *handler, void *user);
/* The next event: shows it, and counts it.  False when the run has used up a budget. */
bool prompt_run_event(struct prompt_run *run, const struct session_event *event);
/*
 * Called at the end of each turn; sets the status.  True when the answer does not match --schema
 * and should be corrected: body is then the next prompt.
 */
bool prompt_run_ended(struct prompt_run *run, const struct prompt_end *end);
/* The final answer; with --schema only its JSON value. */
struct acp_str prompt_run_answer(const struct prompt_run *run);
/* Flushes the output and writes --output, after the loop has ended.  Returns the exit status. */
int prompt_run_close(struct prompt_run *run);
void prompt_run_finish(struct prompt_run *run);

/* The prompt, and its timeout in milliseconds; 0: none. */
struct acp_raw prompt_run_body(const struct prompt_run *run);
uint64_t prompt_run_timeout(const struct prompt_run *run);

/* Tables that both commands use. */
extern const struct argument prompt_run_arguments[];
extern const struct exit_status prompt_run_statuses[];

#endif
