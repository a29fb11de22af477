/*
 * schema.h - JSON Schema: checks whether a value matches a schema, and reports how it does not.
 *
 * The dialect is draft 2020-12, with the spellings of draft-07 where they differ: `definitions`,
 * `items` as a list with `additionalItems`, `dependencies`.  What is not left to chance:
 *   - `format` and the `content...` keywords are annotations and check nothing, and so are keywords
 *     that no draft knows; $dynamicRef and $recursiveRef are refused, not passed over
 *   - $ref reaches what is in the schema itself, by pointer, $anchor or $id; nothing is fetched, so
 *     any other reference is a mistake; what stands beside a $ref counts as well
 *   - patterns are those of regex.h
 *   - numbers are compared as decimals, exactly: 1 is 1.0, and 0.3 a multiple of 0.1
 *   - lengths count code points; of properties with the same name the last one counts
 */
#ifndef SRC_SCHEMA_SCHEMA_H
#define SRC_SCHEMA_SCHEMA_H

#include "acp/json.h"

enum {
    SCHEMA_MAX_REPORTS = 20,
    SCHEMA_MAX_DEPTH = 1000,      /* schemas applied within each other, to one value or its parts */
    SCHEMA_MAX_MEMORY = 64 << 20, /* of one compiled schema */
    SCHEMA_MAX_WORK = 200 * 1000000 /* steps of one check; about a second */
};

struct schema;

/*
 * Checks the schema itself and prepares it; the text is copied.  *ret is the caller's, to be given
 * to schema_free().  ACP_ERR_SYNTAX and its kin when it is not JSON (the offset tells where),
 * ACP_ERR_ARGUMENT when it is no schema, or more than we take: the path is a JSON pointer into the
 * schema, the message tells what is wrong.  ACP_ERR_NOMEM, ACP_ERR_DEPTH.
 */
int schema_compile(struct acp_raw json, struct schema **ret, struct acp_failure *failure);
void schema_free(struct schema *schema);

/*
 * One violation: where, as a JSON pointer ("" is the whole value), and a sentence without final
 * stop, for people and for a language model that has to correct it.  Both are gone after the call.
 */
typedef void schema_report(struct acp_str path, struct acp_str message, void *user);

/*
 * 0 when the value is valid.  Otherwise the number of violations, each of which was reported, but
 * no more than SCHEMA_MAX_REPORTS; without a report it is 1.  Negative when there is no verdict:
 * the value is not JSON, or takes more work, depth or memory than is allowed.  The schema is not
 * changed, so that several threads may use it.
 */
int schema_check(const struct schema *schema, struct acp_raw value, schema_report *report,
                 void *user);

/*
 * Finds the JSON in what an agent answered, in this order:
 *   1. the whole text, when it is one JSON value of any kind
 *   2. the fenced block (```) that is marked `json` or `JSON` and holds a JSON value; when none
 *      does, the one without mark that does
 *   3. the object or array in the text that is not within another one
 * More than one in 2. or 3. is a failure (ACP_ERR_VARIANT), since nobody can tell which was meant;
 * none at all is ACP_ERR_MISSING.  The message says so to the agent.  *ret points into the text.
 */
int schema_answer(struct acp_str text, struct acp_raw *ret, struct acp_failure *failure);

#endif
