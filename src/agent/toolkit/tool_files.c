/*
 * tool_files.c - files.  A client that reads and writes files for agents is asked, since it has
 * unsaved buffers; otherwise our own guard is used, which never leaves the session's roots.  The
 * client is not asked while a sandboxed command could put links in its way.
 */
#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/toolkit/tool.h"
#include "workspace/beneath.h"

/* At most this much is read to reach a line, since the loop waits for it. */
static const struct acp_files_options file_options = {.max_scan = UINT64_C(64) << 20};

/* ---- Client or disk ------------------------------------------------------------------------- */

/* Whether sandboxed commands are running, or can be run; the mode may have changed since. */
static bool has_sandboxed_commands(const struct tools *set)
{
    bool has = acp_policy_get_mode(set->options.policy) == ACP_POLICY_SANDBOX;
    for (size_t i = 0; i < set->background_count; i++)
        has = has || set->background[i].sandbox_run;
    for (const struct tool_run *run = set->runs; run; run = run->next)
        has = has || run->sandboxed;
    return has;
}

static bool client_serves(const struct tool_run *run, bool writes)
{
    if (has_sandboxed_commands(run->set))
        return false;
    const struct acp_agent *agent = acp_session_agent(run->set->options.session);
    const struct acp_client_capabilities *client = acp_agent_client_capabilities(agent);
    if (!acp_is_set(client) || !acp_is_set(client->fs) || !(acp_agent_protocol(agent) & ACP_V1))
        return false;
    return writes ? client->fs->write_text_file : client->fs->read_text_file;
}

int tool_check_path(struct tool_run *run, struct acp_str path, bool writes)
{
    const struct acp_roots *roots = run->roots->roots;
    if (client_serves(run, writes) || acp_roots_contain(roots, path))
        return 0;
    tool_printf(run, "%s is outside the workspace, which is:", path.ptr);
    for (size_t i = 0; i < acp_roots_count(roots); i++)
        tool_printf(run, " %s", acp_roots_path(roots, i).ptr);
    return ACP_ERR_RANGE;
}

/* ---- Which file a path means ---------------------------------------------------------------- */

static void resolve(struct tool_run *run, const char *path, const char *name,
                    struct acp_str *places, size_t *count)
{
    char real[ACP_PATH_SIZE];
    char whole[2 * ACP_PATH_SIZE];
    if (acp_files_real(run->roots->roots, path, false, real))
        return;
    (void) snprintf(whole, sizeof(whole), "%s%s%s", real, *name && real[1] ? "/" : "", name);
    places[*count] = acp_arena_copy(&run->arena, acp_str_from(whole));
    *count += places[*count].ptr != NULL;
}

/* Where each path leads, and where its name is: they differ if it is a link. */
void tool_resolve_paths(struct tool_run *run)
{
    char folder[ACP_PATH_SIZE];
    size_t most = run->roots ? run->paths.count : 0;
    struct acp_str *places = acp_arena_alloc(&run->arena, (2 * most + 1) * sizeof(*places));
    size_t count = 0;
    for (size_t i = 0; places && i < most; i++) {
        const char *path = run->paths.items[i].ptr;
        const char *slash = strrchr(path, '/');
        resolve(run, path, "", places, &count);
        if (!slash || strlen(path) >= sizeof(folder))
            continue;
        (void) snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int) (slash - path),
                        path);
        resolve(run, folder, slash + 1, places, &count);
    }
    run->resolved = (struct acp_str_list){places, count};
}

static bool was_resolved(const struct tool_run *run, struct acp_str real)
{
    for (size_t i = 0; i < run->resolved.count; i++)
        if (acp_str_eq(run->resolved.items[i], real))
            return true;
    return false;
}

/*
 * The decision about a path must hold for the file that was opened.  The user's permission is for
 * the files to which the paths led when the user was asked.
 */
static int check_opened(struct acp_str real, bool writes, struct acp_files_error *error, void *user)
{
    const struct tool_run *run = user;
    bool unruled = run->tool->only_deny_rules;
    struct acp_decision decision = tool_decision_on(run, real, writes);
    bool by_rule = decision.by == ACP_DECIDED_BY_RULE || decision.by == ACP_DECIDED_BY_GRANT;
    bool allowed = decision.verdict == ACP_VERDICT_ALLOW ||
                   (unruled && !(decision.verdict == ACP_VERDICT_DENY && by_rule)) ||
                   (decision.verdict == ACP_VERDICT_ASK && run->granted && was_resolved(run, real));
    if (allowed)
        return 0;
    return acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED,
                          "The rules do not allow this, because the path leads to %s",
                          tool_display_path(run, real.ptr));
}

static struct acp_files_guard guard_of(struct tool_run *run)
{
    return (struct acp_files_guard){.check = check_opened, .user = run};
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* The client's error says nothing to a program; whether the file exists can be checked. */
static int reason_of(const struct tool_run *run, int err)
{
    struct stat st;
    if (err == ACP_ERR_REMOTE && lstat(run->file.ptr, &st) != 0 && errno == ENOENT)
        return ACP_ERR_MISSING;
    return err;
}

static void on_client_text(struct acp_turn *turn, const struct acp_outcome *outcome,
                           struct acp_str text, void *user)
{
    int err = outcome->err;
    if (err)
        text = outcome->why;
    struct tool_run *run = user;
    if (!tool_resume(run))
        return;
    if (err && acp_turn_is_cancelled(turn)) {
        tool_finish(run, TOOL_CANCELLED);
        return;
    }
    if (!err && text.len > ACP_FILES_MAX_BYTES) {
        err = ACP_ERR_LIMIT;
        text = acp_str_from("The file is too large");
    }
    run->on_text(run, reason_of(run, err), text);
}

static void tell_failed(struct tool_run *run, int err)
{
    if (err == ACP_ERR_CANCELLED)
        tool_finish(run, TOOL_CANCELLED);
    else
        run->on_text(run, err, acp_str_from(acp_err_text(err)));
}

void tool_read(struct tool_run *run, struct acp_str path, uint64_t line, uint64_t limit,
               tool_text_fn *fn)
{
    run->on_text = fn;
    run->file = path;
    if (client_serves(run, false)) {
        tool_hold(run);
        int err = acp_turn_read_file(run->turn, path, (uint32_t) line, (uint32_t) limit,
                                     on_client_text, run);
        if (err) {
            (void) tool_resume(run);
            tell_failed(run, err);
        }
        return;
    }
    struct acp_opt_i64 from = line ? acp_some_i64((int64_t) line) : (struct acp_opt_i64){0};
    struct acp_opt_i64 count = limit ? acp_some_i64((int64_t) limit) : (struct acp_opt_i64){0};
    struct acp_files_error error;
    struct acp_buf buf;
    struct acp_str text = {NULL, 0};
    struct acp_files_guard guard = guard_of(run);
    struct acp_files_options options = file_options;
    options.guard = &guard;
    acp_buf_init(&buf, 2 * ACP_FILES_MAX_BYTES);
    int err = acp_files_read(run->roots->roots, path, from, count, &options, &buf, &text, &error);
    fn(run, err, err ? acp_str_from(error.message) : text);
    acp_buf_finish(&buf);
}

void tool_write(struct tool_run *run, struct acp_str path, struct acp_str text, tool_text_fn *fn)
{
    run->on_text = fn;
    run->file = path;
    if (client_serves(run, true)) {
        tool_hold(run);
        int err = acp_turn_write_file(run->turn, path, text, on_client_text, run);
        if (err) {
            (void) tool_resume(run);
            tell_failed(run, err);
        }
        return;
    }
    struct acp_files_error error;
    struct acp_files_guard guard = guard_of(run);
    struct acp_files_options options = file_options;
    options.guard = &guard;
    int err = acp_files_write(run->roots->roots, path, text, &options, &error);
    fn(run, err, err ? acp_str_from(error.message) : acp_str_from(""));
}

/* ---- What the client does not offer --------------------------------------------------------- */

/*
 * Opens the folder of a path, below the root that contains it; *ret_name is the name in it, which
 * may be a link.  -errno on failure; -EACCES if the rules do not allow reading or changing it.
 */
static int open_folder(struct tool_run *run, struct acp_str path, bool writes,
                       const char **ret_name)
{
    struct acp_beneath root;
    const char *rest = "";
    char folder[ACP_PATH_SIZE];
    char below[2 * ACP_PATH_SIZE];
    char real[ACP_PATH_SIZE];
    size_t cursor = 0;
    int fd = -EXDEV;
    while (fd == -EXDEV &&
           acp_roots_next(run->roots->roots, path.ptr, false, &cursor, &root, &rest)) {
        const char *slash = strrchr(rest, '/');
        size_t n = slash ? (size_t) (slash - rest) : 0;
        memcpy(folder, rest, n);
        folder[n] = '\0';
        *ret_name = slash ? slash + 1 : rest;
        if (!**ret_name)
            return -EISDIR;
        fd = acp_beneath_open_place(&root, folder, real);
    }
    if (fd < 0)
        return fd;
    (void) snprintf(below, sizeof(below), "%s%s%s", real, *real ? "/" : "", *ret_name);
    int err = acp_beneath_absolute(&root, below, real);
    struct acp_files_error error = {0};
    if (!err && check_opened(acp_str_from(real), writes, &error, run))
        err = -EACCES;
    if (!err)
        return fd;
    (void) close(fd);
    return err;
}

int tool_remove(struct tool_run *run, struct acp_str path, struct acp_files_error *error)
{
    const char *name = "";
    int folder = open_folder(run, path, true, &name);
    if (folder < 0)
        return acp_files_fail_system(error, folder, "remove", path.ptr);
    int reason = unlinkat(folder, name, 0) == 0 ? 0 : -errno;
    (void) close(folder);
    return reason ? acp_files_fail_system(error, reason, "remove", path.ptr) : 0;
}

/* False if it is not a file, or a link to one. */
static bool get_stat(struct tool_run *run, struct acp_str path, struct stat *ret)
{
    const char *name = "";
    int folder = open_folder(run, path, false, &name);
    if (folder < 0)
        return false;
    bool known = fstatat(folder, name, ret, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(ret->st_mode);
    (void) close(folder);
    return known;
}

mode_t tool_mode(struct tool_run *run, struct acp_str path)
{
    struct stat st;
    return get_stat(run, path, &st) ? st.st_mode & 0777 : 0;
}

uint64_t tool_size(struct tool_run *run, struct acp_str path)
{
    struct stat st;
    return get_stat(run, path, &st) ? (uint64_t) st.st_size : 0;
}

void tool_set_mode(struct tool_run *run, struct acp_str path, mode_t mode)
{
    const char *name = "";
    int folder = open_folder(run, path, true, &name);
    if (folder < 0)
        return;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    (void) close(folder);
    if (fd < 0)
        return;
    (void) fchmod(fd, mode);
    (void) close(fd);
}
