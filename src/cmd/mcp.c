/* mcp.c - acp mcp list, tools, call, read, prompt: MCP servers from the shell. */
#include <string.h>

#include "base/utf8.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/mcp_connect.h"
#include "config/redact.h"
#include "json/members.h"
#include "mcp/options.h"

enum { MAX_TEXT = 16 << 20, SHOWN_LINE = 100 };

/* ---- Printing -------------------------------------------------------------------------------- */

/* The first line of a description. */
static struct acp_str first_line(struct acp_str text)
{
    const char *end = memchr(text.ptr, '\n', text.len);
    struct acp_str line = end ? acp_str_n(text.ptr, (size_t) (end - text.ptr)) : text;
    return acp_str_cut(line, SHOWN_LINE);
}

static void print_json(struct acp_raw json)
{
    out_json_line(acp_str_n(json.ptr, json.len));
}

/* Text ends with a line end, whatever the server sends. */
static void print_text(struct acp_str text)
{
    out_text(text);
    if (!text.len || text.ptr[text.len - 1] != '\n')
        out_printf("\n");
}

static int finish(struct mcp_connection *c, int status)
{
    mcp_connection_close(c);
    if (out_flush() && status == EXIT_OK)
        status = EXIT_FAILED;
    return status;
}

/* ---- list ------------------------------------------------------------------------------------ */

struct list_options {
    struct config_flags place;
    bool json;
};

static const struct option list_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct list_options, json),
     .help = "print one JSON object per line"},
    {0},
};

static const struct option_group list_groups[] = {
    {list_rows, 0},
    {config_flag_rows, offsetof(struct list_options, place)},
    {0},
};

/* A command line or a URL, without secrets. */
static int print_target(const struct acp_mcp_server *entry, struct acp_buf *out)
{
    if (entry->is == ACP_MCP_SERVER_HTTP)
        return redact_url(entry->http.url, out);
    if (entry->is == ACP_MCP_SERVER_SSE)
        return redact_url(entry->sse.url, out);
    struct acp_str before = entry->stdio.command;
    int err = acp_buf_append_str(out, before);
    for (size_t i = 0; !err && i < entry->stdio.args.count; i++) {
        struct acp_arena arena;
        acp_arena_init(&arena, 0);
        const char *last = acp_arena_copy(&arena, before).ptr;
        err = acp_buf_append(out, " ", 1);
        if (!err)
            err = redact_argument(i ? last : NULL, entry->stdio.args.items[i], out);
        before = entry->stdio.args.items[i];
        acp_arena_finish(&arena);
    }
    return err;
}

static const char *transport_of(const struct acp_mcp_server *entry)
{
    return entry->is == ACP_MCP_SERVER_HTTP  ? "http"
           : entry->is == ACP_MCP_SERVER_SSE ? "sse"
                                             : "stdio";
}

static void print_entry(const struct acp_mcp_server *entry, bool json)
{
    struct acp_buf target;
    struct acp_buf line;
    struct acp_json_writer w;
    acp_buf_init(&target, MAX_TEXT);
    acp_buf_init(&line, MAX_TEXT);
    (void) print_target(entry, &target);
    if (json) {
        acp_json_writer_init(&w, &line);
        acp_json_begin_object(&w);
        acp_json_put_str(&w, "name", mcp_entry_name(entry));
        acp_json_put_text(&w, "transport", transport_of(entry));
        acp_json_put_str(&w, "target", acp_buf_view(&target));
        acp_json_end_object(&w);
        out_json_line(acp_buf_view(&line));
    } else {
        out_row("%-20.*s %-6s %.*s", ACP_ARG(mcp_entry_name(entry)), transport_of(entry),
                ACP_ARG(acp_buf_view(&target)));
    }
    acp_buf_finish(&target);
    acp_buf_finish(&line);
}

static int run_list(const struct invocation *invocation)
{
    const struct list_options *options = invocation->options;
    struct config *config = NULL;
    int status = config_command_load(&(struct config_options){.cwd = options->place.cwd}, &config);
    if (status)
        return status;
    struct acp_mcp_server_list list = config_mcp_servers(config);
    for (size_t i = 0; i < list.count; i++)
        print_entry(&list.items[i], options->json);
    if (!list.count && !options->json)
        err_printf("acp mcp: no MCP servers are configured; add one with 'acp mcp add'\n");
    config_free(config);
    return out_flush() ? EXIT_FAILED : EXIT_OK;
}

/* ---- tools, read, prompt: lists -------------------------------------------------------------- */

static void print_items(const struct mcp_connection *c, enum mcp_list_kind kind)
{
    const struct mcp_item *item;
    for (size_t i = 0; (item = mcp_server_at(c->server, kind, i)) != NULL; i++) {
        struct acp_str name = kind > MCP_PROMPTS ? item->uri : item->name;
        struct acp_str about = item->description.len ? item->description : item->title;
        out_row("%-30.*s %.*s", ACP_ARG(name), ACP_ARG(first_line(about)));
    }
}

/* Pages of a list as the server sends them, one line each. */
static int print_pages(struct mcp_connection *c, enum mcp_list_kind kind)
{
    enum { MAX_PAGES = 100 };
    struct acp_buf params;
    int status = EXIT_OK;
    bool more = true;
    acp_buf_init(&params, MAX_TEXT);
    for (size_t page = 0; !status && more && page < MAX_PAGES; page++) {
        struct acp_str cursor = acp_str_from(NULL);
        struct acp_json_writer w;
        struct acp_str view = acp_buf_view(&params);
        status = mcp_connection_request(c, mcp_list_method(kind), acp_raw_n(view.ptr, view.len));
        if (status)
            break;
        print_json(mcp_connection_result(c));
        (void) acp_json_member_str(mcp_connection_result(c), "nextCursor", &c->arena, &cursor);
        more = cursor.len > 0;
        acp_buf_clear(&params);
        acp_json_writer_init(&w, &params);
        acp_json_begin_object(&w);
        acp_json_put_str(&w, "cursor", cursor);
        acp_json_end_object(&w);
    }
    acp_buf_finish(&params);
    return status;
}

static int show_list(struct mcp_connection *c, enum mcp_list_kind kind, bool is_offered)
{
    if (!is_offered) {
        err_printf("acp mcp: the server offers no %s\n", mcp_list_key(kind));
        return EXIT_OK;
    }
    if (c->flags->json)
        return print_pages(c, kind);
    int status = mcp_connection_list(c, kind);
    if (!status)
        print_items(c, kind);
    return status;
}

static int run_tools(const struct invocation *invocation)
{
    struct mcp_connection c;
    int status = mcp_connection_open(&c, invocation->options, invocation->arguments[0]);
    if (!status)
        status = show_list(&c, MCP_TOOLS, mcp_server_info(c.server)->tools);
    return finish(&c, status);
}

/* ---- call ------------------------------------------------------------------------------------ */

static int write_call(const char *tool, const char *arguments, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "name", tool);
    acp_json_put_raw(&w, "arguments", acp_raw_from(arguments ? arguments : "{}"));
    acp_json_end_object(&w);
    return w.err;
}

/* Prints the texts of a result. */
static int print_result(const struct mcp_connection *c)
{
    struct acp_arena arena;
    struct acp_buf text;
    struct mcp_result result = {0};
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, MCP_MAX_RESULT);
    int err = mcp_read_result(mcp_connection_result(c), &arena, &text, &result);
    if (err)
        err_printf("acp mcp: the server sent an invalid result: %s\n", acp_err_text(err));
    else
        print_text(result.text);
    if (result.cut)
        err_printf("acp mcp: the result is longer; --json prints all of it\n");
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return err || result.is_error ? EXIT_FAILED : EXIT_OK;
}

static int run_call(const struct invocation *invocation)
{
    const struct mcp_flags *flags = invocation->options;
    const char *arguments = invocation->arguments[2];
    struct mcp_connection c;
    struct acp_buf params;
    if (arguments && (*arguments != '{' || acp_json_validate(acp_raw_from(arguments), 0, NULL))) {
        err_printf("acp mcp: expected the arguments as a JSON object, got '%s'\n", arguments);
        return EXIT_USAGE;
    }
    acp_buf_init(&params, MAX_TEXT);
    int status = mcp_connection_open(&c, flags, invocation->arguments[0]);
    if (!status && write_call(invocation->arguments[1], arguments, &params))
        status = EXIT_FAILED;
    struct acp_str view = acp_buf_view(&params);
    if (!status)
        status = mcp_connection_request(&c, "tools/call", acp_raw_n(view.ptr, view.len));
    if (!status && flags->json) {
        bool is_error = false;
        print_json(mcp_connection_result(&c));
        (void) acp_json_member_bool(mcp_connection_result(&c), "isError", &is_error);
        status = is_error ? EXIT_FAILED : EXIT_OK;
    } else if (!status) {
        status = print_result(&c);
    }
    acp_buf_finish(&params);
    return finish(&c, status);
}

/* ---- read and prompt ------------------------------------------------------------------------- */

/* Sends the request and prints the texts of its result. */
static int print_request(struct mcp_connection *c, const char *method, struct acp_str params,
                         int (*read)(struct acp_raw result, struct acp_buf *text, bool *ret_cut))
{
    struct acp_buf text;
    bool cut = false;
    int status = mcp_connection_request(c, method, acp_raw_n(params.ptr, params.len));
    if (status)
        return status;
    if (c->flags->json) {
        print_json(mcp_connection_result(c));
        return EXIT_OK;
    }
    acp_buf_init(&text, MCP_MAX_RESULT);
    int err = read(mcp_connection_result(c), &text, &cut);
    if (err)
        err_printf("acp mcp: the server sent an invalid result: %s\n", acp_err_text(err));
    else
        print_text(acp_buf_view(&text));
    if (cut)
        err_printf("acp mcp: the result is longer; --json prints all of it\n");
    acp_buf_finish(&text);
    return err ? EXIT_FAILED : EXIT_OK;
}

static int read_uri(struct mcp_connection *c, const char *uri)
{
    struct acp_json_writer w;
    struct acp_buf params;
    acp_buf_init(&params, MAX_TEXT);
    acp_json_writer_init(&w, &params);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "uri", uri);
    acp_json_end_object(&w);
    int status = w.err
                     ? EXIT_FAILED
                     : print_request(c, "resources/read", acp_buf_view(&params), mcp_read_contents);
    acp_buf_finish(&params);
    return status;
}

static int run_read(const struct invocation *invocation)
{
    const char *uri = invocation->arguments[1];
    struct mcp_connection c;
    int status = mcp_connection_open(&c, invocation->options, invocation->arguments[0]);
    bool is_offered = !status && mcp_server_info(c.server)->resources;
    if (!status && uri) {
        status = read_uri(&c, uri);
    } else if (!status) {
        status = show_list(&c, MCP_RESOURCES, is_offered);
        if (!status && is_offered)
            status = show_list(&c, MCP_TEMPLATES, is_offered);
    }
    return finish(&c, status);
}

static int get_prompt(struct mcp_connection *c, const char *name, const char *const *pairs)
{
    struct acp_json_writer w;
    struct acp_buf params;
    acp_buf_init(&params, MAX_TEXT);
    acp_json_writer_init(&w, &params);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "name", name);
    acp_json_write_key(&w, acp_str_from("arguments"));
    acp_json_begin_object(&w);
    for (size_t i = 0; pairs[i]; i++) {
        size_t n = strcspn(pairs[i], "=");
        acp_json_write_key(&w, acp_str_n(pairs[i], n));
        acp_json_write_str(&w, acp_str_from(pairs[i] + n + 1));
    }
    acp_json_end_object(&w);
    acp_json_end_object(&w);
    int status = w.err ? EXIT_FAILED
                       : print_request(c, "prompts/get", acp_buf_view(&params), mcp_read_messages);
    acp_buf_finish(&params);
    return status;
}

static int run_prompt(const struct invocation *invocation)
{
    const char *name = invocation->arguments[1];
    struct mcp_connection c;
    int status = mcp_connection_open(&c, invocation->options, invocation->arguments[0]);
    if (!status && name)
        status = get_prompt(&c, name, invocation->arguments + 2);
    else if (!status)
        status = show_list(&c, MCP_PROMPTS, mcp_server_info(c.server)->prompts);
    return finish(&c, status);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct option_group server_groups[] = {
    {mcp_flag_rows, 0},
    {config_flag_rows, offsetof(struct mcp_flags, place)},
    {0},
};

static const struct argument server_arguments[] = {
    {.name = "SERVER", .kind = OPTION_TEXT},
    {0},
};

static const struct argument call_arguments[] = {
    {.name = "SERVER", .kind = OPTION_TEXT},
    {.name = "TOOL", .kind = OPTION_TEXT},
    {.name = "JSON", .kind = OPTION_TEXT, .optional = true},
    {0},
};

static const struct argument read_arguments[] = {
    {.name = "SERVER", .kind = OPTION_TEXT},
    {.name = "URI", .kind = OPTION_TEXT, .optional = true},
    {0},
};

static const struct argument prompt_arguments[] = {
    {.name = "SERVER", .kind = OPTION_TEXT},
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true},
    {.name = "NAME=VALUE", .kind = OPTION_PAIR, .optional = true, .repeated = true},
    {0},
};

#define WHICH_SERVER                                                                               \
    " _SERVER_ is the name of a configured server, a URL, or a command line in quotes."

static const struct exit_status call_statuses[] = {
    {"The tool has failed, or cannot be called.", EXIT_FAILED},
    {0},
};

static const struct example call_examples[] = {
    {"acp mcp call https://mcp.example/ search '{\"word\": \"acp\"}'",
     "calls a tool of a server over HTTP"},
    {0},
};

static const struct command list = {
    .name = "list",
    .summary = "list the configured MCP servers",
    .description = "Prints for each server of the configuration its name, how it is reached, and "
                   "its command line or URL without secrets. Starts nothing.",
    .options = list_groups,
    .options_size = sizeof(struct list_options),
    .run = run_list,
};

static const struct command tools = {
    .name = "tools",
    .summary = "list the tools of an MCP server",
    .description = "Connects to a server and prints its tools." WHICH_SERVER,
    .arguments = server_arguments,
    .options = server_groups,
    .options_size = sizeof(struct mcp_flags),
    .run = run_tools,
};

static const struct command call = {
    .name = "call",
    .summary = "call a tool of an MCP server",
    .description =
        "Calls a tool with the arguments in _JSON_, an object, and prints the texts of its result. "
        "Progress goes to standard error." WHICH_SERVER,
    .arguments = call_arguments,
    .options = server_groups,
    .options_size = sizeof(struct mcp_flags),
    .statuses = call_statuses,
    .examples = call_examples,
    .run = run_call,
};

static const struct command read_command = {
    .name = "read",
    .summary = "read a resource of an MCP server",
    .description = "Prints the resource with this URI; without one, the resources and templates "
                   "that there are." WHICH_SERVER,
    .arguments = read_arguments,
    .options = server_groups,
    .options_size = sizeof(struct mcp_flags),
    .run = run_read,
};

static const struct command prompt = {
    .name = "prompt",
    .summary = "get a prompt of an MCP server",
    .description = "Prints the messages of a prompt, with these arguments; without a name, the "
                   "prompts that there are." WHICH_SERVER,
    .arguments = prompt_arguments,
    .options = server_groups,
    .options_size = sizeof(struct mcp_flags),
    .run = run_prompt,
};

static const struct command *const subcommands[] = {
    &list,
    &tools,
    &call,
    &read_command,
    &prompt,
    &command_mcp_login,
    &command_mcp_logout,
    &command_mcp_add,
    &command_mcp_remove,
    &command_mcp_serve,
    NULL,
};

const struct command command_mcp = {
    .name = "mcp",
    .summary = "try and configure MCP servers",
    .description =
        "Connects to servers of the Model Context Protocol (MCP), which offer tools, resources and "
        "prompts, over standard input and output, streamable HTTP, or the older HTTP with "
        "server-sent events. The servers in *mcp_servers* of the configuration are used by every "
        "session; see *acp-config*(5).",
    .subcommands = subcommands,
};
