/* proxy_log.h - the log of `acp proxy` on standard error, without secrets. */
#ifndef SRC_CMD_PROXY_LOG_H
#define SRC_CMD_PROXY_LOG_H

#include "hub/hub.h"

struct proxy_log {
    enum hub_log_level level; /* the lowest that is written */
    bool json;
    const char *agent; /* its name */
};

/* Writes an entry; what may be a secret is replaced, see config/redact.h. */
void proxy_log_write(const struct proxy_log *log, const struct hub_log_entry *entry);

#endif
