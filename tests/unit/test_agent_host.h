/*
 * test_agent_host.h - an agent in memory and a client that is nothing but lines: what a test feeds,
 * and what the agent wrote.  Texts of tests have ' for ".
 */
#ifndef TESTS_UNIT_TEST_AGENT_HOST_H
#define TESTS_UNIT_TEST_AGENT_HOST_H

#include "helpers.h"

#include "acp/agent.h"

struct host {
    struct acp_agent *agent;
    struct acp_endpoint *end;
    struct acp_buf wire; /* what the agent wrote since it was last looked at */
    struct acp_session *session;
    struct acp_turn *turn; /* the one that waits */
    uint64_t now;
    int answers; /* to what a turn asked */
    int err;     /* of the last one */
    struct acp_buf log;
};

/* Notes something that a callback was told. */
static inline void host_note(struct host *h, const char *format, ...) ACP_PRINTF(2, 3);
static inline void host_note(struct host *h, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_int_equal(acp_buf_append(&h->log, text, strlen(text)), 0);
    assert_int_equal(acp_buf_append(&h->log, "\n", 1), 0);
}

static inline void expect_note(struct host *h, const char *expected)
{
    assert_string_equal(test_cstr(&h->log), expected);
    acp_buf_clear(&h->log);
}

static inline void host_collect(struct host *h)
{
    struct acp_str out = acp_endpoint_output(h->end);
    assert_int_equal(acp_buf_append_str(&h->wire, out), 0);
    acp_endpoint_sent(h->end, out.len);
}

/* The client says a line. */
static inline void feed(struct host *h, const char *line)
{
    char text[4096];
    struct acp_raw raw = test_quoted(line, text, sizeof(text) - 1);
    text[raw.len] = '\n';
    assert_int_equal(acp_endpoint_receive(h->end, text, raw.len + 1, h->now), 0);
    host_collect(h);
}

/* Something that the agent wrote, or did not write, since the last forget(). */
static inline bool wrote(struct host *h, const char *part)
{
    char text[4096];
    (void) test_quoted(part, text, sizeof(text));
    host_collect(h);
    return strstr(test_cstr(&h->wire), text);
}

#define expect_wrote(h, part)                                                                      \
    do {                                                                                           \
        if (!wrote(h, part)) {                                                                     \
            print_error("not written: %s\nbut: %s\n", part, test_cstr(&(h)->wire));                \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#define expect_silence(h)                                                                          \
    do {                                                                                           \
        host_collect(h);                                                                           \
        assert_string_equal(test_cstr(&(h)->wire), "");                                            \
    } while (0)

static inline void forget(struct host *h)
{
    host_collect(h);
    acp_buf_clear(&h->wire);
}

static inline void host_wait_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
                                    void *user)
{
    struct host *h = user;
    (void) prompt;
    h->turn = turn;
}

/* handler.prompt may be left out: the turn then waits in host.turn. */
static inline void host_init(struct host *h, const struct acp_agent_options *options,
                             const struct acp_agent_handler *handler)
{
    struct acp_agent_handler full = *handler;
    memset(h, 0, sizeof(*h));
    acp_buf_init(&h->wire, 1 << 24);
    acp_buf_init(&h->log, 1 << 20);
    if (!full.prompt)
        full.prompt = host_wait_prompt;
    struct acp_agent_options seeded = options ? *options : (struct acp_agent_options){0};
    if (!seeded.seed[0])
        seeded.seed[0] = 1;
    assert_int_equal(acp_agent_new(&seeded, &full, h, &h->agent), 0);
    h->end = acp_agent_endpoint(h->agent);
}

static inline void host_finish(struct host *h)
{
    acp_agent_free(h->agent);
    acp_buf_finish(&h->wire);
    acp_buf_finish(&h->log);
}

/* initialize with these capabilities; version 1 and 2 name them differently. */
static inline void host_initialize(struct host *h, int version, const char *capabilities)
{
    char line[1024];
    (void) snprintf(line, sizeof(line),
                    version == 1 ? "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                                   "'protocolVersion':1,'clientCapabilities':%s}}"
                                 : "{'jsonrpc':'2.0','id':0,'method':'initialize','params':{"
                                   "'protocolVersion':2,'info':{'name':'c','version':'1'},"
                                   "'capabilities':%s}}",
                    capabilities);
    feed(h, line);
    expect_wrote(h, "'result'");
}

/* The same and a session of the id "s", for agents whose new_session is host_accept. */
static inline void host_open(struct host *h, int version, const char *capabilities)
{
    host_initialize(h, version, capabilities);
    feed(h, "{'jsonrpc':'2.0','id':1,'method':'session/new','params':{'cwd':'/w',"
            "'mcpServers':[]}}");
    expect_wrote(h, "'sessionId':'s'");
    forget(h);
}

static inline void host_accept(struct acp_session *session,
                               const struct acp_new_session_request *request, void *user)
{
    struct host *h = user;
    (void) request;
    h->session = session;
    assert_int_equal(acp_session_set_id(session, acp_str_from("s")), 0);
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static inline void host_prompt(struct host *h)
{
    feed(h, "{'jsonrpc':'2.0','id':2,'method':'session/prompt','params':{'sessionId':'s',"
            "'prompt':[{'type':'text','text':'go'}],'_meta':{'traceparent':'00-1'}}}");
    assert_non_null(h->turn);
}

#endif
