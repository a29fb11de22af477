/*
 * coding_agent.h - the built-in coding agent: an ACP agent with a language model, tools, and
 * sessions that are kept in the log.
 */
#ifndef SRC_AGENT_LOOP_CODING_AGENT_H
#define SRC_AGENT_LOOP_CODING_AGENT_H

#include "acp/policy.h"
#include "acp/run.h"
#include "model/providers.h"

/* Which addresses the model may fetch. */
enum coding_agent_fetch {
    CODING_AGENT_FETCH_OFF = 0, /* there is no tool for it */
    CODING_AGENT_FETCH_PUBLIC,  /* those of the public internet */
    CODING_AGENT_FETCH_ANY,     /* also this machine and the networks around it */
};

/* All texts must outlive the run. */
struct coding_agent_options {
    const char *version;
    struct model_sources sources; /* where providers of models and their keys are looked for */
    const char *model;            /* "provider/model" or "model"; NULL: what is found */
    bool model_is_general;        /* it was said for all agents: another one will do */
    /* Puts the stored keys, as they are now, into the sources; in the arena.  NULL: none are. */
    int (*read_keys)(void *user, struct acp_arena *arena, struct model_sources *sources);
    /* Removes all stored keys.  NULL: there are none. */
    int (*forget_keys)(void *user);
    void *keys_user;
    bool unstable; /* offer what the protocol has not settled yet: fork */
    bool demo;     /* the offline model, whatever else there is */
    enum coding_agent_fetch fetch;
    enum acp_policy_mode mode;       /* in which sessions begin */
    const struct acp_policy *policy; /* the user's rules; copied for each session */
    struct acp_ledger *ledger;       /* what was permitted for good; may be NULL */
    const char *ledger_path;         /* where it is kept; may be NULL */
    const char *launch_folder;       /* see launch/fetched.h; NULL: there is none */
    const char *store_path;          /* of the sessions; NULL: they end with the process */
    bool no_titles;                  /* the model is not asked for them */
    uint64_t max_requests;           /* of one turn to the model; 0: 100 */
    uint64_t stall_ms;               /* that the model may be silent; 0: its service's own */
    size_t max_sessions;             /* that are open; 0: 1000 */
    size_t max_prompt;               /* bytes; 0: 16 MiB */
    uint64_t idle_ms;                /* after which a session leaves memory; 0: never */
    const struct model_table *facts; /* that the user knows about models; may be NULL */
};

/* Serves a client on standard input and output until it has gone.  What main() is to return. */
int coding_agent_run(const struct coding_agent_options *options);

#endif
