/* The hash map.  Removal shifts the following run back, so there are no tombstones to clean up. */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

enum { SMALLEST = 16 };

/* One round: multiply and fold, so that every bit reaches the low ones, which probing uses. */
static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

/* Eight bytes at a time; the length tells keys apart that differ in zeros at the end. */
static uint64_t hash_of(const struct acp_map *map, struct acp_str key)
{
    uint64_t h = mix(map->seed, key.len);
    const char *p = key.ptr;
    size_t left = key.len;
    uint64_t word;
    for (; left >= sizeof(word); left -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = mix(h, word);
    }
    if (left) {
        word = 0;
        memcpy(&word, p, left);
        h = mix(h, word);
    }
    return mix(h, 0);
}

void acp_map_init(struct acp_map *map, uint64_t seed)
{
    *map = (struct acp_map){.seed = seed};
}

void acp_map_finish(struct acp_map *map)
{
    for (size_t i = 0; i < map->cap; i++)
        free(map->slots[i].key);
    free(map->slots);
    acp_map_init(map, map->seed);
}

static bool matches(const struct acp_map_slot *slot, uint64_t hash, struct acp_str key)
{
    return slot->hash == hash && acp_str_eq(acp_str_n(slot->key, slot->key_len), key);
}

/* The slot that holds the key, or the free slot where it would go.  cap must not be 0. */
static size_t locate(const struct acp_map *map, uint64_t hash, struct acp_str key)
{
    size_t i = hash & (map->cap - 1);
    while (map->slots[i].key && !matches(&map->slots[i], hash, key))
        i = (i + 1) & (map->cap - 1);
    return i;
}

void *acp_map_get(const struct acp_map *map, struct acp_str key)
{
    if (map->count == 0)
        return NULL;
    size_t i = locate(map, hash_of(map, key), key);
    return map->slots[i].key ? map->slots[i].value : NULL;
}

static int grow(struct acp_map *map)
{
    size_t cap = map->cap ? map->cap * 2 : SMALLEST;
    struct acp_map_slot *slots = calloc(cap, sizeof(*slots));
    if (!slots)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < map->cap; i++) {
        if (!map->slots[i].key)
            continue;
        size_t j = map->slots[i].hash & (cap - 1);
        while (slots[j].key)
            j = (j + 1) & (cap - 1);
        slots[j] = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->cap = cap;
    return 0;
}

int acp_map_set(struct acp_map *map, struct acp_str key, void *value)
{
    assert(value);
    if (map->count * 4 >= map->cap * 3) {
        int err = grow(map);
        if (err)
            return err;
    }
    uint64_t hash = hash_of(map, key);
    struct acp_map_slot *slot = &map->slots[locate(map, hash, key)];
    if (slot->key) {
        slot->value = value;
        return 0;
    }
    char *copy = malloc(key.len + 1);
    if (!copy)
        return ACP_ERR_NOMEM;
    if (key.len)
        memcpy(copy, key.ptr, key.len);
    copy[key.len] = '\0';
    *slot = (struct acp_map_slot){copy, key.len, hash, value};
    map->count++;
    /* cppcheck-suppress memleak ; the slot has the copy */
    return 0;
}

void *acp_map_remove(struct acp_map *map, struct acp_str key)
{
    if (map->count == 0)
        return NULL;
    size_t mask = map->cap - 1;
    size_t hole = locate(map, hash_of(map, key), key);
    if (!map->slots[hole].key)
        return NULL;
    void *value = map->slots[hole].value;
    free(map->slots[hole].key);
    for (size_t i = (hole + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
        size_t home = map->slots[i].hash & mask;
        /* An entry may move back only as far as its own home. */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (struct acp_map_slot){0};
    map->count--;
    return value;
}

void *acp_map_next(const struct acp_map *map, size_t *cursor, struct acp_str *ret_key)
{
    while (*cursor < map->cap) {
        const struct acp_map_slot *slot = &map->slots[(*cursor)++];
        if (!slot->key)
            continue;
        if (ret_key)
            *ret_key = acp_str_n(slot->key, slot->key_len);
        return slot->value;
    }
    return NULL;
}
