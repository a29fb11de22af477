/* The database's synchronous half: rows, events, imports, claims. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/claim.h"
#include "store/db.h"
#include "store_help.h"

static struct store *store;
static struct acp_arena arena;
static struct acp_failure failure;

static int setup(void **state)
{
    (void) make_store_folder(state);
    acp_arena_init(&arena, 0);
    failure = (struct acp_failure){0};
    store = open_store();
    return 0;
}

static int teardown(void **state)
{
    store_close(store);
    store_close(NULL);
    acp_arena_finish(&arena);
    return remove_store_folder(state);
}

static struct store_session named(const char *id, const char *agent, const char *scope,
                                  const char *name, int64_t time)
{
    return (struct store_session){.id = acp_str_from(id),
                                  .agent = acp_str_from(agent),
                                  .scope = acp_str_from(scope),
                                  .cwd = acp_str_from(scope),
                                  .name = acp_str_from(name),
                                  .created = time,
                                  .updated = time};
}

static void add(const char *id, const char *agent, const char *scope, const char *name,
                int64_t time)
{
    struct store_session session = named(id, agent, scope, name, time);
    add_session(store, &session, 0);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void test_files_are_private(void **state)
{
    (void) state;
    mode_t old = umask(0);
    struct store *other = NULL;
    assert_int_equal(store_open(store_at("new/deep/log.db"), STORE_CREATE, &other, &failure), 0);
    struct store_session session = named("a", "x", "/", NULL, 1);
    add_session(other, &session, 1);
    umask(old);
    assert_int_equal(mode_of(store_at("new")), 0700);
    assert_int_equal(mode_of(store_at("new/deep")), 0700);
    assert_int_equal(mode_of(store_at("new/deep/log.db")), 0600);
    assert_int_equal(mode_of(store_at("new/deep/log.db-wal")), 0600);
    store_close(other);
}

static void test_missing_is_not_made(void **state)
{
    (void) state;
    struct store *other = NULL;
    assert_int_equal(store_open(store_at("none.db"), 0, &other, &failure), ACP_ERR_MISSING);
    assert_says(failure.message, "none.db");
    assert_int_equal(access(store_at("none.db"), F_OK), -1);
    assert_null(other);
}

static void test_ids_sort_by_age(void **state)
{
    (void) state;
    char first[STORE_ID_SIZE];
    char second[STORE_ID_SIZE];
    store_new_id(first);
    (void) usleep(2000);
    store_new_id(second);
    assert_int_equal(strlen(first), 36);
    assert_int_equal(first[14], '7');
    assert_non_null(strchr("89ab", first[19]));
    assert_true(strcmp(first, second) < 0);
    assert_true(store_is_id(acp_str_from(first)));
    assert_false(store_is_id(acp_str_from("../x")));
    assert_false(store_is_id(acp_str_from("")));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void test_row_comes_back_whole(void **state)
{
    (void) state;
    struct store_session in = {
        .id = acp_str_from("0198-a"),
        .agent = acp_str_from("claude"),
        .command = acp_str_from("[\"claude\",\"--acp\"]"),
        .agent_session = acp_str_from("s-1"),
        .name = acp_str_from("fix \xc3\xa9t\xc3\xa9"),
        .scope = acp_str_from("/w"),
        .cwd = acp_str_from("/w/sub"),
        .directories = acp_str_from("[\"/d\"]"),
        .title = acp_str_from("A title"),
        .settings = acp_str_from("{\"mode\":\"plan\"}"),
        .usage = acp_str_from("{\"used\":3}"),
        .stop_reason = acp_str_from("end_turn"),
        .created = 10,
        .updated = 20,
        .closed = 30,
    };
    add_session(store, &in, 3);
    struct store_session out;
    assert_int_equal(store_find(store, in.id, &arena, &out, &failure), 0);
    assert_text(out.id, "0198-a");
    assert_text(out.agent, "claude");
    assert_text(out.command, "[\"claude\",\"--acp\"]");
    assert_text(out.agent_session, "s-1");
    assert_text(out.name, "fix \xc3\xa9t\xc3\xa9");
    assert_text(out.scope, "/w");
    assert_text(out.cwd, "/w/sub");
    assert_text(out.directories, "[\"/d\"]");
    assert_text(out.title, "A title");
    assert_text(out.settings, "{\"mode\":\"plan\"}");
    assert_text(out.usage, "{\"used\":3}");
    assert_text(out.stop_reason, "end_turn");
    assert_int_equal(out.created, 10);
    assert_int_equal(out.updated, 20);
    assert_int_equal(out.closed, 30);
    assert_int_equal(out.last_seq, 3);
    assert_false(out.running);
    assert_int_equal(out.owner, 0);
}

static void test_find_by_prefix(void **state)
{
    (void) state;
    add("0198aa-1", "x", "/", NULL, 1);
    add("0198ab-1", "x", "/", NULL, 2);
    add("0198ab", "x", "/", NULL, 3);
    struct store_session out;
    assert_int_equal(store_find(store, acp_str_from("0198aa"), &arena, &out, &failure), 0);
    assert_text(out.id, "0198aa-1");
    /* A whole id is meant, though another begins with it. */
    assert_int_equal(store_find(store, acp_str_from("0198ab"), &arena, &out, &failure), 0);
    assert_text(out.id, "0198ab");
    assert_int_equal(store_find(store, acp_str_from("0198"), &arena, &out, &failure),
                     ACP_ERR_ARGUMENT);
    assert_says(failure.message, "several sessions begin with 0198");
    assert_int_equal(store_find(store, acp_str_from("77"), &arena, &out, &failure),
                     ACP_ERR_MISSING);
    assert_int_equal(store_find(store, acp_str_from(""), &arena, &out, &failure), ACP_ERR_MISSING);
    assert_int_equal(store_find(store, acp_str_from("%"), &arena, &out, &failure), ACP_ERR_MISSING);
}

static void test_find_by_the_random_part(void **state)
{
    (void) state;
    add("01a1f63d-dce8-7ea5-be8f-80c997331706", "x", "/", NULL, 1);
    add("01a1f63d-dd3c-7647-9b61-80c90f363e1f", "x", "/", NULL, 2);
    struct store_session out;
    assert_text(store_short_id(acp_str_from("01a1f63d-dce8-7ea5-be8f-80c997331706")), "80c99733");
    assert_text(store_short_id(acp_str_from("imported_1")), "imported_1");
    assert_int_equal(store_find(store, acp_str_from("80c99"), &arena, &out, &failure), 0);
    assert_text(out.id, "01a1f63d-dce8-7ea5-be8f-80c997331706");
    assert_int_equal(store_find(store, acp_str_from("80c90f363e1f"), &arena, &out, &failure), 0);
    assert_text(out.id, "01a1f63d-dd3c-7647-9b61-80c90f363e1f");
    assert_int_equal(store_find(store, acp_str_from("80c9"), &arena, &out, &failure),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(store_find(store, acp_str_from("be8f"), &arena, &out, &failure),
                     ACP_ERR_MISSING);
}

static void test_find_named(void **state)
{
    (void) state;
    add("a", "x", "/w", "one", 1);
    add("b", "x", "/w", "one", 2);
    add("c", "x", "/w", NULL, 3);
    add("d", "y", "/w", NULL, 4);
    struct store_session out;
    assert_int_equal(store_find_named(store, acp_str_from("x"), acp_str_from("/w"),
                                      acp_str_from("one"), &arena, &out, &failure),
                     0);
    assert_text(out.id, "b");
    assert_int_equal(store_find_named(store, acp_str_from("x"), acp_str_from("/w"),
                                      acp_str_from(NULL), &arena, &out, &failure),
                     0);
    assert_text(out.id, "c");
    /* A closed one is not found by its name any more. */
    struct store_change close = {.closed = acp_some_i64(9)};
    assert_int_equal(store_change(store, acp_str_from("b"), &close, &failure), 0);
    assert_int_equal(store_find_named(store, acp_str_from("x"), acp_str_from("/w"),
                                      acp_str_from("one"), &arena, &out, &failure),
                     0);
    assert_text(out.id, "a");
    assert_int_equal(store_find_named(store, acp_str_from("x"), acp_str_from("/"),
                                      acp_str_from("one"), &arena, &out, &failure),
                     ACP_ERR_MISSING);
}

static int note_id(const struct store_session *session, void *user)
{
    struct acp_buf *ids = user;
    return acp_buf_printf(ids, "%.*s ", (int) session->id.len, session->id.ptr);
}

static void assert_list(const struct store_filter *filter, const char *wanted)
{
    struct acp_buf ids;
    acp_buf_init(&ids, 4096);
    assert_int_equal(store_list(store, filter, note_id, &ids, &failure), 0);
    assert_text(acp_buf_view(&ids), wanted);
    acp_buf_finish(&ids);
}

static int stop_at_once(const struct store_session *session, void *user)
{
    (void) session;
    (*(int *) user)++;
    return 42;
}

static void test_list(void **state)
{
    (void) state;
    add("a", "x", "/w", "n", 30);
    add("b", "y", "/w", NULL, 20);
    add("c", "x", "/v", NULL, 10);
    struct store_change close = {.closed = acp_some_i64(9)};
    assert_int_equal(store_change(store, acp_str_from("a"), &close, &failure), 0);
    assert_list(&(struct store_filter){0}, "a b c ");
    assert_list(&(struct store_filter){.agent = acp_str_from("x")}, "a c ");
    assert_list(&(struct store_filter){.scope = acp_str_from("/w")}, "a b ");
    assert_list(&(struct store_filter){.cwd = acp_str_from("/v")}, "c ");
    assert_list(&(struct store_filter){.name = acp_str_from("n")}, "a ");
    assert_list(&(struct store_filter){.state = STORE_OPEN}, "b c ");
    assert_list(&(struct store_filter){.state = STORE_CLOSED}, "a ");
    assert_list(&(struct store_filter){.limit = 1, .offset = 1}, "b ");
    assert_list(&(struct store_filter){.agent = acp_str_from("z")}, "");
    assert_list(&(struct store_filter){.not_empty = true}, "");
    struct store_session used = named("d", "x", "/w", NULL, 5);
    add_session(store, &used, 2);
    assert_list(&(struct store_filter){.not_empty = true}, "d ");
    assert_list(&(struct store_filter){.agent = acp_str_from("x"), .not_empty = true, .offset = 1},
                "");
    int calls = 0;
    struct store_filter all = {0};
    assert_int_equal(store_list(store, &all, stop_at_once, &calls, &failure), 42);
    assert_int_equal(calls, 1);
}

static void test_change(void **state)
{
    (void) state;
    add("a", "x", "/w", "n", 30);
    struct store_change change = {.title = acp_str_from("T"),
                                  .name = acp_str_null(),
                                  .settings = acp_str_from("{}"),
                                  .closed = acp_some_i64(77)};
    assert_int_equal(store_change(store, acp_str_from("a"), &change, &failure), 0);
    struct store_session out;
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &out, &failure), 0);
    assert_text(out.title, "T");
    assert_text(out.name, NULL);
    assert_text(out.settings, "{}");
    assert_text(out.scope, "/w");
    assert_int_equal(out.closed, 77);
    assert_int_equal(out.updated, 30);
    struct store_change reopen = {.closed = {.has = ACP_NULL}};
    assert_int_equal(store_change(store, acp_str_from("a"), &reopen, &failure), 0);
    assert_int_equal(store_change(store, acp_str_from("a"), &(struct store_change){0}, &failure),
                     0);
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &out, &failure), 0);
    assert_int_equal(out.closed, 0);
    assert_int_equal(store_change(store, acp_str_from("q"), &change, &failure), ACP_ERR_MISSING);
}

/* ---- Events ---------------------------------------------------------------------------------- */

struct seen {
    uint64_t first;
    uint64_t last;
    uint64_t count;
};

static int note_event(const struct store_event *event, void *user)
{
    struct seen *seen = user;
    if (seen->count++ == 0)
        seen->first = event->seq;
    else if (event->seq != seen->last + 1)
        return ACP_ERR_RANGE;
    seen->last = event->seq;
    return 0;
}

static struct seen read_events(const char *id, uint64_t from, uint64_t limit)
{
    struct seen seen = {0};
    int err = store_events(store, acp_str_from(id), from, limit, note_event, &seen, &failure);
    assert_int_equal(err, 0);
    return seen;
}

static int same_bytes(const struct store_event *event, void *user)
{
    const struct store_event *wanted = user;
    assert_int_equal(event->seq, wanted->seq);
    assert_int_equal(event->time, wanted->time);
    assert_int_equal(event->turn, wanted->turn);
    assert_true(acp_str_eq(event->kind, wanted->kind));
    assert_int_equal(event->body.len, wanted->body.len);
    assert_memory_equal(event->body.ptr, wanted->body.ptr, wanted->body.len);
    return 0;
}

static void test_events_are_the_bytes_that_came(void **state)
{
    (void) state;
    static const char body[] = "{\"a\": 1.0,\t\"\\u0000\":\"\xf0\x9f\x98\x80\"}\0tail";
    struct store_session session = named("a", "x", "/", NULL, 1);
    struct store_event event = event_of(1, "update", "");
    event.body = acp_raw_n(body, sizeof(body) - 1);
    event.turn = 7;
    assert_int_equal(store_import_begin(store, &session, &failure), 0);
    assert_int_equal(store_import_event(store, &event, &failure), 0);
    assert_int_equal(store_import_commit(store, &failure), 0);
    assert_int_equal(store_events(store, acp_str_from("a"), 1, 0, same_bytes, &event, &failure), 0);
}

static void test_events_of_their_own_session(void **state)
{
    (void) state;
    struct store_session a = named("a", "x", "/", NULL, 1);
    struct store_session b = named("b", "x", "/", NULL, 2);
    add_session(store, &a, 100);
    add_session(store, &b, 10);
    assert_int_equal(read_events("a", 1, 0).count, 100);
    assert_int_equal(read_events("a", 90, 0).first, 90);
    assert_int_equal(read_events("a", 90, 0).last, 100);
    assert_int_equal(read_events("a", 10, 5).last, 14);
    assert_int_equal(read_events("a", 101, 0).count, 0);
    assert_int_equal(read_events("a", UINT64_MAX, 0).count, 0);
    assert_int_equal(read_events("b", 0, 0).count, 10);
    struct seen seen = {0};
    assert_int_equal(store_events(store, acp_str_from("q"), 1, 0, note_event, &seen, &failure),
                     ACP_ERR_MISSING);
}

static void test_import_is_all_or_nothing(void **state)
{
    (void) state;
    struct store_session a = named("a", "x", "/", NULL, 1);
    struct store_event second = event_of(2, "update", "{}");
    struct store_event first = event_of(1, "update", "{}");
    struct store_event odd = event_of(2, "", "{}");
    assert_int_equal(store_import_event(store, &first, &failure), ACP_ERR_STATE);
    assert_int_equal(store_import_begin(store, &a, &failure), 0);
    assert_int_equal(store_import_begin(store, &a, &failure), ACP_ERR_STATE);
    assert_int_equal(store_import_event(store, &second, &failure), ACP_ERR_ARGUMENT);
    assert_says(failure.message, "event 1 is missing");
    assert_int_equal(store_import_event(store, &first, &failure), 0);
    assert_int_equal(store_import_event(store, &odd, &failure), ACP_ERR_ARGUMENT);
    store_import_rollback(store);
    assert_list(&(struct store_filter){0}, "");

    add_session(store, &a, 2);
    assert_int_equal(store_import_begin(store, &a, &failure), ACP_ERR_STATE);
    assert_says(failure.message, "a session a already");
    a.id = acp_str_from("no/good");
    assert_int_equal(store_import_begin(store, &a, &failure), ACP_ERR_ARGUMENT);
    assert_int_equal(read_events("a", 1, 0).count, 2);
}

static void test_a_million_events_in_little_memory(void **state)
{
    (void) state;
    enum { MANY = 1000000 };
    struct store_session a = named("a", "x", "/", NULL, 1);
    add_session(store, &a, MANY);
    assert_int_equal(read_events("a", 1, 0).count, MANY);
    /* The events alone are more than 50 MB; a sanitizer has memory of its own. */
#if !defined(__SANITIZE_ADDRESS__)
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_in_range(usage.ru_maxrss, 1, 40 * 1024); /* KiB */
#endif
}

/* ---- Removing -------------------------------------------------------------------------------- */

static void test_delete(void **state)
{
    (void) state;
    struct store_session a = named("a", "x", "/", NULL, 1);
    struct store_session b = named("b", "x", "/", NULL, 2);
    add_session(store, &a, 50);
    add_session(store, &b, 5);
    assert_int_equal(store_delete(store, acp_str_from("a"), &failure), 0);
    assert_int_equal(store_delete(store, acp_str_from("a"), &failure), ACP_ERR_MISSING);
    assert_list(&(struct store_filter){0}, "b ");
    assert_int_equal(read_events("b", 1, 0).count, 5);
    /* A new session may get the number of the old one; nothing is left for it to inherit. */
    assert_int_equal(store_delete(store, acp_str_from("b"), &failure), 0);
    add_session(store, &a, 0);
    assert_int_equal(read_events("a", 1, 0).count, 0);
    assert_int_equal(store_compact(store, &failure), 0);
}

static uint64_t prune(struct store_prune how)
{
    uint64_t count = 999;
    assert_int_equal(store_prune(store, &how, &count, &failure), 0);
    return count;
}

static void test_prune(void **state)
{
    (void) state;
    struct store_change close = {.closed = acp_some_i64(9)};
    add("a", "x", "/w", NULL, 10);
    add("b", "x", "/w", NULL, 20);
    add("c", "x", "/w", NULL, 30);
    add("d", "y", "/w", NULL, 40);
    assert_int_equal(store_change(store, acp_str_from("b"), &close, &failure), 0);
    assert_int_equal(store_change(store, acp_str_from("d"), &close, &failure), 0);

    struct acp_buf ids;
    acp_buf_init(&ids, 100);
    struct store_prune dry = {.older_than = 35, .dry_run = true, .each = note_id, .user = &ids};
    assert_int_equal(prune(dry), 3);
    assert_text(acp_buf_view(&ids), "a b c ");
    acp_buf_finish(&ids);
    assert_list(&(struct store_filter){0}, "d c b a ");

    assert_int_equal(prune((struct store_prune){.older_than = 35, .closed_only = true}), 1);
    assert_list(&(struct store_filter){0}, "d c a ");
    assert_int_equal(prune((struct store_prune){.keep = 2}), 1);
    assert_list(&(struct store_filter){0}, "d c ");
    assert_int_equal(prune((struct store_prune){.agent = acp_str_from("x"), .keep = 1}), 0);
    assert_int_equal(prune((struct store_prune){.scope = acp_str_from("/v")}), 0);
    assert_int_equal(prune((struct store_prune){.agent = acp_str_from("y")}), 1);
    assert_list(&(struct store_filter){0}, "c ");
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static void test_claimed_sessions_are_left_alone(void **state)
{
    (void) state;
    add("a", "x", "/w", NULL, 10);
    struct store_claim claim = STORE_NO_CLAIM;
    assert_int_equal(store_claim_take(&claim, store_at("log.db"), acp_str_from("a"), &failure), 0);
    struct store_change change = {.title = acp_str_from("T"), .running = acp_some_bool(true)};
    assert_int_equal(store_change(store, acp_str_from("a"), &change, &failure), ACP_ERR_STATE);
    char pid[40];
    (void) snprintf(pid, sizeof(pid), "process %d is writing", (int) getpid());
    assert_says(failure.message, pid);
    assert_int_equal(store_delete(store, acp_str_from("a"), &failure), ACP_ERR_STATE);
    assert_int_equal(prune((struct store_prune){0}), 0);
    struct store_session out;
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &out, &failure), 0);
    assert_int_equal(out.owner, getpid());
    store_claim_release(&claim);
    store_claim_release(&claim);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), 0);

    /* Whoever says that a prompt runs is believed only while he lives. */
    assert_int_equal(store_change(store, acp_str_from("a"), &change, &failure), 0);
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &out, &failure), 0);
    assert_false(out.running);
    assert_int_equal(store_claim_take(&claim, store_at("log.db"), acp_str_from("a"), &failure), 0);
    assert_int_equal(store_find(store, acp_str_from("a"), &arena, &out, &failure), 0);
    assert_true(out.running);
    store_claim_release(&claim);
}

static void test_a_claim_ends_with_its_process(void **state)
{
    (void) state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store_claim claim = STORE_NO_CLAIM;
        if (store_claim_take(&claim, store_at("log.db"), acp_str_from("a"), NULL))
            _exit(1);
        (void) !write(ready[1], "x", 1);
        (void) pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct store_claim claim = STORE_NO_CLAIM;
    assert_int_equal(store_claim_take(&claim, store_at("log.db"), acp_str_from("a"), &failure),
                     ACP_ERR_STATE);
    char pid[40];
    (void) snprintf(pid, sizeof(pid), "process %d is writing", (int) child);
    assert_says(failure.message, pid);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), child);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(store_owner(store_at("log.db"), acp_str_from("a")), 0);
    assert_int_equal(store_claim_take(&claim, store_at("log.db"), acp_str_from("a"), &failure), 0);
    store_claim_release(&claim);
    (void) close(ready[0]);
    (void) close(ready[1]);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_files_are_private),
        IN_FOLDER(test_missing_is_not_made),
        IN_FOLDER(test_ids_sort_by_age),
        IN_FOLDER(test_row_comes_back_whole),
        IN_FOLDER(test_find_by_prefix),
        IN_FOLDER(test_find_by_the_random_part),
        IN_FOLDER(test_find_named),
        IN_FOLDER(test_list),
        IN_FOLDER(test_change),
        IN_FOLDER(test_events_are_the_bytes_that_came),
        IN_FOLDER(test_events_of_their_own_session),
        IN_FOLDER(test_import_is_all_or_nothing),
        IN_FOLDER(test_a_million_events_in_little_memory),
        IN_FOLDER(test_delete),
        IN_FOLDER(test_prune),
        IN_FOLDER(test_claimed_sessions_are_left_alone),
        IN_FOLDER(test_a_claim_ends_with_its_process),
    };
    return cmocka_run_group_tests_name("store_sessions", tests, NULL, NULL);
}
