/* The loop's side of a writer: numbers events, fills the buffer, and reports what is on disk. */
#include "store/log.h"

#include <stdio.h>
#include <stdlib.h>

#include "acp/io.h"
#include "store/log_writer.h"

enum { HIGH_WATER = 8 << 20, MAX_BYTES = 512 << 20 };

/* ---- Requests -------------------------------------------------------------------------------- */

static struct request *request_new(enum request_kind kind, struct store_log *log)
{
    struct request *request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    request->kind = kind;
    request->log = log;
    acp_arena_init(&request->arena, 0);
    return request;
}

static void request_free(struct request *request)
{
    if (request)
        acp_arena_finish(&request->arena);
    free(request);
}

/* Copies texts into the request's arena. */
static int keep_texts(struct request *request, struct acp_str *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!acp_is_set(texts[i]->ptr))
            continue;
        *texts[i] = acp_arena_copy(&request->arena, *texts[i]);
        if (!texts[i]->ptr)
            return ACP_ERR_NOMEM;
    }
    return 0;
}

static int keep_session(struct request *request, const struct store_session *session)
{
    request->session = *session;
    struct store_session *s = &request->session;
    struct acp_str *texts[] = {&s->id,    &s->agent, &s->command,     &s->agent_session,
                               &s->name,  &s->scope, &s->cwd,         &s->directories,
                               &s->title, &s->usage, &s->stop_reason, &s->settings};
    return keep_texts(request, texts, sizeof(texts) / sizeof(texts[0]));
}

static int keep_change(struct request *request, const struct store_change *change)
{
    request->change = *change;
    struct store_change *c = &request->change;
    struct acp_str *texts[] = {&c->agent, &c->command,     &c->agent_session, &c->name,
                               &c->scope, &c->cwd,         &c->directories,   &c->title,
                               &c->usage, &c->stop_reason, &c->settings};
    return keep_texts(request, texts, sizeof(texts) / sizeof(texts[0]));
}

/* ---- The buffer ------------------------------------------------------------------------------ */

/* Callbacks may add logs, at the front, but none is freed here. */
static void tell_pressure(struct store_writer *w)
{
    for (struct store_log *log = w->logs; log; log = log->next) {
        if (log->told_high == w->high || log->closing)
            continue;
        log->told_high = w->high;
        if (log->handler->pressure)
            log->handler->pressure(log, w->high, log->user);
    }
}

static void take_pressure(struct store_writer *w, size_t waiting)
{
    bool high = w->high ? waiting > w->low_water : waiting >= w->high_water;
    if (high == w->high)
        return;
    w->high = high;
    tell_pressure(w);
}

/* Appends a record and wakes the thread if it waits. */
static int push(struct store_writer *w, struct record *record, struct acp_raw body)
{
    static const char padding[sizeof(uint64_t)];
    size_t gap = (sizeof(padding) - body.len % sizeof(padding)) % sizeof(padding);
    record->size = sizeof(*record) + body.len + gap;
    record->body_len = body.len;
    uv_mutex_lock(&w->lock);
    int err = acp_buf_reserve(&w->filling, record->size);
    if (!err) {
        (void) acp_buf_append(&w->filling, record, sizeof(*record));
        (void) acp_buf_append(&w->filling, body.ptr, body.len);
        (void) acp_buf_append(&w->filling, padding, gap);
        if (w->waiting)
            uv_cond_signal(&w->wake);
    }
    size_t waiting = w->filling.len + w->in_flight;
    uv_mutex_unlock(&w->lock);
    if (err)
        return err;
    if (record->request)
        w->request_bytes += record->request->bytes;
    /* The loop must not end before the result has come back. */
    w->pushed++;
    uv_ref((uv_handle_t *) &w->async);
    take_pressure(w, waiting + w->request_bytes);
    return 0;
}

static int push_request(struct store_writer *w, struct request *request)
{
    struct record record = {.log = request->log, .request = request};
    request->bytes = sizeof(*request) + request->arena.used;
    return push(w, &record, acp_raw_n("", 0));
}

/* ---- Logs ------------------------------------------------------------------------------------ */

static void log_free(struct store_log *log)
{
    if (!log)
        return;
    if (log->link) {
        *log->link = log->next;
        if (log->next)
            log->next->link = log->link;
    }
    store_claim_release(&log->claim);
    free(log);
}

static struct store_log *log_new(struct store_writer *w, struct acp_str id,
                                 const struct store_log_handler *handler, void *user)
{
    struct store_log *log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    log->claim = (struct store_claim) STORE_NO_CLAIM;
    log->writer = w;
    log->handler = handler;
    log->user = user;
    (void) snprintf(log->id, sizeof(log->id), "%.*s", (int) id.len, id.ptr);
    return log;
}

static void enlist(struct store_log *log)
{
    struct store_writer *w = log->writer;
    log->next = w->logs;
    log->link = &w->logs;
    if (w->logs)
        w->logs->link = &log->next;
    w->logs = log;
}

int store_log_create(struct store_writer *w, const struct store_session *session,
                     const struct store_log_handler *handler, void *user, struct store_log **ret,
                     struct acp_failure *failure)
{
    char made[STORE_ID_SIZE];
    struct store_session row = *session;
    if (!row.id.ptr) {
        store_new_id(made);
        row.id = acp_str_from(made);
    }
    row.created = row.created ? row.created : store_now();
    if (w->closing || !store_is_id(row.id))
        return store_fail(failure, w->closing ? ACP_ERR_STATE : ACP_ERR_ARGUMENT,
                          w->closing ? "the log is closed" : "this is no id of a session");
    struct store_log *log = log_new(w, row.id, handler, user);
    struct request *request = log ? request_new(REQUEST_CREATE, log) : NULL;
    int err = request ? keep_session(request, &row) : ACP_ERR_NOMEM;
    if (!err) {
        err = store_claim_take(&log->claim, w->path, row.id, failure);
        /* Where no lock can be made, nothing can be kept either; the thread will say so. */
        if (acp_err_errno(err))
            err = 0;
    }
    if (!err)
        err = push_request(w, request);
    if (err) {
        request_free(request);
        log_free(log);
        return err == ACP_ERR_STATE ? err : store_fail(failure, err, "%s", acp_err_text(err));
    }
    log->ready = true;
    enlist(log);
    *ret = log;
    return 0;
}

/* A log of the session that is still closing here has its events written before ours. */
static bool inherit_claim(struct store_writer *w, struct acp_str id, struct store_claim *ret)
{
    for (struct store_log *log = w->logs; log; log = log->next) {
        if (!log->closing || log->claim.fd < 0 || !acp_str_is(id, log->id))
            continue;
        *ret = log->claim;
        log->claim = (struct store_claim) STORE_NO_CLAIM;
        return true;
    }
    return false;
}

int store_log_open(struct store_writer *w, struct acp_str id,
                   const struct store_log_handler *handler, store_opened_fn *opened, void *user,
                   struct store_log **ret, struct acp_failure *failure)
{
    if (w->closing)
        return store_fail(failure, ACP_ERR_STATE, "the log is closed");
    struct store_claim claim;
    int err = inherit_claim(w, id, &claim) ? 0 : store_claim_take(&claim, w->path, id, failure);
    if (err)
        return err;
    struct store_log *log = log_new(w, id, handler, user);
    struct request *request = log ? request_new(REQUEST_OPEN, log) : NULL;
    if (!request) {
        store_claim_release(&claim);
        log_free(log);
        return store_fail(failure, ACP_ERR_NOMEM, "out of memory");
    }
    log->claim = claim;
    request->session.id = acp_str_from(log->id);
    request->opened = opened;
    err = push_request(w, request);
    if (err) {
        request_free(request);
        log_free(log);
        return store_fail(failure, err, "%s", acp_err_text(err));
    }
    enlist(log);
    *ret = log;
    return 0;
}

int store_log_append(struct store_log *log, uint64_t turn, int64_t time, struct acp_str kind,
                     struct acp_raw body, uint64_t *ret_seq)
{
    if (!log->ready || log->closing || log->writer->closing)
        return ACP_ERR_STATE;
    if (kind.len == 0 || kind.len > STORE_KIND_MAX)
        return ACP_ERR_ARGUMENT;
    if (log->last_seq >= STORE_SEQ_MAX)
        return ACP_ERR_LIMIT;
    uint64_t seq = log->last_seq + 1;
    struct record record = {
        .log = log, .seq = seq, .time = time, .turn = turn, .kind_len = kind.len};
    memcpy(record.kind, kind.ptr, kind.len);
    /* Before the push: a callback out of it may append the next one. */
    log->last_seq = seq;
    int err = push(log->writer, &record, body);
    if (err) {
        log->last_seq = seq - 1;
        return err;
    }
    if (ret_seq)
        *ret_seq = seq;
    return 0;
}

int store_log_change(struct store_log *log, const struct store_change *change)
{
    if (!log->ready || log->closing || log->writer->closing)
        return ACP_ERR_STATE;
    struct request *request = request_new(REQUEST_CHANGE, log);
    int err = request ? keep_change(request, change) : ACP_ERR_NOMEM;
    if (!err)
        err = push_request(log->writer, request);
    if (err)
        request_free(request);
    return err;
}

void store_log_close(struct store_log *log)
{
    if (log->closing)
        return;
    log->closing = true;
    if (log->writer->closing)
        return;
    /* When out of memory, it is closed with the writer. */
    struct request *request = request_new(REQUEST_CLOSE, log);
    if (request && push_request(log->writer, request))
        request_free(request);
}

struct acp_str store_log_id(const struct store_log *log)
{
    return acp_str_from(log->id);
}

uint64_t store_log_last_seq(const struct store_log *log)
{
    return log->last_seq;
}

uint64_t store_log_durable_seq(const struct store_log *log)
{
    return log->told_kept_seq;
}

void *store_log_user(const struct store_log *log)
{
    return log->user;
}

/* ---- What the thread has done ---------------------------------------------------------------- */

static void tell_durable(struct store_log *log, uint64_t seq, bool kept)
{
    log->told = true;
    log->told_seq = seq;
    if (kept)
        log->told_kept_seq = seq;
    if (log->handler->durable && !log->closing)
        log->handler->durable(log, seq, kept, log->user);
}

static void tell_log(struct store_writer *w, struct store_log *log)
{
    uv_mutex_lock(&w->lock);
    bool passed = log->passed;
    uint64_t passed_seq = log->passed_seq;
    uint64_t kept_seq = log->kept_seq;
    bool failed = w->shared_failure.err != 0;
    uv_mutex_unlock(&w->lock);
    if (!passed)
        return;
    if (kept_seq > log->told_seq)
        tell_durable(log, kept_seq, true);
    if (passed_seq > log->told_seq || !log->told)
        tell_durable(log, passed_seq, !failed);
}

static void tell_opened(struct store_writer *w, struct request *request)
{
    struct store_log *log = request->log;
    if (!request->failure.err) {
        uv_mutex_lock(&w->lock);
        log->passed_seq = log->kept_seq = request->session.last_seq;
        uv_mutex_unlock(&w->lock);
        log->last_seq = log->told_seq = log->told_kept_seq = request->session.last_seq;
        log->told = true;
        log->ready = true;
        /* The claim that the row speaks of is ours, and nothing runs yet. */
        request->session.running = false;
        if (!log->closing)
            request->opened(log, &request->session, NULL, log->user);
        return;
    }
    /* One that was closed meanwhile goes when its close comes back. */
    if (log->closing)
        return;
    log->closing = true;
    request->opened(log, NULL, &request->failure, log->user);
    log_free(log);
}

static void finish_request(struct store_writer *w, struct request *request)
{
    switch (request->kind) {
    case REQUEST_OPEN:
        tell_opened(w, request);
        break;
    case REQUEST_CLOSE:
        log_free(request->log);
        break;
    case REQUEST_FLUSH:
        request->done(request->user);
        break;
    case REQUEST_CREATE:
    case REQUEST_CHANGE:
        break;
    }
    w->request_bytes -= request->bytes;
    request_free(request);
}

/* ---- The writer ------------------------------------------------------------------------------ */

static void writer_free(struct store_writer *w)
{
    for (struct store_log *log = w->logs; log;) {
        struct store_log *next = log->next;
        log_free(log);
        log = next;
    }
    acp_buf_finish(&w->filling);
    acp_buf_finish(&w->writing);
    acp_buf_finish(&w->run_bodies);
    free(w->path);
    free(w);
}

static void on_closed(uv_handle_t *handle)
{
    struct store_writer *w = handle->data;
    store_done_fn *closed = w->closed;
    void *user = w->closed_user;
    uv_cond_destroy(&w->wake);
    uv_mutex_destroy(&w->lock);
    writer_free(w);
    if (closed)
        closed(user);
}

static void tell_failure(struct store_writer *w)
{
    uv_mutex_lock(&w->lock);
    w->known_failure = w->shared_failure;
    uv_mutex_unlock(&w->lock);
    if (!w->known_failure.err)
        return;
    for (struct store_log *log = w->logs; log; log = log->next) {
        if (log->told_failure || log->closing)
            continue;
        log->told_failure = true;
        if (log->handler->failed)
            log->handler->failed(log, w->known_failure.message, log->user);
    }
}

static void on_results(uv_async_t *async)
{
    struct store_writer *w = async->data;
    struct request_list answers;
    request_list_init(&answers);
    uv_mutex_lock(&w->lock);
    request_list_move(&w->answers, &answers);
    size_t waiting = w->filling.len + w->in_flight;
    uint64_t passed = w->passed; /* what passes while we tell of it wakes us once more */
    bool ended = w->ended;
    uv_mutex_unlock(&w->lock);

    tell_failure(w);
    /* Callbacks may add logs, at the front, but none is freed here. */
    for (struct store_log *log = w->logs; log; log = log->next)
        tell_log(w, log);
    while (answers.first) {
        struct request *request = answers.first;
        answers.first = request->next;
        finish_request(w, request);
    }
    take_pressure(w, waiting + w->request_bytes);
    tell_pressure(w); /* logs that were opened since */

    if (passed == w->pushed && !w->closing)
        uv_unref((uv_handle_t *) &w->async);
    if (ended && !uv_is_closing((uv_handle_t *) &w->async)) {
        (void) uv_thread_join(&w->thread);
        uv_close((uv_handle_t *) &w->async, on_closed);
    }
}

static int start(struct store_writer *w, uv_loop_t *loop)
{
    int err = uv_mutex_init(&w->lock);
    if (err)
        return acp_err_from_errno(-err);
    err = uv_cond_init(&w->wake);
    if (!err) {
        err = uv_async_init(loop, &w->async, on_results);
        if (!err)
            return 0;
        uv_cond_destroy(&w->wake);
    }
    uv_mutex_destroy(&w->lock);
    return acp_err_from_errno(-err);
}

int store_writer_new(uv_loop_t *loop, const struct store_writer_options *options,
                     struct store_writer **ret)
{
    struct store_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return ACP_ERR_NOMEM;
    w->high_water = options->high_water ? options->high_water : HIGH_WATER;
    w->low_water = options->low_water ? options->low_water : w->high_water / 4;
    w->flags = options->flags;
    size_t max = options->max_bytes ? options->max_bytes : MAX_BYTES;
    acp_buf_init(&w->filling, max);
    acp_buf_init(&w->writing, max);
    acp_buf_init(&w->run_bodies, STORE_RUN_MAX_BYTES);
    request_list_init(&w->answers);
    request_list_init(&w->settled);
    w->path = strdup(options->path);
    int err = w->path ? start(w, loop) : ACP_ERR_NOMEM;
    if (err) {
        writer_free(w);
        return err;
    }
    w->async.data = w;
    uv_unref((uv_handle_t *) &w->async);
    err = uv_thread_create(&w->thread, store_writer_thread, w);
    if (err) {
        uv_close((uv_handle_t *) &w->async, on_closed);
        return acp_err_from_errno(-err);
    }
    *ret = w;
    return 0;
}

int store_writer_flush(struct store_writer *w, store_done_fn *done, void *user)
{
    if (w->closing)
        return ACP_ERR_STATE;
    struct request *request = request_new(REQUEST_FLUSH, NULL);
    if (!request)
        return ACP_ERR_NOMEM;
    request->done = done;
    request->user = user;
    int err = push_request(w, request);
    if (err)
        request_free(request);
    return err;
}

void store_writer_close(struct store_writer *w, store_done_fn *done, void *user)
{
    if (w->closing)
        return;
    w->closing = true;
    w->closed = done;
    w->closed_user = user;
    uv_ref((uv_handle_t *) &w->async);
    uv_mutex_lock(&w->lock);
    w->stopping = true;
    uv_cond_signal(&w->wake);
    uv_mutex_unlock(&w->lock);
}

const char *store_writer_failure(const struct store_writer *w)
{
    return w->known_failure.err ? w->known_failure.message : NULL;
}
