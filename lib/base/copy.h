/* copy.h - texts of one's own. */
#ifndef LIB_BASE_COPY_H
#define LIB_BASE_COPY_H

#include <stdlib.h>

#include "acp/base.h"

/* A copy that ends in NUL and is freed by the caller; NULL when memory is out. */
static inline char *acp_str_copy(struct acp_str text)
{
    return acp_str_dup(text);
}

#endif
