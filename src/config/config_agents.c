/* config_agents.c - reads agent_servers and env. */
#include "config/config_internal.h"
#include "config/paths.h"

const char *const config_no_texts[] = {NULL};

const char *config_command(struct config_reader *reader, const char *command)
{
    struct config *config = reader->config;
    if (command[0] != '~' && !strchr(command, '/'))
        return command;
    return paths_expand(&config->arena, acp_str_from(command), reader->base, config->home);
}

/* ---- Agents --------------------------------------------------------------------------------- */

/* Known keys; those with NULL are written by editors and ignored. */
static const char *const agent_keys[] = {
    "command", "args", "env", "type", "default_model", "default_mode", "auth_method", "keys", NULL};
static const char ignored_keys[] = "type|favorite_models|default_config_options|"
                                   "favorite_config_option_values|ignore_system_version|"
                                   "use_idea_mcp|use_custom_mcp";

static int read_agent(struct config_reader *reader, struct config_agent *agent);

static int read_command(struct config_reader *reader, struct config_agent *agent)
{
    /* Older editors wrote an object of path, args and env here. */
    if (acp_json_peek(&reader->r) == ACP_JSON_OBJECT)
        return read_agent(reader, agent);
    const char *text = NULL;
    int err = config_read_text(reader, &text);
    if (err)
        return err;
    if (!*text) {
        config_error(reader, "expected a command, got an empty string");
        return 1;
    }
    agent->command = config_command(reader, text);
    return agent->command ? 0 : (reader->r.err = ACP_ERR_NOMEM);
}

/* A list of variables, stored as one string separated by blanks. */
static int read_key_names(struct config_reader *reader, struct config_agent *agent)
{
    const char *const *names = config_no_texts;
    int err = config_read_texts(reader, &names);
    size_t size = 1;
    for (size_t i = 0; !err && names[i]; i++)
        size += strlen(names[i]) + 1;
    char *text = err ? NULL : acp_arena_alloc(&reader->config->arena, size);
    if (!text)
        return err ? err : (reader->r.err = ACP_ERR_NOMEM);
    char *out = text;
    for (size_t i = 0; names[i]; i++) {
        size_t n = strlen(names[i]);
        if (i)
            *out++ = ' ';
        memcpy(out, names[i], n);
        out += n;
    }
    *out = '\0';
    agent->keys = text;
    return 0;
}

static int read_agent_key(struct config_reader *reader, struct acp_str key,
                          struct config_agent *agent)
{
    if (acp_str_is(key, "command") || acp_str_is(key, "path"))
        return read_command(reader, agent);
    if (acp_str_is(key, "args"))
        return config_read_texts(reader, &agent->args);
    if (acp_str_is(key, "env"))
        return config_read_variables(reader, &agent->env);
    if (acp_str_is(key, "default_model"))
        return config_read_text(reader, &agent->model);
    if (acp_str_is(key, "default_mode"))
        return config_read_text(reader, &agent->mode);
    if (acp_str_is(key, "keys"))
        return read_key_names(reader, agent);
    return config_read_text(reader, &agent->auth_method);
}

static int read_agent(struct config_reader *reader, struct config_agent *agent)
{
    struct acp_str key;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object with command, args and env");
    int bad = 0;
    int more;
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        if (config_word_in(ignored_keys, '|', key, NULL) ||
            acp_json_peek(&reader->r) == ACP_JSON_NULL) {
            more = acp_json_skip(&reader->r);
        } else if (!acp_str_is(key, "path") &&
                   !config_word_in("command|args|env|default_model|default_mode|auth_method|keys",
                                   '|', key, NULL)) {
            more = config_unknown(reader, key, agent_keys);
        } else {
            size_t mark = config_enter(reader, key);
            more = read_agent_key(reader, key, agent);
            config_leave(reader, mark);
        }
        if (more < 0)
            return more;
        bad |= more;
    }
    return more < 0 ? more : bad;
}

static int keep_agent(struct config_reader *reader, const struct config_agent *agent)
{
    struct config *config = reader->config;
    for (size_t i = 0; i < config->agent_count; i++) {
        if (strcmp(config->agents[i].name, agent->name) == 0) {
            config->agents[i] = *agent;
            return 0;
        }
    }
    if (config->agent_count >= CONFIG_MAX_ENTRIES) {
        config_error(reader, "more than %d agents", (int) CONFIG_MAX_ENTRIES);
        return 1;
    }
    struct config_agent *grown =
        config_grow(config, config->agents, config->agent_count, sizeof(*grown));
    if (!grown)
        return reader->r.err = ACP_ERR_NOMEM;
    config->agents = grown;
    config->agents[config->agent_count++] = *agent;
    return 0;
}

static int read_named_agent(struct config_reader *reader, struct acp_str name)
{
    struct config_agent agent = {
        .args = config_no_texts, .env = config_no_texts, .origin = config_here(reader)};
    agent.name = acp_arena_copy(&reader->config->arena, name).ptr;
    if (!agent.name)
        return reader->r.err = ACP_ERR_NOMEM;
    if (name.len == 0 || strlen(agent.name) != name.len) {
        config_error(reader, "the name of the agent is empty");
        int err = acp_json_skip(&reader->r);
        return err ? err : 1;
    }
    int err = read_agent(reader, &agent);
    return err || reader->discard ? err : keep_agent(reader, &agent);
}

int config_read_agents(struct config_reader *reader)
{
    struct acp_str name;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object of agents by name");
    int more;
    while ((more = acp_json_next_key(&reader->r, &name)) > 0) {
        size_t mark = config_enter(reader, name);
        int err = read_named_agent(reader, name);
        config_leave(reader, mark);
        if (err < 0)
            return err;
    }
    return more;
}

/* ---- Variables for all agents -------------------------------------------------------------- */

static int keep_variable(struct config_reader *reader, const char *whole,
                         struct config_origin origin)
{
    struct config *config = reader->config;
    size_t n = (size_t) (strchr(whole, '=') - whole);
    struct acp_str name = acp_arena_copy(&config->arena, acp_str_n(whole, n));
    if (!name.ptr)
        return reader->r.err = ACP_ERR_NOMEM;
    struct config_variable variable = {name.ptr, whole, origin};
    for (size_t i = 0; i < config->variable_count; i++) {
        if (strcmp(config->variables[i].name, name.ptr) == 0) {
            config->variables[i] = variable;
            return 0;
        }
    }
    struct config_variable *grown =
        config_grow(config, config->variables, config->variable_count, sizeof(*grown));
    if (!grown)
        return reader->r.err = ACP_ERR_NOMEM;
    config->variables = grown;
    config->variables[config->variable_count++] = variable;
    return 0;
}

int config_read_env(struct config_reader *reader)
{
    const char *const *list = config_no_texts;
    struct config_origin origin = config_here(reader);
    int err = config_read_variables(reader, &list);
    for (size_t i = 0; !err && !reader->discard && list[i]; i++)
        err = i < CONFIG_MAX_ENTRIES ? keep_variable(reader, list[i], origin) : 0;
    return err;
}
