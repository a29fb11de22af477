/*
 * Resolving paths beneath a directory.
 *
 * Linux does it in one call, openat2 with RESOLVE_BENEATH, against which no race helps.  Where
 * that call is missing (an old kernel, another system, a seccomp filter that does not know it) the
 * path is walked name by name: each directory is opened relative to the one before and never
 * through a link, links are read and their text is walked in turn, and ".." starts again from the
 * top, because the parent of a directory may have become any other while we were in it.
 */
#define _GNU_SOURCE /* O_PATH, syscall() */
#include "workspace/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#if defined(SYS_openat2) && __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#define HAVE_OPENAT2 1
#endif
#endif

#ifndef O_PATH
#define O_PATH 0
#endif

enum {
    MAX_LINKS = 40, /* as the kernel has it */
    TRIES = 64,     /* while renames elsewhere keep a resolution from being certain */
    PROC_MAGIC = 0x9fa0,
};

int acp_place_flags(void)
{
    return (O_PATH ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC;
}

bool acp_beneath_in_proc(int fd)
{
#if defined(__linux__)
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_MAGIC;
#else
    (void) fd;
    return false;
#endif
}

/* ---- By the kernel -------------------------------------------------------------------------- */

static int open_by_kernel(const struct acp_beneath *root, const char *path, int flags)
{
#if defined(HAVE_OPENAT2)
    struct open_how how = {
        .flags = (unsigned) (flags | O_CLOEXEC),
        .resolve = RESOLVE_NO_MAGICLINKS | (root->whole ? RESOLVE_IN_ROOT : RESOLVE_BENEATH),
    };
    for (int i = 0; i < TRIES; i++) {
        long fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int) fd;
        /* EAGAIN: something was renamed while ".." was resolved, so it was not certain. */
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    return -errno;
#else
    (void) root;
    (void) path;
    (void) flags;
    return -ENOSYS;
#endif
}

/* The path of a descriptor as the kernel knows it; fails where /proc is not mounted. */
static int read_fd_path(int fd, char *ret)
{
    char name[40];
    (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, ret, ACP_PATH_SIZE);
    if (n < 0 || n >= ACP_PATH_SIZE)
        return n < 0 ? -errno : -ENAMETOOLONG;
    ret[n] = '\0';
    return *ret == '/' ? 0 : -ENOENT;
}

/* The path of a descriptor below the root; -ESTALE when it has left the root, or moved with it. */
static int path_by_kernel(const struct acp_beneath *root, int fd, char *ret_path)
{
    char top[ACP_PATH_SIZE];
    char whole[ACP_PATH_SIZE];
    const char *rest = "";
    int err = read_fd_path(root->fd, top);
    if (!err)
        err = read_fd_path(fd, whole);
    if (err)
        return err;
    if (!acp_path_within(whole, top, &rest))
        return -ESTALE;
    memcpy(ret_path, rest, strlen(rest) + 1);
    return 0;
}

/* ---- By walking ----------------------------------------------------------------------------- */

struct walk {
    const struct acp_beneath *root;
    int dir;   /* where we are; the root's own descriptor at the top */
    int links; /* followed so far */
    size_t done_len;
    char done[ACP_PATH_SIZE]; /* the names from the root to dir, none of them a link */
    char rest[ACP_PATH_SIZE]; /* what is still to be walked */
};

static void enter(struct walk *w, int fd)
{
    if (w->dir != w->root->fd)
        (void) close(w->dir);
    w->dir = fd;
}

static void enter_top(struct walk *w)
{
    enter(w, w->root->fd);
    w->done_len = 0;
    w->done[0] = '\0';
}

/* Goes through a directory that is one: -ENOTDIR or -ELOOP when it is not, or not any more. */
static int descend(struct walk *w, const char *name)
{
    int fd = openat(w->dir, name, acp_place_flags() | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    enter(w, fd);
    return 0;
}

static int note(struct walk *w, const char *name)
{
    size_t n = strlen(name);
    if (w->done_len + n + 1 >= sizeof(w->done))
        return -ENAMETOOLONG;
    memcpy(w->done + w->done_len, name, n);
    w->done_len += n;
    w->done[w->done_len++] = '/';
    w->done[w->done_len] = '\0';
    return 0;
}

/* To the parent: from the top through the names that led here, without the last. */
static int climb(struct walk *w)
{
    if (w->done_len == 0)
        return w->root->whole ? 0 : -EXDEV;
    char names[ACP_PATH_SIZE];
    w->done[--w->done_len] = '\0';
    char *slash = strrchr(w->done, '/');
    size_t keep = slash ? (size_t) (slash + 1 - w->done) : 0;
    memcpy(names, w->done, keep);
    names[keep] = '\0';
    enter_top(w);
    for (char *name = names; *name;) {
        char *end = strchr(name, '/');
        *end = '\0';
        /* What was a directory and is none now is being changed under us: begin anew. */
        if (descend(w, name))
            return -EAGAIN;
        int err = note(w, name);
        if (err)
            return err;
        name = end + 1;
    }
    return 0;
}

/* Puts the link's text in front of what is still to be walked; -EINVAL when it is not a link. */
static int follow(struct walk *w, const char *name, const char *after)
{
    char text[ACP_PATH_SIZE];
    ssize_t n = readlinkat(w->dir, name, text, sizeof(text));
    if (n < 0)
        return -errno;
    size_t len = (size_t) n;
    size_t tail = strlen(after);
    if (len == 0)
        return -ENOENT;
    if (++w->links > MAX_LINKS || acp_beneath_in_proc(w->dir))
        return -ELOOP;
    if (len + tail + 2 > sizeof(text))
        return -ENAMETOOLONG;
    if (text[0] == '/') {
        if (!w->root->whole)
            return -EXDEV;
        enter_top(w);
    }
    memmove(w->rest + len + (tail > 0), after, tail + 1);
    memcpy(w->rest, text, len);
    if (tail)
        w->rest[len] = '/';
    return 0;
}

/* The error of opening a name tells that it may be a link. */
static bool maybe_link(int err)
{
    return err == -ELOOP || err == -ENOTDIR || err == -EMLINK;
}

/*
 * The last name: the descriptor, or *ret_again when it was a link whose text is to be walked now.
 * after is "/" when it must be a directory.
 */
static int open_last(struct walk *w, const char *name, const char *after, int flags,
                     bool *ret_again)
{
    int only = *after ? O_DIRECTORY : 0;
    int fd = openat(w->dir, name, flags | only | O_NOFOLLOW | O_CLOEXEC);
    int err = fd < 0 ? -errno : 0;
    struct stat st;
    /* With O_PATH the link itself is opened. */
    if (fd >= 0) {
        err = fstat(fd, &st) != 0 ? -errno : S_ISLNK(st.st_mode) ? -ELOOP : 0;
        if (err)
            (void) close(fd);
    }
    if (!maybe_link(err))
        return err ? err : fd;
    int linked = follow(w, name, after);
    *ret_again = linked == 0;
    return linked == -EINVAL ? err : linked;
}

/* One name of the rest.  1: go on; 0 and *ret_fd: there; or -errno. */
static int step(struct walk *w, int flags, int *ret_fd)
{
    char *name = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(name, "/");
    char *after = name + len + strspn(name + len, "/");
    bool last = *after == '\0';
    bool only_directory = name[len] == '/';
    name[len] = '\0';
    if (len == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        int err = strcmp(name, "..") == 0 ? climb(w) : 0;
        if (!err && last) {
            *ret_fd = openat(w->dir, ".", flags | O_CLOEXEC);
            return *ret_fd < 0 ? -errno : 0;
        }
        memmove(w->rest, after, strlen(after) + 1);
        return err ? err : 1;
    }
    if (last) {
        bool again = false;
        int fd = open_last(w, name, only_directory ? "/" : "", flags, &again);
        if (again)
            return 1;
        int err = fd < 0 ? fd : note(w, name);
        if (!err)
            *ret_fd = fd;
        else if (fd >= 0)
            (void) close(fd);
        return err;
    }
    int err = descend(w, name);
    if (maybe_link(err)) {
        int linked = follow(w, name, after);
        return linked == 0 ? 1 : linked == -EINVAL ? err : linked;
    }
    if (!err)
        err = note(w, name);
    memmove(w->rest, after, strlen(after) + 1);
    return err ? err : 1;
}

/* ret_path may be NULL; it is where the walk ended, from the root and without links. */
static int open_by_walk(const struct acp_beneath *root, const char *path, int flags, char *ret_path)
{
    size_t len = strlen(path);
    if (len >= ACP_PATH_SIZE)
        return -ENAMETOOLONG;
    if (path[0] == '/' && !root->whole)
        return -EXDEV;
    int err = -EAGAIN;
    for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
        struct walk w;
        w.root = root;
        w.dir = root->fd;
        w.links = 0;
        w.done_len = 0;
        w.done[0] = '\0';
        memcpy(w.rest, path, len + 1);
        int fd = -1;
        do
            err = step(&w, flags, &fd);
        while (err > 0);
        enter(&w, root->fd);
        if (err)
            continue;
        if (ret_path) {
            memcpy(ret_path, w.done, w.done_len + 1);
            ret_path[w.done_len > 0 ? w.done_len - 1 : 0] = '\0';
        }
        return fd;
    }
    return err;
}

int acp_beneath_open(const struct acp_beneath *root, const char *path, int flags)
{
    if (!*path)
        path = ".";
    if (root->walk)
        return open_by_walk(root, path, flags, NULL);
    int fd = open_by_kernel(root, path, flags);
    /* EPERM is what filters say to calls they do not know; if it is meant, the walk gets it too. */
    if (fd == -ENOSYS || fd == -EPERM || fd == -EAGAIN)
        return open_by_walk(root, path, flags, NULL);
    return fd;
}

int acp_beneath_open_place(const struct acp_beneath *root, const char *path, char *ret_path)
{
    int fd = acp_beneath_open(root, path, acp_place_flags());
    if (fd < 0)
        return fd;
    if (!root->walk && path_by_kernel(root, fd, ret_path) == 0)
        return fd;
    (void) close(fd);
    return open_by_walk(root, *path ? path : ".", acp_place_flags(), ret_path);
}

/* ---- Making --------------------------------------------------------------------------------- */

/* The directory `name` in dir, which is closed; made if it is missing. */
static int make_one(int dir, const char *name)
{
    int fd = -1;
    if (mkdirat(dir, name, 0777) == 0 || errno == EEXIST)
        fd = openat(dir, name, acp_place_flags() | O_NOFOLLOW);
    int reason = errno;
    (void) close(dir);
    return fd < 0 ? -reason : fd;
}

int acp_beneath_make(const struct acp_beneath *root, const char *path)
{
    int dir = acp_beneath_open(root, path, acp_place_flags());
    size_t len = strlen(path);
    if (dir != -ENOENT || len >= ACP_PATH_SIZE)
        return dir;
    char names[ACP_PATH_SIZE];
    memcpy(names, path, len + 1);
    dir = acp_beneath_open(root, ".", acp_place_flags());
    bool missing = false;
    for (char *name = names; dir >= 0 && *name;) {
        char *end = name + strcspn(name, "/");
        char was = *end;
        *end = '\0';
        bool up = strcmp(name, "..") == 0;
        /* What is there may be a link, so it is resolved from the top; what we make is not. */
        int next = missing && !up ? -ENOENT : acp_beneath_open(root, names, acp_place_flags());
        missing = next == -ENOENT;
        if (!missing || up) {
            (void) close(dir);
            dir = next;
        } else if (*name && strcmp(name, ".") != 0) {
            dir = make_one(dir, name);
        }
        *end = was;
        name = end + strspn(end, "/");
    }
    return dir;
}

/* The text of the link `name` in dir, as a path from the root; 0 when it is not a link. */
static int read_link(const struct acp_beneath *root, int dir, const char *name, char *path,
                     size_t parent)
{
    char text[ACP_PATH_SIZE];
    ssize_t n = readlinkat(dir, name, text, sizeof(text));
    if (n < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -errno;
    if (acp_beneath_in_proc(dir))
        return -ELOOP;
    if (n > 0 && text[0] == '/') {
        if (!root->whole)
            return -EXDEV;
        parent = 0;
    }
    if (parent + (size_t) n >= ACP_PATH_SIZE)
        return -ENAMETOOLONG;
    memcpy(path + parent, text, (size_t) n);
    path[parent + (size_t) n] = '\0';
    return 1;
}

/* The directory of a target, and where it is. */
static int open_parent(const struct acp_beneath *root, const char *path, bool make, char *ret_path)
{
    int made = make ? acp_beneath_make(root, path) : -1;
    if (make && made < 0)
        return made;
    if (made >= 0)
        (void) close(made);
    return acp_beneath_open_place(root, path, ret_path);
}

static int append_name(struct acp_beneath_target *target)
{
    size_t len = strlen(target->path);
    size_t n = strlen(target->name);
    if (len + n + 2 > sizeof(target->path))
        return -ENAMETOOLONG;
    if (len)
        target->path[len++] = '/';
    memcpy(target->path + len, target->name, n + 1);
    return 0;
}

int acp_beneath_find(const struct acp_beneath *root, const char *path, bool make,
                     struct acp_beneath_target *ret)
{
    char at[ACP_PATH_SIZE];
    size_t len = strlen(path);
    if (len >= sizeof(at))
        return -ENAMETOOLONG;
    memcpy(at, path, len + 1);
    for (int links = 0; links <= MAX_LINKS; links++) {
        char *slash = strrchr(at, '/');
        size_t parent = slash ? (size_t) (slash + 1 - at) : 0;
        size_t n = strlen(at + parent);
        if (n == 0 || strcmp(at + parent, ".") == 0 || strcmp(at + parent, "..") == 0)
            return -EISDIR;
        if (n >= ACP_NAME_SIZE)
            return -ENAMETOOLONG;
        memcpy(ret->name, at + parent, n + 1);
        at[parent] = '\0';
        int dir = open_parent(root, at, make, ret->path);
        if (dir < 0)
            return dir;
        int err = read_link(root, dir, ret->name, at, parent);
        bool linked = err == 1;
        if (err == 0)
            err = append_name(ret);
        if (err == 0) {
            ret->dir = dir;
            return 0;
        }
        (void) close(dir);
        if (!linked)
            return err;
    }
    return -ELOOP;
}
