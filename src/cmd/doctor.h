/* doctor.h - the checks of `acp doctor`, which report findings. */
#ifndef SRC_CMD_DOCTOR_H
#define SRC_CMD_DOCTOR_H

#include <uv.h>

#include "cmd/conversation_setup.h"

struct doctor_options {
    struct agent_flags agent;
    bool no_start;
};

enum finding { FINDING_GOOD, FINDING_NOTE, FINDING_BAD };

struct doctor {
    const struct doctor_options *options;
    struct conversation_setup setup;
    uv_loop_t loop;
    const char *only;           /* the agent to check, or NULL for all */
    const char *const *command; /* its command line after "--", or NULL */
    size_t bad;
};

/* Reports a finding: a line about `what`, and a line with the fix unless it is NULL. */
void doctor_found(struct doctor *doctor, enum finding finding, const char *what, const char *fix,
                  const char *format, ...) ACP_PRINTF(5, 6);

/* The model that the built-in agent would use, and the providers that have a key. */
void doctor_check_models(struct doctor *doctor);
/* The known and configured agents; installed ones are started, which takes the loop. */
void doctor_check_agents(struct doctor *doctor);
/* The sandbox, the session log, the daemons and the terminal. */
void doctor_check_sandbox(struct doctor *doctor);
void doctor_check_store(struct doctor *doctor);
void doctor_check_daemons(struct doctor *doctor);
void doctor_check_terminal(struct doctor *doctor);

#endif
