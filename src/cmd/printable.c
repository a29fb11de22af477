/* printable.c - see printable.h. */
#include "cmd/printable.h"

void make_printable(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) text[i];
        bool latin = c == 0xC2 && i + 1 < len && (unsigned char) text[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || latin)
            text[i] = '?';
        if (latin)
            text[i + 1] = '?';
    }
}

void print_text(FILE *out, struct acp_buf *text)
{
    char *at = text->len ? text->data + text->start : NULL;
    char *end = at ? at + text->len : NULL;
    while (at < end) {
        char *line = memchr(at, '\n', (size_t) (end - at));
        size_t n = (size_t) ((line ? line : end) - at);
        make_printable(at, n);
        (void) fwrite(at, 1, n + (line != NULL), out);
        at += n + (line != NULL);
    }
}
