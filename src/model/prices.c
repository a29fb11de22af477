/*
 * What models cost, where that can be said from their name.
 *
 * The prices are those that the services publish for their own addresses, without discounts for
 * batches or surcharges for regions, as noted in November 2026.  Models whose price depends on the
 * length of the request, or on the date, are not here: no cost is better than a wrong one.
 */
#include "model/service.h"

static const struct {
    const char *name;
    struct model_price price; /* input, output, read from the cache, written to it */
} known[] = {
    /* https://platform.claude.com/docs/en/about-claude/pricing */
    {"claude-fable-5-1", {10, 50, 0.25, 12.5}},
    {"claude-fable-5", {10, 50, 1, 12.5}},
    {"claude-opus-5-5", {4, 20, 0.2, 5}},
    {"claude-opus-5", {5, 25, 0.5, 6.25}},
    {"claude-opus-4-8", {5, 25, 0.5, 6.25}},
    {"claude-opus-4-7", {5, 25, 0.5, 6.25}},
    {"claude-opus-4-6", {5, 25, 0.5, 6.25}},
    {"claude-opus-4-5", {5, 25, 0.5, 6.25}},
    {"claude-opus-4-1", {15, 75, 1.5, 18.75}},
    {"claude-opus-4", {15, 75, 1.5, 18.75}},
    {"claude-sonnet-5-5", {2, 10, 0.2, 2.5}},
    {"claude-sonnet-5", {2, 10, 0.2, 2.5}},
    {"claude-sonnet-4-6", {3, 15, 0.3, 3.75}},
    {"claude-sonnet-4-5", {3, 15, 0.3, 3.75}},
    {"claude-sonnet-4", {3, 15, 0.3, 3.75}},
    {"claude-3-7-sonnet", {3, 15, 0.3, 3.75}},
    {"claude-haiku-4-5", {1, 5, 0.1, 1.25}},
    {"claude-3-5-haiku", {0.8, 4, 0.08, 1}},
    /* https://developers.openai.com/api/docs/pricing; writing to the cache costs nothing more */
    {"gpt-5.4-mini", {0.75, 4.5, 0.075, 0.75}},
    {"gpt-5.3-codex", {1.75, 14, 0.175, 1.75}},
    {"gpt-5.2-codex", {1.75, 14, 0.175, 1.75}},
    {"gpt-5.2", {1.75, 14, 0.175, 1.75}},
    {"gpt-5.1", {1.25, 10, 0.125, 1.25}},
    {"gpt-5", {1.25, 10, 0.125, 1.25}},
    {"gpt-5-mini", {0.25, 2, 0.025, 0.25}},
    {"gpt-5-nano", {0.05, 0.4, 0.005, 0.05}},
    {"gpt-4.1", {2, 8, 0.5, 2}},
    {"gpt-4.1-mini", {0.4, 1.6, 0.1, 0.4}},
    {"gpt-4.1-nano", {0.1, 0.4, 0.025, 0.1}},
    {"gpt-4o", {2.5, 10, 1.25, 2.5}},
    {"gpt-4o-mini", {0.15, 0.6, 0.075, 0.15}},
    {"o3", {2, 8, 0.5, 2}},
    {"o3-mini", {1.1, 4.4, 0.55, 1.1}},
    {"o4-mini", {1.1, 4.4, 0.275, 1.1}},
    /* https://ai.google.dev/gemini-api/docs/pricing, for text */
    {"gemini-2.5-flash", {0.3, 2.5, 0.03, 0.3}},
    {"gemini-2.5-flash-lite", {0.1, 0.4, 0.01, 0.1}},
};

/* What stands behind the name of a model and does not make another one of it: "-20250929". */
static bool is_date(struct acp_str rest)
{
    size_t digits = 0;
    if (acp_str_is(rest, "") || acp_str_is(rest, "-latest"))
        return true;
    for (size_t i = 1; i < rest.len; i++) {
        bool digit = rest.ptr[i] >= '0' && rest.ptr[i] <= '9';
        if (!digit && rest.ptr[i] != '-')
            return false;
        digits += digit;
    }
    return (*rest.ptr == '-' || *rest.ptr == '@') && digits == 8;
}

bool prices_by_name(struct acp_str model, struct model_price *ret)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t n = strlen(known[i].name);
        if (!acp_str_begins(model, known[i].name) ||
            !is_date(acp_str_n(model.ptr + n, model.len - n)))
            continue;
        *ret = known[i].price;
        return true;
    }
    return false;
}

/* The name itself, or the beginning of one with a star behind it. */
static bool is_meant(const char *name, struct acp_str model)
{
    size_t n = strlen(name);
    if (n && name[n - 1] == '*')
        return model.len >= n - 1 && memcmp(model.ptr, name, n - 1) == 0; /* without the star */
    return acp_str_is(model, name);
}

bool prices_in_list(const struct model_price_row *rows, size_t count, struct acp_str model,
                    struct model_price *ret)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_meant(rows[i].model, model))
            continue;
        *ret = rows[i].price;
        return true;
    }
    return false;
}

double prices_cost(const struct model_price *price, const struct model_usage *usage)
{
    uint64_t kept = usage->cached + usage->written;
    double fresh = usage->input > kept ? (double) (usage->input - kept) : 0;
    return (fresh * price->input + (double) usage->cached * price->cache_read +
            (double) usage->written * price->cache_write + (double) usage->output * price->output) /
           1e6;
}
