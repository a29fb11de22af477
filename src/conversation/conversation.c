/* conversation.c - creating a conversation, its states, and the steps that it moves in. */
#include "conversation/conversation.h"

#include <assert.h>
#include <stdlib.h>

#include "conversation/conversation_internal.h"

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

/* ---- States ---------------------------------------------------------------------------------- */

#define FROM(state) (1u << CONVERSATION_##state)

/* The states that each can follow. */
static const struct {
    const char *name;
    unsigned from;
} states[CONVERSATION_STATES] = {
    [CONVERSATION_DISCONNECTED] = {"disconnected", ~0u},
    [CONVERSATION_INITIALIZING] = {"initializing", FROM(DISCONNECTED)},
    [CONVERSATION_LOGGING_IN] = {"logging in", FROM(INITIALIZING)},
    [CONVERSATION_OPENING] = {"opening", FROM(INITIALIZING) | FROM(LOGGING_IN) | FROM(LOADING)},
    [CONVERSATION_LOADING] = {"loading", FROM(OPENING)},
    [CONVERSATION_SETTING] = {"setting", FROM(OPENING) | FROM(LOADING)},
    [CONVERSATION_IDLE] = {"idle", FROM(SETTING) | FROM(RUNNING) | FROM(CANCELLING)},
    [CONVERSATION_RUNNING] = {"running", FROM(IDLE)},
    [CONVERSATION_CANCELLING] = {"cancelling", FROM(RUNNING)},
    [CONVERSATION_ENDING] = {"ending", ~FROM(DISCONNECTED)},
};

const char *conversation_state_name(enum conversation_state state)
{
    return states[state].name;
}

void conversation_set_state(struct conversation *c, enum conversation_state state)
{
    assert(states[state].from & (1u << c->state));
    c->state = state;
}

enum conversation_state conversation_get_state(const struct conversation *c)
{
    return c->state;
}

bool conversation_is_open(const struct conversation *c)
{
    return c->state == CONVERSATION_IDLE || c->state == CONVERSATION_RUNNING ||
           c->state == CONVERSATION_CANCELLING;
}

void conversation_pause_agent(struct conversation *c, unsigned reason, bool pause)
{
    unsigned paused = pause ? c->paused | reason : c->paused & ~reason;
    bool changed = !paused != !c->paused;
    c->paused = paused;
    if (changed && c->connection)
        c->connection->class->pause(c->connection, paused != 0);
}

struct acp_client *conversation_client(const struct conversation *c)
{
    return c->connection->class->client(c->connection);
}

int conversation_agent_pid(const struct conversation *c)
{
    return c->connection ? c->connection->class->pid(c->connection) : 0;
}

struct acp_str conversation_agent_session(const struct conversation *c)
{
    return c->agent_session ? acp_str_from(c->agent_session) : (struct acp_str){0};
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Everything is done: the program is told once. */
static void step_stopping(struct conversation *c)
{
    if (c->connection) {
        if (c->state != CONVERSATION_ENDING)
            conversation_stop_agent(c);
        return;
    }
    conversation_end_all_prompts(c);
    if (c->stopped || !conversation_deliver(c))
        return; /* a log that is closed does not report any more what is durable */
    struct store_change change = {.closed = acp_some_i64(store_now())};
    if (c->log && c->options.close_session)
        (void) store_log_change(c->log, &change);
    conversation_close_log(c);
    c->stopped = true;
    if (c->handler->stopped)
        c->handler->stopped(c, c->user);
}

/* An agent that has died gets no prompt; the next one does, after this one's end is known. */
static bool is_alive(const struct conversation *c)
{
    return conversation_is_open(c) && c->connection->class->is_alive(c->connection);
}

static void step_open(struct conversation *c)
{
    bool wanted = c->prompts || c->settings;
    if (wanted && c->state == CONVERSATION_DISCONNECTED)
        conversation_connect(c);
    if (c->state == CONVERSATION_SETTING && !conversation_apply_setting(c)) {
        (void) uv_timer_stop(c->deadline);
        conversation_set_state(c, CONVERSATION_IDLE);
    }
    if (is_alive(c) && c->settings)
        (void) conversation_apply_setting(c);
    if (is_alive(c) && c->prompts && c->prompts->state == PROMPT_QUEUED)
        conversation_run_prompt(c);
}

static void on_step(uv_timer_t *timer)
{
    struct conversation *c = timer->data;
    (void) conversation_deliver(c);
    if (c->stopping) {
        step_stopping(c);
        return;
    }
    if (c->log_state == LOG_OPENING)
        return;
    conversation_drop_prompts(c);
    step_open(c);
    (void) conversation_deliver(c);
}

void conversation_wake(struct conversation *c)
{
    if (!uv_is_active((uv_handle_t *) c->step))
        (void) uv_timer_start(c->step, on_step, 0, 0);
}

void conversation_stop(struct conversation *c)
{
    c->stopping = true;
    conversation_wake(c);
}

/* ---- Creating one ---------------------------------------------------------------------------- */

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
                     struct store_writer *writer, struct store_worker *worker,
                     const struct conversation_handler *handler, void *user,
                     struct conversation **ret)
{
    struct conversation *c = calloc(1, sizeof(*c));
    if (!c)
        return ACP_ERR_NOMEM;
    c->connection_user.handler = &conversation_connection_handler;
    c->loop = loop;
    c->options = *options;
    c->handler = handler;
    c->user = user;
    c->writer = writer;
    c->worker = worker;
    c->turns = options->last_turn;
    acp_map_init(&c->tool_kinds, (uint64_t) uv_hrtime());
    c->step = new_timer(c);
    c->deadline = new_timer(c);
    if (options->agent_session.len)
        c->agent_session = conversation_copy(options->agent_session);
    int err = c->step && c->deadline ? conversation_init_tail(c) : ACP_ERR_NOMEM;
    if (!err)
        err = conversation_make_workspace(c);
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
    /* First, so that nobody is called back. */
    conversation_free_subscribers(c);
    acp_workspace_free(c->workspace); /* answers what the agent still waits for */
    if (c->connection)
        c->connection->class->free(c->connection);
    c->connection = NULL;
    conversation_close_log(c);
    if (c->step)
        uv_close((uv_handle_t *) c->step, on_timer_closed);
    if (c->deadline)
        uv_close((uv_handle_t *) c->deadline, on_timer_closed);
    conversation_free_prompts(c);
    conversation_drop_questions(c);
    conversation_forget_settings(c);
    conversation_forget_options(c);
    conversation_forget_tools(c);
    acp_map_finish(&c->tool_kinds);
    conversation_free_tail(c);
    free(c->agent_session);
    free(c->failure);
    free(c);
}
