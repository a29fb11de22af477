/*
 * jsonc.h - JSON with comments and trailing commas.
 *
 * To read it, comments and trailing commas are replaced by blanks in a copy, so that offsets and
 * lines stay correct, and the copy is passed to the JSON reader.  Edits insert and remove text, and
 * leave everything else unchanged byte for byte.
 */
#ifndef SRC_CONFIG_JSONC_H
#define SRC_CONFIG_JSONC_H

#include "acp/base.h"

/*
 * Writes text.len bytes: the text with blanks in place of comments, trailing commas and a byte
 * order mark; line ends are kept.  Valid JSON is not changed.  The rest of the syntax is not
 * checked.  ACP_ERR_SYNTAX for an unterminated comment, with its offset in failure, which may be
 * NULL.
 */
int jsonc_blank(struct acp_str text, char *out, struct acp_failure *failure);

/*
 * Checks the syntax of a text; an empty one is valid.  The error of the JSON reader with its offset
 * and a message in failure, or ACP_ERR_NOMEM.
 */
int jsonc_check(struct acp_str text, struct acp_failure *failure);

/* Lines and columns count from 1, columns in characters.  An offset after the end is the end. */
struct jsonc_position {
    size_t line;
    size_t column;
};
struct jsonc_position jsonc_position(struct acp_str text, size_t offset);

/*
 * Appends the text with one member changed.  path lists its keys from the outermost object inwards.
 * An existing member is replaced; otherwise it is added after the others, and missing objects on
 * the path are created.  An empty text is an empty object.  value is JSON, on one line or indented
 * by two spaces per level; it is adapted to the layout of its surroundings.
 *
 * ACP_ERR_SYNTAX and other errors of the JSON reader; ACP_ERR_TYPE if the text or a value on the
 * path is not an object; ACP_ERR_LIMIT, ACP_ERR_NOMEM.  failure may be NULL.
 */
int jsonc_set(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_raw value,
              struct acp_buf *out, struct acp_failure *failure);
/*
 * Appends the text without a member; lines that only it occupies are removed, including a comment
 * at the end of the last one.  Of several members with the name, the last one is removed.
 * ACP_ERR_UNKNOWN if there is no such member; other errors as above.
 */
int jsonc_remove(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_buf *out,
                 struct acp_failure *failure);

#endif
