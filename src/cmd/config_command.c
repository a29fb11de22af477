/* config_command.c - what `acp config` and `acp agents` share; see config_command.h. */
#include "cmd/config_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "config/paths.h"

const struct option config_flag_rows[] = {
    {.name = "cwd",
     .argument = "DIR",
     .kind = OPTION_DIRECTORY,
     .offset = offsetof(struct config_flags, cwd),
     .help = "run in _DIR_ instead of the current directory"},
    {0},
};

const char *const *config_command_environment(void)
{
    return (const char *const *) environ;
}

const char *config_command_folder(const char *cwd, struct acp_arena *arena)
{
    char own[4096];
    if (!getcwd(own, sizeof(own)))
        (void) snprintf(own, sizeof(own), "/");
    return paths_expand(arena, acp_str_from(cwd ? cwd : own), own,
                        paths_home(config_command_environment(), arena));
}

int config_command_load(const struct config_options *options, struct config **ret)
{
    struct acp_buf report;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = config_load(options, ret, &report);
    err_text(acp_buf_view(&report));
    acp_buf_finish(&report);
    if (err == ACP_ERR_NOMEM)
        err_printf("acp: %s\n", acp_err_text(err));
    return err ? (err == ACP_ERR_NOMEM ? EXIT_FAILED : EXIT_USAGE) : EXIT_OK;
}

int config_command_fail(const char *command, struct acp_buf *why)
{
    err_printf("acp %s: %.*s\n", command, (int) why->len, why->len ? acp_buf_view(why).ptr : "");
    acp_buf_finish(why);
    return EXIT_FAILED;
}

int config_command_fail_system(const char *command, const char *what, const char *path, int reason)
{
    err_printf("acp %s: cannot %s %s: %s\n", command, what, path, strerror(-reason));
    return EXIT_FAILED;
}
