/*
 * From the tree to a program, and its run over a text.  The run keeps the set of all steps that the
 * program could be at and moves them together, one character at a time: there is nothing to go
 * back to, so no text and no pattern makes it slow.
 */
#include "schema/regex.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "schema/regex_program.h"

/* ---- Writing the program -------------------------------------------------------------------- */

struct emitter {
    struct acp_arena *arena;
    struct schema_regex *regex;
    size_t room;
};

/* The end of a list of steps whose targets are not known yet. */
#define NO_STEP UINT32_MAX

static int emit(struct emitter *e, const struct regex_piece *piece);

static int emit_step(struct emitter *e, enum regex_step_kind kind, uint32_t code,
                     const struct regex_set *set)
{
    struct schema_regex *regex = e->regex;
    if (regex->count == SCHEMA_REGEX_MAX_STEPS)
        return ACP_ERR_LIMIT;
    if (regex->count == e->room) {
        size_t room = e->room ? e->room * 2 : 16;
        struct regex_step *steps =
            acp_arena_grow(e->arena, regex->steps, e->room * sizeof(*steps), room * sizeof(*steps));
        if (!steps)
            return ACP_ERR_NOMEM;
        regex->steps = steps;
        e->room = room;
    }
    regex->steps[regex->count++] = (struct regex_step){kind, {code}, set};
    return 0;
}

static uint32_t here(const struct emitter *e)
{
    return (uint32_t) e->regex->count;
}

/* A step with a target to come; until then it holds the one before it in the list. */
static int emit_pending(struct emitter *e, enum regex_step_kind kind, uint32_t *list)
{
    int err = emit_step(e, kind, *list, NULL);
    if (!err)
        *list = here(e) - 1;
    return err;
}

/* All steps of the list go on here. */
static void land(struct emitter *e, uint32_t list)
{
    while (list != NO_STEP) {
        uint32_t before = e->regex->steps[list].is.to;
        e->regex->steps[list].is.to = here(e);
        list = before;
    }
}

static int emit_choice(struct emitter *e, const struct regex_piece *piece)
{
    uint32_t ends = NO_STEP;
    int err = 0;
    for (const struct regex_piece *part = piece->parts; !err && part; part = part->next) {
        uint32_t other = NO_STEP;
        if (part->next)
            err = emit_pending(e, STEP_SPLIT, &other);
        if (!err)
            err = emit(e, part);
        if (!err && part->next)
            err = emit_pending(e, STEP_JUMP, &ends);
        if (!err)
            land(e, other);
    }
    if (!err)
        land(e, ends);
    return err;
}

static int emit_repeat(struct emitter *e, const struct regex_piece *piece)
{
    uint32_t ends = NO_STEP;
    int err = 0;
    for (uint32_t i = 0; !err && i < piece->min; i++) {
        uint32_t before = here(e);
        err = emit(e, piece->parts);
        if (!err && here(e) == before)
            return 0; /* of nothing, any number is the same */
    }
    if (!err && piece->max == REGEX_NO_MAX) {
        uint32_t again = here(e);
        err = emit_pending(e, STEP_SPLIT, &ends);
        if (!err)
            err = emit(e, piece->parts);
        if (!err)
            err = emit_step(e, STEP_JUMP, again, NULL);
    } else {
        for (uint32_t i = piece->min; !err && i < piece->max; i++) {
            err = emit_pending(e, STEP_SPLIT, &ends);
            if (!err)
                err = emit(e, piece->parts);
        }
    }
    if (!err)
        land(e, ends);
    return err;
}

/* Recursive; the parser limits the depth. */
static int emit(struct emitter *e, const struct regex_piece *piece)
{
    int err = 0;
    switch (piece->kind) {
    case REGEX_SEQUENCE:
        for (const struct regex_piece *part = piece->parts; !err && part; part = part->next)
            err = emit(e, part);
        return err;
    case REGEX_CHOICE:
        return emit_choice(e, piece);
    case REGEX_REPEAT:
        return emit_repeat(e, piece);
    case REGEX_CHARACTER:
        return emit_step(e, STEP_CHARACTER, piece->code, NULL);
    case REGEX_SET:
        return emit_step(e, STEP_SET, 0, piece->set);
    case REGEX_ASSERTION:
        return emit_step(e, STEP_ASSERTION, piece->code, NULL);
    }
    return ACP_ERR_STATE;
}

int schema_regex_compile(struct acp_str pattern, struct acp_arena *arena, struct schema_regex **ret,
                         struct acp_failure *failure)
{
    struct regex_piece *tree = NULL;
    struct acp_failure why = {0};
    struct emitter e = {.arena = arena, .regex = acp_arena_alloc(arena, sizeof(*e.regex))};
    int err = e.regex ? regex_parse(pattern, arena, &tree, &why) : ACP_ERR_NOMEM;
    if (!err)
        err = emit(&e, tree);
    if (!err)
        err = emit_step(&e, STEP_MATCH, 0, NULL);
    if (err == ACP_ERR_LIMIT) {
        err = ACP_ERR_ARGUMENT;
        (void) snprintf(why.message, sizeof(why.message),
                        "the pattern repeats too much; together it may be %d characters",
                        SCHEMA_REGEX_MAX_STEPS);
    }
    if (err) {
        why.err = err;
        if (!*why.message)
            (void) snprintf(why.message, sizeof(why.message), "%s", acp_err_text(err));
        if (failure)
            *failure = why;
        return err;
    }
    const struct regex_step *first = &e.regex->steps[0];
    e.regex->anchored = first->kind == STEP_ASSERTION && first->is.code == '^';
    *ret = e.regex;
    return 0;
}

/* ---- Searching ------------------------------------------------------------------------------ */

/* What a search is at: three arrays of as many numbers as there are steps, one after the other. */
struct search {
    const struct schema_regex *regex;
    uint32_t *marks;  /* the turn in which a step was last met */
    uint32_t *active; /* the steps that want a character now */
    uint32_t *todo;   /* those to be looked at for this place, last first */
    size_t active_count;
    size_t todo_count;
    uint32_t turn;
    uint32_t before; /* the characters around the place; NONE at the ends of the text */
    uint32_t behind;
};

#define NONE UINT32_MAX

void schema_regex_scratch_init(struct schema_regex_scratch *scratch)
{
    *scratch = (struct schema_regex_scratch){0};
}

void schema_regex_scratch_finish(struct schema_regex_scratch *scratch)
{
    free(scratch->memory);
    schema_regex_scratch_init(scratch);
}

static int make_room(struct schema_regex_scratch *scratch, size_t steps)
{
    if (scratch->room >= steps)
        return 0;
    uint32_t *memory = calloc(steps * 3, sizeof(*memory));
    if (!memory)
        return ACP_ERR_NOMEM;
    free(scratch->memory);
    *scratch = (struct schema_regex_scratch){.memory = memory, .room = steps};
    return 0;
}

/* A new turn, in which no step was met yet. */
static void begin_turn(struct search *s, struct schema_regex_scratch *scratch)
{
    if (scratch->turn == UINT32_MAX) {
        memset(s->marks, 0, scratch->room * sizeof(*s->marks));
        scratch->turn = 0;
    }
    s->turn = ++scratch->turn;
}

static void meet(struct search *s, uint32_t step)
{
    if (s->marks[step] == s->turn)
        return;
    s->marks[step] = s->turn;
    s->todo[s->todo_count++] = step;
}

static bool holds(const struct search *s, uint32_t assertion)
{
    if (assertion == '^')
        return s->before == NONE;
    if (assertion == '$')
        return s->behind == NONE;
    bool boundary = (s->before != NONE && regex_is_word(s->before)) !=
                    (s->behind != NONE && regex_is_word(s->behind));
    return boundary == (assertion == 'b');
}

/* Follows the steps that take no character; true when the end of the program is among them. */
static bool follow(struct search *s, uint64_t *work)
{
    while (s->todo_count > 0) {
        uint32_t at = s->todo[--s->todo_count];
        const struct regex_step *step = &s->regex->steps[at];
        ++*work;
        switch (step->kind) {
        case STEP_MATCH:
            return true;
        case STEP_CHARACTER:
        case STEP_SET:
            s->active[s->active_count++] = at;
            break;
        case STEP_ASSERTION:
            if (holds(s, step->is.code))
                meet(s, at + 1);
            break;
        case STEP_SPLIT:
            meet(s, step->is.to);
            meet(s, at + 1);
            break;
        case STEP_JUMP:
            meet(s, step->is.to);
            break;
        }
    }
    return false;
}

/* Takes the character behind the place: the steps that it suits go on. */
static void take(struct search *s, uint64_t *work)
{
    size_t count = s->active_count;
    s->active_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct regex_step *step = &s->regex->steps[s->active[i]];
        bool suits = step->kind == STEP_CHARACTER ? step->is.code == s->behind
                                                  : regex_set_has(step->set, s->behind);
        *work += 1 + (step->kind == STEP_SET ? step->set->count : 0);
        if (suits)
            meet(s, s->active[i] + 1);
    }
}

/* The character at *at, which moves behind it.  Bytes that are not UTF-8 read as U+FFFD. */
static uint32_t next_character(const char **at, const char *end)
{
    if (*at >= end)
        return NONE;
    size_t n = acp_utf8_length(*at, end);
    uint32_t code = n ? acp_utf8_code(*at, n) : ACP_UTF8_REPLACEMENT;
    *at += n ? n : 1;
    return code;
}

int schema_regex_search(const struct schema_regex *regex, struct acp_str text,
                        struct schema_regex_scratch *scratch, uint64_t *left)
{
    int err = make_room(scratch, regex->count);
    if (err)
        return err;
    struct search s = {.regex = regex,
                       .marks = scratch->memory,
                       .active = scratch->memory + scratch->room,
                       .todo = scratch->memory + 2 * scratch->room,
                       .before = NONE};
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    s.behind = next_character(&at, end);
    begin_turn(&s, scratch);
    for (;;) {
        uint64_t work = 0;
        if (s.before == NONE || !regex->anchored)
            meet(&s, 0);
        bool found = follow(&s, &work);
        bool over = found || s.behind == NONE || (regex->anchored && s.active_count == 0);
        begin_turn(&s, scratch);
        if (!over)
            take(&s, &work);
        if (work > *left)
            return ACP_ERR_LIMIT;
        *left -= work;
        if (over)
            return found;
        s.before = s.behind;
        s.behind = next_character(&at, end);
    }
}
