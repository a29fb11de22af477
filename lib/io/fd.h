/*
 * fd.h - descriptors: made to be closed on exec, read and written without waiting, and never
 * changed behind the back of others who share them.
 */
#ifndef LIB_IO_FD_H
#define LIB_IO_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Closes and forgets; takes a pointer to -1. */
void acp_fd_close(int *fd);
/* A pipe whose ends are closed on exec.  0 or an error of the system. */
int acp_fd_pipe(int *ret_read, int *ret_write);
/* Another descriptor for the same, 3 or higher, closed on exec; or an error of the system. */
int acp_fd_dup(int fd);
int acp_fd_nonblock(int fd, bool on);

/*
 * A descriptor that is read or written by us, and whether its flags must be put back because the
 * description behind it may be shared with other processes (a shell and its terminal).
 */
struct acp_fd {
    int fd;
    bool restore;
};

/*
 * Makes it non-blocking.  Where the system can, it is opened anew for that, so that those who share
 * the old description keep theirs as it was.  Regular files stay as they are: they never wait.
 */
void acp_fd_take(struct acp_fd *ret, int fd);
void acp_fd_release(struct acp_fd *fd);

/* Like read and write, but repeated when a signal came, and with the error as -errno. */
ssize_t acp_fd_read(int fd, void *bytes, size_t n);
ssize_t acp_fd_write(int fd, const void *bytes, size_t n);

/* Whether there are bytes to be read, now; not at the end, and not for -1. */
bool acp_fd_has_bytes(int fd);

/* That nobody reads what we write shall be an error, not our death. */
void acp_fd_ignore_sigpipe(void);

#endif
