/* foreground.h - lending the terminal that we run at to a child, and taking it back. */
#ifndef LIB_IO_FOREGROUND_H
#define LIB_IO_FOREGROUND_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct acp_foreground {
    int tty; /* our controlling terminal; -1: none, or it is not ours to lend */
    pid_t group;
    bool has_modes;
    struct termios modes; /* that it had before */
};

/* Opens the terminal and keeps its state; without one, or in the background, tty is -1. */
void acp_foreground_init(struct acp_foreground *ret);
/* Our group is in the foreground again and the terminal as it was.  Takes one that has none. */
void acp_foreground_take_back(struct acp_foreground *foreground);

#endif
