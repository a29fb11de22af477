/*
 * recording.h - the messages between acp and an agent in a file, for acp trace: one per line, in
 * the order in which they were sent and received, without secrets (config/redact.h).
 */
#ifndef SRC_CMD_RECORDING_H
#define SRC_CMD_RECORDING_H

#include "acp/base.h"

struct recording;

/* The longest message that is recorded. */
enum { RECORDING_MAX_LINE = 64 * 1024 * 1024 };

/* Replaces the file, which only the user may read.  0 or -errno. */
int recording_open(const char *path, struct recording **ret);
/* For struct agent_process_endpoint; user is the recording. */
void recording_add(bool is_sent, struct acp_str bytes, void *user);
/* Writes what is left.  0, or the first error: -errno.  Takes NULL. */
int recording_close(struct recording *recording);

#endif
