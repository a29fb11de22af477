/*
 * prose.h - renders the markup of help texts as plain text.
 *
 * The markup is that of scdoc, so that man pages can use it directly: *word* is literal, _WORD_ is
 * a placeholder, a backslash escapes the next character, an empty line separates paragraphs, and a
 * single line feed is a blank.  An underscore inside a word is an underscore.
 */
#ifndef SRC_CLI_PROSE_H
#define SRC_CLI_PROSE_H

#include "acp/base.h"
#include "cli/output.h"

/* Appends the text without its markup. */
int prose_plain(const char *prose, struct acp_buf *out);

/* The width of the terminal: $COLUMNS, else what the terminal says, else 80. */
size_t output_width(const struct output *out);
/* The line width for prose: that of the terminal, from 40 to 100. */
size_t prose_width(const struct output *out);

/*
 * Prints prose without its markup, wrapped at width and indented; the first line continues one that
 * already has `column` columns.
 */
void prose_print(struct output *out, const char *prose, size_t indent, size_t column, size_t width);

#endif
