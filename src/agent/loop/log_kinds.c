/* log_kinds.c - the names of the kinds of events, now and in version 0.1. */
#include "agent/loop/log_kinds.h"

static const struct {
    const char *name;
    const char *old_name; /* NULL: the same */
} kinds[] = {
    [LOG_KIND_OTHER] = {"", NULL},
    [LOG_KIND_PROMPT] = {"prompt", NULL},
    [LOG_KIND_UPDATE] = {"update", NULL},
    [LOG_KIND_UPDATE2] = {"update2", NULL},
    [LOG_KIND_OUTPUT] = {"output", NULL},
    [LOG_KIND_OUTPUT2] = {"output2", NULL},
    [LOG_KIND_STOP] = {"stop", NULL},
    [LOG_KIND_ERROR] = {"error", NULL},
    [LOG_KIND_MESSAGE] = {"message", "said"},
    [LOG_KIND_HISTORY_RESET] = {"history_reset", "forget"},
    [LOG_KIND_RETAINED] = {"retained", "kept"},
    [LOG_KIND_REWIND] = {"rewind", NULL},
    [LOG_KIND_MODEL_CONTEXT] = {"model_context", NULL},
    [LOG_KIND_MODEL_FACTS] = {"model_facts", NULL},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct acp_str log_kind_name(enum log_kind kind)
{
    return acp_str_from(kinds[kind].name);
}

enum log_kind log_kind_find(struct acp_str name)
{
    for (size_t i = LOG_KIND_OTHER + 1; i < KINDS; i++)
        if (acp_str_is(name, kinds[i].name) ||
            (kinds[i].old_name && acp_str_is(name, kinds[i].old_name)))
            return (enum log_kind) i;
    return LOG_KIND_OTHER;
}
