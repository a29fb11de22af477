/* relay.c - see relay.h. */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

/*
 * A loop on poll(2) over both directions, with descriptors that do not block, reads of 64 KiB, and
 * writes in the round of the read.  It passes on whole lines: what follows the last line end waits
 * for its rest.
 */
struct direction {
    int in; /* -1: closed */
    int out;
    char *bytes;
    size_t held;  /* bytes that were read and not yet written */
    size_t whole; /* those of them that are whole lines */
    size_t size;
};

static void relay_read(struct direction *d)
{
    if (d->size - d->held < CHUNK) {
        d->size += CHUNK;
        d->bytes = realloc(d->bytes, d->size);
        if (!d->bytes)
            abort();
    }
    ssize_t n = read(d->in, d->bytes + d->held, CHUNK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        (void) close(d->in);
        d->in = -1;
        return;
    }
    char *end = memrchr(d->bytes + d->held, '\n', (size_t) n);
    d->held += (size_t) n;
    if (end)
        d->whole = (size_t) (end - d->bytes) + 1;
}

static void relay_write(struct direction *d)
{
    ssize_t n = write(d->out, d->bytes, d->whole);
    if (n <= 0)
        return;
    d->whole -= (size_t) n;
    d->held -= (size_t) n;
    memmove(d->bytes, d->bytes + n, d->held);
}

static void relay(struct direction *to_agent, struct direction *to_client)
{
    struct direction *directions[] = {to_agent, to_client};
    while (to_agent->in >= 0 || to_client->whole) {
        struct pollfd polls[4];
        for (int i = 0; i < 2; i++) {
            struct direction *d = directions[i];
            bool slow = d->held > 4 * CHUNK;
            polls[2 * i] = (struct pollfd){.fd = slow ? -1 : d->in, .events = POLLIN};
            polls[2 * i + 1] = (struct pollfd){.fd = d->whole ? d->out : -1, .events = POLLOUT};
        }
        if (poll(polls, 4, -1) < 0)
            abort();
        for (int i = 0; i < 2; i++) {
            if (polls[2 * i].fd >= 0 && polls[2 * i].revents)
                relay_read(directions[i]);
            bool full = polls[2 * i + 1].fd >= 0 && !polls[2 * i + 1].revents;
            if (directions[i]->whole && !full)
                relay_write(directions[i]);
        }
    }
}

int relay_run(char **agent)
{
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        (void) execv(agent[0], agent);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    struct direction to_agent = {.in = STDIN_FILENO, .out = to[1]};
    struct direction to_client = {.in = from[0], .out = STDOUT_FILENO};
    for (int i = 0; i < 4; i++) {
        int fd = (int[]){STDIN_FILENO, STDOUT_FILENO, to[1], from[0]}[i];
        (void) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    (void) signal(SIGPIPE, SIG_IGN);
    relay(&to_agent, &to_client);
    (void) close(to[1]);
    (void) close(from[0]);
    (void) waitpid(pid, NULL, 0);
    free(to_agent.bytes);
    free(to_client.bytes);
    return 0;
}
