/* The words for bubblewrap, and the trial whether it works here. */
#define _GNU_SOURCE /* environ */
#include "launch/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_FIXED = 128, /* arguments that do not depend on the roots */
    MAX_PATH = 4096,
    TRIAL_MS = 2000,
};

static int fail(struct acp_failure *failure, int err, const char *message)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    (void) snprintf(failure->message, sizeof(failure->message), "%s", message);
    return err;
}

/* ---- The words ------------------------------------------------------------------------------ */

/* What a program needs of the system; what is not there is left out. */
static const char *const system_places[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", NULL,
};

/* Of our environment, where keys and tokens lie, only this goes in. */
static const char *const kept_variables[] = {"PATH", "LANG", "LC_ALL", "TZ", "USER", NULL};

/* As terminals have it; nobody could leave a pager. */
static const char *const set_variables[][2] = {
    {"HOME", "/tmp"},
    {"TERM", "xterm-256color"},
    {"PAGER", "cat"},
    {"GIT_PAGER", "cat"},
};

static bool find_program(char *out, size_t size)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        int len = snprintf(out, size, "%.*s/bwrap", (int) n, at);
        if (n && at[0] == '/' && len > 0 && (size_t) len < size && access(out, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static void add(struct sandbox_words *words, const char *text)
{
    words->args[words->count++] = acp_str(text);
}

static void add_system(struct sandbox_words *words)
{
    for (size_t i = 0; system_places[i]; i++) {
        add(words, "--ro-bind-try");
        add(words, system_places[i]);
        add(words, system_places[i]);
    }
    add(words, "--proc");
    add(words, "/proc");
    add(words, "--dev");
    add(words, "/dev");
    add(words, "--tmpfs");
    add(words, "/tmp");
}

static int add_variables(struct sandbox_words *words, struct acp_arena *arena)
{
    add(words, "--clearenv");
    for (size_t i = 0; kept_variables[i]; i++) {
        const char *value = getenv(kept_variables[i]);
        struct acp_str copy = value ? acp_arena_copy(arena, acp_str(value)) : acp_str(NULL);
        if (value && !copy.ptr)
            return ACP_ERR_NOMEM;
        if (!value)
            continue;
        add(words, "--setenv");
        add(words, kept_variables[i]);
        words->args[words->count++] = copy;
    }
    for (size_t i = 0; i < sizeof(set_variables) / sizeof(set_variables[0]); i++) {
        add(words, "--setenv");
        add(words, set_variables[i][0]);
        add(words, set_variables[i][1]);
    }
    return 0;
}

/* "/", "//", "/." and the like. */
static bool is_everything(struct acp_str path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] != '/' && path.ptr[i] != '.')
            return false;
    return true;
}

static int check_root(struct acp_str root, struct acp_failure *failure)
{
    if (root.len == 0 || root.ptr[0] != '/' || memchr(root.ptr, '\0', root.len))
        return fail(failure, ACP_ERR_RANGE, "The root of a sandbox must be an absolute path");
    if (is_everything(root))
        return fail(failure, ACP_ERR_RANGE, "The whole file system cannot be put into a sandbox");
    return 0;
}

static int add_roots(struct sandbox_words *words, const struct sandbox_options *options,
                     struct acp_arena *arena, struct acp_failure *failure)
{
    for (size_t i = 0; i < options->roots.count; i++) {
        int err = check_root(options->roots.items[i], failure);
        if (err)
            return err;
        struct acp_str copy = acp_arena_copy(arena, options->roots.items[i]);
        if (!copy.ptr)
            return fail(failure, ACP_ERR_NOMEM, acp_err_text(ACP_ERR_NOMEM));
        add(words, "--bind");
        words->args[words->count++] = copy;
        words->args[words->count++] = copy;
    }
    if (options->cwd.len) {
        struct acp_str cwd = acp_arena_copy(arena, options->cwd);
        if (!cwd.ptr)
            return fail(failure, ACP_ERR_NOMEM, acp_err_text(ACP_ERR_NOMEM));
        add(words, "--chdir");
        words->args[words->count++] = cwd;
    }
    return 0;
}

int sandbox_words(const struct sandbox_options *options, size_t extra, struct acp_arena *arena,
                  struct sandbox_words *ret, struct acp_failure *failure)
{
    char program[MAX_PATH];
    struct sandbox_words words = {.count = 0};
    if (!find_program(program, sizeof(program)))
        return fail(failure, ACP_ERR_MISSING,
                    "bubblewrap (bwrap) is not installed, so nothing can be run in a sandbox");
    size_t room = MAX_FIXED + 3 * options->roots.count + extra;
    words.args = acp_arena_alloc(arena, room * sizeof(struct acp_str));
    words.program = acp_arena_copy(arena, acp_str(program));
    if (!words.args || !words.program.ptr)
        return fail(failure, ACP_ERR_NOMEM, acp_err_text(ACP_ERR_NOMEM));
    add(&words, "--unshare-all");
    if (options->network)
        add(&words, "--share-net");
    add(&words, "--die-with-parent");
    /* Otherwise a command could type into the terminal that shows it. */
    add(&words, "--new-session");
    add_system(&words);
    int err = add_variables(&words, arena);
    if (err)
        return fail(failure, err, acp_err_text(err));
    err = add_roots(&words, options, arena, failure);
    if (err)
        return err;
    add(&words, "--");
    *ret = words;
    return 0;
}

/* ---- The trial ------------------------------------------------------------------------------ */

static int start_trial(const struct sandbox_words *words, struct acp_arena *arena, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    char **argv = acp_arena_alloc(arena, (words->count + 3) * sizeof(char *));
    if (!argv)
        return ENOMEM;
    argv[0] = (char *) (uintptr_t) words->program.ptr;
    for (size_t i = 0; i < words->count; i++)
        argv[i + 1] = (char *) (uintptr_t) words->args[i].ptr;
    argv[words->count + 1] = (char *) (uintptr_t) "true";
    int err = posix_spawn_file_actions_init(&actions);
    if (err)
        return err;
    for (int fd = 0; fd < 3 && !err; fd++)
        err = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    if (!err)
        err = posix_spawn(ret, argv[0], &actions, NULL, argv, environ);
    (void) posix_spawn_file_actions_destroy(&actions);
    return err;
}

/* Whether it ended well in time; it has ended in any case. */
static bool wait_for(pid_t pid)
{
    int status = 0;
    for (int ms = 0; ms < TRIAL_MS; ms++) {
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (done < 0 && errno != EINTR)
            return false;
        (void) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    (void) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return false;
}

bool sandbox_available(struct acp_failure *failure)
{
    struct acp_arena arena;
    struct sandbox_words words;
    struct sandbox_options options = {.cwd = acp_str("/tmp")};
    pid_t pid = -1;
    acp_arena_init(&arena, 1 << 20);
    bool works = sandbox_words(&options, 1, &arena, &words, failure) == 0;
    if (works && (start_trial(&words, &arena, &pid) != 0 || !wait_for(pid))) {
        (void) fail(failure, ACP_ERR_STATE,
                    "bubblewrap (bwrap) cannot make a sandbox here; the system may not allow "
                    "user namespaces");
        works = false;
    }
    acp_arena_finish(&arena);
    return works;
}
