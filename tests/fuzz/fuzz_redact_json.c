/*
 * Fuzzes leaving secrets out of recorded messages: any input as a message, whose result must be
 * JSON and stay as it is when it is redacted again; and any text, with a marker behind it, in every
 * place where secrets live, none of which may let the marker through.
 */
#include "acp/json.h"
#include "config/redact.h"
#include "fuzz.h"

#define MARKER "mArKeR9mArKeR9mArKeR9mArKeR9"

static bool has_marker(struct acp_str text)
{
    size_t n = sizeof(MARKER) - 1;
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, MARKER, n) == 0)
            return true;
    return false;
}

static int redact(struct acp_str json, struct acp_buf *out)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    acp_buf_init(out, 16 * json.len + 4096);
    int err = redact_json(acp_raw_n(json.ptr, json.len), &arena, out);
    acp_arena_finish(&arena);
    return err;
}

static void check_message(struct acp_str json)
{
    struct acp_buf once;
    struct acp_buf twice;
    int err = redact(json, &once);
    if (!err) {
        CHECK(!redact(acp_buf_view(&once), &twice));
        CHECK(acp_str_eq(acp_buf_view(&once), acp_buf_view(&twice)));
        acp_buf_finish(&twice);
    }
    acp_buf_finish(&once);
}

static void write_secret(struct acp_json_writer *w, const char *key, struct acp_str secret)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, secret);
}

/* The secret in each of the places, below members that say nothing. */
static void write_places(struct acp_json_writer *w, struct acp_str secret)
{
    static const char *const names[] = {"apiKey",   "TOKEN",  "refresh_token", "Authorization",
                                        "password", "cookie", "client_secret"};
    acp_json_begin_object(w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        write_secret(w, names[i], secret);
    acp_json_write_key(w, acp_str_from("credentials"));
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    write_secret(w, "any", secret);
    acp_json_end_object(w);
    acp_json_write_str(w, secret);
    acp_json_end_array(w);
    acp_json_write_key(w, acp_str_from("env"));
    acp_json_begin_object(w);
    write_secret(w, "A", secret);
    acp_json_end_object(w);
    acp_json_write_key(w, acp_str_from("headers"));
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    write_secret(w, "name", acp_str_from("X"));
    write_secret(w, "value", secret);
    acp_json_end_object(w);
    acp_json_end_array(w);
    acp_json_write_key(w, acp_str_from("args"));
    acp_json_begin_array(w);
    acp_json_write_str(w, acp_str_from("--token"));
    acp_json_write_str(w, secret);
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static void check_places(const uint8_t *data, size_t size)
{
    struct acp_buf secret;
    struct acp_buf json;
    struct acp_buf out;
    struct acp_json_writer w;
    acp_buf_init(&secret, size + 100);
    acp_buf_init(&json, 256 * size + 65536);
    (void) acp_buf_append(&secret, data, size);
    (void) acp_buf_append_str(&secret, acp_str_from(MARKER));
    acp_json_writer_init(&w, &json);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("params"));
    write_places(&w, acp_buf_view(&secret));
    acp_json_end_object(&w);
    if (!w.err) {
        CHECK(!redact(acp_buf_view(&json), &out));
        CHECK(!has_marker(acp_buf_view(&out)));
        acp_buf_finish(&out);
    }
    acp_buf_finish(&json);
    acp_buf_finish(&secret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str text = acp_str_n((const char *) data, size);
    check_message(text);
    if (!has_marker(text))
        check_places(data, size);
    return 0;
}
