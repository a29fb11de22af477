/*
 * option.h - options of a command as rows of a table, and the parser that walks them.
 *
 * A command declares a struct for its options and one row for each of them, which says by
 * offsetof() where the value goes.  Parsing, help, man pages and completion all read the same rows.
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
 * Zero means "not given" in every target, so that configuration can fill what the command line left
 * open: false, NULL, 0 for a choice (choices count from 1), given == false, count == 0.
 *
 * Accepted: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, switches in a group (-ab), and "--",
 * after which nothing is an option.  A single "-" is no option.  Names are not abbreviated.  An
 * option that is given again replaces its value, unless its row says that it is repeated.
 */
#ifndef SRC_CLI_OPTION_H
#define SRC_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acp/base.h"

/* What an option takes, how it is checked, how a shell completes it; and the type of its target. */
enum option_kind {
    OPTION_SWITCH = 0, /* nothing; bool */
    OPTION_TOGGLE,     /* nothing; enum option_toggle, and there is --no-NAME as well */
    OPTION_PICK,       /* nothing; int, set to the row's .value; see .exclusive */
    OPTION_TEXT,       /* any text; const char * */
    OPTION_FILE,       /* the name of a file, or - for a standard stream; const char * */
    OPTION_DIRECTORY,  /* the name of a folder; const char * */
    OPTION_AGENT,      /* the command line of an agent; const char * */
    OPTION_SESSION,    /* the name of a session; const char * */
    OPTION_COMMAND,    /* the name of a command or, behind one, of its subcommand; const char * */
    OPTION_PAIR,       /* KEY=VALUE; const char *, the whole of it */
    OPTION_NUMBER,     /* digits, from .min to .max; struct option_number */
    OPTION_DURATION,   /* seconds, maybe with a fraction; struct option_number in milliseconds */
    OPTION_CHOICE,     /* a word of .choices; int, which counts from 1 */
    OPTION_HELP,       /* nothing and no target: the user asks for help */
    OPTION_VERSION,    /* nothing and no target: the user asks for the version */
};

enum option_toggle { OPTION_UNSET = 0, OPTION_ON, OPTION_OFF };

struct option_number {
    uint64_t value;
    bool given;
};

/* What a repeated option collects, in order.  The texts belong to the command line. */
struct option_list {
    const char **items;
    size_t count;
};

struct option {
    const char *name;     /* without its dashes; NULL ends a table */
    const char *alias;    /* another name that is accepted, for people who come from elsewhere */
    const char *argument; /* what help calls the value; NULL for kinds that take none */
    enum option_kind kind;
    char letter;   /* the short form, or 0 */
    bool repeated; /* every value counts; the target is a struct option_list (text kinds only) */
    bool hidden;   /* works, but is no part of help, man page and completion */
    bool may_be_empty;          /* a text of no length is a value */
    int value;                  /* of OPTION_PICK; not 0 */
    uint64_t min, max;          /* of numbers, and of durations in milliseconds; max 0: no limit */
    const char *const *choices; /* of OPTION_CHOICE, ended by NULL */
    const char *exclusive;      /* of options with the same word here only one may be given */
    size_t offset;              /* of the target in the struct, by offsetof() */
    const char *heading;        /* what help puts above this row and those that follow */
    const char *environment;    /* the variable that configuration reads for the same setting */
    const char *help;           /* one line, without a final stop; markup as in prose.h */
    const char *details;        /* sentences that the man page adds, or NULL */
};

/*
 * A table as part of a command's options: the same rows serve every command whose struct holds
 * theirs, at .offset.  A list of them ends with .options == NULL.
 */
struct option_group {
    const struct option *options;
    size_t offset;
};

/* Why a command line is refused: one line for people, printable, without a final stop. */
struct usage_error {
    char message[400];
};

ACP_PRINTF(2, 3) void usage_error_set(struct usage_error *error, const char *format, ...);

/* What a command line says besides the values that went into the struct. */
struct option_result {
    const char **arguments; /* what is no option, in order; ended by NULL */
    size_t argument_count;
    const char *const *after; /* what stands after "--", ended by NULL; NULL where there is none */
    size_t after_count;
    const struct option **given; /* each option once, in the order of their first appearance */
    size_t given_count;
    bool help;    /* an OPTION_HELP was met, and parsing ended there */
    bool version; /* an OPTION_VERSION was met, and parsing ended there */
};

/*
 * Parses words[0..count), where words[count] is NULL, into values: a zeroed struct of the kind that
 * the groups were written for.  The texts stay those of words; lists and the result are allocated
 * from the arena.  Negative on failure: ACP_ERR_ARGUMENT with *error set, ACP_ERR_NOMEM; values and
 * result then hold what was read before it.
 */
int options_parse(const struct option_group *groups, const char *const *words, size_t count,
                  struct acp_arena *arena, void *values, struct option_result *result,
                  struct usage_error *error);

/* Whether a value must follow it. */
bool option_takes_value(const struct option *option);

/* The row that a name without its dashes means (or the letter), or NULL. */
const struct option *option_find(const struct option_group *groups, struct acp_str name);
const struct option *option_find_letter(const struct option_group *groups, char letter);

/* Offers the names of all rows that are not hidden to a search for the nearest one. */
struct suggestion;
void option_suggest(const struct option_group *groups, struct suggestion *suggestion);

/*
 * Reads a value; label is what the message about a wrong one calls it.  A number, a duration in
 * milliseconds or the place of a choice goes to ret_number, of texts nothing does.
 */
int option_read(const struct option *option, const char *label, const char *value,
                uint64_t *ret_number, struct usage_error *error);

#endif
