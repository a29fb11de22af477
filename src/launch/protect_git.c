/*
 * What of a git repository runs programs when git is used outside of the sandbox later: `config`
 * (core.fsmonitor, core.hooksPath, filters, aliases), `config.worktree`, `hooks`, `commondir`,
 * which says where those are, and the repositories of submodules and worktrees, which have the same
 * in them.  All else in it (objects, refs, the index) is data, and git commands may write it.
 */
#define _GNU_SOURCE /* strcasestr */
#include "launch/protect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, MAX_CONFIG = 256 * 1024 };

enum kind { KIND_MISSING, KIND_FILE, KIND_DIRECTORY, KIND_LINK, KIND_OTHER };

static enum kind kind_of(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return KIND_MISSING;
    return S_ISREG(st.st_mode)   ? KIND_FILE
           : S_ISDIR(st.st_mode) ? KIND_DIRECTORY
           : S_ISLNK(st.st_mode) ? KIND_LINK
                                 : KIND_OTHER;
}

static enum kind kind_in(const char *folder, const char *name)
{
    char path[PATH_SIZE];
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
    return n > 0 && n < PATH_SIZE ? kind_of(path) : KIND_OTHER;
}

/* The whole of a small file, to be freed; NULL when it cannot be read or is longer. */
static char *read_small(const char *folder, const char *name, size_t max)
{
    char path[PATH_SIZE];
    char *text = malloc(max + 1);
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = text && n > 0 && n < PATH_SIZE
                 ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                 : -1;
    ssize_t len = fd >= 0 ? read(fd, text, max + 1) : -1;
    if (fd >= 0)
        (void) close(fd);
    if (len < 0 || (size_t) len > max) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    return text;
}

/* ---- A repository --------------------------------------------------------------------------- */

static bool is_repository(const char *folder)
{
    return kind_in(folder, "HEAD") == KIND_FILE && kind_in(folder, "objects") == KIND_DIRECTORY &&
           kind_in(folder, "config") == KIND_FILE;
}

/* Whether git reads config.worktree here; an unreadable config may say so. */
static bool has_worktree_config(const char *folder)
{
    char *config = read_small(folder, "config", MAX_CONFIG);
    bool has = !config || strcasestr(config, "worktreeconfig");
    free(config);
    return has;
}

/* ---- commondir ------------------------------------------------------------------------------ */

/*
 * A file `commondir` in a repository says where its configuration is.  With this in it, that is the
 * repository itself, as it is without the file.
 */
static const char commondir_stub[] = ".\n";

int protect_make_commondir(const char *path)
{
    char temp[PATH_SIZE];
    int n = snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
    int fd = n > 0 && n < PATH_SIZE ? mkostemp(temp, O_CLOEXEC) : -1;
    if (fd < 0)
        return -errno;
    /* It appears with its text: git fails on an empty one. */
    bool good = fchmod(fd, 0644) == 0 && write(fd, commondir_stub, strlen(commondir_stub)) ==
                                             (ssize_t) strlen(commondir_stub);
    int err = good && link(temp, path) == 0 ? 0 : -errno;
    (void) close(fd);
    (void) unlink(temp);
    return err;
}

static bool is_commondir_stub(const char *folder)
{
    char *text = read_small(folder, "commondir", PATH_SIZE);
    bool is = text && strcmp(text, commondir_stub) == 0;
    free(text);
    return is;
}

void protect_remove_commondir(const char *path)
{
    char folder[PATH_SIZE];
    size_t len = strlen(path) - strlen("/commondir");
    if (len >= sizeof(folder))
        return;
    memcpy(folder, path, len);
    folder[len] = '\0';
    if (is_commondir_stub(folder))
        (void) unlink(path);
}

static int protect_commondir(struct protect_list *list, const char *folder,
                             struct acp_failure *failure)
{
    bool stub = kind_in(folder, "commondir") == KIND_MISSING || is_commondir_stub(folder);
    int err = protect_name(list, folder, "commondir", failure);
    if (!err && stub)
        list->entries[list->count - 1].stub = STUB_COMMONDIR;
    return err;
}

/* ---- Its entries ---------------------------------------------------------------------------- */

/* The repository itself is in the list already, and can be written. */
static int protect_repository(struct protect_list *list, const char *folder,
                              struct acp_failure *failure)
{
    static const char *const existing[] = {"config.worktree", "gitdir", "modules", "worktrees"};
    int err = protect_name(list, folder, "config", failure);
    if (!err)
        err = protect_commondir(list, folder, failure);
    if (!err)
        err = protect_name(list, folder, "hooks", failure);
    for (size_t i = 0; i < sizeof(existing) / sizeof(existing[0]) && !err; i++)
        if (kind_in(folder, existing[i]) != KIND_MISSING)
            err = protect_name(list, folder, existing[i], failure);
    return err;
}

/* One that lies in a root, or in a `.git` there. */
static int protect_directory(struct protect_list *list, const char *folder,
                             struct acp_failure *failure)
{
    bool writable =
        list->commits && is_repository(folder) &&
        (kind_in(folder, "config.worktree") != KIND_MISSING || !has_worktree_config(folder));
    int err = protect_add(list, writable ? PROTECT_GITDIR : PROTECT_READ, folder);
    return err || !writable ? err : protect_repository(list, folder, failure);
}

/* ---- A repository elsewhere ----------------------------------------------------------------- */

/* Resolves a path as it stands in a file of a folder, into out. */
static bool resolve(const char *folder, const char *text, char *out)
{
    char path[PATH_SIZE];
    size_t len = strcspn(text, "\r\n");
    int n = text[0] == '/' ? snprintf(path, sizeof(path), "%.*s", (int) len, text)
                           : snprintf(path, sizeof(path), "%s/%.*s", folder, (int) len, text);
    return len > 0 && len < PATH_SIZE && n > 0 && n < PATH_SIZE && realpath(path, out);
}

static bool resolve_file(const char *folder, const char *name, const char *prefix, char *out)
{
    char *text = read_small(folder, name, PATH_SIZE);
    size_t n = strlen(prefix);
    bool resolved = text && strncmp(text, prefix, n) == 0 && resolve(folder, text + n, out);
    free(text);
    return resolved;
}

/*
 * A `.git` file can come with any archive and name any folder, so the repository must point back:
 * a worktree's `gitdir` to the file, ...
 */
static bool is_worktree_of(const char *gitdir, const char *root)
{
    char back[PATH_SIZE];
    char own[PATH_SIZE];
    int n = snprintf(own, sizeof(own), "%s/.git", root);
    return n > 0 && n < PATH_SIZE && resolve_file(gitdir, "gitdir", "", back) &&
           strcmp(back, own) == 0;
}

/* ... a submodule's core.worktree to the root. */
static bool is_submodule_of(const char *gitdir, const char *root)
{
    char *config = read_small(gitdir, "config", MAX_CONFIG);
    char back[PATH_SIZE];
    bool found = false;
    for (const char *at = config ? strstr(config, "worktree = ") : NULL; at && !found;
         at = strstr(at + 1, "worktree = "))
        found = resolve(gitdir, at + strlen("worktree = "), back) && strcmp(back, root) == 0;
    free(config);
    return found && is_repository(gitdir);
}

/* The same where nothing of it is to be written. */
static int protect_read_elsewhere(struct protect_list *list, const char *root, const char *gitdir)
{
    char common[PATH_SIZE];
    if (is_submodule_of(gitdir, root))
        return protect_add(list, PROTECT_READ, gitdir);
    if (is_worktree_of(gitdir, root) && resolve_file(gitdir, "commondir", "", common) &&
        is_repository(common))
        return protect_add(list, PROTECT_READ, common);
    return 0;
}

static int protect_elsewhere(struct protect_list *list, const char *root,
                             struct acp_failure *failure)
{
    char gitdir[PATH_SIZE];
    char common[PATH_SIZE];
    if (!resolve_file(root, ".git", "gitdir: ", gitdir))
        return 0;
    if (!list->commits)
        return protect_read_elsewhere(list, root, gitdir);
    if (is_submodule_of(gitdir, root)) {
        int err = protect_add(list, PROTECT_GITDIR, gitdir);
        return err ? err : protect_repository(list, gitdir, failure);
    }
    if (!is_worktree_of(gitdir, root) || !resolve_file(gitdir, "commondir", "", common) ||
        !is_repository(common))
        return 0; /* git will not work in the sandbox */
    int err = protect_add(list, PROTECT_GITDIR, common);
    if (!err)
        err = protect_repository(list, common, failure);
    /* Of the worktrees, which are protected as a whole, this one. */
    if (!err)
        err = protect_add(list, PROTECT_GITDIR, gitdir);
    static const char *const own[] = {"commondir", "gitdir", "config.worktree"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]) && !err; i++)
        if (kind_in(gitdir, own[i]) != KIND_MISSING)
            err = protect_name(list, gitdir, own[i], failure);
    return err;
}

int protect_git(struct protect_list *list, const char *root, struct acp_failure *failure)
{
    char path[PATH_SIZE];
    int err = 0;
    int n = snprintf(path, sizeof(path), "%s/.git", root);
    if (n < 0 || n >= PATH_SIZE)
        return protect_fail(failure, ACP_ERR_RANGE, "The path of a root is too long");
    enum kind kind = kind_of(path);
    if (kind == KIND_DIRECTORY && is_repository(path))
        return protect_directory(list, path, failure);
    /* A link is refused here; a file, a broken repository or a missing one can be read only. */
    err = protect_name(list, root, ".git", failure);
    if (!err && kind == KIND_FILE)
        return protect_elsewhere(list, root, failure);
    /* Without a repository in `.git` git takes the root itself for one that has these. */
    if (!err && is_repository(root) && list->commits)
        return protect_repository(list, root, failure);
    return err ? err
               : protect_name(list, root,
                              kind_in(root, "HEAD") == KIND_MISSING ? "HEAD" : "objects", failure);
}
