/*
 * sessions_export.c - acp sessions export, import.
 *
 * JSON is one object per line: the session first, then its events in order, as `--format json`
 * prints them.  Markdown is for people and cannot be imported.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/json.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cmd/cmd.h"
#include "cmd/output_file.h"
#include "cmd/sessions.h"

static const struct argument session_argument[] = {
    {.name = "SESSION", .kind = OPTION_SESSION, .optional = true},
    {0},
};

/* ---- export ---------------------------------------------------------------------------------- */

enum { AS_MARKDOWN = 1, AS_JSON };
static const char *const forms[] = {"markdown", "json", NULL};

struct export_options {
    struct agent_flags agent;
    int as;
    const char *output;
};

/* A running export. */
struct export
{
    struct store_session session;
    struct sessions_rendering rendering; /* Markdown */
    struct acp_buf line;                 /* JSON */
    struct output out;
    struct progress progress;
};

static int write_line(struct export *export)
{
    output_json(&export->out, acp_buf_view(&export->line));
    output_text(&export->out, acp_str_from("\n"));
    acp_buf_clear(&export->line);
    return output_flush(&export->out);
}

static int export_event(const struct store_event *event, void *user)
{
    struct export *export = user;
    struct acp_json_writer w;
    struct session_event one;
    if (!export->out.is_terminal)
        progress_step(&export->progress);
    if (export->rendering.renderer)
        return sessions_render(event, &export->rendering);
    if (!sessions_event(event, &one))
        return 0;
    acp_json_writer_init(&w, &export->line);
    int err = event_write(&one, export->session.id, &w);
    return err ? err : write_line(export);
}

static int begin_markdown(struct export *export)
{
    char when[SESSIONS_TIME_SIZE];
    const struct store_session *session = &export->session;
    struct renderer_options options = {.format = RENDER_MARKDOWN,
                                       .out = export->out.fd,
                                       .activity = export->out.fd,
                                       .prompts = true};
    struct acp_str title = session->title.len ? session->title : session->id;
    sessions_time(session->created, when);
    output_printf(&export->out, "# %.*s\n\n%.*s, %s, in `%.*s`\n", (int) title.len, title.ptr,
                  (int) session->agent.len, session->agent.ptr, when, (int) session->cwd.len,
                  session->cwd.ptr);
    int err = output_flush(&export->out);
    return err ? err : sessions_rendering_init(&export->rendering, &options);
}

static int begin_json(struct export *export)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, &export->line);
    sessions_write(&w, &export->session);
    return w.err ? w.err : write_line(export);
}

static int run_export(const struct invocation *invocation)
{
    const struct export_options *options = invocation->options;
    struct sessions s;
    struct export export = {.progress = {.what = "exporting", .unit = "events"}};
    struct output_file file = {0};
    int fd = OUTPUT_RESULTS;
    struct acp_failure failure = {0};
    bool json = options->as == AS_JSON || (!options->as && options->agent.format == RENDER_JSON);
    acp_buf_init(&export.line, EVENT_MAX_BYTES);
    int status = sessions_open(&s, invocation, &options->agent, false);
    if (!status)
        status = sessions_find_to_read(&s, invocation, &export.session);
    if (!status && options->output) {
        fd = output_file_open(&file, options->output, 0600, &failure) ? -1
                                                                      : output_file_begin(&file);
        if (fd < 0) {
            err_message("--output %s: %s", options->output,
                        *failure.message ? failure.message : strerror(-fd));
            status = EXIT_USAGE;
        }
    }
    output_init_results(&export.out, fd);
    if (!status) {
        int err = json ? begin_json(&export) : begin_markdown(&export);
        if (!err)
            err = store_events(s.store, export.session.id, 1, 0, export_event, &export, &failure);
        if (!err && export.rendering.renderer)
            err = sessions_rendering_end(&export.rendering);
        progress_end(&export.progress);
        int reason = output_file_end(&file, err ? -ECANCELED : 0);
        if (err || reason) {
            err_message("cannot export the session: %s", *failure.message ? failure.message
                                                         : err            ? "write error"
                                                                          : strerror(-reason));
            status = EXIT_FAILED;
        }
    }
    output_file_close(&file);
    sessions_rendering_finish(&export.rendering);
    acp_buf_finish(&export.line);
    output_finish(&export.out);
    sessions_finish(&s);
    return status;
}

static const struct option export_rows[] = {
    {.heading = "Export",
     .name = "as",
     .argument = "FORM",
     .kind = OPTION_CHOICE,
     .choices = forms,
     .offset = offsetof(struct export_options, as),
     .help = "Markdown (default), or JSON, which can be imported"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct export_options, output),
     .help = "write to _FILE_ instead of standard output"},
    {0},
};

static const struct option_group export_groups[] = {
    {export_rows, 0},
    {agent_flag_rows, offsetof(struct export_options, agent)},
    {0},
};

const struct command command_sessions_export = {
    .name = "export",
    .summary = "write a session to a file",
    .description =
        "Writes Markdown, or JSON with one object per line: the session, then every event.",
    .arguments = session_argument,
    .options = export_groups,
    .options_size = sizeof(struct export_options),
    .agent = AGENT_BEFORE,
    .run = run_export,
};

/* ---- import ---------------------------------------------------------------------------------- */

/* A running import. */
struct import {
    struct store *store;
    struct acp_arena arena;
    size_t line;
    uint64_t sequence;
    char id[64];
    const char *cwd;      /* the new directory of the session */
    struct acp_buf reset; /* names of the settings that were not imported */
    struct acp_failure failure;
};

static int refuse(struct import *import, const char *why)
{
    (void) snprintf(import->failure.message, sizeof(import->failure.message), "%s", why);
    return ACP_ERR_RANGE;
}

/*
 * The file is untrusted.  Only the events are imported, and nothing that decides what later prompts
 * may do: no mode or other settings, no directories, and no agent session, which could be another
 * session of this user.
 */
static void drop_authority(struct import *import, struct store_session *session)
{
    const struct {
        const char *what;
        struct acp_str *text;
        struct acp_str now;
    } rows[] = {
        {"mode and settings", &session->settings, {0}},
        {"additional directories", &session->directories, {0}},
        {"the agent's session", &session->agent_session, {0}},
        {"the agent's command", &session->command, {0}},
        {"directory", &session->cwd, acp_str_from(import->cwd)},
        {"scope", &session->scope, acp_str_from(import->cwd)},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_str old = *rows[i].text;
        bool empty = !old.len || acp_str_is(old, "[]") || acp_str_is(old, "{}") ||
                     acp_str_eq(old, rows[i].now);
        if (!empty)
            (void) acp_buf_printf(&import->reset, "%s%s", import->reset.len ? ", " : "",
                                  rows[i].what);
        *rows[i].text = rows[i].now;
    }
}

static int import_session(struct import *import, struct acp_raw line)
{
    struct store_session session;
    if (sessions_read_row(line, &import->arena, &session))
        return refuse(import, "not an exported session");
    drop_authority(import, &session);
    (void) snprintf(import->id, sizeof(import->id), "%.*s", (int) session.id.len, session.id.ptr);
    return store_import_begin(import->store, &session, &import->failure);
}

static int import_event(struct import *import, struct acp_raw line)
{
    struct session_event one;
    struct acp_str session;
    if (event_read(line, &import->arena, &one, &session, &import->failure))
        return ACP_ERR_RANGE;
    if (one.sequence != ++import->sequence)
        return refuse(import, "an event is missing before this one");
    struct store_event event = {
        .seq = one.sequence,
        .time = one.time,
        .turn = one.turn,
        .kind = acp_str_from(event_kind_name(one.kind)),
        .body = one.body,
    };
    return store_import_event(import->store, &event, &import->failure);
}

static int import_lines(struct import *import, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    int err = 0;
    struct progress progress = {.what = "importing", .unit = "events"};
    while (!err && (n = getline(&line, &size, file)) > 0) {
        struct acp_raw raw = acp_raw_n(line, (size_t) n);
        acp_arena_reset(&import->arena);
        err = import->line++ ? import_event(import, raw) : import_session(import, raw);
        progress_step(&progress);
    }
    progress_end(&progress);
    free(line);
    if (!err && !import->line)
        err = refuse(import, "the file is empty");
    return err;
}

static int run_import(const struct invocation *invocation)
{
    const struct agent_flags *options = invocation->options;
    const char *name = invocation->arguments[0];
    struct import import = {0};
    struct conversation_setup c;
    acp_arena_init(&import.arena, 0);
    acp_buf_init(&import.reset, 1000);
    int status = conversation_setup_configure(&c, options);
    import.cwd = c.cwd;
    const char *path = status ? NULL : conversation_setup_store_path(&c);
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    int err = 0;
    if (!status && !file) {
        err_message("%s: %s", name, strerror(errno));
        status = EXIT_USAGE;
    } else if (!status && !path) {
        err_message("the session log is disabled; set log.enabled to true");
        status = EXIT_FAILED;
    }
    if (!status)
        err = store_open(path, STORE_CREATE, &import.store, &import.failure);
    if (!status && !err) {
        err = import_lines(&import, file);
        if (!err)
            err = store_import_commit(import.store, &import.failure);
        else
            store_import_rollback(import.store);
    }
    if (err) {
        err_message("%s:%zu: %s", name, import.line, import.failure.message);
        status = EXIT_FAILED;
    } else if (!status) {
        out_printf("%s\n", import.id);
        if (import.reset.len)
            err_message("the directory of the session is now %s; not imported: %.*s", c.cwd,
                        (int) import.reset.len, import.reset.data + import.reset.start);
    }
    acp_buf_finish(&import.reset);
    if (file && file != stdin)
        (void) fclose(file);
    store_close(import.store);
    acp_arena_finish(&import.arena);
    conversation_setup_finish(&c);
    return status;
}

static const struct argument import_arguments[] = {
    {.name = "FILE", .kind = OPTION_FILE},
    {0},
};

static const struct option_group import_groups[] = {
    {agent_flag_rows, 0},
    {0},
};

const struct command command_sessions_import = {
    .name = "import",
    .summary = "import an exported session",
    .description = "Reads a file written by *acp sessions export --as json* and prints the id of "
                   "the session. An incomplete file, or a session that is already in the log, is "
                   "refused.\n\n"
                   "The session then belongs to the current directory. Its events are imported; "
                   "its mode and other settings, its directories and the agent's session id are "
                   "not, because they would let the author of the file decide what later prompts "
                   "may do.",
    .arguments = import_arguments,
    .options = import_groups,
    .options_size = sizeof(struct agent_flags),
    .run = run_import,
};
