/* Puts an answer together, piece by piece. */
#include "model/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

void stream_init(struct model_stream *s, const struct stream_sink *sink, void *user)
{
    *s = (struct model_stream){.sink = *sink, .user = user};
    acp_arena_init(&s->arena, STREAM_MAX_ANSWER);
    acp_arena_init(&s->event, STREAM_MAX_ANSWER);
    acp_buf_init(&s->details, STREAM_MAX_ANSWER);
}

void stream_finish(struct model_stream *s)
{
    for (size_t i = 0; i < s->count; i++)
        acp_buf_finish(&s->parts[i].grown);
    free(s->parts);
    acp_arena_finish(&s->arena);
    acp_arena_finish(&s->event);
    acp_buf_finish(&s->details);
}

const char *stream_err_text(int err)
{
    return err == ACP_ERR_LIMIT ? "the answer was stopped because it is longer than 16 MiB, or has "
                                  "more than 4096 parts"
                                : acp_err_text(err);
}

static void fail(struct model_stream *s, int err)
{
    if (!s->err)
        s->err = err;
}

static struct stream_part *add_part(struct model_stream *s, enum model_part_kind kind)
{
    if (s->err)
        return NULL;
    if (s->count == STREAM_MAX_PARTS) {
        fail(s, ACP_ERR_LIMIT);
        return NULL;
    }
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 8;
        struct stream_part *parts = realloc(s->parts, room * sizeof(*parts));
        if (!parts) {
            fail(s, ACP_ERR_NOMEM);
            return NULL;
        }
        s->parts = parts;
        s->room = room;
    }
    struct stream_part *part = &s->parts[s->count++];
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): with room there are parts */
    *part = (struct stream_part){.part.kind = kind, .open = true};
    acp_buf_init(&part->grown, STREAM_MAX_ANSWER);
    return part;
}

static bool grow(struct model_stream *s, struct stream_part *part, struct acp_str piece)
{
    int err = piece.len > STREAM_MAX_ANSWER - s->bytes ? ACP_ERR_LIMIT : 0;
    if (!err)
        err = acp_buf_append_str(&part->grown, piece);
    if (err) {
        fail(s, err);
        return false;
    }
    s->bytes += piece.len;
    return true;
}

static struct acp_str keep(struct model_stream *s, struct acp_str text)
{
    struct acp_str copy = acp_arena_copy(&s->arena, text);
    if (!copy.ptr)
        fail(s, ACP_ERR_NOMEM);
    return copy;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* The open part of that kind at the end, or a new one. */
static struct stream_part *saying(struct model_stream *s, enum model_part_kind kind)
{
    struct stream_part *last = s->count ? &s->parts[s->count - 1] : NULL;
    if (last && last->open && last->part.kind == kind)
        return last;
    stream_part_end(s);
    return add_part(s, kind);
}

void stream_text(struct model_stream *s, struct acp_str piece)
{
    struct stream_part *part = piece.len ? saying(s, MODEL_TEXT) : NULL;
    if (!part || !grow(s, part, piece))
        return;
    s->told = true;
    s->sink.text(piece, s->user);
}

void stream_thought(struct model_stream *s, struct acp_str piece)
{
    struct stream_part *part = piece.len ? saying(s, MODEL_THOUGHT) : NULL;
    if (!part || !grow(s, part, piece))
        return;
    s->told = true;
    s->sink.thought(piece, s->user);
}

void stream_begin(struct model_stream *s, enum model_part_kind kind)
{
    (void) saying(s, kind);
}

void stream_part_end(struct model_stream *s)
{
    struct stream_part *last = s->count ? &s->parts[s->count - 1] : NULL;
    if (last && last->part.kind != MODEL_CALL)
        last->open = false;
}

static void seal(struct model_stream *s, struct stream_part *part, const char *api,
                 struct acp_raw data)
{
    struct acp_str copy = keep(s, acp_str_n(data.ptr, data.len));
    if (copy.ptr)
        part->part.sealed = (struct model_sealed){s->origin.ptr ? s->origin : acp_str_from(api),
                                                  acp_raw_n(copy.ptr, copy.len)};
}

void stream_seal(struct model_stream *s, const char *api, struct acp_raw data)
{
    if (data.ptr && s->count && !s->err)
        seal(s, &s->parts[s->count - 1], api, data);
}

bool stream_is_sealed(const struct model_stream *s)
{
    return s->count && s->parts[s->count - 1].part.sealed.api.ptr;
}

void stream_seal_first(struct model_stream *s, enum model_part_kind kind, const char *api,
                       struct acp_raw data)
{
    for (size_t i = 0; i < s->count && data.ptr && !s->err; i++) {
        if (s->parts[i].part.kind == kind) {
            seal(s, &s->parts[i], api, data);
            return;
        }
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static bool is_whole(const struct model_stream *s, const struct stream_part *part)
{
    if (part->part.kind == MODEL_TEXT)
        return part->grown.len > 0 || part->part.sealed.api.ptr;
    if (part->part.kind == MODEL_THOUGHT)
        return s->has_stop || !part->open;
    /* The calls of an answer that was cut may be cut too; what cannot be carried out is left. */
    return !part->open && !(s->stop == MODEL_MAX_TOKENS && !part->part.arguments.ptr);
}

/* The open call of that key. */
static struct stream_part *find_call(const struct model_stream *s, size_t key)
{
    for (size_t i = s->count; i-- > 0;) {
        struct stream_part *part = &s->parts[i];
        if (part->part.kind == MODEL_CALL && part->open && part->key == key)
            return part;
    }
    return NULL;
}

bool stream_has_call(const struct model_stream *s, size_t key)
{
    return find_call(s, key);
}

bool stream_is_own_id(struct acp_str id)
{
    struct acp_str own = ACP_STR(STREAM_OWN_ID);
    return id.len > own.len && memcmp(id.ptr, own.ptr, own.len) == 0;
}

void stream_call(struct model_stream *s, size_t key, struct acp_str id, struct acp_str name)
{
    char own[64];
    stream_part_end(s);
    struct stream_part *part = add_part(s, MODEL_CALL);
    if (!part)
        return;
    if (!id.len) {
        (void) snprintf(own, sizeof(own), STREAM_OWN_ID "%llx_%zu", (unsigned long long) s->salt,
                        s->count);
        id = acp_str_from(own);
    }
    part->key = key;
    part->part.id = keep(s, id);
    part->part.name = keep(s, name);
    s->last_key = key;
    s->calls++;
    if (s->err)
        return;
    s->told = true;
    s->sink.call_begun(&part->part, s->user);
}

void stream_arguments(struct model_stream *s, size_t key, struct acp_str piece)
{
    struct stream_part *part = find_call(s, key);
    if (part && piece.len)
        (void) grow(s, part, piece);
}

/* Arguments are an object; none at all are an empty one. */
static void take_arguments(struct stream_part *part)
{
    struct acp_str text = acp_buf_view(&part->grown);
    struct acp_raw raw = acp_raw_n(text.ptr, text.len);
    struct acp_json_reader r;
    acp_json_reader_init(&r, raw, NULL, 0);
    if (!text.len) {
        part->part.arguments = acp_raw_from("{}");
    } else if (acp_json_peek(&r) == ACP_JSON_OBJECT && acp_json_validate(raw, 0, NULL) == 0) {
        part->part.arguments = raw;
    } else {
        part->part.text = text;
    }
}

static void end_call(struct model_stream *s, struct stream_part *part)
{
    part->open = false;
    take_arguments(part);
    if (!is_whole(s, part))
        s->sink.call_dropped(&part->part, s->user);
    else
        s->sink.call(&part->part, s->user);
}

void stream_call_end(struct model_stream *s, size_t key, struct acp_str arguments)
{
    struct stream_part *part = find_call(s, key);
    if (!part || s->err)
        return;
    if (arguments.ptr) {
        s->bytes -= part->grown.len;
        acp_buf_clear(&part->grown);
        if (!grow(s, part, arguments))
            return;
    }
    end_call(s, part);
}

void stream_calls_end(struct model_stream *s)
{
    for (size_t i = 0; i < s->count && !s->err; i++) {
        if (s->parts[i].part.kind == MODEL_CALL && s->parts[i].open)
            end_call(s, &s->parts[i]);
    }
}

/* ---- Ends ------------------------------------------------------------------------------------ */

void stream_usage(struct model_stream *s)
{
    if (!s->err)
        s->sink.usage(&s->usage, s->user);
}

void stream_stop(struct model_stream *s, enum model_stop stop)
{
    s->has_stop = true;
    s->stop = stop;
}

void stream_fault(struct model_stream *s, enum stream_fault fault, struct acp_str sentence)
{
    if (s->fault)
        return;
    s->fault = fault;
    size_t n = 0;
    while (n < sentence.len) {
        size_t more = acp_utf8_length(sentence.ptr + n, sentence.ptr + sentence.len);
        more = more ? more : 1;
        if (n + more >= sizeof(s->sentence))
            break;
        n += more;
    }
    if (n)
        memcpy(s->sentence, sentence.ptr, n);
    s->sentence[n] = '\0';
}

int stream_parts(struct model_stream *s, const struct model_part **ret, size_t *ret_count)
{
    size_t n = 0;
    struct model_part *parts =
        acp_arena_alloc(&s->arena, (s->count ? s->count : 1) * sizeof(*parts));
    if (!parts)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < s->count; i++) {
        if (!is_whole(s, &s->parts[i]))
            continue;
        parts[n] = s->parts[i].part;
        if (parts[n].kind != MODEL_CALL)
            parts[n].text = acp_buf_view(&s->parts[i].grown);
        n++;
    }
    *ret = parts;
    *ret_count = n;
    return 0;
}

enum model_stop stream_final_stop(const struct model_stream *s)
{
    if (s->stop == MODEL_END && s->calls)
        return MODEL_CALLS;
    if (s->stop == MODEL_CALLS && !s->calls)
        return MODEL_END;
    return s->stop;
}
