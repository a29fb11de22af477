/*
 * terminals.h - the terminals that a client offers its agents: commands that run beside the
 * conversation, whose output is kept, watched and asked for.
 *
 * This is the service behind `terminal/create`, `output`, `wait_for_exit`, `kill` and `release`,
 * without the messages: whoever speaks the protocol calls these functions.  A terminal belongs to
 * the session that created it; for every other it does not exist (ACP_ERR_UNKNOWN).
 *
 * How a command runs:
 *   - `command` with `args` is executed as given.  Only a command without args that is a line (it
 *     has blanks or characters that mean something to a shell, and is no executable file) goes to
 *     `/bin/sh -c`.
 *   - Standard output and error go to one pseudo-terminal, or one pipe.  Standard input is empty:
 *     an agent cannot type, and a program that waits for input would wait for ever.
 *   - The terminal does not change line ends: a line ends with "\n" as in a pipe.
 *   - Its environment is that of this process without the flags of agents that may run around it
 *     and without what describes another terminal (TMUX, COLUMNS, ...), with TERM=xterm-256color
 *     (on pipes: dumb), with PAGER=cat and GIT_PAGER=cat, since nobody could leave a pager, and
 *     with `env` on top of all.
 *   - What it leaves in the background when it exits runs on until the terminal is killed or
 *     released, then it is killed too.
 *
 * Output is text: what is not UTF-8 becomes U+FFFD.  The last bytes are kept, cut at a character.
 *
 *     static void on_done(struct acp_terminals *set, int err, const struct acp_terminal_exit *how,
 *                         void *user)
 *     {
 *         if (!err)
 *             printf("exit code %d\n", how->code);
 *     }
 *
 *     struct acp_terminal_request request = {.command = acp_str_from("make test")};
 *     struct acp_str id;
 *     err = acp_terminals_new(loop, NULL, NULL, NULL, &set);
 *     err = acp_terminals_create(set, session_id, &request, &id, &failure);
 *     err = acp_terminals_wait(set, session_id, id, on_done, NULL, NULL);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *     acp_terminals_free(set);
 *
 * A set belongs to the thread of its loop.  Callbacks come from the loop, except where a function
 * says otherwise, and may call anything here, also acp_terminals_free(), which takes effect when
 * they return.
 */
#ifndef ACP_TERMINALS_H
#define ACP_TERMINALS_H

#include "acp/base.h"
#include "acp/io.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_terminals;

struct acp_terminals_options {
    size_t max_per_session; /* not yet released; 0: 64 */
    size_t max_total;       /* of all sessions; 0: 256 */
    size_t default_bytes;   /* kept of the output when the agent sets no limit; 0: 1 MiB */
    size_t max_bytes;       /* whatever limit the agent sets; 0: 16 MiB */
    size_t max_total_bytes; /* of all terminals; the last ones keep less; 0: 64 MiB */
    bool pipes;             /* instead of pseudo-terminals */
    unsigned short rows;    /* 0: 40 */
    unsigned short columns; /* 0: 120 */
    uint64_t term_ms;       /* acp_terminals_kill(): from SIGTERM to SIGKILL; 0: 1000 */
    uint64_t reserved[4];
};

/* How a command ended. */
struct acp_terminal_exit {
    bool has_code; /* it exited */
    int code;
    const char *signal; /* "SIGKILL" when a signal ended it, otherwise NULL */
    void *reserved[2];
};

struct acp_terminal_request {
    struct acp_str command;
    struct acp_str_list args;
    struct acp_str_map env; /* on top of ours; the last of the same name counts */
    struct acp_str cwd;     /* absolute; absent: ours */
    bool has_limit;
    uint64_t output_byte_limit;
    bool pipes; /* this one, also when the others have pseudo-terminals */
    /* An open directory to start in, which cwd only names then; NULL: cwd.  Stays the caller's. */
    const int *cwd_fd;
    void *reserved[1];
};

/* For who shows terminals; all may be left out. */
struct acp_terminals_handler {
    /* New output as the bytes it came in. */
    void (*bytes)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                  struct acp_str bytes, void *user);
    /* New output, as it comes, valid UTF-8.  It may come after the exit, from the background. */
    void (*output)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                   struct acp_str text, void *user);
    void (*exited)(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                   const struct acp_terminal_exit *how, void *user);
    void *reserved[4];
};

/* options and handler may be NULL; both are copied.  ACP_ERR_NOMEM. */
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
/* Releases everything; who still waits gets ACP_ERR_CLOSED, inside of this call.  Takes NULL. */
ACP_API void acp_terminals_free(struct acp_terminals *set);

/*
 * Starts a command and returns at once.  The id is valid as long as the terminal.  failure may be
 * NULL.  ACP_ERR_LIMIT: too many terminals; ACP_ERR_ARGUMENT: a relative cwd, no command, a NUL in
 * a text; otherwise why the program cannot be started (of the system).
 */
ACP_API int acp_terminals_create(struct acp_terminals *set, struct acp_str session,
                                 const struct acp_terminal_request *request, struct acp_str *ret_id,
                                 struct acp_failure *failure);

struct acp_terminal_snapshot {
    bool truncated; /* there was more before */
    bool exited;    /* then `how` tells */
    struct acp_terminal_exit how;
    void *reserved[2];
};

/* Appends what is kept.  ACP_ERR_UNKNOWN, or ACP_ERR_LIMIT and _NOMEM when it does not fit. */
ACP_API int acp_terminals_output(struct acp_terminals *set, struct acp_str session,
                                 struct acp_str id, struct acp_buf *out,
                                 struct acp_terminal_snapshot *ret);

/* err is 0, or ACP_ERR_CLOSED when the set was freed first; then how is NULL. */
typedef void acp_terminal_wait_fn(struct acp_terminals *set, int err,
                                  const struct acp_terminal_exit *how, void *user);

/*
 * Calls fn once when the command has exited: inside of this call when it has already.  Released
 * while it runs, the command is killed, and fn hears of that.  ret_wait may be NULL and gets 0 when
 * fn was called.  ACP_ERR_UNKNOWN, ACP_ERR_LIMIT, ACP_ERR_NOMEM, and then fn is not called.
 */
ACP_API int acp_terminals_wait(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                               acp_terminal_wait_fn *fn, void *user, uint64_t *ret_wait);
/* Waits no more; fn will not be called.  ACP_ERR_UNKNOWN when it was. */
ACP_API int acp_terminals_cancel_wait(struct acp_terminals *set, uint64_t wait);

/*
 * Ends the command with all it has started: SIGTERM, after term_ms SIGKILL.  Output and exit status
 * stay readable.  0 also when it has exited.
 */
ACP_API int acp_terminals_kill(struct acp_terminals *set, struct acp_str session,
                               struct acp_str id);
/*
 * Kills the command if it runs and forgets the terminal.  0 also for an id of this session that was
 * released before; ACP_ERR_UNKNOWN for one that never was.
 */
ACP_API int acp_terminals_release(struct acp_terminals *set, struct acp_str session,
                                  struct acp_str id);
/* The session is over: releases all its terminals. */
ACP_API void acp_terminals_end_session(struct acp_terminals *set, struct acp_str session);
/*
 * Stops and resumes reading the output, so that the command waits when it is shown slowly.  From
 * its exit on the rest is read in any case.  ACP_ERR_UNKNOWN.
 */
ACP_API int acp_terminals_pause(struct acp_terminals *set, struct acp_str session,
                                struct acp_str id, bool pause);
/* For who shows it in a window of another size.  ACP_ERR_UNKNOWN, ACP_ERR_STATE on pipes. */
ACP_API int acp_terminals_resize(struct acp_terminals *set, struct acp_str session,
                                 struct acp_str id, unsigned short rows, unsigned short columns);
/* Terminals that are not released. */
ACP_API size_t acp_terminals_count(const struct acp_terminals *set);

#ifdef __cplusplus
}
#endif

#endif
