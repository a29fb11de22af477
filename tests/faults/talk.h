/*
 * talk.h - one long conversation between an agent and a client in memory, every byte of it carried
 * by the test, with at most one fault on the way.
 *
 * Both programs are written like real ones: they do their next thing from the callback of the last,
 * answer some things at once and others later, and forget what they are told is gone.  They count
 * what was promised to them and what came.
 */
#ifndef TESTS_FAULTS_TALK_H
#define TESTS_FAULTS_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acp/agent.h"
#include "acp/client.h"

enum talk_side { TALK_AGENT, TALK_CLIENT };

/* What the client asks for, in this order; each has a callback that must come exactly once. */
enum talk_step {
    STEP_START,
    STEP_NEW,
    STEP_WORK, /* text, thought, plan, tool, diff, permission granted, a file read */
    STEP_WAIT, /* cancelled while a question is open */
    STEP_MODE,
    STEP_LOAD,
    STEP_FAIL,
    STEP_ECHO,
    STEP_CLOSE_NEW,
    STEP_CLOSE_OLD,
    STEPS,
};

enum talk_fault_kind {
    FAULT_NONE,
    FAULT_DIE, /* side dies, and what it had not sent is lost */
    FAULT_CUT, /* the sender of the message dies when that number of bytes of it has been sent */
    FAULT_GARBAGE, /* side is sent something that is not a message of the conversation */
    FAULT_CLOSE,   /* side closes the connection from within a callback */
};

struct talk_fault {
    enum talk_fault_kind kind;
    size_t at; /* before, or in, the message of this number; in the callback of this number */
    enum talk_side side;
    size_t offset;
    struct acp_str garbage;
};

/* How the bytes are cut into pieces. */
enum talk_pieces { PIECES_MESSAGES, PIECES_BYTES, PIECES_RANDOM };

struct talk_message {
    enum talk_side to;
    char *owned;
    struct acp_str text; /* all of it, with its newline */
};

struct talk_promise {
    int promised;
    int kept;
    int err;
};

struct talk {
    unsigned version;
    struct talk_fault fault;
    enum talk_pieces pieces;
    uint64_t (*random)(void);
    bool fault_done;
    uint64_t now;
    size_t steps; /* taken so far; bounded */

    struct acp_agent *agent;   /* NULL once it is dead */
    struct acp_client *client; /* likewise */
    struct acp_endpoint *ends[2];
    struct acp_buf pipes[2]; /* on the way to that side */

    /* The messages that arrived whole, in their order. */
    struct talk_message *messages;
    size_t message_count;
    struct acp_buf logs[2]; /* what each program saw */
    size_t callbacks[2];    /* how often each was called */
    bool gave_up;           /* one of them has closed the connection */

    /* The client's program. */
    enum talk_step step;
    struct talk_promise promises[STEPS];
    struct acp_client_session *fresh;
    struct acp_client_session *old;
    char fresh_id[64];
    int client_sessions; /* known, and ended */
    int client_sessions_ended;
    int client_closed;
    int questions; /* asked, and answered by us or gone */
    int questions_settled;
    int troubles[5]; /* by enum acp_protocol_error */
    bool explained;  /* errors must now tell what the test said of the close */

    /* The agent's program. */
    struct acp_session *opening; /* to be accepted later */
    struct acp_turn *ending;     /* to be ended later */
    int sessions;                /* given, and ended */
    int sessions_ended;
    int agent_closed;
    int asked;
    int answered;
};

/* What an error must tell when the other side is dead. */
#define TALK_DEATH "the agent was killed by the test"

struct talk *talk_new(unsigned version);
void talk_free(struct talk *t);
/* Lets the conversation run until nothing moves; fails when it does not come to rest. */
void talk_run(struct talk *t);
/* Both sides end in good order. */
void talk_finish(struct talk *t);
/* What must hold after every run, whatever the fault. */
void talk_check(struct talk *t);
/* What must hold when the fault did no harm: the same was seen, everything was answered. */
void talk_check_same(struct talk *t, struct talk *undisturbed);

/* talk_programs.c */
extern const struct acp_agent_handler talk_agent_handler;
extern const struct acp_client_handler talk_client_handler;
void talk_next(struct talk *t);
/* Does what the agent had put off; false when there was nothing. */
bool talk_agent_work(struct talk *t);

#endif
