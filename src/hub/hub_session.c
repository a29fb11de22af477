/*
 * hub_session.c - sessions: their ids, their states, and who is attached.
 *
 * Our id for a session is a tag and the agent's id:
 *
 *     6f1c...e2-sess_17          the agent's id is plain
 *     6f1c...e2~736573732f31     it is not, and stands there in hexadecimal digits
 *     6f1c...e2.2-sess_17        a second agent of the workspace uses the same id
 *
 * The tag is a keyed hash of the agent's name, the workspace, the number after the point and the
 * agent's id.  So nobody can guess an id, a session has the same id after a restart, and nothing
 * has to be stored to find it again.
 *
 * The client of a hub that is not shared may also load sessions by the ids that the agent has told
 * it before there was a proxy; these stay as they are.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "workspace/digest.h"

/* ---- Ids ------------------------------------------------------------------------------------- */

static char hex_digit(unsigned value)
{
    return "0123456789abcdef"[value & 15];
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void write_hex(const void *bytes, size_t n, char *ret)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) {
        *ret++ = hex_digit(at[i] >> 4);
        *ret++ = hex_digit(at[i]);
    }
}

/* Two hashes, as in HMAC: the outer one hides the state of the inner one. */
static int make_tag(const struct hub *hub, const struct hub_id *id, char ret[HUB_TAG_LENGTH])
{
    unsigned char digest[ACP_DIGEST_SIZE];
    struct acp_buf text;
    acp_buf_init(&text, HUB_MAX_SESSION_ID + 4 * ACP_PATH_SIZE);
    int err = acp_buf_append(&text, hub->options.key, HUB_KEY_SIZE);
    if (!err)
        err = acp_buf_printf(&text, "%s%c%s%c%u%c", hub->options.name, 0, id->workspace, 0,
                             id->copy, 0);
    if (!err)
        err = acp_buf_append_str(&text, id->agent_id);
    if (!err) {
        acp_digest(acp_buf_view(&text), digest);
        acp_buf_truncate(&text, HUB_KEY_SIZE);
        err = acp_buf_append(&text, digest, sizeof(digest));
    }
    if (!err) {
        acp_digest(acp_buf_view(&text), digest);
        write_hex(digest, HUB_TAG_LENGTH / 2, ret);
    }
    acp_buf_finish(&text);
    return err;
}

static bool is_plain(struct acp_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            !strchr("-_.:~", c ? c : ' '))
            return false;
    }
    return true;
}

int hub_public_id(const struct hub *hub, const struct hub_id *id, char ret[HUB_PUBLIC_ID_SIZE],
                  size_t *ret_len)
{
    bool plain = is_plain(id->agent_id);
    assert(id->agent_id.len <= HUB_MAX_SESSION_ID);
    int err = make_tag(hub, id, ret);
    if (err)
        return err;
    size_t n = HUB_TAG_LENGTH;
    if (id->copy)
        n += (size_t) snprintf(ret + n, 12, ".%u", id->copy);
    ret[n++] = plain ? '-' : '~';
    if (!plain)
        write_hex(id->agent_id.ptr, id->agent_id.len, ret + n);
    else if (id->agent_id.len)
        memcpy(ret + n, id->agent_id.ptr, id->agent_id.len);
    *ret_len = n + id->agent_id.len * (plain ? 1 : 2);
    return 0;
}

/* Takes the same time wherever two ids differ. */
static bool is_same(const char *a, const char *b, size_t n)
{
    unsigned different = 0;
    for (size_t i = 0; i < n; i++)
        different |= (unsigned char) (a[i] ^ b[i]);
    return !different;
}

/* The number behind the point, which is optional; returns how much was read. */
static size_t read_copy(struct acp_str text, unsigned *ret)
{
    size_t n = 0;
    unsigned copy = 0;
    if (text.len && text.ptr[0] == '.')
        for (n = 1; n < text.len && n < 9 && text.ptr[n] >= '0' && text.ptr[n] <= '9'; n++)
            copy = copy * 10 + (unsigned) (text.ptr[n] - '0');
    *ret = copy;
    return n;
}

/* The agent's id as it stands in ours; false if it cannot. */
static bool read_agent_id(char separator, struct acp_str text, char *ret, size_t *ret_len)
{
    if (separator == '-' && text.len <= HUB_MAX_SESSION_ID) {
        memcpy(ret, text.ptr, text.len);
        *ret_len = text.len;
        return true;
    }
    if (separator != '~' || text.len > 2 * (size_t) HUB_MAX_SESSION_ID || text.len % 2)
        return false;
    for (size_t i = 0; i < text.len; i += 2) {
        int high = hex_value(text.ptr[i]);
        int low = hex_value(text.ptr[i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret[i / 2] = (char) (high << 4 | low);
    }
    *ret_len = text.len / 2;
    return true;
}

bool hub_agent_id(const struct hub *hub, const char *workspace, struct acp_str public_id,
                  char buffer[HUB_MAX_SESSION_ID], struct hub_id *ret)
{
    char made[HUB_PUBLIC_ID_SIZE];
    struct hub_id id = {.workspace = workspace};
    size_t made_len = 0;
    size_t at = HUB_TAG_LENGTH;
    if (public_id.len <= at)
        return false;
    at += read_copy(acp_str_n(public_id.ptr + at, public_id.len - at), &id.copy);
    if (at >= public_id.len ||
        !read_agent_id(public_id.ptr[at], acp_str_n(public_id.ptr + at + 1, public_id.len - at - 1),
                       buffer, &id.agent_id.len))
        return false;
    id.agent_id.ptr = buffer;
    /* Written in another way it is not our id. */
    if (hub_public_id(hub, &id, made, &made_len) || made_len != public_id.len ||
        !is_same(made, public_id.ptr, made_len))
        return false;
    *ret = id;
    return true;
}

int hub_write_id(struct acp_buf *out, struct acp_str id)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_write_str(&w, id);
    return w.err;
}

/* The client's id as it is: ours has no escapes. */
static struct acp_str public_key(const struct hub_session *session)
{
    return session->own_id ? session->agent_key
                           : acp_str_n(session->public_id.ptr + 1, session->public_id.len - 2);
}

/* ---- States ---------------------------------------------------------------------------------- */

static bool may_change(enum hub_session_state from, enum hub_session_state to)
{
    switch (to) {
    case HUB_SESSION_OPENING:
        return false;
    case HUB_SESSION_IDLE:
    case HUB_SESSION_RUNNING:
    case HUB_SESSION_WAITING:
        return from != HUB_SESSION_LOST && from != HUB_SESSION_CLOSED;
    case HUB_SESSION_LOST:
        return from != HUB_SESSION_OPENING && from != HUB_SESSION_CLOSED;
    case HUB_SESSION_REOPENING:
        return from == HUB_SESSION_LOST;
    case HUB_SESSION_CLOSED:
        return true;
    }
    return false;
}

void hub_session_set_state(struct hub_session *session, enum hub_session_state state)
{
    bool legal = may_change(session->state, state);
    assert(legal);
    (void) legal;
    session->state = state;
    if (session->agent)
        hub_agent_note_work(session->agent);
}

void hub_session_update(struct hub_session *session)
{
    enum hub_session_state state = !session->turns      ? HUB_SESSION_IDLE
                                   : session->questions ? HUB_SESSION_WAITING
                                                        : HUB_SESSION_RUNNING;
    if (session->state == HUB_SESSION_IDLE || session->state == HUB_SESSION_RUNNING ||
        session->state == HUB_SESSION_WAITING)
        hub_session_set_state(session, state);
}

/* ---- Life ------------------------------------------------------------------------------------ */

struct hub_session *hub_session_find(const struct hub *hub, struct acp_str public_id)
{
    return acp_map_get(&hub->sessions, public_id);
}

struct hub_session *hub_session_of_agent(struct hub_agent *agent, struct acp_str agent_id)
{
    struct hub_session *last = agent->last_found;
    if (last && acp_str_eq(last->agent_key, agent_id))
        return last;
    struct hub_session *found = acp_map_get(&agent->by_id, agent_id);
    if (found)
        agent->last_found = found;
    return found;
}

static void link_session(struct hub_session *session, struct hub_session **list)
{
    session->next = *list;
    session->link = list;
    if (session->next)
        session->next->link = &session->next;
    *list = session;
}

static void unlink_session(struct hub_session *session)
{
    *session->link = session->next;
    if (session->next)
        session->next->link = session->link;
}

/* Both ids as JSON, and the agent's as it is. */
static int write_ids(struct acp_buf *out, const struct hub *hub, const struct hub_id *id,
                     size_t *ret_public, size_t *ret_agent)
{
    char made[HUB_PUBLIC_ID_SIZE];
    struct acp_str public_id = id->agent_id;
    int err = 0;
    if (!id->own) {
        err = hub_public_id(hub, id, made, &public_id.len);
        public_id.ptr = made;
    }
    if (!err)
        err = hub_write_id(out, public_id);
    *ret_public = out->len;
    if (!err)
        err = hub_write_id(out, id->agent_id);
    *ret_agent = out->len - *ret_public;
    if (!err)
        err = acp_buf_append_str(out, id->agent_id);
    return err;
}

static int make_session(struct hub *hub, const struct hub_id *id, struct hub_session **ret)
{
    struct acp_buf text;
    size_t public_len = 0;
    size_t agent_len = 0;
    acp_buf_init(&text, 8 * HUB_PUBLIC_ID_SIZE);
    int err = write_ids(&text, hub, id, &public_len, &agent_len);
    struct hub_session *session = err ? NULL : calloc(1, sizeof(*session) + text.len);
    if (session) {
        char *at = session->ids;
        memcpy(at, acp_buf_view(&text).ptr, text.len);
        session->hub = hub;
        session->own_id = id->own;
        session->public_id = acp_raw_n(at, public_len);
        session->agent_id = acp_raw_n(at + public_len, agent_len);
        session->agent_key = acp_str_n(at + public_len + agent_len, id->agent_id.len);
        hub_queue_init(&session->waiting);
        *ret = session;
    }
    acp_buf_finish(&text);
    return err ? err : session ? 0 : ACP_ERR_NOMEM;
}

/*
 * The session with an id of ours that is free: agents of one workspace that number their sessions
 * use the same ids.
 */
static int make_unused(struct hub *hub, struct hub_id *id, struct hub_session **ret)
{
    for (; id->copy < HUB_MAX_AGENTS; id->copy++) {
        int err = make_session(hub, id, ret);
        if (err || id->own || !hub_session_find(hub, public_key(*ret)))
            return err;
        free(*ret);
    }
    return ACP_ERR_LIMIT;
}

static void take_agent(struct hub_session *session, struct hub_agent *agent)
{
    session->agent = agent;
    link_session(session, agent ? &agent->sessions : &session->hub->lost);
    if (agent)
        agent->session_count++;
}

int hub_session_new(struct hub_agent *agent, const struct hub_id *wanted, struct hub_session **ret)
{
    struct hub *hub = agent->connection.hub;
    struct hub_session *session;
    if (hub->sessions.count >= hub->options.max_sessions ||
        wanted->agent_id.len > HUB_MAX_SESSION_ID)
        return ACP_ERR_LIMIT;
    if (acp_map_get(&agent->by_id, wanted->agent_id))
        return ACP_ERR_STATE;
    struct hub_id id = *wanted;
    id.workspace = agent->workspace->path;
    int err = make_unused(hub, &id, &session);
    if (err)
        return err;
    if (hub_session_find(hub, public_key(session)))
        err = ACP_ERR_STATE;
    if (!err)
        err = acp_map_set(&hub->sessions, public_key(session), session);
    if (!err && (err = acp_map_set(&agent->by_id, session->agent_key, session)))
        (void) acp_map_remove(&hub->sessions, public_key(session));
    if (err) {
        free(session);
        return err;
    }
    session->workspace = agent->workspace;
    session->workspace->uses++;
    take_agent(session, agent);
    *ret = session;
    return 0;
}

static void leave_agent(struct hub_session *session)
{
    struct hub_agent *agent = session->agent;
    unlink_session(session);
    if (!agent)
        return;
    if (agent->last_found == session)
        agent->last_found = NULL;
    (void) acp_map_remove(&agent->by_id, session->agent_key);
    agent->session_count--;
    session->agent = NULL;
    hub_agent_note_work(agent);
}

void hub_session_move(struct hub_session *session, struct hub_agent *agent)
{
    leave_agent(session);
    if (agent && acp_map_set(&agent->by_id, session->agent_key, session))
        agent = NULL;
    take_agent(session, agent);
}

void hub_session_lose(struct hub_session *session)
{
    struct hub_agent *agent = session->agent;
    struct hub_request *request;
    while (session->open_questions)
        hub_question_withdraw(session->open_questions);
    /* Those that the agent has not answered fail when it has gone; they are no turns any more. */
    for (size_t cursor = 0; (request = acp_numbers_next(&agent->connection.asked, &cursor));)
        if (request->session == session)
            request->counted = false;
    for (request = agent->connection.requests; request; request = request->next)
        if (request->session == session)
            request->counted = false;
    session->turns = 0;
    session->questions = 0;
    hub_session_log(session, HUB_LOG_INFO, "the session is lost until it is used again");
    hub_session_move(session, NULL);
    hub_session_set_state(session, HUB_SESSION_LOST);
}

/* Requests that are under way are answered as usual, but not about this session any more. */
static void forget_session(struct hub_connection *c, const struct hub_session *session)
{
    for (struct hub_request *r = c->requests; r; r = r->next)
        if (r->session == session)
            r->session = NULL;
}

static void forget_everywhere(struct hub_session *session)
{
    struct hub *hub = session->hub;
    struct hub_request *request;
    for (struct hub_client *client = hub->clients; client; client = client->next)
        forget_session(&client->connection, session);
    if (!session->agent)
        return;
    forget_session(&session->agent->connection, session);
    for (size_t cursor = 0;
         (request = acp_numbers_next(&session->agent->connection.asked, &cursor));)
        if (request->session == session)
            request->session = NULL;
}

void hub_session_free(struct hub_session *session)
{
    static const struct acp_str closed = ACP_STR("the session was closed");
    struct hub *hub = session->hub;
    while (session->open_questions)
        hub_question_withdraw(session->open_questions);
    hub_session_send_answers(session);
    while (session->attachments)
        hub_session_detach(session, session->attachments->client);
    hub_session_set_state(session, HUB_SESSION_CLOSED);
    hub_queue_fail(&session->waiting, NULL, closed);
    if (session->agent)
        hub_queue_fail(&session->agent->waiting, session, closed);
    forget_everywhere(session);
    leave_agent(session);
    (void) acp_map_remove(&hub->sessions, public_key(session));
    hub_workspace_release(hub, session->workspace);
    while (session->events) {
        struct hub_event *event = session->events;
        session->events = event->next;
        free(event);
    }
    free(session->setup);
    free(session->opened);
    free(session);
}

void hub_session_cancel(struct hub_session *session)
{
    if (session->agent && session->turns && session->state != HUB_SESSION_REOPENING)
        hub_send_text(&session->agent->connection,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":"
                      "{\"sessionId\":%.*s}}",
                      ACP_ARG(session->agent_id));
}

void hub_session_keep_setup(struct hub_session *session, struct acp_raw params)
{
    free(session->setup);
    session->setup = hub_copy(params, HUB_MAX_SETUP);
}

/* ---- Attached clients ------------------------------------------------------------------------ */

struct hub_attachment *hub_session_attachment(const struct hub_session *session,
                                              const struct hub_client *client)
{
    struct hub_attachment *a = session->attachments;
    while (a && a->client != client)
        a = a->next_of_session;
    return a;
}

int hub_session_attach(struct hub_session *session, struct hub_client *client)
{
    struct hub_attachment *a = hub_session_attachment(session, client);
    if (a)
        return 0;
    a = malloc(sizeof(*a));
    if (!a)
        return ACP_ERR_NOMEM;
    *a = (struct hub_attachment){
        .client = client,
        .session = session,
        .next_of_client = client->attachments,
        .next_of_session = session->attachments,
    };
    client->attachments = a;
    session->attachments = a;
    return 0;
}

void hub_session_detach(struct hub_session *session, struct hub_client *client)
{
    struct hub_attachment **link = &session->attachments;
    while (*link && (*link)->client != client)
        link = &(*link)->next_of_session;
    struct hub_attachment *a = *link;
    if (!a)
        return;
    hub_session_unask(session, client);
    *link = a->next_of_session;
    for (link = &client->attachments; *link != a;)
        link = &(*link)->next_of_client;
    *link = a->next_of_client;
    free(a);
    hub_session_trim(session);
}
