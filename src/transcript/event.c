/* event.c - records, and how they are written and read. */
#include "transcript/event.h"

#include "acp/types.h"

static const char *const kind_names[RECORD_KINDS] = {
    [RECORD_OPEN] = "open",
    [RECORD_PROMPT] = "prompt",
    [RECORD_MESSAGE] = "message",
    [RECORD_THOUGHT] = "thought",
    [RECORD_USER] = "user",
    [RECORD_TOOL] = "tool",
    [RECORD_PLAN] = "plan",
    [RECORD_COMMANDS] = "commands",
    [RECORD_MODE] = "mode",
    [RECORD_OPTIONS] = "options",
    [RECORD_STATE] = "state",
    [RECORD_UPDATE] = "update",
    [RECORD_PERMISSION] = "permission",
    [RECORD_SETTING] = "setting",
    [RECORD_NOTICE] = "notice",
    [RECORD_STOP] = "stop",
    [RECORD_ERROR] = "error",
    [RECORD_CLOSED] = "closed",
};

/* The version of the envelope: it changes when a reader of today's lines would misread them. */
enum { ENVELOPE_VERSION = 1 };

const char *record_kind_name(enum record_kind kind)
{
    return kind_names[kind];
}

bool record_kind_find(struct acp_str name, enum record_kind *ret)
{
    for (int kind = 0; kind < RECORD_KINDS; kind++) {
        if (!acp_str_is(name, kind_names[kind]))
            continue;
        *ret = (enum record_kind) kind;
        return true;
    }
    return false;
}

bool record_is_update(enum record_kind kind)
{
    return kind >= RECORD_MESSAGE && kind <= RECORD_UPDATE;
}

enum record_kind record_kind_of(const struct acp_event *event)
{
    switch (event->kind) {
    case ACP_EVENT_CHUNK:
    case ACP_EVENT_MESSAGE:
        switch (event->author) {
        case ACP_MESSAGE_ROLE_AGENT:
            return RECORD_MESSAGE;
        case ACP_MESSAGE_ROLE_THOUGHT:
            return RECORD_THOUGHT;
        case ACP_MESSAGE_ROLE_USER:
            return RECORD_USER;
        }
        break;
    case ACP_EVENT_TOOL:
    case ACP_EVENT_TOOL_CONTENT:
        return RECORD_TOOL;
    case ACP_EVENT_PLAN:
        return RECORD_PLAN;
    case ACP_EVENT_COMMANDS:
        return RECORD_COMMANDS;
    case ACP_EVENT_MODES:
    case ACP_EVENT_MODE:
        return RECORD_MODE;
    case ACP_EVENT_OPTIONS:
        return RECORD_OPTIONS;
    case ACP_EVENT_STATE:
        return RECORD_STATE;
    case ACP_EVENT_OTHER:
        break;
    }
    return RECORD_UPDATE;
}

/* ---- Prompts --------------------------------------------------------------------------------- */

/* Content blocks are the same in all versions. */
enum { BLOCK_MODE = ACP_V1 };

int record_write_prompt(const struct acp_content_block *blocks, size_t count, struct acp_buf *out,
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

int record_read_prompt(struct acp_raw body, struct acp_arena *arena,
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

int record_write(const struct record *record, struct acp_str session, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    write_number(w, "version", ENVELOPE_VERSION);
    acp_json_write_key(w, acp_str_from("session"));
    acp_json_write_str(w, session);
    write_number(w, "request", record->request);
    write_number(w, "sequence", record->sequence);
    acp_json_write_key(w, acp_str_from("time"));
    acp_json_write_i64(w, record->time);
    acp_json_write_key(w, acp_str_from("kind"));
    acp_json_write_str(w, acp_str_from(record_kind_name(record->kind)));
    acp_json_write_key(w, acp_str_from("body"));
    acp_json_write_raw(w, record->body);
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

static int read_member(struct acp_json_reader *r, struct acp_str key, struct record *record,
                       struct acp_str *session, unsigned *has)
{
    if (acp_str_is(key, "version")) {
        uint64_t version;
        int err = acp_json_read_u64(r, &version);
        if (!err && version == ENVELOPE_VERSION)
            *has |= HAS_VERSION;
        return err;
    }
    if (acp_str_is(key, "session")) {
        *has |= HAS_SESSION;
        return acp_json_read_str(r, session);
    }
    if (acp_str_is(key, "request"))
        return acp_json_read_u64(r, &record->request);
    if (acp_str_is(key, "sequence"))
        return acp_json_read_u64(r, &record->sequence);
    if (acp_str_is(key, "time"))
        return acp_json_read_i64(r, &record->time);
    if (acp_str_is(key, "kind")) {
        struct acp_str name;
        int err = acp_json_read_str(r, &name);
        if (!err && record_kind_find(name, &record->kind))
            *has |= HAS_KIND;
        return err;
    }
    if (acp_str_is(key, "body")) {
        if (acp_json_peek(r) == ACP_JSON_OBJECT)
            *has |= HAS_BODY;
        return acp_json_read_raw(r, &record->body);
    }
    return acp_json_skip(r);
}

int record_read(struct acp_raw object, struct acp_arena *arena, struct record *ret,
                struct acp_str *ret_session, struct acp_failure *failure)
{
    struct acp_json_reader r;
    struct record record = {0};
    struct acp_str session = {0};
    struct acp_str key;
    unsigned has = 0;
    acp_json_reader_init(&r, object, arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0)
        more = read_member(&r, key, &record, &session, &has);
    if (!more)
        more = acp_json_read_end(&r);
    if (more < 0)
        return fail(failure, more, acp_err_text(more));
    if (!(has & HAS_VERSION))
        return fail(failure, ACP_ERR_VARIANT, "a record of another version of acp");
    if ((has & HAS_ALL) != HAS_ALL)
        return fail(failure, ACP_ERR_MISSING, "not a record: session, kind or body is missing");
    *ret = record;
    *ret_session = session;
    return 0;
}
