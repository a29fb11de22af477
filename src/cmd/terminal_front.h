/*
 * terminal_front.h - the terminal front end of exec and prompt: output, questions, and Ctrl-C.
 * exec runs the agent itself; prompt connects to a daemon.
 */
#ifndef SRC_CMD_TERMINAL_FRONT_H
#define SRC_CMD_TERMINAL_FRONT_H

#include <uv.h>

#include "cmd/conversation_setup.h"
#include "cmd/run_display.h"
#include "conversation/conversation.h"

struct terminal_front;

struct terminal_front_handler {
    /* The user's reply; without an option the request is denied. */
    void (*answer)(uint64_t number, struct acp_str option, void *user);
    /* The user's response to an elicitation, as the protocol has it. */
    void (*elicited)(uint64_t number, struct acp_raw response, void *user);
    /* Ctrl-C or another terminating signal; again: stop immediately. */
    void (*interrupt)(bool again, void *user);
};

struct terminal_front_options {
    enum render_format format;
    struct acp_str session;
    struct run_display_options display; /* format and session are set from the above */
    bool fail_unasked;                  /* fail when permission is needed and nobody can be asked */
    bool no_questions;                  /* do not ask, even if there is a terminal */
};

int terminal_front_new(uv_loop_t *loop, const struct terminal_front_options *options,
                       const struct terminal_front_handler *handler, void *user,
                       struct terminal_front **ret);
void terminal_front_free(struct terminal_front *front);
/* Closes the handles that keep the loop alive; terminal_front_free() must still be called. */
void terminal_front_close(struct terminal_front *front);

/* Whether there is a user who can be asked. */
bool terminal_front_can_ask(const struct terminal_front *front);
struct run_display *terminal_front_display(struct terminal_front *front);
struct renderer *terminal_front_renderer(struct terminal_front *front);
/* What the agent has answered so far. */
struct transcript_answer terminal_front_answer(const struct terminal_front *front);

void terminal_front_event(struct terminal_front *front, const struct session_event *event);
/* False when output can no longer be written. */
bool terminal_front_flush(struct terminal_front *front);
void terminal_front_question(struct terminal_front *front,
                             const struct permission_question *question);
void terminal_front_elicitation(struct terminal_front *front,
                                const struct elicitation_question *question);
void terminal_front_question_gone(struct terminal_front *front, uint64_t number);

/* The exit status of a turn; prints a message about its end if necessary. */
int terminal_front_status(struct terminal_front *front, const struct prompt_end *end);
/* Whether a signal has interrupted the run. */
bool terminal_front_interrupted(const struct terminal_front *front);

#endif
