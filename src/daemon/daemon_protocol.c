/* daemon_protocol.c - what daemon and client say to each other. */
#include "daemon/daemon_protocol.h"

#include "acp/types.h"
#include "json/members.h"

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *const permit_names[PERMIT_COUNT] = {
    [PERMIT_ASK] = "ask",
    [PERMIT_READS] = "reads",
    [PERMIT_ALL] = "all",
    [PERMIT_NONE] = "none",
};

static const char *const end_names[] = {
    [PROMPT_STOPPED] = "stopped",
    [PROMPT_REFUSED] = "refused",
    [PROMPT_FAILED] = "failed",
    [PROMPT_TIMED_OUT] = "timeout",
};

static bool find_name(const char *const *names, int count, struct acp_str name, int *ret)
{
    for (int i = 0; i < count; i++) {
        if (!acp_str_is(name, names[i]))
            continue;
        *ret = i;
        return true;
    }
    return false;
}

const char *permit_name(enum permit permit)
{
    return permit_names[permit];
}

bool permit_find(struct acp_str name, enum permit *ret)
{
    int found;
    if (!find_name(permit_names, PERMIT_COUNT, name, &found))
        return false;
    *ret = (enum permit) found;
    return true;
}

/* An absent text is not written. */
static void write_text(struct acp_json_writer *w, const char *name, struct acp_str text)
{
    if (text.ptr)
        acp_json_put_str(w, name, text);
}

/* ---- Prompts --------------------------------------------------------------------------------- */

void daemon_write_prompt(struct acp_json_writer *w, const struct prompt_request *prompt)
{
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("body"));
    acp_json_write_raw(w, prompt->body);
    acp_json_put_u64(w, "timeoutMs", prompt->timeout_ms);
    write_text(w, "approve", acp_str_from(permit_name(prompt->permit)));
    acp_json_put_bool(w, "ask", prompt->ask);
    acp_json_put_bool(w, "wait", prompt->wait);
    acp_json_end_object(w);
}

int daemon_read_prompt(struct acp_raw params, struct acp_arena *arena, struct prompt_request *ret)
{
    struct prompt_request prompt = {.wait = true};
    struct acp_str permit = {0};
    int err = acp_json_member_raw(params, "body", &prompt.body);
    if (!err && !prompt.body.ptr)
        err = ACP_ERR_MISSING;
    if (!err)
        err = acp_json_member_u64(params, "timeoutMs", &prompt.timeout_ms);
    if (!err)
        err = acp_json_member_str(params, "approve", arena, &permit);
    if (!err && !permit_find(permit, &prompt.permit))
        err = ACP_ERR_VARIANT;
    if (!err)
        err = acp_json_member_bool(params, "ask", &prompt.ask);
    if (!err)
        err = acp_json_member_bool(params, "wait", &prompt.wait);
    if (!err)
        *ret = prompt;
    return err;
}

void daemon_write_end(struct acp_json_writer *w, uint64_t turn, const struct prompt_end *end)
{
    acp_json_begin_object(w);
    acp_json_put_u64(w, "turn", turn);
    write_text(w, "kind", acp_str_from(end_names[end->kind]));
    write_text(w, "stop", end->stop);
    write_text(w, "message", end->message);
    acp_json_put_bool(w, "denied", end->denied);
    acp_json_put_bool(w, "unasked", end->unasked);
    acp_json_put_bool(w, "cancelled", end->cancelled);
    acp_json_end_object(w);
}

int daemon_read_end(struct acp_raw result, struct acp_arena *arena, uint64_t *ret_turn,
                    struct prompt_end *ret)
{
    struct prompt_end end = {0};
    struct acp_str name = {0};
    int kind;
    int err = acp_json_member_u64(result, "turn", ret_turn);
    if (!err)
        err = acp_json_member_str(result, "kind", arena, &name);
    if (!err && !find_name(end_names, PROMPT_TIMED_OUT + 1, name, &kind))
        err = ACP_ERR_VARIANT;
    if (!err)
        end.kind = (enum prompt_end_kind) kind;
    if (!err)
        err = acp_json_member_str(result, "stop", arena, &end.stop);
    if (!err)
        err = acp_json_member_str(result, "message", arena, &end.message);
    if (!err)
        err = acp_json_member_bool(result, "denied", &end.denied);
    if (!err)
        err = acp_json_member_bool(result, "unasked", &end.unasked);
    if (!err)
        err = acp_json_member_bool(result, "cancelled", &end.cancelled);
    if (!err)
        *ret = end;
    return err;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void write_env(struct acp_json_writer *w, struct acp_str_map env)
{
    acp_json_write_key(w, acp_str_from("env"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < env.count; i++) {
        acp_json_begin_object(w);
        write_text(w, "name", env.items[i].key);
        write_text(w, "value", env.items[i].value);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

static void write_edits(struct acp_json_writer *w, struct acp_action_edit_list edits)
{
    static const char digits[] = "0123456789abcdef";
    acp_json_write_key(w, acp_str_from("edits"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < edits.count; i++) {
        char digest[2 * ACP_DIGEST_SIZE];
        for (size_t k = 0; k < sizeof(digest); k++)
            digest[k] = digits[edits.items[i].digest[k / 2] >> (k % 2 ? 0 : 4) & 15];
        acp_json_begin_object(w);
        write_text(w, "path", edits.items[i].path);
        acp_json_put_bool(w, "known", edits.items[i].known);
        acp_json_put_u64(w, "size", edits.items[i].size);
        write_text(w, "digest", acp_str_n(digest, sizeof(digest)));
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

void daemon_write_question(struct acp_json_writer *w, const struct permission_question *question)
{
    acp_json_begin_object(w);
    write_text(w, "title", question->title);
    write_text(w, "description", question->description);
    write_text(w, "changes", question->changes);
    write_text(w, "kind", acp_str_from(acp_kind_name(question->action->kind)));
    write_text(w, "command", question->action->command);
    write_text(w, "cwd", question->action->command_cwd);
    write_text(w, "always", question->always);
    write_text(w, "alwaysBrief", question->always_brief);
    write_env(w, question->action->env);
    write_edits(w, question->action->edits);
    acp_json_write_key(w, acp_str_from("paths"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < question->action->paths.count; i++)
        acp_json_write_str(w, question->action->paths.items[i]);
    acp_json_end_array(w);
    acp_json_write_key(w, acp_str_from("options"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < question->options.count; i++)
        (void) acp_encode(ACP_TYPE_PERMISSION_OPTION, ACP_V2, &question->options.items[i], w, NULL);
    acp_json_end_array(w);
    acp_json_end_object(w);
}

/* Reads one item of a list; it has room for it at ret. */
typedef int read_item_fn(struct acp_raw raw, struct acp_arena *arena, void *ret);

struct read_list_result {
    void *items;
    size_t count;
};

/* A list by its name; one that is absent is empty. */
static int read_list(struct acp_raw params, const char *name, struct acp_arena *arena,
                     read_item_fn *read, size_t item_size, struct read_list_result *ret)
{
    struct acp_json_reader r;
    struct acp_raw raw;
    char *items = NULL;
    size_t count = 0;
    *ret = (struct read_list_result){NULL, 0};
    if (!acp_json_find_member(params, name, arena, &r))
        return 0;
    int more = acp_json_enter_array(&r);
    while (!more && (more = acp_json_next_item(&r)) > 0) {
        size_t size = count * item_size;
        items = acp_arena_grow(arena, items, size, size + item_size);
        if (!items)
            return ACP_ERR_NOMEM;
        more = acp_json_read_raw(&r, &raw);
        if (!more)
            more = read(raw, arena, items + size);
        count++;
    }
    if (!more)
        *ret = (struct read_list_result){items, count};
    return more;
}

static int read_path(struct acp_raw raw, struct acp_arena *arena, void *ret)
{
    struct acp_json_reader r;
    acp_json_reader_init(&r, raw, arena, 0);
    return acp_json_read_str(&r, ret);
}

static int read_option(struct acp_raw raw, struct acp_arena *arena, void *ret)
{
    return acp_decode(ACP_TYPE_PERMISSION_OPTION, ACP_V2, raw, arena, ret, NULL);
}

static int read_variable(struct acp_raw raw, struct acp_arena *arena, void *ret)
{
    struct acp_str_entry *entry = ret;
    *entry = (struct acp_str_entry){acp_str_from(""), acp_str_from("")};
    int err = acp_json_member_str(raw, "name", arena, &entry->key);
    return err ? err : acp_json_member_str(raw, "value", arena, &entry->value);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_digest(struct acp_str text, unsigned char ret[ACP_DIGEST_SIZE])
{
    if (text.len != (size_t) 2 * ACP_DIGEST_SIZE)
        return ACP_ERR_RANGE;
    for (size_t i = 0; i < ACP_DIGEST_SIZE; i++) {
        int high = hex_value(text.ptr[2 * i]);
        int low = hex_value(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return ACP_ERR_RANGE;
        ret[i] = (unsigned char) (high * 16 + low);
    }
    return 0;
}

static int read_edit(struct acp_raw raw, struct acp_arena *arena, void *ret)
{
    struct acp_action_edit *edit = ret;
    struct acp_str digest = {0};
    *edit = (struct acp_action_edit){.path = acp_str_from("")};
    int err = acp_json_member_str(raw, "path", arena, &edit->path);
    if (!err)
        err = acp_json_member_bool(raw, "known", &edit->known);
    if (!err)
        err = acp_json_member_u64(raw, "size", &edit->size);
    if (!err)
        err = acp_json_member_str(raw, "digest", arena, &digest);
    return err ? err : read_digest(digest, edit->digest);
}

/* What an action and its options are made of. */
static int read_lists(struct acp_raw params, struct acp_arena *arena, struct acp_action *action,
                      struct acp_permission_option_list *ret_options)
{
    struct read_list_result paths;
    struct read_list_result env;
    struct read_list_result edits;
    struct read_list_result options;
    int err = read_list(params, "paths", arena, read_path, sizeof(struct acp_str), &paths);
    if (!err)
        err = read_list(params, "env", arena, read_variable, sizeof(struct acp_str_entry), &env);
    if (!err)
        err = read_list(params, "edits", arena, read_edit, sizeof(struct acp_action_edit), &edits);
    if (!err)
        err = read_list(params, "options", arena, read_option, sizeof(struct acp_permission_option),
                        &options);
    if (err)
        return err;
    action->paths = (struct acp_str_list){paths.items, paths.count};
    action->env = (struct acp_str_map){env.items, env.count};
    action->edits = (struct acp_action_edit_list){edits.items, edits.count};
    *ret_options = (struct acp_permission_option_list){options.items, options.count};
    return 0;
}

int daemon_read_question(struct acp_raw params, struct acp_arena *arena,
                         struct permission_question *ret)
{
    struct permission_question question = {0};
    struct acp_str kind = {0};
    struct acp_action *action = acp_arena_alloc(arena, sizeof(*action));
    if (!action)
        return ACP_ERR_NOMEM;
    *action = (struct acp_action){0};
    int err = acp_json_member_str(params, "title", arena, &question.title);
    if (!err)
        err = acp_json_member_str(params, "description", arena, &question.description);
    if (!err)
        err = acp_json_member_str(params, "changes", arena, &question.changes);
    if (!err)
        err = acp_json_member_str(params, "kind", arena, &kind);
    if (!err)
        err = acp_json_member_str(params, "command", arena, &action->command);
    if (!err)
        err = acp_json_member_str(params, "cwd", arena, &action->command_cwd);
    if (!err)
        err = acp_json_member_str(params, "always", arena, &question.always);
    if (!err)
        err = acp_json_member_str(params, "alwaysBrief", arena, &question.always_brief);
    if (!err)
        err = read_lists(params, arena, action, &question.options);
    (void) acp_kind_find(kind, &action->kind);
    question.action = action;
    if (!err)
        *ret = question;
    return err;
}

void daemon_write_elicitation(struct acp_json_writer *w,
                              const struct elicitation_question *question)
{
    acp_json_begin_object(w);
    write_text(w, "agent", question->agent);
    acp_json_put_u64(w, "protocol", question->protocol & ACP_V2 ? 2 : 1);
    acp_json_write_key(w, acp_str_from("request"));
    acp_json_write_raw(w, question->params);
    acp_json_end_object(w);
}

int daemon_read_elicitation(struct acp_raw params, struct acp_arena *arena,
                            struct elicitation_question *ret)
{
    struct elicitation_question question = {0};
    uint64_t protocol = 1;
    int err = acp_json_member_str(params, "agent", arena, &question.agent);
    if (!err)
        err = acp_json_member_u64(params, "protocol", &protocol);
    if (!err)
        err = acp_json_member_raw(params, "request", &question.params);
    if (!err && !question.params.ptr)
        err = ACP_ERR_MISSING;
    question.protocol = protocol == 2 ? ACP_V2 : ACP_V1;
    if (!err)
        *ret = question;
    return err;
}

/* ---- Status ---------------------------------------------------------------------------------- */

void daemon_write_status(struct acp_json_writer *w, const struct daemon_status *status)
{
    acp_json_begin_object(w);
    acp_json_put_u64(w, "pid", status->pid);
    acp_json_put_u64(w, "agentPid", status->agent_pid);
    acp_json_put_u64(w, "turn", status->turn);
    acp_json_put_u64(w, "queued", status->queued);
    acp_json_put_u64(w, "idleMs", status->idle_ms);
    write_text(w, "state", status->state);
    write_text(w, "agentSession", status->agent_session);
    acp_json_end_object(w);
}

int daemon_read_status(struct acp_raw result, struct acp_arena *arena, struct daemon_status *ret)
{
    struct daemon_status status = {0};
    int err = acp_json_member_u64(result, "pid", &status.pid);
    if (!err)
        err = acp_json_member_u64(result, "agentPid", &status.agent_pid);
    if (!err)
        err = acp_json_member_u64(result, "turn", &status.turn);
    if (!err)
        err = acp_json_member_u64(result, "queued", &status.queued);
    if (!err)
        err = acp_json_member_u64(result, "idleMs", &status.idle_ms);
    if (!err)
        err = acp_json_member_str(result, "state", arena, &status.state);
    if (!err)
        err = acp_json_member_str(result, "agentSession", arena, &status.agent_session);
    if (!err)
        *ret = status;
    return err;
}
