/*
 * front.c - what the person sees and says.
 *
 * Questions are asked one at a time, on the terminal itself (the standard input may be the prompt).
 * An answer is the number of an option, or the first letter of what it means; nothing, or the end
 * of input, is no.
 */
#include "cmd/front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/types.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "talk/owner_wire.h"

enum { SIGNALS = 3 };

/* A question that waits to be asked, or is. */
struct waiting {
    struct waiting *next;
    uint64_t number;
    struct acp_buf text;
    size_t count;
    struct {
        char *id;
        enum acp_permission_option_kind_is kind;
    } options[8];
};

struct front {
    struct front_options options;
    struct front_handler handler;
    void *user;
    uv_loop_t *loop;
    struct show *show;
    int terminal;         /* -1: there is none, and nobody to ask */
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
    for (size_t i = 0; i < waiting->count; i++)
        free(waiting->options[i].id);
    acp_buf_finish(&waiting->text);
    free(waiting);
}

static void say(struct front *front, struct acp_str text)
{
    output_text(&front->screen, text);
    (void) output_flush(&front->screen);
}

static void ask_next(struct front *front);

static bool is_allow(enum acp_permission_option_kind_is kind)
{
    return kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
           kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
}

/* Which option the typed line means, or -1. */
static int read_choice(const struct waiting *waiting, const char *line)
{
    char *end;
    unsigned long number = strtoul(line, &end, 10);
    if (end != line)
        return number >= 1 && number <= waiting->count ? (int) number - 1 : -1;
    for (size_t i = 0; i < waiting->count; i++) {
        enum acp_permission_option_kind_is kind = waiting->options[i].kind;
        bool always = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS ||
                      kind == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
        if ((*line == 'y' && is_allow(kind) && !always) ||
            (*line == 'a' && is_allow(kind) && always) ||
            (*line == 'n' && !is_allow(kind) && !always))
            return (int) i;
    }
    return -1;
}

static void settle(struct front *front, const char *line)
{
    struct waiting *waiting = front->waiting;
    front->waiting = waiting->next;
    front->asking = false;
    if (waiting->count) {
        int choice = read_choice(waiting, line);
        struct acp_str option = {0};
        if (choice >= 0)
            option = acp_str(waiting->options[choice].id);
        front->handler.answer(waiting->number, option, front->user);
    } else {
        front->handler.allow(waiting->number, *line == 'y' || *line == 'Y', front->user);
    }
    free_waiting(waiting);
    ask_next(front);
}

static void on_keys(uv_poll_t *poll, int status, int events)
{
    struct front *front = poll->data;
    char line[64] = "";
    (void) status;
    (void) events;
    ssize_t n = read(front->terminal, line, sizeof(line) - 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    line[n > 0 ? n : 0] = '\0';
    (void) uv_poll_stop(poll);
    if (front->asking)
        settle(front, line);
}

static void ask_next(struct front *front)
{
    if (!front->waiting || front->asking)
        return;
    front->asking = true;
    (void) front_flush(front);
    say(front, acp_buf_view(&front->waiting->text));
    (void) uv_poll_start(front->keys, UV_READABLE, on_keys);
}

/* Text of the agent in a question: every character that is not what it looks like is visible. */
static void put_plain(struct acp_buf *out, struct acp_str text)
{
    (void) sanitize_whole(SANITIZE_LINE, text, out);
}

static void write_question(struct waiting *waiting, const struct talk_question *question)
{
    struct acp_buf *out = &waiting->text;
    const struct acp_action *action = question->action;
    (void) acp_buf_append_str(out, acp_str("\n[permission] "));
    put_plain(out, question->title.len ? question->title : acp_str(acp_kind_name(action->kind)));
    if (question->description.len) {
        (void) acp_buf_append_str(out, acp_str("\n  "));
        put_plain(out, question->description);
    }
    if (action->command.len && !acp_str_eq(action->command, question->title)) {
        (void) acp_buf_append_str(out, acp_str("\n  command: "));
        put_plain(out, action->command);
    }
    for (size_t i = 0; i < action->paths.count && i < 5; i++) {
        (void) acp_buf_append_str(out, acp_str("\n  file: "));
        put_plain(out, action->paths.items[i]);
    }
    (void) acp_buf_append_str(out, acp_str("\n"));
    for (size_t i = 0; i < waiting->count; i++) {
        (void) acp_buf_printf(out, "  %zu) ", i + 1);
        put_plain(out, question->options.items[i].name);
    }
    (void) acp_buf_append_str(out, acp_str(waiting->count ? "\n? " : "  allow it? (y/N) "));
}

void front_question(struct front *front, const struct talk_question *question)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    struct waiting **at = &front->waiting;
    if (!waiting) {
        front->handler.allow(question->number, false, front->user);
        return;
    }
    acp_buf_init(&waiting->text, (size_t) 64 * 1024);
    waiting->number = question->number;
    size_t most = sizeof(waiting->options) / sizeof(waiting->options[0]);
    for (size_t i = 0; i < question->options.count && i < most; i++) {
        const struct acp_permission_option *from = &question->options.items[i];
        waiting->options[i].id = strndup(from->option_id.ptr, from->option_id.len);
        waiting->options[i].kind = from->kind.is;
        waiting->count++;
    }
    write_question(waiting, question);
    while (*at)
        at = &(*at)->next;
    *at = waiting;
    ask_next(front);
}

void front_question_gone(struct front *front, uint64_t number)
{
    for (struct waiting **at = &front->waiting; *at; at = &(*at)->next) {
        struct waiting *waiting = *at;
        if (waiting->number != number)
            continue;
        if (waiting == front->waiting && front->asking) {
            front->asking = false;
            (void) uv_poll_stop(front->keys);
            say(front, acp_str("(no answer is needed any more)\n"));
        }
        *at = waiting->next;
        free_waiting(waiting);
        ask_next(front);
        return;
    }
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* Whether the person sees what happens beside the words, in lines of progress. */
static bool shows_progress(const struct front *front)
{
    return front->options.format == FORMAT_TEXT && (front->options.verbose || err_is_terminal());
}

/* What a person should know is said in any case. */
static void say_notice(const struct record *record)
{
    struct acp_arena arena;
    struct acp_str message = {0};
    acp_arena_init(&arena, 0);
    if (wire_read_text(record->body, "message", &arena, &message) == 0 && message.len)
        complain("%.*s", (int) message.len, message.ptr);
    acp_arena_finish(&arena);
}

void front_record(struct front *front, const struct record *record)
{
    (void) show_record(front->show, record);
    if (record->kind == RECORD_NOTICE && front->options.format != FORMAT_JSON &&
        !shows_progress(front))
        say_notice(record);
}

bool front_flush(struct front *front)
{
    return show_flush(front->show) == 0;
}

struct show *front_show(struct front *front)
{
    return front->show;
}

bool front_has_person(const struct front *front)
{
    return front->terminal >= 0;
}

bool front_interrupted(const struct front *front)
{
    return front->interrupts > 0;
}

int front_status(struct front *front, const struct talk_end *end)
{
    if (end->message.len && !shows_progress(front) && front->options.format != FORMAT_JSON)
        complain("%.*s", (int) end->message.len, end->message.ptr);
    if (front->options.format == FORMAT_QUIET && show_answer_is_cut(front->show))
        complain("the answer is longer than 64 MiB; its end is left out");
    if (front->interrupts)
        return EXIT_INTERRUPTED;
    if (end->kind == TALK_TIMEOUT) {
        if (front->options.format != FORMAT_JSON)
            complain("the time that --timeout allows is over");
        return EXIT_TIMEOUT;
    }
    if (end->kind != TALK_STOPPED)
        return EXIT_FAILED;
    if (end->unasked && front->options.fail_unasked) {
        if (front->options.format != FORMAT_JSON)
            complain("a permission had to be asked for, and nobody is there to ask");
        return EXIT_DENIED;
    }
    return end->denied ? EXIT_DENIED : EXIT_OK;
}

/* ---- Signals --------------------------------------------------------------------------------- */

static void on_signal(uv_signal_t *signal, int number)
{
    struct front *front = signal->data;
    (void) number;
    bool again = front->interrupts++ > 0;
    front->handler.interrupt(again, front->user);
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static int open_terminal(struct front *front)
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

static int open_show(struct front *front)
{
    static const enum show_format formats[] = {
        [FORMAT_TEXT] = SHOW_TEXT, [FORMAT_JSON] = SHOW_JSON, [FORMAT_QUIET] = SHOW_QUIET};
    bool screen = err_is_terminal();
    const char *no_colour = getenv("NO_COLOR");
    struct show_options options = {
        .format = formats[front->options.format],
        .session = front->options.session,
        .out = OUTPUT_RESULTS,
        .progress = screen || front->options.verbose ? OUTPUT_MESSAGES : -1,
        .colour = screen && !(no_colour && *no_colour),
    };
    return show_new(&options, &front->show);
}

int front_new(uv_loop_t *loop, const struct front_options *options,
              const struct front_handler *handler, void *user, struct front **ret)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
    struct front *front = calloc(1, sizeof(*front));
    if (!front)
        return ACP_ERR_NOMEM;
    front->options = *options;
    front->handler = *handler;
    front->user = user;
    front->loop = loop;
    front->terminal = -1;
    int err = open_show(front);
    if (!err && !options->no_person && err_is_terminal())
        err = open_terminal(front);
    if (err) {
        front_free(front);
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

void front_close(struct front *front)
{
    if (front->keys)
        uv_close((uv_handle_t *) front->keys, free_handle);
    front->keys = NULL;
    for (size_t i = 0; i < SIGNALS && front->signals_open; i++)
        uv_close((uv_handle_t *) &front->signals[i], NULL);
    front->signals_open = false;
}

void front_free(struct front *front)
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
    show_free(front->show);
    free(front);
}
