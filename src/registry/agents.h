/*
 * agents.h - finds agents by name and the command that starts each.
 *
 * A name is looked up in this order: agent_servers of the configuration, the built-in table, the
 * configured registry file.  An installed program takes precedence over one fetched by npx or uvx.
 *
 * All returned memory lives as long as the configuration.
 */
#ifndef SRC_REGISTRY_AGENTS_H
#define SRC_REGISTRY_AGENTS_H

#include "config/config.h"

/* ---- Known agents --------------------------------------------------------------------------- */

/* Defects of agents that the client works around. */
enum agent_quirk {
    /* Cannot create a file if the client offers fs.readTextFile, so files are not offered. */
    AGENT_NO_FILES = 1 << 0,
};

/*
 * Everything that acp knows about an agent.  Lists are separated by blanks; all but the first three
 * members may be NULL.
 */
struct agent_known {
    const char *name;
    const char *title;
    const char *command;     /* its command line when installed */
    const char *aliases;     /* other names */
    const char *fetched;     /* the command line with npx or uvx, with a pinned version */
    const char *install;     /* how to install it: a command, or an instruction */
    const char *login;       /* how to log in */
    const char *keys;        /* variables with API keys that it gets; it gets no others */
    const char *addresses;   /* variables with the base URL of its model provider */
    const char *state;       /* files and directories with its settings, login and sessions */
    const char *credentials; /* files that exist after a login; NULL: files do not show it */
    unsigned quirks;         /* enum agent_quirk */
};

/* The name of the agent that is part of this program; it is the first of the table. */
#define AGENTS_OWN_NAME "acp"

/* NULL after the last. */
const struct agent_known *agents_known_at(size_t index);
/* By name or alias, ignoring case; NULL if there is none. */
const struct agent_known *agents_known_find(const char *name);
/* By command line: its program, or its package for npx or uvx; NULL if there is none. */
const struct agent_known *agents_known_by_command(const char *const *argv);
/* Whether the word is the name of an agent, configured, built in or of the registry. */
bool agents_is_known(struct config *config, const char *word);

/* ---- Commands ------------------------------------------------------------------------------- */

enum agent_source {
    AGENT_FROM_CONFIG = 0,
    AGENT_BUILT_IN,
    AGENT_FROM_REGISTRY,
    AGENT_COMMAND_LINE,
};

struct agent_command {
    const char *name;        /* for a command line, the name of the program */
    const char *title;       /* for people; default: the name */
    const char *const *argv; /* ends with NULL */
    const char *const *env;  /* "NAME=value", added to our environment; ends with NULL */
    const char *program;     /* the path of argv[0]; NULL: not found */
    const char *model;       /* these are configured for the agent, or NULL */
    const char *mode;
    const char *auth_method;
    enum agent_source source;
    struct config_origin origin;     /* of AGENT_FROM_CONFIG */
    bool fetched;                    /* started by npx or uvx, which may have to download it */
    const struct agent_known *known; /* NULL: acp knows nothing about it */
    const char *keys;                /* as in struct agent_known; NULL: it gets all keys */
    const char *install;             /* hints for people; may be NULL */
    const char *login;
};

/*
 * The command for a name.  On error, why gets a message without a line end:
 *   ACP_ERR_UNKNOWN   there is no such agent; the message suggests the nearest name
 *   ACP_ERR_MISSING   its program is not installed; the message says how to install it
 *   ACP_ERR_RANGE     the registry file is invalid
 *   ACP_ERR_NOMEM
 */
int agents_resolve(struct config *config, const char *name, struct agent_command *ret,
                   struct acp_buf *why);
/* The same, except that a program that is not installed is not an error: ret->program is NULL. */
int agents_find(struct config *config, const char *name, struct agent_command *ret,
                struct acp_buf *why);
/*
 * The built-in agent, even if the configuration has another of its name.  ACP_ERR_MISSING if the
 * path of this program cannot be found.
 */
int agents_own(struct config *config, struct agent_command *ret, struct acp_buf *why);
/* Whether it is the built-in agent, by name or by default. */
bool agents_is_own(const struct agent_command *command);

/* What is known about the login of an agent without starting it. */
enum agent_login {
    AGENT_LOGIN_UNKNOWN = 0, /* nothing is known about where it stores one */
    AGENT_LOGIN_MISSING,
    AGENT_LOGIN_KEY,  /* a key variable that it gets is set */
    AGENT_LOGIN_FILE, /* it has stored one */
};
/* ret_where is the variable or the file, or NULL. */
enum agent_login agents_login(struct config *config, const struct agent_command *command,
                              const char **ret_where);

/* From the command line after "--". */
int agents_from_argv(struct config *config, const char *const *argv, struct agent_command *ret,
                     struct acp_buf *why);
/*
 * From `--agent 'COMMAND LINE'`, with quotes and backslashes but no other shell syntax.  A single
 * word that is the name of an agent means that agent.
 */
int agents_from_line(struct config *config, const char *line, struct agent_command *ret,
                     struct acp_buf *why);

/* How to start an agent for a session in a directory. */
struct agent_start {
    const char *const *argv;
    const char *const *env; /* "NAME=value", added to our environment; includes its keys */
    const char *cwd;        /* of the process; NULL: that of the session */
};

/*
 * On error, why gets a message: ACP_ERR_STATE if the directory in which npx is started cannot be
 * created, ACP_ERR_NOMEM.
 */
int agents_start(struct config *config, const struct agent_command *command, const char *cwd,
                 struct agent_start *ret, struct acp_buf *why);

/*
 * Lists all agents, each name once: configured, built in, registry.  Negative with a message in why
 * on error.
 */
typedef void agents_visit(const struct agent_command *command, void *user);
int agents_list(struct config *config, agents_visit *visit, void *user, struct acp_buf *why);

/* All names, ended by NULL; never NULL.  An unreadable registry is ignored. */
const char *const *agents_names(struct config *config);

/* "your configuration", "built in", "the registry", "the command line". */
const char *agents_source_name(enum agent_source source);

/*
 * Splits a command line into words: quotes '...' and "...", and \ before a character.
 * ACP_ERR_SYNTAX for an unterminated quote or a trailing backslash, ACP_ERR_MISSING if there is no
 * word.  The list lives in the arena and ends with NULL.
 */
int agents_split(struct acp_arena *arena, struct acp_str line, const char *const **ret_words);

#endif
