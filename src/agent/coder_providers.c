/*
 * coder_providers.c - where the model is asked, as the client sets it: providers/list,
 * providers/set and providers/disable.
 *
 * There is one provider, "main", for all sessions of the process, and what is set ends with it.
 * Setting it replaces all of it, the key of the environment included: what a client names as the
 * address never gets a key that was meant for another.  Answers that are on their way come to their
 * end.  Disabling it ends them at once, and turns fail with a sentence until it is set again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/coder_inside.h"
#include "http/client.h"

enum { CODE_NO_METHOD = -32601, CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

static const char provider_id[] = "main";

/* What the protocol, or an underscore where it has no word, calls the APIs. */
static const struct api {
    enum model_api api;
    enum acp_llm_protocol_is is;
    const char *name;
    const char *version; /* with which addresses are given, though our paths begin with it */
} apis[] = {
    {MODEL_ANTHROPIC, ACP_LLM_PROTOCOL_ANTHROPIC, "anthropic", "/v1"},
    {MODEL_CHAT, ACP_LLM_PROTOCOL_OPENAI, "openai", NULL},
    {MODEL_RESPONSES, ACP_LLM_PROTOCOL_UNLISTED, "_openai-responses", NULL},
    {MODEL_GEMINI, ACP_LLM_PROTOCOL_UNLISTED, "_gemini", "/v1beta"},
    {MODEL_DEMO, ACP_LLM_PROTOCOL_UNLISTED, "_demo", NULL}, /* the last: it cannot be set */
};
enum { API_COUNT = sizeof(apis) / sizeof(apis[0]), CAN_BE_SET = API_COUNT - 1 };

static struct acp_llm_protocol protocol_at(size_t i)
{
    return (struct acp_llm_protocol){.is = apis[i].is, .text = acp_str(apis[i].name)};
}

/* ---- The list -------------------------------------------------------------------------------- */

/* An address of the environment may hold a password, or a key behind a question mark. */
static int write_url(const char *url, struct acp_buf *out)
{
    const char *place = http_place(acp_str(url)).ptr;
    const char *scheme_end = strstr(url, "://");
    if (!scheme_end)
        return acp_buf_append_str(out, acp_str("demo:offline"));
    return acp_buf_printf(out, "%.*s://%.*s", (int) (scheme_end - url), url,
                          (int) strcspn(place, "?#"), place);
}

static void list_providers(struct coder *coder, struct acp_agent *agent, acp_call call)
{
    struct acp_llm_protocol supported[CAN_BE_SET];
    struct acp_provider_info info;
    struct acp_provider_current_config current = {0};
    struct acp_list_providers_response response;
    struct acp_buf url;
    for (size_t i = 0; i < CAN_BE_SET; i++)
        supported[i] = protocol_at(i);
    acp_provider_info_init(&info, acp_str(provider_id), supported, CAN_BE_SET, false);
    acp_buf_init(&url, 1 << 20);
    int err = write_url(model_service_url(coder->service), &url);
    for (size_t i = 0; i < API_COUNT; i++)
        if (apis[i].api == model_service_api(coder->service))
            current.api_type = protocol_at(i);
    current.base_url = acp_buf_view(&url);
    if (!coder->disabled)
        info.current = &current;
    acp_list_providers_response_init(&response, &info, 1);
    if (err)
        (void) acp_agent_refuse(agent, call, CODE_INTERNAL, acp_str(acp_err_text(err)));
    else
        (void) acp_agent_answer(agent, call, ACP_TYPE_LIST_PROVIDERS_RESPONSE, &response);
    acp_buf_finish(&url);
}

/* ---- Setting --------------------------------------------------------------------------------- */

static int refuse(struct acp_failure *failure, const char *sentence)
{
    *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
    (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    return ACP_ERR_ARGUMENT;
}

/* NULL when it is none of those that can be set. */
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

static int read_settings(const struct coder *coder, const struct acp_set_provider_request *request,
                         char *url, struct model_settings *ret, struct acp_failure *failure)
{
    const char *scheme_end = strstr(url, "://");
    if (!acp_str_is(request->provider_id, provider_id))
        return refuse(failure, "there is no such provider; providers/list tells those that are");
    /* They would be told by providers/list, and by whoever says where something failed. */
    if (scheme_end && http_place(acp_str(url)).ptr != scheme_end + 3)
        return refuse(failure, "the baseUrl holds no user or password: send those as headers");
    const struct api *api = find_api(&request->api_type);
    if (!api)
        return refuse(failure,
                      "this apiType is not supported; providers/list tells those that are");
    *ret = (struct model_settings){
        .api = api->api,
        .headers = request->headers,
        .base_url = url,
        .facts = coder->options->facts,
        .stall_ms = coder->options->stall_ms,
    };
    cut_version(api, url);
    /* A model that was chosen for one API says nothing to another. */
    ret->model = ret->api == model_service_api(coder->service) ? model_service_model(coder->service)
                                                               : model_api_model(ret->api);
    if (coder->options->model)
        ret->model = coder->options->model;
    return 0;
}

/* From now on this one is asked. */
static void use_service(struct coder *coder, struct model_service *service)
{
    bool other_api = model_service_api(service) != model_service_api(coder->service);
    coder_forget_models(coder);
    model_service_free(coder->service);
    coder->service = service;
    coder->disabled = false;
    coder->asked_models = false;
    if (coder->first)
        coder_list_models(coder);
    for (struct coding *coding = coder->first; coding; coding = coding->next) {
        if (other_api) {
            free(coding->model);
            coding->model = NULL;
        }
        coding_tell_options(coding);
    }
}

static int set_provider(struct coder *coder, const struct acp_set_provider_request *request,
                        struct acp_failure *failure)
{
    struct model_settings settings;
    struct model_service *service = NULL;
    char *url = malloc(request->base_url.len + 1);
    if (!url)
        return ACP_ERR_NOMEM;
    memcpy(url, request->base_url.ptr, request->base_url.len);
    url[request->base_url.len] = '\0';
    int err = read_settings(coder, request, url, &settings, failure);
    if (!err)
        err = model_service_new(&coder->loop, coder->http, &settings, &service, failure);
    free(url);
    if (!err)
        use_service(coder, service);
    return err;
}

/* ---- Disabling ------------------------------------------------------------------------------- */

static void disable(struct coder *coder)
{
    coder->disabled = true;
    for (struct coding *coding = coder->first; coding; coding = coding->next) {
        coding_drop_title(coding);
        if (coding->work && coding->work->reply)
            model_reply_cancel(coding->work->reply);
    }
}

/* ---- The requests ---------------------------------------------------------------------------- */

void coder_request(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                   const void *params, const struct acp_message *message, void *user)
{
    struct coder *coder = user;
    struct acp_failure failure = {0};
    (void) message;
    if (method->id == ACP_METHOD_PROVIDERS_LIST) {
        list_providers(coder, agent, call);
    } else if (method->id == ACP_METHOD_PROVIDERS_SET) {
        struct acp_set_provider_response done = {0};
        int err = set_provider(coder, params, &failure);
        if (err)
            (void) acp_agent_refuse(
                agent, call, err == ACP_ERR_ARGUMENT ? CODE_PARAMS : CODE_INTERNAL,
                acp_str(*failure.message ? failure.message : acp_err_text(err)));
        else
            (void) acp_agent_answer(agent, call, method->result, &done);
    } else if (method->id == ACP_METHOD_PROVIDERS_DISABLE) {
        const struct acp_disable_provider_request *request = params;
        struct acp_disable_provider_response done = {0};
        if (acp_str_is(request->provider_id, provider_id))
            disable(coder);
        (void) acp_agent_answer(agent, call, method->result, &done);
    } else {
        (void) acp_agent_refuse(agent, call, CODE_NO_METHOD, acp_str("Method not found"));
    }
}
