/*
 * io.h - the event loop's side of the world, on libuv: links that carry the bytes of an endpoint
 * over descriptors, and child processes that are owned.
 *
 *     struct acp_link_options options = {.in = fd, .out = fd};
 *     err = acp_link_new(loop, &options, acp_client_endpoint(client), &handler, NULL, &link);
 *     uv_run(loop, UV_RUN_DEFAULT);            until handler.closed frees the link
 *
 * run.h puts a process, its link and a role together.
 *
 * Everything belongs to one loop and its thread.  Callbacks run from the loop (never inside the
 * call that caused them, unless it is said) and may call any function here, also the free function
 * of the object they are about: it takes effect when they return.  Objects die in two steps,
 * because libuv needs a turn of the loop to close a handle: after a free function nothing is called
 * back any more, and the memory goes once the loop has run; so let the loop run until it is done.
 *
 * What is kept for the whole program, and why:
 *   - the list of process groups that are alive, so that acp_process_kill_all() can end them from a
 *     signal handler; it is made of atomics
 *   - SIGPIPE is set to be ignored when the first link is made and nobody else cares about it: a
 *     reader that is gone must be an error of the write, not our death
 *   - with a reaper, that this process takes in orphans
 */
#ifndef ACP_IO_H
#define ACP_IO_H

#include <uv.h>

#include "acp/base.h"
#include "acp/endpoint.h"
#include "acp/rpc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors --------------------------------------------------------------------------------- */

/*
 * Errors of the system travel beside enum acp_err, below it: ENOENT is ACP_ERR_SYSTEM - ENOENT.
 */
enum { ACP_ERR_SYSTEM = -10000 };

static inline int acp_err_from_errno(int number)
{
    return ACP_ERR_SYSTEM - number;
}

/* The errno inside an error, or 0 when it is none of the system's. */
static inline int acp_err_errno(int err)
{
    return err <= ACP_ERR_SYSTEM ? ACP_ERR_SYSTEM - err : 0;
}

/* Like acp_err_text(), and for errors of the system what the system says. */
ACP_API const char *acp_io_err_text(int err);

/* ---- Standard input and output -------------------------------------------------------------- */

/*
 * Takes the standard input and output of the process for a protocol: gives them as descriptors of
 * their own, closed on exec, and puts /dev/null and the standard error in their places.  So a
 * stray print goes to the people, and a child cannot eat messages.
 */
ACP_API int acp_stdio_take(int *ret_in, int *ret_out);

/* ---- Link ----------------------------------------------------------------------------------- */

/*
 * Carries the bytes of an endpoint over an input and an output descriptor: pipes, sockets,
 * terminals, files, in any mixture; both may be the same.
 *
 *   - output is written once for each turn of the loop and never waits; what the other side does
 *     not take stays in the endpoint
 *   - as much input is read as the endpoint wants (acp_endpoint_wanted())
 *   - at the end of the input the endpoint is told, its last output is sent, and the link closes
 *   - when nothing can be written any more the rest of the input is still read, for a moment, since
 *     the other side may have said why; then the link closes with that error
 */
struct acp_link;

struct acp_link_options {
    /* The link owns both, also when it could not be made.  -1 is none. */
    int in;
    int out;
    /* How long the last output, or the last input of a broken link, may take; 0: 1000 ms. */
    uint64_t linger_ms;
};

struct acp_link_handler {
    /*
     * The input has ended.  Where this is set the link does not tell the endpoint: the owner does
     * so, by acp_endpoint_receive_end(), now or later.
     */
    void (*ended)(struct acp_link *link, void *user);
    /*
     * The link is closed, once.  reason is 0 after the end of the input or acp_link_close(), the
     * error that the endpoint gave for bytes it did not want, ACP_ERR_TIMEOUT when the last output
     * was not taken in time, or an error of the system.  The link still wants its acp_link_free(),
     * here or later.
     */
    void (*closed)(struct acp_link *link, int reason, void *user);
};

/*
 * The link drives the endpoint, and is woken by it, until it is closed or freed; until then the
 * endpoint must stay.  The handler is copied.
 */
ACP_API int acp_link_new_sized(uv_loop_t *loop, const struct acp_link_options *options,
                               size_t options_size, struct acp_endpoint *endpoint,
                               const struct acp_link_handler *handler, size_t handler_size,
                               void *user, struct acp_link **ret);
static inline int acp_link_new(uv_loop_t *loop, const struct acp_link_options *options,
                               struct acp_endpoint *endpoint,
                               const struct acp_link_handler *handler, void *user,
                               struct acp_link **ret)
{
    return acp_link_new_sized(loop, options, sizeof(*options), endpoint, handler, sizeof(*handler),
                              user, ret);
}
/* Closes at once, without a callback and without flushing.  Takes NULL. */
ACP_API void acp_link_free(struct acp_link *link);
/* Looks at the endpoint again; only for one that does not call acp_endpoint_wake() itself. */
ACP_API void acp_link_wake(struct acp_link *link);
/* Stops reading (true), whatever the endpoint wants, and goes on (false). */
ACP_API void acp_link_pause(struct acp_link *link, bool pause);
/* Reads no more, sends what can be sent within linger_ms, then closes with reason 0. */
ACP_API void acp_link_close(struct acp_link *link);
/* Sends what there is, then closes the output only; the input is read on. */
ACP_API void acp_link_end_output(struct acp_link *link);
/* Whether output waits for the other side to read. */
ACP_API bool acp_link_is_stalled(const struct acp_link *link);

/* ---- Processes ------------------------------------------------------------------------------ */

/*
 * A child process that is owned: it leads a session and a process group of its own, and it ends
 * with everything that it has started.
 *
 *   - its standard output feeds an endpoint, which then also writes to its standard input, or comes
 *     as `output`; its standard error is always read, handed on, and kept to a tail
 *   - `exited` comes once, after all its output
 *   - it is watched and signalled through a pidfd where there is one, so that no other process that
 *     got its number can be hit
 *   - all that it started carries a mark in the environment (ACP_PROCESS_MARK), by which what has
 *     left its group is found and ended too, on systems with /proc
 *   - on Linux it gets SIGKILL when the thread that started it ends, however that happens
 */
struct acp_process;

#define ACP_PROCESS_MARK "ACP_PROCESS"

enum acp_process_io {
    ACP_IO_PIPE = 0, /* a pipe to us */
    ACP_IO_PTY,      /* the terminal of the process; one for all that say so */
    ACP_IO_NULL,     /* /dev/null */
    ACP_IO_INHERIT,  /* the same as ours */
    ACP_IO_MERGE,    /* only for the standard error: where the standard output goes */
};

struct acp_process_options {
    /* The program and its arguments, NULL at the end.  Without a slash it is looked for in PATH. */
    const char *const *argv;
    const char *cwd; /* NULL: ours */
    /*
     * The environment is ours, without the names in `unset` and without the flags by which agents
     * recognise that they run inside of another (unless keep_nesting), and with `env` on top: texts
     * of the form "NAME=value".  Both lists end with NULL and may be NULL.
     */
    const char *const *env;
    const char *const *unset;
    bool keep_nesting;

    enum acp_process_io in;
    enum acp_process_io out;
    enum acp_process_io err;
    /* Of the terminal; 0: 24 and 80. */
    unsigned short rows;
    unsigned short columns;
    /* The terminal leaves line ends as the program writes them, and does not echo. */
    bool plain_terminal;
    /*
     * It works with the user at the terminal that we run at, if we are in the foreground there:
     * it stays in our session, its group is in the foreground until it ends, so that keys like ^C
     * reach it and not us; then the terminal is ours again and as it was.  ^Z is ignored, since
     * nobody could make it go on.
     */
    bool foreground;

    /* When set, what speaks over standard input and output; both are pipes. */
    struct acp_endpoint *endpoint;

    bool err_by_line; /* `errors` gets whole lines without their ends, the longest cut in pieces */
    size_t err_tail;  /* bytes kept of the standard error; 0: 64 KiB */

    /* acp_process_stop(): from closing the input to SIGTERM, and from there to SIGKILL. */
    uint64_t grace_ms; /* 0: 2000 */
    uint64_t term_ms;  /* 0: 2000 */
    uint64_t drain_ms; /* how long output is awaited after the exit; 0: 500 */
    /*
     * What the process has left running when it exits stays until it is stopped or freed; otherwise
     * it is killed with the exit.
     */
    bool keep_rest;
    bool no_pidfd; /* watch by SIGCHLD instead, as systems without pidfds do */
    /*
     * An open directory to start in, whatever its name leads to by then; cwd only names it in
     * messages.  NULL: cwd.  Stays the caller's.
     */
    const int *cwd_fd;
    uint64_t reserved[7];
};

struct acp_process_exit {
    int code;                /* -1 when it was ended by a signal, or nothing is known */
    int signal;              /* 0 when it exited */
    const char *signal_name; /* "SIGKILL"; NULL when it exited */
    bool stopped;            /* we had told it to end, and it did */
};

struct acp_process_handler {
    /* Standard output (and error, when merged) where there is no endpoint. */
    void (*output)(struct acp_process *process, struct acp_str bytes, void *user);
    /* Standard error, when it is a pipe: as it comes, or by line. */
    void (*errors)(struct acp_process *process, struct acp_str text, void *user);
    /* The standard output has ended, where there is an endpoint: see acp_link_handler.ended. */
    void (*ended)(struct acp_process *process, void *user);
    /* The link to the endpoint has closed; the process may still run. */
    void (*unlinked)(struct acp_process *process, int reason, void *user);
    /* It is over, and all output was handed on. */
    void (*exited)(struct acp_process *process, const struct acp_process_exit *how, void *user);
};

/*
 * Returns once the program runs.  When it does not, the error says why (of the system, mostly) and
 * failure, which may be NULL, names the program and the reason; nothing is called back then.
 */
ACP_API int acp_process_start_sized(uv_loop_t *loop, const struct acp_process_options *options,
                                    size_t options_size, const struct acp_process_handler *handler,
                                    size_t handler_size, void *user, struct acp_process **ret,
                                    struct acp_failure *failure);
static inline int acp_process_start(uv_loop_t *loop, const struct acp_process_options *options,
                                    const struct acp_process_handler *handler, void *user,
                                    struct acp_process **ret, struct acp_failure *failure)
{
    return acp_process_start_sized(loop, options, sizeof(*options), handler, sizeof(*handler), user,
                                   ret, failure);
}
/* Kills what is left of it, calls nothing back any more.  Takes NULL. */
ACP_API void acp_process_free(struct acp_process *process);
/*
 * Ends it: closes its input, after grace_ms sends SIGTERM to its group, after term_ms SIGKILL to
 * everything it started.  A process on a terminal has no end of input and gets SIGTERM at once.
 * `exited` comes in any case.  May be called again.
 */
ACP_API void acp_process_stop(struct acp_process *process);
/* The same from SIGTERM on. */
ACP_API void acp_process_terminate(struct acp_process *process);
/* SIGKILL to everything, now. */
ACP_API void acp_process_kill(struct acp_process *process);
/* Any signal to the group.  ACP_ERR_STATE when the process is over. */
ACP_API int acp_process_signal(struct acp_process *process, int signal_number);

/*
 * Input for a process without an endpoint: writes what goes without waiting and returns how many
 * bytes that was, maybe 0.  ACP_ERR_CLOSED without an input, or an error of the system.
 */
ACP_API int64_t acp_process_write(struct acp_process *process, const void *bytes, size_t n);
ACP_API void acp_process_close_input(struct acp_process *process);
/*
 * Stops and resumes reading the standard output, so that the process waits when we are slow.  From
 * its exit on the rest is read in any case.
 */
ACP_API void acp_process_pause(struct acp_process *process, bool pause);
/* The size of its terminal; it is told.  ACP_ERR_STATE without one. */
ACP_API int acp_process_resize(struct acp_process *process, unsigned short rows,
                               unsigned short columns);

ACP_API int acp_process_pid(const struct acp_process *process);
/* What the process was started as: argv[0]. */
ACP_API const char *acp_process_program(const struct acp_process *process);
/* To wake; NULL without an endpoint, and once it is closed. */
ACP_API struct acp_link *acp_process_link(struct acp_process *process);
ACP_API bool acp_process_is_running(const struct acp_process *process);
/* The end of the standard error as valid UTF-8, appended.  ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
ACP_API int acp_process_error_tail(const struct acp_process *process, struct acp_buf *out);

/* "SIGKILL" for 9; NULL for a number without a name. */
ACP_API const char *acp_signal_name(int number);
/*
 * Appends one sentence for people: which program, how it ended, and, when there is one, the end of
 * its standard error.  `how` may be NULL when all that is known is that the connection is gone.
 */
ACP_API int acp_process_describe_exit(struct acp_str program, const struct acp_process_exit *how,
                                      struct acp_str error_tail, struct acp_buf *out);

/*
 * SIGKILL to every process group that is alive, of all loops.  May be called from a signal handler
 * and from atexit; what has left its group is not reached by this.
 */
ACP_API void acp_process_kill_all(void);
/* How many there are. */
ACP_API size_t acp_process_count(void);

/*
 * Makes this process the one that inherits orphans of its descendants (Linux), and reaps them.
 * Programs that start all their children through acp_process_start() should have one, others must
 * not: any other child that ends would be reaped here as well.  With it, stopping a process also
 * waits for what had escaped, and orphans that carry no mark are killed when the last process is
 * gone.
 */
struct acp_reaper;
/* ACP_ERR_STATE where the system cannot. */
ACP_API int acp_reaper_new(uv_loop_t *loop, struct acp_reaper **ret);
ACP_API void acp_reaper_free(struct acp_reaper *reaper);

#ifdef __cplusplus
}
#endif

#endif
