/* Base64: the vectors of RFC 4648, every length, and what is refused. */
#include "helpers.h"

static struct acp_str encoded(struct acp_buf *out, const void *bytes, size_t n)
{
    acp_buf_clear(out);
    assert_int_equal(acp_base64_encode(out, bytes, n), 0);
    return acp_buf_view(out);
}

static void the_vectors_of_rfc_4648(void **state)
{
    (void) state;
    static const struct {
        const char *bytes;
        const char *text;
    } rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xbf", "+/+/"}, /* the two last of the alphabet */
    };
    struct acp_buf text;
    struct acp_buf bytes;
    acp_buf_init(&text, 100);
    acp_buf_init(&bytes, 100);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_str got = encoded(&text, rows[i].bytes, strlen(rows[i].bytes));
        CHECK_ROW(acp_str_is(got, rows[i].text), i, "%.*s", (int) got.len, got.ptr);
        acp_buf_clear(&bytes);
        assert_int_equal(acp_base64_decode(&bytes, acp_str_from(rows[i].text), NULL), 0);
        CHECK_ROW(acp_str_is(acp_buf_view(&bytes), rows[i].bytes), i, "%s", rows[i].text);
        assert_int_equal(acp_base64_decoded_size(acp_str_from(rows[i].text)),
                         strlen(rows[i].bytes));
    }
    acp_buf_finish(&text);
    acp_buf_finish(&bytes);
}

static void every_length_comes_back(void **state)
{
    (void) state;
    struct acp_buf text;
    struct acp_buf back;
    acp_buf_init(&text, 1000);
    acp_buf_init(&back, 1000);
    for (size_t n = 0; n <= 64; n++) {
        char bytes[64];
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char) test_random();
        struct acp_raw exact = test_exact(acp_raw_n(bytes, n));
        struct acp_str got = encoded(&text, exact.ptr, n);
        assert_int_equal(got.len, (n + 2) / 3 * 4);
        struct acp_raw exact_text = test_exact(acp_raw_n(got.ptr, got.len));
        acp_buf_clear(&back);
        assert_int_equal(acp_base64_decode(&back, acp_str_n(exact_text.ptr, exact_text.len), NULL),
                         0);
        assert_int_equal(back.len, n);
        assert_int_equal(acp_base64_decoded_size(got), n);
        assert_memory_equal(acp_buf_view(&back).ptr, bytes, n);
        test_exact_free(exact);
        test_exact_free(exact_text);
    }
    acp_buf_finish(&text);
    acp_buf_finish(&back);
}

static void all_bytes_and_all_characters(void **state)
{
    (void) state;
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct acp_buf out;
    acp_buf_init(&out, 100);
    for (int c = 0; c < 256; c++) {
        char text[4] = {'A', 'A', 'A', (char) c};
        bool valid = c && strchr(alphabet, c);
        acp_buf_clear(&out);
        int err = acp_base64_decode(&out, acp_str_n(text, 4), NULL);
        CHECK_ROW((err == 0) == (valid || c == '='), c, "%d", err);
        if (valid)
            assert_int_equal(acp_buf_view(&out).ptr[2], strchr(alphabet, c) - alphabet);
    }
    acp_buf_finish(&out);
}

static void what_is_not_base64_is_refused_with_its_place(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        size_t offset;
    } rows[] = {
        {"Z", 1},        {"Zg", 2},        {"Zg=", 3},      {"Zm9vY", 5},    {"=", 1},
        {"====", 0},     {"Z===", 1},      {"Zg==Zg==", 2}, {"Zg=v", 2},     {"Zm9=vYmF", 3},
        {"Zm9v\nYm", 7}, {"Zm9v\nYmF", 4}, {"Zm9-", 3},     {"Zm9_", 3},     {" Zm9", 0},
        {"Zh==", 1},     {"Zm9vYh==", 5},  {"Zm9=", 2},     {"Zm9vYmG=", 6}, {"Z\xc3\xa9v", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        struct acp_failure failure = {0};
        acp_buf_init(&out, 100);
        assert_int_equal(acp_buf_append(&out, "kept", 4), 0);
        int err = acp_base64_decode(&out, acp_str_from(rows[i].text), &failure);
        CHECK_ROW(err == ACP_ERR_RANGE, i, "%s", rows[i].text);
        CHECK_ROW(failure.offset == rows[i].offset, i, "%s: %zu", rows[i].text, failure.offset);
        CHECK_ROW(failure.err == err && failure.message[0], i, "%s", rows[i].text);
        assert_text_equal(acp_buf_view(&out), "kept");
        assert_int_equal(acp_base64_decode(&out, acp_str_from(rows[i].text), NULL), ACP_ERR_RANGE);
        acp_buf_finish(&out);
    }
}

static void a_buffer_that_is_too_small_stays_as_it_was(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 7);
    assert_int_equal(acp_buf_append(&out, "abcd", 4), 0);
    assert_int_equal(acp_base64_encode(&out, "x", 1), ACP_ERR_LIMIT);
    assert_int_equal(acp_base64_decode(&out, acp_str_from("Zm9vYg=="), NULL), ACP_ERR_LIMIT);
    assert_int_equal(acp_base64_encode(&out, "x", SIZE_MAX), ACP_ERR_LIMIT);
    assert_text_equal(acp_buf_view(&out), "abcd");
    assert_int_equal(acp_base64_decode(&out, acp_str_from("Zm9v"), NULL), 0);
    assert_text_equal(acp_buf_view(&out), "abcdfoo");
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_4648),
        cmocka_unit_test(every_length_comes_back),
        cmocka_unit_test(all_bytes_and_all_characters),
        cmocka_unit_test(what_is_not_base64_is_refused_with_its_place),
        cmocka_unit_test(a_buffer_that_is_too_small_stays_as_it_was),
    };
    test_seed();
    return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
