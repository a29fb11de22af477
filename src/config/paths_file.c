/* paths_file.c - reads, replaces and locks whole files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/paths.h"
#include "workspace/beneath.h"

enum { BLOCK = 16 * 1024, LOCK_TRIES = 200, LOCK_PAUSE_MS = 10 };

int paths_read_all(int fd, struct acp_buf *out)
{
    for (;;) {
        /* When the buffer is full, one more byte tells whether the file is larger. */
        char more;
        size_t room = out->max - out->len < BLOCK ? out->max - out->len : (size_t) BLOCK;
        if (acp_buf_reserve(out, room))
            return -ENOMEM;
        ssize_t n = room ? read(fd, out->data + out->start + out->len, room) : read(fd, &more, 1);
        if (n > 0 && !room)
            return -EFBIG;
        if (n > 0)
            out->len += (size_t) n;
        else if (n == 0)
            return 0;
        else if (errno != EINTR)
            return -errno;
    }
}

int paths_open_file(const char *path)
{
    /* Do not block if the path is a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct stat st;
    int err = fstat(fd, &st) == 0 ? 0 : -errno;
    if (!err && !S_ISREG(st.st_mode))
        err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    if (!err)
        return fd;
    (void) close(fd);
    return err;
}

int paths_read_file(const char *path, struct acp_buf *out)
{
    int fd = paths_open_file(path);
    if (fd < 0)
        return fd;
    int err = paths_read_all(fd, out);
    (void) close(fd);
    return err;
}

int paths_make_folders(const char *path)
{
    char part[ACP_PATH_SIZE];
    size_t n = strlen(path);
    if (n >= sizeof(part))
        return -ENAMETOOLONG;
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        struct stat st;
        if (stat(part, &st) != 0 && mkdir(part, 0700) != 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

int paths_write_file(const char *path, struct acp_str text, unsigned mode)
{
    char real[ACP_PATH_SIZE];
    int err = paths_make_folders(path);
    if (!err)
        err = acp_path_real(path, real);
    if (err)
        return err;
    char *slash = strrchr(real, '/');
    if (!slash || !slash[1])
        return -EISDIR;
    slash[0] = '\0';
    int dir = open(slash == real ? "/" : real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    struct stat old;
    bool there = fstatat(dir, slash + 1, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && !S_ISREG(old.st_mode))
        err = S_ISDIR(old.st_mode) ? -EISDIR : -EINVAL;
    else
        err = acp_replace_at(dir, slash + 1, text, there ? &old : NULL, (mode_t) mode, true);
    (void) close(dir);
    return err;
}

int paths_lock_file(const char *path)
{
    char name[ACP_PATH_SIZE];
    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int) sizeof(name))
        return -ENAMETOOLONG;
    int err = paths_make_folders(path);
    if (err)
        return err;
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return -errno;
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        err = -errno;
        if (err != -EWOULDBLOCK && err != -EINTR)
            break;
        const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
        (void) nanosleep(&pause, NULL);
    }
    (void) close(fd);
    return err;
}
