/*
 * writer.h - the writer's inner workings, inline, for writer.c and for the codec, which spends its
 * time here.
 */
#ifndef LIB_JSON_WRITER_H
#define LIB_JSON_WRITER_H

#include "json/grammar.h"

/* Makes the buffer larger; NULL when the writer has failed, before or now. */
char *acp_write_grow(struct acp_json_writer *w, size_t n);

/* Room for n bytes behind what has been written. */
static inline char *acp_write_room(struct acp_json_writer *w, size_t n)
{
    const struct acp_buf *out = w->out;
    if (!w->err && n <= out->cap - out->start - out->len)
        return out->data + out->start + out->len;
    return acp_write_grow(w, n);
}

/* p is behind what has been written now. */
static inline void acp_write_end(struct acp_json_writer *w, const char *p)
{
    w->out->len = (size_t) (p - (w->out->data + w->out->start));
}

/* Bytes as they are, without a comma. */
static inline void acp_write_bytes(struct acp_json_writer *w, const char *bytes, size_t n)
{
    char *p = acp_write_room(w, n);
    if (!p)
        return;
    memcpy(p, bytes, n);
    acp_write_end(w, p + n);
}

/* A value that needs no care, with the comma that may be due before it. */
static inline void acp_write_value(struct acp_json_writer *w, const char *bytes, size_t n)
{
    char *p = acp_write_room(w, n + 1);
    if (!p)
        return;
    if (w->comma)
        *p++ = ',';
    memcpy(p, bytes, n);
    acp_write_end(w, p + n);
    w->comma = true;
}

#if ACP_JSON_SSE2
/* Copies sixteen bytes and adds those that are special to the sum. */
static inline __m128i acp_write_copy_16(char *out, const char *p, __m128i sum)
{
    __m128i v = acp_json_load(p);
    _mm_storeu_si128((__m128i *) (void *) out, v);
    return _mm_or_si128(sum, acp_json_special_bytes(v));
}
#endif

/* Copies a text that needs no care; false, with part of it copied, when it does. */
static inline bool acp_write_copy_plain(char *out, const char *p, size_t len)
{
#if ACP_JSON_SSE2
    if (len >= 16) {
        __m128i sum = _mm_setzero_si128();
        size_t i = 0;
        /* Looking at the sum is the dear part: only every 64 bytes. */
        for (; i + 64 <= len; i += 64) {
            for (size_t k = 0; k < 64; k += 16)
                sum = acp_write_copy_16(out + i + k, p + i + k, sum);
            if (_mm_movemask_epi8(sum))
                return false;
        }
        for (; i + 16 <= len; i += 16)
            sum = acp_write_copy_16(out + i, p + i, sum);
        /* The last sixteen bytes may overlap with those before. */
        sum = acp_write_copy_16(out + len - 16, p + len - 16, sum);
        return !_mm_movemask_epi8(sum);
    }
#endif
    if (acp_json_plain_any(p, p + len) != p + len)
        return false;
    memcpy(out, p, len);
    return true;
}

#endif
