/* What a session's model is told again with each request. */
#include "helpers.h"

#include "agent/coder_inside.h"
#include "workspace/beneath.h"

static struct model_part text(const char *words)
{
    return (struct model_part){.kind = MODEL_TEXT, .text = acp_str(words)};
}

static struct model_part call(const char *id, const char *name)
{
    return (struct model_part){.kind = MODEL_CALL,
                               .id = acp_str(id),
                               .name = acp_str(name),
                               .arguments = acp_raw("{\"path\":\"a.c\"}")};
}

static struct model_part result(const char *id, const char *words)
{
    return (struct model_part){.kind = MODEL_RESULT, .id = acp_str(id), .text = acp_str(words)};
}

static void add(struct history *history, enum model_role role, struct model_part part)
{
    assert_int_equal(history_add(history, role, &part, 1), 0);
}

static void what_is_added_is_copied(void **state)
{
    struct history *history;
    char words[] = "hello";
    struct model_part part = text(words);
    size_t count;
    (void) state;
    assert_int_equal(history_new(NULL, &history), 0);
    add(history, MODEL_USER, part);
    words[0] = 'j';
    const struct model_message *messages = history_messages(history, &count);
    assert_int_equal(count, 1);
    assert_true(acp_str_is(messages[0].parts[0].text, "hello"));
    assert_true(history_tokens(history) > 0);
    history_clear(history);
    (void) history_messages(history, &count);
    assert_int_equal(count, 0);
    assert_int_equal(history_tokens(history), 0);
    history_free(history);
}

static void calls_without_a_result_get_one(void **state)
{
    struct history *history;
    struct model_part parts[] = {text("I look."), call("1", "read"), call("2", "grep")};
    size_t count;
    (void) state;
    assert_int_equal(history_new(NULL, &history), 0);
    assert_int_equal(history_close_calls(history, acp_str("cancelled")), 0);
    add(history, MODEL_USER, text("look"));
    assert_int_equal(history_close_calls(history, acp_str("cancelled")), 0);
    assert_int_equal(history_add(history, MODEL_ASSISTANT, parts, 3), 0);
    assert_int_equal(history_close_calls(history, acp_str("cancelled")), 2);
    const struct model_message *messages = history_messages(history, &count);
    assert_int_equal(count, 3);
    assert_int_equal(messages[2].role, MODEL_USER);
    assert_int_equal(messages[2].part_count, 2);
    assert_true(messages[2].parts[1].failed);
    assert_true(acp_str_is(messages[2].parts[1].id, "2"));
    assert_true(acp_str_is(messages[2].parts[1].text, "cancelled"));
    assert_int_equal(history_close_calls(history, acp_str("cancelled")), 0);
    history_free(history);
}

static void a_summary_does_not_part_calls_from_results(void **state)
{
    struct history *history;
    size_t count;
    (void) state;
    assert_int_equal(history_new(NULL, &history), 0);
    add(history, MODEL_USER, text("one"));
    add(history, MODEL_ASSISTANT, text("two"));
    add(history, MODEL_USER, text("three"));
    add(history, MODEL_ASSISTANT, call("1", "read"));
    add(history, MODEL_USER, result("1", "found"));
    assert_int_equal(history_compact(history, acp_str("in short"), 1), 0);
    const struct model_message *messages = history_messages(history, &count);
    assert_int_equal(count, 3);
    assert_true(acp_str_is(messages[0].parts[0].text, "in short"));
    assert_int_equal(messages[1].parts[0].kind, MODEL_CALL);
    assert_int_equal(messages[2].parts[0].kind, MODEL_RESULT);
    history_free(history);
}

static void a_message_comes_back_from_the_log(void **state)
{
    struct history *first;
    struct history *second;
    struct acp_buf buf[2];
    struct acp_json_writer w;
    struct model_part parts[] = {
        {.kind = MODEL_THOUGHT,
         .text = acp_str("hm"),
         .sealed = {acp_str("anthropic"), acp_raw("{\"signature\":\"x\"}")}},
        text("\"quoted\"\n"),
        call("7", "edit"),
        {.kind = MODEL_RESULT, .failed = true, .id = acp_str("7"), .text = acp_str("no")},
        {.kind = MODEL_IMAGE, .mime = acp_str("image/png"), .data = acp_str("AAAA")},
    };
    size_t count;
    (void) state;
    assert_int_equal(history_new(NULL, &first), 0);
    assert_int_equal(history_new(NULL, &second), 0);
    assert_int_equal(history_add(first, MODEL_ASSISTANT, parts, 5), 0);
    for (size_t i = 0; i < 2; i++) {
        acp_buf_init(&buf[i], 1 << 16);
        acp_json_writer_init(&w, &buf[i]);
        history_write(history_messages(i ? second : first, &count), &w);
        assert_int_equal(w.err, 0);
        if (!i)
            assert_int_equal(
                history_read(second, acp_raw_n(buf[0].data + buf[0].start, buf[0].len)), 0);
    }
    assert_int_equal(buf[0].len, buf[1].len);
    assert_memory_equal(buf[0].data + buf[0].start, buf[1].data + buf[1].start, buf[0].len);
    assert_int_equal(
        history_read(second, acp_raw("{\"role\":\"user\",\"parts\":[{\"kind\":\"x\"}]}")),
        ACP_ERR_VARIANT);
    acp_buf_finish(&buf[0]);
    acp_buf_finish(&buf[1]);
    history_free(first);
    history_free(second);
}

/* ---- Shortened, to be summed up -------------------------------------------------------------- */

static void a_conversation_is_shortened_and_stays_valid(void **state)
{
    static char words[90000];
    struct model_part parts[] = {text("hello"),
                                 call("1", "write"),
                                 result("1", words),
                                 {.kind = MODEL_IMAGE, .data = acp_str("QUJD")},
                                 {.kind = MODEL_THOUGHT, .text = acp_str(words)}};
    struct model_message messages[] = {{MODEL_USER, &parts[0], 1},
                                       {MODEL_ASSISTANT, &parts[1], 1},
                                       {MODEL_USER, &parts[2], 2},
                                       {MODEL_ASSISTANT, &parts[4], 1}};
    struct model_message shorter[4];
    struct acp_arena arena;
    (void) state;
    for (size_t i = 0; i + 2 < sizeof(words); i += 2)
        memcpy(words + i, "\xc3\xbc", 2);
    parts[2].text = acp_str(words);
    parts[4].text = acp_str(words);
    parts[1].arguments = acp_raw_n(words, 60000);
    acp_arena_init(&arena, 0);
    assert_int_equal(coder_shorten(messages, 4, &arena, shorter), 0);
    assert_true(acp_str_is(shorter[0].parts[0].text, "hello"));
    assert_true(acp_str_is(shorter[1].parts[0].id, "1"));
    assert_int_equal(shorter[1].parts[0].arguments.len, 2); /* {} */
    const struct model_part *cut = &shorter[2].parts[0];
    assert_true(acp_str_is(cut->id, "1"));
    assert_in_range(cut->text.len, 1000, 20000);
    assert_memory_equal(cut->text.ptr + cut->text.len - 8, "\xc3\xbc [...]", 8);
    assert_int_equal(acp_text_check(cut->text), cut->text.len);
    assert_int_equal(shorter[2].parts[1].kind, MODEL_TEXT);
    assert_int_equal(shorter[3].parts[0].text.len, strlen(words)); /* a thought may be sealed */
    acp_arena_finish(&arena);
}

/* What does not fit is refused, nothing is lost, and calls that are open can still be closed. */
static void a_history_has_a_limit(void **state)
{
    enum { PIECE = 16 * 1024 * 1024, PIECES = HISTORY_MAX_BYTES / PIECE };
    struct history *history;
    char *words = test_malloc(PIECE);
    struct model_part part = {.kind = MODEL_TEXT, .text = {words, PIECE - 8192}};
    struct model_part open = call("c", "read");
    size_t count;
    (void) state;
    memset(words, 'w', PIECE);
    assert_int_equal(history_new(NULL, &history), 0);
    for (int i = 0; i < PIECES; i++)
        add(history, MODEL_USER, part);
    add(history, MODEL_ASSISTANT, open);
    assert_int_equal(history_add(history, MODEL_USER, &part, 1), ACP_ERR_LIMIT);
    part.text.len = 0;
    part.kind = MODEL_IMAGE;
    part.data = acp_str_n(words, 1024 * 1024); /* counts although it is no text */
    assert_int_equal(history_add(history, MODEL_USER, &part, 1), ACP_ERR_LIMIT);
    (void) history_messages(history, &count);
    assert_int_equal(count, PIECES + 1);
    assert_int_equal(history_close_calls(history, acp_str("no room")), 1);
    assert_non_null(strstr(history_err_text(history, ACP_ERR_LIMIT), "begin a new session"));
    /* A shorter one takes more again. */
    assert_int_equal(history_compact(history, acp_str("short"), 1), 0);
    part.text.len = PIECE;
    assert_int_equal(history_add(history, MODEL_USER, &part, 1), 0);
    history_free(history);
    test_free(words);
}

/* Sessions share what there is, and one that goes makes room. */
static void histories_share_a_total(void **state)
{
    enum { PIECE = 16 * 1024 * 1024, EACH = 7, COUNT = 5 };
    struct history *histories[COUNT];
    size_t total = 0;
    size_t refused = 0;
    char *words = test_malloc(PIECE);
    struct model_part part = {.kind = MODEL_TEXT, .text = {words, PIECE - 8192}};
    (void) state;
    memset(words, 'w', PIECE);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(history_new(&total, &histories[i]), 0);
    for (int i = 0; i < COUNT * EACH; i++) {
        int err = history_add(histories[i / EACH], MODEL_USER, &part, 1);
        assert_int_equal(err, i < HISTORY_MAX_TOTAL / PIECE ? 0 : ACP_ERR_LIMIT);
        refused += err != 0;
    }
    assert_int_equal(refused, COUNT * EACH - HISTORY_MAX_TOTAL / PIECE);
    assert_true(total <= HISTORY_MAX_TOTAL && total > HISTORY_MAX_TOTAL - PIECE);
    assert_non_null(strstr(history_err_text(histories[COUNT - 1], ACP_ERR_LIMIT), "all sessions"));
    assert_int_equal(history_compact(histories[0], acp_str("short"), 1), 0);
    assert_true(total <= HISTORY_MAX_TOTAL - (EACH - 2) * (size_t) PIECE);
    assert_int_equal(history_add(histories[COUNT - 1], MODEL_USER, &part, 1), 0);
    for (int i = 0; i < COUNT; i++)
        history_free(histories[i]);
    assert_int_equal(total, 0);
    test_free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_copied),
        cmocka_unit_test(calls_without_a_result_get_one),
        cmocka_unit_test(a_summary_does_not_part_calls_from_results),
        cmocka_unit_test(a_message_comes_back_from_the_log),
        cmocka_unit_test(a_conversation_is_shortened_and_stays_valid),
        cmocka_unit_test(a_history_has_a_limit),
        cmocka_unit_test(histories_share_a_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
