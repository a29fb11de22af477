/* grep.c - the lines of files that match a regular expression. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tools/file_search.h"
#include "schema/regex.h"

enum {
    DEFAULT_MATCHES = 200,
    MAX_FILE = 8 << 20,       /* larger files are skipped */
    MAX_LINE = 64 * 1024,     /* bytes of a line that are searched */
    SHOWN_LINE = 300,         /* and shown */
    LOOKED_FOR_NUL = 8 << 10, /* a file with a NUL in these bytes is binary */
    MAX_CONTEXT = 10,
};
/* For one line: some hundredths of a second. */
static const uint64_t line_work = UINT64_C(5) * 1000 * 1000;

struct grep {
    struct acp_str literal; /* absent: the pattern is a regular expression */
    struct schema_regex *regex;
    struct schema_regex_scratch scratch;
    struct acp_buf text;
    struct acp_buf folded; /* the same in lower case */
    bool fold;
    bool files_only;
    size_t context;
};

/* ---- Files ---------------------------------------------------------------------------------- */

/* Reads all of the file; false if it is not searched. */
static bool read_file(struct walk *walk, const struct walk_entry *entry, struct search *search)
{
    struct grep *grep = search->own;
    struct stat st;
    ssize_t n = 0;
    int fd = walk_open(walk, entry);
    acp_buf_clear(&grep->text);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (good && st.st_size > MAX_FILE) {
        search->too_large++;
        good = false;
    }
    good = good && acp_buf_reserve(&grep->text, (size_t) st.st_size + 1) == 0;
    /* It may grow meanwhile; what does not fit is ignored. */
    while (good && grep->text.len < grep->text.cap - grep->text.start) {
        char *end = grep->text.data + grep->text.start + grep->text.len;
        n = read(fd, end, grep->text.cap - grep->text.start - grep->text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        grep->text.len += (size_t) n;
    }
    (void) close(fd);
    struct acp_str head = acp_buf_view(&grep->text);
    head.len = head.len < LOOKED_FOR_NUL ? head.len : LOOKED_FOR_NUL;
    return good && n >= 0 && !memchr(head.ptr, '\0', head.len);
}

/* ASCII letters in lower case. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static bool fold_text(struct grep *grep)
{
    struct acp_str text = acp_buf_view(&grep->text);
    acp_buf_clear(&grep->folded);
    if (acp_buf_append_str(&grep->folded, text))
        return false;
    for (size_t i = 0; i < grep->folded.len; i++)
        grep->folded.data[grep->folded.start + i] = small(text.ptr[i]);
    return true;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static bool matches(struct search *search, struct acp_str line)
{
    struct grep *grep = search->own;
    uint64_t left = line_work;
    if (line.len > MAX_LINE)
        line.len = MAX_LINE;
    if (grep->literal.ptr)
        return memmem(line.ptr, line.len, grep->literal.ptr, grep->literal.len) != NULL;
    int found = schema_regex_search(grep->regex, line, &grep->scratch, &left);
    search->too_hard += found < 0;
    return found > 0;
}

static struct acp_str line_at(struct acp_str text, size_t at)
{
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    size_t n = end ? (size_t) (end - text.ptr) - at : text.len - at;
    if (n && text.ptr[at + n - 1] == '\r')
        n--;
    return acp_str_n(text.ptr + at, n);
}

static size_t next_line(struct acp_str text, size_t at)
{
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    return end ? (size_t) (end - text.ptr) + 1 : text.len;
}

static int tell_line(struct search *search, const char *path, uint64_t number, char sign,
                     struct acp_str line)
{
    char head[64];
    struct acp_str shown = acp_str_cut(line, SHOWN_LINE);
    (void) snprintf(head, sizeof(head), "%c%llu%c", sign, (unsigned long long) number, sign);
    return search_add(search, acp_str_from(path)) || search_add(search, acp_str_from(head)) ||
           search_add(search, shown) ||
           search_add(search, acp_str_from(shown.len < line.len ? " [...]\n" : "\n"));
}

/* The state of the search in a file. */
struct place {
    const char *path;
    struct acp_str text;        /* as it is */
    struct acp_str seen;        /* as it is compared */
    size_t before[MAX_CONTEXT]; /* where the last lines begin */
    uint64_t number;            /* of the line, from 1 */
    uint64_t told;              /* the last line that was printed */
    uint64_t tell_until;        /* lines up to this one follow a match */
};

static int tell_match(struct search *search, struct place *p, size_t at, size_t context)
{
    uint64_t first = p->number > context ? p->number - context : 1;
    if (search->found == search->most)
        return 1;
    search->found++;
    if (first <= p->told)
        first = p->told + 1;
    if (context && p->told && first > p->told + 1 && search_add(search, acp_str_from("--\n")))
        return 1;
    for (uint64_t n = first; n < p->number; n++)
        if (tell_line(search, p->path, n, '-', line_at(p->text, p->before[n % MAX_CONTEXT])))
            return 1;
    p->told = p->number;
    p->tell_until = p->number + context;
    return tell_line(search, p->path, p->number, ':', line_at(p->text, at));
}

static int search_lines(struct walk *walk, struct search *search, struct place *p)
{
    struct grep *grep = search->own;
    for (size_t at = 0; at < p->seen.len; at = next_line(p->seen, at)) {
        p->number++;
        if (p->number % 32 == 0 && walk_is_over(walk))
            return 0; /* the walk says why it ends */
        if (matches(search, line_at(p->seen, at))) {
            if (grep->files_only)
                return search_add_line(search, p->path, "\n");
            if (tell_match(search, p, at, grep->context))
                return 1;
        } else if (p->number <= p->tell_until) {
            p->told = p->number;
            if (tell_line(search, p->path, p->number, '-', line_at(p->text, at)))
                return 1;
        }
        p->before[p->number % MAX_CONTEXT] = at;
    }
    return 0;
}

static int grep_entry(struct walk *walk, const struct walk_entry *entry, void *user)
{
    struct search *search = user;
    struct grep *grep = search->own;
    if (entry->kind != WALK_FILE ||
        (search->pattern.count && !pattern_matches(&search->pattern, acp_str_from(entry->within))))
        return 0;
    if (!read_file(walk, entry, search) || (grep->fold && !fold_text(grep)))
        return 0;
    struct place place = {.path = search_path(search, entry->path),
                          .text = acp_buf_view(&grep->text),
                          .seen = acp_buf_view(grep->fold ? &grep->folded : &grep->text)};
    /* Most files have no match, which one pass finds out. */
    if (grep->literal.ptr &&
        !memmem(place.seen.ptr, place.seen.len, grep->literal.ptr, grep->literal.len))
        return 0;
    return search_lines(walk, search, &place);
}

/* ---- Preparing ------------------------------------------------------------------------------ */

static void drop_grep(struct search *search)
{
    struct grep *grep = search->own;
    if (!grep)
        return;
    schema_regex_scratch_finish(&grep->scratch);
    acp_buf_finish(&grep->text);
    acp_buf_finish(&grep->folded);
}

/* Lower case, except after a backslash in an expression: \W is not \w. */
static struct acp_str fold_pattern(struct acp_arena *arena, struct acp_str pattern, bool literal)
{
    char *out = acp_arena_alloc(arena, pattern.len + 1);
    if (!out)
        return acp_str_from(NULL);
    for (size_t i = 0; i < pattern.len; i++) {
        out[i] = small(pattern.ptr[i]);
        if (!literal && pattern.ptr[i] == '\\' && i + 1 < pattern.len) {
            i++;
            out[i] = pattern.ptr[i];
        }
    }
    return acp_str_n(out, pattern.len);
}

static bool is_literal(struct acp_str pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if (memchr("\\^$.|?*+()[]{}", pattern.ptr[i], 14))
            return false;
    return true;
}

static int read_expression(struct tool_run *run, struct search *search, struct grep *grep)
{
    struct acp_str text = {NULL, 0};
    struct acp_failure failure;
    bool literal = false;
    tool_get_str(run, "pattern", &text);
    tool_get_bool(run, "literal", &literal);
    literal = literal || is_literal(text);
    if (memchr(text.ptr, '\n', text.len)) {
        tool_printf(run, "The pattern contains a line end, but lines are searched one at a time.");
        return ACP_ERR_RANGE;
    }
    text = acp_arena_copy(&search->arena, text);
    if (text.ptr && grep->fold)
        text = fold_pattern(&search->arena, text, literal);
    if (!text.ptr) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    if (literal) {
        grep->literal = text;
        return 0;
    }
    int err = schema_regex_compile(text, &search->arena, &grep->regex, &failure);
    if (err)
        tool_printf(
            run,
            "The pattern is not a valid regular expression: %s (at byte %zu). Set \"literal\" to "
            "search for the text itself.",
            failure.message, failure.offset);
    return err;
}

static int prepare(struct tool_run *run)
{
    struct search *search;
    int err = search_prepare(run, "Search in", grep_entry, sizeof(struct grep), &search);
    if (err)
        return err;
    struct grep *grep = search->own;
    uint64_t context = 0;
    uint64_t most = DEFAULT_MATCHES;
    search->drop = drop_grep;
    schema_regex_scratch_init(&grep->scratch);
    acp_buf_init(&grep->text, MAX_FILE + 4096);
    acp_buf_init(&grep->folded, MAX_FILE + 4096);
    tool_get_bool(run, "ignore_case", &grep->fold);
    tool_get_bool(run, "files_only", &grep->files_only);
    tool_get_bool(run, "all", &search->options.with_ignored);
    tool_get_u64(run, "context", &context);
    tool_get_u64(run, "limit", &most);
    grep->context = (size_t) context;
    search->most = (size_t) most;
    search->nothing = "[No line matches.]";
    err = search_read_pattern(run, "files", search);
    return err ? err : read_expression(run, search, grep);
}

const struct tool tool_for_grep = {
    .info =
        {.name = "grep",
         .title = "Search in files",
         .description =
             "Searches the lines of text files for a regular expression (as in JavaScript, "
             "without lookaround and backreferences). Returns \"path:line:text\". Files that "
             ".gitignore lists and binary files are left out.",
         .input_schema =
             "{\"type\":\"object\",\"properties\":{"
             "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000},"
             "\"path\":{\"type\":\"string\",\"description\":\"a file or folder; default: the "
             "working directory\"},"
             "\"files\":{\"type\":\"string\",\"description\":\"only files that match this pattern: "
             "*.{ts,tsx}\"},"
             "\"literal\":{\"type\":\"boolean\",\"description\":\"the pattern is plain text\"},"
             "\"ignore_case\":{\"type\":\"boolean\"},"
             "\"files_only\":{\"type\":\"boolean\",\"description\":\"names of files only\"},"
             "\"context\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9,"
             "\"description\":\"lines before and after each match\"},"
             "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000},"
             "\"all\":{\"type\":\"boolean\",\"description\":\"also files that .gitignore lists\"}},"
             "\"required\":[\"pattern\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_SEARCH},
    .prepare = prepare,
    .start = search_start,
    .drop = search_drop,
};
