/*
 * read_gate.c - holds up reads of agent.db while the file that TEST_GATE names exists, except on
 * threads that have written to it.  While a read waits there is a file TEST_GATE.waiting.  It is
 * loaded into a program under test by LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static __thread bool is_writer;

static bool ends_with(const char *text, size_t n, const char *ending)
{
    size_t len = strlen(ending);
    return n > len && memcmp(text + n - len, ending, len) == 0;
}

/* What was written last may be in the journal only. */
static bool is_database(int fd)
{
    char name[40];
    char path[4096];
    (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof(path));
    return n > 0 && (ends_with(path, (size_t) n, "/agent.db") ||
                     ends_with(path, (size_t) n, "/agent.db-wal"));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (!next)
        *(void **) &next = dlsym(RTLD_NEXT, "pwrite64");
    is_writer = true; /* SQLite alone uses it */
    return next(fd, data, size, at);
}

static void wait_at(const char *gate)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    char waiting[4096];
    (void) snprintf(waiting, sizeof(waiting), "%s.waiting", gate);
    int fd = open(waiting, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (access(gate, F_OK) == 0)
        (void) nanosleep(&pause, NULL);
    (void) close(fd);
    (void) unlink(waiting);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    static ssize_t (*next)(int, void *, size_t, off64_t);
    const char *gate = getenv("TEST_GATE");
    if (!next)
        *(void **) &next = dlsym(RTLD_NEXT, "pread64");
    if (gate && !is_writer && is_database(fd) && access(gate, F_OK) == 0)
        wait_at(gate);
    return next(fd, data, size, at);
}
