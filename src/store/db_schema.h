/*
 * db_schema.h - the versions of the database.
 *
 * PRAGMA application_id says that a database is ours, PRAGMA user_version which version it has.  A
 * step makes version n + 1 out of version n; step 0 makes the first one out of nothing.
 */
#ifndef SRC_STORE_DB_SCHEMA_H
#define SRC_STORE_DB_SCHEMA_H

#include <stddef.h>

#include "acp/base.h"

struct store;

struct store_schema {
    const char *const *steps; /* SQL */
    int version;              /* how many steps there are */
};

extern const struct store_schema store_schema;

/*
 * Looks at what was opened, refuses it or brings it to the schema's version, in one transaction and
 * after a copy named FILE.vN.backup where there was an older version.
 */
int store_schema_apply(struct store *store, const struct store_schema *schema,
                       struct acp_failure *failure);

#endif
