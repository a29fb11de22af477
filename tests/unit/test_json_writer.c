/* The writer: commas, escapes, what happens when the buffer is full, and raw values. */
#include "helpers.h"

#include "acp/json.h"

struct page {
    struct acp_buf buf;
    struct acp_json_writer w;
};

static void open_page(struct page *p, size_t max)
{
    acp_buf_init(&p->buf, max);
    acp_json_writer_init(&p->w, &p->buf);
}

static void expect(struct page *p, const char *text)
{
    assert_int_equal(p->w.err, 0);
    assert_string_equal(test_cstr(&p->buf), text);
    assert_int_equal(acp_json_validate(acp_raw_n(acp_buf_view(&p->buf).ptr, p->buf.len), 0, NULL),
                     0);
    acp_buf_finish(&p->buf);
}

static void commas_are_the_writers_business(void **state)
{
    (void) state;
    struct page p;
    open_page(&p, 4096);
    acp_json_begin_object(&p.w);
    acp_json_write_key(&p.w, acp_str_from("a"));
    acp_json_begin_array(&p.w);
    acp_json_begin_array(&p.w);
    acp_json_end_array(&p.w);
    acp_json_begin_object(&p.w);
    acp_json_end_object(&p.w);
    acp_json_write_null(&p.w);
    acp_json_write_bool(&p.w, true);
    acp_json_write_bool(&p.w, false);
    acp_json_write_str(&p.w, acp_str_from("s"));
    acp_json_write_i64(&p.w, -1);
    acp_json_write_u64(&p.w, 1);
    acp_json_write_f64(&p.w, 0.5);
    acp_json_write_raw(&p.w, acp_raw_from("{\"r\":0}"));
    acp_json_begin_array(&p.w);
    acp_json_write_i64(&p.w, 2);
    acp_json_end_array(&p.w);
    acp_json_end_array(&p.w);
    acp_json_write_key(&p.w, acp_str_from("b"));
    acp_json_begin_object(&p.w);
    acp_json_write_key(&p.w, acp_str_from("c"));
    acp_json_write_raw(&p.w, acp_raw_from("7"));
    acp_json_write_key(&p.w, acp_str_from("d"));
    acp_json_write_str(&p.w, acp_str_from(""));
    acp_json_end_object(&p.w);
    acp_json_write_key(&p.w, acp_str_from("e"));
    acp_json_begin_object(&p.w);
    acp_json_end_object(&p.w);
    acp_json_end_object(&p.w);
    expect(&p, "{\"a\":[[],{},null,true,false,\"s\",-1,1,0.5,{\"r\":0},[2]],"
               "\"b\":{\"c\":7,\"d\":\"\"},\"e\":{}}");
}

/* Random shapes: valid, and the same when read and written again. */
static void write_random(struct acp_json_writer *w, int depth)
{
    size_t count = test_below(5);
    switch (test_below(depth > 5 ? 6 : 8)) {
    case 0:
        acp_json_write_null(w);
        break;
    case 1:
        acp_json_write_bool(w, test_below(2));
        break;
    case 2:
        acp_json_write_i64(w, (int64_t) test_random());
        break;
    case 3:
        acp_json_write_u64(w, test_random());
        break;
    case 4:
        acp_json_write_f64(w, (double) test_random() / 3);
        break;
    case 5:
        acp_json_write_str(w, acp_str_from("text\n\xC3\xA9\x01"));
        break;
    case 6:
        acp_json_begin_array(w);
        while (count--)
            write_random(w, depth + 1);
        acp_json_end_array(w);
        break;
    default:
        acp_json_begin_object(w);
        while (count--) {
            acp_json_write_key(w, acp_str_from("k\""));
            write_random(w, depth + 1);
        }
        acp_json_end_object(w);
    }
}

static void random_shapes_are_valid(void **state)
{
    (void) state;
    struct page p;
    open_page(&p, 1 << 24);
    for (int round = 0; round < 20000; round++) {
        size_t at = 0;
        acp_buf_clear(&p.buf);
        acp_json_writer_init(&p.w, &p.buf);
        write_random(&p.w, 0);
        assert_int_equal(p.w.err, 0);
        struct acp_raw text = {acp_buf_view(&p.buf).ptr, p.buf.len};
        assert_int_equal(acp_json_validate(text, 0, &at), 0);
        assert_null(memchr(text.ptr, '\n', text.len));
    }
    acp_buf_finish(&p.buf);
}

static void escapes(void **state)
{
    (void) state;
    struct page p;
    char all[0x80];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char) i;
    open_page(&p, 4096);
    acp_json_write_str(&p.w, acp_str_n(all, sizeof(all)));
    expect(&p,
           "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e"
           "\\u000f\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a"
           "\\u001b\\u001c\\u001d\\u001e\\u001f !\\\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNO"
           "PQRSTUVWXYZ[\\\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7F\"");
}

static void what_is_not_utf8_is_replaced(void **state)
{
    (void) state;
#define FFFD "\xEF\xBF\xBD"
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"a\xFF"
         "b",
         "\"a" FFFD "b\""},
        {"\x80", "\"" FFFD "\""},
        {"\xC3", "\"" FFFD "\""},
        {"\xC3(", "\"" FFFD "(\""},
        {"\xE2\x82", "\"" FFFD FFFD "\""},
        {"\xED\xA0\x80", "\"" FFFD FFFD FFFD "\""},
        {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
        {"\xF4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""},
        {"\xC0\xAF", "\"" FFFD FFFD "\""},
        {"\xC3\xA9\xA9", "\"\xC3\xA9" FFFD "\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct page p;
        open_page(&p, 4096);
        acp_json_write_str(&p.w, acp_str_from(rows[i].text));
        expect(&p, rows[i].want);
        open_page(&p, 4096);
        acp_json_begin_object(&p.w);
        acp_json_write_key(&p.w, acp_str_from(rows[i].text));
        acp_json_write_null(&p.w);
        acp_json_end_object(&p.w);
        assert_int_equal(p.w.err, 0);
        assert_memory_equal(p.buf.data + 1, rows[i].want, strlen(rows[i].want));
        acp_buf_finish(&p.buf);
    }
}

static void raw_values_stay_on_one_line(void **state)
{
    (void) state;
    struct page p;
    open_page(&p, 4096);
    acp_json_begin_array(&p.w);
    acp_json_write_raw(&p.w, acp_raw_from("{\n  \"a\": 1,\r\n\t\"b\": [\n1\n]\n}"));
    acp_json_write_raw(&p.w, acp_raw_from("\"\\n stays\""));
    acp_json_end_array(&p.w);
    expect(&p, "[{   \"a\": 1,  \t\"b\": [ 1 ] },\"\\n stays\"]");
}

static void raw_values_do_not_touch_what_was_there(void **state)
{
    (void) state;
    struct page p;
    open_page(&p, 4096);
    assert_int_equal(acp_buf_append_str(&p.buf, acp_str_from("before\n")), 0);
    acp_buf_consume(&p.buf, 3);
    acp_json_write_raw(&p.w, acp_raw_from("[\n]"));
    assert_int_equal(p.w.err, 0);
    assert_string_equal(test_cstr(&p.buf), "ore\n[ ]");
    acp_buf_finish(&p.buf);
}

/* Whatever the limit: an error that stays, and never more than the limit. */
static void the_limit_is_latched_wherever_it_strikes(void **state)
{
    (void) state;
    size_t whole = 0;
    for (size_t max = 1000; max-- > 0; max = max > 150 ? 150 : max) {
        struct page p;
        open_page(&p, max);
        acp_json_begin_object(&p.w);
        acp_json_write_key(&p.w, acp_str_from("key"));
        acp_json_begin_array(&p.w);
        acp_json_write_str(&p.w, acp_str_from("some text\nwith \x01 escapes and \xFF"));
        acp_json_write_i64(&p.w, INT64_MIN);
        acp_json_write_f64(&p.w, 0.25);
        acp_json_write_bool(&p.w, true);
        acp_json_write_raw(&p.w, acp_raw_from("[1,2,3]"));
        acp_json_end_array(&p.w);
        acp_json_end_object(&p.w);
        assert_true(p.buf.len <= max);
        int err = p.w.err;
        size_t len = p.buf.len;
        assert_true(err == 0 || err == ACP_ERR_LIMIT);
        if (!whole)
            whole = len;
        /* Some room to spare may be asked for, but not much. */
        if (max < whole)
            assert_int_equal(err, ACP_ERR_LIMIT);
        else if (max >= whole + 8)
            assert_int_equal(err, 0);
        if (err) {
            acp_json_write_null(&p.w);
            acp_json_write_key(&p.w, acp_str_from("x"));
            acp_json_write_raw(&p.w, acp_raw_from("1"));
            acp_json_write_f64(&p.w, 1);
            acp_json_end_object(&p.w);
            assert_int_equal(p.w.err, err);
            assert_int_equal(p.buf.len, len);
        }
        acp_buf_finish(&p.buf);
    }
}

static void long_texts_are_written_whole(void **state)
{
    (void) state;
    enum { LONG = 1 << 20 };
    struct page p;
    char *text = malloc(LONG);
    memset(text, '\x01', LONG);
    open_page(&p, 16 << 20);
    acp_json_write_str(&p.w, acp_str_n(text, LONG));
    assert_int_equal(p.w.err, 0);
    assert_int_equal(p.buf.len, (6 << 20) + 2);
    acp_buf_clear(&p.buf);
    memset(text, 'x', LONG);
    text[LONG - 1] = '"';
    acp_json_writer_init(&p.w, &p.buf);
    acp_json_write_str(&p.w, acp_str_n(text, LONG));
    assert_int_equal(p.buf.len, LONG + 3);
    assert_memory_equal(p.buf.data + LONG - 1, "x\\\"\"", 4);
    free(text);
    acp_buf_finish(&p.buf);
}

static void an_absent_text_is_an_empty_one(void **state)
{
    (void) state;
    struct page p;
    open_page(&p, 4096);
    acp_json_begin_array(&p.w);
    acp_json_write_str(&p.w, acp_str_from(NULL));
    acp_json_write_str(&p.w, acp_str_null());
    acp_json_end_array(&p.w);
    expect(&p, "[\"\",\"\"]");
}

int main(void)
{
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_the_writers_business),
        cmocka_unit_test(random_shapes_are_valid),
        cmocka_unit_test(escapes),
        cmocka_unit_test(what_is_not_utf8_is_replaced),
        cmocka_unit_test(raw_values_stay_on_one_line),
        cmocka_unit_test(raw_values_do_not_touch_what_was_there),
        cmocka_unit_test(the_limit_is_latched_wherever_it_strikes),
        cmocka_unit_test(long_texts_are_written_whole),
        cmocka_unit_test(an_absent_text_is_an_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
