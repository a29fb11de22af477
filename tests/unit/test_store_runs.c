/*
 * Events that share a row: that they do, that each comes back as it was from wherever one reads,
 * what keeps them apart, and that damage is told.  Compressing the bodies belongs here, too.
 */
#include <time.h>

#include "store/compress.h"
#include "store/db.h"
#include "store/log_writer.h"
#include "store_help.h"

static uv_loop_t loop;
static struct store_writer *writer;
static struct store_log *session_log;
static struct acp_failure failure;

static const struct store_log_handler handler = {0};

static int setup(void **state)
{
    (void) make_store_folder(state);
    failure = (struct acp_failure){0};
    struct store_writer_options options = {.path = store_at("log.db"), .flags = STORE_CREATE};
    struct store_session session = {.id = acp_str_from("a"), .agent = acp_str_from("x")};
    return uv_loop_init(&loop) || store_writer_new(&loop, &options, &writer) ||
           store_log_create(writer, &session, &handler, NULL, &session_log, &failure);
}

/* Everything is on disk then, in one transaction. */
static void finish(void)
{
    store_writer_close(writer, NULL, NULL);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void append(uint64_t turn, int64_t time, const char *kind, const char *body)
{
    assert_int_equal(
        store_log_append(session_log, turn, time, acp_str_from(kind), acp_raw_from(body), NULL), 0);
}

static int64_t ask(const char *sql)
{
    struct store *store = open_store();
    sqlite3_stmt *statement = NULL;
    if (sqlite.prepare_v3(store->handle, sql, -1, 0, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite.errmsg(store->handle));
    assert_int_equal(sqlite.step(statement), SQLITE_ROW);
    int64_t result = sqlite.column_int64(statement, 0);
    (void) sqlite.finalize(statement);
    store_close(store);
    return result;
}

static void change(const char *sql)
{
    struct store *store = open_store();
    if (store_exec(store, sql, &failure))
        fail_msg("%s", failure.message);
    store_close(store);
}

/* Events are written as "SEQ/TURN@TIME KIND BODY", a line each. */
static int note_event(const struct store_event *event, void *user)
{
    return acp_buf_printf(user, "%d/%d@%d %.*s %.*s\n", (int) event->seq, (int) event->turn,
                          (int) event->time, ACP_ARG(event->kind), (int) event->body.len,
                          event->body.ptr);
}

static void assert_events(uint64_t from, uint64_t limit, const char *wanted)
{
    struct store *store = open_store();
    struct acp_buf found;
    acp_buf_init(&found, 1 << 20);
    if (store_events(store, acp_str_from("a"), from, limit, note_event, &found, &failure))
        fail_msg("%s", failure.message);
    assert_int_equal(acp_buf_append(&found, "", 1), 0);
    assert_string_equal(found.data, wanted);
    acp_buf_finish(&found);
    store_close(store);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void test_events_share_a_row(void **state)
{
    (void) state;
    append(1, 5, "message", "{\"a\":1}");
    append(1, 5, "message", "{}");
    append(1, 5, "message", "");
    append(1, 5, "message", "[\"last\"]");
    finish();
    assert_int_equal(ask("SELECT count(*) FROM events"), 1);
    assert_int_equal(ask("SELECT count FROM events"), 4);
    assert_events(1, 0,
                  "1/1@5 message {\"a\":1}\n2/1@5 message {}\n3/1@5 message \n"
                  "4/1@5 message [\"last\"]\n");
    assert_events(2, 2, "2/1@5 message {}\n3/1@5 message \n");
    assert_events(4, 0, "4/1@5 message [\"last\"]\n");
    assert_events(5, 0, "");
}

static void test_what_differs_has_rows_of_its_own(void **state)
{
    (void) state;
    append(1, 5, "message", "1");
    append(1, 6, "message", "2");
    append(2, 6, "message", "3");
    append(2, 6, "thought", "4");
    append(2, 6, "thought", "5");
    append(2, 6, "thoughts", "6");
    finish();
    assert_int_equal(ask("SELECT count(*) FROM events"), 5);
    assert_events(1, 0,
                  "1/1@5 message 1\n2/1@6 message 2\n3/2@6 message 3\n4/2@6 thought 4\n"
                  "5/2@6 thought 5\n6/2@6 thoughts 6\n");
    assert_events(3, 3, "3/2@6 message 3\n4/2@6 thought 4\n5/2@6 thought 5\n");
}

/* A body with the separator is not JSON; it comes back all the same. */
static void test_a_separator_in_a_body(void **state)
{
    (void) state;
    append(1, 5, "message", "a");
    append(1, 5, "message",
           "b\x1e"
           "c");
    append(1, 5, "message", "d");
    append(1, 5, "message", "e");
    finish();
    assert_int_equal(ask("SELECT count(*) FROM events"), 3);
    assert_events(1, 0,
                  "1/1@5 message a\n2/1@5 message b\x1e"
                  "c\n3/1@5 message d\n"
                  "4/1@5 message e\n");
}

static int compare_event(const struct store_event *event, void *user)
{
    const struct acp_raw *bodies = user;
    const struct acp_raw *wanted = &bodies[event->seq - 1];
    return event->body.len == wanted->len && memcmp(event->body.ptr, wanted->ptr, wanted->len) == 0
               ? 0
               : ACP_ERR_RANGE;
}

/* Bodies of all lengths, up to some that fill a row alone or do not fit into one. */
static void test_rows_are_bounded(void **state)
{
    (void) state;
    enum { EVENTS = 400 };
    static char text[2 * STORE_RUN_MAX_BYTES];
    static struct acp_raw bodies[EVENTS];
    uint32_t random = 3;
    for (size_t i = 0; i < sizeof(text); i++) {
        random = random * 1664525 + 1013904223;
        text[i] = (char) ('a' + (random >> 28));
    }
    for (size_t i = 0; i < EVENTS; i++) {
        size_t len = i % 50 == 49 ? STORE_RUN_MAX_BYTES - 2 + i / 50 : i * 3;
        bodies[i] = acp_raw_n(text + i, len);
        assert_int_equal(
            store_log_append(session_log, 1, 5, acp_str_from("message"), bodies[i], NULL), 0);
    }
    finish();
    assert_int_equal(ask("SELECT sum(count) FROM events"), EVENTS);
    assert_in_range(ask("SELECT count(*) FROM events"), 10, 30);
    assert_int_equal(ask("SELECT count(*) FROM events WHERE count > 1 AND length(body) > 65536"),
                     0);
    struct store *store = open_store();
    for (uint64_t from = 1; from <= EVENTS; from += 7)
        assert_int_equal(
            store_events(store, acp_str_from("a"), from, 0, compare_event, bodies, &failure), 0);
    store_close(store);
}

static int count_event(const struct store_event *event, void *user)
{
    ++*(uint64_t *) user;
    return event->body.len == 80 ? 0 : ACP_ERR_RANGE;
}

static void test_chunks_are_compressed(void **state)
{
    (void) state;
    for (int i = 0; i < 300; i++)
        append(1, 5, "message",
               "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
               "\"text\":\"word \"}}");
    finish();
    assert_int_equal(ask("SELECT count(*) FROM events"), 1);
    assert_in_range(ask("SELECT length(body) FROM events"), 100, 1000);
    assert_int_equal(ask("SELECT size FROM events"), 300 * 81 - 1);
    struct store *store = open_store();
    uint64_t found = 0;
    struct acp_str id = acp_str_from("a");
    assert_int_equal(store_events(store, id, 250, 0, count_event, &found, &failure), 0);
    assert_int_equal(found, 51);
    store_close(store);
}

/* ---- Search ---------------------------------------------------------------------------------- */

static int note_hit(const struct store_hit *hit, void *user)
{
    return acp_buf_printf(user, "%d@%d %.*s\n", (int) hit->seq, (int) hit->time,
                          ACP_ARG(hit->snippet));
}

static void assert_found(const char *words, const char *wanted)
{
    struct store *store = open_store();
    struct acp_buf found;
    struct store_query query = {.words = acp_str_from(words), .newest_first = true};
    acp_buf_init(&found, 1 << 20);
    if (store_search(store, &query, note_hit, &found, &failure))
        fail_msg("%s", failure.message);
    assert_int_equal(acp_buf_append(&found, "", 1), 0);
    assert_string_equal(found.data, wanted);
    acp_buf_finish(&found);
    store_close(store);
}

#define MESSAGE(id, text)                                                                          \
    "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"" id                                     \
    "\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}"

static void test_texts_within_rows_are_found(void **state)
{
    (void) state;
    append(1, 5, "prompt", "[{\"type\":\"text\",\"text\":\"hello\"}]");
    append(1, 6, "message", MESSAGE("1", "one apple"));
    append(1, 6, "message", MESSAGE("2", "two apples"));
    append(1, 6, "message", MESSAGE("3", "three apples"));
    append(1, 7, "message", MESSAGE("4", "more apples"));
    append(1, 8, "stop", "{}");
    finish();
    assert_int_equal(ask("SELECT count(*) FROM events"), 4);
    assert_found("apples", "5@7 more apples\n4@6 three apples\n3@6 two apples\n");
    assert_found("hello", "1@5 hello\n");
}

/* A turn of that many events, with the prompt and the end. */
static void append_turn(int events)
{
    append(1, 5, "prompt", "[{\"type\":\"text\",\"text\":\"hello\"}]");
    for (int i = 2; i < events; i++)
        append(1, 6, "message", MESSAGE("1", "apples"));
    append(1, 7, "stop", "{}");
}

/* Indexing a long turn is not what the end of a program waits for; the search does it. */
static void test_a_long_turn_is_indexed_by_the_search(void **state)
{
    (void) state;
    append_turn(STORE_LONG_TURN + 1);
    finish();
    assert_int_equal(ask("SELECT indexed_seq FROM sessions"), 0);
    assert_found("apples", "2@6 apples\n");
    assert_int_equal(ask("SELECT indexed_seq = last_seq FROM sessions"), 1);
}

static void test_a_shorter_turn_is_indexed_at_its_end(void **state)
{
    (void) state;
    append_turn(STORE_LONG_TURN);
    append_turn(3); /* events are counted for each turn */
    finish();
    assert_int_equal(ask("SELECT indexed_seq = last_seq FROM sessions"), 1);
}

/* While the program goes on, a long turn is indexed when nothing else is to be done. */
static void test_a_long_turn_is_indexed_in_a_quiet_moment(void **state)
{
    const struct timespec pause = {0, 5000000};
    (void) state;
    append_turn(STORE_LONG_TURN + 1);
    (void) uv_run(&loop, UV_RUN_DEFAULT); /* until all is written */
    while (!ask("SELECT indexed_seq = last_seq FROM sessions"))
        (void) nanosleep(&pause, NULL);
    finish();
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static int ignore_event(const struct store_event *event, void *user)
{
    (void) event;
    (void) user;
    return 0;
}

static void assert_damaged(const char *sql)
{
    change(sql);
    struct store *store = open_store();
    assert_int_equal(store_events(store, acp_str_from("a"), 1, 0, ignore_event, NULL, &failure),
                     ACP_ERR_STATE);
    assert_says(failure.message, "is damaged");
    store_close(store);
}

static void test_damaged_rows_are_told(void **state)
{
    (void) state;
    for (int i = 0; i < 10; i++)
        append(1, 5, "message", "{\"text\":\"the same text in all of them\"}");
    finish();
    assert_int_equal(ask("SELECT size > 0 FROM events"), 1);
    assert_damaged("UPDATE events SET count = 11");
    assert_damaged("UPDATE events SET count = -1");
    assert_damaged("UPDATE events SET count = 10, size = size - 1");
    assert_damaged("UPDATE events SET size = size + 2");
    assert_damaged("UPDATE events SET size = 65537");
    assert_damaged("UPDATE events SET size = -1");
    assert_damaged("UPDATE events SET size = 100, body = x''");
    assert_damaged("UPDATE events SET size = 0, body = x'7b7d'");
}

/* ---- Compressing ----------------------------------------------------------------------------- */

static char packed[2 * COMPRESS_MAX_BYTES];
static char unpacked[COMPRESS_MAX_BYTES];

/* The length of the compressed text, which comes back as it was. */
static size_t round_trip(struct acp_str text)
{
    size_t n = compress_text(text, packed, sizeof(packed));
    assert_true(n > 0);
    assert_true(decompress_text(acp_str_n(packed, n), unpacked, text.len));
    assert_memory_equal(unpacked, text.ptr, text.len);
    /* It fits exactly, or is said not to fit. */
    for (size_t room = n > 20 ? n - 20 : 0; room < n; room++)
        assert_int_equal(compress_text(text, unpacked, room), 0);
    assert_false(decompress_text(acp_str_n(packed, n), unpacked, text.len - 1));
    return n;
}

static void test_texts_come_back(void **state)
{
    (void) state;
    static char text[COMPRESS_MAX_BYTES + 1];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof(text); i++) {
        random = random * 1664525 + 1013904223;
        text[i] = (char) (random >> 24);
    }
    for (size_t n = 1; n < 700; n++)
        assert_true(round_trip(acp_str_n(text, n)) <= n + n / 255 + 2);
    assert_true(round_trip(acp_str_n(text, COMPRESS_MAX_BYTES)) <= COMPRESS_MAX_BYTES + 258);
    assert_int_equal(compress_text(acp_str_n(text, sizeof(text)), packed, sizeof(packed)), 0);
    assert_int_equal(compress_text(acp_str_n(text, 0), packed, sizeof(packed)), 0);
    /* Matches of every length, and of every distance up to the longest. */
    for (size_t n = 4; n < 1200; n++) {
        memcpy(text + 2000, text, n);
        (void) round_trip(acp_str_n(text, 2000 + n + 12));
    }
    memset(text, 'x', sizeof(text));
    assert_true(round_trip(acp_str_n(text, COMPRESS_MAX_BYTES)) < 300);
    for (size_t n = 1; n < 700; n++)
        (void) round_trip(acp_str_n(text, n));
}

/* As the format is documented, not as our compressor would write it. */
static void test_blocks_of_other_programs(void **state)
{
    (void) state;
    static const char block[] = "\x32"
                                "abc"
                                "\x03\x00"
                                "\x50"
                                "hello";
    assert_true(decompress_text(acp_str_n(block, 12), unpacked, 14));
    assert_memory_equal(unpacked, "abcabcabchello", 14);
}

static void test_damaged_blocks_are_refused(void **state)
{
    (void) state;
    static const struct {
        const char *block;
        size_t len;
        size_t size;
    } rows[] = {
        {"\x32"
         "ab",
         3, 2}, /* fewer literals than it says */
        {"\x32"
         "abc"
         "\x03",
         5, 9}, /* half a distance */
        {"\x32"
         "abc"
         "\x00\x00"
         "\x10"
         "x",
         8, 10}, /* no distance */
        {"\x32"
         "abc"
         "\x04\x00"
         "\x10"
         "x",
         8, 10}, /* before the beginning */
        {"\x32"
         "abc"
         "\x03\x00"
         "\x10"
         "x",
         8, 8}, /* longer than the text */
        {"\x32"
         "abc"
         "\x03\x00"
         "\x10"
         "x",
         8, 11}, /* shorter */
        {"\xf0"
         "\xff",
         2, 300}, /* a length that does not end */
        {"\x3f"
         "abc"
         "\x03\x00"
         "\xff",
         7, 300}, /* the same of a match */
        {"", 0, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (decompress_text(acp_str_n(rows[i].block, rows[i].len), unpacked, rows[i].size))
            fail_msg("row %zu is accepted", i);
    assert_true(decompress_text(acp_str_n("", 0), unpacked, 0));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, remove_store_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_events_share_a_row),
        IN_FOLDER(test_what_differs_has_rows_of_its_own),
        IN_FOLDER(test_a_separator_in_a_body),
        IN_FOLDER(test_rows_are_bounded),
        IN_FOLDER(test_chunks_are_compressed),
        IN_FOLDER(test_texts_within_rows_are_found),
        IN_FOLDER(test_a_long_turn_is_indexed_by_the_search),
        IN_FOLDER(test_a_shorter_turn_is_indexed_at_its_end),
        IN_FOLDER(test_a_long_turn_is_indexed_in_a_quiet_moment),
        IN_FOLDER(test_damaged_rows_are_told),
        cmocka_unit_test(test_texts_come_back),
        cmocka_unit_test(test_blocks_of_other_programs),
        cmocka_unit_test(test_damaged_blocks_are_refused),
    };
    return cmocka_run_group_tests_name("store_runs", tests, NULL, NULL);
}
