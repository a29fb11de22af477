/*
 * doctor.c - acp doctor: checks the installation and suggests fixes.
 *
 * Each check reports one finding (ok, note or bad) with a detail and, if possible, a fix.
 * Installed agents are started in parallel and sent `initialize`.  No session is opened, and no
 * network request is made except to a model server on this machine, to list its models.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acp/run.h"
#include "acp/types.h"
#include "cli/output.h"
#include "cmd/agent_sources.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "config/paths.h"
#include "http/http_client.h"
#include "json/members.h"
#include "launch/sandbox.h"
#include "model/find.h"
#include "registry/environment_keys.h"
#include "store/store.h"

struct doctor_options {
    struct agent_flags agent;
    bool no_start;
};

enum { AGENT_WAIT_MS = 15000 };

enum finding { FINDING_GOOD, FINDING_NOTE, FINDING_BAD };
static const char *const finding_words[] = {"ok", "note", "bad"};

struct doctor {
    const struct doctor_options *options;
    struct conversation_setup setup;
    uv_loop_t loop;
    const char *only; /* the agent to check, or NULL for all */
    size_t bad;
    size_t agents;
};

/* ---- Findings ------------------------------------------------------------------------------- */

ACP_PRINTF(5, 6)
static void found(struct doctor *doctor, enum finding finding, const char *what, const char *fix,
                  const char *format, ...)
{
    char detail[1000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    doctor->bad += finding == FINDING_BAD;
    if (doctor->setup.format == RENDER_JSON) {
        struct acp_buf line;
        struct acp_json_writer w;
        acp_buf_init(&line, (size_t) 64 * 1024);
        acp_json_writer_init(&w, &line);
        acp_json_begin_object(&w);
        acp_json_put_text(&w, "what", what);
        acp_json_put_text(&w, "finding", finding_words[finding]);
        acp_json_put_text(&w, "detail", detail);
        if (fix)
            acp_json_put_text(&w, "fix", fix);
        acp_json_end_object(&w);
        if (!w.err)
            out_json_line(acp_buf_view(&line));
        acp_buf_finish(&line);
    } else if (doctor->setup.format == RENDER_TEXT || finding == FINDING_BAD) {
        out_row("%-5s %s: %s", finding_words[finding], what, detail);
        if (fix)
            out_row("      %s", fix);
    }
    (void) out_flush();
}

/* ---- Configuration -------------------------------------------------------------------------- */

static void check_configuration(struct doctor *doctor)
{
    struct config *config = NULL;
    struct acp_buf report;
    struct config_options strict = {.cwd = doctor->setup.cwd, .strict = true};
    const char *file = config_user_file(doctor->setup.config);
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = config_load(&strict, &config, &report);
    if (!file)
        found(doctor, FINDING_BAD, "configuration", "set HOME", "no home directory");
    else if (err)
        found(doctor, FINDING_BAD, "configuration", "run `acp config check`", "%.*s",
              (int) report.len, report.len ? report.data + report.start : "cannot be read");
    else if (access(file, F_OK))
        found(doctor, FINDING_GOOD, "configuration", NULL, "no file, using defaults (%s)", file);
    else
        found(doctor, FINDING_GOOD, "configuration", NULL, "%s", file);
    config_free(config);
    acp_buf_finish(&report);
}

/* ---- The session log ------------------------------------------------------------------------ */

static int count_session(const struct store_session *session, void *user)
{
    (void) session;
    ++*(size_t *) user;
    return 0;
}

static void check_store(struct doctor *doctor)
{
    const char *path = conversation_setup_store_path(&doctor->setup);
    struct acp_failure failure = {0};
    struct store_filter all = {0};
    struct store *store = NULL;
    struct stat st;
    size_t count = 0;
    if (!path) {
        found(doctor, FINDING_NOTE, "session log", NULL, "disabled; sessions are not logged");
        return;
    }
    int err = store_open(path, STORE_CREATE, &store, &failure);
    if (!err)
        err = store_list(store, &all, count_session, &count, &failure);
    store_close(store);
    if (err)
        found(doctor, FINDING_BAD, "session log",
              "sessions still work but are not logged; see log.path in the configuration", "%s",
              failure.message);
    else
        found(doctor, FINDING_GOOD, "session log", NULL, "%zu sessions, %.1f MiB, %s", count,
              stat(path, &st) ? 0.0 : (double) st.st_size / (1024 * 1024), path);
}

/* ---- The sandbox ---------------------------------------------------------------------------- */

static void check_sandbox(struct doctor *doctor)
{
    struct acp_failure failure = {0};
    struct sandbox *sandbox = NULL;
    if (sandbox_new(NULL, &sandbox, &failure))
        found(doctor, FINDING_NOTE, "sandbox",
              "until it is fixed, mode sandbox is refused; see THE SANDBOX in acp-agent(1)", "%s",
              failure.message);
    else if (sandbox_wall(sandbox) == SANDBOX_LANDLOCK)
        found(doctor, FINDING_NOTE, "sandbox",
              "install bubblewrap, or enable user namespaces, for stronger isolation",
              "%s; bubblewrap is missing or fails", sandbox_describe(sandbox));
    else
        found(doctor, FINDING_GOOD, "sandbox", NULL, "%s", sandbox_describe(sandbox));
    sandbox_free(sandbox);
}

/* ---- The terminal --------------------------------------------------------------------------- */

static void check_terminal(struct doctor *doctor)
{
    const char *term = getenv("TERM");
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && !locale; i++) {
        const char *value = getenv(names[i]);
        locale = value && *value ? value : NULL;
    }
    bool utf8 = locale && (strstr(locale, "UTF-8") || strstr(locale, "utf8"));
    if (!err_is_terminal())
        found(doctor, FINDING_NOTE, "terminal", NULL,
              "standard error is not a terminal; permission questions cannot be asked");
    else if (!utf8)
        found(doctor, FINDING_NOTE, "terminal", "set LANG to a locale with UTF-8, such as C.UTF-8",
              "TERM is %s; the locale %s is not UTF-8", term ? term : "not set",
              locale ? locale : "(not set)");
    else
        found(doctor, FINDING_GOOD, "terminal", NULL, "%s, %s", term ? term : "TERM is not set",
              locale);
}

/* ---- The models of the built-in agent ------------------------------------------------------- */

/* Providers that only lack a key. */
static void list_keyless(struct doctor *doctor, const struct model_offer *offers, size_t count)
{
    const struct model_provider *provider;
    char names[400] = "";
    size_t n = 0;
    for (size_t i = 0; (provider = model_provider_at(i)); i++) {
        bool is_offered = !provider->keys || provider->port;
        for (size_t j = 0; j < count; j++)
            is_offered |= offers[j].provider == provider;
        if (!is_offered && n < sizeof(names))
            n += (size_t) snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
                                   provider->id);
    }
    if (n)
        found(doctor, FINDING_NOTE, "providers without a key", NULL,
              "%s; store one with `acp agent login PROVIDER`", names);
}

/* Reports the model that would be used, its address and the reason; never a key. */
static void on_model(struct model_find *find, const struct model_choice *choice, void *user)
{
    const char *named = config_text(((struct doctor *) user)->setup.config, CONFIG_MODEL);
    const struct model_settings *settings = &choice->settings;
    struct acp_str place = http_place(acp_str_from(settings->base_url ? settings->base_url : ""));
    (void) find;
    if (settings->api == MODEL_DEMO)
        found(user, FINDING_NOTE, "built-in agent",
              "run `acp agent login PROVIDER`, set a key such as ANTHROPIC_API_KEY, or start a "
              "model server on this machine",
              "no model, only the offline demo: %s", choice->why);
    else
        found(user, FINDING_GOOD, "built-in agent", NULL, "%s/%s%s%.*s: %s", choice->id,
              named             ? named
              : settings->model ? settings->model
                                : "its default model",
              place.len ? " at " : "", (int) (place.len < 200 ? place.len : 200),
              place.len ? place.ptr : "", choice->why);
    if (*choice->note)
        found(user, FINDING_NOTE, "built-in agent", NULL, "%s", choice->note);
}

static void check_model(struct doctor *doctor, const struct model_sources *sources)
{
    struct model_find *find = NULL;
    struct http_client *http = NULL;
    int err = http_client_new(&doctor->loop, NULL, &http);
    if (!err)
        err = model_find_new(&doctor->loop, http, sources, NULL, on_model, doctor, &find);
    if (err)
        found(doctor, FINDING_BAD, "built-in agent", NULL, "%s", acp_io_err_text(err));
    else
        (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
    model_find_free(find);
    http_client_free(http);
    (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
}

static void check_providers(struct doctor *doctor)
{
    struct conversation_setup *c = &doctor->setup;
    struct model_sources sources = {.environment = keys_environment()};
    struct model_offer *offers = NULL;
    size_t count = 0;
    agent_read_providers(c, &sources);
    if (agent_read_keys(c, &c->arena, &sources) ||
        model_offers_read(&sources, &c->arena, &offers, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        char label[100];
        struct acp_str place = http_place(acp_str_from(offers[i].settings.base_url));
        (void) snprintf(label, sizeof(label), "provider %.60s", offers[i].id);
        found(doctor, FINDING_GOOD, label, NULL, "%s; address %.*s", offers[i].why,
              (int) (place.len < 200 ? place.len : 200), place.ptr);
    }
    list_keyless(doctor, offers, count);
    check_model(doctor, &sources);
}

/* ---- Agents --------------------------------------------------------------------------------- */

/* An agent that was started for a check. */
struct agent_check {
    struct doctor *doctor;
    struct agent_command command;
    struct acp_agent_process *process;
    char *label;
    uv_timer_t timer;
    bool reported;
};

static void on_timer_closed(uv_handle_t *handle)
{
    struct agent_check *check = handle->data;
    free(check->label);
    free(check);
}

static void report(struct agent_check *check, enum finding finding, const char *fix,
                   const char *sentence)
{
    if (!check->reported)
        found(check->doctor, finding, check->label, fix, "%s", sentence);
    check->reported = true;
    (void) uv_timer_stop(&check->timer);
    acp_agent_process_stop(check->process);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct agent_check *check = user;
    const struct acp_initialize_response *agent = outcome->value;
    char sentence[600];
    if (outcome->err) {
        (void) snprintf(sentence, sizeof(sentence), "%.*s", (int) outcome->why.len,
                        outcome->why.ptr);
        report(check, FINDING_BAD, check->command.install, sentence);
        return;
    }
    bool v2 = acp_client_protocol(client) & ACP_V2;
    const struct acp_implementation *info = agent->agent_info;
    bool named = acp_is_set(info) && info->name.len;
    (void) snprintf(sentence, sizeof(sentence), "answers as %.*s %.*s, protocol version %d%s",
                    named ? (int) info->name.len : 7, named ? info->name.ptr : "unnamed",
                    named ? (int) info->version.len : 0, named ? info->version.ptr : "", v2 ? 2 : 1,
                    agent->auth_methods.count ? ", offers a login" : "");
    report(check, FINDING_GOOD, NULL, sentence);
}

static void on_slow(uv_timer_t *timer)
{
    report(timer->data, FINDING_BAD, "start it by hand to see what it waits for",
           "started but did not respond to initialize within 15 s");
}

static void on_exited(struct acp_agent_process *process, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct agent_check *check = user;
    (void) how;
    if (!check->reported)
        found(check->doctor, FINDING_BAD, check->label, check->command.install, "%.*s",
              (int) sentence.len, sentence.ptr);
    acp_agent_process_free(process);
    uv_close((uv_handle_t *) &check->timer, on_timer_closed);
}

static void start_agent(struct doctor *doctor, const struct agent_command *command,
                        const char *label)
{
    struct acp_failure failure = {0};
    struct agent_start start;
    if (conversation_setup_start_agent(&doctor->setup, command, doctor->setup.cwd, &start))
        return;
    struct agent_check *check = calloc(1, sizeof(*check));
    if (!check)
        return;
    struct acp_agent_process_options options = {
        .process = {.argv = start.argv, .env = start.env, .cwd = start.cwd},
        .client = {.name = acp_str_from("acp"), .version = acp_str_from(ACP_VERSION)},
        .user = check,
        .exited = on_exited,
    };
    check->doctor = doctor;
    check->command = *command;
    check->label = strdup(label);
    if (!check->label ||
        acp_agent_process_start(&doctor->loop, &options, &check->process, &failure)) {
        found(doctor, FINDING_BAD, label, command->install, "%s", failure.message);
        free(check->label);
        free(check);
        return;
    }
    (void) uv_timer_init(&doctor->loop, &check->timer);
    check->timer.data = check;
    (void) uv_timer_start(&check->timer, on_slow, AGENT_WAIT_MS, 0);
    (void) acp_client_initialize(acp_agent_process_client(check->process), on_ready, check);
}

static void check_agent(const struct agent_command *command, void *user)
{
    struct doctor *doctor = user;
    char label[100];
    bool named = doctor->only != NULL;
    if (named && strcmp(doctor->only, command->name) != 0)
        return;
    (void) snprintf(label, sizeof(label), "agent %s", command->name);
    if (!command->program) {
        /* Known agents that are not installed are reported only if named or configured. */
        if (named || command->source == AGENT_FROM_CONFIG) {
            found(doctor, FINDING_BAD, label, command->install, "%s is not installed",
                  command->argv[0]);
            doctor->agents++;
        }
        return;
    }
    if (command->fetched && !named)
        return;
    doctor->agents++;
    if (doctor->options->no_start)
        found(doctor, FINDING_GOOD, label, NULL, "%s", command->program);
    else
        start_agent(doctor, command, label);
}

static void check_agents(struct doctor *doctor)
{
    struct acp_buf why;
    struct acp_reaper *reaper = NULL;
    acp_buf_init(&why, 4096);
    (void) acp_reaper_new(&doctor->loop, &reaper);
    if (agents_list(doctor->setup.config, check_agent, doctor, &why))
        found(doctor, FINDING_BAD, "agents", "see registry in the configuration", "%.*s",
              (int) why.len, why.len ? why.data + why.start : "");
    else if (!doctor->agents)
        found(doctor, doctor->only ? FINDING_BAD : FINDING_NOTE, "agents",
              "run `acp agents list` for the known agents, `acp agents show NAME` to install one",
              doctor->only ? "no agent '%s'" : "none installed%s",
              doctor->only ? doctor->only : "");
    acp_reaper_free(reaper);
    acp_buf_finish(&why);
}

/* ---- The command ---------------------------------------------------------------------------- */

static int run(const struct invocation *invocation)
{
    struct doctor doctor = {.options = invocation->options, .only = invocation->agent};
    int status = conversation_setup_configure(&doctor.setup, &doctor.options->agent);
    if (status || uv_loop_init(&doctor.loop)) {
        conversation_setup_finish(&doctor.setup);
        return status ? status : EXIT_FAILED;
    }
    check_configuration(&doctor);
    check_store(&doctor);
    check_sandbox(&doctor);
    check_terminal(&doctor);
    check_providers(&doctor);
    check_agents(&doctor);
    (void) uv_run(&doctor.loop, UV_RUN_DEFAULT);
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
        "Checks the configuration, the session log, the sandbox, the terminal, the model providers "
        "that have a key, the default model of *acp agent*, and the agents: installed ones are "
        "started and sent *initialize*. If an agent is named, only that agent is started, even if "
        "it must be fetched first.\n\n"
        "Each line begins with *ok*, *note* or *bad*; the line below a problem suggests a fix.",
    .options = groups,
    .options_size = sizeof(struct doctor_options),
    .statuses = statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
