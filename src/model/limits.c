/* What the table says of the model of a request, and how long an answer may be. */
#include <string.h>

#include "model/dialect.h"
#include "model/facts.h"
#include "model/text_find.h"

enum { MAX_NAME = 128 };

/*
 * Claudes have other names with those who resell them, "us.anthropic.claude-opus-4-1-v1:0" or
 * "claude-3.5-sonnet": the table's own is in room then.
 */
static struct acp_str table_name(struct acp_str model, char room[MAX_NAME])
{
    size_t at = text_find(model, acp_str_from("claude-"));
    size_t n = at == TEXT_NOWHERE ? 0 : model.len - at;
    if (!n || n > MAX_NAME)
        return model;
    for (size_t i = 0; i < n; i++)
        room[i] = (char) (model.ptr[at + i] == '.' ? '-' : model.ptr[at + i]);
    struct acp_str name = acp_str_n(room, n);
    size_t version = text_find(name, acp_str_from("-v"));
    bool is_cut = version != TEXT_NOWHERE && memchr(room + version, ':', n - version);
    return acp_str_n(room, is_cut ? version : n);
}

struct model_facts facts_of(struct acp_str model)
{
    struct model_facts facts = {0};
    char room[MAX_NAME];
    (void) facts_find_anywhere(facts_builtin(), table_name(model, room), &facts);
    return facts;
}

struct model_limits limits_of(const struct model_ask *ask)
{
    struct model_limits limits = ask->limits;
    if (!limits.max_output)
        limits.max_output = facts_of(ask->model).output;
    return limits;
}

uint64_t limits_clamp(const struct model_ask *ask, uint64_t tokens)
{
    uint64_t most = limits_of(ask).max_output;
    return most && tokens > most ? most : tokens;
}
