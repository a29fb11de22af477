/*
 * Sessions, from the agent's side: checks what the client asks for, hands it to the program, and
 * writes the program's answer in the version at hand.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/agent_role.h"

/* ---- Checking -------------------------------------------------------------------------------- */

static bool is_absolute(struct acp_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

/* Says why the roots cannot be taken, or NULL. */
static const char *bad_roots(const struct acp_agent *agent, struct acp_str cwd,
                             struct acp_str_list directories)
{
    if (!is_absolute(cwd))
        return "cwd must be an absolute path";
    if (directories.count && !agent->options.additional_directories)
        return "additionalDirectories was not offered";
    for (size_t i = 0; i < directories.count; i++)
        if (!is_absolute(directories.items[i]))
            return "additionalDirectories must be absolute paths";
    return NULL;
}

static const char *bad_servers(const struct acp_agent *agent, struct acp_mcp_server_list servers)
{
    for (size_t i = 0; i < servers.count; i++) {
        switch (servers.items[i].is) {
        case ACP_MCP_SERVER_STDIO:
            break;
        case ACP_MCP_SERVER_HTTP:
            if (!agent->options.mcp_http)
                return "MCP servers over HTTP were not offered";
            break;
        case ACP_MCP_SERVER_SSE:
            if (!agent->options.mcp_sse)
                return "MCP servers over SSE were not offered";
            break;
        default:
            return "an MCP server has a transport that was not offered";
        }
    }
    return NULL;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* It has got an id, or goes without ever having had one. */
static void leave_unnamed(struct acp_session *session)
{
    struct acp_session **at = &session->agent->unnamed;
    while (*at && *at != session)
        at = &(*at)->next_unnamed;
    if (*at)
        *at = session->next_unnamed;
}

static void free_session(struct acp_session *session)
{
    if (!session->id)
        leave_unnamed(session);
    agent_forget_text(session);
    acp_buf_finish(&session->text);
    acp_buf_finish(&session->waiting);
    acp_map_finish(&session->tools);
    acp_map_finish(&session->replayed);
    free(session->message);
    for (size_t i = 0; i < session->directory_count; i++)
        free((void *) (uintptr_t) session->directories[i].ptr);
    free(session->directories);
    free(session->setup);
    free(session->cwd);
    free(session->id);
    free(session);
}

static int copy_directories(struct acp_session *session, struct acp_str_list directories)
{
    if (directories.count == 0)
        return 0;
    session->directories = calloc(directories.count, sizeof(*session->directories));
    if (!session->directories)
        return ACP_ERR_NOMEM;
    for (; session->directory_count < directories.count; session->directory_count++) {
        struct acp_str from = directories.items[session->directory_count];
        char *copy = acp_str_copy(from);
        if (!copy)
            return ACP_ERR_NOMEM;
        session->directories[session->directory_count] = acp_str_n(copy, from.len);
    }
    return 0;
}

static struct acp_session *make_session(struct acp_agent *agent, acp_call call, int method,
                                        struct acp_str cwd, struct acp_str_list directories)
{
    struct acp_session *session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->agent = agent;
    session->opening = call;
    session->opening_method = method;
    acp_buf_init(&session->text, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_buf_init(&session->waiting, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_map_init(&session->tools, agent->options.seed[1]);
    acp_map_init(&session->replayed, agent->options.seed[1]);
    session->cwd = acp_str_copy(cwd);
    if (!session->cwd || copy_directories(session, directories)) {
        free_session(session);
        return NULL;
    }
    session->next_unnamed = agent->unnamed;
    agent->unnamed = session;
    return session;
}

int acp_session_set_id(struct acp_session *session, struct acp_str id)
{
    struct acp_agent *agent = session->agent;
    if (session->state == SESSION_READY || session->id || id.len == 0)
        return ACP_ERR_STATE;
    if (acp_map_get(&agent->sessions, id))
        return ACP_ERR_ARGUMENT;
    char *copy = acp_str_copy(id);
    int err = copy ? acp_map_set(&agent->sessions, id, session) : ACP_ERR_NOMEM;
    if (err) {
        free(copy);
        return err;
    }
    leave_unnamed(session);
    session->id = copy;
    return 0;
}

/* Numbers that look random to a client: splitmix64 from the seed. */
static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int make_id(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    char id[48];
    int err;
    do {
        uint64_t number = agent->next_session++;
        (void) snprintf(id, sizeof(id), "sess_%016llx%08llx",
                        (unsigned long long) scramble(agent->options.seed[0] + number),
                        (unsigned long long) (scramble(agent->options.seed[1] ^ number) >> 32));
        err = acp_session_set_id(session, acp_str(id));
    } while (err == ACP_ERR_ARGUMENT);
    return err;
}

void agent_end_session(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    bool was_closing = agent->closing;
    agent_cancel_work(session);
    if (agent->closing != was_closing)
        return; /* the program has closed the connection, which has ended the session */
    /* From here on nobody finds it any more. */
    if (session->id)
        (void) acp_map_remove(&agent->sessions, acp_str(session->id));
    else
        leave_unnamed(session);
    /* One that the program still has to accept is as much its own as an open one. */
    acp_call opening = session->opening;
    session->opening = 0;
    if ((session->state == SESSION_READY || opening) && agent->handler.end_session)
        agent->handler.end_session(session, agent->user);
    agent_drop_work(session);
    if (opening)
        (void) acp_peer_error_for(agent->peer, opening, ACP_ERR_CANCELLED);
    free_session(session);
}

/* ---- Opening --------------------------------------------------------------------------------- */

void agent_serve_new(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_new_session_request request;
    struct acp_failure failure;
    if (acp_new_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    const char *bad = bad_roots(agent, request.cwd, request.additional_directories);
    if (!bad)
        bad = bad_servers(agent, request.mcp_servers);
    if (bad) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s", bad);
        return;
    }
    struct acp_session *session = make_session(agent, call, ACP_METHOD_SESSION_NEW, request.cwd,
                                               request.additional_directories);
    if (!session)
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
    else if (agent->handler.new_session)
        agent->handler.new_session(session, &request, agent->user);
    else
        (void) acp_session_accept(session, NULL);
}

/* A session that is open already is taken over: the client has come back to it. */
static struct acp_session *reopen(struct acp_agent *agent, acp_call call, int method,
                                  const struct acp_resume_session_request *request)
{
    struct acp_session *old = acp_map_get(&agent->sessions, request->session_id);
    if (old && (old->turn || old->state != SESSION_READY)) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "The session is at work in this connection");
        return NULL;
    }
    if (old)
        agent_end_session(old);
    if (agent->closing)
        return NULL; /* the program has closed the connection when it heard of that */
    struct acp_session *session =
        make_session(agent, call, method, request->cwd, request->additional_directories);
    if (!session || acp_session_set_id(session, request->session_id)) {
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
        if (session)
            free_session(session);
        return NULL;
    }
    session->state = SESSION_LOADING;
    return session;
}

/* Version 1's load and version 2's resume from the start are one thing to the program. */
static void open_old(struct acp_agent *agent, acp_call call, int method,
                     const struct acp_resume_session_request *request, bool replay)
{
    const char *bad = bad_roots(agent, request->cwd, request->additional_directories);
    if (!bad)
        bad = bad_servers(agent, request->mcp_servers);
    if (bad) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s", bad);
        return;
    }
    void (*open)(struct acp_session *, const struct acp_resume_session_request *, void *) =
        replay ? agent->handler.load_session : agent->handler.resume_session;
    if (!open) {
        /* Version 2 wants resume of every agent: without a memory, only what is open is known. */
        struct acp_session *live = acp_map_get(&agent->sessions, request->session_id);
        if (live && !replay && live->state == SESSION_READY) {
            live->opening = call;
            live->opening_method = method;
            (void) acp_session_accept(live, NULL);
        } else {
            (void) agent_refuse_session(agent, call, request->session_id);
        }
        return;
    }
    struct acp_session *session = reopen(agent, call, method, request);
    if (session)
        open(session, request, agent->user);
}

void agent_serve_load(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_load_session_request load;
    struct acp_failure failure;
    if (acp_load_session_request_decode(agent->mode, params, &agent->arena, &load, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_resume_session_request request = {
        .session_id = load.session_id,
        .cwd = load.cwd,
        .additional_directories = load.additional_directories,
        .mcp_servers = load.mcp_servers,
        .meta = load.meta,
    };
    open_old(agent, call, ACP_METHOD_SESSION_LOAD, &request, true);
}

void agent_serve_resume(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_resume_session_request request;
    struct acp_failure failure;
    if (acp_resume_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    bool replay = acp_is_set(request.replay_from);
    if (replay && request.replay_from->is != ACP_REPLAY_FROM_START) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "Invalid params: replayFrom can only be the start");
        return;
    }
    open_old(agent, call, ACP_METHOD_SESSION_RESUME, &request, replay);
}

/* ---- Accepting ------------------------------------------------------------------------------- */

static void answer_new(struct acp_session *session, const struct acp_session_setup *setup,
                       const struct acp_session_mode_state *modes)
{
    struct acp_agent *agent = session->agent;
    struct acp_new_session_response answer = {
        .session_id = acp_str(session->id),
        .modes = modes,
        .config_options = agent_dialect_options(agent, setup->options, modes),
        .available_commands = agent_dialect_commands(agent, setup->commands),
    };
    (void) acp_agent_answer(agent, session->opening, ACP_TYPE_NEW_SESSION_RESPONSE, &answer);
}

static void answer_old(struct acp_session *session, const struct acp_session_setup *setup,
                       const struct acp_session_mode_state *modes)
{
    struct acp_agent *agent = session->agent;
    struct acp_session_config_option_list options =
        agent_dialect_options(agent, setup->options, modes);
    struct acp_load_session_response load = {.modes = modes, .config_options = options};
    struct acp_resume_session_response resume = {
        .modes = modes,
        .config_options = options,
        .available_commands = agent_dialect_commands(agent, setup->commands),
    };
    if (session->opening_method == ACP_METHOD_SESSION_LOAD) {
        (void) acp_agent_answer(agent, session->opening, ACP_TYPE_LOAD_SESSION_RESPONSE, &load);
        return;
    }
    /* Version 2 tells the state of a resumed session before the answer. */
    if (agent_is_v2(agent))
        (void) agent_send_state(session, ACP_STATE_UPDATE_IDLE, ACP_IDLE_STATE_UPDATE_ABSENT, NULL);
    (void) acp_agent_answer(agent, session->opening, ACP_TYPE_RESUME_SESSION_RESPONSE, &resume);
}

int acp_session_accept(struct acp_session *session, const struct acp_session_setup *setup)
{
    static const struct acp_session_setup nothing = {.current_mode = {NULL, 0}};
    struct acp_agent *agent = session->agent;
    if (!session->opening)
        return ACP_ERR_STATE;
    if (!setup)
        setup = &nothing;
    int err = session->id ? 0 : make_id(session);
    if (err) {
        (void) acp_session_refuse(session, ACP_ERROR_CODE_INTERNAL_ERROR, acp_str("No id"));
        return err;
    }
    (void) agent_flush_text(session);
    agent_end_message(session);
    acp_map_finish(&session->replayed);
    struct acp_session_mode_state modes;
    acp_session_mode_state_init(&modes, setup->current_mode, setup->modes.items,
                                setup->modes.count);
    const struct acp_session_mode_state *given = setup->modes.count ? &modes : NULL;
    if (given && agent_is_v2(agent))
        (void) agent_keep_setup(session, given, setup->options);
    session->state = SESSION_READY;
    if (session->opening_method == ACP_METHOD_SESSION_NEW)
        answer_new(session, setup, given);
    else
        answer_old(session, setup, given);
    session->opening = 0;
    /* Version 1 has no place for commands in the answer. */
    if (!agent_is_v2(agent) && setup->commands.count)
        (void) acp_session_commands(session, setup->commands.items, setup->commands.count);
    return 0;
}

int acp_session_refuse(struct acp_session *session, int64_t code, struct acp_str message)
{
    struct acp_agent *agent = session->agent;
    acp_call call = session->opening;
    if (!call)
        return ACP_ERR_STATE;
    session->opening = 0;
    /* That a session is not there is told with its id. */
    int err = code == ACP_ERROR_CODE_RESOURCE_NOT_FOUND && session->id
                  ? agent_refuse_missing(agent, call, acp_str(session->id), message)
                  : acp_peer_error(agent->peer, call, code, message, acp_raw(NULL));
    agent_end_session(session);
    return err;
}

/* ---- The other requests ---------------------------------------------------------------------- */

/* Without a store of the program's, version 2 still lists what is open. */
static void list_open(struct acp_agent *agent, acp_call call,
                      const struct acp_list_sessions_request *request)
{
    struct acp_session_info *items =
        acp_arena_alloc(&agent->arena, (agent->sessions.count + 1) * sizeof(*items));
    size_t count = 0;
    size_t cursor = 0;
    struct acp_session *session;
    while (items && (session = acp_map_next(&agent->sessions, &cursor, NULL))) {
        struct acp_str cwd = acp_str(session->cwd);
        if (session->state != SESSION_READY ||
            (acp_is_set(request->cwd.ptr) && !acp_str_eq(request->cwd, cwd)))
            continue;
        acp_session_info_init(&items[count], acp_str(session->id), cwd);
        items[count].additional_directories.items = session->directories;
        items[count].additional_directories.count = session->directory_count;
        count++;
    }
    struct acp_list_sessions_response answer;
    acp_list_sessions_response_init(&answer, items, count);
    (void) acp_agent_answer(agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &answer);
}

void agent_serve_list(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_list_sessions_request request;
    struct acp_failure failure;
    if (acp_list_sessions_request_decode(agent->mode, params, &agent->arena, &request, &failure))
        (void) agent_refuse_failure(agent, call, &failure);
    else if (acp_is_set(request.cwd.ptr) && !is_absolute(request.cwd))
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "Invalid params: cwd must be an absolute path");
    else if (agent->handler.list_sessions)
        agent->handler.list_sessions(agent, call, &request, agent->user);
    else
        list_open(agent, call, &request);
}

void agent_serve_close(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_close_session_request request;
    struct acp_failure failure;
    if (acp_close_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session && !agent_is_v2(agent)) {
        (void) agent_refuse_session(agent, call, request.session_id);
        return;
    }
    if (session)
        agent_end_session(session);
    (void) acp_peer_result(agent->peer, call, acp_raw(NULL));
}

void agent_serve_delete(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_delete_session_request request;
    struct acp_failure failure;
    if (acp_delete_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (session)
        agent_end_session(session);
    if (!agent->closing)
        agent->handler.delete_session(agent, call, request.session_id, agent->user);
}

void agent_serve_set_mode(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_set_session_mode_request request;
    struct acp_failure failure;
    if (acp_set_session_mode_request_decode(agent->mode, params, &agent->arena, &request,
                                            &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session || session->state != SESSION_READY)
        (void) agent_refuse_session(agent, call, request.session_id);
    else
        agent->handler.set_mode(session, call, request.mode_id, agent->user);
}

/* The option that stands for the modes where there is no other: see agent_dialect_options. */
static bool is_mode_option(const struct acp_session *session,
                           const struct acp_set_session_config_option_request *request)
{
    struct acp_new_session_response kept;
    if (!session->agent->handler.set_mode ||
        request->is != ACP_SET_SESSION_CONFIG_OPTION_REQUEST_ID ||
        !acp_str_is(request->config_id, "mode"))
        return false;
    agent_kept_setup(session, &kept);
    return kept.modes && !agent_has_mode_option(kept.config_options);
}

void agent_serve_set_option(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_set_session_config_option_request request;
    struct acp_failure failure;
    if (acp_set_session_config_option_request_decode(agent->mode, params, &agent->arena, &request,
                                                     &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session || session->state != SESSION_READY)
        (void) agent_refuse_session(agent, call, request.session_id);
    else if (is_mode_option(session, &request))
        agent->handler.set_mode(session, call, request.id.value, agent->user);
    else if (agent->handler.set_option)
        agent->handler.set_option(session, call, &request, agent->user);
    else
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "There is no such option");
}

int acp_session_mode_set(struct acp_session *session, acp_call call, struct acp_str mode)
{
    struct acp_agent *agent = session->agent;
    if (!agent_is_v2(agent))
        return acp_peer_result(agent->peer, call, acp_raw(NULL));
    struct acp_new_session_response kept;
    struct acp_session_mode_state modes = {.current_mode_id = mode};
    agent_kept_setup(session, &kept);
    if (kept.modes)
        modes.available_modes = kept.modes->available_modes;
    struct acp_set_session_config_option_response answer = {
        .config_options = agent_dialect_options(agent, kept.config_options, &modes)};
    int err = acp_agent_answer(agent, call, ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, &answer);
    (void) agent_keep_setup(session, &modes, kept.config_options);
    return err;
}

int acp_session_options_set(struct acp_session *session, acp_call call,
                            struct acp_session_config_option_list options)
{
    struct acp_agent *agent = session->agent;
    struct acp_new_session_response kept;
    agent_kept_setup(session, &kept);
    struct acp_set_session_config_option_response answer = {
        .config_options = agent_dialect_options(agent, options, kept.modes)};
    int err = acp_agent_answer(agent, call, ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, &answer);
    if (kept.modes)
        (void) agent_keep_setup(session, kept.modes, options);
    return err;
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct acp_str acp_session_id(const struct acp_session *session)
{
    return acp_str(session->id);
}

struct acp_str acp_session_cwd(const struct acp_session *session)
{
    return acp_str(session->cwd);
}

struct acp_str_list acp_session_directories(const struct acp_session *session)
{
    return (struct acp_str_list){session->directories, session->directory_count};
}

struct acp_agent *acp_session_agent(const struct acp_session *session)
{
    return session->agent;
}

void acp_session_set_user(struct acp_session *session, void *user)
{
    session->user = user;
}

void *acp_session_user(const struct acp_session *session)
{
    return session->user;
}

struct acp_turn *acp_session_turn(const struct acp_session *session)
{
    return session->turn;
}
