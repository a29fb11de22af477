/*
 * children.h - the process-wide list of children that are alive: the one thing in this library that
 * is global, because a signal handler must find it.
 */
#ifndef LIB_IO_CHILDREN_H
#define LIB_IO_CHILDREN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where a child stands in the list; NULL is nowhere. */
typedef atomic_int acp_child_slot;

/*
 * A child must not be forked and entered while somebody looks for children that nobody has entered;
 * both hold this lock.
 */
void acp_children_lock(void);
void acp_children_unlock(void);

/* Room for one more, which acp_children_enter() then takes.  NULL if out of memory. */
acp_child_slot *acp_children_reserve(void);
void acp_children_enter(acp_child_slot *slot, pid_t pid);
/* Before the child is reaped, so that its number is never signalled once it is somebody else's. */
void acp_children_leave(acp_child_slot *slot);
bool acp_children_has(pid_t pid);

#endif
