/* paths.c - see paths.h; paths_file.c reads and writes files. */
#include "config/paths.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/beneath.h"

const char *paths_variable(const char *const *environment, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; environment && environment[i]; i++)
        if (strncmp(environment[i], name, n) == 0 && environment[i][n] == '=')
            return environment[i][n + 1] ? environment[i] + n + 1 : NULL;
    return NULL;
}

const char *paths_home(const char *const *environment, struct acp_arena *arena)
{
    const char *home = paths_variable(environment, "HOME");
    if (!home || home[0] != '/') {
        const struct passwd *user = getpwuid(getuid());
        home = user ? user->pw_dir : NULL;
    }
    return home && home[0] == '/' ? acp_arena_copy(arena, acp_str_from(home)).ptr : NULL;
}

const char *paths_join(struct acp_arena *arena, const char *folder, const char *name)
{
    size_t n = strlen(folder);
    size_t m = strlen(name);
    bool slash = n > 0 && folder[n - 1] != '/';
    char *path = acp_arena_alloc(arena, n + slash + m + 1);
    if (!path)
        return NULL;
    memcpy(path, folder, n);
    if (slash)
        path[n] = '/';
    memcpy(path + n + slash, name, m + 1);
    return path;
}

/* An XDG directory, or its default in the home directory; XDG says to ignore relative values. */
static const char *xdg_dir(const char *const *environment, struct acp_arena *arena,
                           const char *variable, const char *below_home)
{
    const char *base = paths_variable(environment, variable);
    if (!base || base[0] != '/') {
        const char *home = paths_home(environment, arena);
        base = home ? paths_join(arena, home, below_home) : NULL;
    }
    return base ? paths_join(arena, base, "acp") : NULL;
}

const char *paths_config_dir(const char *const *environment, struct acp_arena *arena)
{
    return xdg_dir(environment, arena, "XDG_CONFIG_HOME", ".config");
}

const char *paths_state_dir(const char *const *environment, struct acp_arena *arena)
{
    return xdg_dir(environment, arena, "XDG_STATE_HOME", ".local/state");
}

const char *paths_data_dir(const char *const *environment, struct acp_arena *arena)
{
    return xdg_dir(environment, arena, "XDG_DATA_HOME", ".local/share");
}

const char *paths_expand(struct acp_arena *arena, struct acp_str path, const char *base,
                         const char *home)
{
    struct acp_str copy = acp_arena_copy(arena, path);
    if (!copy.ptr)
        return NULL;
    if (copy.ptr[0] == '~' && (copy.ptr[1] == '/' || copy.ptr[1] == '\0'))
        return home ? paths_join(arena, home, copy.ptr[1] ? copy.ptr + 2 : "") : NULL;
    return copy.ptr[0] == '/' ? copy.ptr : paths_join(arena, base, copy.ptr);
}

const char *paths_shorten(struct acp_arena *arena, const char *path, const char *home)
{
    const char *rest = NULL;
    if (!home || strcmp(home, "/") == 0 || !acp_path_within(path, home, &rest))
        return path;
    const char *shorter = *rest ? paths_join(arena, "~", rest) : "~";
    return shorter ? shorter : path;
}

/* Replaces a path by its parent; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

static bool is_there(struct acp_arena *arena, const char *folder, const char *name)
{
    struct stat st;
    const char *path = paths_join(arena, folder, name);
    return path && stat(path, &st) == 0;
}

const char *paths_find_upwards(struct acp_arena *arena, const char *cwd, const char *home,
                               const char *name)
{
    char path[ACP_PATH_SIZE];
    if (acp_path_normal(acp_str_from(cwd), path, NULL))
        return NULL;
    do {
        if (is_there(arena, path, name))
            return acp_arena_copy(arena, acp_str_from(path)).ptr;
        if (is_there(arena, path, ".git") || (home && strcmp(path, home) == 0))
            return NULL;
    } while (go_up(path));
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool counts(struct acp_str folder, const char *avoid)
{
    char normal[ACP_PATH_SIZE];
    if (folder.len == 0 || folder.ptr[0] != '/' || acp_path_normal(folder, normal, NULL))
        return false;
    return !avoid || !acp_path_within(normal, avoid, NULL);
}

const char *paths_find_program(struct acp_arena *arena, const char *command, const char *path,
                               const char *avoid)
{
    if (strchr(command, '/'))
        return is_program(command) ? command : NULL;
    while (path && *command) {
        const char *colon = strchr(path, ':');
        struct acp_str folder = acp_str_n(path, colon ? (size_t) (colon - path) : strlen(path));
        struct acp_str copy =
            counts(folder, avoid) ? acp_arena_copy(arena, folder) : acp_str_from(NULL);
        const char *candidate = copy.ptr ? paths_join(arena, copy.ptr, command) : NULL;
        if (candidate && is_program(candidate))
            return candidate;
        path = colon ? colon + 1 : NULL;
    }
    return NULL;
}
