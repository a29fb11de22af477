/*
 * mcp_servers.c - the MCP servers of a session.  All are started when it is opened.  The session
 * does not wait for them; the first prompt does, for two seconds.  Tools of servers that are ready
 * when the model is first asked are in the tool list.  Later ones are announced in a note and
 * called through AGENT_MCP_CALL, since the tool list never changes (session_context.c).
 *
 * A tool of a server is run like any other tool: shown, permitted and cancelled in the same way.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "agent/toolkit/tool.h"
#include "base/copy.h"
#include "launch/fetched.h"
#include "mcp/mcp.h"

enum {
    MAX_SERVERS = 32,      /* of a session */
    MAX_ALL_SERVERS = 256, /* of all sessions; each is a process */
    MAX_LAUNCH = 2,        /* environment variables for a server that npx fetches */
    MAX_LABEL = 24,        /* of a server's part of a name */
    MAX_TOOL = 64,         /* of the whole name: what model APIs accept */
    WAIT_MS = 2000,        /* how long prompts wait, from the start of the servers */
};

struct one_server {
    struct agent_session *session;
    struct mcp_server *server;   /* NULL: it was not started */
    char label[MAX_LABEL + 1];   /* its unique prefix in the names of its tools */
    char (*names)[MAX_TOOL + 1]; /* of its tools, in their order */
    size_t name_count;
    bool starting; /* neither ready nor gone */
    char *problem; /* to be reported to the user, or NULL */
};

struct mcp_servers {
    struct one_server items[MAX_SERVERS];
    size_t count;
    uint64_t until;             /* how long prompts wait; the loop's time */
    uv_timer_t timer;           /* closed last, which frees the struct */
    struct agent_turn *waiting; /* the turn that waits, or NULL */
    bool reported_omitted;      /* that there are more tools than can be offered */
};

/* ---- Names ----------------------------------------------------------------------------------- */

/* Letters, digits and '_'; at most max bytes and a NUL. */
static void plain_name(struct acp_str name, char *out, size_t max)
{
    size_t n = name.len < max ? name.len : max;
    for (size_t i = 0; i < n; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[i] = plain ? c : '_';
    }
    out[n] = '\0';
}

/*
 * A label has no "__" and does not end in '_', so the first "__" in the name of a tool ends the
 * label: tools of two servers never have the same name, nor that of a built-in tool, which has no
 * "__".  Gemini requires a letter at the beginning.
 */
static void make_label(struct acp_str name, char *out, size_t max)
{
    static const char prefix[] = "server_";
    size_t n = 0;
    plain_name(name, out, max);
    for (size_t i = 0; out[i]; i++)
        if (out[i] != '_' || (n && out[n - 1] != '_'))
            out[n++] = out[i];
    while (n && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (!n) {
        (void) snprintf(out, max + 1, "server");
    } else if (*out <= '9') {
        char plain[MAX_LABEL + 1];
        (void) memcpy(plain, out, n + 1);
        (void) snprintf(out, max + 1, "%s%.*s", prefix, (int) (max + 1 - sizeof(prefix)), plain);
    }
}

/* Appends a number to the name, which is cut for it. */
static void number_name(char *name, size_t max, size_t number)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "_%zu", number);
    size_t at = strlen(name);
    if (at + (size_t) n > max)
        at = max - (size_t) n;
    while (at && name[at - 1] == '_')
        at--;
    memcpy(name + at, digits, (size_t) n + 1);
}

static bool has_label(const struct mcp_servers *servers, const char *label)
{
    for (size_t i = 0; i < servers->count; i++)
        if (strcmp(servers->items[i].label, label) == 0)
            return true;
    return false;
}

static bool has_name(const struct one_server *one, const char *name)
{
    for (size_t i = 0; i < one->name_count; i++)
        if (strcmp(one->names[i], name) == 0)
            return true;
    return false;
}

/* Makes names for the tools of the server. */
static void name_tools(struct one_server *one)
{
    size_t count = mcp_server_count(one->server, MCP_TOOLS);
    free(one->names);
    one->name_count = 0;
    one->names = count ? calloc(count, sizeof(*one->names)) : NULL;
    for (size_t i = 0; one->names && i < count; i++) {
        char *name = one->names[i];
        size_t n = (size_t) snprintf(name, MAX_TOOL + 1, "%s__", one->label);
        plain_name(mcp_server_at(one->server, MCP_TOOLS, i)->name, name + n, MAX_TOOL - n);
        for (size_t number = 2; has_name(one, name); number++)
            number_name(name, MAX_TOOL, number);
        one->name_count++;
    }
}

/* A server that is ending has no tools any more, before on_gone() is called. */
static size_t tool_count(const struct one_server *one)
{
    return one->server && mcp_server_count(one->server, MCP_TOOLS) ? one->name_count : 0;
}

/* The server and the tool of that name; false if there is none. */
static bool find_name(const struct agent_session *session, struct acp_str name,
                      const struct one_server **ret_server, size_t *ret_tool)
{
    const struct mcp_servers *servers = session->servers;
    for (size_t i = 0; servers && i < servers->count; i++)
        for (size_t k = 0; k < tool_count(&servers->items[i]); k++)
            if (acp_str_is(name, servers->items[i].names[k])) {
                *ret_server = &servers->items[i];
                *ret_tool = k;
                return true;
            }
    return false;
}

/* ---- A run ----------------------------------------------------------------------------------- */

struct serving {
    struct mcp_server *server; /* outlives the set of tools */
    struct acp_str tool;       /* as the server calls it */
    struct mcp_call *call;     /* or NULL */
};

static int prepare(struct tool_run *run)
{
    char title[300];
    const struct one_server *one;
    size_t index;
    struct serving *own = acp_arena_alloc(&run->arena, sizeof(*own));
    if (!own || !find_name(run->set->options.user, run->name, &one, &index))
        return ACP_ERR_NOMEM;
    own->server = one->server;
    own->tool = acp_arena_copy(&run->arena, mcp_server_at(one->server, MCP_TOOLS, index)->name);
    (void) snprintf(title, sizeof(title), "%.100s: %.*s", mcp_server_name(one->server),
                    ACP_ARG(acp_str_cut(own->tool, 150)));
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    run->own = own;
    return own->tool.ptr && run->title.ptr ? 0 : ACP_ERR_NOMEM;
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
    tool_finish(run, result->err || result->is_error ? TOOL_FAILED : TOOL_COMPLETED);
}

static void start(struct tool_run *run)
{
    static const struct mcp_watcher watcher = {.done = on_called};
    struct serving *own = run->own;
    tool_hold(run);
    int err = mcp_call(own->server, own->tool, run->input, &watcher, run, &own->call);
    if (!err)
        return;
    (void) tool_resume(run);
    tool_fail(run, "The MCP server \"%s\" cannot be called: %s.", mcp_server_name(own->server),
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

/* The server of the tool with this index among those of all servers, and its index there. */
static const struct one_server *server_of(const struct agent_session *session, size_t *index)
{
    const struct mcp_servers *servers = session->servers;
    for (size_t i = 0; servers && i < servers->count; i++) {
        size_t count = tool_count(&servers->items[i]);
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
    const struct one_server *one;
    size_t index;
    if (acp_str_is(name, AGENT_MCP_CALL))
        return &tool_for_wrong_call;
    return find_name(user, name, &one, &index) ? &tool_of_server : NULL;
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* A problem is reported once, as soon as that is possible. */
static void report_problem(struct one_server *one)
{
    if (!one->problem || !agent_session_alert(one->session, one->problem))
        return;
    free(one->problem);
    one->problem = NULL;
}

void agent_session_report_servers(struct agent_session *session)
{
    for (size_t i = 0; session->servers && i < session->servers->count; i++)
        report_problem(&session->servers->items[i]);
}

/* Reports it together with those that could not be reported yet. */
static void add_problem(struct one_server *one, struct acp_str sentence)
{
    struct acp_buf text;
    acp_buf_init(&text, 1 << 16);
    (void) acp_buf_printf(&text, "%s%s%.*s", one->problem ? one->problem : "",
                          one->problem ? "\n" : "", (int) sentence.len, sentence.ptr);
    free(one->problem);
    one->problem = acp_str_copy(acp_buf_view(&text));
    acp_buf_finish(&text);
    report_problem(one);
}

/* ---- The model ------------------------------------------------------------------------------- */

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
        all += tool_count(&servers->items[i]);
    (void) snprintf(sentence, sizeof(sentence),
                    "the MCP servers have %zu tools, more than models accept; %zu are left out",
                    all, all - offered);
    servers->reported_omitted = true;
    add_problem(&servers->items[0], acp_str_from(sentence));
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool any_starts(const struct mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        if (servers->items[i].starting)
            return true;
    return false;
}

void agent_session_stop_waiting(struct agent_session *session)
{
    struct mcp_servers *servers = session->servers;
    if (!servers || !servers->waiting)
        return;
    servers->waiting = NULL;
    (void) uv_timer_stop(&servers->timer);
}

static void go_on(struct agent_session *session)
{
    struct agent_turn *turn = session->servers->waiting;
    agent_session_stop_waiting(session);
    if (turn)
        agent_turn_continue(turn);
}

/* Reports the servers that are not ready, so that users know why their tools are missing. */
static void on_late(uv_timer_t *timer)
{
    struct mcp_servers *servers = timer->data;
    for (size_t i = 0; i < servers->count; i++) {
        struct one_server *one = &servers->items[i];
        char sentence[300];
        (void) snprintf(
            sentence, sizeof(sentence),
            "the MCP server \"%.100s\" is not ready yet; its tools become available when it is",
            one->server ? mcp_server_name(one->server) : "");
        if (one->starting)
            add_problem(one, acp_str_from(sentence));
    }
    go_on(servers->items[0].session);
}

bool agent_session_wait_for_servers(struct agent_session *session, struct agent_turn *turn)
{
    struct mcp_servers *servers = session->servers;
    uint64_t now = uv_now(&session->agent->loop);
    if (!servers || now >= servers->until || !any_starts(servers))
        return false;
    servers->waiting = turn;
    (void) uv_timer_start(&servers->timer, on_late, servers->until - now, 0);
    return true;
}

/* The server is ready, or never will be. */
static void settle(struct one_server *one)
{
    struct agent_session *session = one->session;
    one->starting = false;
    if (!any_starts(session->servers))
        go_on(session);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void on_ready(struct mcp_server *server, void *user)
{
    (void) server;
    name_tools(user);
    settle(user);
}

static void on_listed(struct mcp_server *server, enum mcp_list_kind kind, void *user)
{
    (void) server;
    if (kind == MCP_TOOLS)
        name_tools(user);
}

static void on_gone(struct mcp_server *server, struct acp_str sentence, void *user)
{
    struct one_server *one = user;
    (void) server;
    one->name_count = 0;
    add_problem(one, sentence);
    settle(one);
}

/* Command and environment for the process, in the arena; false if out of memory. */
static bool write_command(const struct acp_mcp_server_stdio *given, struct acp_arena *arena,
                          const char ***ret_argv, const char ***ret_env)
{
    const char **argv = acp_arena_alloc(arena, (given->args.count + 2) * sizeof(*argv));
    const char **env = acp_arena_alloc(arena, (given->env.count + MAX_LAUNCH + 1) * sizeof(*env));
    if (!argv || !env)
        return false;
    bool all = (argv[0] = acp_arena_copy(arena, given->command).ptr) != NULL;
    for (size_t i = 0; all && i < given->args.count; i++)
        all = (argv[i + 1] = acp_arena_copy(arena, given->args.items[i]).ptr) != NULL;
    for (size_t i = 0; all && i < given->env.count; i++) {
        const struct acp_env_variable *variable = &given->env.items[i];
        size_t size = variable->name.len + variable->value.len + 2;
        char *text = acp_arena_alloc(arena, size);
        all = text != NULL;
        if (all)
            (void) snprintf(text, size, "%.*s=%.*s", (int) variable->name.len, variable->name.ptr,
                            (int) variable->value.len, variable->value.ptr);
        env[i] = text;
    }
    *ret_argv = argv;
    *ret_env = env;
    return all;
}

/* A server that npx fetches is not started in the project, which could replace it. */
static bool prepare_server(const struct coding_agent *agent,
                           const struct acp_mcp_server_stdio *given, struct acp_arena *arena,
                           struct mcp_options *options, struct acp_failure *failure)
{
    struct launch_fetched fetched;
    const char *folder = agent->options->launch_folder;
    const char **argv;
    const char **env;
    if (!write_command(given, arena, &argv, &env))
        return false;
    options->argv = argv;
    options->env = env;
    if (!folder || !launch_is_fetched(argv))
        return true;
    if (launch_fetched(arena, folder, argv[0], argv, options->cwd, &fetched, failure))
        return false;
    options->argv = fetched.argv;
    options->cwd = fetched.cwd;
    for (size_t n = given->env.count, i = 0; fetched.env[i]; i++)
        env[n++] = fetched.env[i];
    return true;
}

static void start_server(struct mcp_servers *servers, struct agent_session *session,
                         const struct acp_mcp_server_stdio *given)
{
    static const struct mcp_handler handler = {
        .ready = on_ready, .listed = on_listed, .gone = on_gone};
    struct one_server *one = &servers->items[servers->count];
    struct acp_failure failure = {.message = "out of memory"};
    struct acp_arena arena;
    one->session = session;
    make_label(given->name, one->label, MAX_LABEL);
    for (size_t number = 2; has_label(servers, one->label); number++)
        number_name(one->label, MAX_LABEL, number);
    servers->count++;
    acp_arena_init(&arena, 0);
    struct mcp_options options = {
        .name = acp_arena_copy(&arena, given->name).ptr,
        .version = session->agent->options->version,
        .cwd = acp_arena_copy(&arena, acp_session_cwd(session->role)).ptr,
    };
    bool full = session->agent->servers >= MAX_ALL_SERVERS;
    if (full)
        (void) snprintf(failure.message, sizeof(failure.message),
                        "%.60s was not started: 256 MCP servers of all sessions run already; "
                        "close a session that is not needed",
                        options.name ? options.name : "an MCP server");
    bool ok = !full && options.name && options.cwd &&
              prepare_server(session->agent, given, &arena, &options, &failure);
    if (ok) {
        ok = mcp_server_new(&session->agent->loop, &options, &handler, one, &one->server,
                            &failure) == 0;
    }
    acp_arena_finish(&arena);
    one->starting = ok;
    session->agent->servers += ok;
    if (!ok)
        add_problem(one, acp_str_from(failure.message));
}

/* A server that is not a program is left out; the session goes on without it. */
static void leave_out(struct mcp_servers *servers, struct agent_session *session,
                      struct acp_str name, const char *way)
{
    struct one_server *one = &servers->items[servers->count++];
    char sentence[400];
    one->session = session;
    (void) snprintf(
        sentence, sizeof(sentence),
        "the MCP server \"%.*s\" was left out: this agent supports only stdio servers, and this "
        "one uses %s. Configure a program that "
        "connects to it instead",
        ACP_ARG(acp_str_cut(name, 100)), way);
    add_problem(one, acp_str_from(sentence));
}

static void add_server(struct mcp_servers *servers, struct agent_session *session,
                       const struct acp_mcp_server *server)
{
    switch (server->is) {
    case ACP_MCP_SERVER_STDIO:
        start_server(servers, session, &server->stdio);
        break;
    case ACP_MCP_SERVER_HTTP:
        leave_out(servers, session, server->http.name, "HTTP");
        break;
    case ACP_MCP_SERVER_SSE:
        leave_out(servers, session, server->sse.name, "SSE");
        break;
    default:
        break; /* refused by the role */
    }
}

void agent_session_start_servers(struct agent_session *session, struct acp_mcp_server_list list)
{
    uv_loop_t *loop = &session->agent->loop;
    struct mcp_servers *servers =
        !list.count || session->servers ? NULL : calloc(1, sizeof(*session->servers));
    if (!servers)
        return;
    (void) uv_timer_init(loop, &servers->timer);
    servers->timer.data = servers;
    servers->until = uv_now(loop) + WAIT_MS;
    session->servers = servers;
    for (size_t i = 0; i < list.count; i++) {
        if (servers->count == MAX_SERVERS) {
            add_problem(&servers->items[0],
                        acp_str_from("there are too many MCP servers; the first 32 are used"));
            return;
        }
        add_server(servers, session, &list.items[i]);
    }
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void agent_session_stop_servers(struct agent_session *session)
{
    struct mcp_servers *servers = session->servers;
    if (!servers)
        return;
    for (size_t i = 0; i < servers->count; i++) {
        session->agent->servers -= servers->items[i].server != NULL;
        mcp_server_free(servers->items[i].server);
        free(servers->items[i].names);
        free(servers->items[i].problem);
    }
    uv_close((uv_handle_t *) &servers->timer, on_timer_closed);
    session->servers = NULL;
}
