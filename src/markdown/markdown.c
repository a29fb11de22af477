/* markdown.c - see markdown.h: chunks into lines, and the lines of the output. */
#include "markdown/markdown_internal.h"

#include <stdlib.h>
#include <string.h>

#include "text/width.h"

static const struct markdown_style plain = {MARKDOWN_TEXT, 0};

/* ---- The output ------------------------------------------------------------------------------ */

static void pass_on(struct markdown *m, struct acp_str text, struct markdown_style style,
                    struct acp_str link)
{
    if (text.len)
        m->options.sink->text(text, style, link, m->options.user);
}

static void pass_marker(struct markdown *m, const char *text)
{
    static const struct markdown_style marker = {MARKDOWN_MARKER, 0};
    pass_on(m, acp_str_from(text), marker, acp_str_n(NULL, 0));
}

static const char *bar(const struct markdown *m)
{
    return m->options.ascii ? "|" : "\xe2\x94\x82";
}

/* The bars and markers of the first containers.  Blanks are passed on when something follows. */
static void begin_line(struct markdown *m, unsigned depth, bool shows_markers)
{
    static const char blanks[] = "                ";
    size_t wanted = 0;
    for (unsigned i = 0; i < depth; i++) {
        struct container *container = &m->containers[i];
        size_t len = strlen(container->marker);
        bool shows = container->is_quote || (shows_markers && !container->is_shown);
        for (; shows && wanted; wanted -= wanted < 16 ? wanted : 16)
            pass_on(m, acp_str_n(blanks, wanted < 16 ? wanted : 16), plain, acp_str_n(NULL, 0));
        if (container->is_quote)
            pass_marker(m, bar(m));
        else if (shows)
            pass_marker(m, container->marker);
        else
            wanted += len;
        if (shows && container->task)
            pass_marker(m, container->task == 'x' ? " [x]" : " [ ]");
        container->is_shown |= shows_markers;
        wanted++;
    }
    for (; wanted && shows_markers; wanted -= wanted < 16 ? wanted : 16)
        pass_on(m, acp_str_n(blanks, wanted < 16 ? wanted : 16), plain, acp_str_n(NULL, 0));
    m->is_in_line = true;
}

static void pass_line_end(struct markdown *m)
{
    m->options.sink->line_end(m->options.user);
    m->is_in_line = false;
    m->is_started = true;
    m->is_blank_above = false;
}

/* The blank line before a block, with the bars of the quotes around it. */
static void put_blank(struct markdown *m)
{
    unsigned depth = m->blank_depth < m->common ? m->blank_depth : m->common;
    m->blank_wanted = false;
    if (!m->is_started || m->is_blank_above)
        return;
    begin_line(m, depth, false);
    pass_line_end(m);
    m->is_blank_above = true;
}

void markdown_put(struct markdown *m, struct acp_str text, struct markdown_style style,
                  struct acp_str link)
{
    if (!m->is_in_line) {
        if (m->blank_wanted)
            put_blank(m);
        begin_line(m, m->depth, true);
    }
    pass_on(m, text, style, link);
}

void markdown_put_plain(struct markdown *m, const char *text, enum markdown_role role)
{
    struct markdown_style style = {role, 0};
    markdown_put(m, acp_str_from(text), style, acp_str_n(NULL, 0));
}

void markdown_end_line(struct markdown *m)
{
    if (!m->is_in_line) { /* an empty line: bars and markers only */
        bool is_new = m->depth && !m->containers[m->depth - 1].is_shown;
        if (m->blank_wanted)
            put_blank(m);
        begin_line(m, m->depth, is_new);
    }
    pass_line_end(m);
}

void markdown_put_rule(struct markdown *m, size_t columns)
{
    static const char thin[] = "\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80";
    static const char dashes[] = "----";
    static const struct markdown_style marker = {MARKDOWN_MARKER, 0};
    for (size_t n; columns; columns -= n) {
        n = columns < 4 ? columns : 4;
        markdown_put(m, m->options.ascii ? acp_str_n(dashes, n) : acp_str_n(thin, 3 * n), marker,
                     acp_str_n(NULL, 0));
    }
}

size_t markdown_room(const struct markdown *m)
{
    size_t taken = 0;
    for (unsigned i = 0; i < m->depth; i++)
        taken += (m->containers[i].is_quote ? 1 : strlen(m->containers[i].marker)) + 1;
    if (!m->options.width)
        return SIZE_MAX;
    return m->options.width > taken + 1 ? m->options.width - taken : 1;
}

/* A blank line, in the containers that are around both what is above and what is below. */
static void want_blank(struct markdown *m)
{
    m->blank_depth = m->blank_wanted && m->blank_depth < m->common ? m->blank_depth : m->common;
    m->blank_wanted = true;
}

/* ---- Paragraphs ------------------------------------------------------------------------------ */

static void on_text(struct acp_str text, struct markdown_style style, struct acp_str link,
                    void *user)
{
    markdown_put(user, text, style, link);
}

static void on_break(void *user)
{
    struct markdown *m = user;
    if (m->is_in_line)
        pass_line_end(m);
}

static const struct inline_receiver paragraph_receiver = {.text = on_text, .line_break = on_break};

static void begin_text(struct markdown *m, struct markdown_style style)
{
    m->paragraph.receiver = &paragraph_receiver;
    m->paragraph.user = m;
    m->paragraph.hyperlinks = m->options.hyperlinks;
    inline_begin(&m->paragraph, style);
}

static void put_heading(struct markdown *m, struct acp_str text, unsigned level)
{
    struct markdown_style style = {MARKDOWN_HEADING, MARKDOWN_BOLD};
    struct acp_str rest = text;
    if (level == 1)
        style.attributes |= MARKDOWN_UNDERLINE;
    while (text.len && (*text.ptr == ' ' || *text.ptr == '\t' || (*text.ptr == '#' && level))) {
        level -= *text.ptr == '#';
        text = acp_str_n(text.ptr + 1, text.len - 1);
    }
    /* A closing run of # behind a blank. */
    rest = text;
    while (rest.len && strchr(" \t", rest.ptr[rest.len - 1]))
        rest.len--;
    text = rest;
    while (rest.len && rest.ptr[rest.len - 1] == '#')
        rest.len--;
    if (!rest.len || strchr(" \t", rest.ptr[rest.len - 1]))
        text = rest;
    begin_text(m, style);
    inline_feed(&m->paragraph, text);
    inline_end(&m->paragraph);
    if (m->is_in_line)
        pass_line_end(m);
}

/* ---- Code ------------------------------------------------------------------------------------ */

static void on_code(struct acp_str text, enum highlight_role role, void *user)
{
    static const enum markdown_role roles[] = {
        [HIGHLIGHT_PLAIN] = MARKDOWN_TEXT,    [HIGHLIGHT_KEYWORD] = MARKDOWN_KEYWORD,
        [HIGHLIGHT_TYPE] = MARKDOWN_TYPE,     [HIGHLIGHT_STRING] = MARKDOWN_STRING,
        [HIGHLIGHT_NUMBER] = MARKDOWN_NUMBER, [HIGHLIGHT_COMMENT] = MARKDOWN_COMMENT,
        [HIGHLIGHT_ADDED] = MARKDOWN_ADDED,   [HIGHLIGHT_REMOVED] = MARKDOWN_REMOVED,
        [HIGHLIGHT_HUNK] = MARKDOWN_HUNK,
    };
    struct markdown *m = user;
    struct markdown_style style = {roles[role], 0};
    if (!m->highlight.language)
        style.role = MARKDOWN_CODE;
    markdown_put(m, text, style, acp_str_n(NULL, 0));
}

static void put_code(struct markdown *m, bool is_end)
{
    struct acp_str line = acp_buf_view(&m->code);
    if (is_end)
        highlight_line(&m->highlight, line, on_code, m);
    else
        highlight_piece(&m->highlight, line, on_code, m);
    if (is_end)
        markdown_end_line(m);
    acp_buf_clear(&m->code);
}

static void begin_fence(struct markdown *m, const struct line *line, struct acp_str text)
{
    struct acp_str info = acp_str_n(text.ptr + line->level, text.len - line->level);
    while (info.len && strchr(" \t{.", *info.ptr))
        info = acp_str_n(info.ptr + 1, info.len - 1);
    size_t len = 0;
    while (len < info.len && info.ptr[len] > ' ' && !strchr(",:}{", info.ptr[len]))
        len++;
    m->block = BLOCK_FENCE;
    m->fence = line->fence;
    m->fence_length = line->level;
    m->fence_indent = line->indent;
    m->highlight = (struct highlight){.language = highlight_find(acp_str_n(info.ptr, len))};
    want_blank(m);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* A row that turned out to be text. */
static void put_row_as_text(struct markdown *m)
{
    struct acp_str row = acp_buf_view(&m->code);
    m->block = BLOCK_PARAGRAPH;
    begin_text(m, plain);
    inline_feed(&m->paragraph, row);
    inline_feed(&m->paragraph, acp_str_from("\n"));
    acp_buf_clear(&m->code);
}

static void end_block(struct markdown *m)
{
    if (m->block == BLOCK_MAYBE_TABLE)
        put_row_as_text(m);
    if (m->block == BLOCK_PARAGRAPH)
        inline_end(&m->paragraph);
    if (m->block == BLOCK_TABLE)
        markdown_table_end(m);
    m->common = m->depth;
    if (m->block == BLOCK_TABLE || m->block == BLOCK_FENCE || m->block == BLOCK_CODE)
        want_blank(m);
    m->block = BLOCK_NONE;
}

static void set_containers(struct markdown *m, const struct line *line)
{
    m->depth = m->common = line->matched;
    for (unsigned i = 0; i < line->opened; i++)
        m->containers[m->depth++] = line->new_containers[i];
}

static void take_blank(struct markdown *m, const struct line *line)
{
    bool in_fence = m->block == BLOCK_FENCE && line->matched == m->depth;
    if (in_fence) {
        markdown_end_line(m);
        return;
    }
    end_block(m);
    set_containers(m, line);
    if (line->opened) /* an empty item, or the bar of a quote */
        markdown_end_line(m);
    else
        want_blank(m);
}

static void take_rule(struct markdown *m)
{
    size_t columns = markdown_room(m);
    if (columns == SIZE_MAX || columns > 72)
        columns = 72;
    markdown_put_rule(m, columns);
    markdown_end_line(m);
}

static void take_row(struct markdown *m, struct acp_str row)
{
    if (m->block == BLOCK_TABLE) {
        markdown_table_add(m, row);
        return;
    }
    if (m->block == BLOCK_MAYBE_TABLE && markdown_table_begin(m, acp_buf_view(&m->code), row)) {
        acp_buf_clear(&m->code);
        m->block = BLOCK_TABLE;
        want_blank(m);
        return;
    }
    end_block(m);
    m->err = m->err ? m->err : acp_buf_append_str(&m->code, row);
    m->block = BLOCK_MAYBE_TABLE;
}

static void take_text(struct markdown *m, struct acp_str text)
{
    if (m->block != BLOCK_PARAGRAPH)
        begin_text(m, plain);
    m->block = BLOCK_PARAGRAPH;
    m->state = IN_TEXT;
    inline_feed(&m->paragraph, text);
}

static void take_code(struct markdown *m, const struct line *line, struct acp_str text)
{
    if (m->block == BLOCK_NONE) {
        m->block = BLOCK_CODE;
        m->highlight = (struct highlight){0};
        want_blank(m);
    }
    m->state = IN_CODE;
    for (unsigned i = 0; i < line->blanks; i++)
        m->err = m->err ? m->err : acp_buf_append(&m->code, " ", 1);
    m->err = m->err ? m->err : acp_buf_append_str(&m->code, text);
}

/* Whether the line goes on with the block that is open. */
static bool is_more(const struct markdown *m, const struct line *line)
{
    if (line->matched < m->depth || line->opened)
        return false;
    switch (m->block) {
    case BLOCK_PARAGRAPH:
        return line->kind == LINE_TEXT;
    case BLOCK_FENCE:
        return line->kind == LINE_CODE || line->kind == LINE_FENCE_END;
    case BLOCK_CODE:
        return line->kind == LINE_CODE;
    case BLOCK_MAYBE_TABLE:
    case BLOCK_TABLE:
        return line->kind == LINE_ROW;
    case BLOCK_NONE:
        break;
    }
    return false;
}

/* The beginning of a line whose kind is known, with what has come of the line. */
static void take_line(struct markdown *m, const struct line *line, struct acp_str text)
{
    if (line->kind == LINE_BLANK) {
        take_blank(m, line);
        return;
    }
    if (!is_more(m, line)) {
        end_block(m);
        set_containers(m, line);
    }
    switch (line->kind) {
    case LINE_HEADING:
        want_blank(m);
        put_heading(m, text, line->level);
        break;
    case LINE_RULE:
        take_rule(m);
        break;
    case LINE_FENCE:
        begin_fence(m, line, text);
        break;
    case LINE_FENCE_END:
        end_block(m);
        break;
    case LINE_CODE:
        take_code(m, line, text);
        break;
    case LINE_ROW:
        take_row(m, text);
        break;
    default:
        take_text(m, text);
        break;
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Reads the head.  is_whole: the line ends behind it. */
static void read_head(struct markdown *m, bool is_whole)
{
    struct acp_str head = acp_buf_view(&m->head);
    struct line_context context = {
        .containers = m->containers,
        .depth = m->depth,
        .block = m->block,
        .fence = m->fence,
        .fence_length = m->fence_length,
        .fence_indent = m->fence_indent,
    };
    struct line line;
    bool is_full = head.len >= (m->state == AT_HEAD ? MARKDOWN_MAX_HEAD : MARKDOWN_MAX_LINE);
    line_read(&context, head, is_whole, &line);
    if (line.kind == LINE_NEEDS_ALL && m->state == AT_HEAD) {
        m->state = AT_HEAD_WHOLE;
        return;
    }
    if (line.kind <= LINE_NEEDS_ALL && !is_full)
        return;
    if (line.kind <= LINE_NEEDS_ALL) {
        line_read(&context, head, true, &line);
        if (line.kind != LINE_CODE)
            line.kind = LINE_TEXT;
    }
    m->state = AT_HEAD;
    take_line(m, &line, acp_str_n(head.ptr + line.start, head.len - line.start));
    acp_buf_clear(&m->head);
}

static void end_line(struct markdown *m)
{
    switch (m->state) {
    case AT_HEAD:
    case AT_HEAD_WHOLE:
        m->state = AT_HEAD_WHOLE;
        read_head(m, true);
        if (m->state == AT_HEAD)
            return;
        end_line(m);
        return;
    case IN_TEXT:
        inline_feed(&m->paragraph, acp_str_from("\n"));
        break;
    case IN_CODE:
        put_code(m, true);
        break;
    }
    m->state = AT_HEAD;
}

/* Bytes of one line, without its end. */
static void add_bytes(struct markdown *m, struct acp_str text)
{
    while (text.len && !m->err) {
        size_t n = text.len;
        size_t room = m->state == AT_HEAD         ? MARKDOWN_MAX_HEAD - m->head.len
                      : m->state == AT_HEAD_WHOLE ? MARKDOWN_MAX_LINE - m->head.len
                      : m->state == IN_CODE       ? MARKDOWN_MAX_LINE - m->code.len
                                                  : n;
        n = n < room ? n : room;
        struct acp_str part = acp_str_n(text.ptr, n);
        text = acp_str_n(text.ptr + n, text.len - n);
        switch (m->state) {
        case AT_HEAD:
        case AT_HEAD_WHOLE:
            m->err = acp_buf_append_str(&m->head, part);
            if (m->state == AT_HEAD || m->head.len == MARKDOWN_MAX_LINE)
                read_head(m, false);
            break;
        case IN_TEXT:
            inline_feed(&m->paragraph, part);
            break;
        case IN_CODE:
            m->err = acp_buf_append_str(&m->code, part);
            if (m->code.len == MARKDOWN_MAX_LINE)
                put_code(m, false);
            break;
        }
    }
}

/* Text without carriage returns before line feeds. */
static void add_lines(struct markdown *m, struct acp_str text)
{
    while (text.len) {
        const char *feed = memchr(text.ptr, '\n', text.len);
        size_t n = feed ? (size_t) (feed - text.ptr) : text.len;
        add_bytes(m, acp_str_n(text.ptr, n));
        if (feed)
            end_line(m);
        n += feed != NULL;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
}

void markdown_add(struct markdown *m, struct acp_str text)
{
    if (m->is_ended)
        m->is_in_line = m->is_started = m->is_blank_above = m->blank_wanted = m->is_ended = false;
    while (text.len) {
        if (m->carriage_return && *text.ptr != '\n')
            add_lines(m, acp_str_from("\r"));
        m->carriage_return = false;
        const char *found = memchr(text.ptr, '\r', text.len);
        size_t n = found ? (size_t) (found - text.ptr) : text.len;
        add_lines(m, acp_str_n(text.ptr, n));
        m->carriage_return = found != NULL;
        n += found != NULL;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
}

int markdown_end(struct markdown *m)
{
    if (m->carriage_return)
        add_lines(m, acp_str_from("\r"));
    m->carriage_return = false;
    if (m->state == AT_HEAD && m->head.len)
        m->state = AT_HEAD_WHOLE;
    if (m->state == AT_HEAD_WHOLE)
        read_head(m, true);
    if (m->state == IN_CODE)
        put_code(m, false);
    end_block(m);
    int err = m->err;
    m->err = 0;
    m->state = AT_HEAD;
    m->depth = 0;
    m->is_ended = true;
    acp_buf_clear(&m->head);
    acp_buf_clear(&m->code);
    return err;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int markdown_new(const struct markdown_options *options, struct markdown **ret)
{
    struct markdown *m = calloc(1, sizeof(*m));
    if (!m)
        return ACP_ERR_NOMEM;
    m->options = *options;
    acp_buf_init(&m->head, MARKDOWN_MAX_LINE);
    acp_buf_init(&m->code, 2 * MARKDOWN_MAX_LINE);
    *ret = m;
    return 0;
}

void markdown_free(struct markdown *m)
{
    if (!m)
        return;
    acp_buf_finish(&m->head);
    acp_buf_finish(&m->code);
    markdown_table_free(m->table);
    free(m);
}

bool markdown_is_at_line_start(const struct markdown *m)
{
    return !m->is_in_line;
}

void markdown_set_width(struct markdown *m, size_t width)
{
    m->options.width = width;
}
