/*
 * coding_agent.h - the built-in coding agent: an ACP agent with a language model and tools, which
 * stores its sessions in a log.
 */
#ifndef SRC_AGENT_LOOP_CODING_AGENT_H
#define SRC_AGENT_LOOP_CODING_AGENT_H

#include "acp/policy.h"
#include "acp/run.h"
#include "acp/types.h"
#include "mcp/mcp_tokens.h"
#include "model/providers.h"

/* Which addresses the model may fetch. */
enum coding_agent_fetch {
    CODING_AGENT_FETCH_OFF = 0, /* the model gets no tool for it */
    CODING_AGENT_FETCH_PUBLIC,  /* addresses of the public internet */
    CODING_AGENT_FETCH_ANY,     /* this machine and private networks as well */
};

/* All texts must outlive the run. */
struct coding_agent_options {
    const char *version;
    struct model_sources sources; /* where to look for model providers and their keys */
    const char *model;            /* "provider/model" or "model"; NULL: the first one found */
    bool model_is_general;        /* set for all agents: fall back to another one if unknown */
    /* Adds the keys that are stored now to the sources, in the arena.  NULL: none are stored. */
    int (*read_keys)(void *user, struct acp_arena *arena, struct model_sources *sources);
    /* Removes all stored keys.  NULL: there are none. */
    int (*forget_keys)(void *user);
    void *keys_user;
    bool unstable; /* offer unstable parts of the protocol: fork */
    bool demo;     /* use the offline model, whatever else is available */
    enum coding_agent_fetch fetch;
    enum acp_policy_mode mode;                /* of new sessions */
    const struct acp_policy *policy;          /* the user's rules; copied */
    struct acp_ledger *ledger;                /* permanent permissions; may be NULL */
    const char *ledger_path;                  /* file of the ledger; may be NULL */
    struct acp_mcp_server_list mcp_servers;   /* of every session, besides the client's */
    const struct mcp_token_store *mcp_tokens; /* of logins to MCP servers; NULL: none */
    const char *launch_folder;                /* see launch/fetched.h; NULL: none */
    const char *store_path;          /* session database; NULL: sessions end with the process */
    bool no_titles;                  /* do not ask the model for session titles */
    uint64_t max_requests;           /* to the model in a turn; 0: 100 */
    uint64_t stall_ms;               /* how long the model may be silent; 0: its service's limit */
    size_t max_sessions;             /* open at the same time; 0: 1000 */
    size_t max_prompt;               /* bytes; 0: 16 MiB */
    uint64_t idle_ms;                /* after which a session leaves memory; 0: never */
    const char *const *http_helper;  /* argv of http/fetch.h's helper process; NULL: none */
    const struct model_table *facts; /* what the user has configured about models; may be NULL */
};

/*
 * Serves a client on standard input and output until the connection is closed.  Returns the exit
 * status of the process.
 */
int coding_agent_run(const struct coding_agent_options *options);

#endif
