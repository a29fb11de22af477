/*
 * Agents by name: the order in which a name is looked for, what is started, the registry's rules,
 * and sentences for those who mistype.
 */
#define _XOPEN_SOURCE 700
#include "registry/agents.h"
#include "registry/agents_internal.h"
#include "test_home.h"

static struct acp_buf why;
static struct config *config;
static char path_variable[128];

static void reload(void)
{
    struct acp_buf report;
    config_free(config);
    config = NULL;
    acp_buf_init(&report, CONFIG_MAX_REPORT);
    struct config_options options = {.cwd = test_home, .environment = test_environment};
    int err = config_load(&options, &config, &report);
    if (err)
        print_error("%s", test_cstr(&report));
    acp_buf_finish(&report);
    assert_int_equal(err, 0);
    acp_buf_clear(&why);
}

static void configure(const char *text)
{
    test_write(".config/acp/config.json", text, 0600);
    reload();
}

static int setup(void **state)
{
    (void) test_make_home(state);
    acp_buf_init(&why, 10000);
    test_make_folder("bin");
    (void) snprintf(path_variable, sizeof(path_variable), "PATH=%s", test_path("bin"));
    test_add_variable(path_variable);
    reload();
    return 0;
}

static int teardown(void **state)
{
    config_free(config);
    config = NULL;
    acp_buf_finish(&why);
    return test_remove_home(state);
}

static void install(const char *name)
{
    char path[64];
    (void) snprintf(path, sizeof(path), "bin/%s", name);
    test_write(path, "#!/bin/sh\n", 0755);
}

/* Whether the words of a list are these, with spaces between. */
static void check_words(const char *const *words, const char *expected)
{
    char line[400] = "";
    size_t n = 0;
    for (size_t i = 0; words[i]; i++)
        n += (size_t) snprintf(line + n, sizeof(line) - n, "%s%s", i ? " " : "", words[i]);
    assert_string_equal(line, expected);
}

static struct agent_command resolve(const char *name)
{
    struct agent_command command;
    acp_buf_clear(&why);
    int err = agents_resolve(config, name, &command, &why);
    if (err)
        print_error("%s\n", test_cstr(&why));
    assert_int_equal(err, 0);
    return command;
}

static void check_failure(const char *name, int err, const char *sentence)
{
    struct agent_command command;
    acp_buf_clear(&why);
    assert_int_equal(agents_resolve(config, name, &command, &why), err);
    if (!strstr(test_cstr(&why), sentence))
        print_error("%s\n", test_cstr(&why));
    assert_non_null(strstr(test_cstr(&why), sentence));
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void the_names_of_acpx_are_known(void **state)
{
    (void) state;
    static const struct {
        const char *name;
        const char *command;
    } rows[] = {
        {"pi", "pi-acp"},
        {"openclaw", "openclaw acp"},
        {"codex", "codex-acp"},
        {"claude", "claude-agent-acp"},
        {"gemini", "gemini --acp"},
        {"cursor", "cursor-agent acp"},
        {"copilot", "copilot --acp --stdio"},
        {"antigravity", "agy_acp_server.par --uid="},
        {"devin", "devin acp"},
        {"droid", "droid exec --output-format acp"},
        {"factory-droid", "droid exec --output-format acp"},
        {"factorydroid", "droid exec --output-format acp"},
        {"fast-agent", "fast-agent acp"},
        {"fx", "fx acp"},
        {"grok-build", "grok agent stdio"},
        {"iflow", "iflow --experimental-acp"},
        {"junie", "junie --acp=true"},
        {"kilocode", "kilo acp"},
        {"kimi", "kimi acp"},
        {"kiro", "kiro-cli-chat acp"},
        {"mcode", "mcode acp"},
        {"mux", "mux acp"},
        {"opencode", "opencode acp"},
        {"pool", "pool acp"},
        {"qoder", "qodercli --acp"},
        {"qwen", "qwen --acp"},
        {"trae", "traecli acp serve"},
        {"zeroclaw", "zeroclaw acp"},
        {"goose", "goose acp"},
        {"CLAUDE", "claude-agent-acp"},
        {"claude-acp", "claude-agent-acp"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct agent_known *known = agents_known_find(rows[i].name);
        CHECK_ROW(known && strcmp(known->command, rows[i].command) == 0, i, "%s", rows[i].name);
        CHECK_ROW(agents_is_known(config, rows[i].name), i, "%s", rows[i].name);
    }
    assert_null(agents_known_find(""));
    assert_null(agents_known_find("nobody"));
    assert_false(agents_is_known(config, "nobody"));
}

static void names_are_unique_and_every_row_says_how_to_install(void **state)
{
    (void) state;
    const struct agent_known *known;
    for (size_t i = 0; (known = agents_known_at(i)); i++) {
        assert_ptr_equal(agents_known_find(known->name), known);
        assert_true(known->title && known->command);
        assert_true(known->install || i == 0); /* the built-in one is installed */
        char aliases[200];
        (void) snprintf(aliases, sizeof(aliases), "%s", known->aliases ? known->aliases : "");
        for (char *at = aliases; *at;) {
            size_t n = strcspn(at, " ");
            bool last = at[n] == '\0';
            at[n] = '\0';
            assert_ptr_equal(agents_known_find(at), known);
            at += n + !last;
        }
    }
}

/* ---- Order ---------------------------------------------------------------------------------- */

static void an_installed_program_goes_before_npx(void **state)
{
    (void) state;
    check_failure("claude", ACP_ERR_MISSING,
                  "cannot start claude: 'claude-agent-acp' is not installed; npm install -g "
                  "@agentclientprotocol/claude-agent-acp");
    install("npx");
    struct agent_command command = resolve("claude");
    check_words(command.argv, "npx -y @agentclientprotocol/claude-agent-acp@0.70.0");
    assert_string_equal(command.program, test_path("bin/npx"));
    assert_true(command.fetched);
    assert_int_equal(command.source, AGENT_BUILT_IN);
    install("claude-agent-acp");
    command = resolve("Claude-ACP");
    check_words(command.argv, "claude-agent-acp");
    assert_string_equal(command.name, "claude");
    assert_string_equal(command.program, test_path("bin/claude-agent-acp"));
    assert_false(command.fetched);
    assert_non_null(command.login);
    /* A file that cannot be executed is no program. */
    assert_int_equal(chmod(test_path("bin/claude-agent-acp"), 0644), 0);
    assert_true(resolve("claude").fetched);
}

static void the_users_agents_go_before_those_that_are_built_in(void **state)
{
    (void) state;
    install("mine");
    install("npx");
    configure("{\"env\": {\"ALL\": \"1\", \"K\": \"0\"}, \"agent_servers\": {\n"
              "\"claude\": {\"command\": \"mine\", \"args\": [\"a b\"], \"env\": {\"K\": \"v\"},\n"
              "\"default_model\": \"m\"},\n"
              "\"codex\": {\"type\": \"registry\", \"env\": {\"OPENAI_API_KEY\": \"k\"}, "
              "\"args\": [\"--more\"]},\n"
              "\"lost\": {\"env\": {}}, \"gone\": {\"command\": \"not-here\"}}}");
    struct agent_command command = resolve("claude");
    check_words(command.argv, "mine a b");
    check_words(command.env, "ALL=1 K=0 K=v");
    assert_string_equal(command.model, "m");
    assert_int_equal(command.source, AGENT_FROM_CONFIG);
    assert_int_equal(command.origin.line, 2);
    /* Without a command the known one is changed. */
    command = resolve("codex");
    check_words(command.argv, "npx -y @agentclientprotocol/codex-acp@1.6.0 --more");
    check_words(command.env, "ALL=1 K=0 OPENAI_API_KEY=k");
    check_words(resolve("gemini").env, "ALL=1 K=0");
    check_failure("lost", ACP_ERR_UNKNOWN,
                  "agent_servers.lost (~/.config/acp/config.json:5) has "
                  "no command");
    check_failure("gone", ACP_ERR_MISSING,
                  "'not-here' is not installed (~/.config/acp/config.json:5)");
    check_failure("minne", ACP_ERR_UNKNOWN, "no such agent 'minne'");
    check_failure("claud", ACP_ERR_UNKNOWN, "did you mean 'claude'?");
    check_failure("xyzzyx", ACP_ERR_UNKNOWN, "`acp agents list`");
}

static void a_path_of_the_agents_own_counts(void **state)
{
    (void) state;
    char text[200];
    test_write("other/tool", "#!/bin/sh\n", 0755);
    (void) snprintf(
        text, sizeof(text),
        "{\"agent_servers\": {\"a\": {\"command\": \"tool\", \"env\": {\"PATH\": \"%s\"}}}}",
        test_path("other"));
    configure(text);
    assert_string_equal(resolve("a").program, test_path("other/tool"));
}

/* ---- Command lines -------------------------------------------------------------------------- */

static void command_lines_are_split_like_a_shell_does_quotes(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *words; /* with | between */
        int err;
    } rows[] = {
        {"a b  c\t\n", "a|b|c", 0},
        {"'a b' \"c d\"", "a b|c d", 0},
        {"a'b c'd", "ab cd", 0},
        {"a\\ b", "a b", 0},
        {"'a\\b'", "a\\b", 0},
        {"\"a\\\"b\\\\\"", "a\"b\\", 0},
        {"\"it's\"", "it's", 0},
        {"a '' b", "a||b", 0},
        {"$HOME *.c ; `x`", "$HOME|*.c|;|`x`", 0},
        {"", "", ACP_ERR_MISSING},
        {" \t", "", ACP_ERR_MISSING},
        {"'a", "", ACP_ERR_SYNTAX},
        {"a\"", "", ACP_ERR_SYNTAX},
        {"a\\", "", ACP_ERR_SYNTAX},
    };
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const *words = NULL;
        int err = agents_split(&arena, acp_str_from(rows[i].line), &words);
        CHECK_ROW(err == rows[i].err, i, "%d", err);
        char line[100] = "";
        size_t n = 0;
        for (size_t k = 0; words && words[k]; k++)
            n += (size_t) snprintf(line + n, sizeof(line) - n, "%s%s", k ? "|" : "", words[k]);
        CHECK_ROW(strcmp(line, rows[i].words) == 0, i, "%s", line);
    }
    assert_int_equal(agents_split(&arena, acp_str_n("a\0b", 3), &(const char *const *){0}),
                     ACP_ERR_SYNTAX);
    acp_arena_finish(&arena);
}

static void an_agent_can_be_given_as_a_command(void **state)
{
    (void) state;
    struct agent_command command;
    install("tool");
    install("qwen");
    configure("{\"env\": {\"A\": \"b\"}}");
    assert_int_equal(agents_from_line(config, "tool 'x y'", &command, &why), 0);
    check_words(command.argv, "tool x y");
    check_words(command.env, "A=b");
    assert_string_equal(command.name, "tool");
    assert_int_equal(command.source, AGENT_COMMAND_LINE);
    assert_int_equal(agents_from_line(config, " qwen ", &command, &why), 0);
    check_words(command.argv, "qwen --acp");
    assert_int_equal(agents_from_line(config, "qwen --other", &command, &why), 0);
    check_words(command.argv, "qwen --other");
    const char *const argv[] = {test_path("bin/tool"), "--acp", NULL};
    assert_int_equal(agents_from_argv(config, argv, &command, &why), 0);
    assert_string_equal(command.name, "tool");
    const char *const none[] = {NULL};
    assert_int_equal(agents_from_argv(config, none, &command, &why), ACP_ERR_MISSING);
    assert_int_equal(agents_from_line(config, "", &command, &why), ACP_ERR_MISSING);
    acp_buf_clear(&why);
    assert_int_equal(agents_from_line(config, "'x", &command, &why), ACP_ERR_SYNTAX);
    assert_non_null(strstr(test_cstr(&why), "unterminated quote"));
    acp_buf_clear(&why);
    assert_int_equal(agents_from_line(config, "./nothing x", &command, &why), ACP_ERR_MISSING);
    assert_string_equal(test_cstr(&why), "cannot start nothing: './nothing' is not installed");
}

/* ---- The registry --------------------------------------------------------------------------- */

static void write_registry(void)
{
    char platform[48];
    char text[4000];
    agents_platform(platform, sizeof(platform));
    (void) snprintf(
        text, sizeof(text),
        "{\"version\": \"1.0.0\", \"extensions\": [], \"agents\": [\n"
        "{\"id\": \"pack\", \"name\": \"Pack\", \"version\": \"1.0.0\", \"new\": {\"x\": [1]},\n"
        " \"distribution\": {\"npx\": {\"package\": \"@x/pack@1.2.3\", \"args\": [\"--acp\"],\n"
        "  \"env\": {\"P\": \"1\"}, \"other\": 1}, \"wasm\": {}}},\n"
        "{\"id\": \"snake\", \"distribution\": {\"uvx\": "
        "{\"package\": \"snake\", \"cmd\": \"hiss\"}}},\n"
        "{\"id\": \"named\", \"distribution\": {\"npx\": {\"package\": \"p\", \"cmd\": \"c\", "
        "\"args\": [\"a\"]}}},\n"
        "{\"id\": \"bin\", \"distribution\": {\"binary\": {\"%s\": "
        "{\"archive\": \"https://x/a.tgz\",\n"
        "  \"cmd\": \"./dir/prog\", \"args\": [\"serve\"], \"env\": {\"B\": \"2\"}}}}},\n"
        "{\"id\": \"elsewhere\", \"distribution\": {\"binary\": "
        "{\"plan9-mips\": {\"cmd\": \"x\"}}}},\n"
        "{\"id\": \"empty\", \"distribution\": {}}, {\"id\": \"Bad_Name\", \"distribution\": "
        "{\"npx\": {\"package\": \"x\"}}},\n"
        "{\"id\": \"wrong\", \"distribution\": {\"npx\": "
        "{\"package\": \"x\", \"args\": \"a\"}}}, 7,\n"
        "{\"id\": \"claude-acp\", \"distribution\": {\"npx\": {\"package\": \"other\"}}}]}",
        platform);
    test_write("registry.json", text, 0600);
    configure("{\"registry\": \"~/registry.json\", \"agent_servers\": {\"pack\": {\"env\": "
              "{\"Q\": \"3\"}}}}");
}

static void agents_of_a_registry_are_started_by_its_rules(void **state)
{
    (void) state;
    install("npx");
    install("uvx");
    write_registry();
    struct agent_command command = resolve("pack");
    check_words(command.argv, "npx -y @x/pack@1.2.3 --acp");
    check_words(command.env, "P=1 Q=3");
    assert_string_equal(command.title, "Pack");
    command = resolve("snake");
    check_words(command.argv, "uvx --from snake hiss");
    assert_int_equal(command.source, AGENT_FROM_REGISTRY);
    install("hiss");
    check_words(resolve("snake").argv, "hiss");
    check_words(resolve("named").argv, "npx -y --package p c a");
    check_failure("bin", ACP_ERR_MISSING,
                  "'prog' is not installed; unpack it into PATH from https://x/a.tgz");
    install("prog");
    command = resolve("bin");
    check_words(command.argv, "prog serve");
    check_words(command.env, "B=2");
    /* Nothing for this platform, no distribution, an id or a type against the rules. */
    static const char *const none[] = {"elsewhere", "empty", "Bad_Name", "wrong"};
    for (size_t i = 0; i < COUNT(none); i++)
        check_failure(none[i], ACP_ERR_UNKNOWN, "no such agent");
    /* What is built in goes before. */
    check_words(resolve("claude-acp").argv, "npx -y @agentclientprotocol/claude-agent-acp@0.70.0");
}

static void a_registry_that_is_none_is_told(void **state)
{
    (void) state;
    configure("{\"registry\": \"~/registry.json\"}");
    check_failure("pack", ACP_ERR_RANGE, "registry.json: No such file");
    test_write("registry.json", "{\"agents\": [}", 0600);
    check_failure("pack", ACP_ERR_RANGE, "not valid JSON, at byte 12");
    test_write("registry.json", "{\"agents\": {}}", 0600);
    check_failure("pack", ACP_ERR_RANGE, "no list \"agents\"");
    test_write("registry.json", "[]", 0600);
    check_failure("pack", ACP_ERR_RANGE, "no list \"agents\"");
    /* Names that are found before are not hurt by it. */
    install("npx");
    assert_true(resolve("claude").fetched);
}

struct seen {
    size_t count;
    size_t pack;
    size_t claude;
    size_t installed;
};

static void see(const struct agent_command *command, void *user)
{
    struct seen *seen = user;
    seen->count++;
    seen->pack += strcmp(command->name, "pack") == 0;
    seen->claude += strncmp(command->name, "claude", 6) == 0;
    seen->installed += command->program != NULL;
    assert_true(command->argv && command->argv[0] && command->env && command->title);
}

static void the_list_has_each_of_them_once(void **state)
{
    (void) state;
    struct seen seen = {0};
    size_t known = 0;
    while (agents_known_at(known))
        known++;
    install("gemini");
    write_registry();
    assert_int_equal(agents_list(config, see, &seen, &why), 0);
    assert_int_equal(seen.count, known + 4);
    assert_int_equal(seen.pack, 1);
    assert_int_equal(seen.claude, 1);
    assert_int_equal(seen.installed, 2); /* the built-in one, too */
    const char *const *names = agents_names(config);
    size_t count = 0;
    while (names[count])
        count++;
    assert_int_equal(count, seen.count);
    assert_true(agents_is_known(config, "snake"));
    test_write("registry.json", "{", 0600);
    assert_int_equal(agents_list(config, see, &seen, &why), ACP_ERR_RANGE);
    assert_non_null(agents_names(config)[known]);
}

static const struct agent_known *known_by(const char *line)
{
    const char *const *words = NULL;
    assert_int_equal(agents_split(config_arena(config), acp_str_from(line), &words), 0);
    return agents_known_by_command(words);
}

static void an_agent_is_known_by_its_program_or_package(void **state)
{
    (void) state;
    const struct agent_known *gemini = agents_known_find("gemini");
    assert_ptr_equal(known_by("gemini --acp"), gemini);
    assert_ptr_equal(known_by("/opt/bin/gemini"), gemini);
    assert_ptr_equal(known_by("npx -y @google/gemini-cli --acp"), gemini);
    assert_ptr_equal(known_by("npx -y @google/gemini-cli@latest --acp"), gemini);
    assert_ptr_equal(known_by("uvx --from fast-agent-acp fast-agent-acp"),
                     agents_known_find("fast-agent"));
    assert_null(known_by("npx -y @google/gemini-cli-core"));
    assert_null(known_by("gemini-2"));
    assert_null(known_by("npx"));
    assert_null(known_by("my-agent"));
}

static void quirks_apply_to_every_way_to_start_the_agent(void **state)
{
    (void) state;
    struct agent_command command;
    const char *const argv[] = {"gemini", "--acp", NULL};
    install("gemini");
    install("mine");
    assert_true(resolve("gemini").known->quirks & AGENT_NO_FILES);
    assert_int_equal(agents_from_argv(config, argv, &command, &why), 0);
    assert_true(command.known->quirks & AGENT_NO_FILES);
    configure("{\"agent_servers\": {\"g\": {\"command\": \"gemini\"},"
              " \"gemini\": {\"command\": \"mine\"}, \"other\": {\"command\": \"mine\"}}}");
    assert_true(resolve("g").known->quirks & AGENT_NO_FILES);
    assert_true(resolve("gemini").known->quirks & AGENT_NO_FILES);
    assert_null(resolve("other").known);
    install("claude-agent-acp");
    assert_int_equal(resolve("claude").known->quirks, 0);
}

#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOME_TEST(the_names_of_acpx_are_known),
        HOME_TEST(names_are_unique_and_every_row_says_how_to_install),
        HOME_TEST(an_installed_program_goes_before_npx),
        HOME_TEST(the_users_agents_go_before_those_that_are_built_in),
        HOME_TEST(a_path_of_the_agents_own_counts),
        HOME_TEST(command_lines_are_split_like_a_shell_does_quotes),
        HOME_TEST(an_agent_can_be_given_as_a_command),
        HOME_TEST(agents_of_a_registry_are_started_by_its_rules),
        HOME_TEST(a_registry_that_is_none_is_told),
        HOME_TEST(the_list_has_each_of_them_once),
        HOME_TEST(an_agent_is_known_by_its_program_or_package),
        HOME_TEST(quirks_apply_to_every_way_to_start_the_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
