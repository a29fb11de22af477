/*
 * catalog.h - the providers that a process can ask, and the models of all of them by one name:
 * "provider/model".
 *
 * What there is to choose from comes from the table of models until the provider's own list is
 * there; nobody waits for it.  The demo is a provider with one model, and both are called "demo".
 */
#ifndef SRC_MODEL_CATALOG_H
#define SRC_MODEL_CATALOG_H

#include "model/model.h"

struct model_catalog;

int model_catalog_new(struct model_catalog **ret);
/* Takes NULL. */
void model_catalog_free(struct model_catalog *catalog);

/* Adds a provider, or replaces that of the same id.  Takes the service, also when it fails. */
int model_catalog_add(struct model_catalog *catalog, const char *id, struct model_service *service);
/* Does nothing when there is no such provider. */
void model_catalog_remove(struct model_catalog *catalog, struct acp_str id);

size_t model_catalog_count(const struct model_catalog *catalog);
/* By index, in the order in which they were added. */
const char *model_catalog_id(const struct model_catalog *catalog, size_t index);
struct model_service *model_catalog_service(const struct model_catalog *catalog, size_t index);
/* NULL when there is no such provider. */
struct model_service *model_catalog_find(const struct model_catalog *catalog, struct acp_str id);

/* Appends "provider/model", or "demo". */
int model_catalog_name(const char *provider, struct acp_str model, struct acp_buf *out);

/* A model of a provider. */
struct model_ref {
    const char *provider;
    struct model_service *service;
    struct acp_str model; /* as the service calls it; a part of the name that was resolved */
};

/*
 * Finds the model of that name.  "provider/model" may be any name, unless the provider's list is
 * there and does not have it.  A name alone must be that of one provider's model; when there is but
 * one provider, and its list is not there yet, it may be any.
 * ACP_ERR_UNKNOWN with a sentence that names candidates.
 */
int model_catalog_resolve(const struct model_catalog *catalog, struct acp_str name,
                          struct model_ref *ret, struct acp_failure *failure);

/* A model to choose from; borrowed until the catalog changes. */
struct model_listed {
    struct acp_str name;    /* "provider/model" */
    struct acp_str title;   /* for people */
    struct acp_str service; /* likewise: whose it is */
};

/*
 * At most `most` of all models, and then of each provider about as many as of the others.
 */
size_t model_catalog_list(const struct model_catalog *catalog, struct model_listed *ret,
                          size_t most);

/*
 * Asks a provider for its list, unless that was done; absent: all those of whose models the table
 * knows nothing.  `changed` comes, from the loop, for each that has told something, until the
 * catalog is freed.
 */
void model_catalog_refresh(struct model_catalog *catalog, struct acp_str provider,
                           void (*changed)(void *user), void *user);

#endif
