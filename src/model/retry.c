/* Between two attempts: what is kept of the one that failed, and what is changed for the next. */
#include <stdio.h>

#include "model/pick.h"
#include "model/repair.h"
#include "model/reply.h"

enum { MAX_REPAIRS = 12 };

/* ---- What was shown -------------------------------------------------------------------------- */

static void drop_calls(struct model_reply *reply)
{
    const struct model_stream *s = &reply->stream;
    for (size_t i = 0; i < s->count && !reply->over && !reply->cancelled; i++) {
        if (s->parts[i].part.kind == MODEL_CALL)
            s->sink.call_dropped(&s->parts[i].part, s->user);
    }
}

/* The stream that came furthest is kept: its parts are what there is when all attempts fail. */
static void keep_former(struct model_reply *reply)
{
    if (!reply->stream.told || (reply->has_former && reply->former.bytes > reply->stream.bytes)) {
        stream_finish(&reply->stream);
        return;
    }
    if (reply->has_former)
        stream_finish(&reply->former);
    reply->former = reply->stream;
    reply->has_former = true;
}

int reply_start_over(struct model_reply *reply)
{
    struct stream_sink sink = reply->stream.sink;
    int err = shown_restart(&reply->shown, &reply->stream);
    drop_calls(reply);
    keep_former(reply);
    stream_init(&reply->stream, &sink, reply);
    reply->stream.salt = uv_hrtime();
    reply->stream.origin = acp_str_from(reply->origin);
    http_sse_finish(&reply->sse);
    http_sse_init(&reply->sse, REPLY_MAX_EVENT);
    acp_buf_clear(&reply->complaint);
    reply->streaming = false;
    return err;
}

/* ---- Tools that were refused ----------------------------------------------------------------- */

static uint64_t refusal_of(struct acp_str model, struct acp_str tool)
{
    return dialect_hash(model) * 31 + dialect_hash(tool);
}

bool service_has_refused(const struct model_service *service, struct acp_str model,
                         struct acp_str tool)
{
    for (size_t i = 0; i < service->refused_count; i++) {
        if (service->refused[i] == refusal_of(model, tool))
            return true;
    }
    return false;
}

/* ---- Another request ------------------------------------------------------------------------- */

static void tell_repair(struct model_reply *reply, const struct repair *repair, struct acp_str tool,
                        const char *why)
{
    char sentence[700];
    const char *name = reply->service->name;
    if (repair->kind == REPAIR_TOOL)
        (void) snprintf(sentence, sizeof(sentence),
                        "%.100s does not accept the tool \"%.*s\", which is left out (%.300s)",
                        name, (int) tool.len, tool.ptr, why);
    else if (repair->kind == REPAIR_STRIP)
        (void) snprintf(sentence, sizeof(sentence),
                        "%.100s does not accept its earlier reasoning any more, which is left out "
                        "(%.300s)",
                        name, why);
    else
        (void) snprintf(
            sentence, sizeof(sentence),
            "%.100s does not accept the setting %s for this model, which is left out or "
            "made smaller (%.300s)",
            name, repair->field ? repair->field : "max_tokens", why);
    reply_notice(reply, sentence);
}

/* What the service says, without what is around it. */
static struct acp_str reason_in(struct acp_str words, struct acp_arena *arena)
{
    struct acp_raw body = acp_raw_n(words.ptr, words.len);
    struct acp_str reason = pick_str(body, "error.message", arena);
    return reason.ptr ? reason : pick_str(body, "0.error.message", arena);
}

static int change(struct model_reply *reply, struct acp_str words, const struct repair *repair)
{
    struct model_service *service = reply->service;
    struct acp_str view = acp_buf_view(&reply->body);
    struct acp_raw request = acp_raw_n(view.ptr, view.len);
    struct acp_arena arena;
    struct acp_buf body;
    char why[400];
    acp_arena_init(&arena, 0);
    acp_buf_init(&body, reply->body.max);
    int err = repair_apply(service->api, request, repair, &body);
    if (!err) {
        struct acp_str reason = reason_in(words, &arena);
        struct acp_str tool = repair_tool_name(service->api, request, repair, &arena);
        (void) snprintf(why, sizeof(why), "%.*s", (int) (reason.len < 300 ? reason.len : 300),
                        reason.ptr ? reason.ptr : "");
        if (repair->kind == REPAIR_TOOL && service->refused_count < SERVICE_MAX_REFUSED)
            service->refused[service->refused_count++] =
                refusal_of(acp_str_from(reply->model), tool);
        reply->stripped = reply->stripped || repair->kind == REPAIR_STRIP;
        tell_repair(reply, repair, tool, why);
        acp_buf_finish(&reply->body);
        reply->body = body;
    } else {
        acp_buf_finish(&body);
    }
    acp_arena_finish(&arena);
    return err;
}

bool reply_repair(struct model_reply *reply, struct acp_str words)
{
    struct acp_str view = acp_buf_view(&reply->body);
    if (reply->repairs >= MAX_REPAIRS ||
        acp_json_validate(acp_raw_n(words.ptr, words.len), 0, NULL))
        return false;
    struct repair repair = repair_find(reply->service->api, acp_raw_n(view.ptr, view.len), words);
    if (repair.kind == REPAIR_NONE || (repair.kind == REPAIR_STRIP && reply->stripped))
        return false;
    if (change(reply, words, &repair))
        return false;
    reply->repairs++;
    reply->attempt--;
    return true;
}
