/* Which providers can be asked, by what the environment, logins and the configuration have. */
#include <stdio.h>

#include "http/http_client.h"
#include "model/providers.h"

/* While one provider is looked at. */
struct looking {
    const struct model_sources *sources;
    struct acp_arena *arena;
    const struct model_provider *provider; /* NULL: only the configuration has it */
    const struct model_custom *custom;     /* NULL: the configuration says nothing about it */
    struct model_offer offer;
    int err; /* ACP_ERR_NOMEM */
};

const char *model_variable(const char *const *environment, struct acp_str name)
{
    for (; environment && *environment; environment++) {
        const char *value = *environment + name.len;
        if (strncmp(*environment, name.ptr, name.len) == 0 && *value == '=')
            return value[1] ? value + 1 : NULL;
    }
    return NULL;
}

static const char *variable(const struct looking *looking, const char *name)
{
    return name ? model_variable(looking->sources->environment, acp_str_from(name)) : NULL;
}

static const char *keep(struct looking *looking, struct acp_str text)
{
    const char *copy = acp_arena_copy(looking->arena, text).ptr;
    if (!copy)
        looking->err = ACP_ERR_NOMEM;
    return copy;
}

static const char *say_set(struct looking *looking, const char *variable_name)
{
    char text[200];
    (void) snprintf(text, sizeof(text), "%s is set", variable_name);
    return keep(looking, acp_str_from(text));
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* The first of the variables that is set; NULL: none is. */
static const char *first_variable(const struct looking *looking, struct acp_str names)
{
    const char *value = NULL;
    while (names.len && !value) {
        const char *comma = memchr(names.ptr, ',', names.len);
        size_t n = comma ? (size_t) (comma - names.ptr) : names.len;
        value = model_variable(looking->sources->environment, acp_str_n(names.ptr, n));
        n += comma ? 1 : 0;
        names = acp_str_n(names.ptr + n, names.len - n);
    }
    return value;
}

/* Whether a value can stand inside of an address without changing where it leads. */
static bool is_plain(const char *value)
{
    for (; *value; value++) {
        char c = *value;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_';
        if (!plain)
            return false;
    }
    return true;
}

/* The address with the values of variables in it; NULL if one is missing or invalid. */
static const char *fill_address(struct looking *looking, const char *address)
{
    char url[1000];
    size_t used = 0;
    while (*address) {
        size_t n = strcspn(address, "{");
        struct acp_str piece = acp_str_n(address, n);
        if (!n) {
            size_t name = strcspn(address, "}");
            const char *value =
                first_variable(looking, acp_str_n(address + 1, name ? name - 1 : 0));
            if (!value || (used && !is_plain(value)))
                return NULL;
            piece = acp_str_from(value);
            while (!used && piece.len && piece.ptr[piece.len - 1] == '/')
                piece.len--;
            n = name + 1;
        }
        if (piece.len >= sizeof(url) - used)
            return NULL;
        memcpy(url + used, piece.ptr, piece.len);
        used += piece.len;
        address += n;
    }
    return keep(looking, acp_str_n(url, used));
}

/* OLLAMA_HOST: "http://host:port", "host:port", "host", ":port", and "0.0.0.0" for a server. */
static const char *read_ollama_host(struct looking *looking, const char *host)
{
    char url[300];
    const char *scheme = strncmp(host, "https://", 8) == 0 ? "https" : "http";
    struct acp_str place = http_place(acp_str_from(host));
    const char *colon = place.len ? memchr(place.ptr, ':', place.len) : NULL;
    if (place.len && place.ptr[0] == '[') { /* an IPv6 address has colons of its own */
        const char *bracket = memchr(place.ptr, ']', place.len);
        colon = bracket && bracket + 1 < place.ptr + place.len ? bracket + 1 : NULL;
    }
    size_t n = colon ? (size_t) (colon - place.ptr) : place.len;
    struct acp_str name = acp_str_n(place.ptr, n);
    if (!n || acp_str_is(name, "0.0.0.0"))
        name = acp_str_from("127.0.0.1");
    struct acp_str port = acp_str_from(":11434");
    if (colon)
        port = acp_str_n(colon, place.len - n);
    int length = snprintf(url, sizeof(url), "%s://%.*s%.*s/v1", scheme, (int) name.len, name.ptr,
                          (int) port.len, port.ptr);
    return length > 0 && (size_t) length < sizeof(url) ? keep(looking, acp_str_from(url)) : NULL;
}

/* Sets base_url where it is not the API's own; false when there is no address. */
static bool find_address(struct looking *looking)
{
    const struct model_provider *provider = looking->provider;
    struct model_settings *s = &looking->offer.settings;
    const char *given = looking->custom ? looking->custom->base_url : NULL;
    if (!given && provider)
        given = variable(looking, provider->url_variable);
    if (given && provider && strcmp(provider->id, "ollama") == 0)
        given = read_ollama_host(looking, given);
    if (given) {
        s->base_url = given;
        return true;
    }
    if (!provider || !provider->base_url)
        return false;
    s->base_url = fill_address(looking, provider->base_url);
    s->provider = provider->id; /* its own address, where its own prices hold */
    return s->base_url;
}

/* OpenAI's own address takes responses; those who imitate it have chat completions at least. */
static enum model_api openai_api(const struct looking *looking)
{
    const char *url = looking->offer.settings.base_url;
    const char *wire = variable(looking, "OPENAI_WIRE_API");
    if (wire && strcmp(wire, "responses") == 0)
        return MODEL_RESPONSES;
    if (wire && strcmp(wire, "chat") == 0)
        return MODEL_CHAT;
    bool is_own = acp_str_is(http_place(acp_str_from(url)), "api.openai.com");
    return is_own ? MODEL_RESPONSES : MODEL_CHAT;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool take_variable(struct looking *looking, const char *name)
{
    const struct model_provider *provider = looking->provider;
    const char *value = variable(looking, name);
    if (!value)
        return false;
    looking->offer.settings.key = value;
    looking->offer.settings.bearer =
        provider && provider->bearer_key && strcmp(provider->bearer_key, name) == 0;
    looking->offer.why = say_set(looking, name);
    return true;
}

static bool take_stored(struct looking *looking)
{
    const struct model_sources *sources = looking->sources;
    for (size_t i = 0; i < sources->stored_count; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every provider has an id */
        if (strcmp(sources->stored[i].provider, looking->offer.id) != 0)
            continue;
        looking->offer.settings.key = sources->stored[i].key;
        looking->offer.why = "a key was stored by acp agent login";
        return true;
    }
    return false;
}

/* A variable counts more than a stored key: it is nearer to this one run. */
static bool find_key(struct looking *looking)
{
    const char *keys = looking->provider ? looking->provider->keys : NULL;
    if (looking->custom && looking->custom->key_variable &&
        take_variable(looking, looking->custom->key_variable))
        return true;
    while (keys && *keys) {
        size_t n = strcspn(keys, " ");
        char name[100];
        (void) snprintf(name, sizeof(name), "%.*s", (int) n, keys);
        if (take_variable(looking, name))
            return true;
        keys += n + (keys[n] ? 1 : 0);
    }
    return take_stored(looking);
}

/* Whether it was named on purpose, so that it may be asked without a key. */
static bool is_named(struct looking *looking)
{
    const struct model_provider *provider = looking->provider;
    const char *name = provider ? provider->url_variable : NULL;
    if (looking->custom && looking->custom->base_url) {
        looking->offer.why = "the configuration has its address";
        return true;
    }
    bool may_be_open = provider && (provider->port || provider->api == MODEL_RESPONSES);
    if (!may_be_open || !variable(looking, name))
        return false;
    looking->offer.why = say_set(looking, name);
    return true;
}

/* ---- One provider ---------------------------------------------------------------------------- */

static void find_model(struct looking *looking)
{
    const struct model_provider *provider = looking->provider;
    struct model_settings *s = &looking->offer.settings;
    if (provider)
        s->model = variable(looking, provider->model_variable);
    if (!s->model && looking->custom)
        s->model = looking->custom->model;
    if (!s->model && provider)
        s->model = provider->model;
    if (!s->model && provider && provider->owns_api)
        s->model = model_api_model(s->api);
}

static void name_offer(struct looking *looking)
{
    const struct model_provider *provider = looking->provider;
    struct model_settings *s = &looking->offer.settings;
    if (looking->custom && looking->custom->title)
        s->name = looking->custom->title;
    else if (!provider)
        s->name = looking->offer.id;
    else if (s->provider || provider->port)
        s->name = provider->title; /* elsewhere the place is a better name */
}

/* Whether it can be asked; the offer is then whole. */
static bool look_at(struct looking *looking, const char *id, const struct model_provider *provider,
                    const struct model_custom *custom)
{
    looking->provider = provider;
    looking->custom = custom;
    looking->offer = (struct model_offer){.id = id, .provider = provider};
    struct model_settings *s = &looking->offer.settings;
    bool has_key = find_key(looking);
    if ((!has_key && !is_named(looking)) || !find_address(looking))
        return false;
    s->api = provider ? provider->api : MODEL_CHAT;
    if (provider && strcmp(provider->id, "openai") == 0)
        s->api = openai_api(looking);
    if (custom && custom->api != MODEL_DEMO)
        s->api = custom->api;
    if (custom)
        s->headers = custom->headers;
    if (provider) {
        s->key_header = provider->key_header;
        s->limits = provider->limits;
    }
    find_model(looking);
    name_offer(looking);
    return !looking->err;
}

static const struct model_custom *find_custom(const struct model_sources *sources, const char *id)
{
    for (size_t i = 0; i < sources->custom_count; i++)
        if (strcmp(sources->custom[i].id, id) == 0)
            return &sources->custom[i];
    return NULL;
}

int model_offers_read(const struct model_sources *sources, struct acp_arena *arena,
                      struct model_offer **ret, size_t *ret_count)
{
    struct looking looking = {.sources = sources, .arena = arena};
    const struct model_provider *provider;
    size_t known = 0;
    size_t count = 0;
    while (model_provider_at(known))
        known++;
    struct model_offer *offers =
        acp_arena_alloc(arena, (known + sources->custom_count + 1) * sizeof(*offers));
    if (!offers)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; (provider = model_provider_at(i)); i++)
        if (look_at(&looking, provider->id, provider, find_custom(sources, provider->id)))
            offers[count++] = looking.offer;
    for (size_t i = 0; i < sources->custom_count; i++)
        if (!model_provider_find(acp_str_from(sources->custom[i].id)) &&
            look_at(&looking, sources->custom[i].id, NULL, &sources->custom[i]))
            offers[count++] = looking.offer;
    if (looking.err)
        return looking.err;
    *ret = offers;
    *ret_count = count;
    return 0;
}
