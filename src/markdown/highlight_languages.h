/* highlight_languages.h - the table of languages of highlight.c. */
#ifndef SRC_MARKDOWN_HIGHLIGHT_LANGUAGES_H
#define SRC_MARKDOWN_HIGHLIGHT_LANGUAGES_H

#include "acp/base.h"

enum highlight_flag {
    HIGHLIGHT_ANY_CASE = 1,       /* words are the same in capitals */
    HIGHLIGHT_TRIPLE = 2,         /* three quotes begin a string of several lines */
    HIGHLIGHT_BACKTICK = 4,       /* so does a backtick */
    HIGHLIGHT_KEYS = 8,           /* a word or string before a colon is a key */
    HIGHLIGHT_DOLLAR = 16,        /* $name and ${name} are variables */
    HIGHLIGHT_PREPROCESSOR = 32,  /* a line that begins with # is for the preprocessor */
    HIGHLIGHT_DIFF = 64,          /* only the first character of a line counts */
    HIGHLIGHT_LONE_QUOTE = 128,   /* ' also stands alone: lifetimes, apostrophes in text */
    HIGHLIGHT_DASHES = 256,       /* - is a part of words */
    HIGHLIGHT_COMMENT_SPACE = 512 /* a comment begins only behind a blank */
};

struct highlight_language {
    const char *names;    /* and extensions; separated by blanks */
    const char *keywords; /* separated by blanks, sorted */
    const char *types;    /* likewise; and constants */
    const char *comment;  /* begins one that ends with the line; NULL: there are none */
    const char *open;     /* begins one that ends with close */
    const char *close;
    const char *quotes; /* characters that enclose strings */
    unsigned flags;
};

extern const struct highlight_language highlight_languages[];
extern const size_t highlight_languages_count;

#endif
