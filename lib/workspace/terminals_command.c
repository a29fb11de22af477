/*
 * What a terminal runs.  Agents send either a program with its arguments, which must not pass
 * through a shell, or one line as they would type it, which must.  The two are told apart here,
 * and by the text alone: were a file of that name looked for, a line that the policy has permitted
 * could become a program of the repository, "git status/x".
 */
#include "workspace/terminals_command.h"

#include <stdio.h>

/* What describes the terminal that we run in, which is not the one the command runs in. */
static const char *const other_terminal[] = {
    "COLUMNS",   "LINES", "TERMCAP",   "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
    "TMUX",      "STY",   "TMUX_PANE", "VTE_VERSION",  "WINDOWID",
    "COLORTERM", NULL,
};

static int fail(struct acp_failure *failure, int err, const char *message, struct acp_str about)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    int shown = about.len > 80 ? 80 : (int) about.len;
    (void) snprintf(failure->message, sizeof(failure->message), "%s%s%.*s", message,
                    shown ? ": " : "", shown, shown ? about.ptr : "");
    return err;
}

static bool has_nul(struct acp_str text)
{
    return text.len && memchr(text.ptr, '\0', text.len);
}

static int check(const struct acp_terminal_request *r, struct acp_failure *failure)
{
    static const struct acp_str nothing = {NULL, 0};
    if (r->command.len == 0)
        return fail(failure, ACP_ERR_ARGUMENT, "no command was given", nothing);
    bool nul = has_nul(r->command) || has_nul(r->cwd);
    for (size_t i = 0; i < r->args.count; i++)
        nul = nul || has_nul(r->args.items[i]);
    for (size_t i = 0; i < r->env.count; i++) {
        const struct acp_str_entry *entry = &r->env.items[i];
        nul = nul || has_nul(entry->key) || has_nul(entry->value);
        if (entry->key.len == 0 || memchr(entry->key.ptr, '=', entry->key.len))
            return fail(failure, ACP_ERR_ARGUMENT, "not the name of a variable", entry->key);
    }
    if (nul)
        return fail(failure, ACP_ERR_ARGUMENT, "a text for a command holds a NUL", nothing);
    if (r->cwd.len && r->cwd.ptr[0] != '/')
        return fail(failure, ACP_ERR_ARGUMENT, "the folder must be an absolute path", r->cwd);
    return 0;
}

/* Blanks, or anything that only a shell gives a meaning to. */
bool acp_terminal_is_line(struct acp_str command)
{
    static const char shell[] = " \t\r\n|&;<>()$`\\\"'*?[]{}~!#";
    for (size_t i = 0; i < command.len; i++)
        if (memchr(shell, command.ptr[i], sizeof(shell) - 1))
            return true;
    return false;
}

static const char *copy(struct acp_arena *arena, struct acp_str text, int *err)
{
    const char *ret = acp_arena_copy(arena, text).ptr;
    if (!ret)
        *err = ACP_ERR_NOMEM;
    return ret;
}

static int make_argv(struct acp_terminal_command *c, const struct acp_terminal_request *r)
{
    int err = 0;
    c->argv = acp_arena_alloc(&c->arena, (r->args.count + 4) * sizeof(*c->argv));
    const char *command = copy(&c->arena, r->command, &err);
    if (!c->argv || err)
        return ACP_ERR_NOMEM;
    size_t n = 0;
    if (r->args.count == 0 && acp_terminal_is_line(r->command)) {
        c->argv[n++] = "/bin/sh";
        c->argv[n++] = "-c";
    }
    c->argv[n++] = command;
    for (size_t i = 0; i < r->args.count; i++)
        c->argv[n++] = copy(&c->arena, r->args.items[i], &err);
    return err;
}

static int make_env(struct acp_terminal_command *c, const struct acp_terminal_request *r,
                    bool pipes)
{
    c->env = acp_arena_alloc(&c->arena, (r->env.count + 4) * sizeof(*c->env));
    if (!c->env)
        return ACP_ERR_NOMEM;
    size_t n = 0;
    c->env[n++] = pipes ? "TERM=dumb" : "TERM=xterm-256color";
    c->env[n++] = "PAGER=cat";
    c->env[n++] = "GIT_PAGER=cat";
    for (size_t i = 0; i < r->env.count; i++) {
        struct acp_str key = r->env.items[i].key;
        struct acp_str value = r->env.items[i].value;
        char *entry = acp_arena_alloc(&c->arena, key.len + value.len + 2);
        if (!entry)
            return ACP_ERR_NOMEM;
        memcpy(entry, key.ptr, key.len);
        entry[key.len] = '=';
        if (value.len)
            memcpy(entry + key.len + 1, value.ptr, value.len);
        c->env[n++] = entry;
    }
    return 0;
}

int acp_terminal_command_init(struct acp_terminal_command *c,
                              const struct acp_terminal_request *request, bool pipes,
                              struct acp_failure *failure)
{
    *c = (struct acp_terminal_command){.unset = other_terminal};
    acp_arena_init(&c->arena, 0);
    int err = check(request, failure);
    if (err)
        return err;
    if (request->cwd.len)
        c->cwd = copy(&c->arena, request->cwd, &err);
    if (!err)
        err = make_argv(c, request);
    if (!err)
        err = make_env(c, request, pipes);
    if (err)
        (void) fail(failure, err, acp_err_text(err), acp_str_from(NULL));
    return err;
}

void acp_terminal_command_finish(struct acp_terminal_command *c)
{
    acp_arena_finish(&c->arena);
}
