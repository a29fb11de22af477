/*
 * rpc.h - the JSON-RPC 2.0 peer: sends and serves requests and notifications, and correlates
 * requests with responses.  Programs that speak ACP use a role instead (agent.h, client.h), which
 * has a peer inside; this header is for other protocols over JSON-RPC, and for proxies.
 *
 * A peer does no I/O and knows no clock.  Its owner passes in what was received, with the time, and
 * sends what the peer has put out.  A whole exchange:
 *
 *     static void on_request(struct acp_peer *peer, acp_call call,
 *                            const struct acp_message *message, void *user)
 *     {
 *         if (acp_str_is(message->method, "echo"))
 *             acp_peer_result(peer, call, message->params);
 *         else
 *             acp_peer_error(peer, call, -32601, acp_str_from("Method not found"),
 *                   acp_raw_from(NULL));
 *     }
 *
 *     static const struct acp_peer_handler handler = {.request = on_request};
 *     struct acp_peer *peer;
 *     int err = acp_peer_new(NULL, &handler, NULL, &peer);
 *     ...
 *     acp_peer_receive(peer, bytes, n, now_ms());
 *     struct acp_str out = acp_peer_output(peer);
 *     ssize_t sent = write(fd, out.ptr, out.len);
 *     if (sent > 0)
 *         acp_peer_sent(peer, (size_t) sent);
 *     ...
 *     acp_peer_free(peer);
 *
 * endpoint.h has the same as a whole loop, and the rules for threads, callbacks and freeing.
 *
 * What it guarantees:
 *   - every request it received gets exactly one response, with its id byte for byte
 *   - every request it sent gets exactly one reply callback: an answer, a timeout, or the close
 *   - output leaves in the order in which it was produced
 *   - a notification, and anything that looks like a response, is never answered
 *
 * Texts and JSON passed to a call are copied into the output during the call; those passed to a
 * callback are valid until it returns.
 */
#ifndef ACP_RPC_H
#define ACP_RPC_H

#include "acp/base.h"
#include "acp/endpoint.h"
#include "acp/json.h"
#include "acp/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_peer;

/* A request that was received and waits for its response.  0 is none; numbers are not reused. */
typedef uint64_t acp_call;

/* A request or notification as received; valid during the callback. */
struct acp_message {
    struct acp_str method;
    struct acp_raw params;     /* absent when there were none */
    struct acp_raw session_id; /* params.sessionId as it stands there, with its quotes; or absent */
    struct acp_raw key;        /* the key of params that options.key asks for; or absent */
    struct acp_raw text;       /* the whole message */
};

/* Protocol violations worth logging; the peer has already handled them. */
enum acp_protocol_error {
    ACP_PROTOCOL_ERROR_PARSE,     /* text is no JSON; answered with -32700 */
    ACP_PROTOCOL_ERROR_TOO_LARGE, /* a message over the limit was dropped; text is its beginning */
    /* JSON, but no message; answered with -32600 unless response-like */
    ACP_PROTOCOL_ERROR_INVALID_MESSAGE,
    /* a response to nothing we asked, or to something already settled */
    ACP_PROTOCOL_ERROR_UNEXPECTED_RESPONSE,
    ACP_PROTOCOL_ERROR_DUPLICATE_ID, /* a request whose id is still open; answered with -32600 */
    ACP_PROTOCOL_ERROR_LIMIT,        /* more than is kept, and dropped; text says of what */
};

struct acp_peer_handler {
    /* A request.  Answer it now or later, once.  Left out: every request is answered -32601. */
    void (*request)(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                    void *user);
    void (*notification)(struct acp_peer *peer, const struct acp_message *message, void *user);
    /*
     * The other side wants this request cancelled.  It must still be answered: with a result, or
     * with -32800 (acp_peer_error_for(ACP_ERR_CANCELLED)).  Left out: the cancellation is ignored.
     */
    void (*cancel)(struct acp_peer *peer, acp_call call, void *user);
    void (*protocol_error)(struct acp_peer *peer, enum acp_protocol_error what, struct acp_str text,
                           void *user);
    /* Unsent output went above the high-water mark (true) or back below the low one (false). */
    void (*pressure)(struct acp_peer *peer, bool high, void *user);
    /* The peer is closed; every open request of ours has been failed before this.  Called once. */
    void (*closed)(struct acp_peer *peer, int reason, void *user);
};

struct acp_peer_options {
    enum acp_framing framing; /* AUTO answers in the framing that the other side uses */
    size_t max_message;       /* of one received message; 0: ACP_WIRE_DEFAULT_MAX */
    size_t max_output;        /* unsent bytes, a hard limit; 0: 256 MiB */
    size_t high_water;        /* unsent bytes; 0: 1 MiB */
    size_t low_water;         /* 0: a quarter of high_water */
    size_t max_calls;         /* received requests open at once; 0: 65536 */
    size_t max_pending;       /* sent requests open at once; 0: 65536 */
    struct acp_str key;       /* a key of params to be found along the way; must outlive the peer */
    /*
     * The notification by which one side tells the other that it no longer wants a request
     * answered: its method, and the key of the request's id in its params.  Absent: those of ACP,
     * "$/cancel_request" and "requestId"; MCP has "notifications/cancelled".  A method that is
     * empty, but not absent: there is none.  Both must outlive the peer.
     */
    struct acp_str cancel_method;
    struct acp_str cancel_key;
    bool ignore_parse_errors; /* do not answer -32700 to lines that are no JSON */
    bool null_ids;            /* serve requests with "id":null (v1's schema allows them) */
    uint64_t reserved[4];
};

/* How the reply to a request of ours ended. */
struct acp_reply {
    /*
     * 0, ACP_ERR_REMOTE, _MALFORMED, _TIMEOUT, the reason of the close, or that the answer came and
     * could not be taken: ACP_ERR_LIMIT, _NOMEM.
     */
    int err;
    struct acp_raw result; /* when err is 0 */
    int64_t error_code;    /* the rest when it is ACP_ERR_REMOTE */
    struct acp_str error_message;
    struct acp_raw error_data;
};

/* How something that a role asked for ended, for the program. */
struct acp_outcome {
    int err;            /* 0, or one of enum acp_err; ACP_ERR_REMOTE when the other side refused */
    int64_t code;       /* the JSON-RPC code then */
    struct acp_str why; /* one sentence for people, for every error; empty when err is 0 */
    /* What was answered: the struct of the result's type, struct acp_raw for ACP_TYPE_ANY. */
    const void *value;
};

/*
 * Why a turn stopped: what an agent passes to acp_turn_end() and what a client is told by
 * acp_turn_fn.  An agent cannot pass the first and the last one.
 */
enum acp_stop {
    ACP_STOP_NONE = 0, /* it has not stopped by itself: it failed, or the connection closed */
    ACP_STOP_END_TURN,
    ACP_STOP_MAX_TOKENS,
    ACP_STOP_MAX_TURN_REQUESTS,
    ACP_STOP_REFUSAL,
    ACP_STOP_CANCELLED,
    ACP_STOP_OTHER, /* a reason that this version of the library does not know */
};

/* The reason as the protocol spells it ("end_turn"); NULL for NONE, OTHER and other numbers. */
ACP_API const char *acp_stop_text(enum acp_stop stop);

typedef void acp_reply_fn(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                          void *user);

struct acp_request {
    struct acp_str method;
    /*
     * 0: wait for ever.  Counted from the time that the call which sends it was given; where the
     * request is sent outside of receive and tick, from the next time that the peer is told.
     */
    uint64_t timeout_ms;
    acp_reply_fn *reply;
    void *user;
    bool no_cancel; /* the other side is not asked to cancel it when it times out */
    void *reserved[2];
};

/* options NULL takes the defaults; the handler is copied.  ACP_ERR_NOMEM. */
ACP_API int acp_peer_new_sized(const struct acp_peer_options *options, size_t options_size,
                               const struct acp_peer_handler *handler, size_t handler_size,
                               void *user, struct acp_peer **ret);
static inline int acp_peer_new(const struct acp_peer_options *options,
                               const struct acp_peer_handler *handler, void *user,
                               struct acp_peer **ret)
{
    return acp_peer_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/* Takes NULL.  Open requests are failed with ACP_ERR_CLOSED first. */
ACP_API void acp_peer_free(struct acp_peer *peer);

/* ---- Bytes and time -------------------------------------------------------------------------- */

/*
 * now is milliseconds of any clock that only goes forward.  ACP_ERR_CLOSED when the peer is closed.
 * Bytes fed inside a callback of receive are kept until it returns; ACP_ERR_LIMIT and _NOMEM when
 * they cannot be.
 */
ACP_API int acp_peer_receive(struct acp_peer *peer, const void *bytes, size_t n, uint64_t now);
/* No more bytes will come: serves a last line without an end, then closes with ACP_ERR_CLOSED. */
ACP_API void acp_peer_receive_end(struct acp_peer *peer, uint64_t now);
/* One whole message, for transports that have their own frames; errors as acp_peer_receive(). */
ACP_API int acp_peer_receive_message(struct acp_peer *peer, struct acp_raw text, uint64_t now);
/*
 * The peer as an endpoint, for whoever drives it: there is where whole messages are taken out, and
 * where one is told that there is output.  Belongs to the peer.
 */
ACP_API struct acp_endpoint *acp_peer_endpoint(struct acp_peer *peer);
/* What is to be sent; valid until the next call. */
ACP_API struct acp_str acp_peer_output(const struct acp_peer *peer);
ACP_API void acp_peer_sent(struct acp_peer *peer, size_t n);
/*
 * When acp_peer_tick() is next needed: 0 for at once, which a request with a timeout asks for so
 * that its time begins; UINT64_MAX when no timeout is set.
 */
ACP_API uint64_t acp_peer_deadline(const struct acp_peer *peer);
/* Fails what is overdue: cancels it at the other side and replies ACP_ERR_TIMEOUT here. */
ACP_API void acp_peer_tick(struct acp_peer *peer, uint64_t now);
/* Fails everything open with reason (an enum acp_err) and takes no more messages either way. */
ACP_API void acp_peer_close(struct acp_peer *peer, int reason);
ACP_API bool acp_peer_is_closed(const struct acp_peer *peer);
/* Whether unsent output is above the high-water mark: who feeds the peer had better wait. */
ACP_API bool acp_peer_is_above_high_water(const struct acp_peer *peer);
/* Requests of ours that wait for a reply, and requests of theirs that wait for our response. */
ACP_API size_t acp_peer_pending(const struct acp_peer *peer);
ACP_API size_t acp_peer_calls(const struct acp_peer *peer);
/* The framing in use for output. */
ACP_API enum acp_framing acp_peer_framing(const struct acp_peer *peer);
/* The id of a call as its bytes; absent once it is answered. */
ACP_API struct acp_raw acp_peer_call_id(const struct acp_peer *peer, acp_call call);

/*
 * A pointer that the owner attaches to a call, NULL at first; it goes with the call.  A role uses
 * those of its own peer itself.
 */
ACP_API void acp_peer_call_set_user(struct acp_peer *peer, acp_call call, void *user);
ACP_API void *acp_peer_call_user(const struct acp_peer *peer, acp_call call);

/* ---- Sending --------------------------------------------------------------------------------- */

/* params may be absent.  ret_request may be NULL.  ACP_ERR_CLOSED, _LIMIT, _NOMEM. */
ACP_API int acp_peer_request(struct acp_peer *peer, const struct acp_request *request,
                             struct acp_raw params, uint64_t *ret_request);
ACP_API int acp_peer_notify(struct acp_peer *peer, struct acp_str method, struct acp_raw params);
/* result absent writes {}.  ACP_ERR_UNKNOWN when the call has been answered already. */
ACP_API int acp_peer_result(struct acp_peer *peer, acp_call call, struct acp_raw result);
/* message must not be empty; it is cut at its first line end.  data may be absent. */
ACP_API int acp_peer_error(struct acp_peer *peer, acp_call call, int64_t code,
                           struct acp_str message, struct acp_raw data);
/* The error response that stands for one of our own codes. */
ACP_API int acp_peer_error_for(struct acp_peer *peer, acp_call call, int err);
/* Asks the other side to cancel a request of ours; the reply still comes.  ACP_ERR_UNKNOWN. */
ACP_API int acp_peer_cancel(struct acp_peer *peer, uint64_t request);

/*
 * The same without an intermediate copy: begin, write exactly one JSON value (the params or the
 * result) with the writer, then commit.  Begin always returns a writer; where the plain call would
 * fail it is one that ignores what is written, and commit returns the error.  So the result of
 * commit is the only one to check:
 *
 *     struct acp_json_writer *w = acp_peer_begin_result(peer, call);
 *     acp_json_begin_object(w);
 *     acp_json_end_object(w);
 *     int err = acp_peer_commit(peer, NULL);
 *
 * When the writer has failed, commit takes the message back and returns its error; a result that
 * failed is answered with -32603 instead.  Nothing else may be called on the peer between begin and
 * commit: a second begin makes the commit fail with ACP_ERR_STATE.  Commit without a begin returns
 * ACP_ERR_STATE, abort without one does nothing.
 */
ACP_API struct acp_json_writer *acp_peer_begin_request(struct acp_peer *peer,
                                                       const struct acp_request *request);
ACP_API struct acp_json_writer *acp_peer_begin_notify(struct acp_peer *peer, struct acp_str method);
ACP_API struct acp_json_writer *acp_peer_begin_result(struct acp_peer *peer, acp_call call);
/* For a request, ret_request gets its number; may be NULL. */
ACP_API int acp_peer_commit(struct acp_peer *peer, uint64_t *ret_request);
/* Takes the message back; a call that was begun stays open. */
ACP_API void acp_peer_abort(struct acp_peer *peer);

#ifdef __cplusplus
}
#endif

#endif
