/*
 * output.h - the only way to a terminal.
 *
 * Texts come from agents, models, files, repositories and command lines, and no one can be trusted
 * not to send what a terminal would obey.  So nothing in lib/ or src/ writes to the standard
 * output, the standard error or a terminal but this file, which passes every text through the
 * filter of text/sanitize.h; tests/style/check-output fails for any other code that prints.
 *
 *                  terminal                 pipe or file
 *   results        filtered                 as it came: scripts need the exact bytes
 *   results, JSON  escaped as \uXXXX        the same; its meaning does not change
 *   messages       filtered                 filtered: logs are read in terminals
 *
 * What the caller writes itself (labels, line feeds) is filtered with the rest, which changes
 * nothing.  Escape sequences are written by output_style() alone: those that its enum names.
 */
#ifndef SRC_CLI_OUTPUT_H
#define SRC_CLI_OUTPUT_H

#include <stdarg.h>

#include "acp/base.h"
#include "text/sanitize.h"

/* The descriptors of results and of messages for people. */
enum { OUTPUT_RESULTS = 1, OUTPUT_MESSAGES = 2 };

enum output_style {
    STYLE_NONE, /* back to normal */
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_CYAN,
};

/* Text on its way to a descriptor. */
struct output {
    int fd;
    bool exact;  /* text passes as it came; never for a terminal */
    bool styled; /* output_style() writes something */
    int err;     /* the first one; nothing is written after it */
    int reason;  /* errno, when it was the system's */
    struct sanitizer filter;
    struct acp_buf pending; /* filtered, not written yet */
};

/* For results: text is exact unless the descriptor is a terminal. */
void output_init_results(struct output *out, int fd);
/* For messages: always filtered. */
void output_init_messages(struct output *out, int fd);
/* Does not flush. */
void output_finish(struct output *out);

void output_text(struct output *out, struct acp_str text);
/* What an agent says to a person: see SANITIZE_PROSE. */
void output_prose(struct output *out, struct acp_str text);
/* JSON, whole values or pieces of them; no errors are found. */
void output_json(struct output *out, struct acp_str json);
void output_printf(struct output *out, const char *format, ...) ACP_PRINTF(2, 3);
void output_vprintf(struct output *out, const char *format, va_list args) ACP_PRINTF(2, 0);
/* Nothing unless out->styled. */
void output_style(struct output *out, enum output_style style);
/* Writes what is pending, waiting for a slow reader; 0, or the first error of this output. */
int output_flush(struct output *out);

/* ---- The standard output and the standard error ---------------------------------------------- */

/* For functions that write to either; what they write has to be flushed. */
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
 * One row of a list, and a line feed.  A line feed or tab in a value is escaped, in a pipe as well:
 * whoever reads a list by line must not find lines in it that an agent has made up.
 */
void out_row(const char *format, ...) ACP_PRINTF(1, 2);
/* Nothing if the standard output is no terminal. */
void out_style(enum output_style style);
/* 0, or the first error since the program was started. */
int out_flush(void);

bool err_is_terminal(void);
void err_text(struct acp_str text);
void err_printf(const char *format, ...) ACP_PRINTF(1, 2);
/* "acp: ", the message, and the end of the line. */
void err_message(const char *format, ...) ACP_PRINTF(1, 2);
void err_row(const char *format, ...) ACP_PRINTF(1, 2);
/* From now on messages, those of libraries too, go nowhere. */
int err_silence(void);

#endif
