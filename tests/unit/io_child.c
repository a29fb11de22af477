/*
 * What the tests of processes, links and terminals run: a program that behaves as it is told.
 *
 *   io_child WHAT [ARGUMENT]
 */
#define _GNU_SOURCE /* setsid, pause and the like, with -std=c17 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(70);
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno != EINTR)
            _exit(71);
        if (put > 0) {
            bytes += put;
            n -= (size_t) put;
        }
    }
}

/* Copies standard input to standard output. */
static int echo(long unused)
{
    (void) unused;
    static char buffer[65536];
    ssize_t n;
    while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
        write_all(STDOUT_FILENO, buffer, (size_t) n);
    return n < 0 ? 72 : 0;
}

/* Reads nothing for that number of ms, then everything, and prints the count. */
static int stall(long ms)
{
    static char buffer[65536];
    sleep_ms(ms);
    unsigned long long total = 0;
    ssize_t n;
    while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
        total += (unsigned long long) n;
    printf("%llu\n", total);
    return 0;
}

/* Writes that number of bytes as lines to a descriptor. */
static int flood(int fd, long bytes)
{
    static char block[65536];
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = i % 64 == 63 ? '\n' : (char) ('a' + i % 26);
    while (bytes > 0) {
        size_t n = bytes < (long) sizeof(block) ? (size_t) bytes : sizeof(block);
        write_all(fd, block, n);
        bytes -= (long) n;
    }
    return 0;
}

static int flood_out(long bytes)
{
    return flood(STDOUT_FILENO, bytes);
}

static int flood_err(long bytes)
{
    return flood(STDERR_FILENO, bytes);
}

/* Neither the end of input nor SIGTERM makes it go. */
static int stubborn(long unused)
{
    (void) unused;
    (void) signal(SIGTERM, SIG_IGN);
    (void) signal(SIGHUP, SIG_IGN);
    say("ready\n");
    for (;;)
        (void) pause();
    return 0;
}

/* Starts one that leaves the session, says its number; then waits (1) or exits (0). */
static int escape(long wait_too)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void) setsid();
        /* A daemon: its parent goes, its streams are its own. */
        if (fork() != 0)
            _exit(0);
        char text[32];
        (void) snprintf(text, sizeof(text), "%d\n", (int) getpid());
        say(text);
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            (void) dup2(null, fd);
        for (;;)
            (void) pause();
    }
    (void) waitpid(pid, NULL, 0);
    sleep_ms(50);
    if (!wait_too)
        return 0;
    for (;;)
        (void) pause();
    return 0;
}

/* The same, without its environment and with its streams: it holds on to our output. */
static int escape_bare(long unused)
{
    (void) unused;
    if (fork() == 0) {
        (void) setsid();
        char name[] = "sleep";
        char seconds[] = "1000";
        char *const argv[] = {name, seconds, NULL};
        char *const none[] = {NULL};
        (void) execve("/bin/sleep", argv, none);
        _exit(73);
    }
    sleep_ms(50);
    return 0;
}

/* What is a terminal, how large, and whether it is the controlling one. */
static int tty(long unused)
{
    (void) unused;
    struct winsize size = {0};
    (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    int own = open("/dev/tty", O_RDWR);
    printf("%d%d%d %dx%d %s %s\n", isatty(0), isatty(1), isatty(2), (int) size.ws_row,
           (int) size.ws_col, own >= 0 ? "controlling" : "none",
           own >= 0 && tcgetpgrp(own) == getpgrp() ? "foreground" : "background");
    return 0;
}

static int crash(long number)
{
    (void) fputs("about to crash\n", stderr);
    (void) signal((int) number, SIG_DFL); /* sanitizers catch some */
    (void) raise((int) number);
    return 0;
}

/* The descriptors that are open, the signals that are ignored or blocked, session and group. */
static int inside(long unused)
{
    (void) unused;
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    sigset_t blocked;
    (void) sigprocmask(SIG_SETMASK, NULL, &blocked);
    int odd = 0;
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        odd += sigismember(&blocked, number) == 1;
        odd += sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    printf("odd %d leader %d\n", odd, getsid(0) == getpid() && getpgrp() == getpid());
    return 0;
}

static int status(long code)
{
    return (int) code;
}

static int wait_for_ever(long unused)
{
    (void) unused;
    say("ready\n");
    for (;;)
        (void) pause();
    return 0;
}

static const struct {
    const char *name;
    int (*run)(long argument);
} modes[] = {
    {"echo", echo},        {"stall", stall},   {"flood", flood_out},
    {"errors", flood_err}, {"status", status}, {"stubborn", stubborn},
    {"escape", escape},    {"tty", tty},       {"escape-bare", escape_bare},
    {"crash", crash},      {"inside", inside}, {"wait", wait_for_ever},
};

int main(int argc, char **argv)
{
    long argument = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            int ret = modes[i].run(argument);
            (void) fflush(stdout);
            return ret;
        }
    return 64;
}
