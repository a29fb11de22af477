/*
 * Fuzzes file: URIs: what is read out of one is an absolute path without a NUL, and a path that is
 * written as one is read again.  The input is both, a URI and a path.
 */
#include <stdlib.h>

#include "acp/files.h"
#include "fuzz.h"

enum { MOST = 1000 };

static void check_back(struct acp_str path)
{
    struct acp_buf uri;
    struct acp_buf again;
    acp_buf_init(&uri, 3 * (size_t) MOST + 16);
    acp_buf_init(&again, MOST);
    CHECK(acp_file_uri(path, &uri) == 0);
    CHECK(acp_file_path(acp_buf_view(&uri), &again) == 0);
    CHECK(acp_str_eq(acp_buf_view(&again), path));
    acp_buf_finish(&uri);
    acp_buf_finish(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;
    /* A copy of its own size, so that the sanitizer sees every read outside of it. */
    char *copy = malloc(size);
    CHECK(copy);
    memcpy(copy, data, size);
    struct acp_str text = acp_str_n(copy, size);
    struct acp_buf path;
    acp_buf_init(&path, MOST);
    if (acp_file_path(text, &path) == 0) {
        struct acp_str found = acp_buf_view(&path);
        CHECK(found.len && *found.ptr == '/' && !memchr(found.ptr, 0, found.len));
        check_back(found);
    } else {
        CHECK(path.len == 0);
    }
    if (*copy == '/' && !memchr(copy, 0, size))
        check_back(text);
    acp_buf_finish(&path);
    free(copy);
    return 0;
}
