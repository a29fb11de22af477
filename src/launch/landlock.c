/*
 * Landlock by its system calls: libc has no functions for them, and the kernel's headers may be
 * older than the kernel, so the numbers are written down here.  They are the kernel's ABI.
 */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "launch/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same on all architectures. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1,
    PATH_SIZE = 4096,
};

/* Rights on files, and the version that brought them. */
#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_SOCK (UINT64_C(1) << 9)
#define FS_MAKE_FIFO (UINT64_C(1) << 10)
#define FS_MAKE_SYM (UINT64_C(1) << 12)
#define FS_REFER (UINT64_C(1) << 13)     /* 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14)  /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define FS_ALL_OF_1 ((UINT64_C(1) << 13) - 1)

#define NET_BIND_TCP (UINT64_C(1) << 0)        /* 4 */
#define NET_CONNECT_TCP (UINT64_C(1) << 1)     /* 4 */
#define SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0) /* 6 */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)        /* 6 */

/* Rights that a file has; the others are about directories, and are refused for a file. */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

static const uint64_t rights_of[] = {
    [LANDLOCK_LIST] = FS_READ_DIR,
    [LANDLOCK_READ] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
    [LANDLOCK_WRITE] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_REMOVE_DIR |
                       FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO |
                       FS_MAKE_SYM | FS_REFER | FS_TRUNCATE,
    [LANDLOCK_DEVICE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_IOCTL_DEV,
};

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* 4 */
    uint64_t scoped;             /* 6 */
};

struct path_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return version > 0 ? (int) version : 0;
}

static uint64_t known_rights(int version)
{
    return FS_ALL_OF_1 | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
           (version >= 5 ? FS_IOCTL_DEV : 0);
}

int landlock_new(bool network)
{
    int version = landlock_version();
    struct ruleset_attr attr = {.handled_access_fs = known_rights(version)};
    size_t size = sizeof(attr.handled_access_fs);
    if (version >= 4) {
        attr.handled_access_net = network ? 0 : NET_BIND_TCP | NET_CONNECT_TCP;
        size += sizeof(attr.handled_access_net);
    }
    if (version >= 6) {
        attr.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
        size += sizeof(attr.scoped);
    }
    if (version == 0)
        return -ENOSYS;
    long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    return fd < 0 ? -errno : (int) fd;
}

/* Adds a rule for what an O_PATH descriptor stands for, and closes that. */
static int add_rule(int ruleset, int fd, enum landlock_access access)
{
    struct stat st;
    struct path_attr attr = {
        .parent_fd = fd, .allowed_access = rights_of[access] & known_rights(landlock_version())};
    int err = fstat(fd, &st) ? -errno : 0;
    if (!err && !S_ISDIR(st.st_mode))
        attr.allowed_access &= FS_OF_FILES;
    if (!err && attr.allowed_access &&
        syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0))
        err = -errno;
    (void) close(fd);
    return err;
}

int landlock_allow(int ruleset, const char *path, enum landlock_access access)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : add_rule(ruleset, fd, access);
}

/* ---- All but some --------------------------------------------------------------------------- */

enum place { PLACE_FREE, PLACE_ABOVE, PLACE_EXCEPTED };

static enum place place_of(const char *path, const char *const *except)
{
    enum place place = PLACE_FREE;
    size_t len = strlen(path);
    for (size_t i = 0; except[i]; i++) {
        size_t n = strlen(except[i]);
        if (strncmp(path, except[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return PLACE_EXCEPTED;
        if (strncmp(except[i], path, len) == 0 && except[i][len] == '/')
            place = PLACE_ABOVE;
    }
    return place;
}

static int allow_entries(int ruleset, const char *path, enum landlock_access access,
                         const char *const *except)
{
    char child[PATH_SIZE];
    int err = 0;
    DIR *dir = opendir(path);
    if (!dir)
        return -errno;
    for (struct dirent *entry = readdir(dir); entry && !err; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int n = snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (n < 0 || (size_t) n >= sizeof(child))
            err = -ENAMETOOLONG;
        else
            err = landlock_allow_except(ruleset, child, access, except);
        if (err == -ENOENT || err == -EACCES)
            err = 0; /* gone meanwhile, or out of reach in any case */
    }
    (void) closedir(dir);
    return err;
}

int landlock_allow_except(int ruleset, const char *path, enum landlock_access access,
                          const char *const *except)
{
    enum place place = place_of(path, except);
    if (place == PLACE_EXCEPTED)
        return 0;
    /* A link counts where it leads to, and that is not for this directory to allow. */
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) || S_ISLNK(st.st_mode)) {
        (void) close(fd);
        return 0;
    }
    int err = add_rule(ruleset, fd, place == PLACE_FREE ? access : LANDLOCK_LIST);
    if (err || place == PLACE_FREE)
        return err;
    return allow_entries(ruleset, path, access, except);
}

int landlock_enforce(int ruleset)
{
    int err = syscall(SYS_landlock_restrict_self, ruleset, 0) ? -errno : 0;
    (void) close(ruleset);
    return err;
}
