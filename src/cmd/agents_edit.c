/* agents_edit.c - acp agents add, remove: edit agent_servers in the user's configuration file. */
#include <string.h>

#include "acp/json.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "cmd/config_edit.h"
#include "config/jsonc.h"
#include "config/paths.h"
#include "registry/agents.h"

/* ---- add ------------------------------------------------------------------------------------ */

struct add_options {
    struct option_list env;
    bool force;
};

static const struct option add_rows[] = {
    {.name = "env",
     .argument = "NAME=VALUE",
     .kind = OPTION_PAIR,
     .repeated = true,
     .offset = offsetof(struct add_options, env),
     .help = "set an environment variable for the agent"},
    {.name = "force",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct add_options, force),
     .help = "replace an existing agent of that name"},
    {0},
};

static const struct option_group add_groups[] = {
    {add_rows, 0},
    {0},
};

/* The entry as JSON, indented by two spaces per level. */
static int write_entry(const struct invocation *invocation, const char *command,
                       struct acp_buf *out)
{
    const struct add_options *options = invocation->options;
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    int err = acp_buf_printf(out, "{\n  \"command\": ");
    acp_json_write_str(&w, acp_str_from(command));
    if (invocation->arguments[2]) {
        err |= acp_buf_printf(out, ",\n  \"args\": [");
        for (size_t i = 2; invocation->arguments[i]; i++) {
            err |= acp_buf_printf(out, "%s", i > 2 ? ", " : "");
            acp_json_writer_init(&w, out);
            acp_json_write_str(&w, acp_str_from(invocation->arguments[i]));
        }
        err |= acp_buf_printf(out, "]");
    }
    for (size_t i = 0; i < options->env.count; i++) {
        const char *pair = options->env.items[i];
        size_t n = strcspn(pair, "=");
        err |= acp_buf_printf(out, i ? ",\n    " : ",\n  \"env\": {\n    ");
        acp_json_writer_init(&w, out);
        acp_json_write_str(&w, acp_str_n(pair, n));
        err |= acp_buf_printf(out, ": ");
        acp_json_writer_init(&w, out);
        acp_json_write_str(&w, acp_str_from(pair + n + 1));
    }
    if (options->env.count)
        err |= acp_buf_printf(out, "\n  }");
    err |= acp_buf_printf(out, "\n}");
    return err || w.err ? ACP_ERR_NOMEM : 0;
}

static int run_add(const struct invocation *invocation)
{
    const struct add_options *options = invocation->options;
    const char *name = invocation->arguments[0];
    const struct acp_str member[2] = {acp_str_from("agent_servers"), acp_str_from(name)};
    struct config_edit e;
    struct acp_buf entry;
    struct acp_failure failure = {0};
    int status = config_edit_begin(&e, "agents");
    acp_buf_init(&entry, PATHS_MAX_FILE);
    if (status == EXIT_OK && !options->force && config_edit_has(&e, member)) {
        err_printf("acp agents: agent '%s' already exists in %s; use --force to replace it\n", name,
                   e.file);
        status = EXIT_FAILED;
    }
    /* In the file, a relative path would be relative to the file; plain names stay as they are. */
    const char *command = invocation->arguments[1];
    if (strchr(command, '/'))
        command = config_command_folder(command, &e.arena);
    if (status == EXIT_OK) {
        int err = command ? write_entry(invocation, command, &entry) : ACP_ERR_NOMEM;
        struct acp_str value = acp_buf_view(&entry);
        if (!err)
            err = jsonc_set(acp_buf_view(&e.text), member, 2, acp_raw_n(value.ptr, value.len),
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
    const struct acp_str member[2] = {acp_str_from("agent_servers"), acp_str_from(name)};
    struct config_edit e;
    struct acp_failure failure = {0};
    int status = config_edit_begin(&e, "agents");
    if (status)
        return config_edit_end(&e, status);
    int err = config_edit_remove(&e, member, &failure);
    if (err == ACP_ERR_UNKNOWN || (err == ACP_ERR_SYNTAX && e.text.len == 0)) {
        err_printf("acp agents: no agent '%s' in %s%s\n", name, e.file,
                   agents_known_find(name) ? "; it is built in and cannot be removed" : "");
        status = EXIT_FAILED;
    } else if (err) {
        status = config_edit_fail(&e, err, &failure);
    }
    return config_edit_end(&e, status);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static const struct argument name_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {0},
};

static const struct argument add_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {.name = "COMMAND", .kind = OPTION_TEXT},
    {.name = "ARGUMENT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

const struct command command_agents_add = {
    .name = "add",
    .summary = "add an agent to the configuration",
    .description =
        "Adds an entry to *agent_servers* in the user's configuration file; comments and other "
        "settings are preserved. Put *--* before the command, so that its options are not parsed "
        "as options of *acp*.",
    .arguments = add_arguments,
    .options = add_groups,
    .options_size = sizeof(struct add_options),
    .run = run_add,
};

const struct command command_agents_remove = {
    .name = "remove",
    .summary = "remove an agent from the configuration",
    .description = "Removes the entry from *agent_servers* in the user's configuration file; the "
                   "rest of the file is preserved.",
    .arguments = name_arguments,
    .run = run_remove,
};
