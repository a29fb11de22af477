/* null.h - the block of zeros behind acp_null(), as the library itself sees it. */
#ifndef LIB_BASE_NULL_H
#define LIB_BASE_NULL_H

#include "acp/base.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
extern const uint64_t acp_null_block[ACP_NULL_SIZE / sizeof(uint64_t)];
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/* Zeros that are not null: what an empty list or an object without fields points to. */
static inline const void *acp_zeros(void)
{
    return acp_null_block + 1;
}

#endif
