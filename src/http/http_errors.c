/* Why a request has failed, in sentences that a person can act on. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "http/http_internal.h"

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

static enum http_trouble connect_trouble(CURL *easy)
{
    long number = 0;
    (void) curl.easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    return number == ENETUNREACH || number == EHOSTUNREACH || number == ENETDOWN ? HTTP_NO_NETWORK
                                                                                 : HTTP_REFUSED;
}

enum http_trouble http_trouble_of(CURL *easy, CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return HTTP_DONE;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return HTTP_ADDRESS;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return HTTP_NAME;
    case CURLE_COULDNT_CONNECT:
        return connect_trouble(easy);
    case CURLE_OPERATION_TIMEDOUT:
        return HTTP_SLOW;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return HTTP_TLS;
    case CURLE_OUT_OF_MEMORY:
        return HTTP_NO_MEMORY;
    default:
        return HTTP_BROKEN;
    }
}

/* What stands before the place, and behind it. */
static const struct {
    const char *before;
    const char *behind;
} sentences[] = {
    [HTTP_DONE] = {"", " has answered"},
    [HTTP_ADDRESS] = {"\"", "\" is no address of a web server"},
    [HTTP_NAME] = {"the name ", " is not found: is there a network, and is the address right?"},
    [HTTP_NO_NETWORK] = {"there is no way to ", ": is there a network?"},
    [HTTP_REFUSED] = {"nothing answers at ", ": is the server running, and is the address right?"},
    [HTTP_PRIVATE] = {"", " is on this machine or in a network that is not public"},
    [HTTP_TLS] = {"no safe connection to ", ": its certificate or its TLS is not accepted"},
    [HTTP_SLOW] = {"", " took too long"},
    [HTTP_STALLED] = {"nothing came from ", " any more"},
    [HTTP_BROKEN] = {"the connection to ", " broke"},
    [HTTP_TOO_LARGE] = {"the answer of ", " is too large"},
    [HTTP_NO_MEMORY] = {"there is no memory for a request to ", ""},
};

void http_sentence(const char *url, uint64_t stall_ms, enum http_trouble trouble, CURLcode code,
                   char *out, size_t size)
{
    enum { SHOWN = 160 };
    struct acp_str place = http_place(acp_str_from(url));
    char more[120] = "";
    if (trouble == HTTP_STALLED)
        (void) snprintf(more, sizeof(more), " for %llu s",
                        (unsigned long long) (stall_ms + 999) / 1000);
    else if (code && (trouble == HTTP_BROKEN || trouble == HTTP_TLS))
        (void) snprintf(more, sizeof(more), " (%s)", curl.easy_strerror(code));
    (void) snprintf(out, size, "%s%.*s%s%s", sentences[trouble].before,
                    place.len < SHOWN ? (int) place.len : (int) SHOWN, place.ptr,
                    sentences[trouble].behind, more);
}
