/*
 * test_io_host.h - what the tests on the loop share.  Every test runs between host_setup() and
 * host_teardown(): they set a time limit, and see that no descriptor, no child, no zombie and no
 * handle is left.
 */
#ifndef TESTS_UNIT_TEST_IO_HOST_H
#define TESTS_UNIT_TEST_IO_HOST_H

#include "helpers.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acp/io.h"

enum {
    HOST_SECONDS = 120,
    HOST_LATE_MS = 60 * 1000, /* what a busy machine does not need for anything in these tests */
};

#define KIB(n) ((size_t) (n) *1024)
#define MIB(n) KIB((size_t) (n) *1024)

struct host {
    uv_loop_t loop;
    size_t fds;
};

static inline size_t host_count_fds(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    assert_int_equal(closedir(folder), 0);
    return n;
}

static inline int host_setup(void **state)
{
    struct host *host = calloc(1, sizeof(*host));
    assert_non_null(host);
    (void) alarm(HOST_SECONDS);
    host->fds = host_count_fds();
    assert_int_equal(uv_loop_init(&host->loop), 0);
    *state = host;
    return 0;
}

static inline void host_print_handle(uv_handle_t *handle, void *user)
{
    (void) user;
    print_error("a %s is left\n", uv_handle_type_name(handle->type));
}

static inline int host_teardown(void **state)
{
    struct host *host = *state;
    (void) uv_run(&host->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&host->loop)) {
        uv_walk(&host->loop, host_print_handle, NULL);
        fail_msg("handles are left");
    }
    /* libuv keeps two descriptors for signals for ever; they are not a leak. */
    size_t fds = host_count_fds();
    if (fds > host->fds + 2)
        fail_msg("%zu descriptors before, %zu after", host->fds, fds);
    pid_t child = waitpid(-1, NULL, WNOHANG);
    if (child >= 0 || errno != ECHILD)
        fail_msg("a child is left: %d", (int) child);
    assert_int_equal(acp_process_count(), 0);
    (void) alarm(0);
    free(host);
    return 0;
}

#define host_test(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)

static inline uv_loop_t *host_loop(void **state)
{
    struct host *host = *state;
    return &host->loop;
}

/* ---- Running the loop until something is so -------------------------------------------------- */

struct host_wait {
    const bool *flag; /* NULL: only the time ends it */
    bool late;
    int open; /* handles on the stack of host_run_until() */
};

static inline void host_on_timer(uv_timer_t *timer)
{
    ((struct host_wait *) timer->data)->late = true;
}

/* A timer may have ended the wait in the same turn: the loop must not go to sleep on that. */
static inline void host_before_sleep(uv_prepare_t *prepare)
{
    const struct host_wait *wait = prepare->data;
    if (wait->late || (wait->flag && *wait->flag))
        uv_stop(prepare->loop);
}

static inline void host_on_closed(uv_handle_t *handle)
{
    ((struct host_wait *) handle->data)->open--;
}

/* Runs until *flag, or at most that number of ms; false when the time is over. */
static inline bool host_run_until(uv_loop_t *loop, const bool *flag, uint64_t ms)
{
    struct host_wait wait = {.flag = flag, .open = 2};
    uv_timer_t timer;
    uv_prepare_t prepare;
    assert_int_equal(uv_timer_init(loop, &timer), 0);
    assert_int_equal(uv_prepare_init(loop, &prepare), 0);
    timer.data = prepare.data = &wait;
    uv_update_time(loop);
    assert_int_equal(uv_timer_start(&timer, host_on_timer, ms, 0), 0);
    assert_int_equal(uv_prepare_start(&prepare, host_before_sleep), 0);
    while (!(flag && *flag) && !wait.late)
        (void) uv_run(loop, UV_RUN_ONCE);
    /* The handles stand on this stack: they must be gone before we are. */
    uv_close((uv_handle_t *) &timer, host_on_closed);
    uv_close((uv_handle_t *) &prepare, host_on_closed);
    while (wait.open)
        (void) uv_run(loop, UV_RUN_NOWAIT);
    return flag && *flag;
}

/* And some turns more, since a busy machine may have given us none in that time. */
static inline void host_run_for(uv_loop_t *loop, uint64_t ms)
{
    (void) host_run_until(loop, NULL, ms);
    for (int i = 0; i < 5; i++)
        (void) uv_run(loop, UV_RUN_NOWAIT);
}

static inline uint64_t host_now(void)
{
    return uv_hrtime() / 1000000;
}

/* Runs the loop until something is so, or for longer than a busy machine needs. */
#define HOST_UNTIL(loop, condition)                                                                \
    do {                                                                                           \
        uint64_t host_late = host_now() + HOST_LATE_MS;                                            \
        while (!(condition) && host_now() < host_late)                                             \
            host_run_for((loop), 5);                                                               \
    } while (0)

/* Whether a process is alive: there, and no zombie. */
static inline bool host_is_alive(int pid)
{
    char path[40];
    char state = 'X';
    (void) snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'X';
    (void) fclose(file);
    return state != 'Z' && state != 'X';
}

/* Runs the loop until it is dead. */
static inline void host_await_death(uv_loop_t *loop, int pid)
{
    HOST_UNTIL(loop, !host_is_alive(pid));
    assert_false(host_is_alive(pid));
}

/* The first number in a text, or 0; *text moves behind it. */
static inline int host_number(const char **text)
{
    int number = 0;
    while (**text && (**text < '0' || **text > '9'))
        (*text)++;
    for (; **text >= '0' && **text <= '9' && number < 100000000; (*text)++)
        number = number * 10 + (**text - '0');
    return number;
}

/* Bytes of memory that are resident. */
static inline size_t host_resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    (void) fclose(file);
    return (size_t) pages * (size_t) sysconf(_SC_PAGESIZE);
}

/* The program beside this test that behaves as it is told. */
static inline const char *host_child(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
    const char *given = getenv("ACP_IO_CHILD");
    if (given)
        return given;
    assert_true(n > 0);
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    assert_non_null(slash);
    memcpy(slash, "/io_child", sizeof("/io_child"));
    return path;
}

/* ---- An endpoint that is two buffers --------------------------------------------------------- */

struct pair {
    struct acp_endpoint *endpoint;
    struct acp_buf in;  /* received, unless only counted */
    struct acp_buf out; /* to be sent */
    bool count_only;
    uint64_t received;
    uint64_t hash;    /* of what was received */
    uint64_t to_send; /* produced as room comes */
    uint64_t sent;
    uint64_t sent_hash;
    size_t most_out;
    size_t most_chunk;
    bool ended;
    bool hold;    /* paused whatever the output is */
    bool holding; /* says that there is more to come */
    size_t mark;  /* paused above so much output; 0: never */
    int refuse;   /* what receive returns */
    /* Does what receive is to do, when it is set. */
    int (*instead)(void *self, const void *bytes, size_t n, uint64_t now);
    uint64_t deadline;
    unsigned ticks;
};

enum { PAIR_FILL = 256 * 1024 };

static inline uint64_t pair_hash(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char) bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline int pair_receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    struct pair *p = self;
    (void) now;
    if (p->instead)
        return p->instead(p, bytes, n, now);
    if (p->refuse)
        return p->refuse;
    p->received += n;
    if (n > p->most_chunk)
        p->most_chunk = n;
    p->hash = pair_hash(p->hash, bytes, n);
    if (!p->count_only)
        assert_int_equal(acp_buf_append(&p->in, bytes, n), 0);
    return 0;
}

static inline void pair_receive_end(void *self, uint64_t now)
{
    struct pair *p = self;
    (void) now;
    assert_false(p->ended);
    p->ended = true;
}

static inline struct acp_str pair_output(void *self)
{
    struct pair *p = self;
    while (p->to_send && p->out.len < PAIR_FILL) {
        char block[4096];
        size_t n = p->to_send < sizeof(block) ? (size_t) p->to_send : sizeof(block);
        for (size_t i = 0; i < n; i++)
            block[i] = (char) (p->to_send + i * 7);
        assert_int_equal(acp_buf_append(&p->out, block, n), 0);
        p->to_send -= n;
    }
    if (p->out.len > p->most_out)
        p->most_out = p->out.len;
    return acp_buf_view(&p->out);
}

static inline void pair_sent(void *self, size_t n)
{
    struct pair *p = self;
    p->sent_hash = pair_hash(p->sent_hash, acp_buf_view(&p->out).ptr, n);
    p->sent += n;
    acp_buf_consume(&p->out, n);
}

static inline uint64_t pair_deadline(void *self)
{
    struct pair *p = self;
    return p->deadline;
}

static inline void pair_tick(void *self, uint64_t now)
{
    struct pair *p = self;
    assert_true(now >= p->deadline);
    p->ticks++;
    p->deadline = UINT64_MAX;
}

static inline bool pair_paused(void *self)
{
    struct pair *p = self;
    return p->hold || (p->mark && p->out.len > p->mark);
}

static inline bool pair_holding(void *self)
{
    return ((struct pair *) self)->holding;
}

static inline void pair_init(struct pair *p)
{
    static const struct acp_endpoint_handler handler = {
        .receive = pair_receive,
        .receive_end = pair_receive_end,
        .output = pair_output,
        .sent = pair_sent,
        .deadline = pair_deadline,
        .tick = pair_tick,
        .paused = pair_paused,
        .holding = pair_holding,
    };
    *p = (struct pair){.deadline = UINT64_MAX};
    assert_int_equal(acp_endpoint_new(&handler, p, &p->endpoint), 0);
    acp_buf_init(&p->in, MIB(256));
    acp_buf_init(&p->out, MIB(256));
}

static inline void pair_say(struct pair *p, const char *text)
{
    assert_int_equal(acp_buf_append(&p->out, text, strlen(text)), 0);
}

static inline void pair_finish(struct pair *p)
{
    acp_buf_finish(&p->in);
    acp_buf_finish(&p->out);
    acp_endpoint_free(p->endpoint);
}

#endif
