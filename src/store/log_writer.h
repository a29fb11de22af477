/*
 * log_writer.h - what the two sides of a writer share: log.c, on the loop, fills a buffer of
 * records; log_writer.c, on a thread, takes it whole and writes it.
 */
#ifndef SRC_STORE_LOG_WRITER_H
#define SRC_STORE_LOG_WRITER_H

#include "store/claim.h"
#include "store/db.h"
#include "store/log.h"

enum request_kind {
    REQUEST_CREATE,
    REQUEST_OPEN,
    REQUEST_CHANGE,
    REQUEST_CLOSE,
    REQUEST_FLUSH,
};

/*
 * Something that is done in order with the events and comes back to the loop.  Made and freed by
 * the loop; the thread's in between.
 */
struct request {
    struct request *next;
    enum request_kind kind;
    struct store_log *log;
    struct acp_arena arena;       /* the texts of both */
    struct store_session session; /* create: what to write; open: what was read */
    struct store_change change;
    struct acp_failure failure; /* open: err is not 0 when it did not work */
    store_opened_fn *opened;
    store_done_fn *done;
    void *user;
    size_t bytes; /* counted in request_bytes */
};

/* In the buffer: an event, whose body follows, or a request. */
struct record {
    size_t size; /* of all of it, up to the next record */
    struct store_log *log;
    struct request *request; /* NULL: an event */
    uint64_t seq;
    int64_t time;
    uint64_t turn;
    size_t body_len;
    size_t kind_len;
    char kind[STORE_KIND_MAX];
};

/* Requests, oldest first. */
struct request_list {
    struct request *first;
    struct request **end;
};

struct store_log {
    /* The loop's. */
    struct store_writer *writer;
    struct store_log *next;
    struct store_log **link;
    struct store_claim claim;
    const struct store_log_handler *handler;
    void *user;
    char id[80];
    uint64_t last_seq;
    uint64_t told_seq;
    uint64_t told_kept_seq;
    bool ready; /* can be appended to */
    bool told;  /* durable has been called at least once */
    bool told_high;
    bool told_failure;
    bool closing;

    /* Under the writer's lock. */
    bool passed; /* the row is written, or given up */
    uint64_t passed_seq;
    uint64_t kept_seq; /* less than passed_seq when the rest is not kept */

    /* The thread's. */
    int64_t number;
    uint64_t pending_seq; /* the last event in the transaction */
    int64_t pending_time;
    uint64_t turn_events; /* since the last end of a turn */
    bool turn_ended;      /* in the transaction; and one of more than STORE_LONG_TURN events */
    bool turn_was_long;
    bool touched;
    struct store_log *next_touched;
};

/* Turns that wait to be indexed; when there are more, the next search does the rest. */
enum { STORE_TO_INDEX_MAX = 64 };

/*
 * A turn of more events is not indexed before nothing has come for a moment; if the writer is
 * closed before, the next search does it.
 */
enum { STORE_LONG_TURN = 2000 };

/* A session that is to be indexed. */
struct to_index {
    int64_t number;
    bool waits; /* it has a long turn */
};

struct store_writer {
    /* The loop's. */
    uv_async_t async;
    uv_thread_t thread;
    size_t high_water;
    size_t low_water;
    struct store_log *logs;
    uint64_t pushed;
    size_t request_bytes; /* of requests that are not finished: they press like events do */
    bool high;
    bool closing;
    struct acp_failure known_failure;
    store_done_fn *closed;
    void *closed_user;

    /* Before the thread starts, then nobody's to change. */
    char *path;
    unsigned flags;

    /* Under the lock. */
    uv_mutex_t lock;
    uv_cond_t wake;
    struct acp_buf filling;
    size_t in_flight; /* bytes that the thread has taken and not finished */
    bool waiting;     /* the thread is */
    bool stopping;
    bool ended;
    uint64_t passed; /* records */
    struct request_list answers;
    struct acp_failure shared_failure;

    /* The thread's. */
    struct store *store;
    struct acp_buf writing;
    /* Events that are gathered for a row: the first of them, how many, and their bodies. */
    const struct record *run; /* in writing; NULL: none */
    uint64_t run_count;
    struct acp_buf run_bodies;
    struct acp_failure failure; /* err is not 0: nothing is kept any more */
    bool is_run_closed;         /* no other event can share the row */
    bool in_transaction;
    bool has_journal;     /* something was committed since the journal was emptied */
    size_t journal_bytes; /* of the events that were committed since then */
    bool hurry;           /* somebody waits for the end */
    struct store_log *touched;
    struct request_list settled; /* done, and to be told after the commit */
    uint64_t batch_records;
    size_t batch_bytes;
    struct to_index to_index[STORE_TO_INDEX_MAX];
    size_t to_index_count;
};

void request_list_init(struct request_list *list);
void request_list_add(struct request_list *list, struct request *request);
/* Moves all to the end of the other; this one is empty then. */
void request_list_move(struct request_list *from, struct request_list *to);

/* The thread's function; user is the writer. */
void store_writer_thread(void *user);

#endif
