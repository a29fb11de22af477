/* acp config - shows, makes and checks the configuration, and trusts the one of a project. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/config.h"
#include "config/paths.h"
#include "config/trust.h"

const struct option config_option_rows[] = {
    {.name = "cwd",
     .argument = "DIR",
     .kind = OPTION_DIRECTORY,
     .offset = offsetof(struct config_place_options, cwd),
     .help = "work in _DIR_ instead of the current directory"},
    {0},
};

const char *const *config_command_environment(void)
{
    return (const char *const *) environ;
}

const char *config_command_folder(const char *cwd, struct acp_arena *arena)
{
    char own[4096];
    if (!getcwd(own, sizeof(own)))
        (void) snprintf(own, sizeof(own), "/");
    return places_expand(arena, acp_str_from(cwd ? cwd : own), own,
                         places_home(config_command_environment(), arena));
}

int config_command_load(const struct config_options *options, struct config **ret)
{
    struct acp_buf report;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = config_load(options, ret, &report);
    err_text(acp_buf_view(&report));
    acp_buf_finish(&report);
    if (err == ACP_ERR_NOMEM)
        err_printf("acp: %s\n", acp_err_text(err));
    return err ? (err == ACP_ERR_NOMEM ? EXIT_FAILED : EXIT_USAGE) : EXIT_OK;
}

int config_command_fail(const char *command, struct acp_buf *why)
{
    err_printf("acp %s: %.*s\n", command, (int) why->len, why->len ? acp_buf_view(why).ptr : "");
    acp_buf_finish(why);
    return EXIT_FAILED;
}

int config_command_fail_system(const char *command, const char *what, const char *path, int reason)
{
    err_printf("acp %s: cannot %s %s: %s\n", command, what, path, strerror(-reason));
    return EXIT_FAILED;
}

/* ---- show ----------------------------------------------------------------------------------- */

struct show_options {
    struct config_place_options place;
    bool json;
};

static const struct option show_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct show_options, json),
     .help = "print one JSON object a line"},
    {0},
};

static const struct option_group show_groups[] = {
    {show_rows, 0},
    {config_option_rows, offsetof(struct show_options, place)},
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
    .summary = "print what holds, and where it was said",
    .description =
        "Prints every setting that has a value, with the file and line, the variable or the flag "
        "that it comes from.  Values of *env* and of *headers* are not shown, since they tend to "
        "be secrets.",
    .options = show_groups,
    .options_size = sizeof(struct show_options),
    .run = run_show,
};

/* ---- path ----------------------------------------------------------------------------------- */

static const struct option_group place_groups[] = {
    {config_option_rows, 0},
    {0},
};

static int run_path(const struct invocation *invocation)
{
    const struct config_place_options *options = invocation->options;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *const *environment = config_command_environment();
    const char *user = config_find_user_file(environment, &arena);
    const char *cwd = config_command_folder(options->cwd, &arena);
    const char *folder = cwd ? config_find_project(environment, cwd, &arena) : NULL;
    const char *project = folder ? config_file_of_project(folder, &arena) : NULL;
    if (user)
        out_printf("%s\n", user);
    if (project)
        out_printf("%s\n", project);
    acp_arena_finish(&arena);
    if (!user)
        err_printf("acp config: there is no home directory; set HOME\n");
    return user ? EXIT_OK : EXIT_FAILED;
}

static const struct command path = {
    .name = "path",
    .summary = "print where the files are",
    .description = "Prints the path of the user's file, whether there is one or not, and of the "
                   "project's, where there is one.",
    .options = place_groups,
    .options_size = sizeof(struct config_place_options),
    .run = run_path,
};

/* ---- init ----------------------------------------------------------------------------------- */

static int write_template(const char *file)
{
    struct acp_buf text;
    acp_buf_init(&text, CONFIG_MAX_REPORT);
    int err = config_print_template(&text);
    if (!err)
        err = places_write_file(file, acp_buf_view(&text), 0600);
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
        err_printf("acp config: there is no home directory; set HOME\n");
    else if (access(file, F_OK) == 0)
        err_printf("acp config: there is a %s already, which is left as it is\n", file);
    else
        status = write_template(file);
    acp_arena_finish(&arena);
    return status;
}

static const struct command init = {
    .name = "init",
    .summary = "write a commented file to start from",
    .description = "Writes a file with all keys, their meaning and their defaults in comments, and "
                   "prints its path.  A file that is there is left as it is.",
    .run = run_init,
};

/* ---- check ---------------------------------------------------------------------------------- */

static int run_check(const struct invocation *invocation)
{
    const struct config_place_options *options = invocation->options;
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
    {"There is nothing wrong with it.", EXIT_OK},
    {"There is a mistake in it.", EXIT_USAGE},
    {0},
};

static const struct command check = {
    .name = "check",
    .summary = "find mistakes",
    .description =
        "Reads the user's file, the project's and the environment, or _FILE_ alone, and prints "
        "every mistake with its place.  A key that is not known is a mistake here; everywhere else "
        "it is only mentioned.",
    .arguments = check_arguments,
    .options = place_groups,
    .options_size = sizeof(struct config_place_options),
    .statuses = check_statuses,
    .run = run_check,
};

/* ---- trust, untrust, trusted ---------------------------------------------------------------- */

static const struct argument folder_arguments[] = {
    {.name = "DIR", .kind = OPTION_DIRECTORY, .optional = true},
    {0},
};

/* Where it is about: the project that DIR belongs to, and the list. */
struct trust_place {
    struct acp_arena arena;
    const char *list;
    const char *cwd;
    const char *folder; /* NULL: there is no project */
};

static void find_trust_place(const struct invocation *invocation, struct trust_place *place)
{
    const char *const *environment = config_command_environment();
    *place = (struct trust_place){0};
    acp_arena_init(&place->arena, 0);
    place->list = trust_file(environment, &place->arena);
    place->cwd = config_command_folder(invocation->argument_count ? invocation->arguments[0] : NULL,
                                       &place->arena);
    if (place->cwd)
        place->folder = config_find_project(environment, place->cwd, &place->arena);
}

/* What the file says, before anything of it counts.  An exit status. */
static int show_file(const struct trust_place *place, const char *file, struct acp_str text)
{
    struct acp_buf out;
    struct config *config = NULL;
    struct config_options options = {.cwd = place->cwd, .project_text = text};
    int status = config_command_load(&options, &config);
    if (status)
        return status;
    acp_buf_init(&out, (size_t) CONFIG_MAX_REPORT * 64);
    if (config_show_project(config, &out))
        status = EXIT_FAILED;
    out_printf("%s says:\n", file);
    out_text(acp_buf_view(&out));
    acp_buf_finish(&out);
    config_free(config);
    return status;
}

static int trust_folder(struct trust_place *place, bool dry_run)
{
    struct acp_buf text;
    struct acp_buf why;
    const char *file = config_file_of_project(place->folder, &place->arena);
    if (!file)
        return EXIT_FAILED;
    acp_buf_init(&text, PLACES_MAX_FILE);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    int status = EXIT_OK;
    int reason = places_read_own_file(file, &text, &why);
    if (reason && why.len)
        (void) acp_buf_printf(&why, ", so that %s is ignored; see OWNERS in acp-config(5)", file);
    if (reason && why.len)
        status = config_command_fail("config", &why);
    else if (reason)
        status = config_command_fail_system("config", "read", file, reason);
    else
        status = show_file(place, file, acp_buf_view(&text));
    if (status == EXIT_OK && !dry_run) {
        if (trust_add(place->list, place->folder, acp_buf_view(&text), &why))
            status = config_command_fail("config", &why);
        else
            out_printf("%s is trusted as it is now; when it changes, you will be told\n", file);
    }
    acp_buf_finish(&text);
    acp_buf_finish(&why);
    return status;
}

struct trust_options {
    bool dry_run;
};

static const struct option trust_rows[] = {
    {.name = "dry-run",
     .letter = 'n',
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct trust_options, dry_run),
     .help = "only show what would be trusted"},
    {0},
};

static const struct option_group trust_groups[] = {
    {trust_rows, 0},
    {0},
};

static int run_trust(const struct invocation *invocation)
{
    const struct trust_options *options = invocation->options;
    struct trust_place place;
    int status = EXIT_FAILED;
    find_trust_place(invocation, &place);
    if (!place.list)
        err_printf("acp config: there is no home directory; set HOME\n");
    else if (!place.folder)
        err_printf("acp config: there is no .acp/config.json in %s or above it\n",
                   place.cwd ? place.cwd : ".");
    else
        status = trust_folder(&place, options->dry_run);
    acp_arena_finish(&place.arena);
    return status;
}

static int run_untrust(const struct invocation *invocation)
{
    struct trust_place place;
    struct acp_buf why;
    int status = EXIT_FAILED;
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    find_trust_place(invocation, &place);
    /* A folder whose file is gone can still be in the list. */
    const char *folder = place.folder ? place.folder : place.cwd;
    if (!place.list || !folder)
        err_printf("acp config: there is no home directory; set HOME\n");
    else if (trust_remove(place.list, folder, &why))
        status = config_command_fail("config", &why);
    else
        status = EXIT_OK;
    acp_buf_finish(&why);
    acp_arena_finish(&place.arena);
    return status;
}

static void print_folder(struct acp_str folder, struct acp_str content, void *user)
{
    (void) content;
    struct acp_buf *out = user;
    (void) sanitize_row(out, "%.*s", (int) folder.len, folder.ptr);
}

static int run_trusted(const struct invocation *invocation)
{
    (void) invocation;
    struct acp_arena arena;
    struct acp_buf why;
    struct acp_buf out;
    int status = EXIT_OK;
    acp_arena_init(&arena, 0);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    acp_buf_init(&out, (size_t) CONFIG_MAX_REPORT * 64);
    const char *list = trust_file(config_command_environment(), &arena);
    if (list && trust_list(list, print_folder, &out, &why))
        status = config_command_fail("config", &why);
    else
        out_text(acp_buf_view(&out));
    acp_buf_finish(&out);
    acp_buf_finish(&why);
    acp_arena_finish(&arena);
    return status;
}

static const struct command trust = {
    .name = "trust",
    .summary = "let a project's file name commands and allow things",
    .description =
        "Trusts the *.acp/config.json* of _DIR_ (here, or the nearest above it) as it is now.  "
        "Until then it may make things stricter, but neither name commands to start nor allow what "
        "you have not allowed.  What it says is printed first, without secrets: it then runs as "
        "you.  When the file changes, it is not trusted any more.",
    .arguments = folder_arguments,
    .options = trust_groups,
    .options_size = sizeof(struct trust_options),
    .run = run_trust,
};

static const struct command untrust = {
    .name = "untrust",
    .summary = "take that back",
    .description = "Forgets that the configuration in _DIR_ was trusted.",
    .arguments = folder_arguments,
    .run = run_untrust,
};

static const struct command trusted = {
    .name = "trusted",
    .summary = "list the folders that are trusted",
    .description = "Prints the folders whose configuration was trusted, one a line.",
    .run = run_trusted,
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
    &show, &path, &init, &check, &trust, &untrust, &trusted, &manual, NULL,
};

static const struct example examples[] = {
    {"acp config init", "Make a file to start from"},
    {"acp config show", "See what holds, and where it was said"},
    {"acp config trust ~/src/thing", "Let that project's file name agents and allow things"},
    {0},
};

const struct command command_config = {
    .name = "config",
    .summary = "show, make and check the configuration",
    .description =
        "Settings come from the defaults, from the user's file, from the file *.acp/config.json* "
        "of the project, from variables *ACP_...* and from options, and the last one counts.  "
        "*acp-config*(5) has all keys.",
    .subcommands = subcommands,
    .examples = examples,
};
