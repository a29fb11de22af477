/*
 * progress.h - how far a command that works without a loop has come, in the status line.
 *
 *     struct progress progress = {.what = "importing", .unit = "events"};
 *     ...for each event:
 *     progress_step(&progress);
 *     ...
 *     progress_end(&progress);
 *
 * Nothing is shown before a tenth of a second has passed, nor where no status line is (output.h) or
 * TERM is "dumb".
 */
#ifndef SRC_CLI_PROGRESS_H
#define SRC_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    const char *unit;
    uint64_t count;
    uint64_t next; /* when to show it again, in milliseconds of a monotonic clock; 0: not begun */
    bool is_hidden;
};

/* One more. */
void progress_step(struct progress *progress);
/* What follows has no steps and may take a while: shows it at once. */
void progress_show(struct progress *progress);
/* Erases the line. */
void progress_end(struct progress *progress);

#endif
