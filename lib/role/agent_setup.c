/*
 * Modes, options and commands of a session.  Version 1 has modes beside options; in version 2 an
 * option of the category mode stands for them, which is made here where the program has none.
 *
 * What a version 2 client was told is kept: a session that is resumed while it is open is told it
 * again.  Most sessions of an agent are set up alike, so they share the text.
 */
#include <assert.h>
#include <stdlib.h>

#include "role/agent_role.h"

/* ---- What the client was told ---------------------------------------------------------------- */

static void release(struct acp_agent *agent, struct shared_text *shared)
{
    if (!shared || --shared->refs > 0)
        return;
    (void) acp_map_remove(&agent->texts, acp_str_n(shared->text, shared->len));
    free(shared);
}

/* The text that all who keep the same have in common; NULL when memory is out. */
static struct shared_text *share(struct acp_agent *agent, struct acp_str text)
{
    struct shared_text *shared = acp_map_get(&agent->texts, text);
    if (shared) {
        shared->refs++;
        return shared;
    }
    shared = malloc(sizeof(*shared) + text.len);
    if (!shared)
        return NULL;
    shared->refs = 1;
    shared->len = text.len;
    memcpy(shared->text, text.ptr, text.len);
    if (acp_map_set(&agent->texts, text, shared)) {
        free(shared);
        return NULL;
    }
    return shared;
}

int agent_keep_setup(struct acp_session *session, const struct acp_resume_session_response *told)
{
    struct acp_agent *agent = session->agent;
    struct acp_buf text;
    struct acp_json_writer w;
    if (!agent_is_v2(agent))
        return 0;
    acp_buf_init(&text, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_json_writer_init(&w, &text);
    int err = acp_resume_session_response_encode(agent->mode, told, &w, NULL);
    struct shared_text *shared = err ? NULL : share(agent, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (!shared)
        return err ? err : ACP_ERR_NOMEM;
    release(agent, session->setup);
    session->setup = shared;
    return 0;
}

struct acp_resume_session_response agent_kept_setup(const struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    struct acp_resume_session_response told = {.modes = NULL};
    if (!session->setup)
        return told;
    struct acp_str copy =
        acp_arena_copy(&agent->arena, acp_str_n(session->setup->text, session->setup->len));
    if (copy.ptr)
        (void) acp_resume_session_response_decode(agent->mode, acp_raw_n(copy.ptr, copy.len),
                                                  &agent->arena, &told, NULL);
    return told;
}

void agent_note_setup(struct acp_session *session, const struct acp_session_update *update)
{
    struct acp_resume_session_response told = agent_kept_setup(session);
    if (update->is == ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE)
        told.config_options = update->config_option_update.config_options;
    else
        told.available_commands = update->available_commands_update.available_commands_v2;
    (void) agent_keep_setup(session, &told);
}

void agent_forget_setup(struct acp_session *session)
{
    release(session->agent, session->setup);
    session->setup = NULL;
}

/* ---- Changing it ----------------------------------------------------------------------------- */

/* The option that stands for the modes, or NULL. */
static const struct acp_session_config_option *find_mode(
    struct acp_session_config_option_list options)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.items[i].is == ACP_SESSION_CONFIG_OPTION_SELECT &&
            options.items[i].category.is == ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE)
            return options.items + i;
    return NULL;
}

/* Version 2: all options, with another mode.  ACP_ERR_STATE when none of them is for the modes. */
static int change_mode(struct acp_session *session, struct acp_str mode,
                       struct acp_session_config_option_list *ret)
{
    struct acp_agent *agent = session->agent;
    struct acp_resume_session_response told = agent_kept_setup(session);
    const struct acp_session_config_option *old = find_mode(told.config_options);
    if (!old)
        return ACP_ERR_STATE;
    assert(told.config_options.items); /* it is one of them */
    size_t size = told.config_options.count * sizeof(*old);
    struct acp_session_config_option *copies = acp_arena_alloc(&agent->arena, size);
    if (!copies)
        return ACP_ERR_NOMEM;
    memcpy(copies, told.config_options.items, size);
    copies[old - told.config_options.items].select.current_value = mode;
    told.config_options.items = copies;
    *ret = told.config_options;
    return agent_keep_setup(session, &told);
}

/* All options, with the one for the modes where the program has none. */
static struct acp_session_config_option_list change_options(
    struct acp_session *session, struct acp_session_config_option_list options)
{
    struct acp_resume_session_response told = agent_kept_setup(session);
    const struct acp_session_config_option *mode =
        session->made_mode && !agent_has_mode_option(options) ? find_mode(told.config_options)
                                                              : NULL;
    told.config_options = agent_dialect_options(session->agent, options, mode);
    (void) agent_keep_setup(session, &told);
    return told.config_options;
}

int acp_session_send_mode(struct acp_session *session, struct acp_str mode)
{
    struct acp_session_config_option_list options;
    struct acp_session_update update;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    if (!agent_is_v2(session->agent)) {
        acp_session_update_init_current_mode_update(&update, mode);
        return agent_send_update(session, &update);
    }
    int err = change_mode(session, mode, &options);
    if (err)
        return err;
    acp_session_update_init_config_option_update(&update, options.items, options.count);
    return agent_send_update(session, &update);
}

int acp_session_send_options(struct acp_session *session,
                             const struct acp_session_config_option *options, size_t count)
{
    struct acp_session_update update;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    struct acp_session_config_option_list list =
        change_options(session, (struct acp_session_config_option_list){options, count});
    acp_session_update_init_config_option_update(&update, list.items, list.count);
    return agent_send_update(session, &update);
}

int acp_session_send_commands(struct acp_session *session,
                              const struct acp_available_command *commands, size_t count)
{
    struct acp_available_command_list list = {commands, count};
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE};
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    if (agent_is_v2(session->agent)) {
        struct acp_resume_session_response told = agent_kept_setup(session);
        told.available_commands = agent_dialect_commands(session->agent, list);
        (void) agent_keep_setup(session, &told);
        update.available_commands_update.available_commands_v2 = told.available_commands;
    } else {
        update.available_commands_update.available_commands = list;
    }
    return agent_send_update(session, &update);
}

/* ---- When the client changes it -------------------------------------------------------------- */

void agent_serve_set_mode(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_set_session_mode_request request;
    struct acp_failure failure;
    if (acp_set_session_mode_request_decode(agent->mode, params, &agent->arena, &request,
                                            &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!agent_is_usable(session))
        (void) agent_refuse_session(agent, call, request.session_id);
    else
        agent->handler.set_mode(session, call, request.mode_id, agent->user);
}

static bool is_made_mode(const struct acp_session *session,
                         const struct acp_set_session_config_option_request *request)
{
    return session->made_mode && session->agent->handler.set_mode &&
           request->is == ACP_SET_SESSION_CONFIG_OPTION_REQUEST_ID &&
           acp_str_is(request->config_id, "mode");
}

void agent_serve_set_option(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_set_session_config_option_request request;
    struct acp_failure failure;
    if (acp_set_session_config_option_request_decode(agent->mode, params, &agent->arena, &request,
                                                     &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!agent_is_usable(session))
        (void) agent_refuse_session(agent, call, request.session_id);
    else if (is_made_mode(session, &request))
        agent->handler.set_mode(session, call, request.id.value, agent->user);
    else if (agent->handler.set_option)
        agent->handler.set_option(session, call, &request, agent->user);
    else
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "There is no such option");
}

int acp_session_reply_set_mode(struct acp_session *session, acp_call call, struct acp_str mode)
{
    struct acp_agent *agent = session->agent;
    struct acp_set_session_config_option_response answer = {.meta = {NULL, 0}};
    if (!agent_is_v2(agent))
        return acp_peer_result(agent->peer, call, acp_raw_from(NULL));
    int err = change_mode(session, mode, &answer.config_options);
    if (err) {
        (void) acp_peer_error_for(agent->peer, call, err);
        return err;
    }
    return agent_answer(agent, call, ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, &answer);
}

int acp_session_reply_set_option(struct acp_session *session, acp_call call,
                                 struct acp_session_config_option_list options)
{
    struct acp_set_session_config_option_response answer = {.config_options =
                                                                change_options(session, options)};
    return agent_answer(session->agent, call, ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, &answer);
}
