/* The routing scan: envelopes of every kind and order, where the session is, splicing. */
#include "helpers.h"

#include "acp/json.h"
#include "acp/scan.h"

#define assert_span(span, want)                                                                    \
    do {                                                                                           \
        char want_[512];                                                                           \
        const char *text_ = (want);                                                                \
        if (text_) {                                                                               \
            struct acp_raw raw_ = test_quoted(text_, want_, sizeof(want_));                        \
            assert_non_null((span).ptr);                                                           \
            assert_int_equal((span).len, raw_.len);                                                \
            assert_memory_equal((span).ptr, raw_.ptr, raw_.len);                                   \
        } else {                                                                                   \
            assert_null((span).ptr);                                                               \
        }                                                                                          \
    } while (0)

static void scan_ok(const char *text, const char *key, struct acp_scan *ret, char *out, size_t size)
{
    size_t at = 0;
    int err = acp_scan_message(test_quoted(text, out, size), acp_str_from(key), ret, &at);
    if (err) {
        print_error("%s: %s at %zu\n", text, acp_err_name(err), at);
        fail();
    }
}

/* ---- Kinds ---------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum acp_scan_kind kind;
    bool version_ok;
    const char *id;
    const char *method;
    const char *session;
} kinds[] = {
    {"{'jsonrpc':'2.0','id':1,'method':'m'}", ACP_SCAN_REQUEST, true, "1", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':'a','method':'m','params':{}}", ACP_SCAN_REQUEST, true, "'a'", "'m'",
     NULL},
    {"{'jsonrpc':'2.0','id':null,'method':'m'}", ACP_SCAN_REQUEST, true, "null", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':1.5e3,'method':'m'}", ACP_SCAN_REQUEST, true, "1.5e3", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':-9223372036854775808,'method':'m'}", ACP_SCAN_REQUEST, true,
     "-9223372036854775808", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':[1, 2],'method':'m'}", ACP_SCAN_REQUEST, true, "[1, 2]", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':{'a':1},'method':'m'}", ACP_SCAN_REQUEST, true, "{'a':1}", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':true,'method':'m'}", ACP_SCAN_REQUEST, true, "true", "'m'", NULL},
    {"{'jsonrpc':'2.0','id':'','method':''}", ACP_SCAN_REQUEST, true, "''", "''", NULL},
    {"{'jsonrpc':'2.0','method':'m'}", ACP_SCAN_NOTIFICATION, true, NULL, "'m'", NULL},
    {"{'jsonrpc':'2.0','method':5}", ACP_SCAN_NOTIFICATION, true, NULL, "5", NULL},
    {"{'method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
    {"{'jsonrpc':'2.0','id':1,'result':null}", ACP_SCAN_RESPONSE, true, "1", NULL, NULL},
    {"{'jsonrpc':'2.0','id':1,'result':{}}", ACP_SCAN_RESPONSE, true, "1", NULL, NULL},
    {"{'jsonrpc':'2.0','id':1,'error':{'code':1,'message':''}}", ACP_SCAN_RESPONSE, true, "1", NULL,
     NULL},
    {"{'jsonrpc':'2.0','id':null,'error':{}}", ACP_SCAN_RESPONSE, true, "null", NULL, NULL},
    {"{'jsonrpc':'2.0','error':{}}", ACP_SCAN_BAD_RESPONSE, true, NULL, NULL, NULL},
    {"{'jsonrpc':'2.0','result':1}", ACP_SCAN_BAD_RESPONSE, true, NULL, NULL, NULL},
    {"{'jsonrpc':'2.0','id':1,'result':1,'error':{}}", ACP_SCAN_BAD_RESPONSE, true, "1", NULL,
     NULL},
    /* With a method, whatever else there is, it wants something. */
    {"{'jsonrpc':'2.0','id':1,'method':'m','result':1}", ACP_SCAN_REQUEST, true, "1", "'m'", NULL},
    {"{'jsonrpc':'2.0','method':'m','error':1}", ACP_SCAN_NOTIFICATION, true, NULL, "'m'", NULL},
    {"{}", ACP_SCAN_INVALID, false, NULL, NULL, NULL},
    {"{'id':1}", ACP_SCAN_INVALID, false, "1", NULL, NULL},
    {"{'jsonrpc':'2.0','params':{'sessionId':'s'}}", ACP_SCAN_INVALID, true, NULL, NULL, "'s'"},
    {"1", ACP_SCAN_INVALID, false, NULL, NULL, NULL},
    {"'text'", ACP_SCAN_INVALID, false, NULL, NULL, NULL},
    {"null", ACP_SCAN_INVALID, false, NULL, NULL, NULL},
    {"[]", ACP_SCAN_ARRAY, false, NULL, NULL, NULL},
    {" [{'jsonrpc':'2.0','method':'m'}] ", ACP_SCAN_ARRAY, false, NULL, NULL, NULL},
    /* The version. */
    {"{'jsonrpc':'1.0','method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
    {"{'jsonrpc':2.0,'method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
    {"{'jsonrpc':'2.00','method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
    {"{'jsonrpc':['2.0'],'method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
    {"{'jsonrpc':'\\u0032.0','method':'m'}", ACP_SCAN_NOTIFICATION, true, NULL, "'m'", NULL},
    {"{'jsonrpc':'2.0','jsonrpc':'1','method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'",
     NULL},
    {"{'jsonrpc':'1','jsonrpc':'2.0','method':'m'}", ACP_SCAN_NOTIFICATION, true, NULL, "'m'",
     NULL},
    /* Keys are case-sensitive and whole. */
    {"{'jsonrpc':'2.0','ID':1,'Method':'m','methods':'m','i':1}", ACP_SCAN_INVALID, true, NULL,
     NULL, NULL},
    {"{'':1,'id\\u0000':2,'jsonrpc':'2.0','method':'m'}", ACP_SCAN_NOTIFICATION, true, NULL, "'m'",
     NULL},
    /* Keys with escapes. */
    {"{'\\u0069d':1,'jsonrp\\u0063':'2.0','m\\u0065thod':'m',"
     "'par\\u0061ms':{'session\\u0049d':'s'}}",
     ACP_SCAN_REQUEST, true, "1", "'m'", "'s'"},
    {"{'\\u0072esult':{'sessionId':'s'},'id':'x'}", ACP_SCAN_RESPONSE, false, "'x'", NULL, "'s'"},
    {"{'i\\/d':1,'method':'m'}", ACP_SCAN_NOTIFICATION, false, NULL, "'m'", NULL},
};

static void envelopes_of_every_kind(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char text[512];
        struct acp_scan scan;
        scan_ok(kinds[i].text, NULL, &scan, text, sizeof(text));
        CHECK_ROW(scan.kind == kinds[i].kind, i, "%s: %d", kinds[i].text, (int) scan.kind);
        CHECK_ROW(scan.version_ok == kinds[i].version_ok, i, "%s", kinds[i].text);
        assert_span(scan.id, kinds[i].id);
        assert_span(scan.method, kinds[i].method);
        assert_span(scan.session_id, kinds[i].session);
    }
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* All orders of the members, with and without space around them. */
static void permute(const char **parts, size_t count, size_t from, bool spaced,
                    void (*check)(const struct acp_scan *))
{
    if (from + 1 < count) {
        for (size_t i = from; i < count; i++) {
            const char *first = parts[from];
            parts[from] = parts[i];
            parts[i] = first;
            permute(parts, count, from + 1, spaced, check);
            parts[i] = parts[from];
            parts[from] = first;
        }
        return;
    }
    char text[512];
    char message[512];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? "," : "{",
                               spaced ? " \t\r\n" : "", parts[i]);
    (void) snprintf(text + n, sizeof(text) - n, "}");
    struct acp_scan scan;
    scan_ok(text, "key", &scan, message, sizeof(message));
    check(&scan);
}

static void check_request(const struct acp_scan *scan)
{
    assert_int_equal(scan->kind, ACP_SCAN_REQUEST);
    assert_true(scan->version_ok);
    assert_span(scan->id, "42");
    assert_span(scan->method, "'session/prompt'");
    assert_span(scan->params, "{'sessionId':'s1','key':[1],'x':2}");
    assert_span(scan->session_id, "'s1'");
    assert_span(scan->key, "[1]");
    assert_span(scan->result, NULL);
    assert_span(scan->error, NULL);
}

static void check_response(const struct acp_scan *scan)
{
    assert_int_equal(scan->kind, ACP_SCAN_RESPONSE);
    assert_span(scan->id, "'7'");
    assert_span(scan->result, "{'modes':null,'sessionId':'s2','key':1}");
    assert_span(scan->session_id, "'s2'");
    assert_span(scan->key, NULL); /* that is one of params */
    assert_span(scan->params, NULL);
}

static void members_in_every_order(void **state)
{
    (void) state;
    const char *request[] = {"'jsonrpc':'2.0'",
                             "'id':42",
                             "'method':'session/prompt'",
                             "'params':{'sessionId':'s1','key':[1],'x':2}",
                             "'_meta':{'sessionId':'no','id':3}",
                             "'extra':[{'method':'no'}]"};
    const char *response[] = {"'jsonrpc':'2.0'", "'id':'7'",
                              "'result':{'modes':null,'sessionId':'s2','key':1}", "'x':{}"};
    for (int spaced = 0; spaced < 2; spaced++) {
        permute(request, COUNT(request), 0, spaced, check_request);
        permute(response, COUNT(response), 0, spaced, check_response);
    }
}

/* ---- What counts ---------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *session;
    const char *key;
} finds[] = {
    {"{'method':'m','params':{'sessionId':'a'}}", "'a'", NULL},
    {"{'method':'m','params':{'sessionId':'','key':''}}", "''", "''"},
    {"{'method':'m','params':{'sessionId':5,'key':null}}", "5", "null"},
    {"{'method':'m','params':{'key':{'sessionId':'no'}}}", NULL, "{'sessionId':'no'}"},
    {"{'method':'m','params':{'a':1,'b':[2],'sessionId' : 'a' , 'key' : 1 }}", "'a'", "1"},
    /* The last one counts. */
    {"{'method':'m','params':{'sessionId':'a','sessionId':'b'}}", "'b'", NULL},
    {"{'method':'m','params':{'key':1,'key':2}}", NULL, "2"},
    {"{'method':'m','params':{'sessionId':'a','session\\u0049d':'b'}}", "'b'", NULL},
    {"{'method':'m','params':{'sessionId':'a','key':1},'params':{'sessionId':'b'}}", "'b'", NULL},
    {"{'method':'m','params':{'sessionId':'a','key':1},'params':{}}", NULL, NULL},
    {"{'method':'m','params':{'sessionId':'a'},'params':[]}", NULL, NULL},
    {"{'method':'m','params':{'sessionId':'a'},'params':null}", NULL, NULL},
    {"{'id':1,'result':{'sessionId':'a'},'result':{}}", NULL, NULL},
    /* Decoys: deeper, beside, or above. */
    {"{'method':'m','params':{'_meta':{'sessionId':'no','key':1}}}", NULL, NULL},
    {"{'method':'m','params':{'update':{'sessionId':'no'},'sessionId':'a'}}", "'a'", NULL},
    {"{'method':'m','params':{'sessionId':'a','update':{'sessionId':'no'}}}", "'a'", NULL},
    {"{'method':'m','params':[{'sessionId':'no'}]}", NULL, NULL},
    {"{'method':'m','params':['sessionId','no']}", NULL, NULL},
    {"{'method':'m','params':{'x':'\\'sessionId\\':\\'no\\''}}", NULL, NULL},
    {"{'method':'m','sessionId':'no','key':1}", NULL, NULL},
    {"{'method':'m','error':{'sessionId':'no'}}", NULL, NULL},
    {"{'method':'m','_meta':{'params':{'sessionId':'no'}}}", NULL, NULL},
    {"{'method':'m','params':{'sessionid':'no','sessionId ':'no','session':'no'}}", NULL, NULL},
    {"{'method':'m','params':{'sessionId\\u0000':'no'}}", NULL, NULL},
    {"[{'method':'m','params':{'sessionId':'no'}}]", NULL, NULL},
    {"{'method':'m','params':'sessionId'}", NULL, NULL},
    /* As the updates of a session start. */
    {"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'a','key':1}}", "'a'", "1"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'a','key':1},'params':{}}",
     NULL, NULL},
    {"{'jsonrpc':'2.0','method':'session/update','params':{'':'','x':{'sessionId':'no'}}}", NULL,
     NULL},
    /* Of a request params are asked, of a response the result, whatever else is there. */
    {"{'method':'m','params':{'sessionId':'a'},'result':{'sessionId':'no'}}", "'a'", NULL},
    {"{'method':'m','result':{'sessionId':'no'},'params':{}}", NULL, NULL},
    {"{'id':1,'result':{'sessionId':'a','key':1}}", "'a'", NULL},
    {"{'id':1,'result':{'x':{'sessionId':'no'}}}", NULL, NULL},
};

static void the_session_and_the_key_are_found_where_they_count(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(finds); i++) {
        char text[512];
        struct acp_scan scan;
        scan_ok(finds[i].text, "key", &scan, text, sizeof(text));
        assert_span(scan.session_id, finds[i].session);
        assert_span(scan.key, finds[i].key);
        scan_ok(finds[i].text, NULL, &scan, text, sizeof(text));
        assert_span(scan.session_id, finds[i].session);
        assert_span(scan.key, NULL);
    }
}

static void any_key_can_be_asked_for(void **state)
{
    (void) state;
    static const char *const keys[] = {"sessionId", "a", "",
                                       "a very long key of over sixteen bytes", "\xC3\xA9"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        char text[512];
        char message[512];
        struct acp_scan scan;
        (void) snprintf(text, sizeof(text), "{'method':'m','params':{'b':1,'%s':[true],'c':2}}",
                        keys[i]);
        scan_ok(text, keys[i], &scan, message, sizeof(message));
        assert_span(scan.key, "[true]");
    }
}

static void an_update_is_found_as_any_key_is(void **state)
{
    (void) state;
    static const char *const updates[] = {
        "{'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'a'}}",
        "{'sessionUpdate':'agent_thought_chunk','content':{'type':'text','text':'\xC3\xA9'},'x':1}",
        "{'sessionUpdate':'agent_nothing_chunk','content':{'type':'text','text':'a'}}",
        "{'sessionUpdate':'user_message_chunk','content':{'type':'text','text':'a'}}",
        "{'sessionUpdate':'plan','entries':[]}",
        "{'sessionUpdate':'tool_call','toolCallId':'c','content':[{'content':{}}]}",
        "{'sessionUpdate':'tool_call_update','toolCallId':'c','title':'t'}",
        "{'sessionUpdate':'tool_call_update','toolCallId':'c'}",
        "{'sessionUpdate':'tool_call_content_chunk','toolCallId':'c'}",
        "{'sessionUpdate':'tool_call_update','toolCallId':7}",
        "{'sessionUpdate':'tool_call_updated','toolCallId':'c'}",
        "{'sessionUpdate':'tool_call'}",
    };
    static const char *const heads[] = {
        "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':",
        "{'jsonrpc':'2.0','method':'m','params':{'sessionId':'s','update':",
        "{'jsonrpc':'2.0','x':{'update':{}},'params':{'update':",
    };
    for (size_t h = 0; h < COUNT(heads); h++)
        for (size_t i = 0; i < COUNT(updates); i++) {
            char text[512];
            char message[512];
            struct acp_scan scan;
            (void) snprintf(text, sizeof(text), "%s%s}}", heads[h], updates[i]);
            scan_ok(text, "update", &scan, message, sizeof(message));
            assert_span(scan.key, updates[i]);
            assert_span(scan.session_id, h < 2 ? "'s'" : NULL);
            scan_ok(text, "content", &scan, message, sizeof(message));
            assert_span(scan.key, NULL);
            scan_ok(text, "toolCallId", &scan, message, sizeof(message));
            assert_span(scan.key, NULL);
        }
}

static void spans_are_without_the_space_around(void **state)
{
    (void) state;
    char text[512];
    struct acp_scan scan;
    scan_ok(" { 'id' : 7 , 'method'\n:\n'm' , 'params' : { 'sessionId' : 's' } } ", NULL, &scan,
            text, sizeof(text));
    assert_span(scan.id, "7");
    assert_span(scan.method, "'m'");
    assert_span(scan.params, "{ 'sessionId' : 's' }");
    assert_span(scan.session_id, "'s'");
}

static void plain_text_of_a_span(void **state)
{
    (void) state;
    assert_text_equal(acp_scan_plain(acp_raw_from("\"abc\"")), "abc");
    assert_non_null(acp_scan_plain(acp_raw_from("\"\"")).ptr);
    assert_int_equal(acp_scan_plain(acp_raw_from("\"\"")).len, 0);
    static const char *const others[] = {"\"a\\n\"", "\"\\u0041\"", "1", "null",
                                         "{}",       "[\"a\"]",     ""};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_null(acp_scan_plain(acp_raw_from(others[i])).ptr);
    assert_null(acp_scan_plain(acp_raw_from(NULL)).ptr);
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void errors_tell_where(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        int err;
        size_t at;
    } rows[] = {
        {"", ACP_ERR_SYNTAX, 0},
        {"   ", ACP_ERR_SYNTAX, 3},
        {"{", ACP_ERR_SYNTAX, 1},
        {"{'id'", ACP_ERR_SYNTAX, 5},
        {"{'id':", ACP_ERR_SYNTAX, 6},
        {"{'id':1", ACP_ERR_SYNTAX, 7},
        {"{'id':1,", ACP_ERR_SYNTAX, 8},
        {"{'id':1,}", ACP_ERR_SYNTAX, 8},
        {"{'id' 1}", ACP_ERR_SYNTAX, 6},
        {"{id:1}", ACP_ERR_SYNTAX, 1},
        {"{'id':01}", ACP_ERR_SYNTAX, 6},
        {"{'id':1} x", ACP_ERR_SYNTAX, 9},
        {"{'id':1}{}", ACP_ERR_SYNTAX, 8},
        {"{'params':{", ACP_ERR_SYNTAX, 11},
        {"{'params':{'a'", ACP_ERR_SYNTAX, 14},
        {"{'params':{'a':1,}}", ACP_ERR_SYNTAX, 17},
        {"{'params':{'a':1]}", ACP_ERR_SYNTAX, 16},
        {"{'params':{'sessionId':}}", ACP_ERR_SYNTAX, 23},
        {"{'params':{'sessionId':'a}}", ACP_ERR_SYNTAX, 27},
        {"{'params':[1,]}", ACP_ERR_SYNTAX, 13},
        {"{'method':'\x01'}", ACP_ERR_SYNTAX, 11},
        {"{'method':'\\x'}", ACP_ERR_SYNTAX, 11},
        {"{'method':'\xFF'}", ACP_ERR_UTF8, 11},
        {"{'\xC3':1}", ACP_ERR_UTF8, 2},
        {"{'params':{'\xED\xA0\x80':1}}", ACP_ERR_UTF8, 12},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        size_t at = 99;
        struct acp_scan scan;
        memset(&scan, 0x5A, sizeof(scan));
        struct acp_scan before = scan;
        struct acp_raw copy = test_exact(test_quoted(rows[i].text, text, sizeof(text)));
        CHECK_ROW(acp_scan_message(copy, acp_str_from("k"), &scan, &at) == rows[i].err, i, "%s",
                  rows[i].text);
        CHECK_ROW(at == rows[i].at, i, "%s: at %zu", rows[i].text, at);
        assert_memory_equal(&scan, &before, sizeof(scan)); /* written on success only */
        CHECK_ROW(acp_scan_message(copy, acp_str_from("k"), &scan, NULL) == rows[i].err, i, "%s",
                  rows[i].text);
        test_exact_free(copy);
    }
}

/* Below params and result as deep as anywhere else. */
static void depth_is_counted_through_the_envelope(void **state)
{
    (void) state;
    static const char *const heads[] = {
        "{\"params\":{\"a\":", "{\"result\":{\"sessionId\":", "{\"x\":{\"y\":", "[{\"a\":"};
    for (size_t h = 0; h < COUNT(heads); h++) {
        for (size_t inner = ACP_JSON_MAX_DEPTH - 3; inner < ACP_JSON_MAX_DEPTH; inner++) {
            struct acp_buf buf;
            struct acp_scan scan;
            size_t at = 0;
            acp_buf_init(&buf, 4096);
            assert_int_equal(acp_buf_append_str(&buf, acp_str_from(heads[h])), 0);
            for (size_t i = 0; i < 2 * inner; i++)
                assert_int_equal(acp_buf_append(&buf, i < inner ? "[" : "]", 1), 0);
            assert_int_equal(acp_buf_append_str(&buf, acp_str_from(h == 3 ? "}]" : "}}")), 0);
            struct acp_raw text = {buf.data, buf.len};
            int want = inner + 2 > ACP_JSON_MAX_DEPTH ? ACP_ERR_DEPTH : 0;
            assert_int_equal(acp_json_validate(text, 0, NULL), want);
            assert_int_equal(acp_scan_message(text, acp_str_from(NULL), &scan, &at), want);
            if (want)
                assert_int_equal(at, strlen(heads[h]) + ACP_JSON_MAX_DEPTH - 2);
            acp_buf_finish(&buf);
        }
    }
}

/* ---- Splicing ------------------------------------------------------------------------------- */

static void splices_at_every_place(void **state)
{
    (void) state;
    static const char text[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"sessionId\":\"s\"}}";
    static const char *const by[] = {"", "x", "\"a longer text than what it stands for\""};
    size_t len = sizeof(text) - 1;
    for (size_t from = 0; from <= len; from++) {
        for (size_t to = from; to <= len; to++) {
            for (size_t b = 0; b < COUNT(by); b++) {
                struct acp_buf out;
                char want[256];
                acp_buf_init(&out, 256);
                assert_int_equal(acp_buf_append(&out, "+", 1), 0);
                assert_int_equal(acp_scan_splice(acp_raw_n(text, len),
                                                 acp_raw_n(text + from, to - from),
                                                 acp_raw_from(by[b]), &out),
                                 0);
                (void) snprintf(want, sizeof(want), "+%.*s%s%s", (int) from, text, by[b],
                                text + to);
                assert_string_equal(test_cstr(&out), want);
                acp_buf_finish(&out);
            }
        }
    }
}

static void a_spliced_message_scans_with_the_new_value(void **state)
{
    (void) state;
    struct acp_raw message = acp_raw_from(
        "{\"id\":\"old\",\"method\":\"m\",\"params\":{\"a\":[1],\"sessionId\":\"s\"}}");
    struct acp_scan scan;
    struct acp_buf out;
    acp_buf_init(&out, 4096);
    assert_int_equal(acp_scan_message(message, acp_str_from(NULL), &scan, NULL), 0);
    assert_int_equal(acp_scan_splice(message, scan.session_id, acp_raw_from("\"other\\n\""), &out),
                     0);
    struct acp_raw spliced = {out.data, out.len};
    assert_int_equal(acp_scan_message(spliced, acp_str_from(NULL), &scan, NULL), 0);
    assert_span(scan.session_id, "'other\\n'");
    assert_span(scan.id, "'old'");
    assert_span(scan.params, "{'a':[1],'sessionId':'other\\n'}");
    acp_buf_finish(&out);
}

static void a_splice_that_cannot_be_is_refused(void **state)
{
    (void) state;
    static const char text[] = "{\"id\":1}";
    struct acp_raw message = acp_raw_n(text + 1, 6);
    struct acp_buf out;
    acp_buf_init(&out, 8);
    assert_int_equal(acp_scan_splice(message, acp_raw_from(NULL), acp_raw_from("1"), &out),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(acp_scan_splice(message, acp_raw_n(text, 2), acp_raw_from("1"), &out),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(acp_scan_splice(message, acp_raw_n(text + 6, 2), acp_raw_from("1"), &out),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(acp_scan_splice(message, acp_raw_n(text + 3, 1), acp_raw_from("abcd"), &out),
                     ACP_ERR_LIMIT);
    assert_int_equal(out.len, 0);
    assert_int_equal(acp_scan_splice(message, acp_raw_n(text + 3, 1), acp_raw_from("abc"), &out),
                     0);
    assert_int_equal(out.len, 8);
    acp_buf_finish(&out);
}

/*
 * The scan looks at a message in blocks of 64 bytes, the last of which overlaps the one before.  A
 * reader that knows no blocks must agree, whatever lies on their edges.  Each message is allocated
 * exactly, so that a sanitizer sees a byte read behind its end.
 */
static void strings_may_end_anywhere_in_a_block(void **state)
{
    static const char *const specials[] = {"",     "\\\"", "\\\\", "\\u00e9", "\xc3\xa9",
                                           "\x01", "\xff", "\"",   "\\"};
    static const char head[] = "{\"method\":\"m\",\"params\":{\"sessionId\":\"";
    static const char tail[] = "\",\"k\":\"v\"}}";
    (void) state;
    for (size_t s = 0; s < sizeof(specials) / sizeof(specials[0]); s++)
        for (size_t before = 0; before < 140; before++)
            for (size_t after = 0; after < 70; after++) {
                struct acp_buf text;
                acp_buf_init(&text, 1024);
                char filling[140];
                memset(filling, 'x', sizeof(filling));
                (void) acp_buf_append(&text, head, sizeof(head) - 1);
                (void) acp_buf_append(&text, filling, before);
                (void) acp_buf_append(&text, specials[s], strlen(specials[s]));
                (void) acp_buf_append(&text, filling, after);
                (void) acp_buf_append(&text, tail, sizeof(tail) - 1);
                char *exact = malloc(text.len);
                assert_non_null(exact);
                memcpy(exact, acp_buf_view(&text).ptr, text.len);
                struct acp_raw message = acp_raw_n(exact, text.len);
                struct acp_scan scan;
                size_t scan_at = 0;
                size_t at = 0;
                int err = acp_json_validate(message, 0, &at);
                assert_int_equal(acp_scan_message(message, acp_str_from("k"), &scan, &scan_at),
                                 err);
                assert_int_equal(scan_at, at);
                if (!err) {
                    assert_int_equal(scan.session_id.len, before + after + strlen(specials[s]) + 2);
                    assert_span(scan.key, "'v'");
                }
                free(exact);
                acp_buf_finish(&text);
            }
}

/*
 * Messages of several shapes that start as most do or otherwise, with a filling that moves what
 * follows it through a block.
 */
static const struct {
    const char *head;
    const char *tail;
    const char *method;
    const char *session;
    const char *key;
} shapes[] = {
    {"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':{'a':'",
     "','b':{'c':{'d':'e'},'f':{}},'g':'h'},'k':'v'}}", "'session/update'", "'s'", "'v'"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s',"
     "'update':{'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'",
     "'}},'k':'v'}}", "'session/update'", "'s'", "'v'"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{"
     "'update':{'sessionUpdate':'agent_thought_chunk','content':{'type':'text','text':'",
     "\\n','x':{}},'y':[]},'k':1,'sessionId':'s'}}", "'session/update'", "'s'", "1"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s',"
     "'update':{'sessionUpdate':'tool_call_update','toolCallId':'",
     "','rawInput':{'k':0},'k':1},'k':'v'}}", "'session/update'", "'s'", "'v'"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{"
     "'update':{'sessionUpdate':'tool_call','toolCallId':'call','title':'",
     "'},'k':1,'sessionId':'s'}}", "'session/update'", "'s'", "1"},
    {"{'jsonrpc':'2.0','method':'session/update','params':{'",
     "':'','sessionId':'s','k':{}},'id':1}", "'session/update'", "'s'", "{}"},
    {"{'jsonrpc':'2.0','method':'session/updates','params':{'a':'", "','sessionId':'s'}}",
     "'session/updates'", "'s'", NULL},
    {"{'jsonrpc':'2.0','id':'", "','result':{'sessionId':'s','a':[{'b':'c'},'d',1],'k':2}}", NULL,
     "'s'", NULL},
    {"{'params':{'sessionId':'no','k':'no'},'", "':null,'params':{'k':'v'},'method':'m'}", "'m'",
     NULL, "'v'"},
    {"{'jsonrpc': '2.0', 'method': 'm', 'params': {'sessionId': 's', 'a': {'b': '",
     "', 'c': {'d': 'e'}, 'f': {}, 'g': [1, 'h']}, 'k': 'v'}}", "'m'", "'s'", "'v'"},
    {"{ 'method' : 'm',\n'params'\t:{'a':'", "' , 'sessionId':'s' ,'b' : { } ,'k':-1} }", "'m'",
     "'s'", "-1"},
    {"{'method':'m','params':{'\\u0061':'",
     "\\'\\\\','\xc3\xa9':'\xc3\xa9','sessionId':'s','k':'v'}}", "'m'", "'s'", "'v'"},
};

/* That scan and validation see the same error, or none. */
static void check_like_validation(struct acp_raw text)
{
    struct acp_raw exact = test_exact(text);
    struct acp_scan scan;
    size_t at = 0;
    size_t valid_at = 0;
    int err = acp_json_validate(exact, 0, &valid_at);
    assert_int_equal(acp_scan_message(exact, acp_str_from("k"), &scan, &at), err);
    assert_int_equal(at, valid_at);
    test_exact_free(exact);
}

static size_t write_shape(size_t shape, size_t filling, char *out, size_t size)
{
    char quoted[512];
    int n =
        snprintf(quoted, sizeof(quoted), "%s%.*s%s", shapes[shape].head, (int) filling,
                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                 shapes[shape].tail);
    assert_true(n > 0 && (size_t) n < sizeof(quoted));
    return test_quoted(quoted, out, size).len;
}

static void members_are_found_anywhere_in_a_block(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t filling = 0; filling < 80; filling++) {
            char text[512];
            struct acp_scan scan;
            struct acp_raw exact =
                test_exact(acp_raw_n(text, write_shape(i, filling, text, sizeof(text))));
            assert_int_equal(acp_scan_message(exact, acp_str_from("k"), &scan, NULL), 0);
            assert_span(scan.method, shapes[i].method);
            assert_span(scan.session_id, shapes[i].session);
            assert_span(scan.key, shapes[i].key);
            if (scan.method.ptr) {
                assert_int_equal(scan.params.ptr[0], '{');
                assert_int_equal(acp_json_validate(scan.params, 0, NULL), 0);
            }
            test_exact_free(exact);
        }
}

static void errors_are_seen_anywhere_in_a_block(void **state)
{
    (void) state;
    static const char wrong[] = "\"\\,:{}[] x1\x01\xc3";
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t filling = 0; filling < 80; filling += 3) {
            char text[512];
            size_t len = write_shape(i, filling, text, sizeof(text));
            for (size_t at = 0; at < len; at++) {
                check_like_validation(acp_raw_n(text, at));
                char right = text[at];
                for (const char *w = wrong; *w; w++) {
                    text[at] = *w;
                    check_like_validation(acp_raw_n(text, len));
                }
                text[at] = right;
            }
        }
}

/* Every pair of spans of a short text, in both orders, against plain concatenation. */
static void several_spans_are_replaced_at_once(void **state)
{
    (void) state;
    static const char text[] = "abcdef";
    enum { LEN = sizeof(text) - 1 };
    struct acp_raw message = {text, LEN};
    struct acp_buf out;
    acp_buf_init(&out, 100);
    for (size_t a = 0; a <= LEN; a++)
        for (size_t a_end = a; a_end <= LEN; a_end++)
            for (size_t b = 0; b <= LEN; b++)
                for (size_t b_end = b; b_end <= LEN; b_end++) {
                    struct acp_splice splices[] = {
                        {acp_raw_n(text + a, a_end - a), acp_raw_from("<one>")},
                        {acp_raw_n(NULL, 0), acp_raw_from("never")},
                        {acp_raw_n(text + b, b_end - b), acp_raw_from("")},
                    };
                    /* Of two that begin at one place the first given comes first. */
                    bool in_order = a <= b;
                    bool overlap = in_order ? a_end > b : b_end > a;
                    char want[32];
                    if (in_order)
                        (void) snprintf(want, sizeof(want), "%.*s<one>%.*s%s", (int) a, text,
                                        (int) (overlap ? 0 : b - a_end), text + a_end,
                                        text + b_end);
                    else
                        (void) snprintf(want, sizeof(want), "%.*s%.*s<one>%s", (int) b, text,
                                        (int) (overlap ? 0 : a - b_end), text + b_end,
                                        text + a_end);
                    acp_buf_clear(&out);
                    int err = acp_scan_splice_all(message, splices, 3, &out);
                    assert_int_equal(err, overlap ? ACP_ERR_ARGUMENT : 0);
                    assert_text_equal(acp_buf_view(&out), overlap ? "" : want);
                }
    acp_buf_clear(&out);
    assert_int_equal(acp_scan_splice_all(message, NULL, 0, &out), 0);
    assert_text_equal(acp_buf_view(&out), text);
    struct acp_splice outside[] = {{acp_raw_n(text + 1, 1), acp_raw_from("1")},
                                   {acp_raw_n(text + 5, 2), acp_raw_from("2")}};
    assert_int_equal(acp_scan_splice_all(message, outside, 2, &out), ACP_ERR_ARGUMENT);
    assert_int_equal(out.len, LEN);
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(envelopes_of_every_kind),
        cmocka_unit_test(members_in_every_order),
        cmocka_unit_test(the_session_and_the_key_are_found_where_they_count),
        cmocka_unit_test(any_key_can_be_asked_for),
        cmocka_unit_test(an_update_is_found_as_any_key_is),
        cmocka_unit_test(spans_are_without_the_space_around),
        cmocka_unit_test(plain_text_of_a_span),
        cmocka_unit_test(errors_tell_where),
        cmocka_unit_test(depth_is_counted_through_the_envelope),
        cmocka_unit_test(splices_at_every_place),
        cmocka_unit_test(a_spliced_message_scans_with_the_new_value),
        cmocka_unit_test(a_splice_that_cannot_be_is_refused),
        cmocka_unit_test(strings_may_end_anywhere_in_a_block),
        cmocka_unit_test(members_are_found_anywhere_in_a_block),
        cmocka_unit_test(errors_are_seen_anywhere_in_a_block),
        cmocka_unit_test(several_spans_are_replaced_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
