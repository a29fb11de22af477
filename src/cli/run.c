/* run.c - parses the command line and runs the command. */
#include <string.h>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "cli/output.h"

static void put_command(struct output *out, const struct invocation *invocation)
{
    if (invocation->parent)
        output_printf(out, " %s", invocation->parent->name);
    if (invocation->command)
        output_printf(out, " %s", invocation->command->name);
}

static int report(const struct invocation *invocation, int err, const struct usage_error *error)
{
    const char *name = invocation->program->name;
    output_text(output_messages(), acp_str_from(name));
    put_command(output_messages(), invocation);
    if (err != ACP_ERR_ARGUMENT) {
        err_printf(": %s\n", acp_err_text(err));
        return EXIT_FAILED;
    }
    err_printf(": %s\nTry '%s help", error->message, name);
    put_command(output_messages(), invocation);
    err_text(acp_str_from("'.\n"));
    return EXIT_USAGE;
}

static int run(const struct invocation *invocation)
{
    if (invocation->help) {
        help_print(output_results(), invocation->program, invocation->parent, invocation->command);
        return EXIT_OK;
    }
    if (invocation->version) {
        out_printf("%s %s\n", invocation->program->name, invocation->program->version);
        return EXIT_OK;
    }
    return invocation->command->run(invocation);
}

/* Flushing may fail, for example when the disk is full. */
static int flush_output(const struct program *program, int status)
{
    int err = out_flush();
    int reason = output_results()->reason;
    if (!err)
        return status;
    err_printf("%s: cannot write the output: %s\n", program->name,
               reason ? strerror(reason) : acp_err_text(err));
    return status == EXIT_OK ? EXIT_FAILED : status;
}

int program_run(const struct program *program, int argc, char **argv)
{
    struct invocation invocation;
    struct usage_error error;
    int status;
    if (argc < 2) {
        help_print_first_steps(output_messages(), program);
        (void) output_flush(output_messages());
        return EXIT_USAGE;
    }
    int err = invocation_parse(&invocation, program, (const char *const *) argv + 1,
                               (size_t) argc - 1, &error);
    status = err ? report(&invocation, err, &error) : run(&invocation);
    invocation_finish(&invocation);
    return flush_output(program, status);
}
