/*
 * Fuzzes the line diff: the script must turn the old text into the new one, and so must the patch,
 * read back by a reader of hunks that knows nothing of how it was made.
 *
 * The first byte chooses the lines of context, the second what becomes of the file; the rest is the
 * old text, a byte 0xFF, and the new text.  The new path is the first line of the new text.
 */
#include <stdlib.h>

#include "base/diff.h"
#include "fuzz.h"

static struct acp_str take_line(struct acp_str *text)
{
    const char *newline = text->ptr ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t n = newline ? (size_t) (newline + 1 - text->ptr) : text->len;
    struct acp_str line = acp_str_n(text->ptr, n);
    *text = acp_str_n(text->ptr ? text->ptr + n : NULL, text->len - n);
    return line;
}

static void add(struct acp_buf *buf, struct acp_str text)
{
    CHECK(acp_buf_append_str(buf, text) == 0);
}

static void copy_lines(struct acp_str *from, struct acp_buf *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add(to, take_line(from));
}

static void skip_lines(struct acp_str *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        (void) take_line(from);
}

static void check_script(struct acp_str old_text, struct acp_str new_text)
{
    struct acp_arena arena;
    struct acp_diff_script s;
    struct acp_buf got;
    struct acp_str a = old_text;
    struct acp_str b = new_text;
    uint32_t at = 0;
    acp_arena_init(&arena, 0);
    acp_buf_init(&got, SIZE_MAX / 2);
    CHECK(acp_diff_lines(old_text, new_text, &arena, &s) == 0);
    for (size_t i = 0; i < s.count; i++) {
        const struct acp_diff_edit *e = &s.edits[i];
        CHECK(e->old_start >= at + (i ? 1 : 0) && (e->old_count || e->new_count));
        CHECK(e->old_start + e->old_count <= s.old_lines);
        skip_lines(&b, e->old_start - at);
        copy_lines(&a, &got, e->old_start - at);
        skip_lines(&a, e->old_count);
        copy_lines(&b, &got, e->new_count);
        at = e->old_start + e->old_count;
    }
    copy_lines(&a, &got, s.old_lines - at);
    CHECK(a.len == 0 && acp_str_eq(acp_buf_view(&got), new_text));
    CHECK((s.count == 0) == acp_str_eq(old_text, new_text));
    acp_buf_finish(&got);
    acp_arena_finish(&arena);
}

static unsigned long number(struct acp_str *text, const char *before)
{
    size_t n = strlen(before);
    CHECK(text->len > n && memcmp(text->ptr, before, n) == 0);
    *text = acp_str_n(text->ptr + n, text->len - n);
    unsigned long value = 0;
    size_t digits = 0;
    for (; digits < text->len && text->ptr[digits] >= '0' && text->ptr[digits] <= '9'; digits++)
        value = value * 10 + (unsigned long) (text->ptr[digits] - '0');
    CHECK(digits);
    *text = acp_str_n(text->ptr + digits, text->len - digits);
    return value;
}

/* Applies one hunk, which stands at the front of the patch. */
static void apply_hunk(struct acp_str *patch, struct acp_str *old_text, unsigned long *at,
                       struct acp_buf *got)
{
    struct acp_str head = take_line(patch);
    unsigned long start = number(&head, "@@ -");
    unsigned long old_left = number(&head, ",");
    (void) number(&head, " +");
    unsigned long new_left = number(&head, ",");
    CHECK(acp_str_is(head, " @@\n"));
    start -= old_left ? 1 : 0;
    CHECK(start >= *at);
    copy_lines(old_text, got, (uint32_t) (start - *at));
    *at = start + old_left;
    while (old_left || new_left) {
        struct acp_str line = take_line(patch);
        CHECK(line.len && strchr(" +-", line.ptr[0]) && line.ptr[0]);
        char mark = line.ptr[0];
        line = acp_str_n(line.ptr + 1, line.len - 1);
        if (patch->len && patch->ptr[0] == '\\') {
            CHECK(acp_str_is(take_line(patch), "\\ No newline at end of file\n"));
            line.len--;
        }
        if (mark != '+') {
            CHECK(old_left-- && acp_str_eq(take_line(old_text), line));
        }
        if (mark != '-') {
            CHECK(new_left--);
            add(got, line);
        }
    }
}

static void check_patch(const struct acp_diff_patch_options *options, struct acp_str old_text,
                        struct acp_str new_text)
{
    struct acp_buf out;
    struct acp_buf got;
    acp_buf_init(&out, SIZE_MAX / 2);
    acp_buf_init(&got, SIZE_MAX / 2);
    struct acp_str from = options->old_path.ptr ? old_text : acp_str_n(NULL, 0);
    struct acp_str to = options->new_path.ptr ? new_text : acp_str_n(NULL, 0);
    int err = acp_diff_patch(options, from, to, &out);
    CHECK(err == 0 || (err == ACP_ERR_ARGUMENT && out.len == 0));
    struct acp_str patch = acp_buf_view(&out);
    struct acp_str rest = from;
    unsigned long at = 0;
    while (patch.len && patch.ptr[0] != '@')
        (void) take_line(&patch);
    while (patch.len)
        apply_hunk(&patch, &rest, &at, &got);
    add(&got, rest);
    CHECK(err || acp_str_eq(acp_buf_view(&got), to));
    acp_buf_finish(&out);
    acp_buf_finish(&got);
}

/* Of its own size, so that the sanitizer sees every read outside of it; NULL when empty. */
static char *copy_of(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return NULL;
    char *copy = malloc(n);
    CHECK(copy);
    memcpy(copy, bytes, n);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t *cut = memchr(data + 2, 0xFF, size - 2);
    size_t old_len = cut ? (size_t) (cut - data) - 2 : size - 2;
    size_t new_len = cut ? size - 3 - old_len : 0;
    char *old_copy = copy_of(data + 2, old_len);
    char *new_copy = copy_of(data + size - new_len, new_len);
    struct acp_str old_text = acp_str_n(old_copy, old_len);
    struct acp_str new_text = acp_str_n(new_copy, new_len);
    check_script(old_text, new_text);
    struct acp_str rest = new_text;
    struct acp_diff_patch_options options = {.old_path = acp_str_from("/f"), .context = data[0]};
    options.new_path = data[1] & 1 ? take_line(&rest) : options.old_path;
    options.copied = data[1] & 2;
    if (data[1] & 4)
        options.old_path = acp_str_from(NULL);
    if (data[1] & 8)
        options.new_path = acp_str_from(NULL);
    check_patch(&options, old_text, new_text);
    free(old_copy);
    free(new_copy);
    return 0;
}
