/* prompt_stdin.c - see prompt_stdin.h. */
#include "cmd/prompt_stdin.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What a process has as a descriptor; false if it has none or may not be looked at. */
static bool look(long pid, int fd, struct stat *ret)
{
    char path[64];
    (void) snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
    return stat(path, ret) == 0;
}

/* 1: there is something to read, or an end; 0: not within that time (-1: any).  -errno. */
static int wait_for_input(int timeout_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int n;
    do
        n = poll(&input, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* ---- Who writes ------------------------------------------------------------------------------ */

/*
 * Whether a process is of the pipeline that we are in and writes to the pipe: another child of our
 * parent.  One that may not be looked at, such as sudo, counts if it is in our process group.
 */
static bool is_writer(long pid, const struct stat *pipe)
{
    struct stat st;
    char path[64];
    (void) snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
    for (int fd = 1; fd <= 2; fd++)
        if (look(pid, fd, &st) && is_same(&st, pipe))
            return true;
    return access(path, R_OK) != 0 && errno == EACCES && getpgid((pid_t) pid) == getpgrp();
}

/* The parent of a process; 0: unknown. */
static long parent_of(long pid)
{
    char path[64];
    char line[512];
    (void) snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
    if (file)
        (void) fclose(file);
    line[n] = '\0';
    /* "pid (name) state parent": the name may hold anything. */
    const char *end = strrchr(line, ')');
    long parent = 0;
    return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? parent : 0;
}

static bool has_writer(const struct stat *pipe)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool found = false;
    while (processes && !found && (entry = readdir(processes)) != NULL) {
        char *end;
        if (!isdigit((unsigned char) entry->d_name[0]))
            continue;
        errno = 0;
        unsigned long long number = strtoull(entry->d_name, &end, 10);
        long pid = errno || *end || number > INT32_MAX ? 0 : (long) number;
        found = pid && pid != getpid() && parent_of(pid) == getppid() && is_writer(pid, pipe);
    }
    if (processes)
        (void) closedir(processes);
    return found;
}

/* ---- The rule -------------------------------------------------------------------------------- */

static int wait_for_pipe(const struct stat *pipe, bool *ret_is_ours)
{
    int ready = wait_for_input(PROMPT_STDIN_WAIT_MS);
    if (ready == 0 && has_writer(pipe))
        ready = wait_for_input(-1);
    if (ready < 0)
        return ready;
    if (!ready)
        err_message("nothing came on standard input within %d seconds, so it is not part of the "
                    "prompt; use '--file -' to wait for it, or '</dev/null'",
                    PROMPT_STDIN_WAIT_MS / 1000);
    *ret_is_ours = ready;
    return 0;
}

static void report_unread(void)
{
    err_message("standard input belongs to the process that started acp, so it is not part of the "
                "prompt; use '--file -' to send it, or '</dev/null'");
}

static bool is_ours_to_read(const struct stat *file)
{
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at > 0 && at < file->st_size)
        report_unread();
    return at == 0 && file->st_size > 0;
}

int prompt_stdin_wait(bool *ret_is_ours)
{
    struct stat own;
    struct stat parents;
    *ret_is_ours = false;
    if (fstat(STDIN_FILENO, &own) != 0)
        return 0;
    if (S_ISREG(own.st_mode)) {
        *ret_is_ours = is_ours_to_read(&own);
        return 0;
    }
    if (!S_ISFIFO(own.st_mode) && !S_ISSOCK(own.st_mode))
        return 0;
    if (look(getppid(), STDIN_FILENO, &parents) && is_same(&own, &parents)) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&input, 1, 0) > 0 && input.revents & POLLIN)
            report_unread();
        return 0;
    }
    return wait_for_pipe(&own, ret_is_ours);
}
