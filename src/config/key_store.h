/*
 * key_store.h - the API keys of model providers stored by `acp agent login`.
 *
 * One file per provider in a private directory: $XDG_DATA_HOME/acp/keys/PROVIDER.  A file that
 * other users could read or change is not used.  If the key is in the system keyring, the file says
 * so, and the key is read with secret-tool(1).
 */
#ifndef SRC_CONFIG_KEY_STORE_H
#define SRC_CONFIG_KEY_STORE_H

#include "config/config.h"

/* The directory of the files; NULL without a home directory or when out of memory. */
const char *key_store_folder(const struct config *config, struct acp_arena *arena);

enum key_place {
    KEY_IN_FILE = 0,
    KEY_IN_KEYRING,
};

/*
 * Whether the text is valid as a key: printable ASCII without blanks, up to 4096 bytes.
 */
bool key_is_valid(struct acp_str key);

/*
 * Reads the key of a provider into the arena.  0 or -errno: -ENOENT if there is none, -EPERM with a
 * message in why if it is not safe to use.
 */
int key_store_read(const struct config *config, const char *folder, const char *provider,
                   struct acp_arena *arena, const char **ret_key, enum key_place *ret_place,
                   struct acp_buf *why);
/*
 * Reads the keys of all providers.  Keys that cannot be used are skipped, with a line for each in
 * why.  ACP_ERR_NOMEM.
 */
int key_store_read_all(const struct config *config, const char *folder, struct acp_arena *arena,
                       struct model_key **ret, size_t *ret_count, struct acp_buf *why);
/* Stores a key or replaces the stored one; returns like key_store_read(). */
int key_store_write(const struct config *config, const char *folder, const char *provider,
                    struct acp_str key, enum key_place place, struct acp_buf *why);
/* Removes a key; -ENOENT if there is none. */
int key_store_remove(const struct config *config, const char *folder, const char *provider,
                     struct acp_buf *why);
/* Removes all keys. */
int key_store_remove_all(const struct config *config, const char *folder, struct acp_buf *why);

#endif
