/* config_prices.c - reads agent.prices. */
#include "config/config_internal.h"

static const char *const price_keys[] = {"input", "output", "cache_read", "cache_write", NULL};

/* A non-negative number; returns like config_read_text(). */
static int read_dollars(struct config_reader *reader, double *ret)
{
    double value = 0;
    if (acp_json_peek(&reader->r) != ACP_JSON_NUMBER)
        return config_mismatch(reader, "a number of dollars");
    int err = acp_json_read_f64(&reader->r, &value);
    if (err)
        return err;
    if (value < 0) {
        config_error(reader, "a price cannot be negative");
        return 1;
    }
    *ret = value;
    return 0;
}

static int read_price(struct config_reader *reader, struct config_price *price)
{
    double *const members[] = {&price->input, &price->output, &price->cache_read,
                               &price->cache_write};
    struct acp_str key;
    size_t at = 0;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object with input and output");
    int bad = 0;
    int more;
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        if (acp_json_peek(&reader->r) == ACP_JSON_NULL) {
            more = acp_json_skip(&reader->r); /* null is the same as missing */
        } else if (config_word_in("input|output|cache_read|cache_write", '|', key, &at)) {
            size_t mark = config_enter(reader, key);
            more = read_dollars(reader, members[at]);
            config_leave(reader, mark);
        } else {
            more = config_unknown(reader, key, price_keys);
        }
        if (more < 0)
            return more;
        bad |= more;
    }
    return more < 0 ? more : bad;
}

static int keep_price(struct config_reader *reader, const struct config_price *price)
{
    struct config *config = reader->config;
    for (size_t i = 0; i < config->price_count; i++) {
        if (strcmp(config->prices[i].model, price->model) == 0) {
            config->prices[i] = *price;
            return 0;
        }
    }
    if (config->price_count >= CONFIG_MAX_ENTRIES) {
        config_error(reader, "more than %d models", (int) CONFIG_MAX_ENTRIES);
        return 1;
    }
    struct config_price *grown =
        config_grow(config, config->prices, config->price_count, sizeof(*grown));
    if (!grown)
        return reader->r.err = ACP_ERR_NOMEM;
    config->prices = grown;
    config->prices[config->price_count++] = *price;
    return 0;
}

static int read_named_price(struct config_reader *reader, struct acp_str name)
{
    enum { NOT_SAID = -1 };
    struct config_price price = {
        .cache_read = NOT_SAID, .cache_write = NOT_SAID, .origin = config_here(reader)};
    price.model = acp_arena_copy(&reader->config->arena, name).ptr;
    if (!price.model)
        return reader->r.err = ACP_ERR_NOMEM;
    int err = read_price(reader, &price);
    if (price.cache_read < 0)
        price.cache_read = price.input;
    if (price.cache_write < 0)
        price.cache_write = price.input;
    return err || reader->discard ? err : keep_price(reader, &price);
}

int config_read_prices(struct config_reader *reader)
{
    struct acp_str name;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object of prices by model");
    int more;
    while ((more = acp_json_next_key(&reader->r, &name)) > 0) {
        size_t mark = config_enter(reader, name);
        int err = read_named_price(reader, name);
        config_leave(reader, mark);
        if (err < 0)
            return err;
    }
    return more;
}
