/* What a command line means: which command, which agent, what is left, and what is refused. */
#include "helpers.h"

#include "test_program.h"

/* Words of a line that blanks separate; '_' stands for a blank inside of a word. */
struct line {
    char text[400];
    const char *words[40];
    size_t count;
    struct invocation invocation;
    struct usage_error error;
    int err;
};

static void read_line(struct line *l, const struct program *program, const char *text)
{
    memset(l, 0, sizeof(*l));
    assert_true(strlen(text) < sizeof(l->text));
    memcpy(l->text, text, strlen(text));
    for (char *at = l->text; *at;) {
        size_t n = strcspn(at, " ");
        bool last = at[n] == '\0';
        at[n] = '\0';
        l->words[l->count++] = at;
        for (char *c = at; *c; c++)
            if (*c == '_')
                *c = ' ';
        at += n + !last;
    }
    l->err = invocation_parse(&l->invocation, program, l->words, l->count, &l->error);
}

/* "prompt claude: fix it / npx x": command, agent, arguments, agent's command line. */
static void tell(const struct invocation *in, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
#define PUT(...) n += (size_t) snprintf(out + n, size - n, __VA_ARGS__)
    if (in->parent)
        PUT("%s ", in->parent->name);
    PUT("%s %s:", in->command->name, in->agent ? in->agent : "-");
    for (size_t i = 0; i < in->argument_count; i++)
        PUT(" %s", in->arguments[i]);
    assert_null(in->arguments[in->argument_count]);
    if (in->agent_command)
        PUT(" /");
    for (size_t i = 0; in->agent_command && i < in->agent_command_count; i++)
        PUT(" %s", in->agent_command[i]);
#undef PUT
}

static void test_meanings(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *meaning;
    } cases[] = {
        {"prompt claude hi", "prompt claude: hi"},
        {"prompt hi", "prompt -: hi"},
        {"prompt", "prompt -:"},
        {"prompt claude", "prompt claude:"},
        {"prompt fix the tests", "prompt -: fix the tests"},
        {"prompt wss://host/acp hi", "prompt wss://host/acp: hi"},
        {"prompt see_http://x_y now", "prompt -: see http://x y now"},
        {"claude hi there", "prompt claude: hi there"},
        {"claude", "prompt claude:"},
        {"claude prompt hi", "prompt claude: hi"},
        {"claude cancel", "cancel claude:"},
        {"cancel", "cancel -:"},
        {"claude sessions", "sessions claude:"},
        {"claude sessions list", "sessions list claude:"},
        {"sessions show x", "sessions show -: x"},
        {"claude prompt codex", "prompt claude: codex"},
        {"--format json --approve-all codex prompt hi", "prompt codex: hi"},
        {"--timeout 5 claude -s b hi", "prompt claude: hi"},
        {"claude -s b --no-wait hi", "prompt claude: hi"},
        {"-v codex sessions --format json list", "sessions list codex:"},
        {"--format=json cancel", "cancel -:"},
        {"--agent ./x hi", "prompt -: hi"},
        {"--agent ./x claude", "prompt -: claude"},
        {"--agent ./x", "prompt -:"},
        {"--agent ./x cancel", "cancel -:"},
        {"prompt --agent ./x claude hi", "prompt -: claude hi"},
        {"prompt hi -- npx agent --acp", "prompt -: hi / npx agent --acp"},
        {"prompt -p hi -- npx agent", "prompt -: / npx agent"},
        {"prompt claude -- -v is broken", "prompt claude: -v is broken"},
        {"claude -- cancel", "prompt claude: cancel"},
        {"claude fix -- --it", "prompt claude: fix --it"},
        {"prompt --agent ./x -- -v", "prompt -: -v"},
        {"config shell bash a b", "config shell -: bash a b"},
        {"config init", "config init -:"},
        {"secret", "secret -:"},
        {"cancel --", "cancel -:"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct line l;
        char meaning[400];
        read_line(&l, &test_program, cases[i].line);
        CHECK_ROW(l.err == 0, i, "%s: %s", cases[i].line, l.error.message);
        tell(&l.invocation, meaning, sizeof(meaning));
        CHECK_ROW(strcmp(meaning, cases[i].meaning) == 0, i, "%s: %s", cases[i].line, meaning);
        invocation_finish(&l.invocation);
    }
}

static void test_options_before_the_command_are_its_own(void **state)
{
    (void) state;
    struct line l;
    read_line(&l, &test_program, "--format json -s b --approve-all claude --ttl 0 hi --model m");
    assert_int_equal(l.err, 0);
    const struct test_prompt_options *options = l.invocation.options;
    assert_int_equal(options->agent.format, RENDER_JSON);
    assert_int_equal(options->conversation.permit, PERMIT_ALL);
    assert_string_equal(options->conversation.model, "m");
    assert_string_equal(options->session.session, "b");
    assert_true(options->queue.ttl.given && options->queue.ttl.value == 0);
    invocation_finish(&l.invocation);
}

static void test_refusals(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"promt hi", "no such command or agent 'promt'; did you mean 'prompt'?"},
        {"cladue hi", "no such command or agent 'cladue'; did you mean 'claude'?"},
        {"cladue --nonsense", "no such command or agent 'cladue'; did you mean 'claude'?"},
        {"fix_it", "no such command or agent 'fix it'; "
                   "to send it as a prompt, use: acp prompt 'fix it'"},
        {"secrt", "no such command or agent 'secrt'; "
                  "to send it as a prompt, use: acp prompt 'secrt'"},
        {"prompt cladue hi", "no such agent 'cladue'; did you mean 'claude'? "
                             "If it is part of the prompt, put the prompt in quotes"},
        {"claude config init", "'config' does not take an agent; to send it to 'claude', use: "
                               "acp prompt claude config"},
        {"claude --agent ./x hi", "agent given twice: 'claude' and --agent"},
        {"--fromat json prompt hi", "unknown option --fromat; did you mean --format?"},
        {"-x prompt hi", "unknown option -x"},
        {"prompt --fromat json", "unknown option --fromat; did you mean --format?"},
        {"cancel --ttl 3", "unknown option --ttl"},
        {"--ttl 3 cancel", "unknown option --ttl"},
        {"cancel now", "unexpected argument 'now'"},
        {"sessions shwo x", "'sessions' has no subcommand 'shwo'; did you mean 'show'?"},
        {"sessions frobnicate", "'sessions' has no subcommand 'frobnicate'"},
        {"sessions show", "missing argument NAME"},
        {"sessions show a b c", "unexpected argument 'c'"},
        {"config", "'config' requires a subcommand: init or shell"},
        {"config shell", "missing argument SHELL"},
        {"config shell bsh", "SHELL: expected bash or zsh, got 'bsh'; did you mean bash?"},
        {"prompt hi --", "no agent named; expected its command line after --"},
        {"prompt -- -v_is_broken",
         "no agent named; expected its command line after --, got -v is broken"},
        {"-v", "no command given"},
        {"--", "no command given"},
        {"-- npx agent", "no command given"},
        {"--approve-all --deny-all claude hi",
         "--approve-all and --deny-all cannot be used together"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct line l;
        read_line(&l, &test_program, cases[i].line);
        CHECK_ROW(l.err == ACP_ERR_ARGUMENT, i, "%s", cases[i].line);
        CHECK_ROW(strcmp(l.error.message, cases[i].message) == 0, i, "%s: %s", cases[i].line,
                  l.error.message);
        invocation_finish(&l.invocation);
    }
}

static void test_help_and_version_anywhere(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const struct command *command;
    } cases[] = {
        {"--help", NULL},
        {"-h", NULL},
        {"prompt --help", &test_prompt},
        {"--help prompt", &test_prompt},
        {"claude -h", &test_prompt},
        {"claude cancel -h", &test_cancel},
        {"config --help", &test_config},
        {"config shell --help", &test_shell},
        {"sessions show -h", &test_show},
    };
    struct line l;
    for (size_t i = 0; i < COUNT(cases); i++) {
        read_line(&l, &test_program, cases[i].line);
        CHECK_ROW(l.err == 0, i, "%s: %s", cases[i].line, l.error.message);
        CHECK_ROW(l.invocation.help && l.invocation.command == cases[i].command, i, "%s",
                  cases[i].line);
        invocation_finish(&l.invocation);
    }
    read_line(&l, &test_program, "--version");
    assert_true(l.err == 0 && l.invocation.version && !l.invocation.help);
    invocation_finish(&l.invocation);
    read_line(&l, &test_program, "--format json -V prompt");
    assert_true(l.err == 0 && l.invocation.version);
    invocation_finish(&l.invocation);
}

static void test_a_program_without_agents(void **state)
{
    (void) state;
    struct program plain = test_program;
    plain.default_command = NULL;
    plain.agent_names = NULL;
    struct line l;
    read_line(&l, &plain, "claude hi");
    assert_int_equal(l.err, ACP_ERR_ARGUMENT);
    assert_string_equal(l.error.message, "no such command 'claude'");
    invocation_finish(&l.invocation);
    read_line(&l, &plain, "prompt claude hi");
    assert_int_equal(l.err, 0);
    assert_null(l.invocation.agent);
    assert_int_equal(l.invocation.argument_count, 2);
    invocation_finish(&l.invocation);
}

/* The first pass skips values by the rows of all commands, so these must agree. */
static void test_shared_tables_agree_on_names(void **state)
{
    (void) state;
    const struct option_group *groups = test_prompt_groups;
    for (const struct option_group *g = groups; g->options; g++)
        for (const struct option *row = g->options; row->name; row++) {
            size_t same = 0;
            for (const struct option_group *h = groups; h->options; h++)
                for (const struct option *other = h->options; other->name; other++)
                    same += strcmp(row->name, other->name) == 0 ||
                            (other->alias && strcmp(row->name, other->alias) == 0) ||
                            (row->letter && row->letter == other->letter && row != other);
            if (same != 1)
                print_error("--%s is there %zu times\n", row->name, same);
            assert_int_equal(same, 1);
            assert_true(row->help && (row->argument != NULL) == option_takes_value(row));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meanings),
        cmocka_unit_test(test_options_before_the_command_are_its_own),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_help_and_version_anywhere),
        cmocka_unit_test(test_a_program_without_agents),
        cmocka_unit_test(test_shared_tables_agree_on_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
