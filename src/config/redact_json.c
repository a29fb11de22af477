/* redact_json.c - removes secrets from protocol messages. */
#include <strings.h>

#include "acp/json.h"
#include "config/redact.h"

/* The meaning of a value, by the names of the enclosing members. */
enum place {
    PLACE_PLAIN = 0,
    PLACE_PAIRS, /* env and headers: values, or {"name": ..., "value": ...} */
    PLACE_ARGS,  /* the arguments of a command */
    PLACE_URL,
    PLACE_SECRET, /* every string in it */
};

static int copy(struct acp_json_reader *r, struct acp_json_writer *w, enum place place);

static enum place place_of(struct acp_str key, enum place around)
{
    static const char *const secrets[] = {
        "apiKey",       "api_key",       "token",       "accessToken",  "access_token",
        "refreshToken", "refresh_token", "secret",      "clientSecret", "client_secret",
        "password",     "authorization", "credentials", "cookie"};
    /* The name of a variable is not secret; all members of an object of variables are. */
    if (around == PLACE_SECRET || around == PLACE_PAIRS)
        return acp_str_is(key, "name") ? PLACE_PLAIN : PLACE_SECRET;
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (key.len == strlen(secrets[i]) && strncasecmp(key.ptr, secrets[i], key.len) == 0)
            return PLACE_SECRET;
    if (acp_str_is(key, "env") || acp_str_is(key, "headers"))
        return PLACE_PAIRS;
    if (acp_str_is(key, "args"))
        return PLACE_ARGS;
    return acp_str_is(key, "url") || acp_str_is(key, "baseUrl") ? PLACE_URL : PLACE_PLAIN;
}

static int copy_object(struct acp_json_reader *r, struct acp_json_writer *w, enum place place)
{
    struct acp_str key;
    int more = acp_json_enter_object(r);
    acp_json_begin_object(w);
    while (!more && (more = acp_json_next_key(r, &key)) > 0) {
        acp_json_write_key(w, key);
        more = copy(r, w, place_of(key, place));
    }
    acp_json_end_object(w);
    return more;
}

static int copy_array(struct acp_json_reader *r, struct acp_json_writer *w, enum place place)
{
    const char *before = NULL;
    int more = acp_json_enter_array(r);
    acp_json_begin_array(w);
    while (!more && (more = acp_json_next_item(r)) > 0) {
        struct acp_str text;
        struct acp_buf shown;
        if (place != PLACE_ARGS || acp_json_peek(r) != ACP_JSON_STRING) {
            more = copy(r, w, place);
            continue;
        }
        more = acp_json_read_str(r, &text);
        acp_buf_init(&shown, 8 * text.len + 64);
        if (!more) {
            int err = redact_argument(before, text, &shown);
            acp_json_write_str(w, err ? acp_str_from("(set)") : acp_buf_view(&shown));
            before = acp_arena_copy(r->arena, text).ptr;
        }
        acp_buf_finish(&shown);
    }
    acp_json_end_array(w);
    return more;
}

static int copy_text(struct acp_json_reader *r, struct acp_json_writer *w, enum place place)
{
    struct acp_str text;
    struct acp_buf shown;
    int err = acp_json_read_str(r, &text);
    if (err)
        return err;
    acp_buf_init(&shown, 8 * text.len + 64);
    bool hidden = place == PLACE_SECRET || place == PLACE_PAIRS;
    if (!hidden && place == PLACE_URL)
        hidden = redact_url(text, &shown) != 0;
    acp_json_write_str(w, hidden               ? acp_str_from("(set)")
                          : place == PLACE_URL ? acp_buf_view(&shown)
                                               : text);
    acp_buf_finish(&shown);
    return 0;
}

static int copy(struct acp_json_reader *r, struct acp_json_writer *w, enum place place)
{
    struct acp_raw raw;
    switch (acp_json_peek(r)) {
    case ACP_JSON_OBJECT:
        return copy_object(r, w, place);
    case ACP_JSON_ARRAY:
        return copy_array(r, w, place);
    case ACP_JSON_STRING:
        return copy_text(r, w, place);
    default:
        break;
    }
    /* A PIN can be a number. */
    bool hidden = place == PLACE_SECRET && acp_json_peek(r) == ACP_JSON_NUMBER;
    int err = acp_json_read_raw(r, &raw);
    if (!err && hidden)
        acp_json_write_str(w, acp_str_from("(set)"));
    else if (!err)
        acp_json_write_raw(w, raw);
    return err;
}

int redact_json(struct acp_raw json, struct acp_arena *arena, struct acp_buf *out)
{
    struct acp_json_reader r;
    struct acp_json_writer w;
    acp_json_reader_init(&r, json, arena, 0);
    acp_json_writer_init(&w, out);
    int err = copy(&r, &w, PLACE_PLAIN);
    return err ? err : w.err;
}
