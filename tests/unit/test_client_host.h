/*
 * test_client_host.h - a client whose agent is the test itself: lines in, lines out, and a log of
 * what the program was shown.
 */
#ifndef TESTS_UNIT_TEST_CLIENT_HOST_H
#define TESTS_UNIT_TEST_CLIENT_HOST_H

#include "helpers.h"

#include <inttypes.h>
#include <stdio.h>

#include "acp/client.h"

struct conversation {
    struct acp_client *client;
    struct acp_endpoint *endpoint;
    struct acp_client_options options;
    struct acp_client_session *session; /* the last that was opened */
    struct acp_buf log;                 /* what the program was shown */
    struct acp_buf said;                /* what the client wrote */
    acp_call call;                      /* the last that the agent asked */
    bool closes;                        /* the program closes the connection in its next event */
};

static inline void note(struct conversation *t, const char *format, ...) ACP_PRINTF(2, 3);

static inline void note(struct conversation *t, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_int_equal(acp_buf_append(&t->log, text, strlen(text)), 0);
}

#define SPAN(s) (int) (s).len, (s).ptr ? (s).ptr : ""

/* ---- The program ----------------------------------------------------------------------------- */

static inline void note_option(struct conversation *t, const struct acp_session_config_option *o)
{
    if (o->is == ACP_SESSION_CONFIG_OPTION_SELECT)
        note(t, " %.*s=%.*s", SPAN(o->id), SPAN(o->select.current_value));
    else if (o->is == ACP_SESSION_CONFIG_OPTION_BOOLEAN)
        note(t, " %.*s=%d", SPAN(o->id), o->boolean.current_value);
    else
        note(t, " %.*s?", SPAN(o->id));
}

static inline void on_event(struct acp_client_session *session, const struct acp_event *e,
                            void *user)
{
    static const char *const states[] = {"idle", "running", "blocked"};
    struct conversation *t = user;
    (void) session;
    switch (e->kind) {
    case ACP_EVENT_CHUNK:
        note(t, "chunk %.*s", SPAN(e->block->text.text));
        break;
    case ACP_EVENT_TOOL:
        note(t, "tool %.*s", SPAN(e->tool_id));
        break;
    case ACP_EVENT_COMMANDS:
        note(t, "commands");
        for (size_t i = 0; i < e->commands.count; i++)
            note(t, " %.*s", SPAN(e->commands.items[i].name));
        break;
    case ACP_EVENT_MODES:
        note(t, "modes");
        for (size_t i = 0; i < e->modes.count; i++)
            note(t, " %.*s", SPAN(e->modes.items[i].id));
        note(t, " (%.*s)", SPAN(e->mode));
        break;
    case ACP_EVENT_MODE:
        note(t, "mode %.*s", SPAN(e->mode));
        break;
    case ACP_EVENT_OPTIONS:
        note(t, "options");
        for (size_t i = 0; i < e->options.count; i++)
            note_option(t, &e->options.items[i]);
        break;
    case ACP_EVENT_STATE:
        note(t, "[%s]", states[e->state]);
        break;
    default:
        note(t, "event %d", (int) e->kind);
    }
    if (e->meta.ptr)
        note(t, " meta %.*s", SPAN(e->meta));
    note(t, "\n");
    if (t->closes)
        acp_client_close(t->client, ACP_ERR_CANCELLED);
}

static inline void on_question(struct acp_client_session *session, acp_call call,
                               const struct acp_permission_request *q, void *user)
{
    struct conversation *t = user;
    t->call = call;
    note(t, "may it in %.*s: %.*s (%zu)%s%s\n", SPAN(acp_client_session_id(session)),
         SPAN(q->title), q->options.count, q->tool ? " tool" : "", q->subject ? " subject" : "");
    if (q->subject && q->subject->raw.ptr)
        note(t, "about %.*s\n", SPAN(q->subject->raw));
    if (q->meta.ptr)
        note(t, "meta %.*s\n", SPAN(q->meta));
}

static inline void on_question_gone(struct acp_client_session *session, acp_call call, void *user)
{
    struct conversation *t = user;
    note(t, "gone in %.*s%s\n", SPAN(acp_client_session_id(session)),
         call == t->call ? " (the last)" : "");
}

static inline void on_asked(struct acp_client *client, struct acp_client_session *session,
                            acp_call call, const struct acp_method *method, const void *params,
                            const struct acp_message *message, void *user)
{
    struct conversation *t = user;
    (void) client;
    t->call = call;
    note(t, "asked %.*s%s%s\n", SPAN(message->method), session ? " in a session" : "",
         params ? "" : " raw");
    if (method->id == ACP_METHOD_MCP_MESSAGE) {
        const struct acp_message_mcp_request *request = params;
        note(t, "mcp %.*s %.*s\n", SPAN(request->server_id), SPAN(request->method));
    }
}

static inline void on_protocol_error(struct acp_client *client, enum acp_protocol_error what,
                                     struct acp_str text, void *user)
{
    (void) client;
    (void) text;
    note(user, "trouble %d\n", (int) what);
}

static inline void on_end_session(struct acp_client_session *session, void *user)
{
    struct conversation *t = user;
    note(t, "ended %.*s\n", SPAN(acp_client_session_id(session)));
    if (t->session == session)
        t->session = NULL;
}

static inline void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    note(user, "done %s\n", outcome->err ? acp_err_name(outcome->err) : "well");
}

static inline void on_opened(struct acp_client *client, struct acp_client_session *session,
                             const struct acp_outcome *outcome, void *user)
{
    struct conversation *t = user;
    (void) client;
    if (session)
        t->session = session;
    note(t, "opened %s\n", outcome->err ? acp_err_name(outcome->err) : "well");
}

static inline void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                               const struct acp_outcome *outcome, void *user)
{
    (void) session;
    note(user, "end %.*s\n", ACP_ARG(outcome->err ? acp_str_from("error") : stop->text));
}

/* ---- The conversation ------------------------------------------------------------------------ */

/* Takes what the client has written since. */
static inline void hear(struct conversation *t)
{
    struct acp_str out = acp_endpoint_output(t->endpoint);
    assert_int_equal(acp_buf_append(&t->said, out.ptr, out.len), 0);
    acp_endpoint_sent(t->endpoint, out.len);
}

/* The agent says one line. */
static inline void tell(struct conversation *t, const char *format, ...) ACP_PRINTF(2, 3);

static inline void tell(struct conversation *t, const char *format, ...)
{
    char line[8000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    (void) acp_endpoint_receive(t->endpoint, line, strlen(line), 0);
    (void) acp_endpoint_receive(t->endpoint, "\n", 1, 0);
    hear(t);
}

/* The number of the last request of ours, as it stands in what was written. */
static inline int last_id(struct conversation *t)
{
    hear(t);
    assert_int_equal(acp_buf_append(&t->said, "", 1), 0);
    const char *all = t->said.data + t->said.start;
    const char *at = NULL;
    for (const char *p = all; (p = strstr(p, "\"id\":")); p++)
        at = p;
    acp_buf_truncate(&t->said, t->said.len - 1);
    assert_non_null(at);
    return (int) strtol(at + 5, NULL, 10);
}

/* The agent answers the last request. */
static inline void answer(struct conversation *t, const char *result)
{
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}", last_id(t), result);
}

static inline void refuse(struct conversation *t, int code)
{
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":%d,\"message\":\"No.\"}}",
         last_id(t), code);
}

static inline void update(struct conversation *t, const char *session, const char *update)
{
    tell(t,
         "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"%s\","
         "\"update\":%s}}",
         session, update);
}

static inline void expect_log(struct conversation *t, const char *expected)
{
    assert_int_equal(acp_buf_append(&t->log, "", 1), 0);
    assert_string_equal(t->log.data + t->log.start, expected);
    acp_buf_clear(&t->log);
}

/* What the client has written since the last look holds this text; NULL: it is nothing. */
static inline void expect_said(struct conversation *t, const char *text)
{
    hear(t);
    assert_int_equal(acp_buf_append(&t->said, "", 1), 0);
    const char *said = t->said.data + t->said.start;
    if (text ? !strstr(said, text) : *said != '\0')
        fail_msg("expected %s\nin %s", text ? text : "nothing", said);
    acp_buf_clear(&t->said);
}

static inline struct conversation *conversation_with(const struct acp_client_options *options)
{
    static const struct acp_client_handler handler = {
        .event = on_event,
        .permission = on_question,
        .permission_cancelled = on_question_gone,
        .request = on_asked,
        .protocol_error = on_protocol_error,
        .end_session = on_end_session,
    };
    struct conversation *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->options = *options;
    acp_buf_init(&t->log, 1 << 20);
    acp_buf_init(&t->said, 1 << 20);
    assert_int_equal(acp_client_new(&t->options, &handler, t, &t->client), 0);
    t->endpoint = acp_client_endpoint(t->client);
    return t;
}

static inline struct conversation *conversation_new(unsigned versions)
{
    struct acp_client_options options = {.versions = versions};
    return conversation_with(&options);
}

/* capabilities is what the agent says it can do. */
static inline void conversation_start(struct conversation *t, const char *capabilities)
{
    bool v2 = t->options.versions & ACP_V2;
    char result[2000];
    assert_int_equal(acp_client_initialize(t->client, on_done, t), 0);
    (void) snprintf(result, sizeof(result),
                    v2 ? "{\"protocolVersion\":2,\"info\":{\"name\":\"a\",\"version\":\"1\"},"
                         "\"capabilities\":%s}"
                       : "{\"protocolVersion\":1,\"agentCapabilities\":%s}",
                    capabilities);
    answer(t, result);
    expect_log(t, "done well\n");
    acp_buf_clear(&t->said);
}

static inline struct conversation *conversation_begin(unsigned versions, const char *capabilities)
{
    struct conversation *t = conversation_new(versions);
    conversation_start(t, capabilities);
    return t;
}

/* A new session; result is what the agent answers. */
static inline void conversation_open(struct conversation *t, const char *result)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    answer(t, result);
    acp_buf_clear(&t->said);
}

static inline void conversation_prompt(struct conversation *t)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    assert_int_equal(acp_client_prompt(t->session, &block, 1, on_turn_end, t), 0);
}

static inline void conversation_free(struct conversation *t)
{
    acp_client_free(t->client);
    acp_buf_finish(&t->log);
    acp_buf_finish(&t->said);
    free(t);
}

#endif
