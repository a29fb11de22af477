/* ascii.h - texts compared ignoring the case of ASCII letters. */
#ifndef LIB_BASE_ASCII_H
#define LIB_BASE_ASCII_H

#include "acp/base.h"

static inline char acp_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static inline bool acp_ascii_same(struct acp_str a, struct acp_str b)
{
    size_t i = 0;
    while (i < a.len && i < b.len && acp_ascii_lower(a.ptr[i]) == acp_ascii_lower(b.ptr[i]))
        i++;
    return a.len == b.len && i == a.len;
}

#endif
