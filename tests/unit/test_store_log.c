/* The log's asynchronous half: numbers at once, durable later, pressure, claims, and failing. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/db.h"
#include "store/log.h"
#include "store_help.h"

static uv_loop_t loop;
static struct store_writer *writer;
static struct acp_failure failure;

/* What the callbacks have said. */
static struct {
    uint64_t kept_seq;
    uint64_t passed_seq;
    int durables;
    int failures;
    char sentence[300];
    int highs;
    int lows;
    int done;
    int opened;
    int open_failures;
    struct store_session session;
    char open_sentence[300];
} heard;

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    (void) log;
    (void) user;
    heard.durables++;
    if (kept)
        heard.kept_seq = seq;
    heard.passed_seq = seq;
}

static void on_pressure(struct store_log *log, bool high, void *user)
{
    (void) log;
    (void) user;
    if (high)
        heard.highs++;
    else
        heard.lows++;
}

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    (void) log;
    (void) user;
    heard.failures++;
    (void) snprintf(heard.sentence, sizeof(heard.sentence), "%s", sentence);
}

static void on_done(void *user)
{
    (void) user;
    heard.done++;
}

static void on_opened(struct store_log *log, const struct store_session *session,
                      const struct acp_failure *why, void *user)
{
    (void) log;
    (void) user;
    heard.opened++;
    if (session) {
        heard.session = *session;
        return;
    }
    heard.open_failures++;
    (void) snprintf(heard.open_sentence, sizeof(heard.open_sentence), "%s", why->message);
}

static const struct store_log_handler handler = {on_durable, on_pressure, on_failed};

static struct store_writer *new_writer(const char *path, size_t high_water, size_t max_bytes)
{
    struct store_writer *made = NULL;
    struct store_writer_options options = {
        .path = path, .flags = STORE_CREATE, .high_water = high_water, .max_bytes = max_bytes};
    return store_writer_new(&loop, &options, &made) ? NULL : made;
}

static void close_writer(struct store_writer *w)
{
    int before = heard.done;
    store_writer_close(w, on_done, NULL);
    while (heard.done == before)
        (void) uv_run(&loop, UV_RUN_ONCE);
}

static int setup_without_writer(void **state)
{
    (void) make_store_folder(state);
    memset(&heard, 0, sizeof(heard));
    failure = (struct acp_failure){0};
    return uv_loop_init(&loop);
}

static int setup(void **state)
{
    (void) setup_without_writer(state);
    writer = new_writer(store_at("log.db"), 0, 0);
    return writer ? 0 : -1;
}

static int teardown(void **state)
{
    if (writer)
        close_writer(writer);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return remove_store_folder(state);
}

static struct store_log *create(const char *id)
{
    struct store_log *log = NULL;
    struct store_session session = {.id = acp_str_from(id), .agent = acp_str_from("x")};
    if (store_log_create(writer, &session, &handler, NULL, &log, &failure))
        return NULL;
    return log;
}

static uint64_t append(struct store_log *log, const char *kind, const char *body)
{
    uint64_t seq = 0;
    return store_log_append(log, 1, store_now(), acp_str_from(kind), acp_raw_from(body), &seq)
               ? 0
               : seq;
}

static void flush(void)
{
    int before = heard.done;
    assert_int_equal(store_writer_flush(writer, on_done, NULL), 0);
    while (heard.done == before)
        (void) uv_run(&loop, UV_RUN_ONCE);
}

static int count_event(const struct store_event *event, void *user)
{
    uint64_t *last = user;
    if (event->seq != *last + 1)
        return ACP_ERR_RANGE;
    *last = event->seq;
    return 0;
}

/* How many events a session has on disk; they have no gap. */
static uint64_t kept_events(const char *path, const char *id)
{
    struct store *store = NULL;
    uint64_t last = 0;
    if (store_open(path, 0, &store, &failure) ||
        store_events(store, acp_str_from(id), 1, 0, count_event, &last, &failure))
        fail_msg("%s", failure.message);
    store_close(store);
    return last;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void test_numbers_at_once_durable_later(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    assert_non_null(log);
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(append(log, "update", "{}"), i);
    assert_int_equal(store_log_last_seq(log), 1000);
    assert_int_equal(heard.durables, 0);
    /* The loop ends by itself once everything is kept, though the writer is open. */
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.kept_seq, 1000);
    assert_int_equal(store_log_durable_seq(log), 1000);
    assert_in_range(heard.durables, 1, 20);
    assert_int_equal(kept_events(store_at("log.db"), "a"), 1000);
    assert_int_equal(heard.failures, 0);
    assert_null(store_writer_failure(writer));
}

static void test_new_session_without_events(void **state)
{
    (void) state;
    struct store_log *log = NULL;
    struct store_session session = {.agent = acp_str_from("x"), .cwd = acp_str_from("/w")};
    assert_int_equal(store_log_create(writer, &session, &handler, &heard, &log, &failure), 0);
    assert_int_equal(store_log_id(log).len, 36);
    assert_ptr_equal(store_log_user(log), &heard);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.durables, 1);
    assert_int_equal(heard.passed_seq, 0);
    assert_int_equal(kept_events(store_at("log.db"), store_log_id(log).ptr), 0);
}

static void test_bad_arguments(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    uint64_t seq = 77;
    char kind[STORE_KIND_MAX + 2];
    memset(kind, 'k', sizeof(kind));
    kind[sizeof(kind) - 1] = '\0';
    assert_int_equal(
        store_log_append(log, 1, store_now(), acp_str_from(kind), acp_raw_from("1"), &seq),
        ACP_ERR_ARGUMENT);
    assert_int_equal(
        store_log_append(log, 1, store_now(), acp_str_from(""), acp_raw_from("1"), &seq),
        ACP_ERR_ARGUMENT);
    assert_int_equal(seq, 77);
    assert_null(create("no/good"));
    assert_int_equal(failure.err, ACP_ERR_ARGUMENT);
    assert_int_equal(append(log, "update", "{}"), 1);
}

static void test_changes_in_order(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    char title[] = "First";
    struct store_change change = {.title = acp_str_from(title),
                                  .agent_session = acp_str_from("s1"),
                                  .running = acp_some_bool(true)};
    assert_int_equal(append(log, "prompt", "[]"), 1);
    assert_int_equal(store_log_change(log, &change), 0);
    memset(title, 'x', sizeof(title) - 1); /* it was copied */
    change = (struct store_change){.stop_reason = acp_str_from("end_turn")};
    assert_int_equal(append(log, "stop", "{}"), 2);
    assert_int_equal(store_log_change(log, &change), 0);
    flush();
    struct store *store = open_store();
    struct acp_arena arena;
    struct store_session row;
    acp_arena_init(&arena, 0);
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &row, &failure), 0);
    assert_text(row.title, "First");
    assert_text(row.agent_session, "s1");
    assert_text(row.stop_reason, "end_turn");
    assert_int_equal(row.last_seq, 2);
    assert_int_equal(row.owner, getpid());
    assert_true(row.running);
    assert_true(row.updated >= row.created);
    acp_arena_finish(&arena);
    store_close(store);
}

/* How far the index of the only session is; without a search, which would index by itself. */
static void assert_indexed(uint64_t final, uint64_t seen)
{
    struct store *store = open_store();
    sqlite3_stmt *statement;
    assert_int_equal(store_prepare(store, STORE_SELECT_INDEXED, &statement, &failure), 0);
    (void) sqlite.bind_int64(statement, 1, 1);
    assert_int_equal(store_step(store, statement, &failure), 1);
    assert_int_equal(sqlite.column_int64(statement, 0), final);
    assert_int_equal(sqlite.column_int64(statement, 1), seen);
    store_close(store);
}

static void test_a_turns_end_is_indexed(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    (void) append(log, "prompt", "[{\"type\":\"text\",\"text\":\"hello\"}]");
    (void) append(log, "stop", "{}");
    (void) append(log, "lifecycle", "{}");
    close_writer(writer);
    writer = NULL;
    assert_indexed(2, 3);
}

static void test_no_index_when_unwanted(void **state)
{
    (void) state;
    struct store_writer_options options = {.path = store_at("log.db"),
                                           .flags = STORE_CREATE | STORE_NO_INDEX};
    assert_int_equal(store_writer_new(&loop, &options, &writer), 0);
    struct store_log *log = create("a");
    (void) append(log, "prompt", "[{\"type\":\"text\",\"text\":\"hello\"}]");
    (void) append(log, "stop", "{}");
    close_writer(writer);
    writer = NULL;
    assert_indexed(0, 0);
}

static void test_large_bodies(void **state)
{
    (void) state;
    enum { LARGE = 20 << 20 };
    struct store_log *log = create("a");
    char *body = malloc(LARGE + 1);
    memset(body, '1', LARGE);
    body[LARGE] = '\0';
    assert_int_equal(append(log, "update", body), 1);
    assert_int_equal(append(log, "update", "{}"), 2);
    flush();
    free(body);
    assert_int_equal(heard.kept_seq, 2);
    assert_int_equal(heard.highs, 1);
    assert_int_equal(heard.lows, 1);
    assert_int_equal(kept_events(store_at("log.db"), "a"), 2);
}

static void test_pressure(void **state)
{
    (void) state;
    close_writer(writer);
    writer = new_writer(store_at("log.db"), 100000, 1 << 20);
    struct store_log *log = create("a");
    flush();
    /* Somebody else writes, so ours must wait. */
    struct store *other = open_store();
    assert_int_equal(store_begin(other, &failure), 0);
    char body[1001];
    memset(body, '7', 1000);
    body[1000] = '\0';
    uint64_t count = 0;
    uint64_t seq = 0;
    int err = 0;
    while (!err && count < 5000) {
        err =
            store_log_append(log, 1, store_now(), acp_str_from("update"), acp_raw_from(body), &seq);
        if (!err)
            assert_int_equal(seq, ++count);
        (void) uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(err, ACP_ERR_LIMIT);
    assert_int_equal(store_log_last_seq(log), count);
    assert_int_equal(heard.highs, 1);
    assert_int_equal(heard.lows, 0);
    assert_int_equal(heard.kept_seq, 0);
    store_rollback(other);
    store_close(other);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.highs, 1);
    assert_int_equal(heard.lows, 1);
    assert_int_equal(heard.kept_seq, count);
    assert_int_equal(append(log, "update", "{}"), count + 1);
    flush();
    assert_int_equal(kept_events(store_at("log.db"), "a"), count + 1);
}

/* What each session of a writer was told. */
struct told {
    int highs;
    int lows;
    uint64_t seq;
};

static void count_pressure(struct store_log *log, bool high, void *user)
{
    struct told *told = user;
    (void) log;
    if (high)
        told->highs++;
    else
        told->lows++;
}

static void note_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    struct told *told = user;
    (void) log;
    assert_true(kept);
    told->seq = seq;
}

static void test_each_session_is_told_for_itself(void **state)
{
    static const struct store_log_handler own = {.durable = note_durable,
                                                 .pressure = count_pressure};
    static const char *const ids[] = {"a", "b", "c"};
    struct told told[3] = {{0}};
    struct store_log *logs[3];
    (void) state;
    close_writer(writer);
    writer = new_writer(store_at("log.db"), 2000, 0);
    struct store *other = NULL;
    for (size_t i = 0; i < 3; i++) {
        /* The third is created while the writer is above its mark. */
        if (i == 2) {
            flush();
            other = open_store();
            assert_int_equal(store_begin(other, &failure), 0);
            while (told[0].highs == 0)
                (void) append(logs[0], "update", "{}");
        }
        struct store_session session = {.id = acp_str_from(ids[i]), .agent = acp_str_from("x")};
        assert_int_equal(store_log_create(writer, &session, &own, &told[i], &logs[i], &failure), 0);
    }
    (void) append(logs[1], "update", "{}");
    (void) append(logs[2], "update", "{}");
    store_rollback(other);
    store_close(other);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(told[i].seq, store_log_last_seq(logs[i]));
        assert_int_equal(told[i].highs, told[i].lows);
    }
    assert_int_equal(told[0].highs, 1);
    assert_int_equal(told[1].highs, 1);
}

/* ---- Sessions that exist --------------------------------------------------------------------- */

static void test_open_goes_on(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    (void) append(log, "prompt", "[]");
    (void) append(log, "stop", "{}");
    store_log_close(log);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), 0);

    assert_int_equal(
        store_log_open(writer, acp_str_from("a"), &handler, on_opened, NULL, &log, &failure), 0);
    uint64_t seq = 0;
    assert_int_equal(
        store_log_append(log, 2, store_now(), acp_str_from("prompt"), acp_raw_from("[]"), &seq),
        ACP_ERR_STATE);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.opened, 1);
    assert_int_equal(heard.session.last_seq, 2);
    assert_int_equal(append(log, "prompt", "[]"), 3);
    flush();
    assert_int_equal(heard.kept_seq, 3);
    assert_int_equal(kept_events(store_at("log.db"), "a"), 3);
}

static void test_open_what_is_not_there(void **state)
{
    (void) state;
    struct store_log *log = NULL;
    assert_int_equal(
        store_log_open(writer, acp_str_from("a"), &handler, on_opened, NULL, &log, &failure), 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.open_failures, 1);
    assert_says(heard.open_sentence, "there is no session a");
    assert_int_equal(heard.failures, 0);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), 0);
    /* Closed before it was opened: nobody is told. */
    assert_int_equal(
        store_log_open(writer, acp_str_from("a"), &handler, on_opened, NULL, &log, &failure), 0);
    store_log_close(log);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.opened, 1);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), 0);
}

static void test_one_writer_for_a_session(void **state)
{
    (void) state;
    struct store_log *log = create("a");
    struct store_log *second = NULL;
    flush();
    char owner[60];
    (void) snprintf(owner, sizeof(owner), "process %d is writing to this session", (int) getpid());
    assert_int_equal(
        store_log_open(writer, acp_str_from("a"), &handler, on_opened, NULL, &second, &failure),
        ACP_ERR_STATE);
    assert_says(failure.message, owner);
    assert_null(second);
    /*
     * A session that is being released can be opened again at once: the same writer writes all
     * of it.
     */
    (void) append(log, "update", "{}");
    store_log_close(log);
    assert_int_equal(
        store_log_open(writer, acp_str_from("a"), &handler, on_opened, NULL, &second, &failure), 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(heard.session.last_seq, 1);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), getpid());
    assert_int_equal(append(second, "update", "{}"), 2);
    flush();
    assert_int_equal(kept_events(store_at("log.db"), "a"), 2);
}

/* ---- Failing --------------------------------------------------------------------------------- */

/* In a process of its own, where cmocka cannot help. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void) fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, heard.sentence);    \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { SKIPPED = 77 };

/* Runs the body in a child with a loop of its own; true unless it was skipped. */
static bool in_child(void (*body)(void))
{
    if (writer)
        close_writer(writer);
    writer = NULL;
    memset(&heard, 0, sizeof(heard));
    pid_t child = fork();
    if (child == 0) {
        (void) uv_loop_fork(&loop);
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        return false;
    assert_int_equal(status, 0);
    return true;
}

/* Nothing is kept, it is said once and why, and everything goes on. */
static void check_goes_on(const char *path, const char *sentence)
{
    writer = new_writer(path, 0, 0);
    CHECK(writer);
    struct store_log *log = create("a");
    CHECK(log);
    for (uint64_t i = 1; i <= 5000; i++)
        CHECK(append(log, i == 5000 ? "stop" : "update", "{}") == i);
    struct store_change change = {.title = acp_str_from("T")};
    CHECK(store_log_change(log, &change) == 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(heard.failures == 1);
    CHECK(strstr(heard.sentence, sentence));
    CHECK(strcmp(store_writer_failure(writer), heard.sentence) == 0);
    CHECK(heard.kept_seq == 0 && heard.passed_seq == 5000);
    CHECK(append(log, "update", "{}") == 5001);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(heard.passed_seq == 5001 && heard.kept_seq == 0 && heard.failures == 1);
    CHECK(store_log_durable_seq(log) == 0);
    store_log_close(log);
    close_writer(writer);
    CHECK(heard.failures == 1);
}

static void without_sqlite(void)
{
    CHECK(sqlite_load("libnothing-of-that-name.so.0", NULL) == ACP_ERR_MISSING);
    check_goes_on(store_at("log.db"), "install the package libsqlite3-0");
}

static void be_nobody(void)
{
    /* Root may write everywhere. */
    if (getuid() == 0)
        CHECK(chown(store_folder, 65534, 65534) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

static void in_a_read_only_folder(void)
{
    be_nobody();
    CHECK(chmod(store_folder, 0500) == 0);
    check_goes_on(store_at("new.db"), "cannot make the session log");
    (void) chmod(store_folder, 0700);
}

static void below_a_read_only_home(void)
{
    be_nobody();
    CHECK(chmod(store_folder, 0500) == 0);
    check_goes_on(store_at("state/acp/log.db"), "Permission denied");
    (void) chmod(store_folder, 0700);
}

static void with_a_read_only_file(void)
{
    be_nobody();
    struct store *store = NULL;
    CHECK(store_open(store_at("new.db"), STORE_CREATE, &store, &failure) == 0);
    store_close(store);
    CHECK(chmod(store_at("new.db"), 0400) == 0 && chmod(store_folder, 0500) == 0);
    check_goes_on(store_at("new.db"), "it or its folder is read-only");
    (void) chmod(store_folder, 0700);
}

static void with_something_else_in_its_place(void)
{
    FILE *file = fopen(store_at("log.db"), "w");
    CHECK(file);
    for (int i = 0; i < 1000; i++)
        (void) fputs("This is a text.\n", file);
    (void) fclose(file);
    check_goes_on(store_at("log.db"), "is no session log; it is left as it is");
}

/* Appends until the disk is full; what was kept before is still there. */
static void check_full(const char *path)
{
    writer = new_writer(path, 0, 0);
    CHECK(writer);
    struct store_log *log = create("a");
    CHECK(log);
    char body[1001];
    memset(body, '7', 1000);
    body[1000] = '\0';
    uint64_t seq = 0;
    while (!heard.failures && seq < 20000) {
        for (int i = 0; i < 50; i++)
            seq = append(log, "update", body);
        int before = heard.done;
        CHECK(store_writer_flush(writer, on_done, NULL) == 0);
        while (heard.done == before)
            (void) uv_run(&loop, UV_RUN_ONCE);
    }
    CHECK(heard.failures == 1);
    uint64_t kept = heard.kept_seq;
    CHECK(kept > 0 && kept < seq && heard.passed_seq == seq);
    CHECK(append(log, "update", body) == seq + 1);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    CHECK(heard.passed_seq == seq + 1 && heard.kept_seq == kept && heard.failures == 1);
    close_writer(writer);
    struct store *store = NULL;
    uint64_t last = 0;
    CHECK(store_open(path, 0, &store, &failure) == 0);
    CHECK(store_events(store, acp_str_from("a"), 1, 0, count_event, &last, &failure) == 0);
    CHECK(last == kept);
    store_close(store);
}

static void over_the_file_size_limit(void)
{
    (void) signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {1 << 20, 1 << 20};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    check_full(store_at("log.db"));
    CHECK(strstr(heard.sentence, "cannot read or write the session log"));
}

static void on_a_full_disk(void)
{
    char folder[100];
    (void) snprintf(folder, sizeof(folder), "%s", store_at("small"));
    if (mkdir(folder, 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=2m") != 0)
        _exit(SKIPPED);
    check_full(store_at("small/log.db"));
    CHECK(strstr(heard.sentence, "the disk is full"));
    CHECK(umount(folder) == 0);
}

static void test_without_sqlite(void **state)
{
    (void) state;
    (void) in_child(without_sqlite);
}

static void test_read_only(void **state)
{
    (void) state;
    (void) in_child(in_a_read_only_folder);
}

static void test_read_only_home(void **state)
{
    (void) state;
    (void) in_child(below_a_read_only_home);
}

static void test_read_only_file(void **state)
{
    (void) state;
    (void) in_child(with_a_read_only_file);
}

static void test_no_database(void **state)
{
    (void) state;
    (void) in_child(with_something_else_in_its_place);
}

static void test_file_size_limit(void **state)
{
    (void) state;
    (void) in_child(over_the_file_size_limit);
}

static void test_full_disk(void **state)
{
    (void) state;
    if (!in_child(on_a_full_disk))
        skip();
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: nothing has loaded the library yet. */
        cmocka_unit_test_setup_teardown(test_without_sqlite, setup_without_writer, teardown),
        IN_FOLDER(test_numbers_at_once_durable_later),
        IN_FOLDER(test_new_session_without_events),
        IN_FOLDER(test_bad_arguments),
        IN_FOLDER(test_changes_in_order),
        IN_FOLDER(test_a_turns_end_is_indexed),
        cmocka_unit_test_setup_teardown(test_no_index_when_unwanted, setup_without_writer,
                                        teardown),
        IN_FOLDER(test_large_bodies),
        IN_FOLDER(test_pressure),
        IN_FOLDER(test_each_session_is_told_for_itself),
        IN_FOLDER(test_open_goes_on),
        IN_FOLDER(test_open_what_is_not_there),
        IN_FOLDER(test_one_writer_for_a_session),
        IN_FOLDER(test_read_only),
        IN_FOLDER(test_read_only_home),
        IN_FOLDER(test_read_only_file),
        IN_FOLDER(test_no_database),
        IN_FOLDER(test_file_size_limit),
        IN_FOLDER(test_full_disk),
    };
    return cmocka_run_group_tests_name("store_log", tests, NULL, NULL);
}
