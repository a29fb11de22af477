/* redact.c - see redact.h. */
#include "config/redact.h"

#include <strings.h>

static const char set[] = "(set)";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t find(struct acp_str text, const char *any)
{
    size_t n = 0;
    while (n < text.len && !(text.ptr[n] && strchr(any, text.ptr[n])))
        n++;
    return n;
}

static struct acp_str from(struct acp_str text, size_t n)
{
    return acp_str_n(text.ptr + n, text.len - n);
}

static bool contains(struct acp_str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (strncasecmp(text.ptr + i, word, n) == 0)
            return true;
    return false;
}

/* ---- Heuristics --------------------------------------------------------------------- */

/* Whether a value with such a name is a secret. */
static bool is_secret_name(struct acp_str name)
{
    static const char *const words[] = {"token", "key",     "secret", "pass",   "pwd",
                                        "auth",  "bearer",  "cred",   "header", "cookie",
                                        "sig",   "session", "env",    "user",   "jwt"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (contains(name, words[i]))
            return true;
    return false;
}

/* Short options that often take one: curl's -H and -u, docker's -e, mysql's -p. */
static bool is_secret_letter(struct acp_str option)
{
    return option.len == 2 && option.ptr[0] == '-' && strchr("HueptkK", option.ptr[1]);
}

/* Tokens of services: a known prefix, or a long mixture of letters and digits. */
static bool looks_secret(struct acp_str word)
{
    static const char *const beginnings[] = {
        "sk-",  "pk-",         "rk_",    "sk_",     "ghp_",    "gho_",  "ghs_", "ghu_",
        "ghr_", "github_pat_", "glpat-", "xox",     "AKIA",    "ASIA",  "AIza", "eyJ",
        "hf_",  "npm_",        "pypi-",  "dop_v1_", "Bearer ", "Basic "};
    enum { LONG = 20, LONG_WORD = 40 };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        size_t n = strlen(beginnings[i]);
        if (word.len > n && strncmp(word.ptr, beginnings[i], n) == 0)
            return true;
    }
    size_t letters = 0;
    size_t digits = 0;
    for (size_t i = 0; i < word.len; i++) {
        letters += is_letter(word.ptr[i]);
        digits += is_digit(word.ptr[i]);
        /* Paths, packages and sentences are long but not secrets. */
        if (word.ptr[i] == '/' || word.ptr[i] == ' ' || word.ptr[i] == '@')
            return false;
    }
    return (word.len >= LONG && letters && digits) || word.len >= LONG_WORD;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

/* A harmless path segment: short, and similar to a word or a version. */
static bool is_plain_segment(struct acp_str segment)
{
    enum { LONGEST = 24 };
    size_t digits = 0;
    for (size_t i = 0; i < segment.len; i++) {
        char c = segment.ptr[i];
        digits += is_digit(c);
        if (!is_letter(c) && !is_digit(c) && !strchr("-_.~@", c))
            return false;
    }
    return segment.len <= LONGEST && digits <= 3 && !looks_secret(segment);
}

static int add_path(struct acp_str path, struct acp_buf *out)
{
    int err = 0;
    while (!err && path.len) {
        size_t n = find(path, "/");
        struct acp_str segment = acp_str_n(path.ptr, n);
        err = acp_buf_append_str(out, is_plain_segment(segment) ? segment : acp_str_from(set));
        if (!err && n < path.len)
            err = acp_buf_append_str(out, acp_str_from("/"));
        path = from(path, n < path.len ? n + 1 : n);
    }
    return err;
}

/* name=value pairs, without the values. */
static int add_query(struct acp_str query, struct acp_buf *out)
{
    int err = acp_buf_append_str(out, acp_str_from("?"));
    while (!err && query.len) {
        size_t n = find(query, "&;");
        struct acp_str pair = acp_str_n(query.ptr, n);
        size_t name = find(pair, "=");
        bool plain = name < pair.len && is_plain_segment(acp_str_n(pair.ptr, name));
        if (plain)
            err = acp_buf_append(out, pair.ptr, name + 1);
        if (!err)
            err = acp_buf_append_str(out, acp_str_from(set));
        if (!err && n < query.len)
            err = acp_buf_append_str(out, acp_str_from("&"));
        query = from(query, n < query.len ? n + 1 : n);
    }
    return err;
}

static size_t scheme_length(struct acp_str url)
{
    size_t n = find(url, ":");
    return n && n + 3 <= url.len && memcmp(url.ptr + n, "://", 3) == 0 ? n + 3 : 0;
}

int redact_url(struct acp_str url, struct acp_buf *out)
{
    size_t scheme = scheme_length(url);
    struct acp_str rest = from(url, scheme);
    size_t n = find(rest, "/?#");
    struct acp_str place = acp_str_n(rest.ptr, n);
    size_t user = 0;
    for (size_t i = 0; i < place.len; i++)
        if (place.ptr[i] == '@')
            user = i + 1;
    int err = acp_buf_append(out, url.ptr, scheme);
    if (!err && user)
        err = acp_buf_printf(out, "%s@", set);
    if (!err)
        err = acp_buf_append_str(out, from(place, user));
    rest = from(rest, n);
    n = find(rest, "?#");
    if (!err)
        err = add_path(acp_str_n(rest.ptr, n), out);
    rest = from(rest, n);
    n = find(rest, "#");
    if (!err && n > 0)
        err = add_query(acp_str_n(rest.ptr + 1, n - 1), out);
    if (!err && n < rest.len)
        err = acp_buf_printf(out, "#%s", set);
    return err;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool is_option(struct acp_str word)
{
    return word.len > 1 && word.ptr[0] == '-';
}

/* -x, --long-name: certainly an option, while a token may also begin with a dash. */
static bool is_plain_option(struct acp_str word)
{
    bool plain = is_option(word) && (word.len == 2 || (word.ptr[1] == '-' && !looks_secret(word)));
    for (size_t i = 1; i < word.len && plain; i++)
        plain = is_letter(word.ptr[i]) || is_digit(word.ptr[i]) || word.ptr[i] == '-';
    return plain;
}

/* The name of a variable or header. */
static bool is_name(struct acp_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.ptr[i]) && !is_digit(name.ptr[i]) && name.ptr[i] != '_' &&
            name.ptr[i] != '-' && name.ptr[i] != '.')
            return false;
    return name.len && !is_digit(name.ptr[0]);
}

/* "NAME=value" and "Name: value"; the name is shown. */
static int add_pair(struct acp_str word, size_t name, struct acp_buf *out)
{
    int err = acp_buf_append(out, word.ptr, name + 1);
    if (!err && word.ptr[name] == ':')
        err = acp_buf_append_str(out, acp_str_from(" "));
    return err ? err : acp_buf_append_str(out, acp_str_from(set));
}

static int add_word(struct acp_str word, struct acp_buf *out)
{
    size_t sign = find(word, "=:");
    if (scheme_length(word))
        return redact_url(word, out);
    if (sign < word.len && is_name(acp_str_n(word.ptr, sign)) && !is_option(word)) {
        bool variable = word.ptr[sign] == '=';
        bool header = !variable && word.len > sign + 1 &&
                      (word.ptr[sign + 1] == ' ' || is_secret_name(acp_str_n(word.ptr, sign)));
        if (variable || header)
            return add_pair(word, sign, out);
    }
    return acp_buf_append_str(out, looks_secret(word) ? acp_str_from(set) : word);
}

int redact_argument(const char *before, struct acp_str argument, struct acp_buf *out)
{
    struct acp_str option = before ? acp_str_from(before) : acp_str_from("");
    bool is_value = is_option(option) && !memchr(option.ptr, '=', option.len);
    if (is_value && !is_plain_option(argument) &&
        (is_secret_name(option) || is_secret_letter(option))) {
        /* The name of a variable or header is useful and not secret. */
        size_t sign = find(argument, "=:");
        bool named = sign < argument.len && sign < 40 && is_name(acp_str_n(argument.ptr, sign));
        return named ? add_pair(argument, sign, out) : acp_buf_append_str(out, acp_str_from(set));
    }
    size_t equals = find(argument, "=");
    if (is_option(argument) && equals < argument.len) {
        int err = acp_buf_append(out, argument.ptr, equals + 1);
        if (err)
            return err;
        if (is_secret_name(acp_str_n(argument.ptr, equals)))
            return acp_buf_append_str(out, acp_str_from(set));
        return add_word(from(argument, equals + 1), out);
    }
    /* -pPASSWORD, -HAuthorization: ... */
    if (argument.len > 2 && is_secret_letter(acp_str_n(argument.ptr, 2)) &&
        argument.ptr[1] != '-') {
        int err = acp_buf_append(out, argument.ptr, 2);
        return err ? err : acp_buf_append_str(out, acp_str_from(set));
    }
    return add_word(argument, out);
}

const char *const *redact_arguments(struct acp_arena *arena, const char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    const char **list = acp_arena_alloc(arena, (count + 1) * sizeof(*list));
    for (size_t i = 0; list && i < count; i++) {
        struct acp_buf text;
        acp_buf_init(&text, strlen(arguments[i]) * 2 + sizeof(set) * 2);
        int err = redact_argument(i ? arguments[i - 1] : NULL, acp_str_from(arguments[i]), &text);
        list[i] = err ? set : acp_arena_copy(arena, acp_buf_view(&text)).ptr;
        acp_buf_finish(&text);
        if (!list[i])
            return NULL;
    }
    return list;
}
