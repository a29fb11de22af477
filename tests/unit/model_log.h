/* model_log.h - what a stream says, as one line of text that tests and fuzzers compare. */
#ifndef TESTS_UNIT_MODEL_LOG_H
#define TESTS_UNIT_MODEL_LOG_H

#include <assert.h>

#include "http/sse.h"
#include "model/dialect.h"

static inline void model_log_put(struct acp_buf *log, const char *what, struct acp_str text)
{
    int err = acp_buf_printf(log, "%s(", what);
    err = err ? err : acp_buf_append_str(log, text);
    err = err ? err : acp_buf_append(log, ")", 1);
    (void) err; /* a full log stays as it is */
}

static void model_log_text(struct acp_str piece, void *user)
{
    model_log_put(user, "text", piece);
}

static void model_log_thought(struct acp_str piece, void *user)
{
    model_log_put(user, "thought", piece);
}

static void model_log_begun(const struct model_part *call, void *user)
{
    model_log_put(user, "begun", call->name);
}

static void model_log_call(const struct model_part *call, void *user)
{
    model_log_put(user, "id", call->id);
    if (call->arguments.ptr)
        model_log_put(user, "call", acp_str_n(call->arguments.ptr, call->arguments.len));
    else
        model_log_put(user, "broken", call->text);
}

static void model_log_usage(const struct model_usage *usage, void *user)
{
    (void) acp_buf_printf(user, "usage(%llu+%llu/%llu)", (unsigned long long) usage->input,
                          (unsigned long long) usage->output, (unsigned long long) usage->cached);
}

static void model_log_dropped(const struct model_part *call, void *user)
{
    model_log_put(user, "dropped", call->name);
}

static inline void model_log_part(struct acp_buf *log, const struct model_part *part)
{
    static const char *const kinds[] = {"Text",    "Image", "Audio", "Resource",
                                        "Thought", "Call",  "Result"};
    model_log_put(log, kinds[part->kind], part->kind == MODEL_CALL ? part->name : part->text);
    if (part->sealed.api.ptr)
        model_log_put(log, "seal", acp_str_n(part->sealed.data.ptr, part->sealed.data.len));
}

/* The end of it: parts, stop, fault. */
static inline void model_log_end(struct model_stream *s, struct acp_buf *log)
{
    const struct model_part *parts;
    size_t count;
    if (stream_parts(s, &parts, &count) == 0) {
        for (size_t i = 0; i < count; i++)
            model_log_part(log, &parts[i]);
    }
    if (s->has_stop)
        (void) acp_buf_printf(log, "%s", model_stop_name(stream_final_stop(s)));
    if (s->is_complete)
        (void) acp_buf_printf(log, "!");
    if (s->fault)
        (void) acp_buf_printf(log, "fault%d(%s)", (int) s->fault, s->sentence);
}

/* Reads a stream of events in pieces of that size, with a new block of memory for each. */
static inline void model_log_stream(const struct model_dialect *dialect, struct acp_str stream,
                                    size_t size, struct acp_buf *log)
{
    static const struct stream_sink sink = {model_log_text, model_log_thought, model_log_begun,
                                            model_log_call, model_log_usage,   model_log_dropped};
    struct model_stream s;
    struct http_sse sse;
    struct http_sse_event event;
    stream_init(&s, &sink, log);
    http_sse_init(&sse, 1 << 20);
    while (stream.len) {
        size_t n = stream.len < size ? stream.len : size;
        struct acp_buf piece;
        acp_buf_init(&piece, n);
        if (acp_buf_append(&piece, stream.ptr, n) == 0) {
            http_sse_feed(&sse, acp_buf_view(&piece));
            while (http_sse_next(&sse, &event) > 0)
                dialect_event(dialect, &s, event.data);
        }
        acp_buf_finish(&piece);
        stream = acp_str_n(stream.ptr + n, stream.len - n);
    }
    model_log_end(&s, log);
    http_sse_finish(&sse);
    stream_finish(&s);
}

#endif
