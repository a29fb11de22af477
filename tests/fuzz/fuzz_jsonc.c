/*
 * Fuzzes JSON with comments.  Blanking changes nothing but bytes into spaces, leaves JSON alone,
 * and is done when done once.  A member that is set is there and all others are as they were; so
 * are they when it is removed again.
 */
#include <stdlib.h>

#include "acp/json.h"
#include "config/jsonc.h"
#include "fuzz.h"

static const struct acp_str name = ACP_STR("added");
static const struct acp_str inner = ACP_STR("inner");
static const char value[] = "{\n  \"x\": [1]\n}";

/* The blanked text in a block of its size, or NULL. */
static char *blank(struct acp_str text)
{
    char *out = malloc(text.len ? text.len : 1);
    CHECK(out);
    struct acp_failure failure = {0};
    if (jsonc_blank(text, out, &failure)) {
        CHECK(failure.offset < text.len && *failure.message);
        free(out);
        return NULL;
    }
    for (size_t i = 0; i < text.len; i++)
        CHECK(out[i] == text.ptr[i] || (out[i] == ' ' && text.ptr[i] != '\n'));
    char *again = malloc(text.len ? text.len : 1);
    CHECK(again);
    CHECK(jsonc_blank(acp_str_n(out, text.len), again, NULL) == 0);
    if (acp_json_validate(acp_raw_n(out, text.len), 0, NULL) == 0)
        CHECK(memcmp(again, out, text.len) == 0);
    free(again);
    return out;
}

/* Writes the members of an object but those of that name, and of the object of that name those
 * but "inner", compactly and in order. */
static void write_others(struct acp_json_reader *r, struct acp_str without, size_t depth,
                         struct acp_buf *out)
{
    struct acp_str key;
    CHECK(acp_json_enter_object(r) == 0);
    while (acp_json_next_key(r, &key) > 0) {
        struct acp_raw raw;
        struct acp_json_reader saved = *r;
        CHECK(acp_json_read_raw(r, &raw) == 0);
        if (acp_str_eq(key, without)) {
            if (depth > 0 && raw.ptr[0] == '{')
                write_others(&saved, inner, depth - 1, out);
            continue;
        }
        struct acp_json_writer w;
        acp_json_writer_init(&w, out);
        acp_json_write_key(&w, key);
        acp_json_write_raw(&w, raw);
        CHECK(w.err == 0);
    }
}

/* Whether two texts, of which one has been edited, have the same other members. */
static void check_others(struct acp_str before, struct acp_str after, size_t depth)
{
    struct acp_str texts[2] = {before, after};
    struct acp_buf others[2];
    for (size_t i = 0; i < 2; i++) {
        acp_buf_init(&others[i], SIZE_MAX / 2);
        char *blanked = blank(texts[i]);
        CHECK(blanked);
        CHECK(acp_json_validate(acp_raw_n(blanked, texts[i].len), 0, NULL) == 0);
        struct acp_arena arena;
        struct acp_json_reader r;
        acp_arena_init(&arena, 0);
        acp_json_reader_init(&r, acp_raw_n(blanked, texts[i].len), &arena, 0);
        write_others(&r, name, depth, &others[i]);
        acp_arena_finish(&arena);
        free(blanked);
    }
    CHECK(acp_str_eq(acp_buf_view(&others[0]), acp_buf_view(&others[1])));
    acp_buf_finish(&others[0]);
    acp_buf_finish(&others[1]);
}

/* Every byte of `less` but blanks, in order in `more`: nothing was rewritten. */
static void check_kept(struct acp_str less, struct acp_str more)
{
    size_t at = 0;
    for (size_t i = 0; i < less.len; i++) {
        if (less.ptr[i] == ' ' || less.ptr[i] == '\t')
            continue;
        while (at < more.len && more.ptr[at] != less.ptr[i])
            at++;
        CHECK(at++ < more.len);
    }
}

static void check_edits(struct acp_str text, size_t depth)
{
    const struct acp_str path[2] = {name, inner};
    struct acp_buf set;
    struct acp_buf removed;
    acp_buf_init(&set, SIZE_MAX / 2);
    acp_buf_init(&removed, SIZE_MAX / 2);
    bool was_there = jsonc_remove(text, path, depth, &removed, NULL) == 0;
    if (was_there) {
        check_kept(acp_buf_view(&removed), text);
        /* Of several with the same name only the last one went: then the others differ. */
        check_others(text, acp_buf_view(&removed), depth - 1);
    }
    acp_buf_clear(&removed);
    if (jsonc_set(text, path, depth, acp_raw_from(value), &set, NULL) == 0) {
        if (!was_there)
            check_kept(text, acp_buf_view(&set));
        if (text.len > 0 && !was_there && depth == 1)
            CHECK(jsonc_remove(acp_buf_view(&set), path, depth, &removed, NULL) == 0);
        char *blanked = blank(text);
        CHECK(blanked);
        if (acp_json_validate(acp_raw_n(blanked, text.len), 0, NULL) == 0) {
            check_others(text, acp_buf_view(&set), depth - 1);
            if (removed.len > 0)
                check_others(text, acp_buf_view(&removed), 0);
        }
        free(blanked);
    }
    acp_buf_finish(&set);
    acp_buf_finish(&removed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str text = acp_str_n((const char *) data, size);
    char *blanked = blank(text);
    if (blanked && acp_json_validate(acp_raw_n(text.ptr, size), 0, NULL) == 0)
        CHECK(memcmp(blanked, text.ptr, size) == 0);
    free(blanked);
    check_edits(text, 1);
    check_edits(text, 2);
    (void) jsonc_position(text, size / 2);
    return 0;
}
