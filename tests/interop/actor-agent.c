/*
 * actor-agent - an agent for tests that does what the prompt says, line by line: "say hello",
 * "permission", "read /w/a.txt", "wait".  The lines are in actor-agent-turn.c.
 *
 *     actor-agent [--v1 | --v2] [--auth] [--quiet] [--bare]
 *
 * --v1, --v2   speak only that version
 * --auth       no session before somebody has logged in
 * --quiet      updates between turns wait for the next prompt
 * --bare       nothing but prompts
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-agent.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uv_loop_t actor_loop;
struct acp_jobs *actor_jobs;

static bool must_log_in;
static bool logged_in;

/* ---- What sessions are set up with ---------------------------------------------------------- */

struct acp_session_setup make_setup(const struct talk *talk)
{
    static struct acp_session_mode modes[2];
    static struct acp_available_command_input input;
    static struct acp_available_command commands[2];
    static struct acp_session_config_select_option fast[2];
    static struct acp_session_config_select_option large[1];
    static struct acp_session_config_select_group groups[2];
    static struct acp_session_config_option options[2];

    acp_session_mode_init(&modes[0], acp_str_from("ask"), acp_str_from("Ask"));
    modes[0].description = acp_str_from("Asks before it does anything");
    acp_session_mode_init(&modes[1], acp_str_from("code"), acp_str_from("Code"));

    acp_available_command_init(&commands[0], acp_str_from("test"), acp_str_from("Runs the tests"));
    acp_available_command_init(&commands[1], acp_str_from("explain"),
                               acp_str_from("Explains something"));
    acp_available_command_input_init_unstructured(&input, acp_str_from("what to explain"));
    commands[1].input = &input;

    acp_session_config_select_option_init(&fast[0], acp_str_from("fast-1"),
                                          acp_str_from("Fast One"));
    acp_session_config_select_option_init(&fast[1], acp_str_from("fast-2"),
                                          acp_str_from("Fast Two"));
    fast[1].description = acp_str_from("newer");
    acp_session_config_select_option_init(&large[0], acp_str_from("large-1"),
                                          acp_str_from("Large One"));
    acp_session_config_select_group_init(&groups[0], acp_str_from("Fast"), fast, COUNT(fast));
    groups[0].group = acp_str_from("fast");
    acp_session_config_select_group_init(&groups[1], acp_str_from("Large"), large, COUNT(large));
    groups[1].group = acp_str_from("large");
    acp_session_config_option_init_select(&options[0], acp_str_from("Model"),
                                          acp_str_from(talk->model));
    options[0].id = acp_str_from("model");
    options[0].category.is = ACP_SESSION_CONFIG_OPTION_CATEGORY_MODEL;
    acp_session_config_select_options_init_grouped(&options[0].select.options, groups,
                                                   COUNT(groups));
    acp_session_config_option_init_boolean(&options[1], acp_str_from("Verbose"), talk->verbose);
    options[1].id = acp_str_from("verbose");
    options[1].description = acp_str_from("Says more");

    return (struct acp_session_setup){
        .modes = {modes, COUNT(modes)},
        .current_mode = acp_str_from(talk->mode),
        .options = {options, COUNT(options)},
        .commands = {commands, COUNT(commands)},
    };
}

static struct talk *make_talk(struct acp_session *session, struct acp_mcp_server_list servers)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    if (!talk)
        abort();
    talk->session = session;
    (void) snprintf(talk->mode, sizeof(talk->mode), "ask");
    (void) snprintf(talk->model, sizeof(talk->model), "fast-1");
    for (size_t i = 0; i < servers.count; i++) {
        const struct acp_mcp_server *server = &servers.items[i];
        struct acp_str name = server->is == ACP_MCP_SERVER_STDIO  ? server->stdio.name
                              : server->is == ACP_MCP_SERVER_HTTP ? server->http.name
                                                                  : server->sse.name;
        size_t len = strlen(talk->servers);
        (void) snprintf(talk->servers + len, sizeof(talk->servers) - len, " %.*s", (int) name.len,
                        name.ptr);
    }
    acp_session_set_user(session, talk);
    return talk;
}

void say_session(struct work *work)
{
    struct acp_session *session = acp_turn_session(work->turn);
    struct acp_str cwd = acp_session_cwd(session);
    struct acp_str_list directories = acp_session_directories(session);
    sayf(work, "cwd=%.*s\n", (int) cwd.len, cwd.ptr);
    for (size_t i = 0; i < directories.count; i++)
        sayf(work, "also=%.*s\n", (int) directories.items[i].len, directories.items[i].ptr);
    sayf(work, "servers=%s\nmode=%s\nmodel=%s\nverbose=%d\n", work->talk->servers, work->talk->mode,
         work->talk->model, work->talk->verbose);
}

/* ---- Sessions ------------------------------------------------------------------------------- */

/* What was talked about before; listed in pages of three. */
static struct {
    const char *id;
    const char *cwd;
    bool deleted;
} old[] = {
    {"old-1", "/w/one", false}, {"old-2", "/w/one", false}, {"old-3", "/w/two", false},
    {"old-4", "/w/one", false}, {"old-5", "/w/two", false},
};
enum { PAGE = 3 };

static bool is_old(struct acp_str id)
{
    for (size_t i = 0; i < COUNT(old); i++)
        if (!old[i].deleted && acp_str_is(id, old[i].id))
            return true;
    return false;
}

static bool may_enter(struct acp_session *session)
{
    if (!must_log_in || logged_in)
        return true;
    (void) acp_session_reject(session, ACP_ERROR_CODE_AUTHENTICATION_REQUIRED,
                              acp_str_from("Log in first"));
    return false;
}

static void on_new(struct acp_session *session, const struct acp_new_session_request *request,
                   void *user)
{
    (void) user;
    if (!may_enter(session))
        return;
    struct talk *talk = make_talk(session, request->mcp_servers);
    struct acp_session_setup setup = make_setup(talk);
    (void) acp_session_accept(session, &setup);
}

static void open_old(struct acp_session *session, const struct acp_resume_session_request *request,
                     bool replay)
{
    if (!may_enter(session))
        return;
    if (!is_old(request->session_id)) {
        (void) acp_session_reject(session, ACP_ERROR_CODE_RESOURCE_NOT_FOUND,
                                  acp_str_from("No such session"));
        return;
    }
    struct talk *talk = make_talk(session, request->mcp_servers);
    struct acp_session_setup setup = make_setup(talk);
    if (replay)
        say_history(session);
    (void) acp_session_accept(session, &setup);
}

static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    (void) user;
    open_old(session, request, true);
}

static void on_resume(struct acp_session *session, const struct acp_resume_session_request *request,
                      void *user)
{
    (void) user;
    open_old(session, request, false);
}

static void on_list(struct acp_agent *agent, acp_call call,
                    const struct acp_list_sessions_request *request, void *user)
{
    struct acp_session_info items[COUNT(old)];
    struct acp_list_sessions_response answer;
    bool all = !acp_is_set(request->cwd.ptr);
    size_t first = 0;
    size_t count = 0;
    (void) user;
    if (acp_is_set(request->cursor.ptr) && !acp_str_is(request->cursor, "page-2")) {
        (void) acp_agent_respond_error(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                                       acp_str_from("That is no cursor of ours"));
        return;
    }
    for (size_t i = 0; i < COUNT(old); i++) {
        if (old[i].deleted || !(all || acp_str_is(request->cwd, old[i].cwd)))
            continue;
        acp_session_info_init(&items[count], acp_str_from(old[i].id), acp_str_from(old[i].cwd));
        items[count].title = acp_str_from(old[i].id);
        items[count].updated_at = acp_str_from("2026-01-02T03:04:05Z");
        count++;
    }
    if (acp_is_set(request->cursor.ptr))
        first = count < PAGE ? count : PAGE;
    bool more = count - first > PAGE;
    acp_list_sessions_response_init(&answer, items + first, more ? PAGE : count - first);
    if (more)
        answer.next_cursor = acp_str_from("page-2");
    (void) acp_agent_respond(agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &answer);
}

static void on_delete(struct acp_agent *agent, acp_call call, struct acp_str id, void *user)
{
    struct acp_delete_session_response answer = {.meta = {NULL, 0}};
    (void) user;
    for (size_t i = 0; i < COUNT(old); i++)
        if (acp_str_is(id, old[i].id))
            old[i].deleted = true;
    (void) acp_agent_respond(agent, call, ACP_TYPE_DELETE_SESSION_RESPONSE, &answer);
}

static void on_end_session(struct acp_session *session, void *user)
{
    struct talk *talk = acp_session_user(session);
    (void) user;
    drop_timer(&talk->later);
    free(talk);
}

/* ---- Modes and options ---------------------------------------------------------------------- */

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    struct talk *talk = acp_session_user(session);
    (void) user;
    if (!acp_str_is(mode, "ask") && !acp_str_is(mode, "code")) {
        (void) acp_agent_respond_error(acp_session_agent(session), call,
                                       ACP_ERROR_CODE_INVALID_PARAMS, acp_str_from("No such mode"));
        return;
    }
    (void) snprintf(talk->mode, sizeof(talk->mode), "%.*s", (int) mode.len, mode.ptr);
    (void) acp_session_reply_set_mode(session, call, mode);
}

static bool set_model(struct talk *talk, struct acp_str value)
{
    static const char *const models[] = {"fast-1", "fast-2", "large-1"};
    for (size_t i = 0; i < COUNT(models); i++) {
        if (acp_str_is(value, models[i])) {
            (void) snprintf(talk->model, sizeof(talk->model), "%s", models[i]);
            return true;
        }
    }
    return false;
}

static void on_set_option(struct acp_session *session, acp_call call,
                          const struct acp_set_session_config_option_request *request, void *user)
{
    struct talk *talk = acp_session_user(session);
    bool ok = false;
    (void) user;
    if (acp_str_is(request->config_id, "model")) {
        if (request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_ID)
            ok = set_model(talk, request->id.value);
        else if (request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_VALUE_ID)
            ok = set_model(talk, request->value_id.value);
    } else if (acp_str_is(request->config_id, "verbose") &&
               request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_BOOLEAN) {
        talk->verbose = request->boolean.value;
        ok = true;
    }
    if (!ok) {
        (void) acp_agent_respond_error(acp_session_agent(session), call,
                                       ACP_ERROR_CODE_INVALID_PARAMS,
                                       acp_str_from("No such option or value"));
        return;
    }
    struct acp_session_setup setup = make_setup(talk);
    (void) acp_session_reply_set_option(session, call, setup.options);
}

/* ---- Logging in, and methods of one's own --------------------------------------------------- */

static void on_authenticate(struct acp_agent *agent, acp_call call, struct acp_str method,
                            void *user)
{
    struct acp_authenticate_response answer = {.meta = {NULL, 0}};
    (void) method;
    (void) user;
    logged_in = true;
    (void) acp_agent_respond(agent, call, ACP_TYPE_AUTHENTICATE_RESPONSE, &answer);
}

static void on_logout(struct acp_agent *agent, acp_call call, void *user)
{
    struct acp_logout_response answer = {.meta = {NULL, 0}};
    (void) user;
    logged_in = false;
    (void) acp_agent_respond(agent, call, ACP_TYPE_LOGOUT_RESPONSE, &answer);
}

/* _x/echo gives back what it got; _x/slow is answered when it is cancelled. */
static void on_request(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                       const void *params, const struct acp_message *message, void *user)
{
    (void) method;
    (void) params;
    (void) user;
    if (acp_str_is(message->method, "_x/echo"))
        (void) acp_peer_result(acp_agent_peer(agent), call, message->params);
    else if (!acp_str_is(message->method, "_x/slow"))
        (void) acp_agent_respond_error(agent, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                                       acp_str_from("Method not found"));
}

static void on_cancel_request(struct acp_agent *agent, acp_call call, void *user)
{
    (void) user;
    (void) acp_peer_error_for(acp_agent_peer(agent), call, ACP_ERR_CANCELLED);
}

/* _x/note comes back as a notification, so that the client sees that it arrived. */
static void on_notification(struct acp_agent *agent, const struct acp_message *message, void *user)
{
    (void) user;
    if (acp_str_is(message->method, "_x/note"))
        (void) acp_agent_notify(agent, acp_str_from("_x/noted"), ACP_TYPE_ANY, &message->params);
}

/* ---- Main ----------------------------------------------------------------------------------- */

static void make_auth_methods(struct acp_auth_method methods[2])
{
    static const struct acp_str args[] = {ACP_STR("--login")};
    static const struct acp_str_entry env[] = {{ACP_STR("LOGIN"), ACP_STR("1")}};
    acp_auth_method_init_agent(&methods[0], acp_str_from("With a token"));
    methods[0].agent.id = acp_str_from("token");
    methods[0].agent.description = acp_str_from("Takes any");
    acp_auth_method_init_terminal(&methods[1], acp_str_from("In a terminal"));
    methods[1].terminal.id = acp_str_from("tui");
    methods[1].terminal.args.items = args;
    methods[1].terminal.args.count = COUNT(args);
    methods[1].terminal.env.items = env;
    methods[1].terminal.env.count = COUNT(env);
}

static bool has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], flag) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct acp_agent_handler handler = {.prompt = on_prompt, .cancel = on_cancel};
    struct acp_agent_options options = {
        .name = acp_str_from("actor-agent"),
        .title = acp_str_from("Actor"),
        .version = acp_str_from("1.0"),
        .versions = has_flag(argc, argv, "--v1")   ? ACP_V1
                    : has_flag(argc, argv, "--v2") ? ACP_V2
                                                   : ACP_V1 | ACP_V2,
        .quiet_between_turns = has_flag(argc, argv, "--quiet"),
    };
    struct acp_auth_method methods[2];
    struct acp_agent_stdio *stdio;
    must_log_in = has_flag(argc, argv, "--auth");
    handler.new_session = on_new;
    handler.end_session = on_end_session;
    if (!has_flag(argc, argv, "--bare")) {
        handler.load_session = on_load;
        handler.resume_session = on_resume;
        handler.list_sessions = on_list;
        handler.delete_session = on_delete;
        handler.cancel_tool = on_cancel_tool;
        handler.cancel_terminal = on_cancel_terminal;
        handler.set_mode = on_set_mode;
        handler.set_option = on_set_option;
        handler.authenticate = on_authenticate;
        handler.logout = on_logout;
        handler.request = on_request;
        handler.cancel_request = on_cancel_request;
        handler.notification = on_notification;
        make_auth_methods(methods);
        options.auth_methods.items = methods;
        options.auth_methods.count = COUNT(methods);
        options.images = true;
        options.audio = true;
        options.embedded_context = true;
        options.mcp_http = true;
        options.mcp_sse = true;
        options.additional_directories = true;
    }
    /* What acp_agent_run() does, on a loop that has timers too. */
    if (uv_loop_init(&actor_loop) != 0 ||
        acp_agent_stdio_new(&actor_loop, &options, &handler, NULL, NULL, &stdio) ||
        acp_jobs_new(&actor_loop, acp_agent_stdio_agent(stdio), NULL, &actor_jobs))
        return 1;
    (void) uv_run(&actor_loop, UV_RUN_DEFAULT);
    acp_jobs_free(actor_jobs);
    acp_agent_stdio_free(stdio);
    (void) uv_run(&actor_loop, UV_RUN_DEFAULT);
    return uv_loop_close(&actor_loop) != 0;
}
