/*
 * Fuzzes the routing scan.  The first byte chooses the key that is asked for, the rest is the
 * message.  The scan must take what acp_json_validate takes, find what a plain walk with the reader
 * finds, and a message that was spliced must scan again with what was put into it.
 */
#include <stdlib.h>

#include "acp/json.h"
#include "acp/scan.h"
#include "fuzz.h"

static bool same(struct acp_raw a, struct acp_raw b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

/* ---- The same by plain reading -------------------------------------------------------------- */

static void find_inside(struct acp_raw value, struct acp_arena *arena, struct acp_str name,
                        struct acp_raw *ret)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw member;
    *ret = acp_raw_from(NULL);
    acp_json_reader_init(&r, value, arena, 0);
    if (!name.ptr || acp_json_enter_object(&r))
        return;
    while (acp_json_next_key(&r, &key) > 0) {
        CHECK(acp_json_read_raw(&r, &member) == 0);
        if (acp_str_eq(key, name))
            *ret = member;
    }
}

static void find_plainly(struct acp_raw text, struct acp_arena *arena, struct acp_str name,
                         struct acp_scan *ret)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw member;
    struct acp_raw in_result = {NULL, 0};
    *ret = (struct acp_scan){0};
    acp_json_reader_init(&r, text, arena, 0);
    if (acp_json_enter_object(&r))
        return;
    while (acp_json_next_key(&r, &key) > 0) {
        CHECK(acp_json_read_raw(&r, &member) == 0);
        if (acp_str_is(key, "id"))
            ret->id = member;
        else if (acp_str_is(key, "method"))
            ret->method = member;
        else if (acp_str_is(key, "params"))
            ret->params = member;
        else if (acp_str_is(key, "result"))
            ret->result = member;
        else if (acp_str_is(key, "error"))
            ret->error = member;
    }
    if (ret->params.ptr) {
        find_inside(ret->params, arena, acp_str_from("sessionId"), &ret->session_id);
        find_inside(ret->params, arena, name, &ret->key);
    }
    if (ret->result.ptr)
        find_inside(ret->result, arena, acp_str_from("sessionId"), &in_result);
    if (!ret->method.ptr && !ret->session_id.ptr)
        ret->session_id = in_result;
}

/* ---- Splicing ------------------------------------------------------------------------------- */

static void splice(struct acp_raw text, struct acp_raw span, struct acp_raw by,
                   struct acp_scan *ret, struct acp_buf *out)
{
    acp_buf_init(out, 64 << 20);
    CHECK(acp_scan_splice(text, span, by, out) == 0);
    CHECK(out->len == text.len - span.len + by.len);
    CHECK(acp_scan_message(acp_raw_n(acp_buf_view(out).ptr, out->len), acp_str_from(NULL), ret,
                           NULL) == 0);
}

static void check_splices(struct acp_raw text, const struct acp_scan *scan)
{
    static const struct acp_raw by = {"\"new\\n\"", 7};
    struct acp_scan after;
    struct acp_buf out;
    if (scan->id.ptr) {
        splice(text, scan->id, by, &after, &out);
        CHECK(after.id.len == by.len && memcmp(after.id.ptr, by.ptr, by.len) == 0);
        CHECK(after.kind == scan->kind);
        CHECK(after.params.len == scan->params.len && after.result.len == scan->result.len);
        CHECK(after.session_id.len == scan->session_id.len);
        acp_buf_finish(&out);
    }
    if (scan->session_id.ptr) {
        splice(text, scan->session_id, by, &after, &out);
        CHECK(after.session_id.len == by.len);
        CHECK(memcmp(after.session_id.ptr, by.ptr, by.len) == 0);
        CHECK(after.kind == scan->kind);
        CHECK(after.id.len == scan->id.len && after.method.len == scan->method.len);
        acp_buf_finish(&out);
    }
}

static void check_spans(struct acp_raw text, const struct acp_scan *scan)
{
    const struct acp_raw spans[] = {scan->id,    scan->method, scan->params,    scan->result,
                                    scan->error, scan->key,    scan->session_id};
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        if (!spans[i].ptr)
            continue;
        CHECK(spans[i].ptr >= text.ptr && spans[i].ptr + spans[i].len <= text.ptr + text.len);
        CHECK(spans[i].len > 0);
        CHECK(acp_json_validate(spans[i], 0, NULL) == 0);
        struct acp_str plain = acp_scan_plain(spans[i]);
        CHECK(!plain.ptr || plain.len == spans[i].len - 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {NULL, "update", "sessionId", ""};
    if (size == 0)
        return 0;
    struct acp_str key = acp_str_from(keys[data[0] % 4]);
    size--;
    /* A copy of its own size, so that the sanitizer sees every read outside of it. */
    char *copy = malloc(size ? size : 1);
    CHECK(copy);
    if (size)
        memcpy(copy, data + 1, size);
    struct acp_raw text = {copy, size};
    struct acp_scan scan;
    size_t at = 0;
    size_t valid_at = 0;
    int err = acp_scan_message(text, key, &scan, &at);
    CHECK(acp_json_validate(text, 0, &valid_at) == err);
    CHECK(at == valid_at);
    if (!err) {
        struct acp_arena arena;
        struct acp_scan plain;
        acp_arena_init(&arena, 0);
        find_plainly(text, &arena, key, &plain);
        CHECK(same(scan.id, plain.id) && same(scan.method, plain.method));
        CHECK(same(scan.params, plain.params) && same(scan.result, plain.result));
        CHECK(same(scan.error, plain.error) && same(scan.key, plain.key));
        CHECK(same(scan.session_id, plain.session_id));
        acp_arena_finish(&arena);
        check_spans(text, &scan);
        check_splices(text, &scan);
    }
    free(copy);
    return 0;
}
