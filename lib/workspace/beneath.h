/*
 * beneath.h - opening and making things below a directory without ever leaving it, and paths as
 * text.  The guarded files stand on it; the policy and the ledger borrow the paths and the
 * replacing.
 *
 * Unlike the rest of the library these functions return -errno, because the system's reason is what
 * their callers have to tell.
 */
#ifndef LIB_WORKSPACE_BENEATH_H
#define LIB_WORKSPACE_BENEATH_H

#include <sys/types.h>

#include "acp/files.h"

struct stat;

/* What the kernel takes as one path, its NUL included, and as one name. */
enum { ACP_PATH_SIZE = 4096, ACP_NAME_SIZE = 256 };

/* ---- Paths as text -------------------------------------------------------------------------- */

/*
 * Writes an absolute path without "//", ".", ".." and a slash at the end; out has ACP_PATH_SIZE
 * bytes.  *ret_directory, which may be NULL, tells whether the path as given can only name a
 * directory.  -EINVAL (empty, relative, a NUL in it), -ENAMETOOLONG.
 */
int acp_path_normal(struct acp_str path, char *out, bool *ret_directory);

/* Whether the normal path is the directory or lies in it; ret_rest is without a leading slash. */
bool acp_path_within(const char *path, const char *directory, const char **ret_rest);

/*
 * The path after all symbolic links, also of one that is not there yet; a relative one is taken to
 * be below the working directory.  Not possible (-errno) where a link dangles, because it is not
 * known what will be there.
 */
int acp_path_real(const char *path, char *out);

/* The first byte that is NUL or no part of well-formed UTF-8; text.len when there is none. */
size_t acp_text_check(struct acp_str text);

/* ---- Below a directory ---------------------------------------------------------------------- */

struct acp_beneath {
    int fd;     /* the directory; stays its owner's */
    bool whole; /* it is "/": absolute links do not leave it */
    bool walk;  /* do without openat2 */
};

/*
 * Opens what is there; O_CREAT is not for here.  -EXDEV when the path, or a link on it, leaves the
 * directory.  The descriptor is close-on-exec.
 */
int acp_beneath_open(const struct acp_beneath *root, const char *path, int flags);
/* Opens a directory for use as a place, making what is missing of it. */
int acp_beneath_make(const struct acp_beneath *root, const char *path);
/*
 * Where a write to path has to go: the directory, made if missing, and the name in it, after the
 * links that the path may end in.  name has ACP_NAME_SIZE bytes.
 */
int acp_beneath_target(const struct acp_beneath *root, const char *path, char *name);
/* Files of /proc are not ordinary ones: they tell about us, and links there lead anywhere. */
bool acp_beneath_in_proc(int fd);

/* How a directory is opened that is only a place to start from. */
int acp_place_flags(void);

/*
 * Puts a file with that text in the place of `name` in one step.  old, when not NULL, is the file
 * whose mode and owner it gets; otherwise it gets that mode, less the umask.
 */
int acp_replace_at(int dir, const char *name, struct acp_str text, const struct stat *old,
                   mode_t mode, bool sync);

/* ---- Between the files*.c ------------------------------------------------------------------- */

/*
 * Walks the roots that hold the normal path, innermost first: start with *cursor 0; false at the
 * end.
 */
bool acp_roots_next(const struct acp_roots *roots, const char *path, bool walk, size_t *cursor,
                    struct acp_beneath *ret_root, const char **ret_rest);

/* Fill the error, which may be NULL, and return err. */
int acp_files_fail(struct acp_files_error *error, int err, int64_t code, const char *format, ...)
    ACP_PRINTF(4, 5);
/* From -errno: outside, not found, or the system's reason; verb is "read" or "write". */
int acp_files_fail_system(struct acp_files_error *error, int reason, const char *verb,
                          const char *path);

struct acp_files_lines {
    uint64_t first; /* from 1 */
    uint64_t count; /* UINT64_MAX: all */
    bool whole;     /* neither was asked for */
};

/* The slice of a text, or of what a descriptor gives, appended to out. */
int acp_files_take_text(struct acp_str text, const struct acp_files_lines *lines,
                        const struct acp_files_options *options, struct acp_buf *out,
                        const char *path, struct acp_files_error *error);
int acp_files_take_file(int fd, const struct acp_files_lines *lines,
                        const struct acp_files_options *options, struct acp_buf *out,
                        const char *path, struct acp_files_error *error);
/* Writes below one root; 0 or -errno. */
int acp_files_put(const struct acp_beneath *root, const char *path, struct acp_str text, bool sync);

#endif
