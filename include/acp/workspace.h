/*
 * workspace.h - the services that a client offers an agent: files inside the roots of a session,
 * and terminals, both under one policy.
 *
 * A client makes one workspace, opens it for each session, and passes it the requests that its role
 * receives:
 *
 *     #include <acp/workspace.h>
 *
 *     static struct acp_workspace *workspace;
 *
 *     // The `request` callback of the client's handler.
 *     void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
 *                     const struct acp_method *method, const void *params,
 *                     const struct acp_message *message, void *user)
 *     {
 *         if (!acp_workspace_serve(workspace, client, session, call, method, message))
 *             acp_client_respond_error(client, call, -32601, acp_str_from("Method not found"),
 *                                      acp_raw_from(NULL));
 *     }
 *
 *     // The callback of acp_client_new_session().
 *     void on_session(struct acp_client *client, struct acp_client_session *session,
 *                     const struct acp_outcome *outcome, void *user)
 *     {
 *         struct acp_str_list none = {0};
 *         struct acp_failure failure;
 *         if (!outcome->err && acp_workspace_open(workspace, session,
 *                                                 acp_client_session_cwd(session), none, &failure))
 *             acp_client_close(client, ACP_ERR_CLOSED);
 *     }
 *
 *     int make_workspace(uv_loop_t *loop, struct acp_client_options *client,
 *                        const struct acp_policy *policy)
 *     {
 *         struct acp_workspace_options options = {.policy = policy};
 *         client->read_files = true;
 *         client->write_files = true;
 *         client->terminals = true;
 *         return acp_workspace_new(loop, &options, &workspace);
 *     }
 *
 * The policy (acp/policy.h) decides on each action.  Where it says to ask, the `ask` callback asks
 * a person; without that callback the action is denied.
 *
 * A workspace may serve any number of clients.  It tells their sessions apart by the session
 * object, whatever ids the agents choose.  The roots, terminals and open requests of a session end
 * with the session.  A workspace and its clients may be freed in any order, also while requests are
 * open, but not from the callbacks of the workspace.  It belongs to the thread of its loop, like
 * its clients; acp/io.h has the other rules.
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

/* ---- Making one ----------------------------------------------------------------------------- */

struct acp_workspace;

/* An action about which a person is being asked. */
struct acp_pending_action;

/* All members are optional. */
struct acp_workspace_options {
    struct acp_files_options files; /* the guard is set by the workspace */
    struct acp_terminals_options terminals;
    /* For programs that show terminals: as in struct acp_terminals_handler. */
    void (*terminal_bytes)(struct acp_client_session *session, struct acp_str id,
                           struct acp_str bytes, void *user);
    void (*terminal_output)(struct acp_client_session *session, struct acp_str id,
                            struct acp_str text, void *user);
    void (*terminal_exited)(struct acp_client_session *session, struct acp_str id,
                            const struct acp_terminal_exit *how, void *user);
    /* Both must outlive the workspace. */
    const struct acp_policy
        *policy; /* NULL: everything in the roots, and any command, is allowed */
    const struct acp_ledger *ledger; /* the grants; may be NULL */
    /*
     * The policy wants a person to be asked.  Answer with acp_workspace_decide() or
     * acp_workspace_refuse(), in the callback or later.  Left out: denied.
     */
    void (*ask)(struct acp_workspace *workspace, struct acp_pending_action *pending,
                const struct acp_action *action, void *user);
    /*
     * No answer is needed any more: the session has ended, or the workspace is being freed.
     * pending is gone when this returns.  Required if the program answers later.
     */
    void (*ask_gone)(struct acp_workspace *workspace, struct acp_pending_action *pending,
                     void *user);
    /* The policy has denied an action, and the agent was told.  May be left out. */
    void (*denied)(struct acp_workspace *workspace, const struct acp_action *action,
                   const struct acp_decision *decision, void *user);
    void *user; /* for all callbacks */
};

/* options may be NULL and are copied.  ACP_ERR_NOMEM. */
ACP_API int acp_workspace_new_sized(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    size_t options_size, struct acp_workspace **ret);
static inline int acp_workspace_new(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    struct acp_workspace **ret)
{
    return acp_workspace_new_sized(loop, options, sizeof(*options), ret);
}
/* Releases all terminals and answers open requests with an error.  Takes NULL. */
ACP_API void acp_workspace_free(struct acp_workspace *workspace);

/* Uses another policy from now on.  Questions that are open stay open. */
ACP_API void acp_workspace_set_policy(struct acp_workspace *workspace,
                                      const struct acp_policy *policy);

/* ---- Sessions ------------------------------------------------------------------------------- */

/*
 * Begins to serve a session, and opens its roots, which are cwd and the directories.  If it is
 * served already, they replace its roots.
 *
 * Errors and failure as acp_roots_new(); ACP_ERR_STATE without failure if the session is ending.
 */
ACP_API int acp_workspace_open(struct acp_workspace *workspace, struct acp_client_session *session,
                               struct acp_str cwd, struct acp_str_list directories,
                               struct acp_failure *failure);
/*
 * Stops serving a session: releases its terminals and answers open requests with an error.  Done
 * automatically when the session ends.  Without effect if the session is not served.
 */
ACP_API void acp_workspace_close(struct acp_workspace *workspace,
                                 struct acp_client_session *session);

/*
 * Serves a request that `request` of the client's handler was given.  Returns true for fs/... and
 * terminal/..., which are answered now or later, also for sessions that are not served; false, with
 * nothing done, for all others.
 */
ACP_API bool acp_workspace_serve(struct acp_workspace *workspace, struct acp_client *client,
                                 struct acp_client_session *session, acp_call call,
                                 const struct acp_method *method,
                                 const struct acp_message *message);
/*
 * Reads a file in the roots of a session, to show it to the user, without asking the policy.
 * Arguments and errors as acp_files_read(); ACP_ERR_UNKNOWN if the session is not served.
 */
ACP_API int acp_workspace_read(struct acp_workspace *workspace, struct acp_client_session *session,
                               struct acp_str path, struct acp_buf *out, struct acp_str *ret_text,
                               struct acp_files_error *error);

/* ---- Questions ------------------------------------------------------------------------------ */

/*
 * The text that a write would put into the file; absent for other actions.  Valid until the `ask`
 * callback returns.
 */
ACP_API struct acp_str acp_workspace_new_text(const struct acp_pending_action *pending);
/*
 * Does the action, or denies it, and answers the agent.  Permission is for exactly the file or
 * directory that the path led to when the person was asked.  pending is gone afterwards.
 */
ACP_API void acp_workspace_decide(struct acp_pending_action *pending, bool allow);
/* Denies the action with a message for the agent.  pending is gone afterwards. */
ACP_API void acp_workspace_refuse(struct acp_pending_action *pending, const char *why);

#ifdef __cplusplus
}
#endif

#endif
