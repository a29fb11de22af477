/* undo.c - the journal: a list of turns, newest first, each with its files. */
#include "agent/toolkit/undo.h"

#include <stdlib.h>

#include "base/copy.h"

struct undo_turn {
    struct undo_turn *older;
    struct undo_file *files; /* owned, with their texts */
    size_t count;
    size_t room;
    size_t lost;
};

/* ---- Marks ---------------------------------------------------------------------------------- */

/* FNV-1a: detects changes, not attacks. */
struct undo_mark undo_mark(struct acp_str text)
{
    struct undo_mark mark = {.there = text.ptr != NULL, .len = text.len};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; text.ptr && i < text.len; i++)
        hash = (hash ^ (unsigned char) text.ptr[i]) * UINT64_C(0x100000001b3);
    mark.hash = hash;
    return mark;
}

bool undo_same(struct undo_mark a, struct undo_mark b)
{
    return a.there == b.there && (!a.there || (a.len == b.len && a.hash == b.hash));
}

/* ---- Turns ---------------------------------------------------------------------------------- */

static void free_turn(struct undo *journal, struct undo_turn *turn)
{
    for (size_t i = 0; i < turn->count; i++) {
        journal->bytes -= turn->files[i].old_text.len;
        free((void *) (uintptr_t) turn->files[i].path.ptr);
        free((void *) (uintptr_t) turn->files[i].old_text.ptr);
    }
    free(turn->files);
    free(turn);
}

void undo_init(struct undo *journal, size_t max_bytes)
{
    *journal = (struct undo){.max_bytes = max_bytes ? max_bytes : UNDO_MAX_BYTES};
}

static struct undo_turn *pop(struct undo *journal)
{
    struct undo_turn *turn = journal->turns;
    if (turn)
        journal->turns = turn->older;
    return turn;
}

void undo_finish(struct undo *journal)
{
    struct undo_turn *turn;
    while ((turn = pop(journal)))
        free_turn(journal, turn);
}

/* Drops the oldest turn, but not the newest; false if there is no other. */
static bool forget_oldest(struct undo *journal)
{
    struct undo_turn **at = &journal->turns;
    if (!*at || !(*at)->older)
        return false;
    while ((*at)->older)
        at = &(*at)->older;
    struct undo_turn *oldest = *at;
    *at = NULL;
    free_turn(journal, oldest);
    return true;
}

void undo_begin(struct undo *journal)
{
    journal->begun = true;
}

/* The current turn.  NULL if out of memory and there is no earlier one. */
static struct undo_turn *current(struct undo *journal)
{
    if (journal->turns && !journal->begun)
        return journal->turns;
    struct undo_turn *turn = calloc(1, sizeof(*turn));
    if (!turn)
        return journal->turns; /* what is recorded belongs to the turn before */
    turn->older = journal->turns;
    journal->turns = turn;
    journal->begun = false;
    size_t turns = 0;
    for (const struct undo_turn *t = turn; t; t = t->older)
        turns++;
    while (turns-- > UNDO_MAX_TURNS)
        (void) forget_oldest(journal);
    return turn;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static struct undo_file *find(struct undo_turn *turn, struct acp_str path)
{
    for (size_t i = 0; i < turn->count; i++)
        if (acp_str_eq(turn->files[i].path, path))
            return &turn->files[i];
    return NULL;
}

static struct undo_file *make_room(struct undo_turn *turn)
{
    if (turn->count == UNDO_MAX_FILES)
        return NULL;
    if (turn->count == turn->room) {
        size_t room = turn->room ? turn->room * 2 : 8;
        struct undo_file *files = realloc(turn->files, room * sizeof(struct undo_file));
        if (!files)
            return NULL;
        turn->files = files;
        turn->room = room;
    }
    return &turn->files[turn->count];
}

/* A file that the turn has not changed before. */
static bool keep(struct undo *journal, struct undo_turn *turn, struct acp_str path,
                 struct acp_str old_text, mode_t mode)
{
    while (journal->bytes + old_text.len > journal->max_bytes && forget_oldest(journal))
        continue;
    struct undo_file *file = make_room(turn);
    if (!file || journal->bytes + old_text.len > journal->max_bytes)
        return false;
    char *path_copy = acp_str_copy(path);
    char *text_copy = old_text.ptr ? acp_str_copy(old_text) : NULL;
    if (!path_copy || (old_text.ptr && !text_copy)) {
        free(path_copy);
        free(text_copy);
        return false;
    }
    *file = (struct undo_file){.path = acp_str_n(path_copy, path.len),
                               .old_text = acp_str_n(text_copy, old_text.len),
                               .mode = mode};
    turn->count++;
    journal->bytes += old_text.len;
    return true;
}

void undo_note(struct undo *journal, struct acp_str path, struct acp_str old_text, mode_t mode,
               struct acp_str new_text)
{
    struct undo_turn *turn = current(journal);
    if (!turn)
        return;
    struct undo_file *file = find(turn, path);
    if (!file && keep(journal, turn, path, old_text, mode))
        file = &turn->files[turn->count - 1];
    if (file)
        file->left = undo_mark(new_text);
    else
        turn->lost++;
}

size_t undo_count(const struct undo *journal)
{
    const struct undo_turn *turn = journal->turns;
    return turn ? turn->count : 0;
}

const struct undo_file *undo_at(const struct undo *journal, size_t index)
{
    const struct undo_turn *turn = journal->turns;
    return turn && index < turn->count ? &turn->files[index] : NULL;
}

size_t undo_lost(const struct undo *journal)
{
    const struct undo_turn *turn = journal->turns;
    return turn ? turn->lost : 0;
}

void undo_drop(struct undo *journal)
{
    struct undo_turn *turn = pop(journal);
    if (turn)
        free_turn(journal, turn);
}
