/* worktree.c - see worktree.h. */
#include "cmd/worktree.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "launch/git.h"

enum { NAME_MAX_BYTES = 64 };

ACP_PRINTF(3, 4)
static int fail(struct acp_failure *failure, int err, const char *format, ...)
{
    va_list args;
    *failure = (struct acp_failure){.err = err};
    va_start(args, format);
    (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
    va_end(args);
    return err;
}

/* ---- Asking git ------------------------------------------------------------------------------ */

/* What git prints, without line ends, and without the slash behind a directory. */
static int ask(const struct git_place *place, const char *const *arguments, struct acp_arena *arena,
               const char **ret, struct acp_failure *failure)
{
    struct acp_buf out;
    acp_buf_init(&out, GIT_MAX_OUTPUT);
    int err = git_run(place, arguments, &out, failure);
    struct acp_str text = acp_buf_view(&out);
    while (text.len && strchr("\n/", text.ptr[text.len - 1]))
        text.len--;
    if (!err) {
        *ret = acp_arena_copy(arena, text.ptr ? text : acp_str_from("")).ptr;
        err = *ret ? 0 : ACP_ERR_NOMEM;
    }
    acp_buf_finish(&out);
    return err;
}

#define ASK(place, arena, ret, failure, ...)                                                       \
    ask(place, (const char *const[]){__VA_ARGS__, NULL}, arena, ret, failure)

static const char *join(struct acp_arena *arena, const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = acp_arena_alloc(arena, size);
    if (text)
        (void) snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char) name[i]) && (i == 0 || !strchr("-_.", name[i])))
            return false;
    return n > 0 && n <= NAME_MAX_BYTES && name[n - 1] != '.' && !strstr(name, "..") &&
           (n < 5 || strcmp(name + n - 5, ".lock") != 0);
}

/* Top, base, common directory, and whether there are changes. */
static int look_at_repository(struct worktree *w, const char *cwd, const char **ret_prefix,
                              const char **ret_common, struct acp_failure *failure)
{
    const struct git_place place = {.directory = cwd};
    struct acp_failure ignored;
    const char *status;
    if (ASK(&place, w->arena, &w->top, &ignored, "rev-parse", "--show-toplevel"))
        return fail(failure, ACP_ERR_ARGUMENT, "%s is not in a git repository", cwd);
    if (ASK(&place, w->arena, &w->base, &ignored, "rev-parse", "--verify", "--quiet", "HEAD"))
        return fail(failure, ACP_ERR_ARGUMENT, "the repository %s has no commit yet", w->top);
    int err = ASK(&place, w->arena, ret_prefix, failure, "rev-parse", "--show-prefix");
    if (!err)
        err = ASK(&place, w->arena, ret_common, failure, "rev-parse", "--path-format=absolute",
                  "--git-common-dir");
    if (!err)
        err = ASK(&place, w->arena, &status, failure, "status", "--porcelain",
                  "--untracked-files=normal");
    if (!err)
        w->is_dirty = *status != '\0';
    return err;
}

/* Makes the worktree; the branch may be there from an earlier one. */
static int add(const struct worktree *w, struct acp_failure *failure)
{
    const struct git_place place = {.directory = w->top};
    const char *ref = join(w->arena, "refs/heads/", w->branch, "");
    const char *text;
    struct acp_failure ignored;
    if (!ref)
        return ACP_ERR_NOMEM;
    if (ASK(&place, w->arena, &text, &ignored, "rev-parse", "--verify", "--quiet", ref) == 0)
        return ASK(&place, w->arena, &text, failure, "worktree", "add", "--quiet", w->root,
                   w->branch);
    return ASK(&place, w->arena, &text, failure, "worktree", "add", "--quiet", "-b", w->branch,
               w->root, w->base);
}

/* The git directory of the worktree, which must be one of this repository. */
static int find_git_dir(struct worktree *w, const char *common, struct acp_failure *failure)
{
    const struct git_place place = {.directory = w->root};
    size_t n = strlen(common);
    int err = ASK(&place, w->arena, &w->git_dir, failure, "rev-parse", "--absolute-git-dir");
    if (err)
        return err;
    if (strncmp(w->git_dir, common, n) != 0 || strncmp(w->git_dir + n, "/worktrees/", 11) != 0)
        return fail(failure, ACP_ERR_ARGUMENT, "%s is not a worktree of this repository", w->root);
    return 0;
}

int worktree_open(const char *cwd, const char *name, struct acp_arena *arena, struct worktree *ret,
                  struct acp_failure *failure)
{
    struct worktree w = {.arena = arena, .name = name};
    const char *prefix;
    const char *common;
    struct stat st;
    if (!is_name(name))
        return fail(failure, ACP_ERR_ARGUMENT,
                    "'%.64s' cannot be the name of a worktree; use letters, digits, -, _ and .",
                    name);
    int err = look_at_repository(&w, cwd, &prefix, &common, failure);
    if (err)
        return err;
    w.branch = join(arena, "acp/", name, "");
    w.root = join(arena, w.top, ".worktrees/", name);
    w.cwd = w.root && *prefix ? join(arena, w.root, "/", prefix) : w.root;
    if (!w.branch || !w.cwd)
        return ACP_ERR_NOMEM;
    w.is_new = stat(w.root, &st) != 0;
    if (w.is_new)
        err = add(&w, failure);
    if (!err)
        err = find_git_dir(&w, common, failure);
    const struct git_place place = {.directory = w.root, .git_dir = w.git_dir, .work_tree = w.root};
    if (!err && !w.is_new)
        err = ASK(&place, arena, &w.base, failure, "rev-parse", "--verify", "HEAD");
    /* A directory that is not in the commit. */
    if (!err && stat(w.cwd, &st) != 0)
        w.cwd = w.root;
    if (!err)
        *ret = w;
    return err;
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

static struct git_place place_of(const struct worktree *w)
{
    return (struct git_place){.directory = w->root, .git_dir = w->git_dir, .work_tree = w->root};
}

static int diff(const struct worktree *w, const char *form, struct acp_buf *out,
                struct acp_failure *failure)
{
    const struct git_place place = place_of(w);
    const char *const new_files[] = {"add", "--intent-to-add", "--", ".", NULL};
    const char *const all[] = {
        "diff", "--no-ext-diff", "--no-textconv", "--no-color", form, w->base, "--", NULL};
    struct acp_buf ignored;
    acp_buf_init(&ignored, GIT_MAX_OUTPUT);
    int err = git_run(&place, new_files, &ignored, failure);
    acp_buf_finish(&ignored);
    return err ? err : git_run(&place, all, out, failure);
}

int worktree_diff(const struct worktree *w, struct acp_buf *out, struct acp_failure *failure)
{
    return diff(w, "--patch", out, failure);
}

/* "12\t3\tpath" lines; "-" for binary files. */
int worktree_stat(const struct worktree *w, struct worktree_stat *ret, struct acp_failure *failure)
{
    struct acp_buf out;
    struct worktree_stat stat = {0};
    acp_buf_init(&out, GIT_MAX_OUTPUT);
    int err = diff(w, "--numstat", &out, failure);
    if (!err)
        err = acp_buf_append(&out, "", 1);
    for (const char *line = err ? "" : acp_buf_view(&out).ptr; *line;) {
        unsigned long long added = 0;
        unsigned long long removed = 0;
        /* NOLINTNEXTLINE(cert-err34-c): anything but a number counts as 0 */
        (void) sscanf(line, "%llu %llu", &added, &removed);
        stat.files++;
        stat.added += added;
        stat.removed += removed;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    acp_buf_finish(&out);
    if (!err)
        *ret = stat;
    return err;
}

int worktree_remove(const struct worktree *w, struct acp_failure *failure)
{
    const struct git_place place = {.directory = w->top};
    const char *text;
    int err = ASK(&place, w->arena, &text, failure, "worktree", "remove", "--force", w->root);
    if (!err)
        err = ASK(&place, w->arena, &text, failure, "branch", "--quiet", "-D", w->branch);
    char *folder = strdup(w->root);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash && !err) {
        *slash = '\0';
        (void) rmdir(folder); /* if it was the last one */
    }
    free(folder);
    return err;
}

enum worktree_fate worktree_finish(const struct worktree *w, struct worktree_stat *ret_stat)
{
    struct acp_failure failure = {0};
    if (worktree_stat(w, ret_stat, &failure)) {
        err_message("worktree %s: %s", w->root, failure.message);
        return WORKTREE_UNKNOWN;
    }
    if (!ret_stat->files && w->is_new && worktree_remove(w, &failure) == 0)
        return WORKTREE_REMOVED;
    return WORKTREE_KEPT;
}

void worktree_report(const struct worktree *w, enum worktree_fate fate,
                     const struct worktree_stat *changes, struct acp_str session)
{
    struct worktree_stat stat = *changes;
    if (fate == WORKTREE_REMOVED)
        err_printf("worktree: nothing was changed; it was removed\n");
    if (fate != WORKTREE_KEPT)
        return;
    err_row("worktree: %s, branch %s: %llu file%s changed, +%llu -%llu", w->root, w->branch,
            (unsigned long long) stat.files, stat.files == 1 ? "" : "s",
            (unsigned long long) stat.added, (unsigned long long) stat.removed);
    err_row("  show:   git -C %s diff %.12s", w->root, w->base);
    err_row("  merge:  git -C %s commit -am MESSAGE; git merge %s", w->root, w->branch);
    err_row("  drop:   git worktree remove --force %s && git branch -D %s", w->root, w->branch);
    if (session.len)
        err_row("  go on:  acp exec --resume %.*s", (int) session.len, session.ptr);
}
