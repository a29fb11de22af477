/* keyring.c - runs secret-tool(1). */
#include "config/keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/paths.h"

extern char **environ;

/* The standard input and standard output of the program. */
struct talk {
    struct acp_str input;
    char *output; /* NULL: standard output is not read */
    size_t size;
};

static void close_pair(const int pair[2])
{
    (void) close(pair[0]);
    (void) close(pair[1]);
}

static int write_all(int fd, struct acp_str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            text = acp_str_n(text.ptr + n, text.len - (size_t) n);
    }
    return 0;
}

static int read_all(int fd, char *out, size_t size)
{
    size_t used = 0;
    for (;;) {
        ssize_t n = used + 1 < size ? read(fd, out + used, size - 1 - used) : 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        used += n > 0 ? (size_t) n : 0;
    }
    out[used] = '\0';
    return 0;
}

static int spawn(const char *program, char *const *argv, const int in[2], const int out[2],
                 pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    int err = posix_spawn_file_actions_init(&actions);
    if (err)
        return -err;
    err = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    if (!err)
        err = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (!err)
        err = posix_spawn(ret, program, &actions, NULL, argv, environ);
    (void) posix_spawn_file_actions_destroy(&actions);
    return -err;
}

static int open_pipe(int pair[2])
{
    if (pipe(pair) != 0)
        return -errno;
    (void) fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    (void) fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/* The exit status, or -errno. */
static int run(const char *program, char *const *argv, const struct talk *talk)
{
    int in[2];
    int out[2];
    pid_t pid = 0;
    int status = 0;
    int err = open_pipe(in);
    if (err)
        return err;
    err = open_pipe(out);
    if (err) {
        close_pair(in);
        return err;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction old;
    (void) sigaction(SIGPIPE, &ignore, &old); /* the program may exit without reading */
    err = spawn(program, argv, in, out, &pid);
    (void) close(in[0]);
    (void) close(out[1]);
    if (!err)
        (void) write_all(in[1], talk->input);
    (void) close(in[1]);
    if (!err && talk->output)
        err = read_all(out[0], talk->output, talk->size);
    (void) close(out[0]);
    while (pid && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void) sigaction(SIGPIPE, &old, NULL);
    return err ? err : WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

enum action { ACTION_STORE, ACTION_LOOKUP, ACTION_CLEAR };

static int run_tool(const char *const *environment, enum action action, const char *provider,
                    const struct talk *talk, struct acp_buf *why)
{
    char store[] = "store";
    char lookup[] = "lookup";
    char clear[] = "clear";
    char label[100];
    char service[] = "service";
    char acp[] = "acp";
    char name[] = "provider";
    char id[60];
    struct acp_arena arena;
    (void) snprintf(label, sizeof(label), "--label=Key for %.40s (acp agent)", provider);
    (void) snprintf(id, sizeof(id), "%s", provider);
    acp_arena_init(&arena, 0);
    const char *program =
        paths_find_program(&arena, "secret-tool", paths_variable(environment, "PATH"), NULL);
    char *argv[8] = {NULL};
    size_t n = 1;
    char *words[] = {action == ACTION_STORE    ? store
                     : action == ACTION_LOOKUP ? lookup
                                               : clear,
                     action == ACTION_STORE ? label : NULL};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i])
            argv[n++] = words[i];
    char *attributes[] = {service, acp, name, id};
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        argv[n++] = attributes[i];
    argv[0] = store; /* secret-tool ignores its own name */
    int err = program ? run(program, argv, talk) : -ENOENT;
    if (!program)
        (void) acp_buf_printf(why, "secret-tool is not installed (Debian: libsecret-tools); log in "
                                   "without --keyring to store the key in a file");
    else if (err)
        (void) acp_buf_printf(why, "secret-tool failed (%d); is a keyring running and unlocked?",
                              err);
    acp_arena_finish(&arena);
    return err > 0 ? -EIO : err;
}

int key_ring_read(const char *const *environment, const char *provider, char *ret, size_t size,
                  struct acp_buf *why)
{
    const struct talk talk = {.output = ret, .size = size};
    *ret = '\0';
    return run_tool(environment, ACTION_LOOKUP, provider, &talk, why);
}

int key_ring_write(const char *const *environment, const char *provider, struct acp_str key,
                   struct acp_buf *why)
{
    const struct talk talk = {.input = key};
    return run_tool(environment, ACTION_STORE, provider, &talk, why);
}

int key_ring_remove(const char *const *environment, const char *provider, struct acp_buf *why)
{
    const struct talk talk = {.input = {NULL, 0}};
    return run_tool(environment, ACTION_CLEAR, provider, &talk, why);
}
