/* hub_workspace.c - which workspace a directory belongs to. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "hub/hub.h"

static bool has_entry(const char *folder, const char *name)
{
    char path[ACP_PATH_SIZE + 64];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
    return n > 0 && (size_t) n < sizeof(path) && stat(path, &st) == 0;
}

static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* The nearest folder upwards that has one of the entries. */
static bool find_upwards(const char *from, const char *const *names, char ret[ACP_PATH_SIZE])
{
    char path[ACP_PATH_SIZE];
    memcpy(path, from, strlen(from) + 1);
    do
        for (const char *const *name = names; *name; name++)
            if (has_entry(path, *name)) {
                memcpy(ret, path, strlen(path) + 1);
                return true;
            }
    while (go_up(path));
    return false;
}

int hub_find_workspace(struct acp_str cwd, char ret[ACP_PATH_SIZE], struct acp_failure *failure)
{
    static const char *const repository[] = {".git", NULL};
    static const char *const configured[] = {".acp/config.json", ".containai/config.toml", NULL};
    char normal[ACP_PATH_SIZE];
    char real[PATH_MAX];
    struct stat st;
    int shown = cwd.len < 120 ? (int) cwd.len : 120;
    const char *why = NULL;
    if (acp_path_normal(cwd, normal, NULL))
        why = "not an absolute path";
    else if (!realpath(normal, real) || stat(real, &st))
        why = strerror(errno);
    else if (!S_ISDIR(st.st_mode))
        why = "not a directory";
    if (why) {
        (void) snprintf(failure->message, sizeof(failure->message), "cwd %.*s: %s", shown,
                        cwd.ptr ? cwd.ptr : "", why);
        return ACP_ERR_UNKNOWN;
    }
    if (!find_upwards(real, repository, ret) && !find_upwards(real, configured, ret))
        memcpy(ret, real, strlen(real) + 1);
    return 0;
}
