/*
 * Fuzzes the reading of web pages.  The first byte chooses what the server says it is; whatever
 * stands there, the text is valid UTF-8 without control characters, and fits.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "text/page.h"

static void check_text(struct acp_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end;) {
        size_t n = acp_utf8_length(at, end);
        CHECK(n);
        CHECK((unsigned char) *at >= ' ' || *at == '\n' || *at == '\t');
        at += n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/html", "text/html; charset=iso-8859-1",
                                        "text/html; charset=utf-8", "text/plain", ""};
    if (!size)
        return 0;
    struct acp_str type = acp_str_from(types[data[0] % (sizeof(types) / sizeof(types[0]))]);
    struct acp_str body = acp_str_n((const char *) data + 1, size - 1);
    size_t most = data[0] & 0x80 ? 100 : 100 + 20 * size;
    struct acp_buf text;
    acp_buf_init(&text, most);
    (void) page_is_text(type, body);
    int err = page_text(type, body, &text);
    CHECK(err == 0 || err == ACP_ERR_LIMIT);
    CHECK(text.len <= most);
    if (text.len)
        check_text(acp_buf_view(&text));
    acp_buf_finish(&text);
    return 0;
}
