/* agents.c - finds the command of an agent; see agents.h for the order of sources. */
#include "registry/agents.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "config/config_internal.h"
#include "config/paths.h"
#include "launch/fetched.h"
#include "registry/agents_internal.h"
#include "text/suggest.h"
#include "workspace/beneath.h"

const char *agents_source_name(enum agent_source source)
{
    static const char *const names[] = {[AGENT_FROM_CONFIG] = "your configuration",
                                        [AGENT_BUILT_IN] = "built in",
                                        [AGENT_FROM_REGISTRY] = "the registry",
                                        [AGENT_COMMAND_LINE] = "the command line"};
    return names[source];
}

/* ---- Recipes -------------------------------------------------------------------------------- */

/* This program as an agent; NULL when out of memory or when its path cannot be found. */
static const char *const *own_line(struct acp_arena *arena)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    bool whole = n > 0 && (size_t) n < sizeof(path);
    struct acp_str program = acp_arena_copy(arena, acp_str_n(path, whole ? (size_t) n : 0));
    const char **argv = acp_arena_alloc(arena, 3 * sizeof(*argv));
    if (!whole || !program.ptr || !argv)
        return NULL;
    argv[0] = program.ptr;
    argv[1] = "agent";
    argv[2] = NULL;
    return argv;
}

static int recipe_of_known(struct config *config, const struct agent_known *known,
                           struct agent_recipe *ret)
{
    struct acp_arena *arena = config_arena(config);
    *ret = (struct agent_recipe){.name = known->name,
                                 .title = known->title,
                                 .install = known->install,
                                 .login = known->login,
                                 .keys = known->keys,
                                 .known = known,
                                 .source = AGENT_BUILT_IN};
    if (known == agents_known_at(0))
        ret->installed = own_line(arena);
    int err =
        ret->installed ? 0 : agents_split(arena, acp_str_from(known->command), &ret->installed);
    if (!err && known->fetched)
        err = agents_split(arena, acp_str_from(known->fetched), &ret->fetched);
    return err;
}

/* A search for a name in the registry. */
struct search {
    const char *name;
    struct agent_recipe found;
};

static void match_recipe(const struct agent_recipe *recipe, void *user)
{
    struct search *search = user;
    if (!search->found.name && strcmp(recipe->name, search->name) == 0)
        search->found = *recipe;
}

/* The built-in table, then the registry; ret->name is NULL if the name is in neither. */
static int find_recipe(struct config *config, const char *name, struct agent_recipe *ret,
                       struct acp_buf *why)
{
    const struct agent_known *known = agents_known_find(name);
    *ret = (struct agent_recipe){0};
    if (known)
        return recipe_of_known(config, known, ret);
    struct search search = {.name = name};
    int err = agents_read_registry(config, match_recipe, &search, why);
    if (!err)
        *ret = search.found;
    return err;
}

/* ---- Commands ------------------------------------------------------------------------------- */

const char *const *agents_join(struct acp_arena *arena, const char *const *first,
                               const char *const *second)
{
    size_t n = 0;
    size_t m = 0;
    while (first[n])
        n++;
    while (second[m])
        m++;
    const char **all = acp_arena_alloc(arena, (n + m + 1) * sizeof(*all));
    for (size_t i = 0; all && i < n + m; i++)
        all[i] = i < n ? first[i] : second[i - n];
    return all;
}

/* The variables of the recipe, of all agents, and of this one; the last value is used. */
static const char *const *join_env(struct config *config, const struct agent_recipe *recipe,
                                   const struct config_agent *agent)
{
    struct acp_arena *arena = config_arena(config);
    const char *const *first = recipe->env ? recipe->env : config_no_texts;
    const char *const *env = agents_join(arena, first, config_env(config));
    return env && agent ? agents_join(arena, env, agent->env) : env;
}

const char *agents_path(struct config *config, const char *const *env)
{
    const char *path = paths_variable(config_environment(config), "PATH");
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], "PATH=", 5) == 0)
            path = env[i] + 5;
    return path;
}

/*
 * The directory whose programs are not used unless the user names them: the current repository.
 * NULL if it contains the home directory, where users have their own programs.
 */
static const char *foreign_folder(struct config *config)
{
    struct acp_arena *arena = config_arena(config);
    const char *cwd = config_cwd(config);
    const char *home = paths_home(config_environment(config), arena);
    const char *root = paths_find_upwards(arena, cwd, home, ".git");
    const char *folder = root ? root : cwd;
    return home && acp_path_within(home, folder, NULL) ? NULL : folder;
}

/*
 * Looks the program up with the PATH of the agent.  A program named by the user may be in the
 * project, as in a virtual environment, and so may this one; a program that we choose, or that
 * fetches others, may not.
 */
static const char *find_program(struct config *config, const struct agent_recipe *recipe,
                                const char *const *argv, const char *const *env)
{
    bool own = recipe->source == AGENT_FROM_CONFIG || recipe->source == AGENT_COMMAND_LINE;
    bool named = (own || recipe->known == agents_known_at(0)) && !launch_is_fetched(argv);
    return paths_find_program(config_arena(config), argv[0], agents_path(config, env),
                              named ? NULL : foreign_folder(config));
}

/* Sets argv and program; an installed program takes precedence over a fetched one. */
static void choose(struct config *config, const struct agent_recipe *recipe,
                   struct agent_command *command)
{
    const char *const *own = recipe->installed;
    const char *const *fetched = recipe->fetched;
    const char *program = own ? find_program(config, recipe, own, command->env) : NULL;
    if (!program && fetched) {
        program = find_program(config, recipe, fetched, command->env);
        command->fetched = program || !own;
    }
    command->argv = command->fetched ? fetched : own;
    command->program = program;
}

static int make_command(struct config *config, const struct agent_recipe *recipe,
                        const struct config_agent *agent, struct agent_command *ret)
{
    struct agent_command command = {
        .name = agent ? agent->name : recipe->name,
        .title = recipe->title ? recipe->title : recipe->name,
        .source = agent ? AGENT_FROM_CONFIG : recipe->source,
        .install = recipe->install,
        .login = recipe->login,
        .keys = agent && agent->keys ? agent->keys : recipe->keys,
        .known = recipe->known,
    };
    if (agent) {
        command.model = agent->model;
        command.mode = agent->mode;
        command.auth_method = agent->auth_method;
        command.origin = agent->origin;
    }
    command.env = join_env(config, recipe, agent);
    if (!command.env || !(recipe->installed || recipe->fetched))
        return ACP_ERR_NOMEM;
    choose(config, recipe, &command);
    *ret = command;
    return 0;
}

/* A configured agent with its own command. */
static int own_command(struct config *config, const struct config_agent *agent,
                       struct agent_command *ret)
{
    const char *const command[] = {agent->command, NULL};
    struct agent_recipe recipe = {
        .name = agent->name, .title = agent->name, .known = agents_known_find(agent->name)};
    recipe.installed = agents_join(config_arena(config), command, agent->args);
    if (recipe.installed && !recipe.known)
        recipe.known = agents_known_by_command(recipe.installed);
    return make_command(config, &recipe, agent, ret);
}

/* ---- Not found ------------------------------------------------------------------------------ */

static void suggest_names(struct config *config, struct suggestion *near)
{
    const char *const *names = agents_names(config);
    for (size_t i = 0; names[i]; i++)
        suggest_try(near, names[i]);
}

static int say_unknown(struct config *config, const char *name, struct acp_buf *why)
{
    struct suggestion near = {.wrong = name};
    suggest_names(config, &near);
    (void) acp_buf_printf(why, "no such agent '%.60s'", name);
    if (near.best)
        (void) acp_buf_printf(why, "; did you mean '%s'?", near.best);
    else
        (void) acp_buf_printf(why, "; run `acp agents list`, or add one with `acp agents add`");
    return ACP_ERR_UNKNOWN;
}

static int say_missing(const struct agent_command *command, struct acp_buf *why)
{
    (void) acp_buf_printf(why, "cannot start %s: '%.200s' is not installed", command->name,
                          command->argv[0]);
    if (command->install)
        (void) acp_buf_printf(why, "; %s", command->install);
    else if (command->source == AGENT_FROM_CONFIG && command->origin.where)
        (void) acp_buf_printf(why, " (%s:%zu)", command->origin.where, command->origin.line);
    return ACP_ERR_MISSING;
}

/* ---- Entry ---------------------------------------------------------------------------------- */

int agents_find(struct config *config, const char *name, struct agent_command *ret,
                struct acp_buf *why)
{
    const struct config_agent *agent = config_agent_find(config, name);
    if (agent && agent->command)
        return own_command(config, agent, ret);
    struct agent_recipe recipe;
    int err = find_recipe(config, name, &recipe, why);
    if (err)
        return err;
    if (!recipe.name && agent) {
        (void) acp_buf_printf(why,
                              "agent_servers.%.60s (%s:%zu) has no command, and no known agent has "
                              "that name",
                              name, agent->origin.where, agent->origin.line);
        return ACP_ERR_UNKNOWN;
    }
    if (!recipe.name)
        return say_unknown(config, name, why);
    /* The arguments of an entry without a command are appended to those of the known agent. */
    if (agent && recipe.installed)
        recipe.installed = agents_join(config_arena(config), recipe.installed, agent->args);
    if (agent && recipe.fetched)
        recipe.fetched = agents_join(config_arena(config), recipe.fetched, agent->args);
    return make_command(config, &recipe, agent, ret);
}

int agents_resolve(struct config *config, const char *name, struct agent_command *ret,
                   struct acp_buf *why)
{
    struct agent_command command;
    int err = agents_find(config, name, &command, why);
    if (!err && !command.program)
        err = say_missing(&command, why);
    if (!err)
        *ret = command;
    return err;
}

int agents_own(struct config *config, struct agent_command *ret, struct acp_buf *why)
{
    struct agent_recipe recipe;
    struct agent_command command;
    int err = recipe_of_known(config, agents_known_at(0), &recipe);
    if (!err)
        err = make_command(config, &recipe, NULL, &command);
    if (!err && !command.program)
        err = say_missing(&command, why);
    if (!err)
        *ret = command;
    return err;
}

bool agents_is_own(const struct agent_command *command)
{
    return command->source == AGENT_BUILT_IN && command->known == agents_known_at(0);
}

static bool has_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool agents_is_known(struct config *config, const char *word)
{
    const char *const *names = agents_names(config);
    size_t count = 0;
    while (names[count])
        count++;
    return agents_known_find(word) || has_name(names, count, word);
}

int agents_from_argv(struct config *config, const char *const *argv, struct agent_command *ret,
                     struct acp_buf *why)
{
    if (!argv[0] || !argv[0][0]) {
        (void) acp_buf_printf(why, "the command of the agent is empty");
        return ACP_ERR_MISSING;
    }
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash && slash[1] ? slash + 1 : argv[0];
    struct agent_recipe recipe = {.name = name,
                                  .title = name,
                                  .installed = argv,
                                  .known = agents_known_by_command(argv),
                                  .source = AGENT_COMMAND_LINE};
    struct agent_command command;
    int err = make_command(config, &recipe, NULL, &command);
    if (!err && !command.program)
        err = say_missing(&command, why);
    if (!err)
        *ret = command;
    return err;
}

int agents_from_line(struct config *config, const char *line, struct agent_command *ret,
                     struct acp_buf *why)
{
    const char *const *words = NULL;
    int err = agents_split(config_arena(config), acp_str_from(line), &words);
    if (err == ACP_ERR_SYNTAX)
        (void) acp_buf_printf(why, "unterminated quote or trailing backslash in the command line "
                                   "of the agent");
    else if (err == ACP_ERR_MISSING)
        (void) acp_buf_printf(why, "the command line of the agent is empty");
    if (err)
        return err;
    if (!words[1] && agents_is_known(config, words[0]))
        return agents_resolve(config, words[0], ret, why);
    return agents_from_argv(config, words, ret, why);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

struct names {
    struct config *config;
    const char **items; /* ends with NULL */
    size_t count;
};

static void add_name(struct names *names, const char *name)
{
    if (has_name(names->items, names->count, name))
        return;
    const char **grown = config_grow(names->config, names->items, names->count + 1, sizeof(*grown));
    if (!grown)
        return;
    names->items = grown;
    names->items[names->count++] = name;
}

static void add_recipe(const struct agent_recipe *recipe, void *user)
{
    /* It may be built in under another name. */
    if (!agents_known_find(recipe->name))
        add_name(user, recipe->name);
}

/* The configured and the built-in agents. */
static bool add_first_names(struct names *names)
{
    const struct config_agent *agent;
    const struct agent_known *known;
    names->items = config_grow(names->config, NULL, 0, sizeof(*names->items));
    if (!names->items)
        return false;
    for (size_t i = 0; (agent = config_agent_at(names->config, i)); i++)
        add_name(names, agent->name);
    for (size_t i = 0; (known = agents_known_at(i)); i++)
        add_name(names, known->name);
    return true;
}

const char *const *agents_names(struct config *config)
{
    struct names names = {.config = config};
    struct acp_buf ignored;
    if (!add_first_names(&names))
        return config_no_texts;
    acp_buf_init(&ignored, 4096);
    (void) agents_read_registry(config, add_recipe, &names, &ignored);
    acp_buf_finish(&ignored);
    return names.items;
}

struct listing {
    struct config *config;
    const char *const *names; /* already listed */
    size_t count;
    agents_visit *visit;
    void *user;
};

static void list_recipe(const struct agent_recipe *recipe, void *user)
{
    struct listing *l = user;
    struct agent_command command;
    if (agents_known_find(recipe->name) || has_name(l->names, l->count, recipe->name))
        return;
    if (make_command(l->config, recipe, NULL, &command) == 0)
        l->visit(&command, l->user);
}

int agents_list(struct config *config, agents_visit *visit, void *user, struct acp_buf *why)
{
    struct names names = {.config = config};
    struct acp_buf ignored;
    if (!add_first_names(&names))
        return ACP_ERR_NOMEM;
    acp_buf_init(&ignored, 4096);
    for (size_t i = 0; i < names.count; i++) {
        struct agent_command command;
        acp_buf_clear(&ignored);
        /* Skip an entry that has no command and names no known agent. */
        if (agents_find(config, names.items[i], &command, &ignored) == 0)
            visit(&command, user);
    }
    acp_buf_finish(&ignored);
    struct listing l = {config, names.items, names.count, visit, user};
    return agents_read_registry(config, list_recipe, &l, why);
}
