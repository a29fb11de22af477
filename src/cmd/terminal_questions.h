/*
 * terminal_questions.h - asks the user on the terminal: permission questions and elicitations, one
 * at a time.
 *
 * The terminal itself is used, because standard input may hold the prompt.  Input typed before a
 * question appeared is discarded.  An invalid reply repeats the question; end of input denies a
 * permission and cancels an elicitation.
 */
#ifndef SRC_CMD_TERMINAL_QUESTIONS_H
#define SRC_CMD_TERMINAL_QUESTIONS_H

#include <uv.h>

#include "conversation/conversation.h"

struct terminal_questions;

/* Called from the loop, or from inside a call when a question cannot be shown. */
struct terminal_questions_handler {
    /* The user's reply; without an option the request is denied. */
    void (*answer)(uint64_t number, struct acp_str option, void *user);
    /* The response to an elicitation, as the protocol has it. */
    void (*elicited)(uint64_t number, struct acp_raw response, void *user);
    /*
     * true: a question is about to be drawn, and the terminal is not to be written to until false:
     * there is no question any more.
     */
    void (*asking)(bool asking, void *user);
};

/* ACP_ERR_NOMEM.  Without a terminal, nobody can be asked; see terminal_questions_can_ask(). */
int terminal_questions_new(uv_loop_t *loop, const struct terminal_questions_handler *handler,
                           void *user, struct terminal_questions **ret);
/* Closes the handles that keep the loop alive; terminal_questions_free() must still be called. */
void terminal_questions_close(struct terminal_questions *questions);
void terminal_questions_free(struct terminal_questions *questions);

bool terminal_questions_can_ask(const struct terminal_questions *questions);
/* Whether a question is on the screen. */
bool terminal_questions_is_asking(const struct terminal_questions *questions);

void terminal_questions_ask(struct terminal_questions *questions,
                            const struct permission_question *question);
void terminal_questions_elicit(struct terminal_questions *questions,
                               const struct elicitation_question *question);
/* The question was answered by someone else, or needs no answer any more. */
void terminal_questions_gone(struct terminal_questions *questions, uint64_t number);

#endif
