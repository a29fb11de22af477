/*
 * terminals.h - the terminals that a client offers its agents: commands that run in the background
 * of a conversation, and whose output is kept until it is asked for.
 *
 * This implements terminal/create, terminal/output, terminal/wait_for_exit, terminal/kill and
 * terminal/release without the messages.  acp/workspace.h serves the messages with it; use this
 * header alone for other protocols.
 *
 *     #include <acp/terminals.h>
 *     #include <stdio.h>
 *
 *     static const struct acp_str session = ACP_STR("session-1");
 *
 *     static void on_exit(struct acp_terminals *set, int err, const struct acp_terminal_exit *how,
 *                         void *user)
 *     {
 *         *(int *) user = err || !how->has_code ? -1 : how->code;
 *     }
 *
 *     static int run(uv_loop_t *loop, struct acp_terminals *set, struct acp_buf *out,
 *                    int *ret_code)
 *     {
 *         struct acp_terminal_request request = {.command = acp_str_from("echo one && echo two")};
 *         struct acp_terminal_snapshot snapshot;
 *         struct acp_str id;
 *         int err = acp_terminals_create(set, session, &request, &id, NULL);
 *         if (!err)
 *             err = acp_terminals_wait(set, session, id, on_exit, ret_code, NULL);
 *         if (err)
 *             return err;
 *         uv_run(loop, UV_RUN_DEFAULT);
 *         return acp_terminals_output(set, session, id, out, &snapshot);
 *     }
 *
 *     int main(void)
 *     {
 *         uv_loop_t *loop = uv_default_loop();
 *         struct acp_terminals *set;
 *         struct acp_buf out;
 *         int code = -1;
 *         if (acp_terminals_new(loop, NULL, NULL, NULL, &set))
 *             return 1;
 *         acp_buf_init(&out, 1 << 20);
 *         if (!run(loop, set, &out, &code))
 *             printf("exit status %d, output:\n%.*s", code, ACP_ARG(acp_buf_view(&out)));
 *         acp_buf_finish(&out);
 *         acp_terminals_free(set);
 *         uv_run(loop, UV_RUN_DEFAULT);
 *         return code;
 *     }
 *
 * How a command runs:
 *   - `command` is executed with `args`.  A command without args that has blanks or characters of
 *     the shell, and is not an executable file, is passed to `/bin/sh -c`.
 *   - Standard output and standard error go to one pseudo-terminal, or one pipe.  Standard input is
 *     empty: agents cannot type, and a program that waits for input would never end.
 *   - The pseudo-terminal does not change line ends: lines end with "\n" as in a pipe.
 *   - The environment is that of this process, without the variables by which agents detect each
 *     other and those that describe another terminal (TMUX, COLUMNS, ...), with
 *     TERM=xterm-256color (TERM=dumb on pipes), PAGER=cat and GIT_PAGER=cat, and with `env`.
 *   - What it leaves in the background when it exits runs until the terminal is killed or released.
 *
 * Output is kept as UTF-8, with U+FFFD for bytes that are not.  If there is more than the limit,
 * the end is kept, cut between characters.
 *
 * acp/io.h has the rules for threads, callbacks and freeing.
 */
#ifndef ACP_TERMINALS_H
#define ACP_TERMINALS_H

#include "acp/base.h"
#include "acp/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A set of terminals --------------------------------------------------------------------- */

/* All terminals of a client.  Each belongs to the session that created it. */
struct acp_terminals;

/* Zero means the default. */
struct acp_terminals_options {
    size_t max_per_session; /* terminals that are not released; 64 */
    size_t max_total;       /* the same for all sessions; 256 */
    size_t default_bytes;   /* output kept of a terminal whose request sets no limit; 1 MiB */
    size_t max_bytes;       /* the largest limit that a request may set; 16 MiB */
    size_t max_total_bytes; /* output kept of all; terminals beyond it keep less; 64 MiB */
    bool pipes;             /* use pipes, not pseudo-terminals */
    unsigned short rows;    /* 40 */
    unsigned short columns; /* 120 */
    uint64_t term_ms;       /* acp_terminals_kill(): from SIGTERM to SIGKILL; 1000 */
    uint64_t reserved[4];
};

/* How a command ended. */
struct acp_terminal_exit {
    bool has_code;      /* it exited with a status */
    int code;           /* the exit status */
    const char *signal; /* "SIGKILL" if a signal ended it, static; otherwise NULL */
    void *reserved[2];
};

/* For programs that show terminals.  All callbacks may be left out. */
struct acp_terminals_handler {
    /* New output, as the bytes that were read. */
    void (*bytes)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                  struct acp_str bytes, void *user);
    /* The same output as valid UTF-8.  Processes in the background may write after the exit. */
    void (*output)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                   struct acp_str text, void *user);
    /* The command has exited.  Called once, also for a terminal that nobody waits for. */
    void (*exited)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                   const struct acp_terminal_exit *how, void *user);
    void *reserved[4];
};

/*
 * Makes an empty set.  options and handler may be NULL and are copied; user is passed to the
 * handler.  ACP_ERR_NOMEM.
 */
ACP_API int acp_terminals_new_sized(uv_loop_t *loop, const struct acp_terminals_options *options,
                                    size_t options_size,
                                    const struct acp_terminals_handler *handler,
                                    size_t handler_size, void *user, struct acp_terminals **ret);
static inline int acp_terminals_new(uv_loop_t *loop, const struct acp_terminals_options *options,
                                    const struct acp_terminals_handler *handler, void *user,
                                    struct acp_terminals **ret)
{
    return acp_terminals_new_sized(loop, options, sizeof(*options), handler, sizeof(*handler), user,
                                   ret);
}
/*
 * Releases all terminals.  Functions that still wait are called with ACP_ERR_CLOSED, inside this
 * call.  Takes NULL.
 */
ACP_API void acp_terminals_free(struct acp_terminals *set);

/* ---- Terminals ------------------------------------------------------------------------------ */

/* The command to run; read during the call. */
struct acp_terminal_request {
    struct acp_str command;
    struct acp_str_list args;
    struct acp_str_map env;     /* added to the environment; of equal names the last one counts */
    struct acp_str cwd;         /* an absolute path; absent: the directory of this process */
    bool has_limit;             /* output_byte_limit is set */
    uint64_t output_byte_limit; /* output to keep, from its end; 0 keeps none */
    bool pipes;                 /* use pipes for this one */
    /*
     * A descriptor of the directory to start in; cwd is then only used in messages.  NULL: use cwd.
     * The caller keeps it.
     */
    const int *cwd_fd;
    void *reserved[1];
};

/*
 * Starts a command; returns when its program runs.  The id is valid as long as the terminal.
 *
 * ACP_ERR_LIMIT if there are too many terminals; ACP_ERR_ARGUMENT for a relative cwd, an empty
 * command, a variable name that is empty or has a '=', or a NUL in a text; ACP_ERR_CLOSED if the
 * set is being freed; ACP_ERR_NOMEM; or the system error for which the program does not run.
 * failure->message says why, except for the last two of these codes.
 */
ACP_API int acp_terminals_create(struct acp_terminals *set, struct acp_str session,
                                 const struct acp_terminal_request *request, struct acp_str *ret_id,
                                 struct acp_failure *failure);

/*
 * In all functions below, ACP_ERR_UNKNOWN means that the session has no terminal of that id: one of
 * another session does not exist for it, and neither does one that was released.
 */

struct acp_terminal_snapshot {
    bool truncated; /* earlier output is not kept any more */
    bool exited;
    struct acp_terminal_exit how; /* if exited */
    void *reserved[2];
};

/* Appends the output that is kept.  ACP_ERR_UNKNOWN, ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
ACP_API int acp_terminals_output(struct acp_terminals *set, struct acp_str session,
                                 struct acp_str id, struct acp_buf *out,
                                 struct acp_terminal_snapshot *ret);

/* err is 0, or ACP_ERR_CLOSED if the set was freed before the exit; how is NULL then. */
typedef void acp_terminal_wait_fn(struct acp_terminals *set, int err,
                                  const struct acp_terminal_exit *how, void *user);

/*
 * Calls fn once when the command exits, or inside this call if it has exited.  If the terminal is
 * released before, the command is killed and fn is called with that exit.  ret_wait, which may be
 * NULL, gets a number for acp_terminals_cancel_wait(), or 0 if fn was called.
 *
 * ACP_ERR_UNKNOWN, ACP_ERR_LIMIT (too many functions wait), ACP_ERR_NOMEM; fn is not called then.
 */
ACP_API int acp_terminals_wait(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                               acp_terminal_wait_fn *fn, void *user, uint64_t *ret_wait);
/* Stops waiting: fn will not be called.  ACP_ERR_UNKNOWN if it has been called. */
ACP_API int acp_terminals_cancel_wait(struct acp_terminals *set, uint64_t wait);

/*
 * Ends the command and all that it has started, with SIGTERM and, after term_ms, SIGKILL.  Output
 * and exit status can still be read.  0 also if it has exited; ACP_ERR_UNKNOWN.
 */
ACP_API int acp_terminals_kill(struct acp_terminals *set, struct acp_str session,
                               struct acp_str id);
/*
 * Kills the command if it runs, and removes the terminal.  0 also if it was released before;
 * ACP_ERR_UNKNOWN if the session never had a terminal of that id.
 */
ACP_API int acp_terminals_release(struct acp_terminals *set, struct acp_str session,
                                  struct acp_str id);
/* Releases all terminals of a session. */
ACP_API void acp_terminals_end_session(struct acp_terminals *set, struct acp_str session);
/*
 * Stops (true) and resumes (false) reading the output, so that the command blocks while it cannot
 * be shown.  After the exit the rest is read in any case.  ACP_ERR_UNKNOWN.
 */
ACP_API int acp_terminals_pause(struct acp_terminals *set, struct acp_str session,
                                struct acp_str id, bool pause);
/*
 * Sets the size of the pseudo-terminal.  ACP_ERR_UNKNOWN, ACP_ERR_STATE on pipes, or a system
 * error.
 */
ACP_API int acp_terminals_resize(struct acp_terminals *set, struct acp_str session,
                                 struct acp_str id, unsigned short rows, unsigned short columns);
/* The number of terminals that are not released. */
ACP_API size_t acp_terminals_count(const struct acp_terminals *set);

#ifdef __cplusplus
}
#endif

#endif
