/*
 * Starting a program.  We fork ourselves instead of using uv_spawn(), for three things that it
 * cannot do: a controlling terminal, a death signal, and leaving the dead child unreaped until its
 * group is killed.  Between fork and exec only what is safe after a fork in a process with threads
 * is called; everything that needs memory is made before.
 *
 * A pipe that closes on exec tells the parent: nothing comes when the program runs, otherwise the
 * step that failed and why.
 */
#define _GNU_SOURCE /* close_range, NSIG */
#include "io/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "acp/io.h"
#include "io/environment.h"
#include "io/fd.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

enum step { STEP_TERMINAL = 1, STEP_FDS, STEP_CWD, STEP_EXEC };

struct report {
    int step;
    int number; /* errno */
};

/* All that the child needs, made before the fork. */
struct plan {
    const struct acp_spawn *spawn;
    char **candidates;       /* paths to try, NULL at the end */
    char *text;              /* which they point into */
    const char **shell_argv; /* to run a script without #!: [1] is the candidate */
    int report;              /* where the child reports */
    pid_t parent;
};

/* ---- In the child --------------------------------------------------------------------------- */

static _Noreturn void give_up(int fd, enum step step)
{
    struct report report = {(int) step, errno};
    (void) acp_fd_write(fd, &report, sizeof(report));
    _exit(127);
}

/* Handlers of the parent mean nothing here, and an ignored SIGPIPE would be inherited by all. */
static void reset_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        (void) sigaction(number, &action, NULL);
    sigset_t none;
    (void) sigemptyset(&none);
    (void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * When the thread that forked dies, in whatever way, so do we.  It may have died already.  What we
 * start does not inherit this; it loses its input, its terminal or its parent instead.
 */
static void die_with_parent(pid_t parent)
{
#if defined(PR_SET_PDEATHSIG)
    (void) prctl(PR_SET_PDEATHSIG, (unsigned long) SIGKILL, 0UL, 0UL, 0UL);
    if (getppid() != parent)
        _exit(127);
#else
    (void) parent;
#endif
}

/* Whatever the program around us has left open is not passed on. */
static void close_rest_on_exec(void)
{
#if defined(SYS_close_range) && defined(CLOSE_RANGE_CLOEXEC)
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
#endif
    struct rlimit limit;
    int most = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t) most)
        most = (int) limit.rlim_cur;
    for (int fd = 3; fd < most; fd++)
        (void) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int place_fds(const struct plan *plan, int *report)
{
    int fds[3];
    /* First out of the way of 0, 1 and 2, which may be among them, then into place. */
    for (int i = 0; i < 3; i++) {
        fds[i] = fcntl(plan->spawn->fds[i], F_DUPFD_CLOEXEC, 3);
        if (fds[i] < 0)
            return -1;
    }
    if (*report < 3)
        *report = fcntl(*report, F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0)
            return -1;
    return *report;
}

/* As execvp() does, but with the PATH of the child, and nothing allocated. */
static void run(const struct plan *plan)
{
    const struct acp_spawn *spawn = plan->spawn;
    int number = ENOENT;
    for (char **path = plan->candidates; *path; path++) {
        /* execve() does not write to them; its type is older than const. */
        char *const *argv;
        memcpy(&argv, &spawn->argv, sizeof(argv));
        (void) execve(*path, argv, spawn->environment);
        if (errno == ENOEXEC) {
            plan->shell_argv[1] = *path;
            memcpy(&argv, &plan->shell_argv, sizeof(argv));
            (void) execve("/bin/sh", argv, spawn->environment);
        }
        /* A file that is there but may not be run says more than one that is not there. */
        if (errno != ENOENT && errno != ENOTDIR)
            number = errno;
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            break;
    }
    errno = number;
}

/* A group of its own in our session.  All signals are blocked, so that the terminal lets us. */
static void join_session(int terminal)
{
    (void) setpgid(0, 0);
    if (terminal >= 0)
        (void) tcsetpgrp(terminal, getpid());
}

static int enter_directory(const struct acp_spawn *spawn)
{
    if (spawn->cwd_fd)
        return fchdir(*spawn->cwd_fd);
    return spawn->cwd ? chdir(spawn->cwd) : 0;
}

static _Noreturn void child(const struct plan *plan)
{
    const struct acp_spawn *spawn = plan->spawn;
    int report = plan->report;
    if (spawn->in_our_session)
        join_session(spawn->foreground);
    else
        (void) setsid();
    if (spawn->terminal >= 0 && ioctl(spawn->terminal, TIOCSCTTY, 0) < 0)
        give_up(report, STEP_TERMINAL);
    /* Before its descriptor could be one of those that are replaced. */
    if (enter_directory(spawn) < 0)
        give_up(report, STEP_CWD);
    if (place_fds(plan, &report) < 0)
        give_up(report, STEP_FDS);
    close_rest_on_exec();
    reset_signals();
    if (spawn->in_our_session)
        (void) signal(SIGTSTP, SIG_IGN); /* nobody could make it go on */
    die_with_parent(plan->parent);
    run(plan);
    give_up(report, STEP_EXEC);
}

/* ---- Before the fork ------------------------------------------------------------------------ */

/* The paths under which the program may be found, in order. */
static int find_candidates(struct plan *plan)
{
    const char *program = plan->spawn->argv[0];
    const char *path = acp_environment_get(plan->spawn->environment, "PATH");
    if (!path || !*path)
        path = DEFAULT_PATH;
    bool named = strchr(program, '/');
    if (named)
        path = "";
    size_t places = 1;
    for (const char *p = path; *p; p++)
        places += *p == ':';
    size_t program_len = strlen(program);
    plan->candidates = calloc(places + 1, sizeof(*plan->candidates));
    plan->text = malloc(strlen(path) + places * (program_len + 3));
    if (!plan->candidates || !plan->text)
        return ACP_ERR_NOMEM;
    char *out = plan->text;
    size_t count = 0;
    const char *next = path;
    for (size_t i = 0; i < places; i++) {
        size_t n = strcspn(next, ":");
        path = next;
        next += n + (next[n] == ':');
        /* Relative to the folder of a project: whoever wrote that would choose what runs. */
        if (!named && path[0] != '/')
            continue;
        plan->candidates[count++] = out;
        memcpy(out, path, n);
        out += n;
        /* A program with a slash stands for itself. */
        if (n)
            *out++ = '/';
        memcpy(out, program, program_len + 1);
        out += program_len + 1;
    }
    return 0;
}

static int make_shell_argv(struct plan *plan)
{
    size_t n = 0;
    while (plan->spawn->argv[n])
        n++;
    plan->shell_argv = calloc(n + 2, sizeof(*plan->shell_argv));
    if (!plan->shell_argv)
        return ACP_ERR_NOMEM;
    plan->shell_argv[0] = "/bin/sh";
    for (size_t i = 1; i < n; i++)
        plan->shell_argv[i + 1] = plan->spawn->argv[i];
    return 0;
}

static void plan_finish(struct plan *plan)
{
    free(plan->candidates);
    free(plan->text);
    free(plan->shell_argv);
}

/* ---- In the parent -------------------------------------------------------------------------- */

int acp_spawn_failed(struct acp_failure *failure, const char *program, const char *what, int err)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    (void) snprintf(failure->message, sizeof(failure->message), "cannot start %.80s: %.60s%s%s",
                    program, what, *what ? ": " : "", acp_io_err_text(err));
    return err;
}

static int explain(const struct acp_spawn *spawn, const struct report *report,
                   struct acp_failure *failure)
{
    int err = acp_err_from_errno(report->number);
    const char *program = spawn->argv[0];
    char what[100] = "";
    if (report->step == STEP_CWD)
        (void) snprintf(what, sizeof(what), "its folder %.48s",
                        spawn->cwd ? spawn->cwd : "(given as a descriptor)");
    else if (report->step == STEP_TERMINAL)
        (void) snprintf(what, sizeof(what), "its terminal");
    else if (report->step == STEP_FDS)
        (void) snprintf(what, sizeof(what), "its input and output");
    else if (report->number == ENOENT && !strchr(program, '/'))
        (void) snprintf(what, sizeof(what), "it is not in PATH");
    return acp_spawn_failed(failure, program, what, err);
}

static pid_t fork_child(const struct plan *plan, acp_child_slot *slot)
{
    sigset_t all;
    sigset_t before;
    (void) sigfillset(&all);
    /* No handler of the parent may run in the child. */
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    acp_children_lock();
    pid_t pid = fork();
    if (pid == 0)
        child(plan);
    int number = errno;
    if (pid > 0)
        acp_children_enter(slot, pid);
    acp_children_unlock();
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return pid;
}

static int fork_and_hear(struct plan *plan, acp_child_slot *slot, pid_t *ret_pid,
                         struct acp_failure *failure)
{
    int hear;
    const char *program = plan->spawn->argv[0];
    int err = acp_fd_pipe(&hear, &plan->report);
    if (err) {
        acp_children_leave(slot);
        return acp_spawn_failed(failure, program, "", err);
    }
    pid_t pid = fork_child(plan, slot);
    err = pid < 0 ? acp_err_from_errno(errno) : 0;
    acp_fd_close(&plan->report);
    struct report report;
    ssize_t n = err ? 0 : acp_fd_read(hear, &report, sizeof(report));
    acp_fd_close(&hear);
    if (err) {
        acp_children_leave(slot);
        return acp_spawn_failed(failure, program, "no process can be made", err);
    }
    if (n == (ssize_t) sizeof(report)) {
        acp_children_leave(slot);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return explain(plan->spawn, &report, failure);
    }
    *ret_pid = pid;
    return 0;
}

int acp_spawn(const struct acp_spawn *spawn, acp_child_slot *slot, pid_t *ret_pid,
              struct acp_failure *failure)
{
    struct plan plan = {.spawn = spawn, .report = -1, .parent = getpid()};
    int err = find_candidates(&plan);
    if (!err)
        err = make_shell_argv(&plan);
    if (err) {
        acp_children_leave(slot);
        (void) acp_spawn_failed(failure, spawn->argv[0], "", err);
    } else {
        err = fork_and_hear(&plan, slot, ret_pid, failure);
    }
    plan_finish(&plan);
    return err;
}
