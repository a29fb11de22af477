/* What things are called, for people and for configuration. */
#include "model/dialect.h"

static const char *const effort_names[] = {
    [MODEL_EFFORT_DEFAULT] = "default", [MODEL_EFFORT_NONE] = "none",
    [MODEL_EFFORT_LOW] = "low",         [MODEL_EFFORT_MEDIUM] = "medium",
    [MODEL_EFFORT_HIGH] = "high",       [MODEL_EFFORT_XHIGH] = "xhigh",
    [MODEL_EFFORT_MAX] = "max",
};

const char *model_effort_name(enum model_effort effort)
{
    return effort_names[effort];
}

bool model_effort_find(struct acp_str name, enum model_effort *ret)
{
    for (unsigned i = 0; i < sizeof(effort_names) / sizeof(effort_names[0]); i++) {
        if (acp_str_is(name, effort_names[i])) {
            *ret = (enum model_effort) i;
            return true;
        }
    }
    return false;
}

const char *model_stop_name(enum model_stop stop)
{
    static const char *const names[] = {
        [MODEL_END] = "end",
        [MODEL_CALLS] = "calls",
        [MODEL_MAX_TOKENS] = "max tokens",
        [MODEL_REFUSAL] = "refusal",
        [MODEL_CANCELLED] = "cancelled",
        [MODEL_ERROR] = "error",
    };
    return names[stop];
}

const char *model_api_name(enum model_api api)
{
    const struct model_dialect *dialect = dialect_of(api);
    return dialect ? dialect->name : "demo";
}

const char *model_api_model(enum model_api api)
{
    const struct model_dialect *dialect = dialect_of(api);
    return dialect ? dialect->model : "demo";
}

bool model_api_find(struct acp_str name, enum model_api *ret)
{
    for (unsigned i = 0; i < MODEL_APIS; i++) {
        if (acp_str_is(name, model_api_name((enum model_api) i))) {
            *ret = (enum model_api) i;
            return true;
        }
    }
    return false;
}
