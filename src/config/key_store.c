/* key_store.c - see key_store.h. */
#define _GNU_SOURCE /* explicit_bzero */
#include "config/key_store.h"

#include <errno.h>
#include <unistd.h>

#include "config/keyring.h"
#include "config/paths.h"

enum { KEY_MAX_BYTES = 4096 };

/* The content of the file if the key is in the keyring; a key cannot contain blanks. */
static const char in_keyring[] = "in the keyring";

const char *key_store_folder(const struct config *config, struct acp_arena *arena)
{
    const char *data = paths_data_dir(config_environment(config), arena);
    return data ? paths_join(arena, data, "keys") : NULL;
}

bool key_is_valid(struct acp_str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] <= ' ' || key.ptr[i] > '~')
            return false;
    return key.len && key.len <= KEY_MAX_BYTES;
}

/* White space at the end is not part of a key. */
static struct acp_str trim(struct acp_str text)
{
    while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static int read_keyring(const struct config *config, const char *provider, struct acp_arena *arena,
                        const char **ret_key, struct acp_buf *why)
{
    char key[KEY_MAX_BYTES + 2];
    int err = key_ring_read(config_environment(config), provider, key, sizeof(key), why);
    struct acp_str text = trim(acp_str_from(err ? "" : key));
    if (!err && !key_is_valid(text)) {
        (void) acp_buf_printf(why, "the keyring has no usable key for %s", provider);
        err = -EINVAL;
    }
    if (!err)
        *ret_key = acp_arena_copy(arena, text).ptr;
    explicit_bzero(key, sizeof(key));
    return err ? err : *ret_key ? 0 : -ENOMEM;
}

int key_store_read(const struct config *config, const char *folder, const char *provider,
                   struct acp_arena *arena, const char **ret_key, enum key_place *ret_place,
                   struct acp_buf *why)
{
    const char *path = paths_join(arena, folder, provider);
    struct acp_buf file;
    if (!path)
        return -ENOMEM;
    acp_buf_init(&file, KEY_MAX_BYTES + 2);
    int err = paths_read_private_file(path, &file, why);
    struct acp_str text = trim(acp_buf_view(&file));
    if (!err && acp_str_is(text, in_keyring)) {
        *ret_place = KEY_IN_KEYRING;
        err = read_keyring(config, provider, arena, ret_key, why);
    } else if (!err && !key_is_valid(text)) {
        (void) acp_buf_printf(why, "%s does not contain a key", path);
        err = -EINVAL;
    } else if (!err) {
        *ret_place = KEY_IN_FILE;
        *ret_key = acp_arena_copy(arena, text).ptr;
        err = *ret_key ? 0 : -ENOMEM;
    }
    if (file.len)
        explicit_bzero(file.data, file.cap);
    acp_buf_finish(&file);
    return err;
}

/* ---- All providers --------------------------------------------------------------------------- */

/* The ids of all providers that can have a key: built-in ones, then configured ones. */
static const char *provider_at(const struct config *config, size_t index)
{
    size_t known = 0;
    while (model_provider_at(known))
        known++;
    if (index < known)
        return model_provider_at(index)->id;
    const struct config_provider *provider = config_provider_at(config, index - known);
    return provider ? provider->custom.id : NULL;
}

int key_store_read_all(const struct config *config, const char *folder, struct acp_arena *arena,
                       struct model_key **ret, size_t *ret_count, struct acp_buf *why)
{
    const char *provider;
    size_t most = 0;
    size_t count = 0;
    while (provider_at(config, most))
        most++;
    struct model_key *keys = acp_arena_alloc(arena, (most + 1) * sizeof(*keys));
    if (!keys)
        return ACP_ERR_NOMEM;
    /* Usually the directory does not exist. */
    for (size_t i = 0; access(folder, F_OK) == 0 && (provider = provider_at(config, i)); i++) {
        enum key_place place;
        size_t before = why->len;
        int err = key_store_read(config, folder, provider, arena, &keys[count].key, &place, why);
        if (err == -ENOMEM)
            return ACP_ERR_NOMEM;
        if (!err)
            keys[count++].provider = provider;
        else if (err != -ENOENT && why->len > before)
            (void) acp_buf_append_str(why, acp_str_from("\n"));
    }
    *ret = keys;
    *ret_count = count;
    return 0;
}

/* ---- Changing -------------------------------------------------------------------------------- */

int key_store_write(const struct config *config, const char *folder, const char *provider,
                    struct acp_str key, enum key_place place, struct acp_buf *why)
{
    struct acp_arena arena;
    struct acp_buf text;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, KEY_MAX_BYTES + 2);
    const char *path = paths_join(&arena, folder, provider);
    int err = path ? paths_prepare_private_file(path, folder, KEY_MAX_BYTES + 2, why) : -ENOMEM;
    if (!err && place == KEY_IN_KEYRING)
        err = key_ring_write(config_environment(config), provider, key, why);
    if (!err &&
        acp_buf_printf(&text, "%.*s\n",
                       place == KEY_IN_KEYRING ? (int) (sizeof(in_keyring) - 1) : (int) key.len,
                       place == KEY_IN_KEYRING ? in_keyring : key.ptr))
        err = -ENOMEM;
    if (!err)
        err = paths_write_file(path, acp_buf_view(&text), 0600);
    if (text.len)
        explicit_bzero(text.data, text.cap);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return err;
}

int key_store_remove(const struct config *config, const char *folder, const char *provider,
                     struct acp_buf *why)
{
    struct acp_arena arena;
    const char *key = NULL;
    enum key_place place = KEY_IN_FILE;
    acp_arena_init(&arena, 0);
    const char *path = paths_join(&arena, folder, provider);
    int err = path ? 0 : -ENOMEM;
    /* The file is always removed; the keyring is only used if the file refers to it. */
    if (!err && key_store_read(config, folder, provider, &arena, &key, &place, why) == 0 &&
        place == KEY_IN_KEYRING)
        err = key_ring_remove(config_environment(config), provider, why);
    if (!err && unlink(path) != 0)
        err = -errno;
    acp_arena_finish(&arena);
    return err;
}

int key_store_remove_all(const struct config *config, const char *folder, struct acp_buf *why)
{
    const char *provider;
    int failed = 0;
    for (size_t i = 0; (provider = provider_at(config, i)); i++) {
        int err = key_store_remove(config, folder, provider, why);
        failed = err && err != -ENOENT && err != -ENOTDIR ? err : failed;
    }
    return failed;
}
