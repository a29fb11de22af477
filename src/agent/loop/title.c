/*
 * title.c - session titles.  The first words of the first prompt are the title until the first turn
 * has ended well; then the model is asked for a better one, in the background.  A title set with
 * /title overrides both.
 *
 * The model is asked a moment after the turn has ended, so that a client which has left after a
 * single prompt does not pay for a title.
 */
#include <assert.h>
#include <stdlib.h>

#include "agent/loop/coding_agent_internal.h"
#include "base/utf8.h"

enum {
    MOMENT_MS = 200,
    MAX_ASKED = 8,    /* titles that are requested at a time */
    MAX_FIRST = 60,   /* bytes of the first words */
    MAX_TITLE = 100,  /* bytes of the model's title */
    MAX_WORDS = 6,    /* and words */
    MAX_SHOWN = 2000, /* bytes of each message that the model gets */
    MAX_TOKENS = 1000 /* of the answer, with its reasoning */
};

static struct acp_str first_line(struct acp_str text)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return end ? acp_str_n(text.ptr, (size_t) (end - text.ptr)) : text;
}

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << AGENT_TITLE_##state)

static void set_state(struct agent_session *session, enum agent_title_state state)
{
    static const unsigned next[] = {
        [AGENT_TITLE_FINAL] = TO(FINAL) | TO(PROVISIONAL),
        [AGENT_TITLE_PROVISIONAL] = TO(FINAL) | TO(SCHEDULED),
        [AGENT_TITLE_SCHEDULED] = TO(FINAL) | TO(PROVISIONAL) | TO(REQUESTED),
        [AGENT_TITLE_REQUESTED] = TO(FINAL),
    };
    assert(next[session->title_state] & 1u << state);
    (void) next;
    session->title_state = state;
}

#undef TO

void agent_session_settle_title(struct agent_session *session)
{
    set_state(session, AGENT_TITLE_FINAL);
}

/* ---- The first words ------------------------------------------------------------------------- */

void agent_session_title_from_prompt(struct agent_session *session, const struct model_part *parts,
                                     size_t count)
{
    for (size_t i = 0; i < count && !session->title; i++) {
        /* A text with a URI stands for a link; it is not the user's. */
        if (parts[i].kind != MODEL_TEXT || parts[i].uri.ptr)
            continue;
        struct acp_str words = parts[i].text;
        while (words.len && strchr(" \t\r\n", *words.ptr))
            words = acp_str_n(words.ptr + 1, words.len - 1);
        if (!words.len)
            continue;
        (void) agent_session_set_title(session, acp_str_cut(first_line(words), MAX_FIRST));
        if (!session->agent->options->no_titles)
            set_state(session, AGENT_TITLE_PROVISIONAL);
    }
}

/* ---- What the model is asked ----------------------------------------------------------------- */

/* The last text of a message of that role; absent if there is none. */
static struct acp_str text_of(const struct model_message *message, enum model_role role)
{
    struct acp_str words = {NULL, 0};
    for (size_t i = 0; message->role == role && i < message->part_count; i++)
        if (message->parts[i].kind == MODEL_TEXT && message->parts[i].text.len)
            words = message->parts[i].text;
    return words;
}

static int ask(struct agent_session *session, const struct model_handler *handler)
{
    static const char wish[] =
        "Give this conversation a title of at most six words, in the language of its user. Answer "
        "with the title alone, without quotes, and call no tools.";
    size_t count = history_count(session->history);
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const struct model_message *said = history_messages(session->history, 0, &arena);
    struct model_part parts[3] = {{.kind = MODEL_TEXT}, {.kind = MODEL_TEXT}, {.kind = MODEL_TEXT}};
    for (size_t i = 0; said && i < count; i++) {
        struct acp_str prompt = text_of(&said[i], MODEL_USER);
        struct acp_str answer = text_of(&said[i], MODEL_ASSISTANT);
        if (prompt.ptr && !parts[0].text.ptr)
            parts[0].text = acp_str_cut(prompt, MAX_SHOWN);
        if (answer.ptr)
            parts[1].text = acp_str_cut(answer, MAX_SHOWN);
    }
    acp_arena_finish(&arena); /* the texts belong to the history */
    parts[2].text = acp_str_from(wish);
    if (!parts[0].text.ptr || !parts[1].text.ptr)
        return ACP_ERR_MISSING;
    struct model_message messages[] = {
        {MODEL_USER, &parts[0], 1}, {MODEL_ASSISTANT, &parts[1], 1}, {MODEL_USER, &parts[2], 1}};
    struct model_ask request = {
        .system =
            acp_str_from("You write titles for conversations between a programmer and an agent."),
        .messages = messages,
        .message_count = 3,
        .max_tokens = MAX_TOKENS,
        .effort = MODEL_EFFORT_NONE,
    };
    struct acp_failure failure = {0};
    return agent_session_ask(session, &request, handler, session, &session->title_reply, &failure);
}

/* ---- What it answers ------------------------------------------------------------------------- */

static bool is_decoration(char c)
{
    return c != '\0' && strchr(" \t\r\"'`*#", c);
}

/* At most MAX_WORDS words of the first line, without quotes and the like. */
static struct acp_str tidy(struct acp_str text)
{
    size_t words = 0;
    while (text.len && (is_decoration(*text.ptr) || *text.ptr == '\n'))
        text = acp_str_n(text.ptr + 1, text.len - 1);
    text = acp_str_cut(first_line(text), MAX_TITLE);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == ' ' && ++words == MAX_WORDS)
            text.len = i;
    while (text.len && (is_decoration(text.ptr[text.len - 1]) || text.ptr[text.len - 1] == '.'))
        text.len--;
    return text;
}

static bool has_control(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char) text.ptr[i] < ' ')
            return true;
    return false;
}

/* ---- When ------------------------------------------------------------------------------------ */

static void on_moment(uv_timer_t *timer);

/* Asks the model for scheduled titles after this time. */
static void ask_later(struct coding_agent *agent, uint64_t ms)
{
    uv_handle_t *handle = (uv_handle_t *) &agent->title_timer;
    agent->title_timer.data = agent;
    if (!uv_is_closing(handle))
        (void) uv_timer_start(&agent->title_timer, on_moment, ms, 0);
}

/* A request has ended: asks for the title of the next session that waits. */
static void ask_next(struct coding_agent *agent)
{
    const struct agent_session *session = agent->first;
    while (session && session->title_state != AGENT_TITLE_SCHEDULED)
        session = session->next;
    if (session)
        ask_later(agent, 0);
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct agent_session *session = user;
    struct model_message answer = {MODEL_ASSISTANT, end->parts, end->part_count};
    struct acp_str title = tidy(text_of(&answer, MODEL_ASSISTANT));
    session->title_reply = NULL;
    agent_session_add_cost(session, &end->usage);
    if (session->title_state == AGENT_TITLE_REQUESTED && end->stop == MODEL_END && title.len &&
        !has_control(title))
        (void) agent_session_set_title(session, title);
    set_state(session, AGENT_TITLE_FINAL); /* the model is asked once, whatever it answers */
    model_reply_free(reply);
    ask_next(session->agent);
}

void agent_session_cancel_title(struct agent_session *session)
{
    bool was_asked = session->title_reply;
    model_reply_free(session->title_reply);
    session->title_reply = NULL;
    agent_session_settle_title(session);
    if (was_asked)
        ask_next(session->agent);
}

static void on_moment(uv_timer_t *timer)
{
    static const struct model_handler handler = {.end = on_end};
    struct coding_agent *agent = timer->data;
    int asked = 0;
    for (const struct agent_session *session = agent->first; session; session = session->next)
        asked += session->title_reply != NULL;
    for (struct agent_session *session = agent->first; session && asked < MAX_ASKED;
         session = session->next) {
        if (session->title_state != AGENT_TITLE_SCHEDULED)
            continue;
        if (agent_session_is_disabled(session)) {
            set_state(session, AGENT_TITLE_PROVISIONAL); /* until it can be asked */
            continue;
        }
        set_state(session, ask(session, &handler) ? AGENT_TITLE_FINAL : AGENT_TITLE_REQUESTED);
        asked += session->title_reply != NULL;
    }
}

void agent_session_schedule_title(struct agent_session *session)
{
    struct coding_agent *agent = session->agent;
    if (session->title_state == AGENT_TITLE_PROVISIONAL)
        set_state(session, AGENT_TITLE_SCHEDULED);
    if (session->title_state != AGENT_TITLE_SCHEDULED)
        return;
    /* Turns that end meanwhile do not delay it; otherwise all titles would be requested at once. */
    if (!uv_is_active((uv_handle_t *) &agent->title_timer))
        ask_later(agent, MOMENT_MS);
}
