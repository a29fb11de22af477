/*
 * What the peer costs on top of the pipe: one request and its response, there and back between two
 * processes, through two peers and as bare read and write of the same bytes.
 *
 * Rounds of both alternate in one run, so that what else the machine does hits both alike; the
 * ratio is the median of those of neighbouring rounds.  The goal is meant for one core and for two,
 * each process on its own.  Where the scheduler places them itself, it may put one pair on one core
 * and the other on two; that row says what happened, not what the peer costs.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acp/rpc.h"

enum { ROUNDS = 161, TURNS = 1000, CHUNK = 65536 };

static const double goal = 1.30;

/* About what a client sends most often, and what it is answered. */
static const char params[] =
    "{\"sessionId\":\"sess_0123456789abcdef\",\"prompt\":[{\"type\":\"text\",\"text\":\"Please "
    "look at the parser and tell me why it is slow on long lines.\"}]}";
static const char result[] = "{\"stopReason\":\"end_turn\"}";

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done <= 0)
            die("write");
        bytes += done;
        n -= (size_t) done;
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t))
        die("clock_gettime");
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* ---- Through peers -------------------------------------------------------------------------- */

static void flush_peer(struct acp_peer *peer, int fd)
{
    struct acp_str out = acp_peer_output(peer);
    if (!out.len)
        return;
    write_all(fd, out.ptr, out.len);
    acp_peer_sent(peer, out.len);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    (void) message;
    (void) user;
    (void) acp_peer_result(peer, call, acp_raw_n(result, sizeof(result) - 1));
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    (void) request;
    int *answered = user;
    *answered = reply->err ? -1 : 1;
}

static struct acp_peer *new_peer(void)
{
    static const struct acp_peer_handler handler = {.request = on_request};
    struct acp_peer *peer;
    if (acp_peer_new(NULL, &handler, NULL, &peer)) {
        (void) fprintf(stderr, "no memory\n");
        exit(1);
    }
    return peer;
}

static void peer_server(int in, int out)
{
    static char chunk[CHUNK];
    struct acp_peer *peer = new_peer();
    ssize_t n;
    while ((n = read(in, chunk, sizeof(chunk))) > 0) {
        (void) acp_peer_receive(peer, chunk, (size_t) n, 0);
        flush_peer(peer, out);
    }
    acp_peer_free(peer);
}

static double peer_round(struct acp_peer *peer, int in, int out)
{
    static char chunk[CHUNK];
    uint64_t start = nanoseconds();
    for (int i = 0; i < TURNS; i++) {
        int answered = 0;
        struct acp_request request = {
            .method = ACP_STR("session/prompt"), .reply = on_reply, .user = &answered};
        if (acp_peer_request(peer, &request, acp_raw_n(params, sizeof(params) - 1), NULL))
            die("request");
        flush_peer(peer, out);
        while (!answered) {
            ssize_t n = read(in, chunk, sizeof(chunk));
            if (n <= 0)
                die("read");
            (void) acp_peer_receive(peer, chunk, (size_t) n, 0);
        }
        if (answered < 0)
            die("reply");
    }
    return (double) (nanoseconds() - start) / TURNS;
}

/* ---- Bare ----------------------------------------------------------------------------------- */

static char request_line[1024];
static char response_line[1024];
static size_t request_len;
static size_t response_len;

static void make_lines(void)
{
    request_len = (size_t) snprintf(request_line, sizeof(request_line),
                                    "{\"jsonrpc\":\"2.0\",\"id\":12345,\"method\":\"session/"
                                    "prompt\",\"params\":%s}\n",
                                    params);
    response_len = (size_t) snprintf(response_line, sizeof(response_line),
                                     "{\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":%s}\n", result);
}

static void bare_server(int in, int out)
{
    static char chunk[CHUNK];
    size_t got = 0;
    ssize_t n;
    while ((n = read(in, chunk, sizeof(chunk))) > 0) {
        got += (size_t) n;
        if (got == request_len) {
            write_all(out, response_line, response_len);
            got = 0;
        }
    }
}

static double bare_round(int in, int out)
{
    static char chunk[CHUNK];
    uint64_t start = nanoseconds();
    for (int i = 0; i < TURNS; i++) {
        write_all(out, request_line, request_len);
        for (size_t got = 0; got < response_len;) {
            ssize_t n = read(in, chunk, sizeof(chunk));
            if (n <= 0)
                die("read");
            got += (size_t) n;
        }
    }
    return (double) (nanoseconds() - start) / TURNS;
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Runs only there from now on; -1 is anywhere. */
static bool pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (core < 0)
        return true;
    CPU_SET((size_t) core, &cores);
    return sched_setaffinity(0, sizeof(cores), &cores) == 0;
}

struct child {
    pid_t pid;
    int in; /* what it answers */
    int out;
};

static struct child start(void (*server)(int in, int out), int core)
{
    int there[2];
    int back[2];
    if (pipe(there) || pipe(back))
        die("pipe");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        close(there[1]);
        close(back[0]);
        (void) pin(core);
        server(there[0], back[1]);
        _exit(0);
    }
    close(there[0]);
    close(back[1]);
    return (struct child){pid, back[0], there[1]};
}

static void stop(struct child child)
{
    close(child.out);
    close(child.in);
    (void) waitpid(child.pid, NULL, 0);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(double), by_size);
    return values[ROUNDS / 2];
}

static void measure(const char *name, int own_core, int child_core)
{
    double bare[ROUNDS];
    double peer[ROUNDS];
    double ratio[ROUNDS];
    char label[64];
    if (!pin(own_core))
        return; /* there is no such core */
    struct child bare_child = start(bare_server, child_core);
    struct child peer_child = start(peer_server, child_core);
    struct acp_peer *mine = new_peer();
    for (int i = -1; i < ROUNDS; i++) {
        int at = i < 0 ? 0 : i; /* the first round only warms up */
        bare[at] = bare_round(bare_child.in, bare_child.out);
        peer[at] = peer_round(mine, peer_child.in, peer_child.out);
        ratio[at] = peer[at] / bare[at];
    }
    acp_peer_free(mine);
    stop(peer_child);
    stop(bare_child);
    double r = median(ratio);
    const char *verdict = own_core < 0 ? "as scheduled" : r <= goal ? "ok" : "OVER";
    (void) snprintf(label, sizeof(label), "ping-pong, %s (bare, peer)", name);
    printf("%-46s %12.1f ns  %12.1f ns  ratio %.2f  (goal <= %.2f) %s\n", label, median(bare),
           median(peer), r, goal, verdict);
}

/* The cost of the two peers alone: the same turns without pipes between them. */
static void measure_memory(void)
{
    struct acp_peer *client = new_peer();
    struct acp_peer *server = new_peer();
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = nanoseconds();
        for (int i = 0; i < TURNS; i++) {
            int answered = 0;
            struct acp_request request = {
                .method = ACP_STR("session/prompt"), .reply = on_reply, .user = &answered};
            (void) acp_peer_request(client, &request, acp_raw_n(params, sizeof(params) - 1), NULL);
            struct acp_str bytes = acp_peer_output(client);
            (void) acp_peer_receive(server, bytes.ptr, bytes.len, 0);
            acp_peer_sent(client, bytes.len);
            bytes = acp_peer_output(server);
            (void) acp_peer_receive(client, bytes.ptr, bytes.len, 0);
            acp_peer_sent(server, bytes.len);
            if (answered != 1)
                die("reply");
        }
        double each = (double) (nanoseconds() - begin) / TURNS;
        if (round == 0 || each < best)
            best = each;
    }
    printf("%-46s %12.1f ns\n", "ping-pong, in memory, both peers together", best);
    acp_peer_free(client);
    acp_peer_free(server);
}

int main(void)
{
    make_lines();
    measure_memory();
    measure("unpinned", -1, -1);
    measure("two cores", 0, 1);
    measure("one core", 0, 0);
    return 0;
}
