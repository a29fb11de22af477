/*
 * regex_program.h - what a pattern becomes: first a tree of pieces, then a program of steps.
 * Between the files of the regular expressions only.
 */
#ifndef SRC_SCHEMA_REGEX_PROGRAM_H
#define SRC_SCHEMA_REGEX_PROGRAM_H

#include "schema/regex.h"

/* ---- Sets of characters --------------------------------------------------------------------- */

struct regex_range {
    uint32_t low;
    uint32_t high;
};

struct regex_set {
    struct regex_range *ranges; /* in any order */
    size_t count;
    size_t room;
    bool negated;
};

enum { REGEX_LAST_CHARACTER = 0x10FFFF };

/* ACP_ERR_NOMEM. */
int regex_set_add(struct regex_set *set, struct acp_arena *arena, uint32_t low, uint32_t high);
/* What \d, \D, \w, \W, \s, \S and "." stand for; ACP_ERR_ARGUMENT for other letters. */
int regex_set_add_class(struct regex_set *set, struct acp_arena *arena, char letter);
bool regex_set_has(const struct regex_set *set, uint32_t code);
bool regex_is_word(uint32_t code);

/* ---- The tree ------------------------------------------------------------------------------- */

enum regex_kind {
    REGEX_SEQUENCE, /* of its parts; without parts: the empty text */
    REGEX_CHOICE,   /* one of its parts */
    REGEX_REPEAT,   /* its one part, min to max times */
    REGEX_CHARACTER,
    REGEX_SET,
    REGEX_ASSERTION,
};

enum { REGEX_NO_MAX = UINT32_MAX };

struct regex_piece {
    enum regex_kind kind;
    struct regex_piece *parts; /* the first one */
    struct regex_piece *next;  /* beside it in the same parent */
    uint32_t min;
    uint32_t max;
    uint32_t code; /* the character; for an assertion one of ^ $ b B */
    struct regex_set *set;
};

/* The tree lives in the arena.  Fails as schema_regex_compile() does. */
int regex_parse(struct acp_str pattern, struct acp_arena *arena, struct regex_piece **ret,
                struct acp_failure *failure);

/* ---- The program ---------------------------------------------------------------------------- */

enum regex_step_kind {
    STEP_MATCH,
    STEP_CHARACTER, /* takes one, goes on behind */
    STEP_SET,
    STEP_ASSERTION, /* takes none */
    STEP_SPLIT,     /* goes on behind and at `to` */
    STEP_JUMP,
};

struct regex_step {
    enum regex_step_kind kind;
    union {
        uint32_t code;
        uint32_t to;
    } is;
    const struct regex_set *set;
};

struct schema_regex {
    struct regex_step *steps;
    size_t count;
    bool anchored; /* can match at the start only */
};

#endif
