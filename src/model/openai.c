/* What chat completions and responses have in common. */
#include "model/openai.h"

/* o1, o3, o4-mini, gpt-5, gpt-5.1-codex, ...; with the vendor in front as OpenRouter writes it. */
static struct acp_str without_vendor(struct acp_str model)
{
    const char *slash = memchr(model.ptr, '/', model.len);
    size_t n = slash ? (size_t) (slash - model.ptr) + 1 : 0;
    return acp_str_n(model.ptr + n, model.len - n);
}

static bool has(struct acp_str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, word, n) == 0)
            return true;
    return false;
}

/* "gpt-5.4-mini" is 54, "gpt-5" is 50; 0 for what is no GPT. */
static unsigned version_of(struct acp_str model)
{
    if (!acp_str_begins(model, "gpt-") || model.len < 5 || model.ptr[4] < '0' || model.ptr[4] > '9')
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

bool openai_thinks(struct acp_str model)
{
    model = without_vendor(model);
    return is_of_o_series(model) || (version_of(model) >= 50 && !has(model, "-chat"));
}

bool openai_takes_effort(struct acp_str model)
{
    return openai_thinks(model) || version_of(without_vendor(model)) == 0;
}

bool openai_thinks_or_calls(struct acp_str model)
{
    return openai_thinks(model) && version_of(model) >= 54;
}

const char *openai_effort(struct acp_str model, enum model_effort effort)
{
    model = without_vendor(model);
    if (version_of(model) && has(model, "-pro"))
        return "high";
    if (effort != MODEL_EFFORT_NONE)
        return model_effort_name(effort);
    if (is_of_o_series(model) || has(model, "-codex"))
        return "low";
    return version_of(model) == 50 ? "minimal" : "none";
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

void openai_put_data_url(struct acp_json_writer *w, const char *key, const struct model_part *part)
{
    struct acp_str pieces[] = {ACP_STR("data:"), part->mime, ACP_STR(";base64,"), part->data};
    put_joined(w, key, pieces, 4);
}

void openai_put_arguments(struct acp_json_writer *w, const struct model_part *call)
{
    struct acp_raw arguments = dialect_arguments(call);
    dialect_put_str(w, "arguments", acp_str_n(arguments.ptr, arguments.len));
}

void openai_put_result_text(struct acp_json_writer *w, const char *key,
                            const struct model_part *result)
{
    struct acp_str pieces[] = {acp_str(result->failed ? "Error: " : ""), result->text};
    put_joined(w, key, pieces, 2);
}
