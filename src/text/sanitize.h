/*
 * sanitize.h - makes untrusted text harmless for a terminal.
 *
 * Whatever a terminal would obey, or show as something other than what it is, is replaced by a
 * visible escape:
 *
 *   ESC and other controls of ASCII, DEL   \x1b
 *   a carriage return                      \r; before a line feed it is dropped
 *   bytes that are not UTF-8               \x9b, byte by byte
 *   controls of Latin-1 (C1)               \u{9b}
 *   bidirectional controls                 \u{202e}
 *   invisible characters                   \u{200b}
 *
 * Sequences such as OSC 52 are not parsed: without the byte that starts them they are text.  All
 * other bytes pass unchanged, backslashes too, so the result of sanitizing twice is that of once.
 *
 * In prose, scripts need a few invisible characters.  SANITIZE_PROSE lets them through where they
 * belong: variation selectors 15 and 16 and the zero width joiner after a symbol (emoji), joiner
 * and non-joiner after a letter of the Arabic or of an Indic script.  Names, paths, commands and
 * questions use SANITIZE_TEXT or SANITIZE_LINE, which show every one of them.
 *
 * The state is a struct of the caller, so that a character that was cut between two pieces is
 * recognized: the output does not depend on how the text was cut.
 */
#ifndef SRC_TEXT_SANITIZE_H
#define SRC_TEXT_SANITIZE_H

#include <stdarg.h>

#include "acp/base.h"

enum sanitize_mode {
    SANITIZE_TEXT,  /* line feeds and tabs pass */
    SANITIZE_PROSE, /* also the invisible characters that scripts and emoji need */
    SANITIZE_LINE,  /* one line: \n and \t are escaped, too */
    SANITIZE_JSON,  /* the text is JSON; escapes are those of JSON, so its meaning stays the same */
};

/* Zeroed memory is the initial state. */
struct sanitizer {
    char held[4]; /* the start of a character whose end has not come, or a carriage return */
    unsigned char held_len;
    uint32_t previous; /* the last character that was passed on, for what depends on it */
};

/* Appends the text to out.  Fails only if out does. */
int sanitize(struct sanitizer *state, enum sanitize_mode mode, struct acp_str text,
             struct acp_buf *out);
/* The text ends here: appends what was held back, and resets the state. */
int sanitize_end(struct sanitizer *state, enum sanitize_mode mode, struct acp_buf *out);

/* A whole text at once. */
int sanitize_whole(enum sanitize_mode mode, struct acp_str text, struct acp_buf *out);

/*
 * Appends one row of a list and a line feed: whatever the values hold, it is one line without tabs.
 */
int sanitize_row(struct acp_buf *out, const char *format, ...) ACP_PRINTF(2, 3);
int sanitize_vrow(struct acp_buf *out, const char *format, va_list args) ACP_PRINTF(2, 0);

/* Whether a character is never shown as it is, except by SANITIZE_PROSE in its place. */
bool sanitize_hides(uint32_t code);

#endif
