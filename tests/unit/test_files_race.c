/*
 * Guarded files under attack: a thread swaps what we walk through for links that lead out, as fast
 * as it can, while we read and write; nothing of the outside may be seen or changed.  Also here:
 * systems where openat2 is missing or forbidden, and files that are too large to be read as a
 * whole.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "acp/files.h"

static char base[64];
static struct acp_roots *roots;
static struct acp_buf out;
static const struct acp_opt_i64 none;

static const char *at(const char *path)
{
    static char texts[4][200];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    (void) snprintf(text, sizeof(texts[0]), "%s%s", base, path);
    return text;
}

static void put(const char *path, const char *content)
{
    FILE *f = fopen(at(path), "w");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void) state;
    char real[] = "/tmp/acp-race-XXXXXX";
    assert_non_null(mkdtemp(real));
    (void) snprintf(base, sizeof(base), "%s", real);
    acp_buf_init(&out, 64u << 20);
    static const char *const dirs[] = {"/ws", "/out", "/ws/dir", "/ws/dir/sub", "/out/sub"};
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        assert_int_equal(mkdir(at(dirs[i]), 0755), 0);
    put("/ws/dir/file", "inside");
    put("/ws/dir/sub/file", "inside");
    put("/out/file", "outside");
    put("/out/sub/file", "outside");
    put("/ws/leaf", "inside");
    assert_int_equal(symlink("../out", at("/ws/swap")), 0);
    assert_int_equal(symlink("../out/file", at("/ws/leaf-link")), 0);
    assert_int_equal(symlink("dir/sub/../file", at("/ws/down-up")), 0);
    return acp_roots_new(acp_str_from(at("/ws")), (struct acp_str_list){NULL, 0}, &roots, NULL);
}

static int teardown(void **state)
{
    (void) state;
    acp_roots_free(roots);
    roots = NULL;
    acp_buf_finish(&out);
    char command[100];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", base);
    return system(command);
}

/* ---- Races ---------------------------------------------------------------------------------- */

struct racer {
    const char *a;
    const char *b;
    atomic_bool stop;
    atomic_ulong swaps;
};

/* Two names change places in one step where the system can, in three where it cannot. */
static void swap(const char *a, const char *b, const char *spare)
{
#if defined(SYS_renameat2)
    if (syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */) == 0)
        return;
#endif
    (void) rename(a, spare);
    (void) rename(b, a);
    (void) rename(spare, b);
}

static void *race(void *user)
{
    struct racer *r = user;
    char a[200];
    char b[200];
    char spare[200];
    (void) snprintf(a, sizeof(a), "%s%s", base, r->a);
    (void) snprintf(b, sizeof(b), "%s%s", base, r->b);
    (void) snprintf(spare, sizeof(spare), "%s/spare", base);
    while (!r->stop) {
        swap(a, b, spare);
        r->swaps++;
    }
    return NULL;
}

static int64_t now_ms(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool outside_is_untouched(void)
{
    char command[300];
    (void) snprintf(command, sizeof(command),
                    "cd '%s/out' && test \"$(find . | sort | tr '\\n' ' ')\" = "
                    "'. ./file ./sub ./sub/file ' && test \"$(cat file sub/file)\" = "
                    "outsideoutside",
                    base);
    return system(command) == 0;
}

enum { SHORT = 150, LONG = 10000 }; /* milliseconds */

/*
 * Reads the path, and writes it when told to, for a short while; for a longer one on a machine
 * where neither way of the race has been seen by then.
 */
static void attack(const char *a, const char *b, const char *path, bool walk, bool writing)
{
    struct racer r = {.a = a, .b = b};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, race, &r), 0);
    struct acp_files_options options = {.walk = walk};
    char target[200];
    (void) snprintf(target, sizeof(target), "%s%s", base, path);
    unsigned long good = 0;
    unsigned long refused = 0;
    bool leaked = false;
    int64_t begin = now_ms();
    while (!leaked && now_ms() < begin + (good && (refused || writing) ? SHORT : LONG)) {
        for (int i = 0; i < 20; i++) {
            struct acp_str text;
            int err = acp_files_read(roots, acp_str_from(target), none, none, &options, &out, &text,
                                     NULL);
            leaked |= err == 0 && acp_str_is(text, "outside");
            good += err == 0;
            refused += err == ACP_ERR_RANGE;
            if (writing)
                (void) acp_files_write(roots, acp_str_from(target), acp_str_from("inside"),
                                       &options, NULL);
        }
    }
    r.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(leaked);
    assert_true(outside_is_untouched());
    /* Otherwise nothing was tried. */
    assert_true(r.swaps > 10);
    assert_true(good > 0);
    /* A write may have put a file in the place of the link, and then there is none any more. */
    assert_true(writing || refused > 0);
}

static void attack_all_ways(const char *a, const char *b, const char *path)
{
    attack(a, b, path, false, false);
    attack(a, b, path, true, false);
    attack(a, b, path, false, true);
    attack(a, b, path, true, true);
}

static void swapping_a_directory_for_a_link_leads_nowhere(void **state)
{
    (void) state;
    attack_all_ways("/ws/dir", "/ws/swap", "/ws/dir/file");
}

static void swapping_a_parent_for_a_link_leads_nowhere(void **state)
{
    (void) state;
    attack_all_ways("/ws/dir", "/ws/swap", "/ws/dir/sub/file");
}

static void swapping_a_file_for_a_link_leads_nowhere(void **state)
{
    (void) state;
    attack_all_ways("/ws/leaf", "/ws/leaf-link", "/ws/leaf");
}

static void dot_dot_in_a_moved_directory_leads_nowhere(void **state)
{
    (void) state;
    attack_all_ways("/ws/dir", "/ws/swap", "/ws/down-up");
}

/* ---- Without openat2 ------------------------------------------------------------------------ */

#if defined(SYS_openat2)
/* From here on this process gets that error from openat2. */
static int forbid_openat2(unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* the call's number */),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

static int use_files(unsigned error)
{
    struct acp_str text;
    if (forbid_openat2(error) != 0)
        return 77;
    if (acp_files_read(roots, acp_str_from(at("/ws/dir/file")), none, none, NULL, &out, &text,
                       NULL) ||
        !acp_str_is(text, "inside"))
        return 1;
    if (acp_files_read(roots, acp_str_from(at("/ws/swap/file")), none, none, NULL, &out, &text,
                       NULL) != ACP_ERR_RANGE)
        return 2;
    if (acp_files_write(roots, acp_str_from(at("/ws/new/dir/file")), acp_str_from("x"), NULL, NULL))
        return 3;
    if (acp_files_write(roots, acp_str_from(at("/ws/leaf-link")), acp_str_from("x"), NULL, NULL) !=
        ACP_ERR_RANGE)
        return 4;
    return acp_roots_contain(roots, acp_str_from(at("/ws/swap/x"))) ? 5 : 0;
}

static void filters_that_do_not_know_openat2_are_worked_around(void **state)
{
    (void) state;
    static const unsigned errors[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            _exit(use_files(errors[i]));
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            print_message("no seccomp filters here\n");
            skip();
        }
        assert_int_equal(status, 0);
    }
    assert_true(outside_is_untouched());
}
#else
static void filters_that_do_not_know_openat2_are_worked_around(void **state)
{
    (void) state;
    print_message("no openat2 here\n");
    skip();
}
#endif

/* ---- Large files ---------------------------------------------------------------------------- */

/* Bytes that this process has read, as the kernel counts them; 0 where it does not. */
static uint64_t bytes_read(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    uint64_t n = 0;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
    if (f && fscanf(f, "rchar: %" SCNu64, &n) != 1)
        n = 0;
    if (f)
        (void) fclose(f);
    return n;
}

static void the_first_lines_of_a_huge_file_cost_one_block(void **state)
{
    (void) state;
    put("/ws/huge", "line 1\nline 2\nline 3\n");
    assert_int_equal(truncate(at("/ws/huge"), (off_t) 1 << 40), 0);
    struct acp_str path = acp_str_from(at("/ws/huge"));
    struct acp_str text;
    uint64_t before = bytes_read();
    assert_int_equal(
        acp_files_read(roots, path, acp_some_i64(2), acp_some_i64(2), NULL, &out, &text, NULL), 0);
    assert_true(acp_str_is(text, "line 2\nline 3\n"));
    assert_true(bytes_read() - before <= 131072);
    /* As a whole it is refused by its size, and behind the text by what it is. */
    struct acp_files_error error;
    assert_int_equal(acp_files_read(roots, path, none, none, NULL, &out, &text, &error),
                     ACP_ERR_LIMIT);
    assert_int_equal(error.code, -32602);
    assert_int_equal(acp_files_read(roots, path, acp_some_i64(4), none, NULL, &out, &text, &error),
                     ACP_ERR_UTF8);
    assert_true(bytes_read() - before <= 524288);
    assert_true(out.cap < 1 << 20);
}

static void lines_far_into_a_large_file_are_found(void **state)
{
    (void) state;
    enum { LINES = 400000 };
    FILE *f = fopen(at("/ws/large"), "w");
    assert_non_null(f);
    for (int i = 1; i <= LINES; i++)
        (void) fprintf(f, "this is line %08d of a file that is larger than the limit\n", i);
    assert_int_equal(fclose(f), 0);
    struct acp_str path = acp_str_from(at("/ws/large"));
    struct acp_str text;
    struct acp_files_error error;
    assert_int_equal(acp_files_read(roots, path, none, none, NULL, &out, &text, &error),
                     ACP_ERR_LIMIT);
    assert_int_equal(acp_files_read(roots, path, acp_some_i64(300000), acp_some_i64(1), NULL, &out,
                                    &text, &error),
                     0);
    assert_true(
        acp_str_is(text, "this is line 00300000 of a file that is larger than the limit\n"));
    assert_int_equal(
        acp_files_read(roots, path, acp_some_i64(LINES + 1), none, NULL, &out, &text, &error), 0);
    assert_int_equal(text.len, 0);
    struct acp_files_options options = {.max_scan = 1 << 20};
    assert_int_equal(acp_files_read(roots, path, acp_some_i64(300000), acp_some_i64(1), &options,
                                    &out, &text, &error),
                     ACP_ERR_LIMIT);
    assert_int_equal(error.code, -32602);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(swapping_a_directory_for_a_link_leads_nowhere),
        CASE(swapping_a_parent_for_a_link_leads_nowhere),
        CASE(swapping_a_file_for_a_link_leads_nowhere),
        CASE(dot_dot_in_a_moved_directory_leads_nowhere),
        CASE(filters_that_do_not_know_openat2_are_worked_around),
        CASE(the_first_lines_of_a_huge_file_cost_one_block),
        CASE(lines_far_into_a_large_file_are_found),
    };
    return cmocka_run_group_tests_name("files-race", tests, NULL, NULL);
}
