/* config_manual.c - the configuration template and acp-config(5), from the table of keys. */
#include <stdio.h>

#include "cli/prose.h"
#include "config/config_internal.h"

/* ---- The template --------------------------------------------------------------------------- */

/* Help text as comment lines, without markup. */
static int print_comment(const char *prose, const char *indent, struct acp_buf *out)
{
    struct acp_buf plain;
    acp_buf_init(&plain, 4096);
    int err = prose_plain(prose, &plain);
    struct acp_str text = acp_buf_view(&plain);
    while (!err && text.len > 0) {
        size_t n = text.len;
        if (n > 90) {
            for (n = 90; n > 0 && text.ptr[n] != ' ';)
                n--;
            n = n ? n : 90;
        }
        err = acp_buf_printf(out, "%s// %.*s\n", indent, (int) n, text.ptr);
        while (n < text.len && text.ptr[n] == ' ')
            n++;
        text = acp_str_n(text.ptr + n, text.len - n);
    }
    acp_buf_finish(&plain);
    return err;
}

/* The default or the example as JSON. */
static int print_example(const struct config_key *key, struct acp_buf *out)
{
    const char *text = key->example ? key->example : key->fallback;
    bool plain = key->example || key->type == CONFIG_TYPE_NUMBER || key->type == CONFIG_TYPE_BOOL ||
                 key->type == CONFIG_TYPE_DURATION;
    return acp_buf_printf(out, plain ? "%s" : "\"%s\"", text);
}

int config_print_template(struct acp_buf *out)
{
    int err = acp_buf_printf(
        out, "// Configuration of acp; see acp-config(5). Uncomment the settings to change.\n"
             "// `acp config show` prints the settings in effect, `acp config check` errors.\n{\n");
    const char *group = "";
    for (int i = 0; i < CONFIG_COUNT && !err; i++) {
        const struct config_key *key = config_key((enum config_id) i);
        const char *dot = strchr(key->name, '.');
        size_t n = dot ? (size_t) (dot - key->name) : 0;
        bool same = n > 0 && strncmp(group, key->name, n + 1) == 0;
        if (*group && !same)
            err = acp_buf_printf(out, "  },\n");
        if (!err && n > 0 && !same)
            err = acp_buf_printf(out, "\n  \"%.*s\": {\n", (int) n, key->name);
        else if (!err)
            err = acp_buf_printf(out, "\n");
        group = n > 0 ? key->name : "";
        const char *indent = n > 0 ? "    " : "  ";
        if (!err)
            err = print_comment(key->help, indent, out);
        bool is_object = key->type >= CONFIG_TYPE_ENV;
        if (!err)
            err = acp_buf_printf(out, "%s%s\"%s\": ", indent, is_object ? "" : "// ",
                                 n > 0 ? dot + 1 : key->name);
        if (!err)
            err = print_example(key, out);
        if (!err)
            err = acp_buf_printf(out, ",\n");
    }
    if (!err && *group)
        err = acp_buf_printf(out, "  },\n");
    return err ? err : acp_buf_printf(out, "}\n");
}

/* ---- The manual ----------------------------------------------------------------------------- */

static const char *const type_names[] = {
    [CONFIG_TYPE_TEXT] = "text",         [CONFIG_TYPE_PATH] = "path",
    [CONFIG_TYPE_CHOICE] = "text",       [CONFIG_TYPE_NUMBER] = "number",
    [CONFIG_TYPE_DURATION] = "duration", [CONFIG_TYPE_BOOL] = "true or false",
    [CONFIG_TYPE_ENV] = "object",        [CONFIG_TYPE_AGENTS] = "object",
    [CONFIG_TYPE_MCP] = "object",        [CONFIG_TYPE_POLICY] = "object",
    [CONFIG_TYPE_PRICES] = "object",     [CONFIG_TYPE_MODELS] = "object",
    [CONFIG_TYPE_PROVIDERS] = "object",
};
static const char *const project_notes[] = {
    [CONFIG_PROJECT_FREE] = "",
    [CONFIG_PROJECT_STRICTER] = " An untrusted project can only make it stricter.",
    [CONFIG_PROJECT_TRUSTED] = " Only a trusted project can set it.",
};

/* Underscores inside words are literal in scdoc; names contain no other special characters. */
static int print_key(const struct config_key *key, struct acp_buf *out)
{
    int err = acp_buf_printf(out, "*%s* (%s)\n\t%s%s\n", key->name, type_names[key->type],
                             key->help, project_notes[key->project]);
    if (!err && key->choices) {
        char expected[CONFIG_EXPECTED_SIZE];
        config_expected(config_find_key(acp_str_from(key->name)), expected, sizeof(expected));
        err = acp_buf_printf(out, "\n\tOne of: %s.\n", expected);
    }
    if (!err && key->fallback)
        err = acp_buf_printf(out, "\n\tDefault: %s.\n", key->fallback);
    if (!err && key->environment)
        err = acp_buf_printf(out, "\n\tEnvironment: *%s*.\n", key->environment);
    return err ? err : acp_buf_printf(out, "\n");
}

/* The sections besides KEYS. */
static const char beginning[] =
    "acp-config(5)\n\n"
    "# NAME\n\n"
    "acp-config - the configuration of acp\n\n"
    "# DESCRIPTION\n\n"
    "Settings come from these sources; later ones override earlier ones:\n\n"
    ". built-in defaults\n"
    ". the user's file, *$XDG_CONFIG_HOME/acp/config.json* (*~/.config/acp/config.json*)\n"
    ". the project's file, *.acp/config.json* in the working directory or its nearest parent that "
    "has one, up to the root of the git repository or the home directory\n"
    ". *ACP_...* environment variables\n"
    ". options on the command line\n\n"
    "Objects of named entries (*agent_servers*, *mcp_servers*, *env*, *agent.prices*, *models*, "
    "*providers*) are merged by name, and permission rules are concatenated.\n\n"
    "Both files are JSON in UTF-8, with comments (*//* to the end of the line and */\\** to "
    "*\\*/*) and optional trailing commas. A key that is null is the same as a missing key. An "
    "unknown key is ignored with a notice; *acp config check* treats it as an error. A *~* at the "
    "start of a path is the home directory; a relative path is relative to the directory of the "
    "file, or to that of the project. Values are not expanded otherwise: *$NAME* is literal.\n\n"
    "*acp config init* creates a file with all keys, *acp config show* prints the settings in "
    "effect and their origin.\n\n"
    "# TRUST\n\n"
    "A project's file comes from whoever wrote the project. Until you run *acp config trust* in "
    "that directory, it can only set harmless keys and make rules stricter: add rules that deny or "
    "ask, choose a stricter mode or *approve*. Settings that would start a command, allow "
    "something, or change how an agent is started are ignored with a notice. Trust applies to the "
    "content of the file at that moment; any change revokes it. Your own deny rules apply in every "
    "project.\n\n"
    "# OWNERS\n\n"
    "A file is used only if nobody but you and root could have written it: the file and all its "
    "parent directories must belong to you or root and must not be writable by others, except for "
    "directories with the sticky bit such as _/tmp_. A group in which you are the only member "
    "counts as you. A project's file that others could have written is ignored, with a notice that "
    "names the file or directory. For the user's file that is an error, because its rules would "
    "be missing. To fix it, remove the write permission (*chmod go-w*) or change the owner "
    "(*chown*).\n\n"
    "This also applies to root in a project of another user, as with *sudo* or in a container: "
    "the project's file is ignored. Run *acp* as the owner of the project, or give root its own "
    "configuration.\n\n"
    "# KEYS\n\n";

static const char ending[] =
    "# AGENTS\n\n"
    "Entries of *agent_servers* have the format of editors:\n\n"
    "```\n"
    "{\n"
    "  \"agent_servers\": {\n"
    "    \"mine\": {\n"
    "      \"command\": \"~/bin/my-agent\",\n"
    "      \"args\": [\"--acp\"],\n"
    "      \"env\": {\"API_KEY\": \"...\"}\n"
    "    },\n"
    "    // Changes the known agent of that name.\n"
    "    \"claude\": {\"env\": {\"ANTHROPIC_MODEL\": \"...\"}},\n"
    "    // Passes only this API key from the environment.\n"
    "    \"goose\": {\"keys\": [\"OPENAI_API_KEY\"]}\n"
    "  }\n"
    "}\n"
    "```\n\n"
    "API keys of model providers and agents in the environment (*ANTHROPIC_API_KEY*, "
    "*OPENAI_API_KEY*, *CURSOR_API_KEY* and others) are not inherited. A known agent gets the keys "
    "of the providers that it supports; an agent from the configuration or a registry gets all of "
    "them. *keys* in its entry lists the ones to pass instead; *[]* passes none. Commands that run "
    "for an agent get no keys, and an MCP server gets only what its *env* sets. Other "
    "credentials, such as *GITHUB_TOKEN*, are inherited as in a shell.\n\n"
    "*npx*, *uvx*, *pnpm dlx*, *yarn dlx*, *bunx* and *pipx run* are started in "
    "*~/.local/state/acp/launch* instead of the project, because its *.npmrc*, *node_modules* or "
    "*uv.toml* could change what is fetched. Your own settings (*~/.npmrc*) apply. A program "
    "fetched by *npx* or *uvx --from* then runs in the project; one fetched by the others runs in "
    "that directory. A package given by a relative path (*npx ./agent*) is started in the project. "
    "Relative entries of *PATH* are not searched, and known agents and these programs are never "
    "taken from the repository.\n\n"
    "# FILES\n\n"
    "*~/.config/acp/config.json*\n\tThe user's file.\n\n"
    "*.acp/config.json*\n\tThe project's file.\n\n"
    "*~/.local/state/acp/launch*\n\tThe directory in which *npx* and similar programs are "
    "started.\n\n"
    "*~/.local/state/acp/trusted.jsonl*\n\tThe trusted directories, each with the content of its "
    "file.\n\n"
    "# SEE ALSO\n\n"
    "*acp*(1), *acp-config*(1), *acp-agents*(1)\n";

int config_print_manual(struct acp_buf *out)
{
    int err = acp_buf_append_str(out, acp_str_from(beginning));
    for (int i = 0; i < CONFIG_COUNT && !err; i++)
        err = print_key(config_key((enum config_id) i), out);
    return err ? err : acp_buf_append_str(out, acp_str_from(ending));
}
