/* Attempts on processes outside: signals, memory, descriptors, priorities, shared memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

static const char *proc_path(pid_t pid, const char *name)
{
    char folder[40];
    (void) snprintf(folder, sizeof(folder), "/proc/%d", (int) pid);
    return path_in(folder, name);
}

static bool kill_victim(const struct scene *s)
{
    return kill(s->victim, SIGKILL) == 0;
}

static bool kill_by_pidfd(const struct scene *s)
{
    int fd = (int) syscall(SYS_pidfd_open, s->victim, 0);
    return fd >= 0 && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
}

/* Nothing is sent: it is only asked whether it could be. */
static bool signal_tester(const struct scene *s)
{
    return kill(s->tester, 0) == 0;
}

static bool trace_victim(const struct scene *s)
{
    bool traced = ptrace(PTRACE_SEIZE, s->victim, NULL, NULL) == 0;
    if (traced)
        (void) ptrace(PTRACE_INTERRUPT, s->victim, NULL, NULL);
    return traced;
}

/* The test's victim tells where a byte of it is: at an address that both programs map. */
static bool write_memory(const struct scene *s)
{
    char byte = 'x';
    char name[100];
    unsigned long start = 0;
    FILE *maps = fopen(proc_path(s->victim, "maps"), "re");
    /* The first mapping that can be written; it gets the byte that it has. */
    while (maps && fgets(name, sizeof(name), maps))
        if (!start && strstr(name, " rw-p"))
            start = strtoul(name, NULL, 16);
    struct iovec own = {&byte, 1};
    struct iovec other = {(void *) start, 1};
    if (start)
        return process_vm_readv(s->victim, &own, 1, &other, 1, 0) == 1 &&
               process_vm_writev(s->victim, &own, 1, &other, 1, 0) == 1;
    /* Without the map it is only seen whether the call is made: a bad address is not a refusal. */
    other.iov_base = (void *) 1;
    return process_vm_writev(s->victim, &own, 1, &other, 1, 0) < 0 && errno == EFAULT;
}

static bool open_memory(const struct scene *s)
{
    return open(proc_path(s->victim, "mem"), O_RDWR) >= 0;
}

static bool take_descriptor(const struct scene *s)
{
    int fd = (int) syscall(SYS_pidfd_open, s->victim, 0);
    return fd >= 0 && syscall(SYS_pidfd_getfd, fd, 0, 0) >= 0;
}

static bool read_environment(const struct scene *s)
{
    return print_file(proc_path(s->victim, "environ"));
}

static bool read_own_environment(const struct scene *s)
{
    (void) s;
    const char *key = getenv("ACP_TEST_KEY");
    return key && printf("%s", key) > 0;
}

static bool read_command_line(const struct scene *s)
{
    return print_file(proc_path(s->victim, "cmdline"));
}

static bool set_limit(const struct scene *s)
{
    struct rlimit limit = {.rlim_cur = 0};
    return prlimit(s->victim, RLIMIT_CORE, NULL, &limit) == 0 &&
           prlimit(s->victim, RLIMIT_CORE, &limit, NULL) == 0;
}

static bool set_priority(const struct scene *s)
{
    int own = getpriority(PRIO_PROCESS, 0);
    return setpriority(PRIO_PROCESS, (id_t) s->victim, own + 1) == 0;
}

static bool read_system_v_memory(const struct scene *s)
{
    const char *text = shmat(s->shm, NULL, SHM_RDONLY);
    return text != (void *) -1 && printf("%s", text) > 0;
}

static bool read_shared_memory(const struct scene *s)
{
    return print_file(path_in("/dev/shm", s->abstract));
}

static bool read_queue(const struct scene *s)
{
    char text[8192];
    char name[100];
    (void) snprintf(name, sizeof(name), "/%s", s->abstract);
    mqd_t queue = mq_open(name, O_RDONLY | O_NONBLOCK);
    ssize_t n = queue != (mqd_t) -1 ? mq_receive(queue, text, sizeof(text), NULL) : -1;
    return n > 0 && fwrite(text, 1, (size_t) n, stdout) == (size_t) n;
}

static bool has_no_lock(const struct scene *s)
{
    (void) s;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

static bool has_capabilities(const struct scene *s)
{
    char line[200];
    bool has = false;
    FILE *status = fopen("/proc/self/status", "re");
    (void) s;
    while (status && fgets(line, sizeof(line), status))
        /* CapBnd is what a set-id program could give, and no_new_privs forbids those. */
        if (strncmp(line, "Cap", 3) == 0 && strncmp(line, "CapBnd", 6) != 0 &&
            strtoull(line + 7, NULL, 16) != 0)
            has = true;
    return has || !status;
}

#define ATTACK false, NULL

const struct attempt escape_processes[] = {
    {"kill a process", kill_victim, EFFECT_KILLED, PROOF_ALL, ATTACK},
    {"kill by pidfd", kill_by_pidfd, EFFECT_KILLED, PROOF_ALL, ATTACK},
    {"signal who started it", signal_tester, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"trace a process", trace_victim, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"write a process's memory", write_memory, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"open a process's memory", open_memory, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"take a process's descriptor", take_descriptor, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"read a process's environment", read_environment, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read the caller's environment", read_own_environment, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read a process's command line", read_command_line, EFFECT_NONE, PROOF_ALL, false,
     "without a process namespace /proc lists all processes, as ps does"},
    {"set a process's limits", set_limit, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"set a process's priority", set_priority, EFFECT_RENICED, PROOF_ALL, ATTACK},
    {"read System V shared memory", read_system_v_memory, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read POSIX shared memory", read_shared_memory, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read a message queue", read_queue, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"run set-id programs", has_no_lock, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"keep capabilities", has_capabilities, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {0},
};
