/*
 * prose.h - the little markup that texts in the tables use, and how it becomes plain text.
 *
 * It is scdoc's, so that man pages take it as it is: *word* is typed as it stands, _WORD_ is what
 * the user replaces, a backslash makes the next character plain, paragraphs have an empty line
 * between them, and a single line end is a space.  An underscore inside of a word is an underscore.
 */
#ifndef SRC_CLI_PROSE_H
#define SRC_CLI_PROSE_H

#include "acp/base.h"
#include "cli/output.h"

/* Appends the text without its markup. */
int prose_plain(const char *prose, struct acp_buf *out);

/* How wide the lines for people may be: the terminal's width behind the file, from 40 to 100. */
size_t prose_width(const struct output *out);

/*
 * Prints prose without its markup, wrapped at width, every line behind indent blanks; the first
 * line continues one that is already column wide.
 */
void prose_print(struct output *out, const char *prose, size_t indent, size_t column, size_t width);

#endif
