/* What may follow on a command line that is being typed. */
#include "helpers.h"

#include "cli/complete.h"
#include "test_program.h"

/* The answer without the meanings: "words: a b", with the kept part in parentheses. */
static void complete(const char *line, char *out, size_t size)
{
    char text[200];
    const char *words[20];
    size_t count = 0;
    assert_true(strlen(line) < sizeof(text));
    memcpy(text, line, strlen(line) + 1);
    for (char *at = text;; count++) {
        size_t n = strcspn(at, " ");
        bool last = at[n] == '\0';
        at[n] = '\0';
        words[count] = at;
        if (last)
            break;
        at += n + 1;
    }
    char answer[16384] = "";
    struct output printed;
    output_init_results(&printed, -1);
    assert_int_equal(complete_print(&printed, &test_program, words, count + 1), 0);
    assert_int_equal(printed.err, 0);
    assert_true(printed.pending.len < sizeof(answer));
    memcpy(answer, acp_buf_view(&printed.pending).ptr, printed.pending.len);
    output_finish(&printed);
    size_t used = 0;
    bool first = true;
    for (char *at = answer; *at;) {
        char *end = strchr(at, '\n');
        assert_non_null(end);
        *end = '\0';
        char *tab = strchr(at, '\t');
        assert_non_null(tab);
        *tab = '\0';
        used += (size_t) snprintf(out + used, size - used, first ? "%s(%s)" : " %s", at, tab + 1);
        first = false;
        at = end + 1;
    }
}

static void test_answers(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *answer;
    } cases[] = {
        {"", "words() prompt cancel sessions config claude codex gemini"},
        {"c", "words() cancel config claude codex"},
        {"se", "words() sessions"},
        {"claude ", "words() prompt cancel sessions"},
        {"claude c", "words() cancel"},
        {"claude sessions ", "words() list show"},
        {"sessions s", "words() show"},
        {"sessions show ", "words() backend frontend"},
        {"sessions show x ", "files()"},
        {"sessions show x y ", "words()"},
        {"sessions list ", "words()"},
        {"config shell ", "words() bash zsh"},
        {"config shell bash x ", "files()"},
        {"prompt c", "words() claude codex"},
        {"prompt claude c", "words()"},
        {"prompt --form", "words() --format"},
        {"prompt --format ", "words() text json quiet"},
        {"prompt --format j", "words() json"},
        {"prompt --format=j", "words(--format=) json"},
        {"prompt --file=x", "files(--file=)"},
        {"prompt --file ", "files()"},
        {"prompt -f", "words() --agent"},
        {"prompt --cwd ", "directories()"},
        {"prompt --model ", "words()"},
        {"prompt -s b", "words() backend"},
        {"prompt --verbose=x", "words(--verbose=)"},
        {"prompt -- ", "files()"},
        {"claude -- ", "words()"},
        {"cancel --h", "words() --help"},
        {"--format json --approve-", "words() --approve-all --approve-reads"},
        {"--format json can", "words() cancel"},
        {"--timeout 3 claude can", "words() cancel"},
        {"nonsense ", "words()"},
        {"--nonsense s", "words() sessions"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char answer[8192] = "";
        complete(cases[i].line, answer, sizeof(answer));
        /* All options follow a single dash: it is enough that the first one does. */
        size_t n = strcmp(cases[i].line, "prompt -f") == 0 ? strlen(cases[i].answer) : SIZE_MAX;
        CHECK_ROW(strncmp(answer, cases[i].answer, n) == 0, i, "%s: %s", cases[i].line, answer);
    }
}

static void test_every_option_is_offered(void **state)
{
    (void) state;
    char answer[8192];
    complete("prompt --", answer, sizeof(answer));
    for (const struct option_group *g = test_prompt_groups; g->options; g++)
        for (const struct option *row = g->options; row->name; row++) {
            char word[80];
            (void) snprintf(word, sizeof(word), " --%s", row->name);
            const char *at = strstr(answer, word);
            assert_non_null(at);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_every_option_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
