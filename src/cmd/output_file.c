/* output_file.c - see output_file.h. */
#include "cmd/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct acp_failure *failure, int reason, const char *what, const char *path)
{
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message), "%s%s%.120s", what, path ? " " : "",
                    path ? path : "");
    return reason;
}

static int fail_system(struct acp_failure *failure, int reason)
{
    return fail(failure, reason, strerror(-reason), NULL);
}

/* 1 when the path is a pipe or device and was opened.  Does not block on a pipe without reader. */
static int open_device(struct output_file *file, const char *path, struct acp_failure *failure)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return 0;
    if (S_ISDIR(st.st_mode))
        return fail_system(failure, -EISDIR);
    int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENXIO ? fail(failure, -ENXIO, "no process reads from this pipe", NULL)
                              : fail_system(failure, -errno);
    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode)) {
        (void) close(fd);
        return fail_system(failure, -EAGAIN);
    }
    (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    file->kind = OUTPUT_DEVICE;
    file->fd = fd;
    return 1;
}

/* Whether a file can be created there, as far as that can be checked beforehand. */
static int check_folder(const struct output_file *file, struct acp_failure *failure)
{
    struct stat st;
    if (faccessat(file->fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return fail_system(failure, -errno);
    if (fstatat(file->fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        faccessat(file->fd, file->name, W_OK, AT_EACCESS) != 0)
        return fail_system(failure, -errno);
    return 0;
}

int output_file_open(struct output_file *file, const char *path, mode_t mode,
                     struct acp_failure *failure)
{
    char real[ACP_PATH_SIZE];
    *file = (struct output_file){.mode = mode, .replacement = {.fd = -1}};
    int err = open_device(file, path, failure);
    if (err)
        return err < 0 ? err : 0;
    err = acp_path_real(path, real);
    if (err == -ENOENT)
        return fail(failure, err, "a symbolic link to a file that does not exist", NULL);
    if (err)
        return fail_system(failure, err);
    char *slash = strrchr(real, '/');
    size_t n = slash ? strlen(slash + 1) : 0;
    if (n == 0 || n >= sizeof(file->name))
        return fail_system(failure, n ? -ENAMETOOLONG : -EISDIR);
    memcpy(file->name, slash + 1, n + 1);
    slash[slash == real] = '\0';
    int dir = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT ? fail(failure, -ENOENT, "no such directory:", real)
                               : fail_system(failure, -errno);
    file->kind = OUTPUT_REPLACES;
    file->fd = dir;
    err = check_folder(file, failure);
    if (err)
        output_file_close(file);
    return err;
}

int output_file_begin(struct output_file *file)
{
    if (file->kind == OUTPUT_DEVICE)
        return file->fd;
    int err = acp_replace_begin(file->fd, file->mode, &file->replacement);
    return err ? err : file->replacement.fd;
}

int output_file_end(struct output_file *file, int err)
{
    struct stat old;
    if (file->kind != OUTPUT_REPLACES || file->replacement.fd < 0)
        return err;
    bool there = fstatat(file->fd, file->name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    return acp_replace_end(&file->replacement, file->name,
                           there && S_ISREG(old.st_mode) ? &old : NULL, true, err);
}

void output_file_close(struct output_file *file)
{
    if (file->kind == OUTPUT_CLOSED)
        return;
    (void) output_file_end(file, -ECANCELED);
    (void) close(file->fd);
    file->kind = OUTPUT_CLOSED;
}
