/*
 * The carrier of the conversation: it takes what each side puts out, hands it to the other in the
 * pieces that the run wants, makes the fault happen, and looks at the books afterwards.
 */
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "acp/scan.h"

enum {
    MAX_STEPS = 50000, /* the longest run, byte by byte, needs about half of it */
    MAX_MESSAGE = 64 * 1024,
    MAX_MESSAGES = 400,
};

/* ---- Life ------------------------------------------------------------------------------------ */

struct talk *talk_new(unsigned version)
{
    struct acp_agent_options agent_options = {.name = acp_str_from("agent"),
                                              .versions = version,
                                              .seed = {1, 2},
                                              .peer.max_message = MAX_MESSAGE};
    struct acp_client_options client_options = {.name = acp_str_from("client"),
                                                .versions = version,
                                                .read_files = true,
                                                .peer.max_message = MAX_MESSAGE};
    struct talk *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->version = version;
    t->messages = calloc(MAX_MESSAGES, sizeof(*t->messages));
    assert_non_null(t->messages);
    for (int i = 0; i < 2; i++) {
        acp_buf_init(&t->pipes[i], 1 << 20);
        acp_buf_init(&t->logs[i], 1 << 20);
    }
    assert_int_equal(acp_agent_new(&agent_options, &talk_agent_handler, t, &t->agent), 0);
    assert_int_equal(acp_client_new(&client_options, &talk_client_handler, t, &t->client), 0);
    t->ends[TALK_AGENT] = acp_agent_endpoint(t->agent);
    t->ends[TALK_CLIENT] = acp_client_endpoint(t->client);
    return t;
}

void talk_free(struct talk *t)
{
    acp_client_free(t->client);
    acp_agent_free(t->agent);
    for (size_t i = 0; i < t->message_count; i++)
        free(t->messages[i].owned);
    free(t->messages);
    for (int i = 0; i < 2; i++) {
        acp_buf_finish(&t->pipes[i]);
        acp_buf_finish(&t->logs[i]);
    }
    free(t);
}

static bool lives(const struct talk *t, enum talk_side side)
{
    return side == TALK_AGENT ? t->agent != NULL : t->client != NULL;
}

static enum talk_side other(enum talk_side side)
{
    return side == TALK_AGENT ? TALK_CLIENT : TALK_AGENT;
}

/* As when its process is killed: it is gone with all it had to say, and the other reads the end. */
static void kill_side(struct talk *t, enum talk_side side)
{
    enum talk_side survivor = other(side);
    t->fault_done = true;
    if (side == TALK_AGENT) {
        acp_agent_free(t->agent);
        t->agent = NULL;
    } else {
        acp_client_free(t->client);
        t->client = NULL;
    }
    acp_buf_clear(&t->pipes[TALK_AGENT]);
    acp_buf_clear(&t->pipes[TALK_CLIENT]);
    if (survivor == TALK_CLIENT) {
        acp_client_set_close_message(t->client, acp_str_from(TALK_DEATH));
        t->explained = true;
    }
    acp_endpoint_receive_end(t->ends[survivor], t->now);
}

/* ---- Carrying -------------------------------------------------------------------------------- */

/* From a block of its own, so that the sanitizer sees who reads beyond it. */
static void hand_over(struct talk *t, enum talk_side to, const char *bytes, size_t n)
{
    if (n == 0)
        return;
    char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    int err = acp_endpoint_receive(t->ends[to], copy, n, t->now);
    assert_true(err == 0 || t->gave_up);
    free(copy);
}

static void collect(struct talk *t, enum talk_side from)
{
    if (!lives(t, from))
        return;
    struct acp_endpoint *end = t->ends[from];
    struct acp_str out = acp_endpoint_output(end);
    if (lives(t, other(from)) && out.len)
        assert_int_equal(acp_buf_append(&t->pipes[other(from)], out.ptr, out.len), 0);
    acp_endpoint_sent(end, out.len);
}

static void record(struct talk *t, enum talk_side to, struct acp_str text)
{
    char *copy = malloc(text.len);
    assert_non_null(copy);
    assert_true(t->message_count < MAX_MESSAGES);
    memcpy(copy, text.ptr, text.len);
    t->messages[t->message_count++] = (struct talk_message){to, copy, acp_str_n(copy, text.len)};
}

/* The fault of this run, when its time has come.  True when the message is not to be carried. */
static bool strike(struct talk *t, enum talk_side to, struct acp_str message)
{
    const struct talk_fault *f = &t->fault;
    if (t->fault_done || t->message_count != f->at)
        return false;
    switch (f->kind) {
    case FAULT_DIE:
        kill_side(t, f->side);
        return true;
    case FAULT_CUT:
        assert_true(f->offset < message.len);
        hand_over(t, to, message.ptr, f->offset);
        kill_side(t, other(to));
        return true;
    case FAULT_GARBAGE:
        t->fault_done = true;
        hand_over(t, f->side, f->garbage.ptr, f->garbage.len);
        return false;
    case FAULT_CLOSE: /* the programs do that */
    case FAULT_NONE:
        break;
    }
    return false;
}

static bool carry_message(struct talk *t, enum talk_side to)
{
    struct acp_str all = acp_buf_view(&t->pipes[to]);
    const char *end = all.len ? memchr(all.ptr, '\n', all.len) : NULL;
    if (!end)
        return false;
    struct acp_str message = acp_str_n(all.ptr, (size_t) (end - all.ptr) + 1);
    if (strike(t, to, message))
        return true;
    record(t, to, message);
    hand_over(t, to, message.ptr, message.len);
    acp_buf_consume(&t->pipes[to], message.len);
    return true;
}

/* Any number of bytes, across the ends of messages. */
static bool carry_piece(struct talk *t, enum talk_side to)
{
    struct acp_str all = acp_buf_view(&t->pipes[to]);
    if (all.len == 0)
        return false;
    size_t n = 1;
    if (t->pieces == PIECES_RANDOM)
        n = 1 + (size_t) (t->random() % (t->random() % 4 ? 40 : 2000));
    if (n > all.len)
        n = all.len;
    hand_over(t, to, all.ptr, n);
    acp_buf_consume(&t->pipes[to], n);
    return true;
}

static bool carry(struct talk *t)
{
    enum talk_side first = TALK_AGENT;
    collect(t, TALK_AGENT);
    collect(t, TALK_CLIENT);
    if (t->pieces == PIECES_MESSAGES)
        return carry_message(t, first) || carry_message(t, other(first));
    if (t->pieces == PIECES_RANDOM && t->random() % 2)
        first = TALK_CLIENT;
    return carry_piece(t, first) || carry_piece(t, other(first));
}

/* Lets the time pass until somebody has something to do; false when nobody has. */
static bool pass_time(struct talk *t)
{
    uint64_t due = UINT64_MAX;
    for (enum talk_side side = TALK_AGENT; side <= TALK_CLIENT; side++) {
        uint64_t at = lives(t, side) ? acp_endpoint_deadline(t->ends[side]) : UINT64_MAX;
        due = at < due ? at : due;
    }
    if (due == UINT64_MAX)
        return false;
    t->now = due > t->now ? due : t->now;
    for (enum talk_side side = TALK_AGENT; side <= TALK_CLIENT; side++)
        if (lives(t, side))
            acp_endpoint_tick(t->ends[side], t->now);
    return true;
}

void talk_run(struct talk *t)
{
    talk_next(t);
    while (carry(t) || talk_agent_work(t) || pass_time(t) ||
           strike(t, TALK_AGENT, acp_str_from("")))
        if (++t->steps > MAX_STEPS)
            fail_msg("the conversation does not come to rest");
    /* A fault after the last message is not followed by one: go on until its answer is carried. */
    while (carry(t))
        assert_true(++t->steps <= MAX_STEPS);
}

void talk_finish(struct talk *t)
{
    for (int i = 0; i < 2; i++) {
        enum talk_side side = i ? TALK_CLIENT : TALK_AGENT;
        if (lives(t, side))
            acp_endpoint_receive_end(t->ends[side], t->now);
    }
}

/* ---- The books ------------------------------------------------------------------------------- */

/* How many messages to that side answer this request. */
static int count_answers(const struct talk *t, enum talk_side to, struct acp_raw id)
{
    int count = 0;
    for (size_t i = 0; i < t->message_count; i++) {
        struct acp_scan s;
        struct acp_str text = t->messages[i].text;
        if (t->messages[i].to != to)
            continue;
        assert_int_equal(
            acp_scan_message(acp_raw_n(text.ptr, text.len - 1), acp_str_from(NULL), &s, NULL), 0);
        count += s.kind == ACP_SCAN_RESPONSE && s.id.len == id.len &&
                 memcmp(s.id.ptr, id.ptr, id.len) == 0;
    }
    return count;
}

static void check_answers(const struct talk *t, bool all)
{
    for (size_t i = 0; i < t->message_count; i++) {
        struct acp_scan s;
        struct acp_str text = t->messages[i].text;
        assert_int_equal(
            acp_scan_message(acp_raw_n(text.ptr, text.len - 1), acp_str_from(NULL), &s, NULL), 0);
        if (s.kind != ACP_SCAN_REQUEST)
            continue;
        int answers = count_answers(t, other(t->messages[i].to), s.id);
        if (answers > 1 || (all && answers != 1))
            fail_msg("%d answers to %.*s", answers, (int) text.len, text.ptr);
    }
}

static void check_promises(const struct talk *t)
{
    for (int i = 0; i < STEPS; i++)
        if (t->promises[i].promised > 1 || t->promises[i].kept != t->promises[i].promised)
            fail_msg("step %d was begun %d times and ended %d times", i, t->promises[i].promised,
                     t->promises[i].kept);
}

void talk_check(struct talk *t)
{
    check_promises(t);
    check_answers(t, false);
    assert_int_equal(t->client_closed, 1);
    assert_int_equal(t->client_sessions_ended, t->client_sessions);
    assert_int_equal(t->questions_settled, t->questions);
    assert_int_equal(t->agent_closed, 1);
    assert_int_equal(t->sessions_ended, t->sessions);
    assert_int_equal(t->answered, t->asked);
    assert_null(t->opening);
    assert_null(t->ending);
    /* Who is left refuses what is asked now, at once, and calls nothing back. */
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    if (t->client) {
        assert_true(acp_client_initialize(t->client, NULL, NULL) < 0);
        assert_true(acp_client_new_session(t->client, &place, NULL, NULL) < 0);
        assert_true(acp_client_load_session(t->client, acp_str_from("x"), &place, NULL, NULL) < 0);
        assert_null(acp_client_find_session(t->client, acp_str_from("x")));
        assert_int_equal(acp_peer_pending(acp_client_peer(t->client)), 0);
    }
    if (t->agent)
        assert_int_equal(acp_peer_pending(acp_agent_peer(t->agent)), 0);
}

static void check_log(struct talk *t, struct talk *undisturbed, enum talk_side side)
{
    struct acp_str got = acp_buf_view(&t->logs[side]);
    struct acp_str wanted = acp_buf_view(&undisturbed->logs[side]);
    if (!acp_str_eq(got, wanted))
        fail_msg("instead of\n%.*sthe %s saw\n%.*s", (int) wanted.len, wanted.ptr,
                 side == TALK_AGENT ? "agent" : "client", (int) got.len, got.ptr);
}

void talk_check_same(struct talk *t, struct talk *undisturbed)
{
    assert_int_equal(t->step, STEPS);
    check_log(t, undisturbed, TALK_AGENT);
    check_log(t, undisturbed, TALK_CLIENT);
    check_answers(t, true);
}
