/*
 * Two agents and three clients in a shared hub, doing what they like in random order, crashes and
 * disconnections among it.  Whatever happens:
 *
 *   - each request has one answer, on both sides, and none that was not asked for
 *   - what a client sees of a session are the agent's updates, in order and without gaps
 *   - an answer to a prompt comes behind the updates before it
 *   - nothing of one session or agent reaches another
 *   - events in memory stay below their limit
 *
 * Each update says which agent, session and update it is; that is what is compared.  HUB_SEED and
 * HUB_ROUNDS repeat a run.
 */
#include "hub_world.h"

#include <stdio.h>

#include "json/members.h"

enum { CLIENTS = 3, MAX_SESSIONS = 64, MAX_IDS = 1024, STEPS = 600 };

/* A session as its agents know it; a process that continues it goes on counting. */
struct model_session {
    char agent_id[24];
    char workspace[8];
    char public_id[HUB_PUBLIC_ID_SIZE + 1];
    unsigned said; /* updates */
    size_t agent;  /* that hosts it now */
    bool open;     /* for that agent */
};

struct seen {
    unsigned update;   /* the last that the client has seen; 0: none */
    unsigned restarts; /* how often it may see all from the beginning, as it has asked for */
    bool attached;
};

struct open_id {
    char id[40];
    char method[24];
    size_t session;
    unsigned said; /* updates before the agent answered */
};

struct model {
    struct world *w;
    uint64_t random;
    struct model_session sessions[MAX_SESSIONS];
    size_t session_count;
    struct seen seen[WORLD_CLIENTS][MAX_SESSIONS];
    struct open_id asked[WORLD_CLIENTS][MAX_IDS]; /* by clients, not answered */
    size_t asked_count[WORLD_CLIENTS];
    struct open_id wants[WORLD_AGENTS][MAX_IDS]; /* by agents */
    size_t wants_count[WORLD_AGENTS];
    struct open_id got[WORLD_AGENTS][MAX_IDS]; /* by agents, to be answered */
    size_t got_count[WORLD_AGENTS];
    struct open_id questions[WORLD_CLIENTS][MAX_IDS]; /* to clients, to be answered */
    size_t question_count[WORLD_CLIENTS];
    size_t clients[CLIENTS]; /* those that are connected */
    unsigned ids;
    unsigned answers;
    unsigned updates;
};

static unsigned pick(struct model *m, unsigned most)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (unsigned) (m->random >> 33) % most;
}

/* ---- Lists of ids ---------------------------------------------------------------------------- */

static struct open_id *add_id(struct open_id *list, size_t *count, const char *id,
                              const char *method, size_t session)
{
    assert_true(*count < MAX_IDS);
    struct open_id *added = &list[(*count)++];
    *added = (struct open_id){.session = session};
    (void) snprintf(added->id, sizeof(added->id), "%s", id);
    (void) snprintf(added->method, sizeof(added->method), "%s", method);
    return added;
}

static struct open_id *find_id(struct open_id *list, size_t count, struct acp_raw id)
{
    for (size_t i = 0; i < count; i++)
        if (acp_str_is(acp_str_n(id.ptr, id.len), list[i].id))
            return &list[i];
    return NULL;
}

static struct open_id take_id(struct open_id *list, size_t *count, struct open_id *which)
{
    struct open_id taken = *which;
    *which = list[--*count];
    return taken;
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static size_t find_public(const struct model *m, struct acp_str id)
{
    for (size_t i = 0; i < m->session_count; i++)
        if (acp_str_is(id, m->sessions[i].public_id))
            return i;
    return MAX_SESSIONS;
}

static size_t find_hosted(const struct model *m, size_t agent, struct acp_str id)
{
    for (size_t i = 0; i < m->session_count; i++)
        if (acp_str_is(id, m->sessions[i].agent_id) &&
            strcmp(m->sessions[i].workspace, m->w->agents[agent].workspace) == 0)
            return i;
    return MAX_SESSIONS;
}

/* ---- What clients get ------------------------------------------------------------------------ */

static void client_saw_update(struct model *m, size_t client, size_t session, struct acp_raw update)
{
    struct seen *seen = &m->seen[client][session];
    struct acp_str of = {NULL, 0};
    uint64_t n = 0;
    char expected[64];
    if (acp_json_member_str(update, "of", NULL, &of) || !of.ptr)
        return; /* a prompt of another client */
    assert_int_equal(acp_json_member_u64(update, "n", &n), 0);
    (void) snprintf(expected, sizeof(expected), "%s %s", m->sessions[session].workspace,
                    m->sessions[session].agent_id);
    assert_true(acp_str_is(of, expected));
    if (seen->update && n != seen->update + 1) {
        assert_true(seen->restarts > 0);
        seen->restarts--;
    }
    seen->update = (unsigned) n;
    m->updates++;
}

static void client_got_answer(struct model *m, size_t client, const char *line,
                              const struct acp_scan *scan)
{
    struct open_id *open = find_id(m->asked[client], m->asked_count[client], scan->id);
    if (!open)
        fail_msg("client %zu has not asked for %s", client, line);
    struct open_id asked = take_id(m->asked[client], &m->asked_count[client], open);
    struct seen *seen = &m->seen[client][asked.session];
    uint64_t said = 0;
    m->answers++;
    if (strcmp(asked.method, "new") == 0 && scan->result.ptr) {
        size_t session = find_public(m, acp_scan_plain(scan->session_id));
        assert_true(session < MAX_SESSIONS);
        m->seen[client][session].attached = true;
    }
    if (strcmp(asked.method, "load") == 0 || strcmp(asked.method, "resume") == 0)
        seen->attached |= scan->result.ptr != NULL;
    if (strcmp(asked.method, "prompt") == 0 && scan->result.ptr &&
        !acp_json_member_u64(scan->result, "said", &said) && seen->attached && said && seen->update)
        assert_true(seen->update >= said);
}

static void client_reads(struct model *m, size_t client)
{
    const char *line;
    struct acp_scan scan;
    while ((line = world_client_line(m->w, client))) {
        struct acp_raw update = {NULL, 0};
        assert_int_equal(
            acp_scan_message(acp_raw_from(line), acp_str_from("requestId"), &scan, NULL), 0);
        size_t session = scan.session_id.ptr && scan.kind != ACP_SCAN_RESPONSE
                             ? find_public(m, acp_scan_plain(scan.session_id))
                             : MAX_SESSIONS;
        char id[24];
        switch (scan.kind) {
        case ACP_SCAN_NOTIFICATION:
            if (acp_str_is(acp_scan_plain(scan.method), "session/update")) {
                assert_true(session < MAX_SESSIONS);
                (void) acp_json_member_raw(scan.params, "update", &update);
                client_saw_update(m, client, session, update);
            } else if (acp_str_is(acp_scan_plain(scan.method), "$/cancel_request")) {
                struct open_id *open =
                    find_id(m->questions[client], m->question_count[client], scan.key);
                if (open)
                    (void) take_id(m->questions[client], &m->question_count[client], open);
            }
            break;
        case ACP_SCAN_REQUEST:
            assert_true(session < MAX_SESSIONS);
            (void) snprintf(id, sizeof(id), "%.*s", ACP_ARG(scan.id));
            (void) add_id(m->questions[client], &m->question_count[client], id, "", session);
            break;
        default:
            client_got_answer(m, client, line, &scan);
        }
    }
}

/* ---- What agents get ------------------------------------------------------------------------- */

static void agent_reads(struct model *m, size_t agent)
{
    const char *line;
    struct acp_scan scan;
    while ((line = world_agent_line(m->w, agent))) {
        char id[24];
        char method[40];
        assert_int_equal(
            acp_scan_message(acp_raw_from(line), acp_str_from("requestId"), &scan, NULL), 0);
        if (scan.kind == ACP_SCAN_RESPONSE) {
            struct open_id *open = find_id(m->wants[agent], m->wants_count[agent], scan.id);
            assert_non_null(open);
            (void) take_id(m->wants[agent], &m->wants_count[agent], open);
            continue;
        }
        size_t session = scan.session_id.ptr
                             ? find_hosted(m, agent, acp_scan_plain(scan.session_id))
                             : MAX_SESSIONS;
        (void) snprintf(method, sizeof(method), "%.*s", ACP_ARG(acp_scan_plain(scan.method)));
        if (scan.session_id.ptr)
            assert_true(session < MAX_SESSIONS);
        if (scan.kind != ACP_SCAN_REQUEST)
            continue;
        (void) snprintf(id, sizeof(id), "%.*s", ACP_ARG(scan.id));
        (void) add_id(m->got[agent], &m->got_count[agent], id,
                      strchr(method, '/') ? strchr(method, '/') + 1 : method, session);
    }
}

static void read_all(struct model *m)
{
    for (size_t i = 0; i < CLIENTS; i++)
        client_reads(m, m->clients[i]);
    for (size_t i = 0; i < m->w->agent_count; i++)
        agent_reads(m, i);
}

/* ---- What agents do -------------------------------------------------------------------------- */

static void say_update(struct model *m, size_t agent, size_t session)
{
    struct model_session *s = &m->sessions[session];
    s->said++;
    world_agent_says(m->w, agent,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
                     "\"%s\",\"update\":{\"of\":\"%s %s\",\"n\":%u}}}",
                     s->agent_id, s->workspace, s->agent_id, s->said);
}

static void open_session(struct model *m, size_t agent, const char *request)
{
    if (m->session_count == MAX_SESSIONS) {
        world_agent_says(m->w, agent,
                         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-1,"
                         "\"message\":\"full\"}}",
                         request);
        return;
    }
    struct model_session *s = &m->sessions[m->session_count];
    /* Agents of different workspaces use the same ids. */
    (void) snprintf(s->agent_id, sizeof(s->agent_id), "s%zu", m->session_count / 2);
    (void) snprintf(s->workspace, sizeof(s->workspace), "%.7s", m->w->agents[agent].workspace);
    if (find_hosted(m, agent, acp_str_from(s->agent_id)) < m->session_count)
        (void) snprintf(s->agent_id, sizeof(s->agent_id), "t%zu", m->session_count);
    (void) snprintf(s->public_id, sizeof(s->public_id), "%s",
                    world_id(m->w, s->workspace, s->agent_id));
    s->agent = agent;
    s->open = true;
    size_t session = m->session_count++;
    /* Some tell of a session before they have answered. */
    if (pick(m, 2))
        say_update(m, agent, session);
    world_agent_says(m->w, agent,
                     "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessionId\":\"%s\"}}", request,
                     s->agent_id);
}

static void agent_answers(struct model *m, size_t agent)
{
    struct open_id *which = &m->got[agent][pick(m, (unsigned) m->got_count[agent])];
    struct open_id got = take_id(m->got[agent], &m->got_count[agent], which);
    struct model_session *s = got.session < MAX_SESSIONS ? &m->sessions[got.session] : NULL;
    if (strcmp(got.method, "initialize") == 0) {
        world_agent_says(m->w, agent,
                         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":1,"
                         "\"agentCapabilities\":{\"loadSession\":true,\"sessionCapabilities\":"
                         "{\"list\":{}%s}}}}",
                         got.id, pick(m, 2) ? ",\"resume\":{}" : "");
    } else if (strcmp(got.method, "new") == 0) {
        open_session(m, agent, got.id);
    } else if (s && (strcmp(got.method, "load") == 0 || strcmp(got.method, "resume") == 0)) {
        s->agent = agent;
        s->open = true;
        world_agent_says(m->w, agent, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", got.id);
    } else if (pick(m, 8) == 0) {
        world_agent_says(m->w, agent,
                         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-5,"
                         "\"message\":\"no\"}}",
                         got.id);
    } else {
        world_agent_says(m->w, agent,
                         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":\"end_turn\","
                         "\"said\":%u}}",
                         got.id, s ? s->said : 0);
    }
}

static void agent_acts(struct model *m, size_t agent)
{
    size_t session = m->session_count ? pick(m, (unsigned) m->session_count) : MAX_SESSIONS;
    bool hosts =
        session < MAX_SESSIONS && m->sessions[session].open && m->sessions[session].agent == agent;
    char id[24];
    if (m->got_count[agent] && pick(m, 2)) {
        agent_answers(m, agent);
    } else if (hosts && pick(m, 4)) {
        say_update(m, agent, session);
    } else if (hosts) {
        (void) snprintf(id, sizeof(id), "\"q%u\"", ++m->ids);
        (void) add_id(m->wants[agent], &m->wants_count[agent], id, "", session);
        world_agent_says(m->w, agent,
                         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":"
                         "{\"sessionId\":\"%s\"}}",
                         id, pick(m, 3) ? "session/request_permission" : "fs/read_text_file",
                         m->sessions[session].agent_id);
    }
}

static void agent_crashes(struct model *m, size_t agent)
{
    for (size_t i = 0; i < m->session_count; i++)
        if (m->sessions[i].agent == agent)
            m->sessions[i].open = false;
    m->got_count[agent] = 0;
    m->wants_count[agent] = 0;
    world_agent_dies(m->w, agent, "crash");
}

/* ---- What clients do ------------------------------------------------------------------------- */

static void ask(struct model *m, size_t client, const char *method, size_t session)
{
    char id[24];
    (void) snprintf(id, sizeof(id), pick(m, 2) ? "%u" : "\"%u\"", ++m->ids);
    (void) add_id(m->asked[client], &m->asked_count[client], id, method, session);
    world_client_says(m->w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"session/%s\",\"params\":"
                      "{\"cwd\":\"%s\",\"sessionId\":\"%s\",\"prompt\":[{\"type\":\"text\"}]}}",
                      id, method, m->sessions[session].workspace, m->sessions[session].public_id);
}

static void ask_new(struct model *m, size_t client)
{
    char id[24];
    (void) snprintf(id, sizeof(id), "\"n%u\"", ++m->ids);
    (void) add_id(m->asked[client], &m->asked_count[client], id, "new", 0);
    world_client_says(m->w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"session/new\",\"params\":"
                      "{\"cwd\":\"%s\",\"mcpServers\":[]}}",
                      id, pick(m, 2) ? "/v" : "/w");
}

static void greet(struct model *m, size_t client)
{
    char id[24];
    (void) snprintf(id, sizeof(id), "%u", ++m->ids);
    (void) add_id(m->asked[client], &m->asked_count[client], id, "initialize", 0);
    world_client_says(m->w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"initialize\",\"params\":{}}",
                      id);
}

static void client_answers(struct model *m, size_t client)
{
    struct open_id *which = &m->questions[client][pick(m, (unsigned) m->question_count[client])];
    struct open_id question = take_id(m->questions[client], &m->question_count[client], which);
    if (pick(m, 3))
        world_client_says(m->w, client, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
                          question.id);
    else
        world_client_says(m->w, client,
                          "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":1,"
                          "\"message\":\"\"}}",
                          question.id);
}

static void join(struct model *m, size_t client, size_t session)
{
    bool load = pick(m, 2);
    m->seen[client][session].restarts++;
    ask(m, client, load ? "load" : "resume", session);
}

static void client_acts(struct model *m, size_t client)
{
    size_t session = m->session_count ? pick(m, (unsigned) m->session_count) : 0;
    struct seen *seen = &m->seen[client][session];
    unsigned what = pick(m, 12);
    if (m->question_count[client] && what < 4) {
        client_answers(m, client);
    } else if (!m->session_count || what == 4) {
        ask_new(m, client);
    } else if (what == 5 && m->asked_count[client]) {
        struct open_id *open = &m->asked[client][pick(m, (unsigned) m->asked_count[client])];
        world_client_says(m->w, client,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
                          "{\"requestId\":%s}}",
                          open->id);
    } else if (!seen->attached) {
        join(m, client, session);
    } else if (what == 6) {
        world_client_says(m->w, client,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":"
                          "{\"sessionId\":\"%s\"}}",
                          m->sessions[session].public_id);
    } else {
        ask(m, client, what == 7 ? "set_mode" : "prompt", session);
    }
}

static void client_leaves(struct model *m, size_t place)
{
    world_disconnect(m->w, m->clients[place]);
    m->asked_count[m->clients[place]] = 0;
    m->clients[place] = world_connect(m->w);
    greet(m, m->clients[place]);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void check_memory(const struct model *m)
{
    for (const struct hub_agent *agent = m->w->hub->agents; agent; agent = agent->next)
        for (const struct hub_session *s = agent->sessions; s; s = s->next)
            assert_true(s->event_bytes <= HUB_MAX_EVENT_BYTES);
}

static void step(struct model *m)
{
    size_t place = pick(m, CLIENTS);
    size_t client = m->clients[place];
    size_t agent = m->w->agent_count ? pick(m, (unsigned) m->w->agent_count) : 0;
    unsigned what = pick(m, 100);
    if (what == 0)
        client_leaves(m, place);
    else if (what == 1 && m->w->agents[agent].running)
        agent_crashes(m, agent);
    else if (what < 5)
        m->w->clients[client].stuck = !m->w->clients[client].stuck;
    else if (what < 40)
        client_acts(m, client);
    else
        for (size_t i = 0; i < m->w->agent_count; i++)
            if (m->w->agents[i].running)
                agent_acts(m, i);
    world_settle(m->w);
    read_all(m);
    check_memory(m);
}

/* Everybody reads and answers until nothing is open. */
static void finish(struct model *m)
{
    bool open = true;
    for (size_t i = 0; i < CLIENTS; i++)
        m->w->clients[m->clients[i]].stuck = false;
    for (unsigned rounds = 0; open; rounds++) {
        open = false;
        assert_true(rounds < 100000);
        world_settle(m->w);
        read_all(m);
        for (size_t i = 0; i < m->w->agent_count; i++)
            while (m->w->agents[i].running && m->got_count[i]) {
                agent_answers(m, i);
                open = true;
            }
        for (size_t i = 0; i < CLIENTS; i++)
            while (m->question_count[m->clients[i]]) {
                client_answers(m, m->clients[i]);
                open = true;
            }
    }
    for (size_t i = 0; i < CLIENTS; i++)
        assert_int_equal(m->asked_count[m->clients[i]], 0);
}

static void run(uint64_t seed)
{
    struct hub_options options = {.shared = true, .idle_ms = 0};
    struct model *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    m->random = seed * 0x9e3779b97f4a7c15u + 1;
    m->w = world_new(&options);
    for (size_t i = 0; i < CLIENTS; i++) {
        m->clients[i] = world_connect(m->w);
        greet(m, m->clients[i]);
    }
    world_settle(m->w);
    read_all(m);
    while (m->got_count[0])
        agent_answers(m, 0);
    for (unsigned i = 0; i < STEPS; i++)
        step(m);
    finish(m);
    assert_true(m->answers > STEPS / 20);
    assert_true(m->updates > STEPS / 20);
    hub_shut_down(m->w->hub, m->w->now);
    world_pass_time(m->w, 5000);
    assert_true(m->w->ended);
    world_free(m->w);
    free(m);
}

static void test_random_interleavings(void **state)
{
    const char *seed = getenv("HUB_SEED");
    const char *rounds = getenv("HUB_ROUNDS");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
    uint64_t count = rounds ? strtoull(rounds, NULL, 10) : seed ? 1 : 40;
    (void) state;
    for (uint64_t i = 0; i < count; i++) {
        print_message("# HUB_SEED=%llu\n", (unsigned long long) (first + i));
        run(first + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_interleavings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
