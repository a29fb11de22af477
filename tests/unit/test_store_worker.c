/* Store functions on a thread: their order, their errors, and closing in the middle of them. */
#include "store_help.h"

#include <string.h>

#include "store/worker.h"

static uv_loop_t loop;
static struct store_worker *worker;

/* What was called back, in order. */
static struct {
    int count;
    int errs[16];
    const void *users[16];
    char sentence[200];
    bool closed;
} calls;

static int setup(void **state)
{
    memset(&calls, 0, sizeof(calls));
    (void) make_store_folder(state);
    if (uv_loop_init(&loop))
        return -1;
    return store_worker_new(&loop, store_at("log.db"), STORE_CREATE, &worker);
}

static void on_closed(void *user)
{
    (void) user;
    calls.closed = true;
}

static int teardown(void **state)
{
    store_worker_close(worker, on_closed, NULL);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(calls.closed);
    assert_int_equal(uv_loop_close(&loop), 0);
    return remove_store_folder(state);
}

static void on_done(int err, const struct acp_failure *failure, void *user)
{
    calls.errs[calls.count] = err;
    calls.users[calls.count++] = user;
    (void) snprintf(calls.sentence, sizeof(calls.sentence), "%s", failure->message);
}

static int succeed(struct store *store, void *user, struct acp_failure *failure)
{
    (void) user;
    (void) failure;
    return store ? 0 : -1;
}

static int find_nothing(struct store *store, void *user, struct acp_failure *failure)
{
    struct store_session session;
    struct acp_arena arena;
    (void) user;
    acp_arena_init(&arena, 0);
    int err = store_find(store, acp_str_from("none"), &arena, &session, failure);
    acp_arena_finish(&arena);
    return err;
}

static void test_jobs_run_in_order_and_report_their_errors(void **state)
{
    int users[3];
    (void) state;
    assert_int_equal(store_worker_run(worker, succeed, on_done, &users[0]), 0);
    assert_int_equal(store_worker_run(worker, find_nothing, on_done, &users[1]), 0);
    assert_int_equal(store_worker_run(worker, succeed, on_done, &users[2]), 0);
    assert_int_equal(calls.count, 0); /* never out of the call */
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(calls.count, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(calls.users[i], &users[i]);
    assert_int_equal(calls.errs[0], 0);
    assert_int_equal(calls.errs[1], ACP_ERR_MISSING);
    assert_int_equal(calls.errs[2], 0);
}

/* Keeps the thread in the job until the loop lets it go on. */
static uv_sem_t entered;
static uv_sem_t leave;

static int wait_for_loop(struct store *store, void *user, struct acp_failure *failure)
{
    (void) store;
    (void) user;
    (void) failure;
    uv_sem_post(&entered);
    uv_sem_wait(&leave);
    return 0;
}

static void on_timer(uv_timer_t *timer)
{
    assert_int_equal(calls.count, 0);
    uv_close((uv_handle_t *) timer, NULL);
    uv_sem_post(&leave);
}

static void test_the_loop_runs_while_a_job_takes_its_time(void **state)
{
    uv_timer_t timer;
    (void) state;
    (void) uv_sem_init(&entered, 0);
    (void) uv_sem_init(&leave, 0);
    (void) uv_timer_init(&loop, &timer);
    assert_int_equal(store_worker_run(worker, wait_for_loop, on_done, NULL), 0);
    uv_sem_wait(&entered);
    (void) uv_timer_start(&timer, on_timer, 0, 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(calls.count, 1);
    uv_sem_destroy(&entered);
    uv_sem_destroy(&leave);
}

static void test_a_close_calls_back_what_is_queued(void **state)
{
    (void) state;
    (void) uv_sem_init(&entered, 0);
    (void) uv_sem_init(&leave, 0);
    assert_int_equal(store_worker_run(worker, wait_for_loop, on_done, NULL), 0);
    uv_sem_wait(&entered);
    assert_int_equal(store_worker_run(worker, succeed, on_done, NULL), 0);
    store_worker_close(worker, on_closed, NULL);
    assert_int_equal(store_worker_run(worker, succeed, on_done, NULL), ACP_ERR_STATE);
    uv_sem_post(&leave);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(calls.count, 2);
    /* The running one ends as it ends, the queued one is given up. */
    assert_int_equal(calls.errs[0] + calls.errs[1], ACP_ERR_CLOSED);
    assert_true(calls.closed);
    uv_sem_destroy(&entered);
    uv_sem_destroy(&leave);
    assert_int_equal(store_worker_new(&loop, store_at("log.db"), STORE_CREATE, &worker), 0);
    calls.closed = false;
}

static void test_a_database_that_cannot_be_opened_is_tried_again(void **state)
{
    (void) state;
    struct store_worker *other;
    assert_int_equal(store_worker_new(&loop, store_at("later.db"), 0, &other), 0);
    assert_int_equal(store_worker_run(other, succeed, on_done, NULL), 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(calls.errs[0], ACP_ERR_MISSING);
    assert_says(calls.sentence, "later.db");

    struct store *made = NULL;
    assert_int_equal(store_open(store_at("later.db"), STORE_CREATE, &made, NULL), 0);
    store_close(made);
    assert_int_equal(store_worker_run(other, succeed, on_done, NULL), 0);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(calls.errs[1], 0);
    store_worker_close(other, NULL, NULL);
}

static void test_an_unused_worker_has_no_thread_to_wait_for(void **state)
{
    (void) state;
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    store_worker_close(NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jobs_run_in_order_and_report_their_errors, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_the_loop_runs_while_a_job_takes_its_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_close_calls_back_what_is_queued, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_database_that_cannot_be_opened_is_tried_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_an_unused_worker_has_no_thread_to_wait_for, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
