/*
 * Permission requests: what one is about, as an action for the policy, and the answer that carries
 * a verdict back.
 */
#include "acp/json.h"
#include "acp/policy.h"
#include "workspace/digest.h"

/* ---- The action ----------------------------------------------------------------------------- */

struct path_list {
    struct acp_arena *arena;
    struct acp_str *items;
    size_t count;
    size_t cap;
    int err;
};

static void add_path(struct path_list *list, struct acp_str path)
{
    if (!path.len || list->err)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (acp_str_eq(list->items[i], path))
            return;
    if (list->count == ACP_ACTION_MAX_PATHS) {
        list->err = ACP_ERR_LIMIT;
        return;
    }
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        struct acp_str *items =
            acp_arena_grow(list->arena, list->items, list->cap * sizeof(struct acp_str),
                           cap * sizeof(struct acp_str));
        if (!items) {
            list->err = ACP_ERR_NOMEM;
            return;
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = path;
}

static void add_change(struct path_list *list, const struct acp_diff_change *change)
{
    switch (change->is) {
    case ACP_DIFF_CHANGE_ADD:
    case ACP_DIFF_CHANGE_DELETE:
    case ACP_DIFF_CHANGE_MODIFY:
        add_path(list, change->add.path);
        break;
    case ACP_DIFF_CHANGE_MOVE:
    case ACP_DIFF_CHANGE_COPY:
        add_path(list, change->move.old_path);
        add_path(list, change->move.path);
        break;
    default:
        break;
    }
}

static void add_paths(struct path_list *list, const struct acp_tool_call_update *call)
{
    for (size_t i = 0; i < call->locations.count; i++)
        add_path(list, call->locations.items[i].path);
    for (size_t i = 0; i < call->content.count; i++) {
        const struct acp_tool_call_content *content = &call->content.items[i];
        if (content->is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        add_path(list, content->diff.path);
        for (size_t k = 0; k < content->diff.changes.count; k++)
            add_change(list, &content->diff.changes.items[k]);
    }
}

/* A list of texts, command and arguments, as one line; one without a program cannot be read. */
static int read_words(struct acp_json_reader *r, struct acp_str *ret_line)
{
    struct acp_str words[64];
    size_t count = 0;
    int err = acp_json_enter_array(r);
    int more = 0;
    while (!err && (more = acp_json_next_item(r)) > 0)
        err = count < 64 ? acp_json_read_str(r, &words[count++]) : ACP_ERR_LIMIT;
    if (err || more < 0 || count == 0 || words[0].len == 0)
        return ACP_ERR_TYPE;
    struct acp_buf line;
    acp_buf_init(&line, 1 << 20);
    err = acp_command_line(words[0], (struct acp_str_list){words + 1, count - 1}, &line);
    if (!err) {
        *ret_line = acp_arena_copy(r->arena, acp_buf_view(&line));
        err = ret_line->ptr ? 0 : ACP_ERR_NOMEM;
    }
    acp_buf_finish(&line);
    return err;
}

/* Variables, as an object of texts. */
static int read_env(struct acp_json_reader *r, struct acp_str_map *ret_env)
{
    struct acp_str_entry entries[64];
    size_t count = 0;
    int more = 0;
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &entries[count].key)) > 0) {
        err = acp_json_read_str(r, &entries[count].value);
        if (!err && ++count == 64)
            err = ACP_ERR_LIMIT;
    }
    if (err || more < 0)
        return ACP_ERR_TYPE;
    struct acp_str_entry *copy = acp_arena_alloc(r->arena, (count + 1) * sizeof(*copy));
    if (!copy)
        return ACP_ERR_NOMEM;
    memcpy(copy, entries, count * sizeof(*copy));
    *ret_env = (struct acp_str_map){copy, count};
    return 0;
}

static int set_raw_env(struct acp_arena *arena, struct acp_raw raw, struct acp_str_map *ret_env)
{
    struct acp_str_entry *entry = acp_arena_alloc(arena, sizeof(*entry));
    if (!entry)
        return ACP_ERR_NOMEM;
    *entry = (struct acp_str_entry){acp_str_from("env"), acp_str_n(raw.ptr, raw.len)};
    *ret_env = (struct acp_str_map){entry, 1};
    return 0;
}

/* One member of rawInput; ACP_ERR_TYPE when it cannot be read. */
static int read_member(struct acp_json_reader *r, struct acp_str key, struct acp_action *action)
{
    if (acp_str_is(key, "command"))
        return action->command.ptr                  ? ACP_ERR_TYPE
               : acp_json_peek(r) == ACP_JSON_ARRAY ? read_words(r, &action->command)
                                                    : acp_json_read_str(r, &action->command);
    if (acp_str_is(key, "env"))
        return action->env.count ? ACP_ERR_TYPE : read_env(r, &action->env);
    return action->command_cwd.ptr ? ACP_ERR_TYPE : acp_json_read_str(r, &action->command_cwd);
}

/*
 * The command of rawInput, where nearly all agents have it, with its variables and its directory.
 * One that cannot be read, or is there twice, is not nothing: its JSON stands for it, which no
 * pattern permits and no directory is called; for the command it is the whole input.
 */
static int find_command(struct acp_raw input, struct acp_arena *arena, struct acp_action *action)
{
    struct acp_json_reader r;
    struct acp_str key;
    acp_json_reader_init(&r, input, arena, 0);
    if (!acp_is_set(input.ptr) || acp_json_peek(&r) != ACP_JSON_OBJECT)
        return 0;
    int err = acp_json_enter_object(&r);
    while (!err && acp_json_next_key(&r, &key) > 0) {
        struct acp_json_reader before = r;
        struct acp_raw raw;
        bool place = acp_str_is(key, "cwd") || acp_str_is(key, "workdir");
        bool told = acp_json_peek(&r) != ACP_JSON_NULL;
        if (!acp_str_is(key, "command") && !(told && (place || acp_str_is(key, "env")))) {
            err = acp_json_skip(&r);
            continue;
        }
        err = read_member(&r, key, action);
        if (!err || err == ACP_ERR_NOMEM)
            continue;
        r = before;
        err = acp_json_read_raw(&r, &raw);
        if (err)
            break;
        if (acp_str_is(key, "command"))
            action->command = acp_str_n(input.ptr, input.len);
        else if (acp_str_is(key, "env"))
            err = set_raw_env(arena, raw, &action->env);
        else
            action->command_cwd = acp_str_n(raw.ptr, raw.len);
    }
    return err == ACP_ERR_NOMEM ? err : 0;
}

/* The file that a v2 change leaves something in; absent when it leaves none. */
static struct acp_str changed_path(const struct acp_diff_change *change)
{
    switch (change->is) {
    case ACP_DIFF_CHANGE_ADD:
    case ACP_DIFF_CHANGE_MODIFY:
        return change->add.path;
    case ACP_DIFF_CHANGE_MOVE:
    case ACP_DIFF_CHANGE_COPY:
        return change->move.path;
    default:
        return acp_str_from(NULL);
    }
}

/* What the files of diffs will hold. */
static int list_edits(const struct acp_tool_call_update *call, struct acp_arena *arena,
                      struct acp_action_edit_list *ret_edits)
{
    struct acp_action_edit *edits = NULL;
    size_t count = 0;
    for (size_t i = 0; i < call->content.count; i++) {
        const struct acp_diff *diff = &call->content.items[i].diff;
        if (call->content.items[i].is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        for (size_t k = 0; k < (diff->path.len ? 1 : diff->changes.count); k++) {
            size_t size = count * sizeof(*edits);
            edits = acp_arena_grow(arena, edits, size, size + sizeof(*edits));
            if (!edits)
                return ACP_ERR_NOMEM;
            if (diff->path.len)
                acp_action_edit_init(&edits[count++], diff->path, diff->new_text);
            else
                edits[count++] =
                    (struct acp_action_edit){.path = changed_path(&diff->changes.items[k])};
        }
    }
    *ret_edits = (struct acp_action_edit_list){edits, count};
    return 0;
}

int acp_action_from_request(const struct acp_request_permission_request *request,
                            struct acp_arena *arena, struct acp_action *ret_action)
{
    const struct acp_request_permission_subject *subject = request->subject;
    bool told = acp_is_set(subject);
    const struct acp_tool_call_update *call = &request->tool_call;
    if (told && subject->is == ACP_REQUEST_PERMISSION_SUBJECT_TOOL_CALL)
        call = &subject->tool_call.tool_call;
    struct path_list paths = {.arena = arena};
    add_paths(&paths, call);
    if (paths.err)
        return paths.err;
    struct acp_action action = {.kind = call->kind.is,
                                .title = call->title.len ? call->title : request->title,
                                .tool = call->name,
                                .session_id = request->session_id};
    action.paths = (struct acp_str_list){paths.items, paths.count};
    int err = find_command(call->raw_input, arena, &action);
    if (!err)
        err = list_edits(call, arena, &action.edits);
    if (err)
        return err;
    if (told && subject->is == ACP_REQUEST_PERMISSION_SUBJECT_COMMAND) {
        action.kind = ACP_TOOL_KIND_EXECUTE;
        action.command = subject->command.command;
        action.command_cwd = subject->command.cwd;
    }
    *ret_action = action;
    return 0;
}

/* ---- The answer ----------------------------------------------------------------------------- */

static const struct acp_permission_option *find_option(struct acp_permission_option_list options,
                                                       enum acp_permission_option_kind_is kind)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.items[i].kind.is == kind)
            return options.items + i;
    return NULL;
}

bool acp_policy_answer(enum acp_verdict verdict, bool always,
                       struct acp_permission_option_list options,
                       struct acp_request_permission_outcome *ret_outcome)
{
    const struct acp_permission_option *option = NULL;
    if (verdict == ACP_VERDICT_ALLOW) {
        if (always)
            option = find_option(options, ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
        if (!option)
            option = find_option(options, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    } else if (verdict == ACP_VERDICT_DENY) {
        enum acp_permission_option_kind_is once = ACP_PERMISSION_OPTION_KIND_REJECT_ONCE;
        enum acp_permission_option_kind_is ever = ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
        option = find_option(options, always ? ever : once);
        if (!option)
            option = find_option(options, always ? once : ever);
    }
    if (option)
        acp_request_permission_outcome_init_selected(ret_outcome, option->option_id);
    else
        acp_request_permission_outcome_init_cancelled(ret_outcome);
    return option != NULL;
}
