/* Conversations without processes: prompts, subscribers, questions, the death of the agent. */
#include "store_help.h"

#include <string.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "memory_agent.h"

enum { MAX_SEEN = 40000 };

/* What a subscriber got. */
struct viewer {
    struct subscriber *subscriber;
    struct conversation *conversation;
    uint64_t sequences[MAX_SEEN];
    size_t count;
    char words[400]; /* kinds, with the texts of messages and ends */
    size_t questions;
    size_t gone;
    uint64_t question;
    size_t caught_up;
    size_t pause_at; /* after that many events; 0: never */
    size_t free_at;
    struct prompt_end end; /* the last; its texts do not live */
    char stop[40];
    char message[200];
};

static uv_loop_t loop;
static struct store_writer *writer;
static struct store_worker *worker;
static struct memory_agent agent;
static struct acp_policy *policy;
static struct conversation *conversation;
static bool stopped;
static struct viewer viewers[4];

/* ---- Viewers --------------------------------------------------------------------------------- */

static void add_words(struct viewer *v, const char *format, ...) ACP_PRINTF(2, 3);

static void add_words(struct viewer *v, const char *format, ...)
{
    size_t len = strlen(v->words);
    va_list args;
    va_start(args, format);
    (void) vsnprintf(v->words + len, sizeof(v->words) - len, format, args);
    va_end(args);
}

static void note_text(struct viewer *v, const struct session_event *event, struct acp_arena *arena)
{
    const struct acp_session_update *update;
    if (event->kind != EVENT_MESSAGE || event_decode(event, ACP_V1, arena, &update))
        return;
    add_words(v, ":%.*s", ACP_ARG(update->agent_message_chunk.content.text.text));
}

static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    struct viewer *v = user;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    assert_ptr_equal(s, v->subscriber ? v->subscriber : s);
    assert_true(v->count < MAX_SEEN);
    v->sequences[v->count++] = event->sequence;
    add_words(v, "%s%s", *v->words ? " " : "", event_kind_name(event->kind));
    note_text(v, event, &arena);
    if (prompt_end_read(event, &arena, &v->end)) {
        (void) snprintf(v->stop, sizeof(v->stop), "%.*s", ACP_ARG(v->end.stop));
        if (v->end.message.len)
            (void) snprintf(v->message, sizeof(v->message), "%.*s", ACP_ARG(v->end.message));
    }
    acp_arena_finish(&arena);
    if (v->count == v->pause_at)
        subscriber_pause(s, true);
    if (v->count == v->free_at) {
        subscriber_free(s);
        v->subscriber = NULL;
    }
}

static void on_caught_up(struct subscriber *s, void *user)
{
    struct viewer *v = user;
    (void) s;
    v->caught_up++;
}

static void on_question(struct subscriber *s, const struct permission_question *question,
                        void *user)
{
    struct viewer *v = user;
    (void) s;
    assert_true(acp_str_is(question->title, "Remove everything"));
    v->questions++;
    v->question = question->number;
}

static void on_elicitation(struct subscriber *s, const struct elicitation_question *question,
                           void *user)
{
    struct viewer *v = user;
    (void) s;
    assert_true(acp_str_is(question->agent, "memory"));
    assert_non_null(strstr(question->params.ptr, "\"Who?\""));
    v->questions++;
    v->question = question->number;
}

static void on_question_gone(struct subscriber *s, uint64_t number, void *user)
{
    struct viewer *v = user;
    (void) s;
    assert_int_equal(number, v->question);
    v->gone++;
}

static const struct subscriber_handler plain = {.event = on_event, .caught_up = on_caught_up};
static const struct subscriber_handler person = {.event = on_event,
                                                 .caught_up = on_caught_up,
                                                 .question = on_question,
                                                 .elicitation = on_elicitation,
                                                 .question_gone = on_question_gone};

static struct viewer *subscribe(size_t index, uint64_t after,
                                const struct subscriber_handler *handler)
{
    struct viewer *v = &viewers[index];
    assert_int_equal(conversation_subscribe(conversation, after, handler, v, &v->subscriber), 0);
    return v;
}

/* All events from one number to another, each once. */
static void expect_events(const struct viewer *v, uint64_t first, uint64_t last)
{
    assert_int_equal(v->count, last - first + 1);
    for (size_t i = 0; i < v->count; i++)
        assert_int_equal(v->sequences[i], first + i);
}

/* ---- The conversation ------------------------------------------------------------------------ */

static void on_stopped(struct conversation *c, void *user)
{
    (void) c;
    (void) user;
    stopped = true;
}

static const struct conversation_handler handler = {.stopped = on_stopped};

static void open_conversation(bool in_store)
{
    struct store_session session = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    if (in_store) {
        struct store *store = open_store();
        assert_int_equal(store_find(store, acp_str_from("0199-test"), &arena, &session, NULL), 0);
        store_close(store);
    }
    const struct conversation_options options = {
        .last_turn = session.last_turn,
        .agent = acp_str_from("memory"),
        .endpoint = &agent.endpoint,
        .place = {.cwd = acp_str_from(store_folder)},
        .session = acp_str_from("0199-test"),
        .policy = policy,
        .in_store = in_store,
    };
    stopped = false;
    assert_int_equal(
        conversation_new(&loop, &options, writer, worker, &handler, NULL, &conversation), 0);
    acp_arena_finish(&arena);
}

static void close_conversation(void)
{
    conversation_stop(conversation);
    while (!stopped)
        (void) uv_run(&loop, UV_RUN_ONCE);
    conversation_free(conversation);
    conversation = NULL;
}

static uint64_t prompt(const char *text)
{
    static const struct prompt_options options = {0};
    char body[200];
    uint64_t turn = 0;
    (void) snprintf(body, sizeof(body), "{\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
    assert_int_equal(conversation_prompt(conversation, acp_raw_from(body), &options, &turn), 0);
    return turn;
}

/* The loop ends when nothing is under way. */
static void run(void)
{
    (void) uv_run(&loop, UV_RUN_DEFAULT);
}

static int open_world(bool log)
{
    struct store_writer_options options = {.path = store_at("log.db"), .flags = STORE_CREATE};
    memset(viewers, 0, sizeof(viewers));
    writer = NULL;
    worker = NULL;
    memory_agent_init(&agent);
    if (uv_loop_init(&loop) || acp_policy_new(&policy))
        return -1;
    if (log && (store_writer_new(&loop, &options, &writer) ||
                store_worker_new(&loop, store_at("log.db"), 0, &worker)))
        return -1;
    open_conversation(false);
    return 0;
}

static int with_log(void **state)
{
    (void) make_store_folder(state);
    return open_world(true);
}

static int without_log(void **state)
{
    (void) make_store_folder(state);
    return open_world(false);
}

static int teardown(void **state)
{
    if (conversation)
        close_conversation();
    if (writer)
        store_writer_close(writer, NULL, NULL);
    store_worker_close(worker, NULL, NULL);
    run();
    acp_policy_free(policy);
    assert_int_equal(uv_loop_close(&loop), 0);
    return remove_store_folder(state);
}

/* ---- Prompts --------------------------------------------------------------------------------- */

static void test_a_prompt_ends_once_after_its_events(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    assert_int_equal(prompt("say 2"), 1);
    run();
    assert_string_equal(v->words, "opened prompt message:1 message:2 stop");
    assert_string_equal(v->stop, "end_turn");
    assert_int_equal(v->end.kind, PROMPT_STOPPED);
    assert_false(v->end.denied || v->end.unasked || v->end.cancelled);
    expect_events(v, 1, 5);
    assert_int_equal(conversation_get_state(conversation), CONVERSATION_IDLE);
}

static void test_prompts_run_one_after_the_other(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("say 1");
    (void) prompt("fail");
    uint64_t third = prompt("say 3");
    (void) prompt("say 1");
    assert_int_equal(conversation_queued(conversation), 4);
    assert_true(conversation_withdraw(conversation, third));
    assert_false(conversation_withdraw(conversation, third));
    run();
    assert_string_equal(v->words,
                        "opened prompt message:1 stop prompt error prompt message:1 stop");
    assert_string_equal(v->message, "no model");
    assert_int_equal(agent.connected, 1);
}

static void test_a_turn_is_cancelled(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("wait");
    while (agent.prompts == 0)
        (void) uv_run(&loop, UV_RUN_ONCE);
    assert_int_equal(conversation_get_state(conversation), CONVERSATION_RUNNING);
    assert_true(conversation_cancel(conversation, 60000));
    assert_int_equal(conversation_get_state(conversation), CONVERSATION_CANCELLING);
    run();
    assert_string_equal(v->stop, "cancelled");
    assert_true(v->end.cancelled);
    assert_false(conversation_cancel(conversation, 0));
    (void) prompt("say 1");
    run();
    assert_string_equal(v->stop, "end_turn");
    assert_false(v->end.cancelled);
}

static void test_an_agent_that_does_not_cancel_is_ended(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("hang");
    while (agent.prompts == 0)
        (void) uv_run(&loop, UV_RUN_ONCE);
    assert_true(conversation_cancel(conversation, 1));
    run();
    assert_string_equal(v->stop, "cancelled");
    assert_int_equal(conversation_get_state(conversation), CONVERSATION_DISCONNECTED);
}

static void test_a_queued_prompt_is_cancelled_without_the_agent(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("say 1");
    assert_true(conversation_cancel(conversation, 0));
    run();
    assert_string_equal(v->words, "stop");
    assert_string_equal(v->stop, "cancelled");
    assert_int_equal(agent.connected, 0);
}

static void test_a_turn_has_a_time_limit(void **state)
{
    static const struct prompt_options options = {.timeout_ms = 1};
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("say 1");
    run();
    assert_int_equal(
        conversation_prompt(conversation,
                            acp_raw_from("{\"prompt\":[{\"type\":\"text\",\"text\":\"wait\"}]}"),
                            &options, NULL),
        0);
    run();
    assert_int_equal(v->end.kind, PROMPT_TIMED_OUT);
}

static void test_an_agent_that_dies_fails_its_prompt_only(void **state)
{
    (void) state;
    agent.can_load = true;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("die");
    (void) prompt("say 1");
    run();
    assert_string_equal(v->words, "opened prompt error closed opened prompt message:1 stop");
    assert_string_equal(v->stop, "end_turn");
    assert_int_equal(agent.connected, 2);
    assert_int_equal(agent.loaded, 1);
}

static void test_a_prompt_fails_if_the_agent_cannot_be_reached(void **state)
{
    (void) state;
    agent.err = ACP_ERR_MISSING;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("say 1");
    run();
    assert_string_equal(v->words, "prompt error");
    assert_int_equal(v->end.kind, PROMPT_FAILED);
    assert_string_equal(v->message, "cannot connect");
    agent.err = 0;
    (void) prompt("say 1");
    run();
    assert_string_equal(v->stop, "end_turn");
}

/* ---- Subscribers ----------------------------------------------------------------------------- */

static void test_late_subscribers_get_the_same_events(void **state)
{
    (void) state;
    struct viewer *early = subscribe(0, 0, &plain);
    (void) prompt("say 3000");
    run();
    uint64_t last = conversation_last_sequence(conversation);
    assert_int_equal(last, 3003);
    struct viewer *late = subscribe(1, 0, &plain);
    struct viewer *middle = subscribe(2, 1500, &plain);
    struct viewer *fresh = subscribe(3, CONVERSATION_NEW_EVENTS, &plain);
    (void) prompt("say 100");
    run();
    expect_events(early, 1, last + 102);
    expect_events(late, 1, last + 102);
    expect_events(middle, 1501, last + 102);
    expect_events(fresh, last + 1, last + 102);
    assert_true(late->caught_up >= 1);
}

/* Joins at every place of a flood, and in the middle of what the writer has not written yet. */
static void test_joining_a_flood_has_no_gap(void **state)
{
    (void) state;
    (void) subscribe(0, 0, &plain);
    (void) prompt("say 20000");
    for (size_t i = 1; i < 4; i++) {
        while (viewers[0].count < i * 4000)
            (void) uv_run(&loop, UV_RUN_ONCE);
        (void) subscribe(i, i * 1000, &plain);
    }
    run();
    expect_events(&viewers[0], 1, 20003);
    for (size_t i = 1; i < 4; i++)
        expect_events(&viewers[i], i * 1000 + 1, 20003);
}

static void test_a_slow_subscriber_continues_from_the_log(void **state)
{
    (void) state;
    struct viewer *fast = subscribe(0, 0, &plain);
    struct viewer *slow = subscribe(1, 0, &plain);
    slow->pause_at = 10;
    (void) prompt("say 20000");
    run();
    expect_events(fast, 1, 20003);
    assert_int_equal(slow->count, 10);
    assert_false(agent.paused);
    assert_true(conversation->tail_bytes <= CONVERSATION_MAX_TAIL_BYTES);
    slow->pause_at = 15000;
    subscriber_pause(slow->subscriber, false);
    run();
    assert_int_equal(slow->count, 15000);
    subscriber_pause(slow->subscriber, false);
    run();
    expect_events(slow, 1, 20003);
    assert_int_equal(subscriber_cursor(slow->subscriber), 20003);
    /* Nothing is kept for those that have everything. */
    assert_int_equal(conversation->tail_bytes, 0);
}

static void test_without_a_log_the_agent_waits_for_the_slowest(void **state)
{
    (void) state;
    struct viewer *slow = subscribe(0, 0, &plain);
    slow->pause_at = 10;
    (void) prompt("say 20000");
    run();
    assert_int_equal(slow->count, 10);
    assert_true(agent.paused);
    /* What one read of the connection brings, beyond the limit. */
    assert_true(conversation->tail_bytes < 2 * CONVERSATION_MAX_TAIL_BYTES + (8u << 20));
    slow->pause_at = 0;
    subscriber_pause(slow->subscriber, false);
    run();
    expect_events(slow, 1, 20003);
    assert_false(agent.paused);
    assert_string_equal(slow->stop, "end_turn");
}

static void test_a_subscriber_may_be_freed_in_its_callback(void **state)
{
    (void) state;
    struct viewer *leaving = subscribe(0, 0, &plain);
    struct viewer *staying = subscribe(1, 0, &plain);
    leaving->free_at = 3;
    (void) prompt("say 5");
    run();
    assert_int_equal(leaving->count, 3);
    expect_events(staying, 1, 8);
    subscriber_free(staying->subscriber);
    (void) prompt("say 5");
    run();
    assert_int_equal(staying->count, 8);
    assert_null(conversation->subscribers);
}

static void test_a_reopened_session_replays_from_the_log(void **state)
{
    (void) state;
    (void) prompt("say 5");
    run();
    close_conversation();
    open_conversation(true);
    struct viewer *v = subscribe(0, 0, &plain);
    struct viewer *fresh = subscribe(1, CONVERSATION_NEW_EVENTS, &plain);
    assert_int_equal(prompt("say 1"), 2); /* turns are numbered on */
    run();
    expect_events(v, 1, 12);
    expect_events(fresh, 9, 12);
}

static void test_a_pause_without_events_holds_nothing_up(void **state)
{
    (void) state;
    struct viewer *paused = subscribe(0, 0, &plain);
    subscriber_pause(paused->subscriber, true);
    (void) prompt("say 5");
    run();
    assert_int_equal(paused->count, 0);
    close_conversation();
    assert_int_equal(paused->count, 0);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void test_the_first_answer_counts(void **state)
{
    (void) state;
    struct viewer *a = subscribe(0, 0, &person);
    struct viewer *b = subscribe(1, 0, &person);
    struct viewer *viewer = subscribe(2, 0, &plain);
    (void) prompt("ask");
    run();
    assert_int_equal(a->questions, 1);
    assert_int_equal(b->questions, 1);
    assert_int_equal(viewer->questions, 0);
    /* It is asked again where somebody comes later. */
    struct viewer *late = subscribe(3, 0, &person);
    run();
    assert_int_equal(late->questions, 1);
    assert_true(
        conversation_answer(conversation, b->question, acp_str_from("yes"), acp_str_from("bob")));
    assert_false(
        conversation_answer(conversation, a->question, acp_str_from("no"), (struct acp_str){0}));
    run();
    assert_string_equal(agent.answer, "yes");
    assert_int_equal(agent.answered, 1);
    assert_int_equal(a->gone, 1);
    assert_int_equal(late->gone, 1);
    assert_string_equal(a->words, "opened prompt permission message:yes stop");
    assert_string_equal(late->words, a->words);
}

static void test_nobody_to_ask_means_no(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("ask");
    run();
    assert_int_equal(agent.answered, 1);
    assert_true(v->end.unasked);
    assert_true(v->end.denied);
}

static void test_a_cancelled_turn_takes_its_question_back(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &person);
    (void) prompt("ask");
    run();
    assert_int_equal(v->questions, 1);
    assert_true(conversation_cancel(conversation, 60000));
    run();
    assert_int_equal(v->gone, 1);
    assert_string_equal(v->stop, "cancelled");
    assert_false(
        conversation_answer(conversation, v->question, acp_str_from("yes"), (struct acp_str){0}));
}

static bool answer_form(const struct viewer *v, const char *response)
{
    return conversation_answer_elicitation(conversation, v->question, acp_raw_from(response));
}

static void test_the_first_answer_to_a_form_counts(void **state)
{
    (void) state;
    struct viewer *a = subscribe(0, 0, &person);
    struct viewer *b = subscribe(1, 0, &person);
    (void) prompt("elicit");
    run();
    assert_int_equal(a->questions, 1);
    assert_int_equal(b->questions, 1);
    /* It is no permission. */
    assert_false(
        conversation_answer(conversation, a->question, acp_str_from("yes"), (struct acp_str){0}));
    assert_true(answer_form(b, "{\"action\":\"accept\",\"content\":{\"name\":\"Ann\"}}"));
    assert_false(answer_form(a, "{\"action\":\"decline\"}"));
    run();
    assert_string_equal(agent.answer, "accept Ann");
    assert_int_equal(agent.answered, 1);
    assert_int_equal(a->gone, 1);
    assert_string_equal(a->words, "opened prompt elicitation stop");
}

static void test_a_response_that_is_none_means_cancel(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &person);
    static const char *const responses[] = {"{}", "[]", "{\"action\":\"perhaps\"}", "{"};
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        (void) prompt("elicit");
        run();
        assert_true(answer_form(v, responses[i]));
        run();
        assert_string_equal(agent.answer, "cancel");
    }
}

static void test_a_form_is_declined_where_nobody_can_be_asked(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("elicit");
    run();
    assert_string_equal(agent.answer, "decline");
    assert_true(v->end.unasked);
    assert_false(v->end.denied);
}

static void test_a_cancelled_turn_takes_its_form_back(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &person);
    (void) prompt("elicit");
    run();
    assert_int_equal(v->questions, 1);
    assert_true(conversation_cancel(conversation, 60000));
    run();
    assert_int_equal(v->gone, 1);
    assert_string_equal(v->stop, "cancelled");
    assert_false(answer_form(v, "{\"action\":\"accept\"}"));
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void test_stopping_ends_all_prompts(void **state)
{
    (void) state;
    struct viewer *v = subscribe(0, 0, &plain);
    (void) prompt("wait");
    (void) prompt("say 1");
    while (agent.prompts == 0)
        (void) uv_run(&loop, UV_RUN_ONCE);
    close_conversation();
    assert_string_equal(v->words, "opened prompt stop stop");
    assert_string_equal(v->stop, "cancelled");
}

static void test_everything_is_in_the_log_when_it_has_stopped(void **state)
{
    (void) state;
    (void) prompt("say 500");
    (void) prompt("wait");
    while (agent.prompts < 2)
        (void) uv_run(&loop, UV_RUN_ONCE);
    close_conversation();
    struct store *store = open_store();
    struct store_session session;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    assert_int_equal(store_find(store, acp_str_from("0199-test"), &arena, &session, NULL), 0);
    assert_int_equal(session.last_seq, 505);
    assert_false(session.running);
    acp_arena_finish(&arena);
    store_close(store);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, with_log, teardown)
#define WITHOUT_LOG(test) cmocka_unit_test_setup_teardown(test, without_log, teardown)
#define BOTH(test) WITH_LOG(test), WITHOUT_LOG(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_a_prompt_ends_once_after_its_events),
        BOTH(test_prompts_run_one_after_the_other),
        BOTH(test_a_turn_is_cancelled),
        BOTH(test_an_agent_that_does_not_cancel_is_ended),
        BOTH(test_a_queued_prompt_is_cancelled_without_the_agent),
        BOTH(test_a_turn_has_a_time_limit),
        BOTH(test_an_agent_that_dies_fails_its_prompt_only),
        BOTH(test_a_prompt_fails_if_the_agent_cannot_be_reached),
        WITH_LOG(test_late_subscribers_get_the_same_events),
        WITH_LOG(test_joining_a_flood_has_no_gap),
        WITH_LOG(test_a_slow_subscriber_continues_from_the_log),
        WITHOUT_LOG(test_without_a_log_the_agent_waits_for_the_slowest),
        BOTH(test_a_subscriber_may_be_freed_in_its_callback),
        WITH_LOG(test_a_reopened_session_replays_from_the_log),
        BOTH(test_a_pause_without_events_holds_nothing_up),
        WITH_LOG(test_the_first_answer_counts),
        BOTH(test_nobody_to_ask_means_no),
        BOTH(test_a_cancelled_turn_takes_its_question_back),
        BOTH(test_the_first_answer_to_a_form_counts),
        BOTH(test_a_response_that_is_none_means_cancel),
        BOTH(test_a_form_is_declined_where_nobody_can_be_asked),
        BOTH(test_a_cancelled_turn_takes_its_form_back),
        BOTH(test_stopping_ends_all_prompts),
        WITH_LOG(test_everything_is_in_the_log_when_it_has_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
