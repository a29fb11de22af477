/* cmd.h - what a subcommand is.  One file for each; main.c has the table. */
#ifndef SRC_CMD_CMD_H
#define SRC_CMD_CMD_H

/* Exit statuses, the same for all subcommands. */
enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* the job could not be done */
    EXIT_USAGE = 2,  /* the command line makes no sense */
};

/* argv[0] is the subcommand's name. */
int cmd_trace(int argc, char **argv);

#endif
