/* Asking: one reply from its request to its end, whoever answers. */
#include "model/reply.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"

enum {
    MAX_REQUEST = 256 * 1024 * 1024,
    MAX_COMPLAINT = 64 * 1024,
};

/* ---- What the stream says -------------------------------------------------------------------- */

/* Shows what is new of a piece; a handler may end the reply with any of them. */
static void show(struct model_reply *reply, enum shown_track track,
                 const struct shown_pieces *pieces)
{
    void (*handle)(struct model_reply *, struct acp_str, void *) =
        track == SHOWN_TEXT ? reply->handler.text : reply->handler.thought;
    if (pieces->is_news && track == SHOWN_TEXT)
        reply_notice(reply,
                     "the answer broke off and was asked for again; it now differs from what "
                     "was shown, so it is shown again from its beginning");
    for (size_t i = 0; i < pieces->count && handle; i++) {
        if (pieces->items[i].len && !reply->over && !reply->cancelled)
            handle(reply, pieces->items[i], reply->user);
    }
}

static void on_text(struct acp_str piece, void *user)
{
    struct model_reply *reply = user;
    struct shown_pieces pieces = shown_pass(&reply->shown, SHOWN_TEXT, piece);
    show(reply, SHOWN_TEXT, &pieces);
}

static void on_thought(struct acp_str piece, void *user)
{
    struct model_reply *reply = user;
    struct shown_pieces pieces = shown_pass(&reply->shown, SHOWN_THOUGHT, piece);
    show(reply, SHOWN_THOUGHT, &pieces);
}

static void on_call_begun(const struct model_part *call, void *user)
{
    struct model_reply *reply = user;
    if (!reply->over && reply->handler.call_begun)
        reply->handler.call_begun(reply, call, reply->user);
}

static void on_call(const struct model_part *call, void *user)
{
    struct model_reply *reply = user;
    if (!reply->over && reply->handler.call)
        reply->handler.call(reply, call, reply->user);
}

static void on_call_dropped(const struct model_part *call, void *user)
{
    struct model_reply *reply = user;
    if (!reply->over && reply->handler.call_dropped)
        reply->handler.call_dropped(reply, call, reply->user);
}

static void on_usage(const struct model_usage *usage, void *user)
{
    struct model_reply *reply = user;
    if (reply->over || !reply->handler.usage)
        return;
    struct model_usage complete = *usage;
    service_complete_usage(reply->service, acp_str_from(reply->model), &complete);
    reply->handler.usage(reply, &complete, reply->user);
}

static const struct stream_sink sink = {
    on_text, on_thought, on_call_begun, on_call, on_usage, on_call_dropped,
};

void reply_notice(struct model_reply *reply, const char *sentence)
{
    char clean[700];
    (void) snprintf(clean, sizeof(clean), "%s", sentence);
    service_redact(reply->service, clean);
    if (!reply->over && reply->handler.notice)
        reply->handler.notice(reply, clean, reply->user);
}

/* ---- The end --------------------------------------------------------------------------------- */

void reply_end(struct model_reply *reply, enum model_stop stop, const char *sentence, bool is_auth,
               bool is_too_long)
{
    if (reply->over)
        return;
    char clean[700];
    (void) snprintf(clean, sizeof(clean), "%s", sentence);
    service_redact(reply->service, clean);
    struct model_end end = {.stop = stop, .sentence = clean, .usage = reply->stream.usage};
    end.is_auth = is_auth;
    end.is_too_long = is_too_long;
    end.is_stripped = reply->stripped;
    /* Of several attempts that all broke off, the one that people have seen most of. */
    bool is_broken = stop == MODEL_ERROR || stop == MODEL_CANCELLED;
    bool is_former = is_broken && reply->has_former && reply->former.bytes > reply->stream.bytes;
    if (stream_parts(is_former ? &reply->former : &reply->stream, &end.parts, &end.part_count)) {
        end.stop = MODEL_ERROR;
        end.sentence = acp_err_text(ACP_ERR_NOMEM);
    }
    service_complete_usage(reply->service, acp_str_from(reply->model), &end.usage);
    reply->over = true;
    http_request_free(reply->request);
    reply->request = NULL;
    (void) uv_timer_stop(&reply->timer);
    reply->handler.end(reply, &end, reply->user);
}

void reply_complete(struct model_reply *reply)
{
    const struct model_stream *s = &reply->stream;
    struct shown_pieces pieces = shown_end(&reply->shown);
    show(reply, SHOWN_TEXT, &pieces);
    if (!reply->over && !reply->cancelled)
        reply_end(reply, stream_final_stop(s), s->sentence, false, s->is_window_full);
}

static void on_cancel(uv_timer_t *timer)
{
    reply_end(timer->data, MODEL_CANCELLED, "", false, false);
}

void model_reply_cancel(struct model_reply *reply)
{
    if (reply->over || reply->cancelled)
        return;
    reply->cancelled = true;
    http_request_free(reply->request);
    reply->request = NULL;
    (void) uv_timer_start(&reply->timer, on_cancel, 0, 0);
}

static void on_closed(uv_handle_t *handle)
{
    struct model_reply *reply = handle->data;
    stream_finish(&reply->stream);
    if (reply->has_former)
        stream_finish(&reply->former);
    shown_finish(&reply->shown);
    http_sse_finish(&reply->sse);
    demo_finish(&reply->demo);
    acp_buf_finish(&reply->url);
    acp_buf_finish(&reply->body);
    acp_buf_finish(&reply->complaint);
    free(reply->model);
    free(reply->origin);
    model_service_free(reply->service);
    free(reply);
}

void model_reply_free(struct model_reply *reply)
{
    if (!reply || uv_is_closing((uv_handle_t *) &reply->timer))
        return;
    reply->over = true;
    http_request_free(reply->request);
    reply->request = NULL;
    uv_close((uv_handle_t *) &reply->timer, on_closed);
}

/* ---- The demo's words ------------------------------------------------------------------------ */

static void on_word(uv_timer_t *timer)
{
    struct model_reply *reply = timer->data;
    bool more = demo_say(&reply->demo, &reply->stream);
    if (reply->over || reply->cancelled)
        return;
    if (reply->stream.err)
        reply_end(reply, MODEL_ERROR, stream_err_text(reply->stream.err), false, false);
    else if (!more)
        reply_complete(reply);
    else if (!reply->paused)
        (void) uv_timer_start(timer, on_word, reply->service->settings.demo_delay_ms, 0);
}

void model_reply_pause(struct model_reply *reply)
{
    reply->paused = true;
    if (reply->request)
        http_request_pause(reply->request);
}

void model_reply_resume(struct model_reply *reply)
{
    if (!reply->paused)
        return;
    reply->paused = false;
    if (reply->over || reply->cancelled)
        return;
    if (reply->request)
        http_request_resume(reply->request);
    else if (!reply->service->dialect)
        (void) uv_timer_start(&reply->timer, on_word, 0, 0);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static int refuse(struct acp_failure *failure, const char *sentence)
{
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    }
    return ACP_ERR_ARGUMENT;
}

static bool has_result(const struct model_message *message, struct acp_str id)
{
    for (size_t i = 0; message && i < message->part_count; i++) {
        if (message->parts[i].kind == MODEL_RESULT && acp_str_eq(message->parts[i].id, id))
            return true;
    }
    return false;
}

static int check_part(const struct model_service *service, const struct model_message *message,
                      const struct model_message *next, const struct model_part *part,
                      struct acp_failure *failure)
{
    if (message->role == MODEL_ASSISTANT) {
        if (part->kind == MODEL_CALL && !has_result(next, part->id))
            return refuse(failure, "a tool call of the conversation has no result behind it");
        return 0;
    }
    if (model_service_takes(service, part->kind))
        return 0;
    return refuse(failure, part->kind == MODEL_AUDIO   ? "this model takes no audio"
                           : part->kind == MODEL_IMAGE ? "this model takes no images"
                                                       : "a message of the user has a part of the "
                                                         "assistant's");
}

/* Whether it can be sent at all: a service would refuse it with a less helpful sentence. */
static int check(const struct model_service *service, const struct model_ask *ask,
                 struct acp_failure *failure)
{
    if (!ask->message_count)
        return refuse(failure, "there is no message to answer");
    for (size_t i = 0; i < ask->message_count; i++) {
        const struct model_message *message = &ask->messages[i];
        const struct model_message *next = i + 1 < ask->message_count ? message + 1 : NULL;
        for (size_t k = 0; k < message->part_count; k++) {
            int err = check_part(service, message, next, &message->parts[k], failure);
            if (err)
                return err;
        }
    }
    if (service->dialect && !ask->model.len)
        return refuse(failure, "no model is chosen");
    return 0;
}

/* The tools without those that the service has refused before; NULL when there is no memory. */
static struct model_tool *wanted_tools(const struct model_service *service,
                                       const struct model_ask *ask, size_t *ret_count)
{
    struct model_tool *tools = calloc(ask->tool_count + 1, sizeof(*tools));
    size_t count = 0;
    for (size_t i = 0; tools && i < ask->tool_count; i++) {
        if (!service_has_refused(service, ask->model, ask->tools[i].name))
            tools[count++] = ask->tools[i];
    }
    *ret_count = count;
    return tools;
}

static int write_request(struct model_reply *reply, const struct model_ask *ask)
{
    const struct model_service *service = reply->service;
    struct model_ask sent = *ask;
    struct model_tool *tools = wanted_tools(service, ask, &sent.tool_count);
    struct acp_json_writer w;
    if (!tools)
        return ACP_ERR_NOMEM;
    sent.tools = tools;
    sent.origin = acp_str_from(reply->origin);
    acp_json_writer_init(&w, &reply->body);
    service->dialect->write(&sent, &w);
    free(tools);
    int err = w.err;
    if (!err)
        err = acp_buf_append_str(&reply->url, acp_str_from(service->base_url));
    if (!err)
        err = service->dialect->path(ask->model, &reply->url);
    return err ? err : acp_buf_append(&reply->url, "", 1);
}

/* Whose seals are whose: the API, the service, and the model. */
static char *origin_of(const struct model_service *service, struct acp_str model)
{
    struct acp_buf text;
    char where[32] = "";
    char *copy = NULL;
    acp_buf_init(&text, SERVICE_MAX_TEXT);
    if (strcmp(service->base_url, service->dialect->base_url) != 0)
        (void) snprintf(
            where, sizeof(where), "@%08llx",
            (unsigned long long) (dialect_hash(acp_str_from(service->base_url)) & 0xffffffff));
    if (acp_buf_printf(&text, "%s%s %.*s", service->dialect->name, where, (int) model.len,
                       model.ptr) == 0)
        copy = acp_str_copy(acp_buf_view(&text));
    acp_buf_finish(&text);
    return copy;
}

static int begin(struct model_reply *reply, const struct model_ask *ask,
                 struct acp_failure *failure)
{
    reply->model = acp_str_copy(ask->model);
    if (!reply->model)
        return ACP_ERR_NOMEM;
    if (!reply->service->dialect) {
        int err = demo_think(&reply->demo, ask);
        return err ? err : uv_timer_start(&reply->timer, on_word, 0, 0);
    }
    reply->origin = origin_of(reply->service, ask->model);
    if (!reply->origin)
        return ACP_ERR_NOMEM;
    reply->stream.origin = acp_str_from(reply->origin);
    int err = write_request(reply, ask);
    return err ? err : reply_attempt(reply, failure);
}

int model_ask(struct model_service *service, const struct model_ask *ask,
              const struct model_handler *handler, void *user, struct model_reply **ret,
              struct acp_failure *failure)
{
    struct model_ask whole = *ask;
    if (!whole.model.len)
        whole.model = acp_str_from(service->model);
    int err = check(service, &whole, failure);
    if (err)
        return err;
    struct model_reply *reply = calloc(1, sizeof(*reply));
    if (!reply)
        return ACP_ERR_NOMEM;
    reply->service = service_hold(service);
    reply->handler = *handler;
    reply->user = user;
    acp_buf_init(&reply->url, SERVICE_MAX_TEXT);
    acp_buf_init(&reply->body, MAX_REQUEST);
    acp_buf_init(&reply->complaint, MAX_COMPLAINT);
    http_sse_init(&reply->sse, REPLY_MAX_EVENT);
    shown_init(&reply->shown);
    stream_init(&reply->stream, &sink, reply);
    reply->stream.salt = uv_hrtime();
    if (uv_timer_init(service->loop, &reply->timer)) {
        model_service_free(service);
        free(reply);
        return ACP_ERR_NOMEM;
    }
    reply->timer.data = reply;
    err = begin(reply, &whole, failure);
    if (err) {
        model_reply_free(reply);
        return err;
    }
    *ret = reply;
    return 0;
}
