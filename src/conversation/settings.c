/*
 * settings.c - mode, model and options, set one after the other.
 *
 * "mode" and "model" are words of ours: the mode is whatever the agent has for modes, the model is
 * the option of that category, or, with agents that have models without an option for them, the
 * method that such agents brought before there were options.  Every other name is an option's id.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"

/* ---- What the session has -------------------------------------------------------------------- */

void conversation_forget_options(struct conversation *c)
{
    while (c->known_options) {
        struct known_option *option = c->known_options;
        c->known_options = option->next;
        free(option->category);
        free(option->id);
        free(option);
    }
}

void conversation_note_options(struct conversation *c,
                               struct acp_session_config_option_list options)
{
    conversation_forget_options(c);
    for (size_t i = options.count; i-- > 0;) {
        const struct acp_session_config_option *from = &options.items[i];
        struct known_option *option = calloc(1, sizeof(*option));
        if (!option)
            return;
        option->next = c->known_options;
        c->known_options = option;
        option->is_switch = from->is == ACP_SESSION_CONFIG_OPTION_BOOLEAN;
        option->id = conversation_copy(from->id);
        if (from->category.text.len)
            option->category = conversation_copy(from->category.text);
    }
}

void conversation_note_models(struct conversation *c, const struct acp_unknown *unknown)
{
    c->has_models = false;
    for (; unknown; unknown = unknown->next)
        if (acp_str_is(unknown->key, "models"))
            c->has_models = true;
}

static const struct known_option *find_option(const struct conversation *c, const char *name)
{
    for (const struct known_option *o = c->known_options; o; o = o->next)
        if (o->id && strcmp(o->id, name) == 0)
            return o;
    for (const struct known_option *o = c->known_options; o; o = o->next)
        if (o->category && strcmp(o->category, name) == 0)
            return o;
    return NULL;
}

/* ---- Wanted settings ------------------------------------------------------------------------- */

static void free_setting(struct wanted_setting *setting)
{
    free(setting->name);
    free(setting->value);
    free(setting);
}

static void free_settings(struct wanted_setting **settings)
{
    while (*settings) {
        struct wanted_setting *setting = *settings;
        *settings = setting->next;
        free_setting(setting);
    }
}

void conversation_forget_settings(struct conversation *c)
{
    free_settings(&c->settings);
    free_settings(&c->made);
}

static struct wanted_setting *add_setting(struct wanted_setting **list, struct acp_str name,
                                          struct acp_str value)
{
    struct wanted_setting *setting = calloc(1, sizeof(*setting));
    if (!setting)
        return NULL;
    setting->name = conversation_copy(name);
    setting->value = conversation_copy(value);
    if (!setting->name || !setting->value) {
        free_setting(setting);
        return NULL;
    }
    while (*list)
        list = &(*list)->next;
    return *list = setting;
}

int conversation_set(struct conversation *c, struct acp_str name, struct acp_str value,
                     conversation_set_fn *done, void *user)
{
    struct wanted_setting *setting = add_setting(&c->settings, name, value);
    if (!setting)
        return ACP_ERR_NOMEM;
    setting->done = done;
    setting->user = user;
    conversation_wake(c);
    return 0;
}

/* At first what the options say; after that, what was really set. */
void conversation_want_settings(struct conversation *c)
{
    const struct conversation_options *options = &c->options;
    for (const struct wanted_setting *made = c->made; made; made = made->next)
        (void) conversation_set(c, acp_str_from(made->name), acp_str_from(made->value), NULL, NULL);
    if (c->made)
        return;
    if (options->mode.len)
        (void) conversation_set(c, acp_str_from("mode"), options->mode, NULL, NULL);
    if (options->model.len)
        (void) conversation_set(c, acp_str_from("model"), options->model, NULL, NULL);
    for (size_t i = 0; i < options->settings.count; i++)
        (void) conversation_set(c, options->settings.items[i].key, options->settings.items[i].value,
                                NULL, NULL);
}

/* ---- Setting --------------------------------------------------------------------------------- */

/* Remembers what was set: a session that is opened again gets it again. */
static void note_made(struct conversation *c, const struct wanted_setting *setting)
{
    struct wanted_setting **at = &c->made;
    while (*at && strcmp((*at)->name, setting->name) != 0)
        at = &(*at)->next;
    if (*at) {
        struct wanted_setting *old = *at;
        *at = old->next;
        free_setting(old);
    }
    (void) add_setting(&c->made, acp_str_from(setting->name), acp_str_from(setting->value));
    if (!c->log)
        return;
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &text);
    acp_json_begin_object(&w);
    for (const struct wanted_setting *made = c->made; made; made = made->next) {
        acp_json_write_key(&w, acp_str_from(made->name));
        acp_json_write_str(&w, acp_str_from(made->value));
    }
    acp_json_end_object(&w);
    struct store_change change = {.settings = acp_buf_view(&text)};
    if (!w.err)
        (void) store_log_change(c->log, &change);
    acp_buf_finish(&text);
}

/* The first setting is settled.  What the owner's options want and cannot have ends the start. */
static void settle(struct conversation *c, const struct acp_outcome *outcome)
{
    struct wanted_setting *setting = c->settings;
    c->settings = setting->next;
    if (!outcome->err) {
        conversation_add_texts(c, EVENT_SETTING, "name", acp_str_from(setting->name), "value",
                               acp_str_from(setting->value), (const char *) NULL);
        note_made(c, setting);
    }
    if (setting->done)
        setting->done(c, outcome, setting->user);
    else if (outcome->err)
        conversation_fail(c, ERROR_SOURCE_USER, outcome->code, "cannot set %s to %s: %.*s",
                          setting->name, setting->value, (int) outcome->why.len, outcome->why.ptr);
    free_setting(setting);
    conversation_wake(c);
}

static void on_set(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->settings && c->settings->sent)
        settle(c, outcome);
}

void conversation_refuse_settings(struct conversation *c, struct acp_str why)
{
    struct acp_outcome outcome = {.err = ACP_ERR_CLOSED, .why = why};
    while (c->settings) {
        struct wanted_setting *setting = c->settings;
        c->settings = setting->next;
        if (setting->done)
            setting->done(c, &outcome, setting->user);
        free_setting(setting);
    }
}

static void on_model_set(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                         void *user)
{
    struct conversation *c = user;
    struct acp_outcome outcome = {
        .err = reply->err, .code = reply->error_code, .why = reply->error_message};
    (void) peer;
    (void) request;
    if (outcome.err && !outcome.why.len)
        outcome.why = acp_str_from(acp_err_text(outcome.err));
    if (c->settings && c->settings->sent)
        settle(c, &outcome);
}

static int set_old_model(struct conversation *c, struct acp_str model)
{
    struct acp_peer *peer = acp_client_peer(conversation_client(c));
    struct acp_request request = {
        .method = acp_str_from("session/set_model"), .reply = on_model_set, .user = c};
    struct acp_buf params;
    struct acp_json_writer w;
    acp_buf_init(&params, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &params);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("sessionId"));
    acp_json_write_str(&w, acp_client_session_id(c->session));
    acp_json_write_key(&w, acp_str_from("modelId"));
    acp_json_write_str(&w, model);
    acp_json_end_object(&w);
    int err = w.err ? w.err
                    : acp_peer_request(peer, &request,
                                       acp_raw_n(params.data + params.start, params.len), NULL);
    acp_buf_finish(&params);
    return err;
}

static int send_setting(struct conversation *c, const struct wanted_setting *setting)
{
    struct acp_str value = acp_str_from(setting->value);
    const struct known_option *option = find_option(c, setting->name);
    if (strcmp(setting->name, "mode") == 0)
        return acp_client_set_mode(c->session, value, on_set, c);
    if (option && option->is_switch)
        return acp_client_set_boolean_option(c->session, acp_str_from(option->id),
                                             acp_str_is(value, "true") || acp_str_is(value, "on"),
                                             on_set, c);
    if (option)
        return acp_client_set_config_option(c->session, acp_str_from(option->id), value, on_set, c);
    if (strcmp(setting->name, "model") == 0 && c->has_models)
        return set_old_model(c, value);
    return ACP_ERR_UNKNOWN;
}

/* What the session has, for who asked for something else. */
static void name_options(const struct conversation *c, char *out, size_t size)
{
    size_t len = (size_t) snprintf(out, size, "it has no such option");
    const char *before = "; there are ";
    for (const struct known_option *o = c->known_options; o && len < size; o = o->next) {
        len += (size_t) snprintf(out + len, size - len, "%s%s", before, o->id);
        before = ", ";
    }
}

bool conversation_apply_setting(struct conversation *c)
{
    struct wanted_setting *setting = c->settings;
    char sentence[500];
    if (!setting)
        return false;
    if (setting->sent)
        return true;
    setting->sent = true;
    int err = send_setting(c, setting);
    if (!err)
        return true;
    struct acp_outcome outcome = {.err = err};
    struct acp_str why = acp_client_error_text(conversation_client(c));
    if (err == ACP_ERR_UNKNOWN) {
        name_options(c, sentence, sizeof(sentence));
        outcome.why = acp_str_from(sentence);
    } else {
        outcome.why = why.len ? why : acp_str_from(acp_err_text(err));
    }
    settle(c, &outcome);
    return true;
}
