/* Attempts by way of the kernel: namespaces, mounts, and interfaces that nothing here needs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

/* ---- Namespaces and mounts ------------------------------------------------------------------ */

static bool unshare_user(const struct scene *s)
{
    (void) s;
    return unshare(CLONE_NEWUSER) == 0;
}

/* True when a child was made; it ends at once. */
static bool is_child_made(long pid)
{
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        (void) waitpid((pid_t) pid, NULL, 0);
    return pid > 0;
}

static bool clone_user(const struct scene *s)
{
    (void) s;
    return is_child_made(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}

static bool clone3_user(const struct scene *s)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    (void) s;
    return is_child_made(syscall(SYS_clone3, &args, sizeof(args)));
}

static bool unshare_mounts(const struct scene *s)
{
    (void) s;
    return unshare(CLONE_NEWNS) == 0;
}

/* That of the process itself, which can be opened everywhere: what is forbidden is the call. */
static bool enter_namespace(const struct scene *s)
{
    int fd = open("/proc/self/ns/uts", O_RDONLY);
    (void) s;
    return fd >= 0 && setns(fd, CLONE_NEWUTS) == 0;
}

static bool mount_over(const struct scene *s)
{
    return mount("none", path_in(s->root, "sub"), "tmpfs", 0, NULL) == 0;
}

static bool remount(const struct scene *s)
{
    (void) s;
    return mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL) == 0 ||
           mount(NULL, "/etc", NULL, MS_REMOUNT | MS_BIND, NULL) == 0 ||
           mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0;
}

static bool unmount(const struct scene *s)
{
    return umount2("/proc/sys", MNT_DETACH) == 0 ||
           umount2(path_in(s->root, ".git/config"), MNT_DETACH) == 0 ||
           umount2(path_in(s->root, ".vscode"), MNT_DETACH) == 0;
}

static bool mount_proc(const struct scene *s)
{
    return mount("proc", path_in(s->root, "sub"), "proc", 0, NULL) == 0;
}

static bool copy_mounts(const struct scene *s)
{
    (void) s;
    return syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */) >= 0;
}

static bool open_file_system(const struct scene *s)
{
    (void) s;
    return syscall(SYS_fsopen, "tmpfs", 0) >= 0;
}

static bool change_mount(const struct scene *s)
{
    struct {
        uint64_t set, clear, propagation, userns;
    } attr = {.clear = 1 /* MOUNT_ATTR_RDONLY */};
    (void) s;
    return syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attr, sizeof(attr)) == 0;
}

static bool pivot(const struct scene *s)
{
    const char *folder = path_in(s->root, "sub");
    return mount(folder, folder, NULL, MS_BIND, NULL) == 0 &&
           syscall(SYS_pivot_root, folder, folder) == 0;
}

/* ---- Interfaces ----------------------------------------------------------------------------- */

static bool add_key(const struct scene *s)
{
    (void) s;
    return syscall(SYS_add_key, "user", "acp-escape", "x", 1, -2 /* of this process */) >= 0;
}

static bool search_keys(const struct scene *s)
{
    (void) s;
    return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -4 /* of the user */, 1) >= 0;
}

static bool load_bpf(const struct scene *s)
{
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = 4;
    attr.value_size = 4;
    attr.max_entries = 1;
    (void) s;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) >= 0;
}

static bool open_perf(const struct scene *s)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr)};
    (void) s;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = 1;
    return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0;
}

/* Whether the call gets further than a refusal: its arguments are wrong. */
static bool is_reached(long number)
{
    errno = 0;
    return syscall(number, -1L, -1L, -1L, -1L, -1L) >= 0 || (errno != EPERM && errno != ENOSYS);
}

static bool open_ring(const struct scene *s)
{
    char params[256] = {0};
    (void) s;
    return syscall(SYS_io_uring_setup, 1, params) >= 0;
}

static bool open_faults(const struct scene *s)
{
    (void) s;
    return syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */) >= 0;
}

static bool load_module(const struct scene *s)
{
    (void) s;
    return is_reached(SYS_finit_module) || is_reached(SYS_init_module) ||
           is_reached(SYS_delete_module);
}

static bool load_kernel(const struct scene *s)
{
    (void) s;
    return is_reached(SYS_kexec_load);
}

static bool reboot_machine(const struct scene *s)
{
    (void) s;
    return is_reached(SYS_reboot); /* with magic numbers that are none */
}

static bool swap(const struct scene *s)
{
    (void) s;
    return is_reached(SYS_swapon) || is_reached(SYS_quotactl) || is_reached(SYS_acct);
}

static bool set_clock(const struct scene *s)
{
    (void) s;
    return is_reached(SYS_clock_settime) || is_reached(SYS_settimeofday);
}

/* Inside it is called "sandbox". */
static bool read_host_name(const struct scene *s)
{
    char name[256] = "";
    (void) s;
    return gethostname(name, sizeof(name) - 1) == 0 && strcmp(name, "sandbox") != 0;
}

static bool set_host_name(const struct scene *s)
{
    (void) s;
    return sethostname("escaped", 7) == 0;
}

static bool read_kernel_log(const struct scene *s)
{
    (void) s;
    return syscall(SYS_syslog, 10 /* its size */, NULL, 0) > 0;
}

static bool set_personality(const struct scene *s)
{
    (void) s;
    return personality(READ_IMPLIES_EXEC) >= 0;
}

/* Types into a terminal that the process has of its own: what is forbidden is the call. */
static bool type_into_terminal(const struct scene *s)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    (void) s;
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        return false;
    int slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    (void) setsid();
    (void) ioctl(slave, TIOCSCTTY, 0);
    return ioctl(slave, TIOCSTI, "x") == 0;
}

/* A call of another architecture has numbers of its own, and would pass the filter. */
static bool call_as_32_bit(const struct scene *s)
{
    (void) s;
#if defined(__x86_64__)
    long result = 20; /* getpid() of i386 */
    __asm__ volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
    return result > 0;
#else
    return false;
#endif
}

static bool call_as_x32(const struct scene *s)
{
    (void) s;
#if defined(__x86_64__)
    errno = 0;
    return syscall(0x40000000 | SYS_getpid) > 0;
#else
    return false;
#endif
}

#define ATTACK false, NULL

const struct attempt escape_kernel[] = {
    {"make a user namespace", unshare_user, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"clone a user namespace", clone_user, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"clone3 a user namespace", clone3_user, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"make a mount namespace", unshare_mounts, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"enter a namespace", enter_namespace, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"mount", mount_over, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"mount /proc", mount_proc, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"remount", remount, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"unmount", unmount, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"copy mounts", copy_mounts, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"open a file system", open_file_system, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"change a mount", change_mount, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"pivot_root", pivot, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"add a key", add_key, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"find the user's keys", search_keys, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"bpf", load_bpf, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"perf_event_open", open_perf, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"io_uring", open_ring, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"userfaultfd", open_faults, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"load a module", load_module, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"load a kernel", load_kernel, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"reboot", reboot_machine, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"swap, quotas, accounting", swap, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"set the clock", set_clock, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"read the host name", read_host_name, EFFECT_NONE, PROOF_ALL, false,
     "there is one host name for all"},
    {"set the host name", set_host_name, EFFECT_NONE, PROOF_PRIVATE, ATTACK},
    {"read the kernel's log", read_kernel_log, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"personality", set_personality, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"type into a terminal", type_into_terminal, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"call as a 32-bit program", call_as_32_bit, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"call as an x32 program", call_as_x32, EFFECT_NONE, PROOF_NONE, ATTACK},
    {0},
};
