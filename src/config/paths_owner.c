/*
 * Whose file it is.  A file that says what is run and what is permitted must have been written by
 * the user, or by root: nobody else may be able to write it, to replace it, or to put another
 * folder in the place of one above it.
 */
#define _XOPEN_SOURCE 700 /* S_ISVTX, realpath() */
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

/* A group that has only this user in it, as many systems make one for each user. */
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

/* What is wrong with one file or folder, or NULL. */
static const char *complaint(const struct stat *st)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return "belongs to another user";
    /* The mode of a link says nothing; in a sticky folder others cannot replace what is ours. */
    if (S_ISLNK(st->st_mode) || (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)))
        return NULL;
    if (st->st_mode & S_IWOTH)
        return "can be changed by everyone";
    if ((st->st_mode & S_IWGRP) && !is_own_group(st->st_gid))
        return "can be changed by a group";
    return NULL;
}

/* Looks at the path and all folders above it, as they are named. */
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

/* The path as it was given, the one without links, and the file that was opened. */
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
        (void) acp_buf_printf(why, "%s can be read by others; run chmod 600 on it", path);
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
        (void) acp_buf_printf(why, "%s is not a folder that can be used", folder);
    if (!err && fstat(fd, &st) != 0)
        err = -errno;
    if (!err && (st.st_uid != geteuid() || (st.st_mode & (S_IRWXG | S_IRWXO)))) {
        (void) acp_buf_printf(why, "%s can be entered by others; run chmod 700 on it", folder);
        err = -EPERM;
    }
    if (fd >= 0)
        (void) close(fd);
    return err;
}
