/*
 * types.h - every message of the Agent Client Protocol as a C struct.  Generated
 * from protocol/ by acp-scanner; acp/codec.h has the functions behind it.
 *
 *     #include <acp/types.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct acp_content_block block;
 *         struct acp_prompt_request request;
 *         acp_content_block_init_text(&block, acp_str_from("Hello"));
 *         acp_prompt_request_init(&request, acp_str_from("session-1"), &block, 1);
 *
 *         struct acp_arena arena;
 *         struct acp_buf json;
 *         struct acp_json_writer w;
 *         acp_arena_init(&arena, 0);
 *         acp_buf_init(&json, 1 << 20);
 *         acp_json_writer_init(&w, &json);
 *         int err = acp_prompt_request_encode(ACP_V1, &request, &w, NULL);
 *
 *         struct acp_prompt_request got;
 *         struct acp_str view = acp_buf_view(&json);
 *         struct acp_raw text = acp_raw_n(view.ptr, view.len);
 *         if (!err)
 *             err = acp_prompt_request_decode(ACP_V1, text, &arena, &got, NULL);
 *         if (!err && got.prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT)
 *             printf("%.*s\n", ACP_ARG(got.prompt.items[0].text.text));
 *         acp_buf_finish(&json);
 *         acp_arena_finish(&arena);
 *         return err ? 1 : 0;
 *     }
 *
 * How the protocol is represented:
 *   - The type PromptRequest is struct acp_prompt_request with the number
 *     ACP_TYPE_PROMPT_REQUEST; acp_prompt_request_decode() and
 *     acp_prompt_request_encode(), which are acp_decode() and acp_encode() for it; and
 *     acp_prompt_request_init(), which zeroes the struct and sets the fields that both
 *     versions require.  The functions copy nothing: structs point to their arguments.
 *   - Structs have the fields of both versions.  Notes in brackets say in which
 *     version a thing exists if not in all; encoding leaves out what the version does
 *     not have.
 *   - A field that is absent is a pointer that is NULL, ACP_ABSENT, or an enum that is
 *     0.  One that is null is a pointer for which acp_is_null() is true, ACP_NULL, or
 *     an enum that is -1.
 *   - An enum is a struct with `is`.  For a value that the library does not know, that
 *     is ..._UNLISTED, and `text` has the value.
 *   - A union is a struct with `is` and an anonymous C union, whose member of that
 *     name is valid.  It has an init function for each member.  For a variant that the
 *     library does not know, `is` is ..._UNLISTED, and `raw` has the JSON, which can
 *     be encoded again.
 *   - `meta` is the _meta object as JSON, and `unknown` is the list of keys that the
 *     type does not have.
 */
#ifndef ACP_TYPES_H
#define ACP_TYPES_H

#include "acp/codec.h"

#ifdef __cplusplus
extern "C" {
#define _Static_assert static_assert
#endif

/* The types, for acp_decode() and its companions. */
enum {
    ACP_TYPE_COLOUR = 9,
    ACP_TYPE_MOOD = 2,
    ACP_TYPE_EMPTY = 3,
    ACP_TYPE_BARE = 4,
    ACP_TYPE_THING = 5,
    ACP_TYPE_EVENT = 6,
    ACP_TYPE_EVENT_LOST = 7,
    ACP_TYPE_EVENT_OTHER = 8,
    ACP_TYPE_MOVE = 1,
    ACP_TYPE_ANSWER = 10,
    ACP_TYPE_REPLY = 12,
    ACP_TYPE_REPLY_V2 = 15,
};

enum acp_method_id {
    ACP_METHOD_NONE = 0,
    ACP_METHOD_THING_GET = 2, /* Asks for a thing. */
    ACP_METHOD_EVENT = 1, /* [unstable] */
    ACP_METHOD_THING_OLD = 4, /* [v1] */
};

/* What it looks like. */
enum acp_colour_is {
    ACP_COLOUR_ABSENT = 0,
    ACP_COLOUR_RED = 1,
    ACP_COLOUR_GREEN = 2,
    ACP_COLOUR_BLUE = 4, /* [v2] */
    ACP_COLOUR_NULL = -1,
    ACP_COLOUR_UNLISTED = -2, /* text is the value */
};
struct acp_colour {
    enum acp_colour_is is;
    struct acp_str text; /* as on the wire; set by decode */
};

/* [unstable] */
enum acp_mood_is {
    ACP_MOOD_ABSENT = 0,
    ACP_MOOD_HAPPY = 1,
    ACP_MOOD_NOT_SO_HAPPY = 2,
    ACP_MOOD_NULL = -1,
    ACP_MOOD_UNLISTED = -2, /* text is the value */
};
struct acp_mood {
    enum acp_mood_is is;
    struct acp_str text; /* as on the wire; set by decode */
};

/* What may go wrong. */
enum {
    ACP_TROUBLE_PARSE_ERROR = -32700,
    ACP_TROUBLE_TOO_OLD = -32022, /* [v2] */
};

struct acp_empty;
struct acp_bare;
struct acp_thing;
struct acp_event;
struct acp_event_lost;
struct acp_event_other;
struct acp_move;
struct acp_answer;
struct acp_reply;
struct acp_reply_v2;

struct acp_thing_list {
    const struct acp_thing *items;
    size_t count;
};

/* Nothing but _meta. */
struct acp_empty {
    struct acp_raw meta;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_empty) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* Not even that. */
struct acp_bare {
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_bare) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* Something that has a name. */
struct acp_thing {
    struct acp_str id; /* never changes */
    struct acp_str label;
    struct acp_colour colour;
    struct acp_opt_i64 size; /* [v1] kept apart in C */
    struct acp_opt_u64 size_v2; /* [v2] kept apart in C */
    struct acp_opt_f64 weight;
    bool hidden;
    struct acp_opt_bool default_; /* [v2] */
    struct acp_thing_list parts;
    struct acp_str_list tags;
    struct acp_str_map notes;
    const struct acp_thing *more;
    struct acp_raw extra;
    struct acp_raw options; /* [unstable] */
    struct acp_raw meta;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_thing) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* From here to there. */
struct acp_move {
    struct acp_str from;
    struct acp_str to;
    struct acp_raw meta;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_move) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* [v2] */
struct acp_event_lost {
    struct acp_str reason;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_event_lost) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* [v2] */
struct acp_event_other {
    int64_t seq;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_event_other) <= ACP_NULL_SIZE, "acp_null() must cover it");

enum acp_event_is {
    ACP_EVENT_ABSENT = 0,
    ACP_EVENT_MADE = 2,
    ACP_EVENT_MOVED = 1,
    ACP_EVENT_GONE = 3,
    ACP_EVENT_LOST = 4, /* [v2] */
    ACP_EVENT_PLAIN = 6, /* [v1] */
    ACP_EVENT_UNLISTED = -2, /* raw is the value */
};

/* Something that happened. */
struct acp_event {
    enum acp_event_is is;
    struct acp_str tag; /* as on the wire; set by decode */
    struct acp_raw raw; /* the value if it is unlisted */
    uint64_t at; /* in milliseconds */
    const struct acp_unknown *unknown;
    union {
        struct acp_thing made;
        struct acp_move moved;
        struct acp_event_lost lost;
        struct acp_bare plain;
        struct acp_event_other other;
    };
};
_Static_assert(sizeof(struct acp_event) <= ACP_NULL_SIZE, "acp_null() must cover it");

enum acp_answer_is {
    ACP_ANSWER_ABSENT = 0,
    ACP_ANSWER_TEXT = 1,
    ACP_ANSWER_NUMBER = 2,
    ACP_ANSWER_THING = 3,
    ACP_ANSWER_LIST = 4,
    ACP_ANSWER_NONE = 5,
};

/* Found by trying. */
struct acp_answer {
    enum acp_answer_is is;
    struct acp_raw meta;
    union {
        struct acp_str text;
        int64_t number;
        struct acp_thing thing;
        struct acp_str_list list;
    };
};
_Static_assert(sizeof(struct acp_answer) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* [v1] */
struct acp_reply {
    struct acp_answer answer;
    struct acp_raw meta;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_reply) <= ACP_NULL_SIZE, "acp_null() must cover it");

/* [v2] */
struct acp_reply_v2 {
    struct acp_answer answer;
    const struct acp_event *event;
    struct acp_raw meta;
    const struct acp_unknown *unknown;
};
_Static_assert(sizeof(struct acp_reply_v2) <= ACP_NULL_SIZE, "acp_null() must cover it");

static inline void acp_empty_init(struct acp_empty *self)
{
    acp_zero(self, sizeof(*self));
}
static inline int acp_empty_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_empty *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_EMPTY, mode, json, arena, ret, failure);
}
static inline int acp_empty_encode(unsigned mode, const struct acp_empty *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_EMPTY, mode, value, w, failure);
}

static inline void acp_bare_init(struct acp_bare *self)
{
    acp_zero(self, sizeof(*self));
}
static inline int acp_bare_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_bare *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_BARE, mode, json, arena, ret, failure);
}
static inline int acp_bare_encode(unsigned mode, const struct acp_bare *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_BARE, mode, value, w, failure);
}

static inline void acp_thing_init(struct acp_thing *self, struct acp_str id, enum acp_colour_is colour, const struct acp_str *tags, size_t tags_count)
{
    acp_zero(self, sizeof(*self));
    self->id = id;
    self->colour.is = colour;
    self->tags.items = tags;
    self->tags.count = tags_count;
}
static inline int acp_thing_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_thing *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_THING, mode, json, arena, ret, failure);
}
static inline int acp_thing_encode(unsigned mode, const struct acp_thing *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_THING, mode, value, w, failure);
}

static inline void acp_event_init_made(struct acp_event *self, uint64_t at, struct acp_str id, enum acp_colour_is colour, const struct acp_str *tags, size_t tags_count)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_EVENT_MADE;
    self->at = at;
    self->made.id = id;
    self->made.colour.is = colour;
    self->made.tags.items = tags;
    self->made.tags.count = tags_count;
}
static inline void acp_event_init_moved(struct acp_event *self, uint64_t at, struct acp_str from, struct acp_str to)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_EVENT_MOVED;
    self->at = at;
    self->moved.from = from;
    self->moved.to = to;
}
static inline void acp_event_init_gone(struct acp_event *self, uint64_t at)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_EVENT_GONE;
    self->at = at;
}
static inline void acp_event_init_lost(struct acp_event *self, uint64_t at, struct acp_str reason)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_EVENT_LOST;
    self->at = at;
    self->lost.reason = reason;
}
static inline void acp_event_init_plain(struct acp_event *self, uint64_t at)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_EVENT_PLAIN;
    self->at = at;
}
static inline int acp_event_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_event *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_EVENT, mode, json, arena, ret, failure);
}
static inline int acp_event_encode(unsigned mode, const struct acp_event *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_EVENT, mode, value, w, failure);
}

static inline void acp_event_lost_init(struct acp_event_lost *self, struct acp_str reason)
{
    acp_zero(self, sizeof(*self));
    self->reason = reason;
}
static inline void acp_event_other_init(struct acp_event_other *self, int64_t seq)
{
    acp_zero(self, sizeof(*self));
    self->seq = seq;
}
static inline void acp_move_init(struct acp_move *self, struct acp_str from, struct acp_str to)
{
    acp_zero(self, sizeof(*self));
    self->from = from;
    self->to = to;
}
static inline int acp_move_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_move *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_MOVE, mode, json, arena, ret, failure);
}
static inline int acp_move_encode(unsigned mode, const struct acp_move *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_MOVE, mode, value, w, failure);
}

static inline void acp_answer_init_text(struct acp_answer *self, struct acp_str text)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_ANSWER_TEXT;
    self->text = text;
}
static inline void acp_answer_init_number(struct acp_answer *self, int64_t number)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_ANSWER_NUMBER;
    self->number = number;
}
static inline void acp_answer_init_thing(struct acp_answer *self, struct acp_str id, enum acp_colour_is colour, const struct acp_str *tags, size_t tags_count)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_ANSWER_THING;
    self->thing.id = id;
    self->thing.colour.is = colour;
    self->thing.tags.items = tags;
    self->thing.tags.count = tags_count;
}
static inline void acp_answer_init_list(struct acp_answer *self, const struct acp_str *list, size_t list_count)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_ANSWER_LIST;
    self->list.items = list;
    self->list.count = list_count;
}
static inline void acp_answer_init_none(struct acp_answer *self)
{
    acp_zero(self, sizeof(*self));
    self->is = ACP_ANSWER_NONE;
}
static inline int acp_answer_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_answer *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_ANSWER, mode, json, arena, ret, failure);
}
static inline int acp_answer_encode(unsigned mode, const struct acp_answer *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_ANSWER, mode, value, w, failure);
}

static inline void acp_reply_init(struct acp_reply *self)
{
    acp_zero(self, sizeof(*self));
}
static inline int acp_reply_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_reply *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_REPLY, mode, json, arena, ret, failure);
}
static inline int acp_reply_encode(unsigned mode, const struct acp_reply *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_REPLY, mode, value, w, failure);
}

static inline void acp_reply_v2_init(struct acp_reply_v2 *self)
{
    acp_zero(self, sizeof(*self));
}
static inline int acp_reply_v2_decode(unsigned mode, struct acp_raw json,
    struct acp_arena *arena, struct acp_reply_v2 *ret, struct acp_failure *failure)
{
    return acp_decode(ACP_TYPE_REPLY_V2, mode, json, arena, ret, failure);
}
static inline int acp_reply_v2_encode(unsigned mode, const struct acp_reply_v2 *value,
    struct acp_json_writer *w, struct acp_failure *failure)
{
    return acp_encode(ACP_TYPE_REPLY_V2, mode, value, w, failure);
}

#ifdef __cplusplus
}
#undef _Static_assert
#endif

#endif
