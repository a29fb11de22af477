/*
 * output_schema.h - the final answer: --schema, which checks it against a JSON Schema and asks the
 * agent again when it does not match, and --output.
 */
#ifndef SRC_CMD_OUTPUT_SCHEMA_H
#define SRC_CMD_OUTPUT_SCHEMA_H

#include "cmd/output_file.h"

struct output_schema;

/*
 * Reads the schema.  ret_wish is what the agent is told about it with the prompt; it lives as long
 * as the answer.  Prints what is wrong and returns the exit status.
 */
int output_schema_new(const char *schema_file, struct output_schema **ret,
                      struct acp_str *ret_wish);
/* Takes NULL. */
void output_schema_free(struct output_schema *output);

/*
 * Looks at what the agent said.  True when it is to be asked again: the body of that prompt is
 * appended then.  False when the answer is good, or when it was asked often enough.
 */
bool output_schema_retry(struct output_schema *output, struct acp_str said, struct acp_buf *body);
/* EXIT_OK when the answer is good; otherwise says what is wrong with it. */
int output_schema_status(const struct output_schema *output);
/* The JSON, without what was said around it; empty when the answer is not good. */
struct acp_str output_schema_value(const struct output_schema *output);

/* Writes the answer to the file, whose name is for the complaint when that fails. */
int output_file_write_answer(struct output_file *file, const char *path, struct acp_str text);

#endif
