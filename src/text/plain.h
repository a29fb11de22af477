/* plain.h - what a command has printed to a terminal, as text that a model can read. */
#ifndef SRC_TEXT_PLAIN_H
#define SRC_TEXT_PLAIN_H

#include "acp/base.h"

/*
 * Appends the text without colours, titles and other sequences for terminals.  A return takes back
 * the line, as a progress bar means it; a backspace takes back a character.  Of the control
 * characters only tabs and line ends stay.  Errors of the buffer.
 */
int plain_text(struct acp_str text, struct acp_buf *out);

#endif
