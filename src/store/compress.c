/*
 * A block is a list of sequences: a byte with two lengths, literal bytes, and a match, which
 * repeats earlier bytes.  The upper half of the first byte is the number of literals, the lower
 * half that of the matched bytes less four; 15 means that more bytes of the length follow, up to
 * one that is not 255.  The distance of a match has two bytes, the low one first.  The last
 * sequence has literals only.  The format wants the last five bytes to be literals, and no match
 * to begin in the last twelve.
 */
#include "store/compress.h"

#include <stdint.h>
#include <string.h>

enum {
    LEAST_MATCH = 4, /* that a block can have */
    LAST_LITERALS = 5,
    LAST_MATCH = 12,
    LONG_LENGTH = 15,
    HASH_BITS = 12,
    /* After each 16 bytes without a match, the steps become longer by one. */
    PATIENCE_BITS = 4,
};

/* ---- Compressing ----------------------------------------------------------------------------- */

struct compressor {
    const unsigned char *in;
    size_t length;
    unsigned char *out;
    size_t at;
    size_t room;
    /* Where eight bytes with that hash were last; 0 also if they never were. */
    uint16_t seen[1 << HASH_BITS];
};

/* Matches of fewer bytes save little, and take long to find. */
static uint64_t bytes_at(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static size_t hash(uint64_t value)
{
    return (size_t) ((value * UINT64_C(0x9e3779b185ebca87)) >> (64 - HASH_BITS));
}

/* How many bytes two places have in common, up to a limit for the second. */
static size_t common(const unsigned char *a, const unsigned char *b, const unsigned char *end)
{
    const unsigned char *begin = b;
    while (end - b >= 8 && memcmp(a, b, 8) == 0) {
        a += 8;
        b += 8;
    }
    while (b < end && *a == *b) {
        a++;
        b++;
    }
    return (size_t) (b - begin);
}

static void put_length(struct compressor *c, size_t length)
{
    if (length < LONG_LENGTH)
        return;
    for (length -= LONG_LENGTH; length >= 255; length -= 255)
        c->out[c->at++] = 255;
    c->out[c->at++] = (unsigned char) length;
}

/* A match of no length ends the block.  False if there is no room. */
static bool put_sequence(struct compressor *c, const unsigned char *literals, size_t count,
                         size_t distance, size_t match)
{
    size_t extra = match ? match - LEAST_MATCH : 0;
    if (1 + count / 255 + 1 + count + 2 + extra / 255 + 1 > c->room - c->at)
        return false;
    size_t upper = count < LONG_LENGTH ? count : LONG_LENGTH;
    size_t lower = extra < LONG_LENGTH ? extra : LONG_LENGTH;
    c->out[c->at++] = (unsigned char) (upper << 4 | lower);
    put_length(c, count);
    memcpy(c->out + c->at, literals, count);
    c->at += count;
    if (match) {
        c->out[c->at++] = (unsigned char) distance;
        c->out[c->at++] = (unsigned char) (distance >> 8);
        put_length(c, extra);
    }
    return true;
}

static bool compress(struct compressor *c)
{
    const unsigned char *in = c->in;
    size_t done = 0;
    for (size_t at = 1; at + LAST_MATCH <= c->length;) {
        uint64_t value = bytes_at(in + at);
        uint16_t *seen = &c->seen[hash(value)];
        size_t before = *seen;
        *seen = (uint16_t) at;
        if (before >= at || bytes_at(in + before) != value) {
            at += 1 + ((at - done) >> PATIENCE_BITS);
            continue;
        }
        size_t match = LEAST_MATCH + common(in + before + LEAST_MATCH, in + at + LEAST_MATCH,
                                            in + c->length - LAST_LITERALS);
        if (!put_sequence(c, in + done, at - done, at - before, match))
            return false;
        at += match;
        done = at;
    }
    return put_sequence(c, in + done, c->length - done, 0, 0);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to through the struct */
size_t compress_text(struct acp_str text, char *ret, size_t room)
{
    struct compressor c = {.in = (const unsigned char *) text.ptr,
                           .length = text.len,
                           .out = (unsigned char *) ret,
                           .room = room};
    if (text.len == 0 || text.len > COMPRESS_MAX_BYTES || !compress(&c))
        return 0;
    return c.at;
}

/* ---- Decompressing --------------------------------------------------------------------------- */

struct decompressor {
    const unsigned char *in;
    const unsigned char *in_end;
    unsigned char *out;
    unsigned char *out_begin;
    unsigned char *out_end;
};

/* The rest of a length whose first four bits are given; false if the text ends in it. */
static bool take_length(struct decompressor *d, size_t *length)
{
    unsigned char more = *length == LONG_LENGTH ? 255 : 0;
    while (more == 255) {
        if (d->in == d->in_end)
            return false;
        more = *d->in++;
        *length += more;
    }
    return true;
}

static bool copy_literals(struct decompressor *d, size_t length)
{
    if (length > (size_t) (d->in_end - d->in) || length > (size_t) (d->out_end - d->out))
        return false;
    memcpy(d->out, d->in, length);
    d->in += length;
    d->out += length;
    return true;
}

/* The bytes that are repeated may overlap with those that are written. */
static bool copy_match(struct decompressor *d, size_t length)
{
    if (d->in_end - d->in < 2)
        return false;
    size_t distance = (size_t) d->in[0] | (size_t) d->in[1] << 8;
    d->in += 2;
    if (!take_length(d, &length))
        return false;
    length += LEAST_MATCH;
    if (distance == 0 || distance > (size_t) (d->out - d->out_begin) ||
        length > (size_t) (d->out_end - d->out))
        return false;
    if (distance >= length) {
        memcpy(d->out, d->out - distance, length);
        d->out += length;
    } else {
        for (; length > 0; length--, d->out++)
            *d->out = *(d->out - distance);
    }
    return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to through the struct */
bool decompress_text(struct acp_str compressed, char *ret, size_t size)
{
    struct decompressor d = {
        .in = (const unsigned char *) compressed.ptr,
        .in_end = (const unsigned char *) compressed.ptr + compressed.len,
        .out = (unsigned char *) ret,
        .out_begin = (unsigned char *) ret,
        .out_end = (unsigned char *) ret + size,
    };
    while (d.in < d.in_end) {
        unsigned char lengths = *d.in++;
        size_t literals = lengths >> 4;
        if (!take_length(&d, &literals) || !copy_literals(&d, literals))
            return false;
        if (d.in == d.in_end)
            break;
        if (!copy_match(&d, lengths & LONG_LENGTH))
            return false;
    }
    return d.out == d.out_end;
}
