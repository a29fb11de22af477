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

enum { STORE_CLAIM_ID_MAX = 64 };

struct store_claim {
    int fd; /* -1: nothing is held */
    const char *database;
    char id[STORE_CLAIM_ID_MAX + 1];
};

#define STORE_NO_CLAIM                                                                             \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Letters, digits, - and _, not too many: good as the name of a file. */
bool store_is_id(struct acp_str id);

/*
 * ACP_ERR_STATE: another has it, and the failure names the pid; ACP_ERR_ARGUMENT: no id that we
 * would have given; errors of the system as in acp/io.h.  The name of the database is borrowed
 * until the claim is released.
 */
int store_claim_take(struct store_claim *claim, const char *database, struct acp_str id,
                     struct acp_failure *failure);
/* Takes one that holds nothing, too. */
void store_claim_release(struct store_claim *claim);

/* Makes a folder and those above it, mode 0700; an error of the system. */
int store_make_folders(const char *folder);

#endif
