/*
 * daemon.h - the process that owns a session: it keeps the agent warm between commands, takes their
 * prompts one after the other, and ends by itself when nobody has come for a while.
 *
 * Commands visit it over a socket in a folder that only the user can enter.  What they say to each
 * other is JSON-RPC, as everywhere here:
 *
 *   client -> owner   owner/prompt  {"body":{...},"timeoutMs":N,"approve":WORD,"ask":BOOL,
 *                                     "wait":BOOL}
 *                                    answered when the prompt has ended, or at once without wait:
 *                                    {"request":N,"ahead":N} or {"request":N,"kind":WORD,
 *                                     "stop":TEXT,"message":TEXT,"denied":BOOL,"unasked":BOOL,
 *                                     "cancelled":BOOL}
 *                      owner/cancel  {}              {"cancelled":BOOL}: whoever's prompt is at
 *                      work owner/give-up {}              the client's own prompts are cancelled,
 *                      or
 *                                                    taken back where they still wait
 *                      owner/set     {"name":TEXT,"value":TEXT}
 *                      owner/status  {}              {"pid":N,"agentPid":N,"request":N,"waiting":N,
 *                                                     "agentSession":TEXT,"idleMs":N}
 *                      owner/stop    {}              the owner ends, with the agent
 *   owner -> client   owner/queued  {"request":N,"ahead":N}
 *                      owner/record  an event (event.h)
 *                      owner/ask     {"title":TEXT,"description":TEXT,"kind":KIND,"command":TEXT,
 *                                     "paths":[...],"options":[{"id":ID,"name":TEXT,"kind":KIND}]}
 *                                    answered by {"option":ID} or {"allow":BOOL}
 */
#ifndef SRC_DAEMON_DAEMON_H
#define SRC_DAEMON_DAEMON_H

#include "conversation/conversation.h"

/* How far the prompts of a client are approved without asking. */
enum permit { PERMIT_ASK, PERMIT_READS, PERMIT_ALL, PERMIT_NONE, PERMIT_COUNT };

struct daemon_options {
    struct conversation_options conversation;
    const struct acp_policy *policies[PERMIT_COUNT];
    const char *socket; /* its path; see daemon_socket_path() */
    uint64_t ttl_ms;    /* how long it waits for clients; 0: for ever */
    size_t max_waiting; /* prompts in the queue; 0: 100 */
};

/*
 * The path of the socket of a session's owner; its folder is made, for this user alone.  It is the
 * first that can be used of $XDG_RUNTIME_DIR/acp, /tmp/acp-UID and acp/run in the state folder; one
 * that somebody else has made is passed over.  ACP_ERR_STATE with what to do when there is none.
 */
enum { DAEMON_PATH_SIZE = 108 };
int daemon_socket_path(struct acp_str session, char ret[DAEMON_PATH_SIZE],
                       struct acp_failure *failure);

struct runtime_folder {
    char path[4096];
    size_t base_len; /* of what must be there; the folders behind it are made */
};

/* The choice itself: room is needed for a name of that length. */
int runtime_folder_choose(const struct runtime_folder *candidates, size_t count, size_t name_len,
                          const char **ret, struct acp_failure *failure);

/*
 * Starts the owner as a process of its own that outlives this one, and returns when it can be
 * visited.  It is made by fork, so everything in the options stays valid there; the caller must
 * have no threads and no loop at work.  ACP_ERR_STATE with a sentence when it could not be started,
 * or when somebody else owns the session.
 */
int daemon_launch(const struct daemon_options *options, struct acp_failure *failure);

#endif
