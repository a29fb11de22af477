/* agent_sources.c - see agent_sources.h. */
#include "cmd/agent_sources.h"

#include "cli/output.h"
#include "config/key_store.h"
#include "registry/environment_keys.h"

struct model_table agent_read_facts(struct conversation_setup *c)
{
    const struct config_price *price;
    const struct config_model *model;
    size_t prices = 0;
    size_t models = 0;
    size_t count = 0;
    while (config_price_at(c->config, prices))
        prices++;
    while (config_model_at(c->config, models))
        models++;
    struct model_fact_row *rows = acp_arena_alloc(&c->arena, (prices + models + 1) * sizeof(*rows));
    /* Of two rows that match equally well, the first is used. */
    for (size_t i = 0; rows && (model = config_model_at(c->config, i)); i++)
        rows[count++] = model->row;
    for (size_t i = 0; rows && (price = config_price_at(c->config, i)); i++)
        rows[count++] =
            (struct model_fact_row){.name = price->model,
                                    .facts = {.has_price = true,
                                              .price = {price->input, price->output,
                                                        price->cache_read, price->cache_write}}};
    return (struct model_table){rows, count};
}

void agent_read_providers(struct conversation_setup *c, struct model_sources *sources)
{
    const struct config_provider *provider;
    size_t count = 0;
    while ((provider = config_provider_at(c->config, count))) {
        if (provider->custom.key_variable)
            keys_hide(provider->custom.key_variable);
        count++;
    }
    struct model_custom *custom = acp_arena_alloc(&c->arena, (count + 1) * sizeof(*custom));
    for (size_t i = 0; custom && i < count; i++)
        custom[i] = config_provider_at(c->config, i)->custom;
    sources->custom = custom;
    sources->custom_count = custom ? count : 0;
}

int agent_read_keys(void *user, struct acp_arena *arena, struct model_sources *sources)
{
    struct conversation_setup *c = user;
    struct model_key *keys = NULL;
    struct acp_buf why;
    const char *folder = key_store_folder(c->config, arena);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    int err =
        folder ? key_store_read_all(c->config, folder, arena, &keys, &sources->stored_count, &why)
               : 0;
    sources->stored = keys;
    if (!err)
        err_text(acp_buf_view(&why));
    acp_buf_finish(&why);
    return err;
}
