/* session.c - sessions: what they begin with, their modes and options. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "cli/output.h"

enum { CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

/* ---- Modes ----------------------------------------------------------------------------------- */

static const struct {
    enum acp_policy_mode mode;
    const char *name;
    const char *description;
} modes[] = {
    {ACP_POLICY_SAFE, "Safe", "Reads as it likes, asks before it changes or runs anything"},
    {ACP_POLICY_READ_ONLY, "Read only", "Looks, and changes nothing"},
    {ACP_POLICY_SANDBOX, "Sandbox", "Works by itself in a jail without network"},
    {ACP_POLICY_FULL, "Full", "Does what it thinks right, without asking"},
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

/* A policy for each mode, which all sessions that are in it share. */
static int get_policy(struct coder *coder, enum acp_policy_mode mode, const struct acp_policy **ret)
{
    struct acp_policy **policy = &coder->policies[mode];
    int err = *policy ? 0 : acp_policy_copy(coder->options->policy, policy);
    if (!err)
        acp_policy_set_mode(*policy, mode);
    *ret = *policy;
    return err;
}

int coding_use_mode(struct coding *coding, enum acp_policy_mode mode)
{
    const struct acp_policy *policy;
    int err = get_policy(coding->coder, mode, &policy);
    if (err)
        return err;
    coding->policy = policy;
    tools_set_policy(coding->tools, policy);
    return 0;
}

int coding_set_mode(struct coding *coding, struct acp_str mode, struct acp_failure *failure)
{
    enum acp_policy_mode found;
    if (!acp_policy_mode_find(mode, &found)) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "there is no mode '%.*s'; there are safe, read-only, sandbox and full",
                        (int) mode.len, mode.ptr);
        return ACP_ERR_UNKNOWN;
    }
    if (found == ACP_POLICY_SANDBOX && !toolbox_has_jail(coding->coder->box, failure))
        return ACP_ERR_STATE;
    int err = coding_use_mode(coding, found);
    if (err) {
        (void) snprintf(failure->message, sizeof(failure->message), "%s", acp_err_text(err));
        return err;
    }
    coding_log_settings(coding);
    return 0;
}

void coder_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    struct coding *coding = acp_session_user(session);
    struct acp_failure failure = {0};
    (void) user;
    if (coding_set_mode(coding, mode, &failure)) {
        (void) acp_agent_respond_error(acp_session_agent(session), call, CODE_PARAMS,
                                       acp_str_from(failure.message));
        return;
    }
    (void) acp_session_reply_set_mode(session, call, mode);
    coding_tell_options(coding); /* the mode is one of them */
}

/* Version 1 alone has modes besides the option. */
static void tell_mode(struct coding *coding)
{
    const char *mode = acp_policy_mode_name(acp_policy_get_mode(coding->policy));
    if (acp_agent_protocol(acp_session_agent(coding->session)) & ACP_V1)
        (void) acp_session_send_mode(coding->session, acp_str_from(mode));
}

void coding_tell_mode(struct coding *coding)
{
    tell_mode(coding);
    coding_tell_options(coding);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const enum model_effort efforts[] = {
    MODEL_EFFORT_DEFAULT, MODEL_EFFORT_NONE,  MODEL_EFFORT_LOW, MODEL_EFFORT_MEDIUM,
    MODEL_EFFORT_HIGH,    MODEL_EFFORT_XHIGH, MODEL_EFFORT_MAX};
enum {
    EFFORT_COUNT = sizeof(efforts) / sizeof(efforts[0]),
    CHOICE_COUNT = MODE_COUNT + EFFORT_COUNT + CODER_MAX_MODELS,
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

/* The options as they are now; choices is where their values are. */
static void list_options(const struct coding *coding,
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
                acp_policy_mode_name(acp_policy_get_mode(coding->policy)), of_modes, MODE_COUNT);
    make_option(&list[1], "model", "Model", ACP_SESSION_CONFIG_OPTION_CATEGORY_MODEL,
                coding_model(coding), of_models, coding_model_choices(coding, of_models));
    make_option(&list[2], "effort", "Effort", ACP_SESSION_CONFIG_OPTION_CATEGORY_THOUGHT_LEVEL,
                model_effort_name(coding->effort), of_efforts, EFFORT_COUNT);
}

void coding_tell_options(struct coding *coding)
{
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option list[OPTION_COUNT];
    list_options(coding, choices, list);
    (void) acp_session_send_options(coding->session, list, OPTION_COUNT);
}

static int set_option(struct coding *coding, struct acp_str id, struct acp_str value,
                      struct acp_failure *failure)
{
    if (acp_str_is(id, "mode"))
        return coding_set_mode(coding, value, failure);
    if (acp_str_is(id, "model"))
        return coding_set_model(coding, value, failure);
    if (acp_str_is(id, "effort") && model_effort_find(value, &coding->effort)) {
        coding_log_settings(coding);
        return 0;
    }
    (void) snprintf(failure->message, sizeof(failure->message),
                    "there is no such option, or no such value");
    return ACP_ERR_UNKNOWN;
}

void coder_set_option(struct acp_session *session, acp_call call,
                      const struct acp_set_session_config_option_request *request, void *user)
{
    struct coding *coding = acp_session_user(session);
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option list[OPTION_COUNT];
    struct acp_str value =
        request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_ID         ? request->id.value
        : request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_VALUE_ID ? request->value_id.value
                                                                        : acp_str_from("");
    struct acp_failure failure = {0};
    (void) user;
    int err = set_option(coding, request->config_id, value, &failure);
    if (err) {
        (void) acp_agent_respond_error(
            acp_session_agent(session), call, CODE_PARAMS,
            acp_str_from(*failure.message ? failure.message : acp_err_text(err)));
        return;
    }
    list_options(coding, choices, list);
    (void) acp_session_reply_set_option(
        session, call, (struct acp_session_config_option_list){list, OPTION_COUNT});
    if (acp_str_is(request->config_id, "mode"))
        tell_mode(coding);
}

/* ---- Titles ---------------------------------------------------------------------------------- */

int coding_keep_title(struct coding *coding, struct acp_str title)
{
    char *copy = acp_str_copy(title);
    if (!copy)
        return ACP_ERR_NOMEM;
    free(coding->title);
    coding->title = copy;
    return 0;
}

int coding_set_title(struct coding *coding, struct acp_str title)
{
    char cut[CODER_MAX_NAME];
    if (title.len > CODER_MAX_NAME)
        title = acp_str_n(cut, acp_utf8_copy_cut(cut, title.ptr, title.len, CODER_MAX_NAME));
    struct acp_session_info_update info = {.title = title};
    struct store_change change = {.title = title};
    int err = coding_keep_title(coding, title);
    if (err)
        return err;
    coding->title_wanted = false;
    if (coding->log)
        (void) store_log_change(coding->log, &change);
    (void) acp_session_send_info(coding->session, &info);
    return 0;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void on_granted(struct tools *set, void *user)
{
    struct coding *coding = user;
    const struct coder_options *options = coding->coder->options;
    (void) set;
    if (options->ledger && options->ledger_path)
        (void) acp_ledger_save_file(options->ledger, options->ledger_path, NULL, NULL, NULL);
}

struct coding *coding_new(struct coder *coder, struct acp_session *session)
{
    struct coding *coding = calloc(1, sizeof(*coding));
    if (!coding)
        return NULL;
    coding->coder = coder;
    coding->session = session;
    coding->used = uv_now(&coder->loop);
    /* Who cannot have the mode that they had before must be able to have this one. */
    int err = get_policy(coder, ACP_POLICY_READ_ONLY, &coding->policy);
    if (!err)
        err = get_policy(coder, coder->options->mode, &coding->policy);
    struct tools_options tools = {
        .box = coder->box,
        .session = session,
        .jobs = coder->jobs,
        .policy = coding->policy,
        .ledger = coder->options->ledger,
        .always = ACP_GRANT_PROJECT,
        .find = coder_find_server_tool,
        .name = coder_name_server_tool,
        .granted = on_granted,
        .shown = coding_log_output,
        .user = coding,
    };
    if (!err)
        err = tools_new(&tools, &coding->tools);
    if (!err)
        err = history_new(&coder->history_bytes, &coding->history);
    if (err) {
        coding_free(coding);
        return NULL;
    }
    acp_session_set_user(session, coding);
    coder->sessions++;
    coding->next = coder->first;
    coder->first = coding;
    coder_list_models(coder);
    return coding;
}

void coding_free(struct coding *coding)
{
    if (!coding)
        return;
    coding_end_fork(coding);
    tools_free(coding->tools);
    coding_end_servers(coding);
    coding_drop_title(coding);
    history_free(coding->history);
    coding_free_context(coding);
    if (coding->log)
        store_log_close(coding->log);
    free(coding->title);
    free(coding->model);
    free(coding->warning);
    free(coding);
}

/* The title that is in the log already.  False when the client cannot know the session yet. */
static bool tell_title(struct coding *coding)
{
    struct acp_session_info_update info = {.title = acp_str_from(coding->title)};
    coding->repeating = true;
    int err = acp_session_send_info(coding->session, &info);
    coding->repeating = false;
    return err == 0;
}

int coding_accept(struct coding *coding)
{
    struct acp_session_mode list[MODE_COUNT];
    struct acp_session_config_select_option choices[CHOICE_COUNT];
    struct acp_session_config_option options[OPTION_COUNT];
    struct acp_session_setup setup = {
        .current_mode = acp_str_from(acp_policy_mode_name(acp_policy_get_mode(coding->policy)))};
    list_modes(list);
    list_options(coding, choices, options);
    setup.modes = (struct acp_session_mode_list){list, MODE_COUNT};
    setup.options = (struct acp_session_config_option_list){options, OPTION_COUNT};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    setup.commands = coder_commands(coding, &arena);
    bool told = !coding->title || tell_title(coding);
    int err = acp_session_accept(coding->session, &setup);
    acp_arena_finish(&arena);
    if (!err && !told)
        (void) tell_title(coding);
    return err;
}

bool coder_is_folder(struct acp_str path)
{
    char *copy = acp_str_copy(path);
    struct stat found;
    bool is = copy && stat(copy, &found) == 0 && S_ISDIR(found.st_mode);
    free(copy);
    return is;
}

/* An agent without a place to work in can do nothing; better that is told now. */
bool coder_has_folder(struct acp_session *session)
{
    struct acp_str cwd = acp_session_cwd(session);
    char sentence[300];
    if (coder_is_folder(cwd))
        return true;
    (void) snprintf(sentence, sizeof(sentence), "Invalid params: there is no folder %.*s",
                    (int) cwd.len, cwd.ptr);
    (void) acp_session_reject(session, CODE_PARAMS, acp_str_from(sentence));
    return false;
}

/* Who wants a sandbox does not want to go on without one. */
static bool has_jail(struct coder *coder, struct acp_session *session)
{
    struct acp_failure failure = {0};
    if (coder->options->mode != ACP_POLICY_SANDBOX || toolbox_has_jail(coder->box, &failure))
        return true;
    (void) acp_session_reject(session, CODE_INTERNAL, acp_str_from(failure.message));
    return false;
}

void coder_new_session(struct acp_session *session, const struct acp_new_session_request *request,
                       void *user)
{
    struct coder *coder = user;
    char id[STORE_ID_SIZE];
    char chat[CODER_CHAT_SIZE] = "";
    struct acp_failure failure = {0};
    if (!coder_has_folder(session) || !has_jail(coder, session))
        return;
    /* One that is open here already is not opened twice: the chat gets another then. */
    bool known = coder_find_chat(coder, chat) && coder_session_of_chat(coder, chat, id) &&
                 !acp_agent_find_session(acp_session_agent(session), acp_str_from(id));
    if (!known)
        store_new_id(id);
    int err = acp_session_set_id(session, acp_str_from(id));
    struct coding *coding = err ? NULL : coding_new(coder, session);
    bool later = false; /* it is accepted when the log is open */
    if (coding) {
        (void) memcpy(coding->chat, chat, sizeof(chat));
        later = known && coding_open_again(coding, false, &failure) == 0;
        if (known && !later)
            err_printf("acp agent: the chat's session cannot be read: %s\n", failure.message);
        if (!known)
            (void) coding_begin_log(coding);
    }
    if (!coding)
        (void) acp_session_reject(session, CODE_INTERNAL,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
    else if (!later && coding_accept(coding))
        coding_refuse(coding, CODE_INTERNAL, acp_err_text(ACP_ERR_NOMEM));
    else
        coding_start_servers(coding, request->mcp_servers);
}

/* Nothing of it is left but what is in the log. */
static void end_coding(struct coding *coding)
{
    struct coder *coder = coding->coder;
    struct coding **link = &coder->first;
    acp_session_set_user(coding->session, NULL);
    coder->sessions--;
    while (*link != coding)
        link = &(*link)->next;
    *link = coding->next;
    if (coding->work)
        work_abandon(coding->work);
    coding_free(coding);
}

void coding_refuse(struct coding *coding, int64_t code, const char *sentence)
{
    struct acp_session *session = coding->session;
    end_coding(coding);
    (void) acp_session_reject(session, code, acp_str_from(sentence));
}

void coder_end_session(struct acp_session *session, void *user)
{
    struct coding *coding = acp_session_user(session);
    (void) user;
    if (coding)
        end_coding(coding);
}
