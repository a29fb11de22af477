/* terminal_questions.c - see terminal_questions.h. */
#include "cmd/terminal_questions.h"

#include <errno.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/form.h"
#include "cmd/question_text.h"
#include "cmd/terminal_line.h"

/* A question that is pending or on the screen. */
struct waiting {
    struct waiting *next;
    uint64_t number;
    struct acp_buf text;
    struct form *form; /* of an elicitation; NULL: it is a permission question, which has: */
    struct question_choices choices;
    char *ids[QUESTION_MAX_OPTIONS];
};

struct terminal_questions {
    struct terminal_questions_handler handler;
    void *user;
    int terminal;         /* -1: no terminal, so nobody can be asked */
    struct output screen; /* the same terminal */
    uv_poll_t *keys;
    struct waiting *waiting; /* the first one is on the screen */
    bool asking;
};

static void free_waiting(struct waiting *waiting)
{
    for (size_t i = 0; i < QUESTION_MAX_OPTIONS; i++)
        free(waiting->ids[i]);
    if (waiting->form)
        form_finish(waiting->form);
    free(waiting->form);
    acp_buf_finish(&waiting->text);
    free(waiting);
}

static void say(struct terminal_questions *q, struct acp_str text)
{
    output_text(&q->screen, text);
    (void) output_flush(&q->screen);
}

/* ---- The question on the screen -------------------------------------------------------------- */

static void ask_next(struct terminal_questions *q);

/* It is answered: the first in the list goes. */
static struct waiting *take_first(struct terminal_questions *q)
{
    struct waiting *waiting = q->waiting;
    q->waiting = waiting->next;
    q->asking = false;
    return waiting;
}

static void settle(struct terminal_questions *q, enum question_reply reply, size_t index)
{
    struct waiting *waiting = take_first(q);
    struct acp_str option = {0};
    if (reply == QUESTION_CHOSEN)
        option = acp_str_from(waiting->ids[index]);
    q->handler.answer(waiting->number, option, q->user);
    free_waiting(waiting);
    ask_next(q);
}

static void settle_form(struct terminal_questions *q, enum form_reply reply)
{
    struct waiting *waiting = take_first(q);
    struct acp_buf response;
    acp_buf_init(&response, (size_t) 16 * FORM_MAX_FIELDS * FORM_MAX_LINE);
    int err = form_write_response(waiting->form, reply, &response);
    q->handler.elicited(waiting->number,
                        err ? acp_raw_from("{\"action\":\"cancel\"}")
                            : acp_raw_n(response.data + response.start, response.len),
                        q->user);
    acp_buf_finish(&response);
    free_waiting(waiting);
    ask_next(q);
}

static void on_keys(uv_poll_t *poll, int status, int events);

/* Draws the input line.  Input typed before that is discarded. */
static void draw_prompt(struct terminal_questions *q)
{
    struct acp_buf line;
    acp_buf_init(&line, FORM_TEXT_MAX);
    if (q->waiting->form)
        (void) form_write_prompt(q->waiting->form, &line);
    else
        (void) question_write_prompt(&q->waiting->choices, &line);
    (void) tcflush(q->terminal, TCIFLUSH);
    say(q, acp_buf_view(&line));
    acp_buf_finish(&line);
    (void) uv_poll_start(q->keys, UV_READABLE, on_keys);
}

static void explain(struct terminal_questions *q, enum question_reply reply)
{
    struct acp_buf text;
    acp_buf_init(&text, 2000);
    if (reply == QUESTION_HELP)
        (void) question_write_help(&q->waiting->choices, &text);
    else
        (void) acp_buf_printf(&text, "not a valid answer; ? for help\n");
    say(q, acp_buf_view(&text));
    acp_buf_finish(&text);
    draw_prompt(q);
}

/* ---- Replies --------------------------------------------------------------------------------- */

/* The line is empty at the end of input. */
static void read_permission(struct terminal_questions *q, struct acp_str line, bool is_cut)
{
    size_t index = 0;
    enum question_reply reply = QUESTION_REFUSE;
    if (line.len)
        reply = is_cut ? QUESTION_AGAIN : question_read(&q->waiting->choices, line, &index);
    if (reply == QUESTION_AGAIN || reply == QUESTION_HELP)
        explain(q, reply);
    else
        settle(q, reply, index);
}

static void read_form(struct terminal_questions *q, struct acp_str line, bool is_cut)
{
    struct acp_buf text;
    enum form_reply reply = FORM_CANCELLED;
    acp_buf_init(&text, FORM_TEXT_MAX);
    if (is_cut) {
        (void) acp_buf_printf(&text, "the line is too long\n");
        reply = FORM_AGAIN;
    } else if (line.len) {
        reply = form_read(q->waiting->form, line, &text);
    }
    say(q, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (reply == FORM_AGAIN || reply == FORM_NEXT)
        draw_prompt(q);
    else
        settle_form(q, reply);
}

static void on_keys(uv_poll_t *poll, int status, int events)
{
    struct terminal_questions *q = poll->data;
    char line[FORM_MAX_LINE + 96]; /* all that a terminal takes as one */
    (void) events;
    ssize_t n = status < 0 ? 0 : read(q->terminal, line, sizeof(line));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    (void) uv_poll_stop(poll);
    if (!q->asking)
        return;
    struct acp_str typed = acp_str_n(line, n > 0 ? (size_t) n : 0);
    /* The rest of an overlong line is discarded by the next draw_prompt(). */
    bool is_cut = typed.len == sizeof(line);
    if (q->waiting->form)
        read_form(q, typed, is_cut);
    else
        read_permission(q, typed, is_cut);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void ask_next(struct terminal_questions *q)
{
    if (!q->waiting || q->asking) {
        if (!q->waiting)
            q->handler.asking(false, q->user);
        return;
    }
    q->asking = true;
    q->handler.asking(true, q->user);
    say(q, acp_buf_view(&q->waiting->text));
    draw_prompt(q);
}

static void append(struct terminal_questions *q, struct waiting *waiting)
{
    struct waiting **at = &q->waiting;
    while (*at)
        at = &(*at)->next;
    *at = waiting;
    ask_next(q);
}

/* False when the question cannot be shown completely. */
static bool write_permission(struct waiting *waiting, const struct permission_question *question)
{
    acp_buf_init(&waiting->text, QUESTION_TEXT_MAX);
    waiting->number = question->number;
    if (question_write(question, &waiting->text))
        return false;
    question_choices_init(&waiting->choices, question);
    for (size_t i = 0; i < waiting->choices.count; i++) {
        struct acp_str id = question->options.items[i].option_id;
        waiting->ids[i] = strndup(id.len ? id.ptr : "", id.len);
        if (!waiting->ids[i])
            return false;
    }
    return true;
}

void terminal_questions_ask(struct terminal_questions *q,
                            const struct permission_question *question)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    if (waiting && write_permission(waiting, question)) {
        append(q, waiting);
        return;
    }
    err_message("permission denied: the request is too large to be shown completely");
    if (waiting)
        free_waiting(waiting);
    q->handler.answer(question->number, (struct acp_str){0}, q->user);
}

static bool write_elicitation(struct waiting *waiting, const struct elicitation_question *question,
                              const char **ret_complaint)
{
    acp_buf_init(&waiting->text, FORM_TEXT_MAX);
    waiting->number = question->number;
    waiting->form = calloc(1, sizeof(*waiting->form));
    return waiting->form && form_init(waiting->form, question, ret_complaint) == 0 &&
           form_write(waiting->form, &waiting->text) == 0;
}

void terminal_questions_elicit(struct terminal_questions *q,
                               const struct elicitation_question *question)
{
    const char *complaint = "memory ran out";
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    if (waiting && write_elicitation(waiting, question, &complaint)) {
        append(q, waiting);
        return;
    }
    err_message("declined a question of %.*s, because %s", ACP_ARG(question->agent), complaint);
    if (waiting)
        free_waiting(waiting);
    q->handler.elicited(question->number, acp_raw_from("{\"action\":\"decline\"}"), q->user);
}

void terminal_questions_gone(struct terminal_questions *q, uint64_t number)
{
    for (struct waiting **at = &q->waiting; *at; at = &(*at)->next) {
        struct waiting *waiting = *at;
        if (waiting->number != number)
            continue;
        if (waiting == q->waiting && q->asking) {
            q->asking = false;
            (void) uv_poll_stop(q->keys);
            say(q, acp_str_from("(no longer needed)\n"));
        }
        *at = waiting->next;
        free_waiting(waiting);
        ask_next(q);
        return;
    }
}

bool terminal_questions_can_ask(const struct terminal_questions *q)
{
    return q->terminal >= 0;
}

bool terminal_questions_is_asking(const struct terminal_questions *q)
{
    return q->asking;
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static int open_terminal(struct terminal_questions *q, uv_loop_t *loop)
{
    q->terminal = terminal_open();
    if (q->terminal < 0)
        return 0;
    output_init_messages(&q->screen, q->terminal);
    q->keys = malloc(sizeof(*q->keys));
    if (!q->keys)
        return ACP_ERR_NOMEM;
    if (uv_poll_init(loop, q->keys, q->terminal)) {
        free(q->keys);
        q->keys = NULL;
        (void) close(q->terminal);
        q->terminal = -1;
        return 0;
    }
    q->keys->data = q;
    return 0;
}

int terminal_questions_new(uv_loop_t *loop, const struct terminal_questions_handler *handler,
                           void *user, struct terminal_questions **ret)
{
    struct terminal_questions *q = calloc(1, sizeof(*q));
    if (!q)
        return ACP_ERR_NOMEM;
    q->handler = *handler;
    q->user = user;
    int err = open_terminal(q, loop);
    if (err) {
        terminal_questions_free(q);
        return err;
    }
    *ret = q;
    return 0;
}

void terminal_questions_close(struct terminal_questions *q)
{
    if (q && q->keys) {
        uv_close((uv_handle_t *) q->keys, free_handle);
        q->keys = NULL;
    }
}

void terminal_questions_free(struct terminal_questions *q)
{
    if (!q)
        return;
    while (q->waiting) {
        struct waiting *waiting = q->waiting;
        q->waiting = waiting->next;
        free_waiting(waiting);
    }
    if (q->terminal >= 0)
        (void) close(q->terminal);
    output_finish(&q->screen);
    free(q);
}
