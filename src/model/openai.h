/* openai.h - what the two APIs of OpenAI share. */
#ifndef SRC_MODEL_OPENAI_H
#define SRC_MODEL_OPENAI_H

#include "model/dialect.h"

/* The name without the vendor in front of it, as OpenRouter writes it: "openai/gpt-5". */
struct acp_str openai_without_vendor(struct acp_str model);
/* Whether it is one of OpenAI's models, also of those with open weights. */
bool openai_is_own(struct acp_str model);
/* Whether it is one of OpenAI's models that think before they speak. */
bool openai_thinks(struct acp_str model);
/* Whether its thoughts can be summed up for people. */
bool openai_sums_up(struct acp_str model);
/* Whether, by chat completions, it calls functions only when it does not think. */
bool openai_thinks_or_calls(struct acp_str model);
/*
 * What the model takes for that effort; NULL: nothing is to be said.  docs/models.md has the
 * sources.
 */
const char *openai_effort(const struct model_ask *ask);

/*
 * "prompt_cache_key": requests with the same one go to the server that has kept what they begin
 * with.  It is at most 64 characters.
 */
void openai_put_cache_key(struct acp_json_writer *w, const struct model_ask *ask);
/* "key":"data:image/png;base64,...". */
void openai_put_data_url(struct acp_json_writer *w, const char *key, const struct model_part *part);
/* "arguments": those of a call as a text that is JSON. */
void openai_put_arguments(struct acp_json_writer *w, const struct model_part *call);
/* The text of a result; there is no other place to say that it is an error. */
void openai_put_result_text(struct acp_json_writer *w, const char *key,
                            const struct model_part *result);

#endif
