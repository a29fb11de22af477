/*
 * Versions of the database: what is refused and left alone, and how an older one becomes ours.  The
 * migrations are tested with a schema of this test, whose version 1 is the real one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/db.h"
#include "store_help.h"

static struct acp_failure failure;

static int setup(void **state)
{
    failure = (struct acp_failure){0};
    return make_store_folder(state);
}

/* ---- A later schema ------------------------------------------------------------------------- */

/* The real first step, then some that a later version might have. */
static const char *later_steps[4];
static const struct store_schema later = {later_steps, 4};
static const char *broken_steps[2];
static const struct store_schema broken = {broken_steps, 2};

static void make_schemas(void)
{
    later_steps[0] = store_schema.steps[0];
    later_steps[1] = "ALTER TABLE sessions ADD COLUMN colour TEXT;"
                     "UPDATE sessions SET colour = 'red';";
    later_steps[2] = "CREATE TABLE extra (x INTEGER) STRICT; INSERT INTO extra VALUES (7);";
    later_steps[3] = "CREATE TABLE more (x INTEGER) STRICT;";
    broken_steps[0] = store_schema.steps[0];
    broken_steps[1] = "DELETE FROM sessions; CREATE NONSENSE;";
}

static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite.open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    int code = sqlite.prepare_v3(db, sql, -1, 0, &statement, NULL);
    if (code != SQLITE_OK)
        fail_msg("%s", sqlite.errmsg(db));
    assert_int_equal(sqlite.step(statement), SQLITE_ROW);
    int64_t result = sqlite.column_int64(statement, 0);
    (void) sqlite.finalize(statement);
    (void) sqlite.close_v2(db);
    return result;
}

static void fill_version_1(void)
{
    static const struct store_schema first = {later_steps, 1};
    struct store *store = NULL;
    assert_int_equal(store_open_schema(store_at("log.db"), STORE_CREATE, &first, &store, &failure),
                     0);
    struct store_session session = {.id = acp_str_from("a"), .agent = acp_str_from("x")};
    add_session(store, &session, 25);
    store_close(store);
}

static void test_first_version(void **state)
{
    (void) state;
    store_close(open_store());
    assert_int_equal(ask(store_at("log.db"), "PRAGMA user_version"), store_schema.version);
    assert_int_equal(ask(store_at("log.db"), "PRAGMA application_id"), 0x41435053);
    assert_int_equal(access(store_at("log.db.v0.backup"), F_OK), -1);
    /* Opened again, nothing changes. */
    store_close(open_store());
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM sessions"), 0);
}

static void test_older_version_is_migrated_after_a_copy(void **state)
{
    (void) state;
    fill_version_1();
    struct store *store = NULL;
    mode_t old = umask(0);
    assert_int_equal(store_open_schema(store_at("log.db"), 0, &later, &store, &failure), 0);
    umask(old);
    store_close(store);
    assert_int_equal(ask(store_at("log.db"), "PRAGMA user_version"), 4);
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM sessions WHERE colour = 'red'"),
                     1);
    assert_int_equal(ask(store_at("log.db"), "SELECT x FROM extra"), 7);
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM events"), 25);

    /* The copy is a whole database of the old version, for its owner only. */
    const char *copy = store_at("log.db.v1.backup");
    struct stat st;
    assert_int_equal(stat(copy, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(access(store_at("log.db.v1.backup.unfinished"), F_OK), -1);
    assert_int_equal(ask(copy, "PRAGMA user_version"), 1);
    assert_int_equal(ask(copy, "SELECT count(*) FROM events"), 25);
    store = NULL;
    assert_int_equal(store_open(copy, 0, &store, &failure), 0);
    store_close(store);
}

/* What version 0.1 wrote. */
static void test_old_kinds_get_their_present_names(void **state)
{
    static const char *const old_names[] = {"open", "user", "tool",   "options",
                                            "said", "kept", "forget", "prompt"};
    static const char *const names[] = {"opened",         "user_message", "tool_call",
                                        "config_options", "message",      "retained",
                                        "history_reset",  "prompt"};
    char sql[200];
    (void) state;
    fill_version_1();
    for (int i = 0; i < 8; i++) {
        (void) snprintf(sql, sizeof(sql),
                        "UPDATE events SET kind = '%s' WHERE place & 4294967295 = %d RETURNING 1",
                        old_names[i], i + 1);
        assert_int_equal(ask(store_at("log.db"), sql), 1);
    }
    store_close(open_store());
    assert_int_equal(ask(store_at("log.db"), "PRAGMA user_version"), store_schema.version);
    for (int i = 0; i < 8; i++) {
        (void) snprintf(sql, sizeof(sql),
                        "SELECT kind = '%s' FROM events WHERE place & 4294967295 = %d", names[i],
                        i + 1);
        assert_int_equal(ask(store_at("log.db"), sql), 1);
    }
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM events"), 25);
    assert_int_equal(
        ask(store_at("log.db.v1.backup"), "SELECT count(*) FROM events WHERE kind = 'open'"), 1);
}

static void test_failed_migration_changes_nothing(void **state)
{
    (void) state;
    fill_version_1();
    struct store *store = NULL;
    assert_true(store_open_schema(store_at("log.db"), 0, &broken, &store, &failure) < 0);
    assert_says(failure.message, "NONSENSE");
    assert_null(store);
    assert_int_equal(ask(store_at("log.db"), "PRAGMA user_version"), 1);
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM sessions"), 1);
    /* The next attempt, with a better program, works and makes its copy anew. */
    assert_int_equal(store_open_schema(store_at("log.db"), 0, &later, &store, &failure), 0);
    store_close(store);
}

static void test_newer_version_is_refused(void **state)
{
    (void) state;
    struct store *store = NULL;
    assert_int_equal(store_open_schema(store_at("log.db"), STORE_CREATE, &later, &store, &failure),
                     0);
    store_close(store);
    store = NULL;
    assert_int_equal(store_open(store_at("log.db"), STORE_CREATE, &store, &failure), ACP_ERR_STATE);
    assert_says(failure.message, "has version 4");
    assert_says(failure.message, "please use a newer acp");
    assert_null(store);
}

/* Many processes at once: one migrates, and makes the one copy; the others find it done. */
static void test_processes_migrate_once(void **state)
{
    (void) state;
    enum { CHILDREN = 6 };
    fill_version_1();
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct store *store = NULL;
            int err = store_open_schema(store_at("log.db"), 0, &later, &store, &failure);
            if (err)
                (void) fprintf(stderr, "%s\n", failure.message);
            store_close(store);
            _exit(err ? 1 : 0);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ask(store_at("log.db"), "SELECT count(*) FROM extra"), 1);
    assert_int_equal(ask(store_at("log.db.v1.backup"), "PRAGMA user_version"), 1);
}

/* The same for a database that none has made yet. */
static void test_processes_create_once(void **state)
{
    (void) state;
    enum { CHILDREN = 6 };
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct store *store = NULL;
            int err = store_open(store_at("new/log.db"), STORE_CREATE, &store, &failure);
            if (err)
                (void) fprintf(stderr, "%s\n", failure.message);
            store_close(store);
            _exit(err ? 1 : 0);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ask(store_at("new/log.db"), "PRAGMA user_version"), store_schema.version);
}

/* ---- What is not ours ----------------------------------------------------------------------- */

static void write_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t) n);
    (void) close(fd);
}

static size_t read_whole(const char *path, char *bytes, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, bytes, max);
    assert_true(n >= 0);
    (void) close(fd);
    return (size_t) n;
}

/* Opening fails with the sentence, and the file stays what it was. */
static void assert_refused(const char *path, const char *sentence)
{
    static char before[1 << 20];
    static char after[1 << 20];
    size_t n = read_whole(path, before, sizeof(before));
    struct store *store = NULL;
    assert_int_equal(store_open(path, STORE_CREATE, &store, &failure), ACP_ERR_STATE);
    assert_null(store);
    assert_says(failure.message, sentence);
    assert_int_equal(read_whole(path, after, sizeof(after)), n);
    assert_memory_equal(before, after, n);
}

static void test_what_is_no_database_is_left_alone(void **state)
{
    (void) state;
    char text[5000];
    memset(text, 'x', sizeof(text));
    write_file(store_at("notes.txt"), text, sizeof(text));
    assert_refused(store_at("notes.txt"), "is no session log; it is left as it is");
}

static void test_another_programs_database_is_left_alone(void **state)
{
    (void) state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite_load(SQLITE_LIBRARY, NULL), 0);
    assert_int_equal(
        sqlite.open_v2(store_at("other.db"), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite.exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    (void) sqlite.close_v2(db);
    assert_refused(store_at("other.db"), "of another program");
}

static void test_damaged_database_is_left_alone(void **state)
{
    (void) state;
    static char bytes[1 << 20];
    fill_version_1();
    size_t n = read_whole(store_at("log.db"), bytes, sizeof(bytes));
    assert_true(n > 8192);
    /* The head of the schema's page is wrong; SQLite's own header is right. */
    memset(bytes + 100, 0x55, 900);
    write_file(store_at("bad.db"), bytes, n);
    assert_refused(store_at("bad.db"), "is damaged");
}

static int ignore_event(const struct store_event *event, void *user)
{
    (void) event;
    (void) user;
    return 0;
}

/* Damage that shows only while reading is told as such, and nothing crashes. */
static void test_damage_within_is_told(void **state)
{
    (void) state;
    static char bytes[1 << 20];
    struct store *store = open_store();
    struct store_session session = {.id = acp_str_from("a"), .agent = acp_str_from("x")};
    add_session(store, &session, 2000);
    store_close(store);
    size_t n = read_whole(store_at("log.db"), bytes, sizeof(bytes));
    memset(bytes + n / 2, 0x55, n / 2 - 4096);
    write_file(store_at("log.db"), bytes, n);
    store = NULL;
    int err = store_open(store_at("log.db"), 0, &store, &failure);
    if (!err)
        err = store_events(store, acp_str_from("a"), 1, 0, ignore_event, NULL, &failure);
    assert_int_equal(err, ACP_ERR_STATE);
    assert_says(failure.message, "is damaged");
    store_close(store);
}

/* ---- Without SQLite ------------------------------------------------------------------------- */

static void test_without_sqlite(void **state)
{
    (void) state;
    pid_t child = fork();
    if (child == 0) {
        /* In a process of its own: the first attempt counts for all. */
        struct store *store = NULL;
        int first = sqlite_load("libnothing-of-that-name.so.0", &failure);
        int second = store_open(store_at("log.db"), STORE_CREATE, &store, &failure);
        bool says = strstr(failure.message, "install the package libsqlite3-0") != NULL;
        _exit(first == ACP_ERR_MISSING && second == ACP_ERR_MISSING && says && !store ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(store_at("log.db"), F_OK), -1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, remove_store_folder)

int main(void)
{
    make_schemas();
    const struct CMUnitTest tests[] = {
        /* First: nothing has loaded the library yet. */
        IN_FOLDER(test_without_sqlite),
        IN_FOLDER(test_first_version),
        IN_FOLDER(test_older_version_is_migrated_after_a_copy),
        IN_FOLDER(test_old_kinds_get_their_present_names),
        IN_FOLDER(test_failed_migration_changes_nothing),
        IN_FOLDER(test_newer_version_is_refused),
        IN_FOLDER(test_processes_migrate_once),
        IN_FOLDER(test_processes_create_once),
        IN_FOLDER(test_what_is_no_database_is_left_alone),
        IN_FOLDER(test_another_programs_database_is_left_alone),
        IN_FOLDER(test_damaged_database_is_left_alone),
        IN_FOLDER(test_damage_within_is_told),
    };
    return cmocka_run_group_tests_name("store_schema", tests, NULL, NULL);
}
