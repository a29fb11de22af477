/* Claudes by their names; docs/models.md has the sources. */
#include "model/claude.h"

#include "model/text_find.h"

enum { MAX_MINOR_DIGITS = 2 };

static bool is_separator(char c)
{
    return c == '-' || c == '.' || c == '@' || c == '_' || c == ':' || c == '/';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The word at the front of the name, which is cut off it together with the separator. */
static struct acp_str next_word(struct acp_str *name)
{
    size_t n = 0;
    while (n < name->len && !is_separator(name->ptr[n]))
        n++;
    struct acp_str word = acp_str_n(name->ptr, n);
    size_t rest = n < name->len ? n + 1 : n;
    *name = acp_str_n(name->ptr + rest, name->len - rest);
    return word;
}

/* A part of a version; dates have more digits. */
static bool read_number(struct acp_str word, unsigned *ret)
{
    unsigned number = 0;
    if (!word.len || word.len > MAX_MINOR_DIGITS)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (!is_digit(word.ptr[i]))
            return false;
        number = number * 10 + (unsigned) (word.ptr[i] - '0');
    }
    *ret = number;
    return true;
}

/*
 * "claude-opus-4-5-20251101" is 45, "claude-opus-4-20250514" 40, "claude-3-7-sonnet-latest" 37 and
 * "us.anthropic.claude-opus-5-v1:0" 50.
 */
static unsigned version_of(struct acp_str name)
{
    while (name.len) {
        unsigned major;
        unsigned minor;
        if (!read_number(next_word(&name), &major))
            continue;
        if (!read_number(next_word(&name), &minor) || minor > 9)
            minor = 0;
        return major * 10 + minor;
    }
    return 0;
}

struct claude claude_of(struct acp_str model)
{
    size_t at = text_find(model, acp_str_from("claude-"));
    if (at == TEXT_NOWHERE)
        return (struct claude){.is_claude = false};
    struct acp_str name = acp_str_n(model.ptr + at + 7, model.len - at - 7);
    struct claude claude = {.is_claude = true, .version = version_of(name)};
    bool mythical = text_has(name, "fable") || text_has(name, "mythos");
    claude.always = mythical || claude.version > 50;
    return claude;
}

const char *claude_effort(const struct claude *claude, enum model_effort effort)
{
    if (effort == MODEL_EFFORT_DEFAULT)
        return NULL;
    if (effort == MODEL_EFFORT_NONE)
        return "low"; /* the least that one takes that always thinks */
    if (effort == MODEL_EFFORT_XHIGH && claude->version == 46)
        return "high";
    return model_effort_name(effort);
}

uint64_t claude_budget(enum model_effort effort)
{
    static const uint64_t budgets[] = {
        [MODEL_EFFORT_LOW] = 2048,    [MODEL_EFFORT_MEDIUM] = 8192, [MODEL_EFFORT_HIGH] = 16384,
        [MODEL_EFFORT_XHIGH] = 24576, [MODEL_EFFORT_MAX] = 31999,
    };
    return effort >= MODEL_EFFORT_LOW ? budgets[effort] : 0;
}

bool claude_takes_temperature(const struct claude *claude)
{
    return !claude->is_claude || (claude->version && claude->version < 47);
}
