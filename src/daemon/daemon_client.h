/*
 * daemon_client.h - a command's connection to the daemon of a session: prompts and their events,
 * cancel, set, status, stop.
 */
#ifndef SRC_DAEMON_DAEMON_CLIENT_H
#define SRC_DAEMON_DAEMON_CLIENT_H

#include <uv.h>

#include "daemon/daemon_protocol.h"

struct visit;

struct visit_handler {
    void (*record)(struct visit *visit, const struct record *record, void *user);
    /* The prompt waits behind so many others. */
    void (*queued)(struct visit *visit, uint64_t request, uint64_t ahead, void *user);
    /* Answered by visit_answer(). */
    void (*question)(struct visit *visit, const struct talk_question *question, void *user);
    void (*question_gone)(struct visit *visit, uint64_t number, void *user);
    /* The owner has gone, whatever was asked of it. */
    void (*gone)(struct visit *visit, void *user);
};

/* How a request to the owner ended: why is a sentence when err is not 0. */
typedef void visit_fn(struct visit *visit, int err, struct acp_raw result, struct acp_str why,
                      void *user);

/* ACP_ERR_CLOSED when nobody owns the session. */
int visit_new(uv_loop_t *loop, const char *socket, const struct visit_handler *handler, void *user,
              struct visit **ret);
/* Calls nothing back.  Takes NULL. */
void visit_free(struct visit *visit);

int visit_prompt(struct visit *visit, const struct wire_prompt *prompt, visit_fn *done, void *user);
int visit_set(struct visit *visit, struct acp_str name, struct acp_str value, visit_fn *done,
              void *user);
/* "owner/cancel", "owner/give-up", "owner/status", "owner/stop". */
int visit_ask(struct visit *visit, const char *method, visit_fn *done, void *user);

void visit_answer(struct visit *visit, uint64_t number, struct acp_str option);

#endif
