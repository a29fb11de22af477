/* run_display.c - see run_display.h. */
#include "cmd/run_display.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/terminal_echo.h"
#include "cli/terminal_traits.h"
#include "json/members.h"

/* The first status line comes so late that short runs show none. */
enum { FIRST_STATUS_MS = 60, NEXT_STATUS_MS = 200, DOING_SIZE = 400 };

enum run_state {
    RUN_STARTING, /* the agent and its session */
    RUN_WORKING,
    RUN_AT_REST, /* nothing runs, or the terminal belongs to somebody else */
};

struct run_display {
    struct run_display_options options;
    struct transcript *transcript; /* of what is rendered, for the answer */
    struct renderer *renderer;
    struct terminal_traits screen; /* of messages */
    enum run_state state;
    bool is_paused;
    uv_timer_t *timer; /* NULL: no status line is shown */
    uv_signal_t *suspend;
    unsigned frame;
    char doing[DOING_SIZE];
    char printed[DOING_SIZE]; /* the last line that the tool call has printed; or empty */
    uint64_t tool_call;       /* the one that doing is about; 0: none */
    uint64_t since;           /* of the loop's clock */
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

/* ---- The status line ------------------------------------------------------------------------- */

static void say_doing(struct run_display *display, struct acp_str what, uint64_t tool_call)
{
    char *doing = display->doing;
    display->tool_call = tool_call;
    display->printed[0] = '\0';
    size_t len = acp_utf8_copy_cut(doing, what.ptr, what.len, DOING_SIZE - 1);
    doing[len] = '\0';
    /* Titles are often commands, which have several lines. */
    doing[strcspn(doing, "\n")] = '\0';
    if (display->timer)
        display->since = uv_now(display->timer->loop);
}

/* Of the output of a tool call that runs: its last line that is not empty. */
static void follow_output(struct run_display *display, struct acp_tool_call_content_list content)
{
    struct acp_str text = {0};
    for (size_t i = 0; i < content.count; i++)
        if (content.items[i].is == ACP_TOOL_CALL_CONTENT_CONTENT &&
            content.items[i].content.content.is == ACP_CONTENT_BLOCK_TEXT)
            text = content.items[i].content.content.text.text;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    size_t at = text.len;
    while (at && text.ptr[at - 1] != '\n')
        at--;
    size_t len = acp_utf8_copy_cut(display->printed, text.len ? text.ptr + at : "", text.len - at,
                                   DOING_SIZE - 1);
    display->printed[len] = '\0';
}

static void say_working(struct run_display *display, const char *what)
{
    char line[DOING_SIZE];
    (void) snprintf(line, sizeof(line), "%.200s %s", display->options.agent, what);
    if (display->tool_call || strcmp(line, display->doing) != 0)
        say_doing(display, acp_str_from(line), 0);
}

static void say_starting(struct run_display *display)
{
    char line[DOING_SIZE];
    (void) snprintf(line, sizeof(line), "starting %.200s%s%s", display->options.agent,
                    display->options.is_continued ? " and loading the session" : "",
                    display->options.is_fetched ? " (the first run downloads it)" : "");
    say_doing(display, acp_str_from(line), 0);
}

static void on_timer(uv_timer_t *timer)
{
    static const char *const braille[] = {
        "\xe2\xa0\x8b", "\xe2\xa0\x99", "\xe2\xa0\xb9", "\xe2\xa0\xb8", "\xe2\xa0\xbc",
        "\xe2\xa0\xb4", "\xe2\xa0\xa6", "\xe2\xa0\xa7", "\xe2\xa0\x87", "\xe2\xa0\x8f"};
    static const char *const bars[] = {"|", "/", "-", "\\"};
    struct run_display *display = timer->data;
    char line[2 * DOING_SIZE + 40];
    terminal_echo_off(OUTPUT_MESSAGES);
    unsigned frame = display->frame++;
    uint64_t seconds = (uv_now(timer->loop) - display->since) / 1000;
    int n = snprintf(line, sizeof(line), "%s ",
                     display->screen.unicode ? braille[frame % 10] : bars[frame % 4]);
    /* The time comes first, so that a narrow terminal shows it. */
    if (seconds >= 60)
        n += snprintf(line + n, sizeof(line) - (size_t) n, "%llum %llus  ",
                      (unsigned long long) seconds / 60, (unsigned long long) seconds % 60);
    else if (seconds)
        n += snprintf(line + n, sizeof(line) - (size_t) n, "%llus  ", (unsigned long long) seconds);
    n += snprintf(line + n, sizeof(line) - (size_t) n, "%s%s%s", display->doing,
                  *display->printed ? ": " : "", display->printed);
    output_show_status(acp_str_n(line, (size_t) n));
}

/* Runs the timer when there is something to show, and erases the line when there is not. */
static void update_timer(struct run_display *display)
{
    bool runs = display->timer && !display->is_paused && display->state != RUN_AT_REST;
    if (!display->timer)
        return;
    if (runs && !uv_is_active((const uv_handle_t *) display->timer)) {
        (void) uv_timer_start(display->timer, on_timer, FIRST_STATUS_MS, NEXT_STATUS_MS);
    } else if (!runs) {
        (void) uv_timer_stop(display->timer);
        output_erase_status();
        terminal_echo_restore();
    }
}

/* Ctrl-Z: the shell gets the terminal as we have found it. */
static void on_suspend(uv_signal_t *signal, int number)
{
    (void) signal;
    (void) number;
    output_erase_status();
    terminal_echo_restore();
    (void) raise(SIGSTOP);
}

static void set_state(struct run_display *display, enum run_state state)
{
    display->state = state;
    update_timer(display);
}

static void follow_change(struct run_display *display, const struct transcript_change *change)
{
    const struct transcript_item *item = change->item;
    if (!item)
        return;
    switch (item->kind) {
    case ITEM_OPENED:
    case ITEM_PROMPT:
        say_working(display, "is working");
        break;
    case ITEM_THOUGHT:
        say_working(display, "is thinking");
        break;
    case ITEM_MESSAGE:
        say_working(display, "is writing");
        break;
    case ITEM_TOOL_CALL:
        if (change->what & CHANGE_ENDED && item->number == display->tool_call)
            say_working(display, "is working");
        else if (!(change->what & CHANGE_ENDED) && transcript_text(item).len &&
                 (item->number != display->tool_call || change->what & CHANGE_TITLE))
            say_doing(display, transcript_text(item), item->number);
        if (change->what & CHANGE_CONTENT && item->number == display->tool_call)
            follow_output(display, item->tool_call.content);
        break;
    case ITEM_TURN_END:
    case ITEM_CLOSED:
        set_state(display, RUN_AT_REST);
        return;
    default:
        return;
    }
    if (display->state == RUN_STARTING && item->kind != ITEM_PROMPT)
        set_state(display, RUN_WORKING);
    else if (display->state == RUN_AT_REST)
        set_state(display, RUN_WORKING);
}

static void follow(struct run_display *display, struct transcript_changes changes)
{
    for (size_t i = 0; i < changes.count && display->timer; i++)
        follow_change(display, &changes.items[i]);
}

void run_display_rest(struct run_display *display)
{
    set_state(display, RUN_AT_REST);
}

void run_display_pause(struct run_display *display)
{
    display->is_paused = true;
    update_timer(display);
    (void) run_display_flush(display);
}

void run_display_resume(struct run_display *display)
{
    display->is_paused = false;
    update_timer(display);
}

/* ---- Events ---------------------------------------------------------------------------------- */

void run_display_event(struct run_display *display, const struct session_event *event)
{
    struct transcript_changes changes = {0};
    if (transcript_add(display->transcript, event, &changes))
        err_message("out of memory; some of what the agent said is not shown");
    renderer_set_width(display->renderer, terminal_columns(OUTPUT_RESULTS));
    (void) renderer_add(display->renderer, event, changes);
    follow(display, changes);
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

static struct acp_str text_or_none(const char *text)
{
    return text ? acp_str_from(text) : (struct acp_str){0};
}

static int open_renderer(struct run_display *display)
{
    static const struct transcript_options keep = {.keep = TRANSCRIPT_KEEP_ANSWER};
    const struct run_display_options *given = &display->options;
    struct terminal_traits results = terminal_traits(OUTPUT_RESULTS);
    struct terminal_traits screen = display->screen = terminal_traits(OUTPUT_MESSAGES);
    bool is_text = given->format == RENDER_TEXT;
    struct renderer_options options = {
        .format = given->format,
        .session = given->session,
        .out = OUTPUT_RESULTS,
        .activity = screen.is_terminal || given->verbose ? OUTPUT_MESSAGES : -1,
        .colour = output_has_colour(OUTPUT_MESSAGES) || (screen.is_terminal && !screen.is_dumb),
        .no_colour = !output_has_colour(OUTPUT_MESSAGES) && !output_has_colour(OUTPUT_RESULTS),
        .markdown = is_text && results.is_terminal && !results.is_dumb && !given->raw,
        .rich = is_text && screen.is_terminal && !screen.is_dumb,
        .ascii = !screen.unicode && !results.unicode,
        .hyperlinks = results.hyperlinks,
        .cwd = text_or_none(given->cwd),
        .again = text_or_none(given->again),
    };
    int err = transcript_new(&keep, &display->transcript);
    return err ? err : renderer_new(&options, &display->renderer);
}

/* The status line, for a person who waits. */
static int open_status(struct run_display *display, uv_loop_t *loop)
{
    if (display->options.format != RENDER_TEXT || !display->screen.is_terminal ||
        display->screen.is_dumb || !display->options.agent)
        return 0;
    display->timer = malloc(sizeof(*display->timer));
    display->suspend = malloc(sizeof(*display->suspend));
    if (!display->timer || !display->suspend) {
        free(display->timer);
        free(display->suspend);
        display->timer = NULL;
        return ACP_ERR_NOMEM;
    }
    (void) uv_timer_init(loop, display->timer);
    (void) uv_signal_init(loop, display->suspend);
    (void) uv_signal_start(display->suspend, on_suspend, SIGTSTP);
    uv_unref((uv_handle_t *) display->suspend);
    display->timer->data = display;
    uv_unref((uv_handle_t *) display->timer);
    say_starting(display);
    set_state(display, RUN_STARTING);
    return 0;
}

int run_display_new(uv_loop_t *loop, const struct run_display_options *options,
                    struct run_display **ret)
{
    struct run_display *display = calloc(1, sizeof(*display));
    if (!display)
        return ACP_ERR_NOMEM;
    display->options = *options;
    int err = open_renderer(display);
    if (!err)
        err = open_status(display, loop);
    if (err) {
        run_display_free(display);
        return err;
    }
    *ret = display;
    return 0;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

void run_display_close(struct run_display *display)
{
    set_state(display, RUN_AT_REST);
    if (!display->timer)
        return;
    uv_close((uv_handle_t *) display->timer, free_handle);
    uv_close((uv_handle_t *) display->suspend, free_handle);
    display->timer = NULL;
}

void run_display_free(struct run_display *display)
{
    if (!display)
        return;
    run_display_close(display);
    renderer_free(display->renderer);
    transcript_free(display->transcript);
    free(display);
}
