/* The texts between a fetch and its helper. */
#include "http/fetch_text.h"

#include <inttypes.h>
#include <limits.h>

/* ---- Texts and numbers ----------------------------------------------------------------------- */

static int put_text(struct acp_buf *out, const char *text)
{
    return acp_buf_append(out, text, strlen(text) + 1);
}

static int put_number(struct acp_buf *out, uint64_t number)
{
    int err = acp_buf_printf(out, "%" PRIu64, number);
    return err ? err : acp_buf_append(out, "", 1);
}

/* Takes one text off the front. */
static int take_text(struct acp_str *rest, const char **ret)
{
    const char *end = rest->len ? memchr(rest->ptr, '\0', rest->len) : NULL;
    if (!end)
        return ACP_ERR_MALFORMED;
    *ret = rest->ptr;
    rest->len -= (size_t) (end + 1 - rest->ptr);
    rest->ptr = end + 1;
    return 0;
}

static int take_number(struct acp_str *rest, uint64_t max, uint64_t *ret)
{
    const char *text = NULL;
    uint64_t number = 0;
    int err = take_text(rest, &text);
    if (err || !*text)
        return ACP_ERR_MALFORMED;
    for (; *text; text++) {
        unsigned digit = (unsigned char) *text - (unsigned) '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return ACP_ERR_MALFORMED;
        number = number * 10 + digit;
    }
    if (number > max)
        return ACP_ERR_MALFORMED;
    *ret = number;
    return 0;
}

/* ---- The request ----------------------------------------------------------------------------- */

int fetch_write_ask(const struct http_ask *ask, struct acp_buf *out)
{
    if (ask->header_count > FETCH_MAX_HEADERS)
        return ACP_ERR_LIMIT;
    int err = put_text(out, ask->url);
    const uint64_t numbers[] = {ask->connect_ms, ask->stall_ms, ask->total_ms, ask->max_body};
    for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        err = put_number(out, numbers[i]);
    for (size_t i = 0; !err && i < ask->header_count; i++) {
        err = put_text(out, ask->headers[i].name);
        if (!err)
            err = put_text(out, ask->headers[i].value);
    }
    return err ? err : put_text(out, "");
}

int fetch_read_ask(struct acp_str text, struct http_header headers[FETCH_MAX_HEADERS],
                   struct http_ask *ret)
{
    struct http_ask ask = {.headers = headers};
    const char *name = "";
    int err = take_text(&text, &ask.url);
    uint64_t *const numbers[] = {&ask.connect_ms, &ask.stall_ms, &ask.total_ms, &ask.max_body};
    for (size_t i = 0; !err && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        err = take_number(&text, UINT64_MAX, numbers[i]);
    while (!err && (err = take_text(&text, &name)) == 0 && *name) {
        if (ask.header_count == FETCH_MAX_HEADERS)
            return ACP_ERR_MALFORMED;
        headers[ask.header_count].name = name;
        err = take_text(&text, &headers[ask.header_count++].value);
    }
    if (err)
        return err;
    *ret = ask;
    return 0;
}

/* ---- The answer ------------------------------------------------------------------------------ */

int fetch_write_head(const struct http_end *end, size_t length, struct acp_buf *out)
{
    int err = put_number(out, (uint64_t) end->trouble);
    if (!err)
        err = put_number(out, (uint64_t) end->status);
    if (!err)
        err = put_number(out, length);
    return err ? err : put_text(out, end->sentence);
}

int fetch_read_answer(struct acp_str text, struct http_fetched *ret)
{
    struct http_fetched fetched = {0};
    uint64_t trouble = 0;
    uint64_t status = 0;
    uint64_t length = 0;
    int err = take_number(&text, HTTP_NO_MEMORY, &trouble);
    if (!err)
        err = take_number(&text, INT_MAX, &status);
    if (!err)
        err = take_number(&text, UINT64_MAX, &length);
    if (!err)
        err = take_text(&text, &fetched.end.sentence);
    if (err || text.len != length)
        return ACP_ERR_MALFORMED;
    fetched.end.trouble = (enum http_trouble) trouble;
    fetched.end.status = (int) status;
    fetched.body = text;
    *ret = fetched;
    return 0;
}
