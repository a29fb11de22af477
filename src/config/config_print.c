/* config_print.c - prints the settings and their origins. */
#include <stdio.h>

#include "config/config_internal.h"
#include "config/redact.h"
#include "json/members.h"

/* ---- Origins -------------------------------------------------------------------------------- */

int config_print_origin(struct config_origin origin, struct acp_buf *out)
{
    if (!origin.where)
        return acp_buf_printf(out, "built in");
    return origin.line ? acp_buf_printf(out, "%s:%zu", origin.where, origin.line)
                       : acp_buf_printf(out, "%s", origin.where);
}

/* ---- Printing -------------------------------------------------------------------------------- */

/*
 * Settings are printed as rows of a name, a JSON value and an origin; the two formats differ in how
 * a row is written.
 */
struct shower {
    const struct config *config;
    struct acp_buf *out;
    bool json;
    bool project; /* only settings of the project's file */
    int err;
};

static const char *const layer_names[] = {
    [CONFIG_LAYER_DEFAULT] = "built in", [CONFIG_LAYER_USER] = "user",
    [CONFIG_LAYER_PROJECT] = "project",  [CONFIG_LAYER_ENVIRONMENT] = "environment",
    [CONFIG_LAYER_FLAG] = "flag",
};

static void show_row(struct shower *s, const char *name, struct acp_str value,
                     struct config_origin origin)
{
    struct acp_buf *out = s->out;
    if (s->project && origin.layer != CONFIG_LAYER_PROJECT)
        return;
    if (!s->err && s->json) {
        struct acp_json_writer w;
        acp_json_writer_init(&w, out);
        acp_json_begin_object(&w);
        acp_json_put_text(&w, "key", name);
        acp_json_put_raw(&w, "value", acp_raw_n(value.ptr, value.len));
        acp_json_put_text(&w, "from", layer_names[origin.layer]);
        if (origin.where)
            acp_json_put_text(&w, "where", origin.where);
        if (origin.line) {
            acp_json_put_u64(&w, "line", origin.line);
        }
        acp_json_end_object(&w);
        s->err = w.err ? w.err : acp_buf_append(out, "\n", 1);
    } else if (!s->err) {
        s->err = acp_buf_printf(out, "%s = %.*s  (", name, (int) value.len, value.ptr);
        if (!s->err)
            s->err = config_print_origin(origin, out);
        if (!s->err)
            s->err = acp_buf_append_str(out, acp_str_from(")\n"));
    }
}

static void show_plain(struct shower *s, enum config_id id, struct acp_json_writer *w)
{
    const struct config_value *value = &s->config->values[id];
    switch (config_key(id)->type) {
    case CONFIG_TYPE_NUMBER:
        acp_json_write_i64(w, value->number);
        break;
    case CONFIG_TYPE_BOOL:
        acp_json_write_bool(w, value->number > 0);
        break;
    case CONFIG_TYPE_DURATION:
        acp_json_write_f64(w, (double) value->number / 1000);
        break;
    default:
        acp_json_write_str(w, acp_str_from(value->text));
        break;
    }
}

/* {"NAME": "(set)"}, because the values often are tokens and passwords. */
static void show_secrets(struct acp_json_writer *w, const char *key, const char *const *variables)
{
    if (!variables[0])
        return;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_begin_object(w);
    for (size_t i = 0; variables[i]; i++) {
        const char *end = strchr(variables[i], '=');
        acp_json_write_key(w, acp_str_n(variables[i], (size_t) (end - variables[i])));
        acp_json_write_str(w, acp_str_from("(set)"));
    }
    acp_json_end_object(w);
}

/* A string without its secrets. */
static void write_redacted(struct acp_json_writer *w, int err, struct acp_buf *text)
{
    acp_json_write_str(w, err ? acp_str_from("(set)") : acp_buf_view(text));
    acp_buf_finish(text);
}

static void write_argument(struct acp_json_writer *w, const char *before, struct acp_str argument)
{
    struct acp_buf text;
    acp_buf_init(&text, CONFIG_MAX_REPORT);
    write_redacted(w, redact_argument(before, argument, &text), &text);
}

static void write_arguments(struct acp_json_writer *w, const char *const *texts)
{
    if (!texts[0])
        return;
    acp_json_write_key(w, acp_str_from("args"));
    acp_json_begin_array(w);
    for (size_t i = 0; texts[i]; i++)
        write_argument(w, i ? texts[i - 1] : NULL, acp_str_from(texts[i]));
    acp_json_end_array(w);
}

static void write_agent(struct acp_json_writer *w, const struct config_agent *agent)
{
    acp_json_begin_object(w);
    acp_json_put_optional(w, "command", agent->command);
    write_arguments(w, agent->args);
    show_secrets(w, "env", agent->env);
    acp_json_put_optional(w, "default_model", agent->model);
    acp_json_put_optional(w, "default_mode", agent->mode);
    acp_json_put_optional(w, "auth_method", agent->auth_method);
    acp_json_put_optional(w, "keys", agent->keys);
    acp_json_end_object(w);
}

static void write_remote(struct acp_json_writer *w, struct acp_str url,
                         struct acp_http_header_list headers)
{
    struct acp_buf text;
    acp_buf_init(&text, CONFIG_MAX_REPORT);
    acp_json_write_key(w, acp_str_from("url"));
    write_redacted(w, redact_url(url, &text), &text);
    if (headers.count == 0)
        return;
    acp_json_write_key(w, acp_str_from("headers"));
    acp_json_begin_object(w);
    for (size_t i = 0; i < headers.count; i++) {
        acp_json_write_key(w, headers.items[i].name);
        acp_json_write_str(w, acp_str_from("(set)"));
    }
    acp_json_end_object(w);
}

static void write_local(struct acp_json_writer *w, const struct acp_mcp_server_stdio *server)
{
    acp_json_put_str(w, "command", server->command);
    acp_json_write_key(w, acp_str_from("args"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < server->args.count; i++)
        write_argument(w, i ? server->args.items[i - 1].ptr : NULL, server->args.items[i]);
    acp_json_end_array(w);
    if (server->env.count == 0)
        return;
    acp_json_write_key(w, acp_str_from("env"));
    acp_json_begin_object(w);
    for (size_t i = 0; i < server->env.count; i++) {
        acp_json_write_key(w, server->env.items[i].name);
        acp_json_write_str(w, acp_str_from("(set)"));
    }
    acp_json_end_object(w);
}

static void write_server(struct acp_json_writer *w, const struct acp_mcp_server *server)
{
    acp_json_begin_object(w);
    if (server->is == ACP_MCP_SERVER_HTTP) {
        write_remote(w, server->http.url, server->http.headers);
    } else if (server->is == ACP_MCP_SERVER_SSE) {
        acp_json_put_text(w, "type", "sse");
        write_remote(w, server->sse.url, server->sse.headers);
    } else {
        write_local(w, &server->stdio);
    }
    acp_json_end_object(w);
}

static void write_provider(struct acp_json_writer *w, const struct model_custom *custom)
{
    struct acp_buf text;
    acp_buf_init(&text, CONFIG_MAX_REPORT);
    acp_json_begin_object(w);
    if (custom->title)
        acp_json_put_optional(w, "title", custom->title);
    if (custom->api != MODEL_DEMO)
        acp_json_put_optional(w, "api", model_api_name(custom->api));
    if (custom->base_url) {
        acp_json_write_key(w, acp_str_from("base_url"));
        write_redacted(w, redact_url(acp_str_from(custom->base_url), &text), &text);
    }
    if (custom->key_variable)
        acp_json_put_optional(w, "key_env", custom->key_variable);
    if (custom->model)
        acp_json_put_optional(w, "model", custom->model);
    if (custom->headers.count) {
        acp_json_write_key(w, acp_str_from("headers"));
        acp_json_begin_object(w);
        for (size_t i = 0; i < custom->headers.count; i++) {
            acp_json_write_key(w, custom->headers.items[i].key);
            acp_json_write_str(w, acp_str_from("(set)"));
        }
        acp_json_end_object(w);
    }
    acp_json_end_object(w);
}

static void write_policy(struct acp_json_writer *w, const struct acp_policy *policy)
{
    const struct acp_policy_rule *rule;
    acp_json_begin_object(w);
    acp_json_put_text(w, "mode", acp_policy_mode_name(acp_policy_get_mode(policy)));
    acp_json_write_key(w, acp_str_from("rules"));
    acp_json_begin_array(w);
    for (size_t i = 0; (rule = acp_policy_rule_at(policy, i)); i++) {
        acp_json_begin_object(w);
        acp_json_put_text(w, "verdict", acp_verdict_name(rule->verdict));
        if (rule->kinds) {
            acp_json_write_key(w, acp_str_from("kinds"));
            acp_json_begin_array(w);
            for (unsigned kind = 0; kind < 32; kind++)
                if (rule->kinds & (1u << kind))
                    acp_json_write_str(w,
                                       acp_str_from(acp_kind_name((enum acp_tool_kind_is) kind)));
            acp_json_end_array(w);
        }
        const struct acp_str_entry conditions[] = {{acp_str_from("path"), rule->path},
                                                   {acp_str_from("command"), rule->command},
                                                   {acp_str_from("tool"), rule->tool}};
        for (size_t c = 0; c < sizeof(conditions) / sizeof(conditions[0]); c++) {
            if (!conditions[c].value.ptr)
                continue;
            acp_json_write_key(w, conditions[c].key);
            acp_json_write_str(w, conditions[c].value);
        }
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static void write_price(struct acp_json_writer *w, const struct config_price *price)
{
    const struct {
        const char *name;
        double value;
    } members[] = {{"input", price->input},
                   {"output", price->output},
                   {"cache_read", price->cache_read},
                   {"cache_write", price->cache_write}};
    acp_json_begin_object(w);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        acp_json_write_key(w, acp_str_from(members[i].name));
        acp_json_write_f64(w, members[i].value);
    }
    acp_json_end_object(w);
}

/* One entry of a map as a row: "agent_servers.claude". */
static void show_entry(struct shower *s, enum config_id id, size_t index)
{
    const struct config *config = s->config;
    struct acp_buf value;
    struct acp_json_writer w;
    char name[160];
    struct acp_str entry;
    struct config_origin origin;
    acp_buf_init(&value, CONFIG_MAX_REPORT);
    acp_json_writer_init(&w, &value);
    switch (id) {
    case CONFIG_AGENT_SERVERS:
        entry = acp_str_from(config->agents[index].name);
        origin = config->agents[index].origin;
        write_agent(&w, &config->agents[index]);
        break;
    case CONFIG_MCP_SERVERS:
        entry = config_mcp_name(&config->mcp[index]);
        origin = config->mcp_origins[index];
        write_server(&w, &config->mcp[index]);
        break;
    case CONFIG_AGENT_PRICES:
        entry = acp_str_from(config->prices[index].model);
        origin = config->prices[index].origin;
        write_price(&w, &config->prices[index]);
        break;
    case CONFIG_MODELS:
        entry = acp_str_from(config->models[index].row.name);
        origin = config->models[index].origin;
        acp_json_write_raw(&w, config->models[index].text);
        break;
    case CONFIG_PROVIDERS:
        entry = acp_str_from(config->providers[index].custom.id);
        origin = config->providers[index].origin;
        write_provider(&w, &config->providers[index].custom);
        break;
    default:
        entry = acp_str_from(config->variables[index].name);
        origin = config->variables[index].origin;
        acp_json_write_str(&w, acp_str_from("(set)"));
        break;
    }
    (void) snprintf(name, sizeof(name), "%s.%.*s", config_key(id)->name,
                    (int) (entry.len < 100 ? entry.len : 100), entry.ptr);
    if (w.err)
        s->err = w.err;
    show_row(s, name, acp_buf_view(&value), origin);
    acp_buf_finish(&value);
}

static void show_key(struct shower *s, enum config_id id)
{
    const struct config *config = s->config;
    const struct config_key *key = config_key(id);
    size_t entries = id == CONFIG_AGENT_SERVERS  ? config->agent_count
                     : id == CONFIG_MCP_SERVERS  ? config->mcp_count
                     : id == CONFIG_ENV          ? config->variable_count
                     : id == CONFIG_AGENT_PRICES ? config->price_count
                     : id == CONFIG_MODELS       ? config->model_count
                     : id == CONFIG_PROVIDERS    ? config->provider_count
                                                 : 0;
    for (size_t i = 0; i < entries; i++)
        show_entry(s, id, i);
    bool is_map = key->type >= CONFIG_TYPE_ENV && key->type != CONFIG_TYPE_POLICY;
    if (is_map || (!config->values[id].set && key->type != CONFIG_TYPE_POLICY))
        return;
    struct acp_buf value;
    struct acp_json_writer w;
    acp_buf_init(&value, (size_t) CONFIG_MAX_REPORT * 16);
    acp_json_writer_init(&w, &value);
    if (key->type == CONFIG_TYPE_POLICY)
        write_policy(&w, config->policy);
    else
        show_plain(s, id, &w);
    if (w.err)
        s->err = w.err;
    show_row(s, key->name, acp_buf_view(&value), config->values[id].origin);
    acp_buf_finish(&value);
}

static int show(struct shower s)
{
    for (int i = 0; i < CONFIG_COUNT; i++)
        show_key(&s, (enum config_id) i);
    return s.err;
}

int config_show(const struct config *config, struct acp_buf *out)
{
    return show((struct shower){.config = config, .out = out});
}

int config_show_project(const struct config *config, struct acp_buf *out)
{
    return show((struct shower){.config = config, .out = out, .project = true});
}

int config_show_json(const struct config *config, struct acp_buf *out)
{
    return show((struct shower){.config = config, .out = out, .json = true});
}
