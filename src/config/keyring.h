/*
 * keyring.h - keys in the system's keyring, by the program secret-tool.
 *
 * The key goes to it, and comes from it, through a pipe: never on a command line.  All return 0 or
 * -errno, with a sentence in why; -ENOENT when the program is not installed.
 */
#ifndef SRC_CONFIG_KEYRING_H
#define SRC_CONFIG_KEYRING_H

#include "acp/base.h"

/* The key as a text of at most size - 1 bytes. */
int key_ring_read(const char *const *environment, const char *provider, char *ret, size_t size,
                  struct acp_buf *why);
int key_ring_write(const char *const *environment, const char *provider, struct acp_str key,
                   struct acp_buf *why);
int key_ring_remove(const char *const *environment, const char *provider, struct acp_buf *why);

#endif
