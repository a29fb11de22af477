/* What chat completions and responses have in common. */
#include "model/openai.h"

#include "model/text_find.h"

struct acp_str openai_without_vendor(struct acp_str model)
{
    const char *slash = model.len ? memchr(model.ptr, '/', model.len) : NULL;
    size_t n = slash ? (size_t) (slash - model.ptr) + 1 : 0;
    return acp_str_n(model.ptr + n, model.len - n);
}

/* "gpt-5.4-mini" is 54, "gpt-5" is 50; 0 for what is no GPT. */
static unsigned version_of(struct acp_str model)
{
    if (!acp_str_starts_with(model, "gpt-") || model.len < 5 || model.ptr[4] < '0' ||
        model.ptr[4] > '9')
        return 0;
    unsigned version = (unsigned) (model.ptr[4] - '0') * 10;
    if (model.len > 6 && model.ptr[5] == '.' && model.ptr[6] >= '0' && model.ptr[6] <= '9')
        version += (unsigned) (model.ptr[6] - '0');
    return version;
}

static bool is_of_o_series(struct acp_str model)
{
    return model.len >= 2 && model.ptr[0] == 'o' && model.ptr[1] >= '1' && model.ptr[1] <= '9';
}

bool openai_is_own(struct acp_str model)
{
    model = openai_without_vendor(model);
    return is_of_o_series(model) || acp_str_starts_with(model, "gpt-");
}

bool openai_thinks(struct acp_str model)
{
    model = openai_without_vendor(model);
    return is_of_o_series(model) || (version_of(model) >= 50 && !text_has(model, "-chat"));
}

bool openai_sums_up(struct acp_str model)
{
    return openai_thinks(model) && !acp_str_starts_with(openai_without_vendor(model), "o1");
}

bool openai_thinks_or_calls(struct acp_str model)
{
    return openai_thinks(model) && version_of(model) >= 54;
}

/* ---- Efforts --------------------------------------------------------------------------------- */

/* The least and the most that a model takes, and what stands for none. */
struct efforts {
    enum model_effort least;
    enum model_effort most;
    const char *none; /* NULL: the least */
};

static struct efforts efforts_of_gpt(struct acp_str model)
{
    unsigned version = version_of(model);
    bool codex = text_has(model, "-codex");
    struct efforts e = {MODEL_EFFORT_LOW, MODEL_EFFORT_HIGH, NULL};
    if (text_has(model, "-pro")) {
        e.least = version >= 52 ? MODEL_EFFORT_MEDIUM : MODEL_EFFORT_HIGH;
        e.most = version >= 52 ? MODEL_EFFORT_XHIGH : MODEL_EFFORT_HIGH;
        return e;
    }
    if (version >= 56)
        e.most = MODEL_EFFORT_MAX;
    else if (version >= 52 || text_has(model, "-codex-max"))
        e.most = MODEL_EFFORT_XHIGH;
    if (version == 50)
        e.none = codex ? NULL : "minimal";
    else
        e.none = codex && version < 53 ? NULL : "none";
    return e;
}

/* Models of others, by chat completions. */
static bool efforts_of_others(struct acp_str model, struct efforts *ret)
{
    static const char *const takes_none[] = {
        "mistral", "ministral", "codestral", "devstral", "pixtral", "magistral", "llama",
        "gemma",   "phi",       "command",   "gpt-3",    "gpt-4",   "chatgpt-"};
    for (size_t i = 0; i < sizeof(takes_none) / sizeof(takes_none[0]); i++) {
        if (acp_str_starts_with(model, takes_none[i]))
            return false;
    }
    *ret = (struct efforts){MODEL_EFFORT_LOW, MODEL_EFFORT_HIGH, NULL};
    if (acp_str_starts_with(model, "deepseek"))
        ret->most = MODEL_EFFORT_MAX;
    return true;
}

/* By the name of the model. */
static const char *effort_of(struct acp_str model, enum model_effort effort)
{
    struct efforts e = {MODEL_EFFORT_LOW, MODEL_EFFORT_HIGH, NULL}; /* those of the o series */
    model = openai_without_vendor(model);
    if (effort == MODEL_EFFORT_DEFAULT)
        return NULL;
    if (version_of(model) >= 50) {
        if (text_has(model, "-chat"))
            return NULL;
        e = efforts_of_gpt(model);
    } else if (!is_of_o_series(model) && !efforts_of_others(model, &e)) {
        return NULL;
    }
    if (effort == MODEL_EFFORT_NONE && e.none)
        return e.none;
    effort = effort < e.least ? e.least : effort > e.most ? e.most : effort;
    return model_effort_name(effort);
}

const char *openai_effort(const struct model_ask *ask)
{
    if (!ask->efforts || ask->effort == MODEL_EFFORT_DEFAULT)
        return effort_of(ask->model, ask->effort);
    return model_effort_name(dialect_effort(ask));
}

/* A text made of parts, written as one; a failure stays in the writer. */
static void put_joined(struct acp_json_writer *w, const char *key, const struct acp_str *pieces,
                       size_t count)
{
    struct acp_buf text;
    acp_buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        int err = acp_buf_append_str(&text, pieces[i]);
        if (err && !w->err)
            w->err = err;
    }
    dialect_put_str(w, key, acp_buf_view(&text));
    acp_buf_finish(&text);
}

void openai_put_cache_key(struct acp_json_writer *w, const struct model_ask *ask)
{
    enum { MAX_KEY = 64 };
    struct acp_str key = ask->session;
    if (key.len)
        dialect_put_str(w, "prompt_cache_key",
                        acp_str_n(key.ptr, key.len < MAX_KEY ? key.len : (size_t) MAX_KEY));
}

void openai_put_data_url(struct acp_json_writer *w, const char *key, const struct model_part *part)
{
    struct acp_str pieces[] = {ACP_STR("data:"), part->mime, ACP_STR(";base64,"), part->data};
    put_joined(w, key, pieces, 4);
}

void openai_put_arguments(struct acp_json_writer *w, const struct model_part *call)
{
    struct acp_buf text;
    struct acp_json_writer inner;
    if (call->arguments.ptr) {
        dialect_put_str(w, "arguments", acp_str_n(call->arguments.ptr, call->arguments.len));
        return;
    }
    acp_buf_init(&text, SIZE_MAX / 2);
    acp_json_writer_init(&inner, &text);
    dialect_write_arguments(&inner, call);
    w->err = w->err ? w->err : inner.err;
    dialect_put_str(w, "arguments", acp_buf_view(&text));
    acp_buf_finish(&text);
}

void openai_put_result_text(struct acp_json_writer *w, const char *key,
                            const struct model_part *result)
{
    struct acp_str pieces[] = {acp_str_from(result->failed ? "Error: " : ""), result->text};
    put_joined(w, key, pieces, 2);
}
