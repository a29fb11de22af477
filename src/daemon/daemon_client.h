/*
 * daemon_client.h - a command's connection to the daemon of a session: prompts and their events,
 * cancel, set, status, stop.
 */
#ifndef SRC_DAEMON_DAEMON_CLIENT_H
#define SRC_DAEMON_DAEMON_CLIENT_H

#include <uv.h>

#include "daemon/daemon_protocol.h"

struct daemon_client;

struct daemon_client_handler {
    void (*event)(struct daemon_client *client, const struct session_event *event, void *user);
    /* The prompt was queued behind that many others. */
    void (*queued)(struct daemon_client *client, uint64_t turn, uint64_t ahead, void *user);
    /* Answered by daemon_client_answer(). */
    void (*question)(struct daemon_client *client, const struct permission_question *question,
                     void *user);
    /* Answered by daemon_client_respond(). */
    void (*elicitation)(struct daemon_client *client, const struct elicitation_question *question,
                        void *user);
    void (*question_gone)(struct daemon_client *client, uint64_t number, void *user);
    /* The daemon has gone, whatever was asked of it. */
    void (*gone)(struct daemon_client *client, void *user);
};

/* How a request ended: why is a sentence if err is not 0. */
typedef void daemon_reply_fn(struct daemon_client *client, int err, struct acp_raw result,
                             struct acp_str why, void *user);

/* ACP_ERR_CLOSED if no daemon has the session. */
int daemon_client_new(uv_loop_t *loop, const char *socket,
                      const struct daemon_client_handler *handler, void *user,
                      struct daemon_client **ret);
/* Calls nothing back.  Takes NULL. */
void daemon_client_free(struct daemon_client *client);

int daemon_client_prompt(struct daemon_client *client, const struct prompt_request *prompt,
                         daemon_reply_fn *done, void *user);
int daemon_client_set(struct daemon_client *client, struct acp_str name, struct acp_str value,
                      daemon_reply_fn *done, void *user);
/* "daemon/cancel", "daemon/cancel_own", "daemon/status", "daemon/stop". */
int daemon_client_request(struct daemon_client *client, const char *method, daemon_reply_fn *done,
                          void *user);

/* Kills the agent if it is busy with this client's prompt. */
int daemon_client_kill(struct daemon_client *client);

/* Sends all events after that sequence number, old and new; with answer, questions too. */
int daemon_client_attach(struct daemon_client *client, uint64_t after, bool answer,
                         daemon_reply_fn *done, void *user);

/* response is a CreateElicitationResponse. */
void daemon_client_respond(struct daemon_client *client, uint64_t number, struct acp_raw response);
void daemon_client_answer(struct daemon_client *client, uint64_t number, struct acp_str option);

#endif
