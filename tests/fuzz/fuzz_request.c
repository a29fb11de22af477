/*
 * Fuzzes what is made of the texts of others for a request: schemas of tools, and the changes after
 * a refusal.  The first byte chooses the API and which of them.  A schema becomes valid JSON, an
 * object schema, whatever it was.  Of a refusal the first line is what the service says, the rest
 * the request, which stays valid JSON.
 */
#include "fuzz.h"
#include "model/pick.h"
#include "model/repair.h"
#include "model/schema_fold.h"

/* Room for the levels around what a peer has nested as deeply as it may. */
enum { DEPTH = ACP_JSON_MAX_DEPTH + 16 };

static void fold(struct acp_str text, enum schema_taker taker)
{
    struct acp_buf out;
    struct acp_json_writer w;
    acp_buf_init(&out, SIZE_MAX / 2);
    acp_json_writer_init(&w, &out);
    schema_write(acp_raw_n(text.ptr, text.len), taker, &w);
    CHECK(w.err == 0);
    struct acp_str view = acp_buf_view(&out);
    struct acp_raw schema = acp_raw_n(view.ptr, view.len);
    CHECK(acp_json_validate(schema, DEPTH, NULL) == 0);
    CHECK(pick_is(schema, "type", "object") && pick(schema, "properties").ptr);
    CHECK(!pick(schema, "anyOf").ptr && !pick(schema, "oneOf").ptr && !pick(schema, "allOf").ptr);
    acp_buf_finish(&out);
}

static void refuse(struct acp_str text, enum model_api api)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (!end)
        return;
    struct acp_str words = acp_str_n(text.ptr, (size_t) (end - text.ptr));
    struct acp_raw request = acp_raw_n(end + 1, text.len - words.len - 1);
    struct acp_json_reader r;
    acp_json_reader_init(&r, request, NULL, 0);
    if (acp_json_peek(&r) != ACP_JSON_OBJECT || acp_json_validate(request, 0, NULL))
        return;
    struct repair repair = repair_find(api, request, words);
    struct acp_buf out;
    struct acp_arena arena;
    acp_buf_init(&out, SIZE_MAX / 2);
    acp_arena_init(&arena, 0);
    if (repair.kind != REPAIR_NONE) {
        CHECK(repair_apply(api, request, &repair, &out) == 0);
        struct acp_str view = acp_buf_view(&out);
        CHECK(acp_json_validate(acp_raw_n(view.ptr, view.len), DEPTH, NULL) == 0);
        (void) repair_tool_name(api, request, &repair, &arena);
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum model_api apis[] = {MODEL_ANTHROPIC, MODEL_CHAT, MODEL_RESPONSES,
                                          MODEL_GEMINI};
    if (size < 1)
        return 0;
    struct acp_str text = acp_str_n((const char *) data + 1, size - 1);
    if (data[0] & 4)
        refuse(text, apis[data[0] & 3]);
    else
        fold(text, (enum schema_taker)((data[0] & 3) % 3));
    return 0;
}
