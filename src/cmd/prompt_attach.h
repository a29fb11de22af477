/*
 * prompt_attach.h - files that are sent with a prompt, as content blocks: those of --file, and
 * those that the text of the prompt names, as in "explain @src/main.c".
 *
 *   - An image (PNG, JPEG, GIF, WebP, BMP, by its content) becomes an image block.
 *   - Text (UTF-8 without NUL) becomes an embedded resource.
 *   - Everything else, and what is larger than the limits, becomes a resource link.
 *
 * All have the file: URI, so that the conversation can make links of blocks that the agent does not
 * take.
 */
#ifndef SRC_CMD_PROMPT_ATTACH_H
#define SRC_CMD_PROMPT_ATTACH_H

#include "acp/files.h"
#include "acp/policy.h"
#include "acp/types.h"

enum {
    PROMPT_MAX_ATTACHED = 1024 * 1024,   /* bytes of a text that is embedded */
    PROMPT_MAX_IMAGE = 20 * 1024 * 1024, /* before base64 encoding, which adds a third */
    PROMPT_MAX_ATTACHMENTS = 64,         /* files that the text of a prompt names */
};

/* The content blocks of a prompt, in an arena of their own. */
struct prompt_parts {
    struct acp_arena arena;
    struct acp_content_block *blocks;
    size_t count;
};

/* A new block at the end, to be filled; NULL: out of memory. */
struct acp_content_block *prompt_parts_add(struct prompt_parts *parts);
/* Adds nothing if the text is empty.  0 or ACP_ERR_NOMEM. */
int prompt_parts_add_text(struct prompt_parts *parts, struct acp_str text);

/* Reads to the end of input.  -errno; -EFBIG when there is more than `most`. */
int prompt_read_all(int fd, size_t most, struct acp_buf *out);

/* By content: the extension of a file name may be wrong.  NULL: none that is known. */
const char *prompt_image_type(struct acp_str bytes);

/*
 * Adds a file that the user names.  Anything that can be read is taken, a pipe as well; "-" is
 * standard input.  option names the option in messages.  Returns the exit status.
 */
int prompt_attach_file(struct prompt_parts *parts, const char *option, const char *name);
/* The same, but only an image. */
int prompt_attach_image(struct prompt_parts *parts, const char *name);

/* Where files that the text names may be, and what the rules say about them. */
struct prompt_roots {
    struct acp_str cwd;
    struct acp_str_list directories;
    const struct acp_policy *policy; /* what it denies is not attached */
};

/*
 * Adds the files that the text names: "@" at the beginning of a word and a path, which may be in
 * double quotes, of a regular file in the roots.  The text itself stays as it is.  A word that
 * names no file is only text; a file outside of the roots, or one that the policy denies, is left
 * out with a message.  0 or ACP_ERR_NOMEM.
 */
int prompt_attach_mentions(struct prompt_parts *parts, struct acp_str text,
                           const struct prompt_roots *roots);

#endif
