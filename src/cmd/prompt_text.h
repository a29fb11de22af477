/* prompt_text.h - the prompt that a command line gives, as content blocks. */
#ifndef SRC_CMD_PROMPT_TEXT_H
#define SRC_CMD_PROMPT_TEXT_H

#include "cli/command.h"
#include "cmd/shared_options.h"

/* Longer prompts are refused; so are larger images, before they grow by a third in base64. */
enum { PROMPT_MAX_TEXT = 16 * 1024 * 1024, PROMPT_MAX_IMAGE = 20 * 1024 * 1024 };

/*
 * Appends the body of the prompt record: the file (or the standard input) first, then --prompt and
 * the words, then the images.  A file that is a JSON array is a list of content blocks.  extra,
 * which may be empty, is one more block of text.  Prints what is wrong and returns the exit status;
 * EXIT_OK when all is well.
 */
int prompt_text_read(const struct invocation *invocation, const struct conversation_flags *options,
                     struct acp_str extra, struct acp_buf *ret_body);

#endif
