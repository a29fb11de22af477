/*
 * session_models.c - the models of all providers, and the model of each session.
 *
 * The process has a catalog of providers and a default model; a session has a model of its own once
 * one was chosen.  Both are full names, "provider/model", which are looked up for each request: the
 * provider may have been removed in the meantime, or have a new key.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "cli/output.h"

/* Replaces the text by "provider/model". */
static int replace_name(char **name, const char *provider, struct acp_str model)
{
    struct acp_buf full;
    acp_buf_init(&full, (size_t) 2 * AGENT_MAX_NAME);
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

int coding_agent_add_provider(struct coding_agent *agent, const char *id,
                              const struct model_settings *settings, struct acp_failure *failure)
{
    struct model_settings own = *settings;
    struct model_service *service = NULL;
    own.facts = agent->options->facts;
    if (agent->options->stall_ms)
        own.stall_ms = agent->options->stall_ms;
    int err = model_service_new(&agent->loop, agent->http, &own, &service, failure);
    return err ? err : model_catalog_add(agent->catalog, id, service);
}

int coding_agent_set_default(struct coding_agent *agent, const char *provider, struct acp_str model)
{
    return replace_name(&agent->model, provider, model);
}

/* The model that the command line or the configuration names. */
static int choose_named(struct coding_agent *agent)
{
    const struct coding_agent_options *options = agent->options;
    struct model_ref ref;
    struct acp_failure failure = {0};
    int err = model_catalog_resolve(agent->catalog, acp_str_from(options->model), &ref, &failure);
    if (!err)
        return coding_agent_set_default(agent, ref.provider, ref.model);
    if (err == ACP_ERR_UNKNOWN && options->model_is_general) {
        err_printf("acp agent: %s; the model is %s\n", failure.message, agent->model);
        return 0;
    }
    agent->failure = failure;
    return err;
}

int coding_agent_fill_catalog(struct coding_agent *agent, const struct model_choice *choice)
{
    struct acp_str model = acp_str_from(choice->settings.model);
    int err = model_catalog_new(&agent->catalog);
    bool is_offered = false;
    for (size_t i = 0; !err && i < choice->offer_count; i++) {
        const struct model_offer *offer = &choice->offers[i];
        bool is_chosen = strcmp(offer->id, choice->id) == 0;
        is_offered |= is_chosen;
        err = coding_agent_add_provider(
            agent, offer->id, is_chosen ? &choice->settings : &offer->settings, &agent->failure);
    }
    if (!err && !is_offered)
        err = coding_agent_add_provider(agent, choice->id, &choice->settings, &agent->failure);
    if (!err)
        err = coding_agent_set_default(agent, choice->id, model);
    if (!err && agent->options->model)
        err = choose_named(agent);
    return err;
}

bool coding_agent_accepts(const struct coding_agent *agent, enum model_part_kind kind)
{
    for (size_t i = 0; i < model_catalog_count(agent->catalog); i++)
        if (model_service_takes(model_catalog_service(agent->catalog, i), kind))
            return true;
    return false;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void on_changed(void *user)
{
    struct coding_agent *agent = user;
    for (struct agent_session *session = agent->first; session; session = session->next)
        agent_session_send_options(session);
}

void coding_agent_list_models(struct coding_agent *agent)
{
    model_catalog_refresh(agent->catalog, acp_str_from(NULL), on_changed, agent);
}

/* The list of the provider says more than the built-in table. */
static void list_used(const struct agent_session *session)
{
    struct coding_agent *agent = session->agent;
    model_catalog_refresh(agent->catalog, agent_session_provider(session), on_changed, agent);
}

size_t agent_session_model_choices(
    const struct agent_session *session,
    struct acp_session_config_select_option choices[AGENT_MAX_MODELS])
{
    struct model_listed rows[AGENT_MAX_MODELS];
    struct acp_str current = acp_str_from(agent_session_model(session));
    size_t count = model_catalog_list(session->agent->catalog, rows, AGENT_MAX_MODELS - 1);
    bool is_listed = false;
    for (size_t i = 0; i < count; i++) {
        acp_session_config_select_option_init(&choices[i], rows[i].name, rows[i].title);
        choices[i].description = rows[i].service;
        is_listed |= acp_str_eq(rows[i].name, current);
    }
    /* The name may be in no list: /model takes any. */
    if (!is_listed)
        acp_session_config_select_option_init(&choices[count++], current, current);
    return count;
}

/* ---- The model of a session ------------------------------------------------------------------ */

const char *agent_session_model(const struct agent_session *session)
{
    return session->model ? session->model : session->agent->model;
}

struct acp_str agent_session_provider(const struct agent_session *session)
{
    const char *name = agent_session_model(session);
    return acp_str_n(name, strcspn(name, "/"));
}

struct acp_str agent_session_model_id(const struct agent_session *session)
{
    const char *slash = strchr(agent_session_model(session), '/');
    return acp_str_from(slash ? slash + 1 : agent_session_model(session));
}

struct model_service *agent_session_service(const struct agent_session *session)
{
    return model_catalog_find(session->agent->catalog, agent_session_provider(session));
}

const char *agent_session_service_name(const struct agent_session *session)
{
    const struct model_service *service = agent_session_service(session);
    return service ? model_service_name(service) : "a provider that was removed";
}

bool agent_session_accepts(const struct agent_session *session, enum model_part_kind kind)
{
    const struct model_service *service = agent_session_service(session);
    return service && model_service_takes(service, kind);
}

int agent_session_ask(struct agent_session *session, struct model_ask *ask,
                      const struct model_handler *handler, void *user, struct model_reply **ret,
                      struct acp_failure *failure)
{
    struct model_service *service = agent_session_service(session);
    struct acp_str provider = agent_session_provider(session);
    ask->model = agent_session_model_id(session);
    if (service && !agent_session_is_disabled(session)) {
        struct model_facts facts;
        list_used(session);
        model_service_facts(service, ask->model, &facts);
        ask->limits = (struct model_limits){.window = facts.context, .max_output = facts.output};
        ask->thinking = facts.thinking;
        ask->efforts = facts.efforts;
        return model_ask(service, ask, handler, user, ret, failure);
    }
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    if (service)
        (void) snprintf(failure->message, sizeof(failure->message), AGENT_PROVIDER_DISABLED);
    else
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the provider %.*s of this session's model was removed; choose "
                        "another model, or run `acp agent login %.*s`",
                        (int) provider.len, provider.ptr, (int) provider.len, provider.ptr);
    return ACP_ERR_STATE;
}

int agent_session_change_provider(struct agent_session *session, const char *provider)
{
    char *old = session->model;
    const char *slash = old ? strchr(old, '/') : NULL;
    session->model = NULL;
    int err =
        provider && slash ? replace_name(&session->model, provider, acp_str_from(slash + 1)) : 0;
    free(old);
    return err;
}

int agent_session_set_model(struct agent_session *session, struct acp_str name,
                            struct acp_failure *failure)
{
    struct model_ref ref;
    if (name.len > AGENT_MAX_NAME) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the name of a model has at most %d bytes", (int) AGENT_MAX_NAME);
        return ACP_ERR_LIMIT;
    }
    int err = model_catalog_resolve(session->agent->catalog, name, &ref, failure);
    if (!err)
        err = replace_name(&session->model, ref.provider, ref.model);
    if (err)
        return err;
    agent_session_log_settings(session);
    return 0;
}
