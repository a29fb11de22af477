/* history_json.c - the messages of a history in the log. */
#include "agent/loop/history.h"
#include "json/members.h"

static const char *const kind_names[] = {
    [MODEL_TEXT] = "text",         [MODEL_IMAGE] = "image",     [MODEL_AUDIO] = "audio",
    [MODEL_RESOURCE] = "resource", [MODEL_THOUGHT] = "thought", [MODEL_CALL] = "call",
    [MODEL_RESULT] = "result",
};

/* Absent values are left out. */
static void write_text(struct acp_json_writer *w, const char *name, struct acp_str text)
{
    if (text.ptr)
        acp_json_put_str(w, name, text);
}

static void write_raw(struct acp_json_writer *w, const char *name, struct acp_raw raw)
{
    if (raw.ptr)
        acp_json_put_raw(w, name, raw);
}

static void write_part(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    write_text(w, "kind", acp_str_from(kind_names[part->kind]));
    write_text(w, "text", part->text);
    write_text(w, "mime", part->mime);
    write_text(w, "data", part->data);
    write_text(w, "uri", part->uri);
    write_text(w, "id", part->id);
    write_text(w, "name", part->name);
    write_raw(w, "arguments", part->arguments);
    write_text(w, "api", part->sealed.api);
    write_raw(w, "sealed", part->sealed.data);
    if (part->failed)
        acp_json_put_bool(w, "failed", true);
    acp_json_end_object(w);
}

void history_write(const struct model_message *message, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    write_text(w, "role", acp_str_from(message->role == MODEL_USER ? "user" : "assistant"));
    acp_json_write_key(w, acp_str_from("parts"));
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
