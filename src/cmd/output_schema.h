/*
 * output_schema.h - the final answer: --schema, which checks it against a JSON Schema and asks the
 * agent again when it does not match, and --output.
 */
#ifndef SRC_CMD_OUTPUT_SCHEMA_H
#define SRC_CMD_OUTPUT_SCHEMA_H

#include "cmd/output_file.h"

struct output_schema;

/*
 * Reads the schema.  *ret_instructions, to be appended to the prompt, lives as long as the object.
 * Prints errors and returns the exit status.
 */
int output_schema_new(const char *schema_file, struct output_schema **ret,
                      struct acp_str *ret_instructions);
/* Takes NULL. */
void output_schema_free(struct output_schema *output);

/*
 * Validates an answer.  True when the agent should correct it: the body of that prompt has been
 * appended.  False when the answer matches, or after too many attempts.
 */
bool output_schema_retry(struct output_schema *output, struct acp_str answer, struct acp_buf *body);
/* EXIT_OK when the last answer matched; otherwise prints its errors. */
int output_schema_status(const struct output_schema *output);
/* The JSON value, without the text around it; empty when the answer does not match. */
struct acp_str output_schema_value(const struct output_schema *output);

/* Writes the answer to the file; path is for the error message. */
int output_file_write_answer(struct output_file *file, const char *path, struct acp_str text);

#endif
