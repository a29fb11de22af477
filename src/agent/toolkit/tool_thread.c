/*
 * tool_thread.c - work on a thread.  A run that is cancelled does not wait for its thread, which is
 * asked to stop; the work is freed when it has.
 */
#include <stdlib.h>

#include "agent/toolkit/tool.h"

static void on_thread(uv_work_t *request)
{
    struct tool_work *work = request->data;
    work->work(work);
}

static void on_loop(uv_work_t *request, int status)
{
    struct tool_work *work = request->data;
    struct tool_run *run = work->run;
    /* The result is part of the work, so the run is released last. */
    if (run->state != TOOL_ENDED) {
        run->work = NULL;
        if (status)
            tool_fail(run, "No thread is available: %s.", uv_strerror(status));
        else
            work->after(run, work);
    }
    work->drop(work);
    free(work);
    (void) tool_resume(run);
}

void tool_start_work(struct tool_run *run, void *own, void (*work)(struct tool_work *work),
                     void (*after)(struct tool_run *run, struct tool_work *work),
                     void (*drop)(struct tool_work *work))
{
    struct tool_work *item = calloc(1, sizeof(*item));
    if (!item) {
        drop(&(struct tool_work){.own = own});
        tool_fail(run, "Out of memory.");
        return;
    }
    *item = (struct tool_work){.run = run,
                               .roots = run->roots->roots,
                               .own = own,
                               .work = work,
                               .after = after,
                               .drop = drop};
    atomic_init(&item->stop, false);
    item->request.data = item;
    int err = uv_queue_work(run->box->loop, &item->request, on_thread, on_loop);
    if (err) {
        drop(item);
        free(item);
        tool_fail(run, "No thread is available: %s.", uv_strerror(err));
        return;
    }
    run->work = item;
    tool_hold(run);
}
