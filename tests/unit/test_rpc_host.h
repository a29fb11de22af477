/*
 * A peer with an owner that writes down what happens, for the tests of lib/rpc.
 *
 * The owner serves three methods: "echo" answers its params, "later" stays open, "fail" answers an
 * error; all others are -32601.  The log has one entry for each callback:
 *
 *   R1:echo:{}   request, call 1       A0:0:{}    reply to request 0: err, result
 *   N:note:[1]   notification          A0:-14:-32000:text:data   an error from the other side
 *   C1           cancel for call 1     T3         trouble, enum acp_protocol_error
 *   P1 P0        pressure on, off      X-18       closed, reason
 */
#ifndef TESTS_UNIT_TEST_RPC_HOST_H
#define TESTS_UNIT_TEST_RPC_HOST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/json.h"
#include "acp/rpc.h"

struct host {
    struct acp_peer *peer;
    struct acp_buf log;
    struct acp_buf taken; /* the output last taken, NUL-terminated */
    acp_call later;       /* the last call left open */
    int outputs;          /* how often the output callback ran */
};

static inline void host_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                                void *user)
{
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "R%" PRIu64 ":%.*s:%.*s;", call, (int) m->method.len,
                          m->method.ptr, (int) m->params.len, m->params.ptr ? m->params.ptr : "");
    if (acp_str_is(m->method, "echo"))
        (void) acp_peer_result(peer, call, m->params);
    else if (acp_str_is(m->method, "later"))
        h->later = call;
    else if (acp_str_is(m->method, "fail"))
        (void) acp_peer_error(peer, call, -32000, acp_str_from("failed"),
                              acp_raw_from("{\"why\":1}"));
    else
        (void) acp_peer_error(peer, call, -32601, acp_str_from("Method not found"),
                              acp_raw_from(NULL));
}

static inline void host_notification(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "N:%.*s:%.*s;", (int) m->method.len, m->method.ptr,
                          (int) m->params.len, m->params.ptr ? m->params.ptr : "");
}

static inline void host_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    (void) peer;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "C%" PRIu64 ";", call);
}

static inline void host_trouble(struct acp_peer *peer, enum acp_protocol_error what,
                                struct acp_str text, void *user)
{
    (void) peer;
    (void) text;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "T%d;", (int) what);
}

static inline void host_output(void *user)
{
    struct host *h = user;
    h->outputs++;
}

static inline void host_pressure(struct acp_peer *peer, bool high, void *user)
{
    (void) peer;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "P%d;", high);
}

static inline void host_closed(struct acp_peer *peer, int reason, void *user)
{
    (void) peer;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "X%d;", reason);
}

static inline void host_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *r,
                              void *user)
{
    (void) peer;
    struct host *h = user;
    (void) acp_buf_printf(&h->log, "A%" PRIu64 ":%d", request, r->err);
    if (r->err == 0)
        (void) acp_buf_printf(&h->log, ":%.*s", (int) r->result.len, r->result.ptr);
    if (r->err == ACP_ERR_REMOTE)
        (void) acp_buf_printf(&h->log, ":%" PRId64 ":%.*s:%.*s", r->error_code,
                              (int) r->error_message.len, r->error_message.ptr,
                              (int) r->error_data.len, r->error_data.ptr ? r->error_data.ptr : "");
    (void) acp_buf_append(&h->log, ";", 1);
}

static const struct acp_peer_handler host_handler = {
    .request = host_request,
    .notification = host_notification,
    .cancel = host_cancel,
    .protocol_error = host_trouble,
    .pressure = host_pressure,
    .closed = host_closed,
};

static inline void host_init(struct host *h, const struct acp_peer_options *options)
{
    *h = (struct host){0};
    acp_buf_init(&h->log, SIZE_MAX / 2);
    acp_buf_init(&h->taken, SIZE_MAX / 2);
    assert_int_equal(acp_peer_new(options, &host_handler, h, &h->peer), 0);
    acp_endpoint_on_wake(acp_peer_endpoint(h->peer), host_output, h);
}

static inline void host_finish(struct host *h)
{
    acp_peer_free(h->peer);
    acp_buf_finish(&h->log);
    acp_buf_finish(&h->taken);
}

/* Feeds bytes from memory of their own size, so that the sanitizer sees reads outside. */
static inline int host_feed_n(struct host *h, const char *bytes, size_t n)
{
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n)
        memcpy(copy, bytes, n);
    int err = acp_peer_receive(h->peer, copy, n, 0);
    free(copy);
    return err;
}

static inline void host_feed(struct host *h, const char *text)
{
    (void) host_feed_n(h, text, strlen(text));
}

/* Takes all output; in line framing checks that each line is JSON. */
static inline const char *host_take(struct host *h)
{
    struct acp_str out = acp_peer_output(h->peer);
    acp_buf_clear(&h->taken);
    assert_int_equal(acp_buf_append_str(&h->taken, out), 0);
    assert_int_equal(acp_buf_append(&h->taken, "", 1), 0);
    acp_peer_sent(h->peer, out.len);
    if (acp_peer_framing(h->peer) == ACP_FRAMING_LINES) {
        char *line = h->taken.data;
        for (char *end; (end = strchr(line, '\n')); line = end + 1)
            assert_int_equal(acp_json_validate(acp_raw_n(line, (size_t) (end - line)), 0, NULL), 0);
        assert_int_equal(*line, '\0');
    }
    return h->taken.data;
}

/* The log so far, which is cleared for the next. */
static inline const char *host_log(struct host *h)
{
    assert_int_equal(acp_buf_append(&h->log, "", 1), 0);
    acp_buf_clear(&h->log);
    return h->log.data;
}

static inline int host_ask(struct host *h, const char *method, const char *params,
                           uint64_t timeout_ms)
{
    struct acp_request request = {
        .method = acp_str_from(method), .timeout_ms = timeout_ms, .reply = host_reply, .user = h};
    return acp_peer_request(h->peer, &request, acp_raw_from(params), NULL);
}

static inline unsigned test_seed(void)
{
    unsigned seed = 20260301;
    const char *text = getenv("ACP_TEST_SEED");
    if (text && sscanf(text, "%u", &seed) != 1)
        abort();
    printf("# seed %u (ACP_TEST_SEED)\n", seed);
    srand(seed);
    return seed;
}

#endif
