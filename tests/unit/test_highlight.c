/* Colours for code: that nothing is lost, and what each language shows. */
#include "helpers.h"

#include "markdown/highlight.h"

static void put(struct acp_str text, enum highlight_role role, void *user)
{
    static const char letters[] = ".KTSNC+-@";
    struct acp_buf *out = user;
    if (role == HIGHLIGHT_PLAIN)
        (void) acp_buf_append_str(out, text);
    else
        (void) acp_buf_printf(out, "{%c:%.*s}", letters[role], ACP_ARG(text));
}

static void put_bare(struct acp_str text, enum highlight_role role, void *user)
{
    (void) role;
    (void) acp_buf_append_str(user, text);
}

static void lines(const char *language, struct acp_str text, highlight_put *to, struct acp_buf *out)
{
    struct highlight state = {.language = highlight_find(acp_str_from(language))};
    while (text.len) {
        const char *feed = memchr(text.ptr, '\n', text.len);
        size_t n = feed ? (size_t) (feed - text.ptr) : text.len;
        highlight_line(&state, acp_str_n(text.ptr, n), to, out);
        if (feed)
            (void) acp_buf_append(out, "\n", 1);
        n += feed != NULL;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
}

static void languages_have_their_own_words(void **state)
{
    static const struct {
        const char *language;
        const char *text;
        const char *shown;
    } rows[] = {
        {"c", "int x = 0x1F; // y", "{T:int} x = {N:0x1F}; {C:// y}"},
        {"C", "/* a\nb */ return \"\\\"\";", "{C:/* a}\n{C:b */} {K:return} {S:\"\\\"\"};"},
        {"cpp", "#include <x>", "{K:#include }<x>"},
        {"python", "def f(): '''a\nb''' # c", "{K:def} f(): {S:'''a}\n{S:b'''} {C:# c}"},
        {"ts", "const a = `x\n${y}`", "{K:const} a = {S:`x}\n{S:${y}`}"},
        {"bash", "echo \"$x\" a#b #c", "{T:echo} {S:\"$x\"} a#b {C:#c}"},
        {"sh", "apt-get ${HOME} in-line", "apt-get {T:${HOME}} in-line"},
        {"json", "{\"a\": \"b\", \"c\": true}", "{{T:\"a\"}: {S:\"b\"}, {T:\"c\"}: {T:true}}"},
        {"yaml", "key: it's 5 # x", "{T:key}: it's {N:5} {C:# x}"},
        {"go", "func f() error { return nil }", "{K:func} f() {T:error} { {K:return} {T:nil} }"},
        {"rust", "fn f<'a>(x: &'a str) -> char { 'x' }",
         "{K:fn} f<'a>(x: &'a {T:str}) -> {T:char} { {S:'x'} }"},
        {"java", "public class A {}", "{K:public} {K:class} A {}"},
        {"SQL", "SELECT a from b -- c", "{K:SELECT} a {K:from} b {C:-- c}"},
        {"diff", "@@ -1 +1 @@\n-a\n+b\n c", "{@:@@ -1 +1 @@}\n{-:-a}\n{+:+b}\n c"},
        {"klingon", "if 1 \"x\"", "if 1 \"x\""},
    };
    struct acp_buf out;
    (void) state;
    acp_buf_init(&out, 4096);
    for (size_t i = 0; i < COUNT(rows); i++) {
        acp_buf_clear(&out);
        lines(rows[i].language, acp_str_from(rows[i].text), put, &out);
        CHECK_ROW(acp_str_is(acp_buf_view(&out), rows[i].shown), i, "%.*s",
                  ACP_ARG(acp_buf_view(&out)));
    }
    acp_buf_finish(&out);
}

static void all_bytes_come_out(void **state)
{
    static const char *const names[] = {"c",    "py",   "js",  "sh",  "json", "yaml", "rust", "sql",
                                        "html", "diff", "php", "css", "",     "make", "lua"};
    static const char bytes[] = "ab1 \"'`/*-#$\\{}:<!.\n\t\xc3\xa9";
    (void) state;
    test_seed();
    for (size_t round = 0; round < 5000; round++) {
        char text[60];
        struct acp_buf out;
        size_t n = test_below(sizeof(text));
        for (size_t i = 0; i < n; i++)
            text[i] = bytes[test_below(sizeof(bytes) - 1)];
        acp_buf_init(&out, 4096);
        lines(names[round % COUNT(names)], acp_str_n(text, n), put_bare, &out);
        assert_true(acp_str_eq(acp_buf_view(&out), acp_str_n(text, n)) || n == 0);
        acp_buf_finish(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_have_their_own_words),
        cmocka_unit_test(all_bytes_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
