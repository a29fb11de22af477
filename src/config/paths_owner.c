/*
 * paths_owner.c - checks the owner of a file.  A file that decides what is run and permitted must
 * come from the user or root: nobody else may be able to write it, replace it, or replace one of
 * its parent directories.
 */
#define _GNU_SOURCE /* S_ISVTX, realpath(), explicit_bzero() */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/paths.h"
#include "workspace/beneath.h"

/* Whether a group has only this user as a member, as many systems create for each user. */
static bool is_own_group(gid_t gid)
{
    const struct passwd *user = getpwuid(geteuid());
    if (!user || user->pw_gid != gid)
        return false;
    char name[256];
    (void) snprintf(name, sizeof(name), "%s", user->pw_name);
    const struct group *group = getgrgid(gid);
    for (size_t i = 0; group && group->gr_mem[i]; i++)
        if (strcmp(group->gr_mem[i], name) != 0)
            return false;
    return group != NULL;
}

/* The problem with a file or directory, or NULL. */
static const char *complaint(const struct stat *st)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return "belongs to another user";
    /* The mode of a link has no meaning; in a sticky directory others cannot replace our files. */
    if (S_ISLNK(st->st_mode) || (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
        return NULL;
    if (st->st_mode & S_IWOTH)
        return "is writable by everyone";
    if ((st->st_mode & S_IWGRP) && !is_own_group(st->st_gid))
        return "is writable by a group";
    return NULL;
}

/* Checks the path and its parent directories, without resolving links. */
static int check_path(const char *path, struct acp_buf *why)
{
    char part[ACP_PATH_SIZE];
    size_t len = strlen(path);
    if (len >= sizeof(part))
        return -ENAMETOOLONG;
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        struct stat st;
        (void) snprintf(part, sizeof(part), "%.*s", (int) i, path);
        if (lstat(part, &st) != 0)
            return -errno;
        const char *what = complaint(&st);
        if (what) {
            (void) acp_buf_printf(why, "%s %s", part, what);
            return -EPERM;
        }
    }
    return 0;
}

/* Checks the path as given, the resolved path, and the opened file. */
static int check_owner(int fd, const char *path, struct acp_buf *why)
{
    char normal[ACP_PATH_SIZE];
    struct stat st;
    int err = acp_path_normal(acp_str_from(path), normal, NULL);
    if (!err)
        err = check_path(normal, why);
    char *real = err ? NULL : realpath(normal, NULL);
    if (!err)
        err = real ? check_path(real, why) : -errno;
    free(real);
    if (!err && fstat(fd, &st) != 0)
        err = -errno;
    const char *what = err ? NULL : complaint(&st);
    if (what)
        (void) acp_buf_printf(why, "%s %s", normal, what);
    return what ? -EPERM : err;
}

int paths_read_own_file(const char *path, struct acp_buf *out, struct acp_buf *why)
{
    int fd = paths_open_file(path);
    if (fd < 0)
        return fd;
    int err = check_owner(fd, path, why);
    if (!err)
        err = paths_read_all(fd, out);
    (void) close(fd);
    return err;
}

int paths_read_private_file(const char *path, struct acp_buf *out, struct acp_buf *why)
{
    struct stat st;
    int fd = paths_open_file(path);
    if (fd < 0)
        return fd;
    int err = check_owner(fd, path, why);
    if (!err && fstat(fd, &st) != 0)
        err = -errno;
    if (!err && (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))) {
        (void) acp_buf_printf(why, "%s is readable by others; run chmod 600 on it", path);
        err = -EPERM;
    }
    if (!err)
        err = paths_read_all(fd, out);
    (void) close(fd);
    return err;
}

int paths_check_private_folder(const char *folder, struct acp_buf *why)
{
    struct stat st;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int err = fd < 0 ? -errno : check_owner(fd, folder, why);
    if (fd < 0)
        (void) acp_buf_printf(why, "%s is not a usable directory", folder);
    if (!err && fstat(fd, &st) != 0)
        err = -errno;
    if (!err && (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))) {
        (void) acp_buf_printf(why, "%s is accessible to others; run chmod 700 on it", folder);
        err = -EPERM;
    }
    if (fd >= 0)
        (void) close(fd);
    return err;
}

int paths_prepare_private_file(const char *path, const char *folder, size_t max,
                               struct acp_buf *why)
{
    struct acp_buf old;
    int err = paths_make_folders(path);
    if (!err)
        err = paths_check_private_folder(folder, why);
    if (err)
        return err;
    acp_buf_init(&old, max);
    err = paths_read_private_file(path, &old, why);
    if (old.cap)
        explicit_bzero(old.data, old.cap);
    acp_buf_finish(&old);
    return err == -ENOENT || err == -EFBIG ? 0 : err;
}
