/*
 * memory_agent.h - an agent in the same process, for tests of conversations: the agent role on one
 * end, the conversation's client role on the other, and a timer that carries bytes between them.
 *
 * What it does follows from the prompt's text:
 *
 *     say N    sends N messages, "1" to "N", and ends the turn
 *     hang     does not end the turn, not even when it is cancelled
 *     wait     ends the turn when it is cancelled
 *     ask      asks for permission, sends the chosen option, and ends the turn
 *     elicit   asks the user by a form, sends what was done, and ends the turn
 *     fail     answers with an error
 *     die      ends in the middle of the turn
 */
#ifndef MEMORY_AGENT_H
#define MEMORY_AGENT_H

#include "acp/agent.h"
#include "acp/turn.h"
#include "conversation/connection.h"

struct memory_agent {
    struct agent_endpoint endpoint; /* first: what a conversation takes */
    bool can_load;
    int err; /* that connecting fails with; 0: it works */

    /* What happened. */
    int connected;
    int loaded;
    int prompts;
    int asked;
    int answered;
    bool paused; /* the conversation does not read */
    char answer[32];
    struct memory_connection *connection; /* the last one, or NULL */
};

void memory_agent_init(struct memory_agent *agent);
/* The agent ends by itself. */
void memory_agent_die(struct memory_agent *agent);
/* It sends one more message in the turn that runs, and ends it. */
void memory_agent_send(struct memory_agent *agent, const char *text);
void memory_agent_finish(struct memory_agent *agent);

#endif
