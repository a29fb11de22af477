/*
 * The tail: a ring of bytes.  Terminals keep their output in one, processes their standard error.
 */
#include "io/tail.h"

#include <stdlib.h>

enum { SMALLEST = 4096 };

void acp_tail_init(struct acp_tail *tail, size_t limit)
{
    *tail = (struct acp_tail){.limit = limit};
}

void acp_tail_finish(struct acp_tail *tail)
{
    free(tail->data);
    acp_tail_init(tail, tail->limit);
}

/* A ring that has not reached its limit has never wrapped, so its content can stay where it is. */
static void grow(struct acp_tail *tail, size_t need)
{
    if (need > tail->limit)
        need = tail->limit;
    if (need <= tail->cap)
        return;
    size_t cap = tail->cap < SMALLEST ? SMALLEST : tail->cap;
    while (cap < need)
        cap *= 2;
    if (cap > tail->limit)
        cap = tail->limit;
    char *data = tail->start == 0 ? realloc(tail->data, cap) : NULL;
    if (!data)
        return;
    tail->data = data;
    tail->cap = cap;
}

void acp_tail_write(struct acp_tail *tail, struct acp_str text)
{
    if (text.len == 0)
        return;
    size_t room = SIZE_MAX - tail->len;
    grow(tail, text.len < room ? tail->len + text.len : SIZE_MAX);
    if (text.len > tail->cap) {
        tail->truncated = true;
        text.ptr += text.len - tail->cap;
        text.len = tail->cap;
        tail->len = 0;
        tail->start = 0;
    }
    if (tail->cap == 0)
        return;
    if (text.len > tail->cap - tail->len) {
        size_t drop = text.len - (tail->cap - tail->len);
        tail->truncated = true;
        tail->start = (tail->start + drop) % tail->cap;
        tail->len -= drop;
    }
    size_t at = (tail->start + tail->len) % tail->cap;
    size_t first = text.len < tail->cap - at ? text.len : tail->cap - at;
    memcpy(tail->data + at, text.ptr, first);
    memcpy(tail->data, text.ptr + first, text.len - first);
    tail->len += text.len;
}

/* How many bytes at the front belong to a character that has lost its beginning; at most three. */
static size_t cut_front(const struct acp_tail *tail)
{
    size_t n = 0;
    if (tail->truncated)
        while (n < tail->len && n < 3 &&
               ((unsigned char) tail->data[(tail->start + n) % tail->cap] & 0xC0) == 0x80)
            n++;
    return n;
}

size_t acp_tail_length(const struct acp_tail *tail)
{
    return tail->len - cut_front(tail);
}

int acp_tail_read(const struct acp_tail *tail, struct acp_buf *out)
{
    size_t skip = cut_front(tail);
    size_t n = tail->len - skip;
    if (n == 0)
        return 0;
    int err = acp_buf_reserve(out, n);
    if (err)
        return err;
    size_t at = (tail->start + skip) % tail->cap;
    size_t first = n < tail->cap - at ? n : tail->cap - at;
    (void) acp_buf_append(out, tail->data + at, first);
    (void) acp_buf_append(out, tail->data, n - first);
    return 0;
}
