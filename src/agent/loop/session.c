/* session.c - sessions: creation, states, modes, options and titles. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "cli/output.h"

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << AGENT_SESSION_##state)

void agent_session_set_state(struct agent_session *session, enum agent_session_state state)
{
    static const unsigned next[] = {
        [AGENT_SESSION_NEW] = TO(OPENING) | TO(OPEN) | TO(CLOSED),
        [AGENT_SESSION_OPENING] = TO(OPENING) | TO(READING) | TO(OPEN) | TO(CLOSED),
        [AGENT_SESSION_READING] = TO(OPEN) | TO(CLOSED),
        [AGENT_SESSION_OPEN] = TO(IDLE) | TO(CLOSED),
        [AGENT_SESSION_IDLE] = TO(RESTORING) | TO(CLOSED),
        [AGENT_SESSION_RESTORING] = TO(OPEN) | TO(IDLE) | TO(CLOSED),
        [AGENT_SESSION_CLOSED] = 0,
    };
    assert(next[session->state] & 1u << state);
    (void) next;
    session->state = state;
}

#undef TO

/* ---- Modes ----------------------------------------------------------------------------------- */

static const struct {
    enum acp_policy_mode mode;
    const char *name;
    const char *description;
} modes[] = {
    {ACP_POLICY_SAFE, "Safe", "Reads freely, asks before it changes or runs anything"},
    {ACP_POLICY_READ_ONLY, "Read only", "Reads, and changes nothing"},
    {ACP_POLICY_SANDBOX, "Sandbox", "Works without asking, in a sandbox without network"},
    {ACP_POLICY_FULL, "Full", "Works without asking and without a sandbox"},
};
enum { MODE_COUNT = sizeof(modes) / sizeof(modes[0]) };

static void list_modes(struct acp_session_mode list[MODE_COUNT])
{
    for (size_t i = 0; i < MODE_COUNT; i++) {
        acp_session_mode_init(&list[i], acp_str_from(acp_policy_mode_name(modes[i].mode)),
                              acp_str_from(modes[i].name));
        list[i].description = acp_str_from(modes[i].description);
    }
}

/* All sessions in a mode share its policy. */
static int get_policy(struct coding_agent *agent, enum acp_policy_mode mode,
                      const struct acp_policy **ret)
{
    struct acp_policy **policy = &agent->policies[mode];
    int err = *policy ? 0 : acp_policy_copy(agent->options->policy, policy);
    if (!err)
        acp_policy_set_mode(*policy, mode);
    *ret = *policy;
    return err;
}

int agent_session_use_mode(struct agent_session *session, enum acp_policy_mode mode)
{
    const struct acp_policy *policy;
    int err = get_policy(session->agent, mode, &policy);
    if (err)
        return err;
    session->policy = policy;
    tools_set_policy(session->tools, policy);
    return 0;
}

int agent_session_set_mode(struct agent_session *session, struct acp_str mode,
                           struct acp_failure *failure)
{
    enum acp_policy_mode found;
    if (!acp_policy_mode_find(mode, &found)) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "no such mode '%.*s'; the modes are safe, read-only, sandbox and full",
                        (int) mode.len, mode.ptr);
        return ACP_ERR_UNKNOWN;
    }
    if (found == ACP_POLICY_SANDBOX && !toolbox_has_sandbox(session->agent->box, failure))
        return ACP_ERR_STATE;
    int err = agent_session_use_mode(session, found);
    if (err) {
        (void) snprintf(failure->message, sizeof(failure->message), "%s", acp_err_text(err));
        return err;
    }
    agent_session_log_settings(session);
    return 0;
}

void coding_agent_set_mode(struct acp_session *role_session, acp_call call, struct acp_str mode,
                           void *user)
{
    struct agent_session *session = acp_session_user(role_session);
    struct acp_failure failure = {0};
    (void) user;
    if (agent_session_set_mode(session, mode, &failure)) {
        (void) acp_agent_respond_error(acp_session_agent(role_session), call,
                                       ACP_ERROR_CODE_INVALID_PARAMS,
                                       acp_str_from(failure.message));
        return;
    }
    (void) acp_session_reply_set_mode(role_session, call, mode);
    agent_session_send_options(session); /* one of them is the mode */
}

/* Version 1 has modes besides the option. */
static void tell_mode(struct agent_session *session)
{
    const char *mode = acp_policy_mode_name(acp_policy_get_mode(session->policy));
    if (acp_agent_protocol(acp_session_agent(session->role)) & ACP_V1)
        (void) acp_session_send_mode(session->role, acp_str_from(mode));
}

void agent_session_send_mode(struct agent_session *session)
{
    tell_mode(session);
    agent_session_send_options(session);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const enum model_effort efforts[] = {
    MODEL_EFFORT_DEFAULT, MODEL_EFFORT_NONE,  MODEL_EFFORT_LOW, MODEL_EFFORT_MEDIUM,
    MODEL_EFFORT_HIGH,    MODEL_EFFORT_XHIGH, MODEL_EFFORT_MAX};
enum {
    EFFORT_COUNT = sizeof(efforts) / sizeof(efforts[0]),
    CHOICE_COUNT = MODE_COUNT + EFFORT_COUNT + AGENT_MAX_MODELS,
    OPTION_COUNT = 3,
};

static void make_option(struct acp_session_config_option *option, const char *id, const char *name,
                        enum acp_session_config_option_category_is category, const char *value,
                        const struct acp_session_config_select_option *choices, size_t count)
{
    acp_session_config_option_init_select(option, acp_str_from(name), acp_str_from(value));
    option->id = acp_str_from(id);
    option->category.is = category;
    acp_session_config_select_options_init_ungrouped(&option->select.options, choices, count);
}

/* The current options; their values are stored in choices. */
static void list_options(const struct agent_session *session,
                         struct acp_session_config_select_option choices[CHOICE_COUNT],
                         struct acp_session_config_option list[OPTION_COUNT])
{
    struct acp_session_config_select_option *of_modes = choices;
    struct acp_session_config_select_option *of_efforts = of_modes + MODE_COUNT;
    struct acp_session_config_select_option *of_models = of_efforts + EFFORT_COUNT;
    for (size_t i = 0; i < MODE_COUNT; i++) {
        acp_session_config_select_option_init(&of_modes[i],
                                              acp_str_from(acp_policy_mode_name(modes[i].mode)),
                                              acp_str_from(modes[i].name));
        of_modes[i].description = acp_str_from(modes[i].description);
    }
    for (size_t i = 0; i < EFFORT_COUNT; i++)
        acp_session_config_select_option_init(&of_efforts[i],
                                              acp_str_from(model_effort_name(efforts[i])),
                                              acp_str_from(model_effort_name(efforts[i])));
    make_option(&list[0], "mode", "Mode", ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE,
                acp_policy_mode_name(acp_policy_get_mode(session->policy)), of_modes, MODE_COUNT);
    make_option(&list[1], "model", "Model", ACP_SESSION_CONFIG_OPTION_CATEGORY_MODEL,
                agent_session_model(session), of_models,
                agent_session_model_choices(session, of_models));
    make_option(&list[2], "effort", "Effort", ACP_SESSION_CONFIG_OPTION_CATEGORY_THOUGHT_LEVEL,
                model_effort_name(session->effort), of_efforts, EFFORT_COUNT);
}

void agent_session_send_options(struct agent_session *session)
{
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option list[OPTION_COUNT];
    list_options(session, choices, list);
    (void) acp_session_send_options(session->role, list, OPTION_COUNT);
}

static int set_option(struct agent_session *session, struct acp_str id, struct acp_str value,
                      struct acp_failure *failure)
{
    if (acp_str_is(id, "mode"))
        return agent_session_set_mode(session, value, failure);
    if (acp_str_is(id, "model"))
        return agent_session_set_model(session, value, failure);
    if (acp_str_is(id, "effort") && model_effort_find(value, &session->effort)) {
        agent_session_log_settings(session);
        return 0;
    }
    (void) snprintf(failure->message, sizeof(failure->message),
                    "no such option, or no such value for it");
    return ACP_ERR_UNKNOWN;
}

void coding_agent_set_option(struct acp_session *role_session, acp_call call,
                             const struct acp_set_session_config_option_request *request,
                             void *user)
{
    struct agent_session *session = acp_session_user(role_session);
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option list[OPTION_COUNT];
    struct acp_str value =
        request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_ID         ? request->id.value
        : request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_VALUE_ID ? request->value_id.value
                                                                        : acp_str_from("");
    struct acp_failure failure = {0};
    (void) user;
    int err = set_option(session, request->config_id, value, &failure);
    if (err) {
        (void) acp_agent_respond_error(
            acp_session_agent(role_session), call, ACP_ERROR_CODE_INVALID_PARAMS,
            acp_str_from(*failure.message ? failure.message : acp_err_text(err)));
        return;
    }
    list_options(session, choices, list);
    (void) acp_session_reply_set_option(
        role_session, call, (struct acp_session_config_option_list){list, OPTION_COUNT});
    if (acp_str_is(request->config_id, "mode"))
        tell_mode(session);
}

/* ---- Titles ---------------------------------------------------------------------------------- */

int agent_session_use_title(struct agent_session *session, struct acp_str title)
{
    char *copy = acp_str_copy_to_room(title, session->title_room, sizeof(session->title_room));
    if (!copy)
        return ACP_ERR_NOMEM;
    acp_str_free_from_room(session->title, session->title_room);
    session->title = copy;
    return 0;
}

int agent_session_set_title(struct agent_session *session, struct acp_str title)
{
    char cut[AGENT_MAX_NAME];
    if (title.len > AGENT_MAX_NAME)
        title = acp_str_n(cut, acp_utf8_copy_cut(cut, title.ptr, title.len, AGENT_MAX_NAME));
    struct acp_session_info_update info = {.title = title};
    struct store_change change = {.title = title};
    int err = agent_session_use_title(session, title);
    if (err)
        return err;
    agent_session_settle_title(session);
    if (session->log)
        (void) store_log_change(session->log, &change);
    (void) acp_session_send_info(session->role, &info);
    return 0;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static bool has_tool(struct acp_str name, enum acp_tool_kind_is kind, void *user)
{
    const struct agent_session *session = user;
    return agent_overrides_have_tool(&session->overrides, name, kind);
}

/* Another process may have granted or revoked something since. */
static void on_deciding(struct tools *set, void *user)
{
    struct agent_session *session = user;
    const struct coding_agent_options *options = session->agent->options;
    (void) set;
    if (options->ledger && options->ledger_path)
        (void) acp_ledger_refresh_file(options->ledger, options->ledger_path, NULL);
}

static void on_granted(struct tools *set, void *user)
{
    struct agent_session *session = user;
    const struct coding_agent_options *options = session->agent->options;
    (void) set;
    if (options->ledger && options->ledger_path)
        (void) acp_ledger_save_file(options->ledger, options->ledger_path, NULL, NULL, NULL);
}

struct agent_session *agent_session_new(struct coding_agent *agent,
                                        struct acp_session *role_session)
{
    struct agent_session *session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->agent = agent;
    session->role = role_session;
    session->last_used = uv_now(&agent->loop);
    /* Read-only is the fallback where the mode of a stored session is not possible. */
    int err = get_policy(agent, ACP_POLICY_READ_ONLY, &session->policy);
    if (!err)
        err = get_policy(agent, agent->options->mode, &session->policy);
    struct tools_options tools = {
        .box = agent->box,
        .session = role_session,
        .jobs = agent->jobs,
        .policy = session->policy,
        .ledger = agent->options->ledger,
        .always = ACP_GRANT_PROJECT,
        .find = agent_session_find_server_tool,
        .name = agent_session_name_server_tool,
        .has = has_tool,
        .deciding = on_deciding,
        .granted = on_granted,
        .shown = agent_session_log_output,
        .user = session,
    };
    if (!err)
        err = tools_new(&tools, &session->tools);
    if (!err)
        err = history_new(&agent->history_bytes, &session->history);
    if (err) {
        agent_session_free(session);
        return NULL;
    }
    acp_session_set_user(role_session, session);
    agent->sessions++;
    session->next = agent->first;
    agent->first = session;
    coding_agent_list_models(agent);
    return session;
}

void agent_session_free(struct agent_session *session)
{
    if (!session)
        return;
    agent_session_cancel_open(session);
    tools_free(session->tools);
    agent_session_stop_servers(session);
    agent_session_cancel_title(session);
    history_free(session->history);
    agent_session_free_context(session);
    if (session->log)
        store_log_close(session->log);
    acp_str_free_from_room(session->title, session->title_room);
    free(session->model);
    free(session->warning);
    agent_overrides_finish(&session->overrides);
    free(session);
}

/* False if the client does not know the session yet. */
static bool send_title(struct agent_session *session)
{
    struct acp_session_info_update info = {.title = acp_str_from(session->title)};
    return acp_session_send_info(session->role, &info) == 0;
}

/* The state is OPEN in the end, so that the title of a stored session is not logged again. */
int agent_session_accept(struct agent_session *session)
{
    struct acp_session_mode list[MODE_COUNT];
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option options[OPTION_COUNT];
    struct acp_session_setup setup = {
        .current_mode = acp_str_from(acp_policy_mode_name(acp_policy_get_mode(session->policy)))};
    list_modes(list);
    list_options(session, choices, options);
    setup.modes = (struct acp_session_mode_list){list, MODE_COUNT};
    setup.options = (struct acp_session_config_option_list){options, OPTION_COUNT};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    setup.commands = agent_session_commands(session, &arena);
    bool is_title_sent = !session->title || send_title(session);
    int err = acp_session_accept(session->role, &setup);
    acp_arena_finish(&arena);
    if (!err && !is_title_sent)
        (void) send_title(session);
    if (!err)
        agent_session_set_state(session, AGENT_SESSION_OPEN);
    return err;
}

bool coding_agent_is_folder(struct acp_str path)
{
    char *copy = acp_str_copy(path);
    struct stat found;
    bool is = copy && stat(copy, &found) == 0 && S_ISDIR(found.st_mode);
    free(copy);
    return is;
}

/* Without a folder an agent can do nothing, and the client should hear of that now. */
bool coding_agent_check_folder(struct acp_session *role_session)
{
    struct acp_str cwd = acp_session_cwd(role_session);
    char sentence[300];
    if (coding_agent_is_folder(cwd))
        return true;
    (void) snprintf(sentence, sizeof(sentence), "Invalid params: no such folder: %.*s",
                    (int) cwd.len, cwd.ptr);
    (void) acp_session_reject(role_session, ACP_ERROR_CODE_INVALID_PARAMS, acp_str_from(sentence));
    return false;
}

/* Who asks for a sandbox does not want to run without one. */
static bool has_sandbox(struct coding_agent *agent, struct acp_session *role_session)
{
    struct acp_failure failure = {0};
    if (agent->options->mode != ACP_POLICY_SANDBOX || toolbox_has_sandbox(agent->box, &failure))
        return true;
    (void) acp_session_reject(role_session, ACP_ERROR_CODE_INTERNAL_ERROR,
                              acp_str_from(failure.message));
    return false;
}

static int open_new(struct agent_session *session)
{
    char id[STORE_ID_SIZE];
    if (coding_agent_find_chat(session->agent, session->chat) && session->agent->worker)
        return agent_session_open_chat(session);
    store_new_id(id);
    int err = acp_session_set_id(session->role, acp_str_from(id));
    if (err)
        return err;
    (void) agent_session_begin_log(session);
    return agent_session_accept(session);
}

void coding_agent_new_session(struct acp_session *role_session,
                              const struct acp_new_session_request *request, void *user)
{
    struct coding_agent *agent = user;
    if (!coding_agent_check_folder(role_session) ||
        !coding_agent_check_servers(role_session, request->mcp_servers) ||
        !has_sandbox(agent, role_session))
        return;
    struct agent_session *session = agent_session_new(agent, role_session);
    if (session)
        agent_session_read_overrides(session, request->meta);
    if (!session)
        (void) acp_session_reject(role_session, ACP_ERROR_CODE_INTERNAL_ERROR,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
    else if (open_new(session))
        agent_session_reject(session, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(ACP_ERR_NOMEM));
    else
        agent_session_start_servers(session, request->mcp_servers);
}

/* What is in the log remains. */
static void close_session(struct agent_session *session)
{
    struct coding_agent *agent = session->agent;
    struct agent_session **link = &agent->first;
    acp_session_set_user(session->role, NULL);
    agent->sessions--;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    if (session->turn)
        agent_turn_abandon(session->turn);
    agent_session_set_state(session, AGENT_SESSION_CLOSED);
    agent_session_free(session);
}

void agent_session_reject(struct agent_session *session, int64_t code, const char *sentence)
{
    struct acp_session *role_session = session->role;
    close_session(session);
    (void) acp_session_reject(role_session, code, acp_str_from(sentence));
}

void coding_agent_end_session(struct acp_session *role_session, void *user)
{
    struct agent_session *session = acp_session_user(role_session);
    (void) user;
    if (session)
        close_session(session);
}
