/*
 * daemon.h - the process behind the sessions of `acp prompt`, one for each: it keeps the agent
 * running between commands, runs their prompts one after the other, and ends by itself when there
 * was no activity for a while.
 *
 * Commands connect to a Unix socket in a folder that only the user can enter, and exchange JSON-RPC
 * messages:
 *
 *   to the daemon
 *     daemon/prompt      {"body":{...},"timeoutMs":N,"approve":WORD,"ask":BOOL,"wait":BOOL}
 *                        with wait, answered when the turn has ended, after all its events:
 *                        {"turn":N,"kind":WORD,"stop":TEXT,"message":TEXT,"denied":BOOL,
 *                        "unasked":BOOL,"cancelled":BOOL}; without, at once:
 *                        {"turn":N,"ahead":N}
 *     daemon/attach      {"after":N,"answer":BOOL}  answered by {}; then all events with greater
 *                        sequence numbers follow, old ones first; with answer, questions too
 *     daemon/cancel      {}  {"cancelled":BOOL}: ends the turn that runs, of any client
 *     daemon/cancel_own  {"now":BOOL}  ends the client's turn, and removes its prompts that are
 *                        queued; now: kills the agent
 *     daemon/set         {"name":TEXT,"value":TEXT}
 *     daemon/status      {}  {"pid":N,"agentPid":N,"turn":N,"queued":N,"state":TEXT,
 *                        "agentSession":TEXT,"idleMs":N}
 *     daemon/stop        {}  ends the daemon and the agent
 *   to the client
 *     daemon/queued      {"turn":N,"ahead":N}: notification
 *     daemon/event       an event (transcript/event.h): notification
 *     daemon/question    {"title":TEXT,"description":TEXT,"kind":KIND,"command":TEXT,
 *                        "paths":[...],"options":[{"id":ID,"name":TEXT,"kind":KIND}]}, answered by
 *                        {"option":ID}; cancelled when another client was faster
 *     daemon/elicitation {"agent":NAME,"protocol":1|2,"request":{...}}: what the agent asks the
 *                        user by a form or a web page, as it came; answered by the response of the
 *                        protocol; cancelled likewise
 */
#ifndef SRC_DAEMON_DAEMON_H
#define SRC_DAEMON_DAEMON_H

#include "conversation/conversation.h"

/* What a client's prompts may do without asking. */
enum permit { PERMIT_ASK, PERMIT_READS, PERMIT_ALL, PERMIT_NONE, PERMIT_COUNT };

struct daemon_options {
    struct conversation_options conversation;
    const char *store_path; /* of the session log; NULL: none is kept */
    unsigned store_flags;   /* enum store_open_flags */
    const struct acp_policy *policies[PERMIT_COUNT];
    const char *socket; /* its path; see daemon_socket_path() */
    uint64_t ttl_ms;    /* after so much time without activity it ends; 0: never */
    size_t max_waiting; /* prompts in the queue; 0: 100 */
};

/*
 * The path of the socket of a session's daemon, in a folder that is created for this user alone:
 * the first that can be used of $XDG_RUNTIME_DIR/acp, /tmp/acp-UID and acp/run in the state folder.
 * One that somebody else has made is passed over.  ACP_ERR_STATE with advice if there is none.
 */
enum { DAEMON_PATH_SIZE = 108 };
int daemon_socket_path(struct acp_str session, char ret[DAEMON_PATH_SIZE],
                       struct acp_failure *failure);

/*
 * Calls back for each socket in that folder, with the session and whether a daemon listens.
 * ACP_ERR_STATE with advice if the folder cannot be used.
 */
typedef void daemon_visit(struct acp_str session, bool listens, void *user);
int daemon_list(daemon_visit *visit, void *user, struct acp_failure *failure);

struct runtime_folder {
    char path[4096];
    size_t base_len; /* of what must exist; the folders after it are created */
};

/* Chooses the folder; name_len is the length of the names in it. */
int runtime_folder_choose(const struct runtime_folder *candidates, size_t count, size_t name_len,
                          const char **ret, struct acp_failure *failure);

/*
 * Starts the daemon as a process of its own that outlives this one, and returns when clients can
 * connect.  It is forked, so everything in the options stays valid there; the caller must have no
 * threads and no running loop.  ACP_ERR_STATE with a sentence if it could not be started, or if
 * another process has the session.
 */
int daemon_launch(const struct daemon_options *options, struct acp_failure *failure);

#endif
