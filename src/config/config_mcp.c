/* config_mcp.c - reads mcp_servers into the parameter of session/new. */
#include "config/config_internal.h"
#include "config/paths.h"

/* A server being read, before its type is known. */
struct draft {
    const char *name;
    const char *command;
    const char *const *args;
    struct acp_str_map env;
    const char *url;
    struct acp_str_map headers;
    const char *type;
    bool off;
};

static const char *const server_keys[] = {"command", "args",    "env",      "url", "headers",
                                          "type",    "enabled", "disabled", NULL};
/* Keys written by editors, which are ignored. */
static const char ignored_keys[] = "source|settings|timeout|description|autoApprove|alwaysAllow|"
                                   "_meta|tools";

static int read_server(struct config_reader *reader, struct draft *draft);

static int read_switch(struct config_reader *reader, bool off, struct draft *draft)
{
    bool value = !off;
    int err = config_read_bool(reader, &value);
    if (!err)
        draft->off = value == off;
    return err;
}

static int read_server_key(struct config_reader *reader, struct acp_str key, struct draft *draft)
{
    /* Older editors wrote an object of path, args and env as the command. */
    if (acp_str_is(key, "command") && acp_json_peek(&reader->r) == ACP_JSON_OBJECT)
        return read_server(reader, draft);
    if (acp_str_is(key, "command") || acp_str_is(key, "path"))
        return config_read_text(reader, &draft->command);
    if (acp_str_is(key, "args"))
        return config_read_texts(reader, &draft->args);
    if (acp_str_is(key, "env"))
        return config_read_pairs(reader, &draft->env);
    if (acp_str_is(key, "url") || acp_str_is(key, "serverUrl"))
        return config_read_text(reader, &draft->url);
    if (acp_str_is(key, "headers"))
        return config_read_pairs(reader, &draft->headers);
    if (acp_str_is(key, "type") || acp_str_is(key, "transport"))
        return config_read_text(reader, &draft->type);
    if (acp_str_is(key, "name"))
        return config_read_text(reader, &draft->name);
    return read_switch(reader, acp_str_is(key, "disabled"), draft);
}

static bool is_server_key(struct acp_str key)
{
    return config_word_in("command|path|args|env|url|serverUrl|headers|type|transport|name|enabled|"
                          "disabled",
                          '|', key, NULL);
}

static int read_server(struct config_reader *reader, struct draft *draft)
{
    struct acp_str key;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object with command or url");
    int bad = 0;
    int more;
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        if (config_word_in(ignored_keys, '|', key, NULL) ||
            acp_json_peek(&reader->r) == ACP_JSON_NULL) {
            more = acp_json_skip(&reader->r);
        } else if (!is_server_key(key)) {
            more = config_unknown(reader, key, server_keys);
        } else {
            size_t mark = config_enter(reader, key);
            more = read_server_key(reader, key, draft);
            config_leave(reader, mark);
        }
        if (more < 0)
            return more;
        bad |= more;
    }
    return more < 0 ? more : bad;
}

/* ---- From the draft to the protocol --------------------------------------------------------- */

static bool make_stdio(struct config_reader *reader, const struct draft *draft,
                       struct acp_mcp_server *server)
{
    struct config *config = reader->config;
    const char *command = config_command(reader, draft->command);
    if (!command)
        return false;
    /* The protocol requires an absolute path; if the program is not found, the agent reports it. */
    const char *found = paths_find_program(&config->arena, command,
                                           paths_variable(config->environment, "PATH"), NULL);
    size_t count = 0;
    while (draft->args[count])
        count++;
    struct acp_str *args = acp_arena_alloc(&config->arena, (count + 1) * sizeof(*args));
    struct acp_env_variable *env =
        acp_arena_alloc(&config->arena, (draft->env.count + 1) * sizeof(*env));
    if (!args || !env)
        return false;
    for (size_t i = 0; i < count; i++)
        args[i] = acp_str_from(draft->args[i]);
    for (size_t i = 0; i < draft->env.count; i++) {
        env[i].name = draft->env.items[i].key;
        env[i].value = draft->env.items[i].value;
    }
    server->is = ACP_MCP_SERVER_STDIO;
    server->stdio.name = acp_str_from(draft->name);
    server->stdio.command = acp_str_from(found ? found : command);
    server->stdio.args = (struct acp_str_list){args, count};
    server->stdio.env = (struct acp_env_variable_list){env, draft->env.count};
    return true;
}

static bool make_remote(struct config *config, const struct draft *draft,
                        struct acp_mcp_server *server)
{
    size_t count = draft->headers.count;
    struct acp_http_header *headers =
        acp_arena_alloc(&config->arena, (count + 1) * sizeof(*headers));
    if (!headers)
        return false;
    for (size_t i = 0; i < count; i++) {
        headers[i].name = draft->headers.items[i].key;
        headers[i].value = draft->headers.items[i].value;
    }
    struct acp_http_header_list list = {headers, count};
    if (draft->type && strcmp(draft->type, "sse") == 0) {
        server->is = ACP_MCP_SERVER_SSE;
        server->sse.name = acp_str_from(draft->name);
        server->sse.url = acp_str_from(draft->url);
        server->sse.headers = list;
    } else {
        server->is = ACP_MCP_SERVER_HTTP;
        server->http.name = acp_str_from(draft->name);
        server->http.url = acp_str_from(draft->url);
        server->http.headers = list;
    }
    return true;
}

struct acp_str config_mcp_name(const struct acp_mcp_server *server)
{
    switch (server->is) {
    case ACP_MCP_SERVER_HTTP:
        return server->http.name;
    case ACP_MCP_SERVER_SSE:
        return server->sse.name;
    default:
        return server->stdio.name;
    }
}

static int keep_server(struct config_reader *reader, const struct acp_mcp_server *server,
                       struct config_origin origin)
{
    struct config *config = reader->config;
    size_t at = 0;
    while (at < config->mcp_count &&
           !acp_str_eq(config_mcp_name(&config->mcp[at]), config_mcp_name(server)))
        at++;
    if (at >= CONFIG_MAX_ENTRIES) {
        config_error(reader, "more than %d servers", (int) CONFIG_MAX_ENTRIES);
        return 1;
    }
    if (at == config->mcp_count) {
        struct acp_mcp_server *grown = config_grow(config, config->mcp, at, sizeof(*grown));
        struct config_origin *origins =
            config_grow(config, config->mcp_origins, at, sizeof(*origins));
        if (!grown || !origins)
            return reader->r.err = ACP_ERR_NOMEM;
        config->mcp = grown;
        config->mcp_origins = origins;
        config->mcp_count++;
    }
    config->mcp[at] = *server;
    config->mcp_origins[at] = origin;
    return 0;
}

/* The error in a draft; NULL if there is none. */
static const char *fault_of(const struct draft *draft)
{
    if (!draft->name || !*draft->name)
        return "the name of the server is empty";
    if (draft->type && !config_word_in("stdio|http|streamable-http|streamableHttp|sse", '|',
                                       acp_str_from(draft->type), NULL))
        return "type must be stdio, http or sse";
    bool remote = draft->url && *draft->url;
    bool local = draft->command && *draft->command;
    if (remote == local)
        return "a server must have either command or url";
    if (draft->type && (strcmp(draft->type, "stdio") == 0) != local)
        return "type does not match: stdio requires command, http and sse require url";
    return NULL;
}

static int read_one(struct config_reader *reader, const char *name)
{
    static const char *const none[] = {NULL};
    struct draft draft = {.name = name, .args = none};
    struct acp_mcp_server server = {0};
    struct config_origin origin = config_here(reader);
    struct acp_json_reader begin = reader->r;
    int err = read_server(reader, &draft);
    if (err)
        return err;
    const char *fault = fault_of(&draft);
    if (fault) {
        struct acp_json_reader behind = reader->r;
        reader->r = begin;
        config_error(reader, "%s", fault);
        reader->r = behind;
        return 1;
    }
    if (draft.off || reader->discard)
        return 0;
    if (!(draft.url ? make_remote(reader->config, &draft, &server)
                    : make_stdio(reader, &draft, &server)))
        return reader->r.err = ACP_ERR_NOMEM;
    return keep_server(reader, &server, origin);
}

int config_read_mcp(struct config_reader *reader)
{
    struct acp_str key = {0};
    bool list = acp_json_peek(&reader->r) == ACP_JSON_ARRAY;
    if (list ? acp_json_enter_array(&reader->r) : acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object of servers by name");
    int more;
    for (size_t i = 0;
         (more = list ? acp_json_next_item(&reader->r) : acp_json_next_key(&reader->r, &key)) > 0;
         i++) {
        size_t mark = list ? config_enter_index(reader, i) : config_enter(reader, key);
        const char *name = list ? NULL : acp_arena_copy(&reader->config->arena, key).ptr;
        int err = read_one(reader, name);
        config_leave(reader, mark);
        if (err < 0)
            return err;
    }
    return more;
}
