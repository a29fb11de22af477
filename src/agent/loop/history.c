/*
 * history.c - the conversation with the model.
 *
 * Each message is one block of memory, with its parts in a row and only the fields that each part
 * has.  A struct model_part is larger than most parts, so they are unpacked while they are needed.
 */
#include "agent/loop/history.h"

#include <stddef.h>
#include <stdlib.h>

/* Estimates. */
enum { BYTES_PER_TOKEN = 4, TOKENS_PER_IMAGE = 1500 };

/* A message; its parts follow. */
struct packed {
    uint32_t size; /* of the parts, in bytes */
    uint32_t part_count;
    uint32_t weight; /* bytes that are sent, for the estimate of tokens */
    enum model_role role;
};

struct history {
    struct packed **messages;
    size_t count;
    size_t cap;
    uint64_t weight; /* of all messages */
    size_t held;     /* bytes of all messages */
    size_t *total;   /* bytes of all histories that share it, or NULL */
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

static void set_held(struct history *history, size_t held)
{
    if (history->total)
        *history->total += held - history->held;
    history->held = held;
}

void history_truncate(struct history *history, size_t count)
{
    while (history->count > count) {
        struct packed *last = history->messages[--history->count];
        history->weight -= last->weight;
        set_held(history, history->held - last->size);
        free(last);
    }
}

void history_clear(struct history *history)
{
    history_truncate(history, 0);
}

void history_free(struct history *history)
{
    if (!history)
        return;
    history_clear(history);
    free(history->messages);
    free(history);
}

size_t history_count(const struct history *history)
{
    return history->count;
}

uint64_t history_tokens(const struct history *history)
{
    return history->weight / BYTES_PER_TOKEN;
}

const char *history_err_text(const struct history *history, int err)
{
    if (err != ACP_ERR_LIMIT)
        return acp_err_text(err);
    /* The total is the limit that is reached, not that of this history. */
    return history->total && *history->total - history->held > HISTORY_MAX_TOTAL - HISTORY_MAX_BYTES
               ? "the conversations of all sessions are larger than 512 MiB together; close a "
                 "session that is not needed"
               : "the conversation is larger than 128 MiB; begin a new session";
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* The texts of a part.  Raw JSON has the same two members under another type. */
static const size_t fields[] = {
    offsetof(struct model_part, text),       offsetof(struct model_part, mime),
    offsetof(struct model_part, data),       offsetof(struct model_part, uri),
    offsetof(struct model_part, id),         offsetof(struct model_part, name),
    offsetof(struct model_part, arguments),  offsetof(struct model_part, sealed.api),
    offsetof(struct model_part, sealed.data)};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]), HEAD = 4, LENGTH_MAX = 5 };
_Static_assert(sizeof(struct acp_raw) == sizeof(struct acp_str) &&
                   offsetof(struct acp_raw, ptr) == offsetof(struct acp_str, ptr) &&
                   offsetof(struct acp_raw, len) == offsetof(struct acp_str, len),
               "texts and raw JSON are packed alike");

static struct acp_str get_field(const struct model_part *part, size_t field)
{
    struct acp_str text;
    memcpy(&text, (const char *) part + fields[field], sizeof(text));
    return text;
}

static void set_field(struct model_part *part, size_t field, struct acp_str text)
{
    memcpy((char *) part + fields[field], &text, sizeof(text));
}

/* Seven bits in each byte, the lowest first. */
static size_t put_length(unsigned char *out, size_t length)
{
    size_t n = 0;
    for (; length > 0x7f; length >>= 7)
        out[n++] = (unsigned char) (length | 0x80);
    out[n++] = (unsigned char) length;
    return n;
}

static size_t get_length(const unsigned char *in, size_t *ret)
{
    size_t n = 0;
    *ret = 0;
    do
        *ret |= (size_t) (in[n] & 0x7f) << 7 * n;
    while (in[n++] & 0x80);
    return n;
}

static size_t packed_size(const struct model_part *part)
{
    unsigned char length[LENGTH_MAX + 5];
    size_t size = HEAD;
    for (size_t i = 0; i < FIELDS; i++) {
        struct acp_str text = get_field(part, i);
        if (text.ptr)
            size += put_length(length, text.len) + text.len + 1;
    }
    return size;
}

/* Kind, whether it has failed, which fields there are; then the fields, each followed by a NUL. */
static unsigned char *pack_part(unsigned char *out, const struct model_part *part)
{
    unsigned char *head = out;
    unsigned mask = 0;
    out += HEAD;
    for (size_t i = 0; i < FIELDS; i++) {
        struct acp_str text = get_field(part, i);
        if (!text.ptr)
            continue;
        mask |= 1u << i;
        out += put_length(out, text.len);
        memcpy(out, text.ptr, text.len);
        out[text.len] = '\0';
        out += text.len + 1;
    }
    head[0] = (unsigned char) part->kind;
    head[1] = part->failed;
    head[2] = (unsigned char) (mask & 0xff);
    head[3] = (unsigned char) (mask >> 8);
    return out;
}

static const unsigned char *unpack_part(const unsigned char *in, struct model_part *ret)
{
    unsigned mask = in[2] | (unsigned) in[3] << 8;
    *ret = (struct model_part){.kind = (enum model_part_kind) in[0], .failed = in[1] != 0};
    in += HEAD;
    for (size_t i = 0; i < FIELDS; i++) {
        size_t length;
        if (!(mask & 1u << i))
            continue;
        in += get_length(in, &length);
        set_field(ret, i, acp_str_n((const char *) in, length));
        in += length + 1;
    }
    return in;
}

static uint32_t weight_of(const struct model_part *part)
{
    bool picture = part->kind == MODEL_IMAGE || part->kind == MODEL_AUDIO;
    return (uint32_t) (part->text.len + part->arguments.len + part->name.len + part->uri.len +
                       (picture ? TOKENS_PER_IMAGE * BYTES_PER_TOKEN : 0));
}

/* NULL if out of memory. */
static struct packed *pack(enum model_role role, const struct model_part *parts, size_t count,
                           size_t size)
{
    struct packed *message = malloc(sizeof(*message) + size);
    if (!message)
        return NULL;
    *message = (struct packed){.size = (uint32_t) size, .role = role};
    message->part_count = (uint32_t) count;
    unsigned char *out = (unsigned char *) (message + 1);
    for (size_t i = 0; i < count; i++) {
        out = pack_part(out, &parts[i]);
        message->weight += weight_of(&parts[i]);
    }
    return message;
}

/* ret has room for the parts. */
static void unpack(const struct packed *message, struct model_part *ret)
{
    const unsigned char *in = (const unsigned char *) (message + 1);
    for (size_t i = 0; i < message->part_count; i++)
        in = unpack_part(in, &ret[i]);
}

struct model_message *history_messages(const struct history *history, size_t first,
                                       struct acp_arena *arena)
{
    size_t count = history->count > first ? history->count - first : 0;
    struct model_message *messages = acp_arena_alloc(arena, (count + 1) * sizeof(*messages));
    for (size_t i = 0; messages && i < count; i++) {
        const struct packed *packed = history->messages[first + i];
        size_t size = (packed->part_count + (size_t) 1) * sizeof(struct model_part);
        struct model_part *parts = acp_arena_alloc(arena, size);
        if (!parts)
            return NULL;
        unpack(packed, parts);
        messages[i] = (struct model_message){packed->role, parts, packed->part_count};
    }
    return messages;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int grow(struct history *history)
{
    if (history->count < history->cap)
        return 0;
    size_t cap = history->cap ? history->cap + history->cap / 2 : 8;
    struct packed **messages = realloc(history->messages, cap * sizeof(struct packed *));
    if (!messages)
        return ACP_ERR_NOMEM;
    history->messages = messages;
    history->cap = cap;
    return 0;
}

/* Whether adding this would exceed the limit of the history, or that of the total. */
static bool is_beyond(const struct history *history, size_t size, size_t limit)
{
    if (limit == SIZE_MAX)
        return false;
    return history->held + size > limit ||
           (history->total && *history->total + size > HISTORY_MAX_TOTAL);
}

/* Adds a message that is valid in this place, unless the history would exceed limit bytes. */
static int append(struct history *history, enum model_role role, const struct model_part *parts,
                  size_t count, size_t limit)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += packed_size(&parts[i]);
    if (!count)
        return 0;
    if (size > UINT32_MAX / 2 || is_beyond(history, size, limit))
        return ACP_ERR_LIMIT;
    int err = grow(history);
    struct packed *message = err ? NULL : pack(role, parts, count, size);
    if (!message)
        return ACP_ERR_NOMEM;
    history->messages[history->count++] = message;
    history->weight += message->weight;
    set_held(history, history->held + size);
    return 0;
}

/* ---- Calls and results ----------------------------------------------------------------------- */

static const char interrupted[] = "This was not run: the turn was interrupted.";

static const struct model_part *find(const struct model_part *parts, size_t count,
                                     enum model_part_kind kind, struct acp_str id)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind == kind && acp_str_eq(parts[i].id, id))
            return &parts[i];
    return NULL;
}

static struct model_part failed_result(const struct model_part *call, struct acp_str why)
{
    return (struct model_part){
        .kind = MODEL_RESULT, .failed = true, .text = why, .id = call->id, .name = call->name};
}

/* The calls of the last message, unpacked, to be freed by the caller.  NULL if there are none. */
static int open_calls(const struct history *history, struct model_part **ret, size_t *ret_count)
{
    const struct packed *last = history->count ? history->messages[history->count - 1] : NULL;
    *ret = NULL;
    *ret_count = 0;
    if (!last || last->role != MODEL_ASSISTANT)
        return 0;
    struct model_part *parts = calloc(last->part_count + (size_t) 1, sizeof(*parts));
    if (!parts)
        return ACP_ERR_NOMEM;
    unpack(last, parts);
    for (size_t i = 0; i < last->part_count; i++)
        if (parts[i].kind == MODEL_CALL)
            parts[(*ret_count)++] = parts[i];
    *ret = parts;
    return 0;
}

int history_close_calls(struct history *history, struct acp_str why)
{
    struct model_part *calls;
    size_t count;
    int err = open_calls(history, &calls, &count);
    for (size_t i = 0; i < count; i++)
        calls[i] = failed_result(&calls[i], why);
    /* Without results the calls could not be sent, so these may exceed the limit. */
    if (!err)
        err = append(history, MODEL_USER, calls, count, SIZE_MAX);
    free(calls);
    return err ? err : (int) count;
}

/* Services refuse empty texts; a sealed one means something to the service that made it. */
static bool is_empty(const struct model_part *part)
{
    return part->kind == MODEL_TEXT && !part->text.len && !part->sealed.api.ptr;
}

static bool may_have(enum model_role role, enum model_part_kind kind)
{
    return role == MODEL_USER ? kind != MODEL_CALL && kind != MODEL_THOUGHT : kind != MODEL_RESULT;
}

/*
 * The parts to add: first a result for each of the calls, then the rest.  kept has room for all of
 * them.
 */
static size_t arrange(enum model_role role, const struct model_part *parts, size_t count,
                      const struct model_part *calls, size_t call_count, struct model_part *kept)
{
    size_t n = 0;
    for (size_t i = 0; i < call_count; i++) {
        const struct model_part *result = find(parts, count, MODEL_RESULT, calls[i].id);
        kept[n++] = result ? *result : failed_result(&calls[i], acp_str_from(interrupted));
    }
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind != MODEL_RESULT && may_have(role, parts[i].kind) && !is_empty(&parts[i]))
            kept[n++] = parts[i];
    /* Services refuse thoughts at the end, where an answer broke off. */
    while (role == MODEL_ASSISTANT && n && kept[n - 1].kind == MODEL_THOUGHT)
        n--;
    return n;
}

static bool has_kind(const struct model_part *parts, size_t count, enum model_part_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind == kind)
            return true;
    return false;
}

int history_add(struct history *history, enum model_role role, const struct model_part *parts,
                size_t count)
{
    struct model_part *calls = NULL;
    size_t call_count = 0;
    bool answers = role == MODEL_USER && has_kind(parts, count, MODEL_RESULT);
    int err = 0;
    if (!answers && history_close_calls(history, acp_str_from(interrupted)) < 0)
        return ACP_ERR_NOMEM;
    if (answers)
        err = open_calls(history, &calls, &call_count);
    struct model_part *kept = err ? NULL : calloc(count + call_count + 1, sizeof(*kept));
    if (kept) {
        size_t n = arrange(role, parts, count, calls, call_count, kept);
        err = append(history, role, kept, n, HISTORY_MAX_BYTES);
    } else {
        err = ACP_ERR_NOMEM;
    }
    free(kept);
    free(calls);
    return err;
}

/* ---- Shorter --------------------------------------------------------------------------------- */

static bool has_results(const struct packed *message)
{
    struct model_part part;
    const unsigned char *in = (const unsigned char *) (message + 1);
    for (size_t i = 0; i < message->part_count; i++) {
        in = unpack_part(in, &part);
        if (part.kind == MODEL_RESULT)
            return true;
    }
    return false;
}

/* Takes the messages of the other one unless err says that making it has failed; frees it. */
static int take_over(struct history *history, struct history *other, int err)
{
    struct history old = *history;
    if (!err) {
        size_t held = other->held;
        *history = *other;
        history->total = old.total;
        history->held = old.held;
        set_held(history, held);
        old.total = NULL;
        *other = old;
    }
    history_free(other);
    return err;
}

int history_compact(struct history *history, struct acp_str summary, size_t keep)
{
    size_t from = history->count > keep ? history->count - keep : 0;
    struct model_part part = {.kind = MODEL_TEXT, .text = summary};
    struct history *next;
    while (from && from < history->count && has_results(history->messages[from]))
        from--;
    int err = history_new(NULL, &next);
    if (err)
        return err;
    err = append(next, MODEL_USER, &part, 1, HISTORY_MAX_BYTES);
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const struct model_message *messages = history_messages(history, from, &arena);
    if (!messages)
        err = ACP_ERR_NOMEM;
    for (size_t i = 0; !err && from + i < history->count; i++)
        err = append(next, messages[i].role, messages[i].parts, messages[i].part_count, SIZE_MAX);
    acp_arena_finish(&arena);
    return take_over(history, next, err);
}

/* Removes the parts that are not sent again; returns how many are left. */
static size_t strip(struct model_part *parts, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i].sealed = (struct model_sealed){0};
        if (parts[i].kind != MODEL_THOUGHT && !is_empty(&parts[i]))
            parts[n++] = parts[i];
    }
    return n;
}

int history_strip_reasoning(struct history *history)
{
    struct history *next;
    struct acp_arena arena;
    int err = history_new(NULL, &next);
    if (err)
        return err;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; i < history->count && !err; i++) {
        const struct packed *message = history->messages[i];
        struct model_part *parts =
            acp_arena_alloc(&arena, (message->part_count + (size_t) 1) * sizeof(*parts));
        err = parts ? 0 : ACP_ERR_NOMEM;
        if (err)
            break;
        unpack(message, parts);
        err = append(next, message->role, parts, strip(parts, message->part_count), SIZE_MAX);
        acp_arena_reset(&arena);
    }
    acp_arena_finish(&arena);
    return take_over(history, next, err);
}
