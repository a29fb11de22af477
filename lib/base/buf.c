/* The bounded buffer: bytes that grow at the end and are consumed from the front. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/base.h"

enum { SMALLEST = 256 };

void acp_buf_init(struct acp_buf *buf, size_t max)
{
    *buf = (struct acp_buf){.max = max};
}

void acp_buf_finish(struct acp_buf *buf)
{
    free(buf->data);
    acp_buf_init(buf, buf->max);
}

void acp_buf_clear(struct acp_buf *buf)
{
    buf->start = 0;
    buf->len = 0;
}

/* Moves the content to the front, so that the space before it can be used again. */
static void compact(struct acp_buf *buf)
{
    if (buf->start && buf->len)
        memmove(buf->data, buf->data + buf->start, buf->len);
    buf->start = 0;
}

int acp_buf_grow(struct acp_buf *buf, size_t n)
{
    if (n > buf->max || buf->len > buf->max - n)
        return ACP_ERR_LIMIT;
    size_t need = buf->len + n;
    /* Compacting pays only when it frees at least as much as it moves. */
    if (need <= buf->cap && buf->start >= buf->len) {
        compact(buf);
        return 0;
    }
    size_t cap = buf->cap < SMALLEST ? SMALLEST : buf->cap;
    if (need <= buf->cap)
        cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (cap > buf->max)
        cap = buf->max;
    compact(buf);
    if (cap == buf->cap)
        return 0;
    char *data = realloc(buf->data, cap);
    if (!data)
        return ACP_ERR_NOMEM;
    buf->data = data;
    buf->cap = cap;
    return 0;
}

char *acp_str_dup(struct acp_str text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

int acp_buf_append_str(struct acp_buf *buf, struct acp_str text)
{
    return acp_buf_append(buf, text.ptr, text.len);
}

int acp_buf_printf(struct acp_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    int err = n < 0 ? ACP_ERR_ARGUMENT : acp_buf_reserve(buf, (size_t) n + 1);
    if (err)
        return err;
    va_start(args, format);
    (void) vsnprintf(buf->data + buf->start + buf->len, (size_t) n + 1, format, args);
    va_end(args);
    buf->len += (size_t) n;
    return 0;
}

void acp_buf_consume(struct acp_buf *buf, size_t n)
{
    assert(n <= buf->len);
    buf->start += n;
    buf->len -= n;
    if (buf->len == 0)
        buf->start = 0;
}

void acp_buf_truncate(struct acp_buf *buf, size_t n)
{
    assert(n <= buf->len);
    buf->len = n;
    if (n == 0)
        buf->start = 0;
}
