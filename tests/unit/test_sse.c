/* Server-sent events, however they are cut. */
#include "helpers.h"
#include "http/sse.h"

/* Reads a stream in pieces of that size; the events as "name|data;". */
static void read_stream(const char *stream, size_t size, bool ends, struct acp_buf *log)
{
    struct http_sse sse;
    struct http_sse_event event;
    int some = 0;
    http_sse_init(&sse, 64);
    size_t n = strlen(stream);
    for (size_t at = 0; at < n && some >= 0; at += size) {
        size_t part = n - at < size ? n - at : size;
        struct acp_raw piece = test_exact(acp_raw_n(stream + at, part));
        http_sse_feed(&sse, acp_str_n(piece.ptr, piece.len));
        while ((some = http_sse_next(&sse, &event)) > 0)
            assert_int_equal(acp_buf_printf(log, "%.*s|%.*s;", (int) event.name.len, event.name.ptr,
                                            (int) event.data.len, event.data.ptr),
                             0);
        test_exact_free(piece);
    }
    if (ends && some == 0) {
        http_sse_end(&sse);
        while ((some = http_sse_next(&sse, &event)) > 0)
            assert_int_equal(acp_buf_printf(log, "%.*s|%.*s;", (int) event.name.len, event.name.ptr,
                                            (int) event.data.len, event.data.ptr),
                             0);
    }
    if (some < 0) {
        assert_int_equal(acp_buf_printf(log, "%s", acp_err_name(some)), 0);
        assert_int_equal(http_sse_next(&sse, &event), some);
    }
    http_sse_finish(&sse);
}

static const struct {
    const char *stream;
    bool ends;
    const char *events;
} rows[] = {
    {"data: a\n\n", false, "|a;"},
    {"data: a\r\n\r\n", false, "|a;"},
    {"data: a\r\rdata: b\r\r", false, "|a;|b;"},
    {"data: a\n\r\n\r\ndata: b\n\n", false, "|a;|b;"},
    {"event: x\ndata: a\n\ndata: b\n\n", false, "x|a;|b;"},
    {"data: a\ndata: b\n\n", false, "|a\nb;"},
    {"data\n\n", false, "|;"},
    {"data:\ndata:\n\n", false, "|\n;"},
    {"data:a\n\ndata:  b\n\n", false, "|a;| b;"},
    {": comment\n\n:\n\ndata: a\n\n", false, "|a;"},
    {"event: lost\n\ndata: a\n\n", false, "|a;"},
    {"id: 7\nretry: 10\nother: x\ndata: a\n\n", false, "|a;"},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     false, "|a;"},
    {"data: \xEF\xBB\xBF\n\n", false, "|\xEF\xBB\xBF;"},
    {"data: a\n", false, ""},
    {"data: a\n", true, "|a;"},
    {"data: a", true, "|a;"},
    {"data: a\n\n", true, "|a;"},
    {"event: x\n", true, ""},
    {"data: 1234567890123456789012345678901234567890123456789012345678901234567890\n\n", false,
     "LIMIT"},
    {"data: 12345678901234567890123456789012345\ndata: 12345678901234567890123456789012345\n\n",
     false, "LIMIT"},
    {"data: ok\n\n:234567890123456789012345678901234567890123456789012345678901234567890\n\n",
     false, "|ok;LIMIT"},
};

static void test_streams(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t size = 1; size < 100; size++) {
            struct acp_buf log;
            acp_buf_init(&log, 4096);
            read_stream(rows[i].stream, size, rows[i].ends, &log);
            CHECK_ROW(strcmp(test_cstr(&log), rows[i].events) == 0, i, "in pieces of %zu: %s", size,
                      test_cstr(&log));
            acp_buf_finish(&log);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
