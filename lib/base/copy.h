/* copy.h - texts of one's own. */
#ifndef LIB_BASE_COPY_H
#define LIB_BASE_COPY_H

#include <stdlib.h>

#include "acp/base.h"

/* A copy that ends in NUL and is freed by the caller; NULL when memory is out. */
static inline char *acp_str_copy(struct acp_str text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

#endif
