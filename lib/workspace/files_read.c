/*
 * Taking lines out of a text: block by block, so that the first lines of a huge file cost what the
 * first block costs, and nothing is kept but what is returned.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace/beneath.h"

enum { BLOCK = 64 * 1024 };

struct slice {
    uint64_t skip;   /* lines still to pass over */
    uint64_t left;   /* lines still wanted */
    uint64_t passed; /* bytes passed over */
    const struct acp_files_lines *lines;
    const struct acp_files_options *options;
    struct acp_buf *out;
    const char *path;
    struct acp_files_error *error;
};

static struct slice start(const struct acp_files_lines *lines,
                          const struct acp_files_options *options, struct acp_buf *out,
                          const char *path, struct acp_files_error *error)
{
    return (struct slice){.skip = lines->first - 1,
                          .left = lines->count,
                          .lines = lines,
                          .options = options,
                          .out = out,
                          .path = path,
                          .error = error};
}

static int fail_size(const struct slice *s)
{
    return acp_files_fail(s->error, ACP_ERR_LIMIT, ACP_FILES_INVALID,
                          "%s more than %zu bytes, the most that is read at once: %s",
                          s->lines->whole ? "The file has" : "The lines have",
                          s->options->max_bytes, s->path);
}

static int fail_binary(const struct slice *s)
{
    return acp_files_fail(s->error, ACP_ERR_UTF8, ACP_FILES_FAILED,
                          "The file is binary (it has a NUL byte), not text: %s", s->path);
}

/* Where the first n lines of the bytes end; *n becomes how many of them are not there. */
static const char *after_lines(const char *p, const char *end, uint64_t *n)
{
    while (*n > 0 && p < end) {
        const char *line_end = memchr(p, '\n', (size_t) (end - p));
        if (!line_end)
            return end;
        p = line_end + 1;
        (*n)--;
    }
    return p;
}

/* 1: more can be taken; 0: that was all; or an error. */
static int take(struct slice *s, const char *p, size_t n)
{
    const char *end = p + n;
    const char *first = after_lines(p, end, &s->skip);
    s->passed += (uint64_t) (first - p);
    if (s->passed > s->options->max_scan)
        return acp_files_fail(s->error, ACP_ERR_LIMIT, ACP_FILES_INVALID,
                              "Line %llu is more than %llu bytes into the file: %s",
                              (unsigned long long) s->lines->first,
                              (unsigned long long) s->options->max_scan, s->path);
    const char *last = s->left == UINT64_MAX ? end : after_lines(first, end, &s->left);
    if (memchr(p, '\0', (size_t) (last - p)))
        return fail_binary(s);
    size_t got = (size_t) (last - first);
    if (got > s->options->max_bytes - s->out->len)
        return fail_size(s);
    int err = acp_buf_append(s->out, first, got);
    if (err == ACP_ERR_LIMIT)
        return fail_size(s);
    if (err)
        return acp_files_fail_system(s->error, -ENOMEM, "read", s->path);
    return s->left > 0;
}

/* All that was taken is text. */
static int check_text(const struct slice *s)
{
    struct acp_str text = acp_buf_view(s->out);
    size_t bad = acp_text_check(text);
    if (bad == text.len)
        return 0;
    uint64_t line = s->lines->first;
    for (size_t i = 0; i < bad; i++)
        line += text.ptr[i] == '\n';
    return acp_files_fail(s->error, ACP_ERR_UTF8, ACP_FILES_FAILED,
                          "The file is not UTF-8 text (see line %llu): %s",
                          (unsigned long long) line, s->path);
}

int acp_files_take_text(struct acp_str text, const struct acp_files_lines *lines,
                        const struct acp_files_options *options, struct acp_buf *out,
                        const char *path, struct acp_files_error *error)
{
    struct slice s = start(lines, options, out, path, error);
    int err = s.left && text.len ? take(&s, text.ptr, text.len) : 0;
    return err < 0 ? err : check_text(&s);
}

/* Reads until the slice has all or the file ends. */
static int read_blocks(struct slice *s, int fd, char *block)
{
    int more = s->left > 0;
    while (more > 0) {
        ssize_t n = read(fd, block, BLOCK);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return acp_files_fail_system(s->error, -errno, "read", s->path);
        more = take(s, block, (size_t) n);
    }
    return more < 0 ? more : check_text(s);
}

int acp_files_take_file(int fd, const struct acp_files_lines *lines,
                        const struct acp_files_options *options, struct acp_buf *out,
                        const char *path, struct acp_files_error *error)
{
    struct slice s = start(lines, options, out, path, error);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return acp_files_fail_system(error, -errno, "read", path);
    uint64_t size = st.st_size > 0 ? (uint64_t) st.st_size : 0;
    if (lines->whole && size > options->max_bytes)
        return fail_size(&s);
    /* Room at once; a failure here would come again below, with its message. */
    if (lines->whole)
        (void) acp_buf_reserve(out, (size_t) size);
    char *block = malloc(BLOCK);
    if (!block)
        return acp_files_fail_system(error, -ENOMEM, "read", path);
    int err = read_blocks(&s, fd, block);
    free(block);
    return err;
}
