/*
 * acp agent login PROVIDER, acp agent logout PROVIDER - storing and removing the key of a provider.
 *
 * The key is read from the terminal without being shown, or from the standard input where that is a
 * pipe.  It never is an argument: those can be seen by everybody on the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "config/key_store.h"
#include "http/client.h"
#include "registry/environment_keys.h"

struct login_options {
    bool keyring;
    bool verify;
    bool switched;       /* options of acp agent, which mean nothing here */
    const char *ignored; /* likewise */
};

/* Longer than any key; what does not fit is refused. */
struct typed {
    char text[8192];
    size_t len;
};

/* ---- Reading the key ------------------------------------------------------------------------- */

enum typing { TYPING_MORE, TYPING_DONE, TYPING_CANCELLED };

/* One byte of a line that is typed without the terminal's own editing. */
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

/* 0 or -errno; -EINTR when the user does not want to. */
static int read_terminal(struct typed *typed)
{
    struct termios old;
    enum typing typing = TYPING_MORE;
    char c = '\0';
    ssize_t n = 1;
    if (tcgetattr(STDIN_FILENO, &old) != 0)
        return -errno;
    struct termios quiet = old;
    /* Ctrl-C comes as a byte, too, so that nothing ends us while the terminal shows nothing. */
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
    err_printf("API key for %s (it is not shown): ", title);
    return read_terminal(typed);
}

/* Without blanks and line feeds around it. */
static struct acp_str key_in(const struct typed *typed)
{
    struct acp_str key = acp_str_n(typed->text, typed->len);
    while (key.len && strchr(" \t\r\n", key.ptr[key.len - 1]))
        key.len--;
    while (key.len && strchr(" \t\r\n", *key.ptr))
        key = acp_str_n(key.ptr + 1, key.len - 1);
    return key;
}

/* ---- Trying it ------------------------------------------------------------------------------- */

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

/* Asks the provider for its models with the key. */
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
        err_message("the key cannot be verified: %s",
                    *failure.message ? failure.message : acp_err_text(err));
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    model_service_free(service);
    http_client_free(client);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    return trial.status;
}

/* With the key as the only one: variables would go before it. */
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
    err_message("%s has no address yet, so the key cannot be verified; set %s",
                known ? known->title : provider, known ? known->url_variable : "its base_url");
    return EXIT_FAILED;
}

/* ---- The commands ---------------------------------------------------------------------------- */

/* What people know the provider by; NULL, with a message, when there is none. */
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
    err_message("there is no provider '%.60s'; there are %s, and those of the configuration",
                provider, names);
    return NULL;
}

/* Says what went wrong with the store. */
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
    int status = err ? fail("the key was not stored", err, &why) : EXIT_OK;
    if (!err)
        err_printf("The key for %s is stored in %s%s%s.\n", title,
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
    struct acp_str key = key_in(typed);
    if (err == -EINTR)
        return EXIT_INTERRUPTED;
    if (err || !key_is_valid(key)) {
        err_message("what was given is not a key: that is one word of letters, digits and signs");
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
            err_printf("There is no stored key for %s.\n", title);
        else if (err)
            status = fail("the key was not removed", err, &why);
        else
            err_printf("The key for %s is removed.\n", title);
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
     .help = "store the key in the system's keyring, by *secret-tool*(1), instead of a file"},
    {.name = "verify",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct login_options, verify),
     .help = "ask the provider for its models first, and store the key only when it is accepted"},
    {0},
};

/*
 * A client that runs the login puts it behind the options with which it starts the agent; they are
 * accepted, and that is all.
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
    {"acp agent login anthropic", "asks for the key, and stores it"},
    {"pass show openai | acp agent login openai --verify", "takes the key from another program"},
    {0},
};

const struct command command_agent_login = {
    .name = "login",
    .summary = "store the key of a model provider",
    .description =
        "Reads an API key from the terminal, where it is not shown, or from the standard input, "
        "and stores it for *acp agent*: in a file below *$XDG_DATA_HOME/acp/keys* that only you "
        "can read, or in the keyring. A key in the environment counts more. An agent that runs "
        "takes it when its client asks it to authenticate.",
    .arguments = provider_arguments,
    .options = groups,
    .options_size = sizeof(struct login_options),
    .examples = examples,
    .run = run_login,
};

const struct command command_agent_logout = {
    .name = "logout",
    .summary = "remove the stored key of a model provider",
    .description = "Removes the key that *acp agent login* has stored. Variables of the "
                   "environment are not touched.",
    .arguments = provider_arguments,
    .options = logout_groups,
    .options_size = sizeof(struct login_options),
    .run = run_logout,
};
