/*
 * pattern.h - file patterns as models write them: *, ?, [...], ** for any number of folders, and
 * {a,b} for alternatives.  A pattern without a slash matches names at any depth.
 */
#ifndef SRC_AGENT_TOOLS_PATTERN_H
#define SRC_AGENT_TOOLS_PATTERN_H

#include "acp/base.h"

/* Alternatives multiply. */
enum { PATTERN_MAX_ALTERNATIVES = 64, PATTERN_MAX_BYTES = 1024 };

struct pattern {
    struct acp_str alternatives[PATTERN_MAX_ALTERNATIVES];
    size_t count;
};

/* Makes it in the arena.  ACP_ERR_LIMIT: too long, or too many alternatives; ACP_ERR_NOMEM. */
int pattern_parse(struct acp_str text, struct acp_arena *arena, struct pattern *ret);
/* path is relative to the top of the search. */
bool pattern_matches(const struct pattern *pattern, struct acp_str path);

#endif
