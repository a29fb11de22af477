/* text_find.h - looking for words in names and in what services say. */
#ifndef SRC_MODEL_TEXT_FIND_H
#define SRC_MODEL_TEXT_FIND_H

#include "acp/base.h"

#define TEXT_NOWHERE SIZE_MAX

/* Where the word is first; TEXT_NOWHERE when it is not there. */
static inline size_t text_find(struct acp_str text, struct acp_str word)
{
    for (size_t i = 0; word.len && text.len >= word.len && i <= text.len - word.len; i++) {
        if (memcmp(text.ptr + i, word.ptr, word.len) == 0)
            return i;
    }
    return TEXT_NOWHERE;
}

static inline bool text_has(struct acp_str text, const char *word)
{
    return text_find(text, acp_str_from(word)) != TEXT_NOWHERE;
}

#endif
