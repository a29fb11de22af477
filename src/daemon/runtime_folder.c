/* runtime_folder.c - the folder of the owners' sockets: one that nobody else can enter. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "workspace/beneath.h"

static int fail_system(struct acp_failure *failure, const char *what, const char *path, int number)
{
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message), "%s %.80s: %s", what, path,
                    strerror(number));
    return ACP_ERR_STATE;
}

/* A folder that is ours and that nobody else can enter; made when it is not there. */
static int make_folder(const char *path, struct acp_failure *failure)
{
    struct stat st;
    if (mkdir(path, 0700) && errno != EEXIST)
        return fail_system(failure, "cannot make", path, errno);
    if (lstat(path, &st))
        return fail_system(failure, "cannot use", path, errno);
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
        return 0;
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message), "%.90s %s", path,
                    !S_ISDIR(st.st_mode)     ? "is not a folder"
                    : st.st_uid != geteuid() ? "belongs to another user"
                                             : "can be entered by others");
    return ACP_ERR_STATE;
}

/* Makes the folders of a path behind its first bytes; what is wrong with them shows later. */
static void make_above(const char *path, size_t from)
{
    char part[ACP_PATH_SIZE];
    for (size_t i = from + 1; i < sizeof(part) && path[i]; i++)
        if (path[i] == '/') {
            (void) snprintf(part, sizeof(part), "%.*s", (int) i, path);
            (void) mkdir(part, 0700);
        }
}

int runtime_folder_choose(const struct runtime_folder *candidates, size_t count, size_t name_len,
                          const char **ret, struct acp_failure *failure)
{
    int err = ACP_ERR_STATE;
    for (size_t i = 0; i < count && err; i++) {
        const char *path = candidates[i].path;
        if (strlen(path) + 1 + name_len >= DAEMON_PATH_SIZE) {
            err = fail_system(failure, "cannot use", path, ENAMETOOLONG);
            continue;
        }
        make_above(path, candidates[i].base_len);
        err = make_folder(path, failure);
        if (!err)
            *ret = path;
    }
    size_t used = strlen(failure->message);
    if (err)
        (void) snprintf(failure->message + used, sizeof(failure->message) - used,
                        "; set XDG_RUNTIME_DIR to a folder that only you can enter");
    return err;
}

static bool is_absolute(const char *path)
{
    return path && *path == '/';
}

/* base/name, of which the base must be there. */
static void add_folder(struct runtime_folder *list, size_t *count, const char *base,
                       const char *name)
{
    struct runtime_folder *folder = &list[(*count)++];
    (void) snprintf(folder->path, sizeof(folder->path), "%s/%s", base, name);
    folder->base_len = strlen(base);
}

/* The folder of the sockets; its path lives in list. */
static int choose_folder(struct runtime_folder list[3], size_t name_len, const char **ret,
                         struct acp_failure *failure)
{
    size_t count = 0;
    char own[32];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(own, sizeof(own), "acp-%u", (unsigned) geteuid());
    if (is_absolute(runtime))
        add_folder(list, &count, runtime, "acp");
    add_folder(list, &count, "/tmp", own);
    /* In /tmp others can be faster, here they cannot; but the paths tend to be long. */
    if (is_absolute(state))
        add_folder(list, &count, state, "acp/run");
    else if (is_absolute(home))
        add_folder(list, &count, home, ".local/state/acp/run");
    return runtime_folder_choose(list, count, name_len, ret, failure);
}

static const char suffix[] = ".sock";

int daemon_socket_path(struct acp_str session, char ret[DAEMON_PATH_SIZE],
                       struct acp_failure *failure)
{
    struct runtime_folder list[3];
    const char *folder = NULL;
    int err = choose_folder(list, session.len + sizeof(suffix) - 1, &folder, failure);
    if (!err)
        (void) snprintf(ret, DAEMON_PATH_SIZE, "%s/%.*s%s", folder, (int) session.len, session.ptr,
                        suffix);
    return err;
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* Does not wait: a listener whose queue is full is one all the same. */
static bool is_listening(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    bool listening = fd >= 0 && (connect(fd, (struct sockaddr *) &address, sizeof(address)) == 0 ||
                                 errno == EAGAIN || errno == EINPROGRESS);
    if (fd >= 0)
        (void) close(fd);
    return listening;
}

int daemon_list(daemon_visit *visit, void *user, struct acp_failure *failure)
{
    struct runtime_folder list[3];
    const char *folder = NULL;
    const struct dirent *entry;
    int err = choose_folder(list, sizeof(suffix) - 1, &folder, failure);
    if (err)
        return err;
    DIR *entries = opendir(folder);
    if (!entries)
        return fail_system(failure, "cannot read", folder, errno);
    while ((entry = readdir(entries))) {
        char path[DAEMON_PATH_SIZE];
        size_t len = strlen(entry->d_name);
        int n = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        size_t tail = sizeof(suffix) - 1;
        if (len > tail && strcmp(entry->d_name + len - tail, suffix) == 0 && n > 0 &&
            (size_t) n < sizeof(path))
            visit(acp_str_n(entry->d_name, len - tail), is_listening(path), user);
    }
    (void) closedir(entries);
    return 0;
}
