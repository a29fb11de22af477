/* config_models.c - reads models and providers. */
#include "config/config_internal.h"
#include "model/facts.h"

/* ---- Models ---------------------------------------------------------------------------------- */

static int keep_model(struct config_reader *reader, const struct config_model *model)
{
    struct config *config = reader->config;
    for (size_t i = 0; i < config->model_count; i++) {
        if (strcmp(config->models[i].row.name, model->row.name) == 0) {
            config->models[i] = *model;
            return 0;
        }
    }
    if (config->model_count >= CONFIG_MAX_ENTRIES) {
        config_error(reader, "more than %d models", (int) CONFIG_MAX_ENTRIES);
        return 1;
    }
    struct config_model *grown =
        config_grow(config, config->models, config->model_count, sizeof(*grown));
    if (!grown)
        return reader->r.err = ACP_ERR_NOMEM;
    config->models = grown;
    config->models[config->model_count++] = *model;
    return 0;
}

static int read_model(struct config_reader *reader, struct acp_str name)
{
    struct config_model model = {.origin = config_here(reader)};
    struct acp_failure failure = {0};
    struct acp_json_reader row;
    struct acp_raw text;
    size_t offset = acp_json_offset(&reader->r);
    /* Read separately, so that an invalid row does not stop the file from being read. */
    int err = acp_json_read_raw(&reader->r, &text);
    if (err)
        return err;
    acp_json_reader_init(&row, text, &reader->config->arena, 0);
    err = facts_read(&row, &model.row.facts, &failure);
    if (err == ACP_ERR_NOMEM)
        return reader->r.err = err;
    if (err) {
        config_error_at(reader, offset, "%s",
                        *failure.message ? failure.message : acp_err_text(err));
        return 1;
    }
    struct acp_str copy = acp_arena_copy(&reader->config->arena, acp_str_n(text.ptr, text.len));
    model.row.name = acp_arena_copy(&reader->config->arena, name).ptr;
    model.text = acp_raw_n(copy.ptr, copy.len);
    if (!copy.ptr || !model.row.name)
        return reader->r.err = ACP_ERR_NOMEM;
    return reader->discard ? 0 : keep_model(reader, &model);
}

/* Reads an object of named entries, each with the function. */
static int read_named(struct config_reader *reader, const char *expected,
                      int (*read)(struct config_reader *reader, struct acp_str name))
{
    struct acp_str name;
    int more;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, expected);
    while ((more = acp_json_next_key(&reader->r, &name)) > 0) {
        size_t mark = config_enter(reader, name);
        int err = read(reader, name);
        config_leave(reader, mark);
        if (err < 0)
            return err;
    }
    return more;
}

int config_read_models(struct config_reader *reader)
{
    return read_named(reader, "an object of facts by model", read_model);
}

/* ---- Providers ------------------------------------------------------------------------------- */

static const char *const provider_keys[] = {"title", "api",     "base_url", "key_env",
                                            "model", "headers", NULL};

static int read_api(struct config_reader *reader, enum model_api *ret)
{
    const char *name = NULL;
    size_t offset = acp_json_offset(&reader->r);
    int err = config_read_text(reader, &name);
    if (err)
        return err;
    if (model_api_find(acp_str_from(name), ret) && *ret != MODEL_DEMO)
        return 0;
    config_error_at(reader, offset,
                    "api must be anthropic, openai-chat, openai-responses or gemini");
    return 1;
}

static int read_url(struct config_reader *reader, const char **ret)
{
    size_t offset = acp_json_offset(&reader->r);
    int err = config_read_text(reader, ret);
    if (err)
        return err;
    if (strncmp(*ret, "https://", 8) == 0 || strncmp(*ret, "http://", 7) == 0)
        return 0;
    config_error_at(reader, offset, "base_url must begin with http:// or https://");
    return 1;
}

static int read_provider_key(struct config_reader *reader, struct acp_str key,
                             struct model_custom *custom)
{
    if (acp_str_is(key, "title"))
        return config_read_text(reader, &custom->title);
    if (acp_str_is(key, "api"))
        return read_api(reader, &custom->api);
    if (acp_str_is(key, "base_url"))
        return read_url(reader, &custom->base_url);
    if (acp_str_is(key, "key_env"))
        return config_read_text(reader, &custom->key_variable);
    if (acp_str_is(key, "model"))
        return config_read_text(reader, &custom->model);
    if (acp_str_is(key, "headers"))
        return config_read_pairs(reader, &custom->headers);
    return config_unknown(reader, key, provider_keys);
}

static int keep_provider(struct config_reader *reader, const struct config_provider *provider)
{
    struct config *config = reader->config;
    for (size_t i = 0; i < config->provider_count; i++) {
        if (strcmp(config->providers[i].custom.id, provider->custom.id) == 0) {
            config->providers[i] = *provider;
            return 0;
        }
    }
    if (config->provider_count >= CONFIG_MAX_ENTRIES) {
        config_error(reader, "more than %d providers", (int) CONFIG_MAX_ENTRIES);
        return 1;
    }
    struct config_provider *grown =
        config_grow(config, config->providers, config->provider_count, sizeof(*grown));
    if (!grown)
        return reader->r.err = ACP_ERR_NOMEM;
    config->providers = grown;
    config->providers[config->provider_count++] = *provider;
    return 0;
}

/* The part before the slash in model names; also used as a file name. */
bool config_is_provider_id(struct acp_str id)
{
    enum { LONGEST = 40 };
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return id.len && id.len <= LONGEST && !acp_str_is(id, "main") && !acp_str_is(id, "demo");
}

static int read_provider(struct config_reader *reader, struct acp_str name)
{
    struct config_provider provider = {.origin = config_here(reader)};
    struct acp_str key;
    int bad = 0;
    int more;
    if (!config_is_provider_id(name)) {
        config_error(reader, "the name of a provider consists of lower-case letters, digits, - "
                             "and _; main and demo are reserved");
        bad = 1;
    }
    provider.custom.id = acp_arena_copy(&reader->config->arena, name).ptr;
    if (!provider.custom.id)
        return reader->r.err = ACP_ERR_NOMEM;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object with base_url");
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        size_t mark = config_enter(reader, key);
        more = acp_json_peek(&reader->r) == ACP_JSON_NULL
                   ? acp_json_skip(&reader->r)
                   : read_provider_key(reader, key, &provider.custom);
        config_leave(reader, mark);
        if (more < 0)
            return more;
        bad |= more;
    }
    return more < 0 || bad || reader->discard ? more : keep_provider(reader, &provider);
}

int config_read_providers(struct config_reader *reader)
{
    return read_named(reader, "an object of providers by name", read_provider);
}
