/*
 * claude.h - what can be told of a Claude by its name, besides what the table of models has.  The
 * sources are in docs/models.md.
 */
#ifndef SRC_MODEL_CLAUDE_H
#define SRC_MODEL_CLAUDE_H

#include "model/model.h"

struct claude {
    bool is_claude;   /* otherwise it is an imitation of the API with a model of its own */
    unsigned version; /* 46 is 4.6; 0: the name has no number */
    bool always;      /* thinking cannot be switched off */
};

struct claude claude_of(struct acp_str model);
/* What an adaptive one is told for that effort; NULL: nothing. */
const char *claude_effort(const struct claude *claude, enum model_effort effort);
/* Tokens of thinking for one that takes a budget; 0: it does not think. */
uint64_t claude_budget(enum model_effort effort);
/* Whether it takes a temperature while it does not think: none since 4.7 does at all. */
bool claude_takes_temperature(const struct claude *claude);

#endif
