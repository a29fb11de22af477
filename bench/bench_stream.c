/*
 * session/update from an agent process to a client process over pipes, typed on both ends: against
 * the official SDK on both ends, and against C programs that only write and read the same lines,
 * one at a time or (without a goal: it is the limit of the pipe) 64 of them in a write.
 *
 *     bench_stream STREAM-AGENT NODE SDK-STREAM.mjs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acp/run.h"
#include "bench.h"

enum { CHUNKS = 200000, ROUNDS = 5 };

static struct acp_agent_process *agent;
static struct acp_client_session *session;
static size_t seen;
static size_t line_bytes;
static uint64_t begun;
static double best_ns = 1e18;
static int rounds;

/* ---- Ours ------------------------------------------------------------------------------------ */

static void begin_round(void);

static void on_event(struct acp_client_session *from, const struct acp_event *event, void *user)
{
    (void) from;
    (void) user;
    if (event->kind == ACP_EVENT_CHUNK) {
        seen++;
        line_bytes = event->raw.len;
    }
}

static void on_end(struct acp_client_session *from, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    (void) from;
    (void) stop;
    (void) user;
    if (outcome->err || seen != CHUNKS)
        abort();
    double ns = (double) (bench_now() - begun) / CHUNKS;
    if (ns < best_ns)
        best_ns = ns;
    if (++rounds < ROUNDS)
        begin_round();
    else
        acp_agent_process_stop(agent);
}

static void begin_round(void)
{
    char number[16];
    struct acp_content_block block;
    (void) snprintf(number, sizeof(number), "%d", CHUNKS);
    acp_content_block_init_text(&block, acp_str_from(number));
    seen = 0;
    begun = bench_now();
    if (acp_client_prompt(session, &block, 1, on_end, NULL))
        abort();
}

static void on_session(struct acp_client *client, struct acp_client_session *opened,
                       const struct acp_outcome *outcome, void *user)
{
    (void) client;
    (void) user;
    if (outcome->err)
        abort();
    session = opened;
    begin_round();
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct acp_session_params place = {.cwd = acp_str_from("/")};
    (void) user;
    if (outcome->err || acp_client_new_session(client, &place, on_session, NULL))
        abort();
}

static double run_ours(const char *program)
{
    const char *argv[] = {program, NULL};
    struct acp_agent_process_options options = {.handler.event = on_event};
    options.process.argv = argv;
    if (acp_agent_process_start(uv_default_loop(), &options, &agent, NULL))
        abort();
    (void) acp_client_initialize(acp_agent_process_client(agent), on_ready, NULL);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    acp_agent_process_free(agent);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    return best_ns;
}

/* ---- Bare ------------------------------------------------------------------------------------ */

/* Writes lines as long as ours. */
static void write_lines(int fd, size_t length, size_t at_once)
{
    char *lines = malloc(length * at_once);
    memset(lines, 'x', length * at_once);
    for (size_t i = 1; i <= at_once; i++)
        lines[i * length - 1] = '\n';
    for (size_t i = 0; i < CHUNKS / at_once; i++) {
        size_t done = 0;
        while (done < length * at_once) {
            ssize_t n = write(fd, lines + done, length * at_once - done);
            if (n <= 0)
                _exit(1);
            done += (size_t) n;
        }
    }
    _exit(0);
}

static double run_bare_once(size_t length, size_t at_once)
{
    static char buffer[65536];
    int fds[2];
    if (pipe(fds))
        abort();
    uint64_t start = bench_now();
    pid_t child = fork();
    if (child == 0)
        write_lines(fds[1], length, at_once);
    (void) close(fds[1]);
    size_t lines = 0;
    ssize_t n;
    while ((n = read(fds[0], buffer, sizeof(buffer))) > 0)
        for (char *p = buffer; (p = memchr(p, '\n', (size_t) (buffer + n - p))); p++)
            lines++;
    (void) close(fds[0]);
    (void) waitpid(child, NULL, 0);
    return (double) (bench_now() - start) / (double) lines;
}

static double run_bare(size_t length, size_t at_once)
{
    double best = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        double ns = run_bare_once(length, at_once);
        if (ns < best)
            best = ns;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void) fputs("usage: bench_stream STREAM-AGENT NODE SDK-STREAM.mjs\n", stderr);
        return 2;
    }
    struct bench_side ours = {.name = "typed on both ends", .ns = run_ours(argv[1])};
    /* The update's own text, and about as much around it. */
    size_t length = line_bytes + 95;
    struct bench_side bare = {.name = "bare, a line a write", .ns = run_bare(length, 1)};
    struct bench_side limit = {.name = "bare, 64 lines a write", .ns = run_bare(length, 64)};
    char what[64];
    (void) snprintf(what, sizeof(what), "session/update over pipes (%zu B)", length);
    bench_row(what, &ours, &bare, 0.5);
    bench_row(what, &ours, &limit, 0);
    struct bench_side sdk = {.name = "TypeScript SDK",
                             .ns = bench_script(argv[2], argv[3], "client")};
    if (sdk.ns > 0)
        bench_row(what, &ours, &sdk, 20);
    else
        printf("%-46s the SDK could not be run: no ratio\n", what);
    return 0;
}
