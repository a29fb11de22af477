/*
 * job.h - the inside of a command, shared by its files.
 *
 *   job.c             its life: start, timeout, cancellation, the one result
 *   job_local.c   one that is a process of ours
 *   job_client.c  one that a version 1 client runs in its terminal
 *   job_show.c    what the client is shown of it
 */
#ifndef LIB_WORKSPACE_JOB_H
#define LIB_WORKSPACE_JOB_H

#include "acp/job.h"

enum job_phase {
    JOB_STARTING, /* the client was asked for a terminal */
    JOB_RUNNING,
    JOB_STOPPING, /* it was told to end */
    JOB_ENDING,   /* it has ended, or could not be started; the result comes soon */
    JOB_OVER,     /* its result was given, or nobody wants it */
};

/* How the client sees it. */
enum job_view {
    JOB_UNSEEN,
    JOB_EMBEDDED, /* a terminal of the client */
    JOB_TEXT,     /* the end of the output as text of the tool call */
    JOB_STREAM,   /* a terminal of version 2, with all its bytes */
    JOB_TAIL,     /* the same, but there were too many: the end of them */
};

/* Where commands run.  What is called here calls no callbacks of the program. */
struct job_place {
    /* On failure says why in failure->message. */
    int (*start)(struct acp_job *job, const struct acp_job_options *options,
                 struct acp_failure *failure);
    /* Ends it; job_finish() follows, at the latest when the clock says so. */
    void (*stop)(struct acp_job *job);
    /* The result is about to be given: takes the output that is at hand, and gives up the rest. */
    void (*drop)(struct acp_job *job);
    /* As acp_job_read(), while it runs. */
    int (*read)(struct acp_job *job, acp_job_output_fn *fn, void *user);
};

extern const struct job_place job_local;
extern const struct job_place job_client;

/* A read that waits: for the client's answer, or for the end of the command. */
struct job_read {
    struct job_read *next;
    struct acp_job *job; /* NULL when it was settled or is not wanted any more */
    bool asked;          /* a request is open, whose reply frees it */
    acp_job_output_fn *fn;
    void *user;
};

struct acp_jobs {
    struct acp_agent_observer watch; /* the first, so that the set is found by it */
    uv_loop_t *loop;
    struct acp_jobs_options options;
    struct acp_terminals *terminals;
    struct acp_job *first;
    uint64_t seed;        /* makes the ids of our terminals different from those of other runs */
    uint64_t next_number; /* of our terminals */
    unsigned depth;       /* of callbacks */
    bool freed;
};

struct acp_job {
    struct acp_jobs *set; /* not valid once the command is gone */
    struct acp_job *next;
    const struct job_place *place;
    enum job_phase phase;
    bool background;
    bool gone; /* nobody outside knows it; the memory waits for handles and replies */
    struct acp_agent *agent;
    struct acp_session *session;
    struct acp_turn *turn; /* NULL in the background */
    acp_job_fn *done;
    void *user;

    struct acp_arena arena;    /* for the texts */
    struct acp_str session_id; /* a copy */
    struct acp_str tool_call;
    struct acp_str terminal_id; /* as the client knows it */
    uint64_t timeout_ms;
    size_t limit; /* bytes kept of the output */

    struct acp_job_result result; /* its texts point into these */
    char signal[32];
    char message[256];
    struct acp_buf output;

    uv_timer_t clock; /* until the timeout; later how long an end may take */
    unsigned holds;   /* handles to be closed and replies to come, which need the memory */
    struct job_read *reads;

    /* job_show.c */
    enum job_view view;
    uv_timer_t refresh;
    struct acp_buf unsent;
    uint64_t streamed;
    bool paused;

    /* job_local.c */
    struct acp_str local_id;

    /* job_client.c */
    bool is_creating; /* the request for a terminal is open */
    uint64_t creating;
};

static inline bool job_is_over(const struct acp_job *job)
{
    return job->phase == JOB_OVER;
}

/* ---- job.c     ------------------------------------------------------------------------------ */

/* It runs: the timeout counts from here. */
void job_started(struct acp_job *job);
/* Gives the result; the command may be gone afterwards.  Without effect when it was given. */
void job_finish(struct acp_job *job);
/* The clock will end it after so long, whatever the other side does. */
void job_finish_within(struct acp_job *job, uint64_t ms);
void job_note_exit(struct acp_job *job, const struct acp_terminal_exit *how);
void job_say(struct acp_job *job, const char *format, ...) ACP_PRINTF(2, 3);
/* One of c->holds is no more; frees the memory with the last of them. */
void job_let_go(struct acp_job *job);
/* A read that is answered later; NULL when memory is out. */
struct job_read *job_add_read(struct acp_job *job, acp_job_output_fn *fn, void *user);
/* Takes it out of its command, before it is answered. */
void job_detach_read(struct job_read *read);
/* The end of a text, of at most max bytes, in whole characters. */
struct acp_str job_end_of(struct acp_str text, size_t max);

/* ---- job_local.c ------------------------------------------------------------------------ */

/* For the terminals of a set. */
extern const struct acp_terminals_handler job_terminals_handler;
/* Reads the output on, or not. */
void job_local_pause(struct acp_job *job, bool pause);
/* Appends all that is kept of the output while it runs. */
int job_local_output(const struct acp_job *job, struct acp_buf *out,
                     struct acp_terminal_snapshot *ret);

/* ---- job_client.c ----------------------------------------------------------------------- */

/* Whether the client runs commands for us. */
bool job_client_serves(const struct acp_agent *agent);

/* ---- job_show.c ------------------------------------------------------------------------- */

/* The client's terminal is there. */
void job_show_embedded(struct acp_job *job);
/* Our process is there; options are those it was started with. */
void job_show_begin(struct acp_job *job, const struct acp_job_options *options);
void job_show_bytes(struct acp_job *job, struct acp_str bytes);
/* The client has caught up. */
void job_show_relieved(struct acp_job *job);
/* It is over; all is known. */
void job_show_end(struct acp_job *job);
void job_on_refresh(uv_timer_t *timer);

#endif
