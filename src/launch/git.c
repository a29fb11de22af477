/* git.c - see git.h. */
#define _GNU_SOURCE /* environ, pipe2 */
#include "launch/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is always given; GIT_MAX_FILTERS * 6 more words for filters. */
enum { FIXED_WORDS = 24, MAX_WORDS = FIXED_WORDS + GIT_MAX_ARGUMENTS + GIT_MAX_FILTERS * 6 };
enum { ERROR_MAX = 8192 };

static int fail(struct acp_failure *failure, int err, const char *message)
{
    if (failure) {
        *failure = (struct acp_failure){.err = err};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", message);
    }
    return err;
}

/* ---- The process ----------------------------------------------------------------------------- */

struct git_process {
    pid_t pid;
    int output;
    int errors;
};

static int64_t now_ms(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int spawn(const char *const *argv, const int pipes[4], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int err = posix_spawn_file_actions_init(&actions);
    if (err)
        return err;
    err = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!err)
        err = posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    if (!err)
        err = posix_spawn_file_actions_adddup2(&actions, pipes[3], STDERR_FILENO);
    if (!err)
        err = posix_spawnp(ret_pid, argv[0], &actions, NULL, (char **) (uintptr_t) argv, environ);
    (void) posix_spawn_file_actions_destroy(&actions);
    return err;
}

static int start(const char *const *argv, struct git_process *ret)
{
    int pipes[4] = {-1, -1, -1, -1};
    int err = pipe2(pipes, O_CLOEXEC) || pipe2(pipes + 2, O_CLOEXEC) ? errno : 0;
    if (!err)
        err = spawn(argv, pipes, &ret->pid);
    for (int i = 1; i < 4; i += 2)
        if (pipes[i] >= 0)
            (void) close(pipes[i]);
    ret->output = pipes[0];
    ret->errors = pipes[2];
    for (int i = 0; i < 4 && err; i += 2)
        if (pipes[i] >= 0)
            (void) close(pipes[i]);
    return err;
}

/* Reads what there is: 1 more may come, 0 the end, or an error. */
static int read_some(int fd, struct acp_buf *out)
{
    enum { CHUNK = 65536 };
    int err = acp_buf_reserve(out, CHUNK);
    if (err)
        return err;
    ssize_t n = read(fd, out->data + out->start + out->len, CHUNK);
    if (n < 0)
        return errno == EINTR ? 1 : ACP_ERR_STATE;
    out->len += (size_t) n;
    return n > 0;
}

static int read_both(const struct git_process *git, struct acp_buf *out, struct acp_buf *errors)
{
    struct pollfd fds[2] = {{git->output, POLLIN, 0}, {git->errors, POLLIN, 0}};
    int64_t until = now_ms() + GIT_MAX_MS;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int64_t left = until - now_ms();
        int n = left > 0 ? poll(fds, 2, (int) left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ACP_ERR_TIMEOUT;
        for (int i = 0; i < 2; i++) {
            int more = fds[i].revents ? read_some(fds[i].fd, i ? errors : out) : 1;
            /* Of the errors only the beginning matters. */
            if (i == 1 && more == ACP_ERR_LIMIT)
                acp_buf_truncate(errors, ERROR_MAX / 2);
            else if (more < 0)
                return more;
            if (more == 0)
                fds[i].fd = -1;
        }
    }
    return 0;
}

/* The first line, without "fatal: ". */
static int report(struct acp_buf *errors, struct acp_failure *failure)
{
    static const char fatal[] = "fatal: ";
    struct acp_str text = acp_buf_view(errors);
    char line[180];
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    size_t n = end ? (size_t) (end - text.ptr) : text.len;
    (void) snprintf(line, sizeof(line), "git: %.*s", (int) n, n ? text.ptr : "");
    if (strncmp(line + 5, fatal, sizeof(fatal) - 1) == 0)
        memmove(line + 5, line + 5 + sizeof(fatal) - 1, strlen(line + 5) - sizeof(fatal) + 2);
    return fail(failure, ACP_ERR_STATE, n ? line : "git has failed");
}

static int run(const char *const *argv, struct acp_buf *out, struct acp_failure *failure)
{
    struct git_process git;
    struct acp_buf errors;
    int status = 0;
    int reason = start(argv, &git);
    if (reason)
        return reason == ENOENT ? fail(failure, ACP_ERR_MISSING, "git is not installed")
                                : fail(failure, ACP_ERR_STATE, strerror(reason));
    acp_buf_init(&errors, (size_t) ERROR_MAX * 16);
    int err = read_both(&git, out, &errors);
    if (err)
        (void) kill(git.pid, SIGKILL);
    (void) close(git.output);
    (void) close(git.errors);
    while (waitpid(git.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (err)
        (void) fail(failure, err, err == ACP_ERR_TIMEOUT ? "git does not end" : acp_err_text(err));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        err = report(&errors, failure);
    acp_buf_finish(&errors);
    return err;
}

/* ---- The command line ------------------------------------------------------------------------ */

struct words {
    const char *items[MAX_WORDS + 1];
    size_t count;
};

static void add(struct words *words, const char *word)
{
    if (words->count < MAX_WORDS)
        words->items[words->count++] = word;
}

static void add_fixed(struct words *words, const struct git_place *place)
{
    static const char *const fixed[] = {"-c", "core.hooksPath=/dev/null",
                                        "-c", "core.fsmonitor=false",
                                        "-c", "core.pager=cat",
                                        "-c", "protocol.allow=never",
                                        "-c", "gc.auto=0",
                                        NULL};
    add(words, "git");
    if (place->directory) {
        add(words, "-C");
        add(words, place->directory);
    }
    if (place->git_dir) {
        add(words, "--git-dir");
        add(words, place->git_dir);
    }
    if (place->work_tree) {
        add(words, "--work-tree");
        add(words, place->work_tree);
    }
    for (size_t i = 0; fixed[i]; i++)
        add(words, fixed[i]);
}

/*
 * Filters that the repository itself defines do nothing: "filter.NAME.clean" and so on, in its own
 * configuration or that of the worktree.  Each name is a record that ends with NUL.
 */
static int disable_filters(struct words *words, struct acp_buf *names, struct acp_arena *arena)
{
    static const char *const off[] = {"clean=cat", "smudge=cat", "process="};
    struct acp_str rest = acp_buf_view(names);
    size_t count = 0;
    while (rest.len) {
        struct acp_str key = acp_str_from(rest.ptr);
        rest = acp_str_n(rest.ptr + key.len + 1, rest.len - key.len - 1);
        size_t n = key.len;
        while (n > 0 && key.ptr[n - 1] != '.')
            n--;
        if (++count > GIT_MAX_FILTERS)
            return ACP_ERR_LIMIT;
        for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
            char *setting = acp_arena_alloc(arena, n + 16);
            if (!setting)
                return ACP_ERR_NOMEM;
            (void) snprintf(setting, n + 16, "%.*s%s", (int) n, key.ptr, off[i]);
            add(words, "-c");
            add(words, setting);
        }
    }
    return 0;
}

/* The keys of filters in the repository's configuration; a failure means that there are none. */
static void list_filters(const struct git_place *place, struct acp_buf *out)
{
    static const char *const scopes[] = {"--local", "--worktree"};
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        struct words words = {0};
        size_t before = out->len;
        add_fixed(&words, place);
        add(&words, "config");
        add(&words, scopes[i]);
        add(&words, "--includes");
        add(&words, "--null");
        add(&words, "--name-only");
        add(&words, "--get-regexp");
        add(&words, "^filter\\.");
        if (run(words.items, out, NULL))
            acp_buf_truncate(out, before);
    }
}

int git_run(const struct git_place *place, const char *const *arguments, struct acp_buf *out,
            struct acp_failure *failure)
{
    struct words words = {0};
    struct acp_buf filters;
    struct acp_arena arena;
    acp_buf_init(&filters, GIT_MAX_OUTPUT);
    acp_arena_init(&arena, 0);
    add_fixed(&words, place);
    list_filters(place, &filters);
    int err = disable_filters(&words, &filters, &arena);
    if (err)
        (void) fail(failure, err, "the repository defines too many filters");
    for (size_t i = 0; arguments[i] && i < GIT_MAX_ARGUMENTS; i++)
        add(&words, arguments[i]);
    if (!err)
        err = run(words.items, out, failure);
    acp_buf_finish(&filters);
    acp_arena_finish(&arena);
    return err;
}
