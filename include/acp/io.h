/*
 * io.h - libacp on libuv: links, which drive endpoints over file descriptors, and child processes.
 *
 * Most programs use acp/run.h, which combines a process, its link and a role.  With the parts
 * alone, a client that talks to an agent over a connected socket:
 *
 *     #include <acp/client.h>
 *     #include <acp/io.h>
 *     #include <stdio.h>
 *
 *     static void on_closed(struct acp_link *link, int reason, void *user)
 *     {
 *         if (reason)
 *             fprintf(stderr, "connection lost: %s\n", acp_io_err_text(reason));
 *         acp_link_free(link);
 *     }
 *
 *     int run_link(uv_loop_t *loop, int fd, struct acp_client *client)
 *     {
 *         static const struct acp_link_handler handler = {.closed = on_closed};
 *         struct acp_link_options options = {.in = fd, .out = fd};
 *         struct acp_link *link;
 *         struct acp_endpoint *endpoint = acp_client_endpoint(client);
 *         int err = acp_link_new(loop, &options, endpoint, &handler, NULL, &link);
 *         if (!err)
 *             uv_run(loop, UV_RUN_DEFAULT); // returns when the link is closed and freed
 *         return err;
 *     }
 *
 * Rules for this and the other headers of libacp-io, in addition to those of acp/endpoint.h:
 *
 *   Threads    An object belongs to one loop and its thread.
 *   Callbacks  They are called from the loop, never inside the call that caused them unless the
 *              function says so, and may call any function.
 *   Freeing    An object may be freed from its own callbacks.  After a free function returns, no
 *              callback of the object is called any more; its memory is released later, because
 *              libuv closes handles in the next iteration of the loop.  So run the loop once more
 *              before closing it.
 *
 * The library keeps this much state for the whole process:
 *   - the process groups that are alive, so that acp_process_kill_all() can end them from a signal
 *     handler; they are kept in atomics
 *   - SIGPIPE is ignored from when the first link is made, if it had its default action: writing to
 *     a peer that is gone must be an error, not the end of the program
 *   - with a reaper, that orphans become children of this process
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
 * Functions of libacp-io return errors of the operating system as numbers below enum acp_err:
 * ENOENT is ACP_ERR_SYSTEM - ENOENT.  Comments say "a system error".
 */
enum { ACP_ERR_SYSTEM = -10000 };

/* The error for an errno. */
static inline int acp_err_from_errno(int number)
{
    return ACP_ERR_SYSTEM - number;
}

/* The errno of a system error; 0 for other errors. */
static inline int acp_err_errno(int err)
{
    return err <= ACP_ERR_SYSTEM ? ACP_ERR_SYSTEM - err : 0;
}

/* Like acp_err_text(), and strerror() for a system error, whose string is valid until the next. */
ACP_API const char *acp_io_err_text(int err);

/* ---- Standard input and output -------------------------------------------------------------- */

/*
 * Takes over standard input and output for a protocol: returns duplicates of them, close-on-exec
 * and the caller's to close, and replaces them by /dev/null and standard error.  So a stray printf
 * does not corrupt the protocol, and a child cannot read its messages.  0, or a system error.
 */
ACP_API int acp_stdio_take(int *ret_in, int *ret_out);

/* ---- Link ----------------------------------------------------------------------------------- */

/*
 * Drives an endpoint over an input and an output descriptor, which may be pipes, sockets, terminals
 * or files in any combination, and may be the same.
 *
 *   - output is written once in each iteration of the loop, without blocking; what the other side
 *     does not read yet stays in the endpoint
 *   - as much input is read as the endpoint wants (acp_endpoint_wanted())
 *   - at the end of the input the endpoint is told, its last output is sent, and the link closes
 *   - if output can no longer be written, remaining input is still read for linger_ms, because it
 *     may explain why; then the link closes with that error
 */
struct acp_link;

struct acp_link_options {
    /* The link owns and closes both, also if acp_link_new() fails.  -1: there is none. */
    int in;
    int out;
    /* Time limit for sending the last output, or reading the last input; 0: 1000 ms. */
    uint64_t linger_ms;
    /*
     * For recordings: bytes that were sent (is_sent) or received, after that has happened, cut
     * anywhere.  Must not use the link or the endpoint.  May be NULL.
     */
    void (*traffic)(bool is_sent, struct acp_str bytes, void *traffic_user);
    void *traffic_user;
};

/* Both callbacks may be left out. */
struct acp_link_handler {
    /*
     * The input has ended.  If this is set, the link does not tell the endpoint; the program calls
     * acp_endpoint_receive_end() itself, in the callback or later.
     */
    void (*ended)(struct acp_link *link, void *user);
    /*
     * The link has closed.  Called once.  reason is 0 after the end of the input or
     * acp_link_close(); the error with which the endpoint refused input; ACP_ERR_TIMEOUT if the
     * last output could not be sent in time; or a system error.  The link must still be freed, in
     * the callback or later.
     */
    void (*closed)(struct acp_link *link, int reason, void *user);
};

/*
 * Starts to drive the endpoint, which must exist until the link is closed or freed.  Uses
 * acp_endpoint_on_wake().  The handler is copied; user is passed to it.  ACP_ERR_ARGUMENT without
 * options, ACP_ERR_NOMEM, or a system error.
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
/* Closes the link at once, without sending what is left and without a callback.  Takes NULL. */
ACP_API void acp_link_free(struct acp_link *link);
/* Has the link poll the endpoint; needed only if that does not call acp_endpoint_wake(). */
ACP_API void acp_link_wake(struct acp_link *link);
/* Stops reading (true), whatever the endpoint wants, or resumes (false). */
ACP_API void acp_link_pause(struct acp_link *link, bool pause);
/* Stops reading, sends what is left within linger_ms, then closes with reason 0. */
ACP_API void acp_link_close(struct acp_link *link);
/* Sends what is left, then closes the output only; input is still read. */
ACP_API void acp_link_end_output(struct acp_link *link);
/* Whether there is output that the other side does not read. */
ACP_API bool acp_link_is_stalled(const struct acp_link *link);

/* ---- Processes ------------------------------------------------------------------------------ */

/*
 * A child process that leads its own session and process group, and that ends together with all
 * processes it has started.
 *
 *   - standard input and output are connected to an endpoint, if there is one; otherwise output
 *     goes to the `output` callback.  Standard error always goes to `errors`, and its end is kept
 *   - `exited` is called once, after all output
 *   - it is watched and signalled through a pidfd where the system has them, so that a signal can
 *     not reach another process that has got its number
 *   - all its descendants have a mark in their environment (ACP_PROCESS_MARK), by which those that
 *     have left the process group are found and ended, too, on systems with /proc
 *   - on Linux it gets SIGKILL when the thread that started it ends, however that ends
 */
struct acp_process;

/* The environment variable that has the marks. */
#define ACP_PROCESS_MARK "ACP_PROCESS"

/* What one of the three standard streams of a process is connected to. */
enum acp_process_io {
    ACP_IO_PIPE = 0, /* a pipe to this process */
    ACP_IO_PTY,      /* a pseudo-terminal, the same for all streams that have this */
    ACP_IO_NULL,     /* /dev/null */
    ACP_IO_INHERIT,  /* the stream of this process */
    ACP_IO_MERGE,    /* for standard error: the same as standard output */
};

/* Read during the call; nothing needs to outlive it except the endpoint. */
struct acp_process_options {
    /* The program and its arguments, then NULL.  A name without a slash is searched in PATH. */
    const char *const *argv;
    const char *cwd; /* NULL: the directory of this process */
    /*
     * The environment is that of this process, without the variables named in `unset`, without
     * those by which agents detect that they run inside another agent (unless keep_nesting is
     * set), plus the "NAME=value" texts of `env`.  Both lists end with NULL and may be NULL.
     */
    const char *const *env;
    const char *const *unset;
    bool keep_nesting;

    enum acp_process_io in;
    enum acp_process_io out;
    enum acp_process_io err;
    /* The size of the pseudo-terminal; 0: 24 and 80. */
    unsigned short rows;
    unsigned short columns;
    /* The pseudo-terminal does not echo, and does not change line ends. */
    bool plain_terminal;
    /*
     * The process interacts with the user at the terminal of this process, if that is in the
     * foreground there: it stays in the same session, and its process group is the foreground group
     * until it ends, so that keys such as ^C reach it alone.  Afterwards the terminal is restored.
     * ^Z is ignored, because there is no shell to continue it.  Not with an endpoint or ACP_IO_PTY.
     */
    bool foreground;

    /* Connected to standard input and output, which are pipes then; NULL: none. */
    struct acp_endpoint *endpoint;

    bool err_by_line; /* pass standard error on by line, without line ends; long lines are split */
    size_t err_tail;  /* bytes of standard error to keep for acp_process_error_tail(); 0: 64 KiB */

    /* acp_process_stop(): from closing the input to SIGTERM, and from SIGTERM to SIGKILL. */
    uint64_t grace_ms; /* 0: 2000 */
    uint64_t term_ms;  /* 0: 2000 */
    uint64_t drain_ms; /* how long to wait for output after the exit; 0: 500 */
    /*
     * Let processes that are left in the background when it exits run until acp_process_stop() or
     * acp_process_free(), instead of killing them at the exit.
     */
    bool keep_rest;
    bool no_pidfd; /* use SIGCHLD instead of a pidfd, as on systems without them */
    /*
     * A descriptor of the directory to start in; cwd is then only used in messages.  NULL: use cwd.
     * The caller keeps it.
     */
    const int *cwd_fd;
    /* Of the link to the endpoint: see struct acp_link_options. */
    void (*traffic)(bool is_sent, struct acp_str bytes, void *traffic_user);
    void *traffic_user;
    uint64_t reserved[5];
};

/* How a process ended. */
struct acp_process_exit {
    int code;                /* the exit status; -1 if a signal ended it, or if it is unknown */
    int signal;              /* the signal that ended it, or 0 */
    const char *signal_name; /* "SIGKILL", static; NULL if no signal ended it */
    bool stopped;            /* it ended because of acp_process_stop() and the like */
};

/* All callbacks may be left out.  Texts are valid during the callback. */
struct acp_process_handler {
    /* Standard output, and standard error if merged, of a process without an endpoint. */
    void (*output)(struct acp_process *process, struct acp_str bytes, void *user);
    /* Standard error, if it is a pipe: as it is received, or by line. */
    void (*errors)(struct acp_process *process, struct acp_str text, void *user);
    /* Standard output of a process with an endpoint has ended: see acp_link_handler.ended. */
    void (*ended)(struct acp_process *process, void *user);
    /* The link to the endpoint has closed, with that reason; the process may still run. */
    void (*unlinked)(struct acp_process *process, int reason, void *user);
    /* The process has ended, and all its output was passed on.  Called once. */
    void (*exited)(struct acp_process *process, const struct acp_process_exit *how, void *user);
};

/*
 * Starts a process and returns when its program runs.  The handler, which may be NULL, is copied.
 *
 * ACP_ERR_ARGUMENT for options that do not go together, ACP_ERR_NOMEM, or the system error for
 * which the program does not run, such as that of ENOENT.  failure->message is a sentence with the
 * name of the program.  No callback is called then.
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
/* Kills the process and its descendants.  No callback is called any more.  Takes NULL. */
ACP_API void acp_process_free(struct acp_process *process);

/* ---- Ending a process ----------------------------------------------------------------------- */

/*
 * Closes its input, after grace_ms sends SIGTERM to its process group, and after term_ms SIGKILL to
 * it and its descendants.  Without a pipe or link for input it begins with SIGTERM.  `exited` is
 * called in any case.  May be called repeatedly, also after the exit, with keep_rest.
 */
ACP_API void acp_process_stop(struct acp_process *process);
/* The same, beginning with SIGTERM. */
ACP_API void acp_process_terminate(struct acp_process *process);
/* The same, beginning with SIGKILL. */
ACP_API void acp_process_kill(struct acp_process *process);
/* Sends a signal to its process group.  ACP_ERR_STATE if it has exited, or a system error. */
ACP_API int acp_process_signal(struct acp_process *process, int signal_number);

/* ---- Input and output of a process ---------------------------------------------------------- */

/*
 * Writes to the standard input of a process without an endpoint, without blocking.  Returns the
 * number of bytes written, which may be 0; ACP_ERR_CLOSED if there is no input; or a system error.
 */
ACP_API int64_t acp_process_write(struct acp_process *process, const void *bytes, size_t n);
/* Closes the standard input; with an endpoint, after its output has been sent. */
ACP_API void acp_process_close_input(struct acp_process *process);
/*
 * Stops (true) and resumes (false) reading standard output, so that the process blocks while the
 * program cannot take more.  After the exit the rest is read in any case.
 */
ACP_API void acp_process_pause(struct acp_process *process, bool pause);
/* Sets the size of its pseudo-terminal.  ACP_ERR_STATE if it has none, or a system error. */
ACP_API int acp_process_resize(struct acp_process *process, unsigned short rows,
                               unsigned short columns);
/*
 * Appends the end of its standard error as valid UTF-8, at most err_tail bytes.  ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM.
 */
ACP_API int acp_process_error_tail(const struct acp_process *process, struct acp_buf *out);

/* ---- Properties of a process ---------------------------------------------------------------- */

/* Its process id, which is also that of its process group. */
ACP_API int acp_process_pid(const struct acp_process *process);
/* Its argv[0]; valid as long as the process. */
ACP_API const char *acp_process_program(const struct acp_process *process);
/* Its link; NULL without an endpoint, and once the link is closed.  Belongs to the process. */
ACP_API struct acp_link *acp_process_link(struct acp_process *process);
/* Whether it has not exited yet. */
ACP_API bool acp_process_is_running(const struct acp_process *process);

/* "SIGKILL" for 9, static; NULL for a number that has no name. */
ACP_API const char *acp_signal_name(int number);
/*
 * Appends one sentence for people: the program, how it ended, and the end of its standard error
 * unless that is empty.  how may be NULL if it is only known that the connection is lost.
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_process_describe_exit(struct acp_str program, const struct acp_process_exit *how,
                                      struct acp_str error_tail, struct acp_buf *out);

/* ---- All processes -------------------------------------------------------------------------- */

/*
 * Sends SIGKILL to the process groups of all processes, of all loops.  May be called from a signal
 * handler and from atexit().  Does not reach descendants that have left the group.
 */
ACP_API void acp_process_kill_all(void);
/* The number of processes that are alive. */
ACP_API size_t acp_process_count(void);

/*
 * Makes this process a subreaper: orphaned descendants become its children, and it reaps them
 * (Linux).  Only for programs that start all their children with acp_process_start(), because it
 * reaps any others as well.  With it, stopping a process also waits for descendants that had left
 * its group, and orphans without a mark are killed when the last process is gone.
 */
struct acp_reaper;
/* ACP_ERR_STATE if the system does not support it, ACP_ERR_NOMEM, or a system error. */
ACP_API int acp_reaper_new(uv_loop_t *loop, struct acp_reaper **ret);
/* Takes NULL. */
ACP_API void acp_reaper_free(struct acp_reaper *reaper);

#ifdef __cplusplus
}
#endif

#endif
