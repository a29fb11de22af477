/*
 * What the MCP client costs:
 *
 *   a call     of a tool through the client, against a bare request and response of the same bytes
 *              with the same program; the goal is less than 0.2 ms more
 *   a start    of five programs, the slowest of which takes 250 ms to answer, against that one
 *              alone; the goal is 20 ms more
 *   200 tools  read from their list, and written and hashed as each turn does to find changes
 *
 * The program that is called is this one, with an argument.  Rounds of both sides alternate.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/loop/context.h"
#include "bench.h"
#include "mcp/mcp.h"
#include "mcp/mcp_internal.h"

enum { ROUNDS = 41, CALLS = 200, TOOLS = 200, SERVERS = 5, STARTS = 5 };

static const double call_goal_ms = 0.2;
static const double start_goal_ms = 20;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- The program ----------------------------------------------------------------------------- */

static void print_id(const char *line)
{
    const char *id = strstr(line, "\"id\":");
    printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":", id ? (int) strtod(id + 5, NULL) : 0);
}

static int serve(unsigned delay_ms)
{
    char *line = NULL;
    size_t size = 0;
    (void) usleep(delay_ms * 1000);
    while (getline(&line, &size, stdin) > 0) {
        if (!strstr(line, "\"id\":"))
            continue;
        print_id(line);
        if (strstr(line, "initialize"))
            printf("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                   "\"serverInfo\":{\"name\":\"b\",\"version\":\"1\"}}}\n");
        else if (strstr(line, "tools/list"))
            printf("{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}}\n");
        else
            printf("{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n");
        (void) fflush(stdout);
    }
    free(line);
    return 0;
}

/* ---- Through the client ---------------------------------------------------------------------- */

struct world {
    uv_loop_t loop;
    unsigned ready;
    unsigned done;
};

static void on_ready(struct mcp_server *server, void *user)
{
    (void) server;
    ((struct world *) user)->ready++;
}

static void on_gone(struct mcp_server *server, struct acp_str sentence, void *user)
{
    (void) server;
    (void) user;
    fprintf(stderr, "%.*s\n", ACP_ARG(sentence));
    exit(1);
}

static void on_done(struct mcp_call *call, const struct mcp_result *result, void *user)
{
    struct world *world = user;
    (void) call;
    if (result->err || result->text.len != 5)
        exit(1);
    world->done++;
    uv_stop(&world->loop);
}

static struct mcp_server *start_server(struct world *world, const char *delay)
{
    static const struct mcp_handler handler = {.ready = on_ready, .gone = on_gone};
    const char *argv[] = {"/proc/self/exe", delay, NULL};
    struct mcp_options options = {.name = "bench", .argv = argv};
    struct mcp_server *server;
    if (mcp_server_new(&world->loop, &options, &handler, world, &server, NULL))
        die("mcp_server_new");
    return server;
}

static void call_once(struct world *world, struct mcp_server *server)
{
    static const struct mcp_watcher watcher = {.done = on_done};
    struct mcp_call *call;
    unsigned before = world->done;
    if (mcp_call(server, acp_str_from("echo"), acp_raw_from("{\"message\":\"hello\"}"), &watcher,
                 world, &call))
        die("mcp_call");
    while (world->done == before)
        (void) uv_run(&world->loop, UV_RUN_ONCE);
}

/* ---- Bare ------------------------------------------------------------------------------------ */

struct bare {
    FILE *in;
    FILE *out;
    pid_t pid;
};

static void start_bare(struct bare *bare)
{
    int to[2];
    int from[2];
    if (pipe(to) || pipe(from))
        die("pipe");
    bare->pid = fork();
    if (bare->pid < 0)
        die("fork");
    if (bare->pid == 0) {
        if (dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0)
            die("dup2");
        for (int fd = 3; fd < 64; fd++)
            (void) close(fd);
        _exit(serve(0));
    }
    (void) close(to[0]);
    (void) close(from[1]);
    bare->in = fdopen(from[0], "r");
    bare->out = fdopen(to[1], "w");
}

static void ask_bare(struct bare *bare)
{
    static char *line;
    static size_t size;
    fprintf(bare->out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"echo\",\"arguments\":{\"message\":\"hello\"},"
                       "\"_meta\":{\"progressToken\":1}}}\n");
    (void) fflush(bare->out);
    if (getline(&line, &size, bare->in) <= 0)
        die("getline");
}

static void stop_bare(struct bare *bare)
{
    (void) fclose(bare->out);
    (void) fclose(bare->in);
    (void) waitpid(bare->pid, NULL, 0);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static bool bench_calls(struct world *world)
{
    struct bare bare;
    double ours = 1e9;
    double peer = 1e9;
    start_bare(&bare);
    struct mcp_server *server = start_server(world, "0");
    while (!world->ready)
        (void) uv_run(&world->loop, UV_RUN_ONCE);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t from = bench_now();
        for (int i = 0; i < CALLS; i++)
            call_once(world, server);
        uint64_t middle = bench_now();
        for (int i = 0; i < CALLS; i++)
            ask_bare(&bare);
        ours = least(ours, (double) (middle - from) / CALLS / 1e6);
        peer = least(peer, (double) (bench_now() - middle) / CALLS / 1e6);
    }
    mcp_server_free(server);
    stop_bare(&bare);
    bool good = ours - peer < call_goal_ms;
    printf("%-34s %8.4f ms  bare %8.4f ms  more %7.4f ms  (goal %.1f) %s\n", "a call of a tool",
           ours, peer, ours - peer, call_goal_ms, good ? "" : "MISSED");
    return good;
}

static double start_all(struct world *world, const char *const *delays, size_t count)
{
    struct mcp_server *servers[SERVERS];
    uint64_t from = bench_now();
    world->ready = 0;
    for (size_t i = 0; i < count; i++)
        servers[i] = start_server(world, delays[i]);
    while (world->ready < count)
        (void) uv_run(&world->loop, UV_RUN_ONCE);
    double ms = (double) (bench_now() - from) / 1e6;
    for (size_t i = 0; i < count; i++)
        mcp_server_free(servers[i]);
    (void) uv_run(&world->loop, UV_RUN_DEFAULT);
    return ms;
}

static bool bench_starts(struct world *world)
{
    static const char *const delays[SERVERS] = {"250", "50", "100", "150", "200"};
    double all = 1e9;
    double one = 1e9;
    for (int round = 0; round < STARTS; round++) {
        all = least(all, start_all(world, delays, SERVERS));
        one = least(one, start_all(world, delays, 1));
    }
    bool good = all - one < start_goal_ms;
    printf("%-34s %8.1f ms  one  %8.1f ms  more %7.1f ms  (goal %.0f) %s\n",
           "the start of five programs", all, one, all - one, start_goal_ms, good ? "" : "MISSED");
    return good;
}

static void bench_tools(void)
{
    struct acp_buf json;
    struct mcp_list list;
    struct acp_str cursor;
    double read_ms = 1e9;
    double turn_ms = 1e9;
    acp_buf_init(&json, 1 << 22);
    (void) acp_buf_printf(&json, "{\"tools\":[");
    for (int i = 0; i < TOOLS; i++)
        (void) acp_buf_printf(&json,
                              "%s{\"name\":\"tool_%d\",\"description\":\"Does what number %d does, "
                              "with some words about it that models read.\",\"inputSchema\":{"
                              "\"type\":\"object\",\"properties\":{\"path\":{\"type\":"
                              "\"string\"},\"count\":{\"type\":\"integer\"}}}}",
                              i ? "," : "", i, i);
    (void) acp_buf_printf(&json, "]}");
    struct acp_raw raw = acp_raw_n(acp_buf_view(&json).ptr, json.len);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t from = bench_now();
        mcp_list_init(&list);
        if (mcp_read_list(raw, MCP_TOOLS, &list, &cursor) || list.count != TOOLS)
            exit(1);
        uint64_t middle = bench_now();
        uint64_t hash = 0;
        for (size_t i = 0; i < list.count; i++) {
            const struct mcp_item *item = &list.items[i];
            struct model_tool tool = {item->name, item->description, item->schema};
            struct acp_buf text;
            struct acp_json_writer w;
            acp_buf_init(&text, 1 << 20);
            acp_json_writer_init(&w, &text);
            context_write_tool(&w, &tool);
            hash ^= facts_hash(acp_buf_view(&text));
            acp_buf_finish(&text);
        }
        bench_use(&hash);
        read_ms = least(read_ms, (double) (middle - from) / 1e6);
        turn_ms = least(turn_ms, (double) (bench_now() - middle) / 1e6);
        mcp_list_finish(&list);
    }
    printf("%-34s %8.4f ms to read, %8.4f ms a turn\n", "200 tools", read_ms, turn_ms);
    acp_buf_finish(&json);
}

int main(int argc, char **argv)
{
    struct world world = {0};
    if (argc > 1)
        return serve((unsigned) strtod(argv[1], NULL));
    if (uv_loop_init(&world.loop))
        die("uv_loop_init");
    bool good = bench_calls(&world);
    (void) uv_run(&world.loop, UV_RUN_DEFAULT);
    good &= bench_starts(&world);
    bench_tools();
    return good ? 0 : 1;
}
