/* Links: bytes over pipes, sockets, files and terminals, under pressure, and to the end. */
#define _GNU_SOURCE /* posix_openpt and friends */
#include "test_io_host.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include "io/fd.h"
#include "io/pty.h"

/* A pair of buffers with its link. */
struct side {
    struct pair pair;
    struct acp_link *link;
    bool closed;
    int reason;
    bool free_inside;
};

static void on_closed(struct acp_link *link, int reason, void *user)
{
    struct side *side = user;
    assert_false(side->closed);
    side->closed = true;
    side->reason = reason;
    if (side->free_inside) {
        acp_link_free(link);
        side->link = NULL;
    }
}

static const struct acp_link_handler handler = {.closed = on_closed};

static void side_open(struct side *side, uv_loop_t *loop, int in, int out)
{
    *side = (struct side){0};
    pair_init(&side->pair);
    struct acp_link_options options = {.in = in, .out = out, .linger_ms = 300};
    assert_int_equal(acp_link_new(loop, &options, side->pair.endpoint, &handler, side, &side->link),
                     0);
}

static void side_finish(struct side *side)
{
    acp_link_free(side->link);
    pair_finish(&side->pair);
}

static void side_say(struct side *side, const char *text)
{
    pair_say(&side->pair, text);
    acp_link_wake(side->link);
}

/* Two sides over two pipes. */
static void connect_pipes(uv_loop_t *loop, struct side *a, struct side *b)
{
    int there[2];
    int back[2];
    assert_int_equal(acp_fd_pipe(&there[0], &there[1]), 0);
    assert_int_equal(acp_fd_pipe(&back[0], &back[1]), 0);
    side_open(a, loop, back[0], there[1]);
    side_open(b, loop, there[0], back[1]);
}

/* ---- Carrying ------------------------------------------------------------------------------- */

static void bytes_go_both_ways_over_pipes(void **state)
{
    struct side a;
    struct side b;
    connect_pipes(host_loop(state), &a, &b);
    side_say(&a, "to b");
    side_say(&b, "to a");
    host_run_for(host_loop(state), 20);
    assert_string_equal(test_cstr(&a.pair.in), "to a");
    assert_string_equal(test_cstr(&b.pair.in), "to b");
    acp_link_close(a.link);
    assert_true(host_run_until(host_loop(state), &b.closed, HOST_LATE_MS));
    assert_true(a.closed);
    assert_int_equal(a.reason, 0);
    assert_int_equal(b.reason, 0);
    assert_true(b.pair.ended);
    side_finish(&a);
    side_finish(&b);
}

static void bytes_go_both_ways_over_one_socket(void **state)
{
    int ends[2];
    struct side a;
    struct side b;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    side_open(&a, host_loop(state), ends[0], ends[0]);
    side_open(&b, host_loop(state), ends[1], ends[1]);
    side_say(&a, "to b");
    side_say(&b, "to a");
    host_run_for(host_loop(state), 20);
    assert_string_equal(test_cstr(&a.pair.in), "to a");
    assert_string_equal(test_cstr(&b.pair.in), "to b");
    /* One direction ends, the other goes on until b, which hears of it, has answered. */
    side_say(&a, ", done");
    acp_link_end_output(a.link);
    pair_say(&b.pair, ", bye");
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_string_equal(test_cstr(&b.pair.in), "to b, done");
    assert_string_equal(test_cstr(&a.pair.in), "to a, bye");
    assert_int_equal(a.reason, 0);
    assert_int_equal(b.reason, 0);
    side_finish(&a);
    side_finish(&b);
}

static int temporary_file(const char *content)
{
    char path[] = "/tmp/acp-link-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void files_are_read_to_their_end_and_written(void **state)
{
    struct side a;
    int out = temporary_file("");
    int kept = dup(out);
    side_open(&a, host_loop(state), temporary_file("from a file\n"), out);
    side_say(&a, "into a file");
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, 0);
    assert_string_equal(test_cstr(&a.pair.in), "from a file\n");
    char text[32] = "";
    assert_int_equal(pread(kept, text, sizeof(text) - 1, 0), 11);
    assert_string_equal(text, "into a file");
    assert_int_equal(close(kept), 0);
    side_finish(&a);
}

static void dev_null_is_an_end_and_swallows(void **state)
{
    struct side a;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    side_open(&a, host_loop(state), null, null);
    side_say(&a, "gone");
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, 0);
    assert_int_equal(a.pair.sent, 4);
    side_finish(&a);
}

static void a_terminal_is_taken_without_changing_it_for_others(void **state)
{
    struct side a;
    int master;
    int slave;
    assert_int_equal(acp_pty_open(0, 0, true, &master, &slave), 0);
    int shell = dup(slave); /* what a shell has open on the same terminal */
    side_open(&a, host_loop(state), dup(slave), slave);
    assert_false(fcntl(shell, F_GETFL) & O_NONBLOCK);
    assert_int_equal(write(master, "typed\n", 6), 6);
    side_say(&a, "shown");
    host_run_for(host_loop(state), 30);
    assert_string_equal(test_cstr(&a.pair.in), "typed\n");
    char text[32] = "";
    assert_int_equal(read(master, text, sizeof(text)), 5);
    assert_string_equal(text, "shown");
    assert_false(fcntl(shell, F_GETFL) & O_NONBLOCK);
    assert_int_equal(write(master, "\004", 1), 1); /* ^D */
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, 0);
    assert_int_equal(close(shell), 0);
    assert_int_equal(close(master), 0);
    side_finish(&a);
}

static void standard_input_and_output_are_taken_for_the_protocol(void **state)
{
    struct side a;
    int saved_in = dup(0);
    int saved_out = dup(1);
    int to[2];
    int from[2];
    assert_int_equal(acp_fd_pipe(&to[0], &to[1]), 0);
    assert_int_equal(acp_fd_pipe(&from[0], &from[1]), 0);
    assert_int_equal(dup2(to[0], 0), 0);
    assert_int_equal(dup2(from[1], 1), 1);
    acp_fd_close(&to[0]);
    acp_fd_close(&from[1]);
    int in;
    int out;
    int err = acp_stdio_take(&in, &out);
    /* Nobody reads the messages, nobody writes among them. */
    char byte;
    ssize_t left = read(0, &byte, 1);
    int same = -1;
    struct stat one;
    struct stat two;
    if (fstat(1, &one) == 0 && fstat(2, &two) == 0)
        same = one.st_ino == two.st_ino;
    assert_int_equal(dup2(saved_in, 0), 0);
    assert_int_equal(dup2(saved_out, 1), 1);
    assert_int_equal(close(saved_in), 0);
    assert_int_equal(close(saved_out), 0);
    assert_int_equal(err, 0);
    assert_int_equal(left, 0);
    assert_int_equal(same, 1);
    assert_true(in > 2 && out > 2 && (fcntl(in, F_GETFD) & FD_CLOEXEC));
    side_open(&a, host_loop(state), in, out);
    side_say(&a, "answer");
    assert_int_equal(write(to[1], "question", 8), 8);
    acp_fd_close(&to[1]);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_string_equal(test_cstr(&a.pair.in), "question");
    char text[32] = "";
    assert_int_equal(read(from[0], text, sizeof(text)), 6);
    assert_int_equal(read(from[0], text, sizeof(text)), 0);
    acp_fd_close(&from[0]);
    side_finish(&a);
}

/* ---- Pressure ------------------------------------------------------------------------------- */

static void fifty_megabytes_go_through_in_bounded_memory(void **state)
{
    enum { TOTAL = 50 * 1000 * 1000 };
    struct side a;
    struct side b;
    connect_pipes(host_loop(state), &a, &b);
    a.pair.to_send = TOTAL;
    b.pair.count_only = true;
    size_t before = host_resident();
    acp_link_wake(a.link);
    acp_link_end_output(a.link);
    assert_true(host_run_until(host_loop(state), &b.closed, HOST_LATE_MS));
    assert_int_equal(b.pair.received, TOTAL);
    assert_true(b.pair.hash == a.pair.sent_hash);
    assert_true(a.pair.most_out <= PAIR_FILL + 4096);
    assert_true(b.pair.most_chunk <= KIB(64));
    assert_true(host_resident() < before + MIB(16));
    side_finish(&a);
    side_finish(&b);
}

static void a_reader_that_stalls_stops_the_writer_and_not_the_loop(void **state)
{
    struct side a;
    struct side b;
    connect_pipes(host_loop(state), &a, &b);
    a.pair.to_send = MIB(4);
    b.pair.hold = true;
    b.pair.count_only = true;
    acp_link_wake(a.link);
    uint64_t start = host_now();
    host_run_for(host_loop(state), 400);
    assert_true(acp_link_is_stalled(a.link));
    /*
     * What a pipe holds, and one breath every 20 ms: so that two who wait for each other do not for
     * ever.
     */
    uint64_t breaths = (host_now() - start) / 20 + 1;
    assert_true(b.pair.received > 0 && b.pair.received <= breaths * KIB(64));
    assert_true(a.pair.sent <= (breaths + 1) * KIB(64));
    b.pair.hold = false;
    acp_link_wake(b.link);
    HOST_UNTIL(host_loop(state), b.pair.received >= MIB(4));
    assert_int_equal(b.pair.received, MIB(4));
    assert_false(acp_link_is_stalled(a.link));
    side_finish(&a);
    side_finish(&b);
}

static void two_sides_that_both_write_first_do_not_wait_for_ever(void **state)
{
    enum { TOTAL = 2 * 1024 * 1024 };
    struct side a;
    struct side b;
    connect_pipes(host_loop(state), &a, &b);
    /* Each has much to say and reads nothing while it is unsaid. */
    char *text = malloc(TOTAL);
    assert_non_null(text);
    memset(text, 'x', TOTAL);
    assert_int_equal(acp_buf_append(&a.pair.out, text, TOTAL), 0);
    assert_int_equal(acp_buf_append(&b.pair.out, text, TOTAL), 0);
    free(text);
    a.pair.mark = b.pair.mark = TOTAL / 2;
    acp_link_wake(a.link);
    acp_link_wake(b.link);
    HOST_UNTIL(host_loop(state), a.pair.received + b.pair.received >= MIB(4));
    assert_int_equal(a.pair.received, TOTAL);
    assert_int_equal(b.pair.received, TOTAL);
    side_finish(&a);
    side_finish(&b);
}

static void count_prepares(uv_prepare_t *handle)
{
    ++*(unsigned *) handle->data;
}

static void output_of_one_turn_is_written_at_once(void **state)
{
    struct side a;
    int pipe_ends[2];
    assert_int_equal(acp_fd_pipe(&pipe_ends[0], &pipe_ends[1]), 0);
    side_open(&a, host_loop(state), -1, pipe_ends[1]);
    for (int i = 0; i < 100; i++)
        side_say(&a, "0123456789");
    assert_int_equal(a.pair.sent, 0);
    (void) uv_run(host_loop(state), UV_RUN_NOWAIT);
    assert_int_equal(a.pair.sent, 1000);
    /* A loop that has nothing to do is left in peace. */
    unsigned turns = 0;
    uv_prepare_t prepare;
    assert_int_equal(uv_prepare_init(host_loop(state), &prepare), 0);
    prepare.data = &turns;
    assert_int_equal(uv_prepare_start(&prepare, count_prepares), 0);
    host_run_for(host_loop(state), 50);
    assert_true(turns < 20);
    uv_close((uv_handle_t *) &prepare, NULL);
    acp_fd_close(&pipe_ends[0]);
    side_finish(&a);
    host_run_for(host_loop(state), 1);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void the_last_output_is_sent_after_the_end_of_input(void **state)
{
    struct side a;
    int in[2];
    int out[2];
    assert_int_equal(acp_fd_pipe(&in[0], &in[1]), 0);
    assert_int_equal(acp_fd_pipe(&out[0], &out[1]), 0);
    side_open(&a, host_loop(state), in[0], out[1]);
    a.free_inside = true;
    pair_say(&a.pair, "last words");
    acp_fd_close(&in[1]);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, 0);
    char text[32] = "";
    assert_int_equal(read(out[0], text, sizeof(text)), 10);
    assert_int_equal(read(out[0], text, sizeof(text)), 0);
    acp_fd_close(&out[0]);
    side_finish(&a);
}

static void what_is_held_back_keeps_the_link_open(void **state)
{
    struct side a;
    int out[2];
    assert_int_equal(acp_fd_pipe(&out[0], &out[1]), 0);
    side_open(&a, host_loop(state), -1, out[1]);
    a.pair.holding = true;
    acp_link_close(a.link);
    host_run_for(host_loop(state), 20);
    assert_false(a.closed);
    a.pair.holding = false;
    side_say(&a, "at last");
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, 0);
    char text[32] = "";
    assert_int_equal(read(out[0], text, sizeof(text)), 7);
    acp_fd_close(&out[0]);
    side_finish(&a);
}

static void who_does_not_take_the_last_output_is_left(void **state)
{
    struct side a;
    int out[2];
    assert_int_equal(acp_fd_pipe(&out[0], &out[1]), 0);
    side_open(&a, host_loop(state), -1, out[1]);
    a.pair.to_send = MIB(1);
    uint64_t start = host_now();
    acp_link_close(a.link);
    assert_false(a.closed);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(a.reason, ACP_ERR_TIMEOUT);
    assert_true(host_now() - start >= 250);
    acp_fd_close(&out[0]);
    side_finish(&a);
}

static void a_broken_output_ends_the_link_after_the_last_input(void **state)
{
    struct side a;
    int in[2];
    int out[2];
    assert_int_equal(acp_fd_pipe(&in[0], &in[1]), 0);
    assert_int_equal(acp_fd_pipe(&out[0], &out[1]), 0);
    side_open(&a, host_loop(state), in[0], out[1]);
    host_run_for(host_loop(state), 5);
    acp_fd_close(&out[0]);
    assert_int_equal(write(in[1], "why it left", 11), 11);
    a.pair.hold = true; /* not even this keeps it from hearing */
    a.pair.mark = 1;
    side_say(&a, "to nobody");
    host_run_for(host_loop(state), 20);
    a.pair.hold = false;
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(acp_err_errno(a.reason), EPIPE);
    assert_string_equal(acp_io_err_text(a.reason), strerror(EPIPE));
    assert_string_equal(test_cstr(&a.pair.in), "why it left");
    assert_int_equal(a.pair.out.len, 0);
    acp_fd_close(&in[1]);
    side_finish(&a);
}

static void a_stalled_output_that_breaks_is_noticed(void **state)
{
    struct side a;
    int in[2];
    int out[2];
    assert_int_equal(acp_fd_pipe(&in[0], &in[1]), 0);
    assert_int_equal(acp_fd_pipe(&out[0], &out[1]), 0);
    side_open(&a, host_loop(state), in[0], out[1]);
    a.pair.to_send = MIB(1);
    acp_link_wake(a.link);
    host_run_for(host_loop(state), 20);
    assert_true(acp_link_is_stalled(a.link));
    acp_fd_close(&out[0]);
    acp_fd_close(&in[1]);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_int_equal(acp_err_errno(a.reason), EPIPE);
    side_finish(&a);
}

static void an_endpoint_that_is_closed_ends_the_link_with_its_reason(void **state)
{
    struct side a;
    struct side b;
    connect_pipes(host_loop(state), &a, &b);
    b.pair.refuse = ACP_ERR_CLOSED;
    side_say(&a, "anything");
    side_say(&b, "parting words");
    assert_true(host_run_until(host_loop(state), &b.closed, HOST_LATE_MS));
    assert_int_equal(b.reason, ACP_ERR_CLOSED);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    assert_string_equal(test_cstr(&a.pair.in), "parting words");
    side_finish(&a);
    side_finish(&b);
}

static void deadlines_tick(void **state)
{
    struct side a;
    int in[2];
    assert_int_equal(acp_fd_pipe(&in[0], &in[1]), 0);
    side_open(&a, host_loop(state), in[0], -1);
    uv_update_time(host_loop(state));
    a.pair.deadline = uv_now(host_loop(state)) + 30;
    acp_link_wake(a.link);
    host_run_for(host_loop(state), 100);
    assert_int_equal(a.pair.ticks, 1); /* and not before its time: pair_tick() looks */
    a.pair.deadline = 0;
    acp_link_wake(a.link);
    host_run_for(host_loop(state), 10);
    assert_int_equal(a.pair.ticks, 2);
    acp_fd_close(&in[1]);
    side_finish(&a);
}

static int free_inside(void *self, const void *bytes, size_t n, uint64_t now)
{
    (void) bytes;
    (void) n;
    (void) now;
    struct side *side = (struct side *) self;
    acp_link_free(side->link);
    side->link = NULL;
    side->closed = true;
    return 0;
}

static void a_link_may_be_freed_while_it_delivers(void **state)
{
    struct side a;
    int in[2];
    assert_int_equal(acp_fd_pipe(&in[0], &in[1]), 0);
    a = (struct side){0};
    pair_init(&a.pair);
    a.pair.instead = free_inside; /* pair is the first member of side */
    struct acp_link_options options = {.in = in[0], .out = -1};
    assert_int_equal(
        acp_link_new(host_loop(state), &options, a.pair.endpoint, &handler, &a, &a.link), 0);
    assert_int_equal(write(in[1], "x", 1), 1);
    assert_true(host_run_until(host_loop(state), &a.closed, HOST_LATE_MS));
    acp_fd_close(&in[1]);
    pair_finish(&a.pair);
    acp_link_free(NULL);
}

static void a_bad_descriptor_is_an_error(void **state)
{
    struct acp_link *link = NULL;
    struct pair pair;
    pair_init(&pair);
    int closed = dup(0);
    assert_int_equal(close(closed), 0);
    struct acp_link_options options = {.in = closed, .out = -1};
    int err = acp_link_new(host_loop(state), &options, pair.endpoint, &handler, NULL, &link);
    assert_int_equal(acp_err_errno(err), EBADF);
    assert_null(link);
    pair_finish(&pair);
}

/* ---- Peers ---------------------------------------------------------------------------------- */

struct talker {
    struct acp_peer *peer;
    struct acp_link *link;
    unsigned answers;
    bool done;
};

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    (void) user;
    assert_int_equal(acp_peer_result(peer, call, message->params), 0);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) request;
    struct talker *t = user;
    assert_int_equal(reply->err, 0);
    if (++t->answers == 1000) {
        t->done = true;
        return;
    }
    struct acp_request next = {.method = ACP_STR("echo"), .reply = on_reply, .user = t};
    assert_int_equal(acp_peer_request(peer, &next, acp_raw_from("[1,2,3]"), NULL), 0);
}

static void peers_talk_over_links(void **state)
{
    static const struct acp_peer_handler handlers = {.request = on_request};
    struct talker t[2] = {{0}, {0}};
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(acp_peer_new(NULL, &handlers, &t[i], &t[i].peer), 0);
        struct acp_endpoint *endpoint = acp_peer_endpoint(t[i].peer);
        struct acp_link_options options = {.in = ends[i], .out = ends[i]};
        assert_int_equal(acp_link_new(host_loop(state), &options, endpoint, NULL, NULL, &t[i].link),
                         0);
    }
    struct acp_request first = {.method = ACP_STR("echo"), .reply = on_reply, .user = &t[0]};
    assert_int_equal(acp_peer_request(t[0].peer, &first, acp_raw_from("[1]"), NULL), 0);
    assert_true(host_run_until(host_loop(state), &t[0].done, HOST_LATE_MS));
    for (int i = 0; i < 2; i++) {
        acp_link_free(t[i].link);
        acp_peer_free(t[i].peer);
    }
}

static void on_only_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                          void *user)
{
    struct talker *t = user;
    (void) peer;
    (void) request;
    assert_int_equal(reply->err, 0);
    t->done = true;
}

/*
 * The peer was last told the time long ago.  The loop's clock counts from the start of the machine,
 * so that "long ago" is time 1 here: a timeout that is counted from there is over at once, one that
 * is counted from now is many minutes away.
 */
static void a_request_after_a_long_silence_has_all_of_its_time(void **state)
{
    static const struct acp_peer_handler handlers = {.request = on_request};
    struct talker t[2] = {{0}, {0}};
    int ends[2];
    uint64_t now = uv_now(host_loop(state));
    assert_true(now > 60000);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(acp_peer_new(NULL, &handlers, &t[i], &t[i].peer), 0);
        struct acp_endpoint *endpoint = acp_peer_endpoint(t[i].peer);
        struct acp_link_options options = {.in = ends[i], .out = ends[i]};
        assert_int_equal(acp_link_new(host_loop(state), &options, endpoint, NULL, NULL, &t[i].link),
                         0);
        acp_endpoint_tick(endpoint, 1);
    }
    struct acp_request request = {
        .method = ACP_STR("echo"), .timeout_ms = now / 2, .reply = on_only_reply, .user = &t[0]};
    assert_int_equal(acp_peer_request(t[0].peer, &request, acp_raw_from("[1]"), NULL), 0);
    assert_true(host_run_until(host_loop(state), &t[0].done, HOST_LATE_MS));
    for (int i = 0; i < 2; i++) {
        acp_link_free(t[i].link);
        acp_peer_free(t[i].peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(bytes_go_both_ways_over_pipes),
        host_test(bytes_go_both_ways_over_one_socket),
        host_test(files_are_read_to_their_end_and_written),
        host_test(dev_null_is_an_end_and_swallows),
        host_test(a_terminal_is_taken_without_changing_it_for_others),
        host_test(standard_input_and_output_are_taken_for_the_protocol),
        host_test(fifty_megabytes_go_through_in_bounded_memory),
        host_test(a_reader_that_stalls_stops_the_writer_and_not_the_loop),
        host_test(two_sides_that_both_write_first_do_not_wait_for_ever),
        host_test(output_of_one_turn_is_written_at_once),
        host_test(the_last_output_is_sent_after_the_end_of_input),
        host_test(what_is_held_back_keeps_the_link_open),
        host_test(who_does_not_take_the_last_output_is_left),
        host_test(a_broken_output_ends_the_link_after_the_last_input),
        host_test(a_stalled_output_that_breaks_is_noticed),
        host_test(an_endpoint_that_is_closed_ends_the_link_with_its_reason),
        host_test(deadlines_tick),
        host_test(a_link_may_be_freed_while_it_delivers),
        host_test(a_bad_descriptor_is_an_error),
        host_test(peers_talk_over_links),
        host_test(a_request_after_a_long_silence_has_all_of_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
