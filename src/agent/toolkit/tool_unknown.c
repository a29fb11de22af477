/* tool_unknown.c - tells the model which tools exist when it calls one that does not. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/toolkit/tool.h"
#include "text/suggest.h"

enum { MAX_NAMED = 40, MAX_COMPARED = 200, FAR = 48 };

struct candidate {
    const char *name;
    size_t distance;
};

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

static bool has(const struct tools_options *options, const char *name, enum acp_tool_kind_is kind)
{
    return !options->has || options->has(acp_str_from(name), kind, options->user);
}

/* The tools that can be called now. */
static size_t collect(const struct tool_run *run, const char *wrong,
                      struct candidate candidates[MAX_COMPARED])
{
    const struct tools_options *options = &run->set->options;
    const struct tool_info *info;
    const char *name;
    size_t count = 0;
    for (size_t i = 0; count < MAX_COMPARED && (info = toolbox_at(run->box, i)) != NULL; i++)
        if (tools_offer(run->set, info) && has(options, info->name, info->kind))
            candidates[count++].name = info->name;
    for (size_t i = 0;
         options->name && count < MAX_COMPARED && (name = options->name(i, options->user)) != NULL;
         i++)
        if (has(options, name, ACP_TOOL_KIND_OTHER))
            candidates[count++].name = name;
    for (size_t i = 0; i < count; i++)
        candidates[i].distance = suggest_distance(wrong, candidates[i].name, FAR);
    qsort(candidates, count, sizeof(*candidates), compare);
    return count;
}

void tool_print_unknown(struct tool_run *run, struct acp_str name)
{
    struct candidate candidates[MAX_COMPARED];
    char wrong[FAR + 1];
    struct acp_str shown = acp_str_cut(name, 100);
    (void) snprintf(wrong, sizeof(wrong), "%.*s", (int) (name.len < FAR ? name.len : FAR),
                    name.ptr ? name.ptr : "");
    size_t count = collect(run, wrong, candidates);
    tool_printf(run, "There is no tool \"%.*s\". The tools, most similar first: ", (int) shown.len,
                shown.ptr);
    for (size_t i = 0; i < count && i < MAX_NAMED; i++)
        tool_printf(run, "%s%s", i ? ", " : "", candidates[i].name);
    if (count > MAX_NAMED)
        tool_printf(run, " and %zu more", count - MAX_NAMED);
    tool_printf(run, ".");
}
