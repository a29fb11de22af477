/* hub_world.c - see hub_world.h. */
#include "hub_world.h"

#include <stdarg.h>
#include <stdio.h>

static struct world *world_of(struct hub_launcher *launcher)
{
    return (struct world *) launcher;
}

/* ---- The launcher ---------------------------------------------------------------------------- */

static void pause_agent(struct hub_process *process, bool pause)
{
    ((struct played_agent *) process)->paused = pause;
}

static void stop_agent(struct hub_process *process)
{
    ((struct played_agent *) process)->stopped = true;
}

static void free_agent(struct hub_process *process)
{
    struct played_agent *agent = (struct played_agent *) process;
    agent->running = false;
    agent->endpoint = NULL;
    acp_buf_finish(&agent->unread);
}

static const struct hub_process_class played_class = {
    .pause = pause_agent, .stop = stop_agent, .free = free_agent};

static int start(struct hub_launcher *launcher, const struct hub_launch *launch,
                 struct hub_process **ret, struct acp_failure *failure)
{
    struct world *w = world_of(launcher);
    if (w->fail_start) {
        (void) snprintf(failure->message, sizeof(failure->message), "cannot start it");
        return ACP_ERR_STATE;
    }
    assert_true(w->agent_count < WORLD_AGENTS);
    struct played_agent *agent = &w->agents[w->agent_count++];
    *agent = (struct played_agent){.process.class = &played_class,
                                   .endpoint = launch->endpoint,
                                   .handler = launch->handler,
                                   .user = launch->user,
                                   .running = true};
    (void) snprintf(agent->workspace, sizeof(agent->workspace), "%s", launch->workspace);
    acp_buf_init(&agent->unread, SIZE_MAX);
    *ret = &agent->process;
    return 0;
}

static int find_workspace(struct hub_launcher *launcher, struct acp_str cwd,
                          char ret[ACP_PATH_SIZE], struct acp_failure *failure)
{
    (void) launcher;
    if (!cwd.len || cwd.ptr[0] != '/' || acp_str_is(cwd, "/gone")) {
        (void) snprintf(failure->message, sizeof(failure->message), "no such directory");
        return ACP_ERR_UNKNOWN;
    }
    size_t n = 1;
    while (n < cwd.len && cwd.ptr[n] != '/')
        n++;
    (void) snprintf(ret, ACP_PATH_SIZE, "%.*s", (int) n, cwd.ptr);
    return 0;
}

/* ---- The hub --------------------------------------------------------------------------------- */

static void on_client_closed(struct hub_client *client, int reason, void *user)
{
    struct world *w = user;
    for (size_t i = 0; i < w->client_count; i++)
        if (w->clients[i].client == client)
            w->clients[i].closed = reason;
}

static void on_ended(void *user)
{
    struct world *w = user;
    assert_false(w->ended);
    w->ended = true;
}

static void on_log(const struct hub_log_entry *entry, void *user)
{
    struct world *w = user;
    w->warnings += entry->level >= HUB_LOG_WARNING;
}

struct world *world_new(const struct hub_options *options)
{
    static const struct hub_handler handler = {
        .log = on_log, .client_closed = on_client_closed, .ended = on_ended};
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    struct hub_options own = options ? *options : (struct hub_options){0};
    w->launcher = (struct hub_launcher){.start = start, .find_workspace = find_workspace};
    own.launcher = &w->launcher;
    if (!own.name)
        own.name = "played";
    own.cwd = "/w";
    memset(own.key, 7, sizeof(own.key));
    acp_buf_init(&w->line, SIZE_MAX);
    assert_int_equal(hub_new(&own, &handler, w, &w->hub), 0);
    return w;
}

void world_free(struct world *w)
{
    for (size_t i = 0; i < w->client_count; i++)
        world_disconnect(w, i);
    hub_free(w->hub);
    for (size_t i = 0; i < w->agent_count; i++)
        assert_false(w->agents[i].running);
    acp_buf_finish(&w->line);
    free(w);
}

/* ---- What is said ---------------------------------------------------------------------------- */

size_t world_connect(struct world *w)
{
    assert_true(w->client_count < WORLD_CLIENTS);
    struct played_client *c = &w->clients[w->client_count];
    *c = (struct played_client){0};
    acp_buf_init(&c->unread, SIZE_MAX);
    assert_int_equal(hub_client_new(w->hub, &c->client), 0);
    return w->client_count++;
}

void world_disconnect(struct world *w, size_t client)
{
    hub_client_free(w->clients[client].client);
    w->clients[client].client = NULL;
    acp_buf_finish(&w->clients[client].unread);
}

static void say(struct world *w, struct acp_endpoint *endpoint, const char *format, va_list args)
{
    struct acp_buf line;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert_true(n >= 0);
    acp_buf_init(&line, SIZE_MAX);
    assert_int_equal(acp_buf_reserve(&line, (size_t) n + 2), 0);
    (void) vsnprintf(line.data, (size_t) n + 1, format, args);
    line.data[n] = '\n';
    (void) acp_endpoint_receive(endpoint, line.data, (size_t) n + 1, w->now);
    acp_buf_finish(&line);
    world_settle(w);
}

void world_client_says(struct world *w, size_t client, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(w, hub_client_endpoint(w->clients[client].client), format, args);
    va_end(args);
}

void world_agent_says(struct world *w, size_t agent, const char *format, ...)
{
    va_list args;
    assert_true(w->agents[agent].running);
    va_start(args, format);
    say(w, w->agents[agent].endpoint, format, args);
    va_end(args);
}

static const char *take_line(struct world *w, struct acp_buf *unread)
{
    struct acp_str text = acp_buf_view(unread);
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (!end)
        return NULL;
    size_t n = (size_t) (end - text.ptr);
    acp_buf_clear(&w->line);
    assert_int_equal(acp_buf_append(&w->line, text.ptr, n), 0);
    assert_int_equal(acp_buf_append(&w->line, "", 1), 0);
    acp_buf_consume(unread, n + 1);
    return acp_buf_view(&w->line).ptr;
}

const char *world_client_line(struct world *w, size_t client)
{
    return take_line(w, &w->clients[client].unread);
}

const char *world_agent_line(struct world *w, size_t agent)
{
    return w->agents[agent].running ? take_line(w, &w->agents[agent].unread) : NULL;
}

void world_agent_dies(struct world *w, size_t agent, const char *sentence)
{
    struct played_agent *a = &w->agents[agent];
    if (a->running)
        a->handler->ended(acp_str_from(sentence), a->user);
    world_settle(w);
}

static bool carry(struct acp_endpoint *endpoint, struct acp_buf *to)
{
    struct acp_str out = acp_endpoint_output(endpoint);
    if (!out.len)
        return false;
    assert_int_equal(acp_buf_append(to, out.ptr, out.len), 0);
    acp_endpoint_sent(endpoint, out.len);
    return true;
}

void world_settle(struct world *w)
{
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < w->client_count; i++)
            if (w->clients[i].client && !w->clients[i].stuck)
                again |= carry(hub_client_endpoint(w->clients[i].client), &w->clients[i].unread);
        for (size_t i = 0; i < w->agent_count; i++) {
            struct played_agent *a = &w->agents[i];
            if (a->running && !a->stuck)
                again |= carry(a->endpoint, &a->unread);
            if (a->running && a->stopped && !a->lingers) {
                a->handler->ended(acp_str_from("it was stopped"), a->user);
                again = true;
            }
        }
    }
}

void world_pass_time(struct world *w, uint64_t ms)
{
    uint64_t until = w->now + ms;
    while (hub_deadline(w->hub) <= until) {
        w->now = hub_deadline(w->hub) > w->now ? hub_deadline(w->hub) : w->now;
        hub_tick(w->hub, w->now);
        world_settle(w);
    }
    w->now = until;
    hub_tick(w->hub, until);
    world_settle(w);
}

/* ---- Usual conversations --------------------------------------------------------------------- */

static const char *const can_all =
    "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,"
    "\"mcpCapabilities\":{\"acp\":true},"
    "\"sessionCapabilities\":{\"list\":{},\"resume\":{},\"close\":{}}}}";

void world_greet(struct world *w)
{
    size_t client = world_connect(w);
    world_client_says(w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
                      "{\"protocolVersion\":1}}");
    assert_agent_got(w, 0,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                     "{\"protocolVersion\":1}}");
    world_agent_says(w, 0, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}", can_all);
    assert_client_got(w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":"
                      "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,"
                      "\"mcpCapabilities\":{\"acp\":false},"
                      "\"sessionCapabilities\":{\"list\":{},\"resume\":{},\"close\":{}}}}}");
}

const char *world_id(struct world *w, const char *workspace, const char *agent_id)
{
    static char text[HUB_PUBLIC_ID_SIZE + 1];
    struct hub_id id = {.workspace = workspace, .agent_id = acp_str_from(agent_id)};
    size_t n = 0;
    assert_int_equal(hub_public_id(w->hub, &id, text, &n), 0);
    text[n] = '\0';
    return text;
}

/* The number of the request in the last line. */
static unsigned long long number_in(const char *line)
{
    unsigned long long number = 0;
    const char *at = line ? strstr(line, "\"id\":") : NULL;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"id\":%llu", &number), 1);
    return number;
}

size_t world_open(struct world *w, size_t client, const char *cwd, const char *agent_id)
{
    size_t count = w->agent_count;
    size_t agent = 0;
    world_client_says(w, client,
                      "{\"jsonrpc\":\"2.0\",\"id\":\"open\",\"method\":\"session/new\",\"params\":"
                      "{\"cwd\":\"%s\",\"mcpServers\":[]}}",
                      cwd);
    if (w->agent_count > count) {
        agent = w->agent_count - 1;
        world_agent_says(w, agent, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}",
                         number_in(world_agent_line(w, agent)), can_all);
    } else {
        while (!w->agents[agent].running || !w->agents[agent].unread.len)
            agent++;
    }
    world_agent_says(w, agent,
                     "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{\"sessionId\":\"%s\"}}",
                     number_in(world_agent_line(w, agent)), agent_id);
    const char *line = world_client_line(w, client);
    assert_non_null(line);
    assert_non_null(strstr(line, "\"result\":{\"sessionId\":\""));
    return agent;
}
