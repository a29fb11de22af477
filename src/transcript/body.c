/* body.c - members of the bodies that are ours. */
#include "transcript/body.h"

/* Leaves the reader at the value of the first member of that name. */
static bool find(struct acp_json_reader *r, struct acp_raw body, const char *name,
                 struct acp_arena *arena)
{
    struct acp_str key;
    acp_json_reader_init(r, body, arena, 0);
    if (acp_json_enter_object(r))
        return false;
    while (acp_json_next_key(r, &key) > 0) {
        if (acp_str_is(key, name))
            return true;
        if (acp_json_skip(r))
            return false;
    }
    return false;
}

/* What is not JSON has no members; only a lack of memory is an error. */
static int no_memory(const struct acp_json_reader *r)
{
    return r->err == ACP_ERR_NOMEM ? ACP_ERR_NOMEM : 0;
}

/* Keys with escapes are none of ours, so they need no arena. */
struct acp_raw body_member(struct acp_raw body, const char *name)
{
    struct acp_json_reader r;
    struct acp_raw raw = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    if (find(&r, body, name, &arena))
        (void) acp_json_read_raw(&r, &raw);
    acp_arena_finish(&arena);
    return raw;
}

int body_text(struct acp_raw body, const char *name, struct acp_arena *arena, struct acp_str *ret)
{
    struct acp_json_reader r;
    struct acp_raw raw;
    *ret = (struct acp_str){0};
    if (!find(&r, body, name, arena))
        return no_memory(&r);
    if (acp_json_peek(&r) == ACP_JSON_STRING)
        (void) acp_json_read_str(&r, ret);
    else if (acp_json_read_raw(&r, &raw) == 0)
        *ret = acp_str_n(raw.ptr, raw.len);
    return no_memory(&r);
}

bool body_number(struct acp_raw body, const char *name, uint64_t *ret)
{
    struct acp_json_reader r;
    struct acp_raw raw = body_member(body, name);
    acp_json_reader_init(&r, raw, NULL, 0);
    return raw.ptr && acp_json_read_u64(&r, ret) == 0;
}

bool body_signed(struct acp_raw body, const char *name, int64_t *ret)
{
    struct acp_json_reader r;
    struct acp_raw raw = body_member(body, name);
    acp_json_reader_init(&r, raw, NULL, 0);
    return raw.ptr && acp_json_read_i64(&r, ret) == 0;
}

int body_texts(struct acp_raw body, const char *name, struct acp_arena *arena,
               struct acp_str_list *ret)
{
    struct acp_json_reader r;
    struct acp_str *texts = NULL;
    struct acp_str text;
    size_t count = 0;
    size_t room = 0;
    *ret = (struct acp_str_list){0};
    if (!find(&r, body, name, arena) || acp_json_enter_array(&r))
        return no_memory(&r);
    while (acp_json_next_item(&r) > 0) {
        if (acp_json_peek(&r) != ACP_JSON_STRING) {
            (void) acp_json_skip(&r);
            continue;
        }
        if (acp_json_read_str(&r, &text))
            break;
        if (count == room) {
            size_t more = room ? room * 2 : 8;
            texts = acp_arena_grow(arena, texts, count * sizeof(text), more * sizeof(text));
            room = more;
        }
        if (!texts)
            return ACP_ERR_NOMEM;
        texts[count++] = text;
    }
    *ret = (struct acp_str_list){texts, count};
    return no_memory(&r);
}
