/*
 * oauth_challenge.c - the WWW-Authenticate header (RFC 9110, section 11.6.1).
 *
 * A header is a list of challenges, and a challenge a scheme with a list of parameters, both
 * separated by commas: a word that is followed by '=' is a parameter, any other begins a challenge.
 */
#include <strings.h>

#include "oauth/oauth_internal.h"

struct cursor {
    const char *at;
    const char *end;
};

static bool is_token(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* The characters of token68, which may stand in the place of parameters. */
static bool is_token68(unsigned char c)
{
    return is_token(c) || c == '/' || c == '=';
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static struct acp_str take_while(struct cursor *c, bool (*is_part)(unsigned char c))
{
    const char *from = c->at;
    while (c->at < c->end && is_part((unsigned char) *c->at))
        c->at++;
    return acp_str_n(from, (size_t) (c->at - from));
}

static bool take_quoted(struct cursor *c, struct acp_arena *arena, struct acp_str *ret)
{
    char *text = acp_arena_alloc(arena, (size_t) (c->end - c->at) + 1);
    size_t n = 0;
    c->at++;
    while (text && c->at < c->end && *c->at != '"') {
        if (*c->at == '\\' && ++c->at == c->end)
            return false;
        text[n++] = *c->at++;
    }
    if (!text || c->at == c->end)
        return false;
    c->at++;
    *ret = acp_str_n(text, n);
    return true;
}

static bool take_value(struct cursor *c, struct acp_arena *arena, struct acp_str *ret)
{
    skip_blanks(c);
    if (c->at < c->end && *c->at == '"')
        return take_quoted(c, arena, ret);
    *ret = take_while(c, is_token);
    return ret->len > 0;
}

static bool is_word(struct acp_str text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static void note(struct oauth_challenge *challenge, struct acp_str name, struct acp_str value)
{
    if (is_word(name, "resource_metadata"))
        challenge->metadata_url = value;
    else if (is_word(name, "scope"))
        challenge->scope = value;
    else if (is_word(name, "error"))
        challenge->error = value;
}

/* Whether the word that ends at the cursor names a parameter; moves to its value. */
static bool at_parameter(struct cursor *c)
{
    struct cursor ahead = *c;
    skip_blanks(&ahead);
    if (ahead.at == ahead.end || *ahead.at != '=')
        return false;
    ahead.at++;
    *c = ahead;
    return true;
}

bool oauth_challenge_read(struct acp_str header, struct acp_arena *arena,
                          struct oauth_challenge *ret)
{
    struct oauth_challenge found = {0};
    struct cursor c = {header.ptr, header.ptr + header.len};
    bool is_bearer = false;
    if (!header.ptr || header.len > OAUTH_MAX_CHALLENGE)
        return false;
    for (;;) {
        while (c.at < c.end && (*c.at == ' ' || *c.at == '\t' || *c.at == ','))
            c.at++;
        if (c.at == c.end)
            break;
        struct acp_str word = take_while(&c, is_token);
        struct acp_str value;
        if (!word.len)
            return false;
        if (at_parameter(&c)) {
            if (!take_value(&c, arena, &value))
                return false;
            if (is_bearer)
                note(&found, word, value);
            continue;
        }
        if (is_bearer)
            break; /* the next challenge */
        is_bearer = is_word(word, "Bearer");
        struct cursor credentials = c;
        skip_blanks(&credentials);
        struct acp_str rest = take_while(&credentials, is_token68);
        skip_blanks(&credentials);
        /* "Negotiate dG9rZW4=": no parameters, but one token. */
        if (rest.len && (credentials.at == credentials.end || *credentials.at == ',') &&
            (!memchr(rest.ptr, '=', rest.len) || rest.ptr[rest.len - 1] == '='))
            c = credentials;
    }
    if (!is_bearer)
        return false;
    return oauth_keep(arena, found.metadata_url, &ret->metadata_url) == 0 &&
           oauth_keep(arena, found.scope, &ret->scope) == 0 &&
           oauth_keep(arena, found.error, &ret->error) == 0;
}
