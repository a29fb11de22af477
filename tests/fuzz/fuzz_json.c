/*
 * Fuzzes the reader and the writer.  The input is read as JSON by a walk that the input itself
 * leads, by acp_json_validate, by acp_json_pretty and by the reference of the unit tests, which
 * must agree; then it is written as a text and read back.
 */
#include <math.h>
#include <stdlib.h>

#include "acp/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "test_json_reference.h"

static uint32_t dice;

static unsigned roll(unsigned sides)
{
    dice = dice * 1664525u + 1013904223u;
    return (dice >> 16) % sides;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* What is read from a number must be the same however it is asked for. */
static void check_number(struct acp_json_reader *r)
{
    struct acp_json_reader start = *r;
    int64_t i = 0;
    uint64_t u = 0;
    double x = 0;
    int signed_err = acp_json_read_i64(r, &i);
    *r = start;
    int unsigned_err = acp_json_read_u64(r, &u);
    *r = start;
    int double_err = acp_json_read_f64(r, &x);
    *r = start;
    if (!signed_err && i >= 0)
        CHECK(!unsigned_err && u == (uint64_t) i);
    if (!signed_err && i < 0)
        CHECK(unsigned_err == ACP_ERR_RANGE);
    CHECK((signed_err == ACP_ERR_TYPE) == (unsigned_err == ACP_ERR_TYPE));
    if (!unsigned_err) {
        CHECK(!double_err);
        CHECK(fabs(x - (double) u) <= (double) u * 1e-15);
    }
    if (double_err || signed_err == ACP_ERR_SYNTAX)
        return;
    char text[64];
    struct acp_buf out;
    struct acp_json_writer w;
    struct acp_json_reader again;
    double back = 0;
    acp_buf_init(&out, sizeof(text));
    acp_json_writer_init(&w, &out);
    acp_json_write_f64(&w, x);
    CHECK(w.err == 0);
    acp_json_reader_init(&again, acp_raw_n(out.data, out.len), NULL, 0);
    CHECK(acp_json_read_f64(&again, &back) == 0);
    CHECK(memcmp(&x, &back, sizeof(x)) == 0);
    acp_buf_finish(&out);
}

/* Asks for what is not there: that must not move the reader. */
static void ask_wrongly(struct acp_json_reader *r, enum acp_json_type type)
{
    struct acp_json_reader start = *r;
    struct acp_str text;
    bool truth;
    int64_t number;
    if (type != ACP_JSON_STRING)
        CHECK(acp_json_read_str(r, &text) == ACP_ERR_TYPE);
    if (type != ACP_JSON_BOOL)
        CHECK(acp_json_read_bool(r, &truth) == ACP_ERR_TYPE);
    if (type != ACP_JSON_NUMBER)
        CHECK(acp_json_read_i64(r, &number) == ACP_ERR_TYPE);
    if (type != ACP_JSON_ARRAY)
        CHECK(acp_json_enter_array(r) == ACP_ERR_TYPE);
    CHECK(memcmp(r, &start, sizeof(start)) == 0);
}

static int walk(struct acp_json_reader *r);

static int walk_container(struct acp_json_reader *r, bool object)
{
    struct acp_str key = {NULL, 0};
    int more;
    int err = object ? acp_json_enter_object(r) : acp_json_enter_array(r);
    while (!err && (more = object ? acp_json_next_key(r, &key) : acp_json_next_item(r)) != 0)
        err = more < 0 ? more : walk(r);
    return err;
}

static int walk(struct acp_json_reader *r)
{
    struct acp_str text;
    struct acp_raw raw;
    bool truth;
    enum acp_json_type type = acp_json_peek(r);
    if (type != ACP_JSON_NONE && roll(4) == 0)
        ask_wrongly(r, type);
    if (roll(8) == 0)
        return acp_json_skip(r);
    if (roll(8) == 0) { /* there and back again */
        struct acp_json_reader start = *r;
        if (acp_json_read_raw(r, &raw) == 0)
            CHECK(acp_json_validate(raw, 0, NULL) == 0);
        *r = start;
    }
    switch (type) {
    case ACP_JSON_OBJECT:
    case ACP_JSON_ARRAY:
        return walk_container(r, type == ACP_JSON_OBJECT);
    case ACP_JSON_STRING:
        return acp_json_read_str(r, &text);
    case ACP_JSON_BOOL:
        return acp_json_read_bool(r, &truth);
    case ACP_JSON_NULL:
        return acp_json_read_null(r);
    case ACP_JSON_NUMBER:
        check_number(r);
        return acp_json_skip(r);
    case ACP_JSON_NONE:
        break;
    }
    return acp_json_skip(r);
}

static void read_all_ways(struct acp_raw text)
{
    struct acp_arena arena;
    struct acp_json_reader r;
    size_t at = 0;
    size_t want_at = 0;
    int want = ref_validate(text, ACP_JSON_MAX_DEPTH, &want_at);
    CHECK(acp_json_validate(text, 0, &at) == want);
    CHECK(at == want_at);
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, text, &arena, 0);
    int err = walk(&r);
    if (!err)
        err = acp_json_read_end(&r);
    CHECK(err == want);
    CHECK(acp_json_offset(&r) == (err ? want_at : text.len));
    acp_arena_finish(&arena);

    struct acp_buf once;
    struct acp_buf twice;
    acp_buf_init(&once, 64 << 20);
    acp_buf_init(&twice, 64 << 20);
    CHECK(acp_json_pretty(text, &once) == want);
    if (!want) {
        struct acp_raw pretty = {acp_buf_view(&once).ptr, once.len};
        CHECK(acp_json_validate(pretty, 0, NULL) == 0);
        CHECK(acp_json_pretty(pretty, &twice) == 0);
        CHECK(acp_str_eq(acp_buf_view(&once), acp_buf_view(&twice)));
    }
    acp_buf_finish(&once);
    acp_buf_finish(&twice);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static bool is_utf8(struct acp_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}

static void write_and_read(struct acp_str text)
{
    struct acp_buf out;
    struct acp_json_writer w;
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key = {NULL, 0};
    struct acp_str value = {NULL, 0};
    acp_buf_init(&out, 64 << 20);
    acp_arena_init(&arena, 0);
    acp_json_writer_init(&w, &out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, text);
    acp_json_write_str(&w, text);
    acp_json_end_object(&w);
    CHECK(w.err == 0);
    acp_json_reader_init(&r, acp_raw_n(out.data, out.len), &arena, 0);
    CHECK(acp_json_enter_object(&r) == 0);
    CHECK(acp_json_next_key(&r, &key) == 1);
    CHECK(acp_json_read_str(&r, &value) == 0);
    CHECK(acp_json_next_key(&r, &key) == 0 && acp_json_read_end(&r) == 0);
    CHECK(is_utf8(value));
    if (is_utf8(text))
        CHECK(acp_str_eq(value, text));
    acp_arena_finish(&arena);
    acp_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own size, so that the sanitizer sees every read outside of it. */
    char *copy = malloc(size ? size : 1);
    CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    dice = (uint32_t) size;
    for (size_t i = 0; i < size; i++)
        dice = dice * 31 + data[i];
    read_all_ways(acp_raw_n(copy, size));
    write_and_read(acp_str_n(copy, size));
    free(copy);
    return 0;
}
