/*
 * SQLite fails, or memory runs out: each call and each allocation of each operation, one after the
 * other; and what every error means.
 *
 * The functions of SQLite are called through a table, so the ones that can fail are replaced here.
 * Linked with -Wl,--wrap=nanosleep, so that ten seconds of waiting pass at once, and with
 * -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include <errno.h>
#include <time.h>

#include "acp/io.h"
#include "store/db.h"
#include "store/log.h"
#include "store_help.h"
#include "test_memory.h"

static struct store *store;
static struct acp_arena arena;
static struct acp_failure failure;

/* ---- Faults ---------------------------------------------------------------------------------- */

static struct sqlite_functions real;
static struct {
    int due;    /* this call fails, from 1; 0: none does */
    int calls;  /* so far */
    int code;   /* how it fails */
    int times;  /* how many calls fail, from that one on */
    int pauses; /* of nanosleep() */
    int (*busy)(void *user, int tries);
} fault;

static bool fails(void)
{
    int call = __atomic_add_fetch(&fault.calls, 1, __ATOMIC_SEQ_CST);
    return fault.due && call >= fault.due && call < fault.due + fault.times;
}

static int failing_open(const char *path, sqlite3 **ret, int flags, const char *vfs)
{
    int code = real.open_v2(path, ret, flags, vfs);
    return fails() ? fault.code : code;
}

static int failing_prepare(sqlite3 *handle, const char *sql, int size, unsigned flags,
                           sqlite3_stmt **ret, const char **tail)
{
    *ret = NULL;
    return fails() ? fault.code : real.prepare_v3(handle, sql, size, flags, ret, tail);
}

static int failing_step(sqlite3_stmt *statement)
{
    return fails() ? fault.code : real.step(statement);
}

static int failing_exec(sqlite3 *handle, const char *sql,
                        int (*each)(void *, int, char **, char **), void *user, char **ret)
{
    return fails() ? fault.code : real.exec(handle, sql, each, user, ret);
}

static int noted_busy_handler(sqlite3 *handle, int (*busy)(void *, int), void *user)
{
    fault.busy = busy;
    return real.busy_handler(handle, busy, user);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void) time;
    (void) left;
    fault.pauses++;
    return 0;
}

/* From the n-th call on that many fail. */
static void fail_at(int n, int times, int code)
{
    fault.due = n;
    fault.times = times;
    fault.code = code;
    fault.calls = 0;
    fault.pauses = 0;
}

static void no_fault(void)
{
    fail_at(0, 0, SQLITE_OK);
}

/* ---- A log with two sessions ----------------------------------------------------------------- */

static const char prompt[] = "[{\"type\":\"text\",\"text\":\"find the needle\"}]";
static const char answer[] =
    "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"here\"}}";

static struct store_session row(const char *id, int64_t time)
{
    return (struct store_session){.id = acp_str_from(id),
                                  .agent = acp_str_from("x"),
                                  .scope = acp_str_from("/w"),
                                  .created = time,
                                  .updated = time};
}

static int import_events(const char *id)
{
    struct store_session session = row(id, 10);
    struct store_event events[] = {event_of(1, "prompt", prompt), event_of(2, "update", answer),
                                   event_of(3, "stop", "{}")};
    int err = store_import_begin(store, &session, &failure);
    if (err)
        return err;
    for (size_t i = 0; i < COUNT(events) && !err; i++)
        err = store_import_event(store, &events[i], &failure);
    if (!err)
        return store_import_commit(store, &failure);
    store_import_rollback(store);
    return err;
}

static int setup(void **state)
{
    (void) make_store_folder(state);
    if (!real.step) {
        assert_int_equal(sqlite_load(SQLITE_LIBRARY, &failure), 0);
        real = sqlite;
    }
    sqlite = real;
    sqlite.open_v2 = failing_open;
    sqlite.prepare_v3 = failing_prepare;
    sqlite.step = failing_step;
    sqlite.exec = failing_exec;
    sqlite.busy_handler = noted_busy_handler;
    no_fault();
    acp_arena_init(&arena, 0);
    failure = (struct acp_failure){0};
    store = open_store();
    assert_int_equal(import_events("aaaa"), 0);
    assert_int_equal(import_events("bbbb"), 0);
    struct store *old = NULL;
    assert_int_equal(store_open(store_at("old.db"), STORE_CREATE, &old, &failure), 0);
    store_close(old);
    return 0;
}

static int teardown(void **state)
{
    no_fault();
    store_close(store);
    store = NULL;
    acp_arena_finish(&arena);
    return remove_store_folder(state);
}

static int dump_event(const struct store_event *event, void *user)
{
    return acp_buf_printf(user, "  %d %.*s %.*s\n", (int) event->seq, (int) event->kind.len,
                          event->kind.ptr, (int) event->body.len, event->body.ptr);
}

static int dump_session(const struct store_session *session, void *user)
{
    struct acp_failure why = {0};
    int err = acp_buf_printf(user, "%.*s title=%.*s closed=%d last=%d\n", (int) session->id.len,
                             session->id.ptr, (int) session->title.len,
                             session->title.ptr ? session->title.ptr : "", session->closed != 0,
                             (int) session->last_seq);
    char id[STORE_ID_SIZE];
    (void) snprintf(id, sizeof(id), "%.*s", (int) session->id.len, session->id.ptr);
    struct store *again = NULL;
    if (!err)
        err = store_open(store_at("log.db"), 0, &again, &why);
    if (!err)
        err = store_events(again, acp_str_from(id), 1, 0, dump_event, user, &why);
    store_close(again);
    return err;
}

/* Everything that others see in the log. */
static char *dump(void)
{
    struct acp_buf out;
    struct store *other = open_store();
    struct store_filter all = {.agent = {0}};
    acp_buf_init(&out, SIZE_MAX / 2);
    assert_int_equal(store_list(other, &all, dump_session, &out, &failure), 0);
    store_close(other);
    char *text = strndup(out.len ? out.data : "", out.len);
    acp_buf_finish(&out);
    assert_non_null(text);
    return text;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int count_session(const struct store_session *session, void *user)
{
    (void) session;
    ++*(int *) user;
    return 0;
}

static int count_event(const struct store_event *event, void *user)
{
    (void) event;
    ++*(int *) user;
    return 0;
}

static int count_hit(const struct store_hit *hit, void *user)
{
    (void) hit;
    ++*(int *) user;
    return 0;
}

/* A good result has to be a whole one. */
static int whole(int err, int count, int wanted)
{
    if (!err)
        assert_int_equal(count, wanted);
    return err;
}

static int op_open(void)
{
    struct store *other = NULL;
    int err = store_open(store_at("log.db"), 0, &other, &failure);
    assert_true((err == 0) == (other != NULL));
    store_close(other);
    return err;
}

static int op_create(void)
{
    struct store *other = NULL;
    int err = store_open(store_at("new.db"), STORE_CREATE, &other, &failure);
    store_close(other);
    return err;
}

/* With a step more than there was. */
static int op_migrate(void)
{
    const char *steps[16];
    int version = store_schema.version;
    assert_true(version < (int) COUNT(steps));
    memcpy(steps, store_schema.steps, (size_t) version * sizeof(steps[0]));
    steps[version] = "ALTER TABLE sessions ADD COLUMN more TEXT";
    const struct store_schema schema = {steps, version + 1};
    struct store *other = NULL;
    int err = store_open_schema(store_at("old.db"), 0, &schema, &other, &failure);
    store_close(other);
    return err;
}

static int op_import(void)
{
    return import_events("cccc");
}

static int op_find(void)
{
    struct store_session found;
    return store_find(store, acp_str_from("aa"), &arena, &found, &failure);
}

static int op_find_named(void)
{
    struct store_session found;
    return store_find_named(store, acp_str_from("x"), acp_str_from("/w"), acp_str_from(NULL),
                            &arena, &found, &failure);
}

static int op_list(void)
{
    int count = 0;
    struct store_filter all = {.agent = {0}};
    int err = store_list(store, &all, count_session, &count, &failure);
    return whole(err, count, 2);
}

static int op_events(void)
{
    int count = 0;
    int err = store_events(store, acp_str_from("aaaa"), 1, 0, count_event, &count, &failure);
    return whole(err, count, 3);
}

static int op_change(void)
{
    struct store_change change = {.title = acp_str_from("new"),
                                  .closed = {.has = ACP_PRESENT, .value = 5}};
    return store_change(store, acp_str_from("aaaa"), &change, &failure);
}

static int op_delete(void)
{
    return store_delete(store, acp_str_from("aaaa"), &failure);
}

static int op_prune(void)
{
    uint64_t count = 0;
    struct store_prune prune = {.agent = acp_str_from("x"), .keep = 1};
    int err = store_prune(store, &prune, &count, &failure);
    return whole(err, (int) count, 1);
}

static int op_compact(void)
{
    return store_compact(store, &failure);
}

static int op_search(void)
{
    int count = 0;
    struct store_query query = {.words = acp_str_from("needle")};
    int err = store_search(store, &query, count_hit, &count, &failure);
    return whole(err, count, 2);
}

static const struct operation {
    const char *name;
    int (*run)(void);
} operations[] = {
    {"open", op_open},     {"create", op_create}, {"migrate", op_migrate},
    {"import", op_import}, {"find", op_find},     {"find_named", op_find_named},
    {"list", op_list},     {"events", op_events}, {"change", op_change},
    {"delete", op_delete}, {"prune", op_prune},   {"compact", op_compact},
    {"search", op_search},
};

/* The operation has failed, and nobody sees anything of it. */
static void check_unchanged(const struct operation *operation, int n, const char *before)
{
    char *after = dump();
    CHECK_ROW(strcmp(before, after) == 0, n, "%s: %s\nbecame\n%s", operation->name, before, after);
    /* No transaction is left open, here or for others. */
    CHECK_ROW(store_begin(store, &failure) == 0, n, "%s: %s", operation->name, failure.message);
    store_rollback(store);
    CHECK_ROW(operation->run() == 0, n, "%s cannot be repeated: %s", operation->name,
              failure.message);
    free(after);
}

/* The n-th call of the operation fails; false: it has no n-th call. */
static bool try_fault(const struct operation *operation, int n)
{
    char *before = dump();
    failure = (struct acp_failure){0};
    fail_at(n, 1, SQLITE_IOERR_WRITE);
    int err = operation->run();
    bool reached = fault.calls >= n;
    no_fault();
    if (!reached) {
        assert_int_equal(err, 0);
        free(before);
        return false;
    }
    CHECK_ROW(err < 0, n, "%s: a failed call was reported as success", operation->name);
    CHECK_ROW(failure.err == err && *failure.message, n, "%s: %d, %d '%s'", operation->name, err,
              failure.err, failure.message);
    check_unchanged(operation, n, before);
    free(before);
    return true;
}

/* The n-th allocation of the operation fails; it may be one that the operation can do without. */
static bool try_no_memory(const struct operation *operation, int n)
{
    char *before = dump();
    failure = (struct acp_failure){0};
    test_struck = false;
    test_countdown = n;
    int err = operation->run();
    test_countdown = 0;
    if (err) {
        CHECK_ROW(test_struck, n, "%s: %d '%s'", operation->name, err, failure.message);
        CHECK_ROW(err == ACP_ERR_NOMEM, n, "%s: %d '%s'", operation->name, err, failure.message);
        check_unchanged(operation, n, before);
    }
    free(before);
    return test_struck;
}

static void try_all(void **state, bool (*try)(const struct operation *operation, int n))
{
    for (size_t i = 0; i < COUNT(operations); i++) {
        bool more = true;
        for (int n = 1; more; n++) {
            more = try(&operations[i], n);
            assert_int_equal(teardown(state), 0);
            assert_int_equal(setup(state), 0);
            assert_true(n < 200);
        }
    }
}

static void test_a_failed_call_is_reported_and_changes_nothing(void **state)
{
    try_all(state, try_fault);
}

static void test_without_memory_nothing_changes(void **state)
{
    try_all(state, try_no_memory);
}

/* ---- Errors in words ------------------------------------------------------------------------- */

static void test_errors_say_what_a_person_can_do(void **state)
{
    static const struct {
        int code;
        int err;
        int reason; /* errno in it; 0: err is meant */
        const char *says;
    } rows[] = {
        {SQLITE_NOMEM, ACP_ERR_NOMEM, 0, "out of memory"},
        {SQLITE_FULL, 0, ENOSPC, "the disk is full"},
        {SQLITE_READONLY, 0, EROFS, "read-only"},
        {SQLITE_READONLY_DBMOVED, 0, EROFS, "read-only"},
        {SQLITE_CANTOPEN, 0, EACCES, "cannot open"},
        {SQLITE_PERM, 0, EACCES, "cannot open"},
        {SQLITE_AUTH, 0, EACCES, "cannot open"},
        {SQLITE_NOTADB, ACP_ERR_STATE, 0, "is no session log"},
        {SQLITE_CORRUPT, ACP_ERR_STATE, 0, "is damaged"},
        {SQLITE_IOERR, 0, EIO, "SQLite's error 10"},
        {SQLITE_IOERR_READ, 0, EIO, "SQLite's error 266"},
        {SQLITE_MISUSE, ACP_ERR_STATE, 0, "the session log"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int wanted = rows[i].reason ? acp_err_from_errno(rows[i].reason) : rows[i].err;
        fail_at(1, 1, rows[i].code);
        failure = (struct acp_failure){0};
        int err = store_begin(store, &failure);
        CHECK_ROW(err == wanted && failure.err == wanted, i, "%d instead of %d", err, wanted);
        assert_says(failure.message, rows[i].says);
        if (rows[i].code != SQLITE_NOMEM)
            assert_says(failure.message, "log.db");
    }
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void test_a_locked_database_is_waited_for(void **state)
{
    (void) state;
    fail_at(1, 3, SQLITE_BUSY);
    assert_int_equal(store_begin(store, &failure), 0);
    assert_int_equal(fault.calls, 4);
    assert_int_equal(fault.pauses, 3);
    no_fault();
    store_rollback(store);
}

static void test_a_lock_that_stays_is_an_error(void **state)
{
    (void) state;
    fail_at(1, 20000, SQLITE_BUSY);
    assert_int_equal(store_begin(store, &failure), ACP_ERR_TIMEOUT);
    assert_says(failure.message, "ten seconds");
    assert_int_equal(fault.calls, 10000);
    assert_int_equal(fault.pauses, 9999);
    /* SQLite asks the same for the locks of its own. */
    fault.pauses = 0;
    assert_non_null(fault.busy);
    assert_int_equal(fault.busy(NULL, 0), 1);
    assert_int_equal(fault.busy(NULL, 9999), 1);
    assert_int_equal(fault.pauses, 2);
    assert_int_equal(fault.busy(NULL, 10000), 0);
    assert_int_equal(fault.pauses, 2);
}

static int64_t synchronous(unsigned flags)
{
    sqlite3_stmt *statement = NULL;
    struct store *other = NULL;
    assert_int_equal(store_open(store_at("log.db"), flags, &other, &failure), 0);
    assert_int_equal(
        sqlite.prepare_v3(other->handle, "PRAGMA synchronous", -1, 0, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite.step(statement), SQLITE_ROW);
    int64_t value = sqlite.column_int64(statement, 0);
    (void) sqlite.finalize(statement);
    store_close(other);
    return value;
}

static void test_a_loss_of_power_is_survived_when_wanted(void **state)
{
    (void) state;
    assert_int_equal(synchronous(0), 1);
    assert_int_equal(synchronous(STORE_FULL_SYNC), 2);
}

/* ---- The writer ------------------------------------------------------------------------------ */

static uv_loop_t loop;
static struct {
    uint64_t kept;
    uint64_t passed;
    int failures;
    int done;
} heard;

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    (void) log;
    (void) user;
    heard.passed = seq;
    if (kept)
        heard.kept = seq;
}

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    (void) log;
    (void) user;
    assert_true(*sentence);
    heard.failures++;
}

static void on_done(void *user)
{
    (void) user;
    heard.done++;
}

static const struct store_log_handler handler = {.durable = on_durable, .failed = on_failed};

static void run_until_done(int done)
{
    while (heard.done < done)
        (void) uv_run(&loop, UV_RUN_ONCE);
}

/* Three turns, each flushed, so that there are three transactions at least. */
static void write_session(void)
{
    struct store_writer *writer = NULL;
    struct store_writer_options options = {.path = store_at("log.db"), .flags = STORE_NO_INDEX};
    struct store_session session = row("dddd", 50);
    struct store_change change = {.title = acp_str_from("written")};
    struct store_log *log = NULL;
    assert_int_equal(store_writer_new(&loop, &options, &writer), 0);
    assert_int_equal(store_log_create(writer, &session, &handler, NULL, &log, &failure), 0);
    for (int turn = 1; turn <= 3; turn++) {
        assert_int_equal(store_log_append(log, (uint64_t) turn, 1, acp_str_from("prompt"),
                                          acp_raw_from(prompt), NULL),
                         0);
        assert_int_equal(store_log_append(log, (uint64_t) turn, 1, acp_str_from("stop"),
                                          acp_raw_from("{}"), NULL),
                         0);
        assert_int_equal(store_log_change(log, &change), 0);
        assert_int_equal(store_writer_flush(writer, on_done, NULL), 0);
        run_until_done(turn);
    }
    assert_int_equal(heard.passed, 6);
    assert_true((heard.failures == 1) == (store_writer_failure(writer) != NULL));
    store_writer_close(writer, on_done, NULL);
    run_until_done(4);
}

static void test_the_writer_keeps_what_it_calls_kept(void **state)
{
    bool reached = true;
    for (int n = 1; reached; n++) {
        int count = 0;
        memset(&heard, 0, sizeof(heard));
        assert_int_equal(uv_loop_init(&loop), 0);
        fail_at(n, 1, SQLITE_FULL);
        write_session();
        reached = fault.calls >= n;
        bool failed = heard.failures != 0;
        no_fault();
        assert_int_equal(uv_loop_close(&loop), 0);
        int err = store_events(store, acp_str_from("dddd"), 1, 0, count_event, &count, &failure);
        CHECK_ROW(err == 0 || (err == ACP_ERR_MISSING && failed), n, "%s", failure.message);
        CHECK_ROW(count == (int) heard.kept, n, "%d events, %d said to be kept", count,
                  (int) heard.kept);
        /* A change of the row may be lost alone. */
        CHECK_ROW(failed || heard.kept == 6, n, "%d kept", (int) heard.kept);
        CHECK_ROW(heard.failures <= 1, n, "told %d times", heard.failures);
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
        assert_true(n < 200);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_a_failed_call_is_reported_and_changes_nothing),
        IN_FOLDER(test_without_memory_nothing_changes),
        IN_FOLDER(test_errors_say_what_a_person_can_do),
        IN_FOLDER(test_a_locked_database_is_waited_for),
        IN_FOLDER(test_a_lock_that_stays_is_an_error),
        IN_FOLDER(test_a_loss_of_power_is_survived_when_wanted),
        IN_FOLDER(test_the_writer_keeps_what_it_calls_kept),
    };
    return cmocka_run_group_tests_name("store-faults", tests, NULL, NULL);
}
