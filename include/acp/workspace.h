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
 *             acp_client_respond_error(client, call, -32601, acp_str_from("Method not found"),
 *                   acp_raw_from(NULL));
 *     }
 *
 * The policy decides on each action; where it says to ask, the `ask` callback asks a person, and
 * without one the answer is no.
 *
 * One workspace may serve any number of clients; their sessions are told apart by the session
 * object, whatever ids the agents choose.  A session's roots, terminals and open requests end with
 * the session.  The workspace and its clients may be freed in any order, also while requests are
 * open.  One workspace, with its clients, belongs to the thread of its loop.
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
    /* For a program that shows the terminals of its agents; all may be left out (terminals.h). */
    void (*terminal_bytes)(struct acp_client_session *session, struct acp_str id,
                           struct acp_str bytes, void *user);
    void (*terminal_output)(struct acp_client_session *session, struct acp_str id,
                            struct acp_str text, void *user);
    void (*terminal_exited)(struct acp_client_session *session, struct acp_str id,
                            const struct acp_terminal_exit *how, void *user);
    const struct acp_policy *policy; /* NULL: whatever lies in the roots is allowed */
    const struct acp_ledger *ledger; /* may be NULL */
    /* Answer with acp_workspace_decide(), now or later.  Left out: no. */
    void (*ask)(struct acp_workspace *workspace, struct acp_pending_action *pending,
                const struct acp_action *action, void *user);
    /*
     * The question was refused because its session has ended or the workspace is being freed;
     * pending is gone after this.  Needed by a program that answers later.
     */
    void (*ask_gone)(struct acp_workspace *workspace, struct acp_pending_action *pending,
                     void *user);
    /* The rules have refused something, and the agent was told; may be NULL. */
    void (*denied)(struct acp_workspace *workspace, const struct acp_action *action,
                   const struct acp_decision *decision, void *user);
    void *user; /* for all of the callbacks */
};

/* The policy and the ledger must outlive it. */
ACP_API int acp_workspace_new_sized(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    size_t options_size, struct acp_workspace **ret);
static inline int acp_workspace_new(uv_loop_t *loop, const struct acp_workspace_options *options,
                                    struct acp_workspace **ret)
{
    return acp_workspace_new_sized(loop, options, sizeof(*options), ret);
}
/* Ends all terminals and refuses what is open.  Takes NULL. */
ACP_API void acp_workspace_free(struct acp_workspace *workspace);

/* Other rules from now on; what waits for a person is not touched. */
ACP_API void acp_workspace_set_policy(struct acp_workspace *workspace,
                                      const struct acp_policy *policy);

/*
 * Serves a session from now on: its roots are opened.  For a session that is served already they
 * replace the ones it had.  Errors as acp_roots_new(), and ACP_ERR_STATE for a session that is
 * ending.
 */
ACP_API int acp_workspace_open(struct acp_workspace *workspace, struct acp_client_session *session,
                               struct acp_str cwd, struct acp_str_list directories,
                               struct acp_failure *failure);
/*
 * Stops serving a session: ends its terminals and refuses what is open.  Happens by itself when the
 * session ends.  Without effect for a session that is not served.
 */
ACP_API void acp_workspace_close(struct acp_workspace *workspace,
                                 struct acp_client_session *session);

/* Answers fs/ and terminal/ requests; false, with nothing done, for all others. */
ACP_API bool acp_workspace_serve(struct acp_workspace *workspace, struct acp_client *client,
                                 struct acp_client_session *session, acp_call call,
                                 const struct acp_method *method,
                                 const struct acp_message *message);
/*
 * Reads a file of the session as it is now, to show it to the user: inside of the session's roots,
 * without asking the policy.  Returns as acp_files_read() does; ACP_ERR_UNKNOWN: no such session.
 */
ACP_API int acp_workspace_read(struct acp_workspace *workspace, struct acp_client_session *session,
                               struct acp_str path, struct acp_buf *out, struct acp_str *ret_text,
                               struct acp_files_error *error);

/*
 * The text that a pending write would put into the file; absent for other actions.  Valid until the
 * `ask` callback returns.
 */
ACP_API struct acp_str acp_workspace_new_text(const struct acp_pending_action *pending);
/* What the person said; pending is gone afterwards. */
ACP_API void acp_workspace_decide(struct acp_pending_action *pending, bool allow);
/* Refuses it for a reason that the agent is told; pending is gone afterwards. */
ACP_API void acp_workspace_refuse(struct acp_pending_action *pending, const char *why);

#ifdef __cplusplus
}
#endif

#endif
