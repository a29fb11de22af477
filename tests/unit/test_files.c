/*
 * Guarded files: what is read and written inside of the roots, and every way out that we could
 * think of.  All tables run over both resolvers, the kernel's and our own.
 *
 * "@" in a path stands for a scratch folder with two roots in it, @/ws and @/extra, and @/out,
 * which nothing may reach.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "acp/files.h"
#include "workspace/beneath.h"

enum { OUTSIDE = -32602, INVALID = -32602, MISSING = -32002, FAILED = -32603, PATHS = 5000 };

static char base[64];
static struct acp_roots *roots;
static struct acp_buf out;
static int descriptors; /* open when a case begins, and when it has ended */

/* ---- The scratch folder --------------------------------------------------------------------- */

/* The path with @ replaced; one of a few static places, so that two fit into one call. */
static const char *at(const char *path)
{
    static char texts[4][PATHS];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    size_t n = 0;
    for (; *path && n < PATHS - sizeof(base); path++) {
        if (*path != '@') {
            text[n++] = *path;
            continue;
        }
        memcpy(text + n, base, strlen(base));
        n += strlen(base);
    }
    text[n] = '\0';
    return text;
}

static void make_dir(const char *path)
{
    assert_int_equal(mkdir(at(path), 0755), 0);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(at(path), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void make_link(const char *target, const char *path)
{
    assert_int_equal(symlink(at(target), at(path)), 0);
}

static const char *content(const char *path)
{
    static char text[256];
    FILE *f = fopen(at(path), "r");
    if (!f)
        return NULL;
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    (void) fclose(f);
    return text;
}

/* How many descriptors are open. */
static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

static int teardown(void **state)
{
    (void) state;
    acp_roots_free(roots);
    roots = NULL;
    acp_buf_finish(&out);
    assert_int_equal(open_descriptors(), descriptors);
    char command[200];
    (void) snprintf(command, sizeof(command), "chmod -R u+rwx '%s'; rm -rf '%s'", base, base);
    return system(command);
}

static struct acp_roots *open_roots(const char *cwd, const char *more)
{
    struct acp_str item = acp_str_from(more ? at(more) : NULL);
    struct acp_roots *r = NULL;
    struct acp_failure failure;
    assert_int_equal(acp_roots_new(acp_str_from(at(cwd)),
                                   (struct acp_str_list){&item, more ? 1 : 0}, &r, &failure),
                     0);
    return r;
}

static int setup(void **state)
{
    (void) state;
    char real[] = "/tmp/acp-files-XXXXXX";
    assert_non_null(mkdtemp(real));
    (void) snprintf(base, sizeof(base), "%s", real);
    acp_buf_init(&out, 64u << 20);
    descriptors = open_descriptors();
    static const char *const dirs[] = {"@/ws",          "@/extra",   "@/out",        "@/ws/sub",
                                       "@/ws/sub/deep", "@/out/dir", "@/ws/ünï cödé"};
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        make_dir(dirs[i]);
    put("@/ws/plain", "plain");
    put("@/ws/sub/deep/file", "deep");
    put("@/extra/file", "extra");
    put("@/out/secret", "secret");
    put("@/out/dir/secret", "secret");
    put("@/ws/ünï cödé/日本", "unicode");
    put("@/wsx", "neighbour");
    make_link("plain", "@/ws/to-plain");
    make_link("to-plain", "@/ws/to-to-plain");
    make_link("sub/../plain", "@/ws/up-and-down");
    make_link("../../plain", "@/ws/sub/deep/up");
    make_link("sub/deep", "@/ws/to-deep");
    make_link("@/ws/plain", "@/ws/absolute-inside");
    make_link("@/out/secret", "@/ws/absolute");
    make_link("../out/secret", "@/ws/relative");
    make_link("relative", "@/ws/chain");
    make_link("../out", "@/ws/to-out");
    make_link("../ws/plain", "@/ws/out-and-back");
    make_link("../out/back", "@/ws/over-out");
    make_link("../ws", "@/out/back");
    make_link("loop-b", "@/ws/loop-a");
    make_link("loop-a", "@/ws/loop-b");
    make_link("self", "@/ws/self");
    make_link("nowhere", "@/ws/dangling");
    make_link("../out/nowhere", "@/ws/dangling-out");
    make_link("../extra/file", "@/ws/to-extra");
    make_link("/proc/self/root", "@/ws/proc-root");
    make_link("..", "@/ws/sub/parent");
    make_link("plain/", "@/ws/plain-slash");
    roots = open_roots("@/ws", "@/extra");
    return 0;
}

/* ---- Calling -------------------------------------------------------------------------------- */

static const struct acp_opt_i64 none;

static int64_t read_code(const struct acp_roots *r, struct acp_str path, bool walk,
                         struct acp_str *ret_text)
{
    struct acp_files_options options = {.walk = walk};
    struct acp_files_error error = {0};
    int err = acp_files_read(r, path, none, none, &options, &out, ret_text, &error);
    assert_true((err == 0) == (error.code == 0));
    if (err)
        assert_true(strlen(error.message) > 10);
    return error.code;
}

static int64_t write_code(const char *path, const char *text, bool walk)
{
    struct acp_files_options options = {.walk = walk};
    struct acp_files_error error = {0};
    int err = acp_files_write(roots, acp_str_from(at(path)), acp_str_from(text), &options, &error);
    assert_true((err == 0) == (error.code == 0));
    return error.code;
}

/* ---- Ways in and out ------------------------------------------------------------------------ */

struct way {
    const char *path;
    int64_t code;
    const char *text;
};

static void check_ways(const struct acp_roots *r, const struct way *ways, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        const struct way *way = &ways[i / 2];
        struct acp_str text = {NULL, 0};
        int64_t code = read_code(r, acp_str_from(at(way->path)), i % 2, &text);
        if (code != way->code || (way->text && !acp_str_is(text, way->text)))
            print_error("%s, walk %d: %d\n", way->path, (int) (i % 2), (int) code);
        assert_int_equal(code, way->code);
        if (way->text)
            assert_true(acp_str_is(text, way->text));
    }
}

#define CHECK_WAYS(r, ways) check_ways((r), (ways), sizeof(ways) / sizeof((ways)[0]))

static void reading_stays_inside(void **state)
{
    (void) state;
    static const struct way ways[] = {
        {"@/ws/plain", 0, "plain"},
        {"@/ws//sub///deep/./file", 0, "deep"},
        {"@/ws/sub/../plain", 0, "plain"},
        {"@/ws/sub/deep/../../sub/deep/file", 0, "deep"},
        {"@/ws/../ws/plain", 0, "plain"},
        {"@/extra/../ws/plain", 0, "plain"},
        {"@/ws/../extra/file", 0, "extra"},
        {"/../../../../@/ws/plain", 0, "plain"},
        {"@/ws/nowhere/../plain", 0, "plain"}, /* ".." is text, as in editors */
        {"@/ws/ünï cödé/日本", 0, "unicode"},
        /* Links that stay inside. */
        {"@/ws/to-plain", 0, "plain"},
        {"@/ws/to-to-plain", 0, "plain"},
        {"@/ws/up-and-down", 0, "plain"},
        {"@/ws/to-deep/file", 0, "deep"},
        {"@/ws/to-deep/up", 0, "plain"},
        {"@/ws/sub/parent/sub/parent/plain", 0, "plain"},
        /* Out by text. */
        {"@/out/secret", OUTSIDE, NULL},
        {"@/ws/../out/secret", OUTSIDE, NULL},
        {"@/ws/sub/deep/../../../out/secret", OUTSIDE, NULL},
        {"@/wsx", OUTSIDE, NULL},
        {"@/ws/../wsx", OUTSIDE, NULL},
        {"/etc/passwd", OUTSIDE, NULL},
        {"@", OUTSIDE, NULL},
        {"@/nowhere", OUTSIDE, NULL}, /* no word about what is not there outside */
        /* Out by links. */
        {"@/ws/absolute", OUTSIDE, NULL},
        {"@/ws/absolute-inside", OUTSIDE, NULL},
        {"@/ws/relative", OUTSIDE, NULL},
        {"@/ws/chain", OUTSIDE, NULL},
        {"@/ws/to-out/secret", OUTSIDE, NULL},
        {"@/ws/to-out/dir/../secret", OUTSIDE, NULL},
        {"@/ws/to-out/../plain", 0, "plain"}, /* as text this never meets the link */
        {"@/ws/to-out/nowhere", OUTSIDE, NULL},
        {"@/ws/dangling-out", OUTSIDE, NULL},
        {"@/ws/out-and-back", OUTSIDE, NULL},
        {"@/ws/over-out/plain", OUTSIDE, NULL},
        {"@/ws/to-extra", OUTSIDE, NULL}, /* each root stands for itself */
        {"@/ws/proc-root/etc/passwd", OUTSIDE, NULL},
        {"/proc/self/root/etc/passwd", OUTSIDE, NULL},
        {"/proc/self/cwd/plain", OUTSIDE, NULL},
        {"/dev/fd/0", OUTSIDE, NULL},
        {"/dev/stdin", OUTSIDE, NULL},
        /* Nothing to read. */
        {"@/ws/loop-a", FAILED, NULL},
        {"@/ws/self", FAILED, NULL},
        {"@/ws/self/x", FAILED, NULL},
        {"@/ws/dangling", MISSING, NULL},
        {"@/ws/nowhere", MISSING, NULL},
        {"@/ws/nowhere/at/all", MISSING, NULL},
        {"@/ws/plain/below", FAILED, NULL},
        {"@/ws/plain-slash", FAILED, NULL},
        {"@/ws", FAILED, NULL},
        {"@/ws/sub", FAILED, NULL},
        {"@/ws/plain/", FAILED, NULL},
        {"@/ws/plain/.", FAILED, NULL},
        {"@/ws/sub/..", FAILED, NULL},
        {"", INVALID, NULL},
        {".", INVALID, NULL},
        {"ws/plain", INVALID, NULL},
        {"./plain", INVALID, NULL},
        {"~/plain", INVALID, NULL},
        {"file:///etc/passwd", INVALID, NULL},
    };
    CHECK_WAYS(roots, ways);
}

/*
 * What is asked for is short, and so is each link on the way; where they lead has a name that is
 * longer than fits: 20 directories of 200 letters, and a last name.  With 18 it fits.
 */
static void a_real_path_that_is_too_long_is_refused(void **state)
{
    static const struct {
        int half;
        int last; /* letters of the last name */
        bool fits;
    } rows[] = {
        {9, 200, true},
        {10, 200, false}, /* too long below the root already */
        {10, 60, false},  /* with the root before it */
    };
    (void) state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const int half = rows[r].half;
        char letters[201];
        char target[PATHS] = "";
        char path[PATHS];
        char link[20];
        struct acp_str text;
        memset(letters, 'a' + (int) r, 200);
        letters[200] = '\0';
        (void) snprintf(link, sizeof(link), "link%zu", r);
        for (int i = 0; i < half; i++)
            (void) snprintf(target + (ptrdiff_t) 201 * i, sizeof(target) - 201 * (size_t) i, "%s%s",
                            letters, i + 1 < half ? "/" : "");
        int dir = open(at("@/ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        /* A link in the workspace to the half of them, and one there to the other half. */
        for (int i = 0; i < 2 * half; i++) {
            if (i % half == 0)
                assert_int_equal(symlinkat(target, dir, link), 0);
            assert_int_equal(mkdirat(dir, letters, 0755), 0);
            int next = openat(dir, letters, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            assert_true(next >= 0 && close(dir) == 0);
            dir = next;
        }
        letters[rows[r].last] = '\0';
        int fd = openat(dir, letters, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_true(fd >= 0 && write(fd, "deep", 4) == 4 && close(fd) == 0);
        letters[0] = 'd';
        assert_int_equal(mkdirat(dir, letters, 0755), 0);
        assert_int_equal(close(dir), 0);
        for (int walk = 0; walk < 2; walk++) {
            char real[ACP_PATH_SIZE];
            letters[0] = letters[1];
            (void) snprintf(path, sizeof(path), "%s/ws/%s/%s/%s", base, link, link, letters);
            assert_int_equal(read_code(roots, acp_str_from(path), walk, &text),
                             rows[r].fits ? 0 : FAILED);
            letters[0] = 'd';
            (void) snprintf(path, sizeof(path), "%s/ws/%s/%s/%s", base, link, link, letters);
            int place = acp_files_open_place(roots, path, walk, real);
            assert_true(rows[r].fits ? place >= 0 : place == -ENAMETOOLONG);
            if (place >= 0)
                assert_int_equal(close(place), 0);
        }
    }
}

static void nul_bytes_and_endless_paths_are_refused(void **state)
{
    (void) state;
    char path[PATHS + 1000];
    struct acp_str text;
    for (int walk = 0; walk < 2; walk++) {
        int n = snprintf(path, sizeof(path), "%s/ws/plain", base);
        path[n + 1] = 'x';
        assert_int_equal(read_code(roots, acp_str_n(path, (size_t) n + 2), walk, &text), INVALID);
        assert_int_equal(read_code(roots, acp_str_from(NULL), walk, &text), INVALID);
        /* One name that is too long, then many short ones. */
        memset(path + n, 'x', sizeof(path) - (size_t) n);
        assert_int_equal(read_code(roots, acp_str_n(path, (size_t) n + 300), walk, &text), FAILED);
        for (size_t i = (size_t) n; i < sizeof(path); i += 2)
            path[i] = '/';
        assert_int_equal(read_code(roots, acp_str_n(path, 4000), walk, &text), FAILED);
        assert_int_equal(read_code(roots, acp_str_n(path, 4096), walk, &text), FAILED);
        assert_int_equal(read_code(roots, acp_str_n(path, sizeof(path)), walk, &text), FAILED);
    }
}

static void nested_roots_serve_each_other(void **state)
{
    (void) state;
    static const struct way ways[] = {
        {"@/ws/sub/deep/file", 0, "deep"},
        {"@/ws/sub/deep/up", 0, "plain"}, /* leaves the inner root, stays in the outer one */
        {"@/ws/plain", 0, "plain"},
        {"@/ws/relative", OUTSIDE, NULL},
        {"@/ws/sub/../../out/secret", OUTSIDE, NULL},
    };
    static const struct way inner[] = {
        {"@/ws/sub/deep/file", 0, "deep"},
        {"@/ws/sub/deep/up", OUTSIDE, NULL},
        {"@/ws/plain", OUTSIDE, NULL},
    };
    struct acp_roots *both = open_roots("@/ws/sub/deep", "@/ws");
    CHECK_WAYS(both, ways);
    acp_roots_free(both);
    both = open_roots("@/ws", "@/ws/sub/deep/");
    CHECK_WAYS(both, ways);
    acp_roots_free(both);
    struct acp_roots *one = open_roots("@/ws/sub/deep", NULL);
    CHECK_WAYS(one, inner);
    acp_roots_free(one);
}

static void a_root_may_be_a_link_and_has_two_names(void **state)
{
    (void) state;
    make_link("ws/sub", "@/root-link");
    static const struct way ways[] = {
        {"@/root-link/deep/file", 0, "deep"},    {"@/ws/sub/deep/file", 0, "deep"},
        {"@/root-link/../plain", OUTSIDE, NULL}, {"@/root-link/deep/up", OUTSIDE, NULL},
        {"@/ws/plain", OUTSIDE, NULL},
    };
    struct acp_roots *r = open_roots("@/root-link", NULL);
    CHECK_WAYS(r, ways);
    /* What was opened counts, not where the link leads later. */
    assert_int_equal(unlink(at("@/root-link")), 0);
    make_link("out", "@/root-link");
    static const struct way later[] = {
        {"@/root-link/deep/file", 0, "deep"},
        {"@/root-link/secret", MISSING, NULL},
    };
    CHECK_WAYS(r, later);
    acp_roots_free(r);
}

static void everything_may_be_the_root(void **state)
{
    (void) state;
    static const struct way ways[] = {
        {"@/ws/plain", 0, "plain"},
        {"@/ws/absolute-inside", 0, "plain"},
        {"@/ws/absolute", 0, "secret"},
        {"@/ws/to-out/secret", 0, "secret"},
        {"@/ws/out-and-back", 0, "plain"},
        {"@/ws/loop-a", FAILED, NULL},
        {"/nowhere-at-all", MISSING, NULL},
        {"/", FAILED, NULL},
        {"/tmp", FAILED, NULL},
        {"/dev/null", FAILED, NULL},
        {"/dev/zero", FAILED, NULL},
        /* Not even then: these tell about us, or are whatever somebody holds open. */
        {"/proc/self/environ", FAILED, NULL},
        {"/proc/self/status", FAILED, NULL},
        {"/proc/self/root/etc/passwd", FAILED, NULL},
        {"@/ws/proc-root/etc/passwd", FAILED, NULL},
        {"/proc/self/fd/0", FAILED, NULL},
        {"/dev/fd/0", FAILED, NULL},
    };
    struct acp_roots *all = open_roots("/", NULL);
    CHECK_WAYS(all, ways);
    acp_roots_free(all);
}

static void roots_must_be_absolute_directories_that_are_there(void **state)
{
    (void) state;
    static const struct {
        const char *cwd;
        const char *more;
        int err;
        const char *path;
    } rows[] = {
        {"", NULL, ACP_ERR_RANGE, "cwd"},
        {"relative", NULL, ACP_ERR_RANGE, "cwd"},
        {"@/ws", "", ACP_ERR_RANGE, "additionalDirectories[0]"},
        {"@/ws", "extra", ACP_ERR_RANGE, "additionalDirectories[0]"},
        {"@/ws/plain", NULL, ACP_ERR_STATE, "cwd"},
        {"@/ws", "@/nowhere", ACP_ERR_STATE, "additionalDirectories[0]"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_str more = acp_str_from(rows[i].more ? at(rows[i].more) : NULL);
        struct acp_roots *r = NULL;
        struct acp_failure failure;
        assert_int_equal(acp_roots_new(acp_str_from(at(rows[i].cwd)),
                                       (struct acp_str_list){&more, rows[i].more ? 1 : 0}, &r,
                                       &failure),
                         rows[i].err);
        assert_null(r);
        assert_int_equal(failure.err, rows[i].err);
        assert_string_equal(failure.path, rows[i].path);
        assert_true(strlen(failure.message) > 10);
    }
    struct acp_str many[300];
    static char names[300][80];
    for (size_t i = 0; i < 300; i++) {
        (void) snprintf(names[i], sizeof(names[i]), "%s/many%zu", base, i);
        assert_int_equal(mkdir(names[i], 0755), 0);
        many[i] = acp_str_from(names[i]);
    }
    struct acp_roots *r = NULL;
    assert_int_equal(
        acp_roots_new(acp_str_from(at("@/ws")), (struct acp_str_list){many, 300}, &r, NULL),
        ACP_ERR_LIMIT);
}

static void names_that_occur_twice_count_once(void **state)
{
    (void) state;
    struct acp_str more[] = {acp_str_from(at("@/ws/")), acp_str_from(at("@/extra")),
                             acp_str_from(at("@/extra/."))};
    struct acp_roots *r = NULL;
    assert_int_equal(
        acp_roots_new(acp_str_from(at("@/ws")), (struct acp_str_list){more, 3}, &r, NULL), 0);
    assert_int_equal(acp_roots_count(r), 2);
    assert_true(acp_str_is(acp_roots_path(r, 0), at("@/ws")));
    assert_true(acp_str_is(acp_roots_path(r, 1), at("@/extra")));
    assert_null(acp_roots_path(r, 2).ptr);
    acp_roots_free(r);
    acp_roots_free(NULL);
}

static void roots_tell_what_they_hold(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        bool held;
    } rows[] = {
        {"@/ws", true},          {"@/ws/sub/", true},          {"@/ws/new/file", true},
        {"@/ws/to-plain", true}, {"@/ws/to-out", false},       {"@/ws/to-out/new", false},
        {"@/out", false},        {"@/ws/../out", false},       {"@/ws/absolute", false},
        {"ws", false},           {"@/ws/loop-a/x", false},     {"@/extra/x", true},
        {"@/wsx", false},        {"@/ws/dangling-out", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (acp_roots_contain(roots, acp_str_from(at(rows[i].path))) != rows[i].held)
            print_error("%s\n", rows[i].path);
        assert_int_equal(acp_roots_contain(roots, acp_str_from(at(rows[i].path))), rows[i].held);
    }
}

/* ---- Special files -------------------------------------------------------------------------- */

static void special_files_are_refused_and_do_not_hang(void **state)
{
    (void) state;
    assert_int_equal(mkfifo(at("@/ws/fifo"), 0644), 0);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("@/ws/socket"));
    assert_int_equal(bind(s, (struct sockaddr *) &address, sizeof(address)), 0);
    make_link("fifo", "@/ws/to-fifo");
    static const char *const names[] = {"@/ws/fifo", "@/ws/socket", "@/ws/to-fifo"};
    (void) alarm(20);
    for (size_t i = 0; i < 6; i++) {
        struct acp_str text;
        assert_int_equal(read_code(roots, acp_str_from(at(names[i / 2])), i % 2, &text), FAILED);
        assert_int_equal(write_code(names[i / 2], "x", i % 2), FAILED);
    }
    (void) alarm(0);
    struct stat st;
    assert_int_equal(lstat(at("@/ws/fifo"), &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    (void) close(s);
}

static void hard_links_are_read_and_their_other_names_kept(void **state)
{
    (void) state;
    assert_int_equal(link(at("@/out/secret"), at("@/ws/hard")), 0);
    struct acp_str text;
    assert_int_equal(read_code(roots, acp_str_from(at("@/ws/hard")), false, &text), 0);
    assert_true(acp_str_is(text, "secret"));
    assert_int_equal(write_code("@/ws/hard", "mine", false), 0);
    assert_string_equal(content("@/ws/hard"), "mine");
    assert_string_equal(content("@/out/secret"), "secret");
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void writing_stays_inside(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        int64_t code;
        const char *lands;
    } rows[] = {
        {"@/ws/plain", 0, "@/ws/plain"},
        {"@/ws/new", 0, "@/ws/new"},
        {"@/ws/a/b/c/new", 0, "@/ws/a/b/c/new"},
        {"@/ws/to-plain", 0, "@/ws/plain"},
        {"@/ws/to-to-plain", 0, "@/ws/plain"},
        {"@/ws/to-deep/up", 0, "@/ws/plain"},
        {"@/ws/to-deep/made/here", 0, "@/ws/sub/deep/made/here"},
        {"@/ws/dangling", 0, "@/ws/nowhere"},
        {"@/ws/x/../y", 0, "@/ws/y"},
        {"@/ws//z", 0, "@/ws/z"},
        {"@/ws/ünï cödé/日本語", 0, "@/ws/ünï cödé/日本語"},
        {"@/extra/n", 0, "@/extra/n"},
        {"@/ws/../extra/m", 0, "@/extra/m"},
        {"@/out/new", OUTSIDE, NULL},
        {"@/ws/../out/new", OUTSIDE, NULL},
        {"@/ws/to-out/new", OUTSIDE, NULL},
        {"@/ws/to-out/a/b/new", OUTSIDE, NULL},
        {"@/ws/absolute", OUTSIDE, NULL},
        {"@/ws/absolute-inside", OUTSIDE, NULL},
        {"@/ws/relative", OUTSIDE, NULL},
        {"@/ws/chain", OUTSIDE, NULL},
        {"@/ws/dangling-out", OUTSIDE, NULL},
        {"@/ws/over-out/new", OUTSIDE, NULL},
        {"@/ws/to-extra", OUTSIDE, NULL},
        {"@/new", OUTSIDE, NULL},
        {"@/ws/proc-root/tmp/x", OUTSIDE, NULL},
        {"@/ws/loop-a", FAILED, NULL},
        {"@/ws/self/x", FAILED, NULL},
        {"@/ws/plain/below", FAILED, NULL},
        {"@/ws/plain/", FAILED, NULL},
        {"@/ws/newdir/", FAILED, NULL},
        {"@/ws/sub", FAILED, NULL},
        {"@/ws", FAILED, NULL},
        {"@/ws/sub/parent", FAILED, NULL},
        {"@/ws/sub/.", FAILED, NULL},
        {"new", INVALID, NULL},
        {"", INVALID, NULL},
    };
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        char text[40];
        (void) snprintf(text, sizeof(text), "text %zu", i);
        int64_t code = write_code(rows[i / 2].path, text, i % 2);
        if (code != rows[i / 2].code)
            print_error("%s, walk %d: %d\n", rows[i / 2].path, (int) (i % 2), (int) code);
        assert_int_equal(code, rows[i / 2].code);
        if (rows[i / 2].lands)
            assert_string_equal(content(rows[i / 2].lands), text);
    }
    struct stat st;
    assert_int_equal(lstat(at("@/ws/to-plain"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(content("@/out/secret"), "secret");
    assert_int_equal(system(at("test \"$(ls @/out | tr '\\n' ' ')\" = 'back dir secret '")), 0);
    assert_int_equal(system(at("! find @ -name '.acp-*' | grep .")), 0);
}

static void writing_keeps_mode_and_owner(void **state)
{
    (void) state;
    static const mode_t modes[][2] = {{0644, 0644},  {0755, 0755},  {0600, 0600},  {0444, 0444},
                                      {04755, 0755}, {02755, 0755}, {01666, 01666}};
    struct stat st;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!(modes[i][0] & 0200) && geteuid() != 0)
            continue;
        put("@/ws/mode", "old");
        assert_int_equal(chmod(at("@/ws/mode"), modes[i][0]), 0);
        if (geteuid() == 0)
            assert_int_equal(chown(at("@/ws/mode"), 12, 34), 0);
        assert_int_equal(chmod(at("@/ws/mode"), modes[i][0]), 0);
        assert_int_equal(write_code("@/ws/mode", "new", false), 0);
        assert_int_equal(stat(at("@/ws/mode"), &st), 0);
        assert_int_equal(st.st_mode & 07777, modes[i][1]);
        if (geteuid() == 0)
            assert_true(st.st_uid == 12 && st.st_gid == 34);
        assert_int_equal(unlink(at("@/ws/mode")), 0);
    }
    mode_t mask = umask(027);
    assert_int_equal(write_code("@/ws/made/fresh", "x", false), 0);
    (void) umask(mask);
    assert_int_equal(stat(at("@/ws/made/fresh"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(stat(at("@/ws/made"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
}

/* In a child without privileges: its exit status is the number of the check that failed. */
static void as_nobody(int (*check)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
            _exit(99);
        _exit(check());
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int refused_by_the_system(void)
{
    static const struct {
        const char *path;
        bool write;
        const char *reason;
    } rows[] = {
        {"@/ws/locked/new", true, "Permission denied"},
        {"@/ws/locked/dir/new", true, "Permission denied"},
        {"@/ws/open/read-only", true, "Permission denied"},
        {"@/ws/open/hidden", false, "Permission denied"},
        {"@/ws/shut/file", false, "Permission denied"},
        {"@/ws/shut/file", true, "Permission denied"},
    };
    for (int i = 0; i < 12; i++) {
        struct acp_files_options options = {.walk = i % 2};
        struct acp_files_error error = {0};
        struct acp_str path = acp_str_from(at(rows[i / 2].path));
        struct acp_str text;
        int err = rows[i / 2].write
                      ? acp_files_write(roots, path, acp_str_from("x"), &options, &error)
                      : acp_files_read(roots, path, none, none, &options, &out, &text, &error);
        if (err != ACP_ERR_STATE || error.code != FAILED ||
            strncmp(error.message, rows[i / 2].reason, strlen(rows[i / 2].reason)) != 0)
            return 1 + i;
    }
    /* The group of a file that we may replace but not give away loses what others do not have. */
    struct stat st;
    if (write_code("@/ws/open/shared", "new", false) != 0)
        return 20;
    if (stat(at("@/ws/open/shared"), &st) != 0 || (st.st_mode & 0777) != 0622)
        return 21;
    return 0;
}

static void the_systems_reason_is_told(void **state)
{
    (void) state;
    if (geteuid() != 0) {
        print_message("needs root to become somebody else\n");
        skip();
    }
    assert_int_equal(chmod(base, 0755), 0);
    make_dir("@/ws/locked");
    make_dir("@/ws/open");
    make_dir("@/ws/shut");
    put("@/ws/shut/file", "x");
    put("@/ws/open/read-only", "x");
    put("@/ws/open/hidden", "x");
    put("@/ws/open/shared", "x");
    assert_int_equal(chmod(at("@/ws/open"), 0777), 0);
    assert_int_equal(chmod(at("@/ws/shut"), 0700), 0);
    assert_int_equal(chmod(at("@/ws/open/hidden"), 0600), 0);
    assert_int_equal(chmod(at("@/ws/open/shared"), 0672), 0);
    as_nobody(refused_by_the_system);
    assert_string_equal(content("@/ws/open/read-only"), "x");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(reading_stays_inside),
        CASE(a_real_path_that_is_too_long_is_refused),
        CASE(nul_bytes_and_endless_paths_are_refused),
        CASE(nested_roots_serve_each_other),
        CASE(a_root_may_be_a_link_and_has_two_names),
        CASE(everything_may_be_the_root),
        CASE(roots_must_be_absolute_directories_that_are_there),
        CASE(names_that_occur_twice_count_once),
        CASE(roots_tell_what_they_hold),
        CASE(special_files_are_refused_and_do_not_hang),
        CASE(hard_links_are_read_and_their_other_names_kept),
        CASE(writing_stays_inside),
        CASE(writing_keeps_mode_and_owner),
        CASE(the_systems_reason_is_told),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
