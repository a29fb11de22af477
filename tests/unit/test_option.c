/* Options by their table: every spelling, every kind of value, what is said about wrong ones. */
#include "helpers.h"

#include "cli/option.h"

/* A table that stands inside of another command's struct. */
struct shared {
    const char *place;
};

struct values {
    bool all;
    bool brief;
    enum option_toggle color;
    int format;
    const char *name;
    const char *list;
    struct option_number count;
    struct option_number size;
    struct option_number wait;
    struct option_list set;
    struct option_list files;
    int level;
    struct shared shared;
};

static const char *const formats[] = {"text", "json", "quiet", NULL};

#define AT(member) .offset = offsetof(struct values, member)

static const struct option rows[] = {
    {.name = "all", .letter = 'a', .kind = OPTION_SWITCH, AT(all)},
    {.name = "brief", .letter = 'b', .kind = OPTION_SWITCH, AT(brief)},
    {.name = "color", .alias = "colour", .kind = OPTION_TOGGLE, AT(color)},
    {.name = "format",
     .argument = "FORMAT",
     .kind = OPTION_CHOICE,
     .choices = formats,
     .exclusive = "format",
     AT(format)},
    {.name = "json", .kind = OPTION_PICK, .value = 2, .exclusive = "format", AT(format)},
    {.name = "name", .letter = 'n', .argument = "NAME", .kind = OPTION_TEXT, AT(name)},
    {.name = "list", .argument = "LIST", .kind = OPTION_TEXT, .may_be_empty = true, AT(list)},
    {.name = "count", .letter = 'c', .argument = "N", .kind = OPTION_NUMBER, .min = 1, AT(count)},
    {.name = "size", .argument = "N", .kind = OPTION_NUMBER, .max = 99, AT(size)},
    {.name = "wait",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .min = 1,
     .max = 60000,
     AT(wait)},
    {.name = "set", .argument = "KEY=VALUE", .kind = OPTION_PAIR, .repeated = true, AT(set)},
    {.name = "file", .argument = "FILE", .kind = OPTION_FILE, .repeated = true, AT(files)},
    {.name = "high", .kind = OPTION_PICK, .value = 1, .exclusive = "level", AT(level)},
    {.name = "low", .kind = OPTION_PICK, .value = 2, .exclusive = "level", AT(level)},
    {.name = "secret", .kind = OPTION_SWITCH, .hidden = true, AT(all)},
    {.name = "help", .letter = 'h', .kind = OPTION_HELP},
    {0},
};

#undef AT

static const struct option shared_rows[] = {
    {.name = "place",
     .letter = 'p',
     .argument = "DIR",
     .kind = OPTION_DIRECTORY,
     .offset = offsetof(struct shared, place)},
    {0},
};

static const struct option_group groups[] = {
    {rows, 0},
    {shared_rows, offsetof(struct values, shared)},
    {0},
};

/* One parse of words that blanks separate. */
struct parse {
    char text[400];
    const char *words[64];
    size_t count;
    struct acp_arena arena;
    struct values values;
    struct option_result result;
    struct usage_error error;
    int err;
};

static void parse(struct parse *p, const char *line)
{
    memset(p, 0, sizeof(*p));
    assert_true(strlen(line) < sizeof(p->text));
    memcpy(p->text, line, strlen(line));
    for (char *at = p->text; *at;) {
        size_t n = strcspn(at, " ");
        bool last = at[n] == '\0';
        at[n] = '\0';
        p->words[p->count++] = at;
        at += n + !last;
    }
    acp_arena_init(&p->arena, 0);
    p->err =
        options_parse(groups, p->words, p->count, &p->arena, &p->values, &p->result, &p->error);
}

static void check_good(struct parse *p, const char *line)
{
    parse(p, line);
    if (p->err)
        print_error("%s: %s\n", line, p->error.message);
    assert_int_equal(p->err, 0);
}

static void done(struct parse *p)
{
    acp_arena_finish(&p->arena);
}

static void test_nothing_given_is_zero(void **state)
{
    (void) state;
    static const struct values zero;
    struct parse p;
    check_good(&p, "");
    assert_memory_equal(&p.values, &zero, sizeof(zero));
    assert_int_equal(p.result.argument_count, 0);
    assert_null(p.result.arguments[0]);
    assert_null(p.result.after);
    done(&p);
}

static void test_spellings_of_a_value(void **state)
{
    (void) state;
    static const char *const lines[] = {"--name x", "--name=x", "-n x", "-nx", "-abnx", "-abn x"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct parse p;
        check_good(&p, lines[i]);
        assert_string_equal(p.values.name, "x");
        assert_int_equal(p.values.all, i >= 4);
        assert_int_equal(p.values.brief, i >= 4);
        assert_int_equal(p.result.argument_count, 0);
        done(&p);
    }
}

static void test_arguments_stand_anywhere(void **state)
{
    (void) state;
    struct parse p;
    check_good(&p, "one --all two -n x - three -- --brief -- four");
    assert_true(p.values.all);
    assert_false(p.values.brief);
    assert_int_equal(p.result.argument_count, 4);
    assert_string_equal(p.result.arguments[2], "-");
    assert_string_equal(p.result.arguments[3], "three");
    assert_null(p.result.arguments[4]);
    assert_int_equal(p.result.after_count, 3);
    assert_string_equal(p.result.after[0], "--brief");
    assert_string_equal(p.result.after[1], "--");
    assert_null(p.result.after[3]);
    done(&p);
}

static void test_every_kind_of_target(void **state)
{
    (void) state;
    struct parse p;
    check_good(&p,
               "--color --format json --count 7 --size 0 --wait 2.5 --low --place /tmp --list=");
    assert_int_equal(p.values.color, OPTION_ON);
    assert_int_equal(p.values.format, 2);
    assert_true(p.values.count.given && p.values.count.value == 7);
    assert_true(p.values.size.given && p.values.size.value == 0);
    assert_true(p.values.wait.given && p.values.wait.value == 2500);
    assert_int_equal(p.values.level, 2);
    assert_string_equal(p.values.shared.place, "/tmp");
    assert_string_equal(p.values.list, "");
    assert_int_equal(p.result.given_count, 8);
    done(&p);
    check_good(&p, "--color --no-color");
    assert_int_equal(p.values.color, OPTION_OFF);
    done(&p);
    check_good(&p, "--no-colour");
    assert_int_equal(p.values.color, OPTION_OFF);
    done(&p);
}

static void test_the_last_value_counts_unless_all_do(void **state)
{
    (void) state;
    struct parse p;
    check_good(&p, "--name a --set a=1 --file x --name b --set b= --file y --set c==2 --name=c");
    assert_string_equal(p.values.name, "c");
    assert_int_equal(p.values.set.count, 3);
    assert_string_equal(p.values.set.items[0], "a=1");
    assert_string_equal(p.values.set.items[1], "b=");
    assert_string_equal(p.values.set.items[2], "c==2");
    assert_int_equal(p.values.files.count, 2);
    assert_string_equal(p.values.files.items[1], "y");
    assert_int_equal(p.result.given_count, 3);
    done(&p);
}

static void test_durations(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {{"30", 30000},    {"0.001", 1},   {".5", 500},       {"1.0009", 1001},
                {"1.0000", 1000}, {"00.25", 250}, {"60.000", 60000}, {"0.0001", 1},
                {"5m", 300000},   {"250ms", 250}, {"1.5h", 5400000}, {"2d", 172800000}};
    static const char *const bad[] = {"",
                                      ".",
                                      "1.",
                                      "-1",
                                      "+1",
                                      "1e3",
                                      "1 s",
                                      "1x",
                                      "m",
                                      "0x1",
                                      "1.2.3",
                                      "inf",
                                      "99999999999999999999",
                                      "18446744073709551"};
    for (size_t i = 0; i < COUNT(good); i++) {
        struct usage_error error;
        uint64_t ms = 0;
        struct option row = {.kind = OPTION_DURATION};
        assert_int_equal(option_read(&row, "--wait", good[i].text, &ms, &error), 0);
        assert_true(ms == good[i].ms);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct usage_error error;
        uint64_t ms = 77;
        struct option row = {.kind = OPTION_DURATION};
        CHECK_ROW(option_read(&row, "--wait", bad[i], &ms, &error) == ACP_ERR_ARGUMENT, i, "%s",
                  bad[i]);
        assert_true(ms == 77);
    }
}

static void test_numbers_at_their_edges(void **state)
{
    (void) state;
    struct option row = {.kind = OPTION_NUMBER};
    struct usage_error error;
    uint64_t n = 0;
    assert_int_equal(option_read(&row, "N", "18446744073709551615", &n, &error), 0);
    assert_true(n == UINT64_MAX);
    assert_int_equal(option_read(&row, "N", "18446744073709551616", &n, &error), ACP_ERR_ARGUMENT);
    assert_int_equal(option_read(&row, "N", "007", &n, &error), 0);
    assert_true(n == 7);
}

/* The whole sentence: it is what people see. */
static void test_refusals(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"--fromat json", "unknown option --fromat; did you mean --format?"},
        {"--brif", "unknown option --brif; did you mean --brief?"},
        {"--verbose", "unknown option --verbose"},
        {"--secre", "unknown option --secre"},
        {"-x", "unknown option -x"},
        {"-abx", "unknown option -x"},
        {"--", ""},
        {"--name", "--name requires a value: NAME"},
        {"-n", "-n requires a value: NAME"},
        {"--name --all",
         "--name requires a value, but --all is an option; if it is the value, use --name=--all"},
        {"-n -a", "-n requires a value, but -a is an option; if it is the value, use --name=-a"},
        {"--name --",
         "--name requires a value, but -- is an option; if it is the value, use --name=--"},
        {"--name=", "--name must not be empty"},
        {"--all=yes", "--all takes no value, got 'yes'"},
        {"--no-all", "unknown option --no-all"},
        {"--format jsno", "--format: expected text, json or quiet, got 'jsno'; did you mean json?"},
        {"--format xml", "--format: expected text, json or quiet, got 'xml'"},
        {"--count 0", "--count: expected a number of at least 1, got '0'"},
        {"-c -1", "-c: expected a number of at least 1, got '-1'"},
        {"--size 100", "--size: expected a number from 0 to 99, got '100'"},
        {"--wait soon", "--wait: expected a duration, such as 30, 2.5 or 5m, got 'soon'"},
        {"--wait 0", "--wait: expected a longer duration, got '0'"},
        {"--wait 61", "--wait: expected a shorter duration, got '61'"},
        {"--set x", "--set: expected KEY=VALUE, got 'x'"},
        {"--set =x", "--set: expected KEY=VALUE, got '=x'"},
        {"--high --low", "--high and --low cannot be used together"},
        {"--json --format text", "--json and --format cannot be used together"},
        {"--name a\033[2Jb --bad\033", "unknown option --bad\\x1b"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct parse p;
        parse(&p, cases[i].line);
        if (*cases[i].message) {
            CHECK_ROW(p.err == ACP_ERR_ARGUMENT, i, "%s", cases[i].line);
            assert_string_equal(p.error.message, cases[i].message);
        } else {
            CHECK_ROW(p.err == 0, i, "%s", cases[i].line);
        }
        done(&p);
    }
}

/* What only looks like an option is a value. */
static void test_values_that_begin_with_a_dash(void **state)
{
    (void) state;
    struct parse p;
    check_good(&p, "--name -x --name=--all --file - --file -v");
    assert_string_equal(p.values.name, "--all");
    assert_string_equal(p.values.files.items[0], "-");
    assert_string_equal(p.values.files.items[1], "-v");
    assert_false(p.values.all);
    done(&p);
}

static void test_the_same_twice_is_no_contradiction(void **state)
{
    (void) state;
    struct parse p;
    check_good(&p, "--high --high --format text --format json");
    assert_int_equal(p.values.level, 1);
    assert_int_equal(p.values.format, 2);
    done(&p);
}

static void test_help_ends_the_parse(void **state)
{
    (void) state;
    static const char *const lines[] = {"--help --nonsense", "-h --nonsense", "-ah --nonsense",
                                        "-ahx"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct parse p;
        check_good(&p, lines[i]);
        assert_true(p.result.help);
        assert_false(p.result.version);
        done(&p);
    }
}

static void test_many_values_and_options_in_one_word(void **state)
{
    (void) state;
    enum { MANY = 5000 };
    static const char *words[2 * MANY + 1];
    struct acp_arena arena;
    struct values values = {0};
    struct option_result result;
    struct usage_error error;
    struct parse p;
    for (size_t i = 0; i < MANY; i++) {
        words[2 * i] = i % 2 ? "--set" : "--file";
        words[2 * i + 1] = "a=b";
    }
    acp_arena_init(&arena, 0);
    assert_int_equal(
        options_parse(groups, words, COUNT(words) - 1, &arena, &values, &result, &error), 0);
    assert_int_equal(values.set.count, MANY / 2);
    assert_int_equal(values.files.count, MANY / 2);
    assert_int_equal(result.given_count, 2);
    acp_arena_finish(&arena);
    check_good(&p, "-abba");
    assert_int_equal(p.result.given_count, 2);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_given_is_zero),
        cmocka_unit_test(test_spellings_of_a_value),
        cmocka_unit_test(test_arguments_stand_anywhere),
        cmocka_unit_test(test_every_kind_of_target),
        cmocka_unit_test(test_the_last_value_counts_unless_all_do),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_numbers_at_their_edges),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_values_that_begin_with_a_dash),
        cmocka_unit_test(test_the_same_twice_is_no_contradiction),
        cmocka_unit_test(test_help_ends_the_parse),
        cmocka_unit_test(test_many_values_and_options_in_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
