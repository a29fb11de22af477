/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>

#include "cli/output.h"
#include "cli/terminal_traits.h"

/* The clock is asked once in that many steps, and the line drawn ten times a second. */
enum { STEPS = 16, INTERVAL_MS = 100 };

static uint64_t now_ms(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

static void begin(struct progress *progress)
{
    struct terminal_traits traits = terminal_traits(OUTPUT_MESSAGES);
    progress->is_hidden = !traits.is_terminal || traits.is_dumb;
    progress->next = now_ms() + INTERVAL_MS;
}

void progress_show(struct progress *progress)
{
    char line[120];
    if (!progress->next)
        begin(progress);
    if (progress->is_hidden)
        return;
    if (progress->count)
        (void) snprintf(line, sizeof(line), "%s: %llu %s", progress->what,
                        (unsigned long long) progress->count, progress->unit);
    else
        (void) snprintf(line, sizeof(line), "%s", progress->what);
    output_show_status(acp_str_from(line));
}

void progress_step(struct progress *progress)
{
    if (!progress->next)
        begin(progress);
    if (progress->count++ % STEPS || progress->is_hidden)
        return;
    uint64_t now = now_ms();
    if (now < progress->next)
        return;
    progress->next = now + INTERVAL_MS;
    progress_show(progress);
}

void progress_end(struct progress *progress)
{
    if (progress->next && !progress->is_hidden)
        output_erase_status();
}
