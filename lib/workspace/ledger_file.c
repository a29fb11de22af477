/*
 * The ledger in a file that several processes share.
 *
 * Nobody writes over what others have added: saving takes a lock, reads the file, merges and
 * replaces it.  The lock is on a file beside it (NAME.lock), because the ledger itself is another
 * file after each save.  What we know from the file and what is not there any more was revoked by
 * somebody; what we have revoked is remembered by its number until it is saved.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workspace/beneath.h"
#include "workspace/ledger.h"

enum { LOCK_TRIES = 200, LOCK_PAUSE_MS = 10, BLOCK = 64 * 1024 };

static int fail_system(struct acp_failure *failure, int reason, const char *what)
{
    char text[80];
    char message[160];
    if (strerror_r(reason, text, sizeof(text)) != 0)
        (void) snprintf(text, sizeof(text), "error %d", reason);
    (void) snprintf(message, sizeof(message), "cannot %s the ledger: %s", what, text);
    return acp_ledger_fail(failure, reason == ENOMEM ? ACP_ERR_NOMEM : ACP_ERR_STATE, "", message);
}

static int fail_plain(struct acp_failure *failure, int err)
{
    return acp_ledger_fail(failure, err, "", acp_err_text(err));
}

/* ---- The file ------------------------------------------------------------------------------- */

static struct acp_ledger_file file_of(const struct stat *st)
{
    return (struct acp_ledger_file){.device = st->st_dev,
                                    .inode = st->st_ino,
                                    .size = st->st_size,
                                    .seconds = st->st_mtim.tv_sec,
                                    .nanoseconds = st->st_mtim.tv_nsec};
}

static bool is_same_file(const struct acp_ledger_file *a, const struct acp_ledger_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* Appends all of the file; nothing when there is none. */
static int read_file(const char *path, struct acp_buf *out, struct acp_ledger_file *ret_file,
                     struct acp_failure *failure)
{
    *ret_file = (struct acp_ledger_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : fail_system(failure, errno, "open");
    struct stat st;
    int err = 0;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        err = fail_system(failure, EINVAL, "open");
    if (!err)
        *ret_file = file_of(&st);
    while (!err) {
        err = acp_buf_reserve(out, BLOCK);
        if (err) {
            (void) fail_plain(failure, err);
            break;
        }
        ssize_t n = read(fd, out->data + out->start + out->len, BLOCK);
        if (n == 0)
            break;
        if (n > 0)
            out->len += (size_t) n;
        else if (errno != EINTR)
            err = fail_system(failure, errno, "read");
    }
    (void) close(fd);
    return err;
}

/* A descriptor that holds the lock until it is closed. */
static int take_lock(const char *path, struct acp_failure *failure)
{
    char name[ACP_PATH_SIZE];
    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int) sizeof(name))
        return fail_system(failure, ENAMETOOLONG, "lock");
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return fail_system(failure, errno, "lock");
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
        (void) nanosleep(&pause, NULL);
    }
    int reason = errno;
    (void) close(fd);
    if (reason != EWOULDBLOCK && reason != EINTR)
        return fail_system(failure, reason, "lock");
    return acp_ledger_fail(failure, ACP_ERR_TIMEOUT, "",
                           "another process has held the ledger's lock for two seconds");
}

static int replace_file(const char *path, struct acp_str text, struct acp_failure *failure)
{
    char folder[ACP_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t) (slash - path) : 0;
    (void) snprintf(folder, sizeof(folder), "%.*s%s", (int) n, path, slash ? "/" : ".");
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return fail_system(failure, errno, "write");
    int reason = acp_replace_at(dir, slash ? slash + 1 : path, text, NULL, 0600, true);
    (void) close(dir);
    return reason ? fail_system(failure, -reason, "write") : 0;
}

/* ---- Merging -------------------------------------------------------------------------------- */

static bool is_revoked(const struct acp_ledger *ledger, uint64_t number)
{
    for (size_t i = 0; i < ledger->revoked_count; i++)
        if (ledger->revoked[i] == number)
            return true;
    return false;
}

/*
 * The client and the built-in agent both remember an "always", each in its own process.  True when
 * the file has that answer; another answer to the same question is older, and goes.
 */
static bool is_remembered(struct acp_ledger *merged, const struct acp_grant *grant)
{
    for (size_t i = merged->count; i > 0; i--) {
        const struct acp_grant *other = &merged->entries[i - 1].grant;
        if (!acp_grant_same_matter(other, grant))
            continue;
        if (other->allow == grant->allow && other->expires == grant->expires)
            return true;
        acp_ledger_take_out(merged, i - 1);
    }
    return false;
}

/* Adds to what the file has what is only here, with other numbers where those may be taken. */
static int add_ours(struct acp_ledger *merged, const struct acp_ledger *ours)
{
    for (size_t i = 0; i < ours->count; i++) {
        struct acp_grant grant = ours->entries[i].grant;
        if (ours->entries[i].saved || is_remembered(merged, &grant))
            continue;
        if (grant.number < merged->next)
            grant.number = merged->next;
        int err = acp_ledger_insert(merged, &grant, false, NULL);
        if (err)
            return err;
    }
    if (ours->next > merged->next)
        merged->next = ours->next;
    return 0;
}

static void drop_revoked(struct acp_ledger *merged, const struct acp_ledger *ours)
{
    for (size_t i = merged->count; i > 0; i--)
        if (is_revoked(ours, merged->entries[i - 1].grant.number))
            acp_ledger_take_out(merged, i - 1);
}

/* The file's state with our changes, as a new ledger. */
static int merge(const struct acp_ledger *ours, const char *path, acp_ledger_report *report,
                 void *user, struct acp_ledger **ret_merged, struct acp_failure *failure)
{
    struct acp_buf text;
    struct acp_ledger_file file;
    acp_buf_init(&text, (size_t) ACP_LEDGER_MAX_BYTES + (size_t) 2 * BLOCK);
    int err = read_file(path, &text, &file, failure);
    struct acp_ledger *merged = NULL;
    if (!err && acp_ledger_new(&merged))
        err = fail_plain(failure, ACP_ERR_NOMEM);
    int aside = 0;
    if (!err) {
        aside = acp_ledger_load(merged, acp_buf_view(&text), report, user);
        if (aside >= 0)
            drop_revoked(merged, ours);
        err = aside < 0 ? aside : add_ours(merged, ours);
        if (err)
            (void) fail_plain(failure, err);
    }
    acp_buf_finish(&text);
    if (err) {
        acp_ledger_free(merged);
        return err;
    }
    merged->file = file;
    *ret_merged = merged;
    return aside;
}

/* What was another's content becomes ours. */
static void swap_in(struct acp_ledger *ledger, struct acp_ledger *merged)
{
    struct acp_ledger old = *ledger;
    *ledger = *merged;
    *merged = old;
    acp_ledger_free(merged);
}

int acp_ledger_load_file(struct acp_ledger *ledger, const char *path, acp_ledger_report *report,
                         void *user, struct acp_failure *failure)
{
    struct acp_ledger *merged = NULL;
    int aside = merge(ledger, path, report, user, &merged, failure);
    if (merged)
        swap_in(ledger, merged);
    return aside;
}

int acp_ledger_refresh_file(struct acp_ledger *ledger, const char *path,
                            struct acp_failure *failure)
{
    struct stat st;
    struct acp_ledger_file file = {0};
    if (stat(path, &st) == 0)
        file = file_of(&st);
    else if (errno != ENOENT)
        return fail_system(failure, errno, "open");
    if (is_same_file(&file, &ledger->file))
        return 0;
    int err = acp_ledger_load_file(ledger, path, NULL, NULL, failure);
    return err < 0 ? err : 1;
}

/* Writes what was merged and takes it over. */
static int save_merged(struct acp_ledger *ledger, struct acp_ledger *merged, const char *path,
                       struct acp_failure *failure)
{
    struct acp_buf text;
    acp_buf_init(&text, ACP_LEDGER_MAX_BYTES);
    int err = acp_ledger_write(merged, &text);
    if (err)
        (void) fail_plain(failure, err);
    else
        err = replace_file(path, acp_buf_view(&text), failure);
    acp_buf_finish(&text);
    if (err) {
        acp_ledger_free(merged);
        return err;
    }
    for (size_t i = 0; i < merged->count; i++)
        merged->entries[i].saved = true;
    merged->revoked_count = 0;
    /* Still under the lock, so this is the file that was just written. */
    struct stat st;
    merged->file = stat(path, &st) == 0 ? file_of(&st) : (struct acp_ledger_file){0};
    swap_in(ledger, merged);
    return 0;
}

int acp_ledger_save_file(struct acp_ledger *ledger, const char *path, acp_ledger_report *report,
                         void *user, struct acp_failure *failure)
{
    /* A link is somebody's way to keep the file elsewhere; it is not to be replaced by a file. */
    char *real = realpath(path, NULL);
    if (!real && errno != ENOENT)
        return fail_system(failure, errno, "open");
    const char *target = real ? real : path;
    int lock = take_lock(target, failure);
    int aside = lock;
    if (lock >= 0) {
        struct acp_ledger *merged = NULL;
        aside = merge(ledger, target, report, user, &merged, failure);
        int err = merged ? save_merged(ledger, merged, target, failure) : aside;
        aside = err ? err : aside;
        (void) close(lock);
    }
    free(real);
    return aside;
}
