/*
 * Fuzzes the table of sockets and the comparison of URLs.  The first byte chooses the kind of table
 * and the port; whatever stands in it, a foreign listener is never this user or root.
 */
#include "fuzz.h"
#include "http/http_client.h"
#include "model/listener.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { OWN = 1000 };
    if (!size)
        return 0;
    struct acp_str text = acp_str_n((const char *) data + 1, size - 1);
    uid_t uid = 0;
    enum listener found = listener_in(text, data[0] & 1, data[0] & 2 ? 1234 : 0, OWN, &uid);
    CHECK(found != LISTENER_FOREIGN || (uid != 0 && uid != OWN));
    const char *line = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    size_t n = line ? (size_t) (line - text.ptr) : text.len;
    struct acp_str one = acp_str_n(text.ptr, n);
    struct acp_str two = line ? acp_str_n(line + 1, text.len - n - 1) : one;
    if (!http_stays(one, two))
        return 0;
    /* Behind "http://" or "https://" there is a host, and no user before it. */
    const char *host = (const char *) memchr(two.ptr, '/', two.len) + 2;
    for (const char *at = host; at < two.ptr + two.len && !strchr("/?#", *at); at++)
        CHECK(*at != '@' && *at != '\\' && *at != '%');
    return 0;
}
