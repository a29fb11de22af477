/*
 * bench_pattern.c - the regular expressions of JSON Schemas, ours and PCRE2's.
 *
 *     bench_pattern [-v] [FILE]
 *
 * FILE has a pattern per line; without it, a list of patterns from public schemas is used.  -v
 * prints the patterns that ours refuses, with the reason.  Counts
 * the patterns that each accepts, and where both accept, compares results and times of a compile
 * and of a search.  Then a pattern that makes a backtracking matcher exponential.
 *
 * Fails when the two disagree about a match, or when ours takes more than linear time.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/base.h"
#include "bench.h"
#include "schema/regex.h"

enum { MAX_PATTERNS = 10000, ROUNDS = 20 };

static const char *const samples[] = {
    "^[a-zA-Z0-9_-]{1,64}$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$",
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
    "^https?://",
    "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
    "^\\S+$",
    "^(?!-)[a-z-]+$",
    "^\\p{L}+$",
    "^[A-Z][A-Za-z0-9]*$",
};

static const char *const subjects[] = {
    "a",
    "read_file",
    "2026-11-19",
    "1.20.300",
    "0189f7d5-3f3a-4c11-8a2b-3f3a4c118a2b",
    "someone@example.com",
    "https://example.com/path?query=1#fragment",
    "arn:aws:iam::123456789012:role/service-role/SomeRoleName",
    "#ffcc00",
    "a sentence of several words, with punctuation and a number: 42",
    "gr\xc3\xbc\xc3\x9f dich, \xe4\xb8\x96\xe7\x95\x8c",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

static char *patterns[MAX_PATTERNS];
static size_t pattern_count;
static bool verbose;

struct totals {
    size_t ours, theirs, both, differ;
    double our_compile, their_compile, jit_compile; /* ns */
    double our_search, their_search, jit_search;
    size_t our_bytes, their_bytes, jit_bytes;
};

static pcre2_code *compile(const char *pattern)
{
    int error;
    PCRE2_SIZE offset;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR) pattern, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX |
                                         PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS,
                                     &error, &offset, context);
    pcre2_compile_context_free(context);
    return code;
}

static double search_theirs(pcre2_code *code, pcre2_match_data *data, int results[SUBJECTS])
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = bench_now();
        for (size_t i = 0; i < SUBJECTS; i++)
            results[i] = pcre2_match(code, (PCRE2_SPTR) subjects[i], strlen(subjects[i]), 0, 0,
                                     data, NULL) >= 0;
        double ns = (double) (bench_now() - begin) / SUBJECTS;
        best = round == 0 || ns < best ? ns : best;
    }
    return best;
}

static double search_ours(const struct schema_regex *regex, struct schema_regex_scratch *scratch,
                          int results[SUBJECTS])
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = bench_now();
        for (size_t i = 0; i < SUBJECTS; i++) {
            uint64_t left = UINT64_MAX;
            results[i] = schema_regex_search(regex, acp_str_from(subjects[i]), scratch, &left) == 1;
        }
        double ns = (double) (bench_now() - begin) / SUBJECTS;
        best = round == 0 || ns < best ? ns : best;
    }
    return best;
}

static void compare(const char *pattern, const struct schema_regex *regex, pcre2_code *code,
                    struct totals *t)
{
    struct schema_regex_scratch scratch;
    int ours[SUBJECTS];
    int theirs[SUBJECTS];
    size_t size = 0;
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    schema_regex_scratch_init(&scratch);
    t->both++;
    t->our_search += search_ours(regex, &scratch, ours);
    t->their_search += search_theirs(code, data, theirs);
    (void) pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    t->their_bytes += size;
    uint64_t begin = bench_now();
    (void) pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    t->jit_compile += (double) (bench_now() - begin);
    (void) pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &size);
    t->jit_bytes += size;
    t->jit_search += search_theirs(code, data, theirs);
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (ours[i] == theirs[i])
            continue;
        t->differ++;
        printf("differ: %s on '%s': ours %d, PCRE2 %d\n", pattern, subjects[i], ours[i], theirs[i]);
    }
    schema_regex_scratch_finish(&scratch);
    pcre2_match_data_free(data);
}

static void try_pattern(const char *pattern, struct totals *t)
{
    struct acp_arena arena;
    struct acp_failure failure = {0};
    struct schema_regex *regex = NULL;
    acp_arena_init(&arena, 0);
    uint64_t begin = bench_now();
    int err = schema_regex_compile(acp_str_from(pattern), &arena, &regex, &failure);
    uint64_t middle = bench_now();
    pcre2_code *code = compile(pattern);
    uint64_t end = bench_now();
    t->ours += !err;
    if (err && verbose)
        printf("refused: %s: %s\n", pattern, failure.message);
    t->theirs += code != NULL;
    if (!err && code) {
        t->our_compile += (double) (middle - begin);
        t->their_compile += (double) (end - middle);
        compare(pattern, regex, code, t);
    }
    pcre2_code_free(code);
    acp_arena_finish(&arena);
}

/* Time of one search for (a+)+$ in n letters and another one. */
static double worst(size_t n, bool ours, int *ret_result)
{
    static char text[100001];
    struct acp_arena arena;
    struct schema_regex *regex = NULL;
    struct schema_regex_scratch scratch;
    uint64_t left = UINT64_MAX;
    memset(text, 'a', n);
    text[n] = '!';
    acp_arena_init(&arena, 0);
    schema_regex_scratch_init(&scratch);
    pcre2_code *code = compile("^(a+)+$");
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    if (schema_regex_compile(acp_str_from("^(a+)+$"), &arena, &regex, NULL))
        abort();
    uint64_t begin = bench_now();
    *ret_result = ours ? schema_regex_search(regex, acp_str_n(text, n + 1), &scratch, &left)
                       : pcre2_match(code, (PCRE2_SPTR) text, n + 1, 0, 0, data, NULL);
    double ms = (double) (bench_now() - begin) / 1e6;
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    schema_regex_scratch_finish(&scratch);
    acp_arena_finish(&arena);
    return ms;
}

static void read_patterns(const char *name)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    FILE *file = fopen(name, "re");
    if (!file) {
        perror(name);
        exit(2);
    }
    while (pattern_count < MAX_PATTERNS && (n = getline(&line, &size, file)) >= 0) {
        if (n && line[n - 1] == '\n')
            line[n - 1] = '\0';
        patterns[pattern_count++] = strdup(line);
    }
    free(line);
    (void) fclose(file);
}

int main(int argc, char **argv)
{
    struct totals t = {0};
    int result = 0;
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    argc -= verbose;
    argv += verbose;
    if (argc > 1)
        read_patterns(argv[1]);
    for (size_t i = 0; argc < 2 && i < sizeof(samples) / sizeof(samples[0]); i++)
        patterns[pattern_count++] = strdup(samples[i]);
    for (size_t i = 0; i < pattern_count; i++)
        try_pattern(patterns[i], &t);
    double n = t.both ? (double) t.both : 1;
    printf("patterns: %zu; accepted by ours %zu, by PCRE2 %zu, by both %zu; results that differ: "
           "%zu\n",
           pattern_count, t.ours, t.theirs, t.both, t.differ);
    printf("%-28s %12s %12s %12s\n", "", "ours", "PCRE2", "with JIT");
    printf("%-28s %9.0f ns %9.0f ns %9.0f ns\n", "compile", t.our_compile / n, t.their_compile / n,
           (t.their_compile + t.jit_compile) / n);
    printf("%-28s %9.0f ns %9.0f ns %9.0f ns\n", "search", t.our_search / n, t.their_search / n,
           t.jit_search / n);
    printf("%-28s %12s %9.0f B  %9.0f B\n", "compiled pattern", "", (double) t.their_bytes / n,
           (double) (t.their_bytes + t.jit_bytes) / n);
    for (size_t length = 20; length <= 28; length += 4) {
        double ours = worst(length, true, &result);
        double theirs = worst(length, false, &result);
        printf("^(a+)+$ on %zu letters and '!': ours %.3f ms, PCRE2 %.3f ms (%s)\n", length, ours,
               theirs, result == PCRE2_ERROR_MATCHLIMIT ? "match limit reached" : "no match");
    }
    double small = worst(10000, true, &result);
    double large = worst(100000, true, &result);
    printf("^(a+)+$ on 10,000 and 100,000 letters: ours %.3f ms, %.3f ms\n", small, large);
    for (size_t i = 0; i < pattern_count; i++)
        free(patterns[i]);
    return t.differ || large > 30 * small ? 1 : 0;
}
