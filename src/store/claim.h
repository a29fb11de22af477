/*
 * claim.h - one writer for a session: a lock that ends with the process that holds it.
 *
 * The lock is on a file of the session's name in DATABASE-claims/, which holds the owner's pid for
 * others to read.  A file that nobody has locked means nothing: its owner died.
 */
#ifndef SRC_STORE_CLAIM_H
#define SRC_STORE_CLAIM_H

#include <stdint.h>

#include "acp/base.h"

struct store_claim {
    int fd; /* -1: nothing is held */
    char *path;
};

#define STORE_NO_CLAIM                                                                             \
    {                                                                                              \
        -1, NULL                                                                                   \
    }

/* Letters, digits, - and _, not too many: good as the name of a file. */
bool store_is_id(struct acp_str id);

/*
 * ACP_ERR_STATE: another has it, and the failure names the pid; ACP_ERR_ARGUMENT: no id that we
 * would have given; errors of the system as in acp/io.h.
 */
int store_claim_take(struct store_claim *claim, const char *database, struct acp_str id,
                     struct acp_failure *failure);
/* Takes one that holds nothing, too. */
void store_claim_release(struct store_claim *claim);

/* Makes a folder and those above it, mode 0700; an error of the system. */
int store_make_folders(const char *folder);

#endif
