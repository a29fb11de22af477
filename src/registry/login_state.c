/* login_state.c - whether an agent is logged in, from its key variables and files. */
#include <unistd.h>

#include "config/paths.h"
#include "registry/agents.h"
#include "registry/environment_keys.h"

/* The next word of a list that is separated by blanks; absent after the last. */
static struct acp_str next_word(const char **list)
{
    const char *word = *list;
    if (!word || !*word)
        return (struct acp_str){0};
    size_t n = strcspn(word, " ");
    *list = word + n + (word[n] == ' ');
    return acp_str_n(word, n);
}

/* The first variable of a list that has a value, for this agent or in our environment. */
static const char *find_key(struct config *config, const struct agent_command *command)
{
    const char *at = command->keys;
    for (struct acp_str name = next_word(&at); name.len; name = next_word(&at)) {
        const char *key = acp_arena_copy(config_arena(config), name).ptr;
        if (key && (paths_variable(command->env, key) || paths_variable(keys_environment(), key)))
            return key;
    }
    return NULL;
}

static const char *find_file(struct config *config, const char *files)
{
    struct acp_arena *arena = config_arena(config);
    for (struct acp_str name = next_word(&files); name.len; name = next_word(&files)) {
        const char *path = paths_expand(arena, name, "/", config_home(config));
        if (path && access(path, F_OK) == 0)
            return paths_shorten(arena, path, config_home(config));
    }
    return NULL;
}

enum agent_login agents_login(struct config *config, const struct agent_command *command,
                              const char **ret_where)
{
    const char *files = command->known ? command->known->credentials : NULL;
    const char *where = find_key(config, command);
    enum agent_login login = AGENT_LOGIN_KEY;
    if (!where) {
        where = find_file(config, files);
        login = where ? AGENT_LOGIN_FILE : files ? AGENT_LOGIN_MISSING : AGENT_LOGIN_UNKNOWN;
    }
    *ret_where = where;
    return login;
}
