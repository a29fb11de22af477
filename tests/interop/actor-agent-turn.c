/* The lines of a prompt, done one after the other. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-agent.h"

/* ---- Timers --------------------------------------------------------------------------------- */

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

uv_timer_t *make_timer(uint64_t ms, uint64_t repeat, uv_timer_cb fn, void *user)
{
    uv_timer_t *timer = calloc(1, sizeof(*timer));
    if (!timer)
        abort();
    (void) uv_timer_init(&actor_loop, timer);
    timer->data = user;
    (void) uv_timer_start(timer, fn, ms, repeat);
    return timer;
}

void drop_timer(uv_timer_t **timer)
{
    if (*timer)
        uv_close((uv_handle_t *) *timer, on_timer_closed);
    *timer = NULL;
}

/* ---- Ending --------------------------------------------------------------------------------- */

static struct acp_turn *finish(struct work *work)
{
    struct acp_turn *turn = work->turn;
    acp_turn_set_user(turn, NULL);
    drop_timer(&work->timer);
    free(work->script);
    free(work);
    return turn;
}

static enum step end(struct work *work, enum acp_stop stop)
{
    (void) acp_turn_end(finish(work), stop);
    return STEP_OVER;
}

void sayf(struct work *work, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void) acp_turn_send_text(work->turn, acp_str_from(text));
}

/* ---- Lines of a few words ------------------------------------------------------------------- */

static enum step do_say(struct work *work, const char *argument)
{
    (void) acp_turn_send_text(work->turn, acp_str_from(argument));
    return STEP_NEXT;
}

static enum step do_think(struct work *work, const char *argument)
{
    (void) acp_turn_send_thought(work->turn, acp_str_from(argument));
    return STEP_NEXT;
}

static enum step do_wait(struct work *work, const char *argument)
{
    (void) work;
    (void) argument;
    return STEP_WAIT;
}

static void on_stubborn_end(uv_timer_t *timer)
{
    struct work *work = timer->data;
    sayf(work, "still here\n");
    (void) end(work, ACP_STOP_END_TURN); /* the role knows better */
}

/* Waits, and when it is cancelled says something more and ends as if nothing were. */
static enum step do_stubborn(struct work *work, const char *argument)
{
    (void) argument;
    work->stubborn = true;
    return STEP_WAIT;
}

static enum step do_fail(struct work *work, const char *argument)
{
    char why[128]; /* the argument goes with the work */
    (void) snprintf(why, sizeof(why), "%s", *argument ? argument : "it broke");
    (void) acp_turn_fail(finish(work), -32603, acp_str_from(why));
    return STEP_OVER;
}

static enum step do_stop(struct work *work, const char *argument)
{
    static const struct {
        const char *name;
        enum acp_stop stop;
    } reasons[] = {
        {"end_turn", ACP_STOP_END_TURN},
        {"max_tokens", ACP_STOP_MAX_TOKENS},
        {"max_turn_requests", ACP_STOP_MAX_TURN_REQUESTS},
        {"refusal", ACP_STOP_REFUSAL},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(reasons[i].name, argument) == 0)
            return end(work, reasons[i].stop);
    return end(work, ACP_STOP_REFUSAL);
}

static void on_stream(uv_timer_t *timer)
{
    struct work *work = timer->data;
    if (work->left-- > 0) {
        sayf(work, "tick\n");
        return;
    }
    drop_timer(&work->timer);
    go_on(work);
}

/* stream N MS: sends N chunks, one every MS milliseconds. */
static enum step do_stream(struct work *work, const char *argument)
{
    unsigned ms = 10;
    if (sscanf(argument, "%" SCNd64 " %u", &work->left, &ms) < 1)
        work->left = 10;
    work->timer = make_timer(ms, ms, on_stream, work);
    return STEP_WAIT;
}

static void on_later(uv_timer_t *timer)
{
    struct talk *talk = timer->data;
    (void) acp_session_send_text(talk->session, acp_str_from(talk->words), acp_str_from(NULL));
    drop_timer(&talk->later);
}

/* later MS TEXT: speaks when the turn is over. */
static enum step do_later(struct work *work, const char *argument)
{
    unsigned ms = 10;
    int at = 0;
    (void) sscanf(argument, "%u %n", &ms, &at);
    (void) snprintf(work->talk->words, sizeof(work->talk->words), "%s", argument + at);
    drop_timer(&work->talk->later);
    work->talk->later = make_timer(ms, 0, on_later, work->talk);
    return STEP_NEXT;
}

static enum step do_where(struct work *work, const char *argument)
{
    (void) argument;
    say_session(work);
    return STEP_NEXT;
}

/* ---- Going through them --------------------------------------------------------------------- */

static const struct {
    const char *name;
    line_fn *fn;
} lines[] = {
    {"abandon", do_abandon},
    {"background", do_background},
    {"big", do_big},
    {"blocks", do_blocks},
    {"busy", do_busy},
    {"chunks", do_chunks},
    {"commands", do_commands},
    {"compaction", do_compaction},
    {"custom", do_custom},
    {"diff", do_diff},
    {"elicit", do_elicit},
    {"every", do_every},
    {"fail", do_fail},
    {"ids", do_ids},
    {"info", do_info},
    {"kill", do_kill},
    {"later", do_later},
    {"long-terminal", do_long_terminal},
    {"long-tool", do_long_tool},
    {"mode", do_mode},
    {"notice", do_notice},
    {"options", do_options},
    {"permission", do_permission},
    {"plan", do_plan},
    {"read", do_read},
    {"relative", do_relative},
    {"say", do_say},
    {"statuses", do_statuses},
    {"stop", do_stop},
    {"stream", do_stream},
    {"stubborn", do_stubborn},
    {"terminal", do_terminal},
    {"think", do_think},
    {"tool", do_tool},
    {"trace", do_trace},
    {"usage", do_usage},
    {"wait", do_wait},
    {"where", do_where},
    {"write", do_write},
};

static line_fn *find_line(const char *line, const char **ret_argument)
{
    size_t len = strcspn(line, " ");
    *ret_argument = line[len] ? line + len + 1 : line + len;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strlen(lines[i].name) == len && memcmp(lines[i].name, line, len) == 0)
            return lines[i].fn;
    return find_command_line(line, len);
}

static enum step do_line(struct work *work, const char *line)
{
    const char *argument;
    line_fn *fn = find_line(line, &argument);
    if (fn)
        return fn(work, argument);
    sayf(work, "no such command: %s\n", line);
    return STEP_NEXT;
}

void go_on(struct work *work)
{
    while (*work->next) {
        char *line = work->next;
        char *newline = strchr(line, '\n');
        work->next = newline ? newline + 1 : line + strlen(line);
        if (newline)
            *newline = '\0';
        if (do_line(work, line) != STEP_NEXT)
            return;
    }
    (void) end(work, ACP_STOP_END_TURN);
}

void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) user;
    struct acp_str text = acp_str_from("");
    if (prompt.count && prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT)
        text = prompt.items[0].text.text;
    /* What is no script is said back, block by block. */
    if (!acp_str_is(text, "echo") && prompt.count == 1) {
        struct work *work = calloc(1, sizeof(*work));
        if (!work)
            abort();
        work->turn = turn;
        work->talk = acp_session_user(acp_turn_session(turn));
        work->script = strndup(text.ptr, text.len);
        work->next = work->script;
        acp_turn_set_user(turn, work);
        go_on(work);
        return;
    }
    for (size_t i = 0; i < prompt.count; i++)
        (void) acp_turn_send_block(turn, &prompt.items[i]);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

void on_cancel(struct acp_turn *turn, void *user)
{
    struct work *work = acp_turn_user(turn);
    (void) user;
    if (work->stubborn)
        work->timer = make_timer(30, 0, on_stubborn_end, work);
    else if (!work->running)
        (void) end(work, ACP_STOP_CANCELLED);
}
