/*
 * Guarded files: which lines of a text are read, what is not a text, how much is too much, what
 * errors tell, and the buffers of an editor that come before the disk.
 *
 * "@" in a path stands for a scratch folder with the root @/ws in it, and @/out, which is outside.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "acp/files.h"
#include "workspace/beneath.h"

enum { INVALID = -32602, MISSING = -32002, FAILED = -32603 };

static char base[64];
static struct acp_roots *roots;
static struct acp_buf out;
static const struct acp_opt_i64 none;

/* ---- The scratch folder --------------------------------------------------------------------- */

static const char *at(const char *path)
{
    static char texts[4][200];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    bool inside = path[0] == '@';
    (void) snprintf(text, sizeof(texts[0]), "%s%s", inside ? base : "", path + inside);
    return text;
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(at(path), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static const char *content(const char *path)
{
    static char text[256];
    FILE *f = fopen(at(path), "r");
    if (!f)
        return NULL;
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    (void) fclose(f);
    return text;
}

static int setup(void **state)
{
    (void) state;
    char real[] = "/tmp/acp-text-XXXXXX";
    assert_non_null(mkdtemp(real));
    (void) snprintf(base, sizeof(base), "%s", real);
    acp_buf_init(&out, 64u << 20);
    assert_int_equal(mkdir(at("@/ws"), 0755), 0);
    assert_int_equal(mkdir(at("@/ws/sub"), 0755), 0);
    assert_int_equal(mkdir(at("@/out"), 0755), 0);
    put("@/ws/plain", "plain");
    put("@/out/secret", "secret");
    assert_int_equal(symlink("../out", at("@/ws/to-out")), 0);
    assert_int_equal(symlink("../out/secret", at("@/ws/relative")), 0);
    assert_int_equal(symlink("../out/nowhere", at("@/ws/dangling-out")), 0);
    return acp_roots_new(acp_str_from(at("@/ws")), (struct acp_str_list){NULL, 0}, &roots, NULL);
}

static int teardown(void **state)
{
    (void) state;
    acp_roots_free(roots);
    roots = NULL;
    acp_buf_finish(&out);
    char command[100];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", base);
    return system(command);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void lines_are_counted_from_one(void **state)
{
    (void) state;
    enum { ALL = -1, NIL = -2 };
    static const struct {
        const char *file;
        int line;
        int limit;
        const char *text;
    } rows[] = {
        {"a\nb\nc\n", ALL, ALL, "a\nb\nc\n"},
        {"a\nb\nc\n", NIL, NIL, "a\nb\nc\n"},
        {"a\nb\nc\n", 1, ALL, "a\nb\nc\n"},
        {"a\nb\nc\n", 2, ALL, "b\nc\n"},
        {"a\nb\nc\n", 2, 1, "b\n"},
        {"a\nb\nc\n", ALL, 2, "a\nb\n"},
        {"a\nb\nc\n", 1, 0, ""},
        {"a\nb\nc\n", 3, 9, "c\n"},
        {"a\nb\nc\n", 4, ALL, ""},
        {"a\nb\nc\n", 2147483647, 5, ""},
        {"a\nb", 2, 1, "b"},
        {"a\nb", 2, ALL, "b"},
        {"\n\n\n", 2, 1, "\n"},
        {"", ALL, ALL, ""},
        {"", 1, 1, ""},
        {"", 2, ALL, ""},
        {"a\r\nb\r\n", 1, 1, "a\r\n"},
        {"a\r\nb\r\n", ALL, ALL, "a\r\nb\r\n"},
        {"a\rb\n", 1, 1, "a\rb\n"},
        {"\xef\xbb\xbf"
         "a\n",
         1, 1,
         "\xef\xbb\xbf"
         "a\n"},
        {"ä\n\xe2\x80\xa8\nö\n", 2, 1, "\xe2\x80\xa8\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put("@/ws/lines", rows[i].file);
        struct acp_opt_i64 line = {rows[i].line == ALL   ? ACP_ABSENT
                                   : rows[i].line == NIL ? ACP_NULL
                                                         : ACP_PRESENT,
                                   rows[i].line};
        struct acp_opt_i64 limit = {rows[i].limit == ALL   ? ACP_ABSENT
                                    : rows[i].limit == NIL ? ACP_NULL
                                                           : ACP_PRESENT,
                                    rows[i].limit};
        struct acp_str text;
        assert_int_equal(acp_files_read(roots, acp_str_from(at("@/ws/lines")), line, limit, NULL,
                                        &out, &text, NULL),
                         0);
        if (!acp_str_is(text, rows[i].text))
            print_error("row %zu: %.*s\n", i, (int) text.len, text.ptr);
        assert_true(acp_str_is(text, rows[i].text));
    }
}

static void lines_and_limits_that_cannot_be_are_refused(void **state)
{
    (void) state;
    static const int64_t rows[][2] = {{0, 1}, {-1, 1}, {INT64_MIN, 1}, {1, -1}, {1, INT64_MIN}};
    for (size_t i = 0; i < 5; i++) {
        struct acp_str text;
        struct acp_files_error error;
        assert_int_equal(acp_files_read(roots, acp_str_from(at("@/ws/plain")),
                                        acp_some_i64(rows[i][0]), acp_some_i64(rows[i][1]), NULL,
                                        &out, &text, &error),
                         ACP_ERR_RANGE);
        assert_int_equal(error.code, INVALID);
    }
}

static void lines_are_the_same_wherever_blocks_end(void **state)
{
    (void) state;
    enum { LINE = 8, LINES = 64 * 1024 / LINE * 2 + 5 };
    static char text[LINE * LINES + 1];
    for (size_t i = 0; i < LINES; i++)
        (void) snprintf(text + i * LINE, LINE + 1, "%07zu\n", i + 1);
    put("@/ws/blocks", text);
    const int64_t lines[] = {1, 8191, 8192, 8193, 8194, 16384, 16385, LINES};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct acp_str got;
        assert_int_equal(acp_files_read(roots, acp_str_from(at("@/ws/blocks")),
                                        acp_some_i64(lines[i]), acp_some_i64(3), NULL, &out, &got,
                                        NULL),
                         0);
        size_t from = ((size_t) lines[i] - 1) * LINE;
        size_t left = sizeof(text) - 1 - from;
        size_t three = (size_t) 3 * LINE;
        size_t want = left < three ? left : three;
        assert_true(acp_str_eq(got, acp_str_n(text + from, want)));
    }
}

/* ---- What is not a text, and too much of it -------------------------------------------------- */

static void what_is_not_text_gets_a_clear_error(void **state)
{
    (void) state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *word;
    } rows[] = {
        {"\x7f"
         "ELF\0\0",
         6, "binary"},
        {"a\0b", 3, "binary"},
        {"a\nb\n\xff\n", 6, "line 3"},
        {"\xc0\xaf", 2, "UTF-8"},
        {"\xed\xa0\x80", 3, "UTF-8"},
        {"ab\xe2\x82", 4, "UTF-8"},
        {"\xff\xfe"
         "a\0",
         4, "binary"},
        {"0123456789abcdef\x80", 17, "line 1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_bytes("@/ws/bytes", rows[i].bytes, rows[i].n);
        struct acp_str text = {NULL, 0};
        struct acp_files_error error;
        assert_int_equal(acp_files_read(roots, acp_str_from(at("@/ws/bytes")), none, none, NULL,
                                        &out, &text, &error),
                         ACP_ERR_UTF8);
        assert_null(text.ptr);
        assert_int_equal(error.code, FAILED);
        assert_non_null(strstr(error.message, rows[i].word));
        assert_non_null(strstr(error.message, "/ws/bytes"));
    }
}

static void sizes_are_limited_to_what_is_returned(void **state)
{
    (void) state;
    put("@/ws/ten", "123456789\n123456789\n");
    struct acp_files_options options = {.max_bytes = 12};
    static const struct {
        int64_t line;
        int64_t limit;
        int64_t code;
    } rows[] = {{0, 0, INVALID}, {1, 1, 0}, {2, 1, 0}, {2, 9, 0}, {1, 2, INVALID}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_str text;
        struct acp_files_error error = {0};
        struct acp_opt_i64 line = {rows[i].line ? ACP_PRESENT : ACP_ABSENT, rows[i].line};
        struct acp_opt_i64 limit = {rows[i].limit ? ACP_PRESENT : ACP_ABSENT, rows[i].limit};
        int err = acp_files_read(roots, acp_str_from(at("@/ws/ten")), line, limit, &options, &out,
                                 &text, &error);
        assert_int_equal(error.code, rows[i].code);
        assert_int_equal(err, rows[i].code ? ACP_ERR_LIMIT : 0);
    }
    assert_int_equal(acp_files_write(roots, acp_str_from(at("@/ws/new")),
                                     acp_str_from("123456789012"), &options, NULL),
                     0);
    assert_int_equal(acp_files_write(roots, acp_str_from(at("@/ws/new")),
                                     acp_str_from("1234567890123"), &options, NULL),
                     ACP_ERR_LIMIT);
    assert_string_equal(content("@/ws/new"), "123456789012");
}

static void ten_mebibytes_are_the_default(void **state)
{
    (void) state;
    size_t n = (size_t) 10 * 1024 * 1024;
    char *big = malloc(n + 1);
    assert_non_null(big);
    memset(big, 'x', n + 1);
    struct acp_str path = acp_str_from(at("@/ws/big"));
    struct acp_str text;
    assert_int_equal(acp_files_write(roots, path, acp_str_n(big, n), NULL, NULL), 0);
    assert_int_equal(acp_files_write(roots, path, acp_str_n(big, n + 1), NULL, NULL),
                     ACP_ERR_LIMIT);
    assert_int_equal(acp_files_read(roots, path, none, none, NULL, &out, &text, NULL), 0);
    assert_int_equal(text.len, n);
    assert_int_equal(truncate(path.ptr, (off_t) n + 1), 0);
    assert_int_equal(acp_files_read(roots, path, none, none, NULL, &out, &text, NULL),
                     ACP_ERR_LIMIT);
    free(big);
}

static void text_that_cannot_be_read_back_is_not_written(void **state)
{
    (void) state;
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {{"\xff", 1}, {"a\0b", 3}, {"ab\xe2\x82", 4}, {"\xed\xa0\x80", 3}};
    for (size_t i = 0; i < 4; i++) {
        struct acp_files_error error;
        assert_int_equal(acp_files_write(roots, acp_str_from(at("@/ws/plain")),
                                         acp_str_n(rows[i].bytes, rows[i].n), NULL, &error),
                         ACP_ERR_UTF8);
        assert_int_equal(error.code, INVALID);
        assert_string_equal(content("@/ws/plain"), "plain");
    }
    struct acp_files_options options = {.sync = true};
    assert_int_equal(
        acp_files_write(roots, acp_str_from(at("@/ws/plain")), acp_str_n("", 0), &options, NULL),
        0);
    assert_string_equal(content("@/ws/plain"), "");
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void a_missing_file_is_told_by_its_uri(void **state)
{
    (void) state;
    struct acp_str text;
    struct acp_files_error error;
    struct acp_str path = acp_str_from(at("@/ws/no such ünit#1?%"));
    assert_int_equal(acp_files_read(roots, path, none, none, NULL, &out, &text, &error),
                     ACP_ERR_MISSING);
    assert_int_equal(error.code, MISSING);
    struct acp_buf data;
    acp_buf_init(&data, 1000);
    assert_int_equal(acp_files_not_found_data(path, &data), 0);
    char want[300];
    (void) snprintf(want, sizeof(want),
                    "{\"uri\":\"file://%s/ws/no%%20such%%20%%C3%%BCnit%%231%%3F%%25\"}", base);
    assert_true(acp_str_is(acp_buf_view(&data), want));
    (void) snprintf(want, sizeof(want),
                    "Resource not found: file://%s/ws/no%%20such%%20%%C3%%BCnit%%231%%3F%%25",
                    base);
    assert_string_equal(error.message, want);
    acp_buf_finish(&data);
    acp_buf_init(&data, 20); /* too small: nothing is left in it */
    assert_int_equal(acp_files_not_found_data(path, &data), ACP_ERR_LIMIT);
    assert_int_equal(data.len, 0);
    acp_buf_finish(&data);
}

static void assert_names(const char *uri, int err, const char *path)
{
    struct acp_buf found;
    acp_buf_init(&found, 100);
    assert_int_equal(acp_file_path(acp_str_from(uri), &found), err);
    assert_true(acp_str_is(acp_buf_view(&found), path));
    acp_buf_finish(&found);
}

static void a_path_is_read_out_of_a_uri(void **state)
{
    (void) state;
    assert_names("file:///a/b.c", 0, "/a/b.c");
    assert_names("FILE://LocalHost/a", 0, "/a");
    assert_names("FILE://LOCALHOST/a", 0, "/a");
    assert_names("file:///%4A%4a%4F%4f%30%39", 0, "/JJOO09");
    assert_names("file:/a", 0, "/a");
    assert_names("file:///no%20such%20%c3%BCnit%231%3F%25#L10-12", 0, "/no such \xc3\xbcnit#1?%");
    assert_names("file:///a?line=3", 0, "/a");
    assert_names("http://example.com/a", ACP_ERR_TYPE, "");
    assert_names("file", ACP_ERR_TYPE, "");
    assert_names("", ACP_ERR_TYPE, "");
    assert_names("file://", ACP_ERR_RANGE, "");
    assert_names("file://server/a", ACP_ERR_RANGE, "");
    assert_names("file:a", ACP_ERR_RANGE, "");
    assert_names("file:///a%00b", ACP_ERR_RANGE, "");
    assert_names("file:///a%2", ACP_ERR_RANGE, "");
    assert_names("file:///a%zz", ACP_ERR_RANGE, "");
}

/* What can only be a directory is told by its end. */
static void a_path_is_tidied(void **state)
{
    static const struct {
        const char *path;
        const char *normal;
        bool directory;
    } rows[] = {{"/", "/", true},          {"//", "/", true},          {"/a", "/a", false},
                {"/a/", "/a", true},       {"/a//b", "/a/b", false},   {"/a/.", "/a", true},
                {"/a/..", "/", true},      {"/a/b/..", "/a", true},    {"/a/../b", "/b", false},
                {"/..", "/", true},        {"/../a", "/a", false},     {"/a/..b", "/a/..b", false},
                {"/a/b.", "/a/b.", false}, {"/a/...", "/a/...", false}};
    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char normal[ACP_PATH_SIZE];
        bool directory = !rows[i].directory;
        assert_int_equal(acp_path_normal(acp_str_from(rows[i].path), normal, &directory), 0);
        assert_string_equal(normal, rows[i].normal);
        if (directory != rows[i].directory)
            fail_msg("%s", rows[i].path);
    }
}

static void long_messages_end_with_a_whole_character(void **state)
{
    (void) state;
    for (size_t shift = 0; shift < 4; shift++) {
        char path[800] = "/";
        memset(path + 1, 'x', shift);
        for (size_t i = 1 + shift; i + 2 < sizeof(path); i += 2)
            memcpy(path + i, "é", 3);
        struct acp_str text;
        struct acp_files_error error;
        assert_int_equal(
            acp_files_read(roots, acp_str_from(path), none, none, NULL, &out, &text, &error),
            ACP_ERR_RANGE);
        size_t n = strlen(error.message);
        assert_true(n > 250);
        assert_memory_equal(error.message + n - 2, "é", 2);
    }
}

/* ---- Hooks ---------------------------------------------------------------------------------- */

struct editor {
    int answer;
    int calls;
    char path[128];
    char text[64];
};

static int editor_read(struct acp_str path, struct acp_str *ret_text, void *user)
{
    struct editor *e = user;
    e->calls++;
    (void) snprintf(e->path, sizeof(e->path), "%.*s", (int) path.len, path.ptr);
    *ret_text = acp_str_from("unsaved 1\nunsaved 2\n");
    return e->answer;
}

static int editor_write(struct acp_str path, struct acp_str text, void *user)
{
    struct editor *e = user;
    e->calls++;
    (void) snprintf(e->path, sizeof(e->path), "%.*s", (int) path.len, path.ptr);
    (void) snprintf(e->text, sizeof(e->text), "%.*s", (int) text.len, text.ptr);
    return e->answer;
}

static void unsaved_buffers_come_before_the_disk(void **state)
{
    (void) state;
    struct editor e = {.answer = 1};
    struct acp_files_hooks hooks = {.read = editor_read, .write = editor_write, .user = &e};
    struct acp_files_options options = {.hooks = &hooks};
    struct acp_str text;
    struct acp_str path = acp_str_from(at("@/ws/sub/../new buffer"));
    assert_int_equal(
        acp_files_read(roots, path, acp_some_i64(2), none, &options, &out, &text, NULL), 0);
    assert_true(acp_str_is(text, "unsaved 2\n"));
    assert_string_equal(e.path, at("@/ws/new buffer"));
    assert_int_equal(acp_files_write(roots, path, acp_str_from("typed"), &options, NULL), 0);
    assert_string_equal(e.text, "typed");
    assert_null(content("@/ws/new buffer"));

    options.max_bytes = 5;
    assert_int_equal(acp_files_read(roots, path, none, none, &options, &out, &text, NULL),
                     ACP_ERR_LIMIT);
    options.max_bytes = 0;

    e.answer = 0;
    assert_int_equal(acp_files_write(roots, path, acp_str_from("disk"), &options, NULL), 0);
    assert_string_equal(content("@/ws/new buffer"), "disk");
    assert_int_equal(acp_files_read(roots, path, none, none, &options, &out, &text, NULL), 0);
    assert_true(acp_str_is(text, "disk"));

    e.answer = ACP_ERR_STATE;
    struct acp_files_error error;
    assert_int_equal(acp_files_read(roots, path, none, none, &options, &out, &text, &error),
                     ACP_ERR_STATE);
    assert_int_equal(error.code, FAILED);
    assert_int_equal(acp_files_write(roots, path, acp_str_from("x"), &options, &error),
                     ACP_ERR_STATE);
}

static void unsaved_buffers_outside_stay_outside(void **state)
{
    (void) state;
    struct editor e = {.answer = 1};
    struct acp_files_hooks hooks = {.read = editor_read, .write = editor_write, .user = &e};
    static const char *const paths[] = {"@/out/secret",     "@/ws/to-out/secret", "@/ws/relative",
                                        "@/ws/to-out/new",  "@/ws/../out/x",      "relative",
                                        "@/ws/dangling-out"};
    for (size_t i = 0; i < 14; i++) {
        struct acp_files_options options = {.hooks = &hooks, .walk = i % 2};
        struct acp_str text;
        struct acp_str path = acp_str_from(at(paths[i / 2]));
        assert_int_equal(acp_files_read(roots, path, none, none, &options, &out, &text, NULL),
                         ACP_ERR_RANGE);
        assert_int_equal(acp_files_write(roots, path, acp_str_from("x"), &options, NULL),
                         ACP_ERR_RANGE);
    }
    assert_int_equal(e.calls, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(lines_are_counted_from_one),
        CASE(lines_and_limits_that_cannot_be_are_refused),
        CASE(lines_are_the_same_wherever_blocks_end),
        CASE(what_is_not_text_gets_a_clear_error),
        CASE(sizes_are_limited_to_what_is_returned),
        CASE(ten_mebibytes_are_the_default),
        CASE(text_that_cannot_be_read_back_is_not_written),
        CASE(a_missing_file_is_told_by_its_uri),
        CASE(a_path_is_read_out_of_a_uri),
        CASE(a_path_is_tidied),
        CASE(long_messages_end_with_a_whole_character),
        CASE(unsaved_buffers_come_before_the_disk),
        CASE(unsaved_buffers_outside_stay_outside),
    };
    return cmocka_run_group_tests_name("files-text", tests, NULL, NULL);
}
