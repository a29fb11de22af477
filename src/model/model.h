/*
 * model.h - language models behind one interface: a conversation goes in, an answer streams out.
 *
 *     struct model_service *service;    where models are asked: an API, an address, a key
 *     struct model_ask ask;             the conversation, the tools, the settings
 *     struct model_reply *reply;        one answer on its way
 *
 *     model_service_new(loop, client, &settings, &service, &failure);
 *     model_ask(service, &ask, &handler, user, &reply, &failure);
 *
 * A reply gives text, thoughts and tool calls as they come, says when it tries again, and has one
 * end, which also holds the whole answer as parts, ready to be put behind the conversation.
 *
 * Callbacks run from the loop, never inside the call that caused them, and may call any function
 * here, also the free functions of what they are about.  What they are given is valid until they
 * return.  A key is never in a sentence, nor in anything else that comes out of here.
 */
#ifndef SRC_MODEL_MODEL_H
#define SRC_MODEL_MODEL_H

#include <uv.h>

#include "acp/base.h"

struct http_client;

/* ---- The conversation ------------------------------------------------------------------------ */

enum model_role { MODEL_USER, MODEL_ASSISTANT };

enum model_part_kind {
    MODEL_TEXT,     /* text */
    MODEL_IMAGE,    /* mime, data */
    MODEL_AUDIO,    /* mime, data */
    MODEL_RESOURCE, /* uri, text: the content of a file or page that the user points at */
    MODEL_THOUGHT,  /* text, sealed */
    MODEL_CALL,     /* id, name, arguments, sealed */
    MODEL_RESULT,   /* id, name, text, failed: what a tool call gave */
};

/*
 * What a service wants back unchanged in the next request, and nobody else understands: Anthropic's
 * signature of a thought, Gemini's of a call, an encrypted thought of OpenAI's.  It is sent only to
 * the API, the service and the model that it came from, which `api` names together: "anthropic
 * claude-opus-5", with a hash of the base URL between them where that is not the API's own.
 */
struct model_sealed {
    struct acp_str api; /* absent: there is none */
    struct acp_raw data;
};

/* A part of a message; the kind says which fields are used. */
struct model_part {
    enum model_part_kind kind;
    bool failed;         /* MODEL_RESULT: it is an error */
    struct acp_str text; /* of a call: the arguments as they came, when they are broken */
    struct acp_str mime; /* "image/png" */
    struct acp_str data; /* base64 */
    struct acp_str uri;
    struct acp_str id;        /* pairs a call with its result */
    struct acp_str name;      /* of the tool */
    struct acp_raw arguments; /* a JSON object; absent when what came is none */
    struct model_sealed sealed;
};

/*
 * Takes what is sealed out of the parts of a conversation, which is due whenever something before
 * them has changed (a summary, the system text, the tools): services refuse it then.  The text of
 * the thoughts stays, for people.  Returns how many parts had something.
 */
size_t model_strip_sealed(struct model_part *parts, size_t count);

/* The user sends text, images, audio, resources and results; the rest is the assistant's. */
struct model_message {
    enum model_role role;
    const struct model_part *parts;
    size_t part_count;
};

struct model_tool {
    struct acp_str name;
    struct acp_str description;
    struct acp_raw schema; /* of the arguments: a JSON Schema of type object */
};

/*
 * How hard it should think; MODEL_EFFORT_DEFAULT leaves it to the model.  What a model does not
 * take becomes the nearest that it does.
 */
enum model_effort {
    MODEL_EFFORT_DEFAULT = 0,
    MODEL_EFFORT_NONE,
    MODEL_EFFORT_LOW,
    MODEL_EFFORT_MEDIUM,
    MODEL_EFFORT_HIGH,
    MODEL_EFFORT_XHIGH,
    MODEL_EFFORT_MAX,
};

/* "default", "none", "low", "medium", "high", "xhigh", "max". */
const char *model_effort_name(enum model_effort effort);
bool model_effort_find(struct acp_str name, enum model_effort *ret);

/* How a model is told to think. */
enum model_thinking {
    MODEL_THINKING_UNKNOWN = 0,
    MODEL_THINKING_NONE,     /* it cannot */
    MODEL_THINKING_BUDGET,   /* by a number of tokens */
    MODEL_THINKING_ADAPTIVE, /* it decides by itself, guided by an effort */
    MODEL_THINKING_EFFORT,   /* by one of a few levels */
};

/* Of a model, in tokens; 0: not known. */
struct model_limits {
    uint64_t window;
    uint64_t max_output; /* of one answer, with thoughts */
};

/* Borrowed during model_ask() only. */
struct model_ask {
    struct acp_str model; /* the service's name for it */
    struct acp_str system;
    const struct model_message *messages;
    size_t message_count;
    const struct model_tool *tools;
    size_t tool_count;
    uint64_t max_tokens; /* of the answer; 0: what is usual */
    enum model_effort effort;
    struct acp_opt_f64 temperature;
    struct acp_str session;       /* names the conversation, for services that cache by a key */
    struct model_limits limits;   /* those that are 0 are found by the name of the model */
    enum model_thinking thinking; /* of the model's facts, and so are the efforts; where they are */
    unsigned efforts;             /* not known the name of the model tells */
    struct acp_str origin;        /* model_ask() sets it: whose seals are sent; see model_sealed */
};

/* ---- The answer ------------------------------------------------------------------------------ */

enum model_stop {
    MODEL_END,   /* the model has said what it wanted to */
    MODEL_CALLS, /* it waits for the results of its calls */
    /*
     * The answer was cut: at the limit of one answer, or, with is_too_long, because the window is
     * full.  The parts are what came, without a call that was cut.
     */
    MODEL_MAX_TOKENS,
    MODEL_REFUSAL, /* the model, or a filter of the service, does not answer this */
    MODEL_CANCELLED,
    MODEL_ERROR, /* the sentence says why */
};

/* "end", "calls", "max tokens", ... for logs and tests. */
const char *model_stop_name(enum model_stop stop);

struct model_usage {
    uint64_t input;          /* tokens of the request, all of them */
    uint64_t cached;         /* those of them that the service had kept */
    uint64_t written;        /* those of them that it keeps from now on, where that has a price */
    uint64_t output;         /* tokens of the answer, with thoughts */
    uint64_t window;         /* what the model can hold; 0: not known */
    struct acp_opt_f64 cost; /* in US dollars, where the service or its list of prices tells */
};

struct model_retry {
    const char *sentence; /* "the server is busy, trying again in 4 s" */
    uint64_t wait_ms;
    unsigned attempt; /* the one that comes, from 2 */
    unsigned attempts;
};

struct model_end {
    enum model_stop stop;
    const char *sentence; /* for people, without a final stop; "" where there is nothing to say */
    bool is_auth;         /* the error is the key's: none, a wrong one, not for this */
    bool is_too_long;     /* the conversation does not fit into the window: make it shorter */
    /*
     * The service refused the seals of the conversation, and the request was repeated without them:
     * strip them, or the next request is refused again.
     */
    bool is_stripped;
    /* The answer as far as it came: text, whole thoughts, whole calls. */
    const struct model_part *parts;
    size_t part_count;
    struct model_usage usage;
};

struct model_reply;

/* All but `end` may be NULL. */
struct model_handler {
    void (*text)(struct model_reply *reply, struct acp_str piece, void *user);
    void (*thought)(struct model_reply *reply, struct acp_str piece, void *user);
    /* A call has id and name; its arguments are still to come. */
    void (*call_begun)(struct model_reply *reply, const struct model_part *call, void *user);
    /* It is whole.  arguments is absent when what came is no JSON object; text is what came. */
    void (*call)(struct model_reply *reply, const struct model_part *call, void *user);
    void (*usage)(struct model_reply *reply, const struct model_usage *usage, void *user);
    void (*retry)(struct model_reply *reply, const struct model_retry *retry, void *user);
    /* A call that was begun, or whole, does not count: the answer broke off and is asked again. */
    void (*call_dropped)(struct model_reply *reply, const struct model_part *call, void *user);
    /* Something that the user should know: a tool was left out, the answer begins again. */
    void (*notice)(struct model_reply *reply, const char *sentence, void *user);
    /* Once, the last one; the reply still wants its model_reply_free(). */
    void (*end)(struct model_reply *reply, const struct model_end *end, void *user);
};

/* ---- The service ----------------------------------------------------------------------------- */

enum model_api {
    MODEL_DEMO,      /* the offline demonstration: no address, no key */
    MODEL_ANTHROPIC, /* Messages */
    MODEL_CHAT,      /* OpenAI's chat completions, and whoever imitates them */
    MODEL_RESPONSES, /* OpenAI's responses */
    MODEL_GEMINI,    /* generateContent */
    MODEL_APIS,
};

/* "demo", "anthropic", "openai-chat", "openai-responses", "gemini". */
const char *model_api_name(enum model_api api);
bool model_api_find(struct acp_str name, enum model_api *ret);
/* The model that is asked by it where nobody has named one. */
const char *model_api_model(enum model_api api);

/* US dollars for a million tokens. */
struct model_price {
    double input;
    double output;
    double cache_read;  /* of input that the service had kept */
    double cache_write; /* of input that it keeps from now on */
};

enum model_ability {
    MODEL_CAN_IMAGES = 1, /* of prompts */
    MODEL_CAN_AUDIO = 2,
    MODEL_CAN_PDF = 4,
    MODEL_CAN_TOOLS = 8,
    MODEL_CAN_PARALLEL_TOOLS = 16,
    MODEL_CAN_CACHING = 32,
};

/* What is known about a model (facts.h); 0 and false: not known. */
struct model_facts {
    uint64_t context; /* tokens that a request and its answer may have */
    uint64_t output;  /* tokens that an answer may have */
    struct model_price price;
    bool has_price;
    enum model_thinking thinking;
    unsigned efforts; /* a bit for each enum model_effort that it takes */
    unsigned can;     /* of enum model_ability */
    unsigned cannot;  /* likewise; what is in neither is not known */
};

struct model_fact_row {
    const char *name; /* "provider/model" or "model", a star at the end stands for any rest */
    struct model_facts facts;
};

struct model_table {
    const struct model_fact_row *rows;
    size_t count;
};

/* That can be set for a service. */
enum { MODEL_MAX_HEADERS = 32 };

/* All texts are copied. */
struct model_settings {
    enum model_api api;
    const char *name;           /* for people: "Anthropic"; NULL: after the API or the address */
    const char *base_url;       /* NULL: the API's own */
    const char *key;            /* NULL: none is sent */
    bool bearer;                /* the key is a token for Authorization, also with Anthropic */
    struct acp_str_map headers; /* sent too, in the place of the API's own; they may hold keys */
    const char *model;          /* what is asked when model_ask names none */
    uint64_t window;            /* of that model; 0: as the service says, or as is known */
    /* Whose models and prices they are, as in models.json; NULL: told by the address. */
    const char *provider;
    const char *key_header;          /* the key is sent as this header; NULL: as the API has it */
    const char *limits;              /* a path on the server with more about its models, or NULL */
    const struct model_table *facts; /* that the user knows; it outlives the service */
    uint64_t connect_ms;             /* 0: 20 s */
    uint64_t stall_ms;               /* 0: 300 s */
    uint64_t backoff_ms;             /* before the second attempt, then twice as much; 0: 1 s */
    uint64_t max_wait_ms;   /* a server that wants more than this is not waited for; 0: 60 s */
    unsigned attempts;      /* 0: 5 */
    uint64_t demo_delay_ms; /* between words */
};

struct model_service;

/*
 * The client is borrowed and must outlive the service; NULL will do for MODEL_DEMO.
 * ACP_ERR_ARGUMENT with a sentence for a base_url, or a header, that is none.
 */
int model_service_new(uv_loop_t *loop, struct http_client *client,
                      const struct model_settings *settings, struct model_service **ret,
                      struct acp_failure *failure);
/* What is on its way of replies and lists goes on without it.  Takes NULL. */
void model_service_free(struct model_service *service);

enum model_api model_service_api(const struct model_service *service);
/* Its address, without a slash at the end; "" for the demo.  Borrowed. */
const char *model_service_url(const struct model_service *service);
/* For people; borrowed. */
const char *model_service_name(const struct model_service *service);
/* The model that is asked when none is named; "" when there is none. */
const char *model_service_model(const struct model_service *service);
/* Changes it; copied. */
int model_service_set_model(struct model_service *service, struct acp_str model);
/* What is known about one of its models; all of it 0 when that is nothing. */
void model_service_facts(const struct model_service *service, struct acp_str model,
                         struct model_facts *ret);
/* What can be sent to it.  A service that refuses one for a certain model says so in its error. */
bool model_service_takes(const struct model_service *service, enum model_part_kind kind);

/*
 * Asks.  ACP_ERR_ARGUMENT with a sentence for a conversation that cannot be sent (no model, a part
 * that this API does not take, a call without a result), ACP_ERR_NOMEM, ACP_ERR_LIMIT,
 * ACP_ERR_MISSING (libcurl).  Everything else is told by `end`.
 */
int model_ask(struct model_service *service, const struct model_ask *ask,
              const struct model_handler *handler, void *user, struct model_reply **ret,
              struct acp_failure *failure);
/* Stops at once; `end` comes with MODEL_CANCELLED and what had come until now. */
void model_reply_cancel(struct model_reply *reply);
/* Stops at once, and nothing is called back any more.  Takes NULL. */
void model_reply_free(struct model_reply *reply);
/* Reads no further; what has arrived already may still come. */
void model_reply_pause(struct model_reply *reply);
void model_reply_resume(struct model_reply *reply);

/* ---- Models ---------------------------------------------------------------------------------- */

struct model_row {
    struct acp_str id;
    struct acp_str name; /* for people; absent when the service has none */
    uint64_t window;     /* 0: not known */
};

struct model_list;

/* rows is NULL when it has failed, and the sentence says why.  They are valid until it returns. */
typedef void model_listed_fn(struct model_list *list, const struct model_row *rows, size_t count,
                             const char *sentence, void *user);
/*
 * Asks the service which models it has; listed comes once.  What it tells of windows and prices is
 * remembered by the service.
 */
int model_list_new(struct model_service *service, model_listed_fn *listed, void *user,
                   struct model_list **ret, struct acp_failure *failure);
/* Takes NULL. */
void model_list_free(struct model_list *list);

#endif
