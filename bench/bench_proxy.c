/*
 * `acp proxy` between a client and an agent, against what else could stand there: a program in C
 * that passes on whole lines without looking into them, `cat` in both directions, a relay in
 * Node.js that parses and prints each line, and a proxy on the official SDK.
 *
 *     bench_proxy ACP [NODE PEERS]
 *
 * Throughput is that of updates from the agent, latency that of a request and its answer.  Then the
 * memory of a thousand idle sessions, and the cost of a message with up to ten thousand.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "relay.h"

enum { ROUNDS = 7, CHUNK = 256 * 1024, PINGS = 2000, MAX_WORDS = 16, IDLE = 1000 };

static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
                           "{\"sessionId\":\"sess_0123456789abcdef%05u\",\"update\":{"
                           "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":"
                           "\"text\",\"text\":\"";
static const char tail[] = "\"}}}}\n";

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
            exit(1);
        bytes += done;
        n -= (size_t) done;
    }
}

/* ---- The agent ------------------------------------------------------------------------------- */

/* Writes the messages, about 16 KiB at a time, of one session after the other. */
static void flood(size_t length, size_t count, unsigned sessions)
{
    size_t at_once = length < 16384 ? 16384 / length : 1;
    char *bytes = malloc(length * at_once + 1);
    unsigned session = 0;
    if (!bytes)
        exit(1);
    while (count) {
        size_t n = at_once < count ? at_once : count;
        for (size_t i = 0; i < n; i++) {
            char *at = bytes + i * length;
            int written = snprintf(at, length, head, session);
            memset(at + written, 'x', length - (size_t) written - sizeof(tail) + 1);
            memcpy(at + length - sizeof(tail) + 1, tail, sizeof(tail) - 1);
            session = (session + 1) % sessions;
        }
        write_all(STDOUT_FILENO, bytes, n * length);
        count -= n;
    }
    free(bytes);
}

/* The id of a request as it stands there. */
static void copy_id(const char *line, char ret[32])
{
    const char *at = strstr(line, "\"id\":");
    size_t n = at ? strcspn(at + 5, ",}") : 0;
    if (!at || n >= 32)
        exit(1);
    memcpy(ret, at + 5, n);
    ret[n] = '\0';
}

static int run_agent(void)
{
    char *line = NULL;
    size_t room = 0;
    unsigned sessions = 0;
    while (getline(&line, &room, stdin) > 0) {
        char id[32];
        char answer[256];
        size_t length;
        size_t count;
        const char *order = strstr(line, "\"flood\":[");
        if (!strstr(line, "\"id\":"))
            continue;
        copy_id(line, id);
        if (order && sscanf(order, "\"flood\":[%zu,%zu", &length, &count) == 2)
            flood(length, count, sessions);
        int n =
            snprintf(answer, sizeof(answer),
                     strstr(line, "\"initialize\"")
                         ? "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":1}}\n"
                     : strstr(line, "\"session/new\"")
                         ? "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessionId\":"
                           "\"sess_0123456789abcdef%05u\"}}\n"
                         : "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":"
                           "\"end_turn\"}}\n",
                     id, sessions);
        sessions += strstr(line, "\"session/new\"") != NULL;
        write_all(STDOUT_FILENO, answer, (size_t) n);
    }
    free(line);
    return 0;
}

/* ---- The client ------------------------------------------------------------------------------ */

struct side {
    const char *name;
    char *words[MAX_WORDS]; /* the command line */
};

struct run {
    pid_t pid;
    int to;
    int from;
    char session[2200];
    char *bytes;
};

static void start(struct run *run, const struct side *side)
{
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        die("pipe");
    run->pid = fork();
    if (run->pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        (void) execvp(side->words[0], side->words);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    run->to = to[1];
    run->from = from[0];
    run->bytes = malloc(CHUNK + 1);
    if (!run->bytes)
        die("malloc");
}

static void stop(struct run *run)
{
    (void) close(run->to);
    (void) close(run->from);
    (void) waitpid(run->pid, NULL, 0);
    free(run->bytes);
}

/* Reads that number of lines; the end of what was read last is in bytes. */
static void read_lines(struct run *run, size_t count, uint64_t *ret_first)
{
    while (count) {
        ssize_t n = read(run->from, run->bytes, CHUNK);
        if (n <= 0)
            die("read");
        if (ret_first && !*ret_first)
            *ret_first = bench_now();
        run->bytes[n] = '\0';
        for (char *p = run->bytes; (p = memchr(p, '\n', (size_t) (run->bytes + n - p))); p++)
            count--;
    }
}

static void ask(struct run *run, const char *line)
{
    write_all(run->to, line, strlen(line));
    read_lines(run, 1, NULL);
}

static void open_sessions(struct run *run, size_t count)
{
    char line[256];
    ask(run, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
             "{\"protocolVersion\":1,\"clientCapabilities\":{}}}\n");
    for (size_t i = 0; i < count; i++) {
        (void) snprintf(line, sizeof(line),
                        "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"session/new\",\"params\":"
                        "{\"cwd\":\"/tmp\",\"mcpServers\":[]}}\n",
                        i + 1);
        ask(run, line);
    }
    const char *id = strstr(run->bytes, "\"sessionId\":\"");
    if (!id || sscanf(id, "\"sessionId\":\"%2199[^\"]", run->session) != 1)
        die("session/new");
}

/* The nanoseconds that the process was on a processor, without its children. */
static double busy_ns(pid_t pid)
{
    char path[64];
    double ns = 0;
    (void) snprintf(path, sizeof(path), "/proc/%d/schedstat", (int) pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &ns) != 1)
        ns = 0;
    if (file)
        (void) fclose(file);
    return ns;
}

/*
 * Nanoseconds of one message; the start of the programs is not counted.  *ret_busy, which may be
 * NULL, becomes the processor time of the program between client and agent if that is less.
 */
static double measure_flood(const struct side *side, size_t length, size_t count, size_t sessions,
                            double *ret_busy)
{
    struct run run;
    char line[2600];
    uint64_t begun = 0;
    start(&run, side);
    open_sessions(&run, sessions);
    (void) snprintf(line, sizeof(line),
                    "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"session/prompt\",\"params\":"
                    "{\"sessionId\":\"%s\",\"prompt\":[],\"_meta\":{\"flood\":[%zu,%zu]}}}\n",
                    run.session, length, count);
    write_all(run.to, line, strlen(line));
    double before = busy_ns(run.pid);
    read_lines(&run, count + 1, &begun);
    double ns = (double) (bench_now() - begun) / (double) count;
    double busy = (busy_ns(run.pid) - before) / (double) count;
    if (ret_busy && busy < *ret_busy)
        *ret_busy = busy;
    stop(&run);
    return ns;
}

/* Nanoseconds from a request to its answer. */
static double measure_ping(const struct side *side, size_t count)
{
    struct run run;
    char line[2600];
    start(&run, side);
    open_sessions(&run, 1);
    (void) snprintf(line, sizeof(line),
                    "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"_ping\",\"params\":"
                    "{\"sessionId\":\"%s\",\"text\":\"Please look at the parser and tell me why it "
                    "is slow on long lines.\"}}\n",
                    run.session);
    ask(&run, line);
    uint64_t begun = bench_now();
    for (size_t i = 0; i < count; i++)
        ask(&run, line);
    double ns = (double) (bench_now() - begun) / (double) count;
    stop(&run);
    return ns;
}

static long resident_kib(pid_t pid)
{
    char path[64];
    char line[256];
    long kib = -1;
    (void) snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
    FILE *file = fopen(path, "r");
    while (file && kib < 0 && fgets(line, sizeof(line), file))
        (void) sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        (void) fclose(file);
    return kib;
}

/* ---- The comparison -------------------------------------------------------------------------- */

enum { PROXY, BLIND, CAT, DIRECT, RELAY, SDK, SIDES };

static bool missed;

/* What stands at most or at least, and whether it does; goal 0: none. */
static void row(const char *what, double value, const char *unit, double goal, bool at_most)
{
    bool good = goal == 0 || (at_most ? value <= goal : value >= goal);
    printf("%-58s %10.2f %-4s", what, value, unit);
    if (goal > 0)
        printf(" %s %g%s", at_most ? "at most" : "at least", goal, good ? "" : "  MISSED");
    printf("\n");
    (void) fflush(stdout);
    missed |= !good;
}

static double best_flood(const struct side *side, size_t length, size_t count, double best,
                         double *busy)
{
    double ns = measure_flood(side, length, count, 1, busy);
    return ns < best ? ns : best;
}

static void compare_throughput(const struct side *sides, size_t length, size_t count, bool peers)
{
    char what[80];
    double ns[SIDES];
    double busy[2] = {1e18, 1e18};
    for (int i = 0; i < SIDES; i++)
        ns[i] = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        ns[PROXY] = best_flood(&sides[PROXY], length, count, ns[PROXY], &busy[PROXY]);
        ns[BLIND] = best_flood(&sides[BLIND], length, count, ns[BLIND], &busy[BLIND]);
        ns[CAT] = best_flood(&sides[CAT], length, count, ns[CAT], NULL);
        if (peers && round < 2) {
            ns[RELAY] = best_flood(&sides[RELAY], length, count / 10 + 1, ns[RELAY], NULL);
            ns[SDK] = best_flood(&sides[SDK], length, count / 50 + 1, ns[SDK], NULL);
        }
    }
    (void) snprintf(what, sizeof(what), "%zu bytes: acp proxy", length);
    row(what, 1e6 / ns[PROXY], "k/s", 0, false);
    row("    in relation to the blind relay", ns[BLIND] / ns[PROXY], "x", 0.7, false);
    row("    processor time of a message", busy[PROXY], "ns", 0, true);
    row("    that of the blind relay", busy[BLIND], "ns", 0, true);
    row("    in relation to cat in both directions", ns[CAT] / ns[PROXY], "x", 0, false);
    if (!peers)
        return;
    row("    in relation to the Node.js relay", ns[RELAY] / ns[PROXY], "x", length < 1000 ? 5 : 0,
        false);
    row("    in relation to the SDK proxy", ns[SDK] / ns[PROXY], "x", length < 1000 ? 50 : 0,
        false);
}

static void compare_latency(const struct side *sides, const char *where, double goal)
{
    char what[80];
    double ns[SIDES];
    for (int i = 0; i < SIDES; i++)
        ns[i] = 1e18;
    for (int round = 0; round < 2 * ROUNDS; round++)
        for (int i = PROXY; i <= DIRECT; i++)
            if (i != CAT) {
                double one = measure_ping(&sides[i], PINGS);
                ns[i] = one < ns[i] ? one : ns[i];
            }
    (void) snprintf(what, sizeof(what), "round trip without anything between, %s", where);
    row(what, ns[DIRECT] / 1000, "us", 0, true);
    row("    added by the blind relay", (ns[BLIND] - ns[DIRECT]) / 1000, "us", 0, true);
    row("    added by acp proxy", (ns[PROXY] - ns[DIRECT]) / 1000, "us", 0, true);
    row("    acp proxy in relation to the blind relay",
        (ns[PROXY] - ns[DIRECT]) / (ns[BLIND] - ns[DIRECT]), "x", goal, true);
}

static void measure_memory(const struct side *proxy)
{
    struct run run;
    start(&run, proxy);
    open_sessions(&run, 1);
    long one = resident_kib(run.pid);
    stop(&run);
    start(&run, proxy);
    open_sessions(&run, IDLE);
    long all = resident_kib(run.pid);
    stop(&run);
    row("memory with one session", (double) one / 1024, "MiB", 0, true);
    row("memory with 1000 idle sessions", (double) all / 1024, "MiB", 16, true);
}

static void measure_scaling(const struct side *proxy)
{
    static const size_t counts[] = {1, 100, 10000};
    char what[80];
    double ns[3] = {1e18, 1e18, 1e18};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < 3; i++) {
            double one = measure_flood(proxy, 200, 500000, counts[i], NULL);
            ns[i] = one < ns[i] ? one : ns[i];
        }
    for (size_t i = 0; i < 3; i++) {
        (void) snprintf(what, sizeof(what), "a message in turn to each of %zu sessions", counts[i]);
        row(what, ns[i], "ns", 0, true);
    }
    row("    10000 in relation to 1", ns[2] / ns[0], "x", 0, true);
}

static bool pin(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(0, &cores);
    return sched_setaffinity(0, sizeof(cores), &cores) == 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--agent") == 0)
        return run_agent();
    if (argc > 2 && strcmp(argv[1], "--relay") == 0)
        return relay_run(argv + 2);
    if (argc != 2 && argc != 4) {
        (void) fputs("usage: bench_proxy ACP [NODE PEERS]\n", stderr);
        return 2;
    }
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0)
        die("readlink");
    self[n] = '\0';
    char pipeline[4200];
    (void) snprintf(pipeline, sizeof(pipeline), "cat | '%s' --agent | cat", self);
    char *agent = (char *) "--agent";
    char *node = argc == 4 ? argv[2] : NULL;
    char *peers = argc == 4 ? argv[3] : NULL;
    struct side sides[SIDES] = {
        [PROXY] = {"acp proxy",
                   {argv[1], (char *) "proxy", (char *) "--log-level", (char *) "error",
                    (char *) "--", self, agent}},
        [BLIND] = {"blind relay", {self, (char *) "--relay", self, agent}},
        [CAT] = {"cat", {(char *) "sh", (char *) "-c", pipeline}},
        [DIRECT] = {"direct", {self, agent}},
        [RELAY] = {"node relay", {node, peers, (char *) "relay", self, agent}},
        [SDK] = {"sdk proxy", {node, peers, (char *) "sdk", self, agent}},
    };
    (void) signal(SIGPIPE, SIG_IGN);
    compare_throughput(sides, 200, 500000, node != NULL);
    compare_throughput(sides, 2048, 100000, node != NULL);
    compare_throughput(sides, 65536, 5000, node != NULL);
    compare_latency(sides, "two cores", 0);
    measure_memory(&sides[PROXY]);
    measure_scaling(&sides[PROXY]);
    if (pin())
        compare_latency(sides, "one core", 1.3);
    return missed;
}
