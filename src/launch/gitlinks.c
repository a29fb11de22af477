/*
 * Repositories that another one records (gitlinks, as submodules are).  `git status` runs git in
 * each of them, with the configuration that is there; so a command that makes a repository in a
 * root, and adds it to the one of the root, would have its programs run by the user's next git
 * command.  Git itself is asked for the list: its index has many forms.
 *
 * The caller waits, which is its loop: for 50,000 files git takes less than 0.1 s, before and after
 * each command that may commit.  It is limited in time, because a command can leave a FIFO in
 * the place of the index.  Then nothing is started; afterwards no list is available, and the
 * user's own git would not get one either.
 */
#define _GNU_SOURCE /* environ, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/protect.h"

enum {
    PATH_SIZE = 4096,
    READ_SIZE = 65536,
    LIST_BEFORE_MS = 3000,
    LIST_AFTER_MS = 30000, /* of a large repository the list must be had then */
};
#define LIST_MAX ((size_t) 1024 * 1024 * 1024)

/* ---- Asking ---------------------------------------------------------------------------------- */

static int start_git(const char *root, pid_t *ret_pid, int *ret_output)
{
    /* Nothing that is configured may run: this is outside of the sandbox. */
    const char *argv[] = {"git", "-c", "core.fsmonitor=false", "-C", root, "ls-files", "--stage",
                          "-z",  NULL};
    posix_spawn_file_actions_t actions;
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC))
        return errno;
    int err = posix_spawn_file_actions_init(&actions);
    if (!err) {
        err = posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
        if (!err)
            err =
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!err)
            err =
                posix_spawnp(ret_pid, argv[0], &actions, NULL, (char **) (uintptr_t) argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
    }
    (void) close(pipes[1]);
    if (err)
        (void) close(pipes[0]);
    else
        *ret_output = pipes[0];
    return err;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the end; ACP_ERR_TIMEOUT when that does not come in time. */
static int read_all(int fd, int64_t until, struct acp_buf *out)
{
    while (true) {
        int64_t left = until - now_ms();
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int some = left > 0 ? poll(&ready, 1, (int) left) : 0;
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return ACP_ERR_TIMEOUT;
        int err = acp_buf_reserve(out, READ_SIZE);
        if (err)
            return err;
        ssize_t n = read(fd, out->data + out->start + out->len, READ_SIZE);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return ACP_ERR_STATE;
        out->len += n > 0 ? (size_t) n : 0;
    }
}

/* Calls fn with each path, relative to the root, until that fails. */
static int list(const char *root, int ms, int (*fn)(const char *root, const char *path, void *user),
                void *user)
{
    static const char mode[] = "160000 ";
    struct acp_buf output;
    pid_t pid = -1;
    int fd = -1;
    if (start_git(root, &pid, &fd))
        return 0; /* without git nobody runs it either */
    acp_buf_init(&output, LIST_MAX);
    int err = read_all(fd, now_ms() + ms, &output);
    if (err)
        (void) kill(pid, SIGKILL);
    (void) close(fd);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (!err)
        err = acp_buf_append(&output, "", 1); /* the last record may lack its end */
    const char *record = output.data ? output.data + output.start : "";
    const char *end = record + output.len;
    for (; !err && record < end; record += strlen(record) + 1) {
        const char *path = strchr(record, '\t');
        if (strncmp(record, mode, strlen(mode)) == 0 && path)
            err = fn(root, path + 1, user);
    }
    acp_buf_finish(&output);
    return err;
}

/* ---- Before a run ---------------------------------------------------------------------------- */

struct search {
    struct protect_list *list;
    struct acp_failure *failure;
};

/* Protects `.git` in the recorded directory, or the directory itself where it is missing. */
static int protect_one(const char *root, const char *path, void *user)
{
    struct search *search = user;
    char way[PATH_SIZE];
    int n = snprintf(way, sizeof(way), "%s/%s/.git", root, path);
    if (n < 0 || n >= PATH_SIZE)
        return protect_fail(search->failure, ACP_ERR_RANGE, "The path of a submodule is too long");
    char *end = way + strlen(root);
    int err = 0;
    while (!err && (end = strchr(end + 1, '/'))) {
        struct stat st;
        *end = '\0';
        bool missing = lstat(way, &st) != 0;
        /* Git does not look behind a link, and neither must a mount. */
        if (!missing && !S_ISDIR(st.st_mode))
            return 0;
        err = protect_add(search->list, missing ? PROTECT_READ : PROTECT_PIN, way);
        *end = '/';
        if (missing)
            return err;
    }
    if (err)
        return err;
    *strrchr(way, '/') = '\0';
    return protect_name(search->list, way, ".git", search->failure);
}

int protect_gitlinks(struct protect_list *paths, const char *root, struct acp_failure *failure)
{
    struct search search = {paths, failure};
    int err = list(root, LIST_BEFORE_MS, protect_one, &search);
    if (err == ACP_ERR_TIMEOUT || err == ACP_ERR_LIMIT)
        return protect_fail(failure, ACP_ERR_STATE,
                            "`git ls-files` in %.200s does not end, so its submodules cannot be "
                            "protected; look at .git/index",
                            root);
    return err;
}

/* ---- After a run ----------------------------------------------------------------------------- */

static bool is_protected(const struct protect_list *paths, const char *path)
{
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(paths->entries[i].path, path) == 0)
            return true;
    return false;
}

/* Opens a directory below the root, never by a link; -1. */
static int open_below(const char *root, const char *path)
{
    char name[PATH_SIZE];
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && *path) {
        size_t n = strcspn(path, "/");
        (void) snprintf(name, sizeof(name), "%.*s", (int) n, path);
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        (void) close(fd);
        fd = next;
        path += n + (path[n] == '/');
    }
    return fd;
}

struct removal {
    const struct protect_list *list;
    size_t count;
};

/* Git does not know it by its new name; everything in it is kept. */
static int disable_one(const char *root, const char *path, void *user)
{
    struct removal *removal = user;
    char whole[PATH_SIZE];
    char name[40];
    unsigned mark = 0;
    int n = snprintf(whole, sizeof(whole), "%s/%s/.git", root, path);
    if (n < 0 || n >= PATH_SIZE || is_protected(removal->list, whole))
        return 0;
    int fd = open_below(root, path);
    if (fd < 0)
        return 0;
    if (getrandom(&mark, sizeof(mark), 0) != sizeof(mark))
        mark = (unsigned) getpid();
    (void) snprintf(name, sizeof(name), ".git.sandbox-%08x", mark);
    if (renameat(fd, ".git", fd, name) == 0)
        removal->count++;
    (void) close(fd);
    return 0;
}

size_t protect_disable_gitlinks(const struct protect_list *paths)
{
    struct removal removal = {paths, 0};
    for (size_t i = 0; i < paths->count; i++)
        if (paths->entries[i].how == PROTECT_ROOT)
            (void) list(paths->entries[i].path, LIST_AFTER_MS, disable_one, &removal);
    return removal.count;
}
