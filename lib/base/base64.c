/*
 * Base64 (RFC 4648, section 4), which carries the bytes of terminals, images and sounds in JSON.
 *
 * Three bytes are four characters of six bits each.  Decoding looks every character up in a table
 * whose entries for other characters have the sign bit set, so that a group of four is checked with
 * one comparison.
 */
#include <stdio.h>

#include "acp/base.h"

static const char alphabet[64] = {
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P',
    'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b', 'c', 'd', 'e', 'f',
    'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v',
    'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/',
};

enum { NONE = -1 };

/* clang-format off */
static const int8_t sextets[256] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 62, -1, -1, -1, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1, -1, -1, -1, -1, -1,
    -1,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, -1,
    -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};
/* clang-format on */

/* ---- Encoding ------------------------------------------------------------------------------- */

static void put_group(char *to, uint32_t bits)
{
    to[0] = alphabet[bits >> 18 & 63];
    to[1] = alphabet[bits >> 12 & 63];
    to[2] = alphabet[bits >> 6 & 63];
    to[3] = alphabet[bits & 63];
}

int acp_base64_encode(struct acp_buf *out, const void *bytes, size_t n)
{
    if (n == 0)
        return 0;
    if (n > SIZE_MAX / 4 * 3 - 3)
        return ACP_ERR_LIMIT;
    size_t size = (n + 2) / 3 * 4;
    int err = acp_buf_reserve(out, size);
    if (err)
        return err;
    const unsigned char *from = bytes;
    char *to = out->data + out->start + out->len;
    size_t rest = n;
    for (; rest >= 3; rest -= 3, from += 3, to += 4)
        put_group(to, (uint32_t) from[0] << 16 | (uint32_t) from[1] << 8 | from[2]);
    if (rest) {
        put_group(to, (uint32_t) from[0] << 16 | (rest == 2 ? (uint32_t) from[1] << 8 : 0));
        to[3] = '=';
        if (rest == 1)
            to[2] = '=';
    }
    out->len += size;
    return 0;
}

/* ---- Decoding ------------------------------------------------------------------------------- */

static size_t padding_of(struct acp_str text)
{
    if (text.len == 0 || text.ptr[text.len - 1] != '=')
        return 0;
    return text.len > 1 && text.ptr[text.len - 2] == '=' ? 2 : 1;
}

size_t acp_base64_decoded_size(struct acp_str text)
{
    return text.len < 4 ? 0 : text.len / 4 * 3 - padding_of(text);
}

static int32_t sextet(char c)
{
    return sextets[(unsigned char) c];
}

static int fail(struct acp_failure *failure, size_t offset, const char *message)
{
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_RANGE, .offset = offset};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", message);
    }
    return ACP_ERR_RANGE;
}

static int fail_character(struct acp_failure *failure, struct acp_str text, size_t at)
{
    while (at < text.len && sextet(text.ptr[at]) != NONE)
        at++;
    return fail(failure, at,
                at < text.len && text.ptr[at] == '='
                    ? "padding of base64 before its end"
                    : "a character that is not part of the base64 alphabet");
}

/* The last group, of which one or two characters are padding; the bits they hide must be zero. */
static int decode_padded(struct acp_str text, size_t padding, char *to, struct acp_failure *failure)
{
    size_t at = text.len - 4;
    int32_t a = sextet(text.ptr[at]);
    int32_t b = sextet(text.ptr[at + 1]);
    int32_t c = padding == 1 ? sextet(text.ptr[at + 2]) : 0;
    if ((a | b | c) < 0)
        return fail_character(failure, text, at);
    if (padding == 2 ? b & 15 : c & 3)
        return fail(failure, text.len - padding - 1, "base64 with bits behind its end");
    to[0] = (char) (a << 2 | b >> 4);
    if (padding == 1)
        to[1] = (char) (b << 4 | c >> 2);
    return 0;
}

int acp_base64_decode(struct acp_buf *out, struct acp_str text, struct acp_failure *failure)
{
    if (text.len % 4)
        return fail(failure, text.len, "base64 that does not end with a group of four characters");
    if (text.len == 0)
        return 0;
    size_t padding = padding_of(text);
    size_t size = acp_base64_decoded_size(text);
    int err = acp_buf_reserve(out, size);
    if (err)
        return err;
    char *to = out->data + out->start + out->len;
    size_t whole = padding ? text.len - 4 : text.len;
    for (size_t i = 0; i < whole; i += 4, to += 3) {
        int32_t a = sextet(text.ptr[i]);
        int32_t b = sextet(text.ptr[i + 1]);
        int32_t c = sextet(text.ptr[i + 2]);
        int32_t d = sextet(text.ptr[i + 3]);
        if ((a | b | c | d) < 0)
            return fail_character(failure, text, i);
        to[0] = (char) (a << 2 | b >> 4);
        to[1] = (char) (b << 4 | c >> 2);
        to[2] = (char) (c << 6 | d);
    }
    err = padding ? decode_padded(text, padding, to, failure) : 0;
    if (!err)
        out->len += size;
    return err;
}
