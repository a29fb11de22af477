/*
 * map.h - a hash map from byte keys to pointers, open addressing with linear probing.
 *
 * The map copies its keys and owns the copies; it does not own the values.  Numbers serve as keys
 * through their bytes.  Iteration order is unspecified.
 */
#ifndef LIB_BASE_MAP_H
#define LIB_BASE_MAP_H

#include "acp/base.h"

struct acp_map_slot {
    char *key; /* NULL: the slot is free */
    size_t key_len;
    uint64_t hash;
    void *value;
};

struct acp_map {
    struct acp_map_slot *slots;
    size_t count;
    size_t cap;    /* 0 or a power of two */
    uint64_t seed; /* keeps peers from choosing colliding keys */
};

/* seed may be any number; a map whose keys a peer chooses gets an unpredictable one. */
void acp_map_init(struct acp_map *map, uint64_t seed);
void acp_map_finish(struct acp_map *map);
/* NULL when there is none. */
void *acp_map_get(const struct acp_map *map, struct acp_str key);
/* Sets or replaces; value must not be NULL.  ACP_ERR_NOMEM leaves the map as it was. */
int acp_map_set(struct acp_map *map, struct acp_str key, void *value);
/* Removes and returns the value, or NULL. */
void *acp_map_remove(struct acp_map *map, struct acp_str key);
/*
 * Walks the map: start with *cursor 0; NULL at the end.  The map must not change meanwhile.
 * ret_key may be NULL.
 */
void *acp_map_next(const struct acp_map *map, size_t *cursor, struct acp_str *ret_key);

#endif
