/* What a session's model is replayed with each request. */
#include <malloc.h>
#include <stdio.h>

#include "helpers.h"

#include "agent/loop/coding_agent_internal.h"
#include "workspace/beneath.h"

static struct model_part text(const char *words)
{
    return (struct model_part){.kind = MODEL_TEXT, .text = acp_str_from(words)};
}

static struct model_part call(const char *id, const char *name)
{
    return (struct model_part){.kind = MODEL_CALL,
                               .id = acp_str_from(id),
                               .name = acp_str_from(name),
                               .arguments = acp_raw_from("{\"path\":\"a.c\"}")};
}

static struct model_part result(const char *id, const char *words)
{
    return (struct model_part){
        .kind = MODEL_RESULT, .id = acp_str_from(id), .text = acp_str_from(words)};
}

static void add(struct history *history, enum model_role role, struct model_part part)
{
    assert_int_equal(history_add(history, role, &part, 1), 0);
}

static struct history *new_history(void)
{
    struct history *history = NULL;
    assert_int_equal(history_new(NULL, &history), 0);
    return history;
}

/* All messages; finish() takes them back. */
static struct acp_arena arena;

static const struct model_message *messages_of(const struct history *history, size_t count)
{
    acp_arena_init(&arena, 0);
    assert_int_equal(history_count(history), count);
    const struct model_message *messages = history_messages(history, 0, &arena);
    assert_non_null(messages);
    return messages;
}

static void finish(struct history *history)
{
    acp_arena_finish(&arena);
    history_free(history);
}

static void what_is_added_is_copied(void **state)
{
    struct history *history = new_history();
    char words[] = "hello";
    (void) state;
    add(history, MODEL_USER, text(words));
    words[0] = 'j';
    const struct model_message *messages = messages_of(history, 1);
    assert_true(acp_str_is(messages[0].parts[0].text, "hello"));
    assert_true(history_tokens(history) > 0);
    history_clear(history);
    assert_int_equal(history_count(history), 0);
    assert_int_equal(history_tokens(history), 0);
    finish(history);
}

/* ---- Always valid ---------------------------------------------------------------------------- */

static void calls_without_a_result_get_one(void **state)
{
    struct history *history = new_history();
    struct model_part parts[] = {text("I look."), call("1", "read"), call("2", "grep")};
    (void) state;
    assert_int_equal(history_close_calls(history, acp_str_from("cancelled")), 0);
    add(history, MODEL_USER, text("look"));
    assert_int_equal(history_close_calls(history, acp_str_from("cancelled")), 0);
    assert_int_equal(history_add(history, MODEL_ASSISTANT, parts, 3), 0);
    assert_int_equal(history_close_calls(history, acp_str_from("cancelled")), 2);
    const struct model_message *messages = messages_of(history, 3);
    assert_int_equal(messages[2].role, MODEL_USER);
    assert_int_equal(messages[2].part_count, 2);
    assert_true(messages[2].parts[1].failed);
    assert_true(acp_str_is(messages[2].parts[1].id, "2"));
    assert_true(acp_str_is(messages[2].parts[1].text, "cancelled"));
    assert_int_equal(history_close_calls(history, acp_str_from("cancelled")), 0);
    finish(history);
}

/* Whatever follows a call, as after a crash: the results are there, and right behind it. */
static void what_follows_a_call_does_not_break_it(void **state)
{
    struct model_part calls[] = {call("1", "read"), call("2", "grep")};
    struct model_part some[] = {text("and"), result("2", "found"), result("9", "nobody asked")};
    (void) state;
    for (int how = 0; how < 3; how++) {
        struct history *history = new_history();
        add(history, MODEL_USER, text("look"));
        assert_int_equal(history_add(history, MODEL_ASSISTANT, calls, 2), 0);
        if (how == 0)
            add(history, MODEL_USER, text("next"));
        else if (how == 1)
            add(history, MODEL_ASSISTANT, text("next"));
        else
            assert_int_equal(history_add(history, MODEL_USER, some, 3), 0);
        const struct model_message *messages = messages_of(history, how == 2 ? 3 : 4);
        const struct model_part *parts = messages[2].parts;
        assert_int_equal(messages[2].part_count, how == 2 ? 3 : 2);
        assert_int_equal(messages[2].role, MODEL_USER);
        assert_true(acp_str_is(parts[0].id, "1") && parts[0].failed);
        assert_non_null(strstr(parts[0].text.ptr, "interrupted"));
        assert_true(acp_str_is(parts[1].id, "2") && parts[1].failed == (how != 2));
        if (how == 2)
            assert_true(acp_str_is(parts[2].text, "and"));
        finish(history);
    }
}

static void nothing_empty_and_nothing_misplaced_is_kept(void **state)
{
    struct history *history = new_history();
    struct model_part sealed = {.kind = MODEL_TEXT,
                                .text = acp_str_from(""),
                                .sealed = {acp_str_from("gemini"), acp_raw_from("\"s\"")}};
    struct model_part thoughts[] = {text("a"), {.kind = MODEL_THOUGHT, .text = acp_str_from("hm")}};
    (void) state;
    add(history, MODEL_USER, text(""));
    add(history, MODEL_USER, result("1", "of no call"));
    add(history, MODEL_USER, call("1", "read"));
    assert_int_equal(history_add(history, MODEL_USER, NULL, 0), 0);
    assert_int_equal(history_count(history), 0);
    add(history, MODEL_USER, text("a"));
    add(history, MODEL_ASSISTANT, sealed);
    add(history, MODEL_ASSISTANT,
        (struct model_part){.kind = MODEL_THOUGHT, .text = acp_str_from("")});
    add(history, MODEL_ASSISTANT, result("1", "of the other side"));
    assert_int_equal(history_add(history, MODEL_ASSISTANT, thoughts, 2), 0);
    const struct model_message *messages = messages_of(history, 3);
    assert_int_equal(messages[2].part_count, 1); /* a thought that nothing follows is refused */
    finish(history);
}

/* ---- Shorter --------------------------------------------------------------------------------- */

static void a_summary_does_not_part_calls_from_results(void **state)
{
    struct history *history = new_history();
    (void) state;
    add(history, MODEL_USER, text("one"));
    add(history, MODEL_ASSISTANT, text("two"));
    add(history, MODEL_USER, text("three"));
    add(history, MODEL_ASSISTANT, call("1", "read"));
    add(history, MODEL_USER, result("1", "found"));
    assert_int_equal(history_compact(history, acp_str_from("in short"), 1), 0);
    const struct model_message *messages = messages_of(history, 3);
    assert_true(acp_str_is(messages[0].parts[0].text, "in short"));
    assert_int_equal(messages[1].parts[0].kind, MODEL_CALL);
    assert_int_equal(messages[2].parts[0].kind, MODEL_RESULT);
    finish(history);
}

static void reasoning_is_removed_and_the_words_stay(void **state)
{
    struct history *history = new_history();
    struct model_sealed seal = {acp_str_from("anthropic"), acp_raw_from("\"x\"")};
    struct model_part sealed_call = call("1", "read");
    sealed_call.sealed = seal;
    struct model_part parts[] = {
        {.kind = MODEL_THOUGHT, .text = acp_str_from("hm"), .sealed = seal},
        text("I look."),
        sealed_call};
    struct model_part empty = {.kind = MODEL_TEXT, .text = acp_str_from(""), .sealed = seal};
    (void) state;
    add(history, MODEL_USER, text("look"));
    assert_int_equal(history_add(history, MODEL_ASSISTANT, parts, 3), 0);
    add(history, MODEL_USER, result("1", "found"));
    add(history, MODEL_ASSISTANT, empty);
    uint64_t tokens = history_tokens(history);
    assert_int_equal(history_strip_reasoning(history), 0);
    const struct model_message *messages = messages_of(history, 3);
    assert_true(history_tokens(history) <= tokens);
    assert_int_equal(messages[1].part_count, 2);
    assert_true(acp_str_is(messages[1].parts[0].text, "I look."));
    assert_null(messages[1].parts[1].sealed.api.ptr);
    assert_null(messages[1].parts[1].sealed.data.ptr);
    assert_true(acp_str_is(messages[1].parts[1].id, "1"));
    assert_true(acp_str_is(messages[2].parts[0].text, "found"));
    finish(history);
}

static void a_turn_can_leave_the_history(void **state)
{
    struct history *history = new_history();
    (void) state;
    add(history, MODEL_USER, text("one"));
    add(history, MODEL_ASSISTANT, text("two"));
    uint64_t tokens = history_tokens(history);
    add(history, MODEL_USER, text("three, which is refused"));
    history_truncate(history, 5);
    assert_int_equal(history_count(history), 3);
    history_truncate(history, 2);
    assert_int_equal(history_tokens(history), tokens);
    add(history, MODEL_USER, text("four"));
    assert_true(acp_str_is(messages_of(history, 3)[2].parts[0].text, "four"));
    finish(history);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes of malloc, with its own; where another one is in its place, as with sanitizers, 0. */
static size_t memory_used(void)
{
    return mallinfo2().uordblks;
}

static size_t text_of(const struct model_part *part)
{
    return part->text.len + part->id.len + part->name.len + part->arguments.len;
}

/* Three requests with two tool calls, in few words, as in many a small turn. */
static size_t add_turn(struct history *history, int number)
{
    char ids[2][40];
    size_t bytes = 0;
    for (int i = 0; i < 2; i++)
        (void) snprintf(ids[i], sizeof(ids[i]), "toolu_01A09q90qw90lq91%08d", 2 * number + i);
    struct model_part parts[] = {
        text("Which of the tests is slow, and why?"),
        text("I look at what there is."),
        call(ids[0], "read"),
        result(ids[0],
               "1  #include <stdio.h>\n2\n3  int main(void)\n4  {\n5      return 0;\n6  }\n"),
        call(ids[1], "run_command"),
        result(ids[1], "1/2 base    OK   0.01s\n2/2 store   OK   4.20s\nOk: 2\nFail: 0\n"),
        text("The test \"store\" takes 4.2 s, since it writes to the disk for each event."),
    };
    static const struct {
        enum model_role role;
        size_t first;
        size_t count;
    } messages[] = {{MODEL_USER, 0, 1},      {MODEL_ASSISTANT, 1, 2}, {MODEL_USER, 3, 1},
                    {MODEL_ASSISTANT, 4, 1}, {MODEL_USER, 5, 1},      {MODEL_ASSISTANT, 6, 1}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        bytes += text_of(&parts[i]);
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
        assert_int_equal(
            history_add(history, messages[i].role, &parts[messages[i].first], messages[i].count),
            0);
    return bytes;
}

static void a_history_takes_at_most_twice_its_text(void **state)
{
    enum { TURNS = 1000 };
    struct history *history = new_history();
    size_t before = memory_used();
    size_t bytes = 0;
    (void) state;
    for (int i = 0; i < TURNS; i++)
        bytes += add_turn(history, i);
    size_t used = memory_used() - before;
    print_message("%d turns: %zu bytes of text in %zu bytes of memory\n", TURNS, bytes, used);
    assert_true(used <= 2 * bytes);
    messages_of(history, (size_t) 6 * TURNS);
    finish(history);
}

/* ---- The log --------------------------------------------------------------------------------- */

static void a_message_comes_back_from_the_log(void **state)
{
    struct history *first = new_history();
    struct history *second = new_history();
    struct acp_buf buf[2];
    struct acp_json_writer w;
    struct model_part parts[] = {
        {.kind = MODEL_THOUGHT,
         .text = acp_str_from("hm"),
         .sealed = {acp_str_from("anthropic"), acp_raw_from("{\"signature\":\"x\"}")}},
        text("\"quoted\"\n"),
        {.kind = MODEL_IMAGE, .mime = acp_str_from("image/png"), .data = acp_str_from("AAAA")},
        call("7", "edit"),
    };
    (void) state;
    assert_int_equal(history_add(first, MODEL_ASSISTANT, parts, 4), 0);
    for (size_t i = 0; i < 2; i++) {
        acp_buf_init(&buf[i], 1 << 16);
        acp_json_writer_init(&w, &buf[i]);
        history_write(messages_of(i ? second : first, 1), &w);
        acp_arena_finish(&arena);
        assert_int_equal(w.err, 0);
        if (!i)
            assert_int_equal(
                history_read(second, acp_raw_n(buf[0].data + buf[0].start, buf[0].len)), 0);
    }
    assert_int_equal(buf[0].len, buf[1].len);
    assert_memory_equal(buf[0].data + buf[0].start, buf[1].data + buf[1].start, buf[0].len);
    assert_int_equal(
        history_read(second, acp_raw_from("{\"role\":\"user\",\"parts\":[{\"kind\":\"x\"}]}")),
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
                                 {.kind = MODEL_IMAGE, .data = acp_str_from("QUJD")},
                                 {.kind = MODEL_THOUGHT, .text = acp_str_from(words)},
                                 text("so")};
    struct model_message messages[] = {{MODEL_USER, &parts[0], 1},
                                       {MODEL_ASSISTANT, &parts[1], 1},
                                       {MODEL_USER, &parts[2], 2},
                                       {MODEL_ASSISTANT, &parts[4], 2}};
    struct model_message shorter[4];
    (void) state;
    for (size_t i = 0; i + 2 < sizeof(words); i += 2)
        memcpy(words + i, "\xc3\xbc", 2);
    parts[2].text = acp_str_from(words);
    parts[4].text = acp_str_from(words);
    parts[1].arguments = acp_raw_n(words, 60000);
    acp_arena_init(&arena, 0);
    assert_int_equal(compaction_cut(messages, 4, &arena, shorter), 0);
    assert_true(acp_str_is(shorter[0].parts[0].text, "hello"));
    assert_true(acp_str_is(shorter[1].parts[0].id, "1"));
    assert_int_equal(shorter[1].parts[0].arguments.len, 2); /* {} */
    const struct model_part *cut = &shorter[2].parts[0];
    assert_true(acp_str_is(cut->id, "1"));
    assert_in_range(cut->text.len, 1000, 20000);
    assert_memory_equal(cut->text.ptr + cut->text.len - 8, "\xc3\xbc [...]", 8);
    assert_int_equal(acp_text_check(cut->text), cut->text.len);
    assert_int_equal(shorter[2].parts[1].kind, MODEL_TEXT);
    assert_int_equal(shorter[3].part_count, 1); /* thoughts are bound to what was there before */
    assert_true(acp_str_is(shorter[3].parts[0].text, "so"));
    acp_arena_finish(&arena);
}

/* What does not fit is refused, nothing is lost, and calls that are open can still be closed. */
static void a_history_has_a_limit(void **state)
{
    enum { PIECE = 16 * 1024 * 1024, PIECES = HISTORY_MAX_BYTES / PIECE };
    struct history *history = new_history();
    char *words = test_malloc(PIECE);
    struct model_part part = {.kind = MODEL_TEXT, .text = {words, PIECE - 8192}};
    struct model_part open = call("c", "read");
    (void) state;
    memset(words, 'w', PIECE);
    for (int i = 0; i < PIECES; i++)
        add(history, MODEL_USER, part);
    add(history, MODEL_ASSISTANT, open);
    assert_int_equal(history_close_calls(history, acp_str_from("no room")), 1);
    add(history, MODEL_ASSISTANT, open);
    struct model_part large[] = {result("c", ""), part};
    assert_int_equal(history_add(history, MODEL_USER, large, 2), ACP_ERR_LIMIT);
    part.text.len = 0;
    part.kind = MODEL_IMAGE;
    part.data = acp_str_n(words, (size_t) 1024 * 1024); /* counts although it is not a text */
    large[1] = part;
    assert_int_equal(history_add(history, MODEL_USER, large, 2), ACP_ERR_LIMIT);
    assert_int_equal(history_count(history), PIECES + 3);
    assert_int_equal(history_close_calls(history, acp_str_from("no room")), 1);
    assert_non_null(strstr(history_err_text(history, ACP_ERR_LIMIT), "begin a new session"));
    /* A shorter one takes more again. */
    assert_int_equal(history_compact(history, acp_str_from("short"), 1), 0);
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
    assert_int_equal(history_compact(histories[0], acp_str_from("short"), 1), 0);
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
        cmocka_unit_test(what_follows_a_call_does_not_break_it),
        cmocka_unit_test(nothing_empty_and_nothing_misplaced_is_kept),
        cmocka_unit_test(a_summary_does_not_part_calls_from_results),
        cmocka_unit_test(reasoning_is_removed_and_the_words_stay),
        cmocka_unit_test(a_turn_can_leave_the_history),
        cmocka_unit_test(a_history_takes_at_most_twice_its_text),
        cmocka_unit_test(a_message_comes_back_from_the_log),
        cmocka_unit_test(a_conversation_is_shortened_and_stays_valid),
        cmocka_unit_test(a_history_has_a_limit),
        cmocka_unit_test(histories_share_a_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
