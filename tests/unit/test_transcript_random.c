/* The transcript: what must hold for any sequence of events. */
#include "transcript_play.h"

/* ---- Random sessions ------------------------------------------------------------------------- */

enum { EVENTS = 120, SESSIONS = 300 };

struct script {
    struct session_event events[EVENTS + 1];
    char *bodies[EVENTS + 1];
    char *halves[EVENTS + 1][2]; /* of a chunk of text: the same in two */
    size_t count;
};

static char *quoted_copy(const char *text)
{
    char buffer[1000];
    struct acp_raw raw = test_quoted(text, buffer, sizeof(buffer));
    char *copy = acp_str_dup(acp_str_n(raw.ptr, raw.len));
    assert_non_null(copy);
    return copy;
}

static char *chunk_body(const char *what, const char *id, const char *text, size_t len)
{
    char body[500];
    (void) snprintf(body, sizeof(body),
                    "{'sessionUpdate':'%s_chunk',%s%s%s'content':{'type':'text','text':'%.*s'}}",
                    what, *id ? "'messageId':'" : "", id, *id ? "'," : "", (int) len, text);
    return quoted_copy(body);
}

static void add_chunk(struct script *script, bool v2)
{
    static const char *const names[] = {"agent_message", "agent_thought", "user_message"};
    static const enum event_kind kinds[] = {EVENT_MESSAGE, EVENT_THOUGHT, EVENT_USER_MESSAGE};
    static const char *const ids[] = {"a", "b", "c", ""};
    static const char *const texts[] = {"hello", "x ", "h\xC3\xA4 ", "prompt", "\xE2\x82\xAC"};
    size_t which = test_below(8);
    which = which < 5 ? 0 : which < 7 ? 1 : 2;
    const char *id = ids[test_below(v2 ? 3 : 4)];
    const char *text = texts[test_below(COUNT(texts))];
    size_t half = strlen(text) / 2;
    while (((unsigned char) text[half] & 0xC0) == 0x80)
        half--;
    script->events[script->count].kind = kinds[which];
    script->bodies[script->count] = chunk_body(names[which], id, text, strlen(text));
    script->halves[script->count][0] = chunk_body(names[which], id, text, half);
    script->halves[script->count][1] =
        chunk_body(names[which], id, text + half, strlen(text) - half);
}

/* Whole messages are of version 2.  In version 1 they cannot be decoded, which is fine as well. */
static void add_other(struct script *script)
{
    static const struct {
        enum event_kind kind;
        const char *body;
    } rows[] = {
        {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call','toolCallId':'t','title':'Look'}"},
        {EVENT_TOOL_CALL,
         "{'sessionUpdate':'tool_call_update','toolCallId':'t','status':'completed','content':"
         "[{'type':'diff','path':'/a','oldText':'x','newText':'y'}]}"},
        {EVENT_TOOL_CALL,
         "{'sessionUpdate':'tool_call_update','toolCallId':'u','status':'in_progress','title':'B',"
         "'content':[{'type':'content','content':{'type':'text','text':'so'}}],'rawOutput':{}}"},
        {EVENT_TOOL_CALL,
         "{'sessionUpdate':'tool_call_update','toolCallId':'u','status':'failed','locations':"
         "[{'path':'/b','line':2}],'rawOutput':'no'}"},
        {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call_content_chunk','toolCallId':'u','content':"
                          "{'type':'terminal','terminalId':'x'}}"},
        {EVENT_PLAN, "{'sessionUpdate':'plan','entries':[{'content':'do','priority':'low','status':"
                     "'pending'}]}"},
        {EVENT_PLAN,
         "{'sessionUpdate':'plan_update','plan':{'type':'items','planId':'p','entries':[]}}"},
        {EVENT_NOTICE, "{'message':'mind'}"},
        {EVENT_PERMISSION, "{'title':'T','kind':'read','paths':[],'verdict':'deny','by':'x'}"},
        {EVENT_UPDATE,
         "{'sessionUpdate':'usage_update','used':1,'size':2,'cost':{'amount':1,'currency':'E'}}"},
        {EVENT_MODE, "{'sessionUpdate':'current_mode_update','currentModeId':'full'}"},
        {EVENT_STOP, "{'stopReason':'end_turn','usage':{'totalTokens':1}}"},
        {EVENT_ERROR, "{'source':'agent','message':'broken'}"},
        {EVENT_PROMPT, "{'prompt':[{'type':'text','text':'prompt'}]}"},
        {EVENT_UPDATE,
         "{'sessionUpdate':'compaction_update','compactionId':'c','status':'completed'}"},
        {EVENT_MESSAGE, "{'sessionUpdate':'agent_message_chunk','content':{'type':'image',"
                        "'mimeType':'image/png','data':'aGk='}}"},
        {EVENT_MESSAGE,
         "{'sessionUpdate':'agent_message','messageId':'a','content':[{'type':'text','text':"
         "'hello'}]}"},
        {EVENT_THOUGHT, "{'sessionUpdate':'agent_thought','messageId':'b','content':null}"},
        {EVENT_STATE, "{'sessionUpdate':'state_update','state':'idle','background':[{'type':"
                      "'tool_call','toolCallId':'t'}]}"},
    };
    size_t at = test_below(COUNT(rows));
    script->events[script->count].kind = rows[at].kind;
    script->bodies[script->count] = quoted_copy(rows[at].body);
}

static void script_begin(struct script *script, bool v2)
{
    uint64_t turn = 0;
    *script = (struct script){0};
    script->events[0].kind = EVENT_OPENED;
    script->bodies[0] = quoted_copy(v2 ? "{'protocol':2}" : "{'protocol':1}");
    script->count = 1;
    while (script->count <= EVENTS) {
        if (test_below(2))
            add_chunk(script, v2);
        else
            add_other(script);
        script->count++;
    }
    for (size_t i = 0; i < script->count; i++) {
        struct session_event *event = &script->events[i];
        turn += event->kind == EVENT_PROMPT;
        event->sequence = i + 1;
        event->turn = turn;
        event->time = (int64_t) i * 100;
        event->body = acp_raw_from(script->bodies[i]);
    }
}

static void script_end(struct script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        free(script->bodies[i]);
        free(script->halves[i][0]);
        free(script->halves[i][1]);
    }
}

static struct transcript *fold(const struct session_event *events, size_t count)
{
    struct transcript *t;
    struct transcript_changes changes;
    assert_int_equal(transcript_new(NULL, &t), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(transcript_add(t, &events[i], &changes), 0);
    return t;
}

static void assert_same(const struct transcript *a, const struct transcript *b)
{
    struct acp_buf first;
    struct acp_buf second;
    acp_buf_init(&first, EVENT_MAX_BYTES);
    acp_buf_init(&second, EVENT_MAX_BYTES);
    dump_transcript(a, &first);
    dump_transcript(b, &second);
    assert_string_equal(test_cstr(&first), test_cstr(&second));
    acp_buf_finish(&first);
    acp_buf_finish(&second);
}

/* ---- What must hold -------------------------------------------------------------------------- */

/* Writes the first events as lines, and folds what is read of them. */
static struct transcript *import_lines(const struct script *script, size_t count)
{
    struct acp_buf line;
    struct acp_arena arena;
    struct transcript *t;
    struct transcript_changes changes;
    acp_buf_init(&line, EVENT_MAX_BYTES);
    acp_arena_init(&arena, 0);
    assert_int_equal(transcript_new(NULL, &t), 0);
    for (size_t i = 0; i < count; i++) {
        struct acp_json_writer w;
        struct session_event event;
        struct acp_str session;
        acp_buf_clear(&line);
        acp_arena_reset(&arena);
        acp_json_writer_init(&w, &line);
        assert_int_equal(event_write(&script->events[i], acp_str_from("s"), &w), 0);
        assert_int_equal(event_read(acp_raw_n(line.data, line.len), &arena, &event, &session, NULL),
                         0);
        assert_int_equal(transcript_add(t, &event, &changes), 0);
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&line);
    return t;
}

static void an_exported_prefix_goes_on_as_if_nothing_had_happened(void **state)
{
    (void) state;
    for (size_t i = 0; i < SESSIONS; i++) {
        struct script script;
        struct transcript_changes changes;
        script_begin(&script, test_below(2));
        size_t prefix = test_below(script.count + 1);
        struct transcript *whole = fold(script.events, script.count);
        struct transcript *parts = import_lines(&script, prefix);
        for (size_t n = prefix; n < script.count; n++)
            assert_int_equal(transcript_add(parts, &script.events[n], &changes), 0);
        assert_same(whole, parts);
        transcript_free(whole);
        transcript_free(parts);
        script_end(&script);
    }
}

static void changes_add_up_to_the_transcript(void **state)
{
    (void) state;
    for (size_t i = 0; i < SESSIONS; i++) {
        struct script script;
        struct play play;
        script_begin(&script, test_below(2));
        play_begin(&play, NULL);
        for (size_t n = 0; n < script.count; n++) {
            play_raw(&play, script.events[n].kind, script.events[n].body);
            if (!mirror_matches(play.mirror, play.transcript, true))
                fail_msg("not so: %s", play.mirror->wrong);
        }
        play_end(&play);
        script_end(&script);
    }
}

static void a_chunk_in_two_parts_is_the_same_text(void **state)
{
    (void) state;
    for (size_t i = 0; i < SESSIONS; i++) {
        struct script script;
        struct transcript *t;
        struct transcript_changes changes;
        script_begin(&script, test_below(2));
        struct transcript *whole = fold(script.events, script.count);
        assert_int_equal(transcript_new(NULL, &t), 0);
        for (size_t n = 0; n < script.count; n++) {
            struct session_event event = script.events[n];
            for (size_t half = 0; half < 2 && script.halves[n][0]; half++) {
                event.body = acp_raw_from(script.halves[n][half]);
                assert_int_equal(transcript_add(t, &event, &changes), 0);
            }
            if (!script.halves[n][0])
                assert_int_equal(transcript_add(t, &event, &changes), 0);
        }
        assert_same(whole, t);
        transcript_free(whole);
        transcript_free(t);
        script_end(&script);
    }
}

/* Also the changes, except where a text has to be reported again because it is not kept. */
static void the_answer_is_the_same_where_nothing_else_is_kept(void **state)
{
    static const struct transcript_options only_answer = {.keep = TRANSCRIPT_KEEP_ANSWER};
    (void) state;
    for (size_t i = 0; i < SESSIONS; i++) {
        struct script script;
        struct transcript *all;
        struct transcript *little;
        struct transcript_changes changes;
        struct transcript_changes others;
        bool v2 = test_below(2);
        script_begin(&script, v2);
        assert_int_equal(transcript_new(NULL, &all), 0);
        assert_int_equal(transcript_new(&only_answer, &little), 0);
        for (size_t n = 0; n < script.count; n++) {
            assert_int_equal(transcript_add(all, &script.events[n], &changes), 0);
            assert_int_equal(transcript_add(little, &script.events[n], &others), 0);
            assert_true(acp_str_eq(transcript_answer(all).text, transcript_answer(little).text));
            assert_int_equal(transcript_turn(all)->files.count,
                             transcript_turn(little)->files.count);
            if (v2)
                continue;
            assert_int_equal(changes.count, others.count);
            for (size_t k = 0; k < changes.count; k++) {
                const struct transcript_change *a = &changes.items[k];
                const struct transcript_change *b = &others.items[k];
                assert_int_equal(a->what, b->what);
                assert_int_equal(a->item ? a->item->number : 0, b->item ? b->item->number : 0);
                assert_true(acp_str_eq(a->text, b->text));
                assert_int_equal(a->offset, b->offset);
            }
        }
        transcript_free(all);
        transcript_free(little);
        script_end(&script);
    }
}

static void limits_never_break_a_transcript(void **state)
{
    (void) state;
    for (size_t i = 0; i < SESSIONS; i++) {
        struct transcript_options options = {
            .max_bytes = 1 + test_below(5000),
            .max_items = 1 + test_below(8),
            .keep = test_below(2) ? TRANSCRIPT_KEEP_ALL : TRANSCRIPT_KEEP_ANSWER,
        };
        struct script script;
        struct play play;
        script_begin(&script, test_below(2));
        play_begin(&play, &options);
        for (size_t n = 0; n < script.count; n++) {
            play_raw(&play, script.events[n].kind, script.events[n].body);
            (void) play_dump(&play);
            if (transcript_last(play.transcript))
                assert_true(transcript_last(play.transcript) - transcript_first(play.transcript) <
                            options.max_items);
        }
        play_end(&play);
        script_end(&script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exported_prefix_goes_on_as_if_nothing_had_happened),
        cmocka_unit_test(changes_add_up_to_the_transcript),
        cmocka_unit_test(a_chunk_in_two_parts_is_the_same_text),
        cmocka_unit_test(the_answer_is_the_same_where_nothing_else_is_kept),
        cmocka_unit_test(limits_never_break_a_transcript),
    };
    test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
