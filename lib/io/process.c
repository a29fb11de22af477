/*
 * The life of a process, from running to over.  The order at the end is what matters:
 *
 *   1. The child is dead, but not reaped.  Its number, and with it that of its group, cannot become
 *      somebody else's, so the group can be killed.
 *   2. What has left the group is searched for and killed, again and again until nothing is found:
 *      who is killed may have started another one just before.
 *   3. Its output is read to the end, or for drain_ms when somebody holds on to it.
 *   4. It is reaped, and `exited` is called.
 *
 * With keep_rest the owner hears of the exit while descendants live on.  Then the child stays a
 * zombie until they are to end too: it costs nothing and keeps the number of the group.
 */
#include "io/process.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum {
    /* Nothing survives SIGKILL for long, unless the kernel itself hangs; then we let it go. */
    ABANDON_MS = 5000,
    SWEEP_EVERY_MS = 5,
    SWEEP_FOR_MS = 2000,
    /* Output that is there is read, also when drain_ms are over; but nobody writes for ever. */
    DRAIN_MORE = 20,
};

/* ---- Death of the object -------------------------------------------------------------------- */

void acp_process_handle_gone(struct acp_process *p)
{
    assert(p->handles > 0);
    if (--p->handles > 0 || !p->freed)
        return;
    acp_tail_finish(&p->err_tail);
    acp_buf_finish(&p->err_line);
    free(p->buffer);
    free(p->program);
    free(p);
}

static void on_timer_closed(uv_handle_t *handle)
{
    acp_process_handle_gone(handle->data);
}

void acp_process_on_watch_closed(struct acp_watch *watch)
{
    acp_process_handle_gone(watch->self);
}

/* The timer is the last handle to go; until then something may have to be waited for. */
static void let_go(struct acp_process *p)
{
    if (p->freed && p->phase == PROCESS_OVER && !uv_is_closing((uv_handle_t *) &p->timer))
        uv_close((uv_handle_t *) &p->timer, on_timer_closed);
}

/* ---- Signals -------------------------------------------------------------------------------- */

static bool is_dead(const struct acp_process *p)
{
    return p->phase >= PROCESS_EXITED;
}

/* Only while the child is not reaped; otherwise its number may be another's. */
static int signal_group(const struct acp_process *p, int number)
{
    assert(p->phase != PROCESS_OVER);
    return kill(-p->pid, number) < 0 ? acp_err_from_errno(errno) : 0;
}

static void on_timer(uv_timer_t *timer);

static void set_timer(struct acp_process *p, enum process_phase phase, uint64_t ms)
{
    p->phase = phase;
    (void) uv_timer_start(&p->timer, on_timer, ms, 0);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void reap(struct acp_process *p)
{
    acp_children_leave(p->slot);
    p->slot = NULL;
    acp_wait_reap(p->pid);
    acp_orphans_reap();
    acp_orphans_kill_rest();
    p->phase = PROCESS_OVER;
}

static void tell_exit(struct acp_process *p)
{
    acp_foreground_take_back(&p->foreground);
    if (p->told)
        return;
    p->told = true;
    if (p->handler.exited)
        p->handler.exited(p, &p->how, p->user);
}

/* Step 2.  True while there may be more to find. */
static bool sweep(struct acp_process *p, uint64_t now)
{
    if (p->sweeping && (acp_family_signal(&p->family, SIGKILL) <= 0 || now >= p->sweep_until))
        p->sweeping = false;
    acp_orphans_reap();
    return p->sweeping;
}

/* Step 3.  True while there is something to wait for. */
static bool drain(struct acp_process *p, uint64_t now)
{
    if (acp_process_is_drained(p))
        return false;
    if (now < p->drain_until)
        return true;
    /* With keep_rest it is read on after the exit. */
    if (p->keep_rest || p->drain_more >= DRAIN_MORE || !acp_process_has_output(p))
        return false;
    p->drain_more++;
    p->drain_until = now + p->drain_ms;
    return true;
}

/* Looks whether all that an exit waits for has come. */
static void settle(struct acp_process *p)
{
    uint64_t now = uv_now(p->loop);
    bool swept = !sweep(p, now);
    if (drain(p, now) || !swept) {
        set_timer(p, PROCESS_EXITED, swept ? p->drain_until - now : SWEEP_EVERY_MS);
        return;
    }
    (void) uv_timer_stop(&p->timer);
    acp_watch_close(&p->watch);
    if (p->keep_rest) {
        p->phase = PROCESS_RESTING;
    } else {
        acp_process_close_io(p);
        reap(p);
    }
    tell_exit(p);
    let_go(p);
}

/* Everything that is left of the family is to end. */
static void end_family(struct acp_process *p)
{
    p->keep_rest = false;
    p->sweeping = true;
    p->sweep_until = uv_now(p->loop) + SWEEP_FOR_MS;
    (void) signal_group(p, SIGKILL);
}

static void begin_end(struct acp_process *p)
{
    p->phase = PROCESS_EXITED;
    p->drain_until = uv_now(p->loop) + p->drain_ms;
    /* Who paused it wanted the process to wait; now there is only what it has left in the pipe. */
    acp_process_pause(p, false);
    acp_process_close_ended(p);
    if (!p->keep_rest || p->how.stopped || p->freed)
        end_family(p);
    else if (acp_family_signal(&p->family, 0) == 0)
        p->keep_rest = false; /* nothing is left; where the system cannot tell, it may be */
    settle(p);
}

void acp_process_on_ended(struct acp_watch *watch)
{
    struct acp_process *p = watch->self;
    p->how.code = -1;
    enum acp_wait wait = acp_wait_look(p->pid, &p->how.code, &p->how.signal);
    p->how.signal_name = p->how.signal ? acp_signal_name(p->how.signal) : NULL;
    if (p->how.signal && p->phase == PROCESS_STOPPING) {
        /* All we had done was to close its input: the signal is not ours, it has crashed. */
        p->how.stopped = false;
        p->keep_rest = false;
    }
    if (wait == ACP_WAIT_LOST) {
        /* Somebody else has reaped our child, against the rules; its numbers are not ours now. */
        acp_children_leave(p->slot);
        p->slot = NULL;
        p->phase = PROCESS_OVER;
        acp_watch_close(&p->watch);
        (void) uv_timer_stop(&p->timer);
        acp_process_close_io(p);
        tell_exit(p);
        let_go(p);
        return;
    }
    begin_end(p);
}

void acp_process_output_ended(struct acp_process *p)
{
    if (p->phase == PROCESS_EXITED)
        settle(p);
}

/* ---- Stopping ------------------------------------------------------------------------------- */

static void abandon(struct acp_process *p)
{
    p->how.code = -1;
    p->how.signal = SIGKILL;
    p->how.signal_name = acp_signal_name(SIGKILL);
    begin_end(p);
}

static void on_timer(uv_timer_t *timer)
{
    struct acp_process *p = timer->data;
    switch (p->phase) {
    case PROCESS_STOPPING:
        acp_process_terminate(p);
        break;
    case PROCESS_TERMINATING:
        acp_process_kill(p);
        break;
    case PROCESS_KILLING:
        abandon(p);
        break;
    case PROCESS_EXITED:
        settle(p);
        break;
    case PROCESS_RUNNING:
    case PROCESS_RESTING:
    case PROCESS_OVER:
        break;
    }
}

/* The exit was told; now what was left behind ends too. */
static void end_rest(struct acp_process *p)
{
    if (p->phase != PROCESS_RESTING)
        return;
    p->drain_until = uv_now(p->loop) + p->drain_ms;
    end_family(p);
    /* Not from here, where a callback of the owner may be on the stack. */
    set_timer(p, PROCESS_EXITED, 0);
}

void acp_process_stop(struct acp_process *p)
{
    end_rest(p);
    if (p->phase != PROCESS_RUNNING)
        return;
    bool has_input = p->link || p->in >= 0;
    acp_process_close_input(p);
    if (!has_input) {
        acp_process_terminate(p);
        return;
    }
    p->how.stopped = true;
    set_timer(p, PROCESS_STOPPING, p->grace_ms);
}

void acp_process_terminate(struct acp_process *p)
{
    end_rest(p);
    if (p->phase >= PROCESS_TERMINATING)
        return;
    p->how.stopped = true;
    (void) signal_group(p, SIGTERM);
    /* Who is stopped (^Z) hears nothing until he goes on. */
    (void) signal_group(p, SIGCONT);
    set_timer(p, PROCESS_TERMINATING, p->term_ms);
}

void acp_process_kill(struct acp_process *p)
{
    end_rest(p);
    if (p->phase >= PROCESS_KILLING)
        return;
    p->how.stopped = true;
    (void) signal_group(p, SIGKILL);
    set_timer(p, PROCESS_KILLING, ABANDON_MS);
}

int acp_process_signal(struct acp_process *p, int number)
{
    return is_dead(p) ? ACP_ERR_STATE : signal_group(p, number);
}

void acp_process_free(struct acp_process *p)
{
    if (!p || p->freed)
        return;
    p->freed = true;
    p->told = true;
    p->handler = (struct acp_process_handler){0};
    acp_foreground_take_back(&p->foreground);
    acp_process_close_io(p);
    acp_process_kill(p);
    if (p->phase == PROCESS_EXITED)
        set_timer(p, PROCESS_EXITED, 0);
    let_go(p);
}

bool acp_process_is_running(const struct acp_process *p)
{
    return !is_dead(p);
}

int acp_process_pid(const struct acp_process *p)
{
    return (int) p->pid;
}

const char *acp_process_program(const struct acp_process *p)
{
    return p->program;
}
