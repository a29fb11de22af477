/*
 * find.h - which model to ask when nobody has said: keys in the environment, then a model server on
 * this machine, then the offline demo.
 */
#ifndef SRC_MODEL_FIND_H
#define SRC_MODEL_FIND_H

#include "model/model.h"

/*
 * What is known after looking.  The settings point into the environment that was given and into
 * this struct, which is therefore not to be copied.
 */
struct model_choice {
    struct model_settings settings;
    const char *why; /* for people: "ANTHROPIC_API_KEY is set" */
    char note[300];  /* for people: who else was found and why not taken; mostly empty */
    char url[300];
    char model[300];
};

/*
 * The environment as a list of "NAME=value" that ends with NULL.  False when nothing in it names a
 * service:
 *
 *   ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL
 *   OPENAI_API_KEY, OPENAI_BASE_URL (then by chat completions), OPENAI_MODEL,
 *     OPENAI_WIRE_API ("chat" or "responses": by that one in any case)
 *   GEMINI_API_KEY or GOOGLE_API_KEY, GOOGLE_GEMINI_BASE_URL, GEMINI_MODEL
 *   OPENROUTER_API_KEY, OPENROUTER_MODEL
 *   OLLAMA_HOST, OLLAMA_MODEL
 */
bool model_from_environment(const char *const *environment, struct model_choice *ret);

/* A port on which a model server may listen, and its name. */
struct model_port {
    unsigned port;
    const char *name;
};

struct model_find;

/* Comes once.  The choice is valid until it returns. */
typedef void model_found_fn(struct model_find *find, const struct model_choice *choice, void *user);

/*
 * Looks for a model.  ports, which ends with port 0, are tried in their order; NULL: Ollama 11434,
 * llama.cpp 8080, LM Studio 1234.  A server counts when it belongs to this user or to root and
 * lists a model; the first one is taken.  Who wants that of another user names it in the
 * environment.
 * Where nothing listens libcurl is not even loaded.  The environment must live until found comes.
 */
int model_find_new(uv_loop_t *loop, struct http_client *client, const char *const *environment,
                   const struct model_port *ports, model_found_fn *found, void *user,
                   struct model_find **ret);
/* Takes NULL. */
void model_find_free(struct model_find *find);

#endif
