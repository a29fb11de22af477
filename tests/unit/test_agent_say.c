/*
 * What an agent may say: what the client offered to take, absolute paths, states with their
 * background, message ids and _meta; and notifications.
 */
#include "test_agent_host.h"

#include "role/agent_role.h"

static void on_cancel_tool(struct acp_session *session, struct acp_str tool, void *user)
{
    struct host *h = user;
    assert_ptr_equal(session, h->session);
    host_note(h, "tool %.*s", (int) tool.len, tool.ptr);
}

static void on_cancel_terminal(struct acp_session *session, struct acp_str terminal, void *user)
{
    struct host *h = user;
    assert_ptr_equal(session, h->session);
    host_note(h, "terminal %.*s", (int) terminal.len, terminal.ptr);
}

static const struct acp_agent_handler plain = {.new_session = host_accept};
static const struct acp_agent_handler cancelling = {.new_session = host_accept,
                                                    .cancel_tool = on_cancel_tool,
                                                    .cancel_terminal = on_cancel_terminal};

static void open_host(struct host *h, int version, const char *capabilities,
                      const struct acp_agent_handler *handler)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    host_init(h, &options, handler);
    host_open(h, version, capabilities);
}

/* ---- What the client takes ------------------------------------------------------------------ */

static void v1_info_08_nothing_is_sent_that_was_not_offered(void **state)
{
    struct acp_session_config_option option;
    struct acp_session_update updates[4];
    struct acp_content_block block;
    struct host h;
    (void) state;
    acp_content_block_init_text(&block, acp_str_from("short"));
    acp_session_update_init_notice(&updates[0], ACP_NOTICE_SEVERITY_INFO, acp_str_from("Hm"));
    acp_session_update_init_compaction_update(&updates[1], acp_str_from("c"),
                                              ACP_COMPACTION_STATUS_IN_PROGRESS);
    acp_session_update_init_compaction_summary_chunk(&updates[2], acp_str_from("c"));
    updates[2].compaction_summary_chunk.content = block;
    acp_session_config_option_init_boolean(&option, acp_str_from("Loud"), true);
    option.id = acp_str_from("loud");
    option.config_id = acp_str_from("loud");
    acp_session_update_init_config_option_update(&updates[3], &option, 1);

    static const struct {
        int version;
        const char *takes;
        bool sent[4];
    } rows[] = {
        {1, "{}", {false, false, false, false}},
        {1, "{'session':{}}", {false, false, false, false}},
        {1, "{'session':{'notices':{}}}", {true, false, false, false}},
        {1, "{'session':{'compaction':{}}}", {false, true, true, false}},
        {1, "{'session':{'configOptions':{'boolean':{}}}}", {false, false, false, true}},
        {2, "{}", {true, true, true, true}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        open_host(&h, rows[i].version, rows[i].takes, &plain);
        for (size_t j = 0; j < COUNT(updates); j++) {
            int err = acp_session_send_update(h.session, &updates[j]);
            CHECK_ROW(err == (rows[i].sent[j] ? 0 : ACP_ERR_STATE), i, "update %zu: %d", j, err);
            CHECK_ROW(wrote(&h, "session/update") == rows[i].sent[j], i, "update %zu", j);
            forget(&h);
        }
        host_finish(&h);
    }
}

/* In version 2 the size is another member; what has none must not get one. */
static void a_link_has_the_size_that_is_known(void **state)
{
    static const struct {
        int version;
        struct acp_opt_i64 size;
        const char *wrote; /* NULL: no size */
    } rows[] = {
        {1, {.has = ACP_PRESENT, .value = 7}, "'size':7"},
        {1, {.has = ACP_ABSENT}, NULL},
        {2, {.has = ACP_PRESENT, .value = 7}, "'size':7"},
        {2, {.has = ACP_PRESENT, .value = 0}, "'size':0"},
        {2, {.has = ACP_PRESENT, .value = -1}, NULL},
        {2, {.has = ACP_ABSENT}, NULL},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_content_block block;
        struct host h;
        acp_content_block_init_resource_link(&block, acp_str_from("a file"),
                                             acp_str_from("file:///w/a"));
        block.resource_link.size = rows[i].size;
        open_host(&h, rows[i].version, "{}", &plain);
        CHECK_ROW(acp_session_send_block(h.session, &block, acp_str_from(NULL)) == 0, i, "refused");
        CHECK_ROW(wrote(&h, "file:///w/a"), i, "%s", test_cstr(&h.wire));
        CHECK_ROW(wrote(&h, rows[i].wrote ? rows[i].wrote : "'size'") == (rows[i].wrote != NULL), i,
                  "%s", test_cstr(&h.wire));
        host_finish(&h);
    }
}

static void take_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    (void) user;
    assert_int_equal(acp_session_reply_set_mode(session, call, mode), 0);
}

/* In version 2 the mode is an option; in version 1 options are for agents that have some. */
static void an_agent_with_modes_alone_has_options_in_version_2_only(void **state)
{
    static const struct acp_agent_handler modes = {.new_session = host_accept,
                                                   .set_mode = take_mode};
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_host(&h, version, "{}", &modes);
        feed(&h, "{'jsonrpc':'2.0','id':5,'method':'session/set_config_option','params':{"
                 "'sessionId':'s','configId':'mode','value':'x'}}");
        expect_wrote(&h, "'error'");
        assert_true(wrote(&h, "-32601") == (version == 1));
        host_finish(&h);
        open_host(&h, version, "{}", &plain);
        feed(&h, "{'jsonrpc':'2.0','id':5,'method':'session/set_config_option','params':{"
                 "'sessionId':'s','configId':'mode','value':'x'}}");
        expect_wrote(&h, "-32601");
        host_finish(&h);
    }
}

/* ---- Paths and lines ------------------------------------------------------------------------ */

static int say_tool(struct host *h, const struct acp_tool_call_location *where,
                    const struct acp_tool_call_content *content)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("Edit");
    tool.locations.items = where;
    tool.locations.count = where != NULL;
    tool.content.items = content;
    tool.content.count = content != NULL;
    int err = acp_session_send_tool_call(h->session, &tool);
    /* As any update it is looked at in the same way. */
    if (err) {
        struct acp_session_update update;
        acp_session_update_init_tool_call_update(&update, tool.tool_call_id);
        update.tool_call_update = tool;
        assert_int_equal(acp_session_send_update(h->session, &update), err);
    }
    return err;
}

/* The same rule in both versions, though their schemas differ. */
static void a_tool_call_has_a_title_and_a_diff_has_a_path(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = host_accept};
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        struct acp_tool_call_update tool;
        struct acp_tool_call_content content =
            acp_tool_diff(acp_str_from(NULL), acp_str_from(NULL), acp_str_from("x"));
        host_init(&h, &options, &handler);
        host_open(&h, version, "{}");
        acp_tool_call_update_init(&tool, acp_str_from("t"));
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), ACP_ERR_MISSING);
        tool.title = acp_str_from("");
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), ACP_ERR_MISSING);
        tool.title = acp_str_n(acp_null(), 0);
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), ACP_ERR_MISSING);
        tool.title = acp_str_from("Edit");
        tool.content.items = &content;
        tool.content.count = 1;
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), ACP_ERR_ARGUMENT);
        expect_silence(&h);
        content = acp_tool_diff(acp_str_from("/w/a"), acp_str_from(NULL), acp_str_from("new\n"));
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), 0);
        expect_wrote(&h, "'title':'Edit'");
        expect_wrote(&h, version == 1 ? "'newText':'new\\n'" : "+new");
        forget(&h);
        /* Once it has begun, an update says only what has changed. */
        acp_tool_call_update_init(&tool, acp_str_from("t"));
        tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
        assert_int_equal(acp_session_send_tool_call(h.session, &tool), 0);
        expect_wrote(&h, "'status':'completed'");
        host_finish(&h);
    }
}

static void com_rpc_24_places_of_tool_calls_are_absolute_and_from_1(void **state)
{
    static const struct {
        const char *path;
        int64_t line;
        int err;
    } rows[] = {
        {"/w/a", 1, 0},
        {"/w/a", 0, ACP_ERR_ARGUMENT},
        {"/w/a", -3, ACP_ERR_ARGUMENT},
        {"a", 1, ACP_ERR_ARGUMENT},
        {"./a", 1, ACP_ERR_ARGUMENT},
        {"", 1, ACP_ERR_ARGUMENT},
    };
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{}", &plain);
        for (size_t i = 0; i < COUNT(rows); i++) {
            struct acp_tool_call_location where = {.path = acp_str_from(rows[i].path),
                                                   .line = acp_some_i64(rows[i].line)};
            CHECK_ROW(say_tool(&h, &where, NULL) == rows[i].err, i, "version %d", version);
            CHECK_ROW(wrote(&h, "session/update") == !rows[i].err, i, "version %d", version);
            forget(&h);
        }
        host_finish(&h);
    }
}

static void v1_tool_09_v2_tool_18_paths_of_diffs_are_absolute(void **state)
{
    struct acp_tool_call_content content;
    struct acp_diff_change change;
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{}", &plain);
        acp_tool_call_content_init_diff(&content);
        content.diff.path = acp_str_from("a.txt");
        content.diff.new_text = acp_str_from("x\n");
        assert_int_equal(say_tool(&h, NULL, &content), ACP_ERR_ARGUMENT);
        expect_silence(&h);
        content.diff.path = acp_str_from("/w/a.txt");
        assert_int_equal(say_tool(&h, NULL, &content), 0);
        expect_wrote(&h, "/w/a.txt");
        forget(&h);
        if (version == 1) {
            host_finish(&h);
            continue;
        }
        /* Changes that the program tells itself. */
        acp_tool_call_content_init_diff(&content);
        content.diff.changes.items = &change;
        content.diff.changes.count = 1;
        acp_diff_change_init_delete(&change, acp_str_from("a"));
        assert_int_equal(say_tool(&h, NULL, &content), ACP_ERR_ARGUMENT);
        acp_diff_change_init_move(&change, acp_str_from("a"), acp_str_from("/w/b"));
        assert_int_equal(say_tool(&h, NULL, &content), ACP_ERR_ARGUMENT);
        acp_diff_change_init_copy(&change, acp_str_from("/w/a"), acp_str_from("b"));
        assert_int_equal(say_tool(&h, NULL, &content), ACP_ERR_ARGUMENT);
        struct acp_session_update chunk;
        acp_session_update_init_tool_call_content_chunk(&chunk, acp_str_from("t"));
        chunk.tool_call_content_chunk.content = content;
        assert_int_equal(acp_session_send_update(h.session, &chunk), ACP_ERR_ARGUMENT);
        expect_silence(&h);
        acp_diff_change_init_move(&change, acp_str_from("/w/a"), acp_str_from("/w/b"));
        assert_int_equal(say_tool(&h, NULL, &content), 0);
        host_finish(&h);
    }
}

static void v2_tool_08_the_directory_of_a_terminal_is_absolute(void **state)
{
    struct acp_session_update update;
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &plain);
    acp_session_update_init_terminal_update(&update, acp_str_from("term"));
    update.terminal_update.cwd = acp_str_from("here");
    assert_int_equal(acp_session_send_update(h.session, &update), ACP_ERR_ARGUMENT);
    expect_silence(&h);
    update.terminal_update.cwd = acp_str_from("/w");
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    host_finish(&h);
}

static void v1_sess_15_commands_of_servers_are_absolute(void **state)
{
    static const struct {
        const char *command;
        bool good[2]; /* by version */
    } rows[] = {
        {"/bin/x", {true, true}},
        {"./x", {false, false}},
        {"bin/x", {false, false}},
        {"../x", {false, false}},
        {"", {false, false}},
        {"npx", {true, false}}, /* clients of version 1 send names, to be looked up */
    };
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            char line[400];
            struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
            host_init(&h, &options, &plain);
            host_initialize(&h, version, "{}");
            (void) snprintf(line, sizeof(line),
                            "{'jsonrpc':'2.0','id':1,'method':'session/new','params':{'cwd':'/w',"
                            "'mcpServers':[{'name':'a',%s'command':'/bin/a','args':[],'env':[]},"
                            "{'name':'b',%s'command':'%s','args':[],'env':[]}]}}",
                            version == 2 ? "'type':'stdio'," : "",
                            version == 2 ? "'type':'stdio'," : "", rows[i].command);
            forget(&h);
            feed(&h, line);
            bool good = rows[i].good[version - 1];
            CHECK_ROW(wrote(&h, "'sessionId':'s'") == good, i, "version %d", version);
            CHECK_ROW(good || (wrote(&h, "-32602") && wrote(&h, "mcpServers[1] command")), i,
                      "version %d", version);
            host_finish(&h);
        }
    }
}

/* ---- Cancelling one thing ------------------------------------------------------------------- */

static const struct acp_tool_call_cancel_capabilities tool_cancel = {.meta = {NULL, 0}};
static const struct acp_tool_call_capabilities tool_can = {.cancel = &tool_cancel};
static const struct acp_terminal_cancel_capabilities terminal_cancel = {.meta = {NULL, 0}};
static const struct acp_terminal_capabilities terminal_can = {.cancel = &terminal_cancel};

static const char CANCEL_TOOL[] = "{'jsonrpc':'2.0','id':9,'method':'tool_call/cancel','params':{"
                                  "'sessionId':'s','toolCallId':'t'}}";
static const char CANCEL_TERMINAL[] = "{'jsonrpc':'2.0','id':9,'method':'terminal/cancel',"
                                      "'params':{'sessionId':'s','terminalId':'term'}}";

static void tell_tool(struct host *h, enum acp_tool_call_status_is status,
                      const struct acp_tool_call_capabilities *can)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("Long");
    tool.status.is = status;
    tool.capabilities = can;
    assert_int_equal(acp_session_send_tool_call(h->session, &tool), 0);
}

static void expect_refused(struct host *h, const char *line)
{
    forget(h);
    feed(h, line);
    expect_wrote(h, "'id':9,'error':{'code':-32602");
    expect_note(h, "");
    forget(h);
}

static void expect_accepted(struct host *h, const char *line, const char *told)
{
    forget(h);
    feed(h, line);
    expect_wrote(h, "'id':9,'result':{}");
    assert_false(wrote(h, "state_update"));
    expect_note(h, told);
    forget(h);
}

static void v2_cancel_13_a_tool_call_is_cancelled_while_that_is_offered(void **state)
{
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &cancelling);
    expect_refused(&h, CANCEL_TOOL); /* unknown */
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, NULL);
    expect_refused(&h, CANCEL_TOOL); /* not offered */
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, &tool_can);
    expect_wrote(&h, "'capabilities':{'cancel':{}}");
    expect_accepted(&h, CANCEL_TOOL, "tool t\n");
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, NULL); /* still offered */
    expect_accepted(&h, CANCEL_TOOL, "tool t\n");
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, acp_null());
    expect_refused(&h, CANCEL_TOOL); /* no longer offered */
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, &tool_can);
    forget(&h);
    tell_tool(&h, ACP_TOOL_CALL_STATUS_CANCELLED, NULL);
    expect_wrote(&h, "'status':'cancelled','capabilities':null"); /* V2-CANCEL-16 */
    expect_refused(&h, CANCEL_TOOL);
    host_finish(&h);
}

static void v2_cancel_13_a_terminal_is_cancelled_while_that_is_offered(void **state)
{
    static const struct acp_terminal_exit_status ended = {.exit_code = {ACP_PRESENT, 1}};
    struct acp_session_update update;
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &cancelling);
    expect_refused(&h, CANCEL_TERMINAL);
    acp_session_update_init_terminal_update(&update, acp_str_from("term"));
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    expect_refused(&h, CANCEL_TERMINAL);
    update.terminal_update.capabilities = &terminal_can;
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    expect_accepted(&h, CANCEL_TERMINAL, "terminal term\n");
    update.terminal_update.capabilities = NULL;
    update.terminal_update.exit_status = &ended;
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    expect_wrote(&h, "'capabilities':null");
    expect_refused(&h, CANCEL_TERMINAL);
    host_finish(&h);
}

static void v2_cancel_14_without_a_callback_it_is_not_offered(void **state)
{
    struct acp_session_update update;
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &plain);
    tell_tool(&h, ACP_TOOL_CALL_STATUS_IN_PROGRESS, &tool_can);
    acp_session_update_init_terminal_update(&update, acp_str_from("term"));
    update.terminal_update.capabilities = &terminal_can;
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    assert_false(wrote(&h, "capabilities"));
    expect_refused(&h, CANCEL_TOOL);
    expect_refused(&h, CANCEL_TERMINAL);
    host_finish(&h);
}

/* ---- States ---------------------------------------------------------------------------------- */

static void v2_state_12_background_is_in_every_state_once_told(void **state)
{
    struct acp_background_work work[2];
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &plain);
    host_prompt(&h);
    expect_wrote(&h, "'state':'running'}");
    assert_false(wrote(&h, "background"));
    forget(&h);
    acp_background_work_init_terminal(&work[0], acp_str_from("term"));
    acp_background_work_init_tool_call(&work[1], acp_str_from("t"));
    assert_int_equal(acp_session_send_background(h.session, work, 2), 0);
    static const char LIST[] = "'background':[{'type':'terminal','terminalId':'term'},"
                               "{'type':'tool_call','toolCallId':'t'}]";
    expect_wrote(&h, "'state':'running'");
    expect_wrote(&h, LIST);
    forget(&h);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    expect_wrote(&h, "'state':'idle'");
    expect_wrote(&h, "'stopReason':'end_turn'");
    expect_wrote(&h, LIST);
    forget(&h);
    /* A state of the program's own, between turns, has it too. */
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_STATE_UPDATE};
    update.state_update.is = ACP_STATE_UPDATE_RUNNING;
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    expect_wrote(&h, "'state':'running'");
    expect_wrote(&h, LIST);
    forget(&h);
    assert_int_equal(acp_session_send_background(h.session, NULL, 0), 0);
    expect_wrote(&h, "'state':'running','background':[]");
    forget(&h);
    host_prompt(&h);
    expect_wrote(&h, "'state':'running','background':[]");
    forget(&h);
    /* In a turn the states are the role's. */
    update.state_update.is = ACP_STATE_UPDATE_IDLE;
    assert_int_equal(acp_session_send_update(h.session, &update), ACP_ERR_STATE);
    expect_silence(&h);
    host_finish(&h);
    open_host(&h, 1, "{}", &plain);
    assert_int_equal(acp_session_send_background(h.session, work, 2), 0);
    expect_silence(&h);
    host_finish(&h);
}

static void accept_with_setup(struct acp_session *session,
                              const struct acp_new_session_request *request, void *user)
{
    struct host *h = user;
    struct acp_session_mode modes[2];
    struct acp_session_config_option option;
    struct acp_available_command command;
    (void) request;
    h->session = session;
    acp_session_mode_init(&modes[0], acp_str_from("ask"), acp_str_from("Ask"));
    acp_session_mode_init(&modes[1], acp_str_from("code"), acp_str_from("Code"));
    acp_available_command_init(&command, acp_str_from("test"), acp_str_from("Tests"));
    acp_session_config_option_init_boolean(&option, acp_str_from("Loud"), true);
    option.id = acp_str_from("loud");
    struct acp_session_setup setup = {.modes = {modes, 2},
                                      .current_mode = acp_str_from("ask"),
                                      .options = {&option, 1},
                                      .commands = {&command, 1}};
    /* The first session is "s". */
    if (!acp_agent_find_session(h->agent, acp_str_from("s")))
        assert_int_equal(acp_session_set_id(session, acp_str_from("s")), 0);
    assert_int_equal(acp_session_accept(session, &setup), 0);
}

static void v2_sess_17_a_session_at_work_is_resumed_as_it_is(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = accept_with_setup};
    static const char RESUME[] = "{'jsonrpc':'2.0','id':7,'method':'session/resume','params':{"
                                 "'sessionId':'s','cwd':'/w'}}";
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &handler);
    feed(&h, RESUME);
    expect_wrote(&h, "'state':'idle'");
    forget(&h);
    host_prompt(&h);
    assert_int_equal(acp_session_send_mode(h.session, acp_str_from("code")), 0);
    struct acp_available_command commands[2];
    acp_available_command_init(&commands[0], acp_str_from("test"), acp_str_from("Tests"));
    acp_available_command_init(&commands[1], acp_str_from("more"), acp_str_from("More"));
    assert_int_equal(acp_session_send_commands(h.session, commands, 2), 0);
    forget(&h);
    feed(&h, RESUME);
    expect_wrote(&h, "'state':'running'");
    expect_wrote(&h, "'id':7,'result':{'configOptions':[");
    expect_wrote(&h, "'configId':'loud'");
    expect_wrote(&h, "'currentValue':'code'");
    expect_wrote(&h, "'availableCommands':[{'type':'command','name':'test'");
    expect_wrote(&h, "'name':'more'");
    const char *all = test_cstr(&h.wire);
    assert_true(strstr(all, "running") < strstr(all, "configOptions"));
    forget(&h);
    /* Commands that were told as any update count too. */
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE};
    struct acp_available_command_v2 other;
    acp_available_command_v2_init_command(&other, acp_str_from("other"), acp_str_from("Other"));
    update.available_commands_update.available_commands_v2.items = &other;
    update.available_commands_update.available_commands_v2.count = 1;
    assert_int_equal(acp_session_send_update(h.session, &update), 0);
    forget(&h);
    feed(&h, RESUME);
    expect_wrote(&h,
                 "'availableCommands':[{'type':'command','name':'other','description':'Other'}]");
    expect_wrote(&h, "'currentValue':'code'");
    forget(&h);
    /* The turn is not touched: its message goes on. */
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("half")), 0);
    struct acp_str message = acp_session_message_id(h.session);
    char id[64];
    (void) snprintf(id, sizeof(id), "%.*s", (int) message.len, message.ptr);
    feed(&h, RESUME);
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from(" and half")), 0);
    assert_true(acp_str_is(acp_session_message_id(h.session), id));
    feed(&h, "{'jsonrpc':'2.0','id':8,'method':'session/resume','params':{"
             "'sessionId':'s','cwd':'/elsewhere'}}");
    expect_wrote(&h, "'id':8,'error':{'code':-32602");
    host_finish(&h);
}

/* The buffer that text is merged in ends with the turn. */
static void an_idle_session_keeps_no_buffer(void **state)
{
    struct host h;
    (void) state;
    open_host(&h, 1, "{}", &plain);
    host_prompt(&h);
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("said")), 0);
    assert_true(h.session->text.cap > 0);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    expect_wrote(&h, "said");
    assert_int_equal(h.session->text.cap, 0);
    host_finish(&h);
}

/* Sessions that are set up alike do not cost it each. */
static void setups_are_shared_and_let_go(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = accept_with_setup};
    struct host h;
    (void) state;
    open_host(&h, 2, "{}", &handler);
    struct acp_session *first = h.session;
    for (int i = 0; i < 20; i++)
        feed(&h, "{'jsonrpc':'2.0','id':5,'method':'session/new','params':{'cwd':'/w'}}");
    assert_int_equal(h.agent->sessions.count, 21);
    assert_int_equal(h.agent->texts.count, 1);
    assert_ptr_equal(h.session->setup, first->setup);
    assert_int_equal(acp_session_send_mode(first, acp_str_from("code")), 0);
    assert_int_equal(h.agent->texts.count, 2);
    feed(&h, "{'jsonrpc':'2.0','id':6,'method':'session/close','params':{'sessionId':'s'}}");
    assert_int_equal(h.agent->texts.count, 1);
    host_finish(&h);
}

/* ---- Message ids and _meta ------------------------------------------------------------------- */

static void v2_sess_15_the_program_learns_the_ids_of_messages(void **state)
{
    struct host h;
    char part[128];
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{}", &plain);
        assert_null(acp_session_message_id(h.session).ptr);
        host_prompt(&h);
        struct acp_str user = acp_turn_user_message_id(h.turn);
        assert_true(user.len > 0);
        if (version == 2) {
            (void) snprintf(part, sizeof(part), "'sessionUpdate':'user_message','messageId':'%.*s'",
                            (int) user.len, user.ptr);
            expect_wrote(&h, part);
        }
        forget(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("hello")), 0);
        struct acp_str said = acp_session_message_id(h.session);
        assert_false(acp_str_eq(said, user));
        (void) snprintf(part, sizeof(part), "'messageId':'%.*s'", (int) said.len, said.ptr);
        assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
        expect_wrote(&h, part);
        host_finish(&h);
    }
}

static void ignore_answer(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                          void *user)
{
    (void) turn;
    (void) answer;
    (void) user;
}

static void com_ext_07_meta_goes_beside_updates_and_questions(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{'fs':{'readTextFile':true},'elicitation':{'url':{}}}", &plain);
        host_prompt(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("before")), 0);
        /* The trace context of the prompt is passed on. */
        assert_int_equal(acp_turn_set_meta(h.turn, acp_turn_meta(h.turn)), 0);
        expect_wrote(&h, "before");
        assert_false(wrote(&h, "traceparent"));
        forget(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("after")), 0);
        assert_int_equal(acp_turn_elicit_url(h.turn, acp_str_from(NULL), acp_str_from("m"),
                                             acp_str_from("https://example.com/"),
                                             acp_str_from("v"), ignore_answer, NULL),
                         0);
        expect_wrote(&h, "'text':'after'}},'_meta':{'traceparent':'00-1'}}}");
        expect_wrote(&h, "'message':'m','_meta':{'traceparent':'00-1'}");
        assert_int_equal(acp_turn_set_meta(h.turn, acp_raw_from("[1]")), ACP_ERR_TYPE);
        assert_int_equal(acp_turn_set_meta(h.turn, acp_raw_from("{\"a\":}")), ACP_ERR_TYPE);
        assert_int_equal(acp_turn_set_meta(h.turn, acp_raw_from(NULL)), 0);
        forget(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("end")), 0);
        acp_agent_close(h.agent, ACP_ERR_CLOSED);
        assert_false(wrote(&h, "_meta"));
        h.turn = NULL;
        host_finish(&h);
    }
}

static void on_delete(struct acp_agent *agent, acp_call call, struct acp_str id, void *user)
{
    struct acp_raw meta = acp_agent_meta(agent);
    (void) id;
    host_note(user, "meta %.*s", (int) meta.len, meta.ptr ? meta.ptr : "");
    (void) acp_agent_respond_error(agent, call, -32603, acp_str_from("no"));
}

static void the_meta_of_any_request_can_be_read(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = host_accept,
                                                     .delete_session = on_delete};
    struct host h;
    (void) state;
    open_host(&h, 1, "{}", &handler);
    feed(&h, "{'jsonrpc':'2.0','id':3,'method':'session/delete','params':{'sessionId':'x',"
             "'_meta':{'traceparent':'00-2'}}}");
    expect_note(&h, "meta {\"traceparent\":\"00-2\"}\n");
    assert_null(acp_agent_meta(h.agent).ptr);
    feed(&h, "{'jsonrpc':'2.0','id':4,'method':'session/delete','params':{'sessionId':'x',"
             "'_meta':7}}");
    expect_note(&h, "meta \n");
    feed(&h, "{'jsonrpc':'2.0','id':5,'method':'session/delete','params':{'sessionId':'x'}}");
    expect_note(&h, "meta \n");
    host_finish(&h);
}

/* ---- Notifications --------------------------------------------------------------------------- */

static void notifications_of_ones_own_begin_with_an_underscore(void **state)
{
    struct acp_raw object = acp_raw_from("{\"n\":1}");
    struct acp_raw broken = acp_raw_from("{\"n\":");
    struct acp_raw list = acp_raw_from("[1]");
    struct host h;
    (void) state;
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    host_init(&h, &options, &plain);
    assert_int_equal(acp_agent_notify(h.agent, acp_str_from("_x"), ACP_TYPE_ANY, &object),
                     ACP_ERR_STATE); /* before initialize */
    host_open(&h, 1, "{}");
    host_prompt(&h);
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("first")), 0);
    assert_int_equal(acp_agent_notify(h.agent, acp_str_from("_x"), ACP_TYPE_ANY, &object), 0);
    expect_wrote(&h, "'method':'_x','params':{'n':1}");
    const char *all = test_cstr(&h.wire);
    assert_true(strstr(all, "first") && strstr(all, "first") < strstr(all, "_x"));
    forget(&h);
    assert_int_equal(acp_agent_notify(h.agent, acp_str_from("_y"), ACP_TYPE_ANY, NULL), 0);
    expect_wrote(&h, "'method':'_y','params':{}");
    forget(&h);
    assert_int_equal(acp_agent_notify(h.agent, acp_str_from("_x"), ACP_TYPE_ANY, &broken),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(acp_agent_notify(h.agent, acp_str_from("_x"), ACP_TYPE_ANY, &list),
                     ACP_ERR_ARGUMENT);
    static const char *const others[] = {"x",
                                         "session/update",
                                         "$/cancel_request",
                                         "session/request_permission",
                                         "auth/status_update",
                                         ""};
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_ROW(acp_agent_notify(h.agent, acp_str_from(others[i]), ACP_TYPE_ANY, &object) ==
                      ACP_ERR_STATE,
                  i, "%s", others[i]);
    expect_silence(&h);
    host_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_info_08_nothing_is_sent_that_was_not_offered),
        cmocka_unit_test(a_link_has_the_size_that_is_known),
        cmocka_unit_test(an_agent_with_modes_alone_has_options_in_version_2_only),
        cmocka_unit_test(a_tool_call_has_a_title_and_a_diff_has_a_path),
        cmocka_unit_test(com_rpc_24_places_of_tool_calls_are_absolute_and_from_1),
        cmocka_unit_test(v1_tool_09_v2_tool_18_paths_of_diffs_are_absolute),
        cmocka_unit_test(v2_tool_08_the_directory_of_a_terminal_is_absolute),
        cmocka_unit_test(v1_sess_15_commands_of_servers_are_absolute),
        cmocka_unit_test(v2_cancel_13_a_tool_call_is_cancelled_while_that_is_offered),
        cmocka_unit_test(v2_cancel_13_a_terminal_is_cancelled_while_that_is_offered),
        cmocka_unit_test(v2_cancel_14_without_a_callback_it_is_not_offered),
        cmocka_unit_test(v2_state_12_background_is_in_every_state_once_told),
        cmocka_unit_test(v2_sess_17_a_session_at_work_is_resumed_as_it_is),
        cmocka_unit_test(setups_are_shared_and_let_go),
        cmocka_unit_test(an_idle_session_keeps_no_buffer),
        cmocka_unit_test(v2_sess_15_the_program_learns_the_ids_of_messages),
        cmocka_unit_test(com_ext_07_meta_goes_beside_updates_and_questions),
        cmocka_unit_test(the_meta_of_any_request_can_be_read),
        cmocka_unit_test(notifications_of_ones_own_begin_with_an_underscore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
