/*
 * shown_text.h - texts of an agent within what a person is asked: invisible and misleading
 * characters are made visible, and no line of theirs looks like one of ours.
 */
#ifndef SRC_CMD_SHOWN_TEXT_H
#define SRC_CMD_SHOWN_TEXT_H

#include "text/sanitize.h"

/* Appends the text as a part of a line. */
int shown_text_line(struct acp_buf *out, struct acp_str text);
/* Appends the text with a line end; each further line of it begins with "  | ". */
int shown_text_lines(struct acp_buf *out, enum sanitize_mode mode, struct acp_str text);

#endif
