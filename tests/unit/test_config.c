/*
 * The configuration: its layers, what files may say and what is told about mistakes in them, what a
 * project may do before and after it is trusted, and what people are shown.
 */
#define _XOPEN_SOURCE 700
#include "config/config.h"
#include "config/jsonc.h"
#include "config/trust.h"
#include "test_home.h"

#include "acp/json.h"

static struct acp_buf report;

static int load_with(struct config_options options, struct config **ret)
{
    static char cwd[128];
    (void) snprintf(cwd, sizeof(cwd), "%s", test_path("p"));
    options.environment = test_environment;
    if (!options.cwd)
        options.cwd = cwd;
    acp_buf_finish(&report);
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    return config_load(&options, ret, &report);
}

static struct config *load(void)
{
    struct config *config = NULL;
    if (load_with((struct config_options){0}, &config))
        print_error("%s", test_cstr(&report));
    assert_non_null(config);
    return config;
}

static void write_user(const char *text)
{
    test_write(".config/acp/config.json", text, 0600);
}

static void write_project(const char *text)
{
    test_write("p/.acp/config.json", text, 0600);
}

static int setup(void **state)
{
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    (void) test_make_home(state);
    test_make_folder("p");
    return 0;
}

static int teardown(void **state)
{
    acp_buf_finish(&report);
    return test_remove_home(state);
}

static void trust_project(const char *text)
{
    struct acp_arena arena;
    struct acp_buf why;
    acp_arena_init(&arena, 0);
    acp_buf_init(&why, 1000);
    assert_int_equal(
        trust_add(trust_file(test_environment, &arena), test_path("p"), acp_str_from(text), &why),
        0);
    acp_buf_finish(&why);
    acp_arena_finish(&arena);
}

/* ---- Layers --------------------------------------------------------------------------------- */

static void without_files_the_defaults_hold(void **state)
{
    (void) state;
    struct config *config = load();
    assert_int_equal(report.len, 0);
    assert_string_equal(config_text(config, CONFIG_FORMAT), "text");
    assert_string_equal(config_text(config, CONFIG_APPROVE), "reads");
    assert_null(config_text(config, CONFIG_DEFAULT_AGENT));
    assert_int_equal(config_number(config, CONFIG_TIMEOUT), -1);
    assert_int_equal(config_number(config, CONFIG_TTL), 300000);
    assert_int_equal(config_number(config, CONFIG_PROTOCOL), 1);
    assert_true(config_bool(config, CONFIG_LOG_ENABLED));
    assert_null(config_env(config)[0]);
    assert_null(config_agent_at(config, 0));
    assert_int_equal(config_mcp_servers(config).count, 0);
    assert_null(config_project_file(config));
    assert_int_equal(config_origin(config, CONFIG_FORMAT).layer, CONFIG_LAYER_DEFAULT);
    config_free(config);
    config_free(NULL);
}

static void later_layers_win(void **state)
{
    (void) state;
    write_user("{\"format\": \"json\", \"model\": \"user\", \"ttl\": 1, \"queue\": 2}");
    struct config *config = load();
    assert_string_equal(config_text(config, CONFIG_FORMAT), "json");
    assert_int_equal(config_origin(config, CONFIG_FORMAT).layer, CONFIG_LAYER_USER);
    config_free(config);

    write_project("\n\n{\"format\": \"quiet\", \"model\": \"project\", \"ttl\": \"2m\"}");
    config = load();
    assert_string_equal(config_text(config, CONFIG_FORMAT), "quiet");
    assert_int_equal(config_number(config, CONFIG_TTL), 120000);
    assert_int_equal(config_number(config, CONFIG_QUEUE), 2);
    struct config_origin origin = config_origin(config, CONFIG_FORMAT);
    assert_int_equal(origin.layer, CONFIG_LAYER_PROJECT);
    assert_string_equal(origin.where, "~/p/.acp/config.json");
    assert_int_equal(origin.line, 3);
    config_free(config);

    test_add_variable("ACP_FORMAT=text");
    test_add_variable("ACP_MODEL=");
    config = load();
    assert_string_equal(config_text(config, CONFIG_FORMAT), "text");
    assert_string_equal(config_text(config, CONFIG_MODEL), "project");
    assert_string_equal(config_origin(config, CONFIG_FORMAT).where, "ACP_FORMAT");
    assert_int_equal(config_set(config, CONFIG_FORMAT, "--format", "json", &report), 0);
    assert_string_equal(config_text(config, CONFIG_FORMAT), "json");
    assert_int_equal(config_origin(config, CONFIG_FORMAT).layer, CONFIG_LAYER_FLAG);
    assert_int_equal(config_set(config, CONFIG_FORMAT, "--format", "jsno", &report), ACP_ERR_RANGE);
    assert_string_equal(config_text(config, CONFIG_FORMAT), "json");
    assert_non_null(
        strstr(test_cstr(&report), "--format: expected text, json or quiet, got 'jsno'\n"));
    assert_int_equal(config_set(config, CONFIG_ENV, "--env", "x", &report), ACP_ERR_TYPE);
    config_free(config);
}

static void a_project_is_found_up_to_the_git_root_or_home(void **state)
{
    (void) state;
    write_project("{\"format\": \"quiet\"}");
    test_make_folder("p/a/b");
    struct config *config = NULL;
    char deep[128];
    (void) snprintf(deep, sizeof(deep), "%s", test_path("p/a/b"));
    assert_int_equal(load_with((struct config_options){.cwd = deep}, &config), 0);
    assert_string_equal(config_project_folder(config), test_path("p"));
    assert_string_equal(config_text(config, CONFIG_FORMAT), "quiet");
    config_free(config);
    assert_int_equal(load_with((struct config_options){.cwd = deep, .no_project = true}, &config),
                     0);
    assert_null(config_project_folder(config));
    config_free(config);
    test_make_folder("p/a/.git");
    assert_int_equal(load_with((struct config_options){.cwd = deep}, &config), 0);
    assert_null(config_project_folder(config));
    config_free(config);
    /* Above the home nothing is looked for: there it could be anybody's. */
    test_write("x/home/.keep", "", 0600);
    test_write("x/.acp/config.json", "{}", 0600);
    char variable[140];
    char home[128];
    (void) snprintf(home, sizeof(home), "%s", test_path("x/home"));
    (void) snprintf(variable, sizeof(variable), "HOME=%s", home);
    test_environment[0] = variable;
    assert_int_equal(load_with((struct config_options){.cwd = home}, &config), 0);
    assert_null(config_project_folder(config));
    config_free(config);
}

/* ---- Owners --------------------------------------------------------------------------------- */

static void assert_ignored(const char *words)
{
    struct config *config = NULL;
    char folder[128];
    acp_buf_clear(&report);
    (void) snprintf(folder, sizeof(folder), "%s", test_path("p"));
    assert_int_equal(load_with((struct config_options){.cwd = folder}, &config), 0);
    assert_null(config_project_folder(config));
    assert_string_equal(config_text(config, CONFIG_FORMAT), "text");
    config_free(config);
    if (!strstr(test_cstr(&report), "~/p/.acp/config.json: ignored: ") ||
        !strstr(test_cstr(&report), words))
        fail_msg("%s", test_cstr(&report));
}

static void assert_counts(void)
{
    struct config *config = load();
    assert_string_equal(config_text(config, CONFIG_FORMAT), "quiet");
    assert_int_equal(report.len, 0);
    config_free(config);
}

static void a_project_file_that_others_can_write_is_ignored(void **state)
{
    static const char *const parts[] = {"p/.acp/config.json", "p/.acp", "p", ""};
    (void) state;
    write_project("{\"format\": \"quiet\"}");
    assert_counts();
    for (size_t i = 0; i < COUNT(parts); i++) {
        struct stat st;
        assert_int_equal(stat(test_path(parts[i]), &st), 0);
        assert_int_equal(chmod(test_path(parts[i]), (st.st_mode & 0777) | 02), 0);
        assert_ignored("is writable by everyone; see OWNERS");
        /* Where only owners can replace what is theirs, that does not matter. */
        if (i > 0) {
            assert_int_equal(chmod(test_path(parts[i]), 01777), 0);
            assert_counts();
        }
        assert_int_equal(chmod(test_path(parts[i]), st.st_mode & 0777), 0);
        assert_counts();
    }
}

static void the_users_file_that_others_can_write_is_an_error(void **state)
{
    struct config *config = NULL;
    (void) state;
    write_user("{\"format\": \"json\"}");
    assert_int_equal(chmod(test_path(".config/acp"), 0777), 0);
    assert_int_equal(load_with((struct config_options){0}, &config), ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "~/.config/acp/config.json: refused: "));
    /* Named by the caller, it is the caller's choice. */
    char file[128];
    (void) snprintf(file, sizeof(file), "%s", test_path(".config/acp/config.json"));
    assert_int_equal(load_with((struct config_options){.user_file = file}, &config), 0);
    assert_string_equal(config_text(config, CONFIG_FORMAT), "json");
    config_free(config);
}

/* A link is as good as who made it and where it leads. */
static void a_link_to_a_file_that_others_can_write_is_ignored(void **state)
{
    (void) state;
    test_write("shared/config.json", "{\"format\": \"quiet\"}", 0600);
    test_make_folder("p/.acp");
    assert_int_equal(symlink("../../shared/config.json", test_path("p/.acp/config.json")), 0);
    assert_counts();
    assert_int_equal(chmod(test_path("shared"), 0777), 0);
    assert_ignored("/shared is writable by everyone");
    assert_int_equal(chmod(test_path("shared"), 0700), 0);
    assert_int_equal(chmod(test_path("shared/config.json"), 0666), 0);
    assert_ignored("/shared/config.json is writable by everyone");
}

/* As with sudo in somebody's project, and as a folder in /tmp that somebody else has made. */
static void what_belongs_to_another_user_is_ignored(void **state)
{
    static const char *const parts[] = {"p/.acp/config.json", "p/.acp", "p"};
    enum { SOMEBODY = 54321 };
    (void) state;
    if (geteuid() != 0) {
        print_message("only root can give files away\n");
        skip();
    }
    write_project("{\"format\": \"quiet\"}");
    for (size_t i = 0; i < COUNT(parts); i++) {
        assert_int_equal(chown(test_path(parts[i]), SOMEBODY, (gid_t) -1), 0);
        assert_ignored("belongs to another user");
        assert_int_equal(chown(test_path(parts[i]), 0, (gid_t) -1), 0);
    }
    assert_counts();
    /* A link that somebody has made to a file of ours. */
    assert_int_equal(rename(test_path("p/.acp"), test_path("q")), 0);
    assert_int_equal(symlink("../q", test_path("p/.acp")), 0);
    assert_counts();
    assert_int_equal(lchown(test_path("p/.acp"), SOMEBODY, (gid_t) -1), 0);
    assert_ignored("/p/.acp belongs to another user");
    assert_int_equal(lchown(test_path("p/.acp"), 0, (gid_t) -1), 0);
    /* A group of others may not write, either. */
    assert_int_equal(chown(test_path("q/config.json"), 0, SOMEBODY), 0);
    assert_int_equal(chmod(test_path("q/config.json"), 0660), 0);
    assert_ignored("is writable by a group");
    assert_int_equal(chmod(test_path("q/config.json"), 0640), 0);
    assert_counts();
}

/* ---- Values --------------------------------------------------------------------------------- */

static void values_may_be_written_in_several_ways(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"0", 0},
        {"1.5", 1500},
        {"\"90\"", 90000},
        {"\"90s\"", 90000},
        {"\"5m\"", 300000},
        {"\"2h\"", 7200000},
        {"\"1d\"", 86400000},
        {"\"250ms\"", 250},
        {"\"0.25m\"", 15000},
        {"0.0015", 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        (void) snprintf(text, sizeof(text), "{\"timeout\": %s}", rows[i].text);
        write_user(text);
        struct config *config = load();
        CHECK_ROW(config_number(config, CONFIG_TIMEOUT) == rows[i].ms, i, "%s", rows[i].text);
        config_free(config);
    }
    write_user("{\"timeout\": null, \"format\": null, \"$schema\": \"x\",}\n// end");
    struct config *config = load();
    assert_int_equal(report.len, 0);
    assert_int_equal(config_number(config, CONFIG_TIMEOUT), -1);
    assert_string_equal(config_text(config, CONFIG_FORMAT), "text");
    config_free(config);
}

static void paths_are_made_absolute(void **state)
{
    (void) state;
    write_user("{\"registry\": \"~/r.json\", \"log\": {\"path\": \"logs/a.db\"}}");
    struct config *config = load();
    assert_string_equal(config_text(config, CONFIG_REGISTRY), test_path("r.json"));
    assert_string_equal(config_text(config, CONFIG_LOG_PATH), test_path(".config/acp/logs/a.db"));
    assert_int_equal(config_set(config, CONFIG_REGISTRY, "--registry", "r", &report), 0);
    assert_string_equal(config_text(config, CONFIG_REGISTRY), test_path("p/r"));
    config_free(config);
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

static void mistakes_are_told_with_file_line_column_and_key(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        const char *said;
    } rows[] = {
        {"{\n  \"format\": 1}", ":2:13: format: expected text, json or quiet, got a number"},
        {"{\"format\": \"jsno\"}", ":1:12: format: expected text, json or quiet, got 'jsno'"},
        {"{\"timeout\": \"soon\"}", ":1:13: timeout: expected a duration"},
        {"{\"timeout\": -1}", ":1:13: timeout: expected a duration"},
        {"{\"timeout\": 1e12}", ":1:13: timeout: expected a duration"},
        {"{\"timeout\": \"99999999d\"}", ":1:13: timeout: expected a duration"},
        {"{\"protocol\": 3}", "protocol: expected 1 or 2, got '3'"},
        {"{\"queue\": \"2\"}", "queue: expected an integer, got a string"},
        {"{\"queue\": 1.5}", "queue: expected an integer, got '1.5'"},
        {"{\"log\": {\"enabled\": \"yes\"}}", "log.enabled: expected true or false, got a string"},
        {"{\"log\": true}", ":1:9: log: expected an object, got true or false"},
        {"{\"model\": \"\"}", "model: expected a string, got ''"},
        {"{\"model\": \"a\\u0000b\"}", "model: the string must not contain a NUL"},
        {"{\"env\": {\"A\": 1}}", ":1:15: env.A: expected a string, got a number"},
        {"{\"env\": {\"A=B\": \"1\"}}", "env: 'A=B' is not a valid variable name"},
        {"{\"env\": [{\"name\": \"A\"}]}", "env[0]: expected an object with name and value"},
        {"{\"agent_servers\": []}",
         "agent_servers: expected an object of agents by name, got a list"},
        {"{\"agent_servers\": {\"claude\":\n {\"args\": 3}}}",
         ":2:11: agent_servers.claude.args: expected a list of strings, got a number"},
        {"{\"agent_servers\": {\"x\": {\"args\": [\"a\", null]}}}",
         "agent_servers.x.args[1]: expected a string, got null"},
        {"{\"agent_servers\": {\"x\": {\"command\": \"\"}}}",
         "agent_servers.x.command: expected a command"},
        {"{\"agent_servers\": {\"\": {}}}", "agent_servers.: the name of the agent is empty"},
        {"{\"mcp_servers\": {\"x\": {}}}",
         "mcp_servers.x: a server must have either command or url"},
        {"{\"mcp_servers\": {\"x\": {\"url\": \"u\", \"type\": \"ws\"}}}",
         ":1:23: mcp_servers.x: type must be stdio, http or sse"},
        {"{\"mcp_servers\": {\"x\": {\"url\": \"u\", \"type\": \"stdio\"}}}",
         "mcp_servers.x: type does not match"},
        {"{\"mcp_servers\": [{\"command\": \"c\"}]}",
         "mcp_servers[0]: the name of the server is empty"},
        {"{\"permissions\": {\"rules\": [{\"verdict\": \"maybe\"}]}}",
         "permissions.rules[0].verdict: must be allow, ask or deny"},
        {"{\"permissions\": {\n \"moode\": \"safe\"}}", ":2:11: permissions.moode: is not known"},
        {"{\"models\": []}", "models: expected an object of facts by model"},
        {"{\"models\": {\"m\": {\"context\": 0}}}", "models.m: context must be a whole number"},
        {"{\"models\": {\"m\": {\"can\": [\"fly\"]}}}", "models.m: can has no word 'fly'"},
        {"{\"providers\": 1}", "providers: expected an object of providers by name"},
        {"{\"providers\": {\"A\": {}}}",
         "providers.A: the name of a provider consists of lower-case"},
        {"{\"providers\": {\"a/b\": {}}}", "the name of a provider"},
        {"{\"providers\": {\"../x\": {}}}", "the name of a provider"},
        {"{\"providers\": {\"demo\": {}}}", "the name of a provider"},
        {"{\"providers\": {\"a\": {\"api\": \"demo\"}}}", "providers.a.api: api must be anthropic"},
        {"{\"providers\": {\"a\": {\"base_url\": \"ftp://x\"}}}",
         "providers.a.base_url: base_url must begin with http"},
        {"{\"providers\": {\"a\": {\"key_env\": 1}}}", "providers.a.key_env: expected a string"},
        {"{\"agent\": {\"prices\": []}}", "agent.prices: expected an object of prices by model"},
        {"{\"agent\": {\"prices\": {\"m\": 3}}}",
         "agent.prices.m: expected an object with input and output"},
        {"{\"agent\": {\"prices\": {\"m\": {\"input\": -1}}}}",
         "agent.prices.m.input: a price cannot be negative"},
        {"{\"agent\": {\"prices\": {\"m\": {\"output\": \"1\"}}}}",
         "agent.prices.m.output: expected a number of dollars"},
        {"{\"agent\": {\"max_prompt\": \"much\"}}", "agent.max_prompt: expected an integer"},
        {"{\"permissions\": 1}", "permissions: expected an object with mode and rules"},
        {"{\"a\" 1}", ":1:6: not valid JSON"},
        {"{} {}", ":1:4: not valid JSON"},
        {"[]", ":1:1: expected an object, got a list"},
        {"{ /* x", ":1:3: unterminated comment"},
        {"{\"a\": \"\xff\"}", "not valid UTF-8"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config *config = NULL;
        write_user(rows[i].text);
        int err = load_with((struct config_options){0}, &config);
        const char *said = test_cstr(&report);
        CHECK_ROW(err == ACP_ERR_RANGE, i, "%s: %d", rows[i].text, err);
        CHECK_ROW(strncmp(said, "~/.config/acp/config.json:", 26) == 0, i, "%s", said);
        CHECK_ROW(strstr(said, rows[i].said), i, "%s", said);
        CHECK_ROW(said[report.len - 1] == '\n', i, "%s", said);
    }
}

static void all_mistakes_are_told_at_once(void **state)
{
    (void) state;
    struct config *config = NULL;
    write_user(
        "{\"format\": 1, \"ttl\": true, \"agent_servers\": {\"a\": 1, \"b\": {\"args\": 1}}}");
    write_project("{\"queue\": \"x\"}");
    test_add_variable("ACP_TIMEOUT=never");
    assert_int_equal(load_with((struct config_options){0}, &config), ACP_ERR_RANGE);
    const char *said = test_cstr(&report);
    assert_non_null(strstr(said, "format:"));
    assert_non_null(strstr(said, "ttl:"));
    assert_non_null(strstr(said, "agent_servers.a:"));
    assert_non_null(strstr(said, "agent_servers.b.args:"));
    assert_non_null(strstr(said, "~/p/.acp/config.json:1:11: queue:"));
    assert_non_null(strstr(said, "ACP_TIMEOUT: expected a duration"));
}

static void unknown_keys_are_mentioned_and_errors_only_when_strict(void **state)
{
    (void) state;
    struct config *config = NULL;
    write_user("{\"formt\": \"json\", \"log\": {\"pth\": 1}, \"zzzzzzz\": {},\n"
               "\"agent_servers\": {\"a\": {\"comand\": \"x\"}},\n"
               "\"mcp_servers\": {\"m\": {\"command\": \"x\", \"arguments\": []}}}");
    assert_int_equal(load_with((struct config_options){0}, &config), 0);
    const char *said = test_cstr(&report);
    assert_non_null(strstr(said, ":1:11: formt: unknown key; did you mean 'format'?\n"));
    assert_non_null(strstr(said, "log.pth: unknown key; did you mean 'path'?\n"));
    assert_non_null(strstr(said, "zzzzzzz: unknown key\n"));
    assert_non_null(
        strstr(said, ":2:35: agent_servers.a.comand: unknown key; did you mean 'command'?"));
    assert_non_null(strstr(said, "mcp_servers.m.arguments: unknown key"));
    config_free(config);
    config = NULL;
    assert_int_equal(load_with((struct config_options){.strict = true}, &config), ACP_ERR_RANGE);
    assert_null(config);
}

static void names_from_files_cannot_move_the_cursor(void **state)
{
    (void) state;
    struct config *config = load();
    config_free(config);
    write_user("{\"a\\u001b[2J\\u009bx\": 1}");
    config = load();
    assert_non_null(strstr(test_cstr(&report), "a\\x1b[2J\\u{9b}x: unknown key"));
    config_free(config);
}

static void files_that_cannot_be_read_are_told(void **state)
{
    (void) state;
    struct config *config = NULL;
    test_make_folder(".config/acp/config.json");
    assert_int_equal(load_with((struct config_options){0}, &config), ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "~/.config/acp/config.json: cannot read: "));
    assert_int_equal(load_with((struct config_options){.user_file = "none.json"}, &config),
                     ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "none.json: no such file"));
    char *large = malloc((size_t) 5 << 20);
    assert_non_null(large);
    memset(large, ' ', (size_t) 5 << 20);
    large[((size_t) 5 << 20) - 1] = '\0';
    test_write("large.json", large, 0600);
    free(large);
    assert_int_equal(load_with((struct config_options){.user_file = "../large.json"}, &config),
                     ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "cannot read: File too large"));
}

/* ---- Agents, variables, servers ------------------------------------------------------------- */

static void agents_are_read_as_editors_write_them(void **state)
{
    (void) state;
    write_user("{\"agent_servers\": {\n"
               "\"plain\": {\"type\": \"custom\", \"command\": \"node\", \"args\": [\"~/a.js\"],\n"
               "  \"env\": {\"K\": \"v=1\"}, \"favorite_models\": [], \"default_mode\": null},\n"
               "\"old\": {\"command\": {\"path\": \"~/bin/agent\", \"args\": [\"x\"], "
               "\"env\": {\"A\": \"b\"}}},\n"
               "\"claude\": {\"type\": \"registry\", \"env\": {\"TOKEN\": \"t\"}, "
               "\"default_model\": \"m\", \"default_mode\": \"plan\", \"auth_method\": \"key\"},\n"
               "\"near\": {\"command\": \"./agent\"},\n"
               "\"plain\": {\"command\": \"deno\"},\n"
               "}}");
    struct config *config = load();
    assert_int_equal(report.len, 0);
    assert_int_equal(config_agent_count(config), 4);
    /* Of the same name the last one counts, as a whole. */
    const struct config_agent *agent = config_agent_find(config, "plain");
    assert_string_equal(agent->command, "deno");
    assert_null(agent->args[0]);
    assert_int_equal(agent->origin.line, 7);
    agent = config_agent_find(config, "old");
    assert_string_equal(agent->command, test_path("bin/agent"));
    assert_string_equal(agent->args[0], "x");
    assert_string_equal(agent->env[0], "A=b");
    agent = config_agent_find(config, "claude");
    assert_null(agent->command);
    assert_string_equal(agent->env[0], "TOKEN=t");
    assert_string_equal(agent->model, "m");
    assert_string_equal(agent->mode, "plan");
    assert_string_equal(agent->auth_method, "key");
    assert_string_equal(config_agent_find(config, "near")->command,
                        test_path(".config/acp/./agent"));
    assert_null(config_agent_find(config, "none"));
    config_free(config);
}

static void variables_of_layers_add_to_each_other(void **state)
{
    (void) state;
    static const char project[] = "{\"env\": [{\"name\": \"B\", \"value\": \"3\"}]}";
    write_user("{\"env\": {\"A\": \"1\", \"B\": \"2\", \"A\": \"$HOME ${X}\"}}");
    write_project(project);
    trust_project(project);
    struct config *config = load();
    const char *const *env = config_env(config);
    assert_string_equal(env[0], "A=$HOME ${X}");
    assert_string_equal(env[1], "B=3");
    assert_null(env[2]);
    config_free(config);
}

static void servers_are_read_as_editors_write_them(void **state)
{
    (void) state;
    test_write("bin/mcp-files", "#!/bin/sh\n", 0755);
    char path[128];
    (void) snprintf(path, sizeof(path), "PATH=/nowhere:%s", test_path("bin"));
    test_add_variable(path);
    write_user(
        "{\"mcpServers\": {\n"
        "\"files\": {\"command\": \"mcp-files\", \"args\": [\"-r\"], \"env\": {\"K\": \"v\"}},\n"
        "\"gone\": {\"command\": \"not-there\"},\n"
        "\"web\": {\"url\": \"https://x/\", \"headers\": {\"Auth\": \"s\"}},\n"
        "\"old\": {\"type\": \"sse\", \"url\": \"https://y/\"},\n"
        "\"off\": {\"command\": \"z\", \"disabled\": true},\n"
        "\"zed\": {\"source\": \"custom\", \"enabled\": true, "
        "\"command\": {\"path\": \"/bin/sh\", \"args\": []}}\n"
        "}}");
    struct config *config = load();
    assert_int_equal(report.len, 0);
    struct acp_mcp_server_list list = config_mcp_servers(config);
    assert_int_equal(list.count, 5);
    assert_int_equal(list.items[0].is, ACP_MCP_SERVER_STDIO);
    assert_true(acp_str_is(list.items[0].stdio.command, test_path("bin/mcp-files")));
    assert_true(acp_str_is(list.items[0].stdio.args.items[0], "-r"));
    assert_true(acp_str_is(list.items[0].stdio.env.items[0].value, "v"));
    assert_true(acp_str_is(list.items[1].stdio.command, "not-there"));
    assert_int_equal(list.items[2].is, ACP_MCP_SERVER_HTTP);
    assert_true(acp_str_is(list.items[2].http.headers.items[0].name, "Auth"));
    assert_int_equal(list.items[3].is, ACP_MCP_SERVER_SSE);
    assert_true(acp_str_is(list.items[4].stdio.command, "/bin/sh"));
    /* A file of the user's adds to them, and replaces what has the same name. */
    test_write("p/mcp.json",
               "{\"other\": 1, \"mcpServers\": [{\"name\": \"web\", \"command\": \"/bin/sh\", "
               "\"env\": [{\"name\": \"A\", \"value\": \"b\"}]}, "
               "{\"name\": \"new\", \"type\": \"http\", \"url\": \"u\"}]}",
               0600);
    assert_int_equal(config_add_mcp_file(config, "mcp.json", &report), 0);
    list = config_mcp_servers(config);
    assert_int_equal(list.count, 6);
    assert_int_equal(list.items[2].is, ACP_MCP_SERVER_STDIO);
    assert_true(acp_str_is(list.items[2].stdio.env.items[0].name, "A"));
    test_write("p/map.json", "{\"a\": {\"command\": \"/bin/sh\"}} // the map itself", 0600);
    assert_int_equal(config_add_mcp_file(config, "map.json", &report), 0);
    assert_int_equal(config_mcp_servers(config).count, 7);
    assert_int_equal(config_add_mcp_file(config, "none.json", &report), ACP_ERR_RANGE);
    test_write("p/bad.json", "{\"a\": {\"command\": 1}}", 0600);
    assert_int_equal(config_add_mcp_file(config, "bad.json", &report), ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "bad.json:1:19: a.command: expected a string"));
    config_free(config);
}

/* ---- Trust ---------------------------------------------------------------------------------- */

static const char bold_project[] =
    "{\"agent_servers\": {\"claude\": {\"command\": \"/bin/evil\"}},\n"
    "\"mcp_servers\": {\"x\": {\"url\": \"http://evil/\"}}, \"env\": {\"LD_PRELOAD\": \"evil\"},\n"
    "\"default_agent\": \"evil\", \"mode\": \"bypass\", \"approve\": \"all\",\n"
    "\"registry\": \"evil.json\", \"log\": {\"enabled\": false, \"path\": \"/tmp/evil\"},\n"
    "\"permissions\": {\"mode\": \"full\", \"rules\": [{\"verdict\": \"allow\"},\n"
    "{\"verdict\": \"deny\", \"path\": \"secret/**\"}, "
    "{\"verdict\": \"ask\", \"kinds\": [\"fetch\"]}]},\n"
    "\"format\": \"json\", \"model\": \"theirs\"}";

static void prices_of_layers_add_to_each_other(void **state)
{
    (void) state;
    write_user("{\"agent\": {\"prices\": {\"a*\": {\"input\": 3, \"output\": 15},\n"
               "\"b\": {\"input\": 1, \"output\": 2, \"cache_read\": 0.5, \"cache_write\": 4}}}}");
    write_project(
        "{\"agent\": {\"prices\": {\"a*\": {\"input\": 4, \"cache_read\": 0, \"output\": null}}}}");
    struct config *config = load();
    const struct config_price *a = config_price_at(config, 0);
    const struct config_price *b = config_price_at(config, 1);
    assert_string_equal(a->model, "a*");
    assert_true(a->input == 4 && a->output == 0 && a->cache_read == 0 && a->cache_write == 4);
    assert_int_equal(a->origin.layer, CONFIG_LAYER_PROJECT);
    assert_string_equal(b->model, "b");
    assert_true(b->input == 1 && b->output == 2 && b->cache_read == 0.5 && b->cache_write == 4);
    assert_null(config_price_at(config, 2));
    struct acp_buf out;
    acp_buf_init(&out, 100000);
    assert_int_equal(config_show(config, &out), 0);
    assert_non_null(strstr(test_cstr(&out), "agent.prices.b = {\"input\":1"));
    acp_buf_finish(&out);
    config_free(config);
}

static void models_and_providers_are_read(void **state)
{
    (void) state;
    write_user("{\"models\": {\"work/m*\": {\"context\": 1000}, \"n\": {\"output\": 5}},\n"
               "\"providers\": {\"work\": {\"base_url\": \"https://user:pw@w/v1?k=secret\",\n"
               "\"api\": \"anthropic\", \"key_env\": \"WORK\", \"model\": \"m1\", \"title\": "
               "\"Work\",\n\"headers\": {\"X-A\": \"secret\"}}, \"openai\": {\"model\": null}}}");
    write_project("{\"models\": {\"n\": {\"output\": 6}},\n\"providers\": {\"work\": "
                  "{\"base_url\": \"http://evil/\"},\n\"anthropic\": {\"base_url\": "
                  "\"http://evil/\"}}}");
    struct config *config = load();
    assert_string_equal(config_model_at(config, 0)->row.name, "work/m*");
    assert_int_equal(config_model_at(config, 0)->row.facts.context, 1000);
    assert_int_equal(config_model_at(config, 1)->row.facts.output, 6);
    assert_null(config_model_at(config, 2));
    /* A project that is not trusted does not say where keys are sent. */
    const struct model_custom *work = &config_provider_at(config, 0)->custom;
    assert_string_equal(work->base_url, "https://user:pw@w/v1?k=secret");
    assert_string_equal(work->key_variable, "WORK");
    assert_string_equal(work->model, "m1");
    assert_string_equal(work->title, "Work");
    assert_int_equal(work->api, MODEL_ANTHROPIC);
    assert_int_equal(work->headers.count, 1);
    assert_string_equal(config_provider_at(config, 1)->custom.id, "openai");
    assert_null(config_provider_at(config, 1)->custom.base_url);
    assert_null(config_provider_at(config, 2));
    struct acp_buf out;
    acp_buf_init(&out, 100000);
    assert_int_equal(config_show(config, &out), 0);
    assert_non_null(strstr(test_cstr(&out), "models.n = {\"output\": 6}"));
    assert_non_null(strstr(test_cstr(&out), "providers.work = {\"title\":\"Work\""));
    assert_null(strstr(test_cstr(&out), "secret"));
    assert_null(strstr(test_cstr(&out), "pw@"));
    acp_buf_finish(&out);
    config_free(config);
}

static void a_project_that_is_not_trusted_can_only_restrict(void **state)
{
    (void) state;
    write_user("{\"permissions\": {\"rules\": [{\"verdict\": \"deny\", \"tool\": \"mine\"}]},\n"
               "\"mode\": \"mine\", \"agent_servers\": {\"claude\": {\"command\": \"good\"}}}");
    write_project(bold_project);
    struct config *config = load();
    assert_string_equal(config_agent_find(config, "claude")->command, "good");
    assert_int_equal(config_agent_count(config), 1);
    assert_int_equal(config_mcp_servers(config).count, 0);
    assert_null(config_env(config)[0]);
    assert_null(config_text(config, CONFIG_DEFAULT_AGENT));
    assert_string_equal(config_text(config, CONFIG_MODE), "mine");
    assert_string_equal(config_text(config, CONFIG_APPROVE), "reads");
    assert_null(config_text(config, CONFIG_REGISTRY));
    assert_true(config_bool(config, CONFIG_LOG_ENABLED));
    assert_null(config_text(config, CONFIG_LOG_PATH));
    assert_string_equal(config_text(config, CONFIG_FORMAT), "json");
    assert_string_equal(config_text(config, CONFIG_MODEL), "theirs");
    struct acp_policy *policy = NULL;
    assert_int_equal(config_policy(config, &policy), 0);
    assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_SAFE);
    assert_int_equal(acp_policy_rule_count(policy), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_not_equal(acp_policy_rule_at(policy, i)->verdict, ACP_VERDICT_ALLOW);
    acp_policy_free(policy);
    config_free(config);
    assert_string_equal(test_cstr(&report),
                        "~/p/.acp/config.json: ignored, because this directory is not trusted: "
                        "agent_servers, mcp_servers, env, default_agent, mode, approve, registry, "
                        "log.enabled, log.path, 1 allow rule, permissions.mode; to accept it: acp "
                        "config trust ~/p\n");
}

static void a_trusted_project_is_taken_as_it_is_until_it_changes(void **state)
{
    (void) state;
    write_user("{\"permissions\": {\"rules\": [{\"verdict\": \"deny\", \"tool\": \"mine\"}]}}");
    write_project(bold_project);
    trust_project(bold_project);
    struct config *config = load();
    assert_int_equal(report.len, 0);
    assert_string_equal(config_agent_find(config, "claude")->command, "/bin/evil");
    assert_string_equal(config_text(config, CONFIG_APPROVE), "all");
    assert_string_equal(config_env(config)[0], "LD_PRELOAD=evil");
    struct acp_policy *policy = NULL;
    assert_int_equal(config_policy(config, &policy), 0);
    assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_FULL);
    assert_int_equal(acp_policy_rule_count(policy), 4);
    /* What the user denies stays denied. */
    struct acp_action action = {
        .kind = ACP_TOOL_KIND_OTHER, .tool = acp_str_from("mine"), .cwd = acp_str_from("/")};
    assert_int_equal(acp_policy_decide(policy, NULL, &action, 0, true).verdict, ACP_VERDICT_DENY);
    acp_policy_free(policy);
    config_free(config);

    write_project("{\"env\": {\"A\": \"b\"}}");
    config = load();
    assert_null(config_env(config)[0]);
    assert_non_null(strstr(test_cstr(&report), "the file has changed since it was trusted: env;"));
    config_free(config);
}

static void projects_can_choose_stricter_modes_and_approval(void **state)
{
    (void) state;
    static const struct {
        const char *user;
        const char *project;
        const char *holds;
    } rows[] = {
        {"safe", "read-only", "read-only"},
        {"safe", "sandbox", "safe"},
        {"safe", "full", "safe"},
        {"read-only", "safe", "read-only"},
        {"read-only", "sandbox", "read-only"},
        {"sandbox", "read-only", "sandbox"},
        {"sandbox", "safe", "sandbox"},
        {"full", "safe", "safe"},
        {"full", "sandbox", "sandbox"},
        {"full", "read-only", "read-only"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[100];
        (void) snprintf(text, sizeof(text), "{\"permissions\": {\"mode\": \"%s\"}}", rows[i].user);
        write_user(text);
        (void) snprintf(text, sizeof(text), "{\"permissions\": {\"mode\": \"%s\"}}",
                        rows[i].project);
        write_project(text);
        struct config *config = load();
        struct acp_policy *policy = NULL;
        assert_int_equal(config_policy(config, &policy), 0);
        const char *holds = acp_policy_mode_name(acp_policy_get_mode(policy));
        CHECK_ROW(strcmp(holds, rows[i].holds) == 0, i, "%s", holds);
        CHECK_ROW((report.len > 0) == (strcmp(holds, rows[i].project) != 0), i, "%s",
                  test_cstr(&report));
        acp_policy_free(policy);
        config_free(config);
    }
    write_user("{\"approve\": \"all\"}");
    write_project("{\"approve\": \"ask\"}");
    struct config *config = load();
    assert_string_equal(config_text(config, CONFIG_APPROVE), "ask");
    assert_int_equal(report.len, 0);
    config_free(config);
}

static void rules_of_a_file_that_the_user_names_are_added(void **state)
{
    (void) state;
    struct acp_policy *policy = NULL;
    write_user("{\"permissions\": {\"rules\": [{\"verdict\": \"deny\"}]}}");
    test_write("p/rules.json",
               "// mine\n{\"mode\": \"full\", \"rules\": [{\"verdict\": \"allow\"},]}", 0600);
    test_write("p/bad.json", "{\n\"rules\": [{\"verdict\": \"alow\"}]}", 0600);
    struct config *config = load();
    assert_int_equal(config_add_policy_file(config, "rules.json", &report), 0);
    assert_int_equal(config_policy(config, &policy), 0);
    assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_FULL);
    assert_int_equal(acp_policy_rule_count(policy), 2);
    assert_int_equal(acp_policy_rule_at(policy, 1)->verdict, ACP_VERDICT_ALLOW);
    assert_string_equal(config_origin(config, CONFIG_PERMISSIONS).where, "rules.json");
    acp_policy_free(policy);
    assert_int_equal(config_add_policy_file(config, "bad.json", &report), ACP_ERR_RANGE);
    assert_non_null(strstr(test_cstr(&report), "bad.json:2:"));
    assert_int_equal(config_add_policy_file(config, "none.json", &report), ACP_ERR_RANGE);
    config_free(config);
}

/* ---- For people ----------------------------------------------------------------------------- */

static void secrets_are_not_shown(void **state)
{
    (void) state;
    write_user("{\"env\": {\"A\": \"sesame\"}, \"timeout\": 1.5,\n"
               "\"agent_servers\": {\"a\": {\"command\": \"c\", \"env\": {\"B\": \"sesame\"}}},\n"
               "\"mcp_servers\": {\"l\": {\"command\": \"c\", \"env\": {\"C\": \"sesame\"}},\n"
               "\"r\": {\"url\": \"u\", \"headers\": {\"D\": \"sesame\"}}}}");
    test_add_variable("ACP_QUEUE=3");
    struct config *config = load();
    struct acp_buf out;
    acp_buf_init(&out, 100000);
    assert_int_equal(config_show(config, &out), 0);
    const char *text = test_cstr(&out);
    assert_null(strstr(text, "sesame"));
    assert_non_null(strstr(text, "env.A = \"(set)\"  (~/.config/acp/config.json:1)\n"));
    assert_non_null(strstr(text, "timeout = 1.5  (~/.config/acp/config.json:1)\n"));
    assert_non_null(
        strstr(text, "agent_servers.a = {\"command\":\"c\",\"env\":{\"B\":\"(set)\"}}"));
    assert_non_null(strstr(text, "mcp_servers.r = {\"url\":\"u\",\"headers\":{\"D\":\"(set)\"}}"));
    assert_non_null(strstr(text, "queue = 3  (ACP_QUEUE)\n"));
    assert_non_null(strstr(text, "format = \"text\"  (built in)\n"));
    acp_buf_clear(&out);
    assert_int_equal(config_show_json(config, &out), 0);
    text = test_cstr(&out);
    assert_null(strstr(text, "sesame"));
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_int_equal(
            acp_json_validate(acp_raw_n(line, (size_t) (strchr(line, '\n') - line)), 0, NULL), 0);
    acp_buf_finish(&out);
    config_free(config);
}

static void the_template_and_its_examples_are_good(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 100000);
    assert_int_equal(config_print_template(&out), 0);
    write_user(test_cstr(&out));
    struct config *config = NULL;
    assert_int_equal(load_with((struct config_options){.strict = true}, &config), 0);
    assert_int_equal(report.len, 0);
    config_free(config);
    /* And with every comment in front of a key taken away. */
    char *text = malloc(out.len + 1);
    assert_non_null(text);
    memcpy(text, acp_buf_view(&out).ptr, out.len);
    text[out.len] = '\0';
    size_t taken = 0;
    static const char *const marks[] = {"// \"", "// {"};
    for (size_t i = 0; i < COUNT(marks); i++)
        for (char *at = text; (at = strstr(at, marks[i])); taken++)
            memset(at, ' ', 3);
    assert_true(taken > CONFIG_COUNT - 5);
    write_user(text);
    free(text);
    assert_int_equal(load_with((struct config_options){.strict = true}, &config), 0);
    assert_int_equal(report.len, 0);
    assert_string_equal(config_text(config, CONFIG_DEFAULT_AGENT), "claude");
    assert_non_null(config_agent_find(config, "mine"));
    assert_int_equal(config_mcp_servers(config).count, 2);
    config_free(config);
    acp_buf_finish(&out);
}

static void every_key_is_in_the_manual_and_found_by_name(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 100000);
    assert_int_equal(config_print_manual(&out), 0);
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const struct config_key *key = config_key((enum config_id) i);
        char heading[80];
        (void) snprintf(heading, sizeof(heading), "*%s* (", key->name);
        assert_non_null(strstr(test_cstr(&out), heading));
        assert_int_equal(config_find_key(acp_str_from(key->name)), i);
        if (key->environment)
            assert_non_null(strstr(test_cstr(&out), key->environment));
        /* What a project may restrict is a choice in order, or sorts itself out. */
        if (key->project == CONFIG_PROJECT_STRICTER)
            assert_true(key->type == CONFIG_TYPE_CHOICE || key->type == CONFIG_TYPE_POLICY);
    }
    assert_int_equal(config_find_key(acp_str_from("context_servers")), CONFIG_MCP_SERVERS);
    assert_int_equal(config_find_key(acp_str_from("log")), CONFIG_COUNT);
    acp_buf_finish(&out);
}

#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOME_TEST(without_files_the_defaults_hold),
        HOME_TEST(later_layers_win),
        HOME_TEST(a_project_is_found_up_to_the_git_root_or_home),
        HOME_TEST(a_project_file_that_others_can_write_is_ignored),
        HOME_TEST(the_users_file_that_others_can_write_is_an_error),
        HOME_TEST(a_link_to_a_file_that_others_can_write_is_ignored),
        HOME_TEST(what_belongs_to_another_user_is_ignored),
        HOME_TEST(values_may_be_written_in_several_ways),
        HOME_TEST(paths_are_made_absolute),
        HOME_TEST(mistakes_are_told_with_file_line_column_and_key),
        HOME_TEST(all_mistakes_are_told_at_once),
        HOME_TEST(unknown_keys_are_mentioned_and_errors_only_when_strict),
        HOME_TEST(names_from_files_cannot_move_the_cursor),
        HOME_TEST(files_that_cannot_be_read_are_told),
        HOME_TEST(agents_are_read_as_editors_write_them),
        HOME_TEST(variables_of_layers_add_to_each_other),
        HOME_TEST(servers_are_read_as_editors_write_them),
        HOME_TEST(prices_of_layers_add_to_each_other),
        HOME_TEST(models_and_providers_are_read),
        HOME_TEST(a_project_that_is_not_trusted_can_only_restrict),
        HOME_TEST(a_trusted_project_is_taken_as_it_is_until_it_changes),
        HOME_TEST(projects_can_choose_stricter_modes_and_approval),
        HOME_TEST(rules_of_a_file_that_the_user_names_are_added),
        HOME_TEST(secrets_are_not_shown),
        HOME_TEST(the_template_and_its_examples_are_good),
        HOME_TEST(every_key_is_in_the_manual_and_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
