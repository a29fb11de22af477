/*
 * actor-client.h - the inside of actor-client.
 *
 *   actor-client.c        the lines that it does
 *   actor-client-main.c   the agent process, logging in, reading the lines
 *   actor-client-show.c   what it prints: events of sessions, questions and requests of the agent
 */
#ifndef TESTS_INTEROP_ACTOR_CLIENT_H
#define TESTS_INTEROP_ACTOR_CLIENT_H

#include "acp/run.h"

extern struct acp_client *actor_client;

/* actor-client.c */
const char *name_of(const struct acp_client_session *session);
void forget_session(struct acp_client_session *session, void *user);
void do_line(char *line);

/* actor-client-main.c */
int do_login(char *rest);
int do_stop(char *rest);

/* actor-client-show.c: one JSON object a line */
struct acp_json_writer *begin_event(const char *event);
/* Nothing is written for NULL. */
void write_text(struct acp_json_writer *w, const char *key, const char *words);
void end_event(struct acp_json_writer *w);
void finish_events(void);
struct acp_client_handler make_handler(void);
/* Answers a request of the agent with the JSON of its result. */
int answer_call(acp_call call, struct acp_raw result);

#endif
