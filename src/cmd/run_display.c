/* run_display.c - see run_display.h. */
#include "cmd/run_display.h"

#include <stdlib.h>

#include "cli/output.h"
#include "json/members.h"

struct run_display {
    struct run_display_options options;
    struct transcript *transcript; /* of what is rendered, for the answer */
    struct renderer *renderer;
};

bool run_display_shows_progress(const struct run_display *display)
{
    return display->options.format == RENDER_TEXT &&
           (display->options.verbose || err_is_terminal());
}

/* Notices are printed even when progress is not shown. */
static void say_notice(const struct session_event *event)
{
    struct acp_arena arena;
    struct acp_str message = {0};
    acp_arena_init(&arena, 0);
    if (acp_json_member_str(event->body, "message", &arena, &message) == 0 && message.len)
        err_message("%.*s", (int) message.len, message.ptr);
    acp_arena_finish(&arena);
}

void run_display_event(struct run_display *display, const struct session_event *event)
{
    struct transcript_changes changes = {0};
    if (transcript_add(display->transcript, event, &changes))
        err_message("out of memory; some of what the agent said is not shown");
    (void) renderer_add(display->renderer, event, changes);
    if (event->kind == EVENT_NOTICE && display->options.format != RENDER_JSON &&
        !run_display_shows_progress(display))
        say_notice(event);
}

bool run_display_flush(struct run_display *display)
{
    return renderer_flush(display->renderer) == 0;
}

struct renderer *run_display_renderer(struct run_display *display)
{
    return display->renderer;
}

struct transcript_answer run_display_answer(const struct run_display *display)
{
    return transcript_answer(display->transcript);
}

void run_display_pause(struct run_display *display)
{
    (void) run_display_flush(display);
}

void run_display_resume(struct run_display *display)
{
    (void) run_display_flush(display);
}

static int open_renderer(struct run_display *display)
{
    static const struct transcript_options keep = {.keep = TRANSCRIPT_KEEP_ANSWER};
    bool screen = err_is_terminal();
    struct renderer_options options = {
        .format = display->options.format,
        .session = display->options.session,
        .out = OUTPUT_RESULTS,
        .activity = screen || display->options.verbose ? OUTPUT_MESSAGES : -1,
        .colour = output_has_colour(OUTPUT_MESSAGES),
    };
    int err = transcript_new(&keep, &display->transcript);
    return err ? err : renderer_new(&options, &display->renderer);
}

int run_display_new(uv_loop_t *loop, const struct run_display_options *options,
                    struct run_display **ret)
{
    struct run_display *display = calloc(1, sizeof(*display));
    (void) loop;
    if (!display)
        return ACP_ERR_NOMEM;
    display->options = *options;
    int err = open_renderer(display);
    if (err) {
        run_display_free(display);
        return err;
    }
    *ret = display;
    return 0;
}

void run_display_close(struct run_display *display)
{
    (void) display;
}

void run_display_free(struct run_display *display)
{
    if (!display)
        return;
    renderer_free(display->renderer);
    transcript_free(display->transcript);
    free(display);
}
