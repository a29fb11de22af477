/* shown_text.c - see shown_text.h. */
#include "cmd/shown_text.h"

int shown_text_line(struct acp_buf *out, struct acp_str text)
{
    return sanitize_whole(SANITIZE_LINE, text, out);
}

int shown_text_lines(struct acp_buf *out, enum sanitize_mode mode, struct acp_str text)
{
    int err = 0;
    while (!err) {
        const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
        size_t n = end ? (size_t) (end - text.ptr) : text.len;
        err = sanitize_whole(mode, acp_str_n(text.ptr, n), out);
        if (!err)
            err = acp_buf_append(out, "\n", 1);
        if (err || !end)
            break;
        text = acp_str_n(end + 1, text.len - n - 1);
        err = acp_buf_append_str(out, acp_str_from("  | "));
    }
    return err;
}
