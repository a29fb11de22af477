/* highlight.c - see highlight.h. */
#include "markdown/highlight.h"

#include <string.h>
#include <strings.h>

#include "markdown/highlight_languages.h"

/* A line on its way: what has been given to put, and where the scan is. */
struct scan {
    struct highlight *state;
    const struct highlight_language *language;
    const char *begin; /* of the line */
    const char *shown;
    const char *at;
    const char *end;
    highlight_put *put;
    void *user;
};

/* ---- Characters and words -------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           (unsigned char) c >= 0x80;
}

static bool has(const struct scan *scan, enum highlight_flag flag)
{
    return scan->language->flags & (unsigned) flag;
}

/* Whether one of the words of a list, which are sorted unless in any case, is this one. */
static bool is_listed(const char *list, struct acp_str word, bool any_case)
{
    while (*list) {
        size_t len = strcspn(list, " ");
        if (len == word.len &&
            (any_case ? strncasecmp(list, word.ptr, len) == 0 : memcmp(list, word.ptr, len) == 0))
            return true;
        if (!any_case && *list > *word.ptr)
            return false;
        list += len + (list[len] == ' ');
    }
    return false;
}

const struct highlight_language *highlight_find(struct acp_str name)
{
    for (size_t i = 0; name.len && i < highlight_languages_count; i++)
        if (is_listed(highlight_languages[i].names, name, true))
            return &highlight_languages[i];
    return NULL;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Gives out what lies before the current position. */
static void give(struct scan *scan, enum highlight_role role)
{
    if (scan->at > scan->shown)
        scan->put(acp_str_n(scan->shown, (size_t) (scan->at - scan->shown)), role, scan->user);
    scan->shown = scan->at;
}

static bool starts(const struct scan *scan, const char *what)
{
    size_t len = what ? strlen(what) : 0;
    return len && (size_t) (scan->end - scan->at) >= len && memcmp(scan->at, what, len) == 0;
}

/* Passes what goes on until a mark, maybe beyond this line. */
static void pass_until(struct scan *scan, const char *until, enum highlight_role role)
{
    size_t len = strlen(until);
    scan->state->until = until;
    scan->state->role = role;
    while (scan->at < scan->end) {
        if (*scan->at == '\\' && role == HIGHLIGHT_STRING && scan->end - scan->at > 1) {
            scan->at += 2;
        } else if (starts(scan, until)) {
            scan->at += len;
            scan->state->until = NULL;
            break;
        } else {
            scan->at++;
        }
    }
    give(scan, role);
}

/* A string that ends with its line at the latest. */
static void pass_string(struct scan *scan, char quote)
{
    const char *begin = scan->at++;
    while (scan->at < scan->end && *scan->at != quote)
        scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
    bool closed = scan->at < scan->end;
    if (!closed && quote == '\'' && has(scan, HIGHLIGHT_LONE_QUOTE)) {
        scan->at = begin + 1;
        return;
    }
    scan->at += closed;
    const char *next = scan->at;
    while (next < scan->end && *next == ' ')
        next++;
    bool key = has(scan, HIGHLIGHT_KEYS) && next < scan->end && *next == ':';
    give(scan, key ? HIGHLIGHT_TYPE : HIGHLIGHT_STRING);
}

static bool is_lone_quote(const struct scan *scan)
{
    /* 'a in Rust is a lifetime unless a quote follows the character. */
    size_t left = (size_t) (scan->end - scan->at);
    return has(scan, HIGHLIGHT_LONE_QUOTE) && *scan->at == '\'' && !has(scan, HIGHLIGHT_KEYS) &&
           left > 2 && scan->at[1] != '\\' && scan->at[2] != '\'';
}

static void pass_quote(struct scan *scan)
{
    static const char *const triple[] = {"\"\"\"", "'''"};
    for (size_t i = 0; i < 2 && has(scan, HIGHLIGHT_TRIPLE); i++) {
        if (!starts(scan, triple[i]))
            continue;
        scan->at += 3;
        pass_until(scan, triple[i], HIGHLIGHT_STRING);
        return;
    }
    if (is_lone_quote(scan))
        scan->at++;
    else
        pass_string(scan, *scan->at);
}

static void pass_number(struct scan *scan)
{
    while (scan->at < scan->end && (is_word(*scan->at) || *scan->at == '.'))
        scan->at++;
    give(scan, HIGHLIGHT_NUMBER);
}

static void pass_word(struct scan *scan)
{
    bool dashes = has(scan, HIGHLIGHT_DASHES);
    const char *begin = scan->at;
    while (scan->at < scan->end && (is_word(*scan->at) || (dashes && *scan->at == '-')))
        scan->at++;
    struct acp_str word = acp_str_n(begin, (size_t) (scan->at - begin));
    bool any_case = has(scan, HIGHLIGHT_ANY_CASE);
    const char *end = scan->at;
    bool key = has(scan, HIGHLIGHT_KEYS) && end < scan->end && *end == ':' &&
               (end + 1 == scan->end || end[1] == ' ');
    enum highlight_role role = key ? HIGHLIGHT_TYPE
                               : is_listed(scan->language->keywords, word, any_case)
                                   ? HIGHLIGHT_KEYWORD
                               : is_listed(scan->language->types, word, any_case) ? HIGHLIGHT_TYPE
                                                                                  : HIGHLIGHT_PLAIN;
    if (role == HIGHLIGHT_PLAIN)
        return;
    scan->at = begin;
    give(scan, HIGHLIGHT_PLAIN);
    scan->at = end;
    give(scan, role);
}

static void pass_variable(struct scan *scan)
{
    scan->at++;
    bool braces = scan->at < scan->end && *scan->at == '{';
    while (scan->at < scan->end && (braces ? *scan->at != '}' : is_word(*scan->at)))
        scan->at++;
    if (braces && scan->at < scan->end)
        scan->at++;
    give(scan, HIGHLIGHT_TYPE);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool begins_comment(const struct scan *scan)
{
    if (!starts(scan, scan->language->comment))
        return false;
    return !has(scan, HIGHLIGHT_COMMENT_SPACE) || scan->at == scan->begin || scan->at[-1] == ' ' ||
           scan->at[-1] == '\t';
}

static void pass_rest(struct scan *scan, enum highlight_role role)
{
    scan->at = scan->end;
    give(scan, role);
}

/* One step; what is plain is given out together with what follows it. */
static void step(struct scan *scan)
{
    const struct highlight_language *language = scan->language;
    char c = *scan->at;
    if (begins_comment(scan)) {
        give(scan, HIGHLIGHT_PLAIN);
        pass_rest(scan, HIGHLIGHT_COMMENT);
    } else if (starts(scan, language->open)) {
        give(scan, HIGHLIGHT_PLAIN);
        scan->at += strlen(language->open);
        pass_until(scan, language->close, HIGHLIGHT_COMMENT);
    } else if (c == '`' && has(scan, HIGHLIGHT_BACKTICK)) {
        give(scan, HIGHLIGHT_PLAIN);
        scan->at++;
        pass_until(scan, "`", HIGHLIGHT_STRING);
    } else if (c && strchr(language->quotes, c)) {
        give(scan, HIGHLIGHT_PLAIN);
        pass_quote(scan);
    } else if (c == '$' && has(scan, HIGHLIGHT_DOLLAR)) {
        give(scan, HIGHLIGHT_PLAIN);
        pass_variable(scan);
    } else if (is_digit(c)) {
        give(scan, HIGHLIGHT_PLAIN);
        pass_number(scan);
    } else if (is_word(c)) {
        pass_word(scan);
    } else {
        scan->at++;
    }
}

static enum highlight_role diff_role(struct acp_str line)
{
    char first = line.len ? *line.ptr : ' ';
    return first == '+'   ? HIGHLIGHT_ADDED
           : first == '-' ? HIGHLIGHT_REMOVED
           : first == '@' ? HIGHLIGHT_HUNK
                          : HIGHLIGHT_PLAIN;
}

/* What is about the line as a whole.  True when that is all of it. */
static bool pass_line(struct scan *scan, struct acp_str line)
{
    struct highlight *state = scan->state;
    if (has(scan, HIGHLIGHT_DIFF)) {
        if (!state->in_line)
            state->role = diff_role(line);
        pass_rest(scan, state->role);
        return true;
    }
    if (state->in_line || !has(scan, HIGHLIGHT_PREPROCESSOR))
        return false;
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
    if (scan->at < scan->end && *scan->at == '#') {
        scan->at++;
        while (scan->at < scan->end && (*scan->at == ' ' || is_word(*scan->at)))
            scan->at++;
        give(scan, HIGHLIGHT_KEYWORD);
    }
    return false;
}

void highlight_piece(struct highlight *state, struct acp_str piece, highlight_put *put, void *user)
{
    struct scan scan = {
        .state = state,
        .language = state->language,
        .begin = piece.ptr,
        .shown = piece.ptr,
        .at = piece.ptr,
        .end = piece.len ? piece.ptr + piece.len : piece.ptr,
        .put = put,
        .user = user,
    };
    if (!piece.len)
        return;
    if (!state->language) {
        pass_rest(&scan, HIGHLIGHT_PLAIN);
    } else {
        if (state->until)
            pass_until(&scan, state->until, state->role);
        else if (pass_line(&scan, piece))
            scan.at = scan.end;
        while (scan.at < scan.end)
            step(&scan);
        give(&scan, HIGHLIGHT_PLAIN);
    }
    state->in_line = true;
}

void highlight_line(struct highlight *state, struct acp_str line, highlight_put *put, void *user)
{
    highlight_piece(state, line, put, user);
    state->in_line = false;
}
