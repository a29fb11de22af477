/*
 * Fuzzes what is read from files that others write: a project's configuration, a file of MCP
 * servers, a registry, and command lines.  Whatever a project says before it is trusted, it may
 * neither name a command nor allow anything; and nothing in a report moves a terminal's cursor.
 */
#include "acp/json.h"
#include "config/config_internal.h"
#include "fuzz.h"
#include "registry/agents_internal.h"

static struct config *make_config(void)
{
    static const char *const environment[] = {"HOME=/nowhere", "PATH=/nowhere", NULL};
    struct config_options options = {
        .cwd = "/nowhere", .environment = environment, .no_project = true};
    struct config *config = NULL;
    struct acp_buf report;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    CHECK(config_load(&options, &config, &report) == 0 && report.len == 0);
    return config;
}

static void check_report(const struct acp_buf *report, bool failed)
{
    struct acp_str text = acp_buf_view(report);
    CHECK(!failed || text.len > 0);
    for (size_t i = 0; i < text.len; i++)
        CHECK(text.ptr[i] == '\n' || ((unsigned char) text.ptr[i] >= 0x20 && text.ptr[i] != 0x7F));
    CHECK(text.len == 0 || text.ptr[text.len - 1] == '\n');
}

/* What must be true of an untrusted file. */
static void check_restrained(const struct config *config)
{
    const struct acp_policy_rule *rule;
    CHECK(config_agent_count(config) == 0 && config_mcp_servers(config).count == 0);
    CHECK(config->variable_count == 0);
    CHECK(!config_text(config, CONFIG_DEFAULT_AGENT) && !config_text(config, CONFIG_MODE));
    CHECK(!config_text(config, CONFIG_REGISTRY) && !config_text(config, CONFIG_LOG_PATH));
    CHECK(config_bool(config, CONFIG_LOG_ENABLED) && !config_bool(config, CONFIG_LOG_SYNC));
    CHECK(strcmp(config_text(config, CONFIG_APPROVE), "all") != 0);
    enum acp_policy_mode mode = acp_policy_get_mode(config->policy);
    CHECK(mode == ACP_POLICY_SAFE || mode == ACP_POLICY_READ_ONLY);
    for (size_t i = 0; (rule = acp_policy_rule_at(config->policy, i)); i++)
        CHECK(rule->verdict != ACP_VERDICT_ALLOW);
}

static void check_shown(const struct config *config)
{
    struct acp_buf out;
    acp_buf_init(&out, (size_t) 64 << 20);
    CHECK(config_show_json(config, &out) == 0);
    const char *at = acp_buf_view(&out).ptr;
    const char *end = at + out.len;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t) (end - at));
        CHECK(line);
        CHECK(acp_json_validate(acp_raw_n(at, (size_t) (line - at)), 0, NULL) == 0);
        at = line + 1;
    }
    acp_buf_finish(&out);
}

static void read_config(struct acp_str text, bool trusted)
{
    struct config *config = make_config();
    struct acp_buf report;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    struct config_reader reader = {.config = config,
                                   .report = &report,
                                   .file = "file",
                                   .base = "/base",
                                   .layer = CONFIG_LAYER_PROJECT,
                                   .trusted = trusted};
    acp_buf_init(&reader.ignored, CONFIG_MAX_REPORT);
    CHECK(config_read_file(&reader, text) == 0);
    check_report(&report, reader.failed);
    if (!trusted)
        check_restrained(config);
    check_shown(config);
    acp_buf_finish(&reader.ignored);
    acp_buf_finish(&report);
    config_free(config);
}

static void check_recipe(const struct agent_recipe *recipe, void *user)
{
    (void) user;
    CHECK(recipe->name && *recipe->name && recipe->title);
    CHECK(recipe->installed || recipe->fetched);
    CHECK(!recipe->installed || (recipe->installed[0] && !strchr(recipe->installed[0], '/')));
    for (size_t i = 0; recipe->env && recipe->env[i]; i++)
        CHECK(strchr(recipe->env[i], '='));
}

static void read_agents(struct acp_str text)
{
    struct config *config = make_config();
    struct acp_buf why;
    acp_buf_init(&why, 10000);
    int err = agents_read_registry_text(config, text, check_recipe, NULL, &why);
    CHECK((err != 0) == (why.len > 0));
    const char *const *words = NULL;
    err = agents_split(config_arena(config), text, &words);
    CHECK(err || words[0]);
    acp_buf_finish(&why);
    config_free(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str text = acp_str_n((const char *) data, size);
    read_config(text, false);
    read_config(text, true);
    read_agents(text);
    return 0;
}
