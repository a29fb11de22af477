/* Lines that ask the client for something, and say how it went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-agent.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A turn that was cancelled is ended by on_cancel(), which comes next. */
static bool is_lost(const struct work *work)
{
    return acp_turn_is_cancelled(work->turn);
}

/* ---- Permission ----------------------------------------------------------------------------- */

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct work *work = user;
    if (work == NULL || is_lost(work)) {
        (void) acp_turn_send_text(turn, acp_str_from("not permitted: cancelled\n"));
        return;
    }
    if (answer->err)
        sayf(work, "not permitted: %s\n", acp_err_name(answer->err));
    else
        sayf(work, "permitted: %.*s (%d)\n", (int) answer->option.len, answer->option.ptr,
             (int) answer->kind);
    go_on(work);
}

static int ask_permission(struct work *work, struct acp_turn *turn, const char *title)
{
    struct acp_permission_option options[4];
    struct acp_tool_call_update tool;
    acp_permission_option_init(&options[0], acp_str_from("yes"), acp_str_from("Allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("yes-always"),
                               acp_str_from("Always allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    acp_permission_option_init(&options[2], acp_str_from("no"), acp_str_from("Reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
    acp_permission_option_init(&options[3], acp_str_from("no-always"),
                               acp_str_from("Always reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    acp_tool_call_update_init(&tool, acp_str_from("tool-ask"));
    tool.title = acp_str_from(*title ? title : "Remove everything");
    tool.kind.is = ACP_TOOL_KIND_DELETE;
    tool.status.is = ACP_TOOL_CALL_STATUS_PENDING;
    tool.raw_input = acp_raw_from("{\"path\":\"/\"}");
    (void) acp_turn_send_tool_call(turn, &tool);
    return acp_turn_request_permission(turn, &tool, options, COUNT(options), on_permission, work);
}

enum step do_permission(struct work *work, const char *argument)
{
    int err = ask_permission(work, work->turn, argument);
    if (!err)
        return STEP_WAIT;
    sayf(work, "permission: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

/* Asks, and does not wait for the answer. */
enum step do_abandon(struct work *work, const char *argument)
{
    int err = ask_permission(NULL, work->turn, argument);
    if (err)
        sayf(work, "permission: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void on_read(struct acp_turn *turn, const struct acp_outcome *outcome, struct acp_str text,
                    void *user)
{
    int err = outcome->err;
    if (err)
        text = err == ACP_ERR_REMOTE ? outcome->why : acp_str_from("");
    struct work *work = user;
    (void) turn;
    if (is_lost(work))
        return;
    if (err)
        sayf(work, "not read: %s: %.*s\n", acp_err_name(err), (int) text.len,
             text.ptr ? text.ptr : "");
    else
        sayf(work, "read: %.*s\n", (int) text.len, text.ptr);
    go_on(work);
}

/* read PATH [LINE LIMIT] */
enum step do_read(struct work *work, const char *argument)
{
    char path[512];
    unsigned line = 0;
    unsigned limit = 0;
    if (sscanf(argument, "%511s %u %u", path, &line, &limit) < 1)
        return STEP_NEXT;
    int err = acp_turn_read_file(work->turn, acp_str_from(path), line, limit, on_read, work);
    if (!err)
        return STEP_WAIT;
    sayf(work, "read: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

static void on_written(struct acp_turn *turn, const struct acp_outcome *outcome,
                       struct acp_str text, void *user)
{
    int err = outcome->err;
    if (err)
        text = err == ACP_ERR_REMOTE ? outcome->why : acp_str_from("");
    struct work *work = user;
    (void) turn;
    if (is_lost(work))
        return;
    if (err)
        sayf(work, "not written: %s: %.*s\n", acp_err_name(err), (int) text.len,
             text.ptr ? text.ptr : "");
    else
        sayf(work, "written\n");
    go_on(work);
}

/* write PATH TEXT */
enum step do_write(struct work *work, const char *argument)
{
    char path[512];
    int at = 0;
    if (sscanf(argument, "%511s %n", path, &at) < 1)
        return STEP_NEXT;
    int err = acp_turn_write_file(work->turn, acp_str_from(path), acp_str_from(argument + at),
                                  on_written, work);
    if (!err)
        return STEP_WAIT;
    sayf(work, "write: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

/* ---- Terminals of a version 1 client -------------------------------------------------------- */

static bool failed(struct work *work, const struct acp_reply *reply)
{
    if (is_lost(work))
        return true;
    if (!reply->err)
        return false;
    sayf(work, "terminal: %s: %lld %.*s\n", acp_err_name(reply->err), (long long) reply->error_code,
         (int) reply->error_message.len, reply->error_message.ptr ? reply->error_message.ptr : "");
    go_on(work);
    return true;
}

static void ask_terminal(struct work *work, const char *method, acp_type_id type,
                         acp_result_fn *then)
{
    /* The four requests about a terminal hold the same. */
    struct acp_terminal_output_request request;
    acp_terminal_output_request_init(&request, acp_session_id(acp_turn_session(work->turn)),
                                     acp_str_from(work->terminal));
    int err = acp_turn_request(work->turn, acp_str_from(method), type, &request, then, work);
    if (err) {
        sayf(work, "%s: %s\n", method, acp_err_name(err));
        go_on(work);
    }
}

static void on_released(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    (void) turn;
    if (failed(work, reply))
        return;
    sayf(work, "released\n");
    go_on(work);
}

static void on_output(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    struct acp_terminal_output_response response;
    struct acp_arena arena;
    (void) turn;
    if (failed(work, reply))
        return;
    acp_arena_init(&arena, 0);
    if (acp_terminal_output_response_decode(ACP_V1, reply->result, &arena, &response, NULL))
        sayf(work, "output: unreadable\n");
    else
        sayf(work, "output: %.*s%s\n", (int) response.output.len, response.output.ptr,
             response.truncated ? " (truncated)" : "");
    acp_arena_finish(&arena);
    ask_terminal(work, "terminal/release", ACP_TYPE_RELEASE_TERMINAL_REQUEST, on_released);
}

static void on_exit_status(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    struct acp_wait_for_terminal_exit_response response;
    struct acp_arena arena;
    (void) turn;
    if (failed(work, reply))
        return;
    acp_arena_init(&arena, 0);
    if (acp_wait_for_terminal_exit_response_decode(ACP_V1, reply->result, &arena, &response, NULL))
        sayf(work, "exit: unreadable\n");
    else if (response.exit_code.has == ACP_PRESENT)
        sayf(work, "exit: %lld\n", (long long) response.exit_code.value);
    else
        sayf(work, "exit: %.*s\n", (int) response.signal.len, response.signal.ptr);
    acp_arena_finish(&arena);
    ask_terminal(work, "terminal/output", ACP_TYPE_TERMINAL_OUTPUT_REQUEST, on_output);
}

static void on_killed(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    (void) turn;
    if (failed(work, reply))
        return;
    sayf(work, "killed\n");
    ask_terminal(work, "terminal/wait_for_exit", ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST,
                 on_exit_status);
}

static void show_terminal(struct work *work)
{
    struct acp_tool_call_content content;
    struct acp_tool_call_update tool;
    acp_tool_call_content_init_terminal(&content, acp_str_from(work->terminal));
    acp_tool_call_update_init(&tool, acp_str_from("tool-term"));
    tool.title = acp_str_from("Running a command");
    tool.kind.is = ACP_TOOL_KIND_EXECUTE;
    tool.content.items = &content;
    tool.content.count = 1;
    (void) acp_turn_send_tool_call(work->turn, &tool);
}

static void on_created(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    struct acp_create_terminal_response response;
    struct acp_arena arena;
    (void) turn;
    if (failed(work, reply))
        return;
    acp_arena_init(&arena, 0);
    int err = acp_create_terminal_response_decode(ACP_V1, reply->result, &arena, &response, NULL);
    if (!err)
        (void) snprintf(work->terminal, sizeof(work->terminal), "%.*s",
                        (int) response.terminal_id.len, response.terminal_id.ptr);
    acp_arena_finish(&arena);
    if (err) {
        sayf(work, "create: unreadable\n");
        go_on(work);
        return;
    }
    show_terminal(work);
    if (work->killing)
        ask_terminal(work, "terminal/kill", ACP_TYPE_KILL_TERMINAL_REQUEST, on_killed);
    else
        ask_terminal(work, "terminal/wait_for_exit", ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST,
                     on_exit_status);
}

static enum step start_terminal(struct work *work, const char *command, bool killing)
{
    struct acp_session *session = acp_turn_session(work->turn);
    struct acp_str args[] = {acp_str_from("-c"), acp_str_from(command)};
    struct acp_env_variable env = {.name = acp_str_from("GREETING"),
                                   .value = acp_str_from("hello")};
    struct acp_create_terminal_request request;
    acp_create_terminal_request_init(&request, acp_session_id(session), acp_str_from("/bin/sh"));
    request.args.items = args;
    request.args.count = COUNT(args);
    request.env.items = &env;
    request.env.count = 1;
    request.cwd = acp_session_cwd(session);
    request.output_byte_limit = acp_some_u64(64);
    work->killing = killing;
    int err = acp_turn_request(work->turn, acp_str_from("terminal/create"),
                               ACP_TYPE_CREATE_TERMINAL_REQUEST, &request, on_created, work);
    if (!err)
        return STEP_WAIT;
    sayf(work, "terminal: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

enum step do_terminal(struct work *work, const char *argument)
{
    return start_terminal(work, argument, false);
}

enum step do_kill(struct work *work, const char *argument)
{
    return start_terminal(work, argument, true);
}

/* ---- Elicitation ---------------------------------------------------------------------------- */

static void say_content(struct work *work, struct acp_elicitation_content_value_map content)
{
    for (size_t i = 0; i < content.count; i++) {
        const struct acp_elicitation_content_value_entry *e = &content.items[i];
        int len = (int) e->key.len;
        switch (e->value.is) {
        case ACP_ELICITATION_CONTENT_VALUE_STRING:
            sayf(work, "%.*s=%.*s\n", len, e->key.ptr, (int) e->value.string.len,
                 e->value.string.ptr);
            break;
        case ACP_ELICITATION_CONTENT_VALUE_INTEGER:
            sayf(work, "%.*s=%lld\n", len, e->key.ptr, (long long) e->value.integer);
            break;
        case ACP_ELICITATION_CONTENT_VALUE_NUMBER:
            sayf(work, "%.*s=%g\n", len, e->key.ptr, e->value.number);
            break;
        case ACP_ELICITATION_CONTENT_VALUE_BOOLEAN:
            sayf(work, "%.*s=%s\n", len, e->key.ptr, e->value.boolean ? "true" : "false");
            break;
        case ACP_ELICITATION_CONTENT_VALUE_STRING_ARRAY:
            sayf(work, "%.*s=%zu items\n", len, e->key.ptr, e->value.string_array.count);
            break;
        default:
            sayf(work, "%.*s=?\n", len, e->key.ptr);
        }
    }
}

static void on_elicited(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                        void *user)
{
    static const char *const actions[] = {"cancel", "decline", "accept"};
    struct work *work = user;
    struct acp_agent *agent = acp_session_agent(acp_turn_session(turn));
    if (is_lost(work))
        return;
    if (answer->err) {
        sayf(work, "elicited: %s\n", acp_err_name(answer->err));
    } else {
        sayf(work, "elicited: %s\n", actions[answer->action]);
        say_content(work, answer->content);
        /* A web page that was consented to is done later, which the client is told. */
        if (answer->action == ACP_ELICITED_ACCEPT)
            (void) acp_agent_complete_elicitation(agent, acp_str_from("elicit-1"));
    }
    go_on(work);
}

static void make_form(struct acp_elicitation_schema *schema,
                      struct acp_elicitation_property_schema_entry properties[5])
{
    static const struct acp_str colours[] = {ACP_STR("red"), ACP_STR("green")};
    static const struct acp_str required[] = {ACP_STR("name")};
    static const char *const names[] = {"name", "size", "count", "sure", "colours"};
    for (size_t i = 0; i < COUNT(names); i++)
        properties[i].key = acp_str_from(names[i]);
    acp_elicitation_property_schema_init_string(&properties[0].value);
    properties[0].value.string.title = acp_str_from("Name");
    properties[0].value.string.min_length = acp_some_i64(1);
    properties[0].value.string.max_length = acp_some_i64(20);
    acp_elicitation_property_schema_init_number(&properties[1].value);
    properties[1].value.number.minimum = acp_some_f64(0.5);
    acp_elicitation_property_schema_init_integer(&properties[2].value);
    properties[2].value.integer.default_ = acp_some_i64(3);
    acp_elicitation_property_schema_init_boolean(&properties[3].value);
    properties[3].value.boolean.default_ = acp_some_bool(true);
    acp_elicitation_property_schema_init_array(&properties[4].value);
    properties[4].value.array.items.is = ACP_MULTI_SELECT_ITEMS_STRING;
    properties[4].value.array.items.string.enum_.items = colours;
    properties[4].value.array.items.string.enum_.count = COUNT(colours);
    acp_elicitation_schema_init(schema);
    schema->title = acp_str_from("About it");
    schema->properties.items = properties;
    schema->properties.count = COUNT(names);
    schema->required.items = required;
    schema->required.count = COUNT(required);
}

/* elicit form|url */
enum step do_elicit(struct work *work, const char *argument)
{
    struct acp_elicitation_property_schema_entry properties[5];
    struct acp_elicitation_schema form;
    int err;
    if (strcmp(argument, "url") == 0) {
        err = acp_turn_elicit_url(work->turn, acp_str_from(NULL), acp_str_from("Please sign in"),
                                  acp_str_from("https://example.com/sign-in"),
                                  acp_str_from("elicit-1"), on_elicited, work);
    } else {
        make_form(&form, properties);
        err = acp_turn_elicit_form(work->turn, acp_str_from("tool-1"), acp_str_from("Tell me more"),
                                   &form, on_elicited, work);
    }
    if (!err)
        return STEP_WAIT;
    sayf(work, "elicit: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

/* ---- Methods of one's own ------------------------------------------------------------------- */

static void on_pong(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct work *work = user;
    (void) turn;
    if (is_lost(work))
        return;
    if (reply->err)
        sayf(work, "pong: %s %lld\n", acp_err_name(reply->err), (long long) reply->error_code);
    else
        sayf(work, "pong: %.*s\n", (int) reply->result.len, reply->result.ptr);
    go_on(work);
}

enum step do_custom(struct work *work, const char *argument)
{
    struct acp_agent *agent = acp_session_agent(acp_turn_session(work->turn));
    struct acp_raw params = acp_raw_from("{\"n\":1}");
    (void) argument;
    (void) acp_agent_notify(agent, acp_str_from("_x/note"), ACP_TYPE_ANY, &params);
    int err =
        acp_turn_request(work->turn, acp_str_from("_x/ping"), ACP_TYPE_ANY, &params, on_pong, work);
    if (!err)
        return STEP_WAIT;
    sayf(work, "ping: %s\n", acp_err_name(err));
    return STEP_NEXT;
}
