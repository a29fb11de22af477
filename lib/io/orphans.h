/*
 * orphans.h - what a process has started and left behind: found by session, by group, or by the
 * mark that it carries in its environment, and ended.
 */
#ifndef LIB_IO_ORPHANS_H
#define LIB_IO_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Long enough for a mark of our own and those of everyone above us. */
enum { ACP_MARK_MAX = 512 };

/* Makes a mark that no other process has: "pid.time". */
void acp_mark_make(char *ret, size_t size);

/* A process of ours, as long as it or something of it is alive. */
struct acp_family {
    pid_t leader; /* of its session and group */
    const char *mark;
    unsigned long long since; /* when the leader was started, in the system's ticks; 0: unknown */
};

/* When a process was started, in the system's ticks; 0 where it does not tell. */
unsigned long long acp_family_since(pid_t leader);

/*
 * Sends a signal (0: none) to everything that belongs to the family, but not to the leader or its
 * zombie, and returns how many are alive; -1 where the system does not tell.
 */
int acp_family_signal(const struct acp_family *family, int signal_number);

/* With a reaper: reaps the orphans that are dead.  Otherwise nothing. */
void acp_orphans_reap(void);
/* With a reaper, and when no child of ours is left: kills every orphan. */
void acp_orphans_kill_rest(void);

#endif
