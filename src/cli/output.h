/*
 * output.h - the only code that writes to a terminal.
 *
 * Texts come from agents, models, files, repositories and command lines, and any of them may
 * contain escape sequences.  All output to standard output, standard error or a terminal therefore
 * goes through this file and the filter of text/sanitize.h; tests/style/check-output fails for any
 * other code that prints.
 *
 *                  terminal                 pipe or file
 *   results        filtered                 unchanged: scripts need the exact bytes
 *   results, JSON  escaped as \uXXXX        the same; its meaning does not change
 *   messages       filtered                 filtered: logs are viewed in terminals
 *
 * The filter does not change what callers write themselves (labels, line feeds).  Only
 * output_style() writes escape sequences.
 */
#ifndef SRC_CLI_OUTPUT_H
#define SRC_CLI_OUTPUT_H

#include <stdarg.h>

#include "acp/base.h"
#include "text/sanitize.h"

/* The descriptors of results and of messages for people. */
enum { OUTPUT_RESULTS = 1, OUTPUT_MESSAGES = 2 };

enum output_style {
    STYLE_NONE, /* reset */
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_CYAN,
};

/* More than one style at once.  Colours are those of the terminal's own palette. */
enum output_attribute {
    OUTPUT_BOLD = 1,
    OUTPUT_DIM = 2,
    OUTPUT_ITALIC = 4,
    OUTPUT_UNDERLINE = 8,
    OUTPUT_STRIKE = 16,
    OUTPUT_REVERSE = 32,
};

enum output_colour {
    OUTPUT_DEFAULT,
    OUTPUT_RED,
    OUTPUT_GREEN,
    OUTPUT_YELLOW,
    OUTPUT_BLUE,
    OUTPUT_MAGENTA,
    OUTPUT_CYAN,
};

/* When output_style() has an effect; for the whole process. */
enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
void output_choose_colour(enum colour_choice choice);
/* By that; automatically on a terminal, unless NO_COLOR is set or TERM is "dumb". */
bool output_has_colour(int fd);

/* Buffered output to a descriptor. */
struct output {
    int fd;
    bool exact;     /* texts are not filtered; never for a terminal */
    bool styled;    /* output_style() has an effect */
    bool no_colour; /* output_look() shows attributes only */
    bool is_terminal;
    int err;    /* the first error; nothing is written after it */
    int reason; /* its errno, if it was a system error */
    struct sanitizer filter;
    struct acp_buf pending; /* filtered and not yet written */
};

/* For results: not filtered unless the descriptor is a terminal. */
void output_init_results(struct output *out, int fd);
/* For messages: always filtered. */
void output_init_messages(struct output *out, int fd);
/* Does not flush. */
void output_finish(struct output *out);

void output_text(struct output *out, struct acp_str text);
/* Text of an agent for people: see SANITIZE_PROSE. */
void output_prose(struct output *out, struct acp_str text);
/* JSON text, complete or in parts; it is not validated. */
void output_json(struct output *out, struct acp_str json);
void output_printf(struct output *out, const char *format, ...) ACP_PRINTF(2, 3);
void output_vprintf(struct output *out, const char *format, va_list args) ACP_PRINTF(2, 0);
/* Does nothing unless out->styled. */
void output_style(struct output *out, enum output_style style);
/* The look of what follows, instead of the one before.  Does nothing unless out->styled. */
void output_look(struct output *out, unsigned attributes, enum output_colour colour);
/*
 * What follows is a link to that address (OSC 8), an absent one ends it.  The address is printable
 * ASCII; others are dropped.  Does nothing unless out->styled.
 */
void output_link(struct output *out, struct acp_str address);
/* Writes the pending output; blocks on a slow reader.  0, or the first error of this output. */
int output_flush(struct output *out);

/* ---- Standard output and standard error ---------------------------------------------- */

/* For functions that take a struct output; the caller must flush. */
struct output *output_results(void);
struct output *output_messages(void);

bool out_is_terminal(void);
void out_text(struct acp_str text);
/* JSON text, such as one value a line. */
void out_json(struct acp_str json);
/* One JSON value and a line feed. */
void out_json_line(struct acp_str json);
void out_printf(const char *format, ...) ACP_PRINTF(1, 2);
/*
 * One row of a list, and a line feed.  Line feeds and tabs in values are escaped, in pipes too, so
 * that an agent cannot forge rows.
 */
void out_row(const char *format, ...) ACP_PRINTF(1, 2);
/* Does nothing if standard output is not a terminal. */
void out_style(enum output_style style);
/* 0, or the first error since the program started. */
int out_flush(void);

bool err_is_terminal(void);
void err_text(struct acp_str text);
void err_printf(const char *format, ...) ACP_PRINTF(1, 2);
/* "acp: ", the message, and the end of the line. */
void err_message(const char *format, ...) ACP_PRINTF(1, 2);
void err_row(const char *format, ...) ACP_PRINTF(1, 2);
/*
 * The status line: a line on standard error about what is being done, for a terminal.  It is
 * erased before anything else is written to a terminal, and is not shown while the cursor stands in
 * a line, or while we are in the background.  The text is cut to the width of the terminal.
 */
void output_show_status(struct acp_str text);
void output_erase_status(void);

/* Discards all further messages, including those of libraries. */
int err_silence(void);

#endif
