/*
 * All APIs against the scripted model of tests/model, which somebody else has written after the
 * same documents:
 *
 *     test_model_server NODE SERVER.mjs SCRIPT.json
 */
#include "http/http_client.h"
#include "model/model.h"
#include "test_io_host.h"

static const char *node;
static const char *program;
static const char *script;

struct world {
    uv_loop_t *loop;
    uv_process_t process;
    uv_pipe_t in;
    uv_pipe_t out;
    char heard[100];
    size_t heard_len;
    bool is_ready;
    bool is_gone;
    char url[100];
    struct http_client *client;
    struct model_service *service;
    struct model_reply *reply;
    struct acp_buf log;
    bool ended;
    char id[100];
    char arguments[100];
    struct acp_arena arena;
    struct model_part *parts; /* of the last answer, for the next request */
    size_t part_count;
};

/* ---- The server ------------------------------------------------------------------------------ */

static void on_exit_of(uv_process_t *process, int64_t status, int signal_number)
{
    struct world *w = process->data;
    assert_int_equal(status, 0);
    assert_int_equal(signal_number, 0);
    w->is_gone = true;
    uv_close((uv_handle_t *) process, NULL);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void) size;
    struct world *w = handle->data;
    *buf = uv_buf_init(w->heard + w->heard_len, (unsigned) (sizeof(w->heard) - 1 - w->heard_len));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void) buf;
    struct world *w = stream->data;
    if (n > 0)
        w->heard_len += (size_t) n;
    if (n < 0 || strchr(w->heard, '\n'))
        w->is_ready = true;
}

static void start_server(struct world *w)
{
    char *arguments[] = {(char *) (uintptr_t) node, (char *) (uintptr_t) program,
                         (char *) (uintptr_t) script, NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *) &w->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *) &w->out},
        {.flags = UV_INHERIT_FD, .data.fd = 2},
    };
    uv_process_options_t options = {
        .file = node, .args = arguments, .stdio = stdio, .stdio_count = 3, .exit_cb = on_exit_of};
    assert_int_equal(uv_pipe_init(w->loop, &w->in, 0), 0);
    assert_int_equal(uv_pipe_init(w->loop, &w->out, 0), 0);
    w->out.data = w;
    w->process.data = w;
    assert_int_equal(uv_spawn(w->loop, &w->process, &options), 0);
    assert_int_equal(uv_read_start((uv_stream_t *) &w->out, on_alloc, on_read), 0);
    assert_true(host_run_until(w->loop, &w->is_ready, HOST_LATE_MS));
    const char *port = strstr(w->heard, "listening on ");
    assert_non_null(port);
    (void) snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%lu", strtoul(port + 13, NULL, 10));
}

static void stop_server(struct world *w)
{
    uv_close((uv_handle_t *) &w->in, NULL);
    assert_true(host_run_until(w->loop, &w->is_gone, HOST_LATE_MS));
    uv_close((uv_handle_t *) &w->out, NULL);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_append_str(&w->log, piece), 0);
}

static void on_thought(struct model_reply *reply, struct acp_str piece, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_printf(&w->log, "(%.*s)", (int) piece.len, piece.ptr), 0);
}

static void on_call(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_printf(&w->log, "[%.*s%.*s]", (int) call->name.len, call->name.ptr,
                                    (int) call->arguments.len, call->arguments.ptr),
                     0);
}

static void on_retry(struct model_reply *reply, const struct model_retry *retry, void *user)
{
    (void) reply;
    (void) retry;
    struct world *w = user;
    assert_int_equal(acp_buf_printf(&w->log, "again:"), 0);
}

/* Keeps the answer for the next request, as an agent does. */
static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    (void) reply;
    struct world *w = user;
    w->ended = true;
    assert_int_equal(acp_buf_printf(&w->log, " %s", model_stop_name(end->stop)), 0);
    if (end->stop == MODEL_ERROR)
        assert_int_equal(acp_buf_printf(&w->log, ": %s", end->sentence), 0);
    else
        assert_true(end->usage.input > 0 && end->usage.output > 0);
    w->parts = acp_arena_alloc(&w->arena, (end->part_count + 1) * sizeof(*w->parts));
    assert_non_null(w->parts);
    w->part_count = end->part_count;
    for (size_t i = 0; i < end->part_count; i++) {
        struct model_part *part = &w->parts[i];
        *part = end->parts[i];
        part->text = acp_arena_copy(&w->arena, part->text);
        part->id = acp_arena_copy(&w->arena, part->id);
        part->name = acp_arena_copy(&w->arena, part->name);
        struct acp_str copy =
            acp_arena_copy(&w->arena, acp_str_n(part->arguments.ptr, part->arguments.len));
        part->arguments = acp_raw_n(copy.ptr, copy.len);
        copy = acp_arena_copy(&w->arena, acp_str_n(part->sealed.data.ptr, part->sealed.data.len));
        part->sealed.data = acp_raw_n(copy.ptr, copy.len);
    }
}

static const struct model_handler handler = {
    .text = on_text, .thought = on_thought, .call = on_call, .retry = on_retry, .end = on_end};

static const struct model_tool tool = {
    ACP_STR("read"), ACP_STR("Reads."), {"{\"type\":\"object\"}", 17}};

static const char *ask(struct world *w, const struct model_message *messages, size_t count)
{
    struct model_ask question = {
        .messages = messages, .message_count = count, .tools = &tool, .tool_count = 1};
    acp_buf_clear(&w->log);
    w->ended = false;
    assert_int_equal(model_ask(w->service, &question, &handler, w, &w->reply, NULL), 0);
    assert_true(host_run_until(w->loop, &w->ended, HOST_LATE_MS));
    model_reply_free(w->reply);
    return test_cstr(&w->log);
}

static const char *ask_for(struct world *w, const char *prompt)
{
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str_from(prompt)};
    struct model_message message = {MODEL_USER, &part, 1};
    return ask(w, &message, 1);
}

/* A call, its result, and the answer to that. */
static void use_tool(struct world *w)
{
    assert_string_equal(ask_for(w, "read"), "(hm)Gr\xC3\xBC\xC3\x9F"
                                            "e[read{\"path\":\"a\"}] calls");
    struct model_part prompt = {.kind = MODEL_TEXT, .text = ACP_STR("read")};
    struct model_part result = {.kind = MODEL_RESULT,
                                .id = w->parts[w->part_count - 1].id,
                                .name = ACP_STR("read"),
                                .text = ACP_STR("AAA")};
    struct model_message talk[] = {{MODEL_USER, &prompt, 1},
                                   {MODEL_ASSISTANT, w->parts, w->part_count},
                                   {MODEL_USER, &result, 1}};
    assert_string_equal(ask(w, talk, 3), "Done. end");
}

static void expect_error(struct world *w, const char *prompt, const char *said, const char *words)
{
    const char *log = ask_for(w, prompt);
    if (strncmp(log, said, strlen(said)) != 0 || !strstr(log, " error: ") || !strstr(log, words))
        fail_msg("%s: %s", prompt, log);
}

static void conversation_by(struct world *w, enum model_api api, const char *path)
{
    char url[200];
    (void) snprintf(url, sizeof(url), "%s%s", w->url, path);
    struct model_settings settings = {.api = api,
                                      .base_url = url,
                                      .model = "gpt-5-claude-gemini",
                                      .backoff_ms = 4,
                                      .stall_ms = 400,
                                      .attempts = 2};
    assert_int_equal(model_service_new(w->loop, w->client, &settings, &w->service, NULL), 0);
    print_message("%s\n", model_api_name(api));
    use_tool(w);
    assert_string_equal(ask_for(w, "long"), "x max tokens");
    assert_string_equal(ask_for(w, "refuse"), "no refusal");
    assert_string_equal(ask_for(w, "busy"), "again:fine end");
    expect_error(w, "bad", "", "bad things");
    expect_error(w, "cut", "half", "in the middle of the answer");
    expect_error(w, "fail", "half", "oh");
    expect_error(w, "stall", "half", "nothing came");
    expect_error(w, "raw", "again:", "not the JSON");
    model_service_free(w->service);
}

static void test_all(void **state)
{
    struct world w = {.loop = host_loop(state)};
    acp_buf_init(&w.log, MIB(1));
    acp_arena_init(&w.arena, 0);
    assert_int_equal(http_client_new(w.loop, NULL, &w.client), 0);
    start_server(&w);
    conversation_by(&w, MODEL_ANTHROPIC, "");
    conversation_by(&w, MODEL_CHAT, "/v1");
    conversation_by(&w, MODEL_RESPONSES, "/v1");
    conversation_by(&w, MODEL_GEMINI, "");
    http_client_free(w.client);
    stop_server(&w);
    acp_buf_finish(&w.log);
    acp_arena_finish(&w.arena);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    node = argv[1];
    program = argv[2];
    script = argv[3];
    const struct CMUnitTest tests[] = {host_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
