/*
 * session_context.c - what precedes the conversation in every request of a session: the system text
 * and the tool list.
 *
 * Services bind a model's reasoning to every byte before it and refuse a request in which one of
 * these has changed.  So both are made once, when the model is first asked, and logged; a process
 * that resumes the session sends the same bytes.  Later changes are described in notes
 * (session_facts.c), tools that the mode forbids are refused when they are called, and MCP tools
 * that appear later are called through AGENT_MCP_CALL.
 *
 * A new prefix is made for a conversation that was compacted or cleared, and for another model.
 * The reasoning that was bound to the old one is removed then.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

enum { MAX_SYSTEM = 1 << 20 };

void agent_session_free_context(struct agent_session *role_session)
{
    context_free(role_session->context);
    role_session->context = NULL;
}

/* ---- Making it ------------------------------------------------------------------------------- */

static const struct model_tool mcp_call_tool = {
    ACP_STR(AGENT_MCP_CALL),
    ACP_STR("Call a tool of an MCP server that is not in the list of tools because it became "
            "available, or changed, after the conversation had begun. Notes announce such tools "
            "with their names, descriptions and input schemas."),
    ACP_STR("{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":\"string\",\"description\":"
            "\"Name of the tool, as the note gives it\"},\"arguments\":{\"type\":\"object\","
            "\"description\":\"Arguments of the tool, by its input schema\"}},\"required\":["
            "\"tool\",\"arguments\"]}")};

static bool keep_tool(struct context *context, struct model_tool tool)
{
    struct acp_str schema = {tool.schema.ptr, tool.schema.len};
    tool.name = acp_arena_copy(&context->arena, tool.name);
    tool.description = acp_arena_copy(&context->arena, tool.description);
    schema = acp_arena_copy(&context->arena, schema);
    tool.schema = acp_raw_n(schema.ptr, schema.len);
    context->tools[context->tool_count++] = tool;
    return tool.name.ptr && tool.description.ptr && schema.ptr;
}

static int list_tools(struct agent_session *role_session, struct context *context)
{
    const struct tool_info *info;
    struct model_tool tool;
    bool kept = true;
    context->tools = acp_arena_alloc(&context->arena, CONTEXT_MAX_TOOLS * sizeof(*context->tools));
    if (!context->tools)
        return ACP_ERR_NOMEM;
    const struct agent_overrides *overrides = &role_session->overrides;
    for (size_t i = 0; kept && (info = toolbox_at(role_session->agent->box, i)) != NULL; i++)
        if (agent_overrides_have_tool(overrides, acp_str_from(info->name), info->kind))
            kept = keep_tool(context, (struct model_tool){acp_str_from(info->name),
                                                          acp_str_from(info->description),
                                                          acp_raw_from(info->input_schema)});
    if (kept && agent_overrides_have_tool(overrides, mcp_call_tool.name, ACP_TOOL_KIND_OTHER))
        kept = keep_tool(context, mcp_call_tool);
    for (size_t i = 0; kept && agent_session_server_tool(role_session, i, &tool); i++) {
        if (!agent_overrides_have_tool(overrides, tool.name, ACP_TOOL_KIND_OTHER))
            continue;
        if (context->tool_count == CONTEXT_MAX_TOOLS) {
            agent_session_warn_tools_omitted(role_session, i);
            break;
        }
        kept = keep_tool(context, tool);
    }
    return kept ? 0 : ACP_ERR_NOMEM;
}

static int write_system(const struct agent_session *role_session, struct context *context)
{
    const struct agent_overrides *overrides = &role_session->overrides;
    static const char who[] =
        "You are the coding agent of the acp command. You help the user with the software in "
        "their folder, using your tools: read before you change anything, change no more than "
        "the task requires, and verify your changes, with the project's own tests if there are "
        "any. Say briefly what you are going to do and, at the end, what you did. For a task "
        "with several steps, keep a plan with the plan tool. Notes between " AGENT_NOTE_BEGIN
        "and" AGENT_NOTE_END " describe what has changed since the conversation began.\n";
    struct acp_buf text;
    acp_buf_init(&text, MAX_SYSTEM);
    int err = acp_buf_append_str(&text, acp_str_from(overrides->system ? overrides->system : who));
    if (!err && overrides->system)
        err = acp_buf_append(&text, "\n", 1);
    if (!err)
        err = facts_write_system(&context->known, &text);
    if (!err && overrides->append)
        err = acp_buf_printf(&text, "\n%s\n", overrides->append);
    if (!err) {
        context->system = acp_arena_copy(&context->arena, acp_buf_view(&text));
        err = context->system.ptr ? 0 : ACP_ERR_NOMEM;
    }
    acp_buf_finish(&text);
    return err;
}

/* Reasoning is bound to the API and the model, so the context is for both. */
static int write_model(const struct agent_session *role_session, struct acp_buf *out)
{
    const struct model_service *service = agent_session_service(role_session);
    return acp_buf_printf(out, "%s/%s", service ? model_api_name(model_service_api(service)) : "",
                          agent_session_model(role_session));
}

static int fill(struct agent_session *role_session, struct context *context)
{
    struct acp_buf model;
    acp_buf_init(&model, (size_t) 2 * AGENT_MAX_NAME);
    int err = write_model(role_session, &model);
    if (!err) {
        context->model = acp_arena_copy(&context->arena, acp_buf_view(&model));
        err = context->model.ptr ? 0 : ACP_ERR_NOMEM;
    }
    acp_buf_finish(&model);
    facts_finish(&context->known);
    if (!err)
        err = facts_gather(role_session, NULL, FACTS_ALL, &context->known);
    if (err)
        facts_init(&context->known);
    if (!err)
        err = facts_copy(&context->known, &context->before);
    if (!err)
        err = list_tools(role_session, context);
    return err ? err : write_system(role_session, context);
}

/* *ret says whether the context was made for the session's model.  ACP_ERR_NOMEM. */
static int check_model(const struct agent_session *role_session, const struct context *context,
                       bool *ret)
{
    struct acp_buf model;
    acp_buf_init(&model, (size_t) 2 * AGENT_MAX_NAME);
    int err = write_model(role_session, &model);
    if (!err)
        *ret = acp_str_eq(acp_buf_view(&model), context->model);
    acp_buf_finish(&model);
    return err;
}

int agent_session_get_context(struct agent_session *role_session, struct model_ask *ask)
{
    bool is_same = false;
    int err = 0;
    if (role_session->context)
        err = check_model(role_session, role_session->context, &is_same);
    if (err)
        return err; /* not a new context: that would change messages that are in use */
    if (!is_same)
        agent_session_free_context(role_session);
    if (!role_session->context) {
        struct context *context = context_new();
        err = context ? fill(role_session, context) : ACP_ERR_NOMEM;
        if (!err)
            err = history_strip_reasoning(role_session->history);
        if (err) {
            context_free(context);
            return err;
        }
        role_session->context = context;
        agent_session_log_context(role_session, LOG_KIND_MODEL_CONTEXT);
    }
    ask->system = role_session->context->system;
    ask->tools = role_session->context->tools;
    ask->tool_count = role_session->context->tool_count;
    return 0;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

int agent_session_write_note(struct agent_session *role_session, enum fact_scope scope,
                             struct acp_buf *out)
{
    struct context *context = role_session->context;
    struct facts now;
    size_t before = out->len;
    bool is_same = false;
    int err = context ? check_model(role_session, context, &is_same) : 0;
    if (err || !is_same)
        return err; /* the next one will have the facts of then */
    err = facts_gather(role_session, &context->known, scope, &now);
    if (err)
        return err;
    err = facts_write_note(&context->known, &now, out);
    if (err || out->len == before) {
        facts_finish(&now);
        return err;
    }
    facts_finish(&context->known);
    context->known = now;
    agent_session_log_context(role_session, LOG_KIND_MODEL_FACTS);
    return 0;
}

void agent_session_save_facts(struct agent_session *role_session)
{
    struct context *context = role_session->context;
    struct facts copy;
    if (!context || facts_copy(&context->known, &copy))
        return;
    facts_finish(&context->before);
    context->before = copy;
}

void agent_session_rewind_facts(struct agent_session *role_session)
{
    struct context *context = role_session->context;
    struct facts copy;
    if (!context || facts_copy(&context->before, &copy))
        return;
    facts_finish(&context->known);
    context->known = copy;
}
