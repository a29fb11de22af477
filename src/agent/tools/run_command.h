/* run_command.h - between run_command.c and background.c. */
#ifndef SRC_AGENT_TOOLS_RUN_COMMAND_H
#define SRC_AGENT_TOOLS_RUN_COMMAND_H

#include "agent/toolkit/tool.h"

/* Bytes that are kept of a command's output: its end. */
enum { COMMAND_OUTPUT_BYTES = 48 * 1024 };

/* Prints the output for the model. */
void command_print_output(struct tool_run *run, struct acp_str output, bool truncated);
/* A few words on how it ended: by itself, or in any way. */
void command_exit(const struct acp_terminal_exit *how, char *out, size_t size);
void command_how(const struct acp_job_result *result, char *out, size_t size);

/* Starts a background command and ends the run.  Takes the sandbox, which may be NULL. */
void background_start(struct tool_run *run, const struct acp_job_options *options,
                      struct sandbox_run *sandbox_run);

#endif
