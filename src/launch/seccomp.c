/*
 * The filter, assembled from a table.  A filter sees numbers and registers, not the memory behind
 * pointers: a call whose danger is in a struct (clone3, openat2) is therefore said not to exist,
 * and libc falls back to the one that can be judged.
 */
#define _GNU_SOURCE /* syscall */
#include "launch/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000U
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

/* Younger than some kernel headers; the same number on all architectures. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)
#define NEWTIME 0x80 /* in unshare(); in clone() these bits are the signal */
#define CREATES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SET_ID_BITS (S_ISUID | S_ISGID)

enum test {
    TEST_NONE,
    TEST_ANY_BIT,  /* of the operand */
    TEST_EQUAL,    /* to the operand */
    TEST_DIFFERENT /* from the operand */
};

struct check {
    unsigned arg;
    enum test test;
    uint32_t operand;
};

enum { MAX_CHECKS = 3, MAX_FILTER = 1024 };

/* The call is denied when all its checks hold. */
struct rule {
    int number;
    int error;
    const char *reason;
    struct check checks[MAX_CHECKS];
};

#define DENY(call, reason)                                                                         \
    {                                                                                              \
        SYS_##call, EPERM, reason,                                                                 \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define ABSENT(call, reason)                                                                       \
    {                                                                                              \
        SYS_##call, ENOSYS, reason,                                                                \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define DENY_IF(call, reason, ...)                                                                 \
    {                                                                                              \
        SYS_##call, EPERM, reason,                                                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct rule rules[] = {
    /* Other processes. */
    DENY(ptrace, "takes over another process"),
    DENY(process_vm_readv, "reads another process's memory"),
    DENY(process_vm_writev, "writes another process's memory"),
    DENY(process_madvise, "changes another process's memory"),
    DENY(pidfd_getfd, "takes descriptors from another process"),
    DENY(kcmp, "compares kernel objects of other processes"),
    DENY(move_pages, "reaches into another process's memory"),
    DENY(migrate_pages, "reaches into another process's memory"),
    DENY_IF(prlimit64, "limits another process", {0, TEST_DIFFERENT, 0}),
    DENY_IF(setpriority, "slows another process down", {1, TEST_DIFFERENT, 0}),
    DENY_IF(setpriority, "slows all of the user's processes down", {0, TEST_EQUAL, PRIO_USER}),

    /* Mounts and roots: the walls of the outer sandbox. */
    DENY(mount, "could uncover what is hidden or make it writable"),
    DENY(umount2, "could uncover what is hidden"),
    DENY(pivot_root, "could leave the root"),
    DENY(chroot, "could leave the root"),
    DENY(open_tree, "copies mounts"),
    DENY(move_mount, "moves mounts"),
    DENY(fsopen, "makes mounts"),
    DENY(fsconfig, "makes mounts"),
    DENY(fsmount, "makes mounts"),
    DENY(fspick, "changes mounts"),
    DENY(mount_setattr, "makes mounts writable"),
    DENY(swapon, "takes a file as memory"),
    DENY(swapoff, "changes the machine"),
    DENY(quotactl, "changes the machine"),

    /* Namespaces: inside of a new user namespace a process has all capabilities. */
    DENY(setns, "enters another namespace"),
    DENY_IF(unshare, "makes a namespace", {0, TEST_ANY_BIT, NAMESPACES | NEWTIME}),
    DENY_IF(clone, "makes a namespace", {0, TEST_ANY_BIT, NAMESPACES}),
    ABSENT(clone3, "its flags cannot be seen by a filter"),

    /* Files by other ways than names. */
    DENY(open_by_handle_at, "opens files past all directories"),
    DENY(name_to_handle_at, "makes what open_by_handle_at() takes"),
    DENY(fanotify_init, "watches and holds up other processes' files"),

    /* Set-id programs would give their owner's rights to whoever runs them outside. */
    DENY_IF(fchmod, "makes a set-id program", {1, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(fchmodat, "makes a set-id program", {2, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(fchmodat2, "makes a set-id program", {2, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(mknodat, "makes a set-id program", {2, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(mkdirat, "makes a set-id directory", {2, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(openat, "makes a set-id program", {2, TEST_ANY_BIT, CREATES},
            {3, TEST_ANY_BIT, SET_ID_BITS}),
    ABSENT(openat2, "its mode cannot be seen by a filter"),

    /* Keys of the user, which no namespace separates. */
    DENY(keyctl, "reads the user's keyrings"),
    DENY(add_key, "changes the user's keyrings"),
    DENY(request_key, "reads the user's keyrings"),

    /* Large kernel interfaces that nothing here needs and that had many holes. */
    DENY(bpf, "loads code into the kernel"),
    DENY(perf_event_open, "watches the kernel and other processes"),
    DENY(userfaultfd, "holds up the kernel in the middle of a call"),
    DENY(io_uring_setup, "makes calls that no filter sees"),
    DENY(io_uring_enter, "makes calls that no filter sees"),
    DENY(io_uring_register, "makes calls that no filter sees"),
    /* Harmless are the default, no address randomization (debuggers), and asking. */
    DENY_IF(personality, "weakens how programs are mapped", {0, TEST_DIFFERENT, 0},
            {0, TEST_DIFFERENT, 0x0040000}, {0, TEST_DIFFERENT, 0xffffffffU}),

    /* The machine. */
    DENY(kexec_load, "replaces the kernel"),
    DENY(init_module, "loads code into the kernel"),
    DENY(finit_module, "loads code into the kernel"),
    DENY(delete_module, "unloads code of the kernel"),
    DENY(reboot, "stops the machine"),
    DENY(sethostname, "renames the machine"),
    DENY(setdomainname, "renames the machine"),
    DENY(settimeofday, "sets the clock"),
    DENY(clock_settime, "sets the clock"),
    DENY(clock_adjtime, "sets the clock"),
    DENY(acct, "writes records of all processes to a file"),
    DENY(syslog, "reads the kernel's messages"),
    DENY(vhangup, "disconnects a terminal"),

    /* Typing into a terminal as if it were the user. */
    DENY_IF(ioctl, "types into the terminal", {1, TEST_EQUAL, TIOCSTI}),
    DENY_IF(ioctl, "pastes into the console", {1, TEST_EQUAL, TIOCLINUX}),

#if defined(__x86_64__)
    DENY_IF(chmod, "makes a set-id program", {1, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(creat, "makes a set-id program", {1, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(mknod, "makes a set-id program", {1, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(mkdir, "makes a set-id directory", {1, TEST_ANY_BIT, SET_ID_BITS}),
    DENY_IF(open, "makes a set-id program", {1, TEST_ANY_BIT, CREATES},
            {2, TEST_ANY_BIT, SET_ID_BITS}),
    DENY(kexec_file_load, "replaces the kernel"),
    DENY(iopl, "reaches the hardware"),
    DENY(ioperm, "reaches the hardware"),
    DENY(modify_ldt, "an old interface with many holes"),
    DENY(uselib, "an old interface with many holes"),
    DENY(lookup_dcookie, "an old interface with many holes"),
#endif
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

/* What is shared with other processes by a key or a name that no directory has. */
static const struct rule shared_rules[] = {
    DENY(shmget, "finds other processes' shared memory"),
    DENY(shmat, "maps other processes' shared memory"),
    DENY(shmctl, "removes other processes' shared memory"),
    DENY(msgget, "finds other processes' queues"),
    DENY(msgrcv, "reads other processes' queues"),
    DENY(msgsnd, "writes to other processes' queues"),
    DENY(msgctl, "removes other processes' queues"),
    DENY(semget, "finds other processes' semaphores"),
    DENY(semop, "changes other processes' semaphores"),
    DENY(semtimedop, "changes other processes' semaphores"),
    DENY(semctl, "removes other processes' semaphores"),
    DENY(mq_open, "opens other processes' queues"),
    DENY(mq_unlink, "removes other processes' queues"),
};
enum { SHARED_COUNT = sizeof(shared_rules) / sizeof(shared_rules[0]) };

/* ---- Assembling ----------------------------------------------------------------------------- */

struct program {
    struct sock_filter code[MAX_FILTER];
    unsigned short count;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    if (p->count < MAX_FILTER)
        p->code[p->count] = (struct sock_filter){code, jt, jf, k};
    p->count++;
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset, 0, 0);
}

static void give(struct program *p, uint32_t action)
{
    emit(p, BPF_RET | BPF_K, action, 0, 0);
}

static void load_number(struct program *p)
{
    load(p, offsetof(struct seccomp_data, nr));
}

/* The lower half: the kernel takes no more of any argument that is looked at. */
static void load_arg(struct program *p, unsigned arg)
{
    load(p, offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
}

static unsigned count_checks(const struct check *checks)
{
    unsigned n = 0;
    while (n < MAX_CHECKS && checks[n].test != TEST_NONE)
        n++;
    return n;
}

/* The number is loaded before and after. */
static void emit_rule(struct program *p, long number, int error, const struct check *checks)
{
    unsigned n = count_checks(checks);
    /* Past the checks, the return, and the number that is loaded again. */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) number, 0, (uint8_t) (n ? 2 * n + 2 : 1));
    for (unsigned i = 0; i < n; i++) {
        uint8_t past = (uint8_t) (2 * (n - i - 1) + 1); /* to where the number is loaded again */
        bool bits = checks[i].test == TEST_ANY_BIT;
        bool unlike = checks[i].test == TEST_DIFFERENT;
        load_arg(p, checks[i].arg);
        emit(p, (uint16_t) (BPF_JMP | (bits ? BPF_JSET : BPF_JEQ) | BPF_K), checks[i].operand,
             unlike ? past : 0, unlike ? 0 : past);
    }
    give(p, SECCOMP_RET_ERRNO | (uint32_t) error);
    if (n)
        load_number(p);
}

static void emit_start(struct program *p)
{
#ifdef NATIVE_ARCH
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
    give(p, SECCOMP_RET_KILL_PROCESS);
#endif
    load_number(p);
#ifdef X32_BIT
    emit(p, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
    give(p, SECCOMP_RET_KILL_PROCESS);
#endif
}

static void emit_sockets(struct program *p, enum seccomp_sockets sockets)
{
    static const struct check none[1] = {{0}};
    /* A raw socket or an odd protocol needs a right that is not there; a packet socket too. */
    static const struct check inet[MAX_CHECKS] = {{0, TEST_DIFFERENT, AF_INET},
                                                  {0, TEST_DIFFERENT, AF_INET6}};
    /* Of netlink only what lists interfaces: address lookups in libc use it. */
    static const struct check netlink[MAX_CHECKS] = {{0, TEST_EQUAL, AF_NETLINK},
                                                     {2, TEST_DIFFERENT, 0}};
    static const struct check pair[MAX_CHECKS] = {{0, TEST_DIFFERENT, AF_UNIX}};
    emit_rule(p, SYS_socketpair, EPERM, pair);
    if (sockets == SECCOMP_SOCKETS_NONE)
        emit_rule(p, SYS_socket, EPERM, none);
    else if (sockets == SECCOMP_SOCKETS_INET)
        emit_rule(p, SYS_socket, EPERM, inet);
    if (sockets != SECCOMP_SOCKETS_LOCAL)
        return;
    emit_rule(p, SYS_socket, EPERM, netlink);
    for (uint32_t family = 3; family < 64; family++) {
        const struct check check[MAX_CHECKS] = {{0, TEST_EQUAL, family}};
        if (family != AF_INET6 && family != AF_NETLINK)
            emit_rule(p, SYS_socket, EPERM, check);
    }
}

int seccomp_enforce(enum seccomp_sockets sockets, bool shared)
{
#ifdef NATIVE_ARCH
    struct program p = {.count = 0};
    emit_start(&p);
    for (size_t i = 0; i < RULE_COUNT; i++)
        emit_rule(&p, rules[i].number, rules[i].error, rules[i].checks);
    for (size_t i = 0; i < SHARED_COUNT && !shared; i++)
        emit_rule(&p, shared_rules[i].number, shared_rules[i].error, shared_rules[i].checks);
    emit_sockets(&p, sockets);
    give(&p, SECCOMP_RET_ALLOW);
    if (p.count > MAX_FILTER)
        return -E2BIG;
    struct sock_fprog filter = {.len = p.count, .filter = p.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) ? -errno : 0;
#else
    (void) sockets;
    (void) shared;
    return -ENOTSUP;
#endif
}
