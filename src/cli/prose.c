/* prose.c - see prose.h. */
#include "cli/prose.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 100, USUAL = 80, PROSE_MAX = 64 * 1024 };

/* Whether scdoc takes an underscore as the start or end of underlining. */
static bool is_mark(char before, bool underlined, char after)
{
    return !isalnum((unsigned char) before) || (underlined && !isalnum((unsigned char) after));
}

int prose_plain(const char *prose, struct acp_buf *out)
{
    bool underlined = false;
    char before = ' ';
    int err = 0;
    for (const char *p = prose; *p && !err; before = *p++) {
        if (*p == '*')
            continue;
        if (*p == '_' && is_mark(before, underlined, p[1])) {
            underlined = !underlined;
            continue;
        }
        if (*p == '\\' && p[1])
            p++;
        err = acp_buf_append(out, p, 1);
    }
    return err;
}

static size_t clamp(size_t width)
{
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

size_t output_width(const struct output *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    size_t width = 0;
    /* Four digits are enough for any terminal. */
    for (size_t i = 0; columns && columns[i] >= '0' && columns[i] <= '9' && i < 4; i++)
        width = width * 10 + (size_t) (columns[i] - '0');
    if (width)
        return width;
    if (ioctl(out->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return USUAL;
}

size_t prose_width(const struct output *out)
{
    return clamp(output_width(out));
}

static void put_blanks(struct output *out, size_t count)
{
    output_printf(out, "%*s", (int) count, "");
}

/* A paragraph: words up to end, with a line end after the last. */
static void put_paragraph(struct output *out, const char *p, const char *end, size_t indent,
                          size_t column, size_t width)
{
    bool fresh = true; /* the line is still empty, so no blank is needed before a word */
    while (p < end) {
        size_t n = 0;
        while (p + n < end && p[n] != ' ' && p[n] != '\n')
            n++;
        if (n > 0) {
            if (!fresh && column + 1 + n > width) {
                output_text(out, acp_str_from("\n"));
                column = 0;
                fresh = true;
            }
            if (fresh && column < indent) {
                put_blanks(out, indent - column);
                column = indent;
            } else if (!fresh) {
                output_text(out, acp_str_from(" "));
                column++;
            }
            output_text(out, acp_str_n(p, n));
            column += n;
            fresh = false;
        }
        p += n + (p + n < end);
    }
    output_text(out, acp_str_from("\n"));
}

void prose_print(struct output *out, const char *prose, size_t indent, size_t column, size_t width)
{
    struct acp_buf plain;
    acp_buf_init(&plain, PROSE_MAX);
    if (prose_plain(prose, &plain) == 0) {
        struct acp_str text = acp_buf_view(&plain);
        const char *end = text.ptr + text.len;
        for (const char *p = text.ptr; p < end;) {
            const char *stop = p;
            while (stop < end && !(stop[0] == '\n' && stop + 1 < end && stop[1] == '\n'))
                stop++;
            put_paragraph(out, p, stop, indent, column, width);
            column = 0;
            p = stop < end ? stop + 2 : end;
            if (p < end)
                output_text(out, acp_str_from("\n"));
        }
    }
    acp_buf_finish(&plain);
}
