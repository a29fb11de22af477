/*
 * Fuzzes what the coding agent reads out of its log: a session's messages and contexts, one a line.
 * Whatever was written there, what comes of it can be sent to every service.
 */
#include "agent/loop/context.h"
#include "agent/loop/history.h"
#include "fuzz.h"

static bool has(const struct model_message *message, enum model_part_kind kind, struct acp_str id)
{
    for (size_t i = 0; i < message->part_count; i++)
        if (message->parts[i].kind == kind && acp_str_eq(message->parts[i].id, id))
            return true;
    return false;
}

static void check_message(const struct model_message *before, const struct model_message *message)
{
    bool is_user = message->role == MODEL_USER;
    CHECK(message->part_count > 0);
    CHECK(is_user || message->parts[message->part_count - 1].kind != MODEL_THOUGHT);
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        CHECK(part->kind != MODEL_TEXT || part->text.len || part->sealed.api.ptr);
        CHECK(!is_user || (part->kind != MODEL_CALL && part->kind != MODEL_THOUGHT));
        if (part->kind == MODEL_RESULT)
            CHECK(is_user && before && has(before, MODEL_CALL, part->id));
        if (part->kind == MODEL_RESULT && i)
            CHECK(message->parts[i - 1].kind == MODEL_RESULT);
    }
    for (size_t i = 0; before && before->role == MODEL_ASSISTANT && i < before->part_count; i++)
        if (before->parts[i].kind == MODEL_CALL)
            CHECK(has(message, MODEL_RESULT, before->parts[i].id));
}

static void check_history(struct history *history)
{
    struct acp_arena arena;
    CHECK(history_close_calls(history, acp_str_from("interrupted")) >= 0);
    acp_arena_init(&arena, 0);
    const struct model_message *messages = history_messages(history, 0, &arena);
    CHECK(messages);
    for (size_t i = 0; i < history_count(history); i++)
        check_message(i ? &messages[i - 1] : NULL, &messages[i]);
    acp_arena_finish(&arena);
}

/* What was read is written, and then always alike. */
static void check_context(struct acp_raw line)
{
    struct context *context = NULL;
    struct acp_buf text[2];
    int err = context_read(line, &context);
    CHECK(!err == (context != NULL));
    for (int i = 0; context && i < 2; i++) {
        struct acp_json_writer w;
        acp_buf_init(&text[i], (size_t) 64 << 20);
        acp_json_writer_init(&w, &text[i]);
        context_write(context, true, &w);
        CHECK(w.err == 0);
        context_free(context);
        context = NULL;
        CHECK(context_read(acp_raw_n(acp_buf_view(&text[i]).ptr, text[i].len), &context) == 0);
    }
    if (!context)
        return;
    CHECK(acp_str_eq(acp_buf_view(&text[0]), acp_buf_view(&text[1])));
    context_free(context);
    acp_buf_finish(&text[0]);
    acp_buf_finish(&text[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct history *history;
    const char *at = (const char *) data;
    const char *end = at + size;
    CHECK(history_new(NULL, &history) == 0);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t) (end - at));
        struct acp_raw line = acp_raw_n(at, (size_t) ((newline ? newline : end) - at));
        (void) history_read(history, line);
        check_context(line);
        at += line.len + 1;
    }
    check_history(history);
    size_t count = history_count(history);
    CHECK(history_strip_reasoning(history) == 0);
    CHECK(history_count(history) <= count);
    check_history(history);
    CHECK(history_compact(history, acp_str_from("in short"), size % 5) == 0);
    check_history(history);
    history_free(history);
    return 0;
}
