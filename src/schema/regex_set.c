/* Sets of characters, and those that have a name of their own. */
#include "schema/regex_program.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sorted, so that their opposites are the gaps. */
static const struct regex_range digits[] = {{'0', '9'}};
static const struct regex_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct regex_range spaces[] = {
    {'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
    {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
};
static const struct regex_range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

int regex_set_add(struct regex_set *set, struct acp_arena *arena, uint32_t low, uint32_t high)
{
    if (set->count == set->room) {
        size_t room = set->room ? set->room * 2 : 4;
        struct regex_range *ranges =
            acp_arena_grow(arena, set->ranges, set->room * sizeof(*ranges), room * sizeof(*ranges));
        if (!ranges)
            return ACP_ERR_NOMEM;
        set->ranges = ranges;
        set->room = room;
    }
    set->ranges[set->count++] = (struct regex_range){low, high};
    return 0;
}

static int add_ranges(struct regex_set *set, struct acp_arena *arena,
                      const struct regex_range *ranges, size_t count)
{
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = regex_set_add(set, arena, ranges[i].low, ranges[i].high);
    return err;
}

static int add_gaps(struct regex_set *set, struct acp_arena *arena,
                    const struct regex_range *ranges, size_t count)
{
    int err = 0;
    uint32_t low = 0;
    for (size_t i = 0; !err && i < count; i++) {
        if (ranges[i].low > low)
            err = regex_set_add(set, arena, low, ranges[i].low - 1);
        low = ranges[i].high + 1;
    }
    return err ? err : regex_set_add(set, arena, low, REGEX_LAST_CHARACTER);
}

int regex_set_add_class(struct regex_set *set, struct acp_arena *arena, char letter)
{
    switch (letter) {
    case 'd':
        return add_ranges(set, arena, digits, COUNT(digits));
    case 'D':
        return add_gaps(set, arena, digits, COUNT(digits));
    case 'w':
        return add_ranges(set, arena, words, COUNT(words));
    case 'W':
        return add_gaps(set, arena, words, COUNT(words));
    case 's':
        return add_ranges(set, arena, spaces, COUNT(spaces));
    case 'S':
        return add_gaps(set, arena, spaces, COUNT(spaces));
    case '.':
        return add_gaps(set, arena, line_ends, COUNT(line_ends));
    default:
        return ACP_ERR_ARGUMENT;
    }
}

bool regex_set_has(const struct regex_set *set, uint32_t code)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->ranges[i].low <= code && code <= set->ranges[i].high)
            return !set->negated;
    return set->negated;
}

bool regex_is_word(uint32_t code)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (words[i].low <= code && code <= words[i].high)
            return true;
    return false;
}
