/* How long an answer may be, by the name of the model; docs/models.md has the sources. */
#include "model/claude.h"
#include "model/dialect.h"
#include "model/openai.h"
#include "model/text.h"

/* By the beginning of the name, without the vendor in front; the first that fits. */
static const struct {
    const char *prefix;
    uint64_t max_output;
} rows[] = {
    {"gpt-4.1", 32768},    {"gpt-4o", 16384},   {"gpt-4", 8192},       {"gpt-oss", 0},
    {"gpt-", 128000},      {"o1-mini", 65536},  {"o1-preview", 32768}, {"o1", 100000},
    {"o3", 100000},        {"o4", 100000},      {"gemini-1.5", 8192},  {"gemini-2.0", 8192},
    {"gemini-2.5", 65536}, {"gemini-3", 65536},
};

struct model_limits limits_of(const struct model_ask *ask)
{
    struct model_limits limits = ask->limits;
    struct acp_str name = openai_without_vendor(ask->model);
    if (!limits.max_output)
        limits.max_output = claude_of(ask->model).max_output;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !limits.max_output; i++) {
        if (acp_str_starts_with(name, rows[i].prefix)) {
            limits.max_output = rows[i].max_output;
            break;
        }
    }
    return limits;
}

uint64_t limits_clamp(const struct model_ask *ask, uint64_t tokens)
{
    uint64_t most = limits_of(ask).max_output;
    return most && tokens > most ? most : tokens;
}
