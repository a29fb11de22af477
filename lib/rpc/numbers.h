/*
 * numbers.h - a hash table of records by the number that stands first in each.
 *
 * The peer looks one up two or three times for every request, both ways.  Against lib/base/map.h it
 * saves a copy of the key, and so a malloc and a free, each time.  It does not own the records.
 */
#ifndef LIB_RPC_NUMBERS_H
#define LIB_RPC_NUMBERS_H

#include "acp/base.h"

struct acp_numbers {
    uint64_t **slots; /* each points to the number at the start of a record, or is NULL */
    size_t count;
    unsigned bits; /* there are 2^bits slots, or none when it is 0 */
};

void acp_numbers_finish(struct acp_numbers *table);
/* Adds a record whose number is not in the table.  ACP_ERR_NOMEM. */
int acp_numbers_add(struct acp_numbers *table, uint64_t *record);
/* The record, or NULL. */
void *acp_numbers_get(const struct acp_numbers *table, uint64_t number);
void acp_numbers_remove(struct acp_numbers *table, uint64_t number);
/* Walks the table from *cursor 0 on; NULL at the end. */
void *acp_numbers_next(const struct acp_numbers *table, size_t *cursor);

#endif
