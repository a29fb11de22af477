/*
 * endpoint.h - one end of a connection, as seen by the code that transports its messages.
 *
 * A peer (acp/rpc.h) and the roles (acp/agent.h, acp/client.h) do no I/O.  Each has an endpoint,
 * which takes received bytes together with the time, and provides bytes to send.  A link of
 * acp/io.h drives it on libuv; other programs drive it from their own loop.  This is a whole loop
 * on poll(2), for non-blocking pipes or sockets:
 *
 *     #include <acp/endpoint.h>
 *     #include <errno.h>
 *     #include <limits.h>
 *     #include <poll.h>
 *     #include <time.h>
 *     #include <unistd.h>
 *
 *     static uint64_t now_ms(void)
 *     {
 *         struct timespec t;
 *         clock_gettime(CLOCK_MONOTONIC, &t);
 *         return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
 *     }
 *
 *     void drive(struct acp_endpoint *end, int in, int out)
 *     {
 *         struct acp_endpoint_want want;
 *         char buffer[65536];
 *         for (;;) {
 *             acp_endpoint_tick(end, now_ms());
 *             acp_endpoint_poll(end, now_ms(), &want);
 *             if (in < 0 && !want.output && !want.holding)
 *                 break;
 *             struct pollfd fds[2] = {{.fd = want.input ? in : -1, .events = POLLIN},
 *                                     {.fd = want.output ? out : -1, .events = POLLOUT}};
 *             if (poll(fds, 2, want.timeout_ms) < 0 && errno != EINTR)
 *                 break;
 *             if (fds[0].revents) {
 *                 size_t most = want.input < sizeof(buffer) ? want.input : sizeof(buffer);
 *                 ssize_t n = read(in, buffer, most);
 *                 if (n > 0) {
 *                     if (acp_endpoint_receive(end, buffer, (size_t) n, now_ms()) < 0)
 *                         in = -1;
 *                 } else {
 *                     acp_endpoint_receive_end(end, now_ms());
 *                     in = -1;
 *                 }
 *             }
 *             if (fds[1].revents) {
 *                 struct acp_str bytes = acp_endpoint_output(end);
 *                 ssize_t n = write(out, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
 *                 if (n < 0)
 *                     break;
 *                 acp_endpoint_sent(end, (size_t) n);
 *             }
 *         }
 *     }
 *
 * examples/poll-loop.c has this loop in use.  A loop that also waits for other events, whose
 * handlers use the role, is notified by acp_endpoint_on_wake().
 *
 * The rules for connections, in this and all other headers:
 *
 *   Threads    A connection - an endpoint with its peer, role, sessions and turns - belongs to one
 *              thread at a time.  Different connections need no lock.
 *   Time       `now` is in milliseconds, from any clock that never goes back.
 *   Arguments  Texts, lists and structs passed to a function are read during the call and not kept,
 *              except those of options, which must outlive the object.  Callback tables are copied.
 *   Callbacks  They run inside the caller's calls, on its stack, and may call any function.  What
 *              they are given is valid until they return.
 *   Freeing    A peer, an agent or a client may be freed from any of their callbacks.  All its
 *              remaining callbacks run before the free function returns.  The memory is released
 *              when the outermost call into the object returns; until then the object must not be
 *              used any more, except that this call returns normally.
 */
#ifndef ACP_ENDPOINT_H
#define ACP_ENDPOINT_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the peer or role that returned it, and is valid as long as that is. */
struct acp_endpoint;

/* ---- Bytes ----------------------------------------------------------------------------------- */

/*
 * Passes in received bytes.  Whole messages among them are served, with callbacks, before this
 * returns.
 *
 * Returns 0, or ACP_ERR_CLOSED if the connection is closed, also by these bytes: stop reading.  In
 * a call from inside of a callback the bytes are only stored until the outer call continues, and
 * ACP_ERR_LIMIT or ACP_ERR_NOMEM mean that they could not be.
 */
ACP_API int acp_endpoint_receive(struct acp_endpoint *endpoint, const void *bytes, size_t n,
                                 uint64_t now);
/*
 * The input has ended.  A last line without a line end is served, open requests fail with
 * ACP_ERR_CLOSED, and the connection closes.  Output that is left should still be sent.
 */
ACP_API void acp_endpoint_receive_end(struct acp_endpoint *endpoint, uint64_t now);
/*
 * The bytes to send, empty if there are none; valid until the next call into the endpoint or its
 * peer or role.
 */
ACP_API struct acp_str acp_endpoint_output(struct acp_endpoint *endpoint);
/* Removes the first n bytes of the output, which have been sent.  May call `pressure` back. */
ACP_API void acp_endpoint_sent(struct acp_endpoint *endpoint, size_t n);

/* ---- Messages -------------------------------------------------------------------------------- */

/*
 * The same in whole messages, for transports that have their own framing and route each message,
 * such as WebSocket and HTTP.  A connection uses either bytes or messages.  Limits and high-water
 * marks count the same bytes in both.
 */
enum acp_message_kind {
    ACP_MESSAGE_REQUEST = 1,
    ACP_MESSAGE_NOTIFICATION,
    ACP_MESSAGE_RESPONSE,
};

/* A message to send.  Everything points into the output. */
struct acp_outgoing {
    struct acp_raw text; /* JSON on one line, without a line end */
    enum acp_message_kind kind;
    struct acp_str method;     /* of a request or notification; absent if it has escapes */
    struct acp_raw id;         /* of a request or response, as its bytes */
    struct acp_raw session_id; /* params.sessionId or result.sessionId with its quotes, or absent */
    void *reserved[2];
};

/*
 * Passes in one whole message, which need not be on one line.  Returns as acp_endpoint_receive();
 * ACP_ERR_STATE if a program's own endpoint does not take messages.
 */
ACP_API int acp_endpoint_receive_message(struct acp_endpoint *endpoint, struct acp_raw text,
                                         uint64_t now);
/*
 * The first message to send: returns 1, or 0 if there is none.  It is valid until the next call and
 * returned again until acp_endpoint_message_sent() removes it.  ACP_ERR_STATE if the output has
 * Content-Length framing, which the other side has chosen.
 */
ACP_API int acp_endpoint_next_message(struct acp_endpoint *endpoint, struct acp_outgoing *ret);
/* Removes the first message from the output.  May call `pressure` back. */
ACP_API void acp_endpoint_message_sent(struct acp_endpoint *endpoint);

/* ---- Time and flow control ------------------------------------------------------------------- */

/* When to call acp_endpoint_tick(): 0 means now, UINT64_MAX never. */
ACP_API uint64_t acp_endpoint_deadline(struct acp_endpoint *endpoint);
/* Does what is due by now: fails requests that timed out, sends merged text.  Always allowed. */
ACP_API void acp_endpoint_tick(struct acp_endpoint *endpoint, uint64_t now);
/*
 * How many bytes may be received now; SIZE_MAX means any number.  It is 0 while unsent output is
 * above the high-water mark: a peer that does not read is not served.  Since two sides that wait
 * for each other to read would never continue, some input is allowed again after 20 ms without
 * progress; the timeout of acp_endpoint_poll() takes that into account.
 */
ACP_API size_t acp_endpoint_wanted(struct acp_endpoint *endpoint, uint64_t now);
/*
 * Whether there is more to send than acp_endpoint_output() shows, because it is held back on
 * purpose, as by acp_agent_hold_output().  The connection must stay open for it.
 */
ACP_API bool acp_endpoint_is_holding(struct acp_endpoint *endpoint);

/* What a loop has to wait for. */
struct acp_endpoint_want {
    size_t input;    /* as acp_endpoint_wanted() */
    size_t output;   /* number of bytes to send */
    bool holding;    /* as acp_endpoint_is_holding() */
    int timeout_ms;  /* for poll(2): when to tick or to poll again; -1 for never */
    uint64_t due_at; /* the same as a time; UINT64_MAX for never */
    uint64_t reserved[2];
};

/* Fills in all of it.  Does not tick. */
ACP_API void acp_endpoint_poll(struct acp_endpoint *endpoint, uint64_t now,
                               struct acp_endpoint_want *ret);

/*
 * Has wake called whenever the loop must call acp_endpoint_poll() again: there is output where
 * there was none, or something is due earlier than before.  wake may be called inside any call into
 * the endpoint, its peer or its role, and must do no more than set a flag or wake the loop.  There
 * is one at a time; NULL removes it.
 */
ACP_API void acp_endpoint_on_wake(struct acp_endpoint *endpoint, void (*wake)(void *user),
                                  void *user);

/* ---- An endpoint of your own ----------------------------------------------------------------- */

/*
 * What such an endpoint does when the functions above are called on it.  All members are required
 * except receive_message and holding.
 */
struct acp_endpoint_handler {
    int (*receive)(void *self, const void *bytes, size_t n, uint64_t now);
    void (*receive_end)(void *self, uint64_t now);
    struct acp_str (*output)(void *self);
    void (*sent)(void *self, size_t n);
    uint64_t (*deadline)(void *self);
    void (*tick)(void *self, uint64_t now);
    bool (*paused)(void *self); /* whether output is above a high-water mark */
    bool (*holding)(void *self);
    int (*receive_message)(void *self, struct acp_raw text, uint64_t now);
};

/*
 * For a program that implements an endpoint, for example to have a link drive it.  The handler is
 * copied; self is passed to it.  ACP_ERR_NOMEM.
 */
ACP_API int acp_endpoint_new_sized(const struct acp_endpoint_handler *handler, size_t handler_size,
                                   void *self, struct acp_endpoint **ret);
static inline int acp_endpoint_new(const struct acp_endpoint_handler *handler, void *self,
                                   struct acp_endpoint **ret)
{
    return acp_endpoint_new_sized(handler, sizeof(*handler), self, ret);
}
/* Only for what acp_endpoint_new() made, and not while a link drives it.  Takes NULL. */
ACP_API void acp_endpoint_free(struct acp_endpoint *endpoint);
/* Calls the function set by acp_endpoint_on_wake(), if any. */
ACP_API void acp_endpoint_wake(const struct acp_endpoint *endpoint);

#ifdef __cplusplus
}
#endif

#endif
