/*
 * markdown.h - Markdown as it streams, for terminals.
 *
 *     struct markdown *markdown;
 *     struct markdown_options options = {.width = 80, .sink = &sink, .user = user};
 *     err = markdown_new(&options, &markdown);
 *     ...for every chunk, wherever it was cut:
 *     markdown_add(markdown, chunk);
 *     ...
 *     err = markdown_end(markdown);
 *     markdown_free(markdown);
 *
 * The output is append-only: what the sink was given is final.  Text is passed on as it comes, and
 * what cannot be known yet is held back: the beginning of a line until its kind is clear, a
 * construct such as **strong** or a link until it is closed, a line of code, and a table until its
 * widths are known.  Each of these has a limit below; beyond it the text is shown as it came.  The
 * output does not depend on how the text was cut into chunks.
 *
 * What is understood is CommonMark with the tables, strikethrough, task lists and bare addresses of
 * GitHub, except for what would change lines that were shown before: reference links, headings that
 * are underlined (the underline is shown as a rule) and tables whose rows do not begin with a bar.
 * HTML is text, except for <br>.
 *
 * Lines are those of the author: a line break in a paragraph stays one, no other is added, and
 * lines have no padding, so that a terminal wraps them and what is copied is what was written.
 * Only the cells of a table are wrapped, when it is too wide.
 *
 * The text is untrusted, and the sink is given its bytes: whoever writes them to a terminal filters
 * them (cli/output.h).  Widths are measured as they will be behind that filter.
 *
 * Time is linear in the text, and memory is bounded by the limits.
 */
#ifndef SRC_MARKDOWN_MARKDOWN_H
#define SRC_MARKDOWN_MARKDOWN_H

#include "acp/base.h"

enum {
    MARKDOWN_MAX_DEPTH = 16,        /* quotes and list items in each other */
    MARKDOWN_MAX_HEAD = 512,        /* bytes of a line whose kind is not clear yet */
    MARKDOWN_MAX_LINE = 8 * 1024,   /* bytes of a heading, a table's row, a line of code */
    MARKDOWN_MAX_HELD = 2048,       /* bytes of a construct that is not closed yet */
    MARKDOWN_MAX_COLUMNS = 32,      /* of a table; with more it is text */
    MARKDOWN_MAX_TABLE = 64 * 1024, /* bytes of a table before its widths are fixed */
    MARKDOWN_MAX_ROWS = 100,        /* rows likewise */
    MARKDOWN_MAX_WIDTH = 500,       /* columns of a table */
};

enum markdown_role {
    MARKDOWN_TEXT,
    MARKDOWN_HEADING,
    MARKDOWN_CODE, /* in a line, and blocks whose language is not known */
    MARKDOWN_LINK,
    MARKDOWN_MARKER, /* of lists, quotes, tables; rules */
    MARKDOWN_KEYWORD,
    MARKDOWN_TYPE,
    MARKDOWN_STRING,
    MARKDOWN_NUMBER,
    MARKDOWN_COMMENT,
    MARKDOWN_ADDED,
    MARKDOWN_REMOVED,
    MARKDOWN_HUNK,
};

enum markdown_attribute {
    MARKDOWN_BOLD = 1,
    MARKDOWN_ITALIC = 2,
    MARKDOWN_STRIKE = 4,
    MARKDOWN_UNDERLINE = 8,
};

struct markdown_style {
    enum markdown_role role;
    unsigned attributes; /* enum markdown_attribute */
};

struct markdown_sink {
    /* A piece of a line.  The link is absent, or an address with the scheme http, https or mailto
       in printable ASCII. */
    void (*text)(struct acp_str text, struct markdown_style style, struct acp_str link, void *user);
    void (*line_end)(void *user);
};

struct markdown_options {
    size_t width;    /* of the terminal, for tables and rules; 0: not known */
    bool ascii;      /* no characters beyond ASCII for lines */
    bool hyperlinks; /* the sink can show links; else their address follows them in brackets */
    const struct markdown_sink *sink;
    void *user;
};

struct markdown;

/* ACP_ERR_NOMEM. */
int markdown_new(const struct markdown_options *options, struct markdown **ret);
/* Takes NULL. */
void markdown_free(struct markdown *markdown);

/* The next part of the text. */
void markdown_add(struct markdown *markdown, struct acp_str text);
/*
 * The text ends here: passes on what was held back, and is ready for another text.  0, or
 * ACP_ERR_NOMEM if some of this one is missing.
 */
int markdown_end(struct markdown *markdown);

/* Whether the sink's last call was line_end(), or there was none in this text. */
bool markdown_is_at_line_start(const struct markdown *markdown);
/* For tables and rules that begin from now on. */
void markdown_set_width(struct markdown *markdown, size_t width);

#endif
