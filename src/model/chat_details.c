/* Joins the pieces of reasoning_details. */
#include "model/chat_details.h"

#include "model/pick.h"

int chat_details_add(struct acp_buf *kept, struct acp_raw list)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    int err = 0;
    while (!err && pick_next(list, &cursor, &item)) {
        if (*item.ptr != '{')
            continue;
        if (kept->len)
            err = acp_buf_append(kept, ",", 1);
        if (!err)
            err = acp_buf_append(kept, item.ptr, item.len);
    }
    return err;
}

static bool is_same(struct acp_raw a, struct acp_raw b, const char *key)
{
    struct acp_raw one = pick(a, key);
    struct acp_raw other = pick(b, key);
    return acp_str_eq(acp_str_n(one.ptr, one.len), acp_str_n(other.ptr, other.len));
}

/* A thought while its pieces are joined. */
struct joined {
    struct acp_raw first;
    struct acp_buf list; /* its pieces as a list */
};

/* The value of a key in the last piece that has one. */
static struct acp_raw last_value(struct acp_raw pieces, const char *key)
{
    struct pick_cursor cursor = {0};
    struct acp_raw piece;
    struct acp_raw found = acp_raw_from(NULL);
    while (pick_next(pieces, &cursor, &piece)) {
        struct acp_raw value = pick(piece, key);
        if (value.ptr && !acp_str_is(acp_str_n(value.ptr, value.len), "null"))
            found = value;
    }
    return found;
}

static void write_text(struct acp_raw pieces, const char *key, struct acp_json_writer *w)
{
    struct pick_cursor cursor = {0};
    struct acp_raw piece;
    struct acp_buf text;
    struct acp_arena arena;
    bool is_there = false;
    acp_buf_init(&text, SIZE_MAX / 2);
    acp_arena_init(&arena, 0);
    while (pick_next(pieces, &cursor, &piece)) {
        struct acp_str more = pick_str(piece, key, &arena);
        int err = acp_buf_append_str(&text, more);
        w->err = w->err ? w->err : err;
        is_there = is_there || more.ptr;
    }
    if (is_there) {
        acp_json_write_key(w, acp_str_from(key));
        acp_json_write_str(w, acp_buf_view(&text));
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&text);
}

static void write_joined(struct joined *joined, struct acp_json_writer *w)
{
    static const char *const values[] = {"type", "id", "format", "index", "signature"};
    static const char *const texts[] = {"text", "summary", "data"};
    int err = acp_buf_append(&joined->list, "]", 1);
    w->err = w->err ? w->err : err;
    struct acp_str list = acp_buf_view(&joined->list);
    struct acp_raw pieces = acp_raw_n(list.ptr, list.len);
    acp_json_begin_object(w);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct acp_raw value = last_value(pieces, values[i]);
        if (!value.ptr)
            continue;
        acp_json_write_key(w, acp_str_from(values[i]));
        acp_json_write_raw(w, value);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        write_text(pieces, texts[i], w);
    acp_json_end_object(w);
    acp_buf_clear(&joined->list);
}

void chat_details_write(const struct acp_buf *kept, struct acp_json_writer *w)
{
    struct acp_buf whole;
    struct joined joined = {0};
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    acp_buf_init(&whole, SIZE_MAX / 2);
    acp_buf_init(&joined.list, SIZE_MAX / 2);
    int err = acp_buf_append(&whole, "[", 1);
    err = err ? err : acp_buf_append_str(&whole, acp_buf_view(kept));
    err = err ? err : acp_buf_append(&whole, "]", 1);
    struct acp_str text = acp_buf_view(&whole);
    acp_json_begin_array(w);
    while (!err && pick_next(acp_raw_n(text.ptr, text.len), &cursor, &item)) {
        bool more = joined.list.len && is_same(joined.first, item, "type") &&
                    is_same(joined.first, item, "index");
        if (!more && joined.list.len)
            write_joined(&joined, w);
        joined.first = more ? joined.first : item;
        err = acp_buf_append(&joined.list, more ? "," : "[", 1);
        err = err ? err : acp_buf_append(&joined.list, item.ptr, item.len);
    }
    if (joined.list.len)
        write_joined(&joined, w);
    acp_json_end_array(w);
    w->err = w->err ? w->err : err;
    acp_buf_finish(&joined.list);
    acp_buf_finish(&whole);
}
