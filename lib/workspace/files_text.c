/*
 * Paths and texts as such, without a disk: tidying a path, comparing it with a directory's,
 * checking UTF-8, and the sentences that errors are told with.  Only acp_path_real() looks at the
 * disk.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/json.h"
#include "base/utf8.h"
#include "workspace/beneath.h"

/* ---- Paths ---------------------------------------------------------------------------------- */

/* One name of the path onto what is written already. */
static size_t append_name(char *out, size_t len, const char *name, size_t n)
{
    if (n == 0 || (n == 1 && name[0] == '.'))
        return len;
    if (n == 2 && name[0] == '.' && name[1] == '.') {
        while (len > 0 && out[len - 1] != '/')
            len--;
        return len > 0 ? len - 1 : 0;
    }
    out[len++] = '/';
    memcpy(out + len, name, n);
    return len + n;
}

int acp_path_normal(struct acp_str path, char *out, bool *ret_directory)
{
    if (path.len == 0 || path.ptr[0] != '/' || memchr(path.ptr, '\0', path.len))
        return -EINVAL;
    if (path.len >= ACP_PATH_SIZE)
        return -ENAMETOOLONG;
    size_t len = 0;
    size_t n = 0;
    const char *name = path.ptr;
    const char *end = path.ptr + path.len;
    for (const char *p = path.ptr; p < end;) {
        while (p < end && *p == '/')
            p++;
        name = p;
        while (p < end && *p != '/')
            p++;
        n = (size_t) (p - name);
        len = append_name(out, len, name, n);
    }
    if (ret_directory)
        *ret_directory = n == 0 || (n == 1 && name[0] == '.') || (n == 2 && !memcmp(name, "..", 2));
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return 0;
}

bool acp_path_within(const char *path, const char *directory, const char **ret_rest)
{
    size_t n = strlen(directory);
    /* Only "/" ends in a slash. */
    if (n == 1)
        n = 0;
    if (strncmp(path, directory, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return false;
    if (ret_rest)
        *ret_rest = path + n + (path[n] == '/');
    return true;
}

int acp_path_real(const char *path, char *out)
{
    /* With a slash in it, so that there always is a folder to go up to. */
    char whole[ACP_PATH_SIZE];
    char head[ACP_PATH_SIZE];
    int printed = snprintf(whole, sizeof(whole), "%s%s", *path == '/' ? "" : "./", path);
    if (printed < 0 || (size_t) printed >= sizeof(whole))
        return -ENAMETOOLONG;
    size_t len = (size_t) printed;
    memcpy(head, whole, len + 1);
    size_t cut = len;
    for (;;) {
        char *real = realpath(head, NULL);
        if (real) {
            size_t n = strlen(real);
            n = n == 1 ? 0 : n;
            bool fits = n + (len - cut) < ACP_PATH_SIZE;
            if (fits) {
                memcpy(out, real, n);
                memcpy(out + n, whole + cut, len - cut + 1);
            }
            free(real);
            if (fits && !*out)
                memcpy(out, "/", 2);
            return fits ? 0 : -ENAMETOOLONG;
        }
        int reason = errno;
        struct stat st;
        if ((reason != ENOENT && reason != ENOTDIR) || lstat(head, &st) == 0)
            return -reason;
        cut = (size_t) (strrchr(head, '/') - head);
        head[cut > 0 ? cut : 1] = '\0';
    }
}

/* ---- Text ----------------------------------------------------------------------------------- */

size_t acp_text_check(struct acp_str text)
{
    if (text.len == 0)
        return 0;
    const char *p = text.ptr;
    const char *end = text.ptr + text.len;
    while (p < end) {
        /* Most text is ASCII: eight at a time, none with its high bit set and none NUL. */
        uint64_t word = 0;
        while ((size_t) (end - p) >= sizeof(word)) {
            memcpy(&word, p, sizeof(word));
            const uint64_t ones = 0x0101010101010101u;
            const uint64_t highs = 0x8080808080808080u;
            if ((word | (word - ones)) & highs)
                break;
            p += sizeof(word);
        }
        if (p == end)
            break;
        size_t n = *p ? acp_utf8_length(p, end) : 0;
        if (n == 0)
            return (size_t) (p - text.ptr);
        p += n;
    }
    return text.len;
}

int acp_files_not_found_data(struct acp_str path, struct acp_buf *out)
{
    struct acp_buf uri;
    acp_buf_init(&uri, path.len * 3 + 16);
    size_t before = out->len;
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    int err = acp_file_uri(path, &uri);
    if (!err) {
        acp_json_begin_object(&w);
        acp_json_write_key(&w, (struct acp_str) ACP_STR("uri"));
        acp_json_write_str(&w, acp_buf_view(&uri));
        acp_json_end_object(&w);
        err = w.err;
    }
    if (err)
        acp_buf_truncate(out, before);
    acp_buf_finish(&uri);
    return err;
}

/* ---- Errors --------------------------------------------------------------------------------- */

/* A sentence that did not fit ends with a whole character. */
static void tidy_end(char *text)
{
    size_t bad = acp_text_check(acp_str_from(text));
    size_t len = strlen(text);
    if (bad < len && len - bad < 4)
        text[bad] = '\0';
}

int acp_files_fail(struct acp_files_error *error, int err, int64_t code, const char *format, ...)
{
    if (!error)
        return err;
    error->code = code;
    va_list args;
    va_start(args, format);
    (void) vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    tidy_end(error->message);
    return err;
}

int acp_files_fail_options(struct acp_files_error *error, int err)
{
    return acp_files_fail(error, err, ACP_FILES_FAILED,
                          "The options have a member that this library is too old for");
}

static int fail_not_found(struct acp_files_error *error, const char *path)
{
    struct acp_buf uri;
    acp_buf_init(&uri, (size_t) ACP_PATH_SIZE * 3);
    int err = acp_file_uri(acp_str_from(path), &uri);
    (void) acp_files_fail(error, ACP_ERR_MISSING, ACP_FILES_NOT_FOUND, "Resource not found: %.*s",
                          (int) uri.len, err ? "" : acp_buf_view(&uri).ptr);
    acp_buf_finish(&uri);
    return ACP_ERR_MISSING;
}

int acp_files_fail_system(struct acp_files_error *error, int reason, const char *verb,
                          const char *path)
{
    if (reason == -EXDEV)
        return acp_files_fail(error, ACP_ERR_RANGE, ACP_FILES_INVALID,
                              "The path is outside of the workspace: %s", path);
    if (reason == -ENOENT)
        return fail_not_found(error, path);
    char text[100];
    if (strerror_r(-reason, text, sizeof(text)) != 0)
        (void) snprintf(text, sizeof(text), "Error %d", -reason);
    return acp_files_fail(error, reason == -ENOMEM ? ACP_ERR_NOMEM : ACP_ERR_STATE,
                          ACP_FILES_FAILED, "%s: cannot %s %s", text, verb, path);
}
