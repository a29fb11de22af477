/*
 * Fuzzes the leaving out of secrets.  The input is planted where secrets live, with a marker in it
 * that must not come out again.
 */
#include "config/redact.h"
#include "fuzz.h"

#define MARKER "mArKeR9mArKeR9mArKeR9mArKeR9"

static bool has_marker(struct acp_str text)
{
    size_t n = sizeof(MARKER) - 1;
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, MARKER, n) == 0)
            return true;
    return false;
}

static void check(struct acp_buf *out)
{
    CHECK(!has_marker(acp_buf_view(out)));
    acp_buf_clear(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_buf text;
    struct acp_buf out;
    /* One that the fuzzer has put there itself may be anywhere, also where nothing is hidden. */
    if (has_marker(acp_str_n((const char *) data, size)))
        return 0;
    acp_buf_init(&text, size + 200);
    acp_buf_init(&out, 8 * size + 400);
    /* As a password, with whatever around it that stays before the host. */
    (void) acp_buf_printf(&text, "https://" MARKER "@");
    (void) acp_buf_append(&text, data, size);
    (void) redact_url(acp_buf_view(&text), &out);
    if (!memchr(data, '@', size))
        check(&out);
    /* In the query. */
    acp_buf_clear(&text);
    (void) acp_buf_printf(&text, "https://a.b/?");
    (void) acp_buf_append(&text, data, size);
    (void) acp_buf_printf(&text, "=" MARKER);
    acp_buf_clear(&out);
    (void) redact_url(acp_buf_view(&text), &out);
    check(&out);
    /* As the value of an option, whatever it begins with. */
    acp_buf_clear(&text);
    (void) acp_buf_printf(&text, "--token=");
    (void) acp_buf_append(&text, data, size);
    (void) acp_buf_printf(&text, MARKER);
    (void) redact_argument(NULL, acp_buf_view(&text), &out);
    check(&out);
    /* And as it is. */
    (void) redact_url(acp_str_n((const char *) data, size), &out);
    acp_buf_clear(&out);
    (void) redact_argument("-H", acp_str_n((const char *) data, size), &out);
    (void) redact_argument(NULL, acp_str_n((const char *) data, size), &out);
    acp_buf_finish(&text);
    acp_buf_finish(&out);
    return 0;
}
