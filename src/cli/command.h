/*
 * command.h - a command as data: its name, arguments, options, help texts, and the function that
 * runs it.
 *
 * Everything that people see of a command comes from here: help, man page, completion, and the
 * messages about an invalid command line.  Texts called prose use the markup of prose.h.
 *
 * The forms of a command line:
 *
 *     acp [OPTION...] COMMAND [SUBCOMMAND] [OPTION...] [ARGUMENT...]
 *     acp [OPTION...] AGENT [COMMAND [SUBCOMMAND]] [OPTION...] [ARGUMENT...]
 *
 * The options of a command may stand before it.  The second form names the agent first; without a
 * command it means the program's default command.  Commands that take an agent as their first
 * argument know it by its name (or by the :// of a URL); everything else there is an argument.
 * If no agent is named, the words after "--" are the agent's command line; otherwise "--" only ends
 * the options.  An ambiguous command line is refused with an explanation.
 */
#ifndef SRC_CLI_COMMAND_H
#define SRC_CLI_COMMAND_H

#include "cli/option.h"

/* A positional argument.  Arguments are checked in order; the last may be repeated. */
struct argument {
    const char *name;           /* "FILE"; NULL ends a list */
    const char *const *choices; /* of OPTION_CHOICE, ended by NULL */
    enum option_kind kind;      /* a kind that takes a value; used for checks and completion */
    bool optional;
    bool repeated;
};

struct example {
    const char *line;    /* the command line; NULL ends a list */
    const char *meaning; /* what it does: prose, "prints ...", without a full stop */
};

/* An exit status with a specific meaning for the command, or in addition to 0, 1 and 2. */
struct exit_status {
    const char *meaning; /* prose; NULL ends a list */
    int number;
};

/* Where the agent of a command is named. */
enum agent_place {
    AGENT_NONE = 0, /* the command takes no agent */
    AGENT_BEFORE,   /* acp AGENT COMMAND */
    AGENT_ARGUMENT, /* also acp COMMAND AGENT, and acp COMMAND -- agent's command line */
};

struct invocation;

struct command {
    const char *name;
    const char *summary;                /* one line, without a full stop */
    const char *description;            /* prose: paragraphs with an empty line between them */
    const struct argument *arguments;   /* besides the agent; NULL: none */
    const struct option_group *options; /* NULL: none; --help is added to all */
    size_t options_size;                /* of the struct that the options fill */
    const struct command *const *subcommands; /* ended by NULL; NULL: none */
    const struct example *examples;           /* NULL: none */
    const struct exit_status *statuses;       /* NULL: none of its own */
    enum agent_place agent;
    bool hidden; /* works, but is not in help, man pages and completion */
    /* Returns the exit status.  NULL if a subcommand is required. */
    int (*run)(const struct invocation *invocation);
};

/* A name with its meaning: an environment variable, a file. */
struct term {
    const char *name; /* NULL ends a list */
    const char *meaning;
};

/* A heading in the list of commands. */
struct command_heading {
    const char *title;           /* "Running agents"; NULL ends a list */
    const struct command *first; /* the command that it precedes */
};

/* A value that may be typed. */
struct candidate {
    const char *word;    /* NULL ends a list */
    const char *meaning; /* plain text, one line; may be NULL */
};

/* The program as a whole. */
struct program {
    const char *name;
    const char *version;
    const char *summary;
    const char *description;
    const struct command *const *commands;  /* ended by NULL */
    const struct command_heading *headings; /* in their list; NULL: none */
    const struct example *first_steps;     /* what to try first, shown without arguments; or NULL */
    const struct command *default_command; /* the command of "acp AGENT ..."; NULL: none */
    const struct exit_status *statuses;
    const struct term *environment;
    const struct term *files;
    const char *see_also; /* prose */
    /*
     * The names of the known agents, ended by NULL and valid until the program ends.  The
     * invocation holds the options parsed so far: all of them before a command runs, none in
     * completion; its command is NULL if none was recognised.  May be called more than once.
     * NULL: there are no named agents.
     */
    const char *const *(*agent_names)(const struct invocation *invocation);
    /*
     * The values of a kind that are known now, for completion: sessions, models and modes; in the
     * arena of the invocation, which has the agent if one was named.  NULL: none are known.
     */
    const struct candidate *(*values)(struct invocation *invocation, enum option_kind kind);
};

/* A parsed command line, valid until run() returns. */
struct invocation {
    const struct program *program;
    const struct command *parent;     /* of a subcommand, or NULL */
    const struct command *command;    /* NULL: help for the program was requested */
    const void *options;              /* the struct of the command; NULL if it has none */
    const char *agent;                /* the name or URL; NULL if not given */
    const char *const *agent_command; /* the words after "--", ended by NULL; or NULL */
    size_t agent_command_count;
    const char *const *arguments; /* ended by NULL */
    size_t argument_count;
    bool help;              /* print help for the command instead of running it */
    bool version;           /* print the version instead */
    struct acp_arena arena; /* holds everything except the words of the command line */
};

/*
 * Reads a command line: words[0..count), without the program's name; words[count] is NULL.
 * ACP_ERR_ARGUMENT with *error set, ACP_ERR_NOMEM.  invocation_finish() must be called in any case;
 * the command is set if one was recognised.
 */
int invocation_parse(struct invocation *invocation, const struct program *program,
                     const char *const *words, size_t count, struct usage_error *error);
void invocation_finish(struct invocation *invocation);

/* Parses and runs a command line, or prints help or an error.  Returns the exit status. */
int program_run(const struct program *program, int argc, char **argv);

/* The command of that name in a list ended by NULL, or NULL.  The list may be NULL. */
const struct command *command_find(const struct command *const *commands, const char *name);

/* The forms of a synopsis. */
enum synopsis_form {
    SYNOPSIS_PLAIN,         /* acp COMMAND ... */
    SYNOPSIS_AGENT_FIRST,   /* acp AGENT COMMAND ... */
    SYNOPSIS_AGENT_COMMAND, /* acp COMMAND ... -- agent's command line */
    SYNOPSIS_FORMS,         /* the number of forms */
};
bool command_has_form(const struct command *command, enum synopsis_form form);
/* Appends a synopsis as prose. */
int command_synopsis(const struct program *program, const struct command *parent,
                     const struct command *command, enum synopsis_form form, struct acp_buf *out);

/* The options of every command: --help, and a hidden --version. */
extern const struct option_group command_common_options[];
/* The options that may precede any command: --help and --version. */
extern const struct option_group program_options[];

#endif
