/* conversation_setup.c - see conversation_setup.h. */
#include "cmd/conversation_setup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "config/paths.h"
#include "config/redact.h"
#include "json/members.h"
#include "store/store.h"

/* ---- Configuration --------------------------------------------------------------------------- */

/* Also changes the working directory, so that relative paths in other options resolve there. */
static int find_cwd(struct conversation_setup *c, const char *wanted)
{
    char path[PATH_MAX];
    if (!realpath(wanted ? wanted : ".", path) || (wanted && chdir(path))) {
        err_message("%s: %s", wanted ? wanted : ".", strerror(errno));
        return EXIT_USAGE;
    }
    struct acp_str copy = acp_arena_copy(&c->arena, acp_str_n(path, strlen(path) + 1));
    c->cwd = copy.ptr;
    return c->cwd ? EXIT_OK : EXIT_FAILED;
}

/* -c KEY=VALUE.  Processes that we start, such as the built-in agent, get it as a variable. */
static int override_keys(struct conversation_setup *c, const struct option_list *list,
                         struct acp_buf *report)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        struct acp_str name = acp_str_n(list->items[i], (size_t) (equals - list->items[i]));
        enum config_id id = config_find_key(name);
        if (id == CONFIG_COUNT)
            return acp_buf_printf(report, "-c: there is no key '%.*s'; see acp-config(5)\n",
                                  (int) name.len, name.ptr)
                       ? ACP_ERR_NOMEM
                       : ACP_ERR_UNKNOWN;
        int err = config_set(c->config, id, "-c", equals + 1, report);
        if (err == ACP_ERR_TYPE)
            (void) acp_buf_printf(report, "-c: the value of '%.*s' is an object; use a file\n",
                                  (int) name.len, name.ptr);
        if (err)
            return err;
        if (config_key(id)->environment)
            (void) setenv(config_key(id)->environment, equals + 1, 1);
    }
    return 0;
}

static int configure(struct conversation_setup *c, const struct agent_flags *agent, bool lenient)
{
    static const char *const formats[] = {
        [RENDER_TEXT] = "text", [RENDER_JSON] = "json", [RENDER_QUIET] = "quiet"};
    struct acp_buf report;
    *c = (struct conversation_setup){.format = RENDER_TEXT};
    acp_arena_init(&c->arena, 0);
    int status = find_cwd(c, agent->cwd);
    if (status)
        return status;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    struct config_options options = {.cwd = c->cwd, .lenient = lenient};
    int err = config_load(&options, &c->config, &report);
    if (lenient)
        acp_buf_clear(&report);
    if (!err && agent->registry)
        err = config_set(c->config, CONFIG_REGISTRY, "--registry", agent->registry, &report);
    if (!err && agent->format)
        err = config_set(c->config, CONFIG_FORMAT, "--format", formats[agent->format], &report);
    if (!err)
        err = override_keys(c, &agent->config, &report);
    err_text(acp_buf_view(&report));
    acp_buf_finish(&report);
    if (err)
        return EXIT_USAGE;
    if (agent->colour)
        output_choose_colour((enum colour_choice)(agent->colour - 1));
    const char *format = config_text(c->config, CONFIG_FORMAT);
    for (int i = RENDER_TEXT; format && i <= RENDER_QUIET; i++)
        if (strcmp(formats[i], format) == 0)
            c->format = (enum render_format) i;
    if (agent->json_strict && c->format != RENDER_JSON) {
        err_message("--json-strict requires --format json");
        return EXIT_USAGE;
    }
    if (agent->json_strict && err_silence())
        return EXIT_FAILED;
    return EXIT_OK;
}

int conversation_setup_configure(struct conversation_setup *c, const struct agent_flags *agent)
{
    return configure(c, agent, false);
}

int conversation_setup_inspect(struct conversation_setup *c, const struct agent_flags *agent)
{
    return configure(c, agent, true);
}

void conversation_setup_finish(struct conversation_setup *c)
{
    for (int i = 0; i < PERMIT_COUNT; i++)
        acp_policy_free(c->policies[i]);
    acp_ledger_free(c->ledger);
    config_free(c->config);
    acp_arena_finish(&c->arena);
}

/* ---- The agent ------------------------------------------------------------------------------- */

int conversation_setup_start_agent(struct conversation_setup *c, const struct agent_command *agent,
                                   const char *cwd, struct agent_start *ret)
{
    struct acp_buf why;
    acp_buf_init(&why, 4096);
    int err = agents_start(c->config, agent, cwd, ret, &why);
    if (err)
        err_message("%.*s", (int) why.len, why.len ? why.data + why.start : acp_err_text(err));
    acp_buf_finish(&why);
    return err ? EXIT_FAILED : EXIT_OK;
}

bool conversation_setup_names_agent(const struct invocation *invocation,
                                    const struct agent_flags *agent)
{
    return invocation->agent || invocation->agent_command || agent->agent;
}

/* A program that is not installed is not a usage error. */
static int report_agent(struct conversation_setup *c, int err, struct acp_buf *why)
{
    c->own_agent = !err && agents_is_own(&c->agent);
    if (err)
        err_message("%.*s", (int) why->len, why->len ? why->data + why->start : acp_err_text(err));
    acp_buf_finish(why);
    return err == ACP_ERR_MISSING ? EXIT_FAILED : err ? EXIT_USAGE : EXIT_OK;
}

const char *conversation_setup_default_agent(const struct conversation_setup *c)
{
    const char *name = config_text(c->config, CONFIG_DEFAULT_AGENT);
    return name ? name : AGENTS_OWN_NAME;
}

int conversation_setup_find_agent(struct conversation_setup *c, const struct invocation *invocation,
                                  const struct agent_flags *agent)
{
    struct acp_buf why;
    const char *name = invocation->agent;
    int err;
    acp_buf_init(&why, 4096);
    if (!conversation_setup_names_agent(invocation, agent))
        name = config_text(c->config, CONFIG_DEFAULT_AGENT);
    if (agent->agent)
        err = agents_from_line(c->config, agent->agent, &c->agent, &why);
    else if (invocation->agent_command)
        err = agents_from_argv(c->config, invocation->agent_command, &c->agent, &why);
    else if (name)
        err = agents_resolve(c->config, name, &c->agent, &why);
    else
        err = agents_own(c->config, &c->agent, &why);
    return report_agent(c, err, &why);
}

int conversation_setup_use_agent(struct conversation_setup *c, struct acp_str name)
{
    struct acp_buf why;
    const char *copy = acp_arena_copy(&c->arena, name).ptr;
    if (!copy)
        return EXIT_FAILED;
    acp_buf_init(&why, 4096);
    return report_agent(c, agents_resolve(c->config, copy, &c->agent, &why), &why);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* One policy for each permit level: the configured rules plus a rule for the level. */
static int make_policy(struct conversation_setup *c, enum permit permit)
{
    struct acp_policy *policy;
    struct acp_policy_rule everything = {0};
    int err = config_policy(c->config, &policy);
    if (err)
        return err;
    c->policies[permit] = policy;
    if (permit == PERMIT_ALL)
        acp_policy_set_mode(policy, ACP_POLICY_FULL);
    everything.verdict = permit == PERMIT_NONE ? ACP_VERDICT_DENY : ACP_VERDICT_ASK;
    if (!err && (permit == PERMIT_NONE || permit == PERMIT_ASK))
        err = acp_policy_add(policy, &everything, NULL);
    return err;
}

static enum permit permit_of(const struct conversation_setup *c,
                             const struct conversation_flags *options)
{
    const char *configured = config_text(c->config, CONFIG_APPROVE);
    if (options->permit)
        return (enum permit) options->permit;
    if (!configured || strcmp(configured, "reads") == 0)
        return PERMIT_READS;
    if (strcmp(configured, "all") == 0)
        return PERMIT_ALL;
    return strcmp(configured, "deny") == 0 ? PERMIT_NONE : PERMIT_ASK;
}

int conversation_setup_make_rules(struct conversation_setup *c,
                                  const struct conversation_flags *options)
{
    struct acp_failure failure = {0};
    struct acp_buf report;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    int err = options->policy ? config_add_policy_file(c->config, options->policy, &report) : 0;
    err_text(acp_buf_view(&report));
    acp_buf_finish(&report);
    if (err)
        return EXIT_USAGE;
    for (int i = 0; i < PERMIT_COUNT; i++)
        if (make_policy(c, (enum permit) i))
            return EXIT_FAILED;
    c->permit = permit_of(c, options);
    /* The client of our agent would otherwise ask about what this mode allows. */
    bool full = c->own_agent && options->mode && strcmp(options->mode, "full") == 0;
    if (full && !options->permit && c->permit != PERMIT_NONE)
        c->permit = PERMIT_ALL;
    c->conversation.policy = c->policies[c->permit];
    if (acp_ledger_new(&c->ledger))
        return EXIT_FAILED;
    const char *state = paths_state_dir(config_environment(c->config), &c->arena);
    if (state)
        c->conversation.ledger_path = paths_join(&c->arena, state, "grants.jsonl");
    /* A failure is reported when a grant has to be stored. */
    if (c->conversation.ledger_path)
        (void) paths_make_folders(c->conversation.ledger_path);
    if (c->conversation.ledger_path &&
        acp_ledger_load_file(c->ledger, c->conversation.ledger_path, NULL, NULL, &failure) < 0)
        err_message("cannot read the grants ledger; permissions granted earlier do not apply: %s",
                    failure.message);
    c->conversation.ledger = c->ledger;
    return EXIT_OK;
}

/* ---- The session ----------------------------------------------------------------------------- */

const char *conversation_setup_store_path(struct conversation_setup *c)
{
    const char *path = config_text(c->config, CONFIG_LOG_PATH);
    if (!config_bool(c->config, CONFIG_LOG_ENABLED))
        return NULL;
    if (path)
        return path;
    const char *data = paths_data_dir(config_environment(c->config), &c->arena);
    return data ? paths_join(&c->arena, data, "sessions.db") : NULL;
}

/* KEY=VALUE each. */
static int read_settings(struct conversation_setup *c, const struct option_list *list)
{
    struct acp_str_entry *entries =
        acp_arena_alloc(&c->arena, (list->count + 1) * sizeof(*entries));
    if (!entries)
        return EXIT_FAILED;
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        entries[i].key = acp_str_n(list->items[i], (size_t) (equals - list->items[i]));
        entries[i].value = acp_str_from(equals + 1);
    }
    c->conversation.settings = (struct acp_str_map){entries, list->count};
    return EXIT_OK;
}

static int read_directories(struct conversation_setup *c, const struct option_list *list)
{
    char path[PATH_MAX];
    struct acp_str *directories =
        acp_arena_alloc(&c->arena, (list->count + 1) * sizeof(*directories));
    if (!directories)
        return EXIT_FAILED;
    for (size_t i = 0; i < list->count; i++) {
        if (!realpath(list->items[i], path)) {
            err_message("--add-dir %s: %s", list->items[i], strerror(errno));
            return EXIT_USAGE;
        }
        directories[i] = acp_arena_copy(&c->arena, acp_str_from(path));
    }
    c->conversation.place.directories = (struct acp_str_list){directories, list->count};
    return EXIT_OK;
}

/*
 * The system prompt, the turn limit, the tools, and that there are no commands, in the _meta of
 * session/new.  The built-in agent reads it, and some others.
 */
static int write_meta(struct conversation_setup *c, const struct conversation_flags *options)
{
    struct acp_buf meta;
    struct acp_json_writer w;
    bool claude = options->max_turns.given || options->allowed_tools;
    if (!options->system_prompt && !options->append_system_prompt && !claude &&
        !options->no_terminal)
        return EXIT_OK;
    acp_buf_init(&meta, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &meta);
    acp_json_begin_object(&w);
    if (options->system_prompt) {
        acp_json_put_text(&w, "systemPrompt", options->system_prompt);
    } else if (options->append_system_prompt) {
        acp_json_write_key(&w, acp_str_from("systemPrompt"));
        acp_json_begin_object(&w);
        acp_json_put_text(&w, "append", options->append_system_prompt);
        acp_json_end_object(&w);
    }
    if (claude) {
        acp_json_write_key(&w, acp_str_from("claudeCode"));
        acp_json_begin_object(&w);
        acp_json_write_key(&w, acp_str_from("options"));
        acp_json_begin_object(&w);
        if (options->max_turns.given)
            acp_json_put_u64(&w, "maxTurns", options->max_turns.value);
        if (options->allowed_tools) {
            acp_json_write_key(&w, acp_str_from("allowedTools"));
            acp_json_begin_array(&w);
            for (const char *at = options->allowed_tools; *at;) {
                size_t n = strcspn(at, ",");
                acp_json_write_str(&w, acp_str_n(at, n));
                at += n + (at[n] == ',');
            }
            acp_json_end_array(&w);
        }
        acp_json_end_object(&w);
        acp_json_end_object(&w);
    }
    if (options->no_terminal) {
        acp_json_write_key(&w, acp_str_from("acp"));
        acp_json_begin_object(&w);
        acp_json_put_bool(&w, "noTerminal", true);
        acp_json_end_object(&w);
    }
    acp_json_end_object(&w);
    struct acp_str copy = acp_arena_copy(&c->arena, acp_buf_view(&meta));
    c->conversation.session_meta = acp_raw_n(copy.ptr, copy.len);
    acp_buf_finish(&meta);
    return w.err || !copy.ptr ? EXIT_FAILED : EXIT_OK;
}

/* By the agent's own methods, for those that have a name, or as the table of agents says. */
static struct acp_str login_hint(struct conversation_setup *c)
{
    const struct agent_known *known = agents_known_find(c->agent.name);
    const char *login = c->agent.login ? c->agent.login : known ? known->login : NULL;
    struct acp_buf text;
    acp_buf_init(&text, 2000);
    if (!c->own_agent && c->agent.source != AGENT_COMMAND_LINE)
        (void) acp_buf_printf(&text, "run 'acp agents login %s'%s%s%s", c->agent.name,
                              login ? " (or " : "", login ? login : "", login ? ")" : "");
    else if (login)
        (void) acp_buf_append_str(&text, acp_str_from(login));
    else if (!c->own_agent)
        (void) acp_buf_printf(&text, "give it a name with 'acp agents add', and run 'acp agents "
                                     "login' with that");
    struct acp_str copy =
        text.len ? acp_arena_copy(&c->arena, acp_buf_view(&text)) : (struct acp_str){0};
    acp_buf_finish(&text);
    return copy;
}

static struct acp_str text_or(const char *flag, const char *configured)
{
    const char *text = flag ? flag : configured;
    return text ? acp_str_from(text) : (struct acp_str){0};
}

static int make_session(struct conversation_setup *c, const struct conversation_flags *options)
{
    struct conversation_options *conversation = &c->conversation;
    struct acp_buf report;
    int status = read_settings(c, &options->set);
    if (!status)
        status = read_directories(c, &options->add_dirs);
    if (!status)
        status = write_meta(c, options);
    if (status)
        return status;
    if (options->mcp) {
        acp_buf_init(&report, CONFIG_MAX_REPORT);
        if (config_add_mcp_file(c->config, options->mcp, &report))
            status = EXIT_USAGE;
        err_text(acp_buf_view(&report));
        acp_buf_finish(&report);
    }
    const char *model = config_text(c->config, CONFIG_MODEL);
    const char *mode = config_text(c->config, CONFIG_MODE);
    conversation->place.mcp_servers = config_mcp_servers(c->config);
    conversation->model = text_or(options->model, c->agent.model ? c->agent.model : model);
    conversation->mode = text_or(options->mode, c->agent.mode ? c->agent.mode : mode);
    c->has_model_option = options->model != NULL;
    c->has_mode_option = options->mode != NULL;
    conversation->auth_method = text_or(NULL, c->agent.auth_method);
    conversation->login_is_likely = c->agent.login || agents_known_find(c->agent.name);
    conversation->login_hint = login_hint(c);
    conversation->fail_without_login = options->missing_login == MISSING_LOGIN_FAIL;
    const struct agent_known *known = c->agent.known;
    conversation->no_files = options->no_fs || (known && known->quirks & AGENT_NO_FILES);
    conversation->no_terminals = options->no_terminal;
    bool v2 = options->v2 || config_number(c->config, CONFIG_PROTOCOL) == 2;
    conversation->versions = v2 ? ACP_V1 | ACP_V2 : ACP_V1;
    int64_t start_ms = config_number(c->config, CONFIG_START_TIMEOUT);
    conversation->start_ms = start_ms > 0 ? (uint64_t) start_ms : 0;
    const char *unasked = config_text(c->config, CONFIG_NON_INTERACTIVE);
    c->fail_unasked = options->without_terminal ? options->without_terminal == WITHOUT_TERMINAL_FAIL
                                                : unasked && strcmp(unasked, "fail") == 0;
    return status;
}

int conversation_setup_complete(struct conversation_setup *c,
                                const struct conversation_flags *options)
{
    struct agent_start start;
    int status = conversation_setup_start_agent(c, &c->agent, c->cwd, &start);
    if (status)
        return status;
    struct conversation_options *conversation = &c->conversation;
    agent_process_endpoint_init(&c->endpoint);
    c->endpoint.argv = start.argv;
    c->endpoint.env = start.env;
    c->endpoint.cwd = start.cwd ? start.cwd : c->cwd;
    c->starts_elsewhere = start.cwd != NULL;
    conversation->endpoint = &c->endpoint.endpoint;
    conversation->shown_argv = redact_arguments(&c->arena, c->agent.argv);
    if (!conversation->shown_argv)
        return EXIT_FAILED;
    conversation->agent = acp_str_from(c->agent.name);
    conversation->place.cwd = acp_str_from(c->cwd);
    if (!options || !options->no_log)
        c->store_path = conversation_setup_store_path(c);
    if (config_bool(c->config, CONFIG_LOG_SYNC))
        c->store_flags = STORE_FULL_SYNC;
    store_new_id(c->id);
    conversation->session = acp_str_from(c->id);
    if (!options)
        return EXIT_OK;
    status = conversation_setup_make_rules(c, options);
    return status ? status : make_session(c, options);
}

int conversation_setup_prepare(struct conversation_setup *c, const struct invocation *invocation,
                               const struct agent_flags *agent,
                               const struct conversation_flags *options)
{
    int status = conversation_setup_configure(c, agent);
    if (!status)
        status = conversation_setup_find_agent(c, invocation, agent);
    return status ? status : conversation_setup_complete(c, options);
}
