/*
 * mcp_tools.c - the tools of MCP servers as tools of the session.  A tool of a server is run like
 * any other: shown, permitted and cancelled in the same way.
 */
#include <stdio.h>

#include "agent/loop/mcp_servers.h"
#include "agent/toolkit/tool.h"

/* Progress is shown at most this often. */
enum { SHOW_MS = 200 };

size_t servers_tool_count(const struct one_server *one)
{
    return one->server && mcp_server_count(one->server, MCP_TOOLS) ? one->name_count : 0;
}

/* The server and the tool of that name; false if there is none. */
static bool find_name(const struct agent_session *session, struct acp_str name,
                      struct one_server **ret_server, size_t *ret_tool)
{
    struct mcp_servers *servers = session->servers;
    for (size_t i = 0; servers && i < servers->count; i++)
        for (size_t k = 0; k < servers_tool_count(&servers->items[i]); k++)
            if (acp_str_is(name, servers->items[i].names[k])) {
                *ret_server = &servers->items[i];
                *ret_tool = k;
                return true;
            }
    return false;
}

/* ---- A run ----------------------------------------------------------------------------------- */

struct serving {
    struct one_server *one; /* outlives the set of tools; its server may end before */
    struct acp_str tool;    /* as the server calls it */
    struct mcp_call *call;  /* or NULL */
    uint64_t shown;         /* when progress was shown last */
};

static int prepare(struct tool_run *run)
{
    char title[300];
    struct one_server *one;
    size_t index;
    struct serving *own = acp_arena_alloc(&run->arena, sizeof(*own));
    if (!own || !find_name(run->set->options.user, run->name, &one, &index))
        return ACP_ERR_NOMEM;
    own->one = one;
    own->tool = acp_arena_copy(&run->arena, mcp_server_at(one->server, MCP_TOOLS, index)->name);
    (void) snprintf(title, sizeof(title), "%.100s: %.*s", one->options.name,
                    ACP_ARG(acp_str_cut(own->tool, 150)));
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    run->own = own;
    return own->tool.ptr && run->title.ptr ? 0 : ACP_ERR_NOMEM;
}

/* Blocks that are not text are shown to the user as they are; the model gets their description. */
static void keep_blocks(struct tool_run *run, const struct mcp_result *result)
{
    const struct acp_agent *role = acp_session_agent(run->set->options.session);
    struct acp_tool_call_content *shown =
        acp_arena_alloc(&run->arena, (result->block_count + 1) * sizeof(*shown));
    size_t count = 0;
    for (size_t i = 0; shown && i < result->block_count; i++) {
        const struct mcp_block *block = &result->blocks[i];
        struct acp_str raw = acp_arena_copy(&run->arena, acp_str_n(block->raw.ptr, block->raw.len));
        if (acp_str_is(block->type, "text") || !raw.ptr)
            continue;
        acp_tool_call_content_init_content(&shown[count]);
        if (acp_content_block_decode(acp_agent_protocol(role), acp_raw_n(raw.ptr, raw.len),
                                     &run->arena, &shown[count].content.content, NULL) == 0)
            count++;
    }
    run->blocks = shown;
    run->block_count = count;
}

static void on_called(struct mcp_call *call, const struct mcp_result *result, void *user)
{
    struct tool_run *run = user;
    (void) call;
    if (!tool_resume(run))
        return;
    ((struct serving *) run->own)->call = NULL;
    tool_append(run, result->text);
    if (result->cut)
        tool_printf(run, "\n[The result was longer and is cut here.]");
    keep_blocks(run, result);
    if (result->structured.len)
        (void) acp_buf_append_str(&run->output,
                                  acp_str_n(result->structured.ptr, result->structured.len));
    tool_finish(run, result->err || result->is_error ? TOOL_FAILED : TOOL_COMPLETED);
}

/* "3 of 10: copying"; the message comes from the server. */
static void on_progress(struct mcp_call *call, const struct mcp_progress *progress, void *user)
{
    enum { MAX_WORDS = 400 };
    struct tool_run *run = user;
    struct serving *own = run->own;
    struct acp_tool_call_update update;
    struct acp_tool_call_content content;
    struct acp_buf words;
    uint64_t now = uv_now(run->box->loop);
    (void) call;
    if (run->state != TOOL_RUNNING || (own->shown && now - own->shown < SHOW_MS))
        return;
    own->shown = now;
    acp_buf_init(&words, MAX_WORDS);
    int err = acp_buf_printf(&words, "%g", progress->progress);
    if (!err && progress->total.has == ACP_PRESENT)
        err = acp_buf_printf(&words, " of %g", progress->total.value);
    if (!err && progress->message.len)
        err = acp_buf_printf(&words, ": %.*s", ACP_ARG(acp_str_cut(progress->message, 300)));
    acp_tool_call_update_init(&update, run->call);
    acp_tool_call_content_init_content(&content);
    acp_content_block_init_text(&content.content.content, acp_buf_view(&words));
    update.content = (struct acp_tool_call_content_list){&content, 1};
    if (!err)
        (void) acp_turn_send_tool_call(run->turn, &update);
    acp_buf_finish(&words);
}

static void start(struct tool_run *run)
{
    static const struct mcp_watcher watcher = {.done = on_called, .progress = on_progress};
    struct serving *own = run->own;
    struct mcp_server *server = own->one->server;
    tool_hold(run);
    int err = server ? mcp_call(server, own->tool, run->input, &watcher, run, &own->call)
                     : ACP_ERR_CLOSED;
    if (!err)
        return;
    (void) tool_resume(run);
    tool_fail(run, "The MCP server \"%s\" cannot be called: %s.", own->one->options.name,
              acp_err_text(err));
}

/* The server is informed, and not waited for. */
static bool cancel(struct tool_run *run)
{
    struct serving *own = run->own;
    if (!own->call)
        return false;
    mcp_call_cancel(own->call);
    own->call = NULL;
    (void) tool_resume(run);
    return false;
}

/* All tools of all servers; the name of the run tells which.  The server checks the input. */
static const struct tool tool_of_server = {
    .info = {.name = "mcp", .title = "A tool of an MCP server", .kind = ACP_TOOL_KIND_OTHER},
    .prepare = prepare,
    .start = start,
    .cancel = cancel,
};

/* ---- Looking them up ------------------------------------------------------------------------- */

/* The server of the tool with this index among those of all servers, and its index there. */
static const struct one_server *server_of(const struct agent_session *session, size_t *index)
{
    const struct mcp_servers *servers = session->servers;
    for (size_t i = 0; servers && i < servers->count; i++) {
        size_t count = servers_tool_count(&servers->items[i]);
        if (*index < count)
            return &servers->items[i];
        *index -= count;
    }
    return NULL;
}

const char *agent_session_name_server_tool(size_t index, void *user)
{
    const struct one_server *one = server_of(user, &index);
    return one ? one->names[index] : NULL;
}

/* AGENT_MCP_CALL itself is run only if it names no existing tool. */
static int prepare_wrong_call(struct tool_run *run)
{
    struct acp_str name = acp_str_from("");
    tool_get_str(run, "tool", &name);
    if (name.len)
        tool_print_unknown(run, name);
    else
        tool_printf(run, "\"tool\" must be the name of a tool of an MCP server, and \"arguments\" "
                         "its arguments.");
    return ACP_ERR_TYPE;
}

static const struct tool tool_for_wrong_call = {
    .info = {.name = AGENT_MCP_CALL, .title = "A tool of an MCP server"},
    .prepare = prepare_wrong_call,
};

const struct tool *agent_session_find_server_tool(struct acp_str name, void *user)
{
    struct one_server *one;
    size_t index;
    if (acp_str_is(name, AGENT_MCP_CALL))
        return &tool_for_wrong_call;
    return find_name(user, name, &one, &index) ? &tool_of_server : NULL;
}

bool agent_session_server_tool(const struct agent_session *session, size_t index,
                               struct model_tool *ret)
{
    const struct one_server *one = server_of(session, &index);
    if (!one)
        return false;
    const struct mcp_item *tool = mcp_server_at(one->server, MCP_TOOLS, index);
    *ret = (struct model_tool){acp_str_from(one->names[index]), tool->description, tool->schema};
    return true;
}

void agent_session_warn_tools_omitted(struct agent_session *session, size_t offered)
{
    struct mcp_servers *servers = session->servers;
    size_t all = 0;
    char sentence[120];
    if (!servers || servers->reported_omitted)
        return;
    for (size_t i = 0; i < servers->count; i++)
        all += servers_tool_count(&servers->items[i]);
    (void) snprintf(sentence, sizeof(sentence),
                    "the MCP servers have %zu tools, more than models accept; %zu are left out",
                    all, all - offered);
    servers->reported_omitted = true;
    servers_add_problem(&servers->items[0], acp_str_from(sentence));
}
