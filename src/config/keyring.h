/*
 * keyring.h - keys in the system keyring, accessed with the program secret-tool.
 *
 * Keys are passed through pipes, never on a command line.  All functions return 0 or -errno with a
 * message in why; -ENOENT if the program is not installed.
 */
#ifndef SRC_CONFIG_KEYRING_H
#define SRC_CONFIG_KEYRING_H

#include "acp/base.h"

/* Reads the key as a string of at most size - 1 bytes. */
int key_ring_read(const char *const *environment, const char *provider, char *ret, size_t size,
                  struct acp_buf *why);
int key_ring_write(const char *const *environment, const char *provider, struct acp_str key,
                   struct acp_buf *why);
int key_ring_remove(const char *const *environment, const char *provider, struct acp_buf *why);

#endif
