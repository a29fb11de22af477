/* A kernel without pidfds, for tests that are linked with -Wl,--wrap=acp_pidfd_open. */
#include <sys/types.h>

int __wrap_acp_pidfd_open(pid_t pid);
int __wrap_acp_pidfd_open(pid_t pid)
{
    (void) pid;
    return -1;
}
