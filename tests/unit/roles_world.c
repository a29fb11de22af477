/* The parts that the agent and the client play in roles_world.h, and how they are put together. */
#include "roles_world.h"

#include "roles_acts.h"

/* ---- A conversation -------------------------------------------------------------------------- */

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

void world_expect_log(struct world *w, const char *expected)
{
    assert_int_equal(acp_buf_append(&w->log, "", 1), 0);
    assert_string_equal(w->log.data + w->log.start, expected);
    acp_buf_clear(&w->log);
}

void world_carry(struct world *w)
{
    bool moved = true;
    while (moved) {
        struct acp_str out = acp_endpoint_output(w->a);
        moved = out.len > 0;
        if (out.len) {
            char *copy = malloc(out.len);
            size_t n = out.len;
            memcpy(copy, out.ptr, n);
            assert_int_equal(acp_buf_append(&w->wire, copy, n), 0);
            acp_endpoint_sent(w->a, n);
            (void) acp_endpoint_receive(w->c, copy, n, w->now);
            free(copy);
        }
        out = acp_endpoint_output(w->c);
        if (out.len) {
            char *copy = malloc(out.len);
            size_t n = out.len;
            memcpy(copy, out.ptr, n);
            acp_endpoint_sent(w->c, n);
            (void) acp_endpoint_receive(w->a, copy, n, w->now);
            free(copy);
            moved = true;
        }
    }
}

void world_pass_time(struct world *w, uint64_t ms)
{
    /* Like every loop that keeps to the deadlines. */
    if (acp_endpoint_deadline(w->a) <= w->now)
        acp_endpoint_tick(w->a, w->now);
    if (acp_endpoint_deadline(w->c) <= w->now)
        acp_endpoint_tick(w->c, w->now);
    w->now += ms;
    acp_endpoint_tick(w->a, w->now);
    acp_endpoint_tick(w->c, w->now);
    world_carry(w);
}

/* ---- The agent ------------------------------------------------------------------------------- */

static void on_permission_answer(struct acp_turn *turn, const struct acp_permission_answer *answer,
                                 void *user)
{
    struct world *w = user;
    (void) turn;
    w->answers++;
    w->answer_err = answer->err;
    (void) snprintf(w->answer, sizeof(w->answer), "%.*s", (int) answer->option.len,
                    answer->option.ptr ? answer->option.ptr : "");
}

void world_on_file_answer(struct acp_turn *turn, const struct acp_outcome *outcome,
                          struct acp_str text, void *user)
{
    int err = outcome->err;
    if (err)
        text = err == ACP_ERR_REMOTE ? outcome->why : acp_str_from("");
    struct world *w = user;
    w->answers++;
    w->answer_err = err;
    (void) snprintf(w->answer, sizeof(w->answer), "%.*s", (int) text.len, text.ptr ? text.ptr : "");
    if (!err)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

void world_on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct world *w = user;
    switch ((enum scene) w->scene) {
    case SCENE_ECHO:
        for (size_t i = 0; i < prompt.count; i++)
            (void) acp_turn_send_block(turn, &prompt.items[i]);
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
        break;
    case SCENE_WAIT:
        w->turn = turn;
        break;
    case SCENE_WORK:
        acts_work(turn);
        (void) acp_turn_send_text(turn, acp_str_from("done"));
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
        break;
    case SCENE_ASK:
        w->turn = turn;
        acts_ask(turn, on_permission_answer, w);
        break;
    case SCENE_READ:
        w->turn = turn;
        w->err = acp_turn_read_file(turn, acp_str_from("/w/a.txt"), 1, 0, world_on_file_answer, w);
        if (w->err)
            (void) acp_turn_end(turn, ACP_STOP_END_TURN);
        break;
    case SCENE_FAIL:
        (void) acp_turn_fail(turn, -32603, acp_str_from("the model is gone"));
        break;
    }
}

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    struct world *w = user;
    (void) request;
    w->agent_session = session;
    acts_accept(session);
}

static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    struct world *w = user;
    (void) request;
    w->agent_session = session;
    acts_replay(session);
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    (void) user;
    if (acp_str_is(mode, "code"))
        (void) acp_session_reply_set_mode(session, call, mode);
    else
        (void) acp_agent_respond_error(acp_session_agent(session), call, -32602,
                                       acp_str_from("No such mode"));
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
                        const struct acp_permission_request *question, void *user)
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
        acp_read_text_file_response_init(&answer, acp_str_from("contents"));
        (void) acp_client_respond(client, call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, &answer);
    } else {
        (void) acp_client_respond_error(client, call, -32601, acp_str_from("no"),
                                        acp_raw_from(NULL));
    }
}

void world_on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) client;
    w->err = outcome->err;
    w->code = outcome->code;
}

void world_on_session(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) client;
    w->err = outcome->err;
    w->code = outcome->code;
    w->session = session;
}

void world_on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                  const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) session;
    w->ends++;
    w->end_err = outcome->err;
    (void) snprintf(w->stop, sizeof(w->stop), "%.*s", ACP_ARG(stop->text));
    note(w, "end %s%s", w->stop, outcome->err ? " with an error" : "");
}

char *world_copy(struct acp_str text)
{
    char *copy = calloc(1, text.len + 1);
    assert_non_null(copy);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

struct world *world_new(unsigned agent_versions, unsigned client_versions)
{
    static const struct acp_agent_handler agent_handler = {
        .new_session = on_new_session,
        .load_session = on_load,
        .prompt = world_on_prompt,
        .set_mode = on_set_mode,
    };
    static const struct acp_client_handler client_handler = {
        .event = on_event,
        .permission = on_question,
        .permission_cancelled = on_question_gone,
        .request = on_service,
    };
    struct acp_agent_options agent_options = {.name = acp_str_from("a"),
                                              .version = acp_str_from("1"),
                                              .versions = agent_versions,
                                              .seed = {1, 2}};
    struct acp_client_options client_options = {.name = acp_str_from("c"),
                                                .version = acp_str_from("1"),
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

void world_free(struct world *w)
{
    acp_client_free(w->client);
    acp_agent_free(w->agent);
    acp_buf_finish(&w->log);
    acp_buf_finish(&w->wire);
    free(w);
}

void world_start(struct world *w)
{
    assert_int_equal(acp_client_initialize(w->client, world_on_ready, w), 0);
    world_carry(w);
    assert_int_equal(w->err, 0);
}

struct world *world_open(unsigned version)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    struct world *w = world_new(version, version);
    world_start(w);
    assert_int_equal(acp_client_new_session(w->client, &place, world_on_session, w), 0);
    world_carry(w);
    assert_int_equal(w->err, 0);
    assert_non_null(w->session);
    acp_buf_clear(&w->log);
    return w;
}

void world_say(struct world *w, int scene, const char *text)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from(text));
    w->scene = scene;
    assert_int_equal(acp_client_prompt(w->session, &block, 1, world_on_end, w), 0);
    world_carry(w);
}

void world_echo(struct world *w)
{
    world_say(w, SCENE_ECHO, "hello");
    world_expect_log(w, "[running]\nagent: hello\n[idle]\nend end_turn\n");
    assert_int_equal(w->ends, 1);
}

void world_in_both(void (*test)(struct world *w))
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = world_open(versions[i]);
        test(w);
        world_free(w);
    }
}
