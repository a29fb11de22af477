/*
 * terminal_front.h - the terminal front end of exec and prompt: output, questions, and Ctrl-C.
 * exec runs the agent itself; prompt connects to a daemon.
 */
#ifndef SRC_CMD_TERMINAL_FRONT_H
#define SRC_CMD_TERMINAL_FRONT_H

#include <uv.h>

#include "cmd/conversation_setup.h"
#include "conversation/conversation.h"
#include "render/render.h"

struct front;

struct front_handler {
    /* option is absent to say no. */
    void (*answer)(uint64_t number, struct acp_str option, void *user);
    /* Ctrl-C, or another signal that wants us to end; again: at once. */
    void (*interrupt)(bool again, void *user);
};

struct front_options {
    enum output_format format;
    struct acp_str session;
    bool verbose;
    bool fail_unasked; /* a prompt in which nobody could be asked has failed */
    bool no_person;    /* do not ask, even if there is a terminal */
};

int front_new(uv_loop_t *loop, const struct front_options *options,
              const struct front_handler *handler, void *user, struct front **ret);
void front_free(struct front *front);
/* Everything that keeps the loop alive is let go; front_free() is still due. */
void front_close(struct front *front);

/* Whether somebody can be asked. */
bool front_has_person(const struct front *front);
struct show *front_show(struct front *front);

void front_record(struct front *front, const struct record *record);
/* False when nothing can be written any more. */
bool front_flush(struct front *front);
void front_question(struct front *front, const struct talk_question *question);
void front_question_gone(struct front *front, uint64_t number);

/* The exit status of a prompt's end; says what is to be said about it. */
int front_status(struct front *front, const struct talk_end *end);
/* Whether a signal has asked us to end. */
bool front_interrupted(const struct front *front);

#endif
