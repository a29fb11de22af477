/*
 * agents_login.c - acp agents login NAME [METHOD]: logs in to an agent.
 *
 * The agent is started and asked for its login methods.  A method that the agent performs itself
 * is requested with `authenticate`; one that needs a terminal runs on this terminal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/run.h"
#include "acp/types.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "cmd/terminal_line.h"

struct login {
    struct conversation_setup setup;
    const char *wanted; /* the id of the method, or NULL */
    uv_loop_t loop;
    struct acp_process_options process;
    struct acp_agent_process *agent;
    struct acp_login *running;
    int status;
};

/* ---- Methods --------------------------------------------------------------------------------- */

struct words {
    struct acp_str id;
    struct acp_str name;
    struct acp_str description;
};

static struct words words_of(const struct acp_auth_method *method)
{
    switch (method->is) {
    case ACP_AUTH_METHOD_TERMINAL:
        return (struct words){method->terminal.id.len ? method->terminal.id
                                                      : method->terminal.method_id,
                              method->terminal.name, method->terminal.description};
    case ACP_AUTH_METHOD_AGENT:
        return (struct words){method->agent.id.len ? method->agent.id : method->agent.method_id,
                              method->agent.name, method->agent.description};
    default:
        return (struct words){method->other.method_id, method->other.name, {0}};
    }
}

static void print_methods(struct acp_auth_method_list methods)
{
    for (size_t i = 0; i < methods.count; i++) {
        struct words words = words_of(&methods.items[i]);
        err_row("  %zu) %-20.*s %.*s%s%.*s", i + 1, (int) words.id.len, words.id.ptr,
                (int) words.name.len, words.name.ptr, words.description.len ? ": " : "",
                (int) words.description.len, words.description.len ? words.description.ptr : "");
    }
}

static const struct acp_auth_method *choose(const struct login *login,
                                            struct acp_auth_method_list methods)
{
    const char *wanted = login->wanted ? login->wanted : login->setup.agent.auth_method;
    if (!methods.items)
        return NULL;
    if (!wanted)
        return methods.count == 1 ? methods.items : NULL;
    for (size_t i = 0; i < methods.count; i++)
        if (acp_str_is(words_of(&methods.items[i]).id, wanted))
            return methods.items + i;
    return NULL;
}

/* The method that the user chooses at the terminal by its number; NULL without one. */
static const struct acp_auth_method *ask_for_method(struct acp_auth_method_list methods)
{
    char buffer[TERMINAL_LINE_SIZE];
    char prompt[40];
    struct acp_str typed;
    if (!err_is_terminal())
        return NULL;
    (void) snprintf(prompt, sizeof(prompt), "1-%zu: ", methods.count);
    while (terminal_ask_line(prompt, buffer, &typed)) {
        for (size_t i = 0; i < methods.count; i++) {
            char number[24];
            (void) snprintf(number, sizeof(number), "%zu", i + 1);
            if (acp_str_is(typed, number) || acp_str_eq(typed, words_of(&methods.items[i]).id))
                return methods.items + i;
        }
    }
    return NULL;
}

/* ---- The login ------------------------------------------------------------------------------- */

static void finish(struct login *login, int status)
{
    login->status = status;
    acp_agent_process_stop(login->agent);
}

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct login *login = user;
    (void) client;
    if (outcome->err)
        err_message("%s refused the login: %.*s", login->setup.agent.name, (int) outcome->why.len,
                    outcome->why.ptr);
    else
        out_printf("logged in\n");
    finish(login, outcome->err ? EXIT_FAILED : EXIT_OK);
}

static void on_run(struct acp_login *running, int err, const struct acp_process_exit *how,
                   struct acp_str sentence, void *user)
{
    struct login *login = user;
    (void) how;
    if (err)
        err_message("%.*s", (int) sentence.len, sentence.ptr);
    else
        out_printf("logged in\n");
    acp_login_free(running);
    finish(login, err ? EXIT_FAILED : EXIT_OK);
}

static void log_in(struct login *login, const struct acp_auth_method *method)
{
    struct acp_client *client = acp_agent_process_client(login->agent);
    struct acp_failure failure = {0};
    struct acp_login_options options = {.agent = &login->process, .method = method};
    int err = acp_login_start(&login->loop, &options, on_run, login, &login->running, &failure);
    if (err == ACP_ERR_STATE)
        err = acp_client_authenticate(client, words_of(method).id, on_done, login);
    if (!err)
        return;
    struct acp_str why = acp_client_error_text(client);
    err_message("%.*s", *failure.message ? (int) sizeof(failure.message) : (int) why.len,
                *failure.message ? failure.message : why.ptr);
    finish(login, EXIT_FAILED);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct login *login = user;
    const struct acp_initialize_response *agent = outcome->value;
    (void) client;
    if (outcome->err) {
        err_message("%.*s", (int) outcome->why.len, outcome->why.ptr);
        finish(login, EXIT_FAILED);
        return;
    }
    const struct acp_auth_method *method = choose(login, agent->auth_methods);
    if (method) {
        log_in(login, method);
        return;
    }
    if (!agent->auth_methods.count)
        out_printf("%s offers no login%s%s\n", login->setup.agent.name,
                   login->setup.agent.login ? "; " : "",
                   login->setup.agent.login ? login->setup.agent.login : "");
    else
        err_message("choose a login method:");
    print_methods(agent->auth_methods);
    method =
        agent->auth_methods.count && !login->wanted ? ask_for_method(agent->auth_methods) : NULL;
    if (method) {
        log_in(login, method);
        return;
    }
    finish(login, agent->auth_methods.count ? EXIT_USAGE : EXIT_OK);
}

static void on_exited(struct acp_agent_process *agent, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct login *login = user;
    (void) how;
    if (login->status < 0) {
        err_message("%.*s", (int) sentence.len, sentence.ptr);
        login->status = EXIT_FAILED;
    }
    acp_agent_process_free(agent);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int run_loop(struct login *login)
{
    struct acp_failure failure = {0};
    if (uv_loop_init(&login->loop))
        return EXIT_FAILED;
    login->status = -1;
    login->process = (struct acp_process_options){
        .argv = login->setup.endpoint.argv,
        .env = login->setup.endpoint.env,
        .cwd = login->setup.starts_elsewhere ? login->setup.endpoint.cwd : NULL};
    struct acp_agent_process_options options = {
        .process = login->process,
        .client = {.name = acp_str_from("acp"),
                   .version = acp_str_from(ACP_VERSION),
                   .terminal_login = true},
        .user = login,
        .exited = on_exited,
    };
    if (acp_agent_process_start(&login->loop, &options, &login->agent, &failure)) {
        err_message("%s", failure.message);
        login->status = EXIT_FAILED;
    } else {
        (void) acp_client_initialize(acp_agent_process_client(login->agent), on_ready, login);
    }
    (void) uv_run(&login->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&login->loop);
    return login->status;
}

static int run(const struct invocation *invocation)
{
    struct login login = {0};
    struct invocation about = *invocation;
    about.agent = invocation->arguments[0];
    login.wanted = invocation->argument_count > 1 ? invocation->arguments[1] : NULL;
    int status = conversation_setup_prepare(&login.setup, &about, invocation->options, NULL);
    if (!status)
        status = run_loop(&login);
    conversation_setup_finish(&login.setup);
    return status;
}

static const struct argument arguments[] = {
    {.name = "NAME", .kind = OPTION_TEXT},
    {.name = "METHOD", .kind = OPTION_TEXT, .optional = true},
    {0},
};

static const struct option_group groups[] = {
    {agent_flag_rows, 0},
    {0},
};

const struct command command_agents_login = {
    .name = "login",
    .summary = "log in to an agent",
    .description =
        "Starts the agent and logs in with _METHOD_, which may be omitted if the agent offers only "
        "one; otherwise the methods are listed, and at a terminal one is chosen by its number. A "
        "login that needs a terminal runs on this one. To use a method without a terminal each "
        "time the agent starts, set its *auth_method* in the configuration.",
    .arguments = arguments,
    .options = groups,
    .options_size = sizeof(struct agent_flags),
    .run = run,
};
