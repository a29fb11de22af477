/*
 * drive.h - a client of the agent that goes wrong, over real processes: one loop, one agent, one
 * session and one prompt after the other, with a watchdog over all of it.
 */
#ifndef TESTS_FAULTS_DRIVE_H
#define TESTS_FAULTS_DRIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "acp/run.h"

struct drive {
    const char *prompt;
    unsigned version;
    size_t max_output; /* of the client; 0: the default */

    uv_loop_t loop;
    uv_timer_t watchdog;
    uv_timer_t timer; /* for the test's own use */
    bool late;
    int fds; /* open before */
    uint64_t began;
    char mark[64]; /* in the environment of all that was started */

    struct acp_agent_process *agent; /* NULL once it is over */
    struct acp_client *client;
    struct acp_client_session *session;
    int pid;

    int ends; /* of the prompt */
    int err;
    char stop[32];
    char why[4000];
    uint64_t ended_ms; /* after the beginning */
    int session_ends;
    int closed;
    int exits;
    char sentence[4000];
    uint64_t exited_ms;
    size_t error_bytes; /* of its standard error */
    int grandchild;
    size_t chunks;
    size_t wrong_chunks; /* not the one that was due */

    /* Called when the session is there; without it the prompt is sent. */
    void (*ready)(struct drive *d);
    void (*chunk)(struct drive *d);
    void (*error_output)(struct drive *d); /* the agent has written to its standard error */
};

extern const char *drive_program;

/* Starts the agent and everything; d is zeroed but for the options at its beginning. */
void drive_start(struct drive *d);
/* Runs until the agent is gone and all is closed, and checks what must hold every time. */
void drive_finish(struct drive *d);
int drive_prompt(struct drive *d);
/* Runs the loop for this time. */
void drive_for(struct drive *d, uint64_t ms);
uint64_t drive_ms(struct drive *d);

/* The number of descriptors that are open here. */
int drive_count_fds(void);
/* Whether a process is there and no zombie. */
bool drive_is_alive(int pid);
/* Resident memory of a process in KiB. */
long drive_rss(int pid);
/* How many living processes carry the mark in their environment. */
int drive_count_marked(const char *mark);

#endif
