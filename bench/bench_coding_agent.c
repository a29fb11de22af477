/*
 * The built-in coding agent: what its process costs, how soon a chunk of the model's answer is
 * passed on, what an idle session takes, and how fast a session is replayed.
 *
 *     bench_coding_agent ACP [NODE PEER-AGENTS.mjs NAME...]    beside agents of others
 *     bench_coding_agent ACP --guard                           with generous limits, as a test: TAP
 *
 * The model is a thread of this program (model_server.h), so that both ends of a piece's way read
 * the same clock.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent_process.h"
#include "bench.h"
#include "model_server.h"

enum { STARTS = 20, PIECES = 1000, GAP_US = 3000, TURNS = 10, PROMPT = 2000, ANSWER = 4000 };

enum { IDLE_SECONDS = 1 };

/* How much is done: a test has less time. */
struct amount {
    size_t sessions;
    size_t updates;
    size_t pieces;
};

struct setting {
    const char *acp;
    struct amount amount;
    uint16_t port; /* of the model */
    char home[64];
    char place[128];            /* the params of session/new */
    const char *environment[8]; /* with the model's server in it */
};

/* ---- Agents ---------------------------------------------------------------------------------- */

static struct agent_process start(const struct setting *s, const char *flag, const char *value)
{
    const char *const argv[] = {s->acp, "agent", flag, value, NULL};
    struct agent_process agent = agent_process_start(argv, s->environment);
    agent_process_initialize(&agent);
    return agent;
}

/* The id of a new session, which the caller frees. */
static char *new_session(struct agent_process *agent, const struct setting *s)
{
    const char *answer = agent_process_ask(agent, "session/new", s->place, NULL, NULL);
    const char *id = strstr(answer, "\"sessionId\":\"");
    if (!id)
        abort();
    id += sizeof("\"sessionId\":\"") - 1;
    return strndup(id, strcspn(id, "\""));
}

static void prompt(struct agent_process *agent, const char *session, size_t bytes,
                   agent_line_fn *each, void *user)
{
    char params[PROMPT + 300];
    char text[PROMPT + 1] = "";
    memset(text, 'p', bytes);
    (void) snprintf(params, sizeof(params),
                    "{\"sessionId\":\"%s\",\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
                    session, text);
    (void) agent_process_ask(agent, "session/prompt", params, each, user);
}

/* ---- Start and memory ------------------------------------------------------------------------ */

/* When memory is measured. */
enum moment { AFTER_NEW, AFTER_LIST, AFTER_TURN };

struct start {
    double ms;
    double kib;
};

static struct start measure_start(const struct setting *s, const char *flag, enum moment moment)
{
    struct start best = {.ms = 1e18};
    for (int i = 0; i < STARTS; i++) {
        uint64_t begun = bench_now();
        struct agent_process agent = start(s, flag, NULL);
        double ms = (double) (bench_now() - begun) / 1e6;
        if (ms < best.ms)
            best.ms = ms;
        char *session = new_session(&agent, s);
        if (moment == AFTER_LIST)
            agent_process_await(&agent, "/" MODEL_SERVER_LISTED "\"");
        if (moment == AFTER_TURN)
            prompt(&agent, session, 10, NULL, NULL);
        best.kib = (double) agent_process_resident(&agent);
        free(session);
        agent_process_stop(&agent);
    }
    return best;
}

/* ---- The way of a piece ---------------------------------------------------------------------- */

struct ways {
    double *us;
    size_t count;
    size_t most;
};

/* Every number in a text is the time at which the model sent it; key is what stands before it. */
static void note_pieces(struct ways *ways, const char *line, const char *key)
{
    uint64_t now = bench_now();
    const char *at = strstr(line, key);
    if (!at)
        return;
    for (at += strlen(key); *at >= '0' && *at <= '9' && ways->count < ways->most;) {
        char *end;
        uint64_t sent = strtoull(at, &end, 10);
        ways->us[ways->count++] = (double) (now - sent) / 1000;
        at = *end == ' ' ? end + 1 : end;
    }
}

static void on_piece(const char *line, void *user)
{
    if (strstr(line, "\"agent_message_chunk\""))
        note_pieces(user, line, "\"text\":\"");
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a;
    double y = *(const double *) b;
    return (x > y) - (x < y);
}

struct way {
    double p50;
    double p99;
    double most;
};

static struct way way_of(struct ways *ways)
{
    if (ways->count != ways->most) {
        (void) fprintf(stderr, "%zu of %zu pieces came\n", ways->count, ways->most);
        exit(1);
    }
    qsort(ways->us, ways->count, sizeof(*ways->us), compare);
    struct way way = {ways->us[ways->count / 2], ways->us[ways->count * 99 / 100],
                      ways->us[ways->count - 1]};
    free(ways->us);
    return way;
}

static struct ways some_ways(const struct setting *s)
{
    struct ways ways = {.most = s->amount.pieces};
    ways.us = calloc(ways.most, sizeof(*ways.us));
    if (!ways.us)
        abort();
    model_server_say((struct model_words){.pieces = ways.most, .gap_us = GAP_US});
    return ways;
}

static struct way measure_way(const struct setting *s)
{
    struct agent_process agent = start(s, NULL, NULL);
    char *session = new_session(&agent, s);
    struct ways ways = some_ways(s);
    prompt(&agent, session, 10, on_piece, &ways);
    agent_process_stop(&agent);
    free(session);
    return way_of(&ways);
}

/* The same pieces read from the socket by nobody but us: what this machine takes in any case. */
static struct way measure_bare_way(const struct setting *s)
{
    static const char request[] = "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    struct ways ways = some_ways(s);
    char line[512];
    FILE *server = model_server_connect(s->port);
    (void) fputs(request, server);
    (void) fflush(server);
    while (ways.count < ways.most && fgets(line, sizeof(line), server))
        note_pieces(&ways, line, "\"content\":\"");
    (void) fclose(server);
    return way_of(&ways);
}

/* ---- Idle sessions --------------------------------------------------------------------------- */

static void converse(struct agent_process *agent, const struct setting *s, int turns, size_t bytes)
{
    char *session = new_session(agent, s);
    for (int i = 0; i < turns; i++)
        prompt(agent, session, bytes, NULL, NULL);
    free(session);
}

/*
 * KiB that each session takes, with a conversation in it: what the second half of them adds to the
 * first, since the first ones also pay for what all share.
 */
static double measure_idle(const struct setting *s, int turns, size_t said, size_t answered)
{
    char seconds[8];
    long kib[2];
    (void) snprintf(seconds, sizeof(seconds), "%d", IDLE_SECONDS);
    struct agent_process agent = start(s, "--idle", seconds);
    model_server_say((struct model_words){.pieces = 1, .bytes = answered});
    size_t half_of_them = s->amount.sessions / 2;
    for (int half = 0; half < 2; half++) {
        for (size_t i = 0; i < half_of_them; i++)
            converse(&agent, s, turns, said);
        (void) sleep(2 * IDLE_SECONDS + 1);
        kib[half] = agent_process_resident(&agent);
    }
    agent_process_stop(&agent);
    return (double) (kib[1] - kib[0]) / (double) half_of_them;
}

/* ---- Telling a session again ----------------------------------------------------------------- */

/* The chunks of a message come back joined, so what counts is the text. */
static void on_told(const char *line, void *user)
{
    const char *at = strstr(line, "\"agent_message_chunk\"");
    at = at ? strstr(at, "\"text\":\"") : NULL;
    if (at)
        *(size_t *) user += strspn(at + sizeof("\"text\":\"") - 1, "w");
}

/* Microseconds for each update that was kept. */
static double measure_replay(const struct setting *s)
{
    struct model_words words = {.pieces = s->amount.updates, .bytes = 100};
    char params[300];
    size_t told = 0;
    struct agent_process agent = start(s, NULL, NULL);
    char *session = new_session(&agent, s);
    model_server_say(words);
    prompt(&agent, session, 10, NULL, NULL);
    agent_process_stop(&agent);

    agent = start(s, NULL, NULL);
    (void) snprintf(params, sizeof(params), "{\"sessionId\":\"%s\",%s", session, s->place + 1);
    uint64_t begun = bench_now();
    (void) agent_process_ask(&agent, "session/load", params, on_told, &told);
    double us = (double) (bench_now() - begun) / 1000;
    agent_process_stop(&agent);
    free(session);
    if (told != words.pieces * words.bytes) {
        (void) fprintf(stderr, "%zu bytes of %zu were replayed\n", told,
                       words.pieces * words.bytes);
        exit(1);
    }
    return us / (double) words.pieces;
}

/* ---- What is told ---------------------------------------------------------------------------- */

/* A figure, what was promised, and what a test lets pass on a busy machine; 0: nothing. */
struct figure {
    const char *what;
    const char *unit;
    double value;
    double goal;
    double guard;
};

enum { FIGURES = 13 };

static void measure_all(const struct setting *s, struct figure figures[FIGURES])
{
    struct start demo = measure_start(s, "--demo", AFTER_NEW);
    /* A provider whose models are known is not asked for them before the first prompt. */
    struct setting known = *s;
    const char *const environment[] = {s->environment[0], "ANTHROPIC_API_KEY=sk-none",
                                       "PATH=/usr/bin:/bin", NULL};
    memcpy(known.environment, environment, sizeof(environment));
    struct start real = measure_start(&known, NULL, AFTER_NEW);
    struct start asked = measure_start(s, NULL, AFTER_LIST);
    struct start talking = measure_start(s, NULL, AFTER_TURN);
    struct way bare = measure_bare_way(s);
    struct way way = measure_way(s);
    double small = measure_idle(s, 1, 100, 100);
    double large = measure_idle(s, TURNS, PROMPT, ANSWER);
    struct figure all[FIGURES] = {
        {"start to initialize, demonstration", "ms", demo.ms, 25, 250},
        {"start to initialize, model by HTTP", "ms", real.ms, 25, 250},
        {"resident after session/new, demonstration", "KiB", demo.kib, 16384, 16384},
        {"resident after session/new, model by HTTP", "KiB", real.kib, 10240, 10240},
        {"resident after a turn, libcurl loaded", "KiB", talking.kib, 16384, 16384},
        /* A millisecond from where it has arrived, which the bare socket tells. */
        {"a piece from the model to the client, p50", "us", way.p50, bare.p50 + 1000, 20000},
        {"a piece from the model to the client, p99", "us", way.p99, bare.p99 + 1000, 0},
        {"a piece read from the bare socket, p50", "us", bare.p50, 0, 0},
        {"a piece read from the bare socket, p99", "us", bare.p99, 0, 0},
        {"an idle session, one turn of 200 bytes", "KiB", small, 6, 12},
        {"an idle session, ten turns of 6 KB", "KiB", large, 6, 12},
        {"an update replayed by session/load", "us", measure_replay(s), 0, 200},
        {"resident after session/new and a server's list of models", "KiB", asked.kib, 10240,
         10240},
    };
    memcpy(figures, all, sizeof(all));
    printf("# the slowest of %zu pieces took %.0f us, from the bare socket %.0f us\n",
           s->amount.pieces, way.most, bare.most);
}

static int print_tap(const struct figure *figures)
{
    int failed = 0;
    int count = 0;
    for (int i = 0; i < FIGURES; i++) {
        const struct figure *f = &figures[i];
        bool good = f->value < f->guard;
        if (!f->guard) {
            printf("# %s: %.1f %s\n", f->what, f->value, f->unit);
            continue;
        }
        printf("%s %d - %s: %.1f %s, at most %.0f\n", good ? "ok" : "not ok", ++count, f->what,
               f->value, f->unit, f->guard);
        failed += !good;
    }
    printf("1..%d\n", count);
    return failed ? 1 : 0;
}

static int print_table(const struct figure *figures)
{
    int missed = 0;
    for (int i = 0; i < FIGURES; i++) {
        const struct figure *f = &figures[i];
        printf("%-46s %9.1f %-4s", f->what, f->value, f->unit);
        if (f->goal)
            printf(" %44s (goal < %.0f) %s", "", f->goal,
                   f->value < f->goal ? "reached" : "MISSED");
        printf("\n");
        missed += f->goal && f->value >= f->goal;
    }
    return missed ? 1 : 0;
}

/* Agents of others: the same start, and the memory of all their processes. */
static void print_peers(const struct figure *figures, char **peers)
{
    const char *node = peers[0];
    const char *script = peers[1];
    for (char **name = peers + 2; *name; name++) {
        char job[64];
        (void) snprintf(job, sizeof(job), "start %s", *name);
        double ms = bench_script(node, script, job);
        (void) snprintf(job, sizeof(job), "memory %s", *name);
        double kib = ms > 0 ? bench_script(node, script, job) : 0;
        if (ms > 0 && kib > 0)
            printf("%-46s %9.0f ms   %6.0f times ours %14.0f KiB  %6.1f times ours\n", *name, ms,
                   ms / figures[1].value, kib, kib / figures[3].value);
        else
            printf("%-46s could not be measured: no ratio\n", *name);
    }
}

int main(int argc, char **argv)
{
    bool guard = argc == 3 && strcmp(argv[2], "--guard") == 0;
    if (argc < 2 || (argc == 3 && !guard)) {
        (void) fputs("usage: bench_coding_agent ACP [--guard | NODE PEER-AGENTS.mjs NAME...]\n",
                     stderr);
        return 2;
    }
    struct setting s = {.acp = argv[1], .amount = {1000, 100000, PIECES}};
    struct figure figures[FIGURES];
    char home[80];
    char base[64];
    char clean[80];
    if (guard)
        s.amount = (struct amount){400, 5000, PIECES / 5};
    (void) snprintf(s.home, sizeof(s.home), "/tmp/acp-bench-agent-XXXXXX");
    if (!mkdtemp(s.home))
        abort();
    (void) snprintf(s.place, sizeof(s.place), "{\"cwd\":\"%s\",\"mcpServers\":[]}", s.home);
    (void) snprintf(home, sizeof(home), "HOME=%s", s.home);
    s.port = model_server_start();
    (void) snprintf(base, sizeof(base), "OPENAI_BASE_URL=http://127.0.0.1:%u/v1", s.port);
    const char *const environment[] = {
        home, base, "OPENAI_API_KEY=sk-none", "OPENAI_MODEL=scripted", "PATH=/usr/bin:/bin", NULL};
    memcpy(s.environment, environment, sizeof(environment));
    measure_all(&s, figures);
    int status = guard ? print_tap(figures) : print_table(figures);
    if (!guard && argc > 3)
        print_peers(figures, argv + 2);
    (void) snprintf(clean, sizeof(clean), "rm -rf '%s'", s.home);
    return system(clean) ? 1 : status;
}
