/* Printing for people: what it looks like, and that no text of a peer gets hold of a terminal. */
#include "helpers.h"

#include "acp/types.h"

enum { ROOM = 4096 };

static void print_as(acp_type_id type, unsigned mode, struct acp_raw json, struct acp_buf *out)
{
    uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    struct acp_arena arena;
    struct acp_failure failure = {0};
    acp_arena_init(&arena, 0);
    if (acp_decode(type, mode, json, &arena, room, &failure))
        print_error("%s: %s\n", failure.path, failure.message);
    assert_int_equal(failure.err, 0);
    assert_int_equal(acp_print(type, mode, room, out), 0);
    acp_arena_finish(&arena);
}

static void expect(acp_type_id type, unsigned mode, const char *json, const char *want)
{
    char text[ROOM];
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    print_as(type, mode, test_quoted(json, text, sizeof(text)), &out);
    assert_string_equal(test_cstr(&out), want);
    acp_buf_finish(&out);
}

static void a_tool_call(void **state)
{
    (void) state;
    expect(
        ACP_TYPE_SESSION_NOTIFICATION, ACP_V1,
        "{'sessionId':'s1','update':{'sessionUpdate':'tool_call','toolCallId':'c','title':'Read',"
        "'kind':'read','status':'in_progress','content':[{'type':'content','content':{'type':"
        "'text','text':'hi\\n'}},{'type':'diff','path':'/f','newText':'x'}],'locations':[],"
        "'rawInput':{'a': [1,\n2]},'name':null,'unknown':1}}",
        "SessionNotification\n"
        "  sessionId: \"s1\"\n"
        "  update: tool_call\n"
        "    toolCallId: \"c\"\n"
        "    title: \"Read\"\n"
        "    kind: read\n"
        "    status: in_progress\n"
        "    content:\n"
        "      - content\n"
        "        content: text\n"
        "          text: \"hi\\n\"\n"
        "      - diff\n"
        "        path: \"/f\"\n"
        "        newText: \"x\"\n"
        "    locations: none\n"
        "    rawInput: {\"a\": [1, 2]}\n");
}

static void numbers_and_unlisted_things(void **state)
{
    (void) state;
    expect(ACP_TYPE_USAGE_UPDATE, ACP_V1,
           "{'used':18446744073709551615,'size':2,'cost':{'amount':0.5,'currency':'USD'}}",
           "UsageUpdate\n"
           "  used: 18446744073709551615\n"
           "  size: 2\n"
           "  cost:\n"
           "    amount: 0.5\n"
           "    currency: \"USD\"\n");
    expect(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2,
           "{'toolCallId':'c','kind':'_own','status':null,'locations':[{'path':'/','line':7}]}",
           "ToolCallUpdate\n"
           "  toolCallId: \"c\"\n"
           "  kind: \"_own\"\n"
           "  locations:\n"
           "    -\n"
           "      path: \"/\"\n"
           "      line: 7\n");
    expect(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2,
           "{'sessionId':'s','update':{'sessionUpdate':'_own','x':1}}",
           "UpdateSessionNotification\n"
           "  sessionId: \"s\"\n"
           "  update: {\"sessionUpdate\":\"_own\",\"x\":1}\n");
    expect(ACP_TYPE_SESSION_UPDATE, ACP_V2,
           "{'sessionUpdate':'state_update','state':'idle','stopReason':'end_turn'}",
           "SessionUpdate state_update idle end_turn\n");
}

/* Bytes that a terminal would act on: controls, DEL, and the C1 controls in UTF-8. */
static bool is_harmless(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char) text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char) text.ptr[i + 1] : 0;
        if ((c < 0x20 && c != '\n') || c == 0x7F || (c == 0xC2 && next < 0xA0))
            return false;
    }
    return true;
}

static size_t lines_of(struct acp_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

/* The same text in every place where a peer's text can come to stand. */
static void no_control_character_gets_through(void **state)
{
    (void) state;
    static const char *const evil[] = {
        "\\u001b[2J",       "\\u0007",          "\\u009b31m", "\x7F",
        "\\u007f",          "\xC2\x9B[m",       "\xC2\x80",   "\xC2\x9F",
        "\\r\\n",           "\\b\\b",           "\\u0000",    "\\u0085",
        "\xC2\x85",         "\xC2\x9B\xC2\x9B", "\xC2\xA0",   "\xC3\x9B",
        "\x7F\x7F\xC2\x90",
    };
    static const struct {
        acp_type_id type;
        unsigned mode;
        const char *text; /* %s once */
    } places[] = {
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'%s'}"},
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'x','_meta':{'k':'%s'}}"},
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'x','_meta':{'%s':1}}"},
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'x','_meta':{\r\n\t'k'\r:\r1}}"},
        {ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, "{'toolCallId':'c','kind':'%s'}"},
        {ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, "{'toolCallId':'c','rawInput':['%s']}"},
        {ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, "{'toolCallId':'c','rawInput':[1,\r2]}"},
        {ACP_TYPE_SESSION_UPDATE, ACP_V2, "{'sessionUpdate':'%s'}"},
        {ACP_TYPE_SESSION_UPDATE, ACP_V2, "{'sessionUpdate':'_x','%s':'%s'}"},
        {ACP_TYPE_ANNOTATIONS, ACP_V2, "{'audience':['%s']}"},
        {ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1,
         "{'cwd':'%s','additionalDirectories':['%s'],'mcpServers':[]}"},
        {ACP_TYPE_ELICITATION_ACCEPT_ACTION, ACP_V2, "{'content':{'%s':'%s'}}"},
    };
    for (size_t e = 0; e < COUNT(evil); e++) {
        for (size_t p = 0; p < COUNT(places); p++) {
            char text[ROOM];
            char quoted[ROOM];
            struct acp_buf out;
            size_t n = 0;
            for (const char *c = places[p].text; *c; c++) {
                bool here = strncmp(c, "%s", 2) == 0;
                n += (size_t) snprintf(text + n, sizeof(text) - n, "%.*s",
                                       here ? (int) strlen(evil[e]) : 1, here ? evil[e] : c);
                c += here;
            }
            acp_buf_init(&out, 1 << 20);
            print_as(places[p].type, places[p].mode, test_quoted(text, quoted, sizeof(quoted)),
                     &out);
            CHECK_ROW(is_harmless(acp_buf_view(&out)), p, "%s", test_cstr(&out));
            CHECK_ROW(lines_of(acp_buf_view(&out)) <= 5, p, "%s", test_cstr(&out));
            acp_buf_finish(&out);
        }
    }
}

static void ordinary_letters_stay(void **state)
{
    (void) state;
    expect(ACP_TYPE_TEXT_CONTENT, ACP_V1,
           "{'text':'\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC2\xA0'}",
           "TextContent\n  text: \"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC2\xA0\"\n");
}

static void arguments_and_limits(void **state)
{
    (void) state;
    struct acp_text_content m;
    acp_text_content_init(&m, acp_str_from("a text of some length, longer than the buffer"));
    for (size_t max = 0; max < 80; max++) {
        struct acp_buf out;
        acp_buf_init(&out, max);
        int err = acp_print(ACP_TYPE_TEXT_CONTENT, ACP_V1, &m, &out);
        assert_true(err == 0 || err == ACP_ERR_LIMIT);
        assert_true(max > 40 || err == ACP_ERR_LIMIT);
        acp_buf_finish(&out);
    }
    struct acp_buf out;
    acp_buf_init(&out, 1000);
    assert_int_equal(acp_print(-1, ACP_V1, &m, &out), ACP_ERR_ARGUMENT);
    assert_int_equal(acp_print(ACP_TYPE_PLAN, ACP_V2, &m, &out), ACP_ERR_ARGUMENT);
    assert_int_equal(acp_print(ACP_TYPE_TEXT_CONTENT, 0, &m, &out), ACP_ERR_ARGUMENT);
    assert_int_equal(out.len, 0);
    acp_buf_finish(&out);
}

/* A struct of zeros, of any type, is printed without a crash. */
static void empty_messages_of_every_type(void **state)
{
    (void) state;
    static const unsigned modes[] = {ACP_V1, ACP_V1 | ACP_UNSTABLE, ACP_V2, ACP_V2 | ACP_UNSTABLE};
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    for (acp_type_id type = 0; acp_type_name(type).ptr; type++) {
        for (size_t i = 0; i < COUNT(modes); i++) {
            acp_buf_clear(&out);
            int err = acp_print(type, modes[i], acp_null(), &out);
            assert_true(err == 0 || err == ACP_ERR_ARGUMENT);
        }
    }
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_call),
        cmocka_unit_test(numbers_and_unlisted_things),
        cmocka_unit_test(no_control_character_gets_through),
        cmocka_unit_test(ordinary_letters_stay),
        cmocka_unit_test(arguments_and_limits),
        cmocka_unit_test(empty_messages_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
