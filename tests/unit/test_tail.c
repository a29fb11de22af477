/* The tail and the sanitizer of UTF-8, each against a model that is too simple to be wrong. */
#include "helpers.h"

#include "base/utf8.h"
#include "io/tail.h"
#include "io/utf8_sanitize.h"

/* ---- The models ----------------------------------------------------------------------------- */

/* Every byte that begins no whole character becomes U+FFFD. */
static void model_sanitize(struct acp_str bytes, struct acp_buf *out)
{
    const char *end = bytes.ptr + bytes.len;
    for (const char *p = bytes.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        int err = n ? acp_buf_append(out, p, n) : acp_buf_append(out, "\xEF\xBF\xBD", 3);
        assert_int_equal(err, 0);
        p += n ? n : 1;
    }
}

/* The last characters that fit into limit bytes. */
static struct acp_str model_tail(struct acp_str text, size_t limit)
{
    size_t from = text.len > limit ? text.len - limit : 0;
    while (from < text.len && ((unsigned char) text.ptr[from] & 0xC0) == 0x80)
        from++;
    return acp_str_n(text.ptr + from, text.len - from);
}

static bool is_valid(struct acp_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}

static void gather(void *self, struct acp_str text)
{
    assert_true(text.len > 0);
    assert_true(is_valid(text));
    assert_int_equal(acp_buf_append(self, text.ptr, text.len), 0);
}

/* Text in which whole, cut and wrong characters follow each other. */
static void random_bytes(struct acp_buf *out, size_t n)
{
    static const char *const pieces[] = {
        "a",
        "\n",
        "line of text, rather long\n",
        "\xC3\xA4",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xFF",
        "\x80",
        "\xED\xA0\x80",
        "\xC0\xAF",
        "\xE0",
        "\xF4\x90\x80\x80",
        "\xF0",
        "\xF4",
        "\xED",
        "\xE0\x80\x80",
        "12345678",
    };
    while (out->len < n) {
        const char *piece = pieces[test_below(COUNT(pieces))];
        char byte = (char) test_below(256);
        if (test_below(10) == 0)
            assert_int_equal(acp_buf_append(out, &byte, 1), 0);
        else
            assert_int_equal(acp_buf_append(out, piece, strlen(piece)), 0);
    }
}

/* ---- Sanitizing ----------------------------------------------------------------------------- */

static void text_comes_out_the_same_however_it_is_cut(void **state)
{
    (void) state;
    for (size_t round = 0; round < 3000; round++) {
        struct acp_buf bytes;
        struct acp_buf expected;
        struct acp_buf got;
        acp_buf_init(&bytes, 1 << 20);
        acp_buf_init(&expected, 1 << 20);
        acp_buf_init(&got, 1 << 20);
        random_bytes(&bytes, test_below(400));
        struct acp_str all = acp_buf_view(&bytes);
        model_sanitize(all, &expected);
        struct acp_utf8_sanitizer sanitizer = {0};
        size_t most = 1 + test_below(40);
        for (size_t at = 0; at < all.len;) {
            size_t n = 1 + test_below(most);
            n = n < all.len - at ? n : all.len - at;
            struct acp_raw piece = test_exact(acp_raw_n(all.ptr + at, n));
            acp_utf8_sanitize_feed(&sanitizer, acp_str_n(piece.ptr, piece.len), gather, &got);
            test_exact_free(piece);
            at += n;
        }
        acp_utf8_sanitize_end(&sanitizer, gather, &got);
        CHECK_ROW(acp_str_eq(acp_buf_view(&got), acp_buf_view(&expected)), round, "%zu bytes",
                  all.len);
        acp_buf_finish(&bytes);
        acp_buf_finish(&expected);
        acp_buf_finish(&got);
    }
}

static void a_character_is_handed_on_as_soon_as_it_is_whole(void **state)
{
    (void) state;
    struct acp_buf got;
    acp_buf_init(&got, 1000);
    struct acp_utf8_sanitizer sanitizer = {0};
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from("x\xE2"), gather, &got);
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from("\x82"), gather, &got);
    assert_text_equal(acp_buf_view(&got), "x");
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from("\xAC"), gather, &got);
    assert_text_equal(acp_buf_view(&got), "x\xE2\x82\xAC");
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from("\xF0\x9F"), gather, &got);
    acp_utf8_sanitize_end(&sanitizer, gather, &got);
    acp_utf8_sanitize_end(&sanitizer, gather, &got);
    assert_text_equal(acp_buf_view(&got), "x\xE2\x82\xAC\xEF\xBF\xBD\xEF\xBF\xBD");
    acp_buf_finish(&got);
}

static void count_pieces(void *self, struct acp_str text)
{
    (void) text;
    ++*(unsigned *) self;
}

static void good_text_is_one_piece(void **state)
{
    (void) state;
    unsigned pieces = 0;
    struct acp_utf8_sanitizer sanitizer = {0};
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from("all of this \xE2\x82\xAC is good"),
                           count_pieces, &pieces);
    assert_int_equal(pieces, 1);
    acp_utf8_sanitize_feed(&sanitizer, acp_str_from(""), count_pieces, &pieces);
    assert_int_equal(pieces, 1);
}

/* ---- The tail ------------------------------------------------------------------------------- */

static void check_tail(const struct acp_tail *tail, struct acp_str all, size_t limit, size_t round)
{
    struct acp_buf got;
    acp_buf_init(&got, 1 << 20);
    assert_int_equal(acp_tail_read(tail, &got), 0);
    struct acp_str expected = model_tail(all, limit);
    CHECK_ROW(acp_str_eq(acp_buf_view(&got), expected), round, "limit %zu: %zu, not %zu bytes",
              limit, got.len, expected.len);
    CHECK_ROW(acp_tail_length(tail) == expected.len, round, "limit %zu", limit);
    CHECK_ROW(tail->truncated == (all.len > limit), round, "limit %zu of %zu", limit, all.len);
    CHECK_ROW(got.len <= limit && tail->cap <= limit, round, "limit %zu", limit);
    acp_buf_finish(&got);
}

static void the_last_characters_are_kept_as_the_model_says(void **state)
{
    (void) state;
    for (size_t round = 0; round < 2000; round++) {
        size_t limit = round < 20 ? round : test_below(20000);
        struct acp_tail tail;
        struct acp_buf all;
        acp_tail_init(&tail, limit);
        acp_buf_init(&all, 1 << 20);
        size_t writes = test_below(30);
        for (size_t i = 0; i < writes; i++) {
            struct acp_buf bytes;
            struct acp_buf text;
            acp_buf_init(&bytes, 1 << 20);
            acp_buf_init(&text, 1 << 20);
            random_bytes(&bytes, test_below(round % 3 ? 200 : 6000));
            model_sanitize(acp_buf_view(&bytes), &text);
            acp_tail_write(&tail, acp_buf_view(&text));
            assert_int_equal(acp_buf_append_str(&all, acp_buf_view(&text)), 0);
            if (test_below(3) == 0)
                check_tail(&tail, acp_buf_view(&all), limit, round);
            acp_buf_finish(&bytes);
            acp_buf_finish(&text);
        }
        check_tail(&tail, acp_buf_view(&all), limit, round);
        acp_tail_finish(&tail);
        acp_buf_finish(&all);
    }
}

static void nothing_is_kept_with_limit_0(void **state)
{
    (void) state;
    struct acp_tail tail;
    struct acp_buf out;
    acp_tail_init(&tail, 0);
    acp_buf_init(&out, 10);
    assert_int_equal(acp_tail_read(&tail, &out), 0);
    assert_false(tail.truncated);
    acp_tail_write(&tail, acp_str_from("x"));
    assert_int_equal(acp_tail_read(&tail, &out), 0);
    assert_int_equal(out.len, 0);
    assert_true(tail.truncated);
    acp_tail_finish(&tail);
    acp_buf_finish(&out);
}

static void a_buffer_that_is_too_small_stays_as_it_was(void **state)
{
    (void) state;
    struct acp_tail tail;
    struct acp_buf out;
    acp_tail_init(&tail, 100);
    acp_buf_init(&out, 8);
    assert_int_equal(acp_buf_append(&out, "kept", 4), 0);
    acp_tail_write(&tail, acp_str_from("12345"));
    assert_int_equal(acp_tail_read(&tail, &out), ACP_ERR_LIMIT);
    assert_text_equal(acp_buf_view(&out), "kept");
    acp_tail_finish(&tail);
    acp_buf_finish(&out);
}

int main(void)
{
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_comes_out_the_same_however_it_is_cut),
        cmocka_unit_test(a_character_is_handed_on_as_soon_as_it_is_whole),
        cmocka_unit_test(good_text_is_one_piece),
        cmocka_unit_test(the_last_characters_are_kept_as_the_model_says),
        cmocka_unit_test(nothing_is_kept_with_limit_0),
        cmocka_unit_test(a_buffer_that_is_too_small_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
