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

void talk_forget_options(struct talk *talk)
{
    while (talk->known_options) {
        struct talk_option *option = talk->known_options;
        talk->known_options = option->next;
        free(option->category);
        free(option->id);
        free(option);
    }
}

void talk_note_options(struct talk *talk, struct acp_session_config_option_list options)
{
    talk_forget_options(talk);
    for (size_t i = options.count; i-- > 0;) {
        const struct acp_session_config_option *from = &options.items[i];
        struct talk_option *option = calloc(1, sizeof(*option));
        if (!option)
            return;
        option->next = talk->known_options;
        talk->known_options = option;
        option->is_switch = from->is == ACP_SESSION_CONFIG_OPTION_BOOLEAN;
        option->id = talk_copy(from->id);
        if (from->category.text.len)
            option->category = talk_copy(from->category.text);
    }
}

void talk_note_models(struct talk *talk, const struct acp_unknown *unknown)
{
    talk->has_models = false;
    for (; unknown; unknown = unknown->next)
        if (acp_str_is(unknown->key, "models"))
            talk->has_models = true;
}

static const struct talk_option *find_option(const struct talk *talk, const char *name)
{
    for (const struct talk_option *o = talk->known_options; o; o = o->next)
        if (o->id && strcmp(o->id, name) == 0)
            return o;
    for (const struct talk_option *o = talk->known_options; o; o = o->next)
        if (o->category && strcmp(o->category, name) == 0)
            return o;
    return NULL;
}

/* ---- What is wanted -------------------------------------------------------------------------- */

static void free_setting(struct talk_setting *setting)
{
    free(setting->name);
    free(setting->value);
    free(setting);
}

static void free_settings(struct talk_setting **settings)
{
    while (*settings) {
        struct talk_setting *setting = *settings;
        *settings = setting->next;
        free_setting(setting);
    }
}

void talk_forget_settings(struct talk *talk)
{
    free_settings(&talk->settings);
    free_settings(&talk->made);
}

static struct talk_setting *add_setting(struct talk_setting **list, struct acp_str name,
                                        struct acp_str value)
{
    struct talk_setting *setting = calloc(1, sizeof(*setting));
    if (!setting)
        return NULL;
    setting->name = talk_copy(name);
    setting->value = talk_copy(value);
    if (!setting->name || !setting->value) {
        free_setting(setting);
        return NULL;
    }
    while (*list)
        list = &(*list)->next;
    return *list = setting;
}

int talk_set(struct talk *talk, struct acp_str name, struct acp_str value, talk_set_fn *done,
             void *user)
{
    struct talk_setting *setting = add_setting(&talk->settings, name, value);
    if (!setting)
        return ACP_ERR_NOMEM;
    setting->done = done;
    setting->user = user;
    talk_wake(talk);
    return 0;
}

/* At first what the options say; after that, what was really set. */
void talk_want_settings(struct talk *talk)
{
    const struct talk_options *options = &talk->options;
    for (const struct talk_setting *made = talk->made; made; made = made->next)
        (void) talk_set(talk, acp_str_from(made->name), acp_str_from(made->value), NULL, NULL);
    if (talk->made)
        return;
    if (options->mode.len)
        (void) talk_set(talk, acp_str_from("mode"), options->mode, NULL, NULL);
    if (options->model.len)
        (void) talk_set(talk, acp_str_from("model"), options->model, NULL, NULL);
    for (size_t i = 0; i < options->settings.count; i++)
        (void) talk_set(talk, options->settings.items[i].key, options->settings.items[i].value,
                        NULL, NULL);
}

/* ---- Setting --------------------------------------------------------------------------------- */

/* Remembers what was set: a session that is opened again gets it again. */
static void note_made(struct talk *talk, const struct talk_setting *setting)
{
    struct talk_setting **at = &talk->made;
    while (*at && strcmp((*at)->name, setting->name) != 0)
        at = &(*at)->next;
    if (*at) {
        struct talk_setting *old = *at;
        *at = old->next;
        free_setting(old);
    }
    (void) add_setting(&talk->made, acp_str_from(setting->name), acp_str_from(setting->value));
    if (!talk->log)
        return;
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, RECORD_MAX);
    acp_json_writer_init(&w, &text);
    acp_json_begin_object(&w);
    for (const struct talk_setting *made = talk->made; made; made = made->next) {
        acp_json_write_key(&w, acp_str_from(made->name));
        acp_json_write_str(&w, acp_str_from(made->value));
    }
    acp_json_end_object(&w);
    struct store_change change = {.settings = acp_buf_view(&text)};
    if (!w.err)
        (void) store_log_change(talk->log, &change);
    acp_buf_finish(&text);
}

/* The first setting is settled.  What the owner's options want and cannot have ends the start. */
static void settle(struct talk *talk, const struct acp_outcome *outcome)
{
    struct talk_setting *setting = talk->settings;
    talk->settings = setting->next;
    if (!outcome->err) {
        talk_record_texts(talk, RECORD_SETTING, "name", acp_str_from(setting->name), "value",
                          acp_str_from(setting->value), (const char *) NULL);
        note_made(talk, setting);
    }
    if (setting->done)
        setting->done(talk, outcome, setting->user);
    else if (outcome->err)
        talk_fail(talk, WHOSE_USER, outcome->code, "%.*s cannot be set to %s = %s: %.*s",
                  (int) talk->options.agent.len, talk->options.agent.ptr, setting->name,
                  setting->value, (int) outcome->why.len, outcome->why.ptr);
    free_setting(setting);
    talk_wake(talk);
}

static void on_set(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->settings && talk->settings->sent)
        settle(talk, outcome);
}

void talk_refuse_settings(struct talk *talk, struct acp_str why)
{
    struct acp_outcome outcome = {.err = ACP_ERR_CLOSED, .why = why};
    while (talk->settings) {
        struct talk_setting *setting = talk->settings;
        talk->settings = setting->next;
        if (setting->done)
            setting->done(talk, &outcome, setting->user);
        free_setting(setting);
    }
}

static void on_model_set(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                         void *user)
{
    struct talk *talk = user;
    struct acp_outcome outcome = {
        .err = reply->err, .code = reply->error_code, .why = reply->error_message};
    (void) peer;
    (void) request;
    if (outcome.err && !outcome.why.len)
        outcome.why = acp_str_from(acp_err_text(outcome.err));
    if (talk->settings && talk->settings->sent)
        settle(talk, &outcome);
}

static int set_old_model(struct talk *talk, struct acp_str model)
{
    struct acp_peer *peer = acp_client_peer(acp_agent_process_client(talk->process));
    struct acp_request request = {
        .method = acp_str_from("session/set_model"), .reply = on_model_set, .user = talk};
    struct acp_buf params;
    struct acp_json_writer w;
    acp_buf_init(&params, RECORD_MAX);
    acp_json_writer_init(&w, &params);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("sessionId"));
    acp_json_write_str(&w, acp_client_session_id(talk->session));
    acp_json_write_key(&w, acp_str_from("modelId"));
    acp_json_write_str(&w, model);
    acp_json_end_object(&w);
    int err = w.err ? w.err
                    : acp_peer_request(peer, &request,
                                       acp_raw_n(params.data + params.start, params.len), NULL);
    acp_buf_finish(&params);
    return err;
}

static int send_setting(struct talk *talk, const struct talk_setting *setting)
{
    struct acp_str value = acp_str_from(setting->value);
    const struct talk_option *option = find_option(talk, setting->name);
    if (strcmp(setting->name, "mode") == 0)
        return acp_client_set_mode(talk->session, value, on_set, talk);
    if (option && option->is_switch)
        return acp_client_set_boolean_option(talk->session, acp_str_from(option->id),
                                             acp_str_is(value, "true") || acp_str_is(value, "on"),
                                             on_set, talk);
    if (option)
        return acp_client_set_config_option(talk->session, acp_str_from(option->id), value, on_set,
                                            talk);
    if (strcmp(setting->name, "model") == 0 && talk->has_models)
        return set_old_model(talk, value);
    return ACP_ERR_UNKNOWN;
}

/* What the session has, for who asked for something else. */
static void name_options(const struct talk *talk, char *out, size_t size)
{
    size_t len = (size_t) snprintf(out, size, "it has no such option");
    const char *before = "; there are ";
    for (const struct talk_option *o = talk->known_options; o && len < size; o = o->next) {
        len += (size_t) snprintf(out + len, size - len, "%s%s", before, o->id);
        before = ", ";
    }
}

bool talk_apply_setting(struct talk *talk)
{
    struct talk_setting *setting = talk->settings;
    char sentence[500];
    if (!setting)
        return false;
    if (setting->sent)
        return true;
    setting->sent = true;
    int err = send_setting(talk, setting);
    if (!err)
        return true;
    struct acp_outcome outcome = {.err = err};
    struct acp_str why = acp_client_error_text(acp_agent_process_client(talk->process));
    if (err == ACP_ERR_UNKNOWN) {
        name_options(talk, sentence, sizeof(sentence));
        outcome.why = acp_str_from(sentence);
    } else {
        outcome.why = why.len ? why : acp_str_from(acp_err_text(err));
    }
    settle(talk, &outcome);
    return true;
}
