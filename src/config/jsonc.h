/*
 * jsonc.h - JSON as people write it: with comments and commas behind the last item.
 *
 * It is read by blanking what JSON does not have in a copy, so that offsets and lines stay right,
 * and giving that to the JSON reader.  It is edited by inserting and cutting text, so that
 * everything else stays as it was, byte for byte.
 */
#ifndef SRC_CONFIG_JSONC_H
#define SRC_CONFIG_JSONC_H

#include "acp/base.h"

/*
 * Writes text.len bytes: the text with spaces in place of comments, of a comma behind a last item,
 * and of a byte order mark; line ends stay.  A text that is JSON comes out as it is.  Nothing else
 * is checked: that is for the JSON reader.  ACP_ERR_SYNTAX when a comment does not end, with the
 * place of its beginning in failure, which may be NULL.
 */
int jsonc_blank(struct acp_str text, char *out, struct acp_failure *failure);

/* Lines and columns from 1; columns in characters.  An offset behind the end is the end. */
struct jsonc_place {
    size_t line;
    size_t column;
};
struct jsonc_place jsonc_place(struct acp_str text, size_t offset);

/*
 * Appends the text with one member changed.  path names it by keys from the outermost object in.
 * What is there under that name is replaced, else the member is added behind the others, with
 * objects above it made where they are missing.  An empty text counts as an empty object.  value is
 * JSON, on one line or in lines with two spaces a level; it gets the indentation of what is around
 * it, and is put on one line where that is.
 *
 * ACP_ERR_SYNTAX and the like when the text is not JSON with comments, ACP_ERR_TYPE when it, or
 * something on the path, is no object, ACP_ERR_LIMIT, ACP_ERR_NOMEM.  failure may be NULL.
 */
int jsonc_set(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_raw value,
              struct acp_buf *out, struct acp_failure *failure);
/*
 * Appends the text without that member; where its lines were its alone, they go too, with a comment
 * at the end of the last.  Of several with the same name the last one goes.  ACP_ERR_UNKNOWN when
 * it is not there, others as above.
 */
int jsonc_remove(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_buf *out,
                 struct acp_failure *failure);

#endif
