/* config_trust.c - acp config trust, untrust, trusted: workspace trust. */
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

/* ---- trust, untrust, trusted ---------------------------------------------------------------- */

static const struct argument folder_arguments[] = {
    {.name = "DIR", .kind = OPTION_DIRECTORY, .optional = true},
    {0},
};

/* The project that DIR belongs to, and the list of trusted projects. */
struct trust_place {
    struct acp_arena arena;
    const char *list;
    const char *cwd;
    const char *folder; /* NULL: not in a project */
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

/* Prints the settings in the file, before it is trusted.  Returns the exit status. */
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
    out_printf("%s contains:\n", file);
    out_text(acp_buf_view(&out));
    acp_buf_finish(&out);
    config_free(config);
    return status;
}

static int trust_folder(struct trust_place *place, bool dry_run)
{
    struct acp_buf text;
    struct acp_buf why;
    const char *file = config_project_path(place->folder, &place->arena);
    if (!file)
        return EXIT_FAILED;
    acp_buf_init(&text, PATHS_MAX_FILE);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    int status = EXIT_OK;
    int reason = paths_read_own_file(file, &text, &why);
    if (reason && why.len)
        (void) acp_buf_printf(&why, "; %s is ignored; see OWNERS in acp-config(5)", file);
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
            out_printf("%s is now trusted; a change to it revokes the trust\n", file);
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
     .help = "only print the settings that would be trusted"},
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
        err_printf("acp config: no home directory; set HOME\n");
    else if (!place.folder)
        err_printf("acp config: no .acp/config.json in %s or its parents\n",
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
    /* The list may contain a directory whose file no longer exists. */
    const char *folder = place.folder ? place.folder : place.cwd;
    if (!place.list || !folder)
        err_printf("acp config: no home directory; set HOME\n");
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

const struct command command_config_trust = {
    .name = "trust",
    .summary = "trust the configuration of a project",
    .description =
        "Trusts the *.acp/config.json* of _DIR_ (default: the current directory) or of its nearest "
        "parent, with its present content. An untrusted file may make the rules stricter, but "
        "cannot name commands to start or grant permissions. The settings are printed first, "
        "without secrets: review them, because the commands in them run with your privileges. Any "
        "change to the file revokes the trust.",
    .arguments = folder_arguments,
    .options = trust_groups,
    .options_size = sizeof(struct trust_options),
    .run = run_trust,
};

const struct command command_config_untrust = {
    .name = "untrust",
    .summary = "revoke the trust in a project",
    .description = "Removes _DIR_ from the list of trusted projects.",
    .arguments = folder_arguments,
    .run = run_untrust,
};

const struct command command_config_trusted = {
    .name = "trusted",
    .summary = "list the trusted projects",
    .description = "Prints the directories whose configuration is trusted, one per line.",
    .run = run_trusted,
};
