/* watch.h - tells when a child has ended, by a pidfd or by SIGCHLD; reaping stays the owner's. */
#ifndef LIB_IO_WATCH_H
#define LIB_IO_WATCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

struct acp_watch {
    union {
        uv_handle_t handle;
        uv_poll_t poll;
        uv_signal_t signal;
    } uv;
    int pidfd; /* -1: by SIGCHLD */
    pid_t pid;
    bool open;
    /* Both from the loop.  `ended` comes once. */
    void (*ended)(struct acp_watch *watch);
    void (*closed)(struct acp_watch *watch);
    void *self; /* the owner's */
};

/* The child must not be reaped yet.  0 or an error of the system. */
int acp_watch_start(struct acp_watch *watch, uv_loop_t *loop, pid_t pid, bool no_pidfd);
/* May be called again; `closed` comes if it was open. */
void acp_watch_close(struct acp_watch *watch);

/* How a wait for a child went. */
enum acp_wait { ACP_WAIT_RUNNING, ACP_WAIT_ENDED, ACP_WAIT_LOST };

/*
 * Looks at a child of ours without reaping it.  LOST: somebody else has reaped it.  The outputs are
 * as in struct acp_process_exit.
 */
enum acp_wait acp_wait_look(pid_t pid, int *ret_code, int *ret_signal);
void acp_wait_reap(pid_t pid);

/* A pidfd, or -1 where there are none. */
int acp_pidfd_open(pid_t pid);
/* Signals through it. */
void acp_pidfd_signal(int pidfd, int signal_number);

#endif
