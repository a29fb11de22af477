/*
 * mcp_login.c - acp mcp login, logout: OAuth tokens of an HTTP server.
 *
 * The server is asked once without tokens, for its challenge.  Then the user opens a page in a
 * browser, which comes back to a listener of ours on this machine; if the browser runs elsewhere,
 * the user pastes the address to which it was sent.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acp/version.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "config/paths.h"
#include "config/token_store.h"
#include "mcp/options.h"
#include "oauth/oauth.h"

enum {
    PASTE_MAX = 16 * 1024,
    CHALLENGE_MAX = 64 * 1024, /* what is read of the answer that has the challenge */
};

struct login_options {
    struct config_flags place;
    const char *client_id;
    const char *client_secret; /* a file */
    const char *client_metadata;
    const char *scope;
};

static const struct option login_rows[] = {
    {.name = "client-id",
     .argument = "ID",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct login_options, client_id),
     .help = "use the client that was registered with this ID; otherwise acp registers one"},
    {.name = "client-secret-file",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct login_options, client_secret),
     .help = "read the secret of that client from _FILE_"},
    {.name = "client-metadata",
     .argument = "URL",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct login_options, client_metadata),
     .help = "use this client metadata document as the ID, if the server supports that"},
    {.name = "scope",
     .argument = "SCOPE",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct login_options, scope),
     .help = "request this scope in addition to what the server asks for"},
    {0},
};

static const struct option_group login_groups[] = {
    {login_rows, 0},
    {config_flag_rows, offsetof(struct login_options, place)},
    {0},
};

/*
 * A callback that ends a wait also stops the loop: one that has run its timers would wait for input
 * otherwise.
 */
struct login {
    const struct login_options *options;
    uv_loop_t loop;
    struct config *config;
    struct acp_arena arena;
    struct http_client *http;
    struct acp_str url;
    const char *folder; /* of the tokens */
    struct oauth_challenge challenge;
    struct acp_str secret;
    struct http_request *request;
    struct oauth_login *oauth;
    struct oauth_callback *callback;
    uv_signal_t interrupt;
    uv_poll_t paste;
    bool pastes;
    struct acp_buf pasted;
    bool asked; /* the server has answered */
    int server_status;
    int status;
    bool done;
};

ACP_PRINTF(2, 3)
static void fail(struct login *login, const char *format, ...)
{
    char why[900];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    err_printf("acp mcp: %s\n", why);
    login->status = EXIT_FAILED;
    login->done = true;
}

/* ---- The server ------------------------------------------------------------------------------ */

/* The URL of a server by its name in the configuration, or the URL itself. */
static int find_url(struct login *login, const char *server)
{
    struct acp_mcp_server_list list = config_mcp_servers(login->config);
    if (strstr(server, "://")) {
        login->url = acp_str_from(server);
        return EXIT_OK;
    }
    for (size_t i = 0; i < list.count; i++) {
        const struct acp_mcp_server *entry = &list.items[i];
        if (!acp_str_is(mcp_entry_name(entry), server))
            continue;
        if (entry->is == ACP_MCP_SERVER_HTTP)
            login->url = entry->http.url;
        else if (entry->is == ACP_MCP_SERVER_SSE)
            login->url = entry->sse.url;
        if (login->url.len)
            return EXIT_OK;
        fail(login, "'%s' is a program, which does not use this login", server);
        return EXIT_FAILED;
    }
    fail(login, "no such MCP server '%s'; run 'acp mcp list', or give a URL", server);
    return EXIT_FAILED;
}

/* Everything that login and logout begin with. */
static int open_login(struct login *login, const struct login_options *options, const char *server)
{
    *login = (struct login){.options = options};
    acp_arena_init(&login->arena, 0);
    acp_buf_init(&login->pasted, PASTE_MAX);
    (void) uv_loop_init(&login->loop);
    int status =
        config_command_load(&(struct config_options){.cwd = options->place.cwd}, &login->config);
    if (status)
        return status;
    login->folder = token_store_folder(config_environment(login->config), &login->arena);
    if (!login->folder) {
        fail(login, "there is no home directory to store tokens in; set HOME");
        return EXIT_FAILED;
    }
    return find_url(login, server);
}

static int close_login(struct login *login, int status)
{
    oauth_login_free(login->oauth);
    oauth_callback_free(login->callback);
    http_request_free(login->request);
    http_client_free(login->http);
    (void) uv_run(&login->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&login->loop);
    config_free(login->config);
    acp_buf_finish(&login->pasted);
    acp_arena_finish(&login->arena);
    if (out_flush() && status == EXIT_OK)
        status = EXIT_FAILED;
    return status;
}

static void on_head(struct http_request *request, int status, void *user)
{
    struct login *login = user;
    login->server_status = status;
    (void) oauth_challenge_read(http_request_header(request, "www-authenticate"), &login->arena,
                                &login->challenge);
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    struct login *login = user;
    (void) request;
    login->asked = true;
    uv_stop(&login->loop);
    if (!login->server_status)
        fail(login, "%s", end->sentence);
    else if (login->server_status == 200)
        err_printf("acp mcp: %.*s lets anybody connect; trying to log in all the same\n",
                   ACP_ARG(http_place(login->url)));
    else if (login->server_status != 401 && login->server_status != 403)
        fail(login, "%.*s does not ask for a login (HTTP status %d)",
             ACP_ARG(http_place(login->url)), login->server_status);
}

/* Asks the server for its challenge, with the first request of every connection. */
static void ask_server(struct login *login)
{
    static const char body[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"acp\",\"version\":"
        "\"" ACP_VERSION "\"}}}";
    static const struct http_header headers[] = {
        {"Accept", "application/json, text/event-stream"},
        {"Content-Type", "application/json"},
    };
    static const struct http_handler handler = {.head = on_head, .end = on_end};
    struct acp_failure failure = {0};
    char *url = acp_str_dup(login->url);
    struct http_ask ask = {.url = url,
                           .headers = headers,
                           .header_count = 2,
                           .body = acp_str_from(body),
                           .total_ms = 30 * 1000,
                           .max_body = CHALLENGE_MAX};
    int err = url ? http_request_new(login->http, &ask, &handler, login, &login->request, &failure)
                  : ACP_ERR_NOMEM;
    free(url);
    if (err)
        fail(login, "%s", *failure.message ? failure.message : acp_err_text(err));
    while (!login->asked && !login->done)
        (void) uv_run(&login->loop, UV_RUN_ONCE);
}

/* ---- The browser ----------------------------------------------------------------------------- */

/* What the browser, or the user, brought back. */
static bool take_answer(struct login *login, struct acp_str url, struct acp_failure *failure)
{
    int err = login->oauth ? oauth_login_redirected(login->oauth, url, failure) : ACP_ERR_STATE;
    return err == 0;
}

static const char *on_redirected(struct acp_str query, bool *ret_accepted, void *user)
{
    *ret_accepted = take_answer(user, query, NULL);
    return *ret_accepted ? "acp has received the answer. You can close this page."
                         : "This is not the answer to the login that acp has started.";
}

static void on_paste(uv_poll_t *poll, int status, int events)
{
    struct login *login = poll->data;
    struct acp_failure failure = {0};
    char text[1024];
    (void) events;
    ssize_t n = status < 0 ? 0 : read(STDIN_FILENO, text, sizeof(text));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    /* At its end the browser may still return by itself. */
    if (n <= 0 || acp_buf_append(&login->pasted, text, (size_t) n)) {
        (void) uv_poll_stop(poll);
        return;
    }
    struct acp_str pasted = acp_buf_view(&login->pasted);
    const char *end = memchr(pasted.ptr, '\n', pasted.len);
    if (!end)
        return;
    struct acp_str line = acp_str_n(pasted.ptr, (size_t) (end - pasted.ptr));
    while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
        line.len--;
    if (line.len && !take_answer(login, line, &failure))
        err_printf("acp mcp: %s; paste the whole address that the browser shows at the end\n",
                   *failure.message ? failure.message : "this login does not wait for an answer");
    acp_buf_consume(&login->pasted, (size_t) (end + 1 - pasted.ptr));
}

static void on_authorize(struct oauth_login *oauth, const char *url, void *user)
{
    struct login *login = user;
    (void) oauth;
    err_printf("To log in to %.*s, open this page in a browser:\n\n  %s\n\n",
               ACP_ARG(http_place(login->url)), url);
    if (uv_poll_init(&login->loop, &login->paste, STDIN_FILENO) == 0) {
        login->paste.data = login;
        login->pastes = uv_poll_start(&login->paste, UV_READABLE, on_paste) == 0;
    }
    err_printf("If the browser runs on another machine, paste the address that it shows at the "
               "end here.\n");
}

static void on_done(struct oauth_login *oauth, const struct oauth_grant *grant, const char *why,
                    void *user)
{
    struct login *login = user;
    struct acp_buf problem;
    acp_buf_init(&problem, 1000);
    if (!grant)
        fail(login, "%s", why);
    else if (token_store_write(login->folder, login->url, grant, &problem))
        fail(login, "cannot store the tokens: %.*s", ACP_ARG(acp_buf_view(&problem)));
    else
        out_printf("logged in to %.*s\n", ACP_ARG(http_place(login->url)));
    acp_buf_finish(&problem);
    login->done = true;
    uv_stop(&login->loop);
    oauth_login_free(oauth);
    login->oauth = NULL;
}

static void on_interrupt(uv_signal_t *interrupt, int number)
{
    struct login *login = interrupt->data;
    (void) number;
    login->status = EXIT_INTERRUPTED;
    login->done = true;
    uv_stop(&login->loop);
}

/* The secret of a registered client, from a file. */
static int read_secret(struct login *login)
{
    const char *name = login->options->client_secret;
    struct acp_buf text;
    acp_buf_init(&text, 4096);
    int err = paths_read_file(name, &text);
    struct acp_str secret = acp_buf_view(&text);
    while (secret.len && strchr(" \t\r\n", secret.ptr[secret.len - 1]))
        secret.len--;
    if (!err)
        login->secret = acp_arena_copy(&login->arena, secret);
    acp_buf_finish(&text);
    if (err)
        fail(login, "cannot read %s: %s", name, strerror(-err));
    return err;
}

/* What the stored tokens are for, and what the user requests: a login must not take it away. */
static struct acp_str earlier_scope(struct login *login)
{
    struct oauth_grant grant = {0};
    struct acp_buf text;
    struct acp_str scope = acp_str_from(login->options->scope);
    acp_buf_init(&text, OAUTH_MAX_GRANT);
    if (token_store_read(login->folder, login->url, &login->arena, &grant, &text) == 0 &&
        grant.scope.len) {
        acp_buf_clear(&text);
        (void) acp_buf_printf(&text, "%.*s %.*s", ACP_ARG(grant.scope), ACP_ARG(scope));
        scope = acp_arena_copy(&login->arena, acp_buf_view(&text));
    }
    acp_buf_finish(&text);
    return scope;
}

static void start_login(struct login *login)
{
    static const struct oauth_login_handler handler = {on_authorize, on_done};
    const struct login_options *flags = login->options;
    struct acp_failure failure = {0};
    if (flags->client_secret && read_secret(login))
        return;
    struct acp_str scope = earlier_scope(login);
    int err = oauth_callback_new(&login->loop, on_redirected, login, &login->callback, &failure);
    struct oauth_login_options options = {
        .url = login->url,
        .challenge = login->challenge,
        .client_name = acp_str_from("acp"),
        .client_id = acp_str_from(flags->client_id),
        .client_secret = login->secret,
        .client_metadata_url = acp_str_from(flags->client_metadata),
        .earlier_scope = scope,
    };
    if (!err) {
        options.redirect_uri = acp_str_from(oauth_callback_url(login->callback));
        err = oauth_login_new(login->http, &options, &handler, login, &login->oauth, &failure);
    }
    if (err)
        fail(login, "%s", *failure.message ? failure.message : acp_err_text(err));
}

static int run_login(const struct invocation *invocation)
{
    struct login login;
    int status = open_login(&login, invocation->options, invocation->arguments[0]);
    if (!status && http_client_new(&login.loop, NULL, &login.http))
        status = EXIT_FAILED;
    if (status)
        return close_login(&login, status);
    (void) uv_signal_init(&login.loop, &login.interrupt);
    login.interrupt.data = &login;
    (void) uv_signal_start(&login.interrupt, on_interrupt, SIGINT);
    ask_server(&login);
    if (!login.done)
        start_login(&login);
    while (!login.done)
        (void) uv_run(&login.loop, UV_RUN_ONCE);
    if (login.pastes)
        uv_close((uv_handle_t *) &login.paste, NULL);
    uv_close((uv_handle_t *) &login.interrupt, NULL);
    return close_login(&login, login.status);
}

static int run_logout(const struct invocation *invocation)
{
    struct login login;
    struct acp_buf why;
    int status = open_login(&login, invocation->options, invocation->arguments[0]);
    if (status)
        return close_login(&login, status);
    acp_buf_init(&why, 1000);
    int err = token_store_remove(login.folder, login.url, &why);
    if (err == -ENOENT)
        fail(&login, "not logged in to %.*s", ACP_ARG(http_place(login.url)));
    else if (err)
        fail(&login, "%.*s", ACP_ARG(acp_buf_view(&why)));
    else
        out_printf("logged out of %.*s\n", ACP_ARG(http_place(login.url)));
    acp_buf_finish(&why);
    return close_login(&login, login.status);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct argument server_arguments[] = {
    {.name = "SERVER", .kind = OPTION_TEXT},
    {0},
};

static const struct example login_examples[] = {
    {"acp mcp login https://mcp.example/", "logs in to a server over HTTP, in a browser"},
    {0},
};

const struct command command_mcp_login = {
    .name = "login",
    .summary = "log in to an MCP server with a browser",
    .description =
        "Logs in to an HTTP server by OAuth: prints the address of a page to open in a browser, "
        "waits until the browser comes back, and stores the tokens in a file that only this user "
        "can read. They are sent to this server only, and refreshed when they expire. _SERVER_ is "
        "the name of a configured server or a URL.\n\n"
        "The browser comes back to a port on this machine. If it runs on another machine, it shows "
        "an error at the end; paste the address of that page.",
    .arguments = server_arguments,
    .options = login_groups,
    .options_size = sizeof(struct login_options),
    .examples = login_examples,
    .run = run_login,
};

static const struct option_group logout_groups[] = {
    {config_flag_rows, offsetof(struct login_options, place)},
    {0},
};

const struct command command_mcp_logout = {
    .name = "logout",
    .summary = "remove the tokens of an MCP server",
    .description = "Removes the stored tokens. _SERVER_ is the name of a configured server or a "
                   "URL.",
    .arguments = server_arguments,
    .options = logout_groups,
    .options_size = sizeof(struct login_options),
    .run = run_logout,
};
