/*
 * source.h - a descriptor that is read on the loop: bytes as they come, then one end.  Shared by
 * links and processes, which embed it.
 */
#ifndef LIB_IO_SOURCE_H
#define LIB_IO_SOURCE_H

#include <uv.h>

#include "acp/base.h"
#include "io/fd.h"

struct acp_source;

struct acp_source_owner {
    void (*bytes)(struct acp_source *source, struct acp_str bytes);
    /* Nothing more comes: 0 at the end, or an error of the system.  Reading has stopped. */
    void (*end)(struct acp_source *source, int err);
    /* The handle is gone, and with it what kept the memory busy. */
    void (*closed)(struct acp_source *source);
};

struct acp_source {
    union {
        uv_handle_t handle;
        uv_poll_t poll;
        uv_idle_t idle;
    } uv;
    struct acp_fd fd;
    const struct acp_source_owner *owner;
    void *self; /* the owner's */
    char *buffer;
    size_t size;
    bool open;   /* has a handle that is not being closed */
    bool ready;  /* always: a file, read from an idle handle */
    bool active; /* the handle is started */
    bool paused;
    bool ended;
};

/*
 * Owns fd from here on, also on failure.  The buffer is the owner's, it may be shared by all his
 * sources.  Reading begins with acp_source_pause(source, false).
 */
int acp_source_open(struct acp_source *source, uv_loop_t *loop, int fd, char *buffer, size_t size);
void acp_source_pause(struct acp_source *source, bool pause);
/* May be called in `bytes` and `end`, and again.  `closed` comes if it was open. */
void acp_source_close(struct acp_source *source);

#endif
