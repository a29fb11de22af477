/*
 * Sessions, from the client's side: their life, listing, deleting and closing them.
 */
#include <stdlib.h>

#include "role/client_role.h"

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_session(struct acp_client_session *session)
{
    client_forget_settings(session);
    acp_map_finish(&session->cancellable_tools);
    acp_map_finish(&session->cancellable_terminals);
    free(session->stop);
    free(session->id);
    free(session->cwd);
    free(session);
}

struct acp_client_session *client_add_session(struct acp_client *client, struct acp_str id,
                                              struct acp_str cwd)
{
    struct acp_client_session *session = acp_map_get(&client->sessions, id);
    if (session)
        return session;
    session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->client = client;
    acp_map_init(&session->cancellable_tools, (uintptr_t) session);
    acp_map_init(&session->cancellable_terminals, (uintptr_t) session);
    session->id = acp_str_copy(id);
    session->cwd = acp_str_copy(cwd);
    if (!session->id || !session->cwd || acp_map_set(&client->sessions, id, session)) {
        free_session(session);
        return NULL;
    }
    return session;
}

int acp_client_session_add_observer(struct acp_client_session *session,
                                    struct acp_client_session_observer *watch)
{
    if (watch->session || session->gone)
        return ACP_ERR_STATE;
    watch->session = session;
    watch->next = session->watches;
    session->watches = watch;
    return 0;
}

void acp_client_session_remove_observer(struct acp_client_session_observer *watch)
{
    if (!watch->session)
        return;
    struct acp_client_session_observer **at = &watch->session->watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    watch->session = NULL;
    watch->next = NULL;
}

static void notify_watches(struct acp_client_session *session)
{
    while (session->watches) {
        struct acp_client_session_observer *watch = session->watches;
        acp_client_session_remove_observer(watch);
        watch->session_ends(watch);
    }
}

void client_remove_session(struct acp_client_session *session)
{
    session->gone = true;
    notify_watches(session);
    (void) acp_map_remove(&session->client->sessions, acp_str_from(session->id));
    free_session(session);
}

void client_end_session(struct acp_client_session *session, int reason)
{
    struct acp_client *client = session->client;
    struct acp_outcome outcome = client_failed(client, reason);
    /* First of all: the program may close the connection when it hears of this. */
    session->gone = true;
    (void) acp_map_remove(&client->sessions, acp_str_from(session->id));
    client_drop_questions(session);
    client_end_turn(session, acp_str_from(NULL), &outcome);
    notify_watches(session);
    if (client->handler.end_session)
        client->handler.end_session(session, client->user);
    free_session(session);
}

/* ---- Listing, deleting, closing -------------------------------------------------------------- */

int acp_client_list_sessions(struct acp_client *client, struct acp_str cwd, struct acp_str cursor,
                             acp_client_fn *done, void *user)
{
    struct acp_list_sessions_request request = {.cwd = cwd, .cursor = cursor};
    int err = client_may(client, "session/list");
    return err ? err
               : client_send_done(client, acp_str_from("session/list"),
                                  ACP_TYPE_LIST_SESSIONS_REQUEST, &request,
                                  ACP_TYPE_LIST_SESSIONS_RESPONSE, done, user);
}

/* What the agent does not know is closed and deleted. */
static void settle_gone(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_reply fine = {.result = acp_raw_from("{}")};
    bool unknown =
        reply->err == ACP_ERR_REMOTE && reply->error_code == ACP_ERROR_CODE_RESOURCE_NOT_FOUND;
    struct acp_client_session *session =
        acp_map_get(&call->client->sessions, acp_str_from(call->id));
    if (session && (!reply->err || unknown))
        client_end_session(session, ACP_ERR_CANCELLED);
    client_settle_done(call, unknown ? &fine : reply);
}

static int send_gone(struct acp_client *client, struct acp_str id, const char *method,
                     acp_type_id params_type, const void *params, acp_type_id result_type,
                     acp_client_fn *done, void *user)
{
    struct client_call *call = client_call_new(client, settle_gone, result_type, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    call->then.done = done;
    call->id = acp_str_copy(id);
    if (!call->id) {
        client_call_free(call);
        return client_fail(client, ACP_ERR_NOMEM);
    }
    return client_send(call, acp_str_from(method), params_type, params, client->options.timeout_ms);
}

int acp_client_delete_session(struct acp_client *client, struct acp_str id, acp_client_fn *done,
                              void *user)
{
    struct acp_delete_session_request request;
    int err = client_may(client, "session/delete");
    if (err)
        return err;
    acp_delete_session_request_init(&request, id);
    return send_gone(client, id, "session/delete", ACP_TYPE_DELETE_SESSION_REQUEST, &request,
                     ACP_TYPE_DELETE_SESSION_RESPONSE, done, user);
}

int acp_client_close_session(struct acp_client_session *session, acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    struct acp_close_session_request request;
    int err = client_may(client, "session/close");
    if (err)
        return err;
    acp_close_session_request_init(&request, acp_str_from(session->id));
    return send_gone(client, acp_str_from(session->id), "session/close",
                     ACP_TYPE_CLOSE_SESSION_REQUEST, &request, ACP_TYPE_CLOSE_SESSION_RESPONSE,
                     done, user);
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct acp_str acp_client_session_id(const struct acp_client_session *session)
{
    return acp_str_from(session->id);
}

struct acp_str acp_client_session_cwd(const struct acp_client_session *session)
{
    return acp_str_from(session->cwd);
}

struct acp_client *acp_client_session_client(const struct acp_client_session *session)
{
    return session->client;
}

void acp_client_session_set_user(struct acp_client_session *session, void *user)
{
    session->user = user;
}

void *acp_client_session_user(const struct acp_client_session *session)
{
    return session->user;
}

struct acp_client_session *acp_client_find_session(const struct acp_client *client,
                                                   struct acp_str id)
{
    return acp_map_get(&client->sessions, id);
}

enum acp_session_state acp_client_session_state(const struct acp_client_session *session)
{
    return session->state;
}
