/* text_table.c - see text_table.h. */
#include "cli/text_table.h"

#include <stdlib.h>

#include "cli/prose.h"
#include "text/width.h"

enum { GAP = 2, NARROWEST_COLUMN = 8, CELLS_MAX_BYTES = 256 * 1024 * 1024 };

struct table {
    const struct table_column *columns;
    size_t column_count;
    size_t row_count;
    size_t widths[TABLE_MAX_COLUMNS];
    struct acp_buf cells; /* row by row; each ends with NUL */
    int err;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

struct table *table_new(const struct table_column *columns)
{
    struct table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    acp_buf_init(&table->cells, CELLS_MAX_BYTES);
    table->columns = columns;
    while (table->column_count < TABLE_MAX_COLUMNS && columns[table->column_count].heading)
        table->column_count++;
    return table;
}

void table_free(struct table *table)
{
    if (!table)
        return;
    acp_buf_finish(&table->cells);
    free(table);
}

static void note_width(struct table *table, size_t column, struct acp_str text)
{
    size_t width = width_text(text);
    if (width > table->widths[column])
        table->widths[column] = width;
}

int table_add(struct table *table, const struct acp_str *values)
{
    for (size_t i = 0; i < table->column_count && !table->err; i++) {
        struct acp_str value = values[i].len ? values[i] : acp_str_from("-");
        size_t before = table->cells.len;
        table->err = sanitize_whole(SANITIZE_LINE, value, &table->cells);
        struct acp_str shown = acp_buf_view(&table->cells);
        note_width(table, i, acp_str_n(shown.ptr + before, shown.len - before));
        if (!table->err)
            table->err = acp_buf_append(&table->cells, "", 1);
    }
    table->row_count++;
    return table->err;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static size_t total_width(const struct table *table)
{
    size_t total = 0;
    for (size_t i = 0; i < table->column_count; i++)
        total += table->widths[i] + (i ? GAP : 0);
    return total;
}

/* Makes the columns narrower that may be cut, the last one first. */
static void fit(struct table *table, size_t width)
{
    for (size_t i = table->column_count; i-- > 0;) {
        size_t total = total_width(table);
        size_t *own = &table->widths[i];
        if (total <= width || !table->columns[i].cut || *own <= NARROWEST_COLUMN)
            continue;
        size_t over = total - width;
        *own = *own - NARROWEST_COLUMN < over ? NARROWEST_COLUMN : *own - over;
    }
}

static void put_blanks(struct output *out, size_t count)
{
    output_printf(out, "%*s", (int) count, "");
}

static void put_cell(const struct table *table, struct output *out, size_t column,
                     struct acp_str text, bool is_cut)
{
    const struct table_column *about = &table->columns[column];
    bool is_last = column + 1 == table->column_count;
    size_t width = table->widths[column];
    size_t used = width_text(text);
    bool too_wide = is_cut && used > width;
    if (too_wide)
        text = width_cut(text, width - 1, &used);
    size_t blanks = width > used + too_wide ? width - used - too_wide : 0;
    if (column)
        put_blanks(out, GAP);
    if (about->right)
        put_blanks(out, blanks);
    output_text(out, text);
    if (too_wide)
        output_text(out, acp_str_from("\xe2\x80\xa6"));
    if (!about->right && !is_last)
        put_blanks(out, blanks);
}

static void put_headings(const struct table *table, struct output *out)
{
    output_style(out, STYLE_DIM);
    for (size_t i = 0; i < table->column_count; i++)
        put_cell(table, out, i, acp_str_from(table->columns[i].heading), true);
    output_style(out, STYLE_NONE);
    output_text(out, acp_str_from("\n"));
}

int table_print(struct table *table, struct output *out)
{
    bool is_screen = !out->exact;
    if (!table->row_count || table->err)
        return table->err;
    for (size_t i = 0; i < table->column_count && is_screen; i++)
        note_width(table, i, acp_str_from(table->columns[i].heading));
    if (is_screen)
        fit(table, output_width(out));
    if (is_screen)
        put_headings(table, out);
    const char *at = acp_buf_view(&table->cells).ptr;
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            struct acp_str text = acp_str_from(at);
            put_cell(table, out, i, text, is_screen);
            at += text.len + 1;
        }
        output_text(out, acp_str_from("\n"));
    }
    return out->err;
}
