/*
 * Replacing a file in one step: the text goes into a new file beside it, which then takes its name.
 * A reader sees the old text or the new one, and a failure leaves the old one.
 */
#define _GNU_SOURCE /* O_PATH, AT_EACCESS */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workspace/beneath.h"

enum { NAME_TRIES = 100 };

int acp_write_all(int fd, struct acp_str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        text = acp_str_n(text.ptr + n, text.len - (size_t) n);
    }
    return 0;
}

/* Names need not be secret, O_EXCL sees to that; they should only seldom be taken. */
static uint64_t some_number(void)
{
    struct timespec t = {0, 0};
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t x = (uint64_t) t.tv_nsec ^ ((uint64_t) t.tv_sec << 30) ^ ((uint64_t) getpid() << 40) ^
                 (uint64_t) (uintptr_t) &t;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

static int create_beside(int dir, mode_t mode, char *name, size_t size)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        unsigned long long number = some_number() + (uint64_t) i;
        (void) snprintf(name, size, ".acp-%016llx.tmp", number);
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd < 0 ? -errno : fd;
    }
    return -EEXIST;
}

/*
 * The owner first, because changing it takes bits off the mode.  Whoever may not give the file away
 * keeps it; that is no reason to refuse, but then the old group's rights are not for the new one.
 * New content under an old setuid bit would be a trap.
 */
static int dress(int fd, const struct stat *old)
{
    struct stat own;
    if (fstat(fd, &own) != 0)
        return -errno;
    mode_t mode = old->st_mode & 01777;
    if (own.st_gid != old->st_gid && fchown(fd, (uid_t) -1, old->st_gid) != 0)
        mode &= ~(mode_t) 070 | ((mode & 07) << 3);
    int given = own.st_uid == old->st_uid ? 0 : fchown(fd, old->st_uid, (gid_t) -1);
    (void) given;
    return fchmod(fd, mode) == 0 ? 0 : -errno;
}

static int sync_directory(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = fsync(fd) == 0 ? 0 : -errno;
    (void) close(fd);
    return err;
}

int acp_replace_begin(int dir, mode_t mode, struct acp_replacement *ret)
{
    ret->dir = dir;
    ret->fd = create_beside(dir, mode, ret->beside, sizeof(ret->beside));
    return ret->fd < 0 ? ret->fd : 0;
}

int acp_replace_end(struct acp_replacement *r, const char *name, const struct stat *old, bool sync,
                    int err)
{
    if (!err && old)
        err = dress(r->fd, old);
    if (!err && sync && fsync(r->fd) != 0)
        err = -errno;
    /* Some file systems tell only now that the disk is full. */
    if (close(r->fd) != 0 && !err)
        err = -errno;
    r->fd = -1;
    if (!err && renameat(r->dir, r->beside, r->dir, name) != 0)
        err = -errno;
    if (err)
        (void) unlinkat(r->dir, r->beside, 0);
    return err || !sync ? err : sync_directory(r->dir);
}

int acp_replace_at(int dir, const char *name, struct acp_str text, const struct stat *old,
                   mode_t mode, bool sync)
{
    struct acp_replacement r;
    int err = acp_replace_begin(dir, old ? 0600 : mode, &r);
    return err ? err : acp_replace_end(&r, name, old, sync, acp_write_all(r.fd, text));
}

/* The file that is there, if one is: 1, 0, or why it is not to be replaced. */
static int look_at(int dir, const char *name, struct stat *ret_old)
{
    if (fstatat(dir, name, ret_old, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -errno;
    /* A link that came since the target was found is not followed. */
    if (!S_ISREG(ret_old->st_mode))
        return S_ISDIR(ret_old->st_mode) ? -EISDIR : -ENOTSUP;
    if (faccessat(dir, name, W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        return -errno;
    return 1;
}

int acp_files_put(const struct acp_beneath_target *target, struct acp_str text, bool sync)
{
    struct stat old;
    int there = look_at(target->dir, target->name, &old);
    if (there < 0)
        return there;
    return acp_replace_at(target->dir, target->name, text, there ? &old : NULL, 0666, sync);
}
