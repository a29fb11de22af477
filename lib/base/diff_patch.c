/*
 * The edits of a file as a git patch.  It walks both texts once from the top down, so it needs no
 * table of lines; the edits are in an arena of its own.
 *
 * Absolute paths without prefix are unusual for git: it cannot read them from the "diff --git"
 * line.  So "---" and "+++" are there even where git leaves them out, at empty files.
 */
#include "base/diff.h"
#include "base/utf8.h"

/* The first error stays and stops all further output. */
struct writer {
    struct acp_buf *out;
    int err;
};

static void put(struct writer *w, struct acp_str text)
{
    if (!w->err)
        w->err = acp_buf_append_str(w->out, text);
}

static void put_text(struct writer *w, const char *text)
{
    put(w, acp_str_from(text));
}

/* ---- Paths ---------------------------------------------------------------------------------- */

/* The length of a sequence that needs no quotes, or 0. */
static size_t plain_length(const char *p, const char *end)
{
    unsigned char c = (unsigned char) *p;
    return c < 0x20 || c == 0x7f || c == '"' || c == '\\' ? 0 : acp_utf8_length(p, end);
}

static bool needs_quotes(struct acp_str path)
{
    const char *end = path.ptr + path.len;
    for (const char *p = path.ptr; p < end;) {
        size_t n = plain_length(p, end);
        if (n == 0)
            return true;
        p += n;
    }
    return false;
}

static void put_escape(struct writer *w, unsigned char c)
{
    static const char named[] = "\a\b\t\n\v\f\r\"\\";
    static const char names[] = "abtnvfr\"\\";
    const char *found = c ? strchr(named, c) : NULL;
    char text[4] = {'\\', (char) ('0' + (c >> 6)), (char) ('0' + (c >> 3 & 7)),
                    (char) ('0' + (c & 7))};
    if (found)
        text[1] = names[found - named];
    put(w, acp_str_n(text, found ? 2 : 4));
}

static void put_path(struct writer *w, struct acp_str path)
{
    if (!needs_quotes(path)) {
        put(w, path);
        return;
    }
    const char *end = path.ptr + path.len;
    put_text(w, "\"");
    for (const char *p = path.ptr; p < end;) {
        size_t n = plain_length(p, end);
        if (n)
            put(w, acp_str_n(p, n));
        else
            put_escape(w, (unsigned char) *p);
        p += n ? n : 1;
    }
    put_text(w, "\"");
}

static void put_path_line(struct writer *w, const char *before, struct acp_str path,
                          const char *after)
{
    put_text(w, before);
    put_path(w, path);
    put_text(w, after);
}

/* After a path with spaces git writes a tab: other readers end a path at the first space. */
static void put_file_line(struct writer *w, const char *before, struct acp_str path)
{
    if (!path.ptr)
        path = acp_str_from("/dev/null");
    put_path_line(w, before, path, memchr(path.ptr, ' ', path.len) ? "\t\n" : "\n");
}

/* ---- The head of a file --------------------------------------------------------------------- */

struct file {
    struct acp_str old_path; /* ptr is NULL where there is none */
    struct acp_str new_path;
    bool copied;
};

/*
 * e69de29 is git's name for the empty file; without it patch(1) does not see that an empty file is
 * to be deleted.
 */
static void put_head(struct writer *w, const struct file *file, const struct acp_diff_script *s)
{
    bool added = !file->old_path.ptr;
    bool deleted = !file->new_path.ptr;
    bool moved = !added && !deleted && !acp_str_eq(file->old_path, file->new_path);
    put_path_line(w, "diff --git ", added ? file->new_path : file->old_path, " ");
    put_path_line(w, "", deleted ? file->old_path : file->new_path, "\n");
    if (added)
        put_text(w, "new file mode 100644\n");
    if (deleted)
        put_text(w, "deleted file mode 100644\n");
    if (s->count == 0 && (added || deleted))
        put_text(w, added ? "index 0000000..e69de29\n" : "index e69de29..0000000\n");
    if (moved) {
        put_path_line(w, file->copied ? "copy from " : "rename from ", file->old_path, "\n");
        put_path_line(w, file->copied ? "copy to " : "rename to ", file->new_path, "\n");
    }
    if (s->count || !moved) {
        put_file_line(w, "--- ", file->old_path);
        put_file_line(w, "+++ ", file->new_path);
    }
}

/* ---- Hunks ---------------------------------------------------------------------------------- */

struct cursor {
    const char *next;
    const char *end;
    uint32_t line; /* the number of the next one */
};

static struct cursor cursor_at_top(struct acp_str text)
{
    return (struct cursor){text.ptr, text.len ? text.ptr + text.len : text.ptr, 0};
}

static struct acp_str take_line(struct cursor *c)
{
    const char *line = c->next;
    const char *newline = memchr(line, '\n', (size_t) (c->end - line));
    c->next = newline ? newline + 1 : c->end;
    c->line++;
    return acp_str_n(line, (size_t) (c->next - line));
}

static void skip_to(struct cursor *c, uint32_t line)
{
    while (c->line < line)
        (void) take_line(c);
}

static void put_lines(struct writer *w, const char *mark, struct cursor *c, uint32_t end)
{
    while (c->line < end && !w->err) {
        struct acp_str line = take_line(c);
        put_text(w, mark);
        put(w, line);
        if (line.ptr[line.len - 1] != '\n')
            put_text(w, "\n\\ No newline at end of file\n");
    }
}

/* A range is named by its first line, counted from 1; an empty one by the line before it. */
static void put_hunk_head(struct writer *w, const struct acp_diff_edit *range)
{
    if (!w->err)
        w->err = acp_buf_printf(w->out, "@@ -%lu,%lu +%lu,%lu @@\n",
                                (unsigned long) range->old_start + (range->old_count ? 1 : 0),
                                (unsigned long) range->old_count,
                                (unsigned long) range->new_start + (range->new_count ? 1 : 0),
                                (unsigned long) range->new_count);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The edits and the common lines around them. */
static void put_hunk(struct writer *w, const struct acp_diff_script *s, size_t first, size_t end,
                     uint32_t context, struct cursor *old_at, struct cursor *new_at)
{
    const struct acp_diff_edit *top = &s->edits[first];
    const struct acp_diff_edit *bottom = &s->edits[end - 1];
    uint32_t before = least(context, top->old_start);
    uint32_t old_end = bottom->old_start + bottom->old_count;
    uint32_t after = least(context, s->old_lines - old_end);
    struct acp_diff_edit range = {.old_start = top->old_start - before,
                                  .new_start = top->new_start - before};
    range.old_count = old_end + after - range.old_start;
    range.new_count = bottom->new_start + bottom->new_count + after - range.new_start;
    put_hunk_head(w, &range);
    skip_to(old_at, range.old_start);
    for (size_t i = first; i < end; i++) {
        const struct acp_diff_edit *e = &s->edits[i];
        put_lines(w, " ", old_at, e->old_start);
        put_lines(w, "-", old_at, e->old_start + e->old_count);
        skip_to(new_at, e->new_start);
        put_lines(w, "+", new_at, e->new_start + e->new_count);
    }
    put_lines(w, " ", old_at, old_end + after);
}

static void put_hunks(struct writer *w, const struct acp_diff_script *s, size_t context,
                      struct acp_str old_text, struct acp_str new_text)
{
    struct cursor old_at = cursor_at_top(old_text);
    struct cursor new_at = cursor_at_top(new_text);
    /* More than there is of a text makes no difference, and cannot overflow when doubled. */
    uint32_t lines = context < ACP_DIFF_MAX_BYTES ? (uint32_t) context : ACP_DIFF_MAX_BYTES;
    size_t end;
    for (size_t first = 0; first < s->count && !w->err; first = end) {
        for (end = first + 1; end < s->count; end++) {
            const struct acp_diff_edit *above = &s->edits[end - 1];
            if (s->edits[end].old_start - (above->old_start + above->old_count) > 2 * lines)
                break;
        }
        put_hunk(w, s, first, end, lines, &old_at, &new_at);
    }
}

/* ---- The patch ------------------------------------------------------------------------------ */

static bool usable(struct acp_str path)
{
    return path.len && !memchr(path.ptr, '\0', path.len);
}

static int check(const struct file *file, struct acp_str old_text, struct acp_str new_text)
{
    if (!file->old_path.ptr && !file->new_path.ptr)
        return ACP_ERR_ARGUMENT;
    if (file->old_path.ptr ? !usable(file->old_path) : old_text.len != 0)
        return ACP_ERR_ARGUMENT;
    if (file->new_path.ptr ? !usable(file->new_path) : new_text.len != 0)
        return ACP_ERR_ARGUMENT;
    return 0;
}

int acp_diff_patch(const struct acp_diff_patch_options *options, struct acp_str old_text,
                   struct acp_str new_text, struct acp_buf *out)
{
    struct acp_str none = {NULL, 0};
    struct file file = {acp_is_set(options->old_path.ptr) ? options->old_path : none,
                        acp_is_set(options->new_path.ptr) ? options->new_path : none,
                        options->copied};
    int err = check(&file, old_text, new_text);
    if (err)
        return err;
    struct acp_arena arena;
    struct acp_diff_script script;
    acp_arena_init(&arena, SIZE_MAX / 2); /* the texts bound it already */
    err = acp_diff_lines(old_text, new_text, &arena, &script);
    bool same_path =
        file.old_path.ptr && file.new_path.ptr && acp_str_eq(file.old_path, file.new_path);
    if (!err && (script.count || !same_path)) {
        struct writer w = {out, 0};
        size_t had = out->len;
        put_head(&w, &file, &script);
        put_hunks(&w, &script, options->context ? options->context : ACP_DIFF_CONTEXT, old_text,
                  new_text);
        err = w.err;
        if (err)
            acp_buf_truncate(out, had);
    }
    acp_arena_finish(&arena);
    return err;
}
