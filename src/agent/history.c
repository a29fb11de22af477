/* history.c - the conversation as the model is told it. */
#include "agent/history.h"

#include <stdlib.h>

/* What models make of text, roughly. */
enum { BYTES_PER_TOKEN = 4, TOKENS_PER_IMAGE = 1500 };

struct history {
    struct model_message *messages;
    struct acp_arena *arenas; /* one for each message, of its parts and texts */
    size_t count;
    size_t cap;
    uint64_t bytes; /* that the model is told, for the estimate of tokens */
    size_t held;    /* bytes in all arenas */
    size_t *total;  /* of these histories together, or NULL */
};

int history_new(size_t *total, struct history **ret)
{
    struct history *history = calloc(1, sizeof(*history));
    if (!history)
        return ACP_ERR_NOMEM;
    history->total = total;
    *ret = history;
    return 0;
}

static void count_held(struct history *history, size_t held)
{
    if (history->total)
        *history->total += held - history->held;
    history->held = held;
}

void history_clear(struct history *history)
{
    for (size_t i = 0; i < history->count; i++)
        acp_arena_finish(&history->arenas[i]);
    history->count = 0;
    history->bytes = 0;
    count_held(history, 0);
}

void history_free(struct history *history)
{
    if (!history)
        return;
    history_clear(history);
    free(history->messages);
    free(history->arenas);
    free(history);
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int grow(struct history *history)
{
    if (history->count < history->cap)
        return 0;
    size_t cap = history->cap ? history->cap * 2 : 8;
    struct model_message *messages = realloc(history->messages, cap * sizeof(*messages));
    if (!messages)
        return ACP_ERR_NOMEM;
    history->messages = messages;
    struct acp_arena *arenas = realloc(history->arenas, cap * sizeof(*arenas));
    if (!arenas)
        return ACP_ERR_NOMEM;
    history->arenas = arenas;
    history->cap = cap;
    return 0;
}

static uint64_t size_of(const struct model_part *part)
{
    bool picture = part->kind == MODEL_IMAGE || part->kind == MODEL_AUDIO;
    return part->text.len + part->arguments.len + part->name.len + part->uri.len +
           (picture ? TOKENS_PER_IMAGE * BYTES_PER_TOKEN : 0);
}

/* Copies a text; false when memory is out. */
static bool keep(struct acp_arena *arena, struct acp_str *text)
{
    if (!text->ptr)
        return true;
    *text = acp_arena_copy(arena, *text);
    return text->ptr != NULL;
}

static bool keep_raw(struct acp_arena *arena, struct acp_raw *raw)
{
    struct acp_str text = {raw->ptr, raw->len};
    bool kept = keep(arena, &text);
    *raw = acp_raw_n(text.ptr, text.len);
    return kept;
}

static bool keep_part(struct acp_arena *arena, struct model_part *part)
{
    return keep(arena, &part->text) && keep(arena, &part->mime) && keep(arena, &part->data) &&
           keep(arena, &part->uri) && keep(arena, &part->id) && keep(arena, &part->name) &&
           keep_raw(arena, &part->arguments) && keep(arena, &part->sealed.api) &&
           keep_raw(arena, &part->sealed.data);
}

static int add(struct history *history, enum model_role role, const struct model_part *parts,
               size_t count)
{
    int err = grow(history);
    if (err)
        return err;
    struct acp_arena *arena = &history->arenas[history->count];
    acp_arena_init(arena, 0);
    struct model_part *copies = acp_arena_alloc(arena, (count + 1) * sizeof(*copies));
    bool kept = copies != NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && kept; i++) {
        copies[i] = parts[i];
        kept = keep_part(arena, &copies[i]);
        bytes += size_of(&copies[i]);
    }
    if (!kept) {
        acp_arena_finish(arena);
        return ACP_ERR_NOMEM;
    }
    history->messages[history->count++] = (struct model_message){role, copies, count};
    history->bytes += bytes;
    count_held(history, history->held + arena->used);
    return 0;
}

/* The bytes that a copy of the parts takes. */
static size_t copied_size(const struct model_part *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += sizeof(parts[i]) + parts[i].text.len + parts[i].mime.len + parts[i].data.len +
                 parts[i].uri.len + parts[i].id.len + parts[i].name.len + parts[i].arguments.len +
                 parts[i].sealed.api.len + parts[i].sealed.data.len;
    return bytes;
}

static size_t room_for(size_t held, size_t most)
{
    return held < most ? most - held : 0;
}

int history_add(struct history *history, enum model_role role, const struct model_part *parts,
                size_t count)
{
    size_t size = copied_size(parts, count);
    if (size > room_for(history->held, HISTORY_MAX_BYTES) ||
        (history->total && size > room_for(*history->total, HISTORY_MAX_TOTAL)))
        return ACP_ERR_LIMIT;
    return add(history, role, parts, count);
}

const char *history_err_text(const struct history *history, int err)
{
    if (err != ACP_ERR_LIMIT)
        return acp_err_text(err);
    /* The others leave little room where this one has enough of its own. */
    return history->total && *history->total - history->held > HISTORY_MAX_TOTAL - HISTORY_MAX_BYTES
               ? "the conversations of all sessions are larger than 512 MiB together; close a "
                 "session that is not needed"
               : "the conversation is larger than 128 MiB; begin a new session";
}

/* ---- Calls and results ----------------------------------------------------------------------- */

static bool has_part(const struct model_message *message, enum model_part_kind kind)
{
    for (size_t i = 0; i < message->part_count; i++)
        if (message->parts[i].kind == kind)
            return true;
    return false;
}

int history_close_calls(struct history *history, struct acp_str why)
{
    if (!history->count)
        return 0;
    const struct model_message *last = &history->messages[history->count - 1];
    struct model_part *results = calloc(last->part_count + 1, sizeof(*results));
    size_t count = 0;
    if (!results)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; last->role == MODEL_ASSISTANT && i < last->part_count; i++)
        if (last->parts[i].kind == MODEL_CALL)
            results[count++] = (struct model_part){.kind = MODEL_RESULT,
                                                   .failed = true,
                                                   .text = why,
                                                   .id = last->parts[i].id,
                                                   .name = last->parts[i].name};
    /* Calls without results could not be sent any more, so these are added beyond the limit. */
    int err = count ? add(history, MODEL_USER, results, count) : 0;
    free(results);
    return err ? err : (int) count;
}

int history_compact(struct history *history, struct acp_str summary, size_t keep_last)
{
    size_t from = history->count > keep_last ? history->count - keep_last : 0;
    while (from && from < history->count && has_part(&history->messages[from], MODEL_RESULT))
        from--;
    struct history *next;
    struct model_part part = {.kind = MODEL_TEXT, .text = summary};
    /* What is kept was counted before; the copy is counted when it takes its place. */
    int err = history_new(NULL, &next);
    if (!err)
        err = history_add(next, MODEL_USER, &part, 1);
    for (size_t i = from; i < history->count && !err; i++)
        err = history_add(next, history->messages[i].role, history->messages[i].parts,
                          history->messages[i].part_count);
    if (!err) {
        struct history old = *history;
        *history = *next;
        *next = old;
        next->total = NULL;
        history->total = old.total;
        if (history->total)
            *history->total += history->held - old.held;
    }
    history_free(next);
    return err;
}

const struct model_message *history_messages(const struct history *history, size_t *ret_count)
{
    *ret_count = history->count;
    return history->messages;
}

uint64_t history_tokens(const struct history *history)
{
    return history->bytes / BYTES_PER_TOKEN;
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [MODEL_TEXT] = "text",         [MODEL_IMAGE] = "image",     [MODEL_AUDIO] = "audio",
    [MODEL_RESOURCE] = "resource", [MODEL_THOUGHT] = "thought", [MODEL_CALL] = "call",
    [MODEL_RESULT] = "result",
};

static void write_text(struct acp_json_writer *w, const char *name, struct acp_str text)
{
    if (!text.ptr)
        return;
    acp_json_write_key(w, acp_str(name));
    acp_json_write_str(w, text);
}

static void write_raw(struct acp_json_writer *w, const char *name, struct acp_raw raw)
{
    if (!raw.ptr)
        return;
    acp_json_write_key(w, acp_str(name));
    acp_json_write_raw(w, raw);
}

static void write_part(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    write_text(w, "kind", acp_str(kind_names[part->kind]));
    write_text(w, "text", part->text);
    write_text(w, "mime", part->mime);
    write_text(w, "data", part->data);
    write_text(w, "uri", part->uri);
    write_text(w, "id", part->id);
    write_text(w, "name", part->name);
    write_raw(w, "arguments", part->arguments);
    write_text(w, "api", part->sealed.api);
    write_raw(w, "sealed", part->sealed.data);
    if (part->failed) {
        acp_json_write_key(w, acp_str("failed"));
        acp_json_write_bool(w, true);
    }
    acp_json_end_object(w);
}

void history_write(const struct model_message *message, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    write_text(w, "role", acp_str(message->role == MODEL_USER ? "user" : "assistant"));
    acp_json_write_key(w, acp_str("parts"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < message->part_count; i++)
        write_part(w, &message->parts[i]);
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static int read_kind(struct acp_json_reader *r, enum model_part_kind *ret)
{
    struct acp_str name;
    int err = acp_json_read_str(r, &name);
    if (err)
        return err;
    for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
        if (!acp_str_is(name, kind_names[i]))
            continue;
        *ret = (enum model_part_kind) i;
        return 0;
    }
    return ACP_ERR_VARIANT;
}

static int read_member(struct acp_json_reader *r, struct acp_str key, struct model_part *part)
{
    const struct {
        const char *name;
        struct acp_str *text;
    } texts[] = {{"text", &part->text},     {"mime", &part->mime}, {"data", &part->data},
                 {"uri", &part->uri},       {"id", &part->id},     {"name", &part->name},
                 {"api", &part->sealed.api}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (acp_str_is(key, texts[i].name))
            return acp_json_read_str(r, texts[i].text);
    if (acp_str_is(key, "kind"))
        return read_kind(r, &part->kind);
    if (acp_str_is(key, "arguments"))
        return acp_json_read_raw(r, &part->arguments);
    if (acp_str_is(key, "sealed"))
        return acp_json_read_raw(r, &part->sealed.data);
    if (acp_str_is(key, "failed"))
        return acp_json_read_bool(r, &part->failed);
    return acp_json_skip(r);
}

static int read_parts(struct acp_json_reader *r, struct acp_arena *arena,
                      struct model_part **ret_parts, size_t *ret_count)
{
    struct model_part *parts = NULL;
    struct acp_str key;
    size_t count = 0;
    int more = acp_json_enter_array(r);
    while (!more && (more = acp_json_next_item(r)) > 0) {
        size_t size = count * sizeof(*parts);
        parts = acp_arena_grow(arena, parts, size, size + sizeof(*parts));
        if (!parts)
            return ACP_ERR_NOMEM;
        struct model_part *part = &parts[count++];
        *part = (struct model_part){0};
        more = acp_json_enter_object(r);
        while (!more && (more = acp_json_next_key(r, &key)) > 0)
            more = read_member(r, key, part);
    }
    *ret_parts = parts;
    *ret_count = count;
    return more;
}

int history_read(struct history *history, struct acp_raw object)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_str role = {0};
    struct model_part *parts = NULL;
    size_t count = 0;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, object, &arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "role"))
            more = acp_json_read_str(&r, &role);
        else if (acp_str_is(key, "parts"))
            more = read_parts(&r, &arena, &parts, &count);
        else
            more = acp_json_skip(&r);
    }
    if (!more)
        more = history_add(history, acp_str_is(role, "user") ? MODEL_USER : MODEL_ASSISTANT, parts,
                           count);
    acp_arena_finish(&arena);
    return more;
}
