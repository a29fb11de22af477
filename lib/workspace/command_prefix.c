/*
 * What "always" covers of a command: besides the exact line, for some commands their program and
 * subcommand with other arguments.
 *
 * The table has commands that only read the repository, and those that build and test the project
 * in its own folder.  Whatever is not in the table, or not one plain command, is covered by its
 * exact line alone.  The arguments of a covered command are looked at each time: a grant for
 * "git log" is not one for `git log --output=FILE`.
 */
#include "workspace/policy_match.h"

enum { MAX_WORDS = 3, MAX_OPTIONS = 10 };

enum arguments {
    ANY_BUT,  /* options other than those listed; all words inside the folder */
    ONLY_THE, /* only the listed options, no assignments; all words inside the folder */
};

static const struct family {
    const char *words[MAX_WORDS];
    enum arguments arguments;
    const char *options[MAX_OPTIONS];
} families[] = {
    {{"git", "status"}, ANY_BUT, {NULL}},
    {{"git", "log"}, ANY_BUT, {"--output", "--ext-diff", "--textconv"}},
    {{"git", "diff"}, ANY_BUT, {"--output", "--ext-diff", "--textconv", "--no-index"}},
    {{"git", "show"}, ANY_BUT, {"--output", "--ext-diff", "--textconv"}},
    {{"git", "blame"}, ANY_BUT, {"--contents", "--textconv"}},
    {{"git", "describe"}, ANY_BUT, {NULL}},
    {{"git", "ls-files"}, ANY_BUT, {NULL}},
    {{"ls"}, ANY_BUT, {NULL}},
    {{"cargo", "build"}, ONLY_THE, {"--release", "--all-targets", "--workspace", "-q", "-v"}},
    {{"cargo", "check"}, ONLY_THE, {"--release", "--all-targets", "--workspace", "-q", "-v"}},
    {{"cargo", "clippy"}, ONLY_THE, {"--release", "--all-targets", "--workspace", "-q", "-v"}},
    {{"cargo", "test"}, ONLY_THE, {"--", "--release", "--workspace", "-q", "-v", "--nocapture"}},
    {{"go", "build"}, ONLY_THE, {"-v", "-race"}},
    {{"go", "test"}, ONLY_THE, {"-v", "-race", "-short", "-run", "-count", "-cover"}},
    {{"go", "vet"}, ONLY_THE, {"-v"}},
    {{"npm", "test"}, ONLY_THE, {"--"}},
    {{"npm", "run", "build"}, ONLY_THE, {"--"}},
    {{"npm", "run", "lint"}, ONLY_THE, {"--"}},
    {{"npm", "run", "test"}, ONLY_THE, {"--"}},
    {{"pytest"}, ONLY_THE, {"-q", "-v", "-vv", "-x", "-s"}},
};

/* ---- The command ----------------------------------------------------------------------------- */

static size_t word_count(const struct family *family)
{
    size_t count = 0;
    while (count < MAX_WORDS && family->words[count])
        count++;
    return count;
}

static const struct family *find_family(struct acp_str_list words)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        size_t count = word_count(&families[i]);
        size_t same = 0;
        while (same < count && same < words.count &&
               acp_str_is(words.items[same], families[i].words[same]))
            same++;
        if (same == count)
            return &families[i];
    }
    return NULL;
}

static bool leads_out(struct acp_str word)
{
    return word.len && (word.ptr[0] == '/' || acp_command_word_climbs(word));
}

static struct acp_str skip(struct acp_str word, size_t n)
{
    return acp_str_n(word.ptr + n, word.len - n);
}

/* An option can have a path behind its equals sign, or behind its letter. */
static bool is_inside(struct acp_str word)
{
    const char *equals = word.len ? memchr(word.ptr, '=', word.len) : NULL;
    bool letter = word.len > 2 && word.ptr[0] == '-' && word.ptr[1] != '-';
    return !leads_out(word) && !(letter && leads_out(skip(word, 2))) &&
           !(equals && leads_out(skip(word, (size_t) (equals - word.ptr) + 1)));
}

/* Programs take the beginning of a long option for the option. */
static bool abbreviates(struct acp_str word, const char *option)
{
    enum { SHORTEST = 3 };
    const char *equals = memchr(word.ptr, '=', word.len);
    size_t n = equals ? (size_t) (equals - word.ptr) : word.len;
    return n >= SHORTEST && n <= strlen(option) && memcmp(word.ptr, option, n) == 0;
}

static bool is_harmless(const struct family *family, struct acp_str word)
{
    if (!is_inside(word))
        return false;
    bool option = word.len && word.ptr[0] == '-';
    if (family->arguments == ONLY_THE && !option)
        return !memchr(word.ptr, '=', word.len);
    for (size_t i = 0; option && i < MAX_OPTIONS && family->options[i]; i++)
        if (family->arguments == ONLY_THE ? acp_str_is(word, family->options[i])
                                          : abbreviates(word, family->options[i]))
            return family->arguments == ONLY_THE;
    return family->arguments == ANY_BUT;
}

/* The family of a plain command whose arguments are harmless, or NULL. */
static const struct family *family_of(struct acp_str command)
{
    struct acp_arena arena;
    struct acp_str_list words;
    const struct family *family = NULL;
    acp_arena_init(&arena, 0);
    if (acp_command_words(command, &arena, &words) == 0)
        family = find_family(words);
    for (size_t i = family ? word_count(family) : 0; family && i < words.count; i++)
        if (!is_harmless(family, words.items[i]))
            family = NULL;
    acp_arena_finish(&arena);
    return family;
}

/* ---- The pattern ----------------------------------------------------------------------------- */

int acp_command_prefix(struct acp_str command, struct acp_buf *out)
{
    const struct family *family = family_of(command);
    int err = family ? 0 : ACP_ERR_MISSING;
    for (size_t i = 0; !err && i < word_count(family); i++)
        err = acp_buf_printf(out, "%s ", family->words[i]);
    return err ? err : acp_buf_append(out, "*", 1);
}

/* Whether the pattern is the one that acp_command_prefix() writes for the family. */
static bool is_pattern_of(const struct family *family, struct acp_str pattern)
{
    struct acp_str rest = pattern;
    for (size_t i = 0; i < word_count(family); i++) {
        size_t n = strlen(family->words[i]);
        if (rest.len <= n || memcmp(rest.ptr, family->words[i], n) != 0 || rest.ptr[n] != ' ')
            return false;
        rest = acp_str_n(rest.ptr + n + 1, rest.len - n - 1);
    }
    return acp_str_is(rest, "*");
}

static const struct family *family_of_pattern(struct acp_str pattern)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (is_pattern_of(&families[i], pattern))
            return &families[i];
    return NULL;
}

bool acp_command_prefix_words(struct acp_str pattern, struct acp_str *ret_words)
{
    if (!family_of_pattern(pattern))
        return false;
    *ret_words = acp_str_n(pattern.ptr, pattern.len - 2);
    return true;
}

bool acp_command_is_covered(struct acp_str pattern, struct acp_str command)
{
    const struct family *family = family_of_pattern(pattern);
    return !family || family_of(command) == family;
}
