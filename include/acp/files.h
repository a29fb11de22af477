/*
 * files.h - reads and writes the files that an agent asks a client for, and none outside the roots
 * of the session: its working directory and its additional directories.
 *
 *     #include <acp/files.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct acp_str_list none = {0};
 *         struct acp_opt_i64 absent = {0};
 *         struct acp_failure failure;
 *         struct acp_files_error error;
 *         struct acp_roots *roots;
 *         struct acp_buf buf;
 *         struct acp_str text;
 *         if (acp_roots_new(acp_str_from("/tmp"), none, &roots, &failure))
 *             return fprintf(stderr, "%s: %s\n", failure.path, failure.message), 1;
 *         acp_buf_init(&buf, ACP_FILES_MAX_BYTES);
 *         int err = acp_files_read(roots, acp_str_from("/etc/passwd"), absent, absent, NULL, &buf,
 *                                  &text, &error);
 *         if (err)
 *             printf("%s\n", error.message); // "The path is outside of the workspace: ..."
 *         else
 *             printf("%.*s", ACP_ARG(text));
 *         acp_buf_finish(&buf);
 *         acp_roots_free(roots);
 *         return err == ACP_ERR_RANGE ? 0 : 1;
 *     }
 *
 * Each root is opened once and kept open, so renaming or replacing the directory later changes
 * nothing.  A path is checked in three steps:
 *
 *   1. As text.  It must be absolute.  "//" and "/." are removed, and ".." removes the name before
 *      it, as editors do.  The result is what is asked about, matched by a policy, and opened; it
 *      must begin with the name of a root, the one given or the real one.
 *   2. By the kernel.  The rest is resolved beneath the descriptor of the root: by openat2() with
 *      RESOLVE_BENEATH, or name by name without following links where the system does not have it.
 *      A symbolic link that leaves the root is refused, even if it leads back; so is an absolute
 *      one, unless the root is "/".  If several roots contain the path, the innermost comes first.
 *   3. By the guard, if the options have one.  It is asked about the real path of what was opened,
 *      and the same descriptor is used afterwards, so swapping a link in between changes nothing.
 *
 * Hard links are not distinguished from files: a rule about a path does not cover other names of
 * the same file.  Creating one requires write access to the root and, if the kernel protects hard
 * links, to the file; from a sandbox, whose roots are mounts of their own, none can be created to a
 * file outside.  A write replaces the name; other names of the file keep the old content.
 *
 * The functions block like open() and read().  Roots do not change once they are made, so several
 * threads may use them at the same time.
 */
#ifndef ACP_FILES_H
#define ACP_FILES_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Roots ---------------------------------------------------------------------------------- */

struct acp_roots;

/* The most roots: each is an open descriptor, and the peer of an agent chooses their number. */
enum { ACP_ROOTS_MAX = 128 };

/*
 * Opens the directories, which must be absolute paths and exist.  Of equal paths the first counts.
 *
 * ACP_ERR_RANGE for an empty or relative path; ACP_ERR_LIMIT; ACP_ERR_STATE if one cannot be
 * opened, with the system's reason in the message; ACP_ERR_NOMEM.  failure->path is "cwd" or
 * "additionalDirectories[1]", counted from 0.
 */
ACP_API int acp_roots_new(struct acp_str cwd, struct acp_str_list additional,
                          struct acp_roots **ret_roots, struct acp_failure *failure);
/* Takes NULL. */
ACP_API void acp_roots_free(struct acp_roots *roots);

/* The number of roots, at least 1. */
ACP_API size_t acp_roots_count(const struct acp_roots *roots);
/*
 * The path of the root at that index, which must exist; the one at 0 is the working directory.  It
 * is absolute, without "." and "..", terminated by NUL, and valid as long as the roots.
 */
ACP_API struct acp_str acp_roots_path(const struct acp_roots *roots, size_t index);

/*
 * Whether a path is in a root at the moment, as described above; also one that does not exist yet.
 * For paths that others will use, such as the directory of a terminal.
 */
ACP_API bool acp_roots_contain(const struct acp_roots *roots, struct acp_str path);

/* ---- Options -------------------------------------------------------------------------------- */

/* The default limit of what one read returns and one write takes. */
#define ACP_FILES_MAX_BYTES ((size_t) 10 * 1024 * 1024)
/* The default limit of what is read to reach a line: sparse files can be very large. */
#define ACP_FILES_MAX_SCAN ((uint64_t) 1024 * 1024 * 1024)

/*
 * For editors: texts that are not saved to disk.  path is normalised, and was found to be in a root
 * before either function is called.  Both may be NULL.
 */
struct acp_files_hooks {
    /*
     * Returns 1 with the whole text of an unsaved buffer, which stays valid until the read returns;
     * lines and limits are applied to it.  0 to read the file.  A negative enum acp_err fails.
     */
    int (*read)(struct acp_str path, struct acp_str *ret_text, void *user);
    /* Returns 1 if it has taken the text, 0 to write the file.  A negative enum acp_err fails. */
    int (*write)(struct acp_str path, struct acp_str text, void *user);
    void *user;
    void *reserved[2];
};

struct acp_files_error;

/*
 * Decides whether a file may be used, once it is known which file it is.  path is absolute and
 * real: it begins with the real path of a root, and has no symbolic links below that.  If a write
 * has to make directories, the guard is called twice, before and after.
 *
 * Returns 0 to continue.  A negative enum acp_err makes the call fail with that code, and with what
 * it has written to error, which is never NULL.
 */
struct acp_files_guard {
    int (*check)(struct acp_str path, bool writes, struct acp_files_error *error, void *user);
    void *user;
    void *reserved[2];
};

/* For the functions below, which take NULL for the defaults.  Zero means the default. */
struct acp_files_options {
    size_t max_bytes;  /* ACP_FILES_MAX_BYTES */
    uint64_t max_scan; /* ACP_FILES_MAX_SCAN */
    bool sync;         /* return from a write only when it is on disk; takes milliseconds */
    bool walk;         /* do not use openat2(), as on systems without it */
    const struct acp_files_hooks *hooks;
    const struct acp_files_guard *guard; /* NULL: all files in the roots may be used */
    uint64_t reserved[3];
};

/* ---- Errors --------------------------------------------------------------------------------- */

/*
 * The error for the agent: a JSON-RPC code and a sentence.  Written on failure only; every function
 * accepts NULL for it.
 */
struct acp_files_error {
    int64_t code;
    char message[256]; /* UTF-8, without a full stop */
};

enum {
    ACP_FILES_INVALID = -32602,   /* outside the roots, too large, an invalid path, line or text */
    ACP_FILES_NOT_FOUND = -32002, /* there is no such file */
    ACP_FILES_FAILED = -32603,    /* everything else */
};

/*
 * Appends {"uri":"file:///..."}: the data of an error with ACP_FILES_NOT_FOUND.  ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM.
 */
ACP_API int acp_files_not_found_data(struct acp_str path, struct acp_buf *out);
/*
 * Appends the path as a file: URI, in which all bytes but unreserved characters and slashes are
 * percent-encoded.  Errors as above.
 */
ACP_API int acp_file_uri(struct acp_str path, struct acp_buf *out);
/*
 * Appends the absolute path of a file: URI; its query and fragment are ignored.  ACP_ERR_TYPE if it
 * is not a file: URI; ACP_ERR_RANGE for another host or a character that paths cannot have;
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_file_path(struct acp_str uri, struct acp_buf *out);

/* ---- Reading and writing -------------------------------------------------------------------- */

/*
 * Reads a text file: `limit` lines of it, from `line` on, counted from 1.  An absent or null limit
 * means to the end, an absent or null line from the beginning.  A line ends with '\n', which is
 * part of it; "\r\n" is not changed.  A line after the last gives the empty text.
 *
 * out is cleared first, and *ret_text points into it.  Only regular files are read, and none of
 * /proc.
 *
 * Returns 0, or one of these, with the corresponding error->code:
 *   ACP_FILES_INVALID     ACP_ERR_RANGE (a path that is not absolute or outside the roots, a
 *                         negative number), ACP_ERR_LIMIT
 *   ACP_FILES_NOT_FOUND   ACP_ERR_MISSING
 *   ACP_FILES_FAILED      ACP_ERR_UTF8 (not UTF-8, or a NUL byte), ACP_ERR_STATE (the system's
 *                         reason is in the message), ACP_ERR_NOMEM, ACP_ERR_ARGUMENT, what a hook
 *                         returned
 *   as set by the guard   what the guard returned
 */
ACP_API int acp_files_read_sized(const struct acp_roots *roots, struct acp_str path,
                                 struct acp_opt_i64 line, struct acp_opt_i64 limit,
                                 const struct acp_files_options *options, size_t options_size,
                                 struct acp_buf *out, struct acp_str *ret_text,
                                 struct acp_files_error *error);
static inline int acp_files_read(const struct acp_roots *roots, struct acp_str path,
                                 struct acp_opt_i64 line, struct acp_opt_i64 limit,
                                 const struct acp_files_options *options, struct acp_buf *out,
                                 struct acp_str *ret_text, struct acp_files_error *error)
{
    return acp_files_read_sized(roots, path, line, limit, options, sizeof(*options), out, ret_text,
                                error);
}

/*
 * Opens a regular file in the roots for the caller to read.  The guard is asked; hooks and limits
 * do not apply.  FIFOs and devices are not opened.  Returns as acp_files_read(); *ret_fd is
 * close-on-exec and the caller's to close.
 */
ACP_API int acp_files_open_sized(const struct acp_roots *roots, struct acp_str path,
                                 const struct acp_files_options *options, size_t options_size,
                                 int *ret_fd, struct acp_files_error *error);
static inline int acp_files_open(const struct acp_roots *roots, struct acp_str path,
                                 const struct acp_files_options *options, int *ret_fd,
                                 struct acp_files_error *error)
{
    return acp_files_open_sized(roots, path, options, sizeof(*options), ret_fd, error);
}

/*
 * Writes a text file atomically: afterwards it has all of the text or, if the call failed, its old
 * content.  Missing directories are created.  The mode of an existing file is kept, without setuid
 * and setgid, and its owner if possible.  A file without write permission is not replaced, even if
 * its directory permits it.  If path is a symbolic link, its target is written.  Extended
 * attributes are not kept.
 *
 * Returns as acp_files_read(); a text that is not UTF-8 or has a NUL is ACP_ERR_UTF8 with
 * ACP_FILES_INVALID.
 */
ACP_API int acp_files_write_sized(const struct acp_roots *roots, struct acp_str path,
                                  struct acp_str text, const struct acp_files_options *options,
                                  size_t options_size, struct acp_files_error *error);
static inline int acp_files_write(const struct acp_roots *roots, struct acp_str path,
                                  struct acp_str text, const struct acp_files_options *options,
                                  struct acp_files_error *error)
{
    return acp_files_write_sized(roots, path, text, options, sizeof(*options), error);
}

#ifdef __cplusplus
}
#endif

#endif
