/* mcp_connect.c - acp mcp: a connection to one server, and requests that are waited for. */
#include "cmd/mcp_connect.h"

#include <signal.h>
#include <stdio.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/mcp_store.h"
#include "json/members.h"
#include "mcp/options.h"
#include "registry/agents.h"

enum { MAX_ANSWER = 64 * 1024 };

const char *const mcp_transport_names[] = {"http", "sse", NULL};

const struct option mcp_flag_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct mcp_flags, json),
     .help = "print the JSON that the server sends"},
    {.name = "timeout",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .min = 1,
     .offset = offsetof(struct mcp_flags, timeout),
     .help = "fail a request after this time without progress (default 600)"},
    {.name = "mcp",
     .alias = "mcp-config",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct mcp_flags, mcp),
     .help = "use the MCP servers in _FILE_"},
    {.name = "header",
     .argument = "HEADER",
     .kind = OPTION_TEXT,
     .repeated = true,
     .offset = offsetof(struct mcp_flags, headers),
     .help = "send this HTTP header, such as *Name: value*, to a server that is named by its URL"},
    {.name = "transport",
     .argument = "TRANSPORT",
     .kind = OPTION_CHOICE,
     .choices = mcp_transport_names,
     .offset = offsetof(struct mcp_flags, transport),
     .help = "of a server that is named by its URL: *http*, which falls back to the older one, or "
             "*sse*"},
    {.name = "accept-defaults",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct mcp_flags, defaults),
     .help = "answer questions of the server with their default values; otherwise they are "
             "declined"},
    {.name = "verbose",
     .letter = 'v',
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct mcp_flags, verbose),
     .help = "show the log of the server on standard error"},
    {0},
};

/* ---- Events ---------------------------------------------------------------------------------- */

/* Each of them ends a wait: a loop that has run its timers would wait for input otherwise. */
static void on_ready(struct mcp_server *server, void *user)
{
    struct mcp_connection *c = user;
    (void) server;
    c->ready = true;
    uv_stop(&c->loop);
}

static void on_listed(struct mcp_server *server, enum mcp_list_kind kind, void *user)
{
    struct mcp_connection *c = user;
    (void) server;
    c->listed[kind] = true;
    uv_stop(&c->loop);
}

static void on_gone(struct mcp_server *server, struct acp_str sentence, void *user)
{
    struct mcp_connection *c = user;
    (void) server;
    if (!c->status)
        err_printf("acp mcp: %.*s\n", ACP_ARG(sentence));
    c->status = EXIT_FAILED;
    uv_stop(&c->loop);
}

static void on_log(struct mcp_server *server, struct acp_str level, struct acp_raw data, void *user)
{
    struct mcp_connection *c = user;
    if (c->flags->verbose)
        err_row("%s: %.*s: %.*s", mcp_server_name(server), ACP_ARG(level), ACP_ARG(data));
}

/* ---- Requests of the server ------------------------------------------------------------------ */

static void on_roots(struct mcp_server *server, acp_call ask, void *user)
{
    struct mcp_connection *c = user;
    const char *folder = config_command_folder(c->flags->place.cwd, &c->arena);
    struct acp_json_writer w;
    struct acp_buf uri;
    struct acp_buf result;
    acp_buf_init(&uri, MAX_ANSWER);
    acp_buf_init(&result, MAX_ANSWER);
    acp_json_writer_init(&w, &result);
    int err = folder ? acp_buf_printf(&uri, "file://%s", folder) : ACP_ERR_NOMEM;
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("roots"));
    acp_json_begin_array(&w);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, "uri", acp_buf_view(&uri));
    acp_json_end_object(&w);
    acp_json_end_array(&w);
    acp_json_end_object(&w);
    struct acp_str view = acp_buf_view(&result);
    if (err || w.err)
        (void) mcp_refuse(server, ask, -32603, "out of memory");
    else
        (void) mcp_answer(server, ask, acp_raw_n(view.ptr, view.len));
    acp_buf_finish(&uri);
    acp_buf_finish(&result);
}

/* The default values of a form, as the content of an answer. */
static void write_defaults(struct acp_json_writer *w, struct acp_raw properties)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_raw schema;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, properties, &arena, 0);
    acp_json_begin_object(w);
    if (properties.len && acp_json_enter_object(&r) == 0)
        while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &schema) == 0) {
            struct acp_raw value = {0};
            if (acp_json_member_raw(schema, "default", &value) == 0 && value.len)
                acp_json_put_raw(w, acp_arena_copy(&arena, key).ptr, value);
        }
    acp_json_end_object(w);
    acp_arena_finish(&arena);
}

static void on_elicit(struct mcp_server *server, acp_call ask, struct acp_raw params, void *user)
{
    struct mcp_connection *c = user;
    struct acp_raw schema = {0};
    struct acp_raw properties = {0};
    struct acp_str message = acp_str_from("");
    struct acp_json_writer w;
    struct acp_buf result;
    (void) acp_json_member_str(params, "message", &c->arena, &message);
    (void) acp_json_member_raw(params, "requestedSchema", &schema);
    (void) acp_json_member_raw(schema, "properties", &properties);
    bool accepts = c->flags->defaults && schema.len;
    err_row("acp mcp: the server asks: %.*s (%s)", ACP_ARG(message),
            accepts ? "answered with the default values" : "declined");
    acp_buf_init(&result, MAX_ANSWER);
    acp_json_writer_init(&w, &result);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "action", accepts ? "accept" : "decline");
    if (accepts) {
        acp_json_write_key(&w, acp_str_from("content"));
        write_defaults(&w, properties);
    }
    acp_json_end_object(&w);
    struct acp_str view = acp_buf_view(&result);
    if (w.err)
        (void) mcp_refuse(server, ask, -32603, "the question is too large");
    else
        (void) mcp_answer(server, ask, acp_raw_n(view.ptr, view.len));
    acp_buf_finish(&result);
}

/* ---- Which server ---------------------------------------------------------------------------- */

static int find_configured(struct mcp_connection *c, const char *name, struct mcp_options *options,
                           struct acp_failure *failure)
{
    struct acp_mcp_server_list list = config_mcp_servers(c->config);
    for (size_t i = 0; i < list.count; i++)
        if (acp_str_is(mcp_entry_name(&list.items[i]), name))
            return mcp_options_read(&list.items[i], NULL, &c->arena, options, failure);
    return ACP_ERR_MISSING;
}

/* "Name: value" */
static int read_headers(struct mcp_connection *c, struct mcp_options *options,
                        struct acp_failure *failure)
{
    const struct option_list *list = &c->flags->headers;
    struct http_header *headers = acp_arena_alloc(&c->arena, (list->count + 1) * sizeof(*headers));
    if (!headers)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        const char *colon = strchr(list->items[i], ':');
        if (!colon) {
            (void) snprintf(failure->message, sizeof(failure->message),
                            "expected a header such as 'Name: value', got '%.100s'",
                            list->items[i]);
            return ACP_ERR_ARGUMENT;
        }
        size_t n = (size_t) (colon - list->items[i]);
        headers[i].name = acp_arena_copy(&c->arena, acp_str_n(list->items[i], n)).ptr;
        headers[i].value = colon + 1 + strspn(colon + 1, " ");
        if (!headers[i].name)
            return ACP_ERR_NOMEM;
    }
    options->headers = headers;
    options->header_count = list->count;
    return 0;
}

static int describe_server(struct mcp_connection *c, const char *server,
                           struct mcp_options *options, struct acp_failure *failure)
{
    options->name = server;
    if (strstr(server, "://")) {
        options->kind = c->flags->transport == MCP_CHOICE_SSE ? MCP_SSE : MCP_HTTP;
        options->url = server;
        return read_headers(c, options, failure);
    }
    int err = find_configured(c, server, options, failure);
    if (err != ACP_ERR_MISSING)
        return err;
    if (!strpbrk(server, " /")) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "no such MCP server '%.100s'; run 'acp mcp list', or give a URL or a "
                        "command line in quotes",
                        server);
        return ACP_ERR_MISSING;
    }
    const char *const *argv = NULL;
    err = agents_split(&c->arena, acp_str_from(server), &argv);
    if (err || !argv[0]) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "'%.100s' is not a command line", server);
        return ACP_ERR_ARGUMENT;
    }
    options->kind = MCP_STDIO;
    options->argv = argv;
    return 0;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void on_interrupt(uv_signal_t *interrupt, int number)
{
    struct mcp_connection *c = interrupt->data;
    (void) number;
    c->status = EXIT_INTERRUPTED;
    uv_stop(&c->loop);
}

static int load_config(struct mcp_connection *c)
{
    struct acp_buf report;
    int status =
        config_command_load(&(struct config_options){.cwd = c->flags->place.cwd}, &c->config);
    if (status || !c->flags->mcp)
        return status;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    if (config_add_mcp_file(c->config, c->flags->mcp, &report))
        status = EXIT_USAGE;
    err_text(acp_buf_view(&report));
    acp_buf_finish(&report);
    return status;
}

static int connect_to(struct mcp_connection *c, const char *name)
{
    static const struct mcp_handler handler = {.ready = on_ready,
                                               .listed = on_listed,
                                               .log = on_log,
                                               .roots = on_roots,
                                               .elicit = on_elicit,
                                               .gone = on_gone};
    struct acp_failure failure = {0};
    struct mcp_options options = {.version = ACP_VERSION,
                                  .http = c->http,
                                  .cwd = c->flags->place.cwd,
                                  .call_ms = c->flags->timeout.given ? c->flags->timeout.value : 0};
    int err = describe_server(c, name, &options, &failure);
    if (!err)
        err = mcp_tokens_new(&c->loop, &c->store, &options, &c->tokens);
    if (!err)
        err = mcp_server_new(&c->loop, &options, &handler, c, &c->server, &failure);
    if (err) {
        err_printf("acp mcp: %s\n", *failure.message ? failure.message : acp_err_text(err));
        return err == ACP_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    }
    while (!c->ready && !c->status)
        (void) uv_run(&c->loop, UV_RUN_ONCE);
    return c->status;
}

int mcp_connection_open(struct mcp_connection *c, const struct mcp_flags *flags, const char *server)
{
    *c = (struct mcp_connection){.flags = flags};
    acp_arena_init(&c->arena, 0);
    acp_buf_init(&c->result, 2 * (size_t) MCP_MAX_MESSAGE);
    if (uv_loop_init(&c->loop)) {
        err_printf("acp mcp: out of memory\n");
        return EXIT_FAILED;
    }
    (void) uv_signal_init(&c->loop, &c->interrupt);
    c->interrupt.data = c;
    (void) uv_signal_start(&c->interrupt, on_interrupt, SIGINT);
    uv_unref((uv_handle_t *) &c->interrupt);
    int status = load_config(c);
    if (!status)
        c->store = token_store_of(c->config, &c->arena);
    if (!status && http_client_new(&c->loop, NULL, &c->http))
        status = EXIT_FAILED;
    return status ? status : connect_to(c, server);
}

void mcp_connection_close(struct mcp_connection *c)
{
    mcp_server_free(c->server);
    mcp_tokens_free(c->tokens);
    /* The session may still be ended over HTTP. */
    uv_close((uv_handle_t *) &c->interrupt, NULL);
    (void) uv_run(&c->loop, UV_RUN_DEFAULT);
    http_client_free(c->http);
    (void) uv_run(&c->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&c->loop);
    config_free(c->config);
    acp_buf_finish(&c->result);
    acp_arena_finish(&c->arena);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void on_reply(struct mcp_call *call, const struct mcp_reply *reply, void *user)
{
    struct mcp_connection *c = user;
    (void) call;
    c->waiting = false;
    uv_stop(&c->loop);
    acp_buf_clear(&c->result);
    int err = reply->err
                  ? 0
                  : acp_buf_append_str(&c->result, acp_str_n(reply->result.ptr, reply->result.len));
    if (reply->err || err) {
        err_printf("acp mcp: %.*s\n",
                   ACP_ARG(reply->err ? reply->sentence : acp_str_from(acp_err_text(err))));
        c->status = reply->err == ACP_ERR_TIMEOUT ? EXIT_TIMEOUT : EXIT_FAILED;
    }
}

static void on_progress(struct mcp_call *call, const struct mcp_progress *progress, void *user)
{
    (void) call;
    (void) user;
    if (progress->total.has == ACP_PRESENT)
        err_row("%g of %g %.*s", progress->progress, progress->total.value,
                ACP_ARG(progress->message));
    else
        err_row("%g %.*s", progress->progress, ACP_ARG(progress->message));
}

int mcp_connection_request(struct mcp_connection *c, const char *method, struct acp_raw params)
{
    struct mcp_request request = {
        .method = method, .params = params, .reply = on_reply, .progress = on_progress, .user = c};
    struct mcp_call *call;
    int err = mcp_server_request(c->server, &request, &call);
    if (err) {
        err_printf("acp mcp: %s\n", acp_err_text(err));
        return EXIT_FAILED;
    }
    c->waiting = true;
    while (c->waiting && !c->status)
        (void) uv_run(&c->loop, UV_RUN_ONCE);
    if (c->waiting && c->status == EXIT_INTERRUPTED)
        mcp_call_cancel(call);
    return c->status;
}

int mcp_connection_list(struct mcp_connection *c, enum mcp_list_kind kind)
{
    if (kind == MCP_TOOLS && mcp_server_info(c->server)->tools)
        return EXIT_OK; /* since it is ready */
    if (mcp_server_list(c->server, kind))
        return EXIT_FAILED;
    c->listed[kind] = false;
    while (!c->listed[kind] && !c->status)
        (void) uv_run(&c->loop, UV_RUN_ONCE);
    return c->status;
}

struct acp_raw mcp_connection_result(const struct mcp_connection *c)
{
    struct acp_str view = acp_buf_view(&c->result);
    return acp_raw_n(view.ptr, view.len);
}
