/* The folder in which npx and its relatives are started, and the shell that leaves it. */
#include "launch/fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct acp_failure *failure, const char *what, const char *path, int number)
{
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message), "%s %s: %s", what, path,
                    strerror(number));
    return ACP_ERR_STATE;
}

static int fail_memory(struct acp_failure *failure)
{
    *failure = (struct acp_failure){.err = ACP_ERR_NOMEM};
    (void) snprintf(failure->message, sizeof(failure->message), "%s", acp_err_text(ACP_ERR_NOMEM));
    return ACP_ERR_NOMEM;
}

/* ---- Which they are ------------------------------------------------------------------------- */

enum way {
    WAY_NONE = 0,
    WAY_NPM,  /* has a script-shell */
    WAY_UV,   /* takes a command behind --from */
    WAY_BARE, /* neither */
};

static const struct {
    const char *program;
    const char *verb; /* its first argument; NULL: any */
    enum way way;
} ways[] = {
    {"npx", NULL, WAY_NPM},   {"npm", "exec", WAY_NPM},  {"npm", "x", WAY_NPM},
    {"uvx", NULL, WAY_UV},    {"uv", "tool", WAY_BARE},  {"uv", "x", WAY_BARE},
    {"pnpx", NULL, WAY_BARE}, {"pnpm", "dlx", WAY_BARE}, {"yarn", "dlx", WAY_BARE},
    {"bunx", NULL, WAY_BARE}, {"bun", "x", WAY_BARE},    {"pipx", "run", WAY_BARE},
};

/* ".", "./x", "../x": a folder of the session's that somebody names. */
static bool is_path(const char *word)
{
    if (word[0] != '.')
        return false;
    const char *rest = word + (word[1] == '.' ? 2 : 1);
    return *rest == '\0' || *rest == '/';
}

/* The package is the first word that is not an option; the words after it are for the program. */
static bool names_path(const char *const *argv)
{
    for (size_t i = 1; argv[i]; i++)
        if (argv[i][0] != '-')
            return is_path(argv[i]);
    return false;
}

static enum way way_of(const char *const *argv)
{
    const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
    const char *program = slash ? slash + 1 : argv[0];
    for (size_t i = 0; program && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(ways[i].program, program) == 0 &&
            (!ways[i].verb || (argv[1] && strcmp(ways[i].verb, argv[1]) == 0)))
            return names_path(ways[i].verb ? argv + 1 : argv) ? WAY_NONE : ways[i].way;
    return WAY_NONE;
}

bool launch_is_fetched(const char *const *argv)
{
    return way_of(argv) != WAY_NONE;
}

/* ---- The folder ----------------------------------------------------------------------------- */

/*
 * What npm is told to run the program with.  What we have set is gone before the program runs: npm
 * that it starts by itself must not come here again.
 */
static const char shell_text[] = "#!/bin/sh\n"
                                 "# Written by acp: runs a fetched program in the folder of its "
                                 "session.\n"
                                 "cd \"$ACP_START_FOLDER\" || exit 126\n"
                                 "INIT_CWD=$PWD\n"
                                 "export INIT_CWD\n"
                                 "unset ACP_START_FOLDER npm_config_script_shell "
                                 "npm_config_local_prefix\n"
                                 "exec /bin/sh \"$@\"\n";

/* With these in it, nobody looks for settings in the folders above. */
static const struct {
    const char *name;
    const char *text;
    mode_t mode;
} files[] = {
    {"package.json", "{}\n", 0600},
    {"uv.toml", "", 0600},
    {"shell", shell_text, 0700},
};

static char *join(struct acp_arena *arena, const char *first, const char *between,
                  const char *second)
{
    size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *text = acp_arena_alloc(arena, size);
    if (text)
        (void) snprintf(text, size, "%s%s%s", first, between, second);
    return text;
}

/* With the folders above it, for this user alone. */
static int make_folder(struct acp_arena *arena, const char *folder, struct acp_failure *failure)
{
    struct stat st;
    char *path = join(arena, folder, "", "");
    if (!path)
        return fail_memory(failure);
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) && errno != EEXIST)
            return fail(failure, "cannot make", path, errno);
        *at = '/';
    }
    if (mkdir(path, 0700) && errno != EEXIST)
        return fail(failure, "cannot make", path, errno);
    if (lstat(path, &st))
        return fail(failure, "cannot use", path, errno);
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022))
        return 0;
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message),
                    "%.100s must be a directory that only you can write to; remove it, and it is "
                    "made again",
                    path);
    return ACP_ERR_STATE;
}

static bool is_written(int folder, const char *name, const char *text)
{
    char old[sizeof(shell_text) + 1];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, old, sizeof(old));
    (void) close(fd);
    return n >= 0 && (size_t) n == strlen(text) && memcmp(old, text, (size_t) n) == 0;
}

/* In one step: another acp may be about to use the old one. */
static int write_file(int folder, const char *name, const char *text, mode_t mode)
{
    char aside[64];
    (void) snprintf(aside, sizeof(aside), "%s.%ld", name, (long) getpid());
    (void) unlinkat(folder, aside, 0);
    int fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return errno;
    size_t n = strlen(text);
    int number = write(fd, text, n) == (ssize_t) n ? 0 : errno ? errno : ENOSPC;
    if (close(fd) && !number)
        number = errno;
    if (!number && renameat(folder, aside, folder, name))
        number = errno;
    if (number)
        (void) unlinkat(folder, aside, 0);
    return number;
}

static int fill_folder(const char *path, struct acp_failure *failure)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0)
        return fail(failure, "cannot use", path, errno);
    int number = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !number; i++)
        if (!is_written(folder, files[i].name, files[i].text))
            number = write_file(folder, files[i].name, files[i].text, files[i].mode);
    (void) close(folder);
    return number ? fail(failure, "cannot write into", path, number) : 0;
}

/* ---- The command line ----------------------------------------------------------------------- */

/* uvx --from PACKAGE COMMAND ...: the command is run by the shell. */
static size_t place_of_shell(enum way way, const char *const *argv)
{
    bool named = way == WAY_UV && argv[1] && strcmp(argv[1], "--from") == 0;
    return named && argv[2] && argv[3] && argv[3][0] != '-' ? 3 : 0;
}

static const char *const *make_argv(struct acp_arena *arena, const char *program,
                                    const char *const *argv, size_t place, const char *shell)
{
    const char *const words[] = {shell, "-c", "exec \"$@\"", "sh"};
    enum { WORDS = sizeof(words) / sizeof(words[0]) };
    size_t count = 0;
    while (argv[count])
        count++;
    const char **list = acp_arena_alloc(arena, (count + WORDS + 1) * sizeof(*list));
    if (!list)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < WORDS && place && i == place; k++)
            list[n++] = words[k];
        list[n++] = i == 0 ? program : argv[i];
    }
    list[n] = NULL;
    return list;
}

int launch_fetched(struct acp_arena *arena, const char *folder, const char *program,
                   const char *const *argv, const char *cwd, struct launch_fetched *ret,
                   struct acp_failure *failure)
{
    enum way way = way_of(argv);
    int err = make_folder(arena, folder, failure);
    if (!err)
        err = fill_folder(folder, failure);
    if (err)
        return err;
    char *shell = join(arena, folder, "/", "shell");
    const char **env = acp_arena_alloc(arena, 3 * sizeof(*env));
    size_t place = place_of_shell(way, argv);
    const char *const *list = shell ? make_argv(arena, program, argv, place, shell) : NULL;
    if (!env || !list)
        return fail_memory(failure);
    if (way == WAY_NPM || place) {
        env[0] = join(arena, "ACP_START_FOLDER", "=", cwd);
        env[1] = way == WAY_NPM ? join(arena, "npm_config_script_shell", "=", shell) : NULL;
        if (!env[0] || (way == WAY_NPM && !env[1]))
            return fail_memory(failure);
    }
    *ret = (struct launch_fetched){.argv = list, .env = env, .cwd = folder};
    return 0;
}
