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

struct asking {
    struct conversation conversation;
    const struct conversation_options *options;
    uv_loop_t loop;
    struct front *front;   /* NULL until asking_open() */
    struct answer *answer; /* what it must be like; NULL: anything */
    struct acp_buf body;   /* of the prompt */
    struct output_file output;
    int status; /* the exit status, so far */
};

/* Reads configuration, schema and prompt.  The exit status; asking_finish() is due in any case. */
int asking_prepare(struct asking *asking, const struct invocation *invocation,
                   const struct agent_options *agent, const struct conversation_options *options);
/* The front of it, on its loop. */
int asking_open(struct asking *asking, bool verbose, const struct front_handler *handler,
                void *user);
/*
 * A prompt has ended: sets the status.  True when the agent is to be asked again, because its
 * answer is not what --schema wants; body is the next prompt then.
 */
bool asking_ended(struct asking *asking, const struct talk_end *end);
/* Shows the last of it and writes --output.  The loop must have run to its end. */
int asking_close(struct asking *asking);
void asking_finish(struct asking *asking);

/* The prompt, and how long it may take in milliseconds; 0: for ever. */
struct acp_raw asking_body(const struct asking *asking);
uint64_t asking_timeout(const struct asking *asking);

/* The same rows for both commands. */
extern const struct argument asking_arguments[];
extern const struct exit_status asking_statuses[];

#endif
