/*
 * agent_login.c - acp agent login, logout: store and remove the API key of a provider.
 *
 * The key is read from the terminal without echo, or from standard input if that is not a terminal.
 * It is not an argument, because other users can see the arguments of a process.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/trim.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "config/key_store.h"
#include "http/http_client.h"
#include "registry/environment_keys.h"

struct login_options {
    bool keyring;
    bool verify;
    bool switched;       /* options of acp agent, ignored here */
    const char *ignored; /* likewise */
};

/* Longer than any key; longer input is refused. */
struct typed {
    char text[8192];
    size_t len;
};

/* ---- Reading the key ------------------------------------------------------------------------- */

enum typing { TYPING_MORE, TYPING_DONE, TYPING_CANCELLED };

/* Handles one byte of the input line; the terminal is not in canonical mode. */
static enum typing take_byte(struct typed *typed, char c)
{
    enum { CTRL_C = 3, CTRL_D = 4, BACKSPACE = 8, CTRL_U = 21, ESCAPE = 27, DELETE = 127 };
    if (c == CTRL_C || c == ESCAPE || (c == CTRL_D && !typed->len))
        return TYPING_CANCELLED;
    if (c == '\n' || c == '\r' || c == CTRL_D)
        return TYPING_DONE;
    if (c == BACKSPACE || c == DELETE)
        typed->len -= typed->len > 0;
    else if (c == CTRL_U)
        typed->len = 0;
    else if (typed->len < sizeof(typed->text))
        typed->text[typed->len++] = c;
    return TYPING_MORE;
}

/* 0 or -errno; -EINTR when the user cancels. */
static int read_terminal(struct typed *typed)
{
    struct termios old;
    enum typing typing = TYPING_MORE;
    char c = '\0';
    ssize_t n = 1;
    if (tcgetattr(STDIN_FILENO, &old) != 0)
        return -errno;
    struct termios quiet = old;
    /* Without ISIG, so that Ctrl-C cannot end the process while echo is off. */
    quiet.c_lflag &= ~(tcflag_t) (ECHO | ECHONL | ICANON | ISIG);
    quiet.c_cc[VMIN] = 1;
    quiet.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) != 0)
        return -errno;
    while (typing == TYPING_MORE) {
        n = read(STDIN_FILENO, &c, 1);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        if (n > 0)
            typing = take_byte(typed, c);
    }
    (void) tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
    err_printf("\n");
    if (typing == TYPING_MORE)
        return n < 0 ? -EIO : -EINTR;
    return typing == TYPING_CANCELLED ? -EINTR : 0;
}

static int read_pipe(struct typed *typed)
{
    for (;;) {
        size_t room = sizeof(typed->text) - typed->len;
        ssize_t n = room ? read(STDIN_FILENO, typed->text + typed->len, room) : 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            return 0;
        typed->len += n > 0 ? (size_t) n : 0;
    }
}

static int read_key(const char *title, struct typed *typed)
{
    if (!isatty(STDIN_FILENO))
        return read_pipe(typed);
    err_printf("API key for %s (input is hidden): ", title);
    return read_terminal(typed);
}

/* ---- Verification ---------------------------------------------------------------------------- */

struct trial {
    int status;
};

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    struct trial *trial = user;
    (void) count;
    if (!rows)
        err_message("%s; the key was not stored", sentence);
    trial->status = rows ? EXIT_OK : EXIT_FAILED;
    model_list_free(list);
}

/* Requests the list of models with the key. */
static int try_settings(const struct model_settings *settings)
{
    struct trial trial = {EXIT_FAILED};
    struct acp_failure failure = {0};
    struct http_client *client = NULL;
    struct model_service *service = NULL;
    struct model_list *list = NULL;
    uv_loop_t loop;
    if (uv_loop_init(&loop))
        return EXIT_FAILED;
    int err = http_client_new(&loop, NULL, &client);
    if (!err)
        err = model_service_new(&loop, client, settings, &service, &failure);
    if (!err)
        err = model_list_new(service, on_listed, &trial, &list, &failure);
    if (err)
        err_message("cannot verify the key: %s",
                    *failure.message ? failure.message : acp_err_text(err));
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    model_service_free(service);
    http_client_free(client);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    return trial.status;
}

/* With no other key: one in the environment would take precedence. */
static int try_key(struct conversation_setup *c, const char *provider, const char *key)
{
    const struct model_provider *known = model_provider_find(acp_str_from(provider));
    const struct model_key stored = {provider, key};
    struct model_sources sources = {
        .environment = config_environment(c->config), .stored = &stored, .stored_count = 1};
    struct model_custom custom = {.id = provider};
    const struct config_provider *configured;
    for (size_t i = 0; (configured = config_provider_at(c->config, i)); i++)
        if (strcmp(configured->custom.id, provider) == 0)
            custom = configured->custom;
    custom.key_variable = NULL;
    sources.custom = &custom;
    sources.custom_count = 1;
    struct model_offer *offers = NULL;
    size_t count = 0;
    if (model_offers_read(&sources, &c->arena, &offers, &count))
        return EXIT_FAILED;
    for (size_t i = 0; i < count; i++)
        if (strcmp(offers[i].id, provider) == 0)
            return try_settings(&offers[i].settings);
    err_message("cannot verify the key: no address for %s; set %s", known ? known->title : provider,
                known ? known->url_variable : "its base_url");
    return EXIT_FAILED;
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* The display name of the provider; NULL, with a message, when there is no such provider. */
static const char *find_title(const struct conversation_setup *c, const char *provider)
{
    const struct model_provider *known = model_provider_find(acp_str_from(provider));
    const struct config_provider *configured;
    for (size_t i = 0; (configured = config_provider_at(c->config, i)); i++)
        if (strcmp(configured->custom.id, provider) == 0)
            return configured->custom.title ? configured->custom.title : provider;
    if (known && known->keys)
        return known->title;
    if (known) {
        err_message("%s needs no key", known->title);
        return NULL;
    }
    char names[400] = "";
    for (size_t i = 0, n = 0; (known = model_provider_at(i)); i++)
        if (known->keys && n < sizeof(names))
            n += (size_t) snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", known->id);
    err_message("no such provider '%.60s'; known are %s and the configured ones", provider, names);
    return NULL;
}

/* Reports an error of the key store. */
static int fail(const char *doing, int err, const struct acp_buf *why)
{
    if (why->len)
        err_message("%s: %.*s", doing, (int) why->len, why->data + why->start);
    else
        err_message("%s: %s", doing, strerror(-err));
    return EXIT_FAILED;
}

static int store_key(struct conversation_setup *c, const struct login_options *options,
                     const char *provider, const char *title, struct acp_str key)
{
    struct acp_buf why;
    const char *folder = key_store_folder(c->config, &c->arena);
    enum key_place place = options->keyring ? KEY_IN_KEYRING : KEY_IN_FILE;
    acp_buf_init(&why, 4096);
    int err = folder ? key_store_write(c->config, folder, provider, key, place, &why) : -ENOENT;
    int status = err ? fail("cannot store the key", err, &why) : EXIT_OK;
    if (!err)
        err_printf("Stored the key for %s in %s%s%s.\n", title,
                   options->keyring ? "the keyring" : folder, options->keyring ? "" : "/",
                   options->keyring ? "" : provider);
    acp_buf_finish(&why);
    return status;
}

static int take_key(struct conversation_setup *c, const struct login_options *options,
                    const char *provider, struct typed *typed)
{
    const char *title = find_title(c, provider);
    if (!title)
        return EXIT_USAGE;
    int err = read_key(title, typed);
    struct acp_str key = acp_str_trim(acp_str_n(typed->text, typed->len));
    if (err == -EINTR)
        return EXIT_INTERRUPTED;
    if (err || !key_is_valid(key)) {
        err_message("not a valid key: expected one word of printable characters");
        return EXIT_FAILED;
    }
    const char *copy = acp_arena_copy(&c->arena, key).ptr;
    int status = !options->verify ? EXIT_OK : copy ? try_key(c, provider, copy) : EXIT_FAILED;
    return status ? status : store_key(c, options, provider, title, key);
}

static int run_login(const struct invocation *invocation)
{
    static const struct agent_flags nothing;
    struct conversation_setup c;
    struct typed typed = {.len = 0};
    keys_protect();
    int status = conversation_setup_configure(&c, &nothing);
    if (!status)
        status = take_key(&c, invocation->options, invocation->arguments[0], &typed);
    explicit_bzero(&typed, sizeof(typed));
    conversation_setup_finish(&c);
    return status;
}

static int run_logout(const struct invocation *invocation)
{
    static const struct agent_flags nothing;
    const char *provider = invocation->arguments[0];
    struct conversation_setup c;
    struct acp_buf why;
    acp_buf_init(&why, 4096);
    int status = conversation_setup_configure(&c, &nothing);
    const char *title = status ? NULL : find_title(&c, provider);
    const char *folder = title ? key_store_folder(c.config, &c.arena) : NULL;
    if (!status && !title)
        status = EXIT_USAGE;
    if (!status) {
        int err = folder ? key_store_remove(c.config, folder, provider, &why) : -ENOENT;
        if (err == -ENOENT)
            err_printf("No key stored for %s.\n", title);
        else if (err)
            status = fail("cannot remove the key", err, &why);
        else
            err_printf("Removed the key for %s.\n", title);
    }
    acp_buf_finish(&why);
    conversation_setup_finish(&c);
    return status;
}

static const struct argument provider_arguments[] = {
    {.name = "PROVIDER", .kind = OPTION_TEXT},
    {0},
};

static const struct option rows[] = {
    {.name = "keyring",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct login_options, keyring),
     .help = "store the key in the system keyring with *secret-tool*(1) instead of a file"},
    {.name = "verify",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct login_options, verify),
     .help = "store the key only if the provider accepts it"},
    {0},
};

/*
 * A client that runs the login appends it to the command line of the agent, so the options of `acp
 * agent` are accepted and ignored.
 */
#define IGNORED_SWITCH(word)                                                                       \
    {                                                                                              \
        .name = (word), .kind = OPTION_SWITCH, .hidden = true,                                     \
        .offset = offsetof(struct login_options, switched)                                         \
    }
#define IGNORED_VALUE(word, short_form)                                                            \
    {                                                                                              \
        .name = (word), .letter = (short_form), .argument = "VALUE", .kind = OPTION_TEXT,          \
        .hidden = true, .offset = offsetof(struct login_options, ignored)                          \
    }
static const struct option agent_rows[] = {
    IGNORED_VALUE("model", 'm'),       IGNORED_VALUE("mode", 0),
    IGNORED_VALUE("fetch", 0),         IGNORED_VALUE("policy", 0),
    IGNORED_VALUE("idle", 0),          IGNORED_VALUE("max-prompt", 0),
    IGNORED_VALUE("max-sessions", 0),  IGNORED_VALUE("max-requests", 0),
    IGNORED_VALUE("stall-timeout", 0), IGNORED_SWITCH("demo"),
    IGNORED_SWITCH("unstable"),        IGNORED_SWITCH("no-log"),
    IGNORED_SWITCH("no-titles"),       {0},
};

static const struct option_group groups[] = {{rows, 0}, {agent_rows, 0}, {0}};
static const struct option_group logout_groups[] = {{agent_rows, 0}, {0}};

static const struct example examples[] = {
    {"acp agent login anthropic", "asks for the key and stores it"},
    {"pass show openai | acp agent login openai --verify", "reads the key from another program"},
    {0},
};

const struct command command_agent_login = {
    .name = "login",
    .summary = "store the key of a model provider",
    .description =
        "Reads an API key from the terminal without echo, or from standard input, and stores it "
        "for *acp agent*: in a file in *$XDG_DATA_HOME/acp/keys* that only you can read, or in the "
        "keyring. A key in the environment takes precedence. A running agent uses the stored key "
        "once its client calls *authenticate*.",
    .arguments = provider_arguments,
    .options = groups,
    .options_size = sizeof(struct login_options),
    .examples = examples,
    .run = run_login,
};

const struct command command_agent_logout = {
    .name = "logout",
    .summary = "remove the stored key of a model provider",
    .description = "Removes a key stored by *acp agent login*. Environment variables are not "
                   "affected.",
    .arguments = provider_arguments,
    .options = logout_groups,
    .options_size = sizeof(struct login_options),
    .run = run_logout,
};
