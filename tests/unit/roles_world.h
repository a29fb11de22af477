/*
 * roles_world.h - an agent and a client in memory, for tests of the two roles: both play a part
 * that is short enough to be known by heart, and what the client is shown is written to a log.
 */
#ifndef TESTS_UNIT_ROLES_WORLD_H
#define TESTS_UNIT_ROLES_WORLD_H

#include "helpers.h"

#include "acp/agent.h"
#include "acp/client.h"

struct world {
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_endpoint *a;
    struct acp_endpoint *c;
    uint64_t now;
    struct acp_session *agent_session;
    struct acp_client_session *session;
    struct acp_turn *turn; /* the turn that the agent has not ended */
    struct acp_buf log;    /* what the client was shown */
    struct acp_buf wire;   /* what the agent wrote */
    char stop[32];
    int ends;
    int end_err;
    int refusals;
    int err;
    int64_t code;
    acp_call question;
    int questions_gone;
    int answers; /* to what a turn asked */
    int answer_err;
    char answer[64];
    int scene; /* what the agent does with a prompt */
};

enum scene { SCENE_ECHO, SCENE_WAIT, SCENE_WORK, SCENE_ASK, SCENE_READ, SCENE_FAIL };

/* Not yet connected; each side speaks the versions that are given. */
struct world *world_new(unsigned agent_versions, unsigned client_versions);
void world_free(struct world *w);
/* Initializes. */
void world_start(struct world *w);
/* With a session, in one version. */
struct world *world_open(unsigned version);
/* Runs a test in both versions. */
void world_in_both(void (*test)(struct world *w));

/* Carries bytes both ways until both sides are silent. */
void world_carry(struct world *w);
void world_pass_time(struct world *w, uint64_t ms);
/* Sends a prompt, with which the agent does what the scene says. */
void world_say(struct world *w, int scene, const char *text);
/* A whole turn, the first of the session: "hello" is said back. */
void world_echo(struct world *w);
/* The log is this and nothing else; it is empty then. */
void world_expect_log(struct world *w, const char *expected);
/* As a C string, for strstr; to be freed. */
char *world_copy(struct acp_str text);

/* Callbacks for tests that call the roles themselves; user is the world. */
void world_on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
void world_on_file_answer(struct acp_turn *turn, const struct acp_outcome *outcome,
                          struct acp_str text, void *user);
void world_on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user);
void world_on_session(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user);
void world_on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                  const struct acp_outcome *outcome, void *user);

#endif
