/*
 * setup.c - acp setup: enters an agent in the settings of an editor.
 *
 * The settings are printed, or written with --write: comments and order are kept, the change is
 * shown and confirmed, and the file as it was is kept beside it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diff.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "cmd/confirm.h"
#include "cmd/setup_editors.h"
#include "config/jsonc.h"
#include "config/paths.h"
#include "registry/agents.h"

enum { MAX_BACKUPS = 100 };

struct setup_options {
    const char *agent;
    const char *name;
    const char *file;
    bool write;
    bool yes;
};

struct setup {
    const struct setup_options *options;
    const struct editor *editor;
    struct config *config;
    struct acp_arena *arena; /* of the configuration */
    struct setup_entry entry;
    const char *file;    /* of the settings */
    struct acp_buf old;  /* the file as it is */
    struct acp_buf new;  /* as it would be */
    struct acp_buf json; /* the entry, if the settings are JSON */
    bool exists;
};

/* ---- The agent ------------------------------------------------------------------------------ */

/*
 * The name in PATH under which this program is found, because that survives an upgrade; otherwise
 * its path.
 */
static const char *find_own_path(struct setup *setup, const char *path)
{
    struct stat own;
    struct stat other;
    const char *name = strrchr(path, '/');
    const char *variable = paths_variable(config_command_environment(), "PATH");
    const char *found = name ? paths_find_program(setup->arena, name + 1, variable, NULL) : NULL;
    bool same = found && stat(path, &own) == 0 && stat(found, &other) == 0 &&
                own.st_dev == other.st_dev && own.st_ino == other.st_ino;
    return same ? found : path;
}

/* Variables in the configuration may be secrets, so they are named and not copied. */
static void tell_variables(const struct setup *setup, const struct agent_command *command)
{
    for (size_t i = 0; command->env[i]; i++)
        err_row("note: your configuration sets %.*s for %s; the editor will not, unless you add it "
                "to env",
                (int) strcspn(command->env[i], "="), command->env[i], setup->entry.name);
}

static int find_agent(struct setup *setup)
{
    struct agent_command command;
    struct acp_buf why;
    const char *named = setup->options->agent;
    acp_buf_init(&why, 4096);
    int err = named ? agents_from_line(setup->config, named, &command, &why)
                    : agents_own(setup->config, &command, &why);
    if (err)
        return config_command_fail("setup", &why);
    acp_buf_finish(&why);
    setup->entry.own = agents_is_own(&command);
    setup->entry.name = setup->options->name ? setup->options->name
                        : setup->entry.own   ? command.name
                                             : command.title;
    /* npx moves with the versions of Node.js; other programs may not be in the editor's PATH. */
    setup->entry.command = setup->entry.own  ? find_own_path(setup, command.program)
                           : command.fetched ? command.argv[0]
                                             : command.program;
    setup->entry.args = command.argv + 1;
    tell_variables(setup, &command);
    return EXIT_OK;
}

/* ---- The settings --------------------------------------------------------------------------- */

/* The settings could not be edited: says where they are invalid. */
static int fail_edit(const struct setup *setup, int err)
{
    struct acp_failure failure = {0};
    if (jsonc_check(acp_buf_view(&setup->old), &failure)) {
        struct jsonc_position place = jsonc_position(acp_buf_view(&setup->old), failure.offset);
        err_row("acp setup: %s:%zu:%zu: %s; nothing was changed", setup->file, place.line,
                place.column, failure.message);
    } else if (err == ACP_ERR_TYPE) {
        err_row("acp setup: %s: expected an object of settings, and in it %s as an object; nothing "
                "was changed",
                setup->file, setup->editor->member);
    } else {
        err_row("acp setup: %s: %s; nothing was changed", setup->file, acp_err_text(err));
    }
    return EXIT_FAILED;
}

/* Sets the entry in a text. */
static int edit(const struct setup *setup, struct acp_str text, struct acp_buf *out)
{
    const struct acp_str member[2] = {acp_str_from(setup->editor->member),
                                      acp_str_from(setup->entry.name)};
    struct acp_str entry = acp_buf_view(&setup->json);
    return jsonc_set(text, member, 2, acp_raw_n(entry.ptr, entry.len), out, NULL);
}

static int read_file(const struct setup *setup, struct acp_buf *text, bool *ret_exists)
{
    int reason = paths_read_file(setup->file, text);
    *ret_exists = reason != -ENOENT;
    return reason && reason != -ENOENT
               ? config_command_fail_system("setup", "read", setup->file, reason)
               : EXIT_OK;
}

static int make_settings(struct setup *setup)
{
    int err = editor_write_entry(setup->editor, &setup->entry, &setup->json);
    if (err) {
        err_printf("acp setup: %s\n", acp_err_text(err));
        return EXIT_FAILED;
    }
    int status = read_file(setup, &setup->old, &setup->exists);
    if (status)
        return status;
    err = edit(setup, acp_buf_view(&setup->old), &setup->new);
    return err ? fail_edit(setup, err) : EXIT_OK;
}

static const char *shorten(const struct setup *setup, const char *path)
{
    const char *text = paths_shorten(setup->arena, path, config_home(setup->config));
    return text ? text : path;
}

/* ---- Printing ------------------------------------------------------------------------------- */

static int print_json(struct setup *setup)
{
    struct acp_buf text;
    acp_buf_init(&text, PATHS_MAX_FILE);
    int err = editor_write_entry(setup->editor, &setup->entry, &setup->json);
    if (!err)
        err = edit(setup, acp_str_from("{}\n"), &text);
    if (err) {
        err_printf("acp setup: %s\n", acp_err_text(err));
    } else {
        err_row("For %s (%s), in %s; `acp setup %s --write` enters it there:", setup->editor->title,
                setup->editor->reader, shorten(setup, setup->file), setup->editor->name);
        out_text(acp_buf_view(&text));
    }
    acp_buf_finish(&text);
    return err ? EXIT_FAILED : EXIT_OK;
}

static int print_code(struct setup *setup)
{
    struct acp_buf text;
    acp_buf_init(&text, PATHS_MAX_FILE);
    int err = setup->editor->print(&setup->entry, &text);
    if (err) {
        err_printf("acp setup: %s\n", acp_err_text(err));
    } else {
        err_row("For %s (%s), for example in %s:", setup->editor->title, setup->editor->reader,
                shorten(setup, setup->file));
        out_text(acp_buf_view(&text));
    }
    acp_buf_finish(&text);
    return err ? EXIT_FAILED : EXIT_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void put_diff_line(struct acp_str line)
{
    enum output_style style = line.len && line.ptr[0] == '+'   ? STYLE_GREEN
                              : line.len && line.ptr[0] == '-' ? STYLE_RED
                                                               : STYLE_NONE;
    if (style != STYLE_NONE)
        out_style(style);
    out_text(line);
    if (style != STYLE_NONE)
        out_style(STYLE_NONE);
    out_printf("\n");
}

static int show_change(struct setup *setup)
{
    struct acp_diff_patch_options paths = {
        .old_path = setup->exists ? acp_str_from(setup->file) : (struct acp_str){0},
        .new_path = acp_str_from(setup->file),
    };
    struct acp_buf patch;
    acp_buf_init(&patch, (size_t) PATHS_MAX_FILE * 4);
    int err = acp_diff_patch(&paths, acp_buf_view(&setup->old), acp_buf_view(&setup->new), &patch);
    struct acp_str text = acp_buf_view(&patch);
    for (size_t at = 0; !err && at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t n = end ? (size_t) (end - text.ptr) - at : text.len - at;
        put_diff_line(acp_str_n(text.ptr + at, n));
        at += n + 1;
    }
    acp_buf_finish(&patch);
    (void) out_flush();
    if (err)
        err_printf("acp setup: cannot show the change: %s\n", acp_err_text(err));
    return err ? EXIT_FAILED : EXIT_OK;
}

/* A file that the user has made read-only stays as it is, also for root. */
static int check_writable(const struct setup *setup)
{
    struct stat st;
    if (!setup->exists || stat(setup->file, &st) ||
        ((st.st_mode & 0222) && !access(setup->file, W_OK)))
        return EXIT_OK;
    err_printf("acp setup: %s is read-only; `acp setup %s` prints what to enter\n", setup->file,
               setup->editor->name);
    return EXIT_FAILED;
}

static int ask(const struct setup *setup)
{
    char question[PATH_MAX + 40];
    if (setup->options->yes)
        return EXIT_OK;
    (void) snprintf(question, sizeof(question), "Write this to %s?", shorten(setup, setup->file));
    switch (confirm_ask(question)) {
    case CONFIRM_YES:
        return EXIT_OK;
    case CONFIRM_NO:
        err_printf("acp setup: nothing was changed\n");
        return EXIT_FAILED;
    case CONFIRM_NOBODY:
        break;
    }
    err_printf("acp setup: no terminal to ask on; use --yes to write it\n");
    return EXIT_USAGE;
}

/* While the question was open, the editor may have written its settings. */
static int check_unchanged(const struct setup *setup)
{
    struct acp_buf now;
    bool exists = false;
    acp_buf_init(&now, PATHS_MAX_FILE);
    int status = read_file(setup, &now, &exists);
    if (!status &&
        (exists != setup->exists || !acp_str_eq(acp_buf_view(&now), acp_buf_view(&setup->old)))) {
        err_printf("acp setup: %s has changed meanwhile; try again\n", setup->file);
        status = EXIT_FAILED;
    }
    acp_buf_finish(&now);
    return status;
}

/* Keeps the file as it was, under the first name that is free. */
static int back_up(const struct setup *setup, char backup[PATH_MAX])
{
    struct stat st;
    mode_t mode = stat(setup->file, &st) ? 0600 : st.st_mode & 0777;
    int reason = -EEXIST;
    for (int i = 1; i <= MAX_BACKUPS && reason == -EEXIST; i++) {
        char number[16] = "";
        if (i > 1)
            (void) snprintf(number, sizeof(number), "-%d", i);
        int n = snprintf(backup, PATH_MAX, "%s.before-acp%s", setup->file, number);
        if (n < 0 || n >= PATH_MAX)
            reason = -ENAMETOOLONG;
        else if (lstat(backup, &st))
            reason = paths_write_file(backup, acp_buf_view(&setup->old), mode);
    }
    return reason ? config_command_fail_system("setup", "write the backup", backup, reason)
                  : EXIT_OK;
}

static int write_settings(struct setup *setup)
{
    char backup[PATH_MAX] = "";
    if (acp_str_eq(acp_buf_view(&setup->old), acp_buf_view(&setup->new))) {
        out_row("%s has this entry already; nothing to change", setup->file);
        return EXIT_OK;
    }
    int status = check_writable(setup);
    if (!status)
        status = show_change(setup);
    if (!status)
        status = ask(setup);
    if (!status)
        status = check_unchanged(setup);
    if (!status && setup->exists)
        status = back_up(setup, backup);
    if (status)
        return status;
    int reason = paths_write_file(setup->file, acp_buf_view(&setup->new), 0600);
    if (reason)
        return config_command_fail_system("setup", "write", setup->file, reason);
    if (*backup)
        err_row("Written. The file as it was is %s.", shorten(setup, backup));
    else
        err_row("Written.");
    err_row("%s", setup->editor->next);
    return EXIT_OK;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int begin(struct setup *setup, const char *editor)
{
    const char *file = setup->options->file;
    int status = config_command_load(&(struct config_options){0}, &setup->config);
    if (status)
        return status;
    setup->arena = config_arena(setup->config);
    setup->editor = editor_find(editor);
    setup->file = file ? config_command_folder(file, setup->arena)
                       : editor_file(setup->editor, config_command_environment(), setup->arena);
    if (!setup->file) {
        err_printf("acp setup: no home directory; set HOME\n");
        return EXIT_FAILED;
    }
    return find_agent(setup);
}

static int run_editor(struct setup *setup, const char *name)
{
    int status = begin(setup, name);
    if (status)
        return status;
    if (setup->editor->print && setup->options->write) {
        err_printf("acp setup: the settings of %s are a program, so they are printed and never "
                   "written; leave out --write\n",
                   setup->editor->title);
        return EXIT_USAGE;
    }
    if (setup->editor->print)
        return print_code(setup);
    if (!setup->options->write)
        return print_json(setup);
    status = make_settings(setup);
    return status ? status : write_settings(setup);
}

/* The editors, and where each has its settings. */
static int list_editors(void)
{
    const struct editor *editor;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *home = paths_home(config_command_environment(), &arena);
    for (size_t i = 0; (editor = editor_at(i)); i++) {
        const char *file = editor_file(editor, config_command_environment(), &arena);
        const char *shown = file ? paths_shorten(&arena, file, home) : NULL;
        out_row("%-10s %-20s %s", editor->name, editor->title, shown ? shown : "");
    }
    acp_arena_finish(&arena);
    err_printf("`acp setup EDITOR` prints the settings for one of them.\n");
    return EXIT_OK;
}

static int run(const struct invocation *invocation)
{
    struct setup setup = {.options = invocation->options};
    if (!invocation->arguments[0])
        return list_editors();
    acp_buf_init(&setup.old, PATHS_MAX_FILE);
    acp_buf_init(&setup.new, PATHS_MAX_FILE);
    acp_buf_init(&setup.json, PATHS_MAX_FILE);
    int status = run_editor(&setup, invocation->arguments[0]);
    acp_buf_finish(&setup.old);
    acp_buf_finish(&setup.new);
    acp_buf_finish(&setup.json);
    config_free(setup.config);
    return status;
}

#define AT(member) .offset = offsetof(struct setup_options, member)

static const struct option rows[] = {
    {.heading = "Agent",
     .name = "agent",
     .argument = "COMMAND",
     .kind = OPTION_AGENT,
     AT(agent),
     .help = "the agent to enter: a name or a command line (default: the built-in agent)"},
    {.name = "name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     AT(name),
     .help = "the name that the editor shows",
     .details = "An entry of that name is replaced."},
    {.heading = "Settings",
     .name = "write",
     .kind = OPTION_SWITCH,
     AT(write),
     .help = "write the settings instead of printing them",
     .details = "Comments and the order of the settings are kept. The change is shown first and "
                "has to be confirmed. The file as it was is kept beside it, with "
                "_.before-acp_ appended to its name."},
    {.name = "yes", .letter = 'y', .kind = OPTION_SWITCH, AT(yes), .help = "write without asking"},
    {.name = "file",
     .argument = "FILE",
     .kind = OPTION_FILE,
     AT(file),
     .help = "the settings file, if it is not in the usual place"},
    {0},
};

static const char *const editor_names[] = {"zed", "jetbrains", "vscode", "neovim", "emacs", NULL};

static const struct argument arguments[] = {
    {.name = "EDITOR", .kind = OPTION_CHOICE, .choices = editor_names, .optional = true},
    {0},
};

static const struct example examples[] = {
    {"acp setup zed", "prints the settings for Zed"},
    {"acp setup zed --write", "shows the change, asks, and writes it"},
    {"acp setup vscode --agent claude", "prints the settings for Claude Code in VS Code"},
    {0},
};

static const struct exit_status statuses[] = {
    {"The settings are not valid or cannot be written, or the question was answered with no.",
     EXIT_FAILED},
    {0},
};

const struct command command_setup = {
    .name = "setup",
    .summary = "enter an agent in the settings of an editor",
    .description =
        "Prints the settings with which _EDITOR_ starts an agent: *zed*, *jetbrains* (AI "
        "Assistant), *vscode* (the extension formulahendry.acp-client), *neovim* "
        "(CodeCompanion.nvim or avante.nvim) or *emacs* (agent-shell). Without an argument, the "
        "editors and where they have their settings.\n\n"
        "The settings go to standard output and can be pasted; hints go to standard error. With "
        "*--write* they are entered in the editor's file, except for Neovim and Emacs, whose "
        "settings are programs. Values of environment variables are never copied from the "
        "configuration.",
    .arguments = arguments,
    .options = (const struct option_group[]){{rows, 0}, {0}},
    .options_size = sizeof(struct setup_options),
    .examples = examples,
    .statuses = statuses,
    .run = run,
};
