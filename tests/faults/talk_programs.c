/*
 * The two programs of the conversation: what the agent does with a prompt, and what the client asks
 * for next.
 */
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roles_acts.h"

/* The program cannot go on, and says so in the middle of things. */
static bool give_up(struct talk *t, enum talk_side side)
{
    const struct talk_fault *f = &t->fault;
    size_t number = t->callbacks[side]++;
    if (t->fault_done || f->kind != FAULT_CLOSE || f->side != side || f->at != number)
        return false;
    t->fault_done = true;
    t->gave_up = true;
    if (side == TALK_AGENT)
        acp_agent_close(t->agent, ACP_ERR_CLOSED);
    else
        acp_client_close(t->client, ACP_ERR_CLOSED);
    return true;
}

static bool note(struct talk *t, enum talk_side side, const char *format, ...) ACP_PRINTF(3, 4);

/* Called in every callback, when its books are done.  True: return at once, nothing is left. */
static bool note(struct talk *t, enum talk_side side, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_in_range(n, 0, (int) sizeof(text) - 1);
    assert_int_equal(acp_buf_append(&t->logs[side], text, (size_t) n), 0);
    assert_int_equal(acp_buf_append(&t->logs[side], "\n", 1), 0);
    return give_up(t, side);
}

#define STR(s) (int) (s).len, (s).ptr ? (s).ptr : ""

/* ---- The agent ------------------------------------------------------------------------------- */

static void end_later(struct talk *t, struct acp_turn *turn)
{
    assert_null(t->ending);
    t->ending = turn;
}

static void on_file(struct acp_turn *turn, const struct acp_outcome *outcome, struct acp_str text,
                    void *user)
{
    int err = outcome->err;
    if (err)
        text = err == ACP_ERR_REMOTE ? outcome->why : acp_str_from("");
    struct talk *t = user;
    t->answered++;
    if (note(t, TALK_AGENT, "file %d %.*s", err, STR(text)))
        return;
    if (err)
        (void) acp_turn_fail(turn, -32603, acp_str_from("the file cannot be read"));
    else
        end_later(t, turn);
}

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct talk *t = user;
    t->answered++;
    if (note(t, TALK_AGENT, "permission %d %.*s", answer->err, STR(answer->option)))
        return;
    if (acp_turn_is_cancelled(turn))
        return; /* the cancel callback comes next */
    if (answer->err)
        (void) acp_turn_fail(turn, -32603, acp_str_from("nobody gave permission"));
    else if (acp_turn_read_file(turn, acp_str_from("/w/a.txt"), 1, 0, on_file, t) == 0)
        t->asked++;
    else
        end_later(t, turn);
}

static void ask(struct talk *t, struct acp_turn *turn)
{
    acts_ask(turn, on_permission, t);
    t->asked++;
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct talk *t = user;
    assert_int_equal(prompt.count, 1);
    struct acp_str text = prompt.items[0].text.text;
    if (note(t, TALK_AGENT, "prompt %.*s", STR(text)))
        return;
    if (acp_str_is(text, "work")) {
        acts_work(turn);
        (void) acp_turn_send_text(turn, acp_str_from("changed, \xc3\xa4nd more"));
        ask(t, turn);
    } else if (acp_str_is(text, "wait")) {
        (void) acp_turn_send_text(turn, acp_str_from("one moment"));
        ask(t, turn);
    } else if (acp_str_is(text, "fail")) {
        (void) acp_turn_send_text(turn, acp_str_from("I try"));
        (void) acp_turn_fail(turn, -32603, acp_str_from("the model is gone"));
    } else {
        (void) acp_turn_send_block(turn, &prompt.items[0]);
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
    }
}

static void on_cancel(struct acp_turn *turn, void *user)
{
    struct talk *t = user;
    if (note(t, TALK_AGENT, "cancel"))
        return;
    if (t->ending != turn)
        end_later(t, turn);
}

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    struct talk *t = user;
    assert_null(t->opening);
    t->opening = session;
    t->sessions++;
    (void) note(t, TALK_AGENT, "new %.*s", STR(request->cwd));
}

static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    struct talk *t = user;
    acts_replay(session);
    assert_null(t->opening);
    t->opening = session;
    t->sessions++;
    (void) note(t, TALK_AGENT, "load %.*s", STR(request->session_id));
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    if (!note(user, TALK_AGENT, "mode %.*s", STR(mode)))
        (void) acp_session_reply_set_mode(session, call, mode);
}

static void on_agent_session_end(struct acp_session *session, void *user)
{
    struct talk *t = user;
    t->sessions_ended++;
    if (t->opening == session)
        t->opening = NULL;
    if (t->ending && acp_turn_session(t->ending) == session)
        t->ending = NULL;
    (void) note(t, TALK_AGENT, "end of a session");
}

static void on_agent_closed(struct acp_agent *agent, int reason, void *user)
{
    struct talk *t = user;
    (void) agent;
    assert_true(reason < 0);
    t->agent_closed++;
}

const struct acp_agent_handler talk_agent_handler = {
    .new_session = on_new_session,
    .load_session = on_load,
    .prompt = on_prompt,
    .cancel = on_cancel,
    .set_mode = on_set_mode,
    .end_session = on_agent_session_end,
    .closed = on_agent_closed,
};

bool talk_agent_work(struct talk *t)
{
    struct acp_session *session = t->opening;
    struct acp_turn *turn = t->ending;
    t->opening = NULL;
    if (session) {
        acts_accept(session);
        return true;
    }
    t->ending = NULL;
    if (turn) {
        (void) acp_turn_send_text(turn, acp_str_from("and that was it"));
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
    }
    return turn != NULL;
}

/* ---- The client ------------------------------------------------------------------------------ */

static bool contains(struct acp_str text, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, part, n) == 0)
            return true;
    return false;
}

/* Words, not a number or a blank; and the reason of the close where that is the reason. */
static void check_words(const struct talk *t, const struct acp_outcome *outcome)
{
    if (!outcome->err)
        return;
    if (outcome->why.len < 8 || !memchr(outcome->why.ptr, ' ', outcome->why.len))
        fail_msg("nobody understands \"%.*s\"", STR(outcome->why));
    if (outcome->err == ACP_ERR_REMOTE)
        return;
    assert_int_equal(outcome->err, ACP_ERR_CLOSED);
    if (t->explained && !contains(outcome->why, TALK_DEATH))
        fail_msg("\"%.*s\" does not tell why the agent is gone", STR(outcome->why));
}

/* A promise is kept.  True when the script goes on. */
static bool keep(struct talk *t, enum talk_step step, const struct acp_outcome *outcome)
{
    t->promises[step].kept++;
    t->promises[step].err = outcome->err;
    check_words(t, outcome);
    bool fails = step == STEP_FAIL;
    if (fails && outcome->err == ACP_ERR_REMOTE)
        assert_true(contains(outcome->why, "the model is gone"));
    bool fine = fails ? outcome->err == ACP_ERR_REMOTE : outcome->err == 0;
    (void) note(t, TALK_CLIENT, "step %d: %d %.*s", (int) step, outcome->err, STR(outcome->why));
    return fine && !t->gave_up;
}

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct talk *t = user;
    (void) client;
    if (keep(t, t->step, outcome))
        talk_next(t);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct talk *t = user;
    (void) client;
    assert_int_equal(session != NULL, outcome->err == 0);
    if (t->step == STEP_NEW && session) {
        t->fresh = session;
        t->client_sessions++;
        (void) snprintf(t->fresh_id, sizeof(t->fresh_id), "%.*s",
                        STR(acp_client_session_id(session)));
    } else if (session) {
        t->old = session;
    }
    if (keep(t, t->step, outcome))
        talk_next(t);
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct talk *t = user;
    assert_ptr_equal(session, t->step < STEP_LOAD ? t->fresh : t->old);
    assert_int_equal(stop->reason == ACP_STOP_NONE, outcome->err != 0);
    if (t->step == STEP_WAIT && !outcome->err)
        assert_int_equal(stop->reason, ACP_STOP_CANCELLED);
    if (keep(t, t->step, outcome))
        talk_next(t);
}

static int prompt(struct talk *t, struct acp_client_session *session, const char *text)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from(text));
    return acp_client_prompt(session, &block, 1, on_end, t);
}

static int begin_step(struct talk *t)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    switch (t->step) {
    case STEP_START:
        return acp_client_initialize(t->client, on_done, t);
    case STEP_NEW:
        return acp_client_new_session(t->client, &place, on_session, t);
    case STEP_WORK:
        return prompt(t, t->fresh, "work");
    case STEP_WAIT:
        return prompt(t, t->fresh, "wait");
    case STEP_MODE:
        return acp_client_set_mode(t->fresh, acp_str_from("code"), on_done, t);
    case STEP_LOAD:
        t->client_sessions++;
        return acp_client_load_session(t->client, acp_str_from("old"), &place, on_session, t);
    case STEP_FAIL:
        return prompt(t, t->old, "fail");
    case STEP_ECHO:
        return prompt(t, t->old, "echo this");
    case STEP_CLOSE_NEW:
        return acp_client_close_session(t->fresh, on_done, t);
    case STEP_CLOSE_OLD:
        return acp_client_close_session(t->old, on_done, t);
    case STEPS:
        break;
    }
    return 0;
}

void talk_next(struct talk *t)
{
    t->step = t->promises[STEP_START].promised == 0 ? STEP_START : t->step + 1;
    if (t->step == STEPS)
        return;
    t->promises[t->step].promised++;
    int err = begin_step(t);
    assert_true(err == 0 || t->gave_up);
    /* What could not be begun promises nothing. */
    if (err)
        t->promises[t->step].promised--;
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    struct talk *t = user;
    (void) session;
    switch (event->kind) {
    case ACP_EVENT_CHUNK:
        (void) note(t, TALK_CLIENT, "text %d %.*s", (int) event->author,
                    STR(event->block->text.text));
        break;
    case ACP_EVENT_TOOL:
        (void) note(t, TALK_CLIENT, "tool %.*s %.*s %zu", STR(event->tool_id),
                    STR(event->tool->status.text), event->tool->content.count);
        break;
    case ACP_EVENT_PLAN:
        (void) note(t, TALK_CLIENT, "plan of %zu", event->plan.count);
        break;
    case ACP_EVENT_STATE:
        (void) note(t, TALK_CLIENT, "state %d", (int) event->state);
        break;
    default:
        (void) note(t, TALK_CLIENT, "event %d", (int) event->kind);
    }
}

static void on_question(struct acp_client_session *session, acp_call call,
                        const struct acp_permission_request *question, void *user)
{
    struct talk *t = user;
    t->questions++;
    if (note(t, TALK_CLIENT, "may it %.*s", STR(question->title)))
        return;
    if (t->step == STEP_WAIT) {
        assert_int_equal(acp_client_cancel(session), 0);
    } else {
        assert_int_equal(acp_client_select_permission(t->client, call, acp_str_from("yes")), 0);
        t->questions_settled++;
    }
}

static void on_question_gone(struct acp_client_session *session, acp_call call, void *user)
{
    struct talk *t = user;
    (void) session;
    (void) call;
    t->questions_settled++;
    (void) note(t, TALK_CLIENT, "question gone");
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    struct acp_read_text_file_response answer;
    (void) params;
    (void) message;
    assert_non_null(session);
    assert_int_equal(method->id, ACP_METHOD_FS_READ_TEXT_FILE);
    if (note(user, TALK_CLIENT, "reads"))
        return;
    acp_read_text_file_response_init(&answer, acp_str_from("contents"));
    assert_int_equal(acp_client_respond(client, call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, &answer),
                     0);
}

static void on_protocol_error(struct acp_client *client, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    struct talk *t = user;
    (void) client;
    (void) text;
    t->troubles[what]++;
}

static void on_client_session_end(struct acp_client_session *session, void *user)
{
    struct talk *t = user;
    t->client_sessions_ended++;
    if (session == t->fresh)
        t->fresh = NULL;
    if (session == t->old)
        t->old = NULL;
    (void) note(t, TALK_CLIENT, "end of a session");
}

static void on_client_closed(struct acp_client *client, int reason, void *user)
{
    struct talk *t = user;
    (void) client;
    assert_true(reason < 0);
    t->client_closed++;
}

const struct acp_client_handler talk_client_handler = {
    .event = on_event,
    .permission = on_question,
    .permission_cancelled = on_question_gone,
    .request = on_request,
    .protocol_error = on_protocol_error,
    .end_session = on_client_session_end,
    .closed = on_client_closed,
};
