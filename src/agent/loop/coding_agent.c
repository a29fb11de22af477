/* coding_agent.c - the process of the coding agent. */
#include "agent/loop/coding_agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "cli/output.h"
#include "http/http_client.h"

enum { MAX_SESSIONS = 1000, MAX_PROMPT = 16 * 1024 * 1024 };

/*
 * Closes everything that keeps the loop running.  Signals and failures may come after the
 * connection was closed, so it may be called again.
 */
static void close_all(struct coding_agent *agent)
{
    if (agent->closed)
        return;
    agent->closed = true;
    acp_agent_stdio_free(agent->stdio);
    agent->stdio = NULL;
    acp_jobs_free(agent->jobs);
    toolbox_free(agent->box);
    uv_close((uv_handle_t *) &agent->title_timer, NULL);
    model_catalog_free(agent->catalog);
    agent->catalog = NULL;
    coding_agent_close_store(agent);
    uv_close((uv_handle_t *) &agent->idle, NULL);
}

/* The connection is closed. */
static void on_gone(int reason, void *user)
{
    (void) reason;
    close_all(user);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Prompts are answered as cancelled and all commands end.  A second signal ends the process now. */
static void on_signal(uv_signal_t *signal, int number)
{
    struct coding_agent *agent = signal->data;
    if (agent->stopping) {
        acp_process_kill_all();
        _exit(128 + number);
    }
    agent->stopping = true;
    model_find_free(agent->find);
    agent->find = NULL;
    if (agent->stdio)
        acp_agent_stdio_stop(agent->stdio);
    else
        close_all(agent);
}

static void open_signals(struct coding_agent *agent)
{
    static const int numbers[AGENT_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < AGENT_SIGNALS; i++) {
        (void) uv_signal_init(&agent->loop, &agent->signals[i]);
        agent->signals[i].data = agent;
        (void) uv_signal_start(&agent->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *) &agent->signals[i]);
    }
}

static void close_signals(struct coding_agent *agent)
{
    for (size_t i = 0; i < AGENT_SIGNALS; i++)
        uv_close((uv_handle_t *) &agent->signals[i], NULL);
}

/* ---- Sessions, as many as may be ------------------------------------------------------------- */

static bool is_full(struct coding_agent *agent, struct acp_session *role_session)
{
    size_t most = agent->options->max_sessions;
    struct acp_session *open =
        acp_agent_find_session(acp_session_agent(role_session), acp_session_id(role_session));
    bool replaces = open && open != role_session; /* so the number stays the same */
    if (replaces || agent->sessions < (most ? most : (size_t) MAX_SESSIONS))
        return false;
    (void) acp_session_reject(role_session, ACP_ERROR_CODE_INTERNAL_ERROR,
                              acp_str_from("too many sessions are open; close one first"));
    return true;
}

static void new_session(struct acp_session *role_session,
                        const struct acp_new_session_request *request, void *user)
{
    if (!is_full(user, role_session))
        coding_agent_new_session(role_session, request, user);
}

static void load_session(struct acp_session *role_session,
                         const struct acp_resume_session_request *request, void *user)
{
    if (!is_full(user, role_session))
        coding_agent_load_session(role_session, request, user);
}

static void resume_session(struct acp_session *role_session,
                           const struct acp_resume_session_request *request, void *user)
{
    if (!is_full(user, role_session))
        coding_agent_resume_session(role_session, request, user);
}

static void fork_session(struct acp_session *role_session,
                         const struct acp_fork_session_request *request, void *user)
{
    if (!is_full(user, role_session))
        coding_agent_fork_session(role_session, request, user);
}

/* ---- The process ----------------------------------------------------------------------------- */

/*
 * The agent's title has the model and the address of its service, for clients to show.  Both may
 * come from a server and contain anything.
 */
static void make_title(struct coding_agent *agent)
{
    struct acp_str id = acp_str_n(agent->model, strcspn(agent->model, "/"));
    const struct model_service *service = model_catalog_find(agent->catalog, id);
    const char *url = service ? model_service_url(service) : "";
    if (!*url) {
        (void) snprintf(agent->title, sizeof(agent->title), "acp agent, offline demo");
        return;
    }
    struct acp_str place = http_place(acp_str_from(url));
    (void) snprintf(agent->title, sizeof(agent->title), "acp agent, %.80s at %.*s", agent->model,
                    (int) (place.len < 80 ? place.len : 80), place.ptr);
    for (char *c = agent->title; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* The model is known, and with it what prompts may contain. */
static int serve(struct coding_agent *agent, const struct model_choice *choice)
{
    static const struct acp_agent_handler handler = {
        .new_session = new_session,
        .load_session = load_session,
        .resume_session = resume_session,
        .fork_session = fork_session,
        .list_sessions = coding_agent_list_sessions,
        .delete_session = coding_agent_delete_session,
        .end_session = coding_agent_end_session,
        .before_update = coding_agent_before_update,
        .prompt = coding_agent_prompt,
        .cancel = coding_agent_cancel,
        .set_mode = coding_agent_set_mode,
        .set_option = coding_agent_set_option,
        .authenticate = coding_agent_authenticate,
        .logout = coding_agent_logout,
        .request = coding_agent_request,
        .notification = coding_agent_notified,
    };
    struct acp_agent_options options = {
        .name = acp_str_from("acp"),
        .title = acp_str_from("acp agent"),
        .version = acp_str_from(agent->options->version),
        .versions = ACP_V1 | ACP_V2 | (agent->options->unstable ? (unsigned) ACP_UNSTABLE : 0),
        .embedded_context = true,
        .mcp_http = true,
        .mcp_sse = true,
        .additional_directories = true,
        .merge_waiting = true, /* the model's chunks are sent as they arrive */
        .services = ACP_SERVICE_PROVIDERS | ACP_SERVICE_MCP,
        .max_prompt = agent->options->max_prompt ? agent->options->max_prompt : (size_t) MAX_PROMPT,
    };
    struct toolbox_fetch fetch = coding_agent_fetch_tool(agent);
    /* A prompt that is too long has to be received to be refused. */
    if (options.max_prompt > ACP_WIRE_DEFAULT_MAX / 2)
        options.peer.max_message = 2 * options.max_prompt;
    int err = coding_agent_fill_catalog(agent, choice);
    if (!err)
        err = coding_agent_list_logins(agent, &options.auth_methods);
    if (!err)
        err = toolbox_new(&agent->loop, agent->options->fetch ? &fetch : NULL, &agent->box);
    if (!err)
        err = coding_agent_open_store(agent);
    if (!err)
        err = coding_agent_watch_idle(agent);
    if (err)
        return err;
    make_title(agent);
    options.title = acp_str_from(agent->title);
    options.images = coding_agent_accepts(agent, MODEL_IMAGE);
    options.audio = coding_agent_accepts(agent, MODEL_AUDIO);
    (void) !getrandom(options.seed, sizeof(options.seed), 0);
    err = acp_agent_stdio_new(&agent->loop, &options, &handler, on_gone, agent, &agent->stdio);
    if (!err)
        err = acp_jobs_new(&agent->loop, acp_agent_stdio_agent(agent->stdio), NULL, &agent->jobs);
    if (!err)
        (void) acp_reaper_new(&agent->loop, &agent->reaper);
    return err;
}

/*
 * Reports the model server that was found on this machine, since nobody has configured it.  The
 * model's name comes from the server and may contain anything.
 */
static void say_choice(const struct model_choice *choice)
{
    const struct model_settings *settings = &choice->settings;
    if (*choice->note)
        err_printf("acp agent: %s\n", choice->note);
    if (settings->base_url != choice->url || !settings->model)
        return; /* configured by the environment, or the demo */
    err_printf("acp agent: the model is %.80s at %s; %s\n", settings->model, choice->url,
               choice->why);
}

static void on_found(struct model_find *find, const struct model_choice *choice, void *user)
{
    struct coding_agent *agent = user;
    say_choice(choice);
    agent->err = serve(agent, choice);
    model_find_free(find);
    agent->find = NULL;
    if (agent->err)
        close_all(agent);
}

static int start(struct coding_agent *agent)
{
    static const struct model_choice demo = {.id = "demo",
                                             .settings = {.api = MODEL_DEMO, .model = "demo"}};
    struct http_client_options http = {.helper = agent->options->http_helper};
    int err = http_client_new(&agent->loop, &http, &agent->http);
    if (err)
        return err;
    return agent->options->demo
               ? serve(agent, &demo)
               : model_find_new(&agent->loop, agent->http, &agent->options->sources, NULL, on_found,
                                agent, &agent->find);
}

int coding_agent_run(const struct coding_agent_options *options)
{
    struct coding_agent agent = {.options = options};
    if (uv_loop_init(&agent.loop))
        return 1;
    (void) uv_timer_init(&agent.loop, &agent.title_timer);
    (void) uv_timer_init(&agent.loop, &agent.idle);
    open_signals(&agent);
    agent.err = start(&agent);
    if (agent.err)
        close_all(&agent);
    (void) uv_run(&agent.loop, UV_RUN_DEFAULT);
    close_signals(&agent);
    /* They were needed until the MCP servers had ended. */
    http_client_free(agent.http);
    acp_reaper_free(agent.reaper);
    (void) uv_run(&agent.loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < AGENT_MODES; i++)
        acp_policy_free(agent.policies[i]);
    if (agent.err)
        err_printf("acp agent: %s\n",
                   *agent.failure.message ? agent.failure.message : acp_io_err_text(agent.err));
    model_catalog_free(agent.catalog);
    free(agent.model);
    free(agent.sign_ins);
    (void) uv_loop_close(&agent.loop);
    return agent.err ? 1 : 0;
}
