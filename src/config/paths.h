/*
 * paths.h - finds the home directory, XDG directories, projects, and programs in PATH; reads and
 * replaces whole files.
 *
 * An environment is a list of "NAME=value" that ends with NULL.  Paths are returned in memory of
 * the given arena.
 */
#ifndef SRC_CONFIG_PATHS_H
#define SRC_CONFIG_PATHS_H

#include "acp/base.h"

/* The maximum size of a file that people write by hand. */
enum { PATHS_MAX_FILE = 4 * 1024 * 1024 };

/* The value of a variable; NULL if it is unset or empty, as XDG requires. */
const char *paths_variable(const char *const *environment, const char *name);

/* HOME, else the home directory of this user; NULL if neither is an absolute path. */
const char *paths_home(const char *const *environment, struct acp_arena *arena);
/*
 * The directory "acp" for configuration, for state (trust, grants) and for data.  Not created.
 * NULL without a home directory or when out of memory.
 */
const char *paths_config_dir(const char *const *environment, struct acp_arena *arena);
const char *paths_state_dir(const char *const *environment, struct acp_arena *arena);
const char *paths_data_dir(const char *const *environment, struct acp_arena *arena);

/* Joins a directory and a name. */
const char *paths_join(struct acp_arena *arena, const char *folder, const char *name);
/*
 * Makes a path absolute: "~" and "~/x" are in the home directory, relative paths in base.  NULL
 * when out of memory, or without a home directory if it is needed.
 */
const char *paths_expand(struct acp_arena *arena, struct acp_str path, const char *base,
                         const char *home);
/* The path for messages, with "~" for the home directory. */
const char *paths_shorten(struct acp_arena *arena, const char *path, const char *home);

/*
 * The nearest directory that contains a file of that name, from `cwd` (absolute) upwards to the
 * root of a git repository, the home directory or "/".  NULL if there is none.
 */
const char *paths_find_upwards(struct acp_arena *arena, const char *cwd, const char *home,
                               const char *name);

/*
 * The program that a command starts: looked up in `path` (the value of PATH) if it has no slash.
 * NULL if there is no such executable.  Relative entries of PATH are skipped, because they would
 * refer to the project; so are entries in the directory `avoid`, which may be NULL.
 */
const char *paths_find_program(struct acp_arena *arena, const char *command, const char *path,
                               const char *avoid);

/*
 * Appends the content of a regular file.  0 or -errno; -ENOENT if there is none, -EFBIG if it
 * exceeds the maximum of the buffer.
 */
int paths_read_file(const char *path, struct acp_buf *out);
/*
 * The same for a file that decides what is run or permitted.  The file and all its parent
 * directories must belong to this user or root and must not be writable by others, except for
 * directories with the sticky bit such as /tmp.  Otherwise -EPERM, with a message in why that names
 * the offending file or directory.
 */
int paths_read_own_file(const char *path, struct acp_buf *out, struct acp_buf *why);
/*
 * The same for a secret: it must belong to this user and not be readable by others.
 */
int paths_read_private_file(const char *path, struct acp_buf *out, struct acp_buf *why);
/* The same for a directory for secrets; 0, or -EPERM with a message. */
int paths_check_private_folder(const char *folder, struct acp_buf *why);
/*
 * Before a secret of at most max bytes is written to a file in that directory: creates the
 * directory, and checks that other users can neither read nor replace it or the file.  0 or -errno,
 * with a message for -EPERM.
 */
int paths_prepare_private_file(const char *path, const char *folder, size_t max,
                               struct acp_buf *why);
/* Opens a regular file: a descriptor or -errno.  Reads an open file to its end. */
int paths_open_file(const char *path);
int paths_read_all(int fd, struct acp_buf *out);
/* Creates the parent directories of a file, private to this user as XDG requires.  0 or -errno. */
int paths_make_folders(const char *path);
/*
 * Replaces a file atomically, or creates it with that mode, and its parent directories.  A symbolic
 * link is followed: its target is replaced.  An existing file keeps its mode and owner.  0 or
 * -errno.
 */
int paths_write_file(const char *path, struct acp_str text, unsigned mode);
/*
 * Locks PATH.lock until the returned descriptor is closed, so that two processes do not edit the
 * file at once.  -errno; -EWOULDBLOCK if the lock cannot be acquired within two seconds.
 */
int paths_lock_file(const char *path);

#endif
