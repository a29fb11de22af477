/*
 * The session log: events appended through the writer until they are reported durable, against a
 * bare loop of one prepared insert in transactions of 1000 rows.  Also says how much memory the
 * writer took, and how long one event alone takes until it is durable.
 *
 *     bench_store [FOLDER]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "store/log.h"
#include "store/sqlite.h"

enum { EVENTS = 200000, BODY = 200, ROUNDS = 8, ALONE = 500, LEAST_PER_SECOND = 20000 };

static char folder[200];

/* Each body is taken from another place here: equal ones would be compressed to nothing. */
static char text[256 * 1024];
static size_t text_at;

static const char *database(void)
{
    static char path[240];
    (void) snprintf(path, sizeof(path), "%s/log.db", folder);
    return path;
}

static void remove_database(void)
{
    char command[300];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'/log.db*", folder);
    if (system(command))
        abort();
}

/* Letters in an order that does not repeat. */
static void write_text(void)
{
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof(text); i++) {
        random = random * 1664525 + 1013904223;
        text[i] = (char) ('a' + (random >> 28));
    }
}

static struct acp_raw next_body(void)
{
    text_at = (text_at + BODY) % (sizeof(text) - BODY);
    return acp_raw_n(text + text_at, BODY);
}

/* ---- Ours ----------------------------------------------------------------------------------- */

static struct {
    uv_loop_t loop;
    struct store_writer *writer;
    struct store_log *log;
    uint64_t durable;
    bool high;
} ours;

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    (void) log;
    (void) user;
    if (!kept)
        abort();
    ours.durable = seq;
}

static void on_pressure(struct store_log *log, bool high, void *user)
{
    (void) log;
    (void) user;
    ours.high = high;
}

static void open_ours(void)
{
    static const struct store_log_handler handler = {.durable = on_durable,
                                                     .pressure = on_pressure};
    const struct store_writer_options options = {.path = database(), .flags = STORE_CREATE};
    const struct store_session session = {.agent = acp_str_from("bench")};
    memset(&ours, 0, sizeof(ours));
    if (uv_loop_init(&ours.loop) || store_writer_new(&ours.loop, &options, &ours.writer) ||
        store_log_create(ours.writer, &session, &handler, NULL, &ours.log, NULL))
        abort();
    (void) uv_run(&ours.loop, UV_RUN_DEFAULT);
}

static void close_ours(void)
{
    store_writer_close(ours.writer, NULL, NULL);
    (void) uv_run(&ours.loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&ours.loop);
}

/* As a client does: appends until it is told to stop, goes on when it may. */
static double run_ours(void)
{
    open_ours();
    uint64_t begin = bench_now();
    uint64_t sent = 0;
    while (ours.durable < EVENTS) {
        while (sent < EVENTS && !ours.high)
            if (store_log_append(ours.log, 1, store_now(), acp_str_from("update"), next_body(),
                                 &sent))
                abort();
        (void) uv_run(&ours.loop, UV_RUN_ONCE);
    }
    double ns = (double) (bench_now() - begin) / EVENTS;
    close_ours();
    return ns;
}

/* One event at a time, each only when the one before is durable. */
static double run_alone(void)
{
    open_ours();
    double best = 1e18;
    for (int i = 0; i < ALONE; i++) {
        uint64_t seq = 0;
        uint64_t begin = bench_now();
        if (store_log_append(ours.log, 1, store_now(), acp_str_from("update"), next_body(), &seq))
            abort();
        while (ours.durable < seq)
            (void) uv_run(&ours.loop, UV_RUN_ONCE);
        double ns = (double) (bench_now() - begin);
        best = ns < best ? ns : best;
    }
    close_ours();
    return best;
}

/* ---- Bare ----------------------------------------------------------------------------------- */

static void run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite.exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        abort();
}

static double run_bare(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    if (sqlite.open_v2(database(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
        abort();
    run_sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                "CREATE TABLE events (place INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
                " turn INTEGER NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL) STRICT");
    if (sqlite.prepare_v3(db, "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5)", -1,
                          SQLITE_PREPARE_PERSISTENT, &insert, NULL))
        abort();
    uint64_t begin = bench_now();
    for (int i = 0; i < EVENTS; i++) {
        if (i % 1000 == 0)
            run_sql(db, "BEGIN IMMEDIATE");
        (void) sqlite.bind_int64(insert, 1, (1LL << 32) + i);
        (void) sqlite.bind_int64(insert, 2, store_now());
        (void) sqlite.bind_int64(insert, 3, 1);
        (void) sqlite.bind_text64(insert, 4, "update", 6, SQLITE_STATIC, SQLITE_UTF8);
        (void) sqlite.bind_blob64(insert, 5, next_body().ptr, BODY, SQLITE_STATIC);
        if (sqlite.step(insert) != SQLITE_DONE)
            abort();
        (void) sqlite.reset(insert);
        if (i % 1000 == 999)
            run_sql(db, "COMMIT");
    }
    double ns = (double) (bench_now() - begin) / EVENTS;
    (void) sqlite.finalize(insert);
    (void) sqlite.close_v2(db);
    return ns;
}

int main(int argc, char **argv)
{
    (void) snprintf(folder, sizeof(folder), "%s/acp-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    struct acp_failure failure;
    if (!mkdtemp(folder) || sqlite_load(SQLITE_LIBRARY, &failure))
        abort();
    write_text();
    struct bench_side log = {.name = "the session log", .ns = 1e18};
    struct bench_side bare = {.name = "bare SQLite, 1000 rows", .ns = 1e18};
    for (int i = 0; i < ROUNDS; i++) {
        double ns = run_ours();
        log.ns = ns < log.ns ? ns : log.ns;
        remove_database();
        ns = run_bare();
        bare.ns = ns < bare.ns ? ns : bare.ns;
        remove_database();
    }
    double alone = run_alone();
    remove_database();
    (void) rmdir(folder);

    bench_row("events of 200 B until durable", &log, &bare, 0.6);
    double rate = 1e9 / log.ns;
    printf("%-46s %9.0f events/s  (goal >= %d) %s\n", "the same as a rate", rate, LEAST_PER_SECOND,
           rate >= LEAST_PER_SECOND ? "reached" : "MISSED");
    printf("%-46s %9.1f us\n", "one event alone until durable", alone / 1000);
    struct rusage usage;
    (void) getrusage(RUSAGE_SELF, &usage);
    printf("%-46s %9ld KiB for %d KiB of events\n", "largest memory of this process",
           usage.ru_maxrss, EVENTS / 1024 * BODY);
    return 0;
}
