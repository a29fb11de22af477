/*
 * log_kinds.h - the kinds of events in the session log of the coding agent.
 *
 * The log holds two views of a session, in one order.  What the client was sent:
 *
 *   prompt            the user's message, as a user_message of version 2
 *   update, update2   a session update, in version 1 or 2 of the protocol
 *   output, output2   what a terminal has shown, as an update of its tool call in version 1; it is
 *                     replayed where the client has no such terminal
 *   stop, error       the end of a turn
 *
 * And what the model is sent with each request:
 *
 *   message           a message of the conversation
 *   history_reset     the conversation starts over: the `retained` messages that follow are all
 *                     of it
 *   retained          a message that was kept when the history was reset
 *   rewind            the conversation was cut back to this number of messages
 *   model_context     system text and tool list of the requests from here on, with the facts that
 *                     they state; reasoning in earlier messages is not sent any more
 *   model_facts       the facts that the model knows once it has read the note in the next message
 *
 * Version 0.1 wrote three of the names differently:
 *
 *   said -> message,  kept -> retained,  forget -> history_reset
 *
 * Both names are read, since sessions that were exported then can be imported at any time.  Only
 * the new ones are written.
 */
#ifndef SRC_AGENT_LOOP_LOG_KINDS_H
#define SRC_AGENT_LOOP_LOG_KINDS_H

#include "acp/base.h"

enum log_kind {
    LOG_KIND_OTHER = 0, /* of a later version, perhaps: ignored */
    LOG_KIND_PROMPT,
    LOG_KIND_UPDATE,
    LOG_KIND_UPDATE2,
    LOG_KIND_OUTPUT,
    LOG_KIND_OUTPUT2,
    LOG_KIND_STOP,
    LOG_KIND_ERROR,
    LOG_KIND_MESSAGE,
    LOG_KIND_HISTORY_RESET,
    LOG_KIND_RETAINED,
    LOG_KIND_REWIND,
    LOG_KIND_MODEL_CONTEXT,
    LOG_KIND_MODEL_FACTS,
};

/* As it is written. */
struct acp_str log_kind_name(enum log_kind kind);
/* Takes the names of version 0.1 too. */
enum log_kind log_kind_find(struct acp_str name);

#endif
