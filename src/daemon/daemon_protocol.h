/* daemon_protocol.h - the messages between a daemon and its clients, written and read. */
#ifndef SRC_DAEMON_DAEMON_PROTOCOL_H
#define SRC_DAEMON_DAEMON_PROTOCOL_H

#include "daemon/daemon.h"

/* A prompt of a client. */
struct prompt_request {
    struct acp_raw body;
    uint64_t timeout_ms;
    enum permit permit;
    bool ask;  /* there is a person at the client's terminal */
    bool wait; /* for the end of the turn; otherwise only for the place in the queue */
};
void daemon_write_prompt(struct acp_json_writer *w, const struct prompt_request *prompt);
int daemon_read_prompt(struct acp_raw params, struct acp_arena *arena, struct prompt_request *ret);

void daemon_write_end(struct acp_json_writer *w, uint64_t turn, const struct prompt_end *end);
int daemon_read_end(struct acp_raw result, struct acp_arena *arena, uint64_t *ret_turn,
                    struct prompt_end *ret);

void daemon_write_question(struct acp_json_writer *w, const struct permission_question *question);
/* Everything is in the arena, also the action. */
int daemon_read_question(struct acp_raw params, struct acp_arena *arena,
                         struct permission_question *ret);

void daemon_write_elicitation(struct acp_json_writer *w,
                              const struct elicitation_question *question);
int daemon_read_elicitation(struct acp_raw params, struct acp_arena *arena,
                            struct elicitation_question *ret);

struct daemon_status {
    uint64_t pid;
    uint64_t agent_pid;
    uint64_t turn; /* that runs, or 0 */
    uint64_t queued;
    uint64_t idle_ms;
    struct acp_str state; /* as conversation_state_name() has it */
    struct acp_str agent_session;
};
void daemon_write_status(struct acp_json_writer *w, const struct daemon_status *status);
int daemon_read_status(struct acp_raw result, struct acp_arena *arena, struct daemon_status *ret);

/* "ask", "reads", "all", "none". */
const char *permit_name(enum permit permit);
bool permit_find(struct acp_str name, enum permit *ret);

#endif
