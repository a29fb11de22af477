/* trust.c - see trust.h. */
#include "config/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/paths.h"
#include "json/members.h"
#include "workspace/beneath.h"

/* The maximum size of the list; each entry is limited by PATHS_MAX_FILE. */
enum { MAX_LIST = 64 * 1024 * 1024 };

const char *trust_file(const char *const *environment, struct acp_arena *arena)
{
    const char *folder = paths_state_dir(environment, arena);
    return folder ? paths_join(arena, folder, "trusted.jsonl") : NULL;
}

/* Reads a line; false if it is not a valid entry. */
static bool read_line(struct acp_str line, struct acp_arena *arena, struct acp_str *ret_folder,
                      struct acp_str *ret_content)
{
    struct acp_json_reader r;
    struct acp_str key;
    *ret_folder = *ret_content = acp_str_from(NULL);
    acp_json_reader_init(&r, acp_raw_n(line.ptr, line.len), arena, 0);
    (void) acp_json_enter_object(&r);
    while (acp_json_next_key(&r, &key) > 0) {
        if (acp_str_is(key, "folder"))
            (void) acp_json_read_str(&r, ret_folder);
        else if (acp_str_is(key, "config"))
            (void) acp_json_read_str(&r, ret_content);
        else
            (void) acp_json_skip(&r);
    }
    return acp_json_read_end(&r) == 0 && ret_folder->ptr && ret_content->ptr;
}

/* The next line of a text without its end; false after the last. */
static bool next_line(struct acp_str *rest, struct acp_str *ret)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end ? (size_t) (end - rest->ptr) : rest->len;
    *ret = acp_str_n(rest->ptr, n);
    *rest = end ? acp_str_n(end + 1, rest->len - n - 1) : acp_str_n(rest->ptr + n, 0);
    return true;
}

static int read_list(const char *file, struct acp_buf *out)
{
    acp_buf_init(out, MAX_LIST);
    int err = paths_read_file(file, out);
    return err == -ENOENT ? 0 : err;
}

enum trust trust_check(const char *file, const char *folder, struct acp_str content)
{
    char real[ACP_PATH_SIZE];
    struct acp_buf list;
    enum trust trust = TRUST_NONE;
    if (!file || acp_path_real(folder, real))
        return TRUST_NONE;
    if (read_list(file, &list) == 0) {
        struct acp_str rest = acp_buf_view(&list);
        struct acp_str line;
        struct acp_arena arena;
        acp_arena_init(&arena, 0);
        while (next_line(&rest, &line)) {
            struct acp_str path;
            struct acp_str agreed;
            acp_arena_reset(&arena);
            if (read_line(line, &arena, &path, &agreed) && acp_str_is(path, real))
                trust = acp_str_eq(agreed, content) ? TRUST_YES : TRUST_CHANGED;
        }
        acp_arena_finish(&arena);
    }
    acp_buf_finish(&list);
    return trust;
}

static int fail_system(struct acp_buf *why, const char *what, const char *path, int reason)
{
    char text[80];
    if (strerror_r(-reason, text, sizeof(text)) != 0)
        (void) snprintf(text, sizeof(text), "error %d", -reason);
    (void) acp_buf_printf(why, "cannot %s %s: %s", what, path, text);
    return reason == -ENOMEM ? ACP_ERR_NOMEM : ACP_ERR_STATE;
}

/* Writes all entries except those of the directory; 1 if there was one. */
static int copy_others(struct acp_str list, const char *folder, struct acp_buf *out)
{
    struct acp_str line;
    struct acp_arena arena;
    int found = 0;
    acp_arena_init(&arena, 0);
    while (found >= 0 && next_line(&list, &line)) {
        struct acp_str path;
        struct acp_str content;
        acp_arena_reset(&arena);
        if (read_line(line, &arena, &path, &content) && acp_str_is(path, folder)) {
            found = 1;
            continue;
        }
        int err = acp_buf_append_str(out, line);
        if (!err)
            err = acp_buf_append(out, "\n", 1);
        if (err)
            found = err;
    }
    acp_arena_finish(&arena);
    return found;
}

/* Rewrites the list without the directory and, with content, adds it at the end. */
static int rewrite(const char *file, const char *real, const struct acp_str *content,
                   struct acp_buf *why)
{
    struct acp_buf list;
    struct acp_buf changed;
    acp_buf_init(&changed, MAX_LIST);
    int reason = read_list(file, &list);
    int found = reason ? reason : copy_others(acp_buf_view(&list), real, &changed);
    int err = reason ? fail_system(why, "read", file, reason) : (found < 0 ? found : 0);
    if (!err && content) {
        struct acp_json_writer w;
        acp_json_writer_init(&w, &changed);
        acp_json_begin_object(&w);
        acp_json_put_text(&w, "folder", real);
        acp_json_put_str(&w, "config", *content);
        acp_json_end_object(&w);
        err = w.err ? w.err : acp_buf_append(&changed, "\n", 1);
    }
    if (!err && (content || found)) {
        reason = paths_write_file(file, acp_buf_view(&changed), 0600);
        err = reason ? fail_system(why, "write", file, reason) : 0;
    } else if (!err) {
        (void) acp_buf_printf(why, "%s was not trusted", real);
        err = ACP_ERR_UNKNOWN;
    }
    acp_buf_finish(&list);
    acp_buf_finish(&changed);
    return err;
}

static int change(const char *file, const char *folder, const struct acp_str *content,
                  struct acp_buf *why)
{
    char real[ACP_PATH_SIZE];
    int reason = acp_path_real(folder, real);
    if (reason)
        return fail_system(why, "find", folder, reason);
    if (acp_text_check(acp_str_from(real)) < strlen(real)) {
        (void) acp_buf_printf(why, "cannot trust a directory whose name is not UTF-8");
        return ACP_ERR_UTF8;
    }
    int lock = paths_lock_file(file);
    if (lock < 0)
        return fail_system(why, "lock", file, lock);
    int err = rewrite(file, real, content, why);
    (void) close(lock);
    return err;
}

int trust_add(const char *file, const char *folder, struct acp_str content, struct acp_buf *why)
{
    /* Invalid UTF-8 would be stored changed, and never compare equal. */
    if (acp_text_check(content) < content.len) {
        (void) acp_buf_printf(why, "the configuration in %s is not valid UTF-8", folder);
        return ACP_ERR_UTF8;
    }
    return change(file, folder, &content, why);
}

int trust_remove(const char *file, const char *folder, struct acp_buf *why)
{
    return change(file, folder, NULL, why);
}

int trust_list(const char *file, trust_visit *visit, void *user, struct acp_buf *why)
{
    struct acp_buf list;
    int reason = read_list(file, &list);
    struct acp_str rest = acp_buf_view(&list);
    struct acp_str line;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    while (!reason && next_line(&rest, &line)) {
        struct acp_str folder;
        struct acp_str content;
        acp_arena_reset(&arena);
        if (read_line(line, &arena, &folder, &content))
            visit(folder, content, user);
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&list);
    return reason ? fail_system(why, "read", file, reason) : 0;
}
