/* command_run.c - one run of the program: its command line, then the command, help or a refusal. */
#include <errno.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/help.h"

static void put_command(FILE *out, const struct invocation *invocation)
{
    if (invocation->parent)
        (void) fprintf(out, " %s", invocation->parent->name);
    if (invocation->command)
        (void) fprintf(out, " %s", invocation->command->name);
}

static int report(const struct invocation *invocation, int err, const struct usage_error *error)
{
    const char *name = invocation->program->name;
    (void) fputs(name, stderr);
    put_command(stderr, invocation);
    if (err != ACP_ERR_ARGUMENT) {
        (void) fprintf(stderr, ": %s\n", acp_err_text(err));
        return EXIT_FAILED;
    }
    (void) fprintf(stderr, ": %s\nTry '%s help", error->message, name);
    put_command(stderr, invocation);
    (void) fputs("'.\n", stderr);
    return EXIT_USAGE;
}

static int run(const struct invocation *invocation)
{
    if (invocation->help) {
        help_print(stdout, invocation->program, invocation->parent, invocation->command);
        return EXIT_OK;
    }
    if (invocation->version) {
        (void) printf("%s %s\n", invocation->program->name, invocation->program->version);
        return EXIT_OK;
    }
    return invocation->command->run(invocation);
}

/* What was printed may still be on its way, and the disk full. */
static int flush_output(const struct program *program, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    (void) fprintf(stderr, "%s: cannot write the output: %s\n", program->name, strerror(errno));
    return status == EXIT_OK ? EXIT_FAILED : status;
}

int program_run(const struct program *program, int argc, char **argv)
{
    struct invocation invocation;
    struct usage_error error;
    int status;
    if (argc < 2) {
        help_print(stderr, program, NULL, NULL);
        return EXIT_USAGE;
    }
    int err = invocation_parse(&invocation, program, (const char *const *) argv + 1,
                               (size_t) argc - 1, &error);
    status = err ? report(&invocation, err, &error) : run(&invocation);
    invocation_finish(&invocation);
    return flush_output(program, status);
}
