/*
 * What the program says, turned into the version at hand.  Programs speak in the words of version 1
 * where the versions differ in words only; here these become version 2's.
 */
#include <stdlib.h>

#include "base/diff.h"
#include "role/agent_role.h"

/* ---- Options and modes ----------------------------------------------------------------------- */

int agent_dialect_modes(struct acp_agent *agent, struct acp_session_mode_list modes,
                        struct acp_str current, struct acp_session_config_option *ret)
{
    size_t count = modes.count;
    struct acp_session_config_select_option *choices =
        acp_arena_alloc(&agent->arena, count * sizeof(*choices));
    if (!choices)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct acp_session_mode *mode = &modes.items[i];
        acp_session_config_select_option_init(&choices[i], mode->id, mode->name);
        choices[i].description = mode->description;
    }
    acp_session_config_option_init_select(ret, acp_str_from("Mode"), current);
    ret->config_id = acp_str_from("mode");
    ret->category.is = ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE;
    acp_session_config_select_options_init_ungrouped(&ret->select.options, choices, count);
    return 0;
}

/* Groups have their id under another name. */
static int rename_groups(struct acp_agent *agent, struct acp_session_config_select_options *options)
{
    if (options->is != ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        return 0;
    size_t count = options->grouped.count;
    struct acp_session_config_select_group *groups =
        acp_arena_alloc(&agent->arena, count * sizeof(*groups));
    if (!groups)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        groups[i] = options->grouped.items[i];
        if (!groups[i].group_id.ptr)
            groups[i].group_id = groups[i].group;
    }
    options->grouped.items = groups;
    return 0;
}

bool agent_takes_booleans(const struct acp_agent *agent)
{
    const struct acp_client_session_capabilities *session = agent->client->session;
    if (agent_is_v2(agent))
        return true;
    return acp_is_set(session) && acp_is_set(session->config_options) &&
           acp_is_set(session->config_options->boolean);
}

bool agent_has_mode_option(struct acp_session_config_option_list options)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.items[i].category.is == ACP_SESSION_CONFIG_OPTION_CATEGORY_MODE)
            return true;
    return false;
}

struct acp_session_config_option_list agent_dialect_options(
    struct acp_agent *agent, struct acp_session_config_option_list options,
    const struct acp_session_config_option *mode)
{
    struct acp_session_config_option_list list = {NULL, 0};
    struct acp_session_config_option *copies =
        acp_arena_alloc(&agent->arena, (options.count + 1) * sizeof(*copies));
    if (!copies)
        return list;
    for (size_t i = 0; i < options.count; i++) {
        struct acp_session_config_option option = options.items[i];
        if (option.is == ACP_SESSION_CONFIG_OPTION_BOOLEAN && !agent_takes_booleans(agent))
            continue;
        if (agent_is_v2(agent) && !option.config_id.ptr)
            option.config_id = option.id;
        if (agent_is_v2(agent) && option.is == ACP_SESSION_CONFIG_OPTION_SELECT &&
            rename_groups(agent, &option.select.options))
            return list;
        copies[list.count++] = option;
    }
    if (mode)
        copies[list.count++] = *mode;
    if (list.count)
        list.items = copies;
    return list;
}

/* ---- Commands -------------------------------------------------------------------------------- */

struct acp_available_command_v2_list agent_dialect_commands(
    struct acp_agent *agent, struct acp_available_command_list commands)
{
    struct acp_available_command_v2_list list = {NULL, 0};
    struct acp_available_command_v2 *copies =
        acp_arena_alloc(&agent->arena, (commands.count + 1) * sizeof(*copies));
    if (!copies || commands.count == 0)
        return list;
    for (size_t i = 0; i < commands.count; i++) {
        const struct acp_available_command *from = &commands.items[i];
        acp_available_command_v2_init_command(&copies[i], from->name, from->description);
        if (!acp_is_set(from->input))
            continue;
        struct acp_available_command_input_v2 *input =
            acp_arena_alloc(&agent->arena, sizeof(*input));
        if (!input)
            return list;
        acp_available_command_input_v2_init_text(input, from->input->unstructured.hint);
        copies[i].command.input = input;
    }
    list.items = copies;
    list.count = commands.count;
    return list;
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

/* Version 2 has changed files and a patch instead of old and new text. */
static int dialect_diff(struct acp_agent *agent, struct acp_diff *diff)
{
    struct acp_diff_change *change = acp_arena_alloc(&agent->arena, sizeof(*change));
    struct acp_diff_patch *patch = acp_arena_alloc(&agent->arena, sizeof(*patch));
    if (diff->changes.count || !diff->path.ptr)
        return 0;
    if (!change || !patch)
        return ACP_ERR_NOMEM;
    bool is_new = !acp_is_set(diff->old_text.ptr);
    if (is_new)
        acp_diff_change_init_add(change, diff->path);
    else
        acp_diff_change_init_modify(change, diff->path);
    change->file_type.is = ACP_DIFF_FILE_TYPE_TEXT;
    diff->changes.items = change;
    diff->changes.count = 1;

    struct acp_diff_patch_options options = {
        .old_path = is_new ? acp_str_from(NULL) : diff->path, .new_path = diff->path, .context = 3};
    struct acp_buf text;
    acp_buf_init(&text, (size_t) ACP_WIRE_DEFAULT_MAX);
    int err =
        acp_diff_patch(&options, is_new ? acp_str_from("") : diff->old_text, diff->new_text, &text);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&agent->arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (!copy.ptr)
        return err ? err : ACP_ERR_NOMEM;
    acp_diff_patch_init(patch, ACP_DIFF_PATCH_FORMAT_GIT_PATCH, copy);
    diff->patch = patch;
    return 0;
}

static int dialect_content(struct acp_agent *agent, struct acp_tool_call_content_list *content)
{
    if (!agent_is_v2(agent) || content->count == 0)
        return 0;
    struct acp_tool_call_content *items =
        acp_arena_alloc(&agent->arena, content->count * sizeof(*items));
    if (!items)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < content->count; i++) {
        items[i] = content->items[i];
        int err =
            items[i].is == ACP_TOOL_CALL_CONTENT_DIFF ? dialect_diff(agent, &items[i].diff) : 0;
        if (err)
            return err;
    }
    content->items = items;
    return 0;
}

int agent_dialect_tool(struct acp_agent *agent, const struct acp_tool_call_update *update,
                       struct acp_tool_call_update *ret)
{
    *ret = *update;
    if (!agent_is_v2(agent)) {
        /* Version 1 knows neither of these. */
        if (ret->status.is == ACP_TOOL_CALL_STATUS_PAUSED)
            ret->status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
        else if (ret->status.is == ACP_TOOL_CALL_STATUS_CANCELLED)
            ret->status.is = ACP_TOOL_CALL_STATUS_FAILED;
    }
    return dialect_content(agent, &ret->content);
}
