/*
 * history.h - what a session's model has been told and has said, as the model is told it again with
 * each request.
 *
 * It is valid for every service at all times, whatever is added: a tool call is followed by its
 * result, a result by nothing but results of the same message, and no message is empty.  Everything
 * that is added is copied, packed: a history takes little more memory than its text.
 */
#ifndef SRC_AGENT_LOOP_HISTORY_H
#define SRC_AGENT_LOOP_HISTORY_H

#include "acp/json.h"
#include "model/model.h"

struct history;

/* All that a history holds.  Nothing larger could be sent to a model. */
enum { HISTORY_MAX_BYTES = 128 * 1024 * 1024 };
/* The same for all histories that count in one total: a client can open many sessions. */
enum { HISTORY_MAX_TOTAL = 512 * 1024 * 1024 };

/* total, which may be NULL, has the bytes of all histories that were made with it. */
int history_new(size_t *total, struct history **ret);
/* Takes NULL. */
void history_free(struct history *history);
void history_clear(struct history *history);

/*
 * Adds a message behind the others.  Calls before it that have no result get a failed one; results
 * that answer no call, and texts that are empty, are left out, and a message without anything else
 * is not added.  ACP_ERR_LIMIT, which changes nothing, and ACP_ERR_NOMEM.
 */
int history_add(struct history *history, enum model_role role, const struct model_part *parts,
                size_t count);
/* What to tell a person of these errors, when they came of this history. */
const char *history_err_text(const struct history *history, int err);
/*
 * Gives a failed result, with that text, to every call of the last message; returns how many there
 * were, or ACP_ERR_NOMEM.
 */
int history_close_calls(struct history *history, struct acp_str why);
/* The messages from that one on go. */
void history_truncate(struct history *history, size_t count);
/*
 * All messages but the last keep ones go, and a message of the user with the summary comes in their
 * place.  A call is not parted from its result: more may be kept.
 */
int history_compact(struct history *history, struct acp_str summary, size_t keep);
/*
 * Removes what a service accepts only behind the prefix that it was made for, or only from the
 * model that made it: thoughts, and seals of everything else.  The words, calls and results stay.
 */
int history_strip_reasoning(struct history *history);

size_t history_count(const struct history *history);
/*
 * The messages from first on, in the arena; NULL when memory is out.  The texts are those of the
 * history, valid until it changes.
 */
struct model_message *history_messages(const struct history *history, size_t first,
                                       struct acp_arena *arena);
/* About how many tokens it is: nobody but the model can count them. */
uint64_t history_tokens(const struct history *history);

/* history_json.c: a message as one object of JSON, for the log; and added again. */
void history_write(const struct model_message *message, struct acp_json_writer *w);
int history_read(struct history *history, struct acp_raw object);

#endif
