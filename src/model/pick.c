/* Looking values up by their paths. */
#include "model/pick.h"

#include <stdlib.h>

struct acp_raw pick_member(struct acp_raw object, struct acp_str name)
{
    struct acp_raw found = acp_raw_from(NULL);
    struct acp_json_reader r;
    struct acp_arena arena; /* keys with escapes are unfolded there; there are hardly any */
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, object, &arena, 0);
    struct acp_str key;
    if (object.ptr && acp_json_enter_object(&r) == 0) {
        while (acp_json_next_key(&r, &key) > 0) {
            struct acp_raw value;
            if (acp_json_read_raw(&r, &value))
                break;
            if (acp_str_eq(key, name))
                found = value;
        }
    }
    acp_arena_finish(&arena);
    return found;
}

static struct acp_raw item(struct acp_raw array, size_t index)
{
    struct pick_cursor cursor = {0};
    struct acp_raw value;
    while (pick_next(array, &cursor, &value)) {
        if (index-- == 0)
            return value;
    }
    return acp_raw_from(NULL);
}

struct acp_raw pick(struct acp_raw text, const char *path)
{
    while (*path && text.ptr) {
        const char *dot = strchr(path, '.');
        size_t n = dot ? (size_t) (dot - path) : strlen(path);
        if (*path >= '0' && *path <= '9')
            text = item(text, strtoul(path, NULL, 10));
        else
            text = pick_member(text, acp_str_n(path, n));
        path += n + (dot ? 1 : 0);
    }
    return text;
}

struct acp_str pick_str(struct acp_raw text, const char *path, struct acp_arena *arena)
{
    struct acp_raw value = pick(text, path);
    struct acp_str string = acp_str_from(NULL);
    if (!value.ptr)
        return string;
    struct acp_json_reader r;
    acp_json_reader_init(&r, value, arena, 0);
    if (acp_json_read_str(&r, &string))
        return acp_str_from(NULL);
    return string;
}

struct acp_raw pick_quoted(struct acp_raw text, const char *path)
{
    struct acp_raw value = pick(text, path);
    return value.len && *value.ptr == '"' ? value : acp_raw_from(NULL);
}

uint64_t pick_u64(struct acp_raw text, const char *path, uint64_t otherwise)
{
    struct acp_raw value = pick(text, path);
    uint64_t number;
    if (!value.ptr)
        return otherwise;
    struct acp_json_reader r;
    acp_json_reader_init(&r, value, NULL, 0);
    return acp_json_read_u64(&r, &number) ? otherwise : number;
}

bool pick_f64(struct acp_raw text, const char *path, double *ret)
{
    struct acp_raw value = pick(text, path);
    if (value.len >= 2 && *value.ptr == '"')
        value = acp_raw_n(value.ptr + 1, value.len - 2);
    if (!value.ptr || acp_json_validate(value, 0, NULL))
        return false;
    struct acp_json_reader r;
    acp_json_reader_init(&r, value, NULL, 0);
    return acp_json_read_f64(&r, ret) == 0;
}

bool pick_is(struct acp_raw text, const char *path, const char *word)
{
    struct acp_raw value = pick(text, path);
    return value.len == strlen(word) + 2 && *value.ptr == '"' &&
           memcmp(value.ptr + 1, word, value.len - 2) == 0;
}

bool pick_next(struct acp_raw array, struct pick_cursor *cursor, struct acp_raw *ret)
{
    if (!array.ptr)
        return false;
    if (!cursor->begun) {
        cursor->begun = true;
        acp_json_reader_init(&cursor->reader, array, NULL, 0);
        if (acp_json_enter_array(&cursor->reader))
            return false;
    }
    return acp_json_next_item(&cursor->reader) > 0 && acp_json_read_raw(&cursor->reader, ret) == 0;
}
