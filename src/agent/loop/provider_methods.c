/*
 * provider_methods.c - providers as the client sets them: providers/list, providers/set and
 * providers/disable.
 *
 * "main" is the provider of the default model; the others have their ids.  Settings are for all
 * sessions and end with the process.  Setting a provider replaces all of its settings, including a
 * key from the environment: an address that the client has set never gets a key meant for another
 * one.  Requests to the model that are under way continue.  Disabling a provider cancels them, and
 * turns fail until it is set again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "http/http_client.h"

static const char main_id[] = "main";

/* The APIs by their names in the protocol, or with an underscore if it has none. */
static const struct api {
    enum model_api api;
    enum acp_llm_protocol_is is;
    const char *name;
    const char *version; /* end of the given addresses that our paths repeat */
} apis[] = {
    {MODEL_ANTHROPIC, ACP_LLM_PROTOCOL_ANTHROPIC, "anthropic", "/v1"},
    {MODEL_CHAT, ACP_LLM_PROTOCOL_OPENAI, "openai", NULL},
    {MODEL_RESPONSES, ACP_LLM_PROTOCOL_UNLISTED, "_openai-responses", NULL},
    {MODEL_GEMINI, ACP_LLM_PROTOCOL_UNLISTED, "_gemini", "/v1beta"},
    {MODEL_DEMO, ACP_LLM_PROTOCOL_UNLISTED, "_demo", NULL}, /* last, since it cannot be set */
};
enum { API_COUNT = sizeof(apis) / sizeof(apis[0]), CAN_BE_SET = API_COUNT - 1 };

static struct acp_llm_protocol protocol_at(size_t i)
{
    return (struct acp_llm_protocol){.is = apis[i].is, .text = acp_str_from(apis[i].name)};
}

/* ---- The list -------------------------------------------------------------------------------- */

static struct acp_str default_provider(const struct coding_agent *agent)
{
    return acp_str_n(agent->model, strcspn(agent->model, "/"));
}

bool agent_session_is_disabled(const struct agent_session *session)
{
    const struct coding_agent *agent = session->agent;
    return agent->disabled && acp_str_eq(agent_session_provider(session), default_provider(agent));
}

/* An address from the environment may have a password in it, or a key after a question mark. */
static int write_url(const char *url, struct acp_buf *out)
{
    const char *place = http_place(acp_str_from(url)).ptr;
    const char *scheme_end = strstr(url, "://");
    if (!scheme_end)
        return acp_buf_append_str(out, acp_str_from("demo:offline"));
    return acp_buf_printf(out, "%.*s://%.*s", (int) (scheme_end - url), url,
                          (int) strcspn(place, "?#"), place);
}

/* A provider of the list. */
struct row {
    struct acp_provider_current_config current;
    struct acp_buf url;
};

static int make_row(const struct coding_agent *agent, size_t index,
                    const struct acp_llm_protocol *all, struct row *row,
                    struct acp_provider_info *info)
{
    const char *id = model_catalog_id(agent->catalog, index);
    const struct model_service *service = model_catalog_service(agent->catalog, index);
    bool is_main = acp_str_is(default_provider(agent), id);
    acp_provider_info_init(info, acp_str_from(is_main ? main_id : id), all, CAN_BE_SET, false);
    row->current = (struct acp_provider_current_config){0};
    acp_buf_init(&row->url, 1 << 20);
    int err = write_url(model_service_url(service), &row->url);
    for (size_t i = 0; i < API_COUNT; i++)
        if (apis[i].api == model_service_api(service))
            row->current.api_type = protocol_at(i);
    row->current.base_url = acp_buf_view(&row->url);
    if (!is_main || !agent->disabled)
        info->current = &row->current;
    return err;
}

static void list_providers(struct coding_agent *agent, struct acp_agent *role_agent, acp_call call)
{
    size_t count = model_catalog_count(agent->catalog);
    struct acp_llm_protocol supported[CAN_BE_SET];
    struct acp_list_providers_response response;
    struct acp_provider_info *infos = calloc(count + 1, sizeof(*infos));
    struct row *rows = calloc(count + 1, sizeof(*rows));
    int err = infos && rows ? 0 : ACP_ERR_NOMEM;
    size_t made = 0;
    for (size_t i = 0; i < CAN_BE_SET; i++)
        supported[i] = protocol_at(i);
    /* The default comes first. */
    size_t first = 0;
    while (first < count &&
           !acp_str_is(default_provider(agent), model_catalog_id(agent->catalog, first)))
        first++;
    for (; !err && made < count; made++) {
        size_t at = made == 0 ? first : made <= first ? made - 1 : made;
        err = make_row(agent, at, supported, &rows[made], &infos[made]);
    }
    acp_list_providers_response_init(&response, infos, count);
    if (err)
        (void) acp_agent_respond_error(role_agent, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                       acp_str_from(acp_err_text(err)));
    else
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_LIST_PROVIDERS_RESPONSE, &response);
    for (size_t i = 0; i < made; i++)
        acp_buf_finish(&rows[i].url);
    free(rows);
    free(infos);
}

/* ---- Setting --------------------------------------------------------------------------------- */

static int refuse(struct acp_failure *failure, const char *sentence)
{
    *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
    (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    return ACP_ERR_ARGUMENT;
}

/* NULL if it is not one of those that can be set. */
static const struct api *find_api(const struct acp_llm_protocol *protocol)
{
    for (size_t i = 0; i < CAN_BE_SET; i++) {
        bool same = apis[i].is == ACP_LLM_PROTOCOL_UNLISTED
                        ? acp_str_is(protocol->text, apis[i].name)
                        : protocol->is == apis[i].is;
        if (same)
            return &apis[i];
    }
    return NULL;
}

static void cut_version(const struct api *api, char *url)
{
    size_t n = strlen(url);
    size_t m = api->version ? strlen(api->version) : 0;
    while (n && url[n - 1] == '/')
        url[--n] = '\0';
    if (m && n > m && strcmp(url + n - m, api->version) == 0)
        url[n - m] = '\0';
}

/* "main", the id of a known provider, or of one in the catalog; NULL otherwise. */
static const char *find_id(const struct coding_agent *agent, struct acp_str id)
{
    const struct model_provider *provider = model_provider_find(id);
    if (acp_str_is(id, main_id))
        return main_id;
    if (provider)
        return provider->id;
    for (size_t i = 0; i < model_catalog_count(agent->catalog); i++)
        if (acp_str_is(id, model_catalog_id(agent->catalog, i)))
            return model_catalog_id(agent->catalog, i);
    return NULL;
}

static int read_settings(const struct coding_agent *agent,
                         const struct acp_set_provider_request *request, char *url,
                         struct model_settings *ret, struct acp_failure *failure)
{
    const char *scheme_end = strstr(url, "://");
    if (!find_id(agent, request->provider_id))
        return refuse(failure, "no such provider; providers/list has the known ones");
    /* providers/list and error messages would show them. */
    if (scheme_end && http_place(acp_str_from(url)).ptr != scheme_end + 3)
        return refuse(failure, "baseUrl must not contain a user or password; send them as headers");
    const struct api *api = find_api(&request->api_type);
    if (!api)
        return refuse(failure,
                      "this apiType is not supported; providers/list has the supported ones");
    *ret = (struct model_settings){
        .api = api->api,
        .headers = request->headers,
        .base_url = url,
        .model = model_api_model(api->api),
    };
    cut_version(api, url);
    return 0;
}

/* The provider of the default model, and of sessions whose model was of the old one. */
static int use_main(struct coding_agent *agent, const struct model_settings *settings,
                    struct acp_failure *failure)
{
    struct model_service *old = model_catalog_find(agent->catalog, default_provider(agent));
    bool same_api = old && model_service_api(old) == settings->api;
    struct model_settings own = *settings;
    char *was = acp_str_dup(default_provider(agent));
    /* The name of a model means nothing to another API. */
    const char *slash = strchr(agent->model, '/');
    char *model = acp_str_dup(acp_str_from(same_api && slash ? slash + 1 : settings->model));
    own.model = model;
    int err =
        was && model ? coding_agent_add_provider(agent, main_id, &own, failure) : ACP_ERR_NOMEM;
    if (!err)
        err = coding_agent_set_default(agent, main_id, acp_str_from(model));
    for (struct agent_session *session = agent->first; session && !err; session = session->next)
        if (session->model && acp_str_is(agent_session_provider(session), was))
            err = agent_session_change_provider(session, same_api ? main_id : NULL);
    agent->disabled = err ? agent->disabled : false;
    free(was);
    free(model);
    return err;
}

static int set_provider(struct coding_agent *agent, const struct acp_set_provider_request *request,
                        struct acp_failure *failure)
{
    struct model_settings settings;
    char *url = acp_str_dup(request->base_url);
    if (!url)
        return ACP_ERR_NOMEM;
    int err = read_settings(agent, request, url, &settings, failure);
    if (!err && acp_str_is(request->provider_id, main_id))
        err = use_main(agent, &settings, failure);
    else if (!err)
        err = coding_agent_add_provider(agent, find_id(agent, request->provider_id), &settings,
                                        failure);
    free(url);
    if (err)
        return err;
    if (agent->first)
        coding_agent_list_models(agent);
    for (struct agent_session *session = agent->first; session; session = session->next)
        agent_session_send_options(session);
    return 0;
}

/* ---- Disabling ------------------------------------------------------------------------------- */

static void end_replies(struct coding_agent *agent, struct acp_str id)
{
    for (struct agent_session *session = agent->first; session; session = session->next) {
        if (!acp_str_eq(agent_session_provider(session), id))
            continue;
        agent_session_cancel_title(session);
        if (session->turn && session->turn->reply)
            model_reply_cancel(session->turn->reply);
    }
}

static void disable(struct coding_agent *agent, struct acp_str id)
{
    bool is_main = acp_str_is(id, main_id) || acp_str_eq(id, default_provider(agent));
    end_replies(agent, is_main ? default_provider(agent) : id);
    if (is_main)
        agent->disabled = true;
    else
        model_catalog_remove(agent->catalog, id);
    for (struct agent_session *session = agent->first; session && !is_main; session = session->next)
        agent_session_send_options(session);
}

/* ---- The requests ---------------------------------------------------------------------------- */

void coding_agent_request(struct acp_agent *role_agent, acp_call call,
                          const struct acp_method *method, const void *params,
                          const struct acp_message *message, void *user)
{
    struct coding_agent *agent = user;
    struct acp_failure failure = {0};
    (void) message;
    if (method->id == ACP_METHOD_PROVIDERS_LIST) {
        list_providers(agent, role_agent, call);
    } else if (method->id == ACP_METHOD_PROVIDERS_SET) {
        struct acp_set_provider_response done = {0};
        int err = set_provider(agent, params, &failure);
        if (err)
            (void) acp_agent_respond_error(
                role_agent, call,
                err == ACP_ERR_ARGUMENT ? ACP_ERROR_CODE_INVALID_PARAMS
                                        : ACP_ERROR_CODE_INTERNAL_ERROR,
                acp_str_from(*failure.message ? failure.message : acp_err_text(err)));
        else
            (void) acp_agent_respond(role_agent, call, method->result, &done);
    } else if (method->id == ACP_METHOD_PROVIDERS_DISABLE) {
        const struct acp_disable_provider_request *request = params;
        struct acp_disable_provider_response done = {0};
        disable(agent, request->provider_id);
        (void) acp_agent_respond(role_agent, call, method->result, &done);
    } else {
        (void) acp_agent_respond_error(role_agent, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                                       acp_str_from("Method not found"));
    }
}
