/*
 * Sessions, from the agent's side: checks what the client asks for, hands it to the program, and
 * writes the program's answer in the version at hand.
 */
#include <stdio.h>
#include <stdlib.h>

#include "role/agent_role.h"
#include "rpc/peer.h"

/* ---- Checking -------------------------------------------------------------------------------- */

/* What a session is opened with, whichever request does it. */
struct opening {
    struct acp_str cwd;
    struct acp_str_list directories;
    struct acp_mcp_server_list servers;
    const struct acp_system_prompt *system_prompt;
};

/* Says why the roots cannot be taken, or NULL. */
static const char *bad_roots(const struct acp_agent *agent, const struct opening *o)
{
    if (!agent_is_absolute(o->cwd))
        return "cwd must be an absolute path";
    if (o->directories.count && !agent->options.additional_directories)
        return "additionalDirectories was not offered";
    if (o->cwd.len > AGENT_MAX_PATH || o->directories.count > AGENT_MAX_DIRECTORIES)
        return "cwd is too long, or there are too many additionalDirectories";
    for (size_t i = 0; i < o->directories.count; i++)
        if (!agent_is_absolute(o->directories.items[i]) ||
            o->directories.items[i].len > AGENT_MAX_PATH)
            return "additionalDirectories must be absolute paths of at most 4096 bytes";
    return NULL;
}

/*
 * Version 2 wants an absolute path.  So does version 1, but its clients also send names that are to
 * be looked up, such as npx; what depends on a directory is refused there too.
 */
static bool is_good_command(const struct acp_agent *agent, struct acp_str command)
{
    bool is_name = command.len > 0 && !memchr(command.ptr, '/', command.len);
    return agent_is_absolute(command) || (is_name && !agent_is_v2(agent));
}

static const char *bad_server(const struct acp_agent *agent, const struct acp_mcp_server *server)
{
    const struct acp_agent_options *options = &agent->options;
    switch (server->is) {
    case ACP_MCP_SERVER_STDIO:
        return is_good_command(agent, server->stdio.command) ? NULL
                                                             : "command must be an absolute path";
    case ACP_MCP_SERVER_HTTP:
        return options->mcp_http || options->mcp_lenient ? NULL
                                                         : "MCP servers over HTTP were not offered";
    case ACP_MCP_SERVER_SSE:
        return options->mcp_sse || options->mcp_lenient ? NULL
                                                        : "MCP servers over SSE were not offered";
    case ACP_MCP_SERVER_ACP:
        return agent_offers(agent, ACP_SERVICE_MCP) ? NULL
                                                    : "MCP servers over ACP were not offered";
    default:
        return "the transport was not offered";
    }
}

static const char *bad_system_prompt(const struct acp_agent *agent,
                                     const struct acp_system_prompt *prompt)
{
    if (!acp_is_set(prompt))
        return NULL;
    bool append = prompt->mode.is == ACP_SYSTEM_PROMPT_MODE_APPEND;
    bool override = prompt->mode.is == ACP_SYSTEM_PROMPT_MODE_OVERRIDE;
    unsigned wanted = ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT | (append ? ACP_SERVICE_SYSTEM_PROMPT : 0);
    return (append || override) && agent_offers(agent, wanted) ? NULL
                                                               : "systemPrompt was not offered";
}

/* Refuses what cannot be taken, and says where it is.  True when all of it can. */
static bool check_opening(struct acp_agent *agent, acp_call call, const struct opening *o)
{
    const char *bad = bad_roots(agent, o);
    if (!bad)
        bad = bad_system_prompt(agent, o->system_prompt);
    if (bad) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s", bad);
        return false;
    }
    for (size_t i = 0; i < o->servers.count; i++) {
        bad = bad_server(agent, &o->servers.items[i]);
        if (bad) {
            (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                                "Invalid params: mcpServers[%zu] %s", i, bad);
            return false;
        }
        if (o->servers.items[i].is == ACP_MCP_SERVER_ACP)
            agent->has_acp_server = true;
    }
    return true;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_session(struct acp_session *session)
{
    agent_leave_pending(session);
    agent_leave_replaced(session);
    agent_forget_text(session);
    acp_buf_finish(&session->text);
    acp_buf_finish(&session->waiting);
    acp_buf_finish(&session->history.updates);
    acp_map_finish(&session->tools);
    acp_map_finish(&session->terminals);
    acp_map_finish(&session->replayed);
    agent_forget_setup(session);
    free(session->background);
    acp_str_free_from_room(session->message, session->message_room);
    for (size_t i = 0; i < session->directory_count; i++)
        free((void *) (uintptr_t) session->directories[i].ptr);
    free(session->directories);
    acp_str_free_from_room(session->id, session->id_room);
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
                                        const struct opening *o)
{
    struct acp_session *session = calloc(1, sizeof(*session) + o->cwd.len + 1);
    if (!session)
        return NULL;
    session->agent = agent;
    session->opening = call;
    session->opening_method = method;
    acp_buf_init(&session->text, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_buf_init(&session->waiting, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_map_init(&session->tools, agent->options.seed[1]);
    acp_map_init(&session->terminals, agent->options.seed[1]);
    acp_map_init(&session->replayed, agent->options.seed[1]);
    memcpy(session->cwd, o->cwd.ptr, o->cwd.len);
    if (copy_directories(session, o->directories)) {
        free_session(session);
        return NULL;
    }
    session->next_pending = agent->pending;
    agent->pending = session;
    return session;
}

int acp_session_set_id(struct acp_session *session, struct acp_str id)
{
    struct acp_agent *agent = session->agent;
    if (session->state == SESSION_READY || session->id || id.len == 0)
        return ACP_ERR_STATE;
    if (acp_map_get(&agent->sessions, id))
        return ACP_ERR_ARGUMENT;
    char *copy = acp_str_copy_to_room(id, session->id_room, sizeof(session->id_room));
    int err = copy ? acp_map_set(&agent->sessions, id, session) : ACP_ERR_NOMEM;
    if (err) {
        acp_str_free_from_room(copy, session->id_room);
        return err;
    }
    agent_leave_pending(session);
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
        err = acp_session_set_id(session, acp_str_from(id));
    } while (err == ACP_ERR_ARGUMENT);
    return err;
}

void agent_end_session(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    bool was_closing = agent->closing;
    if (session->successor)
        agent_end_session(session->successor);
    if (agent->closing == was_closing)
        agent_cancel_work(session);
    if (agent->closing != was_closing)
        return; /* the program has closed the connection, which has ended the session */
    (void) agent_flush_text(session); /* the program can still keep it */
    /* From here on nobody finds it any more. */
    if (session->id && acp_map_get(&agent->sessions, acp_str_from(session->id)) == session)
        (void) acp_map_remove(&agent->sessions, acp_str_from(session->id));
    agent_leave_pending(session);
    agent_leave_replaced(session);
    /* One that the program still has to accept is as much its own as an open one. */
    acp_call opening = session->opening;
    session->opening = 0;
    if (agent->watch)
        agent->watch->session_ends(agent->watch, session);
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
    struct opening o = {request.cwd, request.additional_directories, request.mcp_servers,
                        request.system_prompt};
    if (!check_opening(agent, call, &o))
        return;
    struct acp_session *session = make_session(agent, call, ACP_METHOD_SESSION_NEW, &o);
    if (!session)
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
    else if (agent->handler.new_session)
        agent->handler.new_session(session, &request, agent->user);
    else if (acp_session_accept(session, NULL))
        (void) acp_session_reject(session, ACP_ERROR_CODE_INTERNAL_ERROR,
                                  acp_str_from("Out of memory"));
}

void agent_serve_fork(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_fork_session_request request;
    struct acp_failure failure;
    if (acp_fork_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct opening o = {request.cwd, request.additional_directories, request.mcp_servers,
                        request.system_prompt};
    if (!check_opening(agent, call, &o))
        return;
    struct acp_session *session = make_session(agent, call, ACP_METHOD_SESSION_FORK, &o);
    if (session)
        agent->handler.fork_session(session, &request, agent->user);
    else
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
}

/* A session that is open already is replaced when the program accepts the new one. */
static struct acp_session *reopen(struct acp_agent *agent, acp_call call, int method,
                                  struct acp_str id, const struct opening *o)
{
    struct acp_session *old = acp_map_get(&agent->sessions, id);
    if (old && (old->turn || old->successor || old->state != SESSION_READY)) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "The session is open in this connection and busy; try again when its "
                            "turn has ended, or resume it without its history");
        return NULL;
    }
    struct acp_session *session = make_session(agent, call, method, o);
    if (!session || (old ? agent_set_replaced(session, old) : acp_session_set_id(session, id))) {
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
        if (session)
            free_session(session);
        return NULL;
    }
    session->state = SESSION_LOADING;
    return session;
}

/*
 * Version 2 wants resume of every agent.  A session that is open in this connection is replayed:
 * always while a turn runs, and always by an agent without a memory, which knows no other.
 */
static void resume_live(struct acp_session *session, acp_call call, struct acp_str cwd, bool replay)
{
    struct acp_agent *agent = session->agent;
    if (!acp_str_is(cwd, session->cwd)) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "Invalid params: cwd is not that of the session, which is open");
        return;
    }
    if (replay && agent_replay_history(session)) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                            "The session is too long to be replayed from the start");
        return;
    }
    struct acp_resume_session_response answer = agent_kept_setup(session);
    (void) agent_repeat_state(session);
    (void) agent_answer(agent, call, ACP_TYPE_RESUME_SESSION_RESPONSE, &answer);
}

/* Version 1's load and version 2's resume from the start are one thing to the program. */
static void open_old(struct acp_agent *agent, acp_call call, int method,
                     const struct acp_resume_session_request *request, bool replay)
{
    struct opening o = {request->cwd, request->additional_directories, request->mcp_servers,
                        request->system_prompt};
    if (!check_opening(agent, call, &o))
        return;
    void (*open)(struct acp_session *, const struct acp_resume_session_request *, void *) =
        replay ? agent->handler.load_session : agent->handler.resume_session;
    struct acp_session *live = acp_map_get(&agent->sessions, request->session_id);
    bool is_live = live && live->state == SESSION_READY;
    if (agent_is_v2(agent) && is_live && (!open || (live->turn && !replay))) {
        resume_live(live, call, request->cwd, replay);
        return;
    }
    if (!open) {
        (void) agent_refuse_session(agent, call, request->session_id);
        return;
    }
    struct acp_session *session = reopen(agent, call, method, request->session_id, &o);
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
        .system_prompt = load.system_prompt,
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

static void answer_new(struct acp_session *session, const struct acp_resume_session_response *told)
{
    struct acp_agent *agent = session->agent;
    struct acp_new_session_response made = {
        .session_id = acp_str_from(session->id),
        .modes = told->modes,
        .config_options = told->config_options,
        .available_commands = told->available_commands,
    };
    struct acp_fork_session_response forked = {
        .session_id = acp_str_from(session->id),
        .modes = told->modes,
        .config_options = told->config_options,
        .available_commands = told->available_commands,
    };
    if (session->opening_method == ACP_METHOD_SESSION_FORK)
        (void) agent_answer(agent, session->opening, ACP_TYPE_FORK_SESSION_RESPONSE, &forked);
    else
        (void) agent_answer(agent, session->opening, ACP_TYPE_NEW_SESSION_RESPONSE, &made);
}

static void answer_old(struct acp_session *session, const struct acp_resume_session_response *told)
{
    struct acp_agent *agent = session->agent;
    struct acp_load_session_response load = {.modes = told->modes,
                                             .config_options = told->config_options};
    if (session->opening_method == ACP_METHOD_SESSION_LOAD) {
        (void) agent_answer(agent, session->opening, ACP_TYPE_LOAD_SESSION_RESPONSE, &load);
        return;
    }
    /* Version 2 tells the state of a resumed session before the answer. */
    if (agent_is_v2(agent))
        (void) agent_repeat_state(session);
    (void) agent_answer(agent, session->opening, ACP_TYPE_RESUME_SESSION_RESPONSE, told);
}

static void answer_opening(struct acp_session *session, const struct acp_session_setup *setup)
{
    struct acp_agent *agent = session->agent;
    struct acp_session_mode_state modes;
    struct acp_session_config_option mode;
    acp_session_mode_state_init(&modes, setup->current_mode, setup->modes.items,
                                setup->modes.count);
    session->made_mode = agent_is_v2(agent) && setup->modes.count &&
                         !agent_has_mode_option(setup->options) &&
                         agent_dialect_modes(agent, setup->modes, setup->current_mode, &mode) == 0;
    struct acp_resume_session_response told = {
        .modes = setup->modes.count ? &modes : NULL,
        .config_options =
            agent_dialect_options(agent, setup->options, session->made_mode ? &mode : NULL),
        .available_commands = agent_dialect_commands(agent, setup->commands),
    };
    (void) agent_keep_setup(session, &told);
    if (session->opening_method == ACP_METHOD_SESSION_NEW ||
        session->opening_method == ACP_METHOD_SESSION_FORK)
        answer_new(session, &told);
    else
        answer_old(session, &told);
}

static int accept_session(struct acp_session *session, const struct acp_session_setup *setup)
{
    static const struct acp_session_setup nothing = {.current_mode = {NULL, 0}};
    struct acp_agent *agent = session->agent;
    if (!session->opening)
        return ACP_ERR_STATE;
    if (!setup)
        setup = &nothing;
    int err = session->id ? 0 : make_id(session);
    if (err)
        return err;
    (void) agent_flush_text(session);
    if (!agent_replace(session))
        return ACP_ERR_CLOSED;
    agent_end_message(session);
    agent_free_text_buffer(session);
    acp_map_finish(&session->replayed);
    /*
     * Version 1 has no place for commands in the answer.  An old session's belong to its history,
     * of which nothing follows the answer; a new one's need the id that the answer gives.
     */
    bool has_commands = !agent_is_v2(agent) && setup->commands.count;
    bool is_old = session->state == SESSION_LOADING;
    if (has_commands && is_old)
        (void) acp_session_send_commands(session, setup->commands.items, setup->commands.count);
    session->state = SESSION_READY;
    answer_opening(session, setup);
    session->opening = 0;
    if (has_commands && !is_old)
        (void) acp_session_send_commands(session, setup->commands.items, setup->commands.count);
    return 0;
}

int acp_session_accept(struct acp_session *session, const struct acp_session_setup *setup)
{
    /* The session that it replaces ends in here, and the program may free the agent then. */
    struct acp_peer *peer = session->agent->peer;
    acp_rpc_enter(peer);
    int err = accept_session(session, setup);
    acp_rpc_leave(peer);
    return err;
}

int acp_session_reject(struct acp_session *session, int64_t code, struct acp_str message)
{
    struct acp_agent *agent = session->agent;
    acp_call call = session->opening;
    if (!call)
        return ACP_ERR_STATE;
    session->opening = 0;
    /* That a session is not there is told with its id. */
    int err = code == ACP_ERROR_CODE_RESOURCE_NOT_FOUND && session->id
                  ? agent_refuse_missing(agent, call, acp_str_from(session->id), message)
                  : acp_peer_error(agent->peer, call, code, message, acp_raw_from(NULL));
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
        struct acp_str cwd = acp_str_from(session->cwd);
        if (session->state != SESSION_READY ||
            (acp_is_set(request->cwd.ptr) && !acp_str_eq(request->cwd, cwd)))
            continue;
        acp_session_info_init(&items[count], acp_str_from(session->id), cwd);
        items[count].additional_directories.items = session->directories;
        items[count].additional_directories.count = session->directory_count;
        count++;
    }
    struct acp_list_sessions_response answer;
    acp_list_sessions_response_init(&answer, items, count);
    (void) agent_answer(agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &answer);
}

void agent_serve_list(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_list_sessions_request request;
    struct acp_failure failure;
    if (acp_list_sessions_request_decode(agent->mode, params, &agent->arena, &request, &failure))
        (void) agent_refuse_failure(agent, call, &failure);
    else if (acp_is_set(request.cwd.ptr) && !agent_is_absolute(request.cwd))
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
    (void) acp_peer_result(agent->peer, call, acp_raw_from(NULL));
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

/* ---- Looking --------------------------------------------------------------------------------- */

struct acp_str acp_session_id(const struct acp_session *session)
{
    return acp_str_from(session->id);
}

struct acp_str acp_session_cwd(const struct acp_session *session)
{
    return acp_str_from(session->cwd);
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
