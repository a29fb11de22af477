/* References: RFC 3986, sections 3 and 5.2. */
#include "schema/uri.h"

#include "json/grammar.h"

/* Absent parts have no pointer; the path is never absent. */
struct parts {
    struct acp_str scheme;    /* without its colon */
    struct acp_str authority; /* without its slashes */
    struct acp_str path;
    struct acp_str query; /* without its question mark */
};

struct acp_str schema_uri_cut_fragment(struct acp_str *uri)
{
    const char *hash = uri->len ? memchr(uri->ptr, '#', uri->len) : NULL;
    if (!hash)
        return acp_str_n(NULL, 0);
    struct acp_str fragment = {hash + 1, (size_t) (uri->ptr + uri->len - hash - 1)};
    uri->len = (size_t) (hash - uri->ptr);
    return fragment;
}

/* How many of the first bytes are none of the given ones. */
static size_t span_until(struct acp_str text, const char *stops)
{
    size_t n = 0;
    while (n < text.len && (text.ptr[n] == '\0' || !strchr(stops, text.ptr[n])))
        n++;
    return n;
}

static struct acp_str cut(struct acp_str *text, size_t n)
{
    struct acp_str head = acp_str_n(text->ptr, n);
    *text = acp_str_n(text->ptr + n, text->len - n);
    return head;
}

static struct parts split(struct acp_str uri)
{
    struct parts parts = {0};
    size_t n = span_until(uri, ":/?");
    if (n > 0 && n < uri.len && uri.ptr[n] == ':') {
        parts.scheme = cut(&uri, n);
        (void) cut(&uri, 1);
    }
    if (uri.len >= 2 && memcmp(uri.ptr, "//", 2) == 0) {
        (void) cut(&uri, 2);
        parts.authority = cut(&uri, span_until(uri, "/?"));
    }
    parts.path = cut(&uri, span_until(uri, "?"));
    if (uri.len)
        parts.query = acp_str_n(uri.ptr + 1, uri.len - 1);
    return parts;
}

/* Takes the last name off a path that is being made. */
static void drop_name(struct acp_buf *out, size_t begin)
{
    while (out->len > begin && out->data[out->start + out->len - 1] != '/')
        out->len--;
}

/* Appends a path without its "." and ".." names. */
static int append_path(struct acp_buf *out, struct acp_str path)
{
    size_t begin = out->len;
    int err = 0;
    while (!err && path.len > 0) {
        struct acp_str name = cut(&path, span_until(path, "/"));
        bool slash = path.len > 0;
        if (slash)
            (void) cut(&path, 1);
        if (acp_str_is(name, "."))
            continue;
        if (acp_str_is(name, "..")) {
            if (out->len > begin + 1)
                out->len--;
            drop_name(out, begin);
            continue;
        }
        err = acp_buf_append_str(out, name);
        if (!err && slash)
            err = acp_buf_append(out, "/", 1);
    }
    return err;
}

/* The path of a reference behind all of the base's but its last name. */
static int append_merged(struct acp_buf *out, const struct parts *base, struct acp_str path)
{
    struct acp_buf merged;
    struct acp_str folder = base->path;
    acp_buf_init(&merged, SIZE_MAX / 2);
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    int err = 0;
    if (base->authority.ptr && base->path.len == 0)
        err = acp_buf_append(&merged, "/", 1);
    if (!err)
        err = acp_buf_append_str(&merged, folder);
    if (!err)
        err = acp_buf_append_str(&merged, path);
    if (!err)
        err = append_path(out, acp_buf_view(&merged));
    acp_buf_finish(&merged);
    return err;
}

static int append_all(struct acp_buf *out, struct acp_str base, struct acp_str reference)
{
    struct parts b = split(base);
    struct parts r = split(reference);
    bool own = r.scheme.ptr || r.authority.ptr;
    struct acp_str scheme = r.scheme.ptr ? r.scheme : b.scheme;
    struct acp_str authority = own ? r.authority : b.authority;
    struct acp_str query = own || r.path.len || r.query.ptr ? r.query : b.query;
    int err = 0;
    if (scheme.ptr)
        err = acp_buf_printf(out, "%.*s:", (int) scheme.len, scheme.ptr);
    if (!err && authority.ptr)
        err = acp_buf_printf(out, "//%.*s", (int) authority.len, authority.ptr);
    if (!err) {
        if (own || (r.path.len && r.path.ptr[0] == '/'))
            err = append_path(out, r.path);
        else
            err = r.path.len ? append_merged(out, &b, r.path) : append_path(out, b.path);
    }
    if (!err && query.ptr)
        err = acp_buf_printf(out, "?%.*s", (int) query.len, query.ptr);
    return err;
}

int schema_uri_resolve(struct acp_str base, struct acp_str reference, struct acp_arena *arena,
                       struct acp_str *ret)
{
    struct acp_buf out;
    acp_buf_init(&out, SIZE_MAX / 2);
    int err = append_all(&out, base, reference);
    if (!err) {
        struct acp_str copy = acp_arena_copy(arena, acp_buf_view(&out));
        if (copy.ptr)
            *ret = copy;
        else
            err = ACP_ERR_NOMEM;
    }
    acp_buf_finish(&out);
    return err;
}

int schema_uri_decode(struct acp_str text, struct acp_arena *arena, struct acp_str *ret)
{
    char *out = acp_arena_alloc(arena, text.len + 1);
    if (!out)
        return ACP_ERR_NOMEM;
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high =
            text.ptr[i] == '%' && text.len - i > 2 ? acp_json_hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? acp_json_hex_digit(text.ptr[i + 2]) : -1;
        if (low >= 0) {
            out[n++] = (char) (high << 4 | low);
            i += 2;
        } else {
            out[n++] = text.ptr[i];
        }
    }
    *ret = acp_str_n(out, n);
    return 0;
}
