/* options.c - the options of an MCP server from an entry of mcpServers. */
#include "mcp/options.h"

#include <stdio.h>

#include "launch/fetched.h"

/* Environment variables for a server that npx fetches. */
enum { MAX_LAUNCH = 2 };

struct acp_str mcp_entry_name(const struct acp_mcp_server *entry)
{
    switch (entry->is) {
    case ACP_MCP_SERVER_STDIO:
        return entry->stdio.name;
    case ACP_MCP_SERVER_HTTP:
        return entry->http.name;
    case ACP_MCP_SERVER_SSE:
        return entry->sse.name;
    case ACP_MCP_SERVER_ACP:
        return entry->acp.name;
    default:
        return acp_str_from(NULL);
    }
}

bool mcp_is_header(struct acp_str name, struct acp_str value)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] > '~' || strchr("()<>@,;:\\\"/[]?={}", name.ptr[i]))
            return false;
    for (size_t i = 0; i < value.len; i++)
        if (((unsigned char) value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] == 0x7F)
            return false;
    return name.len > 0;
}

/* "NAME=value" for the process; NULL if out of memory. */
static const char *write_variable(const struct acp_env_variable *variable, struct acp_arena *arena)
{
    size_t size = variable->name.len + variable->value.len + 2;
    char *text = acp_arena_alloc(arena, size);
    if (text)
        (void) snprintf(text, size, "%.*s=%.*s", ACP_ARG(variable->name), ACP_ARG(variable->value));
    return text;
}

static int read_stdio(const struct acp_mcp_server_stdio *entry, const char *launch_folder,
                      struct acp_arena *arena, struct mcp_options *options,
                      struct acp_failure *failure)
{
    const char **argv = acp_arena_alloc(arena, (entry->args.count + 2) * sizeof(*argv));
    const char **env = acp_arena_alloc(arena, (entry->env.count + MAX_LAUNCH + 1) * sizeof(*env));
    struct launch_fetched fetched;
    if (!argv || !env)
        return ACP_ERR_NOMEM;
    bool copied = (argv[0] = acp_arena_copy(arena, entry->command).ptr) != NULL;
    for (size_t i = 0; copied && i < entry->args.count; i++)
        copied = (argv[i + 1] = acp_arena_copy(arena, entry->args.items[i]).ptr) != NULL;
    for (size_t i = 0; copied && i < entry->env.count; i++)
        copied = (env[i] = write_variable(&entry->env.items[i], arena)) != NULL;
    if (!copied)
        return ACP_ERR_NOMEM;
    options->kind = MCP_STDIO;
    options->argv = argv;
    options->env = env;
    if (!launch_folder || !launch_is_fetched(argv))
        return 0;
    int err = launch_fetched(arena, launch_folder, argv[0], argv, options->cwd, &fetched, failure);
    if (err)
        return err;
    options->argv = fetched.argv;
    options->cwd = fetched.cwd;
    for (size_t n = entry->env.count, i = 0; fetched.env[i]; i++)
        env[n++] = fetched.env[i];
    return 0;
}

static int read_remote(enum mcp_transport_kind kind, struct acp_str url,
                       struct acp_http_header_list list, struct acp_arena *arena,
                       struct mcp_options *options)
{
    struct http_header *headers = acp_arena_alloc(arena, (list.count + 1) * sizeof(*headers));
    options->kind = kind;
    options->url = acp_arena_copy(arena, url).ptr;
    options->headers = headers;
    options->header_count = list.count;
    bool copied = headers && options->url;
    for (size_t i = 0; copied && i < list.count; i++) {
        headers[i].name = acp_arena_copy(arena, list.items[i].name).ptr;
        headers[i].value = acp_arena_copy(arena, list.items[i].value).ptr;
        copied = headers[i].name && headers[i].value;
    }
    return copied ? 0 : ACP_ERR_NOMEM;
}

int mcp_options_read(const struct acp_mcp_server *entry, const char *launch_folder,
                     struct acp_arena *arena, struct mcp_options *options,
                     struct acp_failure *failure)
{
    options->name = acp_arena_copy(arena, mcp_entry_name(entry)).ptr;
    if (!options->name)
        return ACP_ERR_NOMEM;
    switch (entry->is) {
    case ACP_MCP_SERVER_STDIO:
        return read_stdio(&entry->stdio, launch_folder, arena, options, failure);
    case ACP_MCP_SERVER_HTTP:
        return read_remote(MCP_HTTP, entry->http.url, entry->http.headers, arena, options);
    case ACP_MCP_SERVER_SSE:
        return read_remote(MCP_SSE, entry->sse.url, entry->sse.headers, arena, options);
    case ACP_MCP_SERVER_ACP:
        options->kind = MCP_ACP;
        options->server_id = acp_arena_copy(arena, entry->acp.server_id).ptr;
        return options->server_id ? 0 : ACP_ERR_NOMEM;
    default:
        return ACP_ERR_ARGUMENT;
    }
}
