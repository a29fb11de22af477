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

/*
 * The same for a text that is kept for long and mostly short: in the room beside its owner when it
 * fits there.  Many small pieces of memory that outlive their neighbours hold a page each.
 */
static inline char *acp_str_copy_to_room(struct acp_str text, char *room, size_t size)
{
    if (text.len >= size)
        return acp_str_copy(text);
    if (text.len)
        memmove(room, text.ptr, text.len);
    room[text.len] = '\0';
    return room;
}

/* Frees what the function above has returned; takes NULL. */
static inline void acp_str_free_from_room(char *text, const char *room)
{
    if (text != room)
        free(text);
}

#endif
