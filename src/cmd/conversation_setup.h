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
#include "render/render.h"

/* Everything in it belongs to it. */
struct conversation_setup {
    struct config *config;
    struct agent_command agent;
    struct acp_policy *policies[PERMIT_COUNT];
    struct acp_ledger *ledger;
    enum permit permit;
    enum show_format format;
    bool own_agent;    /* the agent is this very program */
    bool fail_unasked; /* where nobody can be asked, the run fails */
    const char *cwd;   /* absolute */
    struct conversation_options conversation;
    struct agent_process_endpoint endpoint; /* the conversation's */
    bool starts_elsewhere;                  /* the agent is started outside the session's folder */
    const char *store_path;                 /* of the session log; NULL: none is kept */
    unsigned store_flags;                   /* enum store_open_flags */
    char id[40];                            /* a new one, for a session that is made */
    struct acp_arena arena;
};

/*
 * Loads the configuration and applies the flags.  Prints what is wrong on standard error and
 * returns the exit status, EXIT_OK if nothing is.  Call conversation_setup_finish() in any case.
 * options may be NULL: then only the agent, the folder and the log are prepared.
 */
int conversation_setup_prepare(struct conversation_setup *setup,
                               const struct invocation *invocation, const struct agent_flags *agent,
                               const struct conversation_flags *options);
void conversation_setup_finish(struct conversation_setup *setup);

/* How an agent is started for a session in cwd; what is wrong is printed.  An exit status. */
int conversation_setup_start_agent(struct conversation_setup *setup,
                                   const struct agent_command *agent, const char *cwd,
                                   struct agent_start *ret);

/* The configuration alone, with --cwd and --registry. */
int conversation_setup_configure(struct conversation_setup *setup, const struct agent_flags *agent);
/* The rules, and what was permitted for good; after conversation_setup_configure(). */
int conversation_setup_make_rules(struct conversation_setup *setup,
                                  const struct conversation_flags *options);
/* The session log, for commands that only read it; NULL when it is switched off. */
const char *conversation_setup_store_path(struct conversation_setup *setup);

#endif
