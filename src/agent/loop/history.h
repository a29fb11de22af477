/*
 * history.h - the conversation of a session with its model, which is sent with each request.
 *
 * It is valid for every service at all times, whatever is added: a tool call is followed by its
 * result, results come first in their message, and no message is empty.  What is added is copied
 * and packed: a history takes little more memory than its text.
 */
#ifndef SRC_AGENT_LOOP_HISTORY_H
#define SRC_AGENT_LOOP_HISTORY_H

#include "acp/json.h"
#include "model/model.h"

struct history;

/* Of one history.  No model takes more. */
enum { HISTORY_MAX_BYTES = 128 * 1024 * 1024 };
/* Of all histories that share a total: a client can open many sessions. */
enum { HISTORY_MAX_TOTAL = 512 * 1024 * 1024 };

/* total, which may be NULL, counts the bytes of all histories made with it. */
int history_new(size_t *total, struct history **ret);
/* Takes NULL. */
void history_free(struct history *history);
void history_clear(struct history *history);

/*
 * Appends a message.  Earlier calls without a result get a failed one.  Results without a call and
 * empty texts are left out, and so is a message that has nothing else.  ACP_ERR_LIMIT, which
 * changes nothing, and ACP_ERR_NOMEM.
 */
int history_add(struct history *history, enum model_role role, const struct model_part *parts,
                size_t count);
/* These errors of this history, for people. */
const char *history_err_text(const struct history *history, int err);
/*
 * Gives a failed result with this text to every call of the last message.  Returns their number, or
 * ACP_ERR_NOMEM.
 */
int history_close_calls(struct history *history, struct acp_str why);
/* Removes all messages but the first `count`. */
void history_truncate(struct history *history, size_t count);
/*
 * Replaces all messages but the last `keep` by a message of the user with the summary.  Calls stay
 * with their results, so more messages may be kept.
 */
int history_compact(struct history *history, struct acp_str summary, size_t keep);
/*
 * Removes what a service accepts only after the prefix that it was made for, or only from the model
 * that made it: thoughts, and the seals of other parts.  Texts, calls and results stay.
 */
int history_strip_reasoning(struct history *history);

size_t history_count(const struct history *history);
/*
 * The messages from `first` on, in the arena, with room for one more; NULL if out of memory.  Their
 * texts are valid until the history changes.
 */
struct model_message *history_messages(const struct history *history, size_t first,
                                       struct acp_arena *arena);
/* An estimate: only the model can count its tokens. */
uint64_t history_tokens(const struct history *history);

/* history_json.c: a message as a JSON object for the log, and adding it from there. */
void history_write(const struct model_message *message, struct acp_json_writer *w);
int history_read(struct history *history, struct acp_raw object);

#endif
