/*
 * What may be set in a session: modes, options and commands.  They are told by the answer that
 * opens it, by updates, and by the answers to the calls that set them; version 2 has no modes, but
 * an option that is one.  Programs see all of it in the words of version 1.
 */
#include <stdlib.h>

#include "role/client_role.h"

/* What a message says of them; what it does not say is absent. */
struct told {
    const struct acp_session_mode_state *modes;
    struct acp_session_config_option_list options;
    struct acp_available_command_v2_list commands;
};

static struct told read_told(acp_type_id type, const void *value)
{
    struct told told = {0};
    switch (type) {
    case ACP_TYPE_NEW_SESSION_RESPONSE: {
        const struct acp_new_session_response *r = value;
        return (struct told){r->modes, r->config_options, r->available_commands};
    }
    case ACP_TYPE_FORK_SESSION_RESPONSE: {
        const struct acp_fork_session_response *r = value;
        return (struct told){r->modes, r->config_options, r->available_commands};
    }
    case ACP_TYPE_RESUME_SESSION_RESPONSE: {
        const struct acp_resume_session_response *r = value;
        return (struct told){r->modes, r->config_options, r->available_commands};
    }
    case ACP_TYPE_LOAD_SESSION_RESPONSE: {
        const struct acp_load_session_response *r = value;
        told.modes = r->modes;
        told.options = r->config_options;
        break;
    }
    case ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE: {
        const struct acp_set_session_config_option_response *r = value;
        told.options = r->config_options;
        break;
    }
    case ACP_TYPE_SESSION_UPDATE: {
        const struct acp_session_update *u = value;
        told.options = u->config_option_update.config_options;
        break;
    }
    default:
        break;
    }
    return told;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static bool same_mode(const struct acp_session_mode *a, const struct acp_session_mode *b)
{
    return acp_str_eq(a->id, b->id) && acp_str_eq(a->name, b->name) &&
           acp_str_eq(a->description, b->description);
}

static bool same_modes(struct acp_session_mode_list a, struct acp_session_mode_list b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (!same_mode(&a.items[i], &b.items[i]))
            return false;
    return true;
}

/* Keeps the modes; ret_changed tells whether they are others than before. */
static int keep_modes(struct settings *settings, struct acp_session_mode_list from,
                      bool *ret_changed)
{
    *ret_changed = !same_modes(from, settings->modes);
    if (!*ret_changed)
        return 0;
    struct acp_arena arena;
    acp_arena_init(&arena, CLIENT_MAX_KEPT);
    struct acp_session_mode *modes = acp_arena_alloc(&arena, (from.count + 1) * sizeof(*modes));
    bool ok = modes != NULL;
    for (size_t i = 0; ok && i < from.count; i++) {
        const struct acp_session_mode *mode = &from.items[i];
        acp_session_mode_init(&modes[i], acp_arena_copy(&arena, mode->id),
                              acp_arena_copy(&arena, mode->name));
        if (acp_is_set(mode->description.ptr))
            modes[i].description = acp_arena_copy(&arena, mode->description);
        ok = modes[i].id.ptr && modes[i].name.ptr;
    }
    if (!ok) {
        acp_arena_finish(&arena);
        return ACP_ERR_NOMEM;
    }
    acp_arena_finish(&settings->modes_arena);
    settings->modes_arena = arena;
    settings->modes = (struct acp_session_mode_list){modes, from.count};
    return 0;
}

/* Keeps the current mode; true when it is another one than before. */
static bool keep_mode(struct settings *settings, struct acp_str mode)
{
    if (mode.len > CLIENT_MAX_ID || (settings->mode && acp_str_is(mode, settings->mode)))
        return false;
    char *copy = acp_str_copy(mode);
    if (!copy)
        return false;
    free(settings->mode);
    settings->mode = copy;
    return true;
}

/* ---- Options --------------------------------------------------------------------------------- */

/* Groups of version 2 are named by groupId. */
static int name_groups(struct acp_arena *arena, struct acp_session_config_select_options *options)
{
    if (options->is != ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        return 0;
    size_t count = options->grouped.count;
    struct acp_session_config_select_group *groups =
        acp_arena_alloc(arena, (count + 1) * sizeof(*groups));
    if (!groups)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        groups[i] = options->grouped.items[i];
        groups[i].group = groups[i].group_id;
    }
    options->grouped.items = groups;
    return 0;
}

static int name_options(struct acp_arena *arena, struct acp_session_config_option_list *list)
{
    struct acp_session_config_option *options =
        acp_arena_alloc(arena, (list->count + 1) * sizeof(*options));
    int err = options ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; !err && i < list->count; i++) {
        options[i] = list->items[i];
        options[i].id = options[i].config_id;
        if (options[i].is == ACP_SESSION_CONFIG_OPTION_SELECT)
            err = name_groups(arena, &options[i].select.options);
    }
    if (!err)
        list->items = options;
    return err;
}

/* The option that says which mode it is: the first choice of that category. */
static const struct acp_session_config_option *find_mode_option(const struct settings *settings)
{
    for (size_t i = 0; i < settings->options.count; i++) {
        const struct acp_session_config_option *option = &settings->options.items[i];
        if (option->is == ACP_SESSION_CONFIG_OPTION_SELECT &&
            option->category.is == ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE)
            return option;
    }
    return NULL;
}

static size_t count_values(const struct acp_session_config_select_options *options)
{
    if (options->is != ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        return options->ungrouped.count;
    size_t count = 0;
    for (size_t i = 0; i < options->grouped.count; i++)
        count += options->grouped.items[i].options.count;
    return count;
}

static size_t add_modes(struct acp_session_mode *modes, size_t n,
                        struct acp_session_config_select_option_list values)
{
    for (size_t i = 0; i < values.count; i++, n++) {
        acp_session_mode_init(&modes[n], values.items[i].value, values.items[i].name);
        modes[n].description = values.items[i].description;
    }
    return n;
}

/* The values of the option as modes. */
static int read_mode_option(struct acp_client *client,
                            const struct acp_session_config_option *option,
                            struct acp_session_mode_list *ret)
{
    const struct acp_session_config_select_options *options = &option->select.options;
    struct acp_session_mode *modes =
        acp_arena_alloc(&client->arena, (count_values(options) + 1) * sizeof(*modes));
    size_t n = 0;
    if (!modes)
        return ACP_ERR_NOMEM;
    if (options->is == ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        for (size_t i = 0; i < options->grouped.count; i++)
            n = add_modes(modes, n, options->grouped.items[i].options);
    else
        n = add_modes(modes, n, options->ungrouped);
    *ret = (struct acp_session_mode_list){modes, n};
    return 0;
}

/* What has changed. */
struct change {
    bool options;
    bool modes;
    bool mode;
};

/* Modes that are an option follow it. */
static int follow_mode_option(struct acp_client_session *session, struct change *change)
{
    struct settings *settings = &session->settings;
    const struct acp_session_config_option *option = find_mode_option(settings);
    struct acp_session_mode_list modes;
    settings->mode_option = option ? option->id : acp_str_from(NULL);
    if (!option || settings->by_set_mode)
        return 0;
    int err = read_mode_option(session->client, option, &modes);
    if (!err)
        err = keep_modes(settings, modes, &change->modes);
    if (!err)
        change->mode = keep_mode(settings, option->select.current_value);
    return err;
}

/* Keeps the options that a message of that type says, if it says any. */
static int keep_options(struct acp_client_session *session, acp_type_id type, struct acp_raw from,
                        struct change *change)
{
    unsigned mode = session->client->mode;
    struct settings *settings = &session->settings;
    struct acp_arena arena;
    if (from.len > CLIENT_MAX_SETTINGS)
        return ACP_ERR_LIMIT;
    acp_arena_init(&arena, CLIENT_MAX_KEPT);
    struct acp_str copy = acp_arena_copy(&arena, acp_str_n(from.ptr, from.len));
    void *value = acp_arena_alloc(&arena, acp_type_size(type));
    int err = copy.ptr && value ? 0 : ACP_ERR_NOMEM;
    if (!err)
        err = acp_decode(type, mode, acp_raw_n(copy.ptr, copy.len), &arena, value, NULL);
    struct acp_session_config_option_list options = {0};
    if (!err)
        options = read_told(type, value).options;
    if (!err && acp_is_set(options.items) && (mode & ACP_V2))
        err = name_options(&arena, &options);
    if (err || !acp_is_set(options.items)) {
        acp_arena_finish(&arena);
        return err;
    }
    acp_arena_finish(&settings->options_arena);
    settings->options_arena = arena;
    settings->options = options;
    change->options = true;
    return follow_mode_option(session, change);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* A new list of modes, or another current one. */
static void emit_modes(struct acp_client_session *session, struct acp_event event, bool all)
{
    event.kind = all ? ACP_EVENT_MODES : ACP_EVENT_MODE;
    event.mode = acp_client_session_mode(session);
    if (all)
        event.modes = session->settings.modes;
    client_emit(session, &event);
}

static void emit_change(struct acp_client_session *session, const struct acp_event *from,
                        struct change change)
{
    const struct acp_client *client = session->client;
    struct acp_event event = *from;
    if (change.options) {
        event.kind = ACP_EVENT_OPTIONS;
        event.options = session->settings.options;
        client_emit(session, &event);
    }
    /* The program may have closed the connection, and the session is freed. */
    if (!client->closing && (change.modes || change.mode))
        emit_modes(session, *from, change.modes);
}

void client_emit_options(struct acp_client_session *session, struct acp_event *event,
                         acp_type_id type, struct acp_raw from)
{
    struct acp_client *client = session->client;
    struct change change = {0};
    int err = keep_options(session, type, from, &change);
    if (err == ACP_ERR_LIMIT && client->handler.protocol_error)
        client->handler.protocol_error(client, ACP_PROTOCOL_ERROR_LIMIT,
                                       acp_str_from("options of a session, over 1 MiB"),
                                       client->user);
    else if (err && client->handler.protocol_error)
        client->handler.protocol_error(client, ACP_PROTOCOL_ERROR_INVALID_MESSAGE,
                                       acp_str_from(acp_err_text(err)), client->user);
    else if (!err)
        emit_change(session, event, change);
}

void client_emit_mode(struct acp_client_session *session, struct acp_event *event,
                      struct acp_str mode)
{
    (void) keep_mode(&session->settings, mode);
    event->kind = ACP_EVENT_MODE;
    event->mode = mode;
    client_emit(session, event);
}

/* Commands of version 2 that are none of ours are left out of the list. */
static struct acp_available_command_list read_commands(struct acp_client *client,
                                                       struct acp_available_command_v2_list from)
{
    struct acp_available_command_list list = {0};
    struct acp_available_command *commands =
        acp_arena_alloc(&client->arena, (from.count + 1) * sizeof(*commands));
    struct acp_available_command_input *inputs =
        acp_arena_alloc(&client->arena, (from.count + 1) * sizeof(*inputs));
    list.items = commands;
    for (size_t i = 0; commands && inputs && i < from.count; i++) {
        const struct acp_available_command_v2 *command = &from.items[i];
        if (command->is != ACP_AVAILABLE_COMMAND_V2_COMMAND)
            continue;
        size_t n = list.count++;
        acp_available_command_init(&commands[n], command->command.name,
                                   command->command.description);
        const struct acp_available_command_input_v2 *input = command->command.input;
        if (acp_is_set(input) && input->is == ACP_AVAILABLE_COMMAND_INPUT_V2_TEXT) {
            acp_available_command_input_init_unstructured(&inputs[n], input->text.hint);
            commands[n].input = &inputs[n];
        }
    }
    return list;
}

void client_emit_commands(struct acp_client_session *session, struct acp_event *event,
                          struct acp_available_command_list commands,
                          struct acp_available_command_v2_list commands_v2)
{
    event->kind = ACP_EVENT_COMMANDS;
    event->commands =
        client_is_v2(session->client) ? read_commands(session->client, commands_v2) : commands;
    client_emit(session, event);
}

/* ---- The answer that opens a session --------------------------------------------------------- */

int client_take_settings(struct acp_client_session *session, acp_type_id type, const void *answer,
                         struct acp_raw from)
{
    struct settings *settings = &session->settings;
    struct told told = read_told(type, answer);
    struct change change = {0};
    int err = 0;
    if (acp_is_set(told.modes) && from.len > CLIENT_MAX_SETTINGS)
        return ACP_ERR_LIMIT;
    if (acp_is_set(told.modes)) {
        settings->by_set_mode = true;
        err = keep_modes(settings, told.modes->available_modes, &change.modes);
        if (!err)
            (void) keep_mode(settings, told.modes->current_mode_id);
    }
    if (!err && acp_is_set(told.options.items))
        err = keep_options(session, type, from, &change);
    return err;
}

void client_emit_settings(struct acp_client_session *session, acp_type_id type, const void *answer)
{
    const struct acp_client *client = session->client;
    struct told told = read_told(type, answer);
    struct acp_event event = {.kind = ACP_EVENT_OTHER};
    bool options = acp_is_set(told.options.items);
    bool modes = acp_is_set(told.modes) || (options && session->settings.mode_option.ptr);
    emit_change(session, &event, (struct change){.options = options, .modes = modes});
    if (!client->closing && acp_is_set(told.commands.items))
        client_emit_commands(session, &event, (struct acp_available_command_list){0},
                             told.commands);
}

void client_forget_settings(struct acp_client_session *session)
{
    acp_arena_finish(&session->settings.modes_arena);
    acp_arena_finish(&session->settings.options_arena);
    free(session->settings.mode);
}

struct acp_session_mode_list acp_client_session_modes(const struct acp_client_session *session)
{
    return session->settings.modes;
}

struct acp_str acp_client_session_mode(const struct acp_client_session *session)
{
    return acp_str_from(session->settings.mode);
}

struct acp_session_config_option_list acp_client_session_options(
    const struct acp_client_session *session)
{
    return session->settings.options;
}

void acp_client_session_settings(const struct acp_client_session *session,
                                 struct acp_client_settings *ret)
{
    *ret = (struct acp_client_settings){.modes = acp_client_session_modes(session),
                                        .mode = acp_client_session_mode(session),
                                        .options = acp_client_session_options(session)};
}

/* ---- Setting them ---------------------------------------------------------------------------- */

/* What was set is shown before the program hears that it is done. */
static void settle_set(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_client_session *session = acp_map_get(&client->sessions, acp_str_from(call->id));
    struct acp_event event = {.kind = ACP_EVENT_OTHER};
    if (session && !reply->err && call->mode) {
        struct change change = {.mode = keep_mode(&session->settings, acp_str_from(call->mode))};
        emit_change(session, &event, change);
    } else if (session && !reply->err) {
        client_emit_options(session, &event, call->result_type, reply->result);
    }
    struct acp_outcome outcome = client_outcome(call, reply);
    struct acp_client_settings now = {0};
    /* The program may have closed the session when it heard of the change. */
    session = acp_map_get(&client->sessions, acp_str_from(call->id));
    if (session)
        acp_client_session_settings(session, &now);
    if (!outcome.err)
        outcome.value = &now;
    if (call->then.done)
        call->then.done(client, &outcome, call->user);
}

/* mode is absent where an option is set. */
static int send_set(struct acp_client_session *session, const char *method, struct acp_str mode,
                    acp_type_id params_type, const void *params, acp_type_id result_type,
                    acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    struct client_call *call = client_call_new(client, settle_set, result_type, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    call->then.done = done;
    call->id = acp_str_copy(acp_str_from(session->id));
    call->mode = mode.ptr ? acp_str_copy(mode) : NULL;
    if (!call->id || (mode.ptr && !call->mode)) {
        client_call_free(call);
        return client_fail(client, ACP_ERR_NOMEM);
    }
    return client_send(call, acp_str_from(method), params_type, params, client->options.timeout_ms);
}

int acp_client_set_mode(struct acp_client_session *session, struct acp_str mode,
                        acp_client_fn *done, void *user)
{
    struct settings *settings = &session->settings;
    struct acp_set_session_mode_request request;
    if (!settings->by_set_mode && settings->mode_option.ptr)
        return acp_client_set_config_option(session, settings->mode_option, mode, done, user);
    if (!settings->by_set_mode)
        return client_decline(session->client, ACP_ERR_STATE, "the session has no modes");
    acp_set_session_mode_request_init(&request, acp_str_from(session->id), mode);
    return send_set(session, "session/set_mode", mode, ACP_TYPE_SET_SESSION_MODE_REQUEST, &request,
                    ACP_TYPE_SET_SESSION_MODE_RESPONSE, done, user);
}

static int set_config_option(struct acp_client_session *session,
                             const struct acp_set_session_config_option_request *request,
                             acp_client_fn *done, void *user)
{
    if (!acp_is_set(session->settings.options.items))
        return client_decline(session->client, ACP_ERR_STATE, "the session has no options");
    return send_set(session, "session/set_config_option", acp_str_from(NULL),
                    ACP_TYPE_SET_SESSION_CONFIG_OPTION_REQUEST, request,
                    ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, done, user);
}

int acp_client_set_config_option(struct acp_client_session *session, struct acp_str option,
                                 struct acp_str value, acp_client_fn *done, void *user)
{
    struct acp_set_session_config_option_request request;
    struct acp_str id = acp_str_from(session->id);
    if (client_is_v2(session->client))
        acp_set_session_config_option_request_init_id(&request, id, option, value);
    else
        acp_set_session_config_option_request_init_value_id(&request, id, option, value);
    return set_config_option(session, &request, done, user);
}

int acp_client_set_boolean_option(struct acp_client_session *session, struct acp_str option,
                                  bool value, acp_client_fn *done, void *user)
{
    struct acp_set_session_config_option_request request;
    acp_set_session_config_option_request_init_boolean(&request, acp_str_from(session->id), option,
                                                       value);
    return set_config_option(session, &request, done, user);
}
