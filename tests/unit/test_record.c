/* Records: what is written is read again, and what is none is refused. */
#include "helpers.h"

#include "acp/types.h"
#include "transcript/event.h"

static void every_kind_has_one_name(void **state)
{
    (void) state;
    for (int kind = 0; kind < RECORD_KINDS; kind++) {
        enum record_kind found;
        const char *name = record_kind_name((enum record_kind) kind);
        assert_non_null(name);
        assert_true(record_kind_find(acp_str_from(name), &found));
        assert_int_equal(found, kind);
    }
    enum record_kind found = RECORD_STOP;
    assert_false(record_kind_find(acp_str_from("dance"), &found));
    assert_false(record_kind_find(acp_str_from(""), &found));
    assert_int_equal(found, RECORD_STOP);
    assert_true(record_is_update(RECORD_TOOL));
    assert_false(record_is_update(RECORD_PROMPT));
    assert_false(record_is_update(RECORD_NOTICE));
}

static void a_record_comes_back_as_it_was(void **state)
{
    (void) state;
    const struct record records[] = {
        {.kind = RECORD_OPEN,
         .sequence = 1,
         .request = 0,
         .time = 1700000000000,
         .body = TEXT("{}")},
        {.kind = RECORD_MESSAGE,
         .sequence = UINT64_MAX,
         .request = UINT64_MAX,
         .time = -1,
         .body = TEXT("{\"a\":[1,{\"b\":\"\\u00e4\"}]}")},
        {.kind = RECORD_CLOSED,
         .sequence = 0,
         .request = 7,
         .time = INT64_MAX,
         .body = TEXT("{\"message\":\"gone\"}")},
    };
    for (size_t i = 0; i < COUNT(records); i++) {
        struct acp_buf text;
        struct acp_json_writer w;
        struct acp_arena arena;
        struct record got;
        struct acp_str session;
        acp_buf_init(&text, 10000);
        acp_arena_init(&arena, 0);
        acp_json_writer_init(&w, &text);
        assert_int_equal(record_write(&records[i], acp_str_from("a \"session\""), &w), 0);
        struct acp_raw line = acp_raw_n(text.data + text.start, text.len);
        assert_int_equal(record_read(line, &arena, &got, &session, NULL), 0);
        assert_int_equal(got.kind, records[i].kind);
        assert_int_equal(got.sequence, records[i].sequence);
        assert_int_equal(got.request, records[i].request);
        assert_int_equal(got.time, records[i].time);
        assert_true(acp_str_is(session, "a \"session\""));
        assert_int_equal(got.body.len, records[i].body.len);
        assert_memory_equal(got.body.ptr, records[i].body.ptr, got.body.len);
        acp_arena_finish(&arena);
        acp_buf_finish(&text);
    }
}

static void what_is_no_record_is_refused_with_a_sentence(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        int err;
    } rows[] = {
        {"", ACP_ERR_SYNTAX},
        {"[]", ACP_ERR_TYPE},
        {"{}", ACP_ERR_VARIANT},
        {"{\"version\":2,\"session\":\"s\",\"kind\":\"stop\",\"body\":{}}", ACP_ERR_VARIANT},
        {"{\"version\":1,\"kind\":\"stop\",\"body\":{}}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"dance\",\"body\":{}}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":[]}", ACP_ERR_MISSING},
        {"{\"version\":1,\"session\":7,\"kind\":\"stop\",\"body\":{}}", ACP_ERR_TYPE},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":{}} x", ACP_ERR_SYNTAX},
        {"{\"version\":1,\"session\":\"s\",\"kind\":\"stop\",\"body\":{", ACP_ERR_SYNTAX},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_arena arena;
        struct record got = {.sequence = 99};
        struct acp_str session = acp_str_from("untouched");
        struct acp_failure failure = {0};
        acp_arena_init(&arena, 0);
        int err = record_read(acp_raw_from(rows[i].text), &arena, &got, &session, &failure);
        CHECK_ROW(err == rows[i].err, i, "%d: %s", err, rows[i].text);
        CHECK_ROW(*failure.message, i, "%s", rows[i].text);
        CHECK_ROW(got.sequence == 99 && acp_str_is(session, "untouched"), i, "written");
        acp_arena_finish(&arena);
    }
}

static void what_is_new_in_a_record_is_passed_over(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct record got;
    struct acp_str session;
    acp_arena_init(&arena, 0);
    assert_int_equal(
        record_read(acp_raw_from("{\"colour\":{\"a\":[]},\"version\":1,\"session\":\"s\","
                                 "\"kind\":\"stop\",\"body\":{\"stopReason\":\"x\"}}"),
                    &arena, &got, &session, NULL),
        0);
    assert_int_equal(got.kind, RECORD_STOP);
    assert_int_equal(got.sequence, 0);
    acp_arena_finish(&arena);
}

static void a_prompt_comes_back_block_by_block(void **state)
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
    assert_int_equal(record_write_prompt(blocks, 2, &body, NULL), 0);
    struct acp_raw raw = acp_raw_n(body.data + body.start, body.len);
    assert_int_equal(record_read_prompt(raw, &arena, &got, NULL), 0);
    assert_int_equal(got.count, 2);
    assert_true(acp_str_is(got.items[0].text.text, "look at\nthis"));
    assert_true(acp_str_is(got.items[1].image.mime_type, "image/png"));
    assert_int_equal(record_read_prompt(acp_raw_from("{}"), &arena, &got, NULL), ACP_ERR_MISSING);
    assert_true(record_read_prompt(acp_raw_from("{\"prompt\":7}"), &arena, &got, NULL) < 0);
    assert_true(record_read_prompt(acp_raw_from("{\"prompt\":[{\"type\":\"text\"}]}"), &arena, &got,
                                   NULL) < 0);
    acp_arena_finish(&arena);
    acp_buf_finish(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_one_name),
        cmocka_unit_test(a_record_comes_back_as_it_was),
        cmocka_unit_test(what_is_no_record_is_refused_with_a_sentence),
        cmocka_unit_test(what_is_new_in_a_record_is_passed_over),
        cmocka_unit_test(a_prompt_comes_back_block_by_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
