/* mcp_edit.c - acp mcp add, remove: edit mcp_servers in the user's configuration file. */
#include <string.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "cmd/config_edit.h"
#include "cmd/mcp_connect.h"
#include "config/jsonc.h"
#include "config/paths.h"
#include "json/members.h"

struct add_options {
    struct option_list env;
    struct option_list headers;
    int transport;
    bool force;
};

static const struct option add_rows[] = {
    {.name = "env",
     .argument = "NAME=VALUE",
     .kind = OPTION_PAIR,
     .repeated = true,
     .offset = offsetof(struct add_options, env),
     .help = "set an environment variable for the server"},
    {.name = "header",
     .argument = "HEADER",
     .kind = OPTION_TEXT,
     .repeated = true,
     .offset = offsetof(struct add_options, headers),
     .help = "send this HTTP header, such as *Name: value*, to a server that is named by its URL"},
    {.name = "transport",
     .argument = "TRANSPORT",
     .kind = OPTION_CHOICE,
     .choices = mcp_transport_names,
     .offset = offsetof(struct add_options, transport),
     .help = "of a server that is named by its URL: *http*, which falls back to the older one, or "
             "*sse*"},
    {.name = "force",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct add_options, force),
     .help = "replace an existing server of that name"},
    {0},
};

static const struct option_group add_groups[] = {
    {add_rows, 0},
    {0},
};

/* An object of the pairs, which are separated by the character and blanks. */
static int write_pairs(struct acp_json_writer *w, const char *key, const struct option_list *list,
                       char separator)
{
    if (!list->count)
        return EXIT_OK;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_begin_object(w);
    for (size_t i = 0; i < list->count; i++) {
        const char *pair = list->items[i];
        const char *at = strchr(pair, separator);
        if (!at || at == pair) {
            err_printf("acp mcp: expected a header such as 'Name: value', got '%s'\n", pair);
            return EXIT_USAGE;
        }
        acp_json_write_key(w, acp_str_n(pair, (size_t) (at - pair)));
        acp_json_write_str(w, acp_str_from(at + 1 + strspn(at + 1, " ")));
    }
    acp_json_end_object(w);
    return EXIT_OK;
}

static int write_remote(const struct invocation *invocation, struct acp_json_writer *w)
{
    const struct add_options *options = invocation->options;
    if (invocation->arguments[2] || options->env.count) {
        err_printf("acp mcp: a server with a URL has no arguments and no environment\n");
        return EXIT_USAGE;
    }
    acp_json_put_text(w, "type", options->transport == MCP_CHOICE_SSE ? "sse" : "http");
    acp_json_put_text(w, "url", invocation->arguments[1]);
    return write_pairs(w, "headers", &options->headers, ':');
}

static int write_program(const struct invocation *invocation, struct acp_arena *arena,
                         struct acp_json_writer *w)
{
    const struct add_options *options = invocation->options;
    /* In the file, a relative path would be relative to the file; plain names stay as they are. */
    const char *command = invocation->arguments[1];
    if (strchr(command, '/'))
        command = config_command_folder(command, arena);
    if (options->headers.count || options->transport || !command) {
        err_printf("acp mcp: --header and --transport are for a server with a URL\n");
        return EXIT_USAGE;
    }
    acp_json_put_text(w, "command", command);
    acp_json_write_key(w, acp_str_from("args"));
    acp_json_begin_array(w);
    for (size_t i = 2; invocation->arguments[i]; i++)
        acp_json_write_str(w, acp_str_from(invocation->arguments[i]));
    acp_json_end_array(w);
    return write_pairs(w, "env", &options->env, '=');
}

/* The entry as JSON, indented. */
static int write_entry(const struct invocation *invocation, struct acp_arena *arena,
                       struct acp_buf *out)
{
    struct acp_json_writer w;
    struct acp_buf plain;
    acp_buf_init(&plain, PATHS_MAX_FILE);
    acp_json_writer_init(&w, &plain);
    acp_json_begin_object(&w);
    int status = strstr(invocation->arguments[1], "://") ? write_remote(invocation, &w)
                                                         : write_program(invocation, arena, &w);
    acp_json_end_object(&w);
    struct acp_str view = acp_buf_view(&plain);
    if (!status && (w.err || acp_json_pretty(acp_raw_n(view.ptr, view.len), out)))
        status = EXIT_FAILED;
    acp_buf_finish(&plain);
    return status;
}

static int run_add(const struct invocation *invocation)
{
    const struct add_options *options = invocation->options;
    const char *name = invocation->arguments[0];
    const struct acp_str member[2] = {acp_str_from("mcp_servers"), acp_str_from(name)};
    struct config_edit e;
    struct acp_buf entry;
    struct acp_failure failure = {0};
    int status = config_edit_begin(&e, "mcp");
    acp_buf_init(&entry, PATHS_MAX_FILE);
    if (status == EXIT_OK && !options->force && config_edit_has(&e, member)) {
        err_printf("acp mcp: server '%s' already exists in %s; use --force to replace it\n", name,
                   e.file);
        status = EXIT_FAILED;
    }
    if (status == EXIT_OK)
        status = write_entry(invocation, &e.arena, &entry);
    if (status == EXIT_OK) {
        struct acp_str value = acp_buf_view(&entry);
        int err = jsonc_set(acp_buf_view(&e.text), member, 2, acp_raw_n(value.ptr, value.len),
                            &e.changed, &failure);
        if (err)
            status = config_edit_fail(&e, err, &failure);
    }
    acp_buf_finish(&entry);
    return config_edit_end(&e, status);
}

static int run_remove(const struct invocation *invocation)
{
    const char *name = invocation->arguments[0];
    const struct acp_str member[2] = {acp_str_from("mcp_servers"), acp_str_from(name)};
    struct config_edit e;
    struct acp_failure failure = {0};
    int status = config_edit_begin(&e, "mcp");
    if (status)
        return config_edit_end(&e, status);
    int err = config_edit_remove(&e, member, &failure);
    if (err == ACP_ERR_UNKNOWN || (err == ACP_ERR_SYNTAX && e.text.len == 0)) {
        err_printf("acp mcp: no MCP server '%s' in %s\n", name, e.file);
        status = EXIT_FAILED;
    } else if (err) {
        status = config_edit_fail(&e, err, &failure);
    }
    return config_edit_end(&e, status);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static const struct argument add_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {.name = "TARGET", .kind = OPTION_TEXT},
    {.name = "ARGUMENT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

static const struct argument remove_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {0},
};

static const struct example add_examples[] = {
    {"acp mcp add docs https://mcp.example/", "adds a server over HTTP"},
    {"acp mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
     "adds a program with its arguments"},
    {0},
};

const struct command command_mcp_add = {
    .name = "add",
    .summary = "add an MCP server to the configuration",
    .description =
        "Adds an entry to *mcp_servers* in the user's configuration file; comments and other "
        "settings are preserved. _TARGET_ is the URL of the server, or the program to start, "
        "followed by its arguments. Put *--* before the program, so that its options are not "
        "parsed as options of *acp*.",
    .arguments = add_arguments,
    .options = add_groups,
    .options_size = sizeof(struct add_options),
    .examples = add_examples,
    .run = run_add,
};

const struct command command_mcp_remove = {
    .name = "remove",
    .summary = "remove an MCP server from the configuration",
    .description = "Removes the entry from *mcp_servers* in the user's configuration file; the "
                   "rest of the file is preserved.",
    .arguments = remove_arguments,
    .run = run_remove,
};
