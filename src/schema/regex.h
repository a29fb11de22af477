/*
 * regex.h - the regular expressions that schemas are written with, matched in time that grows with
 * the text and the pattern and nothing else.
 *
 * They are those of ECMAScript in Unicode mode as far as a set of states can decide them:
 * characters, ".", classes, \d \w \s and their opposites, groups with or without name, "|", * + ?
 * {m,n} greedy or lazy (which makes no difference to whether something matches), ^ $ \b \B, and
 * the escapes \t \n \v \f \r \0 \cX \xHH \uHHHH \u{H...}.  Refused are lookaround, references to
 * groups, \p{...}, flags, and braces and brackets that mean themselves without a backslash.  One
 * thing is taken that Unicode mode refuses: a backslash before any punctuation ("\-").
 *
 * A pattern is found anywhere in the text unless it is anchored.
 */
#ifndef SRC_SCHEMA_REGEX_H
#define SRC_SCHEMA_REGEX_H

#include "acp/base.h"

enum {
    SCHEMA_REGEX_MAX_GROUPS = 100,  /* within each other */
    SCHEMA_REGEX_MAX_STEPS = 20000, /* of the program; {m,n} counts as its copies */
};

struct schema_regex;

/* What a search works with; one serves any number of searches, one after the other. */
struct schema_regex_scratch {
    uint32_t *memory;
    size_t room;   /* steps that it is good for */
    uint32_t turn; /* marks what was seen in this turn */
};

/*
 * The compiled pattern lives in the arena.  ACP_ERR_ARGUMENT and a sentence in the failure (its
 * offset is the byte in the pattern) when the pattern is none or is more than we take.
 */
int schema_regex_compile(struct acp_str pattern, struct acp_arena *arena, struct schema_regex **ret,
                         struct acp_failure *failure);

void schema_regex_scratch_init(struct schema_regex_scratch *scratch);
void schema_regex_scratch_finish(struct schema_regex_scratch *scratch);

/*
 * 1 when the text (UTF-8) has a match in it, 0 when not.  Takes the work from *left, one for each
 * step at each character: ACP_ERR_LIMIT when it does not suffice.  ACP_ERR_NOMEM.
 */
int schema_regex_search(const struct schema_regex *regex, struct acp_str text,
                        struct schema_regex_scratch *scratch, uint64_t *left);

#endif
