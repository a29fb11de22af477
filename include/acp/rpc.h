/*
 * rpc.h - the JSON-RPC 2.0 peer: sends and serves requests and notifications, and correlates
 * requests with responses.  Programs that speak ACP use a role instead (acp/agent.h, acp/client.h),
 * which contains a peer; this header is for other protocols over JSON-RPC, and for the types that
 * it shares with the roles.
 *
 *     #include <acp/rpc.h>
 *     #include <stdio.h>
 *
 *     static void on_request(struct acp_peer *peer, acp_call call,
 *                            const struct acp_message *message, void *user)
 *     {
 *         if (acp_str_is(message->method, "echo"))
 *             acp_peer_result(peer, call, message->params);
 *         else
 *             acp_peer_error(peer, call, -32601, acp_str_from("Method not found"),
 *                            acp_raw_from(NULL));
 *     }
 *
 *     static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
 *                          void *user)
 *     {
 *         *(bool *) user = reply->err == 0;
 *         printf("%.*s\n", ACP_ARG(reply->result));
 *     }
 *
 *     // Carries what one peer has to send to the other; a program would do I/O here.
 *     static void carry(struct acp_peer *from, struct acp_peer *to)
 *     {
 *         struct acp_str bytes = acp_peer_output(from);
 *         acp_peer_receive(to, bytes.ptr, bytes.len, 0);
 *         acp_peer_sent(from, bytes.len);
 *     }
 *
 *     int main(void)
 *     {
 *         static const struct acp_peer_handler handler = {.request = on_request};
 *         static const struct acp_peer_handler none = {0};
 *         struct acp_peer *server = NULL;
 *         struct acp_peer *client = NULL;
 *         bool good = false;
 *         struct acp_request request = {
 *             .method = acp_str_from("echo"), .reply = on_reply, .user = &good};
 *         if (!acp_peer_new(NULL, &handler, NULL, &server) &&
 *             !acp_peer_new(NULL, &none, NULL, &client) &&
 *             !acp_peer_request(client, &request, acp_raw_from("[1,2]"), NULL)) {
 *             carry(client, server);
 *             carry(server, client);
 *         }
 *         acp_peer_free(client);
 *         acp_peer_free(server);
 *         return good ? 0 : 1;
 *     }
 *
 * What the peer guarantees:
 *   - every request received gets exactly one response, with its id byte for byte
 *   - every request sent gets exactly one reply callback: an answer, an error, a timeout or the
 *     close of the connection
 *   - output leaves in the order in which it was produced
 *   - notifications and responses, however malformed, are never answered
 *
 * A peer does no I/O and has no clock: acp/endpoint.h has a loop that drives it, and the rules for
 * threads, arguments, callbacks and freeing.
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

/* ---- Messages -------------------------------------------------------------------------------- */

/*
 * A received request that is owed a response.  0 is never one; numbers are not reused, so using one
 * that was answered is an error and nothing worse.
 */
typedef uint64_t acp_call;

/* A request or notification as received; valid during the callback. */
struct acp_message {
    struct acp_str method;
    struct acp_raw params;     /* absent if there are none */
    struct acp_raw session_id; /* params.sessionId as its bytes, with the quotes; or absent */
    struct acp_raw key;        /* the key of params that options.key names; or absent */
    struct acp_raw text;       /* the whole message */
};

/* Protocol violations worth logging; the peer has already handled them. */
enum acp_protocol_error {
    ACP_PROTOCOL_ERROR_PARSE,     /* not JSON; answered with -32700 */
    ACP_PROTOCOL_ERROR_TOO_LARGE, /* a message over the maximum, dropped; text is its beginning */
    /* JSON, but not a message; answered with -32600 unless it looks like a response */
    ACP_PROTOCOL_ERROR_INVALID_MESSAGE,
    /* a response to a request that was never sent, or already has its reply */
    ACP_PROTOCOL_ERROR_UNEXPECTED_RESPONSE,
    ACP_PROTOCOL_ERROR_DUPLICATE_ID, /* a request whose id is still open; answered with -32600 */
    ACP_PROTOCOL_ERROR_LIMIT,        /* dropped because a limit is reached; text says which */
};

/* How a request that was sent ended.  Exactly one of result and the error members is set. */
struct acp_reply {
    /*
     * 0; ACP_ERR_REMOTE for an error response; ACP_ERR_MALFORMED; ACP_ERR_TIMEOUT; the reason of
     * the close, usually ACP_ERR_CLOSED; ACP_ERR_LIMIT or ACP_ERR_NOMEM for an answer that could
     * not be read.
     */
    int err;
    struct acp_raw result;        /* if err is 0 */
    int64_t error_code;           /* this and the following: if err is ACP_ERR_REMOTE */
    struct acp_str error_message; /* as the other side wrote it */
    struct acp_raw error_data;    /* may be absent */
};

/*
 * The end of a request.  Called exactly once if the function that sent the request returned 0, and
 * never otherwise.  request is the number that it returned.
 */
typedef void acp_reply_fn(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                          void *user);

/* A request to send. */
struct acp_request {
    struct acp_str method;
    /*
     * 0 means no timeout.  It starts at the time passed to the call (receive or tick) inside which
     * the request is sent, otherwise at the time passed to the next one.
     */
    uint64_t timeout_ms;
    acp_reply_fn *reply; /* may be NULL */
    void *user;          /* for reply */
    bool no_cancel;      /* do not ask the other side to cancel it when it times out */
    void *reserved[2];
};

/* ---- Types of both roles --------------------------------------------------------------------- */

/* How a request that a role sent ended. */
struct acp_outcome {
    int err;            /* enum acp_err; ACP_ERR_REMOTE if the other side answered with an error */
    int64_t code;       /* the JSON-RPC code of that error */
    struct acp_str why; /* one sentence for people about the error; empty if err is 0 */
    /* The result, if err is 0: a struct of the type that the request names, such as
     * struct acp_new_session_response; a struct acp_raw for ACP_TYPE_ANY. */
    const void *value;
};

/*
 * Why a turn stopped.  An agent passes it to acp_turn_end(), except for NONE and OTHER; a client
 * gets it in acp_turn_fn.
 */
enum acp_stop {
    ACP_STOP_NONE = 0, /* no reason: the turn failed, or the connection closed */
    ACP_STOP_END_TURN,
    ACP_STOP_MAX_TOKENS,
    ACP_STOP_MAX_TURN_REQUESTS,
    ACP_STOP_REFUSAL,
    ACP_STOP_CANCELLED,
    ACP_STOP_OTHER, /* a reason that this version of the library does not know */
};

/* The reason in the protocol ("end_turn"), static; NULL for NONE, OTHER and other numbers. */
ACP_API const char *acp_stop_text(enum acp_stop stop);

/* ---- Making a peer --------------------------------------------------------------------------- */

/* All callbacks may be NULL. */
struct acp_peer_handler {
    /*
     * A request: answer it with acp_peer_result() or acp_peer_error(), now or later, once.  Without
     * this callback all requests are answered with -32601.
     */
    void (*request)(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                    void *user);
    void (*notification)(struct acp_peer *peer, const struct acp_message *message, void *user);
    /*
     * The other side wants this request cancelled.  It must still be answered: with a result, or
     * with acp_peer_error_for(peer, call, ACP_ERR_CANCELLED).  Without this callback cancellations
     * are ignored.
     */
    void (*cancel)(struct acp_peer *peer, acp_call call, void *user);
    /* text is the message, or what enum acp_protocol_error says. */
    void (*protocol_error)(struct acp_peer *peer, enum acp_protocol_error what, struct acp_str text,
                           void *user);
    /* Unsent output rose above the high-water mark (true) or fell to the low one (false). */
    void (*pressure)(struct acp_peer *peer, bool high, void *user);
    /* The peer is closed: all open requests have had their replies.  Called once. */
    void (*closed)(struct acp_peer *peer, int reason, void *user);
};

/* Zero means the default. */
struct acp_peer_options {
    enum acp_framing framing; /* AUTO (0) uses the framing of the other side, lines before it */
    size_t max_message;       /* bytes of one received message; ACP_WIRE_DEFAULT_MAX */
    size_t max_output;        /* bytes not yet sent, a hard limit; 256 MiB */
    size_t high_water;        /* bytes not yet sent; 1 MiB */
    size_t low_water;         /* a quarter of high_water */
    size_t max_calls;         /* received requests open at once; 65536 */
    size_t max_pending;       /* sent requests open at once; 65536 */
    struct acp_str key;       /* a key of params to find in all messages; must outlive the peer */
    /*
     * The notification that asks to cancel a request: its method, and the key of its params that
     * has the id.  Absent means those of ACP, "$/cancel_request" and "requestId"; MCP uses
     * "notifications/cancelled".  A method that is empty, but not absent, means that there is none.
     * Both must outlive the peer.
     */
    struct acp_str cancel_method;
    struct acp_str cancel_key;
    bool ignore_parse_errors; /* do not answer lines that are not JSON with -32700 */
    bool null_ids;            /* serve requests with "id":null, which the schema of v1 permits */
    uint64_t reserved[4];
};

/*
 * options may be NULL.  The handler is copied; user is passed to it.  ACP_ERR_NOMEM.
 */
ACP_API int acp_peer_new_sized(const struct acp_peer_options *options, size_t options_size,
                               const struct acp_peer_handler *handler, size_t handler_size,
                               void *user, struct acp_peer **ret);
static inline int acp_peer_new(const struct acp_peer_options *options,
                               const struct acp_peer_handler *handler, void *user,
                               struct acp_peer **ret)
{
    return acp_peer_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/* Closes the peer with ACP_ERR_CLOSED, then frees it; acp/endpoint.h has the rules.  Takes NULL. */
ACP_API void acp_peer_free(struct acp_peer *peer);

/* ---- Bytes and time -------------------------------------------------------------------------- */

/* The peer as an endpoint, which acp/endpoint.h describes.  Belongs to the peer. */
ACP_API struct acp_endpoint *acp_peer_endpoint(struct acp_peer *peer);
/* The following do the same as the functions of the endpoint; see there. */
ACP_API int acp_peer_receive(struct acp_peer *peer, const void *bytes, size_t n, uint64_t now);
ACP_API void acp_peer_receive_end(struct acp_peer *peer, uint64_t now);
ACP_API int acp_peer_receive_message(struct acp_peer *peer, struct acp_raw text, uint64_t now);
ACP_API struct acp_str acp_peer_output(const struct acp_peer *peer);
ACP_API void acp_peer_sent(struct acp_peer *peer, size_t n);
/* 0 also if a request with a timeout waits for a time at which to start it. */
ACP_API uint64_t acp_peer_deadline(const struct acp_peer *peer);
/* Fails overdue requests with ACP_ERR_TIMEOUT, and asks the other side to cancel them. */
ACP_API void acp_peer_tick(struct acp_peer *peer, uint64_t now);

/*
 * Fails all open requests with reason, an enum acp_err (0 means ACP_ERR_CLOSED), and calls
 * `closed`.  Nothing is received or sent any more, except output that is left.  Without effect on a
 * closed peer.
 */
ACP_API void acp_peer_close(struct acp_peer *peer, int reason);
/* Whether it is closed: by acp_peer_close(), the end of the input, or a lack of memory. */
ACP_API bool acp_peer_is_closed(const struct acp_peer *peer);
/* Whether `pressure` was called with true last: a program should pause producing output. */
ACP_API bool acp_peer_is_above_high_water(const struct acp_peer *peer);
/* The number of requests that were sent and have no reply yet. */
ACP_API size_t acp_peer_pending(const struct acp_peer *peer);
/* The number of requests that were received and not answered yet. */
ACP_API size_t acp_peer_calls(const struct acp_peer *peer);
/* The framing of the output. */
ACP_API enum acp_framing acp_peer_framing(const struct acp_peer *peer);

/* The id of a call as its bytes; absent once it is answered.  Valid until then. */
ACP_API struct acp_raw acp_peer_call_id(const struct acp_peer *peer, acp_call call);
/*
 * A pointer for the program's use, stored with a call until it is answered; NULL at first, and for
 * calls that are answered.  On the peer inside a role it is the role that uses it.
 */
ACP_API void acp_peer_call_set_user(struct acp_peer *peer, acp_call call, void *user);
ACP_API void *acp_peer_call_user(const struct acp_peer *peer, acp_call call);

/* ---- Sending --------------------------------------------------------------------------------- */

/*
 * Errors of all of these: ACP_ERR_CLOSED; ACP_ERR_LIMIT (max_output, or max_pending for a request);
 * ACP_ERR_NOMEM; ACP_ERR_ARGUMENT for a method that is absent; ACP_ERR_STATE between begin and
 * commit (below).  Nothing is sent then.  JSON that is passed in must be valid; it is not checked.
 *
 * Sends a request.  params may be absent.  ret_request may be NULL and gets the number of the
 * request, for acp_peer_cancel().
 */
ACP_API int acp_peer_request(struct acp_peer *peer, const struct acp_request *request,
                             struct acp_raw params, uint64_t *ret_request);
/* Sends a notification.  params may be absent. */
ACP_API int acp_peer_notify(struct acp_peer *peer, struct acp_str method, struct acp_raw params);
/*
 * Answers a call; an absent result is sent as {}.  ACP_ERR_UNKNOWN if it was answered already.  A
 * result that cannot be sent is replaced by the error -32603, so that the call is answered in any
 * case; if not even that can be sent, the peer closes.
 */
ACP_API int acp_peer_result(struct acp_peer *peer, acp_call call, struct acp_raw result);
/*
 * Answers a call with an error.  message is sent up to its first line end, without control
 * characters; if nothing is left, as "Internal error".  data may be absent, and is left out if it
 * does not fit.  ACP_ERR_UNKNOWN if the call was answered already.
 */
ACP_API int acp_peer_error(struct acp_peer *peer, acp_call call, int64_t code,
                           struct acp_str message, struct acp_raw data);
/* The same with the JSON-RPC code and the text of an enum acp_err. */
ACP_API int acp_peer_error_for(struct acp_peer *peer, acp_call call, int err);
/*
 * Asks the other side to cancel a request; its reply still comes.  ACP_ERR_UNKNOWN if it has come
 * already.
 */
ACP_API int acp_peer_cancel(struct acp_peer *peer, uint64_t request);

/*
 * The same without an intermediate copy: begin, write exactly one JSON value (the params or the
 * result) with the writer, commit.  Begin always returns a writer; if the plain function would fail
 * it is one that ignores what is written, and commit returns the error.  So the result of commit
 * is the only one to check:
 *
 *     struct acp_json_writer *w = acp_peer_begin_result(peer, call);
 *     acp_json_begin_object(w);
 *     acp_json_end_object(w);
 *     int err = acp_peer_commit(peer, NULL);
 *
 * Between begin and commit nothing else may be called on the peer; a second begin makes the commit
 * fail with ACP_ERR_STATE.
 */
ACP_API struct acp_json_writer *acp_peer_begin_request(struct acp_peer *peer,
                                                       const struct acp_request *request);
ACP_API struct acp_json_writer *acp_peer_begin_notify(struct acp_peer *peer, struct acp_str method);
ACP_API struct acp_json_writer *acp_peer_begin_result(struct acp_peer *peer, acp_call call);
/*
 * Sends what was begun, or returns the error of begin or of the writer and sends nothing; a call is
 * then answered with -32603.  For a request, ret_request gets its number; it may be NULL.
 * ACP_ERR_STATE without a begin.
 */
ACP_API int acp_peer_commit(struct acp_peer *peer, uint64_t *ret_request);
/* Discards what was begun; the call stays open.  Without effect if nothing was begun. */
ACP_API void acp_peer_abort(struct acp_peer *peer);

#ifdef __cplusplus
}
#endif

#endif
