/* Web pages as text. */
#include "helpers.h"

#include "text/html.h"
#include "text/page.h"

enum { ROOM = 1 << 20 };

static void becomes(const char *type, const char *body, const char *text)
{
    struct acp_buf out;
    acp_buf_init(&out, ROOM);
    assert_int_equal(page_text(acp_str_from(type), acp_str_from(body), &out), 0);
    if (!acp_str_is(acp_buf_view(&out), text))
        fail_msg("\"%s\" became \"%.*s\", not \"%s\"", body, (int) out.len,
                 out.len ? acp_buf_view(&out).ptr : "", text);
    acp_buf_finish(&out);
}

static void pages_are_what_a_reader_sees(void **state)
{
    static const struct {
        const char *html;
        const char *text;
    } rows[] = {
        {"", ""},
        {"  just   words\n\there ", "just words here"},
        {"<p>one</p><p>two</p>", "one\n\ntwo"},
        {"<P CLASS=x>one<br>two<BR/>three", "one\ntwo\nthree"},
        {"<h1>Top</h1>text<h2>Next</h2>more", "# Top\n\ntext\n\n## Next\n\nmore"},
        {"<ul><li>a<li>b</ul>c", "- a\n- b\nc"},
        {"<b>bo</b>ld, <i>not</i> <u>cut</u>", "bold, not cut"},
        {"a<script>if (a < b) x('</p>')</script>b<style>p {}</style>c", "abc"},
        {"a<!-- <p>no</p> -->b<!doctype html>c<?php x ?>d", "abcd"},
        {"a<!-->b", "ab"},
        {"<script>never ends", ""},
        {"a<!-- never ends", "a"},
        {"a<b title=\"never ends", "a"},
        {"<title>T</title><body>x", "T\n\nx"},
        {"<pre>\na  b\n\n  c\n</pre>d", "a  b\n\n  c\n\n\nd"},
        {"<table><tr><th>a<th>b<tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"},
        {"<a href=\"/x?a=1&amp;b=2\">there</a>.", "there (/x?a=1&b=2)."},
        {"<a href='https://x.org/'>https://x.org/</a>", "https://x.org/"},
        {"<a href=#top>up</a> <a href=javascript:go()>go</a> <a>x</a> <a href=/y></a>", "up go x"},
        {"<a href=/x>one </a> two", "one (/x) two"},
        {"<a href=/x><div>one</div></a><div>two</div>", "one (/x)\ntwo"},
        {"<img src=x alt='a cat'> <img src=y alt=''>", "[a cat]"},
        {"one<hr>two", "one\n\n---\n\ntwo"},
        {"a &lt;b&gt; &amp;amp; &quot;&#65;&#x42;&nbsp;c&hellip;", "a <b> &amp; \"AB c\u2026"},
        {"AT&T &unknown; &#0; &#xD800; &#x110000; &#; &",
         "AT&T &unknown; &#0; &#xD800; &#x110000; &#; &"},
        {"1 < 2 <3 <> </ > x", "1 < 2 <3 <> </ > x"},
        {"<a href", ""},
        {"<averyveryverylongname>x</averyveryverylongname>", "x"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        becomes("text/html", rows[i].html, rows[i].text);
}

static void other_texts_stay_as_they_are(void **state)
{
    (void) state;
    becomes("text/plain", "a <b>\r\n\tc\x1b[1m", "a <b>\n\tc[1m");
    becomes("application/json", "{\"a\": \"<p>\"}", "{\"a\": \"<p>\"}");
    becomes("", "<!DOCTYPE html><p>a<p>b", "a\n\nb");
    becomes("", "<p>a", "<p>a");
    becomes("", "", "");
}

static void characters_become_utf8(void **state)
{
    (void) state;
    becomes("text/plain; charset=utf-8", "gr\xc3\xbc\xc3\x9f", "gr\u00fc\u00df");
    becomes("text/plain; charset=utf-8", "gr\xfc\xdf", "gr\ufffd\ufffd");
    becomes("text/html; charset=ISO-8859-1", "<p>gr\xfc\xdf \x93x\x94",
            "gr\u00fc\u00df \u201cx\u201d");
    becomes("text/plain", "gr\xfc\xdf, nothing said", "gr\u00fc\u00df, nothing said");
    becomes("text/plain", "cut in a character \xe2\x82", "cut in a character \ufffd\ufffd");
}

static void what_is_no_text_is_known(void **state)
{
    static const struct {
        const char *type;
        bool text;
    } rows[] = {
        {"text/html; charset=utf-8", true},
        {"text/markdown", true},
        {"application/json", true},
        {"application/vnd.github+json", true},
        {"image/svg+xml", true},
        {"application/javascript", true},
        {"image/png", false},
        {"application/pdf", false},
        {"application/octet-stream", false},
        {"application/zip; note=text/plain", false},
        {"", true},
    };
    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (page_is_text(acp_str_from(rows[i].type), acp_str_from("x")) != rows[i].text)
            fail_msg("%s", rows[i].type);
    assert_false(page_is_text(acp_str_from("text/plain"), acp_str_n("a\0b", 3)));
    assert_false(page_is_text(acp_str_from(""), acp_str_n("a\0b", 3)));
}

static void a_full_buffer_has_what_fits(void **state)
{
    enum { MANY = 5000, LITTLE = 1000 };
    static const char *const types[] = {"text/html", "text/plain"};
    struct acp_buf body;
    struct acp_buf out;
    (void) state;
    acp_buf_init(&body, ROOM);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(acp_buf_printf(&body, "w\u00f6rd "), 0);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        acp_buf_init(&out, LITTLE);
        assert_int_equal(page_text(acp_str_from(types[i]), acp_buf_view(&body), &out),
                         ACP_ERR_LIMIT);
        assert_true(out.len > LITTLE - 300 && out.len <= LITTLE);
        assert_memory_equal(acp_buf_view(&out).ptr, "w\u00f6rd w", 7);
        acp_buf_finish(&out);
    }
    acp_buf_finish(&body);
}

/* Whatever is not closed must not be looked for again and again. */
static void bad_pages_take_no_longer(void **state)
{
    static const char *const pieces[] = {"<a ", "<a '",       "<script", "<!--",     "<",
                                         "&",   "<a href=x>", "<pre>",   "</script "};
    (void) state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct acp_buf body;
        struct acp_buf out;
        acp_buf_init(&body, ROOM);
        acp_buf_init(&out, (size_t) ROOM * 10);
        while (acp_buf_append_str(&body, acp_str_from(pieces[i])) == 0)
            continue;
        assert_int_equal(html_text(acp_buf_view(&body), &out), 0);
        acp_buf_finish(&body);
        acp_buf_finish(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_what_a_reader_sees),
        cmocka_unit_test(other_texts_stay_as_they_are),
        cmocka_unit_test(characters_become_utf8),
        cmocka_unit_test(what_is_no_text_is_known),
        cmocka_unit_test(a_full_buffer_has_what_fits),
        cmocka_unit_test(bad_pages_take_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
