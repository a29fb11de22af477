/* The peer, message by message: what is answered to what.  Tests carry the rule they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_rpc_host.h"

#define OK(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}\n"
#define ERROR(id, code, text)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ",\"message\":\"" text "\"}}\n"
#define INVALID(id, text) ERROR(id, "-32600", text)
#define NO_METHOD(id) ERROR(id, "-32601", "Method not found")
#define PARSE_ERROR ERROR("null", "-32700", "Parse error")
#define BATCH INVALID("null", "batches are not supported")
#define NO_MESSAGE(id) INVALID(id, "not a JSON-RPC 2.0 message")
#define BAD_ID INVALID("null", "id must be a string or an integer")
#define BAD_VERSION(id) INVALID(id, "jsonrpc must be \\\"2.0\\\"")
#define BAD_METHOD(id) INVALID(id, "method must be a string")
#define BAD_PARAMS(id) INVALID(id, "params must be an object or an array")
#define RPC "{\"jsonrpc\":\"2.0\","

struct row {
    const char *in;
    const char *out;
    const char *log;
};

/* Each row on a fresh peer, then a good request, which must be served: COM-RPC-09. */
static void check_rows(const struct acp_peer_options *options, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct host h;
        host_init(&h, options);
        host_feed(&h, rows[i].in);
        host_feed(&h, "\n");
        assert_string_equal(host_take(&h), rows[i].out);
        assert_string_equal(host_log(&h), rows[i].log);
        host_feed(&h, RPC "\"id\":\"next\",\"method\":\"echo\"}\n");
        assert_string_equal(host_take(&h), OK("\"next\"", "{}"));
        host_finish(&h);
    }
}

#define CHECK_ROWS(options, rows) check_rows((options), (rows), sizeof(rows) / sizeof((rows)[0]))

/* ---- Encoding ------------------------------------------------------------------------------- */

static void com_stdio_01_writes_utf8_only(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("a\xff\"b"), acp_raw_from(NULL)), 0);
    assert_string_equal(host_take(&h), RPC "\"method\":\"a\xef\xbf\xbd\\\"b\"}\n");
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":[\"\xff\"]}", PARSE_ERROR, "T0;"},
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":[\"\xc3\xa9\"]}", OK("1", "[\"\xc3\xa9\"]"),
         "R1:echo:[\"\xc3\xa9\"];"},
    };
    CHECK_ROWS(NULL, rows);
    host_finish(&h);
}

static void com_stdio_02_writes_no_line_end_inside_a_message(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(
        acp_peer_notify(h.peer, acp_str_from("n"), acp_raw_from("{\r\n\"a\":\n\"x\\n\"}")), 0);
    assert_string_equal(host_take(&h), RPC "\"method\":\"n\",\"params\":{  \"a\": \"x\\n\"}}\n");
    host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from("[\n1\n]")), 0);
    assert_string_equal(host_take(&h), OK("1", "[ 1 ]"));
    host_feed(&h, RPC "\"id\":2,\"method\":\"later\"}\n");
    assert_int_equal(
        acp_peer_error(h.peer, h.later, 5, acp_str_from("one\ntwo"), acp_raw_from("[\n1\n]")), 0);
    assert_string_equal(host_take(&h), RPC "\"id\":2,\"error\":{\"code\":5,\"message\":\"one\","
                                           "\"data\":[ 1 ]}}\n");
    host_finish(&h);
}

static void com_stdio_03_reads_crlf_and_empty_lines(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"\n\r\n" RPC "\"id\":1,\"method\":\"echo\"}\r\n \t\n" RPC "\"id\":2,\"method\":\"echo\"}",
         OK("1", "{}") OK("2", "{}"), "R1:echo:;R2:echo:;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_stdio_04_serves_a_last_line_without_end(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, RPC "\"id\":1,\"method\":\"echo\"}");
    assert_string_equal(host_take(&h), "");
    acp_peer_receive_end(h.peer, 0);
    assert_string_equal(host_take(&h), OK("1", "{}"));
    assert_string_equal(host_log(&h), "R1:echo:;X-18;");
    host_finish(&h);
}

static void com_stdio_12_bounds_one_message(void **state)
{
    (void) state;
    const struct acp_peer_options options = {.max_message = 80};
#define LONG                                                                                       \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define TOO_LARGE(id) INVALID(id, "message larger than the limit of 80 bytes")
    static const struct row rows[] = {
        {LONG, TOO_LARGE("null"), "T1;"},
        {RPC "\"method\":\"n\",\"params\":\"" LONG "\"}", TOO_LARGE("null"), "T1;"},
        /* Where the beginning tells which request it was, that one is answered. */
        {RPC "\"id\":\"a\",\"method\":\"n\",\"params\":\"" LONG "\"}", TOO_LARGE("\"a\""), "T1;"},
        {RPC "\"method\":\"n\",\"id\":7,\"params\":\"" LONG "\"}", TOO_LARGE("7"), "T1;"},
        {RPC "\"id\":1.5,\"method\":\"n\",\"params\":\"" LONG "\"}", TOO_LARGE("null"), "T1;"},
        {"{\"a\":\"" LONG "\"}", TOO_LARGE("null"), "T1;"},
        /* Of this id only "12" is left. */
        {RPC "\"method\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"id\":12345}",
         TOO_LARGE("null"), "T1;"},
        /* And where it tells that it was a response, nobody is. */
        {RPC "\"id\":0,\"result\":\"" LONG "\"}", "", "T1;"},
        {RPC "\"id\":0,\"error\":{\"message\":\"" LONG "\"}}", "", "T1;"},
    };
    CHECK_ROWS(&options, rows);

    struct host h;
    host_init(&h, &options);
    assert_int_equal(host_ask(&h, "big", NULL, 0), 0);
    (void) host_take(&h);
    host_feed(&h, RPC "\"id\":0,\"result\":\"" LONG LONG "\"}\n");
    assert_string_equal(host_log(&h), "A0:-2;T1;");
    assert_string_equal(host_take(&h), "");
    host_finish(&h);
}

static void com_stdio_13_other_framing_carries_the_same_messages(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(acp_peer_framing(h.peer), ACP_FRAMING_LINES);
    host_feed(&h, "Content-Length: 41\r\n\r\n" RPC "\"id\":1,\"method\":\"echo\"} ");
    assert_int_equal(acp_peer_framing(h.peer), ACP_FRAMING_CONTENT_LENGTH);
    assert_string_equal(host_take(&h), "Content-Length: 36\r\n\r\n" RPC "\"id\":1,\"result\":{}}");
    host_feed(&h, "garbage\r\n");
    assert_string_equal(host_log(&h), "R1:echo:;T0;");
    assert_string_equal(host_take(&h),
                        "Content-Length: 75\r\n\r\n" RPC "\"id\":null,\"error\":{\"code\":-32700,"
                        "\"message\":\"Parse error\"}}");
    host_finish(&h);
}

/* ---- Requests and notifications ------------------------------------------------------------- */

static void com_rpc_01_requires_version_2(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"{\"id\":1,\"method\":\"echo\"}", BAD_VERSION("1"), "T2;"},
        {"{\"jsonrpc\":\"1.0\",\"id\":\"x\",\"method\":\"echo\"}", BAD_VERSION("\"x\""), "T2;"},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"echo\"}", BAD_VERSION("1"), "T2;"},
        {"{\"jsonrpc\":null,\"id\":1,\"method\":\"echo\"}", BAD_VERSION("1"), "T2;"},
        {"{\"jsonrpc\":\"3.0\",\"id\":{},\"method\":\"echo\"}", BAD_ID, "T2;"},
        {"{\"method\":\"note\"}", "", "T2;"},
        {"{\"id\":9,\"result\":{}}", "", "T3;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_rpc_02_answers_once_with_the_same_id(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":{\"a\":[1]}}", OK("1", "{\"a\":[1]}"),
         "R1:echo:{\"a\":[1]};"},
        {RPC "\"method\":\"echo\",\"id\":\"1\"}", OK("\"1\"", "{}"), "R1:echo:;"},
        {RPC "\"id\":0,\"method\":\"echo\"}", OK("0", "{}"), "R1:echo:;"},
        {RPC "\"id\":-0,\"method\":\"echo\"}", OK("-0", "{}"), "R1:echo:;"},
        {RPC "\"id\":\"\",\"method\":\"echo\"}", OK("\"\"", "{}"), "R1:echo:;"},
        {RPC "\"id\":\"\\u00e9\\/\\\"\",\"method\":\"echo\"}", OK("\"\\u00e9\\/\\\"\"", "{}"),
         "R1:echo:;"},
        {RPC "\"id\":5,\"method\":\"fail\"}",
         RPC "\"id\":5,\"error\":{\"code\":-32000,\"message\":\"failed\",\"data\":{\"why\":1}}}\n",
         "R1:fail:;"},
        /* With a method it is a request, whatever else it has. */
        {RPC "\"id\":5,\"method\":\"echo\",\"result\":1}", OK("5", "{}"), "R1:echo:;"},
        {RPC "\"id\":5,\"method\":\"ec\\u0068o\",\"params\":null}", OK("5", "{}"), "R1:echo:;"},
    };
    CHECK_ROWS(NULL, rows);

    struct host h;
    host_init(&h, NULL);
    host_feed(&h, RPC "\"id\":\"a\",\"method\":\"later\"}\n");
    struct acp_raw id = acp_peer_call_id(h.peer, h.later);
    assert_true(id.len == 3 && memcmp(id.ptr, "\"a\"", 3) == 0);
    assert_int_equal(acp_peer_calls(h.peer), 1);
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from("1")), 0);
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from("2")), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_peer_error_for(h.peer, h.later, ACP_ERR_NOMEM), ACP_ERR_UNKNOWN);
    assert_non_null(acp_peer_begin_result(h.peer, h.later));
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_peer_result(h.peer, 0, acp_raw_from("2")), ACP_ERR_UNKNOWN);
    assert_null(acp_peer_call_id(h.peer, h.later).ptr);
    assert_int_equal(acp_peer_calls(h.peer), 0);
    assert_string_equal(host_take(&h), OK("\"a\"", "1"));
    host_finish(&h);
}

static void com_rpc_03_never_answers_a_notification(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"method\":\"note\",\"params\":{\"a\":1}}", "", "N:note:{\"a\":1};"},
        {RPC "\"method\":\"note\",\"params\":[]}", "", "N:note:[];"},
        {RPC "\"method\":\"note\",\"params\":null}", "", "N:note:;"},
        {RPC "\"method\":\"n\\u006fte\"}", "", "N:note:;"},
        {RPC "\"method\":\"\"}", "", "N::;"},
        {RPC "\"method\":7}", "", "T2;"},
        {RPC "\"method\":null}", "", "T2;"},
        {RPC "\"method\":\"note\",\"params\":7}", "", "T2;"},
        {RPC "\"method\":\"note\",\"params\":\"x\"}", "", "T2;"},
        {RPC "\"method\":\"note\",\"params\":true}", "", "T2;"},
        {"{\"jsonrpc\":\"1\",\"method\":\"note\"}", "", "T2;"},
        {RPC "\"method\":\"note\",\"error\":{}}", "", "N:note:;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_rpc_04_a_response_has_result_or_error(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    const char *results[] = {NULL, "null", "{}", "[1]", "7"};
    for (size_t i = 0; i < 5; i++) {
        host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
        assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(results[i])), 0);
        const char *out = host_take(&h);
        assert_non_null(strstr(out, "\"result\":"));
        assert_null(strstr(out, "\"error\":"));
    }
    host_feed(&h, RPC "\"id\":1,\"method\":\"fail\"}\n");
    const char *out = host_take(&h);
    assert_null(strstr(out, "\"result\":"));
    assert_non_null(strstr(out, "\"error\":"));
    host_finish(&h);
}

static void com_rpc_05_06_an_error_has_a_code_and_one_line(void **state)
{
    (void) state;
    static const struct {
        int64_t code;
        struct acp_str message;
        const char *want;
    } rows[] = {
        {-32000, ACP_STR("Out of luck"), "{\"code\":-32000,\"message\":\"Out of luck\"}"},
        {INT64_MIN, ACP_STR("a"), "{\"code\":-9223372036854775808,\"message\":\"a\"}"},
        {INT64_MAX, ACP_STR("a"), "{\"code\":9223372036854775807,\"message\":\"a\"}"},
        {1, ACP_STR("first\nsecond"), "{\"code\":1,\"message\":\"first\"}"},
        {1, ACP_STR("first\r\nsecond"), "{\"code\":1,\"message\":\"first\"}"},
        {1, ACP_STR("a\tb\x01\x7f\0c"), "{\"code\":1,\"message\":\"abc\"}"},
        {1, ACP_STR(""), "{\"code\":1,\"message\":\"Internal error\"}"},
        {1, ACP_STR("\n text"), "{\"code\":1,\"message\":\"Internal error\"}"},
        {1, ACP_STR(" \t "), "{\"code\":1,\"message\":\"Internal error\"}"},
        {1, {NULL, 0}, "{\"code\":1,\"message\":\"Internal error\"}"},
        {1, ACP_STR("say \"x\""), "{\"code\":1,\"message\":\"say \\\"x\\\"\"}"},
    };
    struct host h;
    host_init(&h, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
        assert_int_equal(
            acp_peer_error(h.peer, h.later, rows[i].code, rows[i].message, acp_raw_from(NULL)), 0);
        const char *out = host_take(&h);
        const char *error = strstr(out, "\"error\":") + strlen("\"error\":");
        assert_memory_equal(error, rows[i].want, strlen(rows[i].want));
        assert_string_equal(error + strlen(rows[i].want), "}\n");
    }
    /* Each of our own codes has its words. */
    for (int err = ACP_ERR_CLOSED; err < 0; err++) {
        host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
        assert_int_equal(acp_peer_error_for(h.peer, h.later, err), 0);
        assert_non_null(strstr(host_take(&h), acp_err_text(err)));
    }
    host_finish(&h);
}

static void com_rpc_07_answers_unparsable_bytes_and_reads_on(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"hello", PARSE_ERROR, "T0;"},
        {"{", PARSE_ERROR, "T0;"},
        {RPC "\"id\":1,\"method\":\"echo\"", PARSE_ERROR, "T0;"},
        {RPC "\"id\":1,\"method\":\"echo\"}}", PARSE_ERROR, "T0;"},
        {"{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"echo\"}", PARSE_ERROR, "T0;"},
        {"[1,]", PARSE_ERROR, "T0;"},
        {"\xef\xbb\xbf{}", PARSE_ERROR, "T0;"},
        {"x\ny", PARSE_ERROR PARSE_ERROR, "T0;T0;"},
    };
    CHECK_ROWS(NULL, rows);
    static const struct row silent[] = {
        {"hello", "", "T0;"},
        {"42", NO_MESSAGE("null"), "T2;"},
    };
    CHECK_ROWS((&(struct acp_peer_options){.ignore_parse_errors = true}), silent);
}

static void com_rpc_08_answers_what_is_no_message(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"42", NO_MESSAGE("null"), "T2;"},
        {"\"x\"", NO_MESSAGE("null"), "T2;"},
        {"null", NO_MESSAGE("null"), "T2;"},
        {"true", NO_MESSAGE("null"), "T2;"},
        {"{}", NO_MESSAGE("null"), "T2;"},
        {RPC "\"params\":{}}", NO_MESSAGE("null"), "T2;"},
        {RPC "\"id\":3}", NO_MESSAGE("3"), "T2;"},
        {RPC "\"id\":\"a\",\"params\":{}}", NO_MESSAGE("\"a\""), "T2;"},
        {RPC "\"id\":[1]}", NO_MESSAGE("null"), "T2;"},
        {RPC "\"id\":1,\"method\":2}", BAD_METHOD("1"), "T2;"},
        {RPC "\"id\":1,\"method\":null}", BAD_METHOD("1"), "T2;"},
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":1}", BAD_PARAMS("1"), "T2;"},
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":\"s\"}", BAD_PARAMS("1"), "T2;"},
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":false}", BAD_PARAMS("1"), "T2;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_rpc_10_never_answers_what_looks_like_a_response(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"id\":0,\"result\":{}}", "", "T3;"},
        {RPC "\"id\":0,\"error\":{\"code\":1,\"message\":\"m\"}}", "", "T3;"},
        {RPC "\"id\":\"0\",\"result\":1}", "", "T3;"},
        {RPC "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}", "", "T3;"},
        {RPC "\"result\":{}}", "", "T3;"},
        {RPC "\"error\":7}", "", "T3;"},
        {RPC "\"id\":0,\"result\":1,\"error\":2}", "", "T3;"},
        {"{\"result\":null}", "", "T3;"},
        {"{\"id\":{},\"error\":null}", "", "T3;"},
    };
    CHECK_ROWS(NULL, rows);
}

/* Each row is fed to a peer that waits for the replies to 0 and 1. */
static void com_rpc_11_settles_by_id_even_when_malformed(void **state)
{
    (void) state;
    static const struct {
        const char *in;
        const char *log;
    } rows[] = {
        {RPC "\"id\":0,\"result\":{\"a\":1}}", "A0:0:{\"a\":1};"},
        {RPC "\"result\":null,\"id\":1}", "A1:0:null;"},
        {RPC "\"id\":1,\"error\":{\"code\":-32000,\"message\":\"m\",\"data\":[1]}}",
         "A1:-14:-32000:m:[1];"},
        {RPC "\"id\":1,\"error\":{\"code\":-32000.0,\"message\":\"a\\u0062\"}}",
         "A1:-14:-32000:ab:;"},
        {RPC "\"id\":1,\"error\":{\"x\":{},\"message\":\"\",\"c\\u006fde\":1}}", "A1:-14:1::;"},
        /* Malformed, but it names the request. */
        {RPC "\"id\":1,\"error\":{\"code\":1.5,\"message\":\"m\"}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"code\":1e99,\"message\":\"m\"}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"m\"}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"code\":1,\"message\":null}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"code\":1}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"message\":\"m\"}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":{\"code\":1,\"message\":\"m\",\"code\":[]}}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":\"m\"}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":null}", "A1:-15;"},
        {RPC "\"id\":1,\"error\":[]}", "A1:-15;"},
        {RPC "\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"m\"}}", "A1:-15;"},
        {RPC "\"id\":1}", "A1:-15;"},
        {"{\"id\":1,\"result\":{}}", "A1:-15;"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}", "A1:-15;"},
        /* Other spellings are other ids. */
        {RPC "\"id\":\"1\",\"result\":{}}", "T3;"},
        {RPC "\"id\":1.0,\"result\":{}}", "T3;"},
        {RPC "\"id\":1e0,\"result\":{}}", "T3;"},
        {RPC "\"id\":-0,\"result\":{}}", "T3;"},
        {RPC "\"id\":2,\"result\":{}}", "T3;"},
        {RPC "\"id\":18446744073709551617,\"result\":{}}", "T3;"},
        {RPC "\"id\":null,\"result\":{}}", "T3;"},
        {RPC "\"id\":null,\"error\":{\"code\":-32600,\"message\":\"m\"}}", "T3;"},
        {RPC "\"result\":{}}", "T3;"},
        /* Once is enough. */
        {RPC "\"id\":0,\"result\":1}\n" RPC "\"id\":0,\"result\":2}", "A0:0:1;T3;"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct host h;
        host_init(&h, NULL);
        assert_int_equal(host_ask(&h, "a", NULL, 0), 0);
        assert_int_equal(host_ask(&h, "b", "{}", 0), 0);
        assert_string_equal(host_take(&h), RPC "\"id\":0,\"method\":\"a\"}\n" RPC
                                               "\"id\":1,\"method\":\"b\",\"params\":{}}\n");
        host_feed(&h, rows[i].in);
        host_feed(&h, "\n");
        assert_string_equal(host_log(&h), rows[i].log);
        assert_string_equal(host_take(&h), "");
        assert_int_equal(acp_peer_pending(h.peer), rows[i].log[0] == 'A' ? 1 : 2);
        host_finish(&h);
    }
}

static void com_rpc_12_answers_method_not_found(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"nothing\"}", NO_METHOD("1"), "R1:nothing:;"},
    };
    CHECK_ROWS(NULL, rows);
    /* An owner that serves no requests at all. */
    struct acp_peer *peer;
    assert_int_equal(acp_peer_new(NULL, NULL, NULL, &peer), 0);
    const char *in = RPC "\"id\":1,\"method\":\"echo\"}\n" RPC "\"method\":\"note\"}\nx\n";
    assert_int_equal(acp_peer_receive(peer, in, strlen(in), 0), 0);
    struct acp_str out = acp_peer_output(peer);
    assert_int_equal(out.len, strlen(NO_METHOD("1") PARSE_ERROR));
    assert_memory_equal(out.ptr, NO_METHOD("1") PARSE_ERROR, out.len);
    acp_peer_free(peer);
}

static void com_rpc_13_unknown_notifications_close_nothing(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"method\":\"whatever/is\"}", "", "N:whatever/is:;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_rpc_16_an_open_id_is_not_served_twice(void **state)
{
    (void) state;
#define DUPLICATE(id) INVALID(id, "a request with this id is still open")
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"later\"}\n" RPC "\"id\":1,\"method\":\"echo\"}", DUPLICATE("1"),
         "R1:later:;T4;"},
        {RPC "\"id\":\"a\",\"method\":\"later\"}\n" RPC "\"id\":\"\\u0061\",\"method\":\"echo\"}",
         DUPLICATE("\"\\u0061\""), "R1:later:;T4;"},
        {RPC "\"id\":\"\\u0061\",\"method\":\"later\"}\n" RPC "\"id\":\"a\",\"method\":\"echo\"}",
         DUPLICATE("\"a\""), "R1:later:;T4;"},
        {RPC "\"id\":0,\"method\":\"later\"}\n" RPC "\"id\":-0,\"method\":\"echo\"}",
         DUPLICATE("-0"), "R1:later:;T4;"},
        {RPC "\"id\":1,\"method\":\"later\"}\n" RPC "\"id\":\"1\",\"method\":\"echo\"}",
         OK("\"1\"", "{}"), "R1:later:;R2:echo:;"},
        {RPC "\"id\":1,\"method\":\"echo\"}\n" RPC "\"id\":1,\"method\":\"echo\"}",
         OK("1", "{}") OK("1", "{}"), "R1:echo:;R2:echo:;"},
    };
    CHECK_ROWS(NULL, rows);
    /* Ours count up, and those of an aborted request is not lost. */
    struct host h;
    host_init(&h, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    (void) host_take(&h);
    struct acp_request request = {.method = acp_str_from("m"), .reply = host_reply, .user = &h};
    assert_non_null(acp_peer_begin_request(h.peer, &request));
    acp_peer_abort(h.peer);
    uint64_t number = 77;
    assert_int_equal(acp_peer_request(h.peer, &request, acp_raw_from(NULL), &number), 0);
    assert_int_equal(number, 3);
    assert_string_equal(host_take(&h), RPC "\"id\":3,\"method\":\"m\"}\n");
    host_finish(&h);
}

static void com_rpc_17_keeps_ids_exactly(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"id\":9223372036854775807,\"method\":\"echo\"}", OK("9223372036854775807", "{}"),
         "R1:echo:;"},
        {RPC "\"id\":-9223372036854775808,\"method\":\"echo\"}", OK("-9223372036854775808", "{}"),
         "R1:echo:;"},
        {RPC "\"id\":9007199254740993,\"method\":\"echo\"}", OK("9007199254740993", "{}"),
         "R1:echo:;"},
        {RPC "\"id\":9223372036854775808,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":-9223372036854775809,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":99999999999999999999999,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":1.0,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":1e3,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":true,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":{},\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":[],\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":null,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":\"\xf0\x9f\xa6\x80\\ud83e\",\"method\":\"echo\"}",
         OK("\"\xf0\x9f\xa6\x80\\ud83e\"", "{}"), "R1:echo:;"},
    };
    CHECK_ROWS(NULL, rows);
    static const struct row null_rows[] = {
        {RPC "\"id\":null,\"method\":\"echo\"}", OK("null", "{}"), "R1:echo:;"},
        {RPC "\"id\":null,\"method\":\"later\"}\n" RPC "\"id\":null,\"method\":\"echo\"}",
         OK("null", "{}"), "R1:later:;R2:echo:;"},
        {RPC "\"id\":1.5,\"method\":\"echo\"}", BAD_ID, "T2;"},
        {RPC "\"id\":null,\"method\":1}", BAD_METHOD("null"), "T2;"},
    };
    CHECK_ROWS((&(struct acp_peer_options){.null_ids = true}), null_rows);
}

static void com_rpc_18_both_directions_are_open_at_once(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, RPC "\"id\":0,\"method\":\"later\"}\n");
    acp_call prompt = h.later;
    assert_int_equal(host_ask(&h, "permission", NULL, 0), 0); /* also with the id 0 */
    assert_string_equal(host_take(&h), RPC "\"id\":0,\"method\":\"permission\"}\n");
    host_feed(&h, RPC "\"id\":1,\"method\":\"echo\"}\n");
    assert_string_equal(host_take(&h), OK("1", "{}"));
    host_feed(&h, RPC "\"id\":0,\"result\":\"yes\"}\n");
    assert_string_equal(host_log(&h), "R1:later:;R2:echo:;A0:0:\"yes\";");
    assert_int_equal(acp_peer_calls(h.peer), 1);
    assert_int_equal(acp_peer_result(h.peer, prompt, acp_raw_from("\"done\"")), 0);
    assert_string_equal(host_take(&h), OK("0", "\"done\""));
    host_finish(&h);
}

static void com_rpc_19_output_keeps_its_order(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, RPC "\"id\":\"p\",\"method\":\"later\"}\n");
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("one"), acp_raw_from(NULL)), 0);
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("two"), acp_raw_from("[]")), 0);
    assert_int_equal(host_ask(&h, "three", NULL, 0), 0);
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), 0);
    assert_int_equal(h.outputs, 1);
    assert_string_equal(host_take(&h),
                        RPC "\"method\":\"one\"}\n" RPC "\"method\":\"two\",\"params\":[]}\n" RPC
                            "\"id\":0,\"method\":\"three\"}\n" OK("\"p\"", "{}"));
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("four"), acp_raw_from(NULL)), 0);
    assert_int_equal(h.outputs, 2);
    host_finish(&h);
}

static void com_rpc_21_answers_show_no_payload(void **state)
{
    (void) state;
    static const char *const secrets[] = {
        "sk-secret",
        "{\"key\":\"sk-secret\"",
        "{\"key\":\"sk-secret\"}",
        "[\"sk-secret\"]",
        RPC "\"id\":[\"sk-secret\"],\"method\":\"echo\"}",
        RPC "\"id\":1,\"method\":[\"sk-secret\"]}",
        RPC "\"id\":1,\"method\":\"echo\",\"params\":\"sk-secret\"}",
        RPC "\"id\":1,\"method\":\"sk-secret\"}",
    };
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        struct host h;
        host_init(&h, NULL);
        host_feed(&h, secrets[i]);
        host_feed(&h, "\n");
        const char *out = host_take(&h);
        assert_non_null(strstr(out, "\"error\""));
        assert_null(strstr(out, "secret"));
        host_finish(&h);
    }
}

static void com_rpc_22_an_empty_result_is_an_object(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    for (int i = 0; i < 3; i++) {
        host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
        if (i == 0)
            assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), 0);
        else if (i == 1)
            assert_int_equal(
                acp_peer_result(h.peer, h.later, acp_raw_n((const char *) acp_null(), 0)), 0);
        else if (acp_peer_begin_result(h.peer, h.later))
            assert_int_equal(acp_peer_commit(h.peer, NULL), 0);
        assert_string_equal(host_take(&h), OK("1", "{}"));
    }
    host_finish(&h);
}

/* Only the result of commit has to be looked at, whatever went wrong before. */
static void a_message_that_cannot_be_begun_fails_at_its_commit(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    struct acp_request request = {.method = acp_str_from("m"), .reply = host_reply, .user = &h};
    struct acp_json_writer *w = acp_peer_begin_notify(h.peer, acp_str_from(NULL));
    acp_json_write_null(w);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_ARGUMENT);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_STATE);
    acp_peer_abort(h.peer);
    acp_json_write_null(acp_peer_begin_result(h.peer, 99));
    acp_peer_abort(h.peer);
    assert_string_equal(host_take(&h), "");
    /* A second begin spoils the first, and what was there before stays whole. */
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    w = acp_peer_begin_request(h.peer, &request);
    acp_json_begin_array(w);
    w = acp_peer_begin_notify(h.peer, acp_str_from("x"));
    acp_json_write_null(w);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_STATE);
    assert_int_equal(acp_peer_pending(h.peer), 0);
    assert_string_equal(host_take(&h), RPC "\"method\":\"n\"}\n");
    /* After the close as well; a message that is open then fails with it. */
    (void) acp_peer_begin_notify(h.peer, acp_str_from("n"));
    acp_peer_close(h.peer, ACP_ERR_LIMIT);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_STATE);
    acp_json_write_null(acp_peer_begin_request(h.peer, &request));
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_CLOSED);
    assert_string_equal(host_log(&h), "X-2;");
    host_finish(&h);
}

static void the_word_for_cancelling_is_an_option(void **state)
{
    (void) state;
    struct host h;
    const struct acp_peer_options mcp = {.cancel_method = ACP_STR("notifications/cancelled"),
                                         .cancel_key = ACP_STR("requestId")};
    host_init(&h, &mcp);
    assert_int_equal(host_ask(&h, "a", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "b", NULL, 50), 0);
    (void) host_take(&h);
    assert_int_equal(acp_peer_cancel(h.peer, 0), 0);
    acp_peer_tick(h.peer, 1);
    acp_peer_tick(h.peer, 51);
    assert_string_equal(host_take(&h), RPC
                        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":0}}\n" RPC
                        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    assert_string_equal(host_log(&h), "A1:-16;");
    host_feed(&h, RPC "\"id\":7,\"method\":\"later\"}\n");
    host_feed(&h, RPC "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}\n" RPC
                      "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7,"
                      "\"reason\":\"x\"}}\n");
    assert_string_equal(host_log(&h), "R1:later:;N:$/cancel_request:{\"requestId\":7};C1;");
    host_finish(&h);
    /* None at all; and one request that is not to be cancelled. */
    host_init(&h, &(struct acp_peer_options){.cancel_method = ACP_STR("")});
    assert_int_equal(host_ask(&h, "a", NULL, 50), 0);
    (void) host_take(&h);
    acp_peer_tick(h.peer, 1);
    acp_peer_tick(h.peer, 51);
    assert_string_equal(host_take(&h), "");
    assert_string_equal(host_log(&h), "A0:-16;");
    host_finish(&h);
    host_init(&h, NULL);
    struct acp_request quiet = {.method = acp_str_from("m"),
                                .timeout_ms = 50,
                                .reply = host_reply,
                                .user = &h,
                                .no_cancel = true};
    assert_int_equal(acp_peer_request(h.peer, &quiet, acp_raw_from(NULL), NULL), 0);
    (void) host_take(&h);
    acp_peer_tick(h.peer, 1);
    acp_peer_tick(h.peer, 51);
    assert_string_equal(host_take(&h), "");
    assert_string_equal(host_log(&h), "A0:-16;");
    host_finish(&h);
}

static void com_rpc_25_26_payloads_pass_as_they_are(void **state)
{
    (void) state;
#define ODD                                                                                        \
    "{\"__proto__\":{\"a\":1},\"n\":123456789012345678901234567890.5e-9,\"n\":-0,\"\":\"\\ud800\"}"
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"echo\",\"params\":" ODD "}", OK("1", ODD), "R1:echo:" ODD ";"},
        {RPC "\"__proto__\":{\"method\":\"x\"},\"method\":\"note\"}", "", "N:note:;"},
        /* Of a key that comes twice the last one counts. */
        {RPC "\"id\":1,\"method\":\"fail\",\"id\":2,\"method\":\"echo\"}", OK("2", "{}"),
         "R1:echo:;"},
    };
    CHECK_ROWS(NULL, rows);
}

/* ---- Extensions ----------------------------------------------------------------------------- */

static void com_ext_05_11_unknown_notifications_are_ignored(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"method\":\"$/progress\",\"params\":{}}", "", "N:$/progress:{};"},
        {RPC "\"method\":\"_example.com/note\"}", "", "N:_example.com/note:;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_ext_08_09_10_custom_requests_are_answered(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {RPC "\"id\":1,\"method\":\"_example.com/do\",\"params\":{\"_meta\":{\"x\":1}}}",
         NO_METHOD("1"), "R1:_example.com/do:{\"_meta\":{\"x\":1}};"},
        {RPC "\"id\":\"c\",\"method\":\"$/do\"}", NO_METHOD("\"c\""), "R1:$/do:;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void com_ext_13_works_with_a_peer_that_knows_none(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("_x/note"), acp_raw_from(NULL)), 0);
    assert_int_equal(host_ask(&h, "_x/do", NULL, 0), 0);
    (void) host_take(&h);
    host_feed(&h, NO_METHOD("0") RPC "\"id\":1,\"method\":\"echo\"}\n");
    assert_string_equal(host_log(&h), "A0:-14:-32601:Method not found:;R1:echo:;");
    assert_string_equal(host_take(&h), OK("1", "{}"));
    host_finish(&h);
}

/* ---- Batches -------------------------------------------------------------------------------- */

static void v2_batch_04_tck_29_the_empty_array(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"[]", BATCH, "T2;"},
        {" [ ] ", BATCH, "T2;"},
    };
    CHECK_ROWS(NULL, rows);
}

static void v2_batch_05_tck_30_31_arrays_are_refused_and_not_executed(void **state)
{
    (void) state;
#define CALL RPC "\"id\":1,\"method\":\"echo\"}"
#define NOTE RPC "\"method\":\"note\"}"
#define REPLY RPC "\"id\":1,\"result\":{}}"
    static const struct row rows[] = {
        {"[" CALL "]", BATCH, "T2;"},
        {"[" CALL "," CALL "]", BATCH, "T2;"},
        {"[" NOTE "," CALL "]", BATCH, "T2;"},
        {"[" REPLY "," CALL "]", BATCH, "T2;"},
        {"[1,2]", BATCH, "T2;"},
        {"[" NOTE ",1]", BATCH, "T2;"},
        {"[[" NOTE "]]", BATCH, "T2;"},
        {"[{}]", BATCH, "T2;"},
        /* Nobody in these waits for an answer. */
        {"[" NOTE "]", "", "T2;"},
        {"[" NOTE "," NOTE "]", "", "T2;"},
        {"[{\"method\":1}]", "", "T2;"},
        {"[" REPLY "," REPLY "]", "", "T2;"},
        {"[{\"error\":1}]", "", "T2;"},
        {"[" REPLY "," NOTE "]", "", "T2;"},
    };
    CHECK_ROWS(NULL, rows);
}

/* ---- The writer ----------------------------------------------------------------------------- */

static void begin_and_commit_write_in_place(void **state)
{
    (void) state;
    static const struct acp_str key = ACP_STR("a");
    struct host h;
    host_init(&h, NULL);
    struct acp_request request = {.method = acp_str_from("ask"), .reply = host_reply, .user = &h};
    struct acp_json_writer *w = acp_peer_begin_request(h.peer, &request);
    assert_non_null(w);
    acp_json_begin_object(w);
    acp_json_write_key(w, key);
    acp_json_write_i64(w, 1);
    acp_json_end_object(w);
    uint64_t number = 9;
    assert_int_equal(acp_peer_commit(h.peer, &number), 0);
    assert_int_equal(number, 0);
    w = acp_peer_begin_notify(h.peer, acp_str_from("tell"));
    assert_non_null(w);
    acp_json_begin_array(w);
    acp_json_write_i64(w, 1);
    acp_json_write_i64(w, 2);
    acp_json_end_array(w);
    assert_int_equal(acp_peer_commit(h.peer, NULL), 0);
    assert_string_equal(host_take(&h), RPC "\"id\":0,\"method\":\"ask\",\"params\":{\"a\":1}}\n" RPC
                                           "\"method\":\"tell\",\"params\":[1,2]}\n");
    host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
    w = acp_peer_begin_result(h.peer, h.later);
    assert_non_null(w);
    acp_json_write_bool(w, true);
    acp_peer_abort(h.peer);
    assert_string_equal(host_take(&h), "");
    w = acp_peer_begin_result(h.peer, h.later);
    assert_non_null(w);
    acp_json_write_bool(w, true);
    assert_int_equal(acp_peer_commit(h.peer, NULL), 0);
    assert_string_equal(host_take(&h), OK("1", "true"));
    host_finish(&h);
}

/* What the writer refuses is not sent; a call is answered all the same. */
static void a_failed_writer_takes_the_message_back(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    struct acp_request request = {.method = acp_str_from("ask"), .reply = host_reply, .user = &h};
    struct acp_json_writer *w = acp_peer_begin_request(h.peer, &request);
    acp_json_write_f64(w, 1.0 / 0.0);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_RANGE);
    assert_int_equal(acp_peer_pending(h.peer), 0);
    w = acp_peer_begin_notify(h.peer, acp_str_from("tell"));
    acp_json_write_f64(w, 0.0 / 0.0);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_RANGE);
    assert_string_equal(host_take(&h), "");
    assert_int_equal(h.outputs, 0);
    host_feed(&h, RPC "\"id\":1,\"method\":\"later\"}\n");
    w = acp_peer_begin_result(h.peer, h.later);
    acp_json_write_f64(w, 1.0 / 0.0);
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_RANGE);
    assert_string_equal(host_take(&h), ERROR("1", "-32603", "Internal error"));
    assert_int_equal(acp_peer_calls(h.peer), 0);
    assert_string_equal(host_log(&h), "R1:later:;");
    host_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(com_stdio_01_writes_utf8_only),
        cmocka_unit_test(com_stdio_02_writes_no_line_end_inside_a_message),
        cmocka_unit_test(com_stdio_03_reads_crlf_and_empty_lines),
        cmocka_unit_test(com_stdio_04_serves_a_last_line_without_end),
        cmocka_unit_test(com_stdio_12_bounds_one_message),
        cmocka_unit_test(com_stdio_13_other_framing_carries_the_same_messages),
        cmocka_unit_test(com_rpc_01_requires_version_2),
        cmocka_unit_test(com_rpc_02_answers_once_with_the_same_id),
        cmocka_unit_test(com_rpc_03_never_answers_a_notification),
        cmocka_unit_test(com_rpc_04_a_response_has_result_or_error),
        cmocka_unit_test(com_rpc_05_06_an_error_has_a_code_and_one_line),
        cmocka_unit_test(com_rpc_07_answers_unparsable_bytes_and_reads_on),
        cmocka_unit_test(com_rpc_08_answers_what_is_no_message),
        cmocka_unit_test(com_rpc_10_never_answers_what_looks_like_a_response),
        cmocka_unit_test(com_rpc_11_settles_by_id_even_when_malformed),
        cmocka_unit_test(com_rpc_12_answers_method_not_found),
        cmocka_unit_test(com_rpc_13_unknown_notifications_close_nothing),
        cmocka_unit_test(com_rpc_16_an_open_id_is_not_served_twice),
        cmocka_unit_test(com_rpc_17_keeps_ids_exactly),
        cmocka_unit_test(com_rpc_18_both_directions_are_open_at_once),
        cmocka_unit_test(com_rpc_19_output_keeps_its_order),
        cmocka_unit_test(com_rpc_21_answers_show_no_payload),
        cmocka_unit_test(com_rpc_22_an_empty_result_is_an_object),
        cmocka_unit_test(a_message_that_cannot_be_begun_fails_at_its_commit),
        cmocka_unit_test(the_word_for_cancelling_is_an_option),
        cmocka_unit_test(com_rpc_25_26_payloads_pass_as_they_are),
        cmocka_unit_test(com_ext_05_11_unknown_notifications_are_ignored),
        cmocka_unit_test(com_ext_08_09_10_custom_requests_are_answered),
        cmocka_unit_test(com_ext_13_works_with_a_peer_that_knows_none),
        cmocka_unit_test(v2_batch_04_tck_29_the_empty_array),
        cmocka_unit_test(v2_batch_05_tck_30_31_arrays_are_refused_and_not_executed),
        cmocka_unit_test(begin_and_commit_write_in_place),
        cmocka_unit_test(a_failed_writer_takes_the_message_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
