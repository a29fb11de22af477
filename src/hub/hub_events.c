/*
 * hub_events.c - what clients are told about a session, and in which order.
 *
 * With one client, a message goes straight to its output.  In a shared session it becomes an event
 * with a number first; each client has a position and gets the events behind it, as fast as it
 * reads.  Answers are events, too, so that none overtakes the updates before it.
 *
 *     events   ... 17 18 19 20 21 22        22 is the last
 *                   ▲           ▲
 *                   slow        at the end
 *
 * Events stay in memory for clients that attach later, up to a limit; while one that is not
 * delivered would have to go, the agent waits.
 */
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

/* ---- Delivery -------------------------------------------------------------------------------- */

static void send_event(const struct hub_attachment *a, struct hub_event *event)
{
    struct hub_connection *c = &a->client->connection;
    bool own = event->client == a->client->number;
    switch (event->kind) {
    case HUB_EVENT_MESSAGE:
        break;
    case HUB_EVENT_PROMPT:
        if (own)
            return;
        break;
    case HUB_EVENT_RESPONSE:
        if (!own)
            return;
        event->client = 0; /* once */
        break;
    case HUB_EVENT_QUESTION:
        if (event->question)
            hub_question_send(event->question, a->client);
        return;
    }
    hub_send(c, acp_raw_n(event->text, event->len), NULL, 0);
}

void hub_attachment_deliver(struct hub_attachment *a)
{
    struct hub_session *session = a->session;
    struct hub_event *next;
    while (!a->client->connection.high && !a->client->connection.closed &&
           (next = a->at ? a->at->next : session->events)) {
        a->at = next;
        send_event(a, next);
    }
    hub_session_trim(session);
}

void hub_session_deliver(struct hub_session *session)
{
    struct hub_attachment *next;
    for (struct hub_attachment *a = session->attachments; a; a = next) {
        next = a->next_of_session;
        hub_attachment_deliver(a);
    }
}

void hub_session_send_answers(struct hub_session *session)
{
    for (struct hub_event *event = session->events; event; event = event->next)
        for (const struct hub_attachment *a = session->attachments; a; a = a->next_of_session)
            if (event->kind == HUB_EVENT_RESPONSE && event->client == a->client->number)
                send_event(a, event);
}

/* A client that has not got the first event, or only that; NULL if there is none. */
static struct hub_client *slowest(const struct hub_session *session)
{
    for (const struct hub_attachment *a = session->attachments; a; a = a->next_of_session)
        if (!a->at || a->at == session->events)
            return a->client;
    return NULL;
}

void hub_session_trim(struct hub_session *session)
{
    while (session->event_bytes > HUB_MAX_EVENT_BYTES && session->events && session->events->next) {
        struct hub_client *slow = slowest(session);
        struct hub_event *event = session->events;
        if (slow || event->question) {
            if (slow && session->agent)
                hub_connection_hold(&session->agent->connection, &slow->connection);
            return;
        }
        session->events = event->next;
        session->event_bytes -= event->len;
        free(event);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

int hub_session_add_event(struct hub_session *session, enum hub_event_kind kind,
                          const struct hub_client *client, struct acp_raw text,
                          const struct acp_splice *splices, size_t count, struct hub_event **ret)
{
    struct acp_buf spliced;
    acp_buf_init(&spliced, session->hub->options.max_output);
    int err = hub_splice(text, splices, count, &spliced);
    struct hub_event *event = err ? NULL : malloc(sizeof(*event) + spliced.len);
    if (event) {
        *event = (struct hub_event){.seq = ++session->last_seq,
                                    .kind = kind,
                                    .client = client ? client->number : 0,
                                    .len = spliced.len};
        memcpy(event->text, acp_buf_view(&spliced).ptr, spliced.len);
        if (session->last_event)
            session->last_event->next = event;
        else
            session->events = event;
        session->last_event = event;
        session->event_bytes += event->len;
        if (ret)
            *ret = event;
    } else if (session->agent) {
        /* What was sent would be missing: better no agent than a hole. */
        hub_agent_stop(session->agent, "out of memory");
    }
    acp_buf_finish(&spliced);
    return event ? 0 : ACP_ERR_NOMEM;
}

void hub_session_tell(struct hub_session *session, struct acp_raw text,
                      const struct acp_splice *splices, size_t count)
{
    if (session->hub->options.shared) {
        if (hub_session_add_event(session, HUB_EVENT_MESSAGE, NULL, text, splices, count, NULL) ==
            0)
            hub_session_deliver(session);
        return;
    }
    for (struct hub_attachment *a = session->attachments; a; a = a->next_of_session) {
        hub_send(&a->client->connection, text, splices, count);
        if (session->agent)
            hub_connection_hold(&session->agent->connection, &a->client->connection);
    }
}

void hub_session_answer(struct hub_session *session, struct hub_connection *to, struct acp_raw text,
                        const struct acp_splice *splices, size_t count)
{
    struct hub_client *client = (struct hub_client *) to;
    struct hub_attachment *a = hub_session_attachment(session, client);
    if (!session->hub->options.shared || !a) {
        hub_send(to, text, splices, count);
        return;
    }
    if (hub_session_add_event(session, HUB_EVENT_RESPONSE, client, text, splices, count, NULL) == 0)
        hub_session_deliver(session);
}

void hub_session_show_prompt(struct hub_session *session, const struct hub_client *author,
                             struct acp_raw params)
{
    struct acp_json_reader r;
    struct acp_raw block;
    struct acp_buf text;
    /* In version 2 the agent shows it. */
    if (!session->hub->options.shared || session->hub->version >= 2 ||
        !acp_json_find_member(params, "prompt", NULL, &r) || acp_json_enter_array(&r))
        return;
    acp_buf_init(&text, session->hub->options.max_output);
    while (acp_json_next_item(&r) > 0 && acp_json_read_raw(&r, &block) == 0) {
        acp_buf_clear(&text);
        if (acp_buf_printf(&text,
                           "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
                           "{\"sessionId\":%.*s,\"update\":{\"sessionUpdate\":"
                           "\"user_message_chunk\",\"content\":%.*s}}}",
                           ACP_ARG(session->public_id), ACP_ARG(block)) == 0)
            (void) hub_session_add_event(session, HUB_EVENT_PROMPT, author,
                                         acp_raw_n(acp_buf_view(&text).ptr, text.len), NULL, 0,
                                         NULL);
    }
    acp_buf_finish(&text);
    hub_session_deliver(session);
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* The result with which the session was opened, with our id where it has one. */
static int write_opened(const struct hub_session *session, struct acp_raw id, struct acp_buf *out)
{
    struct acp_raw named = {NULL, 0};
    int err = acp_buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":", ACP_ARG(id));
    if (!err && session->opened) {
        struct acp_raw opened = acp_raw_from(session->opened);
        (void) acp_json_member_raw(opened, "sessionId", &named);
        struct acp_splice splice = {named, session->public_id};
        err = acp_scan_splice_all(opened, &splice, 1, out);
    } else if (!err) {
        err = acp_buf_append(out, "{}", 2);
    }
    return err ? err : acp_buf_append(out, "}", 1);
}

void hub_session_join(struct hub_session *session, struct hub_client *client,
                      const struct hub_message *message)
{
    struct acp_buf text;
    struct acp_raw id = message->scan.id;
    if (session->state == HUB_SESSION_OPENING || message->scan.kind != ACP_SCAN_REQUEST) {
        if (message->scan.kind == ACP_SCAN_REQUEST)
            hub_send_error(&client->connection, id, RPC_INVALID_REQUEST,
                           acp_str_from("the session is being opened"));
        return;
    }
    bool attached = hub_session_attachment(session, client) != NULL;
    if (message->method == HUB_LOAD)
        hub_session_detach(session, client);
    acp_buf_init(&text, HUB_MAX_SETUP + HUB_MAX_REQUEST_ID + 8 * HUB_PUBLIC_ID_SIZE);
    int err = hub_session_attach(session, client);
    if (!err && message->method == HUB_RESUME && !attached)
        hub_session_attachment(session, client)->at = session->last_event;
    if (!err)
        err = write_opened(session, id, &text);
    if (err)
        hub_send_error(&client->connection, id, RPC_INTERNAL_ERROR,
                       acp_str_from(acp_err_text(err)));
    else
        hub_session_answer(session, &client->connection,
                           acp_raw_n(acp_buf_view(&text).ptr, text.len), NULL, 0);
    /* One that resumes has not seen the events, but it must be asked what is open. */
    for (struct hub_question *q = session->open_questions; !err && q; q = q->next)
        if (message->method == HUB_RESUME && !attached)
            hub_question_send(q, client);
    acp_buf_finish(&text);
}
