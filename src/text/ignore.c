/*
 * ignore.c - .gitignore files: each line is a pattern.  Patterns with a slash at the beginning or
 * in the middle match paths relative to the file's folder; all others match names at any depth.
 */
#include "text/ignore.h"

#include "base/glob.h"

struct rule {
    struct acp_str pattern;
    bool keeps;       /* it began with "!" */
    bool directories; /* it ended with "/" */
    bool anchored;    /* matches paths relative to the file's folder */
};

struct ignore {
    const struct ignore *above;
    struct acp_str directory;
    struct rule *rules;
    size_t count;
};

/* ---- Reading -------------------------------------------------------------------------------- */

/* Blanks at the end are ignored, unless they follow a backslash. */
static struct acp_str trim(struct acp_str line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\t')) {
        size_t slashes = 0;
        while (slashes + 1 < line.len && line.ptr[line.len - 2 - slashes] == '\\')
            slashes++;
        if (slashes % 2)
            break;
        line.len--;
    }
    return line;
}

static bool ends_with(struct acp_str text, const char *end)
{
    size_t n = strlen(end);
    return text.len >= n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

/* Our patterns "folder/" with two stars match the folder itself; git's do not. */
static int keep_pattern(struct acp_str pattern, struct acp_arena *arena, struct acp_str *ret)
{
    static const struct acp_str more = ACP_STR("/*");
    size_t extra = ends_with(pattern, "/**") ? more.len : 0;
    char *copy = acp_arena_alloc(arena, pattern.len + extra + 1);
    if (!copy)
        return ACP_ERR_NOMEM;
    memcpy(copy, pattern.ptr, pattern.len);
    memcpy(copy + pattern.len, more.ptr, extra);
    *ret = acp_str_n(copy, pattern.len + extra);
    return 0;
}

/* 1 with a rule, 0 if the line has none. */
static int read_line(struct acp_str line, struct acp_arena *arena, struct rule *ret)
{
    struct rule rule = {0};
    line = trim(line);
    if (line.len == 0 || line.ptr[0] == '#' || line.len > IGNORE_MAX_PATTERN)
        return 0;
    if (line.ptr[0] == '!') {
        rule.keeps = true;
        line = acp_str_n(line.ptr + 1, line.len - 1);
    }
    if (line.len && line.ptr[line.len - 1] == '/') {
        rule.directories = true;
        line.len--;
    }
    rule.anchored = line.len && memchr(line.ptr, '/', line.len);
    if (line.len && line.ptr[0] == '/')
        line = acp_str_n(line.ptr + 1, line.len - 1);
    if (line.len == 0)
        return 0;
    int err = keep_pattern(line, arena, &rule.pattern);
    if (err)
        return err;
    *ret = rule;
    return 1;
}

/* Removes the first line from the text. */
static struct acp_str next_line(struct acp_str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t n = end ? (size_t) (end - text->ptr) : text->len;
    struct acp_str line = acp_str_n(text->ptr, n);
    size_t taken = end ? n + 1 : n;
    *text = acp_str_n(text->ptr + taken, text->len - taken);
    return line;
}

static int add_rule(struct ignore *file, size_t *room, struct acp_arena *arena,
                    const struct rule *rule)
{
    if (file->count == *room) {
        size_t more = *room ? *room * 2 : 16;
        struct rule *rules = acp_arena_grow(arena, file->rules, *room * sizeof(struct rule),
                                            more * sizeof(struct rule));
        if (!rules)
            return ACP_ERR_NOMEM;
        file->rules = rules;
        *room = more;
    }
    file->rules[file->count++] = *rule;
    return 0;
}

int ignore_parse(struct acp_str text, struct acp_str directory, const struct ignore *above,
                 struct acp_arena *arena, const struct ignore **ret)
{
    static const struct acp_str mark = ACP_STR("\xef\xbb\xbf");
    struct ignore *file = acp_arena_alloc(arena, sizeof(*file));
    if (!file)
        return ACP_ERR_NOMEM;
    *file = (struct ignore){.above = above, .directory = acp_arena_copy(arena, directory)};
    if (!file->directory.ptr)
        return ACP_ERR_NOMEM;
    if (text.len > IGNORE_MAX_BYTES)
        text.len = IGNORE_MAX_BYTES;
    if (text.len >= mark.len && memcmp(text.ptr, mark.ptr, mark.len) == 0)
        text = acp_str_n(text.ptr + mark.len, text.len - mark.len);
    size_t room = 0;
    while (text.len && file->count < IGNORE_MAX_RULES) {
        struct rule rule;
        int found = read_line(next_line(&text), arena, &rule);
        if (found > 0)
            found = add_rule(file, &room, arena, &rule);
        if (found < 0)
            return found;
    }
    *ret = file->count ? file : above;
    return 0;
}

/* ---- Matching ------------------------------------------------------------------------------- */

static struct acp_str last_name(struct acp_str path)
{
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/')
        at--;
    return acp_str_n(path.ptr + at, path.len - at);
}

/* The path relative to the file's folder; false if it is not in there. */
static bool below(const struct ignore *file, struct acp_str path, struct acp_str *ret)
{
    size_t n = file->directory.len;
    if (n == 0) {
        *ret = path;
        return true;
    }
    if (path.len <= n + 1 || path.ptr[n] != '/' || memcmp(path.ptr, file->directory.ptr, n) != 0)
        return false;
    *ret = acp_str_n(path.ptr + n + 1, path.len - n - 1);
    return true;
}

bool ignore_matches(const struct ignore *rules, struct acp_str path, bool is_directory)
{
    struct acp_str name = last_name(path);
    for (; rules; rules = rules->above) {
        struct acp_str rest;
        if (!below(rules, path, &rest))
            continue;
        for (size_t i = rules->count; i-- > 0;) {
            const struct rule *rule = &rules->rules[i];
            if (rule->directories && !is_directory)
                continue;
            if (rule->anchored ? acp_glob_path(rule->pattern, rest)
                               : acp_glob_text(rule->pattern, name))
                return !rule->keeps;
        }
    }
    return false;
}
