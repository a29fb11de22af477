/* agent_start.c - how an agent is started: its environment and working directory. */
#include "config/config_internal.h"
#include "config/paths.h"
#include "launch/fetched.h"
#include "registry/agents.h"
#include "registry/agents_internal.h"
#include "registry/environment_keys.h"

/*
 * "PATH=..." without relative entries, which would find programs of the project, also for the
 * interpreter line of a script.  NULL when out of memory.
 */
static const char *make_path(struct acp_arena *arena, const char *path)
{
    static const char name[] = "PATH=";
    char *text = acp_arena_alloc(arena, sizeof(name) + strlen(path));
    if (!text)
        return NULL;
    memcpy(text, name, sizeof(name));
    char *out = text + sizeof(name) - 1;
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, ":");
        if (at[0] == '/') {
            if (out[-1] != '=')
                *out++ = ':';
            memcpy(out, at, n);
            out += n;
        }
        at += n + (at[n] == ':');
    }
    *out = '\0';
    return text;
}

/* The keys come first, because the last value of a variable is used. */
static const char *const *make_env(struct config *config, const struct agent_command *command,
                                   const char *const *more)
{
    struct acp_arena *arena = config_arena(config);
    const char *path[2] = {NULL, NULL};
    const char *value = agents_path(config, command->env);
    if (value && !(path[0] = make_path(arena, value)))
        return NULL;
    const char *const *keys = keys_select(arena, command->keys);
    const char *const *env = keys ? agents_join(arena, keys, command->env) : NULL;
    env = env ? agents_join(arena, env, path) : NULL;
    return env ? agents_join(arena, env, more) : NULL;
}

static int start_fetched(struct config *config, const struct agent_command *command,
                         const char *cwd, struct agent_start *ret, struct acp_buf *why)
{
    struct acp_arena *arena = config_arena(config);
    struct acp_failure failure = {0};
    struct launch_fetched fetched = {0};
    const char *state = paths_state_dir(config_environment(config), arena);
    const char *folder = state ? paths_join(arena, state, "launch") : NULL;
    if (!folder) {
        (void) acp_buf_printf(why, "cannot start %s with %s: no home directory; set HOME",
                              command->name, command->argv[0]);
        return ACP_ERR_STATE;
    }
    int err =
        launch_fetched(arena, folder, command->program, command->argv, cwd, &fetched, &failure);
    if (err) {
        (void) acp_buf_printf(why, "cannot start %s with %s: %s", command->name, command->argv[0],
                              failure.message);
        return err;
    }
    *ret = (struct agent_start){.argv = fetched.argv, .cwd = fetched.cwd};
    ret->env = make_env(config, command, fetched.env);
    return ret->env ? 0 : ACP_ERR_NOMEM;
}

int agents_start(struct config *config, const struct agent_command *command, const char *cwd,
                 struct agent_start *ret, struct acp_buf *why)
{
    struct agent_start start = {.argv = command->argv};
    if (command->program && launch_is_fetched(command->argv)) {
        int err = start_fetched(config, command, cwd, &start, why);
        if (err)
            return err;
    } else {
        start.env = make_env(config, command, config_no_texts);
        if (!start.env)
            return ACP_ERR_NOMEM;
    }
    *ret = start;
    return 0;
}
