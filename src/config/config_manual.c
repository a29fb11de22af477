/* What is written about the table of keys: a file to start from, and acp-config(5). */
#include <stdio.h>

#include "cli/prose.h"
#include "config/config_internal.h"

/* ---- The template --------------------------------------------------------------------------- */

/* Help as comment lines, without its markup. */
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
        out, "// Configuration of acp; see acp-config(5).  Take the // away from what you want to\n"
             "// change.  `acp config show` tells what holds, `acp config check` "
             "what is wrong.\n{\n");
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
    [CONFIG_TYPE_TEXT] = "text",        [CONFIG_TYPE_PATH] = "path",
    [CONFIG_TYPE_CHOICE] = "text",      [CONFIG_TYPE_NUMBER] = "number",
    [CONFIG_TYPE_DURATION] = "time",    [CONFIG_TYPE_BOOL] = "true or false",
    [CONFIG_TYPE_ENV] = "object",       [CONFIG_TYPE_AGENTS] = "object",
    [CONFIG_TYPE_MCP] = "object",       [CONFIG_TYPE_POLICY] = "object",
    [CONFIG_TYPE_PRICES] = "object",    [CONFIG_TYPE_MODELS] = "object",
    [CONFIG_TYPE_PROVIDERS] = "object",
};
static const char *const project_notes[] = {
    [CONFIG_PROJECT_FREE] = "",
    [CONFIG_PROJECT_STRICTER] = " A project that is not trusted can only make it stricter.",
    [CONFIG_PROJECT_TRUSTED] = " A project must be trusted to set it.",
};

/* Underscores inside of words are plain in scdoc; nothing else in names needs care. */
static int print_key(const struct config_key *key, struct acp_buf *out)
{
    int err = acp_buf_printf(out, "*%s* (%s)\n\t%s%s\n", key->name, type_names[key->type],
                             key->help, project_notes[key->project]);
    if (!err && key->choices) {
        char wanted[CONFIG_WANTED_SIZE];
        config_wanted(config_find_key(acp_str_from(key->name)), wanted, sizeof(wanted));
        err = acp_buf_printf(out, "\n\tOne of: %s.\n", wanted);
    }
    if (!err && key->fallback)
        err = acp_buf_printf(out, "\n\tDefault: %s.\n", key->fallback);
    if (!err && key->environment)
        err = acp_buf_printf(out, "\n\tEnvironment: *%s*.\n", key->environment);
    return err ? err : acp_buf_printf(out, "\n");
}

/* What there is to say besides the keys. */
static const char beginning[] =
    "acp-config(5)\n\n"
    "# NAME\n\n"
    "acp-config - the configuration of acp\n\n"
    "# DESCRIPTION\n\n"
    "Settings come from these places, and of the same setting the last one counts:\n\n"
    ". what is built in\n"
    ". the user's file, *$XDG_CONFIG_HOME/acp/config.json* (*~/.config/acp/config.json*)\n"
    ". the project's file, *.acp/config.json* in the working directory or in the nearest folder "
    "above it that has one, up to the root of the git repository or the home directory\n"
    ". the environment: variables *ACP_...*\n"
    ". options on the command line\n\n"
    "Objects of named things (*agent_servers*, *mcp_servers*, *env*, *agent.prices*, "
    "*models*, *providers*) are put together name by name, and permission rules are added to each "
    "other.\n\n"
    "Both files are JSON in UTF-8, with comments (*//* to the end of the line and */\\** to "
    "*\\*/*) and with a comma behind a last item where one was left. A key that is null counts as "
    "not written. Keys that are not known are mentioned and passed over; *acp config check* takes "
    "them for mistakes. A *~* at the beginning of a path is the home directory; other paths that "
    "are relative count from the folder of the file, or from the project's folder. Nothing else "
    "is replaced in values: *$NAME* is five characters.\n\n"
    "*acp config init* writes a file to start from, *acp config show* tells what holds and where "
    "it was said.\n\n"
    "# TRUST\n\n"
    "A project's file comes with the project, from whoever wrote it. Until you have said *acp "
    "config trust* in that folder, it can set what does no harm and make things stricter: add "
    "rules that deny or ask, choose a stricter mode or approval. Everything that would start a "
    "command, allow something, or change how an agent is started is left aside, with a notice. "
    "What is trusted is the file as it is at that moment: when it changes, it has to be trusted "
    "again. Rules by which you deny something hold against every project.\n\n"
    "# OWNERS\n\n"
    "A file counts only if nobody but you and root can have written it: the file and all folders "
    "above it belong to you or to root and cannot be written by others, but for folders with the "
    "sticky bit such as _/tmp_. A group that has only you in it is you. A project's file that "
    "others could have written is ignored, with a notice that names the file or folder; the "
    "user's own file in that state is an error, since its rules would be missing. To make it "
    "count, take the permission away (*chmod go-w*) or change the owner (*chown*).\n\n"
    "This also holds for root in the project of another user, as with *sudo* or in a container: "
    "the project's file is ignored there. Run *acp* as the owner of the project, or give root a "
    "file of its own.\n\n"
    "# KEYS\n\n";

static const char ending[] =
    "# AGENTS\n\n"
    "An entry of *agent_servers* can be pasted from an editor:\n\n"
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
    "    // Gets this key of those in the environment, and no other.\n"
    "    \"goose\": {\"keys\": [\"OPENAI_API_KEY\"]}\n"
    "  }\n"
    "}\n"
    "```\n\n"
    "The keys of model services and agents in the environment (*ANTHROPIC_API_KEY*, "
    "*OPENAI_API_KEY*, *CURSOR_API_KEY* and others) are not inherited. A known agent gets those "
    "of the services it works with; an agent of your own, and one of a registry, gets all; *keys* "
    "in its entry names the ones that it gets instead, and *[]* is none. Commands that run for an "
    "agent get none, and an MCP server gets what its own *env* says. Other credentials, such as "
    "*GITHUB_TOKEN*, stay in the environment of everything that is started, as in a shell.\n\n"
    "*npx*, *uvx*, *pnpm dlx*, *yarn dlx*, *bunx* and *pipx run* are not started in the project, "
    "since its *.npmrc*, *node_modules* or *uv.toml* could choose what is fetched, but in "
    "*~/.local/state/acp/launch*. Your own settings (*~/.npmrc*) count. What *npx* and *uvx "
    "--from* have fetched then runs in the project; what the others have fetched runs in that "
    "folder. A package that is named by a relative path (*npx ./agent*) is the project's own by "
    "your word, and is started there. Programs are not looked for in relative entries of *PATH*, "
    "and known agents and these programs not in the repository.\n\n"
    "# FILES\n\n"
    "*~/.config/acp/config.json*\n\tThe user's file.\n\n"
    "*.acp/config.json*\n\tThe project's file.\n\n"
    "*~/.local/state/acp/launch*\n\tWhere *npx* and its relatives are started.\n\n"
    "*~/.local/state/acp/trusted.jsonl*\n\tThe folders that are trusted, each with the text of its "
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
