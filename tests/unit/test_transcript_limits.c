/* The transcript: what it keeps, what it drops, and that its limits hold. */
#include "transcript_play.h"

enum { LONGEST_PATH = 4096 }; /* of a changed file, in bytes */

/* ---- Only the answer ------------------------------------------------------------------------- */

static const struct transcript_options only_answer = {.keep = TRANSCRIPT_KEEP_ANSWER};

static void items_that_have_ended_are_removed_where_only_the_answer_counts(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, &only_answer);
    play_prompt(&play, "hi");
    assert_int_equal(transcript_last(play.transcript), 0);
    play_say(&play, "One ");
    play_think(&play, "hm");
    play_say(&play, "two");
    assert_int_equal(transcript_first(play.transcript), 4);
    assert_int_equal(play.changes.items[1].item->continues, 2);
    assert_answer(&play, "One two");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Look','content':"
                     "[{'type':'diff','path':'/w/a','newText':'x\\n'}],'rawInput':{}");
    assert_int_equal(play.changes.items[1].item->tool_call.content.count, 1);
    play_event(&play, EVENT_NOTICE, "{'message':'mind'}");
    assert_text_equal(play.changes.items[0].text, "mind");
    /* Its content was that of the event; what it changes is needed later. */
    assert_item(&play, 5, "5 tool_call 'Look' open [t pending files /w/a +1 -0]");
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'completed'");
    play_say(&play, "done");
    play_stop(&play, "end_turn");
    assert_answer(&play, "done");
    assert_int_equal(transcript_turn(play.transcript)->files.count, 1);
    assert_int_equal(transcript_first(play.transcript), 5);
    play_prompt(&play, "more");
    assert_int_equal(transcript_first(play.transcript), 0);
    assert_answer(&play, "");
    play_end(&play);
}

static void a_whole_message_is_compared_with_the_answer_where_nothing_else_is_kept(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, &only_answer);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_chunk(&play, "agent_message", "m", "One");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'m',"
               "'content':[{'type':'text','text':'One two'}]}");
    assert_int_equal(play.changes.count, 1);
    assert_text_equal(play.changes.items[0].text, " two");
    assert_answer(&play, "One two");
    play_stop(&play, "end_turn");
    play_end(&play);
}

/* ---- Floods ---------------------------------------------------------------------------------- */

static void a_million_chunks_are_one_message(void **state)
{
    static const char body[] =
        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
        "\"text\":\"twenty bytes of text\"}}";
    const struct transcript_options *const options[] = {NULL, &only_answer};
    (void) state;
    for (size_t i = 0; i < COUNT(options); i++) {
        struct transcript *t;
        struct transcript_changes changes;
        struct session_event event = {.kind = EVENT_MESSAGE, .body = TEXT(body)};
        assert_int_equal(transcript_new(options[i], &t), 0);
        for (uint64_t n = 0; n < 1000000; n++) {
            assert_int_equal(transcript_add(t, &event, &changes), 0);
            assert_int_equal(changes.items[0].offset, n * 20);
        }
        assert_int_equal(transcript_last(t), 1);
        assert_int_equal(transcript_answer(t).text.len, 20000000);
        transcript_free(t);
    }
}

static void a_tool_call_may_be_updated_a_hundred_thousand_times(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    for (int i = 0; i < 100000; i++) {
        char update[200];
        (void) snprintf(update, sizeof(update),
                        "'tool_call_update','toolCallId':'t','title':'%d','content':"
                        "[{'type':'content','content':{'type':'text','text':'line %d'}}]",
                        i, i);
        play_tool(&play, update);
    }
    assert_item(&play, 1, "1 tool_call '99999' open [t pending content=content:line 99999]");
    play_end(&play);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void the_content_of_the_oldest_items_is_dropped_first(void **state)
{
    struct transcript_options options = {.max_bytes = 200000};
    struct play play;
    char text[5001];
    char body[6000];
    size_t kept = 0;
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    play_begin(&play, &options);
    for (int i = 0; i < 100; i++) {
        (void) snprintf(body, sizeof(body),
                        "{\"sessionUpdate\":\"agent_%s_chunk\",\"content\":{\"type\":\"text\","
                        "\"text\":\"%s\"}}",
                        i % 2 ? "thought" : "message", text);
        play_raw(&play, i % 2 ? EVENT_THOUGHT : EVENT_MESSAGE, acp_raw_from(body));
    }
    assert_int_equal(transcript_last(play.transcript), 100);
    assert_int_equal(transcript_first(play.transcript), 1);
    for (uint64_t n = 1; n <= 100; n++) {
        const struct transcript_item *item = transcript_item(play.transcript, n);
        kept += item->text.cap;
        assert_true(item->is_dropped == (item->text.len == 0));
        if (n > 1 && item->is_dropped)
            assert_true(transcript_item(play.transcript, n - 1)->is_dropped);
    }
    assert_true(kept <= options.max_bytes);
    assert_true(kept > options.max_bytes / 2);
    assert_false(transcript_item(play.transcript, 100)->is_dropped);
    assert_true(transcript_item(play.transcript, 1)->is_dropped);
    play_end(&play);
}

static void what_is_removed_makes_room(void **state)
{
    struct transcript_options options = {.max_bytes = 200000, .max_items = 4};
    struct play play;
    char text[1001];
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    play_begin(&play, &options);
    for (int i = 0; i < 1000; i++) {
        char body[1200];
        (void) snprintf(body, sizeof(body), "{'message':'%s'}", text);
        play_event(&play, EVENT_NOTICE, body);
        play_say(&play, "x");
        play_think(&play, "x");
    }
    for (uint64_t n = transcript_first(play.transcript); n <= transcript_last(play.transcript); n++)
        assert_false(transcript_item(play.transcript, n)->is_dropped);
    play_end(&play);
}

static void the_oldest_items_are_removed_and_numbers_stay(void **state)
{
    struct transcript_options options = {.max_items = 10};
    struct play play;
    (void) state;
    play_begin(&play, &options);
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Old'");
    for (int i = 0; i < 500; i++) {
        char body[100];
        (void) snprintf(body, sizeof(body), "{'message':'%d'}", i);
        play_event(&play, EVENT_NOTICE, body);
    }
    assert_int_equal(transcript_first(play.transcript), 492);
    assert_int_equal(transcript_last(play.transcript), 501);
    assert_null(transcript_item(play.transcript, 491));
    assert_null(transcript_item(play.transcript, 502));
    assert_item(&play, 492, "492 notice '490' acp 0 ");
    /* It is not known any more. */
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'completed'");
    assert_item(&play, 502, "502 tool_call '' [t completed]");
    play_end(&play);
}

static void a_text_over_the_limit_is_cut_between_characters(void **state)
{
    struct transcript_options options = {.max_bytes = 1001};
    struct play play;
    (void) state;
    play_begin(&play, &options);
    for (int i = 0; i < 100; i++)
        play_say(&play, "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC");
    const struct transcript_item *item = transcript_item(play.transcript, 1);
    assert_true(item->is_cut);
    assert_int_equal(item->text.len, 1000);
    assert_int_equal(play.changes.items[0].text.len, 12);
    assert_int_equal(play.changes.items[0].offset, 99 * 12);
    /* The answer has a limit of its own. */
    assert_int_equal(transcript_answer(play.transcript).text.len, 1200);
    play_end(&play);
}

static void the_answer_has_its_limit_exactly(void **state)
{
    enum { PIECE = 1 << 20 };
    static char body[PIECE + 200];
    struct transcript *t;
    struct transcript_changes changes;
    (void) state;
    int head = snprintf(body, sizeof(body),
                        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
                        "\"text\":\"");
    memset(body + head, 'x', PIECE);
    (void) memcpy(body + head + PIECE, "\"}}", 4);
    struct session_event event = {.kind = EVENT_MESSAGE, .body = acp_raw_from(body)};
    assert_int_equal(transcript_new(&only_answer, &t), 0);
    for (int i = 0; i < TRANSCRIPT_MAX_TEXT / PIECE; i++) {
        if (i == 1) /* one byte less than before */
            (void) memcpy(body + head + PIECE - 1, "\"}} ", 4);
        if (i == 2)
            (void) memcpy(body + head + PIECE - 1, "x\"}}", 4);
        assert_int_equal(transcript_add(t, &event, &changes), 0);
    }
    assert_int_equal(transcript_answer(t).text.len, TRANSCRIPT_MAX_TEXT - 1);
    /* What is longer by a byte ends in front of the character that does not fit. */
    const struct session_event last = {
        .kind = EVENT_MESSAGE,
        .body = TEXT("{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
                     "\"text\":\"\xC3\xA4\"}}"),
    };
    assert_false(transcript_answer(t).is_cut);
    assert_int_equal(transcript_add(t, &last, &changes), 0);
    assert_int_equal(transcript_answer(t).text.len, TRANSCRIPT_MAX_TEXT - 1);
    assert_true(transcript_answer(t).is_cut);
    /* The next message has all the room again. */
    const struct session_event tool = {
        .kind = EVENT_TOOL_CALL,
        .body = TEXT("{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"T\"}"),
    };
    assert_int_equal(transcript_add(t, &tool, &changes), 0);
    for (int i = 0; i < TRANSCRIPT_MAX_TEXT / PIECE; i++)
        assert_int_equal(transcript_add(t, &event, &changes), 0);
    assert_int_equal(transcript_answer(t).text.len, TRANSCRIPT_MAX_TEXT);
    assert_false(transcript_answer(t).is_cut);
    transcript_free(t);
}

/* ---- Ids, titles, files ---------------------------------------------------------------------- */

static void play_numbered(struct play *play, const char *prefix, int number, const char *more)
{
    char update[200];
    (void) snprintf(update, sizeof(update), "'tool_call','toolCallId':'%s%d','title':'T'%s", prefix,
                    number, more);
    play_tool(play, update);
}

static void tool_calls_over_the_limit_are_reported_but_not_listed(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    for (int i = 0; i < TRANSCRIPT_MAX_TOOL_CALLS; i++)
        play_numbered(&play, "", i, "");
    assert_int_equal(transcript_last(play.transcript), TRANSCRIPT_MAX_TOOL_CALLS + 1);
    for (int i = 0; i < 2; i++) {
        play_numbered(&play, "x", i, ",'status':'failed'");
        const struct transcript_change *last = &play.changes.items[play.changes.count - 1];
        assert_int_equal(last->item->number, 0);
        assert_int_equal(last->item->text.len, 0);
        assert_int_equal(last->item->tool_call.status, ACP_TOOL_CALL_STATUS_FAILED);
    }
    /* The user is told once in a turn. */
    assert_int_equal(transcript_last(play.transcript), TRANSCRIPT_MAX_TOOL_CALLS + 2);
    assert_int_equal(transcript_item(play.transcript, TRANSCRIPT_MAX_TOOL_CALLS + 2)->kind,
                     ITEM_NOTICE);
    play_stop(&play, "end_turn");
    assert_int_equal(play.changes.count, TRANSCRIPT_MAX_TOOL_CALLS + 2);
    play_prompt(&play, "more");
    play_numbered(&play, "", 1, "");
    assert_int_equal(play_what(&play, transcript_last(play.transcript)), CHANGE_NEW | CHANGE_TITLE);
    play_end(&play);
}

static void ids_have_their_limit_exactly(void **state)
{
    char id[TRANSCRIPT_MAX_ID + 2];
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    char update[TRANSCRIPT_MAX_ID + 100];
    for (size_t over = 0; over < 2; over++) {
        memset(id, 'i', TRANSCRIPT_MAX_ID + over);
        id[TRANSCRIPT_MAX_ID + over] = '\0';
        (void) snprintf(update, sizeof(update), "'tool_call','toolCallId':'%s','title':'T'", id);
        play_tool(&play, update);
        const struct transcript_change *last = &play.changes.items[play.changes.count - 1];
        assert_int_equal(last->item->number, over ? 0 : 1);
    }
    /* The user is told once in every turn. */
    assert_int_equal(play.changes.count, 3);
    play_tool(&play, update);
    assert_int_equal(play.changes.count, 1);
    play_prompt(&play, "hi");
    play_tool(&play, update);
    assert_int_equal(play.changes.count, 3);
    /* Of messages only the beginning counts. */
    char body[2 * TRANSCRIPT_MAX_ID];
    for (size_t over = 0; over < 2; over++) {
        memset(id, 'i', TRANSCRIPT_MAX_ID + over);
        id[TRANSCRIPT_MAX_ID + over] = '\0';
        (void) snprintf(body, sizeof(body),
                        "{'sessionUpdate':'agent_message_chunk','messageId':'%s',"
                        "'content':{'type':'text','text':'x'}}",
                        id);
        play_event(&play, EVENT_MESSAGE, body);
    }
    assert_int_equal(transcript_last(play.transcript), 5);
    assert_int_equal(transcript_item(play.transcript, 5)->text.len, 2);
    play_end(&play);
}

static void messages_over_the_limit_end_when_the_next_begins(void **state)
{
    struct play play;
    char id[20];
    (void) state;
    play_begin(&play, NULL);
    for (int i = 0; i <= TRANSCRIPT_MAX_MESSAGES; i++) {
        (void) snprintf(id, sizeof(id), "%d", i);
        play_chunk(&play, "agent_message", id, "x");
    }
    play_chunk(&play, "agent_message", id, "y");
    const struct transcript_item *last =
        transcript_item(play.transcript, TRANSCRIPT_MAX_MESSAGES + 1);
    assert_text_equal(transcript_text(last), "xy");
    play_chunk(&play, "agent_message", "0", "y");
    assert_true(last->is_ended);
    assert_text_equal(transcript_text(transcript_item(play.transcript, 1)), "xy");
    play_chunk(&play, "agent_message", id, "z");
    assert_int_equal(transcript_last(play.transcript), TRANSCRIPT_MAX_MESSAGES + 2);
    play_end(&play);
}

static void titles_and_reasons_are_cut(void **state)
{
    char text[TRANSCRIPT_MAX_REASON + 2];
    char body[TRANSCRIPT_MAX_REASON + 300];
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    memset(text, 'x', sizeof(text) - 1);
    for (size_t over = 0; over < 2; over++) {
        text[TRANSCRIPT_MAX_TITLE + over] = '\0';
        char quoted[sizeof(body)];
        (void) snprintf(body, sizeof(body),
                        "{'sessionUpdate':'tool_call','toolCallId':'%zu','title':'%s'}", over,
                        text);
        text[TRANSCRIPT_MAX_TITLE + over] = 'x';
        play_raw(&play, EVENT_TOOL_CALL, test_quoted(body, quoted, sizeof(quoted)));
        struct acp_str title = transcript_text(transcript_item(play.transcript, over + 1));
        assert_int_equal(title.len, TRANSCRIPT_MAX_TITLE);
        assert_int_equal(title.ptr[title.len - 1] == 'x', over == 0);
        text[TRANSCRIPT_MAX_REASON + over] = '\0';
        (void) snprintf(body, sizeof(body),
                        "{'sessionUpdate':'tool_call_update','toolCallId':'%zu','status':'failed',"
                        "'rawOutput':'%s'}",
                        over, text);
        text[TRANSCRIPT_MAX_REASON + over] = 'x';
        play_raw(&play, EVENT_TOOL_CALL, test_quoted(body, quoted, sizeof(quoted)));
        assert_int_equal(transcript_item(play.transcript, over + 1)->tool_call.reason.len,
                         TRANSCRIPT_MAX_REASON);
    }
    play_end(&play);
}

static void changed_files_and_counted_lines_are_limited(void **state)
{
    struct acp_buf body;
    struct play play;
    (void) state;
    acp_buf_init(&body, (size_t) 4 << 20);
    play_begin(&play, NULL);
    (void) acp_buf_printf(&body, "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":"
                                 "\"T\",\"status\":\"completed\",\"content\":[");
    for (int i = 0; i <= TRANSCRIPT_MAX_FILES; i++)
        (void) acp_buf_printf(&body, "%s{\"type\":\"diff\",\"path\":\"/%d\",\"newText\":\"x\"}",
                              i ? "," : "", i);
    (void) acp_buf_printf(&body, "]}");
    play_raw(&play, EVENT_TOOL_CALL, acp_raw_n(body.data, body.len));
    assert_int_equal(transcript_item(play.transcript, 1)->tool_call.files.count,
                     TRANSCRIPT_MAX_FILES);
    play_stop(&play, "end_turn");
    assert_int_equal(transcript_turn(play.transcript)->files.count, TRANSCRIPT_MAX_FILES);
    for (size_t over = 0; over < 2; over++) {
        acp_buf_clear(&body);
        (void) acp_buf_printf(&body,
                              "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"p%zu\",\"title\":"
                              "\"T\",\"content\":[{\"type\":\"diff\",\"newText\":\"x\",\"path\":"
                              "\"%*d\"}]}",
                              over, (int) (LONGEST_PATH + over), 0);
        play_raw(&play, EVENT_TOOL_CALL, acp_raw_n(body.data, body.len));
        assert_int_equal(play.changes.items[0].item->tool_call.files.count, over ? 0 : 1);
    }
    for (size_t over = 0; over < 2; over++) {
        acp_buf_clear(&body);
        (void) acp_buf_printf(&body,
                              "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"d%zu\","
                              "\"title\":\"T\",\"content\":[{\"type\":\"diff\",\"path\":"
                              "\"/a\",\"newText\":\"",
                              over);
        for (size_t i = 0; i < TRANSCRIPT_MAX_DIFF + over; i++)
            (void) acp_buf_append(&body, "x", 1);
        (void) acp_buf_printf(&body, "\"}]}");
        play_raw(&play, EVENT_TOOL_CALL, acp_raw_n(body.data, body.len));
        const struct transcript_item *item = play.changes.items[0].item;
        assert_int_equal(item->tool_call.files.items[0].is_counted, over == 0);
    }
    play_end(&play);
    acp_buf_finish(&body);
}

static void settings_over_the_limit_are_not_kept(void **state)
{
    static const char head[] = "{\"sessionUpdate\":\"available_commands_update\","
                               "\"availableCommands\":[{\"name\":\"x\",\"description\":\"";
    struct acp_arena arena;
    struct acp_buf body;
    struct play play;
    (void) state;
    acp_arena_init(&arena, 0);
    acp_buf_init(&body, (size_t) 4 << 20);
    play_begin(&play, NULL);
    for (size_t over = 0; over < 2; over++) {
        struct acp_available_command_list commands;
        acp_buf_clear(&body);
        (void) acp_buf_append_str(&body, acp_str_from(head));
        while (body.len < TRANSCRIPT_MAX_SETTINGS - strlen("\"}]}") + over)
            (void) acp_buf_append(&body, "x", 1);
        (void) acp_buf_append_str(&body, acp_str_from("\"}]}"));
        play_raw(&play, EVENT_COMMANDS, acp_raw_n(body.data, body.len));
        assert_int_equal(transcript_commands(play.transcript, &arena, &commands), 0);
        assert_int_equal(commands.count, over ? 0 : 1);
    }
    play_end(&play);
    acp_buf_finish(&body);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_that_have_ended_are_removed_where_only_the_answer_counts),
        cmocka_unit_test(a_whole_message_is_compared_with_the_answer_where_nothing_else_is_kept),
        cmocka_unit_test(a_million_chunks_are_one_message),
        cmocka_unit_test(a_tool_call_may_be_updated_a_hundred_thousand_times),
        cmocka_unit_test(the_content_of_the_oldest_items_is_dropped_first),
        cmocka_unit_test(what_is_removed_makes_room),
        cmocka_unit_test(the_oldest_items_are_removed_and_numbers_stay),
        cmocka_unit_test(a_text_over_the_limit_is_cut_between_characters),
        cmocka_unit_test(the_answer_has_its_limit_exactly),
        cmocka_unit_test(tool_calls_over_the_limit_are_reported_but_not_listed),
        cmocka_unit_test(ids_have_their_limit_exactly),
        cmocka_unit_test(messages_over_the_limit_end_when_the_next_begins),
        cmocka_unit_test(titles_and_reasons_are_cut),
        cmocka_unit_test(changed_files_and_counted_lines_are_limited),
        cmocka_unit_test(settings_over_the_limit_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
