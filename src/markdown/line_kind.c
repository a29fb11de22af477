/*
 * line_kind.c - what a line is, from its beginning.
 *
 * The answer for a part of a line holds for all lines that begin so: that makes the output
 * independent of how the text was cut.
 */
#include <string.h>

#include "markdown/markdown_internal.h"

enum { TAB = 4 };

/* A place in the line.  A tab may be used up in part. */
struct place {
    const char *at;
    const char *end;
    unsigned column;
    unsigned spare; /* columns of a tab before at that are left */
};

static bool at_end(const struct place *place)
{
    return place->at == place->end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* How many columns of blanks come next; ret is the place behind them. */
static unsigned indent_at(const struct place *place, struct place *ret)
{
    struct place next = *place;
    unsigned columns = next.spare;
    next.spare = 0;
    for (; !at_end(&next) && is_blank(*next.at); next.at++) {
        unsigned n = *next.at == '\t' ? TAB - next.column % TAB : 1;
        columns += n;
        next.column += n;
    }
    *ret = next;
    return columns;
}

static void skip_columns(struct place *place, unsigned columns)
{
    while (columns && place->spare) {
        place->spare--;
        columns--;
    }
    while (columns && !at_end(place) && is_blank(*place->at)) {
        unsigned n = *place->at == '\t' ? TAB - place->column % TAB : 1;
        place->at++;
        place->column += n;
        place->spare = n > columns ? n - columns : 0;
        columns -= n < columns ? n : columns;
    }
}

static void skip_byte(struct place *place)
{
    place->at++;
    place->column++;
}

/* How often a character comes next. */
static unsigned run_length(const struct place *place, char c)
{
    const char *p = place->at;
    while (p < place->end && *p == c)
        p++;
    return (unsigned) (p - place->at);
}

static bool rest_is_blank(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at == end;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

/* --- *** or ___, with blanks between them. */
static enum line_kind read_rule(const struct place *text, bool is_whole)
{
    unsigned count = 0;
    for (const char *p = text->at; p < text->end; p++) {
        if (*p != *text->at && !is_blank(*p))
            return LINE_TEXT;
        count += *p == *text->at;
    }
    if (!is_whole)
        return LINE_NEEDS_MORE;
    return count >= 3 ? LINE_RULE : LINE_TEXT;
}

static enum line_kind read_heading(const struct place *text, bool is_whole, struct line *line)
{
    unsigned level = run_length(text, '#');
    const char *behind = text->at + level;
    if (level > 6)
        return LINE_TEXT;
    if (behind == text->end && !is_whole)
        return LINE_NEEDS_MORE;
    if (behind < text->end && !is_blank(*behind))
        return LINE_TEXT;
    line->level = level;
    return is_whole ? LINE_HEADING : LINE_NEEDS_ALL;
}

static enum line_kind read_fence(const struct place *text, bool is_whole, struct line *line)
{
    char c = *text->at;
    unsigned length = run_length(text, c);
    const char *info = text->at + length;
    if (info == text->end && !is_whole)
        return LINE_NEEDS_MORE;
    if (length < 3)
        return LINE_TEXT;
    if (c == '`' && memchr(info, '`', (size_t) (text->end - info)))
        return LINE_TEXT;
    if (!is_whole)
        return LINE_NEEDS_ALL;
    line->fence = c;
    line->level = length;
    return LINE_FENCE;
}

static enum line_kind read_leaf(const struct place *text, bool is_whole, struct line *line)
{
    switch (*text->at) {
    case '#':
        return read_heading(text, is_whole, line);
    case '`':
    case '~':
        return read_fence(text, is_whole, line);
    case '_':
    case '-':
    case '*':
        return read_rule(text, is_whole);
    case '|':
        return is_whole ? LINE_ROW : LINE_NEEDS_ALL;
    default:
        return LINE_TEXT;
    }
}

/* ---- Containers ------------------------------------------------------------------------------ */

/* How many bytes the marker of a list has; 0: there is none, as far as can be seen. */
static unsigned marker_length(const struct place *text)
{
    const char *p = text->at;
    if (*p == '-' || *p == '+' || *p == '*')
        return 1;
    while (p < text->end && p - text->at < 10 && *p >= '0' && *p <= '9')
        p++;
    size_t digits = (size_t) (p - text->at);
    if (!digits || digits > 9)
        return 0;
    if (p == text->end)
        return (unsigned) digits + 1; /* cut off */
    return *p == '.' || *p == ')' ? (unsigned) digits + 1 : 0;
}

static bool may_interrupt(const struct place *text, unsigned length, const char *behind)
{
    bool is_empty = rest_is_blank(behind, text->end);
    return !is_empty && (length == 1 || (length == 2 && *text->at == '1'));
}

/* [ ] or [x] and a blank.  Negative: more is needed. */
static int task_length(const struct place *text, bool is_whole)
{
    static const char *const boxes[] = {"[ ] ", "[x] ", "[X] "};
    size_t left = (size_t) (text->end - text->at);
    for (size_t i = 0; i < 3; i++) {
        if (left >= 4 && memcmp(text->at, boxes[i], 4) == 0)
            return 4;
        if (left < 4 && memcmp(text->at, boxes[i], left) == 0 && !is_whole)
            return -1;
    }
    return 0;
}

/* The item that begins at the text.  LINE_TEXT: there is none; LINE_BLANK: there is. */
static enum line_kind read_item(struct place *text, unsigned indent, bool is_whole,
                                bool in_paragraph, struct container *item)
{
    unsigned length = marker_length(text);
    const char *behind = text->at + length;
    struct place after = *text;
    struct place content;
    if (!length)
        return LINE_TEXT;
    if (behind >= text->end && !is_whole)
        return LINE_NEEDS_MORE;
    if (behind > text->end || (behind < text->end && !is_blank(*behind)))
        return LINE_TEXT;
    after.at = behind;
    after.column += length;
    unsigned blanks = indent_at(&after, &content);
    bool is_empty = at_end(&content);
    if (is_empty && !is_whole)
        return LINE_NEEDS_MORE;
    if (in_paragraph && !may_interrupt(text, length, behind))
        return LINE_TEXT;
    if (is_empty || blanks > TAB)
        blanks = 1;
    *item = (struct container){.indent = indent + length + blanks};
    (void) memcpy(item->marker, text->at, length);
    skip_columns(&after, is_empty ? 0 : blanks);
    if (!is_empty && after.at == content.at) {
        int box = task_length(&content, is_whole);
        if (box < 0)
            return LINE_NEEDS_MORE;
        item->task = box == 0 ? '\0' : content.at[1] == ' ' ? ' ' : 'x';
        after.at += box;
        after.column += (unsigned) box;
    }
    if (is_empty)
        after = content;
    *text = after;
    return LINE_BLANK;
}

/*
 * CommonMark wants "10. one" followed by four blanks for a list below it.  Models write two or
 * three, and mean the same.
 */
static int goes_on_loosely(const struct container *item, unsigned indent, const struct place *text,
                           bool is_whole, struct place *ret)
{
    bool is_ordered = *item->marker >= '0' && *item->marker <= '9';
    if (!is_ordered || indent < 2 || !memchr("-*+", *text->at, 3))
        return 0;
    if (text->at + 1 == text->end)
        return is_whole ? 0 : -1;
    if (!is_blank(text->at[1]))
        return 0;
    *ret = *text;
    return 1;
}

/* Whether the line goes on in a container.  Negative: more is needed. */
static int goes_on(const struct container *container, struct place *place, bool is_whole)
{
    struct place text;
    unsigned indent = indent_at(place, &text);
    if (at_end(&text) && !is_whole)
        return -1;
    if (container->is_quote) {
        if (at_end(&text) || indent >= TAB || *text.at != '>')
            return 0;
        skip_byte(&text);
        if (at_end(&text) && !is_whole)
            return -1;
        skip_columns(&text, 1);
        *place = text;
        return 1;
    }
    if (at_end(&text)) {
        *place = text;
        return 1;
    }
    if (indent < container->indent)
        return goes_on_loosely(container, indent, &text, is_whole, place);
    skip_columns(place, container->indent);
    return 1;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static enum line_kind read_code(const struct line_context *context, struct place *place,
                                bool is_whole, struct line *line)
{
    struct place text;
    unsigned indent = indent_at(place, &text);
    if (at_end(&text) && !is_whole)
        return LINE_NEEDS_MORE;
    if (indent < TAB && !at_end(&text) && *text.at == context->fence) {
        unsigned length = run_length(&text, context->fence);
        bool ends = rest_is_blank(text.at + length, text.end);
        if (ends && !is_whole)
            return LINE_NEEDS_MORE;
        if (ends && length >= context->fence_length)
            return LINE_FENCE_END;
    }
    skip_columns(place, context->fence_indent < indent ? context->fence_indent : indent);
    line->blanks = place->spare;
    return LINE_CODE;
}

/* What begins behind the containers that go on. */
static enum line_kind read_blocks(const struct line_context *context, struct place *place,
                                  bool is_whole, struct line *line)
{
    bool in_paragraph = context->block == BLOCK_PARAGRAPH;
    bool all = line->matched == context->depth;
    for (;;) {
        struct place text;
        unsigned indent = indent_at(place, &text);
        bool fresh = !line->opened && all && in_paragraph;
        if (at_end(&text)) {
            *place = text;
            return is_whole ? LINE_BLANK : LINE_NEEDS_MORE;
        }
        if (indent >= TAB) {
            if (in_paragraph && !line->opened) {
                *place = text;
                return LINE_TEXT;
            }
            skip_columns(place, TAB);
            line->blanks = place->spare;
            return LINE_CODE;
        }
        *place = text;
        bool room = line->matched + line->opened < MARKDOWN_MAX_DEPTH;
        struct container *opens = &line->new_containers[line->opened];
        if (*text.at == '>' && room) {
            skip_byte(place);
            if (at_end(place) && !is_whole)
                return LINE_NEEDS_MORE;
            skip_columns(place, 1);
            *opens = (struct container){.is_quote = true};
            line->opened++;
            continue;
        }
        enum line_kind leaf = read_leaf(&text, is_whole, line);
        line->indent = indent;
        if (leaf != LINE_TEXT && leaf != LINE_NEEDS_MORE)
            return leaf;
        enum line_kind item =
            room && leaf == LINE_TEXT ? read_item(place, indent, is_whole, fresh, opens) : leaf;
        if (item != LINE_BLANK)
            return item;
        line->opened++;
    }
}

void line_read(const struct line_context *context, struct acp_str head, bool is_whole,
               struct line *ret)
{
    struct place place = {.at = head.ptr, .end = head.len ? head.ptr + head.len : head.ptr};
    *ret = (struct line){.kind = LINE_NEEDS_MORE};
    while (ret->matched < context->depth) {
        int on = goes_on(&context->containers[ret->matched], &place, is_whole);
        if (on < 0)
            return;
        if (!on)
            break;
        ret->matched++;
    }
    if (context->block == BLOCK_FENCE && ret->matched == context->depth)
        ret->kind = read_code(context, &place, is_whole, ret);
    else
        ret->kind = read_blocks(context, &place, is_whole, ret);
    ret->start = (size_t) (place.at - head.ptr);
    /* Text goes on in a paragraph even where the marks of its containers are missing. */
    if (ret->kind == LINE_TEXT && context->block == BLOCK_PARAGRAPH && !ret->opened)
        ret->matched = context->depth;
}
