/*
 * peer.h - the inside of a peer, shared by the files of lib/rpc.
 *
 *   peer.c      its life, the bytes in and out, the close
 *   receive.c   what is done with one received message
 *   send.c      how a message gets into the output
 *   requests.c  the requests it sent and their replies
 *   calls.c     the requests it received and their ids
 */
#ifndef LIB_RPC_PEER_H
#define LIB_RPC_PEER_H

#include "acp/rpc.h"
#include "base/map.h"
#include "rpc/deadlines.h"
#include "rpc/endpoint.h"
#include "rpc/numbers.h"

/* The codes of JSON-RPC; agent.c asserts that they are those of the description. */
enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INTERNAL_ERROR = -32603,
};

/* A buffer above this is given back when it is empty again. */
enum { RPC_KEEP_MAX = 1024 * 1024 };

/* A request that was received and not yet answered. */
struct call {
    acp_call number; /* first, for the table */
    void *user;      /* the owner's */
    size_t id_len;
    /* The key under which calls_by_id has it, within bytes; the id null has none, of length 0. */
    size_t key_at;
    size_t key_len;
    char bytes[]; /* the id as received, and the key where it is not part of that */
};

/* A request that was sent and has no reply yet. */
struct asked {
    uint64_t number; /* first, for the table */
    struct acp_deadline deadline;
    uint64_t timeout_ms; /* until it is armed; 0: it is, or has none */
    bool no_cancel;
    acp_reply_fn *reply;
    void *user;
    struct asked *older;
    struct asked *newer;
};

/* The message that is being written at the end of the output. */
enum open_kind {
    OPEN_NONE = 0,
    OPEN_REQUEST,
    OPEN_NOTIFY,
    OPEN_RESULT,
    OPEN_FAILED, /* could not be begun; the writer's error says why and commit returns it */
};

struct open_message {
    enum open_kind kind;
    enum acp_framing framing;
    size_t mark;     /* where it begins in the output */
    size_t value_at; /* where its params or result begin */
    struct asked *asked;
    struct call *call;
};

struct acp_peer {
    struct acp_peer_options options; /* with the defaults filled in */
    struct acp_peer_handler handler;
    void *user;

    struct acp_endpoint endpoint;
    struct acp_deframer deframer;
    struct acp_buf inbox;    /* bytes that a callback fed while others were being served */
    struct acp_buf messages; /* the same for whole messages: a length and the text of each */
    struct acp_arena arena;  /* for the message being served */

    struct acp_buf out;
    struct acp_json_writer writer;
    struct open_message open;

    struct acp_numbers calls; /* of struct call, which the peer owns */
    struct acp_map calls_by_id;
    acp_call next_call;
    size_t call_bytes; /* held by the ids of open calls */

    struct acp_numbers asked; /* of struct asked, which the peer owns */
    struct asked *oldest;     /* the same in the order they were sent */
    struct asked *newest;
    struct acp_deadlines deadlines;
    uint64_t next_request;

    uint64_t now;   /* the latest that the owner has told */
    size_t unarmed; /* requests whose deadline counts from the next time that is told */
    unsigned timed; /* depth of calls that have told the time: within them, now is true */
    void (*destroyed)(void *user); /* of a role that contains the peer; its memory goes with it */
    void *destroyed_user;
    unsigned depth; /* of calls into the peer; freed only when it is back at 0 */
    bool freeing;
    bool receiving; /* deframer and arena are in use */
    bool end_seen;
    bool closed;
    bool closed_told; /* the owner knows of the close */
    bool pressed;     /* the owner knows that output is above the high-water mark */
    int reason;
};

/* ---- peer.c --------------------------------------------------------------------------------- */

/* Around everything that may run a callback.  After leave the peer may be gone. */
void acp_rpc_enter(struct acp_peer *peer);
void acp_rpc_leave(struct acp_peer *peer);
/* Called with the end of the peer's memory, when acp_peer_free() has taken effect. */
void acp_rpc_on_destroy(struct acp_peer *peer, void (*destroyed)(void *user), void *user);
/* The owner tells the time, which never goes back; the call ends with peer->timed--. */
void acp_rpc_begin_timed(struct acp_peer *peer, uint64_t now);

/* ---- receive.c ------------------------------------------------------------------------------ */

void acp_rpc_dispatch(struct acp_peer *peer, const struct acp_frame *frame);

/* ---- send.c --------------------------------------------------------------------------------- */

/*
 * Answers with an error, for sure: without the data when that does not fit, and when not even that
 * can be written the peer is closed.  id is JSON text.  Returns what went wrong.
 */
int acp_rpc_respond_error(struct acp_peer *peer, struct acp_raw id, int64_t code,
                          struct acp_str message, struct acp_raw data);
/* Tells the other side that we do not want this request of ours any more. */
int acp_rpc_send_cancel(struct acp_peer *peer, uint64_t number);
/* Forgets the message that is being written, if there is one. */
void acp_rpc_take_back(struct acp_peer *peer);

/* ---- requests.c ----------------------------------------------------------------------------- */

/* Opens a request with the next number.  ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
int acp_rpc_asked_add(struct acp_peer *peer, const struct acp_request *request, struct asked **ret);
/*
 * Counts the timeouts of requests that were sent outside of any call with a time from now on: what
 * the peer knew as the time then may have been long past.
 */
void acp_rpc_arm(struct acp_peer *peer);
/* The open request that a response's id names; NULL when it is none of ours. */
struct asked *acp_rpc_asked_find(const struct acp_peer *peer, struct acp_raw id);
/* Closes and frees a request without a reply. */
void acp_rpc_asked_drop(struct acp_peer *peer, struct asked *asked);
/* Closes a request, then replies, so that the callback finds it gone; frees it. */
void acp_rpc_settle(struct acp_peer *peer, struct asked *asked, const struct acp_reply *reply);
/* Settles with a failure that has no more to say. */
void acp_rpc_settle_err(struct acp_peer *peer, struct asked *asked, int err);

/* ---- calls.c -------------------------------------------------------------------------------- */

enum id_kind { ID_ABSENT = 0, ID_NULL, ID_GOOD, ID_BAD };

/* A good id is a string, or an integer in the range of int64_t without fraction or exponent. */
enum id_kind acp_rpc_id_kind(struct acp_raw id);
/* ACP_ERR_LIMIT, ACP_ERR_NOMEM, and ACP_ERR_STATE when a call with this id is open. */
int acp_rpc_call_open(struct acp_peer *peer, struct acp_raw id, struct call **ret);
struct call *acp_rpc_call_find(const struct acp_peer *peer, acp_call number);
/* By the value of its id; NULL also when there is no memory to read it. */
struct call *acp_rpc_call_by_id(struct acp_peer *peer, struct acp_raw id);
/* Closes a call; it can no longer be found, and the caller frees it. */
void acp_rpc_call_detach(struct acp_peer *peer, struct call *call);

static inline struct acp_raw acp_rpc_call_id(const struct call *call)
{
    return acp_raw_n(call->bytes, call->id_len);
}

#endif
