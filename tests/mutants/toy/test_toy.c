/* Tries some of toy.c; the exit status is the number of mistakes. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/toy.h"

/* In a new program that has no environment. */
static int ask_child(char *path)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {path, "child", NULL};
        char *none[] = {NULL};
        execve(path, argv, none);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return in_a_child(10);
    int wrong = ask_child(argv[0]) != 1;
    wrong += covered(10) != 0;
    wrong += covered(11) != -1;
    wrong += !only_sanitized();
    wrong += never_ends(3) != 10;
    wrong += constants(2) != 2 || constants(5) != 2;
    wrong += equivalent(9) != 10 || equivalent(10) != 10 || equivalent(11) != 11;
    return wrong;
}
