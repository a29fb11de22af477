/*
 * jetbrains.c - JetBrains IDEs start a new session whenever a chat is opened again.
 *
 * They store each chat in a file, aia-task-history/CHAT.events, and touch the one that is open.  So
 * the newest file tells to which chat a new session belongs; if that chat had a session before, it
 * is continued.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/loop/coding_agent_internal.h"

static const char ending[] = ".events";

static const char *variable(const struct coding_agent *agent, const char *name)
{
    size_t len = strlen(name);
    for (const char *const *at = agent->options->sources.environment; at && *at; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return *at + len + 1;
    return NULL;
}

/* The newest chat found so far. */
struct newest {
    char chat[AGENT_CHAT_SIZE];
    struct timespec time;
};

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static void look_into(const char *folder, struct newest *newest)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        char path[PATH_MAX];
        struct stat st;
        size_t len = strlen(entry->d_name);
        size_t n = sizeof(ending) - 1;
        if (len <= n || len - n >= AGENT_CHAT_SIZE || strcmp(entry->d_name + len - n, ending) != 0)
            continue;
        (void) snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (stat(path, &st) || !is_newer(&st.st_mtim, &newest->time))
            continue;
        newest->time = st.st_mtim;
        (void) snprintf(newest->chat, sizeof(newest->chat), "%.*s", (int) (len - n), entry->d_name);
    }
    if (dir)
        (void) closedir(dir);
}

/* Each IDE has a folder below that of JetBrains. */
static void look_below(const char *home, const char *data, struct newest *newest)
{
    char parent[PATH_MAX];
    struct dirent *entry;
    (void) snprintf(parent, sizeof(parent), "%s/%s/JetBrains", home, data);
    DIR *dir = opendir(parent);
    while (dir && (entry = readdir(dir)) != NULL) {
        char folder[PATH_MAX + 300];
        (void) snprintf(folder, sizeof(folder), "%s/%s/aia-task-history", parent, entry->d_name);
        look_into(folder, newest);
    }
    if (dir)
        (void) closedir(dir);
}

bool coding_agent_find_chat(const struct coding_agent *agent, char ret_chat[AGENT_CHAT_SIZE])
{
    const char *wanted = variable(agent, "ACP_CLIENT_JETBRAINS");
    const char *folder = variable(agent, "ACP_JETBRAINS_HISTORY");
    const char *home = variable(agent, "HOME");
    struct newest newest = {0};
    if (!wanted || strcmp(wanted, "1") != 0)
        return false;
    if (folder) {
        look_into(folder, &newest);
    } else if (home) {
        look_below(home, ".config", &newest);
        look_below(home, ".cache", &newest);
        look_below(home, ".local/share", &newest);
    }
    (void) memcpy(ret_chat, newest.chat, AGENT_CHAT_SIZE);
    return *newest.chat != '\0';
}
