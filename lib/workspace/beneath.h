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
    int fd;           /* the directory; stays its owner's */
    bool whole;       /* it is "/": absolute links do not leave it */
    bool walk;        /* do without openat2 */
    const char *real; /* its path without links, when it was opened; NULL: nobody asks for it */
};

/*
 * What a path leads to after all links: a name in a directory that is open.  Whatever is opened or
 * replaced through these two lies at `path`, however the links on the way change afterwards.
 */
struct acp_beneath_target {
    int dir; /* to be closed by the caller */
    char name[ACP_NAME_SIZE];
    char path[ACP_PATH_SIZE]; /* from the root, without links */
};

/*
 * Opens what is there; O_CREAT is not for here.  -EXDEV when the path, or a link on it, leaves the
 * directory.  The descriptor is close-on-exec.
 */
int acp_beneath_open(const struct acp_beneath *root, const char *path, int flags);
/* Opens a directory for use as a place, making what is missing of it. */
int acp_beneath_make(const struct acp_beneath *root, const char *path);
/* Opens a directory as a place; ret_path is where it is, from the root and without links. */
int acp_beneath_open_place(const struct acp_beneath *root, const char *path, char *ret_path);
/*
 * Follows the links that the path may end in.  The name itself need not exist; missing directories
 * are made when `make` says so.  -EISDIR for what can only be a directory.
 */
int acp_beneath_find(const struct acp_beneath *root, const char *path, bool make,
                     struct acp_beneath_target *ret);
/* Files of /proc are not ordinary ones: they tell about us, and links there lead anywhere. */
bool acp_beneath_in_proc(int fd);

/* How a directory is opened that is only a place to start from. */
int acp_place_flags(void);

/* Writes all of it; 0 or -errno. */
int acp_write_all(int fd, struct acp_str text);

/* A file that is being written beside the one whose place it will take. */
struct acp_replacement {
    int dir; /* borrowed */
    int fd;  /* what is written to */
    char beside[40];
};

int acp_replace_begin(int dir, mode_t mode, struct acp_replacement *ret);
/* Puts it in the place of `name`, or removes it when err is not 0; returns err or its own. */
int acp_replace_end(struct acp_replacement *r, const char *name, const struct stat *old, bool sync,
                    int err);
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

/* The options have members that are not known here. */
int acp_files_fail_options(struct acp_files_error *error, int err);

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

/* Fills what was left at zero. */
struct acp_files_options acp_files_filled(const struct acp_files_options *given);
/*
 * What a normal path leads to below the innermost root that holds it.  0 or -errno; -ENOENT when a
 * directory on the way is missing and `make` is false.
 */
int acp_files_find(const struct acp_roots *roots, const char *path, bool make, bool walk,
                   struct acp_beneath *ret_root, struct acp_beneath_target *ret);
/*
 * The real path that a normal path leads to, also of what does not exist yet: ret has ACP_PATH_SIZE
 * bytes.  0 or -errno.
 */
int acp_files_real(const struct acp_roots *roots, const char *path, bool walk, char *ret);
/*
 * Opens the directory that a normal path leads to, as a place; ret_real, of ACP_PATH_SIZE bytes, is
 * its real path.  A descriptor or -errno.
 */
int acp_files_open_place(const struct acp_roots *roots, const char *path, bool walk,
                         char *ret_real);
/* The path below a root as an absolute one, by the root's real path. */
int acp_beneath_absolute(const struct acp_beneath *root, const char *path, char *ret);
/* Asks the guard, if there is one, about a real path: 0, or its error with a message. */
int acp_files_ask(const struct acp_files_options *options, const char *real, bool writes,
                  struct acp_files_error *error);
/* Replaces or makes the file that a target stands for; 0 or -errno. */
int acp_files_put(const struct acp_beneath_target *target, struct acp_str text, bool sync);

#endif
