/*
 * The roots of a session, and the two entrances: what fs/read_text_file and fs/write_text_file ask
 * for is checked here as far as it is text, sent past the editor's unsaved buffers, and then read
 * or written below the root that holds it.
 */
#define _GNU_SOURCE /* O_PATH */
#include "acp/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized.h"
#include "workspace/beneath.h"

struct root {
    int fd;
    bool whole;
    char *path; /* owned */
    char *real; /* owned: the path without links, when it was opened */
};

/* A root may be spoken of by the name it was given and by its real one. */
struct name {
    char *text; /* owned */
    size_t root;
};

struct acp_roots {
    size_t count;
    size_t name_count;
    struct root *items; /* owned, like the names; room for all from the start */
    struct name *names; /* the longest first */
};

/* ---- Roots ---------------------------------------------------------------------------------- */

static int fail_root(struct acp_failure *failure, int err, size_t index, const char *message)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    if (index == 0)
        (void) snprintf(failure->path, sizeof(failure->path), "cwd");
    else
        (void) snprintf(failure->path, sizeof(failure->path), "additionalDirectories[%zu]",
                        index - 1);
    (void) snprintf(failure->message, sizeof(failure->message), "%.199s", message);
    return err;
}

static int fail_root_system(struct acp_failure *failure, size_t index, int reason, const char *path)
{
    struct acp_files_error error;
    (void) acp_files_fail_system(&error, reason, "open", path);
    return fail_root(failure, reason == -ENOMEM ? ACP_ERR_NOMEM : ACP_ERR_STATE, index,
                     error.message);
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

/* Keeps the names in order, so that the innermost of nested roots is found first. */
static int add_name(struct acp_roots *roots, const char *text, size_t root)
{
    size_t len = strlen(text);
    size_t at = 0;
    for (; at < roots->name_count; at++) {
        if (strcmp(roots->names[at].text, text) == 0)
            return 0;
        if (strlen(roots->names[at].text) < len)
            break;
    }
    char *copy = copy_text(text);
    if (!copy)
        return ACP_ERR_NOMEM;
    memmove(&roots->names[at + 1], &roots->names[at],
            (roots->name_count - at) * sizeof(roots->names[0]));
    roots->names[at] = (struct name){copy, root};
    roots->name_count++;
    return 0;
}

static bool same_file(int fd, const char *path)
{
    struct stat a;
    struct stat b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int add_root(struct acp_roots *roots, struct acp_str given, size_t index,
                    struct acp_failure *failure)
{
    char path[ACP_PATH_SIZE];
    char real[ACP_PATH_SIZE];
    int err = acp_path_normal(given, path, NULL);
    if (err == -EINVAL)
        return fail_root(failure, ACP_ERR_RANGE, index, "A directory must be an absolute path");
    if (err)
        return fail_root_system(failure, index, err, "it");
    for (size_t i = 0; i < roots->count; i++)
        if (strcmp(roots->items[i].path, path) == 0)
            return 0;
    if (roots->count == ACP_ROOTS_MAX)
        return fail_root(failure, ACP_ERR_LIMIT, index,
                         "More directories than one session may have");
    int fd = open(path, acp_place_flags());
    if (fd < 0)
        return fail_root_system(failure, index, -errno, path);
    size_t at = roots->count++;
    /* Only if it still leads to what was opened. */
    bool has_real = acp_path_real(path, real) == 0 && same_file(fd, real);
    roots->items[at] =
        (struct root){fd, same_file(fd, "/"), copy_text(path), copy_text(has_real ? real : path)};
    bool kept = roots->items[at].path && roots->items[at].real;
    err = kept ? add_name(roots, path, at) : ACP_ERR_NOMEM;
    if (!err && has_real)
        err = add_name(roots, real, at);
    return err ? fail_root(failure, err, index, acp_err_text(err)) : 0;
}

int acp_roots_new(struct acp_str cwd, struct acp_str_list additional, struct acp_roots **ret_roots,
                  struct acp_failure *failure)
{
    size_t most = additional.count < ACP_ROOTS_MAX ? additional.count + 1 : ACP_ROOTS_MAX;
    struct acp_roots *roots = calloc(1, sizeof(*roots));
    if (roots) {
        roots->items = calloc(most, sizeof(struct root));
        roots->names = calloc(2 * most, sizeof(struct name));
    }
    if (!roots || !roots->items || !roots->names) {
        acp_roots_free(roots);
        return fail_root(failure, ACP_ERR_NOMEM, 0, acp_err_text(ACP_ERR_NOMEM));
    }
    int err = add_root(roots, cwd, 0, failure);
    for (size_t i = 0; i < additional.count && !err; i++)
        err = add_root(roots, additional.items[i], i + 1, failure);
    if (err)
        acp_roots_free(roots);
    else
        *ret_roots = roots;
    return err;
}

void acp_roots_free(struct acp_roots *roots)
{
    if (!roots)
        return;
    for (size_t i = 0; i < roots->name_count; i++)
        free(roots->names[i].text);
    for (size_t i = 0; i < roots->count; i++) {
        (void) close(roots->items[i].fd);
        free(roots->items[i].path);
        free(roots->items[i].real);
    }
    free(roots->names);
    free(roots->items);
    free(roots);
}

size_t acp_roots_count(const struct acp_roots *roots)
{
    return roots->count;
}

struct acp_str acp_roots_path(const struct acp_roots *roots, size_t index)
{
    return acp_str_from(index < roots->count ? roots->items[index].path : NULL);
}

bool acp_roots_next(const struct acp_roots *roots, const char *path, bool walk, size_t *cursor,
                    struct acp_beneath *ret_root, const char **ret_rest)
{
    while (*cursor < roots->name_count) {
        const struct name *name = &roots->names[(*cursor)++];
        if (!acp_path_within(path, name->text, ret_rest))
            continue;
        const struct root *root = &roots->items[name->root];
        *ret_root = (struct acp_beneath){root->fd, root->whole, walk, root->real};
        return true;
    }
    return false;
}

bool acp_roots_contain(const struct acp_roots *roots, struct acp_str path)
{
    char normal[ACP_PATH_SIZE];
    char real[ACP_PATH_SIZE];
    return acp_path_normal(path, normal, NULL) == 0 &&
           acp_files_real(roots, normal, false, real) == 0;
}

/* ---- What reading and writing begin with ---------------------------------------------------- */

static int check_path(struct acp_str path, const char *verb, char *ret_normal,
                      struct acp_files_error *error)
{
    bool directory = false;
    int err = acp_path_normal(path, ret_normal, &directory);
    if (err == -EINVAL)
        return acp_files_fail(error, ACP_ERR_RANGE, ACP_FILES_INVALID,
                              "The path must be absolute and without NUL: %.*s",
                              (int) (path.len < 100 ? path.len : 100), path.ptr ? path.ptr : "");
    if (err)
        return acp_files_fail_system(error, err, verb, "it");
    if (directory)
        return acp_files_fail_system(error, -EISDIR, verb, ret_normal);
    return 0;
}

/* A hook said no. */
static int fail_hook(struct acp_files_error *error, int err, const char *verb, const char *path)
{
    return acp_files_fail(error, err, ACP_FILES_FAILED, "The editor cannot %s this (%s): %s", verb,
                          acp_err_text(err), path);
}

/*
 * The editor's buffers come before the disk, but not for what is outside or not allowed: a buffer
 * may have been opened through a link.
 */
static int check_place(const struct acp_roots *roots, const char *path,
                       const struct acp_files_options *options, bool writes,
                       struct acp_files_error *error)
{
    char real[ACP_PATH_SIZE];
    int place = acp_files_real(roots, path, options->walk, real);
    return place ? acp_files_fail_system(error, place, writes ? "write" : "read", path)
                 : acp_files_ask(options, real, writes, error);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int check_lines(struct acp_opt_i64 line, struct acp_opt_i64 limit,
                       struct acp_files_lines *ret, struct acp_files_error *error)
{
    bool from = line.has == ACP_PRESENT;
    bool to = limit.has == ACP_PRESENT;
    if (from && line.value < 1)
        return acp_files_fail(error, ACP_ERR_RANGE, ACP_FILES_INVALID,
                              "Lines are counted from 1; there is no line %lld",
                              (long long) line.value);
    if (to && limit.value < 0)
        return acp_files_fail(error, ACP_ERR_RANGE, ACP_FILES_INVALID,
                              "The limit must not be negative; it is %lld",
                              (long long) limit.value);
    *ret = (struct acp_files_lines){from ? (uint64_t) line.value : 1,
                                    to ? (uint64_t) limit.value : UINT64_MAX, !from && !to};
    return 0;
}

static int read_disk(const struct acp_roots *roots, const char *path,
                     const struct acp_files_lines *lines, const struct acp_files_options *options,
                     struct acp_buf *out, struct acp_files_error *error)
{
    int fd = -1;
    int err = acp_files_open(roots, acp_str_from(path), options, &fd, error);
    if (err)
        return err;
    err = acp_files_take_file(fd, lines, options, out, path, error);
    (void) close(fd);
    return err;
}

static int files_read(const struct acp_roots *roots, struct acp_str path, struct acp_opt_i64 line,
                      struct acp_opt_i64 limit, const struct acp_files_options *given,
                      struct acp_buf *out, struct acp_str *ret_text, struct acp_files_error *error)
{
    const struct acp_files_options options = acp_files_filled(given);
    const struct acp_files_hooks *hooks = options.hooks;
    struct acp_files_lines lines;
    char normal[ACP_PATH_SIZE];
    acp_buf_clear(out);
    int err = check_path(path, "read", normal, error);
    if (!err)
        err = check_lines(line, limit, &lines, error);
    if (err)
        return err;
    int taken = 0;
    struct acp_str text = {NULL, 0};
    if (hooks && hooks->read) {
        err = check_place(roots, normal, &options, false, error);
        if (err)
            return err;
        taken = hooks->read(acp_str_from(normal), &text, hooks->user);
    }
    if (taken < 0)
        err = fail_hook(error, taken, "read", normal);
    else if (taken > 0)
        err = acp_files_take_text(text, &lines, &options, out, normal, error);
    else
        err = read_disk(roots, normal, &lines, &options, out, error);
    if (!err)
        *ret_text = acp_buf_view(out);
    return err;
}

int acp_files_read_sized(const struct acp_roots *roots, struct acp_str path,
                         struct acp_opt_i64 line, struct acp_opt_i64 limit,
                         const struct acp_files_options *options, size_t options_size,
                         struct acp_buf *out, struct acp_str *ret_text,
                         struct acp_files_error *error)
{
    struct acp_files_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    return err ? acp_files_fail_options(error, err)
               : files_read(roots, path, line, limit, &own_options, out, ret_text, error);
}

/* ---- Writing -------------------------------------------------------------------------------- */

/*
 * The file that the path leads to.  Directories are made for it, but not before the guard was asked
 * about the place where they would be.
 */
static int find_for_writing(const struct acp_roots *roots, const char *path,
                            const struct acp_files_options *options, struct acp_beneath *ret_root,
                            struct acp_beneath_target *ret, struct acp_files_error *error)
{
    int reason = acp_files_find(roots, path, false, options->walk, ret_root, ret);
    if (reason == -ENOENT) {
        int err = check_place(roots, path, options, true, error);
        if (err)
            return err;
        reason = acp_files_find(roots, path, true, options->walk, ret_root, ret);
    }
    return reason ? acp_files_fail_system(error, reason, "write", path) : 0;
}

static int write_disk(const struct acp_roots *roots, const char *path, struct acp_str text,
                      const struct acp_files_options *options, struct acp_files_error *error)
{
    struct acp_beneath root;
    struct acp_beneath_target target;
    char real[ACP_PATH_SIZE];
    int err = find_for_writing(roots, path, options, &root, &target, error);
    if (err)
        return err;
    int reason = acp_beneath_absolute(&root, target.path, real);
    if (!reason)
        err = acp_files_ask(options, real, true, error);
    if (!reason && !err)
        reason = acp_files_put(&target, text, options->sync);
    (void) close(target.dir);
    if (reason == -ENOTSUP)
        return acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED,
                              "Only regular files can be written, and this is none: %s", path);
    return reason ? acp_files_fail_system(error, reason, "write", path) : err;
}

static int files_write(const struct acp_roots *roots, struct acp_str path, struct acp_str text,
                       const struct acp_files_options *given, struct acp_files_error *error)
{
    const struct acp_files_options options = acp_files_filled(given);
    const struct acp_files_hooks *hooks = options.hooks;
    char normal[ACP_PATH_SIZE];
    int err = check_path(path, "write", normal, error);
    if (err)
        return err;
    if (text.len > options.max_bytes)
        return acp_files_fail(error, ACP_ERR_LIMIT, ACP_FILES_INVALID,
                              "The text has %zu bytes; %zu are the most for %s", text.len,
                              options.max_bytes, normal);
    size_t bad = acp_text_check(text);
    if (bad < text.len)
        return acp_files_fail(error, ACP_ERR_UTF8, ACP_FILES_INVALID,
                              "The text is not UTF-8, or has a NUL, at byte %zu: %s", bad, normal);
    if (hooks && hooks->write) {
        err = check_place(roots, normal, &options, true, error);
        int taken = err ? 0 : hooks->write(acp_str_from(normal), text, hooks->user);
        if (taken < 0)
            err = fail_hook(error, taken, "write", normal);
        if (err || taken)
            return err;
    }
    return write_disk(roots, normal, text, &options, error);
}

int acp_files_write_sized(const struct acp_roots *roots, struct acp_str path, struct acp_str text,
                          const struct acp_files_options *options, size_t options_size,
                          struct acp_files_error *error)
{
    struct acp_files_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    return err ? acp_files_fail_options(error, err)
               : files_write(roots, path, text, &own_options, error);
}
