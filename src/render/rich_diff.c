/*
 * rich_diff.c - the lines of a patch for a terminal: with their numbers, and with what differs
 * within a line.
 *
 * Lines that go and lines that come are held until the run of both is complete.  When there are as
 * many of the one as of the other they are pairs, and what lies between the common beginning and
 * the common end of a pair is emphasized.
 */
#include <stdio.h>
#include <string.h>

#include "render/render_internal.h"

enum { RUN_LINES = 60, SHOWN_LINES = 60 };

struct run {
    struct acp_str lines[RUN_LINES]; /* without the sign */
    size_t count;
};

struct patch_view {
    struct renderer *r;
    uint64_t old_line; /* the numbers of the next lines */
    uint64_t new_line;
    int digits;
    struct run removed;
    struct run added;
    size_t shown;
};

static bool is_continued(char c)
{
    return ((unsigned char) c & 0xC0) == 0x80;
}

/* What the pair has in common at its ends, in whole characters. */
static void common_ends(struct acp_str a, struct acp_str b, size_t *ret_begin, size_t *ret_end)
{
    size_t least = a.len < b.len ? a.len : b.len;
    size_t begin = 0;
    size_t end = 0;
    while (begin < least && a.ptr[begin] == b.ptr[begin])
        begin++;
    while (begin && ((begin < a.len && is_continued(a.ptr[begin])) ||
                     (begin < b.len && is_continued(b.ptr[begin]))))
        begin--;
    while (end < least - begin && a.ptr[a.len - end - 1] == b.ptr[b.len - end - 1])
        end++;
    while (end && is_continued(a.ptr[a.len - end]))
        end--;
    /* Lines that have little in common are other lines. */
    if (begin + end < least / 3)
        begin = end = 0;
    *ret_begin = begin;
    *ret_end = end;
}

static void put_line(struct patch_view *view, char sign, uint64_t number, struct acp_str line,
                     const struct acp_str *other)
{
    struct renderer *r = view->r;
    enum output_colour colour = sign == '-'   ? OUTPUT_RED
                                : sign == '+' ? OUTPUT_GREEN
                                              : OUTPUT_DEFAULT;
    size_t begin = line.len;
    size_t end = 0;
    if (other)
        common_ends(line, *other, &begin, &end);
    bool pair = other && begin + end > 0 && begin + end < line.len;
    if (!pair)
        begin = line.len, end = 0;
    rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "    %*llu ", view->digits,
                (unsigned long long) number);
    rich_printf(r, 0, colour, "%c%.*s", sign, (int) begin, line.ptr);
    if (pair) {
        rich_text(r, OUTPUT_REVERSE, colour, acp_str_n(line.ptr + begin, line.len - begin - end));
        rich_text(r, 0, colour, acp_str_n(line.ptr + line.len - end, end));
    }
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
}

static void put_runs(struct patch_view *view)
{
    bool pairs = view->removed.count == view->added.count;
    for (size_t i = 0; i < view->removed.count; i++)
        put_line(view, '-', view->old_line++, view->removed.lines[i],
                 pairs ? &view->added.lines[i] : NULL);
    for (size_t i = 0; i < view->added.count; i++)
        put_line(view, '+', view->new_line++, view->added.lines[i],
                 pairs ? &view->removed.lines[i] : NULL);
    view->removed.count = view->added.count = 0;
}

/* @@ -12,3 +12,4 @@ */
static void begin_hunk(struct patch_view *view, struct acp_str line)
{
    unsigned long long old_line = 0;
    unsigned long long new_line = 0;
    char text[80];
    size_t n = line.len < sizeof(text) - 1 ? line.len : sizeof(text) - 1;
    put_runs(view);
    (void) memcpy(text, line.ptr, n);
    text[n] = '\0';
    if (sscanf(text, "@@ -%llu,%*u +%llu", &old_line, &new_line) != 2 &&
        sscanf(text, "@@ -%llu +%llu", &old_line, &new_line) != 2)
        return;
    if (view->shown)
        rich_printf(view->r, OUTPUT_DIM, OUTPUT_DEFAULT, "    %*s\n", view->digits, "...");
    view->old_line = old_line;
    view->new_line = new_line;
    view->digits = new_line > 9900 || old_line > 9900 ? 6 : 4;
}

static void take_line(struct patch_view *view, struct acp_str line)
{
    char sign = line.len ? *line.ptr : ' ';
    struct run *run = sign == '-' ? &view->removed : sign == '+' ? &view->added : NULL;
    struct acp_str rest = line.len ? acp_str_n(line.ptr + 1, line.len - 1) : line;
    if (sign == '\\') /* no newline at the end */
        return;
    if (sign == '-' && view->added.count)
        put_runs(view);
    if (run && run->count == RUN_LINES)
        put_runs(view);
    if (run) {
        run->lines[run->count++] = rest;
        return;
    }
    put_runs(view);
    put_line(view, ' ', view->new_line++, rest, NULL);
    view->old_line++;
}

void rich_patch(struct renderer *r, struct acp_str patch)
{
    struct patch_view view = {.r = r, .digits = 4};
    bool in_hunks = false;
    while (patch.len) {
        const char *end = memchr(patch.ptr, '\n', patch.len);
        size_t n = end ? (size_t) (end - patch.ptr) : patch.len;
        struct acp_str line = acp_str_n(patch.ptr, n);
        n += end != NULL;
        patch = acp_str_n(patch.ptr + n, patch.len - n);
        if (acp_str_starts_with(line, "diff --git ")) {
            put_runs(&view);
            in_hunks = false;
        } else if (acp_str_starts_with(line, "@@")) {
            begin_hunk(&view, line);
            in_hunks = true;
        } else if (in_hunks) {
            take_line(&view, line);
            if (++view.shown < SHOWN_LINES)
                continue;
            put_runs(&view);
            if (patch.len)
                rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "    %*s\n", view.digits, "...");
            return;
        }
    }
    put_runs(&view);
}
