/*
 * command_line.h - walks the words of a command line before its command is known; for the parser
 * and for completion.
 */
#ifndef SRC_CLI_COMMAND_LINE_H
#define SRC_CLI_COMMAND_LINE_H

#include "cli/command.h"

/*
 * A walk over words.  Options are skipped by the tables of all commands, which must agree on which
 * options take a value (a test checks that).
 */
struct line_walk {
    const struct program *program;
    const char *const *words;
    size_t count;
    size_t at;                    /* the next word */
    const struct option *pending; /* the last word was this option, without its value */
    const char *unknown;          /* the first option that no command has, or NULL */
    bool names_agent;             /* an OPTION_AGENT was found */
    bool ended;                   /* "--" was found; at is the word after it */
};

/* The index of the next word that is neither an option nor the value of one; count at the end. */
size_t line_walk_next(struct line_walk *walk);

/* The row of any command for a name without its dashes, or NULL. */
const struct option *line_find_option(const struct line_walk *walk, struct acp_str name);

/* The command and agent that words name; indexes are count if there is no such word. */
struct line_names {
    const struct command *parent; /* of a subcommand */
    const struct command *command;
    size_t command_at;
    size_t subcommand_at;
    size_t agent_at; /* a word in place of a command, which must be an agent */
};

/*
 * Finds the command and the agent before it.  Leaves the walk after the last word that it used.
 * ACP_ERR_ARGUMENT with *error set when a word is neither; *ret_names then holds what was found.
 */
int line_find_names(struct line_walk *walk, struct line_names *ret_names,
                    struct usage_error *error);

/* Whether a word is the name of an agent, or a URL. */
bool line_is_agent(const struct invocation *invocation, const char *word);

/* The options of the command, then the common ones, as a list.  NULL: out of memory. */
const struct option_group *command_all_options(const struct command *command,
                                               struct acp_arena *arena);

#endif
