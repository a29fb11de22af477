/*
 * A conversation that runs out of memory: two prompts, a permission and a late subscriber, with
 * the first, the second, the third ... allocation failing, until none fails; and the same with the
 * calls of SQLite.  Nothing may crash or leak; each prompt that was taken ends exactly once for
 * every subscriber, and `stopped` is called.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include "store_help.h"

#include <string.h>

#include "conversation/conversation.h"
#include "memory_agent.h"
#include "store/db.h"
#include "test_memory.h"
#include "test_no_sync.h"

enum { MAX_ALLOCATIONS = 20000 };

struct viewer {
    struct subscriber *subscriber;
    uint64_t last;
    size_t ends;
    bool answers;
};

static uv_loop_t loop;
static struct conversation *conversation;
static bool stopped;

static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    struct viewer *v = user;
    (void) s;
    assert_true(event->sequence > v->last);
    v->last = event->sequence;
    v->ends += event->kind == EVENT_STOP || event->kind == EVENT_ERROR;
}

static void on_question(struct subscriber *s, const struct permission_question *question,
                        void *user)
{
    (void) s;
    (void) user;
    (void) conversation_answer(conversation, question->number, acp_str_from("yes"),
                               (struct acp_str){0});
}

static void on_stopped(struct conversation *c, void *user)
{
    (void) c;
    (void) user;
    stopped = true;
}

static bool prompt(const char *text)
{
    /* What the agent could not say for want of memory is not waited for. */
    static const struct prompt_options options = {.timeout_ms = 20};
    char body[100];
    (void) snprintf(body, sizeof(body), "{\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
    return conversation_prompt(conversation, acp_raw_from(body), &options, NULL) == 0;
}

/* The whole of it; how far it got depends on what fails. */
static void converse(const char *path)
{
    static const struct subscriber_handler person = {.event = on_event, .question = on_question};
    static const struct subscriber_handler plain = {.event = on_event};
    static const struct conversation_handler handler = {.stopped = on_stopped};
    const struct store_writer_options log = {.path = path, .flags = STORE_CREATE};
    struct viewer early = {0};
    struct viewer late = {0};
    struct store_writer *writer = NULL;
    struct store_worker *worker = NULL;
    struct acp_policy *policy = NULL;
    struct memory_agent agent;
    size_t taken = 0;
    memory_agent_init(&agent);
    agent.can_load = true;
    int err = acp_policy_new(&policy);
    if (!err && path)
        err = store_writer_new(&loop, &log, &writer);
    if (!err && path)
        err = store_worker_new(&loop, path, 0, &worker);
    const struct conversation_options options = {
        .agent = acp_str_from("memory"),
        .endpoint = &agent.endpoint,
        .place = {.cwd = acp_str_from(store_folder)},
        .session = acp_str_from("0199-nomem"),
        .policy = policy,
        .start_ms = 20,
    };
    if (!err)
        err = conversation_new(&loop, &options, writer, worker, &handler, NULL, &conversation);
    if (!err) {
        err = conversation_subscribe(conversation, 0, &person, &early, &early.subscriber);
        taken += !err && prompt("say 3");
        (void) uv_run(&loop, UV_RUN_DEFAULT);
        taken += !err && prompt("ask");
        (void) uv_run(&loop, UV_RUN_DEFAULT);
        bool attached = !conversation_subscribe(conversation, 0, &plain, &late, &late.subscriber);
        taken += !err && prompt("die");
        (void) uv_run(&loop, UV_RUN_DEFAULT);
        stopped = false;
        conversation_stop(conversation);
        while (!stopped)
            (void) uv_run(&loop, UV_RUN_ONCE);
        if (!err)
            assert_int_equal(early.ends, taken);
        /* What the log could not take cannot be read from it. */
        if (attached)
            assert_true(late.ends <= taken);
        conversation_free(conversation);
    }
    if (writer)
        store_writer_close(writer, NULL, NULL);
    store_worker_close(worker, NULL, NULL);
    acp_policy_free(policy);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
}

static void fail_each(const char *path)
{
    bool struck = true;
    long n = 0;
    while (struck) {
        assert_true(++n < MAX_ALLOCATIONS);
        if (path)
            (void) unlink(path);
        assert_int_equal(uv_loop_init(&loop), 0);
        test_struck = false;
        test_countdown = n;
        converse(path);
        test_countdown = 0;
        struck = test_struck;
        assert_int_equal(uv_loop_close(&loop), 0);
    }
    /* It has been a conversation. */
    assert_true(n > 100);
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

static struct sqlite_functions real;
static int sqlite_calls;
static int sqlite_due;       /* this call fails, from 1; 0: none does */
static bool sqlite_for_good; /* and all after it */

/* Called from the threads of the log. */
static bool sqlite_fails(void)
{
    int call = __atomic_add_fetch(&sqlite_calls, 1, __ATOMIC_SEQ_CST);
    return sqlite_due && (sqlite_for_good ? call >= sqlite_due : call == sqlite_due);
}

static int failing_open(const char *path, sqlite3 **ret, int flags, const char *vfs)
{
    int code = real.open_v2(path, ret, flags, vfs);
    return sqlite_fails() ? SQLITE_CANTOPEN : code;
}

static int failing_prepare(sqlite3 *handle, const char *sql, int size, unsigned flags,
                           sqlite3_stmt **ret, const char **tail)
{
    *ret = NULL;
    return sqlite_fails() ? SQLITE_IOERR : real.prepare_v3(handle, sql, size, flags, ret, tail);
}

static int failing_step(sqlite3_stmt *statement)
{
    return sqlite_fails() ? SQLITE_FULL : real.step(statement);
}

static int failing_exec(sqlite3 *handle, const char *sql,
                        int (*each)(void *, int, char **, char **), void *user, char **ret)
{
    return sqlite_fails() ? SQLITE_IOERR : real.exec(handle, sql, each, user, ret);
}

static void replace_sqlite(void)
{
    struct acp_failure failure;
    assert_int_equal(sqlite_load(SQLITE_LIBRARY, &failure), 0);
    real = sqlite;
    sqlite.open_v2 = failing_open;
    sqlite.prepare_v3 = failing_prepare;
    sqlite.step = failing_step;
    sqlite.exec = failing_exec;
}

static void fail_each_call(bool for_good)
{
    const char *path = store_at("log.db");
    replace_sqlite();
    sqlite_for_good = for_good;
    for (sqlite_due = 1;; sqlite_due++) {
        (void) unlink(path);
        assert_int_equal(uv_loop_init(&loop), 0);
        sqlite_calls = 0;
        converse(path);
        assert_int_equal(uv_loop_close(&loop), 0);
        if (sqlite_calls < sqlite_due)
            break;
    }
    assert_true(sqlite_due > 30);
    sqlite = real;
}

static void test_a_call_of_sqlite_fails(void **state)
{
    (void) state;
    fail_each_call(false);
}

static void test_all_calls_of_sqlite_fail_from_one_on(void **state)
{
    (void) state;
    fail_each_call(true);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_without_a_log(void **state)
{
    (void) state;
    test_sticky = false;
    fail_each(NULL);
}

static void test_with_a_log(void **state)
{
    (void) state;
    test_sticky = false;
    fail_each(store_at("log.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_a_log, make_store_folder, remove_store_folder),
        cmocka_unit_test_setup_teardown(test_with_a_log, make_store_folder, remove_store_folder),
        cmocka_unit_test_setup_teardown(test_a_call_of_sqlite_fails, make_store_folder,
                                        remove_store_folder),
        cmocka_unit_test_setup_teardown(test_all_calls_of_sqlite_fail_from_one_on,
                                        make_store_folder, remove_store_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
