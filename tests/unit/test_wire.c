/*
 * Framing: streams and the frames they are cut into.  Every stream of the tables is fed whole, byte
 * by byte, in two pieces cut at every place, and in random pieces; the frames must be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "acp/wire.h"

enum { SMALL = 24 }; /* the limit for one message where a row does not say more */

/* ---- Reading a stream into a transcript ------------------------------------------------------ */

static const char letters[] = {
    [ACP_FRAME_MESSAGE] = 'M', [ACP_FRAME_TOO_LARGE] = 'L', [ACP_FRAME_NOISE] = 'N'};

/* "M<text>;" for each frame. */
static void drain(struct acp_deframer *d, struct acp_buf *log)
{
    struct acp_frame frame;
    for (;;) {
        assert_int_equal(acp_deframer_next(d, &frame), 0);
        if (!frame.kind)
            return;
        assert_true(frame.kind == ACP_FRAME_NOISE || frame.text.len <= d->max_message);
        assert_int_equal(acp_buf_append(log, &letters[frame.kind], 1), 0);
        assert_int_equal(acp_buf_append(log, "<", 1), 0);
        assert_int_equal(acp_buf_append_str(log, frame.text), 0);
        assert_int_equal(acp_buf_append(log, ">", 1), 0);
    }
}

/* The pieces are copied, so that reading outside of one is seen by the sanitizer. */
static void feed(struct acp_deframer *d, const char *bytes, size_t n, struct acp_buf *log)
{
    char *piece = malloc(n ? n : 1);
    assert_non_null(piece);
    memcpy(piece, bytes, n);
    acp_deframer_feed(d, piece, n);
    drain(d, log);
    free(piece);
}

enum cut { WHOLE, BYTES, AT, RANDOM };

static void check(enum acp_framing framing, size_t max, struct acp_str stream, const char *want,
                  enum cut cut, size_t at)
{
    struct acp_deframer d;
    struct acp_buf log;
    acp_deframer_init(&d, framing, max);
    acp_buf_init(&log, 1 << 24);
    for (size_t done = 0; done < stream.len;) {
        size_t left = stream.len - done;
        size_t n = cut == BYTES    ? 1
                   : cut == AT     ? (done == 0 && at ? at : left)
                   : cut == RANDOM ? 1 + (size_t) rand() % 7
                                   : left;
        n = n < left ? n : left;
        feed(&d, stream.ptr + done, n, &log);
        done += n;
    }
    acp_deframer_end(&d);
    drain(&d, &log);
    drain(&d, &log); /* and after the end nothing comes any more */
    assert_int_equal(acp_buf_append(&log, "", 1), 0);
    if (strcmp(acp_buf_view(&log).ptr, want) != 0)
        print_error("cut %d at %zu of %.*s\n", (int) cut, at, (int) stream.len, stream.ptr);
    assert_string_equal(acp_buf_view(&log).ptr, want);
    acp_buf_finish(&log);
    acp_deframer_finish(&d);
}

static void check_all_cuts(enum acp_framing framing, size_t max, struct acp_str stream,
                           const char *want)
{
    check(framing, max, stream, want, WHOLE, 0);
    check(framing, max, stream, want, BYTES, 0);
    for (size_t at = 1; at < stream.len; at++)
        check(framing, max, stream, want, AT, at);
    for (int i = 0; i < 20; i++)
        check(framing, max, stream, want, RANDOM, 0);
}

struct row {
    const char *stream;
    const char *want;
};

static void check_rows(enum acp_framing framing, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_all_cuts(framing, SMALL, acp_str_from(rows[i].stream), rows[i].want);
}

#define CHECK_ROWS(framing, rows) check_rows((framing), (rows), sizeof(rows) / sizeof((rows)[0]))

/* ---- Lines ---------------------------------------------------------------------------------- */

static void com_stdio_02_one_message_a_line(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"{}\n", "M<{}>"},
        {"{\"a\":1}\n[2]\n", "M<{\"a\":1}>M<[2]>"},
        {"not json\n{}\n", "M<not json>M<{}>"},
        {"", ""},
    };
    CHECK_ROWS(ACP_FRAMING_LINES, rows);
}

static void com_stdio_03_accepts_crlf_and_skips_empty_lines(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"1\r\n2\n3\r\n", "M<1>M<2>M<3>"},
        {"\n\r\n \t \r\n1\n\n\n2\n", "M<1>M<2>"},
        {"1\r2\n", "M<1\r2>"}, /* a lone CR ends nothing */
        {"1\r\r\n", "M<1\r>"},
        {" 1 \n", "M< 1 >"},
    };
    CHECK_ROWS(ACP_FRAMING_LINES, rows);
}

static void com_stdio_04_last_line_without_terminator(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"1\n2", "M<1>M<2>"},
        {"1\n2\r", "M<1>M<2>"},
        {"1\n \t", "M<1>"},
        {"x", "M<x>"},
    };
    CHECK_ROWS(ACP_FRAMING_LINES, rows);
}

static void com_stdio_12_too_large_once_and_skipped(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"123456789012345678901234\n1\n", "M<123456789012345678901234>M<1>"},
        {"123456789012345678901234\r\n1\n", "M<123456789012345678901234>M<1>"},
        {"123456789012345678901234", "M<123456789012345678901234>"},
        {"123456789012345678901234\r", "M<123456789012345678901234>"},
        {"1234567890123456789012345\n1\n", "L<123456789012345678901234>M<1>"},
        {"1234567890123456789012345\r\n1\n", "L<123456789012345678901234>M<1>"},
        {"123456789012345678901234\r\r\n1\n", "L<123456789012345678901234>M<1>"},
        {"123456789012345678901234\rx\n1\n", "L<123456789012345678901234>M<1>"},
        {"1234567890123456789012345678901234567890123456789012345678901234567890\n\n2\n",
         "L<123456789012345678901234>M<2>"},
        {"1234567890123456789012345", "L<123456789012345678901234>"},
        {"1\n1234567890123456789012345678\n1234567890123456789012345678\n2",
         "M<1>L<123456789012345678901234>L<123456789012345678901234>M<2>"},
    };
    CHECK_ROWS(ACP_FRAMING_LINES, rows);
}

/* It is said when it is known, not when the line ends; and nothing of the rest is stored. */
static void com_stdio_12_too_large_is_said_at_once(void **state)
{
    (void) state;
    enum { MAX = 1000, PIECE = 100 };
    struct acp_deframer d;
    struct acp_frame frame;
    char piece[PIECE];
    memset(piece, 'x', sizeof(piece));
    acp_deframer_init(&d, ACP_FRAMING_LINES, MAX);
    int said = 0;
    for (int i = 0; i < 10000; i++) {
        acp_deframer_feed(&d, piece, sizeof(piece));
        assert_int_equal(acp_deframer_next(&d, &frame), 0);
        if (frame.kind) {
            assert_int_equal(frame.kind, ACP_FRAME_TOO_LARGE);
            assert_int_equal(frame.text.len, 200);
            assert_int_equal(i, MAX / PIECE);
            said++;
            assert_int_equal(acp_deframer_next(&d, &frame), 0);
            assert_int_equal(frame.kind, ACP_FRAME_NONE);
        }
        assert_in_range(d.pending.cap, 0, 8 * 1024);
    }
    assert_int_equal(said, 1);
    acp_deframer_feed(&d, "\n7\n", 3);
    assert_int_equal(acp_deframer_next(&d, &frame), 0);
    assert_int_equal(frame.kind, ACP_FRAME_MESSAGE);
    assert_memory_equal(frame.text.ptr, "7", 1);
    acp_deframer_finish(&d);
}

static void a_message_that_lies_whole_in_the_input_is_not_copied(void **state)
{
    (void) state;
    static const char bytes[] = "{\"a\":1}\n{\"b\":2}\r\n{\"c\"";
    struct acp_deframer d;
    struct acp_frame frame;
    acp_deframer_init(&d, ACP_FRAMING_AUTO, 0);
    acp_deframer_feed(&d, bytes, sizeof(bytes) - 1);
    assert_int_equal(acp_deframer_next(&d, &frame), 0);
    assert_ptr_equal(frame.text.ptr, bytes);
    assert_int_equal(acp_deframer_next(&d, &frame), 0);
    assert_ptr_equal(frame.text.ptr, bytes + 8);
    assert_int_equal(frame.text.len, 7);
    assert_null(d.pending.data);
    acp_deframer_finish(&d);
}

/* A line in very many pieces: linear, and the buffer for it does not stay. */
static void a_large_line_in_small_pieces(void **state)
{
    (void) state;
    enum { SIZE = 16 * 1024 * 1024, PIECE = 16 };
    struct acp_deframer d;
    struct acp_frame frame;
    char piece[PIECE];
    memset(piece, '1', sizeof(piece));
    acp_deframer_init(&d, ACP_FRAMING_LINES, 0);
    for (size_t i = 0; i < SIZE / PIECE; i++) {
        acp_deframer_feed(&d, piece, sizeof(piece));
        assert_int_equal(acp_deframer_next(&d, &frame), 0);
        assert_int_equal(frame.kind, ACP_FRAME_NONE);
    }
    acp_deframer_feed(&d, "\n", 1);
    assert_int_equal(acp_deframer_next(&d, &frame), 0);
    assert_int_equal(frame.kind, ACP_FRAME_MESSAGE);
    assert_int_equal(frame.text.len, SIZE);
    assert_int_equal(acp_deframer_next(&d, &frame), 0);
    assert_int_equal(frame.kind, ACP_FRAME_NONE);
    assert_int_equal(d.pending.cap, 0);
    acp_deframer_finish(&d);
}

/* ---- Content-Length ------------------------------------------------------------------------- */

static void content_length_frames(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"Content-Length: 2\r\n\r\n{}", "M<{}>"},
        {"Content-Length: 2\n\n{}Content-Length:3\n\n[1]", "M<{}>M<[1]>"},
        {"content-LENGTH: 2 \r\n\r\n{}", "M<{}>"},
        {"Content-Type: application/x; charset=utf-8\r\nContent-Length:\t2\r\n\r\n{}", "M<{}>"},
        {"X-Other: 7\r\nContent-Length: 2\r\nY: \r\n\r\n{}", "M<{}>"},
        {"Content-Length: 5\r\n\r\n1\n\r\n2Content-Length: 1\r\n\r\n3", "M<1\n\r\n2>M<3>"},
        {"\r\n\n  \nContent-Length: 1\r\n\r\n1\r\n\r\nContent-Length: 1\r\n\r\n2", "M<1>M<2>"},
        {"Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1", "M<>M<1>"},
        {"Content-Length: 0\r\n\r\n", "M<>"},
        {"Content-Length: 1\r\nContent-Length: 1\r\n\r\n1", "M<1>"},
        {"Content-Length: 24\r\n\r\n123456789012345678901234", "M<123456789012345678901234>"},
    };
    CHECK_ROWS(ACP_FRAMING_CONTENT_LENGTH, rows);
}

static void content_length_bad_headers_are_noise(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"hello\nContent-Length: 1\r\n\r\n1", "N<hello>M<1>"},
        {"{\"jsonrpc\":\"2.0\"}\r\n[]\nContent-Length: 1\r\n\r\n1", "N<{\"jsonrpc\":\"2.0\"}>M<1>"},
        {"Content-Length: x\r\n\r\n{}\nContent-Length: 1\r\n\r\n1", "N<Content-Length: x>M<1>"},
        {"Content-Length: \r\n\r\ncontent-length: 1\r\n\r\n1", "N<Content-Length: >M<1>"},
        {"Content-Length: -1\r\n\r\nContent-Length: 1\r\n\r\n1", "N<Content-Length: -1>M<1>"},
        {"Content-Length: 1 2\r\nContent-Length: 1\r\n\r\n1", "N<Content-Length: 1 2>M<1>"},
        {"Content-Length: 99999999999999999999999999\r\n\r\nContent-Length: 1\r\n\r\n1",
         "N<Content-Length: 99999999999999999999999999>M<1>"},
        {"Content-Length: 18446744073709551616\r\n\r\nContent-Length: 1\r\n\r\n1",
         "N<Content-Length: 18446744073709551616>M<1>"},
        {"Content-Length: 1\r\nContent-Length: 2\r\n\r\nContent-Length: 1\r\n\r\n1",
         "N<Content-Length: 1\r\nContent-Length: 2>M<1>"},
        {"Content-Type: a\r\n\r\n{}\r\nContent-Length: 1\r\n\r\n1", "N<Content-Type: a>M<1>"},
        {"Content-Length: 1\r\nbad\r\n\r\n1\nContent-Length: 1\r\n\r\n2",
         "N<Content-Length: 1\r\nbad>M<2>"},
        {": 1\r\nContent-Length: 1\r\n\r\n1", "N<: 1>M<1>"},
        {"x\nConten\nContentContent-Length: 3\nContent-Length: 1\r\n\r\n1", "N<x>M<1>"},
        {"x\nConten", "N<x>"},
    };
    CHECK_ROWS(ACP_FRAMING_CONTENT_LENGTH, rows);
}

static void content_length_cut_off_by_the_end_is_noise(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"Content-Length: 5\r\n\r\n1234", "N<1234>"},
        {"Content-Length: 5\r\n\r\n", "N<>"},
        {"Content-Length: 5\r\n", "N<Content-Length: 5\r\n>"},
        {"Content-Len", "N<Content-Len>"},
        {"Content-Length: 1\r\n\r\n1\r\n", "M<1>"},
    };
    CHECK_ROWS(ACP_FRAMING_CONTENT_LENGTH, rows);
}

static void content_length_too_large_once_and_skipped(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"Content-Length: 25\r\n\r\n1234567890123456789012345Content-Length: 1\r\n\r\n1",
         "L<123456789012345678901234>M<1>"},
        {"Content-Length: 26\r\n\r\n123456789012345678901234\n\nContent-Length: 1\r\n\r\n1",
         "L<123456789012345678901234>M<1>"},
        {"Content-Length: 999999999999\r\n\r\n1234", "L<1234>"},
        {"Content-Length: 999999999999\r\n\r\n123456789012345678901234567",
         "L<123456789012345678901234>"},
        {"Content-Length: 18446744073709551615\r\n\r\n1", "L<1>"},
    };
    CHECK_ROWS(ACP_FRAMING_CONTENT_LENGTH, rows);
}

static void content_length_header_block_is_bounded(void **state)
{
    (void) state;
    struct acp_buf stream;
    struct acp_buf want;
    acp_buf_init(&stream, 1 << 20);
    acp_buf_init(&want, 1 << 20);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(acp_buf_printf(&stream, "X-Line-%04d: ab\r\n", i), 0);
    assert_int_equal(acp_buf_printf(&stream, "\r\nContent-Length: 1\r\n\r\n1"), 0);
    assert_int_equal(acp_buf_printf(&want, "N<%.200s>M<1>", stream.data), 0);
    assert_int_equal(acp_buf_append(&want, "", 1), 0);
    struct acp_str text = acp_buf_view(&stream);
    check(ACP_FRAMING_CONTENT_LENGTH, 1 << 20, text, want.data, WHOLE, 0);
    check(ACP_FRAMING_CONTENT_LENGTH, 1 << 20, text, want.data, BYTES, 0);
    check(ACP_FRAMING_CONTENT_LENGTH, 1 << 20, text, want.data, RANDOM, 0);
    acp_buf_finish(&stream);
    acp_buf_finish(&want);
}

/* ---- Auto ----------------------------------------------------------------------------------- */

static void auto_decides_by_the_first_bytes(void **state)
{
    (void) state;
    static const struct {
        const char *stream;
        enum acp_framing framing;
        const char *want;
    } rows[] = {
        {"{}\n1\n", ACP_FRAMING_LINES, "M<{}>M<1>"},
        {"\n \r\n{}\n", ACP_FRAMING_LINES, "M<{}>"},
        {"Content-Length: 2\r\n\r\n{}", ACP_FRAMING_CONTENT_LENGTH, "M<{}>"},
        {"\r\n cOnTeNt-Length: 2\r\n\r\n{}", ACP_FRAMING_CONTENT_LENGTH, "M<{}>"},
        {"Content-Type: a\nContent-Length: 2\n\n{}", ACP_FRAMING_CONTENT_LENGTH, "M<{}>"},
        {"Content Length\n2\n", ACP_FRAMING_LINES, "M<Content Length>M<2>"},
        {"Conte\n2\n", ACP_FRAMING_LINES, "M<Conte>M<2>"},
        {"Conte", ACP_FRAMING_LINES, "M<Conte>"},
        {"log line\n{}\n", ACP_FRAMING_LINES, "M<log line>M<{}>"},
        {" \n ", ACP_FRAMING_AUTO, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_str stream = acp_str_from(rows[i].stream);
        check_all_cuts(ACP_FRAMING_AUTO, SMALL, stream, rows[i].want);
        check_all_cuts(ACP_FRAMING_AUTO, 0, stream, rows[i].want);

        struct acp_deframer d;
        struct acp_buf log;
        acp_deframer_init(&d, ACP_FRAMING_AUTO, 0);
        acp_buf_init(&log, 4096);
        feed(&d, stream.ptr, stream.len, &log);
        acp_deframer_end(&d);
        drain(&d, &log);
        assert_int_equal(d.framing, rows[i].framing);
        acp_buf_finish(&log);
        acp_deframer_finish(&d);
    }
    /* A limit below what AUTO looks at still holds. */
    check_all_cuts(ACP_FRAMING_AUTO, 4, (struct acp_str) ACP_STR("Conten"), "L<Cont>");
    check_all_cuts(ACP_FRAMING_AUTO, 4, (struct acp_str) ACP_STR("Conten\n1"), "L<Cont>M<1>");
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void put_frame(struct acp_buf *out, enum acp_framing framing, const char *text)
{
    size_t mark;
    assert_int_equal(acp_frame_begin(out, framing, &mark), 0);
    assert_int_equal(acp_buf_append_str(out, acp_str_from(text)), 0);
    assert_int_equal(acp_frame_end(out, framing, mark), 0);
}

static void frames_are_written_and_read_back(void **state)
{
    (void) state;
    static const struct {
        enum acp_framing framing;
        const char *want;
    } rows[] = {
        {ACP_FRAMING_AUTO, "{}\n[1234567890]\n"},
        {ACP_FRAMING_LINES, "{}\n[1234567890]\n"},
        {ACP_FRAMING_CONTENT_LENGTH,
         "Content-Length: 2\r\n\r\n{}Content-Length: 12\r\n\r\n[1234567890]"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_buf out;
        acp_buf_init(&out, 4096);
        put_frame(&out, rows[i].framing, "{}");
        put_frame(&out, rows[i].framing, "[1234567890]");
        struct acp_str view = acp_buf_view(&out);
        assert_int_equal(view.len, strlen(rows[i].want));
        assert_memory_equal(view.ptr, rows[i].want, view.len);
        check_all_cuts(rows[i].framing, SMALL, view, "M<{}>M<[1234567890]>");
        acp_buf_finish(&out);
    }
}

/* Also behind bytes that were consumed, which the marks do not count. */
static void frames_are_written_behind_consumed_bytes(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 4096);
    put_frame(&out, ACP_FRAMING_CONTENT_LENGTH, "1");
    put_frame(&out, ACP_FRAMING_CONTENT_LENGTH, "22");
    acp_buf_consume(&out, strlen("Content-Length: 1\r\n\r\n1"));
    put_frame(&out, ACP_FRAMING_CONTENT_LENGTH, "333");
    check_all_cuts(ACP_FRAMING_CONTENT_LENGTH, SMALL, acp_buf_view(&out), "M<22>M<333>");
    acp_buf_finish(&out);
}

static void a_frame_that_does_not_fit_is_taken_back(void **state)
{
    (void) state;
    struct acp_buf out;
    size_t mark;
    acp_buf_init(&out, 6);
    put_frame(&out, ACP_FRAMING_LINES, "1");
    assert_int_equal(acp_frame_begin(&out, ACP_FRAMING_LINES, &mark), 0);
    assert_int_equal(acp_buf_append(&out, "2345", 4), 0);
    assert_int_equal(acp_frame_end(&out, ACP_FRAMING_LINES, mark), ACP_ERR_LIMIT);
    assert_int_equal(out.len, 2);
    assert_int_equal(acp_frame_begin(&out, ACP_FRAMING_CONTENT_LENGTH, &mark), ACP_ERR_LIMIT);
    assert_int_equal(out.len, 2);
    acp_buf_finish(&out);
}

int main(void)
{
    unsigned seed = 20260301;
    const char *text = getenv("ACP_TEST_SEED");
    if (text && sscanf(text, "%u", &seed) != 1)
        return 1;
    printf("# seed %u (ACP_TEST_SEED)\n", seed);
    srand(seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(com_stdio_02_one_message_a_line),
        cmocka_unit_test(com_stdio_03_accepts_crlf_and_skips_empty_lines),
        cmocka_unit_test(com_stdio_04_last_line_without_terminator),
        cmocka_unit_test(com_stdio_12_too_large_once_and_skipped),
        cmocka_unit_test(com_stdio_12_too_large_is_said_at_once),
        cmocka_unit_test(a_message_that_lies_whole_in_the_input_is_not_copied),
        cmocka_unit_test(a_large_line_in_small_pieces),
        cmocka_unit_test(content_length_frames),
        cmocka_unit_test(content_length_bad_headers_are_noise),
        cmocka_unit_test(content_length_cut_off_by_the_end_is_noise),
        cmocka_unit_test(content_length_too_large_once_and_skipped),
        cmocka_unit_test(content_length_header_block_is_bounded),
        cmocka_unit_test(auto_decides_by_the_first_bytes),
        cmocka_unit_test(frames_are_written_and_read_back),
        cmocka_unit_test(frames_are_written_behind_consumed_bytes),
        cmocka_unit_test(a_frame_that_does_not_fit_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
