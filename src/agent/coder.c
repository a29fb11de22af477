/* coder.c - the coding agent's process. */
#include "agent/coder.h"

#include <stdio.h>
#include <sys/random.h>

#include "acp/types.h"
#include "agent/coder_inside.h"
#include "http/client.h"

/* The client has gone: nothing is left to do. */
static void on_gone(int reason, void *user)
{
    struct coder *coder = user;
    (void) reason;
    acp_agent_stdio_free(coder->stdio);
    coder->stdio = NULL;
    acp_jobs_free(coder->jobs);
    toolbox_free(coder->box);
    coder_forget_models(coder);
    model_service_free(coder->service);
    http_client_free(coder->http);
    if (coder->writer)
        store_writer_close(coder->writer, NULL, NULL);
    uv_close((uv_handle_t *) &coder->idle, NULL);
    acp_reaper_free(coder->reaper);
}

/* The model is known, and with it what prompts may hold: the client can be served. */
static int serve(struct coder *coder, const struct model_settings *settings)
{
    static const struct acp_agent_handler handler = {
        .new_session = coder_new_session,
        .load_session = coder_load_session,
        .resume_session = coder_resume_session,
        .fork_session = coder_fork_session,
        .list_sessions = coder_list_sessions,
        .delete_session = coder_delete_session,
        .end_session = coder_end_session,
        .keep_update = coder_keep_update,
        .prompt = coder_prompt,
        .cancel = coder_cancel,
        .set_mode = coder_set_mode,
        .set_option = coder_set_option,
    };
    struct acp_agent_options options = {
        .name = acp_str("acp"),
        .title = acp_str("acp agent"),
        .version = acp_str(coder->options->version),
        .versions = ACP_V1 | ACP_V2 | (coder->options->unstable ? (unsigned) ACP_UNSTABLE : 0),
        .embedded_context = true,
        .additional_directories = true,
        .no_merging = true, /* what the model says is passed on as it comes */
    };
    int err =
        model_service_new(&coder->loop, coder->http, settings, &coder->service, &coder->failure);
    if (!err && coder->options->model)
        err = model_service_set_model(coder->service, acp_str(coder->options->model));
    if (!err)
        err = toolbox_new(&coder->loop, NULL, &coder->box);
    if (!err)
        err = coder_open_store(coder);
    if (!err)
        err = coder_watch_idle(coder);
    if (err)
        return err;
    options.images = model_service_takes(coder->service, MODEL_IMAGE);
    options.audio = model_service_takes(coder->service, MODEL_AUDIO);
    (void) !getrandom(options.seed, sizeof(options.seed), 0);
    err = acp_agent_stdio_new(&coder->loop, &options, &handler, on_gone, coder, &coder->stdio);
    if (!err)
        err = acp_jobs_new(&coder->loop, acp_agent_stdio_agent(coder->stdio), NULL, &coder->jobs);
    if (!err)
        (void) acp_reaper_new(&coder->loop, &coder->reaper);
    return err;
}

static void on_found(struct model_find *find, const struct model_choice *choice, void *user)
{
    struct coder *coder = user;
    coder->err = serve(coder, &choice->settings);
    model_find_free(find);
    coder->find = NULL;
}

static int start(struct coder *coder)
{
    static const struct model_settings demo = {.api = MODEL_DEMO};
    int err = http_client_new(&coder->loop, NULL, &coder->http);
    if (err)
        return err;
    return coder->options->demo
               ? serve(coder, &demo)
               : model_find_new(&coder->loop, coder->http, coder->options->environment, NULL,
                                on_found, coder, &coder->find);
}

int coder_run(const struct coder_options *options)
{
    struct coder coder = {.options = options};
    if (uv_loop_init(&coder.loop))
        return 1;
    coder.err = start(&coder);
    (void) uv_run(&coder.loop, UV_RUN_DEFAULT);
    if (coder.err)
        (void) fprintf(stderr, "acp agent: %s\n",
                       *coder.failure.message ? coder.failure.message : acp_io_err_text(coder.err));
    (void) uv_loop_close(&coder.loop);
    return coder.err ? 1 : 0;
}
