/*
 * Starting a process: options are checked, descriptors made for both sides, the program started,
 * and its ends bound to the loop.  All or nothing.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sized.h"
#include "io/environment.h"
#include "io/pty.h"
#include "io/spawn.h"

enum {
    DEFAULT_GRACE_MS = 2000,
    DEFAULT_TERM_MS = 2000,
    DEFAULT_DRAIN_MS = 500,
    DEFAULT_ERR_TAIL = 64 * 1024,
    /*
     * A pipe that holds more than one read takes lets both sides work at once.  A user has a
     * limited number of pages for all pipes, and gets tiny pipes above it, so only the first few
     * processes get large ones.
     */
    LARGE_PIPE = 256 * 1024,
    MANY_PROCESSES = 32,
};

/* Descriptors of a child: its side, which is closed here after the fork, and ours.  -1: none. */
struct ends {
    int child[3]; /* any of the following, or inherited */
    int pipes[3]; /* the child's ends of pipes */
    int in;
    int out;
    int err;
    int terminal; /* the child's side */
    int null;
};

static const struct ends no_ends = {{-1, -1, -1}, {-1, -1, -1}, -1, -1, -1, -1, -1};

static void close_child_ends(struct ends *ends)
{
    for (int i = 0; i < 3; i++)
        acp_fd_close(&ends->pipes[i]);
    acp_fd_close(&ends->terminal);
    acp_fd_close(&ends->null);
}

static void close_all_ends(struct ends *ends)
{
    close_child_ends(ends);
    acp_fd_close(&ends->in);
    acp_fd_close(&ends->out);
    acp_fd_close(&ends->err);
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

static int null_end(struct ends *ends, int *ret)
{
    if (ends->null < 0)
        ends->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    *ret = ends->null;
    return ends->null < 0 ? acp_err_from_errno(errno) : 0;
}

static int terminal_end(const struct acp_process_options *o, struct ends *ends, int *ret)
{
    int err = 0;
    if (ends->terminal < 0)
        err = acp_pty_open(o->rows, o->columns, o->plain_terminal, &ends->out, &ends->terminal);
    if (!err)
        *ret = ends->terminal;
    return err;
}

/* A pipe; number is that of the child's end. */
static int pipe_end(struct ends *ends, int number, int *ret)
{
    int *ours = number == 0 ? &ends->in : number == 1 ? &ends->out : &ends->err;
    int *childs = &ends->pipes[number];
    int err = number == 0 ? acp_fd_pipe(childs, ours) : acp_fd_pipe(ours, childs);
    /* Our end only: the child's has its own description, and programs expect that to wait. */
    if (!err)
        err = acp_fd_nonblock(*ours, true);
    *ret = *childs;
    return err;
}

static int make_end(const struct acp_process_options *o, struct ends *ends, int number,
                    enum acp_process_io io)
{
    int *ret = &ends->child[number];
    switch (io) {
    case ACP_IO_PIPE:
        return pipe_end(ends, number, ret);
    case ACP_IO_PTY:
        return terminal_end(o, ends, ret);
    case ACP_IO_MERGE:
        *ret = ends->child[1];
        return 0;
    case ACP_IO_INHERIT:
        if (fcntl(number, F_GETFD) >= 0) {
            *ret = number;
            return 0;
        }
        return null_end(ends, ret); /* ours is closed */
    case ACP_IO_NULL:
        return null_end(ends, ret);
    }
    return ACP_ERR_ARGUMENT;
}

static int make_ends(const struct acp_process_options *o, struct ends *ends)
{
    int err = make_end(o, ends, 0, o->in);
    if (!err)
        err = make_end(o, ends, 1, o->out);
    if (!err)
        err = make_end(o, ends, 2, o->err);
#if defined(F_SETPIPE_SZ)
    if (!err && o->endpoint && acp_process_count() < MANY_PROCESSES)
        (void) fcntl(ends->out, F_SETPIPE_SZ, LARGE_PIPE);
#endif
    return err;
}

static bool is_valid(const struct acp_process_options *o)
{
    if (!o->argv || !o->argv[0] || !*o->argv[0])
        return false;
    if (o->in == ACP_IO_MERGE || o->out == ACP_IO_MERGE)
        return false;
    if (o->foreground && (o->out == ACP_IO_PTY || o->endpoint))
        return false;
    bool terminal = o->in == ACP_IO_PTY || o->err == ACP_IO_PTY;
    if (terminal && o->out != ACP_IO_PTY)
        return false;
    return !o->endpoint || (o->in == ACP_IO_PIPE && o->out == ACP_IO_PIPE);
}

/* ---- The program ---------------------------------------------------------------------------- */

/* The mark for the environment: ours, then those of whoever runs us. */
static void make_mark(struct acp_process *p, char *ret, size_t size)
{
    const char *outer = getenv(ACP_PROCESS_MARK);
    acp_mark_make(p->mark, sizeof(p->mark));
    bool nested = outer && *outer && strlen(outer) < ACP_MARK_MAX - sizeof(p->mark);
    (void) snprintf(ret, size, ACP_PROCESS_MARK "=%s%s%s", p->mark, nested ? ":" : "",
                    nested ? outer : "");
}

static int run(struct acp_process *p, const struct acp_process_options *o, const struct ends *ends,
               struct acp_failure *failure)
{
    char mark[ACP_MARK_MAX + sizeof(ACP_PROCESS_MARK "=")];
    make_mark(p, mark, sizeof(mark));
    char **environment = acp_environment_make(o->env, o->unset, o->keep_nesting, mark);
    p->slot = environment ? acp_children_reserve() : NULL;
    if (!p->slot) {
        free(environment);
        return acp_spawn_failed(failure, o->argv[0], "", ACP_ERR_NOMEM);
    }
    struct acp_spawn spawn = {
        .argv = o->argv,
        .environment = environment,
        .cwd = o->cwd,
        .cwd_fd = o->cwd_fd,
        .fds = {ends->child[0], ends->child[1], ends->child[2]},
        .terminal = ends->terminal,
        .in_our_session = o->foreground,
        .foreground = p->foreground.tty,
    };
    int err = acp_spawn(&spawn, p->slot, &p->pid, failure);
    free(environment);
    if (err)
        p->slot = NULL;
    else
        p->family = (struct acp_family){p->pid, p->mark, acp_family_since(p->pid)};
    return err;
}

/* ---- The object ----------------------------------------------------------------------------- */

static struct acp_process *make(uv_loop_t *loop, const struct acp_process_options *o,
                                const struct acp_process_handler *handler, void *user)
{
    struct acp_process *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->loop = loop;
    if (handler)
        p->handler = *handler;
    p->user = user;
    p->grace_ms = o->grace_ms ? o->grace_ms : DEFAULT_GRACE_MS;
    p->term_ms = o->term_ms ? o->term_ms : DEFAULT_TERM_MS;
    p->drain_ms = o->drain_ms ? o->drain_ms : DEFAULT_DRAIN_MS;
    p->keep_rest = o->keep_rest;
    p->err_by_line = o->err_by_line;
    p->on_terminal = o->out == ACP_IO_PTY;
    p->in = -1;
    p->foreground.tty = -1;
    acp_tail_init(&p->err_tail, o->err_tail ? o->err_tail : DEFAULT_ERR_TAIL);
    acp_buf_init(&p->err_line, PROCESS_MAX_LINE);
    p->watch.ended = acp_process_on_ended;
    p->watch.closed = acp_process_on_watch_closed;
    p->watch.self = p;
    p->program = strdup(o->argv[0]);
    p->buffer = malloc(PROCESS_READ_SIZE);
    if (p->program && p->buffer)
        return p;
    free(p->program);
    free(p->buffer);
    free(p);
    return NULL;
}

/* Hands our ends to the loop; they are owned by the process, or closed, in any case. */
static int take_up(struct acp_process *p, const struct acp_process_options *o, struct ends *ends)
{
    (void) uv_timer_init(p->loop, &p->timer);
    p->timer.data = p;
    p->handles++;
    int err = acp_watch_start(&p->watch, p->loop, p->pid, o->no_pidfd);
    p->handles += p->watch.open;
    int linked = 0;
    if (o->endpoint) {
        linked = acp_process_make_link(p, o, ends->in, ends->out);
        ends->out = -1;
    } else {
        p->in = ends->in;
        if (p->in >= 0)
            acp_fd_ignore_sigpipe();
    }
    int read = acp_process_read_output(p, ends->out, ends->err);
    return err ? err : linked ? linked : read;
}

static int process_start(uv_loop_t *loop, const struct acp_process_options *o,
                         const struct acp_process_handler *handler, void *user,
                         struct acp_process **ret, struct acp_failure *failure)
{
    const char *program = o->argv && o->argv[0] ? o->argv[0] : "";
    if (!is_valid(o))
        return acp_spawn_failed(failure, program, "", ACP_ERR_ARGUMENT);
    struct acp_process *p = make(loop, o, handler, user);
    if (!p)
        return acp_spawn_failed(failure, program, "", ACP_ERR_NOMEM);
    struct ends ends = no_ends;
    int err = make_ends(o, &ends);
    if (o->foreground)
        acp_foreground_init(&p->foreground);
    if (err)
        (void) acp_spawn_failed(failure, program, "its input and output", err);
    else
        err = run(p, o, &ends, failure);
    if (err) {
        acp_foreground_take_back(&p->foreground);
        close_all_ends(&ends);
        free(p->program);
        free(p->buffer);
        free(p);
        return err;
    }
    close_child_ends(&ends);
    err = take_up(p, o, &ends);
    if (err) {
        (void) acp_spawn_failed(failure, program, "the loop does not take it", err);
        acp_process_free(p);
        return err;
    }
    *ret = p;
    return 0;
}

int acp_process_start_sized(uv_loop_t *loop, const struct acp_process_options *options,
                            size_t options_size, const struct acp_process_handler *handler,
                            size_t handler_size, void *user, struct acp_process **ret,
                            struct acp_failure *failure)
{
    struct acp_process_options own_options;
    struct acp_process_handler own_handler;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&own_handler, handler, handler_size);
    if (err)
        return acp_spawn_failed(failure, "a process", "an option that this library is too old for",
                                err);
    return process_start(loop, &own_options, &own_handler, user, ret, failure);
}
