/*
 * Fuzzes the answers of models, and the requests that are made of them.  The first byte chooses the
 * API.  A stream of events says the same however it is cut; what came of it is then sent back to
 * every API as a part of the conversation, and must be valid JSON.  The same bytes are also read as
 * the body of an error.
 */
#include "fuzz.h"
#include "model_log.h"

static const struct model_dialect *const dialects[] = {&dialect_anthropic, &dialect_chat,
                                                       &dialect_responses, &dialect_gemini};
enum { DIALECTS = 4 };

static const struct stream_sink sink = {model_log_text, model_log_thought, model_log_begun,
                                        model_log_call, model_log_usage,   model_log_dropped};

static void write_back(const struct model_part *parts, size_t count)
{
    struct model_part first = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
    struct model_message messages[] = {{MODEL_USER, &first, 1}, {MODEL_ASSISTANT, parts, count}};
    struct model_ask ask = {.model = ACP_STR("gemini-3"), .messages = messages, .message_count = 2};
    for (size_t i = 0; i < DIALECTS; i++) {
        struct acp_buf body;
        struct acp_json_writer w;
        acp_buf_init(&body, SIZE_MAX / 2);
        acp_json_writer_init(&w, &body);
        dialects[i]->write(&ask, &w);
        struct acp_str text = acp_buf_view(&body);
        CHECK(w.err == 0);
        /* Room for the levels around what a peer has nested as deeply as it may. */
        CHECK(acp_json_validate(acp_raw_n(text.ptr, text.len), ACP_JSON_MAX_DEPTH + 16, NULL) == 0);
        acp_buf_finish(&body);
    }
}

/* One event for each line. */
static void read_lines(const struct model_dialect *dialect, struct acp_str text)
{
    struct model_stream s;
    struct acp_buf log;
    const struct model_part *parts;
    size_t count;
    acp_buf_init(&log, SIZE_MAX / 2);
    stream_init(&s, &sink, &log);
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t) (end - text.ptr) : text.len;
        dialect_event(dialect, &s, acp_str_n(text.ptr, n));
        n = end ? n + 1 : n;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
    CHECK(stream_parts(&s, &parts, &count) == 0);
    write_back(parts, count);
    stream_finish(&s);
    acp_buf_finish(&log);
}

static void read_error(struct acp_str text)
{
    struct model_stream s;
    struct acp_buf log;
    acp_buf_init(&log, SIZE_MAX / 2);
    stream_init(&s, &sink, &log);
    struct acp_raw body = acp_raw_n(text.ptr, text.len);
    if (acp_json_validate(body, 0, NULL) == 0)
        (void) dialect_read_error(&s, body, 500);
    CHECK(strlen(s.sentence) < sizeof(s.sentence));
    stream_finish(&s);
    acp_buf_finish(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct model_dialect *dialect = dialects[data[0] % DIALECTS];
    struct acp_str text = acp_str_n((const char *) data + 1, size - 1);
    struct acp_buf one;
    struct acp_buf other;
    acp_buf_init(&one, SIZE_MAX / 2);
    acp_buf_init(&other, SIZE_MAX / 2);
    model_log_stream(dialect, text, 1, &one);
    model_log_stream(dialect, text, 1 << 20, &other);
    CHECK(acp_str_eq(acp_buf_view(&one), acp_buf_view(&other)));
    acp_buf_finish(&one);
    acp_buf_finish(&other);
    read_lines(dialect, text);
    read_error(text);
    return 0;
}
