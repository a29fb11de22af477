/*
 * control.c - acp cancel, set-mode, set, status: act on a session through its daemon.
 *
 * set-mode and set start the daemon if necessary, because the agent has to apply the setting.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/daemon_connect.h"
#include "json/members.h"

struct control_options {
    struct agent_flags agent;
    struct session_flags session;
};

struct control {
    const struct control_options *options;
    struct conversation_setup setup;
    char socket[DAEMON_PATH_SIZE];
    uv_loop_t loop;
    struct daemon_client *client;
    const char *name;
    const char *value;
    int status;
};

/* ---- Shared ---------------------------------------------------------------------------------- */

static void ignore_event(struct daemon_client *client, const struct session_event *event,
                         void *user)
{
    (void) client;
    (void) event;
    (void) user;
}

static void leave(struct control *control)
{
    daemon_client_free(control->client);
    control->client = NULL;
}

static void on_gone(struct daemon_client *client, void *user)
{
    (void) client;
    leave(user);
}

/* One line of JSON: the action, the session, and the members that `write` adds. */
static void print_json(const struct control *control, const char *action,
                       void (*write)(struct acp_json_writer *w, const void *more), const void *more)
{
    struct acp_buf line;
    struct acp_json_writer w;
    acp_buf_init(&line, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &line);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "action", action);
    acp_json_put_str(&w, "session",
                     control->setup.conversation.in_store ? control->setup.conversation.session
                                                          : acp_str_from("unknown"));
    if (write)
        write(&w, more);
    acp_json_end_object(&w);
    if (!w.err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
}

/* EXIT_NO_SESSION, without a message, if there is none. */
static int find_session(struct control *control, const struct invocation *invocation,
                        const struct conversation_flags *options)
{
    struct conversation_setup *c = &control->setup;
    const struct agent_flags *agent = &control->options->agent;
    const struct session_wish wish = {.name = control->options->session.session};
    struct store_session session;
    bool is_found = false;
    int status = conversation_setup_configure(c, agent);
    if (!status)
        status = session_choose(c, invocation, agent, &wish, &session, &is_found);
    if (!status)
        status = conversation_setup_complete(c, options);
    if (status || !is_found)
        return status ? status : EXIT_NO_SESSION;
    int err = session_continue(c, &session);
    if (err)
        err_message("cannot continue the session: %s", acp_err_text(err));
    return err ? EXIT_FAILED : EXIT_OK;
}

/* Finds the session and connects to its daemon; with `start`, starts the daemon if necessary. */
static int open_visit(struct control *control, const struct invocation *invocation, bool start)
{
    static const struct daemon_client_handler handler = {.event = ignore_event, .gone = on_gone};
    static const struct conversation_flags nothing;
    struct conversation_setup *c = &control->setup;
    struct acp_failure failure = {0};
    int64_t configured;
    control->options = invocation->options;
    int status = find_session(control, invocation, start ? &nothing : NULL);
    if (!status)
        status = daemon_find_socket(c, control->socket);
    if (status)
        return status;
    configured = config_number(c->config, CONFIG_TTL);
    uint64_t ttl_ms = configured >= 0 ? (uint64_t) configured : 300000;
    int err = daemon_connect(c, control->socket, start ? &ttl_ms : NULL, &control->loop, &handler,
                             control, &control->client, &failure);
    if (err && err != ACP_ERR_CLOSED) {
        err_message("%s", failure.message);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static int say_no_session(const struct control *control)
{
    const char *name = control->options->session.session;
    bool is_own = control->setup.own_agent;
    err_message("no open session of %s here%s%s; start one with 'acp prompt%s%s'",
                control->setup.agent.name, name ? " named " : "", name ? name : "",
                is_own ? "" : " ", is_own ? "" : control->setup.agent.name);
    return EXIT_NO_SESSION;
}

/* Runs a command: connect, send the request, and run the loop until the response. */
static int run_control(struct control *control, const struct invocation *invocation, bool start,
                       int (*ask)(struct control *control))
{
    if (uv_loop_init(&control->loop))
        return EXIT_FAILED;
    control->status = open_visit(control, invocation, start);
    if (control->status == EXIT_NO_SESSION && start)
        control->status = say_no_session(control);
    if (control->status == EXIT_OK || (control->status == EXIT_NO_SESSION && !start))
        control->status = ask(control);
    (void) uv_run(&control->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&control->loop);
    conversation_setup_finish(&control->setup);
    return control->status;
}

static const struct option_group groups[] = {
    {session_flag_rows, offsetof(struct control_options, session)},
    {agent_flag_rows, offsetof(struct control_options, agent)},
    {0},
};

/* ---- cancel ---------------------------------------------------------------------------------- */

static void write_cancelled(struct acp_json_writer *w, const void *more)
{
    const bool *cancelled = more;
    acp_json_put_bool(w, "cancelled", *cancelled);
}

static void print_cancelled(const struct control *control, bool cancelled)
{
    if (control->setup.format == RENDER_JSON)
        print_json(control, "cancel_result", write_cancelled, &cancelled);
    else
        out_printf("%s\n", cancelled ? "cancel requested" : "nothing to cancel");
}

static void on_cancelled(struct daemon_client *client, int err, struct acp_raw result,
                         struct acp_str why, void *user)
{
    struct control *control = user;
    bool cancelled = false;
    (void) client;
    if (err) {
        err_message("%.*s", (int) why.len, why.ptr);
        control->status = EXIT_FAILED;
    } else {
        (void) acp_json_member_bool(result, "cancelled", &cancelled);
        print_cancelled(control, cancelled);
    }
    leave(control);
}

static int ask_cancel(struct control *control)
{
    if (!control->client) {
        print_cancelled(control, false);
        return EXIT_OK;
    }
    return daemon_client_request(control->client, "daemon/cancel", on_cancelled, control)
               ? EXIT_FAILED
               : EXIT_OK;
}

static int run_cancel(const struct invocation *invocation)
{
    struct control control = {0};
    return run_control(&control, invocation, false, ask_cancel);
}

const struct command command_cancel = {
    .name = "cancel",
    .summary = "cancel the running turn of a session",
    .description = "Asks the agent to stop. The turn ends as cancelled, the session stays open, "
                   "and queued prompts run next.",
    .options = groups,
    .options_size = sizeof(struct control_options),
    .agent = AGENT_ARGUMENT,
    .run = run_cancel,
};

/* ---- set-mode and set ------------------------------------------------------------------------ */

static void write_setting(struct acp_json_writer *w, const void *more)
{
    const struct control *control = more;
    acp_json_put_text(w, "name", control->name);
    acp_json_put_text(w, "value", control->value);
}

static void on_set(struct daemon_client *client, int err, struct acp_raw result, struct acp_str why,
                   void *user)
{
    struct control *control = user;
    bool is_mode = strcmp(control->name, "mode") == 0;
    (void) client;
    (void) result;
    if (err) {
        err_message("cannot set %s to %s: %.*s", control->name, control->value, (int) why.len,
                    why.ptr);
        control->status = EXIT_FAILED;
    } else if (control->setup.format == RENDER_JSON) {
        print_json(control, is_mode ? "mode_set" : "config_set", write_setting, control);
    } else if (control->setup.format == RENDER_QUIET) {
        out_printf("%s\n", control->value);
    } else {
        out_printf(is_mode ? "%s set: %s\n" : "config set: %s=%s\n", control->name, control->value);
    }
    leave(control);
}

static int ask_set(struct control *control)
{
    return daemon_client_set(control->client, acp_str_from(control->name),
                             acp_str_from(control->value), on_set, control)
               ? EXIT_FAILED
               : EXIT_OK;
}

static int run_set_mode(const struct invocation *invocation)
{
    struct control control = {.name = "mode", .value = invocation->arguments[0]};
    return run_control(&control, invocation, true, ask_set);
}

static int run_set(const struct invocation *invocation)
{
    struct control control = {.name = invocation->arguments[0], .value = invocation->arguments[1]};
    return run_control(&control, invocation, true, ask_set);
}

static const struct argument mode_arguments[] = {{.name = "MODE", .kind = OPTION_MODE}, {0}};
static const struct argument set_arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT}, {.name = "VALUE", .kind = OPTION_TEXT}, {0}};

static const struct exit_status set_statuses[] = {
    {"There is no such session.", EXIT_NO_SESSION},
    {0},
};

const struct command command_set_mode = {
    .name = "set-mode",
    .summary = "change the mode of a session",
    .description = "Sets the mode in the agent, which is started if necessary. The mode is stored "
                   "and set again when the session is reopened.",
    .arguments = mode_arguments,
    .options = groups,
    .options_size = sizeof(struct control_options),
    .statuses = set_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run_set_mode,
};

const struct command command_set = {
    .name = "set",
    .summary = "change a configuration option of a session, such as the model",
    .description = "_NAME_ is *model* or the id of one of the agent's configuration options; "
                   "switches take *true* and *false*. The value is stored like the mode.",
    .arguments = set_arguments,
    .options = groups,
    .options_size = sizeof(struct control_options),
    .statuses = set_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run_set,
};

/* ---- status ---------------------------------------------------------------------------------- */

struct snapshot {
    const char *state;
    const char *note; /* what it means for the user, or NULL */
    struct daemon_status status;
};

static void write_snapshot(struct acp_json_writer *w, const void *more)
{
    const struct snapshot *snapshot = more;
    const struct daemon_status *status = &snapshot->status;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"pid", status->pid},
                   {"agentPid", status->agent_pid},
                   {"turn", status->turn},
                   {"queued", status->queued},
                   {"idleMs", status->idle_ms}};
    acp_json_put_text(w, "status", snapshot->state);
    for (size_t i = 0; status->pid && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        acp_json_put_u64(w, numbers[i].name, numbers[i].value);
    if (status->agent_session.len) {
        acp_json_put_str(w, "agentSession", status->agent_session);
    }
}

static void print_snapshot(const struct control *control, const struct snapshot *snapshot)
{
    const struct conversation_setup *c = &control->setup;
    const struct daemon_status *status = &snapshot->status;
    if (c->format == RENDER_JSON) {
        print_json(control, "status_snapshot", write_snapshot, snapshot);
        return;
    }
    if (c->format == RENDER_QUIET) {
        out_printf("%s\n", snapshot->state);
        return;
    }
    out_row("session: %.*s", c->conversation.in_store ? (int) c->conversation.session.len : 1,
            c->conversation.in_store ? c->conversation.session.ptr : "-");
    out_row("agent: %s", c->agent.name);
    out_row("status: %s", snapshot->state);
    if (snapshot->note)
        out_row("note: %s", snapshot->note);
    if (!status->pid)
        return;
    out_printf("pid: %llu\n", (unsigned long long) status->pid);
    if (status->agent_pid)
        out_printf("agent pid: %llu\n", (unsigned long long) status->agent_pid);
    out_printf("prompts queued: %llu\nidle: %llu s\n", (unsigned long long) status->queued,
               (unsigned long long) status->idle_ms / 1000);
}

static void on_status(struct daemon_client *client, int err, struct acp_raw result,
                      struct acp_str why, void *user)
{
    struct control *control = user;
    struct snapshot snapshot = {.state = "not-responding",
                                .note = "the daemon did not answer; `acp sessions close` ends it"};
    struct acp_arena arena;
    (void) client;
    (void) why;
    acp_arena_init(&arena, 0);
    if (!err && daemon_read_status(result, &arena, &snapshot.status) == 0) {
        bool has_agent = snapshot.status.agent_pid != 0;
        snapshot.state = snapshot.status.turn ? "running" : has_agent ? "ready" : "stopped";
        snapshot.note =
            snapshot.status.turn || has_agent
                ? NULL
                : "the agent has exited; the next prompt starts it and continues the session";
    }
    print_snapshot(control, &snapshot);
    acp_arena_finish(&arena);
    leave(control);
}

static int ask_status(struct control *control)
{
    struct snapshot snapshot = {.state =
                                    control->status == EXIT_NO_SESSION ? "no-session" : "idle"};
    if (control->client)
        return daemon_client_request(control->client, "daemon/status", on_status, control)
                   ? EXIT_FAILED
                   : EXIT_OK;
    /* A daemon removes its socket when it ends by itself. */
    if (*control->socket && access(control->socket, F_OK) == 0) {
        snapshot.state = "crashed";
        snapshot.note = "the daemon was killed; what was logged is kept, and the next prompt "
                        "starts a new one";
    }
    print_snapshot(control, &snapshot);
    return EXIT_OK;
}

static int run_status(const struct invocation *invocation)
{
    struct control control = {0};
    return run_control(&control, invocation, false, ask_status);
}

const struct command command_status = {
    .name = "status",
    .summary = "print the state of a session",
    .description =
        "The state is *running* (a turn is running), *ready* (the agent runs and waits for a "
        "prompt), *stopped* (the agent has exited; the next prompt restarts it), *idle* (the "
        "session has no daemon), *crashed* (its daemon was killed; the next prompt starts a new "
        "one) or *no-session*.",
    .options = groups,
    .options_size = sizeof(struct control_options),
    .agent = AGENT_ARGUMENT,
    .run = run_status,
};
