/*
 * paths.h - where things are on this machine: the home directory, the XDG folders, the project
 * that a folder belongs to, programs in PATH; and files read and replaced as a whole.
 *
 * An environment is a list of "NAME=value" that ends with NULL.  Paths are returned in memory of
 * the arena that is given.
 */
#ifndef SRC_CONFIG_PATHS_H
#define SRC_CONFIG_PATHS_H

#include "acp/base.h"

/* No file of ours or of a project that people write by hand is larger. */
enum { PATHS_MAX_FILE = 4 * 1024 * 1024 };

/* The value of a variable, or NULL; also NULL when it is empty, as XDG wants it. */
const char *paths_variable(const char *const *environment, const char *name);

/* HOME, or what the system says of this user; NULL when neither is an absolute path. */
const char *paths_home(const char *const *environment, struct acp_arena *arena);
/*
 * The folder "acp" for configuration, for state (what we remember: trust, grants, logs) and for
 * data.  Not made.  NULL without a home or memory.
 */
const char *paths_config_dir(const char *const *environment, struct acp_arena *arena);
const char *paths_state_dir(const char *const *environment, struct acp_arena *arena);
const char *paths_data_dir(const char *const *environment, struct acp_arena *arena);

/* folder/name. */
const char *paths_join(struct acp_arena *arena, const char *folder, const char *name);
/*
 * A path as people write it, made absolute: "~" and "~/x" are below home, relative ones below base.
 * NULL without memory, or without a home where one is needed.
 */
const char *paths_expand(struct acp_arena *arena, struct acp_str path, const char *base,
                         const char *home);
/* The same for people: with "~" where it lies below home. */
const char *paths_shorten(struct acp_arena *arena, const char *path, const char *home);

/*
 * The first folder from `cwd` (absolute) upwards that has a file of that name in it; the last one
 * looked at is the root of a git repository, the home directory, or "/".  NULL when there is none.
 */
const char *paths_find_upwards(struct acp_arena *arena, const char *cwd, const char *home,
                               const char *name);

/*
 * The file that would be started for a command: looked up in `path` (the value of PATH) when it has
 * no slash.  NULL when nothing executable is there.  Entries of PATH that are relative do not
 * count: what they mean would depend on the project that we are in.  Neither do those in the folder
 * `avoid`, which may be NULL.
 */
const char *paths_find_program(struct acp_arena *arena, const char *command, const char *path,
                               const char *avoid);

/*
 * Appends a whole regular file.  0, or -errno; -ENOENT when there is none, -EFBIG when it is more
 * than the buffer takes.
 */
int paths_read_file(const char *path, struct acp_buf *out);
/*
 * The same for a file that decides what is run or permitted.  It and all folders above it must
 * belong to this user or to root, and nobody else may be able to write to them, but for folders
 * with the sticky bit such as /tmp.  -EPERM otherwise, with a sentence appended to why that says
 * which of them it is.
 */
int paths_read_own_file(const char *path, struct acp_buf *out, struct acp_buf *why);
/*
 * The same for a secret: it must belong to this user, and nobody else may be able to read it.
 */
int paths_read_private_file(const char *path, struct acp_buf *out, struct acp_buf *why);
/* The same for a folder that secrets are put into; 0, or -EPERM with a sentence. */
int paths_check_private_folder(const char *folder, struct acp_buf *why);
/* The parts of both: a descriptor of a regular file or -errno; all that it has. */
int paths_open_file(const char *path);
int paths_read_all(int fd, struct acp_buf *out);
/* Makes the folders above a file, for this user alone as XDG asks.  0 or -errno. */
int paths_make_folders(const char *path);
/*
 * Replaces a file in one step, or makes it with that mode, and the folders above it.  A symbolic
 * link stays one: what it points to is replaced.  An old file keeps its mode and owner.  0 or
 * -errno.
 */
int paths_write_file(const char *path, struct acp_str text, unsigned mode);
/*
 * A descriptor that holds the lock beside a file (PATH.lock) until it is closed, so that two
 * processes do not edit it at once; -errno, -EWOULDBLOCK when it is not to be had for two seconds.
 */
int paths_lock_file(const char *path);

#endif
