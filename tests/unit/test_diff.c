/*
 * Line diffs: random pairs of texts whose scripts must lead from one to the other and be as short
 * as a plain table of common subsequences says, texts made to be slow, and patches, exact in the
 * small and applied by git and patch(1) in the large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/diff.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { MEGABYTE = 1000000, ROOM = 100000000 };

/* ---- Texts ---------------------------------------------------------------------------------- */

static uint64_t random_state;

/* A number below n, the same ones for the same seed on every system. */
static size_t below(size_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t) (random_state >> 33) % n;
}

static void add(struct acp_buf *text, const void *bytes, size_t n)
{
    assert_int_equal(acp_buf_append(text, bytes, n), 0);
}

static void add_str(struct acp_buf *text, struct acp_str str)
{
    add(text, str.ptr, str.len);
}

static struct acp_str nth_line(struct acp_str text, size_t *at)
{
    const char *line = text.ptr + *at;
    const char *newline = memchr(line, '\n', text.len - *at);
    size_t len = newline ? (size_t) (newline + 1 - line) : text.len - *at;
    *at += len;
    return acp_str_n(line, len);
}

struct lines {
    struct acp_str *items;
    size_t count;
};

static struct lines lines_of(struct acp_str text)
{
    struct lines lines = {malloc((text.len + 1) * sizeof(struct acp_str)), 0};
    assert_non_null(lines.items);
    for (size_t at = 0; at < text.len;)
        lines.items[lines.count++] = nth_line(text, &at);
    return lines;
}

/* Lines of few kinds, so that there are many ways to pair them; the last may lack its newline. */
static void random_text(struct acp_buf *text, size_t max_lines, size_t kinds)
{
    static const struct acp_str ends[] = {ACP_STR("\n"), ACP_STR("\n"), ACP_STR("\r\n"),
                                          ACP_STR("\0\n")};
    size_t lines = below(max_lines + 1);
    size_t end_kinds = below(4) ? 1 : 4;
    acp_buf_clear(text);
    for (size_t i = 0; i < lines; i++) {
        size_t kind = below(kinds);
        if (kind)
            assert_int_equal(acp_buf_printf(text, "line %zu", kind), 0);
        if (i + 1 < lines || below(3))
            add_str(text, ends[below(end_kinds)]);
    }
}

/* A copy with some lines gone, doubled or new. */
static void random_change(struct acp_str from, struct acp_buf *to, size_t one_in)
{
    acp_buf_clear(to);
    for (size_t at = 0; at < from.len;) {
        struct acp_str line = nth_line(from, &at);
        size_t what = below(one_in) ? 3 : below(3);
        if (what != 0)
            add_str(to, line);
        if (what == 1)
            add_str(to, line);
        if (what == 2)
            assert_int_equal(acp_buf_printf(to, "line %zu\n", below(9)), 0);
    }
}

/* ---- Checking scripts ----------------------------------------------------------------------- */

/* The script is in order, has common lines between its edits and turns old into new. */
static size_t check_script(struct acp_str old_text, struct acp_str new_text,
                           const struct acp_diff_script *s)
{
    struct lines a = lines_of(old_text);
    struct lines b = lines_of(new_text);
    assert_int_equal(s->old_lines, a.count);
    assert_int_equal(s->new_lines, b.count);
    size_t i = 0;
    size_t j = 0;
    size_t length = 0;
    for (size_t e = 0; e <= s->count; e++) {
        struct acp_diff_edit end = {s->old_lines, 0, s->new_lines, 0};
        const struct acp_diff_edit *edit = e < s->count ? &s->edits[e] : &end;
        assert_true(e == 0 || e == s->count || edit->old_start > i);
        assert_true(edit->old_start >= i && edit->old_start - i == edit->new_start - j);
        for (; i < edit->old_start; i++, j++)
            assert_true(acp_str_eq(a.items[i], b.items[j]));
        assert_true(e == s->count || edit->old_count || edit->new_count);
        i += edit->old_count;
        j += edit->new_count;
        length += (size_t) edit->old_count + edit->new_count;
        assert_true(i <= a.count && j <= b.count);
    }
    free(a.items);
    free(b.items);
    return length;
}

/* Lines removed and added in the shortest script, from the table of common subsequences. */
static size_t shortest(struct acp_str old_text, struct acp_str new_text)
{
    struct lines a = lines_of(old_text);
    struct lines b = lines_of(new_text);
    size_t *row = calloc(b.count + 1, sizeof(*row));
    assert_non_null(row);
    for (size_t i = 0; i < a.count; i++) {
        size_t corner = 0;
        for (size_t j = 0; j < b.count; j++) {
            size_t above = row[j + 1];
            if (acp_str_eq(a.items[i], b.items[j]))
                row[j + 1] = corner + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            corner = above;
        }
    }
    size_t length = a.count + b.count - 2 * row[b.count];
    free(row);
    free(a.items);
    free(b.items);
    return length;
}

static void check_pair(struct acp_str old_text, struct acp_str new_text)
{
    struct acp_arena arena;
    struct acp_diff_script script;
    acp_arena_init(&arena, 0);
    assert_int_equal(acp_diff_lines(old_text, new_text, &arena, &script), 0);
    size_t length = check_script(old_text, new_text, &script);
    size_t least = shortest(old_text, new_text);
    assert_int_equal(script.count == 0, acp_str_eq(old_text, new_text));
    assert_false(script.capped);
    if (length != least)
        print_error("old:\n%.*s\nnew:\n%.*s\n", (int) old_text.len, old_text.ptr,
                    (int) new_text.len, new_text.ptr);
    assert_int_equal(length, least);
    acp_arena_finish(&arena);
}

static void scripts_are_right_and_shortest(void **state)
{
    (void) state;
    static const struct {
        int rounds;
        size_t lines;
        size_t kinds;
    } plans[] = {{20000, 6, 2}, {20000, 12, 3}, {4000, 40, 4}, {300, 200, 30}, {20, 900, 4}};
    struct acp_buf a;
    struct acp_buf b;
    acp_buf_init(&a, MEGABYTE);
    acp_buf_init(&b, MEGABYTE);
    for (size_t p = 0; p < sizeof(plans) / sizeof(plans[0]); p++) {
        int rounds = SANITIZED ? plans[p].rounds / 5 : plans[p].rounds;
        for (int i = 0; i < rounds; i++) {
            random_text(&a, plans[p].lines, plans[p].kinds);
            if (i % 2)
                random_text(&b, plans[p].lines, plans[p].kinds);
            else
                random_change(acp_buf_view(&a), &b, 1 + below(20));
            check_pair(acp_buf_view(&a), acp_buf_view(&b));
        }
    }
    acp_buf_finish(&a);
    acp_buf_finish(&b);
}

/* ---- Scripts in the small -------------------------------------------------------------------- */

static void expect_script(struct acp_str old_text, struct acp_str new_text, const char *want)
{
    struct acp_arena arena;
    struct acp_diff_script s;
    char got[400] = "";
    acp_arena_init(&arena, 0);
    assert_int_equal(acp_diff_lines(old_text, new_text, &arena, &s), 0);
    (void) check_script(old_text, new_text, &s);
    for (size_t i = 0; i < s.count; i++)
        (void) snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u,%u>%u,%u", i ? " " : "",
                        s.edits[i].old_start, s.edits[i].old_count, s.edits[i].new_start,
                        s.edits[i].new_count);
    assert_string_equal(got, want);
    acp_arena_finish(&arena);
}

static void scripts_in_the_small(void **state)
{
    (void) state;
    struct acp_str none = {NULL, 0};
    expect_script(none, none, "");
    expect_script(acp_str_null(), acp_str_from(""), "");
    expect_script(none, acp_str_from("a\nb"), "0,0>0,2");
    expect_script(acp_str_from("a\nb"), none, "0,2>0,0");
    expect_script(acp_str_from("a\nb\nc\n"), acp_str_from("a\nb\nc\n"), "");
    expect_script(acp_str_from("a\nb\nc\n"), acp_str_from("a\nB\nc\n"), "1,1>1,1");
    expect_script(acp_str_from("a\nb\nc\n"), acp_str_from("b\nc\nd\n"), "0,1>0,0 3,0>2,1");
    /* The end of a line is a part of it. */
    expect_script(acp_str_from("a\nb"), acp_str_from("a\nb\n"), "1,1>1,1");
    expect_script(acp_str_from("a\nb\n"), acp_str_from("a\r\nb\n"), "0,1>0,1");
    expect_script(acp_str_from("a\rb\n"), acp_str_from("a\rc\n"), "0,1>0,1");
    struct acp_str old_text = ACP_STR("a\0b\nx\n");
    struct acp_str new_text = ACP_STR("a\0c\nx\n");
    expect_script(old_text, new_text, "0,1>0,1");
}

static void edits_stand_as_low_as_they_can(void **state)
{
    (void) state;
    expect_script(acp_str_from("x\nx\nx\n"), acp_str_from("x\nx\nx\nx\n"), "3,0>3,1");
    expect_script(acp_str_from("x\nx\nx\nx\n"), acp_str_from("x\nx\nx\n"), "3,1>3,0");
    expect_script(acp_str_from("1\nf {\n}\ng {\n}\n"), acp_str_from("2\nf {\n}\nh {\n}\ng {\n}\n"),
                  "0,1>0,1 3,0>3,2");
    /* Below the last edit of the search stands the common tail: it may go into that too. */
    expect_script(acp_str_from("1\nf {\n}\n"), acp_str_from("2\nf {\n}\nh {\n}\n"),
                  "0,1>0,1 3,0>3,2");
    /* One that comes to touch the next joins it. */
    expect_script(acp_str_from("0\nx\nx\nb\n"), acp_str_from("1\nx\nx\nx\nc\n"), "0,1>0,1 3,1>3,2");
}

static void failures_of_scripts(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct acp_diff_script script;
    acp_arena_init(&arena, 8);
    struct acp_str text = acp_str_from("a\n");
    assert_int_equal(acp_diff_lines(text, acp_str_from("b\n"), &arena, &script), ACP_ERR_NOMEM);
    /* Never read: it is too long for that. */
    struct acp_str large = {"", (size_t) ACP_DIFF_MAX_BYTES + 1};
    assert_int_equal(acp_diff_lines(large, text, &arena, &script), ACP_ERR_LIMIT);
    assert_int_equal(acp_diff_lines(text, large, &arena, &script), ACP_ERR_LIMIT);
    acp_arena_finish(&arena);
}

/* ---- Large and hostile texts ----------------------------------------------------------------- */

/* Runs it, checks the script, and says what it took; fails when that is more than it may be. */
static struct acp_diff_script timed(const char *what, const struct acp_buf *a,
                                    const struct acp_buf *b, unsigned max_ms)
{
    struct acp_arena arena;
    struct acp_diff_script script;
    acp_arena_init(&arena, 0);
    struct acp_str old_text = acp_buf_view(a);
    struct acp_str new_text = acp_buf_view(b);
    clock_t start = clock();
    assert_int_equal(acp_diff_lines(old_text, new_text, &arena, &script), 0);
    double ms = (double) (clock() - start) * 1000 / CLOCKS_PER_SEC;
    size_t length = check_script(old_text, new_text, &script);
    printf("# %s: %.1f ms, %zu + %zu bytes, %u + %u lines, %zu edits of %zu lines%s\n", what, ms,
           old_text.len, new_text.len, script.old_lines, script.new_lines, script.count, length,
           script.capped ? ", capped" : "");
    assert_true(ms < max_ms * (SANITIZED ? 20.0 : 1.0));
    script.edits = NULL;
    acp_arena_finish(&arena);
    return script;
}

static void large_texts_are_fast(void **state)
{
    (void) state;
    enum { LINES = 100 * 1000 };
    struct acp_buf a;
    struct acp_buf b;
    struct acp_buf c;
    acp_buf_init(&a, ROOM);
    acp_buf_init(&b, ROOM);
    acp_buf_init(&c, ROOM);
    for (size_t i = 0; i < LINES; i++) {
        /* Every third line is one of a few, as in programs. */
        size_t value = i % 3 ? i : below(20);
        assert_int_equal(acp_buf_printf(&a, "    value[%zu] = compute(%zu);\n", value, value), 0);
    }
    random_change(acp_buf_view(&a), &b, 1000);
    assert_false(timed("scattered changes", &a, &b, 100).capped);
    random_change(acp_buf_view(&a), &c, 20);
    (void) timed("many changes", &a, &c, 100);
    assert_int_equal(timed("equal", &a, &a, 100).count, 0);
    acp_buf_clear(&b);
    add_str(&b, acp_buf_view(&a));
    b.data[b.start + 10] = '#';
    b.data[b.start + b.len - 10] = '#';
    assert_int_equal(timed("both ends", &a, &b, 100).count, 2);
    acp_buf_finish(&a);
    acp_buf_finish(&b);
    acp_buf_finish(&c);
}

/* What a line of a hostile text is. */
static void hostile_line(struct acp_buf *text, int kind, bool newer, size_t i, size_t lines)
{
    static const char binary[2][3] = {"a\n", "b\n"};
    uint32_t number = (uint32_t) (newer ? lines - 1 - i : i) * 2654435761u | 0x80808080u;
    char word[5] = "";
    switch (kind) {
    case 0: /* two kinds of lines at random */
        add(text, binary[below(2)], 2);
        break;
    case 1: /* all different, on both sides, in reverse */
        memcpy(word, &number, 4);
        word[4] = '\n';
        add(text, word, 5);
        break;
    case 2: /* periods of different length: long common runs on every diagonal */
        add(text, binary[i % (newer ? 1000 : 1001) == 0], 2);
        break;
    case 3: /* nothing but newlines, and some that are not */
        add(text, binary[below(1000) == 0] + (i % 1000 ? 1 : 0), i % 1000 ? 1 : 2);
        break;
    default: /* a thousand kinds at random */
        assert_int_equal(acp_buf_printf(text, "%zu\n", below(1000)), 0);
        break;
    }
}

static void hostile_texts_take_bounded_time(void **state)
{
    (void) state;
    static const char *const names[] = {"two kinds", "reverse", "periods", "newlines", "thousand"};
    static const size_t widths[] = {2, 5, 2, 1, 4};
    size_t size = SANITIZED ? MEGABYTE : ROOM / 10;
    struct acp_buf a;
    struct acp_buf b;
    acp_buf_init(&a, ROOM);
    acp_buf_init(&b, ROOM);
    for (int kind = 0; kind < 5; kind++) {
        size_t lines = size / widths[kind];
        acp_buf_clear(&a);
        acp_buf_clear(&b);
        for (size_t i = 0; i < lines; i++) {
            hostile_line(&a, kind, false, i, lines);
            hostile_line(&b, kind, true, i, lines);
        }
        (void) timed(names[kind], &a, &b, 5000);
    }
    acp_buf_finish(&a);
    acp_buf_finish(&b);
}

/* Computes the hash backwards: lines of 16 bytes that all land in one chain. */
static void colliding_line(struct acp_buf *text, uint64_t i)
{
    const uint64_t factor = 0xd6e8feb86659fd93u;
    uint64_t inverse = factor;
    for (int k = 0; k < 6; k++)
        inverse *= 2 - factor * inverse;
    uint64_t first = i | 0x8080808080808080u;
    uint64_t h = (17 ^ first) * factor;
    h ^= h >> 32;
    /* The hash is the upper half of the last product: always 0.  The newline is a word too. */
    for (uint64_t product = i << 8;; product++) {
        uint64_t last = product * inverse;
        uint64_t before = ((last ^ (last >> 32)) * inverse) ^ '\n';
        uint64_t word = ((before ^ (before >> 32)) * inverse) ^ h;
        char bytes[17];
        memcpy(bytes, &first, 8);
        memcpy(bytes + 8, &word, 8);
        bytes[16] = '\n';
        if (memchr(bytes, '\n', 16))
            continue;
        add(text, bytes, 17);
        return;
    }
}

static void colliding_lines_take_bounded_time(void **state)
{
    (void) state;
    size_t lines = (SANITIZED ? MEGABYTE : ROOM / 10) / 17;
    struct acp_buf a;
    struct acp_buf b;
    acp_buf_init(&a, ROOM);
    acp_buf_init(&b, ROOM);
    for (size_t i = 0; i < lines; i++) {
        colliding_line(&a, i);
        colliding_line(&b, lines - i);
    }
    (void) timed("colliding", &a, &b, 5000);
    acp_buf_finish(&a);
    acp_buf_finish(&b);
}

/* ---- Patches in the small -------------------------------------------------------------------- */

static struct acp_diff_patch_options named(const char *old_path, const char *new_path)
{
    return (struct acp_diff_patch_options){.old_path = acp_str_from(old_path),
                                           .new_path = acp_str_from(new_path)};
}

static void expect_patch(const struct acp_diff_patch_options *options, const char *old_text,
                         const char *new_text, const char *want)
{
    struct acp_buf out;
    acp_buf_init(&out, MEGABYTE);
    add(&out, "before", 6);
    assert_int_equal(acp_diff_patch(options, acp_str_from(old_text), acp_str_from(new_text), &out),
                     0);
    add(&out, "", 1);
    assert_string_equal(acp_buf_view(&out).ptr + 6, want);
    acp_buf_finish(&out);
}

static void v2_tool_21_patches_have_absolute_paths_without_prefix(void **state)
{
    (void) state;
    struct acp_diff_patch_options o = named("/p/f.c", "/p/f.c");
    expect_patch(&o, "a\nb\n", "a\nc\n",
                 "diff --git /p/f.c /p/f.c\n--- /p/f.c\n+++ /p/f.c\n"
                 "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    expect_patch(&o, "a\n", "a\n", "");
    o = named(NULL, "/p/new");
    expect_patch(&o, NULL, "a\nb",
                 "diff --git /p/new /p/new\nnew file mode 100644\n--- /dev/null\n+++ /p/new\n"
                 "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    o.old_path = acp_str_null();
    expect_patch(&o, NULL, "",
                 "diff --git /p/new /p/new\nnew file mode 100644\nindex 0000000..e69de29\n"
                 "--- /dev/null\n+++ /p/new\n");
    o = named("/p/old", NULL);
    expect_patch(&o, "a\n", NULL,
                 "diff --git /p/old /p/old\ndeleted file mode 100644\n--- /p/old\n+++ /dev/null\n"
                 "@@ -1,1 +0,0 @@\n-a\n");
    expect_patch(&o, "", NULL,
                 "diff --git /p/old /p/old\ndeleted file mode 100644\nindex e69de29..0000000\n"
                 "--- /p/old\n+++ /dev/null\n");
}

static void v2_tool_18_moves_and_copies_have_both_paths(void **state)
{
    (void) state;
    struct acp_diff_patch_options o = named("/p/a", "/p/b");
    expect_patch(&o, "a\n", "a\n", "diff --git /p/a /p/b\nrename from /p/a\nrename to /p/b\n");
    o.copied = true;
    expect_patch(&o, "a\n", "b\n",
                 "diff --git /p/a /p/b\ncopy from /p/a\ncopy to /p/b\n--- /p/a\n+++ /p/b\n"
                 "@@ -1,1 +1,1 @@\n-a\n+b\n");
}

static void hunks_have_context_and_join(void **state)
{
    (void) state;
#define HEAD "diff --git /f /f\n--- /f\n+++ /f\n"
    struct acp_diff_patch_options o = named("/f", "/f");
    const char *text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect_patch(&o, text, "x\n2\n3\n4\n5\n6\n7\ny\n9\n",
                 HEAD "@@ -1,9 +1,9 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n 9\n");
    expect_patch(&o, text, "x\n2\n3\n4\n5\n6\n7\n8\n",
                 HEAD "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,3 @@\n 6\n 7\n 8\n-9\n");
    o.context = 1;
    expect_patch(&o, text, "1\n2\n3\nx\n4\n5\n6\n7\n9",
                 HEAD "@@ -3,2 +3,3 @@\n 3\n+x\n 4\n@@ -7,3 +8,2 @@\n 7\n-8\n-9\n+9\n"
                      "\\ No newline at end of file\n");
    o.context = SIZE_MAX;
    expect_patch(&o, text, "1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n",
                 HEAD "@@ -1,9 +1,10 @@\n 1\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n 9\n+x\n");
    o.context = 0;
    expect_patch(&o, "a\r\nb", "a\r\nb\n",
                 HEAD "@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n+b\n");
    expect_patch(&o, "", "a\n", HEAD "@@ -0,0 +1,1 @@\n+a\n");
    expect_patch(&o, "b\n", "", HEAD "@@ -1,1 +0,0 @@\n-b\n");
#undef HEAD
}

static void paths_are_quoted_as_git_does(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        const char *quoted;
    } rows[] = {
        {"/a/b", "/a/b"},
        {"/tab\there", "\"/tab\\there\""},
        {"/\a\b\n\v\f\r", "\"/\\a\\b\\n\\v\\f\\r\""},
        {"/\"q\"\\", "\"/\\\"q\\\"\\\\\""},
        {"/\001\x7f", "\"/\\001\\177\""},
        {"/gr\xc3\xbc\xc3\x9f", "/gr\xc3\xbc\xc3\x9f"},
        {"/gr\xc3\xbc\xff", "\"/gr\xc3\xbc\\377\""},
        {"C:\\src\\f.c", "\"C:\\\\src\\\\f.c\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char want[400];
        struct acp_diff_patch_options o = named(rows[i].path, rows[i].path);
        const char *q = rows[i].quoted;
        (void) snprintf(want, sizeof(want),
                        "diff --git %s %s\n--- %s\n+++ %s\n@@ -1,1 +1,1 @@\n-a\n+b\n", q, q, q, q);
        expect_patch(&o, "a\n", "b\n", want);
    }
    /* A tab ends a path that has spaces. */
    struct acp_diff_patch_options o = named(NULL, "/a b");
    expect_patch(&o, "", "b\n",
                 "diff --git /a b /a b\nnew file mode 100644\n--- /dev/null\n+++ /a b\t\n"
                 "@@ -0,0 +1,1 @@\n+b\n");
}

static void failures_of_patches(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, MEGABYTE);
    struct acp_str a = acp_str_from("a\n");
    struct acp_str none = {NULL, 0};
    struct acp_diff_patch_options o = named(NULL, NULL);
    assert_int_equal(acp_diff_patch(&o, none, none, &out), ACP_ERR_ARGUMENT);
    o = named(NULL, "/f");
    assert_int_equal(acp_diff_patch(&o, a, a, &out), ACP_ERR_ARGUMENT);
    o = named("/f", NULL);
    assert_int_equal(acp_diff_patch(&o, a, a, &out), ACP_ERR_ARGUMENT);
    o = named("", "/f");
    assert_int_equal(acp_diff_patch(&o, a, none, &out), ACP_ERR_ARGUMENT);
    o = named("/f", "/f");
    o.new_path = acp_str_n("/f\0g", 4);
    assert_int_equal(acp_diff_patch(&o, a, none, &out), ACP_ERR_ARGUMENT);
    o = named("/f", "/f");
    struct acp_str large = {"", (size_t) ACP_DIFF_MAX_BYTES + 1};
    assert_int_equal(acp_diff_patch(&o, large, a, &out), ACP_ERR_LIMIT);
    assert_int_equal(out.len, 0);
    acp_buf_finish(&out);
    int err = ACP_ERR_LIMIT;
    for (size_t max = 6; err; max++) {
        acp_buf_init(&out, max);
        add(&out, "before", 6);
        err = acp_diff_patch(&o, acp_str_from("1\n2\n3"), acp_str_from("1\n2\n4"), &out);
        assert_true(err == 0 || err == ACP_ERR_LIMIT);
        assert_true(err == 0 || acp_str_is(acp_buf_view(&out), "before"));
        acp_buf_finish(&out);
    }
}

/* ---- Patches applied by others --------------------------------------------------------------- */

enum { FILES = 400 };
enum fate { CHANGED, ADDED, DELETED, MOVED, COPIED, FATES };

struct sample {
    enum fate fate;
    char old_name[40];
    char new_name[40];
    struct acp_buf old_text;
    struct acp_buf new_text;
};

static const char *in_dir(const char *dir, const char *name)
{
    static char path[400];
    assert_true(snprintf(path, sizeof(path), "%s/%s", dir, name) < (int) sizeof(path));
    return path;
}

static void write_file(const char *path, struct acp_str text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static void expect_file(const char *path, const struct acp_buf *want)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        print_error("%s is not there\n", path);
    assert_non_null(f);
    char *bytes = malloc(want->len + 2);
    assert_non_null(bytes);
    size_t n = fread(bytes, 1, want->len + 2, f);
    assert_int_equal(fclose(f), 0);
    if (!acp_str_eq(acp_str_n(bytes, n), acp_buf_view(want)))
        print_error("%s is different\n", path);
    assert_true(acp_str_eq(acp_str_n(bytes, n), acp_buf_view(want)));
    free(bytes);
}

static void make_sample(struct sample *s, size_t i, struct acp_buf *patch, const char *dir)
{
    static const char *const kinds[] = {"plain", "gr\xc3\xbcn", "q\"uo\\te", "t\tab", "nl\n "};
    s->fate = (enum fate)(i % 3 ? CHANGED : below(FATES));
    /* patch(1) cannot move or copy a file with a space in its name, unless it is quoted. */
    bool move = s->fate == MOVED || s->fate == COPIED;
    (void) snprintf(s->old_name, sizeof(s->old_name), "%s%s%zu", kinds[below(5)], move ? "" : " ",
                    i);
    (void) snprintf(s->new_name, sizeof(s->new_name), "%s%s", s->old_name, move ? ".new" : "");
    acp_buf_init(&s->old_text, MEGABYTE);
    acp_buf_init(&s->new_text, MEGABYTE);
    random_text(&s->old_text, i % 10 ? 60 : 3, i % 10 ? 30 : 3);
    random_change(acp_buf_view(&s->old_text), &s->new_text, 1 + below(20));
    if (s->fate == ADDED)
        acp_buf_clear(&s->old_text);
    if (s->fate == DELETED)
        acp_buf_clear(&s->new_text);
    char old_path[400];
    char new_path[400];
    (void) snprintf(old_path, sizeof(old_path), "%s%s", dir, s->old_name);
    (void) snprintf(new_path, sizeof(new_path), "%s%s", dir, s->new_name);
    struct acp_diff_patch_options o =
        named(s->fate == ADDED ? NULL : old_path, s->fate == DELETED ? NULL : new_path);
    o.copied = s->fate == COPIED;
    assert_int_equal(
        acp_diff_patch(&o, acp_buf_view(&s->old_text), acp_buf_view(&s->new_text), patch), 0);
}

static void check_sample(const struct sample *s, const char *dir)
{
    if (s->fate == DELETED)
        assert_int_not_equal(access(in_dir(dir, s->old_name), F_OK), 0);
    else
        expect_file(in_dir(dir, s->new_name), &s->new_text);
    if (s->fate == COPIED)
        expect_file(in_dir(dir, s->old_name), &s->old_text);
    if (s->fate == MOVED)
        assert_int_not_equal(access(in_dir(dir, s->old_name), F_OK), 0);
}

static int shell(const char *dir, const char *command)
{
    char line[800];
    assert_true(snprintf(line, sizeof(line), "cd '%s' && %s", dir, command) < (int) sizeof(line));
    return system(line);
}

/* The command gets one patch of many files; paths are absolute, or relative to the folder. */
static void apply_with(const char *tool, const char *command, bool absolute)
{
    static struct sample samples[FILES];
    char dir[] = "/tmp/acp-diff-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char probe[100];
    (void) snprintf(probe, sizeof(probe), "%s --version >/dev/null 2>&1", tool);
    if (shell(dir, probe) != 0) {
        assert_int_equal(rmdir(dir), 0);
        print_message("# skipped: there is no %s here\n", tool);
        skip();
    }
    char prefix[40];
    (void) snprintf(prefix, sizeof(prefix), "%s%s", absolute ? dir : "", absolute ? "/" : "");
    struct acp_buf patch;
    acp_buf_init(&patch, ROOM);
    for (size_t i = 0; i < FILES; i++) {
        make_sample(&samples[i], i, &patch, prefix);
        if (samples[i].fate != ADDED)
            write_file(in_dir(dir, samples[i].old_name), acp_buf_view(&samples[i].old_text));
    }
    write_file(in_dir(dir, "the.patch"), acp_buf_view(&patch));
    if (shell(dir, command) != 0)
        fail_msg("%s does not take %s/the.patch", tool, dir);
    for (size_t i = 0; i < FILES; i++) {
        check_sample(&samples[i], dir);
        acp_buf_finish(&samples[i].old_text);
        acp_buf_finish(&samples[i].new_text);
    }
    acp_buf_finish(&patch);
    char clean[60];
    (void) snprintf(clean, sizeof(clean), "rm -rf %s", dir);
    assert_int_equal(shell("/tmp", clean), 0);
}

static void git_applies_the_patches(void **state)
{
    (void) state;
    /* No repository above and no configuration: what it does with the bytes is its default. */
    for (int i = 0; i < 3; i++)
        apply_with("git",
                   "GIT_CEILING_DIRECTORIES=/tmp GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent "
                   "git apply -p0 --unsafe-paths --whitespace=nowarn the.patch",
                   true);
}

static void patch_applies_the_patches(void **state)
{
    (void) state;
    /* It refuses absolute paths. */
    for (int i = 0; i < 3; i++)
        apply_with("patch", "patch -p0 --binary --fuzz=0 --batch --silent <the.patch", false);
}

int main(void)
{
    const char *text = getenv("ACP_TEST_SEED");
    unsigned long seed = text ? strtoul(text, NULL, 10) : 20260301;
    printf("# seed %lu (ACP_TEST_SEED)\n", seed);
    random_state = seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_in_the_small),
        cmocka_unit_test(edits_stand_as_low_as_they_can),
        cmocka_unit_test(scripts_are_right_and_shortest),
        cmocka_unit_test(failures_of_scripts),
        cmocka_unit_test(large_texts_are_fast),
        cmocka_unit_test(hostile_texts_take_bounded_time),
        cmocka_unit_test(colliding_lines_take_bounded_time),
        cmocka_unit_test(v2_tool_21_patches_have_absolute_paths_without_prefix),
        cmocka_unit_test(v2_tool_18_moves_and_copies_have_both_paths),
        cmocka_unit_test(hunks_have_context_and_join),
        cmocka_unit_test(paths_are_quoted_as_git_does),
        cmocka_unit_test(failures_of_patches),
        cmocka_unit_test(git_applies_the_patches),
        cmocka_unit_test(patch_applies_the_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
