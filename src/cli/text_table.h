/*
 * text_table.h - rows in columns, for people: each column as wide as its widest value.
 *
 *     static const struct table_column columns[] = {{"NAME"}, {"SIZE", .right = true}, {0}};
 *     struct table *table = table_new(columns);
 *     table_add(table, (struct acp_str[]){name, size});
 *     err = table_print(table, output_results());
 *     table_free(table);
 *
 * On a terminal there is a line of headings, and a row is cut to the width of the terminal.  In a
 * pipe there is neither: rows are whole, and every line is a row.  Values are filtered like those
 * of out_row(): one row is one line, whatever they hold.
 */
#ifndef SRC_CLI_TEXT_TABLE_H
#define SRC_CLI_TEXT_TABLE_H

#include "cli/output.h"

struct table_column {
    const char *heading; /* NULL ends the list */
    bool right;          /* aligned to the right */
    bool cut;            /* cut first when the terminal is too narrow */
};

struct table;

/* The columns, at most TABLE_MAX_COLUMNS, must outlive the table.  NULL: out of memory. */
enum { TABLE_MAX_COLUMNS = 12 };
struct table *table_new(const struct table_column *columns);
/* Takes NULL. */
void table_free(struct table *table);

/* Adds a row: a value for each column; empty ones are shown as "-".  0 or ACP_ERR_NOMEM. */
int table_add(struct table *table, const struct acp_str *values);
/* Prints nothing if there are no rows.  Does not flush.  0, or the first error of the table. */
int table_print(struct table *table, struct output *out);

#endif
