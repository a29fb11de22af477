/* What chat completions and responses have in common. */
#include "model/openai.h"

/* o1, o3, o4-mini, gpt-5, gpt-5.1-codex, ...; with the vendor in front as OpenRouter writes it. */
static struct acp_str without_vendor(struct acp_str model)
{
    const char *slash = memchr(model.ptr, '/', model.len);
    size_t n = slash ? (size_t) (slash - model.ptr) + 1 : 0;
    return acp_str_n(model.ptr + n, model.len - n);
}

bool openai_thinks(struct acp_str model)
{
    model = without_vendor(model);
    if (model.len >= 2 && model.ptr[0] == 'o' && model.ptr[1] >= '1' && model.ptr[1] <= '9')
        return true;
    return model.len >= 5 && memcmp(model.ptr, "gpt-", 4) == 0 && model.ptr[4] >= '5' &&
           model.ptr[4] <= '9';
}

const char *openai_effort(struct acp_str model, enum model_effort effort)
{
    model = without_vendor(model);
    if (effort != MODEL_EFFORT_NONE)
        return model_effort_name(effort);
    if (model.len && model.ptr[0] == 'o')
        return "low"; /* the first ones cannot do without */
    bool is_first_five = model.len >= 5 && memcmp(model.ptr, "gpt-5", 5) == 0 &&
                         (model.len == 5 || model.ptr[5] == '-');
    return is_first_five ? "minimal" : "none";
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
