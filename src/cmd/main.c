/* acp - the command.  Finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

static const struct command commands[] = {
    {"trace", "[FILE]", "print a recorded conversation for people", cmd_trace},
    {"version", "", "print the version", cmd_version},
    {"help", "", "print this", cmd_help},
};

static void print_usage(FILE *out)
{
    (void) fputs("usage: acp COMMAND [ARGUMENT...]\n\n", out);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        (void) fprintf(out, "  acp %-8s %-10s %s\n", commands[i].name, commands[i].arguments,
                       commands[i].summary);
}

static int cmd_help(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    print_usage(stdout);
    return EXIT_OK;
}

static int cmd_version(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    (void) puts("acp " ACP_VERSION ", protocol versions 1 and 2");
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0)
        name = "version";
    else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (*name)
        (void) fprintf(stderr, "acp: there is no command '%s'\n\n", name);
    print_usage(stderr);
    return EXIT_USAGE;
}
