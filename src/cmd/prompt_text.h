/* prompt_text.h - builds the prompt of a command line as content blocks. */
#ifndef SRC_CMD_PROMPT_TEXT_H
#define SRC_CMD_PROMPT_TEXT_H

#include "cli/command.h"
#include "cmd/prompt_attach.h"
#include "cmd/shared_options.h"

/* The largest prompt. */
enum { PROMPT_MAX_TEXT = 16 * 1024 * 1024 };

/*
 * Appends the body of the prompt event.  The prompt is --prompt-file, or --prompt and the
 * arguments, or both; without these the first --file, or standard input.  A file that is the prompt
 * may be a JSON array: a list of content blocks.
 *
 * Behind it come the files that the arguments name ("@src/main.c"), the other --file as
 * attachments, the images, and what was piped to the command (see prompt_stdin.h) between <stdin>
 * and </stdin>; at last `extra` as a text block unless it is empty.  Returns the exit status; an
 * error has been printed.
 */
int prompt_text_read(const struct invocation *invocation, const struct conversation_flags *options,
                     const struct prompt_roots *roots, struct acp_str extra,
                     struct acp_buf *ret_body);

#endif
