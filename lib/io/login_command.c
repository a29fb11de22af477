/*
 * From a method of logging in to a command line.  Texts come from the agent and go to exec, so they
 * must be texts that can: without NUL, and names of the environment without an equals sign.
 */
#include "io/login_command.h"

#include <stdio.h>

/* What a method asks for.  command is absent where the agent's own program is meant. */
struct wish {
    struct acp_str command;
    struct acp_str_list args;
    struct acp_str_map env;
    struct acp_env_variable_list env_v2;
};

static int fail(struct acp_failure *failure, int err, const char *sentence)
{
    if (failure) {
        *failure = (struct acp_failure){.err = err};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    }
    return err;
}

/* ---- The command of agents of old ------------------------------------------------------------ */

static int read_args(struct acp_json_reader *r, struct acp_arena *arena, struct acp_str_list *ret)
{
    struct acp_str *items = NULL;
    size_t count = 0;
    int err = acp_json_enter_array(r);
    int more = 0;
    while (!err && (more = acp_json_next_item(r)) > 0) {
        items = acp_arena_grow(arena, items, count * sizeof(*items), (count + 1) * sizeof(*items));
        err = items ? acp_json_read_str(r, &items[count++]) : ACP_ERR_NOMEM;
    }
    *ret = (struct acp_str_list){items, count};
    return err ? err : more;
}

static int read_env(struct acp_json_reader *r, struct acp_arena *arena, struct acp_str_map *ret)
{
    struct acp_str_entry *items = NULL;
    struct acp_str key;
    size_t count = 0;
    int err = acp_json_enter_object(r);
    int more = 0;
    while (!err && (more = acp_json_next_key(r, &key)) > 0) {
        items = acp_arena_grow(arena, items, count * sizeof(*items), (count + 1) * sizeof(*items));
        err = items ? acp_json_read_str(r, &items[count].value) : ACP_ERR_NOMEM;
        if (!err)
            items[count++].key = key;
    }
    *ret = (struct acp_str_map){items, count};
    return err ? err : more;
}

static int read_command(struct acp_json_reader *r, struct acp_arena *arena, struct wish *ret)
{
    struct acp_str key;
    int err = acp_json_enter_object(r);
    int more = 0;
    while (!err && (more = acp_json_next_key(r, &key)) > 0)
        err = acp_str_is(key, "command") ? acp_json_read_str(r, &ret->command)
              : acp_str_is(key, "args")  ? read_args(r, arena, &ret->args)
              : acp_str_is(key, "env")   ? read_env(r, arena, &ret->env)
                                         : acp_json_skip(r);
    return err ? err : more;
}

/* The command line in "terminal-auth" of a _meta; ret->command is absent when there is none. */
static int read_old(struct acp_raw meta, struct acp_arena *arena, struct wish *ret)
{
    struct acp_json_reader r;
    struct acp_str key;
    if (!acp_is_set(meta.ptr))
        return 0;
    acp_json_reader_init(&r, meta, arena, 0);
    int err = acp_json_enter_object(&r);
    int more = 0;
    while (!err && (more = acp_json_next_key(&r, &key)) > 0)
        err = acp_str_is(key, "terminal-auth") ? read_command(&r, arena, ret) : acp_json_skip(&r);
    return err ? err : more;
}

/* ---- The command line ------------------------------------------------------------------------ */

static bool is_plain(struct acp_str text)
{
    return text.len == 0 || !memchr(text.ptr, '\0', text.len);
}

static const char *copy_text(struct acp_arena *arena, struct acp_str text, int *err)
{
    if (!is_plain(text)) {
        *err = ACP_ERR_ARGUMENT;
        return NULL;
    }
    struct acp_str copy = acp_arena_copy(arena, text.ptr ? text : acp_str_from(""));
    if (!copy.ptr)
        *err = ACP_ERR_NOMEM;
    return copy.ptr;
}

/* "NAME=value" */
static const char *copy_variable(struct acp_arena *arena, struct acp_str name, struct acp_str value,
                                 int *err)
{
    if (name.len == 0 || !is_plain(name) || !is_plain(value) || memchr(name.ptr, '=', name.len)) {
        *err = ACP_ERR_ARGUMENT;
        return NULL;
    }
    char *text = acp_arena_alloc(arena, name.len + value.len + 2);
    if (!text) {
        *err = ACP_ERR_NOMEM;
        return NULL;
    }
    memcpy(text, name.ptr, name.len);
    text[name.len] = '=';
    if (value.len)
        memcpy(text + name.len + 1, value.ptr, value.len);
    return text;
}

static size_t count_texts(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* A list with room for more, which begins with what is there. */
static const char **begin_list(struct acp_arena *arena, const char *const *list, size_t more)
{
    size_t n = count_texts(list);
    const char **texts = acp_arena_alloc(arena, (n + more + 1) * sizeof(*texts));
    for (size_t i = 0; texts && list && list[i]; i++)
        texts[i] = list[i];
    return texts;
}

static int make_lists(const struct wish *wish, const char *const *argv, const char *const *env,
                      struct acp_arena *arena, struct acp_login_command *ret)
{
    int err = 0;
    const char **args = begin_list(arena, argv, wish->args.count + 1);
    const char **variables = begin_list(arena, env, wish->env.count + wish->env_v2.count);
    if (!args || !variables)
        return ACP_ERR_NOMEM;
    size_t n = count_texts(argv);
    if (wish->command.ptr)
        args[n++] = copy_text(arena, wish->command, &err);
    for (size_t i = 0; i < wish->args.count; i++)
        args[n++] = copy_text(arena, wish->args.items[i], &err);
    /* Behind the agent's own, of which they win. */
    n = count_texts(env);
    for (size_t i = 0; i < wish->env.count; i++)
        variables[n++] =
            copy_variable(arena, wish->env.items[i].key, wish->env.items[i].value, &err);
    for (size_t i = 0; i < wish->env_v2.count; i++)
        variables[n++] =
            copy_variable(arena, wish->env_v2.items[i].name, wish->env_v2.items[i].value, &err);
    if (!err)
        *ret = (struct acp_login_command){args, variables};
    return err;
}

int acp_login_command_make(const struct acp_auth_method *method, const char *const *argv,
                           const char *const *env, bool agents_command, struct acp_arena *arena,
                           struct acp_login_command *ret, struct acp_failure *failure)
{
    struct wish wish = {0};
    int err = 0;
    if (method->is == ACP_AUTH_METHOD_TERMINAL) {
        const struct acp_auth_method_terminal *terminal = &method->terminal;
        wish.args = terminal->args;
        wish.env = terminal->env;
        wish.env_v2 = terminal->env_v2;
    } else if (method->is == ACP_AUTH_METHOD_AGENT && agents_command) {
        err = read_old(method->agent.meta, arena, &wish);
        if (!err && wish.command.len > 0)
            argv = NULL; /* the whole line is the agent's */
        else
            err = ACP_ERR_STATE;
    } else {
        err = ACP_ERR_STATE;
    }
    if (err && err != ACP_ERR_NOMEM)
        return fail(failure, ACP_ERR_STATE, "this method of logging in is not run at a terminal");
    if (!err)
        err = make_lists(&wish, argv, env, arena, ret);
    if (!err)
        return 0;
    return fail(failure, err,
                err == ACP_ERR_NOMEM ? acp_err_text(err)
                                     : "the arguments or the environment of this method of logging "
                                       "in cannot be given to a program");
}
