/* config_show.c - acp config show, path, init, check. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/config.h"
#include "config/paths.h"

/* ---- show ----------------------------------------------------------------------------------- */

struct show_options {
    struct config_flags place;
    bool json;
};

static const struct option show_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct show_options, json),
     .help = "print one JSON object per line"},
    {0},
};

static const struct option_group show_groups[] = {
    {show_rows, 0},
    {config_flag_rows, offsetof(struct show_options, place)},
    {0},
};

static int run_show(const struct invocation *invocation)
{
    const struct show_options *options = invocation->options;
    struct config *config = NULL;
    int status = config_command_load(&(struct config_options){.cwd = options->place.cwd}, &config);
    if (status)
        return status;
    struct acp_buf out;
    acp_buf_init(&out, (size_t) CONFIG_MAX_REPORT * 64);
    int err = options->json ? config_show_json(config, &out) : config_show(config, &out);
    if (err)
        err_printf("acp config: %s\n", acp_err_text(err));
    else if (options->json)
        out_json(acp_buf_view(&out));
    else
        out_text(acp_buf_view(&out));
    acp_buf_finish(&out);
    config_free(config);
    return err ? EXIT_FAILED : EXIT_OK;
}

static const struct command show = {
    .name = "show",
    .summary = "print the settings in effect and their origin",
    .description =
        "Prints every setting that has a value, with its origin: file and line, environment "
        "variable, or option. The values of *env* and *headers* are not shown, because they often "
        "are secrets.",
    .options = show_groups,
    .options_size = sizeof(struct show_options),
    .run = run_show,
};

/* ---- path ----------------------------------------------------------------------------------- */

static const struct option_group place_groups[] = {
    {config_flag_rows, 0},
    {0},
};

static int run_path(const struct invocation *invocation)
{
    const struct config_flags *options = invocation->options;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *const *environment = config_command_environment();
    const char *user = config_find_user_file(environment, &arena);
    const char *cwd = config_command_folder(options->cwd, &arena);
    const char *folder = cwd ? config_find_project(environment, cwd, &arena) : NULL;
    const char *project = folder ? config_project_path(folder, &arena) : NULL;
    if (user)
        out_printf("%s\n", user);
    if (project)
        out_printf("%s\n", project);
    acp_arena_finish(&arena);
    if (!user)
        err_printf("acp config: no home directory; set HOME\n");
    return user ? EXIT_OK : EXIT_FAILED;
}

static const struct command path = {
    .name = "path",
    .summary = "print the paths of the configuration files",
    .description = "Prints the path of the user's file, which may not exist, and of the project's "
                   "file, if there is one.",
    .options = place_groups,
    .options_size = sizeof(struct config_flags),
    .run = run_path,
};

/* ---- init ----------------------------------------------------------------------------------- */

static int write_template(const char *file)
{
    struct acp_buf text;
    acp_buf_init(&text, CONFIG_MAX_REPORT);
    int err = config_print_template(&text);
    if (!err)
        err = paths_write_file(file, acp_buf_view(&text), 0600);
    else
        err = -ENOMEM;
    acp_buf_finish(&text);
    if (err)
        return config_command_fail_system("config", "write", file, err);
    out_printf("%s\n", file);
    return EXIT_OK;
}

static int run_init(const struct invocation *invocation)
{
    (void) invocation;
    struct acp_arena arena;
    int status = EXIT_FAILED;
    acp_arena_init(&arena, 0);
    const char *file = config_find_user_file(config_command_environment(), &arena);
    if (!file)
        err_printf("acp config: no home directory; set HOME\n");
    else if (access(file, F_OK) == 0)
        err_printf("acp config: %s already exists; not changed\n", file);
    else
        status = write_template(file);
    acp_arena_finish(&arena);
    return status;
}

static const struct command init = {
    .name = "init",
    .summary = "create a commented configuration file",
    .description = "Creates the user's file with all keys, their meanings and defaults in "
                   "comments, and prints its path. An existing file is not changed.",
    .run = run_init,
};

/* ---- check ---------------------------------------------------------------------------------- */

static int run_check(const struct invocation *invocation)
{
    const struct config_flags *options = invocation->options;
    const char *file = invocation->argument_count ? invocation->arguments[0] : NULL;
    struct config *config = NULL;
    int status = config_command_load(
        &(struct config_options){
            .cwd = options->cwd, .user_file = file, .no_project = file != NULL, .strict = true},
        &config);
    config_free(config);
    return status;
}

static const struct argument check_arguments[] = {
    {.name = "FILE", .kind = OPTION_FILE, .optional = true},
    {0},
};

static const struct exit_status check_statuses[] = {
    {"The configuration is valid.", EXIT_OK},
    {"The configuration has errors.", EXIT_USAGE},
    {0},
};

static const struct command check = {
    .name = "check",
    .summary = "check the configuration for errors",
    .description =
        "Reads the user's file, the project's file and the environment, or only _FILE_, and prints "
        "every error with its location. An unknown key is an error here; other commands only print "
        "a notice.",
    .arguments = check_arguments,
    .options = place_groups,
    .options_size = sizeof(struct config_flags),
    .statuses = check_statuses,
    .run = run_check,
};

/* ---- manual --------------------------------------------------------------------------------- */

static int run_manual(const struct invocation *invocation)
{
    (void) invocation;
    struct acp_buf out;
    acp_buf_init(&out, CONFIG_MAX_REPORT);
    int err = config_print_manual(&out);
    out_text(acp_buf_view(&out));
    acp_buf_finish(&out);
    return err ? EXIT_FAILED : EXIT_OK;
}

static const struct command manual = {
    .name = "manual",
    .summary = "print the source of acp-config(5); the build uses it",
    .description = "Prints the source of *acp-config*(5) for *scdoc*(1).",
    .hidden = true,
    .run = run_manual,
};

static const struct command *const subcommands[] = {
    &show,
    &path,
    &init,
    &check,
    &command_config_trust,
    &command_config_untrust,
    &command_config_trusted,
    &manual,
    NULL,
};

static const struct example examples[] = {
    {"acp config init", "creates a configuration file"},
    {"acp config show", "prints the settings in effect"},
    {"acp config trust ~/src/thing", "trusts the configuration of that project"},
    {0},
};

const struct command command_config = {
    .name = "config",
    .summary = "show, create and check the configuration",
    .description =
        "Settings come from the defaults, the user's file, the project's *.acp/config.json*, "
        "*ACP_...* environment variables, and options; later sources override earlier ones. "
        "*acp-config*(5) describes all keys.",
    .subcommands = subcommands,
    .examples = examples,
};
