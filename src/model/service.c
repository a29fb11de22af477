/* A service: its API, address and key, and what is known of its models. */
#include "model/service.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"

/* ---- Birth and death ------------------------------------------------------------------------- */

static int check_url(const char *url, struct acp_failure *failure)
{
    bool is_http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (is_http && http_place(acp_str_from(url)).len)
        return 0;
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the base URL of a model service begins with http:// or https://");
    }
    return ACP_ERR_ARGUMENT;
}

static int copy_text(char **ret, struct acp_str text)
{
    *ret = acp_str_copy(text);
    return *ret ? 0 : ACP_ERR_NOMEM;
}

/* The place is a better name than that of the API when somebody else speaks it. */
static int name_service(struct model_service *service, const struct model_settings *settings)
{
    if (settings->name)
        return copy_text(&service->name, acp_str_from(settings->name));
    if (!service->dialect)
        return copy_text(&service->name, acp_str_from("the demo model"));
    if (settings->base_url && strcmp(settings->base_url, service->dialect->base_url) != 0)
        return copy_text(&service->name, http_place(acp_str_from(settings->base_url)));
    return copy_text(&service->name, acp_str_from(service->dialect->title));
}

/* Another copy, or NULL where there is none. */
static int copy_optional(char **ret, const char *text)
{
    return text ? copy_text(ret, acp_str_from(text)) : 0;
}

/* Whose address it is when nobody says: that of the API's own, or of somebody who imitates it. */
static const char *provider_of(const struct model_service *service)
{
    static const char *const owners[] = {
        [MODEL_ANTHROPIC] = "anthropic",
        [MODEL_CHAT] = "openai",
        [MODEL_RESPONSES] = "openai",
        [MODEL_GEMINI] = "gemini",
    };
    bool is_own = service->dialect && strcmp(service->base_url, service->dialect->base_url) == 0;
    return is_own ? owners[service->api] : NULL;
}

static int copy_settings(struct model_service *service, const struct model_settings *settings,
                         struct acp_failure *failure)
{
    int err = copy_text(&service->model, acp_str_from(settings->model ? settings->model : ""));
    if (!err && service->dialect) {
        const char *url = settings->base_url ? settings->base_url : service->dialect->base_url;
        struct acp_str base = acp_str_from(url);
        err = check_url(url, failure);
        while (base.len && base.ptr[base.len - 1] == '/')
            base.len--;
        if (!err)
            err = copy_text(&service->base_url, base);
    }
    if (!err)
        err = copy_optional(&service->provider,
                            settings->provider ? settings->provider : provider_of(service));
    if (!err)
        err = copy_optional(&service->key_header, settings->key_header);
    if (!err)
        err = copy_optional(&service->limits, settings->limits);
    if (!err && settings->key && *settings->key)
        err = copy_text(&service->key, acp_str_from(settings->key));
    if (!err)
        err = service_copy_headers(service, settings->headers, failure);
    return err ? err : name_service(service, settings);
}

int model_service_new(uv_loop_t *loop, struct http_client *client,
                      const struct model_settings *settings, struct model_service **ret,
                      struct acp_failure *failure)
{
    struct model_service *service = calloc(1, sizeof(*service));
    if (!service)
        return ACP_ERR_NOMEM;
    service->holds = 1;
    service->loop = loop;
    service->client = client;
    service->api = settings->api;
    service->dialect = dialect_of(settings->api);
    service->bearer = settings->bearer;
    service->settings = *settings;
    int err = copy_settings(service, settings, failure);
    if (err) {
        model_service_free(service);
        return err;
    }
    *ret = service;
    return 0;
}

struct model_service *service_hold(struct model_service *service)
{
    service->holds++;
    return service;
}

void service_forget_known(struct model_known *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(known[i].id);
    free(known);
}

void model_service_free(struct model_service *service)
{
    if (!service || --service->holds)
        return;
    service_forget_known(service->known, service->known_count);
    service_forget_headers(service);
    free(service->name);
    free(service->base_url);
    free(service->key);
    free(service->model);
    free(service->provider);
    free(service->key_header);
    free(service->limits);
    free(service);
}

enum model_api model_service_api(const struct model_service *service)
{
    return service->api;
}

const char *model_service_url(const struct model_service *service)
{
    return service->base_url ? service->base_url : "";
}

const char *model_service_name(const struct model_service *service)
{
    return service->name;
}

const char *model_service_model(const struct model_service *service)
{
    return service->model;
}

int model_service_set_model(struct model_service *service, struct acp_str model)
{
    char *copy = acp_str_copy(model);
    if (!copy)
        return ACP_ERR_NOMEM;
    free(service->model);
    service->model = copy;
    return 0;
}

bool model_service_takes(const struct model_service *service, enum model_part_kind kind)
{
    unsigned takes = service->dialect
                         ? service->dialect->takes
                         : 1u << MODEL_TEXT | 1u << MODEL_RESOURCE | 1u << MODEL_RESULT;
    return takes & 1u << kind;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static const struct model_known *find_known(const struct model_service *service,
                                            struct acp_str model)
{
    for (size_t i = 0; i < service->known_count; i++) {
        if (acp_str_is(model, service->known[i].id))
            return &service->known[i];
    }
    return NULL;
}

/* What the user says counts most, then what the provider's list tells, then the table. */
void model_service_facts(const struct model_service *service, struct acp_str model,
                         struct model_facts *ret)
{
    const struct model_known *known = find_known(service, model);
    struct model_facts users;
    struct model_facts facts = {0};
    bool found = service->provider && facts_find(facts_builtin(), service->provider, model, &facts);
    if (!found && service->dialect)
        (void) facts_find_anywhere(facts_builtin(), model, &facts);
    if (known)
        facts_merge(&facts, &known->facts);
    if (facts_find(service->settings.facts, service->provider, model, &users))
        facts_merge(&facts, &users);
    if (service->settings.window)
        facts.context = service->settings.window;
    *ret = facts;
}

void service_complete_usage(const struct model_service *service, struct acp_str model,
                            struct model_usage *usage)
{
    struct model_facts facts;
    model_service_facts(service, model, &facts);
    usage->window = facts.context;
    if (usage->cost.has != ACP_PRESENT && (usage->input || usage->output) && facts.has_price)
        usage->cost = acp_some_f64(facts_cost(&facts.price, usage));
}
