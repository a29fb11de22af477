/*
 * conversation_setup.h - sets up a conversation from the command line and the configuration: the
 * agent, the workspace, the permission policy and the session log.
 */
#ifndef SRC_CMD_CONVERSATION_SETUP_H
#define SRC_CMD_CONVERSATION_SETUP_H

#include "cli/command.h"
#include "cmd/shared_options.h"
#include "config/config.h"
#include "daemon/daemon.h"
#include "registry/agents.h"
#include "render/render.h"

/* Owns everything that it points to. */
struct conversation_setup {
    struct config *config;
    struct agent_command agent;
    struct acp_policy *policies[PERMIT_COUNT];
    struct acp_ledger *ledger;
    enum permit permit;
    enum render_format format;
    bool own_agent;        /* the agent is the built-in one */
    bool has_model_option; /* the command line has --model */
    bool has_mode_option;
    bool fail_unasked; /* fail when permission is needed and nobody can be asked */
    const char *cwd;   /* absolute */
    struct conversation_options conversation;
    struct agent_process_endpoint endpoint; /* of the conversation */
    bool starts_elsewhere;                  /* the agent starts outside the session's directory */
    const char *store_path;                 /* the session log; NULL: disabled */
    unsigned store_flags;                   /* enum store_open_flags */
    char id[40];                            /* for a new session */
    struct acp_arena arena;
};

/*
 * Loads the configuration and applies the flags.  Prints errors and returns the exit status;
 * conversation_setup_finish() must be called in any case.  With options NULL only the agent, the
 * workspace and the log are set up.
 */
int conversation_setup_prepare(struct conversation_setup *c, const struct invocation *invocation,
                               const struct agent_flags *agent,
                               const struct conversation_flags *options);
void conversation_setup_finish(struct conversation_setup *c);

/*
 * The steps of conversation_setup_prepare(), for commands that do something in between.  All print
 * errors and return the exit status.
 */

/* The configuration alone, with --cwd and --registry. */
int conversation_setup_configure(struct conversation_setup *c, const struct agent_flags *agent);
/*
 * The same for commands that only look: what is invalid in the configuration is left out, without a
 * message.
 */
int conversation_setup_inspect(struct conversation_setup *c, const struct agent_flags *agent);
/* The agent that the command line names; otherwise the default one. */
int conversation_setup_find_agent(struct conversation_setup *c, const struct invocation *invocation,
                                  const struct agent_flags *agent);
/* The agent of a stored session, by its name. */
int conversation_setup_use_agent(struct conversation_setup *c, struct acp_str name);
/* Everything else, once the agent is known. */
int conversation_setup_complete(struct conversation_setup *c,
                                const struct conversation_flags *options);

/* Whether the command line names an agent; and the name of the agent if it does not. */
bool conversation_setup_names_agent(const struct invocation *invocation,
                                    const struct agent_flags *agent);
const char *conversation_setup_default_agent(const struct conversation_setup *c);

/* How to start the agent for a session in cwd.  Prints errors and returns the exit status. */
int conversation_setup_start_agent(struct conversation_setup *c, const struct agent_command *agent,
                                   const char *cwd, struct agent_start *ret);

/* The permission policy and the grants ledger; after conversation_setup_configure(). */
int conversation_setup_make_rules(struct conversation_setup *c,
                                  const struct conversation_flags *options);
/* The path of the session log; NULL when logging is disabled. */
const char *conversation_setup_store_path(struct conversation_setup *c);

#endif
