/*
 * open.c - the agent's process, initialize, and the session: a new one, or the old one again
 * by whatever way the agent has for it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"

/* Agents that are fetched when they are first started take their time. */
enum { START_DEFAULT_MS = 120 * 1000 };

/* JSON-RPC code: the agent wants a login first. */
enum { CODE_AUTH_REQUIRED = -32000 };

void talk_fail(struct talk *talk, enum record_whose whose, int64_t code, const char *format, ...)
{
    char message[4000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    free(talk->failure);
    talk->failure = talk_copy(acp_str_from(message));
    talk->whose = whose;
    talk->code = code;
    talk_refuse_settings(talk, acp_str_from(message));
    if (talk->process)
        talk_stop_agent(talk);
    talk_wake(talk);
}

/* ---- The process ----------------------------------------------------------------------------- */

static void on_errors(struct acp_agent_process *process, struct acp_str line, void *user)
{
    struct talk *talk = user;
    (void) process;
    if (talk->options.errors)
        talk->options.errors(talk, line, talk->user);
    if (talk->options.errors_are_notices)
        talk_notice(talk, "%.*s", (int) line.len, line.ptr);
}

/* Everything that was open has been failed before this, with the same sentence. */
static void on_exited(struct acp_agent_process *process, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct talk *talk = user;
    bool expected = talk->state == TALK_ENDING;
    (void) how;
    (void) uv_timer_stop(talk->patience);
    if (!expected && talk->state == TALK_READY && !talk->stopping)
        talk_record_texts(talk, RECORD_CLOSED, "message", sentence, (const char *) NULL);
    if (!expected && talk->state != TALK_READY && !talk->failure)
        talk_fail(talk, WHOSE_AGENT, 0, "%.*s", (int) sentence.len, sentence.ptr);
    talk->session = NULL;
    talk->process = NULL;
    talk->replaying = false;
    talk->state = TALK_DOWN;
    acp_agent_process_free(process);
    talk_forget_options(talk);
    talk_wake(talk);
}

void talk_regulate(struct talk *talk)
{
    if (talk->process)
        acp_agent_process_pause(talk->process, talk->log_pressed || talk->paused);
}

void talk_stop_agent(struct talk *talk)
{
    if (!talk->process)
        return;
    talk->state = TALK_ENDING;
    acp_agent_process_stop(talk->process);
}

/* ---- The session ----------------------------------------------------------------------------- */

static void open_session(struct talk *talk, const char *tried, struct acp_str why);

/* What the agent answered; when it has gone instead, the sentence tells all that is to be said. */
static void fail_for_agent(struct talk *talk, const struct acp_outcome *outcome, const char *what)
{
    struct acp_str agent = talk->options.agent;
    if (outcome->err == ACP_ERR_CLOSED)
        talk_fail(talk, WHOSE_AGENT, 0, "%.*s", (int) outcome->why.len, outcome->why.ptr);
    else
        talk_fail(talk, WHOSE_AGENT, outcome->code, "%.*s %s: %.*s", (int) agent.len, agent.ptr,
                  what, (int) outcome->why.len, outcome->why.ptr);
}

/* A call of ours that the client role did not even send. */
static void fail_for_us(struct talk *talk, int err)
{
    struct acp_str why = acp_client_error_text(acp_agent_process_client(talk->process));
    if (!why.len)
        why = acp_str_from(acp_err_text(err));
    talk_fail(talk, WHOSE_USER, 0, "%.*s", (int) why.len, why.ptr);
}

static struct acp_str method_name(const struct acp_auth_method *method)
{
    switch (method->is) {
    case ACP_AUTH_METHOD_TERMINAL:
        return method->terminal.name;
    case ACP_AUTH_METHOD_AGENT:
        return method->agent.name;
    default:
        return method->other.name;
    }
}

/* What a person can do about it when the agent wants a login. */
static void fail_for_login(struct talk *talk)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    const struct acp_initialize_response *agent = acp_client_initialize_response(client);
    struct acp_buf methods;
    acp_buf_init(&methods, 2000);
    for (size_t i = 0; agent && i < agent->auth_methods.count; i++) {
        struct acp_str name = method_name(&agent->auth_methods.items[i]);
        (void) acp_buf_printf(&methods, "%s%.*s", i ? ", " : "", (int) name.len, name.ptr);
    }
    talk_fail(talk, WHOSE_USER, CODE_AUTH_REQUIRED,
              "%.*s needs a login first%s%.*s; try `acp agents login %.*s`",
              (int) talk->options.agent.len, talk->options.agent.ptr,
              methods.len ? ", by one of: " : "", (int) methods.len,
              methods.len ? methods.data + methods.start : "", (int) talk->options.agent.len,
              talk->options.agent.ptr);
    acp_buf_finish(&methods);
}

static void record_open(struct talk *talk, const char *how)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    const struct acp_initialize_response *agent = acp_client_initialize_response(client);
    unsigned mode = acp_client_protocol(client);
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, RECORD_MAX);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("agent"));
    acp_json_write_str(&w, talk->options.agent);
    acp_json_write_key(&w, acp_str_from("protocol"));
    acp_json_write_u64(&w, mode & ACP_V2 ? 2 : 1);
    acp_json_write_key(&w, acp_str_from("agentSession"));
    acp_json_write_str(&w, acp_str_from(talk->agent_session));
    acp_json_write_key(&w, acp_str_from("cwd"));
    acp_json_write_str(&w, talk->options.place.cwd);
    acp_json_write_key(&w, acp_str_from("how"));
    acp_json_write_str(&w, acp_str_from(how));
    const struct acp_implementation *info = agent->agent_info;
    if (acp_is_set(info) && info->name.ptr) {
        acp_json_write_key(&w, acp_str_from("info"));
        (void) acp_encode(ACP_TYPE_IMPLEMENTATION, mode, info, &w, NULL);
    }
    acp_json_end_object(&w);
    if (!w.err)
        talk_record(talk, RECORD_OPEN, 0, acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

/* The session is open: the workspace serves it, and it is set as the owner wants it. */
static void session_is_open(struct talk *talk, struct acp_client_session *session, const char *how)
{
    struct acp_failure failure = {0};
    struct acp_str id = acp_client_session_id(session);
    talk->session = session;
    talk->replaying = false;
    char *copy = talk_copy(id);
    if (copy) {
        free(talk->agent_session);
        talk->agent_session = copy;
    }
    if (acp_workspace_open(talk->workspace, session, talk->options.place.cwd,
                           talk->options.place.directories, &failure))
        talk_notice(talk, "no files can be served: %s", failure.message);
    struct store_change change = {.agent_session = id};
    if (talk->log)
        (void) store_log_change(talk->log, &change);
    record_open(talk, how);
    talk->state = TALK_SETTING;
    talk_want_settings(talk);
    talk_wake(talk); /* what the answer said of modes and options comes before the next step */
}

static void on_new(struct acp_client *client, struct acp_client_session *session,
                   const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->state != TALK_OPENING)
        return;
    if (session) {
        const struct acp_new_session_response *answer = outcome->value;
        talk_note_models(talk, answer->unknown);
        session_is_open(talk, session, talk->agent_session ? "reopened" : "new");
    } else if (outcome->code == CODE_AUTH_REQUIRED) {
        fail_for_login(talk);
    } else {
        fail_for_agent(talk, outcome, "opened no session");
    }
}

static void new_session(struct talk *talk)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    int err = acp_client_set_meta(client, talk->options.session_meta);
    if (!err)
        err = acp_client_new_session(client, &talk->options.place, on_new, talk);
    (void) acp_client_set_meta(client, (struct acp_raw){0});
    if (err)
        fail_for_us(talk, err);
}

static void on_loaded(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->state != TALK_OPENING)
        return;
    talk->replaying = false;
    if (session)
        session_is_open(talk, session, "loaded");
    else if (outcome->code == CODE_AUTH_REQUIRED)
        fail_for_login(talk);
    else
        open_session(talk, "load", outcome->why);
}

static void on_resumed(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->state != TALK_OPENING)
        return;
    if (session)
        session_is_open(talk, session, "resumed");
    else if (outcome->code == CODE_AUTH_REQUIRED)
        fail_for_login(talk);
    else
        open_session(talk, "resume", outcome->why);
}

/*
 * Opens the session: by resuming it, else by loading it (we have its history already), else a new
 * one.  tried is what has failed, and why; NULL at first.
 */
static void open_session(struct talk *talk, const char *tried, struct acp_str why)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    talk->state = TALK_OPENING;
    if (!talk->agent_session) {
        new_session(talk);
        return;
    }
    struct acp_str id = acp_str_from(talk->agent_session);
    if (!tried &&
        acp_client_resume_session(client, id, &talk->options.place, on_resumed, talk) == 0)
        return;
    if (!tried || strcmp(tried, "resume") == 0) {
        talk->replaying = true;
        if (acp_client_load_session(client, id, &talk->options.place, on_loaded, talk) == 0)
            return;
        talk->replaying = false;
    }
    talk_notice(talk,
                "%.*s cannot go on with the session as it was%s%.*s%s; it knows nothing of what "
                "was said, but our log of it is complete",
                (int) talk->options.agent.len, talk->options.agent.ptr, why.len ? " (" : "",
                (int) why.len, why.ptr, why.len ? ")" : "");
    new_session(talk);
}

static void on_logged_in(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->state != TALK_STARTING)
        return;
    if (outcome->err)
        talk_fail(talk, WHOSE_USER, outcome->code, "%.*s did not take the login: %.*s",
                  (int) talk->options.agent.len, talk->options.agent.ptr, (int) outcome->why.len,
                  outcome->why.ptr);
    else
        open_session(talk, NULL, acp_str_from(""));
}

static void log_in(struct talk *talk)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    int err = acp_client_authenticate(client, talk->options.auth_method, on_logged_in, talk);
    if (err)
        fail_for_us(talk, err);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) client;
    if (talk->state != TALK_STARTING)
        return;
    const struct acp_initialize_response *agent = outcome->value;
    if (outcome->err)
        fail_for_agent(talk, outcome, "does not agree on the protocol");
    else if (talk->options.auth_method.len)
        log_in(talk);
    else if (talk->options.fail_without_login && agent->auth_methods.count)
        fail_for_login(talk);
    else
        open_session(talk, NULL, acp_str_from(""));
}

/*
 * How long it may take until a prompt can be given; the first prompt may have less time than that.
 */
static uint64_t start_time(const struct talk *talk)
{
    uint64_t ms = talk->options.start_ms ? talk->options.start_ms : START_DEFAULT_MS;
    const struct talk_prompt *prompt = talk->prompts;
    return prompt && prompt->options.timeout_ms && prompt->options.timeout_ms < ms
               ? prompt->options.timeout_ms
               : ms;
}

static void on_too_slow(uv_timer_t *timer)
{
    struct talk *talk = timer->data;
    uint64_t ms = start_time(talk);
    if (talk->prompts)
        talk->prompts->timed_out = ms == talk->prompts->options.timeout_ms;
    talk_fail(talk, WHOSE_AGENT, 0, "%.*s %s within %g seconds", (int) talk->options.agent.len,
              talk->options.agent.ptr,
              talk->state == TALK_STARTING ? "has not answered initialize"
                                           : "has not opened a session",
              (double) ms / 1000);
}

void talk_start_agent(struct talk *talk)
{
    const struct talk_options *options = &talk->options;
    struct acp_failure failure = {0};
    struct acp_agent_process_options process = {
        .process = {.argv = options->argv, .env = options->env},
        .client = {.name = acp_str_from("acp"),
                   .title = acp_str_from("acp"),
                   .version = acp_str_from(ACP_VERSION),
                   .versions = options->versions,
                   .read_files = !options->no_files,
                   .write_files = !options->no_files,
                   .terminals = !options->no_terminals},
        .handler = talk_client_handler,
        .user = talk,
        .errors = on_errors,
        .exited = on_exited,
    };
    char *cwd = talk_copy(options->place.cwd);
    process.process.cwd = options->start_cwd ? options->start_cwd : cwd;
    int err = cwd ? acp_agent_process_start(talk->loop, &process, &talk->process, &failure)
                  : ACP_ERR_NOMEM;
    free(cwd);
    if (err) {
        talk_fail(talk, WHOSE_USER, 0, "%s",
                  *failure.message ? failure.message : acp_err_text(err));
        return;
    }
    talk->state = TALK_STARTING;
    talk_regulate(talk);
    (void) uv_timer_start(talk->patience, on_too_slow, start_time(talk), 0);
    err = acp_client_initialize(acp_agent_process_client(talk->process), on_ready, talk);
    if (err)
        talk_fail(talk, WHOSE_ACP, 0, "%s", acp_err_text(err));
}
