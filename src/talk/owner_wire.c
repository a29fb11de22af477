/* owner_wire.c - what owner and visitor say to each other. */
#include "talk/owner_wire.h"

#include "acp/types.h"

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *const permit_names[PERMIT_COUNT] = {
    [PERMIT_ASK] = "ask",
    [PERMIT_READS] = "reads",
    [PERMIT_ALL] = "all",
    [PERMIT_NONE] = "none",
};

static const char *const end_names[] = {
    [TALK_STOPPED] = "stopped",
    [TALK_REFUSED] = "refused",
    [TALK_FAILED] = "failed",
    [TALK_TIMEOUT] = "timeout",
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

/* ---- Members --------------------------------------------------------------------------------- */

/* Places the reader before the value of that name; false when there is none. */
static bool find_member(struct acp_json_reader *r, struct acp_raw object, const char *name,
                        struct acp_arena *arena)
{
    struct acp_str key;
    acp_json_reader_init(r, object, arena, 0);
    if (!object.ptr || acp_json_enter_object(r))
        return false;
    while (acp_json_next_key(r, &key) > 0) {
        if (acp_str_is(key, name))
            return true;
        if (acp_json_skip(r))
            return false;
    }
    return false;
}

int wire_read_text(struct acp_raw object, const char *name, struct acp_arena *arena,
                   struct acp_str *ret)
{
    struct acp_json_reader r;
    return find_member(&r, object, name, arena) ? acp_json_read_str(&r, ret) : 0;
}

int wire_read_number(struct acp_raw object, const char *name, uint64_t *ret)
{
    struct acp_json_reader r;
    return find_member(&r, object, name, NULL) ? acp_json_read_u64(&r, ret) : 0;
}

int wire_read_flag(struct acp_raw object, const char *name, bool *ret)
{
    struct acp_json_reader r;
    return find_member(&r, object, name, NULL) ? acp_json_read_bool(&r, ret) : 0;
}

static int read_raw(struct acp_raw object, const char *name, struct acp_raw *ret)
{
    struct acp_json_reader r;
    return find_member(&r, object, name, NULL) ? acp_json_read_raw(&r, ret) : ACP_ERR_MISSING;
}

static void write_text(struct acp_json_writer *w, const char *name, struct acp_str text)
{
    if (!text.ptr)
        return;
    acp_json_write_key(w, acp_str(name));
    acp_json_write_str(w, text);
}

static void write_number(struct acp_json_writer *w, const char *name, uint64_t number)
{
    acp_json_write_key(w, acp_str(name));
    acp_json_write_u64(w, number);
}

static void write_flag(struct acp_json_writer *w, const char *name, bool flag)
{
    acp_json_write_key(w, acp_str(name));
    acp_json_write_bool(w, flag);
}

/* ---- Prompts --------------------------------------------------------------------------------- */

void wire_write_prompt(struct acp_json_writer *w, const struct wire_prompt *prompt)
{
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str("body"));
    acp_json_write_raw(w, prompt->body);
    write_number(w, "timeoutMs", prompt->timeout_ms);
    write_text(w, "approve", acp_str(permit_name(prompt->permit)));
    write_flag(w, "ask", prompt->ask);
    write_flag(w, "wait", prompt->wait);
    acp_json_end_object(w);
}

int wire_read_prompt(struct acp_raw params, struct acp_arena *arena, struct wire_prompt *ret)
{
    struct wire_prompt prompt = {.wait = true};
    struct acp_str permit = {0};
    int err = read_raw(params, "body", &prompt.body);
    if (!err)
        err = wire_read_number(params, "timeoutMs", &prompt.timeout_ms);
    if (!err)
        err = wire_read_text(params, "approve", arena, &permit);
    if (!err && !permit_find(permit, &prompt.permit))
        err = ACP_ERR_VARIANT;
    if (!err)
        err = wire_read_flag(params, "ask", &prompt.ask);
    if (!err)
        err = wire_read_flag(params, "wait", &prompt.wait);
    if (!err)
        *ret = prompt;
    return err;
}

void wire_write_end(struct acp_json_writer *w, uint64_t request, const struct talk_end *end)
{
    acp_json_begin_object(w);
    write_number(w, "request", request);
    write_text(w, "kind", acp_str(end_names[end->kind]));
    write_text(w, "stop", end->stop);
    write_text(w, "message", end->message);
    write_flag(w, "denied", end->denied);
    write_flag(w, "unasked", end->unasked);
    write_flag(w, "cancelled", end->cancelled);
    acp_json_end_object(w);
}

int wire_read_end(struct acp_raw result, struct acp_arena *arena, uint64_t *ret_request,
                  struct talk_end *ret)
{
    struct talk_end end = {0};
    struct acp_str name = {0};
    int kind;
    int err = wire_read_number(result, "request", ret_request);
    if (!err)
        err = wire_read_text(result, "kind", arena, &name);
    if (!err && !find_name(end_names, TALK_TIMEOUT + 1, name, &kind))
        err = ACP_ERR_VARIANT;
    if (!err)
        end.kind = (enum talk_end_kind) kind;
    if (!err)
        err = wire_read_text(result, "stop", arena, &end.stop);
    if (!err)
        err = wire_read_text(result, "message", arena, &end.message);
    if (!err)
        err = wire_read_flag(result, "denied", &end.denied);
    if (!err)
        err = wire_read_flag(result, "unasked", &end.unasked);
    if (!err)
        err = wire_read_flag(result, "cancelled", &end.cancelled);
    if (!err)
        *ret = end;
    return err;
}

/* ---- Questions ------------------------------------------------------------------------------- */

void wire_write_question(struct acp_json_writer *w, const struct talk_question *question)
{
    acp_json_begin_object(w);
    write_text(w, "title", question->title);
    write_text(w, "description", question->description);
    write_text(w, "kind", acp_str(acp_kind_name(question->action->kind)));
    write_text(w, "command", question->action->command);
    acp_json_write_key(w, acp_str("paths"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < question->action->paths.count; i++)
        acp_json_write_str(w, question->action->paths.items[i]);
    acp_json_end_array(w);
    acp_json_write_key(w, acp_str("options"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < question->options.count; i++)
        (void) acp_encode(ACP_TYPE_PERMISSION_OPTION, ACP_V1, &question->options.items[i], w, NULL);
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static int read_paths(struct acp_raw params, struct acp_arena *arena, struct acp_str_list *ret)
{
    struct acp_json_reader r;
    struct acp_str *paths = NULL;
    size_t count = 0;
    if (!find_member(&r, params, "paths", arena))
        return 0;
    int more = acp_json_enter_array(&r);
    while (!more && (more = acp_json_next_item(&r)) > 0) {
        size_t size = count * sizeof(*paths);
        paths = acp_arena_grow(arena, paths, size, size + sizeof(*paths));
        if (!paths)
            return ACP_ERR_NOMEM;
        more = acp_json_read_str(&r, &paths[count++]);
    }
    *ret = (struct acp_str_list){paths, count};
    return more;
}

static int read_options(struct acp_raw params, struct acp_arena *arena,
                        struct acp_permission_option_list *ret)
{
    struct acp_json_reader r;
    struct acp_permission_option *options = NULL;
    struct acp_raw raw;
    size_t count = 0;
    if (!find_member(&r, params, "options", arena))
        return 0;
    int more = acp_json_enter_array(&r);
    while (!more && (more = acp_json_next_item(&r)) > 0) {
        size_t size = count * sizeof(*options);
        options = acp_arena_grow(arena, options, size, size + sizeof(*options));
        if (!options)
            return ACP_ERR_NOMEM;
        more = acp_json_read_raw(&r, &raw);
        if (!more)
            more =
                acp_decode(ACP_TYPE_PERMISSION_OPTION, ACP_V1, raw, arena, &options[count++], NULL);
    }
    *ret = (struct acp_permission_option_list){options, count};
    return more;
}

int wire_read_question(struct acp_raw params, struct acp_arena *arena, struct talk_question *ret)
{
    struct talk_question question = {0};
    struct acp_str kind = {0};
    struct acp_action *action = acp_arena_alloc(arena, sizeof(*action));
    if (!action)
        return ACP_ERR_NOMEM;
    *action = (struct acp_action){0};
    int err = wire_read_text(params, "title", arena, &question.title);
    if (!err)
        err = wire_read_text(params, "description", arena, &question.description);
    if (!err)
        err = wire_read_text(params, "kind", arena, &kind);
    if (!err)
        err = wire_read_text(params, "command", arena, &action->command);
    if (!err)
        err = read_paths(params, arena, &action->paths);
    if (!err)
        err = read_options(params, arena, &question.options);
    (void) acp_kind_find(kind, &action->kind);
    question.action = action;
    if (!err)
        *ret = question;
    return err;
}

/* ---- Status ---------------------------------------------------------------------------------- */

void wire_write_status(struct acp_json_writer *w, const struct wire_status *status)
{
    acp_json_begin_object(w);
    write_number(w, "pid", status->pid);
    write_number(w, "agentPid", status->agent_pid);
    write_number(w, "request", status->request);
    write_number(w, "waiting", status->waiting);
    write_number(w, "idleMs", status->idle_ms);
    write_text(w, "agentSession", status->agent_session);
    acp_json_end_object(w);
}

int wire_read_status(struct acp_raw result, struct acp_arena *arena, struct wire_status *ret)
{
    struct wire_status status = {0};
    int err = wire_read_number(result, "pid", &status.pid);
    if (!err)
        err = wire_read_number(result, "agentPid", &status.agent_pid);
    if (!err)
        err = wire_read_number(result, "request", &status.request);
    if (!err)
        err = wire_read_number(result, "waiting", &status.waiting);
    if (!err)
        err = wire_read_number(result, "idleMs", &status.idle_ms);
    if (!err)
        err = wire_read_text(result, "agentSession", arena, &status.agent_session);
    if (!err)
        *ret = status;
    return err;
}
