/* patch_apply.c - applies the hunks of a file from the top down, each after the one before it. */
#include <stdio.h>
#include <stdlib.h>

#include "text/patch.h"

struct text_line {
    const char *start;
    size_t len;  /* without "\r\n" */
    size_t full; /* with it */
};

struct subject {
    struct text_line *lines; /* owned */
    size_t count;
    bool returns; /* its lines end with "\r\n" */
    uint64_t work;
};

/* ---- The old text --------------------------------------------------------------------------- */

static size_t count_lines(struct acp_str text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        at = end ? (size_t) (end - text.ptr) + 1 : text.len;
    }
    return count;
}

static int split(struct acp_str text, struct subject *ret)
{
    size_t count = count_lines(text);
    *ret = (struct subject){.lines = calloc(count ? count : 1, sizeof(struct text_line))};
    if (!ret->lines)
        return ACP_ERR_NOMEM;
    for (size_t at = 0; at < text.len; ret->count++) {
        struct text_line *line = &ret->lines[ret->count];
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        line->start = text.ptr + at;
        line->full = end ? (size_t) (end - line->start) + 1 : text.len - at;
        line->len = end ? line->full - 1 : line->full;
        if (line->len && line->start[line->len - 1] == '\r')
            line->len--;
        at += line->full;
    }
    ret->returns = ret->count && ret->lines[0].full == ret->lines[0].len + 2;
    return 0;
}

/* ---- Finding the place ---------------------------------------------------------------------- */

static bool same_line(const struct text_line *line, struct acp_str text)
{
    if (text.len && text.ptr[text.len - 1] == '\r')
        text.len--;
    return line->len == text.len && memcmp(line->start, text.ptr, text.len) == 0;
}

/*
 * How many of the hunk's old lines match at that place, from the first on; *ret_all: of how many.
 */
static size_t matching(struct subject *s, const struct patch_hunk *hunk, size_t at, size_t *ret_all)
{
    size_t same = 0;
    size_t all = 0;
    bool fits = true;
    for (size_t i = 0; i < hunk->count; i++) {
        if (hunk->lines[i].sign == '+')
            continue;
        if (fits) {
            s->work++;
            fits = at + all < s->count && same_line(&s->lines[at + all], hunk->lines[i].text);
            same += fits;
        }
        all++;
    }
    *ret_all = all;
    return same;
}

struct best {
    size_t at;
    size_t same;
};

/* Whether the hunk matches there; remembers the place where most of it does. */
static bool try_place(struct subject *s, const struct patch_hunk *hunk, size_t at,
                      struct best *best)
{
    size_t all = 0;
    size_t same = matching(s, hunk, at, &all);
    if (same > best->same)
        *best = (struct best){at, same};
    return same == all;
}

/* The nearest place at or after `from`, searching both ways from the line in the patch. */
static int find_place(struct subject *s, const struct patch_hunk *hunk, size_t from, size_t *ret,
                      struct best *best)
{
    /* Without old lines it goes after the line that it names. */
    size_t all = 0;
    (void) matching(s, hunk, s->count, &all);
    size_t wanted = hunk->old_start ? (size_t) hunk->old_start - (all > 0) : from;
    if (wanted < from)
        wanted = from;
    if (wanted > s->count)
        wanted = s->count;
    for (size_t away = 0; away <= s->count; away++) {
        if (s->work > PATCH_MAX_WORK)
            return ACP_ERR_LIMIT;
        if (wanted + away <= s->count && try_place(s, hunk, wanted + away, best)) {
            *ret = wanted + away;
            return 0;
        }
        if (away && wanted >= from + away && try_place(s, hunk, wanted - away, best)) {
            *ret = wanted - away;
            return 0;
        }
    }
    return ACP_ERR_MISSING;
}

/* ---- Errors --------------------------------------------------------------------------------- */

static int explain(const struct patch_hunk *hunk, const struct best *best, int err,
                   struct acp_failure *failure)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    if (err != ACP_ERR_MISSING) {
        (void) snprintf(failure->message, sizeof(failure->message), "The patch is too large: %s",
                        acp_err_text(err));
        return err;
    }
    size_t old = 0;
    for (size_t i = 0; i < hunk->count; i++) {
        if (hunk->lines[i].sign == '+')
            continue;
        if (old++ < best->same)
            continue;
        struct acp_str text = hunk->lines[i].text;
        int shown = text.len > 60 ? 60 : (int) text.len;
        if (best->same)
            (void) snprintf(
                failure->message, sizeof(failure->message),
                "The hunk at line %zu of the patch matches nowhere; the nearest place is line %zu "
                "of the file, but line %zu is not \"%.*s\"",
                hunk->at_line, best->at + 1, best->at + best->same + 1, shown, text.ptr);
        else
            (void) snprintf(
                failure->message, sizeof(failure->message),
                "The hunk at line %zu of the patch matches nowhere: the file has no line "
                "\"%.*s\" there",
                hunk->at_line, shown, text.ptr);
        return err;
    }
    return err;
}

/* ---- Writing the new text ------------------------------------------------------------------- */

/* A last line without an end gets one before something is added. */
static int end_line(struct acp_buf *out, size_t before)
{
    struct acp_str text = acp_buf_view(out);
    if (text.len == before || text.ptr[text.len - 1] == '\n')
        return 0;
    return acp_buf_append(out, "\n", 1);
}

static int put_old(struct acp_buf *out, size_t before, const struct text_line *line)
{
    int err = end_line(out, before);
    return err ? err : acp_buf_append(out, line->start, line->full);
}

/* A line of the patch, with the line end of the file. */
static int put_new(struct acp_buf *out, size_t before, const struct subject *s,
                   const struct patch_line *line)
{
    struct acp_str text = line->text;
    bool has = text.len && text.ptr[text.len - 1] == '\r';
    int err = end_line(out, before);
    if (!err)
        err = acp_buf_append_str(out, text);
    if (!err && s->returns && !has && !line->no_end)
        err = acp_buf_append(out, "\r", 1);
    if (!err && !line->no_end)
        err = acp_buf_append(out, "\n", 1);
    return err;
}

static int put_hunk(struct acp_buf *out, size_t before, const struct subject *s,
                    const struct patch_hunk *hunk, size_t *at)
{
    int err = 0;
    for (size_t i = 0; i < hunk->count && !err; i++) {
        const struct patch_line *line = &hunk->lines[i];
        if (line->sign == '+')
            err = put_new(out, before, s, line);
        else if (line->sign == ' ')
            err = put_old(out, before, &s->lines[*at]);
        *at += line->sign != '+';
    }
    return err;
}

int patch_apply(const struct patch_file *file, struct acp_str old_text, struct acp_buf *out,
                struct acp_failure *failure)
{
    struct subject s;
    size_t before = out->len;
    size_t at = 0;
    const struct patch_hunk *hunk = file->hunks;
    struct best best = {0, 0};
    int err = split(old_text, &s);
    for (size_t i = 0; i < file->count && !err; i++) {
        size_t place = 0;
        hunk = &file->hunks[i];
        best = (struct best){0, 0};
        err = find_place(&s, hunk, at, &place, &best);
        while (!err && at < place)
            err = put_old(out, before, &s.lines[at++]);
        if (!err)
            err = put_hunk(out, before, &s, hunk, &at);
    }
    while (!err && at < s.count)
        err = put_old(out, before, &s.lines[at++]);
    free(s.lines);
    if (err) {
        acp_buf_truncate(out, before);
        if (hunk)
            (void) explain(hunk, &best, err, failure);
    }
    return err;
}
