/* exit_status.h - the exit statuses that all commands share. */
#ifndef SRC_CLI_EXIT_STATUS_H
#define SRC_CLI_EXIT_STATUS_H

/*
 * The same for all commands, and stable: scripts depend on them.  The numbers are those of acpx.  A
 * command that uses one with a specific meaning documents it in its table.
 */
#define EXIT_STATUS_MAP(X)                                                                         \
    X(OK, 0, "Success.")                                                                           \
    X(FAILED, 1, "Failure of the agent, the protocol or the system.")                              \
    X(USAGE, 2, "Invalid command line or configuration.")                                          \
    X(TIMEOUT, 3, "*--timeout* expired.")                                                          \
    X(NO_SESSION, 4, "No such session.")                                                           \
    X(DENIED, 5, "Permission was denied, or nobody could be asked.")                               \
    X(BUDGET, 6, "A budget such as *--max-cost* was used up.")                                     \
    X(INTERRUPTED, 130, "Interrupted by a signal, such as Ctrl-C.")

enum {
#define EXIT_STATUS_ENUM(name, number, meaning) EXIT_##name = (number),
    EXIT_STATUS_MAP(EXIT_STATUS_ENUM)
#undef EXIT_STATUS_ENUM
};

#endif
