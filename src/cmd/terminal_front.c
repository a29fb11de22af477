/*
 * terminal_front.c - the terminal front end of exec and prompt: signals, and the exit status.  What
 * it shows is in run_display.c, what it asks in terminal_questions.c.
 */
#include "cmd/terminal_front.h"

#include <signal.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/terminal_questions.h"
#include "json/members.h"

enum { SIGNALS = 3 };

struct terminal_front {
    struct terminal_front_options options;
    struct terminal_front_handler handler;
    void *user;
    struct run_display *display;
    struct terminal_questions *questions; /* NULL: nobody can be asked */
    uv_signal_t signals[SIGNALS];
    bool signals_open;
    unsigned interrupts;
};

/* ---- Questions ------------------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct terminal_front *front = user;
    front->handler.answer(number, option, front->user);
}

static void on_elicited(uint64_t number, struct acp_raw response, void *user)
{
    struct terminal_front *front = user;
    front->handler.elicited(number, response, front->user);
}

static void on_asking(bool asking, void *user)
{
    struct terminal_front *front = user;
    if (asking)
        run_display_pause(front->display);
    else
        run_display_resume(front->display);
}

/*
 * A message between what is shown.  While a question is on the screen, the display is paused for
 * that already, and stays so.
 */
static void begin_message(struct terminal_front *front)
{
    if (!front->questions || !terminal_questions_is_asking(front->questions))
        run_display_pause(front->display);
}

static void end_message(struct terminal_front *front)
{
    if (!front->questions || !terminal_questions_is_asking(front->questions))
        run_display_resume(front->display);
}

void terminal_front_question(struct terminal_front *front,
                             const struct permission_question *question)
{
    if (front->questions)
        terminal_questions_ask(front->questions, question);
    else
        front->handler.answer(question->number, (struct acp_str){0}, front->user);
}

void terminal_front_elicitation(struct terminal_front *front,
                                const struct elicitation_question *question)
{
    if (front->questions)
        terminal_questions_elicit(front->questions, question);
    else
        front->handler.elicited(question->number, acp_raw_from("{\"action\":\"decline\"}"),
                                front->user);
}

void terminal_front_question_gone(struct terminal_front *front, uint64_t number)
{
    if (front->questions)
        terminal_questions_gone(front->questions, number);
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* The first of the paths of an action. */
static struct acp_str first_path(struct acp_raw body, struct acp_arena *arena)
{
    struct acp_json_reader r;
    struct acp_str path = {0};
    if (acp_json_find_member(body, "paths", arena, &r) && acp_json_enter_array(&r) == 0 &&
        acp_json_next_item(&r) > 0)
        (void) acp_json_read_str(&r, &path);
    return path;
}

/* What it is about: the command, else the title if it is more than the kind, else a file. */
static struct acp_str subject_of(struct acp_raw body, struct acp_str kind, struct acp_arena *arena)
{
    struct acp_str command = {0};
    struct acp_str title = {0};
    (void) acp_json_member_str(body, "command", arena, &command);
    (void) acp_json_member_str(body, "title", arena, &title);
    struct acp_str path = first_path(body, arena);
    if (command.len)
        return command;
    return acp_str_eq(title, kind) && path.len ? path : title;
}

/* What had to be asked, and how to go without asking. */
static void say_unasked(const struct session_event *event)
{
    enum { MOST = 200 };
    bool permission = event->kind == EVENT_PERMISSION;
    struct acp_arena arena;
    struct acp_str kind = {0};
    struct acp_str text = {0};
    acp_arena_init(&arena, 0);
    if (permission)
        (void) acp_json_member_str(event->body, "kind", &arena, &kind);
    else
        (void) acp_json_member_str(event->body, "message", &arena, &text);
    if (permission)
        text = subject_of(event->body, kind, &arena);
    const char *more = text.len > MOST ? "..." : "";
    text = acp_str_cut(text, MOST);
    if (permission)
        err_message("denied %.*s '%.*s%s': nobody can be asked for permission; use --approve-all, "
                    "--approve-reads or --policy FILE",
                    ACP_ARG(kind), ACP_ARG(text), more);
    else
        err_message("declined to answer '%.*s%s': nobody can be asked; run it at a terminal "
                    "(--approve-all, --approve-reads and --policy answer only permissions)",
                    ACP_ARG(text), more);
    acp_arena_finish(&arena);
}

static bool is_unasked(const struct session_event *event)
{
    bool unasked = false;
    if (!event->turn || (event->kind != EVENT_PERMISSION && event->kind != EVENT_ELICITATION))
        return false;
    (void) acp_json_member_bool(event->body, "unasked", &unasked);
    return unasked;
}

void terminal_front_event(struct terminal_front *front, const struct session_event *event)
{
    /* Whoever wants it to stop now does not want to see the rest; the log has it. */
    bool ends = event->kind == EVENT_STOP || event->kind == EVENT_ERROR;
    if (front->interrupts > 1 && !ends)
        return;
    run_display_event(front->display, event);
    if (front->options.format != RENDER_JSON && is_unasked(event)) {
        begin_message(front);
        say_unasked(event);
        end_message(front);
    }
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
    return front->questions && terminal_questions_can_ask(front->questions);
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
    bool again = front->interrupts++ > 0;
    if (!again && number == SIGINT && err_is_terminal() && front->options.format != RENDER_JSON) {
        begin_message(front);
        err_message("cancelling; press Ctrl-C again to stop now");
        end_message(front);
    }
    front->handler.interrupt(again, front->user);
}

/* ---- Making one ------------------------------------------------------------------------------ */

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
    static const struct terminal_questions_handler asked = {
        .answer = on_answer, .elicited = on_elicited, .asking = on_asking};
    struct run_display_options display = options->display;
    display.format = options->format;
    display.session = options->session;
    int err = run_display_new(loop, &display, &front->display);
    if (!err && !options->no_questions && err_is_terminal())
        err = terminal_questions_new(loop, &asked, front, &front->questions);
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
    terminal_questions_close(front->questions);
    for (size_t i = 0; i < SIGNALS && front->signals_open; i++)
        uv_close((uv_handle_t *) &front->signals[i], NULL);
    front->signals_open = false;
}

void terminal_front_free(struct terminal_front *front)
{
    if (!front)
        return;
    terminal_questions_free(front->questions);
    run_display_free(front->display);
    free(front);
}
