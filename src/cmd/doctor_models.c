/* doctor_models.c - acp doctor: the model of the built-in agent, and the model providers. */
#include <stdio.h>
#include <string.h>

#include "acp/io.h"
#include "cli/output.h"
#include "cmd/agent_sources.h"
#include "cmd/doctor.h"
#include "http/curl.h"
#include "http/http_client.h"
#include "model/find.h"
#include "registry/environment_keys.h"

/* Providers that only lack a key. */
static void list_keyless(struct doctor *doctor, const struct model_offer *offers, size_t count)
{
    const struct model_provider *provider;
    char names[400] = "";
    size_t n = 0;
    for (size_t i = 0; (provider = model_provider_at(i)); i++) {
        bool is_offered = !provider->keys || provider->port;
        for (size_t j = 0; j < count; j++)
            is_offered |= offers[j].provider == provider;
        if (!is_offered && n < sizeof(names))
            n += (size_t) snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
                                   provider->id);
    }
    if (n)
        doctor_found(doctor, FINDING_NOTE, "providers without a key",
                     "`acp agent login PROVIDER` stores one", "%s", names);
}

/* Without libcurl only the demo model answers. */
static void check_curl(struct doctor *doctor)
{
    struct acp_failure failure = {0};
    if (curl_load(CURL_LIBRARY, &failure))
        doctor_found(doctor, FINDING_BAD, "libcurl",
                     "until then the built-in agent has only the demo model: acp agent --demo",
                     "%s", failure.message);
}

/* Reports the model that would be used, its address and the reason; never a key. */
static void on_model(struct model_find *find, const struct model_choice *choice, void *user)
{
    const char *named = config_text(((struct doctor *) user)->setup.config, CONFIG_MODEL);
    const struct model_settings *settings = &choice->settings;
    struct acp_str place = http_place(acp_str_from(settings->base_url ? settings->base_url : ""));
    (void) find;
    if (settings->api == MODEL_DEMO)
        doctor_found(
            user, FINDING_NOTE, "built-in agent",
            "run `acp agent login PROVIDER`, set a key such as ANTHROPIC_API_KEY, or start a "
            "model server on this machine",
            "no model, only the offline demo: %s", choice->why);
    else
        doctor_found(user, FINDING_GOOD, "built-in agent", NULL, "%s/%s%s%.*s: %s", choice->id,
                     named             ? named
                     : settings->model ? settings->model
                                       : "its default model",
                     place.len ? " at " : "", (int) (place.len < 200 ? place.len : 200),
                     place.len ? place.ptr : "", choice->why);
    if (settings->api != MODEL_DEMO)
        check_curl(user);
    if (*choice->note)
        doctor_found(user, FINDING_NOTE, "built-in agent", NULL, "%s", choice->note);
}

static void check_model(struct doctor *doctor, const struct model_sources *sources)
{
    struct model_find *find = NULL;
    struct http_client *http = NULL;
    int err = http_client_new(&doctor->loop, NULL, &http);
    if (!err)
        err = model_find_new(&doctor->loop, http, sources, NULL, on_model, doctor, &find);
    if (err)
        doctor_found(doctor, FINDING_BAD, "built-in agent", NULL, "%s", acp_io_err_text(err));
    else
        (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
    model_find_free(find);
    http_client_free(http);
    (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
}

void doctor_check_models(struct doctor *doctor)
{
    struct conversation_setup *c = &doctor->setup;
    struct model_sources sources = {.environment = keys_environment()};
    struct model_offer *offers = NULL;
    size_t count = 0;
    agent_read_providers(c, &sources);
    if (agent_read_keys(c, &c->arena, &sources) ||
        model_offers_read(&sources, &c->arena, &offers, &count))
        return;
    check_model(doctor, &sources);
    for (size_t i = 0; i < count; i++) {
        char label[100];
        struct acp_str place = http_place(acp_str_from(offers[i].settings.base_url));
        (void) snprintf(label, sizeof(label), "provider %.60s", offers[i].id);
        doctor_found(doctor, FINDING_GOOD, label, NULL, "%s; address %.*s", offers[i].why,
                     (int) (place.len < 200 ? place.len : 200), place.ptr);
    }
    list_keyless(doctor, offers, count);
}
