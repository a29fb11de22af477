/* service.h - what the files of this floor know of a service. */
#ifndef SRC_MODEL_SERVICE_H
#define SRC_MODEL_SERVICE_H

#include "http/http_client.h"
#include "model/dialect.h"
#include "model/facts.h"

/* What the service's list has told about a model. */
struct model_known {
    char *id;
    struct model_facts facts;
};

/* Tools that the service has refused, as hashes of model and name; see again.c. */
enum { SERVICE_MAX_REFUSED = 32 };

struct model_service {
    unsigned holds; /* its owner's, and those of the replies and lists that are on their way */
    uv_loop_t *loop;
    struct http_client *client;
    const struct model_dialect *dialect; /* NULL: the demo */
    enum model_api api;
    char *name;
    char *base_url; /* without a slash at its end */
    char *key;      /* NULL: none */
    char *model;
    char *provider;   /* NULL: not one of the table */
    char *key_header; /* NULL: as the API has it */
    char *limits;     /* NULL: there is none */
    bool bearer;
    struct service_header {
        char *name;
        char *value;
    } headers[MODEL_MAX_HEADERS]; /* that were set */
    size_t header_count;
    struct model_settings settings; /* numbers only; the texts are above */
    struct model_known *known;
    size_t known_count;
    uint64_t refused[SERVICE_MAX_REFUSED];
    size_t refused_count;
};

/* The same with one hold more, which model_service_free() gives back. */
struct model_service *service_hold(struct model_service *service);

/* ---- headers.c ------------------------------------------------------------------------------- */

/* Those that were set, into the service.  ACP_ERR_ARGUMENT with a sentence, ACP_ERR_NOMEM. */
int service_copy_headers(struct model_service *service, struct acp_str_map headers,
                         struct acp_failure *failure);
void service_forget_headers(struct model_service *service);

/* The headers of a request, with the key as the service wants it; they borrow from the service. */
enum { SERVICE_MAX_HEADERS = 4 + MODEL_MAX_HEADERS, SERVICE_MAX_TEXT = 64 * 1024 };
struct service_headers {
    struct http_header items[SERVICE_MAX_HEADERS];
    size_t count;
    struct acp_buf bearer;
};
int service_headers(const struct model_service *service, struct service_headers *ret);
void service_headers_finish(struct service_headers *headers);

/* Takes every trace of the key, and of what headers hold, out of a sentence. */
void service_redact(const struct model_service *service, char *sentence);

/* ---- service.c ------------------------------------------------------------------------------- */

/* Frees what a list has told. */
void service_forget_known(struct model_known *known, size_t count);
/* Adds window and cost to what the model has told. */
void service_complete_usage(const struct model_service *service, struct acp_str model,
                            struct model_usage *usage);

/* ---- answer.c: what an answer that is no stream means ---------------------------------------- */

struct service_answer {
    int status;
    struct acp_str body;
    char sentence[600]; /* for people; redacted */
    bool is_busy;       /* worth another attempt */
    bool is_auth;
    bool is_too_long;
    bool has_wait; /* the body says how long to wait */
    uint64_t wait_ms;
};

/* status and body are given; the rest is found out. */
void service_read_answer(const struct model_service *service, struct service_answer *answer);
/* Whether a sentence of the service says that the conversation is too long. */
bool service_says_too_long(struct acp_str text);

#endif
