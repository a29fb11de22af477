/*
 * session_overrides.c - what a client sets for one session in the _meta of session/new: the system
 * prompt, the tools, and the requests to the model in a turn.
 *
 * The members are those that other agents read as well: systemPrompt (a text, or {"append": TEXT})
 * and claudeCode.options (allowedTools, maxTurns).  acp.noTerminal is our own: no commands.  They
 * are stored with the settings of the session, so they hold after it is loaded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/loop/coding_agent_internal.h"
#include "base/ascii.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "json/members.h"

void agent_overrides_finish(struct agent_overrides *overrides)
{
    free(overrides->system);
    free(overrides->append);
    free(overrides->tools);
    *overrides = (struct agent_overrides){0};
}

static void set_text(char **text, struct acp_str value)
{
    free(*text);
    *text = acp_str_copy(value);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

/* Takes the first name off a list with line ends between them; false at the end. */
static bool next_name(const char **list, struct acp_str *ret_name)
{
    if (!**list)
        return false;
    size_t n = strcspn(*list, "\n");
    *ret_name = acp_str_n(*list, n);
    *list += n + ((*list)[n] == '\n');
    return true;
}

bool agent_overrides_have_tool(const struct agent_overrides *overrides, struct acp_str name,
                               enum acp_tool_kind_is kind)
{
    static const char server_tool[] = "mcp__";
    const char *list = overrides->tools;
    struct acp_str allowed;
    if (overrides->no_commands && kind == ACP_TOOL_KIND_EXECUTE)
        return false;
    if (!list)
        return true;
    while (next_name(&list, &allowed)) {
        bool of_server = allowed.len >= sizeof(server_tool) &&
                         memcmp(allowed.ptr, server_tool, sizeof(server_tool) - 1) == 0;
        if (acp_ascii_same(allowed, name) || (of_server && acp_str_is(name, AGENT_MCP_CALL)))
            return true;
    }
    return false;
}

static bool is_known(const struct agent_session *session, struct acp_str name)
{
    const struct tool_info *info;
    for (size_t i = 0; (info = toolbox_at(session->agent->box, i)) != NULL; i++)
        if (acp_ascii_same(name, acp_str_from(info->name)))
            return true;
    return name.len > 5 && memcmp(name.ptr, "mcp__", 5) == 0;
}

/* A misspelt name would go unnoticed: the session would only lack the tool. */
static void warn_of_unknown_tools(struct agent_session *session)
{
    const char *list = session->overrides.tools ? session->overrides.tools : "";
    struct acp_str name;
    char sentence[300];
    while (next_name(&list, &name)) {
        struct acp_str shown = acp_str_cut(name, 80);
        if (!name.len || is_known(session, name))
            continue;
        (void) snprintf(sentence, sizeof(sentence),
                        "of the allowed tools, '%.*s' does not exist; /dashboard lists the tools",
                        ACP_ARG(shown));
        agent_session_warn_later(session, sentence);
    }
}

/* ---- The _meta of session/new ---------------------------------------------------------------- */

static void read_system(struct agent_overrides *overrides, struct acp_raw meta,
                        struct acp_arena *arena)
{
    struct acp_raw value = {0};
    struct acp_str text = {0};
    if (acp_json_member_str(meta, "systemPrompt", arena, &text) == 0 && text.ptr) {
        set_text(&overrides->system, text);
        return;
    }
    (void) acp_json_member_raw(meta, "systemPrompt", &value);
    if (value.ptr && acp_json_member_str(value, "append", arena, &text) == 0 && text.ptr)
        set_text(&overrides->append, text);
}

static void read_tools(struct agent_overrides *overrides, struct acp_raw options,
                       struct acp_arena *arena)
{
    struct acp_json_reader r;
    struct acp_str name;
    struct acp_buf list;
    if (!acp_json_find_member(options, "allowedTools", arena, &r) || acp_json_enter_array(&r))
        return;
    acp_buf_init(&list, AGENT_MAX_OVERRIDE);
    int err = 0;
    while (!err && acp_json_next_item(&r) > 0) {
        err = acp_json_read_str(&r, &name);
        if (!err)
            err = acp_buf_append_str(&list, name);
        if (!err)
            err = acp_buf_append(&list, "\n", 1);
    }
    if (!err)
        set_text(&overrides->tools, list.len ? acp_buf_view(&list) : acp_str_from(""));
    acp_buf_finish(&list);
}

void agent_session_read_overrides(struct agent_session *session, struct acp_raw meta)
{
    struct agent_overrides *overrides = &session->overrides;
    struct acp_raw claude = {0};
    struct acp_raw options = {0};
    struct acp_raw own = {0};
    struct acp_arena arena;
    if (!acp_is_set(meta.ptr))
        return;
    if (meta.len > AGENT_MAX_OVERRIDE) {
        agent_session_warn_later(session, "the _meta of the session is larger than 1 MiB; the "
                                          "options in it are ignored");
        return;
    }
    acp_arena_init(&arena, 0);
    read_system(overrides, meta, &arena);
    (void) acp_json_member_raw(meta, "claudeCode", &claude);
    if (claude.ptr)
        (void) acp_json_member_raw(claude, "options", &options);
    if (options.ptr) {
        read_tools(overrides, options, &arena);
        (void) acp_json_member_u64(options, "maxTurns", &overrides->max_requests);
    }
    (void) acp_json_member_raw(meta, "acp", &own);
    if (own.ptr)
        (void) acp_json_member_bool(own, "noTerminal", &overrides->no_commands);
    acp_arena_finish(&arena);
    warn_of_unknown_tools(session);
}

/* ---- The settings of the session ------------------------------------------------------------- */

void agent_overrides_write(const struct agent_overrides *overrides, struct acp_json_writer *w)
{
    char number[24];
    if (overrides->system)
        acp_json_put_text(w, "systemPrompt", overrides->system);
    if (overrides->append)
        acp_json_put_text(w, "appendSystemPrompt", overrides->append);
    if (overrides->tools)
        acp_json_put_text(w, "allowedTools", overrides->tools);
    (void) snprintf(number, sizeof(number), "%llu", (unsigned long long) overrides->max_requests);
    if (overrides->max_requests)
        acp_json_put_text(w, "maxTurns", number);
    if (overrides->no_commands)
        acp_json_put_text(w, "noTerminal", "true");
}

void agent_overrides_read(struct agent_overrides *overrides, struct acp_str key,
                          struct acp_str value)
{
    if (acp_str_is(key, "systemPrompt"))
        set_text(&overrides->system, value);
    else if (acp_str_is(key, "appendSystemPrompt"))
        set_text(&overrides->append, value);
    else if (acp_str_is(key, "allowedTools"))
        set_text(&overrides->tools, value);
    else if (acp_str_is(key, "maxTurns"))
        overrides->max_requests = strtoull(value.ptr, NULL, 10); /* a quote ends it */
    else if (acp_str_is(key, "noTerminal"))
        overrides->no_commands = acp_str_is(value, "true");
}
