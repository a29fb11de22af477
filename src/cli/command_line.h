/*
 * command_line.h - walking the words of a command line before it is known what command they belong
 * to; for the reader of command lines and for completion.
 */
#ifndef SRC_CLI_COMMAND_LINE_H
#define SRC_CLI_COMMAND_LINE_H

#include "cli/command.h"

/*
 * A walk over words.  Options are passed over by the rows of all commands, which must agree on what
 * takes a value (tests hold the tables to it).
 */
struct line_walk {
    const struct program *program;
    const char *const *words;
    size_t count;
    size_t at;                    /* the next word */
    const struct option *pending; /* the last word was this option, and its value is missing */
    const char *unknown;          /* the first option that no command has, or NULL */
    bool names_agent;             /* an OPTION_AGENT was met */
    bool ended;                   /* "--" was met: at is behind it */
};

/* The index of the next word that is neither an option nor the value of one; count at the end. */
size_t line_walk_next(struct line_walk *walk);

/* The row of any command for a name without its dashes, or NULL. */
const struct option *line_find_option(const struct line_walk *walk, struct acp_str name);

/* What the words of a command line that name something name; indexes are count where none does. */
struct line_names {
    const struct command *parent; /* of a subcommand */
    const struct command *command;
    size_t command_at;
    size_t subcommand_at;
    size_t agent_at; /* a word that must be an agent, because it stands where a command would */
};

/*
 * Finds the command and the agent before it.  Leaves the walk behind the last word that it used.
 * ACP_ERR_ARGUMENT with *error set when a word can be neither; names then holds what was found.
 */
int line_find_names(struct line_walk *walk, struct line_names *ret_names,
                    struct usage_error *error);

/* Whether a word is one of the agents, or a URL. */
bool line_is_agent(const struct invocation *invocation, const char *word);

/* The command's own options, then those that all have, as a list.  NULL: no memory. */
const struct option_group *command_all_options(const struct command *command,
                                               struct acp_arena *arena);

#endif
