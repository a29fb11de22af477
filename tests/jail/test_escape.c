/*
 * Runs all attempts to escape, as root and as an ordinary user, behind bubblewrap with Landlock and
 * seccomp and behind each of the two alone, and looks from outside what has happened: so a hole in
 * one wall is seen although the other one stands.  Each attempt that can be made without harm is
 * first made without a sandbox, where it must succeed.
 *
 *     test_escape self|nobody ESCAPE ACP-SANDBOX OPEN-HELPER      who, and the programs; prints TAP
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/landlock.h"
#include "scene.h"

enum { NOBODY = 65534, OUTPUT_SIZE = 8192 };

static unsigned tests;
static unsigned failures;

__attribute__((format(printf, 2, 3))) static void report(bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) printf("%s %u - ", good ? "ok" : "not ok", ++tests);
    (void) vprintf(format, args);
    (void) printf("\n");
    va_end(args);
    failures += !good;
    (void) fflush(stdout);
}

/* ---- Running one ---------------------------------------------------------------------------- */

struct outcome {
    int status; /* of exit; -1 after a signal */
    char output[OUTPUT_SIZE];
};

static void run(char **argv, bool private, struct outcome *ret)
{
    int pipes[2];
    size_t len = 0;
    ssize_t n = 0;
    int status = 0;
    if (pipe2(pipes, O_CLOEXEC))
        exit(EXIT_FAILURE);
    (void) fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (private && scene_make_private())
            _exit(98);
        (void) dup2(pipes[1], STDOUT_FILENO);
        (void) dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
        (void) execv(argv[0], argv);
        _exit(97);
    }
    (void) close(pipes[1]);
    while (len < OUTPUT_SIZE - 1 &&
           (n = read(pipes[0], ret->output + len, OUTPUT_SIZE - 1 - len)) > 0)
        len += (size_t) n;
    (void) close(pipes[0]);
    (void) waitpid(pid, &status, 0);
    for (size_t i = 0; i < len; i++)
        if (!ret->output[i])
            ret->output[i] = ' '; /* the environment of a process has such */
    ret->output[len] = '\0';
    ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_successful(struct place *place, const struct attempt *attempt,
                          const struct outcome *outcome, bool *ret_effect)
{
    bool effect = attempt->effect == EFFECT_SECRET ? strstr(outcome->output, SECRET) != NULL
                                                   : scene_has_effect(place, attempt->effect);
    *ret_effect = effect;
    /* What was printed need not be the secret, a /tmp or a network need not be the machine's. */
    bool only_effect = attempt->effect == EFFECT_SECRET || attempt->effect == EFFECT_TMP ||
                       attempt->effect == EFFECT_UDP;
    return effect || (!only_effect && outcome->status == 0);
}

static void prove(struct place *place, const struct attempt *attempt)
{
    char *argv[SCENE_ARGS + 1];
    struct outcome outcome;
    bool effect = false;
    if (attempt->proof == PROOF_NONE || (attempt->proof != PROOF_ALL && geteuid() != 0))
        return;
    scene_reset(place);
    scene_argv(place, attempt->name, argv);
    run(argv, attempt->proof == PROOF_PRIVATE, &outcome);
    bool good = is_successful(place, attempt, &outcome, &effect) && outcome.status == 0 &&
                (effect || attempt->effect == EFFECT_NONE);
    report(good, "without a sandbox: %s (status %d)", attempt->name, outcome.status);
    scene_clear(place);
}

/* The walls that stand. */
enum walls { WALLS_BOTH, WALLS_OUTER, WALLS_INNER };
static const char *const wall_names[] = {
    [WALLS_BOTH] = "bubblewrap", [WALLS_OUTER] = "bubblewrap alone", [WALLS_INNER] = "Landlock"};

/*
 * What is the helper's to stop, by seccomp or by closing descriptors: it harms nobody outside of
 * the namespaces, or depends on the kernel and the machine.
 */
static bool is_for_helper(const struct attempt *attempt)
{
    static const char *const names[] = {"read by an inherited descriptor",
                                        "chmod a set-id program",
                                        "create a set-id program",
                                        "add a key",
                                        "find the user's keys",
                                        "perf_event_open",
                                        "io_uring",
                                        "userfaultfd",
                                        "swap, quotas, accounting",
                                        "set the clock",
                                        "personality",
                                        "type into a terminal",
                                        "call as a 32-bit program",
                                        "call as an x32 program",
                                        "make a netlink socket",
                                        "make odd sockets",
                                        NULL};
    for (size_t i = 0; names[i]; i++)
        if (strcmp(attempt->name, names[i]) == 0)
            return true;
    return false;
}

static void attack(struct place *place, const struct attempt *attempt,
                   const struct sandbox *sandbox, enum walls walls)
{
    char *words[SCENE_ARGS + 1];
    struct acp_str command[SCENE_ARGS];
    struct outcome outcome = {.status = -1};
    struct sandbox_run *jailed = NULL;
    struct acp_failure failure = {0};
    bool effect = false;
    const char *wall = wall_names[walls];
    const char *reason = walls == WALLS_INNER ? attempt->landlock : NULL;
    scene_reset(place);
    scene_argv(place, attempt->name, words);
    for (size_t i = 0; i < SCENE_ARGS; i++)
        command[i] = acp_str_from(words[i]);
    struct acp_str root = acp_str_from(place->scene.root);
    struct acp_str programs = acp_str_from(place->programs);
    struct sandbox_profile profile = {.roots = {&root, 1},
                                      .readable = {&programs, 1},
                                      .cwd = root,
                                      .command = {command, SCENE_ARGS},
                                      .commits = true};
    if (sandbox_run_new(sandbox, &profile, &jailed, &failure)) {
        report(false, "%s: %s: %s", wall, attempt->name, failure.message);
        return;
    }
    char **argv = calloc(jailed->count + 1, sizeof(char *));
    for (size_t i = 0; argv && i < jailed->count; i++)
        argv[i] = (char *) (uintptr_t) jailed->argv[i].ptr;
    run(argv, false, &outcome);
    free(argv);
    (void) sandbox_run_free(jailed);
    bool success = is_successful(place, attempt, &outcome, &effect);
    bool expected = attempt->wanted || reason;
    /* 1 is a failed attempt, -1 one that was killed; all else means that it was never made. */
    bool made = outcome.status == 0 || outcome.status == 1 || outcome.status == -1 ||
                outcome.status == 128 + SIGSYS;
    report(made && success == expected, "%s: %s (status %d)%s%s", wall, attempt->name,
           outcome.status, reason ? " # expected: " : "", reason ? reason : "");
    const char *litter = scene_litter(place);
    if (litter)
        report(false, "%s: %s leaves %s behind", wall, attempt->name, litter);
    scene_clear(place);
}

/* ---- All ------------------------------------------------------------------------------------ */

static const struct attempt *const tables[] = {escape_files, escape_processes, escape_kernel,
                                               escape_network};

/* Decided without our own code: where this works, a sandbox that does not is a failure. */
static bool works_here(enum sandbox_wall wall)
{
    if (wall == SANDBOX_LANDLOCK)
        return landlock_version() >= 3;
    return system("bwrap --unshare-user --unshare-all --ro-bind / / --proc /proc true "
                  "2>/dev/null") == 0;
}

static void campaign(struct place *place, enum walls walls)
{
    struct acp_failure failure = {0};
    struct sandbox *sandbox = NULL;
    enum sandbox_wall wall = walls == WALLS_INNER ? SANDBOX_LANDLOCK : SANDBOX_BUBBLEWRAP;
    struct sandbox_options options = {
        .wall = wall, .helper = walls == WALLS_OUTER ? place->open_helper : place->helper};
    const char *name = wall_names[walls];
    int err = sandbox_new(&options, &sandbox, &failure);
    if (err && !works_here(wall)) {
        (void) printf("ok %u # SKIP %s does not work here: %s\n", ++tests, name, failure.message);
        return;
    }
    report(!err && sandbox_wall(sandbox) == wall, "%s makes a sandbox %s", name, failure.message);
    for (size_t t = 0; !err && t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct attempt *row = tables[t]; row->name; row++)
            if (walls != WALLS_OUTER || !is_for_helper(row))
                attack(place, row, sandbox, walls);
    sandbox_free(sandbox);
}

static int run_as(uid_t user, char **programs)
{
    struct place place;
    if (user && geteuid() == 0 &&
        (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user)))
        return EXIT_FAILURE;
    (void) prctl(PR_SET_DUMPABLE, 1);
    (void) printf("# as user %u\n", (unsigned) geteuid());
    scene_make(&place, programs[0], programs[1], programs[2]);
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct attempt *row = tables[t]; row->name; row++)
            prove(&place, row);
    campaign(&place, WALLS_BOTH);
    campaign(&place, WALLS_OUTER);
    campaign(&place, WALLS_INNER);
    scene_remove(&place);
    (void) printf("1..%u\n", tests);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Is outside, to be attacked; it answers on its input as long as it lives. */
static noreturn void be_victim(void)
{
    char byte = 0;
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    while (write(STDIN_FILENO, &byte, 1) == 1 && read(STDIN_FILENO, &byte, 1) == 1)
        continue;
    exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--victim") == 0)
        be_victim();
    if (argc != 5)
        return EXIT_FAILURE;
    bool nobody = strcmp(argv[1], "nobody") == 0;
    if (nobody && geteuid() != 0) {
        (void) printf("1..0 # SKIP only root can become another user\n");
        return EXIT_SUCCESS;
    }
    (void) umask(022);
    return run_as(nobody ? NOBODY : geteuid(), argv + 2);
}
