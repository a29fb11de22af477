/* openai.h - what the two APIs of OpenAI share. */
#ifndef SRC_MODEL_OPENAI_H
#define SRC_MODEL_OPENAI_H

#include "model/dialect.h"

/*
 * What the models take differs, and the lists do not tell.  As of 2026, by OpenAI's reference, its
 * SDKs and what the service answers:
 *   - o1, o3, o4-mini: low, medium, high
 *   - gpt-5: minimal as well; since gpt-5.1 none in its place, since gpt-5.2 xhigh
 *   - -codex: neither minimal nor none; -pro: of ours high alone is good for all of them
 *   - -chat: does not think, or cannot be told how much
 *   - since gpt-5.4, chat completions refuse functions together with any effort but none, also
 *     when none was named
 */

/* Whether it is one of OpenAI's models that think before they speak. */
bool openai_thinks(struct acp_str model);
/* Whether an effort may be named: to those, and to models of others, who know best. */
bool openai_takes_effort(struct acp_str model);
/* Whether, by chat completions, it calls functions only when it does not think. */
bool openai_thinks_or_calls(struct acp_str model);
/* What such a model takes for that effort. */
const char *openai_effort(struct acp_str model, enum model_effort effort);
/* "key":"data:image/png;base64,...". */
void openai_put_data_url(struct acp_json_writer *w, const char *key, const struct model_part *part);
/* The arguments of a call as a text that is JSON. */
void openai_put_arguments(struct acp_json_writer *w, const struct model_part *call);
/* The text of a result; there is no other place to say that it is an error. */
void openai_put_result_text(struct acp_json_writer *w, const char *key,
                            const struct model_part *result);

#endif
