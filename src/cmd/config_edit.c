/* config_edit.c - editing the user's configuration file. */
#include "cmd/config_edit.h"

#include <errno.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/jsonc.h"
#include "config/paths.h"

int config_edit_begin(struct config_edit *e, const char *command)
{
    *e = (struct config_edit){.command = command, .lock = -1};
    acp_arena_init(&e->arena, 0);
    acp_buf_init(&e->text, PATHS_MAX_FILE);
    acp_buf_init(&e->changed, PATHS_MAX_FILE);
    e->file = config_find_user_file(config_command_environment(), &e->arena);
    if (!e->file) {
        err_printf("acp %s: no home directory; set HOME\n", command);
        return EXIT_FAILED;
    }
    e->lock = paths_lock_file(e->file);
    if (e->lock < 0)
        return config_command_fail_system(command, "lock", e->file, e->lock);
    int reason = paths_read_file(e->file, &e->text);
    return reason && reason != -ENOENT
               ? config_command_fail_system(command, "read", e->file, reason)
               : EXIT_OK;
}

int config_edit_end(struct config_edit *e, int status)
{
    int reason = 0;
    if (status == EXIT_OK && e->changed.len > 0)
        reason = paths_write_file(e->file, acp_buf_view(&e->changed), 0600);
    if (reason)
        status = config_command_fail_system(e->command, "write", e->file, reason);
    if (e->lock >= 0)
        (void) close(e->lock);
    acp_buf_finish(&e->text);
    acp_buf_finish(&e->changed);
    acp_arena_finish(&e->arena);
    return status;
}

int config_edit_fail(const struct config_edit *e, int err, const struct acp_failure *failure)
{
    struct jsonc_position place = jsonc_position(acp_buf_view(&e->text), failure->offset);
    if (failure->offset)
        err_printf("acp %s: %s:%zu: %s\n", e->command, e->file, place.line, failure->message);
    else
        err_printf("acp %s: cannot edit %s: %s; run `acp config check`\n", e->command, e->file,
                   acp_err_text(err));
    return EXIT_FAILED;
}

bool config_edit_has(const struct config_edit *e, const struct acp_str *member)
{
    struct acp_buf aside;
    acp_buf_init(&aside, PATHS_MAX_FILE);
    bool there = jsonc_remove(acp_buf_view(&e->text), member, 2, &aside, NULL) == 0;
    acp_buf_finish(&aside);
    return there;
}

int config_edit_remove(struct config_edit *e, const struct acp_str *member,
                       struct acp_failure *failure)
{
    int err = jsonc_remove(acp_buf_view(&e->text), member, 2, &e->changed, failure);
    while (!err && e->changed.len > 0) {
        struct acp_buf once_more;
        acp_buf_init(&once_more, PATHS_MAX_FILE);
        if (jsonc_remove(acp_buf_view(&e->changed), member, 2, &once_more, NULL)) {
            acp_buf_finish(&once_more);
            break;
        }
        acp_buf_finish(&e->changed);
        e->changed = once_more;
    }
    return err;
}
