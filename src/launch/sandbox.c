/* Finds out which walls can be had, and prepares runs behind them. */
#define _GNU_SOURCE /* environ */
#include "launch/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/confine.h"
#include "launch/landlock.h"
#include "launch/sandbox_internal.h"

enum { TRIAL_MS = 5000, MAX_DEPTH = 256, TOKEN_SIZE = 17 };

/* ---- The command line ----------------------------------------------------------------------- */

static void append(struct sandbox_plan *plan, struct acp_str word)
{
    /* One more stays free: the words end with an empty one when they become an argv. */
    if (plan->run.count + 1 >= plan->room) {
        size_t room = plan->room ? 2 * plan->room : 256;
        void *grown =
            acp_arena_grow(&plan->arena, plan->run.argv, plan->room * sizeof(struct acp_str),
                           room * sizeof(struct acp_str));
        if (!grown) {
            plan->out_of_memory = true;
            return;
        }
        plan->run.argv = grown;
        plan->room = room;
    }
    plan->run.argv[plan->run.count++] = word;
}

void sandbox_add_copy(struct sandbox_plan *plan, struct acp_str word)
{
    struct acp_str copy = acp_arena_copy(&plan->arena, word);
    if (copy.ptr)
        append(plan, copy);
    else
        plan->out_of_memory = true;
}

void sandbox_add(struct sandbox_plan *plan, const char *word)
{
    append(plan, acp_str_from(word));
}

void sandbox_add2(struct sandbox_plan *plan, const char *option, const char *value)
{
    sandbox_add(plan, option);
    sandbox_add(plan, value);
}

void sandbox_add3(struct sandbox_plan *plan, const char *option, const char *a, const char *b)
{
    sandbox_add(plan, option);
    sandbox_add2(plan, a, b);
}

/* ---- A directory in place of /tmp ----------------------------------------------------------- */

static int make_temp(struct sandbox_plan *plan, struct acp_failure *failure)
{
    (void) snprintf(plan->temp, sizeof(plan->temp), "/tmp/acp-sandbox-XXXXXX");
    if (mkdtemp(plan->temp))
        return 0;
    plan->temp[0] = '\0';
    return protect_fail(failure, ACP_ERR_STATE, "Cannot make a directory in /tmp: %s",
                        strerror(errno));
}

/* Never follows a link: who made what is in there may still be making more. */
static void remove_tree(int parent, const char *name, int depth)
{
    int fd = depth < MAX_DEPTH
                 ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(dir), entry->d_name, 0))
            remove_tree(dirfd(dir), entry->d_name, depth + 1);
    }
    if (dir)
        (void) closedir(dir);
    else if (fd >= 0)
        (void) close(fd);
    (void) unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static int prepare(struct sandbox_plan *plan, struct acp_failure *failure)
{
    const struct passwd *entry = getpwuid(getuid());
    bool landlock = plan->sandbox->wall == SANDBOX_LANDLOCK;
    struct protect_options options = {.roots = plan->profile->roots,
                                      .hidden = plan->profile->hidden,
                                      .commits = plan->profile->commits && !landlock,
                                      .homes = {getenv("HOME"), entry ? entry->pw_dir : NULL}};
    int err = protect_find(&options, &plan->arena, &plan->paths, failure);
    if (err)
        return err;
    if (landlock && plan->paths.has_home)
        return protect_fail(failure, ACP_ERR_STATE,
                            "The home directory can be a root of a sandbox only with bubblewrap "
                            "(bwrap), which is not installed or not allowed here");
    err = landlock ? make_temp(plan, failure) : protect_make_stubs(&plan->paths, failure);
    if (err)
        return err;
    if (landlock)
        sandbox_add_landlock(plan);
    else
        sandbox_add_bubblewrap(plan);
    if (plan->changed)
        return protect_fail(failure, ACP_ERR_STATE,
                            "A protected path was changed while the sandbox was made; try again");
    if (plan->out_of_memory)
        return protect_fail(failure, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
    return 0;
}

static int plan_new(const struct sandbox *sandbox, const struct sandbox_profile *profile,
                    const char *verify, struct sandbox_run **ret, struct acp_failure *failure)
{
    struct sandbox_plan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return protect_fail(failure, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
    plan->sandbox = sandbox;
    plan->profile = profile;
    plan->verify = verify;
    acp_arena_init(&plan->arena, 0);
    int err = prepare(plan, failure);
    plan->profile = NULL;
    if (err) {
        (void) sandbox_run_free(&plan->run);
        return err;
    }
    *ret = &plan->run;
    return 0;
}

int sandbox_run_new(const struct sandbox *sandbox, const struct sandbox_profile *profile,
                    struct sandbox_run **ret, struct acp_failure *failure)
{
    return plan_new(sandbox, profile, NULL, ret, failure);
}

size_t sandbox_run_free(struct sandbox_run *run)
{
    struct sandbox_plan *plan = (struct sandbox_plan *) run;
    if (!plan)
        return 0;
    size_t disabled = plan->paths.commits ? protect_disable_gitlinks(&plan->paths) : 0;
    protect_finish(&plan->paths);
    if (plan->temp[0])
        remove_tree(AT_FDCWD, plan->temp, 0);
    acp_arena_finish(&plan->arena);
    free(plan);
    return disabled;
}

/* ---- The trial ------------------------------------------------------------------------------ */

/* Its standard output is the given descriptor. */
static int start_trial(const struct sandbox_run *run, int output, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    char **argv = calloc(run->count + 1, sizeof(char *));
    if (!argv)
        return ENOMEM;
    for (size_t i = 0; i < run->count; i++)
        argv[i] = (char *) (uintptr_t) run->argv[i].ptr;
    int err = posix_spawn_file_actions_init(&actions);
    if (!err) {
        for (int fd = 0; fd < 3 && !err; fd++)
            err = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
        if (!err)
            err = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (!err)
            err = posix_spawn(ret, argv[0], &actions, NULL, argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
    }
    free(argv);
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

/* Whether the trial has ended well and printed the token, and nothing else. */
static bool run_trial(const struct sandbox_run *run, const char *token)
{
    char said[TOKEN_SIZE + 2];
    size_t len = strlen(token);
    pid_t pid = -1;
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC))
        return false;
    bool works = start_trial(run, pipes[1], &pid) == 0;
    (void) close(pipes[1]);
    works = works && wait_for(pid);
    /* It has ended, and a pipe holds more than that: nothing is waited for. */
    (void) fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    ssize_t n = works ? read(pipes[0], said, sizeof(said)) : -1;
    (void) close(pipes[0]);
    return n == (ssize_t) len + 1 && memcmp(said, token, len) == 0 && said[len] == '\n';
}

/* A run like any other, in an empty root, in which the helper looks whether the walls stand. */
static bool try_wall(struct sandbox *sandbox, enum sandbox_wall wall)
{
    char folder[] = "/tmp/acp-sandbox-XXXXXX";
    char token[TOKEN_SIZE];
    unsigned long long number = 0;
    struct sandbox_run *run = NULL;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t) sizeof(number) || !mkdtemp(folder))
        return false;
    (void) snprintf(token, sizeof(token), "%016llx", number);
    struct acp_str root = acp_str_from(folder);
    struct sandbox_profile profile = {.roots = {&root, 1}, .cwd = root};
    sandbox->wall = wall;
    bool works = plan_new(sandbox, &profile, token, &run, NULL) == 0 && run_trial(run, token);
    (void) sandbox_run_free(run);
    (void) rmdir(folder);
    return works;
}

/* ---- What is there -------------------------------------------------------------------------- */

static bool find_bubblewrap(char *out, size_t size)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        int len = snprintf(out, size, "%.*s/bwrap", (int) n, at);
        if (n && at[0] == '/' && len > 0 && (size_t) len < size && access(out, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    out[0] = '\0';
    return false;
}

/* Beside our own program, or where it is installed; the result is an absolute path. */
static bool find_helper(const char *given, char *out)
{
    /* The last holds when libexec is not where it is by custom. */
    static const char *const places[] = {"acp-sandbox", "../libexec/acp/acp-sandbox",
                                         ACP_LIBEXECDIR "/acp-sandbox"};
    char own[SANDBOX_PATH_SIZE];
    char path[SANDBOX_PATH_SIZE + 32];
    if (!given)
        given = getenv("ACP_SANDBOX_HELPER");
    if (given)
        return realpath(given, out) && access(out, X_OK) == 0;
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (n <= 0)
        return false;
    own[n] = '\0';
    char *slash = strrchr(own, '/');
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void) snprintf(path, sizeof(path), "%s/%s", places[i][0] == '/' ? "" : own, places[i]);
        if (realpath(path, out) && access(out, X_OK) == 0)
            return true;
    }
    return false;
}

/* Says what to do, for the wall that is nearest. */
static int fail_all(const struct sandbox *sandbox, struct acp_failure *failure)
{
    if (sandbox->bwrap[0])
        return protect_fail(
            failure, ACP_ERR_STATE,
            "no sandbox: bubblewrap (bwrap) fails here, probably as user namespaces "
            "are not allowed, and Landlock %d or newer is not in the kernel",
            CONFINE_MIN_LANDLOCK);
    return protect_fail(failure, ACP_ERR_STATE,
                        "no sandbox: bubblewrap (bwrap) is not installed, and Landlock %d or newer "
                        "is not in the kernel; install bubblewrap",
                        CONFINE_MIN_LANDLOCK);
}

static int find_wall(struct sandbox *sandbox, enum sandbox_wall wanted, struct acp_failure *failure)
{
    bool has_bwrap = find_bubblewrap(sandbox->bwrap, sizeof(sandbox->bwrap));
    sandbox->landlock = landlock_version();
    if (wanted != SANDBOX_LANDLOCK && has_bwrap && try_wall(sandbox, SANDBOX_BUBBLEWRAP))
        return 0;
    if (wanted != SANDBOX_BUBBLEWRAP && sandbox->landlock >= CONFINE_MIN_LANDLOCK &&
        try_wall(sandbox, SANDBOX_LANDLOCK))
        return 0;
    return fail_all(sandbox, failure);
}

static void describe(struct sandbox *sandbox)
{
    char landlock[32] = "";
    if (sandbox->landlock)
        (void) snprintf(landlock, sizeof(landlock), "Landlock %d, ", sandbox->landlock);
    (void) snprintf(sandbox->description, sizeof(sandbox->description), "%s%sseccomp",
                    sandbox->wall == SANDBOX_BUBBLEWRAP ? "bubblewrap, " : "", landlock);
}

int sandbox_new(const struct sandbox_options *options, struct sandbox **ret,
                struct acp_failure *failure)
{
    struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
    int err = 0;
    if (!sandbox)
        return protect_fail(failure, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
    if (!find_helper(options ? options->helper : NULL, sandbox->helper))
        err = protect_fail(failure, ACP_ERR_STATE,
                           "no sandbox: the program acp-sandbox, which is installed with acp, is "
                           "missing; install acp again");
    else
        err = find_wall(sandbox, options ? options->wall : SANDBOX_ANY, failure);
    if (err) {
        free(sandbox);
        return err;
    }
    describe(sandbox);
    *ret = sandbox;
    return 0;
}

void sandbox_free(struct sandbox *sandbox)
{
    free(sandbox);
}

enum sandbox_wall sandbox_wall(const struct sandbox *sandbox)
{
    return sandbox->wall;
}

const char *sandbox_describe(const struct sandbox *sandbox)
{
    return sandbox->description;
}
