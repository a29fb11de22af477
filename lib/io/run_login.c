/*
 * Logging in at a terminal: the agent's own program, run once more, with the user in front of it.
 */
#include <stdlib.h>

#include "acp/run.h"
#include "base/sized.h"
#include "io/login_command.h"
#include "io/spawn.h"

struct acp_login {
    struct acp_process *process;
    acp_login_fn *done;
    void *user;
    bool cancelled;
};

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct acp_login *login = user;
    struct acp_buf sentence;
    acp_buf_init(&sentence, 1 << 16);
    (void) acp_process_describe_exit(acp_str_from(acp_process_program(process)), how,
                                     acp_str_from(NULL), &sentence);
    int err = login->cancelled ? ACP_ERR_CANCELLED : how->code == 0 ? 0 : ACP_ERR_REMOTE;
    login->done(login, err, how, acp_buf_view(&sentence), login->user);
    acp_buf_finish(&sentence);
}

static int start(uv_loop_t *loop, const struct acp_login_options *options, struct acp_login *login,
                 struct acp_failure *failure)
{
    static const struct acp_process_handler handler = {.exited = on_exited};
    const struct acp_process_options *agent = options->agent;
    struct acp_login_command command;
    struct acp_arena arena;
    if (!agent || !agent->argv || !options->method)
        return acp_spawn_failed(failure, "a login", "", ACP_ERR_ARGUMENT);
    acp_arena_init(&arena, 0);
    int err = acp_login_command_make(options->method, agent->argv, agent->env,
                                     options->agents_command, &arena, &command, failure);
    if (!err) {
        struct acp_process_options process = {
            .argv = command.argv,
            .cwd = agent->cwd,
            .env = command.env,
            .unset = agent->unset,
            .keep_nesting = agent->keep_nesting,
            .in = ACP_IO_INHERIT,
            .out = ACP_IO_INHERIT,
            .err = ACP_IO_INHERIT,
            .foreground = true,
        };
        err = acp_process_start(loop, &process, &handler, login, &login->process, failure);
    }
    acp_arena_finish(&arena);
    return err;
}

static int login_start(uv_loop_t *loop, const struct acp_login_options *options, acp_login_fn *done,
                       void *user, struct acp_login **ret, struct acp_failure *failure)
{
    struct acp_login *login = calloc(1, sizeof(*login));
    if (!login)
        return acp_spawn_failed(failure, "a login", "", ACP_ERR_NOMEM);
    login->done = done;
    login->user = user;
    int err = start(loop, options, login, failure);
    if (err) {
        free(login);
        return err;
    }
    *ret = login;
    return 0;
}

int acp_login_start_sized(uv_loop_t *loop, const struct acp_login_options *options,
                          size_t options_size, acp_login_fn *done, void *user,
                          struct acp_login **ret, struct acp_failure *failure)
{
    struct acp_login_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (err)
        return acp_spawn_failed(failure, "a login", "an option that this library is too old for",
                                err);
    return login_start(loop, &own_options, done, user, ret, failure);
}

void acp_login_cancel(struct acp_login *login)
{
    login->cancelled = true;
    acp_process_terminate(login->process);
}

void acp_login_free(struct acp_login *login)
{
    if (!login)
        return;
    acp_process_free(login->process);
    free(login);
}
