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
 * understood; input that is not JSON is an error.
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
/*
 * The arguments of a call, which are an object in any case: what came instead of one is the text of
 * its only member, so that the model sees what it has written.
 */
#define DIALECT_RAW_ARGUMENTS "raw_arguments"
void dialect_write_arguments(struct acp_json_writer *w, const struct model_part *call);
/* Its sealed data when it is of the origin that is asked; absent otherwise. */
struct acp_raw dialect_seal(const struct model_dialect *dialect, const struct model_ask *ask,
                            const struct model_part *part);

/* What names may consist of. */
enum dialect_names {
    NAMES_PLAIN,  /* letters, digits, _ and - */
    NAMES_GEMINI, /* also . and :, with a letter or _ in front */
    NAMES_ANY,
};
/*
 * "key":"name" for the name of a tool, or the id of a call, as the service takes it: what it would
 * refuse is replaced, the same way for a call and for its result.  Ids stay different from each
 * other.
 */
void dialect_put_name(struct acp_json_writer *w, const char *key, struct acp_str name,
                      enum dialect_names names);
void dialect_put_id(struct acp_json_writer *w, const char *key, struct acp_str id,
                    enum dialect_names names, size_t most);

/* FNV-1a, for names that only have to differ. */
uint64_t dialect_hash(struct acp_str text);

/*
 * Roles alternate.  A turn is a run of messages of one role, of which at least one has a part that
 * is sent; begin with a zeroed one.
 */
struct dialect_turn {
    enum model_role role;
    size_t begin; /* its first message */
    size_t end;   /* behind its last */
};
typedef bool dialect_sent_fn(const struct model_ask *ask, const struct model_part *part);
bool dialect_next_turn(const struct model_ask *ask, dialect_sent_fn *is_sent,
                       struct dialect_turn *turn);
/* Its parts, one by one, also those that are not sent; NULL at the end. */
struct dialect_walk {
    size_t message;
    size_t part;
};
const struct model_part *dialect_next_part(const struct model_ask *ask,
                                           const struct dialect_turn *turn,
                                           struct dialect_walk *walk);

/* More tokens for an answer that is to be short, where thoughts count as a part of it. */
enum { DIALECT_THINKING_ROOM = 8192 };

/* The effort that is asked for, or the nearest that the model is known to take. */
enum model_effort dialect_effort(const struct model_ask *ask);

/* ---- limits.c -------------------------------------------------------------------------------- */

/* Those of the ask, or what is known of the model. */
struct model_limits limits_of(const struct model_ask *ask);
/* What the table of models says of a model, which may have the name that a reseller gives it. */
struct model_facts facts_of(struct acp_str model);
/* That many tokens, or as many as the model may answer with. */
uint64_t limits_clamp(const struct model_ask *ask, uint64_t tokens);

/*
 * An error as the services send it: {"error":{"message":...,"type":...,"code":...}} with all its
 * variations.  status is that of HTTP, or 0 in a stream.  False when there is none in it.
 */
bool dialect_read_error(struct model_stream *s, struct acp_raw body, int status);

#endif
