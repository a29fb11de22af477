/*
 * open.c - the agent's process, initialize, and the session: a new one, or the old one again
 * by whatever way the agent has for it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/io.h"
#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "json/members.h"

/* Agents that are fetched when they are first started take their time. */
enum { START_DEFAULT_MS = 120 * 1000 };

void conversation_fail(struct conversation *c, enum error_source source, int64_t code,
                       const char *format, ...)
{
    char message[4000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    free(c->failure);
    c->failure = conversation_copy(acp_str_from(message));
    c->source = source;
    c->code = code;
    conversation_refuse_settings(c, acp_str_from(message));
    conversation_stop_agent(c);
    conversation_wake(c);
}

/* ---- The connection -------------------------------------------------------------------------- */

static void on_stderr(struct acp_str line, void *user)
{
    struct conversation *c = user;
    conversation_note_stderr(c, line);
    if (c->handler->agent_stderr)
        c->handler->agent_stderr(c, line, c->user);
    if (c->options.stderr_is_notices)
        conversation_notice(c, "%.*s", (int) line.len, line.ptr);
}

static void fail_for_end(struct conversation *c, struct acp_str sentence)
{
    const struct acp_outcome closed = {.err = ACP_ERR_CLOSED, .why = sentence};
    char *why = conversation_advise(c, &closed, sentence);
    conversation_fail(c, ERROR_SOURCE_AGENT, 0, "%s", why ? why : acp_err_text(ACP_ERR_NOMEM));
    free(why);
}

/* Everything that was open has been failed before this, with the same sentence. */
static void on_ended(struct acp_str sentence, void *user)
{
    struct conversation *c = user;
    struct agent_connection *connection = c->connection;
    bool expected = c->state == CONVERSATION_ENDING;
    (void) uv_timer_stop(c->deadline);
    conversation_drop_questions(c);
    if (conversation_is_open(c) && !c->stopping)
        conversation_add_texts(c, EVENT_CLOSED, "message", sentence, (const char *) NULL);
    if (!expected && !conversation_is_open(c) && !c->failure)
        fail_for_end(c, sentence);
    c->session = NULL;
    c->connection = NULL;
    conversation_set_state(c, CONVERSATION_DISCONNECTED);
    connection->class->free(connection);
    conversation_forget_options(c);
    conversation_wake(c);
}

const struct agent_connection_handler conversation_connection_handler = {
    .client = &conversation_client_handler,
    .agent_stderr = on_stderr,
    .ended = on_ended,
};

void conversation_stop_agent(struct conversation *c)
{
    if (!c->connection || c->state == CONVERSATION_ENDING)
        return;
    conversation_set_state(c, CONVERSATION_ENDING);
    c->connection->class->stop(c->connection);
}

void conversation_kill_agent(struct conversation *c)
{
    if (!c->connection)
        return;
    if (c->state != CONVERSATION_ENDING)
        conversation_set_state(c, CONVERSATION_ENDING);
    c->connection->class->kill(c->connection);
    acp_process_kill_all();
}

/* ---- The session ----------------------------------------------------------------------------- */

static void open_session(struct conversation *c, const char *tried, struct acp_str why);

/* What the agent answered; when it has gone instead, the sentence tells all that is to be said. */
static void fail_for_agent(struct conversation *c, const struct acp_outcome *outcome,
                           const char *what)
{
    struct acp_str agent = c->options.agent;
    char *why = conversation_advise(c, outcome, outcome->why);
    const char *reason = why ? why : acp_err_text(ACP_ERR_NOMEM);
    if (outcome->err == ACP_ERR_CLOSED)
        conversation_fail(c, ERROR_SOURCE_AGENT, 0, "%s", reason);
    else
        conversation_fail(c, ERROR_SOURCE_AGENT, outcome->code, "%.*s %s: %s", ACP_ARG(agent), what,
                          reason);
    free(why);
}

/* A call of ours that the client role did not even send. */
static void fail_for_us(struct conversation *c, int err)
{
    struct acp_str why = acp_client_error_text(conversation_client(c));
    if (!why.len)
        why = acp_str_from(acp_err_text(err));
    conversation_fail(c, ERROR_SOURCE_USER, 0, "%.*s", (int) why.len, why.ptr);
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
static void fail_for_login(struct conversation *c)
{
    struct acp_client *client = conversation_client(c);
    const struct acp_initialize_response *agent = acp_client_initialize_response(client);
    struct acp_buf methods;
    acp_buf_init(&methods, 2000);
    for (size_t i = 0; agent && i < agent->auth_methods.count; i++) {
        struct acp_str name = method_name(&agent->auth_methods.items[i]);
        (void) acp_buf_printf(&methods, "%s%.*s", i ? ", " : "", (int) name.len, name.ptr);
    }
    struct acp_str hint = c->options.login_hint;
    conversation_fail(c, ERROR_SOURCE_USER, ACP_ERROR_CODE_AUTHENTICATION_REQUIRED,
                      "%.*s needs a login first%s%.*s%s%.*s", ACP_ARG(c->options.agent),
                      methods.len ? ", by one of: " : "", ACP_ARG(acp_buf_view(&methods)),
                      hint.len ? "; " : "", ACP_ARG(hint));
    acp_buf_finish(&methods);
}

static void add_opened(struct conversation *c, const char *how)
{
    struct acp_client *client = conversation_client(c);
    const struct acp_initialize_response *agent = acp_client_initialize_response(client);
    unsigned mode = acp_client_protocol(client);
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("agent"));
    acp_json_write_str(&w, c->options.agent);
    acp_json_write_key(&w, acp_str_from("protocol"));
    acp_json_write_u64(&w, mode & ACP_V2 ? 2 : 1);
    acp_json_write_key(&w, acp_str_from("agentSession"));
    acp_json_write_str(&w, acp_str_from(c->agent_session));
    acp_json_write_key(&w, acp_str_from("cwd"));
    acp_json_write_str(&w, c->options.place.cwd);
    acp_json_write_key(&w, acp_str_from("how"));
    acp_json_write_str(&w, acp_str_from(how));
    if (c->options.fork_of.len && strcmp(how, "forked") == 0)
        acp_json_put_str(&w, "forkedFrom", c->options.fork_of);
    const struct acp_implementation *info = agent->agent_info;
    if (acp_is_set(info) && info->name.ptr) {
        acp_json_write_key(&w, acp_str_from("info"));
        (void) acp_encode(ACP_TYPE_IMPLEMENTATION, mode, info, &w, NULL);
    }
    acp_json_end_object(&w);
    if (!w.err)
        conversation_add_event(c, EVENT_OPENED, 0, acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

/* The session is open: the workspace serves it, and it is set as the owner wants it. */
static void session_is_open(struct conversation *c, struct acp_client_session *session,
                            const char *how)
{
    struct acp_failure failure = {0};
    struct acp_str id = acp_client_session_id(session);
    c->session = session;
    c->was_open = true;
    char *copy = conversation_copy(id);
    if (copy) {
        free(c->agent_session);
        c->agent_session = copy;
    }
    if (acp_workspace_open(c->workspace, session, c->options.place.cwd,
                           c->options.place.directories, &failure))
        conversation_notice(c, "no files can be served: %s", failure.message);
    struct store_change change = {.agent_session = id};
    if (c->log)
        (void) store_log_change(c->log, &change);
    add_opened(c, how);
    conversation_set_state(c, CONVERSATION_SETTING);
    conversation_want_settings(c);
    conversation_wake(c); /* what the answer said of modes and options comes before the next step */
}

static void on_new(struct acp_client *client, struct acp_client_session *session,
                   const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_OPENING)
        return;
    if (session) {
        const struct acp_new_session_response *answer = outcome->value;
        conversation_note_models(c, answer->unknown);
        session_is_open(c, session, c->agent_session ? "reopened" : "new");
    } else if (outcome->code == ACP_ERROR_CODE_AUTHENTICATION_REQUIRED) {
        fail_for_login(c);
    } else {
        fail_for_agent(c, outcome, "opened no session");
    }
}

static void new_session(struct conversation *c)
{
    struct acp_client *client = conversation_client(c);
    int err = acp_client_set_meta(client, c->options.session_meta);
    if (!err)
        err = acp_client_new_session(client, &c->options.place, on_new, c);
    (void) acp_client_set_meta(client, (struct acp_raw){0});
    if (err)
        fail_for_us(c, err);
}

static void on_loaded(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_LOADING)
        return;
    if (session)
        session_is_open(c, session, "loaded");
    else if (outcome->code == ACP_ERROR_CODE_AUTHENTICATION_REQUIRED)
        fail_for_login(c);
    else
        open_session(c, "load", outcome->why);
}

static void on_resumed(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_OPENING)
        return;
    if (session)
        session_is_open(c, session, "resumed");
    else if (outcome->code == ACP_ERROR_CODE_AUTHENTICATION_REQUIRED)
        fail_for_login(c);
    else
        open_session(c, "resume", outcome->why);
}

static void on_forked(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_OPENING)
        return;
    if (session)
        session_is_open(c, session, "forked");
    else if (outcome->code == ACP_ERROR_CODE_AUTHENTICATION_REQUIRED)
        fail_for_login(c);
    else
        fail_for_agent(c, outcome, "cannot fork the session");
}

static void fork_session(struct conversation *c)
{
    int err = acp_client_fork_session(conversation_client(c), acp_str_from(c->agent_session),
                                      &c->options.place, on_forked, c);
    if (err == ACP_ERR_STATE)
        conversation_fail(c, ERROR_SOURCE_AGENT, 0,
                          "%.*s cannot fork a session: it does not offer session/fork",
                          (int) c->options.agent.len, c->options.agent.ptr);
    else if (err)
        fail_for_us(c, err);
}

/* The session is lost for the agent; why is empty if it offers no way to continue one. */
static void reopen_session(struct conversation *c, struct acp_str why)
{
    struct acp_str agent = c->options.agent;
    if (c->options.must_continue && !c->was_open) {
        if (!why.len)
            why = acp_str_from("it offers neither session/resume nor session/load");
        conversation_fail(c, ERROR_SOURCE_AGENT, 0, "%.*s cannot continue the session: %.*s",
                          (int) agent.len, agent.ptr, (int) why.len, why.ptr);
        return;
    }
    conversation_notice(
        c,
        "%.*s cannot go on with the session as it was%s%.*s%s; it knows nothing of what "
        "was said, but our log of it is complete",
        (int) agent.len, agent.ptr, why.len ? " (" : "", (int) why.len, why.ptr,
        why.len ? ")" : "");
    new_session(c);
}

/*
 * Opens the session: by resuming it, else by loading it (we have its history already), else a new
 * one.  tried is what has failed, and why; NULL at first.
 */
static void open_session(struct conversation *c, const char *tried, struct acp_str why)
{
    struct acp_client *client = conversation_client(c);
    if (c->state != CONVERSATION_OPENING)
        conversation_set_state(c, CONVERSATION_OPENING);
    if (!c->agent_session) {
        new_session(c);
        return;
    }
    if (c->options.fork_of.len && !c->was_open) {
        fork_session(c);
        return;
    }
    struct acp_str id = acp_str_from(c->agent_session);
    if (!tried && acp_client_resume_session(client, id, &c->options.place, on_resumed, c) == 0)
        return;
    bool load = !tried || strcmp(tried, "resume") == 0;
    if (load && acp_client_load_session(client, id, &c->options.place, on_loaded, c) == 0) {
        conversation_set_state(c, CONVERSATION_LOADING);
        return;
    }
    reopen_session(c, why);
}

static void on_logged_in(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_LOGGING_IN)
        return;
    if (outcome->err)
        conversation_fail(c, ERROR_SOURCE_USER, outcome->code, "%.*s did not take the login: %.*s",
                          (int) c->options.agent.len, c->options.agent.ptr, (int) outcome->why.len,
                          outcome->why.ptr);
    else
        open_session(c, NULL, acp_str_from(""));
}

static void log_in(struct conversation *c)
{
    conversation_set_state(c, CONVERSATION_LOGGING_IN);
    struct acp_client *client = conversation_client(c);
    int err = acp_client_authenticate(client, c->options.auth_method, on_logged_in, c);
    if (err)
        fail_for_us(c, err);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) client;
    if (c->state != CONVERSATION_INITIALIZING)
        return;
    const struct acp_initialize_response *agent = outcome->value;
    if (outcome->err)
        fail_for_agent(c, outcome, "does not agree on the protocol");
    else if (c->options.auth_method.len)
        log_in(c);
    else if (c->options.fail_without_login && agent->auth_methods.count)
        fail_for_login(c);
    else
        open_session(c, NULL, acp_str_from(""));
}

/*
 * How long it may take until a prompt can be given; the first prompt may have less time than that.
 */
static uint64_t start_time(const struct conversation *c)
{
    uint64_t ms = c->options.start_ms ? c->options.start_ms : START_DEFAULT_MS;
    const struct queued_prompt *prompt = c->prompts;
    return prompt && prompt->options.timeout_ms && prompt->options.timeout_ms < ms
               ? prompt->options.timeout_ms
               : ms;
}

static void on_too_slow(uv_timer_t *timer)
{
    struct conversation *c = timer->data;
    bool initializing =
        c->state == CONVERSATION_INITIALIZING || c->state == CONVERSATION_LOGGING_IN;
    uint64_t ms = start_time(c);
    if (c->prompts && ms == c->prompts->options.timeout_ms)
        c->prompts->cancelled = CANCELLED_BY_TIMEOUT;
    conversation_fail(c, ERROR_SOURCE_AGENT, 0, "%.*s %s within %g seconds",
                      (int) c->options.agent.len, c->options.agent.ptr,
                      initializing ? "has not answered initialize" : "has not opened a session",
                      (double) ms / 1000);
}

/* Forking is unstable, so only a conversation that has to fork enables that. */
static unsigned client_versions(const struct conversation *c)
{
    unsigned versions = c->options.versions ? c->options.versions : ACP_V1;
    return c->options.fork_of.len && !c->was_open ? versions | ACP_UNSTABLE : versions;
}

void conversation_connect(struct conversation *c)
{
    conversation_forget_stderr(c);
    const struct conversation_options *options = &c->options;
    const struct acp_client_options client = {
        .name = acp_str_from("acp"),
        .title = acp_str_from("acp"),
        .version = acp_str_from(ACP_VERSION),
        .versions = client_versions(c),
        .read_files = !options->no_files,
        .write_files = !options->no_files,
        .terminals = !options->no_terminals,
        .forms = true,
        .urls = true,
    };
    struct acp_failure failure = {0};
    int err = options->endpoint->connect(options->endpoint, c->loop, &client, &c->connection_user,
                                         &c->connection, &failure);
    if (err) {
        conversation_fail(c, ERROR_SOURCE_USER, 0, "%s",
                          *failure.message ? failure.message : acp_err_text(err));
        return;
    }
    conversation_set_state(c, CONVERSATION_INITIALIZING);
    if (c->paused)
        c->connection->class->pause(c->connection, true);
    (void) uv_timer_start(c->deadline, on_too_slow, start_time(c), 0);
    err = acp_client_initialize(conversation_client(c), on_ready, c);
    if (err)
        conversation_fail(c, ERROR_SOURCE_ACP, 0, "%s", acp_err_text(err));
}
