/* pattern.c - expands alternatives; the workspace's patterns do the rest. */
#include "agent/tools/pattern.h"

#include "base/glob.h"

/* The end of the group that opens at `at`; NULL if it is not closed or has no comma. */
static const char *group_end(const char *at, const char *end)
{
    int depth = 0;
    bool comma = false;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '{')
            depth++;
        else if (*at == ',' && depth == 1)
            comma = true;
        else if (*at == '}' && --depth == 0)
            return comma ? at : NULL;
    }
    return NULL;
}

/* The first group that has alternatives. */
static const char *find_group(struct acp_str text, const char **ret_end)
{
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end; at++) {
        if (*at == '\\') {
            at++;
            continue;
        }
        *ret_end = *at == '{' ? group_end(at, end) : NULL;
        if (*ret_end)
            return at;
    }
    return NULL;
}

static const char *alternative_end(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '{')
            depth++;
        else if (*at == '}')
            depth--;
        else if (*at == ',' && depth == 0)
            return at;
    }
    return end;
}

static struct acp_str join(struct acp_arena *arena, struct acp_str a, struct acp_str b,
                           struct acp_str c)
{
    char *out = acp_arena_alloc(arena, a.len + b.len + c.len + 1);
    if (!out)
        return acp_str_from(NULL);
    memcpy(out, a.ptr, a.len);
    memcpy(out + a.len, b.ptr, b.len);
    memcpy(out + a.len + b.len, c.ptr, c.len);
    return acp_str_n(out, a.len + b.len + c.len);
}

/* Appends a copy of the text for each alternative of a group. */
static int expand(struct pattern *list, struct acp_str text, const char *open, const char *close,
                  struct acp_arena *arena)
{
    struct acp_str head = acp_str_n(text.ptr, (size_t) (open - text.ptr));
    struct acp_str tail = acp_str_n(close + 1, (size_t) (text.ptr + text.len - (close + 1)));
    for (const char *at = open + 1; at <= close;) {
        const char *end = alternative_end(at, close);
        if (list->count == PATTERN_MAX_ALTERNATIVES)
            return ACP_ERR_LIMIT;
        struct acp_str one = join(arena, head, acp_str_n(at, (size_t) (end - at)), tail);
        if (!one.ptr)
            return ACP_ERR_NOMEM;
        list->alternatives[list->count++] = one;
        at = end + 1;
    }
    return 0;
}

int pattern_parse(struct acp_str text, struct acp_arena *arena, struct pattern *ret)
{
    if (text.len > PATTERN_MAX_BYTES)
        return ACP_ERR_LIMIT;
    while (text.len >= 2 && memcmp(text.ptr, "./", 2) == 0)
        text = acp_str_n(text.ptr + 2, text.len - 2);
    struct pattern *list = acp_arena_alloc(arena, sizeof(*list));
    struct acp_str copy = acp_arena_copy(arena, text);
    if (!list || !copy.ptr)
        return ACP_ERR_NOMEM;
    list->alternatives[list->count++] = copy;
    /* Each round removes one group; the number of alternatives bounds the rounds. */
    for (size_t i = 0; i < list->count;) {
        const char *close = NULL;
        struct acp_str one = list->alternatives[i];
        const char *open = find_group(one, &close);
        if (!open) {
            i++;
            continue;
        }
        list->alternatives[i] = list->alternatives[--list->count];
        int err = expand(list, one, open, close, arena);
        if (err)
            return err;
    }
    *ret = *list;
    return 0;
}

bool pattern_matches(const struct pattern *pattern, struct acp_str path)
{
    size_t name = path.len;
    while (name && path.ptr[name - 1] != '/')
        name--;
    for (size_t i = 0; i < pattern->count; i++) {
        struct acp_str one = pattern->alternatives[i];
        bool by_name = !one.len || !memchr(one.ptr, '/', one.len);
        if (by_name ? acp_glob_text(one, acp_str_n(path.ptr + name, path.len - name))
                    : acp_glob_path(one, path))
            return true;
    }
    return false;
}
