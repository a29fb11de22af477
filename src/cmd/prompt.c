/*
 * acp prompt [AGENT] PROMPT - a prompt in a session that lasts.
 *
 * The session belongs to its owner, a process that keeps the agent warm; this command starts the
 * owner when there is none, gives it the prompt, and shows what comes of it.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/daemon_connect.h"
#include "cmd/prompt_run.h"
#include "config/paths.h"

struct prompt_options {
    struct agent_options agent;
    struct conversation_options conversation;
    struct session_options session;
    struct queue_options queue;
};

enum { TTL_DEFAULT_MS = 300 * 1000 };

struct prompt {
    struct asking asking;
    const struct prompt_options *options;
    char socket[OWNER_PATH_SIZE];
    struct visit *visit;
};

static void leave(struct prompt *prompt)
{
    visit_free(prompt->visit);
    prompt->visit = NULL;
    front_close(prompt->asking.front);
}

/* ---- What the owner says --------------------------------------------------------------------- */

static void on_record(struct visit *visit, const struct record *record, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_record(prompt->asking.front, record);
    if (front_flush(prompt->asking.front))
        return;
    /* Nobody reads what we write; the turn goes on at its owner. */
    prompt->asking.status = EXIT_FAILED;
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
    (void) show_note(front_show(prompt->asking.front), acp_str_from(line));
    (void) front_flush(prompt->asking.front);
}

static void on_question(struct visit *visit, const struct talk_question *question, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_question(prompt->asking.front, question);
}

static void on_question_gone(struct visit *visit, uint64_t number, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    front_question_gone(prompt->asking.front, number);
}

static int send_prompt(struct prompt *prompt);

static void on_done(struct visit *visit, int err, struct acp_raw result, struct acp_str why,
                    void *user)
{
    struct prompt *prompt = user;
    struct acp_arena arena;
    struct talk_end end = {.kind = TALK_REFUSED, .message = why};
    uint64_t request = 0;
    (void) visit;
    acp_arena_init(&arena, 0);
    if (!err && wire_read_end(result, &arena, &request, &end))
        end.message = acp_str_from("the owner of the session is of another version of acp");
    bool again = asking_ended(&prompt->asking, &end);
    acp_arena_finish(&arena);
    if (again && send_prompt(prompt) == 0)
        return;
    (void) show_turn_end(front_show(prompt->asking.front));
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
    struct acp_str id = prompt->asking.conversation.talk.session;
    if (err) {
        complain("%.*s", (int) why.len, why.ptr);
        prompt->asking.status = EXIT_FAILED;
    } else if (prompt->asking.conversation.format == FORMAT_JSON) {
        out_printf("{\"action\":\"prompt_queued\",\"session\":\"%.*s\",\"request\":%llu}\n",
                   (int) id.len, id.ptr, (unsigned long long) request);
    } else if (prompt->asking.conversation.format == FORMAT_TEXT) {
        out_printf("[queued] %llu\n", (unsigned long long) request);
    }
    leave(prompt);
}

static void on_gone(struct visit *visit, void *user)
{
    struct prompt *prompt = user;
    (void) visit;
    if (prompt->asking.status == EXIT_OK)
        prompt->asking.status = EXIT_FAILED;
    leave(prompt);
}

/* ---- What the person says -------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct prompt *prompt = user;
    visit_answer(prompt->visit, number, option);
}

/* The owner cancels the turn and tells its end; who cannot wait leaves. */
static void on_interrupt(bool again, void *user)
{
    struct prompt *prompt = user;
    prompt->asking.status = EXIT_INTERRUPTED;
    if (prompt->visit && (again || visit_ask(prompt->visit, "owner/give-up", NULL, NULL)))
        leave(prompt);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int send_prompt(struct prompt *prompt)
{
    struct wire_prompt wire = {
        .body = asking_body(&prompt->asking),
        .timeout_ms = asking_timeout(&prompt->asking),
        .permit = prompt->asking.conversation.permit,
        .ask = front_has_person(prompt->asking.front),
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
    static const struct front_handler front_handler = {.answer = on_answer,
                                                       .interrupt = on_interrupt};
    int64_t configured = config_number(prompt->asking.conversation.config, CONFIG_TTL);
    uint64_t ttl_ms = prompt->options->queue.ttl.given ? prompt->options->queue.ttl.value
                      : configured >= 0                ? (uint64_t) configured
                                                       : TTL_DEFAULT_MS;
    int err = owner_visit(&prompt->asking.conversation, prompt->socket, &ttl_ms,
                          &prompt->asking.loop, &handler, prompt, &prompt->visit, failure);
    if (!err)
        err = asking_open(&prompt->asking, prompt->options->agent.verbose, &front_handler, prompt);
    return err ? err : send_prompt(prompt);
}

static int run_loop(struct prompt *prompt)
{
    struct asking *asking = &prompt->asking;
    struct acp_failure failure = {0};
    if (uv_loop_init(&asking->loop))
        return EXIT_FAILED;
    int err = start(prompt, &failure);
    if (err) {
        complain("%s", *failure.message ? failure.message : acp_err_text(err));
        asking->status = EXIT_FAILED;
        visit_free(prompt->visit);
        if (asking->front)
            front_close(asking->front);
    }
    (void) uv_run(&asking->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&asking->loop);
    return asking_close(asking);
}

/*
 * The session, or a new one in this folder.  A lock keeps two commands that are started together
 * from making two.
 */
static int find_session(struct prompt *prompt)
{
    struct conversation *c = &prompt->asking.conversation;
    const char *path = conversation_store_path(c);
    struct acp_failure failure = {0};
    const char *name = prompt->options->session.session;
    int lock = path ? places_lock_file(path) : -1;
    int status = owner_find(c, name, prompt->socket);
    if (status == EXIT_NO_SESSION) {
        int err = session_make(c, name, &failure);
        if (!err)
            err = owner_socket_path(c->talk.session, prompt->socket, &failure);
        if (err)
            complain("%s", *failure.message ? failure.message : acp_err_text(err));
        status = err ? EXIT_FAILED : EXIT_OK;
    }
    if (lock >= 0)
        (void) close(lock);
    return status;
}

static int run(const struct invocation *invocation)
{
    struct prompt prompt = {.options = invocation->options};
    int status = asking_prepare(&prompt.asking, invocation, &prompt.options->agent,
                                &prompt.options->conversation);
    /* The built-in agent says there which model it has found, and that is for people. */
    prompt.asking.conversation.talk.errors_are_notices = prompt.asking.conversation.own_agent;
    if (!status)
        status = find_session(&prompt);
    if (!status)
        status = run_loop(&prompt);
    asking_finish(&prompt.asking);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

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
    .arguments = asking_arguments,
    .options = groups,
    .options_size = sizeof(struct prompt_options),
    .examples = examples,
    .statuses = asking_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
