/* prompt_text.h - builds the prompt of a command line as content blocks. */
#ifndef SRC_CMD_PROMPT_TEXT_H
#define SRC_CMD_PROMPT_TEXT_H

#include "cli/command.h"
#include "cmd/shared_options.h"

/* The largest prompt, and the largest image before base64 encoding, which adds a third. */
enum { PROMPT_MAX_TEXT = 16 * 1024 * 1024, PROMPT_MAX_IMAGE = 20 * 1024 * 1024 };

/*
 * Appends the body of the prompt event: the file (or standard input), then --prompt and the
 * arguments, then the images, then `extra` as a text block unless it is empty.  A file that holds a
 * JSON array is a list of content blocks.  Returns the exit status; an error has been printed.
 */
int prompt_text_read(const struct invocation *invocation, const struct conversation_flags *options,
                     struct acp_str extra, struct acp_buf *ret_body);

#endif
