/*
 * The search index: whole texts out of the chunks that they came in.
 *
 * A pass reads the events behind indexed_seq and puts texts together; a turn's end completes them.
 * What the last turn has said so far goes into the index too, but is taken out and put together
 * anew by the next pass: only up to indexed_seq is the index final, and seen_seq says how far it
 * has looked.  A pass is one transaction, so a crash leaves the index as it was before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "store/db.h"
#include "store/search_text.h"

/*
 * What one transaction may take: others wait for it.  A pass that is full leaves the turn in which
 * that happens to the next one.  Only a turn that fills a pass alone is cut, and a message that
 * lies across the cut becomes two texts.
 */
enum { PASS_EVENTS = 20000, PASS_BYTES = 8 << 20, TEXT_MAX = 1 << 20 };

/* A text that may still grow. */
struct text {
    struct text *next;
    uint64_t seq; /* of its first event */
    enum store_author author;
    bool prompt; /* the user's own, not the agent's echo */
    struct acp_buf words;
};

struct pass {
    struct store *store;
    int64_t number;
    struct text *first; /* in the order of their first events */
    struct text **end;
    struct acp_map named;  /* those with a key */
    struct text *run;      /* the one that chunks without a key go on with */
    struct acp_buf prompt; /* this turn's, which agents of version 2 repeat */
    size_t bytes;
    uint64_t events;
    uint64_t begin_seq; /* complete before the pass */
    uint64_t final_seq; /* complete up to here */
    uint64_t seen_seq;
    struct acp_arena arena;
    struct acp_buf words;
    struct acp_failure *failure;
};

/* Not an error: the pass has done enough. */
enum { PASS_FULL = 1 };

static void pass_init(struct pass *pass, struct store *store, int64_t number,
                      struct acp_failure *failure)
{
    *pass = (struct pass){.store = store, .number = number, .failure = failure};
    pass->end = &pass->first;
    acp_map_init(&pass->named, 0);
    acp_arena_init(&pass->arena, 0);
    acp_buf_init(&pass->words, TEXT_MAX);
    acp_buf_init(&pass->prompt, TEXT_MAX);
}

static void drop_texts(struct pass *pass)
{
    while (pass->first) {
        struct text *text = pass->first;
        pass->first = text->next;
        acp_buf_finish(&text->words);
        free(text);
    }
    pass->end = &pass->first;
    pass->run = NULL;
    pass->bytes = 0;
    acp_map_finish(&pass->named);
    acp_map_init(&pass->named, 0);
}

static void pass_finish(struct pass *pass)
{
    drop_texts(pass);
    acp_map_finish(&pass->named);
    acp_arena_finish(&pass->arena);
    acp_buf_finish(&pass->words);
    acp_buf_finish(&pass->prompt);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static int insert_text(struct pass *pass, const struct text *text)
{
    struct acp_str words = acp_buf_view(&text->words);
    bool echo = text->author == STORE_USER && !text->prompt &&
                acp_str_eq(words, acp_buf_view(&pass->prompt));
    if (words.len == 0 || echo)
        return 0;
    sqlite3_stmt *statement;
    int err = store_prepare(pass->store, STORE_INSERT_TEXT, &statement, pass->failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(pass->number, text->seq));
    store_bind_str(statement, 2, words);
    store_bind_str(statement, 3, acp_str_from(store_author_name(text->author)));
    return store_run(pass->store, statement, pass->failure);
}

/* All texts are complete. */
static int complete(struct pass *pass)
{
    int err = 0;
    for (const struct text *text = pass->first; text && !err; text = text->next)
        err = insert_text(pass, text);
    drop_texts(pass);
    return err;
}

static struct text *new_text(struct pass *pass, uint64_t seq, enum store_author author)
{
    struct text *text = calloc(1, sizeof(*text));
    if (!text)
        return NULL;
    text->seq = seq;
    text->author = author;
    acp_buf_init(&text->words, TEXT_MAX);
    *pass->end = text;
    pass->end = &text->next;
    return text;
}

/* The text that the words belong to; a new one where there is none yet. */
static struct text *text_for(struct pass *pass, const struct store_said *said, uint64_t seq)
{
    if (!said->key.ptr) {
        if (!pass->run || pass->run->author != said->author || said->whole)
            pass->run = new_text(pass, seq, said->author);
        return pass->run;
    }
    /* Whatever has a key of its own interrupts a run. */
    pass->run = NULL;
    char key[160];
    int n = snprintf(key, sizeof(key), "%d%.*s", (int) said->author,
                     said->key.len < 128 ? (int) said->key.len : 128, said->key.ptr);
    struct acp_str name = acp_str_n(key, (size_t) n);
    struct text *text = acp_map_get(&pass->named, name);
    if (text)
        return text;
    text = new_text(pass, seq, said->author);
    if (text && acp_map_set(&pass->named, name, text))
        return NULL; /* it is in the list and goes with it */
    return text;
}

static int add_words(struct pass *pass, struct text *text, const struct store_said *said)
{
    if (said->whole) {
        pass->bytes -= text->words.len;
        acp_buf_clear(&text->words);
    }
    size_t n = store_fit(said->words, text->words.max - text->words.len);
    pass->bytes += n;
    return acp_buf_append(&text->words, said->words.ptr, n);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int begin_turn(struct pass *pass, const struct store_event *event)
{
    int err = complete(pass);
    pass->final_seq = event->seq - 1;
    acp_buf_clear(&pass->prompt);
    return err;
}

static int take_words(struct pass *pass, const struct store_event *event)
{
    struct store_said said;
    int some = store_said(event, &pass->arena, &pass->words, &said);
    int err = some < 0 ? some : 0;
    if (some > 0) {
        bool prompt = acp_str_is(event->kind, "prompt");
        struct text *text = text_for(pass, &said, event->seq);
        err = text ? add_words(pass, text, &said) : ACP_ERR_NOMEM;
        if (!err && prompt) {
            text->prompt = true;
            err = acp_buf_append_str(&pass->prompt, said.words);
            pass->run = NULL;
        }
    }
    acp_arena_reset(&pass->arena);
    return err ? store_fail(pass->failure, err, "%s", acp_err_text(err)) : 0;
}

static int index_event(const struct store_event *event, void *user)
{
    struct pass *pass = user;
    int err = acp_str_is(event->kind, "prompt") ? begin_turn(pass, event) : 0;
    if (!err)
        err = take_words(pass, event);
    if (err)
        return err;
    pass->seen_seq = event->seq;
    pass->events++;
    bool full = pass->events >= PASS_EVENTS || pass->bytes >= PASS_BYTES;
    bool cut = full && pass->final_seq == pass->begin_seq;
    if (cut || acp_str_is(event->kind, "stop") || acp_str_is(event->kind, "error")) {
        err = complete(pass);
        pass->final_seq = event->seq;
    }
    if (err || !full)
        return err;
    drop_texts(pass);
    pass->seen_seq = pass->final_seq;
    return PASS_FULL;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

struct progress {
    uint64_t indexed_seq;
    uint64_t seen_seq;
    uint64_t last_seq;
};

static int read_progress(struct store *store, int64_t number, struct progress *ret,
                         struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_INDEXED, &statement, failure);
    if (err)
        return err;
    *ret = (struct progress){0}; /* also for a session that was deleted meanwhile */
    (void) sqlite.bind_int64(statement, 1, number);
    int found = store_step(store, statement, failure);
    if (found > 0) {
        ret->indexed_seq = (uint64_t) sqlite.column_int64(statement, 0);
        ret->seen_seq = (uint64_t) sqlite.column_int64(statement, 1);
        ret->last_seq = (uint64_t) sqlite.column_int64(statement, 2);
    }
    (void) sqlite.reset(statement);
    return found < 0 ? found : 0;
}

/* Takes out the preliminary texts. */
static int forget_preliminary(struct store *store, int64_t number, const struct progress *progress,
                              struct acp_failure *failure)
{
    if (progress->seen_seq == progress->indexed_seq)
        return 0;
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_DELETE_TEXTS, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(number, progress->indexed_seq + 1));
    (void) sqlite.bind_int64(statement, 2, store_place(number, STORE_SEQ_MAX));
    return store_run(store, statement, failure);
}

static int write_progress(const struct pass *pass)
{
    sqlite3_stmt *statement;
    int err = store_prepare(pass->store, STORE_UPDATE_INDEXED, &statement, pass->failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, pass->number);
    (void) sqlite.bind_int64(statement, 2, (sqlite3_int64) pass->final_seq);
    (void) sqlite.bind_int64(statement, 3, (sqlite3_int64) pass->seen_seq);
    return store_run(pass->store, statement, pass->failure);
}

/* Within a transaction.  PASS_FULL: there may be more. */
static int run_pass(struct store *store, int64_t number, struct acp_failure *failure)
{
    struct progress progress;
    int err = read_progress(store, number, &progress, failure);
    if (err || progress.seen_seq >= progress.last_seq)
        return err;
    err = forget_preliminary(store, number, &progress, failure);
    if (err)
        return err;
    struct pass pass;
    pass_init(&pass, store, number, failure);
    pass.begin_seq = pass.final_seq = pass.seen_seq = progress.indexed_seq;
    int full = store_each_event(store, number, progress.indexed_seq + 1, progress.last_seq, 0,
                                index_event, &pass, failure);
    err = full < 0 ? full : complete(&pass);
    if (full == 0)
        pass.seen_seq = progress.last_seq;
    if (!err)
        err = write_progress(&pass);
    pass_finish(&pass);
    return err ? err : full;
}

int store_index_session(struct store *store, int64_t number, struct acp_failure *failure)
{
    int err = store_begin(store, failure);
    if (err)
        return err;
    int full = run_pass(store, number, failure);
    err = store_end(store, full < 0 ? full : 0, failure);
    return err ? err : full;
}

int store_index_all(struct store *store, struct acp_failure *failure)
{
    for (;;) {
        sqlite3_stmt *statement;
        int err = store_prepare(store, STORE_SELECT_UNINDEXED, &statement, failure);
        if (err)
            return err;
        int found = store_step(store, statement, failure);
        int64_t number = found > 0 ? sqlite.column_int64(statement, 0) : 0;
        (void) sqlite.reset(statement);
        if (found <= 0)
            return found;
        err = store_index_session(store, number, failure);
        if (err < 0)
            return err;
    }
}
