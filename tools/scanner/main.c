/*
 * acp-scanner - turns the description of the protocol into C.
 *
 *     acp-scanner header|tables OUTPUT FILE...      C header, C tables
 *     acp-scanner facts PROFILE FILE...             flat facts of v1, v1u, v2 or v2u
 *     acp-scanner numbers FILE...                   the numbers that are missing, to be added
 */
#include <stdlib.h>

#include "description.h"

static int usage(void)
{
    (void) fputs("usage: acp-scanner header OUTPUT FILE...\n"
                 "       acp-scanner tables OUTPUT FILE...\n"
                 "       acp-scanner facts v1|v1u|v2|v2u FILE...\n"
                 "       acp-scanner numbers FILE...\n",
                 stderr);
    return 2;
}

static int print_facts(const struct model *model, const char *name)
{
    static const char *const names[] = {"v1", "v1u", "v2", "v2u"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0) {
            emit_facts(model, (uint8_t) (1 << i), stdout);
            return 0;
        }
    }
    return usage();
}

int main(int argc, char **argv)
{
    bool numbers = argc > 2 && strcmp(argv[1], "numbers") == 0;
    if (argc < 4 && !numbers)
        return usage();
    struct model model = {.print_missing = numbers};
    for (int i = numbers ? 2 : 3; i < argc; i++)
        parse_file(&model, argv[i]);
    resolve(&model);
    if (numbers)
        return 0;
    if (strcmp(argv[1], "facts") == 0)
        return print_facts(&model, argv[2]);
    bool header = strcmp(argv[1], "header") == 0;
    if (!header && strcmp(argv[1], "tables") != 0)
        return usage();
    FILE *out = fopen(argv[2], "w");
    if (!out) {
        perror(argv[2]);
        return 1;
    }
    if (header)
        emit_header(&model, out);
    else
        emit_tables(&model, out);
    if (fclose(out) != 0) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}
