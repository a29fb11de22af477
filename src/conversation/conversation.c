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

char *talk_copy(struct acp_str text)
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

static void free_prompt(struct talk_prompt *prompt)
{
    acp_buf_finish(&prompt->body);
    free(prompt);
}

int talk_prompt(struct talk *talk, struct acp_raw body, const struct talk_prompt_options *options,
                uint64_t *ret_request)
{
    struct talk_prompt *prompt = calloc(1, sizeof(*prompt));
    if (!prompt)
        return ACP_ERR_NOMEM;
    acp_buf_init(&prompt->body, RECORD_MAX);
    int err = talk->stopping ? ACP_ERR_CLOSED : acp_buf_append(&prompt->body, body.ptr, body.len);
    if (err) {
        free_prompt(prompt);
        return err;
    }
    prompt->request = ++talk->requests;
    prompt->options = *options;
    if (talk->last_prompt)
        talk->last_prompt->next = prompt;
    else
        talk->prompts = prompt;
    talk->last_prompt = prompt;
    if (ret_request)
        *ret_request = prompt->request;
    talk_wake(talk);
    return 0;
}

static void unlink_prompt(struct talk *talk, struct talk_prompt *prompt)
{
    struct talk_prompt **at = &talk->prompts;
    struct talk_prompt *before = NULL;
    while (*at != prompt) {
        before = *at;
        at = &(*at)->next;
    }
    *at = prompt->next;
    if (talk->last_prompt == prompt)
        talk->last_prompt = before;
}

static void record_end(struct talk *talk, const struct talk_prompt *prompt, struct acp_str stop,
                       enum record_whose whose, struct acp_str message)
{
    static const char *const names[] = {
        [WHOSE_ACP] = "acp", [WHOSE_AGENT] = "agent", [WHOSE_USER] = "user"};
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, RECORD_MAX);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from(stop.ptr ? "stopReason" : "whose"));
    acp_json_write_str(&w, stop.ptr ? stop : acp_str_from(names[whose]));
    if (!stop.ptr) {
        if (talk->code) {
            acp_json_write_key(&w, acp_str_from("code"));
            acp_json_write_i64(&w, talk->code);
        }
        acp_json_write_key(&w, acp_str_from("message"));
        acp_json_write_str(&w, message);
    }
    acp_json_end_object(&w);
    if (!w.err)
        talk_record(talk, stop.ptr ? RECORD_STOP : RECORD_ERROR, prompt->request,
                    acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

void talk_end_prompt(struct talk *talk, enum talk_end_kind kind, struct acp_str stop,
                     enum record_whose whose, struct acp_str message)
{
    struct talk_prompt *prompt = talk->prompts;
    struct talk_end end = {
        .kind = kind, .stop = stop, .message = message, .cancelled = prompt->cancelled};
    end.denied = prompt->denied && !prompt->approved;
    end.unasked = prompt->unasked;
    if (prompt->timed_out)
        end.kind = TALK_TIMEOUT;
    (void) uv_timer_stop(talk->patience);
    record_end(talk, prompt, stop, whose, message);
    struct store_change change = {.running = acp_some_bool(false), .stop_reason = stop};
    if (talk->log && prompt->given)
        (void) store_log_change(talk->log, &change);
    talk_show_end(talk, prompt->request, &end);
    unlink_prompt(talk, prompt);
    free_prompt(prompt);
    talk_wake(talk);
}

/* The sentence is the agent's, or tells how it ended; of what makes no sense, it is ours. */
static void refuse_prompt(struct talk *talk, const struct acp_outcome *outcome)
{
    char sentence[TALK_MAX_REASON + sizeof("...")];
    struct acp_str why = outcome->why;
    if (why.len > TALK_MAX_REASON) {
        int len = (int) acp_utf8_cut(why.ptr, why.len, TALK_MAX_REASON);
        (void) snprintf(sentence, sizeof(sentence), "%.*s...", len, why.ptr);
        why = acp_str_from(sentence);
    }
    if (outcome->err == ACP_ERR_MALFORMED) {
        (void) snprintf(sentence, sizeof(sentence), "%.*s ended the turn with a malformed answer",
                        (int) talk->options.agent.len, talk->options.agent.ptr);
        why = acp_str_from(sentence);
    }
    talk_end_prompt(talk, TALK_REFUSED, (struct acp_str){0}, WHOSE_AGENT, why);
}

/* The turn is over, one way or the other. */
static void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    struct talk *talk = user;
    (void) session;
    talk_drop_questions(talk);
    talk_forget_known(talk);
    unsigned more = talk->noise > TALK_MAX_NOISE ? talk->noise - TALK_MAX_NOISE : 0;
    if (more)
        talk_notice(talk, "%.*s did such things %u more time%s", (int) talk->options.agent.len,
                    talk->options.agent.ptr, more, more == 1 ? "" : "s");
    talk->noise = 0;
    talk->code = outcome->code;
    if (!outcome->err)
        talk_end_prompt(talk, TALK_STOPPED, stop->text, WHOSE_AGENT, (struct acp_str){0});
    else if (talk->prompts->cancelled || talk->stopping)
        talk_end_prompt(talk, TALK_STOPPED, acp_str_from("cancelled"), WHOSE_USER,
                        (struct acp_str){0});
    else
        refuse_prompt(talk, outcome);
}

static void on_patience(uv_timer_t *timer)
{
    struct talk *talk = timer->data;
    struct talk_prompt *prompt = talk->prompts;
    if (talk->state != TALK_READY) {
        talk_fail(talk, WHOSE_AGENT, 0, "%.*s has not opened a session in time",
                  (int) talk->options.agent.len, talk->options.agent.ptr);
    } else if (prompt && !prompt->cancelled) {
        prompt->timed_out = true;
        (void) talk_cancel(talk, 0);
    } else {
        /* It was asked to stop, and does not. */
        talk_stop_agent(talk);
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

static void note_beginning(struct talk *talk, struct acp_content_block_list blocks)
{
    struct store_change change = {.running = acp_some_bool(true)};
    if (!talk->log)
        return;
    if (talk->untitled)
        change.title = first_words(blocks);
    talk->untitled = false;
    (void) store_log_change(talk->log, &change);
}

static void give_prompt(struct talk *talk, struct talk_prompt *prompt)
{
    struct acp_arena arena;
    struct acp_content_block_list blocks = {0};
    struct acp_raw body = acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len);
    acp_arena_init(&arena, 0);
    prompt->given = true;
    acp_workspace_set_policy(talk->workspace, talk_policy(talk));
    int err = record_read_prompt(body, &arena, &blocks, NULL);
    note_beginning(talk, blocks);
    talk_record(talk, RECORD_PROMPT, prompt->request, body);
    if (!err)
        err = acp_client_prompt(talk->session, blocks.items, blocks.count, on_turn_end, talk);
    if (err) {
        struct acp_str why = acp_client_error_text(acp_agent_process_client(talk->process));
        talk->code = 0;
        talk_end_prompt(talk, TALK_FAILED, (struct acp_str){0}, WHOSE_USER,
                        why.len ? why : acp_str_from(acp_err_text(err)));
    } else if (prompt->options.timeout_ms) {
        (void) uv_timer_start(talk->patience, on_patience, prompt->options.timeout_ms, 0);
    }
    acp_arena_finish(&arena);
}

bool talk_cancel(struct talk *talk, uint64_t grace_ms)
{
    struct talk_prompt *prompt = talk->prompts;
    if (!prompt || prompt->cancelled)
        return prompt != NULL;
    prompt->cancelled = true;
    if (prompt->given && talk->session) {
        (void) acp_client_cancel(talk->session);
        (void) uv_timer_start(talk->patience, on_patience,
                              grace_ms ? grace_ms : PATIENCE_DEFAULT_MS, 0);
    }
    talk_wake(talk);
    return true;
}

bool talk_withdraw(struct talk *talk, uint64_t request)
{
    struct talk_prompt *prompt = talk->prompts;
    while (prompt && prompt->request != request)
        prompt = prompt->next;
    if (!prompt || prompt->given)
        return false;
    unlink_prompt(talk, prompt);
    free_prompt(prompt);
    return true;
}

uint64_t talk_request(const struct talk *talk)
{
    return talk->prompts && talk->prompts->given ? talk->prompts->request : 0;
}

size_t talk_waiting(const struct talk *talk)
{
    size_t count = 0;
    for (const struct talk_prompt *p = talk->prompts; p; p = p->next)
        count += !p->given;
    return count;
}

size_t talk_waiting_bytes(const struct talk *talk)
{
    size_t bytes = 0;
    for (const struct talk_prompt *p = talk->prompts; p; p = p->next)
        bytes += p->given ? 0 : p->body.len;
    return bytes;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void on_closed_log(void *user)
{
    struct talk *talk = user;
    talk->writer = NULL;
    talk_wake(talk);
}

/* Everything is done: the owner is told once. */
static void step_stopping(struct talk *talk)
{
    if (talk->process) {
        if (talk->state != TALK_ENDING)
            talk_stop_agent(talk);
        return;
    }
    while (talk->prompts)
        talk_end_prompt(talk, TALK_STOPPED, acp_str_from("cancelled"), WHOSE_USER,
                        (struct acp_str){0});
    if (!talk_show(talk))
        return; /* a log that is closed does not tell any more what it has kept */
    if (talk->log) {
        struct store_change change = {.closed = acp_some_i64(store_now())};
        if (talk->options.close_session)
            (void) store_log_change(talk->log, &change);
        store_log_close(talk->log);
        talk->log = NULL;
    }
    if (talk->writer && !talk->log_closing) {
        talk->log_closing = true;
        store_writer_close(talk->writer, on_closed_log, talk);
    }
    if (talk->writer || talk->told_stopped)
        return;
    talk->told_stopped = true;
    if (talk->handler.stopped)
        talk->handler.stopped(talk, talk->user);
}

/* A prompt that was cancelled before the agent had it, and one that will never reach it. */
static bool drop_first(struct talk *talk, struct talk_prompt *prompt)
{
    if (prompt->given)
        return false;
    if (prompt->cancelled) {
        talk_end_prompt(talk, TALK_STOPPED, acp_str_from("cancelled"), WHOSE_USER,
                        (struct acp_str){0});
        return true;
    }
    if (talk->failure) {
        char *failure = talk->failure;
        talk->failure = NULL;
        talk_record(talk, RECORD_PROMPT, prompt->request,
                    acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len));
        talk_end_prompt(talk, TALK_FAILED, (struct acp_str){0}, talk->whose, acp_str_from(failure));
        free(failure);
        return true;
    }
    return false;
}

/* An agent that has died is not given anything; the next one is, once this one's end is told. */
static bool is_ready(const struct talk *talk)
{
    return talk->state == TALK_READY &&
           acp_process_is_running(acp_agent_process_process(talk->process));
}

static void on_step(uv_timer_t *timer)
{
    struct talk *talk = timer->data;
    (void) talk_show(talk);
    if (talk->stopping) {
        step_stopping(talk);
        return;
    }
    if (talk->log_opening)
        return;
    while (talk->prompts && drop_first(talk, talk->prompts))
        ;
    bool wanted = talk->prompts || talk->settings;
    if (wanted && talk->state == TALK_DOWN)
        talk_start_agent(talk);
    if (talk->state == TALK_SETTING && !talk_apply_setting(talk)) {
        (void) uv_timer_stop(talk->patience);
        talk->state = TALK_READY;
    }
    if (is_ready(talk) && talk->settings)
        (void) talk_apply_setting(talk);
    if (is_ready(talk) && talk->prompts && !talk->prompts->given)
        give_prompt(talk, talk->prompts);
    (void) talk_show(talk);
}

void talk_wake(struct talk *talk)
{
    if (!uv_is_active((uv_handle_t *) talk->step))
        (void) uv_timer_start(talk->step, on_step, 0, 0);
}

void talk_pause(struct talk *talk, bool pause)
{
    talk->paused = pause;
    talk_regulate(talk);
}

void talk_stop(struct talk *talk)
{
    talk->stopping = true;
    talk_wake(talk);
}

/* ---- Making one ------------------------------------------------------------------------------ */

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

static uv_timer_t *new_timer(struct talk *talk)
{
    uv_timer_t *timer = malloc(sizeof(*timer));
    if (timer) {
        (void) uv_timer_init(talk->loop, timer);
        timer->data = talk;
    }
    return timer;
}

int talk_new(uv_loop_t *loop, const struct talk_options *options,
             const struct talk_handler *handler, void *user, struct talk **ret)
{
    struct talk *talk = calloc(1, sizeof(*talk));
    if (!talk)
        return ACP_ERR_NOMEM;
    talk->loop = loop;
    talk->options = *options;
    talk->handler = *handler;
    talk->user = user;
    acp_map_init(&talk->tool_kinds, (uint64_t) uv_hrtime());
    talk->step = new_timer(talk);
    talk->patience = new_timer(talk);
    if (options->agent_session.len)
        talk->agent_session = talk_copy(options->agent_session);
    int err = talk->step && talk->patience ? talk_make_workspace(talk) : ACP_ERR_NOMEM;
    if (!err)
        err = talk_open_log(talk);
    if (err) {
        talk_free(talk);
        return err;
    }
    *ret = talk;
    return 0;
}

void talk_free(struct talk *talk)
{
    if (!talk)
        return;
    talk->handler.question_gone = NULL;  /* the owner, who frees it, needs no word of this */
    acp_workspace_free(talk->workspace); /* answers what the agent still waits for */
    acp_agent_process_free(talk->process);
    if (talk->writer && !talk->log_closing)
        store_writer_close(talk->writer, NULL, NULL);
    if (talk->step)
        uv_close((uv_handle_t *) talk->step, on_timer_closed);
    if (talk->patience)
        uv_close((uv_handle_t *) talk->patience, on_timer_closed);
    while (talk->prompts) {
        struct talk_prompt *prompt = talk->prompts;
        talk->prompts = prompt->next;
        free_prompt(prompt);
    }
    talk_drop_questions(talk);
    talk_forget_settings(talk);
    talk_forget_options(talk);
    talk_forget_items(talk);
    talk_forget_known(talk);
    acp_map_finish(&talk->tool_kinds);
    free(talk->agent_session);
    free(talk->failure);
    free(talk);
}

int talk_agent_pid(const struct talk *talk)
{
    return talk->process ? acp_process_pid(acp_agent_process_process(talk->process)) : 0;
}

struct acp_str talk_agent_session(const struct talk *talk)
{
    return talk->agent_session ? acp_str_from(talk->agent_session) : (struct acp_str){0};
}
