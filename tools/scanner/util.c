/* Small things that the rest of the scanner leans on. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "description.h"

void fail(struct place where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) fprintf(stderr, "%s:%d: ", where.file, where.line);
    (void) vfprintf(stderr, format, args);
    (void) fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* Everything is kept until the end, on one list: what is on it is no leak. */
struct kept {
    struct kept *older;
    max_align_t memory[];
};

static struct kept *all_kept;

void *checked_alloc(size_t size)
{
    struct kept *block = calloc(1, sizeof(*block) + size);
    if (!block) {
        (void) fputs("acp-scanner: out of memory\n", stderr);
        exit(1);
    }
    block->older = all_kept;
    all_kept = block;
    return block->memory;
}

void *grown(void *array, size_t count, size_t size)
{
    if (count & (count - 1)) /* not a power of two: there is room */
        return array;
    void *larger = checked_alloc((count ? count * 2 : 1) * size);
    if (count)
        memcpy(larger, array, count * size);
    return larger;
}

char *copy_text(const char *text, size_t len)
{
    char *copy = checked_alloc(len + 1);
    memcpy(copy, text, len);
    return copy;
}

char *format_text(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0 || (size_t) n >= sizeof(text)) {
        (void) fputs("acp-scanner: a name is too long\n", stderr);
        exit(1);
    }
    return copy_text(text, (size_t) n);
}

char *snake_case(const char *name)
{
    char *out = checked_alloc(strlen(name) * 2 + 1);
    size_t n = 0;
    for (const char *p = name; *p; p++) {
        if (isupper((unsigned char) *p)) {
            if (p > name && isalnum((unsigned char) p[-1]))
                out[n++] = '_';
            out[n++] = (char) tolower((unsigned char) *p);
        } else {
            out[n++] = isalnum((unsigned char) *p) ? *p : '_';
        }
    }
    return out;
}

char *upper_case(const char *name)
{
    char *out = copy_text(name, strlen(name));
    for (char *p = out; *p; p++)
        *p = (char) toupper((unsigned char) *p);
    return out;
}
