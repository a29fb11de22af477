/*
 * key_store.h - the keys of model providers that `acp agent login` has stored.
 *
 * One file for each provider, in a folder of the user's alone: $XDG_DATA_HOME/acp/keys/PROVIDER.  A
 * file that others could read or change is not used.  A key may be in the system's keyring instead;
 * the file then says so, and secret-tool(1) is asked.
 */
#ifndef SRC_CONFIG_KEY_STORE_H
#define SRC_CONFIG_KEY_STORE_H

#include "config/config.h"

/* Where they are; NULL without a home or memory. */
const char *key_store_folder(const struct config *config, struct acp_arena *arena);

enum key_place {
    KEY_IN_FILE = 0,
    KEY_IN_KEYRING,
};

/*
 * Whether a text can be a key: one line of printable ASCII, without blanks, up to 4096 bytes.
 */
bool key_is_valid(struct acp_str key);

/*
 * Reads the key of one provider, in the arena, where it is, and from where.  0 or -errno: -ENOENT
 * when there is none, -EPERM with a sentence in why when it is not safe to use.
 */
int key_store_read(const struct config *config, const char *folder, const char *provider,
                   struct acp_arena *arena, const char **ret_key, enum key_place *ret_place,
                   struct acp_buf *why);
/*
 * Those of all providers that there are.  Keys that cannot be used are left out, with a line for
 * each in why.  ACP_ERR_NOMEM.
 */
int key_store_read_all(const struct config *config, const char *folder, struct acp_arena *arena,
                       struct model_key **ret, size_t *ret_count, struct acp_buf *why);
/* Stores a key, in the place of an older one; as above. */
int key_store_write(const struct config *config, const char *folder, const char *provider,
                    struct acp_str key, enum key_place place, struct acp_buf *why);
/* Removes one; -ENOENT when there is none. */
int key_store_remove(const struct config *config, const char *folder, const char *provider,
                     struct acp_buf *why);
/* Removes all of them. */
int key_store_remove_all(const struct config *config, const char *folder, struct acp_buf *why);

#endif
