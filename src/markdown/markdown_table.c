/*
 * markdown_table.c - tables, whose rows are held back until the width of the columns is known.
 *
 * Columns are as wide as their widest cell.  When they do not fit, the widest ones become narrower
 * and their cells are wrapped; when even that does not fit, each row is shown as a list of its
 * cells.
 */
#include <stdlib.h>
#include <string.h>

#include "markdown/markdown_internal.h"
#include "text/sanitize.h"
#include "text/width.h"

enum { MIN_COLUMN = 4, SEPARATOR = 3 };

/* The filter makes four bytes of one at most. */
enum { TEXT_SIZE = 8 * (MARKDOWN_MAX_TABLE + MARKDOWN_MAX_LINE) };

enum align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

/* Text of one style, in the text of the table. */
struct piece {
    size_t start;
    size_t len;
    size_t link; /* in links */
    size_t link_len;
    struct markdown_style style;
};

struct cell {
    size_t start;
    size_t len;
    size_t piece; /* the first of its pieces */
};

struct markdown_table {
    unsigned columns;
    enum align align[MARKDOWN_MAX_COLUMNS];
    size_t natural[MARKDOWN_MAX_COLUMNS]; /* columns of the terminal */
    size_t widths[MARKDOWN_MAX_COLUMNS];
    bool is_fixed; /* the widths are, and what is held has been shown */
    bool is_list;  /* shown as a list of cells */
    bool in_head;
    size_t rows;   /* that are held */
    size_t source; /* bytes of them */
    struct acp_buf text;
    struct acp_buf links;
    struct acp_buf pieces; /* struct piece */
    struct acp_buf cells;  /* struct cell, row by row */
    struct acp_buf head;   /* the text of the first row's cells, for lists; each with a NUL */
    struct markdown *markdown;
};

static const struct acp_str no_link = {0};

void markdown_table_free(struct markdown_table *table)
{
    if (!table)
        return;
    acp_buf_finish(&table->text);
    acp_buf_finish(&table->links);
    acp_buf_finish(&table->pieces);
    acp_buf_finish(&table->cells);
    acp_buf_finish(&table->head);
    free(table);
}

static struct markdown_table *markdown_table_get(struct markdown *m)
{
    struct markdown_table *table = m->table;
    if (!table)
        table = m->table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    if (!table->markdown) {
        table->markdown = m;
        acp_buf_init(&table->text, TEXT_SIZE);
        acp_buf_init(&table->links, TEXT_SIZE);
        acp_buf_init(&table->pieces,
                     (MARKDOWN_MAX_TABLE + MARKDOWN_MAX_LINE) * sizeof(struct piece));
        acp_buf_init(&table->cells,
                     (MARKDOWN_MAX_ROWS + 2) * MARKDOWN_MAX_COLUMNS * sizeof(struct cell));
        acp_buf_init(&table->head, TEXT_SIZE);
    }
    return table;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The next cell of a row.  False: there is none. */
static bool next_cell(struct acp_str *row, struct acp_str *ret)
{
    size_t i = 0;
    while (row->len && (*row->ptr == ' ' || *row->ptr == '\t'))
        *row = acp_str_n(row->ptr + 1, row->len - 1);
    if (!row->len)
        return false;
    while (i < row->len && row->ptr[i] != '|')
        i += row->ptr[i] == '\\' && i + 1 < row->len ? 2 : 1;
    *ret = acp_str_n(row->ptr, i);
    while (ret->len && (ret->ptr[ret->len - 1] == ' ' || ret->ptr[ret->len - 1] == '\t'))
        ret->len--;
    i += i < row->len;
    *row = acp_str_n(row->ptr + i, row->len - i);
    return true;
}

static struct acp_str behind_bar(struct acp_str row)
{
    while (row.len && *row.ptr != '|')
        row = acp_str_n(row.ptr + 1, row.len - 1);
    return row.len ? acp_str_n(row.ptr + 1, row.len - 1) : row;
}

static unsigned count_cells(struct acp_str row)
{
    struct acp_str cell;
    unsigned count = 0;
    for (row = behind_bar(row); count <= MARKDOWN_MAX_COLUMNS && next_cell(&row, &cell);)
        count++;
    return count;
}

/* :--- ---: or :---: */
static bool read_align(struct acp_str cell, enum align *ret)
{
    bool left = cell.len && *cell.ptr == ':';
    bool right = cell.len > 1 && cell.ptr[cell.len - 1] == ':';
    size_t dashes = cell.len - left - right;
    if (!cell.len || !dashes)
        return false;
    for (size_t i = left; i < left + dashes; i++)
        if (cell.ptr[i] != '-')
            return false;
    *ret = right && left ? ALIGN_CENTER : right ? ALIGN_RIGHT : ALIGN_LEFT;
    return true;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void keep_error(struct markdown_table *table, int err)
{
    if (err && !table->markdown->err)
        table->markdown->err = err;
}

static void on_text(struct acp_str text, struct markdown_style style, struct acp_str link,
                    void *user)
{
    struct markdown_table *table = user;
    struct piece piece = {
        .start = table->text.len, .link = table->links.len, .link_len = link.len, .style = style};
    if (style.role == MARKDOWN_TEXT && table->in_head)
        piece.style.attributes |= MARKDOWN_BOLD;
    keep_error(table, sanitize_whole(SANITIZE_PROSE, text, &table->text));
    piece.len = table->text.len - piece.start;
    keep_error(table, acp_buf_append_str(&table->links, link));
    keep_error(table, acp_buf_append(&table->pieces, &piece, sizeof(piece)));
}

static void on_break(void *user)
{
    struct markdown_style style = {MARKDOWN_TEXT, 0};
    on_text(acp_str_from("\n"), style, no_link, user);
}

static struct acp_str cell_text(const struct markdown_table *table, const struct cell *cell)
{
    return acp_str_n(acp_buf_view(&table->text).ptr + cell->start, cell->len);
}

/* Of the widest line of a cell. */
static size_t cell_width(struct acp_str text)
{
    size_t widest = 0;
    while (text.len) {
        const char *feed = memchr(text.ptr, '\n', text.len);
        size_t n = feed ? (size_t) (feed - text.ptr) : text.len;
        size_t width = width_text(acp_str_n(text.ptr, n));
        widest = width > widest ? width : widest;
        n += feed != NULL;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
    return widest;
}

/* Escaped bars are bars. */
static void feed_cell(struct inline_parser *p, struct acp_str source)
{
    size_t from = 0;
    for (size_t i = 0; i + 1 < source.len; i++) {
        if (source.ptr[i] != '\\' || source.ptr[i + 1] != '|')
            continue;
        inline_feed(p, acp_str_n(source.ptr + from, i - from));
        from = i + 1;
    }
    inline_feed(p, acp_str_n(source.ptr + from, source.len - from));
}

static void add_cell(struct markdown_table *table, unsigned column, struct acp_str source)
{
    static const struct inline_receiver receiver = {.text = on_text, .line_break = on_break};
    static const struct markdown_style plain = {MARKDOWN_TEXT, 0};
    struct inline_parser *p = &table->markdown->paragraph;
    struct cell cell = {.start = table->text.len,
                        .piece = table->pieces.len / sizeof(struct piece)};
    p->receiver = &receiver;
    p->user = table;
    p->hyperlinks = table->markdown->options.hyperlinks;
    inline_begin(p, plain);
    feed_cell(p, source);
    inline_end(p);
    cell.len = table->text.len - cell.start;
    keep_error(table, acp_buf_append(&table->cells, &cell, sizeof(cell)));
    size_t width = cell_width(cell_text(table, &cell));
    if (!table->is_fixed && width > table->natural[column])
        table->natural[column] = width;
}

static void add_row(struct markdown_table *table, struct acp_str row)
{
    struct acp_str rest = behind_bar(row);
    for (unsigned i = 0; i < table->columns; i++) {
        struct acp_str source = {0};
        if (!next_cell(&rest, &source))
            source = acp_str_from("");
        add_cell(table, i, source);
    }
    table->rows++;
    table->source += row.len;
}

static void clear(struct markdown_table *table)
{
    acp_buf_clear(&table->text);
    acp_buf_clear(&table->links);
    acp_buf_clear(&table->pieces);
    acp_buf_clear(&table->cells);
    table->rows = table->source = 0;
}

/* ---- Widths ---------------------------------------------------------------------------------- */

/* The columns together when none is wider than most. */
static size_t total(const struct markdown_table *table, size_t most)
{
    size_t sum = (table->columns - 1) * (size_t) SEPARATOR;
    for (unsigned i = 0; i < table->columns; i++)
        sum += table->natural[i] < most ? table->natural[i] : most;
    return sum;
}

static void choose_widths(struct markdown_table *table)
{
    size_t room = markdown_room(table->markdown);
    room = room < MARKDOWN_MAX_WIDTH ? room : MARKDOWN_MAX_WIDTH;
    size_t low = 1;
    size_t high = MARKDOWN_MAX_TABLE * 8;
    while (low < high) { /* the greatest limit that fits */
        size_t middle = low + (high - low + 1) / 2;
        if (total(table, middle) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    size_t spare = room > total(table, low) ? room - total(table, low) : 0;
    for (unsigned i = 0; i < table->columns; i++) {
        size_t wanted = table->natural[i];
        table->widths[i] = wanted <= low ? wanted : low;
        if (wanted > low && spare) {
            table->widths[i]++;
            spare--;
        }
        table->is_list = table->is_list || (wanted > low && low < MIN_COLUMN);
    }
    table->is_list = table->is_list || total(table, low) > room;
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* A cell while its row is shown: what is left of it. */
struct rest {
    size_t at;
    size_t end;
    size_t piece;
};

static void put(struct markdown_table *table, struct acp_str text, struct markdown_style style,
                struct acp_str link)
{
    if (text.len)
        markdown_put(table->markdown, text, style, link);
}

static void put_blanks(struct markdown_table *table, size_t count)
{
    static const char blanks[] = "                                ";
    static const struct markdown_style plain = {MARKDOWN_TEXT, 0};
    for (size_t n; count; count -= n) {
        n = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
        put(table, acp_str_n(blanks, n), plain, no_link);
    }
}

/* The text from rest->at to end, in the styles of its pieces. */
static void put_range(struct markdown_table *table, struct rest *rest, size_t end)
{
    const struct piece *pieces =
        (const struct piece *) (const void *) acp_buf_view(&table->pieces).ptr;
    const char *text = acp_buf_view(&table->text).ptr;
    const char *links = acp_buf_view(&table->links).ptr;
    while (rest->at < end) {
        const struct piece *piece = &pieces[rest->piece];
        size_t stop = piece->start + piece->len;
        if (stop <= rest->at) {
            rest->piece++;
            continue;
        }
        stop = stop < end ? stop : end;
        put(table, acp_str_n(text + rest->at, stop - rest->at), piece->style,
            piece->link_len ? acp_str_n(links + piece->link, piece->link_len) : no_link);
        rest->at = stop;
    }
}

/* How much of a text goes on a line of that width, and how much of it is passed. */
static size_t fit(struct acp_str text, size_t width, size_t *ret_columns, size_t *ret_passed)
{
    size_t at = 0;
    size_t columns = 0;
    size_t word = 0; /* where the last word ended, and its columns */
    size_t word_columns = 0;
    unsigned more;
    size_t n;
    while (at < text.len && text.ptr[at] != '\n') {
        n = width_next(acp_str_n(text.ptr + at, text.len - at), &more);
        if (columns + more > width && at)
            break;
        if (text.ptr[at] == ' ' && at && text.ptr[at - 1] != ' ') {
            word = at;
            word_columns = columns;
        }
        at += n;
        columns += more;
    }
    bool cut = at < text.len && text.ptr[at] != '\n' && text.ptr[at] != ' ';
    if (cut && word) {
        at = word;
        columns = word_columns;
    }
    size_t passed = at;
    while (passed < text.len && text.ptr[passed] == ' ')
        passed++;
    if (passed < text.len && text.ptr[passed] == '\n')
        passed++;
    *ret_columns = columns;
    *ret_passed = passed;
    return at;
}

static const char *separator(const struct markdown_table *table)
{
    return table->markdown->options.ascii ? " | " : " \xe2\x94\x82 ";
}

/* A line of a cell; the columns that it lacks before the next cell are left to the caller. */
static size_t put_cell_line(struct markdown_table *table, struct rest *rest, unsigned column)
{
    size_t columns = 0;
    size_t passed = 0;
    size_t width = table->widths[column];
    struct acp_str text =
        acp_str_n(acp_buf_view(&table->text).ptr + rest->at, rest->end - rest->at);
    size_t n = text.len ? fit(text, width, &columns, &passed) : 0;
    size_t lacking = columns < width ? width - columns : 0;
    size_t before = table->align[column] == ALIGN_RIGHT    ? lacking
                    : table->align[column] == ALIGN_CENTER ? lacking / 2
                                                           : 0;
    if (n)
        put_blanks(table, before);
    else
        before = 0;
    size_t end = rest->at + passed;
    put_range(table, rest, rest->at + n);
    rest->at = end;
    return lacking - before;
}

static void put_row(struct markdown_table *table, const struct cell *cells)
{
    struct rest rest[MARKDOWN_MAX_COLUMNS];
    bool more = true;
    for (unsigned i = 0; i < table->columns; i++)
        rest[i] = (struct rest){cells[i].start, cells[i].start + cells[i].len, cells[i].piece};
    while (more) {
        size_t blanks = 0;
        more = false;
        for (unsigned i = 0; i < table->columns; i++) {
            if (i) {
                /* The last blank of the separator waits for the cell. */
                put_blanks(table, blanks);
                const char *bar = separator(table);
                struct markdown_style marker = {MARKDOWN_MARKER, 0};
                put(table, acp_str_n(bar, strlen(bar) - 1), marker, no_link);
                if (rest[i].at < rest[i].end || i + 1 < table->columns)
                    put_blanks(table, 1);
            }
            blanks = put_cell_line(table, &rest[i], i);
            more = more || rest[i].at < rest[i].end;
        }
        markdown_end_line(table->markdown);
    }
}

/* The line between the head and the rows. */
static void put_line(struct markdown_table *table)
{
    bool ascii = table->markdown->options.ascii;
    for (unsigned i = 0; i < table->columns; i++) {
        if (i)
            markdown_put_plain(table->markdown,
                               ascii ? "-+-" : "\xe2\x94\x80\xe2\x94\xbc\xe2\x94\x80",
                               MARKDOWN_MARKER);
        markdown_put_rule(table->markdown, table->widths[i] ? table->widths[i] : 1);
    }
    markdown_end_line(table->markdown);
}

/* Name: value, a line for each cell that has something in it, and a blank line between rows. */
static void put_row_as_list(struct markdown_table *table, const struct cell *cells)
{
    const char *name = acp_buf_view(&table->head).ptr;
    for (unsigned i = 0; i < table->columns; i++, name += strlen(name) + 1) {
        struct rest rest = {cells[i].start, cells[i].start + cells[i].len, cells[i].piece};
        struct markdown_style style = {MARKDOWN_TEXT, MARKDOWN_BOLD};
        if (!cells[i].len)
            continue;
        put(table, acp_str_from(name), style, no_link);
        if (*name)
            markdown_put_plain(table->markdown, ": ", MARKDOWN_TEXT);
        while (rest.at < rest.end) {
            size_t columns;
            size_t passed;
            struct acp_str text =
                acp_str_n(acp_buf_view(&table->text).ptr + rest.at, rest.end - rest.at);
            size_t end = rest.at + fit(text, SIZE_MAX / 2, &columns, &passed);
            size_t next = rest.at + passed;
            put_range(table, &rest, end);
            rest.at = next;
            markdown_end_line(table->markdown);
        }
    }
    markdown_end_line(table->markdown);
}

static void keep_head(struct markdown_table *table, const struct cell *cells)
{
    acp_buf_clear(&table->head);
    for (unsigned i = 0; i < table->columns; i++) {
        struct acp_str text = cell_text(table, &cells[i]);
        for (size_t at = 0; at < text.len; at++)
            keep_error(table,
                       acp_buf_append(&table->head, text.ptr[at] == '\n' ? " " : text.ptr + at, 1));
        keep_error(table, acp_buf_append(&table->head, "", 1));
    }
}

/* Shows the rows that are held, from one on. */
static void show(struct markdown_table *table, size_t from)
{
    const struct cell *cells = (const struct cell *) (const void *) acp_buf_view(&table->cells).ptr;
    for (size_t row = from; row < table->rows && !table->markdown->err; row++) {
        if (table->is_list)
            put_row_as_list(table, cells + row * table->columns);
        else
            put_row(table, cells + row * table->columns);
    }
    clear(table);
}

static void fix(struct markdown_table *table)
{
    const struct cell *cells = (const struct cell *) (const void *) acp_buf_view(&table->cells).ptr;
    if (table->is_fixed || table->markdown->err)
        return;
    table->is_fixed = true;
    choose_widths(table);
    if (table->is_list) {
        keep_head(table, cells);
    } else {
        put_row(table, cells);
        put_line(table);
    }
    show(table, 1);
}

/* ---- The table ------------------------------------------------------------------------------- */

bool markdown_table_begin(struct markdown *m, struct acp_str head, struct acp_str delimiters)
{
    struct markdown_table *table = markdown_table_get(m);
    struct acp_str rest = behind_bar(delimiters);
    struct acp_str cell;
    unsigned columns = count_cells(head);
    unsigned count = 0;
    if (!table) {
        m->err = ACP_ERR_NOMEM;
        return false;
    }
    if (!columns || columns > MARKDOWN_MAX_COLUMNS || count_cells(delimiters) != columns)
        return false;
    while (next_cell(&rest, &cell))
        if (!read_align(cell, &table->align[count++]))
            return false;
    table->columns = columns;
    table->is_fixed = table->is_list = false;
    (void) memset(table->natural, 0, sizeof(table->natural));
    clear(table);
    table->in_head = true;
    add_row(table, head);
    table->in_head = false;
    return true;
}

void markdown_table_add(struct markdown *m, struct acp_str row)
{
    struct markdown_table *table = m->table;
    add_row(table, row);
    if (table->is_fixed)
        show(table, 0);
    else if (table->rows >= MARKDOWN_MAX_ROWS || table->source >= MARKDOWN_MAX_TABLE)
        fix(table);
}

void markdown_table_end(struct markdown *m)
{
    fix(m->table);
    clear(m->table);
}
