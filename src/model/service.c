/* A service: its API, address and key, and what is known of its models. */
#include "model/service.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"

/* ---- Birth and death ------------------------------------------------------------------------- */

static int check_url(const char *url, struct acp_failure *failure)
{
    bool is_http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (is_http && http_place(acp_str(url)).len)
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
        return copy_text(&service->name, acp_str(settings->name));
    if (!service->dialect)
        return copy_text(&service->name, acp_str("the demo model"));
    if (settings->base_url && strcmp(settings->base_url, service->dialect->base_url) != 0)
        return copy_text(&service->name, http_place(acp_str(settings->base_url)));
    return copy_text(&service->name, acp_str(service->dialect->title));
}

static int copy_settings(struct model_service *service, const struct model_settings *settings,
                         struct acp_failure *failure)
{
    int err = copy_text(&service->model, acp_str(settings->model ? settings->model : ""));
    if (!err && service->dialect) {
        const char *url = settings->base_url ? settings->base_url : service->dialect->base_url;
        struct acp_str base = acp_str(url);
        err = check_url(url, failure);
        while (base.len && base.ptr[base.len - 1] == '/')
            base.len--;
        if (!err)
            err = copy_text(&service->base_url, base);
    }
    if (!err && settings->key && *settings->key)
        err = copy_text(&service->key, acp_str(settings->key));
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

void model_service_free(struct model_service *service)
{
    if (!service || --service->holds)
        return;
    for (size_t i = 0; i < service->known_count; i++)
        free(service->known[i].id);
    free(service->known);
    service_forget_headers(service);
    free(service->name);
    free(service->base_url);
    free(service->key);
    free(service->model);
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

/* ---- Windows and prices ---------------------------------------------------------------------- */

/* What can be said of a model from its name, for services whose list does not tell. */
static uint64_t window_by_name(struct acp_str model)
{
    static const struct {
        const char *prefix;
        uint64_t window;
    } rows[] = {
        {"claude-", 200000}, {"gpt-5", 400000},   {"gpt-4.1", 1047576},        {"gpt-4o", 128000},
        {"o3", 200000},      {"o4-mini", 200000}, {"gemini-1.5-pro", 2097152}, {"gemini-", 1048576},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].prefix);
        if (model.len >= n && memcmp(model.ptr, rows[i].prefix, n) == 0)
            return rows[i].window;
    }
    return 0;
}

static const struct model_known *find_known(const struct model_service *service,
                                            struct acp_str model)
{
    for (size_t i = 0; i < service->known_count; i++) {
        if (acp_str_is(model, service->known[i].id))
            return &service->known[i];
    }
    return NULL;
}

/*
 * What the user says counts most, then what the service's list tells.  The table knows what the
 * services themselves charge; whoever else speaks their API has prices of their own.
 */
static bool find_price(const struct model_service *service, struct acp_str model,
                       struct model_price *ret)
{
    const struct model_known *known = find_known(service, model);
    const struct model_settings *settings = &service->settings;
    if (prices_in_list(settings->prices, settings->price_count, model, ret))
        return true;
    if (known && (known->price.input > 0 || known->price.output > 0)) {
        *ret = known->price;
        return true;
    }
    return service->dialect && strcmp(service->base_url, service->dialect->base_url) == 0 &&
           prices_by_name(model, ret);
}

void service_complete_usage(const struct model_service *service, struct acp_str model,
                            struct model_usage *usage)
{
    const struct model_known *known = find_known(service, model);
    struct model_price price;
    usage->window = service->settings.window;
    if (known && !usage->window)
        usage->window = known->window;
    if (!usage->window)
        usage->window = window_by_name(model);
    if (usage->cost.has != ACP_PRESENT && (usage->input || usage->output) &&
        find_price(service, model, &price))
        usage->cost = acp_some_f64(prices_cost(&price, usage));
}
