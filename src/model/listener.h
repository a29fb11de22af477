/*
 * listener.h - who listens on a port of this machine.
 *
 * Any user can listen on a port above 1023, also on the one that a model server usually has.  What
 * is sent to it are the prompts, and what comes back is what the agent does.
 */
#ifndef SRC_MODEL_LISTENER_H
#define SRC_MODEL_LISTENER_H

#include <sys/types.h>

#include "acp/base.h"

enum listener {
    LISTENER_NONE = 0, /* nobody, as far as can be seen */
    LISTENER_OWN,      /* this user, or root */
    LISTENER_FOREIGN,  /* another user */
};

/* Who would answer at 127.0.0.1:port.  ret_uid is set for LISTENER_FOREIGN alone. */
enum listener listener_at(unsigned port, uid_t *ret_uid);

/*
 * The same from the text of /proc/net/tcp or, with six, /proc/net/tcp6: `own` is this user.  When
 * several listen there, one who is foreign counts.
 */
enum listener listener_in(struct acp_str table, bool six, unsigned port, uid_t own, uid_t *ret_uid);

#endif
