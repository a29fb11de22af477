/*
 * highlight.h - colours for source code, line by line, from a small table of languages.
 *
 *     struct highlight state = {.language = highlight_find(acp_str_from("python"))};
 *     highlight_line(&state, line, put, user);
 *
 * It finds comments, strings, numbers and words; it does not parse.  What a language does not have
 * in the table is plain.  The time is linear in the text, and the state is this struct: a block
 * comment or a string may go on in the next line.
 */
#ifndef SRC_MARKDOWN_HIGHLIGHT_H
#define SRC_MARKDOWN_HIGHLIGHT_H

#include "acp/base.h"

/* What a piece of code is. */
enum highlight_role {
    HIGHLIGHT_PLAIN,
    HIGHLIGHT_KEYWORD,
    HIGHLIGHT_TYPE, /* also constants, and keys of data */
    HIGHLIGHT_STRING,
    HIGHLIGHT_NUMBER,
    HIGHLIGHT_COMMENT,
    HIGHLIGHT_ADDED, /* lines of a diff */
    HIGHLIGHT_REMOVED,
    HIGHLIGHT_HUNK,
};

struct highlight_language;

/* Zeroed, except for the language, at the start of a text. */
struct highlight {
    const struct highlight_language *language; /* NULL: everything is plain */
    const char *until;        /* what ends the comment or string that goes on; NULL: none does */
    enum highlight_role role; /* of that */
    bool in_line;             /* the last piece did not end its line */
};

typedef void highlight_put(struct acp_str text, enum highlight_role role, void *user);

/* By the name in a fence, in any case, or by the extension of a file; NULL: not known. */
const struct highlight_language *highlight_find(struct acp_str name);
/* A line without its end; its pieces are given to put in order, together all of its bytes. */
void highlight_line(struct highlight *state, struct acp_str line, highlight_put *put, void *user);
/* A piece of a line that is too long to wait for; highlight_line() has the last piece. */
void highlight_piece(struct highlight *state, struct acp_str piece, highlight_put *put, void *user);

#endif
