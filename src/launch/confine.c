/*
 * acp-sandbox - confines itself by Landlock and seccomp and becomes the command.
 *
 * It is the innermost link of a sandbox: bubblewrap starts it after the mounts are made, which
 * Landlock would forbid; where bubblewrap cannot run it is the only link (--first).  With --verify
 * it does not run a command but looks whether the walls stand, and prints the given token then: a
 * program that only claims to be bubblewrap does not know what to print.  It is a program of its
 * own, small and linked to libc only, because everything in it runs inside of the sandbox.
 *
 *     acp-sandbox [--first] [--network] [--LIST...] [--set NAME=VALUE...] [--chdir DIR]
 *                 -- COMMAND ARG...
 *
 * The lists of paths are --write, --read, --device, and, less than those, --protect (can be read
 * only) and --hide (is not there).  --expect INODE:PATH says what must be mounted where, with the
 * inode 0 for anything.  What cannot be enforced ends it with status 126, and the command does not
 * run.
 */
#define _GNU_SOURCE /* close_range, clearenv */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/confine.h"
#include "launch/landlock.h"
#include "launch/seccomp.h"

enum { EXIT_NOT_CONFINED = 126, EXIT_NO_COMMAND = 127 };

enum list {
    LIST_WRITE,
    LIST_READ,
    LIST_DEVICE,
    LIST_PROTECT,
    LIST_HIDE,
    LIST_SET,
    LIST_EXPECT,
    LIST_COUNT
};
static const char *const list_options[LIST_COUNT] = {"--write", "--read", "--device", "--protect",
                                                     "--hide",  "--set",  "--expect"};

struct confinement {
    bool first;         /* no other wall stands around this one */
    bool network;       /* allowed */
    const char *verify; /* the token to print; NULL: a command is run */
    const char *cwd;
    const char **lists[LIST_COUNT]; /* each ended by NULL */
    size_t counts[LIST_COUNT];
    char **command;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
    va_list args;
    (void) fprintf(stderr, "acp-sandbox: ");
    va_start(args, format);
    (void) vfprintf(stderr, format, args);
    va_end(args);
    (void) fprintf(stderr, "; the command was not run\n");
    exit(EXIT_NOT_CONFINED);
}

/* ---- Options -------------------------------------------------------------------------------- */

static bool take_value(struct confinement *c, const char *option, const char *value)
{
    if (strcmp(option, "--chdir") == 0) {
        c->cwd = value;
        return true;
    }
    if (strcmp(option, "--verify") == 0) {
        c->verify = value;
        return true;
    }
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (strcmp(option, list_options[i]) != 0)
            continue;
        c->lists[i][c->counts[i]++] = value;
        return true;
    }
    return false;
}

static bool take_switch(struct confinement *c, const char *option)
{
    bool *place = strcmp(option, "--first") == 0     ? &c->first
                  : strcmp(option, "--network") == 0 ? &c->network
                                                     : NULL;
    if (place)
        *place = true;
    return place;
}

static void read_options(struct confinement *c, int argc, char **argv)
{
    int i = 1;
    for (size_t list = 0; list < LIST_COUNT; list++) {
        c->lists[list] = calloc((size_t) argc + 1, sizeof(char *));
        if (!c->lists[list])
            die("out of memory");
    }
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (take_switch(c, argv[i]))
            continue;
        if (i + 1 >= argc || !take_value(c, argv[i], argv[i + 1]))
            die("unknown option or missing value at '%s'; this program is started by acp", argv[i]);
        i++;
    }
    c->command = i < argc ? argv + i + 1 : argv + argc;
    if (!c->verify && !c->command[0])
        die("no command; this program is started by acp");
}

/* ---- Mounts -------------------------------------------------------------------------------- */

/* See add_expected() in sandbox_words.c. */
static void check_mounts(const struct confinement *c)
{
    for (size_t i = 0; i < c->counts[LIST_EXPECT]; i++) {
        struct statx st;
        char *path = NULL;
        unsigned long long inode = strtoull(c->lists[LIST_EXPECT][i], &path, 10);
        if (*path != ':')
            die("--expect takes INODE:PATH");
        path++;
        if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO, &st))
            die("%s is not there: %s", path, strerror(errno));
        /* Kernels before 5.8 do not know what is mounted. */
        bool elsewhere = (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
                         !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
        if (elsewhere || (inode && st.stx_ino != inode))
            die("%s was changed while the sandbox was made", path);
    }
}

/* ---- Giving up rights ----------------------------------------------------------------------- */

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    /* The bounding set first: dropping from it needs a capability.  EINVAL is past the last. */
    for (int cap = 0; cap < 64; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EINVAL && errno != EPERM)
            die("cannot drop capability %d: %s", cap, strerror(errno));
    (void) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none))
        die("cannot drop capabilities: %s", strerror(errno));
}

static void allow_paths(const struct confinement *c, int ruleset)
{
    static const struct {
        enum list list;
        enum landlock_access access;
    } rows[] = {{LIST_WRITE, LANDLOCK_WRITE},
                {LIST_READ, LANDLOCK_READ},
                {LIST_DEVICE, LANDLOCK_DEVICE},
                {LIST_PROTECT, LANDLOCK_READ}};
    /* What is protected is an exception from what can be written, and a grant of its own. */
    const char **except =
        calloc(c->counts[LIST_PROTECT] + c->counts[LIST_HIDE] + 1, sizeof(char *));
    if (!except)
        die("out of memory");
    memcpy(except, c->lists[LIST_HIDE], c->counts[LIST_HIDE] * sizeof(char *));
    memcpy(except + c->counts[LIST_HIDE], c->lists[LIST_PROTECT],
           c->counts[LIST_PROTECT] * sizeof(char *));
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const char *const *exceptions =
            rows[r].list == LIST_WRITE ? except : (const char *const *) c->lists[LIST_HIDE];
        for (size_t i = 0; i < c->counts[rows[r].list]; i++) {
            const char *path = c->lists[rows[r].list][i];
            int err = landlock_allow_except(ruleset, path, rows[r].access, exceptions);
            /* A system place that is a link, or is not there, gives nothing; a root must be. */
            if (err && !(err == -ENOENT && rows[r].list != LIST_WRITE))
                die("cannot give access to %s: %s", path, strerror(-err));
        }
        /* Directories above an exception can be read, though nothing can be made in them. */
        if (rows[r].list == LIST_WRITE && c->counts[LIST_PROTECT] + c->counts[LIST_HIDE])
            for (size_t i = 0; i < c->counts[LIST_WRITE]; i++)
                (void) landlock_allow_except(ruleset, c->lists[LIST_WRITE][i], LANDLOCK_READ,
                                             (const char *const *) c->lists[LIST_HIDE]);
    }
    free(except);
}

static void enforce_landlock(const struct confinement *c)
{
    int version = landlock_version();
    if (version < CONFINE_MIN_LANDLOCK && c->first)
        die("the kernel's Landlock has version %d, and %d is needed", version,
            CONFINE_MIN_LANDLOCK);
    if (version == 0)
        return; /* bubblewrap is the wall, and seccomp the second */
    /* In a network namespace of its own a server on loopback does no harm. */
    int ruleset = landlock_new(c->network || !c->first);
    if (ruleset < 0)
        die("cannot make Landlock rules: %s", strerror(-ruleset));
    allow_paths(c, ruleset);
    int err = landlock_enforce(ruleset);
    if (err)
        die("cannot enforce Landlock rules: %s", strerror(-err));
}

static void confine(const struct confinement *c)
{
    if (c->first)
        (void) setsid(); /* it may lead a session already: that of its own terminal */
    if (syscall(SYS_close_range, 3U, ~0U, 0U))
        die("cannot close inherited files: %s", strerror(errno));
    (void) setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        die("cannot set no_new_privs: %s", strerror(errno));
    drop_capabilities();
    enforce_landlock(c);
    int err = seccomp_enforce(!c->first    ? SECCOMP_SOCKETS_LOCAL
                              : c->network ? SECCOMP_SOCKETS_INET
                                           : SECCOMP_SOCKETS_NONE,
                              !c->first);
    if (err)
        die("cannot install the seccomp filter: %s", strerror(-err));
}

static void set_environment(const struct confinement *c)
{
    if (clearenv())
        die("cannot clear the environment");
    for (size_t i = 0; i < c->counts[LIST_SET]; i++)
        if (putenv((char *) (uintptr_t) c->lists[LIST_SET][i]))
            die("cannot set the environment");
}

/* ---- Looking whether the walls stand -------------------------------------------------------- */

/* Bits that a line of /proc/self/status holds, in hexadecimal or decimal; -1: no such line. */
static long long status_value(const char *name, int base)
{
    char line[256];
    long long value = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && value < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoll(line + strlen(name), NULL, base);
    if (file)
        (void) fclose(file);
    return value;
}

static bool can_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void) close(fd);
    return fd >= 0;
}

static void verify(void)
{
    static const char *const sensitive[] = {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                                            "/etc/passwd", "/usr"};
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
        die("no seccomp filter is in force");
    /* Where /proc cannot be read the sets were dropped by this program a moment ago. */
    if (status_value("CapEff:", 16) > 0 || status_value("CapPrm:", 16) > 0)
        die("capabilities are left");
    if (unshare(CLONE_NEWUSER) == 0)
        die("a user namespace can be made");
    for (size_t i = 0; i < sizeof(sensitive) / sizeof(sensitive[0]); i++)
        if (can_write(sensitive[i]))
            die("%s can be written", sensitive[i]);
}

int main(int argc, char **argv)
{
    struct confinement c = {.first = false};
    read_options(&c, argc, argv);
    check_mounts(&c);
    confine(&c);
    if (c.cwd && chdir(c.cwd))
        die("cannot enter %s: %s", c.cwd, strerror(errno));
    if (c.verify) {
        verify();
        return puts(c.verify) >= 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_NOT_CONFINED;
    }
    set_environment(&c);
    (void) execvp(c.command[0], c.command);
    (void) fprintf(stderr, "acp-sandbox: cannot run %s: %s\n", c.command[0], strerror(errno));
    return EXIT_NO_COMMAND;
}
