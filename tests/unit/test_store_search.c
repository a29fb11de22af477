/* The search: what is indexed, as which text, and that no words of a user can be wrong. */
#include "store/db.h"
#include "store_help.h"

static struct store *store;
static struct acp_failure failure;
static struct acp_buf found;

static int setup(void **state)
{
    (void) make_store_folder(state);
    failure = (struct acp_failure){0};
    acp_buf_init(&found, 1 << 20);
    store = open_store();
    return 0;
}

static int teardown(void **state)
{
    store_close(store);
    acp_buf_finish(&found);
    return remove_store_folder(state);
}

/* ---- Writing events -------------------------------------------------------------------------- */

struct line {
    const char *kind;
    const char *body;
};

static int64_t number_of(const char *id)
{
    int64_t number = 0;
    assert_int_equal(store_number(store, acp_str_from(id), &number, &failure), 0);
    return number;
}

static void add_empty(const char *id, const char *agent)
{
    struct store_session session = {.id = acp_str_from(id), .agent = acp_str_from(agent)};
    add_session(store, &session, 0);
}

/* Appends to a session as a writer does. */
static void append(const char *id, uint64_t from, const struct line *lines, size_t count)
{
    assert_int_equal(store_begin(store, &failure), 0);
    int64_t number = number_of(id);
    for (size_t i = 0; i < count; i++) {
        struct store_event event = event_of(from + i, lines[i].kind, lines[i].body);
        assert_int_equal(store_insert_event(store, number, &event, &failure), 0);
    }
    uint64_t last = from + count - 1;
    assert_int_equal(store_set_last(store, number, last, 1000 + (int64_t) last, &failure), 0);
    assert_int_equal(store_commit(store, &failure), 0);
}

#define APPEND(id, from, ...)                                                                      \
    append(id, from, (const struct line[]){__VA_ARGS__},                                           \
           sizeof((const struct line[]){__VA_ARGS__}) / sizeof(struct line))

#define AGENT(text)                                                                                \
    {                                                                                              \
        "update", "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","     \
                  "\"text\":\"" text "\"}}"                                                        \
    }
#define THOUGHT(text)                                                                              \
    {                                                                                              \
        "update", "{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\","     \
                  "\"text\":\"" text "\"}}"                                                        \
    }
#define PROMPT(text)                                                                               \
    {                                                                                              \
        "prompt", "[{\"type\":\"text\",\"text\":\"" text "\"}]"                                    \
    }
#define STOP                                                                                       \
    {                                                                                              \
        "stop", "{\"stopReason\":\"end_turn\"}"                                                    \
    }

/* ---- Searching ------------------------------------------------------------------------------- */

static int note_hit(const struct store_hit *hit, void *user)
{
    (void) user;
    return acp_buf_printf(&found, "%.*s/%llu %.*s: %.*s\n", (int) hit->session.len,
                          hit->session.ptr, (unsigned long long) hit->seq, (int) hit->author.len,
                          hit->author.ptr, (int) hit->snippet.len, hit->snippet.ptr);
}

static void assert_query(const struct store_query *query, const char *wanted)
{
    acp_buf_clear(&found);
    if (store_search(store, query, note_hit, NULL, &failure))
        fail_msg("%s", failure.message);
    assert_text(acp_buf_view(&found), wanted);
}

static void assert_found(const char *words, const char *wanted)
{
    struct store_query query = {.words = acp_str_from(words)};
    assert_query(&query, wanted);
}

static void test_chunks_become_messages(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("please fix the parser"), THOUGHT("the par"), THOUGHT("ser is odd"),
           AGENT("I sha"), AGENT("ll fix"), AGENT(" it"), STOP);
    assert_found("parser", "a/2 thought: the parser is odd\na/1 user: please fix the parser\n");
    assert_found("shall", "a/4 agent: I shall fix it\n");
    assert_found("sha", "");
    assert_found("fix shall", "a/4 agent: I shall fix it\n");
    assert_found("please shall", "");
}

static void test_runs_end_where_something_else_comes(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("go"), AGENT("before"),
           {"update", "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t1\","
                      "\"title\":\"Read main.c\",\"kind\":\"read\"}"},
           AGENT("after"),
           {"update", "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t1\","
                      "\"status\":\"completed\"}"},
           {"update", "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t1\","
                      "\"title\":\"Read main.c twice\"}"},
           {"update", "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"first thing\"},"
                      "{\"content\":\"second thing\"}]}"},
           {"update", "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"first thing\"},"
                      "{\"content\":\"last thing\"}]}"},
           STOP);
    assert_found("before", "a/2 agent: before\n");
    assert_found("after", "a/4 agent: after\n");
    assert_found("main.c", "a/3 tool: Read main.c twice\n");
    assert_found("thing", "a/7 plan: first thing\nlast thing\n");
    assert_found("second", "");
}

static void test_messages_of_version_2(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("question"),
           {"update", "{\"sessionUpdate\":\"user_message\",\"messageId\":\"u\","
                      "\"content\":[{\"type\":\"text\",\"text\":\"question\"}]}"},
           {"update", "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m1\","
                      "\"content\":{\"type\":\"text\",\"text\":\"one \"}}"},
           {"update", "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m2\","
                      "\"content\":{\"type\":\"text\",\"text\":\"other\"}}"},
           {"update", "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m1\","
                      "\"content\":{\"type\":\"text\",\"text\":\"two\"}}"},
           {"update", "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m2\","
                      "\"content\":[{\"type\":\"text\",\"text\":\"replaced\"}]}"},
           {"update", "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"markdown\","
                      "\"planId\":\"p\",\"content\":\"steps to take\"}}"},
           STOP);
    /* What the agent repeats is not found twice. */
    assert_found("question", "a/1 user: question\n");
    assert_found("two", "a/3 agent: one two\n");
    assert_found("other", "");
    assert_found("replaced", "a/4 agent: replaced\n");
    assert_found("steps", "a/7 plan: steps to take\n");
}

static void test_what_says_nothing_is_passed_over(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, {"lifecycle", "{\"text\":\"word\"}"}, {"update", "no JSON: word"},
           {"update", "[\"word\"]"},
           {"update", "{\"sessionUpdate\":\"word\",\"content\":\"word\"}"},
           {"update", "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\","
                      "\"text\":\"word\"}}"},
           {"prompt", "{\"prompt\":[{\"type\":\"text\",\"text\":\"the only word\"}]}"}, STOP);
    assert_found("word", "a/6 user: the only word\n");
}

static void test_a_turn_that_still_runs(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("go"), AGENT("half a sen"));
    assert_found("half", "a/2 agent: half a sen\n");
    assert_found("half", "a/2 agent: half a sen\n");
    APPEND("a", 3, AGENT("tence"));
    assert_found("sen", "");
    assert_found("sentence", "a/2 agent: half a sentence\n");
    APPEND("a", 4, AGENT(" and more"), STOP, PROMPT("next half"), AGENT("answer"));
    assert_found("half", "a/6 user: next half\na/2 agent: half a sentence and more\n");
    assert_found("answer", "a/7 agent: answer\n");
    /* It crashed; the next turn begins without a stop. */
    APPEND("a", 8, PROMPT("again"), AGENT("reply"), STOP);
    assert_found("answer", "a/7 agent: answer\n");
    assert_found("reply", "a/9 agent: reply\n");
}

static void test_large_turns_are_indexed_in_parts(void **state)
{
    (void) state;
    enum { CHUNKS = 50000 };
    static struct line lines[CHUNKS];
    for (size_t i = 0; i < CHUNKS; i++)
        lines[i] = (struct line) AGENT("word ");
    lines[CHUNKS - 1] = (struct line) AGENT("finis");
    add_empty("a", "x");
    append("a", 1, lines, CHUNKS);
    int64_t number = number_of("a");
    assert_int_equal(store_index_session(store, number, &failure), 1);
    assert_int_equal(store_index_session(store, number, &failure), 1);
    assert_int_equal(store_index_session(store, number, &failure), 0);
    assert_int_equal(store_index_session(store, number, &failure), 0);
    struct store_query query = {.words = acp_str_from("finis"), .mark = "<", .end_mark = ">"};
    acp_buf_clear(&found);
    assert_int_equal(store_search(store, &query, note_hit, NULL, &failure), 0);
    assert_says(found.data, "a/40001 agent: ");
    assert_says(found.data, "word <finis>");
}

/* A pass may end anywhere, but not within a turn: the message there stays one text. */
static void test_small_turns_are_not_cut(void **state)
{
    (void) state;
    enum { EVENTS = 30000, TURN = 97, FULL = 20000 };
    static struct line lines[EVENTS];
    for (size_t i = 0; i < EVENTS; i++)
        lines[i] = (i + 1) % TURN == 0 ? (struct line) STOP : (struct line) AGENT("w ");
    lines[FULL - 2] = (struct line) AGENT("before ");
    lines[FULL + 2] = (struct line) AGENT("behind ");
    add_empty("a", "x");
    append("a", 1, lines, EVENTS);
    int64_t number = number_of("a");
    assert_int_equal(store_index_session(store, number, &failure), 1);
    assert_int_equal(store_index_session(store, number, &failure), 0);
    struct store_query query = {.words = acp_str_from("before behind")};
    acp_buf_clear(&found);
    assert_int_equal(store_search(store, &query, note_hit, NULL, &failure), 0);
    assert_says(found.data, "a/19983 agent: ");
}

static void test_filters_and_order(void **state)
{
    (void) state;
    add_empty("a", "x");
    add_empty("b", "y");
    APPEND("a", 1, PROMPT("tea"), AGENT("tea tea tea"), STOP);
    APPEND("b", 1, PROMPT("a long text in which tea is one of very many words"), STOP);
    APPEND("b", 3, PROMPT("tea later"), STOP);
    struct store_query query = {.words = acp_str_from("tea"), .newest_first = true};
    assert_query(&query, "b/3 user: tea later\na/2 agent: tea tea tea\n"
                         "b/1 user: a long text in which tea is one of very many words\n"
                         "a/1 user: tea\n");
    query.limit = 1;
    query.offset = 1;
    assert_query(&query, "a/2 agent: tea tea tea\n");
    query = (struct store_query){.words = acp_str_from("tea"), .limit = 1};
    assert_query(&query, "a/2 agent: tea tea tea\n");
    query = (struct store_query){
        .words = acp_str_from("tea"), .session = acp_str_from("a"), .author = acp_str_from("user")};
    assert_query(&query, "a/1 user: tea\n");
    query = (struct store_query){.words = acp_str_from("tea later"), .agent = acp_str_from("y")};
    assert_query(&query, "b/3 user: tea later\n");
    query.scope = acp_str_from("/nowhere");
    assert_query(&query, "");
}

static void test_prefix_and_phrase(void **state)
{
    (void) state;
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("the quick brown fox"), STOP);
    const char *hit = "a/1 user: the quick brown fox\n";
    assert_found("qui*", hit);
    assert_found("qui", "");
    assert_found("\"quick brown\"", hit);
    assert_found("\"brown quick\"", "");
    assert_found("\"quick bro\"*", hit);
    assert_found("\"quick brown", hit);
    assert_found("THE Qu\xc3\xaf"
                 "ck",
                 hit);
    assert_found("fox the", hit);
}

static void test_no_words_are_wrong(void **state)
{
    (void) state;
    static const char *const all[] = {
        "",
        " ",
        "*",
        "\"",
        "\"\"",
        "\"\"*",
        "***",
        "-fox",
        "fox-",
        "AND",
        "fox AND",
        "NOT fox",
        "OR",
        "NEAR(fox)",
        "fox(",
        ")",
        "content:fox",
        "author:user",
        "{content} : x",
        "^fox",
        "fox + brown",
        "a\"b",
        "\"a\"\"b\"",
        "'",
        ";",
        "fox; DROP TABLE sessions",
        "\\",
        "\xff\xfe",
        "%",
        "_",
        "?1",
        "--",
        "/*",
        "\x01",
    };
    add_empty("a", "x");
    APPEND("a", 1, PROMPT("the quick brown fox"), STOP);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct store_query query = {.words = acp_str_from(all[i])};
        acp_buf_clear(&found);
        if (store_search(store, &query, note_hit, NULL, &failure))
            fail_msg("'%s': %s", all[i], failure.message);
    }
    assert_found("-fox", "a/1 user: the quick brown fox\n");
    /* Every sign that there is, in random order. */
    test_seed();
    for (int round = 0; round < 2000; round++) {
        char words[24];
        size_t n = test_random() % sizeof(words);
        for (size_t i = 0; i < n; i++)
            words[i] = (char) (1 + test_random() % 255);
        struct store_query query = {.words = acp_str_n(words, n)};
        if (store_search(store, &query, note_hit, NULL, &failure))
            fail_msg("'%.*s': %s", (int) n, words, failure.message);
    }
}

static void test_deleted_is_not_found(void **state)
{
    (void) state;
    add_empty("a", "x");
    add_empty("b", "x");
    APPEND("a", 1, PROMPT("secret word"), STOP);
    APPEND("b", 1, PROMPT("word"), STOP);
    assert_found("word", "b/1 user: word\na/1 user: secret word\n");
    assert_int_equal(store_delete(store, acp_str_from("a"), &failure), 0);
    assert_found("word", "b/1 user: word\n");
    assert_found("secret", "");
    assert_int_equal(
        store_exec(store, "INSERT INTO texts (texts) VALUES ('integrity-check')", &failure), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_chunks_become_messages),
        IN_FOLDER(test_runs_end_where_something_else_comes),
        IN_FOLDER(test_messages_of_version_2),
        IN_FOLDER(test_what_says_nothing_is_passed_over),
        IN_FOLDER(test_a_turn_that_still_runs),
        IN_FOLDER(test_large_turns_are_indexed_in_parts),
        IN_FOLDER(test_small_turns_are_not_cut),
        IN_FOLDER(test_filters_and_order),
        IN_FOLDER(test_prefix_and_phrase),
        IN_FOLDER(test_no_words_are_wrong),
        IN_FOLDER(test_deleted_is_not_found),
    };
    return cmocka_run_group_tests_name("store_search", tests, NULL, NULL);
}
