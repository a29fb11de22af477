/*
 * acp prompt [AGENT] PROMPT - a prompt in a session that lasts.
 *
 * The session belongs to its owner, a process that keeps the agent warm; this command starts the
 * owner when there is none, gives it the prompt, and shows what comes of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/answer.h"
#include "cmd/cmd.h"
#include "cmd/front.h"
#include "cmd/owner_visit.h"
#include "cmd/prompt_text.h"

struct prompt_options {
    struct agent_options agent;
    struct conversation_options conversation;
    struct session_options session;
    struct queue_options queue;
};

enum { TTL_DEFAULT_MS = 300 * 1000 };

struct prompt {
    const struct prompt_options *options;
    struct conversation conversation;
    char socket[OWNER_PATH_SIZE];
    uv_loop_t loop;
    struct front *front;
    struct visit *visit;
    struct answer *answer;
    struct acp_buf body;
    int status;
};

static void leave(struct prompt *prompt)
{
    visit_free(prompt->visit);
    prompt->visit = NULL;
    front_close(prompt->front);
}

/* ---- What the owner says --------------------------------------------------------------------- */

static void on_record(struct visit *visit, const struct record *record, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_record(prompt->front, record);
    if (front_flush(prompt->front))
        return;
    /* Nobody reads what we write; the turn goes on at its owner. */
    prompt->status = EXIT_FAILED;
    leave(prompt);
}

static void on_queued(struct visit *visit, uint64_t request, uint64_t ahead, void *user)
{
    struct prompt *prompt = user;
    char line[80];
    (void) visit;
    (void) request;
    (void) snprintf(line, sizeof(line), "[queued] behind %llu other prompt%s",
                    (unsigned long long) ahead, ahead == 1 ? "" : "s");
    (void) show_note(front_show(prompt->front), acp_str(line));
    (void) front_flush(prompt->front);
}

static void on_question(struct visit *visit, const struct talk_question *question, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_question(prompt->front, question);
}

static void on_question_gone(struct visit *visit, uint64_t number, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_question_gone(prompt->front, number);
}

static int send_prompt(struct prompt *prompt);

static void on_done(struct visit *visit, int err, struct acp_raw result, struct acp_str why,
                    void *user)
{
    struct prompt *prompt = user;
    struct acp_arena arena;
    struct talk_end end = {.kind = TALK_REFUSED, .message = why};
    uint64_t request = 0;
    bool again = false;
    (void) visit;
    acp_arena_init(&arena, 0);
    if (!err && wire_read_end(result, &arena, &request, &end))
        end.message = acp_str("the owner of the session is of another version of acp");
    prompt->status = front_status(prompt->front, &end);
    if (prompt->status == EXIT_OK && prompt->answer) {
        struct acp_str said = show_answer(front_show(prompt->front));
        acp_buf_clear(&prompt->body);
        again = answer_ask_again(prompt->answer, said, &prompt->body);
        prompt->status = again ? EXIT_OK : answer_status(prompt->answer);
        if (!again)
            show_set_answer(front_show(prompt->front), answer_value(prompt->answer));
    }
    acp_arena_finish(&arena);
    if (again && send_prompt(prompt) == 0)
        return;
    (void) show_turn_end(front_show(prompt->front));
    leave(prompt);
}

/* --no-wait: it is in the queue, and that is all we wanted. */
static void on_placed(struct visit *visit, int err, struct acp_raw result, struct acp_str why,
                      void *user)
{
    struct prompt *prompt = user;
    uint64_t request = 0;
    (void) visit;
    (void) wire_read_number(result, "request", &request);
    struct acp_str id = prompt->conversation.talk.session;
    if (err) {
        complain("%.*s", (int) why.len, why.ptr);
        prompt->status = EXIT_FAILED;
    } else if (prompt->conversation.format == FORMAT_JSON) {
        (void) printf("{\"action\":\"prompt_queued\",\"session\":\"%.*s\",\"request\":%llu}\n",
                      (int) id.len, id.ptr, (unsigned long long) request);
    } else if (prompt->conversation.format == FORMAT_TEXT) {
        (void) printf("[queued] %llu\n", (unsigned long long) request);
    }
    leave(prompt);
}

static void on_gone(struct visit *visit, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    if (prompt->status == EXIT_OK)
        prompt->status = EXIT_FAILED;
    leave(prompt);
}

/* ---- What the person says -------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct prompt *prompt = user;
    visit_answer(prompt->visit, number, option);
}

static void on_allow(uint64_t number, bool allow, void *user)
{
    struct prompt *prompt = user;
    visit_allow(prompt->visit, number, allow);
}

/* The owner cancels the turn and tells its end; who cannot wait leaves. */
static void on_interrupt(bool again, void *user)
{
    struct prompt *prompt = user;
    prompt->status = EXIT_INTERRUPTED;
    if (prompt->visit && (again || visit_ask(prompt->visit, "owner/give-up", NULL, NULL)))
        leave(prompt);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int send_prompt(struct prompt *prompt)
{
    const struct conversation_options *options = &prompt->options->conversation;
    int64_t configured = config_number(prompt->conversation.config, CONFIG_TIMEOUT);
    struct wire_prompt wire = {
        .body = acp_raw_n(prompt->body.data + prompt->body.start, prompt->body.len),
        .timeout_ms = options->timeout.given ? options->timeout.value
                      : configured > 0       ? (uint64_t) configured
                                             : 0,
        .permit = prompt->conversation.permit,
        .ask = front_has_person(prompt->front),
        .wait = !prompt->options->queue.no_wait,
    };
    return visit_prompt(prompt->visit, &wire, wire.wait ? on_done : on_placed, prompt);
}

static int start(struct prompt *prompt, struct acp_failure *failure)
{
    static const struct visit_handler handler = {
        .record = on_record,
        .queued = on_queued,
        .question = on_question,
        .question_gone = on_question_gone,
        .gone = on_gone,
    };
    static const struct front_handler front_handler = {
        .answer = on_answer, .allow = on_allow, .interrupt = on_interrupt};
    struct front_options front = {
        .format = prompt->conversation.format,
        .session = prompt->conversation.talk.session,
        .verbose = prompt->options->agent.verbose,
    };
    int64_t configured = config_number(prompt->conversation.config, CONFIG_TTL);
    uint64_t ttl_ms = prompt->options->queue.ttl.given ? prompt->options->queue.ttl.value
                      : configured >= 0                ? (uint64_t) configured
                                                       : TTL_DEFAULT_MS;
    int err = owner_visit(&prompt->conversation, prompt->socket, &ttl_ms, &prompt->loop, &handler,
                          prompt, &prompt->visit, failure);
    if (!err)
        err = front_new(&prompt->loop, &front, &front_handler, prompt, &prompt->front);
    return err ? err : send_prompt(prompt);
}

static int run_loop(struct prompt *prompt)
{
    struct acp_failure failure = {0};
    if (uv_loop_init(&prompt->loop))
        return EXIT_FAILED;
    int err = start(prompt, &failure);
    if (err) {
        complain("%s", *failure.message ? failure.message : acp_err_text(err));
        prompt->status = EXIT_FAILED;
        visit_free(prompt->visit);
        if (prompt->front)
            front_close(prompt->front);
    }
    (void) uv_run(&prompt->loop, UV_RUN_DEFAULT);
    if (prompt->front && !front_flush(prompt->front) && prompt->status == EXIT_OK)
        prompt->status = EXIT_FAILED;
    if (!err && prompt->status == EXIT_OK && prompt->options->conversation.output)
        prompt->status = answer_write(prompt->options->conversation.output,
                                      show_answer(front_show(prompt->front)));
    front_free(prompt->front);
    (void) uv_loop_close(&prompt->loop);
    return prompt->status;
}

/* The session, or a new one in this folder. */
static int find_session(struct prompt *prompt)
{
    struct conversation *c = &prompt->conversation;
    struct acp_failure failure = {0};
    const char *name = prompt->options->session.session;
    int status = owner_find(c, name, prompt->socket);
    if (status != EXIT_NO_SESSION)
        return status;
    c->talk.name = name ? acp_str(name) : (struct acp_str){0};
    c->talk.scope = acp_str(c->cwd);
    if (owner_socket_path(c->talk.session, prompt->socket, &failure)) {
        complain("%s", failure.message);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

static int run(const struct invocation *invocation)
{
    struct prompt prompt = {.options = invocation->options};
    const struct conversation_options *options = &prompt.options->conversation;
    struct acp_str extra = {0};
    acp_buf_init(&prompt.body, RECORD_MAX);
    int status =
        conversation_prepare(&prompt.conversation, invocation, &prompt.options->agent, options);
    if (!status && options->schema)
        status = answer_new(options->schema, &prompt.answer, &extra);
    if (!status)
        status = prompt_text_read(invocation, options, extra, &prompt.body);
    if (!status)
        status = find_session(&prompt);
    if (!status)
        status = run_loop(&prompt);
    answer_free(prompt.answer);
    acp_buf_finish(&prompt.body);
    conversation_finish(&prompt.conversation);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct argument arguments[] = {
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

static const struct option_group groups[] = {
    {session_option_rows, offsetof(struct prompt_options, session)},
    {queue_option_rows, offsetof(struct prompt_options, queue)},
    {conversation_option_rows, offsetof(struct prompt_options, conversation)},
    {agent_option_rows, offsetof(struct prompt_options, agent)},
    {0},
};

static const struct example examples[] = {
    {"acp prompt claude \"add a test for the parser\"", "begins a session in this folder"},
    {"acp claude \"and one for empty input\"", "goes on with it; `prompt` may be left out"},
    {"acp prompt claude -s docs --no-wait \"write the README\"",
     "queues a prompt in the session called docs and returns"},
    {0},
};

static const struct exit_status statuses[] = {
    {"*--timeout* was over.", EXIT_TIMEOUT},
    {"The agent asked for permissions, and none was given.", EXIT_DENIED},
    {"Ctrl-C, or another signal to end.", EXIT_INTERRUPTED},
    {0},
};

const struct command command_prompt = {
    .name = "prompt",
    .summary = "give an agent a prompt in a session that lasts",
    .description =
        "Goes on with the session of this agent that belongs to the current folder or to one above "
        "it, up to the root of the git repository; where there is none, one is begun in the "
        "current folder. A session may have a name (*--session*), so that there can be several.\n\n"
        "The agent is kept running for a time (*--ttl*) after the answer, by a small process of "
        "its own, so that the next prompt finds it warm. Prompts of several commands wait for one "
        "another. When the agent has died it is started again and the session is resumed or "
        "loaded; where the agent cannot do that you are told, and what was said is still in the "
        "log.\n\n"
        "*acp-cancel*(1), *acp-set-mode*(1), *acp-set*(1) and *acp-status*(1) reach the session "
        "while it runs.",
    .arguments = arguments,
    .options = groups,
    .options_size = sizeof(struct prompt_options),
    .examples = examples,
    .statuses = statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
