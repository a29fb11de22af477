/* event.c - the names of events, and how events are written and read. */
#include "transcript/event.h"

#include "acp/types.h"

static const char *const kind_names[EVENT_KINDS] = {
    [EVENT_OPENED] = "opened",
    [EVENT_PROMPT] = "prompt",
    [EVENT_MESSAGE] = "message",
    [EVENT_THOUGHT] = "thought",
    [EVENT_USER_MESSAGE] = "user_message",
    [EVENT_TOOL_CALL] = "tool_call",
    [EVENT_PLAN] = "plan",
    [EVENT_COMMANDS] = "commands",
    [EVENT_MODE] = "mode",
    [EVENT_CONFIG_OPTIONS] = "config_options",
    [EVENT_STATE] = "state",
    [EVENT_UPDATE] = "update",
    [EVENT_PERMISSION] = "permission",
    [EVENT_ELICITATION] = "elicitation",
    [EVENT_SETTING] = "setting",
    [EVENT_NOTICE] = "notice",
    [EVENT_STOP] = "stop",
    [EVENT_ERROR] = "error",
    [EVENT_CLOSED] = "closed",
};

static const char *const source_names[] = {
    [ERROR_SOURCE_ACP] = "acp", [ERROR_SOURCE_AGENT] = "agent", [ERROR_SOURCE_USER] = "user"};

static const struct {
    const char *old;
    const char *present;
} renamed_kinds[] = {
#define ROW(old, present) {(old), (present)},
    EVENT_RENAMED_KINDS(ROW)
#undef ROW
};

/*
 * The version of the JSON object: it changes when a reader of the lines before would misread them.
 * Version 1 has other names for some kinds, and "request" for "turn".
 */
enum { FIRST_VERSION = 1, PRESENT_VERSION = 2 };

/* ---- Names ----------------------------------------------------------------------------------- */

const char *event_kind_name(enum event_kind kind)
{
    return kind_names[kind];
}

bool event_kind_find(struct acp_str name, enum event_kind *ret)
{
    for (size_t i = 0; i < sizeof(renamed_kinds) / sizeof(renamed_kinds[0]); i++) {
        if (acp_str_is(name, renamed_kinds[i].old)) {
            name = acp_str_from(renamed_kinds[i].present);
            break;
        }
    }
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        if (!acp_str_is(name, kind_names[kind]))
            continue;
        *ret = (enum event_kind) kind;
        return true;
    }
    return false;
}

const char *error_source_name(enum error_source source)
{
    return source_names[source];
}

bool event_is_update(enum event_kind kind)
{
    return kind >= EVENT_MESSAGE && kind <= EVENT_UPDATE;
}

enum event_kind event_kind_of(const struct acp_event *event)
{
    switch (event->kind) {
    case ACP_EVENT_CHUNK:
    case ACP_EVENT_MESSAGE:
        switch (event->author) {
        case ACP_MESSAGE_ROLE_AGENT:
            return EVENT_MESSAGE;
        case ACP_MESSAGE_ROLE_THOUGHT:
            return EVENT_THOUGHT;
        case ACP_MESSAGE_ROLE_USER:
            return EVENT_USER_MESSAGE;
        }
        break;
    case ACP_EVENT_TOOL:
    case ACP_EVENT_TOOL_CONTENT:
        return EVENT_TOOL_CALL;
    case ACP_EVENT_PLAN:
        return EVENT_PLAN;
    case ACP_EVENT_COMMANDS:
        return EVENT_COMMANDS;
    case ACP_EVENT_MODES:
    case ACP_EVENT_MODE:
        return EVENT_MODE;
    case ACP_EVENT_OPTIONS:
        return EVENT_CONFIG_OPTIONS;
    case ACP_EVENT_STATE:
        return EVENT_STATE;
    case ACP_EVENT_OTHER:
        break;
    }
    return EVENT_UPDATE;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

int event_decode(const struct session_event *event, unsigned protocol, struct acp_arena *arena,
                 const struct acp_session_update **ret)
{
    if (event->update) {
        *ret = event->update;
        return 0;
    }
    if (!event_is_update(event->kind))
        return ACP_ERR_ARGUMENT;
    struct acp_session_update *update = acp_arena_alloc(arena, sizeof(*update));
    if (!update)
        return ACP_ERR_NOMEM;
    int err = acp_decode(ACP_TYPE_SESSION_UPDATE, protocol | ACP_UNSTABLE, event->body, arena,
                         update, NULL);
    if (!err)
        *ret = update;
    return err;
}

/* Copies the members of an object, with "source" for "whose". */
static int rename_source(struct acp_raw body, struct acp_arena *arena, struct acp_buf *out)
{
    struct acp_json_reader r;
    struct acp_json_writer w;
    struct acp_str key;
    struct acp_raw value;
    acp_json_reader_init(&r, body, arena, 0);
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        more = acp_json_read_raw(&r, &value);
        acp_json_write_key(&w, acp_str_is(key, "whose") ? acp_str_from("source") : key);
        acp_json_write_raw(&w, value);
    }
    acp_json_end_object(&w);
    return more ? more : w.err;
}

int event_upgrade_body(enum event_kind kind, struct acp_raw body, struct acp_arena *arena,
                       struct acp_raw *ret)
{
    struct acp_buf out;
    struct acp_str copy = {0};
    if (kind != EVENT_ERROR) {
        *ret = body;
        return 0;
    }
    acp_buf_init(&out, EVENT_MAX_BYTES);
    int err = rename_source(body, arena, &out);
    if (!err)
        copy = acp_arena_copy(arena, acp_buf_view(&out));
    acp_buf_finish(&out);
    if (!err && !copy.ptr)
        err = ACP_ERR_NOMEM;
    if (!err)
        *ret = acp_raw_n(copy.ptr, copy.len);
    return err;
}

/* Content blocks are the same in all versions. */
enum { BLOCK_MODE = ACP_V1 };

int event_write_prompt(const struct acp_content_block *blocks, size_t count, struct acp_buf *out,
                       struct acp_failure *failure)
{
    struct acp_json_writer w;
    int err = 0;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("prompt"));
    acp_json_begin_array(&w);
    for (size_t i = 0; i < count && !err; i++)
        err = acp_encode(ACP_TYPE_CONTENT_BLOCK, BLOCK_MODE, &blocks[i], &w, failure);
    acp_json_end_array(&w);
    acp_json_end_object(&w);
    return err ? err : w.err;
}

static int read_blocks(struct acp_json_reader *r, struct acp_arena *arena,
                       struct acp_content_block_list *ret, struct acp_failure *failure)
{
    struct acp_content_block *blocks = NULL;
    size_t count = 0;
    struct acp_raw raw;
    int more = acp_json_enter_array(r);
    while (!more && (more = acp_json_next_item(r)) > 0) {
        size_t size = count * sizeof(*blocks);
        blocks = acp_arena_grow(arena, blocks, size, size + sizeof(*blocks));
        if (!blocks)
            return ACP_ERR_NOMEM;
        more = acp_json_read_raw(r, &raw);
        if (!more)
            more = acp_decode(ACP_TYPE_CONTENT_BLOCK, BLOCK_MODE, raw, arena, &blocks[count++],
                              failure);
    }
    *ret = (struct acp_content_block_list){.items = blocks, .count = count};
    return more;
}

int event_read_prompt(struct acp_raw body, struct acp_arena *arena,
                      struct acp_content_block_list *ret, struct acp_failure *failure)
{
    struct acp_json_reader r;
    struct acp_str key;
    acp_json_reader_init(&r, body, arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "prompt"))
            return read_blocks(&r, arena, ret, failure);
        more = acp_json_skip(&r);
    }
    return more ? more : ACP_ERR_MISSING;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void write_number(struct acp_json_writer *w, const char *key, uint64_t value)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_u64(w, value);
}

int event_write(const struct session_event *event, struct acp_str session,
                struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    write_number(w, "version", PRESENT_VERSION);
    acp_json_write_key(w, acp_str_from("session"));
    acp_json_write_str(w, session);
    write_number(w, "turn", event->turn);
    write_number(w, "sequence", event->sequence);
    acp_json_write_key(w, acp_str_from("time"));
    acp_json_write_i64(w, event->time);
    acp_json_write_key(w, acp_str_from("kind"));
    acp_json_write_str(w, acp_str_from(event_kind_name(event->kind)));
    acp_json_write_key(w, acp_str_from("body"));
    acp_json_write_raw(w, event->body);
    acp_json_end_object(w);
    return w->err;
}

/* What an object must have; a reader of another version cannot know what it misses. */
enum {
    HAS_VERSION = 1,
    HAS_SESSION = 2,
    HAS_KIND = 4,
    HAS_BODY = 8,
    HAS_ALL = HAS_VERSION | HAS_SESSION | HAS_KIND | HAS_BODY,
};

static int fail(struct acp_failure *failure, int err, const char *message)
{
    if (failure) {
        *failure = (struct acp_failure){.err = err};
        (void) memcpy(failure->message, message, strlen(message) + 1);
    }
    return err;
}

/* An object as far as it is read. */
struct reading {
    struct session_event event;
    struct acp_str session;
    uint64_t version;
    unsigned has;
};

static int read_member(struct acp_json_reader *r, struct acp_str key, struct reading *reading)
{
    struct session_event *event = &reading->event;
    if (acp_str_is(key, "version")) {
        int err = acp_json_read_u64(r, &reading->version);
        if (!err && reading->version >= FIRST_VERSION && reading->version <= PRESENT_VERSION)
            reading->has |= HAS_VERSION;
        return err;
    }
    if (acp_str_is(key, "session")) {
        reading->has |= HAS_SESSION;
        return acp_json_read_str(r, &reading->session);
    }
    if (acp_str_is(key, "turn") || acp_str_is(key, "request"))
        return acp_json_read_u64(r, &event->turn);
    if (acp_str_is(key, "sequence"))
        return acp_json_read_u64(r, &event->sequence);
    if (acp_str_is(key, "time"))
        return acp_json_read_i64(r, &event->time);
    if (acp_str_is(key, "kind")) {
        struct acp_str name;
        int err = acp_json_read_str(r, &name);
        if (!err && event_kind_find(name, &event->kind))
            reading->has |= HAS_KIND;
        return err;
    }
    if (acp_str_is(key, "body")) {
        if (acp_json_peek(r) == ACP_JSON_OBJECT)
            reading->has |= HAS_BODY;
        return acp_json_read_raw(r, &event->body);
    }
    return acp_json_skip(r);
}

int event_read(struct acp_raw object, struct acp_arena *arena, struct session_event *ret,
               struct acp_str *ret_session, struct acp_failure *failure)
{
    struct acp_json_reader r;
    struct reading reading = {0};
    struct acp_str key;
    acp_json_reader_init(&r, object, arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0)
        more = read_member(&r, key, &reading);
    if (!more)
        more = acp_json_read_end(&r);
    if (more < 0)
        return fail(failure, more, acp_err_text(more));
    if (!(reading.has & HAS_VERSION))
        return fail(failure, ACP_ERR_VARIANT, "an event of another version of acp");
    if ((reading.has & HAS_ALL) != HAS_ALL)
        return fail(failure, ACP_ERR_MISSING, "not an event: session, kind or body is missing");
    if (reading.version < PRESENT_VERSION)
        more =
            event_upgrade_body(reading.event.kind, reading.event.body, arena, &reading.event.body);
    if (more)
        return fail(failure, more, acp_err_text(more));
    *ret = reading.event;
    *ret_session = reading.session;
    return 0;
}
