/* doctor_agents.c - acp doctor: the known and configured agents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/run.h"
#include "acp/types.h"
#include "cli/output.h"
#include "cmd/doctor.h"

enum { AGENT_WAIT_MS = 15000, FETCH_WAIT_MS = 120000, NAMES_SIZE = 700 };

/* Names of agents that are reported together. */
struct names {
    char text[NAMES_SIZE];
    size_t len;
};

struct agent_checks {
    struct doctor *doctor;
    size_t count;          /* agents that have a finding of their own */
    struct names fetched;  /* npx or uvx would start them */
    struct names missing;  /* not installed */
    struct names starting; /* being started */
};

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
        doctor_found(check->doctor, finding, check->label, fix, "%s", sentence);
    check->reported = true;
    (void) uv_timer_stop(&check->timer);
    acp_agent_process_stop(check->process);
}

/* "; ANTHROPIC_API_KEY is set", and the fix if the agent is not logged in; "" if unknown. */
static const char *describe_login(struct doctor *doctor, const struct agent_command *command,
                                  char *out, size_t size)
{
    const char *where = NULL;
    const char *fix = NULL;
    switch (agents_login(doctor->setup.config, command, &where)) {
    case AGENT_LOGIN_KEY:
        (void) snprintf(out, size, "; %.80s is set", where);
        break;
    case AGENT_LOGIN_FILE:
        (void) snprintf(out, size, "; logged in (%.160s)", where);
        break;
    case AGENT_LOGIN_MISSING:
        (void) snprintf(out, size, "; not logged in");
        fix = command->login;
        break;
    case AGENT_LOGIN_UNKNOWN:
        (void) snprintf(out, size, "%s",
                        command->login ? "; whether it is logged in is unknown" : "");
        break;
    }
    return fix;
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct agent_check *check = user;
    const struct acp_initialize_response *agent = outcome->value;
    char sentence[600];
    char login[240] = "";
    if (outcome->err) {
        (void) snprintf(sentence, sizeof(sentence), "%.*s", (int) outcome->why.len,
                        outcome->why.ptr);
        report(check, FINDING_BAD, check->command.install, sentence);
        return;
    }
    bool v2 = acp_client_protocol(client) & ACP_V2;
    const struct acp_implementation *info = agent->agent_info;
    bool named = acp_is_set(info) && info->name.len;
    const char *fix = agents_is_own(&check->command)
                          ? NULL
                          : describe_login(check->doctor, &check->command, login, sizeof(login));
    (void) snprintf(sentence, sizeof(sentence), "answers as %.*s %.*s, protocol version %d%s%s",
                    named && info->name.len < 120 ? (int) info->name.len : 7,
                    named && info->name.len < 120 ? info->name.ptr : "unnamed",
                    named && info->version.len < 80 ? (int) info->version.len : 0,
                    named ? info->version.ptr : "", v2 ? 2 : 1,
                    agent->auth_methods.count ? ", offers a login" : "", login);
    report(check, fix ? FINDING_NOTE : FINDING_GOOD, fix, sentence);
}

static void on_slow(uv_timer_t *timer)
{
    const struct agent_check *check = timer->data;
    report(timer->data, FINDING_BAD, "start it by hand to see what it waits for",
           check->command.fetched ? "started but did not respond to initialize within 2 minutes"
                                  : "started but did not respond to initialize within 15 s");
}

static void on_exited(struct acp_agent_process *process, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct agent_check *check = user;
    (void) how;
    if (!check->reported)
        doctor_found(check->doctor, FINDING_BAD, check->label, check->command.install, "%.*s",
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
        doctor_found(doctor, FINDING_BAD, label, command->install, "%s", failure.message);
        free(check->label);
        free(check);
        return;
    }
    (void) uv_timer_init(&doctor->loop, &check->timer);
    check->timer.data = check;
    (void) uv_timer_start(&check->timer, on_slow, command->fetched ? FETCH_WAIT_MS : AGENT_WAIT_MS,
                          0);
    (void) acp_client_initialize(acp_agent_process_client(check->process), on_ready, check);
}

/* ---- The list ------------------------------------------------------------------------------- */

static void add_name(struct names *names, const char *name)
{
    size_t room = sizeof(names->text) - names->len;
    int n = snprintf(names->text + names->len, room, "%s%s", names->len ? ", " : "", name);
    if (n > 0 && (size_t) n < room)
        names->len += (size_t) n;
    else
        names->text[names->len] = '\0';
}

static bool is_text(const struct doctor *doctor)
{
    return doctor->setup.format != RENDER_JSON;
}

static void check_installed(struct agent_checks *checks, const struct agent_command *command,
                            const char *label)
{
    struct doctor *doctor = checks->doctor;
    char login[240] = "";
    checks->count++;
    if (!doctor->options->no_start) {
        add_name(&checks->starting, command->name);
        return;
    }
    const char *fix = describe_login(doctor, command, login, sizeof(login));
    doctor_found(doctor, fix ? FINDING_NOTE : FINDING_GOOD, label, fix, "%s%s", command->program,
                 login);
}

/*
 * Agents that npx or uvx can fetch share a line, except in JSON, and except for those that are
 * logged in, because they can be used at once.
 */
static void check_fetched(struct agent_checks *checks, const struct agent_command *command,
                          const char *label)
{
    struct doctor *doctor = checks->doctor;
    const char *where = NULL;
    char login[240] = "";
    enum agent_login state = agents_login(doctor->setup.config, command, &where);
    bool logged_in = state == AGENT_LOGIN_KEY || state == AGENT_LOGIN_FILE;
    const char *fix = describe_login(doctor, command, login, sizeof(login));
    if (logged_in || !is_text(doctor))
        doctor_found(doctor, logged_in ? FINDING_GOOD : FINDING_NOTE, label,
                     logged_in ? NULL
                     : fix     ? fix
                               : command->install,
                     "not installed; %s fetches it on first use%s", command->argv[0], login);
    else
        add_name(&checks->fetched, command->name);
}

/* Agents that are not installed, likewise. */
static void check_missing(struct agent_checks *checks, const struct agent_command *command,
                          const char *label)
{
    struct doctor *doctor = checks->doctor;
    if (doctor->only || command->source == AGENT_FROM_CONFIG) {
        checks->count++;
        doctor_found(doctor, FINDING_BAD, label, command->install, "%s is not installed",
                     command->argv[0]);
    } else if (is_text(doctor)) {
        add_name(&checks->missing, command->name);
    } else {
        doctor_found(doctor, FINDING_NOTE, label, command->install, "not installed");
    }
}

static void check_agent(const struct agent_command *command, void *user)
{
    struct agent_checks *checks = user;
    const char *only = checks->doctor->only;
    char label[100];
    if (only ? strcmp(only, command->name) != 0 : agents_is_own(command))
        return;
    (void) snprintf(label, sizeof(label), "agent %.80s", command->name);
    if (command->program && (only || !command->fetched))
        check_installed(checks, command, label);
    else if (command->program)
        check_fetched(checks, command, label);
    else
        check_missing(checks, command, label);
}

/* The second pass, after it has been said what is started. */
static void start_checked(const struct agent_command *command, void *user)
{
    struct agent_checks *checks = user;
    const char *only = checks->doctor->only;
    char label[100];
    bool wanted =
        only ? strcmp(only, command->name) == 0 : !command->fetched && !agents_is_own(command);
    (void) snprintf(label, sizeof(label), "agent %.80s", command->name);
    if (wanted && command->program)
        start_agent(checks->doctor, command, label);
}

static void report_absent(const struct agent_checks *checks)
{
    struct doctor *doctor = checks->doctor;
    if (!is_text(doctor) || doctor->only)
        return;
    if (checks->fetched.len)
        doctor_found(doctor, FINDING_NOTE, "agents that are fetched on first use",
                     "`acp agents show NAME` tells how to install one", "%s", checks->fetched.text);
    if (checks->missing.len)
        doctor_found(doctor, FINDING_NOTE, "agents that are not installed",
                     "`acp agents show NAME` tells how to install one", "%s", checks->missing.text);
}

/* Starting takes time, so it is announced. */
static void start_all(struct agent_checks *checks, struct acp_buf *why)
{
    struct doctor *doctor = checks->doctor;
    if (!checks->starting.len)
        return;
    if (is_text(doctor) && err_is_terminal())
        err_row("starting %s to ask for the version; --no-start skips this", checks->starting.text);
    (void) agents_list(doctor->setup.config, start_checked, checks, why);
    (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
}

/* The agent of a command line. */
static void check_given(struct agent_checks *checks, struct acp_buf *why)
{
    struct doctor *doctor = checks->doctor;
    struct agent_command command;
    const char *line = doctor->options->agent.agent;
    char label[100];
    int err = line ? agents_from_line(doctor->setup.config, line, &command, why)
                   : agents_from_argv(doctor->setup.config, doctor->command, &command, why);
    if (err) {
        doctor_found(doctor, FINDING_BAD, "agent", NULL, "%.*s", (int) why->len,
                     why->len ? why->data + why->start : "");
        return;
    }
    (void) snprintf(label, sizeof(label), "agent %.80s", command.name);
    check_installed(checks, &command, label);
    if (!doctor->options->no_start) {
        start_agent(doctor, &command, label);
        (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
    }
}

void doctor_check_agents(struct doctor *doctor)
{
    struct agent_checks checks = {.doctor = doctor};
    struct acp_reaper *reaper = NULL;
    struct acp_buf why;
    acp_buf_init(&why, 4096);
    (void) acp_reaper_new(&doctor->loop, &reaper);
    if (doctor->command || doctor->options->agent.agent) {
        check_given(&checks, &why);
    } else if (agents_list(doctor->setup.config, check_agent, &checks, &why)) {
        doctor_found(doctor, FINDING_BAD, "agents", "see registry in the configuration", "%.*s",
                     (int) why.len, why.len ? why.data + why.start : "");
    } else if (doctor->only && !checks.count) {
        doctor_found(doctor, FINDING_BAD, "agents", "run `acp agents list` for the known agents",
                     "no agent '%s'", doctor->only);
    } else {
        report_absent(&checks);
        start_all(&checks, &why);
    }
    acp_reaper_free(reaper);
    (void) uv_run(&doctor->loop, UV_RUN_DEFAULT);
    acp_buf_finish(&why);
}
