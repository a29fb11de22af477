/*
 * markdown_internal.h - what the files of the Markdown renderer share.
 *
 *   markdown.c    life, chunks into lines, the lines of the output
 *   line_kind.c   what a line is, from its beginning; pure
 *   inline*.c     the text of a paragraph
 *   markdown_table.c  tables
 *   highlight*.c  code
 */
#ifndef SRC_MARKDOWN_MARKDOWN_INTERNAL_H
#define SRC_MARKDOWN_MARKDOWN_INTERNAL_H

#include "markdown/highlight.h"
#include "markdown/inline.h"
#include "markdown/markdown.h"

enum { MARKER_SIZE = 12 };

struct container {
    bool is_quote;   /* else an item of a list */
    unsigned indent; /* item: columns that its lines are indented, from those around it */
    char marker[MARKER_SIZE];
    bool is_shown; /* the marker is */
    char task;     /* ' ' or 'x': the item has a box */
};

/* What is open below the containers. */
enum block {
    BLOCK_NONE,
    BLOCK_PARAGRAPH,
    BLOCK_FENCE,
    BLOCK_CODE,        /* indented */
    BLOCK_MAYBE_TABLE, /* its first row has come */
    BLOCK_TABLE,
};

/* ---- line_kind.c ----------------------------------------------------------------------------- */

enum line_kind {
    LINE_NEEDS_MORE, /* of the line, to be known */
    LINE_NEEDS_ALL,
    LINE_BLANK,
    LINE_TEXT,
    LINE_HEADING,
    LINE_RULE,
    LINE_FENCE, /* opens */
    LINE_FENCE_END,
    LINE_CODE, /* in a fence, or indented */
    LINE_ROW,  /* begins with a bar */
};

/* What line_kind() looks at. */
struct line_context {
    const struct container *containers;
    unsigned depth;
    enum block block;
    char fence; /* BLOCK_FENCE: its character, length and indent */
    unsigned fence_length;
    unsigned fence_indent;
};

struct line {
    enum line_kind kind;
    unsigned matched; /* containers that go on */
    unsigned opened;
    struct container new_containers[MARKDOWN_MAX_DEPTH];
    size_t start;    /* where the text of the line begins */
    unsigned blanks; /* code: columns to be shown before that */
    unsigned level;  /* heading; length of a fence */
    unsigned indent; /* of a fence */
    char fence;
};

/* The kind of the line that begins with head; is_whole: that is all of it. */
void line_read(const struct line_context *context, struct acp_str head, bool is_whole,
               struct line *ret);

/* ---- The renderer ---------------------------------------------------------------------------- */

/* Where the next byte goes. */
enum markdown_state {
    AT_HEAD, /* into head, until the kind of the line is clear */
    AT_HEAD_WHOLE,
    IN_TEXT,
    IN_CODE, /* into code */
};

struct markdown_table;

struct markdown {
    struct markdown_options options;
    int err;
    enum markdown_state state;
    bool carriage_return; /* held back: a line feed may follow */
    struct acp_buf head;
    struct acp_buf code; /* the line of code so far */
    struct container containers[MARKDOWN_MAX_DEPTH];
    unsigned depth;
    unsigned common; /* of them, how many are around the block above as well */
    enum block block;
    char fence;
    unsigned fence_length;
    unsigned fence_indent;
    struct highlight highlight;
    struct inline_parser paragraph;
    struct markdown_table *table; /* NULL until the first */
    /* The output. */
    bool is_in_line;
    bool is_ended;       /* the text is; what comes next is another one */
    bool is_started;     /* there is output above */
    bool is_blank_above; /* the last line was blank */
    bool blank_wanted;
    unsigned blank_depth; /* containers of the blank line */
};

/* ---- markdown.c ------------------------------------------------------------------------------ */

/* A piece of a line; begins the line with the bars of quotes and markers of lists. */
void markdown_put(struct markdown *m, struct acp_str text, struct markdown_style style,
                  struct acp_str link);
void markdown_put_plain(struct markdown *m, const char *text, enum markdown_role role);
/* A horizontal line of that many columns. */
void markdown_put_rule(struct markdown *m, size_t columns);
void markdown_end_line(struct markdown *m);
/* Columns that are left beside the bars and markers; SIZE_MAX: not known. */
size_t markdown_room(const struct markdown *m);

/* ---- markdown_table.c ------------------------------------------------------------------------ */

/* A first row and the one below it: whether they begin a table.  Errors: m->err. */
bool markdown_table_begin(struct markdown *m, struct acp_str head, struct acp_str delimiters);
void markdown_table_add(struct markdown *m, struct acp_str row);
/* Shows what is held back of the table. */
void markdown_table_end(struct markdown *m);
void markdown_table_free(struct markdown_table *table);

#endif
