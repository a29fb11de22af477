#define _GNU_SOURCE
#include "scene.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    (void) printf("Bail out! %s\n", what);
    exit(EXIT_FAILURE);
}

__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
    char line[2000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    must(system(line) == 0, line);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

/* ---- Services that must not be reached ------------------------------------------------------ */

static int listen_at(const void *address, socklen_t size, int family, int type)
{
    int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, address, size) || (type == SOCK_STREAM && listen(fd, 8))) {
        if (fd >= 0)
            (void) close(fd);
        return -1;
    }
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof(own);
    must(getsockname(fd, (struct sockaddr *) &own, &size) == 0, "getsockname");
    return ntohs(own.sin_port);
}

static void open_sockets(struct place *p)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    p->tcp[0] = listen_at(&four, sizeof(four), AF_INET, SOCK_STREAM);
    p->udp = listen_at(&four, sizeof(four), AF_INET, SOCK_DGRAM);
    must(p->tcp[0] >= 0 && p->udp >= 0, "sockets");
    p->scene.tcp = port_of(p->tcp[0]);
    p->scene.udp = port_of(p->udp);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t) p->scene.tcp),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    p->tcp[1] = listen_at(&six, sizeof(six), AF_INET6, SOCK_STREAM); /* not everywhere */
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    (void) snprintf(path.sun_path, sizeof(path.sun_path), "%s/socket", p->outside);
    p->sockets[0] = listen_at(&path, sizeof(path), AF_UNIX, SOCK_STREAM);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path + 1, p->name, strlen(p->name));
    p->sockets[1] =
        listen_at(&name, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(p->name)),
                  AF_UNIX, SOCK_STREAM);
    must(p->sockets[0] >= 0 && p->sockets[1] >= 0, "Unix sockets");
}

static void open_shared(struct place *p)
{
    char queue_name[80];
    p->scene.shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    char *memory = p->scene.shm >= 0 ? shmat(p->scene.shm, NULL, 0) : (void *) -1;
    must(memory != (void *) -1, "shared memory");
    memcpy(memory, SECRET, sizeof(SECRET));
    (void) shmdt(memory);
    (void) snprintf(queue_name, sizeof(queue_name), "/dev/shm/%s", p->name);
    write_file(queue_name, SECRET);
    (void) snprintf(queue_name, sizeof(queue_name), "/%s", p->name);
    mqd_t queue = mq_open(queue_name, O_CREAT | O_WRONLY, 0600, NULL);
    must(queue != (mqd_t) -1 && mq_send(queue, SECRET, sizeof(SECRET), 0) == 0, "message queue");
    (void) mq_close(queue);
}

static void close_all(struct place *p)
{
    const int all[] = {p->tcp[0],     p->tcp[1],    p->udp,      p->sockets[0],
                       p->sockets[1], p->folder_fd, p->victim_fd};
    char name[80];
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] >= 0)
            (void) close(all[i]);
    (void) shmctl(p->scene.shm, IPC_RMID, NULL);
    (void) snprintf(name, sizeof(name), "/dev/shm/%s", p->name);
    (void) unlink(name);
    (void) snprintf(name, sizeof(name), "/%s", p->name);
    (void) mq_unlink(name);
}

/* It answers before it is killed, or not at all: no time is waited for. */
static bool is_victim_alive(const struct place *p)
{
    char byte = 0;
    return send(p->victim_fd, &byte, 1, MSG_NOSIGNAL) == 1 && recv(p->victim_fd, &byte, 1, 0) == 1;
}

static void start_victim(struct place *p)
{
    int pair[2];
    char byte = 0;
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
    p->scene.victim = fork();
    if (p->scene.victim == 0) {
        const char *argv[] = {"victim", "--victim", NULL};
        const char *env[] = {"ACP_TEST_KEY=" SECRET, NULL};
        (void) dup2(pair[1], STDIN_FILENO);
        if (chdir(p->outside) == 0)
            (void) execve("/proc/self/exe", (char **) (uintptr_t) argv, (char **) (uintptr_t) env);
        _exit(1);
    }
    (void) close(pair[1]);
    p->victim_fd = pair[0];
    must(recv(p->victim_fd, &byte, 1, 0) == 1, "victim");
}

/* ---- Before and after an attempt ------------------------------------------------------------ */

void scene_make(struct place *p, const char *escape, const char *helper, const char *open_helper)
{
    *p = (struct place){.folder = "/tmp/acp-escape-XXXXXX"};
    must(mkdtemp(p->folder), p->folder);
    must(chmod(p->folder, 0755) == 0, p->folder);
    (void) snprintf(p->outside, sizeof(p->outside), "%s/outside", p->folder);
    (void) snprintf(p->root, sizeof(p->root), "%s/root", p->folder);
    (void) snprintf(p->programs, sizeof(p->programs), "%s/programs", p->folder);
    (void) snprintf(p->escape, sizeof(p->escape), "%s/escape", p->programs);
    (void) snprintf(p->helper, sizeof(p->helper), "%s/acp-sandbox", p->programs);
    (void) snprintf(p->open_helper, sizeof(p->open_helper), "%s/open-helper", p->programs);
    (void) snprintf(p->name, sizeof(p->name), "acp-escape-%d", (int) getpid());
    shell("mkdir %s && cp %s %s && cp %s %s && cp %s %s && chmod 755 %s/*", p->programs, escape,
          p->escape, helper, p->helper, open_helper, p->open_helper, p->programs);
    shell("cd %s && mkdir -p model/root/sub model/outside/home/.ssh && cd model/outside && "
          "echo original > target && printf %s > secret && printf %s > home/.ssh/id",
          p->folder, SECRET, SECRET);
    shell("cd %s/model/root && export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 && "
          "git init -q --template= . && git config user.name t && git config user.email t@t && "
          "touch sub/file && git add . && git commit -q -m first && mkdir .git/hooks",
          p->folder);
    must(setenv("HOME", p->outside, 1) == 0 && setenv("ACP_TEST_KEY", SECRET, 1) == 0, "setenv");
    p->scene.tester = getpid();
}

void scene_remove(struct place *p)
{
    shell("rm -rf %s", p->folder);
}

void scene_reset(struct place *p)
{
    shell("cd %s && rm -rf root outside && cp -a model/root model/outside .", p->folder);
    p->scene.outside = p->outside;
    p->scene.root = p->root;
    p->scene.abstract = p->name;
    open_sockets(p);
    open_shared(p);
    p->folder_fd = open(p->outside, O_RDONLY | O_DIRECTORY); /* without O_CLOEXEC */
    start_victim(p);
}

void scene_clear(struct place *p)
{
    char path[80];
    (void) kill(p->scene.victim, SIGKILL);
    (void) waitpid(p->scene.victim, NULL, 0);
    close_all(p);
    (void) snprintf(path, sizeof(path), "/tmp/acp-escape-%d", (int) p->scene.tester);
    (void) unlink(path);
}

void scene_argv(struct place *p, const char *name, char **ret)
{
    const int numbers[] = {(int) p->scene.victim, (int) p->scene.tester, p->scene.tcp, p->scene.udp,
                           p->scene.shm};
    ret[0] = p->escape;
    ret[1] = (char *) (uintptr_t) name;
    ret[2] = p->outside;
    ret[3] = p->root;
    for (size_t i = 0; i < 5; i++) {
        (void) snprintf(p->numbers[i], sizeof(p->numbers[i]), "%d", numbers[i]);
        ret[4 + i] = p->numbers[i];
    }
    ret[9] = p->name;
    ret[10] = NULL;
}

int scene_make_private(void)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWUTS))
        return -1;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* ---- What has happened ---------------------------------------------------------------------- */

static bool differs(const struct place *p, const char *name)
{
    char line[600];
    (void) snprintf(line, sizeof(line), "diff -rq %s/model/%s %s/%s >/dev/null 2>&1", p->folder,
                    name, p->folder, name);
    return system(line) != 0;
}

static bool is_repository_changed(const struct place *p)
{
    static const char *const made[] = {".vscode", ".mcp.json", ".acp", ".git/commondir",
                                       ".git/hooks/post-commit"};
    struct stat one;
    struct stat other;
    char path[200];
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        (void) snprintf(path, sizeof(path), "%s/%s", p->root, made[i]);
        if (lstat(path, &one) == 0)
            return true;
    }
    (void) snprintf(path, sizeof(path), "%s/.git/config", p->root);
    bool there = lstat(path, &one) == 0;
    (void) snprintf(path, sizeof(path), "%s/model/root/.git/config", p->folder);
    return !there || lstat(path, &other) || one.st_mode != other.st_mode ||
           differs(p, "root/.git/config") || differs(p, "root/.git/hooks");
}

static bool is_set_id(const struct place *p)
{
    struct stat st;
    char path[200];
    (void) snprintf(path, sizeof(path), "%s/sub/setid", p->root);
    return lstat(path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID));
}

static bool is_accepted(int fd)
{
    int made = fd >= 0 ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (made >= 0)
        (void) close(made);
    return made >= 0;
}

bool scene_has_effect(struct place *p, enum effect effect)
{
    char byte = 0;
    char path[80];
    switch (effect) {
    case EFFECT_NONE:
    case EFFECT_SECRET:
        return false;
    case EFFECT_TARGET:
        return differs(p, "outside/target");
    case EFFECT_KILLED:
        return !is_victim_alive(p);
    case EFFECT_REPOSITORY:
        return is_repository_changed(p);
    case EFFECT_TMP:
        (void) snprintf(path, sizeof(path), "/tmp/acp-escape-%d", (int) p->scene.tester);
        return access(path, F_OK) == 0;
    case EFFECT_RENICED:
        /* It began with ours. */
        return getpriority(PRIO_PROCESS, (id_t) p->scene.victim) != getpriority(PRIO_PROCESS, 0);
    case EFFECT_SET_ID:
        return is_set_id(p);
    case EFFECT_TCP:
        return is_accepted(p->tcp[0]) || is_accepted(p->tcp[1]);
    case EFFECT_UDP:
        return recv(p->udp, &byte, 1, MSG_DONTWAIT) == 1;
    case EFFECT_UNIX:
        return is_accepted(p->sockets[0]) || is_accepted(p->sockets[1]);
    }
    return false;
}

const char *scene_litter(const struct place *p)
{
    static char name[256];
    const char *found = NULL;
    DIR *dir = opendir(p->root);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && !found; entry = readdir(dir)) {
        (void) snprintf(name, sizeof(name), "%s", entry->d_name);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, ".git") != 0 &&
            strcmp(name, "sub") != 0)
            found = name;
    }
    if (dir)
        (void) closedir(dir);
    return found;
}
