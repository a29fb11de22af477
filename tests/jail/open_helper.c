/*
 * Stands in for acp-sandbox without its walls, so that what is stopped is stopped by bubblewrap
 * alone.  Takes the same options; knows those that have no value.
 */
#define _GNU_SOURCE /* clearenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int i = 1;
    if (clearenv())
        return 126;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--first") == 0)
            return 126; /* it is no wall itself */
        if (strcmp(argv[i], "--network") == 0)
            continue;
        i++;
        if (strcmp(argv[i - 1], "--verify") == 0)
            return puts(argv[i]) < 0;
        if (strcmp(argv[i - 1], "--set") == 0 && putenv(argv[i]))
            return 126;
        if (strcmp(argv[i - 1], "--chdir") == 0 && chdir(argv[i]))
            return 126;
    }
    if (i + 1 >= argc)
        return 126;
    (void) execvp(argv[i + 1], argv + i + 1);
    return 127;
}
