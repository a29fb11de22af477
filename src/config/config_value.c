/* config_value.c - parses plain values from a variable, a flag or a file. */
#include <stdio.h>

#include "config/config_internal.h"
#include "config/paths.h"
#include "text/duration.h"

#define MAX_NUMBER ((int64_t) 1000 * 1000 * 1000)

/* The number of leading digits; 0 if there are none or too many. */
static size_t read_digits(struct acp_str text, int64_t most, int64_t *ret)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) {
        value = value * 10 + (text.ptr[i] - '0');
        if (value > most)
            return 0;
    }
    *ret = value;
    return i;
}

static bool read_number(struct acp_str text, int64_t *ret)
{
    return text.len > 0 && read_digits(text, MAX_NUMBER, ret) == text.len;
}

static bool read_duration(struct acp_str text, int64_t *ret)
{
    uint64_t ms;
    if (!duration_read(text, 1000, &ms))
        return false;
    *ret = (int64_t) ms;
    return true;
}

static bool read_bool(struct acp_str text, int64_t *ret)
{
    if (!config_word_in("true|yes|on|1", '|', text, NULL) &&
        !config_word_in("false|no|off|0", '|', text, NULL))
        return false;
    *ret = config_word_in("true|yes|on|1", '|', text, NULL);
    return true;
}

static bool make_value(struct config *config, const struct config_key *key, struct acp_str text,
                       const char *base, struct config_value *value)
{
    size_t choice = 0;
    switch (key->type) {
    case CONFIG_TYPE_TEXT:
        return text.len > 0;
    case CONFIG_TYPE_PATH:
        if (text.len > 0)
            value->text = paths_expand(&config->arena, text, base, config->home);
        return text.len > 0 && value->text;
    case CONFIG_TYPE_CHOICE:
        if (!config_word_in(key->choices, '|', text, &choice))
            return false;
        value->number = (int64_t) choice;
        return true;
    case CONFIG_TYPE_NUMBER:
        return read_number(text, &value->number) &&
               (!key->choices || config_word_in(key->choices, '|', text, NULL));
    case CONFIG_TYPE_DURATION:
        return read_duration(text, &value->number);
    case CONFIG_TYPE_BOOL:
        return read_bool(text, &value->number);
    case CONFIG_TYPE_ENV:
    case CONFIG_TYPE_AGENTS:
    case CONFIG_TYPE_MCP:
    case CONFIG_TYPE_POLICY:
    case CONFIG_TYPE_PRICES:
    case CONFIG_TYPE_MODELS:
    case CONFIG_TYPE_PROVIDERS:
        break;
    }
    return false;
}

/* "a, b or c" of "a|b|c". */
static void print_choices(const char *choices, char *out, size_t size)
{
    size_t at = 0;
    while (choices && at < size) {
        const char *end = strchr(choices, '|');
        size_t n = end ? (size_t) (end - choices) : strlen(choices);
        bool last_but_one = end && !strchr(end + 1, '|');
        int more = snprintf(out + at, size - at, "%.*s%s", (int) n, choices,
                            last_but_one ? " or " : (end ? ", " : ""));
        at += more > 0 ? (size_t) more : 0;
        choices = end ? end + 1 : NULL;
    }
}

void config_expected(enum config_id id, char *out, size_t size)
{
    static const char *const expected[] = {
        [CONFIG_TYPE_TEXT] = "a string",
        [CONFIG_TYPE_PATH] = "a path",
        [CONFIG_TYPE_NUMBER] = "an integer",
        [CONFIG_TYPE_DURATION] = "a duration (seconds, or a string such as \"90s\" or \"5m\")",
        [CONFIG_TYPE_BOOL] = "true or false",
        [CONFIG_TYPE_ENV] = "an object of strings",
        [CONFIG_TYPE_AGENTS] = "an object of agents by name",
        [CONFIG_TYPE_MCP] = "an object of servers by name",
        [CONFIG_TYPE_POLICY] = "an object with mode and rules",
        [CONFIG_TYPE_PRICES] = "an object of prices by model",
        [CONFIG_TYPE_MODELS] = "an object of facts by model",
        [CONFIG_TYPE_PROVIDERS] = "an object of providers by name",
    };
    const struct config_key *key = config_key(id);
    if (key->choices)
        print_choices(key->choices, out, size);
    else
        (void) snprintf(out, size, "%s", expected[key->type]);
}

int config_parse(struct config *config, enum config_id id, struct acp_str text, const char *base,
                 struct config_value *ret)
{
    struct config_value value = {.set = true};
    value.text = acp_arena_copy(&config->arena, text).ptr;
    if (!value.text)
        return ACP_ERR_NOMEM;
    if (!make_value(config, config_key(id), text, base, &value))
        return ACP_ERR_RANGE;
    *ret = value;
    return 0;
}
