/*
 * acp doctor - looks whether everything is as it should be, and says what to fix.
 *
 * Each thing that is looked at gives one finding: good, worth knowing, or bad; with what was found
 * and, where it is bad, what to do.  Agents that are installed are started, all at once, and asked
 * who they are; no session is opened and nothing is sent anywhere by us, except to a model server
 * on this machine, which is asked for its models.
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
#include "http/client.h"
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
    const char *only; /* the agent that was asked about, or NULL */
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
    if (doctor->setup.format == SHOW_JSON) {
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
    } else if (doctor->setup.format == SHOW_TEXT || finding == FINDING_BAD) {
        out_row("%-5s %s: %s", finding_words[finding], what, detail);
        if (fix)
            out_row("      %s", fix);
    }
    (void) out_flush();
}

/* ---- Configuration -------------------------------------------------------------------------- */

static void look_at_configuration(struct doctor *doctor)
{
    struct config *config = NULL;
    struct acp_buf report;
    struct config_options strict = {.cwd = doctor->setup.cwd, .strict = true};
    const char *file = config_user_file(doctor->setup.config);
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = config_load(&strict, &config, &report);
    if (!file)
        found(doctor, FINDING_BAD, "configuration", "set HOME", "there is no home directory");
    else if (err)
        found(doctor, FINDING_BAD, "configuration", "run `acp config check`", "%.*s",
              (int) report.len, report.len ? report.data + report.start : "it cannot be read");
    else if (access(file, F_OK))
        found(doctor, FINDING_GOOD, "configuration", NULL, "none, so the defaults hold (%s)", file);
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

static void look_at_store(struct doctor *doctor)
{
    const char *path = conversation_setup_store_path(&doctor->setup);
    struct acp_failure failure = {0};
    struct store_filter all = {0};
    struct store *store = NULL;
    struct stat st;
    size_t count = 0;
    if (!path) {
        found(doctor, FINDING_NOTE, "session log", NULL, "switched off; nothing is kept");
        return;
    }
    int err = store_open(path, STORE_CREATE, &store, &failure);
    if (!err)
        err = store_list(store, &all, count_session, &count, &failure);
    store_close(store);
    if (err)
        found(doctor, FINDING_BAD, "session log",
              "conversations go on, but are not kept; see log.path in the configuration", "%s",
              failure.message);
    else
        found(doctor, FINDING_GOOD, "session log", NULL, "%zu sessions, %.1f MiB, %s", count,
              stat(path, &st) ? 0.0 : (double) st.st_size / (1024 * 1024), path);
}

/* ---- The sandbox ---------------------------------------------------------------------------- */

static void look_at_sandbox(struct doctor *doctor)
{
    struct acp_failure failure = {0};
    struct sandbox *sandbox = NULL;
    if (sandbox_new(NULL, &sandbox, &failure))
        found(doctor, FINDING_NOTE, "sandbox",
              "until then the mode sandbox is refused; see THE SANDBOX in acp-agent(1)", "%s",
              failure.message);
    else if (sandbox_wall(sandbox) == SANDBOX_LANDLOCK)
        found(doctor, FINDING_NOTE, "sandbox",
              "install bubblewrap, or allow user namespaces, for the stronger wall",
              "%s; bubblewrap is missing or fails", sandbox_describe(sandbox));
    else
        found(doctor, FINDING_GOOD, "sandbox", NULL, "%s", sandbox_describe(sandbox));
    sandbox_free(sandbox);
}

/* ---- The terminal --------------------------------------------------------------------------- */

static void look_at_terminal(struct doctor *doctor)
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
              "none here: nobody can be asked for permissions");
    else if (!utf8)
        found(doctor, FINDING_NOTE, "terminal", "set LANG to a locale with UTF-8, such as C.UTF-8",
              "TERM is %s; the locale %s is not UTF-8", term ? term : "not set",
              locale ? locale : "(not set)");
    else
        found(doctor, FINDING_GOOD, "terminal", NULL, "%s, %s", term ? term : "TERM is not set",
              locale);
}

/* ---- The models of the built-in agent ------------------------------------------------------- */

/* Those that could be asked if there was a key. */
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
              "%s; `acp agent login PROVIDER` stores one", names);
}

/* Which model would answer, where, and why; never a key. */
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
              "only the offline demo answers: %s", choice->why);
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

static void look_at_model(struct doctor *doctor, const struct model_sources *sources)
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

static void look_at_providers(struct doctor *doctor)
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
        found(doctor, FINDING_GOOD, label, NULL, "%s; it is asked at %.*s", offers[i].why,
              (int) (place.len < 200 ? place.len : 200), place.ptr);
    }
    list_keyless(doctor, offers, count);
    look_at_model(doctor, &sources);
}

/* ---- Agents --------------------------------------------------------------------------------- */

/* One that was started. */
struct patient {
    struct doctor *doctor;
    struct agent_command command;
    struct acp_agent_process *process;
    char *label;
    uv_timer_t timer;
    bool told;
};

static void on_timer_closed(uv_handle_t *handle)
{
    struct patient *patient = handle->data;
    free(patient->label);
    free(patient);
}

static void tell(struct patient *patient, enum finding finding, const char *fix,
                 const char *sentence)
{
    if (!patient->told)
        found(patient->doctor, finding, patient->label, fix, "%s", sentence);
    patient->told = true;
    (void) uv_timer_stop(&patient->timer);
    acp_agent_process_stop(patient->process);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct patient *patient = user;
    const struct acp_initialize_response *agent = outcome->value;
    char sentence[600];
    if (outcome->err) {
        (void) snprintf(sentence, sizeof(sentence), "%.*s", (int) outcome->why.len,
                        outcome->why.ptr);
        tell(patient, FINDING_BAD, patient->command.install, sentence);
        return;
    }
    bool v2 = acp_client_protocol(client) & ACP_V2;
    const struct acp_implementation *info = agent->agent_info;
    bool named = acp_is_set(info) && info->name.len;
    (void) snprintf(sentence, sizeof(sentence), "answers as %.*s %.*s, protocol version %d%s",
                    named ? (int) info->name.len : 7, named ? info->name.ptr : "(no one)",
                    named ? (int) info->version.len : 0, named ? info->version.ptr : "", v2 ? 2 : 1,
                    agent->auth_methods.count ? ", offers a login" : "");
    tell(patient, FINDING_GOOD, NULL, sentence);
}

static void on_slow(uv_timer_t *timer)
{
    tell(timer->data, FINDING_BAD, "start it by hand and see what it waits for",
         "was started and does not answer initialize");
}

static void on_exited(struct acp_agent_process *process, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct patient *patient = user;
    (void) how;
    if (!patient->told)
        found(patient->doctor, FINDING_BAD, patient->label, patient->command.install, "%.*s",
              (int) sentence.len, sentence.ptr);
    acp_agent_process_free(process);
    uv_close((uv_handle_t *) &patient->timer, on_timer_closed);
}

static void start_agent(struct doctor *doctor, const struct agent_command *command,
                        const char *label)
{
    struct acp_failure failure = {0};
    struct agent_start start;
    if (conversation_setup_start_agent(&doctor->setup, command, doctor->setup.cwd, &start))
        return;
    struct patient *patient = calloc(1, sizeof(*patient));
    if (!patient)
        return;
    struct acp_agent_process_options options = {
        .process = {.argv = start.argv, .env = start.env, .cwd = start.cwd},
        .client = {.name = acp_str_from("acp"), .version = acp_str_from(ACP_VERSION)},
        .user = patient,
        .exited = on_exited,
    };
    patient->doctor = doctor;
    patient->command = *command;
    patient->label = strdup(label);
    if (!patient->label ||
        acp_agent_process_start(&doctor->loop, &options, &patient->process, &failure)) {
        found(doctor, FINDING_BAD, label, command->install, "%s", failure.message);
        free(patient->label);
        free(patient);
        return;
    }
    (void) uv_timer_init(&doctor->loop, &patient->timer);
    patient->timer.data = patient;
    (void) uv_timer_start(&patient->timer, on_slow, AGENT_WAIT_MS, 0);
    (void) acp_client_initialize(acp_agent_process_client(patient->process), on_ready, patient);
}

static void look_at_agent(const struct agent_command *command, void *user)
{
    struct doctor *doctor = user;
    char label[100];
    bool named = doctor->only != NULL;
    if (named && strcmp(doctor->only, command->name) != 0)
        return;
    (void) snprintf(label, sizeof(label), "agent %s", command->name);
    if (!command->program) {
        /* Of all the agents in the world most are not here; that is no news. */
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

static void look_at_agents(struct doctor *doctor)
{
    struct acp_buf why;
    struct acp_reaper *reaper = NULL;
    acp_buf_init(&why, 4096);
    (void) acp_reaper_new(&doctor->loop, &reaper);
    if (agents_list(doctor->setup.config, look_at_agent, doctor, &why))
        found(doctor, FINDING_BAD, "agents", "see registry in the configuration", "%.*s",
              (int) why.len, why.len ? why.data + why.start : "");
    else if (!doctor->agents)
        found(doctor, doctor->only ? FINDING_BAD : FINDING_NOTE, "agents",
              "see `acp agents list` for those that are known, and how to install them",
              doctor->only ? "there is no agent '%s'" : "none is installed%s",
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
    look_at_configuration(&doctor);
    look_at_store(&doctor);
    look_at_sandbox(&doctor);
    look_at_terminal(&doctor);
    look_at_providers(&doctor);
    look_at_agents(&doctor);
    (void) uv_run(&doctor.loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&doctor.loop);
    conversation_setup_finish(&doctor.setup);
    return doctor.bad ? EXIT_FAILED : EXIT_OK;
}

static const struct option rows[] = {
    {.heading = "What is done",
     .name = "no-start",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct doctor_options, no_start),
     .help = "do not start the agents, only look for them"},
    {0},
};

static const struct option_group groups[] = {
    {rows, 0},
    {agent_flag_rows, offsetof(struct doctor_options, agent)},
    {0},
};

static const struct exit_status statuses[] = {
    {"Something is to be mended.", EXIT_FAILED},
    {0},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "look whether everything is as it should be, and say what to fix",
    .description =
        "Looks at the configuration, the session log, the sandbox, the terminal, the providers of "
        "models that have a key and the model that *acp agent* begins with, and the agents: those "
        "that are installed are started and asked who they are. With an agent, only that one "
        "is started, also when it has to be fetched first.\n\n"
        "Each line begins with *ok*, *note* or *bad*; below what is bad stands what to do.",
    .options = groups,
    .options_size = sizeof(struct doctor_options),
    .statuses = statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
