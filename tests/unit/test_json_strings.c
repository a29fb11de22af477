/*
 * Strings at every position relative to the blocks that the vector code works in.  What is special
 * is put at every place of strings of every length up to 70; the text ends where its memory ends,
 * so that the sanitizer sees a read beyond it; and everything is compared with the reference.
 */
#include "helpers.h"

#include "acp/json.h"
#include "acp/scan.h"
#include "json/grammar.h"
#include "test_json_reference.h"

enum { LONGEST = 70, ROOM = 512 };

#define SPECIAL(text)                                                                              \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static const struct acp_str specials[] = {
    SPECIAL(""),
    /* Escapes. */
    SPECIAL("\\\""),
    SPECIAL("\\/"),
    SPECIAL("\\b"),
    SPECIAL("\\n"),
    SPECIAL("\\t"),
    SPECIAL("\\f"),
    SPECIAL("\\r"),
    /* Runs of backslashes, before a letter that is an escape, one that is none, and the end. */
    SPECIAL("\\n"),
    SPECIAL("\\\\n"),
    SPECIAL("\\\\\\n"),
    SPECIAL("\\\\\\\\n"),
    SPECIAL("\\\\\\\\\\n"),
    SPECIAL("\\q"),
    SPECIAL("\\\\q"),
    SPECIAL("\\\\\\q"),
    SPECIAL("\\\\\\\\q"),
    SPECIAL("\\\\\\\\\\q"),
    SPECIAL("\\\""),
    SPECIAL("\\\\\""),
    SPECIAL("\\\\\\\""),
    SPECIAL("\\\\\\\\\""),
    SPECIAL("\\\\\\\\\\\""),
    SPECIAL("\\\\"),
    SPECIAL("\\\\\\\\"),
    SPECIAL("\\"),
    SPECIAL("\\\\\\"),
    SPECIAL("\\\\\\\\\\"),
    /* Numbers of characters. */
    SPECIAL("\\u0041"),
    SPECIAL("\\u00e9"),
    SPECIAL("\\u20AC"),
    SPECIAL("\\u0000"),
    SPECIAL("\\uD83D\\uDE00"),
    SPECIAL("\\uD83D"),
    SPECIAL("\\uDE00"),
    SPECIAL("\\uDE00\\uD83D"),
    SPECIAL("\\uD83D\\uD83D\\uDE00"),
    SPECIAL("\\u"),
    SPECIAL("\\u12"),
    SPECIAL("\\u12G4"),
    SPECIAL("\\\\u0041"),
    SPECIAL("\\\\\\u0041"),
    SPECIAL("\\uD83D\\"),
    SPECIAL("\\uD83D\\n"),
    /* Bytes that must not be there, and some that may. */
    SPECIAL("\x01"),
    SPECIAL("\x1F"),
    SPECIAL("\n"),
    SPECIAL("\0"),
    SPECIAL("\x7F"),
    SPECIAL("\""),
    SPECIAL(" "),
    SPECIAL("!"),
    SPECIAL("#"),
    SPECIAL("["),
    SPECIAL("]"),
    /* UTF-8, good and bad. */
    SPECIAL("\xC3\xA9"),
    SPECIAL("\xE2\x82\xAC"),
    SPECIAL("\xF0\x9F\x98\x80"),
    SPECIAL("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9"),
    SPECIAL("\x80"),
    SPECIAL("\xBF"),
    SPECIAL("\xC0\x80"),
    SPECIAL("\xC3"),
    SPECIAL("\xE2\x82"),
    SPECIAL("\xE2"),
    SPECIAL("\xED\xA0\x80"),
    SPECIAL("\xF0\x9F\x98"),
    SPECIAL("\xF4\x90\x80\x80"),
    SPECIAL("\xFF"),
    SPECIAL("\xC3\xA9\\n"),
    SPECIAL("\\n\xC3\xA9"),
    SPECIAL("\xC3\xA9\""),
    SPECIAL("\xC3\\"),
};

static size_t put(char *out, size_t n, struct acp_str text)
{
    if (text.len)
        memcpy(out + n, text.ptr, text.len);
    return n + text.len;
}

/* What the reference says of one string. */
struct verdict {
    int err;
    size_t at;
    size_t end; /* behind the closing quote */
    char text[ROOM];
    size_t len;
};

static struct verdict judge(struct acp_raw json)
{
    struct verdict v = {0};
    struct ref r = {.s = (const unsigned char *) json.ptr, .n = json.len, .out = v.text};
    if (ref_string(&r))
        v.end = r.i;
    v.err = r.err;
    v.at = r.at;
    v.len = r.out_len;
    return v;
}

/* The string alone: its verdict, its value, and that it is copied only where it must be. */
static void check_alone(struct acp_raw json, struct acp_arena *arena)
{
    struct verdict want = judge(json);
    struct acp_json_reader r;
    struct acp_str text;
    size_t at = 0;
    size_t want_at = 0;
    int err = ref_validate(json, ACP_JSON_MAX_DEPTH, &want_at);
    assert_int_equal(acp_json_validate(json, 0, &at), err);
    assert_int_equal(at, want_at);

    acp_json_reader_init(&r, json, arena, 0);
    assert_int_equal(acp_json_read_str(&r, &text), want.err);
    if (want.err) {
        assert_int_equal(acp_json_offset(&r), want.at);
        return;
    }
    assert_int_equal(text.len, want.len);
    assert_memory_equal(text.ptr, want.text, want.len);
    struct acp_raw own = acp_raw_n(json.ptr, want.end);
    bool escaped = memchr(own.ptr, '\\', own.len) != NULL;
    assert_int_equal(test_inside(acp_raw_n(text.ptr, text.len), own), !escaped);
}

/* The string as a key, with more strings behind it: of values, the scan finds it by its name. */
static void check_as_key(struct acp_raw json)
{
    char text[ROOM];
    struct verdict want = judge(json);
    if (want.err || want.end != json.len)
        return;
    size_t n = put(text, 0, acp_str_from("{\"params\":{"));
    n = put(text, n, acp_str_n(json.ptr, json.len));
    n = put(text, n, acp_str_from(":[\"\\\\\",7]}}"));
    struct acp_raw whole = test_exact(acp_raw_n(text, n));
    struct acp_scan scan;
    assert_int_equal(acp_scan_message(whole, acp_str_n(want.text, want.len), &scan, NULL), 0);
    assert_text_equal(scan.key, "[\"\\\\\",7]");
    /* No other name is taken for it. */
    want.text[want.len] = 'x';
    assert_int_equal(acp_scan_message(whole, acp_str_n(want.text, want.len + 1), &scan, NULL), 0);
    assert_null(scan.key.ptr);
    if (want.len > 0) {
        assert_int_equal(acp_scan_message(whole, acp_str_n(want.text, want.len - 1), &scan, NULL),
                         0);
        assert_null(scan.key.ptr);
    }
    test_exact_free(whole);
}

/* Whatever stands behind a string has no influence on it. */
static void check_with_neighbours(struct acp_raw json, struct acp_arena *arena)
{
    static const char *const tails[] = {",\"\\n\"]", ",\"\xC3\xA9\\\\\"]",
                                        ",\"\\u0041aaaaaaaaaaaaaaaaa\"]"};
    struct verdict want = judge(json);
    if (want.err || want.end != json.len)
        return;
    for (size_t i = 0; i < COUNT(tails); i++) {
        char text[ROOM];
        struct acp_json_reader r;
        struct acp_str got;
        size_t n = put(text, 0, acp_str_from("["));
        n = put(text, n, acp_str_n(json.ptr, json.len));
        n = put(text, n, acp_str_from(tails[i]));
        struct acp_raw whole = test_exact(acp_raw_n(text, n));
        acp_json_reader_init(&r, whole, arena, 0);
        assert_int_equal(acp_json_enter_array(&r), 0);
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_read_str(&r, &got), 0);
        assert_int_equal(got.len, want.len);
        assert_memory_equal(got.ptr, want.text, want.len);
        bool escaped = memchr(json.ptr, '\\', json.len) != NULL;
        assert_int_equal(test_inside(acp_raw_n(got.ptr, got.len), whole), !escaped);
        assert_int_equal(acp_json_next_item(&r), 1);
        assert_int_equal(acp_json_skip(&r), 0);
        assert_int_equal(acp_json_next_item(&r), 0);
        test_exact_free(whole);
    }
}

static void every_special_thing_at_every_position(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (size_t s = 0; s < COUNT(specials); s++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            for (size_t at = 0; at <= len; at++) {
                char text[ROOM] = "\"";
                memset(text + 1, 'a', at);
                size_t n = put(text, 1 + at, specials[s]);
                memset(text + n, 'b', len - at);
                n += len - at;
                text[n++] = '"';
                struct acp_raw json = test_exact(acp_raw_n(text, n));
                check_alone(json, &arena);
                check_as_key(json);
                check_with_neighbours(json, &arena);
                test_exact_free(json);
                acp_arena_reset(&arena);
            }
        }
    }
    acp_arena_finish(&arena);
}

/* Cut off at every byte: never a good string, never a read beyond the end. */
static void every_special_thing_cut_off(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (size_t s = 0; s < COUNT(specials); s++) {
        for (size_t at = 0; at <= 40; at++) {
            char text[ROOM] = "\"";
            memset(text + 1, 'a', at);
            size_t n = put(text, 1 + at, specials[s]);
            for (size_t len = 0; len <= n; len++) {
                struct acp_raw json = test_exact(acp_raw_n(text, len));
                size_t where = 0;
                size_t want_where = 0;
                int want = ref_validate(json, ACP_JSON_MAX_DEPTH, &want_where);
                assert_int_equal(acp_json_validate(json, 0, &where), want);
                assert_int_equal(where, want_where);
                test_exact_free(json);
            }
        }
    }
    acp_arena_finish(&arena);
}

static void random_strings(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (int round = 0; round < 100000; round++) {
        char text[ROOM] = "\"";
        size_t n = 1;
        size_t parts = test_below(8);
        for (size_t i = 0; i < parts; i++) {
            size_t plain = test_below(20);
            memset(text + n, 'c', plain);
            n = put(text, n + plain, specials[test_below(COUNT(specials))]);
        }
        text[n++] = '"';
        struct acp_raw json = test_exact(acp_raw_n(text, n));
        check_alone(json, &arena);
        check_as_key(json);
        test_exact_free(json);
        acp_arena_reset(&arena);
    }
    acp_arena_finish(&arena);
}

static void random_bytes(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (int round = 0; round < 100000; round++) {
        char text[ROOM] = "\"";
        size_t n = 1 + test_below(48);
        for (size_t i = 1; i < n; i++)
            text[i] = (char) test_random();
        text[n++] = '"';
        struct acp_raw json = test_exact(acp_raw_n(text, n));
        check_alone(json, &arena);
        test_exact_free(json);
        acp_arena_reset(&arena);
    }
    acp_arena_finish(&arena);
}

/* ---- The search for special bytes, by itself ------------------------------------------------ */

static bool is_special(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

static void the_first_special_byte_is_found(void **state)
{
    (void) state;
    for (int c = 0; c < 256; c++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            char *bytes = malloc(len ? len : 1);
            memset(bytes, 'a', len);
            const char *end = bytes + len;
            assert_ptr_equal(acp_json_plain(bytes, end), end);
            assert_ptr_equal(acp_json_plain_any(bytes, end), end);
            /* For a sample of positions, with another special byte behind it. */
            for (size_t at = 0; at < len; at += 1 + (size_t) c % 3) {
                bytes[at] = (char) c;
                if (at + 2 < len)
                    bytes[at + 2] = '"';
                const char *want = is_special((unsigned char) c) ? bytes + at
                                   : at + 2 < len                ? bytes + at + 2
                                                                 : end;
                assert_ptr_equal(acp_json_plain(bytes, end), want);
                assert_ptr_equal(acp_json_plain_any(bytes, end), want);
                memset(bytes, 'a', len);
            }
            free(bytes);
        }
    }
}

/* ---- Writing: the other direction ----------------------------------------------------------- */

/* Writes a text by the rules and byte by byte. */
static size_t ref_write(struct acp_str text, char *out)
{
    struct ref r = {.s = (const unsigned char *) text.ptr, .n = text.len};
    size_t n = 0;
    out[n++] = '"';
    while (r.i < r.n) {
        static const char plain[] = "\"\\\b\f\n\r\t";
        static const char names[] = "\"\\bfnrt";
        int c = r.s[r.i];
        const char *found = c > 0 ? strchr(plain, c) : NULL;
        size_t before = r.i;
        if (found) {
            out[n++] = '\\';
            out[n++] = names[found - plain];
            r.i++;
        } else if (c < 0x20) {
            n += (size_t) snprintf(out + n, 7, "\\u%04x", (unsigned) c);
            r.i++;
        } else if (c < 0x80) {
            out[n++] = (char) c;
            r.i++;
        } else if (ref_utf8(&r)) {
            n = put(out, n, acp_str_n(text.ptr + before, r.i - before));
        } else {
            n = put(out, n, acp_str_from("\xEF\xBF\xBD"));
            r.i++;
        }
    }
    out[n++] = '"';
    return n;
}

static void check_written(struct acp_str text, struct acp_buf *buf)
{
    char want[6 * ROOM + 2];
    size_t len = ref_write(text, want);
    struct acp_raw copy = test_exact(acp_raw_n(text.ptr, text.len));
    struct acp_json_writer w;
    acp_json_writer_init(&w, buf);
    acp_json_write_str(&w, acp_str_n(copy.ptr, copy.len));
    test_exact_free(copy);
    assert_int_equal(w.err, 0);
    assert_int_equal(buf->len, len);
    assert_memory_equal(acp_buf_view(buf).ptr, want, len);
    assert_int_equal(acp_json_validate(acp_raw_n(want, len), 0, NULL), 0);
    /* A buffer that is freed each time is one that has no room to spare. */
    acp_buf_finish(buf);
}

static void every_special_thing_is_written_at_every_position(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 1 << 20);
    for (size_t s = 0; s < COUNT(specials); s++) {
        for (size_t len = 0; len <= LONGEST; len++) {
            for (size_t at = 0; at <= len; at++) {
                char text[ROOM];
                memset(text, 'a', at);
                size_t n = put(text, at, specials[s]);
                memset(text + n, 'b', len - at);
                check_written(acp_str_n(text, n + len - at), &buf);
            }
        }
    }
    for (int round = 0; round < 50000; round++) {
        char text[ROOM];
        size_t n = test_below(300);
        uint64_t mask = test_random() % 2 ? 0xFF : 0x7F;
        for (size_t i = 0; i < n; i++)
            text[i] = (char) (test_below(4) ? 'a' : (test_random() & mask));
        check_written(acp_str_n(text, n), &buf);
    }
    acp_buf_finish(&buf);
}

int main(void)
{
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_special_thing_at_every_position),
        cmocka_unit_test(every_special_thing_cut_off),
        cmocka_unit_test(random_strings),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(the_first_special_byte_is_found),
        cmocka_unit_test(every_special_thing_is_written_at_every_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
