/*
 * origin.c - where a URL leads: its host, whether that is this machine, and whether two URLs lead
 * to the same place.
 */
#include <strings.h>

#include "http/http_client.h"

enum { HTTP_PORT = 80, HTTPS_PORT = 443, MAX_PORT = 65535 };

struct origin {
    bool secure;
    struct acp_str host;
    unsigned port;
};

/* What every reader of URLs takes for a part of the host's name; no escapes, no user. */
static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_';
}

static bool read_port(struct acp_str text, unsigned *ret)
{
    unsigned port = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || port > MAX_PORT)
            return false;
        port = port * 10 + (unsigned) (text.ptr[i] - '0');
    }
    if (text.len == 0 || port == 0 || port > MAX_PORT)
        return false;
    *ret = port;
    return true;
}

/* How long the host is; 0 when it is none.  An address of IPv6 keeps its brackets. */
static size_t host_length(struct acp_str place)
{
    size_t n = 0;
    if (place.len && place.ptr[0] == '[') {
        for (n = 1; n < place.len && place.ptr[n] != ']'; n++)
            if (!is_plain((unsigned char) place.ptr[n]) && place.ptr[n] != ':')
                return 0;
        return n > 1 && n < place.len ? n + 1 : 0;
    }
    while (n < place.len && is_plain((unsigned char) place.ptr[n]))
        n++;
    return n;
}

static bool read_scheme(struct acp_str url, struct origin *ret, size_t *ret_length)
{
    static const char http[] = "http://";
    static const char https[] = "https://";
    if (url.len > sizeof(https) - 1 && strncasecmp(url.ptr, https, sizeof(https) - 1) == 0) {
        *ret = (struct origin){.secure = true, .port = HTTPS_PORT};
        *ret_length = sizeof(https) - 1;
        return true;
    }
    if (url.len > sizeof(http) - 1 && strncasecmp(url.ptr, http, sizeof(http) - 1) == 0) {
        *ret = (struct origin){.port = HTTP_PORT};
        *ret_length = sizeof(http) - 1;
        return true;
    }
    return false;
}

static bool read_origin(struct acp_str url, struct origin *ret)
{
    size_t from;
    if (!read_scheme(url, ret, &from))
        return false;
    size_t n = from;
    while (n < url.len && !(url.ptr[n] && strchr("/?#", url.ptr[n])))
        n++;
    struct acp_str place = acp_str_n(url.ptr + from, n - from);
    size_t host = host_length(place);
    ret->host = acp_str_n(place.ptr, host);
    if (host == 0 || host == place.len)
        return host;
    return place.ptr[host] == ':' &&
           read_port(acp_str_n(place.ptr + host + 1, place.len - host - 1), &ret->port);
}

bool http_stays(struct acp_str from, struct acp_str to)
{
    struct origin a;
    struct origin b;
    if (!read_origin(from, &a) || !read_origin(to, &b))
        return false;
    if (a.host.len != b.host.len || strncasecmp(a.host.ptr, b.host.ptr, a.host.len) != 0)
        return false;
    bool upgraded = !a.secure && b.secure && a.port == HTTP_PORT && b.port == HTTPS_PORT;
    return upgraded || (a.secure == b.secure && a.port == b.port);
}

/* ---- Hosts ----------------------------------------------------------------------------------- */

struct acp_str http_place(struct acp_str url)
{
    if (!url.len)
        return url;
    const char *end = url.ptr + url.len;
    for (const char *p = url.ptr; p + 3 <= end; p++) {
        if (memcmp(p, "://", 3) == 0) {
            url = acp_str_n(p + 3, (size_t) (end - p) - 3);
            break;
        }
    }
    size_t n = 0;
    size_t from = 0;
    for (; n < url.len && !strchr("/?#\\", url.ptr[n]); n++) {
        if (url.ptr[n] == '@')
            from = n + 1; /* a user, and maybe a password */
    }
    return acp_str_n(url.ptr + from, n - from);
}

/* Whether the host begins so, and nothing but a port follows. */
static bool is_host(struct acp_str place, const char *host)
{
    size_t n = strlen(host);
    return place.len >= n && strncasecmp(place.ptr, host, n) == 0 &&
           (place.len == n || place.ptr[n] == ':');
}

bool http_is_loopback(struct acp_str url)
{
    struct acp_str place = http_place(url);
    if (is_host(place, "localhost") || is_host(place, "[::1]"))
        return true;
    if (place.len < 4 || memcmp(place.ptr, "127.", 4) != 0)
        return false;
    /* 127.0.0.1.example.com is another machine. */
    for (size_t i = 0; i < place.len && place.ptr[i] != ':'; i++) {
        if (place.ptr[i] != '.' && (place.ptr[i] < '0' || place.ptr[i] > '9'))
            return false;
    }
    return true;
}
