/*
 * The two roles against each other, in memory and in both versions: what a program says on one side
 * must arrive on the other, and the invariants of a session must hold whatever either does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "acp/agent.h"
#include "acp/client.h"

/* ---- A conversation -------------------------------------------------------------------------- */

struct world {
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_endpoint a;
    struct acp_endpoint c;
    uint64_t now;
    struct acp_session *agent_session;
    struct acp_client_session *session;
    struct acp_turn *turn; /* the turn that the agent has not ended */
    struct acp_buf log;    /* what the client was shown */
    struct acp_buf wire;   /* what the agent wrote */
    char stop[32];
    int ends;
    int end_err;
    int refusals;
    int err;
    int64_t code;
    acp_call question;
    int questions_gone;
    int answers; /* to what a turn asked */
    int answer_err;
    char answer[64];
    int scene; /* what the agent does with a prompt */
};

enum scene { SCENE_ECHO, SCENE_WAIT, SCENE_WORK, SCENE_ASK, SCENE_READ, SCENE_FAIL };

static void note(struct world *w, const char *format, ...) ACP_PRINTF(2, 3);

static void note(struct world *w, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_int_equal(acp_buf_append(&w->log, text, strlen(text)), 0);
    assert_int_equal(acp_buf_append(&w->log, "\n", 1), 0);
}

static void expect_log(struct world *w, const char *expected)
{
    assert_int_equal(acp_buf_append(&w->log, "", 1), 0);
    assert_string_equal(w->log.data + w->log.start, expected);
    acp_buf_clear(&w->log);
}

/* Carries bytes both ways until both sides are silent. */
static void carry(struct world *w)
{
    bool moved = true;
    while (moved) {
        struct acp_str out = w->a.output(w->a.self);
        moved = out.len > 0;
        if (out.len) {
            char *copy = malloc(out.len);
            size_t n = out.len;
            memcpy(copy, out.ptr, n);
            assert_int_equal(acp_buf_append(&w->wire, copy, n), 0);
            w->a.sent(w->a.self, n);
            (void) w->c.receive(w->c.self, copy, n, w->now);
            free(copy);
        }
        out = w->c.output(w->c.self);
        if (out.len) {
            char *copy = malloc(out.len);
            size_t n = out.len;
            memcpy(copy, out.ptr, n);
            w->c.sent(w->c.self, n);
            (void) w->a.receive(w->a.self, copy, n, w->now);
            free(copy);
            moved = true;
        }
    }
}

static void pass_time(struct world *w, uint64_t ms)
{
    w->now += ms;
    w->a.tick(w->a.self, w->now);
    w->c.tick(w->c.self, w->now);
    carry(w);
}

/* ---- The agent ------------------------------------------------------------------------------- */

static void on_permission_answer(struct acp_turn *turn, const struct acp_permission *answer,
                                 void *user)
{
    struct world *w = user;
    (void) turn;
    w->answers++;
    w->answer_err = answer->err;
    (void) snprintf(w->answer, sizeof(w->answer), "%.*s", (int) answer->option.len,
                    answer->option.ptr ? answer->option.ptr : "");
}

static void on_file_answer(struct acp_turn *turn, int err, struct acp_str text, void *user)
{
    struct world *w = user;
    w->answers++;
    w->answer_err = err;
    (void) snprintf(w->answer, sizeof(w->answer), "%.*s", (int) text.len, text.ptr ? text.ptr : "");
    if (!err)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void do_work(struct acp_turn *turn)
{
    struct acp_plan_entry entry;
    struct acp_tool_call_update tool;
    struct acp_tool_call_content content;
    (void) acp_turn_thought(turn, acp_str("hm"));
    acp_plan_entry_init(&entry, acp_str("think"), ACP_PLAN_ENTRY_PRIORITY_HIGH,
                        ACP_PLAN_ENTRY_STATUS_IN_PROGRESS);
    (void) acp_turn_plan(turn, &entry, 1);
    acp_tool_call_update_init(&tool, acp_str("call-1"));
    tool.title = acp_str("Edit a file");
    tool.kind.is = ACP_TOOL_KIND_EDIT;
    (void) acp_turn_tool(turn, &tool);
    acp_tool_call_update_init(&tool, acp_str("call-1"));
    tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
    memset(&content, 0, sizeof(content));
    content.is = ACP_TOOL_CALL_CONTENT_DIFF;
    content.diff.path = acp_str("/w/a.txt");
    content.diff.old_text = acp_str("one\n");
    content.diff.new_text = acp_str("two\n");
    tool.content.items = &content;
    tool.content.count = 1;
    (void) acp_turn_tool(turn, &tool);
    (void) acp_turn_text(turn, acp_str("done"));
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void ask_permission(struct world *w, struct acp_turn *turn)
{
    struct acp_permission_option options[2];
    struct acp_tool_call_update tool;
    acp_permission_option_init(&options[0], acp_str("yes"), acp_str("Allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str("no"), acp_str("Reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
    acp_tool_call_update_init(&tool, acp_str("call-9"));
    tool.title = acp_str("Remove everything");
    w->turn = turn;
    assert_int_equal(acp_turn_ask_permission(turn, &tool, options, 2, on_permission_answer, w), 0);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct world *w = user;
    switch ((enum scene) w->scene) {
    case SCENE_ECHO:
        for (size_t i = 0; i < prompt.count; i++)
            (void) acp_turn_block(turn, &prompt.items[i]);
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
        break;
    case SCENE_WAIT:
        w->turn = turn;
        break;
    case SCENE_WORK:
        do_work(turn);
        break;
    case SCENE_ASK:
        ask_permission(w, turn);
        break;
    case SCENE_READ:
        w->turn = turn;
        w->err = acp_turn_read_file(turn, acp_str("/w/a.txt"), 1, 0, on_file_answer, w);
        if (w->err)
            (void) acp_turn_end(turn, ACP_STOP_END_TURN);
        break;
    case SCENE_FAIL:
        (void) acp_turn_fail(turn, -32603, acp_str("the model is gone"));
        break;
    }
}

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    struct world *w = user;
    (void) request;
    struct acp_session_mode modes[2];
    struct acp_available_command command;
    acp_session_mode_init(&modes[0], acp_str("ask"), acp_str("Ask"));
    acp_session_mode_init(&modes[1], acp_str("code"), acp_str("Code"));
    acp_available_command_init(&command, acp_str("test"), acp_str("Runs the tests"));
    struct acp_session_setup setup = {
        .modes = {modes, 2}, .current_mode = acp_str("ask"), .commands = {&command, 1}};
    w->agent_session = session;
    assert_int_equal(acp_session_accept(session, &setup), 0);
}

static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    struct world *w = user;
    struct acp_content_block block;
    (void) request;
    w->agent_session = session;
    acp_content_block_init_text(&block, acp_str("what I said"));
    assert_int_equal(acp_session_user_block(session, &block, acp_str("u1")), 0);
    assert_int_equal(acp_session_text(session, acp_str("what was answered"), acp_str("a1")), 0);
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    (void) user;
    if (acp_str_is(mode, "code"))
        (void) acp_session_mode_set(session, call, mode);
    else
        (void) acp_agent_refuse(acp_session_agent(session), call, -32602, acp_str("No such mode"));
}

/* ---- The client ------------------------------------------------------------------------------ */

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    static const char *const authors[] = {"agent", "thought", "user"};
    static const char *const states[] = {"idle", "running", "blocked"};
    struct world *w = user;
    (void) session;
    switch (event->kind) {
    case ACP_EVENT_CHUNK:
        note(w, "%s: %.*s", authors[event->author], (int) event->block->text.text.len,
             event->block->text.text.ptr);
        break;
    case ACP_EVENT_MESSAGE: /* only version 2 repeats what the user said */
        break;
    case ACP_EVENT_TOOL:
        note(w, "tool %.*s: %.*s %.*s", (int) event->tool_id.len, event->tool_id.ptr,
             (int) event->tool->title.len, event->tool->title.ptr ? event->tool->title.ptr : "",
             (int) event->tool->status.text.len,
             event->tool->status.text.ptr ? event->tool->status.text.ptr : "");
        break;
    case ACP_EVENT_PLAN:
        note(w, "plan of %zu", event->plan.count);
        break;
    case ACP_EVENT_COMMANDS:
        note(w, "commands: %.*s", (int) event->commands.items[0].name.len,
             event->commands.items[0].name.ptr);
        break;
    case ACP_EVENT_STATE:
        note(w, "[%s]", states[event->state]);
        break;
    case ACP_EVENT_OTHER:
        note(w, "other: %.*s", (int) event->raw.len, event->raw.ptr);
        break;
    default:
        note(w, "event %d", (int) event->kind);
    }
}

static void on_question(struct acp_client_session *session, acp_call call,
                        const struct acp_permission_question *question, void *user)
{
    struct world *w = user;
    (void) session;
    w->question = call;
    note(w, "may it: %.*s (%zu)", (int) question->title.len, question->title.ptr,
         question->options.count);
}

static void on_question_gone(struct acp_client_session *session, acp_call call, void *user)
{
    struct world *w = user;
    (void) session;
    assert_int_equal(call, w->question);
    w->questions_gone++;
}

static void on_service(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    (void) session;
    (void) message;
    (void) user;
    if (method->id == ACP_METHOD_FS_READ_TEXT_FILE) {
        const struct acp_read_text_file_request *request = params;
        struct acp_read_text_file_response answer;
        assert_true(acp_str_is(request->path, "/w/a.txt"));
        acp_read_text_file_response_init(&answer, acp_str("contents"));
        (void) acp_client_answer(client, call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, &answer);
    } else {
        (void) acp_client_refuse(client, call, -32601, acp_str("no"), acp_raw(NULL));
    }
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) client;
    w->err = outcome->err;
    w->code = outcome->code;
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) client;
    w->err = outcome->err;
    w->code = outcome->code;
    w->session = session;
}

static void on_end(struct acp_client_session *session, struct acp_str stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) session;
    w->ends++;
    w->end_err = outcome->err;
    (void) snprintf(w->stop, sizeof(w->stop), "%.*s", (int) stop.len, stop.ptr ? stop.ptr : "");
    note(w, "end %s%s", w->stop, outcome->err ? " with an error" : "");
}

/* As a C string, for strstr; to be freed. */
static char *copy_of(struct acp_str text)
{
    char *copy = calloc(1, text.len + 1);
    assert_non_null(copy);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static struct world *make_world(unsigned agent_versions, unsigned client_versions)
{
    static const struct acp_agent_handler agent_handler = {
        .new_session = on_new_session,
        .load_session = on_load,
        .prompt = on_prompt,
        .set_mode = on_set_mode,
    };
    static const struct acp_client_handler client_handler = {
        .event = on_event,
        .permission = on_question,
        .permission_gone = on_question_gone,
        .request = on_service,
    };
    struct acp_agent_options agent_options = {
        .name = acp_str("a"), .version = acp_str("1"), .versions = agent_versions};
    struct acp_client_options client_options = {.name = acp_str("c"),
                                                .version = acp_str("1"),
                                                .versions = client_versions,
                                                .read_files = true};
    struct world *w = calloc(1, sizeof(*w));
    acp_buf_init(&w->log, 1 << 20);
    acp_buf_init(&w->wire, 1 << 24);
    assert_int_equal(acp_agent_new(&agent_options, &agent_handler, w, &w->agent), 0);
    assert_int_equal(acp_client_new(&client_options, &client_handler, w, &w->client), 0);
    w->a = acp_agent_endpoint(w->agent);
    w->c = acp_client_endpoint(w->client);
    return w;
}

static void free_world(struct world *w)
{
    acp_client_free(w->client);
    acp_agent_free(w->agent);
    acp_buf_finish(&w->log);
    acp_buf_finish(&w->wire);
    free(w);
}

static void start(struct world *w)
{
    assert_int_equal(acp_client_start(w->client, on_ready, w), 0);
    carry(w);
    assert_int_equal(w->err, 0);
}

static struct world *open_world(unsigned version)
{
    static const struct acp_session_place place = {.cwd = ACP_STR("/w")};
    struct world *w = make_world(version, version);
    start(w);
    assert_int_equal(acp_client_new_session(w->client, &place, on_session, w), 0);
    carry(w);
    assert_int_equal(w->err, 0);
    assert_non_null(w->session);
    acp_buf_clear(&w->log);
    return w;
}

static void say(struct world *w, int scene, const char *text)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str(text));
    w->scene = scene;
    assert_int_equal(acp_client_prompt(w->session, &block, 1, on_end, w), 0);
    carry(w);
}

/* Runs a test in both versions. */
static void in_both(void (*test)(struct world *w))
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = open_world(versions[i]);
        test(w);
        free_world(w);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void negotiation(void **state)
{
    static const struct {
        unsigned agent;
        unsigned client;
        unsigned agreed; /* 0: none */
    } cases[] = {
        {ACP_V1, ACP_V1, ACP_V1},
        {ACP_V2, ACP_V2, ACP_V2},
        {ACP_V1 | ACP_V2, ACP_V1, ACP_V1},
        {ACP_V1 | ACP_V2, ACP_V1 | ACP_V2, ACP_V2},
        {ACP_V1, ACP_V1 | ACP_V2, ACP_V1},
        {ACP_V2, ACP_V1, 0},
        {ACP_V1, ACP_V2, 0},
    };
    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = make_world(cases[i].agent, cases[i].client);
        assert_int_equal(acp_client_start(w->client, on_ready, w), 0);
        carry(w);
        assert_int_equal(acp_client_mode(w->client), cases[i].agreed);
        assert_int_equal(w->err == 0, cases[i].agreed != 0);
        free_world(w);
    }
}

static void echo_once(struct world *w)
{
    say(w, SCENE_ECHO, "hello");
    expect_log(w, "[running]\nagent: hello\n[idle]\nend end_turn\n");
    assert_int_equal(w->ends, 1);
}

static void a_prompt_is_echoed_and_ends_once(void **state)
{
    (void) state;
    in_both(echo_once);
}

static void work_once(struct world *w)
{
    say(w, SCENE_WORK, "go");
    expect_log(w, "[running]\nthought: hm\nplan of 1\ntool call-1: Edit a file \n"
                  "tool call-1:  completed\nagent: done\n[idle]\nend end_turn\n");
    assert_int_equal(acp_buf_append(&w->wire, "", 1), 0);
    bool v2 = acp_client_mode(w->client) & ACP_V2;
    assert_int_equal(strstr(w->wire.data, "\"oldText\":\"one\\n\"") != NULL, !v2);
    assert_int_equal(strstr(w->wire.data, "\"format\":\"git_patch\"") != NULL, v2);
    assert_int_equal(strstr(w->wire.data, "\"sessionUpdate\":\"tool_call\"") != NULL, !v2);
    assert_int_equal(strstr(w->wire.data, "\"planId\":\"main\"") != NULL, v2);
}

static void all_that_a_turn_says_arrives_in_order(void **state)
{
    (void) state;
    in_both(work_once);
}

static void a_cancelled_turn_ends_as_cancelled_and_the_session_stays(void **state)
{
    (void) state;
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = open_world(versions[i]);
        w->ends = 0;
        say(w, SCENE_WAIT, "wait");
        assert_int_equal(acp_client_cancel(w->session), 0);
        carry(w);
        assert_int_equal(acp_turn_fail(w->turn, -32603, acp_str("aborted")), 0);
        carry(w);
        assert_string_equal(w->stop, "cancelled");
        assert_int_equal(w->end_err, 0);
        acp_buf_clear(&w->log);
        say(w, SCENE_ECHO, "again");
        expect_log(w, "[running]\nagent: again\n[idle]\nend end_turn\n");
        assert_int_equal(w->ends, 2);
        free_world(w);
    }
}

static void permit_once(struct world *w)
{
    say(w, SCENE_ASK, "may I");
    assert_int_not_equal(w->question, 0);
    assert_int_equal(acp_client_permit(w->client, w->question, acp_str("yes")), 0);
    assert_int_equal(acp_client_permit(w->client, w->question, acp_str("yes")), ACP_ERR_UNKNOWN);
    carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_equal(w->answer_err, 0);
    assert_string_equal(w->answer, "yes");
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    carry(w);
    assert_int_equal(w->ends, 1);
}

static void permission_is_granted_by_an_offered_option(void **state)
{
    (void) state;
    in_both(permit_once);
}

static void made_up_option(struct world *w)
{
    struct acp_request_permission_response answer;
    say(w, SCENE_ASK, "may I");
    assert_int_equal(acp_client_permit(w->client, w->question, acp_str("made up")),
                     ACP_ERR_ARGUMENT);
    /* A client that says it all the same permits nothing. */
    acp_request_permission_response_init(&answer);
    acp_request_permission_outcome_init_selected(&answer.outcome, acp_str("made up"));
    assert_int_equal(
        acp_client_answer(w->client, w->question, ACP_TYPE_REQUEST_PERMISSION_RESPONSE, &answer),
        0);
    carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_not_equal(w->answer_err, 0);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
}

static void an_option_that_was_not_offered_is_no_permission(void **state)
{
    (void) state;
    in_both(made_up_option);
}

static void cancel_asking(struct world *w)
{
    say(w, SCENE_ASK, "may I");
    assert_int_equal(acp_client_cancel(w->session), 0);
    carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_equal(w->answer_err, ACP_ERR_CANCELLED);
    assert_int_equal(w->questions_gone, 1);
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    carry(w);
    assert_string_equal(w->stop, "cancelled");
    assert_int_equal(acp_peer_calls(acp_client_peer(w->client)), 0);
    assert_int_equal(acp_peer_pending(acp_agent_peer(w->agent)), 0);
}

static void cancel_settles_the_questions_of_the_turn(void **state)
{
    (void) state;
    in_both(cancel_asking);
}

static void a_second_prompt_does_not_touch_the_first(void **state)
{
    (void) state;
    struct world *w = open_world(ACP_V1);
    struct acp_content_block block;
    say(w, SCENE_WAIT, "first");
    acp_content_block_init_text(&block, acp_str("second"));
    assert_int_equal(acp_client_prompt(w->session, &block, 1, on_end, w), ACP_ERR_STATE);
    /* A client that does not hold back is told so by the agent. */
    char second[200];
    (void) snprintf(second, sizeof(second),
                    "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"session/prompt\",\"params\":"
                    "{\"sessionId\":\"%.*s\",\"prompt\":[]}}\n",
                    (int) acp_client_session_id(w->session).len,
                    acp_client_session_id(w->session).ptr);
    assert_int_equal(w->a.receive(w->a.self, second, strlen(second), 0), 0);
    struct acp_str out = w->a.output(w->a.self);
    char *answer = copy_of(out);
    assert_non_null(strstr(answer, "-32600"));
    free(answer);
    w->a.sent(w->a.self, out.len);
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    carry(w);
    assert_int_equal(w->ends, 1);
    assert_string_equal(w->stop, "end_turn");
    free_world(w);
}

static void fail_once(struct world *w)
{
    say(w, SCENE_FAIL, "x");
    assert_int_equal(w->ends, 1);
    assert_int_equal(w->end_err, ACP_ERR_REMOTE);
    assert_string_equal(w->stop, "");
}

static void a_turn_that_fails_tells_why(void **state)
{
    (void) state;
    in_both(fail_once);
}

static void files_are_served_where_the_client_offers_them(void **state)
{
    (void) state;
    struct world *w = open_world(ACP_V1);
    say(w, SCENE_READ, "read");
    assert_int_equal(w->answers, 1);
    assert_string_equal(w->answer, "contents");
    assert_int_equal(w->ends, 1);
    free_world(w);
    w = open_world(ACP_V2);
    say(w, SCENE_READ, "read");
    assert_int_equal(w->answers, 0);
    assert_int_equal(w->err, ACP_ERR_STATE);
    assert_int_equal(w->ends, 1);
    free_world(w);
}

static void load_once(struct world *w)
{
    static const struct acp_session_place place = {.cwd = ACP_STR("/w")};
    assert_int_equal(acp_client_load_session(w->client, acp_str("old-1"), &place, on_session, w),
                     0);
    carry(w);
    assert_int_equal(w->err, 0);
    assert_true(acp_str_is(acp_client_session_id(w->session), "old-1"));
    bool v2 = acp_client_mode(w->client) & ACP_V2;
    expect_log(w, v2 ? "user: what I said\nagent: what was answered\n[idle]\n"
                     : "user: what I said\nagent: what was answered\n");
    echo_once(w);
}

static void load_shows_the_history_before_it_answers(void **state)
{
    (void) state;
    in_both(load_once);
}

static void close_once(struct world *w)
{
    say(w, SCENE_WAIT, "wait");
    assert_int_equal(acp_client_close_session(w->session, on_ready, w), 0);
    carry(w);
    assert_int_equal(w->err, 0);
    assert_int_equal(w->ends, 1);
    assert_string_equal(w->stop, "cancelled");
}

static void closing_a_session_ends_its_turn_as_cancelled(void **state)
{
    (void) state;
    in_both(close_once);
}

static void die_once(struct world *w)
{
    say(w, SCENE_WAIT, "wait");
    w->c.receive_end(w->c.self, w->now); /* the agent is gone */
    assert_int_equal(w->ends, 1);
    assert_int_equal(w->end_err, ACP_ERR_CLOSED);
    w->a.receive_end(w->a.self, w->now); /* and the client */
}

static void the_death_of_the_agent_ends_the_turn_once(void **state)
{
    (void) state;
    in_both(die_once);
}

static void modes_once(struct world *w)
{
    assert_int_equal(acp_client_set_mode(w->session, acp_str("code"), on_ready, w), 0);
    carry(w);
    assert_int_equal(w->err, 0);
    assert_int_equal(acp_client_set_mode(w->session, acp_str("none"), on_ready, w), 0);
    carry(w);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_equal(w->code, -32602);
}

static void modes_are_set_in_both_versions(void **state)
{
    (void) state;
    in_both(modes_once);
}

static void chunks_are_merged_and_never_reordered(void **state)
{
    (void) state;
    struct world *w = open_world(ACP_V1);
    say(w, SCENE_WAIT, "x");
    acp_buf_clear(&w->log);
    for (int i = 0; i < 5; i++)
        (void) acp_turn_text(w->turn, acp_str("ab"));
    carry(w);
    expect_log(w, "");
    pass_time(w, 49);
    expect_log(w, "");
    pass_time(w, 1);
    expect_log(w, "agent: ababababab\n");
    (void) acp_turn_text(w->turn, acp_str("one"));
    (void) acp_turn_thought(w->turn, acp_str("two"));
    (void) acp_turn_text(w->turn, acp_str("three"));
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    carry(w);
    expect_log(w, "agent: one\nthought: two\nagent: three\n[idle]\nend end_turn\n");
    char many[101];
    memset(many, 'x', 100);
    many[100] = '\0';
    say(w, SCENE_WAIT, "x");
    acp_buf_clear(&w->log);
    (void) acp_turn_text(w->turn, acp_str(many));
    carry(w);
    assert_int_equal(w->log.len, 108);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    free_world(w);
}

static void updates_before_the_session_is_known_are_kept(void **state)
{
    (void) state;
    struct world *w = make_world(ACP_V1, ACP_V1);
    static const struct acp_session_place place = {.cwd = ACP_STR("/w")};
    static const char early[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s9\","
        "\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
        "\"text\":\"early\"}}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s9\","
        "\"update\":{\"sessionUpdate\":\"from_the_future\",\"x\":1}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s9\"}}\n";
    start(w);
    assert_int_equal(acp_client_new_session(w->client, &place, on_session, w), 0);
    struct acp_str out = w->c.output(w->c.self);
    w->c.sent(w->c.self, out.len);
    assert_int_equal(w->c.receive(w->c.self, early, sizeof(early) - 1, 0), 0);
    assert_non_null(w->session);
    expect_log(w, "agent: early\nother: {\"sessionUpdate\":\"from_the_future\",\"x\":1}\n");
    free_world(w);
}

static void what_must_not_reach_the_program_is_refused(void **state)
{
    static const struct {
        const char *request;
        const char *answer;
    } cases[] = {
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"relative\",\"mcpServers\":[]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[],"
         "\"additionalDirectories\":[\"/x\"]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[{\"type\":\"http\","
         "\"name\":\"n\",\"url\":\"u\",\"headers\":[]}]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{}", "-32602"},
        {"\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"nope\",\"prompt\":[]}",
         "-32002"},
        {"\"method\":\"session/list\",\"params\":{}", "-32601"},
        {"\"method\":\"session/resume\",\"params\":{}", "-32601"},
        {"\"method\":\"authenticate\",\"params\":{\"methodId\":\"x\"}", "-32601"},
        {"\"method\":\"no/such\",\"params\":{}", "-32601"},
        {"\"method\":\"_custom\",\"params\":{}", "-32601"},
        {"\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}", "-32600"},
    };
    (void) state;
    struct world *w = open_world(ACP_V1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[500];
        (void) snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",%s}\n",
                        cases[i].request);
        assert_int_equal(w->a.receive(w->a.self, line, strlen(line), 0), 0);
        struct acp_str out = w->a.output(w->a.self);
        char *answer = copy_of(out);
        if (!strstr(answer, cases[i].answer))
            fail_msg("%s\n got %s instead of %s", cases[i].request, answer, cases[i].answer);
        free(answer);
        w->a.sent(w->a.self, out.len);
    }
    free_world(w);
}

static void nothing_goes_before_initialize(void **state)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":"
        "{\"cwd\":\"/w\",\"mcpServers\":[]}}\n";
    static const struct acp_session_place place = {.cwd = ACP_STR("/w")};
    (void) state;
    struct world *w = make_world(ACP_V1, ACP_V1);
    assert_int_equal(acp_client_new_session(w->client, &place, on_session, w), ACP_ERR_STATE);
    assert_int_equal(w->a.receive(w->a.self, line, sizeof(line) - 1, 0), 0);
    struct acp_str out = w->a.output(w->a.self);
    char *answer = copy_of(out);
    assert_non_null(strstr(answer, "-32600"));
    free(answer);
    free_world(w);
}

/* Sends the agent a line and returns what it answers; to be freed. */
static char *answer_to(struct world *w, const char *line)
{
    assert_int_equal(w->a.receive(w->a.self, line, strlen(line), 0), 0);
    struct acp_str out = w->a.output(w->a.self);
    char *answer = copy_of(out);
    w->a.sent(w->a.self, out.len);
    return answer;
}

static void com_rpc_15_absent_params_are_an_empty_object(void **state)
{
    (void) state;
    struct world *w = open_world(ACP_V2);
    char *answer = answer_to(w, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/list\"}\n");
    assert_non_null(strstr(answer, "\"sessions\":["));
    free(answer);
    free_world(w);
}

static void com_rpc_24_relative_paths_go_nowhere(void **state)
{
    static const struct acp_session_place place = {.cwd = ACP_STR("w")};
    (void) state;
    struct world *w = open_world(ACP_V1);
    assert_int_equal(acp_client_new_session(w->client, &place, on_session, w), ACP_ERR_ARGUMENT);
    say(w, SCENE_WAIT, "x");
    assert_int_equal(acp_turn_read_file(w->turn, acp_str("a.txt"), 1, 0, on_file_answer, w),
                     ACP_ERR_ARGUMENT);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    free_world(w);
}

static void com_ext_06_the_trace_context_of_a_prompt_reaches_the_program(void **state)
{
    static const char trace[] = "{\"traceparent\":\"00-80e1afed08e019fc1110464cfa66635c-01\"}";
    char line[500];
    (void) state;
    struct world *w = open_world(ACP_V1);
    struct acp_str id = acp_client_session_id(w->session);
    (void) snprintf(line, sizeof(line),
                    "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":"
                    "{\"sessionId\":\"%.*s\",\"prompt\":[],\"_meta\":%s}}\n",
                    (int) id.len, id.ptr, trace);
    w->scene = SCENE_WAIT;
    assert_int_equal(w->a.receive(w->a.self, line, strlen(line), 0), 0);
    struct acp_raw meta = acp_turn_meta(w->turn);
    assert_int_equal(meta.len, strlen(trace));
    assert_memory_equal(meta.ptr, trace, meta.len);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    free_world(w);
}

static void com_ext_12_extensions_are_advertised_in_the_capabilities(void **state)
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        struct world *w = make_world(versions[i], versions[i]);
        struct acp_agent_options options = {.versions = versions[i],
                                            .capabilities_meta = acp_raw("{\"x.example\":1}")};
        acp_agent_free(w->agent);
        assert_int_equal(acp_agent_new(&options, &handler, w, &w->agent), 0);
        w->a = acp_agent_endpoint(w->agent);
        start(w);
        const struct acp_initialize_response *agent = acp_client_agent(w->client);
        const struct acp_agent_capabilities *can =
            versions[i] == ACP_V1 ? agent->agent_capabilities : agent->capabilities;
        assert_int_equal(can->meta.len, strlen("{\"x.example\":1}"));
        free_world(w);
    }
}

static void v2_state_08_a_state_told_again_is_no_end(void **state)
{
    (void) state;
    struct world *w = open_world(ACP_V2);
    struct acp_content_block block;
    char idle[300];
    (void) snprintf(idle, sizeof(idle),
                    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
                    "\"%.*s\",\"update\":{\"sessionUpdate\":\"state_update\",\"state\":\"idle\","
                    "\"stopReason\":\"end_turn\"}}}\n",
                    (int) acp_client_session_id(w->session).len,
                    acp_client_session_id(w->session).ptr);
    acp_content_block_init_text(&block, acp_str("x"));
    w->scene = SCENE_ECHO;
    assert_int_equal(acp_client_prompt(w->session, &block, 1, on_end, w), 0);
    assert_int_equal(w->c.receive(w->c.self, idle, strlen(idle), 0), 0);
    assert_int_equal(w->ends, 0);
    carry(w);
    assert_int_equal(w->ends, 1);
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(com_rpc_15_absent_params_are_an_empty_object),
        cmocka_unit_test(com_rpc_24_relative_paths_go_nowhere),
        cmocka_unit_test(com_ext_06_the_trace_context_of_a_prompt_reaches_the_program),
        cmocka_unit_test(com_ext_12_extensions_are_advertised_in_the_capabilities),
        cmocka_unit_test(v2_state_08_a_state_told_again_is_no_end),
        cmocka_unit_test(negotiation),
        cmocka_unit_test(nothing_goes_before_initialize),
        cmocka_unit_test(a_prompt_is_echoed_and_ends_once),
        cmocka_unit_test(all_that_a_turn_says_arrives_in_order),
        cmocka_unit_test(a_cancelled_turn_ends_as_cancelled_and_the_session_stays),
        cmocka_unit_test(permission_is_granted_by_an_offered_option),
        cmocka_unit_test(an_option_that_was_not_offered_is_no_permission),
        cmocka_unit_test(cancel_settles_the_questions_of_the_turn),
        cmocka_unit_test(a_second_prompt_does_not_touch_the_first),
        cmocka_unit_test(a_turn_that_fails_tells_why),
        cmocka_unit_test(files_are_served_where_the_client_offers_them),
        cmocka_unit_test(load_shows_the_history_before_it_answers),
        cmocka_unit_test(closing_a_session_ends_its_turn_as_cancelled),
        cmocka_unit_test(the_death_of_the_agent_ends_the_turn_once),
        cmocka_unit_test(modes_are_set_in_both_versions),
        cmocka_unit_test(chunks_are_merged_and_never_reordered),
        cmocka_unit_test(updates_before_the_session_is_known_are_kept),
        cmocka_unit_test(what_must_not_reach_the_program_is_refused),
    };
    return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
