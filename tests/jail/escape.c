/* Runs one attempt: escape NAME OUTSIDE ROOT VICTIM TESTER TCP UDP SHM ABSTRACT. */
#include "escape.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const struct attempt *const tables[] = {escape_files, escape_processes, escape_kernel,
                                            escape_network};
    if (argc != 10)
        return 99;
    struct scene scene = {argv[2],       argv[3],       atoi(argv[4]), atoi(argv[5]),
                          atoi(argv[6]), atoi(argv[7]), atoi(argv[8]), argv[9]};
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const struct attempt *row = tables[t]; row->name; row++)
            if (strcmp(row->name, argv[1]) == 0)
                return row->run(&scene) ? 0 : 1;
    return 99;
}
