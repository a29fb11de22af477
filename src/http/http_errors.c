/* Why a request has failed, in sentences that a person can act on. */
#include <errno.h>
#include <stdio.h>

#include "http/http_internal.h"

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
