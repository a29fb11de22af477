/*
 * Which lines differ: Myers' O(ND) algorithm in linear space ("An O(ND) Difference Algorithm and
 * Its Variations", 1986), on numbers that stand for lines.
 *
 * Whoever chooses the texts chooses the work too, so three things are bounded: the lines that one
 * lookup is compared with, the rounds of one search for a middle (beyond, the box is cut where the
 * search got furthest), and the steps of all searches (beyond, boxes count as replaced).
 *
 * All memory but the edits is from malloc and freed before the return: the arena of a message
 * would keep it.
 */
#include "base/diff.h"

#include <stdlib.h>

enum {
    MAX_ROUNDS = ACP_DIFF_EXACT / 2, /* each round adds one edit at both ends */
    MAX_CHAIN = 24,                  /* lookups of texts that nobody made for it need 10 at most */
    FIRST_CLASSES = 256,
    CENTER = MAX_ROUNDS + 1,
};

/* Steps of all searches together; some tenths of a second. */
static const int64_t budget_at_start = 128000000;

/* ---- Lines ---------------------------------------------------------------------------------- */

struct side {
    const char *text;
    uint32_t *starts; /* of each line, and the end of the text behind the last */
    uint32_t lines;
    uint32_t first; /* the lines from here ... */
    uint32_t end;   /* ... to here are neither common head nor common tail */
    bool *changed;  /* by line */
    /* Those lines of the middle that the other side has too: their numbers, and where they are. */
    uint32_t *ids;
    uint32_t *at;
    uint32_t count;
};

static struct acp_str line_of(const struct side *side, uint32_t i)
{
    return acp_str_n(side->text + side->starts[i], side->starts[i + 1] - side->starts[i]);
}

static uint32_t count_lines(struct acp_str text)
{
    uint32_t lines = 0;
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end; lines++) {
        const char *newline = memchr(p, '\n', (size_t) (end - p));
        p = newline ? newline + 1 : end;
    }
    return lines;
}

static int split_lines(struct side *side, struct acp_str text)
{
    *side = (struct side){.text = text.ptr};
    if (text.len > ACP_DIFF_MAX_BYTES)
        return ACP_ERR_LIMIT;
    side->lines = text.len ? count_lines(text) : 0;
    side->starts = malloc(((size_t) side->lines + 1) * sizeof(*side->starts));
    side->changed = calloc((size_t) side->lines + 1, sizeof(*side->changed));
    if (!side->starts || !side->changed)
        return ACP_ERR_NOMEM;
    uint32_t at = 0;
    for (uint32_t i = 0; i < side->lines; i++) {
        side->starts[i] = at;
        const char *newline = memchr(text.ptr + at, '\n', text.len - at);
        at = newline ? (uint32_t) (newline + 1 - text.ptr) : (uint32_t) text.len;
    }
    side->starts[side->lines] = at;
    return 0;
}

static void free_side(struct side *side)
{
    free(side->starts);
    free(side->changed);
    free(side->ids);
    free(side->at);
}

static void trim_ends(struct side *old_side, struct side *new_side)
{
    uint32_t least = old_side->lines < new_side->lines ? old_side->lines : new_side->lines;
    uint32_t head = 0;
    while (head < least && acp_str_eq(line_of(old_side, head), line_of(new_side, head)))
        head++;
    uint32_t tail = 0;
    while (tail < least - head && acp_str_eq(line_of(old_side, old_side->lines - 1 - tail),
                                             line_of(new_side, new_side->lines - 1 - tail)))
        tail++;
    old_side->first = head;
    new_side->first = head;
    old_side->end = old_side->lines - tail;
    new_side->end = new_side->lines - tail;
}

/* ---- Classes: a number for each different line ---------------------------------------------- */

enum { IN_OLD = 1, IN_NEW = 2 };

struct class {
    uint32_t hash;
    uint32_t line; /* one of them: on the old side if it is there at all, else on the new one */
    uint32_t next; /* in the chain: index + 1, or 0 */
    uint32_t seen;
};

struct classes {
    const struct side *old_side;
    const struct side *new_side;
    struct class *items;
    uint32_t *heads; /* index + 1 of the first in the chain, or 0; cap of them */
    size_t count;
    size_t cap; /* 0 or a power of two */
};

/* The upper half of a product depends on all bits of its factors, the lower one does not. */
static uint32_t hash_of(struct acp_str line)
{
    const uint64_t factor = 0xd6e8feb86659fd93u;
    uint64_t h = line.len;
    for (size_t i = 0; i < line.len; i += sizeof(h)) {
        uint64_t word = 0;
        memcpy(&word, line.ptr + i, line.len - i < sizeof(word) ? line.len - i : sizeof(word));
        h = (h ^ word) * factor;
        h ^= h >> 32;
    }
    return (uint32_t) (h * factor >> 32);
}

static int grow_classes(struct classes *classes)
{
    size_t cap = classes->cap ? classes->cap * 2 : FIRST_CLASSES;
    struct class *items = realloc(classes->items, cap * sizeof(*items));
    if (!items)
        return ACP_ERR_NOMEM;
    classes->items = items;
    uint32_t *heads = calloc(cap, sizeof(*heads));
    if (!heads)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < classes->count; i++) {
        uint32_t *head = &heads[items[i].hash & (cap - 1)];
        items[i].next = *head;
        *head = (uint32_t) i + 1;
    }
    free(classes->heads);
    classes->heads = heads;
    classes->cap = cap;
    return 0;
}

static struct acp_str class_text(const struct classes *classes, const struct class *c)
{
    return line_of(c->seen & IN_OLD ? classes->old_side : classes->new_side, c->line);
}

/*
 * Equal numbers are equal lines.  That equal lines get equal numbers fails where a chain is longer
 * than only hostile texts make it: then a line is taken for one of its own, which makes the script
 * longer, not wrong.
 */
static int class_of(struct classes *classes, uint32_t line, uint32_t seen, uint32_t *ret)
{
    if (classes->count == classes->cap) {
        int err = grow_classes(classes);
        if (err)
            return err;
    }
    struct acp_str text = line_of(seen == IN_OLD ? classes->old_side : classes->new_side, line);
    uint32_t hash = hash_of(text);
    uint32_t *head = &classes->heads[hash & (classes->cap - 1)];
    unsigned length = 0;
    for (uint32_t i = *head; i && length < MAX_CHAIN; i = classes->items[i - 1].next, length++) {
        struct class *c = &classes->items[i - 1];
        if (c->hash == hash && acp_str_eq(class_text(classes, c), text)) {
            c->seen |= seen;
            *ret = i - 1;
            return 0;
        }
    }
    classes->items[classes->count++] = (struct class){hash, line, *head, seen};
    *head = (uint32_t) classes->count;
    *ret = *head - 1;
    return 0;
}

static int classify(struct side *side, struct classes *classes, uint32_t seen)
{
    size_t room = (size_t) (side->end - side->first) + 1;
    side->ids = malloc(room * sizeof(*side->ids));
    side->at = malloc(room * sizeof(*side->at));
    if (!side->ids || !side->at)
        return ACP_ERR_NOMEM;
    for (uint32_t i = side->first; i < side->end; i++) {
        int err = class_of(classes, i, seen, &side->ids[i - side->first]);
        if (err)
            return err;
    }
    return 0;
}

/* A line that the other side does not have is changed in every script: no need to search for it. */
static void set_apart(struct side *side, const struct classes *classes)
{
    for (uint32_t i = side->first; i < side->end; i++) {
        uint32_t id = side->ids[i - side->first];
        if (classes->items[id].seen != (IN_OLD | IN_NEW)) {
            side->changed[i] = true;
            continue;
        }
        side->ids[side->count] = id;
        side->at[side->count++] = i;
    }
}

/* ---- The search ----------------------------------------------------------------------------- */

/*
 * Diagonals are named k = x - y, with x and y counted from the corner of the box where the
 * direction starts; the arrays hold the furthest x on each.  Index 0 of them is at CENTER.
 */
struct search {
    struct side *old_side;
    struct side *new_side;
    int64_t budget;
    bool capped;
    ptrdiff_t forth[2 * MAX_ROUNDS + 3];
    ptrdiff_t back[2 * MAX_ROUNDS + 3];
};

/* Lines a to a_end of the old side against lines b to b_end of the new one. */
struct box {
    ptrdiff_t a;
    ptrdiff_t a_end;
    ptrdiff_t b;
    ptrdiff_t b_end;
};

struct split {
    ptrdiff_t x;
    ptrdiff_t y;
    bool second_is_short; /* known to have few edits, where the first part may have any number */
};

enum outcome { GOES_ON, MET, SPENT };

/* The last diagonal of round d towards a side of the box that is this far away. */
static ptrdiff_t outermost(ptrdiff_t d, ptrdiff_t limit)
{
    return d <= limit ? d : limit - ((d - limit) & 1);
}

/*
 * Round d of one direction: as far as d edits lead on each diagonal.  The directions meet with an
 * odd number of edits in a step forth, with an even number in a step back.
 *
 * An x may get one beyond the box, but never meets there: that diagonal's neighbour met before.
 */
static enum outcome advance(struct search *s, const struct box *box, bool forth, ptrdiff_t d,
                            struct split *ret)
{
    ptrdiff_t n = box->a_end - box->a;
    ptrdiff_t m = box->b_end - box->b;
    ptrdiff_t step = forth ? 1 : -1;
    const uint32_t *a = s->old_side->ids + (forth ? box->a : box->a_end - 1);
    const uint32_t *b = s->new_side->ids + (forth ? box->b : box->b_end - 1);
    ptrdiff_t *mine = (forth ? s->forth : s->back) + CENTER;
    const ptrdiff_t *theirs = (forth ? s->back : s->forth) + CENTER;
    bool may_meet = (((n + m) & 1) != 0) == forth;
    ptrdiff_t reach = forth ? d - 1 : d;
    ptrdiff_t low = -outermost(d, m);
    ptrdiff_t high = outermost(d, n);
    /* Nothing comes from diagonals that no round has reached, or that are outside of the box. */
    if (low == -d || low == -m)
        mine[low - 1] = -1;
    if (high == d || high == n)
        mine[high + 1] = -1;
    for (ptrdiff_t k = low; k <= high; k += 2) {
        ptrdiff_t from = mine[k - 1] < mine[k + 1] ? mine[k + 1] : mine[k - 1] + 1;
        ptrdiff_t x = from;
        while (x < n && x - k < m && a[x * step] == b[(x - k) * step])
            x++;
        mine[k] = x;
        s->budget -= x - from + 1;
        if (s->budget < 0)
            return SPENT;
        ptrdiff_t z = n - m - k; /* the same diagonal, seen from the other corner */
        if (may_meet && z >= -reach && z <= reach && x + theirs[z] >= n) {
            *ret = (struct split){.x = forth ? x : n - x, .y = forth ? x - k : m - (x - k)};
            return MET;
        }
    }
    return GOES_ON;
}

/* The x with the largest x + y of one direction after the last round, and its y. */
static ptrdiff_t furthest(const ptrdiff_t *mine, ptrdiff_t n, ptrdiff_t m, ptrdiff_t *ret_y)
{
    ptrdiff_t best = 0;
    *ret_y = 0;
    for (ptrdiff_t k = -outermost(MAX_ROUNDS, m); k <= outermost(MAX_ROUNDS, n); k += 2) {
        ptrdiff_t x = mine[k];
        if (x > n || x - k > m || 2 * x - k <= best + *ret_y)
            continue;
        best = x;
        *ret_y = x - k;
    }
    return best;
}

/* A point of the box, which is not empty and has no common ends, that is on a short way through. */
static enum outcome find_split(struct search *s, const struct box *box, struct split *ret)
{
    for (ptrdiff_t d = 0; d <= MAX_ROUNDS; d++) {
        enum outcome outcome = advance(s, box, true, d, ret);
        if (outcome == GOES_ON)
            outcome = advance(s, box, false, d, ret);
        if (outcome != GOES_ON)
            return outcome;
    }
    ptrdiff_t n = box->a_end - box->a;
    ptrdiff_t m = box->b_end - box->b;
    ptrdiff_t y;
    ptrdiff_t y_back;
    ptrdiff_t x = furthest(s->forth + CENTER, n, m, &y);
    ptrdiff_t x_back = furthest(s->back + CENTER, n, m, &y_back);
    s->capped = true;
    *ret = x + y >= x_back + y_back ? (struct split){x, y, false}
                                    : (struct split){n - x_back, m - y_back, true};
    return GOES_ON;
}

static void trim_box(const struct search *s, struct box *box)
{
    const uint32_t *a = s->old_side->ids;
    const uint32_t *b = s->new_side->ids;
    while (box->a < box->a_end && box->b < box->b_end && a[box->a] == b[box->b]) {
        box->a++;
        box->b++;
    }
    while (box->a < box->a_end && box->b < box->b_end && a[box->a_end - 1] == b[box->b_end - 1]) {
        box->a_end--;
        box->b_end--;
    }
}

/* Only boxes with few edits are entered, half of them each time: it gets a dozen calls deep. */
static void compare(struct search *s, struct box box)
{
    for (;;) {
        trim_box(s, &box);
        if (box.a == box.a_end || box.b == box.b_end)
            break;
        struct split at;
        if (s->budget < 0 || find_split(s, &box, &at) == SPENT) {
            s->capped = true;
            break;
        }
        struct box first = {box.a, box.a + at.x, box.b, box.b + at.y};
        struct box second = {box.a + at.x, box.a_end, box.b + at.y, box.b_end};
        compare(s, at.second_is_short ? second : first);
        box = at.second_is_short ? first : second;
    }
    for (ptrdiff_t i = box.a; i < box.a_end; i++)
        s->old_side->changed[s->old_side->at[i]] = true;
    for (ptrdiff_t i = box.b; i < box.b_end; i++)
        s->new_side->changed[s->new_side->at[i]] = true;
}

static int mark_changes(struct side *old_side, struct side *new_side, bool *ret_capped)
{
    struct classes classes = {.old_side = old_side, .new_side = new_side};
    int err = classify(old_side, &classes, IN_OLD);
    if (!err)
        err = classify(new_side, &classes, IN_NEW);
    if (!err) {
        set_apart(old_side, &classes);
        set_apart(new_side, &classes);
    }
    free(classes.items);
    free(classes.heads);
    if (err)
        return err;
    struct search *s = malloc(sizeof(*s));
    if (!s)
        return ACP_ERR_NOMEM;
    s->old_side = old_side;
    s->new_side = new_side;
    s->budget = budget_at_start;
    s->capped = false;
    compare(s, (struct box){0, (ptrdiff_t) old_side->count, 0, (ptrdiff_t) new_side->count});
    *ret_capped = s->capped;
    free(s);
    return 0;
}

/* ---- The script ----------------------------------------------------------------------------- */

/* From the marks to edits; with NULL they are only counted. */
static size_t gather(const struct side *old_side, const struct side *new_side,
                     struct acp_diff_edit *edits)
{
    size_t count = 0;
    uint32_t i = old_side->first;
    uint32_t j = new_side->first;
    while (i < old_side->end || j < new_side->end) {
        struct acp_diff_edit edit = {.old_start = i, .new_start = j};
        for (; i < old_side->end && old_side->changed[i]; i++)
            edit.old_count++;
        for (; j < new_side->end && new_side->changed[j]; j++)
            edit.new_count++;
        if (!edit.old_count && !edit.new_count) {
            i++;
            j++;
            continue;
        }
        if (edits)
            edits[count] = edit;
        count++;
    }
    return count;
}

/* The line that leaves the edit at the top must be the one that enters it at the bottom. */
static bool can_slide(const struct side *side, uint32_t start, uint32_t count)
{
    return start + count < side->lines &&
           acp_str_eq(line_of(side, start), line_of(side, start + count));
}

/*
 * Added and removed lines move down as far as they can, and join the edit that they come to touch:
 * readers expect that a function is added behind the brace of another, not in front of it.
 */
static size_t slide(const struct side *old_side, const struct side *new_side,
                    struct acp_diff_edit *edits, size_t count)
{
    size_t done = 0;
    for (size_t next = 1; next <= count; next++) {
        struct acp_diff_edit *e = &edits[done];
        const struct acp_diff_edit *below = next < count ? &edits[next] : NULL;
        while (!(below && e->old_start + e->old_count == below->old_start) &&
               (e->old_count == 0   ? can_slide(new_side, e->new_start, e->new_count)
                : e->new_count == 0 ? can_slide(old_side, e->old_start, e->old_count)
                                    : false)) {
            e->old_start++;
            e->new_start++;
        }
        if (below && e->old_start + e->old_count == below->old_start) {
            e->old_count += below->old_count;
            e->new_count += below->new_count;
        } else if (below) {
            edits[++done] = *below;
        }
    }
    return count ? done + 1 : 0;
}

static int diff_sides(struct side *old_side, struct side *new_side, struct acp_arena *arena,
                      struct acp_diff_script *ret)
{
    trim_ends(old_side, new_side);
    bool capped = false;
    int err = mark_changes(old_side, new_side, &capped);
    if (err)
        return err;
    size_t count = gather(old_side, new_side, NULL);
    struct acp_diff_edit *edits = NULL;
    if (count) {
        edits = acp_arena_alloc(arena, count * sizeof(*edits));
        if (!edits)
            return ACP_ERR_NOMEM;
        (void) gather(old_side, new_side, edits);
        count = slide(old_side, new_side, edits, count);
    }
    *ret = (struct acp_diff_script){edits, count, old_side->lines, new_side->lines, capped};
    return 0;
}

int acp_diff_lines(struct acp_str old_text, struct acp_str new_text, struct acp_arena *arena,
                   struct acp_diff_script *ret)
{
    struct side old_side;
    struct side new_side = {0};
    int err = split_lines(&old_side, old_text);
    if (!err)
        err = split_lines(&new_side, new_text);
    if (!err)
        err = diff_sides(&old_side, &new_side, arena, ret);
    free_side(&old_side);
    free_side(&new_side);
    return err;
}
