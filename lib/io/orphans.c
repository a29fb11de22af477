/*
 * Orphans.  A child may start others and exit before them, or they may leave its process group with
 * setsid(): killing the group does not reach those.  Three things lead to them, all from /proc:
 *   - their session or group is still that of the child (shells with job control make many groups)
 *   - their environment has the child's mark, which all descendants inherit unless they clear it
 *   - with a reaper they are children of this process that it did not start
 *
 * A mark is a list, innermost first, "pid.time:pid.time": a program of ours that runs inside of
 * another one adds its own, so that each finds its family, also when the one between them is gone.
 *
 * On systems without /proc nothing is found, and the group is all that is ended.
 */
#include "io/orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "acp/io.h"
#include "io/children.h"
#include "io/fd.h"
#include "io/watch.h"

/* An environment beyond this is not searched to its end. */
enum { MAX_ENVIRONMENT = 1024 * 1024, MAX_STAT = 1024 };

/* How many reapers there are: this process takes in orphans. */
static atomic_int reapers;

void acp_mark_make(char *ret, size_t size)
{
    (void) snprintf(ret, size, "%d.%llx", (int) getpid(), (unsigned long long) uv_hrtime());
}

/* ---- /proc ---------------------------------------------------------------------------------- */

struct proc {
    pid_t pid;
    pid_t parent;
    pid_t group;
    pid_t session;
    unsigned long long since; /* ticks after boot */
    char state;
};

/* All of a small file, NUL-terminated; false when it is gone or larger. */
static bool read_file(const char *path, struct acp_buf *out)
{
    acp_buf_clear(out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = 1;
    while (n > 0 && acp_buf_reserve(out, 4096) == 0) {
        n = acp_fd_read(fd, out->data + out->start + out->len, 4095);
        if (n > 0)
            out->len += (size_t) n;
    }
    acp_fd_close(&fd);
    return n == 0 && acp_buf_append(out, "", 1) == 0;
}

/*
 * "pid (name) state parent group session ...", the start being the 22nd; the name may hold
 * anything, also parentheses.
 */
static bool read_stat(pid_t pid, struct proc *ret)
{
    char path[40];
    char text[MAX_STAT];
    (void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = acp_fd_read(fd, text, sizeof(text) - 1);
    acp_fd_close(&fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    int parent;
    int group;
    int session;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
    if (!name_end || sscanf(name_end + 1,
                            " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                            "%*d %llu",
                            &ret->state, &parent, &group, &session, &ret->since) != 5)
        return false;
    ret->pid = pid;
    ret->parent = (pid_t) parent;
    ret->group = (pid_t) group;
    ret->session = (pid_t) session;
    return true;
}

static bool is_dead(const struct proc *p)
{
    return p->state == 'Z' || p->state == 'X';
}

/* Whether one of the marks in a list, up to its NUL, is this one. */
static bool list_has(const char *list, const char *mark)
{
    size_t n = strlen(mark);
    for (const char *at = list; at; at = strchr(at, ':')) {
        at += *at == ':';
        if (strncmp(at, mark, n) == 0 && (at[n] == ':' || at[n] == '\0'))
            return true;
    }
    return false;
}

static bool has_mark(pid_t pid, const char *mark)
{
    static const char name[] = ACP_PROCESS_MARK "=";
    char path[40];
    struct acp_buf text;
    (void) snprintf(path, sizeof(path), "/proc/%d/environ", (int) pid);
    acp_buf_init(&text, MAX_ENVIRONMENT);
    bool found = false;
    if (read_file(path, &text)) {
        const char *end = text.data + text.len;
        for (const char *at = text.data; at < end && !found; at += strlen(at) + 1)
            if (strncmp(at, name, sizeof(name) - 1) == 0)
                found = list_has(at + sizeof(name) - 1, mark);
    }
    acp_buf_finish(&text);
    return found;
}

/* A folder entry that is a number; 0 for others. */
static pid_t number_of(const char *name)
{
    long number = 0;
    for (; *name >= '0' && *name <= '9' && number < 100000000; name++)
        number = number * 10 + (*name - '0');
    return *name ? 0 : (pid_t) number;
}

typedef void visit_fn(const struct proc *p, void *user);

/* Every process; false without /proc. */
static bool each_process(visit_fn *visit, void *user)
{
    DIR *folder = opendir("/proc");
    if (!folder)
        return false;
    bool any = false;
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        struct proc p;
        pid_t pid = number_of(entry->d_name);
        if (pid && read_stat(pid, &p)) {
            any = true;
            visit(&p, user);
        }
    }
    (void) closedir(folder);
    return any;
}

/* Of the children that one thread of ours has, in a list of numbers, those we did not start. */
static void each_in_list(const char *list, visit_fn *visit, void *user)
{
    int number;
    int used;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
    for (; sscanf(list, "%d%n", &number, &used) == 1; list += used) {
        struct proc p;
        if (!acp_children_has((pid_t) number) && read_stat((pid_t) number, &p) &&
            p.parent == getpid())
            visit(&p, user);
    }
}

struct only_strangers {
    visit_fn *visit;
    void *user;
};

static void visit_child(const struct proc *p, void *user)
{
    const struct only_strangers *only = user;
    if (p->parent == getpid() && !acp_children_has(p->pid))
        only->visit(p, only->user);
}

/*
 * Every child of this process that it did not start: orphans that it has taken in.  Linux keeps
 * lists of children; where they are missing all processes are asked.
 */
static void each_orphan(visit_fn *visit, void *user)
{
    acp_children_lock();
    DIR *folder = opendir("/proc/self/task");
    struct acp_buf list;
    acp_buf_init(&list, MAX_ENVIRONMENT);
    bool listed = false;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[64];
        pid_t thread = number_of(entry->d_name);
        (void) snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int) thread);
        if (thread && read_file(path, &list)) {
            listed = true;
            each_in_list(list.data, visit, user);
        }
    }
    if (folder)
        (void) closedir(folder);
    acp_buf_finish(&list);
    struct only_strangers only = {visit, user};
    if (!listed)
        (void) each_process(visit_child, &only);
    acp_children_unlock();
}

/* ---- Families ------------------------------------------------------------------------------- */

struct search {
    const struct acp_family *family;
    int signal_number;
    int found;
};

unsigned long long acp_family_since(pid_t leader)
{
    struct proc p;
    return read_stat(leader, &p) ? p.since : 0;
}

/* Whoever is older than the leader is none of his, which spares reading most environments. */
static bool belongs(const struct acp_family *family, const struct proc *p)
{
    if (p->since < family->since)
        return false;
    return p->session == family->leader || p->group == family->leader ||
           has_mark(p->pid, family->mark);
}

/*
 * The number may have passed to another process since we looked.  A pidfd is taken first and then
 * the look repeated: after that it is this process, or the signal goes nowhere.
 */
static void signal_member(const struct proc *p, const struct search *search)
{
    int pidfd = acp_pidfd_open(p->pid);
    struct proc again;
    bool same = read_stat(p->pid, &again) && belongs(search->family, &again);
    if (pidfd < 0) {
        if (same)
            (void) kill(p->pid, search->signal_number);
        return;
    }
    if (same)
        acp_pidfd_signal(pidfd, search->signal_number);
    acp_fd_close(&pidfd);
}

static void visit_member(const struct proc *p, void *user)
{
    struct search *search = user;
    if (p->pid == search->family->leader || p->pid == getpid() || is_dead(p) ||
        !belongs(search->family, p))
        return;
    search->found++;
    if (search->signal_number)
        signal_member(p, search);
}

static void count_living(const struct proc *p, void *user)
{
    int *living = user;
    *living += !is_dead(p);
}

/*
 * Whatever has left a process that is dead hangs, through those between them, on a child of ours
 * that we did not start.  When there is none the search through all processes can be spared.
 */
static bool nothing_escaped(const struct acp_family *family)
{
    struct proc leader;
    if (atomic_load(&reapers) == 0 || (read_stat(family->leader, &leader) && !is_dead(&leader)))
        return false;
    int living = 0;
    each_orphan(count_living, &living);
    return living == 0;
}

int acp_family_signal(const struct acp_family *family, int signal_number)
{
    if (nothing_escaped(family))
        return 0;
    struct search search = {.family = family, .signal_number = signal_number};
    return each_process(visit_member, &search) ? search.found : -1;
}

/* ---- The reaper ----------------------------------------------------------------------------- */

static void visit_dead(const struct proc *p, void *user)
{
    (void) user;
    if (is_dead(p))
        acp_wait_reap(p->pid);
}

void acp_orphans_reap(void)
{
    if (atomic_load(&reapers) > 0)
        each_orphan(visit_dead, NULL);
}

static void visit_rest(const struct proc *p, void *user)
{
    (void) user;
    /* A child of ours cannot lose its number before we reap it. */
    if (!is_dead(p))
        (void) kill(p->pid, SIGKILL);
}

void acp_orphans_kill_rest(void)
{
    if (atomic_load(&reapers) > 0 && acp_process_count() == 0)
        each_orphan(visit_rest, NULL);
}

struct acp_reaper {
    uv_signal_t signal;
};

static bool become_subreaper(bool on)
{
#if defined(PR_SET_CHILD_SUBREAPER)
    return prctl(PR_SET_CHILD_SUBREAPER, on ? 1UL : 0UL, 0UL, 0UL, 0UL) == 0;
#else
    (void) on;
    return false;
#endif
}

static void on_sigchld(uv_signal_t *handle, int number)
{
    (void) handle;
    (void) number;
    acp_orphans_reap();
}

int acp_reaper_new(uv_loop_t *loop, struct acp_reaper **ret)
{
    struct acp_reaper *reaper = calloc(1, sizeof(*reaper));
    if (!reaper)
        return ACP_ERR_NOMEM;
    int err = uv_signal_init(loop, &reaper->signal);
    if (err) {
        free(reaper);
        return acp_err_from_errno(-err);
    }
    reaper->signal.data = reaper;
    err = become_subreaper(true) ? uv_signal_start(&reaper->signal, on_sigchld, SIGCHLD) : 1;
    atomic_fetch_add(&reapers, 1);
    if (err) {
        acp_reaper_free(reaper);
        return err > 0 ? ACP_ERR_STATE : acp_err_from_errno(-err);
    }
    /* It keeps no loop alive that has nothing else to do. */
    uv_unref((uv_handle_t *) &reaper->signal);
    *ret = reaper;
    return 0;
}

static void on_reaper_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void acp_reaper_free(struct acp_reaper *reaper)
{
    if (!reaper)
        return;
    if (atomic_fetch_sub(&reapers, 1) == 1)
        (void) become_subreaper(false);
    uv_close((uv_handle_t *) &reaper->signal, on_reaper_closed);
}
