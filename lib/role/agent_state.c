/*
 * The state of a session as a version 2 client is told it: idle, at work, or waiting for the user;
 * and what goes on in the background, which is part of every state once it was told.
 */
#include <stdlib.h>

#include "role/agent_role.h"

/* ---- Background ------------------------------------------------------------------------------ */

/* The list that was told last; items is NULL when none was. */
static struct acp_background_work_list kept_background(const struct acp_session *session)
{
    struct acp_running_state_update kept = {.meta = {NULL, 0}};
    struct acp_agent *agent = session->agent;
    if (session->background)
        (void) acp_running_state_update_decode(agent->mode, acp_raw_from(session->background),
                                               &agent->arena, &kept, NULL);
    return kept.background;
}

static int keep_background(struct acp_session *session, struct acp_background_work_list list)
{
    struct acp_running_state_update kept = {.background = list};
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_json_writer_init(&w, &text);
    int err = acp_running_state_update_encode(session->agent->mode, &kept, &w, NULL);
    char *copy = err ? NULL : acp_str_copy(acp_buf_view(&text));
    acp_buf_finish(&text);
    if (!copy)
        return err ? err : ACP_ERR_NOMEM;
    free(session->background);
    session->background = copy;
    return 0;
}

/* Where a state has its list; NULL for states that nobody listed. */
static struct acp_background_work_list *background_of(struct acp_state_update *state)
{
    switch (state->is) {
    case ACP_STATE_UPDATE_RUNNING:
        return &state->running.background;
    case ACP_STATE_UPDATE_IDLE:
        return &state->idle.background;
    case ACP_STATE_UPDATE_REQUIRES_ACTION:
        return &state->requires_action.background;
    case ACP_STATE_UPDATE_UNKNOWN:
        return &state->unknown_.background;
    default:
        return NULL;
    }
}

void agent_note_state(struct acp_session *session, struct acp_state_update *state)
{
    struct acp_background_work_list *list = background_of(state);
    session->told = state->is;
    if (!list)
        return;
    if (list->items)
        (void) keep_background(session, *list);
    else
        *list = kept_background(session);
}

int acp_session_send_background(struct acp_session *session,
                                const struct acp_background_work *items, size_t count)
{
    static const struct acp_background_work nothing = {.is = ACP_BACKGROUND_WORK_TERMINAL};
    struct acp_background_work_list list = {count ? items : &nothing, count};
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    if (!agent_is_v2(session->agent))
        return 0;
    int err = keep_background(session, list);
    return err ? err : agent_repeat_state(session);
}

/* ---- States ---------------------------------------------------------------------------------- */

static int send_state(struct acp_session *session, struct acp_session_update *update)
{
    agent_note_state(session, &update->state_update);
    return agent_send_update(session, update);
}

int agent_send_state(struct acp_session *session, enum acp_state_update_is state)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_STATE_UPDATE};
    update.state_update.is = state;
    return send_state(session, &update);
}

int agent_send_idle(struct acp_turn *turn, enum acp_idle_state_update_is stop,
                    const struct acp_error *error)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_STATE_UPDATE};
    struct acp_idle_state_update *idle = &update.state_update.idle;
    update.state_update.is = ACP_STATE_UPDATE_IDLE;
    idle->is = stop;
    idle->usage = turn->has_usage ? &turn->usage : NULL;
    if (stop == ACP_IDLE_STATE_UPDATE_ERROR)
        idle->error.error = error;
    return send_state(turn->session, &update);
}

int agent_repeat_state(struct acp_session *session)
{
    enum acp_state_update_is state = session->told;
    /* What nobody listed has a text that was not kept; that somebody is at work is sure. */
    if (state == ACP_STATE_UPDATE_UNLISTED)
        state = ACP_STATE_UPDATE_RUNNING;
    return agent_send_state(session, state ? state : ACP_STATE_UPDATE_IDLE);
}

/* ---- Waiting for the user -------------------------------------------------------------------- */

static int tell_blocked(struct acp_turn *turn)
{
    bool blocked = turn->questions > 0 && !turn->busy;
    if (!agent_is_v2(turn->session->agent) || turn->cancelled || blocked == turn->blocked)
        return 0;
    turn->blocked = blocked;
    return agent_send_state(turn->session,
                            blocked ? ACP_STATE_UPDATE_REQUIRES_ACTION : ACP_STATE_UPDATE_RUNNING);
}

void agent_count_question(struct acp_turn *turn, int change)
{
    turn->questions += (unsigned) change;
    (void) tell_blocked(turn);
}

int acp_turn_set_busy(struct acp_turn *turn, bool busy)
{
    turn->busy = busy;
    return tell_blocked(turn);
}
