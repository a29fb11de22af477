/*
 * command.h - a command of the program as data: what it is called, what it takes, what it says
 * about itself, and the function that runs it.
 *
 * Everything that people see of a command comes from here: help, man page, completion, and the
 * messages about a command line that makes no sense.  Texts called prose use the markup of prose.h.
 *
 * How a command line is read:
 *
 *     acp [OPTION...] COMMAND [SUBCOMMAND] [OPTION...] [ARGUMENT...]
 *     acp [OPTION...] AGENT [COMMAND [SUBCOMMAND]] [OPTION...] [ARGUMENT...]
 *
 * The options of a command may stand before it.  The second form names the agent first; without a
 * command it means the program's default command.  Commands that take an agent as their first
 * argument know it by its name (or by the :// of a URL); everything else there is an argument.
 * Where no agent is named, what follows "--" is the agent's command line; where one is, "--" ends
 * the options and no more.  What could be meant in two ways is refused with a sentence.
 */
#ifndef SRC_CLI_COMMAND_H
#define SRC_CLI_COMMAND_H

#include "cli/option.h"

/* A positional argument.  They are checked in order; the last may be repeated. */
struct argument {
    const char *name;           /* "FILE"; NULL ends a list */
    const char *const *choices; /* of OPTION_CHOICE, ended by NULL */
    enum option_kind kind;      /* one that takes a value: decides check and completion */
    bool optional;
    bool repeated;
};

struct example {
    const char *line;    /* what to type, as it is; NULL ends a list */
    const char *meaning; /* what that does: prose, one sentence without a final stop */
};

/* A row for a status that the command gives in a sense of its own, or in addition to 0, 1 and 2. */
struct exit_status {
    const char *meaning; /* prose; NULL ends a list */
    int number;
};

/* How a command learns of the agent that it is about. */
enum agent_place {
    AGENT_NONE = 0, /* it is about no agent */
    AGENT_BEFORE,   /* acp AGENT COMMAND */
    AGENT_ARGUMENT, /* that, or acp COMMAND AGENT, or acp COMMAND -- agent's command line */
};

struct invocation;

struct command {
    const char *name;
    const char *summary;                /* one line, without a final stop */
    const char *description;            /* prose: paragraphs with an empty line between them */
    const struct argument *arguments;   /* besides the agent; NULL: none */
    const struct option_group *options; /* NULL: none; --help is added to all */
    size_t options_size;                /* of the struct that the options fill */
    const struct command *const *subcommands; /* ended by NULL; NULL: none */
    const struct example *examples;           /* NULL: none */
    const struct exit_status *statuses;       /* NULL: none of its own */
    enum agent_place agent;
    bool hidden; /* works, but is no part of help, man pages and completion */
    /* Returns the exit status (cmd.h).  NULL where a subcommand must follow. */
    int (*run)(const struct invocation *invocation);
};

/* A name with its meaning: an environment variable, a file. */
struct term {
    const char *name; /* NULL ends a list */
    const char *meaning;
};

/* The program as a whole. */
struct program {
    const char *name;
    const char *version;
    const char *summary;
    const char *description;
    const struct command *const *commands; /* ended by NULL */
    const struct command *default_command; /* what "acp AGENT ..." means; NULL: no such form */
    const struct exit_status *statuses;
    const struct term *environment;
    const struct term *files;
    const char *see_also; /* prose */
    /*
     * The names of the agents that can be used, ended by NULL and valid until the program ends.
     * The invocation has the options as far as they could be read: all of them before a command
     * runs, none in completion; its command is NULL where none is recognised.  May be called more
     * than once.  NULL: there are no named agents.
     */
    const char *const *(*agent_names)(const struct invocation *invocation);
    /* The same for the names of sessions, for completion only. */
    const char *const *(*session_names)(const struct invocation *invocation);
};

/* One run of a command.  Everything in it is valid until run() has returned. */
struct invocation {
    const struct program *program;
    const struct command *parent;  /* of a subcommand, or NULL */
    const struct command *command; /* what is to run; NULL when help on the program is asked for */
    const void *options;           /* the command's struct; NULL where it has none */
    const char *agent;             /* the name or the URL, NULL where none was given */
    const char *const *agent_command; /* the words after "--", ended by NULL; or NULL */
    size_t agent_command_count;
    const char *const *arguments; /* ended by NULL */
    size_t argument_count;
    bool help;              /* print help on the command instead of running it */
    bool version;           /* print the version instead */
    struct acp_arena arena; /* holds all of it but the words of the command line */
};

/*
 * Reads a command line: words[0..count), without the program's name; words[count] is NULL.
 * Negative on failure: ACP_ERR_ARGUMENT with *error set, ACP_ERR_NOMEM.  The invocation is in a
 * state for invocation_finish() in any case, and its command is set once one was recognised.
 */
int invocation_parse(struct invocation *invocation, const struct program *program,
                     const char *const *words, size_t count, struct usage_error *error);
void invocation_finish(struct invocation *invocation);

/* Reads the command line, runs it, prints help or what is wrong; gives the exit status. */
int program_run(const struct program *program, int argc, char **argv);

/* The command, or subcommand, of that name in a list that NULL ends (or is NULL); or NULL. */
const struct command *command_find(const struct command *const *commands, const char *name);

/* The ways in which a command can be written. */
enum synopsis_form {
    SYNOPSIS_PLAIN,         /* acp COMMAND ... */
    SYNOPSIS_AGENT_FIRST,   /* acp AGENT COMMAND ... */
    SYNOPSIS_AGENT_COMMAND, /* acp COMMAND ... -- agent's command line */
    SYNOPSIS_FORMS,         /* how many there are */
};
bool command_has_form(const struct command *command, enum synopsis_form form);
/* Appends one of them as prose. */
int command_synopsis(const struct program *program, const struct command *parent,
                     const struct command *command, enum synopsis_form form, struct acp_buf *out);

/* What every command has besides its own options: --help, and unseen --version. */
extern const struct option_group command_common_options[];
/* What may stand before any command, or alone: --help and --version. */
extern const struct option_group program_options[];

#endif
