/* The way to terminals and pipes: what is filtered where, in pieces, for slow readers and none. */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "cli/output.h"

static const char hostile[] = "\033[2J\xC2\x9B\xE2\x80\xAE";

static void check_pending(struct output *out, const char *want)
{
    assert_int_equal(out->err, 0);
    assert_int_equal(acp_buf_append(&out->pending, "", 1), 0);
    assert_string_equal(acp_buf_view(&out->pending).ptr, want);
    output_finish(out);
}

static void results_in_a_pipe_are_exact_but_for_json(void **state)
{
    struct output out;
    (void) state;
    output_init_results(&out, -1);
    output_text(&out, acp_str_from(hostile));
    output_prose(&out, acp_str_from(hostile));
    output_printf(&out, "%s", hostile);
    output_json(&out, acp_str_from(hostile + 4));
    check_pending(&out, "\033[2J\xC2\x9B\xE2\x80\xAE\033[2J\xC2\x9B\xE2\x80\xAE"
                        "\033[2J\xC2\x9B\xE2\x80\xAE\\u009b\\u202e");
}

static void messages_are_filtered_wherever_they_go(void **state)
{
    struct output out;
    (void) state;
    output_init_messages(&out, -1);
    output_text(&out, acp_str_from(hostile));
    output_printf(&out, " %s%d\n", "\xC2", 7);
    check_pending(&out, "\\x1b[2J\\u{9b}\\u{202e} \\xc27\n");
}

static void styles_are_written_only_where_they_are_wanted(void **state)
{
    struct output out;
    (void) state;
    output_init_messages(&out, -1);
    output_style(&out, STYLE_RED);
    output_text(&out, acp_str_from("a\xE2\x80")); /* cut, so that the style could end it */
    out.styled = true;
    output_style(&out, STYLE_NONE);
    output_text(&out, acp_str_from("b"));
    check_pending(&out, "a\\xe2\\x80\033[0mb");
}

static void a_long_line_is_printed_whole(void **state)
{
    struct output out;
    char line[5000];
    (void) state;
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    output_init_messages(&out, -1);
    output_printf(&out, "%s", line);
    check_pending(&out, line);
}

/* What a thread has read of a pipe until its end. */
struct reader {
    int fd;
    size_t count;
    size_t wrong;
};

static void *read_all(void *user)
{
    struct reader *reader = user;
    char bytes[4096];
    ssize_t n;
    while ((n = read(reader->fd, bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < n; i++, reader->count++)
            reader->wrong += bytes[i] != "ab\\u{202e}"[reader->count % 10];
    return NULL;
}

/* Much more than a pipe holds, through one that says so instead of waiting. */
static void nothing_is_lost_where_writes_do_not_wait(void **state)
{
    enum { TIMES = 100000 };
    int ends[2];
    struct output out;
    pthread_t thread;
    (void) state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    struct reader reader = {.fd = ends[0]};
    assert_int_equal(pthread_create(&thread, NULL, read_all, &reader), 0);
    output_init_messages(&out, ends[1]);
    char *text = malloc((size_t) TIMES * 5);
    assert_non_null(text);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(text + i * 5, "ab\xE2\x80\xAE", 5);
    output_text(&out, acp_str_n(text, (size_t) TIMES * 5));
    assert_int_equal(output_flush(&out), 0);
    (void) close(ends[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(reader.count, (size_t) TIMES * 10);
    assert_int_equal(reader.wrong, 0);
    (void) close(ends[0]);
    free(text);
    output_finish(&out);
}

static void a_reader_that_has_gone_is_an_error_that_stays(void **state)
{
    int ends[2];
    struct output out;
    (void) state;
    (void) signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void) close(ends[0]);
    output_init_results(&out, ends[1]);
    output_text(&out, acp_str_from("x"));
    int err = output_flush(&out);
    assert_true(err < 0);
    assert_int_equal(out.reason, EPIPE);
    output_text(&out, acp_str_from("y"));
    assert_int_equal(output_flush(&out), err);
    (void) close(ends[1]);
    output_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_in_a_pipe_are_exact_but_for_json),
        cmocka_unit_test(messages_are_filtered_wherever_they_go),
        cmocka_unit_test(styles_are_written_only_where_they_are_wanted),
        cmocka_unit_test(a_long_line_is_printed_whole),
        cmocka_unit_test(nothing_is_lost_where_writes_do_not_wait),
        cmocka_unit_test(a_reader_that_has_gone_is_an_error_that_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
