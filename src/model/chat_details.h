/*
 * chat_details.h - the reasoning_details of OpenRouter: a list of thoughts that comes in pieces and
 * goes back whole.
 */
#ifndef SRC_MODEL_CHAT_DETAILS_H
#define SRC_MODEL_CHAT_DETAILS_H

#include "acp/json.h"

/* Adds the items of a list to those that came before, which are kept with commas between them. */
int chat_details_add(struct acp_buf *kept, struct acp_raw list);
/*
 * Writes what was kept as one list, in which the pieces of one thought (those in a row with the
 * same type and index) are joined.
 */
void chat_details_write(const struct acp_buf *kept, struct acp_json_writer *w);

#endif
