/*
 * duration.h - reads durations as people write them: "90", "1.5", ".5", "250ms", "90s", "5m", "2h",
 * "1d", "2w".
 */
#ifndef SRC_TEXT_DURATION_H
#define SRC_TEXT_DURATION_H

#include <stdbool.h>

#include "acp/base.h"

/* Ten years: more than anyone needs, and sums cannot overflow. */
#define DURATION_MAX_MS ((uint64_t) 10 * 366 * 24 * 3600 * 1000)

/*
 * Milliseconds, rounded up.  unit_ms is the unit of a number without one.  False for anything else,
 * and for more than DURATION_MAX_MS.
 */
bool duration_read(struct acp_str text, uint64_t unit_ms, uint64_t *ret_ms);

#endif
