/*
 * endpoint.h - what stands at the end of a stream of bytes: a peer, or a role that contains one.
 *
 * An endpoint does no I/O.  Whoever carries its bytes - a link of io.h, an editor's own loop, a
 * test - drives it through these functions.  `now` is milliseconds of any clock that only goes
 * forward.  All functions but the last must be set, and all are called from one thread.
 */
#ifndef ACP_ENDPOINT_H
#define ACP_ENDPOINT_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_endpoint {
    void *self;
    /* Bytes came in.  Negative (an enum acp_err) when the endpoint is closed and takes no more. */
    int (*receive)(void *self, const void *bytes, size_t n, uint64_t now);
    /* No more bytes will come.  What the endpoint still has to say is sent nevertheless. */
    void (*receive_end)(void *self, uint64_t now);
    /* What is to be sent; valid until the next call into the endpoint. */
    struct acp_str (*output)(void *self);
    /* So many bytes of it have been sent. */
    void (*sent)(void *self, size_t n);
    /* When tick() is next needed; UINT64_MAX for never. */
    uint64_t (*deadline)(void *self);
    void (*tick)(void *self, uint64_t now);
    /*
     * True while the endpoint wants no more input, because its own output is above the high-water
     * mark: the other side does not read, so its requests are no longer read either.
     */
    bool (*paused)(void *self);
    /*
     * True while there is more to send than output() gives, which the endpoint itself holds back:
     * the stream must stay open for it.  NULL: never.
     */
    bool (*holding)(void *self);
};

#ifdef __cplusplus
}
#endif

#endif
