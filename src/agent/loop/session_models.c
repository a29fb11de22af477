/*
 * session_models.c - the models of all providers, which one a session asks, and whom.
 *
 * The process has a catalog of providers and a default among their models; a session has a model of
 * its own once one was chosen.  Both are full names, "provider/model", and are looked up whenever
 * the model is asked: a provider may have gone in between, or have got another key.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "cli/output.h"

/* A copy of "provider/model" in the place of the old text. */
static int replace_name(char **name, const char *provider, struct acp_str model)
{
    struct acp_buf full;
    acp_buf_init(&full, (size_t) 2 * CODER_MAX_NAME);
    int err = model_catalog_name(provider, model, &full);
    char *copy = err ? NULL : acp_str_copy(acp_buf_view(&full));
    acp_buf_finish(&full);
    if (!copy)
        return err ? err : ACP_ERR_NOMEM;
    free(*name);
    *name = copy;
    return 0;
}

/* ---- Providers ------------------------------------------------------------------------------- */

int coder_add_provider(struct coder *coder, const char *id, const struct model_settings *settings,
                       struct acp_failure *failure)
{
    struct model_settings own = *settings;
    struct model_service *service = NULL;
    own.facts = coder->options->facts;
    if (coder->options->stall_ms)
        own.stall_ms = coder->options->stall_ms;
    int err = model_service_new(&coder->loop, coder->http, &own, &service, failure);
    return err ? err : model_catalog_add(coder->catalog, id, service);
}

int coder_set_default(struct coder *coder, const char *provider, struct acp_str model)
{
    return replace_name(&coder->model, provider, model);
}

/* The model that the command line or the configuration names. */
static int choose_named(struct coder *coder)
{
    const struct coder_options *options = coder->options;
    struct model_ref ref;
    struct acp_failure failure = {0};
    int err = model_catalog_resolve(coder->catalog, acp_str_from(options->model), &ref, &failure);
    if (!err)
        return coder_set_default(coder, ref.provider, ref.model);
    if (err == ACP_ERR_UNKNOWN && options->model_is_general) {
        err_printf("acp agent: %s; the model is %s\n", failure.message, coder->model);
        return 0;
    }
    coder->failure = failure;
    return err;
}

int coder_fill_catalog(struct coder *coder, const struct model_choice *choice)
{
    struct acp_str model = acp_str_from(choice->settings.model);
    int err = model_catalog_new(&coder->catalog);
    bool is_offered = false;
    for (size_t i = 0; !err && i < choice->offer_count; i++) {
        const struct model_offer *offer = &choice->offers[i];
        bool is_chosen = strcmp(offer->id, choice->id) == 0;
        is_offered |= is_chosen;
        err = coder_add_provider(coder, offer->id, is_chosen ? &choice->settings : &offer->settings,
                                 &coder->failure);
    }
    if (!err && !is_offered)
        err = coder_add_provider(coder, choice->id, &choice->settings, &coder->failure);
    if (!err)
        err = coder_set_default(coder, choice->id, model);
    if (!err && coder->options->model)
        err = choose_named(coder);
    return err;
}

bool coder_takes(const struct coder *coder, enum model_part_kind kind)
{
    for (size_t i = 0; i < model_catalog_count(coder->catalog); i++)
        if (model_service_takes(model_catalog_service(coder->catalog, i), kind))
            return true;
    return false;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void on_changed(void *user)
{
    struct coder *coder = user;
    for (struct coding *coding = coder->first; coding; coding = coding->next)
        coding_tell_options(coding);
}

void coder_list_models(struct coder *coder)
{
    model_catalog_refresh(coder->catalog, acp_str_from(NULL), on_changed, coder);
}

/* The list of a provider that is used tells more than the table. */
static void list_used(const struct coding *coding)
{
    struct coder *coder = coding->coder;
    model_catalog_refresh(coder->catalog, coding_provider(coding), on_changed, coder);
}

size_t coding_model_choices(const struct coding *coding,
                            struct acp_session_config_select_option choices[CODER_MAX_MODELS])
{
    struct model_listed rows[CODER_MAX_MODELS];
    struct acp_str current = acp_str_from(coding_model(coding));
    size_t count = model_catalog_list(coding->coder->catalog, rows, CODER_MAX_MODELS - 1);
    bool is_listed = false;
    for (size_t i = 0; i < count; i++) {
        acp_session_config_select_option_init(&choices[i], rows[i].name, rows[i].title);
        choices[i].description = rows[i].service;
        is_listed |= acp_str_eq(rows[i].name, current);
    }
    /* A name that no list has may still be one: /model takes any. */
    if (!is_listed)
        acp_session_config_select_option_init(&choices[count++], current, current);
    return count;
}

/* ---- The model of a session ------------------------------------------------------------------ */

const char *coding_model(const struct coding *coding)
{
    return coding->model ? coding->model : coding->coder->model;
}

struct acp_str coding_provider(const struct coding *coding)
{
    const char *name = coding_model(coding);
    return acp_str_n(name, strcspn(name, "/"));
}

struct acp_str coding_model_id(const struct coding *coding)
{
    const char *slash = strchr(coding_model(coding), '/');
    return acp_str_from(slash ? slash + 1 : coding_model(coding));
}

struct model_service *coding_service(const struct coding *coding)
{
    return model_catalog_find(coding->coder->catalog, coding_provider(coding));
}

const char *coding_service_name(const struct coding *coding)
{
    const struct model_service *service = coding_service(coding);
    return service ? model_service_name(service) : "a provider that is not there any more";
}

bool coding_takes(const struct coding *coding, enum model_part_kind kind)
{
    const struct model_service *service = coding_service(coding);
    return service && model_service_takes(service, kind);
}

int coding_ask(struct coding *coding, struct model_ask *ask, const struct model_handler *handler,
               void *user, struct model_reply **ret, struct acp_failure *failure)
{
    struct model_service *service = coding_service(coding);
    struct acp_str provider = coding_provider(coding);
    ask->model = coding_model_id(coding);
    if (service && !coding_is_disabled(coding)) {
        struct model_facts facts;
        list_used(coding);
        model_service_facts(service, ask->model, &facts);
        ask->limits = (struct model_limits){.window = facts.context, .max_output = facts.output};
        return model_ask(service, ask, handler, user, ret, failure);
    }
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    if (service)
        (void) snprintf(failure->message, sizeof(failure->message), CODER_DISABLED);
    else
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the provider %.*s of this session's model is not there any more; choose "
                        "another model, or run `acp agent login %.*s`",
                        (int) provider.len, provider.ptr, (int) provider.len, provider.ptr);
    return ACP_ERR_STATE;
}

int coding_move(struct coding *coding, const char *provider)
{
    char *old = coding->model;
    const char *slash = old ? strchr(old, '/') : NULL;
    coding->model = NULL;
    int err =
        provider && slash ? replace_name(&coding->model, provider, acp_str_from(slash + 1)) : 0;
    free(old);
    return err;
}

int coding_set_model(struct coding *coding, struct acp_str name, struct acp_failure *failure)
{
    struct model_ref ref;
    if (name.len > CODER_MAX_NAME) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the name of a model has at most %d bytes", (int) CODER_MAX_NAME);
        return ACP_ERR_LIMIT;
    }
    int err = model_catalog_resolve(coding->coder->catalog, name, &ref, failure);
    if (!err)
        err = replace_name(&coding->model, ref.provider, ref.model);
    if (err)
        return err;
    coding_log_settings(coding);
    return 0;
}
