/*
 * agents.h - agents by name: the user's own, those that are known everywhere, and those of a
 * registry file; and what is started for each.
 *
 * A name is looked for in this order: agent_servers of the configuration, the built-in table, the
 * registry file that the configuration names.  An installed program goes before one that npx or
 * uvx would fetch.
 *
 * Memory that is returned lives as long as the configuration.
 */
#ifndef SRC_REGISTRY_AGENTS_H
#define SRC_REGISTRY_AGENTS_H

#include "config/config.h"

/* ---- Known agents --------------------------------------------------------------------------- */

struct agent_known {
    const char *name;
    const char *title;
    const char *aliases; /* other names, with spaces between */
    const char *command; /* what it is when installed: words with spaces between */
    const char *fetched; /* the same through npx or uvx, which fetch it; or NULL */
    const char *install; /* how to install it: a command, or a few words */
    const char *login;   /* how to log in */
    const char *keys;    /* variables with the keys it works with; the others it does not get */
};

/* NULL behind the last. */
const struct agent_known *agents_known_at(size_t index);
/* By name or alias, in any case; NULL when there is none. */
const struct agent_known *agents_known_find(const char *name);
/* Whether the word names an agent: of the configuration, built in, or of the registry. */
bool agents_is_known(struct config *config, const char *word);

/* ---- Commands ------------------------------------------------------------------------------- */

enum agent_source {
    AGENT_FROM_CONFIG = 0,
    AGENT_BUILT_IN,
    AGENT_FROM_REGISTRY,
    AGENT_COMMAND_LINE,
};

struct agent_command {
    const char *name;        /* as it is known; of a command line the program's name */
    const char *title;       /* for people; the name where there is none */
    const char *const *argv; /* ends with NULL */
    const char *const *env;  /* "NAME=value", on top of ours; ends with NULL */
    const char *program;     /* the file that argv[0] is in PATH; NULL: not found */
    const char *model;       /* what the configuration says for this agent, else NULL */
    const char *mode;
    const char *auth_method;
    enum agent_source source;
    struct config_origin origin; /* AGENT_FROM_CONFIG: where it was said */
    bool fetched;                /* npx or uvx may have to fetch it first: give it time */
    const char *keys;            /* as of struct agent_known; NULL: it gets all that we have */
    const char *install;         /* hints for people; may be NULL */
    const char *login;
};

/*
 * What to start for a name.  On failure why gets a sentence (no line end):
 *   ACP_ERR_UNKNOWN   there is no such agent; the sentence has the nearest names
 *   ACP_ERR_MISSING   it is known, but its program is not installed; the sentence says how to
 *   ACP_ERR_RANGE     the registry file is not good
 *   ACP_ERR_NOMEM
 */
int agents_resolve(struct config *config, const char *name, struct agent_command *ret,
                   struct acp_buf *why);
/* The same, but a program that is not installed is no failure: ret->program is NULL then. */
int agents_find(struct config *config, const char *name, struct agent_command *ret,
                struct acp_buf *why);
/* From `-- COMMAND ARGS…`. */
int agents_from_argv(struct config *config, const char *const *argv, struct agent_command *ret,
                     struct acp_buf *why);
/*
 * From `--agent 'COMMAND LINE'`: words with quotes and backslashes as a shell has them, and nothing
 * else of a shell.  A single word that is a name is that agent.
 */
int agents_from_line(struct config *config, const char *line, struct agent_command *ret,
                     struct acp_buf *why);

/* How an agent is started for a session in a folder. */
struct agent_start {
    const char *const *argv;
    const char *const *env; /* "NAME=value", on top of ours: with the keys that it gets */
    const char *cwd;        /* of the process; NULL: that of the session */
};

/*
 * On failure why gets a sentence: ACP_ERR_STATE when the folder in which npx is started cannot be
 * made, ACP_ERR_NOMEM.
 */
int agents_start(struct config *config, const struct agent_command *command, const char *cwd,
                 struct agent_start *ret, struct acp_buf *why);

/*
 * All of them, each name once: of the configuration, built in, of the registry.  Negative with a
 * sentence in why.
 */
typedef void agents_visit(const struct agent_command *command, void *user);
int agents_list(struct config *config, agents_visit *visit, void *user, struct acp_buf *why);

/* All their names, ended by NULL; never NULL.  A registry that cannot be read has none. */
const char *const *agents_names(struct config *config);

/* "your configuration", "built in", "the registry", "the command line". */
const char *agents_source_name(enum agent_source source);

/*
 * Splits a command line into words: quotes '...' and "...", and \ before a character.
 * ACP_ERR_SYNTAX when a quote is not closed or a backslash ends it, ACP_ERR_MISSING when there is
 * no word.  The list lives in the arena and ends with NULL.
 */
int agents_split(struct acp_arena *arena, struct acp_str line, const char *const **ret_words);

#endif
