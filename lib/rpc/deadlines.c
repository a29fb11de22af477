/* The heap of deadlines.  The peer keeps the timeouts of its requests in one. */
#include "rpc/deadlines.h"

#include <assert.h>
#include <stdlib.h>

enum { SMALLEST = 16 };

void acp_deadlines_finish(struct acp_deadlines *heap)
{
    free(heap->items);
    *heap = (struct acp_deadlines){0};
}

int acp_deadlines_reserve(struct acp_deadlines *heap, size_t more)
{
    if (more <= heap->cap - heap->count)
        return 0;
    size_t cap = heap->cap ? heap->cap * 2 : SMALLEST;
    if (cap < heap->count + more)
        cap = heap->count + more;
    struct acp_deadline **items = realloc(heap->items, cap * sizeof(struct acp_deadline *));
    if (!items)
        return ACP_ERR_NOMEM;
    heap->items = items;
    heap->cap = cap;
    return 0;
}

static void put(struct acp_deadlines *heap, size_t i, struct acp_deadline *item)
{
    heap->items[i] = item;
    item->place = i + 1;
}

static void sift_up(struct acp_deadlines *heap, size_t i, struct acp_deadline *item)
{
    while (i > 0 && item->when < heap->items[(i - 1) / 2]->when) {
        put(heap, i, heap->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(heap, i, item);
}

static void sift_down(struct acp_deadlines *heap, size_t i, struct acp_deadline *item)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->items[child + 1]->when < heap->items[child]->when)
            child++;
        if (heap->items[child]->when >= item->when)
            break;
        put(heap, i, heap->items[child]);
        i = child;
    }
    put(heap, i, item);
}

void acp_deadlines_push(struct acp_deadlines *heap, struct acp_deadline *item)
{
    assert(heap->count < heap->cap);
    sift_up(heap, heap->count++, item);
}

void acp_deadlines_remove(struct acp_deadlines *heap, struct acp_deadline *item)
{
    if (!item->place)
        return;
    size_t hole = item->place - 1;
    item->place = 0;
    struct acp_deadline *last = heap->items[--heap->count];
    if (last == item)
        return;
    if (hole > 0 && last->when < heap->items[(hole - 1) / 2]->when)
        sift_up(heap, hole, last);
    else
        sift_down(heap, hole, last);
}

struct acp_deadline *acp_deadlines_first(const struct acp_deadlines *heap)
{
    return heap->count ? heap->items[0] : NULL;
}
