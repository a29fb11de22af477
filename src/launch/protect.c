/* The names that are protected in a root and in a home, and the stubs of those that are missing. */
#define _GNU_SOURCE /* realpath */
#include "launch/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STUB_MODE = 01755, PATH_SIZE = 4096 };

/* In every root. */
static const char *const project_names[] = {
    ".acp",    /* our own configuration and commands of the project */
    ".agents", /* instructions and skills for agents, as are the next */
    ".claude",   ".codex",        ".cursor", ".gemini",
    ".opencode", ".qwen",         ".zed",    ".mcp.json", /* programs that agents start */
    ".vscode", /* tasks that run when the folder is opened, as in the next two */
    ".idea",     ".devcontainer", ".envrc", /* direnv runs it on entering the folder */
};

/* Only where they are: folders to which core.hooksPath points by custom. */
static const char *const existing_names[] = {".husky", ".githooks"};

/*
 * In a home directory every entry with a dot is hidden: that is where keys, logins, histories and
 * our own state are.  Of those that are missing, these would be obeyed by what runs outside.
 */
static const char *const home_names[] = {
    ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile",    ".bashrc",
    ".cache",        ".cargo",      ".config",      ".docker",          ".emacs",
    ".emacs.d",      ".gdbinit",    ".gitconfig",   ".gnupg",           ".inputrc",
    ".kube",         ".local",      ".npmrc",       ".pam_environment", ".profile",
    ".pythonrc.py",  ".screenrc",   ".ssh",         ".tmux.conf",       ".vim",
    ".vimrc",        ".xinitrc",    ".xprofile",    ".xsession",        ".xsessionrc",
    ".zlogin",       ".zlogout",    ".zprofile",    ".zshenv",          ".zshrc",
    "bin", /* in PATH on many systems */
};

/* Not roots, nor what contains one of them. */
static const char *const system_places[] = {"/bin", "/boot", "/dev", "/etc", "/lib", "/proc",
                                            "/run", "/sbin", "/sys", "/tmp", "/usr", "/var"};
/* Nor may a root lie in these. */
static const char *const kernel_places[] = {"/dev", "/proc", "/sys"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int protect_fail(struct acp_failure *failure, int err, const char *format, ...)
{
    va_list args;
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    va_start(args, format);
    (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
    va_end(args);
    return err;
}

/* ---- The list ------------------------------------------------------------------------------- */

int protect_add(struct protect_list *list, enum protect_how how, const char *path)
{
    struct stat st;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 32;
        void *grown =
            acp_arena_grow(list->arena, list->entries, list->room * sizeof(*list->entries),
                           room * sizeof(*list->entries));
        if (!grown)
            return ACP_ERR_NOMEM;
        list->entries = grown;
        list->room = room;
    }
    struct acp_str copy = acp_arena_copy(list->arena, acp_str_from(path));
    if (!copy.ptr)
        return ACP_ERR_NOMEM;
    bool missing = lstat(path, &st) != 0;
    /* What an earlier run has left behind, or another one needs now, is a stub of ours as well. */
    if (!missing && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX))
        missing = true;
    list->entries[list->count++] =
        (struct protect_entry){copy.ptr, how, missing ? STUB_DIRECTORY : STUB_NONE};
    return 0;
}

static bool join(char *out, const char *folder, const char *name)
{
    int n = snprintf(out, PATH_SIZE, "%s/%s", folder, name);
    return n > 0 && n < PATH_SIZE;
}

int protect_name(struct protect_list *list, const char *folder, const char *name,
                 struct acp_failure *failure)
{
    struct stat st;
    char path[PATH_SIZE];
    if (!join(path, folder, name))
        return protect_fail(failure, ACP_ERR_RANGE, "The path of a root is too long");
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return protect_fail(failure, ACP_ERR_STATE,
                            "%s is a symbolic link, which a sandbox cannot protect; replace it by "
                            "what it points to",
                            path);
    return protect_add(list, PROTECT_READ, path);
}

/* Whether path is the folder or lies in it. */
static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* ---- Homes and what is hidden --------------------------------------------------------------- */

/* Pins every directory from below the root to the path, that one excluded. */
static int pin_way(struct protect_list *list, const char *root, const char *path)
{
    char way[PATH_SIZE];
    int err = 0;
    for (const char *at = strchr(path + strlen(root) + 1, '/'); at && !err;
         at = strchr(at + 1, '/')) {
        (void) snprintf(way, sizeof(way), "%.*s", (int) (at - path), path);
        err = protect_add(list, PROTECT_PIN, way);
    }
    return err;
}

static int hide(struct protect_list *list, const char *path)
{
    struct stat st;
    if (lstat(path, &st) || S_ISLNK(st.st_mode))
        return 0;
    return protect_add(list, S_ISDIR(st.st_mode) ? PROTECT_HIDE_DIRECTORY : PROTECT_HIDE_FILE,
                       path);
}

static bool is_home_name(const char *name)
{
    for (size_t i = 0; i < COUNT(home_names); i++)
        if (strcmp(name, home_names[i]) == 0)
            return true;
    return false;
}

/* A link to a start file could be replaced, and the file it leads to may lie in the root. */
static int hide_entry(struct protect_list *list, const char *home, const char *name,
                      struct acp_failure *failure)
{
    struct stat st;
    char path[PATH_SIZE];
    if (!join(path, home, name) || lstat(path, &st))
        return 0;
    if (S_ISLNK(st.st_mode) && is_home_name(name))
        return protect_name(list, home, name, failure);
    return hide(list, path);
}

static int protect_home(struct protect_list *list, const char *home, struct acp_failure *failure)
{
    int err = 0;
    DIR *dir = opendir(home);
    if (!dir)
        return protect_fail(failure, ACP_ERR_STATE, "The home directory %s cannot be read: %s",
                            home, strerror(errno));
    for (struct dirent *entry = readdir(dir); entry && !err; entry = readdir(dir))
        if (entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, ".git") != 0)
            err = hide_entry(list, home, entry->d_name, failure);
    (void) closedir(dir);
    for (size_t i = 0; i < COUNT(home_names) && !err; i++) {
        char path[PATH_SIZE];
        bool hidden =
            home_names[i][0] == '.' && join(path, home, home_names[i]) && access(path, F_OK) == 0;
        if (!hidden)
            err = protect_name(list, home, home_names[i], failure);
    }
    return err;
}

/* Our own state, wherever the user has put it; what is given; and where sockets are. */
static int hide_others(struct protect_list *list, const struct protect_options *options,
                       const char *root)
{
    static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
                                            "XDG_CACHE_HOME"};
    char path[PATH_SIZE];
    char real[PATH_SIZE];
    int err = 0;
    for (size_t i = 0; i < COUNT(variables) + 1 + options->hidden.count && !err; i++) {
        size_t given = i - COUNT(variables) - 1;
        const char *value = i < COUNT(variables)    ? getenv(variables[i])
                            : i == COUNT(variables) ? getenv("XDG_RUNTIME_DIR")
                                                    : options->hidden.items[given].ptr;
        if (!value || value[0] != '/' || !join(path, value, i < COUNT(variables) ? "acp" : ".") ||
            !realpath(path, real) || !lies_in(real, root) || strcmp(real, root) == 0)
            continue;
        err = pin_way(list, root, real);
        if (!err)
            err = hide(list, real);
    }
    return err;
}

/* ---- Roots ---------------------------------------------------------------------------------- */

static int check_root(const char *root, struct acp_failure *failure)
{
    bool bad = strcmp(root, "/") == 0;
    for (size_t i = 0; i < COUNT(system_places); i++)
        bad = bad || lies_in(system_places[i], root);
    for (size_t i = 0; i < COUNT(kernel_places); i++)
        bad = bad || lies_in(root, kernel_places[i]);
    if (bad)
        return protect_fail(failure, ACP_ERR_RANGE,
                            "%s belongs to the system and cannot be written in a sandbox; start in "
                            "a folder of your own",
                            root);
    return 0;
}

static int lock_root(struct protect_list *list, const char *root, struct acp_failure *failure)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return protect_fail(failure, ACP_ERR_MISSING, "The root %s cannot be opened: %s", root,
                            strerror(errno));
    /* Who has it alone removes stubs, and is done at once.  Not every file system has locks. */
    (void) flock(fd, LOCK_SH);
    list->locks[list->lock_count++] = fd;
    return 0;
}

/* A home directory in the root, or the root itself. */
static int find_home(struct protect_list *list, const char *root, const char *home,
                     struct acp_failure *failure)
{
    list->has_home = true;
    int err = 0;
    if (strcmp(home, root) != 0) {
        err = pin_way(list, root, home);
        if (!err)
            err = protect_add(list, PROTECT_PIN, home);
    }
    return err ? err : protect_home(list, home, failure);
}

static int find_homes(struct protect_list *list, const struct protect_options *options,
                      const char *root, struct acp_failure *failure)
{
    char homes[COUNT(options->homes)][PATH_SIZE];
    int err = 0;
    for (size_t i = 0; i < COUNT(options->homes) && !err; i++) {
        bool known = options->homes[i] && realpath(options->homes[i], homes[i]);
        if (!known)
            homes[i][0] = '\0';
        if (known && lies_in(homes[i], root) && (i == 0 || strcmp(homes[i], homes[0]) != 0))
            err = find_home(list, root, homes[i], failure);
    }
    return err;
}

static bool is_hidden(const struct protect_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].how >= PROTECT_HIDE_DIRECTORY &&
            strcmp(list->entries[i].path, path) == 0)
            return true;
    return false;
}

static int find_names(struct protect_list *list, const char *root, struct acp_failure *failure)
{
    char path[PATH_SIZE];
    int err = 0;
    for (size_t i = 0; i < COUNT(project_names) && !err; i++)
        if (!join(path, root, project_names[i]) || !is_hidden(list, path))
            err = protect_name(list, root, project_names[i], failure);
    for (size_t i = 0; i < COUNT(existing_names) && !err; i++)
        if (join(path, root, existing_names[i]) && access(path, F_OK) == 0 &&
            !is_hidden(list, path))
            err = protect_name(list, root, existing_names[i], failure);
    return err;
}

static int find_in_root(struct protect_list *list, const struct protect_options *options,
                        const char *root, struct acp_failure *failure)
{
    int err = check_root(root, failure);
    if (!err)
        err = lock_root(list, root, failure);
    if (!err)
        err = protect_add(list, PROTECT_ROOT, root);
    if (!err)
        err = find_homes(list, options, root, failure);
    if (!err)
        err = hide_others(list, options, root);
    if (!err)
        err = protect_git(list, root, failure);
    if (!err)
        err = protect_gitlinks(list, root, failure);
    return err ? err : find_names(list, root, failure);
}

static int by_length(const void *a, const void *b)
{
    size_t one = strlen(*(const char *const *) a);
    size_t other = strlen(*(const char *const *) b);
    return one < other ? -1 : one > other;
}

static int find_all(struct protect_list *list, const struct protect_options *options, char **roots,
                    struct acp_failure *failure)
{
    int err = 0;
    for (size_t i = 0; i < options->roots.count; i++) {
        struct acp_str root = options->roots.items[i];
        if (root.len == 0 || root.ptr[0] != '/' || memchr(root.ptr, '\0', root.len))
            return protect_fail(failure, ACP_ERR_RANGE,
                                "The root of a sandbox must be an absolute path");
        char *real = realpath(root.ptr, NULL);
        if (!real)
            return protect_fail(failure, ACP_ERR_MISSING, "The root %s cannot be opened: %s",
                                root.ptr, strerror(errno));
        roots[i] = real;
    }
    /* One in another must be mounted after it. */
    qsort(roots, options->roots.count, sizeof(char *), by_length);
    for (size_t i = 0; i < options->roots.count && !err; i++)
        if (i == 0 || strcmp(roots[i], roots[i - 1]) != 0)
            err = find_in_root(list, options, roots[i], failure);
    return err;
}

int protect_find(const struct protect_options *options, struct acp_arena *arena,
                 struct protect_list *ret, struct acp_failure *failure)
{
    size_t count = options->roots.count;
    *ret = (struct protect_list){.arena = arena, .commits = options->commits};
    ret->locks = acp_arena_alloc(arena, (count + 1) * sizeof(int));
    char **roots = calloc(count + 1, sizeof(char *));
    if (failure)
        *failure = (struct acp_failure){0};
    int err = ret->locks && roots ? find_all(ret, options, roots, failure) : ACP_ERR_NOMEM;
    for (size_t i = 0; i < count && roots; i++)
        free(roots[i]);
    free(roots);
    if (err == ACP_ERR_NOMEM)
        return protect_fail(failure, err, "%s", acp_err_text(err));
    return err;
}

/* ---- Stubs ---------------------------------------------------------------------------------- */

/*
 * Opens the directory that has the last part of an absolute path, and gives that part; or -errno.
 * No link is followed: another command in the same root may have put one there meanwhile.
 */
static int open_parent(const char *path, const char **ret_name)
{
    char name[PATH_SIZE];
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash = strchr(++path, '/'); fd >= 0 && slash; slash = strchr(path, '/')) {
        (void) snprintf(name, sizeof(name), "%.*s", (int) (slash - path), path);
        int next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int err = errno;
        (void) close(fd);
        errno = err;
        fd = next;
        path = slash + 1;
    }
    *ret_name = path;
    return fd < 0 ? -errno : fd;
}

static int make_directory(const char *path)
{
    const char *name = "";
    int fd = open_parent(path, &name);
    if (fd < 0)
        return fd;
    int err = mkdirat(fd, name, STUB_MODE) ? -errno : 0;
    (void) close(fd);
    return err;
}

static void remove_directory(const char *path)
{
    const char *name = "";
    int fd = open_parent(path, &name);
    if (fd < 0)
        return;
    (void) unlinkat(fd, name, AT_REMOVEDIR);
    (void) close(fd);
}

int protect_make_stubs(const struct protect_list *list, struct acp_failure *failure)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct protect_entry *entry = &list->entries[i];
        int err = 0;
        if (entry->stub == STUB_DIRECTORY)
            err = make_directory(entry->path);
        else if (entry->stub == STUB_COMMONDIR)
            err = protect_make_commondir(entry->path);
        if (err && err != -EEXIST && err != -EACCES && err != -EROFS && err != -EPERM)
            return protect_fail(failure, ACP_ERR_STATE, "Cannot protect %s: %s", entry->path,
                                strerror(-err));
    }
    return 0;
}

void protect_finish(struct protect_list *list)
{
    bool alone = true;
    for (size_t i = 0; i < list->lock_count; i++)
        alone = flock(list->locks[i], LOCK_EX | LOCK_NB) == 0 && alone;
    for (size_t i = list->count; i-- > 0 && alone;) {
        if (list->entries[i].stub == STUB_DIRECTORY)
            remove_directory(list->entries[i].path);
        else if (list->entries[i].stub == STUB_COMMONDIR)
            protect_remove_commondir(list->entries[i].path);
    }
    for (size_t i = 0; i < list->lock_count; i++)
        (void) close(list->locks[i]);
    list->lock_count = 0;
}
