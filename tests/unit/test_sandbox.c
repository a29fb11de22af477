/*
 * The sandbox: which walls are found, which roots are refused, and what is protected in a root.
 * What gets out of it is tried in tests/jail.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

#include "launch/landlock.h"
#include "launch/sandbox.h"

static char folder[64];
static char saved_path[4096];
static struct sandbox *sandbox; /* behind bubblewrap */
static bool commits = true;

__attribute__((format(printf, 1, 2))) static const char *at(const char *format, ...)
{
    static char paths[8][600];
    static unsigned next;
    char *path = paths[next++ % 8];
    int n = snprintf(path, sizeof(paths[0]), "%s/", folder);
    va_list args;
    va_start(args, format);
    (void) vsnprintf(path + n, sizeof(paths[0]) - (size_t) n, format, args);
    va_end(args);
    return path;
}

/* Runs a line in a shell outside, in the folder. */
static int shell(const char *line)
{
    char whole[4096];
    (void) snprintf(whole, sizeof(whole), "cd %s && { %s\n}", folder, line);
    int status = system(whole);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* ---- A run ---------------------------------------------------------------------------------- */

struct started {
    struct sandbox_run *run;
    pid_t pid;
};

static int start(struct started *s, const char *root, const char *line, struct acp_failure *failure)
{
    struct acp_str path = acp_str_from(root);
    struct acp_str command[] = {acp_str_from("/bin/sh"), acp_str_from("-c"), acp_str_from(line)};
    struct sandbox_profile profile = {
        .roots = {&path, 1}, .cwd = path, .command = {command, 3}, .commits = commits};
    int err = sandbox_run_new(sandbox, &profile, &s->run, failure);
    if (err)
        return err;
    s->pid = fork();
    if (s->pid == 0) {
        char **argv = calloc(s->run->count + 1, sizeof(char *));
        for (size_t i = 0; argv && i < s->run->count; i++)
            argv[i] = (char *) (uintptr_t) s->run->argv[i].ptr;
        (void) dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
        (void) execv(s->run->argv[0].ptr, argv);
        _exit(97);
    }
    return 0;
}

static int end(struct started *s)
{
    int status = 0;
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    (void) sandbox_run_free(s->run);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The status of a line that is run in a sandbox with one root. */
static int run(const char *root, const char *line)
{
    struct started s;
    struct acp_failure failure = {0};
    int err = start(&s, root, line, &failure);
    if (err)
        print_message("# %s\n", failure.message);
    assert_int_equal(err, 0);
    return end(&s);
}

static void assert_refused(const char *root, int err, const char *why)
{
    struct started s;
    struct acp_failure failure = {0};
    int got = start(&s, root, "true", &failure);
    if (got == 0)
        (void) end(&s);
    assert_int_equal(got, err);
    assert_non_null(strstr(failure.message, why));
}

/* ---- Which walls there are ------------------------------------------------------------------ */

static int setup(void **state)
{
    struct acp_failure failure = {0};
    struct sandbox_options options = {.wall = SANDBOX_BUBBLEWRAP};
    (void) state;
    (void) snprintf(folder, sizeof(folder), "/tmp/acp-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void) snprintf(saved_path, sizeof(saved_path), "%s", getenv("PATH"));
    (void) setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    (void) setenv("HOME", folder, 1); /* for git; a test of homes sets another */
    assert_int_equal(shell("git config --global user.name t; git config --global user.email t@t; "
                           "git config --global protocol.file.allow always"),
                     0);
    assert_int_equal(mkdir(at("plain"), 0755), 0);
    if (sandbox_new(&options, &sandbox, &failure)) {
        print_message("# %s\n", failure.message);
        sandbox = NULL;
        /* Decided without our own code: where bubblewrap works, ours must. */
        assert_int_not_equal(
            system("bwrap --unshare-user --unshare-all --ro-bind / / true 2>/dev/null"), 0);
    }
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    sandbox_free(sandbox);
    return shell("rm -rf \"$PWD\"");
}

#define NEED_SANDBOX()                                                                             \
    do {                                                                                           \
        if (!sandbox)                                                                              \
            skip();                                                                                \
    } while (0)

static enum sandbox_wall wall_with(const char *path, const char *helper, const char *why)
{
    struct sandbox *found = NULL;
    struct acp_failure failure = {0};
    struct sandbox_options options = {.helper = helper};
    assert_int_equal(setenv("PATH", path, 1), 0);
    int err = sandbox_new(&options, &found, &failure);
    assert_int_equal(setenv("PATH", saved_path, 1), 0);
    enum sandbox_wall wall = err ? SANDBOX_ANY : sandbox_wall(found);
    if (err)
        assert_int_equal(err, ACP_ERR_STATE);
    if (err && why)
        assert_non_null(strstr(failure.message, why));
    sandbox_free(found);
    return wall;
}

static void what_fails_is_no_wall(void **state)
{
    static const char *const fakes[] = {"", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n",
                                        "#!/bin/sh\necho $@\n",
                                        "#!/bin/sh\nwhile [ $1 != -- ]; do shift; done; exec $@\n"};
    enum sandbox_wall second = landlock_version() >= 3 ? SANDBOX_LANDLOCK : SANDBOX_ANY;
    (void) state;
    assert_int_equal(mkdir(at("fake"), 0755), 0);
    /* A bwrap that cannot run, fails, does nothing, repeats its words, or only runs the command. */
    for (size_t i = 0; i < COUNT(fakes); i++) {
        FILE *file = fopen(at("fake/bwrap"), "w");
        assert_non_null(file);
        assert_true(fputs(fakes[i], file) >= 0 && fclose(file) == 0);
        assert_int_equal(chmod(at("fake/bwrap"), 0755), 0);
        CHECK_ROW(wall_with(at("fake"), NULL, NULL) == second, i, "%s", fakes[i]);
    }
    assert_int_equal(wall_with("/nowhere:relative", NULL, NULL), second);
    /* Without the helper, or with one that fails, there is none at all. */
    assert_int_equal(wall_with(saved_path, "/nowhere/acp-sandbox", "acp-sandbox"), SANDBOX_ANY);
    assert_int_equal(wall_with(saved_path, "/bin/false", "no sandbox"), SANDBOX_ANY);
    assert_int_equal(wall_with(saved_path, "/bin/true", "no sandbox"), SANDBOX_ANY);
    assert_int_equal(wall_with("/nowhere", "/bin/false", "install bubblewrap"), SANDBOX_ANY);
}

static void the_machine_cannot_be_a_root(void **state)
{
    static const char *const system_roots[] = {"/",    "//",   "/.",         "/usr",
                                               "/etc", "/tmp", "/var",       "/proc",
                                               "/dev", "/run", "/proc/self", "/sys"};
    (void) state;
    NEED_SANDBOX();
    for (size_t i = 0; i < COUNT(system_roots); i++)
        assert_refused(system_roots[i], ACP_ERR_RANGE, "belongs to the system");
    assert_refused("", ACP_ERR_RANGE, "absolute");
    assert_refused("relative", ACP_ERR_RANGE, "absolute");
    assert_refused("/no/such/folder", ACP_ERR_MISSING, "/no/such/folder");
}

/* ---- Stubs ---------------------------------------------------------------------------------- */

static void nothing_is_left_behind(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(run(at("plain"), "echo new > file && mkdir folder"), 0);
    assert_int_equal(shell("test \"$(ls -A plain | tr '\\n' ' ')\" = 'file folder '"), 0);
    /* Nor where directories get other modes than usual. */
    assert_int_equal(shell("mkdir odd && chmod g+s odd"), 0);
    mode_t mask = umask(077);
    int status = run(at("odd"), "! touch .vscode/x && ! mkdir .git/x");
    (void) umask(mask);
    assert_int_equal(status, 0);
    assert_int_equal(shell("test -z \"$(ls -A odd)\""), 0);
    /* Owned by the user, and with ordinary modes. */
    assert_int_equal(shell("test \"$(stat -c %u:%a plain/file)\" = \"$(id -u):644\""), 0);
}

static void runs_at_the_same_time_share_stubs(void **state)
{
    struct started first;
    int go[2];
    (void) state;
    NEED_SANDBOX();
    /* It waits until its input ends. */
    assert_int_equal(pipe(go), 0);
    int saved = dup(STDIN_FILENO);
    assert_int_equal(dup2(go[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(start(&first, at("plain"), "cat; ! echo x > .vscode/tasks.json", NULL), 0);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    (void) close(saved);
    (void) close(go[0]);
    assert_int_equal(fcntl(go[1], F_SETFD, FD_CLOEXEC), 0);
    assert_int_equal(run(at("plain"), "! echo x > .vscode/tasks.json"), 0);
    /* The second has ended, and the first is protected still. */
    assert_true(is_there(at("plain/.vscode")));
    (void) close(go[1]);
    (void) end(&first);
    assert_false(is_there(at("plain/.vscode/tasks.json")));
    assert_false(is_there(at("plain/.vscode")));
}

static void stubs_of_a_crash_are_removed_later(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("mkdir plain/.idea plain/.zed plain/.cursor && chmod 1755 plain/.idea "
                           "plain/.zed && echo mine > plain/.zed/settings.json"),
                     0);
    assert_int_equal(run(at("plain"), "! touch .idea/x && ! touch .zed/x && ! touch .cursor/x"), 0);
    assert_false(is_there(at("plain/.idea")));
    /* What somebody has put there, and a folder that is somebody's, stay. */
    assert_true(is_there(at("plain/.zed/settings.json")));
    assert_true(is_there(at("plain/.cursor")));
    assert_int_equal(shell("rm -r plain/.zed plain/.cursor"), 0);
}

/* ---- Git ------------------------------------------------------------------------------------ */

/* What a command may and may not do in any repository. */
static const char use_git[] =
    "echo x >> f && git add f && git commit -qm more && git status >/dev/null && "
    "git branch b$(git rev-list --count HEAD) && "
    "! git config a.b c && ! git config core.fsmonitor evil";

/* Otherwise who starts a command would wait for git for ever. */
static void an_index_that_does_not_end_is_refused(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("git init -q stuck && mkfifo stuck/.git/index"), 0);
    assert_refused(at("stuck"), ACP_ERR_STATE, "does not end");
}

static void git_can_commit_but_not_configure(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(
        shell("git init -q repo && cd repo && touch f && git add f && "
              "git commit -qm one && git config user.name t && git config user.email t "
              "&& cp .git/config ../before"),
        0);
    assert_int_equal(run(at("repo"), use_git), 0);
    assert_int_equal(run(at("repo"), "echo x > .git/hooks/pre-commit"), 2);
    assert_int_equal(shell("rm -rf repo/.git/hooks"), 0);
    assert_int_equal(run(at("repo"), use_git), 0);
    assert_int_equal(run(at("repo"), "mkdir .git/hooks; echo x > .git/hooks/pre-commit"), 2);
    assert_int_equal(shell("cmp before repo/.git/config && ! test -e repo/.git/commondir && "
                           "! test -e repo/.git/hooks && test $(git -C repo log --oneline | wc -l) "
                           "= 3"),
                     0);
}

static void a_worktree_commits_to_its_repository(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("git -C repo worktree add -q ../tree"), 0);
    assert_int_equal(run(at("tree"), use_git), 0);
    assert_int_equal(run(at("tree"), "echo 'gitdir: /tmp' > .git"), 2);
    assert_int_equal(run(at("tree"), "rm .git || mv .git x"), 1);
    assert_int_equal(run(at("tree"), "echo /tmp > $(git rev-parse --git-dir)/commondir"), 2);
    assert_int_equal(run(at("tree"), "echo x > $(git rev-parse --git-common-dir)/hooks/post-merge"),
                     2);
    assert_int_equal(shell("cmp before repo/.git/config && git -C tree status >/dev/null"), 0);
    /* A file that claims a repository which knows nothing of it opens nothing. */
    assert_int_equal(shell("mkdir liar && cp tree/.git liar/.git"), 0);
    assert_int_equal(run(at("liar"), "git status || ls $(sed 's/gitdir: //' .git)"), 2);
    assert_int_equal(shell("mkdir thief && mkdir -p keys && touch keys/HEAD && "
                           "echo \"gitdir: $PWD/keys\" > thief/.git"),
                     0);
    assert_int_equal(run(at("thief"), "ls $(sed 's/gitdir: //' .git)"), 2);
}

static void a_submodule_commits_to_its_repository(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(
        shell("git init -q super && cd super && git submodule --quiet add ../repo sub "
              "2>/dev/null && git commit -qm sub && cd sub && git config user.name t && "
              "git config user.email t"),
        0);
    assert_int_equal(run(at("super/sub"), use_git), 0);
    assert_int_equal(run(at("super"), "rm sub/.git"), 1);
    assert_int_equal(run(at("super"), "mv sub other"), 1);
    /* From above its repository can be read only. */
    assert_int_equal(run(at("super"), "echo x >> .git/modules/sub/config"), 2);
    assert_int_equal(run(at("super"), "mv .git/modules .git/m"), 1);
}

/* `git status` runs git in every repository that the one of the root has in its index. */
static void a_repository_that_is_added_is_disabled(void **state)
{
    static const char make[] =
        "git init -q evil && cd evil && git config user.name t && git config user.email t && "
        "touch g && git add g && git commit -qm g && "
        "git config core.fsmonitor 'touch ../../ran;:' && cd .. && git add evil 2>/dev/null";
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("rm -f ran; cp -a repo gitlink"), 0);
    assert_int_equal(run(at("gitlink"), make), 0);
    assert_int_equal(shell("git -C gitlink ls-files -s evil | grep -q ^160000 && "
                           "git -C gitlink status >/dev/null && ! test -e ran"),
                     0);
    assert_int_equal(shell("ls -d gitlink/evil/.git.sandbox-* >/dev/null"), 0);
    /* It cannot be made again where it is recorded, nor be moved there. */
    assert_int_not_equal(run(at("gitlink"), "mv evil/.git.sandbox-* evil/.git/x"), 0);
    assert_int_not_equal(run(at("gitlink"), "mv evil other"), 0);
    assert_int_equal(shell("git -C gitlink status >/dev/null && ! test -e ran && "
                           "! test -e gitlink/evil/.git"),
                     0);
    /* A link in its place, which a command may have made, is not followed by a mount. */
    assert_int_equal(shell("mv gitlink/evil gitlink/real && mkdir -p keys && echo key > keys/k && "
                           "ln -s \"$PWD/keys\" gitlink/evil"),
                     0);
    assert_int_equal(run(at("gitlink"), "! cat evil/k && ! ls -L evil"), 0);
    /* The attack is one: without the sandbox it runs. */
    assert_int_equal(shell("cp -a repo open && cd open && sh -c 'git init -q evil && cd evil && "
                           "touch g && git add g && git commit -qm g && "
                           "git config core.fsmonitor \"touch ../../ran;:\" && cd .. && "
                           "git add evil' 2>/dev/null; git status >/dev/null 2>&1; test -e ../ran"),
                     0);
}

static void without_commits_a_repository_is_read(void **state)
{
    (void) state;
    NEED_SANDBOX();
    commits = false;
    assert_int_equal(run(at("repo"), "git status >/dev/null && ! touch .git/x && ! git add ."), 0);
    assert_int_equal(run(at("tree"), "git status >/dev/null && ! git add ."), 0);
    assert_int_equal(run(at("super/sub"), "git status >/dev/null && ! git add ."), 0);
    commits = true;
}

static void a_repository_cannot_be_made(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(mkdir(at("fresh"), 0755), 0);
    assert_int_not_equal(run(at("fresh"), "git init -q ."), 0);
    (void) run(at("fresh"), "git init -q --bare ."); /* which fails, and does not say so */
    assert_int_not_equal(
        run(at("fresh"), "mkdir x && cd x && git init -q . && cd .. && mv x/.git ."), 0);
    /* git takes a folder for a repository that has these. */
    assert_int_not_equal(run(at("fresh"), "mkdir -p objects refs; echo 'ref: refs/heads/x' > HEAD"),
                         0);
    assert_int_equal(shell("cd fresh && ! git rev-parse --git-dir 2>/dev/null"), 0);
    assert_false(is_there(at("fresh/.git")));
    assert_false(is_there(at("fresh/HEAD")));
}

static void a_link_is_refused(void **state)
{
    static const char *const names[] = {".git", ".vscode", ".git/hooks", ".git/config", ".envrc"};
    (void) state;
    NEED_SANDBOX();
    for (size_t i = 0; i < COUNT(names); i++) {
        char line[300];
        (void) snprintf(
            line, sizeof(line),
            "rm -rf linked && cp -a repo linked && rm -rf linked/%s && mkdir -p other && "
            "ln -s \"$PWD/other\" linked/%s",
            names[i], names[i]);
        assert_int_equal(shell(line), 0);
        /* Without its configuration it is no repository, and can be read only as a whole. */
        if (strcmp(names[i], ".git/config") == 0)
            assert_int_equal(run(at("linked"), "touch .git/x"), 1);
        else
            assert_refused(at("linked"), ACP_ERR_STATE, "symbolic link");
    }
}

/* ---- Homes ---------------------------------------------------------------------------------- */

static void a_home_keeps_its_secrets(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("mkdir -p up/home/.ssh up/home/.config/acp up/home/project && "
                           "echo secret > up/home/.ssh/id && echo secret > up/home/.netrc && "
                           "echo mine > up/home/.profile"),
                     0);
    assert_int_equal(setenv("HOME", at("up/home"), 1), 0);
    static const char *const roots[] = {"up/home", "up"};
    for (size_t i = 0; i < COUNT(roots); i++) {
        char line[600];
        (void) snprintf(line, sizeof(line),
                        "cd %s && echo ok > project/f && test -z \"$(ls -A .ssh)\" && "
                        "! grep secret .netrc && ! touch .ssh/x && ! touch .config/acp/x && "
                        "! touch .config/x && ! (echo x > .profile) && ! (echo x > .bashrc) && "
                        "! rm .profile && ! mkdir .local/x && ! mkdir bin/x && ! mv .config c",
                        at("up/home"));
        assert_int_equal(run(at("%s", roots[i]), line), 0);
    }
    assert_int_equal(run(at("up"), "mv home away"), 1);
    assert_int_equal(shell("grep -q mine up/home/.profile && grep -q ok up/home/project/f && "
                           "test \"$(ls -A up/home | tr '\\n' ' ')\" = "
                           "'.config .netrc .profile .ssh project '"),
                     0);
    /* A start file that is a link could be replaced. */
    assert_int_equal(shell("mv up/home/.profile up/home/p && ln -s p up/home/.profile"), 0);
    assert_refused(at("up/home"), ACP_ERR_STATE, ".profile is a symbolic link");
    /* A project in it is a root like any other. */
    assert_int_equal(run(at("up/home/project"), "touch g && ! ls ../.ssh"), 0);
    assert_int_equal(setenv("HOME", folder, 1), 0);
}

static void our_state_is_hidden_wherever_it_is(void **state)
{
    (void) state;
    NEED_SANDBOX();
    assert_int_equal(shell("mkdir -p repo/s/state/acp && echo key > repo/s/state/acp/log"), 0);
    assert_int_equal(setenv("XDG_STATE_HOME", at("repo/s/state"), 1), 0);
    assert_int_equal(run(at("repo"), "! cat s/state/acp/log && ! touch s/state/acp/x && "
                                     "! mv s t && touch s/other"),
                     0);
    assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
}

/* Before the command runs, the helper looks whether everything is as it was planned. */
static void the_helper_runs_nothing_that_is_not_confined(void **state)
{
    static const char *const options[] = {
        "--expect 99:/proc -- touch ran", /* another inode */
        "--expect 0:$PWD -- touch ran",   /* nothing is mounted there */
        "--expect 0:/nowhere -- touch ran",
        "--expect /proc -- touch ran",
        "--unknown -- touch ran",
        "--write /nowhere -- touch ran",
        "--write / --chdir /nowhere -- touch ran",
        "--write /",
        "--write",
        "",
    };
    (void) state;
    assert_int_equal(shell("rm -f ran"), 0);
    for (size_t i = 0; i < COUNT(options); i++) {
        char line[300];
        (void) snprintf(line, sizeof(line), "\"$ACP_SANDBOX_HELPER\" --read / %s 2>/dev/null",
                        options[i]);
        CHECK_ROW(shell(line) == 126, i, "%s", options[i]);
    }
    assert_false(is_there(at("ran")));
    assert_int_equal(shell("\"$ACP_SANDBOX_HELPER\" --read / -- /nowhere 2>/dev/null"), 127);
    assert_int_equal(
        shell("\"$ACP_SANDBOX_HELPER\" --read / --write \"$PWD\" --set PATH=/usr/bin:/bin "
              "-- touch ran"),
        0);
    assert_true(is_there(at("ran")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fails_is_no_wall),
        cmocka_unit_test(the_machine_cannot_be_a_root),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(runs_at_the_same_time_share_stubs),
        cmocka_unit_test(stubs_of_a_crash_are_removed_later),
        cmocka_unit_test(an_index_that_does_not_end_is_refused),
        cmocka_unit_test(git_can_commit_but_not_configure),
        cmocka_unit_test(a_worktree_commits_to_its_repository),
        cmocka_unit_test(a_submodule_commits_to_its_repository),
        cmocka_unit_test(a_repository_that_is_added_is_disabled),
        cmocka_unit_test(without_commits_a_repository_is_read),
        cmocka_unit_test(a_repository_cannot_be_made),
        cmocka_unit_test(a_link_is_refused),
        cmocka_unit_test(the_helper_runs_nothing_that_is_not_confined),
        cmocka_unit_test(a_home_keeps_its_secrets),
        cmocka_unit_test(our_state_is_hidden_wherever_it_is),
    };
    return cmocka_run_group_tests_name("sandbox", tests, setup, teardown);
}
