/* tools.c - the table of tools, the toolbox with it, and the sets of sessions. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/toolkit/tool.h"
#include "launch/sandbox.h"

static const struct tool *const table[] = {
    &tool_for_read,  &tool_for_write, &tool_for_edit,     &tool_for_patch,  &tool_for_list,
    &tool_for_glob,  &tool_for_grep,  &tool_for_command,  &tool_for_output, &tool_for_stop,
    &tool_for_fetch, &tool_for_plan,  &tool_for_ask_user,
};
enum { TOOL_COUNT = sizeof(table) / sizeof(table[0]) };

/* ---- The toolbox ---------------------------------------------------------------------------- */

void toolbox_on_queue(uv_timer_t *timer)
{
    struct toolbox *box = timer->data;
    struct tool_run *run = box->queue;
    box->queue = NULL;
    box->queue_end = &box->queue;
    while (run) {
        struct tool_run *next = run->next_queued;
        tool_proceed(run);
        run = next;
    }
}

int toolbox_new(uv_loop_t *loop, const struct toolbox_fetch *fetch, struct toolbox **ret)
{
    struct toolbox *box = calloc(1, sizeof(*box));
    struct schema **schemas = calloc(TOOL_COUNT, sizeof(struct schema *));
    if (!box || !schemas) {
        free(box);
        free(schemas);
        return ACP_ERR_NOMEM;
    }
    box->loop = loop;
    box->schemas = schemas;
    box->queue_end = &box->queue;
    if (fetch) {
        box->fetch = *fetch;
        box->can_fetch = true;
    }
    (void) uv_timer_init(loop, &box->queue_timer);
    box->queue_timer.data = box;
    *ret = box;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void toolbox_free(struct toolbox *box)
{
    if (!box)
        return;
    /* Runs that are still queued belong to sets that were freed: this frees their memory. */
    toolbox_on_queue(&box->queue_timer);
    for (size_t i = 0; i < TOOL_COUNT; i++)
        schema_free(box->schemas[i]);
    free(box->schemas);
    sandbox_free(box->sandbox);
    uv_close((uv_handle_t *) &box->queue_timer, on_closed);
}

const struct tool_info *toolbox_at(const struct toolbox *box, size_t index)
{
    size_t at = 0;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (table[i] == &tool_for_fetch && !box->can_fetch)
            continue;
        if (at++ == index)
            return &table[i]->info;
    }
    return NULL;
}

const struct tool *toolbox_tool(const struct toolbox *box, struct acp_str name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (acp_str_is(name, table[i]->info.name))
            return table[i] == &tool_for_fetch && !box->can_fetch ? NULL : table[i];
    return NULL;
}

const struct tool_info *toolbox_find(const struct toolbox *box, struct acp_str name)
{
    const struct tool *tool = toolbox_tool(box, name);
    return tool ? &tool->info : NULL;
}

const struct schema *toolbox_schema(struct toolbox *box, const struct tool *tool)
{
    size_t i = 0;
    while (i < TOOL_COUNT && table[i] != tool)
        i++;
    if (i == TOOL_COUNT)
        return NULL;
    if (!box->schemas[i])
        (void) schema_compile(acp_raw_from(tool->info.input_schema), &box->schemas[i], NULL);
    return box->schemas[i];
}

bool toolbox_has_sandbox(struct toolbox *box, struct acp_failure *failure)
{
    if (!box->sandbox_tried)
        (void) sandbox_new(NULL, &box->sandbox, &box->sandbox_failure);
    box->sandbox_tried = true;
    if (!box->sandbox && failure)
        *failure = box->sandbox_failure;
    return box->sandbox;
}

/* ---- Sets ----------------------------------------------------------------------------------- */

int tools_new(const struct tools_options *options, struct tools **ret)
{
    struct tools *set = calloc(1, sizeof(*set));
    if (!set)
        return ACP_ERR_NOMEM;
    undo_init(&set->undo, 0);
    set->options = *options;
    *ret = set;
    return 0;
}

void tools_free(struct tools *set)
{
    if (!set)
        return;
    while (set->runs)
        tool_abandon(set->runs);
    tool_end_background(set);
    tool_roots_release(set->roots);
    undo_finish(&set->undo);
    free(set);
}

void tools_set_policy(struct tools *set, const struct acp_policy *policy)
{
    set->options.policy = policy;
}

bool tools_offer(const struct tools *set, const struct tool_info *tool)
{
    switch (acp_policy_get_mode(set->options.policy)) {
    case ACP_POLICY_READ_ONLY:
        return !tool->writes;
    case ACP_POLICY_SAFE:
        return !tool->dangerous;
    case ACP_POLICY_SANDBOX:
        return !tool->dangerous &&
               (tool->kind != ACP_TOOL_KIND_EXECUTE || toolbox_has_sandbox(set->options.box, NULL));
    default:
        return true;
    }
}

size_t tools_running(const struct tools *set)
{
    size_t count = 0;
    for (const struct tool_run *run = set->runs; run; run = run->next)
        count++;
    return count;
}

void tools_start_turn(struct tools *set)
{
    undo_begin(&set->undo);
}

/* ---- Roots ---------------------------------------------------------------------------------- */

struct tool_roots *tools_roots(struct tools *set, struct acp_failure *failure)
{
    if (set->roots) {
        set->roots->uses++;
        return set->roots;
    }
    struct tool_roots *roots = calloc(1, sizeof(*roots));
    if (!roots) {
        *failure = (struct acp_failure){.err = ACP_ERR_NOMEM, .message = "out of memory"};
        return NULL;
    }
    if (acp_roots_new(acp_session_cwd(set->options.session),
                      acp_session_directories(set->options.session), &roots->roots, failure)) {
        free(roots);
        return NULL;
    }
    roots->uses = 2; /* the set's own, and the caller's */
    set->roots = roots;
    return roots;
}

void tools_close_roots(struct tools *set)
{
    tool_roots_release(set->roots);
    set->roots = NULL;
}

void tool_roots_release(struct tool_roots *roots)
{
    if (!roots || --roots->uses)
        return;
    acp_roots_free(roots->roots);
    free(roots);
}
