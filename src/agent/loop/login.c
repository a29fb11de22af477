/*
 * login.c - logging in and out while the process runs.
 *
 * `acp agent login PROVIDER`, which the client can run in a terminal, stores keys.  `authenticate`
 * reads them again, so that a login needs no restart.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

/* ---- Login methods --------------------------------------------------------------------------- */

/* The texts of a method. */
struct sign_in {
    char id[40];
    char name[60];
    char description[200];
    struct acp_str args[2];
};

static void make_terminal(const struct model_provider *provider, struct sign_in *text,
                          struct acp_auth_method *ret)
{
    (void) snprintf(text->id, sizeof(text->id), "login-%s", provider->id);
    (void) snprintf(text->name, sizeof(text->name), "Key for %s", provider->title);
    (void) snprintf(text->description, sizeof(text->description),
                    "Asks for an API key and stores it; a key in %.*s takes precedence",
                    (int) strcspn(provider->keys, " "), provider->keys);
    text->args[0] = acp_str_from("login");
    text->args[1] = acp_str_from(provider->id);
    acp_auth_method_init_terminal(ret, acp_str_from(text->name));
    ret->terminal.id = acp_str_from(text->id);
    ret->terminal.description = acp_str_from(text->description);
    ret->terminal.args = (struct acp_str_list){text->args, 2};
}

/* Whether it has keys that a user could enter. */
static bool has_login(const struct model_provider *provider)
{
    return provider->keys && !provider->port;
}

int coding_agent_list_logins(struct coding_agent *agent, struct acp_auth_method_list *ret)
{
    const struct model_provider *provider;
    size_t count = 0;
    while (model_provider_at(count))
        count++;
    size_t texts_size = count * sizeof(struct sign_in);
    agent->sign_ins = calloc(1, texts_size + (count + 1) * sizeof(struct acp_auth_method));
    if (!agent->sign_ins)
        return ACP_ERR_NOMEM;
    struct sign_in *texts = (void *) agent->sign_ins;
    struct acp_auth_method *methods = (void *) (agent->sign_ins + texts_size);
    size_t n = 0;
    acp_auth_method_init_agent(&methods[n], acp_str_from("Keys on this machine"));
    methods[n].agent.id = acp_str_from("keys");
    methods[n++].agent.description =
        acp_str_from("Reads the stored keys again, after `acp agent login PROVIDER`");
    for (size_t i = 0; (provider = model_provider_at(i)); i++)
        if (has_login(provider))
            make_terminal(provider, &texts[i], &methods[n++]);
    *ret = (struct acp_auth_method_list){methods, n};
    return 0;
}

/* ---- Changed keys ---------------------------------------------------------------------------- */

static bool is_offered(const struct model_offer *offers, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(offers[i].id, id) == 0)
            return true;
    return false;
}

/* Removes providers without a key, except the demo, local servers, and those the client has set. */
static void drop_keyless(struct coding_agent *agent, const struct model_offer *offers, size_t count)
{
    for (size_t i = model_catalog_count(agent->catalog); i-- > 0;) {
        const char *id = model_catalog_id(agent->catalog, i);
        const struct model_provider *provider = model_provider_find(acp_str_from(id));
        if (provider && !provider->port && !is_offered(offers, count, id))
            model_catalog_remove(agent->catalog, acp_str_from(id));
    }
}

/* If the default was removed or is the demo: the first provider that has a default model. */
static int choose_default(struct coding_agent *agent, const struct model_offer *offers,
                          size_t count)
{
    static const struct model_settings demo = {.api = MODEL_DEMO, .model = "demo"};
    struct acp_str provider = acp_str_n(agent->model, strcspn(agent->model, "/"));
    bool is_demo = acp_str_is(provider, "demo");
    if (model_catalog_find(agent->catalog, provider) && !(is_demo && !agent->options->demo))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (offers[i].settings.model)
            return coding_agent_set_default(agent, offers[i].id,
                                            acp_str_from(offers[i].settings.model));
    int err = coding_agent_add_provider(agent, "demo", &demo, NULL);
    return err ? err : coding_agent_set_default(agent, "demo", acp_str_from("demo"));
}

static int read_keys(struct coding_agent *agent)
{
    const struct coding_agent_options *options = agent->options;
    struct model_sources sources = options->sources;
    struct model_offer *offers = NULL;
    struct acp_arena arena;
    size_t count = 0;
    acp_arena_init(&arena, 0);
    int err = options->read_keys ? options->read_keys(options->keys_user, &arena, &sources) : 0;
    if (!err)
        err = model_offers_read(&sources, &arena, &offers, &count);
    for (size_t i = 0; !err && i < count; i++)
        err = coding_agent_add_provider(agent, offers[i].id, &offers[i].settings, NULL);
    if (!err) {
        drop_keyless(agent, offers, count);
        err = choose_default(agent, offers, count);
    }
    acp_arena_finish(&arena);
    if (agent->first)
        coding_agent_list_models(agent);
    for (struct agent_session *session = agent->first; session; session = session->next)
        agent_session_send_options(session);
    return err;
}

/* ---- The requests ---------------------------------------------------------------------------- */

static void refuse(struct acp_agent *role_agent, acp_call call, int64_t code, const char *sentence)
{
    (void) acp_agent_respond_error(role_agent, call, code, acp_str_from(sentence));
}

void coding_agent_authenticate(struct acp_agent *role_agent, acp_call call, struct acp_str method,
                               void *user)
{
    struct coding_agent *agent = user;
    struct acp_authenticate_response done = {0};
    (void) method; /* there is only one that does not run in a terminal */
    int err = read_keys(agent);
    if (err)
        refuse(role_agent, call, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(err));
    else if (!strchr(agent->model, '/') && !agent->options->demo)
        refuse(role_agent, call, ACP_ERROR_CODE_AUTHENTICATION_REQUIRED,
               "there is no key; run `acp agent login PROVIDER`, or set a variable such as "
               "ANTHROPIC_API_KEY and start the agent again");
    else
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_AUTHENTICATE_RESPONSE, &done);
}

void coding_agent_logout(struct acp_agent *role_agent, acp_call call, void *user)
{
    struct coding_agent *agent = user;
    const struct coding_agent_options *options = agent->options;
    struct acp_logout_response done = {0};
    int err = options->forget_keys ? options->forget_keys(options->keys_user) : 0;
    if (!err)
        err = read_keys(agent);
    if (err)
        refuse(role_agent, call, ACP_ERROR_CODE_INTERNAL_ERROR,
               "the stored keys could not be removed; run `acp agent "
               "logout PROVIDER` to see why");
    else
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_LOGOUT_RESPONSE, &done);
}
