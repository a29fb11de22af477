/*
 * tool_project_files.c - files that are read because of their names: a project's instructions for
 * agents and its commands.  Whoever can write to the workspace can put them there, including the
 * model's own commands, so they are read like a tool would read them: below the roots, regular
 * files only, and if the rules allow it.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "agent/toolkit/file_walk.h"
#include "agent/toolkit/tool.h"
#include "workspace/beneath.h"

/* The loop waits while a folder is listed. */
enum { MAX_LISTED = 2000, MAX_LISTING_MS = 500 };

/* A file about which the user would have to be asked is left out. */
static int check_opened(struct acp_str path, bool writes, struct acp_files_error *error, void *user)
{
    const struct tools_options *options = &((const struct tools *) user)->options;
    struct acp_action action = {
        .kind = ACP_TOOL_KIND_READ,
        .tool = acp_str_from(tool_for_read.info.name),
        .paths = {&path, 1},
        .session_id = acp_session_id(options->session),
        .cwd = acp_session_cwd(options->session),
        .additional = acp_session_directories(options->session),
        .is_real = true,
    };
    (void) writes;
    struct acp_decision decision =
        acp_policy_decide(options->policy, options->ledger, &action, (int64_t) time(NULL), false);
    if (decision.verdict == ACP_VERDICT_ALLOW)
        return 0;
    return acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED,
                          "the rules do not allow reading it");
}

/* Reads up to max bytes, without a torn character at the end. */
static int read_text(int fd, size_t max, struct acp_buf *out)
{
    size_t before = out->len;
    int err = acp_buf_reserve(out, max + 1);
    while (!err && out->len - before < max) {
        ssize_t n = read(fd, out->data + out->start + out->len, max - (out->len - before));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            err = ACP_ERR_STATE;
        if (n <= 0)
            break;
        out->len += (size_t) n;
    }
    struct acp_str text = acp_buf_view(out);
    text = acp_str_n(text.ptr + before, text.len - before);
    size_t good = err ? 0 : acp_text_check(text);
    if (!err && good < text.len && (text.len < max || text.len - good >= 4))
        err = ACP_ERR_UTF8;
    acp_buf_truncate(out, before + (err ? 0 : good));
    return err;
}

int tools_read_project_file(struct tools *set, struct acp_str path, size_t max, struct acp_buf *out,
                            struct acp_files_error *error)
{
    const struct acp_files_guard guard = {.check = check_opened, .user = set};
    const struct acp_files_options options = {.guard = &guard};
    struct acp_failure failure = {0};
    struct tool_roots *roots = tools_roots(set, &failure);
    int fd = -1;
    if (!roots)
        return acp_files_fail(error, failure.err, ACP_FILES_FAILED, "%s", failure.message);
    int err = acp_files_open(roots->roots, path, &options, &fd, error);
    if (!err) {
        err = read_text(fd, max, out);
        if (err)
            (void) acp_files_fail(error, err, ACP_FILES_FAILED, "%s", acp_err_text(err));
        (void) close(fd);
    }
    tool_roots_release(roots);
    return err;
}

void tools_list_project_files(struct tools *set, struct acp_str folder, walk_fn *fn, void *user)
{
    struct acp_failure failure = {0};
    struct tool_roots *roots = tools_roots(set, &failure);
    struct walk_outcome outcome;
    struct walk_options options = {.top = folder.ptr,
                                   .depth = 1,
                                   .with_ignored = true,
                                   .max_entries = MAX_LISTED,
                                   .max_ms = MAX_LISTING_MS};
    if (!roots)
        return;
    options.roots = roots->roots;
    (void) walk_tree(&options, fn, user, &outcome, NULL);
    tool_roots_release(roots);
}
