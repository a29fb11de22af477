/* oauth_url.c - URLs that may be used, well-known addresses, queries and forms. */
#include <strings.h>

#include "oauth/oauth_internal.h"

bool oauth_url_is_usable(struct acp_str url, struct acp_str server)
{
    if (!url.ptr || url.len > OAUTH_MAX_URL)
        return false;
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~' || strchr("#\"<>\\^`{|}", url.ptr[i]))
            return false;
    /* A user, a port that is none and so on: only a URL that leads to itself is well formed. */
    if (!http_stays(url, url))
        return false;
    if (http_is_loopback(url) && !http_is_loopback(server))
        return false;
    return strncasecmp(url.ptr, "https:", 6) == 0 || http_is_loopback(url);
}

static struct acp_str without_end_slash(struct acp_str text)
{
    while (text.len && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

struct oauth_url_parts oauth_url_split(struct acp_str url)
{
    const char *authority = url.len ? memchr(url.ptr, ':', url.len) : NULL;
    size_t from = authority ? (size_t) (authority - url.ptr) + 3 : 0;
    from = from < url.len ? from : url.len;
    size_t host_end = from;
    while (host_end < url.len && !strchr("/?", url.ptr[host_end]))
        host_end++;
    size_t path_end = host_end;
    while (path_end < url.len && url.ptr[path_end] != '?')
        path_end++;
    return (struct oauth_url_parts){
        .origin = acp_str_n(url.ptr, host_end),
        .path = without_end_slash(acp_str_n(url.ptr + host_end, path_end - host_end)),
    };
}

int oauth_url_well_known(struct acp_str url, enum oauth_document document, struct acp_buf *out)
{
    static const char *const names[OAUTH_DOCUMENTS] = {
        [OAUTH_RESOURCE_AT_PATH] = "oauth-protected-resource",
        [OAUTH_RESOURCE_AT_ROOT] = "oauth-protected-resource",
        [OAUTH_SERVER_AT_PATH] = "oauth-authorization-server",
        [OAUTH_OPENID_AT_PATH] = "openid-configuration",
        [OAUTH_OPENID_BELOW_PATH] = "openid-configuration",
    };
    struct oauth_url_parts parts = oauth_url_split(url);
    struct acp_str before = {0};
    struct acp_str after = {0};
    if (document == OAUTH_OPENID_BELOW_PATH)
        before = parts.path;
    else if (document != OAUTH_RESOURCE_AT_ROOT)
        after = parts.path;
    return acp_buf_printf(out, "%.*s%.*s/.well-known/%s%.*s", ACP_ARG(parts.origin),
                          ACP_ARG(before), names[document], ACP_ARG(after));
}

/* ---- Queries and forms ----------------------------------------------------------------------- */

static bool is_unreserved(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("-._~", c));
}

int oauth_form_add(struct acp_buf *out, const char *name, struct acp_str value)
{
    struct acp_str before = acp_buf_view(out);
    bool is_first = !before.len || before.ptr[before.len - 1] == '?';
    int err = acp_buf_printf(out, "%s%s=", is_first ? "" : "&", name);
    for (size_t i = 0; !err && i < value.len; i++) {
        unsigned char c = (unsigned char) value.ptr[i];
        err = is_unreserved(c) ? acp_buf_append(out, &c, 1) : acp_buf_printf(out, "%%%02X", c);
    }
    return err;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static struct acp_str decode(struct acp_str text, struct acp_arena *arena)
{
    char *out = acp_arena_alloc(arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(text.ptr[i + 2]);
            if (low < 0)
                return (struct acp_str){0};
            c = (char) (high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        out[n++] = c;
    }
    return acp_str_n(out, out ? n : 0);
}

struct acp_str oauth_form_get(struct acp_str query, const char *name, struct acp_arena *arena)
{
    struct acp_str found = {0};
    size_t length = strlen(name);
    while (query.len) {
        const char *end = memchr(query.ptr, '&', query.len);
        struct acp_str pair = acp_str_n(query.ptr, end ? (size_t) (end - query.ptr) : query.len);
        query.ptr += pair.len + (end != NULL);
        query.len -= pair.len + (end != NULL);
        if (pair.len <= length || pair.ptr[length] != '=' || memcmp(pair.ptr, name, length) != 0)
            continue;
        if (found.ptr)
            return (struct acp_str){0}; /* which of the two counts would be a guess */
        found = acp_str_n(pair.ptr + length + 1, pair.len - length - 1);
    }
    return found.ptr ? decode(found, arena) : found;
}

struct acp_str oauth_url_query(struct acp_str url)
{
    const char *query = url.len ? memchr(url.ptr, '?', url.len) : NULL;
    struct acp_str text = url;
    if (query)
        text = acp_str_n(query + 1, url.len - (size_t) (query + 1 - url.ptr));
    const char *fragment = text.len ? memchr(text.ptr, '#', text.len) : NULL;
    if (fragment)
        text.len = (size_t) (fragment - text.ptr);
    return text;
}
