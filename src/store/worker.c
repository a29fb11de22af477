/* The queue of a worker, and its thread. */
#include "store/worker.h"

#include <stdlib.h>
#include <string.h>

#include "acp/io.h"
#include "store/db.h"

struct job {
    struct job *next;
    store_work_fn *work;
    store_work_done_fn *done;
    void *user;
    int err;
    struct acp_failure failure;
};

/* Oldest first. */
struct job_list {
    struct job *first;
    struct job **end;
};

struct store_worker {
    /* The loop's. */
    uv_async_t async;
    uv_thread_t thread;
    bool has_thread;
    bool closing;
    size_t open_jobs; /* that have not been called back */
    void (*closed)(void *user);
    void *closed_user;

    /* Set before the thread starts. */
    char *path;
    unsigned flags;

    /* Under the lock. */
    uv_mutex_t lock;
    uv_cond_t wake;
    struct job_list queued;
    struct job_list finished;
    bool stopping;
    bool ended;
};

static void list_init(struct job_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void list_add(struct job_list *list, struct job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static struct job *list_take(struct job_list *list)
{
    struct job *job = list->first;
    if (!job)
        return NULL;
    list->first = job->next;
    if (!list->first)
        list_init(list);
    return job;
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* A database that could not be opened is tried again with the next job. */
static void run_job(struct store_worker *worker, struct store **store, struct job *job)
{
    if (!*store)
        job->err = store_open(worker->path, worker->flags, store, &job->failure);
    if (!job->err)
        job->err = job->work(*store, job->user, &job->failure);
}

static void run_thread(void *user)
{
    struct store_worker *worker = user;
    struct store *store = NULL;
    uv_mutex_lock(&worker->lock);
    while (!worker->stopping) {
        struct job *job = list_take(&worker->queued);
        if (!job) {
            uv_cond_wait(&worker->wake, &worker->lock);
            continue;
        }
        uv_mutex_unlock(&worker->lock);
        run_job(worker, &store, job);
        uv_mutex_lock(&worker->lock);
        list_add(&worker->finished, job);
        (void) uv_async_send(&worker->async);
    }
    uv_mutex_unlock(&worker->lock);
    store_close(store);
    uv_mutex_lock(&worker->lock);
    worker->ended = true;
    (void) uv_async_send(&worker->async);
    uv_mutex_unlock(&worker->lock);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void worker_free(uv_handle_t *handle)
{
    struct store_worker *worker = handle->data;
    void (*closed)(void *) = worker->closed;
    void *user = worker->closed_user;
    uv_cond_destroy(&worker->wake);
    uv_mutex_destroy(&worker->lock);
    free(worker->path);
    free(worker);
    if (closed)
        closed(user);
}

static void call_back(struct store_worker *worker, struct job_list *list)
{
    struct job *job;
    while ((job = list_take(list))) {
        struct job done = *job;
        free(job);
        worker->open_jobs--;
        done.done(done.err, &done.failure, done.user);
    }
}

static void on_finished(uv_async_t *async)
{
    struct store_worker *worker = async->data;
    struct job_list finished;
    list_init(&finished);
    uv_mutex_lock(&worker->lock);
    for (struct job *job; (job = list_take(&worker->finished));)
        list_add(&finished, job);
    bool ended = worker->ended;
    uv_mutex_unlock(&worker->lock);

    call_back(worker, &finished);
    /* The loop may end when nothing is under way. */
    if (worker->open_jobs == 0 && !worker->closing)
        uv_unref((uv_handle_t *) &worker->async);
    if (ended && !uv_is_closing((uv_handle_t *) &worker->async)) {
        if (worker->has_thread)
            (void) uv_thread_join(&worker->thread);
        uv_close((uv_handle_t *) &worker->async, worker_free);
    }
}

int store_worker_new(uv_loop_t *loop, const char *path, unsigned flags, struct store_worker **ret)
{
    struct store_worker *worker = calloc(1, sizeof(*worker));
    if (worker)
        worker->path = strdup(path);
    if (!worker || !worker->path) {
        free(worker);
        return ACP_ERR_NOMEM;
    }
    worker->flags = flags;
    list_init(&worker->queued);
    list_init(&worker->finished);
    int err = uv_mutex_init(&worker->lock);
    if (err)
        goto free_worker;
    err = uv_cond_init(&worker->wake);
    if (err)
        goto destroy_lock;
    err = uv_async_init(loop, &worker->async, on_finished);
    if (err)
        goto destroy_wake;
    worker->async.data = worker;
    uv_unref((uv_handle_t *) &worker->async);
    *ret = worker;
    return 0;

destroy_wake:
    uv_cond_destroy(&worker->wake);
destroy_lock:
    uv_mutex_destroy(&worker->lock);
free_worker:
    free(worker->path);
    free(worker);
    return acp_err_from_errno(-err);
}

int store_worker_run(struct store_worker *worker, store_work_fn *work, store_work_done_fn *done,
                     void *user)
{
    if (worker->closing)
        return ACP_ERR_STATE;
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return ACP_ERR_NOMEM;
    *job = (struct job){.work = work, .done = done, .user = user};
    if (!worker->has_thread) {
        int err = uv_thread_create(&worker->thread, run_thread, worker);
        if (err) {
            free(job);
            return acp_err_from_errno(-err);
        }
        worker->has_thread = true;
    }
    worker->open_jobs++;
    uv_ref((uv_handle_t *) &worker->async);
    uv_mutex_lock(&worker->lock);
    list_add(&worker->queued, job);
    uv_cond_signal(&worker->wake);
    uv_mutex_unlock(&worker->lock);
    return 0;
}

void store_worker_close(struct store_worker *worker, void (*closed)(void *user), void *user)
{
    if (!worker || worker->closing)
        return;
    worker->closing = true;
    worker->closed = closed;
    worker->closed_user = user;
    uv_ref((uv_handle_t *) &worker->async);
    uv_mutex_lock(&worker->lock);
    for (struct job *job; (job = list_take(&worker->queued));) {
        job->err = store_fail(&job->failure, ACP_ERR_CLOSED, "the session log was closed");
        list_add(&worker->finished, job);
    }
    worker->stopping = true;
    worker->ended = !worker->has_thread;
    uv_cond_signal(&worker->wake);
    (void) uv_async_send(&worker->async);
    uv_mutex_unlock(&worker->lock);
}
