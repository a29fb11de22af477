/*
 * workspace.h - what a client offers an agent, put together: files inside of the session's roots
 * and terminals, both under one policy.
 *
 * A client program makes one workspace, opens it for each session, and hands it the requests that
 * its role receives:
 *
 *     static void on_request(client, session, call, method, params, message, me)
 *     {
 *         if (!acp_workspace_serve(me->workspace, client, session, call, method, message))
 *             acp_client_refuse(client, call, -32601, acp_str("Method not found"), acp_raw(NULL));
 *     }
 *
 * The policy decides on each action; where it says to ask, the `ask` callback asks a person, and
 * without one the answer is no.
 */
#ifndef ACP_WORKSPACE_H
#define ACP_WORKSPACE_H

#include "acp/client.h"
#include "acp/files.h"
#include "acp/policy.h"
#include "acp/terminals.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_workspace;

/* An action that waits for a person's word. */
struct acp_pending_action;

struct acp_workspace_options {
    struct acp_files_options files;
    struct acp_terminals_options terminals;
    struct acp_terminals_handler terminals_handler; /* for who shows terminals */
    const struct acp_policy *policy; /* NULL: whatever lies in the roots is allowed */
    const struct acp_ledger *ledger; /* may be NULL */
    /* Answer with acp_workspace_decide(), now or later.  Left out: no. */
    void (*ask)(struct acp_workspace *workspace, struct acp_pending_action *pending,
                const struct acp_action *action, void *user);
    /* The rules have refused something, and the agent was told; may be NULL. */
    void (*denied)(struct acp_workspace *workspace, const struct acp_action *action,
                   const struct acp_decision *decision, void *user);
    void *user; /* for ask, denied and terminals_handler */
};

/* The policy and the ledger must outlive it. */
ACP_API int acp_workspace_new_sized(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    size_t options_size, struct acp_workspace **ret);
static inline int acp_workspace_new(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    struct acp_workspace **ret)
{
    return acp_workspace_new_sized(loop, options, sizeof(*options), ret);
}
/* Ends all terminals.  To be freed before the clients that it serves.  Takes NULL. */
ACP_API void acp_workspace_free(struct acp_workspace *workspace);

/* Other rules from now on; what waits for a person is not touched. */
ACP_API void acp_workspace_set_policy(struct acp_workspace *workspace,
                                      const struct acp_policy *policy);

/* A session begins: its roots are opened.  Errors as acp_roots_new(). */
ACP_API int acp_workspace_open(struct acp_workspace *workspace, struct acp_str session,
                               struct acp_str cwd, struct acp_str_list directories,
                               struct acp_failure *failure);
/* It has ended, and so do its terminals; what waits for a person is refused. */
ACP_API void acp_workspace_close(struct acp_workspace *workspace, struct acp_str session);

/* Answers fs/ and terminal/ requests; false, with nothing done, for all others. */
ACP_API bool acp_workspace_serve(struct acp_workspace *workspace, struct acp_client *client,
                                 struct acp_client_session *session, acp_call call,
                                 const struct acp_method *method,
                                 const struct acp_message *message);
/* What the person said; pending is gone afterwards. */
ACP_API void acp_workspace_decide(struct acp_pending_action *pending, bool allow);
/* Refuses it for a reason that the agent is told; pending is gone afterwards. */
ACP_API void acp_workspace_refuse(struct acp_pending_action *pending, const char *why);

#ifdef __cplusplus
}
#endif

#endif
