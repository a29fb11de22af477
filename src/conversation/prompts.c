/* prompts.c - the queue of prompts, and the turns that they become. */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "conversation/conversation_internal.h"
#include "json/members.h"

/* An agent that was asked to cancel does so soon; a caller that wants to wait longer says so. */
enum { CANCEL_DEFAULT_MS = 2500 };

static const struct acp_str none;

/* ---- The queue ------------------------------------------------------------------------------- */

static void free_prompt(struct queued_prompt *prompt)
{
    acp_buf_finish(&prompt->body);
    free(prompt->end);
    free(prompt);
}

void conversation_free_prompts(struct conversation *c)
{
    while (c->prompts) {
        struct queued_prompt *prompt = c->prompts;
        c->prompts = prompt->next;
        free_prompt(prompt);
    }
    c->last_prompt = NULL;
}

int conversation_prompt(struct conversation *c, struct acp_raw body,
                        const struct prompt_options *options, uint64_t *ret_turn)
{
    struct queued_prompt *prompt = calloc(1, sizeof(*prompt));
    if (!prompt)
        return ACP_ERR_NOMEM;
    acp_buf_init(&prompt->body, EVENT_MAX_BYTES);
    prompt->end = conversation_spare_end();
    int err = c->stopping    ? ACP_ERR_CLOSED
              : !prompt->end ? ACP_ERR_NOMEM
                             : acp_buf_append(&prompt->body, body.ptr, body.len);
    if (err) {
        free_prompt(prompt);
        return err;
    }
    prompt->turn = ++c->turns;
    prompt->options = *options;
    if (c->last_prompt)
        c->last_prompt->next = prompt;
    else
        c->prompts = prompt;
    c->last_prompt = prompt;
    if (ret_turn)
        *ret_turn = prompt->turn;
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

bool conversation_withdraw(struct conversation *c, uint64_t turn)
{
    struct queued_prompt *prompt = c->prompts;
    while (prompt && prompt->turn != turn)
        prompt = prompt->next;
    if (!prompt || prompt->state != PROMPT_QUEUED)
        return false;
    unlink_prompt(c, prompt);
    free_prompt(prompt);
    return true;
}

uint64_t conversation_turn(const struct conversation *c)
{
    return c->prompts && c->prompts->state == PROMPT_RUNNING ? c->prompts->turn : 0;
}

size_t conversation_queued(const struct conversation *c)
{
    size_t count = 0;
    for (const struct queued_prompt *p = c->prompts; p; p = p->next)
        count += p->state == PROMPT_QUEUED;
    return count;
}

size_t conversation_queued_bytes(const struct conversation *c)
{
    size_t bytes = 0;
    for (const struct queued_prompt *p = c->prompts; p; p = p->next)
        bytes += p->state == PROMPT_QUEUED ? p->body.len : 0;
    return bytes;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* Members of the event that say how the turn ended, besides what the agent said. */
static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"denied", offsetof(struct prompt_end, denied)},
    {"unasked", offsetof(struct prompt_end, unasked)},
    {"cancelled", offsetof(struct prompt_end, cancelled)},
};

/* As the member "failure"; stopped and refused prompts have none. */
static const char *const failures[] = {
    [PROMPT_FAILED] = "notSent", [PROMPT_TIMED_OUT] = "timedOut"};

static void write_end(struct acp_json_writer *w, const struct prompt_end *end,
                      enum error_source source, int64_t code, struct acp_raw usage)
{
    acp_json_begin_object(w);
    if (end->stop.ptr) {
        acp_json_put_str(w, "stopReason", end->stop);
    } else {
        acp_json_put_str(w, "source", acp_str_from(error_source_name(source)));
        if (code)
            acp_json_put_i64(w, "code", code);
        acp_json_put_str(w, "message", end->message);
    }
    if ((size_t) end->kind < sizeof(failures) / sizeof(failures[0]) && failures[end->kind])
        acp_json_put_str(w, "failure", acp_str_from(failures[end->kind]));
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (!*(const bool *) ((const char *) end + flags[i].offset))
            continue;
        acp_json_put_bool(w, flags[i].name, true);
    }
    if (usage.len) {
        acp_json_write_key(w, acp_str_from("usage"));
        acp_json_write_raw(w, usage);
    }
    acp_json_end_object(w);
}

bool prompt_end_read(const struct session_event *event, struct acp_arena *arena,
                     struct prompt_end *ret)
{
    struct prompt_end end = {.kind = event->kind == EVENT_STOP ? PROMPT_STOPPED : PROMPT_REFUSED};
    struct acp_str failure = {0};
    if (event->kind != EVENT_STOP && event->kind != EVENT_ERROR)
        return false;
    (void) acp_json_member_str(event->body, "stopReason", arena, &end.stop);
    (void) acp_json_member_str(event->body, "message", arena, &end.message);
    (void) acp_json_member_str(event->body, "failure", arena, &failure);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (failures[i] && acp_str_is(failure, failures[i]))
            end.kind = (enum prompt_end_kind) i;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        (void) acp_json_member_bool(event->body, flags[i].name,
                                    (bool *) ((char *) &end + flags[i].offset));
    *ret = end;
    return true;
}

void conversation_end_prompt(struct conversation *c, enum prompt_end_kind kind, struct acp_str stop,
                             enum error_source source, struct acp_str message)
{
    struct queued_prompt *prompt = c->prompts;
    struct prompt_end end = {
        .kind = prompt->cancelled == CANCELLED_BY_TIMEOUT ? PROMPT_TIMED_OUT : kind,
        .stop = stop,
        .message = message,
        .denied = prompt->denied && !prompt->approved,
        .unasked = prompt->unasked,
        .cancelled = prompt->cancelled != NOT_CANCELLED,
    };
    struct store_change change = {.running = acp_some_bool(false), .stop_reason = stop};
    struct acp_buf body;
    struct acp_json_writer w;
    (void) uv_timer_stop(c->deadline);
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    write_end(&w, &end, source, c->code, c->turn_usage);
    c->turn_usage = (struct acp_raw){0};
    conversation_add_end(c, stop.ptr ? EVENT_STOP : EVENT_ERROR, prompt,
                         acp_raw_n(w.err ? NULL : body.data + body.start, body.len));
    acp_buf_finish(&body);
    if (c->log && prompt->state == PROMPT_RUNNING)
        (void) store_log_change(c->log, &change);
    if (c->state == CONVERSATION_RUNNING || c->state == CONVERSATION_CANCELLING)
        conversation_set_state(c, CONVERSATION_IDLE);
    unlink_prompt(c, prompt);
    free_prompt(prompt);
    conversation_wake(c);
}

static void end_cancelled(struct conversation *c)
{
    conversation_end_prompt(c, PROMPT_STOPPED, acp_str_from("cancelled"), ERROR_SOURCE_USER, none);
}

void conversation_end_all_prompts(struct conversation *c)
{
    while (c->prompts)
        end_cancelled(c);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* The sentence is the agent's, or tells how it ended; of a malformed answer, it is ours. */
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
        (void) snprintf(sentence, sizeof(sentence), "%.*s ended the turn with a malformed response",
                        (int) c->options.agent.len, c->options.agent.ptr);
        why = acp_str_from(sentence);
    }
    char *advised = conversation_advise(c, outcome, why);
    conversation_end_prompt(c, PROMPT_REFUSED, none, ERROR_SOURCE_AGENT,
                            advised ? acp_str_from(advised) : why);
    free(advised);
}

/* The tokens of the turn, which agents tell beside the stop reason though that is unstable. */
static struct acp_raw find_usage(const struct acp_outcome *outcome)
{
    const struct acp_prompt_response *response = outcome->value;
    if (outcome->err || !response)
        return (struct acp_raw){0};
    for (const struct acp_unknown *member = response->unknown; member; member = member->next)
        if (acp_str_is(member->key, "usage") && member->value.len <= CONVERSATION_MAX_USAGE &&
            member->value.ptr[0] == '{')
            return member->value;
    return (struct acp_raw){0};
}

static void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) session;
    conversation_drop_questions(c);
    conversation_forget_tools(c);
    unsigned more = c->noise > CONVERSATION_MAX_NOISE ? c->noise - CONVERSATION_MAX_NOISE : 0;
    if (more)
        conversation_notice(c, "%.*s broke the protocol %u more time%s", (int) c->options.agent.len,
                            c->options.agent.ptr, more, more == 1 ? "" : "s");
    c->noise = 0;
    c->code = outcome->code;
    c->turn_usage = find_usage(outcome);
    if (!outcome->err)
        conversation_forget_stderr(c);
    if (!outcome->err)
        conversation_end_prompt(c, PROMPT_STOPPED, stop->text, ERROR_SOURCE_AGENT, none);
    else if (c->prompts->cancelled || c->stopping)
        end_cancelled(c);
    else
        refuse_prompt(c, outcome);
}

static bool cancel(struct conversation *c, enum cancel_reason reason, uint64_t grace_ms);

/* The turn takes too long, or its cancellation does. */
static void on_deadline(uv_timer_t *timer)
{
    struct conversation *c = timer->data;
    if (c->state == CONVERSATION_RUNNING)
        (void) cancel(c, CANCELLED_BY_TIMEOUT, 0);
    else
        conversation_stop_agent(c);
}

static bool cancel(struct conversation *c, enum cancel_reason reason, uint64_t grace_ms)
{
    struct queued_prompt *prompt = c->prompts;
    if (!prompt || prompt->cancelled)
        return prompt != NULL;
    prompt->cancelled = reason;
    if (c->state == CONVERSATION_RUNNING) {
        conversation_set_state(c, CONVERSATION_CANCELLING);
        (void) uv_timer_start(c->deadline, on_deadline, grace_ms ? grace_ms : CANCEL_DEFAULT_MS, 0);
        (void) acp_client_cancel(c->session);
        conversation_cancel_elicitations(c);
    }
    conversation_wake(c);
    return true;
}

bool conversation_cancel(struct conversation *c, uint64_t grace_ms)
{
    return cancel(c, CANCELLED_BY_PROGRAM, grace_ms);
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
        text.len = acp_utf8_cut(text.ptr, text.len, MOST);
    return text;
}

static void note_in_row(struct conversation *c, struct acp_content_block_list blocks)
{
    struct store_change change = {.running = acp_some_bool(true)};
    if (!c->log)
        return;
    if (c->untitled)
        change.title = first_words(blocks);
    c->untitled = false;
    (void) store_log_change(c->log, &change);
}

void conversation_run_prompt(struct conversation *c)
{
    struct queued_prompt *prompt = c->prompts;
    struct acp_arena arena;
    struct acp_content_block_list blocks = {0};
    struct acp_raw body = acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len);
    acp_arena_init(&arena, 0);
    prompt->state = PROMPT_RUNNING;
    conversation_set_state(c, CONVERSATION_RUNNING);
    acp_workspace_set_policy(c->workspace, conversation_policy(c));
    int err = event_read_prompt(body, &arena, &blocks, NULL);
    note_in_row(c, blocks);
    conversation_add_event(c, EVENT_PROMPT, prompt->turn, body);
    struct acp_content_block *adapted =
        acp_arena_alloc(&arena, (blocks.count + 1) * sizeof(*adapted));
    if (!err && !adapted)
        err = ACP_ERR_NOMEM;
    if (!err) {
        conversation_adapt_blocks(c, blocks, adapted);
        err = acp_client_prompt(c->session, adapted, blocks.count, on_turn_end, c);
    }
    if (err) {
        struct acp_str why = acp_client_error_text(conversation_client(c));
        c->code = 0;
        conversation_end_prompt(c, PROMPT_FAILED, none, ERROR_SOURCE_USER,
                                why.len ? why : acp_str_from(acp_err_text(err)));
    } else if (prompt->options.timeout_ms) {
        (void) uv_timer_start(c->deadline, on_deadline, prompt->options.timeout_ms, 0);
    }
    acp_arena_finish(&arena);
}

/* The first prompt cannot be run; why is in the conversation. */
static void fail_first(struct conversation *c)
{
    struct queued_prompt *prompt = c->prompts;
    char *failure = c->failure;
    c->failure = NULL;
    conversation_add_event(c, EVENT_PROMPT, prompt->turn,
                           acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len));
    conversation_end_prompt(c, PROMPT_FAILED, none, c->source, acp_str_from(failure));
    free(failure);
}

void conversation_drop_prompts(struct conversation *c)
{
    while (c->prompts && c->prompts->state == PROMPT_QUEUED) {
        enum cancel_reason cancelled = c->prompts->cancelled;
        if (c->failure && cancelled != CANCELLED_BY_PROGRAM)
            fail_first(c);
        else if (cancelled)
            end_cancelled(c);
        else
            return;
    }
}
