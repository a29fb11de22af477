/*
 * The opener.  Whatever is read or written inside of a root because of its name comes through
 * here: the path is resolved to an open directory and a name in it, the guard is asked about the
 * real path of these two, and the file is opened or replaced through them.  So the decision is
 * about the very file that is used, whichever links are swapped meanwhile.
 */
#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized.h"
#include "workspace/beneath.h"

#ifndef O_PATH
#define O_PATH 0
#endif

/* How often a file is opened anew that became a link after its links had been followed. */
enum { TRIES = 64 };

struct acp_files_options acp_files_filled(const struct acp_files_options *given)
{
    struct acp_files_options filled = given ? *given : (struct acp_files_options){0};
    if (!filled.max_bytes)
        filled.max_bytes = ACP_FILES_MAX_BYTES;
    if (!filled.max_scan)
        filled.max_scan = ACP_FILES_MAX_SCAN;
    return filled;
}

/* ---- Where a path leads --------------------------------------------------------------------- */

int acp_beneath_absolute(const struct acp_beneath *root, const char *path, char *ret)
{
    bool top = root->whole || strcmp(root->real, "/") == 0;
    int n = snprintf(ret, ACP_PATH_SIZE, "%s%s%s", top ? "" : root->real, *path || top ? "/" : "",
                     path);
    return n < 0 || n >= ACP_PATH_SIZE ? -ENAMETOOLONG : 0;
}

int acp_files_find(const struct acp_roots *roots, const char *path, bool make, bool walk,
                   struct acp_beneath *ret_root, struct acp_beneath_target *ret)
{
    const char *rest = "";
    size_t cursor = 0;
    int err = -EXDEV;
    while (err == -EXDEV && acp_roots_next(roots, path, walk, &cursor, ret_root, &rest))
        err = acp_beneath_find(ret_root, rest, make, ret);
    return err;
}

/* Where a path would be that is missing: below the nearest directory that exists. */
static int find_missing(const struct acp_beneath *root, const char *rest, char *ret)
{
    char head[ACP_PATH_SIZE];
    char path[ACP_PATH_SIZE];
    char joined[2 * ACP_PATH_SIZE];
    char whole[ACP_PATH_SIZE];
    memcpy(head, rest, strlen(rest) + 1);
    int dir = acp_beneath_open_place(root, head, path);
    while (dir == -ENOENT && *head) {
        char *slash = strrchr(head, '/');
        *(slash ? slash : head) = '\0';
        dir = acp_beneath_open_place(root, head, path);
    }
    if (dir < 0)
        return dir;
    (void) close(dir);
    int err = acp_beneath_absolute(root, path, whole);
    if (err)
        return err;
    (void) snprintf(joined, sizeof(joined), "%s/%s", whole, rest + strlen(head));
    return acp_path_normal(acp_str_from(joined), ret, NULL);
}

int acp_files_real(const struct acp_roots *roots, const char *path, bool walk, char *ret)
{
    struct acp_beneath root;
    struct acp_beneath_target target;
    const char *rest = "";
    size_t cursor = 0;
    int err = -EXDEV;
    while (err == -EXDEV && acp_roots_next(roots, path, walk, &cursor, &root, &rest)) {
        err = acp_beneath_find(&root, rest, false, &target);
        if (err == 0) {
            (void) close(target.dir);
            return acp_beneath_absolute(&root, target.path, ret);
        }
        /* A root itself, or a path that ends in a link to a directory's parent. */
        if (err == -EISDIR) {
            int dir = acp_beneath_open_place(&root, rest, target.path);
            err = dir < 0 ? dir : acp_beneath_absolute(&root, target.path, ret);
            if (dir >= 0)
                (void) close(dir);
        } else if (err == -ENOENT) {
            err = find_missing(&root, rest, ret);
        }
    }
    return err;
}

int acp_files_open_place(const struct acp_roots *roots, const char *path, bool walk, char *ret_real)
{
    struct acp_beneath root;
    char below[ACP_PATH_SIZE];
    const char *rest = "";
    size_t cursor = 0;
    int fd = -EXDEV;
    while (fd == -EXDEV && acp_roots_next(roots, path, walk, &cursor, &root, &rest))
        fd = acp_beneath_open_place(&root, rest, below);
    if (fd < 0)
        return fd;
    int err = acp_beneath_absolute(&root, below, ret_real);
    if (!err)
        return fd;
    (void) close(fd);
    return err;
}

/* ---- Asking --------------------------------------------------------------------------------- */

int acp_files_ask(const struct acp_files_options *options, const char *real, bool writes,
                  struct acp_files_error *error)
{
    const struct acp_files_guard *guard = options->guard;
    struct acp_files_error own = {.code = ACP_FILES_FAILED};
    int err = guard ? guard->check(acp_str_from(real), writes, &own, guard->user) : 0;
    if (err && !*own.message)
        (void) acp_files_fail(&own, err, ACP_FILES_FAILED, "Not allowed (%s): %s",
                              acp_err_text(err), real);
    if (err && error)
        *error = own;
    return err;
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* A descriptor of a regular file, or -errno; -ENOTSUP for what is neither file nor directory. */
static int open_regular(const struct acp_beneath_target *target)
{
    const int flags = O_NOFOLLOW | O_CLOEXEC;
    struct stat st;
    /* A device is not even touched. */
    int fd = O_PATH ? openat(target->dir, target->name, O_PATH | flags) : -1;
    if (O_PATH && fd < 0)
        return -errno;
    if (fd >= 0) {
        int kind = fstat(fd, &st) == 0 ? 0 : -errno;
        (void) close(fd);
        if (kind || !S_ISREG(st.st_mode))
            return kind                  ? kind
                   : S_ISDIR(st.st_mode) ? -EISDIR
                   : S_ISLNK(st.st_mode) ? -ELOOP
                                         : -ENOTSUP;
    }
    fd = openat(target->dir, target->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
    if (fd < 0)
        return -errno;
    int kind = fstat(fd, &st) == 0 ? 0 : -errno;
    if (!kind && (!S_ISREG(st.st_mode) || acp_beneath_in_proc(fd)))
        kind = S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
    if (!kind)
        return fd;
    (void) close(fd);
    return kind;
}

int acp_files_open_sized(const struct acp_roots *roots, struct acp_str path,
                         const struct acp_files_options *given, size_t options_size, int *ret_fd,
                         struct acp_files_error *error)
{
    struct acp_files_options own_options;
    int known = ACP_SIZED_COPY(&own_options, given, options_size);
    if (known)
        return acp_files_fail_options(error, known);
    const struct acp_files_options options = acp_files_filled(&own_options);
    struct acp_beneath root;
    struct acp_beneath_target target;
    char normal[ACP_PATH_SIZE];
    char real[ACP_PATH_SIZE];
    int fd = acp_path_normal(path, normal, NULL);
    if (fd)
        return acp_files_fail(error, ACP_ERR_RANGE, ACP_FILES_INVALID,
                              "The path must be absolute, without NUL and not too long");
    fd = -ELOOP;
    for (int i = 0; i < TRIES && fd == -ELOOP; i++) {
        fd = acp_files_find(roots, normal, false, options.walk, &root, &target);
        if (fd)
            break;
        fd = open_regular(&target);
        (void) close(target.dir);
    }
    int named = fd < 0 ? 0 : acp_beneath_absolute(&root, target.path, real);
    if (fd == -ENOTSUP)
        return acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED,
                              "Only regular files can be read, and this is none: %s", normal);
    if (fd < 0)
        return acp_files_fail_system(error, fd, "read", normal);
    int err = named ? acp_files_fail_system(error, named, "read", normal)
                    : acp_files_ask(&options, real, false, error);
    if (err)
        (void) close(fd);
    else
        *ret_fd = fd;
    return err;
}
