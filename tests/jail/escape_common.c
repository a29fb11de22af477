/* What the attempts have in common. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"

const char *path_in(const char *folder, const char *name)
{
    static char paths[8][4096];
    static unsigned at;
    char *path = paths[at++ % 8];
    (void) snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

bool print_file(const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof(text));
    (void) close(fd);
    if (n > 0)
        (void) fwrite(text, 1, (size_t) n, stdout);
    return n > 0;
}

static bool write_with(const char *path, int flags)
{
    int fd = open(path, flags | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool good = write(fd, INTRUDER, strlen(INTRUDER)) == (ssize_t) strlen(INTRUDER);
    (void) close(fd);
    return good;
}

bool write_over(const char *path)
{
    return write_with(path, O_TRUNC);
}

bool write_new(const char *path)
{
    return write_with(path, O_CREAT);
}

bool opens_for_writing(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void) close(fd);
    return fd >= 0;
}
