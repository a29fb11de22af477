/* plain.h - what a command has printed to a terminal, as text for a model. */
#ifndef SRC_TEXT_PLAIN_H
#define SRC_TEXT_PLAIN_H

#include "acp/base.h"

/*
 * Appends the text without colours, titles and other terminal sequences.  A return removes the
 * line, as progress bars expect; a backspace removes a character.  Other control characters except
 * tabs and line ends are removed.  Errors of the buffer.
 */
int plain_text(struct acp_str text, struct acp_buf *out);

#endif
