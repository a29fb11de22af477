/*
 * Processes that die while they write, and processes that write at the same time: what was reported
 * durable is there, and nothing has a gap.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "store/db.h"
#include "store/log.h"
#include "store_help.h"

static struct acp_failure failure;

static int setup(void **state)
{
    failure = (struct acp_failure){0};
    return make_store_folder(state);
}

/* ---- A process that writes ------------------------------------------------------------------ */

/* Keeps this number of events pending; a turn is TURN of them. */
enum { WINDOW = 300, TURN = 97 };

static struct {
    uv_loop_t loop;
    struct store_writer *writer;
    struct store_log *log;
    int report; /* where durable numbers go, -1: nowhere */
    uint64_t until;
    bool closing;
    bool failed;
} own;

static void body_of(uint64_t seq, char *out, size_t size)
{
    (void) snprintf(out, size,
                    "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":"
                    "{\"type\":\"text\",\"text\":\"w%llu \"}}",
                    (unsigned long long) seq);
}

static void write_more(uint64_t durable)
{
    uint64_t last = store_log_last_seq(own.log);
    while (last < own.until && last < durable + WINDOW) {
        char body[160];
        uint64_t seq = 0;
        const char *kind = (last + 1) % TURN == 0 ? "stop" : "update";
        body_of(last + 1, body, sizeof(body));
        if (store_log_append(own.log, last / TURN, store_now(), acp_str_from(kind),
                             acp_raw_from(body), &seq))
            _exit(3);
        last = seq;
    }
    if (durable >= own.until && !own.closing) {
        own.closing = true;
        store_writer_close(own.writer, NULL, NULL);
    }
}

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    (void) log;
    (void) user;
    if (!kept)
        _exit(4);
    if (own.report >= 0 && write(own.report, &seq, sizeof(seq)) != (ssize_t) sizeof(seq))
        _exit(5);
    write_more(seq);
}

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    (void) log;
    (void) user;
    (void) fprintf(stderr, "%s\n", sentence);
    _exit(6);
}

static void on_opened(struct store_log *log, const struct store_session *session,
                      const struct acp_failure *why, void *user)
{
    (void) log;
    (void) why;
    (void) user;
    if (!session)
        _exit(7);
    write_more(session->last_seq);
}

/* Writes events until that number, or for ever; never returns. */
static void be_writer(const char *id, bool create, uint64_t until, int report)
{
    static const struct store_log_handler handler = {.durable = on_durable, .failed = on_failed};
    struct store_writer_options options = {.path = store_at("log.db"), .flags = STORE_CREATE};
    struct store_session session = {.id = acp_str_from(id), .agent = acp_str_from("x")};
    (void) uv_loop_init(&own.loop);
    own.report = report;
    own.until = until;
    if (store_writer_new(&own.loop, &options, &own.writer))
        _exit(1);
    if (create ? store_log_create(own.writer, &session, &handler, NULL, &own.log, &failure)
               : store_log_open(own.writer, acp_str_from(id), &handler, on_opened, NULL, &own.log,
                                &failure)) {
        (void) fprintf(stderr, "%s\n", failure.message);
        _exit(2);
    }
    (void) uv_run(&own.loop, UV_RUN_DEFAULT);
    _exit(0);
}

/* ---- Checking ------------------------------------------------------------------------------- */

struct check {
    uint64_t last;
    bool right;
};

static int check_event(const struct store_event *event, void *user)
{
    struct check *check = user;
    char body[160];
    body_of(event->seq, body, sizeof(body));
    if (event->seq != check->last + 1 || event->body.len != strlen(body) ||
        memcmp(event->body.ptr, body, event->body.len) != 0)
        check->right = false;
    check->last = event->seq;
    return 0;
}

static uint64_t check_session(struct store *store, const char *id)
{
    struct check check = {.right = true};
    struct acp_arena arena;
    struct store_session row;
    acp_arena_init(&arena, 0);
    assert_int_equal(store_find(store, acp_str_from(id), &arena, &row, &failure), 0);
    acp_arena_finish(&arena);
    assert_int_equal(store_events(store, acp_str_from(id), 1, 0, check_event, &check, &failure), 0);
    assert_true(check.right);
    assert_int_equal(check.last, row.last_seq);
    return check.last;
}

static int note_seq(const struct store_hit *hit, void *user)
{
    *(uint64_t *) user = hit->seq;
    return 0;
}

/* Every word is found, in the text that begins with its turn. */
static void check_index(struct store *store, uint64_t last)
{
    for (int i = 0; i < 20; i++) {
        uint64_t seq = 1 + test_random() % last;
        if (seq % TURN == 0)
            continue;
        char word[32];
        (void) snprintf(word, sizeof(word), "w%llu", (unsigned long long) seq);
        struct store_query query = {.words = acp_str_from(word)};
        uint64_t found = 0;
        assert_int_equal(store_search(store, &query, note_seq, &found, &failure), 0);
        assert_int_equal(found, seq / TURN * TURN + 1);
    }
    assert_int_equal(
        store_exec(store, "INSERT INTO texts (texts) VALUES ('integrity-check')", &failure), 0);
}

/* The last number that the child has reported, once it is dead. */
static uint64_t last_report(int fd, uint64_t last)
{
    uint64_t seq;
    while (read(fd, &seq, sizeof(seq)) == (ssize_t) sizeof(seq))
        last = seq;
    return last;
}

/* Reads reports until the time is over. */
static uint64_t watch(int fd, int ms)
{
    struct timespec begin;
    struct timespec now;
    uint64_t last = 0;
    (void) clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        long left =
            ms - (now.tv_sec - begin.tv_sec) * 1000 - (now.tv_nsec - begin.tv_nsec) / 1000000;
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&poll_fd, 1, (int) left) <= 0)
            return last;
        if (read(fd, &last, sizeof(last)) != (ssize_t) sizeof(last))
            return last;
    }
}

static void test_killed_at_any_moment(void **state)
{
    (void) state;
    enum { ROUNDS = 60 };
    uint64_t had = 0;
    bool made = false;
    test_seed();
    for (int round = 0; round < ROUNDS; round++) {
        int report[2];
        assert_int_equal(pipe(report), 0);
        pid_t child = fork();
        if (child == 0)
            be_writer("a", !made, UINT64_MAX, report[1]);
        (void) close(report[1]);
        uint64_t shown = watch(report[0], (int) (test_random() % 40));
        assert_int_equal(kill(child, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status))
            fail_msg("the writer ended by itself with %d", WEXITSTATUS(status));
        shown = last_report(report[0], shown);
        (void) close(report[0]);

        struct store *store = NULL;
        int err = store_open(store_at("log.db"), 0, &store, &failure);
        if (err == ACP_ERR_MISSING)
            continue; /* killed before it began */
        if (err)
            fail_msg("%s", failure.message);
        struct acp_arena arena;
        struct store_session row;
        acp_arena_init(&arena, 0);
        made = store_find(store, acp_str_from("a"), &arena, &row, &failure) == 0;
        acp_arena_finish(&arena);
        uint64_t kept = made ? check_session(store, "a") : 0;
        assert_true(kept >= shown);
        assert_true(kept >= had);
        had = kept;
        if (had > 0 && round % 5 == 0)
            check_index(store, had);
        store_close(store);
    }
    assert_true(had > 1000);
    struct store *store = open_store();
    check_index(store, check_session(store, "a"));
    store_close(store);
}

static void test_processes_write_at_the_same_time(void **state)
{
    (void) state;
    enum { CHILDREN = 4, EVENTS = 5000 };
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        char id[16];
        (void) snprintf(id, sizeof(id), "s%d", i);
        children[i] = fork();
        if (children[i] == 0)
            be_writer(id, true, EVENTS, -1);
    }
    /* And one that reads and searches meanwhile. */
    struct store *store = open_store();
    for (int i = 0; i < 50; i++) {
        struct store_query query = {.words = acp_str_from("w1")};
        uint64_t found = 0;
        if (store_search(store, &query, note_seq, &found, &failure))
            fail_msg("%s", failure.message);
        (void) usleep(5000);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
        char id[16];
        (void) snprintf(id, sizeof(id), "s%d", i);
        assert_int_equal(check_session(store, id), EVENTS);
        assert_int_equal(store_owner(store_at("log.db"), acp_str_from(id)), 0);
    }
    store_close(store);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, remove_store_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_killed_at_any_moment),
        IN_FOLDER(test_processes_write_at_the_same_time),
    };
    return cmocka_run_group_tests_name("store_crash", tests, NULL, NULL);
}
