/*
 * prompt.c - acp prompt [AGENT] PROMPT: sends a prompt to a persistent session.
 *
 * A daemon keeps the agent of the session running.  This command starts the daemon if necessary,
 * queues the prompt there, and shows the updates of its turn.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/daemon_connect.h"
#include "cmd/prompt_run.h"
#include "config/paths.h"
#include "json/members.h"

struct prompt_command_options {
    struct agent_flags agent;
    struct conversation_flags conversation;
    struct session_flags session;
    struct queue_flags queue;
};

enum { TTL_DEFAULT_MS = 300 * 1000 };

struct prompt {
    struct prompt_run run;
    const struct prompt_command_options *options;
    char socket[DAEMON_PATH_SIZE];
    struct daemon_client *client;
    uv_timer_t patience; /* after the second Ctrl-C */
};

static void leave(struct prompt *prompt)
{
    daemon_client_free(prompt->client);
    prompt->client = NULL;
    terminal_front_close(prompt->run.front);
    uv_close((uv_handle_t *) &prompt->patience, NULL);
}

/* ---- From the daemon ------------------------------------------------------------------------- */

static void on_event(struct daemon_client *client, const struct session_event *event, void *user)
{
    struct prompt *prompt = user;
    (void) client;
    if (!prompt_run_event(&prompt->run, event))
        (void) daemon_client_request(prompt->client, "daemon/cancel_own", NULL, NULL);
    if (terminal_front_flush(prompt->run.front))
        return;
    /* Our reader has gone; the turn continues in the daemon. */
    prompt->run.status = EXIT_FAILED;
    leave(prompt);
}

static void on_queued(struct daemon_client *client, uint64_t request, uint64_t ahead, void *user)
{
    struct prompt *prompt = user;
    char line[80];
    (void) client;
    (void) request;
    (void) snprintf(line, sizeof(line), "[queued] behind %llu other prompt%s",
                    (unsigned long long) ahead, ahead == 1 ? "" : "s");
    (void) renderer_note(terminal_front_renderer(prompt->run.front), acp_str_from(line));
    (void) terminal_front_flush(prompt->run.front);
}

static void on_question(struct daemon_client *client, const struct permission_question *question,
                        void *user)
{
    struct prompt *prompt = user;
    (void) client;
    terminal_front_question(prompt->run.front, question);
}

static void on_elicitation(struct daemon_client *client,
                           const struct elicitation_question *question, void *user)
{
    struct prompt *prompt = user;
    (void) client;
    terminal_front_elicitation(prompt->run.front, question);
}

static void on_question_gone(struct daemon_client *client, uint64_t number, void *user)
{
    struct prompt *prompt = user;
    (void) client;
    terminal_front_question_gone(prompt->run.front, number);
}

static int send_prompt(struct prompt *prompt);

static void on_done(struct daemon_client *client, int err, struct acp_raw result,
                    struct acp_str why, void *user)
{
    struct prompt *prompt = user;
    struct acp_arena arena;
    struct prompt_end end = {.kind = PROMPT_REFUSED, .message = why};
    uint64_t request = 0;
    (void) client;
    acp_arena_init(&arena, 0);
    if (!err && daemon_read_end(result, &arena, &request, &end))
        end.message = acp_str_from("the daemon of the session is of another version of acp");
    bool again = prompt_run_ended(&prompt->run, &end);
    acp_arena_finish(&arena);
    if (again && send_prompt(prompt) == 0)
        return;
    (void) renderer_end(terminal_front_renderer(prompt->run.front),
                        prompt_run_answer(&prompt->run));
    leave(prompt);
}

/* --no-wait: done once the prompt is queued. */
static void on_placed(struct daemon_client *client, int err, struct acp_raw result,
                      struct acp_str why, void *user)
{
    struct prompt *prompt = user;
    uint64_t request = 0;
    (void) client;
    (void) acp_json_member_u64(result, "turn", &request);
    struct acp_str id = prompt->run.setup.conversation.session;
    if (err) {
        err_message("%.*s", (int) why.len, why.ptr);
        prompt->run.status = EXIT_FAILED;
    } else if (prompt->run.setup.format == RENDER_JSON) {
        out_printf("{\"action\":\"prompt_queued\",\"session\":\"%.*s\",\"request\":%llu}\n",
                   (int) id.len, id.ptr, (unsigned long long) request);
    } else if (prompt->run.setup.format == RENDER_TEXT) {
        out_printf("[queued] %llu\n", (unsigned long long) request);
    }
    leave(prompt);
}

static void on_gone(struct daemon_client *client, void *user)
{
    struct prompt *prompt = user;
    (void) client;
    if (prompt->run.status == EXIT_OK)
        prompt->run.status = EXIT_FAILED;
    leave(prompt);
}

/* ---- From the user --------------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct prompt *prompt = user;
    daemon_client_answer(prompt->client, number, option);
}

static void on_elicited(uint64_t number, struct acp_raw response, void *user)
{
    struct prompt *prompt = user;
    daemon_client_respond(prompt->client, number, response);
}

static void on_no_patience(uv_timer_t *timer)
{
    leave(timer->data);
}

/*
 * The daemon cancels the turn and reports its end.  After a second Ctrl-C it kills the agent; it
 * has a moment to say so.
 */
static void on_interrupt(bool again, void *user)
{
    struct prompt *prompt = user;
    enum { PATIENCE_MS = 150 };
    prompt->run.status = EXIT_INTERRUPTED;
    if (!prompt->client)
        return;
    int err = again ? daemon_client_kill(prompt->client)
                    : daemon_client_request(prompt->client, "daemon/cancel_own", NULL, NULL);
    if (err)
        leave(prompt);
    else if (again)
        (void) uv_timer_start(&prompt->patience, on_no_patience, PATIENCE_MS, 0);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int send_prompt(struct prompt *prompt)
{
    struct prompt_request wire = {
        .body = prompt_run_body(&prompt->run),
        .timeout_ms = prompt_run_timeout(&prompt->run),
        .permit = prompt->run.setup.permit,
        .ask = terminal_front_can_ask(prompt->run.front),
        .wait = !prompt->options->queue.no_wait,
    };
    return daemon_client_prompt(prompt->client, &wire, wire.wait ? on_done : on_placed, prompt);
}

static int start(struct prompt *prompt, struct acp_failure *failure)
{
    static const struct daemon_client_handler handler = {
        .event = on_event,
        .queued = on_queued,
        .question = on_question,
        .elicitation = on_elicitation,
        .question_gone = on_question_gone,
        .gone = on_gone,
    };
    static const struct terminal_front_handler front_handler = {.answer = on_answer,
                                                                .elicited = on_elicited,
                                                                .interrupt = on_interrupt};
    int64_t configured = config_number(prompt->run.setup.config, CONFIG_TTL);
    uint64_t ttl_ms = prompt->options->queue.ttl.given ? prompt->options->queue.ttl.value
                      : configured >= 0                ? (uint64_t) configured
                                                       : TTL_DEFAULT_MS;
    int err = daemon_connect(&prompt->run.setup, prompt->socket, &ttl_ms, &prompt->run.loop,
                             &handler, prompt, &prompt->client, failure);
    if (!err)
        err = prompt_run_open(&prompt->run, &prompt->options->agent, &front_handler, prompt);
    return err ? err : send_prompt(prompt);
}

static int run_loop(struct prompt *prompt)
{
    struct prompt_run *run = &prompt->run;
    struct acp_failure failure = {0};
    if (uv_loop_init(&run->loop))
        return EXIT_FAILED;
    (void) uv_timer_init(&run->loop, &prompt->patience);
    prompt->patience.data = prompt;
    int err = start(prompt, &failure);
    if (err) {
        err_message("%s", *failure.message ? failure.message : acp_err_text(err));
        run->status = EXIT_FAILED;
        daemon_client_free(prompt->client);
        if (run->front)
            terminal_front_close(run->front);
        uv_close((uv_handle_t *) &prompt->patience, NULL);
    }
    (void) uv_run(&run->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&run->loop);
    return prompt_run_close(run);
}

/* A session that was closed is opened again; one that is to be forked, or is missing, is made. */
static int open_session(struct prompt *prompt, struct acp_failure *failure)
{
    struct prompt_run *run = &prompt->run;
    struct conversation_setup *c = &run->setup;
    const char *name = prompt->options->session.session;
    if (prompt_run_continues(run))
        return run->session.closed ? session_reopen(c, &run->session, failure) : 0;
    /* Another command may have made it since we looked. */
    int err =
        run->has_session ? ACP_ERR_MISSING : session_find_open(c, name, &run->session, failure);
    if (err == ACP_ERR_MISSING)
        return session_make(c, name, failure);
    return err ? err : session_continue(c, &run->session);
}

/* The lock prevents two commands that start at the same time from each making a session. */
static int find_session(struct prompt *prompt)
{
    struct conversation_setup *c = &prompt->run.setup;
    struct acp_failure failure = {0};
    const char *path = conversation_setup_store_path(c);
    int lock = path ? paths_lock_file(path) : -1;
    int err = open_session(prompt, &failure);
    if (lock >= 0)
        (void) close(lock);
    if (err)
        err_message("%s", *failure.message ? failure.message : acp_err_text(err));
    return err ? EXIT_FAILED : daemon_find_socket(c, prompt->socket);
}

static int run(const struct invocation *invocation)
{
    struct prompt prompt = {.options = invocation->options};
    const struct prompt_run_plan plan = {.selection = &prompt.options->session};
    int status = prompt_run_prepare(&prompt.run, invocation, &prompt.options->agent,
                                    &prompt.options->conversation, &plan);
    /* The built-in agent reports the model that it chose on standard error, for the user. */
    prompt.run.setup.conversation.stderr_is_notices = prompt.run.setup.own_agent;
    if (!status)
        status = find_session(&prompt);
    if (!status)
        status = run_loop(&prompt);
    prompt_run_finish(&prompt.run);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_group groups[] = {
    {session_flag_rows, offsetof(struct prompt_command_options, session)},
    {queue_flag_rows, offsetof(struct prompt_command_options, queue)},
    {conversation_flag_rows, offsetof(struct prompt_command_options, conversation)},
    {agent_flag_rows, offsetof(struct prompt_command_options, agent)},
    {0},
};

static const struct example examples[] = {
    {"acp prompt claude \"add a test for the parser\"", "starts a session in this folder"},
    {"acp claude \"and one for empty input\"", "continues it; `prompt` may be omitted"},
    {"acp prompt claude -s docs --no-wait \"write the README\"",
     "queues a prompt in the session named docs and returns"},
    {0},
};

const struct command command_prompt = {
    .name = "prompt",
    .summary = "send a prompt to a persistent session",
    .description =
        "Continues the session of this agent in the current directory or the nearest parent, up to "
        "the root of the git repository. If there is none, a session is started in the current "
        "directory. Use *--session* to keep several sessions by name.\n\n"
        "A daemon keeps the agent running for some time after the answer (*--ttl*), so that the "
        "next prompt does not have to start it. Prompts from several commands are queued. An agent "
        "that has exited is restarted and the session resumed or loaded. If the agent supports "
        "neither, a message says so; the earlier turns are still in the log.\n\n"
        "*acp-cancel*(1), *acp-set-mode*(1), *acp-set*(1) and *acp-status*(1) act on the running "
        "session.",
    .arguments = prompt_run_arguments,
    .options = groups,
    .options_size = sizeof(struct prompt_command_options),
    .examples = examples,
    .statuses = prompt_run_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
