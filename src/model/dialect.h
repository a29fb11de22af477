/*
 * dialect.h - what an API of a service looks like: how it is asked, and what its events mean.
 *
 * A dialect writes the body of a request and reads one event at a time into a stream; everything
 * around it (connections, retries, errors by status, keys) is the same for all.
 */
#ifndef SRC_MODEL_DIALECT_H
#define SRC_MODEL_DIALECT_H

#include "model/stream.h"

struct model_dialect {
    const char *name;     /* "anthropic" */
    const char *title;    /* "Anthropic" */
    const char *base_url; /* the service's own */
    const char *models;   /* the path of the list, behind the base URL */
    /*
     * The one that is asked where nobody has named another: that which the service's documentation
     * and SDK have in their examples, as of 2026, or a name that stands for the newest.
     */
    const char *model;
    const char *rows; /* where the list has its rows: "data", "models" */
    unsigned takes;   /* a bit for each enum model_part_kind that the user may send */
    /* Appends the path of a request, behind the base URL. */
    int (*path)(struct acp_str model, struct acp_buf *url);
    /* The body.  ask->model is set, and the conversation was checked. */
    void (*write)(const struct model_ask *ask, struct acp_json_writer *w);
    /* One event: valid JSON, an object. */
    void (*read)(struct model_stream *s, struct acp_raw event);
};

extern const struct model_dialect dialect_anthropic;
extern const struct model_dialect dialect_chat;
extern const struct model_dialect dialect_responses;
extern const struct model_dialect dialect_gemini;

/* NULL for the demo, which has none. */
const struct model_dialect *dialect_of(enum model_api api);

/*
 * Hands the data of one event to the dialect.  What ends a stream without being JSON ("[DONE]") is
 * understood; what is no JSON at all is a fault.
 */
void dialect_event(const struct model_dialect *dialect, struct model_stream *s,
                   struct acp_str data);

/* ---- What the dialects share ----------------------------------------------------------------- */

/* "key":"text", nothing when the text is absent. */
void dialect_put_str(struct acp_json_writer *w, const char *key, struct acp_str text);
void dialect_put_u64(struct acp_json_writer *w, const char *key, uint64_t value);
void dialect_put_raw(struct acp_json_writer *w, const char *key, struct acp_raw value);
void dialect_put_bool(struct acp_json_writer *w, const char *key, bool value);
void dialect_key(struct acp_json_writer *w, const char *key);
/* A resource as text that tells what it is. */
void dialect_put_resource(struct acp_json_writer *w, const char *key,
                          const struct model_part *part);
/* The arguments of a call, which is an object in any case. */
struct acp_raw dialect_arguments(const struct model_part *call);
/* Its sealed data when it is of this dialect; absent otherwise. */
struct acp_raw dialect_seal(const struct model_dialect *dialect, const struct model_part *part);

/*
 * An error as the services send it: {"error":{"message":...,"type":...,"code":...}} with all its
 * variations.  status is that of HTTP, or 0 in a stream.  False when there is none in it.
 */
bool dialect_read_error(struct model_stream *s, struct acp_raw body, int status);

#endif
