/* Reading lists of models. */
#include "model/listing.h"

#include "model/facts.h"
#include "model/pick.h"

static struct acp_str first_str(struct acp_raw row, const char *const *names,
                                struct acp_arena *arena)
{
    struct acp_str found = acp_str_from(NULL);
    for (; *names && !found.ptr; names++)
        found = pick_str(row, *names, arena);
    return found;
}

/* The first of the members that is a sensible number of tokens; 0: none is. */
static uint64_t first_tokens(struct acp_raw row, const char *const *names)
{
    const uint64_t most = UINT64_C(1000000000);
    for (; *names; names++) {
        uint64_t value = pick_u64(row, *names, 0);
        if (value && value <= most)
            return value;
    }
    return 0;
}

/* ---- Windows and limits ---------------------------------------------------------------------- */

static void read_tokens(struct acp_raw row, struct model_facts *facts)
{
    static const char *const contexts[] = {
        "max_input_tokens",      /* Anthropic */
        "inputTokenLimit",       /* Gemini */
        "context_length",        /* OpenRouter, Ollama's /api/ps */
        "max_model_len",         /* vLLM */
        "context_window",        /* Groq */
        "loaded_context_length", /* LM Studio: as it runs; the next one as it could */
        "max_context_length",    /* LM Studio, Mistral */
        "meta.n_ctx",            /* llama.cpp */
        "meta.n_ctx_train",
        NULL,
    };
    static const char *const outputs[] = {
        "max_tokens",                         /* Anthropic */
        "outputTokenLimit",                   /* Gemini */
        "top_provider.max_completion_tokens", /* OpenRouter */
        "max_completion_tokens",              /* Groq */
        "max_output_tokens",
        NULL,
    };
    facts->context = first_tokens(row, contexts);
    facts->output = first_tokens(row, outputs);
}

/* As OpenRouter has them: US dollars for one token, as texts. */
static void read_price(struct acp_raw row, struct model_facts *facts)
{
    struct model_price price = {0};
    if (!pick_f64(row, "pricing.prompt", &price.input) ||
        !pick_f64(row, "pricing.completion", &price.output))
        return;
    /* Where these are not told they cost what all input does. */
    price.cache_read = price.cache_write = price.input;
    (void) pick_f64(row, "pricing.input_cache_read", &price.cache_read);
    (void) pick_f64(row, "pricing.input_cache_write", &price.cache_write);
    /* A router that asks somebody else has -1 there. */
    if (!(price.input >= 0 && price.output >= 0 && price.cache_read >= 0 && price.cache_write >= 0))
        return;
    facts->price = (struct model_price){price.input * 1e6, price.output * 1e6,
                                        price.cache_read * 1e6, price.cache_write * 1e6};
    facts->has_price = true;
}

/* ---- Abilities ------------------------------------------------------------------------------- */

static bool has_word(struct acp_raw array, const char *word)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    while (pick_next(array, &cursor, &item))
        if (pick_is(item, "", word))
            return true;
    return false;
}

static void set_ability(struct model_facts *facts, unsigned ability, bool can)
{
    if (can)
        facts->can |= ability;
    else
        facts->cannot |= ability;
}

static void read_flag(struct acp_raw row, const char *path, unsigned ability,
                      struct model_facts *facts)
{
    struct acp_raw value = pick(row, path);
    if (value.len == 4 && memcmp(value.ptr, "true", 4) == 0)
        set_ability(facts, ability, true);
    else if (value.len == 5 && memcmp(value.ptr, "false", 5) == 0)
        set_ability(facts, ability, false);
}

static void read_abilities(struct acp_raw row, struct model_facts *facts)
{
    static const struct {
        const char *path;
        unsigned ability;
    } flags[] = {
        {"capabilities.image_input.supported", MODEL_CAN_IMAGES}, /* Anthropic */
        {"capabilities.pdf_input.supported", MODEL_CAN_PDF},
        {"capabilities.vision", MODEL_CAN_IMAGES}, /* Mistral */
        {"capabilities.function_calling", MODEL_CAN_TOOLS},
        {"modalities.vision", MODEL_CAN_IMAGES}, /* llama.cpp's /props */
        {"modalities.audio", MODEL_CAN_AUDIO},
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        read_flag(row, flags[i].path, flags[i].ability, facts);
    struct acp_raw inputs = pick(row, "architecture.input_modalities"); /* OpenRouter */
    if (inputs.len && *inputs.ptr == '[') {
        set_ability(facts, MODEL_CAN_IMAGES, has_word(inputs, "image"));
        set_ability(facts, MODEL_CAN_AUDIO, has_word(inputs, "audio"));
    }
    struct acp_raw parameters = pick(row, "supported_parameters");
    if (parameters.len && *parameters.ptr == '[')
        set_ability(facts, MODEL_CAN_TOOLS, has_word(parameters, "tools"));
}

static void read_facts(struct acp_raw row, struct model_facts *facts)
{
    *facts = (struct model_facts){0};
    read_tokens(row, facts);
    read_price(row, facts);
    read_abilities(row, facts);
    facts->cannot &= ~facts->can; /* a list that says both is not believed when it says no */
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Some lists have models that make vectors or pictures only. */
static bool can_answer(struct acp_raw row)
{
    struct acp_raw methods = pick(row, "supportedGenerationMethods");
    struct acp_raw outputs = pick(row, "architecture.output_modalities");
    struct acp_raw chat = pick(row, "capabilities.completion_chat");
    if (methods.len && *methods.ptr == '[' && !has_word(methods, "generateContent"))
        return false;
    if (outputs.len && *outputs.ptr == '[' && !has_word(outputs, "text"))
        return false;
    if (chat.len == 5 && memcmp(chat.ptr, "false", 5) == 0)
        return false;
    return !pick_is(row, "type", "embeddings");
}

static bool read_row(struct acp_raw json, struct acp_arena *arena, struct listing_row *ret)
{
    static const char *const ids[] = {"id", "name", NULL};
    static const char *const names[] = {"display_name", "displayName", "name", NULL};
    static const char prefix[] = "models/";
    struct acp_str id = first_str(json, ids, arena);
    if (!id.len || !can_answer(json))
        return false;
    if (acp_str_starts_with(id, prefix) && id.len > sizeof(prefix) - 1)
        id = acp_str_n(id.ptr + sizeof(prefix) - 1, id.len - (sizeof(prefix) - 1));
    *ret = (struct listing_row){.id = id, .name = first_str(json, names, arena)};
    read_facts(json, &ret->facts);
    return true;
}

int listing_read(struct acp_raw body, const char *rows, struct acp_arena *arena,
                 struct listing_row **ret)
{
    struct acp_raw array = pick(body, rows);
    struct pick_cursor cursor = {0};
    struct acp_raw json;
    size_t count = 0;
    if (!array.len || *array.ptr != '[')
        return ACP_ERR_MALFORMED;
    while (count < LISTING_MAX_ROWS && pick_next(array, &cursor, &json))
        count++;
    struct listing_row *list = acp_arena_alloc(arena, (count + 1) * sizeof(*list));
    if (!list)
        return ACP_ERR_NOMEM;
    cursor = (struct pick_cursor){0};
    int kept = 0;
    while (count-- && pick_next(array, &cursor, &json))
        kept += read_row(json, arena, &list[kept]);
    *ret = list;
    return kept;
}

/* ---- Limits of local servers ----------------------------------------------------------------- */

static void add_to(struct listing_row *rows, size_t count, struct acp_str id,
                   const struct model_facts *facts)
{
    for (size_t i = 0; i < count; i++)
        if (!id.ptr || acp_str_eq(rows[i].id, id))
            facts_merge(&rows[i].facts, facts);
}

void listing_add_limits(struct acp_raw body, struct acp_arena *arena, struct listing_row *rows,
                        size_t count)
{
    static const char *const ids[] = {"model", "id", "name", NULL};
    struct pick_cursor cursor = {0};
    struct model_facts facts;
    struct acp_raw json;
    uint64_t context = pick_u64(body, "default_generation_settings.n_ctx", 0);
    if (context) { /* llama.cpp: one model, under whatever name */
        read_facts(body, &facts);
        facts.context = context;
        add_to(rows, count, acp_str_from(NULL), &facts);
        return;
    }
    struct acp_raw array = pick(body, "data");
    if (!array.len || *array.ptr != '[')
        array = pick(body, "models");
    for (size_t i = 0; i < LISTING_MAX_ROWS && pick_next(array, &cursor, &json); i++) {
        struct acp_str id = first_str(json, ids, arena);
        if (!id.len)
            continue;
        read_facts(json, &facts);
        add_to(rows, count, id, &facts);
    }
}
