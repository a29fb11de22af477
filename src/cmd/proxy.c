/*
 * proxy.c - acp proxy [AGENT]: one agent for the editor, with a process for each workspace behind
 * it.  A hub (src/hub) with one client, on standard input and output.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "acp/io.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "cmd/proxy_log.h"
#include "cmd/recording.h"
#include "config/paths.h"
#include "hub/launch_plain.h"

struct proxy_options {
    struct agent_flags agent; /* those that make sense here */
    bool per_session;
    struct option_number idle;
    int log_level;
    int log_format;
    const char *record;
};

enum { IDLE_MS_DEFAULT = 10 * 60 * 1000, SIGNALS = 3 };

static const char *const level_names[] = {"debug", "info", "warning", "error", NULL};
static const char *const format_names[] = {"text", "json", NULL};

struct proxy {
    struct conversation_setup setup;
    struct proxy_log log;
    struct launch_plain launcher;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t signals[SIGNALS];
    struct acp_reaper *reaper;
    struct hub *hub;
    struct hub_client *client;
    struct acp_link *link;
    struct acp_buf why;
    struct recording *recording; /* NULL: none */
    bool stopping;
    bool ended;
};

/* ---- The end --------------------------------------------------------------------------------- */

static void close_all(struct proxy *p)
{
    uv_close((uv_handle_t *) &p->timer, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *) &p->signals[i], NULL);
    acp_reaper_free(p->reaper);
    p->reaper = NULL;
}

static void drop_client(struct proxy *p)
{
    acp_link_free(p->link);
    p->link = NULL;
    hub_client_free(p->client);
    p->client = NULL;
    if (p->ended)
        close_all(p);
    else
        hub_shut_down(p->hub, uv_now(&p->loop));
}

static void on_link_closed(struct acp_link *link, int reason, void *user)
{
    struct proxy *p = user;
    (void) link;
    if (reason && !p->stopping)
        err_message("the connection to the client is lost: %s", acp_io_err_text(reason));
    drop_client(p);
}

/* What the client has not read yet is still sent. */
static void on_ended(void *user)
{
    struct proxy *p = user;
    p->ended = true;
    if (p->link)
        acp_link_close(p->link);
    else
        close_all(p);
}

static void on_client_closed(struct hub_client *client, int reason, void *user)
{
    struct proxy *p = user;
    (void) client;
    err_message("the connection to the client is given up: %s", acp_err_text(reason));
    acp_link_close(p->link);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct proxy *p = signal->data;
    (void) number;
    if (p->stopping)
        acp_process_kill_all();
    p->stopping = true;
    hub_shut_down(p->hub, uv_now(&p->loop));
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer);

static void set_timer(struct proxy *p)
{
    uint64_t due_at = hub_deadline(p->hub);
    uint64_t now = uv_now(&p->loop);
    if (due_at == UINT64_MAX || uv_is_closing((uv_handle_t *) &p->timer))
        (void) uv_timer_stop(&p->timer);
    else
        (void) uv_timer_start(&p->timer, on_timer, due_at > now ? due_at - now : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct proxy *p = timer->data;
    hub_tick(p->hub, uv_now(&p->loop));
    set_timer(p);
}

static void on_wake(void *user)
{
    struct proxy *p = user;
    /* While the hub is being made it is not known yet. */
    if (p->hub)
        set_timer(p);
}

static void on_log(const struct hub_log_entry *entry, void *user)
{
    const struct proxy *p = user;
    proxy_log_write(&p->log, entry);
}

/* One message in a line, as acp trace reads it; a line end in one is a blank. */
static void on_message(struct hub_client *client, bool to_client, struct acp_raw text, void *user)
{
    const struct proxy *p = user;
    (void) client;
    for (;;) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t) (end - text.ptr) : text.len;
        recording_add(!to_client, acp_str_n(text.ptr, n), p->recording);
        recording_add(!to_client, acp_str_from(end ? " " : "\n"), p->recording);
        if (!end)
            return;
        text = acp_raw_n(end + 1, text.len - n - 1);
    }
}

/* ---- The start ------------------------------------------------------------------------------- */

static int command_for(const char *workspace, struct launch_command *ret,
                       struct acp_failure *failure, void *user)
{
    struct proxy *p = user;
    struct agent_start start;
    acp_buf_clear(&p->why);
    int err = agents_start(p->setup.config, &p->setup.agent, workspace, &start, &p->why);
    if (err)
        (void) snprintf(failure->message, sizeof(failure->message), "%.*s",
                        ACP_ARG(acp_buf_view(&p->why)));
    else
        *ret = (struct launch_command){.argv = start.argv, .env = start.env, .cwd = start.cwd};
    return err;
}

/* Reads the key of this user, or makes it.  Other programs of the user wait meanwhile. */
static int load_key(const char *path, unsigned char key[HUB_KEY_SIZE])
{
    struct acp_buf text;
    struct acp_buf why;
    acp_buf_init(&text, HUB_KEY_SIZE);
    acp_buf_init(&why, 4096);
    int err = paths_make_folders(path);
    int lock = err ? err : paths_lock_file(path);
    err = lock < 0 ? lock : paths_read_private_file(path, &text, &why);
    if (err == -ENOENT && getrandom(key, HUB_KEY_SIZE, 0) == HUB_KEY_SIZE)
        err = paths_write_file(path, acp_str_n((char *) key, HUB_KEY_SIZE), 0600);
    else if (!err && text.len == HUB_KEY_SIZE)
        memcpy(key, acp_buf_view(&text).ptr, HUB_KEY_SIZE);
    else if (!err)
        err = -EINVAL;
    if (why.len)
        err_message("%.*s", ACP_ARG(acp_buf_view(&why)));
    if (lock >= 0)
        (void) close(lock);
    acp_buf_finish(&text);
    acp_buf_finish(&why);
    return err;
}

/* Without a key that stays, sessions can only be found again until the end. */
static void find_key(struct proxy *p, unsigned char key[HUB_KEY_SIZE])
{
    const char *state = paths_state_dir(config_environment(p->setup.config), &p->setup.arena);
    const char *path = state ? paths_join(&p->setup.arena, state, "session.key") : NULL;
    int err = path ? load_key(path, key) : -ENOENT;
    if (!err)
        return;
    err_message("cannot use the key of session ids %s: %s; sessions can be loaded only until acp "
                "ends",
                path ? path : "(no home directory)", strerror(-err));
    (void) !getrandom(key, HUB_KEY_SIZE, 0);
}

static int open_hub(struct proxy *p, const struct proxy_options *options)
{
    struct hub_handler handler = {
        .log = on_log, .wake = on_wake, .client_closed = on_client_closed, .ended = on_ended};
    if (p->recording)
        handler.message = on_message;
    struct hub_options hub = {
        .name = p->setup.agent.name,
        .launcher = &p->launcher.launcher,
        .cwd = p->setup.cwd,
        .agent_per_session = options->per_session,
        .idle_ms = options->idle.given ? options->idle.value : (uint64_t) IDLE_MS_DEFAULT,
    };
    find_key(p, hub.key);
    p->launcher.loop = &p->loop;
    p->launcher.command = command_for;
    p->launcher.user = p;
    launch_plain_init(&p->launcher);
    int err = hub_new(&hub, &handler, p, &p->hub);
    return err ? err : hub_client_new(p->hub, &p->client);
}

static int open_link(struct proxy *p)
{
    static const struct acp_link_handler handler = {.closed = on_link_closed};
    struct acp_link_options options = {.in = -1, .out = -1};
    int err = acp_stdio_take(&options.in, &options.out);
    if (err)
        return err;
    return acp_link_new(&p->loop, &options, hub_client_endpoint(p->client), &handler, p, &p->link);
}

static void open_handles(struct proxy *p)
{
    static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    (void) uv_timer_init(&p->loop, &p->timer);
    p->timer.data = p;
    for (size_t i = 0; i < SIGNALS; i++) {
        (void) uv_signal_init(&p->loop, &p->signals[i]);
        p->signals[i].data = p;
        (void) uv_signal_start(&p->signals[i], on_signal, numbers[i]);
    }
    (void) acp_reaper_new(&p->loop, &p->reaper);
}

static int run_loop(struct proxy *p, const struct proxy_options *options)
{
    if (uv_loop_init(&p->loop))
        return EXIT_FAILED;
    open_handles(p);
    int err = open_hub(p, options);
    if (!err)
        err = open_link(p);
    if (err) {
        err_message("%s", acp_io_err_text(err));
        hub_client_free(p->client);
        close_all(p);
    }
    (void) uv_run(&p->loop, UV_RUN_DEFAULT);
    hub_free(p->hub);
    (void) uv_run(&p->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&p->loop);
    return err ? EXIT_FAILED : EXIT_OK;
}

/* Agents start in their workspaces, so that the name of the program must not depend on ours. */
static int make_absolute(struct conversation_setup *c)
{
    size_t count = 0;
    const char *program = c->agent.argv[0];
    if (program[0] == '/' || !strchr(program, '/'))
        return EXIT_OK;
    while (c->agent.argv[count])
        count++;
    const char **argv = acp_arena_alloc(&c->arena, (count + 1) * sizeof(*argv));
    const char *path = paths_expand(&c->arena, acp_str_from(program), c->cwd, NULL);
    if (!argv || !path)
        return EXIT_FAILED;
    memcpy(argv, c->agent.argv, count * sizeof(*argv));
    argv[0] = path;
    c->agent.argv = argv;
    c->agent.program = path;
    return EXIT_OK;
}

static int check_recording(const struct proxy_options *options, int err)
{
    if (err)
        err_message("--record %s: %s", options->record, strerror(-err));
    return err ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct invocation *invocation)
{
    const struct proxy_options *options = invocation->options;
    struct proxy p = {
        .log = {.level = options->log_level ? (enum hub_log_level)(options->log_level - 1)
                                            : HUB_LOG_INFO,
                .json = options->log_format == 2},
    };
    acp_buf_init(&p.why, 4096);
    int status = conversation_setup_prepare(&p.setup, invocation, &options->agent, NULL);
    p.log.agent = p.setup.agent.name;
    if (!status)
        status = make_absolute(&p.setup);
    if (!status && options->record)
        status = check_recording(options, recording_open(options->record, &p.recording));
    if (!status)
        status = run_loop(&p, options);
    int err = recording_close(p.recording);
    if (err && !status)
        status = check_recording(options, err);
    acp_buf_finish(&p.why);
    conversation_setup_finish(&p.setup);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option rows[] = {
    {.heading = "Agents",
     .name = "registry",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct proxy_options, agent.registry),
     .help = "also use the agents in this copy of the public registry"},
    {.name = "cwd",
     .argument = "DIR",
     .kind = OPTION_DIRECTORY,
     .offset = offsetof(struct proxy_options, agent.cwd),
     .help = "run in _DIR_ instead of the current directory",
     .details = "The agent that answers *initialize* is started in its workspace."},
    {.name = "per-session",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct proxy_options, per_session),
     .help = "start an agent for each session; otherwise the sessions of a workspace share one"},
    {.name = "idle",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .offset = offsetof(struct proxy_options, idle),
     .help = "end an agent that is idle for this time; it is started again on use; 0: never "
             "(default 600)"},
    {.heading = "Log",
     .name = "log-level",
     .argument = "LEVEL",
     .kind = OPTION_CHOICE,
     .choices = level_names,
     .offset = offsetof(struct proxy_options, log_level),
     .help = "write entries of this level and above to standard error (default *info*)"},
    {.name = "log-format",
     .argument = "FORMAT",
     .kind = OPTION_CHOICE,
     .choices = format_names,
     .offset = offsetof(struct proxy_options, log_format),
     .help = "write them as lines of text or as JSON objects"},
    {.name = "record",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct proxy_options, record),
     .help = "record the messages to and from the editor in _FILE_, for *acp trace*",
     .details = "What may be a secret is replaced by \"(set)\"."},
    {0},
};

static const struct option_group groups[] = {
    {rows, 0},
    {0},
};

static const struct example examples[] = {
    {"acp proxy claude", "serves as the agent of an editor, and starts claude in each workspace"},
    {"acp proxy --per-session -- ./my-agent --fast", "starts a process for each session"},
    {0},
};

const struct command command_proxy = {
    .name = "proxy",
    .summary = "serve as one agent, with a process for each workspace behind it",
    .description =
        "Speaks ACP on standard input and output, as an agent, and passes everything on to agents "
        "that it starts: one for each workspace in which the editor opens a session. The workspace "
        "of a session is the nearest parent of its directory with a *.git*, else the nearest with "
        "*.acp/config.json* or *.containai/config.toml*, else the directory itself.\n\n"
        "When an agent ends unexpectedly, its prompts fail with its last words, sessions of other "
        "agents go on, and the next prompt starts it again and loads the session.\n\n"
        "Standard output carries only the protocol. Log entries are written to standard error. At "
        "the end of its input, or on SIGTERM, it cancels turns, closes the sessions, and ends all "
        "agents.",
    .options = groups,
    .options_size = sizeof(struct proxy_options),
    .examples = examples,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
