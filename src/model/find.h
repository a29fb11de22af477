/*
 * find.h - which model is asked when nobody has said: that of a provider with a key, then that of a
 * model server on this machine, then the offline demo.
 */
#ifndef SRC_MODEL_FIND_H
#define SRC_MODEL_FIND_H

#include "model/providers.h"

/*
 * What is known after looking.  It borrows from the sources and from the find, and is therefore not
 * to be copied.
 */
struct model_choice {
    const char *id; /* of the provider, "demo" for the demo */
    struct model_settings settings;
    const char *why; /* for people: "ANTHROPIC_API_KEY is set" */
    char note[300];  /* for people: who else was found and why not taken; mostly empty */
    char url[300];   /* of a server that was found on this machine */
    char model[300];
    const struct model_offer *offers; /* all that can be asked; a server of this machine is not */
    size_t offer_count;               /* among them unless it was named, nor is the demo */
};

/* A port on which a model server may listen, and whose it would be. */
struct model_port {
    unsigned port;
    const char *provider; /* an id of the table */
};

struct model_find;

/* Comes once.  The choice is valid until it returns. */
typedef void model_found_fn(struct model_find *find, const struct model_choice *choice, void *user);

/*
 * Looks for a model.  ports, which ends with port 0, are tried in their order; NULL: those of the
 * table.  A server counts when it belongs to this user or to root and lists a model; the first one
 * is taken.  Who wants that of another user names it in the environment.
 * Where nothing listens libcurl is not even loaded.  The sources must live until found comes.
 */
int model_find_new(uv_loop_t *loop, struct http_client *client, const struct model_sources *sources,
                   const struct model_port *ports, model_found_fn *found, void *user,
                   struct model_find **ret);
/* Takes NULL. */
void model_find_free(struct model_find *find);

#endif
