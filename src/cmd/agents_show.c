/* agents_show.c - acp agents list, which, show: the known agents and how each is started. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/jsonc.h"
#include "config/paths.h"
#include "config/redact.h"
#include "json/members.h"
#include "registry/agents.h"

enum { MAX_OUTPUT = 64 * 1024 * 1024 };

struct agents_options {
    struct config_flags place;
    const char *registry;
    bool json;
};

static const struct option lookup_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agents_options, json),
     .help = "print one JSON object per line"},
    {.name = "registry",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct agents_options, registry),
     .help = "also use the agents in this copy of the public registry"},
    {0},
};

static const struct option_group lookup_groups[] = {
    {lookup_rows, 0},
    {config_flag_rows, offsetof(struct agents_options, place)},
    {0},
};

static int load(const struct agents_options *options, struct config **ret)
{
    struct config *config = NULL;
    int status = config_command_load(&(struct config_options){.cwd = options->place.cwd}, &config);
    if (status)
        return status;
    if (options->registry) {
        struct acp_buf report;
        acp_buf_init(&report, CONFIG_MAX_REPORT);
        if (config_set(config, CONFIG_REGISTRY, "--registry", options->registry, &report))
            status = EXIT_USAGE;
        err_text(acp_buf_view(&report));
        acp_buf_finish(&report);
    }
    if (status)
        config_free(config);
    else
        *ret = config;
    return status;
}

/* ---- Printing ------------------------------------------------------------------------------- */

static int print_line(const struct agent_command *command, struct acp_buf *out)
{
    struct acp_str args[64];
    struct acp_arena arena;
    size_t count = 0;
    acp_arena_init(&arena, 0);
    const char *const *shown = redact_arguments(&arena, command->argv + 1);
    while (shown && count < 64 && shown[count]) {
        args[count] = acp_str_from(shown[count]);
        count++;
    }
    struct acp_buf line;
    acp_buf_init(&line, MAX_OUTPUT);
    int err =
        acp_command_line(acp_str_from(command->argv[0]), (struct acp_str_list){args, count}, &line);
    if (!err)
        err = sanitize_whole(SANITIZE_LINE, acp_buf_view(&line), out);
    acp_buf_finish(&line);
    acp_arena_finish(&arena);
    return err;
}

static void write_line(struct acp_json_writer *w, const char *const *argv)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *const *shown = redact_arguments(&arena, argv + 1);
    acp_json_write_key(w, acp_str_from("argv"));
    acp_json_begin_array(w);
    acp_json_write_str(w, acp_str_from(argv[0]));
    for (size_t i = 0; shown && shown[i]; i++)
        acp_json_write_str(w, acp_str_from(shown[i]));
    acp_json_end_array(w);
    acp_arena_finish(&arena);
}

/* A list that is separated by blanks. */
static void write_words(struct acp_json_writer *w, const char *key, const char *words)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_begin_array(w);
    for (const char *at = words; at && *at;) {
        size_t n = strcspn(at, " ");
        acp_json_write_str(w, acp_str_n(at, n));
        at += n + (at[n] == ' ');
    }
    acp_json_end_array(w);
}

static void write_known(struct acp_json_writer *w, const struct agent_known *known)
{
    write_words(w, "keys", known->keys);
    write_words(w, "addresses", known->addresses);
    write_words(w, "state", known->state);
    write_words(w, "quirks", known->quirks & AGENT_NO_FILES ? "no-files" : NULL);
}

static void print_json(const struct agent_command *command, void *user)
{
    static const char *const sources[] = {[AGENT_FROM_CONFIG] = "config",
                                          [AGENT_BUILT_IN] = "built-in",
                                          [AGENT_FROM_REGISTRY] = "registry",
                                          [AGENT_COMMAND_LINE] = "command-line"};
    struct acp_buf *out = user;
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "name", command->name);
    acp_json_put_text(&w, "title", command->title);
    acp_json_put_text(&w, "source", sources[command->source]);
    write_line(&w, command->argv);
    acp_json_put_text(&w, "program", command->program);
    acp_json_put_bool(&w, "fetched", command->fetched);
    acp_json_put_text(&w, "install", command->install);
    acp_json_put_text(&w, "login", command->login);
    if (command->known)
        write_known(&w, command->known);
    acp_json_end_object(&w);
    (void) acp_buf_append(out, "\n", 1);
}

/* How the agent would be started: installed, fetched by npx or uvx, or not at all. */
static const char *state_of(const struct agent_command *command)
{
    if (!command->program)
        return "not installed";
    return command->fetched ? command->argv[0] : "installed";
}

static void print_row(const struct agent_command *command, void *user)
{
    struct acp_buf *out = user;
    (void) sanitize_row(out, "%-14s %-14s %-20s %s", command->name, state_of(command),
                        agents_source_name(command->source), command->title);
}

/* The path of the program, or how to install it. */
static void print_place(const struct agent_command *command, struct acp_buf *out)
{
    if (!command->program)
        (void) sanitize_row(out, "'%s' is not installed%s%s", command->argv[0],
                            command->install ? "; " : "", command->install ? command->install : "");
    else if (command->fetched)
        (void) sanitize_row(out, "fetched by %s on first use; to install: %s", command->program,
                            command->install ? command->install : "-");
    else
        (void) sanitize_row(out, "%s", command->program);
}

static void print_source(const struct agent_command *command, struct acp_buf *out)
{
    (void) acp_buf_printf(out, "%s", agents_source_name(command->source));
    if (command->source == AGENT_FROM_CONFIG) {
        (void) acp_buf_printf(out, ", ");
        (void) config_print_origin(command->origin, out);
    }
    (void) acp_buf_printf(out, "\n");
}

/* ---- list, which, show ---------------------------------------------------------------------- */

/* Agents as rows, or as JSON. */
static void print_list(const struct agents_options *options, struct acp_str text)
{
    if (options->json)
        out_json(text);
    else
        out_text(text);
}

static int run_list(const struct invocation *invocation)
{
    const struct agents_options *options = invocation->options;
    struct config *config = NULL;
    int status = load(options, &config);
    if (status)
        return status;
    struct acp_buf out;
    struct acp_buf why;
    acp_buf_init(&out, MAX_OUTPUT);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    if (agents_list(config, options->json ? print_json : print_row, &out, &why))
        status = config_command_fail("agents", &why);
    else
        print_list(options, acp_buf_view(&out));
    acp_buf_finish(&out);
    acp_buf_finish(&why);
    config_free(config);
    return status;
}

static void print_which(const struct agent_command *command, struct acp_buf *out)
{
    (void) print_line(command, out);
    (void) acp_buf_printf(out, "\n  from: ");
    print_source(command, out);
    (void) acp_buf_printf(out, "  program: ");
    print_place(command, out);
}

static void print_details(const struct agent_command *command, struct acp_buf *out)
{
    const struct agent_known *known = command->known;
    (void) sanitize_row(out, "name: %s", command->name);
    (void) sanitize_row(out, "title: %s", command->title);
    (void) acp_buf_printf(out, "from: ");
    print_source(command, out);
    (void) acp_buf_printf(out, "command: ");
    (void) print_line(command, out);
    (void) acp_buf_printf(out, "\nprogram: ");
    print_place(command, out);
    for (size_t i = 0; command->env[i]; i++)
        (void) sanitize_row(out, "env: %.*s (set)", (int) strcspn(command->env[i], "="),
                            command->env[i]);
    const char *const rows[][2] = {{"model", command->model},
                                   {"mode", command->mode},
                                   {"auth_method", command->auth_method},
                                   {"install", command->install},
                                   {"login", command->login},
                                   {"keys", known ? known->keys : NULL},
                                   {"addresses", known ? known->addresses : NULL},
                                   {"state", known ? known->state : NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i][1])
            (void) sanitize_row(out, "%s: %s", rows[i][0], rows[i][1]);
    if (known && known->quirks & AGENT_NO_FILES)
        (void) sanitize_row(out, "quirk: files are not offered, because it cannot create any "
                                 "through the client");
}

static int look_up(const struct invocation *invocation,
                   void (*print)(const struct agent_command *command, struct acp_buf *out))
{
    const struct agents_options *options = invocation->options;
    struct agent_command command;
    struct config *config = NULL;
    int status = load(options, &config);
    if (status)
        return status;
    struct acp_buf out;
    struct acp_buf why;
    acp_buf_init(&out, MAX_OUTPUT);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    if (agents_find(config, invocation->arguments[0], &command, &why)) {
        status = config_command_fail("agents", &why);
    } else {
        if (options->json)
            print_json(&command, &out);
        else
            print(&command, &out);
        print_list(options, acp_buf_view(&out));
        status = command.program ? EXIT_OK : EXIT_FAILED;
    }
    acp_buf_finish(&out);
    acp_buf_finish(&why);
    config_free(config);
    return status;
}

static int run_which(const struct invocation *invocation)
{
    return look_up(invocation, print_which);
}

static int run_show(const struct invocation *invocation)
{
    return look_up(invocation, print_details);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static const struct argument name_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {0},
};

static const struct exit_status which_statuses[] = {
    {"It can be started.", EXIT_OK},
    {"No such agent, or it is not installed.", EXIT_FAILED},
    {0},
};

static const struct command list = {
    .name = "list",
    .summary = "list the known agents",
    .description =
        "Prints for each agent its name, whether it is installed, fetched by npx or uvx, "
        "or missing, and the source of the entry.",
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .run = run_list,
};

static const struct command which = {
    .name = "which",
    .summary = "print the command that an agent name stands for",
    .description = "Prints the command line, the source of the entry, and the path of the program.",
    .arguments = name_arguments,
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .statuses = which_statuses,
    .run = run_which,
};

static const struct command show = {
    .name = "show",
    .summary = "print the details of an agent",
    .description = "Prints the agent's command, variables, model and mode, how to install it and "
                   "log in, and what else is known about it: the variables with API keys that it "
                   "gets, the variables with the address of its provider, where it stores "
                   "settings, login and sessions, and the defects that *acp* works around. The "
                   "values of variables are not shown.",
    .arguments = name_arguments,
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .statuses = which_statuses,
    .run = run_show,
};

static const struct command *const subcommands[] = {
    &list, &which, &show, &command_agents_add, &command_agents_remove, &command_agents_login, NULL,
};

static const struct example examples[] = {
    {"acp agents which claude", "shows the command for *claude*"},
    {"acp agents add mine -- ~/bin/my-agent --acp", "adds an agent named *mine*"},
    {"acp agents list --registry registry.json", "includes the agents of the public registry"},
    {0},
};

const struct command command_agents = {
    .name = "agents",
    .summary = "list, add and look up agents",
    .description =
        "A name is looked up in *agent_servers* of the configuration, then in the built-in table, "
        "then in the registry file given by *--registry* or the configuration. An installed "
        "program takes precedence over one fetched by npx or uvx; the built-in table pins an exact "
        "version. These commands do not download anything.",
    .subcommands = subcommands,
    .examples = examples,
};
