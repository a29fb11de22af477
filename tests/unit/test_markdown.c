/* Markdown as it streams: what each construct becomes, what is held back, and for how long. */
#include "helpers.h"

#include "markdown_check.h"

static const struct markdown_options usual = {.width = 80, .ascii = true, .hyperlinks = true};

struct row {
    const char *text;
    const char *shown;
};

/* Each row in one piece and byte by byte. */
static void check_rows(struct markdown_options options, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t piece = 1; piece < 10000; piece += 9998) {
            struct shown shown;
            struct acp_str text = acp_str_from(rows[i].text);
            assert_int_equal(show_markdown(options, text, piece, &shown), 0);
            CHECK_ROW(!shown.wrong, i, "%s", shown.wrong);
            CHECK_ROW(acp_str_is(acp_buf_view(&shown.out), rows[i].shown), i,
                      "%.*s\ninstead of\n%s", ACP_ARG(acp_buf_view(&shown.out)), rows[i].shown);
            acp_buf_finish(&shown.out);
        }
    }
}

static void emphasis_is_that_of_commonmark(void **state)
{
    static const struct row rows[] = {
        {"a *b* c", "a {i:b} c"},
        {"**a** ***b***", "{b:a} {bi:b}"},
        {"**a *b* c**", "{b:a }{bi:b}{b: c}"},
        {"_a_ snake_case_name __b__", "{i:a} snake_case_name {b:b}"},
        {"2 * 3 * 4", "2 * 3 * 4"},
        {"~~a~~ ~5 ~b~", "{s:a} ~5 ~b~"},
        {"**a", "**a"},
        {"*a\n\nb*", "*a\n\nb*"},
        {"`a*b*` ``c`d``", "{C:a*b*} {C:c`d}"},
        {"`a *b*", "`a {i:b}"},
        {"\\*a\\* \\a", "*a* \\a"},
        {"*a\nb*", "{i:a}\n{i:b}"},
        {"\"*a*\" (*b*)", "\"{i:a}\" ({i:b})"},
        {"a&amp;b &lt;c&gt; &#x41; &nope; &", "a&b <c> A &nope; &"},
        {"a  \nb\\\nc", "a\nb\nc"},
        {"a<br>b", "a\nb"},
    };
    (void) state;
    check_rows(usual, rows, COUNT(rows));
}

static void links_are_addresses_with_a_label(void **state)
{
    static const struct row linked[] = {
        {"see [a *b*](https://c.d/e_(f) \"t\")!",
         "see {L=https://c.d/e_(f):a }{Li=https://c.d/e_(f):b}!"},
        {"<https://a.b> https://c.d/e_f.",
         "{L=https://a.b:https://a.b} {L=https://c.d/e_f:https://c.d/e_f}."},
        {"(http://g.h)", "({L=http://g.h:http://g.h})"},
        {"[a](src/main.c:3)", "{L:a (src/main.c:3)}"},
        {"[a](javascript:b)", "{L:a (javascript:b)}"},
        {"[https://good.org](https://evil.org)",
         "{L=https://evil.org:https://good.org (https://evil.org)}"},
        {"![alt](https://a.b/c.png)", "{L=https://a.b/c.png:alt}"},
        {"[ ] a[1] [x][y] [z](", "[ ] a[1] [x][y] [z]("},
        {"[a\xc2\x9b](https://a.b/\xc2\x9b)", "{L:a\xc2\x9b (https://a.b/\xc2\x9b)}"},
        {"the http: h https:// hhttps://x", "the http: h https:// hhttps://x"},
        {"*[a](https://b.c)*", "{Li=https://b.c:a}"},
        {"[*a](https://b.c) d*", "{L=https://b.c:*a} d*"},
    };
    static const struct row plain[] = {
        {"[a](https://b.c) <https://d.e>", "{L:a (https://b.c)} {L:https://d.e}"},
        {"[https://a.b](https://a.b)", "{L:https://a.b}"},
    };
    struct markdown_options without = usual;
    (void) state;
    without.hyperlinks = false;
    check_rows(usual, linked, COUNT(linked));
    check_rows(without, plain, COUNT(plain));
}

static void blocks_are_lines(void **state)
{
    static const struct row rows[] = {
        {"# A ##\nb\n## *C*", "{Hbu:A}\nb\n\n{Hbi:C}\n"},
        {"#no\n####### no", "#no\n####### no"},
        {"a\n\n\n\nb\n\n", "a\n\nb\n"},
        {"- a\n  b\n- c\n\n  d\n* e", "{M:-} a\n  b\n{M:-} c\n\n  d\n{M:*} e"},
        {"- a\n    - b\n        1) c", "{M:-} a\n  {M:-} b\n    {M:1)} c"},
        {"10. a\n  - b\n11. c", "{M:10.} a\n    {M:-} b\n{M:11.} c"},
        {"- [ ] a\n- [x] b\n- [y] c", "{M:- [ ]} a\n{M:- [x]} b\n{M:-} [y] c"},
        {"-\n- a", "{M:-} \n{M:-} a"},
        {"a\n14. b", "a\n14. b"},
        {"> a\nb\n> > c\n\nd", "{M:|} a\n{M:|} b\n{M:|} {M:|} c\n\nd"},
        {"> a\n>\n> b", "{M:|} a\n{M:|}\n{M:|} b"},
        {"> - a\n>   b", "{M:|} {M:-} a\n{M:|}   b"},
        {"    a\n     b\n\nc", "{C:a}\n{C: b}\n\nc"},
        {"a\r\nb\rc", "a\nb\rc"},
        {"a \t \nb", "a\nb"},
    };
    static const struct row rules[] = {
        {"a\n\n---\n* * *\n--", "a\n\n{M:----------}\n{M:----------}\n--"},
        {"- a\n\n  ---", "{M:-} a\n\n  {M:--------}\n"},
    };
    struct markdown_options narrow = usual;
    (void) state;
    narrow.width = 10;
    check_rows(usual, rows, COUNT(rows));
    check_rows(narrow, rules, COUNT(rules));
}

static void code_is_shown_without_its_fences(void **state)
{
    static const struct row rows[] = {
        {"a\n```c\nint x;\n\n y\n```\nb", "a\n\n{T:int} x;\n\n y\n\nb"},
        {"````\n```\n*a*\n````", "{C:```}\n{C:*a*}\n"},
        {"```py\nx", "x"},
        {"- ```\n  a\n    b\n  ```\n- c", "{M:-} {C:a}\n  {C:  b}\n\n{M:-} c"},
        {"> ```\n> a\nb", "{M:|} {C:a}\n\nb"},
        {"~~~ {.python}\n# c\n~~~", "{c:# c}\n"},
        {"``` a ` b", "``` a ` b"},
    };
    (void) state;
    check_rows(usual, rows, COUNT(rows));
}

/* What a table looks like, without its styles. */
static void check_plain(size_t width, const char *text, const char *expected)
{
    struct shown shown;
    struct acp_buf bare;
    struct markdown_options options = usual;
    options.width = width;
    assert_int_equal(show_markdown(options, acp_str_from(text), 3, &shown), 0);
    acp_buf_init(&bare, 10000);
    struct acp_str out = acp_buf_view(&shown.out);
    for (size_t i = 0; i < out.len; i++) {
        if (out.ptr[i] == '{')
            while (out.ptr[i] != ':')
                i++;
        else if (out.ptr[i] != '}')
            (void) acp_buf_append(&bare, out.ptr + i, 1);
    }
    if (!acp_str_is(acp_buf_view(&bare), expected)) {
        print_error("%.*s\ninstead of\n%s\n", ACP_ARG(acp_buf_view(&bare)), expected);
        fail();
    }
    acp_buf_finish(&bare);
    acp_buf_finish(&shown.out);
}

static void tables_are_aligned_and_fit(void **state)
{
    static const char table[] = "| Name | N |\n|:--|--:|\n| one two three | 1 |\n| b | 200 |\n";
    (void) state;
    check_plain(80, table,
                "Name          |   N\n"
                "--------------+----\n"
                "one two three |   1\n"
                "b             | 200\n");
    check_plain(14, table,
                "Name     |   N\n"
                "---------+----\n"
                "one two  |   1\n"
                "three    |\n"
                "b        | 200\n");
    check_plain(8, table, "Name: one two three\nN: 1\n\nName: b\nN: 200\n\n");
    check_plain(80, "a\n| A |\n|:-:|\n| x<br>yyy |\n| \xe6\x97\xa5\xe6\x9c\xac |\nb",
                "a\n\n A\n----\n x\nyyy\n\xe6\x97\xa5\xe6\x9c\xac\n\nb");
    check_plain(80, "| a | b |\n| c | d |\n", "| a | b |\n| c | d |\n");
    check_plain(80, "|a|b|\n|-|\n", "|a|b|\n|-|\n");
    check_plain(80, "> |a|\n> |-|\n> |b|\n", "| a\n| -\n| b\n");
    check_plain(80, "|a|b|c|\n|-|-|-|\n|x|\n||y||z|\n", "a | b | c\n--+---+--\nx |   |\n  | y |\n");
}

/* ---- What is held back ----------------------------------------------------------------------- */

/* What is shown of the first part of a text, before the rest has come. */
static void check_held(const char *text, const char *shown_now)
{
    struct shown shown = {0};
    struct markdown *markdown;
    struct markdown_options options = usual;
    acp_buf_init(&shown.out, 100000);
    options.sink = &shown_sink;
    options.user = &shown;
    assert_int_equal(markdown_new(&options, &markdown), 0);
    markdown_add(markdown, acp_str_from(text));
    close_style(&shown);
    if (!acp_str_is(acp_buf_view(&shown.out), shown_now)) {
        print_error("%s: %.*s instead of %s\n", text, ACP_ARG(acp_buf_view(&shown.out)), shown_now);
        fail();
    }
    assert_int_equal(markdown_end(markdown), 0);
    markdown_free(markdown);
    acp_buf_finish(&shown.out);
}

static void text_is_shown_as_it_comes(void **state)
{
    (void) state;
    check_held("Hel", "Hel");
    check_held("Hello, wor", "Hello, wor");
    check_held("Hello ", "Hello");
    check_held("a **b", "a ");
    check_held("a **b** c", "a {b:b} c");
    check_held("a `b", "a");
    check_held("a [b](c", "a ");
    check_held("- a", "{M:-} a");
    check_held("-", "");
    check_held("# a", "");
    check_held("```c\nint", "");
    check_held("```c\nint\n", "{T:int}\n");
    check_held("|a|\n|-|\n|b|\n", "");
    check_held("a h", "a");
    check_held("a he", "a he");
}

/* More of one thing than is worth waiting for. */
static void check_bound(const char *begin, char c, size_t count)
{
    struct acp_buf text;
    struct shown shown;
    acp_buf_init(&text, 2 * count);
    (void) acp_buf_append_str(&text, acp_str_from(begin));
    for (size_t i = 0; i < count; i++)
        (void) acp_buf_append(&text, &c, 1);
    shown = (struct shown){0};
    acp_buf_init(&shown.out, 10 * count);
    struct markdown *markdown;
    struct markdown_options options = usual;
    options.sink = &shown_sink;
    options.user = &shown;
    assert_int_equal(markdown_new(&options, &markdown), 0);
    markdown_add(markdown, acp_buf_view(&text));
    assert_true(shown.out.len > count / 2);
    assert_int_equal(markdown_end(markdown), 0);
    markdown_free(markdown);
    acp_buf_finish(&shown.out);
    acp_buf_finish(&text);
}

static void what_is_held_has_a_limit(void **state)
{
    (void) state;
    check_bound("**", 'a', 2 * MARKDOWN_MAX_HELD + 10);
    check_bound("`", 'a', 2 * MARKDOWN_MAX_HELD + 10);
    check_bound("[a](", 'b', 2 * MARKDOWN_MAX_HELD + 10);
    check_bound("https://", 'b', 2 * MARKDOWN_MAX_HELD + 10);
    check_bound("# ", 'a', 2 * MARKDOWN_MAX_LINE + 10);
    check_bound("```\n", 'a', 2 * MARKDOWN_MAX_LINE + 10);
    check_bound("| ", 'a', 2 * MARKDOWN_MAX_LINE + 10);
    check_bound("---", '-', 4 * MARKDOWN_MAX_HEAD);
}

static void long_tables_are_shown_before_their_end(void **state)
{
    struct shown shown = {0};
    struct markdown *markdown;
    struct markdown_options options = usual;
    (void) state;
    acp_buf_init(&shown.out, 1 << 20);
    options.sink = &shown_sink;
    options.user = &shown;
    assert_int_equal(markdown_new(&options, &markdown), 0);
    markdown_add(markdown, acp_str_from("|a|b|\n|-|-|\n"));
    for (size_t i = 0; i + 2 < MARKDOWN_MAX_ROWS; i++)
        markdown_add(markdown, acp_str_from("|x|y|\n"));
    assert_int_equal(shown.out.len, 0);
    markdown_add(markdown, acp_str_from("|x|y|\n"));
    assert_true(shown.out.len > 0);
    size_t before = shown.out.len;
    markdown_add(markdown, acp_str_from("|wider|y|\n"));
    close_style(&shown);
    assert_non_null(strstr(shown.out.data + before, "w"));
    assert_int_equal(markdown_end(markdown), 0);
    markdown_free(markdown);
    acp_buf_finish(&shown.out);
}

static void a_text_ends_where_the_next_begins(void **state)
{
    struct shown shown = {0};
    struct markdown *markdown;
    struct markdown_options options = usual;
    (void) state;
    acp_buf_init(&shown.out, 1000);
    options.sink = &shown_sink;
    options.user = &shown;
    assert_int_equal(markdown_new(&options, &markdown), 0);
    markdown_add(markdown, acp_str_from("```\n- a **b"));
    assert_int_equal(markdown_end(markdown), 0);
    assert_false(markdown_is_at_line_start(markdown));
    markdown_add(markdown, acp_str_from("*c*\n"));
    assert_int_equal(markdown_end(markdown), 0);
    assert_true(markdown_is_at_line_start(markdown));
    assert_true(acp_str_is(acp_buf_view(&shown.out), "{C:- a **b}{i:c}\n"));
    markdown_free(markdown);
    acp_buf_finish(&shown.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emphasis_is_that_of_commonmark),
        cmocka_unit_test(links_are_addresses_with_a_label),
        cmocka_unit_test(blocks_are_lines),
        cmocka_unit_test(code_is_shown_without_its_fences),
        cmocka_unit_test(tables_are_aligned_and_fit),
        cmocka_unit_test(text_is_shown_as_it_comes),
        cmocka_unit_test(what_is_held_has_a_limit),
        cmocka_unit_test(long_tables_are_shown_before_their_end),
        cmocka_unit_test(a_text_ends_where_the_next_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
