/*
 * The reader: which texts it takes and which it refuses, where and with which error.  Each text of
 * the table goes through acp_json_validate, acp_scan, a walk with the reader's own functions and
 * acp_json_pretty, which must all agree with the table and with a reference that is as plain as
 * can be.
 */
#include "helpers.h"

#include "acp/json.h"
#include "acp/scan.h"
#include "test_json_reference.h"

struct row {
    const char *text;
    size_t len;
    int err;
    size_t offset;
};

#define GOOD(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1, 0, 0                                                             \
    }
#define BAD(text, at)                                                                              \
    {                                                                                              \
        (text), sizeof(text) - 1, ACP_ERR_SYNTAX, (at)                                             \
    }
#define NOT_UTF8(text, at)                                                                         \
    {                                                                                              \
        (text), sizeof(text) - 1, ACP_ERR_UTF8, (at)                                               \
    }

/* One row per line would be a long list. */
/* clang-format off */
static const struct row rows[] = {
    /* Numbers. */
    GOOD("0"), GOOD("-0"), GOOD("1"), GOOD("-1"), GOOD("10"),
    GOOD("123456789012345678901234567890"), GOOD("0.0"), GOOD("-0.0"), GOOD("1.5"), GOOD("0.1"),
    GOOD("1.000"), GOOD("1e5"), GOOD("1E5"), GOOD("1e+5"), GOOD("1E+2"), GOOD("1e-5"),
    GOOD("1.5e10"), GOOD("0e1"), GOOD("0e+1"), GOOD("0E0"), GOOD("1e00"), GOOD("1e0005"),
    GOOD("1e400"), GOOD("1e-400"), GOOD("-1e999999999999"), GOOD("20e1"), GOOD("-12"),
    GOOD("[1,2]"), GOOD("0.4e006699999999999999999999999999999999999"), BAD("01", 0),
    BAD("-01", 1), BAD("00", 0), BAD("-00", 1), BAD("012", 0), BAD("1.", 2), BAD("-1.", 3),
    BAD(".1", 0), BAD("-.1", 1), BAD("+1", 0), BAD("-", 1), BAD("--1", 1), BAD("+", 0),
    BAD("1e", 2), BAD("1e+", 3), BAD("1e-", 3), BAD("1E", 2), BAD("1.e1", 2), BAD("0.e1", 2),
    BAD("0e", 2), BAD("0e+-1", 3), BAD("1e1.5", 3), BAD("1.5.5", 3), BAD("1.2.", 3), BAD("1a", 1),
    BAD("1_000", 1), BAD("1 000", 2), BAD("0x1F", 1), BAD("0b1", 1), BAD("NaN", 0), BAD("-NaN", 1),
    BAD("nan", 0), BAD("Infinity", 0), BAD("-Infinity", 1), BAD("Inf", 0), BAD("1,5", 1),
    BAD("- 1", 1), BAD("1-", 1), BAD("1+2", 1), BAD("1e5e5", 3), BAD("\xEF\xBC\x91", 0),
    BAD("[-]", 2), BAD("[1.]", 3), BAD("[0 1]", 3), BAD("-a", 1), BAD("-0x", 2),

    /* Words. */
    GOOD("true"), GOOD("false"), GOOD("null"), GOOD("[true,false,null]"), BAD("tru", 0),
    BAD("True", 0), BAD("TRUE", 0), BAD("truee", 4), BAD("fals", 0), BAD("nul", 0),
    BAD("nulll", 4), BAD("n", 0), BAD("t", 0), BAD("f", 0), BAD("undefined", 0),
    BAD("truefalse", 4), BAD("[tru]", 1), BAD("[nul,1]", 1),

    /* Strings: escapes. */
    GOOD("\"\""), GOOD("\"a\""), GOOD("\"\\\"\""), GOOD("\"\\\\\""), GOOD("\"\\/\""),
    GOOD("\"\\b\\f\\n\\r\\t\""), GOOD("\"\\u0041\""), GOOD("\"\\uABCD\\uabcd\""),
    GOOD("\"\\u0000\""), GOOD("\"\\u001f\""), GOOD("\"\\u007f\""), GOOD("\"\\\\u0041\""),
    GOOD("\"\\\\\\\\\""), GOOD("\"\\uFFFF\""), GOOD("\"\\\\\\\"\""), GOOD("\"/\""), GOOD("\"'\""),
    BAD("\"\\a\"", 1), BAD("\"\\v\"", 1), BAD("\"\\0\"", 1), BAD("\"\\x41\"", 1),
    BAD("\"\\'\"", 1), BAD("\"\\U0041\"", 1), BAD("\"\\u\"", 1), BAD("\"\\u0\"", 1),
    BAD("\"\\u00\"", 1), BAD("\"\\u004\"", 1), BAD("\"\\u004g\"", 1), BAD("\"\\u 041\"", 1),
    BAD("\"\\u+041\"", 1), BAD("\"\\u-041\"", 1), BAD("\"\\ \"", 1), BAD("\"\\\n\"", 1),
    BAD("\"\\\0\"", 1), BAD("\"\\\xC3\xA9\"", 1), BAD("\"\\N\"", 1), BAD("\"\\", 1),
    BAD("\"\\\"", 3), BAD("\"\\\\\\\"", 5), BAD("\"\\u12", 1), BAD("\"\\uD83D\\u", 7),
    BAD("\"\\uD83D\\\"", 9), BAD("\"ab\\qcd\"", 3),

    /* Strings: halves of surrogate pairs are taken, whatever stands around them. */
    GOOD("\"\\uD83D\\uDE00\""), GOOD("\"\\ud83d\\ude00\""), GOOD("\"\\uD83D\""),
    GOOD("\"\\uDE00\""), GOOD("\"\\uDE00\\uD83D\""), GOOD("\"\\uD83D\\uD83D\\uDE00\""),
    GOOD("\"\\uD83Dx\""), GOOD("\"\\uD83D\\n\""), GOOD("\"\\uD83D\\u0041\""),
    GOOD("\"\\uDBFF\\uDFFF\""), GOOD("\"\\uD800\\uDC00\""),

    /* Strings: bytes that stand for themselves, or must not. */
    GOOD("\"\x7F\""), GOOD("\"\xC2\x80\""), GOOD("\"\xC3\xA9\""), GOOD("\"\xE2\x82\xAC\""),
    GOOD("\"\xF0\x9F\x98\x80\""), GOOD("\"\xF4\x8F\xBF\xBF\""), GOOD("\"\xEF\xBF\xBF\""),
    GOOD("\"\xE2\x80\xA8\xE2\x80\xA9\""), GOOD("\"\xEF\xBB\xBF\""), GOOD("\"\xED\x9F\xBF\""),
    BAD("\"\n\"", 1), BAD("\"\t\"", 1), BAD("\"\r\"", 1), BAD("\"\x1F\"", 1), BAD("\"\0\"", 1),
    BAD("\"a\0b\"", 2), BAD("\"\x01\"", 1), BAD("\"\x1B[0m\"", 1), BAD("\"abc", 4), BAD("\"", 1),
    BAD("abc\"", 0), BAD("'a'", 0), BAD("\"a\"b", 3), BAD("\"a\"\"b\"", 3), BAD("\"a\" \"b\"", 4),
    NOT_UTF8("\"\x80\"", 1), NOT_UTF8("\"\xBF\"", 1), NOT_UTF8("\"\xC0\x80\"", 1),
    NOT_UTF8("\"\xC0\xAF\"", 1), NOT_UTF8("\"\xC1\xBF\"", 1), NOT_UTF8("\"\xC3\"", 1),
    NOT_UTF8("\"\xC3", 1), NOT_UTF8("\"\xC3(\"", 1), NOT_UTF8("\"\xE0\x80\xAF\"", 1),
    NOT_UTF8("\"\xE2\x82\"", 1), NOT_UTF8("\"\xE2\x82", 1), NOT_UTF8("\"\xE2(\xA1\"", 1),
    NOT_UTF8("\"\xE2\x82(\"", 1), NOT_UTF8("\"\xED\xA0\x80\"", 1), NOT_UTF8("\"\xED\xBF\xBF\"", 1),
    NOT_UTF8("\"\xED\xA0\xBD\xED\xB8\x80\"", 1), NOT_UTF8("\"\xF0\x80\x80\xAF\"", 1),
    NOT_UTF8("\"\xF0\x9F\x98\"", 1), NOT_UTF8("\"\xF0\x9F", 1),
    NOT_UTF8("\"\xF4\x90\x80\x80\"", 1), NOT_UTF8("\"\xF5\x80\x80\x80\"", 1),
    NOT_UTF8("\"\xFE\"", 1), NOT_UTF8("\"\xFF\"", 1), NOT_UTF8("\"\xFC\x83\xBF\xBF\xBF\xBF\"", 1),
    NOT_UTF8("\"abc\xE9xyz\"", 4), NOT_UTF8("\"\xC3\xA9\xC3\xA9\xA9\"", 5),
    NOT_UTF8("{\"\xFF\":1}", 2),

    /* Arrays. */
    GOOD("[]"), GOOD("[[]]"), GOOD("[1]"), GOOD("[ 1 , 2 ]"), GOOD("[\"\"]"), GOOD("[[],[[]],{}]"),
    GOOD("[null, 1, \"1\", {}]"), GOOD(" [1]"), GOOD("[1]\n"), GOOD("\t[\r\n1]"), BAD("[1,]", 3),
    BAD("[,1]", 1), BAD("[,]", 1), BAD("[1,,2]", 3), BAD("[1 2]", 3), BAD("[1", 2), BAD("[", 1),
    BAD("[1,", 3), BAD("]", 0), BAD("[1]]", 3), BAD("[1}", 2), BAD("[\"a\":1]", 4),
    BAD("[1;2]", 2), BAD("[a]", 1), BAD("[*]", 1), BAD("[\"\",]", 4), BAD("[1:2]", 2),
    BAD("[][]", 2), BAD("[[[[", 4), BAD("[1,\n1\n,1", 8), BAD("<null>", 0), BAD("[<null>]", 1),
    BAD("[\x0B]", 1), BAD("[\f]", 1), BAD("[\xC2\xA0]", 1), BAD("[\0]", 1), BAD("[1\0]", 2),

    /* Objects. */
    GOOD("{}"), GOOD("{\"a\":1}"), GOOD("{ \"a\" : 1 , \"b\" : 2 }"), GOOD("{\"\":0}"),
    GOOD("{\"a\":1,\"a\":2}"), GOOD("{\"a\":{\"a\":{}}}"), GOOD("{\"\\u0061\":1}"),
    GOOD("{\"a\":[]}"), GOOD("{\"\\u0000\":0}"), GOOD("{\n\"a\"\n:\n1\n}"),
    GOOD("{\"a b\":\"c\"}"), BAD("{", 1), BAD("}", 0), BAD("{\"a\"", 4), BAD("{\"a\":", 5),
    BAD("{\"a\":1", 6), BAD("{\"a\":1,", 7), BAD("{\"a\":1,}", 7), BAD("{,}", 1),
    BAD("{,\"a\":1}", 1), BAD("{\"a\" 1}", 5), BAD("{\"a\"::1}", 5), BAD("{\"a\":}", 5),
    BAD("{:1}", 1), BAD("{1:1}", 1), BAD("{a:1}", 1), BAD("{'a':1}", 1), BAD("{null:1}", 1),
    BAD("{\"a\":1,,\"b\":2}", 7), BAD("{\"a\":1 \"b\":2}", 7), BAD("{\"a\":1]", 6),
    BAD("{\"a\",\"b\"}", 4), BAD("{\"a\":1}}", 7), BAD("{\"a\":1}#", 7), BAD("{[]:1}", 1),
    BAD("{\"a\":1:2}", 6), BAD("{{}}", 1), BAD("{\"a\"=1}", 4), BAD("{\"a", 3), BAD("{}{}", 2),
    BAD("{\"a\":\"b}", 8),

    /* Whole texts. */
    GOOD(" 1 "), GOOD("\n\r\t 1"), GOOD("\"x\" \n"), BAD("", 0), BAD(" ", 1), BAD("\n\n", 2),
    BAD("1 2", 2), BAD("1,2", 1), BAD(",", 0), BAD(":", 0), BAD("\xEF\xBB\xBF{}", 0),
    BAD("\xEF\xBB\xBF", 0), BAD("{}\0", 2), BAD("\0", 0), BAD("\0{}", 0), BAD("{} x", 3),
    BAD("// c\n1", 0), BAD("/* c */ 1", 0), BAD("1 // c", 2), BAD("# 1", 0), BAD("\x1E{}", 0),
    BAD("\xA0", 0), BAD("\xFF\xFE{\0}\0", 0), BAD("{\0}\0", 1), BAD("@", 0),
    BAD("Content-Length: 2\r\n\r\n{}", 0), BAD("[1]x", 3), BAD("\"a\"x", 3),
};
/* clang-format on */

/* ---- Ways to read a text -------------------------------------------------------------------- */

static int walk(struct acp_json_reader *r);

static int walk_container(struct acp_json_reader *r, bool object)
{
    struct acp_str key = {NULL, 0};
    int more;
    int err = object ? acp_json_enter_object(r) : acp_json_enter_array(r);
    if (err)
        return err;
    while ((more = object ? acp_json_next_key(r, &key) : acp_json_next_item(r)) > 0) {
        err = walk(r);
        if (err)
            return err;
    }
    return more;
}

/* Reads everything with the function that is for it. */
static int walk(struct acp_json_reader *r)
{
    struct acp_str text;
    struct acp_raw raw;
    bool truth;
    switch (acp_json_peek(r)) {
    case ACP_JSON_OBJECT:
        return walk_container(r, true);
    case ACP_JSON_ARRAY:
        return walk_container(r, false);
    case ACP_JSON_STRING:
        return acp_json_read_str(r, &text);
    case ACP_JSON_BOOL:
        return acp_json_read_bool(r, &truth);
    case ACP_JSON_NULL:
        return acp_json_read_null(r);
    case ACP_JSON_NUMBER:
        return acp_json_read_raw(r, &raw);
    case ACP_JSON_NONE:
        break;
    }
    return acp_json_skip(r);
}

static int walk_all(struct acp_raw text, uint32_t max_depth, size_t *ret_offset)
{
    struct acp_arena arena;
    struct acp_json_reader r;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, text, &arena, max_depth);
    int err = walk(&r);
    if (!err)
        err = acp_json_read_end(&r);
    *ret_offset = acp_json_offset(&r);
    assert_int_equal(r.err, err);
    /* What has failed keeps failing, and the place stays. */
    if (err) {
        struct acp_str key;
        assert_int_equal(acp_json_skip(&r), err);
        assert_int_equal(acp_json_next_key(&r, &key), err);
        assert_int_equal(acp_json_next_item(&r), err);
        assert_int_equal(acp_json_read_end(&r), err);
        assert_int_equal(acp_json_peek(&r), ACP_JSON_NONE);
        assert_int_equal(acp_json_offset(&r), *ret_offset);
    }
    acp_arena_finish(&arena);
    return err;
}

static void table_by_reference(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row row = rows[i];
        size_t at = 0;
        int err = ref_validate(acp_raw_n(row.text, row.len), ACP_JSON_MAX_DEPTH, &at);
        CHECK_ROW(err == row.err, i, "%s: reference says %d", row.text, err);
        CHECK_ROW(at == row.offset, i, "%s: reference says at %zu", row.text, at);
    }
    assert_true(COUNT(rows) >= 150);
}

static void table_by_validate(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row row = rows[i];
        size_t at = 0;
        struct acp_raw text = test_exact(acp_raw_n(row.text, row.len));
        int err = acp_json_validate(text, 0, &at);
        CHECK_ROW(err == row.err, i, "%s: %d", row.text, err);
        CHECK_ROW(at == row.offset, i, "%s: at %zu", row.text, at);
        CHECK_ROW(acp_json_validate(text, 0, NULL) == err, i, "%s", row.text);
        test_exact_free(text);
    }
}

static void table_by_walk(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row row = rows[i];
        size_t at = 0;
        struct acp_raw text = test_exact(acp_raw_n(row.text, row.len));
        int err = walk_all(text, 0, &at);
        CHECK_ROW(err == row.err, i, "%s: %d", row.text, err);
        CHECK_ROW(at == (err ? row.offset : row.len), i, "%s: at %zu", row.text, at);
        test_exact_free(text);
    }
}

static void table_by_scan(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row row = rows[i];
        struct acp_scan scan;
        size_t at = 0;
        struct acp_raw text = test_exact(acp_raw_n(row.text, row.len));
        int err = acp_scan_message(text, acp_str_from(NULL), &scan, &at);
        CHECK_ROW(err == row.err, i, "%s: %d", row.text, err);
        CHECK_ROW(at == row.offset, i, "%s: at %zu", row.text, at);
        test_exact_free(text);
    }
}

/* Around the text, a message; as its params, its result, its id, and something unknown. */
static void table_by_scan_in_an_envelope(void **state)
{
    (void) state;
    static const char *const heads[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":",
        "{\"id\":1,\"result\":",
        "{\"jsonrpc\":\"2.0\",\"id\":",
        "{\"other\":",
        "{\"params\":{\"sessionId\":",
        "{\"params\":{\"x\":",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t h = 0; h < COUNT(heads); h++) {
            struct row row = rows[i];
            struct acp_scan scan;
            struct acp_buf buf;
            size_t at = 0;
            size_t want_at = 0;
            acp_buf_init(&buf, 4096);
            const char *tail = strchr(heads[h] + 1, '{') ? "}}" : "}";
            assert_int_equal(acp_buf_append_str(&buf, acp_str_from(heads[h])), 0);
            assert_int_equal(acp_buf_append(&buf, row.text, row.len), 0);
            assert_int_equal(acp_buf_append_str(&buf, acp_str_from(tail)), 0);
            struct acp_raw text = test_exact(acp_raw_n(buf.data, buf.len));
            int want = ref_validate(text, ACP_JSON_MAX_DEPTH, &want_at);
            int err = acp_scan_message(text, acp_str_from("x"), &scan, &at);
            CHECK_ROW(err == want && !err == !row.err, i, "%s: %d", row.text, err);
            CHECK_ROW(at == want_at, i, "%s: at %zu, not %zu", row.text, at, want_at);
            test_exact_free(text);
            acp_buf_finish(&buf);
        }
    }
}

static void table_by_pretty(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct row row = rows[i];
        struct acp_buf once;
        struct acp_buf twice;
        acp_buf_init(&once, 1 << 20);
        acp_buf_init(&twice, 1 << 20);
        struct acp_raw text = test_exact(acp_raw_n(row.text, row.len));
        CHECK_ROW(acp_json_pretty(text, &once) == row.err, i, "%s", row.text);
        if (!row.err) {
            struct acp_raw pretty = {acp_buf_view(&once).ptr, once.len};
            CHECK_ROW(acp_json_validate(pretty, 0, NULL) == 0, i, "%s", row.text);
            CHECK_ROW(acp_json_pretty(pretty, &twice) == 0, i, "%s", row.text);
            CHECK_ROW(acp_str_eq(acp_buf_view(&once), acp_buf_view(&twice)), i, "%s", row.text);
        }
        test_exact_free(text);
        acp_buf_finish(&once);
        acp_buf_finish(&twice);
    }
}

/* Every text of some bytes, up to a length: the library and the reference agree. */
static void all_short_texts(void **state)
{
    (void) state;
    static const char letters[] = "[]{}\",:\\1-0.eu \n\x80\xC3";
    enum { LONGEST = 5, LETTERS = sizeof(letters) - 1 };
    for (size_t len = 0; len <= LONGEST; len++) {
        size_t count = 1;
        for (size_t k = 0; k < len; k++)
            count *= LETTERS;
        char *text = malloc(len ? len : 1);
        for (size_t n = 0; n < count; n++) {
            size_t rest = n;
            for (size_t k = 0; k < len; k++, rest /= LETTERS)
                text[k] = letters[rest % LETTERS];
            size_t at = 0;
            size_t want_at = 0;
            int want = ref_validate(acp_raw_n(text, len), ACP_JSON_MAX_DEPTH, &want_at);
            int err = acp_json_validate(acp_raw_n(text, len), 0, &at);
            CHECK_ROW(err == want && at == want_at, n, "%.*s", (int) len, text);
        }
        free(text);
    }
}

/* ---- Depth and size ------------------------------------------------------------------------- */

static void nest(struct acp_buf *buf, size_t depth, bool object)
{
    acp_buf_clear(buf);
    for (size_t i = 0; i < depth; i++)
        assert_int_equal(acp_buf_append_str(buf, acp_str_from(object ? "{\"a\":" : "[")), 0);
    assert_int_equal(acp_buf_append_str(buf, acp_str_from("0")), 0);
    for (size_t i = 0; i < depth; i++)
        assert_int_equal(acp_buf_append_str(buf, acp_str_from(object ? "}" : "]")), 0);
}

static void depth_128_is_taken_and_129_refused(void **state)
{
    (void) state;
    struct acp_buf buf;
    struct acp_buf out;
    acp_buf_init(&buf, 1 << 20);
    acp_buf_init(&out, 1 << 20);
    for (int object = 0; object < 2; object++) {
        for (size_t depth = 126; depth < 132; depth++) {
            int want = depth > ACP_JSON_MAX_DEPTH ? ACP_ERR_DEPTH : 0;
            size_t want_at = want ? ACP_JSON_MAX_DEPTH * (object ? 5 : 1) : 0;
            size_t at = 0;
            struct acp_scan scan;
            nest(&buf, depth, object);
            struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
            assert_int_equal(acp_json_validate(text, 0, &at), want);
            assert_int_equal(at, want_at);
            at = 0;
            assert_int_equal(acp_scan_message(text, acp_str_from(NULL), &scan, &at), want);
            assert_int_equal(at, want_at);
            assert_int_equal(walk_all(text, 0, &at), want);
            assert_int_equal(at, want ? want_at : text.len);
            acp_buf_clear(&out);
            assert_int_equal(acp_json_pretty(text, &out), want);
        }
    }
    acp_buf_finish(&buf);
    acp_buf_finish(&out);
}

static void depth_can_be_set(void **state)
{
    (void) state;
    struct acp_buf buf;
    size_t at;
    acp_buf_init(&buf, 1 << 20);
    static const uint32_t limits[] = {1, 2, 3, 127, 500};
    for (size_t i = 0; i < COUNT(limits); i++) {
        nest(&buf, limits[i], false);
        struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
        assert_int_equal(acp_json_validate(text, limits[i], NULL), 0);
        assert_int_equal(walk_all(text, limits[i], &at), 0);
        nest(&buf, limits[i] + 1, false);
        text = acp_raw_n(acp_buf_view(&buf).ptr, buf.len);
        assert_int_equal(acp_json_validate(text, limits[i], NULL), ACP_ERR_DEPTH);
        assert_int_equal(walk_all(text, limits[i], &at), ACP_ERR_DEPTH);
    }
    acp_buf_finish(&buf);
}

static void depth_counts_what_has_been_entered(void **state)
{
    (void) state;
    struct acp_json_reader r;
    acp_json_reader_init(&r, TEXT("[[[]]]"), NULL, 2);
    assert_int_equal(acp_json_enter_array(&r), 0);
    assert_int_equal(acp_json_next_item(&r), 1);
    assert_int_equal(acp_json_skip(&r), ACP_ERR_DEPTH);
    assert_int_equal(acp_json_offset(&r), 2);
    acp_json_reader_init(&r, TEXT("[[],[],[[]]]"), NULL, 3);
    assert_int_equal(acp_json_enter_array(&r), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_skip(&r), 0);
    }
    assert_int_equal(acp_json_next_item(&r), 0);
    assert_int_equal(r.depth, 0);
}

static void many_items_are_no_depth(void **state)
{
    (void) state;
    struct acp_buf buf;
    enum { ITEMS = 300000 };
    acp_buf_init(&buf, 64 << 20);
    assert_int_equal(acp_buf_append(&buf, "[", 1), 0);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(acp_buf_append_str(&buf, acp_str_from(i ? ",{\"a\":[]}" : "[]")), 0);
    assert_int_equal(acp_buf_append(&buf, "]", 1), 0);
    struct acp_raw text = {acp_buf_view(&buf).ptr, buf.len};
    size_t at;
    assert_int_equal(acp_json_validate(text, 3, NULL), 0);
    assert_int_equal(walk_all(text, 3, &at), 0);
    acp_buf_finish(&buf);
}

/* ---- The reader's manners ------------------------------------------------------------------- */

static void types_are_told_by_the_first_byte(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        enum acp_json_type type;
        const char *name;
    } types[] = {
        {"null", ACP_JSON_NULL, "null"},       {"true", ACP_JSON_BOOL, "a boolean"},
        {"false", ACP_JSON_BOOL, "a boolean"}, {"-1", ACP_JSON_NUMBER, "a number"},
        {"7", ACP_JSON_NUMBER, "a number"},    {"\"x\"", ACP_JSON_STRING, "a string"},
        {"[]", ACP_JSON_ARRAY, "an array"},    {"{}", ACP_JSON_OBJECT, "an object"},
        {"", ACP_JSON_NONE, "nothing"},        {"x", ACP_JSON_NONE, "nothing"},
        {"]", ACP_JSON_NONE, "nothing"},       {"  {", ACP_JSON_OBJECT, "an object"},
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        struct acp_json_reader r;
        acp_json_reader_init(&r, acp_raw_from(types[i].text), NULL, 0);
        size_t before = acp_json_offset(&r);
        CHECK_ROW(acp_json_peek(&r) == types[i].type, i, "%s", types[i].text);
        CHECK_ROW(acp_json_offset(&r) == before && r.err == 0, i, "%s", types[i].text);
        assert_string_equal(acp_json_type_name(types[i].type), types[i].name);
    }
}

/* Every function on every value that is not for it. */
static void a_wrong_type_neither_moves_nor_is_latched(void **state)
{
    (void) state;
    static const char *const values[] = {"null", "true", "1", "\"s\"", "[]", "{}"};
    for (size_t v = 0; v < COUNT(values); v++) {
        struct acp_json_reader r;
        struct acp_str text = ACP_STR("untouched");
        bool truth = true;
        int64_t i = 5;
        uint64_t u = 6;
        double x = 7;
        acp_json_reader_init(&r, acp_raw_from(values[v]), NULL, 0);
        struct acp_json_reader start = r;
        if (v != 0)
            assert_int_equal(acp_json_read_null(&r), ACP_ERR_TYPE);
        if (v != 1)
            assert_int_equal(acp_json_read_bool(&r, &truth), ACP_ERR_TYPE);
        if (v != 2) {
            assert_int_equal(acp_json_read_i64(&r, &i), ACP_ERR_TYPE);
            assert_int_equal(acp_json_read_u64(&r, &u), ACP_ERR_TYPE);
            assert_int_equal(acp_json_read_f64(&r, &x), ACP_ERR_TYPE);
        }
        if (v != 3)
            assert_int_equal(acp_json_read_str(&r, &text), ACP_ERR_TYPE);
        if (v != 4)
            assert_int_equal(acp_json_enter_array(&r), ACP_ERR_TYPE);
        if (v != 5)
            assert_int_equal(acp_json_enter_object(&r), ACP_ERR_TYPE);
        assert_memory_equal(&r, &start, sizeof(r));
        assert_true(truth && i == 5 && u == 6 && x > 6.5 && acp_str_is(text, "untouched"));
        assert_int_equal(acp_json_skip(&r), 0);
        assert_int_equal(acp_json_read_end(&r), 0);
    }
}

static void outputs_are_written_on_success_only(void **state)
{
    (void) state;
    struct acp_json_reader r;
    struct acp_str text = ACP_STR("untouched");
    bool truth = true;
    acp_json_reader_init(&r, TEXT("fals"), NULL, 0);
    assert_int_equal(acp_json_read_bool(&r, &truth), ACP_ERR_SYNTAX);
    assert_true(truth);
    acp_json_reader_init(&r, TEXT("\"abc"), NULL, 0);
    assert_int_equal(acp_json_read_str(&r, &text), ACP_ERR_SYNTAX);
    assert_true(acp_str_is(text, "untouched"));
}

static void a_copy_of_the_reader_returns_to_its_place(void **state)
{
    (void) state;
    struct acp_json_reader r;
    struct acp_str key;
    int64_t value = 0;
    acp_json_reader_init(&r, TEXT("{\"a\":[1,2,3],\"b\":4}"), NULL, 0);
    assert_int_equal(acp_json_enter_object(&r), 0);
    struct acp_json_reader saved = r;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(acp_json_next_key(&r, &key), 1);
        assert_text_equal(key, "a");
        assert_int_equal(acp_json_enter_array(&r), 0);
        assert_int_equal(acp_json_next_item(&r), 1);
        r = saved;
    }
    assert_int_equal(acp_json_next_key(&r, &key), 1);
    assert_int_equal(acp_json_skip(&r), 0);
    assert_int_equal(acp_json_next_key(&r, &key), 1);
    assert_text_equal(key, "b");
    assert_int_equal(acp_json_read_i64(&r, &value), 0);
    assert_int_equal(value, 4);
    assert_int_equal(acp_json_next_key(&r, &key), 0);
    assert_int_equal(acp_json_read_end(&r), 0);
    /* Also out of an error. */
    acp_json_reader_init(&r, TEXT("[x]"), NULL, 0);
    saved = r;
    assert_int_equal(acp_json_skip(&r), ACP_ERR_SYNTAX);
    r = saved;
    assert_int_equal(acp_json_enter_array(&r), 0);
}

static void raw_values_are_their_bytes_without_the_space_around(void **state)
{
    (void) state;
    struct acp_json_reader r;
    struct acp_raw raw;
    acp_json_reader_init(&r, TEXT(" [ {\"a\" : 1} , \"x\" ,7 ] "), NULL, 0);
    assert_int_equal(acp_json_enter_array(&r), 0);
    static const char *const want[] = {"{\"a\" : 1}", "\"x\"", "7"};
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_read_raw(&r, &raw), 0);
        assert_text_equal(raw, want[i]);
    }
    assert_int_equal(acp_json_next_item(&r), 0);
    assert_int_equal(acp_json_read_end(&r), 0);
}

static void duplicate_keys_are_all_reported(void **state)
{
    (void) state;
    struct acp_json_reader r;
    struct acp_str key;
    int64_t value;
    acp_json_reader_init(&r, TEXT("{\"k\":1,\"k\":2,\"k\":3}"), NULL, 0);
    assert_int_equal(acp_json_enter_object(&r), 0);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(acp_json_next_key(&r, &key), 1);
        assert_text_equal(key, "k");
        assert_int_equal(acp_json_read_i64(&r, &value), 0);
        assert_int_equal(value, i);
    }
    assert_int_equal(acp_json_next_key(&r, &key), 0);
}

static void an_absent_text_is_no_value(void **state)
{
    (void) state;
    size_t at = 9;
    assert_int_equal(acp_json_validate(acp_raw_from(NULL), 0, &at), ACP_ERR_SYNTAX);
    assert_int_equal(at, 0);
}

static void pretty_indents_by_two(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 4096);
    assert_int_equal(acp_json_pretty(TEXT("{\"a\":[1,{}, []],\"b\":{\"c\":\"\\u0041\"}}"), &out),
                     0);
    assert_string_equal(test_cstr(&out), "{\n"
                                         "  \"a\": [\n"
                                         "    1,\n"
                                         "    {},\n"
                                         "    []\n"
                                         "  ],\n"
                                         "  \"b\": {\n"
                                         "    \"c\": \"\\u0041\"\n"
                                         "  }\n"
                                         "}");
    acp_buf_finish(&out);
    acp_buf_init(&out, 10);
    assert_int_equal(acp_json_pretty(TEXT("[1,2,3,4,5,6]"), &out), ACP_ERR_LIMIT);
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_by_reference),
        cmocka_unit_test(table_by_validate),
        cmocka_unit_test(table_by_walk),
        cmocka_unit_test(table_by_scan),
        cmocka_unit_test(table_by_scan_in_an_envelope),
        cmocka_unit_test(table_by_pretty),
        cmocka_unit_test(all_short_texts),
        cmocka_unit_test(depth_128_is_taken_and_129_refused),
        cmocka_unit_test(depth_can_be_set),
        cmocka_unit_test(depth_counts_what_has_been_entered),
        cmocka_unit_test(many_items_are_no_depth),
        cmocka_unit_test(types_are_told_by_the_first_byte),
        cmocka_unit_test(a_wrong_type_neither_moves_nor_is_latched),
        cmocka_unit_test(outputs_are_written_on_success_only),
        cmocka_unit_test(a_copy_of_the_reader_returns_to_its_place),
        cmocka_unit_test(raw_values_are_their_bytes_without_the_space_around),
        cmocka_unit_test(duplicate_keys_are_all_reported),
        cmocka_unit_test(an_absent_text_is_no_value),
        cmocka_unit_test(pretty_indents_by_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
