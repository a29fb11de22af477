/*
 * Numbers: integers exact over 64 bits, doubles that come back as they went out, whatever the
 * locale.
 */
#include "helpers.h"

#include <locale.h>
#include <math.h>

#include "acp/json.h"

enum { TYPE = ACP_ERR_TYPE, RANGE = ACP_ERR_RANGE };

/* ---- Integers ------------------------------------------------------------------------------- */

/* In the order of reading.  NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct integer {
    const char *text;
    int signed_err;
    int64_t i;
    int unsigned_err;
    uint64_t u;
};

static const struct integer integers[] = {
    {"0", 0, 0, 0, 0},
    {"-0", 0, 0, 0, 0},
    {"1", 0, 1, 0, 1},
    {"-1", 0, -1, RANGE, 0},
    {"9223372036854775806", 0, INT64_MAX - 1, 0, INT64_MAX - 1},
    {"9223372036854775807", 0, INT64_MAX, 0, INT64_MAX},
    {"9223372036854775808", RANGE, 0, 0, (uint64_t) INT64_MAX + 1},
    {"-9223372036854775807", 0, -INT64_MAX, RANGE, 0},
    {"-9223372036854775808", 0, INT64_MIN, RANGE, 0},
    {"-9223372036854775809", RANGE, 0, RANGE, 0},
    {"18446744073709551614", RANGE, 0, 0, UINT64_MAX - 1},
    {"18446744073709551615", RANGE, 0, 0, UINT64_MAX},
    {"18446744073709551616", RANGE, 0, RANGE, 0},
    {"99999999999999999999", RANGE, 0, RANGE, 0},
    {"184467440737095516150", RANGE, 0, RANGE, 0},
    {"9007199254740993", 0, 9007199254740993, 0, 9007199254740993}, /* no double is this */
    /* Whole numbers in other clothes. */
    {"1.0", 0, 1, 0, 1},
    {"1.000000000000000000000000000000", 0, 1, 0, 1},
    {"-1.0", 0, -1, RANGE, 0},
    {"0.0", 0, 0, 0, 0},
    {"-0.0", 0, 0, 0, 0},
    {"0e99999999999999999999", 0, 0, 0, 0},
    {"0e-99999999999999999999", 0, 0, 0, 0},
    {"-0.000e5", 0, 0, 0, 0},
    {"1e3", 0, 1000, 0, 1000},
    {"1E3", 0, 1000, 0, 1000},
    {"1e+3", 0, 1000, 0, 1000},
    {"1e0", 0, 1, 0, 1},
    {"10e-1", 0, 1, 0, 1},
    {"1000e-3", 0, 1, 0, 1},
    {"1.5e1", 0, 15, 0, 15},
    {"1.50e1", 0, 15, 0, 15},
    {"0.001e3", 0, 1, 0, 1},
    {"0.00123e5", 0, 123, 0, 123},
    {"12.3400e2", 0, 1234, 0, 1234},
    {"1e18", 0, 1000000000000000000, 0, 1000000000000000000},
    {"1e19", RANGE, 0, 0, 10000000000000000000u},
    {"1e20", RANGE, 0, RANGE, 0},
    {"9223372036854775807.0", 0, INT64_MAX, 0, INT64_MAX},
    {"922337203685477580.7e1", 0, INT64_MAX, 0, INT64_MAX},
    {"1844674407370955161.5e1", RANGE, 0, 0, UINT64_MAX},
    {"1844674407370955161.6e1", RANGE, 0, RANGE, 0},
    {"-922337203685477580.8e1", 0, INT64_MIN, RANGE, 0},
    /* Not whole. */
    {"1.5", TYPE, 0, TYPE, 0},
    {"-1.5", TYPE, 0, TYPE, 0},
    {"0.1", TYPE, 0, TYPE, 0},
    {"1e-1", TYPE, 0, TYPE, 0},
    {"15e-1", TYPE, 0, TYPE, 0},
    {"1.05e1", TYPE, 0, TYPE, 0},
    {"1.0000000000000000000000000000001", TYPE, 0, TYPE, 0},
    {"1e-400", TYPE, 0, TYPE, 0},
    {"9223372036854775807.5", TYPE, 0, TYPE, 0},
    /* Exponents out of this world. */
    {"1e400", RANGE, 0, RANGE, 0},
    {"-1e400", RANGE, 0, RANGE, 0},
    {"1e1000000", RANGE, 0, RANGE, 0},
    {"1e10000000000000000000000", RANGE, 0, RANGE, 0},
    {"1e-10000000000000000000000", TYPE, 0, TYPE, 0},
    {"1e9223372036854775808", RANGE, 0, RANGE, 0},
    {"1e18446744073709551616", RANGE, 0, RANGE, 0},
    {"1e18446744073709551619", RANGE, 0, RANGE, 0}, /* 3 after wrapping around */
    {"1000e-18446744073709551619", TYPE, 0, TYPE, 0},
};

static bool stands_still(const struct acp_json_reader *r, const struct acp_json_reader *start)
{
    return r->at == start->at && r->err == start->err && r->depth == start->depth;
}

static void integers_are_exact(void **state)
{
    (void) state;
    for (size_t n = 0; n < COUNT(integers); n++) {
        const struct integer *row = &integers[n];
        struct acp_raw text = test_exact(acp_raw_from(row->text));
        struct acp_json_reader r;
        int64_t i = 77;
        uint64_t u = 77;
        acp_json_reader_init(&r, text, NULL, 0);
        struct acp_json_reader start = r;
        CHECK_ROW(acp_json_read_i64(&r, &i) == row->signed_err, n, "%s", row->text);
        CHECK_ROW(i == (row->signed_err ? 77 : row->i), n, "%s", row->text);
        /* What does not fit neither moves nor is latched. */
        CHECK_ROW(!row->signed_err || stands_still(&r, &start), n, "%s", row->text);
        r = start;
        CHECK_ROW(acp_json_read_u64(&r, &u) == row->unsigned_err, n, "%s", row->text);
        CHECK_ROW(u == (row->unsigned_err ? 77 : row->u), n, "%s", row->text);
        CHECK_ROW(!row->unsigned_err || stands_still(&r, &start), n, "%s", row->text);
        r = start;
        CHECK_ROW(acp_json_skip(&r) == 0 && acp_json_read_end(&r) == 0, n, "%s", row->text);
        test_exact_free(text);
    }
}

static void integers_come_back_as_they_went(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 4096);
    for (int round = 0; round < 100000; round++) {
        struct acp_json_writer w;
        struct acp_json_reader r;
        uint64_t u = test_random() >> test_below(64);
        int64_t i = (int64_t) (test_random() % 2 ? u : 0 - u);
        uint64_t back_u = 0;
        int64_t back_i = 0;
        acp_buf_clear(&buf);
        acp_json_writer_init(&w, &buf);
        acp_json_begin_array(&w);
        acp_json_write_u64(&w, u);
        acp_json_write_i64(&w, i);
        acp_json_end_array(&w);
        acp_json_reader_init(&r, acp_raw_n(buf.data, buf.len), NULL, 0);
        assert_int_equal(acp_json_enter_array(&r), 0);
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_read_u64(&r, &back_u), 0);
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_read_i64(&r, &back_i), 0);
        assert_true(back_u == u && back_i == i);
    }
    acp_buf_finish(&buf);
}

/* Digits that an exponent of eight figures takes back. */
static void a_long_number_may_be_a_small_one(void **state)
{
    (void) state;
    enum { ZEROS = 10000001 };
    struct acp_buf buf;
    struct acp_json_reader r;
    int64_t i = 0;
    double x = 0;
    acp_buf_init(&buf, ZEROS + 100);
    assert_int_equal(acp_buf_append(&buf, "12", 2), 0);
    assert_int_equal(acp_buf_reserve(&buf, ZEROS + 20), 0);
    memset(buf.data + buf.len, '0', ZEROS);
    buf.len += ZEROS;
    assert_int_equal(acp_buf_printf(&buf, "e-%d", ZEROS), 0);
    acp_json_reader_init(&r, acp_raw_n(buf.data, buf.len), NULL, 0);
    struct acp_json_reader start = r;
    assert_int_equal(acp_json_read_i64(&r, &i), 0);
    assert_int_equal(i, 12);
    r = start;
    assert_int_equal(acp_json_read_f64(&r, &x), 0);
    assert_true(fabs(x - 12) < 1e-9);
    acp_buf_finish(&buf);
}

/* ---- Doubles -------------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    uint64_t x;
    uint64_t y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x == y;
}

static int read_f64(struct acp_raw text, double *ret)
{
    struct acp_json_reader r;
    struct acp_raw copy = test_exact(text);
    acp_json_reader_init(&r, copy, NULL, 0);
    int err = acp_json_read_f64(&r, ret);
    if (!err)
        assert_int_equal(acp_json_read_end(&r), 0);
    else
        assert_int_equal(r.err, 0);
    test_exact_free(copy);
    return err;
}

static const struct {
    const char *text;
    double value;
} doubles[] = {
    {"0", 0.0},
    {"-0", -0.0},
    {"-0.0e5", -0.0},
    {"0.1", 0.1},
    {"-0.1", -0.1},
    {"1e0", 1.0},
    {"100", 100.0},
    {"1E+2", 100.0},
    {"0.30000000000000004", 0.1 + 0.2},
    {"123456.789e-3", 123.456789},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"1.7976931348623158e308", 1.7976931348623157e308}, /* rounds to the largest */
    {"2.2250738585072014e-308", 2.2250738585072014e-308},
    {"2.2250738585072011e-308", 2.2250738585072011e-308}, /* largest of the small ones */
    {"5e-324", 4.9406564584124654e-324},
    {"4.9406564584124654e-324", 4.9406564584124654e-324},
    {"2e-324", 0.0},
    {"3e-324", 4.9406564584124654e-324},
    {"1e-400", 0.0},
    {"-1e-400", -0.0},
    {"1e-99999999999999999999", 0.0},
    {"0e99999999999999999999", 0.0},
    {"9007199254740993", 9007199254740992.0},
    {"9007199254740995", 9007199254740996.0},
    {"9007199254740993.00000000000000000000000000000000000000000001", 9007199254740994.0},
    {"0.000000000000000000000000000000000000000000000000001e51", 1.0},
};

static void doubles_are_the_nearest(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(doubles); i++) {
        double value = 77;
        CHECK_ROW(read_f64(acp_raw_from(doubles[i].text), &value) == 0, i, "%s", doubles[i].text);
        CHECK_ROW(same(value, doubles[i].value), i, "%s: %.17g", doubles[i].text, value);
    }
}

/* There is no infinity in JSON: what is beyond all doubles is refused, not rounded to it. */
static void numbers_beyond_all_doubles_are_out_of_range(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "1e400", "-1e400", "1e309", "1.7976931348623159e308", "1e99999999999999999999",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        double value = 77;
        CHECK_ROW(read_f64(acp_raw_from(texts[i]), &value) == RANGE, i, "%s", texts[i]);
        CHECK_ROW(same(value, 77), i, "%s", texts[i]);
    }
}

/* A number between two doubles, decided by a digit far behind. */
static void the_last_of_a_thousand_digits_counts(void **state)
{
    (void) state;
    struct acp_buf buf;
    double value = 0;
    acp_buf_init(&buf, 4096);
    assert_int_equal(acp_buf_printf(&buf, "9007199254740993.%01000d", 0), 0);
    assert_int_equal(read_f64(acp_raw_n(buf.data, buf.len), &value), 0);
    assert_true(same(value, 9007199254740992.0));
    assert_int_equal(acp_buf_append(&buf, "1", 1), 0);
    assert_int_equal(read_f64(acp_raw_n(buf.data, buf.len), &value), 0);
    assert_true(same(value, 9007199254740994.0));
    acp_buf_finish(&buf);
}

static const char *written(struct acp_buf *buf, double value)
{
    struct acp_json_writer w;
    acp_buf_clear(buf);
    acp_json_writer_init(&w, buf);
    acp_json_write_f64(&w, value);
    assert_int_equal(w.err, 0);
    return test_cstr(buf);
}

static void doubles_are_written_short(void **state)
{
    (void) state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100.0, "100"},
        {123456789.125, "123456789.125"},
        {1e15, "1000000000000000"},
        {1e16, "10000000000000000"},
        {1e17, "1e17"},
        {1e22, "1e22"},
        {0.00001, "0.00001"},
        {0.000001, "1e-6"},
        {1.5e-7, "1.5e-7"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5e-324"},
        {1e-310, "1e-310"},
        {9007199254740993.0, "9007199254740992"},
        {1.0 / 3.0, "0.3333333333333333"},
        {5e-5, "0.00005"},
        {0.5, "0.5"},
    };
    struct acp_buf buf;
    acp_buf_init(&buf, 4096);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(strcmp(written(&buf, rows[i].value), rows[i].text) == 0, i, "%s, not %s",
                  test_cstr(&buf), rows[i].text);
    acp_buf_finish(&buf);
}

static void check_round_trip(struct acp_buf *buf, double value)
{
    double back = 0;
    const char *text = written(buf, value);
    assert_int_equal(acp_json_validate(acp_raw_from(text), 0, NULL), 0);
    assert_true(strlen(text) <= 25);
    if (read_f64(acp_raw_from(text), &back) != 0 || !same(value, back)) {
        print_error("%a was written as %s\n", value, text);
        fail();
    }
}

static void doubles_come_back_as_they_went(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 4096);
    for (int round = 0; round < 100000; round++) {
        uint64_t bits = test_random();
        double value;
        if (round % 16 == 0)
            bits &= UINT64_C(0x800FFFFFFFFFFFFF); /* small ones without an exponent */
        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value))
            check_round_trip(&buf, value);
    }
    for (int exponent = -1074; exponent < 1024; exponent++) {
        check_round_trip(&buf, ldexp(1, exponent));
        check_round_trip(&buf, nextafter(ldexp(1, exponent), 0));
        check_round_trip(&buf, nextafter(ldexp(-1, exponent), (double) -INFINITY));
    }
    acp_buf_finish(&buf);
}

static void what_is_no_number_is_not_written(void **state)
{
    (void) state;
    static const double values[] = {(double) NAN, (double) INFINITY, (double) -INFINITY};
    for (size_t i = 0; i < COUNT(values); i++) {
        struct acp_buf buf;
        struct acp_json_writer w;
        acp_buf_init(&buf, 4096);
        acp_json_writer_init(&w, &buf);
        acp_json_begin_array(&w);
        acp_json_write_f64(&w, values[i]);
        acp_json_write_f64(&w, 1);
        acp_json_end_array(&w);
        assert_int_equal(w.err, ACP_ERR_RANGE);
        assert_string_equal(test_cstr(&buf), "[");
        acp_buf_finish(&buf);
    }
}

/* ---- Locales -------------------------------------------------------------------------------- */

static bool decimal_comma(const char *locale)
{
    return setlocale(LC_ALL, locale) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* Makes a German locale in a folder of our own, where the sources for it are installed. */
static bool make_locale(char *folder)
{
    char command[200];
    if (!mkdtemp(folder))
        return false;
    (void) snprintf(command, sizeof(command),
                    "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
    (void) setenv("LOCPATH", folder, 1);
    return system(command) == 0 && decimal_comma("de_DE.UTF-8");
}

static void remove_folder(const char *folder)
{
    char command[200];
    (void) snprintf(command, sizeof(command), "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* The program that we are linked into may have a locale that writes a comma for the point. */
static void the_locale_does_not_matter(void **state)
{
    (void) state;
    char folder[] = "/tmp/acp-locale-XXXXXX";
    if (!decimal_comma("de_DE.UTF-8") && !decimal_comma("fr_FR.UTF-8") && !make_locale(folder)) {
        remove_folder(folder);
        print_message("# no locale with a decimal comma can be had; install the package locales\n");
        skip();
    }
    struct acp_buf buf;
    double value = 0;
    char comma[8];
    (void) snprintf(comma, sizeof(comma), "%.1f", 1.5);
    assert_string_equal(comma, "1,5");
    acp_buf_init(&buf, 4096);
    for (int round = 0; round < 1000; round++)
        check_round_trip(&buf, (double) (int64_t) test_random() / 1024);
    assert_string_equal(written(&buf, 1.5), "1.5");
    assert_int_equal(read_f64(acp_raw_from("1.5"), &value), 0);
    assert_true(same(value, 1.5));
    (void) setlocale(LC_ALL, "C");
    remove_folder(folder);
    acp_buf_finish(&buf);
}

int main(void)
{
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(integers_come_back_as_they_went),
        cmocka_unit_test(a_long_number_may_be_a_small_one),
        cmocka_unit_test(doubles_are_the_nearest),
        cmocka_unit_test(numbers_beyond_all_doubles_are_out_of_range),
        cmocka_unit_test(the_last_of_a_thousand_digits_counts),
        cmocka_unit_test(doubles_are_written_short),
        cmocka_unit_test(doubles_come_back_as_they_went),
        cmocka_unit_test(what_is_no_number_is_not_written),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
