/*
 * doctor.c - acp doctor: checks the installation and suggests fixes.
 *
 * Each check reports findings (ok, note or bad) with a detail and, if possible, a fix.  A broken
 * configuration is one of them; the others are made with what is valid in it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/prose.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"
#include "json/members.h"

static const char *const finding_words[] = {"ok", "note", "bad"};

/* ---- Findings ------------------------------------------------------------------------------- */

static void print_json(const char *what, const char *finding, const char *detail, const char *fix)
{
    struct acp_buf line;
    struct acp_json_writer w;
    acp_buf_init(&line, (size_t) 64 * 1024);
    acp_json_writer_init(&w, &line);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "what", what);
    acp_json_put_text(&w, "finding", finding);
    acp_json_put_text(&w, "detail", detail);
    if (fix)
        acp_json_put_text(&w, "fix", fix);
    acp_json_end_object(&w);
    if (!w.err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
}

/* At a terminal, lines are broken between words, and the following ones are indented. */
static void put_wrapped(struct acp_str text)
{
    enum { INDENT = 6 };
    size_t width = out_is_terminal() ? prose_width(output_results()) : SIZE_MAX;
    size_t column = INDENT;
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        size_t columns = 0;
        for (; end < text.len && (end == at || text.ptr[end] != ' '); end++)
            columns += ((unsigned char) text.ptr[end] & 0xc0) != 0x80;
        if (column + columns > width && column > INDENT && text.ptr[at] == ' ') {
            out_printf("\n%*s", INDENT, "");
            column = INDENT;
            at++;
            columns--;
        }
        out_text(acp_str_n(text.ptr + at, end - at));
        column += columns;
        at = end;
    }
    out_printf("\n");
}

/* A row of values that must not begin lines of their own. */
static void put_row(const char *format, ...) ACP_PRINTF(1, 2);
static void put_row(const char *format, ...)
{
    struct acp_buf row;
    va_list args;
    acp_buf_init(&row, (size_t) 64 * 1024);
    va_start(args, format);
    int err = sanitize_vrow(&row, format, args);
    va_end(args);
    if (!err && row.len)
        put_wrapped(acp_str_n(acp_buf_view(&row).ptr, row.len - 1));
    acp_buf_finish(&row);
}

void doctor_found(struct doctor *doctor, enum finding finding, const char *what, const char *fix,
                  const char *format, ...)
{
    static const enum output_style styles[] = {STYLE_GREEN, STYLE_CYAN, STYLE_RED};
    char detail[1000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    doctor->bad += finding == FINDING_BAD;
    if (doctor->setup.format == RENDER_JSON) {
        print_json(what, finding_words[finding], detail, fix);
    } else if (doctor->setup.format == RENDER_TEXT || finding == FINDING_BAD) {
        out_style(styles[finding]);
        out_printf("%-5s ", finding_words[finding]);
        out_style(STYLE_NONE);
        put_row("%s: %s", what, detail);
        if (fix) {
            out_printf("%6s", "");
            put_row("%s", fix);
        }
    }
    (void) out_flush();
}

/* ---- Configuration -------------------------------------------------------------------------- */

/* The first line of the report, and how many there are. */
static struct acp_str first_line(const struct acp_buf *report, size_t *ret_count)
{
    struct acp_str all = acp_buf_view(report);
    size_t first = all.len;
    size_t count = 0;
    for (size_t i = 0; i < all.len; i++)
        if (all.ptr[i] == '\n' && count++ == 0)
            first = i;
    *ret_count = count;
    return acp_str_n(all.ptr, first);
}

static void report_errors(struct doctor *doctor, enum finding finding, const char *fix,
                          const struct acp_buf *report)
{
    size_t count = 0;
    struct acp_str line = first_line(report, &count);
    char more[40] = "";
    if (count > 1)
        (void) snprintf(more, sizeof(more), "; and %zu more", count - 1);
    doctor_found(doctor, finding, "configuration", fix, "%.*s%s",
                 (int) (line.len < 800 ? line.len : 800), line.len ? line.ptr : "cannot be read",
                 more);
}

static void check_configuration(struct doctor *doctor)
{
    struct config *config = NULL;
    struct acp_buf report;
    struct config_options strict = {.cwd = doctor->setup.cwd, .strict = true};
    const char *file = config_user_file(doctor->setup.config);
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = config_load(&strict, &config, &report);
    if (!file)
        doctor_found(doctor, FINDING_BAD, "configuration", "set HOME", "no home directory");
    else if (err)
        report_errors(doctor, FINDING_BAD,
                      "other commands refuse to run; `acp config check` lists every error",
                      &report);
    else if (report.len)
        report_errors(doctor, FINDING_NOTE, NULL, &report);
    else if (access(file, F_OK))
        doctor_found(doctor, FINDING_GOOD, "configuration", NULL, "no file, using defaults (%s)",
                     file);
    else
        doctor_found(doctor, FINDING_GOOD, "configuration", NULL, "%s", file);
    config_free(config);
    acp_buf_finish(&report);
}

/* ---- The command ---------------------------------------------------------------------------- */

static int run(const struct invocation *invocation)
{
    struct doctor doctor = {.options = invocation->options,
                            .only = invocation->agent,
                            .command = invocation->agent_command};
    int status = conversation_setup_inspect(&doctor.setup, &doctor.options->agent);
    if (status || uv_loop_init(&doctor.loop)) {
        conversation_setup_finish(&doctor.setup);
        return status ? status : EXIT_FAILED;
    }
    check_configuration(&doctor);
    bool whole = !doctor.only && !doctor.command && !doctor.options->agent.agent;
    if (whole || (doctor.only && strcmp(doctor.only, AGENTS_OWN_NAME) == 0))
        doctor_check_models(&doctor);
    if (whole) {
        doctor_check_sandbox(&doctor);
        doctor_check_store(&doctor);
        doctor_check_daemons(&doctor);
        doctor_check_terminal(&doctor);
    }
    doctor_check_agents(&doctor);
    (void) uv_loop_close(&doctor.loop);
    conversation_setup_finish(&doctor.setup);
    return doctor.bad ? EXIT_FAILED : EXIT_OK;
}

static const struct option rows[] = {
    {.heading = "Checks",
     .name = "no-start",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct doctor_options, no_start),
     .help = "look up the agents without starting them"},
    {0},
};

static const struct option_group groups[] = {
    {rows, 0},
    {agent_flag_rows, offsetof(struct doctor_options, agent)},
    {0},
};

static const struct exit_status statuses[] = {
    {"At least one finding is *bad*.", EXIT_FAILED},
    {0},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "check the installation and suggest fixes",
    .description =
        "Checks the configuration, the model of the built-in agent and where its key comes from, "
        "the sandbox, the session log, the daemons, the terminal, and the known agents: whether "
        "each is installed and logged in. Installed agents are started and sent *initialize*, to "
        "learn their versions. Nothing is downloaded, unless an agent is named that npx or uvx "
        "has to fetch; the only network request is to a model server on this machine, for its "
        "list of models.\n\n"
        "Each line begins with *ok*, *note* or *bad*; the line below it suggests what to do. With "
        "*--json* each finding is an object with *what*, *finding*, *detail* and, if there is "
        "something to do, *fix*. A broken configuration is one finding; the other checks use what "
        "is valid in it. If an agent is named, only the configuration and that agent are checked.",
    .options = groups,
    .options_size = sizeof(struct doctor_options),
    .statuses = statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
