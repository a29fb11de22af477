/*
 * stream.h - an answer while it is put together: what the dialects read out of events comes in
 * here, pieces go on at once, and the parts of the whole answer are kept.
 *
 * No I/O: bytes of an event in, calls of the sink out, so that every dialect is tested and fuzzed
 * without a server.  The first failure is latched in err.
 */
#ifndef SRC_MODEL_STREAM_H
#define SRC_MODEL_STREAM_H

#include "acp/json.h"
#include "model/model.h"

enum {
    STREAM_MAX_ANSWER = 64 * 1024 * 1024, /* bytes kept of an answer */
    STREAM_MAX_PARTS = 4096,
};

/* What an error that came in the stream means for another attempt. */
enum stream_fault {
    FAULT_NONE = 0,
    FAULT_BUSY,  /* may be over soon */
    FAULT_FINAL, /* would come again */
    FAULT_AUTH,  /* the key's */
};

struct stream_sink {
    void (*text)(struct acp_str piece, void *user);
    void (*thought)(struct acp_str piece, void *user);
    void (*call_begun)(const struct model_part *call, void *user);
    void (*call)(const struct model_part *call, void *user);
    void (*usage)(const struct model_usage *usage, void *user);
    void (*call_dropped)(const struct model_part *call, void *user);
};

/* A part while it grows. */
struct stream_part {
    struct model_part part;
    struct acp_buf grown; /* its text, or the arguments of a call */
    size_t key;           /* by which the service names a call */
    bool open;
};

struct model_stream {
    struct stream_sink sink;
    void *user;
    struct acp_arena arena; /* names, ids and seals, until the end */
    struct acp_arena event; /* for one event */
    struct acp_buf details; /* reasoning_details as they come, for chat.c */
    struct acp_str origin;  /* for seals; borrowed.  Absent: the name of the API alone */
    struct stream_part *parts;
    size_t count;
    size_t room;
    size_t bytes;
    size_t last_key;     /* of the last call, for services that do not number them */
    size_t calls;        /* begun so far */
    uint64_t salt;       /* makes the ids of ours differ from those of other answers */
    bool told;           /* something was passed on */
    bool has_stop;       /* the service has said why it ends */
    bool is_window_full; /* with MODEL_MAX_TOKENS: the conversation was too long, not the answer */
    bool is_complete;    /* its last event has come */
    enum model_stop stop;
    struct model_usage usage;
    enum stream_fault fault;
    char sentence[400]; /* what the service says about the fault, or the refusal */
    int err;
};

void stream_init(struct model_stream *s, const struct stream_sink *sink, void *user);
void stream_finish(struct model_stream *s);

/* ---- For the dialects ------------------------------------------------------------------------ */

/* More of the text, or of the thought, that is being said; begins one where there is none. */
void stream_text(struct model_stream *s, struct acp_str piece);
void stream_thought(struct model_stream *s, struct acp_str piece);
/* Begins a part of that kind, which may stay without words, unless one is open. */
void stream_begin(struct model_stream *s, enum model_part_kind kind);
/* What is being said is whole: the next piece begins another part. */
void stream_part_end(struct model_stream *s);
/* Seals the last part; the data, which may be absent, is copied. */
void stream_seal(struct model_stream *s, const char *api, struct acp_raw data);
bool stream_is_sealed(const struct model_stream *s);
/* Seals the first part of that kind instead. */
void stream_seal_first(struct model_stream *s, enum model_part_kind kind, const char *api,
                       struct acp_raw data);

/* A call begins.  The id may be empty: then it gets one of ours. */
void stream_call(struct model_stream *s, size_t key, struct acp_str id, struct acp_str name);
bool stream_has_call(const struct model_stream *s, size_t key);
void stream_arguments(struct model_stream *s, size_t key, struct acp_str piece);
/* The call is whole.  Arguments that come only now are given; absent: those that came. */
void stream_call_end(struct model_stream *s, size_t key, struct acp_str arguments);
void stream_calls_end(struct model_stream *s);

void stream_usage(struct model_stream *s);
void stream_stop(struct model_stream *s, enum model_stop stop);
/* An error of the service; the sentence is copied, as much as there is room for. */
void stream_fault(struct model_stream *s, enum stream_fault fault, struct acp_str sentence);

/* The id that a call without one gets; such ids are not told to the services. */
#define STREAM_OWN_ID "acp_call_"
bool stream_is_own_id(struct acp_str id);

/* ---- For the reply --------------------------------------------------------------------------- */

/*
 * The answer as far as it is whole; valid until the stream changes.  With has_stop false the parts
 * that are still open are left out, but for text.
 */
int stream_parts(struct model_stream *s, const struct model_part **ret, size_t *ret_count);
/* The reason, corrected by what has come: with calls it is theirs. */
enum model_stop stream_final_stop(const struct model_stream *s);

#endif
