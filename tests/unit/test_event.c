/* Events: what is written is read again, also what version 0.1 wrote; anything else is refused. */
#include "helpers.h"

#include "acp/types.h"
#include "transcript/event.h"

static void every_kind_has_one_name(void **state)
{
    (void) state;
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        enum event_kind found;
        const char *name = event_kind_name((enum event_kind) kind);
        assert_non_null(name);
        assert_true(event_kind_find(acp_str_from(name), &found));
        assert_int_equal(found, kind);
    }
    enum event_kind found = EVENT_STOP;
    assert_false(event_kind_find(acp_str_from("dance"), &found));
    assert_false(event_kind_find(acp_str_from(""), &found));
    assert_int_equal(found, EVENT_STOP);
    assert_true(event_is_update(EVENT_TOOL_CALL));
    assert_false(event_is_update(EVENT_PROMPT));
    assert_false(event_is_update(EVENT_NOTICE));
}

static void an_event_is_read_as_it_was_written(void **state)
{
    (void) state;
    const struct session_event events[] = {
        {.kind = EVENT_OPENED, .sequence = 1, .turn = 0, .time = 1700000000000, .body = TEXT("{}")},
        {.kind = EVENT_MESSAGE,
         .sequence = UINT64_MAX,
         .turn = UINT64_MAX,
         .time = -1,
         .body = TEXT("{\"a\":[1,{\"b\":\"\\u00e4\"}]}")},
        {.kind = EVENT_CLOSED,
         .sequence = 0,
         .turn = 7,
         .time = INT64_MAX,
         .body = TEXT("{\"message\":\"gone\"}")},
    };
    for (size_t i = 0; i < COUNT(events); i++) {
        struct acp_buf text;
        struct acp_json_writer w;
        struct acp_arena arena;
        struct session_event got;
        struct acp_str session;
        acp_buf_init(&text, 10000);
        acp_arena_init(&arena, 0);
        acp_json_writer_init(&w, &text);
        assert_int_equal(event_write(&events[i], acp_str_from("a \"session\""), &w), 0);
        struct acp_raw line = acp_raw_n(text.data + text.start, text.len);
        assert_int_equal(event_read(line, &arena, &got, &session, NULL), 0);
        assert_int_equal(got.kind, events[i].kind);
        assert_int_equal(got.sequence, events[i].sequence);
        assert_int_equal(got.turn, events[i].turn);
        assert_int_equal(got.time, events[i].time);
        assert_true(acp_str_is(session, "a \"session\""));
        assert_int_equal(got.body.len, events[i].body.len);
        assert_memory_equal(got.body.ptr, events[i].body.ptr, got.body.len);
        acp_arena_finish(&arena);
        acp_buf_finish(&text);
    }
}

static void anything_else_is_refused_with_a_reason(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        int err;
    } rows[] = {
        {"", ACP_ERR_SYNTAX},
        {"[]", ACP_ERR_TYPE},
        {"{}", ACP_ERR_VARIANT},
        {"{\"version\":3,\"session\":\"s\",\"kind\":\"stop\",\"body\":{}}", ACP_ERR_VARIANT},
        {"{\"version\":1,\"kind\":\"stop\",\"body\":{}}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"dance\",\"body\":{}}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":[]}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":7,\"kind\":\"stop\",\"body\":{}}", ACP_ERR_TYPE},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":{}} x", ACP_ERR_SYNTAX},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":{", ACP_ERR_SYNTAX},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_arena arena;
        struct session_event got = {.sequence = 99};
        struct acp_str session = acp_str_from("untouched");
        struct acp_failure failure = {0};
        acp_arena_init(&arena, 0);
        int err = event_read(acp_raw_from(rows[i].text), &arena, &got, &session, &failure);
        CHECK_ROW(err == rows[i].err, i, "%d: %s", err, rows[i].text);
        CHECK_ROW(*failure.message, i, "%s", rows[i].text);
        CHECK_ROW(got.sequence == 99 && acp_str_is(session, "untouched"), i, "written");
        acp_arena_finish(&arena);
    }
}

static void unknown_members_are_ignored(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct session_event got;
    struct acp_str session;
    acp_arena_init(&arena, 0);
    assert_int_equal(
        event_read(acp_raw_from("{\"colour\":{\"a\":[]},\"version\":1,\"session\":\"s\","
                                "\"kind\":\"stop\",\"body\":{\"stopReason\":\"x\"}}"),
                   &arena, &got, &session, NULL),
        0);
    assert_int_equal(got.kind, EVENT_STOP);
    assert_int_equal(got.sequence, 0);
    acp_arena_finish(&arena);
}

static void a_prompt_is_read_block_by_block(void **state)
{
    (void) state;
    struct acp_content_block blocks[2];
    struct acp_content_block_list got;
    struct acp_buf body;
    struct acp_arena arena;
    acp_buf_init(&body, 10000);
    acp_arena_init(&arena, 0);
    acp_content_block_init_text(&blocks[0], acp_str_from("look at\nthis"));
    acp_content_block_init_image(&blocks[1], acp_str_from("aGk="), acp_str_from("image/png"));
    assert_int_equal(event_write_prompt(blocks, 2, &body, NULL), 0);
    struct acp_raw raw = acp_raw_n(body.data + body.start, body.len);
    assert_int_equal(event_read_prompt(raw, &arena, &got, NULL), 0);
    assert_int_equal(got.count, 2);
    assert_true(acp_str_is(got.items[0].text.text, "look at\nthis"));
    assert_true(acp_str_is(got.items[1].image.mime_type, "image/png"));
    assert_int_equal(event_read_prompt(acp_raw_from("{}"), &arena, &got, NULL), ACP_ERR_MISSING);
    assert_true(event_read_prompt(acp_raw_from("{\"prompt\":7}"), &arena, &got, NULL) < 0);
    assert_true(event_read_prompt(acp_raw_from("{\"prompt\":[{\"type\":\"text\"}]}"), &arena, &got,
                                  NULL) < 0);
    acp_arena_finish(&arena);
    acp_buf_finish(&body);
}

/* Lines of an export of version 0.1, and what they are now. */
static void events_of_version_0_1_get_their_present_names(void **state)
{
#define OLD "{'version':1,'session':'s','request':3,'sequence':1,'time':5,"
    static const struct {
        const char *line;
        enum event_kind kind;
        const char *body;
    } rows[] = {
        {OLD "'kind':'open','body':{}}", EVENT_OPENED, "{}"},
        {OLD "'kind':'user','body':{}}", EVENT_USER_MESSAGE, "{}"},
        {OLD "'kind':'tool','body':{}}", EVENT_TOOL_CALL, "{}"},
        {OLD "'kind':'options','body':{'whose':1}}", EVENT_CONFIG_OPTIONS, "{'whose':1}"},
        {OLD "'kind':'error','body':{'whose':'agent','code':-1,'message':'no \\u00e4'}}",
         EVENT_ERROR, "{'source':'agent','code':-1,'message':'no \\u00e4'}"},
    };
#undef OLD
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[300];
        char body[200];
        struct acp_arena arena;
        struct session_event got;
        struct acp_str session;
        acp_arena_init(&arena, 0);
        struct acp_raw want = test_quoted(rows[i].body, body, sizeof(body));
        struct acp_raw object = test_quoted(rows[i].line, line, sizeof(line));
        assert_int_equal(event_read(object, &arena, &got, &session, NULL), 0);
        CHECK_ROW(got.kind == rows[i].kind, i, "%d", got.kind);
        CHECK_ROW(got.turn == 3, i, "%llu", (unsigned long long) got.turn);
        CHECK_ROW(acp_str_eq(acp_str_n(got.body.ptr, got.body.len), acp_str_n(want.ptr, want.len)),
                  i, "%.*s", (int) got.body.len, got.body.ptr);
        acp_arena_finish(&arena);
    }
}

static void only_present_names_are_written(void **state)
{
    struct acp_buf text;
    struct acp_json_writer w;
    const struct session_event event = {
        .kind = EVENT_TOOL_CALL, .sequence = 2, .turn = 1, .time = 7, .body = TEXT("{}")};
    (void) state;
    acp_buf_init(&text, 1000);
    acp_json_writer_init(&w, &text);
    assert_int_equal(event_write(&event, acp_str_from("s"), &w), 0);
    assert_string_equal(test_cstr(&text), "{\"version\":2,\"session\":\"s\",\"turn\":1,"
                                          "\"sequence\":2,\"time\":7,\"kind\":\"tool_call\","
                                          "\"body\":{}}");
    acp_buf_finish(&text);
    assert_string_equal(error_source_name(ERROR_SOURCE_USER), "user");
}

/* Each row of the table for migrations leads from a name that is gone to one that is in use. */
static void old_kinds_are_found_under_their_present_names(void **state)
{
    static const char *const rows[][2] = {
#define ROW(old, present) {(old), (present)},
        EVENT_RENAMED_KINDS(ROW)
#undef ROW
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum event_kind kind;
        CHECK_ROW(event_kind_find(acp_str_from(rows[i][0]), &kind), i, "%s", rows[i][0]);
        CHECK_ROW(strcmp(event_kind_name(kind), rows[i][1]) == 0, i, "%s", event_kind_name(kind));
    }
}

static void an_update_is_decoded_unless_it_is_already(void **state)
{
    struct acp_arena arena;
    const struct acp_session_update *update = NULL;
    struct acp_session_update known = {.is = ACP_SESSION_UPDATE_NOTICE};
    struct session_event event = {
        .kind = EVENT_MESSAGE,
        .body = TEXT("{\"sessionUpdate\":\"agent_message_chunk\","
                     "\"content\":{\"type\":\"text\",\"text\":\"hi\"}}"),
    };
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(event_decode(&event, ACP_V1, &arena, &update), 0);
    assert_int_equal(update->is, ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK);
    assert_true(acp_str_is(update->agent_message_chunk.content.text.text, "hi"));
    event.update = &known;
    assert_int_equal(event_decode(&event, ACP_V1, &arena, &update), 0);
    assert_ptr_equal(update, &known);
    event = (struct session_event){.kind = EVENT_STOP, .body = TEXT("{}")};
    assert_int_equal(event_decode(&event, ACP_V1, &arena, &update), ACP_ERR_ARGUMENT);
    event = (struct session_event){.kind = EVENT_PLAN, .body = TEXT("{}")};
    assert_true(event_decode(&event, ACP_V1, &arena, &update) < 0);
    assert_ptr_equal(update, &known);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_one_name),
        cmocka_unit_test(an_event_is_read_as_it_was_written),
        cmocka_unit_test(anything_else_is_refused_with_a_reason),
        cmocka_unit_test(unknown_members_are_ignored),
        cmocka_unit_test(a_prompt_is_read_block_by_block),
        cmocka_unit_test(events_of_version_0_1_get_their_present_names),
        cmocka_unit_test(only_present_names_are_written),
        cmocka_unit_test(old_kinds_are_found_under_their_present_names),
        cmocka_unit_test(an_update_is_decoded_unless_it_is_already),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
