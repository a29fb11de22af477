/* ledger.h - the inside of a ledger, between ledger*.c. */
#ifndef LIB_WORKSPACE_LEDGER_H
#define LIB_WORKSPACE_LEDGER_H

#include "acp/policy.h"

struct acp_ledger_entry {
    struct acp_grant grant;
    char *texts; /* owned; the grant's texts, each with a NUL */
    bool saved;  /* the file has it, or had it when we last looked */
};

/* Which file was read, as far as stat() tells files apart; all zero: none. */
struct acp_ledger_file {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t seconds;
    int64_t nanoseconds;
};

struct acp_ledger {
    struct acp_ledger_entry *entries; /* owned, like the others */
    size_t count;
    size_t cap;
    uint64_t next; /* the number for the next grant */
    /* Numbers that the file still has; there is room for all, so that revoking cannot fail. */
    uint64_t *revoked;
    size_t revoked_count;
    size_t revoked_cap;
    struct acp_ledger_file file; /* the one that this content is from */
    struct acp_buf aside;        /* lines that could not be read, as they were */
};

/* Numbers stay exact in every JSON reader. */
#define ACP_LEDGER_MAX_NUMBER ((uint64_t) 1 << 53)

/* Adds a grant that has its number. */
int acp_ledger_insert(struct acp_ledger *ledger, const struct acp_grant *grant, bool saved,
                      struct acp_failure *failure);
/* Takes out the entry at index and remembers that, if others might still have it. */
void acp_ledger_take_out(struct acp_ledger *ledger, size_t index);
/* About the same thing, whatever the answer was. */
bool acp_grant_same_matter(const struct acp_grant *a, const struct acp_grant *b);
/* Fills the failure, which may be NULL, and returns err. */
int acp_ledger_fail(struct acp_failure *failure, int err, const char *path, const char *message);

#endif
