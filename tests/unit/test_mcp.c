/* MCP servers that are scripts of the shell: good ones, and all sorts of bad ones. */
#include "helpers.h"

#include <unistd.h>

#include "mcp/http_transport.h"
#include "mcp/mcp.h"

enum { LATE_MS = 60 * 1000 };

/* What has been told of a server. */
struct world {
    uv_loop_t loop;
    uv_timer_t late;
    struct mcp_server *server;
    struct mcp_call *call;
    unsigned ready;
    unsigned changed;
    unsigned gone;
    unsigned done;
    bool free_when_done;
    struct mcp_result result;
    char sentence[4096];
    char text[4096];
    struct acp_failure failure;
};

static void copy(char *out, size_t size, struct acp_str text)
{
    (void) snprintf(out, size, "%.*s", (int) text.len, text.len ? text.ptr : "");
}

static void on_ready(struct mcp_server *server, void *user)
{
    struct world *world = user;
    assert_ptr_equal(server, world->server);
    assert_int_equal(world->ready++, 0);
}

static void on_changed(struct mcp_server *server, enum mcp_list_kind kind, void *user)
{
    struct world *world = user;
    (void) server;
    assert_int_equal(kind, MCP_TOOLS);
    world->changed++;
}

static void on_gone(struct mcp_server *server, struct acp_str sentence, void *user)
{
    struct world *world = user;
    (void) server;
    assert_int_equal(world->gone++, 0);
    copy(world->sentence, sizeof(world->sentence), sentence);
}

static void on_done(struct mcp_call *call, const struct mcp_result *result, void *user)
{
    struct world *world = user;
    assert_ptr_equal(call, world->call);
    world->done++;
    world->result = *result;
    copy(world->text, sizeof(world->text), result->text);
    if (world->free_when_done) {
        mcp_server_free(world->server);
        world->server = NULL;
    }
}

static const struct mcp_watcher watcher = {.done = on_done};

static void on_late(uv_timer_t *timer)
{
    (void) timer;
    fail_msg("what was awaited did not come");
}

/* Runs the loop until the count is there. */
static void await(struct world *world, const unsigned *count, unsigned wanted)
{
    while (*count < wanted)
        (void) uv_run(&world->loop, UV_RUN_ONCE);
}

/* Starts a server that is this script. */
static int begin(struct world *world, const char *script, uint64_t start_ms, uint64_t call_ms)
{
    static const struct mcp_handler handler = {
        .ready = on_ready, .listed = on_changed, .gone = on_gone};
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const env[] = {"WORD=from the environment", NULL};
    struct mcp_options options = {.name = "it",
                                  .argv = script ? argv : (const char *const[]){"/no/such", NULL},
                                  .version = "1.2.3",
                                  .env = env,
                                  .cwd = "/",
                                  .start_ms = start_ms,
                                  .call_ms = call_ms};
    *world = (struct world){0};
    assert_int_equal(uv_loop_init(&world->loop), 0);
    assert_int_equal(uv_timer_init(&world->loop, &world->late), 0);
    assert_int_equal(uv_timer_start(&world->late, on_late, LATE_MS, 0), 0);
    return mcp_server_new(&world->loop, &options, &handler, world, &world->server, &world->failure);
}

static void end(struct world *world)
{
    mcp_server_free(world->server);
    uv_close((uv_handle_t *) &world->late, NULL);
    (void) uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static void call(struct world *world, const char *tool)
{
    assert_int_equal(mcp_call(world->server, acp_str_from(tool), acp_raw_from("{\"a\":1}"),
                              &watcher, world, &world->call),
                     0);
}

/* Pieces of scripts: an answer, the handshake, no answers any more, tools. */
#define ANSWER(id, result)                                                                         \
    "read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}';"
#define HELLO                                                                                      \
    ANSWER("0", "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"tools\":{}}}")            \
    "read -r line;"
#define SILENCE "while read -r line; do :; done"
#define CHANGED "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}';"
#define ONE_TOOL ANSWER("1", "{\"tools\":[{\"name\":\"look\"}]}")

/* ---- Good ones ------------------------------------------------------------------------------- */

static void tools_are_listed_by_pages(void **state)
{
    static const char first[] =
        HELLO ANSWER("1", "{\"tools\":[{\"name\":\"one\",\"description\":\"1\",\"inputSchema\":"
                          "{\"type\":\"object\",\"x\":1}},{\"noname\":1},7],"
                          "\"nextCursor\":\"c\"}");
    static const char second[] =
        "read -r line; case $line in *'\"cursor\":\"c\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":2,"
        "\"result\":{\"tools\":[{\"name\":\"two\"}]}}';; esac; read -r line";
    char script[1024];
    struct world world;
    (void) state;
    (void) snprintf(script, sizeof(script), "%s%s", first, second);
    assert_int_equal(begin(&world, script, 0, 0), 0);
    assert_int_equal(mcp_call(world.server, acp_str_from("one"), acp_raw_from("{}"), &watcher,
                              &world, &world.call),
                     ACP_ERR_STATE);
    await(&world, &world.ready, 1);
    assert_int_equal(mcp_server_count(world.server, MCP_TOOLS), 2);
    const struct mcp_item *one = mcp_server_at(world.server, MCP_TOOLS, 0);
    assert_true(acp_str_is(one->name, "one"));
    assert_true(acp_str_is(one->description, "1"));
    assert_true(
        acp_str_is(acp_str_n(one->schema.ptr, one->schema.len), "{\"type\":\"object\",\"x\":1}"));
    assert_true(acp_str_is(mcp_server_at(world.server, MCP_TOOLS, 1)->name, "two"));
    assert_null(mcp_server_at(world.server, MCP_TOOLS, 2));
    end(&world);
}

static void a_call_gives_texts_and_names_the_rest(void **state)
{
    struct world world;
    (void) state;
    assert_int_equal(begin(&world,
                           HELLO ONE_TOOL
                           "read -r line; echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":2,"
                           "\\\"result\\\":{\\\"content\\\":[{\\\"type\\\":\\\"text\\\","
                           "\\\"text\\\":\\\"$WORD\\\"},{\\\"type\\\":\\\"resource\\\","
                           "\\\"resource\\\":{\\\"uri\\\":\\\"file:///a\\\",\\\"text\\\":"
                           "\\\"inside\\\"}},{\\\"type\\\":\\\"resource_link\\\",\\\"uri\\\":"
                           "\\\"file:///b\\\"}]}}\"; read -r line",
                           0, 0),
                     0);
    await(&world, &world.ready, 1);
    call(&world, "look");
    assert_int_equal(world.done, 0);
    await(&world, &world.done, 1);
    assert_int_equal(world.result.err, 0);
    assert_false(world.result.is_error);
    assert_string_equal(world.text, "from the environment\ninside\n[resource_link file:///b]");
    end(&world);
}

static void a_server_without_tools_is_ready(void **state)
{
    static const char script[] =
        ANSWER("0", "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{}}") SILENCE;
    struct world world;
    (void) state;
    assert_int_equal(begin(&world, script, 0, 0), 0);
    await(&world, &world.ready, 1);
    assert_int_equal(mcp_server_count(world.server, MCP_TOOLS), 0);
    end(&world);
}

static void a_list_that_changes_is_asked_for_again(void **state)
{
    static const char script[] = HELLO ONE_TOOL CHANGED ANSWER("2", "{\"tools\":[]}") SILENCE;
    struct world world;
    (void) state;
    assert_int_equal(begin(&world, script, 0, 0), 0);
    await(&world, &world.changed, 1);
    assert_int_equal(world.ready, 1);
    assert_int_equal(mcp_server_count(world.server, MCP_TOOLS), 0);
    end(&world);
}

/* ---- Bad ones -------------------------------------------------------------------------------- */

/* Whether the server is lost, never having been ready, with a sentence that says this. */
static void is_lost(const char *script, uint64_t start_ms, const char *words)
{
    struct world world;
    assert_int_equal(begin(&world, script, start_ms, 0), 0);
    await(&world, &world.gone, 1);
    assert_int_equal(world.ready, 0);
    assert_non_null(strstr(world.sentence, "\"it\""));
    if (!strstr(world.sentence, words))
        fail_msg("\"%s\" does not say \"%s\"", world.sentence, words);
    assert_int_equal(mcp_call(world.server, acp_str_from("look"), acp_raw_from("{}"), &watcher,
                              &world, &world.call),
                     ACP_ERR_CLOSED);
    end(&world);
}

/* Those that wait for the time to be over wait long enough for a machine that is busy. */
static void whatever_goes_wrong_is_one_sentence(void **state)
{
    (void) state;
    is_lost(SILENCE, 300, "did not answer initialize within 300 ms");
    is_lost("echo hello there;" SILENCE, 1500, "non-protocol line: \"hello there\"");
    is_lost("exec head -c 1000000000 /dev/zero", 0, "wrote more than 16 MiB without a line end");
    is_lost("read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{';" SILENCE, 0,
            "wrote a message that is not JSON");
    is_lost("read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":0}';" SILENCE, 0,
            "invalid answer to initialize");
    is_lost("read -r line; echo \"$line\" >&2; exit 1", 0, "\"version\":\"1.2.3\"");
    is_lost("echo sorry >&2; exit 3", 0, "sorry");
    is_lost("exec >&-; sleep 60", 0, "it");
    is_lost("read -r line; exit 0", 0, "it");
    is_lost(HELLO SILENCE, 1500, "did not answer tools/list");
    is_lost(HELLO ANSWER("1", "{\"tools\":7}") SILENCE, 0, "invalid answer to tools/list");
    is_lost(ANSWER("0", "[]") SILENCE, 0, "invalid answer to initialize");
    is_lost(ANSWER("0", "{\"protocolVersion\":\"1999-01-01\"}") SILENCE, 0, "1999-01-01");
    is_lost("read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-1,"
            "\"message\":\"no licence\"}}';" SILENCE,
            0, "refused initialize: no licence");
}

static void a_program_that_is_not_there(void **state)
{
    struct world world;
    (void) state;
    assert_true(begin(&world, NULL, 0, 0) < 0);
    assert_non_null(strstr(world.failure.message, "\"it\" cannot be started"));
    end(&world);
}

static void a_call_has_an_end_in_any_case(void **state)
{
    static const struct {
        const char *script;
        uint64_t call_ms;
        int err;
        const char *words;
    } cases[] = {
        {HELLO ONE_TOOL "read -r line; exit 1", 0, ACP_ERR_CLOSED, "ended before it answered"},
        {HELLO ONE_TOOL SILENCE, 200, ACP_ERR_TIMEOUT, "within 200 ms"},
        {HELLO ONE_TOOL ANSWER("2", "7") SILENCE, 0, ACP_ERR_TYPE, "invalid answer"},
        {HELLO ONE_TOOL "read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":2,';" SILENCE, 0,
         ACP_ERR_CLOSED, "ended before it answered"},
        {HELLO ONE_TOOL "read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-5,"
                        "\"message\":\"bad\"}}';" SILENCE,
         0, ACP_ERR_REMOTE, "(-5): bad"},
    };
    struct world world;
    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * 2; i++) {
        assert_int_equal(begin(&world, cases[i / 2].script, 0, cases[i / 2].call_ms), 0);
        world.free_when_done = i % 2;
        await(&world, &world.ready, 1);
        call(&world, "look");
        await(&world, &world.done, 1);
        assert_int_equal(world.result.err, cases[i / 2].err);
        assert_non_null(strstr(world.text, cases[i / 2].words));
        end(&world);
        assert_int_equal(world.done, 1);
    }
}

static void a_call_that_is_given_up_has_no_end(void **state)
{
    struct world world;
    (void) state;
    /* It answers when it is told of the cancel; the answer is for nobody. */
    assert_int_equal(begin(&world,
                           HELLO ONE_TOOL "read -r line; read -r line; case $line in"
                                          " *notifications/cancelled*'\"requestId\":2'*)"
                                          " echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}';"
                                          " echo told >&2; exit 5;; esac; sleep 60",
                           0, 0),
                     0);
    await(&world, &world.ready, 1);
    call(&world, "look");
    mcp_call_cancel(world.call);
    await(&world, &world.gone, 1);
    assert_non_null(strstr(world.sentence, "told"));
    assert_int_equal(world.done, 0);
    end(&world);
}

static void a_call_that_takes_too_long_is_cancelled_in_the_words_of_mcp(void **state)
{
    struct world world;
    (void) state;
    assert_int_equal(begin(&world,
                           HELLO ONE_TOOL "read -r line; read -r line; case $line in"
                                          " *notifications/cancelled*'\"requestId\":2'*)"
                                          " echo told >&2; exit 5;; esac; exit 6",
                           0, 50),
                     0);
    await(&world, &world.ready, 1);
    call(&world, "look");
    await(&world, &world.gone, 1);
    assert_int_equal(world.done, 1);
    assert_int_equal(world.result.err, ACP_ERR_TIMEOUT);
    assert_non_null(strstr(world.sentence, "told"));
    end(&world);
}

static void what_a_server_asks_is_not_known(void **state)
{
    struct world world;
    (void) state;
    assert_int_equal(begin(&world,
                           HELLO ONE_TOOL
                           "echo '{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}';"
                           "read -r line; case $line in *'\"id\":\"r\"'*'\"code\":-32601'*)"
                           " echo told >&2; exit 5;; esac; exit 6",
                           0, 0),
                     0);
    await(&world, &world.gone, 1);
    assert_non_null(strstr(world.sentence, "told"));
    end(&world);
}

static void what_is_open_ends_with_its_server(void **state)
{
    struct world world;
    (void) state;
    assert_int_equal(begin(&world, HELLO ONE_TOOL SILENCE, 0, 0), 0);
    await(&world, &world.ready, 1);
    call(&world, "look");
    end(&world);
    assert_int_equal(world.done, 0);
    assert_int_equal(world.gone, 0);
}

/* A server that is freed writes these words into a file, and has at least so much time to end. */
static void ends_with(const char *script, const char *words, uint64_t least_ms)
{
    char path[] = "/tmp/acp-mcp-XXXXXX";
    char text[200] = "";
    char all[1000];
    struct world world;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void) snprintf(all, sizeof(all), "file=%s; %s", path, script);
    assert_int_equal(begin(&world, all, 0, 0), 0);
    await(&world, &world.ready, 1);
    uint64_t from = uv_hrtime() / 1000000;
    end(&world);
    uint64_t took = uv_hrtime() / 1000000 - from;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    assert_true(n >= 0);
    assert_string_equal(text, words);
    assert_true(took >= least_ms);
    (void) close(fd);
    (void) unlink(path);
}

static void a_program_is_given_time_to_end(void **state)
{
    (void) state;
    ends_with(HELLO ONE_TOOL SILENCE "; echo tidy >> $file", "tidy\n", 0);
    ends_with(HELLO ONE_TOOL "trap 'echo asked >> $file; exit' TERM; "
                             "sleep 60 & while :; do wait; sleep 1 & done",
              "asked\n", 600);
    ends_with(HELLO ONE_TOOL "trap '' TERM; while :; do sleep 0.1; done", "", 1400);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void a_long_result_is_cut_at_a_character(void **state)
{
    struct acp_buf json;
    struct acp_buf text;
    struct acp_arena arena;
    struct mcp_result result;
    (void) state;
    acp_arena_init(&arena, 0);
    acp_buf_init(&json, 4 << 20);
    acp_buf_init(&text, MCP_MAX_RESULT);
    (void) acp_buf_printf(&json, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"x");
    for (size_t i = 0; i < MCP_MAX_RESULT; i++)
        (void) acp_buf_printf(&json, "\u00fc");
    (void) acp_buf_printf(&json, "\"},{\"type\":\"text\",\"text\":\"more\"}]}");
    struct acp_str view = acp_buf_view(&json);
    assert_int_equal(mcp_read_result(acp_raw_n(view.ptr, view.len), &arena, &text, &result), 0);
    assert_true(result.cut && result.is_error);
    assert_int_equal(result.text.len, MCP_MAX_RESULT - 1);
    assert_int_equal(result.block_count, 2);
    acp_arena_finish(&arena);
    acp_buf_finish(&json);
    acp_buf_finish(&text);
}

static void too_many_tools_are_left_out(void **state)
{
    struct mcp_list tools;
    struct acp_buf json;
    struct acp_str cursor;
    (void) state;
    acp_buf_init(&json, 1 << 20);
    mcp_list_init(&tools);
    (void) acp_buf_printf(&json, "{\"tools\":[{\"name\":\"t0\"}");
    for (unsigned i = 0; i < MCP_MAX_TOOLS + 10; i++)
        (void) acp_buf_printf(&json, ",{\"name\":\"t%u\"}", i);
    (void) acp_buf_printf(&json, "]}");
    struct acp_str view = acp_buf_view(&json);
    assert_int_equal(mcp_read_list(acp_raw_n(view.ptr, view.len), MCP_TOOLS, &tools, &cursor),
                     ACP_ERR_LIMIT);
    assert_int_equal(tools.count, MCP_MAX_TOOLS);
    assert_true(acp_str_is(tools.items[1].name, "t1"));
    mcp_list_finish(&tools);
    acp_buf_finish(&json);
}

static void messages_of_the_older_transport_stay_at_the_server(void **state)
{
    static const struct {
        const char *base;
        const char *reference;
        const char *url; /* NULL: refused */
    } cases[] = {
        {"http://h/a/sse?x=1", "/messages?id=1", "http://h/messages?id=1"},
        {"http://h/a/sse?x=1", "messages", "http://h/a/messages"},
        {"http://h", "messages", "http://h/messages"},
        {"http://h/sse", "http://h/m", "http://h/m"},
        {"http://h:81/sse", "http://h:81/m", "http://h:81/m"},
        {"http://h/sse", "http://h:81/m", NULL},
        {"https://h/sse", "http://h/m", NULL},
        {"http://h/sse", "http://evil/m", NULL},
        {"http://h/sse", "//evil/m", NULL},
        {"http://h/sse", "javascript:1", NULL},
        {"http://h", "@evil/", "http://h/@evil/"},
        {"http://h/sse", "/a b", NULL},
        {"http://h/sse", "/\\evil", NULL},
        {"http://h/sse", "", NULL},
    };
    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct acp_buf url;
        acp_buf_init(&url, 1000);
        int err = http_resolve(acp_str_from(cases[i].base), acp_str_from(cases[i].reference), &url);
        assert_int_equal(err, cases[i].url ? 0 : ACP_ERR_ARGUMENT);
        if (!err)
            assert_string_equal(test_cstr(&url), cases[i].url);
        acp_buf_finish(&url);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_listed_by_pages),
        cmocka_unit_test(a_call_gives_texts_and_names_the_rest),
        cmocka_unit_test(a_server_without_tools_is_ready),
        cmocka_unit_test(a_list_that_changes_is_asked_for_again),
        cmocka_unit_test(whatever_goes_wrong_is_one_sentence),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(a_call_has_an_end_in_any_case),
        cmocka_unit_test(a_call_that_is_given_up_has_no_end),
        cmocka_unit_test(a_call_that_takes_too_long_is_cancelled_in_the_words_of_mcp),
        cmocka_unit_test(what_a_server_asks_is_not_known),
        cmocka_unit_test(what_is_open_ends_with_its_server),
        cmocka_unit_test(a_program_is_given_time_to_end),
        cmocka_unit_test(a_long_result_is_cut_at_a_character),
        cmocka_unit_test(too_many_tools_are_left_out),
        cmocka_unit_test(messages_of_the_older_transport_stay_at_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
