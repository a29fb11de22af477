/* Claims: lock files, and the folders that they lie in. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "store/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acp/io.h"
#include "store/db.h"

enum { TRIES = 100 };

/*
 * The lock belongs to the open file, not to the process, so that it also holds between two writers
 * of one process, and closing another descriptor does not lose it.
 */
#ifdef F_OFD_SETLK

/* 0, or an errno: EAGAIN when another has it. */
static int lock_now(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    return errno == EACCES ? EAGAIN : errno;
}

static bool is_locked(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

#else

static int lock_now(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

/* Asks by locking, for a moment: who claims just then is told that somebody has it. */
static bool is_locked(int fd)
{
    return flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

#endif

bool store_is_id(struct acp_str id)
{
    if (id.len == 0 || id.len > STORE_CLAIM_ID_MAX)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '-' || c == '_'))
            return false;
    }
    return true;
}

/* DATABASE-claims/ID, allocated. */
static char *claim_path(const char *database, struct acp_str id)
{
    size_t size = strlen(database) + id.len + sizeof("-claims/");
    char *path = malloc(size);
    if (path)
        (void) snprintf(path, size, "%s-claims/%.*s", database, (int) id.len, id.ptr);
    return path;
}

static int make_folder(const char *path)
{
    struct stat st;
    if (mkdir(path, 0700) == 0)
        return 0;
    int reason = errno;
    if (reason == EEXIST || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    return acp_err_from_errno(reason);
}

int store_make_folders(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return ACP_ERR_NOMEM;
    int err = 0;
    for (char *slash = strchr(path + 1, '/'); slash && !err; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        err = make_folder(path);
        *slash = '/';
    }
    if (!err)
        err = make_folder(path);
    free(path);
    return err;
}

static int make_folder_of(const char *path)
{
    char *folder = strdup(path);
    if (!folder)
        return ACP_ERR_NOMEM;
    *strrchr(folder, '/') = '\0';
    int err = store_make_folders(folder);
    free(folder);
    return err;
}

/* The pid that the file names, 0 when it is not written yet. */
static int64_t read_owner(int fd)
{
    char text[24];
    ssize_t n = pread(fd, text, sizeof(text), 0);
    int64_t pid = 0;
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9' && pid < INT32_MAX; i++)
        pid = pid * 10 + (text[i] - '0');
    return pid;
}

static int refuse_owned(int64_t pid, struct acp_failure *failure)
{
    if (pid == 0)
        return store_fail(failure, ACP_ERR_STATE, "another process is writing to this session");
    return store_fail(failure, ACP_ERR_STATE, "process %lld is writing to this session",
                      (long long) pid);
}

/*
 * Opens and locks the file.  1: it was removed in between, and there may be another one by now.
 */
static int lock_file(const char *path, int *ret_fd, struct acp_failure *failure)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return acp_err_from_errno(errno);
    int reason = lock_now(fd);
    if (reason) {
        int err =
            reason == EAGAIN ? refuse_owned(read_owner(fd), failure) : acp_err_from_errno(reason);
        (void) close(fd);
        return err;
    }
    struct stat ours;
    struct stat named;
    if (fstat(fd, &ours) != 0 || stat(path, &named) != 0 || ours.st_ino != named.st_ino ||
        ours.st_dev != named.st_dev) {
        (void) close(fd);
        return 1;
    }
    *ret_fd = fd;
    return 0;
}

/* Says in the file who has it; who cannot read that knows only that somebody has. */
static void write_owner(int fd)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long) getpid());
    if (ftruncate(fd, 0) == 0)
        (void) !pwrite(fd, text, (size_t) n, 0);
}

int store_claim_take(struct store_claim *claim, const char *database, struct acp_str id,
                     struct acp_failure *failure)
{
    if (!store_is_id(id))
        return store_fail(failure, ACP_ERR_ARGUMENT, "this is no id of a session");
    char *path = claim_path(database, id);
    if (!path)
        return store_fail(failure, ACP_ERR_NOMEM, "out of memory");
    int fd = -1;
    int err = make_folder_of(path);
    for (int i = 0; !err && i < TRIES; i++) {
        err = lock_file(path, &fd, failure);
        if (err != 1)
            break;
        err = i + 1 < TRIES ? 0 : ACP_ERR_STATE;
    }
    if (err) {
        if (acp_err_errno(err))
            (void) store_fail(failure, err, "cannot claim the session in %s: %s", store_shown(path),
                              acp_io_err_text(err));
        free(path);
        return err;
    }
    free(path);
    write_owner(fd);
    *claim = (struct store_claim){.fd = fd, .database = database};
    memcpy(claim->id, id.ptr, id.len);
    return 0;
}

void store_claim_release(struct store_claim *claim)
{
    if (claim->fd >= 0) {
        /*
         * Removed while it is locked: whoever has opened it meanwhile sees that it is gone.
         * When out of memory for the path, the file stays, and has no meaning any more.
         */
        char *path = claim_path(claim->database, acp_str_from(claim->id));
        if (path)
            (void) unlink(path);
        free(path);
        (void) close(claim->fd);
    }
    *claim = (struct store_claim) STORE_NO_CLAIM;
}

int64_t store_owner(const char *path, struct acp_str id)
{
    char *file = store_is_id(id) ? claim_path(path, id) : NULL;
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    free(file);
    if (fd < 0)
        return 0;
    int64_t owner = 0;
    if (is_locked(fd)) {
        owner = read_owner(fd);
        owner = owner ? owner : -1;
    }
    (void) close(fd);
    return owner;
}
