/* daemon_protocol.h - what owner and client say to each other, written and read in one place. */
#ifndef SRC_DAEMON_DAEMON_PROTOCOL_H
#define SRC_DAEMON_DAEMON_PROTOCOL_H

#include "daemon/daemon.h"

/* A prompt as a client asks for it. */
struct prompt_request {
    struct acp_raw body;
    uint64_t timeout_ms;
    enum permit permit;
    bool ask;  /* there is a person at the client's terminal */
    bool wait; /* for the end; otherwise only for the place in the queue */
};
void daemon_write_prompt(struct acp_json_writer *w, const struct prompt_request *prompt);
int daemon_read_prompt(struct acp_raw params, struct acp_arena *arena, struct prompt_request *ret);

void daemon_write_end(struct acp_json_writer *w, uint64_t request, const struct prompt_end *end);
int daemon_read_end(struct acp_raw result, struct acp_arena *arena, uint64_t *ret_request,
                    struct prompt_end *ret);

void daemon_write_question(struct acp_json_writer *w, const struct permission_question *question);
/* Everything is in the arena, also the action. */
int daemon_read_question(struct acp_raw params, struct acp_arena *arena,
                         struct permission_question *ret);

struct daemon_status {
    uint64_t pid;
    uint64_t agent_pid;
    uint64_t request; /* the prompt at work, or 0 */
    uint64_t waiting;
    uint64_t idle_ms;
    struct acp_str agent_session;
};
void daemon_write_status(struct acp_json_writer *w, const struct daemon_status *status);
int daemon_read_status(struct acp_raw result, struct acp_arena *arena, struct daemon_status *ret);

/* Members of an object by name; absent ones leave *ret as it is. */
int daemon_read_text(struct acp_raw object, const char *name, struct acp_arena *arena,
                     struct acp_str *ret);
int daemon_read_number(struct acp_raw object, const char *name, uint64_t *ret);
int daemon_read_flag(struct acp_raw object, const char *name, bool *ret);

/* "ask", "reads", "all", "none". */
const char *permit_name(enum permit permit);
bool permit_find(struct acp_str name, enum permit *ret);

#endif
