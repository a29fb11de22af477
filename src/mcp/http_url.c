/* http_url.c - where the older HTTP transport wants its messages. */
#include "mcp/http_transport.h"

/* How long scheme and host are: everything before the path. */
static size_t origin_length(struct acp_str url)
{
    size_t n = 0;
    while (n < url.len && url.ptr[n] != ':')
        n++;
    n = n + 3 < url.len ? n + 3 : url.len; /* behind "://" */
    while (n < url.len && !strchr("/?#", url.ptr[n]))
        n++;
    return n;
}

static bool has_scheme(struct acp_str reference)
{
    for (size_t i = 0; i < reference.len; i++) {
        char c = reference.ptr[i];
        if (c == ':')
            return i > 0;
        if (c == '/' || c == '?' || c == '#')
            return false;
    }
    return false;
}

/* Printable ASCII only: what else may be in there is escaped in a URL. */
static bool is_plain(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~' || text.ptr[i] == '\\')
            return false;
    return text.len > 0;
}

/* Up to and with the last '/' of the path. */
static size_t folder_length(struct acp_str url, size_t origin)
{
    size_t end = origin;
    while (end < url.len && url.ptr[end] != '?' && url.ptr[end] != '#')
        end++;
    while (end > origin && url.ptr[end - 1] != '/')
        end--;
    return end;
}

int http_resolve(struct acp_str base, struct acp_str reference, struct acp_buf *out)
{
    size_t begun = out->len;
    size_t n = origin_length(base);
    if (!is_plain(reference))
        return ACP_ERR_ARGUMENT;
    int err = 0;
    if (!has_scheme(reference)) {
        if (reference.len > 1 && reference.ptr[0] == '/' && reference.ptr[1] == '/')
            return ACP_ERR_ARGUMENT;
        bool is_relative = reference.ptr[0] != '/';
        if (is_relative)
            n = folder_length(base, n);
        err = acp_buf_append_str(out, acp_str_n(base.ptr, n));
        if (!err && is_relative && base.ptr[n - 1] != '/')
            err = acp_buf_append(out, "/", 1);
    }
    if (!err)
        err = acp_buf_append_str(out, reference);
    struct acp_str whole = acp_buf_view(out);
    if (!err && !http_stays(base, acp_str_n(whole.ptr + begun, whole.len - begun)))
        err = ACP_ERR_ARGUMENT;
    if (err)
        acp_buf_truncate(out, begun);
    return err;
}
