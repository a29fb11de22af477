/*
 * process.h - the inside of a process, shared by its files.
 *
 *   process.c        its life: stopping, the exit, what is left behind, the end
 *   process_start.c  from options to a running program
 *   process_io.c     its input, its output, its standard error
 */
#ifndef LIB_IO_PROCESS_H
#define LIB_IO_PROCESS_H

#include "acp/io.h"
#include "io/children.h"
#include "io/foreground.h"
#include "io/orphans.h"
#include "io/source.h"
#include "io/tail.h"
#include "io/utf8_sanitize.h"
#include "io/watch.h"

enum {
    PROCESS_READ_SIZE = 64 * 1024,
    PROCESS_MAX_LINE = 8 * 1024, /* of standard error; longer ones come in pieces */
};

enum process_phase {
    PROCESS_RUNNING,
    PROCESS_STOPPING,    /* its input is closed */
    PROCESS_TERMINATING, /* it got SIGTERM */
    PROCESS_KILLING,     /* it got SIGKILL */
    PROCESS_EXITED,      /* it is dead, not reaped; what it left is killed, its output awaited */
    PROCESS_RESTING,     /* the owner knows; what it left runs on, and it stays unreaped for that */
    PROCESS_OVER,        /* reaped; nothing is left */
};

struct acp_process {
    uv_loop_t *loop;
    struct acp_process_handler handler;
    void *user;
    char *program;
    enum process_phase phase;
    struct acp_process_exit how;

    pid_t pid;
    acp_child_slot *slot;
    char mark[64];
    struct acp_family family;
    struct acp_watch watch;

    uint64_t grace_ms;
    uint64_t term_ms;
    uint64_t drain_ms;
    bool keep_rest;
    bool err_by_line;
    bool on_terminal;
    struct acp_foreground foreground; /* that was lent to it */

    uv_timer_t timer;
    uint64_t drain_until; /* these three while EXITED */
    unsigned drain_more;  /* how often it was put off because there was more */
    uint64_t sweep_until;
    bool sweeping; /* somebody of the family may be alive */

    struct acp_link *link; /* speaks over in and out, when there is an endpoint */
    struct acp_source out; /* otherwise read here; the master when it is on a terminal */
    struct acp_source err;
    int in; /* -1: none, or the terminal's */
    struct acp_utf8_sanitizer err_sanitizer;
    struct acp_tail err_tail;
    struct acp_buf err_line;
    char *buffer; /* for both sources */

    unsigned handles; /* of libuv, not yet closed */
    bool told;        /* exited was called, or must not be */
    bool freed;
};

/* A handle is closed; frees the process when it was the last and the owner wants no more of it. */
void acp_process_handle_gone(struct acp_process *process);
/* An output has ended or the link has closed: an exit may have waited for it. */
void acp_process_output_ended(struct acp_process *process);
/* For the watch. */
void acp_process_on_ended(struct acp_watch *watch);
void acp_process_on_watch_closed(struct acp_watch *watch);

/* ---- process_io.c --------------------------------------------------------------------------- */

/* Reads from here on; owns the descriptors, which are -1 for none, also on failure. */
int acp_process_read_output(struct acp_process *process, int out, int err);
/* Binds the endpoint of the options to both; owns the descriptors. */
int acp_process_make_link(struct acp_process *process, const struct acp_process_options *options,
                          int in, int out);
/* The process is dead: a terminal that had ended before is closed now. */
void acp_process_close_ended(struct acp_process *process);
/* Everything was read. */
bool acp_process_is_drained(const struct acp_process *process);
/* There is something to be read at once. */
bool acp_process_has_output(const struct acp_process *process);
/* Reads and writes no more. */
void acp_process_close_io(struct acp_process *process);

#endif
