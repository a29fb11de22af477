/* coding_agent.c - the coding agent's process. */
#include "agent/loop/coding_agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "cli/output.h"
#include "http/client.h"

enum { MAX_SESSIONS = 1000, MAX_PROMPT = 16 * 1024 * 1024, CODE_INTERNAL = -32603 };

/* The client has gone: nothing is left to do. */
static void on_gone(int reason, void *user)
{
    struct coder *coder = user;
    (void) reason;
    acp_agent_stdio_free(coder->stdio);
    coder->stdio = NULL;
    acp_jobs_free(coder->jobs);
    toolbox_free(coder->box);
    uv_close((uv_handle_t *) &coder->title_timer, NULL);
    model_catalog_free(coder->catalog);
    coder->catalog = NULL;
    http_client_free(coder->http);
    if (coder->writer)
        store_writer_close(coder->writer, NULL, NULL);
    uv_close((uv_handle_t *) &coder->idle, NULL);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Prompts are answered as cancelled and all commands end; who asks again does not want to wait. */
static void on_signal(uv_signal_t *signal, int number)
{
    struct coder *coder = signal->data;
    if (coder->stopping) {
        acp_process_kill_all();
        _exit(128 + number);
    }
    coder->stopping = true;
    model_find_free(coder->find);
    coder->find = NULL;
    if (coder->stdio)
        acp_agent_stdio_stop(coder->stdio);
    else
        on_gone(0, coder);
}

static void open_signals(struct coder *coder)
{
    static const int numbers[CODER_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < CODER_SIGNALS; i++) {
        (void) uv_signal_init(&coder->loop, &coder->signals[i]);
        coder->signals[i].data = coder;
        (void) uv_signal_start(&coder->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *) &coder->signals[i]);
    }
}

static void close_signals(struct coder *coder)
{
    for (size_t i = 0; i < CODER_SIGNALS; i++)
        uv_close((uv_handle_t *) &coder->signals[i], NULL);
}

/* ---- Sessions, as many as may be ------------------------------------------------------------- */

static bool is_full(struct coder *coder, struct acp_session *session)
{
    size_t most = coder->options->max_sessions;
    struct acp_session *open =
        acp_agent_find_session(acp_session_agent(session), acp_session_id(session));
    bool replaces = open && open != session; /* and makes room for this one */
    if (replaces || coder->sessions < (most ? most : (size_t) MAX_SESSIONS))
        return false;
    (void) acp_session_reject(session, CODE_INTERNAL,
                              acp_str_from("too many sessions are open; close one first"));
    return true;
}

static void new_session(struct acp_session *session, const struct acp_new_session_request *request,
                        void *user)
{
    if (!is_full(user, session))
        coder_new_session(session, request, user);
}

static void load_session(struct acp_session *session,
                         const struct acp_resume_session_request *request, void *user)
{
    if (!is_full(user, session))
        coder_load_session(session, request, user);
}

static void resume_session(struct acp_session *session,
                           const struct acp_resume_session_request *request, void *user)
{
    if (!is_full(user, session))
        coder_resume_session(session, request, user);
}

static void fork_session(struct acp_session *session,
                         const struct acp_fork_session_request *request, void *user)
{
    if (!is_full(user, session))
        coder_fork_session(session, request, user);
}

/* ---- The process ----------------------------------------------------------------------------- */

/*
 * The agent's title names the model that answers and where it is, so that every client can show it.
 * Both may be a server's word, and so anything.
 */
static void make_title(struct coder *coder)
{
    struct acp_str id = acp_str_n(coder->model, strcspn(coder->model, "/"));
    const struct model_service *service = model_catalog_find(coder->catalog, id);
    const char *url = service ? model_service_url(service) : "";
    if (!*url) {
        (void) snprintf(coder->title, sizeof(coder->title), "acp agent, offline demo");
        return;
    }
    struct acp_str place = http_place(acp_str_from(url));
    (void) snprintf(coder->title, sizeof(coder->title), "acp agent, %.80s at %.*s", coder->model,
                    (int) (place.len < 80 ? place.len : 80), place.ptr);
    for (char *c = coder->title; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* The model is known, and with it what prompts may hold: the client can be served. */
static int serve(struct coder *coder, const struct model_choice *choice)
{
    static const struct acp_agent_handler handler = {
        .new_session = new_session,
        .load_session = load_session,
        .resume_session = resume_session,
        .fork_session = fork_session,
        .list_sessions = coder_list_sessions,
        .delete_session = coder_delete_session,
        .end_session = coder_end_session,
        .before_update = coder_keep_update,
        .prompt = coder_prompt,
        .cancel = coder_cancel,
        .set_mode = coder_set_mode,
        .set_option = coder_set_option,
        .authenticate = coder_authenticate,
        .logout = coder_logout,
        .request = coder_request,
    };
    struct acp_agent_options options = {
        .name = acp_str_from("acp"),
        .title = acp_str_from("acp agent"),
        .version = acp_str_from(coder->options->version),
        .versions = ACP_V1 | ACP_V2 | (coder->options->unstable ? (unsigned) ACP_UNSTABLE : 0),
        .embedded_context = true,
        .mcp_lenient = true,
        .additional_directories = true,
        .merge_waiting = true, /* what the model says is passed on as it comes */
        .services = ACP_SERVICE_PROVIDERS,
        .max_prompt = coder->options->max_prompt ? coder->options->max_prompt : (size_t) MAX_PROMPT,
    };
    struct toolbox_fetch fetch = coder_fetch_tool(coder);
    /* A prompt that is too long shall still arrive, to be refused. */
    if (options.max_prompt > ACP_WIRE_DEFAULT_MAX / 2)
        options.peer.max_message = 2 * options.max_prompt;
    int err = coder_fill_catalog(coder, choice);
    if (!err)
        err = coder_list_logins(coder, &options.auth_methods);
    if (!err)
        err = toolbox_new(&coder->loop, coder->options->fetch ? &fetch : NULL, &coder->box);
    if (!err)
        err = coder_open_store(coder);
    if (!err)
        err = coder_watch_idle(coder);
    if (err)
        return err;
    make_title(coder);
    options.title = acp_str_from(coder->title);
    options.images = coder_takes(coder, MODEL_IMAGE);
    options.audio = coder_takes(coder, MODEL_AUDIO);
    (void) !getrandom(options.seed, sizeof(options.seed), 0);
    err = acp_agent_stdio_new(&coder->loop, &options, &handler, on_gone, coder, &coder->stdio);
    if (!err)
        err = acp_jobs_new(&coder->loop, acp_agent_stdio_agent(coder->stdio), NULL, &coder->jobs);
    if (!err)
        (void) acp_reaper_new(&coder->loop, &coder->reaper);
    return err;
}

/*
 * Says which server of this machine answers, since nobody has named it, and which does not.  The
 * model's name is the server's word, and may be anything.
 */
static void say_choice(const struct model_choice *choice)
{
    const struct model_settings *settings = &choice->settings;
    if (*choice->note)
        err_printf("acp agent: %s\n", choice->note);
    if (settings->base_url != choice->url || !settings->model)
        return; /* it is of a service that the environment names, or the demo */
    err_printf("acp agent: the model is %.80s at %s; %s\n", settings->model, choice->url,
               choice->why);
}

static void on_found(struct model_find *find, const struct model_choice *choice, void *user)
{
    struct coder *coder = user;
    say_choice(choice);
    coder->err = serve(coder, choice);
    model_find_free(find);
    coder->find = NULL;
}

static int start(struct coder *coder)
{
    static const struct model_choice demo = {.id = "demo",
                                             .settings = {.api = MODEL_DEMO, .model = "demo"}};
    int err = http_client_new(&coder->loop, NULL, &coder->http);
    if (err)
        return err;
    return coder->options->demo
               ? serve(coder, &demo)
               : model_find_new(&coder->loop, coder->http, &coder->options->sources, NULL, on_found,
                                coder, &coder->find);
}

int coder_run(const struct coder_options *options)
{
    struct coder coder = {.options = options};
    if (uv_loop_init(&coder.loop))
        return 1;
    (void) uv_timer_init(&coder.loop, &coder.title_timer);
    (void) uv_timer_init(&coder.loop, &coder.idle);
    open_signals(&coder);
    coder.err = start(&coder);
    (void) uv_run(&coder.loop, UV_RUN_DEFAULT);
    close_signals(&coder);
    /* MCP servers may have taken their time to end; until then it is wanted. */
    acp_reaper_free(coder.reaper);
    (void) uv_run(&coder.loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < CODER_MODES; i++)
        acp_policy_free(coder.policies[i]);
    if (coder.err)
        err_printf("acp agent: %s\n",
                   *coder.failure.message ? coder.failure.message : acp_io_err_text(coder.err));
    model_catalog_free(coder.catalog);
    free(coder.model);
    free(coder.sign_ins);
    (void) uv_loop_close(&coder.loop);
    return coder.err ? 1 : 0;
}
