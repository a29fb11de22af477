/* The JSON floor and the codec against cJSON and jansson, in one run. */
#include <cjson/cJSON.h>
#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>

#include "acp/scan.h"
#include "acp/types.h"
#include "bench.h"
#include "messages.h"

static const struct acp_str no_key = {NULL, 0};

enum { ENCODES = 500 };

/* ---- Routing --------------------------------------------------------------------------------- */

static size_t scan_all(void *user)
{
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        struct acp_scan scan;
        if (acp_scan_message(m->items[i], no_key, &scan, NULL) || !scan.session_id.ptr)
            abort();
        bench_use(&scan);
    }
    return m->count;
}

static size_t cjson_parse_all(void *user)
{
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        cJSON *json = cJSON_ParseWithLength(m->items[i].ptr, m->items[i].len);
        if (!json)
            abort();
        bench_use(json);
        cJSON_Delete(json);
    }
    return m->count;
}

static size_t jansson_parse_all(void *user)
{
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        json_t *json = json_loadb(m->items[i].ptr, m->items[i].len, 0, NULL);
        if (!json)
            abort();
        bench_use(json);
        json_decref(json);
    }
    return m->count;
}

static size_t splice_all(void *user)
{
    static struct acp_buf out = {.max = 1 << 20};
    static const struct acp_raw by = {"\"outer-session-1\"", 17};
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        struct acp_scan scan;
        acp_buf_clear(&out);
        if (acp_scan_message(m->items[i], no_key, &scan, NULL) ||
            acp_scan_splice(m->items[i], scan.session_id, by, &out))
            abort();
        bench_use(out.data);
    }
    return m->count;
}

static size_t cjson_rewrite_all(void *user)
{
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        cJSON *json = cJSON_ParseWithLength(m->items[i].ptr, m->items[i].len);
        cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "params");
        if (!params)
            abort();
        cJSON_ReplaceItemInObjectCaseSensitive(params, "sessionId",
                                               cJSON_CreateString("outer-session-1"));
        char *text = cJSON_PrintUnformatted(json);
        bench_use(text);
        free(text);
        cJSON_Delete(json);
    }
    return m->count;
}

/* ---- Typed messages -------------------------------------------------------------------------- */

/* The params alone, for decode_params. */
struct params {
    struct acp_raw *items;
    size_t count;
};

static struct params params_of(const struct messages *m)
{
    struct params params = {calloc(m->count, sizeof(struct acp_raw)), m->count};
    if (!params.items)
        abort();
    for (size_t i = 0; i < m->count; i++) {
        struct acp_scan scan;
        if (acp_scan_message(m->items[i], no_key, &scan, NULL))
            abort();
        params.items[i] = scan.params;
    }
    return params;
}

static void decode_one(struct acp_raw params)
{
    static struct acp_arena arena = {.max = ACP_ARENA_DEFAULT_MAX};
    struct acp_session_notification note;
    acp_arena_reset(&arena);
    if (acp_session_notification_decode(ACP_V1, params, &arena, &note, NULL))
        abort();
    bench_use(&note);
}

static size_t decode_params(void *user)
{
    const struct params *p = user;
    for (size_t i = 0; i < p->count; i++)
        decode_one(p->items[i]);
    return p->count;
}

static size_t decode_all(void *user)
{
    const struct messages *m = user;
    for (size_t i = 0; i < m->count; i++) {
        struct acp_scan scan;
        if (acp_scan_message(m->items[i], no_key, &scan, NULL))
            abort();
        decode_one(scan.params);
    }
    return m->count;
}

static const char chunk_text[] = "the function reads every line of a file and returns what it "
                                 "found before the buffer";

static size_t encode_many(void *user)
{
    static struct acp_buf out = {.max = 1 << 20};
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":";
    (void) user;
    for (size_t i = 0; i < ENCODES; i++) {
        struct acp_json_writer w;
        struct acp_session_notification note;
        acp_session_notification_init(&note, acp_str_from("sess_0123456789abcdef"));
        acp_session_update_init_agent_message_chunk(&note.update);
        acp_content_block_init_text(&note.update.agent_message_chunk.content,
                                    acp_str_from(chunk_text));
        acp_buf_clear(&out);
        (void) acp_buf_append(&out, head, sizeof(head) - 1);
        acp_json_writer_init(&w, &out);
        if (acp_session_notification_encode(ACP_V1, &note, &w, NULL))
            abort();
        (void) acp_buf_append(&out, "}", 1);
        bench_use(out.data);
    }
    return ENCODES;
}

static size_t cjson_build_many(void *user)
{
    (void) user;
    for (size_t i = 0; i < ENCODES; i++) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "jsonrpc", "2.0");
        cJSON_AddStringToObject(json, "method", "session/update");
        cJSON *params = cJSON_AddObjectToObject(json, "params");
        cJSON_AddStringToObject(params, "sessionId", "sess_0123456789abcdef");
        cJSON *update = cJSON_AddObjectToObject(params, "update");
        cJSON_AddStringToObject(update, "sessionUpdate", "agent_message_chunk");
        cJSON *content = cJSON_AddObjectToObject(update, "content");
        cJSON_AddStringToObject(content, "type", "text");
        cJSON_AddStringToObject(content, "text", chunk_text);
        char *text = cJSON_PrintUnformatted(json);
        bench_use(text);
        free(text);
        cJSON_Delete(json);
    }
    return ENCODES;
}

/* Bytes that malloc has given out: warm codecs must not change it. */
static void check_allocations(struct messages *chunks)
{
    size_t before = mallinfo2().uordblks;
    (void) decode_all(chunks);
    (void) encode_many(NULL);
    size_t after = mallinfo2().uordblks;
    printf("%-46s %9zu bytes more in use after %zu decodes and %d encodes (goal 0) %s\n",
           "memory taken once warm", after - before, chunks->count, ENCODES,
           after == before ? "reached" : "MISSED");
}

static void compare_routing(const char *name, struct messages *m)
{
    char what[64];
    struct bench_side sides[] = {{"acp_scan", scan_all, m, 0},
                                 {"cJSON parse", cjson_parse_all, m, 0},
                                 {"jansson loadb", jansson_parse_all, m, 0}};
    bench_compare(sides, 3);
    (void) snprintf(what, sizeof(what), "routing scan, %s (%zu B)", name, m->bytes / m->count);
    bench_row(what, &sides[0], &sides[1], 5);
    bench_row(what, &sides[0], &sides[2], 20);
    struct bench_side rewrite[] = {{"scan and splice", splice_all, m, 0},
                                   {"cJSON parse-set-print", cjson_rewrite_all, m, 0}};
    bench_compare(rewrite, 2);
    (void) snprintf(what, sizeof(what), "replace the session id, %s (%zu B)", name,
                    m->bytes / m->count);
    bench_row(what, &rewrite[0], &rewrite[1], 10);
}

int main(void)
{
    struct messages small = messages_small();
    struct messages mixed = messages_mixed();
    struct messages chunks = messages_chunks();
    compare_routing("small", &small);
    compare_routing("mixed", &mixed);
    struct params params = params_of(&chunks);
    struct bench_side decode[] = {{"typed decode", decode_params, &params, 0},
                                  {"cJSON parse", cjson_parse_all, &chunks, 0},
                                  {"scan and typed decode", decode_all, &chunks, 0}};
    bench_compare(decode, 3);
    bench_row("typed decode of session/update chunks", &decode[0], &decode[1], 3);
    bench_row("the same with the routing scan before it", &decode[2], &decode[1], 0);
    struct bench_side encode[] = {{"typed encode", encode_many, NULL, 0},
                                  {"cJSON build-and-print", cjson_build_many, NULL, 0}};
    bench_compare(encode, 2);
    bench_row("typed encode of session/update chunks", &encode[0], &encode[1], 10);
    check_allocations(&chunks);
    free(params.items);
    messages_free(&small);
    messages_free(&mixed);
    messages_free(&chunks);
    return 0;
}
