/* file_search.c - a search: prepared on the loop, run on a thread, reported on the loop. */
#include "agent/tools/file_search.h"

#include <stdio.h>
#include <stdlib.h>

#include "workspace/beneath.h"

/* ---- Preparing ------------------------------------------------------------------------------ */

static void free_search(struct search *search)
{
    if (!search)
        return;
    if (search->drop)
        search->drop(search);
    search_guard_finish(&search->rules);
    acp_buf_finish(&search->lines);
    acp_arena_finish(&search->arena);
    free(search);
}

static int set_up(struct tool_run *run, struct search *search, struct acp_str path, size_t own_size)
{
    search->folder = acp_arena_copy(&search->arena, acp_roots_path(run->roots->roots, 0));
    struct acp_str top = acp_arena_copy(&search->arena, path);
    search->own = acp_arena_alloc(&search->arena, own_size ? own_size : 1);
    search->options.top = top.ptr;
    if (search->folder.ptr && top.ptr && search->own)
        return 0;
    tool_printf(run, "Out of memory.");
    return ACP_ERR_NOMEM;
}

int search_prepare(struct tool_run *run, const char *verb, walk_fn *fn, size_t own_size,
                   struct search **ret)
{
    char title[300];
    struct acp_str given = acp_str_from(".");
    struct acp_str path;
    struct search *search = calloc(1, sizeof(*search));
    if (!search) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    run->own = search;
    search->fn = fn;
    acp_arena_init(&search->arena, 0);
    acp_buf_init(&search->lines, TOOLS_MAX_RESULT - 1024);
    tool_get_str(run, "path", &given);
    int err = tool_get_path(run, given, &path);
    if (!err)
        err = tool_set_path(run, path);
    if (!err)
        err = set_up(run, search, path, own_size);
    if (err)
        return err;
    (void) snprintf(title, sizeof(title), "%s %.200s", verb, tool_display_path(run, path.ptr));
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    if (!acp_roots_contain(run->roots->roots, path)) {
        tool_printf(run, "%s is outside the workspace.", path.ptr);
        return ACP_ERR_RANGE;
    }
    *ret = search;
    return 0;
}

int search_read_pattern(struct tool_run *run, const char *key, struct search *search)
{
    struct acp_str text = {NULL, 0};
    tool_get_str(run, key, &text);
    int err = text.len ? pattern_parse(text, &search->arena, &search->pattern) : 0;
    if (err)
        tool_printf(run, "The pattern in \"%s\" cannot be used: %s.", key, acp_err_text(err));
    return err;
}

void search_drop(struct tool_run *run)
{
    free_search(run->own);
}

/* ---- On the thread -------------------------------------------------------------------------- */

const char *search_path(const struct search *search, const char *path)
{
    const char *rest = path;
    if (!acp_path_within(path, search->folder.ptr, &rest))
        return path;
    return *rest ? rest : ".";
}

int search_add(struct search *search, struct acp_str text)
{
    return acp_buf_append_str(&search->lines, text) != 0;
}

int search_add_line(struct search *search, const char *path, const char *end)
{
    if (search->found == search->most)
        return 1;
    search->found++;
    return search_add(search, acp_str_from(path)) || search_add(search, acp_str_from(end));
}

static void on_thread(struct tool_work *work)
{
    struct search *search = work->own;
    search->options.roots = work->roots;
    search->options.stop = &work->stop;
    search->options.guard = search->rules.policy ? &search->rules.guard : NULL;
    search->err = walk_tree(&search->options, search->fn, search, &search->outcome, &search->error);
}

/* ---- The result ----------------------------------------------------------------------------- */

static void say_notes(struct tool_run *run, const struct search *search)
{
    const char *end = walk_end_text(search->outcome.end);
    if (search->outcome.end == WALK_ENOUGH)
        tool_printf(run, "[There may be more than fits here. Narrow the search.]\n");
    else if (end)
        tool_printf(run, "[Not everything was searched: %s. Narrow the search.]\n", end);
    if (search->outcome.ignored)
        tool_printf(run, "[%llu entries that .gitignore lists were left out.]\n",
                    (unsigned long long) search->outcome.ignored);
    if (search->too_large)
        tool_printf(run, "[%zu files are too large to be searched.]\n", search->too_large);
    if (search->rules.withheld)
        tool_printf(run, "[%zu files were not read, because the rules do not allow it.]\n",
                    search->rules.withheld);
    if (search->too_hard)
        tool_printf(run, "[%zu lines would have taken too long with this pattern.]\n",
                    search->too_hard);
    if (search->outcome.unreadable)
        tool_printf(run, "[%llu folders could not be read.]\n",
                    (unsigned long long) search->outcome.unreadable);
}

static void after(struct tool_run *run, struct tool_work *work)
{
    const struct search *search = work->own;
    if (search->err) {
        tool_fail(run, "%s.", search->error.message);
        return;
    }
    if (search->found == 0)
        tool_printf(run, "%s\n", search->nothing);
    tool_append(run, acp_buf_view(&search->lines));
    say_notes(run, search);
    (void) acp_buf_printf(&run->output, "{\"found\":%zu,\"complete\":%s}", search->found,
                          search->outcome.end == WALK_COMPLETE ? "true" : "false");
    tool_finish(run, TOOL_COMPLETED);
}

static void drop_work(struct tool_work *work)
{
    free_search(work->own);
}

void search_start(struct tool_run *run)
{
    struct search *search = run->own;
    int err = search_guard_init(&search->rules, run, &search->arena);
    if (err) {
        tool_fail(run, "The search cannot start: %s.", acp_err_text(err));
        return;
    }
    run->own = NULL; /* the thread owns it now */
    tool_start_work(run, search, on_thread, after, drop_work);
}
