/*
 * Fuzzes a hub with what clients and agents say and do.  The first byte chooses the options; the
 * rest are lines, each with a letter in front:
 *
 *     a b c    the first, second, third client says the rest of the line
 *     A B C    likewise for agents, in the order in which they were started
 *     x y z    that client disconnects, and another takes its place
 *     X Y Z    that agent dies
 *     s t u    that client stops reading, or goes on
 *     !        time passes
 *
 * In what clients say, $1 to $4 are our ids for the sessions that agents call 1 to 4.
 *
 * Held: every output is whole messages of valid JSON; a client gets one answer to each of its
 * requests, and no answer that it has not asked for; at the end everything has been answered, and
 * nothing is left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

enum { CLIENTS = 3, AGENTS = 64, TAKEN = 4096 };

struct player {
    struct hub_process process; /* first; of an agent */
    struct hub_client *client;
    struct acp_endpoint *endpoint; /* NULL: it has gone */
    const struct hub_process_handler *handler;
    void *user;
    bool stopped;
    bool stuck;
    size_t requests; /* what a client has asked, and what it has got */
    size_t invalid;
    size_t answers;
};

struct world {
    struct hub_launcher launcher; /* first */
    struct hub *hub;
    struct player clients[CLIENTS];
    struct player agents[AGENTS];
    size_t agent_count;
    uint64_t now;
    bool ended;
};

/* ---- The launcher ---------------------------------------------------------------------------- */

static void pause_agent(struct hub_process *process, bool pause)
{
    (void) process;
    (void) pause;
}

static void stop_agent(struct hub_process *process)
{
    ((struct player *) process)->stopped = true;
}

static void free_agent(struct hub_process *process)
{
    ((struct player *) process)->endpoint = NULL;
}

static int start(struct hub_launcher *launcher, const struct hub_launch *launch,
                 struct hub_process **ret, struct acp_failure *failure)
{
    static const struct hub_process_class class = {pause_agent, stop_agent, free_agent};
    struct world *w = (struct world *) launcher;
    if (w->agent_count == AGENTS) {
        (void) snprintf(failure->message, sizeof(failure->message), "too many");
        return ACP_ERR_LIMIT;
    }
    struct player *agent = &w->agents[w->agent_count++];
    *agent = (struct player){.process.class = &class,
                             .endpoint = launch->endpoint,
                             .handler = launch->handler,
                             .user = launch->user};
    *ret = &agent->process;
    return 0;
}

static int find_workspace(struct hub_launcher *launcher, struct acp_str cwd,
                          char ret[ACP_PATH_SIZE], struct acp_failure *failure)
{
    (void) launcher;
    if (cwd.len < 2 || cwd.ptr[0] != '/') {
        (void) snprintf(failure->message, sizeof(failure->message), "no such directory");
        return ACP_ERR_UNKNOWN;
    }
    (void) snprintf(ret, ACP_PATH_SIZE, "/%c", cwd.ptr[1] & 1 ? 'w' : 'v');
    return 0;
}

/* ---- What comes out -------------------------------------------------------------------------- */

static void check_message(struct player *player, struct acp_raw line)
{
    struct acp_scan scan;
    CHECK(acp_scan_message(line, acp_str_from(NULL), &scan, NULL) == 0);
    CHECK(scan.version_ok);
    CHECK(scan.kind == ACP_SCAN_REQUEST || scan.kind == ACP_SCAN_NOTIFICATION ||
          scan.kind == ACP_SCAN_RESPONSE);
    if (player->client && scan.kind == ACP_SCAN_RESPONSE && scan.id.ptr[0] != 'n')
        player->answers++;
}

/* Checks the first message of the output, in either framing, and returns its length. */
static size_t take_message(struct player *player, struct acp_str out)
{
    static const char header[] = "Content-Length: ";
    size_t length = 0;
    const char *at = out.ptr + sizeof(header) - 1;
    if (!acp_str_starts_with(out, header)) {
        const char *end = memchr(out.ptr, '\n', out.len);
        CHECK(end);
        check_message(player, acp_raw_n(out.ptr, (size_t) (end - out.ptr)));
        return (size_t) (end - out.ptr) + 1;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        length = length * 10 + (size_t) (*at - '0');
    CHECK(memcmp(at, "\r\n\r\n", 4) == 0);
    at += 4;
    CHECK(length <= (size_t) (out.ptr + out.len - at));
    check_message(player, acp_raw_n(at, length));
    return (size_t) (at - out.ptr) + length;
}

static bool take_output(struct player *player)
{
    struct acp_str out;
    bool any = false;
    while (player->endpoint && !player->stuck &&
           (out = acp_endpoint_output(player->endpoint)).len) {
        size_t n = take_message(player, out);
        acp_endpoint_sent(player->endpoint, n);
        any = true;
    }
    return any;
}

static void settle(struct world *w)
{
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < CLIENTS; i++)
            again |= take_output(&w->clients[i]);
        for (size_t i = 0; i < w->agent_count; i++) {
            struct player *agent = &w->agents[i];
            again |= take_output(agent);
            if (agent->endpoint && agent->stopped) {
                agent->handler->ended(acp_str_from("stopped"), agent->user);
                again = true;
            }
        }
    }
}

/* ---- What goes in ---------------------------------------------------------------------------- */

static void connect(struct world *w, struct player *player)
{
    *player = (struct player){0};
    if (hub_client_new(w->hub, &player->client) == 0)
        player->endpoint = hub_client_endpoint(player->client);
}

static void disconnect(struct player *player)
{
    hub_client_free(player->client);
    player->client = NULL;
    player->endpoint = NULL;
}

static int put_ids(const struct world *w, struct acp_str text, struct acp_buf *out)
{
    char id[HUB_PUBLIC_ID_SIZE];
    int err = 0;
    for (size_t i = 0; i < text.len && !err; i++) {
        size_t n = 0;
        struct hub_id of = {.workspace = i & 1 ? "/w" : "/v"};
        if (text.ptr[i] != '$' || i + 1 == text.len || text.ptr[i + 1] < '1' ||
            text.ptr[i + 1] > '4') {
            err = acp_buf_append(out, &text.ptr[i], 1);
            continue;
        }
        of.agent_id = acp_str_n(&text.ptr[++i], 1);
        err = hub_public_id(w->hub, &of, id, &n);
        if (!err)
            err = acp_buf_append(out, id, n);
    }
    return err ? err : acp_buf_append(out, "\n", 1);
}

/* What the client is owed for it. */
static void count(struct player *player, struct acp_str line)
{
    struct acp_scan scan;
    if (acp_scan_message(acp_raw_n(line.ptr, line.len), acp_str_from(NULL), &scan, NULL))
        return;
    bool good = scan.id.ptr && scan.id.len <= HUB_MAX_REQUEST_ID && scan.id.ptr[0] == '"';
    if (scan.id.ptr && scan.id.ptr[0] != '"')
        good = scan.id.len < 20 && strspn(scan.id.ptr + (scan.id.ptr[0] == '-'), "0123456789") ==
                                       scan.id.len - (scan.id.ptr[0] == '-');
    player->requests += good && scan.kind == ACP_SCAN_REQUEST;
    player->invalid += good && scan.kind == ACP_SCAN_INVALID;
}

static void say(struct world *w, struct player *player, struct acp_str text)
{
    struct acp_buf line;
    if (!player->endpoint)
        return;
    acp_buf_init(&line, 1 << 20);
    if (put_ids(w, text, &line) == 0) {
        struct acp_str bytes = acp_buf_view(&line);
        if (player->client)
            count(player, acp_str_n(bytes.ptr, bytes.len - 1));
        (void) acp_endpoint_receive(player->endpoint, bytes.ptr, bytes.len, w->now);
    }
    acp_buf_finish(&line);
}

static void pass_time(struct world *w, uint64_t ms)
{
    w->now += ms;
    hub_tick(w->hub, w->now);
}

static void act(struct world *w, struct acp_str line)
{
    char what = line.ptr[0];
    size_t which = (size_t) (what & 0x1f);
    struct acp_str rest = acp_str_n(line.ptr + 1, line.len - 1);
    if (what >= 'a' && what <= 'c') {
        say(w, &w->clients[which - 1], rest);
    } else if (what >= 'A' && what <= 'C' && which <= w->agent_count) {
        say(w, &w->agents[which - 1], rest);
    } else if (what >= 'x' && what <= 'z') {
        disconnect(&w->clients[what - 'x']);
        connect(w, &w->clients[what - 'x']);
    } else if (what >= 'X' && what <= 'Z' && (size_t) (what - 'X') < w->agent_count) {
        struct player *agent = &w->agents[what - 'X'];
        if (agent->endpoint)
            agent->handler->ended(acp_str_from("crash"), agent->user);
    } else if (what >= 's' && what <= 'u') {
        w->clients[what - 's'].stuck = !w->clients[what - 's'].stuck;
    } else if (what == '!') {
        pass_time(w, 5000);
    }
    settle(w);
}

static void on_ended(void *user)
{
    ((struct world *) user)->ended = true;
}

/* Everybody reads, the agents end: now everything must have been answered. */
static void finish(struct world *w)
{
    for (size_t i = 0; i < CLIENTS; i++)
        w->clients[i].stuck = false;
    settle(w);
    hub_shut_down(w->hub, w->now);
    settle(w);
    pass_time(w, 10000);
    settle(w);
    CHECK(w->ended);
    for (size_t i = 0; i < CLIENTS; i++) {
        const struct player *client = &w->clients[i];
        /* With headers a line is not a message. */
        bool lines = client->client &&
                     client->client->connection.frames.framing != ACP_FRAMING_CONTENT_LENGTH;
        CHECK(!lines || client->answers >= client->requests);
        CHECK(!lines || client->answers <= client->requests + client->invalid);
        disconnect(&w->clients[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hub_handler handler = {.ended = on_ended};
    static struct world w;
    if (!size)
        return 0;
    w = (struct world){.launcher = {.start = start, .find_workspace = find_workspace}};
    struct hub_options options = {.name = "fuzz",
                                  .launcher = &w.launcher,
                                  .cwd = "/w",
                                  .shared = data[0] & 1,
                                  .agent_per_session = data[0] & 2,
                                  .idle_ms = data[0] & 4 ? 1000 : 0};
    CHECK(hub_new(&options, &handler, &w, &w.hub) == 0);
    for (size_t i = 0; i < CLIENTS; i++)
        connect(&w, &w.clients[i]);
    const char *at = (const char *) data + 1;
    const char *end = (const char *) data + size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t) (end - at));
        stop = stop ? stop : end;
        if (stop > at && stop - at < TAKEN)
            act(&w, acp_str_n(at, (size_t) (stop - at)));
        at = stop + 1;
    }
    finish(&w);
    hub_free(w.hub);
    for (size_t i = 0; i < w.agent_count; i++)
        CHECK(!w.agents[i].endpoint);
    return 0;
}
