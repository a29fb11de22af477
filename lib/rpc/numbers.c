/*
 * The table of numbered records: open addressing, at most half full.  Removal shifts the following
 * run back, so there is nothing to clean up.
 */
#include "rpc/numbers.h"

#include <stdlib.h>

enum { FIRST_BITS = 4 };

/* Numbers are handed out one after the other; the multiplication spreads them. */
static size_t home_of(const struct acp_numbers *table, uint64_t number)
{
    return (size_t) ((number * 0x9e3779b97f4a7c15u) >> (64 - table->bits));
}

static size_t mask_of(const struct acp_numbers *table)
{
    return ((size_t) 1 << table->bits) - 1;
}

void acp_numbers_finish(struct acp_numbers *table)
{
    free(table->slots);
    *table = (struct acp_numbers){0};
}

/* The slot that holds the number, or the free one where it would go. */
static size_t locate(const struct acp_numbers *table, uint64_t number)
{
    size_t i = home_of(table, number);
    while (table->slots[i] && *table->slots[i] != number)
        i = (i + 1) & mask_of(table);
    return i;
}

static int grow(struct acp_numbers *table)
{
    struct acp_numbers grown = {.bits = table->bits ? table->bits + 1 : FIRST_BITS};
    grown.slots = calloc((size_t) 1 << grown.bits, sizeof(uint64_t *));
    if (!grown.slots)
        return ACP_ERR_NOMEM;
    size_t cursor = 0;
    for (uint64_t *record; (record = acp_numbers_next(table, &cursor));)
        grown.slots[locate(&grown, *record)] = record;
    grown.count = table->count;
    free(table->slots);
    *table = grown;
    return 0;
}

int acp_numbers_add(struct acp_numbers *table, uint64_t *record)
{
    if (!table->bits || table->count > mask_of(table) / 2) {
        int err = grow(table);
        if (err)
            return err;
    }
    table->slots[locate(table, *record)] = record;
    table->count++;
    return 0;
}

void *acp_numbers_get(const struct acp_numbers *table, uint64_t number)
{
    return table->count ? table->slots[locate(table, number)] : NULL;
}

void acp_numbers_remove(struct acp_numbers *table, uint64_t number)
{
    if (!table->count)
        return;
    size_t mask = mask_of(table);
    size_t hole = locate(table, number);
    if (!table->slots[hole])
        return;
    for (size_t i = (hole + 1) & mask; table->slots[i]; i = (i + 1) & mask) {
        size_t home = home_of(table, *table->slots[i]);
        /* A record may move back only as far as its own home. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole] = NULL;
    table->count--;
}

void *acp_numbers_next(const struct acp_numbers *table, size_t *cursor)
{
    while (table->bits && *cursor <= mask_of(table)) {
        uint64_t *record = table->slots[(*cursor)++];
        if (record)
            return record;
    }
    return NULL;
}
