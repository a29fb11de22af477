/* patch.c - parses unified diffs into files, hunks and lines. */
#include "text/patch.h"

#include <stdarg.h>
#include <stdio.h>

struct parser {
    struct acp_arena *arena;
    struct acp_failure *failure;
    struct acp_str rest;
    size_t line; /* the number of the line that begins at rest, from 1 */
    size_t hunk_count;
    size_t line_count;
};

/* ---- Lines ---------------------------------------------------------------------------------- */

static int fail(struct parser *p, int err, const char *format, ...) ACP_PRINTF(3, 4);

static int fail(struct parser *p, int err, const char *format, ...)
{
    struct acp_failure *failure = p->failure;
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    va_list list;
    va_start(list, format);
    (void) vsnprintf(failure->message, sizeof(failure->message), format, list);
    va_end(list);
    return err;
}

/* The first line of a text, without its end; false if the text is empty. */
static bool first_line(struct acp_str text, struct acp_str *ret, size_t *ret_taken)
{
    if (text.len == 0)
        return false;
    const char *end = memchr(text.ptr, '\n', text.len);
    size_t n = end ? (size_t) (end - text.ptr) : text.len;
    *ret = acp_str_n(text.ptr, n);
    *ret_taken = end ? n + 1 : n;
    return true;
}

static bool peek_line(const struct parser *p, struct acp_str *ret)
{
    size_t taken = 0;
    return first_line(p->rest, ret, &taken);
}

static void pass_line(struct parser *p)
{
    struct acp_str line;
    size_t taken = 0;
    if (!first_line(p->rest, &line, &taken))
        return;
    p->rest = acp_str_n(p->rest.ptr + taken, p->rest.len - taken);
    p->line++;
}

static struct acp_str without(struct acp_str text, size_t n)
{
    return acp_str_n(text.ptr + n, text.len - n);
}

static struct acp_str without_return(struct acp_str line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Whether "--- old" and "+++ new" are next; *ret_next, which may be NULL, is what follows. */
static bool at_file(const struct parser *p, struct acp_str *ret_next)
{
    struct acp_str line;
    struct acp_str rest = p->rest;
    size_t taken = 0;
    if (!first_line(rest, &line, &taken) || !acp_str_starts_with(line, "--- "))
        return false;
    rest = without(rest, taken);
    if (!first_line(rest, &line, &taken) || !acp_str_starts_with(line, "+++ "))
        return false;
    if (ret_next)
        *ret_next = without(rest, taken);
    return true;
}

/* ---- Heads ---------------------------------------------------------------------------------- */

/* "a/src/x.c", perhaps followed by a tab and a time; absent for /dev/null. */
static struct acp_str read_path(struct acp_str text, const char *prefix)
{
    text = without_return(text);
    const char *tab = text.len ? memchr(text.ptr, '\t', text.len) : NULL;
    if (tab)
        text.len = (size_t) (tab - text.ptr);
    while (text.len && text.ptr[text.len - 1] == ' ')
        text.len--;
    if (text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        text = acp_str_n(text.ptr + 1, text.len - 2);
    if (acp_str_is(text, "/dev/null"))
        return acp_str_from(NULL);
    return acp_str_starts_with(text, prefix) ? without(text, strlen(prefix)) : text;
}

/* The number after the sign; 0 if there is none. */
static uint64_t read_number(struct acp_str *text)
{
    uint64_t n = 0;
    while (text->len && text->ptr[0] >= '0' && text->ptr[0] <= '9' && n < 1000000000) {
        n = n * 10 + (uint64_t) (text->ptr[0] - '0');
        *text = without(*text, 1);
    }
    return n;
}

struct head {
    uint64_t old_start;
    uint64_t old_count;
    uint64_t new_count;
    bool counted; /* it has numbers at all */
};

static bool take(struct acp_str *text, const char *word)
{
    if (!acp_str_starts_with(*text, word))
        return false;
    *text = without(*text, strlen(word));
    return true;
}

/* "@@ -1,2 +3,4 @@ words", or "@@" with whatever models write there. */
static struct head read_head(struct acp_str line)
{
    struct head head = {.old_count = 1, .new_count = 1};
    struct acp_str text = line;
    if (!take(&text, "@@ -"))
        return (struct head){0};
    head.old_start = read_number(&text);
    if (take(&text, ","))
        head.old_count = read_number(&text);
    if (!take(&text, " +"))
        return (struct head){0};
    (void) read_number(&text);
    if (take(&text, ","))
        head.new_count = read_number(&text);
    head.counted = acp_str_starts_with(text, " @@");
    return head.counted ? head : (struct head){0};
}

/* ---- Hunks ---------------------------------------------------------------------------------- */

struct line_list {
    struct patch_line *items;
    size_t count;
    size_t room;
};

static int add_line(struct parser *p, struct line_list *list, struct patch_line line)
{
    if (++p->line_count > PATCH_MAX_LINES)
        return fail(p, ACP_ERR_LIMIT, "The patch has more than %d lines", PATCH_MAX_LINES);
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        struct patch_line *items =
            acp_arena_grow(p->arena, list->items, list->room * sizeof(line), room * sizeof(line));
        if (!items)
            return fail(p, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = line;
    return 0;
}

/*
 * Whether the hunk ends here.  The lines with the names of the next file look like lines of a hunk;
 * they are part of it only if exactly those two are missing, or if no hunk follows them.
 */
static bool ends_hunk(const struct parser *p, struct acp_str line, const struct head *head)
{
    struct acp_str next;
    if (acp_str_starts_with(line, "@@") || acp_str_starts_with(line, "diff --git "))
        return true;
    if (!at_file(p, &next))
        return false;
    bool lacking = head->counted && (head->old_count || head->new_count);
    bool lacks_two = head->counted && head->old_count == 1 && head->new_count == 1;
    return !lacking || (acp_str_starts_with(next, "@@") && !lacks_two);
}

/* What people and models write after a patch. */
static bool is_wrapping(struct acp_str line)
{
    return acp_str_starts_with(line, "```") || acp_str_starts_with(line, "***");
}

/* Lines with a sign, and empty ones: editors remove the blank of an empty context line. */
static bool read_line(struct acp_str text, struct patch_line *ret)
{
    struct acp_str bare = without_return(text);
    if (bare.len == 0) {
        *ret = (struct patch_line){.sign = ' ', .text = text};
        return true;
    }
    if (text.ptr[0] != ' ' && text.ptr[0] != '-' && text.ptr[0] != '+')
        return false;
    *ret = (struct patch_line){.sign = text.ptr[0], .text = without(text, 1)};
    return true;
}

/* Removes blank lines at the end of a hunk that exceed its line count. */
static void drop_blank_end(struct line_list *list, const struct head *head)
{
    uint64_t old = 0;
    for (size_t i = 0; i < list->count; i++)
        old += list->items[i].sign != '+';
    while (list->count && (!head->counted || old > head->old_count) &&
           list->items[list->count - 1].sign == ' ' &&
           without_return(list->items[list->count - 1].text).len == 0) {
        list->count--;
        old--;
    }
}

static int read_hunk_lines(struct parser *p, const struct head *head, struct line_list *list)
{
    struct head left = *head;
    struct acp_str line;
    struct patch_line read;
    int err = 0;
    while (!err && peek_line(p, &line) && !ends_hunk(p, line, &left)) {
        if (line.len && line.ptr[0] == '\\') {
            if (list->count)
                list->items[list->count - 1].no_end = true;
            pass_line(p);
            continue;
        }
        if (!read_line(line, &read)) {
            bool lacking = !left.counted || left.old_count || left.new_count;
            if (lacking && !is_wrapping(line))
                err = fail(p, ACP_ERR_SYNTAX,
                           "Line %zu of the patch begins with none of \" \", \"-\" and \"+\"",
                           p->line);
            break;
        }
        left.old_count -= left.old_count && read.sign != '+';
        left.new_count -= left.new_count && read.sign != '-';
        err = add_line(p, list, read);
        pass_line(p);
    }
    drop_blank_end(list, head);
    return err;
}

static int read_hunk(struct parser *p, struct patch_hunk *ret)
{
    struct acp_str line;
    struct line_list list = {0};
    size_t at = p->line;
    if (!peek_line(p, &line))
        return fail(p, ACP_ERR_SYNTAX, "The patch ends where a hunk should begin");
    struct head head = read_head(line);
    pass_line(p);
    int err = read_hunk_lines(p, &head, &list);
    if (err)
        return err;
    if (list.count == 0)
        return fail(p, ACP_ERR_SYNTAX, "The hunk at line %zu of the patch has no lines", at);
    *ret = (struct patch_hunk){head.old_start, list.items, list.count, at};
    return 0;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int read_hunks(struct parser *p, struct patch_file *file)
{
    struct patch_hunk *hunks = NULL;
    size_t room = 0;
    struct acp_str line;
    while (peek_line(p, &line) && acp_str_starts_with(line, "@@")) {
        if (++p->hunk_count > PATCH_MAX_HUNKS)
            return fail(p, ACP_ERR_LIMIT, "The patch has more than %d hunks", PATCH_MAX_HUNKS);
        if (file->count == room) {
            size_t more = room ? room * 2 : 4;
            hunks = acp_arena_grow(p->arena, hunks, room * sizeof(*hunks), more * sizeof(*hunks));
            if (!hunks)
                return fail(p, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
            room = more;
        }
        int err = read_hunk(p, &hunks[file->count]);
        if (err)
            return err;
        file->count++;
        file->hunks = hunks;
    }
    return 0;
}

/* The head of a file without hunks: a move, or an empty file. */
struct extended {
    struct acp_str from;
    struct acp_str to;
};

static void read_extended(struct parser *p, struct extended *ret)
{
    struct acp_str line;
    *ret = (struct extended){{NULL, 0}, {NULL, 0}};
    pass_line(p); /* "diff --git" */
    while (peek_line(p, &line) && !acp_str_starts_with(line, "diff ") &&
           !acp_str_starts_with(line, "@@") && !at_file(p, NULL)) {
        line = without_return(line);
        if (acp_str_starts_with(line, "rename from "))
            ret->from = without(line, strlen("rename from "));
        else if (acp_str_starts_with(line, "rename to "))
            ret->to = without(line, strlen("rename to "));
        pass_line(p);
    }
}

/* The path of a line with this prefix. */
static struct acp_str take_path(struct parser *p, const char *signs, const char *prefix)
{
    struct acp_str line = acp_str_from(signs);
    (void) peek_line(p, &line);
    pass_line(p);
    return read_path(without(line, strlen(signs)), prefix);
}

static int read_file(struct parser *p, struct patch_file *ret)
{
    struct patch_file file = {0};
    size_t at = p->line;
    file.old_path = take_path(p, "--- ", "a/");
    file.new_path = take_path(p, "+++ ", "b/");
    if (!file.old_path.len && !file.new_path.len)
        return fail(p, ACP_ERR_SYNTAX, "Line %zu of the patch names no file", at);
    int err = read_hunks(p, &file);
    if (!err && file.count == 0)
        err = fail(p, ACP_ERR_SYNTAX,
                   "No hunk follows line %zu of the patch; a hunk begins with \"@@ -1,2 +1,2 @@\"",
                   p->line - 1);
    if (!err)
        *ret = file;
    return err;
}

static int add_file(struct parser *p, struct patch *patch, const struct patch_file *file)
{
    if (patch->count == PATCH_MAX_FILES)
        return fail(p, ACP_ERR_LIMIT, "The patch has more than %d files", PATCH_MAX_FILES);
    patch->files[patch->count++] = *file;
    return 0;
}

int patch_parse(struct acp_str text, struct acp_arena *arena, struct patch *ret,
                struct acp_failure *failure)
{
    struct parser p = {.arena = arena, .failure = failure, .rest = text, .line = 1};
    struct patch *patch = acp_arena_alloc(arena, sizeof(*patch));
    struct acp_str line;
    int err = 0;
    if (!patch)
        return fail(&p, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
    while (!err && peek_line(&p, &line)) {
        struct extended moved = {{NULL, 0}, {NULL, 0}};
        struct patch_file file = {0};
        if (acp_str_starts_with(line, "diff --git "))
            read_extended(&p, &moved);
        if (at_file(&p, NULL)) {
            err = read_file(&p, &file);
        } else if (moved.from.len && moved.to.len) {
            file = (struct patch_file){.old_path = moved.from, .new_path = moved.to};
        } else {
            /* Text around the patch is ignored, but not hunks without a file. */
            if (peek_line(&p, &line) && acp_str_starts_with(line, "@@"))
                err = fail(&p, ACP_ERR_SYNTAX,
                           "Line %zu of the patch begins a hunk, but no file is named before it by "
                           "\"--- a/path\" and \"+++ b/path\"",
                           p.line);
            if (!acp_str_starts_with(line, "diff --git "))
                pass_line(&p);
            continue;
        }
        if (!err)
            err = add_file(&p, patch, &file);
    }
    if (!err && patch->count == 0)
        err = fail(
            &p, ACP_ERR_SYNTAX,
            "This is not a unified diff: no line begins with \"--- \" before one with \"+++ \"");
    if (!err)
        *ret = *patch;
    return err;
}
