/* mcp_store.c - see mcp_store.h. */
#include "cmd/mcp_store.h"

#include "cli/output.h"
#include "config/token_store.h"

static void report(struct acp_buf *why)
{
    if (why->len)
        err_printf("acp: %.*s\n", ACP_ARG(acp_buf_view(why)));
    acp_buf_finish(why);
}

static int load(struct acp_str url, struct acp_arena *arena, struct oauth_grant *ret, void *user)
{
    const char *folder = user;
    struct acp_buf why;
    if (!folder)
        return ACP_ERR_MISSING;
    acp_buf_init(&why, 1000);
    int err = token_store_read(folder, url, arena, ret, &why);
    report(&why);
    return err;
}

static int save(struct acp_str url, const struct oauth_grant *grant, void *user)
{
    const char *folder = user;
    struct acp_buf why;
    if (!folder)
        return ACP_ERR_MISSING;
    acp_buf_init(&why, 1000);
    int err = token_store_write(folder, url, grant, &why);
    report(&why);
    return err;
}

struct mcp_token_store token_store_of(const struct config *config, struct acp_arena *arena)
{
    const char *folder = token_store_folder(config_environment(config), arena);
    return (struct mcp_token_store){load, save, (void *) (uintptr_t) folder};
}
