/* turn_tools.c - what is known of the tool calls of a turn: their kinds, and what was permitted. */
#include <stdlib.h>

#include "conversation/conversation_internal.h"
#include "conversation/question.h"

/* ---- Kinds ----------------------------------------------------------------------------------- */

void conversation_note_tool(struct conversation *c, const struct acp_tool_call_update *tool)
{
    if (tool->kind.is <= 0)
        return;
    bool known = acp_map_get(&c->tool_kinds, tool->tool_call_id) != NULL;
    if (tool->tool_call_id.len > CONVERSATION_MAX_TOOL_ID ||
        (!known && c->tool_kinds.count >= CONVERSATION_MAX_TOOLS))
        conversation_notice_limit(
            c, CONVERSATION_LIMIT_TOOLS,
            "%.*s made more than %d tool calls in one turn, or used an id of more "
            "than %d bytes; the kinds of further ones are not remembered",
            (int) c->options.agent.len, c->options.agent.ptr, CONVERSATION_MAX_TOOLS,
            CONVERSATION_MAX_TOOL_ID);
    else
        (void) acp_map_set(&c->tool_kinds, tool->tool_call_id,
                           (void *) ((uintptr_t) tool->kind.is + 1));
}

enum acp_tool_kind_is conversation_tool_kind(const struct conversation *c, struct acp_str id)
{
    uintptr_t kind = (uintptr_t) acp_map_get(&c->tool_kinds, id);
    return kind ? (enum acp_tool_kind_is)(kind - 1) : ACP_TOOL_KIND_ABSENT;
}

/* ---- What was permitted ---------------------------------------------------------------------- */

size_t conversation_action_bytes(const struct acp_action *action)
{
    size_t bytes = sizeof(*action) + action->title.len + action->command.len + action->tool.len +
                   action->command_cwd.len;
    for (size_t i = 0; i < action->paths.count; i++)
        bytes += sizeof(struct acp_str) + action->paths.items[i].len;
    for (size_t i = 0; i < action->env.count; i++)
        bytes += sizeof(struct acp_str_entry) + action->env.items[i].key.len +
                 action->env.items[i].value.len;
    for (size_t i = 0; i < action->edits.count; i++)
        bytes += sizeof(struct acp_action_edit) + action->edits.items[i].path.len;
    return bytes;
}

static bool copy_paths(struct acp_arena *arena, struct acp_str_list from, struct acp_str_list *ret)
{
    struct acp_str *paths = acp_arena_alloc(arena, (from.count + 1) * sizeof(*paths));
    for (size_t i = 0; paths && i < from.count; i++)
        paths[i] = acp_arena_copy(arena, from.items[i]);
    *ret = (struct acp_str_list){paths, from.count};
    return paths;
}

static bool copy_env(struct acp_arena *arena, struct acp_str_map from, struct acp_str_map *ret)
{
    struct acp_str_entry *env = acp_arena_alloc(arena, (from.count + 1) * sizeof(*env));
    for (size_t i = 0; env && i < from.count; i++)
        env[i] = (struct acp_str_entry){acp_arena_copy(arena, from.items[i].key),
                                        acp_arena_copy(arena, from.items[i].value)};
    *ret = (struct acp_str_map){env, from.count};
    return env;
}

static bool copy_edits(struct acp_arena *arena, struct acp_action_edit_list from,
                       struct acp_action_edit_list *ret)
{
    struct acp_action_edit *edits = acp_arena_alloc(arena, (from.count + 1) * sizeof(*edits));
    for (size_t i = 0; edits && i < from.count; i++) {
        edits[i] = from.items[i];
        edits[i].path = acp_arena_copy(arena, from.items[i].path);
    }
    *ret = (struct acp_action_edit_list){edits, from.count};
    return edits;
}

bool conversation_copy_action(struct acp_arena *arena, const struct acp_action *action,
                              struct acp_action *ret)
{
    *ret = *action;
    ret->title = acp_arena_copy(arena, action->title);
    ret->command = acp_arena_copy(arena, action->command);
    ret->tool = acp_arena_copy(arena, action->tool);
    ret->command_cwd = acp_arena_copy(arena, action->command_cwd);
    return copy_paths(arena, action->paths, &ret->paths) &&
           copy_env(arena, action->env, &ret->env) && copy_edits(arena, action->edits, &ret->edits);
}

static void free_permitted(struct permitted_action *permitted)
{
    acp_arena_finish(&permitted->arena);
    free(permitted);
}

static void drop_permitted(struct conversation *c, struct permitted_action **at)
{
    struct permitted_action *permitted = *at;
    *at = permitted->next;
    c->permitted_count--;
    c->permitted_bytes -= permitted->bytes;
    free_permitted(permitted);
}

static void drop_oldest_permitted(struct conversation *c)
{
    struct permitted_action **at = &c->permitted;
    while ((*at)->next)
        at = &(*at)->next;
    drop_permitted(c, at);
}

void conversation_note_permitted(struct conversation *c, const struct acp_action *action)
{
    size_t bytes = conversation_action_bytes(action);
    struct permitted_action *permitted =
        bytes <= CONVERSATION_MAX_PERMITTED_BYTES ? calloc(1, sizeof(*permitted)) : NULL;
    if (!permitted)
        return; /* it is asked about once more, and that is all */
    acp_arena_init(&permitted->arena, 0);
    permitted->used = acp_arena_alloc(&permitted->arena, action->paths.count + 1);
    if (!permitted->used ||
        !conversation_copy_action(&permitted->arena, action, &permitted->action)) {
        free_permitted(permitted);
        return;
    }
    permitted->bytes = bytes;
    memset(permitted->used, 0, action->paths.count + 1);
    permitted->next = c->permitted;
    c->permitted = permitted;
    c->permitted_count++;
    c->permitted_bytes += bytes;
    while (c->permitted_count > CONVERSATION_MAX_PERMITTED ||
           c->permitted_bytes > CONVERSATION_MAX_PERMITTED_BYTES)
        drop_oldest_permitted(c);
}

/* The very same line, or a shell that is given just that. */
static bool same_line(struct acp_str permitted, struct acp_str command)
{
    static const char *const shells[] = {"/bin/sh", "sh", "/bin/bash", "bash"};
    static const char *const flags[] = {"-c", "-lc"};
    bool same = acp_str_eq(permitted, command);
    struct acp_buf line;
    if (!permitted.len)
        return false;
    acp_buf_init(&line, EVENT_MAX_BYTES);
    for (size_t i = 0; i < 8 && !same; i++) {
        struct acp_str words[] = {acp_str_from(flags[i % 2]), permitted};
        acp_buf_clear(&line);
        same = acp_command_line(acp_str_from(shells[i / 2]), (struct acp_str_list){words, 2},
                                &line) == 0 &&
               acp_str_eq(acp_buf_view(&line), command);
    }
    acp_buf_finish(&line);
    return same;
}

static bool same_env(struct acp_str_map a, struct acp_str_map b)
{
    bool same = a.count == b.count;
    for (size_t i = 0; i < a.count && same; i++)
        same = acp_str_eq(a.items[i].key, b.items[i].key) &&
               acp_str_eq(a.items[i].value, b.items[i].value);
    return same;
}

static bool covers_command(const struct acp_action *permitted, const struct acp_action *action)
{
    return same_line(permitted->command, action->command) &&
           same_env(permitted->env, action->env) && question_same_directory(permitted, action);
}

/* The new content must be the one that a diff of the file has shown. */
static bool same_content(const struct acp_action *permitted, const struct acp_action *action,
                         struct acp_str path)
{
    const struct acp_action_edit *shown = NULL;
    const struct acp_action_edit *edit = action->edits.count == 1 ? action->edits.items : NULL;
    for (size_t i = 0; i < permitted->edits.count; i++) {
        if (!acp_str_eq(permitted->edits.items[i].path, path))
            continue;
        if (shown)
            return false; /* which of the two would it be? */
        shown = &permitted->edits.items[i];
    }
    return shown && shown->known && edit && edit->known && edit->size == shown->size &&
           memcmp(edit->digest, shown->digest, ACP_DIGEST_SIZE) == 0;
}

/* One file, read or changed; returns the index of the path in what was permitted, or -1. */
static int find_file(const struct permitted_action *permitted, const struct acp_action *action)
{
    const struct acp_action *allowed = &permitted->action;
    bool reads = action->kind == ACP_TOOL_KIND_READ;
    unsigned char use = reads ? USED_TO_READ : USED_TO_CHANGE;
    if (allowed->command.len || action->paths.count != 1)
        return -1;
    /* Who may change a file has to read it. */
    if (allowed->kind != action->kind && !(reads && allowed->kind == ACP_TOOL_KIND_EDIT))
        return -1;
    for (size_t i = 0; i < allowed->paths.count; i++)
        if (acp_str_eq(allowed->paths.items[i], action->paths.items[0]) &&
            !(permitted->used[i] & use) &&
            (reads || same_content(allowed, action, action->paths.items[0])))
            return (int) i;
    return -1;
}

bool conversation_use_permission(struct conversation *c, const struct acp_action *action)
{
    for (struct permitted_action **at = &c->permitted; *at; at = &(*at)->next) {
        struct permitted_action *permitted = *at;
        if (action->command.len) {
            if (!covers_command(&permitted->action, action))
                continue;
            drop_permitted(c, at);
            return true;
        }
        int index = find_file(permitted, action);
        if (index < 0)
            continue;
        permitted->used[index] |=
            action->kind == ACP_TOOL_KIND_READ ? USED_TO_READ : USED_TO_CHANGE;
        return true;
    }
    return false;
}

void conversation_forget_tools(struct conversation *c)
{
    acp_map_finish(&c->tool_kinds);
    acp_map_init(&c->tool_kinds, uv_hrtime());
    c->limits_reported = 0;
    while (c->permitted)
        drop_permitted(c, &c->permitted);
}
