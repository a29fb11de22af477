/* The offline demonstration: its rules, and a whole conversation behind the usual interface. */
#include "model/demo.h"
#include "model/model.h"
#include "test_io_host.h"

/* ---- Rules ----------------------------------------------------------------------------------- */

static void test_rules(void **state)
{
    (void) state;
    static const struct {
        const char *prompt;
        const char *log;
    } rows[] = {
        {"list the files", "1(||)"},
        {"List the files in src.", "1(src||)"},
        {"list files in `a b`", "1(a b||)"},
        {"list", "1(||)"},
        {"read README.md", "2(README.md||)"},
        {"Please read 'a b.c'.", "2(a b.c||)"},
        {"show me src/a.c", "2(src/a.c||)"},
        {"search for TODO", "3(TODO||)"},
        {"search for \"a in b\" in src", "3(a in b||src)"},
        {"replace foo by bar in a.c", "4(foo|bar|a.c)"},
        {"replace \"by the way\" with 'x in y' in a.c", "4(by the way|x in y|a.c)"},
        {"write hello to a.txt", "5(hello||a.txt)"},
        {"run make test", "6(make test||)"},
        {"run `echo one then two`", "6(echo one then two||)"},
        {"make a plan to fix it", "7(fix it||)"},
        {"remember that I like tea", "8(I like tea||)"},
        {"what do you remember?", "9(||)"},
        {"hello!", "10(||)"},
        {"hidden things", "0(||)"},
        {"don't panic", "0(||)"},
        {"read a.c then read b.c and then run ls, then list the files",
         "2(a.c||)2(b.c||)6(ls||)1(||)"},
        {"read a.c. Then run ls", "2(a.c||)6(ls||)"},
        {"read a\nread b\n\n", "2(a||)2(b||)"},
        {"replace x in y", "0(||)"},
        {"read ", "0(||)"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct demo_request requests[DEMO_MAX_REQUESTS];
        struct acp_buf log;
        acp_buf_init(&log, 10000);
        size_t count = demo_read_prompt(acp_str_from(rows[i].prompt), requests);
        for (size_t k = 0; k < count; k++) {
            const struct demo_request *r = &requests[k];
            assert_int_equal(acp_buf_printf(&log, "%d(%.*s|%.*s|%.*s)", (int) r->wish,
                                            (int) r->what.len, r->what.ptr ? r->what.ptr : "",
                                            (int) r->with.len, r->with.ptr ? r->with.ptr : "",
                                            (int) r->where.len, r->where.ptr ? r->where.ptr : ""),
                             0);
        }
        CHECK_ROW(strcmp(test_cstr(&log), rows[i].log) == 0, i, "%s: %s", rows[i].prompt,
                  test_cstr(&log));
        acp_buf_finish(&log);
    }
}

/* ---- A conversation -------------------------------------------------------------------------- */

struct world {
    uv_loop_t *loop;
    struct model_service *service;
    struct model_reply *reply;
    struct acp_buf said;
    struct acp_buf thought;
    int pieces;
    bool ended;
    enum model_stop stop;
    struct model_usage usage;
    char call[200];
    char id[100];
    int cancel_after;
};

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct world *w = user;
    assert_int_equal(acp_buf_append_str(&w->said, piece), 0);
    if (++w->pieces == w->cancel_after)
        model_reply_cancel(reply);
}

static void on_thought(struct model_reply *reply, struct acp_str piece, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_append_str(&w->thought, piece), 0);
}

static void on_call(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_non_null(call->arguments.ptr);
    (void) snprintf(w->id, sizeof(w->id), "%.*s", (int) call->id.len, call->id.ptr);
    (void) snprintf(w->call, sizeof(w->call), "%.*s%.*s", (int) call->name.len, call->name.ptr,
                    (int) call->arguments.len, call->arguments.ptr);
    for (char *p = w->call; *p; p++)
        *p = (char) (*p == '"' ? '\'' : *p);
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    (void) reply;
    struct world *w = user;
    w->ended = true;
    w->stop = end->stop;
    w->usage = end->usage;
}

static const struct model_handler handler = {
    .text = on_text, .thought = on_thought, .call = on_call, .end = on_end};

#define OBJECT(properties) ACP_RAW("{\"type\":\"object\",\"properties\":{" properties "}}")
#define ACP_RAW(literal)                                                                           \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static const struct model_tool tools[] = {
    {ACP_STR("list"), ACP_STR(""), OBJECT("\"path\":{}")},
    {ACP_STR("read"), ACP_STR(""), OBJECT("\"file_path\":{}")},
    {ACP_STR("grep"), ACP_STR(""), OBJECT("\"pattern\":{}")},
    {ACP_STR("edit"), ACP_STR(""),
     OBJECT("\"path\":{},\"edits\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
            "\"properties\":{\"old_text\":{},\"new_text\":{}}}}")},
    {ACP_STR("plan"), ACP_STR(""), OBJECT("\"entries\":{}")},
};

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->loop = host_loop(state);
    acp_buf_init(&w->said, MIB(1));
    acp_buf_init(&w->thought, MIB(1));
    struct model_settings settings = {.api = MODEL_DEMO};
    assert_int_equal(model_service_new(w->loop, NULL, &settings, &w->service, NULL), 0);
}

static void end(struct world *w)
{
    model_service_free(w->service);
    acp_buf_finish(&w->said);
    acp_buf_finish(&w->thought);
}

/* Turn by turn: the demo speaks out of timers, behind which one turn of the loop may wait long. */
static void wait_for(struct world *w, const bool *what)
{
    uint64_t start = host_now();
    while (!*what && host_now() - start < HOST_LATE_MS)
        host_run_for(w->loop, 1);
    assert_true(*what);
}

static void ask(struct world *w, const struct model_message *messages, size_t count)
{
    struct model_ask question = {
        .messages = messages, .message_count = count, .tools = tools, .tool_count = COUNT(tools)};
    w->ended = false;
    *w->call = '\0';
    w->pieces = 0;
    acp_buf_clear(&w->said);
    assert_int_equal(model_ask(w->service, &question, &handler, w, &w->reply, NULL), 0);
    assert_int_equal(w->said.len, 0);
    wait_for(w, &w->ended);
    model_reply_free(w->reply);
    host_run_for(w->loop, 1);
}

static void test_conversation(void **state)
{
    struct world w;
    begin(&w, state);
    char ids[3][100];
    struct model_part prompt = {.kind = MODEL_TEXT,
                                .text = ACP_STR("list the files, then remember my tea, then "
                                                "replace a by b in c.txt then read gone")};
    struct model_part calls[3] = {{.kind = MODEL_CALL}, {.kind = MODEL_CALL}, {.kind = MODEL_CALL}};
    struct model_part results[3] = {
        {.kind = MODEL_RESULT, .text = ACP_STR("one\ntwo\n")},
        {.kind = MODEL_RESULT, .text = ACP_STR("changed")},
        {.kind = MODEL_RESULT, .text = ACP_STR("no such file"), .failed = true}};
    struct model_message talk[7] = {
        {MODEL_USER, &prompt, 1},     {MODEL_ASSISTANT, &calls[0], 1},
        {MODEL_USER, &results[0], 1}, {MODEL_ASSISTANT, &calls[1], 1},
        {MODEL_USER, &results[1], 1}, {MODEL_ASSISTANT, &calls[2], 1},
        {MODEL_USER, &results[2], 1},
    };
    static const struct {
        const char *call;
        const char *words[2];
    } steps[] = {
        {"list{}", {"I am the demo model of acp.", "I list the files."}},
        {"edit{'path':'c.txt','edits':[{'old_text':'a','new_text':'b'}]}",
         {"There are 2 lines:", "remember that my tea"}},
        {"read{'file_path':'gone'}", {"Done.", "I read gone."}},
        {"", {"That did not work: no such file", "That was all."}},
    };
    for (size_t i = 0; i < COUNT(steps); i++) {
        ask(&w, talk, 1 + 2 * i);
        CHECK_ROW(strcmp(w.call, steps[i].call) == 0, i, "%s", w.call);
        for (size_t k = 0; k < 2; k++)
            CHECK_ROW(strstr(test_cstr(&w.said), steps[i].words[k]), i, "%s", test_cstr(&w.said));
        CHECK_ROW(w.stop == (i < 3 ? MODEL_CALLS : MODEL_END), i, "%s", model_stop_name(w.stop));
        CHECK_ROW(w.pieces > 3, i, "%d", w.pieces);
        if (i == 3)
            break;
        memcpy(ids[i], w.id, sizeof(ids[i]));
        assert_true(i == 0 || strcmp(ids[i], ids[i - 1]) != 0);
        calls[i].id = acp_str_from(ids[i]);
        calls[i].name = acp_str_from(i == 0 ? "list" : i == 1 ? "edit" : "read");
        results[i].id = calls[i].id;
        results[i].name = calls[i].name;
    }
    assert_non_null(strstr(test_cstr(&w.thought), "There are 4 requests: list the files;"));
    assert_true(w.usage.input > 0 && w.usage.output > 0);
    end(&w);
}

static void test_words(void **state)
{
    static const struct {
        const char *prompt;
        const char *call;
        const char *words;
    } rows[] = {
        {"hello", "", "list the files; read FILE"},
        {"prove the theorem", "", "I have no rule for \"prove the theorem\"."},
        {"run ls", "", "I would need the tool \"run_command\""},
        {"remember that tea is hot then what do you remember", "", "- tea is hot"},
        {"what do you remember", "", "You did not ask me"},
        {"remember the tea, then give this conversation a title", "", "Remember the tea"},
        {"search for x in lib", "grep{'pattern':'x','path':'lib'}", "I search for x."},
        {"make a plan to win",
         "plan{'entries':[{'content':'Look at what is there','priority':'medium','status':"
         "'in_progress'},{'content':'win','priority':'high','status':'pending'},"
         "{'content':'Check the result','pri",
         "I make a plan to win."},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state);
        struct model_part prompt = {.kind = MODEL_TEXT, .text = acp_str_from(rows[i].prompt)};
        struct model_message message = {MODEL_USER, &prompt, 1};
        ask(&w, &message, 1);
        CHECK_ROW(strstr(test_cstr(&w.said), rows[i].words), i, "%s", test_cstr(&w.said));
        CHECK_ROW(strncmp(w.call, rows[i].call, strlen(rows[i].call)) == 0, i, "%s", w.call);
        CHECK_ROW(*w.call || !*rows[i].call, i, "%s", rows[i].call);
        end(&w);
    }
}

static void test_cancel(void **state)
{
    struct world w;
    begin(&w, state);
    struct model_part prompt = {.kind = MODEL_TEXT, .text = ACP_STR("list the files")};
    struct model_message message = {MODEL_USER, &prompt, 1};
    w.cancel_after = 2;
    ask(&w, &message, 1);
    assert_int_equal(w.stop, MODEL_CANCELLED);
    assert_string_equal(test_cstr(&w.said), "I am ");
    assert_string_equal(w.call, "");
    end(&w);
}

static void test_pause(void **state)
{
    struct world w;
    begin(&w, state);
    struct model_part prompt = {.kind = MODEL_TEXT, .text = ACP_STR("list the files")};
    struct model_message message = {MODEL_USER, &prompt, 1};
    struct model_ask question = {.messages = &message, .message_count = 1};
    assert_int_equal(model_ask(w.service, &question, &handler, &w, &w.reply, NULL), 0);
    model_reply_pause(w.reply);
    host_run_for(w.loop, 20);
    assert_true(w.pieces <= 1);
    assert_false(w.ended);
    model_reply_resume(w.reply);
    wait_for(&w, &w.ended);
    model_reply_free(w.reply);
    host_run_for(w.loop, 1);
    end(&w);
}

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    assert_int_equal(count, 1);
    assert_text_equal(rows[0].id, "demo");
    assert_string_equal(sentence, "");
    *(bool *) user = true;
    model_list_free(list);
}

static void test_list(void **state)
{
    struct world w;
    struct model_list *list;
    bool listed = false;
    begin(&w, state);
    assert_int_equal(model_list_new(w.service, on_listed, &listed, &list, NULL), 0);
    assert_false(listed);
    wait_for(&w, &listed);
    assert_false(model_service_takes(w.service, MODEL_IMAGE));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules), host_test(test_conversation), host_test(test_words),
        host_test(test_cancel),       host_test(test_pause),        host_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
