/*
 * run_display.h - what exec and prompt show of a run: the answer on standard output, progress and
 * notices on standard error, and at a terminal a status line that says what is being done and for
 * how long.  The other half of the terminal front end asks questions and handles
 * signals; see terminal_front.h.
 */
#ifndef SRC_CMD_RUN_DISPLAY_H
#define SRC_CMD_RUN_DISPLAY_H

#include <uv.h>

#include "render/render.h"
#include "transcript/transcript.h"

struct run_display;

struct run_display_options {
    enum render_format format;
    struct acp_str session;
    bool verbose;
    bool raw;          /* Markdown as it came */
    const char *agent; /* its name, for people */
    bool is_fetched;   /* it is started by npx or uvx, which may have to download it */
    bool is_continued; /* the session is an earlier one, which the agent may have to load */
    const char *cwd;   /* paths are shown relative to it */
    const char *again; /* the command that goes on with the session; NULL: there is none */
};

int run_display_new(uv_loop_t *loop, const struct run_display_options *options,
                    struct run_display **ret);
/* Closes the handles that keep the loop alive; run_display_free() must still be called. */
void run_display_close(struct run_display *display);
/* Takes NULL. */
void run_display_free(struct run_display *display);

void run_display_event(struct run_display *display, const struct session_event *event);
/* False when output can no longer be written. */
bool run_display_flush(struct run_display *display);
struct renderer *run_display_renderer(struct run_display *display);
/* What the agent has answered so far. */
struct transcript_answer run_display_answer(const struct run_display *display);
/* Whether progress is shown between the messages of the agent. */
bool run_display_shows_progress(const struct run_display *display);

/* Nothing runs any more: no status line is shown until the next event of a turn. */
void run_display_rest(struct run_display *display);

/*
 * Between these two calls the terminal belongs to somebody else, such as a question that waits for
 * its reply: everything that was shown is complete, and nothing moves.
 */
void run_display_pause(struct run_display *display);
void run_display_resume(struct run_display *display);

#endif
