/* The command lines: of bubblewrap with the helper in it, and of the helper alone. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/sandbox_internal.h"

/* Where the helper is inside; nothing of the machine is there. */
#define HELPER_INSIDE "/.acp-sandbox"

const char *const sandbox_system_places[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", NULL,
};

const char *const sandbox_system_secrets[] = {
    "/etc/NetworkManager/system-connections",
    "/etc/docker",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    NULL,
};

/* Of a new /proc: what root may write without any capability, and what tells of the kernel. */
static const char *const proc_read_only[] = {
    "/proc/sys",  "/proc/sysrq-trigger", "/proc/irq",  "/proc/bus", "/proc/fs",
    "/proc/acpi", "/proc/scsi",          "/proc/mtrr", "/proc/cpu", NULL};
static const char *const proc_hidden[] = {
    "/proc/kcore",      "/proc/kmsg",       "/proc/keys",       "/proc/key-users",
    "/proc/timer_list", "/proc/kpagecount", "/proc/kpageflags", NULL};

/* Of our environment, where keys and tokens are, only this goes in. */
static const char *const kept_variables[] = {"PATH", "LANG", "LC_ALL", "TZ", "USER", NULL};

/* The same as in terminals; nobody could leave a pager. */
static const char *const set_variables[] = {"TERM=xterm-256color", "PAGER=cat", "GIT_PAGER=cat",
                                            NULL};

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* ---- What both have ------------------------------------------------------------------------- */

static void add_variable(struct sandbox_plan *plan, const char *name, const char *value)
{
    struct acp_buf text;
    acp_buf_init(&text, (size_t) 128 * 1024);
    plan->out_of_memory |= acp_buf_printf(&text, "%s=%s", name, value) != 0;
    sandbox_add(plan, "--set");
    sandbox_add_copy(plan, acp_buf_view(&text));
    acp_buf_finish(&text);
}

void sandbox_add_command(struct sandbox_plan *plan)
{
    const struct sandbox_profile *profile = plan->profile;
    const char *temp = plan->temp[0] ? plan->temp : "/tmp";
    for (size_t i = 0; kept_variables[i]; i++)
        if (getenv(kept_variables[i]))
            add_variable(plan, kept_variables[i], getenv(kept_variables[i]));
    for (size_t i = 0; set_variables[i]; i++)
        sandbox_add2(plan, "--set", set_variables[i]);
    add_variable(plan, "HOME", temp);
    add_variable(plan, "TMPDIR", temp);
    for (size_t i = 0; i < profile->environment.count; i++) {
        sandbox_add(plan, "--set");
        sandbox_add_copy(plan, profile->environment.items[i]);
    }
    if (profile->network)
        sandbox_add(plan, "--network");
    if (profile->cwd.len) {
        sandbox_add(plan, "--chdir");
        sandbox_add_copy(plan, profile->cwd);
    }
    if (plan->verify)
        sandbox_add2(plan, "--verify", plan->verify);
    sandbox_add(plan, "--");
    for (size_t i = 0; i < profile->command.count; i++)
        sandbox_add_copy(plan, profile->command.items[i]);
}

/* ---- bubblewrap ----------------------------------------------------------------------------- */

static void add_hidden(struct sandbox_plan *plan, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return;
    if (S_ISDIR(st.st_mode))
        sandbox_add2(plan, "--tmpfs", path);
    else
        sandbox_add3(plan, "--ro-bind", "/dev/null", path);
}

static void add_system(struct sandbox_plan *plan)
{
    for (size_t i = 0; sandbox_system_places[i]; i++)
        sandbox_add3(plan, "--ro-bind-try", sandbox_system_places[i], sandbox_system_places[i]);
    for (size_t i = 0; sandbox_system_secrets[i]; i++)
        add_hidden(plan, sandbox_system_secrets[i]);
    sandbox_add2(plan, "--proc", "/proc");
    for (size_t i = 0; proc_read_only[i]; i++)
        sandbox_add3(plan, "--ro-bind-try", proc_read_only[i], proc_read_only[i]);
    for (size_t i = 0; proc_hidden[i]; i++)
        if (is_there(proc_hidden[i]))
            sandbox_add3(plan, "--ro-bind", "/dev/null", proc_hidden[i]);
    sandbox_add2(plan, "--dev", "/dev");
    sandbox_add2(plan, "--tmpfs", "/tmp");
}

/*
 * Another command in the same root may replace a directory by a link before bubblewrap mounts it,
 * and what the link leads to would be mounted.  So the helper looks, before the command runs,
 * whether each mount is where it should be and shows what it should.
 */
static void add_expected(struct sandbox_plan *plan, const struct protect_entry *entry)
{
    struct stat st;
    struct acp_buf text;
    if (lstat(entry->path, &st))
        return;
    bool hidden = entry->how == PROTECT_HIDE_DIRECTORY || entry->how == PROTECT_HIDE_FILE;
    plan->changed |= S_ISLNK(st.st_mode);
    acp_buf_init(&text, SANDBOX_PATH_SIZE + 64);
    plan->out_of_memory |=
        acp_buf_printf(&text, "%llu:%s", hidden ? 0ULL : (unsigned long long) st.st_ino,
                       entry->path) != 0;
    sandbox_add(plan, "--expect");
    sandbox_add_copy(plan, acp_buf_view(&text));
    acp_buf_finish(&text);
}

static void add_entry(struct sandbox_plan *plan, const struct protect_entry *entry)
{
    /* A stub that could not be made: the command cannot make that either. */
    if (!is_there(entry->path))
        return;
    switch (entry->how) {
    case PROTECT_ROOT:
    case PROTECT_GITDIR:
    case PROTECT_PIN:
        sandbox_add3(plan, "--bind", entry->path, entry->path);
        break;
    case PROTECT_READ:
        sandbox_add3(plan, "--ro-bind", entry->path, entry->path);
        break;
    case PROTECT_HIDE_DIRECTORY:
        sandbox_add2(plan, "--tmpfs", entry->path);
        break;
    case PROTECT_HIDE_FILE:
        sandbox_add3(plan, "--ro-bind", "/dev/null", entry->path);
        break;
    }
}

/* A root is mounted where it really is; under another name that was given it is a link. */
static void add_links(struct sandbox_plan *plan)
{
    char real[SANDBOX_PATH_SIZE];
    for (size_t i = 0; i < plan->profile->roots.count; i++) {
        const char *given = plan->profile->roots.items[i].ptr;
        if (realpath(given, real) && strcmp(real, given) != 0) {
            struct acp_str copy = acp_arena_copy(&plan->arena, acp_str_from(real));
            sandbox_add(plan, "--symlink");
            sandbox_add_copy(plan, copy);
            sandbox_add_copy(plan, acp_str_from(given));
        }
    }
}

static void add_paths(struct sandbox_plan *plan)
{
    const struct sandbox_profile *profile = plan->profile;
    for (size_t i = 0; i < profile->readable.count; i++) {
        sandbox_add(plan, "--ro-bind");
        sandbox_add_copy(plan, profile->readable.items[i]);
        sandbox_add_copy(plan, profile->readable.items[i]);
    }
    for (size_t i = 0; i < plan->paths.count; i++)
        add_entry(plan, &plan->paths.entries[i]);
    add_links(plan);
    /* Last, since roots may lie in what was hidden. */
    for (size_t i = 0; i < plan->paths.count; i++)
        if (plan->paths.entries[i].how == PROTECT_HIDE_DIRECTORY)
            sandbox_add2(plan, "--remount-ro", plan->paths.entries[i].path);
}

/* What the helper allows by Landlock: the mounts have done the rest. */
static void add_second_wall(struct sandbox_plan *plan)
{
    sandbox_add2(plan, "--read", "/");
    sandbox_add2(plan, "--device", "/dev");
    sandbox_add2(plan, "--write", "/dev/shm");
    sandbox_add2(plan, "--write", "/tmp");
    for (size_t i = 0; i < plan->paths.count; i++) {
        enum protect_how how = plan->paths.entries[i].how;
        if (how == PROTECT_ROOT || how == PROTECT_GITDIR)
            sandbox_add2(plan, "--write", plan->paths.entries[i].path);
        add_expected(plan, &plan->paths.entries[i]);
    }
}

void sandbox_add_bubblewrap(struct sandbox_plan *plan)
{
    static const char *const fixed[] = {
        /* Of the user's own, or bubblewrap started by root would not make one. */
        "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL",
        "--die-with-parent",
        /* Otherwise a command could type into the terminal that shows it. */
        "--new-session", "--hostname", "sandbox", NULL};
    sandbox_add(plan, plan->sandbox->bwrap);
    for (size_t i = 0; fixed[i]; i++)
        sandbox_add(plan, fixed[i]);
    if (plan->profile->network)
        sandbox_add(plan, "--share-net");
    add_system(plan);
    add_paths(plan);
    sandbox_add3(plan, "--ro-bind", plan->sandbox->helper, HELPER_INSIDE);
    sandbox_add2(plan, "--remount-ro", "/");
    sandbox_add2(plan, "--", HELPER_INSIDE);
    add_second_wall(plan);
    sandbox_add_command(plan);
}

/* ---- Landlock alone ------------------------------------------------------------------------- */

void sandbox_add_landlock(struct sandbox_plan *plan)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", NULL};
    /* A directory with an exception below cannot be renamed anyway. */
    static const char *const options[] = {
        [PROTECT_ROOT] = "--write",
        [PROTECT_GITDIR] = "--protect",
        [PROTECT_PIN] = NULL,
        [PROTECT_READ] = "--protect",
        [PROTECT_HIDE_DIRECTORY] = "--hide",
        [PROTECT_HIDE_FILE] = "--hide",
    };
    sandbox_add2(plan, plan->sandbox->helper, "--first");
    for (size_t i = 0; sandbox_system_places[i]; i++)
        sandbox_add2(plan, "--read", sandbox_system_places[i]);
    for (size_t i = 0; sandbox_system_secrets[i]; i++)
        sandbox_add2(plan, "--hide", sandbox_system_secrets[i]);
    for (size_t i = 0; devices[i]; i++)
        sandbox_add2(plan, "--device", devices[i]);
    sandbox_add2(plan, "--read", "/proc");
    sandbox_add2(plan, "--write", plan->temp);
    for (size_t i = 0; i < plan->profile->readable.count; i++) {
        sandbox_add(plan, "--read");
        sandbox_add_copy(plan, plan->profile->readable.items[i]);
    }
    for (size_t i = 0; i < plan->paths.count; i++)
        if (options[plan->paths.entries[i].how])
            sandbox_add2(plan, options[plan->paths.entries[i].how], plan->paths.entries[i].path);
    sandbox_add_command(plan);
}
