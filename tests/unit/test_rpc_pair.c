/*
 * Two peers connected to each other, through a stream that cuts wherever it likes.  All the choices
 * come from one seed, which is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_rpc_host.h"

/* ---- Chatter -------------------------------------------------------------------------------- */

enum { MAX_OPEN = 200 };

/* One side: it asks, tells, cancels and answers at random, and counts. */
struct side {
    struct acp_peer *peer;
    struct side *other;
    acp_call open[MAX_OPEN]; /* calls to answer later */
    uint64_t echo[MAX_OPEN]; /* what each is to be answered with */
    size_t open_count;
    uint64_t asked;
    uint64_t replied;
    uint64_t told;       /* notifications sent */
    uint64_t heard;      /* notifications received; their number is their content */
    uint64_t served;     /* requests received */
    uint64_t cancelled;  /* cancels that found their call */
    uint64_t next_reply; /* requests are numbered in the order sent */
};

static uint64_t number_in(struct acp_raw value)
{
    struct acp_json_reader r;
    uint64_t number;
    acp_json_reader_init(&r, value, NULL, 0);
    assert_int_equal(acp_json_enter_array(&r), 0);
    assert_int_equal(acp_json_next_item(&r), 1);
    assert_int_equal(acp_json_read_u64(&r, &number), 0);
    return number;
}

static void put_number(struct acp_json_writer *w, uint64_t number)
{
    static const struct acp_str filler = ACP_STR("some \"text\" with\nescapes and \xc3\xa9");
    assert_non_null(w);
    acp_json_begin_array(w);
    acp_json_write_u64(w, number);
    if (number % 3 == 0)
        acp_json_write_str(w, filler);
    acp_json_end_array(w);
}

static void answer(struct side *s, acp_call call, uint64_t number)
{
    if (number % 7 == 3) {
        assert_int_equal(acp_peer_error(s->peer, call, (int64_t) number, acp_str_from("seven"),
                                        acp_raw_from(NULL)),
                         0);
        return;
    }
    put_number(acp_peer_begin_result(s->peer, call), number);
    assert_int_equal(acp_peer_commit(s->peer, NULL), 0);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                       void *user)
{
    (void) peer;
    struct side *s = user;
    uint64_t number = number_in(m->params);
    s->served++;
    if (s->open_count == MAX_OPEN || rand() % 2) {
        answer(s, call, number);
        return;
    }
    s->open[s->open_count] = call;
    s->echo[s->open_count++] = number;
}

static void on_notification(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    struct side *s = user;
    assert_int_equal(number_in(m->params), s->heard);
    s->heard++;
}

static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    (void) peer;
    struct side *s = user;
    for (size_t i = 0; i < s->open_count; i++)
        if (s->open[i] == call) {
            s->cancelled++;
            return;
        }
    fail_msg("cancel for a call that is not open");
}

static void on_protocol_error(struct acp_peer *peer, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    (void) peer;
    (void) user;
    fail_msg("trouble %d: %.*s", (int) what, (int) text.len, text.ptr);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    struct side *s = user;
    s->replied++;
    /* Each request carries its own number. */
    if (request % 7 == 3) {
        assert_int_equal(reply->err, ACP_ERR_REMOTE);
        assert_int_equal(reply->error_code, request);
        assert_true(acp_str_is(reply->error_message, "seven"));
    } else {
        assert_int_equal(reply->err, 0);
        assert_int_equal(number_in(reply->result), request);
    }
}

static void chatter(struct side *s)
{
    switch (rand() % 4) {
    case 0: {
        struct acp_request request = {.method = acp_str_from("ask"), .reply = on_reply, .user = s};
        uint64_t number;
        put_number(acp_peer_begin_request(s->peer, &request), s->asked);
        assert_int_equal(acp_peer_commit(s->peer, &number), 0);
        assert_int_equal(number, s->asked);
        s->asked++;
        break;
    }
    case 1:
        put_number(acp_peer_begin_notify(s->peer, acp_str_from("tell")), s->told++);
        assert_int_equal(acp_peer_commit(s->peer, NULL), 0);
        break;
    case 2:
        if (s->open_count) {
            size_t i = (size_t) rand() % s->open_count;
            acp_call call = s->open[i];
            uint64_t number = s->echo[i];
            s->open_count--;
            s->open[i] = s->open[s->open_count];
            s->echo[i] = s->echo[s->open_count];
            answer(s, call, number);
        }
        break;
    default:
        if (s->asked) {
            /* Some that are open, some that are not. */
            int err = acp_peer_cancel(s->peer, (uint64_t) rand() % s->asked);
            assert_true(err == 0 || err == ACP_ERR_UNKNOWN);
        }
        break;
    }
}

/* Carries a random part of what one side has put out to the other. */
static void carry(struct side *from, bool all)
{
    struct acp_str out = acp_peer_output(from->peer);
    size_t left = out.len;
    if (!all && left)
        left = (size_t) rand() % (left + 1);
    size_t done = 0;
    while (done < left) {
        size_t n = 1 + (size_t) rand() % 300;
        n = n < left - done ? n : left - done;
        assert_int_equal(acp_peer_receive(from->other->peer, out.ptr + done, n, 0), 0);
        done += n;
    }
    acp_peer_sent(from->peer, left);
}

static void talk(enum acp_framing first, enum acp_framing second)
{
    static const struct acp_peer_handler handler = {.request = on_request,
                                                    .notification = on_notification,
                                                    .cancel = on_cancel,
                                                    .protocol_error = on_protocol_error};
    struct side a = {0};
    struct side b = {0};
    const struct acp_peer_options of_a = {.framing = first};
    const struct acp_peer_options of_b = {.framing = second};
    assert_int_equal(acp_peer_new(&of_a, &handler, &a, &a.peer), 0);
    assert_int_equal(acp_peer_new(&of_b, &handler, &b, &b.peer), 0);
    a.other = &b;
    b.other = &a;
    /* So that an AUTO side knows before it speaks. */
    put_number(acp_peer_begin_notify(a.peer, acp_str_from("tell")), a.told++);
    assert_int_equal(acp_peer_commit(a.peer, NULL), 0);
    carry(&a, true);
    for (int i = 0; i < 100000; i++) {
        chatter(&a);
        chatter(&b);
        if (rand() % 4 == 0) {
            carry(&a, false);
            carry(&b, false);
        }
    }
    while (acp_peer_output(a.peer).len || acp_peer_output(b.peer).len || a.open_count ||
           b.open_count) {
        for (struct side *s = &a;; s = &b) {
            while (s->open_count) {
                s->open_count--;
                answer(s, s->open[s->open_count], s->echo[s->open_count]);
            }
            carry(s, true);
            if (s == &b)
                break;
        }
    }
    for (struct side *s = &a;; s = &b) {
        assert_int_equal(s->asked, s->replied);
        assert_int_equal(s->asked, s->other->served);
        assert_int_equal(s->told, s->other->heard);
        assert_true(s->cancelled > 0);
        assert_int_equal(acp_peer_pending(s->peer), 0);
        assert_int_equal(acp_peer_calls(s->peer), 0);
        acp_peer_free(s->peer);
        if (s == &b)
            break;
    }
}

static void com_rpc_16_18_19_both_ways_at_once_over_lines(void **state)
{
    (void) state;
    talk(ACP_FRAMING_LINES, ACP_FRAMING_AUTO);
}

static void com_rpc_16_18_19_both_ways_at_once_over_content_length(void **state)
{
    (void) state;
    talk(ACP_FRAMING_CONTENT_LENGTH, ACP_FRAMING_AUTO);
}

/* ---- Ping-pong ------------------------------------------------------------------------------ */

struct rally {
    struct acp_peer *peer;
    uint64_t left;
};

static void strike(struct rally *r);

static void on_pong(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                    void *user)
{
    (void) peer;
    (void) request;
    struct rally *r = user;
    assert_int_equal(reply->err, 0);
    if (--r->left)
        strike(r); /* a reply callback may ask again */
}

static void strike(struct rally *r)
{
    struct acp_request request = {
        .method = acp_str_from("echo"), .timeout_ms = 1000, .reply = on_pong, .user = r};
    assert_int_equal(acp_peer_request(r->peer, &request, acp_raw_from("{\"a\":1}"), NULL), 0);
}

static void ping_pong_100k(void **state)
{
    (void) state;
    struct host h;
    struct rally r = {.left = 100000};
    host_init(&h, NULL);
    assert_int_equal(acp_peer_new(NULL, NULL, NULL, &r.peer), 0);
    strike(&r);
    while (r.left) {
        struct acp_str out = acp_peer_output(r.peer);
        assert_int_equal(acp_peer_receive(h.peer, out.ptr, out.len, 0), 0);
        acp_peer_sent(r.peer, out.len);
        out = acp_peer_output(h.peer);
        assert_true(out.len > 0);
        assert_int_equal(acp_peer_receive(r.peer, out.ptr, out.len, 0), 0);
        acp_peer_sent(h.peer, out.len);
        acp_buf_clear(&h.log);
    }
    assert_int_equal(acp_peer_pending(r.peer), 0);
    acp_peer_free(r.peer);
    host_finish(&h);
}

/* ---- Every split ---------------------------------------------------------------------------- */

#define RPC "{\"jsonrpc\":\"2.0\","

static const char lines[] =
    RPC "\"id\":1,\"method\":\"later\"}\n" RPC "\"method\":\"note\",\"params\":[\"\\n\"]}\r\n"
        "\n" RPC "\"id\":0,\"result\":{\"x\":1}}\nnoise\n[]\n" RPC "\"id\":\"\\u0061\","
        "\"method\":\"ec\\u0068o\",\"params\":[]}\n" RPC "\"method\":\"$/cancel_request\","
        "\"params\":{\"requestId\":1}}\n" RPC "\"id\":5,\"result\":0}\n 42 \n" RPC
        "\"id\":2,\"method\":\"fail\"}";

static const char headed[] = "Content-Length: 37\r\n\r\n" RPC "\"id\":1,\"method\":\"a\"}"
                             "content-type: x\r\ncontent-length:1\r\n\r\n7"
                             "bad header\r\n\r\n{}\nContent-Length: 2\n\n[]";

/* What a peer says and does when it is fed the text in these pieces. */
static void run(struct acp_str text, size_t first, size_t second, struct acp_buf *ret)
{
    struct host h;
    host_init(&h, &(struct acp_peer_options){.max_message = 150});
    assert_int_equal(host_ask(&h, "q", NULL, 0), 0);
    (void) host_feed_n(&h, text.ptr, first);
    (void) host_feed_n(&h, text.ptr + first, second - first);
    (void) host_feed_n(&h, text.ptr + second, text.len - second);
    acp_peer_receive_end(h.peer, 0);
    struct acp_str out = acp_peer_output(h.peer);
    acp_buf_clear(ret);
    assert_int_equal(acp_buf_append_str(ret, out), 0);
    assert_int_equal(acp_buf_printf(ret, "%s", host_log(&h)), 0);
    host_finish(&h);
}

static void check_splits(const char *bytes)
{
    struct acp_str text = acp_str_from(bytes);
    struct acp_buf whole;
    struct acp_buf cut;
    acp_buf_init(&whole, 1 << 20);
    acp_buf_init(&cut, 1 << 20);
    run(text, text.len, text.len, &whole);
    for (size_t i = 0; i <= text.len; i++) {
        run(text, i, i + (size_t) rand() % (text.len - i + 1), &cut);
        assert_true(acp_str_eq(acp_buf_view(&whole), acp_buf_view(&cut)));
    }
    acp_buf_finish(&whole);
    acp_buf_finish(&cut);
}

static void every_split_of_a_conversation_reads_the_same(void **state)
{
    (void) state;
    check_splits(lines);
    check_splits(headed);
}

int main(void)
{
    (void) test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(com_rpc_16_18_19_both_ways_at_once_over_lines),
        cmocka_unit_test(com_rpc_16_18_19_both_ways_at_once_over_content_length),
        cmocka_unit_test(ping_pong_100k),
        cmocka_unit_test(every_split_of_a_conversation_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
