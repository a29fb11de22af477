/*
 * inline.h - the text of a paragraph, a heading or a cell: emphasis, code, links.
 *
 * Text goes to the receiver at once unless a construct is open; then it is held until that is
 * closed, or until it is clear that it is none: at the end of the paragraph, or at
 * MARKDOWN_MAX_HELD bytes.
 */
#ifndef SRC_MARKDOWN_INLINE_H
#define SRC_MARKDOWN_INLINE_H

#include "markdown/markdown.h"

enum {
    INLINE_TOKENS = 512,
    INLINE_BRACKETS = 32,
};

enum inline_mode {
    INLINE_TEXT,
    INLINE_RUN,         /* of * _ or ~ */
    INLINE_RUN_NEXT,    /* the character behind it, which has several bytes */
    INLINE_BACKTICKS,   /* the run that begins code */
    INLINE_CODE,        /* raw is what came behind it */
    INLINE_ESCAPE,      /* behind a backslash */
    INLINE_ENTITY,      /* behind & */
    INLINE_BANG,        /* behind ! */
    INLINE_ANGLE,       /* behind < */
    INLINE_ADDRESS,     /* raw may become, or is, an address */
    INLINE_BRACKET_END, /* behind ] */
    INLINE_TARGET,      /* in the parentheses of a link */
};

enum target_state {
    TARGET_START,
    TARGET_ANGLE,
    TARGET_PLAIN,
    TARGET_BEHIND,
    TARGET_TITLE,
    TARGET_END,
};

enum token_kind {
    TOKEN_TEXT,
    TOKEN_CODE,
    TOKEN_BREAK,
    TOKEN_RUN,     /* of delimiters; len is how many are left */
    TOKEN_BRACKET, /* that may begin a link */
    TOKEN_LINK,    /* start and len are its address */
    TOKEN_LINK_END,
};

struct inline_token {
    enum token_kind kind;
    unsigned start; /* in held */
    unsigned len;
    unsigned whole; /* TOKEN_RUN: how many there were */
    char c;         /* TOKEN_RUN: which; TOKEN_BRACKET: '!' of an image */
    bool can_open;
    bool can_close;
    unsigned short closes_italic; /* before its text; and what it opens, behind it */
    unsigned short closes_bold;
    unsigned short opens_italic;
    unsigned short opens_bold;
    short strike; /* +1 opens, -1 closes */
};

struct inline_receiver {
    void (*text)(struct acp_str text, struct markdown_style style, struct acp_str link, void *user);
    void (*line_break)(void *user);
};

struct inline_parser {
    const struct inline_receiver *receiver;
    void *user;
    struct markdown_style base;
    bool hyperlinks;
    enum inline_mode mode;
    unsigned spaces;       /* that came last, and are shown if something follows on the line */
    unsigned char last[3]; /* bytes before the current position, for what may begin there */
    /* The construct that is being read. */
    unsigned run; /* how many delimiters or backticks; in code: of the run at the end of raw */
    unsigned open_run;
    char run_char;
    unsigned char run_last[3]; /* what was before it */
    enum target_state target;
    unsigned depth; /* of parentheses */
    char quote;
    unsigned raw_len;
    char raw[MARKDOWN_MAX_HELD + 8];
    unsigned url_len;
    char url[MARKDOWN_MAX_HELD];
    /* Text that is read again, since it is not what it seemed to be. */
    unsigned back_len;
    char back[2 * MARKDOWN_MAX_HELD + 64];
    /* What is held back. */
    unsigned held_len;
    char held[MARKDOWN_MAX_HELD + 8];
    unsigned count;
    struct inline_token tokens[INLINE_TOKENS];
    unsigned openers; /* runs that may open something */
    unsigned brackets_count;
    unsigned brackets[INLINE_BRACKETS]; /* tokens */
};

/* At the start of each paragraph.  The receiver, user and hyperlinks are set before. */
void inline_begin(struct inline_parser *p, struct markdown_style base);
/* Line feeds are line breaks. */
void inline_feed(struct inline_parser *p, struct acp_str text);
/* The paragraph ends: everything that is held goes to the receiver. */
void inline_end(struct inline_parser *p);

/* ---- For the files of the parser ------------------------------------------------------------- */

/* Text that is shown as it is. */
void inline_put(struct inline_parser *p, const char *text, size_t len);
void inline_put_code(struct inline_parser *p, const char *text, size_t len);
void inline_put_address(struct inline_parser *p, struct acp_str label, struct acp_str url);
void inline_put_break(struct inline_parser *p);
/* The bytes are read again, behind those of earlier calls in the same step. */
void inline_again(struct inline_parser *p, const char *text, size_t len);
/* What is being read is not what it seemed: shows how it began, and reads the rest again. */
void inline_fail(struct inline_parser *p);

/* inline_tokens.c: what is held back */
void inline_add_run(struct inline_parser *p, char c, unsigned count, bool can_open, bool can_close);
void inline_add_bracket(struct inline_parser *p, char image);
void inline_bracket_is_text(struct inline_parser *p);
void inline_bracket_is_link(struct inline_parser *p);
struct inline_token *inline_token_new(struct inline_parser *p, enum token_kind kind);
bool inline_hold(struct inline_parser *p, enum token_kind kind, const char *text, size_t len);
/* Passes on what is held if nothing of it is open. */
void inline_release(struct inline_parser *p);
/* Passes on everything: what is open has not been closed in time. */
void inline_give_up(struct inline_parser *p);

/* inline_link.c: the steps of constructs with an address; each takes one byte */
void inline_step_angle(struct inline_parser *p, char c);
void inline_step_address(struct inline_parser *p, char c);
void inline_end_address(struct inline_parser *p);
void inline_step_target(struct inline_parser *p, char c);
void inline_step_entity(struct inline_parser *p, char c);
/* Whether it may be a link in the output. */
bool inline_is_safe(struct acp_str url);
/* Whether a reader needs to see the address beside this label. */
bool inline_needs_address(struct acp_str label, struct acp_str url);

#endif
