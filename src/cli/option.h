/*
 * option.h - options as rows of a table, and their parser.
 *
 * A command declares a struct for its options and one row for each, with the offset of the value in
 * the struct.  Parsing, help, man pages and completion all use the same rows.
 *
 *     struct greet_options {
 *         const char *name;
 *         struct option_number times;
 *     };
 *     static const struct option rows[] = {
 *         {.name = "name", .letter = 'n', .argument = "NAME", .kind = OPTION_TEXT,
 *          .offset = offsetof(struct greet_options, name), .help = "greet _NAME_"},
 *         {.name = "times", .argument = "COUNT", .kind = OPTION_NUMBER, .min = 1, .max = 9,
 *          .offset = offsetof(struct greet_options, times), .help = "greet _COUNT_ times"},
 *         {0},
 *     };
 *
 * Zero means "not given" in every target, so that the configuration can supply the value: false,
 * NULL, 0 for a choice (choices count from 1), given == false, count == 0.
 *
 * Accepted: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, switches in a group (-ab), and "--",
 * after which nothing is an option.  A single "-" is an argument.  Names cannot be abbreviated.  If
 * an option is given again, the last value is used, unless its row has .repeated.
 */
#ifndef SRC_CLI_OPTION_H
#define SRC_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acp/base.h"

/* The kind of a value, which decides validation and completion, and the type of the target. */
enum option_kind {
    OPTION_SWITCH = 0, /* nothing; bool */
    OPTION_TOGGLE,     /* nothing; enum option_toggle; also accepts --no-NAME */
    OPTION_PICK,       /* nothing; int, set to .value of the row; see .exclusive */
    OPTION_TEXT,       /* any text; const char * */
    OPTION_FILE,       /* a file name, or - for a standard stream; const char * */
    OPTION_DIRECTORY,  /* a directory name; const char * */
    OPTION_AGENT,      /* the command line of an agent; const char * */
    OPTION_AGENT_NAME, /* the name of an agent; const char * */
    OPTION_SESSION,    /* the name of a session; const char * */
    OPTION_MODEL,      /* the id of a model; const char * */
    OPTION_MODE,       /* the id of a mode; const char * */
    OPTION_COMMAND,    /* a command name, or after one, a subcommand name; const char * */
    OPTION_PAIR,       /* KEY=VALUE; const char *, the whole text */
    OPTION_OPTIONAL,   /* nothing, or a text after "="; const char *, "" without a text */
    OPTION_NUMBER,     /* a decimal number from .min to .max; struct option_number */
    OPTION_DURATION,   /* text/duration.h; struct option_number, milliseconds */
    OPTION_AMOUNT,     /* a decimal number above 0; struct option_number, millionths */
    OPTION_CHOICE,     /* a word of .choices; int, counts from 1 */
    OPTION_HELP,       /* nothing, no target: help was requested */
    OPTION_VERSION,    /* nothing, no target: the version was requested */
};

enum option_toggle { OPTION_UNSET = 0, OPTION_ON, OPTION_OFF };

struct option_number {
    uint64_t value;
    bool given;
};

/* The values of a repeated option, in order.  The texts belong to the command line. */
struct option_list {
    const char **items;
    size_t count;
};

struct option {
    const char *name;     /* without dashes; NULL ends a table */
    const char *alias;    /* another accepted name, for compatibility with other programs */
    const char *argument; /* the name of the value in help; NULL for kinds without a value */
    enum option_kind kind;
    char letter;                /* the short form, or 0 */
    bool repeated;              /* collects all values in a struct option_list (text kinds only) */
    bool hidden;                /* works, but is not in help, man page and completion */
    bool may_be_empty;          /* accepts an empty text */
    int value;                  /* of OPTION_PICK; not 0 */
    uint64_t unit_ms;           /* of a duration that is given as a number; 0: seconds */
    uint64_t min, max;          /* of numbers, and of durations in milliseconds; max 0: no limit */
    const char *const *choices; /* of OPTION_CHOICE, ended by NULL */
    const char *exclusive;      /* options with the same word here are mutually exclusive */
    size_t offset;              /* of the target in the struct, by offsetof() */
    const char *heading;        /* heading in help, for this and the following rows */
    const char *environment;    /* the environment variable for the same setting */
    const char *help;           /* one line, without a full stop; markup as in prose.h */
    const char *details;        /* further sentences for the man page, or NULL */
};

/*
 * A table as part of the options of a command: several commands can use the same rows, with the
 * struct of the table at .offset in their own.  A list of groups ends with .options == NULL.
 */
struct option_group {
    const struct option *options;
    size_t offset;
};

/* An error in the command line: one printable line, without a full stop. */
struct usage_error {
    char message[400];
};

ACP_PRINTF(2, 3) void usage_error_set(struct usage_error *error, const char *format, ...);

/* The result of parsing, apart from the values. */
struct option_result {
    const char **arguments; /* the words that are not options, in order; ended by NULL */
    size_t argument_count;
    const char *const *after; /* the words after "--", ended by NULL; NULL if there is no "--" */
    size_t after_count;
    const struct option **given; /* each option once, in order of first appearance */
    size_t given_count;
    bool help;    /* parsing ended at an OPTION_HELP */
    bool version; /* parsing ended at an OPTION_VERSION */
};

/*
 * Parses words[0..count), where words[count] is NULL, into values: a zeroed struct that matches the
 * groups.  Texts point into words; lists and the result are allocated from the arena.
 * ACP_ERR_ARGUMENT with *error set, ACP_ERR_NOMEM; values and result then hold what was parsed.
 */
int options_parse(const struct option_group *groups, const char *const *words, size_t count,
                  struct acp_arena *arena, void *values, struct option_result *result,
                  struct usage_error *error);

/* Whether the option requires a value. */
bool option_takes_value(const struct option *option);

/* The row with that name (without dashes) or letter, or NULL. */
const struct option *option_find(const struct option_group *groups, struct acp_str name);
const struct option *option_find_letter(const struct option_group *groups, char letter);

/* Adds the names of all visible rows as candidates to a suggestion. */
struct suggestion;
void option_suggest(const struct option_group *groups, struct suggestion *suggestion);

/*
 * Parses a value; label names it in error messages.  *ret_number is set to the number, the duration
 * in milliseconds or the index of the choice; it is not set for texts.
 */
int option_read(const struct option *option, const char *label, const char *value,
                uint64_t *ret_number, struct usage_error *error);

#endif
