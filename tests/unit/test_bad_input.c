/*
 * Bad input, through the scan and the codec: messages cut off, damaged, deep, huge, in broken
 * UTF-8, with NUL bytes and halves of characters, with numbers beyond all range.  Nothing may
 * crash, read outside of the text, or slip through as good; what is taken must survive being
 * written and read again.
 */
#include "helpers.h"

#include "acp/json.h"
#include "acp/scan.h"
#include "acp/types.h"

enum { ROOM = 4096 };

/* Representative messages, with ' for ". */
static const struct {
    unsigned mode;
    enum acp_side from;
    const char *text;
} messages[] = {
    {ACP_V1, ACP_SIDE_CLIENT,
     "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':1,"
     "'clientCapabilities':{'fs':{'readTextFile':true,'writeTextFile':false},'terminal':true},"
     "'clientInfo':{'name':'n','title':null,'version':'1'}}}"},
    {ACP_V1, ACP_SIDE_CLIENT,
     "{'jsonrpc':'2.0','id':'a','method':'session/new','params':{'cwd':'/',"
     "'mcpServers':[{'name':'n',"
     "'command':'c','args':['-x'],'env':[{'name':'A','value':'b'}]},{'type':'http','name':'h',"
     "'url':'u','headers':[]}]}}"},
    {ACP_V1, ACP_SIDE_AGENT,
     "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':{"
     "'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'h\\u00e9llo \\n "
     "\xC3\xA9\\uD83D\\uDE00 \xF0\x9F\x98\x80 world, this is longer than a block'}}}}"},
    {ACP_V1, ACP_SIDE_AGENT,
     "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':{'toolCallId':"
     "'c','title':'t','sessionUpdate':'tool_call','kind':'edit','content':[{'type':'diff',"
     "'path':'p',"
     "'oldText':null,'newText':'n'},{'type':'content','content':{'type':'text','text':'x'}}],"
     "'locations':[{'path':'p','line':12}],'rawInput':{'a':[1,2.5e-3,true,null]},'_meta':{}}}}"},
    {ACP_V1, ACP_SIDE_AGENT,
     "{'jsonrpc':'2.0','id':5,'method':'session/request_permission','params':{'sessionId':'s',"
     "'toolCall':{'toolCallId':'c'},'options':[{'optionId':'a','name':'Yes',"
     "'kind':'allow_once'}]}}"},
    {ACP_V2, ACP_SIDE_AGENT,
     "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':{"
     "'sessionUpdate':'state_update','state':'idle','stopReason':'error','error':{'code':-32603,"
     "'message':'m','data':{'sessionId':'x'}},'background':[{'type':'terminal',"
     "'terminalId':'t'}]}}}"},
    {ACP_V2, ACP_SIDE_AGENT,
     "{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'s','update':{"
     "'sessionUpdate':'_own','deep':{'er':[[[]]]}}}}"},
    {ACP_V2 | ACP_UNSTABLE, ACP_SIDE_CLIENT,
     "{'jsonrpc':'2.0','method':'$/cancel_request','params':{'requestId':9223372036854775807}}"},
};

struct decoded {
    bool scanned;
    bool taken;
};

/* Writes a decoded value and reads that again: the second writing is the same. */
static void check_again(acp_type_id type, unsigned mode, const void *value)
{
    uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    struct acp_buf once;
    struct acp_buf twice;
    struct acp_arena arena;
    struct acp_json_writer w;
    acp_buf_init(&once, 256 << 20);
    acp_buf_init(&twice, 256 << 20);
    acp_arena_init(&arena, 0);
    acp_json_writer_init(&w, &once);
    if (acp_encode(type, mode, value, &w, NULL) == 0) {
        struct acp_raw text = {acp_buf_view(&once).ptr, once.len};
        assert_int_equal(acp_json_validate(text, 0, NULL), 0);
        assert_int_equal(acp_decode(type, mode, text, &arena, room, NULL), 0);
        acp_json_writer_init(&w, &twice);
        assert_int_equal(acp_encode(type, mode, room, &w, NULL), 0);
        assert_true(acp_str_eq(acp_buf_view(&once), acp_buf_view(&twice)));
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&once);
    acp_buf_finish(&twice);
}

/* All that happens to a message that comes in. */
static struct decoded take(struct acp_raw text, enum acp_side from, unsigned mode)
{
    struct decoded ret = {false, false};
    struct acp_scan scan;
    struct acp_method method;
    size_t at = SIZE_MAX;
    size_t valid_at = SIZE_MAX;
    int valid = acp_json_validate(text, 0, &valid_at);
    int err = acp_scan_message(text, acp_str_from("update"), &scan, &at);
    assert_int_equal(err, valid);
    assert_int_equal(at, valid_at);
    if (err) {
        assert_true(at <= text.len);
        return ret;
    }
    ret.scanned = true;
    const struct acp_raw *spans[] = {&scan.id,    &scan.method, &scan.params,    &scan.result,
                                     &scan.error, &scan.key,    &scan.session_id};
    for (size_t i = 0; i < COUNT(spans); i++)
        assert_true(!spans[i]->ptr ||
                    (test_inside(*spans[i], text) && acp_json_validate(*spans[i], 0, NULL) == 0));
    struct acp_str name = acp_scan_plain(scan.method);
    if (!name.ptr || !scan.params.ptr || !acp_method_find(name, from, mode, &method))
        return ret;
    uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    struct acp_failure failure = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    err = acp_decode(method.params, mode, scan.params, &arena, room, &failure);
    assert_int_equal(failure.err, err);
    assert_true(strlen(failure.path) < sizeof(failure.path));
    if (!err) {
        struct acp_buf out;
        acp_buf_init(&out, 256 << 20);
        assert_int_equal(acp_print(method.params, mode, room, &out), 0);
        acp_buf_finish(&out);
        check_again(method.params, mode, room);
        ret.taken = true;
    }
    acp_arena_finish(&arena);
    return ret;
}

/* The same in a block of its own size. */
static struct decoded take_exact(const char *text, size_t len, size_t i)
{
    struct acp_raw copy = test_exact(acp_raw_n(text, len));
    struct decoded d = take(copy, messages[i].from, messages[i].mode);
    test_exact_free(copy);
    return d;
}

static void the_messages_themselves_are_good(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(messages); i++) {
        char text[ROOM];
        struct acp_raw json = test_quoted(messages[i].text, text, ROOM);
        CHECK_ROW(take_exact(json.ptr, json.len, i).taken, i, "%s", messages[i].text);
    }
}

static void truncated_at_every_byte(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(messages); i++) {
        char text[ROOM];
        struct acp_raw json = test_quoted(messages[i].text, text, ROOM);
        for (size_t len = 0; len < json.len; len++)
            CHECK_ROW(!take_exact(json.ptr, len, i).scanned, i, "cut to %zu", len);
        /* The codec alone, which has no scan before it. */
        struct acp_scan scan;
        struct acp_method m;
        assert_int_equal(acp_scan_message(json, acp_str_from(NULL), &scan, NULL), 0);
        assert_true(
            acp_method_find(acp_scan_plain(scan.method), messages[i].from, messages[i].mode, &m));
        for (size_t len = 0; len < scan.params.len; len++) {
            uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
            struct acp_arena arena;
            acp_arena_init(&arena, 0);
            struct acp_raw copy = test_exact(acp_raw_n(scan.params.ptr, len));
            assert_int_not_equal(acp_decode(m.params, messages[i].mode, copy, &arena, room, NULL),
                                 0);
            test_exact_free(copy);
            acp_arena_finish(&arena);
        }
    }
}

static void every_byte_replaced(void **state)
{
    (void) state;
    static const char by[] = "\0\x01\x1F \n\"\\{}[],:0-e.tu/\x7F\x80\xBF\xC3\xE2\xED\xF0\xFF";
    for (size_t i = 0; i < COUNT(messages); i++) {
        char text[ROOM];
        struct acp_raw json = test_quoted(messages[i].text, text, ROOM);
        for (size_t at = 0; at < json.len; at++) {
            char before = text[at];
            for (size_t b = 0; b < sizeof(by) - 1; b++) {
                text[at] = by[b];
                (void) take_exact(text, json.len, i);
            }
            text[at] = before;
        }
    }
}

static void bytes_missing_and_doubled(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(messages); i++) {
        char text[ROOM];
        char other[ROOM];
        struct acp_raw json = test_quoted(messages[i].text, text, ROOM);
        for (size_t at = 0; at < json.len; at++) {
            for (size_t n = 1; n <= 8 && at + n <= json.len; n++) {
                memcpy(other, text, at);
                memcpy(other + at, text + at + n, json.len - at - n);
                (void) take_exact(other, json.len - n, i);
                memcpy(other, text, at + n);
                memcpy(other + at + n, text + at, json.len - at);
                (void) take_exact(other, json.len + n, i);
            }
        }
    }
}

/* Every value replaced by every kind of value: wrong types everywhere. */
static void every_value_replaced(void **state)
{
    (void) state;
    static const char *const by[] = {"null",
                                     "true",
                                     "0",
                                     "-1",
                                     "1.5",
                                     "1e400",
                                     "-1e400",
                                     "99999999999999999999999",
                                     "\"\"",
                                     "\"\\u0000\"",
                                     "\"\\uD800\"",
                                     "\"\\uDC00\\uD800\"",
                                     "[]",
                                     "[null]",
                                     "{}",
                                     "{\"\":0}",
                                     "[[],{}]",
                                     "18446744073709551615",
                                     "-9223372036854775809",
                                     "\"session/update\""};
    for (size_t i = 0; i < COUNT(messages); i++) {
        char text[ROOM];
        struct acp_raw json = test_quoted(messages[i].text, text, ROOM);
        for (size_t at = 0; at < json.len; at++) {
            if (at == 0 || !strchr(":,[", text[at - 1]))
                continue;
            struct acp_json_reader r;
            struct acp_raw value;
            acp_json_reader_init(&r, acp_raw_n(text + at, json.len - at), NULL, 0);
            if (acp_json_read_raw(&r, &value))
                continue;
            for (size_t b = 0; b < COUNT(by); b++) {
                struct acp_buf out;
                acp_buf_init(&out, ROOM);
                assert_int_equal(acp_scan_splice(json, value, acp_raw_from(by[b]), &out), 0);
                (void) take_exact(acp_buf_view(&out).ptr, out.len, i);
                acp_buf_finish(&out);
            }
        }
    }
}

/* ---- Deep and huge -------------------------------------------------------------------------- */

static void repeat(struct acp_buf *buf, const char *text, size_t count)
{
    size_t len = strlen(text);
    assert_int_equal(acp_buf_reserve(buf, len * count), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(acp_buf_append(buf, text, len), 0);
}

static void deep_messages_are_refused_wherever_they_are_deep(void **state)
{
    (void) state;
    static const struct {
        const char *head;
        const char *open;
        const char *close;
    } rows[] = {
        {"{\"method\":\"session/update\",\"params\":", "[", "]"},
        {"{\"method\":\"session/update\",\"params\":", "{\"a\":", "}"},
        {"{\"x\":", "[{\"a\":", "}]"},
        {"{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{"
         "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c\",\"title\":\"t\",\"rawInput\":",
         "[", "]"},
        {"{\"id\":1,\"result\":", "[", "]"},
        {"", "[", "]"},
    };
    static const size_t depths[] = {129, 1000, 1000000};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t d = 0; d < COUNT(depths); d++) {
            for (int closed = 0; closed < 2; closed++) {
                struct acp_scan scan;
                struct acp_buf buf;
                acp_buf_init(&buf, 64 << 20);
                repeat(&buf, rows[i].head, 1);
                repeat(&buf, rows[i].open, depths[d]);
                repeat(&buf, "0", 1);
                repeat(&buf, rows[i].close, closed ? depths[d] : 0);
                struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
                assert_int_equal(acp_scan_message(text, acp_str_from(NULL), &scan, NULL),
                                 ACP_ERR_DEPTH);
                assert_int_equal(acp_json_validate(text, 0, NULL), ACP_ERR_DEPTH);
                struct acp_buf out;
                acp_buf_init(&out, 1 << 20);
                assert_int_equal(acp_json_pretty(text, &out), ACP_ERR_DEPTH);
                acp_buf_finish(&out);
                acp_buf_finish(&buf);
            }
        }
    }
    /* In the codec, which counts on its own. */
    struct acp_buf buf;
    struct acp_arena arena;
    struct acp_tool_call m;
    acp_buf_init(&buf, 1 << 20);
    acp_arena_init(&arena, 0);
    repeat(&buf, "{\"toolCallId\":\"c\",\"title\":\"t\",\"rawInput\":", 1);
    repeat(&buf, "[", 128);
    assert_int_equal(acp_tool_call_decode(ACP_V1, acp_raw_n(buf.data, buf.len), &arena, &m, NULL),
                     ACP_ERR_DEPTH);
    acp_arena_finish(&arena);
    acp_buf_finish(&buf);
}

/* A line of 70 MB is more than the peer takes by default; the floors below do not mind. */
static void huge_text(const char *unit, size_t unfolded)
{
    enum { BYTES = 70 << 20 };
    size_t count = BYTES / strlen(unit);
    struct acp_buf buf;
    struct acp_scan scan;
    struct acp_arena arena;
    struct acp_session_notification m;
    acp_buf_init(&buf, 80 << 20);
    acp_arena_init(&arena, 0);
    repeat(&buf,
           "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{"
           "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"",
           1);
    repeat(&buf, unit, count);
    repeat(&buf, "\"}}}}", 1);
    struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
    assert_int_equal(acp_scan_message(text, acp_str_from(NULL), &scan, NULL), 0);
    assert_int_equal(acp_session_notification_decode(ACP_V1, scan.params, &arena, &m, NULL), 0);
    assert_int_equal(m.update.agent_message_chunk.content.text.text.len, count * unfolded);
    struct acp_buf out;
    struct acp_json_writer w;
    acp_buf_init(&out, 80 << 20);
    acp_json_writer_init(&w, &out);
    assert_int_equal(acp_session_notification_encode(ACP_V1, &m, &w, NULL), 0);
    /* And where the limit is smaller than the text, no more is taken than the limit. */
    acp_buf_finish(&out);
    acp_buf_init(&out, 1 << 20);
    acp_json_writer_init(&w, &out);
    assert_int_equal(acp_session_notification_encode(ACP_V1, &m, &w, NULL), ACP_ERR_LIMIT);
    assert_true(out.cap <= 1 << 20);
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
    acp_buf_finish(&buf);
}

static void a_line_of_70_megabytes(void **state)
{
    (void) state;
    huge_text("a", 1);
    huge_text("\\n", 1);
    huge_text("\xC3\xA9", 2);
}

/* Lists make structs of a few bytes each: the arena's limit holds them back. */
static void a_list_of_a_million_items_meets_the_arena_s_limit(void **state)
{
    (void) state;
    struct acp_buf buf;
    struct acp_arena arena;
    struct acp_prompt_request m;
    struct acp_failure failure = {0};
    acp_buf_init(&buf, 64 << 20);
    repeat(&buf, "{\"sessionId\":\"s\",\"prompt\":[", 1);
    repeat(&buf, "{\"type\":\"text\",\"text\":\"\"},", 1000000);
    repeat(&buf, "{\"type\":\"text\",\"text\":\"\"}]}", 1);
    struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
    acp_arena_init(&arena, 16 << 20);
    assert_int_equal(acp_prompt_request_decode(ACP_V1, text, &arena, &m, &failure), ACP_ERR_NOMEM);
    assert_int_equal(failure.err, ACP_ERR_NOMEM);
    assert_true(arena.used <= 16 << 20);
    acp_arena_finish(&arena);
    acp_buf_finish(&buf);
}

static void a_million_unknown_keys(void **state)
{
    (void) state;
    struct acp_buf buf;
    struct acp_arena arena;
    struct acp_session_info_update m;
    acp_buf_init(&buf, 64 << 20);
    repeat(&buf, "{", 1);
    repeat(&buf, "\"x\":1,", 1000000);
    repeat(&buf, "\"y\":1}", 1);
    struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
    acp_arena_init(&arena, 0);
    assert_int_equal(acp_session_info_update_decode(ACP_V1, text, &arena, &m, NULL), 0);
    size_t count = 0;
    for (const struct acp_unknown *u = m.unknown; u; u = u->next)
        count++;
    assert_int_equal(count, 1000001);
    acp_arena_finish(&arena);
    acp_buf_finish(&buf);
}

/* ---- Characters and numbers ----------------------------------------------------------------- */

static void texts_that_are_no_utf8_fail_the_message(void **state)
{
    (void) state;
    static const char *const bad[] = {
        "\x80", "\xC0\x80", "\xC3",  "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xFF", "\xE2\x82", "ok\xFE"};
    static const char *const places[] = {"{'method':'%s'}",
                                         "{'%s':1}",
                                         "{'method':'session/update','params':{'sessionId':'%s'}}",
                                         "{'method':'session/update','params':{'%s':1}}",
                                         "{'id':'%s','result':1}",
                                         "{'id':1,'error':{'message':'%s'}}",
                                         "[{'a':['%s']}]"};
    for (size_t b = 0; b < COUNT(bad); b++) {
        for (size_t p = 0; p < COUNT(places); p++) {
            char text[ROOM];
            char quoted[ROOM];
            const char *hole = strstr(places[p], "%s");
            (void) snprintf(text, sizeof(text), "%.*s%s%s", (int) (hole - places[p]), places[p],
                            bad[b], hole + 2);
            struct acp_raw json = test_exact(test_quoted(text, quoted, ROOM));
            struct acp_scan scan;
            size_t at = 0;
            CHECK_ROW(acp_scan_message(json, acp_str_from(NULL), &scan, &at) == ACP_ERR_UTF8, p,
                      "%s", places[p]);
            CHECK_ROW(at == (size_t) (hole - places[p]) + (b == 7 ? 2 : 0), p, "%s: at %zu",
                      places[p], at);
            test_exact_free(json);
        }
    }
}

static void nul_is_a_character_in_texts_only(void **state)
{
    (void) state;
    struct acp_scan scan;
    struct acp_arena arena;
    struct acp_text_content m;
    acp_arena_init(&arena, 0);
    assert_int_equal(acp_scan_message(TEXT("{\"id\":1}\0"), acp_str_from(NULL), &scan, NULL),
                     ACP_ERR_SYNTAX);
    assert_int_equal(acp_scan_message(TEXT("{\0\"id\":1}"), acp_str_from(NULL), &scan, NULL),
                     ACP_ERR_SYNTAX);
    assert_int_equal(acp_scan_message(TEXT("{\"i\0d\":1}"), acp_str_from(NULL), &scan, NULL),
                     ACP_ERR_SYNTAX);
    assert_int_equal(
        acp_text_content_decode(ACP_V1, TEXT("{\"text\":\"a\\u0000b\"}"), &arena, &m, NULL), 0);
    assert_int_equal(m.text.len, 3);
    assert_memory_equal(m.text.ptr, "a\0b", 3);
    /* It does not end a key or an enum early. */
    struct acp_prompt_response p;
    assert_int_equal(acp_prompt_response_decode(ACP_V1, TEXT("{\"stopReason\":\"refusal\\u0000\"}"),
                                                &arena, &p, NULL),
                     ACP_ERR_VARIANT);
    assert_int_equal(
        acp_text_content_decode(ACP_V1, TEXT("{\"text\\u0000\":\"x\"}"), &arena, &m, NULL),
        ACP_ERR_MISSING);
    acp_arena_finish(&arena);
}

static void lone_surrogates_become_replacement_characters(void **state)
{
    (void) state;
#define FFFD "\xEF\xBF\xBD"
    static const struct {
        const char *json;
        const char *text;
    } rows[] = {
        {"\\uD83D", FFFD},
        {"\\uDE00", FFFD},
        {"\\uDE00\\uD83D", FFFD FFFD},
        {"\\uD83D\\uD83D\\uDE00", FFFD "\xF0\x9F\x98\x80"},
        {"\\uD83D\\uDE00\\uDE00", "\xF0\x9F\x98\x80" FFFD},
        {"\\uD83Dx\\uDE00", FFFD "x" FFFD},
        {"\\uD83D\\\\uDE00", FFFD "\\uDE00"},
        {"\\uD83D\\n", FFFD "\n"},
        {"\\uD83D\\u0041", FFFD "A"},
        {"\\uD800\\uDC00", "\xF0\x90\x80\x80"},
        {"\\uDBFF\\uDFFF", "\xF4\x8F\xBF\xBF"},
        {"\\uD7FF\\uE000", "\xED\x9F\xBF\xEE\x80\x80"},
    };
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        struct acp_text_content m;
        int n = snprintf(text, sizeof(text), "{\"text\":\"%s\"}", rows[i].json);
        assert_int_equal(
            acp_text_content_decode(ACP_V1, acp_raw_n(text, (size_t) n), &arena, &m, NULL), 0);
        CHECK_ROW(acp_str_is(m.text, rows[i].text), i, "%s", rows[i].json);
    }
    acp_arena_finish(&arena);
}

static void numbers_beyond_range_are_refused(void **state)
{
    (void) state;
    static const char *const bad[] = {
        "-1",   "18446744073709551616", "1e20",           "1e400", "0.5",  "1e-1",
        "-0.5", "1e99999999999",        "-1e99999999999", "null",  "\"1\""};
    static const char *const good[] = {
        "0", "-0", "1.0", "1e3", "18446744073709551615", "10e-1", "0.0e99999999999"};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (int ok = 0; ok < 2; ok++) {
        for (size_t i = 0; i < (ok ? COUNT(good) : COUNT(bad)); i++) {
            char text[200];
            struct acp_usage_update m;
            struct acp_failure failure = {0};
            int n = snprintf(text, sizeof(text), "{\"used\":%s,\"size\":0}", ok ? good[i] : bad[i]);
            int err =
                acp_usage_update_decode(ACP_V1, acp_raw_n(text, (size_t) n), &arena, &m, &failure);
            CHECK_ROW((err == 0) == (ok == 1), i, "%s: %d", text, err);
            assert_string_equal(failure.path, ok ? "" : "used");
        }
    }
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_messages_themselves_are_good),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(every_byte_replaced),
        cmocka_unit_test(bytes_missing_and_doubled),
        cmocka_unit_test(every_value_replaced),
        cmocka_unit_test(deep_messages_are_refused_wherever_they_are_deep),
        cmocka_unit_test(a_line_of_70_megabytes),
        cmocka_unit_test(a_list_of_a_million_items_meets_the_arena_s_limit),
        cmocka_unit_test(a_million_unknown_keys),
        cmocka_unit_test(texts_that_are_no_utf8_fail_the_message),
        cmocka_unit_test(nul_is_a_character_in_texts_only),
        cmocka_unit_test(lone_surrogates_become_replacement_characters),
        cmocka_unit_test(numbers_beyond_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
