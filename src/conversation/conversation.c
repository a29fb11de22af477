/*
 * conversation.c - the conversation itself: its prompts one after the other, and its end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "conversation/conversation_internal.h"

/* An agent that was asked to cancel says so soon; who wants to wait longer says how long. */
enum { PATIENCE_DEFAULT_MS = 2500 };

char *conversation_copy(struct acp_str text)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    if (text.len)
        (void) memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* ---- Prompts --------------------------------------------------------------------------------- */

static void free_prompt(struct queued_prompt *prompt)
{
    acp_buf_finish(&prompt->body);
    free(prompt);
}

int conversation_prompt(struct conversation *c, struct acp_raw body,
                        const struct prompt_run_options *options, uint64_t *ret_request)
{
    struct queued_prompt *prompt = calloc(1, sizeof(*prompt));
    if (!prompt)
        return ACP_ERR_NOMEM;
    acp_buf_init(&prompt->body, EVENT_MAX_BYTES);
    int err = c->stopping ? ACP_ERR_CLOSED : acp_buf_append(&prompt->body, body.ptr, body.len);
    if (err) {
        free_prompt(prompt);
        return err;
    }
    prompt->request = ++c->requests;
    prompt->options = *options;
    if (c->last_prompt)
        c->last_prompt->next = prompt;
    else
        c->prompts = prompt;
    c->last_prompt = prompt;
    if (ret_request)
        *ret_request = prompt->request;
    conversation_wake(c);
    return 0;
}

static void unlink_prompt(struct conversation *c, struct queued_prompt *prompt)
{
    struct queued_prompt **at = &c->prompts;
    struct queued_prompt *before = NULL;
    while (*at != prompt) {
        before = *at;
        at = &(*at)->next;
    }
    *at = prompt->next;
    if (c->last_prompt == prompt)
        c->last_prompt = before;
}

static void record_end(struct conversation *c, const struct queued_prompt *prompt,
                       struct acp_str stop, enum error_source source, struct acp_str message)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from(stop.ptr ? "stopReason" : "source"));
    acp_json_write_str(&w, stop.ptr ? stop : acp_str_from(error_source_name(source)));
    if (!stop.ptr) {
        if (c->code) {
            acp_json_write_key(&w, acp_str_from("code"));
            acp_json_write_i64(&w, c->code);
        }
        acp_json_write_key(&w, acp_str_from("message"));
        acp_json_write_str(&w, message);
    }
    acp_json_end_object(&w);
    if (!w.err)
        conversation_record(c, stop.ptr ? EVENT_STOP : EVENT_ERROR, prompt->request,
                            acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

void conversation_end_prompt(struct conversation *c, enum prompt_end_kind kind, struct acp_str stop,
                             enum error_source source, struct acp_str message)
{
    struct queued_prompt *prompt = c->prompts;
    struct prompt_end end = {
        .kind = kind, .stop = stop, .message = message, .cancelled = prompt->cancelled};
    end.denied = prompt->denied && !prompt->approved;
    end.unasked = prompt->unasked;
    if (prompt->timed_out)
        end.kind = PROMPT_TIMED_OUT;
    (void) uv_timer_stop(c->patience);
    record_end(c, prompt, stop, source, message);
    struct store_change change = {.running = acp_some_bool(false), .stop_reason = stop};
    if (c->log && prompt->given)
        (void) store_log_change(c->log, &change);
    conversation_show_end(c, prompt->request, &end);
    unlink_prompt(c, prompt);
    free_prompt(prompt);
    conversation_wake(c);
}

/* The sentence is the agent's, or tells how it ended; of what makes no sense, it is ours. */
static void refuse_prompt(struct conversation *c, const struct acp_outcome *outcome)
{
    char sentence[CONVERSATION_MAX_REASON + sizeof("...")];
    struct acp_str why = outcome->why;
    if (why.len > CONVERSATION_MAX_REASON) {
        int len = (int) acp_utf8_cut(why.ptr, why.len, CONVERSATION_MAX_REASON);
        (void) snprintf(sentence, sizeof(sentence), "%.*s...", len, why.ptr);
        why = acp_str_from(sentence);
    }
    if (outcome->err == ACP_ERR_MALFORMED) {
        (void) snprintf(sentence, sizeof(sentence), "%.*s ended the turn with a malformed answer",
                        (int) c->options.agent.len, c->options.agent.ptr);
        why = acp_str_from(sentence);
    }
    conversation_end_prompt(c, PROMPT_REFUSED, (struct acp_str){0}, ERROR_SOURCE_AGENT, why);
}

/* The turn is over, one way or the other. */
static void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) session;
    conversation_drop_questions(c);
    conversation_forget_known(c);
    unsigned more = c->noise > CONVERSATION_MAX_NOISE ? c->noise - CONVERSATION_MAX_NOISE : 0;
    if (more)
        conversation_notice(c, "%.*s did such things %u more time%s", (int) c->options.agent.len,
                            c->options.agent.ptr, more, more == 1 ? "" : "s");
    c->noise = 0;
    c->code = outcome->code;
    if (!outcome->err)
        conversation_end_prompt(c, PROMPT_STOPPED, stop->text, ERROR_SOURCE_AGENT,
                                (struct acp_str){0});
    else if (c->prompts->cancelled || c->stopping)
        conversation_end_prompt(c, PROMPT_STOPPED, acp_str_from("cancelled"), ERROR_SOURCE_USER,
                                (struct acp_str){0});
    else
        refuse_prompt(c, outcome);
}

static void on_patience(uv_timer_t *timer)
{
    struct conversation *c = timer->data;
    struct queued_prompt *prompt = c->prompts;
    if (c->state != CONVERSATION_READY) {
        conversation_fail(c, ERROR_SOURCE_AGENT, 0, "%.*s has not opened a session in time",
                          (int) c->options.agent.len, c->options.agent.ptr);
    } else if (prompt && !prompt->cancelled) {
        prompt->timed_out = true;
        (void) conversation_cancel(c, 0);
    } else {
        /* It was asked to stop, and does not. */
        conversation_stop_agent(c);
    }
}

/* The beginning of the first prompt names a session until the agent does. */
static struct acp_str first_words(struct acp_content_block_list blocks)
{
    enum { MOST = 80 };
    struct acp_str text = {0};
    for (size_t i = 0; i < blocks.count && !text.len; i++)
        if (blocks.items[i].is == ACP_CONTENT_BLOCK_TEXT)
            text = blocks.items[i].text.text;
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (end)
        text.len = (size_t) (end - text.ptr);
    if (text.len > MOST)
        text.len = MOST;
    while (text.len && ((unsigned char) text.ptr[text.len] & 0xC0) == 0x80 && text.len == MOST)
        text.len--;
    return text;
}

static void note_beginning(struct conversation *c, struct acp_content_block_list blocks)
{
    struct store_change change = {.running = acp_some_bool(true)};
    if (!c->log)
        return;
    if (c->untitled)
        change.title = first_words(blocks);
    c->untitled = false;
    (void) store_log_change(c->log, &change);
}

static void give_prompt(struct conversation *c, struct queued_prompt *prompt)
{
    struct acp_arena arena;
    struct acp_content_block_list blocks = {0};
    struct acp_raw body = acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len);
    acp_arena_init(&arena, 0);
    prompt->given = true;
    acp_workspace_set_policy(c->workspace, conversation_policy(c));
    int err = event_read_prompt(body, &arena, &blocks, NULL);
    note_beginning(c, blocks);
    conversation_record(c, EVENT_PROMPT, prompt->request, body);
    if (!err)
        err = acp_client_prompt(c->session, blocks.items, blocks.count, on_turn_end, c);
    if (err) {
        struct acp_str why = acp_client_error_text(acp_agent_process_client(c->process));
        c->code = 0;
        conversation_end_prompt(c, PROMPT_FAILED, (struct acp_str){0}, ERROR_SOURCE_USER,
                                why.len ? why : acp_str_from(acp_err_text(err)));
    } else if (prompt->options.timeout_ms) {
        (void) uv_timer_start(c->patience, on_patience, prompt->options.timeout_ms, 0);
    }
    acp_arena_finish(&arena);
}

bool conversation_cancel(struct conversation *c, uint64_t grace_ms)
{
    struct queued_prompt *prompt = c->prompts;
    if (!prompt || prompt->cancelled)
        return prompt != NULL;
    prompt->cancelled = true;
    if (prompt->given && c->session) {
        (void) acp_client_cancel(c->session);
        (void) uv_timer_start(c->patience, on_patience, grace_ms ? grace_ms : PATIENCE_DEFAULT_MS,
                              0);
    }
    conversation_wake(c);
    return true;
}

bool conversation_withdraw(struct conversation *c, uint64_t request)
{
    struct queued_prompt *prompt = c->prompts;
    while (prompt && prompt->request != request)
        prompt = prompt->next;
    if (!prompt || prompt->given)
        return false;
    unlink_prompt(c, prompt);
    free_prompt(prompt);
    return true;
}

uint64_t conversation_request(const struct conversation *c)
{
    return c->prompts && c->prompts->given ? c->prompts->request : 0;
}

size_t conversation_waiting(const struct conversation *c)
{
    size_t count = 0;
    for (const struct queued_prompt *p = c->prompts; p; p = p->next)
        count += !p->given;
    return count;
}

size_t conversation_waiting_bytes(const struct conversation *c)
{
    size_t bytes = 0;
    for (const struct queued_prompt *p = c->prompts; p; p = p->next)
        bytes += p->given ? 0 : p->body.len;
    return bytes;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void on_closed_log(void *user)
{
    struct conversation *c = user;
    c->writer = NULL;
    conversation_wake(c);
}

/* Everything is done: the owner is told once. */
static void step_stopping(struct conversation *c)
{
    if (c->process) {
        if (c->state != CONVERSATION_ENDING)
            conversation_stop_agent(c);
        return;
    }
    while (c->prompts)
        conversation_end_prompt(c, PROMPT_STOPPED, acp_str_from("cancelled"), ERROR_SOURCE_USER,
                                (struct acp_str){0});
    if (!conversation_show(c))
        return; /* a log that is closed does not tell any more what it has kept */
    if (c->log) {
        struct store_change change = {.closed = acp_some_i64(store_now())};
        if (c->options.close_session)
            (void) store_log_change(c->log, &change);
        store_log_close(c->log);
        c->log = NULL;
    }
    if (c->writer && !c->log_closing) {
        c->log_closing = true;
        store_writer_close(c->writer, on_closed_log, c);
    }
    if (c->writer || c->told_stopped)
        return;
    c->told_stopped = true;
    if (c->handler.stopped)
        c->handler.stopped(c, c->user);
}

/* A prompt that was cancelled before the agent had it, and one that will never reach it. */
static bool drop_first(struct conversation *c, struct queued_prompt *prompt)
{
    if (prompt->given)
        return false;
    if (prompt->cancelled) {
        conversation_end_prompt(c, PROMPT_STOPPED, acp_str_from("cancelled"), ERROR_SOURCE_USER,
                                (struct acp_str){0});
        return true;
    }
    if (c->failure) {
        char *failure = c->failure;
        c->failure = NULL;
        conversation_record(c, EVENT_PROMPT, prompt->request,
                            acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len));
        conversation_end_prompt(c, PROMPT_FAILED, (struct acp_str){0}, c->error_source,
                                acp_str_from(failure));
        free(failure);
        return true;
    }
    return false;
}

/* An agent that has died is not given anything; the next one is, once this one's end is told. */
static bool is_ready(const struct conversation *c)
{
    return c->state == CONVERSATION_READY &&
           acp_process_is_running(acp_agent_process_process(c->process));
}

static void on_step(uv_timer_t *timer)
{
    struct conversation *c = timer->data;
    (void) conversation_show(c);
    if (c->stopping) {
        step_stopping(c);
        return;
    }
    if (c->log_opening)
        return;
    while (c->prompts && drop_first(c, c->prompts))
        ;
    bool wanted = c->prompts || c->settings;
    if (wanted && c->state == CONVERSATION_DOWN)
        conversation_start_agent(c);
    if (c->state == CONVERSATION_SETTING && !conversation_apply_setting(c)) {
        (void) uv_timer_stop(c->patience);
        c->state = CONVERSATION_READY;
    }
    if (is_ready(c) && c->settings)
        (void) conversation_apply_setting(c);
    if (is_ready(c) && c->prompts && !c->prompts->given)
        give_prompt(c, c->prompts);
    (void) conversation_show(c);
}

void conversation_wake(struct conversation *c)
{
    if (!uv_is_active((uv_handle_t *) c->step))
        (void) uv_timer_start(c->step, on_step, 0, 0);
}

void conversation_pause(struct conversation *c, bool pause)
{
    c->paused = pause;
    conversation_regulate(c);
}

void conversation_stop(struct conversation *c)
{
    c->stopping = true;
    conversation_wake(c);
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

static uv_timer_t *new_timer(struct conversation *c)
{
    uv_timer_t *timer = malloc(sizeof(*timer));
    if (timer) {
        (void) uv_timer_init(c->loop, timer);
        timer->data = c;
    }
    return timer;
}

int conversation_new(uv_loop_t *loop, const struct conversation_options *options,
                     const struct conversation_handler *handler, void *user,
                     struct conversation **ret)
{
    struct conversation *c = calloc(1, sizeof(*c));
    if (!c)
        return ACP_ERR_NOMEM;
    c->loop = loop;
    c->options = *options;
    c->handler = *handler;
    c->user = user;
    acp_map_init(&c->tool_kinds, (uint64_t) uv_hrtime());
    c->step = new_timer(c);
    c->patience = new_timer(c);
    if (options->agent_session.len)
        c->agent_session = conversation_copy(options->agent_session);
    int err = c->step && c->patience ? conversation_make_workspace(c) : ACP_ERR_NOMEM;
    if (!err)
        err = conversation_open_log(c);
    if (err) {
        conversation_free(c);
        return err;
    }
    *ret = c;
    return 0;
}

void conversation_free(struct conversation *c)
{
    if (!c)
        return;
    c->handler.question_gone = NULL;  /* the owner, who frees it, needs no word of this */
    acp_workspace_free(c->workspace); /* answers what the agent still waits for */
    acp_agent_process_free(c->process);
    if (c->writer && !c->log_closing)
        store_writer_close(c->writer, NULL, NULL);
    if (c->step)
        uv_close((uv_handle_t *) c->step, on_timer_closed);
    if (c->patience)
        uv_close((uv_handle_t *) c->patience, on_timer_closed);
    while (c->prompts) {
        struct queued_prompt *prompt = c->prompts;
        c->prompts = prompt->next;
        free_prompt(prompt);
    }
    conversation_drop_questions(c);
    conversation_forget_settings(c);
    conversation_forget_options(c);
    conversation_forget_items(c);
    conversation_forget_known(c);
    acp_map_finish(&c->tool_kinds);
    free(c->agent_session);
    free(c->failure);
    free(c);
}

int conversation_agent_pid(const struct conversation *c)
{
    return c->process ? acp_process_pid(acp_agent_process_process(c->process)) : 0;
}

struct acp_str conversation_agent_session(const struct conversation *c)
{
    return c->agent_session ? acp_str_from(c->agent_session) : (struct acp_str){0};
}
