/*
 * Fuzzes the client's role as a whole: an agent that says anything, to a client that has a session
 * with a running turn and asks for another one.  Whatever comes, every call ends exactly once and
 * everything is freed.  The first byte chooses the version and what the program does.
 */
#include <stdio.h>

#include "acp/client.h"
#include "fuzz.h"

enum { V2 = 1, UNSTABLE = 2, CLOSES = 4, PERMITS = 8, CANCELS = 16 };

struct program {
    struct acp_client *client;
    unsigned does;
    int begun;
    int ended;
    int sessions;
};

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct program *p = user;
    (void) client;
    CHECK(outcome->err <= 0 && (!outcome->err || outcome->why.len));
    p->ended++;
}

static void on_opened(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    on_done(client, outcome, user);
    CHECK((session != NULL) == (outcome->err == 0));
}

static void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    on_done(acp_client_session_client(session), outcome, user);
    CHECK((stop->text.ptr != NULL) == (outcome->err == 0));
    CHECK((stop->reason != ACP_STOP_NONE) == (outcome->err == 0));
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    struct program *p = user;
    if (event->meta.ptr)
        CHECK(event->meta.ptr[0] == '{');
    if (event->kind == ACP_EVENT_MODES)
        CHECK(event->modes.count == acp_client_session_modes(session).count);
    if (event->kind == ACP_EVENT_TOOL && (p->does & CANCELS))
        p->begun += acp_client_cancel_tool_call(session, event->tool_id, on_done, p) == 0;
    if (event->kind == ACP_EVENT_MODE && (p->does & CANCELS))
        p->begun += acp_client_set_mode(session, event->mode, on_done, p) == 0;
    if (event->kind == ACP_EVENT_OPTIONS && (p->does & CLOSES))
        acp_client_close(p->client, ACP_ERR_CANCELLED);
    if (event->kind == ACP_EVENT_CHUNK && (p->does & CANCELS))
        (void) acp_client_cancel(session);
}

static void on_question(struct acp_client_session *session, acp_call call,
                        const struct acp_permission_request *question, void *user)
{
    struct program *p = user;
    (void) session;
    if ((p->does & PERMITS) && question->options.count)
        CHECK(acp_client_select_permission(p->client, call, question->options.items[0].option_id) ==
              0);
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    (void) session;
    (void) message;
    (void) user;
    CHECK((method->id != ACP_METHOD_NONE) == (params != NULL));
    CHECK(acp_client_respond_error(client, call, -32603, acp_str_from("no"), acp_raw_from(NULL)) ==
          0);
}

static void on_end_session(struct acp_client_session *session, void *user)
{
    (void) session;
    ((struct program *) user)->sessions++;
}

static void tell(struct acp_endpoint *e, const char *line)
{
    struct acp_str out = acp_endpoint_output(e);
    acp_endpoint_sent(e, out.len);
    (void) acp_endpoint_receive(e, line, strlen(line), 0);
}

/* As far as a session with a turn; numbers of requests are given out in order, from 0. */
static void open_session(struct program *p, struct acp_endpoint *e)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    p->begun += acp_client_initialize(p->client, on_done, p) == 0;
    tell(e,
         p->does & V2
             ? "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":2,\"info\":{\"name\":"
               "\"a\",\"version\":\"1\"},\"capabilities\":{\"session\":{\"fork\":{}}}}}\n"
             : "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1,"
               "\"agentCapabilities\":{\"loadSession\":true}}}\n");
    p->begun += acp_client_new_session(p->client, &place, on_opened, p) == 0;
    tell(e,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s\",\"configOptions\":[{"
         "\"id\":\"o\",\"configId\":\"o\",\"name\":\"O\",\"category\":\"mode\",\"type\":"
         "\"select\",\"currentValue\":\"a\",\"options\":[{\"value\":\"a\",\"name\":\"A\"}]}]}}\n");
    struct acp_client_session *session = acp_client_find_session(p->client, acp_str_from("s"));
    if (session)
        p->begun += acp_client_prompt(session, &block, 1, on_turn_end, p) == 0;
    p->begun += acp_client_load_session(p->client, acp_str_from("old"), &place, on_opened, p) == 0;
    p->begun += acp_client_new_session(p->client, &place, on_opened, p) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct acp_client_handler handler = {
        .event = on_event,
        .permission = on_question,
        .request = on_request,
        .end_session = on_end_session,
    };
    if (size < 1)
        return 0;
    struct program p = {.does = data[0]};
    struct acp_client_options options = {.versions = (p.does & V2 ? ACP_V2 : ACP_V1) |
                                                     (p.does & UNSTABLE ? ACP_UNSTABLE : 0),
                                         .read_files = true,
                                         .terminals = true,
                                         .forms = true};
    CHECK(acp_client_new(&options, &handler, &p, &p.client) == 0);
    struct acp_endpoint *e = acp_client_endpoint(p.client);
    open_session(&p, e);
    (void) acp_endpoint_receive(e, data + 1, size - 1, 0);
    acp_endpoint_receive_end(e, 0);
    acp_client_free(p.client);
    CHECK(p.ended == p.begun);
    CHECK((p.does & CLOSES) || p.sessions >= 1);
    return 0;
}
