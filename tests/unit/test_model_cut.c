/*
 * A turn survives a break anywhere: a recorded answer of each API is cut at every byte, and the
 * request is made again.  The whole answer comes out, and nothing of it is shown twice.
 *
 * There is no server: the functions of the HTTP client are replaced by a transport that hands over
 * as much of the recording as the test says.
 */
#include "helpers.h"
#include "http/http_client.h"
#include "model/model.h"

/* ---- A transport ----------------------------------------------------------------------------- */

struct http_request {
    struct http_handler handler;
    void *user;
    uv_timer_t timer;
    bool freed;
};

static struct {
    uv_loop_t loop;
    struct acp_str answer;
    size_t cut; /* bytes of the first answer; the others are whole */
    enum http_trouble trouble;
    unsigned requests;
    struct acp_buf bodies[2];
} net;

static void on_timer(uv_timer_t *timer)
{
    struct http_request *request = timer->data;
    bool cut = net.requests == 1;
    size_t n = cut ? net.cut : net.answer.len;
    struct http_end end = {cut ? net.trouble : HTTP_DONE, 200, cut ? "the connection broke" : ""};
    request->handler.head(request, 200, request->user);
    if (!request->freed && n)
        request->handler.body(request, acp_str_n(net.answer.ptr, n), request->user);
    if (!request->freed)
        request->handler.end(request, &end, request->user);
}

/* NOLINTBEGIN(bugprone-reserved-identifier): these are the names that the linker gives them */
int __wrap_http_request_new(struct http_client *client, const struct http_ask *ask,
                            const struct http_handler *handler, void *user,
                            struct http_request **ret, struct acp_failure *failure);
void __wrap_http_request_free(struct http_request *request);
struct acp_str __wrap_http_request_header(const struct http_request *request, const char *name);
bool __wrap_http_request_retry_after(const struct http_request *request, uint64_t *ret_ms);
/* NOLINTEND(bugprone-reserved-identifier) */

int __wrap_http_request_new(struct http_client *client, const struct http_ask *ask,
                            const struct http_handler *handler, void *user,
                            struct http_request **ret, struct acp_failure *failure)
{
    (void) client;
    (void) failure;
    struct http_request *request = calloc(1, sizeof(*request));
    assert_non_null(request);
    assert_true(net.requests < 2);
    acp_buf_clear(&net.bodies[net.requests]);
    assert_int_equal(acp_buf_append_str(&net.bodies[net.requests++], ask->body), 0);
    request->handler = *handler;
    request->user = user;
    assert_int_equal(uv_timer_init(&net.loop, &request->timer), 0);
    request->timer.data = request;
    assert_int_equal(uv_timer_start(&request->timer, on_timer, 0, 0), 0);
    *ret = request;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void __wrap_http_request_free(struct http_request *request)
{
    if (!request || request->freed)
        return;
    request->freed = true;
    uv_close((uv_handle_t *) &request->timer, on_closed);
}

struct acp_str __wrap_http_request_header(const struct http_request *request, const char *name)
{
    (void) request;
    return strcmp(name, "content-type") == 0 ? acp_str_from("text/event-stream")
                                             : acp_str_from(NULL);
}

bool __wrap_http_request_retry_after(const struct http_request *request, uint64_t *ret_ms)
{
    (void) request;
    *ret_ms = 0;
    return true;
}

/* ---- The recordings -------------------------------------------------------------------------- */

/* Each of them thinks, says something in three pieces, and calls a tool. */
static const struct {
    enum model_api api;
    const char *stream;
} recordings[] = {
    {MODEL_ANTHROPIC,
     "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":"
     "{\"input_tokens\":9}}}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
     "\"thinking\":\"\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
     "\"thinking\":\"hm\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
     "\"signature\":\"s\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"I l\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"\xc3\xb6\xc3\xb6\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"k.\"}}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\","
     "\"id\":\"c\",\"name\":\"run\",\"input\":{}}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":"
     "\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n"
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n"
     "data: {\"type\":\"message_stop\"}\n\n"},
    {MODEL_CHAT,
     "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"content\":\"I l\"}}]}\n\n: ping\n\n"
     "data: {\"choices\":[{\"delta\":{\"content\":\"\xc3\xb6\xc3\xb6\"}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"content\":\"k.\"}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":"
     "{\"name\":\"run\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
     "{\"arguments\":\"1}\"}}]}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"},
    {MODEL_RESPONSES,
     "data: {\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"hm\"}\n\n"
     "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
     "\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"e\"}}\n\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"I l\"}\r\n\r\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"\xc3\xb6\xc3\xb6\"}\n\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"k.\"}\n\n"
     "data: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"type\":"
     "\"function_call\",\"call_id\":\"c\",\"name\":\"run\"}}\n\n"
     "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":"
     "\"function_call\",\"call_id\":\"c\",\"name\":\"run\",\"arguments\":\"{\\\"a\\\":1}\"}}\n\n"
     "data: {\"type\":\"response.completed\",\"response\":{}}\n\n"},
    {MODEL_GEMINI,
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true}]}}]}\n\n"
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I l\"}]}}]}\n\n"
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\xc3\xb6\xc3\xb6\"}]}}]}\n\n"
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"k.\"},{\"functionCall\":"
     "{\"name\":\"run\",\"args\":{\"a\":1}},\"thoughtSignature\":\"s\"}]}}]}\n\n"
     "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"},
};

/* ---- What people see ------------------------------------------------------------------------- */

struct seen {
    struct acp_buf text;
    struct acp_buf thoughts;
    struct acp_buf kept;
    int open_calls; /* whole, and not dropped */
    int notices;
    bool ended;
    enum model_stop stop;
};

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    (void) reply;
    assert_int_equal(acp_buf_append_str(&((struct seen *) user)->text, piece), 0);
}

static void on_thought(struct model_reply *reply, struct acp_str piece, void *user)
{
    (void) reply;
    assert_int_equal(acp_buf_append_str(&((struct seen *) user)->thoughts, piece), 0);
}

static void on_call_begun(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    (void) call;
    ((struct seen *) user)->open_calls++;
}

static void on_dropped(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    (void) call;
    ((struct seen *) user)->open_calls--;
}

static void on_notice(struct model_reply *reply, const char *sentence, void *user)
{
    (void) reply;
    (void) sentence;
    ((struct seen *) user)->notices++;
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct seen *seen = user;
    (void) reply;
    seen->ended = true;
    seen->stop = end->stop;
    for (size_t i = 0; i < end->part_count; i++) {
        const struct model_part *part = &end->parts[i];
        assert_int_equal(acp_buf_printf(&seen->kept, "%d%s(%.*s%.*s)", (int) part->kind,
                                        part->sealed.api.ptr ? "*" : "", (int) part->text.len,
                                        part->text.ptr ? part->text.ptr : "",
                                        (int) part->arguments.len,
                                        part->arguments.ptr ? part->arguments.ptr : ""),
                         0);
    }
}

static void run(struct model_service *service, struct seen *seen)
{
    static const struct model_handler handler = {
        .text = on_text,
        .thought = on_thought,
        .call_begun = on_call_begun,
        .call_dropped = on_dropped,
        .notice = on_notice,
        .end = on_end,
    };
    static const struct model_part hello = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
    static const struct model_message greeting = {MODEL_USER, &hello, 1};
    static const struct model_ask ask = {.messages = &greeting, .message_count = 1};
    struct model_reply *reply;
    seen->ended = false;
    seen->open_calls = seen->notices = 0;
    acp_buf_clear(&seen->text);
    acp_buf_clear(&seen->thoughts);
    acp_buf_clear(&seen->kept);
    net.requests = 0;
    assert_int_equal(model_ask(service, &ask, &handler, seen, &reply, NULL), 0);
    while (!seen->ended)
        (void) uv_run(&net.loop, UV_RUN_ONCE);
    model_reply_free(reply);
    (void) uv_run(&net.loop, UV_RUN_DEFAULT);
}

/* Cut before the byte: the second attempt is due unless the reason for the end has come. */
static void check_cut(struct model_service *service, struct seen *seen, const char *whole,
                      const char *name)
{
    bool right;
    run(service, seen);
    right = seen->stop == MODEL_CALLS && seen->open_calls == 1 && seen->notices == 0 &&
            strcmp(test_cstr(&seen->text), "I l\xc3\xb6\xc3\xb6k.") == 0 &&
            strcmp(test_cstr(&seen->thoughts), "hm") == 0 &&
            strcmp(test_cstr(&seen->kept), whole) == 0;
    if (!right)
        fail_msg("%s cut at %zu (%d): \"%s\" \"%s\" %s, %d calls, stop %d", name, net.cut,
                 (int) net.trouble, test_cstr(&seen->text), test_cstr(&seen->thoughts),
                 test_cstr(&seen->kept), seen->open_calls, (int) seen->stop);
    if (net.requests == 2)
        assert_true(acp_str_eq(acp_buf_view(&net.bodies[0]), acp_buf_view(&net.bodies[1])));
}

static void test_every_byte(void **state)
{
    (void) state;
    static const enum http_trouble troubles[] = {HTTP_BROKEN, HTTP_DONE, HTTP_STALLED};
    struct seen seen;
    memset(&seen, 0, sizeof(seen));
    acp_buf_init(&seen.text, 1 << 20);
    acp_buf_init(&seen.thoughts, 1 << 20);
    acp_buf_init(&seen.kept, 1 << 20);
    for (size_t i = 0; i < 2; i++)
        acp_buf_init(&net.bodies[i], 1 << 20);
    assert_int_equal(uv_loop_init(&net.loop), 0);
    for (size_t i = 0; i < COUNT(recordings); i++) {
        struct model_settings settings = {.api = recordings[i].api, .model = "m", .backoff_ms = 1};
        struct model_service *service;
        unsigned cuts = 0;
        assert_int_equal(model_service_new(&net.loop, NULL, &settings, &service, NULL), 0);
        net.answer = acp_str_from(recordings[i].stream);
        net.cut = net.answer.len;
        net.trouble = HTTP_DONE;
        run(service, &seen);
        assert_int_equal(net.requests, 1);
        char *whole = strdup(test_cstr(&seen.kept));
        assert_non_null(whole);
        for (net.cut = 0; net.cut < net.answer.len; net.cut++) {
            net.trouble = troubles[net.cut % COUNT(troubles)];
            check_cut(service, &seen, whole, model_api_name(recordings[i].api));
            cuts += net.requests == 2;
        }
        assert_true(cuts > net.answer.len / 2);
        free(whole);
        model_service_free(service);
    }
    assert_int_equal(uv_loop_close(&net.loop), 0);
    for (size_t i = 0; i < 2; i++)
        acp_buf_finish(&net.bodies[i]);
    acp_buf_finish(&seen.text);
    acp_buf_finish(&seen.thoughts);
    acp_buf_finish(&seen.kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
