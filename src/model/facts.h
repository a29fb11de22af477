/*
 * facts.h - what is known about models: windows, limits, prices, abilities.
 *
 * Three sources, the first wins for each fact on its own: the user's configuration, the list of the
 * provider (list.c), the table in models.json, which is compiled in.  A fact that no source has is
 * not known; nothing is guessed from the look of a name.
 */
#ifndef SRC_MODEL_FACTS_H
#define SRC_MODEL_FACTS_H

#include "acp/json.h"
#include "model/model.h"

/* The table that is compiled in. */
const struct model_table *facts_builtin(void);

/*
 * Reads one row: {"context": 200000, "price": {...}, "can": ["images"], ...}.  The reader's arena
 * holds nothing of it afterwards.  ACP_ERR_RANGE with a sentence for an invalid member
 * or value; otherwise the reader's error.
 */
int facts_read(struct acp_json_reader *r, struct model_facts *ret, struct acp_failure *failure);
/* Reads {"models": {"provider/model": {...}}}; rows and names are in the arena. */
int facts_read_table(struct acp_raw text, struct acp_arena *arena, struct model_table *ret,
                     struct acp_failure *failure);

/*
 * What the rows say about a model of a provider (NULL: one that is not in the table of providers).
 * A row matches by "provider/model" or, in the user's table, by "model" alone; a star at its end
 * stands for any rest, and a date or "-latest" behind a name makes no other model of it.  Of
 * several that match the closest counts most, for each fact on its own.
 */
bool facts_find(const struct model_table *table, const char *provider, struct acp_str model,
                struct model_facts *ret);
/*
 * The same by the name of the model alone, without a vendor before it ("anthropic/claude-..."), for
 * providers that offer the models of others.  They set their own prices, so there is none in it.
 */
bool facts_find_anywhere(const struct model_table *table, struct acp_str model,
                         struct model_facts *ret);
/* Whether a row is of this very model; a row with a star is of none. */
bool facts_has_model(const struct model_table *table, const char *provider, struct acp_str model);
/* Puts each fact of `over` that is known in the place of that in `facts`. */
void facts_merge(struct model_facts *facts, const struct model_facts *over);

/* In US dollars. */
double facts_cost(const struct model_price *price, const struct model_usage *usage);

#endif
