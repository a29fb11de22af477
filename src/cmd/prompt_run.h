/*
 * prompt_run.h - what exec and prompt share: a prompt made of the command line, the front where its
 * answer is shown, and what becomes of that.
 */
#ifndef SRC_CMD_PROMPT_RUN_H
#define SRC_CMD_PROMPT_RUN_H

#include <uv.h>

#include "cmd/conversation_setup.h"
#include "cmd/output_file.h"
#include "cmd/output_schema.h"
#include "cmd/terminal_front.h"

struct prompt_run {
    struct conversation_setup setup;
    const struct conversation_flags *options;
    uv_loop_t loop;
    struct terminal_front *front; /* NULL until prompt_run_open() */
    struct output_schema *schema; /* what it must be like; NULL: anything */
    struct acp_buf body;          /* of the prompt */
    struct output_file output;
    int status; /* the exit status, so far */
};

/*
 * Reads configuration, schema and prompt; returns the exit status.  Call prompt_run_finish() in any
 * case.
 */
int prompt_run_prepare(struct prompt_run *run, const struct invocation *invocation,
                       const struct agent_flags *agent, const struct conversation_flags *options);
/* The front of it, on its loop. */
int prompt_run_open(struct prompt_run *run, bool verbose,
                    const struct terminal_front_handler *handler, void *user);
/*
 * A prompt has ended: sets the status.  True when the agent is to be asked again, because its
 * answer is not what --schema wants; body is the next prompt then.
 */
bool prompt_run_ended(struct prompt_run *run, const struct prompt_end *end);
/* Shows the last of it and writes --output.  The loop must have run to its end. */
int prompt_run_close(struct prompt_run *run);
void prompt_run_finish(struct prompt_run *run);

/* The prompt, and how long it may take in milliseconds; 0: for ever. */
struct acp_raw prompt_run_body(const struct prompt_run *run);
uint64_t prompt_run_timeout(const struct prompt_run *run);

/* The same rows for both commands. */
extern const struct argument prompt_run_arguments[];
extern const struct exit_status prompt_run_statuses[];

#endif
