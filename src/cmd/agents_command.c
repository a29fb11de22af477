/* acp agents - the agents that there are, and what is started for each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acp/json.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/jsonc.h"
#include "config/paths.h"
#include "config/redact.h"
#include "registry/agents.h"

enum { MAX_OUTPUT = 64 * 1024 * 1024 };

struct agents_options {
    struct config_place_options place;
    const char *registry;
    bool json;
};

static const struct option lookup_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agents_options, json),
     .help = "print one JSON object a line"},
    {.name = "registry",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct agents_options, registry),
     .help = "know the agents in this copy of the public registry, too"},
    {0},
};

static const struct option_group lookup_groups[] = {
    {lookup_rows, 0},
    {config_option_rows, offsetof(struct agents_options, place)},
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

static void write_text(struct acp_json_writer *w, const char *key, const char *text)
{
    acp_json_write_key(w, acp_str_from(key));
    if (text)
        acp_json_write_str(w, acp_str_from(text));
    else
        acp_json_write_null(w);
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
    write_text(&w, "name", command->name);
    write_text(&w, "title", command->title);
    write_text(&w, "source", sources[command->source]);
    write_line(&w, command->argv);
    write_text(&w, "program", command->program);
    acp_json_write_key(&w, acp_str_from("fetched"));
    acp_json_write_bool(&w, command->fetched);
    write_text(&w, "install", command->install);
    write_text(&w, "login", command->login);
    acp_json_end_object(&w);
    (void) acp_buf_append(out, "\n", 1);
}

/* How it would be started, in a word or two. */
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

/* Where its program was found, or what to do about that it was not. */
static void print_place(const struct agent_command *command, struct acp_buf *out)
{
    if (!command->program)
        (void) sanitize_row(out, "'%s' is not installed%s%s", command->argv[0],
                            command->install ? "; " : "", command->install ? command->install : "");
    else if (command->fetched)
        (void) sanitize_row(out, "%s fetches it where it has not yet; to install it: %s",
                            command->program, command->install ? command->install : "-");
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
                                   {"login", command->login}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i][1])
            (void) sanitize_row(out, "%s: %s", rows[i][0], rows[i][1]);
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

/* ---- add, remove ---------------------------------------------------------------------------- */

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
     .help = "give the agent this variable"},
    {.name = "force",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct add_options, force),
     .help = "replace an agent of that name"},
    {0},
};

static const struct option_group add_groups[] = {
    {add_rows, 0},
    {0},
};

/* The entry as JSON in lines, with two spaces a level. */
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

/* The user's file while it is edited. */
struct edited {
    struct acp_arena arena;
    const char *file;
    struct acp_buf text;
    struct acp_buf changed;
    int lock;
};

/* An exit status; whatever it is, end_edit() follows. */
static int begin_edit(struct edited *e)
{
    *e = (struct edited){.lock = -1};
    acp_arena_init(&e->arena, 0);
    acp_buf_init(&e->text, PLACES_MAX_FILE);
    acp_buf_init(&e->changed, PLACES_MAX_FILE);
    e->file = config_find_user_file(config_command_environment(), &e->arena);
    if (!e->file) {
        err_printf("acp agents: there is no home directory; set HOME\n");
        return EXIT_FAILED;
    }
    e->lock = places_lock_file(e->file);
    if (e->lock < 0)
        return config_command_fail_system("agents", "lock", e->file, e->lock);
    int reason = places_read_file(e->file, &e->text);
    return reason && reason != -ENOENT
               ? config_command_fail_system("agents", "read", e->file, reason)
               : EXIT_OK;
}

static int end_edit(struct edited *e, int status)
{
    int reason = 0;
    if (status == EXIT_OK && e->changed.len > 0)
        reason = places_write_file(e->file, acp_buf_view(&e->changed), 0600);
    if (reason)
        status = config_command_fail_system("agents", "write", e->file, reason);
    if (e->lock >= 0)
        (void) close(e->lock);
    acp_buf_finish(&e->text);
    acp_buf_finish(&e->changed);
    acp_arena_finish(&e->arena);
    return status;
}

static int fail_edit(const struct edited *e, int err, const struct acp_failure *failure)
{
    struct jsonc_place place = jsonc_place(acp_buf_view(&e->text), failure->offset);
    if (failure->offset)
        err_printf("acp agents: %s:%zu: %s\n", e->file, place.line, failure->message);
    else
        err_printf("acp agents: %s cannot be changed: %s; see `acp config check`\n", e->file,
                   acp_err_text(err));
    return EXIT_FAILED;
}

static bool is_there(const struct edited *e, const struct acp_str *member)
{
    struct acp_buf aside;
    acp_buf_init(&aside, PLACES_MAX_FILE);
    bool there = jsonc_remove(acp_buf_view(&e->text), member, 2, &aside, NULL) == 0;
    acp_buf_finish(&aside);
    return there;
}

static int run_add(const struct invocation *invocation)
{
    const struct add_options *options = invocation->options;
    const char *name = invocation->arguments[0];
    const struct acp_str member[2] = {acp_str_from("agent_servers"), acp_str_from(name)};
    struct edited e;
    struct acp_buf entry;
    struct acp_failure failure = {0};
    int status = begin_edit(&e);
    acp_buf_init(&entry, PLACES_MAX_FILE);
    if (status == EXIT_OK && !options->force && is_there(&e, member)) {
        err_printf("acp agents: there is an agent '%s' in %s already; --force replaces "
                   "it\n",
                   name, e.file);
        status = EXIT_FAILED;
    }
    /* What is relative here would be relative to the file there; names stay names. */
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
            status = fail_edit(&e, err, &failure);
    }
    acp_buf_finish(&entry);
    return end_edit(&e, status);
}

static int run_remove(const struct invocation *invocation)
{
    const char *name = invocation->arguments[0];
    const struct acp_str member[2] = {acp_str_from("agent_servers"), acp_str_from(name)};
    struct edited e;
    struct acp_failure failure = {0};
    int status = begin_edit(&e);
    if (status)
        return end_edit(&e, status);
    int err = jsonc_remove(acp_buf_view(&e.text), member, 2, &e.changed, &failure);
    /* It may be there more than once; then the one before would come back. */
    while (!err && e.changed.len > 0) {
        struct acp_buf once_more;
        acp_buf_init(&once_more, PLACES_MAX_FILE);
        if (jsonc_remove(acp_buf_view(&e.changed), member, 2, &once_more, NULL)) {
            acp_buf_finish(&once_more);
            break;
        }
        acp_buf_finish(&e.changed);
        e.changed = once_more;
    }
    if (err == ACP_ERR_UNKNOWN || (err == ACP_ERR_SYNTAX && e.text.len == 0)) {
        err_printf("acp agents: there is no agent '%s' in %s%s\n", name, e.file,
                   agents_known_find(name) ? "; it is built in and stays" : "");
        status = EXIT_FAILED;
    } else if (err) {
        status = fail_edit(&e, err, &failure);
    }
    return end_edit(&e, status);
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

static const struct exit_status which_statuses[] = {
    {"It can be started.", EXIT_OK},
    {"There is no such agent, or it is not installed.", EXIT_FAILED},
    {0},
};

static const struct command list = {
    .name = "list",
    .summary = "list all agents that can be named",
    .description =
        "Prints the name of each agent, whether it is installed, would be fetched by npx "
        "or uvx, or is not there, and where the name comes from.",
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .run = run_list,
};

static const struct command which = {
    .name = "which",
    .summary = "print what is started for a name",
    .description = "Prints the command line, who says so, and where the program was found.",
    .arguments = name_arguments,
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .statuses = which_statuses,
    .run = run_which,
};

static const struct command show = {
    .name = "show",
    .summary = "print all that is known of an agent",
    .description = "Prints the agent's command, variables, model and mode, and how to install it "
                   "and to log in.  Values of variables are not shown.",
    .arguments = name_arguments,
    .options = lookup_groups,
    .options_size = sizeof(struct agents_options),
    .statuses = which_statuses,
    .run = run_show,
};

static const struct command add = {
    .name = "add",
    .summary = "add an agent of your own",
    .description =
        "Writes an agent into *agent_servers* of the user's file.  Comments and everything else in "
        "the file stay as they are.  *--* goes before the command, so that its options are not "
        "taken for ours.",
    .arguments = add_arguments,
    .options = add_groups,
    .options_size = sizeof(struct add_options),
    .run = run_add,
};

static const struct command delete = {
    .name = "remove",
    .summary = "remove an agent of your own",
    .description = "Takes an agent out of *agent_servers* of the user's file.  Everything else in "
                   "the file stays as it is.",
    .arguments = name_arguments,
    .run = run_remove,
};

static const struct command *const subcommands[] = {
    &list, &which, &show, &add, &delete, &command_agents_login, NULL,
};

static const struct example examples[] = {
    {"acp agents which claude", "See what is started for a name"},
    {"acp agents add mine -- ~/bin/my-agent --acp", "Give an agent a name"},
    {"acp agents list --registry registry.json", "List the agents of the public registry, too"},
    {0},
};

const struct command command_agents = {
    .name = "agents",
    .summary = "list, add and look up agents",
    .description =
        "A name is looked for in *agent_servers* of the configuration, then among the agents that "
        "are built in, then in the registry file that *--registry* or the configuration names.  An "
        "installed program goes before one that npx or uvx would fetch, which is one exact version "
        "where the agent is built in.  Nothing is downloaded here.",
    .subcommands = subcommands,
    .examples = examples,
};
