/* Attempts on files: outside of the roots, of the system, and what is protected in a root. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"

/* ---- What must go --------------------------------------------------------------------------- */

static bool write_in_root(const struct scene *s)
{
    return write_new(path_in(s->root, "sub/made")) &&
           rename(path_in(s->root, "sub/made"), path_in(s->root, "sub/renamed")) == 0 &&
           unlink(path_in(s->root, "sub/renamed")) == 0;
}

static bool run_program(const struct scene *s)
{
    (void) s;
    return system("echo hello | sed s/hello/done/ | grep -q done") == 0;
}

static bool use_temp(const struct scene *s)
{
    (void) s;
    const char *temp = getenv("TMPDIR");
    return temp && write_new(path_in(temp, "made"));
}

static bool read_repository(const struct scene *s)
{
    char line[4200];
    (void) snprintf(line, sizeof(line), "git -C '%s' log --oneline >/dev/null", s->root);
    return system(line) == 0;
}

/* ---- Outside -------------------------------------------------------------------------------- */

static bool write_outside(const struct scene *s)
{
    return write_over(path_in(s->outside, "target"));
}

static bool write_by_dots(const struct scene *s)
{
    return write_over(path_in(s->root, "sub/../../outside/target"));
}

static bool write_by_symlink(const struct scene *s)
{
    const char *link = path_in(s->root, "sub/link");
    (void) unlink(link);
    return symlink(path_in(s->outside, "target"), link) == 0 && write_over(link);
}

static bool write_by_hard_link(const struct scene *s)
{
    const char *name = path_in(s->root, "sub/hard");
    (void) unlink(name);
    return link(path_in(s->outside, "target"), name) == 0 && write_over(name);
}

static bool write_by_rename(const struct scene *s)
{
    const char *name = path_in(s->root, "sub/evil");
    return write_new(name) && rename(name, path_in(s->outside, "target")) == 0;
}

static bool truncate_outside(const struct scene *s)
{
    return truncate(path_in(s->outside, "target"), 0) == 0;
}

static bool read_outside(const struct scene *s)
{
    return print_file(path_in(s->outside, "secret"));
}

static bool read_by_symlink(const struct scene *s)
{
    const char *link = path_in(s->root, "sub/link");
    (void) unlink(link);
    return symlink(path_in(s->outside, "secret"), link) == 0 && print_file(link);
}

static bool read_home(const struct scene *s)
{
    return print_file(path_in(s->outside, "home/.ssh/id"));
}

/* The test leaves a descriptor of a folder outside open. */
static bool read_by_inherited_file(const struct scene *s)
{
    (void) s;
    for (int fd = 3; fd < 64; fd++) {
        int file = openat(fd, "secret", O_RDONLY);
        char text[100];
        ssize_t n = file >= 0 ? read(file, text, sizeof(text)) : -1;
        if (n > 0)
            return fwrite(text, 1, (size_t) n, stdout) == (size_t) n;
    }
    return false;
}

static bool read_by_first_process(const struct scene *s)
{
    char path[4200];
    (void) snprintf(path, sizeof(path), "/proc/1/root%s/secret", s->outside);
    return print_file(path);
}

static bool read_by_victim_root(const struct scene *s)
{
    char path[4200];
    (void) snprintf(path, sizeof(path), "/proc/%d/root%s/secret", (int) s->victim, s->outside);
    return print_file(path);
}

static bool read_by_victim_cwd(const struct scene *s)
{
    char path[100];
    (void) snprintf(path, sizeof(path), "/proc/%d/cwd/secret", (int) s->victim);
    return print_file(path);
}

static bool read_by_chroot(const struct scene *s)
{
    /* The well-known way out of a chroot: a second one, with the working directory above it. */
    if (chroot(path_in(s->root, "sub")))
        return false;
    for (int i = 0; i < 64; i++)
        if (chdir(".."))
            return false;
    return chroot(".") == 0 && print_file(path_in(s->outside, "secret"));
}

static bool read_by_handle(const struct scene *s)
{
    struct {
        struct file_handle handle;
        unsigned char bytes[MAX_HANDLE_SZ];
    } h = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
    int mount = 0;
    if (name_to_handle_at(AT_FDCWD, path_in(s->root, "sub"), &h.handle, &mount, 0))
        return false;
    int root = open(s->root, O_RDONLY | O_DIRECTORY);
    return open_by_handle_at(root, &h.handle, O_RDONLY | O_DIRECTORY) >= 0;
}

static bool write_tmp(const struct scene *s)
{
    char path[100];
    (void) snprintf(path, sizeof(path), "/tmp/acp-escape-%d", (int) s->tester);
    return write_new(path);
}

static bool write_by_new_program(const struct scene *s)
{
    /* A program that never was a file. */
    int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int memory = memfd_create("program", MFD_CLOEXEC);
    char bytes[65536];
    ssize_t n = 0;
    while (own >= 0 && memory >= 0 && (n = read(own, bytes, sizeof(bytes))) > 0)
        if (write(memory, bytes, (size_t) n) != n)
            return false;
    const char *argv[] = {
        "escape", "write outside", s->outside, s->root, "0", "0", "0", "0", "0", "0", NULL};
    char *env[] = {NULL};
    if (fork() == 0) {
        (void) fexecve(memory, (char **) (uintptr_t) argv, env);
        _exit(1);
    }
    int status = 1;
    return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- The system ----------------------------------------------------------------------------- */

static bool write_system(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/etc/passwd") || opens_for_writing("/usr/bin/env");
}

static bool write_system_folder(const struct scene *s)
{
    static const char *const folders[] = {"/usr", "/etc", "/opt", "/bin", "/", "/proc", "/sys"};
    bool made = false;
    (void) s;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        int fd = open(folders[i], O_TMPFILE | O_WRONLY, 0600); /* without a name: leaves nothing */
        made = made || fd >= 0;
    }
    return made;
}

static bool read_shadow(const struct scene *s)
{
    (void) s;
    return open("/etc/shadow", O_RDONLY) >= 0 &&
           lseek(open("/etc/shadow", O_RDONLY), 0, SEEK_END) > 0;
}

static bool write_core_pattern(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/proc/sys/kernel/core_pattern");
}

static bool write_modprobe(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/proc/sys/kernel/modprobe") ||
           opens_for_writing("/proc/sys/kernel/hotplug") ||
           opens_for_writing("/proc/sys/vm/drop_caches");
}

static bool write_sysrq(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/proc/sysrq-trigger") ||
           opens_for_writing("/proc/irq/default_smp_affinity");
}

static bool write_sysfs(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/sys/kernel/mm/transparent_hugepage/enabled") ||
           opens_for_writing("/sys/kernel/uevent_helper") || opens_for_writing("/sys/power/state");
}

static bool write_cgroup(const struct scene *s)
{
    (void) s;
    return opens_for_writing("/sys/fs/cgroup/cgroup.procs") ||
           opens_for_writing("/sys/fs/cgroup/memory/release_agent");
}

static bool read_kernel_memory(const struct scene *s)
{
    (void) s;
    return open("/dev/mem", O_RDONLY) >= 0 || open("/dev/kmem", O_RDONLY) >= 0 ||
           open("/dev/kmsg", O_RDONLY) >= 0 || open("/dev/vda", O_RDONLY) >= 0 ||
           open("/dev/sda", O_RDONLY) >= 0;
}

static bool make_device(const struct scene *s)
{
    const char *path = path_in(s->root, "sub/device");
    (void) unlink(path);
    bool made = mknod(path, S_IFBLK | 0600, makedev(254, 0)) == 0 ||
                mknod(path, S_IFCHR | 0600, makedev(1, 1)) == 0;
    (void) unlink(path);
    return made;
}

static bool list_sockets(const struct scene *s)
{
    (void) s;
    return opendir("/run") || opendir("/var/run");
}

static bool make_set_id(const struct scene *s)
{
    const char *path = path_in(s->root, "sub/setid");
    (void) write_new(path);
    return chmod(path, 04755) == 0 || fchmodat(AT_FDCWD, path, 02755, 0) == 0;
}

static bool create_set_id(const struct scene *s)
{
    const char *path = path_in(s->root, "sub/setid");
    (void) unlink(path);
    return open(path, O_CREAT | O_WRONLY, 06755) >= 0;
}

/* ---- The repository and the editors' folders ------------------------------------------------ */

static bool change_config(const struct scene *s)
{
    return write_over(path_in(s->root, ".git/config"));
}

static bool change_config_by_fd(const struct scene *s)
{
    char path[4200];
    int fd = open(path_in(s->root, ".git"), O_PATH | O_DIRECTORY);
    int config = openat(fd, "config", O_WRONLY | O_TRUNC);
    (void) snprintf(path, sizeof(path), "/proc/self/root%s/.git/config", s->root);
    (void) (config >= 0 && write(config, INTRUDER, strlen(INTRUDER)));
    return config >= 0 || write_over(path);
}

static bool replace_config(const struct scene *s)
{
    const char *evil = path_in(s->root, ".git/evil");
    return (write_new(evil) || write_new(evil = path_in(s->root, "sub/evil"))) &&
           rename(evil, path_in(s->root, ".git/config")) == 0;
}

static bool exchange_config(const struct scene *s)
{
    const char *evil = path_in(s->root, "sub/evil");
    return write_new(evil) && renameat2(AT_FDCWD, evil, AT_FDCWD, path_in(s->root, ".git/config"),
                                        RENAME_EXCHANGE) == 0;
}

static bool remove_config(const struct scene *s)
{
    return unlink(path_in(s->root, ".git/config")) == 0;
}

static bool link_config(const struct scene *s)
{
    const char *name = path_in(s->root, "sub/config");
    (void) unlink(name);
    return link(path_in(s->root, ".git/config"), name) == 0 && write_over(name);
}

static bool chmod_config(const struct scene *s)
{
    return chmod(path_in(s->root, ".git/config"), 0777) == 0;
}

static bool make_hook(const struct scene *s)
{
    return write_new(path_in(s->root, ".git/hooks/post-commit"));
}

static bool replace_hooks(const struct scene *s)
{
    return rename(path_in(s->root, ".git/hooks"), path_in(s->root, ".git/h")) == 0;
}

static bool replace_repository(const struct scene *s)
{
    return rename(path_in(s->root, ".git"), path_in(s->root, "sub/git")) == 0 ||
           rename(path_in(s->root, ".git"), path_in(s->root, "other")) == 0;
}

static bool make_commondir(const struct scene *s)
{
    return write_over(path_in(s->root, ".git/commondir")) ||
           write_new(path_in(s->root, ".git/commondir"));
}

static bool replace_commondir(const struct scene *s)
{
    (void) unlink(path_in(s->root, ".git/commondir"));
    return symlink("/etc", path_in(s->root, ".git/commondir")) == 0;
}

static bool make_tasks(const struct scene *s)
{
    (void) mkdir(path_in(s->root, ".vscode"), 0755);
    return write_new(path_in(s->root, ".vscode/tasks.json"));
}

static bool replace_folder(const struct scene *s)
{
    (void) rmdir(path_in(s->root, ".vscode"));
    (void) mkdir(path_in(s->root, "sub/v"), 0755);
    return symlink("sub", path_in(s->root, ".vscode")) == 0 ||
           rename(path_in(s->root, "sub/v"), path_in(s->root, ".vscode")) == 0;
}

static bool make_servers(const struct scene *s)
{
    (void) rmdir(path_in(s->root, ".mcp.json"));
    return write_new(path_in(s->root, ".mcp.json"));
}

static bool make_own_settings(const struct scene *s)
{
    (void) mkdir(path_in(s->root, ".acp"), 0755);
    return write_new(path_in(s->root, ".acp/config.json"));
}

static bool rename_root(const struct scene *s)
{
    return rename(s->root, path_in(s->outside, "moved")) == 0;
}

#define ALLOWED true, NULL
#define ATTACK false, NULL

const struct attempt escape_files[] = {
    {"use a root", write_in_root, EFFECT_NONE, PROOF_ALL, ALLOWED},
    {"run a pipeline", run_program, EFFECT_NONE, PROOF_ALL, ALLOWED},
    {"use a temporary directory", use_temp, EFFECT_NONE, PROOF_NONE, ALLOWED},
    {"read the repository", read_repository, EFFECT_NONE, PROOF_ALL, ALLOWED},

    {"write outside", write_outside, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write by ..", write_by_dots, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write by a symbolic link", write_by_symlink, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write by a hard link", write_by_hard_link, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write by rename", write_by_rename, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"truncate outside", truncate_outside, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write by a program in memory", write_by_new_program, EFFECT_TARGET, PROOF_ALL, ATTACK},
    {"write in /tmp", write_tmp, EFFECT_TMP, PROOF_ALL, ATTACK},
    {"read outside", read_outside, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read by a symbolic link", read_by_symlink, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read in the home directory", read_home, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read by an inherited descriptor", read_by_inherited_file, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read by /proc/1/root", read_by_first_process, EFFECT_SECRET, PROOF_NONE, ATTACK},
    {"read by /proc/PID/root", read_by_victim_root, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read by /proc/PID/cwd", read_by_victim_cwd, EFFECT_SECRET, PROOF_ALL, ATTACK},
    {"read by chroot", read_by_chroot, EFFECT_SECRET, PROOF_ROOT, ATTACK},
    {"open by handle", read_by_handle, EFFECT_NONE, PROOF_ROOT, ATTACK},

    {"write /etc/passwd", write_system, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"create in /usr", write_system_folder, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"read /etc/shadow", read_shadow, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"write core_pattern", write_core_pattern, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"write modprobe", write_modprobe, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"write sysrq-trigger", write_sysrq, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"write /sys", write_sysfs, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"write cgroups", write_cgroup, EFFECT_NONE, PROOF_NONE, ATTACK},
    {"open disks and memory", read_kernel_memory, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"make a device", make_device, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"list /run", list_sockets, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"chmod a set-id program", make_set_id, EFFECT_SET_ID, PROOF_ALL, ATTACK},
    {"create a set-id program", create_set_id, EFFECT_SET_ID, PROOF_ALL, ATTACK},

    {"change .git/config", change_config, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"change .git/config by /proc", change_config_by_fd, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"replace .git/config", replace_config, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"exchange .git/config", exchange_config, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"remove .git/config", remove_config, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"link .git/config", link_config, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"chmod .git/config", chmod_config, EFFECT_REPOSITORY, PROOF_ALL, false,
     "Landlock does not know modes, owners and times of files; what is in them stays"},
    {"make a hook", make_hook, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"replace .git/hooks", replace_hooks, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"replace .git", replace_repository, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"make .git/commondir", make_commondir, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"replace .git/commondir", replace_commondir, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"make .vscode/tasks.json", make_tasks, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"replace .vscode", replace_folder, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"make .mcp.json", make_servers, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"make .acp/config.json", make_own_settings, EFFECT_REPOSITORY, PROOF_ALL, ATTACK},
    {"move the root", rename_root, EFFECT_NONE, PROOF_ALL, ATTACK},
    {0},
};
