/* openai.h - what the two APIs of OpenAI share. */
#ifndef SRC_MODEL_OPENAI_H
#define SRC_MODEL_OPENAI_H

#include "model/dialect.h"

/* Whether it is one of OpenAI's models that think before they speak. */
bool openai_thinks(struct acp_str model);
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
