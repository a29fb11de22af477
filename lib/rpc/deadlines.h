/*
 * deadlines.h - a binary heap of points in time, earliest first.
 *
 * Entries are embedded in what they belong to and know their place, so that one can be taken out
 * from the middle.  The heap owns only its array.
 */
#ifndef LIB_RPC_DEADLINES_H
#define LIB_RPC_DEADLINES_H

#include "acp/base.h"

struct acp_deadline {
    uint64_t when;
    size_t place; /* 1-based index in the heap; 0: not in it */
};

struct acp_deadlines {
    struct acp_deadline **items;
    size_t count;
    size_t cap;
};

void acp_deadlines_finish(struct acp_deadlines *heap);
/* Room for that many more, so that the pushes after it cannot fail.  ACP_ERR_NOMEM. */
int acp_deadlines_reserve(struct acp_deadlines *heap, size_t more);
void acp_deadlines_push(struct acp_deadlines *heap, struct acp_deadline *item);
/* Does nothing for an entry that is not in the heap. */
void acp_deadlines_remove(struct acp_deadlines *heap, struct acp_deadline *item);
/* The earliest; NULL when there is none. */
struct acp_deadline *acp_deadlines_first(const struct acp_deadlines *heap);

#endif
