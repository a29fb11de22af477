/*
 * listing.h - the lists of models as the providers send them, and what they tell about each model.
 *
 * No two providers have the same members, but no two mean different things by the same one, so one
 * reader takes them all.  The texts come from the network: anything may stand in them.
 */
#ifndef SRC_MODEL_LISTING_H
#define SRC_MODEL_LISTING_H

#include "acp/json.h"
#include "model/model.h"

enum { LISTING_MAX_ROWS = 10000 };

struct listing_row {
    struct acp_str id;
    struct acp_str name; /* for people; absent when there is none */
    struct model_facts facts;
};

/*
 * Reads the list: valid JSON with an array at the path `rows` ("data", "models").  Rows without an
 * id are left out, and so are models that do not answer in text.  Negative, or how many rows there
 * are; ACP_ERR_MALFORMED when there is no array.  Rows are in the arena and may point into body.
 */
int listing_read(struct acp_raw body, const char *rows, struct acp_arena *arena,
                 struct listing_row **ret);

/*
 * Reads what a local server tells elsewhere about the models that it has loaded, and puts it into
 * the rows: /api/ps of Ollama, /props of llama.cpp, /api/v0/models of LM Studio.
 */
void listing_add_limits(struct acp_raw body, struct acp_arena *arena, struct listing_row *rows,
                        size_t count);

#endif
