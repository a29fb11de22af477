/* store_help.h - a folder for a test's database, and shorthands. */
#ifndef STORE_HELP_H
#define STORE_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "store/store.h"

static char store_folder[64];

static const char *store_at(const char *name)
{
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    (void) snprintf(path, sizeof(paths[0]), "%s/%s", store_folder, name);
    return path;
}

static int make_store_folder(void **state)
{
    (void) state;
    char made[] = "/tmp/acp-store-XXXXXX";
    assert_non_null(mkdtemp(made));
    (void) snprintf(store_folder, sizeof(store_folder), "%s", made);
    return 0;
}

static int remove_store_folder(void **state)
{
    (void) state;
    char command[100];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", store_folder);
    return system(command);
}

static inline struct store *open_store(void)
{
    struct store *store = NULL;
    struct acp_failure failure = {0};
    if (store_open(store_at("log.db"), STORE_CREATE, &store, &failure))
        fail_msg("%s", failure.message);
    return store;
}

static inline void assert_text(struct acp_str text, const char *wanted)
{
    if (!wanted) {
        assert_null(text.ptr);
        return;
    }
    if (!text.ptr || !acp_str_is(text, wanted))
        fail_msg("'%.*s' instead of '%s'", (int) text.len, text.ptr ? text.ptr : "", wanted);
}

/* A sentence that names what a person needs to know. */
static inline void assert_says(const char *sentence, const char *wanted)
{
    if (!strstr(sentence, wanted))
        fail_msg("'%s' does not say '%s'", sentence, wanted);
}

static inline struct store_event event_of(uint64_t seq, const char *kind, const char *body)
{
    return (struct store_event){.seq = seq,
                                .time = 1000 + (int64_t) seq,
                                .turn = 1,
                                .kind = acp_str_from(kind),
                                .body = acp_raw_from(body)};
}

/* A whole session of that many events in one go; bodies are their numbers. */
static inline void add_session(struct store *store, const struct store_session *session,
                               uint64_t events)
{
    struct acp_failure failure = {0};
    if (store_import_begin(store, session, &failure))
        fail_msg("%s", failure.message);
    for (uint64_t seq = 1; seq <= events; seq++) {
        char body[24];
        (void) snprintf(body, sizeof(body), "%llu", (unsigned long long) seq);
        struct store_event event = event_of(seq, "lifecycle", body);
        event.time = session->updated ? session->updated : event.time;
        if (store_import_event(store, &event, &failure))
            fail_msg("%s", failure.message);
    }
    if (store_import_commit(store, &failure))
        fail_msg("%s", failure.message);
}

#endif
