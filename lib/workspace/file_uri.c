/* Paths as file: URIs, and back. */
#include "acp/files.h"

/* ---- Writing -------------------------------------------------------------------------------- */

static bool is_plain_in_uri(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~/", c));
}

int acp_file_uri(struct acp_str path, struct acp_buf *out)
{
    size_t before = out->len;
    int err = acp_buf_append(out, "file://", 7);
    for (size_t i = 0; i < path.len && !err; i++) {
        if (is_plain_in_uri(path.ptr[i]))
            err = acp_buf_append(out, &path.ptr[i], 1);
        else
            err = acp_buf_printf(out, "%%%02X", (unsigned) (unsigned char) path.ptr[i]);
    }
    if (err)
        acp_buf_truncate(out, before);
    return err;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Takes the prefix away when the text begins with it, whatever the case of its letters. */
static bool skip(struct acp_str *text, const char *prefix)
{
    size_t n = strlen(prefix);
    for (size_t i = 0; i < n; i++) {
        char c = i < text->len ? text->ptr[i] : '\0';
        if (c >= 'A' && c <= 'Z')
            c = (char) (c - 'A' + 'a');
        if (c != prefix[i])
            return false;
    }
    *text = acp_str_n(text->ptr + n, text->len - n);
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The character at the beginning of the text, percents decoded; how long it is there, or 0. */
static size_t decode(struct acp_str text, char *ret)
{
    if (*text.ptr != '%') {
        *ret = *text.ptr;
        return *ret ? 1 : 0;
    }
    int high = text.len >= 3 ? digit_of(text.ptr[1]) : -1;
    int low = text.len >= 3 ? digit_of(text.ptr[2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0))
        return 0;
    *ret = (char) (high * 16 + low);
    return 3;
}

int acp_file_path(struct acp_str uri, struct acp_buf *out)
{
    size_t before = out->len;
    int err = 0;
    if (!skip(&uri, "file:"))
        return ACP_ERR_TYPE;
    if (skip(&uri, "//"))
        (void) skip(&uri, "localhost");
    if (!uri.len || *uri.ptr != '/')
        return ACP_ERR_RANGE;
    while (uri.len && *uri.ptr != '#' && *uri.ptr != '?' && !err) {
        char c = '\0';
        size_t n = decode(uri, &c);
        err = n ? acp_buf_append(out, &c, 1) : ACP_ERR_RANGE;
        uri = acp_str_n(uri.ptr + n, uri.len - n);
    }
    if (err)
        acp_buf_truncate(out, before);
    return err;
}
