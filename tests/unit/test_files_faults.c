/*
 * System calls fail while files are read and written, and while the ledger is saved: each call of
 * each operation, one after the other.
 *
 * Linked with -Wl,--wrap for each of the calls below.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "acp/files.h"
#include "acp/policy.h"
#include "helpers.h"

/* ---- Faults ---------------------------------------------------------------------------------- */

enum call {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_CLOSE, /* of a new file; what is closed elsewhere was read, or is a lock */
    CALL_FSTAT,
    CALL_FCHMOD,
    CALL_RENAME,
    CALL_MKDIR,
    CALL_FLOCK,
    CALL_OPENAT2,
    CALL_COUNT
};

static struct {
    bool on;
    int due;    /* this call fails, from 1 */
    int times;  /* how many fail from there on */
    int reason; /* errno */
    int calls;
    int pauses;
    int opens;
    int zero;        /* what is opened as this one, from 1, gets descriptor 0 */
    enum call which; /* that failed last */
    bool writable[1024];
} fault;

static bool fails(enum call which)
{
    if (!fault.on)
        return false;
    fault.calls++;
    if (fault.calls < fault.due || fault.calls >= fault.due + fault.times)
        return false;
    fault.which = which;
    errno = fault.reason;
    return true;
}

static void note(int fd, int flags)
{
    if (fd >= 0 && fd < (int) COUNT(fault.writable))
        fault.writable[fd] = (flags & O_ACCMODE) != O_RDONLY;
}

int __real_close(int fd);

/* What an open has given, moved if it is its turn. */
static int opened(int fd)
{
    if (!fault.on || fd < 0 || ++fault.opens != fault.zero)
        return fd;
    assert_int_equal(dup3(fd, STDIN_FILENO, O_CLOEXEC), STDIN_FILENO);
    (void) __real_close(fd);
    return STDIN_FILENO;
}

#define WRAP(type, name, parameters, arguments, which)                                             \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails(which) ? -1 : __real_##name arguments;                                        \
    }

WRAP(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), CALL_READ)
WRAP(int, fsync, (int fd), (fd), CALL_FSYNC)
WRAP(int, fstat64, (int fd, struct stat *st), (fd, st), CALL_FSTAT)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), CALL_FCHMOD)
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), CALL_RENAME)
WRAP(int, mkdirat, (int dir, const char *name, mode_t mode), (dir, name, mode), CALL_MKDIR)
WRAP(int, flock, (int fd, int how), (fd, how), CALL_FLOCK)

/* openat2() has no function of its own.  It may be interrupted, or see something being renamed. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list list;
    long a[6];
    va_start(list, number);
    for (size_t i = 0; i < COUNT(a); i++)
        a[i] = va_arg(list, long);
    va_end(list);
    return fails(CALL_OPENAT2)
               ? -1
               : opened((int) __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

/* A short write is none that fails, so every write is one. */
ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    if (fails(CALL_WRITE))
        return -1;
    return __real_write(fd, from, fault.on && n > 3 ? 3 : n);
}

int __real_openat64(int dir, const char *name, int flags, mode_t mode);
int __wrap_openat64(int dir, const char *name, int flags, mode_t mode);
int __wrap_openat64(int dir, const char *name, int flags, mode_t mode)
{
    int fd = fails(CALL_OPEN) ? -1 : opened(__real_openat64(dir, name, flags, mode));
    note(fd, flags);
    return fd;
}

int __real_open64(const char *name, int flags, mode_t mode);
int __wrap_open64(const char *name, int flags, mode_t mode);
int __wrap_open64(const char *name, int flags, mode_t mode)
{
    return fails(CALL_OPEN) ? -1 : opened(__real_open64(name, flags, mode));
}

/* The descriptor is gone either way. */
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool writable = fd >= 0 && fd < (int) COUNT(fault.writable) && fault.writable[fd];
    int done = __real_close(fd);
    note(fd, O_RDONLY);
    return writable && fails(CALL_CLOSE) ? -1 : done;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void) time;
    (void) left;
    fault.pauses++;
    return 0;
}

static void fail_at(int n, int times, int reason)
{
    fault.on = true;
    fault.due = n;
    fault.times = times;
    fault.reason = reason;
    fault.calls = 0;
    fault.pauses = 0;
    fault.opens = 0;
    fault.zero = 0;
    fault.which = CALL_COUNT;
}

/* ---- A folder -------------------------------------------------------------------------------- */

static char base[64];
static struct acp_roots *roots;

static const char *at(const char *name)
{
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    (void) snprintf(path, sizeof(paths[0]), "%s/%s", base, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static int setup(void **state)
{
    (void) state;
    char made[] = "/tmp/acp-faults-XXXXXX";
    assert_non_null(mkdtemp(made));
    (void) snprintf(base, sizeof(base), "%s", made);
    put("file", "the old text");
    fault.on = false;
    return acp_roots_new(acp_str_from(base), (struct acp_str_list){NULL, 0}, &roots, NULL);
}

static int teardown(void **state)
{
    (void) state;
    char command[100];
    fault.on = false;
    acp_roots_free(roots);
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", base);
    return system(command);
}

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < (int) COUNT(fault.writable); fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* What the folder and those in it hold, without locks: "name=text;" in the order of the names. */
static void look_into(const char *folder, char *out, size_t size)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        char text[4096] = "";
        struct stat st;
        const char *name = names[i]->d_name;
        (void) snprintf(path, sizeof(path), "%s/%s", folder, name);
        assert_int_equal(lstat(path, &st), 0);
        size_t n = strlen(out);
        if (S_ISDIR(st.st_mode) && name[0] != '.') {
            (void) snprintf(out + n, size - n, "%s/", name);
            look_into(path, out, size);
        } else if (S_ISREG(st.st_mode) && !strstr(name, ".lock")) {
            FILE *file = fopen(path, "r");
            assert_non_null(file);
            text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
            (void) fclose(file);
            (void) snprintf(out + n, size - n, "%s=%s;", name, text);
        }
        free(names[i]);
    }
    free((void *) names);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static int write_file(const char *name, bool walk, bool sync)
{
    struct acp_files_options options = {.walk = walk, .sync = sync};
    struct acp_files_error error = {.code = 0};
    int err = acp_files_write(roots, acp_str_from(at(name)), acp_str_from("the new text"), &options,
                              &error);
    assert_true(!err || (error.code && *error.message));
    return err;
}

static int read_file(bool walk)
{
    struct acp_files_options options = {.walk = walk};
    struct acp_files_error error = {.code = 0};
    struct acp_buf out;
    struct acp_str text;
    acp_buf_init(&out, 1000);
    int err =
        acp_files_read(roots, acp_str_from(at("file")), (struct acp_opt_i64){.has = ACP_ABSENT},
                       (struct acp_opt_i64){.has = ACP_ABSENT}, &options, &out, &text, &error);
    assert_true(!err || (error.code && *error.message));
    if (!err)
        assert_true(acp_str_is(text, "the old text"));
    acp_buf_finish(&out);
    return err;
}

static int op_replace(void)
{
    return write_file("file", false, true);
}

static int op_replace_walking(void)
{
    return write_file("file", true, true);
}

static int op_make(void)
{
    return write_file("new", false, true);
}

static int op_make_deep(void)
{
    return write_file("a/b/new", false, false);
}

static int op_make_deep_walking(void)
{
    return write_file("a/b/new", true, false);
}

static int op_read(void)
{
    return read_file(false);
}

static int op_read_walking(void)
{
    return read_file(true);
}

static int op_open(void)
{
    struct acp_files_error error = {.code = 0};
    int fd = -1;
    int err = acp_files_open(roots, acp_str_from(at("file")), NULL, &fd, &error);
    assert_true(!err || (error.code && *error.message && fd == -1));
    if (!err)
        (void) close(fd);
    return err;
}

/* Adds to what another has saved before. */
static int op_ledger(void)
{
    struct acp_ledger *ledger = NULL;
    struct acp_failure failure = {0};
    struct acp_grant grant = {.allow = true,
                              .scope = ACP_GRANT_EVERYWHERE,
                              .kind = ACP_TOOL_KIND_READ,
                              .who = acp_str_from("tester")};
    assert_int_equal(acp_ledger_new(&ledger), 0);
    assert_int_equal(acp_ledger_add(ledger, &grant, NULL, &failure), 0);
    int err = acp_ledger_save_file(ledger, at("ledger"), NULL, NULL, &failure);
    assert_true(err >= 0 || (failure.err == err && *failure.message));
    acp_ledger_free(ledger);
    return err;
}

static int op_ledger_load(void)
{
    struct acp_ledger *ledger = NULL;
    struct acp_failure failure = {0};
    assert_int_equal(acp_ledger_new(&ledger), 0);
    int err = acp_ledger_load_file(ledger, at("file"), NULL, NULL, &failure);
    assert_true(err >= 0 || (failure.err == err && *failure.message));
    acp_ledger_free(ledger);
    return err < 0 ? err : 0;
}

static const struct operation {
    const char *name;
    int (*run)(void);
} operations[] = {
    {"replace", op_replace},
    {"replace, walking", op_replace_walking},
    {"make", op_make},
    {"make below new directories", op_make_deep},
    {"make below new directories, walking", op_make_deep_walking},
    {"read", op_read},
    {"read, walking", op_read_walking},
    {"open", op_open},
    {"save the ledger", op_ledger},
    {"load the ledger", op_ledger_load},
};

/* Directories that were made stay; what they hold is what counts. */
static bool same_files(const char *a, const char *b)
{
    const char *start_a = strstr(a, "file=");
    const char *start_b = strstr(b, "file=");
    return start_a && start_b && strcmp(start_a, start_b) == 0;
}

/* The n-th call fails for that reason; false: there is no n-th one. */
static bool try_fault(const struct operation *operation, int n, int reason)
{
    char before[8192] = "";
    char after[8192] = "";
    int descriptors = open_descriptors();
    look_into(base, before, sizeof(before));
    fail_at(n, 1, reason);
    int err = operation->run();
    bool reached = fault.calls >= n;
    fault.on = false;
    CHECK_ROW(open_descriptors() == descriptors, n, "%s: descriptors are left open",
              operation->name);
    look_into(base, after, sizeof(after));
    CHECK_ROW(!strstr(after, ".tmp"), n, "%s: %s", operation->name, after);
    if (!reached) {
        CHECK_ROW(err == 0, n, "%s fails without a fault", operation->name);
        return false;
    }
    /* What is interrupted is done again. */
    bool again = reason == EINTR && (fault.which == CALL_READ || fault.which == CALL_WRITE ||
                                     fault.which == CALL_FLOCK || fault.which == CALL_OPENAT2);
    again |= reason == EAGAIN && fault.which == CALL_OPENAT2;
    /* The walk takes that for something that was renamed, the lock for one that is held. */
    bool either = reason == EAGAIN && (fault.which == CALL_OPEN || fault.which == CALL_FSTAT ||
                                       fault.which == CALL_FLOCK);
    if (again)
        CHECK_ROW(err == 0, n, "%s: was interrupted", operation->name);
    else if (!either)
        CHECK_ROW(err < 0, n, "%s: call %d failed, and it was reported as done", operation->name,
                  (int) fault.which);
    /* Once it has its name it stays, though it may not be on the disk. */
    if (err < 0 && !strstr(after, "the new text") && !strstr(after, "ledger="))
        CHECK_ROW(same_files(before, after), n, "%s: %s\nbecame\n%s", operation->name, before,
                  after);
    CHECK_ROW(operation->run() == 0, n, "%s cannot be repeated", operation->name);
    return true;
}

static void every_call_that_fails_is_reported(void **state)
{
    static const int reasons[] = {EIO, EINTR, EAGAIN};
    for (size_t i = 0; i < COUNT(operations); i++)
        for (size_t k = 0; k < COUNT(reasons); k++) {
            bool more = true;
            for (int n = 1; more; n++) {
                more = try_fault(&operations[i], n, reasons[k]);
                assert_int_equal(teardown(state), 0);
                assert_int_equal(setup(state), 0);
                assert_true(n < 200);
            }
        }
}

/* A program that was started without standard input gets that number for a file. */
static void descriptor_0_is_as_good_as_any(void **state)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(input > STDIN_FILENO && dup2(input, STDIN_FILENO) == STDIN_FILENO);
    for (size_t i = 0; i < COUNT(operations); i++) {
        bool more = true;
        for (int n = 1; more; n++) {
            char after[8192] = "";
            int descriptors = open_descriptors();
            fail_at(0, 0, 0);
            fault.zero = n;
            int err = operations[i].run();
            more = fault.opens >= n;
            fault.on = false;
            CHECK_ROW(err == 0, n, "%s: %d", operations[i].name, err);
            CHECK_ROW(open_descriptors() == descriptors - more, n, "%s: descriptors are left open",
                      operations[i].name);
            assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
            look_into(base, after, sizeof(after));
            CHECK_ROW(!strstr(after, ".tmp"), n, "%s: %s", operations[i].name, after);
            assert_int_equal(teardown(state), 0);
            assert_int_equal(setup(state), 0);
            assert_true(n < 200);
        }
    }
    (void) close(input);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_call_that_fails_is_reported),
        IN_FOLDER(descriptor_0_is_as_good_as_any),
    };
    return cmocka_run_group_tests_name("files-faults", tests, NULL, NULL);
}
