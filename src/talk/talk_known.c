/* talk_known.c - what is known of the tool calls of a turn: their kinds, and what was permitted. */
#include <stdlib.h>

#include "talk/talk_inside.h"

/* ---- Kinds ----------------------------------------------------------------------------------- */

void talk_note_tool(struct talk *talk, const struct acp_tool_call_update *tool)
{
    if (tool->kind.is <= 0)
        return;
    bool known = acp_map_get(&talk->tool_kinds, tool->tool_call_id) != NULL;
    if (tool->tool_call_id.len > TALK_MAX_TOOL_ID ||
        (!known && talk->tool_kinds.count >= TALK_MAX_TOOLS))
        talk_notice_limit(talk, TALK_LIMIT_TOOLS,
                          "%.*s made more than %d tool calls in one turn, or used an id of more "
                          "than %d bytes; the kinds of further ones are not remembered",
                          (int) talk->options.agent.len, talk->options.agent.ptr, TALK_MAX_TOOLS,
                          TALK_MAX_TOOL_ID);
    else
        (void) acp_map_set(&talk->tool_kinds, tool->tool_call_id,
                           (void *) ((uintptr_t) tool->kind.is + 1));
}

enum acp_tool_kind_is talk_tool_kind(const struct talk *talk, struct acp_str id)
{
    uintptr_t kind = (uintptr_t) acp_map_get(&talk->tool_kinds, id);
    return kind ? (enum acp_tool_kind_is)(kind - 1) : ACP_TOOL_KIND_ABSENT;
}

/* ---- What was permitted ---------------------------------------------------------------------- */

size_t talk_action_bytes(const struct acp_action *action)
{
    size_t bytes = sizeof(*action) + action->title.len + action->command.len + action->tool.len;
    for (size_t i = 0; i < action->paths.count; i++)
        bytes += sizeof(struct acp_str) + action->paths.items[i].len;
    return bytes;
}

bool talk_copy_action(struct acp_arena *arena, const struct acp_action *action,
                      struct acp_action *ret)
{
    struct acp_str *paths = acp_arena_alloc(arena, (action->paths.count + 1) * sizeof(*paths));
    if (!paths)
        return false;
    *ret = *action;
    ret->title = acp_arena_copy(arena, action->title);
    ret->command = acp_arena_copy(arena, action->command);
    ret->tool = acp_arena_copy(arena, action->tool);
    for (size_t i = 0; i < action->paths.count; i++)
        paths[i] = acp_arena_copy(arena, action->paths.items[i]);
    ret->paths.items = paths;
    return true;
}

static void drop_oldest_permitted(struct talk *talk)
{
    struct talk_permitted **at = &talk->permitted;
    while ((*at)->next)
        at = &(*at)->next;
    talk->permitted_count--;
    talk->permitted_bytes -= (*at)->bytes;
    acp_arena_finish(&(*at)->arena);
    free(*at);
    *at = NULL;
}

void talk_note_permitted(struct talk *talk, const struct acp_action *action)
{
    size_t bytes = talk_action_bytes(action);
    struct talk_permitted *permitted =
        bytes <= TALK_MAX_PERMITTED_BYTES ? calloc(1, sizeof(*permitted)) : NULL;
    if (!permitted)
        return; /* it is asked about once more, and that is all */
    acp_arena_init(&permitted->arena, 0);
    if (!talk_copy_action(&permitted->arena, action, &permitted->action)) {
        acp_arena_finish(&permitted->arena);
        free(permitted);
        return;
    }
    permitted->bytes = bytes;
    permitted->next = talk->permitted;
    talk->permitted = permitted;
    talk->permitted_count++;
    talk->permitted_bytes += bytes;
    while (talk->permitted_count > TALK_MAX_PERMITTED ||
           talk->permitted_bytes > TALK_MAX_PERMITTED_BYTES)
        drop_oldest_permitted(talk);
}

static bool has_path(const struct acp_action *action, struct acp_str path)
{
    for (size_t i = 0; i < action->paths.count; i++)
        if (acp_str_eq(action->paths.items[i], path))
            return true;
    return false;
}

/* The very same command, or a shell that is given just that. */
static bool same_command(struct acp_str permitted, struct acp_str command)
{
    static const char *const shells[] = {"/bin/sh", "sh", "/bin/bash", "bash"};
    static const char *const flags[] = {"-c", "-lc"};
    bool same = acp_str_eq(permitted, command);
    struct acp_buf line;
    if (!permitted.len)
        return false;
    acp_buf_init(&line, RECORD_MAX);
    for (size_t i = 0; i < 8 && !same; i++) {
        struct acp_str words[] = {acp_str(flags[i % 2]), permitted};
        acp_buf_clear(&line);
        same =
            acp_command_line(acp_str(shells[i / 2]), (struct acp_str_list){words, 2}, &line) == 0 &&
            acp_str_eq(acp_buf_view(&line), command);
    }
    acp_buf_finish(&line);
    return same;
}

/* The very same command; or files that were all named, by who may do more than read them. */
static bool covers(const struct acp_action *permitted, const struct acp_action *action)
{
    if (action->command.len)
        return same_command(permitted->command, action->command);
    bool changes = permitted->kind == ACP_TOOL_KIND_EDIT ||
                   permitted->kind == ACP_TOOL_KIND_DELETE ||
                   permitted->kind == ACP_TOOL_KIND_MOVE || permitted->kind == action->kind;
    for (size_t i = 0; i < action->paths.count && changes; i++)
        changes = has_path(permitted, action->paths.items[i]);
    return changes && action->paths.count;
}

bool talk_is_permitted(const struct talk *talk, const struct acp_action *action)
{
    for (const struct talk_permitted *p = talk->permitted; p; p = p->next)
        if (covers(&p->action, action))
            return true;
    return false;
}

void talk_forget_known(struct talk *talk)
{
    acp_map_finish(&talk->tool_kinds);
    acp_map_init(&talk->tool_kinds, uv_hrtime());
    talk->limits_told = 0;
    while (talk->permitted)
        drop_oldest_permitted(talk);
}
