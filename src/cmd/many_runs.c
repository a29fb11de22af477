/* many_runs.c - see many_runs.h. */
#include "cmd/many_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "store/store.h"

/* A pipe from a run.  Only the line that is being read is kept, and of results the last one. */
struct lines {
    int fd; /* -1: it has ended */
    struct acp_buf line;
    struct acp_buf kept;
    bool is_results;
};

struct job {
    pid_t pid; /* 0: the place is free */
    size_t index;
    int64_t began;
    struct lines out;
    struct lines err;
};

struct pool {
    const struct many_runs *runs;
    struct job jobs[MANY_RUNS_MAX_JOBS];
    size_t size;
    size_t next;
    size_t running;
    int status;
};

/* Ctrl-C goes to the whole process group, so the runs have it, too. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void) number;
    interrupted = 1;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void lines_init(struct lines *lines, int fd, bool is_results)
{
    *lines = (struct lines){.fd = fd, .is_results = is_results};
    acp_buf_init(&lines->line, MANY_RUNS_MAX_LINE);
    acp_buf_init(&lines->kept, MANY_RUNS_MAX_LINE);
}

static void lines_finish(struct lines *lines)
{
    if (lines->fd >= 0)
        (void) close(lines->fd);
    acp_buf_finish(&lines->line);
    acp_buf_finish(&lines->kept);
}

/* Only a result has that: in other events the words are within a text, with backslashes. */
static bool is_result(struct acp_str line)
{
    static const char kind[] = ",\"kind\":\"result\",\"body\":{";
    return line.len && memmem(line.ptr, line.len < 512 ? line.len : 512, kind, sizeof(kind) - 1);
}

static void take_line(struct lines *lines, const char *name)
{
    struct acp_str line = acp_buf_view(&lines->line);
    if (!lines->is_results && line.len && name)
        err_row("[%s] %.*s", name, (int) line.len, line.ptr);
    if (line.len && (!lines->is_results || is_result(line))) {
        acp_buf_clear(&lines->kept);
        (void) acp_buf_append_str(&lines->kept, line);
    }
    acp_buf_clear(&lines->line);
}

/* A line beyond the limit loses what is too much; a result of that size is none. */
static void take_bytes(struct lines *lines, struct acp_str bytes, const char *name)
{
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t) (end - bytes.ptr) : bytes.len;
        (void) acp_buf_append(&lines->line, bytes.ptr, n);
        if (end)
            take_line(lines, name);
        bytes = acp_str_n(bytes.ptr + n + (end != NULL), bytes.len - n - (end != NULL));
    }
}

static void read_lines(struct lines *lines, const char *name)
{
    char bytes[65536];
    ssize_t n = read(lines->fd, bytes, sizeof(bytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0) {
        take_bytes(lines, acp_str_n(bytes, (size_t) n), name);
        return;
    }
    take_line(lines, name);
    (void) close(lines->fd);
    lines->fd = -1;
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* In the new process.  Nobody else's descriptors stay open. */
static _Noreturn void become_run(struct pool *pool, size_t index, int out, int err)
{
    (void) signal(SIGINT, SIG_DFL);
    (void) signal(SIGTERM, SIG_DFL);
    (void) signal(SIGHUP, SIG_DFL);
    for (size_t i = 0; i < pool->size; i++) {
        if (!pool->jobs[i].pid)
            continue;
        lines_finish(&pool->jobs[i].out);
        lines_finish(&pool->jobs[i].err);
    }
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool is_ready = nothing >= 0 && dup2(nothing, 0) == 0 && dup2(out, OUTPUT_RESULTS) >= 0 &&
                    dup2(err, OUTPUT_MESSAGES) >= 0;
    int status = is_ready ? pool->runs->run(index, pool->runs->user) : EXIT_FAILED;
    (void) out_flush();
    (void) output_flush(output_messages());
    _exit(status);
}

static int start_run(struct pool *pool, struct job *job)
{
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    size_t index = pool->next++;
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        return errno;
    (void) out_flush(); /* or it would be printed twice */
    pid_t pid = fork();
    if (pid == 0)
        become_run(pool, index, out[1], err[1]);
    int reason = pid < 0 ? errno : 0;
    (void) close(out[1]);
    (void) close(err[1]);
    if (reason) {
        (void) close(out[0]);
        (void) close(err[0]);
        return reason;
    }
    *job = (struct job){.pid = pid, .index = index, .began = store_now()};
    lines_init(&job->out, out[0], true);
    lines_init(&job->err, err[0], false);
    pool->running++;
    return 0;
}

static void end_run(struct pool *pool, struct job *job)
{
    int status = 0;
    while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    struct acp_str result = acp_buf_view(&job->out.kept);
    const struct finished_run run = {
        .index = job->index,
        .status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED,
        .result = result.len ? acp_raw_n(result.ptr, result.len) : (struct acp_raw){0},
        .message = acp_buf_view(&job->err.kept),
        .duration_ms = store_now() - job->began,
    };
    if (pool->runs->done(&run, pool->runs->user))
        pool->status = EXIT_FAILED;
    lines_finish(&job->out);
    lines_finish(&job->err);
    job->pid = 0;
    pool->running--;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void start_more(struct pool *pool)
{
    for (size_t i = 0; i < pool->size && pool->next < pool->runs->count; i++) {
        if (pool->jobs[i].pid || interrupted || pool->status)
            continue;
        int reason = start_run(pool, &pool->jobs[i]);
        if (reason) {
            err_message("cannot start a run: %s", strerror(reason));
            pool->status = EXIT_FAILED;
        }
    }
}

static const char *name_of(const struct pool *pool, const struct job *job)
{
    return pool->runs->name ? pool->runs->name(job->index, pool->runs->user) : NULL;
}

static void wait_for_lines(struct pool *pool)
{
    struct pollfd fds[2 * MANY_RUNS_MAX_JOBS];
    for (size_t i = 0; i < pool->size; i++) {
        const struct job *job = &pool->jobs[i];
        fds[2 * i] = (struct pollfd){.fd = job->pid ? job->out.fd : -1, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = job->pid ? job->err.fd : -1, .events = POLLIN};
    }
    if (poll(fds, 2 * pool->size, -1) < 0)
        return; /* by a signal */
    for (size_t i = 0; i < pool->size; i++) {
        struct job *job = &pool->jobs[i];
        if (fds[2 * i].revents)
            read_lines(&job->out, name_of(pool, job));
        if (fds[2 * i + 1].revents)
            read_lines(&job->err, name_of(pool, job));
        if (job->pid && job->out.fd < 0 && job->err.fd < 0)
            end_run(pool, job);
    }
}

int many_runs(const struct many_runs *runs)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction note = {.sa_handler = on_signal};
    struct pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return EXIT_FAILED;
    pool->runs = runs;
    pool->size = runs->jobs < 1                    ? 1
                 : runs->jobs > MANY_RUNS_MAX_JOBS ? MANY_RUNS_MAX_JOBS
                                                   : runs->jobs;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void) sigaction(numbers[i], &note, NULL);
    do {
        start_more(pool);
        if (pool->running)
            wait_for_lines(pool);
    } while (pool->running || (pool->next < runs->count && !interrupted && !pool->status));
    int status = interrupted ? EXIT_INTERRUPTED : pool->status;
    free(pool);
    return status;
}
