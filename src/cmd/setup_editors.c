/* setup_editors.c - the table of editors, and their settings as JSON, Lua and Lisp. */
#include "cmd/setup_editors.h"

#include <string.h>

#include "config/paths.h"

/* ---- Strings in other languages ------------------------------------------------------------- */

/* In double quotes with backslashes, as Lua and Emacs Lisp read it. */
static int put_quoted(struct acp_buf *out, const char *text)
{
    int err = acp_buf_append(out, "\"", 1);
    for (; *text && !err; text++) {
        if (*text == '\n')
            err = acp_buf_append(out, "\\n", 2);
        else if (*text == '"' || *text == '\\')
            err = acp_buf_printf(out, "\\%c", *text);
        else
            err = acp_buf_append(out, text, 1);
    }
    return err ? err : acp_buf_append(out, "\"", 1);
}

/* Code in which each %s stands for a quoted string; the values end with NULL. */
static int put_code(struct acp_buf *out, const char *format, const char *const *values)
{
    int err = 0;
    const char *hole = NULL;
    for (; !err && *values && (hole = strstr(format, "%s")); format = hole + 2) {
        err = acp_buf_append(out, format, (size_t) (hole - format));
        if (!err)
            err = put_quoted(out, *values++);
    }
    return err ? err : acp_buf_append(out, format, strlen(format));
}

static int put_words(struct acp_buf *out, const char *const *words, const char *separator)
{
    int err = 0;
    for (size_t i = 0; words[i] && !err; i++) {
        if (i)
            err = acp_buf_append(out, separator, strlen(separator));
        if (!err)
            err = put_quoted(out, words[i]);
    }
    return err;
}

/* ---- Neovim --------------------------------------------------------------------------------- */

static int print_neovim(const struct setup_entry *entry, struct acp_buf *out)
{
    const char *const names[] = {entry->name, entry->name, entry->name, entry->command, NULL};
    const char *const chat[] = {entry->name, NULL};
    const char *const provider[] = {entry->name, entry->name, entry->command, NULL};
    int err = put_code(out,
                       "-- CodeCompanion.nvim\n"
                       "require(\"codecompanion\").setup({\n"
                       "  adapters = {\n"
                       "    acp = {\n"
                       "      [%s] = function()\n"
                       "        return require(\"codecompanion.adapters\").extend(\"opencode\", {\n"
                       "          name = %s,\n"
                       "          formatted_name = %s,\n"
                       "          commands = { default = { %s",
                       names);
    if (!err && entry->args[0])
        err = acp_buf_printf(out, ", ");
    if (!err)
        err = put_words(out, entry->args, ", ");
    if (!err)
        err = put_code(out,
                       " } },\n"
                       "        })\n"
                       "      end,\n"
                       "    },\n"
                       "  },\n"
                       "  interactions = { chat = { adapter = %s } },\n"
                       "})\n\n",
                       chat);
    /* It starts agents with PATH and HOME alone, unless it is told more. */
    if (!err)
        err = put_code(out,
                       "-- or avante.nvim\n"
                       "require(\"avante\").setup({\n"
                       "  provider = %s,\n"
                       "  acp_providers = {\n"
                       "    [%s] = {\n"
                       "      command = %s,\n"
                       "      args = { ",
                       provider);
    if (!err)
        err = put_words(out, entry->args, ", ");
    if (!err)
        err = acp_buf_printf(out, " },\n"
                                  "      env = vim.fn.environ(),\n"
                                  "    },\n"
                                  "  },\n"
                                  "})\n");
    return err;
}

/* ---- Emacs ---------------------------------------------------------------------------------- */

static int put_symbol(struct acp_buf *out, const char *name)
{
    int err = 0;
    for (; *name && !err; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9');
        char lower = *name >= 'A' && *name <= 'Z' ? (char) (*name - 'A' + 'a') : '-';
        err = acp_buf_append(out, plain ? name : &lower, 1);
    }
    return err;
}

static int print_emacs(const struct setup_entry *entry, struct acp_buf *out)
{
    const char *const names[] = {entry->name, entry->name, NULL};
    const char *const command[] = {entry->command, NULL};
    int err = acp_buf_printf(out, ";; agent-shell\n"
                                  "(with-eval-after-load 'agent-shell\n"
                                  "  (add-to-list\n"
                                  "   'agent-shell-agent-configs\n"
                                  "   (agent-shell-make-agent-config\n"
                                  "    :identifier '");
    if (!err)
        err = put_symbol(out, entry->name);
    if (!err)
        err = put_code(out,
                       "\n"
                       "    :mode-line-name %s\n"
                       "    :buffer-name %s\n"
                       "    :shell-prompt \"acp> \"\n"
                       "    :shell-prompt-regexp \"acp> \"\n"
                       "    :client-maker\n"
                       "    (lambda (buffer)\n",
                       names);
    if (!err)
        err = put_code(out, "      (acp-make-client :command %s\n", command);
    if (!err)
        err = acp_buf_printf(out, "                       :command-params '(");
    if (!err)
        err = put_words(out, entry->args, " ");
    if (!err)
        err = acp_buf_printf(out, ")\n"
                                  "                       :context-buffer buffer)))))\n");
    return err;
}

/* ---- The table ------------------------------------------------------------------------------ */

#ifdef __APPLE__
#define VSCODE_FILE "~/Library/Application Support/Code/User/settings.json"
#else
#define VSCODE_FILE "Code/User/settings.json"
#endif

static const struct editor editors[] = {
    {.name = "zed",
     .title = "Zed",
     .reader = "the agent panel",
     .file = "zed/settings.json",
     .member = "agent_servers",
     .type = "custom",
     .next = "In Zed, open the agent panel and choose it in the + menu."},
    {.name = "jetbrains",
     .title = "JetBrains IDEs",
     .reader = "AI Assistant",
     .file = "~/.jetbrains/acp.json",
     .member = "agent_servers",
     .own_env = "ACP_CLIENT_JETBRAINS=1",
     .next = "In the IDE, open AI Chat and choose it in the list of agents."},
    {.name = "vscode",
     .title = "Visual Studio Code",
     .reader = "the extension formulahendry.acp-client",
     .file = VSCODE_FILE,
     .member = "acp.agents",
     .next = "In VS Code, install the extension formulahendry.acp-client, open its panel and "
             "connect to it."},
    {.name = "neovim",
     .title = "Neovim",
     .reader = "CodeCompanion.nvim or avante.nvim",
     .file = "nvim/init.lua",
     .next = "Restart Neovim, then use :CodeCompanionChat or :AvanteAsk.",
     .print = print_neovim},
    {.name = "emacs",
     .title = "Emacs",
     .reader = "agent-shell",
     .file = "emacs/init.el",
     .next = "Evaluate it, then use M-x agent-shell.",
     .print = print_emacs},
};

enum { EDITOR_COUNT = sizeof(editors) / sizeof(editors[0]) };

const struct editor *editor_at(size_t index)
{
    return index < EDITOR_COUNT ? &editors[index] : NULL;
}

const struct editor *editor_find(const char *name)
{
    for (size_t i = 0; i < EDITOR_COUNT; i++)
        if (strcmp(editors[i].name, name) == 0)
            return &editors[i];
    return NULL;
}

const char *editor_file(const struct editor *editor, const char *const *environment,
                        struct acp_arena *arena)
{
    const char *home = paths_home(environment, arena);
    const char *folder = paths_variable(environment, "XDG_CONFIG_HOME");
    if (editor->file[0] == '~')
        return paths_expand(arena, acp_str_from(editor->file), "/", home);
    if ((!folder || folder[0] != '/') && home)
        folder = paths_join(arena, home, ".config");
    return folder ? paths_join(arena, folder, editor->file) : NULL;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static int put_json(struct acp_buf *out, struct acp_str text)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_write_str(&w, text);
    return w.err;
}

int editor_write_entry(const struct editor *editor, const struct setup_entry *entry,
                       struct acp_buf *out)
{
    int err = acp_buf_printf(out, "{\n");
    if (!err && editor->type)
        err = acp_buf_printf(out, "  \"type\": \"%s\",\n", editor->type);
    if (!err)
        err = acp_buf_printf(out, "  \"command\": ");
    if (!err)
        err = put_json(out, acp_str_from(entry->command));
    if (!err)
        err = acp_buf_printf(out, ",\n  \"args\": [");
    for (size_t i = 0; entry->args[i] && !err; i++) {
        err = i ? acp_buf_printf(out, ", ") : 0;
        if (!err)
            err = put_json(out, acp_str_from(entry->args[i]));
    }
    if (!err)
        err = acp_buf_printf(out, "],\n  \"env\": {");
    const char *env = entry->own ? editor->own_env : NULL;
    if (!err && env) {
        size_t n = strcspn(env, "=");
        err = put_json(out, acp_str_n(env, n));
        if (!err)
            err = acp_buf_printf(out, ": ");
        if (!err)
            err = put_json(out, acp_str_from(env + n + 1));
    }
    return err ? err : acp_buf_printf(out, "}\n}");
}
