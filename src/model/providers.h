/*
 * providers.h - who offers language models: a table, and which of them can be asked here.
 *
 * A provider can be asked when there is a key for it, in the environment or stored by a login, or
 * when it needs none and its address was given.  The configuration adds providers of its own and
 * changes those of the table.
 */
#ifndef SRC_MODEL_PROVIDERS_H
#define SRC_MODEL_PROVIDERS_H

#include "model/model.h"

struct model_provider {
    const char *id;    /* "anthropic": the part before the slash in names of models */
    const char *title; /* "Anthropic" */
    enum model_api api;
    /*
     * {NAME} stands for the value of a variable, {NAME,OTHER} for that of the first which is set;
     * the provider cannot be asked while one is missing.  NULL: there is no usual address.
     */
    const char *base_url;
    const char *keys;           /* variables with the key, the first counts most; NULL: no key */
    const char *url_variable;   /* an address in the place of base_url; NULL: none */
    const char *model_variable; /* NULL: none */
    const char *model;          /* asked where nobody names another; NULL: the first of its list */
    const char *bearer_key;     /* of the keys the one that is a bearer token; NULL: none */
    const char *key_header;     /* as in struct model_settings, and so is limits */
    const char *limits;
    unsigned port;  /* of a server on this machine; 0: it is none */
    bool owns_api;  /* the API is its own: the API's model is asked where nobody names another */
    bool lists_all; /* its list is what it can be asked, so the first of it may be */
};

/* NULL behind the last.  The order is that in which a model is looked for. */
const struct model_provider *model_provider_at(size_t index);
const struct model_provider *model_provider_find(struct acp_str id);

/* A key that a login has stored. */
struct model_key {
    const char *provider; /* its id */
    const char *key;
};

/* A provider as the configuration has it; what is NULL is as in the table. */
struct model_custom {
    const char *id;
    const char *title;
    const char *base_url;
    const char *key_variable;
    const char *model;
    struct acp_str_map headers;
    enum model_api api; /* MODEL_DEMO: as in the table, or chat completions */
};

/* Where providers and their keys are looked for. */
struct model_sources {
    const char *const *environment; /* "NAME=value", ends with NULL; NULL: empty */
    const struct model_key *stored;
    size_t stored_count;
    const struct model_custom *custom;
    size_t custom_count;
};

/* A provider that can be asked.  It borrows from the sources and the arena. */
struct model_offer {
    const char *id;
    const struct model_provider *provider; /* NULL: only the configuration has it */
    struct model_settings settings;
    const char *why; /* for people: "ANTHROPIC_API_KEY is set" */
};

/* All of them, in the order of the table and then of the configuration.  ACP_ERR_NOMEM. */
int model_offers_read(const struct model_sources *sources, struct acp_arena *arena,
                      struct model_offer **ret, size_t *ret_count);

/* The value of a variable; NULL when it is not set, or empty. */
const char *model_variable(const char *const *environment, struct acp_str name);

#endif
