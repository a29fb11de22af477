/*
 * Fuzzes the demonstration model: any prompt and any result of a tool gives an answer whose calls
 * have valid arguments.  A NUL byte parts the prompt from the result.
 */
#include "fuzz.h"
#include "model/demo.h"
#include "model_log.h"

static const struct stream_sink sink = {model_log_text, model_log_thought, model_log_begun,
                                        model_log_call, model_log_usage,   model_log_dropped};

static const struct model_tool tools[] = {
    {ACP_STR("list"), ACP_STR(""), {"{}", 2}},  {ACP_STR("read"), ACP_STR(""), {"{}", 2}},
    {ACP_STR("grep"), ACP_STR(""), {"{}", 2}},  {ACP_STR("edit"), ACP_STR(""), {"{}", 2}},
    {ACP_STR("write"), ACP_STR(""), {"{}", 2}}, {ACP_STR("run_command"), ACP_STR(""), {"{}", 2}},
    {ACP_STR("plan"), ACP_STR(""), {"{}", 2}},
};

static void answer(const struct model_message *messages, size_t count)
{
    struct model_ask ask = {
        .messages = messages, .message_count = count, .tools = tools, .tool_count = 7};
    struct demo_play play;
    struct model_stream s;
    struct acp_buf log;
    acp_buf_init(&log, SIZE_MAX / 2);
    stream_init(&s, &sink, &log);
    CHECK(demo_think(&play, &ask) == 0 || play.text.len);
    while (demo_say(&play, &s))
        ;
    CHECK(s.err == 0 && s.has_stop);
    for (size_t i = 0; i < s.count; i++)
        CHECK(s.parts[i].part.kind != MODEL_CALL || s.parts[i].part.arguments.ptr);
    demo_finish(&play);
    stream_finish(&s);
    acp_buf_finish(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str all = acp_str_n((const char *) data, size);
    const char *nul = size ? memchr(all.ptr, '\0', all.len) : NULL;
    size_t n = nul ? (size_t) (nul - all.ptr) : all.len;
    struct model_part prompt = {.kind = MODEL_TEXT, .text = acp_str_n(all.ptr, n)};
    struct model_part call = {.kind = MODEL_CALL, .id = ACP_STR("1"), .name = ACP_STR("read")};
    struct model_part result = {.kind = MODEL_RESULT,
                                .id = ACP_STR("1"),
                                .name = ACP_STR("read"),
                                .text = acp_str_n(all.ptr + n, all.len - n)};
    struct model_message talk[] = {
        {MODEL_USER, &prompt, 1}, {MODEL_ASSISTANT, &call, 1}, {MODEL_USER, &result, 1}};
    answer(talk, 1);
    answer(talk, 3);
    return 0;
}
