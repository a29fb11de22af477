/*
 * file_walk.c - the walk.  Folders to visit are kept in a list, and each is opened below its root
 * only when it is visited.  So a single descriptor is open, and a folder that was replaced by a
 * link in the meantime does not lead outside.
 */
#define _GNU_SOURCE /* O_PATH, d_type */
#include "agent/toolkit/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text/ignore.h"
#include "workspace/beneath.h"

/* A folder to visit. */
struct folder {
    struct folder *next;
    const char *rest; /* below the root, "" for the root itself */
    size_t depth;     /* of what is in it; the top has 1 */
    const struct ignore *rules;
};

struct name {
    const char *text;
    enum walk_kind kind;
};

struct walk {
    const struct walk_options *options;
    walk_fn *fn;
    void *user;
    struct acp_beneath root;
    struct walk_outcome outcome;
    struct timespec until;
    struct acp_arena kept;  /* folders and rules */
    struct acp_arena names; /* of the folder that is being read */
    struct folder *folders; /* the next one first */
    char path[ACP_PATH_SIZE];
    size_t root_len; /* bytes of the root and a slash, with which path begins */
    size_t top_len;  /* the same with the top */
};

/* ---- Limits --------------------------------------------------------------------------------- */

bool walk_is_over(const struct walk *walk)
{
    struct timespec now;
    if (walk->options->stop && atomic_load(walk->options->stop))
        return true;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > walk->until.tv_sec ||
           (now.tv_sec == walk->until.tv_sec && now.tv_nsec >= walk->until.tv_nsec);
}

static bool is_stopped(const struct walk *walk)
{
    return walk->options->stop && atomic_load(walk->options->stop);
}

static void end_walk(struct walk *walk, enum walk_end end)
{
    if (walk->outcome.end == WALK_COMPLETE || walk->outcome.end == WALK_TOO_DEEP)
        walk->outcome.end = end;
}

static bool goes_on(const struct walk *walk)
{
    return walk->outcome.end == WALK_COMPLETE || walk->outcome.end == WALK_TOO_DEEP;
}

/* Counts a name.  The clock is read only now and then, since that takes longer than a name. */
static bool count_entry(struct walk *walk)
{
    uint64_t most = walk->options->max_entries ? walk->options->max_entries : WALK_MAX_ENTRIES;
    if (walk->outcome.entries == most) {
        end_walk(walk, WALK_TOO_MANY);
        return false;
    }
    walk->outcome.entries++;
    if (walk->outcome.entries % 64 == 0 && walk_is_over(walk))
        end_walk(walk, is_stopped(walk) ? WALK_STOPPED : WALK_TOO_LONG);
    return goes_on(walk);
}

const char *walk_end_text(enum walk_end end)
{
    switch (end) {
    case WALK_TOO_MANY:
        return "there are more files than are searched";
    case WALK_TOO_LONG:
        return "it took too long";
    case WALK_TOO_DEEP:
        return "very deep folders were left out";
    case WALK_NO_MEMORY:
        return "it took too much memory";
    case WALK_STOPPED:
        return "it was stopped";
    default:
        return NULL;
    }
}

/* ---- Paths ---------------------------------------------------------------------------------- */

/* Sets the path to one below the root; false if it is too long for the kernel. */
static bool set_path(struct walk *walk, const char *folder, const char *name)
{
    size_t room = sizeof(walk->path) - walk->root_len;
    int n = snprintf(walk->path + walk->root_len, room, "%s%s%s", folder,
                     *folder && *name ? "/" : "", name);
    return n >= 0 && (size_t) n < room;
}

static const char *rest_of(const struct walk *walk)
{
    return walk->path + walk->root_len;
}

int walk_open(const struct walk *walk, const struct walk_entry *entry)
{
    const struct acp_files_options options = {.guard = walk->options->guard};
    int fd = -1;
    int err = acp_files_open(walk->options->roots, acp_str_from(entry->path), &options, &fd, NULL);
    return err ? err : fd;
}

/* ---- Rules ---------------------------------------------------------------------------------- */

/* Reads a file of rules below the root, if there is one.  ACP_ERR_NOMEM is the only error. */
static int read_rules(struct walk *walk, const char *folder, const char *file,
                      const struct ignore **rules)
{
    char path[2 * ACP_PATH_SIZE + 32];
    char text[4096];
    struct acp_buf all;
    ssize_t n = 0;
    int fd = -1;
    (void) snprintf(path, sizeof(path), "%.*s%s%s%s", (int) walk->root_len, walk->path, folder,
                    *folder ? "/" : "", file);
    if (acp_files_open(walk->options->roots, acp_str_from(path), NULL, &fd, NULL))
        return 0;
    acp_buf_init(&all, IGNORE_MAX_BYTES + sizeof(text));
    while (all.len < IGNORE_MAX_BYTES && (n = read(fd, text, sizeof(text))) > 0)
        if (acp_buf_append(&all, text, (size_t) n))
            break;
    (void) close(fd);
    int err = ignore_parse(acp_buf_view(&all), acp_str_from(folder), *rules, &walk->kept, rules);
    acp_buf_finish(&all);
    return err;
}

/* The rules that the folder inherits from those above it and from the repository. */
static int rules_above(struct walk *walk, const char *rest, const struct ignore **rules)
{
    char folder[ACP_PATH_SIZE];
    int err = read_rules(walk, "", ".git/info/exclude", rules);
    for (const char *at = rest; !err && *at;) {
        size_t n = (size_t) (at - rest);
        (void) snprintf(folder, sizeof(folder), "%.*s", (int) (n ? n - 1 : 0), rest);
        err = read_rules(walk, folder, ".gitignore", rules);
        at = strchr(at, '/') ? strchr(at, '/') + 1 : "";
    }
    return err;
}

/* ---- A folder ------------------------------------------------------------------------------- */

static enum walk_kind kind_of(int dir, const struct dirent *entry)
{
    struct stat st;
    switch (entry->d_type) {
    case DT_REG:
        return WALK_FILE;
    case DT_DIR:
        return WALK_FOLDER;
    case DT_LNK:
        return WALK_LINK;
    case DT_UNKNOWN:
        break;
    default:
        return WALK_OTHER;
    }
    if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return WALK_OTHER;
    return S_ISREG(st.st_mode)   ? WALK_FILE
           : S_ISDIR(st.st_mode) ? WALK_FOLDER
           : S_ISLNK(st.st_mode) ? WALK_LINK
                                 : WALK_OTHER;
}

static bool is_passed_over(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0;
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a;
    const struct name *y = b;
    if ((x->kind == WALK_FOLDER) != (y->kind == WALK_FOLDER))
        return x->kind == WALK_FOLDER ? 1 : -1;
    return strcmp(x->text, y->text);
}

static bool add_name(struct walk *walk, struct name **names, size_t *count, size_t *room,
                     const char *text, enum walk_kind kind)
{
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 64;
        struct name *grown = realloc(*names, more * sizeof(struct name));
        if (!grown)
            return false;
        *names = grown;
        *room = more;
    }
    struct acp_str copy = acp_arena_copy(&walk->names, acp_str_from(text));
    if (!copy.ptr)
        return false;
    (*names)[(*count)++] = (struct name){copy.ptr, kind};
    return true;
}

/* The names in a folder that are not ignored, sorted; the caller frees *ret. */
static size_t read_names(struct walk *walk, DIR *dir, const struct folder *folder,
                         struct name **ret)
{
    size_t count = 0;
    size_t room = 0;
    struct dirent *entry;
    while (goes_on(walk) && (entry = readdir(dir))) {
        if (is_passed_over(entry->d_name) || !count_entry(walk))
            continue;
        enum walk_kind kind = kind_of(dirfd(dir), entry);
        if (!set_path(walk, folder->rest, entry->d_name))
            continue;
        if (ignore_matches(folder->rules, acp_str_from(rest_of(walk)), kind == WALK_FOLDER)) {
            walk->outcome.ignored++;
            continue;
        }
        if (count == WALK_MAX_FOLDER)
            end_walk(walk, WALK_TOO_MANY);
        else if (!add_name(walk, ret, &count, &room, entry->d_name, kind))
            end_walk(walk, WALK_NO_MEMORY);
    }
    if (count)
        qsort(*ret, count, sizeof(struct name), compare_names);
    return count;
}

/* Inserts the folder after `after`, before those that are in the list already. */
static struct folder **push(struct walk *walk, struct folder **after, size_t depth,
                            const struct ignore *rules)
{
    struct folder *folder = acp_arena_alloc(&walk->kept, sizeof(*folder));
    struct acp_str rest = acp_arena_copy(&walk->kept, acp_str_from(rest_of(walk)));
    if (!folder || !rest.ptr) {
        end_walk(walk, WALK_NO_MEMORY);
        return after;
    }
    *folder = (struct folder){*after, rest.ptr, depth, rules};
    *after = folder;
    return &folder->next;
}

/* Reports the names that were found, even if there were too many. */
static void tell_names(struct walk *walk, const struct folder *folder, const struct name *names,
                       size_t count)
{
    size_t deepest = walk->options->depth ? walk->options->depth : WALK_MAX_DEPTH;
    struct folder **after = &walk->folders;
    bool enough = false;
    for (size_t i = 0; i < count && !enough; i++) {
        if (walk_is_over(walk)) {
            end_walk(walk, is_stopped(walk) ? WALK_STOPPED : WALK_TOO_LONG);
            return;
        }
        if (!set_path(walk, folder->rest, names[i].text))
            continue;
        struct walk_entry entry = {walk->path, walk->path + walk->top_len, names[i].kind};
        enough = walk->fn(walk, &entry, walk->user) != 0;
        if (enough || names[i].kind != WALK_FOLDER)
            continue;
        if (folder->depth < deepest)
            after = push(walk, after, folder->depth + 1, folder->rules);
        else if (!walk->options->depth)
            end_walk(walk, WALK_TOO_DEEP);
    }
    if (enough)
        walk->outcome.end = WALK_ENOUGH;
}

static void visit(struct walk *walk, struct folder *folder)
{
    struct name *names = NULL;
    int fd = acp_beneath_open(&walk->root, folder->rest, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            (void) close(fd);
        walk->outcome.unreadable++;
        return;
    }
    if (!walk->options->with_ignored &&
        read_rules(walk, folder->rest, ".gitignore", &folder->rules))
        end_walk(walk, WALK_NO_MEMORY);
    size_t count = read_names(walk, dir, folder, &names);
    (void) closedir(dir);
    tell_names(walk, folder, names, count);
    free(names);
    acp_arena_reset(&walk->names);
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* Finds the root that contains the top; 0 with the kind of the top, or -errno. */
static int find_top(struct walk *walk, enum walk_kind *ret_kind)
{
    const char *top = walk->options->top;
    const char *rest = "";
    size_t cursor = 0;
    int fd = -EXDEV;
    while (fd == -EXDEV &&
           acp_roots_next(walk->options->roots, top, false, &cursor, &walk->root, &rest))
        fd = acp_beneath_open(&walk->root, rest, O_PATH);
    if (fd < 0)
        return fd;
    struct stat st;
    int err = fstat(fd, &st) == 0 ? 0 : -errno;
    (void) close(fd);
    if (err)
        return err;
    *ret_kind = S_ISDIR(st.st_mode) ? WALK_FOLDER : S_ISREG(st.st_mode) ? WALK_FILE : WALK_OTHER;
    size_t before = strlen(top) - strlen(rest);
    bool slash = before && top[before - 1] == '/';
    (void) snprintf(walk->path, sizeof(walk->path), "%.*s%s", (int) before, top, slash ? "" : "/");
    walk->root_len = strlen(walk->path);
    return set_path(walk, rest, "") ? 0 : -ENAMETOOLONG;
}

static void tell_single(struct walk *walk, enum walk_kind kind)
{
    const char *slash = strrchr(walk->path, '/');
    struct walk_entry entry = {walk->path, slash + 1, kind};
    walk->outcome.entries = 1;
    (void) walk->fn(walk, &entry, walk->user);
}

static int walk_folders(struct walk *walk)
{
    const struct ignore *rules = NULL;
    char top[ACP_PATH_SIZE];
    (void) snprintf(top, sizeof(top), "%s", rest_of(walk));
    walk->top_len = walk->root_len + (*top ? strlen(top) + 1 : 0);
    int err = walk->options->with_ignored ? 0 : rules_above(walk, top, &rules);
    if (err)
        return err;
    (void) push(walk, &walk->folders, 1, rules);
    while (walk->folders && goes_on(walk)) {
        struct folder *folder = walk->folders;
        walk->folders = folder->next;
        if (walk_is_over(walk))
            end_walk(walk, is_stopped(walk) ? WALK_STOPPED : WALK_TOO_LONG);
        else
            visit(walk, folder);
    }
    return 0;
}

int walk_tree(const struct walk_options *options, walk_fn *fn, void *user, struct walk_outcome *ret,
              struct acp_files_error *error)
{
    enum walk_kind kind = WALK_OTHER;
    uint64_t ms = options->max_ms ? options->max_ms : WALK_MAX_MS;
    struct walk *walk = calloc(1, sizeof(*walk));
    if (!walk)
        return acp_files_fail(error, ACP_ERR_NOMEM, ACP_FILES_FAILED, "%s",
                              acp_err_text(ACP_ERR_NOMEM));
    walk->options = options;
    walk->fn = fn;
    walk->user = user;
    acp_arena_init(&walk->kept, WALK_MAX_MEMORY);
    acp_arena_init(&walk->names, WALK_MAX_MEMORY);
    (void) clock_gettime(CLOCK_MONOTONIC, &walk->until);
    walk->until.tv_sec += (time_t) (ms / 1000);
    walk->until.tv_nsec += (long) (ms % 1000) * 1000000;
    if (walk->until.tv_nsec >= 1000000000) {
        walk->until.tv_nsec -= 1000000000;
        walk->until.tv_sec++;
    }
    int reason = find_top(walk, &kind);
    int err = reason ? acp_files_fail_system(error, reason, "read", options->top) : 0;
    if (!err && kind == WALK_FOLDER)
        err = walk_folders(walk);
    else if (!err)
        tell_single(walk, kind);
    if (!err)
        *ret = walk->outcome;
    acp_arena_finish(&walk->kept);
    acp_arena_finish(&walk->names);
    free(walk);
    return err;
}
