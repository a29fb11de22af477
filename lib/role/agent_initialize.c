/*
 * The first exchange of a connection: agrees on a version and tells what the program can do, which
 * its callbacks and options say.  Also logging in, whose methods are told there.
 */
#include <stdio.h>

#include "codec/walk.h"
#include "role/agent_role.h"

static const struct acp_str no_name = ACP_STR("unnamed");
static const struct acp_str no_version = ACP_STR("0");

/* ---- The version ----------------------------------------------------------------------------- */

/* The version to speak, or 0 when there is none in common. */
static unsigned choose_version(const struct acp_agent *agent, int64_t requested)
{
    unsigned offered = agent->options.versions & (ACP_V1 | ACP_V2);
    if (offered == ACP_V1)
        return ACP_V1; /* the client decides whether it can live with that */
    if (requested >= 2)
        return ACP_V2;
    return requested == 1 && (offered & ACP_V1) ? ACP_V1 : 0;
}

static void refuse_version(struct acp_agent *agent, acp_call call, int64_t requested)
{
    bool both = agent->options.versions & ACP_V1;
    char data[80];
    (void) snprintf(data, sizeof(data), "{\"requested\":%lld,\"supported\":[%s2]}",
                    (long long) requested, both ? "1," : "");
    (void) acp_peer_error(agent->peer, call, ACP_ERROR_CODE_UNSUPPORTED_PROTOCOL_VERSION,
                          acp_str_from("Unsupported protocol version"), acp_raw_from(data));
}

/* ---- What is offered ------------------------------------------------------------------------- */

/* The environment is a map in version 1 and a list in version 2. */
static struct acp_env_variable_list list_env(struct acp_agent *agent, struct acp_str_map env)
{
    struct acp_env_variable_list list = {NULL, 0};
    struct acp_env_variable *items = acp_arena_alloc(&agent->arena, env.count * sizeof(*items));
    if (!items || env.count == 0)
        return list;
    for (size_t i = 0; i < env.count; i++)
        acp_env_variable_init(&items[i], env.items[i].key, env.items[i].value);
    list.items = items;
    list.count = env.count;
    return list;
}

static struct acp_auth_method dialect_terminal(struct acp_agent *agent, struct acp_auth_method m)
{
    if (!m.terminal.method_id.ptr)
        m.terminal.method_id = m.terminal.id;
    if (!m.terminal.env_v2.items)
        m.terminal.env_v2 = list_env(agent, m.terminal.env);
    return m;
}

/*
 * Terminal methods are only for clients that can run them; ids are named differently in version 2.
 */
static struct acp_auth_method_list offered_methods(struct acp_agent *agent, unsigned mode,
                                                   bool terminal)
{
    struct acp_auth_method_list all = agent->options.auth_methods;
    struct acp_auth_method_list list = {NULL, 0};
    struct acp_auth_method *copies =
        acp_arena_alloc(&agent->arena, all.count * sizeof(struct acp_auth_method));
    if (!copies)
        return list;
    for (size_t i = 0; i < all.count; i++) {
        struct acp_auth_method m = all.items[i];
        if (m.is == ACP_AUTH_METHOD_TERMINAL && !terminal)
            continue;
        if (mode & ACP_V2 && m.is == ACP_AUTH_METHOD_AGENT && !m.agent.method_id.ptr)
            m.agent.method_id = m.agent.id;
        if (mode & ACP_V2 && m.is == ACP_AUTH_METHOD_TERMINAL)
            m = dialect_terminal(agent, m);
        copies[list.count++] = m;
    }
    list.items = copies;
    return list;
}

/* An object without fields, which is how the protocol says yes. */
#define MARKER(type, condition) ((condition) ? (const struct acp_##type *) acp_zeros() : NULL)

/* The unstable part of both versions; the encoder leaves it out where they are not unstable. */
static struct acp_session_capabilities unstable_session(
    const struct acp_agent *agent, struct acp_session_system_prompt_capabilities *prompt)
{
    static const struct acp_session_system_prompt_override_capabilities override = {
        .meta = {NULL, 0}};
    static const struct acp_session_system_prompt_mode_capabilities modes = {.override = &override};
    unsigned services = agent->options.services;
    if (services & ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT)
        prompt->mode = &modes;
    return (struct acp_session_capabilities){
        .system_prompt = services & (ACP_SERVICE_SYSTEM_PROMPT | ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT)
                             ? prompt
                             : NULL,
        .fork = MARKER(session_fork_capabilities, agent->handler.fork_session),
        .archive = MARKER(session_archive_capabilities, services & ACP_SERVICE_ARCHIVE),
        .status = MARKER(session_status_capabilities, services & ACP_SERVICE_STATUS),
        .title = MARKER(session_title_capabilities, services & ACP_SERVICE_TITLE),
    };
}

static void answer_v1(struct acp_agent *agent, acp_call call, const struct acp_implementation *info)
{
    const struct acp_agent_handler *h = &agent->handler;
    const struct acp_agent_options *o = &agent->options;
    bool terminal = agent->client->auth && agent->client->auth->terminal;
    struct acp_prompt_capabilities prompt = {
        .image = o->images, .audio = o->audio, .embedded_context = o->embedded_context};
    struct acp_mcp_capabilities mcp = {
        .http = o->mcp_http, .sse = o->mcp_sse, .acp = o->services & ACP_SERVICE_MCP};
    struct acp_session_system_prompt_capabilities system_prompt = {.mode = NULL};
    struct acp_session_capabilities session = unstable_session(agent, &system_prompt);
    session.list = MARKER(session_list_capabilities, h->list_sessions);
    session.resume = MARKER(session_resume_capabilities, h->resume_session);
    session.close = acp_zeros();
    session.delete_ = MARKER(session_delete_capabilities, h->delete_session);
    session.additional_directories =
        MARKER(session_additional_directories_capabilities, o->additional_directories);
    struct acp_agent_auth_capabilities auth = {
        .logout = MARKER(logout_capabilities, h->logout),
        .status = MARKER(auth_status_capabilities, o->services & ACP_SERVICE_AUTH_STATUS),
    };
    struct acp_agent_capabilities capabilities = {
        .load_session = h->load_session != NULL,
        .prompt_capabilities = &prompt,
        .mcp_capabilities = &mcp,
        .session_capabilities = &session,
        .auth = &auth,
        .providers = MARKER(providers_capabilities, o->services & ACP_SERVICE_PROVIDERS),
        .meta = o->capabilities_meta,
    };
    struct acp_initialize_response answer = {
        .protocol_version = 1,
        .agent_capabilities = &capabilities,
        .agent_info = info,
        .auth_methods = offered_methods(agent, ACP_V1, terminal),
    };
    (void) agent_answer(agent, call, ACP_TYPE_INITIALIZE_RESPONSE, &answer);
}

static void answer_v2(struct acp_agent *agent, acp_call call, const struct acp_implementation *info)
{
    const struct acp_agent_handler *h = &agent->handler;
    const struct acp_agent_options *o = &agent->options;
    bool terminal = agent->client->auth_v2 && acp_is_set(agent->client->auth_v2->terminal);
    struct acp_prompt_capabilities prompt = {
        .image_v2 = MARKER(prompt_image_capabilities, o->images),
        .audio_v2 = MARKER(prompt_audio_capabilities, o->audio),
        .embedded_context_v2 = MARKER(prompt_embedded_context_capabilities, o->embedded_context),
    };
    struct acp_mcp_capabilities mcp = {
        .stdio = acp_zeros(),
        .http_v2 = MARKER(mcp_http_capabilities, o->mcp_http),
        .acp_v2 = MARKER(mcp_acp_capabilities, o->services & ACP_SERVICE_MCP),
    };
    struct acp_session_system_prompt_capabilities system_prompt = {.mode = NULL};
    struct acp_session_capabilities session = unstable_session(agent, &system_prompt);
    session.prompt = &prompt;
    session.mcp = &mcp;
    session.delete_ = MARKER(session_delete_capabilities, h->delete_session);
    session.additional_directories =
        MARKER(session_additional_directories_capabilities, o->additional_directories);
    struct acp_agent_auth_capabilities auth = {
        .status = MARKER(auth_status_capabilities, o->services & ACP_SERVICE_AUTH_STATUS)};
    struct acp_agent_capabilities capabilities = {
        .session = &session,
        .auth = agent_offers(agent, ACP_SERVICE_AUTH_STATUS) ? &auth : NULL,
        .providers = MARKER(providers_capabilities, o->services & ACP_SERVICE_PROVIDERS),
        .meta = o->capabilities_meta,
    };
    struct acp_initialize_response answer = {
        .protocol_version = 2,
        .capabilities = &capabilities,
        .info = *info,
        .auth_methods = offered_methods(agent, ACP_V2, terminal),
    };
    (void) agent_answer(agent, call, ACP_TYPE_INITIALIZE_RESPONSE, &answer);
}

/* ---- initialize ------------------------------------------------------------------------------ */

/* What initialize says stays for the life of the connection. */
static int keep_client(struct acp_agent *agent, unsigned mode, struct acp_raw params, bool lenient,
                       struct acp_failure *failure)
{
    static const struct acp_client_capabilities nothing = {0};
    struct acp_initialize_request request = {0};
    agent->client = &nothing;
    acp_arena_reset(&agent->kept);
    if (params.len > AGENT_MAX_INITIALIZE)
        return acp_failure_set(failure, ACP_ERR_LIMIT, "larger than 1 MiB");
    struct acp_str copy = acp_arena_copy(&agent->kept, acp_str_n(params.ptr, params.len));
    if (!copy.ptr)
        return acp_failure_set(failure, ACP_ERR_NOMEM, "out of memory");
    int err = acp_initialize_request_decode(mode, acp_raw_n(copy.ptr, copy.len), &agent->kept,
                                            &request, failure);
    const struct acp_client_capabilities *said =
        mode & ACP_V2 ? request.capabilities : request.client_capabilities;
    if (!err && acp_is_set(said))
        agent->client = said;
    return lenient ? 0 : err;
}

void agent_serve_initialize(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_initialize_request hello;
    struct acp_failure failure = {0};
    if (agent->served) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "initialize came after the conversation had begun");
        return;
    }
    if (acp_initialize_request_decode(ACP_V1, params, &agent->arena, &hello, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    unsigned version = choose_version(agent, hello.protocol_version);
    if (!version || (agent->mode & ACP_V2 && version == ACP_V1)) {
        refuse_version(agent, call, hello.protocol_version);
        return;
    }
    unsigned mode = version | (agent->options.versions & ACP_UNSTABLE);
    /* The params of a version that is newer than all we know are read as far as they make sense. */
    bool lenient = version == ACP_V1 || hello.protocol_version > 2;
    if (keep_client(agent, mode, params, lenient, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    agent->mode = mode;
    struct acp_implementation info = {
        .name = agent->options.name.len ? agent->options.name : no_name,
        .version = agent->options.version.len ? agent->options.version : no_version,
        .title = agent->options.title,
    };
    if (version == ACP_V2)
        answer_v2(agent, call, &info);
    else
        answer_v1(agent, call, &info);
}

/* ---- Authentication -------------------------------------------------------------------------- */

static bool knows_method(const struct acp_agent *agent, struct acp_str id)
{
    for (size_t i = 0; i < agent->options.auth_methods.count; i++) {
        const struct acp_auth_method *m = &agent->options.auth_methods.items[i];
        if (m->is == ACP_AUTH_METHOD_AGENT &&
            (acp_str_eq(m->agent.id, id) || acp_str_eq(m->agent.method_id, id)))
            return true;
    }
    return false;
}

void agent_serve_authenticate(struct acp_agent *agent, acp_call call, struct acp_raw params,
                              acp_type_id type)
{
    struct acp_failure failure;
    struct acp_authenticate_request v1;
    struct acp_login_auth_request v2;
    bool is_v2 = type == ACP_TYPE_LOGIN_AUTH_REQUEST;
    if (acp_decode(type, agent->mode, params, &agent->arena, is_v2 ? (void *) &v2 : (void *) &v1,
                   &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_str method = is_v2 ? v2.method_id : v1.method_id;
    if (!knows_method(agent, method))
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "There is no such way to authenticate");
    else
        agent->handler.authenticate(agent, call, method, agent->user);
}
