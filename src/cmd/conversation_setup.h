/*
 * conversation_setup.h - what exec and prompt make of the command line and the configuration: which
 * agent, where, under which rules, and where it is kept.
 */
#ifndef SRC_CMD_CONVERSATION_SETUP_H
#define SRC_CMD_CONVERSATION_SETUP_H

#include "cli/command.h"
#include "cmd/shared_options.h"
#include "config/config.h"
#include "daemon/daemon.h"
#include "registry/agents.h"

/* Everything in it belongs to it. */
struct conversation {
    struct config *config;
    struct agent_command agent;
    struct acp_policy *policies[PERMIT_COUNT];
    struct acp_ledger *ledger;
    enum permit permit;
    enum output_format format;
    bool own_agent;    /* the agent is this very program */
    bool fail_unasked; /* where nobody can be asked, the run fails */
    const char *cwd;   /* absolute */
    struct talk_options talk;
    char id[40]; /* a new one, for a session that is made */
    struct acp_arena arena;
};

/*
 * Loads the configuration and puts the flags on top.  What is wrong is printed to the standard
 * error, and the exit status is returned; EXIT_OK when all is well.  conversation_finish() is due
 * in any case.  options may be NULL: only the agent, the place and the log are prepared then.
 */
int conversation_prepare(struct conversation *conversation, const struct invocation *invocation,
                         const struct agent_options *agent,
                         const struct conversation_options *options);
void conversation_finish(struct conversation *conversation);

/* How an agent is started for a session in cwd; what is wrong is printed.  An exit status. */
int conversation_start(struct conversation *conversation, const struct agent_command *agent,
                       const char *cwd, struct agent_start *ret);

/* The configuration alone, with --cwd and --registry. */
int conversation_configure(struct conversation *conversation, const struct agent_options *agent);
/* The rules, and what was permitted for good; after conversation_configure(). */
int conversation_make_rules(struct conversation *conversation,
                            const struct conversation_options *options);
/* The session log, for commands that only read it; NULL when it is switched off. */
const char *conversation_store_path(struct conversation *conversation);

/* A line on the standard error: "acp: ..." */
ACP_PRINTF(1, 2) void complain(const char *format, ...);

#endif
