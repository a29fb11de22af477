/*
 * files.h - the files that a client reads and writes for an agent, and never one outside of the
 * session's roots.
 *
 * The roots are the session's working directory and its additional directories.  Each is opened
 * once and kept, so a directory that is renamed or replaced later changes nothing.  A path is
 * checked in three steps:
 *
 *   1. As text: it must be absolute; "//" and "/." vanish and ".." takes away the name before it,
 *      as editors do it.  So what is asked about, matched by the policy, and opened, is one path.
 *      It must begin with the name of a root, the one it was given by or its real one.
 *   2. By the kernel: what remains is resolved beneath the root's descriptor (openat2 with
 *      RESOLVE_BENEATH; where that is missing, name by name without following links).  A symbolic
 *      link that leaves the root is refused, even if it comes back; so is an absolute one, unless
 *      the root is "/".  Of several roots that hold the path the innermost is tried first.
 *
 *   3. By the guard, when the options have one: it is asked about the real path of what was opened,
 *      not about the name that was given, and the same descriptor is used afterwards.  Swapping a
 *      link between the two changes nothing.
 *
 * Hard links cannot be told from files and are read like them: a rule about a path does not cover
 * the other names of the file.  Making one takes write access to the root and, where the kernel
 * protects hard links, to the file; none leads out of a sandbox, whose roots are mounts of their
 * own.  A write replaces the name, so the file's other names keep what they had.
 *
 *     struct acp_roots *roots;
 *     struct acp_files_error error;
 *     struct acp_buf buf;
 *     struct acp_str text;
 *     err = acp_roots_new(acp_str_from("/home/me/project"), (struct acp_str_list){0}, &roots,
 *           &failure);
 *     acp_buf_init(&buf, ACP_FILES_MAX_BYTES);
 *     err = acp_files_read(roots, path, (struct acp_opt_i64){0}, (struct acp_opt_i64){0}, NULL,
 *                          &buf, &text, &error);
 *     if (err)
 *         acp_client_respond_error(client, call, error.code, acp_str_from(error.message),
 *               acp_raw_from(NULL));
 *
 * The calls block like open() and read() do.  Roots do not change after they were made, so several
 * threads may use them at a time.  struct acp_files_error is the one error text here: it is what
 * the agent is told.
 */
#ifndef ACP_FILES_H
#define ACP_FILES_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Roots ---------------------------------------------------------------------------------- */

struct acp_roots;

/* Each root is an open descriptor, and an agent's peer chooses how many there are. */
enum { ACP_ROOTS_MAX = 128 };

/*
 * Opens the directories; all must be absolute and there.  Names that occur twice count once.
 * ACP_ERR_RANGE (empty or relative), ACP_ERR_LIMIT, ACP_ERR_STATE (with the system's reason),
 * ACP_ERR_NOMEM; failure->path is "cwd" or "additionalDirectories[1]".
 */
ACP_API int acp_roots_new(struct acp_str cwd, struct acp_str_list additional,
                          struct acp_roots **ret_roots, struct acp_failure *failure);
ACP_API void acp_roots_free(struct acp_roots *roots);

/* The first is the working directory; the texts are absolute, tidy and NUL-terminated. */
ACP_API size_t acp_roots_count(const struct acp_roots *roots);
ACP_API struct acp_str acp_roots_path(const struct acp_roots *roots, size_t index);

/*
 * Whether the path lies in a root now, decided as above; also for one that is yet to be made.  For
 * what somebody else is going to do with it, such as the directory of a terminal.
 */
ACP_API bool acp_roots_contain(const struct acp_roots *roots, struct acp_str path);

/* ---- Options -------------------------------------------------------------------------------- */

/* The most that one read returns or one write takes. */
#define ACP_FILES_MAX_BYTES ((size_t) 10 * 1024 * 1024)
/* The most that is passed over to reach a line: a sparse file costs nothing and reads for hours. */
#define ACP_FILES_MAX_SCAN ((uint64_t) 1024 * 1024 * 1024)

/*
 * For editors: texts that are not on the disk.  The path is tidy and has been found to lie in a
 * root before either is called.  Both may be NULL.
 */
struct acp_files_hooks {
    /*
     * 1 with the whole text of an unsaved buffer, valid until the read returns; 0 when the disk has
     * it.  Line, limit and sizes are cut to here.  Negative: enum acp_err.
     */
    int (*read)(struct acp_str path, struct acp_str *ret_text, void *user);
    /* 1 when the text was taken, 0 when it is for the disk.  Negative: enum acp_err. */
    int (*write)(struct acp_str path, struct acp_str text, void *user);
    void *user;
    void *reserved[2];
};

struct acp_files_error;

/*
 * Decides whether a file may be used, once it is known which one that is.  path is absolute and
 * real: it begins with the real path of a root, and none of the names below it was a link.  For
 * directories that a write has to make first it is asked twice, before and after.
 *
 * 0 to go on; a negative enum acp_err ends the call with it and with *error, which is never NULL.
 */
struct acp_files_guard {
    int (*check)(struct acp_str path, bool writes, struct acp_files_error *error, void *user);
    void *user;
    void *reserved[2];
};

/* Zeroed memory means the defaults, and so does NULL instead of it. */
struct acp_files_options {
    size_t max_bytes;  /* 0: ACP_FILES_MAX_BYTES */
    uint64_t max_scan; /* 0: ACP_FILES_MAX_SCAN */
    bool sync;         /* a write is on the disk before it returns; costs milliseconds */
    bool walk;         /* resolve without openat2, as where the kernel has none */
    const struct acp_files_hooks *hooks;
    const struct acp_files_guard *guard; /* NULL: everything in the roots may be used */
    uint64_t reserved[3];
};

/* ---- Errors --------------------------------------------------------------------------------- */

/*
 * What the agent is told: a JSON-RPC code and a sentence.
 *   -32602  outside of the workspace, too large, a path or line that cannot be, text not UTF-8
 *   -32002  there is no such file; acp_files_not_found_data() has the data to go with it
 *   -32603  everything else, with the system's reason
 */
struct acp_files_error {
    int64_t code;
    char message[256]; /* UTF-8, without a final stop */
};

enum { ACP_FILES_INVALID = -32602, ACP_FILES_NOT_FOUND = -32002, ACP_FILES_FAILED = -32603 };

/* Appends {"uri":"file:///..."}. */
ACP_API int acp_files_not_found_data(struct acp_str path, struct acp_buf *out);
/* Appends the path as a file: URI, with all but unreserved characters and slashes in percents. */
ACP_API int acp_file_uri(struct acp_str path, struct acp_buf *out);
/*
 * Appends the absolute path that a file: URI names; query and fragment are left out.  ACP_ERR_TYPE
 * for a URI of another kind, ACP_ERR_RANGE for another host and for what no path can hold.
 */
ACP_API int acp_file_path(struct acp_str uri, struct acp_buf *out);

/* ---- Reading and writing -------------------------------------------------------------------- */

/*
 * Reads a text, or `limit` lines of it from `line` on, which counts from 1; absent and null mean
 * all of it.  Lines end at '\n', which belongs to them; nothing about "\r\n" is changed.  A line
 * behind the end gives the empty text.  No more is read than what is needed to get there.
 *
 * out is cleared first and *ret_text points into it.  Only regular files are read, nothing of
 * /proc, and nothing that has a NUL byte or is not UTF-8 in what was read.
 *
 * Returns 0 or what corresponds to error->code: ACP_ERR_RANGE and ACP_ERR_LIMIT (-32602),
 * ACP_ERR_MISSING (-32002), ACP_ERR_UTF8, ACP_ERR_STATE, ACP_ERR_NOMEM (-32603), or what the hook
 * returned.
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
 * Opens a regular file to be read by the caller: below the roots, decided by the guard, never
 * waiting for a FIFO and never touching a device.  Hooks are not asked and sizes not limited.
 * Returns as acp_files_read() does; *ret_fd is close-on-exec and the caller's to close.
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
 * Makes the file have that text: all of it or, when anything fails, what it had before.  Missing
 * directories are made.  An old file's mode is kept (but for setuid and setgid, which a change of
 * content must end), and its owner where we may.  A file that we may not write is not replaced,
 * though its directory would let us.  Through a symbolic link its target is replaced or made, and
 * the link stays.  Extended attributes are not carried over.
 *
 * The text must be UTF-8 without NUL.  Returns as acp_files_read() does.
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
