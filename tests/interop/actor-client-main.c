/* The agent process of actor-client: starting it, logging in, reading lines until the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-client.h"

static struct acp_agent_process_options options;
static struct acp_agent_process *process;
static bool restarting;
static uv_pipe_t input;
static struct acp_buf pending; /* what was read of a line that is not complete */

/* ---- Logging in ------------------------------------------------------------------------------ */

/* A login that worked counts only for an agent that is started after it. */
static void on_logged_in(struct acp_login *login, int err, const struct acp_process_exit *how,
                         struct acp_str sentence, void *user)
{
    (void) how;
    (void) user;
    struct acp_json_writer *w = begin_event("logged_in");
    write_text(w, "err", err ? acp_err_name(err) : NULL);
    acp_json_write_key(w, acp_str_from("sentence"));
    acp_json_write_str(w, sentence);
    end_event(w);
    acp_login_free(login);
    if (err)
        return;
    restarting = true;
    acp_agent_process_stop(process);
}

int do_login(char *rest)
{
    const struct acp_initialize_response *agent = acp_client_initialize_response(actor_client);
    struct acp_login *login;
    struct acp_login_options how = {.agent = &options.process};
    for (size_t i = 0; agent && i < agent->auth_methods.count; i++) {
        const struct acp_auth_method *m = &agent->auth_methods.items[i];
        if (m->is == ACP_AUTH_METHOD_TERMINAL &&
            (acp_str_is(m->terminal.id, rest) || acp_str_is(m->terminal.method_id, rest)))
            how.method = m;
    }
    return how.method ? acp_login_start(uv_default_loop(), &how, on_logged_in, NULL, &login, NULL)
                      : ACP_ERR_UNKNOWN;
}

int do_stop(char *rest)
{
    (void) rest;
    acp_agent_process_stop(process);
    return 0;
}

/* ---- Main ----------------------------------------------------------------------------------- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    static char bytes[65536];
    (void) handle;
    (void) suggested;
    *ret = uv_buf_init(bytes, sizeof(bytes));
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    if (n < 0) {
        uv_close((uv_handle_t *) stream, NULL);
        acp_agent_process_stop(process);
        return;
    }
    if (acp_buf_append(&pending, bytes->base, (size_t) n))
        abort();
    for (;;) {
        struct acp_str have = acp_buf_view(&pending);
        const char *newline = memchr(have.ptr, '\n', have.len);
        if (!newline)
            return;
        size_t len = (size_t) (newline - have.ptr);
        char *line = strndup(have.ptr, len);
        acp_buf_consume(&pending, len + 1);
        do_line(line);
        free(line);
    }
}

static int start_agent(void)
{
    struct acp_failure failure;
    int err = acp_agent_process_start(uv_default_loop(), &options, &process, &failure);
    if (err)
        (void) fprintf(stderr, "%s\n", failure.message);
    else
        actor_client = acp_agent_process_client(process);
    return err;
}

static void on_exited(struct acp_agent_process *agent, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    (void) user;
    struct acp_json_writer *w = begin_event("exited");
    acp_json_write_key(w, acp_str_from("code"));
    acp_json_write_i64(w, how->code);
    acp_json_write_key(w, acp_str_from("sentence"));
    acp_json_write_str(w, sentence);
    end_event(w);
    if (restarting) {
        restarting = false;
        acp_agent_process_free(agent);
        process = NULL;
        if (start_agent() == 0)
            return;
    }
    if (!uv_is_closing((uv_handle_t *) &input))
        uv_close((uv_handle_t *) &input, NULL);
}

static void on_errors(struct acp_agent_process *agent, struct acp_str line, void *user)
{
    (void) agent;
    (void) user;
    (void) fprintf(stderr, "agent: %.*s\n", (int) line.len, line.ptr);
}

int main(int argc, char **argv)
{
    struct acp_client_options *client = &options.client;
    struct acp_reaper *reaper = NULL;
    bool bare = false;
    int at = 1;
    options.errors = on_errors;
    options.exited = on_exited;
    options.handler = make_handler();
    options.handler.end_session = forget_session;
    client->versions = ACP_V1 | ACP_V2;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--v1") == 0)
            client->versions = ACP_V1;
        else if (strcmp(argv[at], "--v2") == 0)
            client->versions = ACP_V2;
        else if (strcmp(argv[at], "--bare") == 0)
            bare = true;
        else if (strcmp(argv[at], "--no-permission") == 0)
            options.handler.permission = NULL;
    }
    client->name = acp_str_from("actor-client");
    client->title = acp_str_from("Actor");
    client->version = acp_str_from("1.0");
    client->read_files = client->write_files = client->terminals = !bare;
    client->forms = client->urls = client->terminal_login = !bare;
    client->no_notices = client->no_compaction = bare;
    options.process.argv = (const char *const *) argv + at;
    acp_buf_init(&pending, 64 << 20);
    (void) uv_pipe_init(uv_default_loop(), &input, 0);
    (void) acp_reaper_new(uv_default_loop(), &reaper);
    if (start_agent())
        return 1;
    if (uv_pipe_open(&input, 0) || uv_read_start((uv_stream_t *) &input, on_alloc, on_input))
        return 1;
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    acp_agent_process_free(process);
    acp_reaper_free(reaper);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    acp_buf_finish(&pending);
    finish_events();
    return uv_loop_close(uv_default_loop()) != 0;
}
