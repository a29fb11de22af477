/*
 * terminal_front.c - the terminal front end of exec and prompt: questions and signals.  What it
 * shows is in run_display.c.
 *
 * Questions are asked one at a time, on the terminal itself: standard input may hold the prompt.
 * Input typed before the question appeared is discarded.  An invalid reply repeats the question;
 * end of input denies.
 */
#include "cmd/terminal_front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "acp/types.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/question_text.h"
#include "daemon/daemon_protocol.h"

enum { SIGNALS = 3 };

/* A question that is pending or on the screen. */
struct waiting {
    struct waiting *next;
    uint64_t number;
    struct acp_buf text;
    struct question_choices choices;
    char *ids[QUESTION_MAX_OPTIONS];
};

struct terminal_front {
    struct terminal_front_options options;
    struct terminal_front_handler handler;
    void *user;
    uv_loop_t *loop;
    struct run_display *display;
    int terminal;         /* -1: no terminal, so nobody can be asked */
    struct output screen; /* the same terminal */
    uv_poll_t *keys;
    struct waiting *waiting; /* the first one is on the screen */
    bool asking;
    uv_signal_t signals[SIGNALS];
    bool signals_open;
    unsigned interrupts;
};

/* ---- Questions ------------------------------------------------------------------------------- */

static void free_waiting(struct waiting *waiting)
{
    for (size_t i = 0; i < QUESTION_MAX_OPTIONS; i++)
        free(waiting->ids[i]);
    acp_buf_finish(&waiting->text);
    free(waiting);
}

static void say(struct terminal_front *front, struct acp_str text)
{
    output_text(&front->screen, text);
    (void) output_flush(&front->screen);
}

static void ask_next(struct terminal_front *front);

static void settle(struct terminal_front *front, enum question_reply reply, size_t index)
{
    struct waiting *waiting = front->waiting;
    struct acp_str option = {0};
    front->waiting = waiting->next;
    front->asking = false;
    if (reply == QUESTION_CHOSEN)
        option = acp_str_from(waiting->ids[index]);
    front->handler.answer(waiting->number, option, front->user);
    free_waiting(waiting);
    ask_next(front);
}

static void on_keys(uv_poll_t *poll, int status, int events);

/* Draws the input line.  Input typed before that is discarded. */
static void draw_prompt(struct terminal_front *front)
{
    struct acp_buf line;
    acp_buf_init(&line, 1000);
    (void) question_write_prompt(&front->waiting->choices, &line);
    (void) tcflush(front->terminal, TCIFLUSH);
    say(front, acp_buf_view(&line));
    acp_buf_finish(&line);
    (void) uv_poll_start(front->keys, UV_READABLE, on_keys);
}

static void explain(struct terminal_front *front, enum question_reply reply)
{
    struct acp_buf text;
    acp_buf_init(&text, 2000);
    if (reply == QUESTION_HELP)
        (void) question_write_help(&front->waiting->choices, &text);
    else
        (void) acp_buf_printf(&text, "not a valid answer; ? for help\n");
    say(front, acp_buf_view(&text));
    acp_buf_finish(&text);
    draw_prompt(front);
}

static void on_keys(uv_poll_t *poll, int status, int events)
{
    struct terminal_front *front = poll->data;
    char line[256];
    size_t index = 0;
    (void) events;
    ssize_t n = status < 0 ? 0 : read(front->terminal, line, sizeof(line));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    (void) uv_poll_stop(poll);
    if (!front->asking)
        return;
    enum question_reply reply = QUESTION_REFUSE;
    /* The rest of an overlong line is discarded by the next draw_prompt(). */
    if (n > 0)
        reply = (size_t) n == sizeof(line)
                    ? QUESTION_AGAIN
                    : question_read(&front->waiting->choices, acp_str_n(line, (size_t) n), &index);
    if (reply == QUESTION_AGAIN || reply == QUESTION_HELP)
        explain(front, reply);
    else
        settle(front, reply, index);
}

static void ask_next(struct terminal_front *front)
{
    if (front->asking)
        return;
    if (!front->waiting) {
        run_display_resume(front->display);
        return;
    }
    front->asking = true;
    run_display_pause(front->display);
    say(front, acp_buf_view(&front->waiting->text));
    draw_prompt(front);
}

/* False when the question cannot be shown completely. */
static bool write_waiting(struct waiting *waiting, const struct permission_question *question)
{
    acp_buf_init(&waiting->text, QUESTION_TEXT_MAX);
    waiting->number = question->number;
    if (question_write(question, &waiting->text))
        return false;
    question_choices_init(&waiting->choices, question->options);
    for (size_t i = 0; i < waiting->choices.count; i++) {
        struct acp_str id = question->options.items[i].option_id;
        waiting->ids[i] = strndup(id.len ? id.ptr : "", id.len);
        if (!waiting->ids[i])
            return false;
    }
    return true;
}

void terminal_front_question(struct terminal_front *front,
                             const struct permission_question *question)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    struct waiting **at = &front->waiting;
    if (!waiting || !write_waiting(waiting, question)) {
        err_message("permission denied: the request is too large to be shown completely");
        if (waiting)
            free_waiting(waiting);
        front->handler.answer(question->number, (struct acp_str){0}, front->user);
        return;
    }
    while (*at)
        at = &(*at)->next;
    *at = waiting;
    ask_next(front);
}

void terminal_front_question_gone(struct terminal_front *front, uint64_t number)
{
    for (struct waiting **at = &front->waiting; *at; at = &(*at)->next) {
        struct waiting *waiting = *at;
        if (waiting->number != number)
            continue;
        if (waiting == front->waiting && front->asking) {
            front->asking = false;
            (void) uv_poll_stop(front->keys);
            say(front, acp_str_from("(no longer needed)\n"));
        }
        *at = waiting->next;
        free_waiting(waiting);
        ask_next(front);
        return;
    }
}

/* ---- Showing --------------------------------------------------------------------------------- */

void terminal_front_event(struct terminal_front *front, const struct session_event *event)
{
    run_display_event(front->display, event);
}

bool terminal_front_flush(struct terminal_front *front)
{
    return run_display_flush(front->display);
}

struct run_display *terminal_front_display(struct terminal_front *front)
{
    return front->display;
}

struct renderer *terminal_front_renderer(struct terminal_front *front)
{
    return run_display_renderer(front->display);
}

struct transcript_answer terminal_front_answer(const struct terminal_front *front)
{
    return run_display_answer(front->display);
}

bool terminal_front_can_ask(const struct terminal_front *front)
{
    return front->terminal >= 0;
}

bool terminal_front_interrupted(const struct terminal_front *front)
{
    return front->interrupts > 0;
}

int terminal_front_status(struct terminal_front *front, const struct prompt_end *end)
{
    if (end->message.len && !run_display_shows_progress(front->display) &&
        front->options.format != RENDER_JSON)
        err_message("%.*s", (int) end->message.len, end->message.ptr);
    if (front->options.format == RENDER_QUIET && terminal_front_answer(front).is_cut)
        err_message("the answer is larger than 64 MiB; the end is missing");
    if (front->interrupts)
        return EXIT_INTERRUPTED;
    if (end->kind == PROMPT_TIMED_OUT) {
        if (front->options.format != RENDER_JSON)
            err_message("timed out; see --timeout");
        return EXIT_TIMEOUT;
    }
    if (end->kind != PROMPT_STOPPED)
        return EXIT_FAILED;
    if (end->unasked && front->options.fail_unasked) {
        if (front->options.format != RENDER_JSON)
            err_message("permission needed and nobody to ask; use --approve-all or --policy");
        return EXIT_DENIED;
    }
    return end->denied ? EXIT_DENIED : EXIT_OK;
}

/* ---- Signals --------------------------------------------------------------------------------- */

static void on_signal(uv_signal_t *signal, int number)
{
    struct terminal_front *front = signal->data;
    (void) number;
    bool again = front->interrupts++ > 0;
    front->handler.interrupt(again, front->user);
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static int open_terminal(struct terminal_front *front)
{
    front->terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (front->terminal < 0)
        return 0;
    output_init_messages(&front->screen, front->terminal);
    front->keys = malloc(sizeof(*front->keys));
    if (!front->keys)
        return ACP_ERR_NOMEM;
    if (uv_poll_init(front->loop, front->keys, front->terminal)) {
        free(front->keys);
        front->keys = NULL;
        (void) close(front->terminal);
        front->terminal = -1;
        return 0;
    }
    front->keys->data = front;
    return 0;
}

int terminal_front_new(uv_loop_t *loop, const struct terminal_front_options *options,
                       const struct terminal_front_handler *handler, void *user,
                       struct terminal_front **ret)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
    struct terminal_front *front = calloc(1, sizeof(*front));
    if (!front)
        return ACP_ERR_NOMEM;
    front->options = *options;
    front->handler = *handler;
    front->user = user;
    front->loop = loop;
    front->terminal = -1;
    const struct run_display_options display = {
        .format = options->format, .session = options->session, .verbose = options->verbose};
    int err = run_display_new(loop, &display, &front->display);
    if (!err && !options->no_questions && err_is_terminal())
        err = open_terminal(front);
    if (err) {
        terminal_front_free(front);
        return err;
    }
    for (size_t i = 0; i < SIGNALS; i++) {
        (void) uv_signal_init(loop, &front->signals[i]);
        front->signals[i].data = front;
        (void) uv_signal_start(&front->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *) &front->signals[i]);
    }
    front->signals_open = true;
    *ret = front;
    return 0;
}

void terminal_front_close(struct terminal_front *front)
{
    run_display_close(front->display);
    if (front->keys)
        uv_close((uv_handle_t *) front->keys, free_handle);
    front->keys = NULL;
    for (size_t i = 0; i < SIGNALS && front->signals_open; i++)
        uv_close((uv_handle_t *) &front->signals[i], NULL);
    front->signals_open = false;
}

void terminal_front_free(struct terminal_front *front)
{
    if (!front)
        return;
    while (front->waiting) {
        struct waiting *waiting = front->waiting;
        front->waiting = waiting->next;
        free_waiting(waiting);
    }
    if (front->terminal >= 0)
        (void) close(front->terminal);
    output_finish(&front->screen);
    run_display_free(front->display);
    free(front);
}
