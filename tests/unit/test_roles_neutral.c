/*
 * Programs that do not know which version they speak: an agent and a client in memory do the same
 * in both, and what the client's program is given is the same to the letter.
 */
#include "helpers.h"

#include "acp/agent.h"
#include "acp/client.h"

struct pair {
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_session *agent_session;
    struct acp_client_session *session;
    enum acp_stop stop;  /* what the agent ends its turns with; NONE: it fails them */
    bool closes;         /* the client closes its session when it hears of new options */
    struct acp_buf log;  /* what the client's program was given */
    struct acp_buf kept; /* what the agent's program was given to store */
};

static void note(struct acp_buf *log, const char *format, ...) ACP_PRINTF(2, 3);

static void note(struct acp_buf *log, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_int_equal(acp_buf_append(log, text, strlen(text)), 0);
}

static void expect(struct acp_buf *log, const char *expected)
{
    assert_int_equal(acp_buf_append(log, "", 1), 0);
    assert_string_equal(log->data + log->start, expected);
    acp_buf_clear(log);
}

/* ---- The agent ------------------------------------------------------------------------------- */

static const char *current_model = "small";
static bool web = true;

static struct acp_session_config_option_list offer_options(struct acp_session_config_option *ret)
{
    static struct acp_session_config_select_option models[2];
    models[0] = acp_option_value(acp_str_from("small"), acp_str_from("Small"));
    models[1] = acp_option_value(acp_str_from("large"), acp_str_from("Large"));
    ret[0] = acp_option_select(acp_str_from("model"), acp_str_from("Model"),
                               acp_str_from(current_model), models, 2);
    ret[1] = acp_option_boolean(acp_str_from("web"), acp_str_from("Web"), web);
    return (struct acp_session_config_option_list){ret, 2};
}

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    const struct acp_session_mode modes[] = {
        acp_mode_value(acp_str_from("ask"), acp_str_from("Ask")),
        acp_mode_value(acp_str_from("code"), acp_str_from("Code")),
    };
    struct acp_session_config_option options[2];
    struct acp_session_setup setup = {.modes = {modes, 2}, .current_mode = acp_str_from("ask")};
    (void) request;
    setup.options = offer_options(options);
    ((struct pair *) user)->agent_session = session;
    assert_int_equal(acp_session_accept(session, &setup), 0);
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    (void) user;
    assert_int_equal(acp_session_reply_set_mode(session, call, mode), 0);
}

static void on_set_option(struct acp_session *session, acp_call call,
                          const struct acp_set_session_config_option_request *request, void *user)
{
    struct acp_session_config_option options[2];
    (void) user;
    if (acp_str_is(request->config_id, "model"))
        current_model = "large";
    else
        web = !web;
    assert_int_equal(acp_session_reply_set_option(session, call, offer_options(options)), 0);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    const struct pair *p = user;
    struct acp_tool_call_update tool;
    const struct acp_tool_call_content content[] = {
        acp_tool_diff(acp_str_from("/w/a"), acp_str_from("one\ntwo\n"), acp_str_from("one\n2\n")),
        acp_tool_diff(acp_str_from("/w/b"), acp_str_from(NULL), acp_str_from("new\n")),
    };
    (void) prompt;
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("Edit");
    tool.content = (struct acp_tool_call_content_list){content, 2};
    assert_int_equal(acp_turn_send_tool_call(turn, &tool), 0);
    if (p->stop == ACP_STOP_NONE)
        assert_int_equal(acp_turn_fail(turn, -32603, acp_str_from("It broke")), 0);
    else
        assert_int_equal(acp_turn_end(turn, p->stop), 0);
}

static void on_keep(struct acp_session *session, const struct acp_session_update *update,
                    void *user)
{
    struct pair *p = user;
    (void) session;
    if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE) {
        for (size_t i = 0; i < update->user_message.content.count; i++)
            note(&p->kept, "user: %.*s\n",
                 ACP_ARG(update->user_message.content.items[i].text.text));
        assert_true(update->user_message.message_id.len > 0);
    } else if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK) {
        note(&p->kept, "user: %.*s\n", ACP_ARG(update->user_message_chunk.content.text.text));
        assert_true(update->user_message_chunk.message_id.len > 0);
    } else if (update->is == ACP_SESSION_UPDATE_TOOL_CALL ||
               update->is == ACP_SESSION_UPDATE_TOOL_CALL_UPDATE) {
        note(&p->kept, "tool\n");
    }
}

/* ---- The client ------------------------------------------------------------------------------ */

static void note_settings(struct pair *p, const struct acp_client_settings *settings)
{
    note(&p->log, "modes");
    for (size_t i = 0; i < settings->modes.count; i++)
        note(&p->log, " %.*s", ACP_ARG(settings->modes.items[i].id));
    note(&p->log, " (%.*s)", ACP_ARG(settings->mode));
    for (size_t i = 0; i < settings->options.count; i++) {
        const struct acp_session_config_option *option = &settings->options.items[i];
        if (option->is == ACP_SESSION_CONFIG_OPTION_BOOLEAN)
            note(&p->log, " %.*s=%d", ACP_ARG(option->id), option->boolean.current_value);
        else if (option->category.is != ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE)
            note(&p->log, " %.*s=%.*s", ACP_ARG(option->id), ACP_ARG(option->select.current_value));
    }
    note(&p->log, "\n");
}

static void on_set(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    if (outcome->err)
        note(user, "refused\n");
    else
        note_settings(user, outcome->value);
}

static void note_diffs(struct pair *p, const struct acp_event *event)
{
    const struct acp_diff *diff;
    for (size_t i = 0; acp_event_diff(event, i, &diff); i++) {
        struct acp_diff_file file;
        struct acp_buf patch;
        for (size_t k = 0; acp_diff_file_at(diff, k, &file); k++)
            note(&p->log, "%s %.*s\n",
                 file.operation == ACP_DIFF_CHANGE_ADD      ? "add"
                 : file.operation == ACP_DIFF_CHANGE_MODIFY ? "modify"
                                                            : "?",
                 ACP_ARG(file.path));
        acp_buf_init(&patch, 10000);
        assert_int_equal(acp_diff_write_patch(diff, &patch), 0);
        note(&p->log, "%.*s", ACP_ARG(acp_buf_view(&patch)));
        acp_buf_finish(&patch);
    }
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    struct pair *p = user;
    if (event->kind == ACP_EVENT_TOOL)
        note_diffs(p, event);
    if (event->kind == ACP_EVENT_OPTIONS && p->closes)
        acp_client_close(acp_client_session_client(session), ACP_ERR_CLOSED);
}

static void on_end_session(struct acp_client_session *session, void *user)
{
    (void) session;
    ((struct pair *) user)->session = NULL;
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct pair *p = user;
    (void) session;
    note(&p->log, "stop %d %.*s %.*s\n", (int) stop->reason, ACP_ARG(stop->text),
         ACP_ARG(outcome->why));
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    (void) client;
    assert_int_equal(outcome->err, 0);
    ((struct pair *) user)->session = session;
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    assert_int_equal(outcome->err, 0);
    assert_int_equal(acp_client_new_session(client, &place, on_session, user), 0);
}

/* ---- The pair -------------------------------------------------------------------------------- */

static bool move(struct acp_endpoint *from, struct acp_endpoint *to)
{
    struct acp_str out = acp_endpoint_output(from);
    char *copy = acp_str_dup(out);
    assert_non_null(copy);
    acp_endpoint_sent(from, out.len);
    (void) acp_endpoint_receive(to, copy, out.len, 0);
    free(copy);
    return out.len > 0;
}

static void carry(struct pair *p)
{
    struct acp_endpoint *a = acp_agent_endpoint(p->agent);
    struct acp_endpoint *c = acp_client_endpoint(p->client);
    while (move(a, c) | move(c, a))
        continue;
}

static void start(struct pair *p, unsigned version)
{
    static const struct acp_agent_handler agent = {.new_session = on_new_session,
                                                   .set_mode = on_set_mode,
                                                   .set_option = on_set_option,
                                                   .before_update = on_keep,
                                                   .prompt = on_prompt};
    static const struct acp_client_handler client = {.event = on_event,
                                                     .end_session = on_end_session};
    struct acp_agent_options agent_options = {.name = acp_str_from("tester"),
                                              .version = acp_str_from("1.2"),
                                              .title = acp_str_from("The Tester"),
                                              .versions = version,
                                              .seed = {1, 2}};
    struct acp_client_options client_options = {.versions = version};
    *p = (struct pair){.stop = ACP_STOP_END_TURN};
    current_model = "small";
    web = true;
    acp_buf_init(&p->log, 1 << 20);
    acp_buf_init(&p->kept, 1 << 20);
    assert_int_equal(acp_agent_new(&agent_options, &agent, p, &p->agent), 0);
    assert_int_equal(acp_client_new(&client_options, &client, p, &p->client), 0);
    assert_null(acp_client_agent_info(p->client));
    assert_int_equal(acp_client_initialize(p->client, on_ready, p), 0);
    carry(p);
    assert_non_null(p->session);
}

static void finish(struct pair *p)
{
    acp_client_free(p->client);
    acp_agent_free(p->agent);
    acp_buf_finish(&p->log);
    acp_buf_finish(&p->kept);
}

static void in_both(void (*test)(struct pair *p))
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (size_t i = 0; i < 2; i++) {
        struct pair p;
        start(&p, versions[i]);
        test(&p);
        finish(&p);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_info(struct pair *p)
{
    const struct acp_implementation *info = acp_client_agent_info(p->client);
    const struct acp_initialize_response *agent = acp_client_initialize_response(p->client);
    assert_non_null(info);
    assert_true(acp_str_is(info->name, "tester"));
    assert_true(acp_str_is(info->version, "1.2"));
    assert_true(acp_str_is(info->title, "The Tester"));
    assert_true(acp_str_is(agent->agent_info->name, "tester"));
    assert_true(acp_str_is(agent->info.name, "tester"));
}

static void the_agent_is_called_the_same(void **state)
{
    (void) state;
    in_both(check_info);
}

static void set_each(struct pair *p)
{
    struct acp_client_settings now;
    acp_client_session_settings(p->session, &now);
    note_settings(p, &now);
    expect(&p->log, "modes ask code (ask) model=small web=1\n");
    assert_int_equal(acp_client_set_mode(p->session, acp_str_from("code"), on_set, p), 0);
    carry(p);
    expect(&p->log, "modes ask code (code) model=small web=1\n");
    assert_int_equal(acp_client_set_config_option(p->session, acp_str_from("model"),
                                                  acp_str_from("large"), on_set, p),
                     0);
    carry(p);
    expect(&p->log, "modes ask code (code) model=large web=1\n");
    assert_int_equal(
        acp_client_set_boolean_option(p->session, acp_str_from("web"), false, on_set, p), 0);
    carry(p);
    expect(&p->log, "modes ask code (code) model=large web=0\n");
}

static void setting_gives_all_settings(void **state)
{
    (void) state;
    in_both(set_each);
}

static void close_when_set(struct pair *p)
{
    p->closes = true;
    assert_int_equal(acp_client_set_config_option(p->session, acp_str_from("model"),
                                                  acp_str_from("large"), on_set, p),
                     0);
    carry(p);
    assert_null(p->session);
    expect(&p->log, "modes ()\n");
}

static void settings_are_empty_when_the_session_ended_meanwhile(void **state)
{
    (void) state;
    in_both(close_when_set);
}

static void prompt(struct pair *p)
{
    struct acp_content_block blocks[2];
    acp_content_block_init_text(&blocks[0], acp_str_from("go"));
    acp_content_block_init_text(&blocks[1], acp_str_from("on"));
    assert_int_equal(acp_client_prompt(p->session, blocks, 2, on_end, p), 0);
    carry(p);
}

static void change_files(struct pair *p)
{
    prompt(p);
    expect(&p->log, "modify /w/a\n"
                    "diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
                    "add /w/b\n"
                    "diff --git /w/b /w/b\nnew file mode 100644\n--- /dev/null\n+++ /w/b\n"
                    "@@ -0,0 +1,1 @@\n+new\n"
                    "stop 1 end_turn \n");
}

static void diffs_have_one_shape(void **state)
{
    (void) state;
    in_both(change_files);
}

static void stop_for_each_reason(struct pair *p)
{
    for (int stop = ACP_STOP_END_TURN; stop < ACP_STOP_OTHER; stop++) {
        char expected[100];
        p->stop = (enum acp_stop) stop;
        prompt(p);
        (void) snprintf(expected, sizeof(expected), "stop %d %s \n", stop,
                        acp_stop_text((enum acp_stop) stop));
        assert_int_equal(acp_buf_append(&p->log, "", 1), 0);
        assert_non_null(strstr(p->log.data + p->log.start, expected));
        acp_buf_clear(&p->log);
    }
    p->stop = ACP_STOP_NONE;
    prompt(p);
    assert_int_equal(acp_buf_append(&p->log, "", 1), 0);
    assert_non_null(strstr(p->log.data + p->log.start, "stop 0  It broke\n"));
}

static void stop_reasons_are_the_same_enum_on_both_sides(void **state)
{
    (void) state;
    in_both(stop_for_each_reason);
    assert_string_equal(acp_stop_text(ACP_STOP_MAX_TURN_REQUESTS), "max_turn_requests");
    assert_null(acp_stop_text(ACP_STOP_NONE));
    assert_null(acp_stop_text(ACP_STOP_OTHER));
    assert_null(acp_stop_text((enum acp_stop) - 1));
}

static void keep_prompts(struct pair *p)
{
    prompt(p);
    expect(&p->kept, "user: go\nuser: on\ntool\n");
    prompt(p);
    expect(&p->kept, "user: go\nuser: on\ntool\n");
}

static void who_stores_a_session_is_given_the_prompt(void **state)
{
    (void) state;
    in_both(keep_prompts);
}

/* ---- Diffs that our agent does not make ------------------------------------------------------ */

static void every_operation_has_its_paths(void **state)
{
    static const char json[] =
        "{\"type\":\"diff\",\"changes\":[{\"operation\":\"delete\",\"path\":\"/d\"},"
        "{\"operation\":\"move\",\"oldPath\":\"/o\",\"path\":\"/n\"},"
        "{\"operation\":\"copy\",\"oldPath\":\"/p\",\"path\":\"/q\"},"
        "{\"operation\":\"chmod\",\"path\":\"/x\"}]%s}";
    static const struct {
        enum acp_diff_change_is operation;
        const char *path;
        const char *old_path;
    } rows[] = {
        {ACP_DIFF_CHANGE_DELETE, "/d", NULL},
        {ACP_DIFF_CHANGE_MOVE, "/n", "/o"},
        {ACP_DIFF_CHANGE_COPY, "/q", "/p"},
        {ACP_DIFF_CHANGE_UNLISTED, NULL, NULL},
    };
    static const struct {
        const char *patch;
        int err;
    } patches[] = {
        {"", ACP_ERR_MISSING},
        {",\"patch\":{\"format\":\"git_patch\",\"text\":\"x\"}", 0},
        {",\"patch\":{\"format\":\"_ed\",\"text\":\"x\"}", ACP_ERR_MISSING},
    };
    (void) state;
    for (size_t n = 0; n < 3; n++) {
        char text[1000];
        struct acp_arena arena;
        struct acp_tool_call_content content;
        struct acp_diff_file file;
        struct acp_buf out;
        (void) snprintf(text, sizeof(text), json, patches[n].patch);
        acp_arena_init(&arena, 0);
        acp_buf_init(&out, 100);
        assert_int_equal(
            acp_tool_call_content_decode(ACP_V2, acp_raw_from(text), &arena, &content, NULL), 0);
        assert_int_equal(acp_diff_file_count(&content.diff), 4);
        for (size_t i = 0; i < 4; i++) {
            assert_true(acp_diff_file_at(&content.diff, i, &file));
            assert_int_equal(file.operation, rows[i].operation);
            assert_true(acp_str_is(file.path, rows[i].path));
            assert_true(acp_str_is(file.old_path, rows[i].old_path));
            assert_null(file.new_text.ptr);
        }
        assert_false(acp_diff_file_at(&content.diff, 4, &file));
        assert_int_equal(acp_diff_write_patch(&content.diff, &out), patches[n].err);
        assert_int_equal(out.len, patches[n].err ? 0 : 1);
        acp_buf_finish(&out);
        acp_arena_finish(&arena);
    }
}

/* An event about something else has none, and a chunk of content has one. */
static void diffs_are_found_in_the_events_that_have_them(void **state)
{
    const struct acp_tool_call_content content =
        acp_tool_diff(acp_str_from("/a"), acp_str_from("x"), acp_str_from("y"));
    struct acp_event event = {.kind = ACP_EVENT_PLAN, .tool_content = &content};
    const struct acp_diff *diff = NULL;
    (void) state;
    assert_false(acp_event_diff(&event, 0, &diff));
    event.kind = ACP_EVENT_TOOL_CONTENT;
    assert_true(acp_event_diff(&event, 0, &diff));
    assert_ptr_equal(diff, &content.diff);
    assert_false(acp_event_diff(&event, 1, &diff));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_agent_is_called_the_same),
        cmocka_unit_test(setting_gives_all_settings),
        cmocka_unit_test(settings_are_empty_when_the_session_ended_meanwhile),
        cmocka_unit_test(diffs_have_one_shape),
        cmocka_unit_test(stop_reasons_are_the_same_enum_on_both_sides),
        cmocka_unit_test(who_stores_a_session_is_given_the_prompt),
        cmocka_unit_test(every_operation_has_its_paths),
        cmocka_unit_test(diffs_are_found_in_the_events_that_have_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
