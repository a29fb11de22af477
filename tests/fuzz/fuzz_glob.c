/*
 * Fuzzes patterns and command lines: the matcher must agree with one that tries everything, escaped
 * texts must match themselves, and what permits must never match more than what restricts, nor
 * anything with a sign of the shell in it.  The input is a pattern, a line end, and a text.
 */
#include <stdlib.h>

#include "base/glob.h"
#include "fuzz.h"
#include "workspace/policy_match.h"

enum { MOST = 200, STEPS = 100000 };

/* For patterns of plain bytes, * and ?; false in *sure when it took too long to tell. */
static bool simple_text(struct acp_str p, struct acp_str t, long *steps)
{
    if (--*steps < 0)
        return false;
    if (p.len == 0)
        return t.len == 0;
    struct acp_str p_next = acp_str_n(p.ptr + 1, p.len - 1);
    struct acp_str t_next = acp_str_n(t.ptr + 1, t.len ? t.len - 1 : 0);
    if (*p.ptr == '*')
        return simple_text(p_next, t, steps) || (t.len && simple_text(p, t_next, steps));
    return t.len && (*p.ptr == '?' || *p.ptr == *t.ptr) && simple_text(p_next, t_next, steps);
}

static struct acp_str name_of(struct acp_str *path)
{
    while (path->len && *path->ptr == '/')
        *path = acp_str_n(path->ptr + 1, path->len - 1);
    size_t n = 0;
    while (n < path->len && path->ptr[n] != '/')
        n++;
    struct acp_str name = acp_str_n(path->ptr, n);
    *path = acp_str_n(path->ptr + n, path->len - n);
    return name;
}

static bool simple_path(struct acp_str p, struct acp_str t, long *steps)
{
    if (--*steps < 0)
        return false;
    struct acp_str whole = p;
    struct acp_str t_rest = t;
    struct acp_str want = name_of(&p);
    struct acp_str have = name_of(&t_rest);
    if (want.len == 0)
        return have.len == 0;
    if (acp_str_is(want, "**"))
        return simple_path(p, t, steps) || (have.len && simple_path(whole, t_rest, steps));
    return have.len && simple_text(want, have, steps) && simple_path(p, t_rest, steps);
}

static bool has_any(struct acp_str text, const char *bytes)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] && strchr(bytes, text.ptr[i]))
            return true;
    return false;
}

static bool is_ascii(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((signed char) text.ptr[i] <= 0)
            return false;
    return true;
}

static void check_simple(struct acp_str pattern, struct acp_str text)
{
    if (has_any(pattern, "[\\") || !is_ascii(pattern) || !is_ascii(text))
        return;
    long steps = STEPS;
    bool want = simple_text(pattern, text, &steps);
    CHECK(steps < 0 || acp_glob_text(pattern, text) == want);
    steps = STEPS;
    want = simple_path(pattern, text, &steps);
    CHECK(steps < 0 || acp_glob_path(pattern, text) == want);
}

static void check_escape(struct acp_str text)
{
    struct acp_buf out;
    acp_buf_init(&out, (size_t) 2 * MOST);
    CHECK(acp_glob_escape(text, &out) == 0);
    CHECK(acp_glob_text(acp_buf_view(&out), text));
    CHECK(acp_glob_spells(acp_buf_view(&out), text));
    CHECK(acp_glob_path(acp_buf_view(&out), text));
    CHECK(!acp_glob_is_wild(acp_buf_view(&out)));
    acp_buf_finish(&out);
}

static void check_command(struct acp_str pattern, struct acp_str line)
{
    bool narrow = acp_command_matches(pattern, line, false);
    CHECK(!narrow || acp_command_matches(pattern, line, true));
    CHECK(acp_command_matches(acp_str_from("*"), line, false));
    /* Any word, then any others: met by whatever is plain. */
    bool plain = acp_command_matches(acp_str_from("?* *"), line, false);
    if (plain && !has_any(line, "'\"\\"))
        CHECK(!has_any(acp_str_n(line.ptr, line.len), ";&|<>()`$*?[{~"));
    /* As one argument of a command it is harmless, but for control characters. */
    struct acp_buf out;
    acp_buf_init(&out, (size_t) 5 * MOST);
    CHECK(acp_command_line(acp_str_from("run"), (struct acp_str_list){&line, 1}, &out) == 0);
    bool control = false;
    for (size_t i = 0; i < line.len; i++)
        control |= (unsigned char) line.ptr[i] < 0x20;
    CHECK(acp_command_matches(acp_str_from("run *"), acp_buf_view(&out), false) == !control);
    CHECK(!acp_command_matches(acp_str_from("run"), acp_buf_view(&out), false));
    acp_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;
    /* Copies of their own size, so that the sanitizer sees every read outside of them. */
    const uint8_t *end = memchr(data, '\n', size);
    size_t n = end ? (size_t) (end - data) : size;
    size_t m = end ? size - n - 1 : 0;
    char *pattern_copy = malloc(n + 1);
    char *text_copy = malloc(m + 1);
    CHECK(pattern_copy && text_copy);
    memcpy(pattern_copy, data, n);
    if (m)
        memcpy(text_copy, data + n + 1, m);
    struct acp_str pattern = acp_str_n(pattern_copy, n);
    struct acp_str text = acp_str_n(text_copy, m);
    (void) acp_glob_text(pattern, text);
    (void) acp_glob_path(pattern, text);
    if (n)
        (void) acp_glob_complaint(pattern);
    CHECK(acp_glob_text(acp_str_from("*"), text));
    CHECK(acp_glob_path(acp_str_from("**"), text));
    check_simple(pattern, text);
    check_escape(text);
    check_command(pattern, text);
    free(pattern_copy);
    free(text_copy);
    return 0;
}
