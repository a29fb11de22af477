/* token_store.c - see token_store.h. */
#define _GNU_SOURCE /* explicit_bzero */
#include "config/token_store.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "config/paths.h"
#include "workspace/digest.h"

const char *token_store_folder(const char *const *environment, struct acp_arena *arena)
{
    const char *data = paths_data_dir(environment, arena);
    return data ? paths_join(arena, data, "mcp-tokens") : NULL;
}

/* The file of a server; a slash at the end and the query of its URL do not matter. */
static const char *path_of(const char *folder, struct acp_str url, struct acp_arena *arena)
{
    unsigned char digest[ACP_DIGEST_SIZE];
    char name[2 * ACP_DIGEST_SIZE + sizeof(".json")];
    const char *query = url.len ? memchr(url.ptr, '?', url.len) : NULL;
    if (query)
        url.len = (size_t) (query - url.ptr);
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    acp_digest(url, digest);
    for (size_t i = 0; i < ACP_DIGEST_SIZE; i++)
        (void) snprintf(name + 2 * i, 3, "%02x", digest[i]);
    memcpy(name + 2 * (size_t) ACP_DIGEST_SIZE, ".json", sizeof(".json"));
    return paths_join(arena, folder, name);
}

int token_store_read(const char *folder, struct acp_str url, struct acp_arena *arena,
                     struct oauth_grant *ret, struct acp_buf *why)
{
    const char *path = path_of(folder, url, arena);
    struct acp_buf file;
    if (!path)
        return -ENOMEM;
    acp_buf_init(&file, OAUTH_MAX_GRANT + 2);
    int err = paths_read_private_file(path, &file, why);
    struct acp_str text = acp_buf_view(&file);
    struct oauth_grant grant;
    if (!err && oauth_grant_read(acp_raw_n(text.ptr, text.len), arena, &grant)) {
        (void) acp_buf_printf(why, "%s does not contain tokens; log in again", path);
        err = -EINVAL;
    } else if (!err && !oauth_grant_covers(&grant, url)) {
        (void) acp_buf_printf(why, "the tokens in %s are for another server; log in again", path);
        err = -EINVAL;
    }
    if (!err)
        *ret = grant;
    if (file.cap)
        explicit_bzero(file.data, file.cap);
    acp_buf_finish(&file);
    return err;
}

int token_store_write(const char *folder, struct acp_str url, const struct oauth_grant *grant,
                      struct acp_buf *why)
{
    struct acp_arena arena;
    struct acp_buf text;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, OAUTH_MAX_GRANT + 2);
    const char *path = path_of(folder, url, &arena);
    int err = path ? paths_prepare_private_file(path, folder, OAUTH_MAX_GRANT + 2, why) : -ENOMEM;
    if (!err && (oauth_grant_write(grant, &text) || acp_buf_append(&text, "\n", 1))) {
        (void) acp_buf_printf(why, "the tokens are too large to be stored");
        err = -EFBIG;
    }
    if (!err)
        err = paths_write_file(path, acp_buf_view(&text), 0600);
    if (text.cap)
        explicit_bzero(text.data, text.cap);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return err;
}

int token_store_remove(const char *folder, struct acp_str url, struct acp_buf *why)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *path = path_of(folder, url, &arena);
    int err = path ? 0 : -ENOMEM;
    if (!err && unlink(path)) {
        err = -errno;
        if (err != -ENOENT)
            (void) acp_buf_printf(why, "cannot remove %s: %s", path, strerror(errno));
    }
    acp_arena_finish(&arena);
    return err;
}
