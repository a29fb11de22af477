/* trim.h - a text without the blanks and line ends around it. */
#ifndef LIB_BASE_TRIM_H
#define LIB_BASE_TRIM_H

#include "acp/base.h"

static inline struct acp_str acp_str_trim(struct acp_str text)
{
    while (text.len && memchr(" \t\r\n", text.ptr[0], 4))
        text = acp_str_n(text.ptr + 1, text.len - 1);
    while (text.len && memchr(" \t\r\n", text.ptr[text.len - 1], 4))
        text.len--;
    return text;
}

#endif
