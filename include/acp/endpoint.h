/*
 * endpoint.h - what stands at the end of a connection: a peer, or a role that contains one.
 *
 * An endpoint does no I/O.  Whoever carries its messages - a link of io.h, a program's own loop, an
 * HTTP gateway - drives it through these functions.  `now` is milliseconds of any clock that only
 * goes forward.  A whole loop, for descriptors that are pipes or sockets:
 *
 *     struct acp_endpoint *end = acp_client_endpoint(client);
 *     struct acp_endpoint_want want;
 *     char buffer[65536];
 *     for (;;) {
 *         acp_endpoint_tick(end, now_ms());
 *         acp_endpoint_poll(end, now_ms(), &want);
 *         if (in < 0 && !want.output && !want.holding)
 *             break;
 *         struct pollfd fds[2] = {{.fd = want.input ? in : -1, .events = POLLIN},
 *                                 {.fd = want.output ? out : -1, .events = POLLOUT}};
 *         if (poll(fds, 2, want.timeout_ms) < 0 && errno != EINTR)
 *             break;
 *         if (fds[0].revents) {
 *             size_t most = want.input < sizeof(buffer) ? want.input : sizeof(buffer);
 *             ssize_t n = read(in, buffer, most);
 *             if (n > 0) {
 *                 if (acp_endpoint_receive(end, buffer, (size_t) n, now_ms()) < 0)
 *                     in = -1;
 *             } else {
 *                 acp_endpoint_receive_end(end, now_ms());
 *                 in = -1;
 *             }
 *         }
 *         if (fds[1].revents) {
 *             struct acp_str bytes = acp_endpoint_output(end);
 *             ssize_t n = write(out, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
 *             if (n < 0)
 *                 break;
 *             acp_endpoint_sent(end, (size_t) n);
 *         }
 *     }
 *
 * examples/poll-loop.c is this loop in use.  A loop that waits for other things too, and
 * uses the role from there, is told by acp_endpoint_on_wake() when it has to look again.
 *
 * Threads: one connection (an endpoint with its peer, role, sessions and turns) belongs to one
 * thread at a time.  There is no global state, so connections need no lock against each other.
 *
 * Callbacks: they are called inside of the calls of the owner, on its stack, and may call any
 * function again.  Freeing: a peer, an agent or a client may be freed from any of their callbacks.
 * All further callbacks run before the free function returns; the memory goes when the outermost
 * call into the object returns, and nothing of it may be used any more.
 */
#ifndef ACP_ENDPOINT_H
#define ACP_ENDPOINT_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the peer or role that gave it, and is valid as long as that is. */
struct acp_endpoint;

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Bytes came in.  Negative (an enum acp_err) when the endpoint is closed and takes no more. */
ACP_API int acp_endpoint_receive(struct acp_endpoint *endpoint, const void *bytes, size_t n,
                                 uint64_t now);
/* No more bytes will come.  What the endpoint still has to say is sent nevertheless. */
ACP_API void acp_endpoint_receive_end(struct acp_endpoint *endpoint, uint64_t now);
/* What is to be sent; valid until the next call into the endpoint, or what it belongs to. */
ACP_API struct acp_str acp_endpoint_output(struct acp_endpoint *endpoint);
/* The first n bytes of it have been sent. */
ACP_API void acp_endpoint_sent(struct acp_endpoint *endpoint, size_t n);

/* ---- Messages -------------------------------------------------------------------------------- */

/*
 * The same for transports that carry whole messages, such as WebSocket frames and HTTP bodies, and
 * choose for each of them where it goes.  A connection uses either bytes or messages.  The limits
 * and the marks for pressure count the same bytes in both.
 */
enum acp_message_kind {
    ACP_MESSAGE_REQUEST = 1,
    ACP_MESSAGE_NOTIFICATION,
    ACP_MESSAGE_RESPONSE,
};

/* A message that is to be sent. */
struct acp_outgoing {
    struct acp_raw text; /* JSON on one line, without a line end */
    enum acp_message_kind kind;
    struct acp_str method; /* of a request or notification; absent when it has escapes */
    struct acp_raw id;     /* of a request or response, as its bytes */
    /* params.sessionId, or result.sessionId, as its bytes with the quotes; or absent. */
    struct acp_raw session_id;
    void *reserved[2];
};

/* One whole message came in; it need not be on one line.  Errors as acp_endpoint_receive(). */
ACP_API int acp_endpoint_receive_message(struct acp_endpoint *endpoint, struct acp_raw text,
                                         uint64_t now);
/*
 * The first message that is to be sent: 1, or 0 when there is none.  It is valid until the next
 * call, and given again until acp_endpoint_message_sent() takes it out.  ACP_ERR_STATE when the
 * other side has chosen Content-Length framing.
 */
ACP_API int acp_endpoint_next_message(struct acp_endpoint *endpoint, struct acp_outgoing *ret);
ACP_API void acp_endpoint_message_sent(struct acp_endpoint *endpoint);

/* ---- Time and pressure ----------------------------------------------------------------------- */

/* When tick() is next needed: 0 for at once, UINT64_MAX for never. */
ACP_API uint64_t acp_endpoint_deadline(struct acp_endpoint *endpoint);
/* Does what is due.  May be called at any time. */
ACP_API void acp_endpoint_tick(struct acp_endpoint *endpoint, uint64_t now);
/*
 * How many bytes may be received now; SIZE_MAX: any number.  0 while the endpoint's own output is
 * above the high-water mark: the other side does not read, so it is not served either.  But two
 * sides that both wait for the other to read would wait for ever, so a little is wanted again once
 * nothing could be sent for a while.  The deadline of that is in acp_endpoint_poll().
 */
ACP_API size_t acp_endpoint_wanted(struct acp_endpoint *endpoint, uint64_t now);
/*
 * True while there is more to send than output() gives, which the endpoint itself holds back: the
 * connection must stay open for it.
 */
ACP_API bool acp_endpoint_is_holding(struct acp_endpoint *endpoint);

/* What a loop has to wait for. */
struct acp_endpoint_want {
    size_t input;    /* as acp_endpoint_wanted() */
    size_t output;   /* bytes that are to be sent */
    bool holding;    /* as acp_endpoint_is_holding() */
    int timeout_ms;  /* for poll(2): when to tick or look again; -1 for never */
    uint64_t due_at; /* the same as a time; UINT64_MAX for never */
    uint64_t reserved[2];
};

/* All of it at once.  Does not tick. */
ACP_API void acp_endpoint_poll(struct acp_endpoint *endpoint, uint64_t now,
                               struct acp_endpoint_want *ret);

/*
 * Calls wake when the loop has to look again: there is output where there was none, or something
 * is due earlier than before.  It may come from inside any call into the endpoint or what it
 * belongs to, and must only take note.  One driver at a time; NULL: none.
 */
ACP_API void acp_endpoint_on_wake(struct acp_endpoint *endpoint, void (*wake)(void *user),
                                  void *user);

/* ---- One's own ------------------------------------------------------------------------------- */

/* What an endpoint does; receive_message and holding may be left out. */
struct acp_endpoint_handler {
    int (*receive)(void *self, const void *bytes, size_t n, uint64_t now);
    void (*receive_end)(void *self, uint64_t now);
    struct acp_str (*output)(void *self);
    void (*sent)(void *self, size_t n);
    uint64_t (*deadline)(void *self);
    void (*tick)(void *self, uint64_t now);
    bool (*paused)(void *self); /* output is above the high-water mark */
    bool (*holding)(void *self);
    int (*receive_message)(void *self, struct acp_raw text, uint64_t now);
};

/* For a program that is an endpoint itself, to be driven by a link, say.  The handler is copied. */
ACP_API int acp_endpoint_new_sized(const struct acp_endpoint_handler *handler, size_t handler_size,
                                   void *self, struct acp_endpoint **ret);
static inline int acp_endpoint_new(const struct acp_endpoint_handler *handler, void *self,
                                   struct acp_endpoint **ret)
{
    return acp_endpoint_new_sized(handler, sizeof(*handler), self, ret);
}
/* Takes NULL.  Only for what acp_endpoint_new() made. */
ACP_API void acp_endpoint_free(struct acp_endpoint *endpoint);
/* Calls wake, if there is one. */
ACP_API void acp_endpoint_wake(const struct acp_endpoint *endpoint);

#ifdef __cplusplus
}
#endif

#endif
