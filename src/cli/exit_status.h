/* exit_status.h - the exit statuses that all commands share. */
#ifndef SRC_CLI_EXIT_STATUS_H
#define SRC_CLI_EXIT_STATUS_H

/*
 * The same for all commands, and stable: scripts depend on them.  They are those of acpx.  A
 * command that gives one of them in a sense of its own says so in its table.
 */
#define EXIT_STATUS_MAP(X)                                                                         \
    X(OK, 0, "The job was done.")                                                                  \
    X(FAILED, 1, "The job could not be done: the agent, the protocol or the system failed.")       \
    X(USAGE, 2, "The command line or the configuration makes no sense.")                           \
    X(TIMEOUT, 3, "The time that *--timeout* allows was over.")                                    \
    X(NO_SESSION, 4, "There is no such session.")                                                  \
    X(DENIED, 5, "A permission was denied, or nobody could be asked for it.")                      \
    X(INTERRUPTED, 130, "A signal ended it, such as the one of Ctrl-C.")

enum {
#define EXIT_STATUS_ENUM(name, number, meaning) EXIT_##name = (number),
    EXIT_STATUS_MAP(EXIT_STATUS_ENUM)
#undef EXIT_STATUS_ENUM
};

#endif
